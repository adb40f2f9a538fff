//! What `cargo volta check` prints: a reporter for each format, all of them to standard output.

mod finding;
mod github;
mod html;
mod human;
mod json;
mod junit;
pub(super) mod part;
mod sarif;
pub(super) mod table;

use std::io::{self, Write};
use std::path::PathBuf;

use super::certify::Certified;
use super::{CheckArgs, Exit, Format};
use crate::case::Case;
use crate::manifest::Unreadable;
use crate::members::Outcomes;
use crate::render::{self, Paint};
use crate::run::{Outcome, Run};
use crate::snapshot::State;

pub(super) use json::VERSION;

/// A case that was run, or could not be.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) name: String,
    /// Its file, if it is known.
    pub(super) file: Option<PathBuf>,
    /// The case, if it could be read.
    pub(super) case: Option<Case>,
    /// The problems of its file, if it could not be read.
    pub(super) unreadable: Option<Unreadable>,
    /// Whether it was not run because it is slow.
    pub(super) skipped: bool,
    pub(super) run: Run,
    pub(super) peak_memory_bytes: Option<u64>,
    /// What its certificate shows, if one was wanted and could be written.
    pub(super) certified: Option<Certified>,
}

impl Checked {
    pub(super) fn new(name: &str, file: Option<PathBuf>, run: Run) -> Checked {
        let name = name.to_owned();
        Checked {
            name,
            file,
            case: None,
            unreadable: None,
            skipped: false,
            run,
            peak_memory_bytes: None,
            certified: None,
        }
    }

    /// Whether it passed or was skipped.
    pub(super) fn is_good(&self) -> bool {
        self.skipped || self.run.outcome() == Outcome::Passed
    }
}

/// The totals of all cases.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) could_not_run: usize,
    /// Slow cases that were skipped.
    pub(super) skipped: usize,
    /// Cases after the first failure, with `--fail-fast`.
    pub(super) not_run: usize,
    /// Cases whose verdict comes from the cache.
    pub(super) cached: usize,
    /// Snapshots that were accepted.
    pub(super) accepted: usize,
    /// The members of families.
    pub(super) families: Outcomes,
    /// The time of each case in seconds, with its name.
    pub(super) times: Vec<(f64, String)>,
    /// The time of the whole run.
    pub(super) seconds: f64,
}

impl Summary {
    pub(super) fn add(&mut self, checked: &Checked) {
        if checked.skipped {
            self.skipped += 1;
            return;
        }
        self.families.add(&checked.name, checked.run.outcome() == Outcome::Passed);
        *match checked.run.outcome() {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::CouldNotRun => &mut self.could_not_run,
        } += 1;
        self.cached += usize::from(checked.run.cached);
        let compared = checked.run.compared.as_ref();
        self.accepted += usize::from(compared.is_some_and(|compared| compared.state == State::Accepted));
        self.times.push((checked.run.seconds, checked.name.clone()));
    }

    /// The totals in a line.
    fn line(&self) -> String {
        let mut parts = vec![format!("{} as expected", self.passed)];
        let others = [
            (self.failed, "not as expected"),
            (self.could_not_run, "could not run"),
            (self.skipped, "slow, not run"),
            (self.not_run, "not run after the first failure"),
            (self.cached, "cached"),
        ];
        let others = others.iter().filter(|(count, _)| *count > 0);
        parts.extend(others.map(|(count, what)| format!("{count} {what}")));
        match self.accepted {
            0 => {}
            1 => parts.push("1 snapshot accepted".into()),
            many => parts.push(format!("{many} snapshots accepted")),
        }
        parts.join(", ")
    }

    pub(super) fn exit(&self) -> Exit {
        match (self.could_not_run, self.failed) {
            (0, 0) => Exit::Good,
            (0, _) => Exit::Failed,
            _ => Exit::CouldNotRun,
        }
    }
}

/// The full message about a case.
pub(super) fn message(checked: &Checked, paint: Paint) -> String {
    let run = &checked.run;
    match (&checked.case, &checked.unreadable, &run.obstacle) {
        (Some(case), _, _) => render::run(case, run, paint),
        (None, Some(unreadable), _) => render::unreadable(unreadable, paint),
        (None, None, Some(obstacle)) => {
            format!("{} {}\n", paint.bad("error:"), render::clean(&obstacle.to_string()))
        }
        (None, None, None) => String::new(),
    }
}

/// The line of `--format json` about a case.
pub(super) fn json_line_of(checked: &Checked) -> io::Result<String> {
    let mut line = Vec::new();
    json::Json.case(checked, &mut line)?;
    String::from_utf8(line).map_err(io::Error::other)
}

/// Prints the results in one format.
pub(super) trait Reporter {
    /// Called before the first case.
    fn begin(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Called for each case when it ends.
    fn case(&mut self, checked: &Checked, out: &mut dyn Write) -> io::Result<()>;

    /// Called after the last case.
    fn end(&mut self, _summary: &Summary, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// The reporter of the requested format; `names` are those of all cases.
pub(super) fn of<'a>(arguments: &'a CheckArgs, names: &[&str]) -> Box<dyn Reporter + 'a> {
    match arguments.format {
        Format::Human => Box::new(human::Human::new(arguments, names)),
        Format::Json => Box::new(json::Json),
        Format::Github => Box::new(github::Github),
        Format::Sarif => Box::new(sarif::Sarif::default()),
        Format::Junit => Box::new(junit::Junit::default()),
        Format::Html => Box::new(html::Html::default()),
    }
}
