//! Polynomials of many elements at once, in which elements share what they have in common.
//!
//! The elements of a running sum are sums of one term, of two, of three: as lists they are a triangle. Here a
//! [polynomial] is a trie, as a [monomial] is, and equal tries are one node. Adding tries copies only the paths that
//! change, so that all prefixes and windows of a row together take about as many nodes as they have terms, times a
//! logarithm, and two polynomials are equal if they are the same node.
//!
//! A factor that is a sum of first degree is an atom: products of such factors stay factored. That makes forms of equal
//! polynomials differ at times, and never those of different ones equal. Only operations that have a value for all
//! numbers are read, so that what is proved equal here is equal at all inputs.

mod monomial;
mod polynomial;

use super::batch::All;
use super::sweep::cuts::Census;
use super::{ElementPair, Part, Proof};
use crate::algebra::Analysis;
use crate::base::budget::Limit;
use crate::number::{Extended, Rational};
use crate::term::{Store, TermId, TermKind, TermOp, View};
use polynomial::{NODE_BYTES, Polynomial, Polynomials};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Fewer elements of two stores share little.
const MIN_ELEMENTS: usize = 32;
/// Elements are read together if they have so many times the terms of their stores when they are counted one by one.
const MIN_SHARED: u64 = 8;
/// The largest number of pairs of stores whose elements are read.
const MAX_GROUPS: usize = 64;
/// Steps for each term of the elements, counted one by one; and share (one in this many) of all steps.
const STEPS_A_TERM: u64 = 16;
const SHARE: u64 = 8;
/// Steps for each term of a single element.
const STEPS_A_TERM_OF_ONE: u64 = 256;
/// The largest number of terms of a side of a single element.
const MAX_TERMS: usize = 1 << 20;
/// Products of sums with no more terms than this are multiplied out; other sums become atoms.
const MAX_PRODUCT: u32 = 64;
/// The largest number of nodes.
const MAX_NODES: u64 = 1 << 24;

/// An input that more operands read than this is a late factor: it is not what tells terms apart.
const MANY_READS: u32 = 32;
/// The first number of such an input.
const LATE: u32 = 1 << 30;

/// What is not taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum PolynomialAtom {
    Input(TermId),
    /// A sum that is a factor.
    Factor(Polynomial),
    Apply(TermOp, [Polynomial; 2]),
}

/// Polynomials of terms.
struct SharedForms {
    polynomials: Polynomials,
    atoms: FxHashMap<PolynomialAtom, u32>,
    /// How many operands read each input.
    reads: FxHashMap<TermId, u32>,
}

impl SharedForms {
    fn new(steps: u64, most_bytes: u64) -> SharedForms {
        let most_nodes = (most_bytes / NODE_BYTES).min(MAX_NODES);
        SharedForms {
            polynomials: Polynomials::new(steps, most_nodes),
            atoms: FxHashMap::default(),
            reads: FxHashMap::default(),
        }
    }

    /// Counts that an operation reads its inputs.
    fn count_reads(&mut self, store: &Store, term: TermId) {
        let View::Apply(op, operands) = store.view(term) else { return };
        for operand in &operands[..op.arity()] {
            if let TermKind::Input { .. } = operand.kind() {
                *self.reads.entry(*operand).or_default() += 1;
            }
        }
    }

    fn atom(&mut self, atom: PolynomialAtom) -> Polynomial {
        let is_late = match atom {
            PolynomialAtom::Input(term) => self.reads.get(&term).is_some_and(|reads| *reads > MANY_READS),
            PolynomialAtom::Factor(_) | PolynomialAtom::Apply(..) => false,
        };
        let next = self.atoms.len() as u32 + if is_late { LATE } else { 0 };
        let number = *self.atoms.entry(atom).or_insert(next);
        self.polynomials.atom(number)
    }

