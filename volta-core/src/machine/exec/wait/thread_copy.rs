//! Asynchronous copies to shared memory (`cp.async`, rule Y6). A copy is an agent that a thread starts. It may write at
//! any time from then on; once the thread has waited for it, its writes happen before what that thread does next.
//!
//! The contents change at the start of the copy. A thread that reads them before the wait races, so no execution
//! without a fault can tell the difference.

use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::concurrency::copies_in_flight::{Copies, Copy};
use crate::concurrency::race::Detector;
use crate::launch::objects::Backing;
use crate::machine::cta::accesses::{Asynchronous, LaneAccess};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::{Step, Warp};
use crate::machine::memory::contents::initial_cell;
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::{Async, Groups, InstId, PredSrc, Space, Src};
use crate::value::Value;
use crate::value::int_terms;
use crate::value::packed::{Cell, PackedPart};
use crate::verdict::FaultKind;
use std::collections::BTreeMap;

/// A copy has at most 16 bytes: four cells.
const MOST_CELLS: usize = 4;

/// The contents that a copy writes.
enum Brought {
    /// Whole cells of a read-only tensor.
    Cells([Cell; MOST_CELLS]),
    PackedParts(Vec<PackedPart>),
}

impl Asynchronous<'_, '_> {
    /// Executes an asynchronous operation, or one that concerns asynchronous operations.
    pub(crate) fn execute(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        operation: &Async,
    ) -> Result<(), Stop> {
        match operation {
            Async::Copy { .. } => self.copy_async(warp, mask, pc, operation, Vec::new()),
            Async::BulkLoad { to, from, barrier, ctas, pair, update } => {
                self.bulk_load(warp, mask, pc, (*to, from, *update), (*barrier, *ctas, *pair))
            }
            Async::StoreFar { to, width, a, barrier, update } => {
                self.store_far(warp, mask, pc, (*to, *width, a), (*barrier, *update))
            }
            Async::Fence { of } => {
                self.accesses.sync.fence(warp, mask, *of);
                Ok(())
            }
            Async::ArriveAtCluster { .. } | Async::WaitForCluster { .. } => {
                Err(Stop::Defect("an operation that waits for a warp was executed by itself"))
            }
            // A warp by itself is handled where it meets the others of its warpgroup.
            Async::SetRegisters { .. } => Err(Stop::NeedVectorClocks),
            Async::GridControl { waits } => {
                self.accesses.control_grid(warp, mask, *waits);
                Ok(())
            }
            Async::BulkStore { to, from, write } => self.bulk_store(warp, mask, pc, (to, *from), *write),
            Async::Prefetch { from } => self.prefetch(warp, mask, pc, from),
            Async::Clear { to, bytes } => self.clear(warp, mask, pc, *to, *bytes),
            Async::Multiply(product) => self.multiply_async(Step { warp, mask, pc }, product),
            Async::FenceRegisters => self.fence_registers(warp, pc),
            Async::Commit { groups: Groups::Products } => self.commit_products(warp, pc),
            Async::Wait { groups: Groups::Products, pending, reads: _ } => {
                self.wait_for_products(warp, pc, pending.unwrap_or(0))
            }
            Async::Commit { groups: groups @ (Groups::Plain | Groups::Bulk) } => {
                self.accesses.sync.commit_copies(warp, mask, *groups == Groups::Bulk);
                Ok(())
            }
            Async::Wait { groups: Groups::Plain, pending, reads: _ } => {
                self.wait_for_copies(warp, mask, *pending);
                Ok(())
            }
            Async::Wait { groups: Groups::Bulk, pending, reads } => {
                self.accesses.sync.wait_for_bulk(warp, mask, pending.unwrap_or(0), *reads);
                Ok(())
            }
            Async::Publish { of } => self.accesses.sync.publish(warp, mask, *of),
            Async::Tensor(operation) => self.tensor(warp, mask, pc, operation),
            Async::Barrier { place, action } => {
                mask.iter().try_for_each(|lane| self.barrier_action(warp, lane, pc, *place, action))
            }
        }
    }

