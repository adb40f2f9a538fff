//! Forms of terms: sums of products of powers of atoms, with exact coefficients.
//!
//! The laws of rings and fields hold by construction, as does that a maximum is a set. Every other law is applied by
//! one of the functions here, and only if the proof may [use](Forms::uses) it.

use crate::laws::{Law, LawSet};
use crate::number::Number;
use crate::sign::{Facts, Signs};
use crate::text::Op;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// A result, or why there is none.
pub(crate) type Made<T> = Result<T, String>;
pub(crate) type PolyId = u32;
pub(crate) type AtomId = u32;
pub(crate) type MonoId = u32;
/// A sum: products with their coefficients, none of them zero, by ascending number of the product.
pub(crate) type Poly = Rc<[(MonoId, Number)]>;
/// A product: atoms with their powers, none of them zero, by ascending number of the atom.
pub(crate) type Mono = Rc<[(AtomId, i32)]>;

/// The empty product.
pub(crate) const ONE: MonoId = 0;

/// What is not taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Atom {
    /// An element of an input.
    Input(u32, u64),
    /// A function of numbers.
    Apply(Op, Box<[PolyId]>),
    /// The largest of several numbers.
    Max(Box<[PolyId]>),
    /// 1 where a number is positive, else 0.
    Positive(PolyId),
    /// A sum of several products that is not zero: a denominator.
    Sum(PolyId),
    /// The value of a term of the reference, and of those that were proved equal to it.
    Cut(u32),
    /// log₂ e
    Log2E,
}

/// Values with numbers.
#[derive(Debug)]
pub(crate) struct Interned<T> {
    list: Vec<T>,
    ids: HashMap<T, u32>,
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn new() -> Interned<T> {
        Interned { list: Vec::new(), ids: HashMap::new() }
    }

    pub(crate) fn id(&mut self, value: T) -> u32 {
        if let Some(id) = self.ids.get(&value) {
            return *id;
        }
        let id = self.list.len() as u32;
        self.list.push(value.clone());
        self.ids.insert(value, id);
        id
    }

    pub(crate) fn find(&self, value: &T) -> Option<u32> {
        self.ids.get(value).copied()
    }

    pub(crate) fn get(&self, id: u32) -> &T {
        &self.list[id as usize]
    }
}

/// All forms of one proof.
#[derive(Debug)]
pub(crate) struct Forms {
    pub(crate) atoms: Interned<Atom>,
    pub(crate) monos: Interned<Mono>,
    pub(crate) polys: Interned<Poly>,
    products: HashMap<(MonoId, MonoId), Poly>,
    pub(crate) facts: Facts,
    allowed: LawSet,
    pub(crate) used: LawSet,
    left: u64,
}

/// Products of longer numbers, in binary digits, are refused; and so many digits are multiplied in a step.
const MAX_DIGITS: usize = 1 << 22;
const DIGITS_A_STEP: usize = 1 << 8;
/// A power of an atom is no larger.
const MAX_POWER: u32 = 1 << 12;
/// A maximum has no more arms.
const MAX_ARMS: usize = 1 << 12;
/// Of a maximum with more arms, not every two are compared.
const FEW_ARMS: usize = 24;

impl Forms {
    pub(crate) fn new(allowed: LawSet, facts: Facts, steps: u64) -> Forms {
        let mut monos = Interned::new();
        monos.id(Rc::from([]));
        Forms {
            atoms: Interned::new(),
            monos,
            polys: Interned::new(),
            products: HashMap::new(),
            facts,
            allowed,
            used: LawSet::default(),
            left: steps,
        }
    }

    /// Whether a law may be used; if so, it counts as used.
    pub(crate) fn uses(&mut self, law: Law) -> bool {
        let allowed = self.allowed.contains(law);
        if allowed {
            self.used.insert(law);
        }
        allowed
    }

    /// The steps that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Forgets what depends on facts.
    pub(crate) fn forget(&mut self) {
        self.products.clear();
    }

