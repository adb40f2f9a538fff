//! `cargo volta`: its output, and its exit status.

use std::fs;
use std::path::Path;
use std::process::Command;

use volta_suite::{COPY_PTX, Said, Scratch, commands_in, copy_case};

/// A kernel that stores what it loads, and expects to be clean.
const CLEAN: &str = r#"
[params]
x = { role = "in", type = "f32", shape = [32] }
y = { role = "out", type = "f32", shape = [32] }

[kernel]
source = "copy.ptx::copy"
block = 32
"#;

fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("cli-{name}"))
}

/// `cargo volta` in the folder, without a compiler.
fn command(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    command.args(arguments);
    command
}

fn volta(scratch: &Scratch, arguments: &[&str]) -> Said {
    Said::by(&mut command(scratch, arguments))
}

/// A folder with a clean case and a racing one, which says so if `expect` does.
fn two_cases(name: &str, expect: &str) -> Scratch {
    let scratch = scratch(name);
    for (case, kernel, top) in [("clean", "copy", ""), ("racy", "copy_racy", expect)] {
        scratch.write(&format!("cases/copy/{case}/copy.ptx"), COPY_PTX);
        let text = CLEAN.replace("::copy", &format!("::{kernel}"));
        scratch.write(&format!("cases/copy/{case}/volta.toml"), &format!("{top}{text}"));
    }
    scratch
}

#[test]
fn cargo_starts_it() {
    let scratch = two_cases("cargo", "");
    let path = scratch.path().join("bin");
    fs::create_dir(&path).expect("folders can be made");
    let program = path.join("cargo-volta");
    fs::hard_link(env!("CARGO_BIN_EXE_volta-under-test"), &program).expect("programs can be linked");
    for arguments in [&["list", "cases"][..], &["list"], &["--help"], &["explain", "--help"], &["--version"]]
    {
        let by_name = Said::by(scratch.command(&program.to_string_lossy()).args(arguments));
        let mut cargo = scratch.command(env!("CARGO"));
        let said = Said::by(cargo.env("PATH", &path).arg("volta").args(arguments));
        assert_eq!((by_name.code, by_name.all()), (said.code, said.all()), "{arguments:?}");
    }
    assert_eq!(volta(&scratch, &["--version"]).out, concat!("cargo-volta ", env!("CARGO_PKG_VERSION"), "\n"));
    assert_eq!(volta(&scratch, &["volta", "list", "cases"]).out, "copy::clean\ncopy::racy\n");
    for (arguments, usage) in [
        (&["--help"][..], "Usage: cargo volta <COMMAND>"),
        (&["list"], "Usage: cargo volta list <PATH>..."),
        (&["explain", "--help"], "Usage: cargo volta explain [NAME]"),
    ] {
        let said = volta(&scratch, arguments).all();
        assert!(said.contains(usage), "{said}");
    }
}

#[test]
fn every_command_has_a_page_and_is_completed() {
    let scratch = scratch("described");
    let commands = commands_in(&volta(&scratch, &["--help"]).out);
    assert!(commands.len() > 10, "{commands:?}");
    for command in &commands {
        let page = volta(&scratch, &["man", command]).out;
        assert!(page.contains(&format!(".TH cargo-volta-{command} 1")), "{page}");
        let help = volta(&scratch, &[command, "--help"]).out;
        for option in help.lines().filter_map(|line| line.trim_start().strip_prefix("--")) {
            let name =
                option.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or(option);
            let name = format!("\\-\\-{}", name.replace('-', "\\-"));
            assert!(page.contains(&name), "{command} has {name}, and its page does not say so");
        }
    }
    let page = volta(&scratch, &["man"]).out;
    for command in &commands {
        assert!(page.contains(&format!("cargo\\-volta\\-{command}(1)")), "{command}: {page}");
    }
    assert!(page.contains(".nf\n\\&  cargo volta check fixtures  "), "examples keep their lines: {page}");
    let said = volta(&scratch, &["man", "chek"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("there is no command `chek`\nhelp: did you mean `check`?"), "{}", said.err);

    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = volta(&scratch, &["completions", shell]).out;
        assert!(commands.iter().all(|command| script.contains(command)), "{shell}: {script}");
        scratch.write(&format!("completions.{shell}"), &script);
    }
    let complete = "source completions.bash; COMP_WORDS=(cargo-volta lin); COMP_CWORD=1; \
                    $(complete -p cargo-volta | sed 's/.*-F \\([^ ]*\\).*/\\1/') cargo-volta lin cargo-volta; \
                    echo \"${COMPREPLY[@]}\"";
    let said = Said::by(scratch.command("bash").args(["-c", complete]));
    assert_eq!((said.out.as_str(), said.err.as_str()), ("lint\n", ""));
}

#[test]
fn all_as_expected_is_0() {
    let scratch = two_cases("good", "expect = { verdict = \"race\", rule = \"Y1\" }\n");
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    assert!(said.out.contains("ok    copy::clean"), "{}", said.out);
    assert!(said.out.contains("ok    copy::racy"), "{}", said.out);
    assert!(said.out.ends_with("2 as expected\n"), "{}", said.out);
    assert!(!said.out.contains('\u{1b}'), "no colours for a pipe");
}

#[test]
fn another_verdict_is_1_and_the_message_says_which() {
    let scratch = two_cases("failed", "why = \"it never raced before\"\n");
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("FAIL  copy::racy"), "{}", said.out);
    assert!(said.out.contains("failed: expected clean, got race"), "{}", said.out);
    assert!(said.out.contains("it never raced before"), "{}", said.out);
    assert!(said.out.contains("[%rd2], %f1;"), "the PTX line is shown: {}", said.out);
    assert!(said.out.contains("1 as expected, 1 not as expected"), "{}", said.out);
}

#[test]
fn json_is_one_object_a_case() {
    let scratch = two_cases("json", "");
    scratch.write("cases/copy/wrong/volta.toml", "params = 3");
    let said = volta(&scratch, &["check", "cases", "--format", "json"]);
    assert_eq!((said.code, said.err.as_str()), (2, ""), "{}", said.out);
    let lines: Vec<serde_json::Value> =
        said.out.lines().map(|line| serde_json::from_str(line).expect("a line is an object")).collect();
    assert_eq!(lines.len(), 3);
    let [clean, racy, wrong] = &lines[..] else { panic!("there are three cases") };
    assert_eq!((&clean["name"], &clean["outcome"]), (&"copy::clean".into(), &"passed".into()));
    assert_eq!((&clean["expected"], &clean["verdict"]), (&"clean".into(), &"clean".into()));
    assert!(clean["thread_instructions"].as_u64() > Some(0), "{clean}");
    assert!(clean["peak_memory_bytes"].as_u64() > Some(0), "{clean}");
    for key in [
        "assumptions",
        "elements_compared",
        "elements_total",
        "elements_canonical",
        "barriers",
        "term_bytes",
        "solve_seconds",
    ] {
        assert!(clean.get(key).is_some(), "{key} in {clean}");
    }
    assert_eq!((&racy["outcome"], &racy["verdict"]), (&"failed".into(), &"race".into()));
    assert_eq!(racy["fault"]["rule"], "Y1");
    assert_eq!(racy["fault"]["sites"].as_array().map(Vec::len), Some(2));
    assert_eq!(wrong["outcome"], "could-not-run");
    assert!(wrong["error"].as_str().is_some_and(|error| error.contains("volta.toml:1:")), "{wrong}");
}

