//! The CTAs of a launch (rule S5): each runs on the memory as at the beginning of the launch, their footprints must not
//! conflict, and their writes are merged in the order of CTAs.

use super::bags::BagsOfAll;
use super::cases::run_in_cases;
use super::class_grid::run_by_classes;
use super::execution::Execution;
use super::footprint::Merged;
use super::orders::run_in_orders;
use super::output::{Lost, Output, WrongOutput};
use super::ran::CtaRun;
use super::recovery::further;
use crate::base::budget::{Held, Limit};
use crate::base::ration::Pool;
use crate::base::watch::Activity;
use crate::case::Options;
use crate::launch::{Clusters, Launch, Outputs};
use crate::machine::cta::work::Beside;
use crate::machine::group::assumptions::Relied;
use crate::machine::group::context::Context;
use crate::machine::group::run_error::RunError;
use crate::machine::group::stop::Stop;
use crate::machine::memory::overlap::Overlap;
use crate::value::Origin;
use rayon::prelude::*;
use std::collections::BTreeSet;

impl Outputs {
    /// Whether an output with this error is left out of the result.
    pub(super) fn leaves_out(self, (.., origin): &WrongOutput) -> bool {
        self == Outputs::Written && matches!(origin, Some(Origin::Unevaluated(_)))
    }
}

/// Runs the CTAs of a launch, and collects what they rely on.
pub(super) fn run_launch(
    launch: &Launch<'_>,
    options: &Options,
    relied: &mut Relied,
) -> Result<Execution, RunError> {
    if options.by_classes
        && let Some(done) = run_by_classes(launch, options, relied)
    {
        return Ok(done);
    }
    let ctas = launch.grid.iter().map(|extent| u64::from(*extent)).product();
    if let Clusters::All(_) = launch.clusters {
        // Footprints store the number of a CTA in 32 bits.
        let most = options.budgets[Limit::Ctas].min(1 << 32);
        let within = options.budgets.clone().with(Limit::Ctas, most).check(Limit::Ctas, ctas);
        within.map_err(RunError::Exhausted)?;
    }
    let mut outcome = Execution {
        threads: launch.threads() as u64,
        ctas: (launch.clusters.len() * u64::from(launch.ranks()), ctas),
        held: launch.before.as_ref().map_or(Held::default(), |before| before.taken().0),
        ..Execution::default()
    };
    let context = |linear| Context { launch, options, linear };
    let mut merged = Merged::new(launch, options);
    options.budgets.watch.expect(Activity::Executing, launch.clusters.len());
    let mut overlap = Overlap::new(launch);
    let (mut bags, mut unwritten) = (BagsOfAll::default(), None);
    let count = if launch.clusters.len() == 1 { 1 } else { 8 * rayon::current_num_threads() as u64 };
    let (mut next, mut taken) = (0, launch.before.as_ref().map_or(0, |before| before.taken().1));
    while next < launch.clusters.len() {
        let (first, window) = (next, launch.clusters.window(next, count));
        next += count;
        options.budgets.deadline.check().map_err(RunError::Exhausted)?;
        let alone = Beside { instructions: taken, held: outcome.held, pool: None };
        let left = options.budgets[Limit::MemoryBytes].saturating_sub(outcome.held.total());
        let pool = Pool::new(u64::MAX, left, window.len());
        let runs: Vec<CtaRun> = if let [only] = window.as_slice() {
            vec![run_cta(context(*only), alone)]
        } else {
            let beside = |run| Beside { pool: Some((&*pool, run)), ..alone };
            let runs = window.par_iter().enumerate();
            runs.map(|(run, cta)| run_cta(context(*cta), beside(run))).collect()
        };
        for (at, (cta, run)) in (first..).zip(window.iter().zip(runs)) {
            // A budget must be reached where it is if CTAs run one after the other.
            let alone = Beside { instructions: taken, held: outcome.held, pool: None };
            let fits = options.budgets.check(Limit::Instructions, taken + run.taken.instructions).is_ok()
                && options.budgets.check_held(&outcome.held.and(&run.taken.held)).is_ok()
                && !matches!(run.done, Err(Stop::Exhausted(_)));
            let run = if fits || window.len() == 1 {
                run
            } else {
                drop(run);
                run_cta(context(*cta), alone)
            };
            relied.merge(run.relied);
            let mut ran = match run.done {
                Err(Stop::Fault(fault)) => {
                    // The search continues behind faults, where tickets are not followed.
                    let also = match launch.has_tickets || launch.has_sets {
                        true => Vec::new(),
                        false => further(launch, options, at, alone, (&fault, run.raced)),
                    };
                    return Err(RunError::Fault(fault, also));
                }
                done => done.map_err(RunError::from_stop)?,
            };
            taken += run.taken.instructions;
            merged.add(*cta, &ran, outcome.stores.len())?;
            let written = ran.written_variables.iter().map(|at| &launch.tensors[*at as usize]);
            outcome.undeclared.extend(written.map(|tensor| launch.undeclared(tensor)));
            if let (Some(overlap), Some(own)) = (&mut overlap, ran.overlap.take()) {
                overlap.add(launch, *own);
            }
            let own = std::mem::take(&mut ran.bags);
            if let Some(found) = ran.unwritten.take() {
                unwritten.get_or_insert((found, outcome.stores.len()));
            }
            outcome.add(ran, launch, !own.bags.is_empty());
            bags.add(launch, own, &outcome.stores)?;
            outcome.held.accesses = merged.bytes() + overlap.as_ref().map_or(0, Overlap::bytes);
            options.budgets.check_held(&outcome.held).map_err(RunError::Exhausted)?;
        }
    }
    if let Some((found, store)) = unwritten {
        return Err(merged.unwritten(*found, store, outcome.stores));
    }
    merged.combine(&mut outcome)?;
    outcome.held.accesses = 0;
    outcome.overlap = overlap;
    outcome.taken = taken;
    outcome.lost.sort_by_key(Lost::place);
    outcome.lost.dedup_by_key(|lost| lost.place());
    let lost: BTreeSet<(usize, u64)> = outcome.lost.iter().map(Lost::place).collect();
    outcome.outputs.retain(|output| !lost.contains(&output.place()));
    outcome.outputs.sort_unstable_by_key(Output::place);
    outcome.bags = bags.finish(launch, (&outcome.stores, &outcome.outputs))?;
    Ok(outcome)
}

fn run_cta(context: Context<'_>, beside: Beside<'_>) -> CtaRun {
    let in_orders = context.launch.has_tickets;
    let run = if in_orders { run_in_orders(context, beside) } else { run_in_cases(context, beside) };
    if let Some((pool, number)) = beside.pool {
        pool.leave(number, run.taken.held.total());
    }
    context.options.budgets.watch.advance(1);
    run
}
