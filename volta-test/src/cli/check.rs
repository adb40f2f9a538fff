//! `cargo volta check`

use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use volta_case::InputProblem;
use volta_core::base::watch::Watch;

use super::certify::Certified;
use super::report::{self, Checked, Summary};
use super::select::{Folder, Selected, select};
use super::{CheckArgs, Exit, Format, complain};
use crate::beside::slashed;
use crate::cache::Cache;
use crate::case::Case;
use crate::manifest::{self, FILE_NAME, Unreadable};
use crate::nvcc::Toolchain;
use crate::prepare::{Obstacle, shown};
use crate::render::{self, Paint};
use crate::run::{Run, Settings, run};
use crate::runner::slow_is_wanted;
use crate::snapshot::Policy;

/// The name in messages of a document from standard input.
const STDIN: &str = "stdin";

/// A longer document is refused; most of a document is PTX.
const MAX_DOCUMENT: u64 = 256 << 20;

/// Progress is shown only after this time.
const QUIET: Duration = Duration::from_secs(2);
/// Time between two states of the bar, and between two lines where there is none.
const TICK: Duration = Duration::from_millis(100);
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Runs the selected cases one after the other, each on all threads, so that time and memory are measured for each
/// case.
pub(super) fn check(arguments: &CheckArgs, out: &mut dyn Write) -> io::Result<Exit> {
    let selected = if arguments.stdin { Vec::new() } else { select(&arguments.selection) };
    check_selected(arguments, &selected, out)
}

/// Runs the given cases like [`check`], instead of those that the arguments select.
pub(super) fn check_selected(
    arguments: &CheckArgs,
    selected: &[Selected],
    out: &mut dyn Write,
) -> io::Result<Exit> {
    let wishes = match Wishes::of(arguments) {
        Ok(wishes) => wishes,
        Err(message) => {
            complain(&message);
            return Ok(Exit::CouldNotRun);
        }
    };
    let progress = Progress::start(selected.len());
    let wishes = Wishes { watch: progress.watch().clone(), ..wishes };
    let mut names: Vec<&str> = selected.iter().map(name_of).collect();
    if arguments.stdin {
        names.push(STDIN);
    }
    let mut reporter = report::of(arguments, &names);
    let mut summary = Summary::default();
    let begin = Instant::now();
    progress.print(|| reporter.begin(out))?;
    if arguments.stdin {
        progress.begin(STDIN);
        let checked = wishes.check_input()?;
        summary.add(&checked);
        reporter.case(&checked, out)?;
    }
    for (at, selected) in selected.iter().enumerate() {
        progress.begin(name_of(selected));
        forget_peak_memory();
        let mut checked = wishes.check(selected);
        checked.peak_memory_bytes = peak_memory();
        summary.add(&checked);
        progress.print(|| reporter.case(&checked, out))?;
        progress.finish_one();
        if arguments.fail_fast && !checked.is_good() {
            summary.not_run = names.len() - at - 1;
            break;
        }
    }
    summary.seconds = begin.elapsed().as_secs_f64();
    progress.end();
    reporter.end(&summary, out)?;
    Ok(summary.exit())
}

/// Runs the case of a document: the line that `--format json` prints, and the message for people.
pub(super) fn answer(arguments: &CheckArgs, document: String) -> io::Result<(String, String)> {
    let checked = Wishes::of(arguments).map_err(io::Error::other)?.check_document(document)?;
    let mut line = Vec::new();
    report::of(arguments, &[STDIN]).case(&checked, &mut line)?;
    let line = String::from_utf8(line).map_err(io::Error::other)?;
    Ok((line, report::message(&checked, Paint::PLAIN)))
}

/// How each case is run, from arguments and environment.
struct Wishes<'a> {
    arguments: &'a CheckArgs,
    policy: Policy,
    cache: Option<&'static Cache>,
    toolchain: Toolchain,
    run_slow: bool,
    /// Counts what is done.
    watch: Watch,
}

