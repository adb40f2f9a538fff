//! Bulk copies between global and shared memory (rule Y11): agents of the async proxy.
//!
//! As with other copies, the contents change at the start of the copy. A thread that reads them before the copy is
//! complete races, so no execution without a fault can tell the difference.

use crate::base::lane::{Lane, LaneMask};
use crate::case::Element;
use crate::concurrency::agent::Agent;
use crate::concurrency::clock::{AsyncSpace, Publishes};
use crate::concurrency::copies_in_flight::Stored;
use crate::concurrency::mbarrier_phases::Started;
use crate::concurrency::race::Detector;
use crate::launch::objects::{Backing, locate};
use crate::machine::cta::accesses::{Asynchronous, LaneAccess};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::Operands;
use crate::machine::group::warp::Warp;
use crate::machine::sync::synchronisation::Synchronisation;
use crate::number::format::Format;
use crate::program::{
    BulkWrite, Far, InstId, Int, Int2, MemoryPlace, ProxyFence, Scope, Space, Src, Update, Width,
};
use crate::value::Value;
use crate::value::packed::Cell;
use crate::verdict::FaultKind;
use smallvec::SmallVec;

/// Bulk copies move multiples of this number of bytes, from and to multiples of it.
const UNIT: u32 = 16;

/// What a lane copies to global memory: the source; the address of the destination or of the tensor map; and the other
/// operands (the size or the coordinates of the box, and the byte mask).
type Stores = ((Space, u64), u64, SmallVec<[u64; 5]>);

/// The byte mask that selects all 16 bytes.
const ALL: u16 = u16::MAX;
/// `st.bulk` stores a multiple of this number of bytes, at a multiple of it.
const CLEARED: u64 = 8;
/// The most bytes that `st.bulk` stores.
const MOST_CLEARED: u64 = 1 << 24;

/// The bytes of a cell that a mask selects, as naturally aligned parts of one or two bytes: (first byte, size).
fn parts_of_cell(mask: u16) -> SmallVec<[(u32, u32); 4]> {
    let has = |start: u32, size: u32| mask >> start & ((1 << size) - 1) == (1 << size) - 1;
    let halves = [0, 2].into_iter().flat_map(|half| {
        let whole = has(half, 2);
        let bytes = [half, half + 1].into_iter().filter(move |byte| !whole && has(*byte, 1));
        whole.then_some((half, 2)).into_iter().chain(bytes.map(|byte| (byte, 1)))
    });
    halves.collect()
}

/// The update of elements of a tensor map by an operation, if the ISA has it (`cp.reduce.async.bulk.tensor`).
fn update_of_elements(op: Int2, element: Element) -> Option<Update> {
    let is_bitwise = matches!(op, Int2::And | Int2::Or | Int2::Xor);
    let is_ordered = matches!(op, Int2::Min | Int2::Max);
    match element {
        Element::Float(format @ (Format::F16 | Format::Bf16)) => Update::of_reals(op, format),
        Element::Float(Format::F32) if op == Int2::Add => Update::of_reals(op, Format::F32),
        Element::Int { bytes: 4, signed } => Some(Update::of_integers(op, Int { width: Width::W32, signed })),
        Element::Int { bytes: 8, signed } if is_bitwise || is_ordered || !signed => {
            Some(Update::of_integers(op, Int { width: Width::W64, signed }))
        }
        Element::Float(_) | Element::Int { .. } | Element::Bool => None,
    }
}

