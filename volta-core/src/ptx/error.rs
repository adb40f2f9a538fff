//! Errors of parsing PTX.

use std::fmt;

use crate::base::span::{LineTable, Position, Span};

/// Number of characters of a long line that an error shows on either side of the position.
const CONTEXT: usize = 60;

/// A text that is not PTX: what was expected, what was found, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong, a lowercase fragment without a period.
    pub message: String,
    /// The bytes that the error is about.
    pub span: Span,
    /// Line and column of the first byte.
    pub position: Position,
    /// The line of that byte, shortened around it when it is long, with control characters replaced.
    pub source_line: String,
    /// A suggestion, where one is known.
    pub help: Option<String>,
    /// The marks under `source_line`: characters before them, and their number.
    marks: (usize, usize),
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position;
        writeln!(out, "line {line}, column {column}: {}", self.message)?;
        let number = line.to_string();
        writeln!(out, " {number} | {}", self.source_line)?;
        let (before, count) = self.marks;
        write!(out, " {:1$} | {2:3$}{4}", "", number.len(), "", before, "^".repeat(count))?;
        match &self.help {
            Some(help) => write!(out, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}

/// An error without line and column; small, since it is passed through every parsing function.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    message: String,
    help: Option<String>,
    span: Span,
}

/// What parsing functions return.
pub(super) type Parsed<T> = Result<T, Box<Failure>>;

/// Builds a [`Failure`].
pub(super) fn failure(span: Span, message: impl Into<String>) -> Box<Failure> {
    Box::new(Failure { message: message.into(), help: None, span })
}

impl Failure {
    /// Adds a suggestion.
    pub(super) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Failure> {
        self.help = Some(help.into());
        self
    }

    /// Computes line and column in `text`.
    pub(super) fn locate(self, text: &str) -> ParseError {
        let lines = LineTable::new(text);
        let position = lines.position(text, self.span.start);
        let line = lines.line(text, position.line);
        let before = position.column as usize - 1;
        let skipped = before.saturating_sub(CONTEXT);
        let source_line: String =
            line.chars().skip(skipped).take(before - skipped + CONTEXT).map(visible).collect();
        let shown = source_line.chars().count();
        let length =
            text.get(self.span.start as usize..self.span.end as usize).map_or(1, |part| part.chars().count());
        let room = shown.saturating_sub(before - skipped);
        let marks = (before - skipped, length.min(room).max(1));
        ParseError { message: self.message, span: self.span, position, source_line, help: self.help, marks }
    }

    /// The error for a text that is too long for positions.
    pub(super) fn without_place(self) -> ParseError {
        let position = Position { line: 1, column: 1 };
        let Failure { message, help, span } = self;
        ParseError { message, span, position, source_line: String::new(), help, marks: (0, 1) }
    }
}

/// One column for one character, so that the marks stand under what they mean.
fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        other if other.is_control() => '\u{fffd}',
        other => other,
    }
}

/// A piece of the text for a message: short, on one line, in backquotes.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text.chars().take(LONGEST).map(visible).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_the_line_and_marks_the_place() {
        let text = "ret;\n\tadd µ, b;\n";
        let error = failure(Span::new(10, 12), "expected a register").help("write one").locate(text);
        let shown = error.to_string();
        assert_eq!(
            shown,
            "line 2, column 6: expected a register\n 2 |  add µ, b;\n   |      ^\nhelp: write one"
        );
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let text = format!("{}!{}", "a".repeat(100_000), "b".repeat(100_000));
        let error = failure(Span::new(100_000, 100_001), "odd").locate(&text);
        assert_eq!(error.source_line, format!("{}!{}", "a".repeat(60), "b".repeat(59)));
        assert!(error.to_string().ends_with(&format!("{}^", " ".repeat(60))));
    }

    #[test]
    fn quoted_text_is_short_and_printable() {
        assert_eq!(quoted("a\nb"), "`a\u{fffd}b`");
        assert!(quoted(&"9".repeat(1000)).chars().count() < 50);
    }
}
