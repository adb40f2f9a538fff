//! Which signs a form can have, from its atoms and from what is assumed.

use crate::form::{Atom, AtomId, Forms, Made, Poly, PolyId};
use crate::text::Op;
use std::collections::HashMap;

/// A set of signs: below, at and above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Signs(u8);

impl Signs {
    pub(crate) const NONE: Signs = Signs(0);
    pub(crate) const NEGATIVE: Signs = Signs(1);
    pub(crate) const ZERO: Signs = Signs(2);
    pub(crate) const POSITIVE: Signs = Signs(4);
    pub(crate) const ANY: Signs = Signs(7);
    pub(crate) const NOT_NEGATIVE: Signs = Signs(6);
    pub(crate) const NOT_POSITIVE: Signs = Signs(3);
    pub(crate) const NONZERO: Signs = Signs(5);

    pub(crate) fn of(has: [bool; 3]) -> Signs {
        Signs((0..3).map(|at| u8::from(has[at]) << at).sum())
    }

    pub(crate) fn within(self, other: Signs) -> bool {
        self.0 & !other.0 == 0
    }

    fn and(self, other: Signs) -> Signs {
        Signs(self.0 & other.0)
    }

    pub(crate) fn or(self, other: Signs) -> Signs {
        Signs(self.0 | other.0)
    }

    /// The signs of what is made from any two numbers of these signs.
    fn combined(self, other: Signs, made: impl Fn(i8, i8) -> u8) -> Signs {
        let all = |signs: Signs| (0..3_i8).filter(move |at| signs.0 >> at & 1 == 1).map(|at| at - 1);
        let pairs = all(self).flat_map(|a| all(other).map(move |b| (a, b)));
        Signs(pairs.fold(0, |signs, (a, b)| signs | made(a, b)))
    }

    fn times(self, other: Signs) -> Signs {
        self.combined(other, |a, b| 1 << (a * b + 1))
    }

    fn plus(self, other: Signs) -> Signs {
        self.combined(other, |a, b| if a * b < 0 { 7 } else { 1 << ((a + b).signum() + 1) })
    }
}

/// What is known of signs: demanded by the reference, or assumed in a case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    sums: HashMap<PolyId, Signs>,
    atoms: HashMap<AtomId, Signs>,
}

/// Atoms nested more deeply may have any sign.
const MAX_DEPTH: u32 = 6;

impl Forms {
    /// The signs that a sum can have.
    pub(crate) fn sign(&mut self, a: &Poly) -> Signs {
        self.sign_within(a, 0)
    }

    fn sign_within(&mut self, a: &Poly, depth: u32) -> Signs {
        let mut signs = self.sign_of_products(a, depth);
        // A multiple of a sum of known signs, and a rest.
        for (sum, known) in self.facts.sums.clone().into_iter().filter(|_| !a.is_empty()) {
            let sum = self.poly(sum);
            let Some((mono, leading)) = sum.last() else { continue };
            self.left = self.left.saturating_sub(1);
            if let (Ok(at), Some(by)) = (a.binary_search_by_key(mono, |(mono, _)| *mono), leading.recip()) {
                self.left = self.left.saturating_sub((a.len() + sum.len()) as u64);
                let by = a[at].1.times(&by);
                let rest = self.sub(a, &self.scaled(&sum, &by));
                let multiple = known.times(Signs(1 << (by.signum() + 1)));
                signs = signs.and(multiple.plus(self.sign_of_products(&rest, depth)));
            }
        }
        signs
    }

    fn sign_of_products(&mut self, a: &Poly, depth: u32) -> Signs {
        let mut signs = Signs::ZERO;
        for (mono, factor) in a.iter() {
            let mut own = Signs(1 << (factor.signum() + 1));
            for (atom, power) in self.factors(*mono).iter() {
                let base = self.atom_signs(*atom, depth);
                // A power is below zero of a number only that is not zero.
                let base = if *power < 0 { base.and(Signs::NONZERO) } else { base };
                let even = if base.within(Signs::NONZERO) { Signs::POSITIVE } else { Signs::NOT_NEGATIVE };
                own = own.times(if power % 2 == 0 { even } else { base });
            }
            signs = signs.plus(own);
        }
        signs
    }

