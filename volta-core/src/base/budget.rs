//! Deterministic limits (rule L1): every search and every loop draws from one of these. And the one limit that is not,
//! the deadline that a user may set.

use std::fmt;
use std::time::{Duration, Instant};

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// Warp instructions that one side executes.
    Instructions,
    /// Bytes that are kept for the case.
    MemoryBytes,
    /// Threads of one CTA.
    BlockThreads,
    /// CTAs that one side runs.
    Ctas,
    /// Steps of algebra for all output elements.
    AlgebraSteps,
    /// Operations of a program once its calls are laid out inline.
    ProgramSize,
    /// Milliseconds.
    Time,
}

impl Limit {
    /// The name of the option that raises this limit.
    pub fn option(self) -> &'static str {
        match self {
            Limit::Instructions => "max_instructions",
            Limit::MemoryBytes => "max_memory_bytes",
            Limit::BlockThreads => "max_block_threads",
            Limit::Ctas => "max_ctas",
            Limit::AlgebraSteps => "max_algebra_steps",
            Limit::ProgramSize => "max_program_size",
            Limit::Time => "timeout",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Limit::Instructions => "warp instructions",
            Limit::MemoryBytes => "bytes of memory",
            Limit::BlockThreads => "threads in one CTA",
            Limit::Ctas => "CTAs",
            Limit::AlgebraSteps => "steps of algebra",
            Limit::ProgramSize => "operations in one kernel",
            Limit::Time => "milliseconds",
        }
    }
}

/// What bytes are kept for. Counted by sizes, not measured, so that they are the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Terms.
    pub terms: u64,
    /// Contents of memory and registers of the CTA that runs.
    pub state: u64,
    /// What is remembered of accesses to find races, within a CTA and between CTAs.
    pub accesses: u64,
    /// What is known of terms before they are proved equal.
    pub analysis: u64,
    /// Tables of the algebra.
    pub algebra: u64,
}

impl Held {
    /// All of it.
    pub fn total(&self) -> u64 {
        let parts = [self.terms, self.state, self.accesses, self.analysis, self.algebra];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Both together.
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

/// A number of bytes as people write it.
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

/// A limit was reached: which, and where it stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// The limit.
    pub limit: Limit,
    /// Its value.
    pub allowed: u64,
    /// What took it, of memory.
    pub held: Held,
}

impl Exhausted {
    /// Nothing is left of a limit that is no memory.
    pub fn of(limit: Limit, allowed: u64) -> Exhausted {
        Exhausted { limit, allowed, held: Held::default() }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (allowed, option) = (self.allowed, self.limit.option());
        match self.limit {
            Limit::Time => {
                let timeout = Duration::from_millis(allowed);
                write!(f, "the timeout of {timeout:?} has passed; raise it with the option `{option}`")
            }
            Limit::MemoryBytes => write!(
                f,
                "the budget of {} of memory is used up ({}); raise it with the option `{option}`",
                Bytes(allowed),
                self.held
            ),
            Limit::Instructions
            | Limit::BlockThreads
            | Limit::Ctas
            | Limit::AlgebraSteps
            | Limit::ProgramSize => write!(
                f,
                "the budget of {allowed} {} is used up; raise it with the option `{option}`",
                self.limit.what(),
            ),
        }
    }
}

/// When a case ends whatever it is at, if the user says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline(Option<(Instant, Duration)>);

impl Deadline {
    /// A deadline that long from now.
    pub fn after(timeout: Duration) -> Deadline {
        // What lies beyond the clock's end never comes.
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
                Err(Exhausted::of(Limit::Time, allowed))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The limits of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// Warp instructions per side.
    pub instructions: u64,
    /// Bytes that are kept for the case.
    pub memory_bytes: u64,
    /// Threads per CTA; the hardware's own limit.
    pub block_threads: u64,
    /// CTAs per side.
    pub ctas: u64,
    /// Steps of algebra for all output elements.
    pub algebra_steps: u64,
    /// Operations per kernel.
    pub program_size: u64,
    /// When the case ends in any case.
    pub deadline: Deadline,
}

impl Default for Budgets {
    fn default() -> Budgets {
        Budgets {
            instructions: 200_000_000,
            memory_bytes: 8 << 30,
            block_threads: 1024,
            ctas: 65_536,
            algebra_steps: 50_000_000,
            program_size: 1 << 20,
            deadline: Deadline::default(),
        }
    }
}

impl Budgets {
    /// The value of one limit.
    fn of(&self, limit: Limit) -> u64 {
        match limit {
            Limit::Instructions => self.instructions,
            Limit::MemoryBytes => self.memory_bytes,
            Limit::BlockThreads => self.block_threads,
            Limit::Ctas => self.ctas,
            Limit::AlgebraSteps => self.algebra_steps,
            Limit::ProgramSize => self.program_size,
            Limit::Time => u64::MAX,
        }
    }

    /// `Ok` while `used` stays within `limit`.
    ///
    /// # Errors
    /// The limit.
    pub fn check(&self, limit: Limit, used: u64) -> Result<(), Exhausted> {
        let allowed = self.of(limit);
        if used <= allowed { Ok(()) } else { Err(Exhausted::of(limit, allowed)) }
    }

    /// `Ok` while what is held stays within the limit of memory.
    ///
    /// # Errors
    /// The limit, and what took it.
    pub fn check_held(&self, held: &Held) -> Result<(), Exhausted> {
        let allowed = self.memory_bytes;
        let within = held.total() <= allowed;
        if within { Ok(()) } else { Err(Exhausted { limit: Limit::MemoryBytes, allowed, held: *held }) }
    }
}
