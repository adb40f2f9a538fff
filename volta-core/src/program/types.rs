//! PTX types, as modifiers name them.

use super::op::{Int, Width};
use crate::number::format::Format;

/// A type that an instruction, register or variable names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// `.b8` … `.b64`
    Bits(Width),
    /// `.u8` … `.s64`
    Int(Int),
    /// One float
    Float(Format),
    /// Two floats in one register, the first in the low half
    FloatPair(Format),
    /// `.u16x2`, `.s16x2`
    IntPair(
        /// `.s16x2`
        bool,
    ),
    /// `.b128`
    Bits128,
    /// `.pred`
    Pred,
}

impl Type {
    /// Parses the name of a type, without its dot.
    pub(super) fn parse(name: &str) -> Option<Type> {
        let int = |width, signed| Some(Type::Int(Int { width, signed }));
        match name {
            "b8" => Some(Type::Bits(Width::W8)),
            "b16" => Some(Type::Bits(Width::W16)),
            "b32" => Some(Type::Bits(Width::W32)),
            "b64" => Some(Type::Bits(Width::W64)),
            "b128" => Some(Type::Bits128),
            "u8" => int(Width::W8, false),
            "u16" => int(Width::W16, false),
            "u32" => int(Width::W32, false),
            "u64" => int(Width::W64, false),
            "s8" => int(Width::W8, true),
            "s16" => int(Width::W16, true),
            "s32" => int(Width::W32, true),
            "s64" => int(Width::W64, true),
            "u16x2" => Some(Type::IntPair(false)),
            "s16x2" => Some(Type::IntPair(true)),
            "f16" => Some(Type::Float(Format::F16)),
            "bf16" => Some(Type::Float(Format::Bf16)),
            "tf32" => Some(Type::Float(Format::Tf32)),
            "f32" => Some(Type::Float(Format::F32)),
            "f64" => Some(Type::Float(Format::F64)),
            "f16x2" => Some(Type::FloatPair(Format::F16)),
            "bf16x2" => Some(Type::FloatPair(Format::Bf16)),
            "f32x2" => Some(Type::FloatPair(Format::F32)),
            "e4m3x2" => Some(Type::FloatPair(Format::E4m3)),
            "e5m2x2" => Some(Type::FloatPair(Format::E5m2)),
            "ue8m0x2" => Some(Type::FloatPair(Format::Ue8m0)),
            "pred" => Some(Type::Pred),
            _ => None,
        }
    }

    /// The width of a register that holds it; `None` for predicates and 128 bits.
    pub(super) fn width(self) -> Option<Width> {
        match self {
            Type::Bits(width) => Some(width),
            Type::Int(int) => Some(int.width),
            Type::Float(format) => float_width(format),
            Type::FloatPair(format) => double(float_width(format)?),
            Type::IntPair(_) => Some(Width::W32),
            Type::Bits128 | Type::Pred => None,
        }
    }

    /// Size in memory in bytes; `None` for predicates.
    pub(super) fn bytes(self) -> Option<u64> {
        if let Type::Bits128 = self { Some(16) } else { self.width().map(|width| u64::from(width.bytes())) }
    }

    /// Its integer type; bits count as unsigned.
    pub(super) fn as_int(self) -> Option<Int> {
        match self {
            Type::Bits(width) => Some(Int { width, signed: false }),
            Type::Int(int) => Some(int),
            Type::Float(_) | Type::FloatPair(_) | Type::IntPair(_) | Type::Bits128 | Type::Pred => None,
        }
    }
}

/// The width of one float.
pub(super) fn float_width(format: Format) -> Option<Width> {
    width_of_bytes(u64::from(format.bytes()))
}

/// The width with this many bytes.
pub(super) fn width_of_bytes(bytes: u64) -> Option<Width> {
    match bytes {
        1 => Some(Width::W8),
        2 => Some(Width::W16),
        4 => Some(Width::W32),
        8 => Some(Width::W64),
        _ => None,
    }
}

/// Twice the width.
pub(super) fn double(width: Width) -> Option<Width> {
    width_of_bytes(2 * u64::from(width.bytes()))
}
