//! Compares two formulas of the same outputs and marks their differences.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::tree::{Expression, Family, Formula};
use crate::number::Rational;

/// Both formulas, with the parts marked that differ from the other one. Names are not compared, but their definitions.
pub fn marked(one: &Formula, other: &Formula) -> [Formula; 2] {
    let plain = || [one.clone(), other.clone()];
    let left = Cell::new(MAX_STEPS);
    let mut both = Both { sources: [one, other], marked: plain(), known: RefCell::default(), left };
    both.pieces();
    if both.left.get() == 0 { plain() } else { both.marked }
}

/// If the comparison takes more steps than this, nothing is marked.
const MAX_STEPS: u32 = 1_000_000;

struct Both<'f> {
    sources: [&'f Formula; 2],
    marked: [Formula; 2],
    /// Whether definitions of the two are equal.
    known: RefCell<BTreeMap<[usize; 2], bool>>,
    left: Cell<u32>,
}

/// The indices of the two formulas.
const SIDES: [usize; 2] = [0, 1];

impl Both<'_> {
    fn pieces(&mut self) {
        let [one, other] = self.sources;
        for (at, piece) in one.pieces.iter().enumerate() {
            let same_place = |other: &&Family| {
                (&piece.output, &piece.index, &piece.ranges) == (&other.output, &other.index, &other.ranges)
            };
            match other.pieces.iter().position(|other| same_place(&other)) {
                Some(partner) => {
                    let [a, b] = self.differing(&piece.value, &other.pieces[partner].value);
                    self.marked[0].pieces[at].value = a;
                    self.marked[1].pieces[partner].value = b;
                }
                None => self.marked[0].pieces[at].value = mark(&piece.value),
            }
        }
        for (at, piece) in other.pieces.iter().enumerate() {
            let is_paired = one.pieces.iter().any(|own| {
                (&piece.output, &piece.index, &piece.ranges) == (&own.output, &own.index, &own.ranges)
            });
            if !is_paired {
                self.marked[1].pieces[at].value = mark(&piece.value);
            }
        }
    }

    /// Whether expressions of the two formulas are equal.
    fn same(&self, a: &Expression, b: &Expression) -> bool {
        self.left.set(self.left.get().saturating_sub(1));
        if self.left.get() == 0 {
            return false;
        }
        match (a, b) {
            (Expression::Name(a, index), Expression::Name(b, other)) => {
                index == other && self.same_definitions([*a, *b])
            }
            (Expression::Sum(a), Expression::Sum(b)) => {
                let [a, b] = self.unpaired(a, b);
                a.is_empty() && b.is_empty()
            }
            (Expression::Product(a), Expression::Product(b)) => {
                let [a, b] = self.unpaired(a, b);
                a.is_empty() && b.is_empty()
            }
            (Expression::Exp(a), Expression::Exp(b))
            | (Expression::Positive(a), Expression::Positive(b))
            | (Expression::Zero(a), Expression::Zero(b)) => self.same(a, b),
            (Expression::Apply(op, a), Expression::Apply(other, b)) => {
                op == other && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same(a, b))
            }
            (Expression::Over(over, ranges, a), Expression::Over(other, others, b)) => {
                over == other && ranges == others && self.same(a, b)
            }
            (a, b) => a == b,
        }
    }

    fn same_definitions(&self, at: [usize; 2]) -> bool {
        let known = self.known.borrow().get(&at).copied();
        known.unwrap_or_else(|| {
            let [a, b] = SIDES.map(|side| &self.sources[side].definitions[at[side]]);
            let same = a.parameters == b.parameters && self.same(&a.value, &b.value);
            self.known.borrow_mut().insert(at, same);
            same
        })
    }

    /// For each of two lists, the positions of items that the other one lacks. The lists are displayed, and so they
    /// are short.
    fn unpaired<K: PartialEq>(&self, a: &[impl Part<K>], b: &[impl Part<K>]) -> [Vec<usize>; 2] {
        let mut left: Vec<usize> = (0..b.len()).collect();
        let mut alone = Vec::new();
        for (at, part) in a.iter().enumerate() {
            let partner = left.iter().position(|other| {
                part.key() == b[*other].key() && self.same(part.expression(), b[*other].expression())
            });
            match partner {
                Some(partner) => drop(left.remove(partner)),
                None => alone.push(at),
            }
        }
        [alone, left]
    }

    /// Both expressions, marked where they differ.
    fn differing(&mut self, a: &Expression, b: &Expression) -> [Expression; 2] {
        if self.same(a, b) {
            return [a.clone(), b.clone()];
        }
        match (a, b) {
            (Expression::Name(x, index), Expression::Name(y, other)) if index == other => {
                let definitions = [*x, *y];
                let values =
                    SIDES.map(|side| self.sources[side].definitions[definitions[side]].value.clone());
                let is_new = SIDES
                    .iter()
                    .all(|side| self.marked[*side].definitions[definitions[*side]].value == values[*side]);
                if !is_new {
                    // The definition has been compared with another one.
                    return [mark(a), mark(b)];
                }
                let values = self.differing(&values[0], &values[1]);
                for (side, value) in values.into_iter().enumerate() {
                    self.marked[side].definitions[definitions[side]].value = value;
                }
                [a.clone(), b.clone()]
            }
            (Expression::Sum(x), Expression::Sum(y)) => {
                let (x, y) = self.lists(x, y);
                [Expression::Sum(x), Expression::Sum(y)]
            }
            (Expression::Product(x), Expression::Product(y)) => {
                let (x, y) = self.lists(x, y);
                [Expression::Product(x), Expression::Product(y)]
            }
            (Expression::Exp(x), Expression::Exp(y)) => {
                self.differing(x, y).map(|part| Expression::Exp(Box::new(part)))
            }
            (Expression::Positive(x), Expression::Positive(y)) => {
                self.differing(x, y).map(|part| Expression::Positive(Box::new(part)))
            }
            (Expression::Zero(x), Expression::Zero(y)) => {
                self.differing(x, y).map(|part| Expression::Zero(Box::new(part)))
            }
            (Expression::Apply(op, x), Expression::Apply(other, y)) if op == other && x.len() == y.len() => {
                let parts: Vec<[Expression; 2]> =
                    x.iter().zip(y).map(|(x, y)| self.differing(x, y)).collect();
                SIDES
                    .map(|side| Expression::Apply(*op, parts.iter().map(|part| part[side].clone()).collect()))
            }
            (Expression::Over(over, ranges, x), Expression::Over(other, others, y))
                if over == other && ranges == others =>
            {
                self.differing(x, y).map(|part| Expression::Over(*over, ranges.clone(), Box::new(part)))
            }
            _ => [mark(a), mark(b)],
        }
    }

    /// Lists of which some parts are equal.
    fn lists<K: PartialEq, P: Part<K>>(&mut self, a: &[P], b: &[P]) -> (Vec<P>, Vec<P>) {
        let [alone, others] = self.unpaired(a, b);
        let (mut x, mut y) = (a.to_vec(), b.to_vec());
        if let ([at], [other]) = (alone.as_slice(), others.as_slice())
            && a[*at].key() == b[*other].key()
        {
            let [one, two] = self.differing(a[*at].expression(), b[*other].expression());
            x[*at] = a[*at].with(one);
            y[*other] = b[*other].with(two);
            return (x, y);
        }
        alone.iter().for_each(|at| x[*at] = a[*at].marked());
        others.iter().for_each(|at| y[*at] = b[*at].marked());
        (x, y)
    }
}

