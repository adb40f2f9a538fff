//! House rules that no compiler checks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use volta_case::{
    About, CASE, Comparison, Contains, Element, Elements, Expectation, FIELD, GRAPH, Hint, KERNEL, Key,
    Launch, MEMBER, NamedContents, Options, PARAM, Reason, Region, Role, SIDE, STEP, Section, Sign, Target,
    TensorMap, VerdictName, spellings,
};
use volta_core::graph::Function;
use volta_core::graph::library::Operator;
use volta_suite::circles::{circles, imports as imports_of_files};
use volta_suite::modules::{self, IMPORTS, MACHINE};
use volta_suite::tree::{files, read, root};

/// Lines of a file, without its tests.
const MAX_LINES: usize = 800;

/// A file's text up to its tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("test"))
}

/// The modules that a text names with `crate::`.
fn imports(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or(line);
        for rest in code.split("crate::").skip(1) {
            let names = match rest.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap_or(list).split(',').map(str::trim).collect(),
                None => vec![rest],
            };
            for name in names {
                let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
                found.push((number + 1, name[..end].to_owned()));
            }
        }
    }
    found
}

/// A reader, and whoever searches, finds one thing under a name. What `pub(crate)` and private types are called is looked at
/// by those who change the module alone.
#[test]
fn public_types_of_a_crate_have_names_of_their_own() {
    let mut wrong = Vec::new();
    for name in ["volta-case", "volta-certificate", "volta-core", "volta-interpreter", "volta-test"] {
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in files(&root().join(name).join("src"), "rs") {
            for line in without_tests(&read(&path)).lines() {
                let word = ["struct ", "enum ", "type ", "trait "]
                    .iter()
                    .find_map(|kind| line.strip_prefix("pub ")?.strip_prefix(kind));
                let Some(rest) = word else { continue };
                let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
                places.entry(rest[..end].to_owned()).or_default().push(path.display().to_string());
            }
        }
        assert!(!places.is_empty(), "{name} has no public type: this test reads the wrong files");
        wrong.extend(places.into_iter().filter(|(_, files)| files.len() > 1));
    }
    assert!(wrong.is_empty(), "types of one name in one crate: {wrong:#?}");
}

