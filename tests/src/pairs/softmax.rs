//! Online softmax: maxima and rescaled sums, merged by maxima and by choices, in trees of several shapes.

use super::builder::{Terms, X, Y};
use volta_core::term::{TermId, TermOp};

/// A maximum, the sum of the powers relative to it, and their weighted sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) max: TermId,
    pub(super) sum: TermId,
    weighted: TermId,
}

/// A way to compute the larger of two maxima.
pub(super) type Larger = fn(&mut Terms, TermId, TermId) -> TermId;

pub(super) fn by_max(terms: &mut Terms, old: TermId, new: TermId) -> TermId {
    terms.max(old, new)
}

/// `if (x > m) m = x`
pub(super) fn by_greater(terms: &mut Terms, old: TermId, new: TermId) -> TermId {
    let greater = terms.less(old, new);
    terms.choose(greater, new, old)
}

/// `m >= x ? m : x`
pub(super) fn by_at_least(terms: &mut Terms, old: TermId, new: TermId) -> TermId {
    let at_least = terms.op(TermOp::LessEqual, &[new, old]);
    terms.choose(at_least, old, new)
}

/// `!(x <= m) ? x : m`
pub(super) fn by_negation(terms: &mut Terms, old: TermId, new: TermId) -> TermId {
    let at_most = terms.op(TermOp::LessEqual, &[new, old]);
    let greater = terms.op(TermOp::Not, &[at_most]);
    terms.choose(greater, new, old)
}

pub(super) fn minus_infinity(terms: &mut Terms) -> TermId {
    terms.literal(0xff80_0000)
}

fn probability(terms: &mut Terms, max: TermId, sum: TermId) -> TermId {
    let first = terms.input(X, 0);
    let power = terms.exp_of_difference(first, max);
    terms.div(power, sum)
}

/// `e^(x₀ − m)/Σ e^(xᵢ − m)`, in two passes.
pub(super) fn two_passes(terms: &mut Terms, n: u64) -> TermId {
    let row = terms.row(X, n);
    let max = terms.in_order(&row, TermOp::Max);
    let powers: Vec<TermId> = row.iter().map(|x| terms.exp_of_difference(*x, max)).collect();
    let sum = terms.in_order(&powers, TermOp::Add);
    probability(terms, max, sum)
}

pub(super) fn online(terms: &mut Terms, n: u64, larger: Larger, guarded: bool) -> State {
    let mut max = minus_infinity(terms);
    let none = max;
    let zero = terms.ratio(0, 1);
    let mut sum = zero;
    for x in terms.row(X, n) {
        let new = larger(terms, max, x);
        let rescale = terms.exp_of_difference(max, new);
        let power = terms.exp_of_difference(x, new);
        let power = if guarded {
            let is_none = terms.op(TermOp::Equal, &[new, none]);
            terms.choose(is_none, zero, power)
        } else {
            power
        };
        sum = terms.fma(sum, rescale, power);
        max = new;
    }
    State { max, sum, weighted: zero }
}

/// Online from −∞, with `max`.
pub(super) fn online_max(terms: &mut Terms, n: u64) -> TermId {
    let State { max, sum, .. } = online(terms, n, by_max, false);
    probability(terms, max, sum)
}

/// Online from −∞, with `if (x > m) m = x`.
pub(super) fn online_greater(terms: &mut Terms, n: u64) -> TermId {
    let State { max, sum, .. } = online(terms, n, by_greater, false);
    probability(terms, max, sum)
}

/// Online from −∞, with `m >= x ? m : x`.
pub(super) fn online_at_least(terms: &mut Terms, n: u64) -> TermId {
    let State { max, sum, .. } = online(terms, n, by_at_least, false);
    probability(terms, max, sum)
}

/// Online from −∞, with `!(x <= m) ? x : m`, and `m == −∞ ? 0 : …` around each power.
pub(super) fn online_guarded(terms: &mut Terms, n: u64) -> TermId {
    let State { max, sum, .. } = online(terms, n, by_negation, true);
    probability(terms, max, sum)
}

/// Online from −∞, the sum rescaled only when the maximum grows.
pub(super) fn online_branch(terms: &mut Terms, n: u64) -> TermId {
    let State { max, sum, .. } = branching(terms, n);
    probability(terms, max, sum)
}

pub(super) fn branching(terms: &mut Terms, n: u64) -> State {
    let (mut max, mut sum) = (minus_infinity(terms), terms.ratio(0, 1));
    let one = terms.ratio(1, 1);
    for x in terms.row(X, n) {
        let grows = terms.less(max, x);
        let rescale = terms.exp_of_difference(max, x);
        let rescaled = terms.fma(sum, rescale, one);
        let power = terms.exp_of_difference(x, max);
        let added = terms.add(sum, power);
        sum = terms.choose(grows, rescaled, added);
        max = terms.choose(grows, x, max);
    }
    State { max, sum, weighted: sum }
}

