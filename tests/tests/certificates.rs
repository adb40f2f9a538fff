//! Certificates of fixtures: written by `cargo volta check --certificate`, checked by `cargo volta certify`, and refused
//! where somebody has changed them. `volta-certificate/tests` has the checker's own tests.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use volta_suite::tree::{read, root};
use volta_suite::{Said, Scratch};

/// One of each kind: sums of products, trees of sums, exponentials that are rescaled by maxima.
const SAMPLE: [&str; 3] = ["matmul/small", "softmax/online_4", "reduction/v7_shuffle"];

fn volta(scratch: &Scratch, arguments: &[&str]) -> Said {
    Said::by(scratch.command(env!("CARGO_BIN_EXE_volta-under-test")).args(arguments))
}

fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("certificates-{name}"))
}

/// Checks fixtures, and returns what their certificates show, each with its file.
fn certified(scratch: &Scratch, fixtures: &[&str]) -> Vec<(Value, PathBuf)> {
    let folders: Vec<String> =
        fixtures.iter().map(|name| root().join("fixtures").join(name).display().to_string()).collect();
    let mut arguments = vec!["check", "--no-nvcc", "--no-cache", "--format", "json", "--certificate=."];
    arguments.extend(folders.iter().map(String::as_str));
    let said = volta(scratch, &arguments);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let lines = said.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("it is JSON"));
    lines
        .map(|line| {
            let certificate = line["certificate"].clone();
            let file = certificate["file"].as_str().unwrap_or_else(|| panic!("no certificate: {line}"));
            let path = scratch.path().join(file);
            (certificate, path)
        })
        .collect()
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
        ("laws product_of_powers", "laws product_of_power".to_string(), 1),
        ("laws product_of_powers", "laws".to_string(), 1),
        ("\nequal\n", "\nequality\n".to_string(), 2),
        ("\nend\n", "\n".to_string(), 2),
    ] {
        assert!(text.contains(from), "{from}");
        scratch.write("changed.certificate", &text.replace(from, &to));
        let said = volta(&scratch, &["certify", "changed.certificate"]);
        assert_eq!(said.code, code, "{from} as {to}: {}{}", said.out, said.err);
    }
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
