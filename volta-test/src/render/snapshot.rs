//! What is snapshotted: nothing that depends on compiler, machine, threads or layout.

use std::fmt::Write as _;

use volta_core::verdict::{Report, Verdict};

use super::{Paint, clean, clean_line, difference, fault};
use crate::case::Case;
use crate::prepare::Texts;

/// A longer form is cut.
const MAX_FORM_BYTES: usize = 2048;

/// The text of a case's snapshot.
pub fn text(case: &Case, report: &Report, texts: &Texts) -> String {
    let mut text = format!("verdict: {}\n", report.verdict.name());
    match &report.verdict {
        Verdict::Equivalent | Verdict::Clean => {}
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
        // Reasons quote counts, which are the compiler's.
        Verdict::Unknown(_) => {}
        Verdict::InputError(found) => {
            let _ = writeln!(text, "{}", clean(&found.message));
        }
    }
    let coverage = &report.coverage;
    if coverage.total > 0 && matches!(report.verdict, Verdict::Equivalent | Verdict::EquivalentWhere(_)) {
        let _ = write!(text, "compared: {} of {} elements", coverage.compared, coverage.total);
        let _ = writeln!(text, ", {} unwritten", coverage.unwritten);
    }
    for (side, digest) in ["", " of opt"].iter().zip(&report.form_digests) {
        // Of what is shown below only some and of these only parts, this is all.
        let _ = write!(text, "digest of all forms{side}: {:032x}", digest.digest);
        match digest.open {
            0 => text.push('\n'),
            open => drop(writeln!(text, ", {open} without a form")),
        }
    }
    for form in &report.forms {
        let _ = writeln!(text, "\n{} =", clean_line(&form.element));
        let mut side = |name: &str, form: &str| {
            let _ = writeln!(text, "  {name}{}", bounded(&clean_line(form)));
        };
        match &form.opt {
            None => side("", &form.form),
            Some(opt) => {
                side("reference: ", &form.form);
                side("opt:       ", opt);
            }
        }
    }
    text
}

fn bounded(form: &str) -> String {
    match form.char_indices().nth(MAX_FORM_BYTES) {
        None => form.into(),
        Some((cut, _)) => format!("{} … ({} bytes)", &form[..cut], form.len()),
    }
}
