//! Digests of normal forms: their values at one pseudo-random point of prime fields.
//!
//! Printed forms are cut where they become long; digests are not. Elements are counted relative to the first element of
//! each input that a form contains, so that translated forms have the same content and differ in `first` only.
//!
//! A long sum may be spelled out in a form or named, whichever took fewer steps. Its value is the same: sums,
//! products, quotients and powers of two follow their laws in a [`Tower`] of prime fields, two of which make about
//! 120 bits. Roots do too: the root of a product is the product of the roots (so `√−a` is `−√a`, which has no
//! meaning among reals). Sine and cosine of one argument lie on the circle; a maximum of shifted arms is shifted.
//! Everything else has a value that is a hash of its operands' values: functions, choices, conditions, and powers
//! of two that are nested deeper in exponents than a tower is high. They are hashed in the form that is left after
//! the algebra has taken factors out of them.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::atom::Atom;
use super::condition::{Condition, ConditionId};
use super::id::{AtomId, TermRef, mix};
use super::monomial::MonomialId;
use super::packed::inputs_of;
use super::polynomial::PolynomialId;
use super::print::Normal;
use super::prover::Prover;
use super::table::Table;
use super::tower::{LEVELS, TOWERS, Tower};
use crate::term::{InputId, TermOp};

/// The digest of a normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The form's values, with elements of inputs counted from the first ones.
    pub content: u128,
    /// The first element of each input that the form contains, by input.
    pub first: First,
}

/// The first elements of inputs, by input.
type First = SmallVec<[(InputId, u64); 4]>;

/// The digests of one prover's forms. Parts that forms share are evaluated once, as long as their elements are
/// counted from the same origins.
#[derive(Default)]
pub struct Digests {
    /// The first element of each input within a part.
    firsts: FxHashMap<At, First>,
    /// The current origins, from which elements are counted.
    from: First,
    /// Values, each with a hash of the origins of the inputs within the part.
    values: FxHashMap<At, (u128, Value)>,
}

impl Digests {
    /// The digest of the normal form of a term.
    ///
    /// # Errors
    /// The reason why there is no digest.
    pub fn digest(&mut self, prover: &mut Prover<'_>, at: TermRef) -> Result<Digest, String> {
        let form = match prover.normal(at)? {
            Normal::Infinite(name) => {
                let content = name.bytes().fold(0, |state, byte| mix(state, u128::from(byte)));
                return Ok(Digest { content, first: SmallVec::new() });
            }
            Normal::Finite(terms) => (Part::Polynomial(prover.table.polynomial(&terms)), 0),
        };
        for at in unknown(prover, |at| self.firsts.contains_key(at), &form)? {
            let mut first = First::new();
            elements_of(&prover.table, &at.0, |input, element| lower(&mut first, input, element));
            within(&prover.table, &at, |part| {
                self.firsts[&part].iter().for_each(|(a, b)| lower(&mut first, *a, *b))
            });
            first.sort_unstable();
            self.firsts.insert(at, first);
        }
        self.from.clone_from(&self.firsts[&form]);
        let is_known = |at: &At| self.values.get(at).is_some_and(|(origin, _)| *origin == self.origin(at));
        for at in unknown(prover, is_known, &form)? {
            let evaluation =
                |which| Evaluation { table: &prover.table, tower: &TOWERS[which], which, digests: self };
            let value = std::array::from_fn(|which| evaluation(which).part(&at));
            self.values.insert(at.clone(), (self.origin(&at), value));
        }
        let content =
            self.values[&form].1.iter().fold(0, |content, value| content << 64 | u128::from(*value));
        Ok(Digest { content, first: self.from.clone() })
    }
}

impl Digests {
    /// The element of an input from which others are counted.
    fn from(&self, input: InputId) -> u64 {
        self.from.iter().find(|(known, _)| *known == input).map_or(0, |(_, from)| *from)
    }

