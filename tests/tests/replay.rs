//! Fixtures on numbers: both kernels run in a plain interpreter of PTX, which shares nothing with the verifier but the
//! parser, and what they compute must be what the verdict says.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use volta_core::case::Case;
use volta_core::verdict::Verdict;
use volta_core::verify;
use volta_suite::fixture::{self, Size};
use volta_suite::replay::check::{self, Effort, Shown};
use volta_test::manifest;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for (name, dir) in fixture::all() {
        let Ok(case) = manifest::load(&name, &dir, &fixture::root()) else { continue };
        let verdict = case.expect.verdict.clone();
        if case.reference.is_none()
            || !["equivalent", "equivalent-where", "different"].contains(&verdict.as_str())
        {
            continue;
        }
        let size = fixture::size(&name);
        let skipped = size == Size::Huge && std::env::var_os("VOLTA_SLOW").is_none();
        let trial = Trial::test(name.clone(), move || {
            let case = fixture::load(&name, &dir).ok_or("it cannot be loaded")?;
            replay(&name, &case, &verdict, size)
        });
        trials.push(trial.with_ignored_flag(skipped));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn replay(name: &str, case: &Case, verdict: &str, size: Size) -> Result<(), Failed> {
    let seed = name.bytes().fold(1, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    if verdict == "different" {
        let Verdict::Different(difference) = verify(case).verdict else {
            return Err("it is not different".into());
        };
        return match check::different(case, &difference, seed)? {
            Shown::Clearly => Ok(()),
            shown => Err(format!("at the witness the outputs differ {shown:?}: {difference:?}").into()),
        };
    }
    let inputs = match size {
        Size::Small => 50,
        Size::Large | Size::Huge => 2,
    };
    let begin = std::time::Instant::now();
    let tried = check::equivalent(case, seed, Effort { inputs, schedules: true })?;
    println!("{name}: {tried:?} {:?}", begin.elapsed());
    if tried.compared < tried.open {
        return Err(format!("of most elements nothing is known: {tried:?}").into());
    }
    Ok(())
}
