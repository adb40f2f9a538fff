//! Happens-before by vector clocks, with one entry for every thread that runs together (rule Y2). Threads that have met
//! share one row of knowledge, so that a barrier costs time linear in the number of threads, not quadratic.
//!
//! A thread's own entry counts its releases. An access is stamped with its thread and that thread's entry at the time.
//! It happens before another thread's access if that thread's clock has reached the stamp. Other *agents* have entries
//! as well: that of an mbarrier counts its completed phases (rule Y9).
//!
//! Besides its knowledge, a row holds the part of it that has been *published* to the async proxy, for each state space
//! that this proxy can access (rule Y10); learning from a thread includes learning what has been published. It also
//! holds the *past*: everything that must have happened in time, whether or not its effects on memory are visible. The
//! past determines the phase of a barrier that an operation belongs to. Asynchronous operations on tensor memory have
//! clocks of their own for the order that fences give them, whether or not threads release and acquire anything else
//! (rule Y14).

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Memory that the async proxy accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AsyncSpace {
    /// Shared memory of the CTA with this rank.
    Shared(u32),
    Global,
}

/// Memory in which a proxy fence publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Publishes {
    /// Shared memory of the CTA with this rank.
    SharedOf(u32),
    /// Shared memory of all CTAs that run together.
    Shared,
    Global,
}

/// A stamp for each agent; missing entries are 0.
type Stamps = Vec<u32>;

/// For each agent, the stamp up to which its accesses are visible to the async proxy, by the memory that it accesses.
#[derive(Clone, Debug, Default, PartialEq)]
struct Published {
    shared: Stamps,
    global: Stamps,
    /// In shared memory of one CTA alone, by its rank; empty where no fence was for one alone.
    shared_of: Vec<Stamps>,
}

impl Published {
    fn join(&mut self, other: &Published) {
        join(&mut self.shared, &other.shared);
        join(&mut self.global, &other.global);
        if self.shared_of.len() < other.shared_of.len() {
            self.shared_of.resize(other.shared_of.len(), Stamps::new());
        }
        for (own, other) in self.shared_of.iter_mut().zip(&other.shared_of) {
            join(own, other);
        }
    }

    fn at(&self, agent: usize, space: AsyncSpace) -> u32 {
        match space {
            AsyncSpace::Global => at(&self.global, agent),
            AsyncSpace::Shared(rank) => {
                let of_rank = self.shared_of.get(rank as usize).map_or(0, |stamps| at(stamps, agent));
                at(&self.shared, agent).max(of_rank)
            }
        }
    }

    fn in_memory(&mut self, space: Publishes) -> &mut Stamps {
        match space {
            Publishes::Shared => &mut self.shared,
            Publishes::Global => &mut self.global,
            Publishes::SharedOf(rank) => {
                let rank = rank as usize;
                if self.shared_of.len() <= rank {
                    self.shared_of.resize(rank + 1, Stamps::new());
                }
                &mut self.shared_of[rank]
            }
        }
    }

    fn stamps(&self) -> impl Iterator<Item = &Stamps> {
        [&self.shared, &self.global].into_iter().chain(&self.shared_of)
    }
}

/// A row: the knowledge of a thread, or of several.
#[derive(Clone, Debug, Default, PartialEq)]
struct Knowledge {
    known: Stamps,
    /// No entry is less than that of `known`.
    past: Stamps,
    published: Published,
    /// For each agent, the stamp up to which its initialisations of mbarriers are visible (`fence.mbarrier_init`).
    initialised: Stamps,
    /// For operations on tensor memory: what a `tcgen05.fence::before_thread_sync` precedes. Every synchronisation
    /// passes this on, even a relaxed one.
    fenced: Stamps,
    /// The part of `fenced` that a `tcgen05.fence::after_thread_sync` follows.
    ordered: Stamps,
    /// What precedes a sequentially consistent fence that happens before.
    before_fences: Stamps,
    /// What of others precedes such a fence, where the next one must come later: atomic operations tell.
    behind_fences: Stamps,
}

