//! Which accesses come before which others (rule Y2), by vector clocks and by the ends of asynchronous operations.

use super::agent::{Agent, AtomicUpdate};
use super::clock::Clocks;
use crate::base::index::number_of;
use crate::program::InstId;
use crate::value::guard::Guard;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An access that the vector-clock detector remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// The thread; if any of several lanes may make the access, the first of them.
    pub(crate) thread: u32,
    pub(crate) stamp: u32,
    /// The agent that made it.
    pub(crate) agent: Agent,
    /// The mask of the cell's 4 bytes.
    pub(crate) bytes: u8,
    /// The item of work for which it is made; 0 where there are none (rule Y18).
    pub(crate) item: u16,
    pub(crate) inst: InstId,
    /// Where it happens: for all inputs, or under a condition.
    pub(crate) guard: Guard,
    /// The number of accesses recorded before it.
    pub(super) sequence: u32,
}

impl Access {
    /// The verb for the access in messages.
    pub(crate) fn verb(&self, writes: bool) -> String {
        if let Some(AtomicUpdate { update, .. }) = self.agent.atomic_update() {
            return format!("atomically updates (`{update}`)");
        }
        match self.agent {
            Agent::Barrier => "uses the barrier at".into(),
            Agent::Maker => "initialises or invalidates the barrier at".into(),
            Agent::Setter { .. } => "sets".into(),
            Agent::Waiter { .. } => "waits for".into(),
            Agent::Thread | Agent::AnyOf { .. } | Agent::Atomic { .. } | Agent::Copy { .. } if writes => {
                "writes".into()
            }
            Agent::Thread | Agent::AnyOf { .. } | Agent::Atomic { .. } | Agent::Copy { .. } => "reads".into(),
        }
    }
}

/// The ends of an asynchronous operation, as pairs of agent and stamp: a thread that knows one of these agents up to
/// that stamp knows that the operation is over. The agent is the thread that waited for it, or the mbarrier with the
/// phase on which it completes.
pub(super) type CopyEnds = SmallVec<[(u32, u32); 1]>;

/// Operations that complete in the order in which they are started (rule Y14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pipeline {
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
pub(crate) struct Copied {
    pub(crate) ends: CopyEnds,
    /// Whether it is an operation on tensor memory.
    pub(crate) is_of_tensor_memory: bool,
    pub(crate) pipeline: Option<Pipeline>,
}

/// Threads of which one performs an operation, unspecified which, with their stamps at that time.
type Candidates = Box<[(u32, u32)]>;

/// The operations that an unspecified lane performs.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    /// For each operation, the index of its candidates. Operations of a warp between which it releases nothing share
    /// them.
    of: Vec<u32>,
    candidates: Vec<Candidates>,
    /// By the first candidate, the index of those of its last operation.
    last: FxHashMap<u32, u32>,
    /// Candidates of the last operation: what these all know is what all candidates know.
    representatives: SmallVec<[u32; 2]>,
}

impl Operations {
    /// Returns the number of a new operation that one of `threads` performs.
    pub(crate) fn begin(&mut self, clocks: &Clocks, threads: &[usize]) -> u32 {
        let candidates: SmallVec<[(u32, u32); 32]> =
            threads.iter().map(|thread| (number_of(*thread), clocks.now(*thread))).collect();
        let first = candidates.first().map_or(0, |(thread, _)| *thread);
        let last = self.last.get(&first).copied();
        let last = last.filter(|last| self.candidates[*last as usize][..] == candidates[..]);
        let place = last.unwrap_or_else(|| {
            self.candidates.push(candidates.to_vec().into());
            number_of(self.candidates.len() - 1)
        });
        self.last.insert(first, place);
        self.of.push(place);
        let chosen = clocks.representatives(threads);
        self.representatives = chosen.into_iter().map(|place| number_of(threads[place])).collect();
        number_of(self.of.len() - 1)
    }

    /// The threads for which an access must be checked that a thread makes now, or one of an operation's candidates.
    #[inline]
    pub(super) fn performers(&self, thread: u32, agent: Agent) -> SmallVec<[u32; 2]> {
        match agent.operation() {
            None => SmallVec::from_slice(&[thread]),
            Some(operation) if operation as usize + 1 == self.of.len() => self.representatives.clone(),
            Some(operation) => self.candidates_of(operation).iter().map(|(thread, _)| *thread).collect(),
        }
    }

    fn candidates_of(&self, operation: u32) -> &[(u32, u32)] {
        &self.candidates[self.of[operation as usize] as usize]
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        let candidates: usize = self.candidates.iter().map(|threads| size_of_val(&threads[..]) + 16).sum();
        (self.of.len() * 4 + candidates) as u64
    }
}

/// What decides which accesses come before which others.
#[derive(Clone, Copy)]
pub(crate) struct Order<'d> {
    pub(crate) clocks: &'d Clocks,
    pub(crate) copies: &'d [Copied],
    pub(crate) operations: &'d Operations,
}

