//! The updates of memory by atomic operations, and the threads for which they are atomic (rule Y7).

use super::op::{Int, Int2, Width};
use crate::number::format::Format;

/// The update of a location by an atomic operation. Every update commutes with updates of its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// Adds a real.
    Real(Format),
    /// `min` or `max` on reals.
    Extreme {
        /// `max`
        largest: bool,
        /// The format of the reals.
        format: Format,
    },
    /// `add`, `min`, `max`, `and`, `or` or `xor` on integers. Only `min` and `max` distinguish signed types.
    Integer(Int2, Int),
    /// Adds to a real that is part of a word; the word is exchanged as a whole.
    RealInWord {
        /// The format of the real.
        format: Format,
        /// The width of the word.
        word: Width,
    },
}

impl Update {
    /// An operation on integers. The sign is dropped where it makes no difference, so that operations with the same
    /// effect are equal.
    pub fn of_integers(op: Int2, ty: Int) -> Update {
        let is_ordered = matches!(op, Int2::Min | Int2::Max);
        Update::Integer(op, Int { signed: ty.signed && is_ordered, ..ty })
    }

    /// An operation on reals, if it is one.
    pub fn of_reals(op: Int2, format: Format) -> Option<Update> {
        match op {
            Int2::Add => Some(Update::Real(format)),
            Int2::Min | Int2::Max => Some(Update::Extreme { largest: op == Int2::Max, format }),
            Int2::Sub
            | Int2::AddSat
            | Int2::SubSat
            | Int2::MulLo
            | Int2::MulHi
            | Int2::MulWide
            | Int2::Mul24Lo
            | Int2::Mul24Hi
            | Int2::Div
            | Int2::Rem
            | Int2::And
            | Int2::Or
            | Int2::Xor
            | Int2::Shl
            | Int2::Shr
            | Int2::MaskClamp
            | Int2::MaskWrap => None,
        }
    }

    /// The size in bytes of what it updates.
    pub fn bytes(self) -> u32 {
        match self {
            Update::Real(format) | Update::Extreme { format, .. } | Update::RealInWord { format, .. } => {
                format.bytes()
            }
            Update::Integer(_, ty) => ty.width.bytes(),
        }
    }

    /// The size in bytes of its access.
    pub fn accessed(self) -> u32 {
        match self {
            Update::RealInWord { format: _, word } => word.bytes(),
            Update::Real(_) | Update::Extreme { .. } | Update::Integer(..) => self.bytes(),
        }
    }
}

/// The threads for which an operation is atomic (rule Y7), or an access is strong or ordered (Y13, Y15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The threads of the CTA: `.cta`.
    Cta,
    /// The threads of the cluster: `.cluster`.
    Cluster,
    /// All threads of the launch: `.gpu`, `.sys`.
    Launch,
}
