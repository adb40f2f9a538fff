//! Losses.

use super::index::gathered;
use super::norm::log_softmax_of;
use super::reduce::mean;
use super::{Built, Call, Make, Operator, TensorOrNumber, ValueId};
use crate::graph::Combination;
use crate::number::Rational;

type Making = fn(&mut Call<'_>) -> Built<Vec<ValueId>>;

const fn row(
    names: &'static [&'static str],
    arguments: &'static str,
    formula: &'static str,
    make: Making,
) -> Operator {
    Operator { names, arguments, formula, make: Make::Built(make) }
}

pub(super) const OPERATORS: &[Operator] = &[
    row(&["mse_loss"], "self, target, reduction: reduction = 1", "mean of (self - target)^2", |call| {
        pointwise(call, "(x - t)^2", &[])
    }),
    row(&["l1_loss"], "self, target, reduction: reduction = 1", "mean of abs(self - target)", |call| {
        pointwise(call, "abs(x - t)", &[])
    }),
    row(
        &["smooth_l1_loss"],
        "self, target, reduction: reduction = 1, beta: number = 1",
        "mean of where(d < beta, 0.5*d^2/beta, d - 0.5*beta), d = abs(self - target)",
        |call| {
            pointwise(call, "where(abs(x - t) < beta, 0.5*(x - t)^2/beta, abs(x - t) - 0.5*beta)", &["beta"])
        },
    ),
    row(
        &["huber_loss"],
        "self, target, reduction: reduction = 1, delta: number = 1",
        "mean of where(d <= delta, 0.5*d^2, delta*(d - 0.5*delta)), d = abs(self - target)",
        |call| {
            pointwise(
                call,
                "where(abs(x - t) <= delta, 0.5*(x - t)^2, delta*(abs(x - t) - 0.5*delta))",
                &["delta"],
            )
        },
    ),
    row(
        &["binary_cross_entropy"],
        "self, target, reduction: reduction = 1",
        "mean of -(target*max(log(self), -100) + (1 - target)*max(log(1 - self), -100))",
        |call| pointwise(call, "-(t*max(log(x), -100) + (1 - t)*max(log(1 - x), -100))", &[]),
    ),
    row(
        &["kl_div"],
        "self, target, reduction: reduction = 1, log_target: flag = false",
        "mean of target*(log(target) - self), which is 0 at target 0, or with log_target of exp(target)*(target - self)",
        |call| {
            // A target below zero has no value; zero times its root says so wherever the choice is compared.
            let text = match call.flag("log_target", false) {
                true => "exp(t)*(t - x)",
                false => "where(t == 0, 0, t*(log(t) - x)) + 0*sqrt(t)",
            };
            pointwise(call, text, &[])
        },
    ),
    row(&["nll_loss"], "self, target, reduction: reduction = 1", "mean of -self[i,target[i]]", |call| {
        let x = call.tensor("self")?;
        likelihood(call, x)
    }),
    row(
        &["cross_entropy_loss", "cross_entropy"],
        "self, target, reduction: reduction = 1",
        "mean of -log_softmax(self)[i,target[i]]",
        |call| {
            let x = call.tensor("self")?;
            let x = log_softmax_of(call, x, 1)?;
            likelihood(call, x)
        },
    ),
    row(
        &["cosine_similarity"],
        "x1, x2, dim: int = 1, eps: number = 0.00000001",
        "Σ{k} x1[k]·x2[k] / (max(sqrt(Σ{k} x1[k]^2), eps)·max(sqrt(Σ{k} x2[k]^2), eps))",
        cosine,
    ),
    row(
        &["triplet_margin_loss"],
        "anchor, positive, negative, margin: number = 1, p: number = 2, eps: number = 0.000001, swap: flag = false, \
         reduction: reduction = 1",
        "mean of max(dist(anchor, positive) - dist(anchor, negative) + margin, 0), \
         dist(a, b) = sqrt(Σ{k} (a[k] - b[k] + eps)^2)",
        triplet,
    ),
];

