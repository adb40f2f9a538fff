//! Choices by the value of one integer: `i = 3 ? a : (i = 5 ? b : c)`, as searches and lookups in tables make them.
//!
//! At most one of the conditions holds, so such a choice is linear in their indicators, `c + [i = 3]·(a − c) +
//! [i = 5]·(b − c)`, without products of them. If all values of the integer but a few are compared, what is left is that
//! of these, and the sum has a part for each value, as one over masks has. So a search, in whatever order it compares, a
//! lookup and a masked sum have one form. Choices in a row, of which each is an arm of the one before, are read at once, so
//! that no form is made of those within. Where the integer has not a value, its indicator is 0: what is read for a label
//! that is ignored makes no difference.

use super::Stop;
use super::atom::Atom;
use super::condition::{Condition, ConditionId};
use super::id::TermRef;
use super::polynomial::{Key, PolynomialId, Term, add, negated, number};
use super::prover::Prover;
use super::worklist::if_known;
use crate::number::Rational;
use crate::term::{TermOp, View};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Longer tables are choices.
const MAX_VALUES: i128 = 4_096;
/// What is left for more values of the integer is one value.
const MAX_MISSING: i128 = 4;

/// The values of an expression by the value of an integer.
#[derive(Clone, Debug)]
pub(super) struct ByValue {
    /// The integer, as a sum without a constant.
    of: PolynomialId,
    /// The value of the integer and that of the expression, in order.
    entries: Rc<[(i128, PolynomialId)]>,
    /// The value of the expression elsewhere.
    elsewhere: PolynomialId,
}

impl ByValue {
    /// The same with another entry.
    fn with(&self, at: i128, value: PolynomialId) -> ByValue {
        let mut entries = self.entries.to_vec();
        match entries.binary_search_by_key(&at, |(own, _)| *own) {
            Ok(place) => entries[place].1 = value,
            Err(place) => entries.insert(place, (at, value)),
        }
        ByValue { entries: entries.into(), ..*self }
    }

    /// The same with several other entries, of which the last one for a value counts.
    fn with_all(&self, others: impl IntoIterator<Item = (i128, PolynomialId)>) -> ByValue {
        let mut entries: BTreeMap<i128, PolynomialId> = self.entries.iter().copied().collect();
        entries.extend(others);
        ByValue { entries: entries.into_iter().collect(), ..*self }
    }

    /// The same where few values of the integer, from `low` to `high`, have no entry: they get one.
    fn completed(self, low: i128, high: i128) -> ByValue {
        let count = self.entries.len() as i128;
        if count + MAX_MISSING <= high - low || count > high - low {
            return self;
        }
        let all = (low..=high).map(|value| (value, self.elsewhere));
        let own = self.entries.iter().copied();
        self.with_all(all.chain(own))
    }
}

/// One of several choices in a row, by whether an integer has a value.
struct Step {
    of: PolynomialId,
    at: i128,
    /// What is chosen there, and elsewhere.
    value: TermRef,
    rest: TermRef,
}

