//! Points at which terms are evaluated: numbers that the case's types can hold.
//!
//! The points are a fixed sequence: simple fractions first, then patterns that single conditions out (positive, sparse,
//! equal, negative, large, zero, rising and falling along rows), then pseudo-random numbers derived from (input,
//! element), then huge ones, so that a result depends on nothing but the case. All values are dyadic: evaluation keeps
//! polynomials exact, and range reductions rarely hit an integer exactly.

use super::evaluate::Point;
use super::{InputInfo, Sign};
use crate::number::Rational;
use crate::term::{InputId, Integers};

/// One point of the sequence, over all inputs.
#[derive(Clone, Copy, Debug)]
pub struct TestPoint<'i> {
    inputs: &'i [InputInfo],
    round: u32,
}

/// The point at which elements rise along each row.
pub(super) const RISING: u32 = 14;
/// The point at which elements fall along each row.
const FALLING: u32 = 15;

impl<'i> TestPoint<'i> {
    /// The point with index `round`.
    pub fn new(inputs: &'i [InputInfo], round: u32) -> TestPoint<'i> {
        TestPoint { inputs, round }
    }
}

/// A hash that depends on all bits of `seed` (the finalizer of `splitmix64`).
pub(super) fn mix(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

impl Point for TestPoint<'_> {
    fn at(&self, input: InputId, element: u64) -> Rational {
        self.value(input, element).rational()
    }

    #[inline]
    fn dyadic_at(&self, input: InputId, element: u64) -> Option<(i64, i32)> {
        let info = self.inputs.get(input.index());
        if info.is_none_or(|info| info.integers.is_none()) {
            return Some(self.real(input, element, info));
        }
        match self.value(input, element) {
            Number::Dyadic(mantissa, exp) => Some((mantissa, exp)),
            Number::Large(_) => None,
        }
    }
}

/// The value of an input: almost always a small one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// `mantissa · 2^exp`
    Dyadic(i64, i32),
    /// An integer that does not fit a machine word with its sign.
    Large(i128),
}

impl Number {
    pub(super) fn rational(self) -> Rational {
        match self {
            Number::Dyadic(mantissa, exp) => Rational::from_dyadic(mantissa, exp),
            Number::Large(value) => Rational::from_i128(value),
        }
    }

    fn integer(value: i128) -> Number {
        i64::try_from(value).map_or(Number::Large(value), |value| Number::Dyadic(value, 0))
    }
}

impl TestPoint<'_> {
    fn value(&self, input: InputId, element: u64) -> Number {
        let info = self.inputs.get(input.index());
        if let Some(info) = info
            && let Some(of) = info.integers
        {
            if info.distinct {
                return Number::integer(self.distinct(input, element, (of, info.sign == Sign::Nonzero)));
            }
            return assume_integer(self.integer(self.hash(input, element), element, of), info, of);
        }
        let (mantissa, exp) = self.real(input, element, info);
        Number::Dyadic(mantissa, exp)
    }

    fn hash(&self, input: InputId, element: u64) -> u64 {
        mix(mix(u64::from(self.round) << 32 | u64::from(input.0)) ^ element)
    }

    /// The value of a non-integer input, as `mantissa · 2^exp`.
    #[inline]
    fn real(&self, input: InputId, element: u64, info: Option<&InputInfo>) -> (i64, i32) {
        let hash = self.hash(input, element);
        // A number from 0 to below `count`.
        let choice = |hash: u64, count: u64| (((hash >> 32) * count) >> 32) as i64;
        // One of the integers from −most to most, without 0.
        let signed = |most: u64| {
            let magnitude = choice(hash, most) + 1;
            if hash & 1 == 1 { -magnitude } else { magnitude }
        };
        let (mantissa, exp) = match self.round {
            0 => (signed(8), -2),
            1 => (signed(12).abs(), -2),
            2 => (signed(40), -4),
            3 if hash >> 8 & 7 == 0 => (signed(3), 0),
            3 | 7 => (0, 0),
            4 => (1, 0),
            5 => (-signed(64).abs(), -6),
            6 => (signed(100), 0),
            8 => (signed(1024), -20),
            // Few values, so that many comparisons are ties.
            9 => (signed(2).abs(), 0),
            12 => (-signed(2).abs(), 0),
            10 | 13 => (choice(hash, 3) - 1, 0),
            11 => (choice(mix(element), 5) - 2, 0),
            // Every element of a row is the largest so far, or only the first is.
            RISING => along_row(element, info, |at, _| at),
            FALLING => along_row(element, info, |at, length| length - at),
            // So large that products outweigh masks of -1e9, and of -1e30.
            16 => (signed(8192), 4),
            17 => (signed(8192), 40),
            // All magnitudes; magnitudes of masks, near both ends of f32's range, and full mantissas.
            18 => (signed(8192), (choice(mix(hash), 81) - 40) as i32),
            19 => (signed(8192), 18),
            20 => (signed(8192), 100),
            21 => (signed(8192), -120),
            22 => (signed(1 << 23), 0),
            round if round % 4 == 1 => (signed(8192).abs(), -10),
            round if round % 4 == 3 => (-signed(8192).abs(), -10),
            _ => (signed(8192), -10),
        };
        match info {
            // Almost always.
            Some(info) if info.sign == Sign::Any && info.formats.surely_hold(mantissa, exp) => {
                (mantissa, exp)
            }
            Some(info) => assume((mantissa, exp), info),
            None => (mantissa, exp),
        }
    }

    /// The value of an integer that no other element has.
    fn distinct(&self, input: InputId, element: u64, (of, nonzero): (Integers, bool)) -> i128 {
        let (count, hash) = (of.places(nonzero), self.hash(input, u64::MAX));
        let (first, mut step) = match self.round {
            0 => (0, 1),
            1 => (count - 1, count - 1),
            _ => (i128::from(hash >> 32), i128::from(hash as u32) | 1),
        };
        while gcd(step.rem_euclid(count), count) != 1 {
            step += 1;
        }
        of.at_place(first + i128::from(element) * step, nonzero)
    }

    /// The value of an integer: small ones, then any bits, then extremes.
    fn integer(&self, hash: u64, element: u64, of: Integers) -> i128 {
        let choice = |hash: u64, count: u64| i128::from(((hash >> 32) * count) >> 32);
        let any = ((u128::from(hash) * of.count() as u128) >> 64) as i128;
        match self.round {
            0 => choice(hash, 9),
            1 => choice(hash, 25) - 12,
            3 if hash >> 8 & 7 == 0 => any,
            3 | 7 => 0,
            4 => 1,
            5 => -1,
            6 => choice(hash, 200) - 100,
            9 => choice(hash, 2),
            10 | 13 => choice(hash, 3) - 1,
            11 => choice(mix(element), 5) - 2,
            16 if hash & 1 == 0 => of.least,
            16 => of.greatest,
            17 => 1 << (hash % u64::from(of.count().ilog2().max(1))),
            18 => of.greatest - choice(hash, 9),
            19 => of.least + choice(hash, 9),
            _ => any,
        }
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if a == 0 { b } else { gcd(b % a, a) }
}

