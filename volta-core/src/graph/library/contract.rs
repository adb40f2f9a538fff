//! Sums of products: matrices, contractions, convolutions.

use super::{Built, Call, Make, Operator, ValueId};
use crate::graph::{
    At, Combination, Construct, Expr, Function, Indexing, Read, Reduce, ValueDefinition, spell_shape,
};
use crate::number::{Extended, Rational};

type Making = fn(&mut Call<'_>) -> Built<Vec<ValueId>>;

const fn row(
    names: &'static [&'static str],
    arguments: &'static str,
    formula: &'static str,
    make: Making,
) -> Operator {
    Operator { names, arguments, formula, make: Make::Built(make) }
}

const CONVOLUTION: &str = "y[n,o,s] = Σ{c,k} self[n,c,stride*s + dilation*k - padding]·weight[o,c,k] + bias[o], \
                           channels in groups";
const TRANSPOSED: &str = "y[n,o,s] = Σ{c,k} self[n,c,(s + padding - dilation*k)/stride]·weight[c,o,k] + bias[o], \
                          channels in groups";

pub(super) const OPERATORS: &[Operator] = &[
    row(&["mm"], "self, mat2", "y[i,j] = Σ{k} self[i,k]·mat2[k,j]", |call| {
        contracted(call, "ik,kj->ij", ["self", "mat2"])
    }),
    row(&["bmm"], "self, mat2", "y[b,i,j] = Σ{k} self[b,i,k]·mat2[b,k,j]", |call| {
        contracted(call, "bik,bkj->bij", ["self", "mat2"])
    }),
    row(&["mv"], "self, vec", "y[i] = Σ{k} self[i,k]·vec[k]", |call| {
        contracted(call, "ik,k->i", ["self", "vec"])
    }),
    row(&["dot"], "self, other", "Σ{k} self[k]·other[k]", |call| {
        contracted(call, "k,k->", ["self", "other"])
    }),
    row(&["outer"], "self, vec2", "y[i,j] = self[i]·vec2[j]", |call| {
        contracted(call, "i,j->ij", ["self", "vec2"])
    }),
    row(&["matmul"], "self, other", "y[…,i,j] = Σ{k} self[…,i,k]·other[…,k,j]", |call| {
        let (a, b) = (call.tensor("self")?, call.tensor("other")?);
        Ok(vec![matmul(call, a, b)?])
    }),
    row(&["linear"], "self, weight, bias?", "y[…,j] = Σ{k} self[…,k]·weight[j,k] + bias[j]", linear),
    row(
        &["addmm"],
        "self, mat1, mat2, beta: number = 1, alpha: number = 1",
        "beta·self[i,j] + alpha·Σ{k} mat1[i,k]·mat2[k,j]",
        |call| added(call, "ik,kj->ij", ["mat1", "mat2"]),
    ),
    row(
        &["baddbmm"],
        "self, batch1, batch2, beta: number = 1, alpha: number = 1",
        "beta·self[b,i,j] + alpha·Σ{k} batch1[b,i,k]·batch2[b,k,j]",
        |call| added(call, "bik,bkj->bij", ["batch1", "batch2"]),
    ),
    row(
        &["addmv"],
        "self, mat, vec, beta: number = 1, alpha: number = 1",
        "beta·self[i] + alpha·Σ{k} mat[i,k]·vec[k]",
        |call| added(call, "ik,k->i", ["mat", "vec"]),
    ),
    row(
        &["einsum"],
        "equation: text, tensors: tensors",
        "sums of products, as the equation says: ik,kj->ij",
        |call| {
            let tensors = call.tensors("tensors")?;
            let equation: String = call.text("equation").chars().filter(|c| *c != ' ').collect();
            Ok(vec![call.builder.contract(&equation, &tensors)?])
        },
    ),
    row(
        &["convolution"],
        "self, weight, bias?, stride: ints = 1, padding: ints = 0, dilation: ints = 1, transposed: flag = false, \
         output_padding: ints = 0, groups: int = 1",
        "as conv2d, or with transposed as conv_transpose2d, in any number of dimensions",
        |call| {
            let transposed = call.flag("transposed", false);
            convolution(call, transposed)
        },
    ),
    row(
        &["conv2d", "conv1d", "conv3d"],
        "self, weight, bias?, stride: ints = 1, padding: ints = 0, dilation: ints = 1, groups: int = 1",
        CONVOLUTION,
        |call| convolution(call, false),
    ),
    row(
        &["conv_transpose2d", "conv_transpose1d", "conv_transpose3d"],
        "self, weight, bias?, stride: ints = 1, padding: ints = 0, output_padding: ints = 0, groups: int = 1, \
         dilation: ints = 1",
        TRANSPOSED,
        |call| convolution(call, true),
    ),
];

