//! Sums of products: matrices, contractions, convolutions.

use super::{Built, Call, ExprKind, Make, Operator, TensorOrNumber, ValueId};
use crate::graph::build::INT64;
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
        "sums of products, as the equation says: ik,kj->ij; the dimensions of an ellipsis, ...k,kj->...j, are broadcast",
        |call| {
            let tensors = call.tensors("tensors")?;
            let equation = call.text("equation").to_owned();
            Ok(vec![einsum(call, &equation, &tensors)?])
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

/// The letters of the dimensions that an ellipsis stands for, from the last one on.
const OF_ELLIPSIS: &str = "0123456789";

/// The letters of so many dimensions that an ellipsis stands for.
fn of_ellipsis(count: usize) -> String {
    OF_ELLIPSIS[..count].chars().rev().collect()
}

/// The subscripts of a tensor: its letters, and before which of them an ellipsis stands.
fn subscripts(text: &str) -> Built<(String, Option<usize>)> {
    let (mut letters, mut ellipsis) = (String::new(), None);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            ' ' => 1,
            letter if letter.is_ascii_alphabetic() => {
                letters.push(letter);
                1
            }
            '.' if ellipsis.is_none() && rest.starts_with("...") => {
                ellipsis = Some(letters.len());
                3
            }
            other => {
                return Err(format!(
                    "`{other}` is no subscript in `{text}`: these are letters, and at most one ellipsis `...`"
                ));
            }
        };
        rest = &rest[length..];
    }
    Ok((letters, ellipsis))
}

/// Sums of products. The dimensions of an ellipsis are broadcast, and summed over where the result has no ellipsis.
fn einsum(call: &mut Call<'_>, equation: &str, tensors: &[ValueId]) -> Built<ValueId> {
    let (operands, result) = equation.split_once("->").ok_or("a contraction is written `ik,kj->ij`")?;
    let (mut result, ellipsis) = subscripts(result)?;
    let operands: Vec<&str> = operands.split(',').collect();
    if operands.len() != tensors.len() {
        return Err(format!("`{equation}` is of {} tensors", operands.len()));
    }
    let mut parts = Vec::new();
    for (text, tensor) in operands.into_iter().zip(tensors) {
        let (mut letters, ellipsis) = subscripts(text)?;
        let shape = call.shape(*tensor);
        let most = if ellipsis.is_some() { OF_ELLIPSIS.len() } else { 0 };
        let more = shape.len().checked_sub(letters.len()).filter(|more| *more <= most);
        let more = more.ok_or_else(|| {
            format!("a tensor of shape {} does not have the dimensions `{text}`", spell_shape(&shape))
        })?;
        letters.insert_str(ellipsis.unwrap_or(0), &of_ellipsis(more));
        parts.push((letters, shape));
    }
    let count = |letters: &str| letters.chars().filter(char::is_ascii_digit).count();
    let most = parts.iter().map(|(letters, _)| count(letters)).max().unwrap_or(0);
    if let Some(at) = ellipsis {
        result.insert_str(at, &of_ellipsis(most));
    }
    // An extent of 1 is left out where another tensor has more.
    let extents = parts.iter().flat_map(|(letters, shape)| letters.chars().zip(shape.iter().copied()));
    let wide: Vec<char> = extents
        .filter_map(|(letter, extent)| (letter.is_ascii_digit() && extent != 1).then_some(letter))
        .collect();
    let (mut letters, mut values) = (Vec::new(), Vec::new());
    for ((own, shape), tensor) in parts.iter().zip(tensors) {
        let is_kept = |letter: char, extent: u64| extent != 1 || !wide.contains(&letter);
        let kept = own.chars().zip(shape.iter().copied()).filter(|(own, extent)| is_kept(*own, *extent));
        let kept: Vec<(char, u64)> = kept.collect();
        letters.push(kept.iter().map(|(letter, _)| *letter).collect::<String>());
        let shape = kept.into_iter().map(|(_, extent)| extent).collect();
        values.push(call.builder.view(*tensor, shape)?);
    }
    let is_alone = |letter: char| {
        !result.contains(letter) && letters.iter().filter(|own| own.contains(letter)).count() == 1
    };
    let list: Vec<TensorOrNumber> = values.iter().map(|value| TensorOrNumber::Value(*value)).collect();
    let common = call.builder.common_type(&list)?;
    if ExprKind::of(common) != ExprKind::Real && common != INT64 && letters.concat().chars().any(is_alone) {
        let own = common.name();
        return Err(format!(
            "a sum over a dimension of one tensor alone is not of type {own} in PyTorch: make it one of i64 by `to`"
        ));
    }
    call.builder.contract(&format!("{}->{result}", letters.join(",")), &values)
}

/// A product of matrices, over leading dimensions that are broadcast.
pub(super) fn matmul(call: &mut Call<'_>, a: ValueId, b: ValueId) -> Built<ValueId> {
    let equation = match (call.shape(a).len(), call.shape(b).len()) {
        (0, _) | (_, 0) => return Err("a number is no matrix".into()),
        (1, 1) => "k,k->",
        (1, _) => "k,...kj->...j",
        (_, 1) => "...ik,k->...i",
        (_, _) => "...ik,...kj->...ij",
    };
    einsum(call, equation, &[a, b])
}

fn linear(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let (x, weight) = (call.tensor("self")?, call.tensor("weight")?);
    let product = einsum(call, "...k,jk->...j", &[x, weight])?;
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
