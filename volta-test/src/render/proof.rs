//! Proofs: *equivalent*, *equivalent-where*, and the clean run of a single kernel.

use std::fmt::Write as _;

use volta_core::case::{Element, ParamKind, Role, Which};
use volta_core::term::spell_element;
use volta_core::verdict::{AllSizes, Claim, ElementError, InputScope, Report, UnusedInput};

use super::{Paint, bullets, clean_line, wrapped};
use crate::case::Case;

pub(super) fn equivalent(case: &Case, report: &Report, conditions: &[String], paint: Paint) -> String {
    let reference = case.reference.as_ref().map(|kernel| clean_line(&kernel.shown())).unwrap_or_default();
    let opt = clean_line(&case.opt.shown());
    let mut text = String::new();
    if conditions.is_empty() {
        let name = format!("equivalent{}", for_every_size(report));
        let title = title(case, &name, paint);
        let width = title_width(case, &name);
        let claim = claim(&opt, &reference, Claim::Reals, &report.scope);
        let _ = writeln!(text, "{title} {}", wrapped(&claim, width, 2));
    } else {
        let title = format!("equivalent{} only where", of_part(case));
        let claim = format!("the following holds: {opt} and {reference}");
        let width = title.len() + 1;
        let _ = writeln!(text, "{} {}", paint.doubtful(&title), wrapped(&claim, width, 2));
        text.push_str(&bullets("conditions beyond the reference's own domain", conditions, paint));
    }
    let _ = writeln!(text, "  {}", coverage(case, report));
    text.push_str(&sizes_line(report));
    text.push_str(&unused_lines(case, report));
    let is_float = |element: Element| matches!(element, Element::Float(_));
    let is_real = |kind: &ParamKind| match kind {
        ParamKind::Tensor { reference, opt, .. } => is_float(*reference) || is_float(*opt),
        ParamKind::Scalar { element, .. } => is_float(*element),
    };
    if case.params.iter().any(|param| is_real(&param.kind)) {
        let line = "not compared: intermediate values, such as a running maximum that cancels";
        let _ = writeln!(text, "  {}", wrapped(line, 2, 4));
    }
    text
}

/// A proof of a claim about bits.
pub(super) fn same(case: &Case, report: &Report, claim: Claim, paint: Paint) -> String {
    let reference = case.reference.as_ref().map(|kernel| clean_line(&kernel.shown())).unwrap_or_default();
    let opt = clean_line(&case.opt.shown());
    let name = report.verdict.name();
    let what = self::claim(&opt, &reference, claim, &report.scope);
    let mut text = format!("{} {}\n", title(case, &name, paint), wrapped(&what, title_width(case, &name), 2));
    if claim != Claim::Finite {
        let _ = writeln!(text, "  {}", coverage(case, report));
    }
    text.push_str(&unused_lines(case, report));
    text
}

/// What a proof claims of all elements that were compared.
pub(crate) fn claim(opt: &str, reference: &str, claim: Claim, scope: &InputScope) -> String {
    let what = match claim {
        Claim::Bits => format!("{opt} computes the bits that {reference} computes"),
        Claim::BitsUpToFma => {
            format!(
                "{opt} computes the bits that {reference} computes, if a product and a sum replace each fused one"
            )
        }
        Claim::Order => {
            format!("{opt} computes the sums and products that {reference} computes, in some order")
        }
        Claim::Reals => format!("{opt} computes what {reference} computes"),
        Claim::Finite => {
            let who = if reference.is_empty() { opt.to_owned() } else { format!("{reference} or {opt}") };
            format!("no operation on floats of {who} overflows, divides by zero or gives NaN")
        }
    };
    let of_inputs = match domain(scope) {
        None => format!("for {}", inputs(scope)),
        Some(domain) if scope.restricted => {
            format!(
                "for every input that the case allows and at which the reference is defined: where {domain}"
            )
        }
        Some(domain) => format!("wherever the reference is defined: where {domain}"),
    };
    format!("{what}, {of_inputs}")
}

/// ` in elements 0 to 1023 of 8192`, where a case is one part.
fn of_part(case: &Case) -> String {
    let Some(shard) = case.shard else { return String::new() };
    let elements = case.elements();
    let share = shard.share(elements);
    match share.end.saturating_sub(share.start) {
        1 => format!(" in element {} of {elements}", share.start),
        _ => format!(" in elements {} to {} of {elements}", share.start, share.end.saturating_sub(1)),
    }
}

/// What the operations of each source line give, of a claim about ranges.
pub(crate) fn ranges(report: &Report) -> Vec<String> {
    let told = report.ranges.iter().map(|line| {
        let [low, high] = &line.between;
        let leaves = if line.may_leave { ", and perhaps no number" } else { "" };
        let side = match line.side {
            Which::Reference => "in the reference",
            Which::Opt if report.reference.is_some() => "in the optimized kernel",
            Which::Opt => "in the kernel",
        };
        let place = super::difference::line(Some(&line.place));
        format!("{side}{place}, `{}` gives {low} to {high}{leaves}", line.operation)
    });
    told.collect()
}

/// Operations that lose digits, of a claim about ranges.
pub(crate) fn losses(report: &Report) -> Vec<String> {
    let told = report.losses.iter().map(|loss| {
        let side = match loss.side {
            Which::Reference => "in the reference",
            Which::Opt if report.reference.is_some() => "in the optimized kernel",
            Which::Opt => "in the kernel",
        };
        let place = super::difference::line(Some(&loss.place));
        let ([low, high], operands) = (&loss.between, loss.operands.join(" and "));
        let how = if loss.cancels { "cancels" } else { "underflows" };
        format!(
            "{side}{place}, `{}`, which gives {low} to {high}, {how} where {}: {} of {operands}",
            loss.operation,
            clean_line(&loss.inputs),
            loss.gives
        )
    });
    told.collect()
}