/// The mean or the sum of a loss, or the loss itself.
fn reduced(call: &mut Call<'_>, value: ValueId) -> Built<Vec<ValueId>> {
    let all: Vec<usize> = (0..call.shape(value).len()).collect();
    let how = match (call.text("reduction"), call.int("reduction")) {
        ("", Ok(number)) => number,
        ("none", _) => 0,
        ("mean", _) => 1,
        ("sum", _) => 2,
        (other, _) => return Err(format!("`reduction` is none, mean or sum, not {other}")),
    };
    Ok(vec![match how {
        0 => value,
        1 => mean(call, value, &all, false)?,
        2 => call.builder.reduce(Combination::Sum, "x", &[("x", value.into())], &all, false)?,
        _ => return Err("`reduction` is 0 (none), 1 (mean) or 2 (sum)".into()),
    }])
}

fn pointwise(call: &mut Call<'_>, text: &str, numbers: &[&'static str]) -> Built<Vec<ValueId>> {
    let (x, target) = (call.tensor("self")?, call.tensor("target")?);
    call.wants_floats(&[x, target])?;
    let mut operands = vec![("x", TensorOrNumber::from(x)), ("t", TensorOrNumber::from(target))];
    operands.extend(numbers.iter().map(|name| (*name, TensorOrNumber::Number(call.number(name)))));
    let loss = call.builder.pointwise(text, &operands)?;
    reduced(call, loss)
}

/// What is at the index that the target gives, negated.
fn likelihood(call: &mut Call<'_>, x: ValueId) -> Built<Vec<ValueId>> {
    let target = call.tensor("target")?;
    let places = call.shape(target);
    if call.shape(x).len() != 2 || places.len() != 1 {
        return Err("a matrix and a list of classes are supported".into());
    }
    let index = call.builder.view(target, vec![places[0], 1])?;
    let own = gathered(call, x, index, 1)?;
    let own = call.builder.view(own, places)?;
    let loss = call.builder.pointwise("-x", &[("x", own.into())])?;
    reduced(call, loss)
}

fn cosine(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let (a, b) = (call.tensor("x1")?, call.tensor("x2")?);
    call.wants_floats(&[a, b])?;
    let shape = call.builder.broadcast(&[a.into(), b.into()])?;
    let dim = call.dim("dim", shape.len())?;
    let (a, b) = (call.builder.expanded(a, shape.clone())?, call.builder.expanded(b, shape)?);
    let mut sum = |x: ValueId, y: ValueId| {
        call.builder.reduce(Combination::Sum, "x*y", &[("x", x.into()), ("y", y.into())], &[dim], false)
    };
    let (product, left, right) = (sum(a, b)?, sum(a, a)?, sum(b, b)?);
    let eps = TensorOrNumber::Number(call.number("eps"));
    let operands = [("p", product.into()), ("a", left.into()), ("b", right.into()), ("eps", eps)];
    Ok(vec![call.builder.pointwise("p/(max(sqrt(a), eps)*max(sqrt(b), eps))", &operands)?])
}

fn triplet(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let two = Rational::from_integer(2);
    if call.number("p").finite() != Some(&two) || call.flag("swap", false) {
        return Err("only `p = 2` without `swap` is supported".into());
    }
    let [anchor, positive, negative] =
        [call.tensor("anchor")?, call.tensor("positive")?, call.tensor("negative")?];
    call.wants_floats(&[anchor, positive, negative])?;
    let [rank, others @ ..] = [anchor, positive, negative].map(|tensor| call.shape(tensor).len());
    if others != [rank; 2] {
        return Err("`anchor`, `positive` and `negative` have as many dimensions".into());
    }
    let last = rank.checked_sub(1).ok_or("`anchor` has rows")?;
    let eps = call.number("eps");
    let mut apart = |other: ValueId| -> Built<ValueId> {
        let operands =
            [("a", anchor.into()), ("b", other.into()), ("eps", TensorOrNumber::Number(eps.clone()))];
        let squares = call.builder.reduce(Combination::Sum, "(a - b + eps)^2", &operands, &[last], false)?;
        call.builder.pointwise("sqrt(s)", &[("s", squares.into())])
    };
    let (near, far) = (apart(positive)?, apart(negative)?);
    let margin = TensorOrNumber::Number(call.number("margin"));
    let operands = [("near", near.into()), ("far", far.into()), ("margin", margin)];
    let loss = call.builder.pointwise("max(near - far + margin, 0)", &operands)?;
    reduced(call, loss)
}
