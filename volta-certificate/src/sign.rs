//! Which signs a form can have, from its atoms and from what is assumed.

use crate::form::{Atom, AtomId, Forms, Made, Poly, PolyId, integer};
use crate::laws::Law;
use crate::number::Number;
use crate::text::{Demand, Op};
use std::collections::HashMap;
use std::rc::Rc;

/// A set of signs: below, at and above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signs(u8);

impl Signs {
    pub(crate) const NONE: Signs = Signs(0);
    pub(crate) const NEGATIVE: Signs = Signs(1);
    pub(crate) const ZERO: Signs = Signs(2);
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

    pub(crate) fn or(self, other: Signs) -> Signs {
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
    inputs: Rc<[Signs]>,
    cuts: Rc<HashMap<u32, Signs>>,
    sums: HashMap<PolyId, Signs>,
    atoms: HashMap<AtomId, Signs>,
}

impl Facts {
    pub(crate) fn new(inputs: Rc<[Signs]>, cuts: HashMap<u32, Signs>) -> Facts {
        Facts { inputs, cuts: Rc::new(cuts), ..Facts::default() }
    }
}

/// Atoms nested more deeply may have any sign.
const MAX_DEPTH: u32 = 6;
/// Signs are found by cases of so many conditions, in sums of so many products.
const MAX_CHOICES: u32 = 3;
/// Of more known sums, each is not compared with a sum.
const MAX_FACTS: usize = 32;
const MAX_CHOSEN: usize = 32;

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
        if !(signs.not_negative() || signs.not_positive()) && depth < MAX_CHOICES && a.len() <= MAX_CHOSEN {
            signs = signs.and(self.sign_by_choice(a, depth));
        }
        if !self.facts.sums.is_empty() && !a.is_empty() {
            self.draw(4 * a.len());
            let unit = self.unit(a);
            let opposite = self.negated(&unit);
            let known = |of: &Poly| {
                self.polys.find(of).and_then(|of| self.facts.sums.get(&of)).copied().unwrap_or(Signs::ANY)
            };
            signs = signs.and(known(&unit)).and(known(&opposite).flipped());
            if signs == Signs::ANY && self.facts.sums.len() <= MAX_FACTS {
                self.draw(a.len() * self.facts.sums.len());
                // What a number more, or less, than a known sum is.
                for (of, own) in self.facts.sums.iter().map(|(of, own)| (self.polys.get(*of), *own)) {
                    for (of, own) in [(of, own), (&self.negated(of), own.flipped())] {
                        if let Some(more) = self.constant(&self.sub(&unit, of)) {
                            signs = signs.and(own.plus(Signs::of_number(&more)));
                        }
                    }
                }
            }
        }
        signs
    }

    /// The signs that a sum can have where a condition in it holds, and where not.
    fn sign_by_choice(&mut self, a: &Poly, depth: u32) -> Signs {
        let mut atoms = a.iter().flat_map(|(mono, _)| self.factors(*mono).to_vec());
        let found = atoms.find_map(|(atom, power)| {
            let Atom::Positive(of) = self.atoms.get(atom) else { return None };
            (power == 1).then_some((atom, *of))
        });
        let Some((atom, of)) = found else { return Signs::ANY };
        if !self.uses(Law::ProductOfChoices) || !self.uses(Law::ConditionBySign) {
            return Signs::ANY;
        }
        let of = self.poly(of);
        let facts = self.facts.clone();
        let mut signs = Signs::NONE;
        for (condition, learned) in [(self.negated(&of), Signs::NOT_NEGATIVE), (of, Signs::POSITIVE)] {
            let holds = learned == Signs::POSITIVE;
            let mut arm = integer(0);
            for (mono, factor) in a.iter() {
                let factors = self.factors(*mono);
                let others: Vec<_> = factors.iter().filter(|(other, _)| *other != atom).copied().collect();
                if holds || others.len() == factors.len() {
                    let rest = self.monos.id(others.into());
                    arm = self.add(&arm, &Poly::from([(rest, factor.clone())]));
                }
            }
            if self.learn_sum(&condition, learned) {
                signs = signs.or(self.sign_within(&arm, depth + 1));
            }
            self.facts = facts.clone();
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
            Atom::Positive(_) => Signs::NOT_NEGATIVE,
            Atom::Max(arms) => {
                let mut all = Signs(0);
                let mut least = Signs::ANY;
                for arm in &arms {
                    let arm = self.poly(*arm);
                    let mut signs = self.sign_within(&arm, depth + 1);
                    let opposite = self.polys.find(&self.negated(&arm));
                    if signs.nonzero() && opposite.is_some_and(|opposite| arms.contains(&opposite)) {
                        signs = Signs::POSITIVE;
                    }
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

    /// Assumes signs of a sum, and of nothing that follows from that. Whether they can be true.
    pub(crate) fn learn_sum(&mut self, a: &Poly, signs: Signs) -> bool {
        let signs = self.sign(a).and(signs);
        if !a.is_empty() && signs != Signs::NONE {
            let unit = self.polys.id(self.unit(a));
            self.facts.sums.insert(unit, signs);
        }
        signs != Signs::NONE
    }

    /// Assumes signs of a sum, and what follows for its factors. Whether they can be true.
    pub(crate) fn learn(&mut self, a: &Poly, signs: Signs) -> Made<bool> {
        if !self.learn_sum(a, signs) {
            return Ok(false);
        }
        let now = self.sign(a);
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
        if !now.nonzero() {
            return Ok(true);
        }
        // Factors of a number that is not zero are not zero.
        let (common, rest) = self.factor(a)?;
        let factors: Vec<_> = common.iter().flat_map(|(mono, _)| self.factors(*mono).to_vec()).collect();
        for (atom, power) in factors {
            self.learn_atom(atom, Signs::NONZERO);
            if let (Atom::Apply(Op::Sqrt, under), true) = (self.atoms.get(atom).clone(), power > 0) {
                let under = self.poly(under[0]);
                if self.sign(&under).not_negative() && !self.sign(&under).positive() {
                    self.learn(&under, Signs::POSITIVE)?;
                }
            }
        }
        if let Some(rest) = rest {
            let atom = self.atoms.id(Atom::Sum(rest));
            self.learn_atom(atom, Signs::NONZERO);
        }
        Ok(true)
    }

    /// A number of the same sign: without factors that are positive.
    fn without_positive(&mut self, a: &Poly) -> Made<Poly> {
        let (common, rest) = self.factor(a)?;
        let [(mono, factor)] = &*common else { return Ok(a.clone()) };
        let mut inner = integer(factor.signum());
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

    fn learn_atom(&mut self, atom: AtomId, signs: Signs) {
        let known = self.facts.atoms.entry(atom).or_insert(Signs::ANY);
        *known = known.and(signs);
    }

    /// Whether what is known implies that a number has one of some signs.
    pub(crate) fn implies(&mut self, a: &Poly, signs: Signs) -> Made<bool> {
        if self.sign(a).within(signs) {
            return Ok(true);
        }
        let (common, rest) = self.factor(a)?;
        let mut own = self.sign(&common);
        if let Some(rest) = rest {
            let atom = self.atoms.id(Atom::Sum(rest));
            let known = self.facts.atoms.get(&atom).copied().unwrap_or(Signs::ANY);
            let rest = self.poly(rest);
            own = own.times(self.sign(&rest).and(known));
        }
        Ok(own.within(signs))
    }
}
