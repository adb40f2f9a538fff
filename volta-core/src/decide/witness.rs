//! An input at which two terms differ, and their values there.

use std::cmp::Ordering;

use rug::ops::Pow;

use super::InputInfo;
use super::localize::FirstDifference;
use crate::number::interval::Enclosure;
use crate::number::value::Value;
use crate::number::{Extended, Rational};
use crate::term::{InputId, spell_element};

/// Binary exponents beyond this are not written out.
const LISTED_EXPONENT: i32 = 1 << 16;

/// An input in the reference's domain at which the two sides differ, under every reading of literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The relevant elements, in order of input and element. Where there are many, those that are not 0.
    pub inputs: Vec<WitnessInput>,
    /// Number of further elements that the two terms depend on; these are 0. All other inputs are arbitrary.
    pub zeros: u64,
    /// How the two sides differ.
    pub kind: WitnessKind,
    /// The reference's value.
    pub reference: SideValue,
    /// The optimized kernel's value.
    pub opt: SideValue,
    /// The intermediate value that explains the difference, if one was found.
    pub explanation: Option<Box<FirstDifference>>,
}

/// The value of one input element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessInput {
    /// Which input.
    pub input: InputId,
    /// Row-major element number.
    pub element: u64,
    /// The element as people write it: `x[3][4]`, or `x` for a scalar.
    pub name: String,
    /// Its value.
    pub value: Rational,
}

/// How two values differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessKind {
    /// Two different reals.
    Values,
    /// One side is infinite and the other is not, or not with that sign.
    Infinite,
}

/// The value of one side at a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideValue {
    /// A real: exact, where it is short; else a decimal marked `≈`, with enough digits to tell the two sides apart.
    Finite(String),
    /// `+∞`
    PosInf,
    /// `−∞`
    NegInf,
}

impl std::fmt::Display for SideValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SideValue::Finite(text) => f.write_str(text),
            SideValue::PosInf => Extended::PosInf.fmt(f),
            SideValue::NegInf => Extended::NegInf.fmt(f),
        }
    }
}

/// How two values at one point compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Certainly different, both defined.
    Different(WitnessKind),
    /// The reference is defined, and the optimized kernel certainly is not: no difference of values (rule V8).
    OptUndefined,
    /// The reference is certainly undefined: the point shows nothing.
    OutsideDomain,
    /// Finite and overlapping, or the same infinity.
    Overlapping,
    /// The precision is not sufficient.
    Open,
}

/// Compares a reference's value with an optimized kernel's.
pub fn compare<E: Enclosure>(reference: &Value<E>, opt: &Value<E>) -> Comparison {
    use Value::*;
    match (reference, opt) {
        (Finite(left), Finite(right)) if left.is_disjoint(right) => {
            Comparison::Different(WitnessKind::Values)
        }
        (Finite(_), Finite(_)) | (PosInf, PosInf) | (NegInf, NegInf) => Comparison::Overlapping,
        (Finite(_) | PosInf | NegInf, Undefined) => Comparison::OptUndefined,
        (Finite(_) | PosInf | NegInf, Finite(_) | PosInf | NegInf) => {
            Comparison::Different(WitnessKind::Infinite)
        }
        (Undefined, _) => Comparison::OutsideDomain,
        (Finite(_) | PosInf | NegInf, True | False | Either | Unresolved)
        | (True | False | Either | Unresolved, _) => Comparison::Open,
    }
}

/// The outcomes of two sides that differ, with different texts where a few digits suffice.
pub(super) fn outcomes<E: Enclosure>(reference: &Value<E>, opt: &Value<E>) -> Option<(SideValue, SideValue)> {
    let at = |digits| Some((outcome(reference, digits)?, outcome(opt, digits)?));
    let mut pair = at(6)?;
    for digits in [9, 12, 16, 24, 40] {
        if pair.0.to_string() != pair.1.to_string() {
            break;
        }
        pair = at(digits)?;
    }
    Some(pair)
}

