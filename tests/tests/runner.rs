//! The runner behind `volta_test::main!`: names, lists, snapshots, and that nothing passes silently.

use std::fs;
use std::process::Command;

use volta_suite::{COPY_PTX, Said, Scratch};

const CLEAN: &str = r#"
[params]
x = { role = "in", type = "f32", shape = [32] }
y = { role = "out", type = "f32", shape = [32] }

[kernel]
source = "copy.ptx::copy"
block = 32
"#;

fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("runner-{name}"))
}

fn add_case(scratch: &Scratch, path: &str, text: &str) {
    scratch.write(&format!("fixtures/{path}/copy.ptx"), COPY_PTX);
    scratch.write(&format!("fixtures/{path}/volta.toml"), text);
}

fn command(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_runner-under-test"));
    command.env("CARGO_MANIFEST_DIR", scratch.path()).env("INSTA_UPDATE", "no").args(arguments);
    command
}

fn runner(scratch: &Scratch, arguments: &[&str]) -> Said {
    Said::by(&mut command(scratch, arguments))
}

#[test]
fn lists_are_clean_and_compile_nothing() {
    let scratch = scratch("list");
    add_case(&scratch, "copy/one", CLEAN);
    add_case(&scratch, "copy/two", &format!("{CLEAN}[options]\nslow = true\n"));
    add_case(&scratch, "wrong", "not toml");
    // A compiler that would show if it were started.
    let said =
        Said::by(command(&scratch, &["--list", "--format", "terse"]).env("VOLTA_NVCC", "/absent/nvcc"));
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(said.out, "copy::one: test\ncopy::two: test\nwrong: test\n");
    let said = runner(&scratch, &["--list", "--format", "terse", "--ignored"]);
    assert_eq!(said.out, "copy::two: test\n");
}