impl Order<'_> {
    /// The first thread, with its stamp, for which the test holds, of those that may have made an access.
    #[inline]
    pub(crate) fn find(self, access: &Access, test: impl Fn(u32, u32) -> bool) -> Option<(u32, u32)> {
        match access.agent.operation() {
            None => test(access.thread, access.stamp).then_some((access.thread, access.stamp)),
            Some(operation) => self
                .operations
                .candidates_of(operation)
                .iter()
                .find(|(thread, stamp)| test(*thread, *stamp))
                .copied(),
        }
    }

    /// Whether the test holds for all threads that may have made an access.
    #[inline]
    pub(crate) fn all(self, access: &Access, test: impl Fn(u32, u32) -> bool) -> bool {
        self.find(access, |thread, stamp| !test(thread, stamp)).is_none()
    }

    /// Whether one thread may have made both accesses.
    pub(super) fn may_be_of_one_thread(self, one: &Access, other: &Access) -> bool {
        self.find(one, |thread, _| self.find(other, |other, _| other == thread).is_some()).is_some()
    }

    pub(crate) fn knows(self, thread: u32, agent: u32, stamp: u32) -> bool {
        self.clocks.knows(thread as usize, agent as usize) >= stamp
    }

    /// Whether what a thread did up to a stamp is ordered before an access that `later` makes or starts now.
    pub(crate) fn is_known(self, (thread, stamp): (u32, u32), later: u32) -> bool {
        thread == later || self.knows(later, thread, stamp)
    }

    /// Whether an earlier access is ordered before one that the thread of `later` makes or starts now.
    #[inline]
    pub(crate) fn is_before(self, earlier: &Access, later: &Access) -> bool {
        if earlier.item != later.item {
            return false;
        }
        match earlier.agent {
            Agent::Thread
            | Agent::Atomic { .. }
            | Agent::AnyOf { .. }
            | Agent::Maker
            | Agent::Barrier
            | Agent::Setter { .. }
            | Agent::Waiter { .. } => {
                self.all(earlier, |thread, stamp| self.is_known((thread, stamp), later.thread))
            }
            // A copy is before nothing until a thread has waited for it.
            Agent::Copy { number, .. } => {
                let copy = &self.copies[number as usize];
                let is_over = |(agent, stamp): &(u32, u32)| {
                    self.knows(later.thread, *agent, *stamp) || self.is_fenced((*agent, *stamp), later)
                };
                let is_started =
                    earlier.thread == later.thread || self.is_fenced((earlier.thread, earlier.stamp), later);
                copy.ends.iter().any(is_over)
                    || is_started
                        && copy.pipeline.is_some_and(|pipeline| self.is_done_before(pipeline, later))
            }
        }
    }

    /// Whether an earlier access is ordered before the later one by one of the threads that may make the later one,
    /// whichever thread made the earlier one. Everything that is ordered after the later access, whichever of `by` makes
    /// it, is then ordered after the earlier one.
    pub(super) fn is_before_some(self, earlier: &Access, later: &Access, by: &[u32]) -> bool {
        if later.agent.operation().is_none() || matches!(earlier.agent, Agent::Copy { .. }) {
            return by.iter().any(|thread| self.is_before(earlier, &Access { thread: *thread, ..*later }));
        }
        if earlier.item != later.item {
            return false;
        }
        let is_candidate = |thread| self.find(later, |candidate, _| candidate == thread).is_some();
        self.all(earlier, |thread, stamp| {
            by.iter().any(|later| self.is_known((thread, stamp), *later)) || is_candidate(thread)
        })
    }

    /// Whether all bytes that an earlier write and a later access have in common have been read in between. The end of
    /// an asynchronous operation orders that operation alone, but the writes that it has read come before it. A wait for
    /// a flag may come before the write, or order nothing although it has found the flag.
    pub(super) fn is_read_between<'r>(
        self,
        earlier: &Access,
        reads: impl Iterator<Item = &'r Access>,
        later: &Access,
    ) -> bool {
        let mut rest = earlier.bytes & later.bytes;
        for read in reads {
            let happens = read.guard == Guard::ALWAYS;
            let reads_some = happens && rest & read.bytes != 0 && !matches!(read.agent, Agent::Waiter { .. });
            if reads_some && earlier.sequence < read.sequence && self.is_before(read, later) {
                rest &= !read.bytes;
                if rest == 0 {
                    return true;
                }
            }
        }
        false
    }

    /// Whether fences order the actions of an agent up to a stamp before an operation on tensor memory.
    fn is_fenced(self, (agent, stamp): (u32, u32), later: &Access) -> bool {
        let Agent::Copy { number, proxy: None, .. } = later.agent else { return false };
        self.copies[number as usize].is_of_tensor_memory
            && self.clocks.ordered(later.thread as usize, agent as usize) >= stamp
    }

    /// Whether an operation of a pipeline is complete before a later operation begins.
    fn is_done_before(self, pipeline: Pipeline, later: &Access) -> bool {
        let Agent::Copy { number, .. } = later.agent else { return false };
        self.copies[number as usize].pipeline.is_some_and(|later| pipeline.is_before(later))
    }
}
