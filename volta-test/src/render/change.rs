//! A snapshot that differs from the accepted one: what changed, and how to accept it.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use super::{Paint, clean_line};
use crate::beside;
use crate::case::Case;
use crate::manifest;
use crate::prepare::{shell_word, shown};
use crate::snapshot::{Compared, State, is_in_package};

/// The number of unchanged lines shown around a change.
const CONTEXT: usize = 2;

/// The number of elements that a headline names.
const MAX_NAMED: usize = 3;

/// The number of characters shown of a line; of a long line that changed in the middle, those around the change.
const MAX_SHOWN: usize = 100;

/// The number of these characters before the change.
const MAX_BEFORE: usize = 30;

/// What changed, in one line.
pub(crate) fn headline(compared: &Compared) -> String {
    match &compared.old {
        None => "there is no snapshot yet to compare with".into(),
        Some(old) => format!("the snapshot does not match: {}", what_changed(old, &compared.new)),
    }
}

fn what_changed(old: &str, new: &str) -> String {
    let (old, new) = (Parts::of(old), Parts::of(new));
    let mut changes: Vec<String> = Vec::new();
    if old.verdict != new.verdict {
        changes.push(format!("the verdict was {}, and is now {}", old.verdict, new.verdict));
    }
    if old.conditions != new.conditions {
        changes.push("the conditions changed".into());
    }
    if old.compared != new.compared {
        let say = |compared: Option<&str>| compared.unwrap_or("nothing").to_owned();
        changes.push(format!("{} compared, and now {}", say(old.compared), say(new.compared)));
    }
    if old.message != new.message {
        changes.push("the message changed".into());
    }
    if let Some(forms) = changed_forms(&old, &new) {
        changes.push(forms);
    }
    if changes.is_empty() { "only its layout changed".into() } else { changes.join("; ") }
}

/// The changes of forms and of their digests, in words, if there are any.
fn changed_forms(old: &Parts<'_>, new: &Parts<'_>) -> Option<String> {
    let of = |parts: &Parts<'_>, name: &str| {
        parts.forms.iter().find(|(other, _)| other == name).map(|(_, form)| form.clone())
    };
    let both = new.forms.iter().filter_map(|(name, form)| Some((name.as_str(), of(old, name)?, form)));
    let changed: Vec<&str> = both.filter(|(_, old, form)| old != *form).map(|(name, _, _)| name).collect();
    let is_other = |(a, b): (&Parts<'_>, &Parts<'_>)| b.forms.iter().any(|(name, _)| of(a, name).is_none());
    let others = is_other((old, new)) || is_other((new, old));
    let same_digest = old.digests == new.digests;
    let named: Vec<String> = changed.iter().take(MAX_NAMED).map(|name| clean_line(name)).collect();
    let forms = match (changed.len(), changed.len() - named.len()) {
        (0, _) => None,
        (1, _) => Some(format!("the form of {} changed", named[0])),
        (_, 0) => {
            let (last, first) = named.split_last()?;
            Some(format!("the forms of {} and {last} changed", first.join(", ")))
        }
        (_, more) => Some(format!("the forms of {} and {more} more changed", named.join(", "))),
    };
    match (forms, same_digest) {
        // A form changed, but the digest did not.
        (Some(forms), true) if !old.digests.is_empty() => {
            Some(format!("{forms} only in notation: the digest of all forms did not change"))
        }
        (Some(forms), _) => Some(forms),
        (None, _) if others => Some("forms of other elements are shown".into()),
        (None, false) if old.digests.is_empty() => Some("it has no digest of all forms yet".into()),
        (None, false) if new.digests.is_empty() => Some("it no longer has a digest of all forms".into()),
        (None, false) => Some("forms changed, but none of those shown".into()),
        (None, true) => None,
    }
}

