//! Choices by where a loop ends: `n < 1 ? s₀ : (n = 1 ? s₁ : (n = 2 ? s₂ : …))`, as a loop up to an integer leaves them.
//!
//! Each condition takes the least or the greatest of the values that are left, so the choices are a step function of the
//! integer: `s₀ + [n ≥ 1]·(s₁ − s₀) + [n ≥ 2]·(s₂ − s₁) + …`. Where each value is one step beyond the one before, as a sum
//! that a loop adds up, this has a term for each step, as a sum over masks has; a part for each value of the integer would
//! have one for each pair of them.

use super::Stop;
use super::condition::{Condition, ConditionId};
use super::id::TermRef;
use super::polynomial::{PolynomialId, Term, add, collect, negated, number};
use super::prover::Prover;
use super::worklist::if_known;
use crate::number::Rational;
use crate::term::{TermOp, View};

/// Fewer values are choices.
const MIN_VALUES: usize = 16;
/// So many of them need not be a step beyond the one before.
const MOST_OTHERS: usize = 4;
/// One iteration of a loop adds at most so many terms.
const MOST_TERMS: usize = 8;

/// For which values of an integer a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    At(i128),
    From(i128),
}

/// What is added in a step.
enum Added {
    Term(TermRef),
    Product(TermRef, TermRef),
}

/// A step from one value to the next: what is added, and whether it is subtracted.
type Step = Vec<(Added, bool)>;

/// A choice by whether a condition on an integer holds.
struct Choice {
    of: PolynomialId,
    holds: Holds,
    when: TermRef,
    unless: TermRef,
}