    /// Starts the copies of some lanes. For some of them, it has been found what they write.
    pub(crate) fn copy_async(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        operation: &Async,
        decided: Vec<(Lane, u32, Vec<PackedPart>)>,
    ) -> Result<(), Stop> {
        let Async::Copy { to, from, bytes, size, ignore } = *operation else {
            return Err(Stop::Defect("another operation was executed as a copy of a thread"));
        };
        self.accesses.observe(warp, mask, pc, (Space::Shared, to), bytes);
        self.accesses.observe(warp, mask, pc, (Space::Global, from), bytes);
        let targets = self.accesses.values.terms.addresses(warp, mask, to, pc)?;
        let mut decided: BTreeMap<Lane, _> =
            decided.into_iter().map(|(lane, number, parts)| (lane, (number, parts))).collect();
        let known = mask.iter().filter(|lane| !decided.contains_key(lane)).collect::<LaneMask>();
        // A copy of zero bytes needs no source address.
        let sources = self.accesses.values.terms.addresses(warp, known, from, pc).ok();
        let mut offsets = [0; 32];
        for lane in mask {
            let (number, cells) = match decided.remove(&lane) {
                Some((number, parts)) => (number, Brought::PackedParts(parts)),
                None => {
                    let wanted = self.wanted(warp, lane, pc, (bytes, size, ignore))?;
                    let source = match (&sources, wanted) {
                        (_, 0) => None,
                        (Some(sources), _) => Some(sources[lane]),
                        (None, _) => {
                            let own = LaneMask::of(lane);
                            Some(self.accesses.values.terms.addresses(warp, own, from, pc)?[lane])
                        }
                    };
                    let number = self.accesses.sync.begin_copy();
                    (number, self.copied(warp, lane, pc, (source, wanted, bytes), number)?)
                }
            };
            let agent = Agent::Copy { number, proxy: None, update: None };
            let target = (Space::Shared, targets[lane]);
            let access = LaneAccess { place: target, bytes, alignment: bytes, agent, writes: true };
            let at = self.accesses.locate_lane(warp, lane, pc, access, &mut offsets)?;
            let Backing::Shared(base) = at.object.backing else {
                let message = "the target of a copy is not in shared memory";
                return Err(self.context.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, pc));
            };
            let first = (at.offsets[lane] / 4) as u32;
            for step in 0..bytes / 4 {
                let content = match &cells {
                    Brought::Cells(cells) => cells[step as usize],
                    Brought::PackedParts(pieces) => {
                        let terms = &mut self.accesses.values.terms;
                        let content =
                            int_terms::slice(pieces, 4 * step, 4, &mut terms.store).map_err(|_| {
                                let message = "a copy reads a part of a value in memory";
                                self.context.fault(FaultKind::TypeMismatch, "M3", message, warp, lane, pc)
                            })?;
                        Cell::from_pieces(&content, &mut terms.packed)
                    }
                };
                self.accesses.write_cell(warp, lane, &at, u64::from(first + step), 0xf, content)?;
            }
            let copy = Copy { first: base + first, cells: bytes / 4, number };
            self.accesses.sync.copies_of(warp, lane).open.push(copy);
        }
        Ok(())
    }

    /// How many bytes a copy takes, which no input decides.
    fn wanted(
        &self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        (bytes, size, ignore): (u32, Option<Src>, Option<PredSrc>),
    ) -> Result<u32, Stop> {
        let terms = &self.accesses.values.terms;
        let wanted = match size {
            Some(size) => terms.concrete(warp, size, lane, pc, "the size of a copy")? as u32,
            None => bytes,
        };
        if let Some(ignore) = ignore
            && terms.known_truth(warp, ignore, lane, pc)?
        {
            return Ok(0);
        }
        if wanted > bytes {
            return Err(self.context.copies_too_much((bytes, wanted), warp, lane, pc));
        }
        Ok(wanted)
    }

    /// The contents that a copy writes: `wanted` bytes of the source, then zeros up to `bytes`.
    fn copied(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        (source, wanted, bytes): (Option<u64>, u32, u32),
        number: u32,
    ) -> Result<Brought, Stop> {
        let Some(source) = source else {
            let zero = PackedPart { value: Value::Bits(0), bytes: 1 };
            return Ok(Brought::PackedParts(vec![zero; bytes as usize]));
        };
        let agent = Agent::Copy { number, proxy: None, update: None };
        let (place, mut offsets) = ((Space::Global, source), [0; 32]);
        let access = LaneAccess { place, bytes: wanted, alignment: bytes, agent, writes: false };
        let at = self.accesses.locate_lane(warp, lane, pc, access, &mut offsets)?;
        if let Backing::Tensor(number) = at.object.backing
            && let tensor = &self.context.launch.tensors[number as usize]
            && tensor.is_read_only()
            && wanted == bytes
        {
            let mut cells = [Cell::UNWRITTEN; MOST_CELLS];
            for (step, cell) in cells.iter_mut().enumerate().take(bytes as usize / 4) {
                let place = at.offsets[lane] / 4 + step as u64;
                *cell = initial_cell(tensor, place, self.accesses.values.making(), pc);
            }
            return Ok(Brought::Cells(cells));
        }
        let parts = self.accesses.bytes_for_copy(warp, lane, &at, (wanted, bytes))?;
        Ok(Brought::PackedParts(parts))
    }

    /// Waits until at most `pending` groups of each thread are in flight; `None` waits for all copies, committed or
    /// not.
    pub(super) fn wait_for_copies(&mut self, warp: &Warp, mask: LaneMask, pending: Option<u32>) {
        for lane in mask {
            let copies = self.accesses.sync.copies_of(warp, lane);
            let left = pending.map_or(0, |pending| pending as usize);
            let ended = copies.groups.len().saturating_sub(left);
            let mut done: Vec<Copy> = copies.groups.drain(..ended).flatten().collect();
            if pending.is_none() {
                done.append(&mut copies.open);
            }
            let now = self.accesses.sync.now(warp);
            for copy in done {
                match &mut self.accesses.sync.order {
                    Detector::Epoch(_) => {
                        let (first, last) = (copy.first as usize, (copy.first + copy.cells) as usize);
                        for cell in &mut self.accesses.memory.shared_epochs[first..last] {
                            self.accesses.memory.parts.end_copy(cell, now, lane);
                        }
                    }
                    Detector::VectorClock(exact) => exact.end_copy(copy.number, warp.thread(lane)),
                }
            }
        }
    }
}

