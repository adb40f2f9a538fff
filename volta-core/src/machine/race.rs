//! Data races by happens-before (rules Y1, Y2).
//!
//! There are two detectors. The *epoch* detector models epochs, which end at barriers at which every thread of the CTA
//! waits, and whole-warp synchronisation. It takes 24 bytes for 4 bytes of memory (for each byte, where threads share a
//! cell: [`super::shadow`]). It never misses a race and may raise a false alarm, for example at synchronisation of part
//! of a warp. The *vector-clock* detector keeps a clock for every thread, and every access that later ones may race
//! with, by byte. A CTA runs with the epoch detector first. After an alarm, or at synchronisation that epochs do not
//! model, it runs again with vector clocks, and that result is final.
//!
//! Atomics (rule Y7) are writes that do not race with atomics of the same operation. At an atomic, no detector may
//! forget earlier accesses that are ordered before it: the next atomic, which may be ordered after neither, races with
//! those alone.

use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;

use super::agent::{Agent, AtomicUpdate};
use super::clock::Clocks;
use crate::number::format::Format;
use crate::program::{InstId, Int2, Scope, Update};

/// The state of the epoch detector for 4 bytes, or for one.
///
/// Dropping an older reader of the same warp is sound: it happens before the newer one, so every conflicting access
/// that is ordered after the newer one is ordered after the older one.
#[derive(Clone, Copy, Debug)]
pub(super) struct EpochShadow {
    write_epoch: u32,
    write_sync: u32,
    read_epoch: u32,
    read_sync: u32,
    read_lanes: LaneMask,
    write_thread: u16,
    read_warp: u16,
}

const MANY: u16 = u16::MAX;
/// In `read_warp`: each byte of the cell has a shadow, at the index in `read_lanes`.
const IN_PARTS: u16 = u16::MAX - 1;
/// In `write_thread`: one lane of that warp wrote, unspecified which.
const ANY_LANE: u16 = 1 << 15;
/// In `write_thread`: threads of any warps updated the cell atomically, by the kind of update in the lower bits.
const ATOMIC: u16 = 1 << 14;
/// In `write_epoch`: an asynchronous copy may write at any time until it is waited for.
const UNDER_WAY: u32 = u32::MAX;

impl EpochShadow {
    pub(super) const CLEAN: EpochShadow = EpochShadow {
        write_epoch: 0,
        write_sync: 0,
        read_epoch: 0,
        read_sync: 0,
        read_lanes: LaneMask::NONE,
        write_thread: 0,
        read_warp: 0,
    };

    /// The state of a cell with a shadow for each byte, at index `place`.
    pub(super) fn in_parts(place: u32) -> EpochShadow {
        EpochShadow { read_warp: IN_PARTS, read_lanes: LaneMask::from_bits(place), ..EpochShadow::CLEAN }
    }

    /// The index of the shadows of the cell's bytes, if it has one for each.
    #[inline]
    pub(super) fn parts(&self) -> Option<u32> {
        (self.read_warp == IN_PARTS).then_some(self.read_lanes.bits())
    }

    /// Thread `32·warp + lane` reads; true if that may race.
    #[inline]
    #[must_use]
    pub(super) fn read(&mut self, now: Now, lane: Lane) -> bool {
        let alarm = self.conflicts_with_write(now, lane);
        if self.read_epoch != now.epoch {
            self.read_epoch = now.epoch;
            self.read_warp = now.warp;
            self.read_sync = now.sync;
            self.read_lanes = LaneMask::of(lane);
        } else if self.read_warp != now.warp {
            self.read_warp = MANY;
        } else if self.read_sync == now.sync {
            self.read_lanes |= LaneMask::of(lane);
        } else {
            self.read_sync = now.sync;
            self.read_lanes = LaneMask::of(lane);
        }
        alarm
    }

    /// All lanes of `mask` read the same bytes; true if that may race.
    #[inline]
    #[must_use]
    pub(super) fn read_together(&mut self, now: Now, mask: LaneMask) -> bool {
        let first = mask.first();
        let rest = mask & !LaneMask::of(first);
        let mut alarm = self.read(now, first);
        if !rest.is_empty() {
            alarm |= self.conflicts_with_write(now, rest.first());
            if self.read_warp == now.warp {
                self.read_lanes |= rest;
            }
        }
        alarm
    }

    /// As [`EpochShadow::read_together`], for the lanes of several warps, including this one; true if that may race.
    #[inline]
    #[must_use]
    pub(super) fn read_by_warps(&mut self, now: Now, mask: LaneMask) -> bool {
        // Whichever thread wrote in this epoch, some reader belongs to another warp.
        let alarm = self.read_together(now, mask);
        self.read_warp = MANY;
        alarm || self.write_epoch == now.epoch
    }

    /// Thread `32·warp + lane` writes; true if that may race.
    #[inline]
    #[must_use]
    pub(super) fn write(&mut self, now: Now, lane: Lane) -> bool {
        let alarm = self.conflicts_with_write(now, lane) | self.conflicts_with_read(now, lane);
        self.write_epoch = now.epoch;
        self.write_sync = now.sync;
        self.write_thread = now.warp << 5 | lane.number() as u16;
        alarm
    }

