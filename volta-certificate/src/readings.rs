//! Literals that are read as multiples of log₂ e, or of its reciprocal (rule V9), and where that is allowed.

use crate::form::Made;
use crate::number::Number;
use crate::text::{Node, Op, Reading};
use std::collections::{HashMap, HashSet};

/// The readings of some proofs, and the terms in which they were found to be allowed.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    all: Vec<Reading>,
    /// Whether a literal is read as the reciprocal, and the factor.
    of: HashMap<Number, (bool, Number)>,
    seen: HashSet<(u32, bool)>,
}

/// log₂ e, as a fraction that is too small by less than 10⁻⁴⁰.
const LOG2E: &str = "14426950408889634073599246810018921374266/10000000000000000000000000000000000000000";

impl Readings {
    /// Takes other readings in place of these. Whether they are others.
    pub(crate) fn change(&mut self, readings: &[Reading]) -> bool {
        let changed = self.all != readings;
        if changed {
            let of =
                readings.iter().map(|read| (read.literal.clone(), (read.reciprocal, read.factor.clone())));
            *self = Readings { all: readings.to_vec(), of: of.collect(), seen: HashSet::new() };
        }
        changed
    }

    pub(crate) fn get(&self, number: &Number) -> Option<&(bool, Number)> {
        self.of.get(number)
    }

    /// Refuses readings of literals that are not near what they are read as, or outside of exponents and of sums that
    /// ln 2 and a logarithm make natural.
    pub(crate) fn check(&mut self, nodes: &[Node], roots: [u32; 2]) -> Made<()> {
        if self.all.is_empty() {
            return Ok(());
        }
        let checked = self.check_new(nodes, roots);
        if checked.is_err() {
            // What was seen on the way is not known to be allowed.
            self.seen.clear();
        }
        checked
    }

    fn check_new(&mut self, nodes: &[Node], roots: [u32; 2]) -> Made<()> {
        for reciprocal in [false, true] {
            let mut constants =
                self.all.iter().filter(|read| read.reciprocal == reciprocal && is_power(&read.factor));
            let first = constants.next().and_then(constant);
            if constants.any(|other| constant(other) != first) {
                return Err("two literals are read as one constant".to_string());
            }
        }
        let mut stack: Vec<(u32, bool)> = roots.map(|at| (at, false)).into();
        while let Some((at, inside)) = stack.pop() {
            if !self.seen.insert((at, inside)) {
                continue;
            }
            let Some(Node::Apply(op, [a, b, c])) = nodes.get(at as usize) else {
                if let Some(Node::Literal(digits, number)) = nodes.get(at as usize)
                    && let Some((reciprocal, factor)) = self.of.get(number)
                {
                    is_near(nodes, *digits, number, *reciprocal, factor)?;
                    if !inside {
                        return Err(format!("{number} is read as irrational outside of exponents"));
                    }
                }
                continue;
            };
            if *op == Op::Exp2 {
                stack.push((*a, true));
            } else if *op == Op::Select {
                stack.extend([(*a, false), (*b, inside), (*c, inside)]);
            } else if *op == Op::Fma && inside && self.is_residual(nodes, *a, *b, *c) {
                // A residual counts beside what it is one of, with the same factor.
                stack.extend([(*a, true), (*c, true)]);
            } else if *op == Op::Fma && inside && self.is_residual(nodes, *b, *a, *c) {
                stack.extend([(*b, true), (*c, true)]);
            } else if matches!(op, Op::Mul | Op::Fma) {
                let natural = (self.is_ln2(nodes, *a) && has_logarithm(nodes, *b))
                    || (self.is_ln2(nodes, *b) && has_logarithm(nodes, *a));
                stack.extend([(*a, inside || natural), (*b, inside || natural)]);
                stack.extend((*op == Op::Fma).then_some((*c, inside)));
            } else {
                let keeps = matches!(op, Op::Add | Op::Sub | Op::Neg | Op::Max | Op::Min);
                stack.extend([a, b, c][..op.arity()].iter().map(|at| (**at, inside && keeps)));
            }
        }
        Ok(())
    }

    /// Whether one term is a literal that is read as 0, and another one begins with a literal that has it as its residual,
    /// times the same factor.
    fn is_residual(&self, nodes: &[Node], factor: u32, low: u32, beside: u32) -> bool {
        let literal = |at: u32| match nodes.get(at as usize) {
            Some(Node::Literal(digits, number)) => {
                let (reciprocal, of) = self.of.get(number)?;
                (!reciprocal).then_some((*digits, number, of))
            }
            _ => None,
        };
        let Some(Node::Apply(Op::Mul | Op::Fma, [a, b, _])) = nodes.get(beside as usize) else {
            return false;
        };
        let high = if *a == factor { *b } else { *a };
        let (Some((digits, low, zero)), Some((_, high, of))) = (literal(low), literal(high)) else {
            return false;
        };
        let rest = log2e().times(of).plus(&high.negated()).plus(&low.negated());
        let near =
            Number::power_of_two(1 - i64::from(digits.clamp(1, 64))).map(|unit| unit.times(&low.abs()));
        (*a == factor || *b == factor)
            && zero.is_zero()
            && is_power(of)
            && near.is_some_and(|near| rest.abs() <= near)
    }

    fn is_ln2(&self, nodes: &[Node], at: u32) -> bool {
        let Some(Node::Literal(_, number)) = nodes.get(at as usize) else { return false };
        self.of.get(number).is_some_and(|(reciprocal, _)| *reciprocal)
    }
}

fn log2e() -> Number {
    LOG2E.parse().unwrap_or(Number::ZERO)
}

/// The number that is read as a constant.
fn constant(reading: &Reading) -> Option<Number> {
    Some(reading.factor.recip()?.times(&reading.literal))
}

/// Whether a number is a power of two, or the opposite of one.
fn is_power(factor: &Number) -> bool {
    let value = factor.abs().rational();
    value.numer().is_power_of_two() && value.denom().is_power_of_two()
}

/// Whether a literal is within a unit in the last place of a power of two times what it is read as; or of another literal
/// times log₂ e, within half a unit.
fn is_near(nodes: &[Node], digits: u32, literal: &Number, reciprocal: bool, factor: &Number) -> Made<()> {
    let told = || format!("{literal} is not a literal near {factor} times what it is read as");
    let is_literal = || nodes.iter().any(|node| matches!(node, Node::Literal(_, number) if number == factor));
    let unit = if is_power(factor) {
        Number::power_of_two(1 - i64::from(digits.clamp(1, 64)))
    } else {
        Number::power_of_two(-i64::from(digits.clamp(1, 64))).filter(|_| !reciprocal && is_literal())
    };
    let of = if reciprocal { log2e().recip() } else { Some(log2e()) };
    let product = of.ok_or_else(told)?.times(factor).recip().ok_or_else(told)?;
    let gap = literal.times(&product).plus(&Number::Small(-1)).abs();
    if unit.is_some_and(|unit| gap <= unit) { Ok(()) } else { Err(told()) }
}

/// Whether a term is a sum with a logarithm in it.
fn has_logarithm(nodes: &[Node], root: u32) -> bool {
    let mut seen = HashSet::new();
    let mut stack = vec![root];
    while let Some(at) = stack.pop() {
        if let Some(Node::Apply(op, operands)) = nodes.get(at as usize).filter(|_| seen.insert(at)) {
            if *op == Op::Log2 {
                return true;
            }
            if matches!(op, Op::Add | Op::Sub | Op::Neg | Op::Fma) {
                stack.extend(&operands[..op.arity()]);
            }
        }
    }
    false
}
