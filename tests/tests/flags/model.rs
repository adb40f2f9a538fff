//! Small programs whose threads wait for flags (rule Y15), and everything that can happen in them.
//!
//! A [`Program`] is up to four threads that read and write rows of global memory, change flags by additions and stores, wait
//! in loops until a flag has a number, and execute fences and barriers. Where its threads run, its [`Layout`] says: in
//! a CTA each, as warps or lanes of one CTA, or two by two. [`explore`](crate::explore::explore) takes their steps in every order,
//! with the weak behaviours that rule Y15 and the memory model of PTX leave open:
//!
//! * a load of a flag may find any of its changes that is not older than what its thread must have seen: by coherence of
//!   its own accesses, and by happens-before;
//! * a relaxed change may take effect later than what follows it in its thread, up to the next fence that releases, change
//!   that releases, barrier or access of the same flag;
//! * what happens before what follows from the rules alone: changes that release, relaxed ones behind fences, additions
//!   that hand on what earlier changes told, loads that acquire, and fences behind relaxed loads, each within its scope.
//!
//! Where each thread is a CTA, it may load a flag once ahead of a wait, which is in rounds of a barrier then: if it finds
//! what the wait is for, it passes the wait without another load.
//!
//! A race is an access that nothing orders with an earlier one by another thread, in some run. It shares nothing with the
//! verifier, which runs a program once.
//!
//! Not modelled: what an atomic operation learns (nothing, by rule Y15), fences of sequential consistency (they are those
//! that acquire and release), changes other than additions and stores, flags of other widths, loops but for those that wait.

/// The most threads.
pub(crate) const THREADS: usize = 4;
/// Flags.
pub(crate) const FLAGS: usize = 2;
/// Rows of plain memory, one word each.
pub(crate) const ROWS: usize = 3;
/// The most steps of a thread.
pub(crate) const STEPS: usize = 15;

/// Where threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Each in its own CTA of a cooperative grid.
    Grid,
    /// Each in its own CTA of a cluster.
    Cluster,
    /// Each in its own warp of one CTA.
    Warps,
    /// The same, with flags in shared memory.
    Shared,
    /// Lanes of one warp.
    Lanes,
    /// Two warps in each CTA of a cooperative grid.
    Pairs,
}

impl Layout {
    /// All of them.
    pub(crate) const ALL: [Layout; 6] =
        [Layout::Grid, Layout::Cluster, Layout::Warps, Layout::Shared, Layout::Lanes, Layout::Pairs];

    /// The CTA of a thread.
    pub(crate) fn cta(self, thread: usize) -> usize {
        match self {
            Layout::Grid | Layout::Cluster => thread,
            Layout::Warps | Layout::Shared | Layout::Lanes => 0,
            Layout::Pairs => thread / 2,
        }
    }

    /// Whether an operation of a scope by one thread is one for another.
    pub(crate) fn reaches(self, scope: Scope, from: usize, to: usize) -> bool {
        match scope {
            Scope::Cta => self.cta(from) == self.cta(to),
            Scope::Cluster => self == Layout::Cluster || self.cta(from) == self.cta(to),
            Scope::Gpu | Scope::Sys => true,
        }
    }

    /// Whether a fence of a scope is one for all threads.
    pub(crate) fn reaches_all(self, scope: Scope) -> bool {
        self.reaches(scope, 0, THREADS - 1)
    }
}

/// A scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// How a load or a store is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// It is plain.
    Weak,
    /// `.volatile`: relaxed, for all threads.
    Volatile,
    /// `.relaxed`
    Relaxed,
    /// `.release` of stores, `.acquire` of loads.
    Ordered,
}

/// How an addition is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOrder {
    /// `.relaxed`
    Relaxed,
    /// `.acquire`, which tells nothing.
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    Both,
}

impl AtomicOrder {
    /// Whether it tells what was before it.
    pub(crate) fn releases(self) -> bool {
        matches!(self, AtomicOrder::Release | AtomicOrder::Both)
    }
}