    /// One of several lanes of a warp writes, unspecified which; true if that may race.
    #[must_use]
    pub(super) fn write_by_any(&mut self, now: Now) -> bool {
        // The writer is not known. Every earlier write by one lane conflicts with at least one of two lanes.
        let mut alarm =
            self.conflicts_with_write(now, Lane::FIRST) || self.conflicts_with_write(now, Lane::at(1));
        if self.read_epoch == now.epoch {
            alarm |= !(self.read_warp == now.warp && self.read_sync < now.sync);
        }
        self.write_epoch = now.epoch;
        self.write_sync = now.sync;
        self.write_thread = now.warp << 5 | ANY_LANE;
        alarm
    }

    /// Thread `32·warp + lane` updates atomically; true if that may race or may not commute with an earlier update.
    #[inline]
    #[must_use]
    pub(super) fn update(&mut self, now: Now, lane: Lane, update: Update) -> bool {
        let writer = ATOMIC | number(update);
        // Any other write of this epoch, even by the same thread, may race with the next atomic, and is forgotten here.
        let mut alarm = self.write_epoch == UNDER_WAY;
        alarm |= self.write_epoch == now.epoch && self.write_thread != writer;
        alarm |= self.conflicts_with_read(now, lane);
        self.write_epoch = now.epoch;
        self.write_sync = now.sync;
        self.write_thread = writer;
        alarm
    }

    /// A thread starts a copy that will write; true if that may race with earlier accesses.
    #[must_use]
    pub(super) fn begin_copy(&mut self, now: Now, lane: Lane) -> bool {
        let alarm = self.write(now, lane);
        self.write_epoch = UNDER_WAY;
        alarm
    }

    /// Orders the copy's write before the further actions of the thread.
    pub(super) fn end_copy(&mut self, now: Now, lane: Lane) {
        self.write_epoch = now.epoch;
        self.write_sync = now.sync;
        self.write_thread = now.warp << 5 | lane.number() as u16;
    }

    #[inline]
    fn conflicts_with_read(&self, now: Now, lane: Lane) -> bool {
        let same_warp = self.read_warp == now.warp;
        let ordered =
            same_warp && (self.read_sync < now.sync || self.read_lanes.is_within(LaneMask::of(lane)));
        self.read_epoch == now.epoch && !ordered
    }

    #[inline]
    fn conflicts_with_write(&self, now: Now, lane: Lane) -> bool {
        if self.write_epoch != now.epoch {
            return self.write_epoch == UNDER_WAY;
        }
        let same_thread = self.write_thread == (now.warp << 5 | lane.number() as u16);
        let same_warp = (self.write_thread & !ANY_LANE) >> 5 == now.warp;
        !(same_thread || same_warp && self.write_sync < now.sync)
    }
}

/// A number below [`ATOMIC`] for each kind of update.
fn number(update: Update) -> u16 {
    match update {
        Update::Real(Format::F16) => 0,
        Update::Real(Format::Bf16) => 1,
        Update::Real(Format::Tf32) => 2,
        Update::Real(Format::F32) => 3,
        Update::Real(Format::F64) => 4,
        Update::Real(Format::E4m3) => 5,
        Update::Real(Format::E5m2) => 6,
        // Follows the numbers above.
        Update::Extreme { largest, format } => 8 + 2 * number(Update::Real(format)) + u16::from(largest),
        // Follows these as well.
        Update::RealInWord { format, word } => {
            32 + 8 * number(Update::Real(format)) + word.bytes().trailing_zeros() as u16
        }
        Update::Integer(op, ty) => {
            let op = match op {
                Int2::Add => 1,
                Int2::Min => 2,
                Int2::Max => 3,
                Int2::And => 4,
                Int2::Or => 5,
                // Atomics have no other operations.
                Int2::Sub
                | Int2::AddSat
                | Int2::SubSat
                | Int2::MulLo
                | Int2::MulHi
                | Int2::MulWide
                | Int2::Mul24Lo
                | Int2::Mul24Hi
                | Int2::Div
                | Int2::Rem
                | Int2::Xor
                | Int2::Shl
                | Int2::Shr
                | Int2::MaskClamp
                | Int2::MaskWrap => 6,
            };
            op << 8 | (ty.width.bits() as u16) << 1 | u16::from(ty.signed)
        }
    }
}

/// The time and the warp of an access, for the epoch detector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// Epochs start at 1.
    pub(super) epoch: u32,
    /// The number of synchronisations of the whole warp so far.
    pub(super) sync: u32,
    pub(super) warp: u16,
}

/// An access that the vector-clock detector remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) thread: u32,
    pub(super) stamp: u32,
    /// The agent that made it.
    pub(super) agent: Agent,
    /// The mask of the cell's 4 bytes.
    pub(super) bytes: u8,
    pub(super) inst: InstId,
    /// The number of accesses recorded before it.
    sequence: u32,
}

impl Access {
    /// The verb for the access in messages.
    pub(super) fn verb(&self, writes: bool) -> String {
        if let Some(AtomicUpdate { update, .. }) = self.agent.atomic_update() {
            return format!("atomically updates (`{update}`)");
        }
        match self.agent {
            Agent::Barrier => "uses the barrier at".into(),
            Agent::Maker => "initialises or invalidates the barrier at".into(),
            Agent::Setter { .. } => "sets the flag".into(),
            Agent::Waiter { .. } => "waits for the flag".into(),
            Agent::Thread | Agent::AnyOf { .. } | Agent::Atomic { .. } | Agent::Copy { .. } if writes => {
                "writes".into()
            }
            Agent::Thread | Agent::AnyOf { .. } | Agent::Atomic { .. } | Agent::Copy { .. } => "reads".into(),
        }
    }
}