    fn atom_signs(&mut self, atom: AtomId, depth: u32) -> Signs {
        let known = self.facts.atoms.get(&atom).copied().unwrap_or(Signs::ANY);
        self.left = self.left.saturating_sub(1);
        if depth > MAX_DEPTH || self.left == 0 {
            return known;
        }
        let own = match self.atoms.get(atom).clone() {
            Atom::Input(_, _, signs) | Atom::Cut(_, signs) => signs,
            Atom::Log2E | Atom::Apply(Op::Exp2, _) => Signs::POSITIVE,
            Atom::Apply(Op::Sqrt, under) if self.signs(under[0], depth) == Signs::POSITIVE => Signs::POSITIVE,
            Atom::Apply(Op::Sqrt, _) | Atom::Positive(_) => Signs::NOT_NEGATIVE,
            Atom::Apply(Op::Tanh | Op::Erf | Op::Atan | Op::Cbrt, of) => self.signs(of[0], depth),
            Atom::Sum(sum) => self.signs(sum, depth).and(Signs::NONZERO),
            Atom::Max(arms) => {
                let (mut all, mut least) = (Signs::NONE, Signs::ANY);
                for arm in &arms {
                    let mut signs = self.signs(*arm, depth);
                    let opposite = self.polys.find(&self.negated(self.polys.get(*arm)));
                    if signs.within(Signs::NONZERO)
                        && opposite.is_some_and(|opposite| arms.contains(&opposite))
                    {
                        signs = Signs::POSITIVE;
                    }
                    all = all.or(signs);
                    // It is no less than any of them.
                    least = match signs {
                        _ if signs == Signs::POSITIVE => Signs::POSITIVE,
                        _ if signs.within(Signs::NOT_NEGATIVE) => least.and(Signs::NOT_NEGATIVE),
                        _ => least,
                    };
                }
                all.and(least)
            }
            Atom::Apply(..) => Signs::ANY,
        };
        own.and(known)
    }

    fn signs(&mut self, of: PolyId, depth: u32) -> Signs {
        let of = self.poly(of);
        self.sign_within(&of, depth + 1)
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
        let mut open = vec![(a.clone(), signs)];
        while let Some((a, signs)) = open.pop() {
            if !self.learn_sum(&a, signs) {
                return Ok(false);
            }
            let now = self.sign(&a);
            let (common, rest) = self.factor(&a)?;
            let Some((mono, leading)) = common.first() else { continue };
            let factors = self.factors(*mono);
            if let ([(atom, power)], None) = (&*factors, rest)
                && power % 2 != 0
            {
                self.learn_atom(*atom, if leading.signum() < 0 { now.times(Signs::NEGATIVE) } else { now });
            }
            // Factors of a number that is not zero are not zero.
            let sum = rest.map(|rest| (self.atoms.id(Atom::Sum(rest)), 1));
            for (atom, power) in factors.iter().copied().chain(sum).filter(|_| now.within(Signs::NONZERO)) {
                self.learn_atom(atom, Signs::NONZERO);
                if let (Atom::Apply(Op::Sqrt, under), true) = (self.atoms.get(atom).clone(), power > 0) {
                    let under = self.poly(under[0]);
                    let signs = self.sign(&under);
                    if signs.within(Signs::NOT_NEGATIVE) && signs != Signs::POSITIVE {
                        open.push((under, Signs::POSITIVE));
                    }
                }
            }
        }
        Ok(true)
    }

    fn learn_atom(&mut self, atom: AtomId, signs: Signs) {
        let known = self.facts.atoms.entry(atom).or_insert(Signs::ANY);
        *known = known.and(signs);
    }
}
