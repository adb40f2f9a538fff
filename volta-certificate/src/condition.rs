//! Conditions on forms, and choices by them.

use crate::form::{Atom, Cond, CondId, Forms, ONE, Poly};
use crate::laws::Law;
use crate::number::Number;
use crate::text::Op;

impl Forms {
    /// `a` where a condition holds, else `b`.
    pub(crate) fn select(&mut self, condition: CondId, a: &Poly, b: &Poly) -> Poly {
        match *self.conds.get(condition) {
            Cond::Known(true) => return a.clone(),
            Cond::Known(false) => return b.clone(),
            Cond::Not(inner) => return self.select(inner, b, a),
            Cond::Positive(_) | Cond::Zero(_) | Cond::And(..) | Cond::Or(..) | Cond::Xor(..) => {}
        }
        if a == b && self.uses(Law::EqualArms) {
            return a.clone();
        }
        let (a, b) = (self.polys.id(a.clone()), self.polys.id(b.clone()));
        self.atom(Atom::Select(condition, a, b))
    }

    pub(crate) fn known(&mut self, value: bool) -> CondId {
        self.conds.id(Cond::Known(value))
    }

    /// A sum divided by the magnitude of its first coefficient, or by the coefficient itself.
    pub(crate) fn unit(&self, a: &Poly, keep_sign: bool) -> Poly {
        let Some((_, leading)) = a.first() else { return a.clone() };
        let by = if keep_sign { leading.abs() } else { leading.clone() };
        self.scaled(a, &by.recip().unwrap_or(Number::ONE))
    }

    /// `a > 0`
    pub(crate) fn positive(&mut self, a: &Poly) -> CondId {
        let signs = self.sign(a);
        if signs.positive() || signs.not_positive() {
            let known = a.len() < 2 && a.iter().all(|(mono, _)| *mono == ONE);
            if known || self.uses(Law::ConditionBySign) {
                return self.known(signs.positive());
            }
        }
        let form = if self.uses(Law::ScaledComparison) { self.unit(a, true) } else { a.clone() };
        let form = self.polys.id(form);
        self.conds.id(Cond::Positive(form))
    }

    /// `a = 0`
    pub(crate) fn zero(&mut self, a: &Poly) -> CondId {
        let signs = self.sign(a);
        if signs.zero() || signs.nonzero() {
            return self.known(signs.zero());
        }
        let form = self.polys.id(self.unit(a, false));
        self.conds.id(Cond::Zero(form))
    }

    /// Whether a condition holds, if that is known.
    pub(crate) fn truth(&self, a: CondId) -> Option<bool> {
        match self.conds.get(a) {
            Cond::Known(value) => Some(*value),
            Cond::Positive(_)
            | Cond::Zero(_)
            | Cond::Not(_)
            | Cond::And(..)
            | Cond::Or(..)
            | Cond::Xor(..) => None,
        }
    }

    /// The number that a sum is, if it is one.
    pub(crate) fn constant(&self, a: &Poly) -> Option<Number> {
        match &**a {
            [] => Some(Number::ZERO),
            [(ONE, number)] => Some(number.clone()),
            _ => None,
        }
    }

    pub(crate) fn not(&mut self, a: CondId) -> CondId {
        match *self.conds.get(a) {
            Cond::Known(value) => self.known(!value),
            Cond::Not(inner) => inner,
            Cond::Positive(_) | Cond::Zero(_) | Cond::And(..) | Cond::Or(..) | Cond::Xor(..) => {
                self.conds.id(Cond::Not(a))
            }
        }
    }

    /// Two conditions joined by a truth table of two known ones.
    pub(crate) fn joined(&mut self, op: Op, a: CondId, b: CondId) -> CondId {
        let (a, b) = (a.min(b), a.max(b));
        let (known, other) = match (self.truth(a), self.truth(b)) {
            (Some(known), _) => (known, b),
            (None, Some(known)) => (known, a),
            (None, None) => {
                let joined = if op == Op::And {
                    Cond::And(a, b)
                } else if op == Op::Or {
                    Cond::Or(a, b)
                } else {
                    Cond::Xor(a, b)
                };
                return self.conds.id(joined);
            }
        };
        match (op, known) {
            (Op::And, false) => self.known(false),
            (Op::Or, true) => self.known(true),
            (Op::And, true) | (Op::Or, false) => other,
            (_, false) => other,
            (_, true) => self.not(other),
        }
    }
}
