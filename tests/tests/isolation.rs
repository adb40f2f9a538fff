//! Untrusted cases and kernels: they access no file outside of their folder, and their texts are only displayed.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use volta_suite::{COPY_PTX, Said, Scratch};

const CASE: &str = r#"
[params]
x = { role = "in", type = "f32", shape = [32] }
y = { role = "out", type = "f32", shape = [32] }

[kernel]
source = "copy.ptx::copy"
block = 32
"#;

fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("isolation-{name}"))
}

fn command(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    command.args(arguments);
    command
}

fn volta(scratch: &Scratch, arguments: &[&str]) -> Said {
    Said::by(&mut command(scratch, arguments))
}

/// A compiler that writes down each of its arguments on a line, and makes [`COPY_PTX`].
fn nvcc(scratch: &Scratch) -> PathBuf {
    scratch.write("toolkit/out.ptx", COPY_PTX);
    let script = r#"#!/bin/sh
dir=$(dirname "$0")
if [ "$1" = --version ]; then echo "V1.0.7"; exit; fi
printf '%s\n' "$@" >> "$dir/log"
while [ "$1" != -o ]; do shift; done
cp "$dir/out.ptx" "$2"
"#;
    scratch.write("toolkit/nvcc", script);
    let path = scratch.path().join("toolkit/nvcc");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions can be set");
    path
}

/// A case about `copy.cu` beside it, with more lines for its kernel.
fn cuda_case(name: &str, more: &str) -> Scratch {
    let scratch = scratch(name);
    scratch.write("cases/case/copy.cu", "// a kernel\n");
    scratch.write("cases/case/volta.toml", &format!("{}{more}\n", CASE.replace("copy.ptx", "copy.cu")));
    scratch
}

fn compiled(scratch: &Scratch, arguments: &[&str]) -> Said {
    let nvcc = nvcc(scratch);
    Said::by(command(scratch, arguments).env("VOLTA_NVCC", nvcc))
}

/// What the compiler was given, in all runs.
fn given(scratch: &Scratch) -> String {
    fs::read_to_string(scratch.path().join("toolkit/log")).unwrap_or_default()
}

#[test]
fn sources_lie_below_the_root_and_are_files() {
    let scratch = scratch("sources");
    scratch.write("outside.ptx", COPY_PTX);
    scratch.write("cases/case/copy.ptx", COPY_PTX);
    scratch.write("cases/case/_inner/x", "");
    for (source, part) in [
        ("../../outside.ptx", "outside of the case's folder"),
        ("_inner/../../../outside.ptx", "outside of the case's folder"),
        ("/etc/passwd.ptx", "absolute"),
        ("/etc/passwd", "neither a .cu nor a .ptx file"),
        ("copy.ptx/../../../outside.ptx", "outside of the case's folder"),
        ("../../../../../../../../etc/hostname.ptx", "outside of the case's folder"),
    ] {
        scratch.write("cases/case/volta.toml", &CASE.replace("copy.ptx::copy", source));
        let said = volta(&scratch, &["check", "cases"]);
        assert!(said.code == 2 && said.all().contains(part), "{source}: {}", said.err);
    }
    // Who runs the case, and not the case, may widen the root.
    scratch.write("cases/case/volta.toml", &CASE.replace("copy.ptx", "../../outside.ptx"));
    let said = volta(&scratch, &["check", "cases", "--root", "."]);
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn pipes_and_devices_are_not_read() {
    let scratch = scratch("pipe");
    scratch.write("cases/case/volta.toml", CASE);
    let pipe = scratch.path().join("cases/case/copy.ptx");
    assert!(Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()));
    let said = volta(&scratch, &["check", "cases"]);
    assert!(said.code == 2 && said.all().contains("not a regular file"), "{}", said.err);
}

