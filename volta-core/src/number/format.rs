//! Float formats: exact conversions between bits and numbers.

use std::cmp::Ordering;

pub use volta_case::Format;

use super::{Extended, Rational};

/// Encodings that differ in the fraction only; their values are evenly spaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binade {
    /// The fraction bits of the given encoding.
    pub fraction: u64,
    /// The value of the encoding with fraction zero.
    pub first: Rational,
    /// The distance between neighbours; negative for negative numbers.
    pub unit: Rational,
}

/// The number of bits of a format's fraction, to which values are rounded.
pub fn mantissa_bits(format: Format) -> u32 {
    Layout::of(format).mantissa_bits
}

/// Whether a format has negative numbers and zeros.
pub fn has_sign(format: Format) -> bool {
    !Layout::of(format).powers
}

/// The binade of an encoding; `None` if not all of it are normal numbers.
pub fn binade(format: Format, bits: u64) -> Option<Binade> {
    let layout = Layout::of(format);
    let fraction = (1 << layout.mantissa_bits) - 1;
    let exponents = (1 << layout.exponent_bits) - 1;
    let exponent = bits >> layout.mantissa_bits & exponents;
    if layout.padding > 0 || layout.powers || exponent == 0 || exponent == exponents {
        return None;
    }
    let number = |bits| match decode(format, bits) {
        Decoded::Finite(value) => Some(value),
        Decoded::PosInf | Decoded::NegInf | Decoded::Nan => None,
    };
    let first = number(bits & !fraction)?;
    let unit = &number(bits & !fraction | 1)? - &first;
    Some(Binade { fraction, first, unit })
}

/// A rounding mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// To nearest, ties away from zero.
    NearestAway,
    /// Towards zero.
    Zero,
    /// Towards −∞.
    Down,
    /// Towards +∞.
    Up,
}

/// The layout of a format's bits, below the sign.
struct Layout {
    exponent_bits: u32,
    mantissa_bits: u32,
    /// Unused low bits of the container, after rounding to the format.
    padding: u32,
    /// E4m3 and ue8m0 have no infinities: the largest exponent holds numbers too, and one NaN.
    infinities: bool,
    /// Ue8m0 has powers of two only: no sign, no zero, and no subnormal numbers.
    powers: bool,
}

impl Layout {
    fn of(format: Format) -> Layout {
        let ieee = |exponent_bits, mantissa_bits| Layout {
            exponent_bits,
            mantissa_bits,
            padding: 0,
            infinities: true,
            powers: false,
        };
        match format {
            Format::F16 => ieee(5, 10),
            Format::Bf16 => ieee(8, 7),
            Format::Tf32 => Layout { padding: 13, ..ieee(8, 10) },
            Format::F32 => ieee(8, 23),
            Format::F64 => ieee(11, 52),
            Format::E4m3 => Layout { infinities: false, ..ieee(4, 3) },
            Format::E5m2 => ieee(5, 2),
            Format::Ue8m0 => Layout { infinities: false, powers: true, ..ieee(8, 0) },
        }
    }

    /// The layout of a format in a register. A tf32 register is read as f32, all 32 bits: conversions between the
    /// two are the identity (rule V2).
    fn of_register(format: Format) -> Layout {
        match format {
            Format::Tf32 => Layout::of(Format::F32),
            Format::F16
            | Format::Bf16
            | Format::F32
            | Format::F64
            | Format::E4m3
            | Format::E5m2
            | Format::Ue8m0 => Layout::of(format),
        }
    }

    /// The magnitude bits and whether the sign bit is set; higher bits are ignored.
    fn split(&self, bits: u64) -> (u64, bool) {
        let sign_at = self.exponent_bits + self.mantissa_bits;
        (bits & ((1 << sign_at) - 1), !self.powers && bits >> sign_at & 1 == 1)
    }

    /// The exponent field of the smallest normal number.
    fn least_exponent(&self) -> i32 {
        if self.powers { 0 } else { 1 }
    }

