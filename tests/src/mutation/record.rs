//! Recorded survivors, each group with an argument why it is harmless.

use std::path::Path;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    survivor: Vec<Record>,
}

/// Survivors of some kinds at some places, for one reason.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The family.
    pub family: String,
    /// The kinds of edits.
    pub kinds: Vec<String>,
    /// Lines of the sources, as named by [`super::place`].
    pub at: Vec<String>,
    /// If given, only survivors whose excerpt contains this text.
    pub edit: Option<String>,
    /// The argument why they are harmless.
    pub why: String,
}

impl Record {
    /// Whether it covers a survivor.
    pub fn covers(&self, family: &str, kind: &str, at: &str, excerpt: &str) -> bool {
        self.family == family
            && self.kinds.iter().any(|own| own == kind)
            && self.at.iter().any(|own| own == at)
            && self.edit.as_ref().is_none_or(|edit| excerpt.contains(edit.as_str()))
    }

    /// Its kinds and places that no survivor (kind, place, excerpt) of its family has.
    pub fn idle(&self, survivors: &[(String, String, String)]) -> Vec<String> {
        let own: Vec<_> = survivors
            .iter()
            .filter(|(kind, at, excerpt)| self.covers(&self.family, kind, at, excerpt))
            .collect();
        let kinds = self.kinds.iter().filter(|kind| own.iter().all(|(other, ..)| other != *kind));
        let places = self.at.iter().filter(|at| own.iter().all(|(_, other, _)| other != *at));
        kinds.chain(places).cloned().collect()
    }
}

/// All records.
///
/// # Panics
/// When the file cannot be read.
pub fn records() -> Vec<Record> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("mutation/survivors.toml");
    let text = std::fs::read_to_string(&path).expect("the list of survivors");
    let file: File = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.survivor
}
