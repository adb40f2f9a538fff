//! `cargo volta bench`: the cost of verifying, beside published figures for the same kernels.

mod layout;
mod measure;
mod published;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use self::measure::{Measurement, Solver, measure};
use self::published::Published;
use super::check::{Progress, json_line, load, name_of};
use super::select::{Folder, Selected, select_whole};
use super::{Exit, Selection, complain};
use crate::render::{self, Paint};
use crate::run::Outcome;
use crate::z3::Z3;

/// Arguments of `cargo volta bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
The checked-in PTX is verified, so that no compiler is measured, and no normal forms are written. Slow cases are run \
too. \
Times are medians; `generate` is the sum over both kernels, which run at the same time, so that `total` can be less \
than the sum of its parts. Pairs of figures are those of the reference and the other kernel. `barriers` and `warp \
syncs` count those that complete; published counts are of threads that arrive. `peak` is the memory of the process \
that verified the case; each has its own.

`first` is the time to decide the first output element alone, including work that is done once; `median` is over all \
elements, decided one after the other on one thread, or as many of them as take two seconds. With --z3, the solver \
gets the first element (see `cargo volta export`), in a new process; where exponentials occur, also with the axiom of \
addition.

Published figures come from `published.toml` in the enclosing `fixtures` folder.

Examples:
  cargo volta bench fixtures --published --z3
  cargo volta bench fixtures/softmax --runs 9 --format markdown > softmax.md

Exit codes: 0 all verdicts are as expected, 1 a verdict is not, or the solver disagrees, 2 a case could not run.")]
pub(super) struct BenchArgs {
    #[command(flatten)]
    selection: Selection,
    /// Number of runs of each case; medians are shown
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// The format of the output: tables as text or Markdown, or one line of JSON per case
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    format: BenchFormat,
    /// Only cases with published figures
    #[arg(long)]
    published: bool,
    /// Let the solver Z3 decide the first element too; VOLTA_Z3 or PATH says where it is
    #[arg(long)]
    z3: bool,
    /// How long the solver may take for one query
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    z3_timeout: u64,
    /// Number of worker threads, 0 for one per core
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// How long one verification of a case may take, such as 10s (as VOLTA_TIMEOUT does)
    #[arg(long, value_name = "TIME", value_parser = volta_case::duration)]
    timeout: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BenchFormat {
    Text,
    Markdown,
    Json,
}

/// Measures a case in this process.
fn here(arguments: &BenchArgs, folder: &Folder, solver: Option<&Solver>) -> Result<Measurement, String> {
    let mut case = load(folder).map_err(|unreadable| {
        let text = render::unreadable(&unreadable, Paint::for_stream(&io::stderr()));
        format!("{} cannot be read\n{text}", folder.name)
    })?;
    case.options.run.timeout = case.options.run.timeout.into_iter().chain(arguments.timeout).min();
    Ok(measure(&case, arguments.runs, arguments.threads, solver))
}

/// Measures a case in a process of its own, so that no other case affects its peak memory.
fn apart(arguments: &BenchArgs, folder: &Folder) -> Result<Measurement, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{} cannot be measured: {why}", folder.name);
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = std::process::Command::new(program);
    command.arg("bench").arg(&folder.dir).arg("--root").arg(&folder.root).args(["--exact", &folder.name]);
    command.args(["--format", "json", "--runs", &arguments.runs.to_string()]);
    command.args(["--threads", &arguments.threads.to_string()]);
    if let Some(timeout) = arguments.timeout {
        command.args(["--timeout", &format!("{}ms", timeout.as_millis())]);
    }
    // Only the proof is measured, not its recheck.
    command.env_remove("VOLTA_RECHECK");
    if arguments.z3 {
        command.args(["--z3", "--z3-timeout", &arguments.z3_timeout.to_string()]);
    }
    let output = command.output().map_err(|error| failed(&error))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.lines().find_map(|line| serde_json::from_str(line).ok()) {
        Some(row) => Ok(row),
        None => {
            Err(failed(&String::from_utf8_lossy(&output.stderr).trim_start_matches("error: ").trim_end()))
        }
    }
}

/// Measures the selected cases one after the other.
pub(super) fn bench(arguments: &BenchArgs) -> io::Result<Exit> {
    let solver = match (arguments.z3, Z3::from_environment()) {
        (false, _) => None,
        (true, Ok(Some(z3))) => Some(Solver { z3, timeout: Duration::from_secs(arguments.z3_timeout) }),
        (true, found) => {
            let why = found.err().map_or("PATH has no z3".into(), |missing| missing.to_string());
            complain(&format!("{why}\nhelp: `export VOLTA_Z3=$(scripts/z3.sh)` installs and names one"));
            return Ok(Exit::CouldNotRun);
        }
    };
    let mut exit = Exit::Good;
    let mut worst = |found: Exit| exit = exit.max(found);
    let mut tables: Vec<(PathBuf, Published)> = Vec::new();
    let mut rows: Vec<Measurement> = Vec::new();
    let selected = select_whole(&arguments.selection);
    let selected_count = selected.len();
    let progress = Progress::start(selected_count);
    for selected in &selected {
        progress.begin(name_of(selected));
        let folder = match selected {
            Selected::Case(folder) => folder,
            Selected::Wrong { message, .. } => {
                complain(message);
                worst(Exit::CouldNotRun);
                continue;
            }
        };
        let known = tables.iter().position(|(root, _)| *root == folder.root);
        let table = match known {
            Some(known) => &tables[known].1,
            None => {
                let table = published::read(&folder.root).unwrap_or_else(|message| {
                    complain(&message);
                    worst(Exit::CouldNotRun);
                    Published::default()
                });
                tables.push((folder.root.clone(), table));
                &tables[tables.len() - 1].1
            }
        };
        let figures = table.of(&folder.name);
        if arguments.published && figures.is_none() {
            progress.finish_one();
            continue;
        }
        let measured = match selected_count {
            1 => here(arguments, folder, solver.as_ref()),
            _ => apart(arguments, folder),
        };
        let mut row = match measured {
            Ok(row) => row,
            Err(message) => {
                complain(&message);
                worst(Exit::CouldNotRun);
                continue;
            }
        };
        row.published = figures.cloned();
        worst(match row.outcome {
            Outcome::Passed => Exit::Good,
            Outcome::Failed => Exit::Failed,
            Outcome::CouldNotRun => Exit::CouldNotRun,
        });
        for problem in &row.problems {
            complain(&format!("{}: {problem}", row.name));
        }
        if arguments.format == BenchFormat::Json {
            progress.print(|| json_line(&row, &mut io::stdout().lock()))?;
        }
        rows.push(row);
        progress.finish_one();
    }
    progress.end();
    if rows.is_empty() {
        if exit == Exit::Good {
            complain("no case was measured\nhelp: --published leaves cases with published figures only");
        }
        return Ok(Exit::CouldNotRun);
    }
    let mut out = io::stdout().lock();
    match arguments.format {
        BenchFormat::Json => {}
        BenchFormat::Text => {
            out.write_all(layout::text(&rows, Paint::for_stream(&io::stdout())).as_bytes())?
        }
        BenchFormat::Markdown => out.write_all(layout::markdown(&rows).as_bytes())?,
    }
    Ok(exit)
}
