//! Generated edits of kernels (`tests/src/mutation`): each survivor must have an argument in
//! `tests/mutation/survivors.toml`. Runs a small part of the sample, and with `VOLTA_SLOW=1` all of it. The fate of
//! each mutant is written to `mutation/<family>.txt` in the folder for temporary files of tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use volta_suite::fixture;
use volta_suite::mutation::family::{Mutant, Subject, families, mutants, subjects};
use volta_suite::mutation::judge::{Fate, excerpt, judge, stands};
use volta_suite::mutation::place::{Sources, places};
use volta_suite::mutation::record::{Record, records};
use volta_suite::mutation::taxonomy::{EXCLUDED, KINDS};
use volta_suite::page;
use volta_suite::replay::{self, check::Effort};

/// Mutants of each family in every run.
const SHARE: usize = 3;
/// Families whose smallest pairs take up to a second each: only in full runs.
const LARGE: [&str; 3] = ["attention_tensor", "conv", "gemm"];
/// Fewer mutants of a family say nothing about it.
const LEAST: usize = 30;

/// One family: what is edited passes as it is, every survivor is recorded, and in a full run every record has survivors.
fn family(name: &str, full: bool) -> Result<(), Failed> {
    let subjects = subjects(name);
    let all = mutants(&subjects);
    let drawn = all.iter().filter(|mutant| mutant.drawn).count();
    let mut sources = Sources::default();
    if drawn < LEAST {
        return Err(format!("{drawn} mutants are too few").into());
    }
    let records: Vec<Record> = records().into_iter().filter(|record| record.family == name).collect();
    let mut fates: BTreeMap<Fate, usize> = BTreeMap::new();
    let mut survivors = Vec::new();
    let (mut open, mut log) = (String::new(), String::new());
    let taken: Vec<&Mutant> =
        all.iter().filter(|mutant| mutant.drawn).take(if full { usize::MAX } else { SHARE }).collect();
    let edited = taken.iter().map(|mutant| &subjects[mutant.subject]);
    let edited: BTreeMap<&str, &Subject> = edited.map(|subject| (subject.name.as_str(), subject)).collect();
    if let Some((fallen, _)) = edited.iter().find(|(_, subject)| !stands(subject)) {
        return Err(format!("{fallen} does not pass without an edit: mutants say nothing").into());
    }
    for mutant in &taken {
        let subject = &subjects[mutant.subject];
        let fate = judge(subject, mutant);
        *fates.entry(fate).or_default() += 1;
        let at = subject.place(mutant.site, &mut sources);
        let (kind, edit) = (mutant.edit.kind.0, excerpt(subject, mutant));
        let side = if subject.reference { "reference" } else { "opt" };
        let line = format!("{fate:?} {kind} {at} {} {side}: {edit}\n", subject.name);
        log.push_str(&line);
        if fate == Fate::Survivor {
            let numbers = format!("  on numbers, {}\n", on_numbers(subject, mutant));
            log.push_str(&numbers);
            if !records.iter().any(|record| record.covers(name, kind, &at, &edit)) {
                open.extend([line, numbers]);
            }
            survivors.push((kind.to_owned(), at, edit));
        }
    }
    let mut table = format!("{name}: {} of {}", taken.len(), all.len());
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

/// What an interpreter that shares nothing with the verifier makes of a survivor, for those who look for an argument:
/// numbers that disagree are a wrong proof, or beyond the range of floats.
fn on_numbers(subject: &Subject, mutant: &Mutant) -> String {
    let case = subject.with(mutant.edit.apply(subject.text()));
    if case.reference.is_none() {
        return "there is nothing to compare".to_owned();
    }
    match replay::check::equivalent(
        &case,
        1,
        Effort { inputs: 2, schedules: false, instructions: u64::MAX },
        false,
    ) {
        Ok(tried) => format!("both sides agree in {} elements, {} are open", tried.compared, tried.open),
        Err(why) => format!("they differ: {}", why.lines().next().unwrap_or(&why)),
    }
}

/// Records are about families and lines that exist, and say something.
fn records_are_arguments() -> Result<(), Failed> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in records() {
        if !families().contains(&record.family) {
            return Err(format!("there is no family {}", record.family).into());
        }
        let known = known.entry(record.family.clone());
        let known = known.or_insert_with(|| places(&fixture::root().join(&record.family)));
        if let Some(place) = record.at.iter().find(|place| !known.contains(*place)) {
            return Err(format!("{}: there is no line `{place}`", record.family).into());
        }
        if record.why.split_whitespace().count() < 4 {
            return Err(format!("no argument: {}", record.why).into());
        }
    }
    Ok(())
}

/// The page on trust lists the kinds as the table does; `VOLTA_WRITE_DOCS=1` writes it.
fn kinds_are_documented() -> Result<(), Failed> {
    let rows = KINDS.iter().map(|(kind, edit, why)| format!("| {} | {edit} | {why} |\n", kind.0));
    let kinds =
        format!("| kind | the edit | why it should matter |\n|---|---|---|\n{}", rows.collect::<String>());
    let rows = EXCLUDED.iter().map(|(kind, why)| format!("| {kind} | {why} |\n"));
    let excluded = format!("| kind | why |\n|---|---|\n{}", rows.collect::<String>());
    Ok(page::hold("docs/trust.md", &[("kinds of mutants", kinds), ("kinds that are not made", excluded)])?)
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let full = volta_suite::in_full();
    let mut trials = vec![
        Trial::test("records_are_arguments", records_are_arguments),
        Trial::test("kinds_are_documented", kinds_are_documented),
    ];
    for name in families() {
        let skipped = !full && LARGE.contains(&name.as_str());
        trials.push(Trial::test(name.clone(), move || family(&name, full)).with_ignored_flag(skipped));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
