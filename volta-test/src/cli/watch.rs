//! `cargo volta watch`: runs cases again whenever one of their files has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use clap::Args;

use super::check::{check_selected, load, name_of};
use super::select::{Folder, Selected, select};
use super::{CheckArgs, Exit, Format, complain};
use crate::beside::{self, normalized, slashed};
use crate::case::{Case, GraphSource};
use crate::manifest::FILE_NAME;
use crate::nvcc;
use crate::prepare::shown;
use crate::render;

/// The interval at which files are polled. Cases run only once two consecutive polls agree, so that an editor has
/// finished writing.
const PAUSE: Duration = Duration::from_millis(200);

/// Arguments of `cargo volta watch`.
#[derive(Debug, Args)]
#[command(after_help = "\
The files of a case are its volta.toml, its sources and what they include, the PTX beside them, files \
with contents and its snapshot. New \
cases are run, too. The command runs until it is interrupted.

Examples:
  cargo volta watch kernels
  cargo volta watch fixtures/softmax --filter online")]
pub(super) struct WatchArgs {
    #[command(flatten)]
    check: CheckArgs,
}

/// The time and length of a file; `None` if it does not exist.
type Stamp = Option<(SystemTime, u64)>;

/// The files of a case with their current stamps.
type Files = BTreeMap<PathBuf, Stamp>;

/// Runs all cases, then again each case of which a file has changed, until the process ends.
pub(super) fn watch(arguments: &WatchArgs, out: &mut dyn Write) -> io::Result<Exit> {
    let arguments = &arguments.check;
    if arguments.stdin || arguments.accept || arguments.list {
        complain(
            "watched cases are in folders, and are run: `watch` takes none of `--stdin`, `--accept`, `--list`",
        );
        return Ok(Exit::CouldNotRun);
    }
    let mut known: BTreeMap<String, Files> = BTreeMap::new();
    let mut seen = files_of_all(&select(&arguments.selection));
    loop {
        let selected = select(&arguments.selection);
        let now = files_of_all(&selected);
        let is_settled = std::mem::replace(&mut seen, now) == seen;
        if is_settled && known != seen {
            let first = known.is_empty();
            let changed: Vec<Selected> = selected
                .into_iter()
                .filter(|one| known.get(name_of(one)) != seen.get(name_of(one)))
                .collect();
            // Other formats than text must not be interrupted by messages, which go to standard error instead.
            let is_text = arguments.format == Format::Human;
            let mut aside = io::stderr();
            if !first && !changed.is_empty() {
                announce(&known, &seen, if is_text { &mut *out } else { &mut aside })?;
            }
            known.clone_from(&seen);
            if first || !changed.is_empty() {
                check_selected(arguments, &changed, out)?;
                let to: &mut dyn Write = if is_text { &mut *out } else { &mut aside };
                writeln!(to, "watching {} for changes", count(known.len()))?;
                out.flush()?;
            }
        }
        sleep(PAUSE);
    }
}

fn count(cases: usize) -> String {
    if cases == 1 { "1 case".into() } else { format!("{cases} cases") }
}

/// Prints which files changed; on a terminal, at the top of a cleared screen.
fn announce(
    known: &BTreeMap<String, Files>,
    now: &BTreeMap<String, Files>,
    out: &mut dyn Write,
) -> io::Result<()> {
    /// The number of files that are named; the others are counted.
    const NAMED: usize = 4;
    let stamps = |files: &BTreeMap<String, Files>| -> Files {
        files.values().flatten().map(|(path, stamp)| (path.clone(), *stamp)).collect()
    };
    let (before, after) = (stamps(known), stamps(now));
    let changed: BTreeSet<&PathBuf> = before
        .iter()
        .filter(|(path, stamp)| after.get(*path) != Some(stamp))
        .chain(after.iter().filter(|(path, _)| !before.contains_key(*path)))
        .map(|(path, _)| path)
        .collect();
    let mut names: Vec<String> =
        changed.iter().take(NAMED).map(|path| render::clean_line(&slashed(&shown(path)))).collect();
    if changed.len() > NAMED {
        names.push(format!("{} more", changed.len() - NAMED));
    }
    if io::stdout().is_terminal() {
        // Clears the screen and its history, and moves the cursor to the top.
        write!(out, "\x1b[2J\x1b[3J\x1b[H")?;
    }
    writeln!(out, "\nchanged    {}", names.join(", "))
}

fn files_of_all(selected: &[Selected]) -> BTreeMap<String, Files> {
    selected.iter().map(|one| (name_of(one).to_owned(), files_of(one))).collect()
}

fn files_of(selected: &Selected) -> Files {
    let Selected::Case(folder) = selected else { return Files::new() };
    let mut paths = vec![folder.dir.join(FILE_NAME)];
    if let Ok(case) = load(folder) {
        paths.extend(sources_of(folder, &case));
        let home = &case.home;
        paths.push(home.snapshot_dir.join(format!("{}.snap", home.snapshot_name)));
    }
    let stamp = |path: &PathBuf| {
        fs::metadata(path).ok().and_then(|about| Some((about.modified().ok()?, about.len())))
    };
    paths.into_iter().map(|path| (path.clone(), stamp(&path))).collect()
}

/// The sources of a case, the files that they include, and the checked-in PTX; only files that the case may read.
fn sources_of(folder: &Folder, case: &Case) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for (_, _, kernel) in case.kernels() {
        let source = normalized(&folder.dir.join(&kernel.source));
        if !source.starts_with(&folder.root) {
            continue;
        }
        if kernel.source.ends_with(".cu") {
            paths.push(source.with_file_name(nvcc::file_name(&kernel.target, &source)));
            let included = beside::inputs(&source, &kernel.target.flags).unwrap_or_default();
            let dir = source.parent().map(PathBuf::from).unwrap_or_default();
            paths.extend(included.iter().map(|input| normalized(&dir.join(&input.path))));
        }
        paths.push(source);
    }
    for (_, graph) in case.sides().flat_map(|(_, side)| side.graphs()) {
        if let GraphSource::File(file) = graph {
            paths.push(normalized(&folder.dir.join(file)));
        }
    }
    paths.extend(case.data.iter().map(|data| normalized(&folder.dir.join(&data.file))));
    paths.retain(|path| path.starts_with(&folder.root));
    paths
}