    /// A hash of the origins of a part's inputs.
    fn origin(&self, at: &At) -> u128 {
        let inputs = self.firsts.get(at).into_iter().flatten().map(|(input, _)| *input);
        inputs.fold(0, |state, input| mix(mix(state, u128::from(input.0) + 1), u128::from(self.from(input))))
    }
}

/// Records an element, if it is before the first one known of its input.
fn lower(first: &mut First, input: InputId, element: u64) {
    match first.iter_mut().find(|(known, _)| *known == input) {
        Some((_, least)) => *least = element.min(*least),
        None => first.push((input, element)),
    }
}

/// A part of a form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Atom(AtomId),
    Monomial(MonomialId),
    Polynomial(PolynomialId),
    Condition(ConditionId),
}

/// A part, and the number of exponents that it is nested in.
pub(super) type At = (Part, usize);

/// The value of a part in each tower.
type Value = [u64; TOWERS.len()];

/// The parts of a form that are not known, each after its own parts. Not recursive, since forms are nested as
/// deeply as kernels compute.
pub(super) fn unknown(
    prover: &mut Prover<'_>,
    is_known: impl Fn(&At) -> bool,
    form: &At,
) -> Result<Vec<At>, String> {
    let mut list = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![(form.clone(), false)];
    let mut steps = 0;
    while let Some((part, is_done)) = stack.pop() {
        if is_done {
            list.push(part);
        } else if !is_known(&part) && seen.insert(part.clone()) {
            stack.push((part.clone(), true));
            within(&prover.table, &part, |part| stack.push((part, false)));
            elements_of(&prover.table, &part.0, |_, _| steps += 1);
        }
        steps += 1;
    }
    prover.charge(steps).map_err(|stop| format!("unknown: {stop}"))?;
    Ok(list)
}

/// Calls `each` with the direct parts of a part.
fn within(table: &Table, (part, level): &At, mut each: impl FnMut(At)) {
    let level = *level;
    let mut polynomials =
        |ids: &[PolynomialId]| ids.iter().for_each(|id| each((Part::Polynomial(*id), level)));
    match part {
        Part::Polynomial(id) => {
            for term in table.polynomials.terms(*id) {
                each((Part::Monomial(term.monomial()), level));
                if term.exponent() != PolynomialId::ZERO {
                    each((Part::Polynomial(term.exponent()), below(level)));
                }
            }
        }
        Part::Monomial(id) => {
            let factors = table.monomials.factors(*id).iter();
            factors.for_each(|(atom, _)| each((Part::Atom(*atom), level)));
        }
        Part::Condition(id) => match table.conditions.get(id) {
            Condition::Known(_) => {}
            Condition::Positive(inner) | Condition::Zero(inner) => polynomials(&[*inner]),
            Condition::Not(inner) => each((Part::Condition(inner.clone()), level)),
            Condition::And(..) => {
                let parts = table.conditions.conjuncts(id);
                parts.into_iter().for_each(|inner| each((Part::Condition(inner), level)));
            }
            Condition::Xor(a, b) => {
                [a, b].into_iter().for_each(|inner| each((Part::Condition(inner.clone()), level)));
            }
        },
        Part::Atom(id) => {
            polynomials(&table.atom(*id).parts());
            if let Atom::Select(condition, ..) = table.atom(*id) {
                each((Part::Condition(condition.clone()), level));
            }
        }
    }
}

/// The input elements that a part directly contains.
fn elements_of(table: &Table, part: &Part, mut each: impl FnMut(InputId, u64)) {
    let Part::Atom(id) = part else { return };
    if let Atom::Input(input, element) = table.atom(*id) {
        each(*input, *element);
    } else if let Atom::Products(keys) = table.atom(*id) {
        keys.iter().flat_map(|key| inputs_of(*key)).for_each(|(input, element)| each(input, element));
    }
}

/// The level of an exponent within a level: what is below the lowest one is hashed.
fn below(level: usize) -> usize {
    (level + 1).min(LEVELS - 1)
}