/// Near miss: the sum is not rescaled at one of the elements.
pub(super) fn online_forgets(terms: &mut Terms, n: u64) -> TermId {
    let State { max, sum, .. } = forgetting(terms, n);
    probability(terms, max, sum)
}

/// A running sum that is not rescaled at one of the elements.
pub(super) fn forgetting(terms: &mut Terms, n: u64) -> State {
    let (mut max, mut sum) = (minus_infinity(terms), terms.ratio(0, 1));
    for (at, x) in terms.row(X, n).into_iter().enumerate() {
        let new = by_greater(terms, max, x);
        let rescale = terms.exp_of_difference(max, new);
        let power = terms.exp_of_difference(x, new);
        sum = if at as u64 == n / 2 { terms.add(sum, power) } else { terms.fma(sum, rescale, power) };
        max = new;
    }
    State { max, sum, weighted: sum }
}

fn leaf(terms: &mut Terms, at: u64) -> State {
    let one = terms.ratio(1, 1);
    State { max: terms.input(X, at), sum: one, weighted: terms.input(Y, at) }
}

fn leaves(terms: &mut Terms, n: u64) -> Vec<State> {
    (0..n).map(|at| leaf(terms, at)).collect()
}

/// `m₁ > m₂ ? s₁ + s₂·e^(m₂ − m₁) : s₁·e^(m₁ − m₂) + s₂`
fn merge_by_choice(terms: &mut Terms, a: State, b: State) -> State {
    let first = terms.less(b.max, a.max);
    let lowered = terms.exp_of_difference(b.max, a.max);
    let raised = terms.exp_of_difference(a.max, b.max);
    let mut merged = |a: TermId, b: TermId| {
        let kept = terms.fma(b, lowered, a);
        let rescaled = terms.fma(a, raised, b);
        terms.choose(first, kept, rescaled)
    };
    let (sum, weighted) = (merged(a.sum, b.sum), merged(a.weighted, b.weighted));
    State { max: terms.choose(first, a.max, b.max), sum, weighted }
}

/// Merges two states: choices swap them so that the first has the larger maximum, then the second is rescaled.
fn merge_swapped(terms: &mut Terms, a: State, b: State) -> State {
    let first = terms.less(b.max, a.max);
    let [high, low] = [terms.choose(first, a.max, b.max), terms.choose(first, b.max, a.max)];
    let factor = terms.exp_of_difference(low, high);
    let mut merged = |a: TermId, b: TermId| {
        let (of_high, of_low) = (terms.choose(first, a, b), terms.choose(first, b, a));
        terms.fma(of_low, factor, of_high)
    };
    let (sum, weighted) = (merged(a.sum, b.sum), merged(a.weighted, b.weighted));
    State { max: high, sum, weighted }
}

fn merge_by_max(terms: &mut Terms, a: State, b: State) -> State {
    let max = terms.max(a.max, b.max);
    let [left, right] = [a.max, b.max].map(|old| terms.exp_of_difference(old, max));
    let mut merged = |a: TermId, b: TermId| {
        let scaled = terms.mul(b, right);
        terms.fma(a, left, scaled)
    };
    let (sum, weighted) = (merged(a.sum, b.sum), merged(a.weighted, b.weighted));
    State { max, sum, weighted }
}

fn output(terms: &mut Terms, state: State) -> TermId {
    terms.div(state.weighted, state.sum)
}

/// `Σ e^(xᵢ − m)·yᵢ/Σ e^(xᵢ − m)`, in two passes.
pub(super) fn weighted_two_passes(terms: &mut Terms, n: u64) -> TermId {
    let (row, values) = (terms.row(X, n), terms.row(Y, n));
    let max = terms.in_order(&row, TermOp::Max);
    let powers: Vec<TermId> = row.iter().map(|x| terms.exp_of_difference(*x, max)).collect();
    let sum = terms.in_order(&powers, TermOp::Add);
    let products: Vec<TermId> = powers.iter().zip(values).map(|(power, y)| terms.mul(*power, y)).collect();
    let weighted = terms.in_order(&products, TermOp::Add);
    terms.div(weighted, sum)
}

/// States merged by choices in a tree, neighbours first.
pub(super) fn tree_by_choice(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let state = terms.tree(all, merge_by_choice);
    output(terms, state)
}

/// States merged by choices in a tree, halves first.
pub(super) fn halves_by_choice(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let state = terms.halves(all, merge_by_choice);
    output(terms, state)
}

/// States merged by choices, from left to right.
pub(super) fn chain_by_choice(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let state = all[1..].iter().fold(all[0], |state, next| merge_by_choice(terms, state, *next));
    output(terms, state)
}