    pub(crate) fn charge(&mut self, steps: usize) -> Made<()> {
        let steps = steps as u64 + 1;
        let enough = steps <= self.left;
        self.left = self.left.saturating_sub(steps);
        if enough { Ok(()) } else { Err("the checker's steps are used up".to_string()) }
    }

    /// Charges where nothing can end: the next charge that can, does.
    pub(crate) fn draw(&mut self, steps: usize) {
        self.left = self.left.saturating_sub(steps as u64);
    }

    pub(crate) fn poly(&self, id: PolyId) -> Poly {
        self.polys.get(id).clone()
    }

    pub(crate) fn factors(&self, mono: MonoId) -> Mono {
        self.monos.get(mono).clone()
    }

    pub(crate) fn atom(&mut self, atom: Atom) -> Poly {
        let atom = self.atoms.id(atom);
        self.single(atom, 1)
    }

    pub(crate) fn single(&mut self, atom: AtomId, power: i32) -> Poly {
        Rc::from([(self.monos.id(Rc::from([(atom, power)])), Number::ONE)])
    }

    /// The product of powers of atoms, as laws simplify it.
    fn reduce(&mut self, factors: impl Iterator<Item = (AtomId, i32)>) -> Made<Poly> {
        let mut powers: BTreeMap<AtomId, i32> = BTreeMap::new();
        for (atom, power) in factors {
            let sum = powers.get(&atom).unwrap_or(&0) + power;
            if sum.unsigned_abs() > MAX_POWER {
                return Err("a power is too large".to_string());
            }
            powers.insert(atom, sum);
        }
        powers.retain(|_, power| *power != 0);
        let mut others: Vec<Poly> = Vec::new();
        let exponents =
            |atom: &Atom| if let Atom::Apply(Op::Exp2, exponent) = atom { Some(exponent[0]) } else { None };
        let found: Vec<(AtomId, i32, PolyId)> = powers
            .iter()
            .filter_map(|(atom, power)| Some((*atom, *power, exponents(self.atoms.get(*atom))?)))
            .collect();
        let needed = [
            (found.len() > 1, Law::ProductOfPowers),
            (found.iter().any(|(_, power, _)| power.abs() > 1), Law::PowerOfPower),
            (found.iter().any(|(_, power, _)| *power < 0), Law::ReciprocalOfPower),
        ];
        let needed: Vec<Law> = needed.into_iter().filter(|(is, _)| *is).map(|(_, law)| law).collect();
        if !needed.is_empty() && needed.iter().all(|law| self.uses(*law)) {
            let mut sum = self.number(&Number::ZERO);
            for (atom, power, exponent) in found {
                powers.remove(&atom);
                let exponent = self.poly(exponent);
                let scaled = self.scaled(&exponent, &Number::Small(power.into()));
                sum = self.add(&sum, &scaled);
                self.charge(sum.len())?;
            }
            others.push(self.exp2(&sum)?);
        }
        for (atom, power) in powers.clone() {
            match self.atoms.get(atom).clone() {
                Atom::Sum(sum) if power > 0 => {
                    powers.remove(&atom);
                    let sum = self.poly(sum);
                    others.push(self.power(&sum, power)?);
                }
                Atom::Apply(Op::Sqrt, under) if !(0..2).contains(&power) => {
                    let under = self.poly(under[0]);
                    if self.sign(&under).not_negative() && self.uses(Law::SquareOfRoot) {
                        powers.insert(atom, power.rem_euclid(2));
                        others.push(self.power(&under, power.div_euclid(2))?);
                    }
                }
                Atom::Apply(Op::Cos, of) if power > 1 && self.uses(Law::SquaresOfSineAndCosine) => {
                    powers.insert(atom, power % 2);
                    let sine = self.atom(Atom::Apply(Op::Sin, of));
                    let square = self.mul(&sine, &sine)?;
                    let cosine = self.sub(&integer(1), &square);
                    others.push(self.power(&cosine, power / 2)?);
                }
                Atom::Positive(_) if power > 1 && self.uses(Law::ProductOfChoices) => {
                    powers.insert(atom, 1);
                }
                Atom::Input(..)
                | Atom::Apply(..)
                | Atom::Max(_)
                | Atom::Positive(_)
                | Atom::Sum(_)
                | Atom::Cut(_)
                | Atom::Log2E => {}
            }
        }
        let own: Vec<(AtomId, i32)> = powers.into_iter().filter(|(_, power)| *power != 0).collect();
        if self.excluded(&own) && self.uses(Law::OrdersOfChoices) {
            return Ok(integer(0));
        }
        let mut product: Poly = Rc::from([(self.monos.id(own.into()), Number::ONE)]);
        for other in others {
            product = self.mul(&product, &other)?;
        }
        Ok(product)
    }