impl<'a> Wishes<'a> {
    fn of(arguments: &'a CheckArgs) -> Result<Wishes<'a>, String> {
        let policy = if arguments.accept { Policy::Accept } else { Policy::of_environment()? };
        // Repeated runs are for measuring time, so their verdicts must not come from the cache.
        let uncached = arguments.no_cache || arguments.repeat > 1;
        let cache = if uncached { None } else { Cache::of_process()? };
        let toolchain = if arguments.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
        let (run_slow, watch) = (arguments.slow || slow_is_wanted(), Watch::default());
        Ok(Wishes { arguments, policy, cache, toolchain, run_slow, watch })
    }

    /// Runs a case.
    fn check(&self, selected: &Selected) -> Checked {
        let folder = match selected {
            Selected::Case(folder) => folder,
            Selected::Wrong { name, message } => {
                let run = Run::stopped(Obstacle::new(InputProblem::NoCase, message.clone(), None));
                return Checked::new(name, None, run);
            }
        };
        let file = Some(folder.dir.join(FILE_NAME));
        let case = match load(folder) {
            Ok(case) => case,
            Err(unreadable) => return wrong(&folder.name, file, unreadable),
        };
        if case.options.run.slow && !self.run_slow && !folder.alone {
            let run = Run::stopped(Obstacle::new(InputProblem::NoCase, "slow: --slow runs it", None));
            return Checked { skipped: true, case: Some(case), ..Checked::new(&folder.name, file, run) };
        }
        self.run(case, file, folder.alone)
    }

    /// Runs the case whose document is on standard input.
    fn check_input(&self) -> io::Result<Checked> {
        let mut text = String::new();
        io::stdin().lock().take(MAX_DOCUMENT + 1).read_to_string(&mut text)?;
        self.check_document(text)
    }

    /// Runs a case given as a document with the texts of its sources.
    fn check_document(&self, text: String) -> io::Result<Checked> {
        if text.len() as u64 > MAX_DOCUMENT {
            return Err(io::Error::other(format!(
                "a document of more than {MAX_DOCUMENT} bytes is not a case"
            )));
        }
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?;
        let document = match manifest::parse_document(&text, &root) {
            Ok(document) => document,
            Err(problems) => {
                return Ok(wrong(STDIN, None, Unreadable { path: STDIN.into(), text, problems }));
            }
        };
        for (name, text) in &document.sources {
            let path = root.join(name);
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(path, text)?;
        }
        Ok(self.run(document.case, None, true))
    }

    fn run(&self, mut case: Case, file: Option<PathBuf>, alone: bool) -> Checked {
        let arguments = self.arguments;
        case.options.run.timeout = case.options.run.timeout.into_iter().chain(arguments.timeout).min();
        case.recheck = arguments.recheck.unwrap_or(case.recheck);
        let formulas = arguments.format == Format::Html;
        let settings = Settings {
            cache: self.cache,
            threads: arguments.threads,
            snapshot: case.home.document.is_none() && self.policy.concerns(&case),
            formulas,
            maps: formulas || arguments.format == Format::Json || arguments.verbose || alone,
            differences: formulas || arguments.verbose || alone,
            only_clean: false,
            fixes: formulas || arguments.verbose || alone,
            watch: Some(&self.watch),
        };
        let mut run = median(arguments.repeat, || run(&case, &self.toolchain, settings));
        run.compare(&case, self.policy);
        let name = case.name.clone();
        let certified = arguments.certificate.as_ref().and_then(|into| Certified::of(&case, &mut run, into));
        Checked { case: Some(case), certified, ..Checked::new(&name, file, run) }
    }
}

/// The result for a case whose document cannot be read.
fn wrong(name: &str, file: Option<PathBuf>, unreadable: Unreadable) -> Checked {
    let kind = unreadable.problems.first().map_or(InputProblem::Syntax, |problem| problem.kind);
    let run = Run::stopped(Obstacle::new(kind, problems(&unreadable), None));
    Checked { unreadable: Some(unreadable), ..Checked::new(name, file, run) }
}

/// The run whose time is the median of `repeat` runs. All runs of a case have the same result.
fn median(repeat: u32, mut run: impl FnMut() -> Run) -> Run {
    let first = run();
    let mut runs: Vec<Run> = std::iter::once(first).chain((1..repeat).map(|_| run())).collect();
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    runs.swap_remove(runs.len() / 2)
}

pub(super) fn name_of(selected: &Selected) -> &str {
    match selected {
        Selected::Case(folder) => &folder.name,
        Selected::Wrong { name, .. } => name,
    }
}

pub(super) fn load(folder: &Folder) -> Result<Case, Unreadable> {
    manifest::load(&folder.name, &folder.dir, &folder.root)
}

/// The problems of a case's file, a line each.
fn problems(unreadable: &Unreadable) -> String {
    let problems = unreadable.problems.iter().map(|problem| {
        let (line, column) = manifest::position(&unreadable.text, &problem.span);
        let help = problem.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        let path = slashed(&shown(&unreadable.path));
        format!("{path}:{line}:{column}: {}{help}", problem.message)
    });
    problems.collect::<Vec<_>>().join("\n")
}

pub(super) fn json_line(line: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)?;
    out.flush()
}

