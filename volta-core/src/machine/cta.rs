//! One CTA, or all CTAs of a cluster (rule Y13) or of a cooperative grid (Y15), which run together: the warps take
//! turns until all have returned, one is at fault, or no thread can proceed.
//!
//! While all threads are at one instruction, [`super::lockstep`] runs them together. Otherwise [`super::schedule`]
//! determines the order: normally warps in order, each until it can take no step, and within a warp the lanes at the
//! lowest instruction, so that diverged lanes reconverge.

use super::access_pattern::AccessPatterns;
use super::context::Context;
use super::cta_class::ClassRun;
use super::endless::Watch;
use super::exec::{Accesses, Arithmetic, Asynchronous, UnwrittenReads};
use super::launch::Launch;
use super::lockstep::InStep;
use super::memory::Memory;
use super::overlap::OverlapOfCta;
use super::schedule::{Turn, Turns};
use super::stop::Stop;
use super::synchronisation::{Mode, Synchronisation};
use super::tensor_memory::TensorMemory;
use super::values::Values;
use super::warp::{Lanes, Warp};
use super::work::Work;
use crate::base::budget::{Exhausted, Held};
use crate::base::lane::{Lane, LaneMask};
use crate::case::Options;
use crate::program::{Effect, Hammock, Inst, InstId};
use crate::verdict::{Fault, FaultKind, Site};
use std::sync::Arc;

/// A CTA while it runs, or several that run together.
pub(super) struct Cta<'l> {
    pub(super) context: Context<'l>,
    pub(super) values: Values<'l>,
    pub(super) sync: Synchronisation<'l>,
    pub(super) memory: Memory,
    pub(super) work: Work<'l>,
    /// The regions of branches that depend on the input, by the branch.
    pub(super) hammocks: rustc_hash::FxHashMap<InstId, Arc<Hammock>>,
    /// Tensor memory.
    pub(super) tensor_memory: TensorMemory,
    /// Searches for loops over barriers that do not end.
    pub(super) watch: Watch,
    warps: Vec<Warp>,
    /// The registers of all warps in lockstep, if this is possible.
    pub(super) lockstep: Option<InStep>,
    /// With vector clocks: the first read of each instruction that found unwritten memory.
    pub(super) unwritten: UnwrittenReads,
    /// The cost of its accesses, if requested.
    pub(super) patterns: Option<Box<AccessPatterns>>,
    /// What other launches may conflict with, if some overlap with this one.
    pub(super) overlap: Option<Box<OverlapOfCta>>,
    /// The CTAs for which it runs, if it is not the only one.
    pub(super) class: Option<Box<ClassRun>>,
}

