//! Random programs whose answer is known by construction, and verdicts compared with the interpreter.
//!
//! `VOLTA_DIFFERENTIAL=20000` sets the number of programs of each family, `VOLTA_DIFFERENTIAL_FROM` the first seed.

use std::panic;
use std::path::Path;

use volta_core::case::Case;
use volta_suite::differential::{FAMILIES, Family, Tally, headline};
use volta_suite::filetest;
use volta_suite::fixture::{self, Size};
use volta_test::manifest;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("it is a number"))
}

/// Failures that are shown in full.
const TOLD: usize = 3;

fn survey(family: &Family) {
    let wanted = number("VOLTA_DIFFERENTIAL");
    let first = number("VOLTA_DIFFERENTIAL_FROM").unwrap_or(0);
    let mut tally = Tally::new();
    let mut failures: Vec<(u64, String)> = Vec::new();
    for seed in first..first + wanted.unwrap_or(family.share) {
        let checked = panic::catch_unwind(|| (family.check)(seed));
        match checked.unwrap_or_else(|_| Err("it panics".into())) {
            Ok(checked) => checked.into_iter().for_each(|what| *tally.entry(what).or_default() += 1),
            Err(why) => failures.push((seed, why)),
        }
    }
    println!("{}: {tally:#?}", family.name);
    let seeds: Vec<u64> = failures.iter().map(|(seed, _)| *seed).collect();
    let told: Vec<String> =
        failures.iter().take(TOLD).map(|(seed, why)| format!("seed {seed}: {why}")).collect();
    assert!(failures.is_empty(), "{}: seeds {seeds:?} fail\n{}", family.name, told.join("\n"));
    if wanted.is_none() {
        for (what, least) in family.expects {
            let found = tally.get(*what).copied().unwrap_or(0);
            assert!(found >= *least, "only {found} programs are {what}: {tally:#?}");
        }
    }
}

#[test]
fn known_integers() {
    survey(&FAMILIES[0]);
}

#[test]
fn moves() {
    survey(&FAMILIES[1]);
}

#[test]
fn unknown_integers() {
    survey(&FAMILIES[2]);
}

#[test]
fn reals() {
    survey(&FAMILIES[3]);
}

#[test]
fn floats_that_decide() {
    survey(&FAMILIES[4]);
}

#[test]
fn boxes_and_factors() {
    survey(&FAMILIES[5]);
}

#[test]
fn branches_and_addresses_from_data() {
    survey(&FAMILIES[6]);
}

/// Of so many file tests and fixtures, one is held against runs every time, and with `VOLTA_SLOW=1` all.
const OF_CASES: usize = 6;

/// Verdicts of file tests and small fixtures, each held against runs of the kernels.
fn headlines(cases: impl Iterator<Item = (String, Case)>) -> Tally {
    let mut tally = Tally::new();
    let mut failures = Vec::new();
    for (name, case) in cases {
        let report = volta_core::verify(&case);
        let verdict = report.verdict.name();
        let seen = panic::catch_unwind(|| headline::holds(&case, &report, 7));
        match seen.unwrap_or_else(|_| Err("it panics".into())) {
            Ok(seen) => *tally.entry(format!("{verdict}: {seen:?}")).or_default() += 1,
            Err(why) => failures.push(format!("{name} is {verdict}: {why}")),
        }
    }
    println!("{tally:#?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    tally
}

#[test]
fn headlines_of_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("files");
    let files = filetest::discover(&folder)
        .into_iter()
        .filter(|(name, _)| fixture::in_sample(name, OF_CASES))
        .filter_map(|(name, path)| {
            let file = filetest::load(&path).ok()?;
            Some((name, file.case))
        });
    headlines(files);
}

#[test]
fn headlines_of_fixtures() {
    // What compares values is replayed in full by a test of its own.
    let compares = ["equivalent", "equivalent-where", "different"];
    let fixtures = fixture::all()
        .into_iter()
        .filter(|(name, _)| fixture::size(name) == Size::Small && fixture::in_sample(name, OF_CASES));
    let cases = fixtures.filter_map(|(name, dir)| {
        let manifest = manifest::load(&name, &dir, &fixture::root()).ok()?;
        let case = fixture::load(&name, &dir)?;
        (!compares.contains(&manifest.expect.verdict.name())).then_some((name, case))
    });
    headlines(cases);
}
