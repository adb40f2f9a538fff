//! Runs that are about the inputs that fulfil some [premises](Premises): how they begin, and how they end.

use super::possible::InCases;
use super::premises::{Fork, Premises, empty_like};
use super::stop::Stop;
use super::terms::ValueTerms;
use super::values::Values;
use super::warp::Warp;
use crate::base::lane::Lane;
use crate::program::PredSrc;
use crate::term::{Bound, Imported};
use crate::value::Truth;
use crate::value::guard::{Literal, Terms};
use crate::verdict::FaultKind;

impl Stop {
    /// Why a run ended that is about the inputs that fulfil some premises.
    pub(crate) fn about(self, premises: &Premises) -> Stop {
        let Stop::Fault(fault) = self else { return self };
        if premises.literals.is_empty() || !fault.kind.is_of_the_kernel() {
            return Stop::Fault(fault);
        }
        let mut store = empty_like(&premises.store);
        let mut possible =
            InCases::new(*fault, vec![premises.literals_in(&mut store)], premises.told.join(" and "));
        possible.store = store;
        Stop::Possible(Box::new(possible))
    }
}

impl Values<'_> {
    /// Supposes premises, before the first instruction.
    pub(crate) fn suppose(&mut self, premises: &Premises) {
        let Values { terms: ValueTerms { store, guards, ranges, .. }, congruence, .. } = self;
        let literals = premises.literals_in(store);
        for literal in &literals {
            if let Some(bound) = Bound::of(store, literal.condition, literal.holds) {
                ranges.suppose(bound);
            }
        }
        guards.suppose(Terms { store, congruence }, &literals);
    }
}

/// What cannot be executed where inputs decide, as this fault says, perhaps can where the outermost condition of the
/// lane's guard is known, or else that of a predicate.
#[cold]
pub(crate) fn fork(terms: &ValueTerms<'_>, stop: Stop, (warp, lane): (&Warp, Lane), guard: PredSrc) -> Stop {
    let Stop::Fault(fault) = stop else { return stop };
    let condition = match warp.predicates[guard.pred.index()].get(lane) {
        Truth::Condition(term) => Some(term),
        Truth::Known(_) | Truth::Undefined(_) | Truth::Answer(_) => None,
    };
    let outermost = terms.guards.literals(terms.guards.of(lane)).first().map(|literal| literal.condition);
    let Some(condition) = outermost.or(condition).filter(|_| fault.kind == FaultKind::InputDependentControl)
    else {
        return Stop::Fault(fault);
    };
    let told = [true, false].map(|holds| terms.in_words(&[Literal { condition, holds }]));
    let mut store = empty_like(&terms.store);
    let condition = store.import(&terms.store, condition, &mut Imported::default());
    Stop::Fork(Box::new(Fork { store, condition, thread: warp.thread(lane), told, fault: *fault }))
}
