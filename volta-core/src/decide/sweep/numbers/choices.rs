//! Choices in sums: `c ? s + x : s` is `s + (c ? x : 0)`, so that what one thread adds up under conditions, and what
//! many threads add where these hold, is one sum. Both have a value at the same inputs: `x` is read where `c` holds, and
//! an infinity does not change by 0.

use super::{Everywhere, Made, Moved, Numbers, Shape, ZERO};
use crate::term::TermOp;

/// A sum to which something is added where a condition holds, or where it does not.
#[derive(Clone, Copy)]
pub(super) struct SumWhere {
    pub(super) to: Shape,
    condition: Shape,
    holds: bool,
    added: Added,
}

/// What is added.
#[derive(Clone, Copy)]
enum Added {
    Shape(Shape),
    Product(Shape, Shape),
}

impl Numbers<'_, '_> {
    /// The operands of a choice whose condition is no negation.
    pub(super) fn without_negation(
        &self,
        [mut condition, mut then, mut otherwise]: [Shape; 3],
    ) -> [Shape; 3] {
        while let Made::Apply(TermOp::Not, [inner, ..]) = self.made(condition) {
            (condition, then, otherwise) = (inner, otherwise, then);
        }
        [condition, then, otherwise]
    }

    /// A choice between a sum and the same with one more part.
    pub(super) fn sum_where(&self, op: TermOp, [condition, then, otherwise]: [Shape; 3]) -> Option<SumWhere> {
        if op != TermOp::Select {
            return None;
        }
        [(then, otherwise, true), (otherwise, then, false)].into_iter().find_map(|(sum, to, holds)| {
            let added = match self.made(sum) {
                Made::Apply(TermOp::Add, [a, b, _]) if b == to => Added::Shape(a),
                Made::Apply(TermOp::Add, [a, b, _]) if a == to => Added::Shape(b),
                Made::Apply(TermOp::Fma, [a, b, c]) if c == to => Added::Product(a, b),
                Made::Apply(..) | Made::Input(_) | Made::Leaf(_) | Made::Constant(_) | Made::Alone(_) => {
                    return None;
                }
            };
            Some(SumWhere { to, condition, holds, added })
        })
    }

    /// What is added, where it is, and else 0.
    pub(super) fn added_where(&mut self, SumWhere { condition, holds, added, .. }: SumWhere) -> Shape {
        let added = match added {
            Added::Shape(shape) => shape,
            Added::Product(a, b) => {
                let of = [a.min(b), a.max(b), Moved::NONE];
                let everywhere = self.everywhere_of(TermOp::Mul, of);
                self.of(Made::Apply(TermOp::Mul, of), everywhere)
            }
        };
        let zero = self.of(Made::Constant(ZERO), Everywhere::Finite);
        let [then, otherwise] = if holds { [added, zero] } else { [zero, added] };
        let is_finite = self.is_total(condition) && self.is_total(added);
        let everywhere = if is_finite { Everywhere::Finite } else { Everywhere::Unknown };
        self.of(Made::Apply(TermOp::Select, [condition, then, otherwise]), everywhere)
    }
}