fn contracted(call: &mut Call<'_>, letters: &str, names: [&str; 2]) -> Built<Vec<ValueId>> {
    let values = [call.tensor(names[0])?, call.tensor(names[1])?];
    Ok(vec![call.builder.contract(letters, &values)?])
}

fn added(call: &mut Call<'_>, letters: &str, names: [&str; 2]) -> Built<Vec<ValueId>> {
    let product = contracted(call, letters, names)?[0];
    let own = call.tensor("self")?.into();
    let one = Extended::Finite(Rational::ONE);
    let (beta, alpha) = (call.number("beta"), call.number("alpha"));
    let text = match (beta == one, alpha == one) {
        (true, true) => "c + p",
        (false, true) => "beta*c + p",
        (true, false) => "c + alpha*p",
        (false, false) => "beta*c + alpha*p",
    };
    let mut operands = vec![("c", own), ("p", product.into())];
    for (name, is_one) in [("beta", beta == one), ("alpha", alpha == one)] {
        operands.extend(call.operand(name).filter(|_| !is_one).map(|number| (name, number)));
    }
    Ok(vec![call.elementwise(text, operands)?])
}

/// The letters of leading dimensions.
const BATCH: &str = "abcdefgh";

/// A product of matrices, over leading dimensions that are broadcast.
pub(super) fn matmul(call: &mut Call<'_>, a: ValueId, b: ValueId) -> Built<ValueId> {
    let (left, right) = (call.shape(a), call.shape(b));
    match (left.len(), right.len()) {
        (0, _) | (_, 0) => return Err("a number is no matrix".into()),
        (1, 1) => return call.builder.contract("k,k->", &[a, b]),
        (_, _) => {}
    }
    let batches = [left.len().saturating_sub(2), right.len().saturating_sub(2)];
    let rank = batches[0].max(batches[1]);
    if rank > BATCH.len() {
        return Err("there are too many dimensions".into());
    }
    // A leading dimension of extent 1 is left out where the other has more.
    let mut parts = [a, b];
    let mut letters = [String::new(), String::new()];
    for (which, shape) in [&left, &right].into_iter().enumerate() {
        let other = if which == 0 { &right } else { &left };
        let mut kept = Vec::new();
        for at in 0..batches[which] {
            let place = at + rank - batches[which];
            let of_other = (place + batches[1 - which]).checked_sub(rank).map_or(1, |at| other[at]);
            if shape[at] != 1 || of_other == 1 {
                letters[which].push_str(&BATCH[place..=place]);
                kept.push(shape[at]);
            }
        }
        kept.extend(&shape[batches[which]..]);
        parts[which] = call.builder.view(parts[which], kept)?;
    }
    let own = [if left.len() == 1 { "k" } else { "ik" }, if right.len() == 1 { "k" } else { "kj" }];
    let mut result: String = (0..rank)
        .map(|place| &BATCH[place..=place])
        .filter(|letter| letters.iter().any(|own| own.contains(letter)))
        .collect();
    result.push_str(if left.len() == 1 { "" } else { "i" });
    result.push_str(if right.len() == 1 { "" } else { "j" });
    let equation = format!("{}{},{}{}->{result}", letters[0], own[0], letters[1], own[1]);
    call.builder.contract(&equation, &parts)
}

fn linear(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let (x, weight) = (call.tensor("self")?, call.tensor("weight")?);
    let rank = call.shape(x).len();
    if rank == 0 || rank > BATCH.len() {
        return Err("`self` has rows, and not too many dimensions".into());
    }
    let rows = &BATCH[..rank - 1];
    let product = call.builder.contract(&format!("{rows}k,jk->{rows}j"), &[x, weight])?;
    match call.operand("bias") {
        Some(bias) => Ok(vec![call.builder.pointwise("p + b", &[("p", product.into()), ("b", bias)])?]),
        None => Ok(vec![product]),
    }
}