#[test]
fn what_is_found_behind_a_fault_is_told_with_it() {
    let scratch = two_cases("findings", "");
    let short = CLEAN.replace("::copy", "::copy_racy").replacen("[32]", "[16]", 1);
    scratch.write("cases/copy/racy/volta.toml", &short);
    let said = volta(&scratch, &["check", "cases/copy/racy"]);
    assert!(said.code == 1 && said.out.contains("\nerror[M1]: out-of-bounds in "), "{}", said.out);
    assert!(said.out.contains("\nalso[Y1]: race in "), "{}", said.out);
    let said = volta(&scratch, &["check", "cases/copy/racy", "--format", "json"]);
    let line: serde_json::Value = serde_json::from_str(&said.out).expect("a line is an object");
    assert_eq!(
        (&line["verdict"], &line["fault"]["kind"]),
        (&"out-of-bounds".into(), &"out-of-bounds".into())
    );
    assert_eq!(line["also"].as_array().map(Vec::len), Some(1), "{line}");
    assert_eq!(line["also"][0]["kind"], "race");
}

#[test]
fn cases_are_listed_and_chosen_by_name() {
    let scratch = two_cases("names", "");
    assert_eq!(volta(&scratch, &["list", "cases"]).out, "copy::clean\ncopy::racy\n");
    assert_eq!(volta(&scratch, &["check", "--list", "cases", "--filter", "rac"]).out, "copy::racy\n");
    for (arguments, names) in [
        (&["--filter", "^copy::r.*y$"][..], "copy::racy\n"),
        (&["--filter", "^racy"], ""),
        (&["--filter", "clean", "--filter", "racy"], "copy::clean\ncopy::racy\n"),
        (&["--exclude", "r[a-c]+y"], "copy::clean\n"),
        (&["--filter", "copy", "--exclude", "^copy::clean$"], "copy::racy\n"),
    ] {
        let said = volta(&scratch, &[&["list", "cases"], arguments].concat());
        assert_eq!(said.out, names, "{arguments:?}");
        assert_eq!(said.code, if names.is_empty() { 2 } else { 0 }, "{arguments:?}");
    }
    for option in ["--filter", "--exclude"] {
        let said = volta(&scratch, &["list", "cases", option, "race("]);
        let message = format!("invalid value 'race(' for '{option} <REGEX>'");
        assert!(said.code == 2 && said.err.contains(&message), "{}", said.err);
    }
    let said = volta(&scratch, &["check", "cases", "--exact", "copy::clean"]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(!said.out.contains("racy"), "{}", said.out);
    let said = volta(&scratch, &["check", "cases", "--exact", "copy::clear"]);
    assert_eq!(said.code, 2);
    assert!(said.out.contains("did you mean `copy::clean`?"), "{}", said.out);
    let said = volta(&scratch, &["check", "cases", "--filter", "absent"]);
    assert_eq!(said.code, 2);
    assert!(said.out.contains("none of 2 cases matches"), "{}", said.out);
}

#[test]
fn one_case_may_be_named_by_its_folder_or_file() {
    let scratch = two_cases("one", "");
    for path in ["cases/copy/clean", "cases/copy/clean/volta.toml", "./cases/copy/../copy/clean"] {
        let said = volta(&scratch, &["check", path]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("copy::clean"), "{}", said.out);
        assert!(said.out.contains("has no race"), "one case alone is told in full: {}", said.out);
    }
}

#[test]
fn the_smallest_member_of_a_family_that_fails_is_named() {
    let scratch = scratch("family");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/family");
    let read = |name: &str| fs::read_to_string(fixtures.join(name)).expect("fixtures can be read");
    for name in ["rows.cu", "rows.sm_80.ptx"] {
        scratch.write(&format!("cases/rows/{name}"), &read(name));
    }
    let text = read("sums/volta.toml").replace(", \"f16\"]", "]");
    scratch.write("cases/rows/right/volta.toml", &text);
    scratch.write("cases/rows/short/volta.toml", &text.replace("sums_{dtype}", "sums_short_{dtype}"));
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 1, "{}", said.out);
    let expected =
        "rows::right: as expected for n = 1, 31 to 33, 95 to 97, 191 to 193; dtype = f32 (10 members)";
    assert_eq!(said.out.lines().filter(|line| *line == expected).count(), 1, "{}", said.out);
    let expected = "rows::short: 2 of 10 members are not as expected; the smallest is n=97,dtype=f32";
    assert_eq!(said.out.lines().filter(|line| *line == expected).count(), 1, "{}", said.out);
    let said = volta(&scratch, &["list", "cases/rows/short"]);
    let listed: Vec<&str> = said.out.lines().collect();
    assert_eq!(listed.len(), 10, "{}", said.out);
    assert!(
        listed[6].contains("rows::short::n=97,dtype=f32"),
        "members are in the order of the file: {}",
        said.out
    );
    let said = volta(&scratch, &["check", "cases", "--exact", "rows::short::n=97,dtype=f32"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("y[0]"), "one member alone is told in full: {}", said.out);
}

/// Checks one case whose `volta.toml` is `text`; it cannot run, and standard error says so.
fn refused(name: &str, text: &str) -> String {
    let scratch = scratch(name);
    scratch.write("cases/copy/case/copy.ptx", COPY_PTX);
    scratch.write("cases/copy/case/volta.toml", text);
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.out.contains("ERROR copy::case"), "{}", said.out);
    said.out
}

#[test]
fn an_unknown_key_is_shown_at_its_place_with_the_nearest() {
    let error = refused("unknown-key", &CLEAN.replace("block", "blok"));
    assert!(error.contains("unknown key `blok` in [kernel]"), "{error}");
    assert!(error.contains("volta.toml:8:1"), "{error}");
    assert!(error.contains("did you mean `block`?"), "{error}");
}

#[test]
fn a_missing_file_is_named_with_the_nearest() {
    let error = refused("missing-file", &CLEAN.replace("copy.ptx", "coppy.ptx"));
    assert!(error.contains("there is no file"), "{error}");
    assert!(error.contains("did you mean `copy.ptx`?"), "{error}");
}

