//! The setup by `make` before a build: it prints what it installs and why, and installs nothing if that is forbidden.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use volta_suite::tree::root;
use volta_suite::{Said, Scratch};

/// Programs that the script is written with.
const TOOLS: [&str; 10] = ["bash", "cat", "cut", "dirname", "env", "head", "id", "mktemp", "sed", "sort"];

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// What the script says where of the programs that a build needs there are only `present`.
fn setup(name: &str, present: &[&str]) -> Said {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("setup-{name}"));
    for program in TOOLS.iter().chain(present) {
        let found = on_path(program).unwrap_or_else(|| panic!("{program} is on PATH"));
        symlink(found, scratch.path().join(program)).expect("links can be made");
    }
    let mut command = Command::new(scratch.path().join("bash"));
    command.arg(Path::new("scripts/setup.sh")).current_dir(root());
    command.env("PATH", scratch.path()).env("VOLTA_INSTALL", "off").env("CARGO", "no-cargo");
    Said::by(&mut command)
}

#[test]
fn where_installing_is_forbidden_the_command_is_told() {
    let said = setup("forbidden", &[]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(
        said.out.contains("m4 is missing, with which GMP, the library of exact numbers, is built"),
        "{}",
        said.out
    );
    let command = "sudo sh -c 'apt-get update && apt-get install -y m4 make gcc libc6-dev'";
    assert!(said.err.contains("VOLTA_INSTALL=off") && said.err.contains(command), "{}", said.err);
}

#[test]
fn nothing_is_said_where_nothing_is_missing() {
    if let Some(missing) = ["m4", "make", "cc"].into_iter().find(|program| on_path(program).is_none()) {
        eprintln!("skipped: {missing} is not on PATH");
        return;
    }
    let said = setup("complete", &["m4", "make", "cc"]);
    assert_eq!(said.out, "", "{}", said.err);
    assert!(said.err.contains("cargo is not found"), "{}", said.err);
}
