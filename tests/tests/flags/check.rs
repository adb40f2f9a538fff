//! Verdicts on small programs that wait for flags, which the verifier runs once, compared with all of their runs (rules Y8,
//! Y15).

use std::collections::BTreeMap;

use crate::emit::{Kernel, kernel, outcome};
use crate::explore::{Findings, Site, explore};
use crate::generate;
use crate::model::{Act, FLAGS, Layout, Order, Program, ROWS, initial};
use volta_core::case::{Case, Contents, Launch, Options, Role, Schedule};
use volta_core::verdict::{Fault, FaultKind, Report, Verdict};
use volta_suite::explored::{list, side, tensor};

/// States that the explorer may visit; larger programs are left out.
const STATES: usize = 40_000;

/// Random programs, when `VOLTA_EXPLORE` does not say.
const PROGRAMS: u64 = 500;

/// So many disagreements are described.
const DESCRIBED: usize = 4;

fn launch(program: &Program) -> Launch {
    let threads = program.threads.len() as u32;
    let of = |ctas: u32, block: u32| Launch { grid: [ctas, 1, 1], ..Launch::of_threads(block) };
    match program.layout {
        Layout::Grid => Launch { cooperative: true, ..of(threads, 1) },
        Layout::Cluster => Launch { cluster: Some([threads, 1, 1]), ..of(threads, 1) },
        Layout::Warps | Layout::Shared => of(1, 32 * threads),
        Layout::Lanes => of(1, threads),
        Layout::Pairs => Launch { cooperative: true, ..of(threads / 2, 64) },
    }
}

fn case(program: &Program, ptx: String, schedule: Schedule) -> Case {
    Case {
        params: vec![
            tensor("rows", 4, ROWS as u64, Role::InOut, list((0..ROWS).map(initial))),
            tensor("y", 4, program.threads.len() as u64, Role::Out, Contents::Symbolic),
            tensor("flags", 4, FLAGS as u64, Role::InOut, list([0; FLAGS])),
        ],
        reference: None,
        opt: side(ptx, &["rows", "y", "flags"], launch(program)),
        options: Options { threads: 1, schedule, ..Options::default() },
    }
}

/// What the verifier says of a program, and why if it claims nothing.
#[derive(Debug)]
struct Checked {
    verdict: String,
    /// The explorer finds no fault.
    faultless: bool,
    states: usize,
}

/// Whether a verdict is right about a program, given everything that can happen (`docs/trust.md` says why each line is as it
/// is).
fn judge(verdict: &str, program: &Program, found: &Findings) -> bool {
    let has_weak_loops = || {
        let is_weak = |act: &Act| matches!(act, Act::Wait { order: Order::Weak, .. });
        program.threads.iter().flatten().any(is_weak)
    };
    // What a wait found is used, and may be several numbers.
    let uses_several = || {
        let acts = program.threads.iter().enumerate();
        let mut steps = acts
            .flat_map(|(thread, acts)| acts.iter().enumerate().map(move |(step, act)| (act, (thread, step))));
        steps.any(|(act, site)| matches!(act, Act::Wait { used: true, .. }) && found.finds_several(site))
    };
    match verdict {
        "clean" => found.is_faultless(),
        "race" => !found.races.is_empty(),
        "deadlock" => found.stuck && (!found.completes || found.is_ambiguous()),
        "nondeterministic" => uses_several() || has_weak_loops(),
        "ambiguous-barrier" => found.is_ambiguous() || found.may_learn_less() || uses_several(),
        // No claim.
        "unsupported" => true,
        "unknown(budget)" => has_weak_loops(),
        _ => false,
    }
}

/// The two accesses that a finding says race.
fn reported_pair(fault: &Fault, kernel: &Kernel) -> Option<[Site; 2]> {
    let sites = fault.sites.iter().map(|site| *kernel.lines.get(site.place.as_ref()?.line as usize - 1)?);
    let mut pair: [Site; 2] = sites.collect::<Option<Vec<Site>>>()?.try_into().ok()?;
    pair.sort_unstable();
    Some(pair)
}

fn is_race_real(report: &Report, kernel: &Kernel, found: &Findings) -> Result<(), String> {
    let Verdict::Fault(fault) = &report.verdict else { return Ok(()) };
    if fault.kind != FaultKind::Race {
        return Ok(());
    }
    let pair = reported_pair(fault, kernel).ok_or("which accesses race is not told")?;
    if found.races.contains(&pair) {
        Ok(())
    } else {
        Err(format!("{pair:?} are said to race, but only these do: {:?}", found.races))
    }
}

fn in_words(program: &Program) -> String {
    let mut text = format!("{:?}", program.layout);
    for (thread, acts) in program.threads.iter().enumerate() {
        for (step, act) in acts.iter().enumerate() {
            text.push_str(&format!("\n  ({thread}, {step}) {act:?}"));
        }
    }
    text
}

fn said(report: &Report, kernel: &Kernel) -> String {
    let Verdict::Fault(fault) = &report.verdict else { return format!("{:?}", report.verdict) };
    let mut text = fault.message.clone();
    for site in &fault.sites {
        let step = site.place.as_ref().and_then(|place| kernel.lines.get(place.line as usize - 1)?.as_ref());
        text.push_str(&format!("\n  {} {step:?}", site.action));
    }
    text
}

