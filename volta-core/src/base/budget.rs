//! Deterministic limits (rule L1): every search and every loop draws from one of these.

use std::fmt;

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// Warp instructions that one CTA executes.
    Instructions,
    /// Bytes of terms that one side stores.
    TermBytes,
    /// Bytes of memory contents and race state that one CTA touches.
    MemoryBytes,
    /// Threads of one CTA.
    BlockThreads,
    /// CTAs that one side runs.
    Ctas,
    /// Steps of algebra for one output element.
    AlgebraSteps,
    /// Operations of a program once its calls are laid out inline.
    ProgramSize,
}

impl Limit {
    /// The name of the option that raises this limit.
    pub fn option(self) -> &'static str {
        match self {
            Limit::Instructions => "max_instructions",
            Limit::TermBytes => "max_term_bytes",
            Limit::MemoryBytes => "max_memory_bytes",
            Limit::BlockThreads => "max_block_threads",
            Limit::Ctas => "max_ctas",
            Limit::AlgebraSteps => "max_algebra_steps",
            Limit::ProgramSize => "max_program_size",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Limit::Instructions => "warp instructions in one CTA",
            Limit::TermBytes => "bytes of terms",
            Limit::MemoryBytes => "bytes of memory state in one CTA",
            Limit::BlockThreads => "threads in one CTA",
            Limit::Ctas => "CTAs",
            Limit::AlgebraSteps => "steps of algebra for one output element",
            Limit::ProgramSize => "operations in one kernel",
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
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the budget of {} {} is used up; raise it with the option `{}`",
            self.allowed,
            self.limit.what(),
            self.limit.option()
        )
    }
}

/// The limits of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// Warp instructions per CTA.
    pub instructions: u64,
    /// Bytes of terms per side.
    pub term_bytes: u64,
    /// Bytes of memory and race state per CTA.
    pub memory_bytes: u64,
    /// Threads per CTA; the hardware's own limit.
    pub block_threads: u64,
    /// CTAs per side.
    pub ctas: u64,
    /// Steps of algebra per output element.
    pub algebra_steps: u64,
    /// Operations per kernel.
    pub program_size: u64,
}

impl Default for Budgets {
    fn default() -> Budgets {
        Budgets {
            instructions: 200_000_000,
            term_bytes: 4 << 30,
            memory_bytes: 2 << 30,
            block_threads: 1024,
            ctas: 65_536,
            algebra_steps: 50_000_000,
            program_size: 1 << 20,
        }
    }
}

impl Budgets {
    /// The value of one limit.
    pub fn of(&self, limit: Limit) -> u64 {
        match limit {
            Limit::Instructions => self.instructions,
            Limit::TermBytes => self.term_bytes,
            Limit::MemoryBytes => self.memory_bytes,
            Limit::BlockThreads => self.block_threads,
            Limit::Ctas => self.ctas,
            Limit::AlgebraSteps => self.algebra_steps,
            Limit::ProgramSize => self.program_size,
        }
    }

    /// `Ok` while `used` stays within `limit`.
    pub fn check(&self, limit: Limit, used: u64) -> Result<(), Exhausted> {
        let allowed = self.of(limit);
        if used <= allowed { Ok(()) } else { Err(Exhausted { limit, allowed }) }
    }
}
