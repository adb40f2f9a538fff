//! Operations on barriers in shared memory (rule Y9), for the lanes of a warp.

use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::concurrency::clock::{Clocks, Joined};
use crate::concurrency::mbarrier_phases::{Asked, Mbarrier, Releases, Started, Wrong};
use crate::concurrency::phase_history::{Event, Step, StepKind};
use crate::concurrency::race::{Detector, Under};
use crate::launch::objects::Backing;
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::{Accesses, Asynchronous, LaneAccess, WarpAccess};
use crate::machine::exec::arithmetic::select::Snapshot;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::Operands;
use crate::machine::group::warp::{At, Warp};
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::{
    Async, BarrierAction, BarrierTest, InstId, MemoryPlace, Op, Phase, Polling, PredId, Scope, Space, Src,
    Strong,
};
use crate::value::packed::Cell;
use crate::value::{Origin, Truth, Value};
use crate::verdict::{BarrierPhases, FaultKind, PhaseLine, Site};

/// The size and alignment of an mbarrier, in bytes.
const BYTES: u32 = 8;
/// The most arrivals that a phase can wait for.
const MOST_ARRIVALS: u64 = (1 << 20) - 1;
pub(super) const NO_BARRIER: &str = "this is not a barrier: `mbarrier.init` must come first";
/// The most mbarriers that the message of a deadlock reports on.
const MOST_BARRIERS: usize = 4;