#[test]
fn an_unknown_kernel_lists_those_there_are() {
    let error = refused("unknown-kernel", &CLEAN.replace("::copy", "::coppy"));
    assert!(error.contains("coppy"), "{error}");
    for kernel in ["copy", "copy_late", "copy_doubled", "copy_racy"] {
        assert!(error.contains(kernel), "{error}");
    }
}

#[test]
fn wrong_arguments_show_the_signature() {
    let error = refused("arguments", &CLEAN.replace("block = 32", "block = 32\nargs = [\"x\"]"));
    assert!(error.contains("copy"), "{error}");
    assert!(error.contains("u64") || error.contains("pointer"), "the signature is shown: {error}");
}

#[test]
fn paths_stay_within_the_root() {
    for path in ["../../../outside.ptx", "/etc/passwd.ptx"] {
        let scratch = scratch("outside");
        scratch.write("outside.ptx", COPY_PTX);
        scratch.write("cases/copy/case/volta.toml", &CLEAN.replace("copy.ptx::copy", path));
        let said = volta(&scratch, &["check", "cases"]);
        assert_eq!(said.code, 2, "{}", said.out);
        assert!(said.out.contains("outside") || said.out.contains("absolute"), "{}", said.out);
    }
}

#[cfg(unix)]
#[test]
fn links_stay_within_the_root() {
    let scratch = scratch("link");
    scratch.write("outside.ptx", COPY_PTX);
    scratch.write("cases/copy/case/volta.toml", CLEAN);
    let link = scratch.path().join("cases/copy/case/copy.ptx");
    std::os::unix::fs::symlink(scratch.path().join("outside.ptx"), link).expect("links can be made");
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.out.contains("outside of the case's folder"), "{}", said.out);
}

#[test]
fn nothing_to_run_is_an_error() {
    let scratch = scratch("nothing");
    fs::create_dir_all(scratch.path().join("cases/empty")).expect("folders can be made");
    for (path, message) in [("cases", "no case"), ("absent", "there is no folder absent")] {
        let said = volta(&scratch, &["check", path]);
        assert_eq!(said.code, 2, "{}", said.out);
        assert!(said.out.contains(message), "{}", said.out);
    }
    let said = volta(&scratch, &["check"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("<PATH>"), "{}", said.err);
}

#[test]
fn a_family_without_a_case_does_not_hide_among_others() {
    for (file, text) in [("snapshots/forgotten.snap", ""), ("Volta.toml", CLEAN), ("volta.tml", CLEAN)] {
        let scratch = two_cases("hidden", "expect = \"race\"\n");
        scratch.write(&format!("cases/forgotten/{file}"), text);
        let said = volta(&scratch, &["check", "cases"]);
        assert_eq!(said.code, 2, "{file}: {}", said.out);
        assert!(said.out.contains("there is no case in"), "{file}: {}", said.out);
    }
}

/// Cases may lie anywhere in a repository, beside folders of other things.
#[test]
fn folders_of_other_things_are_passed_over() {
    let scratch = two_cases("ordinary", "expect = \"race\"\n");
    for file in
        ["src/kernel.cu", "tests/main.rs", "build/a/b/k.o", "data/x.bin", "node_modules/a/package.json"]
    {
        scratch.write(&format!("cases/{file}"), "");
    }
    fs::create_dir_all(scratch.path().join("cases/empty")).expect("folders can be made");
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(said.out.contains("2 as expected") && !said.out.contains("no case"), "{}", said.out);
}

/// What the README shows of the demo is what the program prints.
#[test]
fn the_readme_shows_what_is_printed() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let readme = fs::read_to_string(format!("{root}/README.md")).expect("it is there");
    let (_, shown) = readme.split_once("`make demo` ends with").expect("it shows the demo");
    let shown = shown.split("```").nth(1).expect("in a block");
    let (_, shown) = shown.split_once("equivalent: ").expect("with the verdict");
    let scratch = two_cases("readme", "expect = \"race\"\n");
    let mut command = command(&scratch, &["check", "fixtures/softmax/online_128"]);
    let said = Said::by(command.current_dir(root).env("VOLTA_NVCC", "off"));
    assert_eq!(said.code, 0, "{}", said.all());
    assert!(said.out.contains(shown.trim_end()), "{}\n{shown}", said.out);
}

#[test]
fn explanations_use_the_words_of_the_formats() {
    let scratch = two_cases("words", "expect = \"race\"\n");
    let said = volta(&scratch, &["explain", "could-not-run"]);
    assert!(said.code == 0 && said.out.contains("`input-error`"), "{}", said.all());
    scratch.write("cases/copy/absent/volta.toml", &CLEAN.replace("copy.ptx", "absent.ptx"));
    let said = volta(&scratch, &["check", "cases/copy/absent", "--format", "json"]);
    let line: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!((&line["outcome"], &line["verdict"]), (&"could-not-run".into(), &"input-error".into()));
}

#[test]
fn slow_cases_wait_to_be_asked_for() {
    let scratch = two_cases("slow", "expect = \"race\"\n");
    let slow = format!("{CLEAN}\n[options]\nslow = true\n");
    scratch.write("cases/copy/clean/volta.toml", &slow);
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(said.out.contains("slow  copy::clean") && said.out.contains("1 slow, not run"), "{}", said.out);
    for arguments in [vec!["check", "cases", "--slow"], vec!["check", "cases/copy/clean"]] {
        let said = volta(&scratch, &arguments);
        assert!(said.out.contains("ok    copy::clean"), "{}", said.out);
    }
    let said = Said::by(command(&scratch, &["check", "cases"]).env("VOLTA_SLOW", "1"));
    assert!(said.out.contains("ok    copy::clean"), "{}", said.out);
}

#[test]
fn names_cannot_play_with_the_terminal() {
    let scratch = scratch("escapes");
    let description = "x\\u001b[31m";
    scratch.write("cases/copy/case/volta.toml", &format!("\"{description}\" = 1\n{CLEAN}"));
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 2);
    assert!(!said.out.contains('\u{1b}'), "{}", said.out);
}

