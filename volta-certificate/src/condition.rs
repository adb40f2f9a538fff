//! Conditions: numbers that are 1 where the condition holds, and 0 elsewhere. A choice is a sum of products with them.

use crate::form::{Atom, Forms, Made, ONE, Poly, integer};
use crate::number::Number;
use crate::sign::Signs;
use crate::text::Op;

/// A choice between longer sums is not written as a sum.
const MAX_CHOSEN: usize = 64;

impl Forms {
    /// `a` where a condition holds, else `b`.
    pub(crate) fn select(&mut self, condition: &Poly, a: &Poly, b: &Poly) -> Made<Poly> {
        let gap = self.sub(a, b);
        if condition.len() * gap.len() > MAX_CHOSEN || !self.uses("choice_as_sum") {
            return Ok(self.opaque(Op::Select, &[condition.clone(), a.clone(), b.clone()]));
        }
        let chosen = self.mul(condition, &gap)?;
        Ok(self.add(b, &chosen))
    }

    /// A condition that others are joined to.
    pub(crate) fn logical(&mut self, op: Op, of: &[Poly]) -> Poly {
        if let (Op::Not, [a]) = (op, of) { self.sub(&integer(1), a) } else { self.opaque(op, of) }
    }

    /// A sum divided by the magnitude of its first coefficient.
    pub(crate) fn unit(&self, a: &Poly) -> Poly {
        let by = a.first().and_then(|(_, leading)| leading.abs().recip());
        self.scaled(a, &by.unwrap_or(Number::ONE))
    }

    /// `a > 0`
    pub(crate) fn positive(&mut self, a: &Poly) -> Poly {
        let signs = self.sign(a);
        if (signs == Signs::POSITIVE || signs.within(Signs::NOT_POSITIVE))
            && (self.constant(a).is_some() || self.uses("condition_by_sign"))
        {
            return integer(i64::from(signs == Signs::POSITIVE));
        }
        let form = if self.uses("scaled_comparison") { self.unit(a) } else { a.clone() };
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
