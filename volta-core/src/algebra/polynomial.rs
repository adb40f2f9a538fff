//! Polynomials: sums of `coefficient · monomial · 2^exponent`, and those among them that are interned.
//!
//! Exponents are interned polynomials themselves, so a term is a coefficient beside two small numbers. Powers
//! are integers of either sign (Laurent polynomials).

use super::id::{ContentOrder, hash_number, mix};
use super::interner::bytes_of;
use super::monomial::MonomialId;
use crate::index_type;
use crate::number::Rational;
use rustc_hash::FxHashMap;
use std::rc::Rc;

index_type!(
    /// An interned polynomial: an exponent, an argument of a function, the content of a sum.
    PolynomialId,
    "p"
);

impl PolynomialId {
    /// The polynomial 0; as an exponent, the absence of one.
    pub const ZERO: PolynomialId = PolynomialId(0);
}

/// The product that a term's coefficient multiplies: a monomial and a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    /// The number 1.
    pub const ONE: Key = Key(0);

    /// `monomial · 2^exponent`
    pub fn new(monomial: MonomialId, exponent: PolynomialId) -> Key {
        Key(u64::from(monomial.0) << 32 | u64::from(exponent.0))
    }

    /// A monomial alone.
    pub fn of(monomial: MonomialId) -> Key {
        Key::new(monomial, PolynomialId::ZERO)
    }

    /// The monomial.
    pub fn monomial(self) -> MonomialId {
        MonomialId((self.0 >> 32) as u32)
    }

    /// The exponent of 2.
    pub fn exponent(self) -> PolynomialId {
        PolynomialId(self.0 as u32)
    }
}

/// `coefficient · monomial · 2^exponent`: a term of a sum, or a scale that walks carry along.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// Monomial and exponent.
    pub key: Key,
    /// The coefficient.
    pub coefficient: Rational,
}

impl Term {
    /// The number 1.
    pub fn one() -> Term {
        Term::of(Key::ONE)
    }

    /// A number.
    pub fn number(coefficient: Rational) -> Term {
        Term { key: Key::ONE, coefficient }
    }

    /// Whether this is the number 0.
    pub fn is_zero(&self) -> bool {
        self.coefficient.is_zero()
    }

    /// A key with coefficient 1.
    pub fn of(key: Key) -> Term {
        Term { key, coefficient: Rational::ONE }
    }

    /// The monomial.
    pub fn monomial(&self) -> MonomialId {
        self.key.monomial()
    }

    /// The exponent of 2.
    pub fn exponent(&self) -> PolynomialId {
        self.key.exponent()
    }
}

/// Sorts terms by key, adds those of one key and drops zeros: afterwards equal sums are equal lists.
pub(super) fn collect(terms: &mut Vec<Term>) {
    if terms.windows(2).all(|pair| pair[0].key < pair[1].key) {
        terms.retain(|term| !term.coefficient.is_zero());
        return;
    }
    terms.sort_unstable_by_key(|term| term.key);
    let mut kept = 0;
    for at in 0..terms.len() {
        if kept > 0 && terms[kept - 1].key == terms[at].key {
            terms[kept - 1].coefficient = &terms[kept - 1].coefficient + &terms[at].coefficient;
        } else {
            if kept > 0 && terms[kept - 1].coefficient.is_zero() {
                kept -= 1;
            }
            terms.swap(kept, at);
            kept += 1;
        }
    }
    if kept > 0 && terms[kept - 1].coefficient.is_zero() {
        kept -= 1;
    }
    terms.truncate(kept);
}

/// The interned polynomials of one prover.
///
/// Invariant: terms are as [`collect`] leaves them.
pub(super) struct Polynomials {
    list: Vec<Rc<[Term]>>,
    lazy: Vec<bool>,
    places: Vec<ContentOrder>,
    ids: FxHashMap<Rc<[Term]>, PolynomialId>,
    sums: FxHashMap<(PolynomialId, PolynomialId), PolynomialId>,
    negatives: FxHashMap<PolynomialId, PolynomialId>,
    /// Bytes of all lists of terms.
    content: u64,
}