/// What a fence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FenceKind {
    /// `fence.sc`
    Sequential,
    /// `fence.acq_rel`
    Both,
    /// `fence.acquire`
    Acquire,
    /// `fence.release`
    Release,
    /// `membar`
    Membar,
}

impl FenceKind {
    /// Whether it releases, and whether it acquires.
    pub(crate) fn orders(self) -> (bool, bool) {
        match self {
            FenceKind::Sequential | FenceKind::Both | FenceKind::Membar => (true, true),
            FenceKind::Acquire => (false, true),
            FenceKind::Release => (true, false),
        }
    }
}

/// The condition that ends a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// The flag is at least this.
    AtLeast(u32),
    /// It is this.
    Equal(u32),
    /// It is not this.
    Differs(u32),
    /// One of these bits is set.
    Bits(u32),
    /// One of these bits is not what the thread's last addition with a result found there.
    OldDiffers(u32),
    /// It is what that addition found, and so much more.
    OldAndMore(u32),
}

impl Until {
    /// Whether it holds, if the flag has a number and the addition found another one.
    pub(crate) fn holds(self, flag: u32, old: u32) -> bool {
        match self {
            Until::AtLeast(number) => flag >= number,
            Until::Equal(number) => flag == number,
            Until::Differs(number) => flag != number,
            Until::Bits(bits) => flag & bits != 0,
            Until::OldDiffers(bits) => (flag ^ old) & bits != 0,
            Until::OldAndMore(more) => flag.wrapping_sub(old) >= more,
        }
    }
}

/// A step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Adds a row to the thread's sum.
    Read(u8),
    /// Writes a number to a row.
    Write(u8, u8),
    /// Adds to a flag.
    Add {
        /// The flag.
        flag: u8,
        /// The number that is added.
        by: u32,
        /// How it is ordered.
        order: AtomicOrder,
        /// Its scope.
        scope: Scope,
        /// Whether the thread gets what was there.
        old: bool,
    },
    /// Stores to a flag.
    Set {
        /// The flag.
        flag: u8,
        /// The number.
        to: u32,
        /// How it is ordered.
        order: Order,
        /// Its scope.
        scope: Scope,
    },
    /// Loads a flag until a condition holds.
    Wait {
        /// The flag.
        flag: u8,
        /// The condition.
        until: Until,
        /// How the load is ordered.
        order: Order,
        /// Its scope.
        scope: Scope,
        /// Whether what was found goes into the thread's sum.
        used: bool,
    },
    /// Loads a flag once, ahead of the thread's next wait, which is in rounds of a barrier then.
    Look {
        /// Whether it is not the flag that the wait is for.
        other: bool,
    },
    /// A fence.
    Fence(FenceKind, Scope),
    /// The barrier of the CTA.
    Meet,
}

/// Who accesses a place, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A row or a flag, plainly, and whether it is written.
    Plain(Place, bool),
    /// A flag is loaded in a loop.
    Load(u8, Scope),
    /// A flag is stored to.
    Store(u8, Scope),
    /// A flag is added to.
    Addition(u8, Scope),
}

/// A word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Row(u8),
    Flag(u8),
}

impl Act {
    /// What it accesses.
    pub(crate) fn access(self) -> Option<Access> {
        let sys = |order, scope| if order == Order::Volatile { Scope::Sys } else { scope };
        match self {
            Act::Read(row) => Some(Access::Plain(Place::Row(row), false)),
            Act::Write(row, _) => Some(Access::Plain(Place::Row(row), true)),
            Act::Add { flag, scope, .. } => Some(Access::Addition(flag, scope)),
            Act::Set { flag, order: Order::Weak, .. } => Some(Access::Plain(Place::Flag(flag), true)),
            Act::Set { flag, order, scope, .. } => Some(Access::Store(flag, sys(order, scope))),
            Act::Wait { flag, order: Order::Weak, .. } => Some(Access::Plain(Place::Flag(flag), false)),
            Act::Wait { flag, order, scope, .. } => Some(Access::Load(flag, sys(order, scope))),
            // See [`Program::look`].
            Act::Look { .. } => None,
            Act::Fence(..) | Act::Meet => None,
        }
    }
}

