//! Survivors with an argument: `tests/verifier_mutants/survivors.toml`.

use serde::Deserialize;

use super::source::Source;

/// One or more survivors of one function, and why no verdict can change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The file below `volta-core/src`, and the function with its type.
    pub at: String,
    /// The edits: kind, old text and new text, as the program prints them.
    pub edits: Vec<String>,
    /// The argument.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Records {
    #[serde(default)]
    survivor: Vec<Record>,
}

/// All records.
pub fn records() -> Vec<Record> {
    let text = include_str!("../../verifier_mutants/survivors.toml");
    let records: Records = toml::from_str(text).unwrap_or_else(|error| panic!("survivors.toml: {error}"));
    records.survivor
}

impl Record {
    /// The keys of the mutants that it covers.
    pub fn keys(&self) -> impl Iterator<Item = String> {
        self.edits.iter().map(|edit| format!("{} {edit}", self.at))
    }
}

/// The keys of records that no longer match a place in the sources.
pub fn stale(sources: &[Source]) -> Vec<String> {
    let keys: std::collections::HashSet<String> = sources.iter().flat_map(Source::keys).collect();
    records().iter().flat_map(Record::keys).filter(|key| !keys.contains(key)).collect()
}
