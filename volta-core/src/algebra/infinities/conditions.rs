//! Conditions of a store, known by their conjuncts, so that what excludes or implies what is seen.

use crate::base::index::InstId;
use crate::number::{Extended, Rational};
use crate::term::{Constant, Store, TermId, TermOp, View};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Of so many conditions a conjunction knows its members, and of so many it is simplified.
const MAX_MEMBERS: usize = 512;

/// When a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Never,
    Always,
    Where(TermId),
}

/// Conditions of a store, each of which is known by its conjuncts.
#[derive(Debug)]
pub(super) struct Conditions {
    pub(super) store: Store,
    /// The conjunctions of some conditions.
    conjunctions: FxHashMap<Rc<[TermId]>, TermId>,
    /// The conditions of which one is the conjunction.
    members: FxHashMap<TermId, Rc<[TermId]>>,
    negations: FxHashMap<TermId, TermId>,
}

impl Conditions {
    pub(super) fn new(store: Store) -> Conditions {
        Conditions {
            store,
            conjunctions: FxHashMap::default(),
            members: FxHashMap::default(),
            negations: FxHashMap::default(),
        }
    }

    pub(super) fn apply(&mut self, op: TermOp, operands: &[TermId], site: InstId) -> TermId {
        let raw: Vec<u64> = operands.iter().map(|term| term.raw()).collect();
        TermId::from_raw(self.store.push_uniform(op, &raw, site))
    }

    pub(super) fn number(&mut self, value: i64) -> TermId {
        let exact = Extended::Finite(Rational::from_integer(value));
        self.store.intern(Constant { exact, literal: None, rounded: None })
    }

    pub(super) fn not(&mut self, holds: Holds) -> Holds {
        match holds {
            Holds::Never => Holds::Always,
            Holds::Always => Holds::Never,
            Holds::Where(term) => Holds::Where(match self.store.view(term) {
                View::Apply(TermOp::Not, [inner, ..]) => inner,
                View::Apply(..) | View::Constant(_) | View::Input { .. } => {
                    let negation = self.apply(TermOp::Not, &[term], InstId::FIRST);
                    self.negations.insert(term, negation);
                    negation
                }
            }),
        }
    }

    /// The negation of a condition, if it is there.
    pub(super) fn known_negation(&self, term: TermId) -> Option<TermId> {
        match self.store.view(term) {
            View::Apply(TermOp::Not, [inner, ..]) => Some(inner),
            View::Apply(..) | View::Constant(_) | View::Input { .. } => self.negations.get(&term).copied(),
        }
    }

    pub(super) fn members_of(&self, term: TermId) -> Vec<TermId> {
        self.members.get(&term).map_or_else(|| vec![term], |members| members.to_vec())
    }

    pub(super) fn and(&mut self, a: Holds, b: Holds) -> Holds {
        match (a, b) {
            (Holds::Never, _) | (_, Holds::Never) => Holds::Never,
            (Holds::Always, other) | (other, Holds::Always) => other,
            (Holds::Where(a), Holds::Where(b)) => {
                let all = [a, b].into_iter().flat_map(|term| self.members_of(term)).collect();
                self.all(all)
            }
        }
    }

    pub(super) fn or(&mut self, a: Holds, b: Holds) -> Holds {
        let [a, b] = [a, b].map(|holds| self.not(holds));
        let neither = self.and(a, b);
        self.not(neither)
    }

    /// The conjunction of some conditions, none of which is one.
    pub(super) fn all(&mut self, mut members: Vec<TermId>) -> Holds {
        loop {
            members.sort_unstable();
            members.dedup();
            let own: FxHashSet<TermId> = members.iter().copied().collect();
            let fails = |conditions: &Conditions, term: TermId| {
                conditions.known_negation(term).is_some_and(|negation| own.contains(&negation))
            };
            if members.iter().any(|term| fails(self, *term)) {
                return Holds::Never;
            }
            if members.len() > MAX_MEMBERS {
                break;
            }
            // Of `¬(a ∧ b)`, beside `a`, `¬b` is left, and beside `¬a` nothing.
            let joined = members.iter().find_map(|term| {
                let View::Apply(TermOp::Not, [inner, ..]) = self.store.view(*term) else { return None };
                let inner = self.members.get(&inner)?;
                if inner.iter().any(|part| fails(self, *part)) {
                    return Some((*term, None));
                }
                let left: Vec<TermId> = inner.iter().copied().filter(|part| !own.contains(part)).collect();
                (left.len() < inner.len()).then_some((*term, Some(left)))
            });
            let Some((term, left)) = joined else { break };
            members.retain(|member| *member != term);
            if let Some(left) = left {
                let inner = self.all(left);
                match self.not(inner) {
                    Holds::Never => return Holds::Never,
                    Holds::Always => {}
                    Holds::Where(rest) => members.extend(self.members_of(rest)),
                }
            }
        }
        let Some((first, others)) = members.split_first() else { return Holds::Always };
        if let Some(known) = self.conjunctions.get(&members[..]) {
            return Holds::Where(*known);
        }
        let all =
            others.iter().fold(*first, |all, term| self.apply(TermOp::And, &[all, *term], InstId::FIRST));
        if (2..=MAX_MEMBERS).contains(&members.len()) {
            let members: Rc<[TermId]> = members.into();
            self.conjunctions.insert(members.clone(), all);
            self.members.insert(all, members);
        }
        Holds::Where(all)
    }