/// Tells on standard error how far the cases are: on a terminal by a bar, after a while; otherwise by a line in a while.
pub(super) struct Progress {
    bar: ProgressBar,
    watched: Arc<Watched>,
    timer: Option<Sender<()>>,
}

/// The case that is being run.
struct Watched {
    watch: Watch,
    /// Its name, and when it began.
    case: Mutex<Option<(String, Instant)>>,
}

impl Watched {
    /// The case, the phase that it is in, how much of that is done, and the memory of the process.
    fn state(&self) -> Option<(String, Duration)> {
        let case = self.case.lock().ok()?;
        let (name, began) = case.as_ref()?;
        let seen = self.watch.look().map_or(String::new(), |seen| format!(": {seen}"));
        let memory = of_status("VmRSS:").map_or(String::new(), |bytes| format!(", {} MB", bytes / 1_000_000));
        Some((format!("{name}{seen}{memory}"), began.elapsed()))
    }
}

impl Progress {
    pub(super) fn start(cases: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(cases as u64), ProgressDrawTarget::hidden());
        let watched = Arc::new(Watched { watch: Watch::counting(), case: Mutex::default() });
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} {elapsed} {msg}") {
            bar.set_style(style);
        }
        let (timer, ended) = channel();
        let (late, seen) = (bar.clone(), Arc::clone(&watched));
        let tell: fn(&ProgressBar, &Watched, &Receiver<()>) =
            if io::stderr().is_terminal() { draw } else { print_lines };
        std::thread::spawn(move || tell(&late, &seen, &ended));
        Progress { bar, watched, timer: Some(timer) }
    }

    /// What counts the work on cases.
    pub(super) fn watch(&self) -> &Watch {
        &self.watched.watch
    }

    pub(super) fn begin(&self, name: &str) {
        let name = render::clean_line(name);
        self.bar.set_message(name.clone());
        self.watched.watch.restart();
        if let Ok(mut case) = self.watched.case.lock() {
            *case = Some((name, Instant::now()));
        }
    }

    pub(super) fn finish_one(&self) {
        self.bar.inc(1);
    }

    /// Prints while the bar is hidden.
    pub(super) fn print(&self, print: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.bar.suspend(print)
    }

    pub(super) fn end(self) {
        drop(self.timer);
        self.bar.finish_and_clear();
    }
}

/// Draws the bar after a while, until the other end of the channel is dropped.
fn draw(bar: &ProgressBar, watched: &Watched, ended: &Receiver<()>) {
    let mut pause = QUIET;
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        if pause == QUIET {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            pause = TICK;
        }
        if let Some((state, _)) = watched.state() {
            bar.set_message(state);
        }
        bar.tick();
    }
}

/// Prints lines about cases that take long, until the other end of the channel is dropped.
fn print_lines(_: &ProgressBar, watched: &Watched, ended: &Receiver<()>) {
    while ended.recv_timeout(BETWEEN_LINES) == Err(RecvTimeoutError::Timeout) {
        if let Some((state, since)) = watched.state().filter(|(_, since)| *since > QUIET) {
            eprintln!("{state}, after {} s", since.as_secs());
        }
    }
}

/// The memory that a line of the system's status of this process has.
fn of_status(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The peak memory of this process since [`forget_peak_memory`].
pub(super) fn peak_memory() -> Option<u64> {
    of_status("VmHWM:")
}

/// Restarts the measurement of peak memory, if the system supports it.
pub(super) fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
