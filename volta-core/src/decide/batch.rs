//! Elements decided one after the other, each with the results of those before.

use super::equivalence_classes::EquivalenceClasses;
use super::prove::{ElementFacts, ElementProver, Failure, Proof};
use super::{DecisionOptions, ElementPair, InputInfo};
use crate::algebra::Analysis;
use crate::base::budget::Held;
use crate::base::ration::Ration;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// What is to be decided, and how.
#[derive(Clone, Copy)]
pub(super) struct All<'s, 'a> {
    pub elements: &'a [ElementPair<'s>],
    /// For each element, which of the stores its sides lie in.
    pub sides: &'a [[usize; 2]],
    /// Of each store.
    pub analysis: &'s [Analysis],
    pub alike: &'a EquivalenceClasses,
    pub inputs: &'a [InputInfo],
    pub options: &'a DecisionOptions,
}

impl All<'_, '_> {
    /// What is held while elements are proved.
    pub(super) fn held(&self) -> Held {
        let analysis = self.analysis.iter().map(Analysis::bytes).sum();
        self.options.held.and(&Held { analysis, ..Held::default() })
    }

    /// What a run may take, of which so many steps were taken before.
    pub(super) fn ration(&self, taken: u64) -> Ration {
        Ration::new(self.options.budgets.clone(), taken, self.held())
    }
}

/// A run of elements.
pub(super) struct Batch<'s, 'a> {
    all: All<'s, 'a>,
    pub prover: ElementProver<'s, 'a>,
    /// Elements that were proved here, without any condition, and are the first of their kind.
    proved: FxHashSet<usize>,
    /// The first of each kind of elements that are defined at some input.
    defined: FxHashSet<usize>,
    ration: Rc<Ration>,
}

impl<'s, 'a> Batch<'s, 'a> {
    /// A run that knows nothing yet.
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

    /// Steps that all elements took.
    pub(super) fn spent(&self) -> u64 {
        self.ration.spent()
    }

    /// Decides the element at a position.
    pub(super) fn decide(&mut self, at: usize) -> Result<Proof, Failure> {
        let result = self.try_to_decide(at);
        match (self.ration.look(), result) {
            // Who gave up something on the way for want of time or steps may have made less of it than there is.
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
            identical: self.all.alike.is_identical(at),
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