impl Polynomials {
    pub(super) fn new() -> Polynomials {
        let zero: Rc<[Term]> = Rc::from([]);
        Polynomials {
            list: vec![zero.clone()],
            lazy: vec![false],
            places: vec![ContentOrder::CONSTANT],
            ids: std::iter::once((zero, PolynomialId::ZERO)).collect(),
            sums: FxHashMap::default(),
            negatives: FxHashMap::default(),
            content: 0,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let each = 2 * size_of::<Rc<[Term]>>() + size_of::<ContentOrder>() + 40;
        (self.list.len() * each) as u64 + self.content + bytes_of(&self.sums) + bytes_of(&self.negatives)
    }

    pub(super) fn terms(&self, id: PolynomialId) -> &[Term] {
        &self.list[id.index()]
    }

    pub(super) fn shared_terms(&self, id: PolynomialId) -> Rc<[Term]> {
        self.list[id.index()].clone()
    }

    /// Whether a node not looked into yet is within it.
    pub(super) fn is_lazy(&self, id: PolynomialId) -> bool {
        self.lazy[id.index()]
    }

    pub(super) fn place(&self, id: PolynomialId) -> ContentOrder {
        self.places[id.index()]
    }

    /// Interns a collected sum; `describe` gives a monomial's place and whether it contains opaque atoms.
    pub(super) fn intern(
        &mut self,
        terms: &[Term],
        describe: impl Fn(MonomialId) -> (ContentOrder, bool),
    ) -> PolynomialId {
        if let Some(id) = self.ids.get(terms) {
            return *id;
        }
        debug_assert!(terms.iter().all(|term| !term.is_zero()), "a collected sum has no zeros");
        let mut place = ContentOrder::CONSTANT;
        let mut lazy = false;
        for term in terms {
            let (own, own_lazy) = describe(term.monomial());
            let exponent = self.place(term.exponent());
            lazy |= own_lazy || self.is_lazy(term.exponent());
            place.lead = place.lead.min(own.lead).min(exponent.lead);
            place.rank = place.rank.max(own.rank).max(u8::from(term.exponent() != PolynomialId::ZERO));
            let hash = mix(mix(own.fingerprint, exponent.fingerprint), hash_number(&term.coefficient));
            place.fingerprint = place.fingerprint.wrapping_add(hash);
        }
        let id = PolynomialId::from_index(self.list.len());
        let shared: Rc<[Term]> = Rc::from(terms);
        let large: u64 = terms.iter().map(|term| term.coefficient.bit_length().saturating_sub(128) / 8).sum();
        self.content += size_of_val(terms) as u64 + large;
        self.list.push(shared.clone());
        self.lazy.push(lazy);
        self.places.push(place);
        self.ids.insert(shared, id);
        id
    }

    pub(super) fn known_sum(&self, a: PolynomialId, b: PolynomialId) -> Option<PolynomialId> {
        self.sums.get(&if a <= b { (a, b) } else { (b, a) }).copied()
    }

    pub(super) fn remember_sum(&mut self, a: PolynomialId, b: PolynomialId, sum: PolynomialId) {
        self.sums.insert(if a <= b { (a, b) } else { (b, a) }, sum);
    }

    pub(super) fn known_negative(&self, a: PolynomialId) -> Option<PolynomialId> {
        self.negatives.get(&a).copied()
    }

    pub(super) fn remember_negative(&mut self, a: PolynomialId, negative: PolynomialId) {
        self.negatives.insert(a, negative);
        self.negatives.insert(negative, a);
    }
}

/// The sum of two collected sums, collected.
pub(super) fn add(a: &[Term], b: &[Term]) -> Vec<Term> {
    let mut sum = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].key.cmp(&b[j].key) {
            std::cmp::Ordering::Less => {
                sum.push(a[i].clone());
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                sum.push(b[j].clone());
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                let coefficient = &a[i].coefficient + &b[j].coefficient;
                if !coefficient.is_zero() {
                    sum.push(Term { key: a[i].key, coefficient });
                }
                i += 1;
                j += 1;
            }
        }
    }
    sum.extend_from_slice(&a[i..]);
    sum.extend_from_slice(&b[j..]);
    sum
}

/// The terms of a number.
pub(super) fn number(value: Rational) -> Vec<Term> {
    if value.is_zero() { Vec::new() } else { vec![Term::number(value)] }
}

/// The number that a collected sum equals, if it is constant.
pub(super) fn as_number(terms: &[Term]) -> Option<Rational> {
    match terms {
        [] => Some(Rational::ZERO),
        [term] if term.key == Key::ONE => Some(term.coefficient.clone()),
        _ => None,
    }
}

/// `−terms`
pub(super) fn negated(terms: &[Term]) -> Vec<Term> {
    terms.iter().map(|term| Term { key: term.key, coefficient: -&term.coefficient }).collect()
}

/// `k·terms`
pub(super) fn times_number(terms: &[Term], factor: &Rational) -> Vec<Term> {
    if factor.is_zero() {
        return Vec::new();
    }
    terms.iter().map(|term| Term { key: term.key, coefficient: &term.coefficient * factor }).collect()
}

/// The largest number of which all coefficients are integer multiples.
pub(super) fn content(terms: &[Term]) -> Option<Rational> {
    let mut parts = terms.iter().map(|term| term.coefficient.to_parts());
    let (mut num, mut den) = parts.next()?;
    for (other_num, other_den) in parts {
        num = num.gcd(&other_num);
        den = den.lcm(&other_den);
    }
    Some(rug::Rational::from((num.abs(), den)).into())
}