fn outcome<E: Enclosure>(value: &Value<E>, digits: u32) -> Option<SideValue> {
    match value {
        Value::Finite(enclosure) => {
            let (low, high) = enclosure.exponents();
            let most = low.max(high);
            if !(-LISTED_EXPONENT..=LISTED_EXPONENT).contains(&most) {
                // e to the power of minus a billion: its numerator alone would fill the memory.
                let sign = if enclosure.sign() == Some(Ordering::Less) { "-" } else { "" };
                return Some(SideValue::Finite(format!("about {sign}2^{most}")));
            }
            if low.min(high) < -LISTED_EXPONENT {
                return None;
            }
            let (lower, upper) = enclosure.bounds();
            let exact = if lower == upper { exactly(&lower) } else { None };
            let nearly = || format!("≈{}", decimal(&((&lower + &upper) * Rational::HALF), digits));
            Some(SideValue::Finite(exact.unwrap_or_else(nearly)))
        }
        Value::PosInf => Some(SideValue::PosInf),
        Value::NegInf => Some(SideValue::NegInf),
        Value::True | Value::False | Value::Either | Value::Undefined | Value::Unresolved => None,
    }
}

/// The element's name as people write it.
pub fn element_name(info: Option<&InputInfo>, input: InputId, element: u64) -> String {
    let Some(info) = info else { return format!("{input}[{element}]") };
    spell_element(&info.name, &info.shape, element)
}

/// Longer numbers, in characters, are not written out.
const EXACT_LENGTH: usize = 24;
/// Longer fractions, in characters, have a decimal beside them.
const FRACTION_LENGTH: usize = 12;
/// Number of digits of that decimal.
const BESIDE_DIGITS: u32 = 6;

/// `value` as an integer, a decimal or a fraction, if that is short.
fn exactly(value: &Rational) -> Option<String> {
    let is_short = |text: &String| text.len() <= EXACT_LENGTH;
    if value.bit_length() > 4 * EXACT_LENGTH as u64 {
        return None;
    }
    let digits = (1..=EXACT_LENGTH as u32).find(|digits| {
        let scale = rug::Rational::from(rug::Integer::from(10).pow(*digits));
        (value.to_rug() * scale).is_integer()
    });
    let decimals = digits.map(|digits| decimal(value, digits + EXACT_LENGTH as u32 * 2));
    if value.is_integer() {
        return Some(value.to_string()).filter(is_short);
    }
    let fraction = Some(value.to_string()).filter(is_short).map(|text| match text.len() {
        ..=FRACTION_LENGTH => text,
        _ => format!("{text} (≈{})", decimal(value, BESIDE_DIGITS)),
    });
    decimals.filter(is_short).or(fraction)
}

