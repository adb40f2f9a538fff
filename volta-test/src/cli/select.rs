//! Which cases the arguments name.

use std::path::{Path, PathBuf};

use volta_case::nearest;

use super::Selection;
use crate::beside::normalized;
use crate::discover::{Found, discover};
use crate::manifest::FILE_NAME;

/// A case to run.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    /// `family::case`
    pub(super) name: String,
    /// Its folder.
    pub(super) dir: PathBuf,
    /// Files below this folder may be read.
    pub(super) root: PathBuf,
    /// Whether it was named by itself, so that it runs even if it is slow.
    pub(super) alone: bool,
}

/// A case, or something that must not pass silently.
#[derive(Clone, Debug)]
pub(super) enum Selected {
    Case(Folder),
    Wrong { name: String, message: String },
}

impl Selected {
    fn name(&self) -> &str {
        match self {
            Selected::Case(folder) => &folder.name,
            Selected::Wrong { name, .. } => name,
        }
    }
}

/// The cases, each once, by name.
pub(super) fn select(selection: &Selection) -> Vec<Selected> {
    let mut selected: Vec<Selected> = Vec::new();
    for path in &selection.paths {
        for found in below(path, selection.root.as_deref()) {
            let is_known = |other: &Selected| match (other, &found) {
                (Selected::Case(a), Selected::Case(b)) => a.dir == b.dir,
                _ => false,
            };
            if !selected.iter().any(is_known) {
                selected.push(found);
            }
        }
    }
    selected.sort_by(|a, b| a.name().cmp(b.name()));
    let names: Vec<String> = selected.iter().map(|selected| selected.name().to_owned()).collect();
    let wanted = |name: &str| {
        (selection.exact.is_empty() || selection.exact.iter().any(|exact| exact == name))
            && (selection.filter.is_empty() || selection.filter.iter().any(|regex| regex.is_match(name)))
            && !selection.exclude.iter().any(|regex| regex.is_match(name))
    };
    let is_narrowed =
        !selection.exact.is_empty() || !selection.filter.is_empty() || !selection.exclude.is_empty();
    // A folder that is wrong as a whole is not hidden by a filter unless it could not have held the case.
    selected.retain(|selected| {
        wanted(selected.name()) || (names.len() == 1 && matches!(selected, Selected::Wrong { .. }))
    });
    for exact in &selection.exact {
        if !names.contains(exact) {
            let near = nearest(exact, names.iter().map(String::as_str));
            let help = near.map_or(String::new(), |near| format!("\nhelp: did you mean `{near}`?"));
            let message = format!("no case is called `{exact}`{help}");
            selected.push(Selected::Wrong { name: exact.clone(), message });
        }
    }
    if selected.is_empty() && is_narrowed {
        let count = if names.len() == 1 { "1 case".into() } else { format!("{} cases", names.len()) };
        let message =
            format!("none of {count} has such a name\nhelp: without options, `volta list` names them");
        selected.push(Selected::Wrong { name: "no_cases".into(), message });
    }
    if selection.exact.len() == selected.len() {
        for selected in &mut selected {
            if let Selected::Case(folder) = selected {
                folder.alone = true;
            }
        }
    }
    selected
}

/// The cases in `path` and below it.
fn below(path: &Path, root: Option<&Path>) -> Vec<Selected> {
    let wrong = |message: String| {
        let name = path.to_string_lossy().into_owned();
        vec![Selected::Wrong { name, message }]
    };
    let is_manifest = path.file_name().is_some_and(|name| name == FILE_NAME);
    let dir = if is_manifest { path.parent().unwrap_or(Path::new("")) } else { path };
    let dir = normalized(&std::path::absolute(dir).unwrap_or_else(|_| dir.into()));
    if !dir.exists() {
        return wrong(format!("there is no folder {}", path.display()));
    }
    if !dir.is_dir() {
        let help = if path.extension().is_some_and(|extension| extension == "cu" || extension == "ptx") {
            "\nhelp: a case is a folder with a volta.toml that names kernels; `volta check --help` shows one"
        } else {
            ""
        };
        return wrong(format!("{} is no folder{help}", path.display()));
    }
    let is_case = dir.join(FILE_NAME).is_file();
    let root = match root {
        Some(root) => normalized(&std::path::absolute(root).unwrap_or_else(|_| root.into())),
        None => enclosing_root(&dir, is_case),
    };
    let prefix = dir.strip_prefix(&root).unwrap_or(Path::new(""));
    let prefix: Vec<String> =
        prefix.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let found = discover(&dir);
    let alone = is_case && found.len() == 1;
    let full_name = |name: String, is_dir_itself: bool| {
        let mut parts = prefix.clone();
        if !is_dir_itself || parts.is_empty() {
            parts.push(name);
        }
        parts.join("::")
    };
    let selected = found.into_iter().map(|found| match found {
        Found::Case { name, dir: case } => Selected::Case(Folder {
            name: full_name(name, case == dir),
            dir: case,
            root: root.clone(),
            alone,
        }),
        Found::Wrong { name, message } => {
            let is_dir_itself = dir.file_name().is_some_and(|dir| dir.to_string_lossy() == name);
            Selected::Wrong { name: full_name(name, is_dir_itself), message }
        }
    });
    selected.collect()
}

/// The outermost enclosing folder called `fixtures`; otherwise the folder itself, or for a case the family's folder.
fn enclosing_root(dir: &Path, is_case: bool) -> PathBuf {
    let is_fixtures = |dir: &&Path| dir.file_name().is_some_and(|name| name == "fixtures");
    let own = if is_case { dir.parent().and_then(Path::parent).or(dir.parent()).unwrap_or(dir) } else { dir };
    dir.ancestors().filter(is_fixtures).last().unwrap_or(own).into()
}
