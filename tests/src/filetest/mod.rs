//! File tests: one PTX file a case, with its launch and the expected result in its header.
//!
//! `tests/files/README.md` describes the format. [`load`] reads a file, [`check`] runs it with all options that must
//! not change the report (memory layout, race detector, term patterns, threads) and compares the report with the
//! header.

mod annotation;
mod check;
mod header;

use std::path::{Path, PathBuf};

pub use check::check;
pub use header::{Command, File, KEYS, load, read};

/// All `.ptx` files under a folder, in order, with their names relative to it.
///
/// # Panics
/// When the folder cannot be read.
pub fn discover(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        let entries = std::fs::read_dir(&at).unwrap_or_else(|error| panic!("{}: {error}", at.display()));
        for entry in entries {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ptx") {
                let name = path.strip_prefix(folder).expect("it lies in the folder").with_extension("");
                let parts: Vec<String> =
                    name.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
                found.push((parts.join("::"), path));
            }
        }
    }
    found.sort();
    found
}
