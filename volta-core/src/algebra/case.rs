//! The state of one case of a case split, which is dropped before the next case begins. Forms made in the case are in
//! [`super::memo`].

use super::id::AtomId;
use super::polynomial::{PolynomialId, Term, negated};
use crate::number::Rational;
use crate::number::signs::Signs;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// `sum > 0`, or `sum ≥ 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assumption {
    pub(super) sum: Rc<[Term]>,
    pub(super) strict: bool,
}

/// The assumptions of the current case.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) assumptions: Vec<Assumption>,
    pub(super) signs: FxHashMap<PolynomialId, Signs>,
    /// Input elements that have one value in this case, by their atoms.
    pub(super) numbers: FxHashMap<AtomId, Rational>,
}

impl Case {
    /// Whether nothing is assumed.
    pub(super) fn is_trivial(&self) -> bool {
        self.assumptions.is_empty()
    }

    /// Whether any input element has one value.
    pub(super) fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Sums that are assumed to be zero.
    pub(super) fn zeros(&self) -> impl Iterator<Item = &[Term]> {
        self.assumptions.iter().enumerate().filter_map(|(at, assumption)| {
            let opposite = negated(&assumption.sum);
            let is_opposite = |other: &Assumption| !other.strict && other.sum[..] == opposite[..];
            let is_zero = !assumption.strict && self.assumptions[at + 1..].iter().any(is_opposite);
            is_zero.then_some(&assumption.sum[..])
        })
    }
}