impl Asynchronous<'_, '_> {
    /// `cp.async.bulk` to shared memory, which completes on a barrier.
    pub(super) fn bulk_load(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        (to, from, update): (MemoryPlace, &Far, Option<Update>),
        (barrier, ctas, pair): (MemoryPlace, Option<Src>, bool),
    ) -> Result<(), Stop> {
        for lane in mask {
            let operands = self.accesses.values.terms.operands(warp, pc);
            let (near, barrier) = (operands.address_of(lane, to)?, operands.address_of(lane, barrier)?);
            let Some(ctas) = ctas else {
                self.load_into(warp, lane, pc, (near, from, update), (barrier, pair))?;
                continue;
            };
            let ctas = self.accesses.values.terms.concrete(warp, ctas, lane, pc, "a mask of CTAs")? & 0xffff;
            // For a pair of CTAs: each copy signals the CTA of its pair with the same parity of rank as the CTA of the
            // named barrier.
            let rank = self.context.rank_of_address(barrier).filter(|_| pair);
            let parity = rank.map(|rank| self.context.launch.rank_in_cluster(rank) & 1);
            for rank in self.context.ranks_in(ctas, warp, lane, pc)? {
                let at = (&*warp, lane, pc);
                let signalled = parity.map_or(rank, |parity| rank & !1 | parity);
                let (near, barrier) = (
                    self.context.in_cta(near, rank.into(), at)?,
                    self.context.in_cta(barrier, signalled.into(), at)?,
                );
                self.load_into(warp, lane, pc, (near, from, update), (barrier, pair))?;
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
        (near, from, update): ((Space, u64), &Far, Option<Update>),
        (barrier, pair): ((Space, u64), bool),
    ) -> Result<(), Stop> {
        let copy = self.begin_bulk()?;
        let agent = |space| Agent::Copy { number: copy, proxy: Some(space), update: None };
        let update = update.map(|update| (update, Scope::Launch));
        let own = warp.rank;
        let rank = self.context.rank_of_address(near).unwrap_or(own);
        let writer = Agent::Copy { number: copy, proxy: Some(AsyncSpace::Shared(rank)), update };
        let bytes = match from {
            Far::Bytes { at, count } => {
                let far = self.accesses.values.terms.operands(warp, pc).address_of(lane, *at)?;
                let is_shared = !matches!(locate(far.0, far.1).0, Space::Global);
                let reader = agent(if is_shared { AsyncSpace::Shared(own) } else { AsyncSpace::Global });
                if is_shared {
                    // The copy also reads the memory of this CTA, which must exist until the copy is complete.
                    let started = Started { copy, thread: warp.thread(lane), pc, rank: own };
                    self.accesses.sync.mbarriers.copies.push(started);
                }
                self.bulk_copy(warp, lane, pc, (near, far), (*count, ALL), (writer, reader))?
            }
            Far::Tile { map, at } => {
                let tile = self.accesses.values.terms.operands(warp, pc).tile(lane, *map, at)?;
                self.copy_tile(warp, lane, pc, near, &tile, ((writer, agent(AsyncSpace::Global)), true))?
            }
        };
        self.accesses.sync.mbarriers.copies.push(Started { copy, thread: warp.thread(lane), pc, rank });
        self.complete_copy(warp, lane, pc, (barrier, pair), bytes, (copy, rank))
    }

    /// `st.async` and `red.async`: a store or an update that completes on a barrier of the destination's CTA. The forms
    /// for global memory complete on nothing, so no thread ever knows that they are complete.
    pub(super) fn store_far(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        (to, width, a): (MemoryPlace, Width, &[Src]),
        (barrier, update): (Option<MemoryPlace>, Option<(Update, Scope)>),
    ) -> Result<(), Stop> {
        if barrier.is_some() && self.context.launch.cluster_ranks() == 1 {
            let lane = mask.first();
            let message = "an asynchronous store in a cluster of one CTA; it needs several";
            return Err(self.context.fault(FaultKind::Undefined, "Y13", message, warp, lane, pc));
        }
        for lane in mask {
            let place = self.accesses.values.terms.operands(warp, pc).address_of(lane, to)?;
            let operands = self.accesses.values.terms.operands(warp, pc);
            let barrier = barrier.map(|barrier| operands.address_of(lane, barrier)).transpose()?;
            let (copy, each) = (self.begin_bulk()?, width.bytes());
            let bytes = each * a.len() as u32;
            let agent = Agent::Copy { number: copy, proxy: None, update };
            let mut offsets = [0; 32];
            let access = LaneAccess { place, bytes, alignment: bytes, agent, writes: true };
            let at = self.accesses.locate_lane(warp, lane, pc, access, &mut offsets)?;
            let (is_there, where_to) = match (at.object.backing, barrier) {
                (Backing::Shared(_), Some(_)) => (true, ""),
                (Backing::Tensor(_), None) => (at.object.space == Space::Global, "global"),
                (Backing::Local(_), None) | (Backing::Shared(_), None) => (false, "global"),
                (Backing::Local(_) | Backing::Tensor(_), Some(_)) => (false, "shared"),
            };
            if !is_there {
                let message = format!("an asynchronous store to memory other than {where_to} memory");
                return Err(self.context.fault(FaultKind::OutOfBounds, "Y13", message, warp, lane, pc));
            }
            let (rank, first) = (at.object.rank, at.offsets[lane]);
            if update.is_some() && barrier.is_some() && rank == warp.rank {
                let message = "an asynchronous update of the CTA's own shared memory; only that of another CTA is allowed";
                return Err(self.context.fault(FaultKind::Undefined, "Y13", message, warp, lane, pc));
            }
            self.context.writable(warp, &at, bytes)?;
            if update.is_some() {
                self.context.holds_atomics(warp, lane, &at)?;
            }
            for (number, source) in a.iter().enumerate() {
                let value = self.context.value(warp, *source, lane);
                let offset = first + u64::from(each) * number as u64;
                if update.is_some() {
                    self.accesses.update_at(warp, lane, &at, offset, value)?;
                } else {
                    self.accesses.store_value(warp, lane, &at, offset, each, value)?;
                }
            }
            let Some(barrier) = barrier else { continue };
            self.accesses.sync.mbarriers.copies.push(Started { copy, thread: warp.thread(lane), pc, rank });
            self.complete_copy(warp, lane, pc, (barrier, false), bytes, (copy, rank))?;
        }
        Ok(())
    }

    /// `cp.async.bulk` to global memory, which completes by groups.
    pub(super) fn bulk_store(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        (to, from): (&Far, MemoryPlace),
        write: BulkWrite,
    ) -> Result<(), Stop> {
        let updates = matches!(write, BulkWrite::Updates(_) | BulkWrite::UpdatesElements(_));
        let mut begun: SmallVec<[(Lane, Stores, u32); 1]> = SmallVec::new();
        for (lane, stores) in
            self.accesses.values.terms.operands(warp, pc).what_lanes_store(mask, (to, from), write)?
        {
            let reads = self.begin_bulk()?;
            // Lanes that copy the same bytes to the same place count as one write and several reads. Updates are never
            // shared: each lane updates.
            let same =
                begun.iter().find(|(first, other, _)| *other == stores && warp.go_together(*first, lane));
            let is_shared = same.is_some();
            let writes = same.map_or_else(|| self.begin_bulk(), |(.., writes)| Ok(*writes))?;
            let writer = |update| Agent::Copy { number: writes, proxy: Some(AsyncSpace::Global), update };
            let launch_wide = |update: Update| (update, Scope::Launch);
            let proxy = Some(AsyncSpace::Shared(warp.rank));
            let reader = Agent::Copy { number: reads, proxy, update: None };
            let near = stores.0;
            match to {
                Far::Bytes { at, count } => {
                    let far = self.accesses.values.terms.operands(warp, pc).address_of(lane, *at)?;
                    let terms = &self.accesses.values.terms;
                    let (update, kept) = match write {
                        BulkWrite::All | BulkWrite::UpdatesElements(_) => (None, ALL),
                        BulkWrite::Updates(update) => (Some(launch_wide(update)), ALL),
                        BulkWrite::Masked(mask) => {
                            (None, terms.concrete(warp, mask, lane, pc, "a mask of bytes")? as u16)
                        }
                    };
                    self.bulk_copy(warp, lane, pc, (far, near), (*count, kept), (writer(update), reader))?;
                }
                Far::Tile { map, at } => {
                    let tile = self.accesses.values.terms.operands(warp, pc).tile(lane, *map, at)?;
                    let update = match write {
                        BulkWrite::UpdatesElements(op) => {
                            let (name, element) = self.context.elements_of(&tile);
                            Some(update_of_elements(op, element).ok_or_else(|| {
                                let message = format!(
                                    "a box of `{name}` is updated by an operation that does not exist for its elements, {}",
                                    element.name()
                                );
                                self.context.fault(FaultKind::Undefined, "Y11", message, warp, lane, pc)
                            })?)
                        }
                        BulkWrite::All | BulkWrite::Masked(_) | BulkWrite::Updates(_) => None,
                    };
                    let writer = writer(update.map(launch_wide));
                    self.copy_tile(warp, lane, pc, near, &tile, ((writer, reader), false))?;
                }
            }
            let (thread, rank) = (warp.thread(lane), warp.rank);
            self.accesses.sync.mbarriers.copies.push(Started { copy: reads, thread, pc, rank });
            if is_shared {
                self.accesses.values.terms.relied.on_same_store(pc);
                for (other, ..) in begun.iter().filter(|(_, _, number)| *number == writes) {
                    let open = self.accesses.sync.copies_of(warp, *other).bulk.open.iter_mut();
                    open.for_each(|stored| stored.writes = stored.writes.filter(|own| *own != writes));
                }
            }
            let stored = Stored { reads, writes: (!is_shared).then_some(writes) };
            self.accesses.sync.copies_of(warp, lane).bulk.open.push(stored);
            if !self.context.options.rules.strict_stores && !updates {
                begun.push((lane, stores, writes));
            }
        }
        Ok(())
    }

    fn begin_bulk(&mut self) -> Result<u32, Stop> {
        Ok(self.accesses.exact()?.begin_copy())
    }

    /// Moves bytes and returns their number.
    fn bulk_copy(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        (to, from): ((Space, u64), (Space, u64)),
        (bytes, kept): (Src, u16),
        (writer, reader): (Agent, Agent),
    ) -> Result<u32, Stop> {
        let bytes = self.accesses.values.terms.operands(warp, pc).size_of_copy(lane, bytes)?;
        if bytes == 0 {
            return Ok(0);
        }
        let (mut sources, mut targets) = ([0; 32], [0; 32]);
        let access = LaneAccess { place: from, bytes, alignment: UNIT, agent: reader, writes: false };
        let read = self.accesses.locate_lane(warp, lane, pc, access, &mut sources)?;
        let access = LaneAccess { place: to, bytes, alignment: UNIT, agent: writer, writes: true };
        let write = self.accesses.locate_lane(warp, lane, pc, access, &mut targets)?;
        let is_global = |backing| matches!(backing, Backing::Tensor(_));
        let is_shared = |backing| matches!(backing, Backing::Shared(_));
        let (here, there) = (read.object.backing, write.object.backing);
        let goes_across = is_shared(here) && is_shared(there) && read.object.rank != write.object.rank;
        if !(is_global(here) && is_shared(there) || is_shared(here) && is_global(there) || goes_across) {
            let message =
                "a bulk copy must be between global and shared memory or to the shared memory of another CTA";
            return Err(self.context.fault(FaultKind::OutOfBounds, "Y11", message, warp, lane, pc));
        }
        self.context.writable(warp, &write, bytes)?;
        self.accesses.work.looked_at += u64::from(bytes / 8);
        if let Some(own) = writer.atomic_update() {
            self.context.holds_atomics(warp, lane, &write)?;
            let each = own.update.bytes();
            for at in (0..bytes).step_by(each as usize).map(u64::from) {
                let value = self.accesses.load_value(warp, lane, &read, read.offsets[lane] + at, each)?;
                self.accesses.update_at(warp, lane, &write, write.offsets[lane] + at, value)?;
            }
            self.check_budgets()?;
            return Ok(bytes);
        }
        let (first, target) = (read.offsets[lane] / 4, write.offsets[lane] / 4);
        for step in 0..u64::from(bytes / 4) {
            // All bytes are read, even those that the mask does not write.
            let content = self.accesses.read_cell(warp, lane, &read, first + step, 0xf)?;
            let written = kept >> (4 * (step % 4)) & 0xf;
            if written == 0xf {
                self.accesses.write_cell(warp, lane, &write, target + step, 0xf, content)?;
                continue;
            }
            for (start, length) in parts_of_cell(written) {
                let value =
                    self.accesses.values.terms.value_in(warp, lane, &read, content, (start, length))?;
                let offset = 4 * (target + step) + u64::from(start);
                self.accesses.store_value(warp, lane, &write, offset, length, value)?;
            }
        }
        self.check_budgets()?;
        Ok(bytes)
    }

    /// `cp.async.bulk.prefetch`: the memory that it names must exist; it has no other effect.
    pub(super) fn prefetch(
        &mut self,
        warp: &Warp,
        mask: LaneMask,
        pc: InstId,
        from: &Far,
    ) -> Result<(), Stop> {
        for lane in mask {
            match from {
                Far::Bytes { at, count } => {
                    let operands = self.accesses.values.terms.operands(warp, pc);
                    let place = operands.address_of(lane, *at)?;
                    let (bytes, agent) = (operands.size_of_copy(lane, *count)?, Agent::Thread);
                    let access = LaneAccess { place, bytes, alignment: UNIT, agent, writes: false };
                    self.accesses.locate_lane(warp, lane, pc, access, &mut [0; 32])?;
                }
                Far::Tile { map, at } => {
                    self.accesses.values.terms.operands(warp, pc).tile(lane, *map, at)?;
                }
            }
        }
        Ok(())
    }

    /// `st.bulk`: stores zeros to the shared memory of the CTA.
    pub(crate) fn clear(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        to: MemoryPlace,
        bytes: Src,
    ) -> Result<(), Stop> {
        for lane in mask {
            let bytes = self.accesses.values.terms.concrete(warp, bytes, lane, pc, "the size of a store")?;
            if !bytes.is_multiple_of(CLEARED) {
                let message =
                    format!("zeros are stored to {bytes} bytes, which is not a multiple of {CLEARED}");
                return Err(self.context.fault(FaultKind::Misaligned, "M1", message, warp, lane, pc));
            }
            if bytes > MOST_CLEARED {
                let message =
                    format!("zeros are stored to {bytes} bytes; at most {MOST_CLEARED} are allowed");
                return Err(self.context.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, pc));
            }
            if bytes == 0 {
                continue;
            }
            let place = self.accesses.values.terms.operands(warp, pc).address_of(lane, to)?;
            let mut offsets = [0; 32];
            let (bytes, alignment) = (bytes as u32, CLEARED as u32);
            let access = LaneAccess { place, bytes, alignment, agent: Agent::Thread, writes: true };
            let at = self.accesses.locate_lane(warp, lane, pc, access, &mut offsets)?;
            let bytes = u64::from(bytes);
            let is_own = matches!(at.object.backing, Backing::Shared(_)) && at.object.rank == warp.rank;
            if !is_own {
                let message = "zeros are stored to memory other than the CTA's shared memory";
                return Err(self.context.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, pc));
            }
            self.accesses.work.looked_at += bytes / 8;
            let first = at.offsets[lane] / 4;
            for cell in first..first + bytes / 4 {
                self.accesses.write_cell(warp, lane, &at, cell, 0xf, Cell::of(Value::Bits(0)))?;
            }
            self.check_budgets()?;
        }
        Ok(())
    }
}

