//! The CTAs of a launch by classes: who wrote what, as if each CTA had been executed.

use super::classes::{ClassOfCtas, Classes, Writers};
use super::execution::Execution;
use super::output::{Output, OutputValue, written_elements};
use super::ran::{CtaRun, Ran};
use crate::base::budget::Limit;
use crate::case::Options;
use crate::launch::objects::PAGE;
use crate::launch::{Clusters, Launch};
use crate::machine::cta::work::{Beside, Counts};
use crate::machine::cta_class::ClassRun;
use crate::machine::cta_class::extents::{Extents, SAME, Steps};
use crate::machine::group::assumptions::Relied;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::sync::synchronisation::Mode;
use rustc_hash::FxHashMap;

/// A CTA of a class that wrote elements of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'c> {
    /// The class, and its number.
    pub(crate) class: &'c ClassOfCtas,
    pub(crate) number: usize,
    /// The CTA's number among those of the class.
    pub(crate) cta: u64,
    /// The number of the first element that it wrote; those of the others follow.
    pub(crate) first: u32,
    /// What the first CTA of the class wrote to each.
    pub(crate) values: &'c [OutputValue],
}

/// Grids of fewer CTAs are executed CTA by CTA.
pub(crate) const FEWEST_CTAS: u64 = 8;

/// There are fewer classes than this part of all CTAs, or it does not pay.
const PART: u64 = 4;

/// After so many classes, each must have stood for [`PART`] CTAs on average.
const TRIED: u64 = 4;

impl Classes {
    /// Bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let writers = self.writers.iter().flatten();
        writers.map(|writers| 4 * writers.by_element.len() as u64).sum()
    }

    /// By element of a parameter, a number that tells whether and by what it was written: 0 if it was not.
    pub(crate) fn writers(&self, param: usize) -> Option<&[u32]> {
        Some(&self.writers.get(param)?.as_ref()?.by_element)
    }

    /// The CTA that wrote an element of a parameter, given the element's number other than 0.
    pub(crate) fn origin(&self, param: usize, writer: u32) -> Option<Origin<'_>> {
        let writers = self.writers.get(param)?.as_ref()?;
        let at = u64::from(writer.checked_sub(1)?);
        let number = writers.starts.partition_point(|start| *start <= at).checked_sub(1)?;
        let class = &self.all[number];
        let values = class.values.get(&param)?;
        let cta = (at - writers.starts[number]) / values.len() as u64;
        let first = writers.starts[number] + cta * values.len() as u64 + 1;
        Some(Origin { number, class, cta, first: first as u32, values })
    }
}

/// Runs the CTAs of a launch, one for each class. `None` if that cannot be done, or does not pay: nothing is known then.
pub(crate) fn run_by_classes(
    launch: &Launch<'_>,
    options: &Options,
    relied: &mut Relied,
) -> Option<Execution> {
    let ctas: u64 = launch.grid.iter().map(|extent| u64::from(*extent)).product();
    if ctas < FEWEST_CTAS || !is_plain(launch, options) {
        return None;
    }
    let mut outcome =
        Execution { threads: launch.threads() as u64, ctas: (ctas, ctas), ..Execution::default() };
    let mut own = Relied::new(launch, &options.rules);
    let mut found = Vec::new();
    let mut open = vec![([0; 4], Extents::of_grid(launch.grid))];
    let (mut taken, mut covered, mut of_others) = (0, 0u64, [0u64; 4]);
    while let Some((first, all)) = open.pop() {
        let tried = found.len() as u64;
        if tried > ctas / PART || tried >= TRIED && covered < PART * tried {
            return None;
        }
        options.budgets.check(Limit::Ctas, tried).ok()?;
        let context = Context { launch, options, linear: linear_of(launch, [first[0], first[1], first[2]]) };
        let beside = Beside { instructions: taken, held: outcome.held, pool: None };
        let class = ClassRun::new(launch, all);
        let (run, class, ran) = run_class(context, class, beside).ok()?;
        if !is_alone(&ran) {
            return None;
        }
        taken += run.taken.instructions;
        own.merge(run.relied);
        open.extend(class.extents.rest_of(all, first));
        covered += class.extents.count();
        let others = class.extents.count() - 1;
        for (all, own) in of_others.iter_mut().zip(counts(&mut ran.counts.clone())) {
            *all = all.saturating_add(others.saturating_mul(*own));
        }
        found.push(Found::new(launch, class, &ran, outcome.stores.len())?);
        outcome.add(ran, launch, false);
        options.budgets.check_held(&outcome.held).ok()?;
    }
    let classes = classes_of(launch, options, &found, &outcome)?;
    outcome.held.state += classes.bytes();
    outcome.taken = taken;
    for (executed, others) in counts(&mut outcome.counts).into_iter().zip(of_others) {
        *executed = executed.saturating_add(others);
    }
    outcome.outputs.sort_unstable_by_key(Output::place);
    outcome.classes = Some(Box::new(classes));
    relied.merge(own);
    Some(outcome)
}

