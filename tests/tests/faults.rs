//! Failures around a run: it is killed, the disk is full, a folder cannot be written, the compiler is broken, another
//! run is in progress. Errors are clear, and no file is lost or left incomplete.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use volta_suite::{COPY_PTX, Said, Scratch, copy_case};

const CASE: &str = r#"
[params]
x = { role = "in", type = "f32", shape = [32] }
y = { role = "out", type = "f32", shape = [32] }

[kernel]
source = "copy.cu::copy"
block = 32
"#;

/// A case about `copy.cu`, and a compiler for it.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("faults-{name}"));
    scratch.write("cases/case/copy.cu", "// a kernel\n");
    scratch.write("cases/case/volta.toml", CASE);
    scratch.write("toolkit/out.ptx", COPY_PTX);
    compiler(&scratch, "cp \"$dir/out.ptx\" \"$out\"");
    scratch
}

/// Makes the compiler a script that knows `$dir`, its folder, and `$out`, the file to write.
fn compiler(scratch: &Scratch, script: &str) {
    let text = format!(
        r#"#!/bin/sh
dir=$(dirname "$0")
if [ "$1" = --version ]; then echo "V1.0.7"; exit; fi
echo started >> "$dir/log"
while [ "$1" != -o ]; do shift; done
out=$2
{script}
"#
    );
    scratch.write("toolkit/nvcc", &text);
    let path = nvcc(scratch);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions can be set");
}

fn nvcc(scratch: &Scratch) -> PathBuf {
    scratch.path().join("toolkit/nvcc")
}

/// `cargo volta`, perhaps after a shell's preparations.
fn command(scratch: &Scratch, before: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{before} exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_volta-under-test")]);
    let mut command = scratch.within(command);
    command.env("VOLTA_NVCC", nvcc(scratch)).args(arguments);
    command
}

fn volta(scratch: &Scratch, arguments: &[&str]) -> Said {
    Said::by(&mut command(scratch, "", arguments))
}

/// A document has no folder: what the compiler says of it has the document's names, and no command of ours.
#[test]
fn errors_of_the_compiler_have_the_names_of_the_document() {
    let scratch = scratch("document");
    let script =
        "echo \"$PWD/k.cu(3): error: a type is missing\"; echo \"k.cu(4): error: and another\"; exit 1";
    compiler(&scratch, script);
    let document =
        format!("{}\n[sources]\n\"src/k.cu\" = \"x\"\n", CASE.replace("copy.cu::copy", "src/k.cu::copy"));
    for format in ["human", "json"] {
        let mut command = command(&scratch, "", &["check", "--stdin", "--format", format]);
        let said = Said::by_input(&mut command, &document);
        assert_eq!(said.code, 2, "{}", said.all());
        for part in ["nvcc refuses src/k.cu", "src/k.cu(3): error: a type is missing", "k.cu(4): error"] {
            assert!(said.all().contains(part), "{part}: {}", said.all());
        }
        for part in ["/tmp", "-lineinfo", "toolkit"] {
            assert!(!said.all().contains(part), "{part}: {}", said.all());
        }
    }
}