    /// A polynomial whose sum is an atom.
    fn with_factor(&mut self, of: Polynomial) -> Option<Polynomial> {
        let factor = self.atom(PolynomialAtom::Factor(of.without_factors()));
        self.polynomials.product(of.without_sum(), factor)
    }

    /// The product of two polynomials.
    fn product(&mut self, one: Polynomial, other: Polynomial) -> Option<Polynomial> {
        let mut sides = [one, other];
        if !sides.iter().any(|side| side.is_number()) {
            for side in &mut sides {
                if !side.is_one_term() && self.polynomials.is_linear(*side) {
                    *side = self.with_factor(*side)?;
                }
            }
        }
        let counts = sides.map(|side| self.polynomials.count(side));
        if counts.iter().all(|count| *count > 1) && counts[0].saturating_mul(counts[1]) > MAX_PRODUCT {
            for side in &mut sides {
                *side = self.with_factor(*side)?;
            }
        }
        sides.sort_unstable_by_key(|side| self.polynomials.count(*side));
        self.polynomials.product(sides[0], sides[1])
    }

    /// The polynomial of an input or a number.
    fn of_leaf(&mut self, store: &Store, analysis: &Analysis, term: TermId) -> Option<Polynomial> {
        match store.view(term) {
            View::Input { .. } => Some(self.atom(PolynomialAtom::Input(term))),
            View::Constant(constant) => {
                let Extended::Finite(value) = &constant.exact else { return None };
                if analysis.is_read(term) { None } else { Some(self.polynomials.constant(value.clone())) }
            }
            View::Apply(..) => None,
        }
    }

    /// The polynomial of a term, given those of its operands. `None` for what is not read, and at the end of a budget.
    fn of_term(
        &mut self,
        store: &Store,
        analysis: &Analysis,
        term: TermId,
        known: impl Fn(TermId) -> Option<Polynomial>,
    ) -> Option<Polynomial> {
        self.polynomials.pay()?;
        let View::Apply(op, operands) = store.view(term) else {
            return self.of_leaf(store, analysis, term);
        };
        if !is_read(op) {
            return None;
        }
        let mut forms = [Polynomial::ZERO; 3];
        for (form, operand) in forms.iter_mut().zip(&operands[..op.arity()]) {
            *form = match operand.kind() {
                TermKind::Lane(..) => known(*operand)?,
                TermKind::Constant(_) | TermKind::Input { .. } => self.of_leaf(store, analysis, *operand)?,
            };
        }
        let [a, b, c] = forms;
        if op == TermOp::Mul {
            return self.product(a, b);
        }
        if op == TermOp::Fma {
            let product = self.product(a, b)?;
            return self.polynomials.sum(product, c);
        }
        if op == TermOp::Add {
            return self.polynomials.sum(a, b);
        }
        let minus = Rational::from(-1);
        if op == TermOp::Sub {
            let b = self.polynomials.times_number(b, minus)?;
            return self.polynomials.sum(a, b);
        }
        if op == TermOp::Neg {
            return self.polynomials.times_number(a, minus);
        }
        Some(self.atom(PolynomialAtom::Apply(op, [a.min(b), a.max(b)])))
    }
}

/// Whether an operation is read: it has a value for all numbers, which depends on nothing but these numbers, and not on
/// their order.
fn is_read(op: TermOp) -> bool {
    use TermOp::{Add, Fma, Max, Min, Mul, Neg, Sub};
    matches!(op, Add | Sub | Fma | Mul | Neg | Max | Min)
}

/// The number of terms of the roots counted one by one, and of all that is stored; `None` if a node is not read.
fn terms_of(store: &Store, roots: &[TermId]) -> Option<[u64; 2]> {
    let mut sizes = vec![0_u64; store.len()];
    let size = |sizes: &[u64], term: TermId| match term.kind() {
        TermKind::Lane(node, _) => sizes[node.index()],
        TermKind::Constant(_) | TermKind::Input { .. } => 1,
    };
    let mut all = 0;
    for at in 0..store.len() {
        let node = store.node(at);
        if !is_read(node.op) {
            return None;
        }
        let operands = node.operands[..node.op.arity()].iter();
        let below = operands.map(|operand| size(&sizes, operand.term(node.mask.first(), node.mask)));
        sizes[at] = below.fold(1, u64::saturating_add);
        all += u64::from(node.mask.count());
    }
    let apart = roots.iter().map(|root| size(&sizes, *root)).fold(0, u64::saturating_add);
    Some([apart, all])
}