    /// Whether a product has two conditions that exclude one another: that a number is above zero, and below it.
    fn excluded(&mut self, factors: &[(AtomId, i32)]) -> bool {
        let positive =
            |atom: &AtomId| if let Atom::Positive(of) = self.atoms.get(*atom) { Some(*of) } else { None };
        let all: Vec<PolyId> = factors.iter().filter_map(|(atom, _)| positive(atom)).collect();
        let opposite = |of: &PolyId| self.polys.find(&self.negated(self.polys.get(*of)));
        all.len() > 1 && all.iter().filter_map(opposite).any(|of| all.contains(&of))
    }

    fn product(&mut self, a: MonoId, b: MonoId) -> Made<Poly> {
        let key = (a.min(b), a.max(b));
        if let Some(known) = self.products.get(&key) {
            return Ok(known.clone());
        }
        let product = if a == ONE || b == ONE {
            Rc::from([(a.max(b), Number::ONE)])
        } else {
            let (left, right) = (self.factors(a), self.factors(b));
            self.charge(left.len() + right.len())?;
            self.reduce(left.iter().chain(right.iter()).copied())?
        };
        self.products.insert(key, product.clone());
        Ok(product)
    }

    /// An operation that is not taken apart.
    pub(crate) fn opaque(&mut self, op: Op, of: &[Poly]) -> Poly {
        let mut ids: Vec<PolyId> = of.iter().map(|form| self.polys.id(form.clone())).collect();
        if op == Op::BitAnd {
            ids.sort_unstable();
        }
        self.atom(Atom::Apply(op, ids.into()))
    }

    pub(crate) fn number(&self, number: &Number) -> Poly {
        if number.is_zero() { Rc::from([]) } else { Rc::from([(ONE, number.clone())]) }
    }

