//! `volta check`

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::json::Line;
use super::select::{Folder, Selected, select};
use super::{CheckArgs, Exit, Format, complain, table};
use crate::cache::Cache;
use crate::case::Case;
use crate::manifest;
use crate::nvcc::Toolchain;
use crate::prepare::Obstacle;
use crate::render::{self, Paint};
use crate::run::{Outcome, Run, Settings, run};
use crate::runner::slow_is_wanted;
use crate::snapshot::{Policy, State};

/// What takes less time shows no progress.
const QUIET: Duration = Duration::from_secs(2);

/// Runs the selected cases one after the other, each on all threads, so that times and memory are its own.
pub(super) fn check(arguments: &CheckArgs) -> io::Result<Exit> {
    let policy = match arguments.accept {
        true => Policy::Accept,
        false => match Policy::of_environment() {
            Ok(policy) => policy,
            Err(message) => {
                complain(&message);
                return Ok(Exit::CouldNotRun);
            }
        },
    };
    let selected = select(&arguments.selection);
    // Who runs a case several times wants to know how long it takes.
    let cache = if arguments.no_cache || arguments.repeat > 1 { Ok(None) } else { Cache::of_process() };
    let cache = match cache {
        Ok(cache) => cache,
        Err(message) => {
            complain(&message);
            return Ok(Exit::CouldNotRun);
        }
    };
    let toolchain = if arguments.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
    let progress = Progress::start(selected.len());
    let paint = Paint::for_stream(&io::stdout());
    let name_width = selected.iter().map(|selected| name_of(selected).chars().count()).max().unwrap_or(0);
    let mut printer = Printer {
        arguments,
        paint,
        name_width,
        counts: [0; 4],
        accepted: 0,
        cached: 0,
        messages: Vec::new(),
    };
    let run_slow = arguments.slow || slow_is_wanted();
    progress.print(|out| printer.begin(out))?;
    let only_one = selected.len() == 1;
    for selected in &selected {
        progress.begin(name_of(selected));
        forget_peak_memory();
        match selected {
            Selected::Wrong { name, message } => {
                let run = Run::stopped(Obstacle::new(message.clone(), None));
                progress.print(|out| printer.case(name, None, &run, true, out))?;
            }
            Selected::Case(folder) => match load(folder) {
                Err(unreadable) => progress.print(|out| {
                    let (text, run) = *unreadable;
                    printer.case(&folder.name, None, &run, false, out)?;
                    printer.unreadable(&folder.name, &text)
                })?,
                Ok(case) if case.options.run.slow && !run_slow && !folder.alone => {
                    progress.print(|out| printer.skipped(&case, out))?;
                }
                Ok(mut case) => {
                    case.options.run.timeout =
                        case.options.run.timeout.into_iter().chain(arguments.timeout).min();
                    case.recheck = arguments.recheck.unwrap_or(case.recheck);
                    let settings =
                        Settings { cache, threads: arguments.threads, snapshot: policy.concerns(&case) };
                    let mut run = median(arguments.repeat, || run(&case, &toolchain, settings));
                    run.compare(&case, policy);
                    let wants_message = only_one || arguments.verbose || run.outcome() != Outcome::Passed;
                    progress.print(|out| printer.case(&case.name, Some(&case), &run, wants_message, out))?;
                }
            },
        }
        progress.finish_one();
    }
    progress.end();
    printer.end(&mut io::stdout().lock())
}

/// The run whose time is the median of `repeat` runs. All runs of a case say the same.
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

pub(super) fn load(folder: &Folder) -> Result<Case, Box<(String, Run)>> {
    manifest::load(&folder.name, &folder.dir, &folder.root).map_err(|unreadable| {
        let text = render::unreadable(&unreadable, Paint::for_stream(&io::stderr()));
        let problems = unreadable.problems.iter().map(|problem| {
            let (line, column) = manifest::position(&unreadable.text, &problem.span);
            let help = problem.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
            format!("{}:{line}:{column}: {}{help}", unreadable.path.display(), problem.message)
        });
        let problems: Vec<String> = problems.collect();
        Box::new((text, Run::stopped(Obstacle::new(problems.join("\n"), None))))
    })
}

/// Prints results as they come.
struct Printer<'a> {
    arguments: &'a CheckArgs,
    paint: Paint,
    name_width: usize,
    /// Passed, failed, could not run, skipped.
    counts: [usize; 4],
    /// Snapshots that were.
    accepted: usize,
    /// Cases whose verdict was known.
    cached: usize,
    /// Shown below the table.
    messages: Vec<String>,
}

