//! Reductions along dimensions, and prefixes.

use volta_case::Element;

use super::pointwise::of_both;
use super::{Built, Call, Make, Operator, TensorOrNumber, ValueId, whole};
use crate::graph::Combination;
use crate::graph::build::INT64;
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

const ALONG: &str = "self, dim?: ints, keepdim: flag = false, dtype?: type";

pub(super) const OPERATORS: &[Operator] = &[
    row(&["sum"], ALONG, "Σ{k} self[k]; of integers in 64 bits", |call| along(call, Combination::Sum, "x")),
    row(&["prod"], ALONG, "Π{k} self[k]; of integers in 64 bits", |call| {
        along(call, Combination::Product, "x")
    }),
    row(&["mean"], ALONG, "Σ{k<n} self[k] / n", |call| {
        let x = number(call)?;
        let (dims, keep) = dims(call, x)?;
        Ok(vec![mean(call, x, &dims, keep)?])
    }),
    row(&["amax"], ALONG, "max{k}(self[k])", |call| {
        let most = along(call, Combination::Max, "x")?[0];
        Ok(vec![as_given(call, most)?])
    }),
    row(&["amin"], ALONG, "min{k}(self[k])", |call| {
        let least = along(call, Combination::Min, "x")?[0];
        Ok(vec![as_given(call, least)?])
    }),
    row(
        &["max"],
        "self, dim?: ints, keepdim: flag = false, other?",
        "max{k}(self[k]); along one dimension, also the first place of it; of two tensors, max(self, other)",
        |call| extreme(call, [Combination::Max, Combination::ArgMax], "max(self, other)"),
    ),
    row(
        &["min"],
        "self, dim?: ints, keepdim: flag = false, other?",
        "min{k}(self[k]); along one dimension, also the first place of it; of two tensors, min(self, other)",
        |call| extreme(call, [Combination::Min, Combination::ArgMin], "min(self, other)"),
    ),
    row(&["argmax"], "self, dim?: int, keepdim: flag = false", "argmax{k}(self[k])", |call| {
        along(call, Combination::ArgMax, "x")
    }),
    row(&["argmin"], "self, dim?: int, keepdim: flag = false", "argmin{k}(self[k])", |call| {
        along(call, Combination::ArgMin, "x")
    }),
    row(&["any"], ALONG, "whether some self[k] is not 0", |call| truths(call, Combination::Max)),
    row(&["all"], ALONG, "whether all self[k] are not 0", |call| truths(call, Combination::Min)),
    row(
        &["var"],
        "self, dim?: ints, correction: number = 1, keepdim: flag = false, unbiased?: flag",
        "Σ{k<n} (self[k] - mean)^2 / (n - correction)",
        |call| Ok(vec![spread(call)?.0]),
    ),
    row(
        &["var_mean"],
        "self, dim?: ints, correction: number = 1, keepdim: flag = false, unbiased?: flag",
        "var and mean",
        |call| {
            let (variance, mean) = spread(call)?;
            Ok(vec![variance, mean])
        },
    ),
    row(
        &["std"],
        "self, dim?: ints, correction: number = 1, keepdim: flag = false, unbiased?: flag",
        "sqrt(var)",
        |call| {
            let (variance, _) = spread(call)?;
            Ok(vec![call.builder.pointwise("sqrt(v)", &[("v", variance.into())])?])
        },
    ),
    row(
        &["linalg_vector_norm", "norm"],
        "self, ord: number = 2, dim?: ints, keepdim: flag = false, dtype?: type, p?: number",
        "sqrt(Σ{k} self[k]^2); Σ{k} abs(self[k]) of order 1, max{k}(abs(self[k])) of order inf",
        norm,
    ),
    row(
        &["logsumexp"],
        "self, dim: ints, keepdim: flag = false",
        "log(Σ{k} exp(self[k] - m)) + m, m = max{k}(self[k]); -inf where m is",
        |call| {
            let x = number(call)?;
            let (dims, keep) = dims(call, x)?;
            let [most, sum] = log_sum(call, x, &dims, keep)?;
            let operands = [("s", sum.into()), ("m", most.into())];
            Ok(vec![call.builder.pointwise("where(m == -inf, m, log(s) + m)", &operands)?])
        },
    ),
    row(
        &["cumsum"],
        "self, dim: int, dtype?: type",
        "y[…,i,…] = Σ{k≤i} self[…,k,…]; of integers in 64 bits",
        |call| prefix(call, Combination::Sum),
    ),
    row(
        &["cumprod"],
        "self, dim: int, dtype?: type",
        "y[…,i,…] = Π{k≤i}(self[…,k,…]); of integers in 64 bits",
        |call| prefix(call, Combination::Product),
    ),
    row(&["cummax"], "self, dim: int", "y[…,i,…] = max{k≤i}(self[…,k,…])", |call| {
        prefix(call, Combination::Max)
    }),
    row(&["cummin"], "self, dim: int", "y[…,i,…] = min{k≤i}(self[…,k,…])", |call| {
        prefix(call, Combination::Min)
    }),
];

