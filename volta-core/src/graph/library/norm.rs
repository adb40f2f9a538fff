//! Normalisations, softmax and attention.

use volta_case::{Element, Format};

use super::contract::matmul;
use super::reduce::{log_sum, mean, moments};
use super::{Built, Call, ExprKind, Make, Operator, TensorOrNumber, ValueId};
use crate::graph::{
    At, Combination, Construct, Expr, Function, Indexing, Read, ValueDefinition, spell_shape,
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

const NORMED: &str = "(self - mean)·rsqrt(var + eps)·weight + bias";

pub(super) const OPERATORS: &[Operator] = &[
    row(
        &["softmax", "_softmax"],
        "self, dim: int, half_to_float: flag = false, dtype?: type",
        "exp(self - m)/Σ{k} exp(self[k] - m), m = max{k}(self[k])",
        softmax,
    ),
    row(
        &["log_softmax", "_log_softmax"],
        "self, dim: int, half_to_float: flag = false, dtype?: type",
        "self - m - log(Σ{k} exp(self[k] - m)), m = max{k}(self[k])",
        log_softmax,
    ),
    row(
        &["native_layer_norm", "layer_norm"],
        "self, normalized_shape: ints, weight?, bias?, eps: number = 0.00001, cudnn_enable: flag = false",
        NORMED,
        layer_norm,
    ),
    row(
        &["rms_norm", "_fused_rms_norm"],
        "self, normalized_shape: ints, weight?, eps?: number",
        "self·rsqrt(Σ{k<n} self[k]^2 / n + eps)·weight; without eps, of f32 2^-23, of f64 2^-52",
        rms_norm,
    ),
    row(
        &["group_norm"],
        "self, num_groups: int, weight?, bias?, eps: number = 0.00001, cudnn_enabled: flag = false",
        NORMED,
        |call| group_norm(call, "num_groups"),
    ),
    row(
        &["native_group_norm"],
        "self, weight?, bias?, N: int, C: int, HxW: int, group: int, eps: number",
        NORMED,
        |call| group_norm(call, "group"),
    ),
    row(
        &["_native_batch_norm_legit_no_training"],
        "self, weight?, bias?, running_mean, running_var, momentum: number, eps: number",
        "(self - running_mean)·rsqrt(running_var + eps)·weight + bias",
        |call| batch_norm(call, false),
    ),
    row(
        &[
            "native_batch_norm",
            "batch_norm",
            "_native_batch_norm_legit",
            "_native_batch_norm_legit_functional",
        ],
        "self, weight?, bias?, running_mean?, running_var?, training: flag, momentum: number, eps: number, \
         cudnn_enabled: flag = false",
        "as without training, or of the mean and var over all but dimension 1",
        |call| {
            let training = call.flag("training", false);
            batch_norm(call, training)
        },
    ),
    row(
        &["_native_batch_norm_legit.no_stats"],
        "self, weight?, bias?, training: flag, momentum: number, eps: number",
        "(self - mean)·rsqrt(var + eps)·weight + bias, over all but dimension 1",
        |call| batch_norm(call, true),
    ),
    row(
        &["instance_norm"],
        "self, weight?, bias?, running_mean?, running_var?, use_input_stats: flag = true, momentum: number = 0.1, \
         eps: number = 0.00001, cudnn_enabled: flag = false",
        NORMED,
        instance_norm,
    ),
    row(
        &["normalize"],
        "self, p: number = 2, dim: int = 1, eps: number = 0.000000000001",
        "self/max(sqrt(Σ{k} self[k]^2), eps)",
        normalize,
    ),
    row(
        &[
            "scaled_dot_product_attention",
            "_scaled_dot_product_flash_attention_for_cpu",
            "_scaled_dot_product_flash_attention",
            "_scaled_dot_product_efficient_attention",
        ],
        "query, key, value, attn_mask?, dropout_p: number = 0, is_causal: flag = false, scale?: number, \
         enable_gqa: flag = false, attn_bias?, compute_log_sumexp: flag = false, return_debug_mask: flag = false",
        "softmax(scale·query·keyᵀ + mask)·value, scale = 1/sqrt of the last extent",
        attention,
    ),
];

/// The operand as numbers, in the type that is asked for.
fn operand(call: &mut Call<'_>) -> Built<ValueId> {
    let value = call.tensor("self")?;
    match call.element("dtype")? {
        Some(element) => call.cast(value, element),
        None => Ok(value),
    }
}

/// A softmax along a dimension.
fn softmax_of(call: &mut Call<'_>, x: ValueId, dim: usize) -> Built<ValueId> {
    let most = call.builder.reduce(Combination::Max, "x", &[("x", x.into())], &[dim], true)?;
    let power = call.builder.pointwise("exp(x - m)", &[("x", x.into()), ("m", most.into())])?;
    let sum = call.builder.reduce(Combination::Sum, "e", &[("e", power.into())], &[dim], true)?;
    call.builder.pointwise("e/s", &[("e", power.into()), ("s", sum.into())])
}

fn softmax(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let x = operand(call)?;
    let dim = call.dim("dim", call.shape(x).len())?;
    Ok(vec![softmax_of(call, x, dim)?])
}

fn log_softmax(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let x = operand(call)?;
    let dim = call.dim("dim", call.shape(x).len())?;
    Ok(vec![log_softmax_of(call, x, dim)?])
}

/// The logarithm of a softmax along a dimension.
pub(super) fn log_softmax_of(call: &mut Call<'_>, x: ValueId, dim: usize) -> Built<ValueId> {
    let [most, sum] = log_sum(call, x, &[dim], true)?;
    call.builder.pointwise("x - m - log(s)", &[("x", x.into()), ("m", most.into()), ("s", sum.into())])
}

/// Scales and shifts by tensors that are broadcast, as far as they are given.
fn scaled(call: &mut Call<'_>, mut value: ValueId, shape: &[u64]) -> Built<ValueId> {
    let takes = |call: &Call<'_>, name: &str| call.operator.takes().any(|argument| argument.name == name);
    for (name, text) in [("weight", "x*p"), ("bias", "x + p")] {
        if takes(call, name)
            && let Some(own) = call.optional(name)?
        {
            let own = call.builder.view(own, shape.to_vec())?;
            value = call.builder.pointwise(text, &[("x", value.into()), ("p", own.into())])?;
        }
    }
    Ok(value)
}

/// The value less its mean, over the root of its variance.
fn standardised(call: &mut Call<'_>, x: ValueId, dims: &[usize]) -> Built<[ValueId; 3]> {
    let [mean, variance] = moments(call, x, dims, &Rational::ZERO)?;
    let eps = TensorOrNumber::Number(call.number("eps"));
    let scale = call.builder.pointwise("rsqrt(v + eps)", &[("v", variance.into()), ("eps", eps)])?;
    let operands = [("x", x.into()), ("m", mean.into()), ("r", scale.into())];
    Ok([call.builder.pointwise("(x - m)*r", &operands)?, mean, scale])
}

/// The last dimensions, over which is normalised, and their extents.
fn normalised(call: &Call<'_>, x: ValueId) -> Built<(Vec<usize>, Vec<u64>)> {
    let shape = call.shape(x);
    let count = call.ints("normalized_shape")?.map_or(1, |list| list.len());
    let first = shape.len().checked_sub(count).ok_or("`normalized_shape` has too many dimensions")?;
    let given: Vec<u64> =
        call.ints("normalized_shape")?.unwrap_or_default().iter().map(|own| own.cast_unsigned()).collect();
    if given != shape[first..] {
        let [own, given] = [&shape, &given].map(|shape| spell_shape(shape));
        return Err(format!("`normalized_shape` is {given}, and `self` has the shape {own}"));
    }
    Ok(((first..shape.len()).collect(), shape[first..].to_vec()))
}

fn layer_norm(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let x = call.tensor("self")?;
    let (dims, extents) = normalised(call, x)?;
    let [normed, mean, scale] = standardised(call, x, &dims)?;
    Ok(vec![scaled(call, normed, &extents)?, mean, scale])
}

fn rms_norm(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let x = call.tensor("self")?;
    let (dims, extents) = normalised(call, x)?;
    let eps = match (call.get("eps"), call.builder.element(x)) {
        (Some(_), _) => call.number("eps"),
        (None, Element::Float(Format::F32)) => Extended::Finite(Rational::power_of_two(-23)),
        (None, Element::Float(Format::F64)) => Extended::Finite(Rational::power_of_two(-52)),
        (None, element) => {
            return Err(format!(
                "`eps` is wanted for elements of type {}: versions of PyTorch differ in it",
                element.name()
            ));
        }
    };
    let squares = call.builder.pointwise("x*x", &[("x", x.into())])?;
    let mean = mean(call, squares, &dims, true)?;
    let eps = TensorOrNumber::Number(eps);
    let scale = call.builder.pointwise("rsqrt(m + eps)", &[("m", mean.into()), ("eps", eps)])?;
    let normed = call.builder.pointwise("x*r", &[("x", x.into()), ("r", scale.into())])?;
    Ok(vec![scaled(call, normed, &extents)?, scale])
}

/// The shape in which a tensor of one number a channel is broadcast.
fn channels(shape: &[u64]) -> Vec<u64> {
    let mut own = vec![1; shape.len()];
    if shape.len() > 1 {
        own[1] = shape[1];
    }
    own
}

fn group_norm(call: &mut Call<'_>, groups: &str) -> Built<Vec<ValueId>> {
    let x = call.tensor("self")?;
    let shape = call.shape(x);
    let groups = u64::try_from(call.int(groups)?).unwrap_or(0);
    if shape.len() < 2 || groups == 0 || !shape[1].is_multiple_of(groups) {
        return Err(format!("{groups} groups do not divide the channels of {}", spell_shape(&shape)));
    }
    let mut split = vec![shape[0], groups, shape[1] / groups];
    split.extend(&shape[2..]);
    let dims: Vec<usize> = (2..split.len()).collect();
    let grouped = call.builder.view(x, split)?;
    let [normed, mean, scale] = standardised(call, grouped, &dims)?;
    let normed = call.builder.view(normed, shape.clone())?;
    let [mean, scale] = [mean, scale].map(|own| call.builder.view(own, vec![shape[0], groups]));
    Ok(vec![scaled(call, normed, &channels(&shape))?, mean?, scale?])
}

fn batch_norm(call: &mut Call<'_>, training: bool) -> Built<Vec<ValueId>> {
    let x = call.tensor("self")?;
    let shape = call.shape(x);
    if shape.len() < 2 {
        return Err("`self` has a dimension of channels".into());
    }
    let own = channels(&shape);
    if training {
        let dims: Vec<usize> = (0..shape.len()).filter(|dim| *dim != 1).collect();
        let [normed, mean, scale] = standardised(call, x, &dims)?;
        let [mean, scale] = [mean, scale].map(|value| call.builder.view(value, vec![shape[1]]));
        return Ok(vec![scaled(call, normed, &own)?, mean?, scale?]);
    }
    let (mean, variance) = (call.tensor("running_mean")?, call.tensor("running_var")?);
    let (mean, variance) = (call.builder.view(mean, own.clone())?, call.builder.view(variance, own.clone())?);
    let eps = TensorOrNumber::Number(call.number("eps"));
    let operands = [("x", x.into()), ("m", mean.into()), ("v", variance.into()), ("eps", eps)];
    let normed = call.builder.pointwise("(x - m)*rsqrt(v + eps)", &operands)?;
    Ok(vec![scaled(call, normed, &own)?])
}

fn instance_norm(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    if !call.flag("use_input_stats", true) {
        return batch_norm(call, false);
    }
    let x = call.tensor("self")?;
    let shape = call.shape(x);
    let dims: Vec<usize> = (2..shape.len()).collect();
    let [normed, ..] = standardised(call, x, &dims)?;
    Ok(vec![scaled(call, normed, &channels(&shape))?])
}

fn normalize(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let x = call.tensor("self")?;
    call.wants_floats(&[x])?;
    if call.int("p")? != 2 {
        return Err("only the norm of order 2 is supported".into());
    }
    let dim = call.dim("dim", call.shape(x).len())?;
    let squares = call.builder.reduce(Combination::Sum, "x*x", &[("x", x.into())], &[dim], true)?;
    let eps = TensorOrNumber::Number(call.number("eps"));
    let operands = [("x", x.into()), ("s", squares.into()), ("eps", eps)];
    Ok(vec![call.builder.pointwise("x/max(sqrt(s), eps)", &operands)?])
}

fn attention(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let [query, key, value] = [call.tensor("query")?, call.tensor("key")?, call.tensor("value")?];
    call.wants_floats(&[query, key, value])?;
    if call.number("dropout_p") != Extended::Finite(Rational::ZERO) {
        return Err("dropout draws random numbers, so that the result is no function of the inputs".into());
    }
    if call.flag("enable_gqa", false) {
        return Err("`enable_gqa` is not supported: repeat the heads of keys and values".into());
    }
    let shape = call.shape(query);
    let width = *shape.last().ok_or("`query` is no matrix")?;
    let rank = call.shape(key).len();
    if rank < 2 || shape.len() < 2 {
        return Err("`query` and `key` are wanted to be matrices".into());
    }
    let scale = match call.get("scale") {
        Some(_) => call.number("scale"),
        None => inverse_root(width)?,
    };
    let mut turned = call.shape(key);
    turned.swap(rank - 2, rank - 1);
    let mut at: Vec<Indexing> = (0..rank).map(Indexing::variable).collect();
    at.swap(rank - 2, rank - 1);
    let turned = call.builder.moved(key, turned, at, None)?;
    let product = matmul(call, query, turned)?;
    let operands = [("p", product.into()), ("scale", TensorOrNumber::Number(scale))];
    let mut scores = call.builder.pointwise("p*scale", &operands)?;
    let mask = call.optional("attn_mask")?.or(call.optional("attn_bias")?);
    if let Some(mask) = mask {
        let text = match ExprKind::of(call.builder.element(mask)) {
            ExprKind::Truth => "where(mask, s, -inf)",
            ExprKind::Real => "s + mask",
            ExprKind::Whole => {
                let own = call.builder.element(mask);
                return Err(format!("a mask is of truth values or of floats, not of type {}", own.name()));
            }
        };
        scores = call.builder.pointwise(text, &[("s", scores.into()), ("mask", mask.into())])?;
    }
    if call.flag("is_causal", false) {
        scores = causal(call, scores)?;
    }
    let dim = call.shape(scores).len() - 1;
    let mut weights = softmax_of(call, scores, dim)?;
    if let Some(mask) = mask {
        weights = of_seen_rows(call, weights, mask)?;
    }
    Ok(vec![matmul(call, weights, value)?])
}

/// Weights of keys, and zeros in rows all of whose keys are masked: PyTorch has no other value there.
fn of_seen_rows(call: &mut Call<'_>, weights: ValueId, mask: ValueId) -> Built<ValueId> {
    let last: Vec<usize> = call.shape(mask).len().checked_sub(1).into_iter().collect();
    let (seen, choice) = match ExprKind::of(call.builder.element(mask)) {
        ExprKind::Truth => ("where(mask, 1, 0)", "where(most > 0, w, 0)"),
        ExprKind::Real | ExprKind::Whole => ("mask", "where(most > -inf, w, 0)"),
    };
    let most = call.builder.reduce(Combination::Max, seen, &[("mask", mask.into())], &last, true)?;
    call.builder.pointwise(choice, &[("most", most.into()), ("w", weights.into())])
}

/// Scores of keys up to the place of the query, and minus infinity for later ones.
fn causal(call: &mut Call<'_>, scores: ValueId) -> Built<ValueId> {
    let shape = call.shape(scores);
    let rank = shape.len();
    let [row, column] = [rank - 2, rank - 1].map(|at| Expr::Index(Indexing::variable(at)));
    let at = (0..rank).map(|at| At::Affine(Indexing::variable(at))).collect();
    let own = Expr::Element(Read { value: scores, at, outside: None });
    let seen = Expr::Apply(Function::LessEqual, vec![column, row]);
    let expr = Expr::Apply(Function::Where, vec![seen, own, Expr::Number(Extended::NegInf)]);
    let element = call.builder.element(scores);
    call.builder.add(
        element,
        shape,
        ValueDefinition::Construct(Construct { over: Vec::new(), reduce: None, expr }),
    )
}

/// One over the root of an extent: exactly, or as the nearest double.
fn inverse_root(extent: u64) -> Built<Extended> {
    let root = (1..=1u64 << 16).find(|root| root * root >= extent).ok_or("an extent is too large")?;
    if root * root == extent {
        return Ok(Extended::Finite(Rational::from_ratio(1, root.cast_signed())));
    }
    let nearest = (1.0 / (extent as f64).sqrt()).to_bits();
    let number = crate::number::format::decode(Format::F64, nearest).extended();
    number.ok_or_else(|| "an extent is 0".into())
}