#[test]
fn rules_and_verdicts_are_explained() {
    let scratch = scratch("explain");
    let said = volta(&scratch, &["explain", "y1"]);
    assert_eq!(said.code, 0);
    assert!(said.out.starts_with("Y1: "), "{}", said.out);
    assert!(volta(&scratch, &["explain"]).out.contains("barrier-divergence"));
    let said = volta(&scratch, &["explain", "deadlok"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("did you mean `deadlock`?"), "{}", said.err);
}

#[test]
fn a_difference_comes_with_a_witness() {
    let scratch = scratch("witness");
    scratch.write("cases/copy/case/copy.ptx", COPY_PTX);
    scratch.write("cases/copy/case/volta.toml", &copy_case("expect = \"different\"", "copy_doubled"));
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(said.out.contains("different values for y[0]"), "{}", said.out);
    assert!(said.out.contains("x[0] = "), "{}", said.out);
    assert!(said.out.contains("elements brought to canonical form: 0"), "{}", said.out);
    let said = volta(&scratch, &["check", "cases", "--format", "json"]);
    let line: serde_json::Value = serde_json::from_str(&said.out).expect("a line is an object");
    assert_eq!((&line["witness"]["tensor"], &line["elements_canonical"]), (&"y".into(), &0.into()));
    assert_ne!(line["witness"]["reference"], line["witness"]["opt"]);
}

/// The path of the snapshot of the case `cases/copy/case`.
const SNAPSHOT: &str = "cases/copy/case/snapshots/case.snap";

/// A folder with a pair of kernels that compute the same.
fn pair(name: &str) -> Scratch {
    let scratch = scratch(name);
    scratch.write("cases/copy/case/copy.ptx", COPY_PTX);
    scratch.write("cases/copy/case/volta.toml", &copy_case("", "copy_late"));
    scratch
}

#[test]
fn snapshots_are_made_by_those_who_want_them() {
    let scratch = pair("accept");
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(!scratch.path().join("cases/copy/case/snapshots").exists(), "nobody asked for one");
    let said = volta(&scratch, &["check", "cases", "--accept"]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(said.out.contains("snapshot: cases/copy/case/snapshots/case.snap is accepted"), "{}", said.out);
    assert!(said.out.ends_with("1 as expected, 1 snapshot accepted\n"), "{}", said.out);
    let text = scratch.read(SNAPSHOT);
    assert!(text.starts_with("---\nsource: "), "that is how `cargo insta` knows a snapshot: {text}");
    assert!(text.contains("volta.toml\"\ndescription: \"copy::case\"\n---\nverdict: equivalent\n"), "{text}");
    assert!(text.contains("\ndigest of all forms: ") && text.contains("\nformula:\ny["), "{text}");
    let said = volta(&scratch, &["check", "cases", "--format", "json"]);
    assert!(said.code == 0 && said.out.contains("\"snapshot\":\"same\""), "{}", said.out);
    // What is not as expected is not accepted.
    scratch.write("cases/copy/case/volta.toml", &copy_case("", "copy_doubled"));
    let said = volta(&scratch, &["check", "cases", "--accept"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert_eq!(scratch.read(SNAPSHOT), text);
}

#[test]
fn a_snapshot_that_does_not_match_fails_and_waits() {
    let scratch = pair("pending");
    assert_eq!(volta(&scratch, &["check", "cases", "--accept"]).code, 0);
    let accepted = scratch.read(SNAPSHOT);
    let (before, after) = accepted.split_once("forms: ").expect("there is a digest");
    let other = format!("{before}forms: 0000{}", &after[4..]);
    scratch.write(SNAPSHOT, &other);
    let headline = "the snapshot does not match: forms changed, but none of those shown";
    for (ci, waits) in [("true", false), ("", true)] {
        let said = Said::by(command(&scratch, &["check", "cases"]).env("CI", ci));
        assert_eq!(said.code, 1, "{}", said.out);
        assert!(said.out.contains(&format!("failed: {headline}")), "{}", said.out);
        assert!(said.out.contains("    - digest of all forms: 0000"), "{}", said.out);
        assert!(
            said.out.contains("help: if that is intended, `cargo volta check cases/copy/case --accept`"),
            "{}",
            said.out
        );
        assert_eq!(said.out.contains("CI says that nothing is written"), !waits, "{}", said.out);
        let pending = scratch.path().join(SNAPSHOT).with_extension("snap.new");
        assert_eq!(pending.exists(), waits);
    }
    assert_eq!(scratch.read(&format!("{SNAPSHOT}.new")), accepted, "as accepting would write it");
    let said = volta(&scratch, &["check", "cases", "--format", "json"]);
    let line: serde_json::Value = serde_json::from_str(&said.out).expect("a line is an object");
    assert_eq!((&line["outcome"], &line["verdict"]), (&"failed".into(), &"equivalent".into()));
    assert_eq!((&line["snapshot"], &line["failures"][0]), (&"changed".into(), &headline.into()));
    let said = volta(&scratch, &["check", "cases", "--accept"]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert_eq!(scratch.read(SNAPSHOT), accepted);
    assert!(!scratch.path().join(SNAPSHOT).with_extension("snap.new").exists(), "nothing waits any more");
}

#[test]
fn snapshots_of_the_program_and_of_tests_are_the_same() {
    let scratch = pair("same");
    assert_eq!(volta(&scratch, &["check", "cases", "--accept"]).code, 0);
    let accepted = scratch.read(SNAPSHOT);
    fs::remove_file(scratch.path().join(SNAPSHOT)).expect("it is there");
    fs::rename(scratch.path().join("cases"), scratch.path().join("fixtures"))
        .expect("folders can be renamed");
    let mut runner = scratch.command(env!("CARGO_BIN_EXE_runner-under-test"));
    let said = Said::by(runner.env("CARGO_MANIFEST_DIR", scratch.path()).env("INSTA_UPDATE", "always"));
    assert_eq!(said.code, 0, "{}", said.out);
    assert_eq!(
        scratch.read(&SNAPSHOT.replace("cases", "fixtures")),
        accepted.replace("cases/copy", "fixtures/copy")
    );
}

#[test]
fn new_snapshots_may_be_asked_for_by_insta() {
    let scratch = pair("new");
    let said = Said::by(command(&scratch, &["check", "cases"]).env("INSTA_UPDATE", "new"));
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("failed: there is no snapshot yet to compare with"), "{}", said.out);
    assert!(scratch.path().join(format!("{SNAPSHOT}.new")).is_file());
    let said = Said::by(command(&scratch, &["check", "cases"]).env("INSTA_UPDATE", "never"));
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.contains("INSTA_UPDATE is `never`; it takes auto, "), "{}", said.err);
}

/// Cases of every outcome: as expected, a race, a difference, a wrong key, a missing file, a slow one.
fn all_outcomes(name: &str) -> Scratch {
    let scratch = two_cases(name, "");
    for case in ["different", "absent", "slow"] {
        scratch.write(&format!("cases/copy/{case}/copy.ptx"), COPY_PTX);
    }
    scratch.write("cases/copy/different/volta.toml", &copy_case("", "copy_doubled"));
    scratch.write("cases/copy/absent/volta.toml", &CLEAN.replace("copy.ptx", "coppy.ptx"));
    scratch.write("cases/copy/slow/volta.toml", &format!("{CLEAN}[options]\nslow = true\n"));
    scratch.write("cases/copy/wrong, odd/volta.toml", &CLEAN.replace("block", "blok"));
    scratch
}

#[test]
fn json_is_as_its_schema_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/check.schema.json");
    let schema: serde_json::Value = {
        let text = fs::read_to_string(path).expect("the schema is there");
        serde_json::from_str(&text).expect("a schema is JSON")
    };
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("line.json", schema).expect("it can be added");
    let mut schemas = boon::Schemas::new();
    let schema = compiler.compile("line.json", &mut schemas).expect("it is a schema");
    let scratch = all_outcomes("schema");
    let said = volta(&scratch, &["check", "cases", "--format", "json"]);
    let lines: Vec<serde_json::Value> =
        said.out.lines().map(|line| serde_json::from_str(line).expect("a line is an object")).collect();
    let outcomes: Vec<_> = lines.iter().map(|line| line["outcome"].as_str().unwrap_or_default()).collect();
    assert_eq!(
        outcomes,
        ["could-not-run", "passed", "failed", "failed", "skipped", "could-not-run"],
        "{}",
        said.out
    );
    for line in &lines {
        if let Err(error) = schemas.validate(line, schema) {
            panic!("{line}\n{error}");
        }
    }
    // What the schema does not know is refused, and so is what lacks something.
    let mut line = lines[1].clone();
    line["more"] = 1.into();
    assert!(schemas.validate(&line, schema).is_err());
    let mut line = lines[1].clone();
    line.as_object_mut().expect("it is an object").remove("verdict");
    assert!(schemas.validate(&line, schema).is_err());
    assert_eq!(lines[3]["path"], "cases/copy/racy/volta.toml");
    let at = &lines[3]["fault"]["sites"][0]["at"];
    assert_eq!(at["path"], "cases/copy/racy/copy.ptx");
    let line = COPY_PTX.lines().nth(at["line"].as_u64().expect("it is a number") as usize - 1);
    assert!(line.is_some_and(|line| line.contains("st.global")), "{line:?}");
}

#[test]
fn annotations_stand_at_what_is_wrong() {
    let scratch = all_outcomes("github");
    let said = volta(&scratch, &["check", "cases", "--format", "github"]);
    assert_eq!((said.code, said.err.as_str()), (2, ""));
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.len(), 6, "{}", said.out);
    let begins = [
        "::error file=cases/copy/absent/volta.toml,line=1,col=1,title=copy%3A%3Aabsent%3A input-error::there is no file",
        "::error file=cases/copy/different/volta.toml,line=1,col=1,title=copy%3A%3Adifferent%3A different::expected equivalent",
        "::error file=cases/copy/racy/copy.ptx,line=",
        "::error file=cases/copy/wrong%2C odd/volta.toml,line=6,col=2,title=copy%3A%3Awrong%2C odd%3A input-error::a kernel needs a block%0A",
        "::error file=cases/copy/wrong%2C odd/volta.toml,line=8,col=1,title=copy%3A%3Awrong%2C odd%3A input-error::unknown key `blok`",
        "1 as expected, 2 not as expected, 2 could not run, 1 slow, not run",
    ];
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(begin), "{line}\n{begin}");
    }
    assert!(
        lines[2].contains("title=copy%3A%3Aracy%3A Y1::expected clean, got race%0Arace in "),
        "{}",
        lines[2]
    );
    assert!(lines[2].contains("%0A(1) thread ("), "both sites are told: {}", lines[2]);
}

