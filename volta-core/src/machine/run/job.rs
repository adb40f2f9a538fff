//! A launch of a side, as the machine is asked to run it.

use super::execution::Execution;
use super::grid::run_launch;
use super::iterations::run_iterations;
use crate::base::assumption::Assumption;
use crate::case::Param;
use crate::launch::Launch;
use crate::launch::address_bits::{self, Guarded};
use crate::launch::bind::Job;
use crate::machine::group::assumptions::Relied;
use crate::machine::group::run_error::RunError;
use crate::value::constants::Recognition;
use crate::verdict::{Fault, FaultKind};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Runs a launch, recognising library functions. Also returns what the run relied on, if it gives a result or a fault.
///
/// # Errors
/// [`RunError`]: arguments that do not fit, the first fault by (CTA, epoch, warp, instruction), or a budget.
pub fn run(job: &Job<'_>, recognition: Recognition) -> (Result<Execution, RunError>, BTreeSet<Assumption>) {
    let ran = run_once(job, recognition.clone(), None);
    // What atomic operations return is followed only where it decides something.
    let kind = match &ran.0 {
        Err(RunError::Fault(fault, _)) => Some(fault.kind),
        Err(RunError::Possible(possible)) => Some(possible.fault.kind),
        Ok(_)
        | Err(RunError::Bind(_) | RunError::Exhausted(_) | RunError::Defect(_) | RunError::Endless(_)) => {
            None
        }
    };
    let is_open = matches!(kind, Some(FaultKind::Nondeterministic | FaultKind::Unsupported));
    let tickets = if is_open { job.program.uses_found() } else { None };
    let is_plain = !job.program.waits_for_flags() && !job.overlaps && !job.params.iter().any(Param::is_set);
    match tickets.filter(|_| is_plain) {
        None => ran,
        Some(is_global) => match run_once(job, recognition, Some(is_global)) {
            (Err(RunError::Bind(_)), _) if kind == Some(FaultKind::Unsupported) => ran,
            // What they return is only known where they come in one order.
            (Err(_), _) if !job.program.has_counters() => ran,
            (Err(RunError::Bind(error)), _) => {
                let message = format!("what atomic operations return is not followed: {}", error.message);
                let fault =
                    Fault::new(job.which, FaultKind::Unsupported, "Y18", message, Vec::new(), error.help);
                let fault = RunError::Fault(Box::new(fault), Vec::new());
                (Err(fault.at_step(job.step)), ran.1)
            }
            followed => followed,
        },
    }
}

/// The same; `tickets`: whether they are followed, and are drawn from global memory.
fn run_once(
    job: &Job<'_>,
    recognition: Recognition,
    tickets: Option<bool>,
) -> (Result<Execution, RunError>, BTreeSet<Assumption>) {
    let Guarded { program, assumptions: guarded } = address_bits::guarded(job);
    let program = if tickets.is_some() { Cow::Owned(program.with_tickets()) } else { program };
    let iterated = recognition.clone();
    let launch = match Launch::bind(job, &program, recognition, tickets) {
        Ok(launch) => launch,
        Err(error) => return (Err(RunError::from(error).at_step(job.step)), BTreeSet::new()),
    };
    let options = job.options;
    let mut relied = Relied::new(&launch, &options.rules);
    let outcome = if options.by_classes && launch.is_one_thread() {
        let apart = run_iterations(job, &launch, iterated, &mut relied);
        Ok(apart.unwrap_or_else(|| Execution { is_declined: true, ..Execution::default() }))
    } else {
        run_launch(&launch, options, &mut relied)
    };
    let outcome = outcome.map_err(|error| error.at_step(job.step));
    let mut assumptions = BTreeSet::new();
    if let Ok(_) | Err(RunError::Fault(..)) = outcome {
        assumptions = relied.assumptions(&launch);
        assumptions.extend(launch.assumptions.iter().cloned());
        assumptions.extend(guarded);
    }
    (outcome, assumptions)
}