impl Knowledge {
    fn join(&mut self, other: &Knowledge) {
        join(&mut self.known, &other.known);
        join(&mut self.past, &other.past);
        join(&mut self.initialised, &other.initialised);
        self.published.join(&other.published);
        join(&mut self.fenced, &other.fenced);
        join(&mut self.ordered, &other.ordered);
        join(&mut self.before_fences, &other.before_fences);
        join(&mut self.behind_fences, &other.behind_fences);
    }
}

/// Sets each entry to the maximum of both.
fn join(own: &mut Stamps, other: &[u32]) {
    if own.len() < other.len() {
        own.resize(other.len(), 0);
    }
    for (own, other) in own.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

/// Whether no entry of `stamps` exceeds that of `others`.
fn is_within(stamps: &[u32], others: &[u32]) -> bool {
    let (both, more) = stamps.split_at(stamps.len().min(others.len()));
    both.iter().zip(others).all(|(stamp, other)| stamp <= other) && more.iter().all(|stamp| *stamp == 0)
}

fn at(stamps: &[u32], agent: usize) -> u32 {
    stamps.get(agent).copied().unwrap_or(0)
}

fn set(stamps: &mut Stamps, agent: usize, stamp: u32) {
    if stamps.len() <= agent {
        stamps.resize(agent + 1, 0);
    }
    stamps[agent] = stamps[agent].max(stamp);
}

/// The joined knowledge of several threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joined {
    all: Knowledge,
    /// Rows of threads that have been joined into it.
    rows: Vec<Rc<Knowledge>>,
    /// The whole as a row to be shared; `None` after it has grown.
    whole: Option<Rc<Knowledge>>,
}

impl Joined {
    /// Bytes of the knowledge that is not shared.
    pub(crate) fn bytes(&self) -> u64 {
        let Knowledge { known, past, published, initialised, fenced, ordered, before_fences, behind_fences } =
            &self.all;
        let stamps = [known, past, initialised, fenced, ordered, before_fences, behind_fences];
        stamps.into_iter().chain(published.stamps()).map(|stamps| size_of_val(stamps.as_slice()) as u64).sum()
    }

    fn contains(&self, row: &Rc<Knowledge>) -> bool {
        self.rows.iter().any(|known| Rc::ptr_eq(known, row))
    }

    /// Whether everything that `agent` did up to a stamp has happened.
    pub(crate) fn is_past(&self, agent: usize, stamp: u32) -> bool {
        at(&self.all.past, agent) >= stamp
    }

    /// Adds the knowledge of everything that `agent` did up to a stamp.
    pub(crate) fn set(&mut self, agent: usize, stamp: u32) {
        self.whole = None;
        set(&mut self.all.known, agent, stamp);
        set(&mut self.all.past, agent, stamp);
    }
}

impl Joined {
    /// Adds the past of another one, without effects on memory.
    pub(crate) fn add_past_of(&mut self, other: &Joined) {
        self.whole = None;
        join(&mut self.all.past, &other.all.past);
        join(&mut self.all.fenced, &other.all.fenced);
    }

    /// Operations on tensor memory that end with a stamp of an agent precede a fence.
    pub(super) fn set_fenced(&mut self, agent: usize, stamp: u32) {
        self.whole = None;
        set(&mut self.all.fenced, agent, stamp);
    }
}

/// The knowledge of a thread and its stamp at some time.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    row: Rc<Knowledge>,
    pub(crate) thread: usize,
    pub(crate) stamp: u32,
}

impl Snapshot {
    /// The stamp of `agent` up to which everything happened before.
    pub(crate) fn knows(&self, agent: usize) -> u32 {
        if agent == self.thread { self.stamp } else { at(&self.row.known, agent) }
    }

    /// The stamp of `agent` up to which everything had happened in time.
    pub(crate) fn past(&self, agent: usize) -> u32 {
        if agent == self.thread { self.stamp } else { at(&self.row.past, agent) }
    }
}

impl Joined {
    /// Adds the knowledge of a snapshot.
    pub(crate) fn add(&mut self, told: &Snapshot) {
        if !self.contains(&told.row) {
            self.all.join(&told.row);
            self.rows.push(Rc::clone(&told.row));
        }
        self.set(told.thread, told.stamp);
    }