impl Asynchronous<'_, '_> {
    /// Executes an operation on an mbarrier by a lane.
    pub(super) fn barrier_action(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        place: MemoryPlace,
        action: &BarrierAction,
    ) -> Result<(), Stop> {
        if let BarrierAction::ArriveAfterProducts { ctas, pair } = action {
            return self.arrive_after_products(warp, lane, pc, place, (*ctas, *pair));
        }
        let key = self.accesses.barrier_at(warp, lane, pc, place, action)?;
        let number = |own: &Self, warp: &Warp, source: Src, what: &str| {
            own.accesses.values.terms.concrete(warp, source, lane, pc, what).map(|bits| bits as u32)
        };
        match action {
            BarrierAction::Init { count } => {
                let count = number(self, warp, *count, "a barrier's count")?;
                if count == 0 || u64::from(count) > MOST_ARRIVALS {
                    let message = format!(
                        "a barrier that waits for {count} arrivals; the count must be 1 to {MOST_ARRIVALS}"
                    );
                    return Err(self.context.misuse(message, warp, lane, pc));
                }
                if self.accesses.sync.mbarriers.alive.contains_key(&key) {
                    let message = "a barrier is initialised again without `mbarrier.inval` in between";
                    return Err(self.context.misuse(message, warp, lane, pc));
                }
                let exact = self.accesses.sync.order.exact_mut()?;
                let agent = exact.clocks.new_agent();
                let barrier = Mbarrier::new(agent, count, self.context.options.rules.prompt_waits);
                self.accesses.sync.mbarriers.alive.insert(key, barrier);
                Ok(())
            }
            BarrierAction::Invalidate => {
                let alive = self.accesses.sync.mbarriers.alive.remove(&key);
                if let Some(waiting) = alive.and_then(|barrier| barrier.waiting.first().copied()) {
                    let message = "a barrier is invalidated while a thread waits at it".to_string();
                    let sites = vec![
                        self.context.site_of_thread("waits".into(), waiting.thread, waiting.pc),
                        self.context.site("invalidates it".into(), warp, lane, pc),
                    ];
                    return Err(self.context.fault_at(FaultKind::BarrierMisuse, "Y9", message, sites, None));
                }
                Ok(())
            }
            BarrierAction::Arrive { state, count, bytes, drops, order, completes } => {
                let count = number(self, warp, *count, "a count of arrivals")?;
                let bytes = bytes.map(|bytes| number(self, warp, bytes, "a number of bytes")).transpose()?;
                let phase = self.accesses.sync.mbarriers.alive.get(&key).map_or(0, |barrier| barrier.phase);
                let is_near = self.context.launch.objects.get(key.0).rank == warp.rank;
                let releases = match order {
                    Strong { orders: true, .. } => Releases::All,
                    // Threads of another CTA are outside of its scope.
                    Strong { scope: Scope::Cta, orders: false } if !is_near => Releases::Nothing,
                    Strong { orders: false, .. } => Releases::Fenced { is_near },
                };
                let over = self.then_end(warp, lane, pc, key, |barrier, clocks, event| {
                    barrier.expect_more(event, bytes.map_or(0, i64::from));
                    if *drops {
                        barrier.count = barrier.count.saturating_sub(count);
                    }
                    barrier.arrive(clocks, event, count, releases)
                })?;
                if let Some(state) = state {
                    let token = number_of(self.accesses.sync.mbarriers.states.len());
                    self.accesses.sync.mbarriers.states.push((key, phase));
                    warp.register_mut(*state).set(lane, Value::Undefined(Origin::State(token)));
                }
                if over && !completes {
                    let message = "an arrival with `.noComplete` completes the phase";
                    return Err(self.context.misuse(message, warp, lane, pc));
                }
                Ok(())
            }
            BarrierAction::ArriveAfterCopies { counted } => {
                let copies = self.accesses.sync.copies_under_way(warp, lane);
                let arrive = |barrier: &mut Mbarrier, clocks: &mut Clocks, event| {
                    barrier.current.copies.extend(copies);
                    if *counted {
                        return barrier.arrive(clocks, event, 1, Releases::Nothing);
                    }
                    // The phase waits for one more arrival, and this is that arrival.
                    barrier.is_determined(clocks, event, ("arrives", false))?;
                    barrier.expect(event, 0);
                    Ok(())
                };
                self.then_end(warp, lane, pc, key, arrive).map(drop)
            }
            BarrierAction::ArriveAfterProducts { .. } => {
                Err(Stop::Defect("products were committed as something else"))
            }
            BarrierAction::Expect { bytes } => {
                let bytes = number(self, warp, *bytes, "a number of bytes")?;
                self.accesses.sync.at_barrier(warp, lane, pc, key, |barrier, clocks, event| {
                    barrier.is_determined(clocks, event, ("expects bytes", false))?;
                    barrier.expect(event, bytes.into());
                    Ok(())
                })
            }
            BarrierAction::Complete { bytes } => {
                let bytes = number(self, warp, *bytes, "a number of bytes")?;
                let start = |barrier: &mut Mbarrier, clocks: &mut Clocks, event| {
                    barrier.start(clocks, event, bytes.into(), None)
                };
                self.then_end(warp, lane, pc, key, start).map(drop)
            }
            BarrierAction::Test { .. } => Err(Stop::Defect("a test of a barrier was executed by itself")),
        }
    }

    /// `tcgen05.commit`: an arrival at one mbarrier, or at the same place in each of several CTAs.
    fn arrive_after_products(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        place: MemoryPlace,
        (ctas, pair): (Option<Src>, bool),
    ) -> Result<(), Stop> {
        self.is_of_one_kind(At { warp, lane, pc }, pair)?;
        let action = BarrierAction::ArriveAfterProducts { ctas, pair };
        let terms = &self.accesses.values.terms;
        let here = (place.space, terms.addresses(warp, LaneMask::of(lane), place.address, pc)?[lane]);
        let places = match ctas {
            None => vec![here],
            Some(ctas) => {
                let ctas = terms.concrete(warp, ctas, lane, pc, "a mask of CTAs")? & 0xffff;
                let ranks = self.context.ranks_in(ctas, warp, lane, pc)?.into_iter();
                let there = ranks.map(|rank| self.context.in_cta(here, rank.into(), (&*warp, lane, pc)));
                there.collect::<Result<_, Stop>>()?
            }
        };
        let mut keys = Vec::new();
        for place in places {
            keys.push(self.accesses.barrier_at_address(warp, lane, pc, place, &action)?);
        }
        let commit = self.commit_tensor_products(warp.thread(lane))?;
        for key in keys {
            self.then_end(warp, lane, pc, key, |barrier, clocks, event| {
                barrier.current.commits.push(commit);
                barrier.arrive(clocks, event, 1, Releases::Nothing)
            })?;
        }
        Ok(())
    }

