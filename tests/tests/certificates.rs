//! Certificates of fixtures: written by `cargo volta check --certificate`, checked by `cargo volta certify`, and refused
//! where somebody has changed them. `volta-certificate/tests` has the checker's own tests.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use volta_suite::tree::{read, root};
use volta_suite::{Said, Scratch};

/// One of each kind: sums of products, exponentials that are rescaled by maxima, trees of sums, cut points, cases of
/// maxima and of choices, demands in arms, residuals of constants.
const SAMPLE: [&str; 9] = [
    "matmul/small",
    "softmax/online_4",
    "reduction/v7_shuffle",
    "attention/small_fa1",
    "norm/layer_block",
    "clamp/huber",
    "mask/dropout",
    "domain/guarded",
    "expf/exp2f",
];

/// At least so many fixtures are certified in full.
const LEAST: usize = 300;

fn volta(scratch: &Scratch, arguments: &[&str]) -> Said {
    Said::by(scratch.command(env!("CARGO_BIN_EXE_volta-under-test")).args(arguments))
}

fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("certificates-{name}"))
}

/// Checks fixtures, and returns the lines about them.
fn checked(scratch: &Scratch, fixtures: &[&str]) -> Vec<Value> {
    let folders: Vec<String> =
        fixtures.iter().map(|name| root().join("fixtures").join(name).display().to_string()).collect();
    let mut arguments = vec!["check", "--no-nvcc", "--no-cache", "--format", "json", "--certificate=."];
    arguments.extend(folders.iter().map(String::as_str));
    let said = volta(scratch, &arguments);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    said.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("it is JSON")).collect()
}

/// Checks fixtures, and returns what their certificates show, each with its file.
fn certified(scratch: &Scratch, fixtures: &[&str]) -> Vec<(Value, PathBuf)> {
    let with_file = |line: Value| {
        let certificate = line["certificate"].clone();
        let file = certificate["file"].as_str().unwrap_or_else(|| panic!("no certificate: {line}"));
        let path = scratch.path().join(file);
        (certificate, path)
    };
    checked(scratch, fixtures).into_iter().map(with_file).collect()
}

#[test]
fn fixtures_are_certified_or_listed() {
    if !volta_suite::in_full() {
        eprintln!("skipped: VOLTA_SLOW=1 runs it");
        return;
    }
    let scratch = scratch("all");
    let lines = checked(&scratch, &[""]);
    let mut whole = 0;
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for line in lines.iter().filter(|line| line["verdict"] == "equivalent") {
        let (certificate, name) = (&line["certificate"], line["name"].as_str().expect("cases have names"));
        let refused = certificate["refused"].as_array();
        assert!(refused.is_none_or(Vec::is_empty), "{name}: the checker refuses {refused:?}");
        if certificate["certified"] == certificate["elements"] && !certificate.is_null() {
            whole += 1;
        } else {
            let why = certificate["open"][0]["why"].as_str().unwrap_or("no terms were written");
            found.insert(name.to_string(), why.to_string());
        }
    }
    eprintln!("{whole} of {} equivalent fixtures are certified in full", whole + found.len());
    let list = read(&root().join("tests/certificates/uncertified.txt"));
    let listed = list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let listed: BTreeMap<&str, &str> = listed.collect();
    let lost: Vec<_> = found.iter().filter(|(name, _)| !listed.contains_key(name.as_str())).collect();
    let won: Vec<_> = listed.keys().filter(|name| !found.contains_key(**name)).collect();
    assert!(lost.is_empty(), "these are not certified in full, and are not listed: {lost:#?}");
    assert!(won.is_empty(), "these are certified in full; they leave the list: {won:#?}");
    assert!(whole >= LEAST, "{whole} fixtures are certified in full, and {LEAST} were");
}

#[test]
fn samples_are_certified_in_full() {
    let scratch = scratch("full");
    let certificates = certified(&scratch, &SAMPLE);
    assert_eq!(certificates.len(), SAMPLE.len());
    for (certificate, path) in certificates {
        assert_eq!(certificate["certified"], certificate["elements"], "{certificate}");
        assert_eq!(certificate["refused"], Value::Array(Vec::new()), "{certificate}");
        let said = volta(&scratch, &["certify", &path.display().to_string()]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        let (certified, elements) = (&certificate["certified"], &certificate["elements"]);
        assert!(said.out.contains(&format!("certified {certified} of {elements} elements")), "{}", said.out);
    }
}

#[test]
fn changed_certificates_are_refused() {
    let scratch = scratch("changed");
    let (_, path) = certified(&scratch, &SAMPLE[..2]).pop().expect("two were checked");
    let text = read(&path);
    let last = text.lines().rfind(|line| line.starts_with("div ")).expect("a softmax divides").to_string();
    for (from, to, code) in [
        (last.as_str(), last.replace("div", "mul"), 1),
        (" product_of_powers", " product_of_power".to_string(), 1),
        (" product_of_powers", String::new(), 1),
        ("\nequal\n", "\nequality\n".to_string(), 2),
        ("\nend\n", "\n".to_string(), 2),
    ] {
        assert!(text.contains(from), "{from}");
        scratch.write("changed.certificate", &text.replace(from, &to));
        let said = volta(&scratch, &["certify", "changed.certificate"]);
        assert_eq!(said.code, code, "{from} as {to}: {}{}", said.out, said.err);
    }
}

/// The checker is small enough to be read: so many lines that are not blank, comments included, and tests left out.
const MOST_LINES: usize = 2000;

#[test]
fn the_checker_is_small() {
    let files = std::fs::read_dir(root().join("volta-certificate/src")).expect("the checker is there");
    let paths = files.map(|file| file.expect("it is listed").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|of| of == "rs")).map(|path| read(&path));
    let lines = |text: String| {
        let own = text.split("#[cfg(test)]").next().unwrap_or_default();
        own.lines().filter(|line| !line.trim().is_empty()).count()
    };
    let all: usize = sources.map(lines).sum();
    assert!(
        (1000..=MOST_LINES).contains(&all),
        "the checker has {all} lines, and at most {MOST_LINES} are allowed"
    );
}

/// The checker has no code of the verifier.
#[test]
fn the_checker_depends_on_nothing_of_the_verifier() {
    let mut cargo = Command::new(env!("CARGO"));
    let said = Said::by(
        cargo
            .args([
                "tree",
                "--offline",
                "--locked",
                "-p",
                "volta-certificate",
                "--prefix",
                "none",
                "-e",
                "normal",
            ])
            .current_dir(root()),
    );
    assert_eq!(said.code, 0, "{}", said.err);
    let own = said.out.lines().filter(|line| line.starts_with("volta"));
    assert_eq!(own.count(), 1, "{}", said.out);
}
