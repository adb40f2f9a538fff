//! What atomic operations do to memory, and among whom they are one (rule Y7).

use super::op::{Int, Int2};
use crate::number::format::Format;

/// What an atomic operation does to memory; all of them commute with themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// Adds a real.
    Real(Format),
    /// `add`, `min`, `max`, `and`, `or` or `xor` on integers. Only `min` and `max` ask for a sign.
    Integer(Int2, Int),
}

impl Update {
    /// Bytes that it covers.
    pub fn bytes(self) -> u32 {
        match self {
            Update::Real(format) => format.bytes(),
            Update::Integer(_, ty) => ty.width.bytes(),
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