    /// Adds a snapshot to the past, without effects on memory.
    pub(crate) fn add_past(&mut self, told: &Snapshot) {
        self.whole = None;
        join(&mut self.all.past, &told.row.past);
        join(&mut self.all.fenced, &told.row.fenced);
        set(&mut self.all.past, told.thread, told.stamp);
    }

    /// Adds what precedes the sequentially consistent fences that a snapshot knows of, for such fences of those that
    /// learn it: between two of them lies an atomic operation that has found one by the thread of the snapshot, so that
    /// they cannot come in the other order.
    pub(crate) fn add_fences(&mut self, told: &Snapshot) {
        self.whole = None;
        join(&mut self.all.behind_fences, &told.row.before_fences);
    }

    /// Adds all of another one.
    pub(super) fn add_all(&mut self, other: &Joined) {
        self.whole = None;
        self.all.join(&other.all);
    }
}

/// The clocks of all threads that run together.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    /// Each thread's own entry.
    own: Vec<u32>,
    /// The row of each thread; threads that have met share one.
    rows: Vec<Rc<Knowledge>>,
    /// The number of threads and other agents, which follow the threads.
    agents: usize,
    /// The row and the stamp of a thread at its last fence that releases.
    at_fence: ByFence<(Rc<Knowledge>, u32)>,
    /// What a thread has waited for without acquiring it; it learns this at a fence that acquires.
    awaited: ByFence<Joined>,
}

/// Something for each thread, by the fences that matter for it.
#[derive(Clone, Debug)]
struct ByFence<T> {
    /// Fences whose scope contains threads of other CTAs that run together.
    far: FxHashMap<usize, T>,
    /// Fences of any scope.
    near: FxHashMap<usize, T>,
}

impl<T> Default for ByFence<T> {
    fn default() -> ByFence<T> {
        ByFence { far: FxHashMap::default(), near: FxHashMap::default() }
    }
}

impl<T> ByFence<T> {
    fn of(&mut self, is_near: bool) -> &mut FxHashMap<usize, T> {
        if is_near { &mut self.near } else { &mut self.far }
    }
}

impl Clocks {
    pub(crate) fn new(threads: usize) -> Clocks {
        let nothing =
            Rc::new(Knowledge { known: vec![0; threads], past: vec![0; threads], ..Knowledge::default() });
        let rows = vec![nothing; threads];
        Clocks {
            own: vec![1; threads],
            rows,
            agents: threads,
            at_fence: ByFence::default(),
            awaited: ByFence::default(),
        }
    }

    /// Returns a new agent that is no thread; no thread knows anything of it.
    pub(crate) fn new_agent(&mut self) -> usize {
        self.agents += 1;
        self.agents - 1
    }

    /// `thread` learns that an agent that is no thread has acted.
    pub(crate) fn learn_of(&mut self, thread: usize, agent: usize) {
        let row = Rc::make_mut(&mut self.rows[thread]);
        set(&mut row.known, agent, 1);
        set(&mut row.past, agent, 1);
    }

    /// The stamp of an access that `thread` makes now.
    pub(crate) fn now(&self, thread: usize) -> u32 {
        self.own[thread]
    }

    /// The stamp of `agent` up to which everything happens before the next action of `thread`.
    pub(crate) fn knows(&self, thread: usize, agent: usize) -> u32 {
        if thread == agent { self.own[thread] } else { at(&self.rows[thread].known, agent) }
    }

    /// Positions in `threads` of enough threads that what these all know is what all of `threads` know: two for each
    /// distinct row, since a thread knows more of itself.
    pub(crate) fn representatives(&self, threads: &[usize]) -> Vec<usize> {
        let mut kinds: Vec<(&Rc<Knowledge>, usize)> = Vec::new();
        let mut chosen = Vec::new();
        for (place, thread) in threads.iter().enumerate() {
            let row = &self.rows[*thread];
            match kinds.iter_mut().find(|(known, _)| Rc::ptr_eq(known, row) || known.as_ref() == row.as_ref())
            {
                Some((_, count)) if *count > 1 => continue,
                Some((_, count)) => *count += 1,
                None => kinds.push((row, 1)),
            }
            chosen.push(place);
        }
        chosen
    }

    /// Whether everything that `agent` did up to a stamp has happened in time before the next action of `thread`.
    pub(crate) fn is_past(&self, thread: usize, agent: usize, stamp: u32) -> bool {
        self.past(thread, agent) >= stamp
    }