    fn bias(&self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// Magnitude bits (without padding) of `+∞`, or of NaN if the format has no infinity.
    fn beyond(&self) -> u64 {
        let top = ((1 << self.exponent_bits) - 1) << self.mantissa_bits;
        if self.infinities { top } else { top | ((1 << self.mantissa_bits) - 1) }
    }
}

/// The value of an encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A number; both zeros are 0.
    Finite(Rational),
    /// `+∞`
    PosInf,
    /// `−∞`
    NegInf,
    /// Not a number.
    Nan,
}

impl Decoded {
    /// The number or infinity; `None` for NaN.
    pub fn extended(self) -> Option<Extended> {
        match self {
            Decoded::Finite(value) => Some(Extended::Finite(value)),
            Decoded::PosInf => Some(Extended::PosInf),
            Decoded::NegInf => Some(Extended::NegInf),
            Decoded::Nan => None,
        }
    }
}

/// The value that the low bits of `bits` encode in `format`; higher bits are ignored.
///
/// A tf32 register is read as f32, all 32 bits.
pub fn decode(format: Format, bits: u64) -> Decoded {
    let layout = Layout::of_register(format);
    let (magnitude, negative) = layout.split(bits);
    let mantissa = magnitude & ((1 << layout.mantissa_bits) - 1);
    let exponent = (magnitude >> layout.mantissa_bits) as i32;
    match is_finite(format, bits) {
        Some(true) => {}
        Some(false) if negative => return Decoded::NegInf,
        Some(false) => return Decoded::PosInf,
        None => return Decoded::Nan,
    }
    let is_normal = exponent > 0 || layout.powers;
    let hidden = if is_normal { 1 << layout.mantissa_bits } else { 0 };
    let value = (mantissa | hidden) as i64;
    let exp = exponent.max(layout.least_exponent()) - layout.bias() - layout.mantissa_bits as i32;
    Decoded::Finite(Rational::from_dyadic(if negative { -value } else { value }, exp))
}

/// The value that the low bits of `bits` encode, as an f64, which holds those of every format.
pub fn to_f64(format: Format, bits: u64) -> f64 {
    let layout = Layout::of_register(format);
    let (magnitude, negative) = layout.split(bits);
    let sign = if negative { -1.0 } else { 1.0 };
    match format {
        Format::F64 => return f64::from_bits(bits),
        Format::F32 | Format::Tf32 => return f64::from(f32::from_bits(bits as u32)),
        Format::F16 | Format::Bf16 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => {}
    }
    match is_finite(format, bits) {
        Some(true) => {}
        Some(false) => return f64::INFINITY * sign,
        None => return f64::NAN,
    }
    let exponent = (magnitude >> layout.mantissa_bits) as i32;
    let hidden = if exponent > 0 || layout.powers { 1 << layout.mantissa_bits } else { 0 };
    let mantissa = magnitude & ((1 << layout.mantissa_bits) - 1) | hidden;
    let exp = exponent.max(layout.least_exponent()) - layout.bias() - layout.mantissa_bits as i32;
    // Both factors and the product are exact.
    sign * mantissa as f64 * f64::powi(2.0, exp)
}

/// Whether an encoding is a number rather than an infinity; `None` for a NaN.
pub fn is_finite(format: Format, bits: u64) -> Option<bool> {
    let layout = Layout::of_register(format);
    match layout.split(bits).0.cmp(&layout.beyond()) {
        Ordering::Less => Some(true),
        Ordering::Equal if layout.infinities => Some(false),
        Ordering::Equal | Ordering::Greater => None,
    }
}

/// The bits of `value` rounded to `format`, as IEEE 754 rounds: subnormals, and overflow to `∞` or to the largest
/// number, as the mode says. Where a format has no infinity (e4m3), overflow gives its largest number.
/// Zero is `+0`; a negative value that rounds to zero gives `−0`. Where a format has no sign and no zero (ue8m0), the
/// magnitude is rounded, and what is smaller than its least number becomes that.
pub fn round(value: &Rational, format: Format, rounding: Rounding) -> u64 {
    let layout = Layout::of(format);
    let negative = value.is_negative();
    let towards = match rounding {
        Rounding::Nearest => Magnitude::Nearest { even: true },
        Rounding::NearestAway => Magnitude::Nearest { even: false },
        Rounding::Zero => Magnitude::Down,
        Rounding::Down => {
            if negative {
                Magnitude::Up
            } else {
                Magnitude::Down
            }
        }
        Rounding::Up => {
            if negative {
                Magnitude::Down
            } else {
                Magnitude::Up
            }
        }
    };
    let magnitude = round_magnitude(value, &layout, towards);
    let sign = u64::from(negative && !layout.powers) << (layout.exponent_bits + layout.mantissa_bits);
    (sign | magnitude) << layout.padding
}

