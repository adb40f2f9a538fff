//! Happens-before with a clock for every thread of a CTA (rule Y2): exact. What a thread knows of the others it shares with
//! those that it met last, so that a barrier costs as much as there are threads, and not their square.
//!
//! A thread's own entry counts its releases. An access is stamped with its thread and that thread's entry at the
//! time; it happens before another thread's access when that thread's clock has reached the stamp. Other *agents* have
//! entries as well: that of a barrier in memory counts its phases that are over (rule Y9).
//!
//! Beside what a thread knows stands what of it has been *published* to the async proxy, for each state space that it can
//! access (rule Y10). Whoever learns what a thread knows learns what has been published of it. And beside it stands the
//! *past*: all that must have happened in time, whether or not its effects on memory can be seen. It is what decides which
//! phase of a barrier an operation belongs to. Asynchronous operations on tensor memory have a clock of their own for what
//! fences order of them, whether or not threads release and acquire anything else (rule Y14).

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A state space that the async proxy accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AsyncSpace {
    Shared,
    Global,
}

impl AsyncSpace {
    pub(super) const ALL: [AsyncSpace; 2] = [AsyncSpace::Shared, AsyncSpace::Global];
}

/// For every agent up to which stamp something holds; the entries that are missing are 0.
type Stamps = Vec<u32>;

/// What is known.
#[derive(Clone, Debug, Default, PartialEq)]
struct Knowledge {
    known: Stamps,
    /// No entry is less than that of what is known.
    past: Stamps,
    published: [Stamps; 2],
    /// Of which agents the initialisations of barriers can be seen (`fence.mbarrier_init`).
    initialised: Stamps,
    /// Of operations on tensor memory, what lies before a fence before a synchronisation; however relaxed that is, it hands
    /// this on.
    fenced: Stamps,
    /// What of that lies before a fence after a synchronisation.
    ordered: Stamps,
}

impl Knowledge {
    fn join(&mut self, other: &Knowledge) {
        join(&mut self.known, &other.known);
        join(&mut self.past, &other.past);
        join(&mut self.initialised, &other.initialised);
        for (own, other) in self.published.iter_mut().zip(&other.published) {
            join(own, other);
        }
        join(&mut self.fenced, &other.fenced);
        join(&mut self.ordered, &other.ordered);
    }
}

/// Takes in what is later.
fn join(own: &mut Stamps, other: &[u32]) {
    if own.len() < other.len() {
        own.resize(other.len(), 0);
    }
    for (own, other) in own.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

/// Whether nothing of it is later than what is there already.
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

/// What several threads know together.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    all: Knowledge,
    /// What threads know that is in it.
    rows: Vec<Rc<Knowledge>>,
    /// All of it, to be shared, unless it has grown since.
    whole: Option<Rc<Knowledge>>,
}

impl Joined {
    /// Bytes of what is known, of what is not shared.
    pub(super) fn bytes(&self) -> u64 {
        let Knowledge { known, past, published: [shared, global], initialised, fenced, ordered } = &self.all;
        let stamps = [known, past, shared, global, initialised, fenced, ordered];
        stamps.iter().map(|stamps| size_of_val(stamps.as_slice()) as u64).sum()
    }

    fn contains(&self, row: &Rc<Knowledge>) -> bool {
        self.rows.iter().any(|known| Rc::ptr_eq(known, row))
    }

    /// Whether everything that `agent` did up to a stamp has happened.
    pub(super) fn is_past(&self, agent: usize, stamp: u32) -> bool {
        at(&self.all.past, agent) >= stamp
    }

    /// Everything that `agent` did up to a stamp is known.
    pub(super) fn set(&mut self, agent: usize, stamp: u32) {
        self.whole = None;
        set(&mut self.all.known, agent, stamp);
        set(&mut self.all.past, agent, stamp);
    }
}

impl Joined {
    /// Adds what has happened for another one, without its effects on memory.
    pub(super) fn add_past_of(&mut self, other: &Joined) {
        self.whole = None;
        join(&mut self.all.past, &other.all.past);
        join(&mut self.all.fenced, &other.all.fenced);
    }

    /// Operations on tensor memory that end with a stamp of an agent lie before a fence.
    pub(super) fn set_fenced(&mut self, agent: usize, stamp: u32) {
        self.whole = None;
        set(&mut self.all.fenced, agent, stamp);
    }
}

/// What a thread knew and had done at some time.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    row: Rc<Knowledge>,
    pub(super) thread: usize,
    pub(super) stamp: u32,
}

impl Snapshot {
    /// Up to which stamp of `agent` everything happened before.
    pub(super) fn knows(&self, agent: usize) -> u32 {
        if agent == self.thread { self.stamp } else { at(&self.row.known, agent) }
    }

    /// Up to which stamp of `agent` everything had happened.
    pub(super) fn past(&self, agent: usize) -> u32 {
        if agent == self.thread { self.stamp } else { at(&self.row.past, agent) }
    }
}

