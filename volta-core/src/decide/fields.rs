//! Compares proofs with values in prime fields, which have no order but compute exactly.
//!
//! For a sample of the proved elements, a separate prover proves each again by equal normal forms, and then the two
//! original terms are evaluated as [`Prover::agree`] does. Elements whose equality needs a case analysis are left to
//! the intervals.

use rayon::prelude::*;

use super::prove::{ranges, terms_of};
use super::recheck::SAMPLE;
use super::{DecisionOptions, ElementPair, InputInfo, every, facts_of, stores_of};
use crate::algebra::{Agreement, Analysis, Equality, Prover, Stage, Tactic};
use crate::base::budget::Limit;
use crate::base::ration::Ration;
use std::rc::Rc;

/// Where stores have more than [`LARGE`] nodes, only so many elements are evaluated, since each is proved again.
const SAMPLE_OF_LARGE: usize = 2;
/// Stores with more nodes are large.
const LARGE: usize = 1 << 12;
/// Share (one in this many) of an element's budget of steps that evaluating it may take.
const SHARE: u64 = 16;

/// The outcome for the elements of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Elements whose values agree.
    pub agree: usize,
    /// Elements that have no values, or are equal only by case analysis.
    pub unchecked: usize,
    /// The index of the first element whose values differ: the proof or the evaluation is wrong.
    pub contradiction: Option<usize>,
}

/// Evaluates both sides of some elements that were proved equal, in prime fields.
pub fn check(elements: &[ElementPair<'_>], inputs: &[InputInfo], options: &DecisionOptions) -> Checked {
    let nodes = |element: &ElementPair<'_>| element.reference.0.len() + element.opt.0.len();
    let large = elements.iter().any(|element| nodes(element) > LARGE);
    let sample = every(elements.len(), if large { SAMPLE_OF_LARGE } else { SAMPLE });
    let picked: Vec<ElementPair<'_>> = sample.iter().map(|at| elements[*at]).collect();
    let (stores, sides) = stores_of(&picked);
    let analysis = facts_of(&picked, &stores, &sides, &Vec::from_iter(0..picked.len()), None);
    let agreements: Vec<Agreement> = picked
        .par_iter()
        .zip(&sides)
        .zip(&sample)
        .map(|((element, sides), at)| {
            let analysis = sides.map(|side| &analysis[side]);
            // One prover may leave open, or fail to evaluate, what the other does not.
            [Tactic::QUICK, Tactic::THOROUGH]
                .into_iter()
                .map(|tactic| {
                    agree(Prover::new(ranges(inputs), tactic), element, analysis, *at as u64, options)
                })
                .find(|agreement| *agreement != Agreement::Unchecked)
                .unwrap_or(Agreement::Unchecked)
        })
        .collect();
    let count = |wanted| agreements.iter().filter(|found| **found == wanted).count();
    let differing = agreements.iter().position(|found| *found == Agreement::Differ);
    Checked {
        agree: count(Agreement::Agree),
        unchecked: count(Agreement::Unchecked),
        contradiction: differing.map(|at| sample[at]),
    }
}

/// Whether an element's sides have the same values, if the prover proves them equal.
fn agree<'s>(
    mut prover: Prover<'s>,
    element: &ElementPair<'s>,
    analysis: [&'s Analysis; 2],
    seed: u64,
    options: &DecisionOptions,
) -> Agreement {
    prover.draw_from(&Rc::new(Ration::new(options.budgets.clone(), 0, options.held)));
    prover.set_budget(options.budgets[Limit::AlgebraSteps] / SHARE);
    let [reference, opt] = terms_of(&mut prover, element, analysis);
    match prover.equal(reference, opt, Stage::Expansions) {
        Ok(Equality::Equal) => prover.agree(reference, opt, seed),
        _ => Agreement::Unchecked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::InstId;
    use crate::term::{InputId, Store, TermId, TermOp};

    #[test]
    fn what_is_proved_by_forms_is_evaluated_and_what_is_open_is_not() {
        let (mut left, mut right) = (Store::new(), Store::new());
        let x = |element| TermId::input(InputId(0), element);
        let inputs = [InputInfo { name: "x".into(), shape: vec![100], ..InputInfo::default() }];
        let sums: Vec<_> = (0..100).map(|at| left.apply(TermOp::Add, &[x(at), x(0)], InstId(0))).collect();
        let turned: Vec<_> = (0..100).map(|at| right.apply(TermOp::Add, &[x(0), x(at)], InstId(0))).collect();
        let wrong = right.apply(TermOp::Sub, &[x(99), x(0)], InstId(0));
        let mut elements: Vec<ElementPair<'_>> = sums
            .iter()
            .zip(&turned)
            .map(|(reference, opt)| ElementPair { reference: (&left, *reference), opt: (&right, *opt) })
            .collect();
        let options = DecisionOptions::default();
        assert_eq!(
            check(&elements, &inputs, &options),
            Checked { agree: SAMPLE, unchecked: 0, contradiction: None }
        );
        elements[99].opt.1 = wrong;
        assert_eq!(
            check(&elements, &inputs, &options),
            Checked { agree: SAMPLE - 1, unchecked: 1, contradiction: None }
        );
        assert_eq!(check(&[], &inputs, &options), Checked::default());
    }
}
