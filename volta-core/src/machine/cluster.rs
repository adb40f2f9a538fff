//! Clusters (rule Y13): CTAs that run together, the barrier of all their threads, and whether a CTA exists while
//! another one accesses its shared memory.

use super::agent::Agent;
use super::clock::Joined;
use super::context::Context;
use super::cta::{Cta, Stop};
use super::objects::{Object, locate, to_generic};
use super::synchronisation::{Detector, Synchronisation};
use super::values::Values;
use super::warp::Warp;
use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::program::{Async, Fenced, InstId, Op, RegId, Scope, Space, Src, Width};
use crate::verdict::FaultKind;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The state of a thread at the barrier of its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It has not arrived since its last wait.
    Away,
    /// It has arrived in this phase, at this instruction, and has not waited.
    Arrived(u32, InstId),
    /// It has returned.
    Gone,
}

/// When an access to the shared memory of another CTA is certainly done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Landing {
    /// Once its thread goes on, which has the value. The ends of asynchronous operations are checked on their own.
    Returned,
    /// Once it is visible to a thread of that CTA: a store may still be under way long after its instruction.
    Visible,
    /// Also once the phase to which it belongs is over, of the mbarrier with this agent.
    Counted(usize),
}

/// An access to the shared memory of another CTA.
#[derive(Clone, Copy, Debug)]
struct Reach {
    stamp: u32,
    pc: InstId,
    /// For an operation on an mbarrier, the number of phases that are over when its own one is.
    phases: u32,
}

/// What accesses an object, and where: its agent, whether it writes, the object and the cell.
pub(super) type Reaching = (Agent, bool, (u32, u64));

/// The state that CTAs of a cluster share, besides memory.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    /// The number of completed phases of its barrier.
    phase: u32,
    /// By thread number; empty if the clusters have one CTA.
    threads: Vec<Standing>,
    /// The number of threads for which the phase waits.
    missing: usize,
    /// The knowledge that arrivals of this phase release, and that of the phase before.
    joined: Joined,
    over: Joined,
    /// By thread and rank: the thread's last access of each kind to the shared memory of another CTA.
    reaches: FxHashMap<(u32, u32, Landing), Reach>,
}

impl Cluster {
    pub(super) fn new(threads: usize, numbers: impl Iterator<Item = Range<usize>>) -> Cluster {
        let mut cluster = Cluster { threads: vec![Standing::Gone; threads], ..Cluster::default() };
        for range in numbers {
            cluster.missing += range.len();
            cluster.threads[range].fill(Standing::Away);
        }
        cluster
    }

    /// The number of threads that have arrived, and of those that have not returned.
    pub(super) fn arrived(&self) -> (usize, usize) {
        let live = self.threads.iter().filter(|thread| **thread != Standing::Gone).count();
        (live - self.missing, live)
    }

    /// Whether every thread that has arrived has also waited.
    pub(super) fn is_idle(&self) -> bool {
        !self.threads.iter().any(|thread| matches!(thread, Standing::Arrived(..)))
    }

    /// The phase waits for one thread less.
    fn count(&mut self) {
        self.missing -= 1;
        if self.missing == 0 {
            self.phase += 1;
            self.over = std::mem::take(&mut self.joined);
            self.missing = self.threads.iter().filter(|thread| **thread != Standing::Gone).count();
        }
    }
}

/// Whether an operation on the barrier of the cluster lets the lanes of a warp come to it at several instructions.
fn is_unaligned(op: &Op) -> bool {
    matches!(
        op,
        Op::Async(Async::ArriveAtCluster { aligned: false, .. } | Async::WaitForCluster { aligned: false })
    )
}

