//! CTA barriers (rule Y3), warp barriers (rule Y4), and deadlock (rule Y5).

use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::barrier_arrivals::{Arrival, COUNT, Count, Reduces, State};
use crate::concurrency::clock::Joined;
use crate::concurrency::copies_in_flight::Copies;
use crate::concurrency::products_in_flight::Products;
use crate::concurrency::race::Detector;
use crate::machine::cta::Cta;
use crate::machine::exec::arithmetic::collective::{count_of, found_together};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::{At, Warp};
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::{Barrier, InstId, Op, PredSrc, Src};
use crate::value::Truth;
use crate::verdict::{FaultKind, Site};
use std::ops::Range;

impl Cta<'_> {
    /// Counts the arrival of a warp whose live lanes all stand at one barrier; true if it may continue.
    pub(crate) fn arrive(&mut self, warps: &mut [Warp], at: usize) -> Result<bool, Stop> {
        let warp = &warps[at];
        let live = warp.live();
        if live.is_empty() || warp.at_barrier != live || warp.arrived {
            return Ok(false);
        }
        let mut meeting: Option<(usize, Count, bool, Option<Reduces>)> = None;
        let mut same = None;
        for lane in live {
            let pc = warp.pc[lane];
            if same == Some(pc) {
                continue;
            }
            let op = &self.context.launch.program.insts[pc.index()].op;
            let Op::Barrier { kind, id, count, .. } = op else { continue };
            let ambiguous = |message: String| {
                Err(self.context.fault(FaultKind::AmbiguousBarrier, "Y3", message, warp, lane, pc))
            };
            // Operands that are not registers are uniform.
            let of_lanes = [Some(*id), *count].iter().flatten().any(|source| matches!(source, Src::Reg(_)));
            same = Some(pc).filter(|_| !of_lanes);
            let id = self.values.terms.concrete(warp, *id, lane, pc, "a barrier's number")?;
            if id >= 16 {
                return ambiguous(format!("there is no barrier {id}; a CTA has barriers 0 to 15"));
            }
            let count = match count {
                None => Count::All,
                Some(count) => {
                    let threads = self.values.terms.concrete(warp, *count, lane, pc, "a barrier's count")?;
                    Count::Threads(threads as u32)
                }
            };
            if let Count::Threads(threads) = count
                && (threads == 0 || threads % 32 != 0)
            {
                return ambiguous(format!(
                    "barrier {id} counts {threads} threads, which is not a multiple of the warp size"
                ));
            }
            let waits = !matches!(kind, Barrier::Arrive);
            let reduces = Reduces::of(kind);
            let here = (id as usize, count, waits, reduces);
            match meeting {
                None => meeting = Some(here),
                Some((other, ..)) if other != here.0 => return Ok(false),
                Some((.., Some(one))) if reduces.is_some_and(|other| other != one) => {
                    let other = live.iter().find(|other| warp.pc[*other] != pc).unwrap_or(lane);
                    let sites = [other, lane].map(|lane| {
                        self.context.site(format!("arrives at barrier {id}"), warp, lane, warp.pc[lane])
                    });
                    return Err(self.context.two_operators(id, (one, here.3), sites.into()));
                }
                Some(first) if first != here => {
                    return ambiguous(format!("lanes of one warp use barrier {id} in different ways"));
                }
                Some(_) => {}
            }
        }
        let Some((id, count, waits, reduces)) = meeting else { return Ok(false) };
        let everybody = self.context.counted(count) == self.context.counted(Count::All);
        if matches!(self.sync.order, Detector::Epoch(_)) && !(everybody && waits) {
            return Err(Stop::NeedVectorClocks);
        }
        let first = live.first();
        let arrival = Arrival { warp: at, pc: warps[at].pc[first], waits, reduces };
        self.sync.check_arrival(&warps[at], (id, count), arrival)?;
        if !waits {
            self.context.check_convergence(&warps[at], id)?;
        }
        let state = self.sync.barriers.of_mut(warps[at].rank, id);
        if let Detector::VectorClock(exact) = &mut self.sync.order {
            for lane in live {
                exact.clocks.add_to(warps[at].thread(lane) as usize, &mut state.joined);
                if !waits {
                    exact.clocks.release(warps[at].thread(lane) as usize);
                }
            }
        }
        // A barrier with a count beside arrivals without one: returned threads do not count (Y3).
        if !matches!(state.expected, Some(Count::Threads(_))) {
            state.expected = Some(count);
        }
        state.arrivals.push(arrival);
        let warp = &mut warps[at];
        warp.arrived = waits;
        if !waits {
            warp.at_barrier = LaneMask::NONE;
            warp.advance(live);
        }
        let completed = self.complete_barriers(warps)?;
        Ok(!waits || completed && warps[at].at_barrier.is_empty())
    }

    /// Releases every barrier at which all expected threads have arrived; true if one was.
    pub(crate) fn complete_barriers(&mut self, warps: &mut [Warp]) -> Result<bool, Stop> {
        let mut any = false;
        let each = self.context.launch.warps();
        let ranks = 0..self.context.launch.ranks();
        for (rank, id) in ranks.flat_map(|rank| (0..COUNT).map(move |id| (rank, id))) {
            let state = self.sync.barriers.of(rank, id);
            let Some(expected) = state.expected else { continue };
            let arrived = |warp: &Warp| state.arrivals.iter().any(|arrival| arrival.warp == warp.index);
            let complete = match expected {
                Count::All => {
                    let mut own = warps[each * rank as usize..][..each].iter();
                    own.all(|warp| warp.live().is_empty() || arrived(warp))
                }
                Count::Threads(threads) => state.arrivals.len() as u32 * 32 == threads,
            };
            if complete {
                self.release_barrier(warps, rank, id)?;
                any = true;
            }
        }
        Ok(any)
    }

    fn release_barrier(&mut self, warps: &mut [Warp], rank: u32, id: usize) -> Result<(), Stop> {
        let mut state = std::mem::take(self.sync.barriers.of_mut(rank, id));
        let first = self.context.launch.warps() * rank as usize;
        let own = first..first + self.context.launch.warps();
        for arrival in state.arrivals.iter().filter(|arrival| arrival.waits) {
            self.context.check_convergence(&warps[arrival.warp], id)?;
        }
        if state.arrivals.iter().any(|arrival| arrival.reduces.is_some()) {
            self.sync.end_rounds(warps, &state.arrivals)?;
            self.reduce_at_barrier(warps, &state)?;
        }
        if state.expected == Some(Count::All) {
            self.values.terms.count_returned_threads((warps, own.clone()), &state, id)?;
        }
        let everybody = warps.iter().all(|warp| warp.exited.is_empty())
            && state.arrivals.iter().filter(|arrival| arrival.waits).count() == own.len();
        self.work.counts.barriers += 1;
        match &mut self.sync.order {
            Detector::Epoch(epoch) => {
                if !everybody {
                    return Err(Stop::NeedVectorClocks);
                }
                *epoch += 1;
            }
            Detector::VectorClock(exact) => {
                if state.expected == Some(Count::All) && self.context.options.rules.exit_orders_memory {
                    for warp in &warps[own] {
                        for lane in warp.exited {
                            exact.clocks.add_to(warp.thread(lane) as usize, &mut state.joined);
                        }
                    }
                }
                state.released.clear();
                let place = state.arrivals.iter().find(|arrival| arrival.waits).map(|arrival| arrival.pc);
                for arrival in state.arrivals.iter().filter(|arrival| arrival.waits) {
                    let warp = &warps[arrival.warp];
                    for lane in warp.at_barrier {
                        let thread = warp.thread(lane);
                        exact.clocks.learn(thread as usize, &mut state.joined);
                        exact.clocks.release(thread as usize);
                        state.released.push((thread, exact.clocks.now(thread as usize)));
                    }
                }
                self.sync.meetings.note(place, state.released.iter().copied());
            }
        }
        for arrival in state.arrivals.drain(..).filter(|arrival| arrival.waits) {
            let warp = &mut warps[arrival.warp];
            let waiting = warp.at_barrier;
            warp.at_barrier = LaneMask::NONE;
            warp.arrived = false;
            warp.meet(waiting);
            warp.advance(waiting);
        }
        state.joined = Joined::default();
        state.expected = None;
        state.completed = true;
        *self.sync.barriers.of_mut(rank, id) = state;
        self.look_for_repetition(warps)
    }

    fn reduce_at_barrier(&mut self, warps: &mut [Warp], state: &State) -> Result<(), Stop> {
        let mut truths = Vec::new();
        for arrival in &state.arrivals {
            let warp = &warps[arrival.warp];
            for lane in warp.at_barrier {
                let pc = warp.pc[lane];
                let Op::Barrier { kind, .. } = &self.context.launch.program.insts[pc.index()].op else {
                    continue;
                };
                let (Barrier::RedPopc(_, source) | Barrier::RedPred(_, _, source)) = kind else { continue };
                let truth = self.values.terms.truth(warp, *source, lane, pc);
                truths.push(if self.sync.asks_ahead(warp, lane, (pc, *source))? {
                    Truth::Known(true)
                } else if let Truth::Condition(_) = truth {
                    truth
                } else {
                    Truth::Known(self.values.terms.known_truth(warp, *source, lane, pc)?)
                });
            }
        }
        let pc = state.arrivals.first().map_or(InstId::FIRST, |arrival| arrival.pc);
        let count = count_of(&mut self.values.terms, &truths, pc);
        let mut joined = None;
        for arrival in &state.arrivals {
            let warp = &mut warps[arrival.warp];
            for lane in warp.at_barrier {
                let Op::Barrier { kind, .. } = &self.context.launch.program.insts[warp.pc[lane].index()].op
                else {
                    return Err(Stop::Defect("a lane waits at an instruction that is not a barrier"));
                };
                match kind {
                    Barrier::RedPopc(d, _) => warp.register_mut(*d).set(lane, count),
                    Barrier::RedPred(op, p, _) => {
                        // All threads combine by one operator.
                        let result = joined
                            .get_or_insert_with(|| found_together(&mut self.values.terms, *op, &truths, pc));
                        warp.predicate_mut(*p).set(lane, *result);
                    }
                    Barrier::Sync | Barrier::Arrive => {}
                }
            }
        }
        Ok(())
    }

    /// Lanes arrive at a warp barrier.
    pub(crate) fn wait_for_warp(
        &mut self,
        warp: &mut Warp,
        active: LaneMask,
        mask: Src,
        pc: InstId,
    ) -> Result<(), Stop> {
        for lane in active {
            let value = self.values.terms.concrete(warp, mask, lane, pc, "a warp barrier's mask")?;
            let value = LaneMask::from_bits(value as u32);
            if !value.contains(lane) {
                return Err(self.context.left_out_of_mask(warp, (lane, value, active), pc));
            }
            warp.sync_masks[lane] = value;
        }
        warp.at_warp_sync |= active;
        self.complete_warp_syncs(warp)?;
        Ok(())
    }

    /// Releases the warp barriers at which all lanes have arrived; true if one was.
    pub(crate) fn complete_warp_syncs(&mut self, warp: &mut Warp) -> Result<bool, Stop> {
        let mut any = false;
        let mut waiting = warp.at_warp_sync;
        while !waiting.is_empty() {
            let mask = warp.sync_masks[waiting.first()];
            let same = warp.at_warp_sync.iter().filter(|lane| warp.sync_masks[*lane] == mask);
            let group = same.collect::<LaneMask>();
            waiting &= !group;
            if !(mask & warp.live()).is_within(group) {
                continue;
            }
            for lane in if mask.meets(warp.exited) { group } else { LaneMask::NONE } {
                self.values.terms.count_returned_lanes(warp, mask, (lane, warp.pc[lane]))?;
            }
            self.sync.order_lanes(warp, group, mask);
            if let Detector::VectorClock(exact) = &self.sync.order {
                let met = group.iter().map(|lane| {
                    let thread = warp.thread(lane);
                    (thread, exact.clocks.now(thread as usize))
                });
                self.sync.meetings.note(Some(warp.pc[group.first()]), met);
            }
            self.work.counts.warp_syncs += 1;
            warp.at_warp_sync &= !group;
            warp.meet(group);
            warp.advance(group);
            any = true;
        }
        Ok(any)
    }
}

