//! Happens-before with a clock for every thread of a CTA (rule Y2): exact, and as slow as it sounds.
//!
//! A thread's own entry counts its releases. An access is stamped with its thread and that thread's entry at the
//! time; it happens before another thread's access when that thread's clock has reached the stamp.

/// The clocks of all threads of a CTA.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    threads: usize,
    /// Row `t`: what thread `t` knows of every thread.
    rows: Vec<u32>,
}

impl Clocks {
    pub(super) fn new(threads: usize) -> Clocks {
        let mut rows = vec![0; threads * threads];
        for thread in 0..threads {
            rows[thread * threads + thread] = 1;
        }
        Clocks { threads, rows }
    }

    /// The stamp of an access that `thread` makes now.
    pub(super) fn now(&self, thread: usize) -> u32 {
        self.knows(thread, thread)
    }

    /// Up to which stamp of `other` everything happens before what `thread` does now.
    pub(super) fn knows(&self, thread: usize, other: usize) -> u32 {
        self.rows[thread * self.threads + other]
    }

    /// Adds what `thread` knows to `joined`.
    pub(super) fn add_to(&self, thread: usize, joined: &mut Vec<u32>) {
        joined.resize(self.threads, 0);
        let row = &self.rows[thread * self.threads..(thread + 1) * self.threads];
        for (known, new) in joined.iter_mut().zip(row) {
            *known = (*known).max(*new);
        }
    }

    /// What `thread` does from now on is after everything in `joined`.
    pub(super) fn learn(&mut self, thread: usize, joined: &[u32]) {
        let row = &mut self.rows[thread * self.threads..(thread + 1) * self.threads];
        for (known, new) in row.iter_mut().zip(joined) {
            *known = (*known).max(*new);
        }
    }

    /// What `thread` does from now on is not part of what it has released so far.
    pub(super) fn release(&mut self, thread: usize) {
        self.rows[thread * self.threads + thread] += 1;
    }

    /// All of `threads` meet: everything before is before everything after.
    pub(super) fn meet(&mut self, threads: &[usize]) {
        let mut joined = Vec::new();
        for thread in threads {
            self.add_to(*thread, &mut joined);
        }
        for thread in threads {
            self.learn(*thread, &joined);
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

        /// Clocks only grow, learning twice is learning once, and the order of learning does not matter.
        #[test]
        fn learning_is_a_join(a in prop::collection::vec(0u32..9, 4), b in prop::collection::vec(0u32..9, 4)) {
            let row = |clocks: &Clocks| (0..4).map(|other| clocks.knows(0, other)).collect::<Vec<u32>>();
            let learned = |lists: &[&[u32]]| {
                let mut clocks = Clocks::new(4);
                let start = row(&clocks);
                lists.iter().for_each(|list| clocks.learn(0, list));
                (start, row(&clocks))
            };
            let (start, both) = learned(&[&a, &b]);
            prop_assert!(start.iter().zip(&both).all(|(old, new)| old <= new));
            prop_assert_eq!(&both, &learned(&[&b, &a]).1);
            prop_assert_eq!(&both, &learned(&[&a, &b, &a]).1);
        }
    }
}
