//! Another opinion: what Volta says of each fixture against Z3, on elements that are small and free of functions that
//! SMT-LIB does not have. Where either makes no claim there is nothing to compare.
//!
//! Without a solver the trials are ignored; `VOLTA_Z3=required`, or a path in it, makes its absence a failure.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use volta_core::decide::smt::{Refusal, Settings, script};
use volta_core::verdict::{Difference, How, Verdict};
use volta_core::{Conditions, conditions, verify};
use volta_suite::fixture;
use volta_test::z3::{Answer, Missing, Z3};

/// Larger elements are not asked about.
const MAX_TERMS: usize = 2000;
/// So many elements of a case are asked about, the first and the last among them.
const MAX_ELEMENTS: usize = 6;
/// What a question may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Fewer fixtures than this in agreement mean that the comparison itself is broken.
const ENOUGH: usize = 30;

/// How many fixtures ended how.
#[derive(Debug, Default)]
struct Counts {
    agreed: AtomicUsize,
    no_claim: AtomicUsize,
    not_asked: AtomicUsize,
}

/// What asking about one fixture came to, where it was no disagreement.
enum Opinion {
    /// Both say the same of every element asked about.
    Agreed,
    /// The solver gave up on one.
    NoClaim,
    /// There is no element to ask about.
    NotAsked,
}

fn compare(name: &str, dir: &Path, z3: &Z3) -> Result<Opinion, Failed> {
    let Some(case) = fixture::load(name, dir) else { return Ok(Opinion::NotAsked) };
    let Ok(conditions) = conditions(&case) else { return Ok(Opinion::NotAsked) };
    let (wanted, picked) = match verify(&case).verdict {
        Verdict::Equivalent => (Answer::Unsat, some_of(conditions.len())),
        Verdict::Different(difference) => (Answer::Sat, place_of(&conditions, &difference)),
        // Conditions and faults are no question about elements alone.
        _ => return Ok(Opinion::NotAsked),
    };
    let mut opinion = Opinion::NotAsked;
    for at in picked {
        let Some(element) = conditions.element(at) else { continue };
        let settings = Settings { max_terms: MAX_TERMS, ..Settings::default() };
        let question = match script(&[(conditions.name(at), element)], &conditions.inputs, settings) {
            Ok(question) if question.interpreted => question,
            Ok(_) | Err(Refusal::Infinite { .. } | Refusal::TooLarge { .. }) => continue,
            // Both sides of an equivalent element are defined somewhere.
            Err(refusal @ Refusal::Undefined { .. }) => return Err(refusal.to_string().into()),
        };
        let reply = z3.ask(&question.text, TIMEOUT)?;
        if reply.answer == Answer::Unknown {
            opinion = Opinion::NoClaim;
        } else if reply.answer != wanted {
            let element = conditions.name(at);
            let help = format!("volta export --smt2 {} --element '{element}' | z3 -in", dir.display());
            return Err(format!("{element} should be {wanted:?}, z3 says {:?}: {help}", reply.answer).into());
        } else if matches!(opinion, Opinion::NotAsked) {
            opinion = Opinion::Agreed;
        }
    }
    Ok(opinion)
}

/// The first, the last, and some between.
fn some_of(count: usize) -> Vec<usize> {
    let steps = MAX_ELEMENTS.min(count);
    (0..steps).map(|step| step * (count - 1) / (steps - 1).max(1)).collect()
}

/// The element at which values differ.
fn place_of(conditions: &Conditions, difference: &Difference) -> Vec<usize> {
    if !matches!(difference.how, How::Values(_)) {
        return Vec::new();
    }
    let index = difference.index.iter().map(|at| format!("[{at}]"));
    let name = format!("{}{}", difference.tensor, index.collect::<String>());
    (0..conditions.len()).find(|at| conditions.name(*at) == name).into_iter().collect()
}

fn trial(name: &str, dir: &Path, z3: &Result<Option<Z3>, Missing>, counts: &Counts) -> Result<(), Failed> {
    let z3 = match z3 {
        Ok(Some(z3)) => z3,
        Ok(None) => return Err("there is no z3; `VOLTA_Z3=$(scripts/z3.sh)` names one".into()),
        Err(missing) => return Err(missing.to_string().into()),
    };
    let count = match compare(name, dir, z3)? {
        Opinion::Agreed => &counts.agreed,
        Opinion::NoClaim => &counts.no_claim,
        Opinion::NotAsked => &counts.not_asked,
    };
    count.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let z3 = Arc::new(Z3::from_environment());
    let counts = Arc::new(Counts::default());
    let is_absent = matches!(*z3, Ok(None));
    let trials = fixture::all().into_iter().map(|(name, dir)| {
        let (z3, counts, trial_name) = (z3.clone(), counts.clone(), name.clone());
        Trial::test(trial_name, move || trial(&name, &dir, &z3, &counts)).with_ignored_flag(is_absent)
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    let [agreed, no_claim, not_asked] =
        [&counts.agreed, &counts.no_claim, &counts.not_asked].map(|count| count.load(Ordering::Relaxed));
    if arguments.list || is_absent {
        return conclusion.exit_code();
    }
    eprintln!("z3: {agreed} fixtures agree, {no_claim} without a claim of z3's, {not_asked} not asked about");
    let are_all = conclusion.num_filtered_out == 0 && !conclusion.has_failed();
    if are_all && agreed < ENOUGH {
        eprintln!("z3: that is too few for a comparison; there were {ENOUGH} and more");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}
