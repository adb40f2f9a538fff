//! Checking one program: the verdicts under every schedule option of the verifier against the explorer's findings.

use std::collections::BTreeSet;

use volta_core::case::{Case, Contents, Launch, Layout, Options, Role, Rules, Schedule};
use volta_core::number::{Extended, Rational};
use volta_core::verdict::{Fault, FaultKind, Report, SideStats, Verdict};
use volta_suite::explored::{list, side, tensor};
use volta_suite::explorer::emit::{self, Home, Kernel, Style};
use volta_suite::explorer::{
    Broken, Findings, HALVES, INITIAL, Pace, Pair, Program, Relaxed, Search, Space, explore, threads,
};

/// How a program is checked.
#[derive(Clone, Copy)]
pub(crate) struct Manner {
    /// States that the explorer may visit; larger programs are left out.
    pub(crate) states: usize,
    pub(crate) style: Style,
    pub(crate) relaxed: Relaxed,
    /// For the schedules that are drawn at random.
    pub(crate) seed: u64,
    /// Which of [`VARIANTS`] is compared; the race detectors always are.
    pub(crate) variant: usize,
}

/// What a check found.
pub(crate) struct Checked {
    /// What the verifier says when it goes in order, and under the other schedules.
    pub(crate) verdicts: Vec<String>,
    pub(crate) findings: Findings,
    /// Conflicts that the verifier reported and that the explorer found, as the same two accesses.
    pub(crate) pairs: u64,
    /// Findings behind the first ones, in all schedules.
    pub(crate) more: u64,
}

/// Schedules under which each program is verified.
pub(crate) fn schedules(seed: u64) -> [Schedule; 4] {
    [Schedule::InOrder, Schedule::Reversed, Schedule::Shuffled(seed), Schedule::Shuffled(!seed)]
}

