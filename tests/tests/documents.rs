//! Checks of documents: links, files and items that they name, commands, variables, figures that can be counted, and
//! examples.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use volta_case::{VerdictName, Word};
use volta_suite::tree::{files, read, root};
use volta_suite::{Said, commands_in, filetest};
use volta_test::case::Home;
use volta_test::manifest;
use volta_test::render::rules;

/// A document: its path below the root, and its text.
struct Document {
    path: String,
    text: String,
}

fn below_root(path: &Path) -> String {
    path.strip_prefix(root()).expect("it lies below").to_string_lossy().replace('\\', "/")
}

fn documents() -> Vec<Document> {
    files(&root(), "md").iter().map(|path| Document { path: below_root(path), text: read(path) }).collect()
}

impl Document {
    /// Blocks of code with their language, and the text without them.
    fn blocks(&self) -> (Vec<(String, String)>, String) {
        let (mut blocks, mut prose) = (Vec::new(), String::new());
        let mut open: Option<(String, String)> = None;
        for line in self.text.lines() {
            match (line.trim_start().strip_prefix("```"), &mut open) {
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(language), None) => open = Some((language.trim().to_owned(), String::new())),
                (None, Some((_, text))) => text.extend([line, "\n"]),
                (None, None) => prose.extend([line, "\n"]),
            }
        }
        (blocks, prose)
    }

    /// What stands between backticks.
    fn spans(&self) -> Vec<String> {
        let (_, prose) = self.blocks();
        prose.lines().flat_map(|line| line.split('`').skip(1).step_by(2).map(str::to_owned)).collect()
    }

    /// Lines that a reader is told to run.
    fn commands(&self) -> Vec<String> {
        let (blocks, _) = self.blocks();
        let shell = blocks.into_iter().filter(|(language, _)| language == "sh");
        let lines: Vec<String> =
            shell.flat_map(|(_, text)| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
        let starts = ["cargo ", "make ", "scripts/", "VOLTA_", "INSTA_", "PROPTEST_", "TRYBUILD"];
        let spans =
            self.spans().into_iter().filter(|span| starts.iter().any(|start| span.starts_with(start)));
        spans.chain(lines).map(|line| line.split('#').next().unwrap_or("").trim().to_owned()).collect()
    }

    /// The names by which links find the headings.
    fn anchors(&self) -> BTreeSet<String> {
        let (_, prose) = self.blocks();
        let heading = |line: &str| {
            let title = line.strip_prefix('#')?.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            Some(kept.map(|c| if c == ' ' { '-' } else { c }).collect())
        };
        prose.lines().filter_map(heading).collect()
    }
}

fn none(wrong: &[String], what: &str) {
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

#[test]
fn links_lead_to_files_and_headings() {
    let documents = documents();
    let anchors: BTreeMap<PathBuf, BTreeSet<String>> = documents
        .iter()
        .filter_map(|document| Some((root().join(&document.path).canonicalize().ok()?, document.anchors())))
        .collect();
    let mut broken = Vec::new();
    for document in &documents {
        let path = root().join(&document.path);
        for rest in document.text.split("](").skip(1) {
            let Some((link, _)) = rest.split_once(')') else { continue };
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) =
                link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let target = match file {
                "" => path.clone(),
                file => path.parent().expect("a file lies in a folder").join(file),
            };
            let headings = target.canonicalize().ok().and_then(|target| anchors.get(&target));
            let leads = match anchor {
                None => target.exists(),
                Some(anchor) => headings.is_some_and(|headings| headings.contains(anchor)),
            };
            if !leads {
                broken.push(format!("{}: {link}", document.path));
            }
        }
    }
    none(&broken, "links that lead nowhere");
}

/// Names that stand for a reader's own files, and what builds make.
const EXAMPLES: [&str; 6] = [
    "x.cu",
    "x.sm_80.ptx",
    "x.sm_80.use_fast_math.ptx",
    "softmax.sm_80.use_fast_math.ptx",
    "target/nvcc",
    "run.py",
];

fn is_path(span: &str) -> bool {
    let extensions = [".rs", ".md", ".toml", ".txt", ".sh", ".py", ".cu", ".ptx", ".snap", ".svg"];
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let named = extensions.iter().any(|extension| span.ends_with(extension) && span != *extension);
    span.chars().all(plain) && !span.starts_with('/') && (named || span.contains('/'))
}

