//! What a prover shows of an element by normal forms alone, within a number of steps.

use super::super::ElementPair;
use super::{Attempt, Learned};
use crate::algebra::{Analysis, Class, Searched, Stage, TermRef};
use crate::number::signs::Signs;
use crate::term::{Store, TermId};
use volta_case::Which;

impl<'s> Learned<'s> {
    /// Whether normal forms show, within a number of steps, that both sides are equal wherever they are defined.
    pub(in crate::decide) fn are_equal(
        &mut self,
        element: &ElementPair<'s>,
        analysis: [&'s Analysis; 2],
        steps: u64,
    ) -> bool {
        self.prover.set_budget(steps);
        let [reference, opt] = self.terms(element, analysis);
        let mut found = self.climb(reference, opt, Stage::Lists);
        if let Attempt::Open(_) = found {
            found = self.climb(reference, opt, Stage::Expansions);
        }
        matches!(found, Attempt::Equal)
    }

    /// Proves by normal forms, within a number of steps, that the optimized kernel has a value wherever the reference
    /// has one, and the same finite one. Returns whether the reference may be undefined somewhere, and the possible
    /// signs of its value.
    pub(in crate::decide) fn proves(
        &mut self,
        element: &ElementPair<'s>,
        analysis: [&'s Analysis; 2],
        steps: u64,
    ) -> Option<(bool, Signs)> {
        self.prover.set_budget(steps);
        let [reference, opt] = self.terms(element, analysis);
        if self.prover.class(reference) != Ok(Class::Finite) {
            return None;
        }
        let mut found = self.climb(reference, opt, Stage::Lists);
        if let Attempt::Open(_) = found {
            found = self.climb(reference, opt, Stage::Expansions);
        }
        if !matches!(found, Attempt::Equal)
            && self.prover.is_choice_above([reference, opt])
            && self.are_same_circuits([reference, opt], steps)
        {
            found = Attempt::Equal;
        }
        let Attempt::Equal = found else { return None };
        let (extra, domain) = self.compare_requirements(reference, opt).ok()?;
        if !extra.is_empty() {
            return None;
        }
        let signs = [reference, opt].map(|term| self.prover.term_signs(term).unwrap_or(Signs::ANY));
        Some((!domain.is_empty(), signs[0] & signs[1]))
    }

    /// Whether a search by circuits shows, within a number of steps, that two terms are equal.
    fn are_same_circuits(&mut self, terms: [TermRef; 2], steps: u64) -> bool {
        let Ok(Some(mut search)) = self.prover.circuits_of(terms) else { return false };
        matches!(self.prover.search(&mut search, steps), Ok(Searched::Equal))
    }

    /// The possible signs of a term, if it has a finite value at every input.
    pub(in crate::decide) fn signs_if_total(
        &mut self,
        (store, term): (&'s Store, TermId),
        analysis: &'s Analysis,
        steps: u64,
    ) -> Option<Signs> {
        self.prover.set_budget(steps);
        let at = TermRef { store: self.prover.add_store(store, analysis), term };
        if self.prover.class(at) != Ok(Class::Finite)
            || !self.requirements(at, Which::Reference).ok()?.is_empty()
        {
            return None;
        }
        self.prover.term_signs(at).ok()
    }
}
