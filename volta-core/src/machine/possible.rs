//! Faults that happen where a condition on inputs holds (rule S1). Whether some input fulfils it is decided like whether
//! an output differs.

use super::cta::{Cta, Stop};
use super::guard::{Guard, Literal};
use super::packed::{Cell, PackedValues, Partly};
use super::perhaps::all_of;
use super::value::{Origin, Value};
use super::warp::Warp;
use crate::base::lane::LaneMask;
use crate::program::InstId;
use crate::term::{Store, TermId, TermOp};
use crate::verdict::{Fault, FaultKind};

/// At most so many of the cases in which a fault happens are looked at.
const MOST_CASES: usize = 64;

/// At most so many of the conditions of a fault are told, the innermost ones.
const MOST_TOLD: usize = 3;

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

/// The conjunctions of literals of which one must hold.
type Cases = Vec<Vec<Literal>>;

/// A fault that happens in one of some cases; there is at least one.
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
        // A fault without a condition is none of these.
        let when = when.unwrap_or_else(|| TermId::from_raw(0));
        Possible { fault, when, store, told }
    }
}

impl Cta<'_> {
    /// The end of a run of lanes under their guards.
    #[cold]
    pub(super) fn ended_under_guard(&self, warp: &Warp, mask: LaneMask, stop: Stop) -> Stop {
        let Stop::Fault(fault) = stop else { return stop };
        let thread = fault.sites.first().and_then(|site| site.thread);
        let is_its = |lane: &_| thread == Some(self.launch.thread(self.linear, warp.thread(*lane)));
        let lane = mask.iter().find(is_its).unwrap_or(mask.first());
        self.possibly(*fault, &[self.guards.of(lane)])
    }

    /// A fault that happens where all of these guards hold.
    #[cold]
    pub(super) fn possibly(&self, fault: Fault, guards: &[Guard]) -> Stop {
        let mut literals: Vec<Literal> = Vec::new();
        for literal in guards.iter().flat_map(|guard| self.guards.literals(*guard)) {
            if !literals.contains(&literal) {
                literals.push(literal);
            }
        }
        self.possibly_in(fault, vec![literals])
    }

    /// A fault whose message tells one of the literals under which it happens; the others are those of a guard.
    #[cold]
    pub(super) fn possibly_besides(&self, fault: Fault, guard: Guard, literal: Literal) -> Stop {
        let mut literals = self.guards.literals(guard).to_vec();
        let told = self.in_words(&literals);
        literals.push(literal);
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

    /// The fault of using memory that is written for some inputs only: it happens for the others.
    #[cold]
    pub(super) fn where_unwritten(&self, fault: Fault, partly: u32, guard: Guard) -> Stop {
        let mut cases = unwritten_cases(&self.packed, partly);
        let literals = self.guards.literals(guard);
        cases.iter_mut().for_each(|case| case.extend_from_slice(&literals));
        self.possibly_in(fault, cases)
    }
}

/// The cases in which memory is not written.
pub(super) fn unwritten_cases(packed: &PackedValues, partly: u32) -> Cases {
    let mut cases = Cases::new();
    let mut work = vec![(partly, Vec::new())];
    while let Some((partly, so_far)) = work.pop() {
        let Partly { condition, then, otherwise } = packed.partly_at(partly);
        for (cell, holds) in [(then, true), (otherwise, false)] {
            let mut case: Vec<Literal> = so_far.clone();
            case.push(Literal { condition, holds });
            match cell.whole(InstId(u32::MAX)) {
                Some(Value::Undefined(Origin::Partly(inner))) => work.push((inner, case)),
                _ if is_defined(cell, packed) => {}
                _ if cases.len() == MOST_CASES => return cases,
                _ => cases.push(case),
            }
        }
    }
    cases
}

fn is_defined(cell: Cell, packed: &PackedValues) -> bool {
    let pieces = cell.pieces(packed, InstId(u32::MAX));
    pieces.iter().all(|piece| packed.undefined_part(piece.value).is_none())
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
        | FaultKind::Nondeterministic => true,
    }
}
