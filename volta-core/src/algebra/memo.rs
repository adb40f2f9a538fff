//! The memoized forms of a prover.

use super::arg_max::FirstLargest;
use super::by_value::ByValue;
use super::condition::ConditionId;
use super::id::{AtomId, TermRef};
use super::interner::bytes_of;
use super::linear_sum::LinearSum;
use super::monomial::MonomialId;
use super::polynomial::{PolynomialId, Term};
use crate::number::Rational;
use crate::term::{InputId, TermId, TermOp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A sum as terms under scales.
pub(super) type Parts = Rc<[(TermId, Term)]>;

/// Memoized forms. They may depend on assumptions of the case.
#[derive(Default)]
pub(super) struct Forms {
    pub(super) flats: FxHashMap<TermRef, Rc<LinearSum>>,
    pub(super) powers: FxHashMap<TermRef, Term>,
    pub(super) factored: FxHashMap<TermRef, Term>,
    pub(super) resolved: FxHashMap<TermRef, PolynomialId>,
    /// Factored and resolved terms are also found by their linear sums, opaque atoms included.
    pub(super) factored_sums: FxHashMap<PolynomialId, Term>,
    pub(super) resolved_sums: FxHashMap<PolynomialId, PolynomialId>,
    /// Keyed by sums without opaque atoms.
    pub(super) expanded: FxHashMap<PolynomialId, PolynomialId>,
    pub(super) polynomial_factors: FxHashMap<PolynomialId, Term>,
    pub(super) roots: FxHashMap<PolynomialId, Term>,
    pub(super) exponents: FxHashMap<PolynomialId, Term>,
    pub(super) substituted: FxHashMap<MonomialId, Term>,
    pub(super) expansions: FxHashMap<MonomialId, Option<Rc<[Term]>>>,
    /// Choices as one of their arms and a scale.
    pub(super) choices: FxHashMap<TermRef, Option<(TermId, Term)>>,
    /// The lists whose first largest key has this payload.
    pub(super) first_largest: FxHashMap<PolynomialId, FirstLargest>,
    /// Forms that are choices by the value of an integer.
    pub(super) by_value: FxHashMap<PolynomialId, ByValue>,
    /// Arms of choices in a row whose form would have wider bounds than their arms.
    pub(super) not_by_value: FxHashSet<TermRef>,
    /// Arms of choices by the value of an integer that do not go on from one another.
    pub(super) not_by_exits: FxHashSet<TermRef>,
    /// Sums of choices as parts under scales.
    pub(super) chosen_sums: FxHashMap<TermRef, Option<Parts>>,
    /// Whether terms with partial operations have a value at all inputs.
    pub(super) defined: FxHashMap<TermRef, bool>,
    /// The conditions of which sums are the indicators.
    pub(super) indicated: FxHashMap<PolynomialId, ConditionId>,
    /// Maxima and minima of many terms, by these terms in order: lanes that exchange theirs combine the same terms in
    /// as many orders as there are lanes.
    pub(super) extrema: FxHashMap<(TermOp, Rc<[TermRef]>), PolynomialId>,
    /// Bytes of the linear sums.
    pub(super) flat_bytes: u64,
    /// Bytes of the lists of terms of maxima.
    pub(super) listed_bytes: u64,
}

impl Forms {
    pub(super) fn bytes(&self) -> u64 {
        self.flat_bytes
            + self.listed_bytes
            + bytes_of(&self.extrema)
            + bytes_of(&self.flats)
            + bytes_of(&self.powers)
            + bytes_of(&self.factored)
            + bytes_of(&self.resolved)
            + bytes_of(&self.factored_sums)
            + bytes_of(&self.resolved_sums)
            + bytes_of(&self.expanded)
            + bytes_of(&self.polynomial_factors)
            + bytes_of(&self.roots)
            + bytes_of(&self.exponents)
            + bytes_of(&self.substituted)
            + bytes_of(&self.expansions)
            + bytes_of(&self.choices)
            + bytes_of(&self.first_largest)
            + bytes_of(&self.by_value)
            + bytes_of(&self.chosen_sums)
            + bytes_of(&self.defined)
            + bytes_of(&self.indicated)
    }
}

/// A name as a monomial, and its coefficient.
pub(super) type Joined = (MonomialId, Rational);

/// The sum or difference of two sums of elements, as a name.
#[derive(Clone, Copy)]
pub(super) enum Made {
    /// The union of two disjoint sums.
    Sum(MonomialId),
    /// The difference of two sums, the longer of which contains the other.
    Difference(MonomialId),
    /// They share some elements but not all.
    Neither,
}

/// Facts about the names of long sums, independent of assumptions.
#[derive(Default)]
pub(super) struct LongSums {
    pub(super) joined: FxHashMap<Box<[AtomId]>, Joined>,
    pub(super) made: FxHashMap<(AtomId, AtomId), Made>,
    pub(super) tensors: FxHashMap<AtomId, Option<InputId>>,
    /// Sets of names that share no terms.
    pub(super) apart: FxHashSet<Box<[AtomId]>>,
    /// Whether anything was named.
    pub(super) any: bool,
}

impl LongSums {
    pub(super) fn bytes(&self) -> u64 {
        let apart = (self.apart.capacity() * 64) as u64;
        bytes_of(&self.joined) + bytes_of(&self.made) + bytes_of(&self.tensors) + apart
    }
}
