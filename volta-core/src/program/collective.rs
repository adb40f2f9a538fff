//! Operations that lanes of a warp execute together: shuffles, votes, reductions.

use super::op::{Float2, Int, Int2};

/// Shuffle modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

/// Votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Vote {
    All,
    Any,
    Uni,
}

/// The operation of `redux.sync` on the values of lanes, with the same result in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// On 32-bit integers: add, min, max, and, or, xor.
    Integer(Int2, Int),
    /// On f32: min, max.
    Float(Float2),
}
