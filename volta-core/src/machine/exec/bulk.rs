//! Bulk copies between global and shared memory (rule Y11): agents of the async proxy.
//!
//! As with other copies, contents change at once: whoever looks before the copy is over races.

use super::super::clock::AsyncSpace;
use super::super::cta::{Cta, Detector, Stop};
use super::super::mbarrier::Started;
use super::super::objects::Backing;
use super::super::objects::locate;
use super::super::race::Agent;
use super::super::warp::Warp;
use super::memory::LaneAccess;
use crate::base::lane::{Lane, LaneMask};
use crate::program::{Far, InstId, MemoryPlace, Space, Src, Width};
use crate::verdict::FaultKind;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// What bulk copies move: so many bytes, or several times as many, from and to multiples of it.
const UNIT: u32 = 16;

/// A copy that completes by groups: reading and writing end apart. Of what several lanes write, no lane by itself knows the
/// end.
#[derive(Clone, Copy, Debug)]
struct Stored {
    reads: u32,
    writes: Option<u32>,
}

/// What a lane copies to global memory: from where, and to which address and size, or by which map to which box.
type Stores = ((Space, u64), u64, SmallVec<[u64; 5]>);

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
        mask: LaneMask,
        pc: InstId,
        (to, from): (MemoryPlace, &Far),
        (barrier, ctas, pair): (MemoryPlace, Option<Src>, bool),
    ) -> Result<(), Stop> {
        for lane in mask {
            let near = self.address_of(warp, lane, pc, to)?;
            let barrier = self.address_of(warp, lane, pc, barrier)?;
            let Some(ctas) = ctas else {
                self.load_into(warp, lane, pc, (near, from), (barrier, pair))?;
                continue;
            };
            let ctas = self.concrete(warp, ctas, lane, pc, "a mask of CTAs")? & 0xffff;
            // The barrier of whichever CTA of each pair the one is of that is named.
            let parity = self.rank_of_address(barrier).filter(|_| pair).map(|rank| rank & 1);
            for rank in self.ranks_in(ctas, warp, lane, pc)? {
                let at = (&*warp, lane, pc);
                let signalled = parity.map_or(rank, |parity| rank & !1 | parity);
                let (near, barrier) =
                    (self.in_cta(near, rank.into(), at)?, self.in_cta(barrier, signalled.into(), at)?);
                self.load_into(warp, lane, pc, (near, from), (barrier, pair))?;
            }
        }
        Ok(())
    }

    /// One copy to the shared memory of one CTA.
    fn load_into(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        (near, from): ((Space, u64), &Far),
        (barrier, pair): ((Space, u64), bool),
    ) -> Result<(), Stop> {
        let copy = self.begin_bulk()?;
        let agent = |space| Agent::Copy { number: copy, proxy: Some(space) };
        let (writer, reader) = (agent(AsyncSpace::Shared), agent(AsyncSpace::Global));
        let own = warp.rank;
        let bytes = match from {
            Far::Bytes { at, count } => {
                let far = self.address_of(warp, lane, pc, *at)?;
                let is_shared = !matches!(locate(far.0, far.1).0, Space::Global);
                let reader = if is_shared { writer } else { reader };
                if is_shared {
                    // The copy reads the memory of this CTA, which must be there until it is over.
                    self.mbarriers.copies.push(Started { copy, thread: warp.thread(lane), pc, rank: own });
                }
                self.bulk_copy(warp, lane, pc, (near, far), *count, (writer, reader))?
            }
            Far::Tile { map, at } => {
                let tile = self.tile(warp, lane, pc, *map, at)?;
                self.copy_tile(warp, lane, pc, near, &tile, ((writer, reader), true))?
            }
        };
        let rank = self.rank_of_address(near).unwrap_or(own);
        self.mbarriers.copies.push(Started { copy, thread: warp.thread(lane), pc, rank });
        self.complete_copy(warp, lane, pc, (barrier, pair), bytes, (copy, rank))
    }

    /// `st.async`: a store that completes on a barrier, where it goes.
    pub(super) fn store_far(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        (to, width, a): (MemoryPlace, Width, &[Src]),
        barrier: MemoryPlace,
    ) -> Result<(), Stop> {
        if self.launch.ranks() == 1 {
            let lane = mask.first();
            let message = "an asynchronous store in a cluster of one CTA; it needs several".to_string();
            return Err(self.fault(FaultKind::Undefined, "Y13", message, warp, lane, pc));
        }
        for lane in mask {
            let place = self.address_of(warp, lane, pc, to)?;
            let barrier = self.address_of(warp, lane, pc, barrier)?;
            let (copy, each) = (self.begin_bulk()?, width.bytes());
            let bytes = each * a.len() as u32;
            let agent = Agent::Copy { number: copy, proxy: None };
            let mut offsets = [0; 32];
            let one = LaneAccess { place, bytes, alignment: bytes, agent, writes: true };
            let at = self.locate_lane(warp, lane, pc, one, &mut offsets)?;
            let Backing::Shared(_) = at.object.backing else {
                let message = "an asynchronous store that is not to shared memory".to_string();
                return Err(self.fault(FaultKind::OutOfBounds, "Y13", message, warp, lane, pc));
            };
            let (rank, first) = (at.object.rank, at.offsets[lane]);
            for (number, source) in a.iter().enumerate() {
                let value = self.value(warp, *source, lane);
                self.store_value(warp, lane, &at, first + u64::from(each) * number as u64, each, value)?;
            }
            self.mbarriers.copies.push(Started { copy, thread: warp.thread(lane), pc, rank });
            self.complete_copy(warp, lane, pc, (barrier, false), bytes, (copy, rank))?;
        }
        Ok(())
    }

    /// An address that a lane names, and its space.
    fn address_of(
        &self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        place: MemoryPlace,
    ) -> Result<(Space, u64), Stop> {
        Ok((place.space, self.addresses(warp, LaneMask::of(lane), place.address, pc)?[lane]))
    }

    /// The CTA of the cluster in whose shared memory an address lies.
    pub(in super::super) fn rank_of_address(&self, (space, address): (Space, u64)) -> Option<u32> {
        let (own, inner) = locate(space, address);
        if matches!(own, Space::Shared | Space::Cluster) { self.launch.objects.rank_at(inner) } else { None }
    }

    /// `cp.async.bulk` to global memory, which completes by groups.
    pub(super) fn bulk_store(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        (to, from): (&Far, MemoryPlace),
    ) -> Result<(), Stop> {
        let mut begun: SmallVec<[(Lane, Stores, u32); 1]> = SmallVec::new();
        for (lane, stores) in self.what_lanes_store(warp, mask, pc, (to, from))? {
            let reads = self.begin_bulk()?;
            // Lanes that copy the same to the same place are one that writes, and so many that read.
            let same =
                begun.iter().find(|(first, other, _)| *other == stores && warp.go_together(*first, lane));
            let (writes, is_shared) = match same {
                Some((_, _, writes)) => (*writes, true),
                None => (self.begin_bulk()?, false),
            };
            let writer = Agent::Copy { number: writes, proxy: Some(AsyncSpace::Global) };
            let reader = Agent::Copy { number: reads, proxy: Some(AsyncSpace::Shared) };
            let near = stores.0;
            match to {
                Far::Bytes { at, count } => {
                    let far = self.address_of(warp, lane, pc, *at)?;
                    self.bulk_copy(warp, lane, pc, (far, near), *count, (writer, reader))?;
                }
                Far::Tile { map, at } => {
                    let tile = self.tile(warp, lane, pc, *map, at)?;
                    self.copy_tile(warp, lane, pc, near, &tile, ((writer, reader), false))?;
                }
            }
            let (thread, rank) = (warp.thread(lane), warp.rank);
            self.mbarriers.copies.push(Started { copy: reads, thread, pc, rank });
            if is_shared {
                self.relied.on_same_store(pc);
                for (other, ..) in begun.iter().filter(|(_, _, number)| *number == writes) {
                    let open = &mut self.copies_of(warp, *other).bulk.open;
                    open.iter_mut()
                        .filter(|stored| stored.writes == Some(writes))
                        .for_each(|stored| stored.writes = None);
                }
            }
            let stored = Stored { reads, writes: (!is_shared).then_some(writes) };
            self.copies_of(warp, lane).bulk.open.push(stored);
            if !self.options.rules.strict_stores {
                begun.push((lane, stores, writes));
            }
        }
        Ok(())
    }

    /// What each lane copies to global memory.
    fn what_lanes_store(
        &self,
        warp: &Warp,
        mask: LaneMask,
        pc: InstId,
        (to, from): (&Far, MemoryPlace),
    ) -> Result<Vec<(Lane, Stores)>, Stop> {
        let of = |lane| {
            let near = self.address_of(warp, lane, pc, from)?;
            let (place, values): (MemoryPlace, &[Src]) = match to {
                Far::Bytes { at, count } => (*at, std::slice::from_ref(count)),
                Far::Tile { map, at } => (*map, at),
            };
            let (_, far) = self.address_of(warp, lane, pc, place)?;
            let values =
                values.iter().map(|value| self.concrete(warp, *value, lane, pc, "what a copy is of"));
            Ok((lane, (near, far, values.collect::<Result<_, Stop>>()?)))
        };
        mask.iter().map(of).collect()
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
        lane: Lane,
        pc: InstId,
        (to, from): ((Space, u64), (Space, u64)),
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
        let (mut sources, mut targets) = ([0; 32], [0; 32]);
        let one = LaneAccess { place: from, bytes, alignment: UNIT, agent: reader, writes: false };
        let read = self.locate_lane(warp, lane, pc, one, &mut sources)?;
        let one = LaneAccess { place: to, bytes, alignment: UNIT, agent: writer, writes: true };
        let write = self.locate_lane(warp, lane, pc, one, &mut targets)?;
        let is_global = |backing| matches!(backing, Backing::Tensor(_));
        let is_shared = |backing| matches!(backing, Backing::Shared(_));
        let (here, there) = (read.object.backing, write.object.backing);
        let goes_across = is_shared(here) && is_shared(there) && read.object.rank != write.object.rank;
        if !(is_global(here) && is_shared(there) || is_shared(here) && is_global(there) || goes_across) {
            let message =
                "a bulk copy that is neither between global and shared memory nor to the shared memory of another CTA"
                    .to_string();
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

    pub(super) fn commit_bulk(&mut self, warp: &Warp, mask: LaneMask) {
        for lane in mask {
            let bulk = &mut self.copies_of(warp, lane).bulk;
            let group = std::mem::take(&mut bulk.open);
            bulk.groups.push_back(group);
        }
    }

    /// Waits until at most `pending` groups of each thread are under way, or still read.
    pub(super) fn wait_for_bulk(&mut self, warp: &Warp, mask: LaneMask, pending: u32, reads: bool) {
        for lane in mask {
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
                if let Some(writes) = copy.writes.filter(|_| !reads) {
                    exact.end_copy(writes, warp.thread(lane));
                }
            }
        }
    }

    /// `fence.proxy.async`: what the lanes know is there for the async proxy.
    pub(super) fn publish(
        &mut self,
        warp: &Warp,
        mask: LaneMask,
        shared: bool,
        global: bool,
    ) -> Result<(), Stop> {
        // Without asynchronous operations nobody asks.
        let Detector::VectorClock(exact) = &mut self.order else { return Ok(()) };
        for space in AsyncSpace::ALL {
            let named = match space {
                AsyncSpace::Shared => shared,
                AsyncSpace::Global => global,
            };
            for lane in if named { mask } else { LaneMask::NONE } {
                exact.clocks.publish(warp.thread(lane) as usize, space);
            }
        }
        Ok(())
    }
}