/// The tensor, as numbers of the type that is asked for.
fn number(call: &mut Call<'_>) -> Built<ValueId> {
    let value = call.tensor("self")?;
    let value = call.builder.as_number(value)?;
    let takes_type = call.operator.takes().any(|argument| argument.name == "dtype");
    match takes_type.then(|| call.element("dtype")).transpose()?.flatten() {
        Some(element) => call.cast(value, element),
        None => Ok(value),
    }
}

/// The greatest or least of truth values is one.
fn as_given(call: &mut Call<'_>, value: ValueId) -> Built<ValueId> {
    let own = call.tensor("self")?;
    let takes_type = call.get("dtype").is_some();
    match call.builder.element(own) {
        Element::Bool if !takes_type => call.truth(value),
        Element::Bool | Element::Int { .. } | Element::Float(_) => Ok(value),
    }
}

/// The dimensions along which is reduced, and whether they are kept.
fn dims(call: &Call<'_>, value: ValueId) -> Built<(Vec<usize>, bool)> {
    Ok((call.dims("dim", call.shape(value).len())?, call.flag("keepdim", false)))
}

/// The tensor, as numbers of the type in which it is combined: sums and products of integers have 64 bits, if no type
/// is asked for.
fn combinable(call: &mut Call<'_>, with: Combination) -> Built<ValueId> {
    let x = number(call)?;
    let is_narrow = matches!(call.builder.element(x), Element::Int { bytes: 1..=4, .. });
    let widens = matches!(with, Combination::Sum | Combination::Product);
    if is_narrow && widens && call.get("dtype").is_none() { call.cast(x, INT64) } else { Ok(x) }
}

fn along(call: &mut Call<'_>, with: Combination, text: &str) -> Built<Vec<ValueId>> {
    let x = combinable(call, with)?;
    let (dims, keep) = dims(call, x)?;
    Ok(vec![call.builder.reduce(with, text, &[("x", x.into())], &dims, keep)?])
}

/// The product of extents.
fn count(call: &Call<'_>, value: ValueId, dims: &[usize]) -> u64 {
    let shape = call.shape(value);
    dims.iter().map(|dim| shape.get(*dim).copied().unwrap_or(1)).fold(1, u64::saturating_mul)
}

/// The mean along dimensions.
pub(super) fn mean(call: &mut Call<'_>, x: ValueId, dims: &[usize], keep: bool) -> Built<ValueId> {
    call.wants_floats(&[x])?;
    let n = whole(count(call, x, dims));
    let sum = call.builder.reduce(Combination::Sum, "x", &[("x", x.into())], dims, keep)?;
    call.builder.pointwise("s/n", &[("s", sum.into()), ("n", n)])
}

/// The mean along dimensions, which are kept, and the mean of the squares of what differs from it.
pub(super) fn moments(
    call: &mut Call<'_>,
    x: ValueId,
    dims: &[usize],
    correction: &Rational,
) -> Built<[ValueId; 2]> {
    let n = &Rational::from_u64(count(call, x, dims)) - correction;
    let mean = mean(call, x, dims, true)?;
    let operands = [("x", x.into()), ("m", mean.into())];
    let squares = call.builder.reduce(Combination::Sum, "(x - m)^2", &operands, dims, true)?;
    let n = TensorOrNumber::Number(Extended::Finite(n));
    Ok([mean, call.builder.pointwise("s/n", &[("s", squares.into()), ("n", n)])?])
}

