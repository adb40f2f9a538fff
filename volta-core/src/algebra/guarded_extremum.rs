//! Extrema that go on under a condition, `c ? max(b, v) : b = max(b, c ? v : u)` for any `u` that is nowhere larger than
//! `b`: an arm of `b` itself that depends on no condition, or a number. So a maximum over the neighbours that a condition
//! selects is one maximum, in whatever order it goes on, and so is one by atomic operations, whose operand elsewhere is a
//! number below all others.

use super::Stop;
use super::analysis::INFINITE;
use super::atom::Atom;
use super::condition::Condition;
use super::id::TermRef;
use super::polynomial::{Term, add, negated, number};
use super::prover::Prover;
use super::terms::Terms;
use crate::number::signs::Signs;
use crate::term::{TermOp, View};
use smallvec::SmallVec;

/// Choices and extrema nested deeper than this are choices.
const MAX_DEPTH: usize = 8;

/// What an extremum goes on with: a term, and the conditions under which it does, outermost first.
struct Next {
    conditions: SmallVec<[(TermRef, bool); 4]>,
    value: TermRef,
}

/// How a term is an extremum of another one and more.
struct Continued {
    base: TermRef,
    op: Option<TermOp>,
    next: Vec<Next>,
}

impl Terms<'_> {
    /// Whether a term is a number where a condition holds, or where it does not.
    pub(super) fn is_number_in_part(&self, at: TermRef) -> bool {
        let View::Apply(TermOp::Select, [_, then, otherwise]) = self.view(at) else { return false };
        let is_number = |term| matches!(self.view(TermRef { store: at.store, term }), View::Constant(_));
        is_number(then) || is_number(otherwise)
    }

    /// How a choice between two terms, by a condition, is an extremum that goes on under conditions.
    fn continued(&self, condition: TermRef, arms: [TermRef; 2]) -> Option<Continued> {
        let inner = arms.into_iter().filter_map(|arm| self.extremum(arm)).flat_map(|(_, operands)| operands);
        let bases: SmallVec<[TermRef; 6]> = arms.into_iter().rev().chain(inner).collect();
        bases.into_iter().find_map(|base| {
            let mut found = Continued { base, op: None, next: Vec::new() };
            let continues = self.both_continue((condition, arms), &mut Vec::new(), &mut found);
            (continues && !found.next.is_empty()).then_some(found)
        })
    }

    fn continues(&self, at: TermRef, under: &mut Vec<(TermRef, bool)>, found: &mut Continued) -> bool {
        if at == found.base {
            return true;
        }
        if under.len() + found.next.len() >= MAX_DEPTH {
            return false;
        }
        if let Some((op, operands)) = self.extremum(at) {
            if found.op.is_some_and(|other| other != op) {
                return false;
            }
            let before = found.next.len();
            return [0, 1].into_iter().any(|which| {
                found.next.truncate(before);
                if !self.continues(operands[which], under, found) {
                    return false;
                }
                found.op = Some(op);
                let conditions = under.iter().copied().collect();
                found.next.push(Next { conditions, value: operands[1 - which] });
                true
            });
        }
        let View::Apply(TermOp::Select, operands) = self.view(at) else { return false };
        let [condition, then, otherwise] = operands.map(|term| TermRef { store: at.store, term });
        self.both_continue((condition, [then, otherwise]), under, found)
    }

    fn both_continue(
        &self,
        (condition, arms): (TermRef, [TermRef; 2]),
        under: &mut Vec<(TermRef, bool)>,
        found: &mut Continued,
    ) -> bool {
        arms.into_iter().zip([true, false]).all(|(arm, holds)| {
            under.push((condition, holds));
            let continues = self.continues(arm, under, found);
            under.pop();
            continues
        })
    }
}