impl Prover<'_> {
    /// The form of a choice by whether an integer has a value; both arms always have a value. `None` if it is not one
    /// of several by the same integer.
    pub(super) fn choice_by_value(
        &mut self,
        condition: &ConditionId,
        when_true: &[Term],
        when_false: &[Term],
    ) -> Result<Option<Vec<Term>>, Stop> {
        let Some((is_at, compared)) = self.zero_compared(condition) else { return Ok(None) };
        let arms = if is_at == *condition { [when_true, when_false] } else { [when_false, when_true] };
        let Some((of, at)) = self.integer_compared(compared) else { return Ok(None) };
        let Some((low, high)) = self.range_of(of) else { return Ok(None) };
        if !(low..=high).contains(&at) {
            return Ok(None);
        }
        let [value, rest] = arms.map(|arm| self.table.polynomial(arm));
        let known = self.forms.by_value.get(&rest).filter(|known| known.of == of).cloned();
        let is_first = known.is_none();
        let list = match known {
            Some(known) => known,
            None => ByValue { of, entries: Rc::new([]), elsewhere: rest },
        };
        let list = list.with(at, value).completed(low, high);
        let form = if is_first {
            self.choice_between(is_at, arms[0].to_vec(), arms[1].to_vec(), true)?
        } else {
            let form = self.form_by_value(&list, low, high)?;
            if !self.table.keeps_bounds(&form, &arms) {
                return Ok(None);
            }
            form
        };
        let id = self.table.polynomial(&form);
        self.forms.listed_bytes += size_of_val(&*list.entries) as u64;
        self.forms.by_value.insert(id, list);
        Ok(Some(form))
    }

    /// The form of several choices in a row, by whether one integer has a value: `None` if it is none, or a single one. All
    /// arms always have a value.
    pub(super) fn choices_by_value(
        &mut self,
        condition: &ConditionId,
        arms: [TermRef; 2],
    ) -> Result<Option<Vec<Term>>, Stop> {
        let Some(first) = self.step_by_value(condition, arms) else { return Ok(None) };
        let (of, mut rest) = (first.of, first.rest);
        if self.forms.not_by_value.contains(&rest) {
            return Ok(None);
        }
        let Some((low, high)) = self.range_of(of) else { return Ok(None) };
        // Bounds of integers would be wider.
        let value = self.argument(first.value)?;
        if self.table.bounds_of(&value).is_some() {
            return Ok(None);
        }
        let mut steps = vec![first];
        while let Some(next) = self.next_by_value(rest)?.filter(|next| next.of == of) {
            rest = next.rest;
            steps.push(next);
        }
        // The last one is an expression by itself.
        let last = steps.pop().filter(|_| steps.len() > 1);
        if last.is_none() || !steps.iter().all(|step| (low..=high).contains(&step.at)) {
            return Ok(None);
        }
        let Some(Step { rest, .. }) = steps.last() else { return Ok(None) };
        let (rest, mark) = (*rest, self.work.mark());
        let elsewhere = if_known(self.argument(rest))?;
        let mut values = Vec::with_capacity(steps.len());
        for step in steps.iter().rev() {
            if let Some(value) = if_known(self.argument(step.value))? {
                values.push((step.at, value));
            }
        }
        self.work.since(mark)?;
        let Some(elsewhere) = elsewhere else { return Ok(None) };
        let rest = self.table.polynomial(&elsewhere);
        let known = self.forms.by_value.get(&rest).filter(|known| known.of == of).cloned();
        let list = known.unwrap_or_else(|| ByValue { of, entries: Rc::new([]), elsewhere: rest });
        let entries: Vec<(i128, PolynomialId)> =
            values.iter().map(|(at, value)| (*at, self.table.polynomial(value))).collect();
        let list = list.with_all(entries).completed(low, high);
        let form = self.form_by_value(&list, low, high)?;
        let arms: Vec<&[Term]> = values.iter().map(|(_, value)| &value[..]).chain([&elsewhere[..]]).collect();
        if !self.table.keeps_bounds(&form, &arms) {
            self.forms.not_by_value.extend(steps.iter().map(|step| step.rest));
            return Ok(None);
        }
        let id = self.table.polynomial(&form);
        self.forms.listed_bytes += size_of_val(&*list.entries) as u64;
        self.forms.by_value.insert(id, list);
        Ok(Some(form))
    }

    /// A choice by whether an integer has a value.
    fn step_by_value(&mut self, condition: &ConditionId, [then, otherwise]: [TermRef; 2]) -> Option<Step> {
        let (is_at, compared) = self.zero_compared(condition)?;
        let (of, at) = self.integer_compared(compared)?;
        let [value, rest] = if is_at == *condition { [then, otherwise] } else { [otherwise, then] };
        Some(Step { of, at, value, rest })
    }

    /// A term as such a choice, if it is nothing else, and its form is not known yet.
    fn next_by_value(&mut self, at: TermRef) -> Result<Option<Step>, Stop> {
        if self.forms.resolved.contains_key(&at) {
            return Ok(None);
        }
        let View::Apply(TermOp::Select, operands) = self.terms.view(at) else { return Ok(None) };
        let [decides, then, otherwise] = operands.map(|term| TermRef { store: at.store, term });
        let condition = self.condition(decides, 0)?;
        let Some(step) = self.step_by_value(&condition, [then, otherwise]) else { return Ok(None) };
        let is_other = self.choice_by_comparisons(decides, &condition, [then, otherwise])?.is_some()
            || self.guarded_extremum(decides, [then, otherwise])?.is_some();
        Ok((!is_other).then_some(step))
    }

    /// The condition that a sum is zero, which a condition is or negates, and the sum.
    fn zero_compared(&self, condition: &ConditionId) -> Option<(ConditionId, PolynomialId)> {
        let conditions = &self.table.conditions;
        let is_zero = match conditions.get(condition) {
            Condition::Not(inner) => inner,
            Condition::Known(_)
            | Condition::Positive(_)
            | Condition::Zero(_)
            | Condition::And(..)
            | Condition::Xor(..) => condition,
        };
        if let Condition::Zero(sum) = conditions.get(is_zero) { Some((is_zero.clone(), *sum)) } else { None }
    }

    /// The arms of a choice, without the indicator of its condition in the arm where it is 0.
    pub(super) fn without_indicator(
        &mut self,
        condition: &ConditionId,
        mut arms: [Vec<Term>; 2],
    ) -> Result<[Vec<Term>; 2], Stop> {
        let Some((is_at, compared)) = self.zero_compared(condition) else { return Ok(arms) };
        let elsewhere = usize::from(is_at == *condition);
        // The arm may itself be a list, whose entry for this value is replaced.
        let id = self.table.polynomial(&arms[elsewhere]);
        if self.forms.by_value.contains_key(&id) || self.integer_compared(compared).is_none() {
            return Ok(arms);
        }
        if let [Term { key, .. }] = self.indicator(&is_at, 0)?[..]
            && let [(atom, 1)] = *self.table.monomials.factors(key.monomial())
            && let Atom::Select(..) = self.table.atom(atom)
        {
            arms[elsewhere] = self.replaced(&arms[elsewhere], atom, &[])?;
        }
        Ok(arms)
    }

    fn form_by_value(&mut self, list: &ByValue, low: i128, high: i128) -> Result<Vec<Term>, Stop> {
        self.charge(list.entries.len() as u64)?;
        let terms = |prover: &Self, id| prover.table.polynomials.shared_terms(id).to_vec();
        let are_all = list.entries.len() as i128 == high - low + 1;
        if let [(_, first), rest @ ..] = &*list.entries
            && are_all
            && rest.iter().all(|(_, value)| value == first)
        {
            return Ok(terms(self, *first));
        }
        let elsewhere = if are_all { Vec::new() } else { terms(self, list.elsewhere) };
        let of = terms(self, list.of);
        let mut parts = elsewhere.clone();
        for (at, value) in list.entries.iter() {
            let gap = add(&terms(self, *value), &negated(&elsewhere));
            if gap.is_empty() {
                continue;
            }
            let condition = self.table.zero(add(&of, &number(Rational::from_i128(-at))));
            let indicator = self.indicator(&condition, 0)?;
            parts.extend(self.multiply(&indicator, &gap)?);
        }
        super::polynomial::collect(&mut parts);
        Ok(parts)
    }

    /// The integer and its value where a sum is zero.
    pub(super) fn integer_compared(&mut self, sum: PolynomialId) -> Option<(PolynomialId, i128)> {
        let terms = self.table.polynomials.shared_terms(sum);
        let (constant, rest): (Vec<Term>, Vec<Term>) =
            terms.iter().cloned().partition(|term| term.key == Key::ONE);
        if rest.is_empty() || !self.table.is_whole(&rest) {
            return None;
        }
        let at = constant.first().map_or(Rational::ZERO, |term| -&term.coefficient);
        Some((self.table.polynomial(&rest), at.to_i128()?))
    }

    /// The least and the greatest value of an integer with few values, but more than two.
    pub(super) fn range_of(&self, of: PolynomialId) -> Option<(i128, i128)> {
        let (low, high) = self.table.bounds_of(self.table.polynomials.terms(of))?;
        let (low, high) = (low.ceil().to_i128()?, high.floor().to_i128()?);
        (2..MAX_VALUES).contains(&high.checked_sub(low)?).then_some((low, high))
    }
}
