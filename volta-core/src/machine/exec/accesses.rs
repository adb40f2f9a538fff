//! What an operation that accesses memory needs: not what is executed next, nor which threads there are.

use super::super::access_pattern::AccessPatterns;
use super::super::agent::Agent;
use super::super::context::Context;
use super::super::memory::Memory;
use super::super::objects::Object;
use super::super::overlap::OverlapOfCta;
use super::super::stop::Stop;
use super::super::synchronisation::Synchronisation;
use super::super::tensor_memory::TensorMemory;
use super::super::values::Values;
use super::super::work::Work;
use crate::base::budget::Held;
use crate::base::lane::LaneMask;
use crate::program::{Access, InstId, Space};
use crate::verdict::Site;

/// By the origin of an undefined value: the first read that found it in memory that no thread has written, or not for
/// all inputs.
pub(in super::super) type UnwrittenReads = std::collections::BTreeMap<u64, Site>;

/// Memory, and what its accesses read and change besides.
pub(in super::super) struct Accesses<'a, 'l> {
    pub(in super::super) context: Context<'l>,
    pub(in super::super) values: &'a mut Values<'l>,
    pub(in super::super) sync: &'a mut Synchronisation<'l>,
    pub(in super::super) memory: &'a mut Memory,
    pub(in super::super) work: &'a mut Work<'l>,
    /// With vector clocks: the first read of each instruction that found unwritten memory.
    pub(in super::super) unwritten: &'a mut UnwrittenReads,
    /// The cost of its accesses, if requested.
    pub(in super::super) patterns: &'a mut Option<Box<AccessPatterns>>,
    /// What other launches may conflict with, if some overlap with this one.
    pub(in super::super) overlap: &'a mut Option<Box<OverlapOfCta>>,
}

impl<'l> Accesses<'_, 'l> {
    pub(super) fn arithmetic(&mut self) -> Arithmetic<'_, 'l> {
        Arithmetic { context: self.context, values: self.values, work: self.work }
    }
}

/// An access that several lanes make to one object.
pub(super) struct WarpAccess<'o> {
    pub(super) object: &'o Object,
    pub(super) number: u32,
    /// Byte offsets in the object, for the lanes of the mask.
    pub(super) offsets: &'o [u64; 32],
    pub(super) mask: LaneMask,
    pub(super) pc: InstId,
    pub(super) access: Access,
    pub(super) agent: Agent,
}

/// An access of one lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneAccess {
    /// The address, in the state space that the instruction names.
    pub(super) place: (Space, u64),
    pub(super) bytes: u32,
    /// The address must be a multiple of this number of bytes.
    pub(super) alignment: u32,
    /// The agent that accesses memory.
    pub(super) agent: Agent,
    pub(super) writes: bool,
}

/// What computes with floats, known and unknown.
pub(in super::super) struct Arithmetic<'a, 'l> {
    pub(in super::super) context: Context<'l>,
    pub(in super::super) values: &'a mut Values<'l>,
    pub(in super::super) work: &'a mut Work<'l>,
}

/// Asynchronous operations: copies and products that complete on their own, the barriers in memory that they complete
/// on, and tensor memory, which only they access.
pub(in super::super) struct Asynchronous<'a, 'l> {
    pub(in super::super) context: Context<'l>,
    pub(in super::super) accesses: Accesses<'a, 'l>,
    pub(in super::super) tensor_memory: &'a mut TensorMemory,
}

impl Asynchronous<'_, '_> {
    pub(in super::super) fn check_budgets(&self) -> Result<(), Stop> {
        let Accesses { values, sync, memory, overlap, work, .. } = &self.accesses;
        let overlap = overlap.as_ref().map_or(0, |overlap| overlap.bytes());
        let state = memory.bytes() + self.tensor_memory.bytes() + overlap;
        work.check(&values.kept().and(&sync.kept()).and(&Held { state, ..Held::default() }))
    }
}
