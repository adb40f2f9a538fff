//! Selecting the cases that the arguments name.

use std::path::{Component, Path, PathBuf};

use volta_case::{Shard, nearest};

use super::Selection;
use crate::beside::normalized;
use crate::discover::{Found, discover, family_of};
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
    /// Whether only this case was selected, so that it runs even if it is slow.
    pub(super) alone: bool,
}

/// A case, or a problem, which must not be ignored silently.
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

/// The cases, each once, by name; of a case in parts, each part.
pub(super) fn select(selection: &Selection) -> Vec<Selected> {
    select_by(selection, |found| found)
}

/// The cases, each once, by name; a case in parts as a whole.
pub(super) fn select_whole(selection: &Selection) -> Vec<Selected> {
    select_by(selection, |found| match found {
        Selected::Case(folder) => {
            Selected::Case(Folder { name: Shard::split(&folder.name).0.into(), ..folder })
        }
        wrong @ Selected::Wrong { .. } => wrong,
    })
}

fn select_by(selection: &Selection, named: fn(Selected) -> Selected) -> Vec<Selected> {
    let mut selected: Vec<Selected> = Vec::new();
    for path in &selection.paths {
        for found in below(path, selection.root.as_deref()).into_iter().map(named) {
            let is_known = |other: &Selected| match (other, &found) {
                (Selected::Case(a), Selected::Case(b)) => a.dir == b.dir && a.name == b.name,
                _ => false,
            };
            if !selected.iter().any(is_known) {
                selected.push(found);
            }
        }
    }
    selected.sort_by(|a, b| family_of(a.name()).cmp(family_of(b.name())));
    let names: Vec<String> = selected.iter().map(|selected| selected.name().to_owned()).collect();
    // The name of a case names all its parts.
    let is_called = |name: &str, exact: &str| name == exact || Shard::split(name).0 == exact;
    let wanted = |name: &str| {
        (selection.exact.is_empty() || selection.exact.iter().any(|exact| is_called(name, exact)))
            && (selection.filter.is_empty() || selection.filter.iter().any(|regex| regex.is_match(name)))
            && !selection.exclude.iter().any(|regex| regex.is_match(name))
    };
    let is_narrowed =
        !selection.exact.is_empty() || !selection.filter.is_empty() || !selection.exclude.is_empty();
    // If nothing but one problem was found, a filter must not hide it.
    selected.retain(|selected| {
        wanted(selected.name()) || (names.len() == 1 && matches!(selected, Selected::Wrong { .. }))
    });
    for exact in &selection.exact {
        if !names.iter().any(|name| is_called(name, exact)) {
            let near = nearest(exact, names.iter().map(String::as_str));
            let help = near.map_or(String::new(), |near| format!("\nhelp: did you mean `{near}`?"));
            let message = format!("there is no case `{exact}`{help}");
            selected.push(Selected::Wrong { name: exact.clone(), message });
        }
    }
    if selected.is_empty() && is_narrowed {
        let count = if names.len() == 1 { "1 case".into() } else { format!("{} cases", names.len()) };
        let message =
            format!("none of {count} matches\nhelp: `cargo volta list` without options names all cases");
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
            "\nhelp: a case is a folder with a volta.toml that names kernels; `cargo volta check --help` shows one"
        } else {
            ""
        };
        return wrong(format!("{} is not a folder{help}", path.display()));
    }
    let is_case = dir.join(FILE_NAME).is_file();
    let top = enclosing_fixtures(&dir);
    let root = match (root, &top) {
        (Some(root), _) => normalized(&std::path::absolute(root).unwrap_or_else(|_| root.into())),
        (None, Some(top)) => top.clone(),
        // A single case may read the files of its family.
        (None, None) if is_case => {
            dir.parent().and_then(Path::parent).or(dir.parent()).unwrap_or(&dir).into()
        }
        (None, None) => dir.clone(),
    };
    let found = discover(&dir);
    let alone = is_case && found.len() == 1;
    let selected = found.into_iter().map(|found| match found {
        Found::Case { dir: case, suffix, .. } => Selected::Case(Folder {
            name: name_of(&case, top.as_deref()) + &suffix,
            dir: case,
            root: root.clone(),
            alone,
        }),
        Found::Wrong { name, message } => {
            let is_dir_itself = dir.file_name().is_some_and(|dir| dir.to_string_lossy() == name);
            let wrong = if is_dir_itself { dir.clone() } else { dir.join(name.replace("::", "/")) };
            Selected::Wrong { name: name_of(&wrong, top.as_deref()), message }
        }
    });
    selected.collect()
}

/// `family::case`: the folders below `top`, or the last two without it. The name depends neither on the current
/// directory nor on the other selected cases.
fn name_of(dir: &Path, top: Option<&Path>) -> String {
    let part = |part: Component<'_>| {
        if let Component::Normal(name) = part { Some(name.to_string_lossy().into_owned()) } else { None }
    };
    let below = top.and_then(|top| dir.strip_prefix(top).ok()).filter(|below| !below.as_os_str().is_empty());
    let mut parts: Vec<String> = below.unwrap_or(dir).components().filter_map(part).collect();
    if below.is_none() {
        // `top` itself has its own name.
        let kept = if top.is_some() { 1 } else { 2 };
        parts.drain(..parts.len().saturating_sub(kept));
    }
    parts.join("::")
}

/// The outermost enclosing folder called `fixtures`.
fn enclosing_fixtures(dir: &Path) -> Option<PathBuf> {
    let is_fixtures = |dir: &&Path| dir.file_name().is_some_and(|name| name == "fixtures");
    dir.ancestors().filter(is_fixtures).last().map(Path::to_owned)
}