    /// The stamp of `agent` up to which everything has happened in time before the next action of `thread`.
    pub(crate) fn past(&self, thread: usize, agent: usize) -> u32 {
        if thread == agent { self.own[thread] } else { at(&self.rows[thread].past, agent) }
    }

    /// The stamp of `agent` up to which its accesses by the generic proxy to some memory are visible to asynchronous
    /// operations that `thread` starts now.
    pub(super) fn published(&self, thread: usize, agent: usize, space: AsyncSpace) -> u32 {
        self.rows[thread].published.at(agent, space)
    }

    /// `thread` executes a proxy fence: everything that it knows becomes visible to asynchronous operations. What it
    /// does from here on is not published.
    pub(crate) fn publish(&mut self, thread: usize, space: Publishes) {
        let Knowledge { known, published, .. } = Rc::make_mut(&mut self.rows[thread]);
        let published = published.in_memory(space);
        published.clone_from(known);
        set(published, thread, self.own[thread]);
        self.release(thread);
    }

    /// `thread` executes a fence that releases: a later relaxed arrival or change of a flag releases what it has done
    /// and knows up to here; if the fence is near, only for threads of its CTA.
    pub(crate) fn fence_release(&mut self, thread: usize, is_near: bool) {
        for is_near in if is_near { &[true][..] } else { &[true, false] } {
            let now = (Rc::clone(&self.rows[thread]), self.own[thread]);
            self.at_fence.of(*is_near).insert(thread, now);
        }
        self.release(thread);
    }

    /// `thread` executes a sequentially consistent fence.
    pub(crate) fn fence_in_total_order(&mut self, thread: usize) {
        let own = self.own[thread];
        let Knowledge { known, past, before_fences, behind_fences, .. } =
            Rc::make_mut(&mut self.rows[thread]);
        join(known, behind_fences);
        join(past, behind_fences);
        join(before_fences, known);
        set(before_fences, thread, own);
        self.release(thread);
    }

    /// `thread` executes a fence that acquires: it learns what it has waited for without acquiring it; if the fence is
    /// near, only what was kept for such fences.
    pub(crate) fn fence_acquire(&mut self, thread: usize, is_near: bool) {
        if let Some(mut awaited) = self.awaited.of(is_near).remove(&thread) {
            self.learn(thread, &mut awaited);
        }
    }

    /// Keeps what `thread` has waited for without acquiring it, for a later fence.
    pub(crate) fn keep(&mut self, thread: usize, awaited: &Joined, is_near: bool) {
        self.awaited.of(is_near).entry(thread).or_default().add_all(awaited);
    }

    /// Bytes of what is kept for later fences.
    pub(crate) fn kept_bytes(&self) -> u64 {
        let ByFence { far, near } = &self.awaited;
        far.values().chain(near.values()).map(Joined::bytes).sum()
    }

    /// The present knowledge and stamp of `thread`.
    pub(crate) fn snapshot(&self, thread: usize) -> Snapshot {
        Snapshot { row: Rc::clone(&self.rows[thread]), thread, stamp: self.own[thread] }
    }

    /// The knowledge and stamp of `thread` at its last fence: one that counts at least for its CTA, or for all.
    pub(crate) fn fenced(&self, thread: usize, is_near: bool) -> Option<Snapshot> {
        let fences = if is_near { &self.at_fence.near } else { &self.at_fence.far };
        let (row, stamp) = fences.get(&thread)?;
        Some(Snapshot { row: Rc::clone(row), thread, stamp: *stamp })
    }

    /// `thread` executes a fence for the mbarriers that it has initialised.
    pub(crate) fn fence_barriers(&mut self, thread: usize) {
        let row = Rc::make_mut(&mut self.rows[thread]);
        set(&mut row.initialised, thread, self.own[thread]);
        self.release(thread);
    }

    /// The stamp of `agent` up to which mbarriers that it initialised are visible to `thread`.
    pub(super) fn sees_initialised(&self, thread: usize, agent: usize) -> u32 {
        at(&self.rows[thread].initialised, agent)
    }

