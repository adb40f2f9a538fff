//! Which signs a form can have, from its atoms and from what is assumed.

use crate::form::{Atom, AtomId, Forms, Made, ONE, Poly, PolyId};
use crate::number::Number;
use crate::text::{Demand, Op};
use std::collections::HashMap;

/// A set of signs: below, at and above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signs(u8);

impl Signs {
    const NEGATIVE: Signs = Signs(1);
    const ZERO: Signs = Signs(2);
    pub(crate) const POSITIVE: Signs = Signs(4);
    const ANY: Signs = Signs(7);
    pub(crate) const NOT_NEGATIVE: Signs = Signs(6);
    pub(crate) const NOT_POSITIVE: Signs = Signs(3);
    pub(crate) const NONZERO: Signs = Signs(5);

    pub(crate) fn of(demand: Demand) -> Signs {
        match demand {
            Demand::Nonzero => Signs::NONZERO,
            Demand::NotNegative => Signs::NOT_NEGATIVE,
            Demand::Positive => Signs::POSITIVE,
        }
    }

    fn of_number(number: &Number) -> Signs {
        match number.signum() {
            -1 => Signs::NEGATIVE,
            0 => Signs::ZERO,
            _ => Signs::POSITIVE,
        }
    }

    pub(crate) fn from_declared([below, at, above]: [bool; 3]) -> Signs {
        Signs(u8::from(below) | u8::from(at) << 1 | u8::from(above) << 2)
    }

    pub(crate) fn within(self, other: Signs) -> bool {
        self.0 & !other.0 == 0
    }

    pub(crate) fn positive(self) -> bool {
        self == Signs::POSITIVE
    }

    pub(crate) fn zero(self) -> bool {
        self == Signs::ZERO
    }

    pub(crate) fn nonzero(self) -> bool {
        self.within(Signs::NONZERO)
    }

    pub(crate) fn not_negative(self) -> bool {
        self.within(Signs::NOT_NEGATIVE)
    }

    pub(crate) fn not_positive(self) -> bool {
        self.within(Signs::NOT_POSITIVE)
    }

    fn and(self, other: Signs) -> Signs {
        Signs(self.0 & other.0)
    }

    fn or(self, other: Signs) -> Signs {
        Signs(self.0 | other.0)
    }

    fn flipped(self) -> Signs {
        Signs(self.0 & 2 | self.0 >> 2 & 1 | self.0 << 2 & 4)
    }

    fn times(self, other: Signs) -> Signs {
        let mut made = Signs(0);
        for (sign, value) in
            [(Signs::NEGATIVE, other.flipped()), (Signs::ZERO, Signs::ZERO), (Signs::POSITIVE, other)]
        {
            if self.0 & sign.0 != 0 {
                made = made.or(value);
            }
        }
        made
    }

    fn plus(self, other: Signs) -> Signs {
        match (self, other) {
            (Signs::ZERO, sign) | (sign, Signs::ZERO) => sign,
            (a, b) if a.not_negative() && b.not_negative() => {
                if a.positive() || b.positive() {
                    Signs::POSITIVE
                } else {
                    Signs::NOT_NEGATIVE
                }
            }
            (a, b) if a.not_positive() && b.not_positive() => {
                if a == Signs::NEGATIVE || b == Signs::NEGATIVE {
                    Signs::NEGATIVE
                } else {
                    Signs::NOT_POSITIVE
                }
            }
            _ => Signs::ANY,
        }
    }
}

/// What is known of signs: declared, demanded by the reference, or assumed in a case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    inputs: Vec<Signs>,
    cuts: HashMap<u32, Signs>,
    sums: HashMap<PolyId, Signs>,
    atoms: HashMap<AtomId, Signs>,
}

impl Facts {
    pub(crate) fn new(inputs: Vec<Signs>) -> Facts {
        Facts { inputs, ..Facts::default() }
    }