/// Accesses to one cell that a later access may race with.
#[derive(Clone, Debug, Default)]
struct History {
    writes: Vec<Access>,
    reads: Vec<Access>,
    /// The thread that last wrote by the async proxy, and a number n: this thread knows that the first n reads are
    /// over, and keeps this knowledge.
    over: (u32, usize),
}

impl History {
    /// The reads without those that a thread is known to be ordered after.
    fn reads_for(&self, thread: u32) -> &[Access] {
        let (writer, over) = self.over;
        &self.reads[if writer == thread { over } else { 0 }..]
    }
}

/// Two accesses that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub(super) earlier: Access,
    pub(super) earlier_writes: bool,
    pub(super) later: Access,
    pub(super) later_writes: bool,
    /// They are ordered in time, but no proxy fence makes the first visible to the second.
    pub(super) lacks_fence: bool,
}

impl Conflict {
    /// Whether both are writes that are not atomic.
    pub(super) fn is_of_writes(&self) -> bool {
        let is_atomic = |access: &Access| access.agent.atomic_update().is_some();
        self.earlier_writes && self.later_writes && ![self.earlier, self.later].iter().any(is_atomic)
    }

    /// Whether both are atomics of one location that do not commute, which is a fault but no race.
    pub(super) fn is_of_operations(&self) -> bool {
        match (self.earlier.agent.atomic_update(), self.later.agent.atomic_update()) {
            (Some(one), Some(other)) => one.differs(other),
            (None, _) | (_, None) => false,
        }
    }
}

/// The ends of an asynchronous operation, as pairs of agent and stamp: a thread that knows one of these agents up to
/// that stamp knows that the operation is over. The agent is the thread that waited for it, or the mbarrier with the
/// phase on which it completes.
type CopyEnds = SmallVec<[(u32, u32); 1]>;

/// Operations that complete in the order in which they are started (rule Y14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pipeline {
    /// Copies from shared memory, which later products follow.
    Copies,
    /// Products into one accumulator and of one shape, by a number for both.
    Products(u32),
}

impl Pipeline {
    /// Whether an operation is complete before a later one begins.
    fn is_before(self, later: Pipeline) -> bool {
        match (self, later) {
            (Pipeline::Products(one), Pipeline::Products(other)) => one == other,
            (Pipeline::Copies, Pipeline::Products(_)) => true,
            (Pipeline::Copies | Pipeline::Products(_), Pipeline::Copies) => false,
        }
    }
}

/// The state of an asynchronous operation.
#[derive(Clone, Debug, Default)]
struct Copied {
    ends: CopyEnds,
    /// Whether it is an operation on tensor memory.
    is_of_tensor_memory: bool,
    pipeline: Option<Pipeline>,
}

/// The vector-clock detector.
#[derive(Debug)]
pub(super) struct VectorClockDetector {
    pub(super) clocks: Clocks,
    cells: FxHashMap<(u32, u64), History>,
    entries: u64,
    copies: Vec<Copied>,
    /// By the number of a warp's part of a warpgroup product: the ends of other warps' waits for the same product.
    parts: FxHashMap<u32, CopyEnds>,
    /// For changes of flags, by thread and stamp: a thread that knows this agent up to this stamp has found that change,
    /// or a later one.
    changes: FxHashMap<(u32, u32), (u32, u32)>,
    /// Whether accesses are ordered by these alone.
    pub(super) relied_on_parts: Cell<bool>,
    operations: u32,
    recorded: u32,
    /// The number of thread numbers of a CTA.
    of_cta: u32,
    /// Whether reads need a proxy fence before the async proxy writes.
    strict_proxies: bool,
    /// The instruction of an asynchronous write without such a fence.
    pub(super) unfenced: Option<InstId>,
    /// Whether the CTAs that run together are a cooperative grid. The scope `.cluster` is then `.cta`.
    pub(super) is_of_grid: bool,
}

impl VectorClockDetector {
    /// A detector for `threads` threads; each CTA has `of_cta` of them.
    pub(super) fn new(threads: usize, of_cta: usize, strict_proxies: bool) -> VectorClockDetector {
        VectorClockDetector {
            of_cta: number_of(of_cta),
            clocks: Clocks::new(threads),
            cells: FxHashMap::default(),
            entries: 0,
            copies: Vec::new(),
            parts: FxHashMap::default(),
            changes: FxHashMap::default(),
            relied_on_parts: Cell::new(false),
            operations: 0,
            recorded: 0,
            strict_proxies,
            unfenced: None,
            is_of_grid: false,
        }
    }

    /// Returns the number of a new asynchronous copy.
    pub(super) fn begin_copy(&mut self) -> u32 {
        self.copies.push(Copied::default());
        number_of(self.copies.len() - 1)
    }

    /// Returns the number of a new operation on tensor memory.
    pub(super) fn begin_on_tensor_memory(&mut self, pipeline: Option<Pipeline>) -> u32 {
        self.copies.push(Copied { pipeline, is_of_tensor_memory: true, ..Copied::default() });
        number_of(self.copies.len() - 1)
    }

    /// `thread` has waited for a copy that it started.
    pub(super) fn end_copy(&mut self, copy: u32, thread: u32) {
        self.end_copy_at(copy, thread, self.clocks.now(thread as usize));
    }

    /// A thread that knows `agent` up to `stamp` knows that a copy is over.
    pub(super) fn end_copy_at(&mut self, copy: u32, agent: u32, stamp: u32) {
        self.copies[copy as usize].ends.push((agent, stamp));
    }