impl<'l> Cta<'l> {
    /// A CTA before its first step.
    ///
    /// # Errors
    /// If the memory of all its threads, which a short text can make huge, exceeds the budget.
    pub(super) fn new(
        launch: &'l Launch<'l>,
        options: &'l Options,
        linear: u64,
        mode: Mode,
    ) -> Result<Cta<'l>, Exhausted> {
        let own_bytes = launch.cluster_bytes();
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
            Mode::WarpByWarp | Mode::VectorClocks | Mode::Counting => None,
        };
        let context = Context { launch, options, linear };
        let mut cta = Cta {
            context,
            values: Values::new(context, mode == Mode::Counting),
            sync: Synchronisation::new(context, mode),
            overlap: None,
            class: None,
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
    pub(super) fn asynchronous(&mut self) -> Asynchronous<'_, 'l> {
        let Cta { context, values, sync, memory, work, unwritten, patterns, overlap, tensor_memory, .. } =
            self;
        let context = *context;
        let accesses = Accesses { context, values, sync, memory, work, unwritten, patterns, overlap };
        Asynchronous { context, accesses, tensor_memory }
    }

    /// What an access of memory needs.
    #[inline]
    pub(super) fn accesses(&mut self) -> Accesses<'_, 'l> {
        self.asynchronous().accesses
    }

    /// What computes with floats.
    #[inline]
    pub(super) fn arithmetic(&mut self) -> Arithmetic<'_, 'l> {
        Arithmetic { context: self.context, values: &mut self.values, work: &mut self.work }
    }

    pub(super) fn check_budgets(&mut self) -> Result<(), Stop> {
        self.asynchronous().check_budgets()
    }

    /// Runs to the end.
    pub(super) fn run(&mut self) -> Result<(), Stop> {
        let mut warps = std::mem::take(&mut self.warps);
        let mut turns = Turns::new(self.context.options.schedule);
        loop {
            let mut progress = false;
            self.run_lockstep(&mut warps)?;
            turns.begin_round(warps.len());
            for turn in 0..warps.len() {
                let at = turns.warp(turn, warps.len());
                loop {
                    progress |= self.run_warp(&mut warps[at], &mut turns)?;
                    if !self.arrive(&mut warps, at)? {
                        break;
                    }
                    progress = true;
                    self.run_lockstep(&mut warps)?;
                }
            }
            progress |= self.complete_barriers(&mut warps)?;
            if warps.iter().all(|warp| warp.live().is_empty()) {
                self.end_items()?;
                self.end_flags()?;
                self.sync.end_products()?;
                self.sync.end_registers()?;
                self.asynchronous().end_asynchronous()?;
                self.asynchronous().end_tensor_memory()?;
                return self.sync.end_reaches();
            }
            if !progress && !self.next_item(&mut warps)? && !self.sync.lets_draw() {
                if let Some(stop) = self.sync.cannot_draw() {
                    return Err(stop);
                }
                self.sync.waits_for_parts(&warps)?;
                self.values.terms.rounds_are_over(&warps)?;
                self.values.terms.waits_for_another_cta(&warps)?;
                return Err(self.deadlock(&warps));
            }
        }
    }

    /// Runs a warp until none of its lanes can proceed, or its turn ends; returns whether any lane did.
    fn run_warp(&mut self, warp: &mut Warp, turns: &mut Turns) -> Result<bool, Stop> {
        let mut progress = false;
        loop {
            let runnable = warp.runnable();
            if runnable.is_empty() {
                if self.retry_waits(warp)? {
                    progress = true;
                    continue;
                }
                return Ok(progress);
            }
            progress = true;
            let Turn { group, pc, until } = turns.lanes(warp, runnable);
            self.follow(&mut Lanes::new(warp, group), pc, until)?;
            if !turns.stays() {
                return Ok(true);
            }
        }
    }

    /// After lanes have returned or arrived, a wait within the warp may be over.
    fn retry_waits(&mut self, warp: &mut Warp) -> Result<bool, Stop> {
        let insts: &'l [Inst] = &self.context.launch.program.insts;
        let mut waiting = warp.at_collective;
        while !waiting.is_empty() {
            let (group, pc, _) = warp.lowest(waiting);
            let inst = &insts[pc.index()];
            let Effect::Collective(members) = inst.op.effect() else {
                return Err(Stop::Defect("lanes wait for others at an operation that is not collective"));
            };
            let done = self.try_collective(warp, group, inst, pc, members)?;
            if !done.is_empty() {
                warp.at_collective &= !done;
                warp.advance(done);
                return Ok(true);
            }
            waiting &= !group;
        }
        let mut waiting = warp.at_phase;
        while !waiting.is_empty() {
            let (group, pc, _) = warp.lowest(waiting);
            let (over, next) = self.test_barrier(warp, group, pc)?;
            if !over.is_empty() {
                warp.at_phase &= !over;
                warp.go(over, next);
                return Ok(true);
            }
            waiting &= !group;
        }
        self.complete_warp_syncs(warp)
    }
}

impl Context<'_> {
    /// A fault of one lane at one instruction.
    #[cold]
    pub(super) fn fault(
        &self,
        kind: FaultKind,
        rule: &'static str,
        message: String,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
    ) -> Stop {
        let site = self.site(format!("{} here", action(kind)), warp, lane, pc);
        self.fault_at(kind, rule, message, vec![site], None)
    }

    /// A fault with its sites.
    #[cold]
    pub(super) fn fault_at(
        &self,
        kind: FaultKind,
        rule: &'static str,
        message: String,
        sites: Vec<Site>,
        help: Option<String>,
    ) -> Stop {
        Stop::Fault(Box::new(Fault::new(self.launch.which, kind, rule, message, sites, help)))
    }

    pub(super) fn site(&self, action: String, warp: &Warp, lane: Lane, pc: InstId) -> Site {
        self.site_of_thread(action, warp.thread(lane), pc)
    }

    pub(super) fn site_of_thread(&self, action: String, thread: u32, pc: InstId) -> Site {
        Site { action, thread: Some(self.launch.thread(self.linear, thread)), place: self.launch.place(pc) }
    }
}

/// A verb for the site of a fault of this kind.
fn action(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Race | FaultKind::ProxyRace => "races",
        FaultKind::Deadlock => "waits",
        FaultKind::BarrierDivergence | FaultKind::AmbiguousBarrier => "arrives",
        FaultKind::BarrierMisuse => "uses the barrier",
        FaultKind::InFlight => "starts the operation",
        FaultKind::Allocation => "allocates",
        FaultKind::OutOfBounds => "leaves the object",
        FaultKind::Misaligned => "accesses memory",
        FaultKind::Uninitialised | FaultKind::Undefined => "uses the value",
        FaultKind::TypeMismatch => "computes",
        FaultKind::DependsOnRounding => "decides",
        FaultKind::InputDependentControl => "depends on the input",
        FaultKind::Unsupported => "gets",
        FaultKind::Assertion => "stops",
        FaultKind::ReadOnly => "writes",
        FaultKind::Nondeterministic => "is not determined",
        FaultKind::Overflow => "computes",
    }
}