impl Printer<'_> {
    fn is_json(&self) -> bool {
        self.arguments.format == Format::Json
    }

    fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_json() { Ok(()) } else { writeln!(out, "{}", table::header(self.name_width, self.paint)) }
    }

    fn case(
        &mut self,
        name: &str,
        case: Option<&Case>,
        run: &Run,
        wants_message: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let outcome = run.outcome();
        self.counts[match outcome {
            Outcome::Passed => 0,
            Outcome::Failed => 1,
            Outcome::CouldNotRun => 2,
        }] += 1;
        self.cached += usize::from(run.cached);
        self.accepted +=
            usize::from(run.compared.as_ref().is_some_and(|compared| compared.state == State::Accepted));
        if self.is_json() {
            let expected = case.map(table::expected);
            return json_line(&Line::of(name, expected, run, peak_memory()), out);
        }
        writeln!(out, "{}", table::row(name, run, self.name_width, self.paint))?;
        if wants_message {
            let on_stderr = outcome == Outcome::CouldNotRun;
            let paint = if on_stderr { Paint::for_stream(&io::stderr()) } else { self.paint };
            let text = match (case, &run.obstacle) {
                (Some(case), _) => render::run(case, run, paint),
                (None, Some(obstacle)) => {
                    format!("{} {}\n", paint.bad("error:"), render::clean(&obstacle.to_string()))
                }
                (None, None) => String::new(),
            };
            let text = format!("\n{}\n{text}", paint.bold(&render::clean_line(name)));
            if on_stderr { eprint!("{text}") } else { self.messages.push(text) }
        }
        Ok(())
    }

    fn unreadable(&self, name: &str, text: &str) -> io::Result<()> {
        if !self.is_json() {
            eprint!("\n{}\n{text}", Paint::for_stream(&io::stderr()).bold(&render::clean_line(name)));
        }
        Ok(())
    }

    fn skipped(&mut self, case: &Case, out: &mut dyn Write) -> io::Result<()> {
        self.counts[3] += 1;
        if self.is_json() {
            let run = Run::stopped(Obstacle::new("slow: --slow runs it", None));
            return json_line(&Line::of(&case.name, Some(table::expected(case)), &run, None).skipped(), out);
        }
        writeln!(out, "{}", table::skipped(&case.name, self.name_width, self.paint))
    }

    fn end(&self, out: &mut dyn Write) -> io::Result<Exit> {
        let [passed, failed, could_not_run, skipped] = self.counts;
        let exit = match (could_not_run, failed) {
            (0, 0) => Exit::Good,
            (0, _) => Exit::Failed,
            _ => Exit::CouldNotRun,
        };
        if self.is_json() {
            return Ok(exit);
        }
        for message in &self.messages {
            write!(out, "{message}")?;
        }
        let mut parts = vec![format!("{passed} as expected")];
        let others =
            [(failed, "not as expected"), (could_not_run, "could not run"), (skipped, "slow, not run")];
        parts.extend(
            others.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")),
        );
        if self.cached > 0 {
            parts.push(format!("{} cached", self.cached));
        }
        match self.accepted {
            0 => {}
            1 => parts.push("1 snapshot accepted".into()),
            many => parts.push(format!("{many} snapshots accepted")),
        }
        let line = parts.join(", ");
        let line = if exit == Exit::Good { self.paint.good(&line) } else { self.paint.bad(&line) };
        writeln!(out, "\n{line}")?;
        Ok(exit)
    }
}

pub(super) fn json_line(line: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)?;
    out.flush()
}

/// Progress on standard error: only on a terminal, and only once it has taken a while.
pub(super) struct Progress {
    bar: ProgressBar,
    timer: Option<Sender<()>>,
}

impl Progress {
    pub(super) fn start(cases: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(cases as u64), ProgressDrawTarget::hidden());
        if !io::stderr().is_terminal() {
            return Progress { bar, timer: None };
        }
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} {elapsed} {msg}") {
            bar.set_style(style);
        }
        let (timer, ended) = channel();
        let late = bar.clone();
        std::thread::spawn(move || {
            if ended.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Progress { bar, timer: Some(timer) }
    }

    pub(super) fn begin(&self, name: &str) {
        self.bar.set_message(render::clean_line(name));
    }

    pub(super) fn finish_one(&self) {
        self.bar.inc(1);
    }

    /// Prints with the bar out of the way.
    pub(super) fn print(&self, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        self.bar.suspend(|| print(&mut io::stdout().lock()))
    }

    pub(super) fn end(self) {
        drop(self.timer);
        self.bar.finish_and_clear();
    }
}

/// The most memory that this process held since [`forget_peak_memory`].
pub(super) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Starts the measurement of peak memory anew, where the system can.
pub(super) fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