    /// Lets a copy of `bytes` bytes to the shared memory of CTA `rank`, which the lane has started, complete on an
    /// mbarrier in that CTA, or in the other CTA of its pair.
    pub(super) fn complete_copy(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        (barrier, pair): ((Space, u64), bool),
        bytes: u32,
        (copy, rank): (u32, u32),
    ) -> Result<(), Stop> {
        let action = BarrierAction::Complete { bytes: Src::Imm(0) };
        let key = self.accesses.barrier_at_address(warp, lane, pc, barrier, &action)?;
        let signalled = self.context.launch.objects.get(key.0).rank;
        if signalled != rank && !(pair && signalled ^ rank == 1) {
            let message =
                "a copy completes on a barrier of a CTA other than the one whose shared memory it fills";
            return Err(self.context.misuse(message, warp, lane, pc));
        }
        let start = |barrier: &mut Mbarrier, clocks: &mut Clocks, event| {
            barrier.start(clocks, event, bytes.into(), Some(copy))
        };
        self.then_end(warp, lane, pc, key, start).map(drop)
    }

    /// Applies an operation to an mbarrier, and ends its current phase if nothing is missing then; returns whether it
    /// did.
    fn then_end(
        &mut self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        key: (u32, u64),
        act: impl FnOnce(&mut Mbarrier, &mut Clocks, Event) -> Result<(), Wrong>,
    ) -> Result<bool, Stop> {
        self.accesses.sync.at_barrier(warp, lane, pc, key, act)?;
        let mut ended = None;
        self.accesses.sync.at_barrier(warp, lane, pc, key, |barrier, _, event| {
            if barrier.is_complete() {
                ended = Some((barrier.complete(event)?, barrier.agent, barrier.phase));
            }
            Ok(())
        })?;
        let Some((copies, agent, phase)) = ended else { return Ok(false) };
        let exact = self.accesses.sync.order.exact_mut()?;
        for copy in copies {
            exact.end_copy_at(copy, number_of(agent), phase);
        }
        self.accesses.work.counts.barriers += 1;
        Ok(true)
    }

    /// At the end of the run: checks that no asynchronous operation may still access the shared memory of a CTA.
    pub(crate) fn end_asynchronous(&mut self) -> Result<(), Stop> {
        let Detector::VectorClock(exact) = &self.accesses.sync.order else { return Ok(()) };
        if exact.relied_on_parts.get() {
            self.accesses.values.terms.relied.on_whole_products();
        }
        if let Some(pc) = exact.unfenced {
            self.accesses.values.terms.relied.on_unfenced_reads(pc);
        }
        let mut copies = self.accesses.sync.mbarriers.copies.iter();
        let may_go_on = |pc: InstId| {
            let op = &self.context.launch.program.insts[pc.index()].op;
            self.context.options.rules.copies_outlive_blocks
                && matches!(op, Op::Async(Async::BulkStore { .. }))
        };
        let awaited = |started: &&Started| {
            !exact.is_awaited(started.copy, &self.context.launch.numbers_of(started.rank))
                && !may_go_on(started.pc)
        };
        let Some(Started { thread, pc, .. }) = copies.find(awaited) else { return Ok(()) };
        let inst = &self.context.launch.program.insts[pc.index()];
        let (what, rule, help) = if let Op::Async(Async::Tensor(_)) = inst.op {
            let help = "`tcgen05.commit` it to a barrier, and wait for the phase of that before returning";
            ("product", "Y14", help)
        } else if let Op::Async(Async::Multiply(_)) = inst.op {
            let help = "wait for its group before returning: `wgmma.commit_group`, then `wgmma.wait_group`";
            ("product", "Y12", help)
        } else {
            let help = "wait for the phase of its barrier, or with `cp.async.bulk.wait_group.read 0`, before returning";
            ("copy", "Y11", help)
        };
        let message = format!(
            "all threads have returned without waiting for this {what}, which may still access the shared memory of \
             the block"
        );
        let site = self.context.site_of_thread(format!("starts the {what}"), *thread, *pc);
        Err(self.context.fault_at(FaultKind::InFlight, rule, message, vec![site], Some(help.into())))
    }
}