/// Files below a folder, by name.
fn files(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Each file of the cache that a run would take as PTX is whole.
fn cache_is_whole(scratch: &Scratch) -> usize {
    let dir = scratch.path().join("target/volta/ptx");
    let kept: Vec<String> = files(&dir).into_iter().filter(|name| name.ends_with(".ptx")).collect();
    for name in &kept {
        let text = fs::read_to_string(dir.join(name)).expect("it can be read");
        assert!(text.starts_with("// volta-source:") && text.ends_with("}\n"), "{name} is not whole");
    }
    kept.len()
}

#[test]
fn a_missing_compiler_is_named() {
    let scratch = scratch("missing");
    let said = Said::by(command(&scratch, "", &["check", "cases"]).env("VOLTA_NVCC", "/absent/nvcc"));
    assert!(
        said.code == 2 && said.all().contains("VOLTA_NVCC is /absent/nvcc, which is not a file"),
        "{}",
        said.err
    );
    fs::set_permissions(nvcc(&scratch), fs::Permissions::from_mode(0o644)).expect("permissions can be set");
    let said = volta(&scratch, &["check", "cases"]);
    assert!(
        said.code == 2 && said.all().contains("cannot run") && said.all().contains("toolkit/nvcc"),
        "{}",
        said.err
    );
    let said = volta(&scratch, &["refresh", "cases"]);
    assert!(said.code == 2 && said.all().contains("cannot run"), "{}", said.err);
    assert_eq!(files(&scratch.path().join("cases/case")), ["copy.cu", "volta.toml"]);
}

#[test]
fn a_broken_compiler_is_no_verdict_and_leaves_nothing() {
    let scratch = scratch("broken");
    for (script, part) in [
        ("echo 'copy.cu(3): error: no such thing' >&2; exit 1", "error: no such thing"),
        ("echo garbage > \"$out\"", "expected a directive"),
        ("head -c 300 \"$dir/out.ptx\" > \"$out\"", "expected"),
        ("printf '\\377\\376\\000' > \"$out\"", "not text"),
        ("true", "nvcc reported success, but wrote no PTX"),
        ("kill -SEGV $$", "nvcc refuses"),
        ("cp \"$dir/out.ptx\" \"$out\"; exit 3", "nvcc refuses"),
        ("mkdir \"$out\"", "not a regular file"),
    ] {
        compiler(&scratch, script);
        for arguments in [["check", "cases"], ["refresh", "cases"]] {
            // What is no PTX is found when it is read.
            let makes_text = part.starts_with("expected") || part == "not text";
            if arguments[0] == "refresh" && makes_text {
                continue;
            }
            let said = volta(&scratch, &arguments);
            let is_told = said.on_one_line().contains(part);
            assert!(said.code == 2 && is_told, "{script}: {}{}", said.out, said.err);
        }
        assert_eq!(cache_is_whole(&scratch), 0, "{script}");
        let _ = fs::remove_dir_all(scratch.path().join("target"));
    }
    compiler(&scratch, "cp \"$dir/out.ptx\" \"$out\"");
    assert_eq!(volta(&scratch, &["check", "cases"]).code, 0, "nothing is remembered of it");
    assert_eq!(cache_is_whole(&scratch), 1);
}

#[test]
fn a_compiler_that_hangs_is_stopped_with_its_children() {
    let scratch = scratch("hangs");
    let begin = Instant::now();
    for script in ["sleep 600", "sleep 600 & wait", "while :; do :; done"] {
        compiler(&scratch, script);
        let said = Said::by(command(&scratch, "", &["check", "cases"]).env("VOLTA_NVCC_TIMEOUT", "1"));
        assert!(
            said.code == 2 && said.all().contains("nvcc took longer than 1 s and was stopped"),
            "{}",
            said.err
        );
    }
    // Also where it is only asked for its version.
    scratch.write("toolkit/nvcc", "#!/bin/sh\n[ \"$1\" = --version ] && sleep 600\nwhile [ \"$1\" != -o ]; do shift; done\necho > \"$2\"\n");
    let said = Said::by(command(&scratch, "", &["check", "cases"]).env("VOLTA_NVCC_TIMEOUT", "1"));
    assert!(said.code == 2 && said.all().contains("nvcc took longer than 1 s"), "{}", said.err);
    assert!(begin.elapsed() < Duration::from_secs(120));
}

#[test]
fn a_full_disk_leaves_the_old_files() {
    let scratch = scratch("full");
    assert_eq!(volta(&scratch, &["refresh", "cases"]).code, 0);
    let old = scratch.read("cases/case/copy.sm_80.ptx");
    scratch.write("cases/case/copy.cu", "// another kernel\n");
    // Files of at most a block: what a full disk does to what is longer. The signal is ignored, so that writing fails.
    let full = "ulimit -f 1; trap '' XFSZ;";
    let said = Said::by(&mut command(&scratch, full, &["refresh", "cases"]));
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.all().contains("too large") || said.all().contains("nvcc refuses"), "{}", said.err);
    assert_eq!(scratch.read("cases/case/copy.sm_80.ptx"), old);
    // The compiler has its room, and then the copy beside the source has not.
    compiler(
        &scratch,
        "head -c 300000 /dev/zero | tr '\\0' '\\n' > \"$out.big\"; cat \"$dir/out.ptx\" > \"$out\"",
    );
    assert_eq!(files(&scratch.path().join("cases/case")), ["copy.cu", "copy.sm_80.ptx", "volta.toml"]);
    cache_is_whole(&scratch);
    compiler(&scratch, "cp \"$dir/out.ptx\" \"$out\"");
    assert_eq!(volta(&scratch, &["refresh", "cases"]).code, 0);
    assert_ne!(scratch.read("cases/case/copy.sm_80.ptx"), old);
    // Standard output.
    if Path::new("/dev/full").exists() {
        for arguments in [vec!["check", "cases"], vec!["list", "cases"], vec!["explain"]] {
            let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it can be opened");
            let output = command(&scratch, "", &arguments).stdout(full).stderr(Stdio::piped()).output();
            let output = output.expect("it starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
            assert!(said.contains("No space left") && !said.contains("panicked"), "{arguments:?}: {said}");
        }
        scratch.write("cases/case/copy.ptx", COPY_PTX);
        scratch.write("cases/case/volta.toml", &copy_case("", "copy_late"));
        scratch.write("cases/case/copy.ptx", COPY_PTX);
        let said = volta(&scratch, &["export", "--smt2", "cases/case", "-o", "/dev/full"]);
        assert!(said.code == 2 && said.all().contains("cannot be written"), "{}", said.err);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    // Tests may run as root, whom permissions do not stop: a file stands where a folder should.
    let scratch = scratch("read-only");
    scratch.write("target", "");
    let said = volta(&scratch, &["check", "cases"]);
    assert!(said.code == 2 && said.all().contains("target/volta/ptx"), "{}", said.err);
    let said = Said::by(command(&scratch, "", &["check", "cases"]).env("CARGO_TARGET_DIR", "/proc/none"));
    assert!(said.code == 2 && said.all().contains("/proc/none/volta/ptx"), "{}", said.err);
    let _ = fs::remove_file(scratch.path().join("target"));
    scratch.write("cases/case/copy.sm_80.ptx/in_the_way", "");
    let said = volta(&scratch, &["refresh", "cases"]);
    assert!(said.code == 2 && said.all().contains("copy.sm_80.ptx"), "{}", said.err);
    assert_eq!(files(&scratch.path().join("cases/case/copy.sm_80.ptx")), ["in_the_way"]);
    assert_eq!(files(&scratch.path().join("cases/case")), ["copy.cu", "copy.sm_80.ptx", "volta.toml"]);
}

#[test]
fn a_killed_run_leaves_no_half_file() {
    let scratch = scratch("killed");
    let long = format!(
        "{COPY_PTX}\n{}",
        "// padding that makes writing take a while\n}\n".replace("}\n", "").repeat(20_000)
    );
    scratch.write("toolkit/out.ptx", &format!("{long}.visible .entry last()\n{{\nret;\n}}\n"));
    compiler(&scratch, "cp \"$dir/out.ptx\" \"$out\"; sleep 0.02");
    let beside = scratch.path().join("cases/case/copy.sm_80.ptx");
    let mut killed = 0;
    for round in 0..20u64 {
        scratch.write("cases/case/copy.cu", &format!("// version {round}\n"));
        let before = fs::read_to_string(&beside).ok();
        let mut child = command(&scratch, "", &["refresh", "cases"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(15 + 7 * round));
        let _ = child.kill();
        killed += u32::from(!child.wait().expect("it ends").success());
        let after = fs::read_to_string(&beside).ok();
        if after != before {
            let after = after.expect("what was there is not removed");
            assert!(after.starts_with("// volta-source:") && after.ends_with("}\n"), "half a file");
        }
        cache_is_whole(&scratch);
    }
    assert!(killed > 0, "some run was killed");
    let said = volta(&scratch, &["check", "cases"]);
    assert!(said.code == 0 || said.all().contains("is stale"), "{}", said.err);
    assert_eq!(volta(&scratch, &["refresh", "cases"]).code, 0, "what was left is in nobody's way");
    assert_eq!(volta(&scratch, &["check", "cases"]).code, 0);
}

#[test]
fn runs_at_once_compile_once_and_agree() {
    let scratch = scratch("at-once");
    compiler(&scratch, "sleep 0.3; cp \"$dir/out.ptx\" \"$out\"");
    let start = |arguments: &[&str]| {
        command(&scratch, "", arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts")
    };
    let mut runs: Vec<_> = (0..4).map(|_| start(&["check", "cases"])).collect();
    runs.extend((0..2).map(|_| start(&["refresh", "cases"])));
    for run in runs {
        let output = run.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(scratch.read("toolkit/log").lines().count(), 1, "one of them compiles");
    assert_eq!(cache_is_whole(&scratch), 1);
    assert!(scratch.read("cases/case/copy.sm_80.ptx").ends_with("}\n"));
    assert_eq!(files(&scratch.path().join("cases/case")), ["copy.cu", "copy.sm_80.ptx", "volta.toml"]);
}

/// Snapshots are written as a whole, but not by every program. One that was cut short is not the one expected:
/// the next run fails and shows it.
#[test]
fn a_snapshot_cut_short_does_not_pass() {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), "faults-snapshot");
    scratch.write("fixtures/case/copy.ptx", COPY_PTX);
    scratch.write("fixtures/case/volta.toml", &copy_case("", "copy_late"));
    let run = |update: &str| {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_runner-under-test"));
        command.env("CARGO_MANIFEST_DIR", scratch.path()).env("INSTA_WORKSPACE_ROOT", scratch.path());
        Said::by(command.env("INSTA_UPDATE", update))
    };
    assert_eq!(run("always").code, 0, "the snapshot is made");
    let path = "fixtures/case/snapshots/case.snap";
    let whole = scratch.read(path);
    assert_eq!(run("no").code, 0);
    let text = whole.trim_end();
    for end in [0, 3, text.find("verdict").expect("it has one"), text.len() / 2, text.len() - 1] {
        scratch.write(path, &text[..end]);
        let said = run("no");
        assert_ne!(said.code, 0, "cut at {end}: {}", said.out);
        assert_eq!(scratch.read(path), text[..end], "and is not repaired silently");
    }
    assert_eq!(run("always").code, 0);
    assert_eq!(scratch.read(path), whole);
}
