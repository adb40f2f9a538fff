//! Epilogues of a product or a norm: biases, activations, and the moments of a row computed in several ways.

use super::builder::{Terms, X, Y, Z};
use volta_core::term::{TermId, TermOp};

/// `√(2/π)` as f32.
const SQRT_2_BY_PI: f32 = 0.797_884_6;
const CUBIC: f32 = 0.044_715;

/// `y/2·(1 + tanh(√(2/π)·(y + 0.044715·y³)))`
fn gelu(terms: &mut Terms, y: TermId) -> TermId {
    let (cubic, scale, half, one) =
        (terms.float(CUBIC), terms.float(SQRT_2_BY_PI), terms.ratio(1, 2), terms.ratio(1, 1));
    let square = terms.mul(y, y);
    let cube = terms.mul(square, y);
    let inner = terms.fma(cubic, cube, y);
    let inner = terms.mul(scale, inner);
    let tanh = terms.op(TermOp::Tanh, &[inner]);
    let raised = terms.add(one, tanh);
    let halved = terms.mul(half, y);
    terms.mul(halved, raised)
}

/// `y/(1 + e^(−2·√(2/π)·y·(1 + 0.044715·y²)))`
fn gelu_by_sigmoid(terms: &mut Terms, y: TermId) -> TermId {
    let (cubic, scale, two, one) =
        (terms.float(CUBIC), terms.float(SQRT_2_BY_PI), terms.ratio(-2, 1), terms.ratio(1, 1));
    let scale = terms.mul(scale, two);
    let square = terms.mul(y, y);
    let inner = terms.fma(cubic, square, one);
    let inner = terms.mul(inner, y);
    let inner = terms.mul(scale, inner);
    let power = terms.exp(inner);
    let below = terms.add(one, power);
    terms.div(y, below)
}

fn dot_in_order(terms: &mut Terms, n: u64, start: TermId) -> TermId {
    let (x, y) = (terms.row(X, n), terms.row(Y, n));
    x.iter().zip(y).fold(start, |sum, (x, y)| terms.fma(*x, y, sum))
}

/// A dot product and a bias, then GELU by `tanh`.
pub(super) fn dot_gelu(terms: &mut Terms, n: u64) -> TermId {
    let zero = terms.ratio(0, 1);
    let dot = dot_in_order(terms, n, zero);
    let bias = terms.input(Z, 0);
    let y = terms.add(dot, bias);
    gelu(terms, y)
}

/// A dot product and a bias, which is added first, then GELU by `tanh`.
pub(super) fn bias_first(terms: &mut Terms, n: u64) -> TermId {
    let bias = terms.input(Z, 0);
    let y = dot_in_order(terms, n, bias);
    gelu(terms, y)
}

/// A dot product summed in four quarters and a bias, then GELU by a sigmoid.
pub(super) fn quarters_by_sigmoid(terms: &mut Terms, n: u64) -> TermId {
    let zero = terms.ratio(0, 1);
    let (x, y) = (terms.row(X, n), terms.row(Y, n));
    let lanes: Vec<TermId> = (0..4)
        .map(|lane| {
            let own = x.iter().zip(&y).skip(lane).step_by(4);
            own.fold(zero, |sum, (x, y)| terms.fma(*x, *y, sum))
        })
        .collect();
    let dot = terms.in_pairs(&lanes, TermOp::Add);
    let bias = terms.input(Z, 0);
    let y = terms.add(dot, bias);
    gelu_by_sigmoid(terms, y)
}

/// Near miss: the bias is added after the activation, not to its argument.
pub(super) fn bias_late(terms: &mut Terms, n: u64) -> TermId {
    let zero = terms.ratio(0, 1);
    let dot = dot_in_order(terms, n, zero);
    let bias = terms.input(Z, 0);
    let activated = gelu(terms, dot);
    terms.add(activated, bias)
}

const EPSILON: f32 = 1e-5;

fn mean_of(terms: &mut Terms, sum: TermId, n: u64) -> TermId {
    let count = terms.ratio(n as i64, 1);
    terms.div(sum, count)
}

/// `(x₀ − μ)·r·y₀ + z₀`
fn normalized(terms: &mut Terms, mean: TermId, scale: TermId) -> TermId {
    let [x, weight, bias] = [X, Y, Z].map(|input| terms.input(input, 0));
    let centred = terms.sub(x, mean);
    let scaled = terms.mul(centred, scale);
    terms.fma(scaled, weight, bias)
}