/// The memory that is left.
fn most_bytes(all: All<'_, '_>) -> u64 {
    all.options.budgets[Limit::MemoryBytes].saturating_sub(all.held().total())
}

/// Proves those of some elements that share most of what they are computed from, by polynomials. `None` if there are
/// none.
pub(super) fn proved(all: All<'_, '_>, positions: &[usize]) -> Option<Part> {
    let mut groups: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    if positions.len() < MIN_ELEMENTS {
        return None;
    }
    for at in positions {
        groups.entry(all.sides[*at]).or_default().push(*at);
    }
    let (mut part, mut taken) = (Part::default(), 0);
    let mut left = all.options.all_steps() / SHARE;
    let large = groups.into_iter().filter(|(_, members)| members.len() >= MIN_ELEMENTS);
    for (sides, members) in large.take(MAX_GROUPS) {
        let stores = [all.elements[members[0]].reference.0, all.elements[members[0]].opt.0];
        let roots: [Vec<TermId>; 2] = [
            members.iter().map(|at| all.elements[*at].reference.1).collect(),
            members.iter().map(|at| all.elements[*at].opt.1).collect(),
        ];
        if all.options.budgets.deadline.check().is_err() {
            break;
        }
        let counts = [0, 1].map(|side: usize| terms_of(stores[side], &roots[side]));
        let [Some([apart, own]), Some([other_apart, other_own])] = counts else { continue };
        let apart = apart.saturating_add(other_apart);
        if apart < MIN_SHARED * (own + other_own) {
            continue;
        }
        let steps = left.min(apart.saturating_mul(STEPS_A_TERM));
        let mut forms = SharedForms::new(steps, most_bytes(all));
        let found =
            [0, 1].map(|side: usize| forms.of_roots(stores[side], &all.analysis[sides[side]], &roots[side]));
        let spent = steps - forms.polynomials.left();
        (taken, left) = (taken + spent, left - spent);
        let [Some(reference), Some(opt)] = found else { continue };
        for (at, member) in members.iter().enumerate() {
            if reference[at].is_some() && reference[at] == opt[at] {
                part.proofs.push((*member, Proof::default()));
            }
        }
    }
    part.proofs.sort_unstable_by_key(|(at, _)| *at);
    part.taken.push((part.proofs.first()?.0, taken));
    Some(part)
}

impl SharedForms {
    /// The polynomials of some terms, each of which is finite; `None` for each that is not read, and for all if there
    /// are too many.
    fn of_roots(
        &mut self,
        store: &Store,
        analysis: &Analysis,
        roots: &[TermId],
    ) -> Option<Vec<Option<Polynomial>>> {
        let census = Census::new(store, roots)?;
        let mut known: Vec<Option<Polynomial>> = Vec::new();
        census.terms().for_each(|term| self.count_reads(store, term));
        for term in census.terms() {
            let form = self.of_term(store, analysis, term, |operand| known[census.position(operand)?]);
            if self.polynomials.is_full() {
                return None;
            }
            known.push(form);
        }
        let form = |root: &TermId| {
            if analysis.may_be_infinite(*root) {
                return None;
            }
            known[census.position(*root)?]
        };
        Some(roots.iter().map(form).collect())
    }
}

