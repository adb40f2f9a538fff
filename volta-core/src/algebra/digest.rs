//! Digests of normal forms: hashes of all that a form says, up to where its inputs lie.
//!
//! Printed forms are cut where they become long; digests are not. They are relative to the first element of each input
//! that a form contains, so that translated forms have one digest and places of their own.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::atom::{Atom, AtomId, TermRef, hash_number, mix};
use super::canon::Prover;
use super::condition::{Condition, ConditionId};
use super::exponent::Prefactor;
use super::linear_sum::inputs_of;
use super::monomial::MonomialId;
use super::polynomial::{Key, PolynomialId};
use super::print::Normal;
use crate::term::InputId;

/// What a normal form says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// A hash of the form, in which elements of inputs count from the first ones.
    pub content: u128,
    /// The first element of each input that the form contains, by input.
    pub first: SmallVec<[(InputId, u64); 4]>,
}

impl Prover<'_> {
    /// The digest of a term's normal form.
    ///
    /// # Errors
    /// Why it has none, or none was found.
    pub fn digest(&mut self, at: TermRef) -> Result<Digest, String> {
        match self.normal(at)? {
            Normal::Infinite(name) => {
                let content = name.bytes().fold(0, |state, byte| mix(state, u128::from(byte)));
                Ok(Digest { content, first: SmallVec::new() })
            }
            Normal::Finite { whole, .. } => {
                let mut walk = Walk::new(self, None);
                walk.prefactor(&whole);
                let parts = walk.hashes.len() as u64;
                let mut first: SmallVec<[(InputId, u64); 4]> = walk.seen.into_iter().collect();
                first.sort_unstable();
                let mut walk = Walk::new(self, Some(first.iter().copied().collect()));
                let content = walk.prefactor(&whole);
                self.charge(2 * parts).map_err(|stop| format!("unknown: {stop}"))?;
                Ok(Digest { content, first })
            }
        }
    }
}

/// What forms are made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Atom(AtomId),
    Monomial(MonomialId),
    Polynomial(PolynomialId),
    Condition(ConditionId),
}

/// A walk through a form, with the hash of each part that it came by.
struct Walk<'p, 's> {
    prover: &'p Prover<'s>,
    /// From which element of each input to count; `None` while that is looked for.
    from: Option<FxHashMap<InputId, u64>>,
    seen: FxHashMap<InputId, u64>,
    hashes: FxHashMap<Part, u128>,
    /// Parts of the one that is hashed whose own hashes are not known yet.
    missing: Vec<Part>,
}

impl<'p, 's> Walk<'p, 's> {
    fn new(prover: &'p Prover<'s>, from: Option<FxHashMap<InputId, u64>>) -> Walk<'p, 's> {
        Walk { prover, from, seen: FxHashMap::default(), hashes: FxHashMap::default(), missing: Vec::new() }
    }

    fn prefactor(&mut self, whole: &Prefactor) -> u128 {
        let key = [Part::Monomial(whole.key.monomial()), Part::Polynomial(whole.key.exponent())];
        let key = key.map(|part| self.finished(part));
        mix(mix(key[0], key[1]), hash_number(&whole.coefficient))
    }

    /// The hash of a part, without recursion: forms nest as deeply as kernels compute.
    fn finished(&mut self, root: Part) -> u128 {
        let mut stack = vec![root.clone()];
        while let Some(part) = stack.last().cloned() {
            if !self.hashes.contains_key(&part) {
                let hash = self.hash(&part);
                if !self.missing.is_empty() {
                    stack.append(&mut self.missing);
                    continue;
                }
                self.hashes.insert(part, hash);
            }
            stack.pop();
        }
        self.hashes[&root]
    }

    /// The hash of a part whose hash is known; else the part is missing.
    fn of(&mut self, part: Part) -> u128 {
        match self.hashes.get(&part) {
            Some(hash) => *hash,
            None => {
                self.missing.push(part);
                0
            }
        }
    }

