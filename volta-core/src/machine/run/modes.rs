//! The ways of running a CTA: in lockstep, warp by warp, with vector clocks, with guards that are counted.

use super::ran::{CtaRun, Ran};
use crate::case::{Options, Schedule};
use crate::machine::cta::work::Beside;
use crate::machine::group::context::Context;
use crate::machine::group::premises::Premises;
use crate::machine::group::stop::Stop;
use crate::machine::sync::synchronisation::Mode;
use crate::verdict::FaultKind;
use std::sync::Arc;

/// Runs a CTA as simply as its accesses and its waits allow, for the inputs that fulfil some premises.
pub(super) fn run_about(context: Context<'_>, premises: &Arc<Premises>, beside: Beside<'_>) -> CtaRun {
    let Context { launch, options, .. } = context;
    let mut run = CtaRun::about(Arc::clone(premises));
    let attempt_as = |run: &mut CtaRun, mode| run.done = run.attempt(context, mode, beside);
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
        let done = other.attempt(Context { options: &options, ..context }, Mode::VectorClocks, beside);
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
