//! Data races by happens-before (rules Y1, Y2).
//!
//! There are two detectors. The *epoch* detector ([`super::epoch`]) models barriers at which every thread of the CTA
//! waits, and whole-warp synchronisation. It takes 24 bytes for 4 bytes of memory (for each byte, where threads share a
//! cell: [`super::shadow`]). The *vector-clock* detector keeps a clock for every thread, and every access that later ones
//! may race with, by byte. A CTA runs with the epoch detector first. After an alarm, or at synchronisation that epochs do
//! not model, it runs again with vector clocks, and that result is final.
//!
//! Atomics (rule Y7) are writes that do not race with atomics of the same operation. At an atomic, no detector may
//! forget earlier accesses that are ordered before it: the next atomic, which may be ordered after neither, races with
//! those alone.

use super::agent::Agent;
use super::clock::Clocks;
use super::history::{Histories, History};
use super::order::{Access, Copied, CopyEnds, Operations, Order, Pipeline};
use crate::base::index::number_of;
use crate::base::lane::Lane;
use crate::program::{InstId, Scope};
use crate::value::guard::{Guard, Guards};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::ops::Range;

/// Two accesses that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) earlier: Access,
    pub(crate) earlier_writes: bool,
    pub(crate) later: Access,
    pub(crate) later_writes: bool,
    /// They are ordered in time, but no proxy fence makes the first visible to the second.
    pub(crate) lacks_fence: bool,
}

impl Conflict {
    /// Whether both are writes that are not atomic.
    pub(crate) fn is_of_writes(&self) -> bool {
        let is_atomic = |access: &Access| access.agent.atomic_update().is_some();
        self.earlier_writes && self.later_writes && ![self.earlier, self.later].iter().any(is_atomic)
    }

    /// Whether both are stores by one instruction of one warp.
    pub(crate) fn is_of_one_store(&self) -> bool {
        let (earlier, later) = (&self.earlier, &self.later);
        self.is_of_writes() && earlier.inst == later.inst && earlier.thread / 32 == later.thread / 32
    }

    /// Whether both are atomics of one location that do not commute, which is a fault but no race.
    pub(crate) fn is_of_operations(&self) -> bool {
        match (self.earlier.agent.atomic_update(), self.later.agent.atomic_update()) {
            (Some(one), Some(other)) => one.differs(other),
            (None, _) | (_, None) => false,
        }
    }
}

/// The condition under which an access is made.
#[derive(Clone, Copy)]
pub(crate) struct Under<'g> {
    pub(crate) guard: Guard,
    /// The meaning of guards, where there are any.
    pub(crate) guards: Option<&'g Guards>,
    /// Of a store by one of several lanes that store the same value together, wherever they do: the number of the first
    /// access that one of them may have recorded. Nothing else has been recorded since.
    pub(crate) alike: Option<u32>,
}

impl Under<'_> {
    /// For all inputs.
    pub(crate) const ALWAYS: Under<'static> = Under { guard: Guard::ALWAYS, guards: None, alike: None };

    /// Whether an earlier access is a store of the same value, together with this one (rule Y1).
    fn are_alike(self, earlier: &Access) -> bool {
        // Accesses are counted up to the largest number.
        self.alike.is_some_and(|first| first < u32::MAX && earlier.sequence >= first)
    }

    /// Whether an earlier access is not made by any input by which this one is made.
    fn excludes(self, earlier: &Access) -> bool {
        earlier.guard != Guard::ALWAYS
            && self.guard != Guard::ALWAYS
            && self.guards.is_some_and(|guards| guards.exclude(earlier.guard, self.guard))
    }
}

impl Guards {
    /// The condition of an access that a lane makes.
    pub(crate) fn under(&self, lane: Lane) -> Under<'_> {
        Under { guard: self.of(lane), guards: Some(self), alike: self.alike }
    }
}

/// Items of work (rule Y18). Nothing orders what is done for different ones, whoever does it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    /// The item of each thread; 0 before its first one.
    pub(crate) of_thread: Vec<u16>,
    /// The objects of which those that take items have one each, with the place of its first cell in them.
    pub(crate) private: FxHashMap<u32, u64>,
    /// For each thread, up to which stamp all others knew it when the first item was taken.
    pub(crate) known: Vec<u32>,
    /// Likewise, all others of its block, which alone access its shared memory: these objects.
    pub(crate) known_in_block: Vec<u32>,
    pub(crate) shared: FxHashSet<u32>,
    /// The thread that took the last item, another one that it is yet to meet, and what it knew of that one.
    pub(crate) last: Option<(u32, u32, u32)>,
    /// Private cells that are read and written for an item until all of a CTA have met.
    heads: [FxHashSet<u64>; 2],
    /// Those that were read and written for the item before, and may be until then.
    tails: [FxHashSet<u64>; 2],
}