/// A number from 0 to 8 for an element, by its position in its row.
fn along_row(element: u64, info: Option<&InputInfo>, of: fn(i64, i64) -> i64) -> (i64, i32) {
    let length =
        info.and_then(|info| info.shape.last()).map_or(LONG_ROW, |length| (*length).clamp(1, LONG_ROW));
    let exp = 3 - length.next_power_of_two().trailing_zeros() as i32;
    (of((element % length) as i64, length as i64), exp)
}

/// Longer rows count as several.
const LONG_ROW: u64 = 1 << 16;

/// `value`, adjusted to the type and the assumption.
pub(super) fn assume_integer(value: i128, info: &InputInfo, of: Integers) -> Number {
    let wrapped = of.wrapped(value);
    let assumed = match info.sign {
        Sign::Any => wrapped,
        Sign::NonNegative => wrapped.abs(),
        Sign::NonPositive => -wrapped.abs(),
        Sign::Positive => wrapped.abs().max(1),
        Sign::Negative => -wrapped.abs().max(1),
        Sign::Nonzero if wrapped == 0 => 1,
        Sign::Nonzero => wrapped,
    };
    let inside = assumed.clamp(of.least, of.greatest);
    if info.formats.is_empty() {
        return Number::integer(inside);
    }
    // A float on the other side.
    let held = info.formats.towards_zero(&Rational::from_i128(inside));
    dyadic(&held).map_or(Number::Large(inside), |(mantissa, exp)| Number::Dyadic(mantissa, exp))
}

/// `mantissa · 2^exp`, adjusted to the input's formats and the assumption.
pub(super) fn assume((mut mantissa, mut exp): (i64, i32), info: &InputInfo) -> (i64, i32) {
    if !info.formats.surely_hold(mantissa, exp) {
        let held = info.formats.towards_zero(&Rational::from_dyadic(mantissa, exp));
        (mantissa, exp) = dyadic(&held).unwrap_or((0, 0));
    }
    let nonzero = |mantissa: i64| if mantissa == 0 { (1, 0) } else { (mantissa, exp) };
    match info.sign {
        Sign::Any => (mantissa, exp),
        Sign::NonNegative => (mantissa.abs(), exp),
        Sign::NonPositive => (-mantissa.abs(), exp),
        Sign::Positive => nonzero(mantissa.abs()),
        Sign::Negative => {
            let (mantissa, exp) = nonzero(mantissa.abs());
            (-mantissa, exp)
        }
        Sign::Nonzero => nonzero(mantissa),
    }
}

/// A number as `mantissa · 2^exp`.
fn dyadic(value: &Rational) -> Option<(i64, i32)> {
    let (num, den) = value.to_parts();
    let (zeros, digits) = (num.find_one(0).unwrap_or(0), den.find_one(0)?);
    let mantissa = (num >> zeros).to_i64()?;
    den.is_power_of_two().then_some((mantissa, zeros as i32 - digits as i32))
}

/// The admissible value of an input nearest to `value`, towards zero; `None` where the assumption excludes it.
pub(super) fn admitted(value: &Rational, info: &InputInfo) -> Option<Rational> {
    let held = info.formats.towards_zero(value);
    is_assumed(&held, info).then_some(held)
}

/// Whether a value satisfies what is assumed of an input.
pub(super) fn is_assumed(value: &Rational, info: &InputInfo) -> bool {
    if let Some(of) = info.integers
        && !(value.is_integer()
            && (Rational::from_i128(of.least)..=Rational::from_i128(of.greatest)).contains(value))
    {
        return false;
    }
    match info.sign {
        Sign::Any => true,
        Sign::NonNegative => !value.is_negative(),
        Sign::NonPositive => !value.is_positive(),
        Sign::Positive => value.is_positive(),
        Sign::Negative => value.is_negative(),
        Sign::Nonzero => !value.is_zero(),
    }
}
