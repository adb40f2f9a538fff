//! The ways of running a CTA: in lockstep, warp by warp, with vector clocks, with guards that are counted.

use super::attempt::attempt;
use super::ran::{CtaRun, Ran};
use crate::case::{Options, Schedule};
use crate::launch::Launch;
use crate::machine::cta::work::Beside;
use crate::machine::group::premises::Premises;
use crate::machine::group::stop::Stop;
use crate::machine::sync::synchronisation::Mode;
use crate::machine::sync::tickets::Tickets;
use crate::verdict::FaultKind;
use std::sync::Arc;

/// Runs a CTA as simply as its accesses and its waits allow, for the inputs that fulfil some premises.
pub(super) fn run_about(
    launch: &Launch<'_>,
    options: &Options,
    (cta, premises): (u64, &Arc<Premises>),
    beside: Beside<'_>,
) -> CtaRun {
    let mut run = CtaRun::about(Arc::clone(premises));
    let attempt_as = |run: &mut CtaRun, mode| {
        run.done = attempt(launch, options, cta, mode, (beside, run), &mut Tickets::default())
    };
    if !options.exact_clocks && launch.ranks() == 1 && !launch.overlaps {
        attempt_as(&mut run, Mode::Lockstep);
        if let Err(Stop::Fault(_) | Stop::Possible(_) | Stop::Missing(_)) = run.done {
            // Of several faults, the one reported is the first when warps run one after the other.
            attempt_as(&mut run, Mode::WarpByWarp);
        }
    }
    if let Err(Stop::NeedVectorClocks) = run.done {
        attempt_as(&mut run, Mode::VectorClocks);
    }
    if let Err(Stop::Possible(_)) = run.done {
        let mut other = CtaRun::about(Arc::clone(premises));
        attempt_as(&mut other, Mode::Counting);
        match (&mut run.done, other.done) {
            (_, done @ Ok(_)) => run = CtaRun { done, ..other },
            // What may happen there is not only thought possible because conditions are not understood.
            (Err(Stop::Possible(first)), Err(Stop::Possible(instead))) => first.instead = Some(instead),
            (_, Err(_)) => {}
        }
    }
    if is_fault(&run.done, FaultKind::Uninitialised) && options.schedule == Schedule::InOrder {
        // A later warp may write what is read. Where the value is needed at once, that write is not executed any more;
        // with the last warp first, it comes before, and the two race.
        let options = Options { schedule: Schedule::Reversed, ..options.clone() };
        let mut other = CtaRun::about(Arc::clone(premises));
        let tickets = &mut Tickets::default();
        let done = attempt(launch, &options, cta, Mode::VectorClocks, (beside, &mut other), tickets);
        if is_fault(&done, FaultKind::Race) {
            run.done = done;
            run.relied.merge(other.relied);
        }
    }
    run
}

fn is_fault(done: &Result<Ran, Stop>, kind: FaultKind) -> bool {
    matches!(done, Err(Stop::Fault(fault)) if fault.kind == kind)
}
