//! Exact rationals: whole numbers in a machine word while they fit, GMP beyond.

use rug::Rational;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A rational, in the first form that has it, so that equal numbers are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// A whole number.
    Small(i64),
    /// Any other rational.
    Large(Arc<Rational>),
}

impl Number {
    /// 0
    pub const ZERO: Number = Number::Small(0);
    /// 1
    pub const ONE: Number = Number::Small(1);

    /// The number of a rational.
    pub fn of(value: Rational) -> Number {
        match value.numer().to_i64() {
            Some(whole) if value.is_integer() => Number::Small(whole),
            _ => Number::Large(Arc::new(value)),
        }
    }

    /// The rational.
    pub fn rational(&self) -> Cow<'_, Rational> {
        match self {
            Number::Small(value) => Cow::Owned(Rational::from(*value)),
            Number::Large(value) => Cow::Borrowed(value),
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
        let small =
            if let (Number::Small(a), Number::Small(b)) = (self, other) { a.checked_add(*b) } else { None };
        small.map_or_else(|| Number::of((&*self.rational() + &*other.rational()).into()), Number::Small)
    }

    pub(crate) fn times(&self, other: &Number) -> Number {
        let small = match (self, other) {
            (_, Number::Small(1)) => return self.clone(),
            (Number::Small(a), Number::Small(b)) => a.checked_mul(*b),
            _ => None,
        };
        small.map_or_else(|| Number::of((&*self.rational() * &*other.rational()).into()), Number::Small)
    }

    pub(crate) fn negated(&self) -> Number {
        self.times(&Number::Small(-1))
    }

    pub(crate) fn abs(&self) -> Number {
        if self.signum() < 0 { self.negated() } else { self.clone() }
    }

    /// The reciprocal of a number other than zero.
    pub(crate) fn recip(&self) -> Option<Number> {
        (!self.is_zero()).then(|| Number::of(self.rational().into_owned().recip()))
    }

    /// The largest whole number that is not above it.
    pub(crate) fn floor(&self) -> Number {
        Number::of(self.rational().into_owned().floor())
    }

    /// A whole number of a machine word.
    pub(crate) fn small(&self) -> Option<i64> {
        if let Number::Small(value) = self { Some(*value) } else { None }
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
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        self.plus(&other.negated()).signum().cmp(&0)
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
        let value = if text.len() > MAX_DIGITS { None } else { Rational::from_str(text).ok() };
        let told = || format!("`{}` is not a number", text.chars().take(40).collect::<String>());
        value.map(Number::of).ok_or_else(told)
    }
}
