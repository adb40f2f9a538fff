//! Exact rationals: whole numbers in a machine word while they fit, GMP beyond.

use rug::Rational;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A rational, in the first form that has it, so that equal numbers are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// A whole number.
    Small(i64),
    /// A fraction in lowest terms: a denominator above one.
    Ratio(i64, i64),
    /// Any other rational.
    Large(Box<Rational>),
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = match (u64::try_from(a), u64::try_from(b)) {
            (Ok(a), Ok(b)) => (b.into(), (a % b).into()),
            _ => (b, a % b),
        };
    }
    a as i128
}

impl Number {
    /// 0
    pub const ZERO: Number = Number::Small(0);
    /// 1
    pub const ONE: Number = Number::Small(1);

    /// The number of a rational.
    pub fn of(value: Rational) -> Number {
        match (value.numer().to_i64(), value.denom().to_i64()) {
            (Some(whole), Some(1)) => Number::Small(whole),
            (Some(above), Some(below)) => Number::Ratio(above, below),
            _ => Number::Large(Box::new(value)),
        }
    }

    /// A quotient by a positive number, if it is short.
    fn quotient(above: i128, below: i128) -> Option<Number> {
        let common = gcd(above, below);
        match (i64::try_from(above / common).ok()?, i64::try_from(below / common).ok()?) {
            (whole, 1) => Some(Number::Small(whole)),
            (above, below) => Some(Number::Ratio(above, below)),
        }
    }

    /// Its numerator and denominator, if they are short.
    fn parts(&self) -> Option<(i128, i128)> {
        match self {
            Number::Small(value) => Some(((*value).into(), 1)),
            Number::Ratio(above, below) => Some(((*above).into(), (*below).into())),
            Number::Large(_) => None,
        }
    }

    /// The rational.
    pub fn rational(&self) -> Rational {
        match self {
            Number::Small(value) => Rational::from(*value),
            Number::Ratio(above, below) => Rational::from((*above, *below)),
            Number::Large(value) => (**value).clone(),
        }
    }

    /// −1, 0 or 1.
    pub fn signum(&self) -> i64 {
        match self {
            Number::Small(value) | Number::Ratio(value, _) => value.signum(),
            Number::Large(value) => value.cmp0() as i64,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        *self == Number::ZERO
    }

    pub(crate) fn plus(&self, other: &Number) -> Number {
        if let (Some((a, b)), Some((c, d))) = (self.parts(), other.parts())
            && let (Some(left), Some(right)) = (a.checked_mul(d), c.checked_mul(b))
            && let Some(sum) = left.checked_add(right).and_then(|above| Number::quotient(above, b * d))
        {
            return sum;
        }
        Number::of(self.rational() + other.rational())
    }

    pub(crate) fn times(&self, other: &Number) -> Number {
        if let (Some((a, b)), Some((c, d))) = (self.parts(), other.parts())
            && let Some(product) = Number::quotient(a * c, b * d)
        {
            return product;
        }
        Number::of(self.rational() * other.rational())
    }

    pub(crate) fn negated(&self) -> Number {
        match self {
            Number::Small(value) if *value > i64::MIN => Number::Small(-value),
            Number::Ratio(above, below) if *above > i64::MIN => Number::Ratio(-above, *below),
            Number::Small(_) | Number::Ratio(..) | Number::Large(_) => Number::of(-self.rational()),
        }
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
            Number::Ratio(above, below) => Number::Small(above.div_euclid(*below)),
            Number::Large(value) => Number::of((**value).clone().floor()),
        }
    }

    /// A whole number of a machine word.
    pub(crate) fn small(&self) -> Option<i64> {
        match self {
            Number::Small(value) => Some(*value),
            Number::Ratio(..) | Number::Large(_) => None,
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
            Number::Small(_) | Number::Ratio(..) => 64,
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
        match (self.parts(), other.parts()) {
            (Some((a, b)), Some((c, d))) => (a * d).cmp(&(c * b)),
            _ => self.rational().cmp(&other.rational()),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Small(value) => value.fmt(f),
            Number::Ratio(above, below) => write!(f, "{above}/{below}"),
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