/// The number of a CTA.
pub(super) fn linear_of(launch: &Launch<'_>, cta: [u32; 3]) -> u64 {
    let extents = cta.into_iter().zip(launch.grid).rev();
    extents.fold(0, |linear, (at, extent)| linear * u64::from(extent) + u64::from(at))
}

/// Whether nothing but global memory connects the CTAs of a launch, all of which run.
pub(crate) fn is_plain(launch: &Launch<'_>, options: &Options) -> bool {
    let ctas: u64 = launch.grid.iter().map(|extent| u64::from(*extent)).product();
    matches!(launch.clusters, Clusters::All(count) if count == ctas)
        && launch.cluster_ranks() == 1
        && launch.ranks() == 1
        && !(launch.cooperative || launch.has_tickets || launch.has_locks || launch.has_flags)
        && !(launch.overlaps || launch.is_dependent || launch.is_followed || launch.before.is_some())
        && !(options.access_patterns || options.exact_clocks || launch.has_relaxed_barriers)
}

/// What reports say of the work of a CTA.
fn counts(of: &mut Counts) -> [&mut u64; 4] {
    [&mut of.warp_instructions, &mut of.thread_instructions, &mut of.barriers, &mut of.warp_syncs]
}

/// A class whose first CTA has run.
pub(crate) struct Found {
    pub(crate) class: ClassOfCtas,
    /// By tensor, the elements that the first CTA read, if the launch may write it.
    pub(crate) read: FxHashMap<u32, Vec<u64>>,
    /// By tensor, by how many elements those of the next CTA are further on.
    steps: Vec<Steps>,
}

impl Found {
    pub(crate) fn new(launch: &Launch<'_>, class: ClassRun, ran: &Ran, store: usize) -> Option<Found> {
        let mut steps = vec![SAME; launch.tensors.len()];
        let mut of_params = vec![None; launch.params.len()];
        for (at, bytes) in class.tensors.iter().enumerate() {
            let tensor = &launch.tensors[at];
            let element = i64::from(tensor.element.bytes());
            let Some(bytes) = bytes else { continue };
            steps[at] = bytes.map(|bytes| bytes / element);
            if let Some(param) = tensor.param {
                of_params[param] = Some(steps[at]);
            }
        }
        let (mut written, mut read): (FxHashMap<u32, Vec<u64>>, FxHashMap<u32, Vec<u64>>) =
            Default::default();
        for ((number, page), content) in &ran.pages {
            let tensor = &launch.tensors[*number as usize];
            let bytes = tensor.element.bytes() as usize;
            let first = *page * 4 * PAGE as u64;
            let elements = written_elements(tensor, *page, content).map(|(at, _)| at.element);
            written.entry(*number).or_default().extend(elements);
            let is_read =
                |at: usize| (at..at + bytes).any(|byte| content.read[byte / 4] >> (byte % 4) & 1 == 1);
            let elements = (0..4 * PAGE).step_by(bytes).filter(|at| is_read(*at));
            let elements = elements.map(|at| (first + at as u64) / bytes as u64);
            read.entry(*number).or_default().extend(elements);
            if tensor.has_fields() {
                return None;
            }
        }
        written.retain(|_, elements| !elements.is_empty());
        let mut values: FxHashMap<usize, Vec<OutputValue>> = FxHashMap::default();
        for (param, _, value) in &ran.outputs {
            values.entry(*param).or_default().push(*value);
        }
        // Each element that was written and that is an output has a value.
        for (number, elements) in &written {
            let tensor = &launch.tensors[*number as usize];
            let count = tensor.param.and_then(|param| Some(values.get(&param)?.len()));
            if launch.is_left(tensor) && count != Some(elements.len()) {
                return None;
            }
        }
        let extents = class.extents;
        let store = (!ran.outputs.is_empty()).then_some(store);
        let class = ClassOfCtas { store, extents, steps: of_params, written, values };
        Some(Found { class, read, steps })
    }
}

