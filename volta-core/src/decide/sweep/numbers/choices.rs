//! Choices in sums: `c ? s + x : s` is `s + (c ? x : 0)`, so that what one thread adds up under conditions, and what
//! many threads add where these hold, is one sum. Both have a value at the same inputs: `x` is read where `c` holds, and
//! an infinity does not change by 0.

use super::{Everywhere, Factor, Known, Made, Moved, Numbers, Part, Shape};
use crate::number::{Extended, Rational};
use crate::term::TermOp;
use std::rc::Rc;

/// Choices of constants are looked at so many operations deep.
const MOST_DEPTH: u32 = 64;

/// A number of conditions: a constant, and for each of some conditions, in order, a number other than 0 that is added
/// where it holds. All of them have a value wherever it has one.
#[derive(Debug, PartialEq)]
pub(super) struct Counted {
    constant: Rational,
    parts: Vec<(Shape, Rational)>,
}

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
        let zero = self.constant(Rational::ZERO);
        let [then, otherwise] = if holds { [added, zero] } else { [zero, added] };
        let is_finite = self.is_total(condition) && self.is_total(added);
        let everywhere = if is_finite { Everywhere::Finite } else { Everywhere::Unknown };
        self.of(Made::Apply(TermOp::Select, [condition, then, otherwise]), everywhere)
    }

    /// A choice of constants as a number of conditions, if it is more than one number where one condition holds.
    pub(super) fn counted_apart(&mut self, shape: Shape) -> Option<Rc<Counted>> {
        let Made::Apply(TermOp::Select, [_, then, otherwise]) = self.made(shape) else { return None };
        let is_one_part = matches!(self.made(then), Made::Constant(_))
            && self.is_neutral(otherwise, &Extended::Finite(Rational::ZERO));
        let counted = self.counted(shape, MOST_DEPTH)?;
        let is_one_part = is_one_part && counted.parts.iter().all(|(_, factor)| factor.is_positive());
        (!is_one_part).then_some(counted)
    }

    fn counted(&mut self, shape: Shape, depth: u32) -> Option<Rc<Counted>> {
        if let Some(known) = self.counted.get(&shape) {
            return known.clone();
        }
        let found = match self.made(shape) {
            Made::Constant(number) => match &self.values_of_constants[number] {
                Known::Exact(exact) => {
                    let constant = exact.finite().cloned();
                    constant.map(|constant| Counted { constant, parts: Vec::new() })
                }
                Known::Read(..) => None,
            },
            Made::Apply(TermOp::Select, [condition, then, otherwise]) if depth > 0 => {
                let then = self.counted(then, depth - 1);
                let otherwise = then.and_then(|then| Some((then, self.counted(otherwise, depth - 1)?)));
                otherwise.and_then(|(then, otherwise)| chosen(condition, &then, &otherwise))
            }
            Made::Apply(..) | Made::Input(_) | Made::Leaf(_) | Made::Alone(_) => None,
        };
        let found = found.map(Rc::new);
        self.counted.insert(shape, found.clone());
        found
    }

    /// The parts of a number of conditions.
    pub(super) fn parts_of_counted(&mut self, counted: &Counted, is_negative: bool, parts: &mut Vec<Part>) {
        if !counted.constant.is_zero() {
            let factor = match counted.constant == Rational::ONE {
                true => Factor::One,
                false => Factor::Shape(self.constant(counted.constant.clone())),
            };
            parts.push(Part { factor, is_negative, power: None });
        }
        let zero = self.constant(Rational::ZERO);
        for (condition, factor) in &counted.parts {
            let number = self.constant(factor.abs());
            let everywhere = if self.is_total(*condition) { Everywhere::Finite } else { Everywhere::Unknown };
            let choice = self.of(Made::Apply(TermOp::Select, [*condition, number, zero]), everywhere);
            let is_negative = is_negative != factor.is_negative();
            parts.push(Part { factor: Factor::Shape(choice), is_negative, power: None });
        }
    }

    /// The shape of a constant.
    fn constant(&mut self, value: Rational) -> Shape {
        let next = self.values_of_constants.len();
        let number = *self.exact.entry(value.clone()).or_insert(next);
        if number == next {
            self.values_of_constants.push(Known::Exact(Extended::Finite(value)));
        }
        self.of(Made::Constant(number), Everywhere::Finite)
    }
}

/// A choice between two numbers of the same conditions, which differ by a constant.
fn chosen(condition: Shape, then: &Counted, otherwise: &Counted) -> Option<Counted> {
    let gap = &then.constant - &otherwise.constant;
    if then.parts != otherwise.parts || gap.is_zero() {
        return None;
    }
    let mut parts = otherwise.parts.clone();
    match parts.binary_search_by(|(own, _)| own.cmp(&condition)) {
        Ok(place) => {
            parts[place].1 = &parts[place].1 + &gap;
            // The condition is still to have a value.
            if parts[place].1.is_zero() {
                return None;
            }
        }
        Err(place) => parts.insert(place, (condition, gap)),
    }
    Some(Counted { constant: otherwise.constant.clone(), parts })
}