impl Joined {
    /// Adds what was known.
    pub(super) fn add(&mut self, told: &Snapshot) {
        if !self.contains(&told.row) {
            self.all.join(&told.row);
            self.rows.push(Rc::clone(&told.row));
        }
        self.set(told.thread, told.stamp);
    }

    /// Adds that it has happened, without its effects on memory.
    pub(super) fn add_past(&mut self, told: &Snapshot) {
        self.whole = None;
        join(&mut self.all.past, &told.row.past);
        join(&mut self.all.fenced, &told.row.fenced);
        set(&mut self.all.past, told.thread, told.stamp);
    }

    /// Adds all of another one.
    pub(super) fn add_all(&mut self, other: &Joined) {
        self.whole = None;
        self.all.join(&other.all);
    }
}

/// The clocks of all threads that run together.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// Each thread's own entry.
    own: Vec<u32>,
    /// What each thread knows of the others. Threads that have met share it.
    rows: Vec<Rc<Knowledge>>,
    /// Threads, and other agents behind them.
    agents: usize,
    /// What a thread knew and had done at its last fence.
    at_fence: FxHashMap<usize, (Rc<Knowledge>, u32)>,
    /// The same of fences that reach its own CTA, and perhaps no other.
    at_near_fence: FxHashMap<usize, (Rc<Knowledge>, u32)>,
}

impl Clocks {
    pub(super) fn new(threads: usize) -> Clocks {
        let nothing =
            Rc::new(Knowledge { known: vec![0; threads], past: vec![0; threads], ..Knowledge::default() });
        let rows = vec![nothing; threads];
        Clocks {
            own: vec![1; threads],
            rows,
            agents: threads,
            at_fence: FxHashMap::default(),
            at_near_fence: FxHashMap::default(),
        }
    }

    /// An agent that is no thread; nobody knows anything of it.
    pub(super) fn new_agent(&mut self) -> usize {
        self.agents += 1;
        self.agents - 1
    }

    /// The stamp of an access that `thread` makes now.
    pub(super) fn now(&self, thread: usize) -> u32 {
        self.own[thread]
    }

    /// Up to which stamp of `agent` everything happens before what `thread` does now.
    pub(super) fn knows(&self, thread: usize, agent: usize) -> u32 {
        if thread == agent { self.own[thread] } else { at(&self.rows[thread].known, agent) }
    }