impl Synchronisation<'_> {
    /// Reports faults of rule Y3 at an arrival: which threads take part must not depend on the schedule.
    fn check_arrival(&self, warp: &Warp, (id, count): (usize, Count), arrival: Arrival) -> Result<(), Stop> {
        let state = self.barriers.of(warp.rank, id);
        let sites = |other: Option<&Arrival>| {
            let action = || format!("arrives at barrier {id}");
            let site = |of: &Arrival| self.context.site_of_thread(action(), of.warp as u32 * 32, of.pc);
            let here = self.context.site(action(), warp, warp.live().first(), arrival.pc);
            other.map(site).into_iter().chain([here]).collect::<Vec<Site>>()
        };
        let ambiguous = |message: String, other: Option<&Arrival>| {
            self.context.fault_at(FaultKind::AmbiguousBarrier, "Y3", message, sites(other), None)
        };
        if let Some(expected) = state.expected {
            let [expected, own] = [expected, count].map(|count| self.context.counted(count));
            if expected != own {
                let message = format!("barrier {id} is used with counts {expected} and {own} at once");
                return Err(ambiguous(message, state.arrivals.last()));
            }
        }
        let differs =
            |other: &&Arrival| other.reduces.is_some_and(|by| arrival.reduces.is_some_and(|own| own != by));
        if let Some(other) = state.arrivals.iter().find(differs)
            && let Some(one) = other.reduces
        {
            return Err(self.context.two_operators(id as u64, (one, arrival.reduces), sites(Some(other))));
        }
        if let Some(other) = state.arrivals.iter().find(|other| other.reduces != arrival.reduces) {
            let message = format!("`red` and plain arrivals mix at barrier {id}");
            return Err(ambiguous(message, Some(other)));
        }
        if let Some(other) = state.arrivals.iter().find(|other| other.warp == arrival.warp) {
            let message =
                format!("warp {} uses barrier {id} again before its `arrive` is complete", warp.number);
            return Err(ambiguous(message, Some(other)));
        }
        if let Detector::VectorClock(exact) = &self.order
            && state.completed
        {
            let knows = |thread: u32| {
                state.released.iter().any(|(other, stamp)| {
                    *other == thread || exact.clocks.knows(thread as usize, *other as usize) >= *stamp
                })
            };
            if !warp.live().iter().any(|lane| knows(warp.thread(lane))) {
                let message = format!(
                    "whether warp {} joins this generation of barrier {id} or the one before depends on the schedule",
                    warp.number
                );
                return Err(ambiguous(message, None));
            }
        }
        Ok(())
    }

    /// Whether no asynchronous operation is in flight, and no mbarrier in use.
    pub(crate) fn is_nothing_under_way(&self) -> bool {
        self.copies.iter().all(Copies::is_empty)
            && self.products.iter().all(Products::is_empty)
            && self.mbarriers.is_empty()
            && self.cluster.is_idle()
    }

    /// Number of arrivals of warps at barriers that are not complete.
    pub(crate) fn arrivals(&self) -> usize {
        self.barriers.states.iter().flatten().map(|state| state.arrivals.len()).sum()
    }

    /// Orders what the lanes of `group` did before the barrier before what they do after it, and if the case says that
    /// returning orders memory, what the returned lanes of `mask` did as well.
    pub(crate) fn order_lanes(&mut self, warp: &mut Warp, group: LaneMask, mask: LaneMask) {
        match &mut self.order {
            Detector::Epoch(_) => {
                if group == warp.exists {
                    warp.syncs += 1;
                }
            }
            Detector::VectorClock(exact) => {
                let gone =
                    LaneMask::all_if(self.context.options.rules.exit_orders_memory) & mask & warp.exited;
                let threads: Vec<usize> =
                    (group | gone).iter().map(|lane| warp.thread(lane) as usize).collect();
                exact.clocks.meet(&threads);
            }
        }
    }

    /// The lanes of `group` have met at a collective operation, which orders no memory: only that their earlier
    /// operations have happened is known afterwards, which matters to mbarriers.
    pub(crate) fn order_lanes_in_time(&mut self, warp: &Warp, group: LaneMask) {
        if let Detector::VectorClock(exact) = &mut self.order
            && !self.mbarriers.is_empty()
        {
            let threads: Vec<usize> = group.iter().map(|lane| warp.thread(lane) as usize).collect();
            exact.clocks.meet_in_time(&threads);
        }
    }
}