#[test]
fn links_lead_out_of_no_kind_of_file() {
    let secret = "# not yours\nsecret = 7\n";
    // The case file itself, whose wrong lines would be shown.
    let scratch = scratch("link-case");
    scratch.write("secret", secret);
    scratch.write("cases/case/copy.ptx", COPY_PTX);
    symlink(scratch.path().join("secret"), scratch.path().join("cases/case/volta.toml"))
        .expect("links can be made");
    let said = volta(&scratch, &["check", "cases"]);
    assert!(
        said.code == 2 && !said.all().contains("not yours") && said.on_one_line().contains("leads out of"),
        "{}",
        said.err
    );
    // The folder that snapshots are written to.
    fs::remove_file(scratch.path().join("cases/case/volta.toml")).expect("it is there");
    scratch.write("cases/case/volta.toml", CASE);
    fs::create_dir(scratch.path().join("elsewhere")).expect("it can be made");
    symlink(scratch.path().join("elsewhere"), scratch.path().join("cases/case/snapshots"))
        .expect("links can be made");
    let said = volta(&scratch, &["check", "cases"]);
    assert!(said.code == 2 && said.on_one_line().contains("leads out of"), "{}", said.err);
    // Checked-in PTX.
    let scratch = cuda_case("link-ptx", "");
    scratch.write("secret", "// volta-secret: not yours\n");
    symlink(scratch.path().join("secret"), scratch.path().join("cases/case/copy.sm_80.ptx"))
        .expect("links can be made");
    let said = volta(&scratch, &["check", "cases"]);
    assert!(said.code == 2 && !said.all().contains("not yours"), "{}", said.err);
    assert!(said.on_one_line().contains("copy.sm_80.ptx is outside of the case's folder"), "{}", said.err);
}

#[test]
fn refreshing_writes_no_file_that_a_link_names() {
    let scratch = cuda_case("refresh-link", "");
    scratch.write("precious", "do not touch");
    symlink(scratch.path().join("precious"), scratch.path().join("cases/case/copy.sm_80.ptx"))
        .expect("links can be made");
    let said = compiled(&scratch, &["refresh", "cases", "--force"]);
    assert_eq!(scratch.read("precious"), "do not touch");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(scratch.read("cases/case/copy.sm_80.ptx").contains(".entry copy"), "the link is replaced");
}

#[test]
fn an_architecture_is_no_path() {
    for arch in ["../../../x", "sm_80/../../../x", "sm_80 -o x", "native", "sm_80\\u001b[2J"] {
        let scratch = cuda_case("arch", &format!("arch = \"{arch}\""));
        let said = compiled(&scratch, &["refresh", "cases"]);
        assert!(said.code == 2 && said.all().contains("is not an architecture"), "{}", said.err);
        assert!(!said.all().contains('\u{1b}'), "{}", said.err);
        assert_eq!(given(&scratch), "");
    }
}

#[test]
fn flags_that_run_or_write_something_are_refused_unless_who_runs_it_trusts_them() {
    for flag in [
        "-ccbin=./evil",
        "-Xcompiler",
        "--options-file=/etc/passwd",
        "-o",
        "@/etc/passwd",
        "-I/etc",
        "-I../../..",
        "-include=/etc/passwd",
        "-DX=$(touch evil)",
        "-DX=`touch evil`",
        "-DX;touch evil",
        "-DX\\nY",
    ] {
        let scratch = cuda_case("flags", &format!("flags = [\"{flag}\"]"));
        for arguments in [["check", "cases"], ["refresh", "cases"]] {
            let said = compiled(&scratch, &arguments);
            assert!(said.code == 2 && said.all().contains("the flag `"), "{flag}: {}{}", said.out, said.err);
            assert!(said.all().contains("VOLTA_TRUST_FLAGS"), "{}", said.err);
        }
        assert_eq!(given(&scratch), "", "{flag}");
    }
    let scratch = cuda_case("trusted", "flags = [\"-Xcompiler\", \"-fPIC\"]");
    let nvcc = nvcc(&scratch);
    let said = Said::by(
        command(&scratch, &["check", "cases"]).env("VOLTA_NVCC", nvcc).env("VOLTA_TRUST_FLAGS", "1"),
    );
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(given(&scratch).contains("-Xcompiler\n-fPIC\n"));
}

