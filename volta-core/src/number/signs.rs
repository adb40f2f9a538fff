//! The possible signs of a value.
//!
//! A set of signs is sound if it contains the sign of the value at every input at which the value is defined.
//! Infinities have signs too.

use std::ops::{BitAnd, BitOr, Neg, Not};

use super::Rational;

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
    /// Not above zero.
    pub const NOT_POSITIVE: Signs = Signs(3);
    /// Not zero.
    pub const NOT_ZERO: Signs = Signs(5);
    /// Any.
    pub const ANY: Signs = Signs(7);

    /// The sign of a number.
    pub fn of(value: &Rational) -> Signs {
        Signs::from_signum(value.signum())
    }

    /// The sign of a `signum`.
    pub fn from_signum(signum: i32) -> Signs {
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
    pub fn contains(self, sign: Signs) -> bool {
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
        // Equal signs keep their sign, zero keeps the other's sign, and opposite signs give any.
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

    /// The signs of a function's values for arguments with these signs, given the signs of its values for negative
    /// arguments, zero and positive ones.
    pub fn through(self, function: &[Signs; 3]) -> Signs {
        self.list().fold(Signs(0), |out, sign| out | function[(sign + 1) as usize])
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

impl Not for Signs {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_sums_and_products_are_those_of_numbers() {
        let sets: Vec<Signs> = (0..8).map(Signs).collect();
        for a in &sets {
            for b in &sets {
                assert_eq!(a.times(*b), a.combine(*b, |a, b| Signs::from_signum(a * b)));
                // Opposite signs: the sum of two numbers of any magnitude.
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
