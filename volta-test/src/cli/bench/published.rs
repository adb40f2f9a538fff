//! `published.toml`: the figures published for the kernels of some cases.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file, beside the families.
const FILE: &str = "published.toml";

/// All published figures.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    #[serde(default)]
    row: Vec<Figures>,
}

/// One row of the published tables. Times are seconds.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figures {
    /// The case that verifies the same pair, `family::case`.
    pub(super) case: String,
    /// The name of the kernel in the publication.
    pub(super) kernel: String,
    /// The time for generating the conditions: running both kernels.
    pub(super) generate: Option<f64>,
    /// The time for solving the conditions.
    pub(super) solve: Option<f64>,
    /// The time for solving the first element alone.
    pub(super) first: Option<f64>,
    /// The median time of an element.
    pub(super) median: Option<f64>,
    /// The time of Z3 for the first element.
    pub(super) z3: Option<f64>,
    /// The time of Z3 for the first element, with the axiom of addition.
    pub(super) z3_axiom: Option<f64>,
    /// Whether Z3 gave up after those times.
    #[serde(default)]
    pub(super) z3_unknown: bool,
}

impl Published {
    /// The figures published for a case.
    pub(super) fn of(&self, case: &str) -> Option<&Figures> {
        self.row.iter().find(|row| row.case == case)
    }
}

/// Reads the file in a folder; a missing file is an empty table.
pub(super) fn read(root: &Path) -> Result<Published, String> {
    let path = root.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) => toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Published::default()),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}
