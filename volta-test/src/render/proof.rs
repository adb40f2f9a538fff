//! Proofs: *equivalent*, *equivalent-where*, and the clean run of a single kernel.

use std::fmt::Write as _;

use volta_core::case::{ParamKind, Role};
use volta_core::verdict::{InputScope, Report};

use super::{Paint, bullets, clean_line, wrapped};
use crate::case::Case;

pub(super) fn equivalent(case: &Case, report: &Report, conditions: &[String], paint: Paint) -> String {
    let reference = case.reference.as_ref().map(|kernel| clean_line(&kernel.shown())).unwrap_or_default();
    let opt = clean_line(&case.opt.shown());
    let mut text = String::new();
    if conditions.is_empty() {
        let title = paint.good("equivalent:");
        let of_inputs = match domain(&report.scope) {
            None => format!("for {}", inputs(&report.scope)),
            Some(domain) if report.scope.restricted => {
                format!(
                    "for every input that the case allows and at which the reference is defined: where {domain}"
                )
            }
            Some(domain) => format!("wherever the reference is defined: where {domain}"),
        };
        let claim = format!("{opt} computes what {reference} computes, {of_inputs}");
        let _ = writeln!(text, "{title} {}", wrapped(&claim, 12, 2));
    } else {
        let title = paint.doubtful("equivalent only where");
        let claim = format!("the following holds: {opt} and {reference}");
        let _ = writeln!(text, "{title} {}", wrapped(&claim, 22, 2));
        text.push_str(&bullets("conditions beyond the reference's own domain", conditions, paint));
    }
    let _ = writeln!(text, "  {}", coverage(case, report));
    let line = "not compared: intermediate values, such as a running maximum that cancels";
    let _ = writeln!(text, "  {}", wrapped(line, 2, 4));
    text
}

pub(super) fn clean_run(case: &Case, report: &Report, paint: Paint) -> String {
    let kernel = clean_line(&case.opt.shown());
    let inputs = inputs(&report.scope);
    let domain = domain(&report.scope);
    let domain = domain.map(|domain| format!("; its outputs are defined where {domain}")).unwrap_or_default();
    let claim = format!(
        "{kernel} has no race, no deadlock, no access out of bounds or before a write, for {inputs}{domain}"
    );
    format!("{} {}\n", paint.good("clean:"), wrapped(&claim, 7, 2))
}

/// The number of conditions that a headline lists.
const MAX_DOMAIN: usize = 3;

/// `every input`
fn inputs(scope: &InputScope) -> &'static str {
    if scope.restricted { "every input that the case allows" } else { "every input" }
}

/// The domain, as `x[0] > 0, x[1] > 0`; `None` if it is everything.
fn domain(scope: &InputScope) -> Option<String> {
    let shown: Vec<String> = scope.domain.iter().take(MAX_DOMAIN).map(|text| clean_line(text)).collect();
    let more = match scope.domain.len() - shown.len() + scope.more {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    (!shown.is_empty()).then(|| shown.join(", ") + &more)
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
