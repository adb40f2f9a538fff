//! The barriers of the CTAs of a cluster, and the arrivals at them.

use super::clock::Joined;
use crate::program::{Barrier, Bool2, InstId};
use std::fmt;

/// How many threads a barrier waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// All threads of the CTA that have not returned.
    All,
    /// This many, by whole warps.
    Threads(u32),
}

/// A warp's arrival, and what it does there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) warp: usize,
    pub(crate) pc: InstId,
    pub(crate) waits: bool,
    pub(crate) reduces: Option<Reduces>,
}

/// The operator by which a barrier combines predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduces {
    /// It counts them.
    Count,
    /// It combines them.
    By(Bool2),
}

impl Reduces {
    pub(crate) fn of(barrier: &Barrier) -> Option<Reduces> {
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
pub(crate) struct State {
    pub(crate) expected: Option<Count>,
    pub(crate) arrivals: Vec<Arrival>,
    /// The joined vector clocks of the arrivals.
    pub(crate) joined: Joined,
    /// The threads that the last completion released, each with its stamp from then on.
    pub(crate) released: Vec<(u32, u32)>,
    pub(crate) completed: bool,
}

/// The barriers of a CTA.
pub(crate) const COUNT: usize = 16;

/// The barriers of each CTA of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Barriers {
    pub(crate) states: Vec<[State; COUNT]>,
}

impl Barriers {
    pub(crate) fn new(ranks: u32) -> Barriers {
        Barriers { states: (0..ranks).map(|_| Default::default()).collect() }
    }

    pub(crate) fn of(&self, rank: u32, id: usize) -> &State {
        &self.states[rank as usize][id]
    }

    /// Number of warps that have arrived at a barrier, whether they wait there or have continued.
    pub(crate) fn arrived(&self, rank: u32, id: u64) -> usize {
        self.states[rank as usize].get(id as usize).map_or(0, |state| state.arrivals.len())
    }

    pub(crate) fn of_mut(&mut self, rank: u32, id: usize) -> &mut State {
        &mut self.states[rank as usize][id]
    }
}
