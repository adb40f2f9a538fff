//! What lanes of a warp do together: shuffles, votes, reductions.

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

/// What `redux.sync` makes of the values of lanes, which is the same in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Of 32-bit integers: add, min, max, and, or, xor.
    Integer(Int2, Int),
    /// Of f32: min, max.
    Float(Float2),
}