impl Context<'_> {
    /// How many threads of a CTA a barrier counts.
    fn counted(&self, count: Count) -> u32 {
        match count {
            Count::All => self.launch.warps() as u32 * 32,
            Count::Threads(threads) => threads,
        }
    }

    /// The fault of arrivals by which a barrier would combine predicates in two ways.
    #[cold]
    fn two_operators(&self, id: u64, (one, other): (Reduces, Option<Reduces>), sites: Vec<Site>) -> Stop {
        let other = other.map_or(String::new(), |other| format!(" and `{other}`"));
        let message = format!("barrier {id} would combine predicates by `{one}`{other} at once");
        let help = "all threads that meet at a barrier give it one operator; use two barriers for two";
        self.fault_at(FaultKind::BarrierMisuse, "Y3", message, sites, Some(help.into()))
    }

    /// The aligned forms require a warp's live lanes to meet at the same instruction.
    fn check_convergence(&self, warp: &Warp, id: usize) -> Result<(), Stop> {
        let first = warp.at_barrier.first();
        let aligned = |pc: InstId| {
            matches!(self.launch.program.insts[pc.index()].op, Op::Barrier { aligned: true, .. })
        };
        let other = warp.at_barrier.iter().find(|lane| warp.pc[*lane] != warp.pc[first]);
        let Some(other) = other.filter(|other| aligned(warp.pc[first]) || aligned(warp.pc[*other])) else {
            return Ok(());
        };
        let op = &self.launch.program.insts[warp.pc[first].index()].op;
        let waits = !matches!(op, Op::Barrier { kind: Barrier::Arrive, .. });
        let action = format!("{} at barrier {id}", if waits { "waits" } else { "arrives" });
        let sites = vec![
            self.site(action.clone(), warp, first, warp.pc[first]),
            self.site(action, warp, other, warp.pc[other]),
        ];
        let message = format!(
            "lanes of warp {} are at different instructions when {}",
            warp.number,
            if waits { format!("barrier {id} is complete") } else { format!("they arrive at barrier {id}") }
        );
        let help = "a `__syncthreads()` must be reached by all threads of a warp together; move it out of the branch";
        Err(self.fault_at(FaultKind::BarrierDivergence, "Y3", message, sites, Some(help.into())))
    }

    /// The fault of a lane that is not in its own mask; `here` are all lanes that arrived with it.
    #[cold]
    pub(crate) fn left_out_of_mask(
        &self,
        warp: &Warp,
        (lane, mask, here): (Lane, LaneMask, LaneMask),
        pc: InstId,
    ) -> Stop {
        let message = format!("lane {lane} is not in the mask {mask:#010x} that it names");
        let site = self.site("arrives here".into(), warp, lane, pc);
        let help = format!(
            "every lane that executes this must be in its mask: {here:#010x} executed it together; or exclude the \
             lane by a branch"
        );
        self.fault_at(FaultKind::BarrierDivergence, "Y4", message, vec![site], Some(help))
    }
}