/// An option on which no report may depend, and how it is set.
type Variant = (&'static str, fn(&mut Options));

/// Compared beside the race detectors.
pub(crate) const VARIANTS: [Variant; 2] = [
    ("another layout", |options| options.layout = Layout::Reverse),
    ("plain terms", |options| options.plain_terms = true),
];

pub(crate) fn case(program: &Program, ptx: String, relaxed: Relaxed) -> Case {
    let halves = |range: std::ops::Range<usize>| list(INITIAL[range].iter().copied());
    // Of what is only read, no accesses are recorded; both ways are to be tested.
    let source = if emit::writes_source(program) { Role::InOut } else { Role::In };
    Case {
        params: vec![
            tensor("g", 2, HALVES as u64, Role::InOut, halves(0..HALVES)),
            tensor("s", 2, (INITIAL.len() - HALVES) as u64, source, halves(HALVES..INITIAL.len())),
            tensor("y", 4, 128, Role::InOut, Contents::Fill(Extended::Finite(Rational::ZERO))),
        ],
        reference: None,
        opt: side(ptx, &["g", "s", "y"], Launch::of_threads(emit::block(program))),
        options: Options {
            rules: Rules {
                exit_orders_memory: relaxed.exits,
                warp_collectives_order_memory: relaxed.collectives,
                ..Rules::default()
            },
            threads: 1,
            ..Options::default()
        },
    }
}

/// What must not depend on how a verdict was reached.
fn essence(mut report: Report) -> String {
    report.solve_seconds = 0.0;
    let clear = |stats: &mut SideStats| stats.seconds = 0.0;
    clear(&mut report.opt);
    report.reference.iter_mut().for_each(clear);
    format!("{report:#?}")
}

/// Whether a verdict is right about a program, given everything that can happen (rule Y8; `docs/trust.md` says why
/// each line is as it is).
pub(crate) fn judge(verdict: &str, findings: &Findings) -> Result<(), String> {
    let broke = |rules: &[Broken]| rules.iter().any(|rule| findings.broken.contains(rule));
    let ambiguous = [Broken::Counts, Broken::Ways, Broken::Again];
    let holds = match verdict {
        "clean" => findings.faultless() && findings.completes && findings.finals.len() == 1,
        "race" => findings.race,
        "nondeterministic" => findings.matters,
        "deadlock" => findings.stuck && !findings.completes && !findings.escapes,
        "ambiguous-barrier" => findings.parts || findings.unordered_arrival || broke(&ambiguous),
        "barrier-divergence" => broke(&[Broken::Divergence, Broken::OutsideMask]),
        "barrier-misuse" => broke(&[Broken::Operators]),
        _ => false,
    };
    if holds {
        Ok(())
    } else {
        Err(format!("the verifier says {verdict}, but the explorer found {findings:?}"))
    }
}

/// The two accesses that a finding says race.
fn reported_pair(fault: &Fault, program: &Program, kernel: &Kernel) -> Option<Pair> {
    let threads = threads(program);
    let accesses = fault.sites.iter().map(|site| {
        let number = site.thread?.thread[0];
        let (warp, line) = *kernel.lines.get(site.place.as_ref()?.line as usize - 1)?.as_ref()?;
        let lane = (number % 32) as u8;
        let member = program.warps[warp].lanes.iter().position(|other| *other == lane)?;
        let thread = threads.iter().position(|other| other.warp == warp && other.member == member)?;
        (number as usize / 32 == warp).then_some((thread as u8, line))
    });
    let accesses: Vec<_> = accesses.collect::<Option<_>>()?;
    let mut pair: Pair = accesses.try_into().ok()?;
    pair.sort_unstable();
    Some(pair)
}

/// Checks one program; nothing, if it is too large.
pub(crate) fn check(program: &Program, manner: Manner) -> Result<Option<Checked>, String> {
    let Manner { states, style, relaxed, seed, variant } = manner;
    let strict = Search { relaxed, pace: Pace::Eager, all_races: false, limit: states, same_stores: None };
    let search = Search { same_stores: Some(style), ..strict };
    let Ok(findings) = explore(program, search) else { return Ok(None) };
    if findings.unclear {
        return Ok(None);
    }
    // Lanes that all go by themselves execute no instruction together.
    let apart = if findings.same_stores { explore(program, strict) } else { Ok(findings.clone()) };
    let Ok(apart) = apart else { return Ok(None) };
    let kernel = emit::kernel(program, style, Home::Cta);
    let case = case(program, kernel.ptx.clone(), relaxed);
    let (mut verdicts, mut more) = (Vec::new(), 0);
    let (mut pairs, mut mattering) = (BTreeSet::new(), BTreeSet::new());
    for schedule in schedules(seed) {
        let run = |change: fn(&mut Options)| {
            let mut case = case.clone();
            case.options.schedule = schedule;
            case.options.rules.strict_stores = matches!(schedule, Schedule::Shuffled(_));
            change(&mut case.options);
            volta_core::verify(&case)
        };
        let report = run(|_| ());
        let verdict = report.verdict.name();
        let possible = if matches!(schedule, Schedule::Shuffled(_)) { &apart } else { &findings };
        judge(&verdict, possible).map_err(|error| format!("{schedule:?}: {error}\n{report:#?}"))?;
        let first = if let Verdict::Fault(fault) = &report.verdict { Some(fault) } else { None };
        for fault in first.into_iter().chain(&report.also) {
            // What is found behind a fault can happen as well (rule R2).
            judge(fault.kind.name(), possible)
                .map_err(|error| format!("{schedule:?}: {error}\n{report:#?}"))?;
            if let FaultKind::Race | FaultKind::Nondeterministic = fault.kind {
                let pair = reported_pair(fault, program, &kernel);
                let pair = pair.ok_or(format!("which accesses conflict is not told:\n{report:#?}"))?;
                (if fault.kind == FaultKind::Race { &mut pairs } else { &mut mattering }).insert(pair);
            }
        }
        more += report.also.len() as u64;
        verdicts.push(verdict);
        let base = essence(report);
        let exact: Variant = ("exact clocks", |options| options.exact_clocks = true);
        for (name, change) in [exact, VARIANTS[variant]] {
            if name != exact.0 && schedule != Schedule::InOrder {
                continue;
            }
            let other = essence(run(change));
            if other != base {
                return Err(format!("with {name}, the report is\n{other}\nrather than\n{base}"));
            }
        }
    }
    if let Some(end) = findings.finals.first()
        && program.space != Space::Shared
    {
        let mut compared = case;
        compared.reference = Some(side(emit::outcome(program, end), &["g", "s", "y"], Launch::of_threads(1)));
        let report = volta_core::verify(&compared);
        if report.verdict.name() != "equivalent" {
            return Err(format!("the explorer ends in {end:?}, but the verifier says {:#?}", report.verdict));
        }
    }
    let mut confirmed = 0;
    if !(pairs.is_empty() && mattering.is_empty())
        && let Ok(thorough) = explore(program, Search { all_races: true, ..strict })
    {
        if let Some(pair) = pairs.iter().find(|pair| !thorough.races.contains(*pair)) {
            return Err(format!("{pair:?} are said to race, but only these do: {:?}", thorough.races));
        }
        if let Some(pair) = mattering.iter().find(|pair| !thorough.mattering.contains(*pair)) {
            let found = &thorough.mattering;
            return Err(format!(
                "the order of {pair:?} is said to matter, but only that of these does: {found:?}"
            ));
        }
        confirmed = (pairs.len() + mattering.len()) as u64;
    }
    Ok(Some(Checked { verdicts, findings, pairs: confirmed, more }))
}
