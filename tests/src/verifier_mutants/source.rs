//! The sources that are mutated: those of `volta-core` on which *equivalent*, *clean* and *different* rest.

use std::fs;
use std::path::{Path, PathBuf};

use super::draw::Mutant;
use super::sites::{Site, sites};

/// Modules and files of `volta-core/src` that are not mutated, since no verdict rests on them: they render findings in
/// words, hold data, are tests, or write scripts for solvers.
const LEFT_OUT: [&str; 17] = [
    "algebra/laws.rs",
    "algebra/print.rs",
    "algebra/tests",
    "base",
    "case/mod.rs",
    "decide/localize.rs",
    "decide/smt",
    "lib.rs",
    "machine/exec/access/access_fault.rs",
    "program/error.rs",
    "program/print.rs",
    "program/tests",
    "ptx/error.rs",
    "ptx/location.rs",
    "ptx/print.rs",
    "term/print.rs",
    "verdict",
];

/// One file that is mutated.
pub struct Source {
    /// Its path below `volta-core/src`, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
    /// All sites of edits in it.
    pub sites: Vec<Site>,
}

impl Source {
    /// The keys of all mutants that it can have.
    pub fn keys(&self) -> impl Iterator<Item = String> {
        self.sites.iter().map(|site| Mutant { number: 0, path: &self.path, site }.key())
    }
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the suite lies in the workspace").into()
}

/// All sources that are mutated, by path.
pub fn sources() -> Vec<Source> {
    let base = root().join("volta-core/src");
    let mut paths = Vec::new();
    let mut waiting = vec![base.clone()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).expect("sources can be read").flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                paths.push(path);
            }
        }
    }
    let mut sources = Vec::new();
    for file in paths {
        let path = file.strip_prefix(&base).expect("it lies below").to_string_lossy().replace('\\', "/");
        let left_out = |out: &&str| path == **out || path.starts_with(&format!("{out}/"));
        if LEFT_OUT.iter().any(left_out) || path.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).expect("sources can be read");
        let sites = sites(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        sources.push(Source { path, text, sites });
    }
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    sources
}