impl ValueTerms<'_> {
    /// Counts returned threads as arrived at a barrier without a count (rule Y3) and notes the assumption; in a strict
    /// case they are missing.
    fn count_returned_threads(
        &mut self,
        (warps, own): (&[Warp], Range<usize>),
        state: &State,
        id: usize,
    ) -> Result<(), Stop> {
        let here = &warps[own];
        let Some(gone) = here.iter().find(|warp| !warp.exited.is_empty()) else { return Ok(()) };
        let waiting = state.arrivals.iter().filter(|arrival| arrival.waits);
        if self.context.options.rules.strict_barriers
            && let Some(arrival) = waiting.clone().min_by_key(|arrival| arrival.warp)
        {
            let warp = &warps[arrival.warp];
            let lane = warp.at_barrier.first();
            let thread = self.context.launch.thread(self.context.linear, gone.thread(gone.exited.first()));
            let message = format!("barrier {id} waits for all threads, but {thread} has returned");
            let help = "let all threads reach the barrier: guard only the work that some of them skip, not the rest \
                        of the kernel";
            let site = self.context.site(format!("waits at barrier {id}"), warp, lane, arrival.pc);
            let kind = FaultKind::BarrierDivergence;
            return Err(self.context.fault_at(kind, "Y3", message, vec![site], Some(help.into())));
        }
        for arrival in waiting {
            for warp in here {
                self.relied.returned.add(arrival.pc, warp.index, warp.exited);
            }
        }
        Ok(())
    }

    /// Counts returned lanes as arrived where a mask names them (rule Y4) and notes the assumption; in a strict case
    /// they are missing.
    pub(crate) fn count_returned_lanes(
        &mut self,
        warp: &Warp,
        mask: LaneMask,
        (lane, pc): (Lane, InstId),
    ) -> Result<(), Stop> {
        let gone = mask & warp.exited;
        if gone.is_empty() {
            return Ok(());
        }
        if self.context.options.rules.strict_barriers {
            let missing = gone.first();
            let message = format!("the mask {mask:#010x} names lane {missing}, which has returned");
            return Err(self.context.fault(FaultKind::BarrierDivergence, "Y4", message, warp, lane, pc));
        }
        self.relied.returned.add(pc, warp.index, gone);
        Ok(())
    }

    /// The truth value of a predicate that must not depend on inputs.
    pub(crate) fn known_truth(
        &self,
        warp: &Warp,
        source: PredSrc,
        lane: Lane,
        pc: InstId,
    ) -> Result<bool, Stop> {
        match warp.predicates[source.pred.index()].get(lane) {
            Truth::Known(value) => Ok(value != source.negated),
            Truth::Condition(term) => {
                let what = self.describe(term);
                let message = format!("a value that all threads combine depends on the input: {what}");
                Err(self.context.fault(FaultKind::InputDependentControl, "S1", message, warp, lane, pc))
            }
            Truth::Undefined(origin) => {
                let message = "an uninitialised predicate is used";
                Err(self.undefined_predicate(At { warp, lane, pc }, origin, message))
            }
            Truth::Answer(answer) => Err(self.asked_once(answer, warp, lane, pc)),
        }
    }
}
