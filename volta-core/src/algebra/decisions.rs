//! Proofs by decision diagrams: terms that choose among values are the same functions of the conditions in them.
//!
//! A case analysis takes time exponential in the number of conditions; a diagram of a count, or of a place among others, is
//! polynomial in it. Conditions are taken as independent but for the order of the same two values, so that different
//! diagrams decide nothing.

use super::Stop;
use super::analysis::CHOICE;
use super::condition::{Condition, ConditionId};
use super::id::TermRef;
use super::polynomial::{PolynomialId, as_number};
use super::prover::Prover;
use crate::base::index::number_of;
use crate::term::{
    Deciding, Diagram, DiagramVariable, Diagrams, Functions, OPAQUE, Store, TermId, TermOp, View,
};
use rustc_hash::FxHashMap;

/// The terms of a prover.
struct ByForms<'p, 's> {
    prover: &'p mut Prover<'s>,
    /// The sign of a sum: less than zero, zero, or greater.
    signs: &'p mut FxHashMap<PolynomialId, DiagramVariable>,
    /// Why the search ended, if it did.
    stopped: Option<Stop>,
}

impl Prover<'_> {
    /// Whether one of two terms chooses among values, or is an integer that is computed from such choices.
    pub fn is_any_choice(&mut self, terms: [TermRef; 2]) -> bool {
        terms.into_iter().any(|at| {
            matches!(self.terms.view(at), View::Apply(TermOp::Select, _))
                || self.terms.flags(at) & CHOICE != 0 && self.terms.range(at).whole
        })
    }

    /// Tries to prove two terms equal wherever both are defined, as functions of the conditions in them, by diagrams of
    /// at most so many nodes.
    ///
    /// # Errors
    /// When a budget is used up.
    pub fn equal_by_decisions(&mut self, [a, b]: [TermRef; 2], most_nodes: usize) -> Result<bool, Stop> {
        let (mut functions, mut signs) = (Functions::of_at_most(most_nodes), FxHashMap::default());
        let mut by = ByForms { prover: self, signs: &mut signs, stopped: None };
        let found = [a, b].map(|at| functions.of(&mut by, at));
        if let Some(stop @ Stop::Exhausted(_)) = by.stopped {
            return Err(stop);
        }
        self.charge(functions.bytes() / 64)?;
        Ok(found[0].is_some() && found[0] == found[1])
    }
}

impl ByForms<'_, '_> {
    fn kept<T>(&mut self, found: Result<T, Stop>) -> Option<T> {
        found.map_err(|stop| self.stopped = Some(stop)).ok()
    }

    /// A condition as a function of the signs of sums.
    fn condition(&mut self, diagrams: &mut Diagrams, condition: &ConditionId) -> Option<Diagram> {
        match self.prover.table.conditions.get(condition).clone() {
            Condition::Known(holds) => diagrams.number(holds.into()),
            Condition::Not(inner) => {
                let inner = self.condition(diagrams, &inner)?;
                diagrams.not(inner)
            }
            Condition::And(a, b) => {
                let (a, b) = (self.condition(diagrams, &a)?, self.condition(diagrams, &b)?);
                diagrams.and(a, b)
            }
            Condition::Xor(a, b) => {
                let (a, b) = (self.condition(diagrams, &a)?, self.condition(diagrams, &b)?);
                let equal = diagrams.equal(a, b)?;
                diagrams.not(equal)
            }
            Condition::Positive(sum) => self.sign(diagrams, sum, [0, 0, 1]),
            Condition::Zero(sum) => self.sign(diagrams, sum, [0, 1, 0]),
        }
    }

    /// What is chosen by the sign of a sum: where it is less than zero, zero, and greater.
    fn sign(&mut self, diagrams: &mut Diagrams, sum: PolynomialId, mut chosen: [i128; 3]) -> Option<Diagram> {
        let terms = self.prover.table.polynomials.shared_terms(sum).to_vec();
        let (sum, is_negated) = self.prover.table.of_any_sign(terms);
        if is_negated {
            chosen.reverse();
        }
        let variable = match self.signs.get(&sum) {
            Some(variable) => *variable,
            None => {
                let place = self.prover.table.polynomials.place(sum);
                let rank = [u64::from(place.lead.0), place.lead.1, place.fingerprint as u64 | 1];
                let variable = diagrams.declare(rank, 0, 3)?;
                self.signs.insert(sum, variable);
                variable
            }
        };
        diagrams.of_values(variable, &chosen)
    }
}

impl Deciding for ByForms<'_, '_> {
    type Term = TermRef;

    fn place(&self, term: TermRef) -> (&Store, TermId) {
        (self.prover.terms.store(term), term.term)
    }

    fn operand(&self, of: TermRef, operand: TermId) -> TermRef {
        TermRef { store: of.store, term: operand }
    }

    fn compared(
        &mut self,
        diagrams: &mut Diagrams,
        [a, b]: [TermRef; 2],
        wanted: [bool; 3],
    ) -> Option<Diagram> {
        let [less, equal, greater] = wanted;
        // Of the orders that are wanted, or of the others.
        let (is_less, is_equal, is_greater, holds) = match [less, equal, greater] {
            [true, false, false] => (true, false, false, true),
            [false, true, false] => (false, true, false, true),
            [false, false, true] => (false, false, true, true),
            [false, true, true] => (true, false, false, false),
            [true, false, true] => (false, true, false, false),
            [true, true, false] => (false, false, true, false),
            [true, true, true] | [false, false, false] => return diagrams.number(less.into()),
        };
        let found = self.prover.settle(|prover| match (is_less, is_equal, is_greater) {
            (true, ..) => prover.less(a, b),
            (_, true, _) => prover.equal_to(a, b),
            (..) => prover.less(b, a),
        });
        let condition = self.kept(found)?;
        let condition = self.condition(diagrams, &condition)?;
        if holds { Some(condition) } else { diagrams.not(condition) }
    }

    fn opaque(&mut self, term: TermRef) -> Option<i128> {
        if matches!(self.prover.terms.view(term), View::Apply(op, _) if op.is_condition()) {
            return None;
        }
        let found = self.prover.settle(|prover| prover.argument(term));
        let form = self.kept(found)?;
        let number = as_number(&form).and_then(|number| number.to_i128()).filter(|number| *number < OPAQUE);
        let id = self.prover.table.polynomial(&form);
        Some(number.unwrap_or_else(|| OPAQUE + i128::from(number_of(id.index()))))
    }
}