    /// `thread` has waited for a product of its warpgroup; `part` is the part of another warp.
    pub(super) fn end_part(&mut self, part: u32, thread: u32) {
        let stamp = self.clocks.now(thread as usize);
        self.parts.entry(part).or_default().push((thread, stamp));
    }

    /// Whether a part of a product is over before an access because another warp has waited for the product.
    fn is_over_as_a_whole(&self, earlier: &Access, later: &Access) -> bool {
        let Agent::Copy { number, .. } = earlier.agent else { return false };
        let ends = self.parts.get(&number).into_iter().flatten();
        let knows = |(thread, stamp): &(u32, u32)| {
            self.clocks.knows(later.thread as usize, *thread as usize) >= *stamp
        };
        let is_over = ends.into_iter().any(knows);
        if is_over {
            self.relied_on_parts.set(true);
        }
        is_over
    }

    /// Records that a thread has changed a flag: a thread that knows the agent up to the stamp has found that change.
    pub(super) fn note_change(&mut self, (thread, stamp): (u32, u32), found_by: (u32, u32)) {
        self.changes.insert((thread, stamp), found_by);
    }

    /// Whether the thread of a change of a flag has found an earlier one, so that its own comes later (rule Y15).
    fn is_found(&self, earlier: &Access, later: &Access) -> bool {
        let is_change = |access: &Access| matches!(access.agent, Agent::Setter { .. } | Agent::Atomic { .. });
        is_change(earlier)
            && is_change(later)
            && self.are_strong(earlier, later)
            && self.changes.get(&(earlier.thread, earlier.stamp)).is_some_and(|(agent, stamp)| {
                self.clocks.knows(later.thread as usize, *agent as usize) >= *stamp
            })
    }

    /// Whether one of these threads has waited for a copy.
    pub(super) fn is_awaited(&self, copy: u32, by: &Range<usize>) -> bool {
        let ends = &self.copies[copy as usize].ends;
        let is_past =
            |agent: u32, stamp| by.clone().any(|thread| self.clocks.is_past(thread, agent as usize, stamp));
        ends.iter().any(|(agent, stamp)| is_past(*agent, *stamp))
    }

    /// Returns the number of a new operation that an unspecified lane performs.
    pub(super) fn begin_operation(&mut self) -> u32 {
        self.operations += 1;
        self.operations
    }

    /// Bytes of race state.
    pub(super) fn bytes(&self) -> u64 {
        (self.entries * size_of::<Access>() as u64 + self.cells.len() as u64 * 96)
            + self.copies.len() as u64 * size_of::<Copied>() as u64
            // An estimate for the waits by the lanes of three warps.
            + self.parts.len() as u64 * 1024
            + self.changes.len() as u64 * 20
    }

    /// The writes and reads of a cell that later accesses may still race with.
    pub(super) fn history(&self, object: u32, cell: u64) -> (&[Access], &[Access]) {
        match self.cells.get(&(object, cell)) {
            Some(history) => (&history.writes, &history.reads),
            None => (&[], &[]),
        }
    }

    /// Records an access that any of `threads` may make, by each of them; returns an error if it races with an earlier
    /// one. All are checked before any is recorded, since recording forgets what is ordered before that one thread.
    pub(super) fn access_by_any(
        &mut self,
        place: (u32, u64),
        (threads, agent): (&[u32], Agent),
        bytes: u8,
        inst: InstId,
        writes: bool,
    ) -> Result<(), Conflict> {
        for thread in threads {
            self.check(place, (*thread, agent), bytes, inst, writes)?;
        }
        threads.iter().try_for_each(|thread| self.access(place, (*thread, agent), bytes, inst, writes))
    }

    /// Checks whether an access races with an earlier one.
    fn check(
        &self,
        place: (u32, u64),
        (thread, agent): (u32, Agent),
        bytes: u8,
        inst: InstId,
        writes: bool,
    ) -> Result<Access, Conflict> {
        let stamp = self.clocks.now(thread as usize);
        let access = Access { thread, stamp, agent, bytes, inst, sequence: self.recorded };
        let Some(history) = self.cells.get(&place) else { return Ok(access) };
        let conflict = |earlier: &Access, earlier_writes| {
            self.conflict(&history.reads, (earlier, earlier_writes), (&access, writes))
        };
        let with_write = history.writes.iter().find_map(|earlier| conflict(earlier, true));
        let with_read = || history.reads_for(thread).iter().find_map(|earlier| conflict(earlier, false));
        match with_write.or_else(|| if writes { with_read() } else { None }) {
            None => Ok(access),
            Some(conflict) => Err(conflict),
        }
    }

    /// Records an access to `bytes` of a cell of an object; returns an error if it races with an earlier one.
    pub(super) fn access(
        &mut self,
        place: (u32, u64),
        (thread, agent): (u32, Agent),
        bytes: u8,
        inst: InstId,
        writes: bool,
    ) -> Result<(), Conflict> {
        let access = self.check(place, (thread, agent), bytes, inst, writes)?;
        if writes && !agent.is_generic() && self.unfenced.is_none() {
            let mut reads = self.cells.get(&place).into_iter().flat_map(|history| history.reads_for(thread));
            self.unfenced = reads.any(|earlier| !self.is_visible(earlier, &access)).then_some(inst);
        }
        self.record(place, access, writes);
        Ok(())
    }

