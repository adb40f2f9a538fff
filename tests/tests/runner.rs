//! The runner behind `volta_test::main!`: names, lists, snapshots, and that nothing is silently green.

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
        assert!(text.ends_with("verdict: clean\n"), "{text}");
        assert!(!text.contains(&*scratch.path().to_string_lossy()), "no path of this machine: {text}");
    }
    assert_eq!(runner(&scratch, &[]).code, 0);
    scratch.write("fixtures/a/one/snapshots/one.snap", "---\nsource: x\n---\nverdict: other\n");
    let said = Said::by(command(&scratch, &[]).env("INSTA_UPDATE", "new"));
    assert!(said.code != 0 && said.out.contains("1 failed"), "{}", said.out);
    assert!(scratch.path().join("fixtures/a/one/snapshots/one.snap.new").is_file());
}