/// `value` as a decimal of at most `digits` significant digits, rounded to nearest.
pub fn decimal(value: &Rational, digits: u32) -> String {
    if value.is_zero() {
        return "0".to_string();
    }
    let digits = digits.max(1);
    let magnitude = value.abs().to_rug();
    let power = |exp: i64| {
        let power = rug::Rational::from(rug::Integer::from(10).pow(exp.unsigned_abs() as u32));
        if exp >= 0 { power } else { power.recip() }
    };
    // The decimal exponent, estimated too low from the binary one and then corrected.
    let bits =
        i64::from(magnitude.numer().significant_bits()) - i64::from(magnitude.denom().significant_bits());
    // Precise enough that the correction takes a step or two even for millions of digits.
    let ratio = if bits > 0 { 301_029_995 } else { 301_029_996 };
    let mut exponent = ((bits - 1) * ratio).div_euclid(1_000_000_000) - 1;
    while power(exponent + 1) <= magnitude {
        exponent += 1;
    }
    let scaled = Rational::from(magnitude * power(i64::from(digits) - 1 - exponent)).round_even();
    let mut text = scaled.to_string();
    if text.len() as u32 > digits {
        exponent += 1;
    }
    text.truncate(text.trim_end_matches('0').len());
    let sign = if value.is_negative() { "-" } else { "" };
    let last = text.len() as i64 - 1;
    if (-5..0).contains(&exponent) {
        format!("{sign}0.{}{text}", "0".repeat((-exponent - 1) as usize))
    } else if (0..16).contains(&exponent) {
        match last.cmp(&exponent) {
            Ordering::Greater => {
                let (whole, part) = text.split_at(exponent as usize + 1);
                format!("{sign}{whole}.{part}")
            }
            Ordering::Less | Ordering::Equal => {
                format!("{sign}{text}{}", "0".repeat((exponent - last) as usize))
            }
        }
    } else {
        let (whole, part) = text.split_at(1);
        let point = if part.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{part}e{exponent}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::fraction::Fraction;
    use crate::number::interval::Wide;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_short() {
        let ratio = Rational::from_ratio;
        assert_eq!(decimal(&ratio(1, 4), 6), "0.25");
        assert_eq!(decimal(&ratio(-1, 3), 6), "-0.333333");
        assert_eq!(decimal(&ratio(2, 3), 3), "0.667");
        assert_eq!(decimal(&ratio(1_000_000, 1), 3), "1000000");
        assert_eq!(decimal(&ratio(123_456_789, 100), 6), "1234570");
        assert_eq!(decimal(&ratio(99_999_999, 100), 4), "1000000");
        assert_eq!(decimal(&ratio(1, 100_000), 6), "0.00001");
        assert_eq!(decimal(&ratio(1, 1_000_000), 6), "1e-6");
        assert_eq!(decimal(&ratio(12, 1), 6), "12");
        assert_eq!(decimal(&Rational::power_of_two(100), 6), "1.26765e30");
        assert_eq!(decimal(&-Rational::power_of_two(-100), 6), "-7.88861e-31");
        assert_eq!(decimal(&Rational::power_of_two(-65536), 6), "4.99119e-19729");
        assert_eq!(decimal(&Rational::power_of_two(65536), 6), "2.00353e19728");
    }

    #[test]
    fn elements_are_named_by_their_indices() {
        let matrix = InputInfo { name: "a".into(), shape: vec![4, 8], ..InputInfo::default() };
        let scalar = InputInfo { name: "scale".into(), shape: vec![], ..InputInfo::default() };
        assert_eq!(element_name(Some(&matrix), InputId(0), 19), "a[2][3]");
        assert_eq!(element_name(Some(&scalar), InputId(1), 0), "scale");
        assert_eq!(element_name(None, InputId(2), 5), "in2[5]");
    }

    #[test]
    fn short_numbers_are_exact_and_others_are_marked() {
        let text = |value: &Rational| match Fraction::exact(value, 0).map(Value::Finite).as_ref() {
            Some(value) => outcome(value, 6).map(|outcome| outcome.to_string()),
            None => None,
        };
        let ratio = Rational::from_ratio;
        for (value, expected) in [
            (ratio(858_993_459, 1), "858993459"),
            (ratio(255, 2), "127.5"),
            (ratio(-1, 3), "-1/3"),
            (ratio(12_345_678, 1000), "12345.678"),
            (Rational::from_u64(u64::MAX), "18446744073709551615"),
            (Rational::power_of_two(100), "≈1.26765e30"),
            (Rational::power_of_two(-40), "1/1099511627776 (≈9.09495e-13)"),
        ] {
            assert_eq!(text(&value).as_deref(), Some(expected));
        }
        let third = Wide::exact(&ratio(1, 3), 160).map(Value::Finite);
        assert_eq!(third.and_then(|third| outcome(&third, 6)), Some(SideValue::Finite("≈0.333333".into())));
    }

    proptest! {
        #[test]
        fn decimals_are_close(num in any::<i64>(), exp in -300i32..300, digits in 1u32..20) {
            let value = Rational::from_dyadic(num, exp);
            let text = decimal(&value, digits);
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let Ok(exponent) = exponent.parse::<i32>() else { panic!("{text}") };
            let Ok(count) = format!("{whole}{part}").parse::<rug::Integer>() else { panic!("{text}") };
            let Some(scale) = Rational::from_integer(10).pow(exponent - part.len() as i32) else { panic!("{text}") };
            let error = (Rational::from(count) * scale - &value).abs();
            let Some(bound) = Rational::from_integer(10).pow(1 - digits as i32) else { panic!("{text}") };
            prop_assert!(error <= value.abs() * bound * Rational::HALF, "{} as {}", value, text);
        }
    }
}
