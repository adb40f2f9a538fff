//! The packages to publish: they are complete, licences are stated, and the minimal version of Rust is right.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use volta_suite::tree::{files, read, root};
use volta_suite::{Said, page};

/// What licences ask of those who pass on a program with a crate in it. Where there is a choice, the first is taken.
const LICENCES: [(&str, &str); 14] = [
    ("MIT OR Apache-2.0", NOTICE),
    ("Apache-2.0 OR MIT", NOTICE),
    ("MIT/Apache-2.0", NOTICE),
    ("MIT", NOTICE),
    ("Unlicense OR MIT", "nothing"),
    ("MIT-0", "nothing"),
    ("BSD-2-Clause OR Apache-2.0 OR MIT", NOTICE),
    ("Apache-2.0", "the licence's text and notices are passed on"),
    ("Apache-2.0 WITH LLVM-exception", "the same, but not for what is compiled"),
    ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", "the same, but not for what is compiled"),
    ("Unicode-3.0", NOTICE),
    ("(MIT OR Apache-2.0) AND Unicode-3.0", NOTICE),
    ("Zlib", "nothing of those who pass on programs"),
    ("LGPL-3.0+", "[above](#gmp-and-mpfr)"),
];

const NOTICE: &str = "the copyright notice is passed on";

fn cargo(arguments: &[&str]) -> String {
    let said = Said::by(Command::new(env!("CARGO")).args(arguments).current_dir(root()));
    assert_eq!(said.code, 0, "cargo {arguments:?}: {}", said.err);
    said.out
}

/// What Cargo knows of the workspace, and of what is built for this platform.
fn metadata() -> Value {
    let rustc = Said::by(Command::new("rustc").arg("-vV"));
    let host = rustc.out.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let text = cargo(&["metadata", "--format-version", "1", "--locked", "--filter-platform", host]);
    serde_json::from_str(&text).expect("it is JSON")
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// The crates of this repository that are to be published.
fn published(metadata: &Value) -> Vec<&Value> {
    let own = |package: &&Value| package["source"].is_null() && package["publish"].is_null();
    list(metadata, "packages").iter().filter(own).collect()
}

#[test]
fn crates_say_what_they_are() {
    let metadata = metadata();
    let crates = published(&metadata);
    assert_eq!(crates.len(), 6, "{crates:?}");
    for krate in crates {
        let name = text(krate, "name");
        for key in ["description", "license", "readme", "rust_version"] {
            assert!(!text(krate, key).is_empty(), "{name} has no {key}");
        }
        for (key, most) in [("keywords", 5), ("categories", 5)] {
            assert!((1..=most).contains(&list(krate, key).len()), "{name}: {key}");
        }
        for key in ["repository", "homepage", "documentation"] {
            assert!(!text(krate, key).contains(".invalid"), "{name}: {key} leads nowhere");
        }
        for dependency in list(krate, "dependencies") {
            let (of, wanted) = (text(dependency, "name"), text(dependency, "req"));
            assert!(wanted != "*", "{name} needs a version of {of}: the registry knows no paths");
        }
    }
}

/// The files that code includes when it is compiled, and tests do not.
fn included(source: &Path) -> Vec<PathBuf> {
    let text = read(source);
    let code = text.split("#[cfg(test)]").next().unwrap_or(&text);
    let mut found = Vec::new();
    for name in ["include_str!(\"", "include_bytes!(\"", "include!(\""] {
        let rest = code.split(name).skip(1);
        let paths = rest.filter_map(|rest| rest.split('"').next()).filter(|path| !path.is_empty());
        found.extend(paths.map(|path| source.parent().expect("it lies in a folder").join(path)));
    }
    found
}

/// Without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop()
        } else {
            plain.push(part);
            true
        };
    }
    plain
}

