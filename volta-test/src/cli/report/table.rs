//! The table of `cargo volta check`.

use crate::render::{Paint, clean_line};
use crate::run::{Outcome, Run};

/// One line above the table.
pub(in crate::cli) fn header(name_width: usize, paint: Paint) -> String {
    let (case, verdict) = ("case", "verdict");
    let line = format!(
        "      {case:<name_width$}  {verdict:<18} {:>15} {:>12} {:>8} {:>8} {:>8}",
        "elements", "instructions", "run s", "solve s", "terms"
    );
    paint.dim(&line)
}

/// One line of the table.
pub(in crate::cli) fn row(name: &str, run: &Run, name_width: usize, paint: Paint) -> String {
    let outcome = match run.outcome() {
        Outcome::Passed => paint.good("ok   "),
        Outcome::Failed => paint.bad("FAIL "),
        Outcome::CouldNotRun => paint.bad("ERROR"),
    };
    let name = clean_line(name);
    let verdict = run.verdict_shown();
    let Some(report) = &run.report else {
        return format!("{outcome} {name:<name_width$}  {verdict}");
    };
    let coverage = &report.coverage;
    let elements = match coverage.total {
        0 => "-".into(),
        // A single kernel is compared with nothing.
        _ if report.reference.is_none() => "-".into(),
        total => format!("{}/{total}", coverage.compared),
    };
    let figures = Figures::of(run);
    let times = match run.cached {
        true => format!("{:>8} {:>8}", "cached", "-"),
        false => format!("{:>8.3} {:>8.3}", figures.generate_seconds, report.solve_seconds),
    };
    format!(
        "{outcome} {name:<name_width$}  {verdict:<18} {elements:>15} {:>12} {times} {:>8}",
        figures.thread_instructions,
        bytes(figures.term_bytes),
    )
}

/// One line for a case that is not run.
pub(in crate::cli) fn skipped(name: &str, name_width: usize, paint: Paint) -> String {
    format!("{} {:<name_width$}  not run; --slow runs it", paint.doubtful("slow "), clean_line(name))
}

/// Totals of both sides.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cli) struct Figures {
    pub(in crate::cli) generate_seconds: f64,
    pub(in crate::cli) thread_instructions: u64,
    pub(in crate::cli) barriers: u64,
    pub(in crate::cli) term_bytes: u64,
}

impl Figures {
    pub(in crate::cli) fn of(run: &Run) -> Figures {
        let mut sum = Figures::default();
        for side in run.report.iter().flat_map(|report| report.reference.iter().chain([&report.opt])) {
            sum.generate_seconds += side.seconds;
            sum.thread_instructions += side.thread_instructions;
            sum.barriers += side.barriers;
            sum.term_bytes += side.term_bytes;
        }
        sum
    }
}

/// `12 kB`
pub(in crate::cli) fn bytes(count: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{value:.1} {}", units[unit]) }
}
