//! The possible hardware values of a known real (rule V10).

use super::Extended;
use super::format::{Format, Rounding, decode, encode, has_sign, is_finite};

/// An interval of numbers of a format, one of which the hardware holds; −0 and +0 are distinct.
///
/// Invariant: neither end is a NaN, and if one is infinite, both are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rounded {
    format: Format,
    low: u64,
    high: u64,
}

/// The sign bit, or for a format without signs the first bit above its encodings.
fn sign_bit(format: Format) -> u64 {
    1 << (8 * format.bytes() - u32::from(has_sign(format)))
}

/// A key that orders encodings by value, −0 before +0.
fn order(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & (sign_bit(format) - 1)).cast_signed();
    if bits & sign_bit(format) == 0 { magnitude } else { -magnitude - 1 }
}

impl Rounded {
    /// A single encoding; `None` for NaN.
    pub fn exactly(format: Format, bits: u64) -> Option<Rounded> {
        Rounded::between(format, bits, bits)
    }

    /// The interval between two encodings; `None` if one is a NaN, or infinite and not equal to the other.
    pub fn between(format: Format, low: u64, high: u64) -> Option<Rounded> {
        let number = |bits| is_finite(format, bits).map(|finite| finite || low == high);
        let ordered = order(format, low) <= order(format, high);
        (ordered && number(low)? && number(high)?).then_some(Rounded { format, low, high })
    }

    /// The format.
    pub fn format(self) -> Format {
        self.format
    }

    /// The bits, if they are known.
    pub fn bits(self) -> Option<u64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Format and bits, if they are known.
    pub fn spelled(self) -> Option<(Format, u64)> {
        Some((self.format, self.bits()?))
    }

    /// The bits of the least and of the greatest number.
    pub fn ends(self) -> [u64; 2] {
        [self.low, self.high]
    }

    /// The least and the greatest number.
    pub fn bounds(self) -> [Extended; 2] {
        // Neither is a NaN, by the invariant.
        self.ends().map(|bits| decode(self.format, bits).extended().unwrap_or(Extended::PosInf))
    }

    /// Whether the sign bit is set, if that is known.
    pub fn is_negative(self) -> Option<bool> {
        let [low, high] = self.ends().map(|bits| bits & sign_bit(self.format) != 0);
        (low == high).then_some(low)
    }

    /// Maps both ends to another format by a monotonic function, which decides the sign of a zero.
    pub fn map(self, format: Format, map: impl Fn(u64) -> u64) -> Option<Rounded> {
        Rounded::between(format, map(self.low), map(self.high))
    }

    /// The same numbers in another format; `None` if it does not hold them.
    pub fn within(self, format: Format) -> Option<Rounded> {
        if format == self.format {
            return Some(self);
        }
        let same = self.map(format, |bits| self.converted(bits, format, Rounding::Nearest))?;
        (same.bounds() == self.bounds()).then_some(same)
    }

    /// Converts bits of this format to another one; a zero keeps its sign.
    pub fn converted(self, bits: u64, format: Format, rounding: Rounding) -> u64 {
        let Some(value) = decode(self.format, bits).extended() else { return bits };
        let magnitude = encode(&value, format, rounding) & !sign_bit(format);
        magnitude | if bits & sign_bit(self.format) == 0 { 0 } else { sign_bit(format) }
    }

    /// Flushes subnormal numbers to zeros of the same sign, as `.ftz` does.
    pub fn flushed(self) -> Rounded {
        let normal = match self.format {
            Format::F16 => 1 << 10,
            Format::Bf16 => 1 << 7,
            Format::Tf32 | Format::F32 => 1 << 23,
            Format::F64 => 1 << 52,
            Format::E4m3 => 1 << 3,
            Format::E5m2 => 1 << 2,
            // Has no subnormal numbers.
            Format::Ue8m0 => 0,
        };
        let sign = sign_bit(self.format);
        let flush = |bits: u64| if bits & (sign - 1) < normal { bits & sign } else { bits };
        Rounded { low: flush(self.low), high: flush(self.high), ..self }
    }

    /// The smallest interval that contains both, if they have the same format.
    pub fn hull(self, other: Rounded) -> Option<Rounded> {
        let end = |pick: fn(i64, i64) -> bool, a, b| {
            if pick(order(self.format, a), order(self.format, b)) { a } else { b }
        };
        let (low, high) =
            (end(|a, b| a <= b, self.low, other.low), end(|a, b| a >= b, self.high, other.high));
        if self.format == other.format { Rounded::between(self.format, low, high) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(low: f32, high: f32) -> Option<Rounded> {
        Rounded::between(Format::F32, low.to_bits().into(), high.to_bits().into())
    }

    #[test]
    fn ends_are_in_order_and_are_numbers() {
        assert!(f32s(-0.0, 0.0).is_some());
        assert_eq!(f32s(0.0, -0.0), None);
        assert_eq!(f32s(1.0, f32::INFINITY), None);
        assert!(f32s(f32::NEG_INFINITY, f32::NEG_INFINITY).is_some());
        assert_eq!(f32s(f32::NAN, f32::NAN), None);
        assert_eq!(f32s(2.0, 1.0), None);
    }

    #[test]
    fn signs_are_those_of_all_numbers_between() {
        assert_eq!(f32s(-0.0, -0.0).and_then(Rounded::is_negative), Some(true));
        assert_eq!(f32s(-0.0, 0.0).and_then(Rounded::is_negative), None);
        assert_eq!(f32s(0.0, 1.0).and_then(Rounded::is_negative), Some(false));
    }

    #[test]
    fn flushing_keeps_signs_and_order() {
        let tiny = f32::from_bits(1);
        assert_eq!(f32s(-tiny, tiny).map(Rounded::flushed), f32s(-0.0, 0.0));
        assert_eq!(f32s(tiny, 1.0).map(Rounded::flushed), f32s(0.0, 1.0));
    }

    #[test]
    fn formats_that_hold_the_numbers_have_the_same() {
        let half = Rounded::between(Format::F16, 0x8000, 0x3c00).expect("in order");
        assert_eq!(half.within(Format::F32), f32s(-0.0, 1.0));
        assert_eq!(f32s(0.1, 0.1).and_then(|tenth| tenth.within(Format::F16)), None);
    }
}