#[test]
fn packages_hold_what_their_code_needs_and_nothing_else() {
    for krate in published(&metadata()) {
        let name = text(krate, "name");
        let folder = Path::new(text(krate, "manifest_path")).parent().expect("it lies in a folder");
        let listed = cargo(&["package", "--list", "--allow-dirty", "--offline", "--locked", "-p", name]);
        let packed: BTreeSet<PathBuf> = listed.lines().map(|path| plain(&folder.join(path))).collect();
        let licences = ["LICENSE-MIT", "LICENSE-APACHE"].map(|name| folder.join(name));
        let script = folder.join("build.rs");
        let script = script.exists().then_some(script);
        for always in
            [folder.join("README.md"), folder.join("Cargo.toml")].iter().chain(&licences).chain(&script)
        {
            assert!(packed.contains(always), "{name} lacks {}", always.display());
        }
        let is_test = |path: &Path| {
            path.strip_prefix(folder)
                .is_ok_and(|path| path.iter().any(|part| part == "tests" || part == "tests.rs"))
        };
        for source in files(&folder.join("src"), "rs") {
            assert!(packed.contains(&source), "{name} lacks {}", source.display());
            for file in included(&source).iter().filter(|_| !is_test(&source)) {
                // Comments show such lines as well.
                assert!(packed.contains(&plain(file)) || !file.exists(), "{name} lacks {}", file.display());
            }
        }
        let foreign = packed.iter().filter(|path| !path.starts_with(folder.join("src")) && path.exists());
        assert!(foreign.count() <= 6, "{name} holds what nobody needs: {listed}");
    }
}

/// The names of packages that `from` needs, itself among them; of normal dependencies and of those for building.
fn needed<'v>(metadata: &'v Value, from: &'v str) -> BTreeSet<&'v str> {
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"], "nodes").iter().map(|node| (text(node, "id"), node)).collect();
    let mut found = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(id) = waiting.pop() {
        if !found.insert(id) {
            continue;
        }
        for dependency in list(nodes[id], "deps") {
            if list(dependency, "dep_kinds").iter().any(|kind| kind["kind"] != "dev") {
                waiting.push(text(dependency, "pkg"));
            }
        }
    }
    found
}

#[test]
fn licences_of_dependencies_are_stated() {
    let metadata = metadata();
    let packages = list(&metadata, "packages");
    let test = packages.iter().find(|package| text(package, "name") == "volta-test").expect("it is here");
    let needed = needed(&metadata, text(test, "id"));
    let mut crates: BTreeMap<&str, [BTreeSet<&str>; 2]> = BTreeMap::new();
    let resolved: BTreeSet<&str> =
        list(&metadata["resolve"], "nodes").iter().map(|node| text(node, "id")).collect();
    for package in packages
        .iter()
        .filter(|package| resolved.contains(text(package, "id")) && !package["source"].is_null())
    {
        let of_tests = usize::from(!needed.contains(text(package, "id")));
        crates.entry(text(package, "license")).or_default()[of_tests].insert(text(package, "name"));
    }
    let mut table =
        "| licence | asks | crates of `volta-test` | of the module for Python, or of Volta's own tests |\n|---|---|---|---|\n"
            .to_owned();
    for (licence, asks) in LICENCES {
        let Some(names) = crates.remove(licence) else { continue };
        let names = names.map(|names| names.into_iter().collect::<Vec<_>>().join(", "));
        table += &format!("| {licence} | {asks} | {} |\n", names.join(" | "));
    }
    assert!(
        crates.is_empty(),
        "what these licences ask must be looked at, and written down here: {crates:?}"
    );
    if cfg!(target_os = "linux") {
        page::hold("docs/licences.md", &[("dependencies", table)]).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn dependencies_need_no_newer_rust_than_is_said() {
    let metadata = metadata();
    let number =
        |version: &str| -> Vec<u64> { version.split('.').filter_map(|part| part.parse().ok()).collect() };
    let own = published(&metadata)[0];
    let said = number(text(own, "rust_version"));
    for package in list(&metadata, "packages") {
        let wanted = number(text(package, "rust_version"));
        assert!(wanted <= said, "{} needs Rust {}", text(package, "name"), text(package, "rust_version"));
    }
}