    /// As [`VectorClockDetector::access_by_any`], but records the accesses in any case, and returns a race with each
    /// earlier instruction.
    pub(super) fn access_anyway(
        &mut self,
        place: (u32, u64),
        (threads, agent): (&[u32], Agent),
        bytes: u8,
        inst: InstId,
        writes: bool,
    ) -> Vec<Conflict> {
        let mut conflicts: Vec<Conflict> = Vec::new();
        let later = |clocks: &Clocks, thread: u32| {
            let stamp = clocks.now(thread as usize);
            Access { thread, stamp, agent, bytes, inst, sequence: 0 }
        };
        for thread in threads {
            let later = later(&self.clocks, *thread);
            let Some(history) = self.cells.get(&place) else { break };
            let reads = if writes { &history.reads[..] } else { &[] };
            let earlier = history.writes.iter().map(|access| (*access, true));
            let earlier = earlier.chain(reads.iter().map(|access| (*access, false)));
            for (earlier, earlier_writes) in earlier {
                let conflict = self.conflict(&history.reads, (&earlier, earlier_writes), (&later, writes));
                if conflicts.iter().all(|known| known.earlier.inst != earlier.inst) {
                    conflicts.extend(conflict);
                }
            }
        }
        for thread in threads {
            self.record(place, later(&self.clocks, *thread), writes);
        }
        conflicts
    }

    /// The fault of two accesses to one cell, at least one of them a write: nothing orders them, or they are ordered
    /// and an asynchronous operation need not see the earlier one (rule Y10).
    fn conflict(
        &self,
        reads: &[Access],
        (earlier, earlier_writes): (&Access, bool),
        (later, later_writes): (&Access, bool),
    ) -> Option<Conflict> {
        if earlier.bytes & later.bytes == 0 || self.goes_with(earlier, later) {
            return None;
        }
        let is_ordered = is_before(&self.clocks, &self.copies, earlier, later)
            || self.is_made_before(earlier, later)
            || self.is_found(earlier, later)
            || self.is_over_as_a_whole(earlier, later);
        if is_ordered && (self.is_visible(earlier, later) || !earlier_writes && !self.strict_proxies) {
            return None;
        }
        // A write that another thread has read is visible to every later write, by whichever proxy.
        let counts = |read: &&Access| !is_ordered || read.thread != earlier.thread && !self.strict_proxies;
        let reads = reads.iter().filter(counts);
        if earlier_writes
            && later_writes
            && is_read_between(&self.clocks, &self.copies, earlier, reads, later)
        {
            return None;
        }
        let (earlier, later) = (*earlier, *later);
        Some(Conflict { earlier, earlier_writes, later, later_writes, lacks_fence: is_ordered })
    }

    /// Whether the later access uses an mbarrier, and its initialisation, the earlier one, has been fenced.
    fn is_made_before(&self, earlier: &Access, later: &Access) -> bool {
        let seen = || self.clocks.sees_initialised(later.thread as usize, earlier.thread as usize);
        (earlier.agent, later.agent) == (Agent::Maker, Agent::Barrier) && seen() >= earlier.stamp
    }

    /// Whether two accesses do not race with each other, wherever their threads are.
    fn goes_with(&self, earlier: &Access, later: &Access) -> bool {
        later.agent.goes_with(earlier.agent) && self.are_strong(earlier, later)
    }

    /// Whether the scopes of both, if they have any, contain the thread of the other one.
    fn are_strong(&self, earlier: &Access, later: &Access) -> bool {
        let is_of_cta = |access: &Access| match access.agent.scope() {
            Some(Scope::Cta) => true,
            Some(Scope::Cluster) => self.is_of_grid,
            Some(Scope::Launch) | None => false,
        };
        let apart = || earlier.thread / self.of_cta != later.thread / self.of_cta;
        !((is_of_cta(earlier) || is_of_cta(later)) && apart())
    }

    /// Whether the earlier access is visible to the proxy of the later one.
    fn is_visible(&self, earlier: &Access, later: &Access) -> bool {
        let Agent::Copy { proxy: Some(space), .. } = later.agent else { return true };
        let published = |agent: u32| self.clocks.published(later.thread as usize, agent as usize, space);
        match earlier.agent {
            _ if !earlier.agent.is_generic() => true,
            Agent::Copy { number, .. } => {
                let ends = &self.copies[number as usize].ends;
                ends.iter().any(|(agent, stamp)| published(*agent) >= *stamp)
            }
            Agent::Thread
            | Agent::AnyOf { .. }
            | Agent::Atomic { .. }
            | Agent::Maker
            | Agent::Barrier
            | Agent::Setter { .. }
            | Agent::Waiter { .. } => published(earlier.thread) >= earlier.stamp,
        }
    }

