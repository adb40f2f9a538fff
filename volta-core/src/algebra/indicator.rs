//! Indicators: 1 where a condition holds, else 0. What is chosen, counted and compared under conditions is a sum of them,
//! and the largest of several, or a choice between them, is the indicator of one condition.

use super::Stop;
use super::atom::Atom;
use super::condition::{Condition, ConditionId};
use super::polynomial::{PolynomialId, Term, add, as_number, content, negated, number, times_number};
use super::prover::Prover;
use crate::number::Rational;

/// Conditions that are joined deeper than this have indicators of their own.
const MAX_JOINED: u32 = 8;

impl Prover<'_> {
    /// A choice between indicators of which one is a number, as one indicator: `c ? 1 : [d]` is `[c ∨ d]`.
    pub(super) fn joined_indicators(
        &mut self,
        condition: &ConditionId,
        arms: [&[Term]; 2],
    ) -> Result<Option<Vec<Term>>, Stop> {
        if !self.tactic.indicators {
            return Ok(None);
        }
        let [Some(then), Some(otherwise)] = arms.map(|arm| self.indicated(arm)) else { return Ok(None) };
        let known = |prover: &Self, of: &ConditionId| match prover.table.conditions.get(of) {
            Condition::Known(holds) => Some(*holds),
            Condition::Positive(_)
            | Condition::Zero(_)
            | Condition::Not(_)
            | Condition::And(..)
            | Condition::Xor(..) => None,
        };
        let not = self.table.not(condition.clone());
        let joined = match (known(self, &then), known(self, &otherwise)) {
            (Some(true), _) => self.table.or(condition.clone(), otherwise),
            (Some(false), _) => self.table.and(not, otherwise),
            (None, Some(true)) => self.table.or(not, then),
            (None, Some(false)) => self.table.and(condition.clone(), then),
            (None, None) => return Ok(None),
        };
        self.indicator(&joined, 0).map(Some)
    }

    /// The condition of which a sum is known to be the indicator.
    fn indicated(&mut self, terms: &[Term]) -> Option<ConditionId> {
        let id = self.table.polynomial(terms);
        if let Some(known) = self.forms.indicated.get(&id) {
            return Some(known.clone());
        }
        if let Some(number) = as_number(terms) {
            return (number.is_zero() || number.is_one()).then(|| self.table.known(number.is_one()));
        }
        let is_digit = self.table.is_whole(terms)
            && self.table.bounds_of(terms).is_some_and(|(low, high)| low.is_zero() && high.is_one());
        is_digit.then(|| self.table.positive(terms.to_vec()))
    }

    /// The largest of some indicators, or of some numbers that are 0 or −1, as one indicator; `None` if they are others.
    pub(super) fn largest_indicator(&mut self, arms: &[Vec<Term>]) -> Result<Option<Vec<Term>>, Stop> {
        if arms.len() < 2 || !self.tactic.indicators || !self.table.has_integers() {
            return Ok(None);
        }
        let one = number(Rational::ONE);
        for lift in [Vec::new(), one.clone()] {
            let conditions: Option<Vec<ConditionId>> =
                arms.iter().map(|arm| self.indicated(&add(arm, &lift))).collect();
            let any = conditions.and_then(|all| all.into_iter().reduce(|any, one| self.table.or(any, one)));
            if let Some(any) = any {
                return Ok(Some(add(&self.indicator(&any, 0)?, &negated(&lift))));
            }
        }
        Ok(None)
    }

    /// The condition that a count is positive: one of what it counts holds. `None` if a sum is no count.
    pub(super) fn is_any_counted(&mut self, count: &[Term]) -> Result<Option<ConditionId>, Stop> {
        if count.len() < 2 || !self.tactic.indicators || !self.table.has_integers() {
            return Ok(None);
        }
        self.charge(count.len() as u64)?;
        let mut any = self.table.known(false);
        for part in self.table.parts_of_count(count) {
            let scale = content(&part).and_then(|content| content.recip()).unwrap_or(Rational::ONE);
            let Some(own) = self.indicated(&times_number(&part, &scale)) else { return Ok(None) };
            any = self.table.or(any, own);
        }
        Ok(Some(any))
    }

    /// 1 where a condition holds, else 0. Conditions that are joined are products of others, `[c ∧ d] = [c]·[d]`.
    pub(super) fn indicator(&mut self, condition: &ConditionId, depth: u32) -> Result<Vec<Term>, Stop> {
        let form = self.indicator_anew(condition, depth)?;
        let id = self.table.polynomial(&form);
        self.forms.indicated.entry(id).or_insert_with(|| condition.clone());
        Ok(form)
    }

    fn indicator_anew(&mut self, condition: &ConditionId, depth: u32) -> Result<Vec<Term>, Stop> {
        self.charge(1)?;
        let inverse = |own: &[Term]| add(&number(Rational::ONE), &negated(own));
        match self.table.conditions.get(condition).clone() {
            Condition::Known(holds) => return Ok(number(Rational::from_integer(holds.into()))),
            Condition::Not(inner) => return Ok(inverse(&self.indicator(&inner, depth)?)),
            Condition::Positive(_) | Condition::Zero(_) => {
                if let Some((digit, where_one)) = self.table.digit_compared(condition) {
                    return Ok(if where_one { digit } else { inverse(&digit) });
                }
            }
            Condition::And(a, b) | Condition::Xor(a, b) if depth < MAX_JOINED => {
                let [a, b] = [self.indicator(&a, depth + 1)?, self.indicator(&b, depth + 1)?];
                if a.len() * b.len() <= self.tactic.short_product {
                    let both = self.multiply(&a, &b)?;
                    return Ok(match self.table.conditions.get(condition) {
                        Condition::Xor(..) => add(&add(&a, &b), &times_number(&both, &-&Rational::TWO)),
                        Condition::Known(_)
                        | Condition::Not(_)
                        | Condition::Positive(_)
                        | Condition::Zero(_)
                        | Condition::And(..) => both,
                    });
                }
            }
            Condition::And(..) | Condition::Xor(..) => {}
        }
        let one = self.table.polynomial(&number(Rational::ONE));
        Ok(self.table.atom_term(Atom::Select(condition.clone(), one, PolynomialId::ZERO)))
    }
}
