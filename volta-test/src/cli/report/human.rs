//! `--format human`: a table, and messages about cases that are not as expected.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Checked, Reporter, Summary, message, table};
use crate::cli::{CheckArgs, Exit};
use crate::render::{self, Paint};

/// Faster cases are not listed among the slowest, unless `--slowest` requests them.
const SLOW_SECONDS: f64 = 1.0;

/// The number of slowest cases that are listed by default.
const SLOWEST: usize = 5;

/// Prints results as cases end, and messages below the table.
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
        if let Some(certified) = &checked.certified {
            writeln!(out, "{certified}")?;
        }
        if self.only_one || self.arguments.verbose || !checked.is_good() {
            let title = self.paint.bold(&render::clean_line(&checked.name));
            self.messages.push(format!("\n{title}\n{}", message(checked, self.paint)));
        }
        Ok(())
    }

    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        for message in &self.messages {
            write!(out, "{message}")?;
        }
        write!(out, "{}", self.slowest(summary))?;
        let mut families = summary.families.lines().peekable();
        if families.peek().is_some() {
            writeln!(out)?;
        }
        families.try_for_each(|line| writeln!(out, "{line}"))?;
        let line = summary.line();
        let is_good = summary.exit() == Exit::Good;
        let line = if is_good { self.paint.good(&line) } else { self.paint.bad(&line) };
        writeln!(out, "\n{line}")
    }
}
