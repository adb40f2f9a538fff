//! Fixtures on numbers: both kernels run in a plain interpreter of PTX, which shares only the parser with the verifier,
//! and their results must agree with the verdict.
//!
//! Small fixtures run on eight inputs, and those whose claim is about bits on a thousand. One in twelve of the large ones runs, on one input, and none of those that take
//! minutes. With `VOLTA_SLOW=1` each runs on fifty inputs; `VOLTA_INPUTS` sets another number for those that are not small.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use volta_core::case::{Case, Claim};
use volta_core::verdict::Verdict;
use volta_core::verify;
use volta_suite::fixture::{self, Size};
use volta_suite::replay::check::{self, Effort, Shown};
use volta_test::manifest;

/// Beginnings of the names of large fixtures in which single threads are busy for minutes.
const LONG: [&str; 2] = ["matmul::", "tilelang::tile"];

/// What floats cannot show, why, and how it fails: it must, so that the list is right.
const BEYOND: [(&str, &str, &str); 21] = [
    (
        "gemm_tensor::small_wmma_masked",
        "it takes fragments of wmma to lie as on sm_80, the interpreter as nowhere",
        ", its term ",
    ),
    (
        "gemm_tensor::small_wmma_unpacked_sm_80",
        "it takes fragments of wmma to lie as on sm_80",
        ", its term ",
    ),
    (
        "graph::running_products",
        "graphs are evaluated in f64, which rounds products of 64 bits",
        " in the reference and ",
    ),
    (
        "graph::sum_with_one",
        "graphs are evaluated in f64, which rounds sums of 64 bits",
        " in the reference and ",
    ),
    ("graph::norm_of_doubles_single", "the two sides hardly differ in f64", "differ Faintly"),
    (
        "grid::part_of_opt",
        "the other side writes what blocks that do not run would write",
        "other elements of y are written by one side",
    ),
    ("literals::argument_and_rest", "the two sides hardly differ in f32", "differ Faintly"),
    ("literals::argument_compared", "the two sides differ by less than f32 tells apart", "differ NotAtAll"),
    ("literals::argument_exact", "the two sides differ by less than f32 tells apart", "differ NotAtAll"),
    ("literals::computed", "a tenth and its nearest literal are the same in f32", "differ NotAtAll"),
    ("literals::contents", "a tenth and its nearest literal are the same in f32", "differ NotAtAll"),
    ("literals::converted", "a tenth and its nearest literal are the same in f32", "differ NotAtAll"),
    ("literals::folded", "a tenth and its nearest literal are the same in f32", "differ NotAtAll"),
    ("literals::root_exact", "the two sides differ by less than f32 tells apart", "differ NotAtAll"),
    ("literals::root_rounded", "the two sides hardly differ in f32", "differ Faintly"),
    ("literals::sixth_exact", "the two sides differ by less than f32 tells apart", "differ NotAtAll"),
    ("literals::sixth_rounded", "the two sides hardly differ in f32", "differ Faintly"),
    ("norm::l2_added", "the two sides differ by less than f32 tells apart", "differ NotAtAll"),
    ("rational::shared_factors", "factors in their hundreds overflow", "nothing is known"),
    ("rational::tiny", "numbers underflow", "too wide"),
    ("rational::tiny_flushed", "numbers underflow", "differ NotAtAll"),
];

/// A bound that is a larger part of the output than this, whatever the inputs, says too little. In the largest fixtures
/// hundreds of steps round to half precision, each of them perhaps in the same direction: their bounds are wide.
fn loosest(size: Size) -> f64 {
    if size == Size::Huge { 0.75 } else { 0.05 }
}

/// So many inputs of a small fixture run every time.
const SMALL: usize = 8;

/// So many inputs of a claim about bits run every time: most of these fixtures are small.
const BITS: usize = 1000;

/// From so many instructions of threads on, a fixture runs on no other inputs.
const INSTRUCTIONS: u64 = 1_000_000;

