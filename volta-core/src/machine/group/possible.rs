//! Faults that happen where a condition on inputs holds (rule S1). Whether some input fulfils it is decided like whether
//! an output differs.

use crate::program::InstId;
use crate::term::{Store, TermId, TermOp};
use crate::value::Origin;
use crate::value::guard::{Literal, all_of};
use crate::value::packed::{Choice, PackedValues};
use crate::verdict::Fault;
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
}

impl InCases {
    pub(crate) fn new(fault: Fault, cases: Cases, told: String) -> InCases {
        InCases { fault, cases, told, store: Store::new() }
    }

    /// The fault with its condition as a term.
    pub(crate) fn possible(self) -> Possible {
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