/// The parts of a snapshot's text.
#[derive(Debug, Default, PartialEq)]
struct Parts<'t> {
    verdict: &'t str,
    conditions: Vec<&'t str>,
    compared: Option<&'t str>,
    digests: Vec<&'t str>,
    /// The formulas of families of elements and of names: left side with the kernel, and right side.
    forms: Vec<(String, String)>,
    /// The other lines.
    message: Vec<&'t str>,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Parts<'t> {
        let mut parts = Parts::default();
        let mut side = None;
        for line in text.lines() {
            if let Some(of) = line.strip_prefix("formula").and_then(|rest| rest.strip_suffix(':')) {
                side = Some(of);
            } else if let Some(side) = side {
                match (line.split_once(" = "), parts.forms.last_mut()) {
                    (Some((name, form)), _) => {
                        parts.forms.push((format!("{}{side}", name.trim()), form.into()))
                    }
                    (None, Some((_, form))) => form.push_str(line),
                    (None, None) => parts.message.push(line),
                }
            } else if let Some(verdict) = line.strip_prefix("verdict: ") {
                parts.verdict = verdict;
            } else if let Some(condition) = line.strip_prefix("where: ") {
                parts.conditions.push(condition);
            } else if let Some(compared) = line.strip_prefix("compared: ") {
                parts.compared = Some(compared);
            } else if line.starts_with("digest of all forms") {
                parts.digests.push(line);
            } else if !line.is_empty() {
                parts.message.push(line);
            }
        }
        parts
    }
}

/// The lines that changed, and what to do about them.
pub(super) fn render(case: &Case, compared: &Compared, paint: Paint) -> String {
    let path = clean_line(&beside::slashed(&shown(&compared.path)));
    let mut text = String::new();
    if compared.state == State::Accepted {
        let _ = writeln!(text, "{} {path} is accepted", paint.dim("snapshot:"));
        return text;
    }
    let _ = writeln!(text, "  {}", paint.dim(&path));
    text.push_str(&diff(compared.old.as_deref().unwrap_or_default(), &compared.new, paint));
    let is_folder = case.home.file.file_name().is_some_and(|name| name == manifest::FILE_NAME);
    let by_volta = is_folder.then(|| {
        let dir = shell_word(&shown(&case.home.dir).to_string_lossy());
        format!("`cargo volta check {dir} --accept`")
    });
    let by_insta = is_in_package(case).then(|| "`cargo insta review`".to_owned());
    let ways: Vec<String> = by_volta.into_iter().chain(by_insta).collect();
    let ways = if ways.is_empty() { "INSTA_UPDATE=always".into() } else { ways.join(" or ") };
    let accept = format!("if that is intended, {ways} accepts it");
    let _ = writeln!(text, "{} {accept}", paint.dim("help:"));
    if compared.state == State::Refused {
        let _ = writeln!(text, "{} INSTA_UPDATE or CI says that nothing is written", paint.dim("note:"));
    }
    text
}

/// A diff: changed lines with `-` and `+`, and some lines around them.
fn diff(old: &str, new: &str, paint: Paint) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut text = String::new();
    for (at, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if at > 0 {
            text.push_str("    …\n");
        }
        for op in group {
            let changes: Vec<_> = diff.iter_changes(op).collect();
            let of = |tag| changes.iter().filter(move |change| change.tag() == tag);
            let (gone, come) = (of(ChangeTag::Delete).count(), of(ChangeTag::Insert).count());
            for change in &changes {
                let tag = change.tag();
                // If as many lines were inserted as deleted, they are compared in pairs.
                let at = of(tag).position(|other| other == change).filter(|_| gone == come).unwrap_or(0);
                let partner = match tag {
                    ChangeTag::Equal => None,
                    ChangeTag::Delete => of(ChangeTag::Insert).nth(at),
                    ChangeTag::Insert => of(ChangeTag::Delete).nth(at),
                };
                let partner = partner.filter(|_| gone == come).map(|partner| partner.value().trim_end());
                let line = cut(change.value().trim_end(), partner);
                let line = match tag {
                    ChangeTag::Equal if line.is_empty() => String::new(),
                    ChangeTag::Equal => paint.dim(&format!("      {line}")),
                    ChangeTag::Delete => paint.bad(&format!("    - {line}")),
                    ChangeTag::Insert => paint.good(&format!("    + {line}")),
                };
                text.push_str(&line);
                text.push('\n');
            }
        }
    }
    text
}

