//! Decides whether two terms are equal, and if not, at which input they differ.
//!
//! Refutation shares nothing with proof: [`evaluate`] reads terms as they were executed and encloses their values at a
//! point, [`counterexample`] chooses points, and a [`witness`] is the result. [`decide`] runs [`prove`] and refutation
//! over all elements of the outputs. Evaluation says *equal* only where inputs are narrow integers, and values are exact
//! and equal at each of them. [`smt`] writes the same question for a solver.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::algebra::{Analysis, ClassPlace, Reading, SharedClasses, TranslationClasses};
use crate::base::budget::{Budgets, Exhausted, Held, Limit};
use crate::base::ration::{Pool, Ration};
use crate::base::watch::Activity;
use crate::number::Rational;
use crate::number::format::Formats;
use crate::term::{Integers, Store, TermId, Translation};
use batch::{All, Batch};
use equivalence_classes::EquivalenceClasses;

mod batch;
mod by_integers;
pub mod counterexample;
mod cut_points;
mod digest;
mod domain;
mod equivalence_classes;
pub mod evaluate;
pub mod fields;
mod finite;
pub mod forms;
mod fulfil;
mod infeasible;
pub mod localize;
mod lookups;
pub mod loose;
pub mod point;
pub mod prove;
pub mod recheck;
mod shared_forms;
pub mod smt;
mod sweep;
#[cfg(test)]
mod tests;
pub mod witness;

pub use crate::term::Sign;
pub use infeasible::never_holds;
pub use prove::{Failure, Proof};
pub use sweep::{Reached, reached};

/// One output element: its term on both sides. Elements of different CTAs lie in different stores.
#[derive(Clone, Copy, Debug)]
pub struct ElementPair<'s> {
    /// The term of the reference.
    pub reference: (&'s Store, TermId),
    /// The term of the optimized kernel.
    pub opt: (&'s Store, TermId),
}

/// Limits of the decision.
#[derive(Clone, Debug, Default)]
pub struct DecisionOptions {
    /// Budgets, that of steps for each element.
    pub budgets: Budgets,
    /// Memory that the case already holds.
    pub held: Held,
    /// The search for witnesses.
    pub effort: counterexample::SearchBudget,
    /// Proves every element by itself, even if it is another one translated. For tests: verdicts must not differ.
    pub every_element: bool,
}

/// All elements together may take as many steps as so many of them.
const ELEMENTS: u64 = 64;

impl DecisionOptions {
    /// Steps for all elements together.
    pub(super) fn all_steps(&self) -> u64 {
        self.budgets[Limit::AlgebraSteps].saturating_mul(ELEMENTS)
    }
}

/// The outcome for all elements. Elements after the first failure are not considered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Number of elements proved equal, from the first on; all of them when there is no failure.
    pub equal: usize,
    /// Requirements of the optimized kernel beyond the reference's, each once. Not empty: *equivalent-where*.
    pub conditions: Vec<String>,
    /// Requirements of the reference on its inputs, each once; the first ones where there are many.
    pub domain: Vec<String>,
    /// Number of further requirements.
    pub more_domain: usize,
    /// Literals read as irrational constants (V9).
    pub readings: Vec<Reading>,
    /// The first element that was not proved equal, and why; or one that evaluation refuted before anything was proved.
    pub first_failure: Option<(usize, Failure)>,
    /// Steps of algebra taken.
    pub steps: u64,
    /// Number of elements that were brought to normal form, themselves or by translation of others: none where
    /// evaluating a few of them at a point showed a difference.
    pub canonical: usize,
}

/// Conditions beyond this number are counted, not listed.
const MAX_CONDITIONS: usize = 16;

/// Number of elements that are evaluated before anything is proved.
const SAMPLE: usize = 16;
/// In large stores, the number evaluated of each translation class: maxima and selects may hide a difference at one
/// point and not at the next.
const SAMPLE_A_KIND: usize = 3;
/// Smaller stores are not split into further batches, each of which would prove again what its elements share with
/// others.
const NODES_A_RUN: usize = 1 << 14;
/// Largest number of elements in a run, unless there would be more than [`FEW_RUNS`].
const MAX_RUN: usize = 128;
/// This many runs may each bring to normal form what their elements share, such as the variance of a row.
const FEW_RUNS: usize = 4;

