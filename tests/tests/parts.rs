//! Cases in parts: each part says that it is one, and `cargo volta merge` states the claim of the whole only if all parts
//! are there and belong together.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use volta_suite::{COPY_PTX, Said, Scratch, copy_case};

const VOLTA: &str = env!("CARGO_BIN_EXE_volta-under-test");
const RUNNER: &str = env!("CARGO_BIN_EXE_runner-under-test");

fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("parts-{name}"))
}

fn volta(scratch: &Scratch, arguments: &[&str]) -> Said {
    Said::by(scratch.command(VOLTA).args(arguments))
}

/// A case called `copy::NAME` that compares 32 elements in parts.
fn add(scratch: &Scratch, name: &str, options: &str) {
    scratch.write(&format!("fixtures/copy/{name}/copy.ptx"), COPY_PTX);
    let text = copy_case("", "copy_late");
    scratch.write(&format!("fixtures/copy/{name}/volta.toml"), &format!("{text}[options]\n{options}\n"));
}

/// Writes the result of a part to `part_N.json`.
fn run_part(scratch: &Scratch, case: &str, part: u32, of: u32) {
    let name = format!("{case}/shard_{part}_of_{of}");
    let said = volta(scratch, &["check", "fixtures", "--exact", &name, "--format", "json"]);
    scratch.write(&format!("part_{part}.json"), &said.out);
}

/// A folder with a case in four parts, and their results.
fn four_parts(name: &str) -> Scratch {
    let scratch = scratch(name);
    add(&scratch, "late", "shards = 4");
    (1..=4).for_each(|part| run_part(&scratch, "copy::late", part, 4));
    scratch
}

const FOUR: [&str; 5] = ["merge", "part_1.json", "part_2.json", "part_3.json", "part_4.json"];

