//! `--format github`: annotations for GitHub Actions.

use std::io::{self, Write};

use super::finding::findings;
use super::{Checked, Reporter, Summary};
use crate::beside::slashed;

/// Prints a line for each finding, and the totals. Nothing else is printed, since GitHub may read a log line as a
/// command.
pub(super) struct Github;

impl Reporter for Github {
    fn case(&mut self, checked: &Checked, out: &mut dyn Write) -> io::Result<()> {
        for finding in findings(checked) {
            let mut command = "::error ".to_owned();
            if let Some(at) = &finding.at {
                let path = property(&slashed(&at.path));
                command += &format!("file={path},line={},col={},", at.line, at.column);
            }
            let title = property(&format!("{}: {}", checked.name, finding.id));
            let mut message = finding.message;
            for (what, at) in &finding.sites {
                message += &format!("\n{what}, {}:{}", slashed(&at.path), at.line);
            }
            writeln!(out, "{command}title={title}::{}", escaped(&message))?;
        }
        out.flush()
    }

    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", summary.line())
    }
}

fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}
