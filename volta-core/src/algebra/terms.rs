//! The terms of several stores, and facts about them that do not depend on assumptions or forms.

use super::analysis::Analysis;
use super::extended_value::Class;
use super::id::TermRef;
use super::interner::bytes_of;
use crate::number::signs::Signs;
use crate::term::{Kind, Range, Ranges, Store, TermId, TermOp, View};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A strict order of two terms: the first is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) low: TermRef,
    pub(super) high: TermRef,
}

/// Choices within a choice are followed to this depth for the arms of the outer one.
const MAX_WAYS: u32 = 2;

/// The stores that a prover reads.
pub(super) struct Terms<'s> {
    stores: Vec<(&'s Store, &'s Analysis)>,
    /// The signs that elements of each input can have.
    pub(super) inputs: Vec<Signs>,
    /// For each store, the ranges of terms of integers.
    ranges: Vec<Ranges>,
    pub(super) signs: FxHashMap<TermRef, Signs>,
    pub(super) classes: FxHashMap<TermRef, Class>,
    /// For each store that was searched, the terms that are the larger of two others.
    larger: FxHashMap<u32, FxHashMap<[TermId; 2], TermId>>,
}

impl<'s> Terms<'s> {
    pub(super) fn new(inputs: Vec<Signs>) -> Terms<'s> {
        Terms {
            stores: Vec::new(),
            inputs,
            ranges: Vec::new(),
            signs: FxHashMap::default(),
            classes: FxHashMap::default(),
            larger: FxHashMap::default(),
        }
    }

    /// Bytes of the known facts.
    pub(super) fn bytes(&self) -> u64 {
        let larger: u64 = self.larger.values().map(bytes_of).sum();
        let ranges: u64 = self.ranges.iter().map(Ranges::bytes).sum();
        bytes_of(&self.signs) + bytes_of(&self.classes) + larger + ranges
    }

    /// The index of a store.
    pub(super) fn add_store(&mut self, store: &'s Store, analysis: &'s Analysis) -> u32 {
        let known = self.stores.iter().position(|(known, _)| std::ptr::eq(*known, store));
        known.unwrap_or_else(|| {
            self.stores.push((store, analysis));
            self.ranges.push(Ranges::default());
            self.stores.len() - 1
        }) as u32
    }

    pub(super) fn store(&self, at: TermRef) -> &'s Store {
        self.stores[at.store as usize].0
    }

    pub(super) fn view(&self, at: TermRef) -> View<'s> {
        self.stores[at.store as usize].0.view(at.term)
    }

    pub(super) fn analysis(&self, store: u32) -> &'s Analysis {
        self.stores[store as usize].1
    }

    pub(super) fn flags(&self, at: TermRef) -> u8 {
        self.analysis(at.store).flags(at.term)
    }

    /// The range of a term.
    pub(super) fn range(&mut self, at: TermRef) -> Range {
        let place = at.store as usize;
        self.ranges[place].of(self.stores[place].0, at.term)
    }

    pub(super) fn is_function(&self, at: TermRef) -> bool {
        match self.view(at) {
            View::Input { .. } | View::Constant(_) => false,
            View::Apply(op, _) => match op.kind() {
                Kind::Sum(_) | Kind::Product(_) | Kind::Exponential => false,
                Kind::Function(_) | Kind::Piecewise(_) | Kind::Condition(_) | Kind::Ieee => true,
            },
        }
    }

    /// The maximum or minimum that a term computes, and its two arms: an operation, or a choice by their order.
    pub(super) fn extremum(&self, at: TermRef) -> Option<(TermOp, [TermRef; 2])> {
        if let View::Apply(op @ (TermOp::Max | TermOp::Min), [a, b, _]) = self.view(at) {
            return Some((op, [a, b].map(|term| TermRef { store: at.store, term })));
        }
        let ([low, high], arms) = self.choice_by_order(at)?;
        if arms == [high, low] {
            Some((TermOp::Max, arms))
        } else if arms == [low, high] {
            Some((TermOp::Min, arms))
        } else {
            None
        }
    }

    /// The two operands of a choice by order, and its arms: where the first is smaller and where the second is;
    /// where they are equal, either.
    pub(super) fn choice_by_order(&self, at: TermRef) -> Option<([TermRef; 2], [TermRef; 2])> {
        let View::Apply(TermOp::Select, [mut condition, a, b]) = self.view(at) else { return None };
        let mut arms = [a, b];
        loop {
            match self.view(TermRef { store: at.store, term: condition }) {
                View::Apply(TermOp::Not, [inner, ..]) => {
                    condition = inner;
                    arms.reverse();
                }
                View::Apply(TermOp::Less | TermOp::LessEqual, [low, high, _]) => {
                    let located = |terms: [TermId; 2]| terms.map(|term| TermRef { store: at.store, term });
                    return Some((located([low, high]), located(arms)));
                }
                View::Apply(..) | View::Input { .. } | View::Constant(_) => return None,
            }
        }
    }

    /// The conditions of the choices that lead from one of two arms to the other one: `c ? a : (d ? a : b)`,
    /// `c ? a : (d ? b : (e ? a : b))`. None where neither contains the other, as far as [`MAX_WAYS`] tells.
    pub(super) fn conditions_to_same_arm(&self, [a, b]: [TermRef; 2]) -> SmallVec<[TermRef; 2]> {
        let mut conditions = SmallVec::new();
        if !self.lead_to(a, b, MAX_WAYS, &mut conditions) {
            self.lead_to(b, a, MAX_WAYS, &mut conditions);
        }
        conditions
    }

    fn lead_to(&self, at: TermRef, arm: TermRef, most: u32, conditions: &mut SmallVec<[TermRef; 2]>) -> bool {
        let View::Apply(TermOp::Select, operands) = self.view(at) else { return false };
        let [condition, then, otherwise] = operands.map(|term| TermRef { store: at.store, term });
        let before = conditions.len();
        conditions.push(condition);
        let found = [then, otherwise].contains(&arm)
            || most > 1
                && [then, otherwise].into_iter().any(|inner| self.lead_to(inner, arm, most - 1, conditions));
        if !found {
            conditions.truncate(before);
        }
        found
    }

    /// The strict order on which a choice depends, and its arms: where the order holds and where it does not.
    pub(super) fn chosen(&self, at: TermRef) -> Option<(Order, [TermRef; 2])> {
        let View::Apply(TermOp::Select, [mut condition, a, b]) = self.view(at) else { return None };
        let located = |term: TermId| TermRef { store: at.store, term };
        let mut arms = [a, b].map(located);
        loop {
            match self.view(located(condition)) {
                View::Apply(TermOp::Not, [inner, ..]) => {
                    condition = inner;
                    arms.reverse();
                }
                View::Apply(TermOp::Less, [low, high, _]) => {
                    return Some((Order { low: located(low), high: located(high) }, arms));
                }
                // `a ≤ b` is `¬(b < a)`.
                View::Apply(TermOp::LessEqual, [low, high, _]) => {
                    arms.reverse();
                    return Some((Order { low: located(high), high: located(low) }, arms));
                }
                View::Apply(..) | View::Input { .. } | View::Constant(_) => return None,
            }
        }
    }

    /// The arm of a term where an order holds, or where it does not; `None` if the term does not depend on the order.
    pub(super) fn in_order(&self, at: TermRef, order: Order, holds: bool) -> Option<TermRef> {
        if let View::Apply(op @ (TermOp::Max | TermOp::Min), [a, b, _]) = self.view(at) {
            let [a, b] = [a, b].map(|term| TermRef { store: at.store, term });
            let of_both = [a, b] == [order.low, order.high] || [b, a] == [order.low, order.high];
            let high = (op == TermOp::Max) == holds;
            return of_both.then_some(if high { order.high } else { order.low });
        }
        let (own, [when_less, when_not]) = self.chosen(at)?;
        (own == order).then_some(if holds { when_less } else { when_not })
    }

    /// A term that computes the larger of two.
    pub(super) fn larger_of(&mut self, a: TermRef, b: TermRef) -> Option<TermRef> {
        if !self.larger.contains_key(&a.store) {
            let analysis = self.analysis(a.store);
            let mut found = FxHashMap::default();
            for term in analysis.terms_of(self.stores[a.store as usize].0, &[TermOp::Max, TermOp::Select]) {
                if let Some((TermOp::Max, [a, b])) = self.extremum(TermRef { store: a.store, term }) {
                    found.entry(sorted(a.term, b.term)).or_insert(term);
                }
            }
            self.larger.insert(a.store, found);
        }
        let term = *self.larger[&a.store].get(&sorted(a.term, b.term))?;
        Some(TermRef { store: a.store, term })
    }

    /// The term from which a sign is read, and whether it is flipped: both kernels read the same sign from an input,
    /// even of a zero, and negation flips the sign of a zero as well. Other operations are not looked through.
    pub(super) fn sign_read(&self, mut sign: TermRef) -> (TermRef, bool) {
        let mut flipped = false;
        loop {
            match self.view(sign) {
                View::Input { .. } => return (TermRef { store: 0, term: sign.term }, flipped),
                View::Apply(TermOp::Neg, [operand, ..]) => {
                    sign.term = operand;
                    flipped = !flipped;
                }
                View::Apply(..) | View::Constant(_) => return (sign, flipped),
            }
        }
    }
}

fn sorted(a: TermId, b: TermId) -> [TermId; 2] {
    [a.min(b), a.max(b)]
}
