//! Compares the state of a CTA with an earlier one.

use crate::base::lane::Lane;
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::Accesses;
use crate::machine::group::endless::{Endless, Repeats};
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::program::InstId;
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
                let place = pc.and_then(|pc| self.context.launch.place(pc));
                Err(Stop::Endless(Box::new(Endless {
                    place,
                    repeats: Repeats::Barriers([before, barriers]),
                })))
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
        let (turns, state) = (self.watch.turns, hasher.finish());
        match self.watch.turned {
            Some((before, known)) if known == state && !turns.is_power_of_two() => {
                let repeats = Repeats::Turns(turns - before);
                Err(Stop::Endless(Box::new(Endless { place: self.context.launch.place(pc), repeats })))
            }
            _ if turns.is_power_of_two() => {
                self.watch.turned = Some((turns, state));
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
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
        // A state is not the same if it contains newly created values.
        (self.values.terms.store.len(), self.values.terms.packed.bytes(), self.values.fragments.bytes())
            .hash(&mut hasher);
        hasher.finish()
    }
}