/// Like [`round`], for values with infinities.
pub fn encode(value: &Extended, format: Format, rounding: Rounding) -> u64 {
    let layout = Layout::of(format);
    let infinite = || {
        let largest = layout.beyond() - u64::from(!layout.infinities);
        largest << layout.padding
    };
    let sign = u64::from(!layout.powers) << (layout.exponent_bits + layout.mantissa_bits + layout.padding);
    match value {
        Extended::Finite(value) => round(value, format, rounding),
        Extended::PosInf => infinite(),
        Extended::NegInf => infinite() | sign,
    }
}

/// A set of formats, all of which must hold a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formats {
    all: Vec<Format>,
    /// The number of significant bits and the magnitude of exponents up to which all of them have a normal number.
    digits: u32,
    exponent: u32,
    /// Whether all of them have a zero.
    zero: bool,
}

impl Default for Formats {
    fn default() -> Formats {
        Formats { all: Vec::new(), digits: u32::MAX, exponent: u32::MAX, zero: true }
    }
}

impl FromIterator<Format> for Formats {
    fn from_iter<I: IntoIterator<Item = Format>>(formats: I) -> Formats {
        let mut out = Formats::default();
        for format in formats {
            let layout = Layout::of(format);
            out.digits = out.digits.min(layout.mantissa_bits + 1);
            out.zero &= !layout.powers;
            // Not all formats have all numbers of the top binade.
            out.exponent = out.exponent.min(layout.bias().unsigned_abs() - 2);
            out.all.push(format);
        }
        out.all.dedup();
        out
    }
}

impl Formats {
    /// Whether there are no formats.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether all formats are known to hold the magnitude of `mantissa · 2^exp` as a normal number or as zero; a quick
    /// test.
    #[inline]
    pub fn surely_hold(&self, mantissa: i64, exp: i32) -> bool {
        let length = 64 - mantissa.unsigned_abs().leading_zeros();
        let fits = length <= self.digits || length - mantissa.trailing_zeros() <= self.digits;
        mantissa == 0 && self.zero
            || mantissa != 0 && fits && exp.saturating_add(length as i32 - 1).unsigned_abs() <= self.exponent
    }

    /// The largest number that all formats hold; `None` if there are no formats.
    pub fn largest(&self) -> Option<Rational> {
        (!self.is_empty()).then(|| self.towards_zero(&beyond()))
    }

    /// `value` rounded towards zero to a number that all formats hold, or where they have no sign, its magnitude.
    pub fn towards_zero(&self, value: &Rational) -> Rational {
        let pass =
            |value: Rational| self.all.iter().fold(value, |value, format| towards_zero(&value, *format));
        let held = pass(value.clone());
        if self.zero {
            return held;
        }
        // Formats with few numbers have few in common with others, but always 1.
        let held = pass(held);
        if self.all.iter().all(|format| is_exact(&held, *format)) { held } else { Rational::ONE }
    }
}

/// `value` rounded towards zero to a number of `format`, at most the largest one in magnitude.
fn towards_zero(value: &Rational, format: Format) -> Rational {
    match decode(format, round(value, format, Rounding::Zero)) {
        Decoded::Finite(value) => value,
        Decoded::PosInf | Decoded::NegInf | Decoded::Nan => Rational::ZERO,
    }
}

/// The largest number of a format.
pub fn largest(format: Format) -> Rational {
    towards_zero(&beyond(), format)
}

/// Larger than any number of any format.
fn beyond() -> Rational {
    Rational::power_of_two(5000)
}

/// Whether `format` holds `value` exactly.
pub fn is_exact(value: &Rational, format: Format) -> bool {
    decode(format, round(value, format, Rounding::Zero)) == Decoded::Finite(value.clone())
}

/// The rounding of a magnitude.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Magnitude {
    Down,
    Up,
    /// Ties go to the even neighbour, or up.
    Nearest {
        even: bool,
    },
}

