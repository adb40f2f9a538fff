//! The barriers of the CTAs of a cluster, and the arrivals at them.

use super::clock::Joined;
use crate::program::{Barrier, Bool2, InstId};
use std::fmt;

/// How many threads a barrier waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// All threads of the CTA that have not returned.
    All,
    /// This many, by whole warps.
    Threads(u32),
}

/// A warp's arrival, and what it does there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) warp: usize,
    pub(super) pc: InstId,
    pub(super) waits: bool,
    pub(super) reduces: Option<Reduces>,
}

/// The operator by which a barrier combines predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduces {
    /// It counts them.
    Count,
    /// It combines them.
    By(Bool2),
}

impl Reduces {
    pub(super) fn of(barrier: &Barrier) -> Option<Reduces> {
        match barrier {
            Barrier::Sync | Barrier::Arrive => None,
            Barrier::RedPopc(..) => Some(Reduces::Count),
            Barrier::RedPred(by, ..) => Some(Reduces::By(*by)),
        }
    }
}

impl fmt::Display for Reduces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reduces::Count => "red.popc",
            Reduces::By(Bool2::And) => "red.and",
            Reduces::By(Bool2::Or) => "red.or",
            Reduces::By(Bool2::Xor) => "red.xor",
        })
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) expected: Option<Count>,
    pub(super) arrivals: Vec<Arrival>,
    /// The joined vector clocks of the arrivals.
    pub(super) joined: Joined,
    /// The threads that the last completion released, each with its stamp from then on.
    pub(super) released: Vec<(u32, u32)>,
    pub(super) completed: bool,
}

/// The barriers of a CTA.
pub(super) const COUNT: usize = 16;

/// The barriers of each CTA of a cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers {
    pub(super) states: Vec<[State; COUNT]>,
}

impl Barriers {
    pub(super) fn new(ranks: u32) -> Barriers {
        Barriers { states: (0..ranks).map(|_| Default::default()).collect() }
    }

    pub(super) fn of(&self, rank: u32, id: usize) -> &State {
        &self.states[rank as usize][id]
    }

    /// Number of warps that have arrived at a barrier, whether they wait there or have continued.
    pub(super) fn arrived(&self, rank: u32, id: u64) -> usize {
        self.states[rank as usize].get(id as usize).map_or(0, |state| state.arrivals.len())
    }

    pub(super) fn of_mut(&mut self, rank: u32, id: usize) -> &mut State {
        &mut self.states[rank as usize][id]
    }
}