/// Whether what a CTA does in global memory is to store and to load, for all inputs.
pub(crate) fn is_alone(ran: &Ran) -> bool {
    let Ran {
        store: _,
        pages: _,
        contributions,
        perhaps,
        outputs: _,
        unevaluated,
        unwritten,
        bags,
        lost,
        written_variables,
        counts,
        exact: _,
        patterns,
        overlap,
        premises: _,
        others,
    } = ran;
    contributions.is_empty()
        && perhaps.is_empty()
        && unevaluated.is_empty()
        && unwritten.is_none()
        && bags.is_empty()
        && lost.is_empty()
        && written_variables.is_empty()
        && !counts.at_known_points
        && patterns.is_none()
        && overlap.is_none()
        && others.stores.is_empty()
        && others.differing.is_empty()
}

/// Runs the first CTA of a class of at most so many CTAs.
pub(super) fn run_class(
    context: Context<'_>,
    class: ClassRun,
    beside: Beside<'_>,
) -> Result<(CtaRun, ClassRun, Ran), Stop> {
    let mut stopped = Stop::Apart(None);
    for mode in [Mode::WarpByWarp, Mode::VectorClocks] {
        let mut run = CtaRun { class: Some(Box::new(class.clone())), ..CtaRun::new() };
        let done = run.attempt(context, mode, beside);
        match (done, run.class.take()) {
            (Ok(ran), Some(class)) => return Ok((run, *class, ran)),
            (Ok(_), None) => return Err(Stop::Apart(None)),
            (Err(Stop::NeedVectorClocks), _) => {}
            (Err(other), _) => {
                stopped = other;
                break;
            }
        }
    }
    Err(stopped)
}

/// The first of the places that the next CTA's are so far from, in a CTA of a class.
fn shifted(element: u64, steps: Steps, [x, y, z]: [u32; 3]) -> Option<u64> {
    let by = i64::from(x) * steps[0] + i64::from(y) * steps[1] + i64::from(z) * steps[2];
    element.checked_add_signed(by)
}

/// Notes who wrote what. `None` if two CTAs access an element that one of them writes, or if there are too many
/// elements.
fn classes_of(
    launch: &Launch<'_>,
    options: &Options,
    found: &[Found],
    outcome: &Execution,
) -> Option<Classes> {
    let mut writers: Vec<Option<Writers>> = vec![None; launch.params.len()];
    let mut held = outcome.held;
    for (number, tensor) in (0..).zip(&launch.tensors) {
        if !found.iter().any(|found| found.class.written.contains_key(&number)) {
            continue;
        }
        held.state += 4 * tensor.elements;
        options.budgets.check_held(&held).ok()?;
        options.budgets.deadline.check().ok()?;
        let mut by_element = vec![0u32; usize::try_from(tensor.elements).ok()?];
        let mut starts = Vec::with_capacity(found.len());
        let mut next = 0u64;
        for Found { class, steps, read: _ } in found {
            starts.push(next);
            let Some(elements) = class.written.get(&number) else { continue };
            let count = class.extents.count().checked_mul(elements.len() as u64)?;
            if next.checked_add(count)? >= u64::from(u32::MAX) {
                return None;
            }
            for position in class.extents.positions() {
                for element in elements {
                    let at = shifted(*element, steps[number as usize], position)?;
                    let writer = by_element.get_mut(usize::try_from(at).ok()?)?;
                    if *writer != 0 {
                        return None;
                    }
                    next += 1;
                    *writer = next as u32;
                }
            }
        }
        for (at, Found { class, steps, read }) in found.iter().enumerate() {
            let Some(elements) = read.get(&number).filter(|elements| !elements.is_empty()) else { continue };
            let own = class.written.get(&number).map_or(0, Vec::len) as u64;
            for (cta, position) in (0..).zip(class.extents.positions()) {
                let of_cta = starts[at] + cta * own..starts[at] + (cta + 1) * own;
                for element in elements {
                    let place = shifted(*element, steps[number as usize], position)?;
                    let writer = u64::from(*by_element.get(usize::try_from(place).ok()?)?);
                    if writer != 0 && !of_cta.contains(&(writer - 1)) {
                        return None;
                    }
                }
            }
        }
        if let Some(param) = tensor.param.filter(|_| launch.is_left(tensor)) {
            writers[param] = Some(Writers { starts, by_element });
        }
    }
    let all = found.iter().map(|found| found.class.clone()).collect();
    Some(Classes { all, writers, ctas: outcome.ctas.1 })
}