#[test]
fn the_compiler_is_started_without_a_shell() {
    let folder = cuda_case("shell", "flags = [\"-DX=1\", \"--use_fast_math\", \"-I\", \"include dir\"]");
    let said = compiled(&folder, &["check", "cases"]);
    assert!(said.code == 2 && said.all().contains("characters"), "{}", said.err);
    let folder = cuda_case("words", "flags = [\"-DX=1\", \"--use_fast_math\", \"-I\", \"include\"]");
    assert_eq!(compiled(&folder, &["check", "cases"]).code, 0);
    assert!(given(&folder).contains("\n-DX=1\n--use_fast_math\n-I\ninclude\n"), "{}", given(&folder));
    // A name with a blank is one argument; one that a shell would read otherwise is not given on.
    for (name, code) in
        [("a b.cu", 0), ("$(touch evil).cu", 2), ("`touch evil`.cu", 2), ("-o.cu", 2), ("a;b.cu", 2)]
    {
        let scratch = scratch("names");
        scratch.write(&format!("cases/case/{name}"), "// a kernel\n");
        scratch.write("cases/case/volta.toml", &CASE.replace("copy.ptx", name));
        let said = compiled(&scratch, &["check", "cases"]);
        assert_eq!(said.code, code, "{name}: {}", said.err);
        assert_eq!(given(&scratch).contains(&format!("\n{name}\n")), code == 0, "{name}");
        assert!(!scratch.path().join("cases/case/evil").exists() && !scratch.path().join("evil").exists());
    }
}

#[test]
fn includes_stay_below_the_root() {
    for line in [
        "#include \"../../secret.cuh\"",
        "#include </etc/passwd>",
        "#include \"/etc/passwd\"",
        "#include <../../secret.cuh>",
        "#include \"link.cuh\"",
    ] {
        let scratch = cuda_case("includes", "");
        scratch.write("secret.cuh", "// not yours\n");
        scratch.write("cases/case/copy.cu", &format!("{line}\n"));
        symlink(scratch.path().join("secret.cuh"), scratch.path().join("cases/case/link.cuh"))
            .expect("links can be made");
        let said = compiled(&scratch, &["check", "cases"]);
        assert!(said.code == 2 && said.all().contains("it includes"), "{line}: {}", said.err);
        assert_eq!(given(&scratch), "", "{line}");
    }
}

#[test]
fn what_a_compiler_writes_is_bounded() {
    let scratch = cuda_case("endless", "");
    let path = nvcc(&scratch);
    let run = |script: &str| {
        scratch.write("toolkit/nvcc", &format!("#!/bin/sh\n{script}\n"));
        let said = Said::by(
            command(&scratch, &["check", "cases"]).env("VOLTA_NVCC", &path).env("VOLTA_NVCC_TIMEOUT", "60"),
        );
        assert_eq!(said.code, 2, "{}", said.out);
        assert!(said.out.len() < 40_000, "{} bytes", said.out.len());
        said.out
    };
    assert!(run("yes").contains("nvcc wrote more than 64 MiB and was stopped"));
    assert!(run("yes | head -c 1000000; exit 1").contains("… and more"));
    assert!(run("printf '\\033[2J\\033]0;owned\\007\\302\\233' >&2; exit 1").find('\u{1b}').is_none());
}

/// Escapes for a terminal, old and new ones, and characters that turn text around.
const EVIL: &str = "\u{1b}[2J\u{9b}2J\u{7}\u{8}\u{202e}\u{2066}\u{61c}\u{2028}\r";

fn is_plain(text: &str) {
    for c in EVIL.chars().filter(|c| !c.is_ascii() || c.is_control()) {
        assert!(!text.contains(c), "U+{:04X} in {text}", u32::from(c));
    }
}

