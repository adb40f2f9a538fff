//! Whether the conditions of faults hold for any input, for the machine.

use crate::decide::{InputInfo, never_holds};
use crate::launch::infeasible::Infeasible;
use crate::term::{Store, TermId};

/// Decides by a short search for inputs.
#[derive(Debug)]
pub(crate) struct BySearch<'i> {
    /// The inputs of the case.
    pub(crate) inputs: &'i [InputInfo],
}

impl Infeasible for BySearch<'_> {
    fn is_infeasible(&self, store: &Store, condition: TermId) -> bool {
        never_holds(store, condition, self.inputs)
    }
}