impl Accesses<'_, '_> {
    /// The mbarrier that a lane names. The operation is also an access to its bytes, by an agent that does not race
    /// with other operations on it, except for `init` and `inval`.
    pub(super) fn barrier_at(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        place: MemoryPlace,
        action: &BarrierAction,
    ) -> Result<(u32, u64), Stop> {
        let address = self.values.terms.addresses(warp, LaneMask::of(lane), place.address, pc)?[lane];
        self.barrier_at_address(warp, lane, pc, (place.space, address), action)
    }

    fn barrier_at_address(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        place: (Space, u64),
        action: &BarrierAction,
    ) -> Result<(u32, u64), Stop> {
        self.exact()?;
        let plain = matches!(action, BarrierAction::Init { .. } | BarrierAction::Invalidate);
        let agent = if plain { Agent::Maker } else { Agent::Barrier };
        let mut offsets = [0; 32];
        let access = LaneAccess { place, bytes: BYTES, alignment: BYTES, agent, writes: true };
        let at = self.locate_lane(warp, lane, pc, access, &mut offsets)?;
        let is_remote = at.object.rank != warp.rank;
        let wrong = match action {
            BarrierAction::Init { .. } | BarrierAction::Invalidate | BarrierAction::Test { .. } => Some(
                "a barrier of another CTA of the cluster is initialised, invalidated or waited for; only its own CTA \
                 can do that",
            ),
            BarrierAction::Arrive { state: Some(_), .. } => Some(
                "an arrival at a barrier of another CTA of the cluster returns no state: its destination must be `_`",
            ),
            BarrierAction::ArriveAfterCopies { .. } => {
                Some("copies of a thread complete on barriers of its own CTA")
            }
            BarrierAction::Arrive { state: None, .. }
            | BarrierAction::ArriveAfterProducts { .. }
            | BarrierAction::Expect { .. }
            | BarrierAction::Complete { .. } => None,
        };
        if let Some(message) = wrong.filter(|_| is_remote) {
            return Err(self.context.misuse(message, warp, lane, pc));
        }
        if let BarrierAction::Arrive { order: Strong { scope: Scope::Cta, orders: true }, .. } = action
            && is_remote
        {
            self.values.terms.relied.on_narrow_scope(pc);
        }
        let Backing::Shared(first) = at.object.backing else {
            return Err(self.context.misuse("a barrier that is not in shared memory", warp, lane, pc));
        };
        let key = (at.number, at.offsets[lane] / 4);
        if let Some(barrier) = self.sync.mbarriers.alive.get_mut(&key) {
            barrier.is_reached |= is_remote;
        }
        if !matches!(action, BarrierAction::Init { .. }) && !self.sync.mbarriers.alive.contains_key(&key) {
            return Err(self.context.misuse(NO_BARRIER, warp, lane, pc));
        }
        self.touch(warp, lane, &at, key.1)?;
        // Between `init` and `inval`, which write both halves, an access to the first half suffices: any other access
        // to either half is a fault.
        if plain {
            self.touch(warp, lane, &at, key.1 + 1)?;
            // The representation of an mbarrier is opaque, and after `inval` its bytes are undefined.
            for cell in [key.1, key.1 + 1] {
                self.memory.shared[first as usize + cell as usize] = Cell::UNWRITTEN;
            }
        }
        Ok(key)
    }

