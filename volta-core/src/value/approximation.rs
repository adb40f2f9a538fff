//! Errors of approximations (rule V10): the maximal errors that the PTX ISA documents for each instruction.

use crate::number::format::Format;
use crate::number::{Extended, Rational};
use crate::term::TermOp;

/// The largest distance between an approximation's result and the real, which lies between `low` and `high`; `None`
/// where nothing is documented. `argument` bounds the last operand.
pub(super) fn maximal(
    op: TermOp,
    format: Format,
    argument: &[Extended; 2],
    (low, high): (Rational, Rational),
) -> Option<Rational> {
    let size = low.abs().max(high.abs());
    let [from, to] = [argument[0].finite()?, argument[1].finite()?];
    let largest = from.abs().max(to.abs());
    let relative = |error: Rational| &size * &error;
    let power = Rational::power_of_two;
    // A bound `factor · 2^exp`, for a factor with four decimal places.
    let scaled = |digits: i64, exp: i32| &Rational::from_ratio(digits, 10_000) * &power(exp);
    let ulp = unit(format, &size)?;
    let error = match (op, format) {
        // 2 ulp; beyond, quotients of large denominators may be 0.
        (TermOp::Div, Format::F32) => {
            let smallest =
                if from.signum() == to.signum() { from.abs().min(to.abs()) } else { Rational::ZERO };
            if smallest < power(-126) || largest > power(126) {
                return None;
            }
            &ulp * Rational::from_integer(2)
        }
        (TermOp::Sqrt, Format::F32) => relative(power(-23)),
        // 2^-22.9
        (TermOp::Rsqrt, Format::F32) => relative(scaled(10_718, -23)),
        // 2^-20.5 up to 2π, 2^-14.7 up to 100π
        (TermOp::Sin | TermOp::Cos, Format::F32) if largest <= Rational::from_ratio(6283, 1000) => {
            scaled(14_143, -21)
        }
        (TermOp::Sin | TermOp::Cos, Format::F32) if largest <= Rational::from_integer(314) => {
            scaled(12_312, -15)
        }
        // Absolute between 1/2 and 2, relative elsewhere.
        (TermOp::Log2, Format::F32) => &size.clone().max(Rational::ONE) * &power(-22),
        (TermOp::Exp2, Format::F32) => &ulp * Rational::from_integer(2),
        // 2^-9.9
        (TermOp::Exp2, Format::F16) => relative(scaled(10_718, -10)),
        (TermOp::Exp2, Format::Bf16) => relative(power(-7)),
        (TermOp::Tanh, Format::F32) => relative(power(-11)),
        // 2^-10.987
        (TermOp::Tanh, Format::F16) => scaled(10_091, -11),
        (TermOp::Tanh, Format::Bf16) => power(-8),
        _ => return None,
    };
    // The documented error is relative to the correctly rounded result, which is off by half a unit.
    Some(&error + &ulp)
}

/// The spacing of a format's numbers of magnitude `size`.
fn unit(format: Format, size: &Rational) -> Option<Rational> {
    let (mantissa, least) = match format {
        Format::F16 => (10, -24),
        Format::Bf16 => (7, -133),
        Format::F32 => (23, -149),
        Format::Tf32 | Format::F64 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => return None,
    };
    let least = Rational::power_of_two(least);
    if size.is_zero() {
        return Some(least);
    }
    let (num, den) = size.to_parts();
    // Up to a factor of two above the size.
    let exponent = i64::from(num.significant_bits()) - i64::from(den.significant_bits());
    let exponent = i32::try_from(exponent).ok()?;
    Some((Rational::power_of_two(exponent - mantissa)).max(least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_size() {
        let unit = |num, den| unit(Format::F32, &Rational::from_ratio(num, den));
        assert_eq!(unit(1, 1), Some(Rational::power_of_two(-23)));
        assert!(unit(3, 2) >= Some(Rational::power_of_two(-23)));
        assert!(unit(1, 3) >= Some(Rational::power_of_two(-25)));
        assert_eq!(unit(0, 1), Some(Rational::power_of_two(-149)));
    }

    #[test]
    fn what_is_not_documented_has_no_bound() {
        let of = |op, format, from: i64, to: i64| {
            let argument = [from, to].map(|bound| Extended::Finite(Rational::from_integer(bound)));
            maximal(op, format, &argument, (Rational::ONE, Rational::ONE))
        };
        assert_eq!(of(TermOp::Sin, Format::F32, 0, 400), None);
        assert_eq!(of(TermOp::Rsqrt, Format::F64, 2, 2), None);
        assert_eq!(of(TermOp::Div, Format::F32, -1, 1), None);
        assert!(of(TermOp::Sin, Format::F32, 0, 100) > of(TermOp::Sin, Format::F32, 0, 6));
    }
}
