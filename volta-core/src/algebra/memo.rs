//! What a prover remembers of its forms.

use super::id::{AtomId, TermRef};
use super::interner::bytes_of;
use super::linear_sum::LinearSum;
use super::monomial::MonomialId;
use super::polynomial::{PolynomialId, Term};
use crate::number::Rational;
use crate::term::{InputId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Terms, each under a scale, whose sum something is.
pub(super) type Parts = Rc<[(TermId, Term)]>;

/// Forms that are known. They may depend on what is assumed.
#[derive(Default)]
pub(super) struct Forms {
    pub(super) flats: FxHashMap<TermRef, Rc<LinearSum>>,
    pub(super) powers: FxHashMap<TermRef, Term>,
    pub(super) factored: FxHashMap<TermRef, Term>,
    pub(super) resolved: FxHashMap<TermRef, PolynomialId>,
    /// What is factored and resolved is found again by its sum, with lazy atoms, as well.
    pub(super) factored_sums: FxHashMap<PolynomialId, Term>,
    pub(super) resolved_sums: FxHashMap<PolynomialId, PolynomialId>,
    /// Of sums without lazy atoms.
    pub(super) expanded: FxHashMap<PolynomialId, PolynomialId>,
    pub(super) polynomial_factors: FxHashMap<PolynomialId, Term>,
    pub(super) roots: FxHashMap<PolynomialId, Term>,
    pub(super) exponents: FxHashMap<PolynomialId, Term>,
    pub(super) substituted: FxHashMap<MonomialId, Term>,
    pub(super) expansions: FxHashMap<MonomialId, Option<Rc<[Term]>>>,
    /// Choices as one of their arms and a scale.
    pub(super) choices: FxHashMap<TermRef, Option<(TermId, Term)>>,
    /// Sums of choices as parts under scales.
    pub(super) chosen_sums: FxHashMap<TermRef, Option<Parts>>,
    /// Bytes of the flat forms.
    pub(super) flat_bytes: u64,
}

impl Forms {
    pub(super) fn bytes(&self) -> u64 {
        self.flat_bytes
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
            + bytes_of(&self.chosen_sums)
    }
}

/// A name as a monomial, and the number that it is multiplied by.
pub(super) type Joined = (MonomialId, Rational);

/// A sum of elements made of two others.
#[derive(Clone, Copy)]
pub(super) enum Made {
    /// Of those of both, which share none.
    Sum(MonomialId),
    /// Of those that only the longer has, which has all of the other's.
    Difference(MonomialId),
    /// They share some.
    Neither,
}

/// What is known of the names of long sums, whatever is assumed.
#[derive(Default)]
pub(super) struct LongSums {
    pub(super) joined: FxHashMap<Box<[AtomId]>, Joined>,
    pub(super) made: FxHashMap<(AtomId, AtomId), Made>,
    pub(super) tensors: FxHashMap<AtomId, Option<InputId>>,
    /// Names that share no terms.
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
