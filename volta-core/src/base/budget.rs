//! Deterministic limits (rule L1): every search and every loop draws from one of these. The exception is the
//! timeout that a user may set.

use std::fmt;
use std::ops::{Index, IndexMut};
use std::time::{Duration, Instant};

pub use volta_case::{Limit, Limits};

use super::watch::Watch;

/// Memory in bytes by purpose. Computed from sizes, not measured, so that it is the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Terms.
    pub terms: u64,
    /// Memory contents and registers of the running CTA.
    pub state: u64,
    /// Records of accesses for race detection, within a CTA and between CTAs.
    pub accesses: u64,
    /// Facts about terms that are collected before proofs.
    pub analysis: u64,
    /// Tables of the algebra.
    pub algebra: u64,
}

impl Held {
    /// The sum.
    pub fn total(&self) -> u64 {
        let parts = [self.terms, self.state, self.accesses, self.analysis, self.algebra];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// The sum of both, by purpose.
    #[must_use]
    pub fn and(&self, other: &Held) -> Held {
        Held {
            terms: self.terms.saturating_add(other.terms),
            state: self.state.saturating_add(other.state),
            accesses: self.accesses.saturating_add(other.accesses),
            analysis: self.analysis.saturating_add(other.analysis),
            algebra: self.algebra.saturating_add(other.algebra),
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = [
            (self.terms, "terms"),
            (self.state, "memory and registers"),
            (self.accesses, "accesses"),
            (self.analysis, "facts about terms"),
            (self.algebra, "tables of the algebra"),
        ];
        parts.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        let mut first = true;
        for (bytes, what) in parts.into_iter().filter(|(bytes, _)| *bytes > 0) {
            f.write_str(if first { "" } else { ", " })?;
            write!(f, "{what} {}", Bytes(bytes))?;
            first = false;
        }
        Ok(())
    }
}

/// A number of bytes in a readable unit.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bytes(bytes) = *self;
        match bytes {
            0..1_000 => write!(f, "{bytes} B"),
            1_000..1_000_000 => write!(f, "{:.1} kB", bytes as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.1} MB", bytes as f64 / 1e6),
            _ => write!(f, "{:.1} GB", bytes as f64 / 1e9),
        }
    }
}

/// The error that a limit was reached, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// The limit; `None` is the timeout, in milliseconds.
    pub limit: Option<Limit>,
    /// Its value.
    pub allowed: u64,
    /// Memory by purpose, for a limit of memory.
    pub held: Held,
}

impl Exhausted {
    /// The error for a limit other than memory.
    pub fn of(limit: Limit, allowed: u64) -> Exhausted {
        Exhausted { limit: Some(limit), allowed, held: Held::default() }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let allowed = self.allowed;
        let Some(limit) = self.limit else {
            let timeout = Duration::from_millis(allowed);
            return write!(f, "the timeout of {timeout:?} has passed; raise it with the option `timeout`");
        };
        let option = limit.name();
        match limit {
            Limit::MemoryBytes => write!(
                f,
                "the budget of {} of memory is used up ({}); raise it with the option `{option}`",
                Bytes(allowed),
                self.held
            ),
            // Whether more would help is another question.
            Limit::AlgebraSteps => {
                write!(f, "the budget of {allowed} {} is used up (`{option}`)", limit.counts())
            }
            Limit::Instructions | Limit::BlockThreads | Limit::Ctas | Limit::ProgramSize => write!(
                f,
                "the budget of {allowed} {} is used up; raise it with the option `{option}`",
                limit.counts(),
            ),
        }
    }
}

/// The time at which a case is stopped, if there is a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline(Option<(Instant, Duration)>);

impl Deadline {
    /// A deadline `timeout` from now.
    pub fn after(timeout: Duration) -> Deadline {
        // `None` beyond the range of the clock: never reached.
        Deadline(Instant::now().checked_add(timeout).map(|end| (end, timeout)))
    }

    /// Whether it has passed.
    pub fn is_over(&self) -> bool {
        self.0.is_some_and(|(end, _)| Instant::now() >= end)
    }

    /// `Ok` until it has passed.
    ///
    /// # Errors
    /// The timeout.
    pub fn check(&self) -> Result<(), Exhausted> {
        match self.0 {
            Some((end, timeout)) if Instant::now() >= end => {
                let allowed = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
                Err(Exhausted { limit: None, allowed, held: Held::default() })
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The limits of one case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// The value of each limit.
    pub limits: Limits,
    /// The time at which the case is stopped.
    pub deadline: Deadline,
    /// Counts what is done.
    pub watch: Watch,
}

impl Index<Limit> for Budgets {
    type Output = u64;

    fn index(&self, limit: Limit) -> &u64 {
        &self.limits[limit]
    }
}

impl IndexMut<Limit> for Budgets {
    fn index_mut(&mut self, limit: Limit) -> &mut u64 {
        &mut self.limits[limit]
    }
}

impl Budgets {
    /// These budgets with one limit replaced.
    #[must_use]
    pub fn with(mut self, limit: Limit, most: u64) -> Budgets {
        self[limit] = most;
        self
    }

    /// `Ok` if `used` is within `limit`.
    ///
    /// # Errors
    /// The limit.
    pub fn check(&self, limit: Limit, used: u64) -> Result<(), Exhausted> {
        let allowed = self[limit];
        if used <= allowed { Ok(()) } else { Err(Exhausted::of(limit, allowed)) }
    }

    /// `Ok` if the memory in use is within the limit.
    ///
    /// # Errors
    /// The limit, and the memory by purpose.
    pub fn check_held(&self, held: &Held) -> Result<(), Exhausted> {
        let allowed = self[Limit::MemoryBytes];
        let within = held.total() <= allowed;
        if within { Ok(()) } else { Err(Exhausted { limit: Some(Limit::MemoryBytes), allowed, held: *held }) }
    }
}
