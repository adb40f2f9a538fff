//! The lexer: text to tokens, one at a time.

use super::error::{Parsed, failure, quoted};
use super::token::{Kind, SIGNS, Token};
use crate::base::span::Span;

/// Reads tokens from a text; copies are cheap and allow backtracking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// Whether a byte may occur inside a word.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

impl<'t> Lexer<'t> {
    /// Starts at the beginning of `text`.
    pub(super) fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, at: 0 }
    }

    /// The text being read.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// Moves to byte `at`, which must begin a character.
    pub(super) fn seek(&mut self, at: usize) {
        self.at = at;
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Reads the next token, after skipping blanks and comments.
    pub(super) fn next(&mut self) -> Parsed<Token> {
        self.skip_blanks()?;
        let start = self.at;
        let kind = match self.byte(0) {
            None => Kind::End,
            Some(byte) if byte.is_ascii_digit() => self.number(),
            Some(b'.') if self.byte(1).is_some_and(in_word) || self.byte(1) == Some(b'%') => self.dotted(),
            Some(b'"') => self.string()?,
            Some(b'%') if self.byte(1).is_some_and(in_word) => self.word(),
            Some(byte) if in_word(byte) => self.word(),
            Some(_) => self.sign()?,
        };
        Ok(Token { kind, span: Span::new(start, self.at) })
    }

    fn skip_blanks(&mut self) -> Parsed<()> {
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c), _) => self.at += 1,
                (Some(b'/'), Some(b'/')) => {
                    self.at = self.rest().find('\n').map_or(self.text.len(), |length| self.at + length);
                }
                (Some(b'/'), Some(b'*')) => {
                    let inside = self.text.get(self.at + 2..).unwrap_or("");
                    let Some(length) = inside.find("*/") else {
                        let opening = Span::new(self.at, self.at + 2);
                        return Err(failure(opening, "this comment is never closed").help("add `*/`"));
                    };
                    self.at += length + 4;
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_word(&mut self) {
        while self.byte(0).is_some_and(in_word) {
            self.at += 1;
        }
    }

    fn word(&mut self) -> Kind {
        self.at += 1;
        self.skip_word();
        Kind::Word
    }

    fn dotted(&mut self) -> Kind {
        self.at += 2;
        self.skip_word();
        while self.rest().starts_with("::") && self.byte(2).is_some_and(in_word) {
            self.at += 2;
            self.skip_word();
        }
        Kind::Dotted
    }

    /// Takes a candidate for a number; it is checked when its value is needed.
    fn number(&mut self) -> Kind {
        let start = self.at;
        self.skip_word();
        let decimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let read = |lexer: &Lexer<'t>| lexer.text.get(start..lexer.at).unwrap_or("");
        if decimal(read(self)) && self.byte(0) == Some(b'.') {
            self.at += 1;
            self.skip_word();
        }
        let mantissa = read(self).strip_suffix(['e', 'E']);
        let signed =
            matches!(self.byte(0), Some(b'+' | b'-')) && self.byte(1).is_some_and(|b| b.is_ascii_digit());
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if signed && mantissa.is_some_and(plain) {
            self.at += 1;
            self.skip_word();
        }
        Kind::Number
    }

    /// Takes a string, in which a backslash has no meaning, as for `ptxas`.
    fn string(&mut self) -> Parsed<Kind> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.byte(0) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Kind::Text);
                }
                None | Some(b'\n') => {
                    let opening = Span::new(start, start + 1);
                    return Err(failure(opening, "this string is never closed").help("add `\"`"));
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn sign(&mut self) -> Parsed<Kind> {
        let rest = self.rest();
        if let Some(sign) = SIGNS.iter().copied().find(|sign| rest.starts_with(sign)) {
            self.at += sign.len();
            return Ok(Kind::Sign(sign));
        }
        let found = rest.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
        let here = Span::new(self.at, self.at + found.len_utf8());
        if found.is_control() || found == char::REPLACEMENT_CHARACTER || found == '\u{feff}' {
            let message = format!("found a character that is not text, U+{:04X}", u32::from(found));
            return Err(failure(here, message).help("PTX is plain text; compiled binaries cannot be read"));
        }
        Err(failure(here, format!("found {}, which has no meaning in PTX", quoted(&found.to_string()))))
    }

    /// Reads up to the brace that closes the one just read, and returns the text between.
    pub(super) fn raw_braces(&mut self, opening: Span) -> Parsed<&'t str> {
        let start = self.at;
        let mut depth = 1u32;
        loop {
            self.skip_blanks()?;
            match self.byte(0) {
                Some(b'{') => depth = depth.saturating_add(1),
                Some(b'}') if depth == 1 => {
                    let raw = self.text.get(start..self.at).unwrap_or("");
                    self.at += 1;
                    return Ok(raw);
                }
                Some(b'}') => depth -= 1,
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(_) => {}
                None => return Err(failure(opening, "this brace is never closed").help("add `}`")),
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut lexer = Lexer::new(text);
        let mut words = Vec::new();
        loop {
            let token = lexer.next().expect("a token");
            if token.kind == Kind::End {
                return words;
            }
            words.push(&text[token.span.start as usize..token.span.end as usize]);
        }
    }

    fn message(text: &str) -> String {
        let mut lexer = Lexer::new(text);
        loop {
            match lexer.next() {
                Ok(token) => assert_ne!(token.kind, Kind::End, "no error in {text:?}"),
                Err(failure) => return failure.locate(text).message,
            }
        }
    }

    #[test]
    fn a_modifier_with_colons_is_one_token() {
        assert_eq!(
            words("cp.mbarrier::complete_tx::bytes.2d L:"),
            ["cp", ".mbarrier::complete_tx::bytes", ".2d", "L", ":"]
        );
    }

    #[test]
    fn numbers_are_taken_whole() {
        assert_eq!(
            words("0x1e+5 1e+5 1.5e-3 .5 1. 2.5 9.5"),
            ["0x1e", "+", "5", "1e+5", "1.5e-3", ".5", "1.", "2.5", "9.5"]
        );
    }

    #[test]
    fn comments_and_blanks_separate() {
        assert_eq!(words(r#""C:\" "b // c""#), [r#""C:\""#, r#""b // c""#]);
        assert_eq!(words("a/* b */c // d\r\n\u{c}e/**/"), ["a", "c", "e"]);
    }

    #[test]
    fn signs_take_the_longest_match() {
        assert_eq!(words("a<<b|c||%d%"), ["a", "<<", "b", "|", "c", "||", "%d", "%"]);
    }

    #[test]
    fn what_is_not_text_is_named() {
        assert_eq!(message("mov\0"), "found a character that is not text, U+0000");
        assert_eq!(message("mov é"), "found `é`, which has no meaning in PTX");
        assert_eq!(message("/* a"), "this comment is never closed");
        assert_eq!(message("\"a\nb\""), "this string is never closed");
        assert_eq!(message("\"a\\\n\""), "this string is never closed");
    }
}