impl Access {
    fn place(self) -> Place {
        match self {
            Access::Plain(place, _) => place,
            Access::Load(flag, _) | Access::Store(flag, _) | Access::Addition(flag, _) => Place::Flag(flag),
        }
    }

    fn writes(self) -> bool {
        match self {
            Access::Plain(_, writes) => writes,
            Access::Load(..) => false,
            Access::Store(..) | Access::Addition(..) => true,
        }
    }

    fn scope(self) -> Option<Scope> {
        match self {
            Access::Plain(..) => None,
            Access::Load(_, scope) | Access::Store(_, scope) | Access::Addition(_, scope) => Some(scope),
        }
    }

    /// What two threads must not do if nothing orders it.
    pub(crate) fn conflict(
        self,
        own: usize,
        other: Access,
        others: usize,
        layout: Layout,
    ) -> Option<Conflict> {
        if self.place() != other.place() || !(self.writes() || other.writes()) {
            return None;
        }
        let (Some(scope), Some(another)) = (self.scope(), other.scope()) else { return Some(Conflict::Race) };
        let is_strong = layout.reaches(scope, own, others) && layout.reaches(another, others, own);
        if !is_strong {
            return Some(Conflict::Race);
        }
        let is_store = |access| matches!(access, Access::Store(..));
        let are_changes = self.writes() && other.writes();
        (are_changes && (is_store(self) || is_store(other))).then_some(Conflict::Changes)
    }
}

/// What is wrong with two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// They race.
    Race,
    /// They are changes of a flag, of which one is a store: who has found the one makes the other one later.
    Changes,
}

/// A program. The flags hold 0 at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// Where its threads run.
    pub(crate) layout: Layout,
    /// The steps of each thread.
    pub(crate) threads: Vec<Vec<Act>>,
}

/// A load ahead of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The step that waits.
    pub(crate) wait: usize,
    /// The flag that is loaded.
    pub(crate) flag: u8,
    pub(crate) until: Until,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
}

impl Look {
    pub(crate) fn access(self) -> Access {
        Access::Load(self.flag, if self.order == Order::Volatile { Scope::Sys } else { self.scope })
    }
}

impl Program {
    /// The load that a step makes ahead of the next wait; `None` if it is no such step, or the next wait is not one that may
    /// have one.
    pub(crate) fn look(&self, thread: usize, step: usize) -> Option<Look> {
        let acts = &self.threads[thread];
        let Act::Look { other } = *acts.get(step)? else { return None };
        let next =
            (step + 1..acts.len()).find(|next| matches!(acts[*next], Act::Wait { .. } | Act::Look { .. }))?;
        let Act::Wait { flag, until, order, scope, used: false } = acts[next] else { return None };
        let flag = if other { 1 - flag } else { flag };
        let has_rounds = matches!(self.layout, Layout::Grid | Layout::Cluster) && order != Order::Weak;
        has_rounds.then_some(Look { wait: next, flag, until, order, scope })
    }

    /// Whether some thread loads a flag ahead of a wait.
    pub(crate) fn loads_ahead(&self) -> bool {
        let steps = |thread: usize| (0..self.threads[thread].len()).map(move |step| (thread, step));
        (0..self.threads.len()).flat_map(steps).any(|(thread, step)| self.look(thread, step).is_some())
    }

    /// The step that loads ahead of a wait.
    pub(crate) fn looked(&self, thread: usize, wait: usize) -> Option<usize> {
        (0..wait).rev().find(|step| self.look(thread, *step).is_some_and(|look| look.wait == wait))
    }

    /// What a step accesses.
    pub(crate) fn access(&self, thread: usize, step: usize) -> Option<Access> {
        self.threads[thread].get(step)?.access().or_else(|| self.look(thread, step).map(Look::access))
    }
}

/// The initial contents of a row.
pub(crate) fn initial(row: usize) -> u32 {
    3 + 2 * row as u32
}

/// A thread's sum, with a number more.
pub(crate) fn added(sum: u32, value: u32) -> u32 {
    sum.wrapping_mul(31).wrapping_add(value)
}
