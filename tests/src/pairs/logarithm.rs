//! Logarithms of sums of powers, and softplus with a threshold.

use super::builder::{Terms, X};
use super::softmax::{self, Larger, State, by_at_least, by_greater, by_max, by_negation, minus_infinity};
use volta_core::term::{TermId, TermOp};

/// `m + ln Σ e^(xᵢ − m)`
pub(super) fn below_maximum(terms: &mut Terms, n: u64) -> TermId {
    let row = terms.row(X, n);
    let max = terms.in_order(&row, TermOp::Max);
    let powers: Vec<TermId> = row.iter().map(|x| terms.exp_of_difference(*x, max)).collect();
    let sum = terms.in_order(&powers, TermOp::Add);
    let logarithm = terms.ln(sum);
    terms.add(max, logarithm)
}

/// `ln(e^a + e^b)` by a choice of the larger operand: `a > b ? a + ln(1 + e^(b − a)) : b + ln(1 + e^(a − b))`.
fn by_choice(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let first = terms.less(b, a);
    let one = terms.ratio(1, 1);
    let mut raised = |high: TermId, low: TermId| {
        let power = terms.exp_of_difference(low, high);
        let sum = terms.add(one, power);
        let logarithm = terms.ln(sum);
        terms.add(high, logarithm)
    };
    let (left, right) = (raised(a, b), raised(b, a));
    terms.choose(first, left, right)
}

/// `max(a, b) + ln(1 + e^(−|a − b|))`
fn by_magnitude(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let one = terms.ratio(1, 1);
    let max = terms.max(a, b);
    let difference = terms.sub(a, b);
    let magnitude = terms.op(TermOp::Abs, &[difference]);
    let opposite = terms.op(TermOp::Neg, &[magnitude]);
    let power = terms.exp(opposite);
    let sum = terms.add(one, power);
    let logarithm = terms.ln(sum);
    terms.add(max, logarithm)
}

/// The logarithm of a row, in a tree of pairs by choices.
pub(super) fn tree_by_choice(terms: &mut Terms, n: u64) -> TermId {
    let row = terms.row(X, n);
    terms.tree(row, by_choice)
}

/// The logarithm of a row, in a tree of pairs by magnitudes.
pub(super) fn tree_by_magnitude(terms: &mut Terms, n: u64) -> TermId {
    let row = terms.row(X, n);
    terms.tree(row, by_magnitude)
}

/// The logarithm of a row by magnitudes, element by element.
pub(super) fn chain_by_magnitude(terms: &mut Terms, n: u64) -> TermId {
    let row = terms.row(X, n);
    row[1..].iter().fold(row[0], |all, next| by_magnitude(terms, all, *next))
}

/// Near miss: in one step, the minimum is added instead of the maximum.
pub(super) fn chain_of_a_minimum(terms: &mut Terms, n: u64) -> TermId {
    let row = terms.row(X, n);
    let middle = row[row.len() / 2];
    row[1..].iter().fold(row[0], |all, next| {
        let step = by_magnitude(terms, all, *next);
        if *next != middle {
            return step;
        }
        let (larger, smaller) = (terms.max(all, *next), terms.op(TermOp::Min, &[all, *next]));
        let lowered = terms.sub(step, larger);
        terms.add(lowered, smaller)
    })
}

/// Near miss: the magnitude is not negated.
pub(super) fn tree_grows(terms: &mut Terms, n: u64) -> TermId {
    let row = terms.row(X, n);
    let (left, right) = row.split_at(row.len() / 2);
    let (a, b) = (terms.tree(left.to_vec(), by_choice), terms.tree(right.to_vec(), by_choice));
    let one = terms.ratio(1, 1);
    let max = terms.max(a, b);
    let power = terms.exp_of_difference(a, b);
    let sum = terms.add(one, power);
    let logarithm = terms.ln(sum);
    terms.add(max, logarithm)
}

/// `m + ln s` of a running maximum and sum.
fn of_state(terms: &mut Terms, state: State) -> TermId {
    let logarithm = terms.ln(state.sum);
    terms.add(state.max, logarithm)
}

fn streamed(terms: &mut Terms, n: u64, larger: Larger, guarded: bool) -> TermId {
    let state = softmax::online(terms, n, larger, guarded);
    of_state(terms, state)
}