    pub(crate) fn add(&self, a: &Poly, b: &Poly) -> Poly {
        let mut sum = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            if a[i].0 == b[j].0 {
                let both = a[i].1.plus(&b[j].1);
                if !both.is_zero() {
                    sum.push((a[i].0, both));
                }
                i += 1;
                j += 1;
            } else if a[i].0 < b[j].0 {
                sum.push(a[i].clone());
                i += 1;
            } else {
                sum.push(b[j].clone());
                j += 1;
            }
        }
        sum.extend_from_slice(&a[i..]);
        sum.extend_from_slice(&b[j..]);
        sum.into()
    }

    pub(crate) fn sub(&self, a: &Poly, b: &Poly) -> Poly {
        self.add(a, &self.negated(b))
    }

    pub(crate) fn negated(&self, a: &Poly) -> Poly {
        a.iter().map(|(mono, factor)| (*mono, factor.negated())).collect()
    }

    pub(crate) fn scaled(&self, a: &Poly, by: &Number) -> Poly {
        if by.is_zero() {
            return Rc::from([]);
        }
        a.iter().map(|(mono, factor)| (*mono, factor.times(by))).collect()
    }

    pub(crate) fn mul(&mut self, a: &Poly, b: &Poly) -> Made<Poly> {
        for (over, sum) in [(a, b), (b, a)] {
            if let Some(whole) = self.cancelled(over, sum)? {
                return self.mul_terms(over, &whole);
            }
        }
        self.mul_terms(a, b)
    }

    /// A sum of several as one product, if a sum that is multiplied by it has it as a denominator.
    fn cancelled(&mut self, over: &Poly, sum: &Poly) -> Made<Option<Poly>> {
        let denominator =
            |(atom, power): &(AtomId, i32)| *power < 0 && matches!(self.atoms.get(*atom), Atom::Sum(_));
        let mut factors = over.iter().flat_map(|(mono, _)| self.monos.get(*mono).iter());
        if sum.len() < 2 || !factors.any(denominator) {
            return Ok(None);
        }
        let (common, Some(rest)) = self.factor(sum)? else { return Ok(None) };
        let Some(atom) = self.atoms.find(&Atom::Sum(rest)) else { return Ok(None) };
        let mut factors = over.iter().flat_map(|(mono, _)| self.monos.get(*mono).iter());
        let [(mono, factor)] = &*common else { return Ok(None) };
        if !factors.any(|(other, power)| *other == atom && *power < 0) {
            return Ok(None);
        }
        let mut own: Vec<(AtomId, i32)> = self.factors(*mono).to_vec();
        if own.iter().any(|(other, _)| *other == atom) {
            return Ok(None);
        }
        own.push((atom, 1));
        own.sort_unstable();
        Ok(Some(Rc::from([(self.monos.id(own.into()), factor.clone())])))
    }

    fn mul_terms(&mut self, a: &Poly, b: &Poly) -> Made<Poly> {
        let longest = |of: &Poly| of.iter().map(|(_, factor)| factor.digits()).max().unwrap_or(0);
        let digits = longest(a) + longest(b);
        if digits > MAX_DIGITS {
            return Err("a number is too long".to_string());
        }
        self.charge(a.len() * b.len() * digits.div_ceil(DIGITS_A_STEP))?;
        let mut terms: Vec<(MonoId, Number)> = Vec::with_capacity(a.len() * b.len());
        for (left, x) in a.iter() {
            for (right, y) in b.iter() {
                let factor = x.times(y);
                let product = self.product(*left, *right)?;
                self.charge(product.len())?;
                terms.extend(product.iter().map(|(mono, inner)| (*mono, inner.times(&factor))));
            }
        }
        terms.sort_by_key(|(mono, _)| *mono);
        let mut sum: Vec<(MonoId, Number)> = Vec::with_capacity(terms.len());
        for (mono, factor) in terms {
            match sum.last_mut() {
                Some((last, total)) if *last == mono => *total = total.plus(&factor),
                _ => sum.push((mono, factor)),
            }
        }
        sum.retain(|(_, factor)| !factor.is_zero());
        Ok(sum.into())
    }

    /// A whole power; of a number that is not zero, if the power is negative.
    pub(crate) fn power(&mut self, a: &Poly, power: i32) -> Made<Poly> {
        let base = if power < 0 { self.inverse(a)? } else { a.clone() };
        let mut product = self.number(&Number::ONE);
        for _ in 0..power.unsigned_abs().min(MAX_POWER) {
            product = self.mul(&product, &base)?;
        }
        Ok(product)
    }

    /// `1/a`, of a number that is not zero.
    pub(crate) fn inverse(&mut self, a: &Poly) -> Made<Poly> {
        let (common, rest) = self.factor(a)?;
        let [(mono, factor)] = &*common else { return Err("a quotient by zero".to_string()) };
        let factors = self.factors(*mono);
        let sum = rest.map(|rest| (self.atoms.id(Atom::Sum(rest)), -1));
        let inverse = self.reduce(factors.iter().map(|(atom, power)| (*atom, -power)).chain(sum))?;
        let factor = factor.recip().ok_or("a quotient by zero")?;
        Ok(self.scaled(&inverse, &factor))
    }

    /// `a/b`, where `b` is not zero.
    pub(crate) fn quotient(&mut self, a: &Poly, b: &Poly) -> Made<Poly> {
        if a.len() > 1 && b.len() > 1 {
            let (above, below) = (self.factor(a)?, self.factor(b)?);
            if above.1.is_some() && above.1 == below.1 {
                let inverse = self.inverse(&below.0)?;
                return self.mul(&above.0, &inverse);
            }
        }
        let inverse = self.inverse(b)?;
        self.mul(a, &inverse)
    }

    /// A sum as one product, times a remaining sum of several if there is one. The product has the least power of each
    /// atom, and the least coefficient of each part of an exponent. No product for zero.
    pub(crate) fn factor(&mut self, a: &Poly) -> Made<(Poly, Option<PolyId>)> {
        if a.len() < 2 {
            return Ok((a.clone(), None));
        }
        self.charge(a.len())?;
        let mut least: HashMap<AtomId, (usize, i32)> = HashMap::new();
        let mut exponent: HashMap<MonoId, (usize, Number)> = HashMap::new();
        let powers = self.uses(Law::ProductOfPowers) && self.uses(Law::ReciprocalOfPower);
        for (mono, _) in a.iter() {
            for (atom, power) in self.factors(*mono).iter() {
                if let Atom::Apply(Op::Exp2, of) = self.atoms.get(*atom)
                    && *power == 1
                    && powers
                {
                    for (part, factor) in self.poly(of[0]).iter() {
                        let known = exponent.entry(*part).or_insert_with(|| (0, factor.clone()));
                        known.0 += 1;
                        known.1 = known.1.clone().min(factor.clone());
                    }
                } else {
                    let known = least.entry(*atom).or_insert((0, *power));
                    *known = (known.0 + 1, known.1.min(*power));
                }
            }
        }
        let of_all = |(count, power): (usize, i32)| if count < a.len() { power.min(0) } else { power };
        let common: Vec<(AtomId, i32)> = least
            .into_iter()
            .map(|(atom, found)| (atom, of_all(found)))
            .filter(|(_, power)| *power != 0)
            .collect();
        let mut parts: Vec<(MonoId, Number)> = exponent
            .into_iter()
            .map(|(mono, (count, factor))| {
                (mono, if count < a.len() { factor.min(Number::ZERO) } else { factor })
            })
            .filter(|(_, factor)| !factor.is_zero())
            .collect();
        parts.sort_by_key(|(mono, _)| *mono);
        let exponent: Poly = parts.into();
        let mut outer = self.reduce(common.iter().copied())?;
        let mut inner = self.reduce(common.iter().map(|(atom, power)| (*atom, -power)))?;
        if !exponent.is_empty() {
            let (raised, lowered) = (self.exp2(&exponent)?, self.exp2(&self.negated(&exponent))?);
            outer = self.mul(&outer, &raised)?;
            inner = self.mul(&inner, &lowered)?;
        }
        let one = self.number(&Number::ONE);
        if outer.len() != 1 || inner.len() != 1 || self.mul(&outer, &inner)? != one {
            (outer, inner) = (one.clone(), one);
        }
        let rest = self.mul_terms(a, &inner)?;
        let Some((_, leading)) = rest.first().cloned() else { return Err("a sum vanishes".to_string()) };
        let outer = self.scaled(&outer, &leading);
        let rest = self.scaled(&rest, &leading.recip().unwrap_or(Number::ONE));
        if rest.len() == 1 {
            return Ok((self.mul(&outer, &rest)?, None));
        }
        Ok((outer, Some(self.polys.id(rest))))
    }

    /// `2^a`
    pub(crate) fn exp2(&mut self, a: &Poly) -> Made<Poly> {
        let mut product = self.number(&Number::ONE);
        let mut rest: Vec<(MonoId, Number)> = Vec::with_capacity(a.len());
        for (mono, factor) in a.iter() {
            let whole = factor.floor();
            if *mono == ONE && !whole.is_zero() && self.uses(Law::WholeSummandOfExponent) {
                let shift = whole.small().and_then(Number::power_of_two).ok_or("an exponent is too large")?;
                product = self.scaled(&product, &shift);
                let fraction = factor.plus(&whole.negated());
                if !fraction.is_zero() {
                    rest.push((*mono, fraction));
                }
                continue;
            }
            let factors = self.factors(*mono);
            if let [(atom, 1)] = &*factors
                && let Atom::Apply(Op::Log2, of) = self.atoms.get(*atom).clone()
                && let Some(power) = factor.small().and_then(|power| i32::try_from(power).ok())
            {
                let of = self.poly(of[0]);
                if self.sign(&of).positive() && self.uses(Law::PowerOfLogarithm) {
                    let power = self.power(&of, power)?;
                    product = self.mul(&product, &power)?;
                    continue;
                }
            }
            rest.push((*mono, factor.clone()));
        }
        if rest.is_empty() {
            return Ok(product);
        }
        let exponent = self.polys.id(rest.into());
        let power = self.atom(Atom::Apply(Op::Exp2, Box::from([exponent])));
        self.mul(&product, &power)
    }

    /// `log₂ a`, where `a` is positive.
    pub(crate) fn log2(&mut self, a: &Poly) -> Made<Poly> {
        let (common, rest) = self.factor(a)?;
        let [(mono, factor)] = &*common else { return Err("the logarithm of zero".to_string()) };
        let mut sum = self.number(&Number::ZERO);
        let mut inside = self.number(&Number::ONE);
        let mut scale = factor.clone();
        let twos = two_adic(&scale);
        if twos != 0 && self.uses(Law::LogarithmOfScaled) {
            sum = self.number(&Number::Small(twos));
            scale = scale.times(&Number::power_of_two(-twos).ok_or("a number is too large")?);
        }
        for (atom, power) in self.factors(*mono).iter() {
            let times = Number::Small((*power).into());
            let own = self.single(*atom, 1);
            if let Atom::Apply(Op::Exp2, of) = self.atoms.get(*atom).clone()
                && self.uses(Law::LogarithmOfPower)
            {
                let exponent = self.poly(of[0]);
                sum = self.add(&sum, &self.scaled(&exponent, &times));
            } else if *power % 2 == 0 && !self.sign(&own).positive() && self.uses(Law::LogarithmOfEvenPower) {
                let opposite = self.negated(&own);
                let size = self.max(vec![own, opposite])?;
                let size = self.polys.id(size);
                let logarithm = self.atom(Atom::Apply(Op::Log2, Box::from([size])));
                sum = self.add(&sum, &self.scaled(&logarithm, &times));
            } else if self.sign(&own).positive() && self.uses(Law::LogarithmOfQuotient) {
                let own = self.polys.id(own);
                let logarithm = self.atom(Atom::Apply(Op::Log2, Box::from([own])));
                sum = self.add(&sum, &self.scaled(&logarithm, &times));
            } else {
                let own = self.single(*atom, *power);
                inside = self.mul(&inside, &own)?;
            }
        }
        if let Some(rest) = rest {
            let rest = self.poly(rest);
            inside = self.mul(&inside, &rest)?;
        }
        inside = self.scaled(&inside, &scale);
        if inside != self.number(&Number::ONE) {
            let inside = self.polys.id(inside);
            let logarithm = self.atom(Atom::Apply(Op::Log2, Box::from([inside])));
            sum = self.add(&sum, &logarithm);
        }
        Ok(sum)
    }

    /// `√a`, where `a` is not negative.
    pub(crate) fn sqrt(&mut self, a: &Poly) -> Made<Poly> {
        let (common, rest) = self.factor(a)?;
        let [(mono, factor)] = &*common else { return Ok(a.clone()) };
        let mut outside = self.number(&Number::ONE);
        let mut inside = outside.clone();
        match factor.abs().root().filter(|_| self.uses(Law::RootOfScaledByNumber)) {
            Some(root) => {
                outside = self.number(&root);
                inside = self.number(&Number::Small(factor.signum()));
            }
            None => inside = self.scaled(&inside, factor),
        }
        for (atom, power) in self.factors(*mono).iter() {
            if let Atom::Apply(Op::Exp2, of) = self.atoms.get(*atom).clone()
                && *power == 1
                && self.uses(Law::RootOfScaledByPower)
            {
                let exponent = self.scaled(&self.poly(of[0]), &half());
                let root = self.exp2(&exponent)?;
                outside = self.mul(&outside, &root)?;
            } else if power % 2 == 0 && self.uses(Law::RootOfSquare) {
                let root = self.single(*atom, power / 2);
                let opposite = self.negated(&root);
                let root = self.max(vec![root, opposite])?;
                outside = self.mul(&outside, &root)?;
            } else {
                let own = self.single(*atom, *power);
                inside = self.mul(&inside, &own)?;
            }
        }
        if let Some(rest) = rest {
            let rest = self.poly(rest);
            inside = self.mul(&inside, &rest)?;
        }
        if let [(ONE, number)] = &*inside
            && let Some(root) = number.root()
        {
            return Ok(self.scaled(&outside, &root));
        }
        let inside = self.polys.id(inside);
        let root = self.atom(Atom::Apply(Op::Sqrt, Box::from([inside])));
        self.mul(&outside, &root)
    }

    /// The largest of some numbers: a set of sums, without what all or most of them have in common.
    pub(crate) fn max(&mut self, arms: Vec<Poly>) -> Made<Poly> {
        let mut open = arms;
        let mut found: BTreeSet<PolyId> = BTreeSet::new();
        while let Some(arm) = open.pop() {
            if open.len() + found.len() > MAX_ARMS {
                return Err("a maximum has too many arms".to_string());
            }
            self.charge(arm.len())?;
            let inner = arm.iter().find_map(|(mono, factor)| match &*self.factors(*mono) {
                [(atom, 1)] if factor.signum() > 0 => {
                    let Atom::Max(inner) = self.atoms.get(*atom) else { return None };
                    Some((*mono, factor.clone(), inner.clone()))
                }
                _ => None,
            });
            match inner {
                Some((mono, factor, inner))
                    if (arm.len() == 1 || self.uses(Law::MaximumOfShifted))
                        && (factor == Number::ONE || self.uses(Law::MaximumOfScaled)) =>
                {
                    let rest: Poly = arm.iter().filter(|(other, _)| *other != mono).cloned().collect();
                    for inner in inner {
                        let scaled = self.scaled(&self.poly(inner), &factor);
                        open.push(self.add(&scaled, &rest));
                    }
                }
                Some(_) | None => {
                    found.insert(self.polys.id(arm));
                }
            }
        }
        let mut arms: Vec<Poly> = found.iter().map(|arm| self.poly(*arm)).collect();
        self.drop_smaller(&mut arms)?;
        if let [one] = arms.as_slice() {
            return Ok(one.clone());
        }
        let shared =
            if self.uses(Law::MaximumOfShifted) { shared(&arms) } else { self.number(&Number::ZERO) };
        arms = arms.iter().map(|arm| self.sub(arm, &shared)).collect();
        let (outside, inside) = self.positive_factor(&arms)?;
        for arm in &mut arms {
            *arm = self.mul(arm, &inside)?;
        }
        let largest = arms.iter().flat_map(|arm| arm.iter().map(|(_, factor)| factor.abs())).max();
        let scale = largest.filter(|_| self.uses(Law::MaximumOfScaled)).unwrap_or(Number::ONE);
        let by = scale.recip().unwrap_or(Number::ONE);
        let arms: BTreeSet<PolyId> = arms.iter().map(|arm| self.polys.id(self.scaled(arm, &by))).collect();
        let value = self.atom(Atom::Max(arms.into_iter().collect()));
        let value = self.mul(&value, &outside)?;
        Ok(self.add(&self.scaled(&value, &scale), &shared))
    }

    /// The powers of positive atoms that all terms of all arms share, and their reciprocal.
    fn positive_factor(&mut self, arms: &[Poly]) -> Made<(Poly, Poly)> {
        let mut terms = arms.iter().flat_map(|arm| arm.iter().map(|(mono, _)| self.factors(*mono)));
        let mut common: Vec<(AtomId, i32)> = terms.next().iter().flat_map(|mono| mono.to_vec()).collect();
        for mono in terms {
            common.retain(|factor| mono.contains(factor));
        }
        common.retain(|(atom, _)| {
            let own = self.single(*atom, 1);
            self.sign(&own).positive()
        });
        if common.is_empty() || !self.uses(Law::MaximumOfScaled) {
            common.clear();
        }
        let outside = self.reduce(common.iter().copied())?;
        let inside = self.reduce(common.iter().map(|(atom, power)| (*atom, -power)))?;
        Ok((outside, inside))
    }

    /// Drops arms that are nowhere larger than another one.
    fn drop_smaller(&mut self, arms: &mut Vec<Poly>) -> Made<()> {
        if arms.len() > FEW_ARMS {
            return Ok(());
        }
        let mut at = 0;
        while at < arms.len() && arms.len() > 1 {
            let mut covered = false;
            for other in (0..arms.len()).filter(|other| *other != at) {
                self.charge(arms[at].len())?;
                let gap = self.sub(&arms[other], &arms[at]);
                covered |= self.sign(&gap).not_negative();
            }
            if covered && self.uses(Law::MaximumBySign) {
                arms.remove(at);
            } else {
                at += 1;
            }
        }
        Ok(())
    }

    /// Whether two sums are equal, as rational functions: also after both were multiplied by their denominators, which
    /// are not zero.
    pub(crate) fn equal(&mut self, a: &Poly, b: &Poly) -> Made<bool> {
        let mut gap = self.sub(a, b);
        for _ in 0..MAX_ROUNDS {
            let mut below: BTreeMap<PolyId, i32> = BTreeMap::new();
            for (mono, _) in gap.iter() {
                for (atom, power) in self.factors(*mono).iter().filter(|(_, power)| *power < 0) {
                    if let Atom::Sum(sum) = self.atoms.get(*atom) {
                        let least = below.entry(*sum).or_insert(0);
                        *least = (*least).min(*power);
                    }
                }
            }
            // One after the other: a product of sums may cancel before the next one makes it longer.
            let Some((sum, power)) = below.into_iter().next() else { break };
            let atom = self.atoms.id(Atom::Sum(sum));
            let mut cleared = self.number(&Number::ZERO);
            for (mono, factor) in gap.clone().iter() {
                self.charge(1)?;
                let own = self.factors(*mono);
                let product = self.reduce(own.iter().copied().chain([(atom, -power)]))?;
                cleared = self.add(&cleared, &self.scaled(&product, factor));
                self.charge(cleared.len())?;
            }
            gap = cleared;
        }
        Ok(gap.is_empty() || self.implies(&gap, Signs::ZERO)?)
    }
}