    /// Of `threads`, by their place among them, enough that what all of these know all of those know: of each knowledge
    /// that several have, two, since a thread knows more of itself.
    pub(super) fn representatives(&self, threads: &[usize]) -> Vec<usize> {
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

    /// Whether everything that `agent` did up to a stamp has happened when `thread` goes on.
    pub(super) fn is_past(&self, thread: usize, agent: usize, stamp: u32) -> bool {
        self.past(thread, agent) >= stamp
    }

    /// Up to which stamp of `agent` everything has happened when `thread` goes on.
    pub(super) fn past(&self, thread: usize, agent: usize) -> u32 {
        if thread == agent { self.own[thread] } else { at(&self.rows[thread].past, agent) }
    }

    /// Up to which stamp of `agent` what it did in a space by the generic proxy is there for asynchronous operations that
    /// `thread` starts now.
    pub(super) fn published(&self, thread: usize, agent: usize, space: AsyncSpace) -> u32 {
        at(&self.rows[thread].published[space as usize], agent)
    }

    /// `thread` executes a proxy fence: all that it knows is there for asynchronous operations.
    pub(super) fn publish(&mut self, thread: usize, space: AsyncSpace) {
        let row = Rc::make_mut(&mut self.rows[thread]);
        let published = &mut row.published[space as usize];
        published.clone_from(&row.known);
        set(published, thread, self.own[thread]);
    }

    /// `thread` executes a fence: what it has done and knows is told by an arrival behind it that is relaxed.
    pub(super) fn fence(&mut self, thread: usize) {
        self.at_fence.insert(thread, (Rc::clone(&self.rows[thread]), self.own[thread]));
        self.fence_near(thread);
    }

    /// The same for threads of its CTA.
    pub(super) fn fence_near(&mut self, thread: usize) {
        self.at_near_fence.insert(thread, (Rc::clone(&self.rows[thread]), self.own[thread]));
        self.release(thread);
    }

    /// What `thread` knows and has done.
    pub(super) fn snapshot(&self, thread: usize) -> Snapshot {
        Snapshot { row: Rc::clone(&self.rows[thread]), thread, stamp: self.own[thread] }
    }

    /// What it knew and had done at its last fence, which is one for threads of its CTA at least, or for all.
    pub(super) fn fenced(&self, thread: usize, is_near: bool) -> Option<Snapshot> {
        let fences = if is_near { &self.at_near_fence } else { &self.at_fence };
        let (row, stamp) = fences.get(&thread)?;
        Some(Snapshot { row: Rc::clone(row), thread, stamp: *stamp })
    }

    /// `thread` executes a fence for the barriers that it has initialised.
    pub(super) fn fence_barriers(&mut self, thread: usize) {
        let row = Rc::make_mut(&mut self.rows[thread]);
        set(&mut row.initialised, thread, self.own[thread]);
        self.release(thread);
    }

    /// Up to which stamp of `agent` the barriers that it initialised can be seen by `thread`.
    pub(super) fn sees_initialised(&self, thread: usize, agent: usize) -> u32 {
        at(&self.rows[thread].initialised, agent)
    }

    /// Adds what `thread` knew at its last fence to `joined`, and that all it did has happened.
    pub(super) fn add_fenced_to(&self, thread: usize, joined: &mut Joined) {
        self.add_past_to(thread, joined);
        join(&mut joined.all.initialised, &self.rows[thread].initialised);
        if let Some((row, stamp)) = self.at_fence.get(&thread) {
            joined.all.join(row);
            joined.set(thread, *stamp);
        }
    }

    /// Operations on tensor memory that `thread` has started, or knows to be over, come before what follows its next
    /// synchronisation.
    pub(super) fn fence_before(&mut self, thread: usize) {
        let own = self.own[thread];
        let row = Rc::make_mut(&mut self.rows[thread]);
        let Knowledge { known, fenced, ordered, .. } = row;
        join(fenced, known);
        join(fenced, ordered);
        set(fenced, thread, own);
        self.release(thread);
    }

    /// Operations on tensor memory that `thread` starts from now on come after what lies before fences that it has
    /// synchronised with.
    pub(super) fn fence_after(&mut self, thread: usize) {
        let row = Rc::make_mut(&mut self.rows[thread]);
        let Knowledge { fenced, ordered, .. } = row;
        join(ordered, fenced);
    }

    /// Up to which stamp of `agent` operations on tensor memory are ordered before those that `thread` starts now.
    pub(super) fn ordered(&self, thread: usize, agent: usize) -> u32 {
        at(&self.rows[thread].ordered, agent)
    }

    /// Adds what `thread` knows to `joined`.
    pub(super) fn add_to(&self, thread: usize, joined: &mut Joined) {
        let row = &self.rows[thread];
        if !joined.contains(row) {
            joined.all.join(row);
            joined.rows.push(Rc::clone(row));
        }
        joined.set(thread, self.own[thread]);
    }

    /// What `thread` does from now on is after everything in `joined`.
    pub(super) fn learn(&mut self, thread: usize, joined: &mut Joined) {
        if joined.contains(&self.rows[thread]) {
            let Joined { all, whole, .. } = joined;
            self.rows[thread] = Rc::clone(whole.get_or_insert_with(|| Rc::new(all.clone())));
        } else {
            Rc::make_mut(&mut self.rows[thread]).join(&joined.all);
        }
    }

    /// Adds what has happened before what `thread` does now to `joined`, without its effects on memory.
    pub(super) fn add_past_to(&self, thread: usize, joined: &mut Joined) {
        joined.whole = None;
        join(&mut joined.all.past, &self.rows[thread].past);
        join(&mut joined.all.fenced, &self.rows[thread].fenced);
        set(&mut joined.all.past, thread, self.own[thread]);
    }

    /// What `thread` does from now on comes later than all that has happened for `joined`.
    pub(super) fn learn_past(&mut self, thread: usize, joined: &Joined) {
        let Knowledge { past, fenced, .. } = &*self.rows[thread];
        if is_within(&joined.all.past, past) && is_within(&joined.all.fenced, fenced) {
            return;
        }
        let row = Rc::make_mut(&mut self.rows[thread]);
        join(&mut row.past, &joined.all.past);
        join(&mut row.fenced, &joined.all.fenced);
    }

    /// What `thread` does from now on is not part of what it has released so far.
    pub(super) fn release(&mut self, thread: usize) {
        self.own[thread] += 1;
    }

    /// All of `threads` meet: everything before is before everything after.
    pub(super) fn meet(&mut self, threads: &[usize]) {
        let mut joined = Joined::default();
        for thread in threads {
            self.add_to(*thread, &mut joined);
        }
        for thread in threads {
            self.learn(*thread, &mut joined);
            self.release(*thread);
        }
    }

    /// All of `threads` meet, and order no memory.
    pub(super) fn meet_in_time(&mut self, threads: &[usize]) {
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
        clocks.publish(1, AsyncSpace::Shared);
        clocks.meet(&[0, 1]);
        assert!(clocks.published(1, 0, AsyncSpace::Shared) < stamp, "the fence was before the meeting");
        clocks.publish(1, AsyncSpace::Shared);
        assert!(clocks.published(1, 0, AsyncSpace::Shared) >= stamp);
        assert!(clocks.published(1, 0, AsyncSpace::Global) < stamp);
        clocks.meet(&[1, 2]);
        assert!(clocks.published(2, 0, AsyncSpace::Shared) >= stamp, "wherever on the way it stands");
        assert!(clocks.published(0, 0, AsyncSpace::Shared) < stamp);
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

    /// What happens, and what must have happened before it, found by walking back along edges.
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
        /// Accesses of two threads are ordered by the clocks exactly if a chain of meetings leads from one to the other.
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

        /// Threads that share what they know learn the same as those that each keep it for themselves.
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
