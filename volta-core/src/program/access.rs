//! What loads and stores do besides moving words, and who may access the same place meanwhile.

use super::update::Scope;

/// What an operation does besides its plain effect on memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// `ld.global.nc` (rule M4).
    pub read_only: bool,
    /// `.volatile`, or an order with a scope: what a loop can wait for, or by (rule Y15). Else it changes nothing (Y1).
    pub strong: Option<Strong>,
    /// A load that a loop repeats, which does nothing else, until a condition holds: it waits (rule Y15).
    pub waits: bool,
    /// It loads an address of tensor memory from where `tcgen05.alloc` stored it (rule Y14).
    pub tensor_address: bool,
    /// Its address is computed from numbers alone, and leads to no object (rule M1).
    pub leads_nowhere: bool,
}

/// That other threads may access the same place at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strong {
    /// Which threads.
    pub scope: Scope,
    /// `.acquire` or `.release`; else `.relaxed` or `.volatile`.
    pub orders: bool,
}
