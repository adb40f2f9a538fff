//! Elements decided one after the other, each with the results of those before.

use super::equivalence_classes::EquivalenceClasses;
use super::prove::{ElementFacts, ElementProver, Failure, Proof};
use super::{DecisionOptions, ElementPair, InputInfo};
use crate::algebra::Analysis;
use crate::base::budget::{Held, Limit};
use crate::base::ration::Ration;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The elements to be decided, and the options.
#[derive(Clone, Copy)]
pub(super) struct All<'s, 'a> {
    pub elements: &'a [ElementPair<'s>],
    /// For each element, the stores of its two sides.
    pub sides: &'a [[usize; 2]],
    /// By store.
    pub analysis: &'s [Analysis],
    pub alike: &'a EquivalenceClasses,
    pub inputs: &'a [InputInfo],
    pub options: &'a DecisionOptions,
    /// Elements that are known to be equal wherever the reference is defined.
    pub equal: Option<&'a FxHashSet<usize>>,
}

impl All<'_, '_> {
    /// Memory held while elements are proved.
    pub(super) fn held(&self) -> Held {
        let analysis = self.analysis.iter().map(Analysis::bytes).sum();
        self.options.held.and(&Held { analysis, ..Held::default() })
    }

    /// The memory that is left, in bytes.
    pub(super) fn left_bytes(&self) -> u64 {
        self.options.budgets[Limit::MemoryBytes].saturating_sub(self.held().total())
    }

    /// The ration of a run, where `taken` steps were taken before it.
    pub(super) fn ration(&self, taken: u64) -> Ration {
        Ration::new(self.options.budgets.clone(), taken, self.held()).of_elements(self.options.all_steps())
    }
}

/// A run of elements.
pub(super) struct Batch<'s, 'a> {
    all: All<'s, 'a>,
    pub prover: ElementProver<'s, 'a>,
    /// Elements that were proved in this run, unconditionally, and are the first of their translation class.
    proved: FxHashSet<usize>,
    /// First elements of the translation classes that are defined at some input.
    defined: FxHashSet<usize>,
    ration: Rc<Ration>,
}

impl<'s, 'a> Batch<'s, 'a> {
    /// A run without results so far.
    pub(super) fn new(all: All<'s, 'a>, ration: Ration) -> Batch<'s, 'a> {
        let ration = Rc::new(ration);
        Batch {
            all,
            prover: ElementProver::new(all.inputs, all.options, ration.clone()),
            proved: FxHashSet::default(),
            defined: FxHashSet::default(),
            ration,
        }
    }

    /// Steps taken for all elements.
    pub(super) fn spent(&self) -> u64 {
        self.ration.spent()
    }

    /// Decides the element at an index.
    pub(super) fn decide(&mut self, at: usize) -> Result<Proof, Failure> {
        self.ration.begin_element();
        let result = self.try_to_decide(at);
        match (self.ration.look(), result) {
            // A proof attempt that ran out of time or steps on the way may be incomplete.
            (Err(exhausted), Ok(_) | Err(Failure::Unknown { .. } | Failure::Undefined { .. })) => {
                Err(Failure::Exhausted(exhausted))
            }
            (_, result) => result,
        }
    }

    fn try_to_decide(&mut self, at: usize) -> Result<Proof, Failure> {
        let kind = self.all.alike.first(at);
        if self.proved.contains(&kind) {
            return Ok(Proof::default());
        }
        let [reference, opt] = self.all.sides[at];
        let analysis = [&self.all.analysis[reference], &self.all.analysis[opt]];
        let known = ElementFacts {
            equal: self.all.alike.is_identical(at)
                || self.all.equal.is_some_and(|equal| equal.contains(&kind)),
            defined: self.defined.contains(&kind),
        };
        let result = self.prover.decide(&self.all.elements[at], analysis, known);
        if let Ok(proof) = &result {
            self.defined.insert(kind);
            if proof.is_unconditional() {
                self.proved.insert(at);
            }
        }
        result
    }
}
