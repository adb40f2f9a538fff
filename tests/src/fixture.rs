//! Fixtures with their checked-in PTX, as the verifier is given them.

use std::path::{Path, PathBuf};

use volta_core::case::Case;
use volta_test::discover::{Found, discover};
use volta_test::manifest;
use volta_test::nvcc::Toolchain;
use volta_test::run::ready;

/// The folder of all fixtures.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// Names and folders of all fixtures, by name.
pub fn all() -> Vec<(String, PathBuf)> {
    let found = discover(&root()).into_iter();
    found
        .map(|found| match found {
            Found::Case { name, dir } => (name, dir),
            Found::Wrong { name, message } => panic!("{name}: {message}"),
        })
        .collect()
}

/// What the verifier is given for a fixture, from its checked-in PTX; `None` where a case is wrong on purpose.
pub fn load(name: &str, dir: &Path) -> Option<Case> {
    let case = manifest::load(name, dir, &root()).ok()?;
    ready(&case, &Toolchain::none()).ok()
}
