//! A warp: registers as vectors of 32 lanes, a program counter for each lane, and what its lanes wait for.

use crate::base::lane::{Lane, LaneMask};
use crate::program::{InstId, PredId, RegId};
use crate::value::packed::Cell;
use crate::value::register::Register;
use crate::value::{Predicate, Value};

/// Bits of the number of a lane.
pub(crate) const LANE_BITS: usize = 5;

/// A warp of a CTA.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    /// Its number within the cluster.
    pub(crate) index: usize,
    /// Its CTA's number in the cluster, and its own number in the CTA.
    pub(crate) rank: u32,
    pub(crate) number: usize,
    /// Lanes that exist; fewer than 32 in the last warp of an odd block.
    pub(crate) exists: LaneMask,
    /// Lanes that returned.
    pub(crate) exited: LaneMask,
    /// Lanes that wait at a CTA barrier, at a warp barrier, at a collective operation. Disjoint.
    pub(crate) at_barrier: LaneMask,
    pub(crate) at_warp_sync: LaneMask,
    pub(crate) at_collective: LaneMask,
    /// Lanes that wait for a phase of an mbarrier.
    pub(crate) at_phase: LaneMask,
    /// Lanes that have met all others of the warp at the operation on the cluster's barrier at which they stand.
    pub(crate) met_at_cluster: LaneMask,
    /// Whether its wait at the CTA barrier has been counted.
    pub(crate) arrived: bool,
    /// Next instruction of each lane.
    pub(crate) pc: [InstId; 32],
    /// Masks that the lanes waiting at a warp barrier named.
    pub(crate) sync_masks: [LaneMask; 32],
    pub(crate) registers: Vec<Register>,
    pub(crate) predicates: Vec<Predicate>,
    /// Local memory of the threads: cell by cell, 32 lanes each.
    pub(crate) local: Vec<[Cell; 32]>,
    /// Whether lanes have ever diverged; whether they have reconverged depends on the schedule (rule S4).
    pub(crate) diverged: bool,
    /// Number of synchronisations of the whole warp so far.
    pub(crate) syncs: u32,
    /// The convergence group of each lane. Lanes of one group have met at one instruction and taken the same branches
    /// since, so they run together under every schedule.
    ways: [u64; 32],
    last_way: u64,
}

impl Warp {
    pub(crate) fn new(
        (index, rank, number): (usize, u32, usize),
        exists: LaneMask,
        registers: u32,
        predicates: u32,
        local_cells: u32,
    ) -> Warp {
        Warp {
            index,
            rank,
            number,
            exists,
            registers: vec![Register::unwritten(); registers as usize],
            predicates: vec![Predicate::unwritten(); predicates as usize],
            local: vec![[Cell::UNWRITTEN; 32]; local_cells as usize],
            ..Warp::default()
        }
    }

    /// Bytes of the registers and of the memory of the threads of one warp.
    pub(crate) fn bytes(registers: u32, predicates: u32, local_cells: u32) -> u64 {
        let each = |count: u32, size: usize| u64::from(count) * size as u64;
        each(registers, size_of::<Register>())
            + each(predicates, size_of::<Predicate>())
            + each(local_cells, size_of::<[Cell; 32]>())
    }

    /// Lanes that have not returned.
    pub(crate) fn live(&self) -> LaneMask {
        self.exists & !self.exited
    }

    /// Lanes that can take a step.
    pub(crate) fn runnable(&self) -> LaneMask {
        self.live() & !(self.at_barrier | self.at_warp_sync | self.at_collective | self.at_phase)
    }

    /// The lanes of `mask` at the lowest instruction, that instruction, and the lowest one of the others.
    pub(crate) fn lowest(&self, mask: LaneMask) -> (LaneMask, InstId, InstId) {
        let (mut group, mut lowest, mut next) = (LaneMask::NONE, InstId::NOWHERE, InstId::NOWHERE);
        for lane in mask {
            let pc = self.pc[lane];
            if pc < lowest {
                next = lowest;
                lowest = pc;
                group = LaneMask::NONE;
            } else if pc > lowest && pc < next {
                next = pc;
            }
            if pc == lowest {
                group |= LaneMask::of(lane);
            }
        }
        (group, lowest, next)
    }

    /// Sends the lanes of `mask` to `pc` while others continue elsewhere.
    pub(crate) fn diverge(&mut self, mask: LaneMask, pc: InstId) {
        self.diverged |= !mask.is_empty();
        self.go(mask, pc);
        self.leave(mask);
    }

