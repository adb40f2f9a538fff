//! Exact rationals: whole numbers in a machine word while they fit, GMP beyond.

use rug::Rational;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A rational. Whole numbers of 64 bits are always `Small`, so that equal numbers are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// A whole number.
    Small(i64),
    /// Any other rational.
    Large(Box<Rational>),
}

impl Number {
    /// 0
    pub const ZERO: Number = Number::Small(0);
    /// 1
    pub const ONE: Number = Number::Small(1);

    /// The number of a rational.
    pub fn of(value: Rational) -> Number {
        match value.numer().to_i64().filter(|_| value.is_integer()) {
            Some(small) => Number::Small(small),
            None => Number::Large(Box::new(value)),
        }
    }

    /// The rational.
    pub fn rational(&self) -> Rational {
        match self {
            Number::Small(value) => Rational::from(*value),
            Number::Large(value) => (**value).clone(),
        }
    }

    /// −1, 0 or 1.
    pub fn signum(&self) -> i64 {
        match self {
            Number::Small(value) => value.signum(),
            Number::Large(value) => value.cmp0() as i64,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        *self == Number::ZERO
    }

    pub(crate) fn plus(&self, other: &Number) -> Number {
        if let (Number::Small(a), Number::Small(b)) = (self, other)
            && let Some(sum) = a.checked_add(*b)
        {
            return Number::Small(sum);
        }
        Number::of(self.rational() + other.rational())
    }

    pub(crate) fn times(&self, other: &Number) -> Number {
        if let (Number::Small(a), Number::Small(b)) = (self, other)
            && let Some(product) = a.checked_mul(*b)
        {
            return Number::Small(product);
        }
        Number::of(self.rational() * other.rational())
    }

    pub(crate) fn negated(&self) -> Number {
        Number::Small(-1).times(self)
    }

    pub(crate) fn abs(&self) -> Number {
        if self.signum() < 0 { self.negated() } else { self.clone() }
    }

    /// The reciprocal of a number other than zero.
    pub(crate) fn recip(&self) -> Option<Number> {
        (!self.is_zero()).then(|| Number::of(self.rational().recip()))
    }

    /// The largest whole number that is not above it.
    pub(crate) fn floor(&self) -> Number {
        match self {
            Number::Small(_) => self.clone(),
            Number::Large(value) => Number::of((**value).clone().floor()),
        }
    }

    /// A whole number of a machine word.
    pub(crate) fn small(&self) -> Option<i64> {
        match self {
            Number::Small(value) => Some(*value),
            Number::Large(_) => None,
        }
    }

    /// `2^exponent`, within a million binary digits.
    pub(crate) fn power_of_two(exponent: i64) -> Option<Number> {
        let shift = u32::try_from(exponent.unsigned_abs()).ok().filter(|shift| *shift <= 1 << 20)?;
        let power = Rational::from(rug::Integer::from(1) << shift);
        Some(Number::of(if exponent < 0 { power.recip() } else { power }))
    }

    /// The binary digits of its numerator and denominator together.
    pub(crate) fn digits(&self) -> usize {
        match self {
            Number::Small(_) => 64,
            Number::Large(value) => {
                (value.numer().significant_bits() + value.denom().significant_bits()) as usize
            }
        }
    }

    /// The root of a square.
    pub(crate) fn root(&self) -> Option<Number> {
        let value = self.rational();
        if self.signum() < 0 || !value.numer().is_perfect_square() || !value.denom().is_perfect_square() {
            return None;
        }
        Some(Number::of(Rational::from((value.numer().clone().sqrt(), value.denom().clone().sqrt()))))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (self, other) {
            (Number::Small(a), Number::Small(b)) => a.cmp(b),
            (Number::Small(_) | Number::Large(_), Number::Small(_) | Number::Large(_)) => {
                self.rational().cmp(&other.rational())
            }
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Small(value) => value.fmt(f),
            Number::Large(value) => value.fmt(f),
        }
    }
}

/// A longer number is refused.
const MAX_DIGITS: usize = 1 << 16;

impl FromStr for Number {
    type Err = String;

    fn from_str(text: &str) -> Result<Number, String> {
        let told = || format!("`{}` is not a number", text.chars().take(40).collect::<String>());
        if text.len() > MAX_DIGITS {
            return Err(told());
        }
        Rational::from_str(text).map(Number::of).map_err(|_| told())
    }
}
