//! Forms of terms: sums of products of powers of atoms, with exact coefficients.
//!
//! The laws of rings and fields hold by construction, as does that a maximum is a set. Every other law is applied by
//! one of the functions here, and only if the proof may [use](Forms::uses) it.

use crate::laws::Laws;
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
    /// An element of an input, and its signs.
    Input(u32, u64, Signs),
    /// A function of numbers.
    Apply(Op, Box<[PolyId]>),
    /// The largest of several numbers.
    Max(Box<[PolyId]>),
    /// 1 where a number is positive, else 0.
    Positive(PolyId),
    /// A sum of several products that is not zero: a denominator.
    Sum(PolyId),
    /// The value of a term of the reference, and of those that were proved equal to it, and its signs.
    Cut(u32, Signs),
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
    /// Of pairs of products, in one case.
    pub(crate) products: HashMap<(MonoId, MonoId), Poly>,
    pub(crate) facts: Facts,
    allowed: Laws,
    pub(crate) used: Laws,
    pub(crate) left: u64,
    depth: usize,
}

/// Products of longer numbers, in binary digits, are refused; and so many digits are multiplied in a step.
const MAX_DIGITS: usize = 1 << 22;
const DIGITS_A_STEP: usize = 1 << 8;
/// A power of an atom is no larger.
const MAX_POWER: u32 = 1 << 12;
/// Powers of what was computed from powers are nested no deeper.
const MAX_DEPTH: usize = 48;
/// A maximum has no more arms.
const MAX_ARMS: usize = 1 << 12;
/// Of a maximum with more arms, not every two are compared.
const FEW_ARMS: usize = 24;

impl Forms {
    pub(crate) fn new(allowed: &Laws, steps: u64) -> Forms {
        let mut monos = Interned::new();
        monos.id(Rc::from([]));
        Forms {
            atoms: Interned::new(),
            monos,
            polys: Interned::new(),
            products: HashMap::new(),
            facts: Facts::default(),
            allowed: allowed.clone(),
            used: Laws::new(),
            left: steps,
            depth: 0,
        }
    }

    /// Whether a law may be used; if so, it counts as used.
    pub(crate) fn uses(&mut self, law: &'static str) -> bool {
        self.allowed.contains(law) && (self.used.contains(law) || self.used.insert(law))
    }

    pub(crate) fn charge(&mut self, steps: usize) -> Made<()> {
        let steps = steps as u64 + 1;
        let enough = steps <= self.left;
        self.left = self.left.saturating_sub(steps);
        if enough { Ok(()) } else { Err("the checker's steps are used up".to_string()) }
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
        self.depth += 1;
        let made = self.reduce_within(factors);
        self.depth -= 1;
        made
    }

    fn reduce_within(&mut self, factors: impl Iterator<Item = (AtomId, i32)>) -> Made<Poly> {
        let mut powers: BTreeMap<AtomId, i32> = BTreeMap::new();
        for (atom, power) in factors {
            let sum = powers.entry(atom).or_insert(0);
            *sum += power;
            if sum.unsigned_abs() > MAX_POWER || self.depth > MAX_DEPTH {
                return Err("a power is too large, or nested too deeply".to_string());
            }
        }
        powers.retain(|_, power| *power != 0);
        let mut others: Vec<Poly> = Vec::new();
        let exponent = |atom: &AtomId| self.exponent(*atom);
        let exps: Vec<(AtomId, i32, Poly)> =
            powers.iter().filter_map(|(atom, power)| Some((*atom, *power, exponent(atom)?))).collect();
        let needed = [
            (exps.len() > 1, "product_of_powers"),
            (exps.iter().any(|(_, power, _)| power.abs() > 1), "power_of_power"),
            (exps.iter().any(|(_, power, _)| *power < 0), "reciprocal_of_power"),
        ];
        let mut needed = needed.into_iter().filter(|(is, _)| *is).map(|(_, law)| law).peekable();
        if needed.peek().is_some() && needed.all(|law| self.uses(law)) {
            let mut sum = integer(0);
            for (atom, power, exponent) in exps {
                powers.remove(&atom);
                sum = self.add(&sum, &self.scaled(&exponent, &Number::Small(power.into())));
                self.charge(sum.len())?;
            }
            others.push(self.exp2(&sum)?);
        }
        for (atom, power) in powers.clone() {
            let own = self.atoms.get(atom).clone();
            if let (Atom::Sum(sum), true) = (&own, power > 0) {
                powers.remove(&atom);
                let sum = self.poly(*sum);
                others.push(self.power(&sum, power)?);
            } else if let (Atom::Apply(Op::Sqrt, under), false) = (&own, (0..2).contains(&power)) {
                let under = self.poly(under[0]);
                if self.sign(&under).within(Signs::NOT_NEGATIVE) && self.uses("square_of_root") {
                    powers.insert(atom, power.rem_euclid(2));
                    others.push(self.power(&under, power.div_euclid(2))?);
                }
            } else if matches!(own, Atom::Positive(_)) && power > 1 && self.uses("product_of_choices") {
                powers.insert(atom, 1);
            }
        }
        let own: Vec<(AtomId, i32)> = powers.into_iter().filter(|(_, power)| *power != 0).collect();
        let mut product: Poly = Rc::from([(self.monos.id(own.into()), Number::ONE)]);
        for other in others {
            product = self.mul(&product, &other)?;
        }
        Ok(product)
    }

