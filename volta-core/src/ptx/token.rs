//! The words of a PTX text.

use crate::base::span::Span;

/// A token and where it stands; its text is looked up by span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// Where it stands.
    pub(super) span: Span,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `mov`, `%r1`, `$L__BB0_2`, `_`.
    Word,
    /// `.f32`, `.shared::cta`, `.2d`: a dot and the word behind it.
    Dotted,
    /// `12`, `0xFFU`, `0f3F800000`, `1.5e-3`.
    Number,
    /// `"text"`.
    Text,
    /// Everything else that is written, by its spelling.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Signs, longest first among those that share a beginning.
pub(super) const SIGNS: [&str; 32] = [
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "{", "}", "[", "]", ",", ";", ":", "@", "!",
    "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "~", "?", "=",
];