pub(super) fn clean_run(case: &Case, report: &Report, paint: Paint) -> String {
    let kernel = clean_line(&case.opt.shown());
    let inputs = inputs(&report.scope);
    let domain = domain(&report.scope);
    let domain = domain.map(|domain| format!("; its outputs are defined where {domain}")).unwrap_or_default();
    let claim = format!(
        "{kernel} has no race, no deadlock, no access out of bounds or before a write, for {inputs}{domain}"
    );
    let name = format!("clean{}", for_every_size(report));
    let claim = wrapped(&claim, title_width(case, &name), 2);
    let lines = sizes_line(report) + &unused_lines(case, report);
    format!("{} {claim}\n{lines}", title(case, &name, paint))
}

/// ` for every rows from 1 to 2147483647`, of a proof for every size.
fn for_every_size(report: &Report) -> String {
    let every = report.size.as_ref().and_then(|size| Some((&size.variable, size.every.as_ref()?)));
    let told = every.map(|(variable, AllSizes { least, most, .. })| {
        format!(" for every {} from {least} to {most}", clean_line(variable))
    });
    told.unwrap_or_default()
}

/// Which size the figures of a report are of, and why a proof for every size ends where it does.
fn sizes_line(report: &Report) -> String {
    let Some(size) = &report.size else { return String::new() };
    let Some(every) = &size.every else { return String::new() };
    let line = format!(
        "sizes: {} verified one by one, from which the others follow; figures are those of {} = {}; it ends \
         at {}: {}",
        every.verified, size.variable, size.size, every.most, every.ends
    );
    format!("  {}\n", wrapped(&clean_line(&line), 2, 4))
}

/// The elements of inputs that a proof says nothing of, since no kernel computes with them: a line for each input.
pub(crate) fn unused(case: &Case, report: &Report) -> Vec<String> {
    let who =
        if case.reference.is_some() { "neither kernel computes" } else { "the kernel does not compute" };
    let line = |own: &UnusedInput| {
        let elements: u64 = own.shape.iter().product();
        let at = |element| spell_element(&own.tensor, &own.shape, element);
        let (first, length) = own.first;
        let run = match length {
            1 => at(first),
            _ => format!("{} to {}", at(first), at(first + length - 1)),
        };
        let rest = match own.runs - 1 {
            0 => String::new(),
            1 => ", and another run".into(),
            more => format!(", and {more} more runs"),
        };
        format!("{who} with {} of {elements} elements of {}: {run}{rest}", own.unused, own.tensor)
    };
    report.unused.iter().map(line).collect()
}

fn unused_lines(case: &Case, report: &Report) -> String {
    let lines = unused(case, report);
    lines
        .iter()
        .map(|line| format!("  {}\n", wrapped(&format!("unused: {}", clean_line(line)), 2, 4)))
        .collect()
}

/// The title of a proof, which says so if the case has guesses.
fn plain_title(case: &Case, verdict: &str) -> String {
    let part = of_part(case);
    match case.guesses.len() {
        0 => format!("{verdict}{part}:"),
        1 => format!("{verdict}{part}, if a guess is right:"),
        many => format!("{verdict}{part}, if {many} guesses are right:"),
    }
}

fn title(case: &Case, verdict: &str, paint: Paint) -> String {
    let title = plain_title(case, verdict);
    if case.guesses.is_empty() { paint.good(&title) } else { paint.doubtful(&title) }
}

/// The column behind the title.
fn title_width(case: &Case, verdict: &str) -> usize {
    plain_title(case, verdict).len() + 1
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
    if let Some(shard) = case.shard {
        let _ = write!(text, "; part {} of {}: nothing is claimed about the others", shard.part, shard.of);
    }
    text
}

/// What is proved of the errors of outputs.
pub(crate) fn errors(report: &Report) -> Vec<String> {
    let mut told = Vec::new();
    for output in &report.errors {
        let side = match output.side {
            Which::Reference => "in the reference",
            Which::Opt if report.reference.is_some() => "in the optimized kernel",
            Which::Opt => "in the kernel",
        };
        let tensor = clean_line(&output.tensor);
        let most = |of: fn(&ElementError) -> f64| output.elements.iter().map(of).fold(0.0, f64::max);
        if !output.elements.is_empty() {
            let (absolute, ulps) = (most(|of| of.absolute), most(|of| of.ulps));
            // A unit in the last place of what may be zero says nothing.
            let units =
                if ulps < 1e9 { format!(", and within {} ulp", upwards(ulps)) } else { String::new() };
            let within = upwards(absolute);
            told.push(format!(
                "{side}, elements of {tensor} are within {within} of their exact values{units}"
            ));
        }
        if let Some((name, why, place)) = &output.open {
            let place = super::difference::line(place.as_ref());
            told.push(format!("{side}, the error of {} has no bound: {why}{place}", clean_line(name)));
        }
    }
    told
}

/// Three digits, rounded up.
pub(crate) fn upwards(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "any distance".to_owned() };
    }
    let mut text = format!("{value:.2e}");
    if text.parse::<f64>().is_ok_and(|shown| shown < value) {
        text = format!("{:.2e}", value * 1.005);
    }
    match text.parse::<f64>() {
        Ok(shown) if (1e-3..1e6).contains(&shown) => shown.to_string(),
        _ => text,
    }
}
