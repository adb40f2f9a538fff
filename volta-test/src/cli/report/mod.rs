//! What `volta check` prints: a reporter for each format, all of them to standard output.

mod human;
mod json;
pub(super) mod table;

use std::io::{self, Write};
use std::path::PathBuf;

use super::{CheckArgs, Exit, Format};
use crate::case::Case;
use crate::manifest::Unreadable;
use crate::run::{Outcome, Run};
use crate::snapshot::State;

/// A case that was run, or could not be.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) name: String,
    /// Its file, if it is known.
    pub(super) file: Option<PathBuf>,
    /// The case, if it could be read.
    pub(super) case: Option<Case>,
    /// What is wrong with its file.
    pub(super) unreadable: Option<Unreadable>,
    /// It is slow, and was not run.
    pub(super) skipped: bool,
    pub(super) run: Run,
    pub(super) peak_memory_bytes: Option<u64>,
}

impl Checked {
    pub(super) fn new(name: &str, file: Option<PathBuf>, run: Run) -> Checked {
        let name = name.to_owned();
        Checked { name, file, case: None, unreadable: None, skipped: false, run, peak_memory_bytes: None }
    }
}

/// What came of all cases.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) could_not_run: usize,
    /// Slow ones.
    pub(super) skipped: usize,
    /// Those behind the first failure, with `--fail-fast`.
    pub(super) not_run: usize,
    /// Verdicts of earlier runs.
    pub(super) cached: usize,
    /// Snapshots.
    pub(super) accepted: usize,
    /// How long each case took.
    pub(super) times: Vec<(f64, String)>,
    /// How long all took.
    pub(super) seconds: f64,
}

impl Summary {
    pub(super) fn add(&mut self, checked: &Checked) {
        if checked.skipped {
            self.skipped += 1;
            return;
        }
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

    pub(super) fn exit(&self) -> Exit {
        match (self.could_not_run, self.failed) {
            (0, 0) => Exit::Good,
            (0, _) => Exit::Failed,
            _ => Exit::CouldNotRun,
        }
    }
}

/// Prints in a format.
pub(super) trait Reporter {
    /// Before the first case.
    fn begin(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Each case as it comes.
    fn case(&mut self, checked: &Checked, out: &mut dyn Write) -> io::Result<()>;

    /// After the last case.
    fn end(&mut self, _summary: &Summary, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// The reporter that is asked for; `names` are those of all cases.
pub(super) fn of<'a>(arguments: &'a CheckArgs, names: &[&str]) -> Box<dyn Reporter + 'a> {
    match arguments.format {
        Format::Human => Box::new(human::Human::new(arguments, names)),
        Format::Json => Box::new(json::Json),
    }
}
