//! Bulk copies between global and shared memory (rule Y11): agents of the async proxy.
//!
//! As with other copies, contents change at once: whoever looks before the copy is over races.

use super::super::clock::AsyncSpace;
use super::super::cta::{Cta, Detector, Stop};
use super::super::mbarrier::Started;
use super::super::objects::Backing;
use super::super::race::Agent;
use super::super::value::lanes;
use super::super::warp::Warp;
use crate::program::{Far, InstId, Place, Src};
use crate::verdict::FaultKind;
use std::collections::VecDeque;

/// What bulk copies move: so many bytes, or several times as many, from and to multiples of it.
const UNIT: u32 = 16;

/// A copy that completes by groups: reading and writing end apart.
#[derive(Clone, Copy, Debug)]
struct Stored {
    reads: u32,
    writes: u32,
}

/// The copies of one thread that complete by groups and that it has not waited for.
#[derive(Clone, Debug, Default)]
pub(super) struct BulkGroups {
    open: Vec<Stored>,
    groups: VecDeque<Vec<Stored>>,
}

impl BulkGroups {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.groups.is_empty()
    }
}

impl Cta<'_> {
    /// `cp.async.bulk` to shared memory, which completes on a barrier.
    pub(super) fn bulk_load(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        pc: InstId,
        (to, from): (Place, &Far),
        barrier: Place,
    ) -> Result<(), Stop> {
        for lane in lanes(mask) {
            let copy = self.begin_bulk()?;
            let agent = |space| Agent::Copy { number: copy, proxy: Some(space) };
            let (writer, reader) = (agent(AsyncSpace::Shared), agent(AsyncSpace::Global));
            let bytes = match from {
                Far::Bytes { at, count } => {
                    self.bulk_copy(warp, lane, pc, (to, *at), *count, (writer, reader))?
                }
                Far::Tile { map, at } => {
                    let tile = self.tile(warp, lane, pc, *map, at)?;
                    self.copy_tile(warp, lane, pc, to, &tile, (writer, reader), true)?
                }
            };
            self.mbarriers.copies.push(Started { copy, thread: warp.thread(lane), pc });
            self.complete_copy(warp, lane, pc, barrier, bytes, copy)?;
        }
        Ok(())
    }

    /// `cp.async.bulk` to global memory, which completes by groups.
    pub(super) fn bulk_store(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        pc: InstId,
        (to, from): (&Far, Place),
    ) -> Result<(), Stop> {
        for lane in lanes(mask) {
            let (reads, writes) = (self.begin_bulk()?, self.begin_bulk()?);
            let writer = Agent::Copy { number: writes, proxy: Some(AsyncSpace::Global) };
            let reader = Agent::Copy { number: reads, proxy: Some(AsyncSpace::Shared) };
            match to {
                Far::Bytes { at, count } => {
                    self.bulk_copy(warp, lane, pc, (*at, from), *count, (writer, reader))?;
                }
                Far::Tile { map, at } => {
                    let tile = self.tile(warp, lane, pc, *map, at)?;
                    self.copy_tile(warp, lane, pc, from, &tile, (writer, reader), false)?;
                }
            }
            self.mbarriers.copies.push(Started { copy: reads, thread: warp.thread(lane), pc });
            self.copies_of(warp, lane).bulk.open.push(Stored { reads, writes });
        }
        Ok(())
    }

    fn begin_bulk(&mut self) -> Result<u32, Stop> {
        match &mut self.order {
            Detector::Epoch(_) => Err(Stop::NeedVectorClocks),
            Detector::VectorClock(_) if self.survey.is_some() => Err(Stop::Doubtful),
            Detector::VectorClock(exact) => Ok(exact.begin_copy()),
        }
    }

    /// Moves bytes; gives how many.
    fn bulk_copy(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        pc: InstId,
        (to, from): (Place, Place),
        bytes: Src,
        (writer, reader): (Agent, Agent),
    ) -> Result<u32, Stop> {
        let bytes = self.concrete(warp, bytes, lane, pc, "the size of a copy")? as u32;
        if !bytes.is_multiple_of(UNIT) {
            let message = format!("a bulk copy of {bytes} bytes, which is no multiple of {UNIT}");
            return Err(self.fault(FaultKind::Misaligned, "Y11", message, warp, lane, pc));
        }
        if bytes == 0 {
            return Ok(0);
        }
        let source = (from.space, self.addresses(warp, 1 << lane, from.address, pc)?[lane]);
        let target = (to.space, self.addresses(warp, 1 << lane, to.address, pc)?[lane]);
        let (mut sources, mut targets) = ([0; 32], [0; 32]);
        let extent = (bytes, UNIT);
        let read = self.locate_lane(warp, lane, pc, source, extent, reader, false, &mut sources)?;
        let write = self.locate_lane(warp, lane, pc, target, extent, writer, true, &mut targets)?;
        let is_global = |backing| matches!(backing, Backing::Tensor(_));
        let is_shared = |backing| matches!(backing, Backing::Shared(_));
        let (here, there) = (read.object.backing, write.object.backing);
        if !(is_global(here) && is_shared(there) || is_shared(here) && is_global(there)) {
            let message = "a bulk copy that is not between global and shared memory".to_string();
            return Err(self.fault(FaultKind::OutOfBounds, "Y11", message, warp, lane, pc));
        }
        self.writable(warp, &write, bytes)?;
        let (first, target) = (read.offsets[lane] / 4, write.offsets[lane] / 4);
        self.looked_at += u64::from(bytes / 8);
        for step in 0..u64::from(bytes / 4) {
            let content = self.read_cell(warp, lane, &read, first + step, 0xf)?;
            self.write_cell(warp, lane, &write, target + step, 0xf, content)?;
        }
        self.check_budgets()?;
        Ok(bytes)
    }

    pub(super) fn commit_bulk(&mut self, warp: &Warp, mask: u32) {
        for lane in lanes(mask) {
            let bulk = &mut self.copies_of(warp, lane).bulk;
            let group = std::mem::take(&mut bulk.open);
            bulk.groups.push_back(group);
        }
    }

    /// Waits until at most `pending` groups of each thread are under way, or still read.
    pub(super) fn wait_for_bulk(&mut self, warp: &Warp, mask: u32, pending: u32, reads: bool) {
        for lane in lanes(mask) {
            let bulk = &mut self.copies_of(warp, lane).bulk;
            let ended = bulk.groups.len().saturating_sub(pending as usize);
            let done: Vec<Stored> = if reads {
                bulk.groups.iter().take(ended).flatten().copied().collect()
            } else {
                bulk.groups.drain(..ended).flatten().collect()
            };
            let Detector::VectorClock(exact) = &mut self.order else { continue };
            for copy in done {
                exact.end_copy(copy.reads, warp.thread(lane));
                if !reads {
                    exact.end_copy(copy.writes, warp.thread(lane));
                }
            }
        }
    }

    /// `fence.proxy.async`: what the lanes know is there for the async proxy.
    pub(super) fn publish(&mut self, warp: &Warp, mask: u32, shared: bool, global: bool) -> Result<(), Stop> {
        // Without asynchronous operations nobody asks.
        let Detector::VectorClock(exact) = &mut self.order else { return Ok(()) };
        for space in AsyncSpace::ALL {
            let named = match space {
                AsyncSpace::Shared => shared,
                AsyncSpace::Global => global,
            };
            for lane in lanes(if named { mask } else { 0 }) {
                exact.clocks.publish(warp.thread(lane) as usize, space);
            }
        }
        Ok(())
    }
}