#[test]
fn sarif_is_a_document_of_what_is_wrong() {
    let scratch = all_outcomes("sarif");
    let said = volta(&scratch, &["check", "cases", "--format", "sarif"]);
    assert_eq!((said.code, said.err.as_str()), (2, ""));
    let document: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let results = run["results"].as_array().expect("there are results");
    let rules: Vec<_> = results.iter().map(|result| result["ruleId"].as_str().unwrap_or_default()).collect();
    assert_eq!(rules, ["input-error", "different", "Y1", "input-error", "input-error"]);
    let known = run["tool"]["driver"]["rules"].as_array().expect("there are rules");
    assert!(rules.iter().all(|id| known.iter().any(|rule| rule["id"] == *id)), "{known:?}");
    let place = |result: &serde_json::Value| result["locations"][0]["physicalLocation"].clone();
    assert_eq!(place(&results[2])["artifactLocation"]["uri"], "cases/copy/racy/copy.ptx");
    assert_eq!(place(&results[4])["artifactLocation"]["uri"], "cases/copy/wrong%2C%20odd/volta.toml");
    assert_eq!(place(&results[4])["region"]["startLine"], 8);
    assert_eq!(results[2]["relatedLocations"].as_array().map(Vec::len), Some(2));
    let said = volta(&scratch, &["check", "cases/copy/clean", "--format", "sarif"]);
    let document: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!((said.code, &document["runs"][0]["results"]), (0, &serde_json::json!([])));
}

#[test]
fn junit_has_all_cases() {
    let scratch = all_outcomes("junit");
    let said = volta(&scratch, &["check", "cases", "--format", "junit"]);
    assert_eq!((said.code, said.err.as_str()), (2, ""));
    let begin = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                 <testsuites name=\"volta\" tests=\"6\" failures=\"2\" errors=\"2\" skipped=\"1\" time=\"";
    assert!(said.out.starts_with(begin), "{}", said.out);
    for part in [
        "<testcase classname=\"copy\" name=\"clean\" time=\"",
        "<skipped message=\"slow: --slow runs it\"/>",
        "<failure message=\"expected clean, got race\" type=\"race\">",
        "<error message=\"there is no file ",
        "did you mean `block`?",
        "</testsuite>\n</testsuites>\n",
    ] {
        assert!(said.out.contains(part), "{part}\n{}", said.out);
    }
    assert_eq!(said.out.matches("<testcase ").count(), 6, "{}", said.out);
    assert!(!said.out.contains(" < ") && !said.out.contains('\u{1b}'), "{}", said.out);
}

/// `cargo volta` with a cache, in the folder.
fn cached(scratch: &Scratch, arguments: &[&str]) -> Said {
    Said::by(command(scratch, arguments).env("VOLTA_CACHE", "on"))
}

/// A line of JSON without what two runs differ in.
fn without_times(line: &str) -> serde_json::Value {
    let mut line: serde_json::Value = serde_json::from_str(line).expect("a line is an object");
    let object = line.as_object_mut().expect("a line is an object");
    object.retain(|key, _| !key.ends_with("seconds") && key != "peak_memory_bytes" && key != "cached");
    line
}

