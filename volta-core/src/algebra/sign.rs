//! Which signs a value can have: an abstract interpretation, used to discharge obligations (rule V8).
//!
//! A set of signs is right when it contains the sign of the value at every input at which the value is defined.
//! Infinities have signs too.

use super::atom::TermRef;
use super::canon::Prover;
use super::{Stop, analysis::INFINITE};
use crate::number::Rational;
use crate::term::{TermOp, View};
use std::ops::{BitAnd, BitOr, Neg};

/// A set of signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signs(u8);

impl Signs {
    /// Below zero.
    pub const NEGATIVE: Signs = Signs(1);
    /// Zero.
    pub const ZERO: Signs = Signs(2);
    /// Above zero.
    pub const POSITIVE: Signs = Signs(4);
    /// Not below zero.
    pub const NOT_NEGATIVE: Signs = Signs(6);
    /// No restriction.
    pub const ANY: Signs = Signs(7);

    /// The sign of a number.
    pub fn of(value: &Rational) -> Signs {
        Signs::from_signum(value.signum())
    }

    fn from_signum(signum: i32) -> Signs {
        match signum {
            -1 => Signs::NEGATIVE,
            0 => Signs::ZERO,
            _ => Signs::POSITIVE,
        }
    }

    fn list(self) -> impl Iterator<Item = i32> + Clone {
        (-1..=1).filter(move |sign| self.0 >> (sign + 1) & 1 == 1)
    }

    fn combine(self, other: Signs, f: impl Fn(i32, i32) -> Signs) -> Signs {
        let mut out = Signs(0);
        for a in self.list() {
            for b in other.list() {
                out = out | f(a, b);
            }
        }
        out
    }

    /// Whether one sign is among them.
    fn contains(self, sign: Signs) -> bool {
        self.0 & sign.0 != 0
    }

    /// Whether every sign in `self` is in `other`.
    pub fn within(self, other: Signs) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether zero is excluded.
    pub fn excludes_zero(self) -> bool {
        !self.contains(Signs::ZERO)
    }

    /// Signs of products.
    pub fn times(self, other: Signs) -> Signs {
        let when = |sign: Signs, product: Signs| if self.contains(sign) { product } else { Signs(0) };
        let zero = if other == Signs(0) { Signs(0) } else { Signs::ZERO };
        when(Signs::POSITIVE, other) | when(Signs::NEGATIVE, -other) | when(Signs::ZERO, zero)
    }

    /// Signs of squares.
    pub fn times_itself(self) -> Signs {
        self.list().fold(Signs(0), |out, a| out | Signs::from_signum(a * a))
    }

    /// Signs of sums.
    pub fn plus(self, other: Signs) -> Signs {
        // Of two numbers of one sign that one, of a number and zero the number's, and of opposite ones any.
        let of_one = self & other;
        let beside_zero =
            |zero: Signs, signs: Signs| if zero.contains(Signs::ZERO) { signs } else { Signs(0) };
        let opposite = |a: Signs, b: Signs| a.contains(Signs::NEGATIVE) && b.contains(Signs::POSITIVE);
        if opposite(self, other) || opposite(other, self) {
            return Signs::ANY;
        }
        of_one | beside_zero(self, other) | beside_zero(other, self)
    }

    /// Signs of the larger of two.
    pub fn max(self, other: Signs) -> Signs {
        self.combine(other, |a, b| Signs::from_signum(a.max(b)))
    }

    /// Signs of the smaller of two.
    pub fn min(self, other: Signs) -> Signs {
        self.combine(other, |a, b| Signs::from_signum(a.min(b)))
    }

    /// Signs of a square root, its radicand not negative.
    pub fn sqrt(self) -> Signs {
        if self.excludes_zero() { Signs::POSITIVE } else { Signs::NOT_NEGATIVE }
    }
}

impl BitOr for Signs {
    type Output = Signs;
    fn bitor(self, other: Signs) -> Signs {
        Signs(self.0 | other.0)
    }
}

impl BitAnd for Signs {
    type Output = Signs;
    fn bitand(self, other: Signs) -> Signs {
        Signs(self.0 & other.0)
    }
}

impl std::ops::Not for Signs {
    type Output = Signs;
    fn not(self) -> Signs {
        Signs(!self.0 & Signs::ANY.0)
    }
}

impl Neg for Signs {
    type Output = Signs;
    fn neg(self) -> Signs {
        Signs(self.0 & 2 | self.0 >> 2 | (self.0 & 1) << 2)
    }
}

