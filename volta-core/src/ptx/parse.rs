//! The parser's primitives: the current token, expecting tokens, and errors where they are missing.

use super::error::{Failure, ParseError, Parsed, failure, quoted};
use super::lexer::Lexer;
use super::token::{Kind, Token};
use super::tree::{Module, Name};
use crate::base::span::Span;

/// Nesting limit of braces, parentheses and operators; every recursion of the parser counts.
const DEEPEST: u32 = 256;

/// Reads a module.
pub(super) fn module(text: &str) -> Result<Module, ParseError> {
    check_length(text.len()).map_err(|failure| failure.without_place())?;
    let module = Parser::new(text).and_then(|mut parser| parser.module());
    module.map_err(|failure| failure.locate(text))
}

/// Checks that positions fit into 32 bits.
fn check_length(length: usize) -> Parsed<()> {
    if u32::try_from(length).is_err() {
        let message = format!("the text is {length} bytes long; at most {} bytes are allowed", u32::MAX);
        return Err(failure(Span::default(), message));
    }
    Ok(())
}

/// Reads tokens into a tree.
///
/// Invariant: `token` is the next token, not yet taken; the lexer is past it.
pub(super) struct Parser<'t> {
    pub(super) lexer: Lexer<'t>,
    pub(super) token: Token,
    /// The token taken last.
    pub(super) last: Span,
    depth: u32,
    /// Approximate size in bytes of names that come from one written with a count.
    spelled: u64,
}

impl<'t> Parser<'t> {
    /// A parser at the beginning of `text`.
    pub(super) fn new(text: &'t str) -> Parsed<Parser<'t>> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        Ok(Parser { lexer, token, last: Span::default(), depth: 0, spelled: 0 })
    }

    /// The text of a token.
    pub(super) fn text(&self, span: Span) -> &'t str {
        self.lexer.text().get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The text of the next token.
    pub(super) fn here(&self) -> &'t str {
        self.text(self.token.span)
    }

    /// Takes the next token.
    pub(super) fn bump(&mut self) -> Parsed<Token> {
        let taken = self.token;
        self.token = self.lexer.next()?;
        self.last = taken.span;
        Ok(taken)
    }

    /// The token after the next.
    pub(super) fn peek(&self) -> Parsed<Token> {
        let mut ahead = self.lexer;
        ahead.next()
    }

    /// The span from `start` to the last token taken.
    pub(super) fn since(&self, start: Span) -> Span {
        start.to(self.last)
    }

    /// Whether the next token is this sign.
    pub(super) fn is(&self, sign: &str) -> bool {
        matches!(self.token.kind, Kind::Sign(here) if here == sign)
    }

    /// Takes this sign if it is next.
    pub(super) fn accept(&mut self, sign: &str) -> Parsed<bool> {
        let found = self.is(sign);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    /// Takes this sign, or fails with what was expected.
    pub(super) fn expect(&mut self, sign: &str, what: &str) -> Parsed<Token> {
        if self.is(sign) { self.bump() } else { Err(self.expected(what)) }
    }

    /// Whether the next token is this directive or modifier, dot included.
    pub(super) fn is_dotted(&self, name: &str) -> bool {
        self.token.kind == Kind::Dotted && self.here() == name
    }

    /// Takes this directive or modifier if it is next.
    pub(super) fn accept_dotted(&mut self, name: &str) -> Parsed<bool> {
        let found = self.is_dotted(name);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    /// Takes a word.
    pub(super) fn word(&mut self, what: &str) -> Parsed<Name> {
        if self.token.kind != Kind::Word {
            return Err(self.expected(what));
        }
        let span = self.bump()?.span;
        Ok(Name { text: self.text(span).to_owned(), span })
    }

    /// Takes a dotted word and drops the dot.
    pub(super) fn dotted(&mut self, what: &str) -> Parsed<Name> {
        if self.token.kind != Kind::Dotted {
            return Err(self.expected(what));
        }
        let span = self.bump()?.span;
        let text = self.text(span);
        Ok(Name { text: text.strip_prefix('.').unwrap_or(text).to_owned(), span })
    }

    /// The failure of finding something other than `what`.
    pub(super) fn expected(&self, what: &str) -> Box<Failure> {
        failure(self.token.span, format!("expected {what}, found {}", self.found()))
    }

    fn found(&self) -> String {
        match self.token.kind {
            Kind::End => "the end of the text".to_owned(),
            Kind::Text => format!("the string {}", quoted(self.here())),
            Kind::Word | Kind::Dotted | Kind::Number | Kind::Sign(_) => quoted(self.here()),
        }
    }

    /// The line of a position, from 1; for messages, since it scans the text up to there.
    pub(super) fn line_of(&self, span: Span) -> usize {
        1 + self.lexer.text().bytes().take(span.start as usize).filter(|byte| *byte == b'\n').count()
    }

    /// Takes a list `item, item, …`, at least one item.
    pub(super) fn separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(",")? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Counts names that come from one written with a count, so that a short text cannot make a huge tree.
    pub(super) fn spend(&mut self, count: u64, length: usize, place: Span) -> Parsed<()> {
        const MOST: u64 = 1 << 26;
        /// Approximate size of a declaration without its name.
        const EACH: u64 = 256;
        self.spelled = self.spelled.saturating_add(count.saturating_mul(EACH + length as u64));
        if self.spelled > MOST {
            return Err(failure(place, "too many names are declared by counts"));
        }
        Ok(())
    }

    /// Calls `inner` one nesting level deeper, within the limit.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            return Err(failure(self.token.span, format!("nested more than {DEEPEST} levels deep")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_too_long_for_spans_is_an_error() {
        assert!(check_length(u32::MAX as usize).is_ok());
        let error = check_length(u32::MAX as usize + 1).expect_err("too long").without_place();
        assert!(error.to_string().starts_with("line 1, column 1: the text is 4294967296 bytes long"));
    }
}
