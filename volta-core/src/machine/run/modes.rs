//! The ways of running a CTA: in lockstep, warp by warp, with vector clocks, with guards that are counted, past
//! values that nothing has written.

use super::ran::{CtaRun, Ran};
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
    // Where an input shows the fault, nothing excludes it.
    if let Err(Stop::Possible(possible)) = &mut run.done
        && !possible.is_shown(launch.infeasible)
    {
        let mut other = CtaRun::about(Arc::clone(premises));
        attempt_as(&mut other, Mode::Counting);
        match (&mut run.done, other.done) {
            (_, done @ Ok(_)) => run = CtaRun { done, ..other },
            // What may happen there is not only thought possible because conditions are not understood.
            (Err(Stop::Possible(first)), Err(Stop::Possible(instead))) => first.instead = Some(instead),
            (_, Err(_)) => {}
        }
    }
    let is_of = |done: &Result<Ran, Stop>, kind| matches!(done, Err(stop) if stop.is_of(kind));
    if is_of(&run.done, FaultKind::Uninitialised) {
        // Another warp may write what is read, and the two race. Where the value is needed at once, the run has ended
        // before that write.
        let mut other = CtaRun::about(Arc::clone(premises));
        attempt_as(&mut other, Mode::PastUndefined);
        let is_certain = match &mut other.done {
            Err(Stop::Possible(possible)) => possible.is_shown(launch.infeasible),
            Ok(_) | Err(_) => true,
        };
        if is_of(&other.done, FaultKind::Race) && is_certain {
            run.done = other.done;
            run.relied.merge(other.relied);
        }
    }
    run
}