    pub(crate) fn set_cut(&mut self, cut: u32, signs: Signs) {
        self.cuts.insert(cut, signs);
    }
}

/// Atoms nested more deeply may have any sign.
const MAX_DEPTH: u32 = 6;

impl Forms {
    /// The signs that a sum can have.
    pub(crate) fn sign(&mut self, a: &Poly) -> Signs {
        self.sign_within(a, 0)
    }

    fn sign_within(&mut self, a: &Poly, depth: u32) -> Signs {
        let mut signs = Signs::ZERO;
        for (mono, factor) in a.iter() {
            let mut own = Signs::of_number(factor);
            for (atom, power) in self.factors(*mono).iter() {
                let base = self.atom_signs(*atom, depth);
                // A power is below zero of a number only that is not zero.
                let base = if *power < 0 { base.and(Signs::NONZERO) } else { base };
                let even = if base.nonzero() { Signs::POSITIVE } else { Signs::NOT_NEGATIVE };
                own = own.times(if power % 2 == 0 { even } else { base });
            }
            signs = signs.plus(own);
        }
        if !self.facts.sums.is_empty() && !a.is_empty() {
            self.draw(4 * a.len());
            let unit = self.unit(a, true);
            let opposite = self.polys.id(self.negated(&unit));
            let unit = self.polys.id(unit);
            let known = |of: &PolyId| self.facts.sums.get(of).copied().unwrap_or(Signs::ANY);
            signs = signs.and(known(&unit)).and(known(&opposite).flipped());
        }
        signs
    }

    fn atom_signs(&mut self, atom: AtomId, depth: u32) -> Signs {
        let known = self.facts.atoms.get(&atom).copied().unwrap_or(Signs::ANY);
        self.draw(1);
        if depth > MAX_DEPTH || self.left() == 0 {
            return known;
        }
        let own = match self.atoms.get(atom).clone() {
            Atom::Input(input, _) => self.facts.inputs.get(input as usize).copied().unwrap_or(Signs::ANY),
            Atom::Cut(cut) => self.facts.cuts.get(&cut).copied().unwrap_or(Signs::ANY),
            Atom::Log2E | Atom::Apply(Op::Exp2, _) => Signs::POSITIVE,
            Atom::Apply(Op::Sqrt, under) => {
                let under = self.poly(under[0]);
                if self.sign_within(&under, depth + 1).positive() {
                    Signs::POSITIVE
                } else {
                    Signs::NOT_NEGATIVE
                }
            }
            Atom::Apply(Op::Tanh | Op::Erf | Op::Atan | Op::Cbrt, of) => {
                let of = self.poly(of[0]);
                self.sign_within(&of, depth + 1)
            }
            Atom::Sum(sum) => {
                let sum = self.poly(sum);
                self.sign_within(&sum, depth + 1).and(Signs::NONZERO)
            }
            Atom::Select(_, a, b) => {
                let (a, b) = (self.poly(a), self.poly(b));
                self.sign_within(&a, depth + 1).or(self.sign_within(&b, depth + 1))
            }
            Atom::Max(arms) => {
                let mut all = Signs(0);
                let mut least = Signs::ANY;
                for arm in arms {
                    let arm = self.poly(arm);
                    let signs = self.sign_within(&arm, depth + 1);
                    all = all.or(signs);
                    if signs.not_negative() {
                        least =
                            least.and(if signs.positive() { Signs::POSITIVE } else { Signs::NOT_NEGATIVE });
                    }
                }
                all.and(least)
            }
            Atom::Apply(..) => Signs::ANY,
        };
        own.and(known)
    }

