//! A budget shared by parallel work, such that the results do not depend on how the work is scheduled.
//!
//! The steps of a case are accounted to its batches *as if they ran one after the other*: a batch has what those before it
//! left. While batches run in parallel, a batch ends early once those before it and itself have certainly used more than
//! there is: sequentially, it would have ended by then. Results beyond a batch's share are dropped afterwards, in order.
//!
//! Memory is the peak of a batch by itself: those before it have freed theirs. In parallel, batches wait for the first of
//! them rather than exceed the budget together.

use super::budget::{Budgets, Deadline, Exhausted, Held, Limit};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// So many steps are taken between two looks at the clock, at memory and at other runs.
const LOOK: u64 = 1 << 14;
/// How long a run waits before it looks again whether there is memory.
const PAUSE: Duration = Duration::from_millis(2);

/// What runs that go on in parallel have together.
#[derive(Debug)]
pub struct Pool {
    steps: u64,
    bytes: u64,
    runs: Vec<Slot>,
}

/// What a run has taken so far.
#[derive(Debug, Default)]
struct Slot {
    steps: AtomicU64,
    bytes: AtomicU64,
    /// Between its first look and its end.
    runs: AtomicBool,
}

impl Pool {
    /// A pool of that much for so many runs.
    pub fn new(steps: u64, bytes: u64, runs: usize) -> Arc<Pool> {
        Arc::new(Pool { steps, bytes, runs: (0..runs).map(|_| Slot::default()).collect() })
    }

    /// Notes that a run holds so much, and waits while that is too much beside the others and another is before it.
    ///
    /// # Errors
    /// The deadline, which ends waiting.
    pub fn hold(&self, run: usize, bytes: u64, deadline: &Deadline) -> Result<(), Exhausted> {
        let Some(own) = self.runs.get(run) else { return Ok(()) };
        own.bytes.store(bytes, Ordering::Relaxed);
        own.runs.store(true, Ordering::Relaxed);
        loop {
            let held = self.runs.iter().map(|slot| slot.bytes.load(Ordering::Relaxed));
            let first = !self.runs[..run].iter().any(|slot| slot.runs.load(Ordering::Relaxed));
            if first || held.fold(0, u64::saturating_add) <= self.bytes {
                return Ok(());
            }
            deadline.check()?;
            std::thread::sleep(PAUSE);
        }
    }

    /// Notes that a run has ended, and what it leaves behind.
    pub fn leave(&self, run: usize, bytes: u64) {
        if let Some(slot) = self.runs.get(run) {
            slot.bytes.store(bytes, Ordering::Relaxed);
            slot.runs.store(false, Ordering::Relaxed);
        }
    }

    /// Records what a batch has taken in all, and returns whether it and those before it took more than there is.
    pub fn is_spent(&self, run: usize, steps: u64) -> bool {
        let Some(slot) = self.runs.get(run) else { return false };
        slot.steps.store(steps, Ordering::Relaxed);
        let taken = self.runs[..=run].iter().map(|slot| slot.steps.load(Ordering::Relaxed));
        taken.fold(0, u64::saturating_add) > self.steps
    }
}

/// What one run may take. Those who draw from it do so through an [`Account`] of their own.
#[derive(Debug)]
pub struct Ration {
    budgets: Budgets,
    /// Steps that were taken before, and since.
    before: u64,
    spent: Cell<u64>,
    /// What is held beside the run's own tables, and these.
    beside: Held,
    own: Cell<u64>,
    /// Steps and bytes that the other runs know of.
    told: Cell<(u64, u64)>,
    pool: Option<(Arc<Pool>, usize)>,
}

impl Drop for Ration {
    fn drop(&mut self) {
        if let Some((pool, run)) = &self.pool {
            pool.leave(*run, 0);
        }
    }
}

impl Ration {
    /// A ration of a case's steps and memory, of which some are taken already.
    pub fn new(budgets: Budgets, before: u64, beside: Held) -> Ration {
        Ration {
            budgets,
            before,
            spent: Cell::new(0),
            beside,
            own: Cell::new(0),
            told: Cell::default(),
            pool: None,
        }
    }

    /// The same, for one of the runs of a pool.
    #[must_use]
    pub fn of_pool(mut self, pool: &Arc<Pool>, run: usize) -> Ration {
        self.pool = Some((pool.clone(), run));
        self
    }

    /// A ration that does not end.
    pub fn endless() -> Ration {
        let all = Budgets::default().with(Limit::AlgebraSteps, u64::MAX).with(Limit::MemoryBytes, u64::MAX);
        Ration::new(all, 0, Held::default())
    }

    /// Steps that were taken.
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// Steps that are left.
    pub fn left(&self) -> u64 {
        self.budgets[Limit::AlgebraSteps].saturating_sub(self.before.saturating_add(self.spent.get()))
    }

    /// Takes steps that were counted elsewhere; whether there were so many shows at the next look.
    pub fn take(&self, steps: u64) {
        self.spent.set(self.spent.get().saturating_add(steps));
    }

