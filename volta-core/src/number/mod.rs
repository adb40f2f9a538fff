//! Exact numbers: rationals, rationals with infinities, float formats, enclosures.

use std::cmp::Ordering;
use std::fmt;

pub mod format;
pub mod fraction;
pub mod interval;
mod rational;
mod rounded;
pub mod signs;
pub mod value;

pub use rational::Rational;
pub use rounded::Rounded;

/// A rational or an infinity: the value of a kernel's constant (rule V3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extended {
    /// A rational.
    Finite(Rational),
    /// `+∞`
    PosInf,
    /// `−∞`
    NegInf,
}

impl Extended {
    /// The rational, if it is one.
    pub fn finite(&self) -> Option<&Rational> {
        match self {
            Extended::Finite(value) => Some(value),
            Extended::PosInf | Extended::NegInf => None,
        }
    }

    /// Whether it is a rational.
    pub fn is_finite(&self) -> bool {
        self.finite().is_some()
    }

    /// −1, 0 or 1.
    pub fn signum(&self) -> i32 {
        match self {
            Extended::Finite(value) => value.signum(),
            Extended::PosInf => 1,
            Extended::NegInf => -1,
        }
    }
}

impl std::ops::Neg for &Extended {
    type Output = Extended;
    fn neg(self) -> Extended {
        match self {
            Extended::Finite(value) => Extended::Finite(-value),
            Extended::PosInf => Extended::NegInf,
            Extended::NegInf => Extended::PosInf,
        }
    }
}

impl std::ops::Neg for Extended {
    type Output = Extended;
    fn neg(self) -> Extended {
        -&self
    }
}

impl From<Rational> for Extended {
    fn from(value: Rational) -> Extended {
        Extended::Finite(value)
    }
}

impl PartialOrd for Extended {
    fn partial_cmp(&self, other: &Extended) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Extended {
    fn cmp(&self, other: &Extended) -> Ordering {
        let rank = |value: &Extended| if value.is_finite() { 0 } else { value.signum() };
        match (self, other) {
            (Extended::Finite(left), Extended::Finite(right)) => left.cmp(right),
            (
                Extended::Finite(_) | Extended::PosInf | Extended::NegInf,
                Extended::Finite(_) | Extended::PosInf | Extended::NegInf,
            ) => rank(self).cmp(&rank(other)),
        }
    }
}

/// `3/4`, `inf`, `-inf`.
impl fmt::Display for Extended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extended::Finite(value) => value.fmt(f),
            Extended::PosInf => f.write_str("inf"),
            Extended::NegInf => f.write_str("-inf"),
        }
    }
}
