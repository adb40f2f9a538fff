//! The text of a snapshot, which contains nothing that depends on compiler, machine, threads or layout.

use std::fmt::Write as _;

use volta_core::verdict::{Report, Verdict};

use super::{Paint, clean, clean_line, difference, fault};
use crate::case::Case;
use crate::prepare::Texts;

/// A longer line is cut.
const MAX_FORM_BYTES: usize = 2048;

/// The text of a case's snapshot.
pub fn text(case: &Case, report: &Report, texts: &Texts) -> String {
    let mut text = format!("verdict: {}\n", report.verdict.name());
    match &report.verdict {
        Verdict::Equivalent | Verdict::Same(_) | Verdict::Clean => {}
        Verdict::EquivalentWhere(conditions) => {
            for condition in conditions {
                let _ = writeln!(text, "where: {}", clean_line(condition));
            }
        }
        Verdict::Different(found) => {
            let _ = writeln!(text, "{}", difference::headline(found));
        }
        Verdict::Fault(found) => {
            text.push('\n');
            text.push_str(&fault::render(case, &texts.given(), found, fault::Detail::Stable, Paint::PLAIN));
        }
        // The reason is left out: it contains counts that depend on the compiler.
        Verdict::Unknown(_) => {}
        Verdict::InputError(found) => {
            let _ = writeln!(text, "{}", clean(&found.message));
        }
    }
    if !report.holds.is_empty() {
        let _ = writeln!(text, "holds: {}", report.holds.join(", "));
    }
    if let Some(parting) = super::parting(report) {
        let _ = writeln!(text, "{parting}");
    }
    for line in super::proof::ranges(report) {
        let _ = writeln!(text, "{line}");
    }
    for line in super::proof::losses(report) {
        let _ = writeln!(text, "note: {line}");
    }
    let coverage = &report.coverage;
    if coverage.total > 0
        && matches!(report.verdict, Verdict::Equivalent | Verdict::EquivalentWhere(_) | Verdict::Same(_))
    {
        let _ = write!(text, "compared: {} of {} elements", coverage.compared, coverage.total);
        let _ = writeln!(text, ", {} unwritten", coverage.unwritten);
    }
    for (side, digest) in ["", " of opt"].iter().zip(&report.form_digests) {
        // A formula may be abridged; the digest covers all forms.
        let _ = write!(text, "digest of all forms{side}: {:032x}", digest.digest);
        match digest.open {
            0 => text.push('\n'),
            open => drop(writeln!(text, ", {open} without a form")),
        }
    }
    for (side, formula) in ["", " of opt"].iter().zip(&report.formulas) {
        let _ = writeln!(text, "\nformula{side}:");
        for line in formula.text.lines() {
            let _ = writeln!(text, "{}", bounded(&clean_line(line)));
        }
    }
    text
}

fn bounded(line: &str) -> String {
    match line.char_indices().nth(MAX_FORM_BYTES) {
        None => line.into(),
        Some((cut, _)) => format!("{} … ({} bytes)", &line[..cut], line.len()),
    }
}