    /// `Ok` while there is more of everything.
    ///
    /// # Errors
    /// What there is no more of.
    pub fn look(&self) -> Result<(), Exhausted> {
        self.budgets.deadline.check()?;
        self.budgets.check(Limit::AlgebraSteps, self.before.saturating_add(self.spent.get()))?;
        self.budgets.check_held(&Held { algebra: self.own.get(), ..self.beside })?;
        // Others need not be asked after every little thing.
        let news = self.own.get() != self.told.get().1 || self.spent.get() >= self.told.get().0 + LOOK;
        if let Some((pool, run)) = self.pool.as_ref().filter(|_| news) {
            self.told.set((self.spent.get(), self.own.get()));
            if pool.is_spent(*run, self.spent.get()) {
                return Err(Exhausted::of(Limit::AlgebraSteps, self.budgets[Limit::AlgebraSteps]));
            }
            pool.hold(*run, self.own.get(), &self.budgets.deadline)?;
        }
        Ok(())
    }
}

/// Draws from a ration, a little at a time.
#[derive(Debug)]
pub struct Account {
    ration: Rc<Ration>,
    /// Steps since the last beginning, how many of them may be taken, and at which to look next.
    steps: u64,
    most: u64,
    next: u64,
    /// Steps that the ration knows of.
    told: u64,
    /// Bytes that the ration counts for this account.
    bytes: u64,
}

impl Drop for Account {
    fn drop(&mut self) {
        self.settle();
        self.ration.own.set(self.ration.own.get().saturating_sub(self.bytes));
    }
}

impl Account {
    /// An account that draws from a ration.
    pub fn new(ration: Rc<Ration>) -> Account {
        Account { ration, steps: 0, most: u64::MAX, next: 0, told: 0, bytes: 0 }
    }

    /// What it draws from.
    pub fn ration(&self) -> &Rc<Ration> {
        &self.ration
    }

    /// Starts counting again, up to `most` or what the ration has left.
    pub fn begin(&mut self, most: u64) {
        self.settle();
        (self.steps, self.told, self.most) = (0, 0, most);
        self.next = self.next_look();
    }

    /// Steps since the beginning.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Counts steps; true when it is time for a [look](Account::look).
    #[inline]
    pub fn charge(&mut self, steps: u64) -> bool {
        self.steps = self.steps.saturating_add(steps);
        self.steps > self.next
    }

    /// Counts steps, and looks when it is time, with what was held at the last look.
    ///
    /// # Errors
    /// What there is no more of.
    pub fn pay(&mut self, steps: u64) -> Result<(), Exhausted> {
        if self.charge(steps) { self.look(self.bytes) } else { Ok(()) }
    }

    /// Reports to the ration what was taken.
    pub fn settle(&mut self) {
        self.ration.take(self.steps - self.told);
        self.told = self.steps;
    }

    /// `Ok` while there is more of everything; `bytes` is what is held now.
    ///
    /// # Errors
    /// What there is no more of.
    #[cold]
    pub fn look(&mut self, bytes: u64) -> Result<(), Exhausted> {
        self.settle();
        let own = self.ration.own.get().saturating_sub(self.bytes);
        self.ration.own.set(own.saturating_add(bytes));
        self.bytes = bytes;
        self.ration.look()?;
        if self.steps > self.most {
            return Err(Exhausted::of(Limit::AlgebraSteps, self.ration.budgets[Limit::AlgebraSteps]));
        }
        self.next = self.next_look();
        Ok(())
    }

    fn next_look(&self) -> u64 {
        self.steps.saturating_add(LOOK.min(self.ration.left())).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_where_they_do_alone_and_runs_behind_end_early() {
        let budgets = Budgets::default().with(Limit::AlgebraSteps, 100);
        let ration = Rc::new(Ration::new(budgets.clone(), 0, Held::default()));
        let mut account = Account::new(ration.clone());
        account.begin(u64::MAX);
        let taken = (1..).find(|_| account.charge(1) && account.look(0).is_err());
        assert_eq!(taken, Some(101), "the limit is exact");
        let mut account = Account::new(Rc::new(Ration::endless()));
        account.begin(5);
        assert_eq!((1..).find(|_| account.pay(1).is_err()), Some(6));
        let budgets = Budgets::default().with(Limit::AlgebraSteps, 10 * LOOK);
        let pool = Pool::new(10 * LOOK, u64::MAX, 3);
        let ration = |run| Ration::new(budgets.clone(), 0, Held::default()).of_pool(&pool, run);
        let (first, second) = (ration(0), ration(1));
        first.take(6 * LOOK);
        second.take(4 * LOOK);
        assert!(second.look().is_ok(), "nothing is known of the first yet");
        assert!(first.look().is_ok());
        second.take(LOOK);
        assert!(second.look().is_err());
        assert!(first.look().is_ok(), "what comes later does not matter");
    }

    #[test]
    fn memory_is_of_a_run_alone_and_the_first_never_waits() {
        let budgets = Budgets::default().with(Limit::MemoryBytes, 1000);
        let pool = Pool::new(u64::MAX, 1000, 2);
        let beside = Held { terms: 300, ..Held::default() };
        let ration = Rc::new(Ration::new(budgets, 0, beside).of_pool(&pool, 0));
        assert_eq!(pool.hold(1, 1400, &Deadline::default()), Ok(()), "it is the only one");
        let mut account = Account::new(ration);
        assert_eq!(account.look(700), Ok(()));
        let stop = account.look(701).expect_err("more than there is");
        assert_eq!(stop.held, Held { algebra: 701, ..beside });
        assert!(stop.to_string().contains("(tables of the algebra 701 B, terms 300 B)"), "{stop}");
        let over = Deadline::after(Duration::ZERO);
        assert_eq!(pool.hold(1, 400, &over).map_err(|stop| stop.limit), Err(None), "it waits for the first");
    }
}