/// A long line cut to the part where it differs from `other`; without `other`, to its beginning.
fn cut(line: &str, other: Option<&str>) -> String {
    let line = clean_line(line);
    let characters: Vec<char> = line.chars().collect();
    if characters.len() <= MAX_SHOWN {
        return line;
    }
    let same = other.map_or(0, |other| {
        let other = clean_line(other);
        line.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
    });
    let latest = characters.len() - MAX_SHOWN;
    let start = same.saturating_sub(MAX_BEFORE).min(latest);
    let end = start + MAX_SHOWN;
    let before = if start > 0 { "… " } else { "" };
    let after = if end < characters.len() { " …" } else { "" };
    format!("{before}{}{after}", characters[start..end].iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const OLD: &str = "verdict: equivalent\ncompared: 4 of 4 elements, 0 unwritten\n\
                       digest of all forms: 01\n\nformula:\ny[0] = x[0]\ny[1] = x[1]\n";

    fn headline_of(old: Option<&str>, new: &str) -> String {
        let (old, new) = (old.map(str::to_owned), new.into());
        headline(&Compared { state: State::Pending, path: PathBuf::new(), old, new })
    }

    #[test]
    fn headlines_say_what_changed() {
        let changed = |from: &[(&str, &str)]| {
            let new = from.iter().fold(OLD.to_owned(), |text, (from, to)| text.replace(from, to));
            let line = headline_of(Some(OLD), &new);
            line.strip_prefix("the snapshot does not match: ").expect("it does not").to_owned()
        };
        let digest = (": 01", ": 02");
        assert_eq!(changed(&[digest]), "forms changed, but none of those shown");
        assert_eq!(changed(&[digest, ("= x[1]", "= 2·x[1]")]), "the form of y[1] changed");
        assert_eq!(changed(&[digest, ("= x", "= 2·x")]), "the forms of y[0] and y[1] changed");
        assert_eq!(
            changed(&[("= x[1]", "= 1·x[1]")]),
            "the form of y[1] changed only in notation: the digest of all forms did not change"
        );
        assert_eq!(
            changed(&[("4 of 4", "3 of 4")]),
            "4 of 4 elements, 0 unwritten compared, and now 3 of 4 elements, 0 unwritten"
        );
        assert_eq!(changed(&[digest, ("y[1] =", "y[2] =")]), "forms of other elements are shown");
        assert_eq!(changed(&[("digest of all forms: 01\n", "")]), "it no longer has a digest of all forms");
        assert_eq!(
            changed(&[("equivalent", "equivalent-where\nwhere: x[0] ≠ 0")]),
            "the verdict was equivalent, and is now equivalent-where; the conditions changed"
        );
        assert_eq!(changed(&[("01\n\n", "01\n")]), "only its layout changed");
        let race = "verdict: race\n\nerror[Y1]: race in k.cu::k: two write s[0]\n";
        let other = race.replace("s[0]", "s[1]");
        assert!(headline_of(Some(race), &other).ends_with("does not match: the message changed"));
        assert_eq!(headline_of(None, race), "there is no snapshot yet to compare with");
    }

    #[test]
    fn many_forms_are_counted() {
        let text = |form: &str| {
            let forms: Vec<String> = (0..5).map(|at| format!("y[{at}] = {form}\n")).collect();
            format!("verdict: equivalent\ndigest of all forms: {form}\n\nformula:\n{}", forms.join(""))
        };
        let line = headline_of(Some(&text("1")), &text("2"));
        assert!(line.ends_with(": the forms of y[0], y[1], y[2] and 2 more changed"), "{line}");
    }

    #[test]
    fn long_lines_are_cut_around_what_changed() {
        let terms: Vec<String> = (0..200).map(|at| format!("x[{at}]")).collect();
        let old = terms.join(" + ");
        let new = old.replace("x[120]", "2*x[120]");
        let text =
            diff(&format!("formula:\ny[0] = {old}\n"), &format!("formula:\ny[0] = {new}\n"), Paint::PLAIN);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[1].starts_with("    - … ") && lines[1].contains("x[119] + x[120] + "), "{text}");
        assert!(lines[2].starts_with("    + … ") && lines[2].contains("x[119] + 2*x[120] + "), "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 112), "{text}");
    }
}
