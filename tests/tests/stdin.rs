//! `cargo volta check --stdin`: a case with the texts of its sources.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use volta_suite::{COPY_PTX, Said, Scratch};

/// A folder to stand in, with nothing in it.
fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("stdin-{name}"))
}

/// What is said of a document: all of it, and its line of JSON.
fn check(scratch: &Scratch, document: &str) -> (Said, Value) {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    command.args(["check", "--stdin", "--format", "json"]);
    let said = Said::by_input(&mut command, document);
    let line = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.all()));
    (said, line)
}

/// A kernel that copies, and another one.
fn document(kernel: &str, length: u64) -> Value {
    json!({
        "name": "copied",
        "params": {
            "x": { "role": "in", "type": "f32", "shape": [32] },
            "y": { "role": "out", "type": "f32", "shape": [length] },
        },
        "reference": { "source": "ref/copy.ptx::copy", "block": 32 },
        "opt": { "source": format!("copy.ptx::{kernel}"), "block": 32 },
        "sources": { "ref/copy.ptx": COPY_PTX, "copy.ptx": COPY_PTX },
    })
}

#[test]
fn the_answer_is_that_of_a_folder() {
    let read = |file: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(file);
        let text = fs::read_to_string(path).expect("the schema is there");
        serde_json::from_str(&text).expect("a schema is JSON")
    };
    let (mut compiler, mut schemas) = (boon::Compiler::new(), boon::Schemas::new());
    let [input, output] = ["case.schema.json", "check.schema.json"].map(|file| {
        compiler.add_resource(file, read(file)).expect("it can be added");
        compiler.compile(file, &mut schemas).expect("it is a schema")
    });
    let scratch = scratch("answers");
    let same = document("copy", 32);
    schemas.validate(&same, input).expect("the schema knows the document");
    let mut more = same.clone();
    more["opt"]["blok"] = 1.into();
    assert!(schemas.validate(&more, input).is_err());

    let (said, line) = check(&scratch, &same.to_string());
    schemas.validate(&line, output).expect("the schema knows the answer");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!((&line["name"], &line["reason"]), (&json!("copied"), &json!("equivalent")));
    assert_eq!(line["hints"][0]["code"], "read-assumptions");

    let (said, line) = check(&scratch, &document("copy_doubled", 32).to_string());
    schemas.validate(&line, output).expect("the schema knows the answer");
    assert_eq!((said.code, &line["reason"]), (1, &json!("values-differ")));
    assert_eq!(line["maps"][0]["elements_differing"], 32);
    assert_eq!(line["maps"][0]["differing"], json!([[0, 32]]));

    // A fault has its place in the source, by the name that the document gives it.
    let (said, line) = check(&scratch, &document("copy", 16).to_string());
    assert_eq!((said.code, &line["reason"]), (1, &json!("out-of-bounds")), "{line}");
    assert_eq!(line["fault"]["sites"][0]["at"]["path"], "ref/copy.ptx");

    let toml = r#"
        params.x = { role = "in", type = "f32", shape = 32 }
        params.y = { role = "out", type = "f32", shape = 32 }
        kernel = { source = "copy.ptx::copy", block = 32 }
    "#;
    let (said, line) = check(&scratch, &format!("{toml}\n[sources]\n\"copy.ptx\" = '''\n{COPY_PTX}'''\n"));
    assert_eq!((said.code, &line["name"], &line["reason"]), (0, &json!("stdin"), &json!("clean")), "{line}");
    let left: Vec<_> = fs::read_dir(scratch.path()).expect("it is a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Where a text begins, as `line` and `column` from 1.
fn place_of(document: &str, what: &str) -> (Value, Value) {
    let before = &document[..document.find(what).unwrap_or_else(|| panic!("{what} stands in {document}"))];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    ((before.matches('\n').count() + 1).into(), (before[line_start..].chars().count() + 1).into())
}

#[test]
fn what_is_wrong_with_a_document_has_its_place_there() {
    let scratch = scratch("wrong");
    let good = serde_json::to_string_pretty(&document("copy", 32)).expect("it is JSON");
    for (from, to, reason, place, says) in [
        (
            "\"opt\": {\n    \"block\"",
            "\"opt\": {\n    \"blok\"",
            "missing-key",
            "\"opt\"",
            "a kernel needs a block",
        ),
        (
            "\"copy.ptx::copy\"",
            "\"cpy.ptx::copy\"",
            "wrong-value",
            "\"cpy.ptx:",
            "there is no source `cpy.ptx`",
        ),
        ("\"role\": \"in\"", "\"role\": \"into\"", "wrong-value", "\"into\"", "`role` is not `into`"),
        ("\"block\": 32", "\"block\": 32 5", "case-syntax", "5,", "expected `,` or `}` here"),
        ("\"f32\"", "null", "case-syntax", "null", "`null` is not a value"),
        ("\"role\": \"in\"", "\"type\": \"f32\"", "case-syntax", "\"type\"", "the key `type` occurs twice"),
        ("\"f32\"", "\"f32", "case-syntax", "\"f32", "this string is not closed"),
        ("\"block\": 32", "\"block\": 032", "case-syntax", "032", "`032` is not a number"),
        ("\"copy.ptx\":", "\"../copy.ptx\":", "wrong-value", "\"../copy.ptx\"", "is not a name for a source"),
        (
            "copy.ptx::copy\"",
            "copy.ptx::coppy\"",
            "kernel-not-found",
            "\"copy.ptx::coppy",
            "is called `coppy`",
        ),
    ] {
        let text = good.replacen(from, to, 1);
        let (said, line) = check(&scratch, &text);
        assert_eq!((said.code, said.err.as_str()), (2, ""), "{line}");
        let problem = &line["problems"][0];
        assert_eq!((&problem["reason"], &problem["path"]), (&json!(reason), &json!("stdin")), "{line}");
        assert!(problem["message"].as_str().is_some_and(|message| message.contains(says)), "{problem}");
        if reason != "case-syntax" || !says.contains("twice") {
            let (row, column) = place_of(&text, place);
            assert_eq!((&problem["line"], &problem["column"]), (&row, &column), "{text}\n{problem}");
        }
        assert_eq!(line["reason"], reason);
    }
}

#[test]
fn contents_are_among_the_sources() {
    let scratch = scratch("contents");
    let mut held = document("copy", 32);
    // The numbers from 0 to 127, as bytes.
    held["params"]["x"] = json!({ "role": "in", "type": "u8", "shape": [32, 4], "contents": "x.bin" });
    held["params"]["y"] = json!({ "role": "out", "type": "u8", "shape": [32, 4] });
    let bytes = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZH\
                 SElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn8=";
    held["sources"]["x.bin"] = json!({ "base64": bytes });
    let (said, line) = check(&scratch, &held.to_string());
    assert_eq!((said.code, &line["reason"]), (0, &json!("equivalent")), "{line}");
    let assumed = line["assumptions"].to_string();
    assert!(assumed.contains("`x` holds 0, 1, 2, 3, 4, 5, 6, 7, … (120 more)"), "{assumed}");
    held["sources"]["x.bin"] = json!({ "base64": "AAE?" });
    let (said, line) = check(&scratch, &held.to_string());
    assert_eq!(said.code, 2, "{line}");
    held["sources"].as_object_mut().expect("it is an object").remove("x.bin");
    let (said, line) = check(&scratch, &held.to_string());
    let message = line["problems"][0]["message"].as_str().unwrap_or_default();
    assert_eq!((said.code, message), (2, "there is no source `x.bin`"), "{line}");
}

#[test]
fn what_a_document_lacks_is_said() {
    let scratch = scratch("lacks");
    let mut bare = document("copy", 32);
    bare.as_object_mut().expect("it is an object").remove("sources");
    let (said, line) = check(&scratch, &bare.to_string());
    assert_eq!((said.code, &line["reason"]), (2, &json!("missing-key")), "{line}");
    let cuda = document("copy", 32).to_string().replace("copy.ptx", "copy.cu");
    let (said, line) = check(&scratch, &cuda);
    assert_eq!((said.code, &line["reason"]), (2, &json!("no-compiler")), "{line}");
    let help = line["problems"][0]["help"].as_str().unwrap_or_default();
    assert!(help.starts_with("give the PTX itself among the sources"), "{help}");
    let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    let said = Said::by_input(command.args(["check", "--stdin"]), "{");
    assert!(said.code == 2 && said.out.contains("expected a key in quotes here"), "{}", said.out);
    assert!(said.out.contains("--> stdin:1:2"), "{}", said.out);
}
