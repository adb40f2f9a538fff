//! Verdicts on fixtures compared with Z3's, on small elements without functions that SMT-LIB lacks. If either makes no
//! claim, there is nothing to compare. And the meaning of operations in a script.
//!
//! Without a solver the trials are ignored; `VOLTA_Z3=required`, or a path in it, makes its absence a failure.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use volta_core::case::Literals;
use volta_core::decide::smt::{Refusal, Settings, script};
use volta_core::decide::{ElementPair, InputInfo};
use volta_core::number::Rational;
use volta_core::program::InstId;
use volta_core::term::{Constant, InputId, Store, TermId, TermOp};
use volta_core::verdict::{Difference, How, Verdict};
use volta_core::{Conditions, conditions, verify};
use volta_suite::fixture::{self, Size};
use volta_test::z3::{Satisfiability, SolverMissing, Z3};

/// Larger elements are not asked about.
const MAX_TERMS: usize = 2000;
/// So many elements of a case are asked about, the first and the last among them.
const MAX_ELEMENTS: usize = 6;
/// What a question may take.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Of so many fixtures, one is compared every time, and with `VOLTA_SLOW=1` all.
const OF_ALL: usize = 6;
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
    // Sums of thousands of products are nothing to ask a solver.
    if fixture::size(name) != Size::Small {
        return Ok(Opinion::NotAsked);
    }
    let Some(case) = fixture::load(name, dir) else { return Ok(Opinion::NotAsked) };
    // Scripts are about reals, and about literals as they are.
    if case.options.rules.claim.is_of_bits() || case.options.rules.literals == Literals::Nearest {
        return Ok(Opinion::NotAsked);
    }
    let Ok(conditions) = conditions(&case) else { return Ok(Opinion::NotAsked) };
    let (wanted, picked) = match verify(&case).verdict {
        Verdict::Equivalent => (Satisfiability::Unsat, some_of(conditions.len())),
        Verdict::Different(difference) => (Satisfiability::Sat, place_of(&conditions, &difference)),
        // Conditions and faults are no question about elements alone.
        Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Fault(_)
        | Verdict::Unknown(_)
        | Verdict::InputError(_)
        | Verdict::Clean => return Ok(Opinion::NotAsked),
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
        if reply.answer == Satisfiability::Unknown {
            // What it gives up on once, it gives up on again, and slowly.
            return Ok(Opinion::NoClaim);
        }
        if reply.answer != wanted {
            let element = conditions.name(at);
            let help = format!("cargo volta export --smt2 {} --element '{element}' | z3 -in", dir.display());
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

/// An operation, its operands, and its result; of a condition, 1 where it holds.
type Fact = (TermOp, &'static [(i64, i64)], (i64, i64));

/// What operations mean, so that a script cannot mean something else.
const FACTS: &[Fact] = &[
    (TermOp::Add, &[(1, 2), (1, 3)], (5, 6)),
    (TermOp::Sub, &[(1, 2), (1, 3)], (1, 6)),
    (TermOp::Mul, &[(-1, 2), (2, 3)], (-1, 3)),
    (TermOp::Fma, &[(2, 1), (3, 1), (5, 1)], (11, 1)),
    (TermOp::Div, &[(2, 3), (-4, 1)], (-1, 6)),
    (TermOp::Neg, &[(2, 3)], (-2, 3)),
    (TermOp::Abs, &[(-2, 3)], (2, 3)),
    (TermOp::Abs, &[(2, 3)], (2, 3)),
    (TermOp::Max, &[(2, 1), (3, 1)], (3, 1)),
    (TermOp::Min, &[(2, 1), (3, 1)], (2, 1)),
    (TermOp::Saturate, &[(-2, 1)], (0, 1)),
    (TermOp::Saturate, &[(1, 3)], (1, 3)),
    (TermOp::Saturate, &[(2, 1)], (1, 1)),
    (TermOp::Sqrt, &[(9, 4)], (3, 2)),
    (TermOp::Rsqrt, &[(9, 4)], (2, 3)),
    (TermOp::Floor, &[(7, 2)], (3, 1)),
    (TermOp::Floor, &[(-7, 2)], (-4, 1)),
    (TermOp::Ceil, &[(7, 2)], (4, 1)),
    (TermOp::Ceil, &[(-7, 2)], (-3, 1)),
    (TermOp::Trunc, &[(7, 2)], (3, 1)),
    (TermOp::Trunc, &[(-7, 2)], (-3, 1)),
    (TermOp::RoundEven, &[(5, 2)], (2, 1)),
    (TermOp::RoundEven, &[(7, 2)], (4, 1)),
    (TermOp::RoundEven, &[(-5, 2)], (-2, 1)),
    (TermOp::RoundEven, &[(-7, 2)], (-4, 1)),
    (TermOp::RoundEven, &[(-9, 4)], (-2, 1)),
    (TermOp::RoundEven, &[(11, 4)], (3, 1)),
    // Magnitudes come second.
    (TermOp::CopySign, &[(-1, 1), (3, 1)], (-3, 1)),
    (TermOp::CopySign, &[(1, 1), (-3, 1)], (3, 1)),
    (TermOp::Less, &[(2, 1), (2, 1)], (0, 1)),
    (TermOp::Less, &[(1, 1), (2, 1)], (1, 1)),
    (TermOp::LessEqual, &[(2, 1), (2, 1)], (1, 1)),
    (TermOp::LessEqual, &[(3, 1), (2, 1)], (0, 1)),
    (TermOp::Equal, &[(2, 1), (2, 1)], (1, 1)),
    (TermOp::Equal, &[(3, 1), (2, 1)], (0, 1)),
];

/// Asks whether an operation on symbols has the given result where the symbols have the given values, and whether
/// it has another one: the answers must be yes and no.
fn check_fact((op, operands, result): Fact, z3: &Z3) -> Result<(), Failed> {
    let input = InputInfo { name: "x".into(), shape: vec![3], ..InputInfo::default() };
    for (shift, wanted) in [(0, Satisfiability::Unsat), (1, Satisfiability::Sat)] {
        let mut store = Store::new();
        let number = |store: &mut Store, (num, den): (i64, i64)| {
            let exact = Rational::from_ratio(num, den).into();
            store.intern(Constant { exact, literal: None, rounded: None })
        };
        let symbols: Vec<TermId> =
            (0..operands.len() as u64).map(|at| TermId::input(InputId(0), at)).collect();
        let mut applied = store.apply(op, &symbols, InstId(0));
        let (zero, one) = (number(&mut store, (0, 1)), number(&mut store, (1, 1)));
        if op.is_condition() {
            applied = store.apply(TermOp::Select, &[applied, one, zero], InstId(0));
        }
        let mut is_there = store.apply(TermOp::Equal, &[zero, zero], InstId(0));
        for (symbol, value) in symbols.iter().zip(operands) {
            let value = number(&mut store, *value);
            let same = store.apply(TermOp::Equal, &[*symbol, value], InstId(0));
            is_there = store.apply(TermOp::And, &[is_there, same], InstId(0));
        }
        let result = number(&mut store, (result.0 + shift, result.1));
        let there =
            [applied, result].map(|term| store.apply(TermOp::Select, &[is_there, term, zero], InstId(0)));
        let element = ElementPair { reference: (&store, there[0]), opt: (&store, there[1]) };
        let question =
            script(&[("y[0]".into(), element)], std::slice::from_ref(&input), Settings::default())?;
        let answer = z3.ask(&question.text, TIMEOUT)?.answer;
        if answer != wanted {
            return Err(format!("{op:?} of {operands:?}: {answer:?} instead of {wanted:?}").into());
        }
    }
    Ok(())
}

/// The solver, or the failure of a trial without it.
fn present(z3: &Result<Option<Z3>, SolverMissing>) -> Result<&Z3, Failed> {
    match z3 {
        Ok(Some(z3)) => Ok(z3),
        Ok(None) => Err("there is no z3; `VOLTA_Z3=$(scripts/z3.sh)` names one".into()),
        Err(missing) => Err(missing.to_string().into()),
    }
}

fn trial(name: &str, dir: &Path, z3: &Z3, counts: &Counts) -> Result<(), Failed> {
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
        let skipped = is_absent
            || !fixture::in_sample(&name, OF_ALL)
            || !fixture::runs_every_time(fixture::size(&name), &name);
        Trial::test(trial_name, move || trial(&name, &dir, present(&z3)?, &counts)).with_ignored_flag(skipped)
    });
    let facts = FACTS.iter().enumerate().map(|(at, fact)| {
        let z3 = z3.clone();
        Trial::test(format!("operations::{:?}_{at}", fact.0), move || check_fact(*fact, present(&z3)?))
            .with_ignored_flag(is_absent)
    });
    let trials: Vec<Trial> = trials.chain(facts).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
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