impl Prover<'_> {
    /// The signs that a term can have, from the operations that made it.
    ///
    /// # Cost
    /// Each node once per prover.
    pub fn term_signs(&mut self, root: TermRef) -> Result<Signs, Stop> {
        let mut stack = vec![root];
        while let Some(&at) = stack.last() {
            self.charge(1)?;
            if self.known_signs(at).is_some() {
                stack.pop();
                continue;
            }
            let View::Apply(op, operands) = self.view(at) else {
                stack.pop();
                continue;
            };
            let first_new = stack.len();
            for operand in &operands[sign_giving(op)] {
                let operand = TermRef { store: at.store, term: *operand };
                if self.known_signs(operand).is_none() {
                    stack.push(operand);
                }
            }
            if stack.len() == first_new {
                let signs = self.combine_signs(op, operands.map(|term| TermRef { store: at.store, term }));
                self.signs.insert(at, signs);
                stack.pop();
            }
        }
        Ok(self.known_signs(root).unwrap_or(Signs::ANY))
    }

    fn known_signs(&self, at: TermRef) -> Option<Signs> {
        match self.view(at) {
            View::Input { input, .. } => Some(self.input_signs(input)),
            View::Constant(constant) => Some(Signs::from_signum(constant.exact.signum())),
            View::Apply(..) => self.signs.get(&at).copied(),
        }
    }

    fn combine_signs(&self, op: TermOp, operands: [TermRef; 3]) -> Signs {
        let [a, b, c] = operands.map(|operand| self.known_signs(operand).unwrap_or(Signs::ANY));
        let infinite = |operand: TermRef| self.flags(operand) & INFINITE != 0;
        let or_zero = |signs: Signs, zero: bool| if zero { signs | Signs::ZERO } else { signs };
        let product = if operands[0] == operands[1] { a.times_itself() } else { a.times(b) };
        match op {
            TermOp::Add => a.plus(b),
            TermOp::Sub => a.plus(-b),
            TermOp::Mul => product,
            TermOp::Fma => product.plus(c),
            // The quotient of a number and an infinity is zero.
            TermOp::Div => or_zero(product, infinite(operands[1])),
            TermOp::Neg => -a,
            TermOp::Abs => a.times_itself(),
            TermOp::Max => a.max(b),
            TermOp::Min => a.min(b),
            TermOp::Saturate => a.max(Signs::ZERO),
            TermOp::Exp2 => or_zero(Signs::POSITIVE, infinite(operands[0])),
            TermOp::Sqrt => a.sqrt(),
            TermOp::Rsqrt => or_zero(Signs::POSITIVE, infinite(operands[0])),
            TermOp::Tanh => a,
            TermOp::Floor => or_zero(a, !a.within(Signs::NEGATIVE)),
            TermOp::Ceil => or_zero(a, !a.within(Signs::POSITIVE)),
            TermOp::Trunc | TermOp::RoundEven => or_zero(a, true),
            TermOp::Mod | TermOp::BitAnd => Signs::NOT_NEGATIVE,
            TermOp::Select => b | c,
            TermOp::CopySign => {
                let magnitude = b.times_itself();
                if a == Signs::POSITIVE { magnitude } else { magnitude | -magnitude }
            }
            TermOp::Log2
            | TermOp::Sin
            | TermOp::Cos
            | TermOp::Less
            | TermOp::LessEqual
            | TermOp::Equal
            | TermOp::Not
            | TermOp::And
            | TermOp::Or
            | TermOp::Xor => Signs::ANY,
        }
    }
}

/// The operands that signs of a result are read off.
fn sign_giving(op: TermOp) -> std::ops::Range<usize> {
    match op {
        TermOp::Select => 1..3,
        // A power of two is positive whatever the exponent, which mostly is a long sum.
        TermOp::Exp2
        | TermOp::Rsqrt
        | TermOp::Log2
        | TermOp::Sin
        | TermOp::Cos
        | TermOp::Less
        | TermOp::LessEqual
        | TermOp::Equal
        | TermOp::Not
        | TermOp::And
        | TermOp::Or
        | TermOp::Xor
        | TermOp::Mod
        | TermOp::BitAnd => 0..0,
        TermOp::Add
        | TermOp::Sub
        | TermOp::Mul
        | TermOp::Fma
        | TermOp::Div
        | TermOp::Neg
        | TermOp::Abs
        | TermOp::Max
        | TermOp::Min
        | TermOp::Saturate
        | TermOp::Sqrt
        | TermOp::Tanh
        | TermOp::Floor
        | TermOp::Ceil
        | TermOp::Trunc
        | TermOp::RoundEven
        | TermOp::CopySign => 0..op.arity(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_sums_and_products_are_those_of_numbers() {
        let sets: Vec<Signs> = (0..8).map(Signs).collect();
        for a in &sets {
            for b in &sets {
                assert_eq!(a.times(*b), a.combine(*b, |a, b| Signs::from_signum(a * b)));
                // Opposite signs: the sum of two numbers of any size.
                let sum = |a: i32, b: i32| {
                    if a * b < 0 { Signs::ANY } else { Signs::from_signum((a + b).signum()) }
                };
                assert_eq!(a.plus(*b), a.combine(*b, sum));
            }
        }
    }

    #[test]
    fn signs_of_sums_and_products_are_rigorous() {
        let sets: Vec<Signs> = (1..8).map(Signs).collect();
        let samples = [-3, -2, -1, 0, 1, 2, 3];
        for a in &sets {
            for b in &sets {
                for x in samples.iter().filter(|x| Signs::from_signum(i32::signum(**x)).within(*a)) {
                    assert!(Signs::from_signum(-x.signum()).within(-*a));
                    assert!(Signs::from_signum((x * x).signum()).within(a.times_itself()));
                    for y in samples.iter().filter(|y| Signs::from_signum(i32::signum(**y)).within(*b)) {
                        assert!(Signs::from_signum((x * y).signum()).within(a.times(*b)));
                        assert!(Signs::from_signum((x + y).signum()).within(a.plus(*b)));
                        assert!(Signs::from_signum(x.max(y).signum()).within(a.max(*b)));
                        assert!(Signs::from_signum(x.min(y).signum()).within(a.min(*b)));
                    }
                }
            }
        }
    }
}