    /// The exponent of a power of two.
    fn exponent(&self, atom: AtomId) -> Option<Poly> {
        if let Atom::Apply(Op::Exp2, of) = self.atoms.get(atom) { Some(self.poly(of[0])) } else { None }
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
        let ids: Vec<PolyId> = of.iter().map(|form| self.polys.id(form.clone())).collect();
        self.atom(Atom::Apply(op, ids.into()))
    }

    pub(crate) fn number(&self, number: &Number) -> Poly {
        if number.is_zero() { Rc::from([]) } else { Rc::from([(ONE, number.clone())]) }
    }

    pub(crate) fn add(&self, a: &Poly, b: &Poly) -> Poly {
        if b.is_empty() { a.clone() } else { collected([&**a, &**b].concat()) }
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
                terms.extend(product.iter().map(|(mono, inner)| (*mono, factor.times(inner))));
            }
        }
        Ok(collected(terms))
    }

    /// A whole power; of a number that is not zero, if the power is negative.
    pub(crate) fn power(&mut self, a: &Poly, power: i32) -> Made<Poly> {
        if power.unsigned_abs() > MAX_POWER {
            return Err("a power is too large".to_string());
        }
        let base = if power < 0 { self.inverse(a)? } else { a.clone() };
        (0..power.unsigned_abs()).try_fold(integer(1), |product, _| self.mul(&product, &base))
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
        let mut least: BTreeMap<AtomId, Vec<Number>> = BTreeMap::new();
        let mut exponent: BTreeMap<MonoId, Vec<Number>> = BTreeMap::new();
        let powers = self.uses("product_of_powers") && self.uses("reciprocal_of_power");
        for (atom, power) in a.iter().flat_map(|(mono, _)| self.factors(*mono).to_vec()) {
            match self.exponent(atom) {
                Some(of) if power == 1 && powers => {
                    of.iter().for_each(|(part, by)| exponent.entry(*part).or_default().push(by.clone()));
                }
                _ => least.entry(atom).or_default().push(Number::Small(power.into())),
            }
        }
        let least_of = |mut values: Vec<Number>| {
            values.resize(a.len(), Number::ZERO);
            values.into_iter().min().unwrap_or(Number::ZERO)
        };
        let power = |values| least_of(values).small().map_or(0, |power| power as i32);
        let common: Vec<(AtomId, i32)> = least.into_iter().map(|(atom, of)| (atom, power(of))).collect();
        let parts = exponent.into_iter().map(|(mono, of)| (mono, least_of(of)));
        let exponent = collected(parts.collect());
        let mut outer = self.reduce(common.iter().copied())?;
        let mut inner = self.reduce(common.iter().map(|(atom, power)| (*atom, -power)))?;
        let (raised, lowered) = (self.exp2(&exponent)?, self.exp2(&self.negated(&exponent))?);
        (outer, inner) = (self.mul(&outer, &raised)?, self.mul(&inner, &lowered)?);
        if outer.len() != 1 || inner.len() != 1 || self.mul(&outer, &inner)? != integer(1) {
            (outer, inner) = (integer(1), integer(1));
        }
        let mut rest = self.mul(a, &inner)?;
        if !self.denominators(&rest).is_subset(&self.denominators(a)) {
            (outer, rest) = (integer(1), a.clone());
        }
        let Some((_, leading)) = rest.first() else { return Err("a sum vanishes".to_string()) };
        let outer = self.scaled(&outer, leading);
        let rest = self.scaled(&rest, &leading.recip().ok_or("a sum vanishes")?);
        if rest.len() == 1 {
            return Ok((self.mul(&outer, &rest)?, None));
        }
        Ok((outer, Some(self.polys.id(rest))))
    }

    /// The atoms by which a sum is divided: they are not zero.
    fn denominators(&self, a: &Poly) -> BTreeSet<AtomId> {
        let factors = a.iter().flat_map(|(mono, _)| self.monos.get(*mono).iter());
        factors.filter(|(_, power)| *power < 0).map(|(atom, _)| *atom).collect()
    }

    /// `2^a`
    pub(crate) fn exp2(&mut self, a: &Poly) -> Made<Poly> {
        let whole = a.first().filter(|(mono, _)| *mono == ONE).map_or(Number::ZERO, |(_, one)| one.floor());
        let whole =
            if whole.is_zero() || self.uses("whole_summand_of_exponent") { whole } else { Number::ZERO };
        let scale = whole.small().and_then(Number::power_of_two).ok_or("an exponent is too large")?;
        let rest = self.sub(a, &self.number(&whole));
        let power = if rest.is_empty() { integer(1) } else { self.opaque(Op::Exp2, &[rest]) };
        Ok(self.scaled(&power, &scale))
    }

    /// `log₂ a`, where `a` is positive.
    pub(crate) fn log2(&mut self, a: &Poly) -> Made<Poly> {
        let (common, rest) = self.factor(a)?;
        let (mut sum, mut inside) = (integer(0), common.clone());
        let factors = common.first().map(|(mono, _)| self.factors(*mono));
        for (atom, power) in factors.iter().flat_map(|factors| factors.to_vec()) {
            if let (Some(exponent), true) = (self.exponent(atom), self.uses("logarithm_of_power")) {
                sum = self.add(&sum, &self.scaled(&exponent, &Number::Small(power.into())));
                let own = self.single(atom, -power);
                inside = self.mul(&inside, &own)?;
            }
        }
        let rest = rest.map_or(integer(1), |rest| self.poly(rest));
        let inside = self.mul(&inside, &rest)?;
        if inside == integer(1) {
            return Ok(sum);
        }
        let logarithm = self.opaque(Op::Log2, &[inside]);
        Ok(self.add(&sum, &logarithm))
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
                    if (arm.len() == 1 || self.uses("maximum_of_shifted"))
                        && (factor == Number::ONE || self.uses("maximum_of_scaled")) =>
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
        let shared = if self.uses("maximum_of_shifted") { shared(&arms) } else { self.number(&Number::ZERO) };
        arms = arms.iter().map(|arm| self.sub(arm, &shared)).collect();
        let (outside, inside) = self.positive_factor(&arms)?;
        for arm in &mut arms {
            *arm = self.mul(arm, &inside)?;
        }
        let largest = arms.iter().flat_map(|arm| arm.iter().map(|(_, factor)| factor.abs())).max();
        let scale = largest.filter(|_| self.uses("maximum_of_scaled")).unwrap_or(Number::ONE);
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
            self.sign(&own) == Signs::POSITIVE
        });
        if !self.uses("maximum_of_scaled") {
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
                covered |= self.sign(&gap).within(Signs::NOT_NEGATIVE);
            }
            if covered && self.uses("maximum_by_sign") {
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
        // One after the other: a product of sums may cancel before the next one makes it longer.
        loop {
            let below = self.denominators(&gap);
            let Some(atom) = below.into_iter().find(|atom| matches!(self.atoms.get(*atom), Atom::Sum(_)))
            else {
                break;
            };
            let own =
                |factors: &Mono| factors.iter().find(|(other, _)| *other == atom).map_or(0, |own| own.1);
            let least = gap.iter().map(|(mono, _)| own(self.monos.get(*mono))).min().unwrap_or(0);
            let mut cleared = integer(0);
            for (mono, factor) in gap.iter() {
                self.charge(1)?;
                let own = self.factors(*mono);
                let product = self.reduce(own.iter().copied().chain([(atom, -least)]))?;
                cleared = self.add(&cleared, &self.scaled(&product, factor));
                self.charge(cleared.len())?;
            }
            gap = cleared;
        }
        Ok(self.sign(&gap) == Signs::ZERO)
    }
}

/// The sum of some products with coefficients.
fn collected(mut terms: Vec<(MonoId, Number)>) -> Poly {
    terms.sort_by_key(|(mono, _)| *mono);
    let mut sum: Vec<(MonoId, Number)> = Vec::with_capacity(terms.len());
    for (mono, factor) in terms {
        match sum.last_mut() {
            Some((last, total)) if *last == mono => *total = total.plus(&factor),
            _ => sum.push((mono, factor)),
        }
    }
    sum.retain(|(_, factor)| !factor.is_zero());
    sum.into()
}

pub(crate) fn integer(number: i64) -> Poly {
    if number == 0 { Rc::from([]) } else { Rc::from([(ONE, Number::Small(number))]) }
}

/// The power of two in a number.
pub(crate) fn two_adic(number: &Number) -> i64 {
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
    for (mono, mut values) in factors.into_iter().filter(|(_, values)| values.len() * 2 >= arms.len()) {
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