impl Operands<'_, '_> {
    /// The address that a lane uses, with its state space.
    fn address_of(&self, lane: Lane, place: MemoryPlace) -> Result<(Space, u64), Stop> {
        Ok((place.space, self.addresses(LaneMask::of(lane), place.address)?[lane]))
    }

    /// The operands of each lane's copy to global memory.
    fn what_lanes_store(
        &self,
        mask: LaneMask,
        (to, from): (&Far, MemoryPlace),
        write: BulkWrite,
    ) -> Result<Vec<(Lane, Stores)>, Stop> {
        let kept = match write {
            BulkWrite::Masked(mask) => Some(mask),
            BulkWrite::All | BulkWrite::Updates(_) | BulkWrite::UpdatesElements(_) => None,
        };
        let of = |lane| {
            let near = self.address_of(lane, from)?;
            let (place, values): (MemoryPlace, &[Src]) = match to {
                Far::Bytes { at, count } => (*at, std::slice::from_ref(count)),
                Far::Tile { map, at } => (*map, at),
            };
            let (_, far) = self.address_of(lane, place)?;
            let values =
                values.iter().chain(&kept).map(|value| self.concrete(*value, lane, "the source of a copy"));
            Ok((lane, (near, far, values.collect::<Result<_, Stop>>()?)))
        };
        mask.iter().map(of).collect()
    }

