//! Threads meet at the barrier of their cluster.

use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::concurrency::race::Detector;
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::WarpAccess;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::machine::sync::cluster::{Landing, Reach, Standing, is_unaligned};
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::{Async, Fenced, InstId, Op, Scope, Space};
use crate::verdict::FaultKind;

impl Cta<'_> {
    /// Lanes reach an operation on the barrier of the cluster, at which the lanes of a warp wait for one another: at
    /// one instruction if it is `.aligned`, else at any that are not. Returns the lanes that continue.
    pub(super) fn meet_cluster(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
    ) -> Result<LaneMask, Stop> {
        if let Detector::Epoch(_) = self.sync.order {
            return Err(Stop::NeedVectorClocks);
        }
        if self.context.launch.cooperative {
            let message = "barriers of clusters in a cooperative grid are not supported yet";
            return Err(self.context.fault(FaultKind::Unsupported, "S2", message, warp, mask.first(), pc));
        }
        let insts = &self.context.launch.program.insts;
        let (live, op) = (warp.live(), &insts[pc.index()].op);
        let met = if is_unaligned(op) {
            let comes = |lane| {
                mask.contains(lane)
                    || warp.at_phase.contains(lane) && is_unaligned(&insts[warp.pc[lane].index()].op)
            };
            if warp.met_at_cluster.is_empty() && live.iter().all(comes) {
                warp.met_at_cluster = live;
            }
            mask & warp.met_at_cluster
        } else if live.is_within(mask) {
            mask
        } else {
            LaneMask::NONE
        };
        let over = if let Op::Async(Async::ArriveAtCluster { releases, .. }) = op {
            self.arrive_at_cluster(warp, met, pc, *releases)?;
            met
        } else {
            self.sync.wait_for_cluster(warp, met, pc)?
        };
        warp.met_at_cluster &= !over;
        if over == live {
            warp.meet(over);
        }
        Ok(over)
    }

    /// `barrier.cluster.arrive` by the lanes of `mask`.
    fn arrive_at_cluster(
        &mut self,
        warp: &Warp,
        mask: LaneMask,
        pc: InstId,
        releases: bool,
    ) -> Result<(), Stop> {
        for lane in mask {
            let number = warp.thread(lane) as usize;
            if let Standing::Arrived(_, before) = self.sync.cluster.threads[number] {
                let message =
                    "a thread arrives at the cluster's barrier again without having waited at it in between";
                let sites = vec![
                    self.context.site_of_thread("arrives".into(), warp.thread(lane), before),
                    self.context.site("arrives again".into(), warp, lane, pc),
                ];
                return Err(self.context.fault_at(
                    FaultKind::BarrierMisuse,
                    "Y13",
                    message.into(),
                    sites,
                    None,
                ));
            }
            let exact = self.sync.order.exact_mut()?;
            let joined = &mut self.sync.cluster.joined;
            if releases {
                exact.clocks.add_to(number, joined);
            } else {
                if self.context.options.rules.unfenced_barriers {
                    exact.clocks.fence_barriers(number);
                }
                exact.clocks.add_fenced_to(number, false, joined);
            }
            exact.clocks.release(number);
            let phase = self.sync.cluster.phase;
            self.sync.cluster.threads[number] = Standing::Arrived(phase, pc);
            self.sync.cluster.count();
            self.work.counts.barriers += u64::from(self.sync.cluster.phase - phase);
        }
        Ok(())
    }
}