    /// Records an access to a cell that changes nothing in it.
    pub(super) fn touch(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
    ) -> Result<(), Stop> {
        let exact = self.sync.order.exact_mut()?;
        let (place, who) = ((at.number, cell), (warp.thread(lane), at.agent));
        let touched = exact.access(Under::ALWAYS, place, who, 0xf, at.pc, true);
        touched.map_err(|conflict| self.race_at(warp, lane, at, cell, conflict, None))
    }

    /// Whether the phase that a lane tests is over; if so, the lane learns what the end of that phase releases.
    fn is_phase_over(
        &mut self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        key: (u32, u64),
        phase: Phase,
        order: Strong,
    ) -> Result<bool, Stop> {
        let asked = self.phase_named(warp, lane, pc, key, phase)?;
        let (mut over, mut is_reached) = (false, false);
        let mut kept = (!order.orders).then(Joined::default);
        self.sync.at_barrier(warp, lane, pc, key, |barrier, clocks, event| {
            over = barrier.ask(clocks, event, asked, kept.as_mut())?;
            is_reached |= barrier.is_reached;
            Ok(())
        })?;
        let is_narrow = is_reached && order.scope == Scope::Cta;
        match kept {
            None if is_narrow => self.values.terms.relied.on_narrow_scope(pc),
            None => {}
            Some(kept) if !is_narrow => {
                let exact = self.sync.order.exact_mut()?;
                let thread = warp.thread(lane) as usize;
                exact.clocks.keep(thread, &kept, false);
                if !is_reached {
                    exact.clocks.keep(thread, &kept, true);
                }
            }
            // Threads of other CTAs, which may have arrived, are outside of its scope.
            Some(_) => {}
        }
        Ok(over)
    }

    /// The phase of an mbarrier that a lane names, by its parity or by a state.
    pub(super) fn phase_named(
        &self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        key: (u32, u64),
        phase: Phase,
    ) -> Result<Asked, Stop> {
        match phase {
            Phase::Parity(parity) => {
                let parity = self.values.terms.concrete(warp, parity, lane, pc, "the parity of a phase")?;
                if parity > 1 {
                    let message = format!("a parity of {parity}; a phase has parity 0 or 1");
                    return Err(self.context.misuse(message, warp, lane, pc));
                }
                Ok(Asked::Parity(parity as u32))
            }
            Phase::State(state) => match self.context.value(warp, state, lane) {
                Value::Undefined(Origin::State(token)) => {
                    let (of, phase) = self.sync.mbarriers.states[token as usize];
                    if of != key {
                        let message = "the state is that of an arrival at another barrier";
                        return Err(self.context.misuse(message, warp, lane, pc));
                    }
                    Ok(Asked::Phase(phase))
                }
                value if self.values.terms.packed.undefined_part(value).is_some() => {
                    Err(self.values.terms.not_concrete(warp, value, lane, pc, "the state of a barrier"))
                }
                Value::Bits(_) | Value::Sym(_) | Value::Undefined(_) => {
                    Err(self.context.misuse("the state was not returned by an arrival", warp, lane, pc))
                }
            },
        }
    }
}