/// Holds one program against all of its runs; gives the verdict.
fn check(program: &Program, seed: u64) -> Result<Option<Checked>, String> {
    let Some(found) = explore(program, STATES) else { return Ok(None) };
    let kernel = kernel(program);
    let mut verdicts = Vec::new();
    for schedule in [Schedule::InOrder, Schedule::Reversed, Schedule::Shuffled(seed)] {
        let case = case(program, kernel.ptx.clone(), schedule);
        let report = volta_core::verify(&case);
        let mut verdict = report.verdict.name();
        let told = || format!("{schedule:?}: {}\n{found:?}\n{}", in_words(program), said(&report, &kernel));
        if !judge(&verdict, program, &found) {
            return Err(format!("the verifier says {verdict}: {}", told()));
        }
        is_race_real(&report, &kernel, &found).map_err(|error| format!("{error}: {}", told()))?;
        if verdict == "clean"
            && schedule == Schedule::InOrder
            && let Some(end) = found.ends.first()
        {
            let end = outcome(end, program.layout);
            let flags = tensor("flags", 4, FLAGS as u64, Role::InOut, list([0; FLAGS]));
            let mut compared =
                Case { reference: Some(side(end, &["rows", "y", "flags"], Launch::of_threads(1))), ..case };
            compared.params[2] = flags;
            let report = volta_core::verify(&compared);
            if report.verdict.name() != "equivalent" {
                return Err(format!("it ends otherwise: {:#?}\n{}", report.verdict, told()));
            }
        }
        if let (Verdict::Fault(fault), "unsupported") = (&report.verdict, verdict.as_str()) {
            verdict = format!("unsupported: {}", fault.message.split(": ").last().unwrap_or_default());
        }
        verdicts.push(verdict);
    }
    let is_clean = |verdict: &String| verdict == "clean";
    if verdicts.iter().any(is_clean) && !verdicts.iter().all(is_clean) {
        return Err(format!("{verdicts:?}\n{}", in_words(program)));
    }
    let faultless = found.is_faultless() && !found.is_ambiguous();
    Ok(Some(Checked { verdict: verdicts.swap_remove(0), faultless, states: found.states }))
}

/// Removes steps as long as the check fails.
fn shrink(program: &Program, seed: u64) -> Program {
    let mut small = program.clone();
    loop {
        let places = (0..small.threads.len())
            .flat_map(|thread| (0..small.threads[thread].len()).map(move |step| (thread, step)));
        let less = places.map(|(thread, step)| {
            let mut less = small.clone();
            less.threads[thread].remove(step);
            less
        });
        match less.into_iter().find(|less| check(less, seed).is_err()) {
            Some(less) => small = less,
            None => return small,
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// What a survey counts.
#[derive(Debug, Default)]
struct Tally {
    /// What the verifier says when it goes in order.
    verdicts: BTreeMap<String, u64>,
    too_large: u64,
    states: u64,
    /// Programs in which the explorer finds nothing wrong, and what is said of them beside *clean*.
    faultless: u64,
    too_strict: BTreeMap<String, u64>,
    /// Programs in which nothing was spoilt.
    right: u64,
    /// What the verifier says of programs that load a flag ahead of a wait.
    ahead: BTreeMap<String, u64>,
    /// Seeds of programs on which verifier and explorer disagree.
    disagreements: Vec<u64>,
}

/// Why it is wrong that a program that is right is not clean.
fn not_clean(program: &Program, verdict: &str) -> String {
    let kernel = kernel(program);
    let report = volta_core::verify(&case(program, kernel.ptx.clone(), Schedule::InOrder));
    format!("{verdict}, but it is right: {}\n{}", in_words(program), said(&report, &kernel))
}

#[test]
fn what_is_said_of_flags_holds_for_all_runs() {
    let count = number("VOLTA_EXPLORE").unwrap_or(PROGRAMS);
    let first = number("VOLTA_EXPLORE_FROM").unwrap_or(0);
    let (mut tally, mut described) = (Tally::default(), Vec::new());
    for seed in first..first + count {
        let (program, is_right) = generate::program(seed);
        let checked = match check(&program, seed) {
            Ok(Some(checked)) if is_right && checked.verdict != "clean" => {
                Err(not_clean(&program, &checked.verdict))
            }
            Ok(None) => {
                tally.too_large += 1;
                continue;
            }
            Ok(Some(checked)) => Ok(checked),
            Err(_) if described.len() < DESCRIBED => {
                let small = shrink(&program, seed);
                Err(check(&small, seed).err().unwrap_or_default())
            }
            Err(error) => Err(error),
        };
        match checked {
            Ok(Checked { verdict, faultless, states }) => {
                tally.states += states as u64;
                tally.right += u64::from(is_right);
                tally.faultless += u64::from(faultless);
                if faultless && verdict != "clean" {
                    *tally.too_strict.entry(verdict.clone()).or_default() += 1;
                }
                if program.loads_ahead() {
                    *tally.ahead.entry(verdict.clone()).or_default() += 1;
                }
                *tally.verdicts.entry(verdict).or_default() += 1;
            }
            Err(error) => {
                tally.disagreements.push(seed);
                if described.len() < DESCRIBED {
                    described.push(format!("seed {seed}: {error}"));
                }
            }
        }
    }
    println!("{tally:#?}");
    assert!(described.is_empty(), "{}\n{tally:#?}", described.join("\n\n"));
    for verdict in ["clean", "race", "deadlock", "ambiguous-barrier"] {
        let met = tally.verdicts.get(verdict).copied().unwrap_or_default();
        assert!(met * 100 >= count, "too few programs are {verdict}: {tally:#?}");
        let met = tally.ahead.get(verdict).copied().unwrap_or_default();
        assert!(met * 1000 >= count, "too few programs that load ahead are {verdict}: {tally:#?}");
    }
}