fn mark(expression: &Expression) -> Expression {
    Expression::Marked(Box::new(expression.clone()))
}

/// An addend with its coefficient, or a factor with its power.
trait Part<K>: Clone {
    fn key(&self) -> &K;
    fn expression(&self) -> &Expression;
    /// This part with another expression.
    #[must_use]
    fn with(&self, expression: Expression) -> Self;
    /// This part, marked as a whole.
    #[must_use]
    fn marked(&self) -> Self;
}

impl Part<Rational> for (Rational, Expression) {
    fn key(&self) -> &Rational {
        &self.0
    }

    fn expression(&self) -> &Expression {
        &self.1
    }

    fn with(&self, expression: Expression) -> Self {
        (self.0.clone(), expression)
    }

    fn marked(&self) -> Self {
        let (coefficient, part) = self;
        let sign = if coefficient.is_negative() { -&Rational::ONE } else { Rational::ONE };
        (sign, mark(&Expression::Sum(vec![(coefficient.abs(), part.clone())])))
    }
}

impl Part<i32> for (Expression, i32) {
    fn key(&self) -> &i32 {
        &self.1
    }

    fn expression(&self) -> &Expression {
        &self.0
    }

    fn with(&self, expression: Expression) -> Self {
        (expression, self.1)
    }

    fn marked(&self) -> Self {
        let (part, power) = self;
        let positive = Expression::Product(vec![(part.clone(), power.abs())]);
        (mark(&positive), if *power < 0 { -2 } else { 2 })
    }
}