impl Cta<'_> {
    /// Lanes test whether a phase is over. Returns the lanes for which it is, and the instruction at which they
    /// continue; the others wait. A loop that only tests again is left when the phase is over; what it computes
    /// meanwhile is not determined.
    pub(crate) fn test_barrier(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
    ) -> Result<(LaneMask, InstId), Stop> {
        if let Op::Async(Async::ArriveAtCluster { .. } | Async::WaitForCluster { .. }) =
            self.context.launch.program.insts[pc.index()].op
        {
            return Ok((self.meet_cluster(warp, mask, pc)?, pc.next()));
        }
        let draws = matches!(self.context.launch.program.insts[pc.index()].op, Op::Atomic { .. });
        if draws || self.context.launch.program.takes_lock(pc) {
            let (mut done, mut accesses) = (LaneMask::NONE, self.accesses());
            for lane in mask {
                if if draws { accesses.draw(warp, lane, pc)? } else { accesses.take_lock(warp, lane, pc)? } {
                    done.insert(lane);
                }
            }
            return Ok((done, pc.next()));
        }
        if let Op::Load { .. } = self.context.launch.program.insts[pc.index()].op {
            return self.wait_for_flag(warp, mask, pc);
        }
        let BarrierTest { place, p, phase, order } = self.context.test_at(pc)?;
        let Some(polling) = self.context.launch.program.polling(pc) else {
            self.accesses().ask_once(warp, mask, pc)?;
            return Ok((mask, pc.next()));
        };
        let mut over = LaneMask::NONE;
        for lane in mask {
            let action = BarrierAction::Test { p, phase, order };
            let key = self.accesses().barrier_at(warp, lane, pc, place, &action)?;
            if self.accesses().is_phase_over(warp, lane, pc, key, phase, order)? {
                over |= LaneMask::of(lane);
            }
        }
        let next = polling.first.as_ref().map_or(pc.next(), |first| first.join);
        if !over.is_empty() {
            self.poll(warp, over, pc, p, &polling)?;
        }
        Ok((over, next))
    }

    /// Marks as undetermined what depends on the number of tests until one succeeds.
    fn poll(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        p: PredId,
        polling: &Polling,
    ) -> Result<(), Stop> {
        let Some(first) = &polling.first else {
            self.ask_again(warp, mask, pc, p, polling)?;
            warp.predicate_mut(p).merge_bits(mask, LaneMask::ALL);
            return Ok(());
        };
        let held = Snapshot::new(warp, &polling.written);
        // First possibility: the phase is over at the first test.
        warp.predicate_mut(p).merge_bits(mask, LaneMask::ALL);
        self.compute(warp, mask, pc, &first.skips)?;
        let skipped = Snapshot::new(warp, &polling.written);
        // Second possibility: it is not, and the loop must test the same phase of the same mbarrier.
        held.restore(warp, mask);
        let asked = self.values.terms.operands(warp, pc).asked_at(mask)?;
        warp.predicate_mut(p).merge_bits(mask, LaneMask::NONE);
        self.compute(warp, mask, pc, &first.enters)?;
        if self.values.terms.operands(warp, first.last).asked_at(mask)? != asked {
            let lane = mask.first();
            let message = "a test of a barrier is followed by a loop that tests another barrier or phase";
            return Err(self.context.fault(FaultKind::Nondeterministic, "Y9", message, warp, lane, pc));
        }
        let again = self.context.test_at(first.last)?.p;
        self.ask_again(warp, mask, first.last, again, polling)?;
        warp.predicate_mut(again).merge_bits(mask, LaneMask::ALL);
        self.compute(warp, mask, pc, &first.leaves)?;
        skipped.forget_differences(warp, mask, Origin::Unpredictable(pc));
        Ok(())
    }

    /// Executes iterations of a loop with a test that fails, until another iteration changes nothing.
    fn ask_again(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        p: PredId,
        polling: &Polling,
    ) -> Result<(), Stop> {
        let written = &polling.written;
        // Each iteration but the last makes at least one more register or predicate undetermined.
        for _ in 0..=written.registers.len() + written.predicates.len() {
            let before = Snapshot::new(warp, written);
            warp.predicate_mut(p).merge_bits(mask, LaneMask::NONE);
            self.compute(warp, mask, pc, &polling.path)?;
            warp.predicate_mut(p).merge_bits(mask, LaneMask::NONE);
            if !before.forget_differences(warp, mask, Origin::Unpredictable(pc)) {
                break;
            }
        }
        Ok(())
    }

    /// Executes operations that only compute.
    pub(crate) fn compute(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        path: &[InstId],
    ) -> Result<(), Stop> {
        let program = self.context.launch.program;
        for at in path {
            let inst = &program.insts[at.index()];
            let runs =
                |lane: &Lane| match inst.guard.map(|guard| self.values.terms.truth(warp, guard, *lane, pc)) {
                    Some(Truth::Known(holds)) => holds,
                    None | Some(Truth::Condition(_) | Truth::Undefined(_) | Truth::Answer(_)) => true,
                };
            let active = mask.iter().filter(runs).collect::<LaneMask>();
            if !active.is_empty() {
                self.execute(warp, active, inst, *at)?;
            }
        }
        Ok(())
    }
}

