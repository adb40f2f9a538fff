//! A report does not depend on the number of threads, on where objects lie in memory, on whether lane patterns are
//! detected, or on which race detector ran: for every fixture, the same bytes but for the seconds. Who goes first
//! changes how much is executed and which of several faults is found, and nothing else.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use volta_core::case::{Case, Layout, Schedule};
use volta_core::verdict::{Report, SideStats, Verdict};
use volta_suite::fixture::{self, Size};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = fixture::all().into_iter().filter_map(|(name, dir)| {
        let case = fixture::load(&name, &dir)?;
        // Of large ones the lanes are too many for the exact detector and for plain terms in a test's time.
        let large = fixture::size(&name) != Size::Small;
        let skipped = fixture::size(&name) == Size::Huge && std::env::var_os("VOLTA_SLOW").is_none();
        Some(Trial::test(name, move || check(&case, large)).with_ignored_flag(skipped))
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

/// What is changed, and how.
type Variant<'v> = (&'static str, &'v dyn Fn(&mut Case));

fn check(case: &Case, large: bool) -> Result<(), Failed> {
    let run = |change: &dyn Fn(&mut Case)| {
        let mut case = case.clone();
        case.options.forms = !large;
        case.options.threads = 1;
        change(&mut case);
        volta_core::verify(&case)
    };
    let first = run(&|_| {});
    if !large {
        scheduled_otherwise(case, &first)?;
    }
    let first = told(first);
    let mut variants: Vec<Variant<'_>> = vec![
        ("two threads", &|case| case.options.threads = 2),
        ("another layout of memory", &|case| case.options.layout = Layout::Reverse),
    ];
    if !large {
        variants.push(("exact clocks", &|case| case.options.exact_clocks = true));
        variants.push(("plain terms", &|case| case.options.plain_terms = true));
        variants.push(("every element by itself", &|case| case.options.every_element = true));
    }
    for (what, change) in variants {
        let other = run(change);
        if DEARER.contains(&what) && other.verdict.name() == "unknown(budget)" {
            // More steps than a case has are no other answer.
            continue;
        }
        let other = told(other);
        if other != first {
            let line = first.lines().zip(other.lines()).find(|(a, b)| a != b);
            return Err(format!("with {what} the report is another one: {line:?}").into());
        }
    }
    Ok(())
}

/// Compares what is told of `case` in order with what is told under other schedules.
fn scheduled_otherwise(case: &Case, first: &Report) -> Result<(), Failed> {
    // What needs all lanes at once: `activemask` (rule S4), and arithmetic on fragments, which no lane has for itself.
    let sides = case.reference.iter().chain([&case.opt]);
    let together = sides.map(|side| &side.ptx).any(|ptx| ptx.contains("activemask") || ptx.contains("wmma."));
    // And lanes of one instruction that store the same value.
    let together = together
        || first.assumptions.iter().any(|assumption| assumption.text.contains("lanes store the same value"));
    for schedule in [Schedule::Reversed, Schedule::Shuffled(5)] {
        if together && schedule != Schedule::Reversed {
            continue;
        }
        let mut case = case.clone();
        (case.options.forms, case.options.threads, case.options.schedule) = (true, 1, schedule);
        let other = volta_core::verify(&case);
        let same = match &first.verdict {
            Verdict::Fault(_) => matches!(other.verdict, Verdict::Fault(_)),
            verdict @ (Verdict::Equivalent
            | Verdict::EquivalentWhere(_)
            | Verdict::Different(_)
            | Verdict::Unknown(_)
            | Verdict::InputError(_)
            | Verdict::Clean) => other.verdict.name() == verdict.name() && other.forms == first.forms,
        };
        if !same {
            return Err(format!("{schedule:?}: {:#?} rather than {:#?}", other.verdict, first.verdict).into());
        }
    }
    Ok(())
}
