//! What atomic operations do to memory, and among whom they are one (rule Y7).

use super::op::{Int, Int2, Width};
use crate::number::format::Format;

/// What an atomic operation does to memory; all of them commute with themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// Adds a real.
    Real(Format),
    /// `min` or `max` on reals.
    Extreme {
        /// `max`
        largest: bool,
        /// Of the reals.
        format: Format,
    },
    /// `add`, `min`, `max`, `and`, `or` or `xor` on integers. Only `min` and `max` ask for a sign.
    Integer(Int2, Int),
    /// Adds a real that is part of a word, which is exchanged as a whole.
    RealInWord {
        /// Of the real.
        format: Format,
        /// The word's.
        word: Width,
    },
}

impl Update {
    /// An operation on integers. Signs are left out where they make no difference, so that operations are the same if they do
    /// the same.
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

    /// Bytes of what it updates.
    pub fn bytes(self) -> u32 {
        match self {
            Update::Real(format) | Update::Extreme { format, .. } | Update::RealInWord { format, .. } => {
                format.bytes()
            }
            Update::Integer(_, ty) => ty.width.bytes(),
        }
    }

    /// Bytes that it accesses at once.
    pub fn accessed(self) -> u32 {
        match self {
            Update::RealInWord { format: _, word } => word.bytes(),
            Update::Real(_) | Update::Extreme { .. } | Update::Integer(..) => self.bytes(),
        }
    }
}

/// Among whom an atomic operation is one (rule Y7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The threads of the CTA: `.cta`.
    Cta,
    /// The threads of the cluster: `.cluster`.
    Cluster,
    /// All threads of the launch: `.gpu`, `.sys`.
    Launch,
}
