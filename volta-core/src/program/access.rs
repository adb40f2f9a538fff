//! Attributes of loads and stores beyond their plain effect on memory.

use super::Program;
use super::op::{InstId, Op};
use super::update::Scope;

/// Attributes of a load or a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// `ld.global.nc` (rule M4).
    pub read_only: bool,
    /// `.volatile`, or a memory order with a scope: relevant to loops that wait for flags (rule Y15). Elsewhere it
    /// changes nothing (Y1).
    pub strong: Option<Strong>,
    /// The load of a loop that only repeats it until a condition holds: it waits for a flag (rule Y15).
    pub waits: bool,
    /// The load of such a loop is an atomic operation that writes back what it finds.
    pub writes_back: bool,
    /// The load of such a loop, if this load finds out ahead of it whether it must wait (rule Y15).
    pub ahead_of: Option<InstId>,
    /// It loads an address of tensor memory from where `tcgen05.alloc` stored it (rule Y14).
    pub tensor_address: bool,
    /// Its address is computed from numbers alone and belongs to no object (rule M1).
    pub leads_nowhere: bool,
}

/// A strong access: other threads may access the same place at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strong {
    /// The threads for which it is strong.
    pub scope: Scope,
    /// Whether it is `.acquire` or `.release`, not `.relaxed` or `.volatile`.
    pub orders: bool,
}

impl Program {
    /// Whether some load goes through the read-only path (rule M4).
    pub fn reads_uncached(&self) -> bool {
        self.insts.iter().any(|inst| matches!(&inst.op, Op::Load { access, .. } if access.read_only))
    }
}