/// Magnitude bits of `|value|`.
fn round_magnitude(value: &Rational, layout: &Layout, towards: Magnitude) -> u64 {
    if value.is_zero() {
        return 0;
    }
    let overflow = || {
        let infinite = layout.infinities && towards != Magnitude::Down;
        layout.beyond() - u64::from(!infinite)
    };
    let exponent = floor_of_log2(value);
    let bias = i64::from(layout.bias());
    if exponent > bias + 1 {
        return overflow();
    }
    let exponent = exponent.max(i64::from(layout.least_exponent()) - bias);
    let quantum = exponent - i64::from(layout.mantissa_bits);
    let Some(Quotient { count, is_whole, half }) = quotient(value, quantum) else { return overflow() };
    let up = match towards {
        Magnitude::Down => false,
        Magnitude::Up => !is_whole,
        Magnitude::Nearest { even } => match half {
            Ordering::Less => false,
            Ordering::Equal => !even || count % 2 == 1,
            Ordering::Greater => true,
        },
    };
    let bits = if layout.powers {
        // The count is 1, or 0 below the least number.
        if count == 0 { 0 } else { (exponent + bias) as u64 + u64::from(up) }
    } else {
        // A normal number's hidden bit adds one to the exponent field, and so does a carry.
        let field = (exponent + bias - 1) as u64;
        (field << layout.mantissa_bits) + count + u64::from(up)
    };
    if bits >= layout.beyond() { overflow() } else { bits }
}

/// The largest `n` with `2^n ≤ |value|`, for a nonzero value.
fn floor_of_log2(value: &Rational) -> i64 {
    if let Some((num, den)) = value.to_small_parts() {
        let num = num.unsigned_abs();
        let bits = i64::from(den.leading_zeros()) - i64::from(num.leading_zeros());
        let [up, down] = [bits.max(0), (-bits).max(0)];
        return bits - i64::from(u128::from(num) << down < u128::from(den) << up);
    }
    let (num, den) = value.abs().to_parts();
    let bits = i64::from(num.significant_bits()) - i64::from(den.significant_bits());
    let [up, down] = [bits.max(0) as u32, (-bits).max(0) as u32];
    bits - i64::from(num << down < den << up)
}

/// The quotient of a magnitude and a unit.
struct Quotient {
    count: u64,
    is_whole: bool,
    /// The remainder compared with half a unit.
    half: Ordering,
}

