//! Proofs of one element by decision diagrams and by circuits.

use super::Learned;
use crate::algebra::{CircuitSearch, Prover, Searched, Stop, TermRef};

/// Nodes of decision diagrams that are tried before a search.
const FEW_NODES: usize = 1 << 14;
/// Steps of a search by circuits before anything else is tried, and where all else but a case analysis has not helped.
const FEW_SEARCH_STEPS: u64 = 1 << 14;
const SEARCH_STEPS: u64 = 1 << 21;

impl<'s> Learned<'s> {
    /// Decides by what is cheap whether two terms are equal: whether they are the same circuits, or small diagrams, or a
    /// short search finds a difference, or they are the same diagrams.
    pub(super) fn decides(&mut self, searching: &mut Option<CircuitSearch>, terms: [TermRef; 2]) -> Searched {
        let prover = &mut self.prover;
        *searching = prover.circuits_of(terms).ok().flatten();
        let is_any_choice = prover.is_any_choice(terms);
        let mut search = |prover: &mut Prover<'s>, steps: u64| match searching {
            Some(searching) => prover.search(searching, steps).unwrap_or(Searched::Open),
            None => Searched::Open,
        };
        let same = |prover: &mut Prover<'s>, nodes: usize| {
            is_any_choice && matches!(prover.equal_by_decisions(terms, nodes), Ok(true))
        };
        if matches!(search(prover, 0), Searched::Equal) || same(prover, FEW_NODES) {
            return Searched::Equal;
        }
        let found = search(prover, FEW_SEARCH_STEPS);
        if !matches!(found, Searched::Equal) && same(prover, usize::MAX) { Searched::Equal } else { found }
    }

    /// Looks for a difference of two terms by a long search.
    pub(super) fn search(
        &mut self,
        searching: &mut Option<CircuitSearch>,
        terms: [TermRef; 2],
        steps: u64,
    ) -> Result<Searched, Stop> {
        self.prover.settle_account();
        self.prover.set_budget(steps);
        if searching.is_none() {
            *searching = self.prover.circuits_of(terms)?;
        }
        let Some(searching) = searching else { return Ok(Searched::Open) };
        self.prover.search(searching, SEARCH_STEPS)
    }
}
