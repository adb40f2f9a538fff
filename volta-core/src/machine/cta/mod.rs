//! The state of a CTA that runs, or of several that run together: all CTAs of a cluster (rule Y13) or of a cooperative grid
//! (Y15). It owns the parts that operations borrow: [`accesses`] has them, [`work`] counts.
//!
//! Operations are methods of the least part that they need; they, and the order in which threads execute them, lie above.

pub(crate) mod accesses;
pub(crate) mod work;

use super::cta_class::ClassRun;
use crate::base::budget::{Exhausted, Held};
use crate::base::lane::LaneMask;
use crate::case::Options;
use crate::launch::Launch;
use crate::machine::group::context::Context;
use crate::machine::group::endless::Watch;
use crate::machine::group::lockstep::InStep;
use crate::machine::group::values::Values;
use crate::machine::group::warp::Warp;
use crate::machine::memory::access_pattern::AccessPatterns;
use crate::machine::memory::contents::Memory;
use crate::machine::memory::overlap::OverlapOfCta;
use crate::machine::memory::tensor_allocations::TensorMemory;
use crate::machine::sync::synchronisation::{Mode, Synchronisation};
use crate::program::{Hammock, InstId, Program};
use accesses::{Accesses, Arithmetic, Asynchronous, UnwrittenReads};
use std::sync::Arc;
use work::Work;

/// The effect of a guard.
pub(crate) enum Guarded {
    /// These lanes execute the operation.
    Lanes(LaneMask),
    /// The operation has been executed as a select.
    Done,
    /// The operation was a branch that depends on the input; each lane's program counter is set.
    Moved,
}

/// A CTA while it runs, or several that run together.
pub(crate) struct Cta<'l> {
    pub(crate) context: Context<'l>,
    pub(crate) values: Values<'l>,
    pub(crate) sync: Synchronisation<'l>,
    pub(crate) memory: Memory,
    pub(crate) work: Work<'l>,
    /// The regions of branches that depend on the input, by the branch.
    pub(super) hammocks: rustc_hash::FxHashMap<InstId, Arc<Hammock>>,
    /// Tensor memory.
    pub(crate) tensor_memory: TensorMemory,
    /// Searches for loops over barriers that do not end.
    pub(super) watch: Watch,
    /// Its warps, unless they run.
    pub(crate) warps: Vec<Warp>,
    /// The registers of all warps in lockstep, if this is possible.
    pub(super) lockstep: Option<InStep>,
    /// With vector clocks: the first read of each instruction that found unwritten memory.
    pub(crate) unwritten: UnwrittenReads,
    /// The cost of its accesses, if requested.
    pub(super) patterns: Option<Box<AccessPatterns>>,
    /// What other launches may conflict with, if some overlap with this one.
    pub(crate) overlap: Option<Box<OverlapOfCta>>,
    /// The CTAs for which it runs, if it is not the only one.
    pub(super) class: Option<Box<ClassRun>>,
    /// Whether the other warps go on where one uses a value that nothing has written.
    pub(super) past_undefined: bool,
}

impl<'l> Cta<'l> {
    /// A CTA before its first step.
    ///
    /// # Errors
    /// If the memory of all its threads, which a short text can make huge, exceeds the budget.
    pub(crate) fn new(
        launch: &'l Launch<'l>,
        options: &'l Options,
        linear: u64,
        mode: Mode,
    ) -> Result<Cta<'l>, Exhausted> {
        let own_bytes = bytes_of_cluster(launch);
        options.budgets.check_held(&Held { state: own_bytes, ..Held::default() })?;
        let (threads, ranks) = (launch.threads(), launch.ranks());
        let warps = (0..ranks).flat_map(|rank| (0..launch.warps()).map(move |number| (rank, number)));
        let warps = warps
            .enumerate()
            .map(|(index, (rank, number))| {
                let count = (threads - 32 * number).min(32);
                let exists = LaneMask::from_bits(u32::MAX >> (32 - count));
                let (program, local) = (launch.program, launch.local_cells);
                Warp::new((index, rank, number), exists, program.registers, program.predicates, local)
            })
            .collect();
        let (registers, predicates) = (launch.program.registers, launch.program.predicates);
        let lockstep = match mode {
            // In lockstep, accesses of several warps would count as one.
            Mode::Lockstep if options.access_patterns => None,
            Mode::Lockstep => InStep::new(threads, registers, predicates, options),
            Mode::WarpByWarp | Mode::VectorClocks | Mode::Counting | Mode::PastUndefined => None,
        };
        let context = Context { launch, options, linear };
        let mut cta = Cta {
            context,
            values: Values::new(context, mode == Mode::Counting),
            sync: Synchronisation::new(context, mode),
            overlap: None,
            class: None,
            past_undefined: mode == Mode::PastUndefined,
            watch: Watch::default(),
            memory: Memory::new(launch.shared_cells * ranks),
            work: Work::new(context, own_bytes),
            hammocks: rustc_hash::FxHashMap::default(),
            tensor_memory: TensorMemory::default(),
            warps,
            lockstep,
            unwritten: UnwrittenReads::new(),
            patterns: options.access_patterns.then(Box::default),
        };
        cta.overlap = OverlapOfCta::of(launch, &mut cta.sync.order);
        Ok(cta)
    }

    /// What asynchronous operations need.
    #[inline]
    pub(crate) fn asynchronous(&mut self) -> Asynchronous<'_, 'l> {
        let Cta { context, values, sync, memory, work, unwritten, patterns, overlap, tensor_memory, .. } =
            self;
        let context = *context;
        let accesses = Accesses { context, values, sync, memory, work, unwritten, patterns, overlap };
        Asynchronous { context, accesses, tensor_memory }
    }

    /// What an access of memory needs.
    #[inline]
    pub(crate) fn accesses(&mut self) -> Accesses<'_, 'l> {
        self.asynchronous().accesses
    }

    /// What computes with floats.
    #[inline]
    pub(super) fn arithmetic(&mut self) -> Arithmetic<'_, 'l> {
        Arithmetic { context: self.context, values: &mut self.values, work: &mut self.work }
    }
}

/// Bytes that a cluster takes before its first step: registers, local memory, shared memory.
fn bytes_of_cluster(launch: &Launch<'_>) -> u64 {
    let Program { registers, predicates, .. } = *launch.program;
    let warp = Warp::bytes(registers, predicates, launch.local_cells);
    let shared = Memory::shared_bytes(launch.shared_cells);
    let cta = (launch.warps() as u64).saturating_mul(warp).saturating_add(shared);
    cta.saturating_mul(launch.ranks().into())
}
