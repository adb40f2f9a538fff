//! Conditions that no input fulfils, decided with more than what the machine knows of them.

use crate::term::{Store, TermId};
use crate::value::guard::{Literal, all_of};
use rustc_hash::FxHashMap;
use std::fmt::Debug;

/// So many conditions are asked about in a run of a CTA, and where accesses of CTAs are compared.
const MOST_ASKED: usize = 1 << 10;

/// Decides whether inputs fulfil conditions. It costs more than the machine's own knowledge, and is asked where a fault
/// would be told otherwise.
pub trait Feasibility: Debug + Sync {
    /// Whether no input fulfils a condition; `false` where that is not known.
    fn is_infeasible(&self, store: &Store, condition: TermId) -> bool;

    /// Whether an input is found that fulfils a condition.
    fn is_shown(&self, store: &Store, condition: TermId) -> bool;
}

/// Conditions that have been asked about, and whether no input fulfils them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked(FxHashMap<TermId, bool>);

impl Asked {
    /// Whether no input fulfils all of some literals.
    pub(crate) fn are_infeasible(
        &mut self,
        infeasible: Option<&dyn Feasibility>,
        store: &mut Store,
        literals: &[Literal],
    ) -> bool {
        let Some(infeasible) = infeasible else { return false };
        let literals: Vec<TermId> = literals.iter().map(|literal| literal.term(store)).collect();
        let Some(all) = all_of(literals, store) else { return false };
        if let Some(known) = self.0.get(&all) {
            return *known;
        }
        let is_infeasible = self.0.len() < MOST_ASKED && infeasible.is_infeasible(store, all);
        self.0.insert(all, is_infeasible);
        is_infeasible
    }
}
