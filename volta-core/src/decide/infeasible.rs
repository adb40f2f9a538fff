//! Conditions on inputs that no input fulfils.

use super::InputInfo;
use super::prove::ranges;
use crate::algebra::{Analysis, Prover, Tactic, TermRef};
use crate::term::{Store, TermId};

/// Steps of a search for an input.
const STEPS: u64 = 1 << 15;

/// Steps in all, with those of reading the condition.
const MOST_STEPS: u64 = 1 << 20;

/// Whether no input fulfils a condition on integers and reals, as far as a short search shows.
pub fn never_holds(store: &Store, condition: TermId, inputs: &[InputInfo]) -> bool {
    // What names stand for may be less than what their inputs may be, and of numbers that are none no order is known.
    if store.has_names() || store.is_ieee() {
        return false;
    }
    let analysis = Analysis::new(store, &[condition]);
    let mut prover = Prover::new(ranges(inputs), Tactic::QUICK);
    let at = TermRef { store: prover.add_store(store, &analysis), term: condition };
    prover.set_budget(MOST_STEPS);
    prover.never_holds(at, STEPS).unwrap_or(false)
}
