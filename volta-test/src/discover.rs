//! Fixture folders: `fixtures/<family>/<case>/volta.toml`, to any depth.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest::FILE_NAME;

/// Deeper folders are not searched.
const MAX_DEPTH: usize = 16;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A case in the folder `dir`.
    Case {
        /// `family::case`: the folders below the root.
        name: String,
        /// Its folder.
        dir: PathBuf,
    },
    /// A problem, which must not be ignored silently.
    Wrong {
        /// Its name in reports.
        name: String,
        /// What is wrong.
        message: String,
    },
}

impl Found {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Found::Case { name, .. } | Found::Wrong { name, .. } => name,
        }
    }
}

/// The cases below `root`, sorted by name. A folder without a case in it or below it is a problem, unless it is called
/// `snapshots` or `include`, or its name begins with `.` or `_`. Links to folders are not followed.
pub fn discover(root: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned();
    visit(root, &mut vec![], &name, &mut found);
    found.sort_by(|a, b| a.name().cmp(b.name()));
    found
}

fn visit(dir: &Path, path: &mut Vec<String>, root_name: &str, found: &mut Vec<Found>) {
    let name = if path.is_empty() { root_name.to_owned() } else { path.join("::") };
    let before = found.len();
    if dir.join(FILE_NAME).is_file() {
        found.push(Found::Case { name: name.clone(), dir: dir.into() });
    }
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            found.push(Found::Wrong { name, message: format!("cannot read {}: {error}", dir.display()) });
            return;
        }
    };
    let mut folders: Vec<String> = Vec::new();
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    folders.retain(|name| !name.starts_with(['.', '_']) && name != "snapshots" && name != "include");
    folders.sort();
    for folder in folders {
        if path.len() >= MAX_DEPTH {
            found.push(Found::Wrong { name: name.clone(), message: "folders are nested too deep".into() });
            return;
        }
        let below = dir.join(&folder);
        path.push(folder);
        visit(&below, path, root_name, found);
        path.pop();
    }
    if found.len() == before {
        let message = format!(
            "there is no case in {}: neither it nor a folder below it has a {FILE_NAME}",
            dir.display()
        );
        found.push(Found::Wrong { name, message });
    }
}
