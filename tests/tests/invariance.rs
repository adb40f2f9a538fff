//! A report does not depend on the number of threads, on the layout of memory, on whether lane patterns are detected,
//! or on the race detector: for every fixture, it has the same bytes except for times. The schedule changes how much is
//! executed and which of several faults is found, and nothing else.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use volta_core::case::{Case, FormsWanted, Layout, Schedule};
use volta_core::verdict::{Report, SideStats, Verdict};
use volta_suite::fixture::{self, Size};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = fixture::all().into_iter().filter_map(|(name, dir)| {
        let case = fixture::load(&name, &dir)?;
        // Of large ones the lanes are too many for the exact detector and for plain terms in a test's time.
        let large = fixture::size(&name) != Size::Small;
        let skipped =
            !fixture::in_sample(&name, OF_ALL) || !fixture::runs_every_time(fixture::size(&name), &name);
        let own = name.clone();
        Some(Trial::test(name, move || check(&own, &case, large)).with_ignored_flag(skipped))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// What must stay the same. How much was stored is about patterns (without them, equal operations are not shared), how
/// much was executed before a fault about the race detector.
fn told(mut report: Report) -> String {
    let strip = |stats: &mut SideStats| {
        stats.seconds = 0.0;
        stats.term_bytes = 0;
        stats.term_nodes = 0;
    };
    report.solve_seconds = 0.0;
    report.reference.iter_mut().for_each(strip);
    strip(&mut report.opt);
    format!("{report:#?}")
}

/// What may take many more steps: nothing is found again, or nothing is proved with others.
const DEARER: [&str; 2] = ["plain terms", "every element by itself"];

/// From so many instructions of threads on, formulas are not compared, but with `VOLTA_SLOW=1`.
const LONG: u64 = 50_000;

/// One of so many fixtures runs every time, and with `VOLTA_SLOW=1` all.
const OF_ALL: usize = 6;

/// One of so many of these runs every time.
const OF_LONG: usize = 4;

/// What is changed, how, and what must be the same then: else how the reports differ.
type Variant<'v> = (&'static str, &'v dyn Fn(&mut Case), fn(&Report, &Report) -> Option<String>);

fn check(name: &str, case: &Case, large: bool) -> Result<(), Failed> {
    let with = |forms: bool, change: &dyn Fn(&mut Case)| {
        let mut case = case.clone();
        case.options.forms = if forms { FormsWanted::Always } else { FormsWanted::Never };
        case.options.threads = 1;
        change(&mut case);
        volta_core::verify(&case)
    };
    let plain = with(false, &|_| {});
    let executed =
        plain.reference.iter().chain([&plain.opt]).map(|side| side.thread_instructions).sum::<u64>();
    let all = volta_suite::in_full();
    let forms = (all || executed < LONG) && !large;
    if executed >= LONG && !fixture::in_sample(name, OF_LONG) {
        return Ok(());
    }
    let ctas = plain.reference.iter().chain([&plain.opt]).map(|side| side.ctas.1).max();
    if ctas > Some(1) {
        // Formulas are those of all elements, and no CTA stands for others then.
        let other = with(false, &|case| case.options.every_cta = true);
        if let Some(how) = told_otherwise(&plain, &other) {
            return Err(format!("with every CTA by itself the report is another one: {how}").into());
        }
    }
    let run = |change: &dyn Fn(&mut Case)| with(forms, change);
    let first = if forms { run(&|_| {}) } else { plain };
    let mut variants: Vec<Variant<'_>> = vec![
        ("two threads", &|case| case.options.threads = 2, told_otherwise),
        ("another layout of memory", &|case| case.options.layout = Layout::Reverse, told_otherwise),
    ];
    if !large {
        variants.push(("exact clocks", &|case| case.options.exact_clocks = true, told_otherwise));
        variants.push(("plain terms", &|case| case.options.plain_terms = true, told_otherwise));
        variants.push(("every element by itself", &|case| case.options.every_element = true, told_otherwise));
        variants.push((
            "warps in reverse",
            &|case| case.options.schedule = Schedule::Reversed,
            answered_otherwise,
        ));
        if !needs_lanes_together(case, &first) {
            variants.push((
                "warps shuffled",
                &|case| case.options.schedule = Schedule::Shuffled(5),
                answered_otherwise,
            ));
        }
    }
    let count = variants.len();
    // One variant runs, drawn by the name, or all with `VOLTA_SLOW=1`.
    let some = if all { count } else { 1 };
    variants.rotate_left(fixture::drawn(name) % count);
    for (what, change, differs) in variants.into_iter().take(some) {
        let other = run(change);
        if DEARER.contains(&what) && other.verdict.name() == "unknown(budget)" {
            // More steps than a case has are no other answer.
            continue;
        }
        if let Some(how) = differs(&first, &other) {
            return Err(format!("with {what} the report is another one: {how}").into());
        }
    }
    Ok(())
}

/// The first line in which two reports differ.
fn told_otherwise(first: &Report, other: &Report) -> Option<String> {
    let (first, other) = (told(first.clone()), told(other.clone()));
    (first != other).then(|| format!("{:?}", first.lines().zip(other.lines()).find(|(a, b)| a != b)))
}

/// How the answers differ, but for which fault was found.
fn answered_otherwise(first: &Report, other: &Report) -> Option<String> {
    let same = match &first.verdict {
        Verdict::Fault(_) => matches!(other.verdict, Verdict::Fault(_)),
        verdict @ (Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Different(_)
        | Verdict::Unknown(_)
        | Verdict::InputError(_)
        | Verdict::Clean) => other.verdict.name() == verdict.name() && other.formulas == first.formulas,
    };
    (!same).then(|| format!("{:#?} rather than {:#?}", other.verdict, first.verdict))
}

/// Whether a case has what lanes do at once: `activemask` (rule S4), arithmetic on fragments, which no lane has for
/// itself, and lanes of one instruction that store the same value.
fn needs_lanes_together(case: &Case, first: &Report) -> bool {
    let sides = case.reference.iter().chain([&case.opt]);
    let mut sides = sides.flat_map(|side| side.launches()).map(|(_, launch)| &launch.ptx);
    sides.any(|ptx| ptx.contains("activemask") || ptx.contains("wmma."))
        || first.assumptions.iter().any(|assumption| assumption.text.contains("lanes store the same value"))
}