#[test]
fn files_that_are_named_exist() {
    let all: Vec<String> = files(&root(), "").iter().map(|path| format!("/{}", below_root(path))).collect();
    // A file test or a fixture is called by its name, a folder of code by its path within a crate.
    let exists = |span: &str| {
        let span = span.trim_end_matches('/');
        let (file, folder) = (format!("/{span}"), format!("/{span}/"));
        let case = [format!("/{span}.ptx"), format!("/{span}.txt"), format!("/{span}.rs")];
        let is_it = |path: &String| {
            path.ends_with(&file) || path.contains(&folder) || case.iter().any(|case| path.ends_with(case))
        };
        all.iter().any(is_it)
    };
    let mut missing = Vec::new();
    for document in documents() {
        for span in document.spans().iter().filter(|span| is_path(span)) {
            if !EXAMPLES.contains(&span.as_str()) && !exists(span.trim_start_matches("../")) {
                missing.push(format!("{}: `{span}`", document.path));
            }
        }
    }
    none(&missing, "files that documents name and that do not exist");
}

/// Whether a span names an item of the code: `Type`, `Type::method`, `a_function`.
fn is_name(span: &str) -> bool {
    let parts: Vec<&str> = span.split("::").collect();
    let word = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let camel =
        span.starts_with(|c: char| c.is_ascii_uppercase()) && span.contains(|c: char| c.is_ascii_lowercase());
    let snake = span.contains('_') && span.starts_with(|c: char| c.is_ascii_lowercase());
    parts.iter().all(word) && (parts.len() > 1 || camel || snake)
}

#[test]
fn items_that_are_named_exist() {
    let mut words: BTreeSet<String> = BTreeSet::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let code = ["rs", "py", "v"].map(|extension| files(&root(), extension)).concat();
    for path in code.iter().chain(&files(&root().join("scripts"), "")) {
        if !path.ends_with("documents.rs") {
            words.extend(read(path).split(|c: char| !is_word(c)).map(str::to_owned));
        }
    }
    // Fixtures, file tests and kernels have names of their own.
    for path in files(&root(), "ptx").iter().chain(&files(&root(), "toml")).chain(&files(&root(), "cu")) {
        let parts = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        words.extend(parts.map(|part| part.split('.').next().unwrap_or(&part).to_owned()));
    }
    for path in files(&root().join("fixtures"), "cu") {
        words.extend(read(&path).split(|c: char| !is_word(c)).map(str::to_owned));
    }
    let mut missing = Vec::new();
    for document in documents() {
        for span in document.spans().iter().filter(|span| is_name(span)) {
            if !span.split("::").all(|word| words.contains(word)) {
                missing.push(format!("{}: `{span}`", document.path));
            }
        }
    }
    none(&missing, "names in documents that nothing has");
}

/// What is wrong with a command, if a machine can see it.
fn wrong_command(command: &str, help: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let assigned = words.iter().take_while(|word| {
        word.split('=').next().is_some_and(|name| {
            word.contains('=')
                && name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
        })
    });
    let words = &words[assigned.count()..];
    let (program, arguments) = words.split_first()?;
    let after = |key: &'static str| {
        let pairs = arguments.windows(2).filter(move |pair| pair[0] == key);
        pairs.map(|pair| pair[1].to_owned()).collect::<Vec<String>>()
    };
    let exists = |path: &str| root().join(path).exists();
    match *program {
        "make" => {
            let makefile = read(&root().join("Makefile"));
            let is_target = |name: &str| makefile.lines().any(|line| line.starts_with(&format!("{name}:")));
            let targets = arguments.iter().take_while(|word| !word.contains('='));
            let missing = targets.into_iter().find(|name| !is_target(name));
            missing.map(|name| format!("there is no target {name}"))
        }
        "cargo" if arguments.first() == Some(&"volta") => wrong_arguments(&arguments[1..], help),
        "cargo" => {
            let krate = |name: &String| {
                let manifests = [
                    "volta-case",
                    "volta-certificate",
                    "volta-core",
                    "volta-interpreter",
                    "volta-macros",
                    "volta-test",
                    "tests",
                ];
                let named = |manifest: &&str| {
                    read(&root().join(manifest).join("Cargo.toml")).contains(&format!("name = \"{name}\""))
                };
                manifests.iter().any(named)
            };
            if let Some(name) = after("-p").iter().find(|name| !krate(name)) {
                return Some(format!("there is no crate {name}"));
            }
            let is_test = |name: &str| {
                let places = [format!("tests/tests/{name}"), format!("volta-test/tests/{name}")];
                places.iter().any(|at| ["", "/main"].iter().any(|main| exists(&format!("{at}{main}.rs"))))
            };
            if let Some(name) = after("--test").iter().find(|name| !is_test(name)) {
                return Some(format!("there is no test {name}"));
            }
            let binaries = read(&root().join("tests/Cargo.toml"));
            if let Some(name) = after("--bin").iter().find(|name| !binaries.contains(&format!("\"{name}\"")))
            {
                return Some(format!("there is no binary {name}"));
            }
            let own: Vec<&str> =
                arguments.iter().skip_while(|word| **word != "--").skip(1).copied().collect();
            let is_volta = after("-p") == ["volta-test"] && arguments.first() == Some(&"run");
            if is_volta { wrong_arguments(&own, help) } else { None }
        }
        script if script.starts_with("scripts/") => {
            (!exists(script)).then(|| format!("there is no {script}"))
        }
        _ => None,
    }
}

