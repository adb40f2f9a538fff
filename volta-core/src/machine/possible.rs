//! Faults that happen where a condition on inputs holds (rule S1). Whether some input fulfils it is decided like whether
//! an output differs.

use super::cta::{Cta, Stop};
use super::guard::{Guard, Literal};
use super::warp::Warp;
use crate::base::lane::LaneMask;
use crate::program::InstId;
use crate::term::{Store, TermId, TermOp};
use crate::verdict::{Fault, FaultKind};

/// A fault, and the condition under which it happens.
#[derive(Debug)]
pub struct Possible {
    /// The fault.
    pub fault: Fault,
    /// A condition: the fault happens for the inputs for which it holds.
    pub when: TermId,
    /// The store of the condition.
    pub store: Store,
    /// The condition in words.
    pub told: String,
}

impl Cta<'_> {
    /// The end of a run of lanes under their guards.
    #[cold]
    pub(super) fn ended_under_guard(&mut self, warp: &Warp, mask: LaneMask, stop: Stop) -> Stop {
        let Stop::Fault(fault) = stop else { return stop };
        let thread = fault.sites.first().and_then(|site| site.thread.clone());
        let is_its = |lane: &_| thread == Some(self.launch.thread(self.linear, warp.thread(*lane)));
        let lane = mask.iter().find(is_its).unwrap_or(mask.first());
        self.possibly(*fault, &[self.guards.of(lane)])
    }

    /// A fault that happens where all of these guards hold.
    #[cold]
    pub(super) fn possibly(&mut self, fault: Fault, guards: &[Guard]) -> Stop {
        match fault.kind {
            // What Volta cannot do is no fault of the kernel.
            FaultKind::InputDependentControl | FaultKind::Unsupported => return Stop::Fault(Box::new(fault)),
            FaultKind::Race
            | FaultKind::ProxyRace
            | FaultKind::Deadlock
            | FaultKind::BarrierDivergence
            | FaultKind::AmbiguousBarrier
            | FaultKind::BarrierMisuse
            | FaultKind::InFlight
            | FaultKind::Allocation
            | FaultKind::OutOfBounds
            | FaultKind::Misaligned
            | FaultKind::Uninitialised
            | FaultKind::Undefined
            | FaultKind::TypeMismatch
            | FaultKind::DependsOnRounding
            | FaultKind::Assertion
            | FaultKind::ReadOnly
            | FaultKind::Nondeterministic => {}
        }
        let mut literals: Vec<Literal> = Vec::new();
        for literal in guards.iter().flat_map(|guard| self.guards.literals(*guard)) {
            if !literals.contains(&literal) {
                literals.push(literal);
            }
        }
        self.possibly_where(fault, &literals)
    }

    /// A fault that happens where all of these literals hold.
    #[cold]
    pub(super) fn possibly_where(&mut self, fault: Fault, literals: &[Literal]) -> Stop {
        let nowhere = InstId(u32::MAX);
        let told: Vec<String> = literals.iter().map(|literal| self.literal_in_words(*literal)).collect();
        let terms: Vec<TermId> = literals
            .iter()
            .map(|literal| match literal.holds {
                true => literal.condition,
                false => self.store.apply(TermOp::Not, &[literal.condition], nowhere),
            })
            .collect();
        let all = terms.into_iter().reduce(|all, one| self.store.apply(TermOp::And, &[all, one], nowhere));
        let Some(when) = all else { return Stop::Fault(Box::new(fault)) };
        Stop::Possible(Box::new(Possible { fault, when, store: Store::new(), told: told.join(" and ") }))
    }

    /// A literal in words.
    fn literal_in_words(&self, literal: Literal) -> String {
        let condition = self.describe(literal.condition);
        if literal.holds { condition } else { format!("not {condition}") }
    }
}
