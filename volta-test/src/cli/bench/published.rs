//! `published.toml`: what was published for the kernels of some cases.

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
    /// What the publication calls it.
    pub(super) kernel: String,
    /// Generating the conditions: running both kernels.
    pub(super) generate: Option<f64>,
    /// Solving them.
    pub(super) solve: Option<f64>,
    /// Solving the first element alone.
    pub(super) first: Option<f64>,
    /// The median element.
    pub(super) median: Option<f64>,
    /// Z3 on the first element.
    pub(super) z3: Option<f64>,
    /// Z3 on the first element, with the axiom of addition.
    pub(super) z3_axiom: Option<f64>,
    /// Z3 gave up after those times.
    #[serde(default)]
    pub(super) z3_unknown: bool,
}

impl Published {
    /// What was published for a case.
    pub(super) fn of(&self, case: &str) -> Option<&Figures> {
        self.row.iter().find(|row| row.case == case)
    }
}

/// Reads the table in a folder; none is an empty one.
pub(super) fn read(root: &Path) -> Result<Published, String> {
    let path = root.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) => toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Published::default()),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}