impl Prover<'_> {
    /// The form of choices by where a loop ends: `None` if they are others. All arms always have a value.
    pub(super) fn choices_by_exits(
        &mut self,
        condition: &ConditionId,
        arms: [TermRef; 2],
    ) -> Result<Option<Vec<Term>>, Stop> {
        let Some(first) = self.choice_by_integer(condition, arms) else { return Ok(None) };
        let (of, mut inner) = (first.of, Vec::new());
        if arms.iter().any(|arm| self.forms.not_by_exits.contains(arm)) {
            return Ok(None);
        }
        let Some(pieces) = self.pieces(first, &mut inner)?.filter(|pieces| pieces.len() >= MIN_VALUES) else {
            return Ok(None);
        };
        let steps: Vec<Option<Step>> =
            pieces.windows(2).map(|pair| self.step_between(pair[0].1, pair[1].1)).collect();
        if steps.iter().filter(|step| step.is_none()).count() > MOST_OTHERS {
            self.forms.not_by_exits.extend(inner);
            return Ok(None);
        }
        let mark = self.work.mark();
        let mut form = if_known(self.argument(pieces[0].1))?.unwrap_or_default();
        let of = self.table.polynomials.shared_terms(of);
        for (pair, step) in pieces.windows(2).zip(&steps) {
            let [(_, before), (from, value)] = [pair[0], pair[1]];
            let Some(gap) = if_known(self.increase(before, value, step.as_ref()))? else { continue };
            // Bounds of integers would be wider.
            if !gap.is_empty() && self.table.is_whole(&gap) && self.table.bounds_of(&gap).is_some() {
                return Ok(None);
            }
            let reached = self.is_positive(add(&of, &number(Rational::from_i128(1 - from))))?;
            let indicator = self.indicator(&reached, 0)?;
            form.extend(self.multiply(&indicator, &gap)?);
        }
        self.work.since(mark)?;
        collect(&mut form);
        Ok(Some(form))
    }

    /// The values of choices, each with the least value of the integer at which it is taken, in order. `None` if they take
    /// values of the integer out of the middle. Adds the arms that are choices again, and the last one.
    fn pieces(
        &mut self,
        first: Choice,
        arms: &mut Vec<TermRef>,
    ) -> Result<Option<Vec<(i128, TermRef)>>, Stop> {
        let of = first.of;
        let Some((mut low, mut high)) = self.range_of(of) else { return Ok(None) };
        let (mut below, mut above) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        let mut last = None;
        while let Some(Choice { holds, when, unless, .. }) = next.take() {
            self.charge(1)?;
            let (inner, known) = match holds {
                Holds::At(at) if at == low => {
                    below.push((low, when));
                    low += 1;
                    (unless, None)
                }
                Holds::At(at) if at == high => {
                    above.push((high, when));
                    high -= 1;
                    (unless, None)
                }
                Holds::At(at) if (low..=high).contains(&at) => return Ok(None),
                Holds::At(_) => (unless, None),
                Holds::From(from) if from <= low => (when, None),
                Holds::From(from) if from > high => (unless, None),
                Holds::From(from) => match (self.choice_by_same(of, when)?, self.choice_by_same(of, unless)?)
                {
                    (Some(_), Some(_)) => return Ok(None),
                    (None, Some(inner)) => {
                        above.push((from, when));
                        high = from - 1;
                        (unless, Some(inner))
                    }
                    (inner, None) => {
                        below.push((low, unless));
                        low = from;
                        (when, inner)
                    }
                },
            };
            arms.push(inner);
            last = Some(inner);
            if low < high {
                next = if known.is_some() { known } else { self.choice_by_same(of, inner)? };
            }
        }
        below.extend(last.map(|value| (low, value)));
        below.extend(above.into_iter().rev());
        Ok(Some(below))
    }

    /// A term as a choice by a condition on an integer, if its form is not known yet.
    fn choice_by_same(&mut self, of: PolynomialId, at: TermRef) -> Result<Option<Choice>, Stop> {
        if self.forms.resolved.contains_key(&at) {
            return Ok(None);
        }
        let View::Apply(TermOp::Select, operands) = self.terms.view(at) else { return Ok(None) };
        let [decides, then, otherwise] = operands.map(|term| TermRef { store: at.store, term });
        let condition = self.condition(decides, 0)?;
        Ok(self.choice_by_integer(&condition, [then, otherwise]).filter(|choice| choice.of == of))
    }

    fn choice_by_integer(
        &mut self,
        condition: &ConditionId,
        [then, otherwise]: [TermRef; 2],
    ) -> Option<Choice> {
        let (inner, is_negated) = match self.table.conditions.get(condition) {
            Condition::Not(inner) => (inner.clone(), true),
            Condition::Known(_)
            | Condition::Positive(_)
            | Condition::Zero(_)
            | Condition::And(..)
            | Condition::Xor(..) => (condition.clone(), false),
        };
        let (sum, is_zero) = match self.table.conditions.get(&inner) {
            Condition::Zero(sum) => (*sum, true),
            Condition::Positive(sum) => (*sum, false),
            Condition::Known(_) | Condition::Not(_) | Condition::And(..) | Condition::Xor(..) => return None,
        };
        let (of, at) = self.integer_compared(sum)?;
        let holds = if is_zero { Holds::At(at) } else { Holds::From(at + 1) };
        let [when, unless] = if is_negated { [otherwise, then] } else { [then, otherwise] };
        Some(Choice { of, holds, when, unless })
    }

    /// What a sum adds to another one, if it goes on from that.
    fn step_between(&self, before: TermRef, after: TermRef) -> Option<Step> {
        let (mut step, mut at) = (Step::new(), after);
        while at != before {
            if step.len() == MOST_TERMS {
                return None;
            }
            let View::Apply(op, operands) = self.terms.view(at) else { return None };
            let [a, b, c] = operands.map(|term| TermRef { store: at.store, term });
            let goes_on = |of: TermRef| of == before || matches!(self.terms.view(of), View::Apply(..));
            let (added, is_negated, rest) = if op == TermOp::Fma {
                (Added::Product(a, b), false, c)
            } else if op == TermOp::Sub {
                (Added::Term(b), true, a)
            } else if op != TermOp::Add {
                return None;
            } else if b == before || a != before && !goes_on(a) {
                (Added::Term(a), false, b)
            } else {
                (Added::Term(b), false, a)
            };
            step.push((added, is_negated));
            at = rest;
        }
        Some(step)
    }

    /// The difference of two values in a row.
    fn increase(&mut self, before: TermRef, after: TermRef, step: Option<&Step>) -> Result<Vec<Term>, Stop> {
        let Some(step) = step else {
            let (before, after) = (self.argument(before)?, self.argument(after)?);
            return Ok(add(&after, &negated(&before)));
        };
        let mut gap = Vec::new();
        for (added, is_negated) in step {
            let terms = match added {
                Added::Term(at) => self.argument(*at)?,
                Added::Product(a, b) => {
                    let (a, b) = (self.argument(*a)?, self.argument(*b)?);
                    if a.len() * b.len() > self.tactic.short_product {
                        return self.increase(before, after, None);
                    }
                    self.multiply(&a, &b)?
                }
            };
            gap.extend(if *is_negated { negated(&terms) } else { terms });
        }
        collect(&mut gap);
        Ok(gap)
    }
}