impl Items {
    /// Before the first item of so many threads.
    pub(crate) fn new(threads: usize, private: FxHashMap<u32, u64>, known: Vec<u32>) -> Items {
        Items { of_thread: vec![0; threads], private, known, ..Items::default() }
    }

    /// Whether an access to an object that precedes the first item is ordered before all of them.
    fn is_before_all(&self, object: u32, access: &Access) -> bool {
        let is_plain = !matches!(access.agent, Agent::Copy { .. } | Agent::AnyOf { .. });
        let known = if self.shared.contains(&object) { &self.known_in_block } else { &self.known };
        is_plain
            && access.item == 0
            && known.get(access.thread as usize).is_some_and(|known| *known >= access.stamp)
    }

    /// Notes an access of the thread that took the last item, if it may not have met the others since.
    fn note(&mut self, clocks: &Clocks, (object, cell): (u32, u64), by: &[u32], writes: bool) {
        if let (Some((taker, other, known)), Some(first)) = (self.last, self.private.get(&object))
            && by.contains(&taker)
            && clocks.knows(taker as usize, other as usize) == known
        {
            self.heads[usize::from(writes)].insert(first + cell);
        }
    }

    /// Whether what is done for some item may meet what is done for one before, if other items follow one another.
    pub(crate) fn overlap(&self) -> bool {
        let [head_reads, head_writes] = &self.heads;
        let [tail_reads, tail_writes] = &self.tails;
        let meets_write = |cell: &u64| head_reads.contains(cell) || head_writes.contains(cell);
        tail_writes.iter().any(meets_write) || tail_reads.iter().any(|cell| head_writes.contains(cell))
    }
}

/// The vector-clock detector.
#[derive(Debug)]
pub(crate) struct VectorClockDetector {
    pub(crate) clocks: Clocks,
    cells: Histories,
    entries: u64,
    copies: Vec<Copied>,
    /// By the number of a warp's part of a warpgroup product: the ends of other warps' waits for the same product.
    parts: FxHashMap<u32, CopyEnds>,
    /// For changes of flags, by thread and stamp: a thread that knows this agent up to this stamp has found that change,
    /// or a later one.
    changes: FxHashMap<(u32, u32), (u32, u32)>,
    /// Whether accesses are ordered by these alone.
    pub(crate) relied_on_parts: Cell<bool>,
    /// The same for draws of tickets from counters (rule Y18).
    draws: FxHashMap<(u32, u32), (u32, u32)>,
    /// Whether lanes have stored the same value to one place together.
    pub(crate) met_alike: Cell<bool>,
    operations: Operations,
    /// Where threads take items from a queue.
    pub(crate) items: Option<Box<Items>>,
    recorded: u32,
    /// The number of thread numbers of a CTA.
    of_cta: u32,
    /// Whether reads need a proxy fence before the async proxy writes.
    strict_proxies: bool,
    /// The instruction of an asynchronous write without such a fence.
    pub(crate) unfenced: Option<InstId>,
    /// Whether the CTAs that run together are a cooperative grid. The scope `.cluster` is then `.cta`.
    pub(crate) is_of_grid: bool,
}

impl VectorClockDetector {
    /// A detector for `threads` threads; each CTA has `of_cta` of them.
    pub(crate) fn new(threads: usize, of_cta: usize, strict_proxies: bool) -> VectorClockDetector {
        VectorClockDetector {
            of_cta: number_of(of_cta),
            clocks: Clocks::new(threads),
            cells: Histories::default(),
            entries: 0,
            copies: Vec::new(),
            parts: FxHashMap::default(),
            changes: FxHashMap::default(),
            draws: FxHashMap::default(),
            relied_on_parts: Cell::new(false),
            met_alike: Cell::new(false),
            operations: Operations::default(),
            items: None,
            recorded: 0,
            strict_proxies,
            unfenced: None,
            is_of_grid: false,
        }
    }

    /// Returns the number of a new asynchronous copy.
    pub(crate) fn begin_copy(&mut self) -> u32 {
        self.copies.push(Copied::default());
        number_of(self.copies.len() - 1)
    }

    /// Returns the number of a new operation on tensor memory.
    pub(crate) fn begin_on_tensor_memory(&mut self, pipeline: Option<Pipeline>) -> u32 {
        self.copies.push(Copied { pipeline, is_of_tensor_memory: true, ..Copied::default() });
        number_of(self.copies.len() - 1)
    }