impl Synchronisation<'_> {
    /// Applies an operation to an mbarrier that is initialised.
    fn at_barrier(
        &mut self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        key: (u32, u64),
        act: impl FnOnce(&mut Mbarrier, &mut Clocks, Event) -> Result<(), Wrong>,
    ) -> Result<(), Stop> {
        let exact = self.order.exact_mut()?;
        let Some(barrier) = self.mbarriers.alive.get_mut(&key) else {
            return Err(self.context.misuse(NO_BARRIER, warp, lane, pc));
        };
        let thread = warp.thread(lane);
        let event = Event { thread, stamp: exact.clocks.now(thread as usize), pc };
        act(barrier, &mut exact.clocks, event)
            .and_then(|()| barrier.counts(event))
            .map_err(|wrong| self.wrong(key, wrong))
    }

    #[cold]
    fn wrong(&self, key: (u32, u64), Wrong { kind, message, sites, help }: Wrong) -> Stop {
        let object = self.context.launch.objects.get(key.0);
        let message = format!("{message} ({})", self.context.spell(object, key.1 * 4, BYTES));
        let site =
            |(thread, pc, action): (u32, InstId, String)| self.context.site_of_thread(action, thread, pc);
        let sites: Vec<Site> = sites.into_iter().map(site).collect();
        let history = self.mbarriers.alive.get(&key).map(|barrier| self.context.told(key, barrier));
        self.context.fault_at(kind, "Y9", message, sites, help).with_phases(history.into_iter().collect())
    }

    /// The phases of the mbarriers at which threads wait.
    #[cold]
    pub(crate) fn phases_waited_for(&self) -> Vec<BarrierPhases> {
        let mut all: Vec<_> = self.mbarriers.alive.iter().filter(|(_, own)| is_waited_for(own)).collect();
        all.sort_unstable_by_key(|(key, _)| **key);
        all.truncate(MOST_BARRIERS);
        all.into_iter().map(|(key, barrier)| self.context.told(*key, barrier)).collect()
    }

    /// Advice for threads that wait for the first arrivals at several mbarriers: most likely one of the waits is wrong.
    #[cold]
    pub(crate) fn help_with_new_barriers(&self) -> Option<String> {
        let is_new = |barrier: &&Mbarrier| {
            barrier.phase == 0 && barrier.pending == barrier.count && barrier.bytes == 0
        };
        let waited_for = self.mbarriers.alive.values().filter(|barrier| is_waited_for(barrier));
        let (new, others): (Vec<_>, Vec<_>) = waited_for.partition(is_new);
        (new.len() > 1 && others.is_empty()).then(|| {
            "nothing has arrived at these barriers; a thread that must not wait in the first round, such as the \
             producer of empty stages, waits with parity 1, which returns at once for a new barrier"
                .to_owned()
        })
    }

    /// The words for a lane that waits at an mbarrier.
    pub(crate) fn phase_waited_for(&self, warp: &Warp, lane: Lane) -> Option<String> {
        let thread = warp.thread(lane);
        let mut found = self.mbarriers.alive.iter().filter_map(|(key, barrier)| {
            let waiting = barrier.waiting.iter().find(|waiting| waiting.thread == thread)?;
            Some((*key, barrier, waiting.phase))
        });
        let (key, barrier, phase) = found.next()?;
        let name = self.context.spell(self.context.launch.objects.get(key.0), key.1 * 4, BYTES);
        let missing = match (barrier.pending, barrier.bytes) {
            (0, bytes) if bytes < 0 => format!("{} more bytes arrived than were expected", -bytes),
            (0, bytes) => format!("{bytes} of {} bytes are missing", barrier.current.expected_bytes),
            (pending, 0) => format!("{pending} of {} arrivals are missing", barrier.count),
            (pending, bytes) => {
                let (count, expected) = (barrier.count, barrier.current.expected_bytes);
                format!("{pending} of {count} arrivals and {bytes} of {expected} bytes are missing")
            }
        };
        Some(format!("for phase {phase} of the barrier at {name}; {missing}"))
    }
}

