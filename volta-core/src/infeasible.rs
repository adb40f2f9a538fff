//! Whether the conditions of faults hold for any input, for the machine.

use crate::base::index::InstId;
use crate::case::Element;
use crate::decide::counterexample::{SearchBudget, refute};
use crate::decide::witness::{Counterexample, WitnessKind};
use crate::decide::{self, DecisionOptions, Failure, InputInfo, never_holds};
use crate::launch::infeasible::Feasibility;
use crate::machine::integer_constant;
use crate::term::{Imported, Store, TermId, TermOp};

/// Decides by searches for inputs.
#[derive(Debug)]
pub(crate) struct BySearch<'i> {
    /// The inputs of the case.
    pub(crate) inputs: &'i [InputInfo],
    pub(crate) effort: SearchBudget,
}

impl Feasibility for BySearch<'_> {
    fn is_infeasible(&self, store: &Store, condition: TermId) -> bool {
        never_holds(store, condition, self.inputs)
    }

    fn is_shown(&self, store: &Store, condition: TermId) -> bool {
        // Names mean something in their store alone.
        if store.has_names() || store.is_ieee() {
            return false;
        }
        let mut own = Store::new();
        own.set_integers(store.all_integers().to_vec());
        let condition = own.import(store, condition, &mut Imported::default());
        let [no, holds] = as_number(condition, &mut own);
        let found = refute((&own, no), (&own, holds), self.inputs, &self.effort);
        found.is_some_and(|witness| witness.kind == WitnessKind::Values)
    }
}

/// The type of a number that is 0 or 1.
const BIT: Element = Element::Int { bytes: 1, signed: false };

/// The number 0, and 1 where a condition holds. The store is closed.
fn as_number(condition: TermId, store: &mut Store) -> [TermId; 2] {
    let [no, yes] = [0, 1].map(|bit| integer_constant(BIT, bit, store));
    let holds = store.apply(TermOp::Select, &[condition, yes, no], InstId(u32::MAX));
    store.close();
    [no, holds]
}

/// An input that fulfils a condition, if a search finds one. The store is closed.
pub(crate) fn input_that_fulfils(
    condition: TermId,
    store: &mut Store,
    inputs: &[InputInfo],
    options: &DecisionOptions,
) -> Option<Counterexample> {
    let [no, holds] = as_number(condition, store);
    let pair = decide::ElementPair { reference: (store, no), opt: (store, holds) };
    // Of a condition without a value, nothing is known.
    match decide::decide(&[pair], inputs, options).first_failure {
        Some((_, Failure::Different(witness))) if witness.kind == WitnessKind::Values => Some(witness),
        Some(_) | None => None,
    }
}
