//! A table, and messages for what is not as expected.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Checked, Reporter, Summary, table};
use crate::cli::{CheckArgs, Exit};
use crate::render::{self, Paint};
use crate::run::Outcome;

/// Cases that took less are not named among the slowest, unless they are asked for.
const SLOW_SECONDS: f64 = 1.0;

/// So many are, then.
const SLOWEST: usize = 5;

/// Prints results as they come, and messages below them.
pub(super) struct Human<'a> {
    arguments: &'a CheckArgs,
    paint: Paint,
    name_width: usize,
    only_one: bool,
    /// Shown below the table.
    messages: Vec<String>,
}

impl Human<'_> {
    pub(super) fn new<'a>(arguments: &'a CheckArgs, names: &[&str]) -> Human<'a> {
        let paint = Paint::for_stream(&io::stdout());
        let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        Human { arguments, paint, name_width, only_one: names.len() == 1, messages: Vec::new() }
    }

    fn message(&self, checked: &Checked) -> String {
        let run = &checked.run;
        match (&checked.case, &checked.unreadable, &run.obstacle) {
            (Some(case), _, _) => render::run(case, run, self.paint),
            (None, Some(unreadable), _) => render::unreadable(unreadable, self.paint),
            (None, None, Some(obstacle)) => {
                format!("{} {}\n", self.paint.bad("error:"), render::clean(&obstacle.to_string()))
            }
            (None, None, None) => String::new(),
        }
    }

    /// The cases that took longest.
    fn slowest(&self, summary: &Summary) -> String {
        let mut times: Vec<&(f64, String)> = summary.times.iter().collect();
        match self.arguments.slowest {
            Some(count) => {
                times.sort_by(|a, b| b.0.total_cmp(&a.0));
                times.truncate(count);
            }
            None if times.len() < 2 => times.clear(),
            None => {
                times.retain(|(seconds, _)| *seconds >= SLOW_SECONDS);
                times.sort_by(|a, b| b.0.total_cmp(&a.0));
                times.truncate(SLOWEST);
            }
        }
        let mut text = String::new();
        if !times.is_empty() {
            let _ = writeln!(text, "\n{}", self.paint.bold("slowest"));
        }
        for (seconds, name) in times {
            let _ = writeln!(text, "{seconds:>9.3} s  {}", render::clean_line(name));
        }
        text
    }
}

impl Reporter for Human<'_> {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", table::header(self.name_width, self.paint))
    }

    fn case(&mut self, checked: &Checked, out: &mut dyn Write) -> io::Result<()> {
        if checked.skipped {
            return writeln!(out, "{}", table::skipped(&checked.name, self.name_width, self.paint));
        }
        writeln!(out, "{}", table::row(&checked.name, &checked.run, self.name_width, self.paint))?;
        if self.only_one || self.arguments.verbose || checked.run.outcome() != Outcome::Passed {
            let title = self.paint.bold(&render::clean_line(&checked.name));
            self.messages.push(format!("\n{title}\n{}", self.message(checked)));
        }
        Ok(())
    }

    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        for message in &self.messages {
            write!(out, "{message}")?;
        }
        write!(out, "{}", self.slowest(summary))?;
        let mut parts = vec![format!("{} as expected", summary.passed)];
        let others = [
            (summary.failed, "not as expected"),
            (summary.could_not_run, "could not run"),
            (summary.skipped, "slow, not run"),
            (summary.not_run, "behind the first failure, not run"),
            (summary.cached, "cached"),
        ];
        let others = others.iter().filter(|(count, _)| *count > 0);
        parts.extend(others.map(|(count, what)| format!("{count} {what}")));
        match summary.accepted {
            0 => {}
            1 => parts.push("1 snapshot accepted".into()),
            many => parts.push(format!("{many} snapshots accepted")),
        }
        let line = parts.join(", ");
        let is_good = summary.exit() == Exit::Good;
        let line = if is_good { self.paint.good(&line) } else { self.paint.bad(&line) };
        writeln!(out, "\n{line}")
    }
}