#[test]
fn modules_import_only_what_lies_below_them() {
    let source = root().join("volta-core/src");
    let modules: BTreeMap<&str, &[&str]> = IMPORTS.into_iter().collect();
    let mut wrong = Vec::new();
    for path in files(&source, "rs") {
        let inner = path.strip_prefix(&source).expect("it lies below");
        let first = inner.components().next().expect("a path has parts").as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs");
        // What ties the modules together may import all of them.
        let Some(allowed) = modules.get(module) else {
            assert!(inner.components().count() == 1, "the module `{module}` is not in the table of imports");
            continue;
        };
        if is_test(inner) {
            continue;
        }
        let text = read(&path);
        for (line, name) in imports(without_tests(&text)) {
            if modules.contains_key(name.as_str()) && name != module && !allowed.contains(&name.as_str()) {
                wrong.push(format!("{}:{line}: `{module}` imports `{name}`", inner.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_picture_shows_what_modules_import() {
    volta_suite::page::hold("docs/modules.svg", &[("modules", modules::picture())])
        .expect("the picture is as the table");
}

#[test]
fn files_stay_short() {
    let mut long = Vec::new();
    for krate in ["volta-case", "volta-certificate", "volta-core", "volta-macros", "volta-test", "tests"] {
        for path in files(&root().join(krate), "rs") {
            let text = read(&path);
            let lines = without_tests(&text).lines().count();
            if lines > MAX_LINES && !is_test(path.strip_prefix(root()).unwrap_or(&path)) {
                long.push(format!("{}: {lines} lines", path.display()));
            }
        }
    }
    assert!(long.is_empty(), "a file has at most {MAX_LINES} lines without its tests:\n{}", long.join("\n"));
}

/// The machine, and the modules that only it executes with.
const OF_THE_MACHINE: [&str; 4] = ["value", "concurrency", "launch", "machine"];

/// Methods of a type of the machine, wherever they are written. Whoever reads one has to know what all of them may touch.
const MAX_METHODS: usize = 80;

#[test]
fn no_type_of_the_machine_has_too_many_methods() {
    let mut methods: BTreeMap<String, usize> = BTreeMap::new();
    let source = root().join("volta-core/src");
    for path in OF_THE_MACHINE.iter().flat_map(|module| files(&source.join(module), "rs")) {
        let file: syn::File = syn::parse_str(&read(&path)).expect("it is Rust");
        for item in file.items {
            let syn::Item::Impl(block) = item else { continue };
            let syn::Type::Path(of) = *block.self_ty else { continue };
            let name = of.path.segments.last().expect("a path has segments").ident.to_string();
            let is_function = |item: &&syn::ImplItem| matches!(item, syn::ImplItem::Fn(_));
            if block.trait_.is_none() {
                *methods.entry(name).or_default() += block.items.iter().filter(is_function).count();
            }
        }
    }
    assert!(methods.contains_key("Cta"), "this test reads the wrong files");
    methods.retain(|_, number| *number > MAX_METHODS);
    assert!(methods.is_empty(), "types with more than {MAX_METHODS} methods: {methods:#?}");
}

#[test]
fn no_file_of_the_machine_imports_one_that_imports_it() {
    for module in OF_THE_MACHINE {
        let circles = circles(&root().join("volta-core/src").join(module));
        assert!(circles.is_empty(), "{module}: {circles:#?}");
    }
}

#[test]
fn folders_of_the_machine_import_only_what_lies_below_them() {
    let folder = |file: &str| {
        let holds = |name: &&str| {
            file.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let names = MACHINE.iter().map(|(name, _)| *name).filter(|name| !name.is_empty());
        names.filter(holds).max_by_key(|name| name.len()).unwrap_or("")
    };
    for (at, (name, below)) in MACHINE.iter().enumerate() {
        let is_lower = |other: &&str| MACHINE[..at].iter().any(|(lower, _)| lower == other);
        assert!(below.iter().all(is_lower), "`{name}` may import what does not lie below it");
    }
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for (file, imports) in imports_of_files(&root().join("volta-core/src/machine")) {
        let own = folder(&file);
        assert!(!own.is_empty() || file.is_empty(), "`{file}` lies in no folder of the table");
        for import in imports {
            let other = folder(&import);
            let row = MACHINE.iter().find(|(name, _)| *name == own).expect("it is in the table");
            if other != own && !row.1.contains(&other) {
                wrong.push(format!("`{file}` imports `{import}`"));
            }
            used.insert((own, other));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let pairs = MACHINE.iter().flat_map(|(name, below)| below.iter().map(move |other| (*name, *other)));
    let unused: Vec<_> = pairs.filter(|pair| !used.contains(pair)).collect();
    assert!(unused.is_empty(), "the table permits what no file needs: {unused:?}");
}

#[test]
fn nothing_is_left_to_do() {
    let marks = ["TO", "FIX", "XX"].map(|half| {
        format!(
            "{half}{}",
            if half == "FIX" {
                "ME"
            } else if half == "TO" {
                "DO"
            } else {
                "X"
            }
        )
    });
    let mut left = Vec::new();
    for path in files(&root(), "rs").iter().chain(&files(&root(), "md")) {
        for (number, line) in read(path).lines().enumerate() {
            let is_word = |mark: &String| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == mark);
            if marks.iter().any(is_word) {
                left.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
}

/// A table of keys, with what the schema says of each.
fn table<'k>(keys: impl IntoIterator<Item = &'k Key>) -> String {
    let meanings = |words: &[(Role, &str)]| {
        let each = words.iter().map(|(role, doc)| format!("`{role}`: {}", doc.trim()));
        each.collect::<Vec<_>>().join(". ")
    };
    let words = |words: Vec<&str>| format!("`{}`", words.join(" "));
    let mut out = "\n| key | meaning |\n|---|---|\n".to_owned();
    for key in keys {
        let doc = key.doc.trim().replace("{default}", &(key.default)());
        let doc = doc.replace("{roles}", &meanings(Role::ALL));
        let doc = doc.replace("{elements}", &words(spellings::<Element>()));
        let doc = doc.replace("{regions}", &words(spellings::<Region>()));
        let doc = doc.replace("{elements_together}", &words(spellings::<Elements>()));
        let doc = doc.replace("{comparisons}", &words(spellings::<Comparison>()));
        let doc = doc.replace("{signs}", &words(spellings::<Sign>()));
        out += &format!("| `{}` | {} |\n", key.name, linked(&doc));
    }
    out + "\n"
}

/// A text in which each rule, such as S3, leads to where it is stated.
fn linked(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let rule = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_rule = rule.starts_with(|c: char| c.is_ascii_uppercase())
            && rule.len() > 1
            && rule[1..].chars().all(|c| c.is_ascii_digit());
        let link = format!("[{rule}](semantics.md#{})", rule.to_lowercase());
        out += &if is_rule { word.replacen(rule, &link, 1) } else { word.to_owned() };
    }
    out
}

#[test]
fn the_page_on_cases_says_what_the_schema_says() {
    let parts = [
        ("keys of a case", table(CASE.iter().chain(About::keys()))),
        ("keys of a parameter", table(PARAM)),
        ("keys of a kernel", table(KERNEL.iter().chain(Launch::keys()).chain(Target::keys()))),
        ("keys of a side", table(SIDE)),
        ("keys of a step", table(STEP)),
        ("keys of expect", table(Expectation::keys())),
        ("keys of contains", table(Contains::keys())),
        ("keys of a field", table(FIELD)),
        ("keys of a member", table(MEMBER)),
        ("keys of a tensor map", table(TensorMap::keys())),
        ("keys of options", table(Options::keys())),
    ];
    volta_suite::page::hold("docs/cases.md", &parts).expect("the page is as the schema");
}

/// `VOLTA_WRITE_DOCS=1` writes it.
#[test]
fn the_page_on_graphs_has_all_operators() {
    let cell = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let mut operators = String::new();
    for (family, list) in Operator::families() {
        operators +=
            &format!("\n### {family}\n\n| operator | arguments | what it computes |\n|---|---|---|\n");
        for operator in list {
            let names: Vec<String> = operator.names.iter().map(|name| format!("`{name}`")).collect();
            let (names, arguments) = (names.join(", "), cell(operator.arguments));
            operators += &format!("| {names} | `{arguments}` | {} |\n", cell(operator.formula));
        }
    }
    let names = Function::ALL.iter().map(|function| match (function.arity(), function.word()) {
        (2, word) if !word.starts_with(char::is_alphabetic) => format!("`a {word} b`"),
        (_, "neg") => "`-a`".to_owned(),
        (arity, word) => format!("`{word}({})`", ["a", "b", "c"][..arity].join(", ")),
    });
    let functions = names.collect::<Vec<_>>().join(", ") + ".\n";
    let keys = table(GRAPH);
    let parts = [("keys of a graph", keys), ("functions", functions), ("operators", operators + "\n")];
    volta_suite::page::hold("docs/graphs.md", &parts).expect("the page is as the tables");
}

/// `VOLTA_WRITE_DOCS=1` writes it.
#[test]
fn the_page_on_reasons_has_them_all() {
    let sentence = |text: &str| text.trim().trim_end_matches('.').to_owned();
    let mut reasons = "\n| reason | verdict | meaning | hint |\n|---|---|---|---|\n".to_owned();
    for reason in Reason::all() {
        let hint = reason.hint().map_or(String::new(), |hint| format!("`{}`", hint.name()));
        let (code, verdict, meaning) = (reason.code(), reason.verdict().name(), sentence(&reason.meaning()));
        reasons += &format!("| `{code}` | `{verdict}` | {meaning} | {hint} |\n");
    }
    let mut hints = "\n| hint | what to do |\n|---|---|\n".to_owned();
    for (hint, text) in Hint::ALL {
        hints += &format!("| `{}` | {} |\n", hint.name(), sentence(text));
    }
    let parts = [("reasons", reasons + "\n"), ("hints", hints + "\n")];
    volta_suite::page::hold("docs/reasons.md", &parts).expect("the page is as the tables");
}

/// `VOLTA_WRITE_DOCS=1` writes it.
#[test]
fn the_schema_of_documents_is_that_of_cases() {
    let schema = volta_suite::case_schema::case_schema();
    let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
    let path = root().join("docs/case.schema.json");
    if std::env::var_os("VOLTA_WRITE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("the schema is written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "VOLTA_WRITE_DOCS=1 writes docs/case.schema.json anew");
}

/// Texts of cases that stand in no table: frames, separators, numbers at the edges.
const FRAMES: [&str; 22] = [
    "[params]",
    "[reference]",
    "[opt]",
    "[kernel]",
    "[globals]",
    "[options]",
    "[[contains]]",
    "expect(verdict",
    "&mut [f32; 4]",
    "#[symbolic]",
    "#[value(1)]",
    "#[init(iota)]",
    "#[opt_type(f16)]",
    "#[global]",
    "fn f(",
    "ref_",
    "opt_",
    ";;",
    "-inf",
    "-1e4",
    "18446744073709551616",
    "1e999",
];

/// The dictionary of the fuzzers of cases has every key and word of the schema; `VOLTA_WRITE_DOCS=1` writes it.
#[test]
fn the_dictionary_of_the_fuzzers_is_the_schema() {
    let keys = CASE.iter().chain(PARAM).chain(KERNEL).chain(SIDE).chain(STEP);
    let keys = keys.chain(About::keys()).chain(Launch::keys()).chain(Target::keys());
    let keys = keys.chain(Expectation::keys()).chain(Contains::keys()).chain(Options::keys());
    let keys: BTreeSet<&str> = keys.map(|key| key.name).collect();
    let words = spellings::<Role>().into_iter().chain(spellings::<Element>()).chain(spellings::<Sign>());
    let words = words.chain(spellings::<NamedContents>()).chain(spellings::<VerdictName>());
    let words: BTreeSet<&str> = words.collect();
    let entries = FRAMES.into_iter().map(str::to_owned).chain(keys.iter().map(|key| format!("{key} = ")));
    let entries = entries.chain(words.iter().map(|word| (*word).to_owned()));
    let lines: String = entries.map(|entry| format!("\"{entry}\"\n")).collect();
    let wanted = format!(
        "# Written by VOLTA_WRITE_DOCS=1 cargo test -p volta-suite --test tidy; do not edit.\n{lines}"
    );
    let path = root().join("fuzz/case.dict");
    if std::env::var_os("VOLTA_WRITE_DOCS").is_some() {
        std::fs::write(&path, &wanted).expect("the dictionary is written");
    }
    assert!(
        read(&path) == wanted,
        "fuzz/case.dict is not what the schema says; VOLTA_WRITE_DOCS=1 writes it"
    );
}

#[test]
fn the_page_on_file_tests_lists_the_keys_of_headers() {
    let rows = volta_suite::filetest::KEYS.iter().map(|(key, doc)| format!("| `{key}` | {doc} |\n"));
    let table = format!("\n| key | what it says |\n|---|---|\n{}\n", rows.collect::<String>());
    volta_suite::page::hold("tests/files/README.md", &[("keys of a header", table)])
        .expect("the page is as the keys are read");
}
