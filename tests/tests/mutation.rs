//! Generated edits of kernels (`tests/src/mutation`): what survives must have an argument in
//! `tests/mutation/survivors.toml`. A short share of the sample, and with `VOLTA_SLOW=1` all of it. What became of each
//! mutant is written to `mutation/<family>.txt` in the folder for temporary files of tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use volta_suite::mutation::family::{SAMPLE, Subject, families, mutants, subjects};
use volta_suite::mutation::judge::{Fate, excerpt, judge, stands};
use volta_suite::mutation::record::{Record, records};

/// Mutants of each family in every run.
const SHARE: usize = 10;
/// Families whose smallest pairs take up to a second each: only in full runs.
const LARGE: [&str; 3] = ["attention_tensor", "conv", "gemm"];
/// Families that have fewer mutants than a sample: all of them are taken.
const FEW: [&str; 1] = ["faults"];

/// One family: what is edited passes as it is, every survivor is recorded, and in a full run every record has survivors.
fn family(name: &str, full: bool) -> Result<(), Failed> {
    let subjects = subjects(name);
    let all = mutants(name, &subjects);
    if all.len() < SAMPLE && !FEW.contains(&name) {
        return Err(format!("{} mutants are too few", all.len()).into());
    }
    let records: Vec<Record> = records().into_iter().filter(|record| record.family == name).collect();
    let mut fates: BTreeMap<Fate, usize> = BTreeMap::new();
    let mut survivors = Vec::new();
    let (mut open, mut log) = (String::new(), String::new());
    let taken = if full { SAMPLE } else { SHARE };
    let edited = all.iter().take(taken).map(|mutant| &subjects[mutant.subject]);
    let edited: BTreeMap<&str, &Subject> = edited.map(|subject| (subject.name.as_str(), subject)).collect();
    if let Some((fallen, _)) = edited.iter().find(|(_, subject)| !stands(subject)) {
        return Err(format!("{fallen} does not pass without an edit: mutants say nothing").into());
    }
    for mutant in all.iter().take(taken) {
        let subject = &subjects[mutant.subject];
        let fate = judge(subject, mutant);
        *fates.entry(fate).or_default() += 1;
        let at = format!("{}:{}", subject.stem(), subject.sites[mutant.site].line);
        let (kind, edit) = (mutant.edit.kind.0, excerpt(subject, mutant));
        let side = if subject.reference { "reference" } else { "opt" };
        let line = format!("{fate:?} {kind} {at} {} {side}: {edit}\n", subject.name);
        log.push_str(&line);
        if fate == Fate::Survivor {
            if !records.iter().any(|record| record.covers(name, kind, &at, &edit)) {
                open.push_str(&line);
            }
            survivors.push((kind.to_owned(), at, edit));
        }
    }
    let mut table = format!("{name}: {} of {}", all.len().min(taken), all.len());
    for (fate, count) in &fates {
        let _ = write!(table, ", {fate:?} {count}");
    }
    println!("{table}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutation");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(format!("{name}.txt")), format!("{table}\n{log}"))?;
    if !open.is_empty() {
        return Err(format!("survivors without an argument in tests/mutation/survivors.toml:\n{open}").into());
    }
    for record in records.iter().filter(|_| full) {
        let idle = record.idle(&survivors);
        if !idle.is_empty() {
            return Err(format!("no survivor has {idle:?}, which are recorded as: {}", record.why).into());
        }
    }
    Ok(())
}

/// Records are about families that exist, and say something.
fn records_are_arguments() -> Result<(), Failed> {
    for record in records() {
        if !families().contains(&record.family) {
            return Err(format!("there is no family {}", record.family).into());
        }
        if record.why.split_whitespace().count() < 4 {
            return Err(format!("no argument: {}", record.why).into());
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let full = std::env::var("VOLTA_SLOW").is_ok_and(|value| value == "1");
    let mut trials = vec![Trial::test("records_are_arguments", records_are_arguments)];
    for name in families() {
        let skipped = !full && LARGE.contains(&name.as_str());
        trials.push(Trial::test(name.clone(), move || family(&name, full)).with_ignored_flag(skipped));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