/// The outcome of one run of elements.
#[derive(Default)]
struct Part {
    /// Elements that were proved equal, by index.
    proofs: Vec<(usize, Proof)>,
    readings: BTreeSet<Reading>,
    failure: Option<(usize, Failure)>,
    /// Elements that were decided, with the steps that all up to each took.
    taken: Vec<(usize, u64)>,
}

impl Part {
    fn steps(&self) -> u64 {
        self.taken.last().map_or(0, |(_, steps)| *steps)
    }
}

/// Decides all elements, in parallel; the outcome does not depend on the number of threads.
///
/// Of elements that are translations of one another, the first is proved, and the others follow, unless its equality is
/// conditional, since conditions name its inputs. What is to be proved is split into runs whose length depends only on
/// the numbers of elements and of terms. Each run has a prover of its own, so shared results and counts of steps do not
/// depend on threads. The budget of steps is spent in the order of elements, as if they were decided one after the
/// other.
pub fn decide(elements: &[ElementPair<'_>], inputs: &[InputInfo], options: &DecisionOptions) -> Decision {
    decide_as(elements, inputs, options, true)
}

/// Like [`decide`], where choices between numbers and infinities may be rewritten, or are.
fn decide_as(
    elements: &[ElementPair<'_>],
    inputs: &[InputInfo],
    options: &DecisionOptions,
    rewrites: bool,
) -> Decision {
    if elements.is_empty() {
        return Decision::default();
    }
    let (stores, sides) = stores_of(elements);
    if rewrites && let Some(decision) = lookups::decided(elements, (&stores, &sides), inputs, options) {
        return decision;
    }
    let nodes = stores.iter().map(|store| store.len()).sum::<usize>();
    // Analysing a dominant store would otherwise leave the other threads idle.
    let most = stores.iter().position(|store| store.len() > NODES_A_RUN && store.len() > nodes / 3 * 2);
    let roots = roots_of(elements, stores.len(), &sides, 0..elements.len());
    // The elements of one row, which differ in where they lie in it, are translations of one another only in terms of
    // what the row shares.
    let by_row = cut_points::are_of_one_row(&stores, &roots);
    let classes = || alike_of(&stores, &sides, &roots, options);
    let (alike, early) = rayon::join(
        || if by_row { EquivalenceClasses::alone(elements.len()) } else { classes() },
        || most.map(|most| (most, Analysis::of_most(stores[most], &roots[most]))),
    );
    if let Some((at, witness)) = refute_some(elements, &sides, (&alike, nodes), inputs, options) {
        return Decision { first_failure: Some((at, Failure::Different(witness))), ..Decision::default() };
    }
    let firsts: Vec<usize> = (0..elements.len()).filter(|at| alike.is_first(*at)).collect();
    options.budgets.watch.expect(Activity::Deciding, elements.len() as u64);
    options.budgets.watch.advance((elements.len() - firsts.len()) as u64);
    let analysis = facts_of(elements, &stores, &sides, &firsts, early);
    if rewrites
        && finite::has_infinite_choice(&stores, &analysis, inputs)
        && let Some(decision) = finite::decided(elements, (&stores, &sides), inputs, options)
    {
        return decision;
    }
    let all =
        All { elements, sides: &sides, analysis: &analysis, alike: &alike, inputs, options, equal: None };

    let enough = options.budgets.check_held(&all.held()).and(options.budgets.deadline.check());
    if let Err(exhausted) = enough {
        return Decision { first_failure: Some((0, Failure::Exhausted(exhausted))), ..Decision::default() };
    }

    let without = |firsts: Vec<usize>, part: &Option<Part>| -> Vec<usize> {
        let known: FxHashSet<usize> = part.iter().flat_map(|part| &part.proofs).map(|(at, _)| *at).collect();
        options.budgets.watch.advance(known.len() as u64);
        firsts.into_iter().filter(|at| !known.contains(at)).collect()
    };
    let mut equal = FxHashSet::default();
    let mut requirements = FxHashMap::default();
    let mut by_cuts_of = |all: All<'_, '_>, firsts: &[usize], equal: &mut FxHashSet<usize>| {
        let found = cut_points::proved(all, firsts)?;
        equal.extend(found.equal_where_defined);
        requirements = found.requirements;
        Some(found.part)
    };
    let of_row = if by_row { by_cuts_of(all, &firsts, &mut equal) } else { None };
    let mut firsts = without(firsts, &of_row);
    let is_open = by_row && firsts.iter().any(|at| !equal.contains(at));
    let alike = if is_open { classes() } else { alike };
    firsts.retain(|at| alike.is_first(*at));
    let all =
        All { elements, sides: &sides, analysis: &analysis, alike: &alike, inputs, options, equal: None };
    // Where both sides are the same, nothing is to be proved but that they have a value.
    let (known, firsts): (Vec<usize>, Vec<usize>) =
        firsts.into_iter().partition(|at| alike.is_identical(*at) || equal.contains(at));
    let by_forms = shared_forms::proved(all, &firsts);
    let firsts = without(firsts, &by_forms);
    let by_cuts = if by_row { None } else { by_cuts_of(all, &firsts, &mut equal) };
    let mut firsts = without(firsts, &by_cuts);
    let open: Vec<usize> = firsts.iter().copied().filter(|at| !equal.contains(at)).collect();
    let (same, same_taken) = cut_points::same(all, &open);
    equal.extend(same);
    let all = All { equal: Some(&equal), ..all };
    firsts.extend(known);
    firsts.sort_unstable();
    // What equal elements require is found out once.
    let mut leaders: FxHashMap<usize, usize> = FxHashMap::default();
    let mut followers: Vec<(usize, usize)> = Vec::new();
    if !options.every_element {
        firsts.retain(|at| {
            let Some(number) = requirements.get(at) else { return true };
            let leader = *leaders.entry(*number).or_insert(*at);
            if leader != *at {
                followers.push((*at, leader));
            }
            leader == *at
        });
    }
    let by_all = || of_row.iter().chain(&by_forms).chain(&by_cuts);
    let taken = same_taken + by_all().map(Part::steps).sum::<u64>();
    let mut parts = prove_in_runs(all, &firsts, taken, elements.len());
    let taken = end_in_order(&mut parts, taken, all);
    parts.extend(followed(&parts, &followers));
    options.budgets.watch.advance(followers.len() as u64);
    parts.extend(of_row.into_iter().chain(by_forms).chain(by_cuts));
    let end = |parts: &[Part]| {
        let failures = parts.iter().filter_map(|part| part.failure.as_ref());
        failures.map(|(at, _)| *at).min().unwrap_or(elements.len())
    };
    let mut settled = vec![false; elements.len()];
    for (at, proof) in parts.iter().flat_map(|part| &part.proofs) {
        settled[*at] = proof.is_unconditional();
    }
    let open: Vec<usize> =
        (0..end(&parts)).filter(|at| !alike.is_first(*at) && !settled[alike.first(*at)]).collect();
    if !open.is_empty() {
        let analysis = facts_of(elements, &stores, &sides, &open, None);
        let all = All { analysis: &analysis, ..all };
        let mut others = prove_in_runs(all, &open, taken, end(&parts));
        end_in_order(&mut others, taken, all);
        parts.extend(others);
    }
    outcome_of(parts, elements.len())
}

/// Elements that are equal wherever others, of which some have proofs, are defined: they have the same proofs.
fn followed(parts: &[Part], followers: &[(usize, usize)]) -> Option<Part> {
    let leaders: FxHashSet<usize> = followers.iter().map(|(_, leader)| *leader).collect();
    let proofs = parts.iter().flat_map(|part| &part.proofs).filter(|(at, _)| leaders.contains(at));
    let known: FxHashMap<usize, &Proof> = proofs.map(|(at, proof)| (*at, proof)).collect();
    let own = followers.iter().filter_map(|(at, leader)| Some((*at, (*known.get(leader)?).clone())));
    let proofs: Vec<(usize, Proof)> = own.collect();
    (!proofs.is_empty()).then(|| Part { proofs, ..Part::default() })
}

/// For each element, the first one that it is a translation of, or itself.
pub fn firsts(elements: &[ElementPair<'_>], options: &DecisionOptions) -> Vec<usize> {
    let (stores, sides) = stores_of(elements);
    let roots = roots_of(elements, stores.len(), &sides, 0..elements.len());
    let alike = alike_of(&stores, &sides, &roots, options);
    (0..elements.len()).map(|at| alike.first(at)).collect()
}

/// Truncates parts to the outcome of deciding them one after the other, after `taken` steps: the budget ends at the
/// first element up to which the steps exceed it. Returns the steps taken up to the first failure.
fn end_in_order(parts: &mut Vec<Part>, mut taken: u64, all: All<'_, '_>) -> u64 {
    let most = all.options.all_steps();
    for at in 0..parts.len() {
        let part = &mut parts[at];
        let over = |(_, steps): &(usize, u64)| taken.saturating_add(*steps) > most;
        if let Some(last) = part.taken.iter().position(over) {
            let (end, steps) = part.taken[last];
            taken += steps;
            part.taken.truncate(last + 1);
            part.proofs.retain(|(at, _)| *at < end);
            // How far the run got depends on threads.
            part.readings.clear();
            let element = &all.elements[end];
            let witness =
                counterexample::refute(element.reference, element.opt, all.inputs, &all.options.effort);
            let exhausted = Exhausted::of(Limit::AlgebraSteps, most);
            part.failure = Some((end, witness.map_or(Failure::Exhausted(exhausted), Failure::Different)));
        } else {
            taken += part.steps();
        }
        if part.failure.is_some() {
            parts.truncate(at + 1);
            break;
        }
    }
    taken
}

/// Decides the elements at some indices, in order, until one is not proved or `stop` holds.
fn prove(all: All<'_, '_>, positions: &[usize], ration: Ration, stop: &dyn Fn() -> bool) -> Part {
    let mut part = Part::default();
    let mut run = Batch::new(all, ration);
    for at in positions {
        if part.failure.is_some() || stop() {
            break;
        }
        match run.decide(*at) {
            Ok(proof) => part.proofs.push((*at, proof)),
            Err(failure) => part.failure = Some((*at, failure)),
        }
        part.taken.push((*at, run.spent()));
        all.options.budgets.watch.advance(1);
    }
    part.readings = run.prover.readings();
    part
}

/// Decides the elements at some indices in parallel. Runs after one that failed, or after `end`, stop early.
fn prove_in_runs(all: All<'_, '_>, positions: &[usize], taken: u64, end: usize) -> Vec<Part> {
    let mut stores: Vec<(usize, usize)> = Vec::new();
    for at in positions {
        let ElementPair { reference, opt } = &all.elements[*at];
        stores.extend(all.sides[*at].into_iter().zip([reference.0.len(), opt.0.len()]));
    }
    stores.sort_unstable();
    stores.dedup();
    let nodes = stores.iter().map(|(_, nodes)| nodes).sum::<usize>();
    let most = positions.len().div_ceil(FEW_RUNS).max(MAX_RUN);
    // What these share, such as the requirement of a norm, is all that is left to be told of them.
    let is_known = |at: &usize| {
        let equal = || all.equal.is_some_and(|equal| equal.contains(&all.alike.first(*at)));
        all.alike.is_identical(*at) || equal()
    };
    let least = if positions.iter().all(is_known) { positions.len().div_ceil(FEW_RUNS).max(1) } else { 1 };
    let length = positions.len().div_ceil(nodes / NODES_A_RUN + 1).clamp(least, most);
    let earliest = AtomicUsize::new(end);
    let left = all.left_bytes();
    let pool =
        Pool::new(all.options.all_steps().saturating_sub(taken), left, positions.len().div_ceil(length));
    let runs = positions.par_chunks(length).enumerate().map(|(run, positions)| {
        let stop = || positions[0] > earliest.load(Ordering::Relaxed);
        let ration = all.ration(taken).of_pool(&pool, run);
        let part = prove(all, positions, ration, &stop);
        if let Some((at, _)) = part.failure {
            earliest.fetch_min(at, Ordering::Relaxed);
        }
        part
    });
    runs.collect()
}

/// The outcome of all parts, as if elements had been decided one after the other.
fn outcome_of(parts: Vec<Part>, elements: usize) -> Decision {
    let mut outcome = Decision::default();
    let mut proofs = Vec::new();
    let mut readings = BTreeSet::new();
    let earliest = parts.iter().filter_map(|part| part.failure.as_ref()).map(|(at, _)| *at).min();
    for part in parts {
        let first = part.proofs.first().map(|(at, _)| *at);
        let first = first.or(part.failure.as_ref().map(|(at, _)| *at));
        // Whether parts after the first failure ran depends on threads.
        if first.is_none_or(|first| earliest.is_some_and(|earliest| first > earliest)) {
            continue;
        }
        outcome.steps += part.steps();
        readings.extend(part.readings);
        proofs.extend(part.proofs);
        if let Some((at, failure)) = part.failure.filter(|(at, _)| Some(*at) == earliest) {
            outcome.first_failure = Some((at, failure));
        }
    }
    outcome.equal = earliest.unwrap_or(elements);
    outcome.canonical = outcome.equal + usize::from(earliest.is_some());
    proofs.sort_unstable_by_key(|(at, _)| *at);
    let proved = || proofs.iter().filter(|(at, _)| *at < outcome.equal).map(|(_, proof)| proof);
    let (conditions, more) = first_texts(proved().flat_map(|proof| &proof.conditions));
    let (domain, more_domain) = first_texts(proved().flat_map(|proof| &proof.domain));
    (outcome.conditions, outcome.domain, outcome.more_domain) = (conditions, domain, more_domain);
    if more > 0 {
        outcome.conditions.push(format!("… and {more} more"));
    }
    outcome.readings = readings.into_iter().collect();
    outcome
}

/// The first of some texts, each once, and the number of further ones. Elements of a row share theirs.
fn first_texts<'t>(texts: impl Iterator<Item = &'t Arc<str>>) -> (Vec<String>, usize) {
    let (mut seen, mut known, mut first) = (FxHashSet::default(), FxHashSet::default(), Vec::new());
    for text in texts.filter(|text| seen.insert(Arc::as_ptr(text).addr())) {
        if known.insert(text) && first.len() < MAX_CONDITIONS {
            first.push(text.to_string());
        }
    }
    let more = known.len() - first.len();
    (first, more)
}

/// A store is compared with so many others of its size, of which it may be a translation.
const MAX_ORIGINALS: usize = 8;

/// Finds the elements that are translations of others.
fn alike_of(
    stores: &[&Store],
    sides: &[[usize; 2]],
    roots: &[Vec<TermId>],
    options: &DecisionOptions,
) -> EquivalenceClasses {
    // A single element has no other to be a translation of, and its sides are rarely identical unless their stores have
    // equal size.
    let pays = match sides {
        [[reference, opt]] => stores[*reference].len() == stores[*opt].len(),
        _ => true,
    };
    if !pays {
        return EquivalenceClasses::alone(sides.len());
    }
    // The classes of a store take more memory than its terms, and are dropped once its roots have theirs.
    let shared = SharedClasses::default();
    let translated = translations_of(stores, roots);
    let own = stores.par_iter().zip(roots).zip(&translated).map(|((store, roots), translated)| {
        if translated.is_none() { TranslationClasses::places(store, roots, &shared) } else { Vec::new() }
    });
    let mut places: Vec<Vec<Option<ClassPlace>>> = own.collect();
    for (at, translated) in translated.iter().enumerate() {
        if let Some((original, by)) = translated {
            let own = places[*original].iter();
            places[at] = own.map(|place| Some(place.as_ref()?.translated(by))).collect();
        }
    }
    // What is the same in two stores is equal, even where it has no class. Such a class is not one of translations.
    for (at, translated) in translated.iter().enumerate() {
        let Some((original, _)) = translated.as_ref().filter(|(_, by)| by.is_none()) else { continue };
        let mut given: FxHashMap<TermId, ClassPlace> = FxHashMap::default();
        let open = places[*original].iter_mut().zip(&roots[*original]).filter(|(place, _)| place.is_none());
        for (place, root) in open {
            *place = Some(given.entry(*root).or_insert_with(|| shared.given()).clone());
        }
        let same = places[*original].clone();
        places[at] = same;
    }
    EquivalenceClasses::new(sides, places, options.every_element)
}

/// The stores that are translations of others, which are not: for each the other one, and how far it is translated.
fn translations_of(stores: &[&Store], roots: &[Vec<TermId>]) -> Vec<Option<(usize, Translation)>> {
    let mut found: Vec<Option<(usize, Translation)>> = vec![None; stores.len()];
    let mut left: Vec<usize> = (0..stores.len()).collect();
    for _ in 0..MAX_ORIGINALS {
        let mut originals: FxHashMap<[usize; 2], usize> = FxHashMap::default();
        let mut pairs = Vec::new();
        for at in left {
            let original = *originals.entry([stores[at].len(), roots[at].len()]).or_insert(at);
            if original != at {
                pairs.push([original, at]);
            }
        }
        let compared = pairs.into_par_iter().map(|[original, at]| {
            let [from, to] = [original, at].map(|at| (stores[at], roots[at].as_slice()));
            (original, at, Translation::between(from, to))
        });
        left = Vec::new();
        for (original, at, translation) in compared.collect::<Vec<_>>() {
            match translation {
                Some(translation) => found[at] = Some((original, translation)),
                None => left.push(at),
            }
        }
    }
    found
}

/// Decides elements one after the other on this thread, like a run of [`decide`], each with the results of those
/// before, as long as `tell`, which is told the time of each, asks for more: for measurements.
pub fn in_turn(
    elements: &[ElementPair<'_>],
    inputs: &[InputInfo],
    options: &DecisionOptions,
    mut tell: impl FnMut(usize, Result<Proof, Failure>, Duration) -> bool,
) {
    let (stores, sides) = stores_of(elements);
    let analysis = facts_of(elements, &stores, &sides, &Vec::from_iter(0..elements.len()), None);
    let roots = roots_of(elements, stores.len(), &sides, 0..elements.len());
    let alike = alike_of(&stores, &sides, &roots, options);
    let all =
        All { elements, sides: &sides, analysis: &analysis, alike: &alike, inputs, options, equal: None };
    let mut run = Batch::new(all, all.ration(0));
    for at in 0..elements.len() {
        let started = Instant::now();
        let result = run.decide(at);
        if !tell(at, result, started.elapsed()) {
            break;
        }
    }
}

/// The distinct stores of elements, and for each element those of its two sides.
fn stores_of<'s>(elements: &[ElementPair<'s>]) -> (Vec<&'s Store>, Vec<[usize; 2]>) {
    let mut positions: FxHashMap<usize, usize> = FxHashMap::default();
    let mut stores: Vec<&Store> = Vec::new();
    let mut position = |store| {
        *positions.entry(std::ptr::from_ref::<Store>(store) as usize).or_insert_with(|| {
            stores.push(store);
            stores.len() - 1
        })
    };
    let sides = elements.iter().map(|element| [position(element.reference.0), position(element.opt.0)]);
    let sides = sides.collect();
    (stores, sides)
}

/// The terms of the elements at some indices, by store.
fn roots_of(
    elements: &[ElementPair<'_>],
    stores: usize,
    sides: &[[usize; 2]],
    positions: impl Iterator<Item = usize>,
) -> Vec<Vec<TermId>> {
    let mut roots: Vec<Vec<TermId>> = vec![Vec::new(); stores];
    for at in positions {
        let [reference, opt] = sides[at];
        roots[reference].push(elements[at].reference.1);
        roots[opt].push(elements[at].opt.1);
    }
    roots
}

/// Analyses each store for proofs of the elements at some indices; one analysis may be given. How literals are read
/// depends on those of the other side.
fn facts_of(
    elements: &[ElementPair<'_>],
    stores: &[&Store],
    sides: &[[usize; 2]],
    positions: &[usize],
    early: Option<(usize, Analysis)>,
) -> Vec<Analysis> {
    let mut others: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); stores.len()];
    for [reference, opt] in sides.iter().filter(|[reference, opt]| reference != opt) {
        others[*reference].insert(*opt);
        others[*opt].insert(*reference);
    }
    let roots = roots_of(elements, stores.len(), sides, positions.iter().copied());
    let known = early.as_ref().map(|(at, _)| *at);
    let open = stores.par_iter().zip(&roots).enumerate().filter(|(at, _)| Some(*at) != known);
    let mut analysis: Vec<Analysis> = open.map(|(_, (store, roots))| Analysis::new(store, roots)).collect();
    if let Some((at, early)) = early {
        analysis.insert(at, early);
    }
    for ((analysis, store), others) in analysis.iter_mut().zip(stores).zip(&others) {
        let others: Vec<&Store> = others.iter().map(|other| stores[*other]).collect();
        analysis.read_scales(store, &others);
    }
    analysis
}

/// Evaluates a few elements, including the first and the last, at one point: most wrong kernels are wrong everywhere or
/// at an edge, and are refuted before anything is proved.
fn refute_some(
    elements: &[ElementPair<'_>],
    sides: &[[usize; 2]],
    (alike, nodes): (&EquivalenceClasses, usize),
    inputs: &[InputInfo],
    options: &DecisionOptions,
) -> Option<(usize, witness::Counterexample)> {
    let mut sample = every(elements.len(), SAMPLE);
    if nodes > NODES_A_RUN {
        let mut seen: FxHashMap<usize, usize> = FxHashMap::default();
        sample.retain(|at| {
            let kin = seen.entry(alike.first(*at)).or_default();
            *kin += 1;
            *kin <= SAMPLE_A_KIND
        });
    }
    let groups = sample.chunk_by(|a, b| sides[*a] == sides[*b]);
    // In halves, which balances two threads better even where both evaluate the same terms.
    let groups: Vec<&[usize]> =
        groups.flat_map(|group| <[_; 2]>::from(group.split_at(group.len() / 2))).collect();
    let differing = groups.into_par_iter().filter(|group| !group.is_empty()).flat_map_iter(|group| {
        let (reference, opt) = (elements[group[0]].reference.0, elements[group[0]].opt.0);
        let mut screen =
            counterexample::QuickFilter::new(reference, opt, inputs, 0, options.effort.remembered);
        let pairs: Vec<_> = group.iter().map(|at| (elements[*at].reference.1, elements[*at].opt.1)).collect();
        screen.differing(&pairs).into_iter().map(|at| group[at])
    });
    let differing: Vec<usize> = differing.collect();
    differing.into_iter().find_map(|at| {
        let element = &elements[at];
        let witness = counterexample::refute(element.reference, element.opt, inputs, &options.effort)?;
        Some((at, witness))
    })
}

/// Number of points at which elements are compared to find those that differ, and the largest number of nodes for that.
const MAP_POINTS: u32 = 3;
const MAP_NODES: usize = 1 << 20;
/// Of more elements than this, so many of those that are translations of one another are compared.
const MAP_EACH: usize = 1 << 12;
const MAP_MEMBERS: usize = 16;

/// Indices of the elements that certainly differ at some of a few points, ascending; where there are many elements, also
/// of translations of such. `None` where there are too many terms.
pub fn differing(
    elements: &[ElementPair<'_>],
    inputs: &[InputInfo],
    options: &DecisionOptions,
) -> Option<Vec<usize>> {
    let (stores, sides) = stores_of(elements);
    if stores.iter().map(|store| store.len()).sum::<usize>() > MAP_NODES {
        return None;
    }
    let all = 0..elements.len();
    let first = if elements.len() > MAP_EACH { firsts(elements, options) } else { all.clone().collect() };
    let mut members: FxHashMap<usize, usize> = FxHashMap::default();
    let mut is_compared = |at: &usize| {
        let of = members.entry(first[*at]).or_default();
        *of += 1;
        *of <= MAP_MEMBERS
    };
    let positions: Vec<usize> = all.clone().filter(&mut is_compared).collect();
    let groups: Vec<&[usize]> = positions.chunk_by(|a, b| sides[*a] == sides[*b]).collect();
    let found = groups.into_par_iter().flat_map_iter(|group| {
        let (reference, opt) = (elements[group[0]].reference.0, elements[group[0]].opt.0);
        let pairs: Vec<_> = group.iter().map(|at| (elements[*at].reference.1, elements[*at].opt.1)).collect();
        let mut found = BTreeSet::new();
        for point in 0..MAP_POINTS {
            let remembered = options.effort.remembered;
            let mut filter = counterexample::QuickFilter::new(reference, opt, inputs, point, remembered);
            found.extend(filter.differing(&pairs).into_iter().map(|at| group[at]));
        }
        found
    });
    let found: FxHashSet<usize> = found.map(|at| first[at]).collect();
    Some(all.filter(|at| found.contains(&first[*at])).collect())
}

/// Up to `count` indices, more than one, evenly spread over `elements`, including the first and the last.
fn every(elements: usize, count: usize) -> Vec<usize> {
    let Some(last) = elements.checked_sub(1) else { return Vec::new() };
    let mut sample: Vec<usize> = (0..count).map(|step| last * step / (count - 1)).collect();
    sample.dedup();
    sample
}

/// What the case declares of an input; [`crate::term::InputId`] is its index among the inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputInfo {
    /// The parameter's name.
    pub name: String,
    /// Extents, outermost first; empty for a symbolic scalar.
    pub shape: Vec<u64>,
    /// The declared sign of every element.
    pub sign: Sign,
    /// The integer type of elements; `None` for reals.
    pub integers: Option<Integers>,
    /// Whether no two elements are equal.
    pub distinct: bool,
    /// The float formats in which either side stores elements: elements are representable in all of them.
    pub formats: Formats,
}

impl InputInfo {
    /// The largest magnitude of float elements.
    fn largest(&self) -> Option<Rational> {
        self.formats.largest()
    }
}
