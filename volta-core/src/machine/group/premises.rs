//! What a run supposes of inputs (rule S1): conditions that decide who meets others, such as whether threads come to a
//! barrier. How threads are ordered is followed for all inputs together, so a CTA runs once for the inputs that fulfil such
//! a condition, and once for the others.

use super::possible::InCases;
use super::stop::Stop;
use super::terms::{ValueTerms, is_of_the_kernel};
use super::values::Values;
use super::warp::Warp;
use crate::base::lane::Lane;
use crate::program::PredSrc;
use crate::term::{Bound, Imported, Store, TermId};
use crate::value::Truth;
use crate::value::guard::{Literal, Terms};
use crate::verdict::{Fault, FaultKind};

/// Literals of which all hold, in a store of their own, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Premises {
    store: Store,
    literals: Vec<Literal>,
    told: Vec<String>,
}

/// A condition that decides who meets others.
#[derive(Debug)]
pub(crate) struct Fork {
    /// The store of the condition.
    store: Store,
    condition: TermId,
    /// In words: where it holds, and where it does not.
    told: [String; 2],
    /// The fault, unless the condition is followed in runs of their own.
    pub(crate) fault: Fault,
}

impl Premises {
    /// These, and that a condition holds, or does not.
    pub(crate) fn and(&self, fork: &Fork, holds: bool) -> Premises {
        let mut store = empty_like(&fork.store);
        let mut literals = self.literals_in(&mut store);
        let condition = store.import(&fork.store, fork.condition, &mut Imported::default());
        literals.push(Literal { condition, holds });
        let mut told = self.told.clone();
        told.push(fork.told[usize::from(!holds)].clone());
        Premises { store, literals, told }
    }

    /// The literals in terms of another store.
    pub(crate) fn literals_in(&self, store: &mut Store) -> Vec<Literal> {
        let mut known = Imported::default();
        let copied = self.literals.iter().map(|literal| {
            let condition = store.import(&self.store, literal.condition, &mut known);
            Literal { condition, ..*literal }
        });
        copied.collect()
    }

    /// Whether the newest of them says that its condition holds; `None` without any.
    pub(crate) fn newest_holds(&self) -> Option<bool> {
        self.literals.last().map(|literal| literal.holds)
    }

    /// Why a run ended that is about the inputs that fulfil these premises.
    pub(crate) fn of_run(&self, stop: Stop) -> Stop {
        let Stop::Fault(fault) = stop else { return stop };
        if self.literals.is_empty() || !is_of_the_kernel(fault.kind) {
            return Stop::Fault(fault);
        }
        let mut store = empty_like(&self.store);
        let mut possible = InCases::new(*fault, vec![self.literals_in(&mut store)], self.told.join(" and "));
        possible.store = store;
        Stop::Possible(Box::new(possible))
    }
}

/// An empty store for terms of the same inputs.
fn empty_like(other: &Store) -> Store {
    let mut store = Store::new();
    store.set_integers(other.all_integers().to_vec());
    if other.is_ieee() {
        store.set_ieee();
    }
    store
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

impl ValueTerms<'_> {
    /// What cannot be executed where inputs decide, as this fault says, perhaps can where the outermost condition of the
    /// lane's guard is known, or else that of a predicate.
    #[cold]
    pub(crate) fn fork(&self, stop: Stop, (warp, lane): (&Warp, Lane), guard: PredSrc) -> Stop {
        let Stop::Fault(fault) = stop else { return stop };
        let condition = match warp.predicates[guard.pred.index()].get(lane) {
            Truth::Condition(term) => Some(term),
            Truth::Known(_) | Truth::Undefined(_) | Truth::Answer(_) => None,
        };
        let outermost = self.guards.literals(self.guards.of(lane)).first().map(|literal| literal.condition);
        let Some(condition) =
            outermost.or(condition).filter(|_| fault.kind == FaultKind::InputDependentControl)
        else {
            return Stop::Fault(fault);
        };
        let told = [true, false].map(|holds| self.in_words(&[Literal { condition, holds }]));
        let mut store = empty_like(&self.store);
        let condition = store.import(&self.store, condition, &mut Imported::default());
        Stop::Fork(Box::new(Fork { store, condition, told, fault: *fault }))
    }
}
