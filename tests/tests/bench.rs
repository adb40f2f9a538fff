//! `cargo volta bench`: its figures, and its exit status.

use volta_suite::{COPY_PTX, Said, Scratch, copy_case};

const PUBLISHED: &str = "\
[[row]]
case = \"copy::late\"
kernel = \"Copy-2\"
generate = 12.5
solve = 0.25
first = 0.5
z3 = 3.0
z3_unknown = true
";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("bench-{name}"));
    for (case, kernel, expect) in
        [("late", "copy_late", ""), ("racy", "copy_racy", "expect = \"race\""), ("same", "copy", "")]
    {
        scratch.write(&format!("fixtures/copy/{case}/copy.ptx"), COPY_PTX);
        scratch.write(&format!("fixtures/copy/{case}/volta.toml"), &copy_case(expect, kernel));
    }
    scratch.write("fixtures/published.toml", PUBLISHED);
    scratch
}

fn bench(scratch: &Scratch, arguments: &[&str]) -> Said {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    Said::by(command.args(["bench", "--runs", "2"]).args(arguments))
}

#[test]
fn text_and_markdown_have_ours_beside_the_published() {
    let scratch = scratch("tables");
    let said = bench(&scratch, &["fixtures"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    for title in ["Whole verifications\n", "What was verified\n", "Single elements, in ms\n"] {
        assert!(said.out.contains(title), "{}", said.out);
    }
    assert!(said.out.contains("copy::racy  race "), "{}", said.out);
    let said = bench(&scratch, &["fixtures", "--format", "markdown", "--published"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    assert!(!said.out.contains("racy"), "{}", said.out);
    assert!(said.out.contains("| copy::late | equivalent | Copy-2 |"), "{}", said.out);
    for figure in ["| 12.5 |", "| 0.250 |", "| 500 |", "| unknown 3000 |"] {
        assert!(said.out.contains(figure), "{figure} in {}", said.out);
    }
}

#[test]
fn json_is_one_object_a_case() {
    let scratch = scratch("json");
    let said = bench(&scratch, &["fixtures", "--format", "json"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let lines: Vec<serde_json::Value> =
        said.out.lines().map(|line| serde_json::from_str(line).expect("a line is an object")).collect();
    let [late, racy, _] = &lines[..] else { panic!("there are three cases") };
    assert_eq!((&late["name"], &late["verdict"]), (&"copy::late".into(), &"equivalent".into()));
    assert_eq!((&late["elements"], &late["canonical_elements"]), (&32.into(), &32.into()));
    assert_eq!(late["threads"], serde_json::json!([32, 32]));
    for key in ["generate_seconds", "solve_seconds", "seconds", "first_seconds", "median_seconds"] {
        assert!(late[key].as_f64() > Some(0.0), "{key} in {late}");
    }
    assert_eq!(late["published"]["kernel"], "Copy-2");
    assert_eq!((&racy["verdict"], &racy["outcome"]), (&"race".into(), &"passed".into()));
    assert!(racy["first_seconds"].is_null() && racy["published"].is_null(), "{racy}");
}

#[test]
fn what_is_not_as_expected_is_said_and_the_exit_code_tells() {
    let scratch = scratch("exit");
    scratch.write("fixtures/copy/racy/volta.toml", &copy_case("", "copy_racy"));
    let said = bench(&scratch, &["fixtures"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.err.contains("copy::racy: expected equivalent, got race"), "{}", said.err);
    let said = bench(&scratch, &["fixtures", "--z3"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("scripts/z3.sh"), "{}", said.err);
    scratch.write("fixtures/published.toml", "[[row]]\nkase = 1\n");
    let said = bench(&scratch, &["fixtures/copy/late"]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.contains("published.toml") && said.err.contains("kase"), "{}", said.err);
    let said = bench(&scratch, &["absent"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("there is no folder absent"), "{}", said.err);
}
