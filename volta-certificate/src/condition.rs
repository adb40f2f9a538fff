//! Conditions: numbers that are 1 where the condition holds, and 0 elsewhere. A choice is a sum of products with them.

use crate::form::{Atom, Forms, Made, ONE, Poly, integer};
use crate::laws::Law;
use crate::number::Number;
use crate::text::Op;

/// A choice between longer sums is not written as a sum.
const MAX_CHOSEN: usize = 64;

impl Forms {
    /// `a` where a condition holds, else `b`.
    pub(crate) fn select(&mut self, condition: &Poly, a: &Poly, b: &Poly) -> Made<Poly> {
        if !self.uses(Law::ChoiceAsSum) {
            return Ok(self.opaque(Op::Select, &[condition.clone(), a.clone(), b.clone()]));
        }
        let gap = self.sub(a, b);
        // A choice of the larger or the smaller one.
        if let Some((of, holds)) = self.comparison(condition)
            && self.uses(Law::ChosenSummand)
        {
            let (first, other) = if holds { (a, b) } else { (b, a) };
            let unit = self.unit(&self.sub(first, other));
            if unit == of {
                return self.max(vec![first.clone(), other.clone()]);
            }
            if unit == self.negated(&of) {
                let least = self.max(vec![self.negated(first), self.negated(other)])?;
                return Ok(self.negated(&least));
            }
        }
        if condition.len() * gap.len() > MAX_CHOSEN {
            return Ok(self.opaque(Op::Select, &[condition.clone(), a.clone(), b.clone()]));
        }
        let chosen = self.mul(condition, &gap)?;
        Ok(self.add(b, &chosen))
    }

    /// The number that is positive where a condition holds, or where it does not hold if `false`.
    fn comparison(&self, condition: &Poly) -> Option<(Poly, bool)> {
        let (mono, holds) = match &**condition {
            [(mono, Number::Small(1))] => (mono, true),
            [(ONE, Number::Small(1)), (mono, Number::Small(-1))] => (mono, false),
            _ => return None,
        };
        if let [(atom, 1)] = &*self.factors(*mono)
            && let Atom::Positive(of) = self.atoms.get(*atom)
        {
            return Some((self.poly(*of), holds));
        }
        None
    }

    /// A condition that others are joined to.
    pub(crate) fn logical(&mut self, op: Op, of: &[Poly]) -> Made<Poly> {
        match of {
            [a] => Ok(self.sub(&integer(1), a)),
            [a, b] if self.uses(Law::JoinedConditions) => {
                let both = self.mul(a, b)?;
                let common = if op == Op::Or { both.clone() } else { self.scaled(&both, &Number::Small(2)) };
                Ok(if op == Op::And { both } else { self.sub(&self.add(a, b), &common) })
            }
            _ => Ok(self.opaque(op, of)),
        }
    }

    /// A sum divided by the magnitude of its first coefficient.
    pub(crate) fn unit(&self, a: &Poly) -> Poly {
        let by = a.first().and_then(|(_, leading)| leading.abs().recip());
        self.scaled(a, &by.unwrap_or(Number::ONE))
    }

    /// `a > 0`
    pub(crate) fn positive(&mut self, a: &Poly) -> Poly {
        let signs = self.sign(a);
        if (signs.positive() || signs.not_positive())
            && (self.constant(a).is_some() || self.uses(Law::ConditionBySign))
        {
            return integer(i64::from(signs.positive()));
        }
        let form = if self.uses(Law::ScaledComparison) { self.unit(a) } else { a.clone() };
        let form = self.polys.id(form);
        self.atom(Atom::Positive(form))
    }

    /// The number that a sum is, if it is one.
    pub(crate) fn constant(&self, a: &Poly) -> Option<Number> {
        match &**a {
            [] => Some(Number::ZERO),
            [(ONE, number)] => Some(number.clone()),
            _ => None,
        }
    }
}
