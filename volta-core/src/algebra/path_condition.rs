//! The conditions under which an operation of a term matters: an arm of a choice matters only where it is chosen (V6).

use super::Stop;
use super::analysis::PARTIAL;
use super::condition::{Condition, ConditionId};
use super::id::TermRef;
use super::polynomial::{PolynomialId, Term, add, negated, times_number};
use super::prover::Prover;
use super::requirement::{Guards, Requirement};
use super::table::Table;
use crate::number::signs::Signs;
use crate::number::value::Demand;
use crate::term::{TermOp, View};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Choices nested deeper than this add no guards.
const MAX_GUARDS: usize = 8;

/// An operation of a term, with the guards under which it matters.
pub(super) struct Reached {
    pub(super) at: TermRef,
    pub(super) op: TermOp,
    pub(super) operands: [TermRef; 3],
    pub(super) guards: Guards,
}

impl Prover<'_> {
    /// The partial operations (V8) of a term: each once if it matters unconditionally, otherwise once for each of
    /// its guards; unconditional ones first.
    pub(super) fn partial_operations(&mut self, root: TermRef) -> Result<Vec<Reached>, Stop> {
        let mut found = Vec::new();
        let mut everywhere: FxHashSet<TermRef> = FxHashSet::default();
        let mut guarded: FxHashSet<(TermRef, Guards)> = FxHashSet::default();
        let mut waiting = VecDeque::from([(root, Guards::default())]);
        while let Some((start, guards)) = waiting.pop_front() {
            let mut stack = vec![start];
            let mut choices = Vec::new();
            while let Some(at) = stack.pop() {
                if self.terms.flags(at) & PARTIAL == 0 || everywhere.contains(&at) {
                    continue;
                }
                let new = if guards.is_empty() {
                    everywhere.insert(at)
                } else {
                    guarded.insert((at, guards.clone()))
                };
                if !new {
                    continue;
                }
                self.charge(1)?;
                let View::Apply(op, operands) = self.terms.view(at) else { continue };
                let operands = operands.map(|term| TermRef { store: at.store, term });
                if op == TermOp::Select {
                    stack.push(operands[0]);
                    choices.push(operands);
                    continue;
                }
                stack.extend(operands[..op.arity()].iter().rev());
                found.push(Reached { at, op, operands, guards: guards.clone() });
            }
            for operands in choices {
                for (arm, guards) in self.arms(operands, &guards)? {
                    // Unconditional arms are walked first, so that they are not walked again under guards.
                    if guards.is_empty() {
                        waiting.push_front((arm, guards));
                    } else {
                        waiting.push_back((arm, guards));
                    }
                }
            }
        }
        Ok(found)
    }

    /// The arms of a choice that may be taken, each with its guards. Arms without partial operations are left out.
    fn arms(&mut self, choice: [TermRef; 3], guards: &Guards) -> Result<Vec<(TermRef, Guards)>, Stop> {
        let [condition, when_true, when_false] = choice;
        let mut arms: Vec<(TermRef, bool)> = vec![(when_true, true), (when_false, false)];
        arms.retain(|(arm, _)| self.terms.flags(*arm) & PARTIAL != 0);
        if arms.is_empty() {
            return Ok(Vec::new());
        }
        let holds = match self.settle(|prover| prover.condition(condition, 0)) {
            Ok(holds) if guards.conditions.len() < MAX_GUARDS => holds,
            Err(Stop::Exhausted(exhausted)) => return Err(Stop::Exhausted(exhausted)),
            // The condition has no canonical form, or there are too many guards.
            Ok(_) | Err(_) => return Ok(arms.into_iter().map(|(arm, _)| (arm, guards.inexact())).collect()),
        };
        let fails = self.table.not(holds.clone());
        let mut taken = Vec::new();
        for (arm, truth) in arms {
            let [own, other] = if truth { [&holds, &fails] } else { [&fails, &holds] };
            match self.table.conditions.get(own) {
                Condition::Known(true) => taken.push((arm, guards.clone())),
                Condition::Known(false) => {}
                _ if guards.conditions.contains(other) => {}
                Condition::Positive(_)
                | Condition::Zero(_)
                | Condition::Not(_)
                | Condition::And(..)
                | Condition::Xor(..) => taken.push((arm, self.table.with_guard(guards, own))),
            }
        }
        Ok(taken)
    }

    /// Whether a requirement on an operand follows from its guards.
    pub(super) fn met_by_guards(
        &mut self,
        requirement: &Requirement,
        operand: TermRef,
        guards: &Guards,
    ) -> Result<bool, Stop> {
        if guards.conditions.is_empty() {
            return Ok(false);
        }
        let operand = self.settle(|prover| prover.argument(operand))?;
        let mut analysis = Vec::new();
        for guard in guards.conditions.iter() {
            let Some((polynomial, signs)) = self.table.signs_under(guard) else { continue };
            let known = self.table.polynomials.shared_terms(polynomial).to_vec();
            if self.table.signs_beside(&operand, &known, signs).within(requirement.demand.signs()) {
                return Ok(true);
            }
            analysis.extend(self.signs_as_requirement(known, signs)?);
        }
        Ok(self.table.implied(requirement, &analysis))
    }

    /// Known signs of a sum as a requirement that holds, if there is one that says it.
    fn signs_as_requirement(&mut self, sum: Vec<Term>, signs: Signs) -> Result<Option<Requirement>, Stop> {
        let (demand, sum) = if signs == Signs::POSITIVE {
            (Demand::Positive, sum)
        } else if signs == Signs::NEGATIVE | Signs::POSITIVE {
            (Demand::Nonzero, sum)
        } else if signs == Signs::NEGATIVE | Signs::ZERO {
            (Demand::NotNegative, negated(&sum))
        } else {
            return Ok(None);
        };
        let scale = self.settle(|prover| prover.factor_terms(sum.clone()))?;
        Ok(Some(self.requirement(demand, &scale)))
    }
}

