//! Loops over barriers that do not end.
//!
//! A CTA that is after one barrier what it was after an earlier one, in all registers and all memory, is so for ever:
//! nothing else decides what its threads do, if none races. Looking at all of that takes time, so it is looked at after few barriers,
//! ever further apart: at first when there were more than kernels have that end.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::cta::{Cta, Stop};
use super::warp::Warp;
use crate::verdict::Place;

/// The first barrier after which a CTA is looked at; then those whose number is a power of two.
const FIRST: u64 = 1 << 12;
/// So many barriers behind each of these, it is compared with what it was there.
const LONGEST: u64 = 64;

/// A loop that does not end.
#[derive(Clone, Debug, PartialEq)]
pub struct Endless {
    /// A barrier in it.
    pub place: Option<Place>,
    /// Barriers that the CTA had met, both times.
    pub barriers: [u64; 2],
}

impl std::fmt::Display for Endless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [first, second] = self.barriers;
        f.write_str("a loop does not end: ")?;
        if let Some(place) = &self.place {
            write!(
                f,
                "at the barrier in line {}, ",
                place.cuda.as_ref().map_or(place.line, |cuda| cuda.line)
            )?;
        }
        write!(f, "registers and memory are after {second} barriers what they were after {first}")
    }
}

/// What a CTA was after a barrier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    known: Option<(u64, u64)>,
}

impl Watch {
    /// Whether a CTA is looked at after so many barriers.
    pub(super) fn looks_at(&self, barriers: u64) -> bool {
        barriers >= FIRST && barriers - (1 << barriers.ilog2()) <= LONGEST
    }
}

impl Cta<'_> {
    /// Looks for an earlier time at which the CTA was what it is.
    pub(super) fn look_for_repetition(&mut self, warps: &[Warp]) -> Result<(), Stop> {
        let barriers = self.counts.barriers;
        if !self.watch.looks_at(barriers) || !self.is_nothing_under_way() {
            return Ok(());
        }
        let state = self.digest(warps);
        if barriers.is_power_of_two() {
            self.watch.known = Some((barriers, state));
            return Ok(());
        }
        match self.watch.known {
            Some((before, known)) if known == state => {
                let live = warps.iter().find(|warp| warp.live() != 0);
                let pc = live.and_then(|warp| warp.pc[warp.live().trailing_zeros() as usize].before());
                let place = pc.and_then(|pc| self.launch.place(pc));
                Err(Stop::Endless(Box::new(Endless { place, barriers: [before, barriers] })))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A digest of all that decides what comes next. No claim rests on it: another state of the same digest costs an
    /// answer.
    fn digest(&self, warps: &[Warp]) -> u64 {
        let mut hasher = FxHasher::default();
        for warp in warps {
            let waits = [warp.exited, warp.at_barrier, warp.at_warp_sync, warp.at_collective];
            (waits, warp.pc, warp.diverged).hash(&mut hasher);
            for register in &warp.registers {
                (0..32).for_each(|lane| register.get(lane).hash(&mut hasher));
            }
            warp.predicates.hash(&mut hasher);
            warp.local.hash(&mut hasher);
        }
        self.memory.hash_contents(&mut hasher);
        // What is made anew each time is not what it was.
        (self.store.len(), self.packed.bytes(), self.fragments.bytes()).hash(&mut hasher);
        hasher.finish()
    }
}