    /// Adds to `joined` the knowledge of `thread` at its last fence, for its CTA or for all; the barriers that the thread
    /// itself has initialised and fenced; and everything else that it did as past.
    pub(crate) fn add_fenced_to(&self, thread: usize, is_near: bool, joined: &mut Joined) {
        self.add_past_to(thread, joined);
        set(&mut joined.all.initialised, thread, at(&self.rows[thread].initialised, thread));
        if let Some(told) = self.fenced(thread, is_near) {
            joined.add(&told);
        }
    }

    /// Operations on tensor memory that `thread` has started, or knows to be over, come before what follows its next
    /// synchronisation and a fence there.
    pub(crate) fn fence_before(&mut self, thread: usize) {
        let own = self.own[thread];
        let row = Rc::make_mut(&mut self.rows[thread]);
        let Knowledge { known, fenced, ordered, .. } = row;
        join(fenced, known);
        join(fenced, ordered);
        set(fenced, thread, own);
        self.release(thread);
    }

    /// Operations on tensor memory that `thread` starts from now on come after those that precede fences of threads
    /// with which it has synchronised.
    pub(crate) fn fence_after(&mut self, thread: usize) {
        let row = Rc::make_mut(&mut self.rows[thread]);
        let Knowledge { fenced, ordered, .. } = row;
        join(ordered, fenced);
    }

    /// The stamp of `agent` up to which operations on tensor memory are ordered before those that `thread` starts now.
    pub(crate) fn ordered(&self, thread: usize, agent: usize) -> u32 {
        at(&self.rows[thread].ordered, agent)
    }

    /// Adds the knowledge of `thread` to `joined`.
    pub(crate) fn add_to(&self, thread: usize, joined: &mut Joined) {
        let row = &self.rows[thread];
        if !joined.contains(row) {
            joined.all.join(row);
            joined.rows.push(Rc::clone(row));
        }
        joined.set(thread, self.own[thread]);
    }

    /// The further actions of `thread` come after everything in `joined`.
    pub(crate) fn learn(&mut self, thread: usize, joined: &mut Joined) {
        if joined.contains(&self.rows[thread]) {
            let Joined { all, whole, .. } = joined;
            self.rows[thread] = Rc::clone(whole.get_or_insert_with(|| Rc::new(all.clone())));
        } else {
            Rc::make_mut(&mut self.rows[thread]).join(&joined.all);
        }
    }

    /// Adds the past of `thread` to `joined`, without effects on memory.
    pub(crate) fn add_past_to(&self, thread: usize, joined: &mut Joined) {
        joined.whole = None;
        join(&mut joined.all.past, &self.rows[thread].past);
        join(&mut joined.all.fenced, &self.rows[thread].fenced);
        set(&mut joined.all.past, thread, self.own[thread]);
    }

    /// The further actions of `thread` come in time after the past of `joined`.
    pub(crate) fn learn_past(&mut self, thread: usize, joined: &Joined) {
        let Knowledge { past, fenced, .. } = &*self.rows[thread];
        if is_within(&joined.all.past, past) && is_within(&joined.all.fenced, fenced) {
            return;
        }
        let row = Rc::make_mut(&mut self.rows[thread]);
        join(&mut row.past, &joined.all.past);
        join(&mut row.fenced, &joined.all.fenced);
    }

    /// The further actions of `thread` do not belong to what it has released so far.
    pub(crate) fn release(&mut self, thread: usize) {
        self.own[thread] += 1;
    }

    /// All of `threads` meet: everything before happens before everything after.
    pub(crate) fn meet(&mut self, threads: &[usize]) {
        let mut joined = Joined::default();
        for thread in threads {
            self.add_to(*thread, &mut joined);
        }
        for thread in threads {
            self.learn(*thread, &mut joined);
            self.release(*thread);
        }
    }

