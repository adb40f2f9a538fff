//! The warps of a CTA take turns until all have returned, one is at fault, or no thread can proceed.

use crate::machine::cta::Cta;
use crate::machine::group::schedule::{Turn, Turns};
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::{Lanes, Warp};
use crate::program::{Effect, Inst};
use crate::verdict::FaultKind;

impl<'l> Cta<'l> {
    pub(crate) fn check_budgets(&mut self) -> Result<(), Stop> {
        self.asynchronous().check_budgets()
    }

    /// Runs to the end.
    pub(crate) fn run(&mut self) -> Result<(), Stop> {
        let mut warps = std::mem::take(&mut self.warps);
        let mut turns = Turns::new(self.context.options.schedule);
        // Warps that have used a value that nothing has written execute no more.
        let (mut behind, mut first) = (Vec::new(), None);
        loop {
            let mut progress = false;
            self.run_lockstep(&mut warps)?;
            turns.begin_round(warps.len());
            for turn in 0..warps.len() {
                let at = turns.warp(turn, warps.len());
                if behind.contains(&at) {
                    continue;
                }
                loop {
                    match self.run_warp(&mut warps[at], &mut turns) {
                        Err(stop) if self.past_undefined && stop.is_of(FaultKind::Uninitialised) => {
                            behind.push(at);
                            first.get_or_insert(stop);
                            break;
                        }
                        moved => progress |= moved?,
                    }
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
            if !progress && let Some(first) = first.take() {
                return Err(first);
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
