//! Operations that the two CTAs of a pair execute together in tensor memory (`.cta_group::2`, rule Y14), and which
//! threads know of an allocation.

use super::tensor_memory::Spot;
use crate::base::lane::Lane;
use crate::concurrency::race::Detector;
use crate::machine::cta::accesses::Asynchronous;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::{At, Warp};
use crate::machine::memory::tensor_allocations::{Allocation, Come};
use crate::program::{Async, InstId, Op};
use crate::verdict::FaultKind;
use std::mem::discriminant;

impl Context<'_> {
    /// The rank of the other CTA of a warp's pair.
    pub(super) fn peer(&self, At { warp, lane, pc }: At<'_>) -> Result<u32, Stop> {
        let peer = warp.rank ^ 1;
        if peer < self.launch.cluster_ranks() {
            return Ok(peer);
        }
        let message = format!(
            "an operation of a pair of CTAs, but the cluster has no CTA {peer} beside CTA {}",
            warp.rank
        );
        let site = self.site("executes it".into(), warp, lane, pc);
        let help = "launch clusters of two CTAs: `cluster = [2, 1, 1]`";
        Err(self.fault_at(FaultKind::OutOfBounds, "Y13", message, vec![site], Some(help.into())))
    }

    /// Checks that both CTAs of a pair allocate the same number of columns.
    pub(super) fn is_same_for_both(&self, at: At<'_>, held: &Allocation, columns: u32) -> Result<(), Stop> {
        if held.columns == columns {
            return Ok(());
        }
        let message = format!(
            "one CTA of a pair allocates {} columns of tensor memory, and the other one {columns}",
            held.columns
        );
        Err(self.misallocation(at, message))
    }

    /// The fault of an access that may come before its memory is allocated.
    #[cold]
    pub(super) fn allocated_at_any_time(&self, at: At<'_>, held: &Allocation, place: Spot) -> Stop {
        let message = format!(
            "column {} of tensor memory is allocated (1) and accessed (2), and nothing orders the two",
            place.column
        );
        let sites = vec![
            self.site_of_thread("allocates it".into(), held.thread, held.pc),
            self.site("accesses it".into(), at.warp, at.lane, at.pc),
        ];
        let help =
            "a barrier between `tcgen05.alloc` and the first access, such as `__syncthreads()`, orders them";
        self.fault_at(FaultKind::Race, "Y1", message, sites, Some(help.into()))
    }
}

impl Asynchronous<'_, '_> {
    /// Checks that all operations of a kernel are of pairs, or none.
    pub(crate) fn is_of_one_kind(&mut self, at: At<'_>, pair: bool) -> Result<(), Stop> {
        let At { warp, lane, pc } = at;
        let now = (pair, warp.thread(lane), pc);
        let (before, thread, first) = *self.tensor_memory.of_pairs.get_or_insert(now);
        if before == pair {
            return Ok(());
        }
        let message =
            "one kernel uses tensor memory with operations of one CTA and of pairs of CTAs".to_string();
        let sites = vec![
            self.context.site_of_thread("executes this one".into(), thread, first),
            self.context.site("and this one".into(), warp, lane, pc),
        ];
        Err(self.context.fault_at(FaultKind::Undefined, "Y14", message, sites, None))
    }

