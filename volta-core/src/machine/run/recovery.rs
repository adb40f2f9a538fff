//! Search for further faults after a CTA's first one (rule R2): the CTA runs again, warp by warp and with vector
//! clocks, and continues after faults where that is sound. A run without faults pays nothing for it.
//!
//! Each finding holds by itself: it is the outcome of a run of the kernel that leaves out the faulty accesses before
//! it. Values that depend on a finding are unknown, *in doubt* ([`Origin::Doubtful`](crate::value::Origin)): doubt
//! spreads like undefined values, findings about it are not reported, and the run ends where it decides control flow.

use super::output::{element_value, fill_written, output_value, written_elements};
use crate::base::budget::Limit;
use crate::case::Options;
use crate::concurrency::race::Detector;
use crate::launch::Launch;
use crate::launch::objects::PAGE;
use crate::machine::cta::Cta;
use crate::machine::cta::work::Beside;
use crate::machine::group::findings::{Findings, Key, key};
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::sync::synchronisation::Mode;
use crate::program::InstId;
use crate::value::int_terms::IntTerms;
use crate::verdict::{Fault, MOST_FINDINGS};
use std::collections::BTreeSet;

/// Budget of warp instructions for the search, in all CTAs together.
const MOST_INSTRUCTIONS: u64 = 1 << 15;

/// The least that running a CTA counts, for setting it up.
const LEAST_INSTRUCTIONS: u64 = 1 << 10;

/// The largest number of runs of a CTA until none relies on a value read before its race was found.
const MOST_RUNS: usize = 4;

/// Further faults after `first`, the fault of a CTA, in that CTA and in those after it: by CTA, and in the order of its
/// run. `from` is the CTA's position in the launch. If `first` is a race, `raced` is the object, which is in doubt from
/// the beginning.
pub(crate) fn further(
    launch: &Launch<'_>,
    options: &Options,
    from: u64,
    beside: Beside<'_>,
    (first, mut raced): (&Fault, Option<u32>),
) -> Vec<Fault> {
    let mut found = Vec::new();
    if options.first_fault_only {
        return found;
    }
    let mut told = BTreeSet::from([key(first)]);
    let most =
        beside.instructions.saturating_add(MOST_INSTRUCTIONS).min(options.budgets[Limit::Instructions]);
    let mut beside = Beside { pool: None, ..beside };
    let mut next = from;
    while found.len() + 1 < MOST_FINDINGS && beside.instructions < most {
        let Some(cta) = launch.clusters.window(next, 1).first().copied() else { break };
        next += 1;
        let objects = raced.take().into_iter().collect();
        let here = of_cta(launch, options, cta, (&mut beside, most), (&told, objects));
        told.extend(here.iter().map(key));
        found.extend(here);
    }
    found.truncate(MOST_FINDINGS - 1);
    found
}

/// The findings in one CTA beyond those already reported; what `objects` hold is in doubt.
fn of_cta(
    launch: &Launch<'_>,
    options: &Options,
    linear: u64,
    (beside, most): (&mut Beside<'_>, u64),
    (told, mut objects): (&BTreeSet<Key>, BTreeSet<u32>),
) -> Vec<Fault> {
    let mut options = options.clone();
    for _ in 0..MOST_RUNS {
        // Half of what is left, so that further runs have a budget.
        options.budgets[Limit::Instructions] = beside.instructions.midpoint(most.max(beside.instructions));
        let Ok(mut cta) = Cta::new(launch, &options, linear, Mode::VectorClocks) else { break };
        cta.work.beside = *beside;
        cta.values.terms.survey = Some(Box::new(Findings::new(told.clone(), objects)));
        let done = cta.run().and_then(|()| cta.check_budgets());
        beside.instructions += cta.work.taken().instructions.max(LEAST_INSTRUCTIONS);
        let mut survey = match done {
            Ok(()) => outputs(cta),
            Err(stop) => {
                let mut survey = cta.values.terms.survey.take().map(|survey| *survey).unwrap_or_default();
                // The run cannot continue after others.
                if let Stop::Fault(fault) = stop
                    && survey.stands(&fault)
                {
                    survey.note(*fault);
                }
                survey
            }
        };
        if !survey.objects_are_new {
            return std::mem::take(&mut survey.found);
        }
        objects = survey.objects;
    }
    Vec::new()
}

/// Checks the outputs of a CTA that ran to its end as well: one finding for each store.
fn outputs(cta: Cta<'_>) -> Findings {
    let Cta { context, values, sync, memory, unwritten, .. } = cta;
    let ValueTerms { mut store, mut packed, mut ranges, mut relied, survey, .. } = values.terms;
    let (launch, order) = (context.launch, sync.order);
    let mut survey = survey.map(|survey| *survey).unwrap_or_default();
    let Detector::VectorClock(exact) = &order else { return survey };
    let (mut pages, ..) = memory.into_parts();
    for ((number, page), content) in &mut pages {
        let tensor = &launch.tensors[*number as usize];
        let Some(object) =
            launch.objects.of_tensor(*number).filter(|_| !launch.is_followed && launch.is_left(tensor))
        else {
            continue;
        };
        if survey.looks_at(object) {
            continue;
        }
        fill_written((tensor, *page), content, (&mut packed, &mut store));
        for (at, first) in written_elements(tensor, *page, content) {
            let value = element_value(at.tensor, content, first, &mut packed, &mut store);
            if packed.undefined_part(value).is_some_and(|origin| survey.is_in_doubt(origin)) {
                continue;
            }
            let (packed, store, ranges) = (&mut packed, &mut store, &mut ranges);
            let mut residues = IntTerms { packed, store, ranges, pc: InstId(0) };
            let Err(wrong) = output_value(at.tensor, value, &mut residues, &mut relied.masks) else {
                continue;
            };
            if launch.outputs.leaves_out(&wrong) {
                continue;
            }
            let cell = (*number, *page * PAGE as u64 + first as u64 / 4);
            let sites = context.sites_of(cell, (exact, &unwritten, packed), wrong.3);
            let fault = launch.output_fault(at, wrong, sites);
            if survey.stands(&fault) {
                survey.note(fault);
            }
        }
    }
    survey
}
