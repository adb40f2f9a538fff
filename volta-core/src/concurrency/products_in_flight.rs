//! The matrix products that warps have in flight (`wgmma`, rule Y12).

use super::clock::Joined;
use crate::program::matrix::MatrixShape;
use crate::program::{InstId, RegId};
use std::collections::VecDeque;

/// A product in flight.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) number: u32,
    pub(crate) registers: Vec<RegId>,
}

/// How products use a register.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    /// Number of products in flight that use it, and the last of them.
    pub(crate) running: u32,
    pub(crate) last: InstId,
    /// The shape of the products whose result it holds; `None` for a part of a left factor.
    pub(crate) result: Option<MatrixShape>,
    /// Where a thread read or wrote it after `wgmma.fence`.
    pub(crate) touched: Option<InstId>,
}

/// The products of one warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Products {
    pub(crate) uses: Vec<Use>,
    pub(crate) open: Vec<Running>,
    pub(crate) groups: VecDeque<Vec<Running>>,
    /// Whether the warp has executed `wgmma.fence`.
    pub(crate) fenced: bool,
    /// The operations on products that it executed, in order: the same for all warps of a warpgroup.
    pub(crate) done: Vec<Done>,
    /// Its parts of the products that it started, in order.
    pub(crate) parts: Vec<Part>,
    /// How many of them have completed.
    pub(crate) over: usize,
}

/// One warp's part of a product.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) number: u32,
    /// What had happened when the warp started it.
    pub(crate) past: Joined,
}

/// An operation on products that a warp executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) pc: InstId,
    /// For a product: its matrix descriptors, and whether it accumulates.
    pub(crate) operands: [u64; 3],
}

impl Products {
    pub(crate) fn new(registers: u32) -> Products {
        Products { uses: vec![Use::default(); registers as usize], ..Products::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.groups.is_empty()
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.uses.len() * size_of::<Use>() + self.done.len() * size_of::<Done>() + 2048 * self.parts.len())
            as u64
    }
}
