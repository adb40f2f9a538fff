//! The tokens of PTX.

use crate::base::span::Span;

/// A token and its position; its text is looked up by span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// Where it stands.
    pub(super) span: Span,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `mov`, `%r1`, `$L__BB0_2`, `_`.
    Word,
    /// `.f32`, `.shared::cta`, `.2d`: a dot and the word after it.
    Dotted,
    /// `12`, `0xFFU`, `0f3F800000`, `1.5e-3`.
    Number,
    /// `"text"`.
    Text,
    /// Any other token, by its spelling.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Signs; of those with a common prefix, the longest first.
pub(super) const SIGNS: [&str; 32] = [
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "{", "}", "[", "]", ",", ";", ":", "@", "!",
    "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "~", "?", "=",
];
