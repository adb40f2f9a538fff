//! One CTA, or all CTAs of a cluster (rule Y13) or of a cooperative grid (Y15), which run together: the warps take
//! turns until all have returned, one is at fault, or no thread can proceed.
//!
//! While all threads are at one instruction, [`super::lockstep`] runs them together. Otherwise [`super::schedule`]
//! determines the order: normally warps in order, each until it can take no step, and within a warp the lanes at the
//! lowest instruction, so that diverged lanes reconverge.

use super::access_pattern::AccessPatterns;
use super::bind::{BindError, Launch};
use super::context::Context;
use super::control::Lanes;
use super::cta_class::ClassRun;
use super::endless::{Endless, Watch};
use super::epoch::Now;
use super::exec::Products;
use super::lockstep::InStep;
use super::memory::Memory;
use super::overlap::OverlapOfCta;
use super::possible::InCases;
use super::schedule::{Turn, Turns};
use super::synchronisation::{Detector, Synchronisation};
use super::tensor_memory::TensorMemory;
use super::values::Values;
use super::warp::Warp;
use crate::base::budget::{Budgets, Exhausted, Held, Limit};
use crate::base::lane::{Lane, LaneMask};
use crate::base::ration::Pool;
use crate::case::Options;
use crate::program::{Effect, Hammock, Inst, InstId};
use crate::verdict::{BarrierPhases, Fault, FaultKind, Site};
use std::cell::Cell;
use std::sync::Arc;

/// The reasons why a run ends early.
#[derive(Debug)]
pub(super) enum Stop {
    Fault(Box<Fault>),
    /// A fault where a condition on inputs holds.
    Possible(Box<InCases>),
    Exhausted(Exhausted),
    /// The case does not give what is needed.
    Missing(Box<BindError>),
    /// A loop does not end.
    Endless(Box<Endless>),
    /// The verifier contradicts itself, in this way.
    Defect(&'static str),
    /// In a run that continues after a fault: a value that the fault left unknown decides what is executed (rule R2).
    Doubtful,
    /// The epoch race detector does not suffice for this CTA.
    NeedVectorClocks,
    /// What the CTA does may not be the same in the others for which it runs, from this instruction on.
    Apart(Option<InstId>),
}

impl Stop {
    /// The fault, with what happened at mbarriers.
    pub(super) fn with_phases(mut self, phases: Vec<BarrierPhases>) -> Stop {
        if let Stop::Fault(fault) = &mut self {
            fault.phases = phases;
        }
        self
    }
}

/// The way in which a CTA is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// All warps in lockstep while they agree; races by epochs.
    Lockstep,
    /// One warp after the other; races by epochs.
    WarpByWarp,
    /// One warp after the other; races by vector clocks. CTAs that run together use no other mode.
    VectorClocks,
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Stop {
        Stop::Exhausted(exhausted)
    }
}

/// What a CTA shares with the others of its launch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside<'l> {
    /// Warp instructions that the CTAs before it executed.
    pub(super) instructions: u64,
    /// Memory that they keep.
    pub(super) held: Held,
    /// The pool of the CTAs that are executed at the same time, and this one's index in it.
    pub(super) pool: Option<(&'l Pool, usize)>,
}

/// The resources of a CTA at its peak.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    pub(super) instructions: u64,
    pub(super) held: Held,
}

/// Counts of one CTA.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) warp_instructions: u64,
    pub(super) thread_instructions: u64,
    pub(super) barriers: u64,
    pub(super) warp_syncs: u64,
    /// Whether a step of a function was executed on known numbers only.
    pub(super) at_known_points: bool,
}

/// A CTA while it runs, or several that run together.
pub(super) struct Cta<'l> {
    pub(super) context: Context<'l>,
    pub(super) values: Values<'l>,
    pub(super) sync: Synchronisation<'l>,
    pub(super) memory: Memory,
    pub(super) counts: Counts,
    /// The regions of branches that depend on the input, by the branch.
    pub(super) hammocks: rustc_hash::FxHashMap<InstId, Arc<Hammock>>,
    /// Tensor memory.
    pub(super) tensor_memory: TensorMemory,
    /// What the other CTAs of the launch took of the budgets.
    pub(super) beside: Beside<'l>,
    /// Searches for loops over barriers that do not end.
    pub(super) watch: Watch,
    /// The memory that it held at its peak.
    most_held: Cell<Held>,
    /// Bytes of registers, local memory and shared memory, as allocated at the start.
    own_bytes: u64,
    /// Work charged at a quarter of an instruction: operations examined to analyse branches and loops, and pieces of
    /// copies.
    pub(super) looked_at: u64,
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

/// By the origin of an undefined value: the first read that found it in memory that no thread has written, or not for
/// all inputs.
pub(super) type UnwrittenReads = std::collections::BTreeMap<u64, Site>;

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
            Mode::WarpByWarp | Mode::VectorClocks => None,
        };
        let context = Context { launch, options, linear };
        let mut cta = Cta {
            context,
            values: Values::new(context),
            sync: Synchronisation::new(context, mode),
            overlap: None,
            class: None,
            beside: Beside::default(),
            watch: Watch::default(),
            most_held: Cell::default(),
            own_bytes,
            looked_at: 0,
            memory: Memory::new(launch.shared_cells * ranks),
            counts: Counts::default(),
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
                self.end_asynchronous()?;
                self.end_tensor_memory()?;
                return self.sync.end_reaches();
            }
            if !progress && !self.next_item(&mut warps)? && !self.sync.lets_draw() {
                if let Some(stop) = self.sync.cannot_draw() {
                    return Err(stop);
                }
                self.sync.waits_for_parts(&warps)?;
                self.values.rounds_are_over(&warps)?;
                self.values.waits_for_another_cta(&warps)?;
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

    pub(super) fn check_budgets(&self) -> Result<(), Stop> {
        let budgets: &Budgets = &self.context.options.budgets;
        budgets.deadline.check()?;
        budgets.check(Limit::Instructions, self.beside.instructions + self.instructions())?;
        let held = self.kept();
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
    pub(super) fn check_more(&self, looked_at: u64) -> Result<(), Stop> {
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
    pub(super) fn taken(&self) -> Taken {
        Taken { instructions: self.instructions(), held: self.most_held.get() }
    }

    fn kept(&self) -> Held {
        let races = match &self.sync.order {
            Detector::Epoch(_) => 0,
            Detector::VectorClock(exact) => exact.bytes() + exact.clocks.kept_bytes(),
        };
        let state = self.own_bytes
            + self.sync.mbarriers.bytes()
            + self.sync.flags.bytes()
            + self.sync.tickets.bytes()
            + self.memory.bytes()
            + self.values.packed.bytes()
            + self.values.asked.bytes()
            + self.values.guards.bytes()
            + self.values.fragments.bytes()
            + self.sync.products.iter().map(Products::bytes).sum::<u64>()
            + self.tensor_memory.bytes()
            + self.overlap.as_ref().map_or(0, |overlap| overlap.bytes());
        let analysis =
            self.values.ranges.bytes() + self.values.known.bytes() + self.values.congruence.bytes();
        Held { terms: self.values.store.bytes(), state, accesses: races, analysis, ..Held::default() }
    }
}

impl Synchronisation<'_> {
    /// The time of a warp's accesses, for the epoch detector.
    #[inline]
    pub(super) fn now(&self, warp: &Warp) -> Now {
        let epoch = match &self.order {
            Detector::Epoch(epoch) => *epoch,
            Detector::VectorClock(_) => 0,
        };
        Now { epoch, sync: warp.syncs, warp: warp.index as u16 }
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