    /// Records an access, and forgets those that it covers.
    fn record(&mut self, place: (u32, u64), access: Access, writes: bool) {
        let Access { agent, bytes, .. } = access;
        let access = Access { sequence: self.recorded, ..access };
        self.recorded = self.recorded.saturating_add(1);
        let (clocks, copies) = (&self.clocks, &self.copies);
        let history = self.cells.entry(place).or_default();
        let before = history.writes.len() + history.reads.len();
        // An earlier access that is ordered before this one, at bytes that this one covers, may be forgotten:
        // everything that races with it races with this access as well, or is ordered before it. This does not hold for
        // an atomic access, which does not race with atomics of its kind.
        let is_atomic = agent.scope().is_some() || agent == Agent::Barrier;
        let covered = |earlier: &Access| {
            earlier.bytes & !bytes == 0
                && (!is_atomic || earlier.agent == agent)
                && is_before(clocks, copies, earlier, &access)
        };
        if writes {
            // This comes before reads are forgotten, which may have observed an earlier write.
            let reads = &history.reads;
            history.writes.retain(|earlier| {
                let is_covered = earlier.bytes & !bytes == 0 && !is_atomic;
                !(covered(earlier)
                    || is_covered && is_read_between(clocks, copies, earlier, reads.iter(), &access))
            });
        }
        // The end of an operation of the async proxy releases that operation alone, and not the earlier reads.
        let is_async = !agent.is_generic();
        if !is_async {
            history.reads.retain(|earlier| !covered(earlier));
            history.over = (0, 0);
        }
        // One operation may be checked for several threads.
        let is_recorded = |earlier: &Access| earlier.agent == agent && earlier.bytes == bytes;
        if is_async && !writes && history.reads.last().is_some_and(is_recorded) {
            return;
        }
        if writes {
            history.writes.push(access);
            if is_async {
                let known = history.reads.len() - history.reads_for(access.thread).len();
                // For reads by the async proxy, only their end matters: no fence is needed after them.
                let is_over = |read: &&Access| match read.agent {
                    Agent::Copy { number, proxy: Some(_), .. } => {
                        copies[number as usize].ends.iter().any(|(agent, stamp)| {
                            clocks.knows(access.thread as usize, *agent as usize) >= *stamp
                        })
                    }
                    Agent::Copy { proxy: None, .. }
                    | Agent::Thread
                    | Agent::AnyOf { .. }
                    | Agent::Atomic { .. }
                    | Agent::Maker
                    | Agent::Barrier
                    | Agent::Setter { .. }
                    | Agent::Waiter { .. } => false,
                };
                let more = history.reads[known..].iter().take_while(is_over).count();
                history.over = (access.thread, known + more);
            }
        } else {
            history.reads.push(access);
        }
        let after = history.writes.len() + history.reads.len();
        self.entries = self.entries + after as u64 - before as u64;
    }
}

/// Whether an earlier access is ordered before one that a thread makes or starts now.
fn is_before(clocks: &Clocks, copies: &[Copied], earlier: &Access, later: &Access) -> bool {
    let thread = later.thread;
    let knows = |agent: u32, stamp: u32| clocks.knows(thread as usize, agent as usize) >= stamp;
    match earlier.agent {
        Agent::Thread
        | Agent::Atomic { .. }
        | Agent::AnyOf { .. }
        | Agent::Maker
        | Agent::Barrier
        | Agent::Setter { .. }
        | Agent::Waiter { .. } => earlier.thread == thread || knows(earlier.thread, earlier.stamp),
        // A copy is before nothing until a thread has waited for it.
        Agent::Copy { number, .. } => {
            let copy = &copies[number as usize];
            let is_over = |(agent, stamp): &(u32, u32)| {
                knows(*agent, *stamp) || is_fenced(clocks, copies, (*agent, *stamp), later)
            };
            let is_started =
                earlier.thread == thread || is_fenced(clocks, copies, (earlier.thread, earlier.stamp), later);
            copy.ends.iter().any(is_over)
                || is_started && copy.pipeline.is_some_and(|pipeline| is_done_before(copies, pipeline, later))
        }
    }
}

/// Whether all bytes that an earlier write and a later access have in common have been read in between. The end of an
/// asynchronous operation orders that operation alone, but the writes that it has read come before it. A wait for a flag
/// may come before the write, or order nothing although it has found the flag.
fn is_read_between<'r>(
    clocks: &Clocks,
    copies: &[Copied],
    earlier: &Access,
    reads: impl Iterator<Item = &'r Access>,
    later: &Access,
) -> bool {
    let mut rest = earlier.bytes & later.bytes;
    for read in reads {
        let reads_some = rest & read.bytes != 0 && !matches!(read.agent, Agent::Waiter { .. });
        if reads_some && earlier.sequence < read.sequence && is_before(clocks, copies, read, later) {
            rest &= !read.bytes;
            if rest == 0 {
                return true;
            }
        }
    }
    false
}

/// Whether fences order the actions of an agent up to a stamp before an operation on tensor memory.
fn is_fenced(clocks: &Clocks, copies: &[Copied], (agent, stamp): (u32, u32), later: &Access) -> bool {
    let Agent::Copy { number, proxy: None, .. } = later.agent else { return false };
    copies[number as usize].is_of_tensor_memory
        && clocks.ordered(later.thread as usize, agent as usize) >= stamp
}

/// Whether an operation of a pipeline is complete before a later operation begins.
fn is_done_before(copies: &[Copied], pipeline: Pipeline, later: &Access) -> bool {
    let Agent::Copy { number, .. } = later.agent else { return false };
    copies[number as usize].pipeline.is_some_and(|later| pipeline.is_before(later))
}

#[cfg(test)]
mod tests {
    use super::super::clock::{AsyncSpace, Joined};
    use super::*;

    fn lane(number: u32) -> Lane {
        Lane::new(number)
    }

    fn now(epoch: u32, sync: u32, warp: u16) -> Now {
        Now { epoch, sync, warp }
    }