impl Table {
    /// Guards with one more; a conjunction is split into its parts.
    fn with_guard(&self, guards: &Guards, more: &ConditionId) -> Guards {
        let mut conditions = guards.conditions.to_vec();
        let mut parts = vec![more];
        while let Some(part) = parts.pop() {
            if let Condition::And(a, b) = self.conditions.get(part) {
                parts.extend([a, b])
            } else {
                conditions.push(part.clone())
            }
        }
        conditions.sort();
        conditions.dedup();
        Guards { conditions: conditions.into(), exact: guards.exact }
    }

    /// The signs of a polynomial that a condition implies.
    pub(super) fn signs_under(&self, guard: &ConditionId) -> Option<(PolynomialId, Signs)> {
        match self.conditions.get(guard) {
            Condition::Positive(inner) => Some((*inner, Signs::POSITIVE)),
            Condition::Zero(inner) => Some((*inner, Signs::ZERO)),
            Condition::Not(other) => match self.conditions.get(other) {
                Condition::Positive(inner) => Some((*inner, Signs::NEGATIVE | Signs::ZERO)),
                Condition::Zero(inner) => Some((*inner, Signs::NEGATIVE | Signs::POSITIVE)),
                Condition::Known(_) | Condition::Not(_) | Condition::And(..) | Condition::Xor(..) => None,
            },
            Condition::Known(_) | Condition::And(..) | Condition::Xor(..) => None,
        }
    }

    /// The signs of a sum, given those of another: it is a multiple of `known` plus a rest.
    fn signs_beside(&self, sum: &[Term], known: &[Term], signs: Signs) -> Signs {
        let mut found = Signs::ANY;
        for part in known {
            let Some(own) = sum.iter().find(|term| term.key == part.key) else { continue };
            let Some(factor) = own.coefficient.checked_div(&part.coefficient) else { continue };
            let rest = add(sum, &negated(&times_number(known, &factor)));
            found = found & signs.times(Signs::of(&factor)).plus(self.signs_of(&rest));
        }
        found
    }
}
