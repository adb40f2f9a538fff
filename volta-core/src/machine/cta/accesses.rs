//! What an operation that accesses memory needs: not what is executed next, nor which threads there are.

use super::work::Work;
use crate::base::budget::Held;
use crate::base::lane::LaneMask;
use crate::concurrency::agent::Agent;
use crate::concurrency::race::VectorClockDetector;
use crate::launch::objects::Object;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::Operands;
use crate::machine::group::values::{Matrices, Values};
use crate::machine::group::warp::Warp;
use crate::machine::memory::access_pattern::AccessPatterns;
use crate::machine::memory::contents::Memory;
use crate::machine::memory::overlap::OverlapOfCta;
use crate::machine::memory::tensor_allocations::TensorMemory;
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::{Access, Address, InstId, PredSrc, Space, Src};
use crate::verdict::Site;

/// By the origin of an undefined value: the first read that found it in memory that no thread has written, or not for
/// all inputs.
pub(crate) type UnwrittenReads = std::collections::BTreeMap<u64, Site>;

/// Memory, and what its accesses read and change besides.
pub(crate) struct Accesses<'a, 'l> {
    pub(crate) context: Context<'l>,
    pub(crate) values: &'a mut Values<'l>,
    pub(crate) sync: &'a mut Synchronisation<'l>,
    pub(crate) memory: &'a mut Memory,
    pub(crate) work: &'a mut Work<'l>,
    /// With vector clocks: the first read of each instruction that found unwritten memory.
    pub(crate) unwritten: &'a mut UnwrittenReads,
    /// The cost of its accesses, if requested.
    pub(crate) patterns: &'a mut Option<Box<AccessPatterns>>,
    /// What other launches may conflict with, if some overlap with this one.
    pub(crate) overlap: &'a mut Option<Box<OverlapOfCta>>,
}

impl<'l> Accesses<'_, 'l> {
    pub(crate) fn arithmetic(&mut self) -> Arithmetic<'_, 'l> {
        Arithmetic { context: self.context, values: self.values, work: self.work }
    }

    /// The vector clocks, for an operation that may wait. What it waits for may be an access that was left out after a
    /// finding (R2).
    pub(crate) fn exact(&mut self) -> Result<&mut VectorClockDetector, Stop> {
        let exact = self.sync.order.exact_mut()?;
        if self.values.terms.survey.is_some() { Err(Stop::Doubtful) } else { Ok(exact) }
    }
}

/// An access that several lanes make to one object.
pub(crate) struct WarpAccess<'o> {
    pub(crate) object: &'o Object,
    pub(crate) number: u32,
    /// Byte offsets in the object, for the lanes of the mask.
    pub(crate) offsets: &'o [u64; 32],
    pub(crate) mask: LaneMask,
    pub(crate) pc: InstId,
    pub(crate) access: Access,
    pub(crate) agent: Agent,
}

/// An access of one lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneAccess {
    /// The address, in the state space that the instruction names.
    pub(crate) place: (Space, u64),
    pub(crate) bytes: u32,
    /// The address must be a multiple of this number of bytes.
    pub(crate) alignment: u32,
    /// The agent that accesses memory.
    pub(crate) agent: Agent,
    pub(crate) writes: bool,
}

/// An asynchronous copy of one lane: where it begins to read, how many bytes it writes, and what says how many of them
/// it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    pub(crate) from: Address,
    pub(crate) bytes: u32,
    pub(crate) size: Option<Src>,
    pub(crate) ignore: Option<PredSrc>,
    pub(crate) agent: Agent,
}

/// What computes with floats, known and unknown.
pub(crate) struct Arithmetic<'a, 'l> {
    pub(crate) context: Context<'l>,
    pub(crate) values: &'a mut Values<'l>,
    pub(crate) work: &'a mut Work<'l>,
}

/// Asynchronous operations: copies and products that complete on their own, the barriers in memory that they complete
/// on, and tensor memory, which only they access.
pub(crate) struct Asynchronous<'a, 'l> {
    pub(crate) context: Context<'l>,
    pub(crate) accesses: Accesses<'a, 'l>,
    pub(crate) tensor_memory: &'a mut TensorMemory,
}

impl<'l> Asynchronous<'_, 'l> {
    /// The operands of one instruction of a warp.
    pub(crate) fn operands<'v>(&'v self, warp: &'v Warp, pc: InstId) -> Operands<'v, 'l> {
        self.accesses.values.terms.operands(warp, pc)
    }

    /// Matrices in registers.
    pub(crate) fn matrices(&mut self) -> Matrices<'_, 'l> {
        self.accesses.values.matrices()
    }

    pub(crate) fn check_budgets(&self) -> Result<(), Stop> {
        let Accesses { values, sync, memory, overlap, work, .. } = &self.accesses;
        let overlap = overlap.as_ref().map_or(0, |overlap| overlap.bytes());
        let state = memory.bytes() + self.tensor_memory.bytes() + overlap;
        work.check(&values.kept().and(&sync.kept()).and(&Held { state, ..Held::default() }))
    }
}
