//! The matrix products that warps have in flight (`wgmma`, rule Y12).

use super::super::clock::Joined;
use crate::program::matrix::MatrixShape;
use crate::program::{InstId, RegId};
use std::collections::VecDeque;

/// A product in flight.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) number: u32,
    pub(super) registers: Vec<RegId>,
}

/// How products use a register.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// Number of products in flight that use it, and the last of them.
    pub(super) running: u32,
    pub(super) last: InstId,
    /// The shape of the products whose result it holds; `None` for a part of a left factor.
    pub(super) result: Option<MatrixShape>,
    /// Where a thread read or wrote it after `wgmma.fence`.
    pub(super) touched: Option<InstId>,
}

/// The products of one warp.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Products {
    pub(super) uses: Vec<Use>,
    pub(super) open: Vec<Running>,
    pub(super) groups: VecDeque<Vec<Running>>,
    /// Whether the warp has executed `wgmma.fence`.
    pub(super) fenced: bool,
    /// The operations on products that it executed, in order: the same for all warps of a warpgroup.
    pub(super) done: Vec<Done>,
    /// Its parts of the products that it started, in order.
    pub(super) parts: Vec<Part>,
    /// How many of them have completed.
    pub(super) over: usize,
}

/// One warp's part of a product.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) number: u32,
    /// What had happened when the warp started it.
    pub(super) past: Joined,
}

/// An operation on products that a warp executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) pc: InstId,
    /// For a product: its matrix descriptors, and whether it accumulates.
    pub(super) operands: [u64; 3],
}

impl Products {
    pub(in super::super) fn new(registers: u32) -> Products {
        Products { uses: vec![Use::default(); registers as usize], ..Products::default() }
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.groups.is_empty()
    }

    pub(in super::super) fn bytes(&self) -> u64 {
        (self.uses.len() * size_of::<Use>() + self.done.len() * size_of::<Done>() + 2048 * self.parts.len())
            as u64
    }
}