/// A running maximum and sum from −∞, with `max`.
pub(super) fn streamed_max(terms: &mut Terms, n: u64) -> TermId {
    streamed(terms, n, by_max, false)
}

/// With `if (x > m) m = x`.
pub(super) fn streamed_greater(terms: &mut Terms, n: u64) -> TermId {
    streamed(terms, n, by_greater, false)
}

/// With `m >= x ? m : x`.
pub(super) fn streamed_at_least(terms: &mut Terms, n: u64) -> TermId {
    streamed(terms, n, by_at_least, false)
}

/// With `!(x <= m) ? x : m`, and `m == −∞ ? 0 : …` around each power.
pub(super) fn streamed_guarded(terms: &mut Terms, n: u64) -> TermId {
    streamed(terms, n, by_negation, true)
}

/// The sum rescaled only when the maximum grows.
pub(super) fn streamed_branch(terms: &mut Terms, n: u64) -> TermId {
    let state = softmax::branching(terms, n);
    of_state(terms, state)
}

/// Near miss: the sum is not rescaled at one of the elements.
pub(super) fn streamed_forgets(terms: &mut Terms, n: u64) -> TermId {
    let state = softmax::forgetting(terms, n);
    of_state(terms, state)
}

/// The logarithm itself runs, from −∞, by choices.
pub(super) fn steps_by_choice_from_infinity(terms: &mut Terms, n: u64) -> TermId {
    let start = minus_infinity(terms);
    terms.row(X, n).into_iter().fold(start, |all, next| by_choice(terms, all, next))
}

/// The logarithm itself runs, from −∞, by magnitudes.
pub(super) fn steps_by_magnitude_from_infinity(terms: &mut Terms, n: u64) -> TermId {
    let start = minus_infinity(terms);
    terms.row(X, n).into_iter().fold(start, |all, next| by_magnitude(terms, all, next))
}

/// Parts by magnitudes, each from −∞, in a tree.
pub(super) fn parts_by_magnitude_from_infinity(terms: &mut Terms, n: u64) -> TermId {
    let start = minus_infinity(terms);
    let row = terms.row(X, n);
    let parts: Vec<TermId> = row
        .chunks(row.len().div_ceil(8))
        .map(|part| part.iter().fold(start, |all, next| by_magnitude(terms, all, *next)))
        .collect();
    terms.tree(parts, by_magnitude)
}

/// Near miss: from 0 instead of −∞.
pub(super) fn steps_from_zero(terms: &mut Terms, n: u64) -> TermId {
    let start = terms.ratio(0, 1);
    terms.row(X, n).into_iter().fold(start, |all, next| by_magnitude(terms, all, next))
}

/// The sum of `x > 20 ? x : ln(1 + e^x)` over a row.
pub(super) fn softplus(terms: &mut Terms, n: u64) -> TermId {
    softplus_by(terms, n, |terms, threshold, x| terms.less(threshold, x))
}

/// The sum of softplus with the negated condition: `x <= 20 ? … : x`.
pub(super) fn softplus_turned(terms: &mut Terms, n: u64) -> TermId {
    softplus_by(terms, n, |terms, threshold, x| {
        let at_most = terms.op(TermOp::LessEqual, &[x, threshold]);
        terms.op(TermOp::Not, &[at_most])
    })
}

fn softplus_by(terms: &mut Terms, n: u64, is_large: fn(&mut Terms, TermId, TermId) -> TermId) -> TermId {
    let (threshold, one) = (terms.float(20.0), terms.ratio(1, 1));
    let row = terms.row(X, n);
    let each: Vec<TermId> = row
        .iter()
        .map(|x| {
            let power = terms.exp(*x);
            let sum = terms.add(one, power);
            let logarithm = terms.ln(sum);
            let large = is_large(terms, threshold, *x);
            terms.choose(large, *x, logarithm)
        })
        .collect();
    terms.in_pairs(&each, TermOp::Add)
}

/// Near miss: another threshold.
pub(super) fn softplus_late(terms: &mut Terms, n: u64) -> TermId {
    softplus_by(terms, n, |terms, threshold, x| {
        let one = terms.ratio(1, 1);
        let later = terms.add(threshold, one);
        terms.less(later, x)
    })
}
