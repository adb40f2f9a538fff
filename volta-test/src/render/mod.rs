//! From verdicts to text: one file per kind of message.
//!
//! Untrusted text (names, paths, PTX) is shown with its control characters escaped.

pub(crate) mod change;
mod difference;
mod errors;
mod fault;
mod input;
pub(crate) mod map;
mod phases;
mod proof;
pub mod rules;
pub mod snapshot;
pub mod source;
pub(crate) mod timeline;
mod unknown;
mod wrap;

use std::fmt::Write as _;
use std::io::IsTerminal;

use annotate_snippets::Renderer;
use annotate_snippets::renderer::DecorStyle;
use anstyle::{AnsiColor, Style};
use volta_core::verdict::{Fault, Place, Report, SideStats, Verdict};

use crate::beside::slashed;
use crate::case::Case;
use crate::prepare::Texts;
use crate::run::{Outcome, Run};
use crate::snapshot::State;

pub(crate) use errors::svg as error_picture;
pub(crate) use fault::fix;
pub use input::unreadable;
pub(crate) use proof::{claim, errors, losses, ranges, unused, upwards};
pub(crate) use wrap::wrapped;

/// The source lines of each site of a fault, and of the calls that led there; empty for a site without a source line.
pub(crate) fn lines_of_sites(case: &Case, texts: &Texts, fault: &Fault) -> Vec<Vec<String>> {
    let lines = |place: &Place| {
        let (side, step) = (fault.side, place.step);
        source::lines(&case.home, case.kernel(side, step), texts.of(case, side, step), place)
    };
    fault.sites.iter().map(|site| site.place.as_ref().map(lines).unwrap_or_default()).collect()
}

/// How text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    /// Whether to use colours.
    pub color: bool,
}

impl Paint {
    /// Without colours.
    pub const PLAIN: Paint = Paint { color: false };

    /// Colours if `stream` is a terminal and `NO_COLOR` is not set.
    pub fn for_stream(stream: &impl IsTerminal) -> Paint {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Paint { color: stream.is_terminal() && !refused && !dumb }
    }

    /// `text` in bold.
    pub fn bold(self, text: &str) -> String {
        self.styled(Style::new().bold(), text)
    }

    /// `text` in the colour of a good outcome.
    pub fn good(self, text: &str) -> String {
        self.styled(AnsiColor::Green.on_default().bold(), text)
    }

    /// `text` in the colour of a bad outcome.
    pub fn bad(self, text: &str) -> String {
        self.styled(AnsiColor::Red.on_default().bold(), text)
    }

    /// `text` in the colour of an unknown outcome.
    pub fn doubtful(self, text: &str) -> String {
        self.styled(AnsiColor::Yellow.on_default().bold(), text)
    }

    /// `text`, less important.
    pub fn dim(self, text: &str) -> String {
        self.styled(Style::new().dimmed(), text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.into() }
    }

    /// Renders messages with source lines.
    fn renderer(self) -> Renderer {
        let renderer = if self.color { Renderer::styled() } else { Renderer::plain() };
        renderer.decor_style(DecorStyle::Ascii).term_width(110)
    }
}

/// Whether a character can control a terminal or reorder text: control characters (C0 and C1), characters that set the
/// direction of writing, and line separators.
fn is_harmful(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A line is cut after this many characters: names and texts may be megabytes long.
const MAX_LINE: usize = 4000;

/// `text` with long lines cut, and with control characters, and characters that reorder text, escaped.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len().min(4 * MAX_LINE));
    let mut length = 0;
    for c in text.chars() {
        length = if c == '\n' { 0 } else { length + 1 };
        if length > MAX_LINE {
            if length == MAX_LINE + 1 {
                cleaned.push('…');
            }
            continue;
        }
        if is_harmful(c) {
            cleaned.extend(c.escape_unicode());
        } else {
            cleaned.push(c);
        }
    }
    cleaned
}