    /// All of `threads` meet in time, which orders no memory.
    pub(crate) fn meet_in_time(&mut self, threads: &[usize]) {
        let mut joined = Joined::default();
        for thread in threads {
            self.add_past_to(*thread, &mut joined);
        }
        for thread in threads {
            self.learn_past(*thread, &joined);
            self.release(*thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn order_is_transitive_over_overlapping_meetings() {
        let mut clocks = Clocks::new(3);
        let stamp = clocks.now(0);
        clocks.meet(&[0, 1]);
        assert!(clocks.knows(2, 0) < stamp);
        clocks.meet(&[1, 2]);
        assert!(clocks.knows(2, 0) >= stamp);
        assert!(clocks.knows(0, 2) < clocks.now(2));
    }

    #[test]
    fn what_follows_a_release_is_not_released() {
        let mut clocks = Clocks::new(2);
        clocks.meet(&[0, 1]);
        let later = clocks.now(0);
        assert!(clocks.knows(1, 0) < later);
    }

    #[test]
    fn a_fence_publishes_what_its_thread_knows_and_others_learn_that() {
        let mut clocks = Clocks::new(3);
        let stamp = clocks.now(0);
        let shared = AsyncSpace::Shared(0);
        clocks.publish(1, Publishes::Shared);
        clocks.meet(&[0, 1]);
        assert!(clocks.published(1, 0, shared) < stamp, "the fence was before the meeting");
        clocks.publish(1, Publishes::Shared);
        assert!(clocks.published(1, 0, shared) >= stamp);
        assert!(clocks.published(1, 0, AsyncSpace::Global) < stamp);
        clocks.meet(&[1, 2]);
        assert!(clocks.published(2, 0, shared) >= stamp, "wherever on the way it stands");
        assert!(clocks.published(0, 0, shared) < stamp);
    }

    #[test]
    fn a_fence_for_the_memory_of_one_cta_publishes_nothing_in_that_of_another() {
        let mut clocks = Clocks::new(2);
        let stamp = clocks.now(0);
        clocks.publish(0, Publishes::SharedOf(1));
        clocks.meet(&[0, 1]);
        for thread in [0, 1] {
            assert!(clocks.published(thread, 0, AsyncSpace::Shared(1)) >= stamp);
            assert!(clocks.published(thread, 0, AsyncSpace::Shared(0)) < stamp);
            assert!(clocks.published(thread, 0, AsyncSpace::Global) < stamp);
        }
    }

    /// No fence covers what its thread does behind it, however soon.
    #[test]
    fn what_follows_a_fence_is_not_fenced() {
        for (fence, space) in [
            (Publishes::Shared, AsyncSpace::Shared(0)),
            (Publishes::SharedOf(0), AsyncSpace::Shared(0)),
            (Publishes::Global, AsyncSpace::Global),
        ] {
            let mut clocks = Clocks::new(2);
            clocks.publish(0, fence);
            let later = clocks.now(0);
            clocks.meet(&[0, 1]);
            assert!(clocks.published(1, 0, space) < later);
        }
        let mut clocks = Clocks::new(2);
        clocks.fence_barriers(0);
        let later = clocks.now(0);
        clocks.meet(&[0, 1]);
        assert!(clocks.sees_initialised(1, 0) < later);
        for is_near in [false, true] {
            let mut clocks = Clocks::new(2);
            clocks.fence_release(0, is_near);
            let later = clocks.now(0);
            assert!(clocks.fenced(0, is_near).is_some_and(|fence| fence.knows(0) < later));
        }
        let mut clocks = Clocks::new(2);
        clocks.fence_before(0);
        let later = clocks.now(0);
        clocks.meet(&[0, 1]);
        clocks.fence_after(1);
        assert!(clocks.ordered(1, 0) < later);
    }

    #[test]
    fn what_meets_in_time_is_past_and_not_known() {
        let mut clocks = Clocks::new(2);
        let stamp = clocks.now(0);
        clocks.meet_in_time(&[0, 1]);
        assert!(clocks.is_past(1, 0, stamp));
        assert!(clocks.knows(1, 0) < stamp);
        let later = clocks.now(0);
        assert!(!clocks.is_past(1, 0, later));
        clocks.meet(&[0, 1]);
        assert!(clocks.is_past(1, 0, later) && clocks.knows(1, 0) >= later);
    }

    #[test]
    fn fences_on_both_sides_order_what_a_relaxed_synchronisation_does_not() {
        for (before, after) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut clocks = Clocks::new(2);
            let stamp = clocks.now(0);
            if before {
                clocks.fence_before(0);
            }
            let later = clocks.now(0);
            clocks.meet_in_time(&[0, 1]);
            if after {
                clocks.fence_after(1);
            }
            assert!(clocks.knows(1, 0) < stamp);
            assert_eq!(clocks.ordered(1, 0) >= stamp, before && after);
            assert!(!before || clocks.ordered(1, 0) < later, "what comes behind the fence is not before it");
        }
    }

    /// Events and their predecessors: the oracle finds what happens before an event by walking back along edges.
    #[derive(Default)]
    struct History {
        before: Vec<Vec<usize>>,
        last: Vec<Option<usize>>,
    }

    impl History {
        fn add(&mut self, threads: &[usize]) -> usize {
            let event = self.before.len();
            self.before.push(threads.iter().filter_map(|thread| self.last[*thread]).collect());
            for thread in threads {
                self.last[*thread] = Some(event);
            }
            event
        }

        fn is_before(&self, early: usize, late: usize) -> bool {
            let mut work = vec![late];
            while let Some(event) = work.pop() {
                if event == early {
                    return true;
                }
                work.extend(self.before[event].iter().copied().filter(|before| *before >= early));
            }
            false
        }
    }

    proptest! {
        /// Accesses of two threads are ordered by the clocks exactly if a chain of meetings leads from one to the
        /// other.
        #[test]
        fn clocks_are_happens_before(steps in prop::collection::vec((1u8..32, any::<bool>()), 1..40)) {
            const THREADS: usize = 5;
            let mut clocks = Clocks::new(THREADS);
            let mut history = History { before: Vec::new(), last: vec![None; THREADS] };
            let mut accesses: Vec<(usize, u32, usize)> = Vec::new();
            for (mask, meets) in steps {
                let threads: Vec<usize> = (0..THREADS).filter(|thread| mask >> thread & 1 == 1).collect();
                if meets && threads.len() > 1 {
                    clocks.meet(&threads);
                    history.add(&threads);
                    continue;
                }
                for thread in threads {
                    let event = history.add(&[thread]);
                    for (other, stamp, earlier) in &accesses {
                        let ordered = *other == thread || clocks.knows(thread, *other) >= *stamp;
                        prop_assert_eq!(ordered, history.is_before(*earlier, event));
                    }
                    accesses.push((thread, clocks.now(thread), event));
                }
            }
        }

        /// Threads that share rows learn the same as threads with rows of their own.
        #[test]
        fn shared_rows_are_rows(meetings in prop::collection::vec(1u8..32, 1..20)) {
            const THREADS: usize = 5;
            let (mut shared, mut apart) = (Clocks::new(THREADS), Clocks::new(THREADS));
            for mask in meetings {
                let threads: Vec<usize> = (0..THREADS).filter(|thread| mask >> thread & 1 == 1).collect();
                shared.meet(&threads);
                apart.rows = apart.rows.iter().map(|row| Rc::new(Knowledge::clone(row))).collect();
                apart.meet(&threads);
                for (thread, other) in (0..THREADS).flat_map(|thread| (0..THREADS).map(move |other| (thread, other))) {
                    prop_assert_eq!(shared.knows(thread, other), apart.knows(thread, other));
                }
            }
        }

        /// Clocks only grow, learning twice is learning once, and the order of learning does not matter.
        #[test]
        fn learning_is_a_join(a in prop::collection::vec(0u32..9, 4), b in prop::collection::vec(0u32..9, 4)) {
            let row = |clocks: &Clocks| (0..4).map(|other| clocks.knows(0, other)).collect::<Vec<u32>>();
            let learned = |lists: &[&[u32]]| {
                let mut clocks = Clocks::new(4);
                let start = row(&clocks);
                lists.iter().for_each(|list| {
                    let mut joined = Joined::default();
                    list.iter().enumerate().for_each(|(agent, stamp)| joined.set(agent, *stamp));
                    clocks.learn(0, &mut joined);
                });
                (start, row(&clocks))
            };
            let (start, both) = learned(&[&a, &b]);
            prop_assert!(start.iter().zip(&both).all(|(old, new)| old <= new));
            prop_assert_eq!(&both, &learned(&[&b, &a]).1);
            prop_assert_eq!(&both, &learned(&[&a, &b, &a]).1);
        }
    }
}