/// What is wrong with the arguments of `cargo volta`.
fn wrong_arguments(arguments: &[&str], help: &str) -> Option<String> {
    let (command, rest) = arguments.split_first()?;
    let Some(own) = help.split("\n@").find(|part| part.starts_with(&format!("{command}\n"))) else {
        return (!command.starts_with('-')).then(|| format!("cargo volta has no command {command}"));
    };
    for word in rest {
        let option = word.split('=').next().unwrap_or(word);
        if option.starts_with("--") && !own.contains(option) {
            return Some(format!("cargo volta {command} has no option {option}"));
        }
        if word.starts_with("fixtures/") && !root().join(word).exists() && !word.contains('<') {
            return Some(format!("there is no {word}"));
        }
    }
    None
}

/// What the program prints.
fn printed(arguments: &[&str]) -> String {
    let said = Said::by(Command::new(env!("CARGO_BIN_EXE_volta-under-test")).args(arguments));
    assert_eq!(said.code, 0, "{arguments:?}: {}", said.err);
    said.out
}

#[test]
fn commands_name_what_there_is() {
    let commands = commands_in(&printed(&["--help"]));
    let of = |command: &String| format!("\n@{command}\n{}", printed(&[command.as_str(), "--help"]));
    let help: String = commands.iter().filter(|command| *command != "help").map(of).collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    for document in documents() {
        for command in document.commands() {
            count += 1;
            if let Some(message) = wrong_command(&command, &help) {
                wrong.push(format!("{}: `{command}`: {message}", document.path));
            }
        }
    }
    assert!(count > 50, "only {count} commands are found");
    none(&wrong, "commands that cannot work");
}

/// `volta` alone is another program on many machines.
#[test]
fn every_text_calls_the_program_by_its_name() {
    let commands = commands_in(&printed(&["--help"]));
    let mut wrong = Vec::new();
    for extension in ["md", "rs", "toml", "snap", "json", "py", "sh", "txt", "yml"] {
        for path in files(&root(), extension) {
            let text = read(&path);
            for (at, _) in text.match_indices("volta ") {
                let before = &text[..at];
                let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || "-_/.".contains(c));
                let next = text[at + "volta ".len()..].split(|c: char| !c.is_ascii_lowercase()).next();
                if is_word
                    && !before.ends_with("cargo ")
                    && next.is_some_and(|next| commands.iter().any(|command| command == next))
                {
                    let line = before.lines().count();
                    wrong.push(format!("{}:{line}: volta {}", below_root(&path), next.unwrap_or_default()));
                }
            }
        }
    }
    none(&wrong, "the program is called `cargo volta`");
}

/// The variables of the environment that a text names.
fn variables(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let own = words.filter(|word| word.starts_with("VOLTA_") && word.len() > 6);
    own.map(str::to_owned).collect()
}

/// Of tests, of programs that tests start, and of a build script: nobody sets them by hand.
const INNER: [&str; 6] = [
    "VOLTA_OPT_LEVEL",
    "VOLTA_CASE_",
    "VOLTA_CASE_SOFTMAX",
    "VOLTA_MUTANT",
    "VOLTA_MUTANTS_REACHED",
    "VOLTA_Z",
];

#[test]
fn variables_are_documented_and_exist() {
    let of = |dir: &str, extension| -> BTreeSet<String> {
        let all = files(&root().join(dir), extension);
        all.iter()
            .filter(|path| !path.ends_with("documents.rs"))
            // What a file's own tests read concerns nobody else.
            .flat_map(|path| variables(read(path).split("#[cfg(test)]").next().unwrap_or_default()))
            .collect()
    };
    let users = of("volta-test/src", "rs");
    let code: BTreeSet<String> = ["volta-core/src", "tests/src", "tests/tests", "scripts"]
        .iter()
        .flat_map(|dir| of(dir, ""))
        .chain(users.clone())
        .collect();
    let documented: BTreeSet<String> =
        documents().iter().flat_map(|document| variables(&document.text)).collect();
    let readme = variables(&read(&root().join("README.md")));
    let mut wrong = Vec::new();
    for name in users.difference(&readme) {
        wrong.push(format!("{name} is not in README.md"));
    }
    for name in code.difference(&documented) {
        wrong.push(format!("{name} is in no document"));
    }
    for name in documented.difference(&code) {
        wrong.push(format!("nothing reads {name}"));
    }
    wrong.retain(|line| !INNER.iter().any(|name| line.split_whitespace().any(|word| word == *name)));
    none(&wrong, "variables of the environment");
}

