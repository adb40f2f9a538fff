//! Polynomials of many elements at once, in which elements share what they have in common.
//!
//! The elements of a running sum are sums of one term, of two, of three: as lists they are a triangle. Here a polynomial
//! is a trie from monomials to coefficients, a monomial is a trie from atoms to exponents, and equal tries are one node.
//! Adding tries copies only the paths that change, so that all prefixes and windows of a row together take about as many
//! nodes as they have terms, times a logarithm, and two polynomials are equal if they are the same node.
//!
//! A factor that is a sum of first degree is an atom: products of such factors stay factored. That makes forms of equal
//! polynomials differ at times, and never those of different ones equal. Only operations that have a value for all
//! numbers are read, so that what is proved equal here is equal at all inputs.

use super::batch::All;
use super::sweep::cuts::Census;
use super::{ElementPair, Part, Proof};
use crate::algebra::Analysis;
use crate::base::budget::Limit;
use crate::number::{Extended, Rational};
use crate::term::{Store, TermId, TermKind, TermOp, View};
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
const MAX_PRODUCT: usize = 64;
/// Memory of a node of a trie, with its entry in the table, and the largest number of nodes.
const NODE_BYTES: u64 = 64;
const MAX_NODES: u64 = 1 << 24;

/// A trie, by the position of its root.
type Trie = u32;

/// The trie without entries: the polynomial zero, and the monomial one.
const EMPTY: Trie = 0;

/// A node of a trie. The entries of a branch agree in the bits of their keys above one bit, in which its two sides
/// differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct TrieNode {
    /// The key of a leaf; the common bits of a branch.
    key: u32,
    /// The bit in which the sides differ; zero for a leaf.
    bit: u32,
    /// The side without that bit; the number of a leaf.
    left: u32,
    /// The side with that bit.
    right: u32,
}

/// What is not taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum PolynomialAtom {
    Input(TermId),
    /// A sum that is a factor.
    Factor(Trie),
    Apply(TermOp, [Trie; 2]),
}

/// Polynomials, and the tables that make equal ones the same.
struct SharedForms {
    nodes: Vec<TrieNode>,
    known: FxHashMap<TrieNode, Trie>,
    numbers: Vec<Rational>,
    number_ids: FxHashMap<Rational, u32>,
    atoms: FxHashMap<PolynomialAtom, u32>,
    is_linear: FxHashMap<Trie, bool>,
    /// Steps and nodes that are left.
    steps: u64,
    most_nodes: u64,
}

/// The bits of a key above one bit.
fn above(key: u32, bit: u32) -> u32 {
    key & !(bit | (bit - 1))
}

impl SharedForms {
    fn new(steps: u64, most_nodes: u64) -> SharedForms {
        let none = TrieNode { key: 0, bit: 0, left: 0, right: 0 };
        SharedForms {
            nodes: vec![none],
            known: FxHashMap::default(),
            numbers: Vec::new(),
            number_ids: FxHashMap::default(),
            atoms: FxHashMap::default(),
            is_linear: FxHashMap::default(),
            steps,
            most_nodes: most_nodes.min(MAX_NODES),
        }
    }