/// A text with harmful characters replaced by others of the same length in bytes, so that spans stay valid. Those of
/// one byte are left to the renderer.
fn in_place(text: &str) -> String {
    let harmless = |c: char| match c.len_utf8() {
        2 if is_harmful(c) => '¿',
        3 if is_harmful(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    };
    text.chars().map(harmless).collect()
}

/// `text` on one line, cleaned as by [`clean`].
pub fn clean_line(text: &str) -> String {
    clean(&text.replace(['\n', '\t'], " "))
}

/// `text` cleaned as by [`clean`], with the special characters of HTML and XML escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// The full report of a run for people: failures first, then the verdict and its details.
pub fn run(case: &Case, run: &Run, paint: Paint) -> String {
    let mut text = String::new();
    for failure in &run.failures {
        let _ = writeln!(text, "{} {}", paint.bad("failed:"), wrapped(&clean(failure), 8, 2));
    }
    if let Some(compared) = &run.compared
        && compared.state != State::Same
    {
        text.push_str(&change::render(case, compared, paint));
    }
    // The text says why the verdict is right; it does not apply to a snapshot that differs.
    if run.outcome() == Outcome::Failed
        && run.compared.is_none()
        && let Some(why) = &case.about.why
    {
        let _ = writeln!(text, "{} {}", paint.dim("the case says why:"), wrapped(&clean(why), 19, 2));
    }
    if let Some(obstacle) = &run.obstacle {
        let _ = writeln!(text, "{} {}", paint.bad("could not run:"), clean(&obstacle.to_string()));
        let _ = writeln!(text, "  {}", paint.dim(&format!("case: {}", place(case))));
    }
    if let Some(report) = &run.report {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&verdict(case, run, report, paint));
    }
    for line in run.texts.provenance() {
        let _ = writeln!(text, "{} {}", paint.dim("PTX:"), wrapped(&clean_line(&line), 5, 2));
    }
    for note in &run.notes {
        let _ = writeln!(text, "{} {}", paint.dim("note:"), wrapped(&clean(note), 6, 2));
    }
    if run.cached {
        let line = "cached: an earlier run verified the same; VOLTA_CACHE=off verifies anew";
        let _ = writeln!(text, "{}", paint.dim(line));
    }
    text
}

/// The file and line at which a case is defined.
fn place(case: &Case) -> String {
    let file = clean_line(&slashed(&case.home.shown(&case.home.file)));
    case.home.line.map_or(file.clone(), |line| format!("{file}:{line}"))
}

/// A verdict and all that belongs to it.
fn verdict(case: &Case, run: &Run, report: &Report, paint: Paint) -> String {
    let mut text = match &report.verdict {
        Verdict::Equivalent => proof::equivalent(case, report, &[], paint),
        Verdict::EquivalentWhere(conditions) => proof::equivalent(case, report, conditions, paint),
        Verdict::Same(claim) => proof::same(case, report, *claim, paint),
        Verdict::Clean => proof::clean_run(case, report, paint),
        Verdict::Different(found) => difference::render(case, report, found, paint),
        Verdict::Fault(found) => fault::render(case, &run.texts, found, fault::Detail::Full, paint),
        Verdict::Unknown(found) => unknown::render(case, &run.texts, found, paint),
        Verdict::InputError(found) => input::render(case, &run.texts, found, paint),
    };
    if let Some(line) = at_size(report) {
        let _ = writeln!(text, "  {}", wrapped(&clean_line(&line), 2, 4));
    }
    if let Some(line) = parting(report) {
        let _ = writeln!(text, "  {}", wrapped(&clean_line(&line), 2, 4));
    }
    if !report.holds.is_empty() {
        let line = format!("what holds of both: {}", report.holds.join(", "));
        let _ = writeln!(text, "  {}", wrapped(&line, 2, 4));
    }
    let errors = errors(report);
    if !errors.is_empty() {
        text.push_str(&bullets("errors, at most", &errors, paint));
    }
    let ranges = ranges(report);
    if !ranges.is_empty() {
        text.push_str(&bullets("at most, line by line", &ranges, paint));
    }
    let losses = losses(report);
    if !losses.is_empty() {
        text.push_str(&bullets("note: digits are lost", &losses, paint));
    }
    if let Verdict::Fault(found) = &report.verdict {
        text.push_str(&found.timeline.as_deref().map(timeline::text).unwrap_or_default());
        text.push_str(&phases::text(case, &run.texts, found));
    }
    if let (Verdict::Fault(found), Some(fix)) = (&report.verdict, &run.fix) {
        let line = fault::fix(case, &run.texts, found.side, fix);
        let _ = writeln!(text, "  {} {}", paint.good("fix:"), wrapped(&line, 7, 4));
    }
    report.maps.iter().filter(|map| !map.differing.is_empty()).for_each(|map| text.push_str(&map::text(map)));
    text.push_str(&fault::also(case, &run.texts, &report.also, paint));
    match &report.verdict {
        Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Clean
        | Verdict::Different(_)
        | Verdict::Fault(_)
        | Verdict::Unknown(_) => text.push_str(&bullets("assuming", &report.assumptions, paint)),
        // Nothing was verified.
        Verdict::InputError(_) => {}
    }
    if let Some(stats) = &report.reference {
        text.push_str(&stats_line("reference", stats, paint));
    }
    if report.opt != SideStats::default() {
        let name = if case.reference.is_some() { "optimized" } else { "kernel" };
        text.push_str(&stats_line(name, &report.opt, paint));
    }
    if let Some(elements) = report.canonical_elements {
        let line = format!("  {:<10} elements brought to canonical form: {elements}", "decided");
        let _ = writeln!(text, "{}", paint.dim(&line));
    }
    if let Some(points) = report.rechecked {
        let points = if points == 1 { "1 more point".to_string() } else { format!("{points} more points") };
        let line = format!("  {:<10} at {points}, in intervals: no contradiction", "evaluated");
        let _ = writeln!(text, "{}", paint.dim(&line));
    }
    text
}