    fn polynomial(&mut self, id: PolynomialId) -> u128 {
        self.of(Part::Polynomial(id))
    }

    fn element(&mut self, input: InputId, element: u64) -> u128 {
        let first = self.seen.entry(input).or_insert(element);
        *first = element.min(*first);
        let from = self.from.as_ref().and_then(|from| from.get(&input)).copied().unwrap_or(0);
        mix(u128::from(input.0) + 1, u128::from(element.wrapping_sub(from)))
    }

    fn key(&mut self, key: Key) -> u128 {
        let monomial = self.of(Part::Monomial(key.monomial()));
        mix(monomial, self.polynomial(key.exponent()))
    }

    fn hash(&mut self, part: &Part) -> u128 {
        let prover = self.prover;
        match part {
            // Terms and factors are in the order of ids, of which a hash must not depend.
            Part::Polynomial(id) => {
                let terms = prover.table().polynomials.terms(*id).iter();
                terms.fold(20, |sum: u128, term| {
                    sum.wrapping_add(mix(self.key(term.key), hash_number(&term.coefficient)))
                })
            }
            Part::Monomial(id) => {
                let factors = prover.table().monomials.factors(*id).iter();
                factors.fold(21, |sum: u128, (atom, power)| {
                    sum.wrapping_add(mix(self.of(Part::Atom(*atom)), *power as u128))
                })
            }
            Part::Condition(id) => match prover.conditions.get(id) {
                Condition::Known(value) => mix(11, u128::from(*value)),
                Condition::Positive(inner) => mix(12, self.polynomial(*inner)),
                Condition::Zero(inner) => mix(13, self.polynomial(*inner)),
                Condition::Not(inner) => mix(14, self.of(Part::Condition(inner.clone()))),
                Condition::And(a, b) => mix(15, self.both(a, b)),
                Condition::Xor(a, b) => mix(16, self.both(a, b)),
            },
            Part::Atom(id) => self.atom(prover.table().atom(*id)),
        }
    }

    fn both(&mut self, a: &ConditionId, b: &ConditionId) -> u128 {
        self.of(Part::Condition(a.clone())).wrapping_add(self.of(Part::Condition(b.clone())))
    }

    fn atom(&mut self, atom: &Atom) -> u128 {
        match atom {
            Atom::Input(input, element) => self.element(*input, *element),
            Atom::Irrational(which) => mix(1 << 32, *which as u128),
            Atom::Literal(literal) => mix(2 << 32, literal.fingerprint()),
            // Gone from finished forms.
            Atom::Opaque(_) => 3 << 32,
            Atom::Products(keys) => keys.iter().fold(4 << 32, |sum: u128, key| {
                let product = inputs_of(*key).map(|(input, element)| self.element(input, element));
                sum.wrapping_add(mix(5, product.fold(6, u128::wrapping_add)))
            }),
            Atom::Sum(sum) => mix(5 << 32, self.polynomial(*sum)),
            Atom::Max(arms) => {
                arms.iter().fold(6 << 32, |all: u128, arm| all.wrapping_add(mix(4, self.polynomial(*arm))))
            }
            Atom::Apply(function, argument) => {
                let rank = function.function().map_or(u8::MAX, |info| info.rank);
                mix(mix(7 << 32, u128::from(rank)), self.polynomial(*argument))
            }
            Atom::CopySign(sign, magnitude, _) => {
                mix(mix(8 << 32, self.polynomial(*sign)), self.polynomial(*magnitude))
            }
            Atom::BitAnd(a, b) => mix(9 << 32, self.polynomial(*a).wrapping_add(self.polynomial(*b))),
            Atom::Select(condition, a, b) => {
                let condition = self.of(Part::Condition(condition.clone()));
                mix(mix(mix(10 << 32, condition), self.polynomial(*a)), self.polynomial(*b))
            }
        }
    }
}
