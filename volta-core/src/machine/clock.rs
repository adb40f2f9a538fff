//! Happens-before with a clock for every thread of a CTA (rule Y2): exact. What a thread knows of the others it shares with
//! those that it met last, so that a barrier costs as much as there are threads, and not their square.
//!
//! A thread's own entry counts its releases. An access is stamped with its thread and that thread's entry at the
//! time; it happens before another thread's access when that thread's clock has reached the stamp.

use std::rc::Rc;

/// The clocks of all threads of a CTA.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// Each thread's own entry.
    own: Vec<u32>,
    /// What each thread knows of the others. Threads that have met share it.
    rows: Vec<Rc<[u32]>>,
}

/// What several threads know together.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    stamps: Vec<u32>,
    /// What threads know that is in it.
    rows: Vec<Rc<[u32]>>,
    /// All of it, to be shared, unless it has grown since.
    whole: Option<Rc<[u32]>>,
}

impl Joined {
    pub(super) fn clear(&mut self) {
        self.stamps.clear();
        self.rows.clear();
        self.whole = None;
    }

    fn contains(&self, row: &Rc<[u32]>) -> bool {
        self.rows.iter().any(|known| Rc::ptr_eq(known, row))
    }
}

/// Takes in what is later.
fn join(stamps: &mut [u32], others: &[u32]) {
    for (known, new) in stamps.iter_mut().zip(others) {
        *known = (*known).max(*new);
    }
}

impl Clocks {
    pub(super) fn new(threads: usize) -> Clocks {
        let nothing: Rc<[u32]> = vec![0; threads].into();
        Clocks { own: vec![1; threads], rows: vec![nothing; threads] }
    }

    /// The stamp of an access that `thread` makes now.
    pub(super) fn now(&self, thread: usize) -> u32 {
        self.own[thread]
    }

    /// Up to which stamp of `other` everything happens before what `thread` does now.
    pub(super) fn knows(&self, thread: usize, other: usize) -> u32 {
        if thread == other { self.own[thread] } else { self.rows[thread][other] }
    }

    /// Adds what `thread` knows to `joined`.
    pub(super) fn add_to(&self, thread: usize, joined: &mut Joined) {
        joined.stamps.resize(self.own.len(), 0);
        joined.whole = None;
        let row = &self.rows[thread];
        if !joined.contains(row) {
            join(&mut joined.stamps, row);
            joined.rows.push(Rc::clone(row));
        }
        joined.stamps[thread] = joined.stamps[thread].max(self.own[thread]);
    }

    /// What `thread` does from now on is after everything in `joined`.
    pub(super) fn learn(&mut self, thread: usize, joined: &mut Joined) {
        joined.stamps.resize(self.own.len(), 0);
        let is_in_it = joined.contains(&self.rows[thread]);
        let Joined { stamps, whole, .. } = joined;
        if is_in_it {
            let whole = whole.get_or_insert_with(|| stamps.as_slice().into());
            self.rows[thread] = Rc::clone(whole);
        } else {
            let mut row = self.rows[thread].to_vec();
            join(&mut row, stamps);
            self.rows[thread] = row.into();
        }
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
                apart.rows = apart.rows.iter().map(|row| row.to_vec().into()).collect();
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
                    clocks.learn(0, &mut Joined { stamps: list.to_vec(), ..Joined::default() });
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
