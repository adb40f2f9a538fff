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
}