    #[test]
    fn the_epoch_detector_alarms_within_an_epoch_and_not_across() {
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.write(now(1, 0, 0), lane(3)));
        assert!(!cell.read(now(1, 0, 0), lane(3)));
        assert!(cell.read(now(1, 0, 0), lane(4)));
        assert!(!cell.read(now(2, 0, 1), lane(4)));
        assert!(!cell.read(now(2, 0, 2), lane(4)));
        assert!(cell.write(now(2, 0, 2), lane(4)), "another warp has read it");
        assert!(!cell.write(now(3, 0, 2), lane(4)));
    }

    #[test]
    fn the_epoch_detector_knows_whole_warp_synchronisation() {
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.read(now(1, 0, 0), lane(1)));
        assert!(!cell.write(now(1, 1, 0), lane(2)));
        assert!(cell.read(now(1, 1, 0), lane(3)));
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.read_together(now(1, 0, 0), LaneMask::ALL));
        assert!(cell.write(now(1, 0, 0), lane(5)));
    }

    #[test]
    fn a_copy_races_until_it_is_waited_for() {
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.begin_copy(now(1, 0, 0), lane(3)));
        assert!(cell.read(now(1, 0, 0), lane(3)), "even its own thread must wait");
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.begin_copy(now(1, 0, 0), lane(3)));
        assert!(cell.read(now(2, 0, 0), lane(3)), "a barrier is no wait");
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.begin_copy(now(1, 0, 0), lane(3)));
        cell.end_copy(now(1, 0, 0), lane(3));
        assert!(!cell.read(now(1, 0, 0), lane(3)));
        assert!(cell.read(now(1, 0, 0), lane(4)), "the wait of one thread is no barrier");
        assert!(!cell.read(now(2, 0, 0), lane(4)));

        let mut exact = VectorClockDetector::new(2, 32, false);
        let access = |exact: &mut VectorClockDetector, thread, agent, writes| {
            exact.access((0, 0), (thread, agent), 0b1111, InstId(0), writes).is_ok()
        };
        let copy = exact.begin_copy();
        assert!(access(&mut exact, 0, Agent::Copy { number: copy, proxy: None, update: None }, true));
        assert!(!access(&mut exact, 0, Agent::Thread, false));
        exact.clocks.meet(&[0, 1]);
        assert!(!access(&mut exact, 1, Agent::Thread, false));
        exact.end_copy(copy, 0);
        assert!(access(&mut exact, 0, Agent::Thread, false));
        assert!(!access(&mut exact, 1, Agent::Thread, false), "the barrier was before the wait");
        exact.clocks.meet(&[0, 1]);
        assert!(access(&mut exact, 1, Agent::Thread, false));
    }

    #[test]
    fn operations_of_a_pipeline_follow_one_another() {
        let one = Pipeline::Products(0);
        for (later, thread, fences, is_ordered) in [
            (Some(one), 0, false, true),
            (Some(Pipeline::Products(1)), 0, true, false),
            (None, 0, true, false),
            (Some(one), 1, false, false),
            (Some(one), 1, true, true),
        ] {
            let mut exact = VectorClockDetector::new(2, 32, false);
            let first = exact.begin_on_tensor_memory(Some(one));
            let agent = |number| Agent::Copy { number, proxy: None, update: None };
            assert!(exact.access((0, 0), (0, agent(first)), 0b1111, InstId(0), true).is_ok());
            if fences {
                exact.clocks.fence_before(0);
            }
            exact.clocks.meet(&[0, 1]);
            if fences {
                exact.clocks.fence_after(1);
            }
            let second = exact.begin_on_tensor_memory(later);
            let access = exact.access((0, 0), (thread, agent(second)), 0b1111, InstId(1), true);
            assert_eq!(access.is_ok(), is_ordered, "{later:?} by thread {thread}, fences: {fences}");
        }
    }

    #[test]
    fn what_was_read_between_was_written_before() {
        // Thread 1 knows that the asynchronous read is over, and nothing else.
        for (reads, writes_again, is_ordered) in
            [(true, true, true), (false, true, false), (true, false, false)]
        {
            let mut exact = VectorClockDetector::new(2, 32, false);
            let agent = exact.clocks.new_agent() as u32;
            assert!(exact.access((0, 0), (0, Agent::Thread), 0b1111, InstId(0), true).is_ok());
            let copy = exact.begin_copy();
            if reads {
                let reader = Agent::Copy { number: copy, proxy: None, update: None };
                assert!(exact.access((0, 0), (0, reader), 0b1111, InstId(1), false).is_ok());
            }
            exact.end_copy_at(copy, agent, 1);
            let mut joined = Joined::default();
            joined.set(agent as usize, 1);
            exact.clocks.learn(1, &mut joined);
            let access = exact.access((0, 0), (1, Agent::Thread), 0b1111, InstId(2), writes_again);
            assert_eq!(access.is_ok(), is_ordered);
        }
    }

    #[test]
    fn what_another_thread_has_read_needs_no_fence_to_be_overwritten() {
        for (reader, strict, is_ordered) in
            [(Some(1), false, true), (Some(0), false, false), (None, false, false), (Some(1), true, false)]
        {
            let mut exact = VectorClockDetector::new(2, 32, strict);
            assert!(exact.access((0, 0), (0, Agent::Thread), 0b1111, InstId(0), true).is_ok());
            exact.clocks.meet(&[0, 1]);
            if let Some(reader) = reader {
                assert!(exact.access((0, 0), (reader, Agent::Thread), 0b1111, InstId(1), false).is_ok());
            }
            exact.clocks.meet(&[0, 1]);
            let number = exact.begin_copy();
            let writer = Agent::Copy { number, proxy: Some(AsyncSpace::Shared), update: None };
            let access = exact.access((0, 0), (0, writer), 0b1111, InstId(2), true);
            assert_eq!(access.is_ok(), is_ordered, "{reader:?}");
            assert_eq!(exact.unfenced.is_some(), is_ordered, "and it is listed");
        }
    }

    #[test]
    fn reads_that_one_writer_knows_to_be_over_race_with_another_writer() {
        let mut exact = VectorClockDetector::new(3, 32, false);
        let access = |exact: &mut VectorClockDetector, thread, writes| {
            let number = exact.begin_copy();
            let agent = Agent::Copy { number, proxy: Some(AsyncSpace::Shared), update: None };
            exact.access((0, 0), (thread, agent), 0b1111, InstId(number), writes).map(|()| number)
        };
        // Thread 2 reads what thread 0 writes, three times.
        for _ in 0..3 {
            let written = access(&mut exact, 0, true).unwrap();
            exact.end_copy(written, 0);
            exact.clocks.meet(&[0, 2]);
            let read = access(&mut exact, 2, false).unwrap();
            exact.end_copy(read, 2);
            exact.clocks.meet(&[0, 2]);
        }
        let last = access(&mut exact, 0, true).unwrap();
        exact.end_copy(last, 0);
        // Thread 1 knows that the last write is over, and of no read.
        let agent = exact.clocks.new_agent();
        exact.end_copy_at(last, agent as u32, 1);
        let mut end = Joined::default();
        end.set(agent, 1);
        exact.clocks.learn(1, &mut end);
        let conflict = access(&mut exact, 1, true).unwrap_err();
        assert_eq!((conflict.earlier_writes, conflict.earlier.thread), (false, 2));
        // A read that no thread has waited for races with a write by the thread that knew the others to be over.
        exact.clocks.meet(&[0, 2]);
        access(&mut exact, 2, false).unwrap();
        exact.clocks.meet(&[0, 2]);
        assert!(!access(&mut exact, 0, true).unwrap_err().earlier_writes);
    }

    #[test]
    fn what_some_lane_wrote_is_ordered_by_the_whole_warp_only() {
        // An earlier access by one lane is ordered for that lane only, whichever it is.
        for first in 0..2 {
            let mut exact = VectorClockDetector::new(2, 32, false);
            assert!(exact.access((0, 0), (first, Agent::Thread), 0b1111, InstId(0), true).is_ok());
            let agent = Agent::AnyOf { operation: exact.begin_operation(), lanes: LaneMask::from_bits(0b11) };
            assert!(exact.access_by_any((0, 0), (&[0, 1], agent), 0b1111, InstId(1), true).is_err());
        }

        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.write_by_any(now(1, 0, 0)));
        assert!(cell.read(now(1, 0, 0), lane(0)));
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.write_by_any(now(1, 0, 0)));
        assert!(!cell.read(now(1, 1, 0), lane(0)));
        assert!(cell.write_by_any(now(1, 1, 0)), "lane 0 has read it since");

        let mut exact = VectorClockDetector::new(2, 32, false);
        let agent = Agent::AnyOf { operation: exact.begin_operation(), lanes: LaneMask::from_bits(0b11) };
        for lane in 0..2 {
            assert!(exact.access((0, 0), (lane, agent), 0b1111, InstId(0), true).is_ok());
        }
        assert!(exact.access((0, 0), (0, Agent::Thread), 0b1111, InstId(1), false).is_err());
        exact.clocks.meet(&[0, 1]);
        assert!(exact.access((0, 0), (0, Agent::Thread), 0b1111, InstId(1), false).is_ok());
    }

    #[test]
    fn behind_a_race_all_others_are_found() {
        let mut exact = VectorClockDetector::new(4, 32, false);
        let access = |exact: &mut VectorClockDetector, thread, inst, writes| {
            let found = exact.access_anyway((0, 0), (&[thread], Agent::Thread), 0b1111, InstId(inst), writes);
            found.iter().map(|conflict| conflict.earlier.inst.0).collect::<Vec<_>>()
        };
        assert_eq!(access(&mut exact, 0, 10, false), [0_u32; 0]);
        assert_eq!(access(&mut exact, 1, 10, false), [0_u32; 0]);
        assert_eq!(access(&mut exact, 2, 11, true), [10], "one for each instruction");
        assert_eq!(access(&mut exact, 3, 12, true), [11, 10], "what raced is remembered");
        exact.clocks.meet(&[0, 1, 2, 3]);
        assert_eq!(access(&mut exact, 0, 13, true), [0_u32; 0]);
    }

    #[test]
    fn the_vector_clock_detector_works_by_byte_and_remembers_every_reader() {
        let mut exact = VectorClockDetector::new(3, 32, false);
        let at = |n| InstId(n);
        assert!(exact.access((0, 0), (0, Agent::Thread), 0b0011, at(0), true).is_ok());
        assert!(exact.access((0, 0), (1, Agent::Thread), 0b1100, at(1), true).is_ok());
        exact.clocks.meet(&[0, 1]);
        assert!(exact.access((0, 0), (0, Agent::Thread), 0b1111, at(2), false).is_ok());
        assert!(exact.access((0, 0), (1, Agent::Thread), 0b1111, at(3), false).is_ok());
        exact.clocks.meet(&[1, 2]);
        let conflict = exact.access((0, 0), (2, Agent::Thread), 0b0001, at(4), true).unwrap_err();
        assert_eq!(conflict.earlier.thread, 0);
        assert!(!conflict.earlier_writes);
    }
}
