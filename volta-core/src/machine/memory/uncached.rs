//! Reads through the read-only path and writes of the same bytes (rule M4), where they happen for some inputs only.

use crate::value::guard::{Guard, Guards};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An access under a condition, through the read-only path or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Uncachable {
    pub(crate) guard: Guard,
    pub(crate) bytes: u8,
    pub(crate) writes: bool,
}

/// The accesses of a CTA under conditions, by tensor and cell.
#[derive(Debug, Default)]
pub(crate) struct Uncached(FxHashMap<(u32, u64), SmallVec<[Uncachable; 2]>>);

impl Uncached {
    /// The condition of an access that some input makes together with this one, as far as their guards show, if one of
    /// the two is a write and the other a read.
    pub(crate) fn met(&self, place: (u32, u64), access: Uncachable, guards: &Guards) -> Option<Guard> {
        let meets = |other: &&Uncachable| {
            other.writes != access.writes
                && other.bytes & access.bytes != 0
                && !guards.exclude(other.guard, access.guard)
        };
        self.0.get(&place).into_iter().flatten().find(meets).map(|other| other.guard)
    }

    /// Notes an access.
    pub(crate) fn note(&mut self, place: (u32, u64), access: Uncachable) {
        let all = self.0.entry(place).or_default();
        if !all.contains(&access) {
            all.push(access);
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.0.len() * 2 * size_of::<((u32, u64), SmallVec<[Uncachable; 2]>)>()) as u64
    }
}
