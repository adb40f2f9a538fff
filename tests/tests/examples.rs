//! Commands that `--help` and documents show, run as written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use volta_suite::tree::{files, read, root};
use volta_suite::{COPY_PTX, Said, Scratch};

const PROGRAM: &str = env!("CARGO_BIN_EXE_volta-under-test");

/// What is not run here, by its first words, and why.
const PASSED_OVER: [(&str, &str); 8] = [
    ("watch ", "it does not end; `watch` runs it"),
    ("bench ", "it takes minutes; `bench` runs it on small cases"),
    ("refresh ", "it needs nvcc; `runner` and `cli` run it where there is one"),
    ("replay fixtures/softmax/no_rescale_4 --run", "it needs a GPU; `hardware` runs it on a stand-in"),
    ("certify ", "its files are results of `check --certificate`; `certificates` runs it on such"),
    ("merge ", "its files are results of the command before; `parts` runs it on such"),
    ("check kernels --filter '/shard_", "there are no cases in parts; `parts` runs such"),
    ("check --stdin --format json <case.json", "its document is in the schema; `stdin` runs such"),
];

/// The families of fixtures that examples read.
const FAMILIES: [&str; 5] = ["softmax", "norm", "matmul", "race", "ranges"];
/// So many of a family's cases are there, besides those that examples name.
const MORE: usize = 2;

/// Copies a folder, and of the folders in it those that are wanted.
fn copy(from: &Path, to: &Path, is_wanted: &dyn Fn(&str) -> bool) {
    fs::create_dir_all(to).expect("folders can be made");
    let mut entries: Vec<_> = fs::read_dir(from).expect("it is a folder").flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut more = MORE;
    for entry in entries {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_file() {
            fs::copy(path, to).expect("files can be copied");
        } else if is_wanted(&entry.file_name().to_string_lossy()) {
            copy(&path, &to, &|_| true);
        } else if more > 0 {
            more -= 1;
            copy(&path, &to, &|_| true);
        }
    }
}

/// The commands of `cargo volta`, by its help.
fn commands() -> Vec<String> {
    let help = Said::by(Command::new(PROGRAM).arg("--help")).out;
    let list =
        help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The arguments of a line that calls `cargo volta`, without what explains it behind two blanks.
fn called(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("$ ");
    let arguments = line.strip_prefix("cargo volta ")?;
    let command = arguments.split("  ").next()?.split(" #").next()?;
    Some(command.trim().to_owned())
}

/// What help and documents show, each once.
fn shown() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for command in commands().iter().map(String::as_str).chain([""]) {
        let arguments = [command, "--help"].into_iter().filter(|word| !word.is_empty());
        let help = Said::by(Command::new(PROGRAM).args(arguments)).out;
        let examples = help.split("Examples:\n").nth(1).unwrap_or_default();
        found.extend(examples.lines().filter(|line| line.starts_with("  ")).filter_map(called));
    }
    for document in files(&root(), "md") {
        let text = read(&document);
        let blocks = text.split("\n```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
        found.extend(blocks.flat_map(str::lines).filter_map(called));
    }
    found
}

#[test]
fn commands_that_are_shown_run() {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), "examples");
    let shown = shown();
    for family in FAMILIES {
        let is_named = |case: &str| {
            let path = format!("fixtures/{family}/{case}");
            shown.iter().any(|command| command.split_whitespace().any(|word| word == path))
        };
        copy(&root().join("fixtures").join(family), &scratch.path().join("fixtures").join(family), &is_named);
    }
    copy(&root().join("fixtures/softmax"), &scratch.path().join("kernels"), &|_| false);
    for file in ["softmax.cu", "softmax.sm_80.ptx"] {
        fs::copy(root().join("fixtures/softmax").join(file), scratch.path().join(file)).expect("it is there");
    }
    scratch.write("copy.ptx", COPY_PTX);
    for folder in
        [".local/share/man/man1", ".local/share/bash-completion/completions", ".config/fish/completions"]
    {
        fs::create_dir_all(scratch.path().join(folder)).expect("folders can be made");
    }
    // Programs beside it that are not on every machine take what they are given.
    let functions = "cargo() { shift; \"$PROGRAM\" \"$@\"; }; jq() { cat >jq.out; }; z3() { cat >z3.out; }; ";
    let mut failed = Vec::new();
    let (mut ran, mut over) = (0, BTreeSet::new());
    for command in shown {
        if let Some((start, _)) = PASSED_OVER.iter().find(|(start, _)| command.starts_with(start)) {
            over.insert(*start);
            continue;
        }
        let mut shell = scratch.command("sh");
        shell.arg("-c").arg(format!("{functions}cargo volta {command}"));
        shell.env("PROGRAM", PROGRAM).env("HOME", scratch.path());
        let said = Said::by(&mut shell);
        if said.code != 0 {
            failed.push(format!("cargo volta {command}\n{}", said.all()));
        }
        ran += 1;
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    assert!(ran > 20, "only {ran} commands are shown");
    let unknown: Vec<&str> =
        PASSED_OVER.iter().map(|(start, _)| *start).filter(|start| !over.contains(start)).collect();
    assert!(unknown.is_empty(), "nothing shows {unknown:?} any more");
}
