//! The document of a case: TOML, or JSON of the same keys, with a span for every value.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};
use volta_case::InputProblem;

use super::Problem;

/// Deeper nesting is refused; no case needs it.
const MAX_NESTING: usize = 32;

/// Reads a document: JSON if it begins with a brace, as no TOML does, otherwise TOML.
pub(super) fn parse(text: &str) -> Result<DeTable<'_>, Vec<Problem>> {
    if text.trim_start().starts_with('{') {
        return Json { text, at: 0 }.document().map_err(|problem| vec![problem]);
    }
    DeTable::parse(text).map(Spanned::into_inner).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        if let Some(problem) = bare_word(text, span.start) {
            return vec![problem];
        }
        let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
        vec![Problem { span, kind: InputProblem::Syntax, message, help: None }]
    })
}

/// The problem of an unquoted word in place of a value.
fn bare_word(text: &str, near: usize) -> Option<Problem> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before = text.get(..near)?;
    let other = before.char_indices().rev().find(|(_, c)| !is_part(*c));
    let start = other.map_or(0, |(at, c)| at + c.len_utf8());
    let word: String = text[start..].chars().take_while(|c| is_part(*c)).collect();
    let line = &text[..start][text[..start].rfind('\n').map_or(0, |at| at + 1)..];
    let is_value = line.contains('=') && line.trim_end().ends_with(['=', '[', ',']);
    let is_known = ["true", "false", "inf", "nan"].contains(&word.as_str());
    if !is_value || is_known || !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let help = match line.rsplit_once("shape") {
        Some((_, rest)) if !rest.contains(']') => super::SIZES.into(),
        _ => format!("strings are quoted: \"{word}\""),
    };
    Some(Problem {
        span: start..start + word.len(),
        kind: InputProblem::Syntax,
        message: format!("`{word}` is not a value"),
        help: Some(help),
    })
}

/// A parser of JSON that keeps spans, which `serde_json` does not.
struct Json<'t> {
    text: &'t str,
    /// The number of bytes that were read.
    at: usize,
}

impl<'t> Json<'t> {
    fn document(mut self) -> Result<DeTable<'t>, Problem> {
        self.blanks();
        self.at += 1;
        let table = self.table(0)?;
        self.blanks();
        if self.at < self.text.len() {
            return Err(self.wrong("the document ends before this"));
        }
        Ok(table)
    }

    fn value(&mut self, nesting: usize) -> Result<Spanned<DeValue<'t>>, Problem> {
        self.blanks();
        let start = self.at;
        if nesting > MAX_NESTING {
            return Err(self.wrong("this is nested too deep"));
        }
        let value = match self.rest().as_bytes().first() {
            Some(b'{') => {
                self.at += 1;
                DeValue::Table(self.table(nesting)?)
            }
            Some(b'[') => {
                self.at += 1;
                DeValue::Array(self.array(nesting)?)
            }
            Some(b'"') => DeValue::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Spanned::new(start..self.at, value))
    }

    fn table(&mut self, nesting: usize) -> Result<DeTable<'t>, Problem> {
        let mut entries = DeTable::new();
        let mut more = !self.takes('}');
        while more {
            self.blanks();
            let start = self.at;
            if !self.rest().starts_with('"') {
                return Err(self.wrong("expected a key in quotes here"));
            }
            let key = self.string()?;
            let key = Spanned::new(start..self.at, key);
            if entries.contains_key(&key) {
                let message = format!("the key `{}` occurs twice", key.get_ref());
                return Err(problem(start..self.at, message));
            }
            if !self.takes(':') {
                return Err(self.wrong("`:` is wanted here"));
            }
            let value = self.value(nesting + 1)?;
            entries.insert(key, value);
            more = self.goes_on('}')?;
        }
        Ok(entries)
    }

    fn array(&mut self, nesting: usize) -> Result<DeArray<'t>, Problem> {
        let mut items = DeArray::new();
        let mut more = !self.takes(']');
        while more {
            items.push(self.value(nesting + 1)?);
            more = self.goes_on(']')?;
        }
        Ok(items)
    }

    /// Whether another entry follows, rather than the end of the list or table.
    fn goes_on(&mut self, end: char) -> Result<bool, Problem> {
        if self.takes(',') {
            return Ok(true);
        }
        if self.takes(end) { Ok(false) } else { Err(self.wrong(&format!("expected `,` or `{end}` here"))) }
    }

    fn string(&mut self) -> Result<Cow<'t, str>, Problem> {
        let start = self.at;
        let mut values = serde_json::Deserializer::from_str(self.rest()).into_iter::<String>();
        let value = values.next().and_then(Result::ok);
        let length = values.byte_offset();
        match value {
            Some(text) => {
                self.at += length;
                Ok(Cow::Owned(text))
            }
            None => {
                let line = self.rest().find('\n').unwrap_or(self.rest().len());
                let message = "this string is not closed, or has an escape or control character that JSON does not allow";
                Err(problem(start..start + line, message.into()))
            }
        }
    }

    fn number(&mut self) -> Result<DeValue<'t>, Problem> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let length = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        let text = &self.rest()[..length];
        let is_json = serde_json::from_str::<serde_json::Number>(text).is_ok();
        match DeValue::parse(text).ok().filter(|_| is_json) {
            Some(value) => {
                self.at += length;
                Ok(value.into_inner())
            }
            None => Err(problem(self.at..self.at + length, format!("`{text}` is not a number"))),
        }
    }

    fn word(&mut self) -> Result<DeValue<'t>, Problem> {
        let length = self.rest().find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        match word {
            "true" | "false" => {
                self.at += length;
                Ok(DeValue::Boolean(word == "true"))
            }
            "" => Err(self.wrong("expected a value here")),
            word => {
                let message = format!("`{word}` is not a value; leave out keys without a value");
                Err(problem(self.at..self.at + length, message))
            }
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches([' ', '\n', '\r', '\t']).len();
    }

    /// Consumes a character after blanks, if it comes next.
    fn takes(&mut self, sign: char) -> bool {
        self.blanks();
        let is_next = self.rest().starts_with(sign);
        self.at += if is_next { sign.len_utf8() } else { 0 };
        is_next
    }

    fn wrong(&self, message: &str) -> Problem {
        let next = self.rest().chars().next().map_or(0, char::len_utf8);
        problem(self.at..self.at + next, message.into())
    }
}

fn problem(span: std::ops::Range<usize>, message: String) -> Problem {
    Problem { span, kind: InputProblem::Syntax, message, help: None }
}
