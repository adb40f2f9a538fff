//! Fixture folders: `fixtures/<family>/<case>/volta.toml`, to any depth.

use std::fs;
use std::path::{Path, PathBuf};

use volta_case::{Shard, nearest};

use crate::manifest::{self, FILE_NAME};

/// Deeper folders are not searched.
const MAX_DEPTH: usize = 64;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A case in the folder `dir`.
    Case {
        /// `family::case`: the folders below the root.
        name: String,
        /// Its folder.
        dir: PathBuf,
        /// How its name goes on behind those of the folders: the member of a family, the part of a case.
        suffix: String,
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

/// The name of the family whose member a case is; of any other case, its own. A part is called as its case.
pub fn family_of(name: &str) -> &str {
    let (name, _) = Shard::split(name);
    name.rsplit_once("::").filter(|(_, member)| member.contains('=')).map_or(name, |(family, _)| family)
}

/// The cases below `root`, sorted by name. It is a problem if there is none, and so is a folder that has lost its case:
/// one with snapshots, or with a file of almost the right name, and no case in it or below it. Other folders without
/// cases are not of interest. Folders called `snapshots` or `include`, or whose name begins with `.` or `_`, are not
/// searched, and links to folders are not followed.
pub fn discover(root: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned();
    visit(root, &mut vec![], &name, &mut found);
    // The members of a family, and the parts of a case, stay in the order of its file.
    found.sort_by(|a, b| family_of(a.name()).cmp(family_of(b.name())));
    found
}

fn visit(dir: &Path, path: &mut Vec<String>, root_name: &str, found: &mut Vec<Found>) {
    let name = if path.is_empty() { root_name.to_owned() } else { path.join("::") };
    let before = found.len();
    if dir.join(FILE_NAME).is_file() {
        found.extend(manifest::tests(dir).into_iter().map(|suffix| Found::Case {
            name: format!("{name}{suffix}"),
            dir: dir.into(),
            suffix,
        }));
    }
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            found.push(Found::Wrong { name, message: format!("cannot read {}: {error}", dir.display()) });
            return;
        }
    };
    let (mut folders, mut lost): (Vec<String>, bool) = (Vec::new(), path.is_empty());
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            lost |= name == "snapshots";
            folders.push(name);
        } else {
            lost |= nearest(&name.to_lowercase(), [FILE_NAME]).is_some();
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
    if found.len() == before && lost {
        let message = format!(
            "there is no case in {}: neither it nor a folder below it has a {FILE_NAME}",
            dir.display()
        );
        found.push(Found::Wrong { name, message });
    }
}