/// Of a finding in a case at every size: the smallest size at which it is found.
pub(crate) fn at_size(report: &Report) -> Option<String> {
    let size = report.size.as_ref().filter(|size| size.every.is_none())?;
    let what = match &report.verdict {
        Verdict::Different(_) | Verdict::Fault(_) | Verdict::InputError(_) => "found at",
        Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Clean
        | Verdict::Unknown(_) => "figures are those of",
    };
    Some(format!("size: {what} {} = {}", size.variable, size.size))
}

/// Where the operations of both kernels part, in one line.
pub(crate) fn parting(report: &Report) -> Option<String> {
    let parting = report.parting.as_ref()?;
    let [ours, theirs] = parting.places.each_ref().map(|place| difference::line(place.as_deref()));
    Some(format!(
        "the operations part: {} in the reference{ours}, {} in the optimized kernel{theirs}",
        parting.reference, parting.opt
    ))
}

/// The finding in one line; `None` if the name of the verdict says everything.
pub(crate) fn headline(case: &Case, verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Different(found) => Some(difference::headline(found)),
        Verdict::Fault(found) => Some(fault::title(case, found)),
        Verdict::Unknown(found) => Some(clean(&found.reason)),
        Verdict::InputError(found) => Some(clean(&found.message)),
        Verdict::Equivalent | Verdict::EquivalentWhere(_) | Verdict::Same(_) | Verdict::Clean => None,
    }
}

/// What one side executed.
fn stats_line(name: &str, stats: &SideStats, paint: Paint) -> String {
    let (run, all) = stats.ctas;
    if all == 0 && stats.thread_instructions > 0 {
        let (graph, operations) = (clean_line(&stats.kernel), count(stats.thread_instructions, "operation"));
        let line = format!("  {name:<10} {graph}: {operations} in {:.3} s", stats.seconds);
        return format!("{}\n", paint.dim(&line));
    }
    if all == 0 {
        let line = format!("  {name:<10} {}: did not run to the end", clean_line(&stats.kernel));
        return format!("{}\n", paint.dim(&line));
    }
    let line = format!(
        "  {name:<10} {}: {} of {} × {} threads, {} instructions, {} in {:.3} s",
        clean_line(&stats.kernel),
        run,
        count(all, "CTA"),
        stats.threads,
        stats.thread_instructions,
        count(stats.barriers, "barrier"),
        stats.seconds,
    );
    format!("{}\n", paint.dim(&line))
}

/// `1 barrier`, `2 barriers`.
fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// A bulleted list below a title; nothing when it is empty.
pub(crate) fn bullets(title: &str, items: &[impl ToString], paint: Paint) -> String {
    let mut text = String::new();
    if !items.is_empty() {
        let _ = writeln!(text, "  {}", paint.bold(title));
    }
    for item in items {
        let _ = writeln!(text, "    - {}", wrapped(&clean_line(&item.to_string()), 6, 6));
    }
    text
}

#[cfg(test)]
mod tests;
