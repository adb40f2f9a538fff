//! Elements whose terms choose between numbers and infinities, decided as [terms without](Prover::without_infinities).

use super::counterexample::refute;
use super::prove::{Failure, ranges};
use super::{Decision, DecisionOptions, ElementPair, InputInfo, decide_as, facts_of, roots_of};
use crate::algebra::{Analysis, NewElements, Prover, Tactic};
use crate::term::{InputId, Store, TermId};
use rustc_hash::FxHashMap;

/// Whether such choices are among the terms of stores.
pub(super) fn has_infinite_choice(stores: &[&Store], analysis: &[Analysis], inputs: &[InputInfo]) -> bool {
    stores.iter().zip(analysis).filter(|(store, _)| store.has_infinities()).any(|(store, analysis)| {
        let mut prover = Prover::new(ranges(inputs), Tactic::QUICK);
        let number = prover.add_store(store, analysis);
        prover.has_infinite_choice(number)
    })
}

/// The name of what stands for extrema.
const EXTREMUM: &str = "extremum of numbers and infinities";

/// Decides elements whose terms have such choices; `None` if that does not help. A difference that is found has a witness
/// for the terms as they were executed.
pub(super) fn decided(
    elements: &[ElementPair<'_>],
    (stores, sides): (&[&Store], &[[usize; 2]]),
    inputs: &[InputInfo],
    options: &DecisionOptions,
) -> Option<Decision> {
    let all: Vec<usize> = (0..elements.len()).collect();
    let analysis = facts_of(elements, stores, sides, &all, None);
    let roots = roots_of(elements, stores.len(), sides, all.iter().copied());
    let mut prover = Prover::new(ranges(inputs), Tactic::QUICK);
    let numbers: Vec<u32> =
        stores.iter().zip(&analysis).map(|(store, analysis)| prover.add_store(store, analysis)).collect();
    let mut rewritten = |mut extrema: Option<&mut NewElements>| -> Vec<(Store, FxHashMap<TermId, TermId>)> {
        let each = numbers.iter().zip(&roots).map(|(number, roots)| {
            if !prover.has_infinite_choice(*number) {
                return (Store::new(), FxHashMap::default());
            }
            let (store, found) = prover.without_infinities(*number, roots, extrema.as_deref_mut());
            let pairs = roots.iter().zip(found);
            (store, pairs.filter_map(|(root, found)| Some((*root, found?))).collect())
        });
        each.collect()
    };
    let decide = |rewritten: &[(Store, FxHashMap<TermId, TermId>)], inputs: &[InputInfo]| {
        let pairs = elements.iter().zip(sides).map(|(element, [reference, opt])| {
            let instead = |side: usize, own| {
                let (store, found) = &rewritten[side];
                let (_, term): (&Store, TermId) = own;
                found.get(&term).map_or(own, |term| (store, *term))
            };
            ElementPair { reference: instead(*reference, element.reference), opt: instead(*opt, element.opt) }
        });
        let pairs: Vec<ElementPair<'_>> = pairs.collect();
        decide_as(&pairs, inputs, options, false)
    };
    // Most often, as in a softmax, it does not matter what an extremum is.
    let mut extrema = NewElements { of: InputId(u32::try_from(inputs.len()).ok()?), count: 0 };
    let by_any = rewritten(Some(&mut extrema));
    if by_any.iter().all(|(_, found)| found.is_empty()) {
        return None;
    }
    if extrema.count > 0 {
        let name = EXTREMUM.to_string();
        let extremum = InputInfo { name, shape: vec![extrema.count], ..InputInfo::default() };
        let inputs: Vec<InputInfo> = inputs.iter().cloned().chain([extremum]).collect();
        let decision = decide(&by_any, &inputs);
        let mut texts = decision.conditions.iter().chain(&decision.domain);
        let is_about_extrema = texts.any(|text| text.contains(EXTREMUM) || text.starts_with('…'));
        if decision.first_failure.is_none() && decision.more_domain == 0 && !is_about_extrema {
            return Some(decision);
        }
    }
    let mut decision = decide(&rewritten(None), inputs);
    match &mut decision.first_failure {
        None | Some((_, Failure::Exhausted(_) | Failure::Unknown { .. })) => Some(decision),
        Some((at, Failure::Different(witness))) => {
            let element = &elements[*at];
            *witness = refute(element.reference, element.opt, inputs, &options.effort)?;
            Some(decision)
        }
        Some((_, Failure::Undefined { .. })) => None,
    }
}