fn reciprocal_root(terms: &mut Terms, variance: TermId) -> TermId {
    let (epsilon, one) = (terms.float(EPSILON), terms.ratio(1, 1));
    let sum = terms.add(variance, epsilon);
    let root = terms.op(TermOp::Sqrt, &[sum]);
    terms.div(one, root)
}

fn rsqrt(terms: &mut Terms, variance: TermId, epsilon: f32) -> TermId {
    let epsilon = terms.float(epsilon);
    let sum = terms.add(variance, epsilon);
    terms.op(TermOp::Rsqrt, &[sum])
}

fn centred_variance(terms: &mut Terms, n: u64) -> [TermId; 2] {
    let row = terms.row(X, n);
    let sum = terms.in_order(&row, TermOp::Add);
    let mean = mean_of(terms, sum, n);
    let zero = terms.ratio(0, 1);
    let squares = row.iter().fold(zero, |sum, x| {
        let centred = terms.sub(*x, mean);
        terms.fma(centred, centred, sum)
    });
    [mean, mean_of(terms, squares, n)]
}

/// `Σx²/n − μ²`, by trees.
fn variance_of_squares(terms: &mut Terms, n: u64) -> [TermId; 2] {
    let row = terms.row(X, n);
    let sum = terms.in_pairs(&row, TermOp::Add);
    let squares: Vec<TermId> = row.iter().map(|x| terms.mul(*x, *x)).collect();
    let squares = terms.in_pairs(&squares, TermOp::Add);
    let (mean, moment) = (mean_of(terms, sum, n), mean_of(terms, squares, n));
    let square = terms.mul(mean, mean);
    [mean, terms.sub(moment, square)]
}

fn welford(terms: &mut Terms, n: u64) -> [TermId; 2] {
    let zero = terms.ratio(0, 1);
    let (mut mean, mut moment) = (zero, zero);
    for (at, x) in terms.row(X, n).into_iter().enumerate() {
        let count = terms.ratio(at as i64 + 1, 1);
        let delta = terms.sub(x, mean);
        let step = terms.div(delta, count);
        mean = terms.add(mean, step);
        let after = terms.sub(x, mean);
        moment = terms.fma(delta, after, moment);
    }
    [mean, mean_of(terms, moment, n)]
}

/// Layer norm of a row by its centred squares and `1/√`, then GELU.
pub(super) fn norm_gelu(terms: &mut Terms, n: u64) -> TermId {
    let [mean, variance] = centred_variance(terms, n);
    let scale = reciprocal_root(terms, variance);
    let y = normalized(terms, mean, scale);
    gelu(terms, y)
}

/// Layer norm by the mean of squares and `rsqrt`, then GELU.
pub(super) fn norm_of_squares_gelu(terms: &mut Terms, n: u64) -> TermId {
    let [mean, variance] = variance_of_squares(terms, n);
    let scale = rsqrt(terms, variance, EPSILON);
    let y = normalized(terms, mean, scale);
    gelu_by_sigmoid(terms, y)
}

/// Layer norm by Welford's updates and `rsqrt`, then GELU.
pub(super) fn norm_by_welford_gelu(terms: &mut Terms, n: u64) -> TermId {
    let [mean, variance] = welford(terms, n);
    let scale = rsqrt(terms, variance, EPSILON);
    let y = normalized(terms, mean, scale);
    gelu(terms, y)
}

/// Near miss: another epsilon.
pub(super) fn norm_with_other_epsilon(terms: &mut Terms, n: u64) -> TermId {
    let [mean, variance] = variance_of_squares(terms, n);
    let scale = rsqrt(terms, variance, 2.0 * EPSILON);
    let y = normalized(terms, mean, scale);
    gelu(terms, y)
}

/// Near miss: one element is left out of the sum of squares.
pub(super) fn norm_of_too_few(terms: &mut Terms, n: u64) -> TermId {
    let row = terms.row(X, n);
    let sum = terms.in_pairs(&row, TermOp::Add);
    let squares: Vec<TermId> = row[1..].iter().map(|x| terms.mul(*x, *x)).collect();
    let squares = terms.in_pairs(&squares, TermOp::Add);
    let (mean, moment) = (mean_of(terms, sum, n), mean_of(terms, squares, n));
    let square = terms.mul(mean, mean);
    let variance = terms.sub(moment, square);
    let scale = rsqrt(terms, variance, EPSILON);
    let y = normalized(terms, mean, scale);
    gelu(terms, y)
}