#[test]
fn examples_are_cases() {
    let mut wrong = Vec::new();
    for document in documents() {
        for (language, text) in document.blocks().0 {
            let problem = match language.as_str() {
                "toml" if text.contains("[params]") => {
                    let member = manifest::members_of(&text).into_iter().next();
                    let name = member.unwrap_or_else(|| "example".into());
                    let problems = manifest::parse(&name, Home::default(), &text).err();
                    problems.map(|problems| problems.into_iter().map(|problem| problem.message).collect())
                }
                "toml" => toml::from_str::<toml::Table>(&text).err().map(|error| error.to_string()),
                "ptx" if text.contains("//@ test:") => {
                    filetest::read(&text, "example.ptx").and_then(|file| filetest::check(&file)).err()
                }
                _ => None,
            };
            wrong.extend(problem.map(|problem: String| format!("{}: {problem}\n{text}", document.path)));
        }
    }
    none(&wrong, "examples that are wrong");
}

/// The number before a text in a document.
fn told(document: &str, after: &str) -> usize {
    let text = read(&root().join(document));
    let (before, _) = text.split_once(after).unwrap_or_else(|| panic!("{document} does not say `{after}`"));
    let word = before.split_whitespace().next_back().unwrap_or("");
    word.replace(',', "").parse().unwrap_or_else(|_| panic!("{document}: `{word}` before `{after}`"))
}

#[test]
fn figures_are_what_is_counted() {
    let cases =
        files(&root().join("fixtures"), "toml").iter().filter(|path| path.ends_with("volta.toml")).count();
    let near = told("README.md", " cases with known verdicts");
    assert!(near.abs_diff(cases) <= 50, "README.md says some {near} cases; there are {cases}");
}

#[test]
fn families_are_described() {
    let page = read(&root().join("fixtures/README.md"));
    let folders = std::fs::read_dir(root().join("fixtures")).expect("there are fixtures").flatten();
    let mut families: Vec<String> = folders
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    families.retain(|family| !page.contains(&format!("\n| `{family}` |")));
    none(&families, "families that fixtures/README.md does not describe");
}

#[test]
fn rules_have_a_section_and_a_short_form() {
    let page = read(&root().join("docs/semantics.md"));
    let is_rule = |name: &&str| {
        let digits = name.trim_start_matches(|c: char| c.is_ascii_uppercase());
        digits.len() + 1 == name.len() && digits.parse::<u32>().is_ok()
    };
    let titles =
        page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let stated: BTreeSet<&str> = titles.filter(is_rule).collect();
    let explained: BTreeSet<&str> = rules::RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(stated, explained, "docs/semantics.md on the left, `cargo volta explain` on the right");
}

#[test]
fn verdicts_are_documented() {
    let rule = read(&root().join("docs/semantics.md"));
    let (_, rule) = rule.split_once("## R1\n").expect("there is a rule on verdicts");
    let rule = rule.split("\n## ").next().unwrap_or(rule);
    let readme = read(&root().join("README.md"));
    let names: BTreeSet<&str> = VerdictName::WORDS.iter().map(|(_, verdict)| verdict.name()).collect();
    let missing: Vec<String> = names
        .iter()
        .flat_map(|name| [("README.md", &readme[..], name), ("R1", rule, name)])
        .filter(|(_, text, name)| {
            !text.contains(&format!("`{name}`")) && !text.contains(&format!("*{name}*"))
        })
        .map(|(page, _, name)| format!("{page}: {name}"))
        .collect();
    none(&missing, "verdicts that are not documented");
}

/// What ARCHITECTURE.md says that crates must not do.
#[test]
fn crates_keep_to_what_they_are() {
    let schema = read(&root().join("volta-case/Cargo.toml"));
    assert!(!schema.contains("dependencies]"), "volta-case depends on nothing");
    let mut wrong = Vec::new();
    for path in files(&root().join("volta-core/src"), "rs") {
        let text = read(&path);
        let code = text.split("#[cfg(test)]").next().unwrap_or(&text);
        let is_test = below_root(&path).contains("/tests");
        for outside in ["std::fs", "std::process", "std::net", "std::env", "println!", "std::io::stdout"] {
            if !is_test && code.contains(outside) {
                wrong.push(format!("{}: {outside}", below_root(&path)));
            }
        }
    }
    none(&wrong, "volta-core reads no files, starts no processes and writes to no terminal");
}