/// `|value|` in units of `2^quantum`; `None` if the count does not fit.
fn quotient(value: &Rational, quantum: i64) -> Option<Quotient> {
    let [up, down] = [quantum.max(0) as u32, (-quantum).max(0) as u32];
    // Parts of small numbers have 63 bits.
    if let (Some((num, den)), 0..=63, 0..=63) = (value.to_small_parts(), up, down) {
        let (num, den) = (u128::from(num.unsigned_abs()) << down, u128::from(den) << up);
        let (count, rest) = (num / den, num % den);
        return Some(Quotient {
            count: u64::try_from(count).ok()?,
            is_whole: rest == 0,
            half: (rest << 1).cmp(&den),
        });
    }
    let (num, den) = value.abs().to_parts();
    let (num, den) = (num << down, den << up);
    let (count, rest) = num.div_rem(den.clone());
    Some(Quotient { count: count.to_u64()?, is_whole: rest == 0, half: (rest << 1u32).cmp(&den) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODES: [Rounding; 4] = [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up];

    fn finite(format: Format, bits: u64) -> Option<Rational> {
        match decode(format, bits) {
            Decoded::Finite(value) => Some(value),
            Decoded::PosInf | Decoded::NegInf | Decoded::Nan => None,
        }
    }

    /// All finite values, ascending, with their bits.
    fn values(format: Format) -> Vec<(Rational, u64)> {
        let bits = 0..1u64 << (8 * format.bytes());
        let mut all: Vec<_> = bits.filter_map(|bits| Some((finite(format, bits)?, bits))).collect();
        all.sort();
        all.dedup_by(|next, kept| next.0 == kept.0);
        all
    }

    #[test]
    fn narrow_formats_round_trip_and_round_to_neighbours() {
        for format in [Format::F16, Format::Bf16, Format::E4m3, Format::E5m2] {
            let all = values(format);
            for (value, bits) in &all {
                for mode in MODES {
                    assert_eq!(round(value, format, mode), *bits, "{format:?} {bits:#x}");
                }
            }
            let third = Rational::from_ratio(1, 3);
            for pair in all.windows(2) {
                let [(low, low_bits), (high, high_bits)] = pair else { unreachable!() };
                let gap = high - low;
                let near_low = low + &(&gap * &third);
                let near_high = high - &(&gap * &third);
                let tie = low + &(&gap * Rational::HALF);
                let same = |value: &Rational, mode, expected: u64| {
                    let got = round(value, format, mode);
                    assert_eq!(finite(format, got), finite(format, expected), "{format:?} {value} {mode:?}");
                };
                let even = if low_bits % 2 == 0 { *low_bits } else { *high_bits };
                let inwards = if low.is_negative() { *high_bits } else { *low_bits };
                same(&near_low, Rounding::Nearest, *low_bits);
                same(&near_high, Rounding::Nearest, *high_bits);
                same(&tie, Rounding::Nearest, even);
                for value in [&near_low, &near_high, &tie] {
                    same(value, Rounding::Down, *low_bits);
                    same(value, Rounding::Up, *high_bits);
                    same(value, Rounding::Zero, inwards);
                }
            }
        }
    }

    #[test]
    fn known_values() {
        let of = |format, bits| finite(format, bits).map(|value| value.to_string());
        assert_eq!(of(Format::E4m3, 0x7e).as_deref(), Some("448"));
        assert_eq!(decode(Format::E4m3, 0xff), Decoded::Nan);
        assert_eq!(of(Format::E5m2, 0x7b).as_deref(), Some("57344"));
        assert_eq!(decode(Format::E5m2, 0xfc), Decoded::NegInf);
        assert_eq!(of(Format::F16, 0x7bff).as_deref(), Some("65504"));
        assert_eq!(of(Format::F16, 0x8000).as_deref(), Some("0"));
        assert_eq!(of(Format::F32, 0x3f80_0000).as_deref(), Some("1"));
        assert_eq!(of(Format::F32, 0xbfc0_0000).as_deref(), Some("-3/2"));
        assert_eq!(decode(Format::F32, 0x7fc0_0000), Decoded::Nan);
        assert_eq!(finite(Format::F32, 1), Some(Rational::power_of_two(-149)));
        assert_eq!(finite(Format::F64, 1), Some(Rational::power_of_two(-1074)));
    }

    #[test]
    fn overflow_goes_where_the_mode_points() {
        let huge = Rational::power_of_two(3000);
        assert_eq!(round(&huge, Format::F32, Rounding::Nearest), 0x7f80_0000);
        assert_eq!(round(&huge, Format::F32, Rounding::Zero), 0x7f7f_ffff);
        assert_eq!(round(&-&huge, Format::F32, Rounding::Up), 0xff7f_ffff);
        assert_eq!(round(&-&huge, Format::F32, Rounding::Down), 0xff80_0000);
        assert_eq!(round(&huge, Format::E4m3, Rounding::Nearest), 0x7e);
        assert_eq!(round(&Rational::from_integer(464), Format::E4m3, Rounding::Up), 0x7e);
        let edge = Rational::from_integer(65520);
        assert_eq!(round(&edge, Format::F16, Rounding::Nearest), 0x7c00);
        assert_eq!(round(&(edge - Rational::ONE), Format::F16, Rounding::Nearest), 0x7bff);
        let tiny = Rational::power_of_two(-3000);
        assert_eq!(round(&tiny, Format::F64, Rounding::Up), 1);
        assert_eq!(round(&-tiny, Format::F64, Rounding::Nearest), 1 << 63);
        assert_eq!(encode(&Extended::NegInf, Format::F32, Rounding::Nearest), 0xff80_0000);
        assert_eq!(encode(&Extended::PosInf, Format::E4m3, Rounding::Nearest), 0x7e);
    }

    #[test]
    fn tf32_keeps_ten_bits_of_mantissa() {
        let value = Rational::ONE + Rational::power_of_two(-10);
        assert!(is_exact(&value, Format::Tf32));
        assert!(!is_exact(&(value + Rational::power_of_two(-11)), Format::Tf32));
        assert_eq!(round(&Rational::ONE, Format::Tf32, Rounding::Nearest), 0x3f80_0000);
    }

    #[test]
    fn ue8m0_has_powers_of_two_only() {
        let powers: Vec<Rational> = (-127..=127).map(Rational::power_of_two).collect();
        let all: Vec<(Rational, u64)> = powers.iter().cloned().zip(0..).collect();
        assert_eq!(values(Format::Ue8m0), all);
        assert_eq!(decode(Format::Ue8m0, 0xff), Decoded::Nan);
        // Higher bits are no sign.
        assert_eq!(finite(Format::Ue8m0, 0x17f), Some(Rational::ONE));
        for mode in MODES {
            for (value, bits) in &all {
                assert_eq!(round(value, Format::Ue8m0, mode), *bits);
            }
            assert_eq!(round(&Rational::power_of_two(128), Format::Ue8m0, mode), 0xfe);
            assert_eq!(round(&Rational::power_of_two(-200), Format::Ue8m0, mode), 0);
            assert_eq!(round(&Rational::ZERO, Format::Ue8m0, mode), 0);
        }
        let between = Rational::from_integer(12);
        assert_eq!(round(&between, Format::Ue8m0, Rounding::Zero), 130);
        assert_eq!(round(&between, Format::Ue8m0, Rounding::Up), 131);
        assert_eq!(round(&-between, Format::Ue8m0, Rounding::Zero), 130);
        assert!(!is_exact(&Rational::ZERO, Format::Ue8m0) && !is_exact(&-Rational::ONE, Format::Ue8m0));
        let formats = Formats::from_iter([Format::Ue8m0, Format::F16]);
        assert!(formats.surely_hold(1, 3) && formats.surely_hold(4, -3));
        assert!(!formats.surely_hold(0, 0) && !formats.surely_hold(3, 0) && !formats.surely_hold(1, 100));
        // In f16 too.
        assert_eq!(formats.largest(), Some(Rational::power_of_two(15)));
        assert_eq!(formats.towards_zero(&Rational::power_of_two(-100)), Rational::ONE);
    }

    proptest! {
        #[test]
        fn wide_formats_agree_with_the_hardware(bits in any::<u64>(), other in any::<u64>()) {
            let wide = f64::from_bits(bits);
            match decode(Format::F64, bits) {
                Decoded::Finite(value) => {
                    prop_assert_eq!(Some(value.to_rug()), rug::Rational::from_f64(wide));
                    let narrow = wide as f32;
                    prop_assert_eq!(round(&value, Format::F32, Rounding::Nearest), u64::from(narrow.to_bits()) & !(u64::from(value.is_zero()) << 31));
                    prop_assert!(is_exact(&value, Format::F64));
                }
                Decoded::PosInf => prop_assert_eq!(wide, f64::INFINITY),
                Decoded::NegInf => prop_assert_eq!(wide, f64::NEG_INFINITY),
                Decoded::Nan => prop_assert!(wide.is_nan()),
            }
            if let (Some(left), Some(right)) = (finite(Format::F64, bits), finite(Format::F64, other)) {
                let sum = wide + f64::from_bits(other);
                if sum != 0.0 {
                    prop_assert_eq!(round(&(left + right), Format::F64, Rounding::Nearest), sum.to_bits());
                }
            }
        }

        #[test]
        fn single_arithmetic_agrees_with_the_hardware(
            a in prop_oneof![any::<u32>(), (0u32..8, any::<bool>()).prop_map(|(low, s)| low | u32::from(s) << 31)],
            b in any::<u32>(),
        ) {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            let exact = (finite(Format::F32, a.into()), finite(Format::F32, b.into()));
            let (Some(left), Some(right)) = exact else { return Ok(()) };
            let bits = |value: &Rational| round(value, Format::F32, Rounding::Nearest);
            if left.is_zero() || right.is_zero() {
                return Ok(());
            }
            prop_assert_eq!(bits(&(&left * &right)), u64::from((x * y).to_bits()));
            prop_assert_eq!(bits(&(&left / &right)), u64::from((x / y).to_bits()));
        }
    }
}