    /// `thread` has waited for a copy that it started.
    pub(crate) fn end_copy(&mut self, copy: u32, thread: u32) {
        self.end_copy_at(copy, thread, self.clocks.now(thread as usize));
    }

    /// A thread that knows `agent` up to `stamp` knows that a copy is over.
    pub(crate) fn end_copy_at(&mut self, copy: u32, agent: u32, stamp: u32) {
        self.copies[copy as usize].ends.push((agent, stamp));
    }

    /// `thread` has waited for a product of its warpgroup; `part` is the part of another warp.
    pub(crate) fn end_part(&mut self, part: u32, thread: u32) {
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
    pub(crate) fn note_change(&mut self, (thread, stamp): (u32, u32), found_by: (u32, u32)) {
        self.changes.insert((thread, stamp), found_by);
    }

    /// Records that a thread has drawn a ticket: a thread that knows the agent up to the stamp comes after that.
    pub(crate) fn note_draw(&mut self, (thread, stamp): (u32, u32), found_by: (u32, u32)) {
        self.draws.insert((thread, stamp), found_by);
    }

    /// Whether the thread of an access has found what an earlier draw of a ticket left, or is ordered after one that has
    /// (rule Y18): causality order includes what was observed.
    fn is_drawn(&self, earlier: &Access, later: &Access) -> bool {
        later.agent.is_generic()
            && matches!(earlier.agent, Agent::Atomic { .. })
            && self.draws.get(&(earlier.thread, earlier.stamp)).is_some_and(|(agent, stamp)| {
                self.clocks.knows(later.thread as usize, *agent as usize) >= *stamp
            })
    }

    /// Whether an access that a thread makes now comes after all writes of a cell so far, which it sees.
    pub(crate) fn is_after_all(&self, place: (u32, u64), thread: u32, inst: InstId) -> bool {
        let Some(history) = self.cells.get(place) else { return true };
        let later = self.access_now((Guard::ALWAYS, place.0), (thread, Agent::Thread), 0xf, inst);
        let conflict = |earlier| self.conflict(place.0, &history.reads, (earlier, true), (&later, false));
        history.writes.iter().all(|earlier| conflict(earlier).is_none())
    }

    /// Notes the accesses to some private cells after which a thread, which takes an item, is not ordered.
    pub(crate) fn note_tails(&mut self, thread: u32, object: u32, cells: Range<u64>) {
        for cell in cells {
            let Some(history) = self.cells.get((object, cell)) else { continue };
            let now = self.access_now((Guard::ALWAYS, object), (thread, Agent::Thread), 0xf, InstId::FIRST);
            let order = self.order();
            let loose = [&history.reads, &history.writes]
                .map(|accesses| accesses.iter().any(|earlier| !order.is_before(earlier, &now)));
            let Some(items) = &mut self.items else { return };
            let Some(first) = items.private.get(&object) else { return };
            for (tails, _) in items.tails.iter_mut().zip(loose).filter(|(_, loose)| *loose) {
                tails.insert(first + cell);
            }
        }
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
    pub(crate) fn is_awaited(&self, copy: u32, by: &Range<usize>) -> bool {
        let ends = &self.copies[copy as usize].ends;
        let is_past =
            |agent: u32, stamp| by.clone().any(|thread| self.clocks.is_past(thread, agent as usize, stamp));
        ends.iter().any(|(agent, stamp)| is_past(*agent, *stamp))
    }

    /// Returns the number of a new operation that one of `threads` performs, unspecified which.
    pub(crate) fn begin_operation(&mut self, threads: &[usize]) -> u32 {
        self.operations.begin(&self.clocks, threads)
    }

    fn order(&self) -> Order<'_> {
        Order { clocks: &self.clocks, copies: &self.copies, operations: &self.operations }
    }

    /// Bytes of race state.
    pub(crate) fn bytes(&self) -> u64 {
        self.entries * size_of::<Access>() as u64
            + self.cells.bytes()
            + self.copies.len() as u64 * size_of::<Copied>() as u64
            // An estimate for the waits by the lanes of three warps.
            + self.parts.len() as u64 * 1024
            + (self.changes.len() + self.draws.len()) as u64 * 20
            + self.operations.bytes()
    }

    /// The writes and reads of a cell that later accesses may still race with.
    pub(crate) fn history(&self, object: u32, cell: u64) -> (&[Access], &[Access]) {
        match self.cells.get((object, cell)) {
            Some(history) => (&history.writes, &history.reads),
            None => (&[], &[]),
        }
    }

    /// Checks whether an access that a thread makes now races with an earlier one.
    fn check(
        &self,
        under: Under<'_>,
        (object, history): (u32, &History),
        later: &Access,
        writes: bool,
    ) -> Result<(), Conflict> {
        let conflict = |earlier: &Access, earlier_writes| {
            if under.excludes(earlier) {
                return None;
            }
            let conflict =
                self.conflict(object, &history.reads, (earlier, earlier_writes), (later, writes))?;
            let are_alike = under.are_alike(earlier);
            self.met_alike.set(self.met_alike.get() | are_alike);
            (!are_alike).then_some(conflict)
        };
        let with_write = history.writes.iter().find_map(|earlier| conflict(earlier, true));
        let reads = || history.reads_for(later.thread).iter();
        let with_read = || reads().find_map(|earlier| conflict(earlier, false));
        with_write.or_else(|| if writes { with_read() } else { None }).map_or(Ok(()), Err)
    }

    /// The number of the next access that is recorded.
    pub(crate) fn next(&self) -> u32 {
        self.recorded
    }

    /// The access to an object that a thread makes now.
    fn access_now(
        &self,
        (guard, object): (Guard, u32),
        (thread, agent): (u32, Agent),
        bytes: u8,
        inst: InstId,
    ) -> Access {
        let stamp = self.clocks.now(thread as usize);
        let item = match &self.items {
            Some(items) if !items.private.contains_key(&object) => items.of_thread[thread as usize],
            Some(_) | None => 0,
        };
        Access { thread, stamp, agent, bytes, item, inst, guard, sequence: self.recorded }
    }

    /// Records an access to `bytes` of a cell of an object; returns an error if it races with an earlier one. If any of
    /// several lanes may make the access, it is checked for each.
    pub(crate) fn access(
        &mut self,
        under: Under<'_>,
        place: (u32, u64),
        (thread, agent): (u32, Agent),
        bytes: u8,
        inst: InstId,
        writes: bool,
    ) -> Result<(), Conflict> {
        let by = self.operations.performers(thread, agent);
        if let Some(history) = self.cells.get(place) {
            for thread in &by {
                let access = self.access_now((under.guard, place.0), (*thread, agent), bytes, inst);
                self.check(under, (place.0, history), &access, writes)?;
                if writes && !agent.is_generic() && self.unfenced.is_none() {
                    let mut reads = history.reads_for(*thread).iter();
                    self.unfenced = reads.any(|earlier| !self.is_visible(earlier, &access)).then_some(inst);
                }
            }
        }
        if let Some(items) = &mut self.items {
            items.note(&self.clocks, place, &by, writes);
        }
        let access = self.access_now((under.guard, place.0), (thread, agent), bytes, inst);
        self.record(place, access, &by, writes);
        Ok(())
    }

    /// As [`VectorClockDetector::access`], but records the access in any case, and returns a race with each earlier
    /// instruction that happens for all inputs.
    pub(crate) fn access_anyway(
        &mut self,
        under: Under<'_>,
        place: (u32, u64),
        (thread, agent): (u32, Agent),
        bytes: u8,
        inst: InstId,
        writes: bool,
    ) -> Vec<Conflict> {
        let guard = under.guard;
        let mut conflicts: Vec<Conflict> = Vec::new();
        let by = self.operations.performers(thread, agent);
        let object = place.0;
        if let Some(history) = self.cells.get(place) {
            for thread in &by {
                let later = self.access_now((guard, place.0), (*thread, agent), bytes, inst);
                let reads = if writes { &history.reads[..] } else { &[] };
                let earlier = history.writes.iter().map(|access| (access, true));
                for (earlier, earlier_writes) in earlier.chain(reads.iter().map(|access| (access, false))) {
                    let happen = [earlier.guard, guard] == [Guard::ALWAYS; 2] && !under.are_alike(earlier);
                    if happen && conflicts.iter().all(|known| known.earlier.inst != earlier.inst) {
                        let earlier = (earlier, earlier_writes);
                        conflicts.extend(self.conflict(object, &history.reads, earlier, (&later, writes)));
                    }
                }
            }
        }
        let access = self.access_now((guard, place.0), (thread, agent), bytes, inst);
        self.record(place, access, &by, writes);
        conflicts
    }

    /// The fault of two accesses to one cell, at least one of them a write: nothing orders them, or they are ordered
    /// and an asynchronous operation need not see the earlier one (rule Y10).
    fn conflict(
        &self,
        object: u32,
        reads: &[Access],
        (earlier, earlier_writes): (&Access, bool),
        (later, later_writes): (&Access, bool),
    ) -> Option<Conflict> {
        if earlier.bytes & later.bytes == 0 || self.goes_with(earlier, later) {
            return None;
        }
        let order = self.order();
        let precedes_items = || self.items.as_ref().is_some_and(|items| items.is_before_all(object, earlier));
        let is_ordered = order.is_before(earlier, later)
            || precedes_items()
            || self.is_made_before(earlier, later)
            || self.is_found(earlier, later)
            || self.is_drawn(earlier, later)
            || self.is_over_as_a_whole(earlier, later);
        if is_ordered && (self.is_visible(earlier, later) || !earlier_writes && !self.strict_proxies) {
            return None;
        }
        // A write that another thread has read is visible to every later write, by whichever proxy.
        let counts = |read: &&Access| {
            !is_ordered || !self.strict_proxies && !order.may_be_of_one_thread(read, earlier)
        };
        let reads = reads.iter().filter(counts);
        if earlier_writes && later_writes && order.is_read_between(earlier, reads, later) {
            return None;
        }
        // Of several lanes, one that is not ordered before the later access is named.
        let is_apart = |thread, stamp| !is_ordered && !order.is_known((thread, stamp), later.thread);
        let (thread, stamp) = order.find(earlier, is_apart).unwrap_or((earlier.thread, earlier.stamp));
        let (earlier, later) = (Access { thread, stamp, ..*earlier }, *later);
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
            | Agent::Waiter { .. } => self.order().all(earlier, |thread, stamp| published(thread) >= stamp),
        }
    }

