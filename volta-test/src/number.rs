//! Decimal and integer literals, read exactly.

use volta_core::number::format::{Format, Rounding, encode, to_f64};
use volta_core::number::{Extended, Rational};

/// Literals with more digits, or a larger exponent, are refused (rule L1).
const MAX_DIGITS: usize = 1000;

/// Reads a decimal, hexadecimal, octal or binary integer, a decimal float, `inf`, `+inf` or `-inf`.
///
/// Decimals are exact: `0.1` is 1/10, and becomes a float of some format only where the kernel takes one.
pub fn parse(text: &str) -> Option<Extended> {
    let text: String = text.chars().filter(|c| *c != '_').collect();
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text[1..].trim_start()),
        b'+' => (false, &text[1..]),
        _ => (false, text.as_str()),
    };
    if digits == "inf" || digits == "infinity" {
        return Some(if negative { Extended::NegInf } else { Extended::PosInf });
    }
    let radix = |prefix, radix| digits.strip_prefix(prefix).map(|digits| integer(digits, radix));
    let magnitude = match radix("0x", 16).or_else(|| radix("0o", 8)).or_else(|| radix("0b", 2)) {
        Some(value) => value?,
        None => decimal(digits)?,
    };
    // A rational has no negative zero: −0.0 cannot be represented.
    if negative && magnitude.is_zero() && digits.contains(['.', 'e', 'E']) {
        return None;
    }
    Some(Extended::Finite(if negative { -magnitude } else { magnitude }))
}

/// The nearest `f64`.
pub fn nearest(value: &Extended) -> f64 {
    to_f64(Format::F64, encode(value, Format::F64, Rounding::Nearest))
}

fn integer(digits: &str, radix: u32) -> Option<Rational> {
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return None;
    }
    let scale = Rational::from_integer(i64::from(radix));
    digits.chars().try_fold(Rational::ZERO, |value, digit| {
        Some(&(&value * &scale) + &Rational::from_integer(i64::from(digit.to_digit(radix)?)))
    })
}

fn decimal(text: &str) -> Option<Rational> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    if exponent.unsigned_abs() as usize > MAX_DIGITS {
        return None;
    }
    let scale = Rational::from_integer(10).pow(exponent)?;
    Some(&integer(&digits, 10)? * &scale)
}

/// The shortest text for a number: `0.125`, `1/3`, `-inf`.
pub fn show(value: &Extended) -> String {
    match value {
        Extended::PosInf => "inf".into(),
        Extended::NegInf => "-inf".into(),
        Extended::Finite(value) => {
            let approximate = value.to_f64_approximately();
            let text = format!("{approximate}");
            match parse(&text) {
                Some(Extended::Finite(again)) if again == *value => text,
                _ => value.to_string(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let ratio = |num, den| Some(Extended::Finite(Rational::from_ratio(num, den)));
        assert_eq!(parse("0.1"), ratio(1, 10));
        assert_eq!(parse("-1_000.5e-1"), ratio(-20010, 200));
        assert_eq!(parse("1e3"), ratio(1000, 1));
        assert_eq!(parse("0x10"), ratio(16, 1));
        assert_eq!(parse("-inf"), Some(Extended::NegInf));
        for wrong in ["-0.0", "-0e5", "", "-", "e5", "nan", "1e99999", "0x", "1.2.3", "abc"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_print_shortest() {
        for text in ["0.125", "-3", "inf", "-inf", "0.1"] {
            assert_eq!(show(&parse(text).unwrap()), text);
        }
    }
}
