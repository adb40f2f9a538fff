//! The work of a CTA, and what it takes of the budgets.

use crate::base::budget::{Budgets, Held, Limit};
use crate::base::ration::Pool;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use std::cell::Cell;

/// What a CTA shares with the others of its launch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Beside<'l> {
    /// Warp instructions that the CTAs before it executed.
    pub(crate) instructions: u64,
    /// Memory that they keep.
    pub(crate) held: Held,
    /// The pool of the CTAs that are executed at the same time, and this one's index in it.
    pub(crate) pool: Option<(&'l Pool, usize)>,
}

/// The resources of a CTA at its peak.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    pub(crate) instructions: u64,
    pub(crate) held: Held,
}

/// What CTAs have executed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Warp instructions.
    pub warp_instructions: u64,
    /// Thread instructions.
    pub thread_instructions: u64,
    /// CTA barriers completed.
    pub barriers: u64,
    /// Warp barriers completed.
    pub warp_syncs: u64,
    /// Whether a step of a function was executed on known numbers only.
    pub at_known_points: bool,
}

/// What a CTA has done so far.
pub(crate) struct Work<'l> {
    pub(crate) context: Context<'l>,
    pub(crate) counts: Counts,
    /// What the other CTAs of the launch took of the budgets.
    pub(crate) beside: Beside<'l>,
    /// The memory that it held at its peak.
    most_held: Cell<Held>,
    /// Bytes of registers, local memory and shared memory, as allocated at the start.
    own_bytes: u64,
    /// Work charged at a quarter of an instruction: operations examined to analyse branches and loops, and pieces of
    /// copies.
    pub(crate) looked_at: u64,
}

impl<'l> Work<'l> {
    /// Before the first instruction, of threads with so many bytes of their own.
    pub(crate) fn new(context: Context<'l>, own_bytes: u64) -> Work<'l> {
        let (counts, beside, most_held) = (Counts::default(), Beside::default(), Cell::default());
        Work { context, counts, beside, most_held, own_bytes, looked_at: 0 }
    }

    /// Checks all budgets, where the state takes so much memory.
    pub(crate) fn check(&self, state: &Held) -> Result<(), Stop> {
        let budgets: &Budgets = &self.context.options.budgets;
        budgets.deadline.check()?;
        budgets.check(Limit::Instructions, self.beside.instructions + self.instructions())?;
        let held = state.and(&Held { state: self.own_bytes, ..Held::default() });
        if held.total() > self.most_held.get().total() {
            self.most_held.set(held);
        }
        budgets.check_held(&self.beside.held.and(&held))?;
        if let Some((pool, run)) = self.beside.pool {
            pool.hold(run, held.total(), &budgets.deadline)?;
        }
        Ok(())
    }

    /// Checks the time, and the instructions as if so much more had been examined.
    pub(crate) fn check_more(&self, looked_at: u64) -> Result<(), Stop> {
        let budgets: &Budgets = &self.context.options.budgets;
        budgets.deadline.check()?;
        let used = self.beside.instructions + self.instructions() + looked_at / 4;
        Ok(budgets.check(Limit::Instructions, used)?)
    }

    /// The instructions charged so far: examining an operation costs a quarter of executing it.
    fn instructions(&self) -> u64 {
        self.counts.warp_instructions + self.looked_at / 4
    }

    /// The resources taken so far.
    pub(crate) fn taken(&self) -> Taken {
        Taken { instructions: self.instructions(), held: self.most_held.get() }
    }
}
