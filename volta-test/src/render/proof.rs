//! Proofs: *equivalent*, *equivalent-where*, and the clean run of a single kernel.

use std::fmt::Write as _;

use volta_core::case::{ParamKind, Role};
use volta_core::verdict::{Report, Scope};

use super::{Paint, bullets, clean_line};
use crate::case::Case;

pub(super) fn equivalent(case: &Case, report: &Report, conditions: &[String], paint: Paint) -> String {
    let reference = case.reference.as_ref().map(|kernel| clean_line(&kernel.shown())).unwrap_or_default();
    let opt = clean_line(&case.opt.shown());
    let mut text = String::new();
    if conditions.is_empty() {
        let title = paint.good("equivalent:");
        let scope = scope(&report.scope, "wherever the reference is defined");
        let _ = writeln!(text, "{title} {opt} computes what {reference} computes, {scope}");
    } else {
        let title = paint.doubtful("equivalent only where");
        let _ = writeln!(text, "{title} the following holds: {opt} and {reference}");
        text.push_str(&bullets("conditions beyond the reference's own domain", conditions, paint));
    }
    let _ = writeln!(text, "  {}", coverage(case, report));
    let _ = writeln!(
        text,
        "  not compared: what the kernels compute on the way, such as a running maximum that cancels"
    );
    text
}

pub(super) fn clean_run(case: &Case, report: &Report, paint: Paint) -> String {
    let kernel = clean_line(&case.opt.shown());
    let scope = scope(&report.scope, "its outputs being defined only");
    format!(
        "{} {kernel} has no race, no deadlock, no access out of bounds or before a write, {scope}\n",
        paint.good("clean:")
    )
}

/// So many conditions are told in a headline.
const MAX_DOMAIN: usize = 3;

/// Which inputs a claim speaks of: `for every input`.
fn scope(scope: &Scope, defined: &str) -> String {
    let allowed = if scope.restricted { " that the case allows" } else { "" };
    let shown: Vec<String> = scope.domain.iter().take(MAX_DOMAIN).map(|text| clean_line(text)).collect();
    let more = match scope.domain.len().saturating_sub(MAX_DOMAIN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match (shown.is_empty(), scope.restricted) {
        (true, _) => format!("for every input{allowed}"),
        (false, false) => format!("{defined}: where {}{more}", shown.join(", ")),
        (false, true) => {
            format!("of the inputs{allowed} {defined}: where {}{more}", shown.join(", "))
        }
    }
}

/// `compared: 128 of 128 elements of y; 0 unwritten`
pub(super) fn coverage(case: &Case, report: &Report) -> String {
    let is_compared =
        |kind: &ParamKind| matches!(kind, ParamKind::Tensor { role: Role::Out | Role::InOut, .. });
    let outputs: Vec<String> = case
        .params
        .iter()
        .filter(|param| is_compared(&param.kind))
        .map(|param| clean_line(&param.name))
        .collect();
    let coverage = &report.coverage;
    let mut text =
        format!("compared: {} of {} elements of {}", coverage.compared, coverage.total, outputs.join(", "));
    if coverage.unwritten > 0 {
        let _ = write!(text, "; {} unwritten", coverage.unwritten);
    }
    text
}