    /// One of two terms.
    pub(super) fn chosen(
        &mut self,
        condition: Holds,
        [then, otherwise]: [TermId; 2],
        site: InstId,
    ) -> TermId {
        match condition {
            Holds::Always => then,
            Holds::Never => otherwise,
            Holds::Where(term) => match self.store.view(term) {
                View::Apply(TermOp::Not, [inner, ..]) => {
                    self.apply(TermOp::Select, &[inner, otherwise, then], site)
                }
                View::Apply(..) | View::Constant(_) | View::Input { .. } => {
                    self.apply(TermOp::Select, &[term, then, otherwise], site)
                }
            },
        }
    }

    /// One of two terms, of which one may be no number anywhere.
    pub(super) fn chosen_number(
        &mut self,
        condition: Holds,
        [then, otherwise]: [Option<TermId>; 2],
        site: InstId,
    ) -> Option<TermId> {
        match (then, otherwise) {
            (Some(then), Some(otherwise)) => Some(self.chosen(condition, [then, otherwise], site)),
            (one, other) => one.or(other),
        }
    }

    /// A term of numbers where some conditions, of which each is the conjunction of its members, do not hold.
    pub(super) fn where_none(&mut self, root: TermId, never: &BTreeSet<TermId>) -> TermId {
        let excluded: Vec<Vec<TermId>> = never.iter().map(|term| self.members_of(*term)).collect();
        let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut truths: FxHashMap<TermId, Holds> = FxHashMap::default();
        let mut work = vec![root];
        while let Some(&term) = work.last() {
            let View::Apply(op, operands) = self.store.view(term) else {
                done.insert(term, term);
                work.pop();
                continue;
            };
            if done.contains_key(&term) || truths.contains_key(&term) {
                work.pop();
                continue;
            }
            let below = match self.members.get(&term) {
                Some(members) => members.to_vec(),
                None => operands[..op.arity()].to_vec(),
            };
            let before = work.len();
            work.extend(below.iter().filter(|term| !done.contains_key(term) && !truths.contains_key(term)));
            if work.len() > before {
                continue;
            }
            work.pop();
            if self.members.contains_key(&term) || matches!(op, TermOp::Not) {
                let has_all = |excluded: &Vec<TermId>| excluded.iter().all(|part| below.contains(part));
                let is_excluded = op != TermOp::Not && excluded.iter().any(has_all);
                let holds = match (is_excluded || never.contains(&term), op) {
                    (true, _) => Holds::Never,
                    (false, TermOp::Not) => {
                        self.not(truths.get(&below[0]).copied().unwrap_or(Holds::Where(below[0])))
                    }
                    (false, _) => below.iter().fold(Holds::Always, |all, part| {
                        let part = truths.get(part).copied().unwrap_or(Holds::Where(*part));
                        self.and(all, part)
                    }),
                };
                truths.insert(term, holds);
                continue;
            }
            if op.is_condition() && never.contains(&term) {
                truths.insert(term, Holds::Never);
                continue;
            }
            let site = self.store.site(term).unwrap_or(InstId::FIRST);
            let made = if op == TermOp::Select {
                let condition = truths.get(&below[0]).copied().unwrap_or(Holds::Where(below[0]));
                let arm = |at: usize| done.get(&below[at]).copied().unwrap_or(below[at]);
                self.chosen(condition, [arm(1), arm(2)], site)
            } else {
                let own: Vec<TermId> =
                    below.iter().map(|term| done.get(term).copied().unwrap_or(*term)).collect();
                if own == below { term } else { self.apply(op, &own, site) }
            };
            if op.is_condition() {
                truths.insert(term, Holds::Where(made));
            } else {
                done.insert(term, made);
            }
        }
        done.get(&root).copied().unwrap_or(root)
    }

    /// A comparison of two numbers.
    pub(super) fn compared(&mut self, op: TermOp, [a, b]: [TermId; 2]) -> Holds {
        if let (View::Constant(x), View::Constant(y)) = (self.store.view(a), self.store.view(b))
            && let (Some(x), Some(y)) = (x.exact.finite(), y.exact.finite())
        {
            let holds = op == TermOp::Less && x < y
                || op == TermOp::LessEqual && x <= y
                || op == TermOp::Equal && x == y;
            return if holds { Holds::Always } else { Holds::Never };
        }
        Holds::Where(self.apply(op, &[a, b], InstId::FIRST))
    }
}
