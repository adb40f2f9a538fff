//! Clusters (rule Y13): CTAs that run together, the barrier of all their threads, and whether a CTA exists while
//! another one accesses its shared memory.

use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::clock::Joined;
use crate::launch::objects::{locate, to_generic};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::program::{Async, InstId, Op, RegId, Space, Src, Width};
use crate::verdict::FaultKind;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The state of a thread at the barrier of its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It has not arrived since its last wait.
    Away,
    /// It has arrived in this phase, at this instruction, and has not waited.
    Arrived(u32, InstId),
    /// It has returned.
    Gone,
}

/// When an access to the shared memory of another CTA is certainly done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Landing {
    /// Once its thread goes on, which has the value. The ends of asynchronous operations are checked on their own.
    Returned,
    /// Once it is visible to a thread of that CTA: a store may still be under way long after its instruction.
    Visible,
    /// Also once the phase to which it belongs is over, of the mbarrier with this agent.
    Counted(usize),
}

/// An access to the shared memory of another CTA.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub(crate) stamp: u32,
    pub(crate) pc: InstId,
    /// For an operation on an mbarrier, the number of phases that are over when its own one is.
    pub(crate) phases: u32,
}

/// The state that CTAs of a cluster share, besides memory.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// The number of completed phases of its barrier.
    pub(crate) phase: u32,
    /// By thread number; empty if the clusters have one CTA.
    pub(crate) threads: Vec<Standing>,
    /// The number of threads for which the phase waits.
    missing: usize,
    /// The knowledge that arrivals of this phase release, and that of the phase before.
    pub(crate) joined: Joined,
    pub(crate) over: Joined,
    /// By thread and rank: the thread's last access of each kind to the shared memory of another CTA.
    pub(crate) reaches: FxHashMap<(u32, u32, Landing), Reach>,
}

impl Cluster {
    pub(crate) fn new(threads: usize, numbers: impl Iterator<Item = Range<usize>>) -> Cluster {
        let mut cluster = Cluster { threads: vec![Standing::Gone; threads], ..Cluster::default() };
        for range in numbers {
            cluster.missing += range.len();
            cluster.threads[range].fill(Standing::Away);
        }
        cluster
    }

    /// The number of threads that have arrived, and of those that have not returned.
    pub(crate) fn arrived(&self) -> (usize, usize) {
        let live = self.threads.iter().filter(|thread| **thread != Standing::Gone).count();
        (live - self.missing, live)
    }

    /// Whether every thread that has arrived has also waited.
    pub(crate) fn is_idle(&self) -> bool {
        !self.threads.iter().any(|thread| matches!(thread, Standing::Arrived(..)))
    }

    /// The phase waits for one thread less.
    pub(crate) fn count(&mut self) {
        self.missing -= 1;
        if self.missing == 0 {
            self.phase += 1;
            self.over = std::mem::take(&mut self.joined);
            self.missing = self.threads.iter().filter(|thread| **thread != Standing::Gone).count();
        }
    }
}

/// Whether an operation on the barrier of the cluster lets the lanes of a warp come to it at several instructions.
pub(crate) fn is_unaligned(op: &Op) -> bool {
    matches!(
        op,
        Op::Async(Async::ArriveAtCluster { aligned: false, .. } | Async::WaitForCluster { aligned: false })
    )
}

impl Context<'_> {
    /// The object at an address, and the offset in it. `.shared` addresses only the memory of the own CTA.
    #[inline]
    pub(crate) fn found(&self, warp: &Warp, space: Space, address: u64) -> Option<(u32, i64)> {
        let found = self.launch.objects.find(space, address)?;
        // The CTAs of a cooperative grid do not share shared memory.
        let is_of_cta = space == Space::Shared || space == Space::Cluster && self.launch.cooperative;
        (!is_of_cta || self.launch.objects.get(found.0).rank == warp.rank).then_some(found)
    }

    /// The ranks of the CTAs that the mask of a multicast names.
    pub(crate) fn ranks_in(&self, mask: u64, warp: &Warp, lane: Lane, pc: InstId) -> Result<Vec<u32>, Stop> {
        let ranks = self.launch.cluster_ranks();
        if mask == 0 || mask >> ranks != 0 {
            let message = format!("a copy to the CTAs {mask:#06x} of a cluster of {ranks}");
            return Err(self.fault(FaultKind::OutOfBounds, "Y13", message, warp, lane, pc));
        }
        Ok((0..ranks).filter(|rank| mask >> rank & 1 == 1).collect())
    }

    /// The address of the same place in the shared memory of another CTA of the cluster.
    pub(crate) fn in_cta(
        &self,
        (space, address): (Space, u64),
        rank: u64,
        (warp, lane, pc): (&Warp, Lane, InstId),
    ) -> Result<(Space, u64), Stop> {
        let (own, inner) = locate(space, address);
        let ranks = self.launch.cluster_ranks();
        if rank >= u64::from(ranks) {
            let message = format!("there is no CTA {rank} in a cluster of {ranks}");
            return Err(self.fault(FaultKind::OutOfBounds, "Y13", message, warp, lane, pc));
        }
        let mut there = None;
        if matches!(own, Space::Shared | Space::Cluster) {
            let found = self.launch.objects.find(Space::Cluster, inner);
            // The clusters of a cooperative grid have one CTA.
            let rank = if self.launch.cooperative { warp.rank } else { number_of(rank as usize) };
            let is_foreign =
                self.launch.cooperative && self.launch.objects.rank_at(inner).is_some_and(|own| own != rank);
            if is_foreign {
                let message =
                    "an address in the shared memory of another CTA of a cooperative grid is not supported";
                return Err(self.fault(FaultKind::Unsupported, "S2", message, warp, lane, pc));
            }
            there = found.and_then(|_| self.launch.objects.in_cta(inner, rank));
        }
        there.map(|there| (Space::Cluster, there)).ok_or_else(|| {
            let message = "an address outside shared memory is used as one in shared memory";
            self.fault(FaultKind::OutOfBounds, "Y13", message, warp, lane, pc)
        })
    }
}

impl ValueTerms<'_> {
    /// `mapa`
    pub(crate) fn map_to_cta(
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
    pub(crate) fn cta_rank_of(
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
