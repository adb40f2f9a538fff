//! Points at which terms are evaluated.
//!
//! The points are a fixed sequence: simple fractions first, then patterns that single conditions out (positive,
//! sparse, equal, negative, large, zero), then pseudo-random numbers derived from (input, element), then huge ones, so
//! that a result depends on nothing but the case. All values are dyadic: evaluation keeps polynomials exact, and
//! ranges are rarely reduced just at an integer.

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

impl<'i> TestPoint<'i> {
    /// The point of number `round`.
    pub fn new(inputs: &'i [InputInfo], round: u32) -> TestPoint<'i> {
        TestPoint { inputs, round }
    }
}

/// A pseudo-random number that depends on all of its bits (the finalizer of `splitmix64`).
fn mix(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

impl Point for TestPoint<'_> {
    fn at(&self, input: InputId, element: u64) -> Rational {
        let (mantissa, exp) = self.value(input, element);
        Rational::from_dyadic(mantissa, exp)
    }

    fn dyadic_at(&self, input: InputId, element: u64) -> Option<(i64, i32)> {
        Some(self.value(input, element))
    }
}

impl TestPoint<'_> {
    /// `(mantissa, exponent)` of an element's value.
    fn value(&self, input: InputId, element: u64) -> (i64, i32) {
        let hash = mix(mix(u64::from(self.round) << 32 | u64::from(input.0)) ^ element);
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
            // So large that products outweigh masks of -1e9, and of -1e30.
            16 => (signed(8192), 4),
            17 => (signed(8192), 40),
            round if round % 4 == 1 => (signed(8192).abs(), -10),
            round if round % 4 == 3 => (-signed(8192).abs(), -10),
            _ => (signed(8192), -10),
        };
        let info = self.inputs.get(input.index());
        let sign = info.map_or(Sign::Any, |info| info.sign);
        match info.and_then(|info| info.integers) {
            Some(of) => assume_integer(self.integer(hash, element, of), sign, of),
            None => assume(mantissa, exp, sign),
        }
    }

    /// The value of an integer: small ones, then any digits, then extremes.
    fn integer(&self, hash: u64, element: u64, of: Integers) -> i64 {
        let choice = |hash: u64, count: u64| (((hash >> 32) * count) >> 32) as i64;
        let any = hash as i64 >> (64 - of.bits);
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
            16 if hash & 1 == 0 => bounded(of.least()),
            16 => bounded(of.greatest()),
            17 => 1 << (hash % u64::from(of.bits.min(62))),
            _ => any,
        }
    }
}

/// The nearest of the numbers that a machine word holds.
fn bounded(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// `value`, or the like of it that is in the type and satisfies the assumption.
pub(super) fn assume_integer(value: i64, sign: Sign, of: Integers) -> (i64, i32) {
    let wrapped = if of.signed {
        value
    } else {
        // The digits as they are, except for the highest of 64.
        (value as u64 & (u64::MAX >> (64 - of.bits)) & i64::MAX as u64) as i64
    };
    let (assumed, _) = assume(wrapped, 0, sign);
    let inside = i128::from(assumed).clamp(of.least(), of.greatest());
    (bounded(inside), 0)
}

/// `mantissa · 2^exp`, or the like of it that satisfies the assumption.
pub(super) fn assume(mantissa: i64, exp: i32, sign: Sign) -> (i64, i32) {
    let nonzero = |mantissa: i64| if mantissa == 0 { (1, 0) } else { (mantissa, exp) };
    match sign {
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

/// Whether a value satisfies what is assumed of an input.
pub(super) fn is_assumed(value: &Rational, info: &InputInfo) -> bool {
    if let Some(of) = info.integers
        && !value.to_i64().is_some_and(|value| (of.least()..=of.greatest()).contains(&i128::from(value)))
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