/// A convolution over any number of dimensions, each group of channels apart.
fn convolution(call: &mut Call<'_>, transposed: bool) -> Built<Vec<ValueId>> {
    let (x, weight) = (call.tensor("self")?, call.tensor("weight")?);
    let (input, kernel) = (call.shape(x), call.shape(weight));
    let spatial = kernel.len().checked_sub(2).filter(|_| kernel.len() == input.len());
    let spatial = spatial.ok_or_else(|| {
        format!("a tensor of shape {} has no kernel of shape {}", spell_shape(&input), spell_shape(&kernel))
    })?;
    let groups = u64::try_from(call.int("groups")?).ok().filter(|groups| *groups > 0);
    let groups = groups.ok_or("`groups` is at least 1")?;
    let [stride, padding, dilation] =
        [call.each("stride", spatial)?, call.each("padding", spatial)?, call.each("dilation", spatial)?];
    if stride.iter().chain(&dilation).any(|number| *number < 1) {
        return Err("`stride` and `dilation` are at least 1".into());
    }
    let more = if transposed { call.each("output_padding", spatial)? } else { vec![0; spatial] };
    // The channels of a group, in and out.
    let (channels, features) = match transposed {
        false => (kernel[1], kernel[0] / groups),
        true => (kernel[0] / groups, kernel[1]),
    };
    if input[1] != channels.saturating_mul(groups) || kernel[0] % groups != 0 {
        return Err(format!(
            "{} channels in {groups} groups do not fit a kernel of shape {}",
            input[1],
            spell_shape(&kernel)
        ));
    }
    let mut sizes = Vec::new();
    for at in 0..spatial {
        let [own, reach] =
            [input[2 + at].cast_signed(), dilation[at] * (kernel[2 + at].cast_signed() - 1) + 1];
        let size = match transposed {
            false => (own + 2 * padding[at] - reach).div_euclid(stride[at]) + 1,
            true => (own - 1) * stride[at] - 2 * padding[at] + reach + more[at],
        };
        sizes.push(
            u64::try_from(size)
                .ok()
                .filter(|size| *size > 0)
                .ok_or("the kernel is larger than what it runs over")?,
        );
    }
    let split =
        |shape: &[u64], first: &[u64]| -> Vec<u64> { first.iter().chain(&shape[2..]).copied().collect() };
    let x = call.builder.view(x, split(&input, &[input[0], groups, channels]))?;
    let inner = if transposed { [groups, channels, features] } else { [groups, features, channels] };
    let weight = call.builder.view(weight, split(&kernel, &inner))?;
    // The variables: n, group, feature, places; channel, kernel.
    let shape: Vec<u64> = [input[0], groups, features].iter().chain(&sizes).copied().collect();
    let channel = shape.len();
    let of_kernel = |at: usize| channel + 1 + at;
    let place = |at: usize| match transposed {
        false => Indexing {
            constant: -padding[at],
            terms: vec![(3 + at, stride[at]), (of_kernel(at), dilation[at])],
            divisor: 1,
        },
        true => Indexing {
            constant: padding[at],
            terms: vec![(3 + at, 1), (of_kernel(at), -dilation[at])],
            divisor: stride[at],
        },
    };
    let at_input = [0, 1, channel].map(Indexing::variable).into_iter().chain((0..spatial).map(place));
    let first = if transposed { [1, channel, 2] } else { [1, 2, channel] };
    let at_kernel = first.into_iter().chain((0..spatial).map(of_kernel)).map(Indexing::variable);
    let read = |value, at: &mut dyn Iterator<Item = Indexing>| {
        Expr::Element(Read { value, at: at.map(At::Affine).collect(), outside: None })
    };
    let (mut at_input, mut at_kernel) = (at_input, at_kernel);
    let expr = Expr::Apply(Function::Mul, vec![read(x, &mut at_input), read(weight, &mut at_kernel)]);
    let over = std::iter::once(channels).chain(kernel[2..].iter().copied()).collect();
    let reduce = Some(Reduce { with: Combination::Sum, prefix: None });
    let element = call.builder.element(x);
    let sum =
        call.builder.add(element, shape, ValueDefinition::Construct(Construct { over, reduce, expr }))?;
    let joined: Vec<u64> = [input[0], groups * features].iter().chain(&sizes).copied().collect();
    let sum = call.builder.view(sum, joined)?;
    let Some(bias) = call.optional("bias")? else { return Ok(vec![sum]) };
    let mut shape = call.shape(bias);
    shape.extend(vec![1; spatial]);
    let bias = call.builder.view(bias, shape)?;
    Ok(vec![call.builder.pointwise("s + b", &[("s", sum.into()), ("b", bias.into())])?])
}
