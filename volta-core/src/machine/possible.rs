//! Faults that happen where a condition on inputs holds (rule S1). Whether some input fulfils it is decided like whether
//! an output differs.

use super::cta::Stop;
use super::guard::{Guard, Literal};
use super::packed::{Choice, PackedValues};
use super::perhaps::all_of;
use super::value::Origin;
use super::values::Values;
use super::warp::Warp;
use crate::base::lane::LaneMask;
use crate::program::InstId;
use crate::term::{Store, TermId, TermOp};
use crate::verdict::{Fault, FaultKind};
use std::mem::discriminant;

/// At most so many of the cases in which a fault happens are looked at.
const MOST_CASES: usize = 64;

/// So many paths of choices are followed to these cases.
const MOST_PATHS: usize = 4096;

/// At most so many of the conditions of a fault are told, the innermost ones.
const MOST_TOLD: usize = 3;

/// A fault, and the condition under which it happens.
#[derive(Debug)]
pub struct Possible {
    /// The fault.
    pub fault: Fault,
    /// A condition: the fault happens for the inputs for which it holds. Without one, none of them is known.
    pub when: Option<TermId>,
    /// The store of the condition.
    pub store: Store,
    /// The condition in words.
    pub told: String,
}

/// The conjunctions of literals of which one must hold.
type Cases = Vec<Vec<Literal>>;

/// A fault that happens in one of some cases.
#[derive(Debug)]
pub(super) struct InCases {
    fault: Fault,
    cases: Cases,
    told: String,
    /// The store of the literals, once the run has ended.
    pub(super) store: Store,
}

impl InCases {
    pub(super) fn new(fault: Fault, cases: Cases, told: String) -> InCases {
        InCases { fault, cases, told, store: Store::new() }
    }

    /// The fault with its condition as a term.
    pub(super) fn possible(self) -> Possible {
        let nowhere = InstId(u32::MAX);
        let InCases { fault, cases, told, mut store } = self;
        let mut when: Option<TermId> = None;
        for case in &cases {
            let literals: Vec<TermId> = case.iter().map(|literal| literal.term(&mut store)).collect();
            let Some(all) = all_of(literals, &mut store) else { continue };
            when = Some(when.map_or(all, |any| store.apply(TermOp::Or, &[any, all], nowhere)));
        }
        Possible { fault, when, store, told }
    }
}

impl Values<'_> {
    /// The end of a run of lanes under their guards.
    #[cold]
    pub(super) fn ended_under_guard(&self, warp: &Warp, mask: LaneMask, stop: Stop) -> Stop {
        let Stop::Fault(fault) = stop else { return stop };
        let thread = fault.sites.first().and_then(|site| site.thread);
        let is_its =
            |lane: &_| thread == Some(self.context.launch.thread(self.context.linear, warp.thread(*lane)));
        let lane = mask.iter().find(is_its).unwrap_or(mask.first());
        self.possibly(*fault, &[self.guards.of(lane)], &[])
    }

    /// A fault that happens where all of these guards hold, and if there are any conditions in them, these literals.
    #[cold]
    pub(super) fn possibly(&self, fault: Fault, guards: &[Guard], besides: &[Literal]) -> Stop {
        let mut literals: Vec<Literal> = Vec::new();
        for literal in guards.iter().flat_map(|guard| self.guards.literals(*guard)) {
            if !literals.contains(&literal) {
                literals.push(literal);
            }
        }
        if !literals.is_empty() {
            literals.extend(besides);
        }
        self.possibly_in(fault, vec![literals])
    }

    /// A fault that happens under a guard and where some literals hold, of which its message tells.
    #[cold]
    pub(super) fn possibly_besides(&self, fault: Fault, guard: Guard, besides: &[Literal]) -> Stop {
        let mut literals = self.guards.literals(guard).to_vec();
        let told = self.in_words(&literals);
        literals.extend(besides);
        Stop::Possible(Box::new(InCases::new(fault, vec![literals], told)))
    }

    /// A fault that happens in one of some cases.
    #[cold]
    pub(super) fn possibly_in(&self, fault: Fault, cases: Cases) -> Stop {
        if cases.iter().any(Vec::is_empty) || !is_of_the_kernel(fault.kind) {
            return Stop::Fault(Box::new(fault));
        }
        let told = cases.first().map_or_else(String::new, |case| self.in_words(case));
        Stop::Possible(Box::new(InCases::new(fault, cases, told)))
    }

    /// Literals in words.
    fn in_words(&self, literals: &[Literal]) -> String {
        let words = |literal: &Literal| {
            let condition = self.describe(literal.condition);
            if literal.holds { condition } else { format!("not {condition}") }
        };
        let mut told: Vec<String> = literals.iter().rev().take(MOST_TOLD).map(words).collect();
        if literals.len() > MOST_TOLD {
            told.push(format!("{} other conditions", literals.len() - MOST_TOLD));
        }
        told.join(" and ")
    }

    /// The fault of using a value that is undefined for some inputs only: it happens for these.
    #[cold]
    pub(super) fn where_undefined(&self, fault: Fault, partly: u32, guard: Guard) -> Stop {
        let mut cases = undefined_cases(&self.packed, partly);
        let literals = self.guards.literals(guard);
        cases.iter_mut().for_each(|case| case.extend_from_slice(&literals));
        self.possibly_in(fault, cases)
    }
}

/// The cases in which a choice takes an undefined arm: one of the kind that is told of it.
pub(super) fn undefined_cases(packed: &PackedValues, partly: u32) -> Cases {
    let kind = discriminant(&packed.leaf(Origin::Partly(partly)));
    let (mut cases, mut left) = (Cases::new(), MOST_PATHS);
    let mut work = vec![(partly, Vec::new())];
    while let (Some((partly, so_far)), 1..) = (work.pop(), left) {
        left -= 1;
        let Choice { condition, then, otherwise } = packed.choice(partly);
        for (arm, holds) in [(then, true), (otherwise, false)] {
            let mut case: Vec<Literal> = so_far.clone();
            case.push(Literal { condition, holds });
            match packed.undefined_part(arm) {
                Some(Origin::Partly(inner)) => work.push((inner, case)),
                Some(origin) if discriminant(&origin) == kind && cases.len() < MOST_CASES => cases.push(case),
                Some(_) | None => {}
            }
        }
    }
    cases
}

/// Whether a fault is one of the kernel, rather than something that Volta cannot do.
fn is_of_the_kernel(kind: FaultKind) -> bool {
    match kind {
        FaultKind::InputDependentControl
        | FaultKind::Unsupported
        | FaultKind::TypeMismatch
        | FaultKind::DependsOnRounding => false,
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
        | FaultKind::Assertion
        | FaultKind::ReadOnly
        | FaultKind::Nondeterministic
        | FaultKind::Overflow => true,
    }
}