/// A text without times, and without what says that it is cached.
fn without_marks(text: &str) -> String {
    let is_time = |word: &str| word.contains('.') && word.parse::<f64>().is_ok();
    let line = |line: &str| {
        let words = line.split_whitespace().filter(|word| !is_time(word) && !["cached", "-"].contains(word));
        words.collect::<Vec<_>>().join(" ")
    };
    let lines = text.lines().map(|text| line(text.split(", 2 cached").next().unwrap_or(text)));
    lines.filter(|line| !line.starts_with("cached:")).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_nothing_changed_of_is_not_verified_again() {
    let scratch = two_cases("cached", "");
    scratch.write("cases/copy/different/copy.ptx", COPY_PTX);
    scratch.write("cases/copy/different/volta.toml", &copy_case("expect = \"different\"", "copy_doubled"));
    for arguments in [&["check", "cases", "--verbose"][..], &["check", "cases", "--format", "json"]] {
        let _ = fs::remove_dir_all(scratch.path().join("target"));
        let first = cached(&scratch, arguments);
        assert!(!first.out.contains(" cached") && !first.out.contains("\"cached\":true"), "{}", first.out);
        let second = cached(&scratch, arguments);
        assert_eq!((second.code, &second.err), (first.code, &first.err));
        if arguments.contains(&"json") {
            let lines = |said: &Said| said.out.lines().map(without_times).collect::<Vec<_>>();
            assert_eq!(lines(&second), lines(&first));
            assert_eq!(second.out.matches("\"cached\":true").count(), 3, "{}", second.out);
        } else {
            assert!(second.out.ends_with("\n2 as expected, 1 not as expected, 3 cached\n"), "{}", second.out);
            let texts = [&first, &second]
                .map(|said| without_marks(said.out.trim_end().trim_end_matches(", 3 cached")));
            assert_eq!(texts[1], texts[0]);
        }
    }
}

#[test]
fn what_a_case_expects_is_no_part_of_what_is_cached() {
    let scratch = two_cases("cached-expect", "expect = \"race\"\n");
    assert_eq!(cached(&scratch, &["check", "cases"]).code, 0);
    let text = scratch.read("cases/copy/racy/volta.toml").replace("\"race\"", "\"deadlock\"");
    scratch.write("cases/copy/racy/volta.toml", &text);
    let said = cached(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("failed: expected deadlock, got race"), "{}", said.out);
    assert!(said.out.ends_with("1 as expected, 1 not as expected, 2 cached\n"), "{}", said.out);
}

#[test]
fn whatever_differs_in_a_byte_is_verified() {
    let scratch = two_cases("cached-byte", "expect = \"race\"\n");
    let cached_count = |arguments: &[&str]| {
        let said = cached(&scratch, arguments);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        said.out.lines().filter(|line| line.starts_with("ok ") && line.contains(" cached ")).count()
    };
    let all = ["check", "cases"];
    assert_eq!([cached_count(&all), cached_count(&all)], [0, 2]);
    scratch.write("cases/copy/racy/copy.ptx", &format!("{COPY_PTX}// a comment\n"));
    assert_eq!([cached_count(&all), cached_count(&all)], [1, 2]);
    let text = scratch.read("cases/copy/clean/volta.toml");
    scratch.write("cases/copy/clean/volta.toml", &text.replacen("[32]", "[33]", 1));
    assert_eq!([cached_count(&all), cached_count(&all)], [1, 2]);
    scratch.write("cases/copy/clean/volta.toml", &format!("{text}[options]\nmax_instructions = 1000\n"));
    assert_eq!([cached_count(&all), cached_count(&all)], [1, 2]);
    // What it says of the case is no business of the verifier.
    scratch.write("cases/copy/clean/volta.toml", &format!("description = \"\"\n{text}"));
    assert_eq!(cached_count(&all), 2);
    for other in [&["check", "cases", "--recheck"][..], &["check", "cases", "--timeout", "2m"]] {
        assert_eq!([cached_count(other), cached_count(other)], [0, 2], "{other:?}");
    }
    for uncached in [&["check", "cases", "--no-cache"][..], &["check", "cases", "--repeat", "2"]] {
        assert_eq!([cached_count(uncached), cached_count(uncached)], [0, 0], "{uncached:?}");
    }
    let said = Said::by(command(&scratch, &all).env("VOLTA_CACHE", "off"));
    assert!(said.code == 0 && !said.out.contains("cached"), "{}", said.out);
    let said = Said::by(command(&scratch, &all).env("VOLTA_CACHE", "no"));
    assert!(said.code == 2 && said.err.contains("VOLTA_CACHE is `no`; it takes on and off"), "{}", said.err);
    // Half a file is as good as none.
    for entry in fs::read_dir(scratch.path().join("target/volta/verdicts")).expect("there are entries") {
        let path = entry.expect("it is there").path();
        let text = fs::read_to_string(&path).expect("an entry is a text");
        fs::write(&path, &text[..text.len() / 2]).expect("it can be written");
    }
    assert_eq!([cached_count(&all), cached_count(&all)], [0, 2]);
}

#[cfg(target_os = "linux")]
#[test]
fn another_program_says_for_itself() {
    let scratch = two_cases("cached-program", "expect = \"race\"\n");
    let copy = scratch.path().join("volta-copy");
    fs::copy(env!("CARGO_BIN_EXE_volta-under-test"), &copy).expect("programs can be copied");
    let run = |program: &Path| {
        let mut command = scratch.command(&program.to_string_lossy());
        Said::by(command.args(["check", "cases"]).env("VOLTA_CACHE", "on")).out
    };
    assert!(run(Path::new(env!("CARGO_BIN_EXE_volta-under-test"))).ends_with("2 as expected\n"));
    assert!(run(&copy).ends_with("2 as expected, 2 cached\n"), "it is the same program");
    let mut bytes = fs::read(&copy).expect("it can be read");
    bytes.push(0);
    fs::write(&copy, bytes).expect("it can be written");
    assert!(run(&copy).ends_with("2 as expected\n"), "another byte is another program");
}

#[test]
fn the_first_failure_may_end_a_run() {
    let scratch = two_cases("fail-fast", "expect = \"race\"\n");
    scratch.write("cases/copy/a_wrong/copy.ptx", COPY_PTX);
    scratch.write("cases/copy/a_wrong/volta.toml", &copy_case("", "copy_doubled"));
    let said = volta(&scratch, &["check", "cases", "--fail-fast"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("FAIL  copy::a_wrong") && !said.out.contains("copy::clean"), "{}", said.out);
    let end = "\n0 as expected, 1 not as expected, 2 not run after the first failure\n";
    assert!(said.out.ends_with(end), "{}", said.out);
    let said = volta(&scratch, &["check", "cases", "--fail-fast", "--format", "json"]);
    assert_eq!((said.code, said.out.lines().count()), (1, 1), "{}", said.out);
    scratch.write("cases/copy/a_wrong/volta.toml", &copy_case("expect = \"different\"", "copy_doubled"));
    let said = volta(&scratch, &["check", "cases", "--fail-fast"]);
    assert!(said.code == 0 && said.out.ends_with("\n3 as expected\n"), "{}", said.out);
}

#[test]
fn the_slowest_cases_are_named_at_the_end() {
    let scratch = two_cases("slowest", "expect = \"race\"\n");
    let slowest = |arguments: &[&str]| {
        let said = volta(&scratch, &[&["check", "cases"], arguments].concat());
        let (_, list) = said.out.split_once("\nslowest\n").unwrap_or_default();
        list.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(slowest(&[]), [""; 0], "none took long");
    assert_eq!(slowest(&["--slowest", "1"]).len(), 1);
    let both = slowest(&["--slowest", "9"]);
    assert!(both.len() == 2 && both.iter().all(|line| line.contains(" s  copy::")), "{both:?}");
}

/// A compiler that writes what lies beside it, and counts how often it is started.
#[cfg(unix)]
fn fake_nvcc(scratch: &Scratch, name: &str, version: &str, ptx: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let dir = format!("toolkit-{name}");
    scratch.write(&format!("{dir}/out.ptx"), ptx);
    let script = format!(
        r#"#!/bin/sh
dir=$(dirname "$0")
if [ "$1" = --version ]; then echo "release 1.0, V{version}"; exit; fi
echo "$@" >> "$dir/log"
while [ "$1" != -o ]; do shift; done
cp "$dir/out.ptx" "$2"
"#
    );
    scratch.write(&format!("{dir}/nvcc"), &script);
    let path = scratch.path().join(&dir).join("nvcc");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions can be set");
    path
}

/// A case about `copy.cu`, whose compiler is made up.
#[cfg(unix)]
fn cuda_case(name: &str) -> Scratch {
    let scratch = scratch(name);
    scratch.write("cases/copy/copy.cu", "// version 1\n#include \"helper.cuh\"\n#include <cuda_fp16.h>\n");
    scratch.write("cases/copy/helper.cuh", "// a header\n");
    scratch.write("cases/copy/case/volta.toml", &CLEAN.replace("copy.ptx", "../copy.cu"));
    scratch
}

#[cfg(unix)]
fn with_nvcc(scratch: &Scratch, nvcc: &Path, arguments: &[&str]) -> Said {
    Said::by(command(scratch, arguments).env("VOLTA_NVCC", nvcc))
}

#[cfg(unix)]
#[test]
fn without_compiler_and_ptx_a_case_cannot_run() {
    let scratch = cuda_case("no-ptx");
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(
        said.out.contains("there is no nvcc here, and no ../copy.sm_80.ptx beside ../copy.cu"),
        "{}",
        said.out
    );
    assert!(said.out.contains("`cargo volta refresh cases/copy/case`"), "{}", said.out);
    let said = with_nvcc(&scratch, Path::new("/absent/nvcc"), &["check", "cases"]);
    assert_eq!(said.code, 2);
    assert!(said.out.contains("VOLTA_NVCC is /absent/nvcc, which is not a file"), "{}", said.out);
}

#[cfg(unix)]
#[test]
fn a_source_is_compiled_once() {
    let scratch = cuda_case("once");
    let nvcc = fake_nvcc(&scratch, "a", "1.0.7", COPY_PTX);
    for _ in 0..2 {
        let said = with_nvcc(&scratch, &nvcc, &["check", "cases"]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains("is not checked in"), "{}", said.out);
    }
    let log = scratch.read("toolkit-a/log");
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.contains("-lineinfo -arch=sm_80") && log.contains("-ccbin"), "{log}");
    scratch.write("cases/copy/helper.cuh", "// another header\n");
    with_nvcc(&scratch, &nvcc, &["check", "cases"]);
    assert_eq!(scratch.read("toolkit-a/log").lines().count(), 2, "a changed header compiles again");
}

#[cfg(unix)]
#[test]
fn stale_ptx_fails_with_the_command_that_refreshes_it() {
    let scratch = cuda_case("stale");
    let nvcc = fake_nvcc(&scratch, "a", "1.0.7", COPY_PTX);
    let said = with_nvcc(&scratch, &nvcc, &["refresh", "cases/copy"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with("written"), "{}", said.out);
    let header: String = scratch.read("cases/copy/copy.sm_80.ptx").lines().take(4).collect();
    assert!(header.contains("copy.cu") && header.contains("helper.cuh"), "{header}");
    assert!(header.contains("nvcc 1.0.7") && !header.contains("cuda_fp16"), "{header}");
    let said = volta(&scratch, &["check", "cases"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("copy.sm_80.ptx as checked in, made by nvcc 1.0.7"), "{}", said.out);
    scratch.write("cases/copy/helper.cuh", "// changed\n");
    for said in [volta(&scratch, &["check", "cases"]), with_nvcc(&scratch, &nvcc, &["check", "cases"])] {
        assert_eq!(said.code, 2, "{}", said.out);
        assert!(said.out.contains("copy.sm_80.ptx is stale: helper.cuh has changed"), "{}", said.out);
        assert!(said.out.contains("run `cargo volta refresh cases/copy/case`"), "{}", said.out);
    }
    assert_eq!(with_nvcc(&scratch, &nvcc, &["refresh", "cases/copy/case"]).code, 0);
    assert_eq!(volta(&scratch, &["check", "cases"]).code, 0);
    let said = with_nvcc(&scratch, &nvcc, &["refresh", "cases/copy/case"]);
    assert!(said.out.starts_with("up to date"), "{}", said.out);
}

#[cfg(unix)]
#[test]
fn checked_in_ptx_is_compared_with_what_sources_compile_to() {
    let scratch = cuda_case("compared");
    let nvcc = fake_nvcc(&scratch, "a", "1.0.7", COPY_PTX);
    let check = ["refresh", "--check", "cases/copy"];
    let said = with_nvcc(&scratch, &nvcc, &check);
    assert_eq!((said.code, said.out.starts_with("stale")), (1, true), "{}", said.out);
    assert!(!scratch.path().join("cases/copy/copy.sm_80.ptx").exists(), "it writes nothing");
    assert_eq!(with_nvcc(&scratch, &nvcc, &["refresh", "cases/copy"]).code, 0);
    let said = with_nvcc(&scratch, &nvcc, &check);
    assert_eq!((said.code, said.out.starts_with("up to date")), (0, true), "{}", said.out);
    // Names and debug information with a hash of the path, and code that is another.
    let written = scratch.read("cases/copy/copy.sm_80.ptx");
    let own = format!("{written}\n// _ZN36_INTERNAL_8678b116_6_copy\n.b8 1,2\n");
    scratch.write("cases/copy/copy.sm_80.ptx", &own);
    let moved = format!("{COPY_PTX}\n// _ZN36_INTERNAL_dd830860_6_copy\n.b8 3,4\n");
    let there = fake_nvcc(&scratch, "b", "1.0.7", &moved);
    assert_eq!(with_nvcc(&scratch, &there, &check).code, 0);
    let other = fake_nvcc(&scratch, "c", "1.0.7", &moved.replace("_6_copy", "_6_code"));
    let said = with_nvcc(&scratch, &other, &check);
    assert_eq!((said.code, said.out.starts_with("stale")), (1, true), "{}", said.out);
    assert_eq!(scratch.read("cases/copy/copy.sm_80.ptx"), own);
}

#[cfg(unix)]
#[test]
fn compilers_that_disagree_are_both_named() {
    let scratch = cuda_case("disagree");
    let old = fake_nvcc(&scratch, "old", "1.0.7", COPY_PTX);
    assert_eq!(with_nvcc(&scratch, &old, &["refresh", "cases"]).code, 0);
    // A compiler of another version that makes a race of it.
    let racy = COPY_PTX.replace("add.s64 \t%rd5, %rd2, %rd3;", "mov.u64 \t%rd5, %rd2;");
    let new = fake_nvcc(&scratch, "new", "2.0.1", &racy);
    let said = with_nvcc(&scratch, &new, &["check", "cases"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    let message = "race for the PTX compiled here (nvcc 2.0.1), but clean for the PTX";
    assert!(said.out.contains(message), "{}", said.out);
    let said = with_nvcc(&scratch, &new, &["check", "cases", "--no-nvcc"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}

#[cfg(unix)]
#[test]
fn a_compiler_that_refuses_or_hangs_is_no_verdict() {
    let scratch = cuda_case("refuse");
    let nvcc = fake_nvcc(&scratch, "a", "1.0.7", COPY_PTX);
    scratch.write("toolkit-a/nvcc", "#!/bin/sh\necho 'copy.cu(3): error: no such thing' >&2; exit 1\n");
    let said = with_nvcc(&scratch, &nvcc, &["check", "cases"]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.out.contains("nvcc refuses") && said.out.contains("error: no such thing"), "{}", said.out);
    scratch.write("toolkit-a/nvcc", "#!/bin/sh\nsleep 60\n");
    let said = Said::by(
        command(&scratch, &["check", "cases"]).env("VOLTA_NVCC", &nvcc).env("VOLTA_NVCC_TIMEOUT", "1"),
    );
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.out.contains("nvcc took longer than 1 s and was stopped"), "{}", said.out);
}

#[test]
fn contents_come_from_files() {
    let scratch = scratch("contents");
    scratch.write("fixtures/copy/file/copy.ptx", COPY_PTX);
    let text = |shape: &str, file: &str| {
        let case = copy_case("", "copy_late").replacen("[32]", shape, 1);
        case.replacen(
            &format!("shape = {shape} }}"),
            &format!("shape = {shape}, contents = \"{file}\" }}"),
            1,
        )
    };
    let bytes = |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|value| value.to_le_bytes()).collect() };
    let put = |file: &str, bytes: &[u8]| {
        fs::write(scratch.path().join("fixtures/copy/file").join(file), bytes)
            .expect("the file can be written");
    };
    let check = |shape: &str, file: &str| {
        scratch.write("fixtures/copy/file/volta.toml", &text(shape, file));
        Said::by(command(&scratch, &["check", "fixtures"]).env("VOLTA_CACHE", "on"))
    };
    let mut values: Vec<f32> = (0..32).map(|at| at as f32 - 7.5).collect();
    put("x.bin", &bytes(&values));
    let said = check("[32]", "x.bin");
    assert_eq!(said.code, 0, "{}", said.all());
    assert!(said.on_one_line().contains("for every input that the case allows"), "{}", said.out);
    assert!(check("[32]", "x.bin").out.contains("1 cached"));
    // What has changed is verified again.
    values[31] = 8.0;
    put("x.bin", &bytes(&values));
    assert!(!check("[32]", "x.bin").out.contains("cached"));
    // What does not fit names the file, and what to do.
    put("cut.bin", &bytes(&values[..31]));
    values[5] = f32::NAN;
    put("nan.bin", &bytes(&values));
    let header = "{'descr': '<f4', 'fortran_order': True, 'shape': (32,), }\n";
    put("columns.npy", &[b"\x93NUMPY\x01\x00\x3a\x00", header.as_bytes(), &[0; 128]].concat());
    put("../../../outside.bin", &[0; 128]);
    for (shape, file, message) in [
        ("[32]", "absent.npy", "there is no file fixtures/copy/file/absent.npy"),
        ("[32]", "x.bins", "unknown contents `x.bins`"),
        (
            "[32]",
            "cut.bin",
            "cut.bin: it is cut off, or of another shape: it has 124 bytes of elements, and [32] of f32 are 128",
        ),
        ("[32]", "nan.bin", "nan.bin: element 5 is NaN"),
        ("[32]", "columns.npy", "help: numpy.save(file, numpy.ascontiguousarray(x))"),
        ("[32]", "../../../outside.bin", "is outside of the case's folder"),
        ("[32]", "/etc/x.bin", "`/etc/x.bin` is absolute"),
        ("[8, 4]", "x.npy", "there is no file"),
    ] {
        let said = check(shape, file);
        assert_eq!(said.code, 2, "{file}: {}", said.all());
        assert!(said.on_one_line().contains(message), "{file}: {}", said.all());
    }
}

#[test]
fn errors_that_are_seen_are_within_their_bounds() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/ranges");
    let scratch = scratch("accuracy");
    // Those with bounds; of the others, it is told why there is none.
    let (mut rows, mut close) = (0, 0);
    for case in [
        "dot_float",
        "difference",
        "sigmoid",
        "softmax_plain",
        "softmax_pair",
        "unit_eps",
        "logarithm",
        "logarithm_fast",
        "gelu_error",
        "matrix_error",
    ] {
        let folder = fixtures.join(case).to_string_lossy().into_owned();
        let said = volta(&scratch, &["accuracy", "--tries", "10", &folder]);
        assert_eq!(said.code, 0, "{}", said.all());
        for line in said.out.lines().filter_map(|line| line.trim().strip_prefix("proved over seen: ")) {
            let ratio: f64 = line.parse().expect("a number");
            assert!(ratio >= 1.0, "{case}: {ratio}");
            rows += 1;
            close += usize::from(ratio <= 100.0);
        }
    }
    assert!(rows >= 4 && close * 10 >= rows * 9, "{close} of {rows}");
}