/// Whether both sides of an element are the same polynomial, and the steps that it took to find out.
pub(super) fn is_equal(
    element: &ElementPair<'_>,
    analysis: [&Analysis; 2],
    most: u64,
    bytes: u64,
) -> (bool, u64) {
    let sides = [element.reference, element.opt];
    let mut terms: [Vec<TermId>; 2] = Default::default();
    for ((store, root), terms) in sides.iter().zip(&mut terms) {
        let mut reads = true;
        let complete = super::evaluate::walk(store, &[*root], MAX_TERMS, |term| {
            reads &= store.op(term).is_none_or(is_read);
            terms.push(term);
        });
        if !complete || !reads {
            return (false, 0);
        }
        // Operands of a node precede it.
        terms.sort_unstable_by_key(|term| match term.kind() {
            TermKind::Lane(node, lane) => Some((node.index(), lane.index())),
            TermKind::Constant(_) | TermKind::Input { .. } => None,
        });
    }
    let count = (terms[0].len() + terms[1].len()) as u64;
    let steps = most.min(count * STEPS_A_TERM_OF_ONE);
    let mut forms = SharedForms::new(steps, bytes);
    for ((store, _), terms) in sides.iter().zip(&terms) {
        terms.iter().for_each(|term| forms.count_reads(store, *term));
    }
    let found = [0, 1].map(|side: usize| {
        let (store, root) = sides[side];
        let mut known: FxHashMap<TermId, Polynomial> = FxHashMap::default();
        if analysis[side].may_be_infinite(root) {
            return None;
        }
        for term in &terms[side] {
            if let TermKind::Lane(..) = term.kind() {
                let form =
                    forms.of_term(store, analysis[side], *term, |operand| known.get(&operand).copied());
                known.insert(*term, form?);
            }
        }
        known.get(&root).copied()
    });
    (found[0].is_some() && found[0] == found[1], steps - forms.polynomials.left())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::InstId;
    use crate::decide::{DecisionOptions, Failure, InputInfo, decide};
    use crate::term::{Constant, InputId};

    fn x(element: u64) -> TermId {
        TermId::input(InputId(0), element)
    }

    fn op(store: &mut Store, op: TermOp, operands: &[TermId]) -> TermId {
        store.apply(op, operands, InstId(0))
    }

    fn one(store: &mut Store) -> TermId {
        store.intern(Constant { exact: Extended::Finite(Rational::ONE), literal: None, rounded: None })
    }

    /// A step of a recurrence, from the value so far and the number of the step.
    type StepOf<'a> = dyn Fn(&mut Store, TermId, u64) -> TermId + 'a;

    fn sequential(store: &mut Store, length: u64, step: &StepOf<'_>) -> Vec<TermId> {
        let mut all = vec![x(0)];
        for at in 1..length {
            let next = step(store, all[all.len() - 1], at);
            all.push(next);
        }
        all
    }

    /// `h·(1 − x) + x`, of which the factor is a sum, or `h·x + x`.
    fn gated(store: &mut Store, before: TermId, at: u64, inverted: bool) -> TermId {
        let factor = factor_of(store, at, inverted);
        op(store, TermOp::Fma, &[factor, before, x(at)])
    }

    fn factor_of(store: &mut Store, at: u64, inverted: bool) -> TermId {
        let one = one(store);
        if inverted { op(store, TermOp::Sub, &[one, x(at)]) } else { x(at) }
    }

    /// The same by doubling windows: each element has the product of the factors and the value of its window.
    fn doubled(store: &mut Store, length: u64, inverted: bool) -> Vec<TermId> {
        let mut factors: Vec<TermId> = (0..length).map(|at| factor_of(store, at, inverted)).collect();
        let mut values: Vec<TermId> = (0..length).map(x).collect();
        let mut width = 1;
        while width < length as usize {
            for at in (width..length as usize).rev() {
                let [product, value] = [factors[at], values[at]];
                values[at] = op(store, TermOp::Fma, &[product, values[at - width], value]);
                factors[at] = op(store, TermOp::Mul, &[product, factors[at - width]]);
            }
            width *= 2;
        }
        values
    }

    fn running(store: &mut Store, before: TermId, at: u64) -> TermId {
        op(store, TermOp::Add, &[before, x(at)])
    }

    /// Running sums as Hillis and Steele compute them, in place or wrongly so.
    fn windows(store: &mut Store, length: usize, wrong: Option<usize>) -> Vec<TermId> {
        let mut sums: Vec<TermId> = (0..length as u64).map(x).collect();
        let mut width = 1;
        while width < length {
            for at in (width..length).rev() {
                let other = if wrong == Some(at) && width == 2 { at - 1 } else { at - width };
                sums[at] = op(store, TermOp::Add, &[sums[at], sums[other]]);
            }
            width *= 2;
        }
        sums
    }

    type Elements<'a> = dyn Fn(&mut Store) -> Vec<TermId> + 'a;

    /// How many elements are equal, the first failure, and the steps.
    fn decided(length: u64, sides: [&Elements<'_>; 2]) -> (usize, Option<(usize, Failure)>, u64) {
        let mut stores = [Store::new(), Store::new()];
        let terms: [Vec<TermId>; 2] = [0, 1].map(|side: usize| sides[side](&mut stores[side]));
        stores.iter_mut().for_each(Store::close);
        let elements: Vec<_> = terms[0]
            .iter()
            .zip(&terms[1])
            .map(|(a, b)| ElementPair { reference: (&stores[0], *a), opt: (&stores[1], *b) })
            .collect();
        let inputs = [InputInfo { name: "x".into(), shape: vec![length], ..InputInfo::default() }];
        let found = decide(&elements, &inputs, &DecisionOptions::default());
        (found.equal, found.first_failure, found.steps)
    }

    #[test]
    fn running_sums_take_far_fewer_steps_than_their_lists_have_terms() {
        let steps = |length: u64| {
            let (equal, failure, steps) = decided(
                length,
                [&|store| sequential(store, length, &running), &|store| {
                    windows(store, length as usize, None)
                }],
            );
            assert_eq!((equal as u64, failure), (length, None));
            steps
        };
        let (short, long) = (steps(512), steps(2048));
        assert!(long < 12 * short, "{short} steps for 512 elements, {long} for 2048");
        assert!(long < 2048 * 2048 / 4, "{long} steps");
    }

    #[test]
    fn a_window_that_is_wrong_is_found() {
        let wrong = |store: &mut Store| windows(store, 256, Some(77));
        let (_, failure, _) = decided(256, [&|store| sequential(store, 256, &running), &wrong]);
        assert!(matches!(failure, Some((77.., Failure::Different(_)))), "{failure:?}");
    }

    #[test]
    fn a_step_of_a_recurrence_takes_a_logarithm() {
        for inverted in [false, true] {
            let step = |store: &mut Store, before, at| gated(store, before, at, inverted);
            let steps = |length: u64| {
                let (equal, failure, steps) = decided(
                    length,
                    [&|store| sequential(store, length, &step), &|store| doubled(store, length, inverted)],
                );
                assert_eq!((equal as u64, failure), (length, None));
                steps
            };
            let (short, long) = (steps(256), steps(1024));
            assert!(long < 8 * short, "{short} steps for 256 elements, {long} for 1024");
        }
    }

    #[test]
    fn recurrences_keep_their_factors() {
        for inverted in [false, true] {
            let step = |store: &mut Store, before, at| gated(store, before, at, inverted);
            let (equal, failure, steps) = decided(
                128,
                [&|store| sequential(store, 128, &step), &|store| doubled(store, 128, inverted)],
            );
            assert_eq!((equal, failure), (128, None));
            assert!(steps < 1 << 20, "{steps} steps");
            let last = |of: Vec<TermId>| of[of.len() - 1..].to_vec();
            let (equal, failure, _) = decided(
                128,
                [&|store| last(sequential(store, 128, &step)), &|store| last(doubled(store, 128, inverted))],
            );
            assert_eq!((equal, failure), (1, None));
        }
    }
}