#[test]
fn each_part_says_what_it_is_about() {
    let scratch = four_parts("said");
    let said = volta(&scratch, &["list", "fixtures"]).out;
    assert_eq!(
        said,
        "copy::late/shard_1_of_4\ncopy::late/shard_2_of_4\ncopy::late/shard_3_of_4\ncopy::late/shard_4_of_4\n"
    );
    let said = volta(&scratch, &["check", "fixtures", "--exact", "copy::late/shard_3_of_4"]);
    assert_eq!(said.code, 0, "{}", said.all());
    assert!(said.out.contains("  equivalent(part)  "), "{}", said.out);
    assert!(
        said.on_one_line().contains("equivalent in elements 16 to 23 of 32: copy.ptx::copy_late"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("compared: 8 of 8 elements of y; part 3 of 4: nothing is claimed about the others")
    );
    let line: serde_json::Value = serde_json::from_str(&scratch.read("part_3.json")).expect("it is JSON");
    assert_eq!((&line["verdict"], &line["reason"]), (&"equivalent(part)".into(), &"proved-in-part".into()));
    let part = &line["part"];
    assert_eq!((&part["case"], &part["part"], &part["of"]), (&"copy::late".into(), &3.into(), &4.into()));
    assert_eq!((&part["first"], &part["end"], &part["elements"]), (&16.into(), &24.into(), &32.into()));
    // A command that is not about verdicts takes the case as a whole, and the name of a case names all its parts.
    assert_eq!(volta(&scratch, &["show", "fixtures"]).out.matches("copy::late").count(), 1);
    let said = volta(&scratch, &["check", "fixtures", "--exact", "copy::late"]);
    assert!(said.code == 0 && said.out.contains("4 as expected"), "{}", said.all());
}

#[test]
fn all_parts_are_the_whole() {
    let scratch = four_parts("whole");
    let said = volta(&scratch, &FOUR);
    assert_eq!(said.code, 0, "{}", said.all());
    let line = said.on_one_line();
    assert!(line.contains("copy::late equivalent: copy.ptx::copy_late computes what copy.ptx::copy computes, for every input compared: 32 of 32 elements; all 4 parts are there assuming"), "{line}");
    assert_eq!(line.matches("(V2)").count(), 1, "assumptions are told once: {line}");
    // In one file, in another order, and as JSON.
    let all: String = [4, 2, 1, 3].map(|part| scratch.read(&format!("part_{part}.json"))).concat();
    scratch.write("all.json", &all);
    let said = volta(&scratch, &["merge", "all.json", "--json"]);
    let whole: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!((said.code, &whole["verdict"], &whole["parts"]), (0, &"equivalent".into(), &4.into()));
    assert_eq!((&whole["elements_compared"], &whole["elements_total"]), (&32.into(), &32.into()));
}

#[test]
fn a_process_that_was_killed_is_missed() {
    let scratch = scratch("killed");
    add(&scratch, "late", "shards = 4");
    let start = |part: u32, repeat: &str| {
        let name = format!("copy::late/shard_{part}_of_4");
        let file = scratch.path().join(format!("part_{part}.json"));
        let mut command: Command = scratch.command(VOLTA);
        command.args(["check", "fixtures", "--exact", &name, "--format", "json", "--repeat", repeat]);
        command.stdout(File::create(file).expect("files can be made")).stderr(Stdio::null());
        command.spawn().expect("the program starts")
    };
    // The second would go on for hours.
    let mut children = [start(1, "1"), start(2, "1000000000"), start(3, "1"), start(4, "1")];
    for at in [0, 2, 3] {
        assert!(children[at].wait().expect("it ends").success());
    }
    children[1].kill().expect("it runs");
    assert!(!children[1].wait().expect("it ends").success());
    let said = volta(&scratch, &FOUR);
    assert_eq!(said.code, 2, "{}", said.all());
    assert!(
        said.err.contains("part_2.json is empty: the run that was to write it did not end"),
        "{}",
        said.err
    );
    assert!(
        said.out.contains("nothing is claimed of the whole\n  1 of 4 parts are missing: shard_2_of_4"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("equivalent"), "{}", said.out);
    run_part(&scratch, "copy::late", 2, 4);
    assert_eq!(volta(&scratch, &FOUR).code, 0);
}

#[test]
fn what_does_not_belong_together_is_no_whole() {
    // What is written to the file of the third part, and what is said of it.
    type Change = fn(&Scratch);
    let table: [(&str, Change); 9] = [
        ("part 2 of 4 (elements 8 to 15) is there twice: in part_2.json and in part_3.json", |scratch| {
            scratch.write("part_3.json", &scratch.read("part_2.json"));
        }),
        ("1 of 4 parts are missing: shard_3_of_4", |scratch| {
            add(scratch, "other", "shards = 4");
            run_part(scratch, "copy::other", 3, 4);
        }),
        ("parts of 4 and of 5 do not belong together: see part_1.json and part_3.json", |scratch| {
            add(scratch, "late", "shards = 5");
            run_part(scratch, "copy::late", 3, 5);
        }),
        (
            "parts were not verified from the same PTX and the same case: see part_1.json and part_3.json",
            |scratch| {
                scratch.write("fixtures/copy/late/copy.ptx", &format!("{COPY_PTX}// another one\n"));
                run_part(scratch, "copy::late", 3, 4);
            },
        ),
        ("parts were not verified from the same PTX and the same case", |scratch| {
            add(scratch, "late", "shards = 4\npartial = true");
            run_part(scratch, "copy::late", 3, 4);
        }),
        ("part_3.json:1: this result has changed since it was written, or is damaged", |scratch| {
            scratch.write(
                "part_3.json",
                &scratch.read("part_3.json").replacen("\"first\":16", "\"first\":15", 1),
            );
        }),
        ("part_3.json:1: this result has changed since it was written, or is damaged", |scratch| {
            scratch.write("part_3.json", &scratch.read("part_3.json").replacen("(V2)", "(V3)", 1));
        }),
        ("part_3.json:1: this result is cut off: the run that wrote it did not end", |scratch| {
            scratch.write("part_3.json", &scratch.read("part_3.json")[..700]);
        }),
        ("part_3.json:1: this is no result of `cargo volta check --format json`", |scratch| {
            scratch.write("part_3.json", "{ \"a\": 1 }\n");
        }),
    ];
    let results = four_parts("apart");
    for (message, change) in table {
        let scratch = scratch("apart-one");
        add(&scratch, "late", "shards = 4");
        for part in 1..=4 {
            let name = format!("part_{part}.json");
            scratch.write(&name, &results.read(&name));
        }
        change(&scratch);
        let said = volta(&scratch, &FOUR);
        assert_eq!(said.code, 2, "{message}: {}", said.all());
        assert!(said.on_one_line().contains(message), "{message}: {}", said.all());
        assert!(!said.out.contains("equivalent"), "{message}: {}", said.out);
    }
    let said = volta(&results, &["merge", "absent.json"]);
    assert!(said.code == 2 && said.err.contains("absent.json"), "{}", said.all());
}

#[test]
fn other_programs_have_other_parts() {
    let scratch = four_parts("programs");
    // A seal keeps from damage, not from forgery: parts of another program are told by what they say.
    let line = scratch.read("part_3.json");
    let at = line.find("\"program\":\"").expect("it names its program") + 11;
    let changed = format!("{}9.9{}", &line[..at], &line[at + 3..]);
    scratch.write("part_3.json", &changed);
    let said = volta(&scratch, &FOUR);
    assert!(said.code == 2 && said.err.contains("has changed since it was written"), "{}", said.all());
}

#[test]
fn a_difference_lies_in_a_part() {
    let scratch = scratch("different");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/files");
    let text = fs::read_to_string(fixtures.join("gather_one_else/volta.toml")).expect("it is a fixture");
    let text = text.replace("expect = \"different\"\n", "") + "\n[options]\nshards = 4\n";
    scratch.write("fixtures/files/else/volta.toml", &text);
    for (from, to) in [
        ("files.cu", "files/files.cu"),
        ("files.sm_80.ptx", "files/files.sm_80.ptx"),
        ("gather_one_else/one_else.npy", "files/else/one_else.npy"),
    ] {
        let to = scratch.path().join("fixtures").join(to);
        fs::copy(fixtures.join(from), to).expect("files can be copied");
    }
    (1..=4).for_each(|part| run_part(&scratch, "files::else", part, 4));
    let said = volta(&scratch, &FOUR);
    assert_eq!(said.code, 1, "{}", said.all());
    assert!(said.on_one_line().contains("files::else different part 3 of 4 (elements 32 to 47) is different, where equivalent is expected (part_3.json)"), "{}", said.out);
    // Without that part, the others say nothing of the whole.
    let said = volta(&scratch, &["merge", "part_1.json", "part_2.json", "part_4.json"]);
    assert!(said.code == 2 && said.out.contains("1 of 4 parts are missing: shard_3_of_4"), "{}", said.all());
}

#[test]
fn not_every_case_has_parts() {
    let scratch = scratch("refused");
    let pair = copy_case("", "copy_late");
    let single = pair
        .replace("[reference]\nsource = \"copy.ptx::copy\"\nblock = 32\n", "")
        .replace("[opt]", "[kernel]");
    let said_of = |text: &str, options: &str| {
        scratch.write("fixtures/copy/one/copy.ptx", COPY_PTX);
        scratch.write("fixtures/copy/one/volta.toml", &format!("{text}[options]\n{options}\n"));
        let said = volta(&scratch, &["check", "fixtures"]);
        assert_eq!(said.code, 2, "{}", said.all());
        said.on_one_line()
    };
    for (text, options, message) in [
        (pair.as_str(), "shards = 0", "a case has from 1 to 256 parts, not 0"),
        (&pair, "shards = 257", "a case has from 1 to 256 parts, not 257"),
        (&pair, "shards = \"eight\"", "`shards` is"),
        (&pair, "shards = 33", "there is no part 1 of 33 of 32 compared elements"),
        (
            &pair,
            "shards = 2\nliterals = \"nearest\"",
            "is chosen for all elements together, so that such a case has no parts",
        ),
        (&single, "shards = 2", "one kernel alone has no parts"),
        (
            &copy_case("expect = \"different\"", "copy_late"),
            "shards = 2",
            "a case in parts does not expect `different`",
        ),
    ] {
        let said = said_of(text, options);
        assert!(said.contains(message), "{message}: {said}");
    }
    add(&scratch, "one", "shards = 2");
    let said = volta(&scratch, &["check", "fixtures", "--exact", "copy::one/shard_1_of_3"]);
    assert!(
        said.code == 2 && said.all().contains("did you mean `copy::one/shard_1_of_2`?"),
        "{}",
        said.all()
    );
}

#[test]
fn members_of_families_have_parts() {
    let scratch = scratch("family");
    let text = copy_case("[family]\nn = [1, 2]\n", "copy_late");
    scratch.write("fixtures/copy/many/copy.ptx", COPY_PTX);
    scratch.write("fixtures/copy/many/volta.toml", &format!("{text}[options]\nshards = \"n\"\n"));
    let said = volta(&scratch, &["list", "fixtures"]).out;
    assert_eq!(said, "copy::many::n=1\ncopy::many::n=2/shard_1_of_2\ncopy::many::n=2/shard_2_of_2\n");
    let said = volta(&scratch, &["check", "fixtures", "--exclude", "2_of_2"]);
    assert!(
        said.out.contains("copy::many: as expected for n = 1 (1 member); of 1 member only some parts ran"),
        "{}",
        said.out
    );
    let said = volta(&scratch, &["check", "fixtures"]);
    assert!(said.out.contains("copy::many: as expected for n = 1, 2 (2 members)"), "{}", said.out);
    // What is no part is repeated.
    let said = volta(&scratch, &["check", "fixtures", "--format", "json"]);
    scratch.write("all.json", &said.out);
    let said = volta(&scratch, &["merge", "all.json"]);
    assert!(said.code == 0 && said.out.contains("copy::many::n=1\nequivalent\n"), "{}", said.all());
    let said = volta(&scratch, &["merge", "all.json", "all.json"]);
    assert!(
        said.code == 2 && said.out.contains("it is there twice: in all.json and in all.json"),
        "{}",
        said.all()
    );
}

#[test]
fn tests_write_their_results() {
    let scratch = scratch("tests");
    add(&scratch, "late", "shards = 2");
    let run = |test: &str| {
        let mut command = scratch.command(RUNNER);
        command.env("CARGO_MANIFEST_DIR", scratch.path()).env("VOLTA_JSON", scratch.path().join("results"));
        Said::by(command.args(["--exact", test]))
    };
    let said = run("copy::late/shard_2_of_2");
    assert!(said.code == 0 && said.out.contains("test copy::late/shard_2_of_2 ... ok"), "{}", said.all());
    let second = "results/copy__late_shard_2_of_2.json";
    let said = volta(&scratch, &["merge", second]);
    assert!(said.code == 2 && said.out.contains("1 of 2 parts are missing: shard_1_of_2"), "{}", said.all());
    assert_eq!(run("copy::late/shard_1_of_2").code, 0);
    let said = volta(&scratch, &["merge", "results/copy__late_shard_1_of_2.json", second]);
    assert!(said.code == 0 && said.out.contains("all 2 parts are there"), "{}", said.all());
}