/// Whether a thread waits for the current phase.
fn is_waited_for(barrier: &Mbarrier) -> bool {
    barrier.waiting.iter().any(|waiting| waiting.phase == i64::from(barrier.phase))
}

impl Context<'_> {
    /// The test at an instruction.
    pub(super) fn test_at(&self, pc: InstId) -> Result<BarrierTest, Stop> {
        let test = self.launch.program.insts[pc.index()].op.barrier_test();
        test.ok_or(Stop::Defect("lanes wait for a phase at an operation that tests no phase"))
    }

    #[cold]
    pub(super) fn misuse(&self, message: impl Into<String>, warp: &Warp, lane: Lane, pc: InstId) -> Stop {
        self.fault(FaultKind::BarrierMisuse, "Y9", message, warp, lane, pc)
    }

    /// The phases of an mbarrier, for a message.
    fn told(&self, key: (u32, u64), barrier: &Mbarrier) -> BarrierPhases {
        let phases = barrier.history.phases(barrier.phase).map(|(number, phase)| {
            let is_over = number < barrier.phase;
            let arrived = if is_over { barrier.count } else { barrier.count.saturating_sub(barrier.pending) };
            PhaseLine {
                number,
                is_over,
                arrivals: (arrived, barrier.count),
                bytes: phase.bytes,
                steps: phase.steps.iter().map(|step| self.told_of(step)).collect(),
                has_more: phase.has_more,
            }
        });
        let name = self.spell(self.launch.objects.get(key.0), key.1 * 4, BYTES);
        BarrierPhases { name, phases: phases.collect() }
    }

    fn told_of(&self, step: &Step) -> Site {
        let Step { kind, pc, thread, times, bytes } = *step;
        let action = match (kind, times) {
            (StepKind::Arrivals, 1) => "1 arrival, of".to_owned(),
            (StepKind::Arrivals, _) => format!("{times} arrivals, the first of"),
            (StepKind::Expected, 1) => format!("{bytes} bytes expected by"),
            (StepKind::Expected, _) => format!("{bytes} bytes expected, first by"),
            (StepKind::Copies, 1) => format!("{bytes} bytes copied by"),
            (StepKind::Copies, _) => format!("{bytes} bytes in {times} copies, the first by"),
        };
        self.site_of_thread(action, thread, pc)
    }
}

impl Operands<'_, '_> {
    /// The mbarrier, the phase and the memory order of the test of each lane.
    fn asked_at(&self, mask: LaneMask) -> Result<Vec<(u64, Value, Strong)>, Stop> {
        let BarrierTest { place, phase, order, .. } = self.terms.context.test_at(self.pc)?;
        let (Phase::State(source) | Phase::Parity(source)) = phase;
        let addresses = self.addresses(mask, place.address)?;
        let asked = mask
            .iter()
            .map(|lane| (addresses[lane], self.terms.context.value(self.warp, source, lane), order));
        Ok(asked.collect())
    }
}