    /// Assumes signs of a sum. Whether they can be true.
    pub(crate) fn learn(&mut self, a: &Poly, signs: Signs) -> Made<bool> {
        let now = self.sign(a).and(signs);
        if a.is_empty() || now == Signs(0) {
            return Ok(now != Signs(0));
        }
        let unit = self.polys.id(self.unit(a, true));
        self.facts.sums.insert(unit, now);
        let inner = self.without_positive(a)?;
        if inner != *a && !self.learn(&inner, now)? {
            return Ok(false);
        }
        if let [(mono, factor)] = &**a
            && let [(atom, power)] = &*self.factors(*mono)
            && power % 2 != 0
        {
            let own = if factor.signum() < 0 { now.flipped() } else { now };
            self.learn_atom(*atom, own);
        }
        if now.nonzero() {
            self.learn_nonzero(a)?;
        }
        Ok(true)
    }

    /// A number of the same sign: without factors that are positive.
    fn without_positive(&mut self, a: &Poly) -> Made<Poly> {
        let (common, rest) = self.factor(a)?;
        let [(mono, factor)] = &*common else { return Ok(a.clone()) };
        let mut inner = self.number(&Number::Small(factor.signum()));
        for (atom, power) in self.factors(*mono).iter() {
            if !self.atom_signs(*atom, 0).positive() {
                let own = self.single(*atom, *power);
                inner = self.mul(&inner, &own)?;
            }
        }
        match rest {
            Some(rest) => {
                let rest = self.poly(rest);
                self.mul(&inner, &rest)
            }
            None => Ok(inner),
        }
    }

    /// Factors of a number that is not zero are not zero.
    fn learn_nonzero(&mut self, a: &Poly) -> Made<()> {
        let (common, rest) = self.factor(a)?;
        for (atom, power) in
            common.first().map(|(mono, _)| self.factors(*mono)).iter().flat_map(|mono| mono.iter())
        {
            if *power > 0 {
                self.learn_atom(*atom, Signs::NONZERO);
                if let Atom::Apply(Op::Sqrt, under) = self.atoms.get(*atom).clone() {
                    let under = self.poly(under[0]);
                    if self.sign(&under).not_negative() && !self.sign(&under).positive() {
                        self.learn(&under, Signs::POSITIVE)?;
                    }
                }
            }
        }
        if let Some(rest) = rest {
            let atom = self.atoms.id(Atom::Sum(rest));
            self.learn_atom(atom, Signs::NONZERO);
        }
        Ok(())
    }

    fn learn_atom(&mut self, atom: AtomId, signs: Signs) {
        let known = self.facts.atoms.entry(atom).or_insert(Signs::ANY);
        *known = known.and(signs);
    }

    /// Whether what is known implies that a number has one of some signs.
    pub(crate) fn implies(&mut self, a: &Poly, signs: Signs) -> Made<bool> {
        let inner = self.without_positive(a)?;
        if self.sign(a).within(signs) || self.sign(&inner).within(signs) {
            return Ok(true);
        }
        if signs != Signs::NONZERO || a.is_empty() {
            return Ok(false);
        }
        let (common, rest) = self.factor(a)?;
        let factors = common.first().map(|(mono, _)| self.factors(*mono));
        let mut atoms: Vec<AtomId> =
            factors.iter().flat_map(|mono| mono.iter()).map(|(atom, _)| *atom).collect();
        let known = rest.map(|rest| (rest, self.atoms.id(Atom::Sum(rest))));
        if let Some((rest, atom)) = known {
            let rest = self.poly(rest);
            let learned = self.facts.atoms.get(&atom).is_some_and(|signs| signs.nonzero());
            if !learned && !self.sign(&rest).nonzero() {
                return Ok(false);
            }
        }
        atoms.dedup();
        Ok(atoms.into_iter().all(|atom| self.atom_signs(atom, 0).nonzero()))
    }

    /// Whether a sum is a number, which is not above zero, or below it if `strict` is not given.
    pub(crate) fn contradicts(&self, a: &Poly, strict: bool) -> bool {
        match &**a {
            [] => strict,
            [(ONE, number)] => number.signum() < 0,
            _ => false,
        }
    }
}