/// Denominators are multiplied out in so many rounds at most.
const MAX_ROUNDS: usize = 32;

pub(crate) fn integer(number: i64) -> Poly {
    if number == 0 { Rc::from([]) } else { Rc::from([(ONE, Number::Small(number))]) }
}

pub(crate) fn half() -> Number {
    Number::of(rug::Rational::from((1, 2)))
}

/// The power of two in a number.
fn two_adic(number: &Number) -> i64 {
    let value = number.rational();
    let twos = |whole: &rug::Integer| i64::from(whole.find_one(0).unwrap_or(0));
    if value.cmp0().is_eq() { 0 } else { twos(value.numer()) - twos(value.denom()) }
}

/// For each product in some sums, the coefficient that most of them have for it, the least of several.
fn shared(arms: &[Poly]) -> Poly {
    let mut factors: BTreeMap<MonoId, Vec<Number>> = BTreeMap::new();
    for (mono, factor) in arms.iter().flat_map(|arm| arm.iter()) {
        factors.entry(*mono).or_default().push(factor.clone());
    }
    let mut shared = Vec::new();
    for (mono, mut values) in factors {
        values.resize(arms.len(), Number::ZERO);
        values.sort();
        let runs = values.chunk_by(|a, b| a == b);
        let longest = runs.fold(&values[..0], |best, run| if run.len() > best.len() { run } else { best });
        if let Some(value) = longest.first().filter(|value| !value.is_zero()) {
            shared.push((mono, value.clone()));
        }
    }
    shared.into()
}
