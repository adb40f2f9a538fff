//! Mistakes of users, each with the complete output of `cargo volta check`: `mistakes/<mistake>`.
//!
//! A mistake is a folder with a case, and a snapshot of the output. Messages are reviewed before they are accepted:
//! does each say what is wrong, where, and what to do?

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use volta_suite::Said;

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("mistakes");
    let entries = fs::read_dir(&root).expect("the mistakes are there").flatten();
    let folders = entries.filter(|entry| entry.path().join("volta.toml").is_file());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let trials = names.into_iter().map(|name| Trial::test(name.clone(), move || check(&name))).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(name: &str) -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_volta-under-test"));
    command.args(["check", &format!("mistakes/{name}"), "--threads", "1"]).current_dir(root);
    command.env("VOLTA_NVCC", "off").env("VOLTA_CACHE", "off").env_remove("VOLTA_RECHECK");
    let said = Said::by(&mut command);
    let told = without_times(&said.all());
    if let Some(long) = told.lines().find(|line| is_prose(line) && line.chars().count() > 80) {
        return Err(format!("a line of prose takes {} columns: {long}", long.chars().count()).into());
    }
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(root.join("mistakes").join(name));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("message", told));
    Ok(())
}

/// What is said, from the first message on, without how long it took.
fn without_times(said: &str) -> String {
    let time = |line: &str| match line.rsplit_once(" in ") {
        Some((before, time)) if time.ends_with(" s") => before.to_owned(),
        _ => line.to_owned(),
    };
    // The table is of no interest here.
    let lines = said.lines().skip_while(|line| !line.is_empty()).skip(1);
    lines.map(|line| time(line) + "\n").collect()
}

/// Whether a line is written by us: lines of sources, and of what was executed, are as long as they are.
fn is_prose(line: &str) -> bool {
    let start = line.trim_start();
    let is_source = start.split(' ').next().is_some_and(|word| word.parse::<u32>().is_ok());
    let is_marked = start.starts_with('|') || start.starts_with("-->");
    let is_ptx = start.contains("ptx:");
    let is_stats = ["reference ", "optimized ", "kernel "].iter().any(|name| start.starts_with(name));
    !(is_source || is_marked || is_ptx || is_stats)
}