impl Synchronisation<'_> {
    /// Lanes return: the barrier of the cluster no longer waits for them.
    pub(super) fn leave_cluster(&mut self, warp: &Warp, mask: LaneMask) {
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
                let message =
                    "a thread waits at the cluster's barrier without having arrived at it".to_string();
                return Err(self.context.fault(FaultKind::BarrierMisuse, "Y13", message, warp, lane, pc));
            };
            if phase == self.cluster.phase {
                continue;
            }
            let Detector::VectorClock(exact) = &mut self.order else { return Err(Stop::NeedVectorClocks) };
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
    pub(super) fn reach(
        &mut self,
        warp: &Warp,
        mask: LaneMask,
        object: &Object,
        pc: InstId,
        reaching: Reaching,
    ) -> Result<(), Stop> {
        if object.rank == warp.rank || object.space != Space::Shared {
            return Ok(());
        }
        mask.iter().try_for_each(|lane| self.reach_across(warp, lane, object, pc, reaching))
    }

    fn reach_across(
        &mut self,
        warp: &Warp,
        lane: Lane,
        object: &Object,
        pc: InstId,
        (agent, writes, (number, cell)): Reaching,
    ) -> Result<(), Stop> {
        let Detector::VectorClock(exact) = &self.order else { return Err(Stop::NeedVectorClocks) };
        let (thread, rank) = (warp.thread(lane), object.rank);
        let (landing, phases) = match agent {
            Agent::Copy { .. } => (Landing::Returned, 0),
            Agent::Barrier => match self.mbarriers.alive.get(&(number, cell)) {
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
    pub(super) fn end_reaches(&self) -> Result<(), Stop> {
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
    pub(super) fn fence(&mut self, warp: &Warp, mask: LaneMask, of: Fenced) {
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
            let message = "barriers of clusters in a cooperative grid are not supported yet".to_string();
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
            let Detector::VectorClock(exact) = &mut self.sync.order else {
                return Err(Stop::NeedVectorClocks);
            };
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
            self.counts.barriers += u64::from(self.sync.cluster.phase - phase);
        }
        Ok(())
    }
}

impl Context<'_> {
    /// The object at an address, and the offset in it. `.shared` addresses only the memory of the own CTA.
    #[inline]
    pub(super) fn found(&self, warp: &Warp, space: Space, address: u64) -> Option<(u32, i64)> {
        let found = self.launch.objects.find(space, address)?;
        // The CTAs of a cooperative grid do not share shared memory.
        let is_of_cta = space == Space::Shared || space == Space::Cluster && self.launch.cooperative;
        (!is_of_cta || self.launch.objects.get(found.0).rank == warp.rank).then_some(found)
    }

    /// The ranks of the CTAs that the mask of a multicast names.
    pub(super) fn ranks_in(&self, mask: u64, warp: &Warp, lane: Lane, pc: InstId) -> Result<Vec<u32>, Stop> {
        let ranks = self.launch.cluster_ranks();
        if mask == 0 || mask >> ranks != 0 {
            let message = format!("a copy to the CTAs {mask:#06x} of a cluster of {ranks}");
            return Err(self.fault(FaultKind::OutOfBounds, "Y13", message, warp, lane, pc));
        }
        Ok((0..ranks).filter(|rank| mask >> rank & 1 == 1).collect())
    }

    /// The address of the same place in the shared memory of another CTA of the cluster.
    pub(super) fn in_cta(
        &self,
        (space, address): (Space, u64),
        rank: u64,
        (warp, lane, pc): (&Warp, Lane, InstId),
    ) -> Result<(Space, u64), Stop> {
        let (own, inner) = locate(space, address);
        let ranks = self.launch.cluster_ranks();
        let there = match own {
            Space::Shared | Space::Cluster if rank < u64::from(ranks) => {
                let found = self.launch.objects.find(Space::Cluster, inner);
                // The clusters of a cooperative grid have one CTA.
                let rank = if self.launch.cooperative { warp.rank } else { number_of(rank as usize) };
                let is_foreign = self.launch.cooperative
                    && self.launch.objects.rank_at(inner).is_some_and(|own| own != rank);
                if is_foreign {
                    let message =
                        "an address in the shared memory of another CTA of a cooperative grid is not supported"
                            .to_string();
                    return Err(self.fault(FaultKind::Unsupported, "S2", message, warp, lane, pc));
                }
                found.and_then(|_| self.launch.objects.in_cta(inner, rank))
            }
            Space::Shared
            | Space::Cluster
            | Space::Global
            | Space::Local
            | Space::Const
            | Space::Param
            | Space::Generic
            | Space::Tensor => None,
        };
        match there {
            Some(there) => Ok((Space::Cluster, there)),
            None if rank >= u64::from(ranks) => {
                let message = format!("there is no CTA {rank} in a cluster of {ranks}");
                Err(self.fault(FaultKind::OutOfBounds, "Y13", message, warp, lane, pc))
            }
            None => {
                let message = "an address outside shared memory is used as one in shared memory".to_string();
                Err(self.fault(FaultKind::OutOfBounds, "Y13", message, warp, lane, pc))
            }
        }
    }
}

impl Values<'_> {
    /// `mapa`
    pub(super) fn map_to_cta(
        &self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        (d, width): (RegId, Width),
        (a, space): (Src, Space),
        rank: Src,
    ) -> Result<(), Stop> {
        let mut out = [0; 32];
        for lane in mask {
            let address = self.concrete(warp, a, lane, pc, "an address")?;
            let rank = self.concrete(warp, rank, lane, pc, "the number of a CTA")? & 0xffff_ffff;
            let (there, inner) = self.context.in_cta((space, address), rank, (warp, lane, pc))?;
            let address = if space == Space::Generic { to_generic(there, inner) } else { inner };
            out[lane] = address & width.mask();
        }
        warp.register_mut(d).merge_bits(mask, &out);
        Ok(())
    }

    /// `getctarank`
    pub(super) fn cta_rank_of(
        &self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        d: RegId,
        (a, space): (Src, Space),
    ) -> Result<(), Stop> {
        let mut out = [0; 32];
        for lane in mask {
            let address = self.concrete(warp, a, lane, pc, "an address")?;
            // This reports an address outside of shared memory.
            self.context.in_cta((space, address), 0, (warp, lane, pc))?;
            let rank = self.context.rank_of_address((space, address));
            out[lane] = rank.map_or(0, |rank| self.context.launch.rank_in_cluster(rank).into());
        }
        warp.register_mut(d).merge_bits(mask, &out);
        Ok(())
    }
}