#[test]
fn nothing_that_a_case_names_plays_with_the_terminal() {
    let escaped: String = EVIL.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let scratch = scratch("escapes");
    // In the names of folders and parameters, in texts, in comments and file names of the PTX, in names of kernels.
    let folder = format!("cases/ca{EVIL}se");
    let racy = COPY_PTX.replace("copy_racy(", "copy_racy (").replace(
        "ld.global.f32 \t%f1, [%rd4];\n\tst.global.f32 \t[%rd2], %f1;",
        &format!("ld.global.f32 \t%f1, [%rd4];\n\tst.global.f32 /* {EVIL} */ [%rd2], %f1; // {EVIL}"),
    );
    assert!(racy.contains(EVIL));
    let case = CASE.replace("::copy", "::copy_racy");
    for (name, ptx, text) in [
        ("race", racy.clone(), format!("description = \"{escaped}\"\nwhy = \"{escaped}\"\n{case}")),
        ("kernel", racy.clone(), case.replace("copy_racy", &format!("copy{escaped}"))),
        ("source", racy.clone(), case.replace("copy.ptx", &format!("copy{escaped}.ptx"))),
        ("parameter", racy.clone(), case.replace("x = {", &format!("\"x{escaped}\" = {{"))),
        ("verdict", racy.clone(), format!("expect = \"race{escaped}\"\n{case}")),
        ("argument", racy.clone(), format!("{case}args = [\"x{escaped}\", \"y\"]\n")),
        ("contains", racy.clone(), format!("{case}\n[[contains]]\ntext = \"{escaped}!\"\n")),
        ("wrong", racy.replace("ret;", &format!("frobnicate.{EVIL} %r1;")), case.clone()),
        (
            "file",
            racy.replacen(
                "ret;",
                &format!(".loc 1 1 1\nst.global.f32 [%rd4], %f1; ret;\n.file 1 \"a{EVIL}.cu\""),
                9,
            ),
            case.clone(),
        ),
    ] {
        scratch.write(&format!("{folder}{name}/copy.ptx"), &ptx);
        scratch.write(&format!("{folder}{name}/volta.toml"), &text);
    }
    for arguments in [vec!["check", "cases", "--verbose"], vec!["list", "cases"], vec!["bench", "cases"]] {
        let said = volta(&scratch, &arguments);
        is_plain(&said.out);
        is_plain(&said.err);
        assert!(said.out.contains("\\u{1b}"), "{}", said.out);
    }
    let said = volta(&scratch, &["check", "cases", "--format", "json"]);
    assert!(!said.out.contains('\u{1b}') && !said.out.contains('\u{7}'), "JSON spells them out");
}

#[test]
fn messages_and_excerpts_are_short() {
    let scratch = scratch("long");
    let long = "x".repeat(1_000_000);
    let store = format!("st.global.f32 \t[%rd2], %f1; // {long}");
    let racy = COPY_PTX.replace("st.global.f32 \t[%rd2], %f1;", &store);
    assert!(racy.len() > 1_000_000);
    for (name, ptx, text) in [
        ("excerpt", racy.clone(), CASE.replace("::copy", "::copy_racy")),
        ("name", COPY_PTX.replace("copy(", &format!("{long}(")), CASE.replace("::copy", "::copy_none")),
        ("operand", COPY_PTX.replace("ret;", &format!("mov.u32 %r1, {long};")), CASE.to_owned()),
        ("directive", COPY_PTX.replace("ret;", &format!(".{long};")), CASE.to_owned()),
        ("key", COPY_PTX.to_owned(), format!("{long} = 1\n{CASE}")),
        ("value", COPY_PTX.to_owned(), CASE.replace("\"f32\"", &format!("\"{long}\""))),
        ("source", COPY_PTX.to_owned(), CASE.replace("copy.ptx", &format!("{long}.ptx"))),
        ("why", racy, format!("why = \"{long}\"\n{}", CASE.replace("::copy", "::copy_racy"))),
    ] {
        scratch.write(&format!("cases/{name}/copy.ptx"), &ptx);
        scratch.write(&format!("cases/{name}/volta.toml"), &text);
        let said = volta(&scratch, &["check", &format!("cases/{name}")]);
        let length = said.out.len() + said.err.len();
        assert!(said.code != 0 && length < 50_000, "{name}: {} with {length} bytes", said.code);
    }
}