    /// A warp reaches an operation that one warp of each CTA of a pair executes together. Returns false if it has to
    /// wait for the other one. Which two warps go together must not depend on the schedule.
    pub(crate) fn meets_peer(&mut self, warp: &Warp, pc: InstId) -> Result<bool, Stop> {
        self.accesses.exact()?;
        let peer = self.context.peer(At::first(warp, pc))?;
        let thread = warp.thread(Lane::FIRST);
        let exact = self.accesses.sync.order.exact()?;
        let own = self.tensor_memory.together.entry(warp.rank).or_default();
        let waits = own.come.len() > own.done && own.come.last().is_some_and(|come| come.warp == warp.index);
        if !waits {
            let is_past = |come: &Come| {
                come.warp == warp.index
                    || exact.clocks.is_past(thread as usize, come.thread as usize, come.stamp)
            };
            let before = own.come.last().copied();
            if let Some(before) = before.filter(|before| own.come.len() > own.done || !is_past(before)) {
                let message = "two warps of a CTA execute operations of its pair, and nothing orders them: which \
                               operation of the other CTA each belongs to depends on the schedule";
                let sites = vec![
                    self.context.site_of_thread("executes this one".into(), before.thread, before.pc),
                    self.context.site("executes this one".into(), warp, Lane::FIRST, pc),
                ];
                return Err(self.context.fault_at(FaultKind::Allocation, "Y14", message.into(), sites, None));
            }
            let stamp = exact.clocks.now(thread as usize);
            own.come.push(Come { warp: warp.index, thread, stamp, pc });
        }
        let number = own.done;
        let Some(other) = self.tensor_memory.together.get(&peer).and_then(|peer| peer.come.get(number))
        else {
            return Ok(false);
        };
        let kind = |at: InstId| {
            let op = &self.context.launch.program.insts[at.index()].op;
            if let Op::Async(Async::Tensor(operation)) = op { Some(discriminant(operation)) } else { None }
        };
        if kind(pc) != kind(other.pc) {
            let message = "the two CTAs of a pair execute different operations on tensor memory".to_string();
            let sites = vec![
                self.context.site_of_thread("executes this one".into(), other.thread, other.pc),
                self.context.site("executes this one".into(), warp, Lane::FIRST, pc),
            ];
            return Err(self.context.fault_at(FaultKind::Allocation, "Y14", message, sites, None));
        }
        if let Some(own) = self.tensor_memory.together.get_mut(&warp.rank) {
            own.done += 1;
        }
        Ok(true)
    }

    /// The index, among the operations that its pair executes together, of the one that a warp executes now.
    pub(super) fn number_of_what_both_do(&self, warp: &Warp) -> Result<usize, Stop> {
        let own = self.tensor_memory.together.get(&warp.rank);
        own.and_then(|own| own.done.checked_sub(1)).ok_or(Stop::Defect("the CTAs of a pair have not met"))
    }

    /// The thread, the time stamp and the instruction with which a CTA reached an operation of its pair.
    pub(super) fn come_to(&self, rank: u32, number: usize) -> Result<(u32, u32, InstId), Stop> {
        let come = self.tensor_memory.together.get(&rank).and_then(|together| together.come.get(number));
        let come = come.ok_or(Stop::Defect("the CTAs of a pair have not met"))?;
        Ok((come.thread, come.stamp, come.pc))
    }

    /// At the end of the run: checks that the CTAs of a pair freed together what they allocated together.
    pub(super) fn frees_together(&self) -> Result<(), Stop> {
        let all = &self.tensor_memory.allocations;
        for held in all.iter().filter(|held| held.of_both.is_some()) {
            let is_other = |other: &&Allocation| other.rank == held.rank ^ 1 && other.of_both == held.of_both;
            let other = all.iter().find(is_other);
            if let Some((one, two)) = held.freed.zip(other.and_then(|other| other.freed))
                && one.of_both != two.of_both
            {
                let message =
                    "the two CTAs of a pair free together what they have not allocated together".to_string();
                let sites = [one, two]
                    .map(|freed| self.context.site_of_thread("frees".into(), freed.thread, freed.pc));
                return Err(self.context.fault_at(FaultKind::Allocation, "Y14", message, sites.into(), None));
            }
        }
        Ok(())
    }

    /// Whether all of these lanes know of an allocation. A pair of CTAs allocates for both at once.
    pub(super) fn is_known_to_be_allocated(&self, warp: &Warp, readers: &[Lane], held: &Allocation) -> bool {
        let Detector::VectorClock(exact) = &self.accesses.sync.order else { return true };
        let knows = |lane: Lane, held: &Allocation| {
            let thread = warp.thread(lane);
            thread / 32 == held.thread / 32
                || exact.clocks.is_past(thread as usize, held.thread as usize, held.stamp)
        };
        if readers.iter().all(|lane| knows(*lane, held)) {
            return true;
        }
        let other = held.of_both.and_then(|number| {
            let mut all = self.tensor_memory.allocations.iter();
            all.find(|other| other.rank == held.rank ^ 1 && other.of_both == Some(number))
        });
        other.is_some_and(|other| readers.iter().all(|lane| knows(*lane, held) || knows(*lane, other)))
    }
}
