//! Compares the state of a CTA with an earlier one.

use crate::base::lane::Lane;
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::Accesses;
use crate::machine::group::endless::{Endless, Repeats, Turned};
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::program::{Control, InstId};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

impl Cta<'_> {
    /// Searches for an earlier barrier after which the CTA had its present state.
    pub(crate) fn look_for_repetition(&mut self, warps: &[Warp]) -> Result<(), Stop> {
        let barriers = self.work.counts.barriers;
        if !self.watch.looks_at(barriers) || self.sync.arrivals() != 0 || !self.sync.is_nothing_under_way() {
            return Ok(());
        }
        let state = self.accesses().digest(warps);
        if barriers.is_power_of_two() {
            self.watch.known = Some((barriers, state));
            return Ok(());
        }
        match self.watch.known {
            Some((before, known)) if known == state => {
                let live = warps.iter().find(|warp| !warp.live().is_empty());
                let pc = live.and_then(|warp| warp.pc[warp.live().first()].before());
                Err(self.endless(pc, Repeats::Barriers([before, barriers])))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Searches for an earlier iteration in which warps that jump back to `pc` had their present state.
    #[cold]
    pub(crate) fn look_for_turn(&mut self, warps: &[Warp], pc: InstId) -> Result<(), Stop> {
        if !self.sync.is_nothing_under_way() {
            return Ok(());
        }
        let mut hasher = FxHasher::default();
        (self.accesses().digest(warps), warps[0].index, self.sync.arrivals(), pc).hash(&mut hasher);
        let (turns, state, terms) = (self.watch.turns, hasher.finish(), self.values.terms.store.len());
        match self.watch.turned {
            Some(before) if before.state == state && !turns.is_power_of_two() => {
                Err(self.endless(Some(pc), Repeats::Turns(turns - before.turns)))
            }
            _ if turns.is_power_of_two() => {
                self.watch.turned = Some(Turned { turns, state, terms });
                Ok(())
            }
            // What grows in each iteration is never the same.
            Some(before) if before.terms < terms && self.watch.has_compared() && !self.leads_out(pc) => {
                Err(self.endless(Some(pc), Repeats::NoWayOut))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn endless(&self, pc: Option<InstId>, repeats: Repeats) -> Stop {
        let place = pc.and_then(|pc| self.context.launch.place(pc));
        Stop::Endless(Box::new(Endless { place, repeats }))
    }

    /// Whether an instruction that ends a thread, or the run, can be reached from an instruction.
    fn leads_out(&self, pc: InstId) -> bool {
        let insts = &self.context.launch.program.insts;
        let (mut seen, mut open) = (vec![false; insts.len()], vec![pc]);
        while let Some(pc) = open.pop() {
            // Behind the last instruction, a thread returns.
            let Some(inst) = insts.get(pc.index()) else { return true };
            if std::mem::replace(&mut seen[pc.index()], true) {
                continue;
            }
            let control = inst.op.control();
            if control.is_some_and(|control| matches!(control, Control::Exit | Control::Trap)) {
                return true;
            }
            open.extend(control.iter().flat_map(|control| control.targets()));
            if control.is_none() || inst.guard.is_some() {
                open.push(pc.next());
            }
        }
        false
    }
}

impl Accesses<'_, '_> {
    /// A digest of everything that determines the further run. No claim rests on it: a collision yields an *unknown*
    /// where an answer was possible.
    fn digest(&self, warps: &[Warp]) -> u64 {
        let mut hasher = FxHasher::default();
        for warp in warps {
            let waits = [warp.exited, warp.at_barrier, warp.at_warp_sync, warp.at_collective];
            (waits, warp.pc, warp.diverged).hash(&mut hasher);
            for register in &warp.registers {
                Lane::all().for_each(|lane| register.get(lane).hash(&mut hasher));
            }
            warp.predicates.hash(&mut hasher);
            warp.local.hash(&mut hasher);
        }
        self.memory.hash_contents(&mut hasher);
        // A state is not the same if it contains newly created values; conditions that premises decide are in none.
        let terms = &self.values.terms;
        let made = if terms.guards.have_premises() { 0 } else { terms.store.len() };
        (made, self.values.terms.packed.bytes(), self.values.fragments.bytes()).hash(&mut hasher);
        hasher.finish()
    }
}