impl Prover<'_> {
    /// The form of a choice that is an extremum which goes on under conditions; `None` if it is none.
    pub(super) fn guarded_extremum(
        &mut self,
        condition: TermRef,
        arms: [TermRef; 2],
    ) -> Result<Option<Vec<Term>>, Stop> {
        if arms.into_iter().any(|arm| self.terms.flags(arm) & INFINITE != 0) {
            return Ok(None);
        }
        let Some(Continued { base, op: Some(op), next }) = self.terms.continued(condition, arms) else {
            return Ok(None);
        };
        let base = self.argument_for(base, op)?;
        let Some(below) = self.nowhere_above(std::slice::from_ref(&base))? else { return Ok(None) };
        let mut all = vec![base];
        for Next { conditions, value } in next {
            let is_total = self.always_has_value(value)?;
            let mut arm = self.argument_for(value, op)?;
            for (condition, holds) in conditions.into_iter().rev() {
                arm = self.arm_where((condition, holds), arm, &below, is_total)?;
            }
            all.push(arm);
        }
        let maximum = self.maximum(all)?;
        Ok(Some(if op == TermOp::Min { negated(&maximum) } else { maximum }))
    }

    /// The form of a leaf of an extremum that is a number beyond all others where a condition does not hold, with another
    /// one that is beyond them in its place; `None` if it is no such leaf.
    pub(super) fn leaf_beyond(
        &mut self,
        leaf: TermRef,
        op: TermOp,
        below: &[Term],
    ) -> Result<Option<Vec<Term>>, Stop> {
        let is_total = self.always_has_value(leaf)?;
        self.leaf_under(leaf, (op, is_total), below, MAX_DEPTH)
    }

    fn leaf_under(
        &mut self,
        leaf: TermRef,
        (op, is_total): (TermOp, bool),
        below: &[Term],
        depth: usize,
    ) -> Result<Option<Vec<Term>>, Stop> {
        let View::Apply(TermOp::Select, operands) = self.terms.view(leaf) else { return Ok(None) };
        let [condition, then, otherwise] = operands.map(|term| TermRef { store: leaf.store, term });
        for (value, beyond, holds) in [(then, otherwise, true), (otherwise, then, false)] {
            if !matches!(self.terms.view(beyond), View::Constant(constant) if constant.exact.finite().is_some())
            {
                continue;
            }
            let number = self.argument_for(beyond, op)?;
            if !self.signs_of(&add(below, &negated(&number))).within(Signs::NOT_NEGATIVE) {
                continue;
            }
            let inner = match depth.checked_sub(1) {
                Some(depth) => self.leaf_under(value, (op, is_total), below, depth)?,
                None => None,
            };
            let arm = match inner {
                Some(arm) => arm,
                None => self.argument_for(value, op)?,
            };
            return self.arm_where((condition, holds), arm, below, is_total).map(Some);
        }
        Ok(None)
    }

    /// A term as an arm of a maximum: negated for a minimum.
    fn argument_for(&mut self, at: TermRef, op: TermOp) -> Result<Vec<Term>, Stop> {
        let terms = self.argument(at)?;
        Ok(if op == TermOp::Min { negated(&terms) } else { terms })
    }

    /// An arm where a condition holds, or where it does not; elsewhere another one.
    fn arm_where(
        &mut self,
        (condition, holds): (TermRef, bool),
        arm: Vec<Term>,
        elsewhere: &[Term],
        is_total: bool,
    ) -> Result<Vec<Term>, Stop> {
        let condition = self.condition(condition, 0)?;
        if let Condition::Known(known) = self.table.conditions.get(&condition) {
            return Ok(if *known == holds { arm } else { elsewhere.to_vec() });
        }
        if arm == elsewhere {
            return Ok(arm);
        }
        let arms = if holds { [arm, elsewhere.to_vec()] } else { [elsewhere.to_vec(), arm] };
        let [when_true, when_false] = arms;
        self.choice_between(condition, when_true, when_false, is_total)
    }

    /// A sum that is nowhere larger than the maximum of some: the first of its arms without a choice in it, or a number.
    pub(super) fn nowhere_above(&mut self, sums: &[Vec<Term>]) -> Result<Option<Vec<Term>>, Stop> {
        let mut arms = Vec::new();
        for sum in sums {
            match self.split_maximum(sum, 0)? {
                Some(inner) => arms.extend(inner),
                None => arms.push(sum.clone()),
            }
        }
        let plain = arms.iter().filter(|arm| !self.table.has_choices(arm));
        let plain: Vec<Vec<Term>> = plain.cloned().collect();
        let first = plain.into_iter().min_by_key(|arm| {
            let id = self.table.polynomial(arm);
            self.table.polynomials.place(id)
        });
        let lowest = || {
            let bounds = sums.iter().filter_map(|sum| self.table.bounds_of(sum));
            bounds.map(|(low, _)| low).max().map(number)
        };
        Ok(first.or_else(lowest))
    }
}

impl super::table::Table {
    /// Whether a sum contains a choice as a factor.
    fn has_choices(&self, terms: &[Term]) -> bool {
        let is_choice = |atom: &super::id::AtomId| matches!(self.atom(*atom), Atom::Select(..));
        terms
            .iter()
            .any(|term| self.monomials.factors(term.monomial()).iter().any(|(atom, _)| is_choice(atom)))
    }
}