#[test]
fn one_case_runs_by_its_exact_name() {
    let scratch = scratch("exact");
    add_case(&scratch, "copy/one", &format!("{CLEAN}[options]\nsnapshot = false\n"));
    add_case(&scratch, "copy/one_more", "not toml");
    let said = runner(&scratch, &["--exact", "copy::one", "--nocapture"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("test copy::one ... ok"), "{}", said.out);
    // A verifier that is not compiled to be fast is told of, once a run.
    let told = said.err.matches("\n[profile.dev.package.\"*\"]\nopt-level = 3\n").count();
    assert_eq!(told, usize::from(volta_core::OPT_LEVEL == "0"), "{}", said.err);
    let said = runner(&scratch, &["--exact", "copy::one_more"]);
    assert_ne!(said.code, 0);
    assert!(said.out.contains("volta.toml:1:"), "{}", said.out);
}

#[test]
fn slow_cases_are_ignored_until_asked_for() {
    let scratch = scratch("slow");
    add_case(&scratch, "copy/slow", &format!("{CLEAN}[options]\nslow = true\nsnapshot = false\n"));
    assert!(runner(&scratch, &[]).out.contains("1 ignored"));
    for said in [
        runner(&scratch, &["--include-ignored"]),
        Said::by(command(&scratch, &[]).env("VOLTA_SLOW", "1")),
        Said::by(command(&scratch, &[]).env("CI", "true")),
    ] {
        assert!(said.out.contains("1 passed"), "{}", said.out);
    }
    assert!(
        Said::by(command(&scratch, &[]).env("CI", "true").env("VOLTA_SLOW", "0")).out.contains("1 ignored")
    );
}

#[test]
fn what_is_not_there_fails() {
    let scratch = scratch("absent");
    let said = runner(&scratch, &[]);
    assert_ne!(said.code, 0, "no fixtures folder: {}", said.out);
    assert!(said.out.contains("cannot read"), "{}", said.out);
    fs::create_dir_all(scratch.path().join("fixtures/empty")).expect("folders can be made");
    let said = runner(&scratch, &[]);
    assert_ne!(said.code, 0, "an empty folder: {}", said.out);
    assert!(said.out.contains("there is no case in"), "{}", said.out);
    add_case(&scratch, "copy/one", &CLEAN.replace("copy.ptx", "absent.cu"));
    let said = runner(&scratch, &["--exact", "copy::one"]);
    assert_ne!(said.code, 0, "a missing kernel: {}", said.out);
    assert!(said.out.contains("there is no file"), "{}", said.out);
}

#[test]
fn snapshots_lie_beside_their_case() {
    let scratch = scratch("snapshots");
    for name in ["a/one", "a/two", "b/one"] {
        add_case(&scratch, name, CLEAN);
    }
    // A new snapshot fails until it is accepted, and CI writes none.
    let said = runner(&scratch, &[]);
    assert!(said.code != 0 && said.out.contains("3 failed"), "{}", said.out);
    let said = Said::by(command(&scratch, &["--test-threads", "3"]).env("INSTA_UPDATE", "always"));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    for name in ["a/one/snapshots/one", "a/two/snapshots/two", "b/one/snapshots/one"] {
        let text = scratch.read(&format!("fixtures/{name}.snap"));
        assert!(text.ends_with("formula:\ny[i] = x[i]      i < 32\n"), "{text}");
        assert!(!text.contains(&*scratch.path().to_string_lossy()), "no path of this machine: {text}");
    }
    assert_eq!(runner(&scratch, &[]).code, 0);
    scratch.write("fixtures/a/one/snapshots/one.snap", "---\nsource: x\n---\nverdict: other\n");
    let said = Said::by(command(&scratch, &[]).env("INSTA_UPDATE", "new"));
    assert!(said.code != 0 && said.out.contains("1 failed"), "{}", said.out);
    assert!(scratch.path().join("fixtures/a/one/snapshots/one.snap.new").is_file());
}

#[test]
fn an_unchanged_suite_is_not_verified_again() {
    let scratch = scratch("cached");
    add_case(&scratch, "a/one", CLEAN);
    add_case(&scratch, "a/two", &CLEAN.replacen("[32]", "[33]", 1));
    let run = |cache| {
        let said =
            Said::by(command(&scratch, &[]).envs([("INSTA_UPDATE", "always"), ("VOLTA_CACHE", cache)]));
        assert!(said.code == 0 && said.out.contains("2 passed"), "{}{}", said.out, said.err);
        said.err
    };
    let line = |count| {
        format!("volta: {count} of 2 verdicts are those of an earlier run; VOLTA_CACHE=off verifies all")
    };
    assert!(!run("on").contains("earlier run"));
    assert!(run("on").contains(&line(2)));
    assert!(!run("off").contains("earlier run"));
    scratch.write("fixtures/a/two/copy.ptx", &format!("{COPY_PTX}// a comment\n"));
    assert!(run("on").contains(&line(1)));
}

#[test]
fn a_snapshot_that_does_not_match_is_one_message() {
    let scratch = scratch("snapshot-message");
    add_case(&scratch, "a/one", CLEAN);
    scratch.write("fixtures/a/one/snapshots/one.snap", "---\nsource: x\n---\nverdict: race\n");
    let said = Said::by(command(&scratch, &[]).env("INSTA_UPDATE", "new").env("RUST_BACKTRACE", "1"));
    let headline = "failed: the snapshot does not match: the verdict was race, and is now clean";
    assert_eq!(said.out.matches(headline).count(), 1, "{}", said.out);
    assert!(said.out.contains("    - verdict: race\n    + verdict: clean\n"), "{}", said.out);
    assert!(said.out.contains("`cargo volta check fixtures/a/one --accept` accepts it"), "{}", said.out);
    for noise in ["panicked", "stack backtrace", "Snapshot Summary", "Stopped on the first failure"] {
        assert!(!said.out.contains(noise) && !said.err.contains(noise), "{}{}", said.out, said.err);
    }
}

#[test]
fn insta_says_what_becomes_of_a_snapshot() {
    let accepted = "fixtures/a/one/snapshots/one.snap";
    let pending = format!("{accepted}.new");
    // The variables, whether there is a snapshot before, whether the run passes, and which files there are then.
    type Row = (&'static [(&'static str, &'static str)], bool, bool, [bool; 2]);
    let table: [Row; 11] = [
        (&[("INSTA_UPDATE", "auto")], false, false, [false, true]),
        (&[("INSTA_UPDATE", "auto"), ("CI", "1")], false, false, [false, false]),
        (&[("INSTA_UPDATE", "auto"), ("CI", "0")], false, false, [false, true]),
        (&[("INSTA_UPDATE", "no")], true, false, [true, false]),
        (&[("INSTA_UPDATE", "new"), ("CI", "1")], true, false, [true, true]),
        (&[("INSTA_UPDATE", "unseen")], false, true, [true, false]),
        (&[("INSTA_UPDATE", "unseen")], true, false, [true, true]),
        (&[("INSTA_UPDATE", "always"), ("CI", "1")], true, true, [true, false]),
        (&[("INSTA_UPDATE", "no"), ("INSTA_FORCE_UPDATE", "1")], true, true, [true, false]),
        (&[("INSTA_UPDATE", "new"), ("INSTA_FORCE_PASS", "1")], true, true, [true, true]),
        (&[("INSTA_UPDATE", "sometimes")], true, false, [true, false]),
    ];
    for (variables, is_there, passes, files) in table {
        let scratch = scratch("insta");
        add_case(&scratch, "a/one", CLEAN);
        if is_there {
            scratch.write(accepted, "---\nsource: x\n---\nverdict: race\n");
        }
        let said = Said::by(command(&scratch, &[]).envs(variables.iter().copied()));
        assert_eq!(said.code == 0, passes, "{variables:?}: {}", said.out);
        let found = [accepted, &pending].map(|path| scratch.path().join(path).is_file());
        assert_eq!(found, files, "{variables:?}: {}", said.out);
    }
}

#[test]
fn insta_learns_which_snapshots_are_used() {
    let scratch = scratch("references");
    add_case(&scratch, "a/one", CLEAN);
    let said = Said::by(command(&scratch, &[]).env("INSTA_UPDATE", "always"));
    assert_eq!(said.code, 0, "{}", said.out);
    let list = scratch.path().join("list");
    let said = Said::by(command(&scratch, &[]).env("INSTA_SNAPSHOT_REFERENCES_FILE", &list));
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(
        scratch.read("list").ends_with("fixtures/a/one/snapshots/one.snap\n"),
        "{}",
        scratch.read("list")
    );
}
