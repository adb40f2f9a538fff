//! A budget shared by parallel work, such that the results do not depend on how the work is scheduled.
//!
//! The steps of a case are accounted to its batches *as if they ran sequentially*: a batch may use what those
//! before it have left. While batches run in parallel, a batch ends early once it and those before it have
//! certainly used more than the budget: sequentially, it would have ended by then. Results beyond a batch's share
//! are dropped afterwards, in order.
//!
//! The memory of a batch is its own peak: those before it have freed theirs. In parallel, batches wait for the
//! first running one rather than exceed the budget together.

use super::budget::{Budgets, Deadline, Exhausted, Held, Limit};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Steps between two checks of the clock, of memory and of the other batches.
const LOOK: u64 = 1 << 14;
/// How long a batch waits before it checks again whether memory is free.
const PAUSE: Duration = Duration::from_millis(2);

/// The shared budget of batches that run in parallel.
#[derive(Debug)]
pub struct Pool {
    steps: u64,
    bytes: u64,
    runs: Vec<Slot>,
}

/// The use of one batch so far.
#[derive(Debug, Default)]
struct Slot {
    steps: AtomicU64,
    bytes: AtomicU64,
    /// Whether the batch is between its first check and its end.
    runs: AtomicBool,
}

impl Pool {
    /// A pool with a budget of steps and bytes for a number of batches.
    pub fn new(steps: u64, bytes: u64, runs: usize) -> Arc<Pool> {
        Arc::new(Pool { steps, bytes, runs: (0..runs).map(|_| Slot::default()).collect() })
    }

    /// Records the memory of a batch, and waits while all together exceed the budget and an earlier batch is running.
    ///
    /// # Errors
    /// The deadline passed while waiting.
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

    /// Records that a batch has ended, and the memory that it retains.
    pub fn leave(&self, run: usize, bytes: u64) {
        if let Some(slot) = self.runs.get(run) {
            slot.bytes.store(bytes, Ordering::Relaxed);
            slot.runs.store(false, Ordering::Relaxed);
        }
    }

    /// Records the total steps of a batch, and returns whether it and those before it exceed the budget.
    pub fn is_spent(&self, run: usize, steps: u64) -> bool {
        let Some(slot) = self.runs.get(run) else { return false };
        slot.steps.store(steps, Ordering::Relaxed);
        let taken = self.runs[..=run].iter().map(|slot| slot.steps.load(Ordering::Relaxed));
        taken.fold(0, u64::saturating_add) > self.steps
    }
}

/// The budget of one batch. It is drawn from through an [`Account`].
#[derive(Debug)]
pub struct Ration {
    budgets: Budgets,
    /// Steps for all elements together; the budget is for one.
    all: u64,
    /// Steps taken before this batch, and by it.
    before: u64,
    spent: Cell<u64>,
    /// Steps that the batch had taken when its present element began.
    since: Cell<u64>,
    /// Memory beside the batch's own tables, and of these tables.
    beside: Held,
    own: Cell<u64>,
    /// Steps and bytes that were last reported to the pool.
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
    /// A ration of a case's steps and memory, part of which is already used.
    pub fn new(budgets: Budgets, before: u64, beside: Held) -> Ration {
        Ration {
            all: budgets[Limit::AlgebraSteps],
            budgets,
            before,
            spent: Cell::new(0),
            since: Cell::new(0),
            beside,
            own: Cell::new(0),
            told: Cell::default(),
            pool: None,
        }
    }

    /// Lets all elements together take so many steps; each may take the budget.
    #[must_use]
    pub fn of_elements(mut self, all: u64) -> Ration {
        self.all = all;
        self
    }

    /// Another element begins.
    pub fn begin_element(&self) {
        self.since.set(self.spent.get());
    }

    /// Attaches the ration to a pool, as that of one of its batches.
    #[must_use]
    pub fn of_pool(mut self, pool: &Arc<Pool>, run: usize) -> Ration {
        self.pool = Some((pool.clone(), run));
        self
    }

    /// A ration without limits.
    pub fn endless() -> Ration {
        let all = Budgets::default().with(Limit::AlgebraSteps, u64::MAX).with(Limit::MemoryBytes, u64::MAX);
        Ration::new(all, 0, Held::default())
    }

    /// Steps taken so far.
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// Steps left for the present element.
    pub fn left(&self) -> u64 {
        let spent = self.spent.get();
        let of_all = self.all.saturating_sub(self.before.saturating_add(spent));
        of_all.min(self.budgets[Limit::AlgebraSteps].saturating_sub(spent - self.since.get()))
    }

    /// Adds steps that were counted elsewhere; the limit is checked at the next look.
    pub fn take(&self, steps: u64) {
        self.spent.set(self.spent.get().saturating_add(steps));
    }

    /// `Ok` while no limit is exceeded.
    ///
    /// # Errors
    /// The limit that is exceeded.
    pub fn look(&self) -> Result<(), Exhausted> {
        self.budgets.deadline.check()?;
        let spent = self.spent.get();
        if self.before.saturating_add(spent) > self.all {
            return Err(Exhausted::of(Limit::AlgebraSteps, self.all));
        }
        self.budgets.check(Limit::AlgebraSteps, spent - self.since.get())?;
        self.budgets.check_held(&Held { algebra: self.own.get(), ..self.beside })?;
        // The pool is not asked again after small changes.
        let news = self.own.get() != self.told.get().1 || self.spent.get() >= self.told.get().0 + LOOK;
        if let Some((pool, run)) = self.pool.as_ref().filter(|_| news) {
            self.told.set((self.spent.get(), self.own.get()));
            if pool.is_spent(*run, self.spent.get()) {
                return Err(Exhausted::of(Limit::AlgebraSteps, self.all));
            }
            pool.hold(*run, self.own.get(), &self.budgets.deadline)?;
        }
        Ok(())
    }
}

/// Draws from a ration in small amounts.
#[derive(Debug)]
pub struct Account {
    ration: Rc<Ration>,
    /// Steps since [`Account::begin`], their limit, and the count at which to look next.
    steps: u64,
    most: u64,
    next: u64,
    /// Steps that were reported to the ration.
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

    /// The ration that it draws from.
    pub fn ration(&self) -> &Rc<Ration> {
        &self.ration
    }

    /// Restarts the count, up to `most` or what the ration has left.
    pub fn begin(&mut self, most: u64) {
        self.settle();
        (self.steps, self.told, self.most) = (0, 0, most);
        self.next = self.next_look();
    }

    /// Steps since [`Account::begin`].
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Counts steps; true if it is time for a [look](Account::look).
    #[inline]
    pub fn charge(&mut self, steps: u64) -> bool {
        self.steps = self.steps.saturating_add(steps);
        self.steps > self.next
    }

    /// Counts steps, and looks if it is time, with the memory of the last look.
    ///
    /// # Errors
    /// The limit that is exceeded.
    pub fn pay(&mut self, steps: u64) -> Result<(), Exhausted> {
        if self.charge(steps) { self.look(self.bytes) } else { Ok(()) }
    }

    /// Reports the steps taken to the ration.
    pub fn settle(&mut self) {
        self.ration.take(self.steps - self.told);
        self.told = self.steps;
    }

    /// `Ok` while no limit is exceeded; `bytes` is the memory in use now.
    ///
    /// # Errors
    /// The limit that is exceeded.
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