    /// Records an access that one of some threads makes, and forgets those that it covers.
    fn record(&mut self, place: (u32, u64), access: Access, by: &[u32], writes: bool) {
        let Access { agent, bytes, .. } = access;
        self.recorded = self.recorded.saturating_add(1);
        let order = Order { clocks: &self.clocks, copies: &self.copies, operations: &self.operations };
        let history = self.cells.get_mut(place);
        let before = history.writes.len() + history.reads.len();
        // An earlier access that is ordered before this one, at bytes that this one covers, may be forgotten:
        // everything that races with it races with this access as well, or is ordered before it. This does not hold for
        // an atomic access, which does not race with atomics of its kind; nor for one that may not happen.
        let is_atomic = agent.scope().is_some() || agent == Agent::Barrier;
        let covered = |earlier: &Access| {
            earlier.bytes & !bytes == 0
                && (!is_atomic || earlier.agent == agent)
                && (access.guard == Guard::ALWAYS || access.guard == earlier.guard)
                && order.is_before_some(earlier, &access, by)
        };
        if writes {
            // This comes before reads are forgotten, which may have observed an earlier write.
            let reads = &history.reads;
            history.writes.retain(|earlier| {
                let is_covered = earlier.bytes & !bytes == 0 && !is_atomic && access.guard == Guard::ALWAYS;
                !(covered(earlier) || is_covered && order.is_read_between(earlier, reads.iter(), &access))
            });
        }
        // The end of an operation of the async proxy releases that operation alone, and not the earlier reads.
        let is_async = !agent.is_generic();
        let is_same_read = |earlier: &Access| {
            Access { sequence: access.sequence, ..*earlier } == access
                && history.writes.iter().all(|write| write.sequence < earlier.sequence)
        };
        if !writes && !is_async && history.reads.last().is_some_and(is_same_read) {
            return;
        }
        if !is_async && (writes || agent.operation().is_some() || history.is_full()) {
            history.reads.retain(|earlier| !covered(earlier));
            history.over = (0, 0);
            history.kept = history.reads.len();
        }
        // One operation may be checked for several threads, and may access a cell more than once.
        let is_recorded = |earlier: &Access| earlier.bytes == bytes && earlier.agent.is_same_operation(agent);
        let of_reads = !writes && (is_async || agent.operation().is_some());
        if of_reads && history.reads.last().is_some_and(is_recorded) {
            return;
        }
        if writes {
            history.writes.push(access);
            if is_async {
                let known = history.reads.len() - history.reads_for(access.thread).len();
                // For reads by the async proxy, only their end matters: no fence is needed after them.
                let is_over = |read: &&Access| match read.agent {
                    Agent::Copy { number, proxy: Some(_), .. } => {
                        let ends = &order.copies[number as usize].ends;
                        ends.iter().any(|(agent, stamp)| order.knows(access.thread, *agent, *stamp))
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

/// The race detector in use.
#[derive(Debug)]
pub(crate) enum Detector {
    /// By epochs; this is the current one. The shadows of memory lie in [`crate::machine::memory::contents::Memory`].
    Epoch(u32),
    /// By vector clocks.
    VectorClock(Box<VectorClockDetector>),
}

/// What is asked takes vector clocks, and the run has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooCoarse;

impl Detector {
    /// The vector clocks.
    pub(crate) fn exact(&self) -> Result<&VectorClockDetector, TooCoarse> {
        if let Detector::VectorClock(exact) = self { Ok(exact) } else { Err(TooCoarse) }
    }

    /// The vector clocks, to be changed.
    pub(crate) fn exact_mut(&mut self) -> Result<&mut VectorClockDetector, TooCoarse> {
        if let Detector::VectorClock(exact) = self { Ok(exact) } else { Err(TooCoarse) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::lane::LaneMask;
    use crate::concurrency::clock::{AsyncSpace, Joined};
    use proptest::prelude::*;

    fn lanes_01(exact: &mut VectorClockDetector) -> Agent {
        Agent::AnyOf { operation: exact.begin_operation(&[0, 1]), lanes: LaneMask::from_bits(0b11) }
    }

    #[test]
    fn a_copy_races_until_it_is_waited_for() {
        let mut exact = VectorClockDetector::new(2, 32, false);
        let access = |exact: &mut VectorClockDetector, thread, agent, writes| {
            exact.access(Under::ALWAYS, (0, 0), (thread, agent), 0b1111, InstId(0), writes).is_ok()
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
    fn items_of_one_thread_are_not_ordered() {
        let mut exact = VectorClockDetector::new(2, 32, false);
        exact.items = Some(Box::new(Items::new(2, FxHashMap::from_iter([(1, 0)]), Vec::new())));
        let take = |exact: &mut VectorClockDetector, item| {
            exact.items.as_mut().into_iter().for_each(|items| items.of_thread = vec![item; 2]);
        };
        let store = |exact: &mut VectorClockDetector, object| {
            let place = (object, 0);
            exact.access(Under::ALWAYS, place, (0, Agent::Thread), 0b1111, InstId(0), true).is_ok()
        };
        assert!(store(&mut exact, 0) && store(&mut exact, 1), "before the first item");
        take(&mut exact, 1);
        assert!(store(&mut exact, 1), "each that takes items has one of these objects");
        assert!(!store(&mut exact, 0), "another one may have written before its first item");
        assert!(store(&mut exact, 2) && store(&mut exact, 2), "of one item");
        take(&mut exact, 2);
        assert!(!store(&mut exact, 2), "of two items");
    }

    #[test]
    fn items_that_may_follow_one_another_are_told() {
        let mut items = Items::new(2, FxHashMap::from_iter([(3, 10)]), Vec::new());
        let mut clocks = Clocks::new(2);
        items.last = Some((0, 1, clocks.knows(0, 1)));
        items.note(&clocks, (3, 1), &[0], true);
        items.tails[0].insert(12);
        assert!(!items.overlap(), "the one is at another place");
        items.note(&clocks, (3, 2), &[1], true);
        items.note(&clocks, (4, 2), &[0], true);
        items.note(&clocks, (3, 2), &[0], false);
        assert!(!items.overlap(), "of another thread, at another object, and a read of what was read");
        clocks.meet(&[0, 1]);
        items.note(&clocks, (3, 2), &[0], true);
        assert!(!items.overlap(), "after all have met");
        items.tails[0].insert(11);
        assert!(items.overlap());
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
            assert!(exact.access(Under::ALWAYS, (0, 0), (0, agent(first)), 0b1111, InstId(0), true).is_ok());
            if fences {
                exact.clocks.fence_before(0);
            }
            exact.clocks.meet(&[0, 1]);
            if fences {
                exact.clocks.fence_after(1);
            }
            let second = exact.begin_on_tensor_memory(later);
            let access =
                exact.access(Under::ALWAYS, (0, 0), (thread, agent(second)), 0b1111, InstId(1), true);
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
            assert!(exact.access(Under::ALWAYS, (0, 0), (0, Agent::Thread), 0b1111, InstId(0), true).is_ok());
            let copy = exact.begin_copy();
            if reads {
                let reader = Agent::Copy { number: copy, proxy: None, update: None };
                assert!(exact.access(Under::ALWAYS, (0, 0), (0, reader), 0b1111, InstId(1), false).is_ok());
            }
            exact.end_copy_at(copy, agent, 1);
            let mut joined = Joined::default();
            joined.set(agent as usize, 1);
            exact.clocks.learn(1, &mut joined);
            let access =
                exact.access(Under::ALWAYS, (0, 0), (1, Agent::Thread), 0b1111, InstId(2), writes_again);
            assert_eq!(access.is_ok(), is_ordered);
        }
    }

    #[test]
    fn what_another_thread_has_read_needs_no_fence_to_be_overwritten() {
        for (reader, strict, is_ordered) in
            [(Some(1), false, true), (Some(0), false, false), (None, false, false), (Some(1), true, false)]
        {
            let mut exact = VectorClockDetector::new(2, 32, strict);
            assert!(exact.access(Under::ALWAYS, (0, 0), (0, Agent::Thread), 0b1111, InstId(0), true).is_ok());
            exact.clocks.meet(&[0, 1]);
            if let Some(reader) = reader {
                assert!(
                    exact
                        .access(Under::ALWAYS, (0, 0), (reader, Agent::Thread), 0b1111, InstId(1), false)
                        .is_ok()
                );
            }
            exact.clocks.meet(&[0, 1]);
            let number = exact.begin_copy();
            let writer = Agent::Copy { number, proxy: Some(AsyncSpace::Shared(0)), update: None };
            let access = exact.access(Under::ALWAYS, (0, 0), (0, writer), 0b1111, InstId(2), true);
            assert_eq!(access.is_ok(), is_ordered, "{reader:?}");
            assert_eq!(exact.unfenced.is_some(), is_ordered, "and it is listed");
        }
    }

    #[test]
    fn reads_that_one_writer_knows_to_be_over_race_with_another_writer() {
        let mut exact = VectorClockDetector::new(3, 32, false);
        let access = |exact: &mut VectorClockDetector, thread, writes| {
            let number = exact.begin_copy();
            let agent = Agent::Copy { number, proxy: Some(AsyncSpace::Shared(0)), update: None };
            exact
                .access(Under::ALWAYS, (0, 0), (thread, agent), 0b1111, InstId(number), writes)
                .map(|()| number)
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
    fn what_some_lane_accessed_is_ordered_by_the_whole_warp_only() {
        // An earlier access by one lane is ordered for that lane only, whichever it is.
        for first in 0..2 {
            let mut exact = VectorClockDetector::new(3, 32, false);
            assert!(
                exact.access(Under::ALWAYS, (0, 0), (first, Agent::Thread), 0b1111, InstId(0), true).is_ok()
            );
            let agent = lanes_01(&mut exact);
            let conflict =
                exact.access(Under::ALWAYS, (0, 0), (0, agent), 0b1111, InstId(1), true).unwrap_err();
            assert_eq!(conflict.later.thread, 1 - first, "the other lane is named");
        }
        for writes in [false, true] {
            let mut exact = VectorClockDetector::new(3, 32, false);
            let agent = lanes_01(&mut exact);
            for _ in 0..2 {
                assert!(
                    exact.access(Under::ALWAYS, (0, 0), (0, agent), 0b1111, InstId(0), writes).is_ok(),
                    "of one operation"
                );
            }
            let conflict =
                exact.access(Under::ALWAYS, (0, 0), (0, Agent::Thread), 0b1111, InstId(1), true).unwrap_err();
            assert_eq!(conflict.earlier.thread, 1);
            // A thread that knows one of the lanes does not know which of them it was.
            exact.clocks.meet(&[0, 2]);
            let conflict =
                exact.access(Under::ALWAYS, (0, 0), (2, Agent::Thread), 0b1111, InstId(1), true).unwrap_err();
            assert_eq!(conflict.earlier.thread, 1);
            exact.clocks.meet(&[0, 1, 2]);
            assert!(exact.access(Under::ALWAYS, (0, 0), (2, Agent::Thread), 0b1111, InstId(1), true).is_ok());
        }
    }

    #[test]
    fn operations_may_overlap() {
        let mut exact = VectorClockDetector::new(3, 32, false);
        assert!(exact.access(Under::ALWAYS, (0, 0), (2, Agent::Thread), 0b1111, InstId(0), true).is_ok());
        let agent = lanes_01(&mut exact);
        exact.clocks.meet(&[0, 2]);
        exact.begin_operation(&[0, 2]);
        let conflict = exact.access(Under::ALWAYS, (0, 0), (0, agent), 0b1111, InstId(1), false).unwrap_err();
        assert_eq!(conflict.later.thread, 1, "it does not know what thread 2 has written");
    }

    #[test]
    fn operations_of_one_warp_cover_one_another() {
        let mut exact = VectorClockDetector::new(3, 32, false);
        for time in 0..4 {
            let agent = lanes_01(&mut exact);
            assert!(exact.access(Under::ALWAYS, (0, 0), (0, agent), 0b1111, InstId(time), false).is_ok());
            assert_eq!(exact.history(0, 0).1.len(), 1, "whatever races with an earlier one races with this");
            if time == 1 {
                exact.clocks.meet(&[0, 1]);
            }
        }
        // What one of the lanes did before comes before no other lane.
        assert!(exact.access(Under::ALWAYS, (0, 1), (0, Agent::Thread), 0b1111, InstId(5), false).is_ok());
        let agent = lanes_01(&mut exact);
        assert!(exact.access(Under::ALWAYS, (0, 1), (0, agent), 0b1111, InstId(6), false).is_ok());
        exact.clocks.meet(&[0, 2]);
        assert!(exact.access(Under::ALWAYS, (0, 1), (2, Agent::Thread), 0b1111, InstId(7), true).is_err());
    }

    #[test]
    fn behind_a_race_all_others_are_found() {
        let mut exact = VectorClockDetector::new(4, 32, false);
        let access = |exact: &mut VectorClockDetector, thread, inst, writes| {
            let found = exact.access_anyway(
                Under::ALWAYS,
                (0, 0),
                (thread, Agent::Thread),
                0b1111,
                InstId(inst),
                writes,
            );
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
        assert!(exact.access(Under::ALWAYS, (0, 0), (0, Agent::Thread), 0b0011, at(0), true).is_ok());
        assert!(exact.access(Under::ALWAYS, (0, 0), (1, Agent::Thread), 0b1100, at(1), true).is_ok());
        exact.clocks.meet(&[0, 1]);
        assert!(exact.access(Under::ALWAYS, (0, 0), (0, Agent::Thread), 0b1111, at(2), false).is_ok());
        assert!(exact.access(Under::ALWAYS, (0, 0), (1, Agent::Thread), 0b1111, at(3), false).is_ok());
        exact.clocks.meet(&[1, 2]);
        let conflict =
            exact.access(Under::ALWAYS, (0, 0), (2, Agent::Thread), 0b0001, at(4), true).unwrap_err();
        assert_eq!(conflict.earlier.thread, 0);
        assert!(!conflict.earlier_writes);
    }
    /// An access that was made: by which threads perhaps, with their stamps.
    struct Made {
        by: Vec<(u32, u32)>,
        bytes: u8,
        writes: bool,
    }

    #[derive(Clone, Debug)]
    enum Event {
        /// By one thread, or by an unspecified lane of its pair.
        Access {
            thread: u32,
            by_any: bool,
            bytes: u8,
            writes: bool,
        },
        Meet(Vec<usize>),
    }

    fn event() -> impl Strategy<Value = Event> {
        let bytes = prop::sample::select(vec![1u8, 3, 12, 15, 15]);
        prop_oneof![
            4 => (0u32..6, any::<bool>(), bytes, any::<bool>())
                .prop_map(|(thread, by_any, bytes, writes)| Event::Access { thread, by_any, bytes, writes }),
            3 => prop::sample::subsequence(vec![0, 1, 2, 3, 4, 5], 2..=6).prop_map(Event::Meet),
        ]
    }

    proptest! {
        /// What is forgotten makes no difference: against all accesses so far, each by all threads that may make it.
        #[test]
        fn the_detector_agrees_with_one_that_remembers_everything(events in prop::collection::vec(event(), 1..40)) {
            let mut exact = VectorClockDetector::new(6, 32, false);
            let mut all: Vec<Made> = Vec::new();
            for event in events {
                match event {
                    Event::Meet(threads) => exact.clocks.meet(&threads),
                    Event::Access { thread, by_any, bytes, writes } => {
                        let pair = thread & !1;
                        let (threads, agent, thread) = if by_any {
                            let operation = exact.begin_operation(&[pair as usize, pair as usize + 1]);
                            (vec![pair, pair + 1], Agent::AnyOf { operation, lanes: LaneMask::from_bits(0b11) }, pair)
                        } else {
                            (vec![thread], Agent::Thread, thread)
                        };
                        let knows = |later: u32, (earlier, stamp): (u32, u32)| {
                            later == earlier || exact.clocks.knows(later as usize, earlier as usize) >= stamp
                        };
                        let races = all.iter().any(|made| {
                            made.bytes & bytes != 0
                                && (made.writes || writes)
                                && !threads.iter().all(|later| made.by.iter().all(|one| knows(*later, *one)))
                        });
                        let by = threads.iter().map(|one| (*one, exact.clocks.now(*one as usize))).collect();
                        let found = exact.access(Under::ALWAYS, (0, 0), (thread, agent), bytes, InstId(0), writes);
                        prop_assert_eq!(found.is_err(), races);
                        if races {
                            return Ok(());
                        }
                        all.push(Made { by, bytes, writes });
                    }
                }
            }
        }
    }
}