/// States merged after a swap by choices, in a tree, neighbours first.
pub(super) fn tree_swapped(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let state = terms.tree(all, merge_swapped);
    output(terms, state)
}

/// States merged after a swap by choices, from left to right.
pub(super) fn chain_swapped(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let state = all[1..].iter().fold(all[0], |state, next| merge_swapped(terms, state, *next));
    output(terms, state)
}

/// Near miss: the last merge does not swap one part.
pub(super) fn tree_swaps_in_part(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let (left, right) = all.split_at(all.len() / 2);
    let (a, b) = (terms.tree(left.to_vec(), merge_swapped), terms.tree(right.to_vec(), merge_swapped));
    let first = terms.less(b.max, a.max);
    let [high, low] = [terms.choose(first, a.max, b.max), terms.choose(first, b.max, a.max)];
    let factor = terms.exp_of_difference(low, high);
    let of_high = terms.choose(first, a.sum, b.sum);
    let sum = terms.fma(b.sum, factor, of_high);
    let merged = merge_swapped(terms, a, b);
    output(terms, State { sum, ..merged })
}

/// Eight parts, each merged from left to right, then merged by maxima.
pub(super) fn parts_mixed(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let parts: Vec<State> = all
        .chunks(all.len().div_ceil(8))
        .map(|part| part[1..].iter().fold(part[0], |state, next| merge_by_choice(terms, state, *next)))
        .collect();
    let state = terms.halves(parts, merge_by_max);
    output(terms, state)
}

/// States merged by maxima in a tree, neighbours first.
pub(super) fn tree_by_max(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let state = terms.tree(all, merge_by_max);
    output(terms, state)
}

/// Near miss: the last merge rescales the wrong part.
pub(super) fn tree_lowers_the_wrong(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let last = all.len() / 2;
    let (left, right) = all.split_at(last);
    let (a, b) = (terms.tree(left.to_vec(), merge_by_choice), terms.tree(right.to_vec(), merge_by_choice));
    let first = terms.less(b.max, a.max);
    let lowered = terms.exp_of_difference(b.max, a.max);
    let kept = terms.fma(b.sum, lowered, a.sum);
    let rescaled = terms.fma(b.sum, lowered, b.sum);
    let sum = terms.choose(first, kept, rescaled);
    let right = merge_by_choice(terms, a, b);
    output(terms, State { sum, ..right })
}

/// No element yet: −∞, and sums of nothing.
fn nothing(terms: &mut Terms) -> State {
    let zero = terms.ratio(0, 1);
    State { max: minus_infinity(terms), sum: zero, weighted: zero }
}

/// A way to merge two states.
type Merge = fn(&mut Terms, State, State) -> State;

/// The elements one after the other, from nothing.
fn chain_from_nothing(terms: &mut Terms, all: &[State], merge: Merge) -> State {
    let start = nothing(terms);
    all.iter().fold(start, |state, next| merge(terms, state, *next))
}

/// Eight parts, each from nothing, merged in a tree.
fn parts_from_nothing(terms: &mut Terms, n: u64, merge: Merge) -> TermId {
    let all = leaves(terms, n);
    let parts: Vec<State> =
        all.chunks(all.len().div_ceil(8)).map(|part| chain_from_nothing(terms, part, merge)).collect();
    let state = terms.tree(parts, merge);
    output(terms, state)
}

/// From −∞, states merged by choices from left to right.
pub(super) fn chain_by_choice_from_infinity(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let state = chain_from_nothing(terms, &all, merge_by_choice);
    output(terms, state)
}

/// From −∞, states merged after a swap by choices from left to right.
pub(super) fn chain_swapped_from_infinity(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let state = chain_from_nothing(terms, &all, merge_swapped);
    output(terms, state)
}

/// Parts from −∞, merged by choices.
pub(super) fn parts_by_choice_from_infinity(terms: &mut Terms, n: u64) -> TermId {
    parts_from_nothing(terms, n, merge_by_choice)
}

/// Parts from −∞, merged by maxima.
pub(super) fn parts_by_max_from_infinity(terms: &mut Terms, n: u64) -> TermId {
    parts_from_nothing(terms, n, merge_by_max)
}

/// Near miss: parts from −∞ of which the last begins with a sum of one.
pub(super) fn parts_from_one(terms: &mut Terms, n: u64) -> TermId {
    let all = leaves(terms, n);
    let chunks: Vec<&[State]> = all.chunks(all.len().div_ceil(8)).collect();
    let mut parts: Vec<State> =
        chunks.iter().map(|part| chain_from_nothing(terms, part, merge_by_choice)).collect();
    if let Some(last) = parts.last_mut() {
        let one = terms.ratio(1, 1);
        last.sum = terms.add(last.sum, one);
    }
    let state = terms.tree(parts, merge_by_choice);
    output(terms, state)
}
