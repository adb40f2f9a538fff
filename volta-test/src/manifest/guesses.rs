//! The marks of `cargo volta new` in a `volta.toml`: comments `# guess`.
//!
//! A mark is a comment, so that a user removes it by deleting it, and not by changing a second place; it is read, so that a
//! verdict under a guess does not pass for one about what the user launches.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::case::Guess;

/// The word that marks a guess.
const MARK: &str = "guess";

/// The lines of a document with a comment that begins with `guess`.
pub(super) fn marked(text: &str, document: &DeTable<'_>) -> Vec<Guess> {
    // JSON has no comments.
    if text.trim_start().starts_with('{') {
        return Vec::new();
    }
    let mut texts = Vec::new();
    document.iter().for_each(|(key, value)| {
        texts.push(key.span());
        add_texts(value.get_ref(), value.span(), &mut texts);
    });
    texts.sort_unstable_by_key(|span| span.start);
    let is_in_text = |at: usize| {
        let next = texts.partition_point(|span| span.start <= at);
        next.checked_sub(1).is_some_and(|last| texts[last].contains(&at))
    };
    let mut guesses = Vec::new();
    let mut start = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let mut signs = line.match_indices('#').map(|(at, _)| at).filter(|at| !is_in_text(start + at));
        if let Some(at) = signs.find(|at| is_guess(&line[at + 1..])) {
            guesses.push(Guess { line: number, text: line[..at].trim().to_owned() });
        }
        start += line.len();
    }
    guesses
}

/// Whether a comment begins with the word.
fn is_guess(comment: &str) -> bool {
    let comment = comment.trim_start_matches([' ', '\t']);
    let word = |c: &char| c.is_alphanumeric() || *c == '_';
    let word: String = comment.chars().take_while(word).take(MARK.len() + 1).collect();
    word.eq_ignore_ascii_case(MARK)
}

/// The spans of keys and of texts in a value; a `#` there begins no comment.
fn add_texts(value: &DeValue<'_>, span: Range<usize>, texts: &mut Vec<Range<usize>>) {
    match value {
        DeValue::String(_) => texts.push(span),
        DeValue::Array(items) => {
            items.iter().for_each(|item| add_texts(item.get_ref(), item.span(), texts));
        }
        DeValue::Table(table) => table.iter().for_each(|(key, value)| {
            texts.push(key.span());
            add_texts(value.get_ref(), value.span(), texts);
        }),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}
