//! The products of matrices that warps have under way (`wgmma`, rule Y12).

use super::super::clock::Joined;
use crate::program::matrix::MatrixShape;
use crate::program::{InstId, RegId};
use std::collections::VecDeque;

/// A product under way.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) number: u32,
    pub(super) registers: Vec<RegId>,
}

/// How products use a register.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// By so many that are under way, and the last of them.
    pub(super) running: u32,
    pub(super) last: InstId,
    /// It holds a result of products of this shape, or else a part of a left factor.
    pub(super) result: Option<MatrixShape>,
    /// Where a thread read or wrote it since `wgmma.fence`.
    pub(super) touched: Option<InstId>,
}

/// The products of one warp.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Products {
    pub(super) uses: Vec<Use>,
    pub(super) open: Vec<Running>,
    pub(super) groups: VecDeque<Vec<Running>>,
    /// There has been a `wgmma.fence`.
    pub(super) fenced: bool,
    /// What of this it executed, in order: all warps of a group do the same.
    pub(super) done: Vec<Done>,
    /// Its parts of the products that it started, in order.
    pub(super) parts: Vec<Part>,
    /// Of these, so many are over.
    pub(super) over: usize,
}

/// What one warp computes of a product.
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
    /// Of a product: matrix descriptors, and whether it is added to what its result held.
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