/// Domain separation of hashes.
#[derive(Clone, Copy)]
enum Tag {
    Input = 1,
    Irrational,
    Literal,
    Power,
    Max,
    OnCircle,
    Function,
    CopySign,
    BitAnd,
    Select,
    Known,
    Positive,
    Zero,
    Not,
    And,
    Xor,
    FirstLargest,
}

/// Values of parts in one tower, at a fixed pseudo-random point.
struct Evaluation<'p> {
    table: &'p Table,
    tower: &'static Tower,
    which: usize,
    digests: &'p Digests,
}

impl Evaluation<'_> {
    fn part(&self, (part, level): &At) -> u64 {
        match part {
            Part::Polynomial(id) => self.sum(*id, *level),
            Part::Monomial(id) => self.product(*id, *level),
            Part::Atom(id) => self.atom(*id, *level),
            Part::Condition(id) => self.condition(id, *level),
        }
    }

    fn value(&self, at: At) -> u64 {
        self.digests.values[&at].1[self.which]
    }

    fn polynomial(&self, id: PolynomialId, level: usize) -> u64 {
        self.value((Part::Polynomial(id), level))
    }

    /// A value that is a hash.
    fn hash(&self, tag: Tag, level: usize, words: &[u64]) -> u64 {
        let seed = words.iter().fold(tag as u128, |state, word| mix(state, u128::from(*word)));
        self.tower.random(level, seed)
    }

    /// A hash that does not depend on the order of words, for operands that are ordered by id.
    fn hash_of_set(&self, tag: Tag, level: usize, words: impl Iterator<Item = u64>) -> u64 {
        let seed = words.fold(0u128, |sum, word| sum.wrapping_add(mix(tag as u128, u128::from(word))));
        self.tower.random(level, seed)
    }

    fn sum(&self, id: PolynomialId, level: usize) -> u64 {
        let tower = self.tower;
        let mut sum = 0;
        for term in self.table.polynomials.terms(id) {
            let mut value = self.value((Part::Monomial(term.monomial()), level));
            if !term.coefficient.is_one() {
                value = tower.mul(level, value, tower.rational(level, &term.coefficient).unwrap_or_default());
            }
            if term.exponent() != PolynomialId::ZERO {
                let exponent = self.polynomial(term.exponent(), below(level));
                let power = match below(level) == level {
                    true => self.hash(Tag::Power, level, &[exponent]),
                    false => tower.power_of_two(level, exponent),
                };
                value = tower.mul(level, value, power);
            }
            sum = tower.add(level, sum, value);
        }
        sum
    }

    fn product(&self, id: MonomialId, level: usize) -> u64 {
        let factors = self.table.monomials.factors(id).iter();
        factors.fold(1, |product, (atom, power)| {
            let value = self.value((Part::Atom(*atom), level));
            let value = match (self.table.atom(*atom), power) {
                (_, 1) => value,
                // In a field, not every number is the square of its root.
                (Atom::Apply(TermOp::Sqrt, radicand), _) => {
                    let radicand = self.polynomial(*radicand, level);
                    let whole = self.power(level, radicand, power.div_euclid(2));
                    if power % 2 == 0 { whole } else { self.tower.mul(level, whole, value) }
                }
                _ => self.power(level, value, *power),
            };
            self.tower.mul(level, product, value)
        })
    }

    /// A power; a negative power of an accidental zero is 0.
    fn power(&self, level: usize, base: u64, power: i32) -> u64 {
        self.tower.power(level, base, power).unwrap_or_default()
    }

    fn input(&self, input: InputId, element: u64, level: usize) -> u64 {
        let from = self.digests.from(input);
        self.hash(Tag::Input, level, &[u64::from(input.0), element.wrapping_sub(from)])
    }

    fn condition(&self, id: &ConditionId, level: usize) -> u64 {
        let condition = |id: &ConditionId| self.value((Part::Condition(id.clone()), level));
        match self.table.conditions.get(id) {
            Condition::Known(value) => self.hash(Tag::Known, level, &[u64::from(*value)]),
            Condition::Positive(inner) => self.hash(Tag::Positive, level, &[self.polynomial(*inner, level)]),
            Condition::Zero(inner) => self.hash(Tag::Zero, level, &[self.polynomial(*inner, level)]),
            Condition::Not(inner) => self.hash(Tag::Not, level, &[condition(inner)]),
            Condition::And(..) => {
                let parts = self.table.conditions.conjuncts(id);
                self.hash_of_set(Tag::And, level, parts.iter().map(condition))
            }
            Condition::Xor(a, b) => self.hash_of_set(Tag::Xor, level, [a, b].map(condition).into_iter()),
        }
    }

    fn atom(&self, id: AtomId, level: usize) -> u64 {
        let tower = self.tower;
        let polynomial = |id: &PolynomialId| self.polynomial(*id, level);
        match self.table.atom(id) {
            Atom::Input(input, element) => self.input(*input, *element, level),
            Atom::Irrational(which) => self.hash(Tag::Irrational, level, &[*which as u64]),
            Atom::Literal(literal) => {
                let content = literal.fingerprint();
                self.hash(Tag::Literal, level, &[(content >> 64) as u64, content as u64])
            }
            // Absent from finished forms.
            Atom::Opaque(_) => 0,
            Atom::Products(keys) => keys.iter().fold(0, |sum, key| {
                let inputs = inputs_of(*key).map(|(input, element)| self.input(input, element, level));
                tower.add(level, sum, inputs.fold(1, |product, input| tower.mul(level, product, input)))
            }),
            Atom::Sum(sum) => polynomial(sum),
            Atom::Max(arms) => self.maximum(arms, level),
            Atom::Apply(TermOp::Sqrt, radicand) => tower.any_root(level, polynomial(radicand)),
            Atom::Apply(op @ (TermOp::Sin | TermOp::Cos), argument) => {
                self.on_circle(polynomial(argument), level, *op == TermOp::Sin)
            }
            Atom::Apply(function, argument) => {
                let rank = function.function().map_or(u8::MAX, |info| info.rank);
                self.hash(Tag::Function, level, &[u64::from(rank), polynomial(argument)])
            }
            Atom::CopySign(sign, magnitude, _) => {
                self.hash(Tag::CopySign, level, &[polynomial(sign), polynomial(magnitude)])
            }
            Atom::BitAnd(a, b) => self.hash_of_set(Tag::BitAnd, level, [a, b].map(polynomial).into_iter()),
            Atom::FirstLargest(_) => {
                let parts: Vec<u64> = self.table.atom(id).parts().iter().map(polynomial).collect();
                self.hash(Tag::FirstLargest, level, &parts)
            }
            Atom::Select(condition, a, b) => {
                let condition = self.value((Part::Condition(condition.clone()), level));
                self.hash(Tag::Select, level, &[condition, polynomial(a), polynomial(b)])
            }
        }
    }

    /// The mean of the arms plus a hash of their distances from it: `max(a + c, b + c) = max(a, b) + c`.
    fn maximum(&self, arms: &[PolynomialId], level: usize) -> u64 {
        let tower = self.tower;
        let arms = || arms.iter().map(|arm| self.polynomial(*arm, level));
        let sum = arms().fold(0, |sum, arm| tower.add(level, sum, arm));
        let share = tower.inverse(level, arms().count() as u64).unwrap_or_default();
        let mean = tower.mul(level, sum, share);
        let below = tower.neg(level, mean);
        tower.add(
            level,
            mean,
            self.hash_of_set(Tag::Max, level, arms().map(|arm| tower.add(level, arm, below))),
        )
    }

    /// The sine or the cosine of a point on the circle: a hash of the argument, and its conjugate for the opposite
    /// argument.
    fn on_circle(&self, argument: u64, level: usize, sine: bool) -> u64 {
        let tower = self.tower;
        let opposite = tower.neg(level, argument);
        let slope = self.hash(Tag::OnCircle, level, &[argument.min(opposite)]);
        let slope = if opposite < argument { tower.neg(level, slope) } else { slope };
        tower.on_circle(level, slope, sine).unwrap_or_default()
    }
}