    /// Splits the lanes of `mask` from the others of their groups; those at one instruction stay together.
    pub(crate) fn leave(&mut self, mask: LaneMask) {
        self.take_new_ways(mask, |warp, lane| (warp.pc[lane], warp.ways[lane]));
    }

    /// Gives each lane of `mask` a group of its own.
    pub(crate) fn scatter(&mut self, mask: LaneMask) {
        self.take_new_ways(mask, |_, lane| lane);
    }

    /// Lanes of `mask` have waited for one another: those at one instruction form a group.
    pub(crate) fn meet(&mut self, mask: LaneMask) {
        self.take_new_ways(mask, |warp, lane| warp.pc[lane]);
    }

    /// Lanes of `mask` with equal keys get a new group.
    fn take_new_ways<K: PartialEq>(&mut self, mask: LaneMask, key: impl Fn(&Warp, Lane) -> K) {
        let mut rest = mask;
        while !rest.is_empty() {
            let first = key(self, rest.first());
            let group = rest.iter().filter(|lane| key(self, *lane) == first);
            let group = group.collect::<LaneMask>();
            rest &= !group;
            self.last_way += 1;
            group.iter().for_each(|lane| self.ways[lane] = self.last_way);
        }
    }

    /// Whether two lanes have run together since they last met.
    pub(crate) fn go_together(&self, one: Lane, other: Lane) -> bool {
        self.ways[one] == self.ways[other]
    }

    /// Sends the lanes of `mask` to `pc`.
    pub(crate) fn go(&mut self, mask: LaneMask, pc: InstId) {
        for lane in mask {
            self.pc[lane] = pc;
        }
    }

    /// Moves waiting lanes past the instruction at which they waited.
    pub(crate) fn advance(&mut self, mask: LaneMask) {
        for lane in mask {
            self.pc[lane] = self.pc[lane].next();
        }
    }

    #[inline]
    pub(crate) fn register(&self, id: RegId) -> &Register {
        &self.registers[id.index()]
    }

    #[inline]
    pub(crate) fn register_mut(&mut self, id: RegId) -> &mut Register {
        &mut self.registers[id.index()]
    }

    #[inline]
    pub(crate) fn predicate_mut(&mut self, id: PredId) -> &mut Predicate {
        &mut self.predicates[id.index()]
    }

    /// Number of a lane's thread within the cluster.
    pub(crate) fn thread(&self, lane: Lane) -> u32 {
        (self.index * 32 + lane.index()) as u32
    }
}

/// A lane of a warp at an instruction.
#[derive(Clone, Copy)]
pub(crate) struct At<'w> {
    pub(crate) warp: &'w Warp,
    pub(crate) lane: Lane,
    pub(crate) pc: InstId,
}

impl At<'_> {
    /// The first lane, for what is the same in all.
    pub(crate) fn first(warp: &Warp, pc: InstId) -> At<'_> {
        At { warp, lane: Lane::FIRST, pc }
    }
}

/// Lanes of a warp that execute an instruction.
pub(crate) struct Step<'w> {
    pub(crate) warp: &'w mut Warp,
    pub(crate) mask: LaneMask,
    pub(crate) pc: InstId,
}

impl Step<'_> {
    /// One of the lanes.
    #[inline]
    pub(crate) fn at(&self, lane: Lane) -> At<'_> {
        At { warp: self.warp, lane, pc: self.pc }
    }

    /// Only these lanes.
    #[inline]
    pub(crate) fn of(&mut self, mask: LaneMask) -> Step<'_> {
        Step { warp: self.warp, mask, pc: self.pc }
    }

    /// Sets a register in some lanes.
    pub(crate) fn set_lanes(&mut self, d: RegId, values: Vec<(Lane, Value)>) {
        let register = self.warp.register_mut(d);
        values.into_iter().for_each(|(lane, value)| register.set(lane, value));
    }

    /// Sets a register in one lane.
    #[inline]
    pub(crate) fn set(&mut self, d: RegId, lane: Lane, value: Value) {
        self.warp.register_mut(d).set(lane, value);
    }
}

/// Lanes of a warp at one instruction.
pub(crate) struct Lanes<'w> {
    pub(crate) warp: &'w mut Warp,
    pub(crate) all: LaneMask,
    /// Lanes whose guard holds.
    pub(crate) active: LaneMask,
}

impl<'w> Lanes<'w> {
    /// Lanes whose guard has not been evaluated.
    pub(crate) fn new(warp: &'w mut Warp, all: LaneMask) -> Lanes<'w> {
        Lanes { warp, all, active: all }
    }
}