/// The greatest of what is along dimensions, which are kept or not, and the sum of exponentials less it.
pub(super) fn log_sum(call: &mut Call<'_>, x: ValueId, dims: &[usize], keep: bool) -> Built<[ValueId; 2]> {
    let most = call.builder.reduce(Combination::Max, "x", &[("x", x.into())], dims, true)?;
    let operands = [("x", x.into()), ("m", most.into())];
    let sum = call.builder.reduce(Combination::Sum, "exp(x - m)", &operands, dims, keep)?;
    let shape = call.shape(sum);
    Ok([call.builder.view(most, shape)?, sum])
}

fn extreme(call: &mut Call<'_>, [with, place]: [Combination; 2], of_two: &str) -> Built<Vec<ValueId>> {
    if let Some(other) = call.operand("other") {
        let own = call.tensor("self")?.into();
        let truths = if with == Combination::Max { "or(self, other)" } else { "and(self, other)" };
        return Ok(vec![of_both(call, [own, other], of_two, truths)?]);
    }
    let x = number(call)?;
    let (dims, keep) = dims(call, x)?;
    let most = call.builder.reduce(with, "x", &[("x", x.into())], &dims, keep)?;
    let mut results = vec![as_given(call, most)?];
    if call.get("dim").is_some() {
        results.push(call.builder.reduce(place, "x", &[("x", x.into())], &dims, keep)?);
    }
    Ok(results)
}

fn truths(call: &mut Call<'_>, with: Combination) -> Built<Vec<ValueId>> {
    let own = call.tensor("self")?;
    let value = call.truth(own)?;
    let (dims, keep) = dims(call, value)?;
    let most = call.builder.reduce(with, "where(x, 1, 0)", &[("x", value.into())], &dims, keep)?;
    let result = call.builder.pointwise("(x == 1)", &[("x", most.into())])?;
    match call.builder.element(own) {
        // PyTorch has it so for bytes.
        byte @ Element::Int { bytes: 1, signed: false } => Ok(vec![call.cast(result, byte)?]),
        Element::Int { .. } | Element::Float(_) | Element::Bool => Ok(vec![result]),
    }
}

fn spread(call: &mut Call<'_>) -> Built<(ValueId, ValueId)> {
    let x = number(call)?;
    let (dims, keep) = dims(call, x)?;
    let correction = match call.flag("unbiased", true) {
        true => call.number("correction").finite().cloned().unwrap_or(Rational::ONE),
        false => Rational::ZERO,
    };
    let [mean, variance] = moments(call, x, &dims, &correction)?;
    let shape = call.shape(x);
    let kept = shape.iter().enumerate().filter(|(at, _)| keep || !dims.contains(at));
    let kept: Vec<u64> = kept.map(|(at, extent)| if dims.contains(&at) { 1 } else { *extent }).collect();
    Ok((call.builder.view(variance, kept.clone())?, call.builder.view(mean, kept)?))
}

fn norm(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let x = number(call)?;
    call.wants_floats(&[x])?;
    let (dims, keep) = dims(call, x)?;
    let order = if call.get("p").is_some() { call.number("p") } else { call.number("ord") };
    let operands = [("x", TensorOrNumber::from(x))];
    if order == Extended::PosInf {
        return Ok(vec![call.builder.reduce(Combination::Max, "abs(x)", &operands, &dims, keep)?]);
    }
    match order.finite().and_then(Rational::to_i64) {
        Some(1) => Ok(vec![call.builder.reduce(Combination::Sum, "abs(x)", &operands, &dims, keep)?]),
        Some(2) => {
            let squares = call.builder.reduce(Combination::Sum, "x*x", &operands, &dims, keep)?;
            Ok(vec![call.builder.pointwise("sqrt(s)", &[("s", squares.into())])?])
        }
        _ => Err("norms of order 1, 2 and inf are supported".into()),
    }
}

fn prefix(call: &mut Call<'_>, with: Combination) -> Built<Vec<ValueId>> {
    let x = combinable(call, with)?;
    let dim = call.dim("dim", call.shape(x).len())?;
    let value = call.builder.prefix(with, x, dim)?;
    match with {
        Combination::Max | Combination::Min => Ok(vec![as_given(call, value)?]),
        Combination::Sum | Combination::Product | Combination::ArgMax | Combination::ArgMin => {
            Ok(vec![value])
        }
    }
}