    /// The size of a copy in bytes, which must be a multiple of [`UNIT`].
    fn size_of_copy(&self, lane: Lane, bytes: Src) -> Result<u32, Stop> {
        let bytes = self.concrete(bytes, lane, "the size of a copy")? as u32;
        if bytes.is_multiple_of(UNIT) {
            return Ok(bytes);
        }
        let message = format!("a bulk copy of {bytes} bytes, which is not a multiple of {UNIT}");
        Err(self.fault(FaultKind::Misaligned, "Y11", message, lane))
    }
}

impl Context<'_> {
    /// The rank of the CTA with the shared memory that contains an address.
    pub(crate) fn rank_of_address(&self, (space, address): (Space, u64)) -> Option<u32> {
        let (own, inner) = locate(space, address);
        if matches!(own, Space::Shared | Space::Cluster) { self.launch.objects.rank_at(inner) } else { None }
    }
}

impl Synchronisation<'_> {
    /// Waits until at most `pending` groups of each thread are in flight; with `reads`, until at most `pending` groups
    /// still read their sources.
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

    /// `fence.proxy.async`: makes everything that happens before it visible to the async proxy (Y10).
    pub(crate) fn publish(&mut self, warp: &Warp, mask: LaneMask, of: ProxyFence) -> Result<(), Stop> {
        // Without clusters, the CTA reaches no shared memory but its own.
        let is_alone = self.context.launch.cluster_ranks() == 1;
        // The epoch detector never runs with asynchronous operations of that proxy.
        let Detector::VectorClock(exact) = &mut self.order else { return Ok(()) };
        let spaces: &[Publishes] = match of {
            ProxyFence::All => &[Publishes::Shared, Publishes::Global],
            ProxyFence::Global => &[Publishes::Global],
            ProxyFence::SharedOfCta if !is_alone => &[Publishes::SharedOf(warp.rank)],
            ProxyFence::SharedOfCta | ProxyFence::SharedOfCluster => &[Publishes::Shared],
        };
        for (lane, space) in mask.iter().flat_map(|lane| spaces.iter().map(move |space| (lane, *space))) {
            exact.clocks.publish(warp.thread(lane) as usize, space);
        }
        Ok(())
    }
}
