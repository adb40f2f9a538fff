//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
///
/// # Panics
/// When the suite does not lie in it.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the suite lies in the workspace");
    root.into()
}

/// The files below `dir` with the extension (any for ""), sorted by path, without build products and hidden files.
pub fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![dir.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
                waiting.push(path);
            } else if extension.is_empty() || path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text of a file.
///
/// # Panics
/// When it cannot be read.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