impl Context<'_> {
    /// The fault of a copy that reads more than it writes.
    #[cold]
    pub(crate) fn copies_too_much(
        &self,
        (bytes, wanted): (u32, u32),
        warp: &Warp,
        lane: Lane,
        pc: InstId,
    ) -> Stop {
        let message = format!("a copy of {bytes} bytes takes {wanted} bytes");
        self.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, pc)
    }
}

impl Synchronisation<'_> {
    /// The number of a copy that a thread starts.
    pub(crate) fn begin_copy(&mut self) -> u32 {
        match &mut self.order {
            Detector::Epoch(_) => 0,
            Detector::VectorClock(exact) => exact.begin_copy(),
        }
    }

    /// The copies of a thread for which it has not waited yet.
    pub(super) fn copies_under_way(&mut self, warp: &Warp, lane: Lane) -> Vec<u32> {
        let copies = self.copies_of(warp, lane);
        copies.groups.iter().flatten().chain(&copies.open).map(|copy| copy.number).collect()
    }

    pub(super) fn copies_of(&mut self, warp: &Warp, lane: Lane) -> &mut Copies {
        let thread = warp.thread(lane) as usize;
        if self.copies.len() <= thread {
            self.copies.resize(thread + 1, Copies::default());
        }
        &mut self.copies[thread]
    }

    /// Makes the copies that threads have started a group.
    pub(super) fn commit_copies(&mut self, warp: &Warp, mask: LaneMask, are_bulk: bool) {
        for lane in mask {
            let copies = self.copies_of(warp, lane);
            if are_bulk {
                copies.bulk.groups.push_back(std::mem::take(&mut copies.bulk.open));
            } else {
                copies.groups.push_back(std::mem::take(&mut copies.open));
            }
        }
    }
}
