//! Rule V9: the closed table of literals that are read as irrational constants, and where.
//!
//! A literal of the table is a symbol until it is known where it stands. As a factor of an exponent of two a
//! form of log₂ e is read as log₂ e, and its residual, added with the same factor, adds nothing; beside a
//! logarithm a form of ln 2 is read as 1/log₂ e. Anywhere else a literal is the rational that its bits spell.
//! A power of two times a literal has the literal's bits but for the exponent field, and is read alike.

use crate::number::Rational;
use crate::number::format::{Format, decode};
use crate::term::Constant;
use std::fmt;

/// A constant that no float is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Irrational {
    /// log₂ e
    Log2E,
    /// log₂ 10
    Log2Ten,
}

/// A literal of the table, up to powers of two and sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Literal {
    /// f32 nearest to log₂ e
    Log2E,
    /// f32 next above it
    Log2EAbove,
    /// f32 nearest to log₂ e less its nearest f32
    Log2EResidual,
    /// `powf`'s form of that residual
    Log2EPowerResidual,
    /// f16 nearest to log₂ e
    Log2EHalf,
    /// bf16 nearest to log₂ e
    Log2EBrain,
    /// f64 nearest to log₂ e
    Log2EDouble,
    /// f32 nearest to ln 2
    Ln2,
    /// f64 nearest to ln 2
    Ln2Double,
    /// f32 nearest to log₂ 10
    Log2Ten,
    /// f32 nearest to log₂ 10 less its nearest f32
    Log2TenResidual,
    /// f32 nearest to log₁₀ 2
    Log10Two,
}

/// What a literal is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The constant, in an exponent.
    Whole(Irrational),
    /// What the constant's nearest f32 lacks, in an exponent.
    Residual(Irrational),
    /// The constant's reciprocal, beside a base-2 logarithm.
    Reciprocal(Irrational),
}

struct Row {
    literal: Literal,
    format: Format,
    bits: u64,
    role: Role,
}

const fn row(literal: Literal, format: Format, bits: u64, role: Role) -> Row {
    Row { literal, format, bits, role }
}

/// In the order of [`Literal`].
const TABLE: [Row; 12] = [
    row(Literal::Log2E, Format::F32, 0x3FB8_AA3B, Role::Whole(Irrational::Log2E)),
    row(Literal::Log2EAbove, Format::F32, 0x3FB8_AA3C, Role::Whole(Irrational::Log2E)),
    row(Literal::Log2EResidual, Format::F32, 0x32A5_7060, Role::Residual(Irrational::Log2E)),
    row(Literal::Log2EPowerResidual, Format::F32, 0x32A5_5E34, Role::Residual(Irrational::Log2E)),
    row(Literal::Log2EHalf, Format::F16, 0x3DC5, Role::Whole(Irrational::Log2E)),
    row(Literal::Log2EBrain, Format::Bf16, 0x3FB9, Role::Whole(Irrational::Log2E)),
    row(Literal::Log2EDouble, Format::F64, 0x3FF7_1547_652B_82FE, Role::Whole(Irrational::Log2E)),
    row(Literal::Ln2, Format::F32, 0x3F31_7218, Role::Reciprocal(Irrational::Log2E)),
    row(Literal::Ln2Double, Format::F64, 0x3FE6_2E42_FEFA_39EF, Role::Reciprocal(Irrational::Log2E)),
    row(Literal::Log2Ten, Format::F32, 0x4054_9A78, Role::Whole(Irrational::Log2Ten)),
    row(Literal::Log2TenResidual, Format::F32, 0x3397_9A37, Role::Residual(Irrational::Log2Ten)),
    row(Literal::Log10Two, Format::F32, 0x3E9A_209B, Role::Reciprocal(Irrational::Log2Ten)),
];

impl Literal {
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The rational that its bits spell.
    pub fn value(self) -> Rational {
        let row = self.row();
        let value = decode(row.format, row.bits).extended();
        value.and_then(|value| value.finite().cloned()).unwrap_or_default()
    }

    pub(super) fn role(self) -> Role {
        self.row().role
    }
}

/// A literal that was read as an irrational constant: an assumption of the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reading {
    /// The literal.
    pub literal: Literal,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.literal.row();
        let name = |which: Irrational| match which {
            Irrational::Log2E => "log2(e)",
            Irrational::Log2Ten => "log2(10)",
        };
        let digits = row.format.bytes() as usize * 2;
        write!(f, "{} literal 0x{:0digits$x}, up to a power of two, read as ", row.format.name(), row.bits)?;
        match row.role {
            Role::Whole(which) => write!(f, "{}", name(which)),
            Role::Residual(which) => write!(f, "the rest of {}", name(which)),
            Role::Reciprocal(Irrational::Log2E) => write!(f, "ln(2)"),
            Role::Reciprocal(Irrational::Log2Ten) => write!(f, "log10(2)"),
        }
    }
}

/// The coefficient (a power of two, of either sign) and the literal that a constant consists of, if it does.
pub(super) fn read(constant: &Constant) -> Option<(Rational, Literal)> {
    let exact = constant.exact.finite()?;
    let (format, bits) = constant.literal.or(constant.rounded)?;
    let decoded = decode(format, bits).extended()?;
    if decoded != constant.exact || exact.is_zero() {
        return None;
    }
    for row in TABLE.iter().filter(|row| row.format == format) {
        let quotient = exact.checked_div(&row.literal.value())?;
        if is_power_of_two(&quotient.abs()) {
            return Some((quotient, row.literal));
        }
    }
    None
}

fn is_power_of_two(value: &Rational) -> bool {
    let (num, den) = value.to_parts();
    let one = rug::Integer::from(1);
    (num == one && den.is_power_of_two()) || (den == one && num.is_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Extended;

    fn literal(format: Format, bits: u64) -> Constant {
        let exact = decode(format, bits).extended().expect("a number");
        Constant { exact, literal: Some((format, bits)), rounded: Some((format, bits)) }
    }

    #[test]
    fn the_table_is_in_the_order_of_its_literals() {
        for (at, row) in TABLE.iter().enumerate() {
            assert_eq!(row.literal as usize, at);
            assert!(row.literal.value().is_positive());
        }
    }

    #[test]
    fn powers_of_two_and_signs_come_out_as_coefficients() {
        let eighth = Rational::from_ratio(1, 8);
        assert_eq!(read(&literal(Format::F32, 0x3E38_AA3B)), Some((eighth, Literal::Log2E)));
        assert_eq!(
            read(&literal(Format::F32, 0xBFB8_AA3C)),
            Some((Rational::MINUS_ONE, Literal::Log2EAbove))
        );
        assert_eq!(read(&literal(Format::F16, 0x3DC5)), Some((Rational::ONE, Literal::Log2EHalf)));
    }

    #[test]
    fn neighbours_of_the_table_are_rationals() {
        for bits in [0x3FB8_AA3A, 0x3FB8_AA3D, 0x3F31_7217, 0x3F31_7219, 0x3F80_0000, 0] {
            assert_eq!(read(&literal(Format::F32, bits)), None, "{bits:x}");
        }
        let folded =
            Constant { exact: Extended::Finite(Literal::Log2E.value()), literal: None, rounded: None };
        assert_eq!(read(&folded), None);
    }
}
