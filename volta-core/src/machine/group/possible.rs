//! Faults that happen where a condition on inputs holds (rule S1). Whether some input fulfils it is decided like whether
//! an output differs.

use crate::launch::infeasible::Feasibility;
use crate::program::InstId;
use crate::term::{Store, TermId, TermOp};
use crate::value::Origin;
use crate::value::guard::{Literal, all_of};
use crate::value::packed::{Choice, PackedValues};
use crate::verdict::{Fault, FaultKind};
use std::mem::discriminant;

/// At most so many of the cases in which a fault happens are looked at.
const MOST_CASES: usize = 64;

/// So many paths of choices are followed to these cases.
const MOST_PATHS: usize = 4096;

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
    /// Another fault of the kernel: the one to tell if it is certain and this one is not.
    pub instead: Option<Box<Possible>>,
}

/// The conjunctions of literals of which one must hold.
pub(super) type Cases = Vec<Vec<Literal>>;

/// A fault that happens in one of some cases.
#[derive(Debug)]
pub(crate) struct InCases {
    fault: Fault,
    cases: Cases,
    told: String,
    /// The store of the literals, once the run has ended.
    pub(crate) store: Store,
    /// See [`Possible::instead`].
    pub(crate) instead: Option<Box<InCases>>,
}

impl InCases {
    pub(crate) fn new(fault: Fault, cases: Cases, told: String) -> InCases {
        InCases { fault, cases, told, store: Store::new(), instead: None }
    }

    /// What the fault is.
    pub(crate) fn kind(&self) -> FaultKind {
        self.fault.kind
    }

    /// The same in a run that is about the inputs that fulfil these literals.
    pub(crate) fn under(mut self, premises: &[Literal]) -> InCases {
        self.cases.iter_mut().for_each(|case| case.extend_from_slice(premises));
        debug_assert!(self.instead.is_none(), "a fault of one run");
        self
    }

    /// Adds another fault, which is told if this one is not certain.
    pub(crate) fn append(&mut self, other: InCases) {
        let mut last = &mut self.instead;
        while let Some(instead) = last {
            last = &mut instead.instead;
        }
        *last = Some(Box::new(other));
    }

    /// The condition under which the fault happens, if any is known.
    fn when(&mut self) -> Option<TermId> {
        let store = &mut self.store;
        let mut when: Option<TermId> = None;
        for case in &self.cases {
            let literals: Vec<TermId> = case.iter().map(|literal| literal.term(store)).collect();
            let Some(all) = all_of(literals, store) else { continue };
            when = Some(when.map_or(all, |any| store.apply(TermOp::Or, &[any, all], InstId(u32::MAX))));
        }
        when
    }

    /// Whether an input is found for which the fault happens.
    pub(crate) fn is_shown(&mut self, feasibility: Option<&dyn Feasibility>) -> bool {
        let when = self.when();
        when.zip(feasibility).is_some_and(|(when, feasibility)| feasibility.is_shown(&self.store, when))
    }

    /// The fault with its condition as a term.
    pub(crate) fn possible(mut self) -> Possible {
        let when = self.when();
        let InCases { fault, told, store, instead, .. } = self;
        let instead = instead.map(|instead| Box::new(instead.possible()));
        Possible { fault, when, store, told, instead }
    }
}

/// The cases in which a choice takes an undefined arm: one of the kind that is told of it.
pub(crate) fn undefined_cases(packed: &PackedValues, partly: u32) -> Cases {
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
