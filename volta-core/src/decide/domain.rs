//! Whether terms have values at any input at all (rules V6, V8): an equality that holds nowhere says nothing.
//!
//! A point at which evaluation shows that a term is defined proves that its domain is not empty. Where none is found,
//! the algebra may show that the term's requirements on its inputs contradict one another.

use rustc_hash::FxHashMap;

use super::InputInfo;
use super::counterexample::SearchBudget;
use super::evaluate::{Evaluator, Point};
use super::point::{TestPoint, admitted};
use crate::algebra::Hint;
use crate::number::Rational;
use crate::number::interval::Narrow;
use crate::number::value::Value;
use crate::term::{InputId, Store, TermId};

/// The first points tried, whose evaluators are kept for further terms of a store: all inputs positive, as in most
/// domains, then of either sign.
const KEPT: [u32; 2] = [1, 0];
/// Number of points near a hint: inputs without a hint take values from the sequence.
const NEAR: u32 = 4;

type OfSequence<'s, 'i> = Evaluator<'s, Narrow, TestPoint<'i>>;

/// Looks for points at which terms are defined.
pub(super) struct Domains<'s, 'i> {
    inputs: &'i [InputInfo],
    effort: &'i SearchBudget,
    /// The evaluators for the store of the last term.
    kept: Option<(&'s Store, [OfSequence<'s, 'i>; KEPT.len()])>,
}

impl<'s, 'i> Domains<'s, 'i> {
    pub(super) fn new(inputs: &'i [InputInfo], effort: &'i SearchBudget) -> Domains<'s, 'i> {
        Domains { inputs, effort, kept: None }
    }

    /// Whether both terms, or the only one, certainly have values at some point of the sequence.
    pub(super) fn has_point(
        &mut self,
        term: (&'s Store, TermId),
        beside: Option<(&'s Store, TermId)>,
    ) -> bool {
        let kept = self.kept(term.0).iter_mut().map(|evaluator| is_defined(&evaluator.evaluate(term.1)));
        let kept: Vec<bool> = kept.collect();
        let found =
            |(round, here): (u32, bool)| here && beside.is_none_or(|other| self.at_round(other, round).0);
        if KEPT.into_iter().zip(kept).any(found) {
            return true;
        }
        let mut left = self.effort.terms;
        for round in (0..self.effort.points).filter(|round| !KEPT.contains(round)) {
            let (here, work) = self.at_round(term, round);
            left = left.saturating_sub(work);
            if here && beside.is_none_or(|other| self.at_round(other, round).0) {
                return true;
            }
            if left == 0 {
                break;
            }
        }
        false
    }

    /// Whether a term certainly has a value where some elements have given values.
    pub(super) fn has_point_near(&self, term: (&Store, TermId), hint: &Hint) -> bool {
        let held = hint.iter().filter_map(|((input, element), value)| {
            Some(((*input, *element), admitted(value, self.inputs.get(input.index())?)?))
        });
        let hint: FxHashMap<(InputId, u64), Rational> = held.collect();
        !hint.is_empty()
            && (0..NEAR).any(|round| {
                let other = TestPoint::new(self.inputs, round);
                let point = |input: InputId, element: u64| {
                    hint.get(&(input, element)).cloned().unwrap_or_else(|| other.at(input, element))
                };
                let mut evaluator = Evaluator::<Narrow, _>::new(term.0, point, 53, self.effort.remembered);
                is_defined(&evaluator.evaluate(term.1))
            })
    }

    fn at_round(&self, (store, term): (&Store, TermId), round: u32) -> (bool, u64) {
        let point = TestPoint::new(self.inputs, round);
        let mut evaluator = Evaluator::<Narrow, _>::new(store, point, 53, self.effort.remembered);
        (is_defined(&evaluator.evaluate(term)), evaluator.work())
    }

    fn kept(&mut self, store: &'s Store) -> &mut [OfSequence<'s, 'i>; KEPT.len()] {
        let (inputs, remembered) = (self.inputs, self.effort.remembered / KEPT.len());
        if self.kept.as_ref().is_some_and(|(known, _)| !std::ptr::eq(*known, store)) {
            self.kept = None;
        }
        let evaluator = |round| Evaluator::new(store, TestPoint::new(inputs, round), 53, remembered);
        &mut self.kept.get_or_insert_with(|| (store, KEPT.map(evaluator))).1
    }
}

/// Whether an evaluation's result is certainly a value.
fn is_defined(value: &Value<Narrow>) -> bool {
    match value {
        Value::Finite(_) | Value::PosInf | Value::NegInf => true,
        Value::True | Value::False | Value::Either | Value::Undefined | Value::Unresolved => false,
    }
}