impl Synchronisation<'_> {
    /// Lanes return: the barrier of the cluster no longer waits for them.
    pub(crate) fn leave_cluster(&mut self, warp: &Warp, mask: LaneMask) {
        for lane in if self.cluster.threads.is_empty() { LaneMask::NONE } else { mask } {
            let number = warp.thread(lane) as usize;
            if let Detector::VectorClock(exact) = &self.order
                && self.context.options.rules.exit_orders_memory
            {
                exact.clocks.add_to(number, &mut self.cluster.joined);
            }
            let before = std::mem::replace(&mut self.cluster.threads[number], Standing::Gone);
            let is_missing = match before {
                Standing::Away => true,
                Standing::Arrived(phase, _) => phase < self.cluster.phase,
                Standing::Gone => false,
            };
            if is_missing {
                self.cluster.count();
            }
        }
    }

    /// `barrier.cluster.wait`: returns the lanes with a completed phase, after they have learned what its arrivals
    /// release.
    fn wait_for_cluster(&mut self, warp: &Warp, mask: LaneMask, pc: InstId) -> Result<LaneMask, Stop> {
        let mut over = LaneMask::NONE;
        for lane in mask {
            let number = warp.thread(lane) as usize;
            let Standing::Arrived(phase, _) = self.cluster.threads[number] else {
                let message = "a thread waits at the cluster's barrier without having arrived at it";
                return Err(self.context.fault(FaultKind::BarrierMisuse, "Y13", message, warp, lane, pc));
            };
            if phase == self.cluster.phase {
                continue;
            }
            let exact = self.order.exact_mut()?;
            exact.clocks.learn(number, &mut self.cluster.over);
            exact.clocks.release(number);
            self.cluster.threads[number] = Standing::Away;
            over |= LaneMask::of(lane);
        }
        if let Detector::VectorClock(exact) = &self.order
            && !over.is_empty()
        {
            let met =
                over.iter().map(|lane| (warp.thread(lane), exact.clocks.now(warp.thread(lane) as usize)));
            self.meetings.note(Some(pc), met);
        }
        Ok(over)
    }

    /// Lanes access an object. If the object belongs to another CTA of the cluster, they must know that this CTA has
    /// begun.
    #[inline]
    pub(crate) fn reach(&mut self, warp: &Warp, at: &WarpAccess<'_>, writes: bool) -> Result<(), Stop> {
        if at.object.rank == warp.rank || at.object.space != Space::Shared {
            return Ok(());
        }
        at.mask.iter().try_for_each(|lane| self.reach_across(warp, lane, at, writes))
    }

    fn reach_across(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        writes: bool,
    ) -> Result<(), Stop> {
        let exact = self.order.exact()?;
        let (thread, object, pc) = (warp.thread(lane), at.object, at.pc);
        let rank = object.rank;
        let (landing, phases) = match at.agent {
            Agent::Copy { .. } => (Landing::Returned, 0),
            Agent::Barrier => match self.mbarriers.alive.get(&(at.number, at.offsets[lane] / 4)) {
                Some(barrier) => (Landing::Counted(barrier.agent), barrier.phase + 1),
                None => (Landing::Visible, 0),
            },
            Agent::Thread
            | Agent::AnyOf { .. }
            | Agent::Atomic { .. }
            | Agent::Maker
            | Agent::Setter { .. }
            | Agent::Waiter { .. } => (if writes { Landing::Visible } else { Landing::Returned }, 0),
        };
        let now = Reach { stamp: exact.clocks.now(thread as usize), pc, phases };
        if self.cluster.reaches.insert((thread, rank, landing), now).is_some() {
            return Ok(());
        }
        let mut others = self.context.launch.numbers_of(rank);
        if others.any(|other| exact.clocks.is_past(thread as usize, other, 1)) {
            return Ok(());
        }
        let message = format!(
            "{} is accessed by another CTA, and nothing ensures that its own CTA has started",
            self.context.spell(object, 0, 0)
        );
        let site = self.context.site("accesses it".into(), warp, lane, pc);
        let help = "synchronise the cluster first: `cluster.sync()`, or `barrier.cluster.arrive` and \
                    `barrier.cluster.wait`";
        Err(self.context.fault_at(FaultKind::Race, "Y13", message, vec![site], Some(help.into())))
    }

    /// At the end of the run: checks that each access to the shared memory of another CTA happened before that CTA
    /// returned.
    pub(crate) fn end_reaches(&self) -> Result<(), Stop> {
        let Detector::VectorClock(exact) = &self.order else { return Ok(()) };
        let mut late: Vec<(u32, u32, Reach)> = Vec::new();
        for ((thread, rank, landing), reach) in &self.cluster.reaches {
            let is_known = |other| exact.clocks.knows(other, *thread as usize) >= reach.stamp;
            let is_done = |other| match landing {
                Landing::Returned => exact.clocks.is_past(other, *thread as usize, reach.stamp),
                Landing::Visible => is_known(other),
                Landing::Counted(barrier) => {
                    is_known(other) || exact.clocks.is_past(other, *barrier, reach.phases)
                }
            };
            if !self.context.launch.numbers_of(*rank).any(is_done) {
                late.push((*thread, *rank, *reach));
            }
        }
        late.sort_unstable_by_key(|(thread, rank, reach)| (*thread, *rank, reach.pc));
        let Some((thread, rank, reach)) = late.first().copied() else { return Ok(()) };
        let message = format!(
            "CTA {rank} of the cluster may have returned when another one accesses its shared memory"
        );
        let sites = vec![self.context.site_of_thread("accesses it".into(), thread, reach.pc)];
        let help =
            "synchronise the cluster before any of its CTAs returns: `cluster.sync()` after the last access";
        Err(self.context.fault_at(FaultKind::Race, "Y13", message, sites, Some(help.into())))
    }

    /// A fence by the lanes of `mask`.
    pub(crate) fn fence(&mut self, warp: &Warp, mask: LaneMask, of: Fenced) {
        let Detector::VectorClock(exact) = &mut self.order else { return };
        // Fences matter only for what is relaxed: arrivals, waits, and accesses to flags.
        if self.cluster.threads.is_empty()
            && !self.context.launch.has_flags
            && !self.context.launch.has_relaxed_barriers
        {
            return;
        }
        let reaches = |scope| match scope {
            Scope::Launch => true,
            Scope::Cluster => !self.context.launch.cooperative,
            Scope::Cta => self.context.launch.ranks() == 1,
        };
        for lane in mask {
            let number = warp.thread(lane) as usize;
            match of {
                Fenced::Memory { scope, releases, acquires, total } => {
                    let is_near = !reaches(scope);
                    if acquires {
                        exact.clocks.fence_acquire(number, is_near);
                    }
                    if releases {
                        exact.clocks.fence_release(number, is_near);
                    }
                    if total && !is_near && (self.context.launch.has_tickets || self.context.launch.has_flags)
                    {
                        exact.clocks.fence_in_total_order(number);
                    }
                }
                Fenced::Barriers => exact.clocks.fence_barriers(number),
            }
        }
    }
}
