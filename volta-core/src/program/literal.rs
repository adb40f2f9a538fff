//! Literals as bits of a type.
//!
//! Like `ptxas`: integers are truncated to the type's width; a float literal is rounded to an `f32` operand or widened
//! to an `f64` operand; as plain bits it needs the right width; `f16` operations take no literals.

use super::op::Width;
use super::types::Type;
use crate::number::format::Format;
use crate::ptx::tree::LiteralValue;

/// The bits of a literal as an operand of a type; `None` when it cannot be one.
pub(super) fn operand_bits(value: LiteralValue, ty: Type) -> Option<u64> {
    match ty {
        Type::Float(format) => float_bits(value, format),
        Type::Bits(width) => match (value, width) {
            (LiteralValue::Integer(value), _) => Some(value & width.mask()),
            (LiteralValue::Float32(bits), Width::W32) => Some(u64::from(bits)),
            (LiteralValue::Float64(bits), Width::W64) => Some(bits),
            _ => None,
        },
        Type::Int(int) => integer(value).map(|value| value & int.width.mask()),
        Type::FloatPair(_) | Type::IntPair(_) | Type::Pred | Type::Bits128 => None,
    }
}

/// The bits of a literal as an initial value of a type; `None` when it cannot be one.
pub(super) fn initial_bits(value: LiteralValue, ty: Type) -> Option<u128> {
    match ty {
        Type::Float(Format::F32 | Format::F64) => {}
        Type::Float(_) | Type::FloatPair(_) | Type::IntPair(_) => {
            let width = ty.width()?;
            return integer(value).map(|value| u128::from(value & width.mask()));
        }
        Type::Bits128 => return integer(value).map(u128::from),
        Type::Bits(_) | Type::Int(_) | Type::Pred => {}
    }
    operand_bits(value, ty).map(u128::from)
}

fn integer(value: LiteralValue) -> Option<u64> {
    match value {
        LiteralValue::Integer(value) => Some(value),
        LiteralValue::Float32(_) | LiteralValue::Float64(_) => None,
    }
}

fn float_bits(value: LiteralValue, format: Format) -> Option<u64> {
    match (value, format) {
        (LiteralValue::Float32(bits), Format::F32) => Some(u64::from(bits)),
        (LiteralValue::Float64(bits), Format::F64) => Some(bits),
        (LiteralValue::Float32(bits), Format::F64) => Some(f64::from(f32::from_bits(bits)).to_bits()),
        // Rust's conversion rounds to nearest, ties to even, as `ptxas` does.
        (LiteralValue::Float64(bits), Format::F32) => {
            Some(u64::from((f64::from_bits(bits) as f32).to_bits()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::op::Int;

    #[test]
    fn integers_are_cut_to_the_width() {
        let u8s = Type::Int(Int { width: Width::W8, signed: false });
        assert_eq!(operand_bits(LiteralValue::Integer(u64::MAX), u8s), Some(0xff));
        assert_eq!(operand_bits(LiteralValue::Float32(0), u8s), None);
    }

    #[test]
    fn float_literals_become_the_operand_format() {
        let (f32s, f64s) = (Type::Float(Format::F32), Type::Float(Format::F64));
        let third = 1.0f64 / 3.0;
        let rounded = u64::from((1.0f32 / 3.0).to_bits());
        assert_eq!(operand_bits(LiteralValue::Float64(third.to_bits()), f32s), Some(rounded));
        assert_eq!(operand_bits(LiteralValue::Float32(0x3f80_0000), f64s), Some(1.0f64.to_bits()));
        assert_eq!(operand_bits(LiteralValue::Integer(1), f32s), None);
    }

    #[test]
    fn plain_bits_take_float_literals_of_their_width() {
        assert_eq!(operand_bits(LiteralValue::Float32(7), Type::Bits(Width::W32)), Some(7));
        assert_eq!(operand_bits(LiteralValue::Float32(7), Type::Bits(Width::W64)), None);
    }
}
