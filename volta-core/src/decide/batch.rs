//! Elements decided one after the other, each with the results of those before.

use super::equivalence_classes::EquivalenceClasses;
use super::prove::{ElementProver, Failure, Proof};
use super::{Element, InputInfo, Options};
use crate::algebra::{Analysis, Located, Renaming};
use crate::base::budget::Held;
use crate::base::ration::Ration;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// What is to be decided, and how.
#[derive(Clone, Copy)]
pub(super) struct All<'s, 'a> {
    pub elements: &'a [Element<'s>],
    /// For each element, which of the stores its sides lie in.
    pub sides: &'a [[usize; 2]],
    /// Of each store.
    pub analysis: &'s [Analysis],
    pub alike: &'a EquivalenceClasses,
    pub inputs: &'a [InputInfo],
    pub options: &'a Options,
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

/// So many proved elements are held against new ones.
const MAX_EXAMPLES: usize = 4;
/// After so many elements in a row that none is like, no more are held against them.
const MAX_MISSES: u32 = 16;

/// An element known to be equal without any condition.
#[derive(Clone, Copy)]
pub(super) struct Example {
    at: usize,
    /// What proving it, or the one that it is an instance of, took.
    steps: u64,
}

/// A run of elements.
pub(super) struct Batch<'s, 'a> {
    all: All<'s, 'a>,
    pub prover: ElementProver<'s, 'a>,
    /// Each of its own make, the latest at the end.
    pub examples: Vec<Example>,
    misses: u32,
    worthwhile: bool,
    renaming: Renaming,
    /// Elements that were proved here, without any condition, and are the first of their kind.
    proved: FxHashSet<usize>,
    /// The first of each kind of elements that are defined at some input.
    defined: FxHashSet<usize>,
    ration: Rc<Ration>,
}

impl<'s, 'a> Batch<'s, 'a> {
    /// A run that knows one example at most.
    pub(super) fn new(all: All<'s, 'a>, example: Option<Example>, ration: Ration) -> Batch<'s, 'a> {
        let ration = Rc::new(ration);
        Batch {
            all,
            prover: ElementProver::new(all.inputs, all.options, ration.clone()),
            examples: example.into_iter().collect(),
            misses: 0,
            worthwhile: true,
            renaming: Renaming::default(),
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
        if self.proved.contains(&self.all.alike.first(at)) {
            return Ok(Proof::default());
        }
        if self.is_instance(at) {
            self.proved.insert(at);
            return Ok(Proof::default());
        }
        let [reference, opt] = self.all.sides[at];
        let analysis = [&self.all.analysis[reference], &self.all.analysis[opt]];
        let before = self.ration.spent();
        let kind = self.all.alike.first(at);
        let result = self.prover.decide(&self.all.elements[at], analysis, self.defined.contains(&kind));
        let steps = self.ration.spent() - before;
        if result.is_ok() {
            self.defined.insert(kind);
        }
        if let Ok(proof) = &result
            && proof.is_unconditional()
        {
            self.proved.insert(at);
            if self.examples.len() == MAX_EXAMPLES {
                self.examples.remove(0);
            }
            self.examples.push(Example { at, steps });
        }
        result
    }

    /// Whether the element is an example with its inputs renamed: then what was proved of that, which has no
    /// conditions, is proved of this.
    fn is_instance(&mut self, at: usize) -> bool {
        if self.all.options.every_element || !self.worthwhile || self.misses >= MAX_MISSES {
            return false;
        }
        let mut held_against = false;
        for which in (0..self.examples.len()).rev() {
            let Example { at: example, steps } = self.examples[which];
            if self.all.sides[example] == self.all.sides[at] && self.all.alike.surely_differ(example, at) {
                continue;
            }
            held_against = true;
            let (from, to) = (self.located(example), self.located(at));
            let found = self.renaming.exists(from, to, self.all.inputs.len(), self.ration.left());
            self.ration.take(self.renaming.steps());
            if found {
                // Sums of products of inputs alone are proved as fast as they are compared.
                self.worthwhile = self.renaming.steps() < steps / 2;
                // A neighbour shares more with the next one than an example further off.
                self.examples.remove(which);
                self.examples.push(Example { at, steps });
                self.misses = 0;
                return true;
            }
        }
        self.misses += u32::from(held_against);
        false
    }

    fn located(&self, at: usize) -> [Located<'s>; 2] {
        let element = &self.all.elements[at];
        let [reference, opt] = self.all.sides[at];
        [(element.reference, reference), (element.opt, opt)].map(|((store, term), side)| Located {
            store,
            analysis: &self.all.analysis[side],
            term,
        })
    }
}