    fn pay(&mut self) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        Some(())
    }

    fn number(&mut self, number: Rational) -> u32 {
        if let Some(known) = self.number_ids.get(&number) {
            return *known;
        }
        let id = self.numbers.len() as u32;
        self.numbers.push(number.clone());
        self.number_ids.insert(number, id);
        id
    }

    fn node(&mut self, node: TrieNode) -> Option<Trie> {
        if let Some(known) = self.known.get(&node) {
            return Some(*known);
        }
        if self.nodes.len() as u64 >= self.most_nodes {
            return None;
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(node);
        self.known.insert(node, id);
        Some(id)
    }

    /// The trie with one entry, or none if its number is zero.
    fn leaf(&mut self, key: u32, number: Rational) -> Option<Trie> {
        if number.is_zero() {
            return Some(EMPTY);
        }
        let number = self.number(number);
        self.node(TrieNode { key, bit: 0, left: number, right: 0 })
    }

    fn branch(&mut self, key: u32, bit: u32, left: Trie, right: Trie) -> Option<Trie> {
        match (left, right) {
            (EMPTY, only) | (only, EMPTY) => Some(only),
            (left, right) => self.node(TrieNode { key, bit, left, right }),
        }
    }

    /// The entries of both tries; numbers of one key are added.
    fn merged(&mut self, one: Trie, other: Trie) -> Option<Trie> {
        if one == EMPTY || other == EMPTY {
            return Some(one.max(other));
        }
        self.pay()?;
        let (a, b) = (self.nodes[one as usize], self.nodes[other as usize]);
        if a.bit < b.bit {
            return self.merged(other, one);
        }
        if a.bit == b.bit && a.key == b.key {
            if a.bit == 0 {
                let sum = &self.numbers[a.left as usize] + &self.numbers[b.left as usize];
                return self.leaf(a.key, sum);
            }
            let (left, right) = (self.merged(a.left, b.left)?, self.merged(a.right, b.right)?);
            return self.branch(a.key, a.bit, left, right);
        }
        if b.bit < a.bit && above(b.key, a.bit) == a.key {
            return if b.key & a.bit == 0 {
                let left = self.merged(a.left, other)?;
                self.branch(a.key, a.bit, left, a.right)
            } else {
                let right = self.merged(a.right, other)?;
                self.branch(a.key, a.bit, a.left, right)
            };
        }
        let bit = 1 << (31 - (a.key ^ b.key).leading_zeros());
        let (left, right) = if a.key & bit == 0 { (one, other) } else { (other, one) };
        self.branch(above(a.key, bit), bit, left, right)
    }

    /// A polynomial times a monomial and a number other than zero.
    fn times(&mut self, trie: Trie, monomial: Trie, number: &Rational) -> Option<Trie> {
        if trie == EMPTY || monomial == EMPTY && number.is_one() {
            return Some(trie);
        }
        self.pay()?;
        let TrieNode { key, bit, left, right } = self.nodes[trie as usize];
        if bit == 0 {
            let key = self.merged(key, monomial)?;
            let number = &self.numbers[left as usize] * number;
            return self.leaf(key, number);
        }
        let (left, right) = (self.times(left, monomial, number)?, self.times(right, monomial, number)?);
        // Another monomial has another place.
        if monomial == EMPTY { self.branch(key, bit, left, right) } else { self.merged(left, right) }
    }

    /// The monomial and the number of a polynomial with one term.
    fn one_term(&self, trie: Trie) -> Option<(Trie, Rational)> {
        let node = self.nodes[trie as usize];
        (trie != EMPTY && node.bit == 0).then(|| (node.key, self.numbers[node.left as usize].clone()))
    }

    fn atom(&mut self, atom: PolynomialAtom) -> Option<Trie> {
        let next = self.atoms.len() as u32;
        let key = *self.atoms.entry(atom).or_insert(next);
        let monomial = self.leaf(key, Rational::from(1))?;
        self.leaf(monomial, Rational::from(1))
    }

    /// Whether no monomial of a polynomial is a product.
    fn is_linear(&mut self, trie: Trie) -> Option<bool> {
        if let Some(known) = self.is_linear.get(&trie) {
            return Some(*known);
        }
        self.pay()?;
        let TrieNode { key, bit, left, right } = self.nodes[trie as usize];
        let is_linear = if bit == 0 {
            let monomial = self.nodes[key as usize];
            key == EMPTY || monomial.bit == 0 && self.numbers[monomial.left as usize].is_one()
        } else {
            self.is_linear(left)? && self.is_linear(right)?
        };
        self.is_linear.insert(trie, is_linear);
        Some(is_linear)
    }

    /// The number of terms, up to a limit.
    fn count(&self, trie: Trie, most: usize) -> usize {
        let (mut count, mut work) = (0, vec![trie]);
        while let Some(next) = work.pop() {
            let node = self.nodes[next as usize];
            if node.bit == 0 {
                count += usize::from(next != EMPTY);
            } else if count + work.len() < most {
                work.extend([node.left, node.right]);
            } else {
                return most + 1;
            }
        }
        count
    }

    /// The product of two polynomials.
    fn product(&mut self, one: Trie, other: Trie) -> Option<Trie> {
        if one == EMPTY || other == EMPTY {
            return Some(EMPTY);
        }
        let mut sides = [one, other];
        let is_number = |forms: &SharedForms, side: Trie| {
            forms.one_term(side).is_some_and(|(monomial, _)| monomial == EMPTY)
        };
        if !sides.iter().any(|side| is_number(self, *side)) {
            for side in &mut sides {
                if self.one_term(*side).is_none() && self.is_linear(*side)? {
                    *side = self.atom(PolynomialAtom::Factor(*side))?;
                }
            }
        }
        let counts = sides.map(|side| self.count(side, MAX_PRODUCT));
        if counts.iter().all(|count| *count > 1) && counts[0].saturating_mul(counts[1]) > MAX_PRODUCT {
            for side in &mut sides {
                *side = self.atom(PolynomialAtom::Factor(*side))?;
            }
        }
        sides.sort_unstable_by_key(|side| self.one_term(*side).is_none());
        self.multiplied_out(sides[0], sides[1])
    }

    /// The sum of one polynomial times each term of another.
    fn multiplied_out(&mut self, terms: Trie, other: Trie) -> Option<Trie> {
        if let Some((monomial, number)) = self.one_term(terms) {
            return self.times(other, monomial, &number);
        }
        let TrieNode { left, right, .. } = self.nodes[terms as usize];
        let (left, right) = (self.multiplied_out(left, other)?, self.multiplied_out(right, other)?);
        self.merged(left, right)
    }

    /// The polynomial of an input or a number.
    fn of_leaf(&mut self, store: &Store, analysis: &Analysis, term: TermId) -> Option<Trie> {
        match store.view(term) {
            View::Input { .. } => self.atom(PolynomialAtom::Input(term)),
            View::Constant(constant) => {
                let Extended::Finite(value) = &constant.exact else { return None };
                if analysis.is_read(term) { None } else { self.leaf(EMPTY, value.clone()) }
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
        known: impl Fn(TermId) -> Option<Trie>,
    ) -> Option<Trie> {
        self.pay()?;
        let View::Apply(op, operands) = store.view(term) else {
            return self.of_leaf(store, analysis, term);
        };
        if !is_read(op) {
            return None;
        }
        let mut forms = [EMPTY; 3];
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
            return self.merged(product, c);
        }
        if op == TermOp::Add {
            return self.merged(a, b);
        }
        let minus = Rational::from(-1);
        if op == TermOp::Sub {
            let b = self.times(b, EMPTY, &minus)?;
            return self.merged(a, b);
        }
        if op == TermOp::Neg {
            return self.times(a, EMPTY, &minus);
        }
        self.atom(PolynomialAtom::Apply(op, [a.min(b), a.max(b)]))
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

/// The number of nodes that memory has room for.
fn most_nodes(all: All<'_, '_>) -> u64 {
    let budgets = &all.options.budgets;
    budgets[Limit::MemoryBytes].saturating_sub(all.held().total()) / NODE_BYTES
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
        let mut forms = SharedForms::new(steps, most_nodes(all));
        let found =
            [0, 1].map(|side: usize| forms.of_roots(stores[side], &all.analysis[sides[side]], &roots[side]));
        let spent = steps - forms.steps;
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
    ) -> Option<Vec<Option<Trie>>> {
        let census = Census::new(store, roots)?;
        let mut known: Vec<Option<Trie>> = Vec::new();
        for term in census.terms() {
            let form = self.of_term(store, analysis, term, |operand| known[census.position(operand)?]);
            if self.steps == 0 || self.nodes.len() as u64 >= self.most_nodes {
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
    let mut forms = SharedForms::new(steps, bytes / NODE_BYTES);
    let found = [0, 1].map(|side: usize| {
        let (store, root) = sides[side];
        let mut known: FxHashMap<TermId, Trie> = FxHashMap::default();
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
    (found[0].is_some() && found[0] == found[1], steps - forms.steps)
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

    #[test]
    fn equal_tries_are_one_node_and_others_are_not() {
        let mut forms = SharedForms::new(1 << 20, 1 << 20);
        let atoms: Vec<Trie> =
            (0..6).map(|at| forms.atom(PolynomialAtom::Input(x(at))).expect("an atom")).collect();
        // Polynomials by lists of coefficients, made in another order each time.
        let mut random = 12345_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % below
        };
        let mut known: FxHashMap<Vec<i64>, Trie> = FxHashMap::default();
        for _ in 0..4000 {
            let (mut wanted, mut sum) = (vec![0_i64; atoms.len()], EMPTY);
            for _ in 0..next(9) {
                let (at, number) = (next(6) as usize, next(5) as i64 - 2);
                if number == 0 {
                    continue;
                }
                wanted[at] += number;
                let term = forms.times(atoms[at], EMPTY, &Rational::from(number)).expect("steps");
                sum = forms.merged(sum, term).expect("steps");
            }
            let first = *known.entry(wanted).or_insert(sum);
            assert_eq!(first, sum);
        }
        let mut all: Vec<Trie> = known.values().copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), known.len());
    }
}
