//! Why a run ends before all threads have returned.

use super::endless::Endless;
use super::possible::InCases;
use super::premises::Fork;
use crate::base::budget::Exhausted;
use crate::concurrency::race::TooCoarse;
use crate::launch::bind_error::BindError;
use crate::program::InstId;
use crate::verdict::{BarrierPhases, Fault, FaultKind};

/// The reasons why a run ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    Fault(Box<Fault>),
    /// A fault where a condition on inputs holds.
    Possible(Box<InCases>),
    Exhausted(Exhausted),
    /// The case does not give what is needed.
    Missing(Box<BindError>),
    /// A loop does not end.
    Endless(Box<Endless>),
    /// The verifier contradicts itself, in this way.
    Defect(&'static str),
    /// In a run that continues after a fault: a value that the fault left unknown decides what is executed (rule R2).
    Doubtful,
    /// The epoch race detector does not suffice for this CTA.
    NeedVectorClocks,
    /// A condition on inputs decides who meets others: it can be followed only in runs of their own.
    Fork(Box<Fork>),
    /// What the CTA does may not be the same in the others for which it runs, from this instruction on.
    Apart(Option<InstId>),
}

impl Stop {
    /// The same for a run that is the only one.
    pub(crate) fn alone(self) -> Stop {
        if let Stop::Fork(fork) = self { Stop::Fault(Box::new(fork.fault)) } else { self }
    }

    /// Whether it is a fault of this kind, or one that is possible.
    pub(crate) fn is_of(&self, kind: FaultKind) -> bool {
        if let Stop::Possible(possible) = self {
            return possible.kind() == kind;
        }
        matches!(self, Stop::Fault(fault) if fault.kind == kind)
    }

    /// The fault, with what happened at mbarriers.
    pub(crate) fn with_phases(mut self, phases: Vec<BarrierPhases>) -> Stop {
        if let Stop::Fault(fault) = &mut self {
            fault.phases = phases;
        }
        self
    }
}

impl From<TooCoarse> for Stop {
    fn from(_: TooCoarse) -> Stop {
        Stop::NeedVectorClocks
    }
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Stop {
        Stop::Exhausted(exhausted)
    }
}