/// How often fixtures run.
#[derive(Clone, Copy)]
struct Inputs {
    slow: bool,
    chosen: Option<usize>,
}

impl Inputs {
    fn of(self, size: Size) -> Effort {
        let inputs = match size {
            Size::Small if self.slow => 50,
            Size::Small => SMALL,
            Size::Large | Size::Huge => self.chosen.unwrap_or(if self.slow { 50 } else { 1 }),
        };
        let in_full = self.slow || self.chosen.is_some();
        Effort { inputs, schedules: inputs > 1, instructions: if in_full { u64::MAX } else { INSTRUCTIONS } }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let chosen = std::env::var("VOLTA_INPUTS").ok();
    let chosen = chosen.map(|text| text.parse().expect("VOLTA_INPUTS is a number"));
    let inputs = Inputs { slow: volta_suite::in_full(), chosen };
    let mut trials = Vec::new();
    for (name, dir) in fixture::all() {
        let Ok(case) = manifest::load(&name, &dir, &fixture::root()) else { continue };
        let verdict = case.expect.verdict.name();
        let known = ["equivalent", "equivalent-where", "different", "same-bits"];
        // At every size there is none to run at.
        if case.reference.is_none() || case.every.is_some() || !known.contains(&verdict) {
            continue;
        }
        let size = fixture::size(&name);
        let long = size == Size::Large && LONG.iter().any(|start| name.starts_with(start));
        let skipped = long && !inputs.slow || !fixture::runs_every_time(size, &name);
        let trial = Trial::test(name.clone(), move || {
            let case = fixture::load(&name, &dir).ok_or("it cannot be loaded")?;
            let replayed = replay(&name, &case, verdict, inputs.of(size), loosest(size));
            let listed = BEYOND.iter().find(|(beyond, _, _)| *beyond == name);
            match (listed, replayed) {
                (None, replayed) => replayed,
                (Some((_, _, how)), Err(failed))
                    if failed.message().is_some_and(|text| text.contains(how)) =>
                {
                    Ok(())
                }
                (Some((_, why, how)), other) => Err(format!(
                    "it is listed as beyond floats ({why}) and ought to fail with `{how}`, not {other:?}"
                )
                .into()),
            }
        });
        trials.push(trial.with_ignored_flag(skipped));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn replay(name: &str, case: &Case, verdict: &str, effort: Effort, loosest: f64) -> Result<(), Failed> {
    let seed = name.bytes().fold(1, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let begin = std::time::Instant::now();
    // What is tried is what the verifier says now, whatever it ought to.
    let found = verify(case).verdict;
    if found.name() != verdict {
        return Err(format!("it is {}, not {verdict}", found.name()).into());
    }
    if case.options.rules.claim == Claim::Bits {
        if let Verdict::Different(difference) = found {
            check::different_bits(case, &difference, seed)?;
        } else {
            let bits = if effort.inputs < SMALL { 20 * effort.inputs } else { BITS };
            let tried = check::same_bits(case, seed, bits)?;
            println!("{name}: {tried:?} {:?}", begin.elapsed());
        }
        return Ok(());
    }
    if let Verdict::Different(difference) = found {
        let (shown, tried) = check::different(case, &difference, seed)?;
        println!("{name}: {shown:?} {tried:?} {:?}", begin.elapsed());
        return match shown {
            Shown::Clearly => Ok(()),
            shown @ (Shown::Faintly | Shown::NotAtAll) => {
                Err(format!("at the witness the outputs differ {shown:?}: {difference:?}").into())
            }
        };
    }
    let tried = check::equivalent(case, seed, effort, verdict == "equivalent-where")?;
    println!("{name}: {tried:?} {:?}", begin.elapsed());
    if tried.compared <= tried.open {
        return Err(format!("of most elements nothing is known: {tried:?}").into());
    }
    if tried.looseness.is_some_and(|looseness| looseness > loosest) {
        return Err(format!("the bounds are too wide to say anything: {tried:?}").into());
    }
    Ok(())
}
