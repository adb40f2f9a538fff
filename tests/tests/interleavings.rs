//! The verifier against the exhaustive explorer (rule Y8).

use std::collections::BTreeMap;

use volta_core::case::{
    Argument, Case, Contents, Element, Layout, Options, Param, ParamKind, Role, Side, Sign,
};
use volta_core::number::{Extended, Rational};
use volta_core::verdict::Report;
use volta_suite::explorer::emit::{self, Style};
use volta_suite::explorer::generate;
use volta_suite::explorer::{
    Act, Broken, Cell, Count, Findings, HALVES, Line, Members, Program, Relaxed, Space, Stored, Use, Warp,
    explore,
};

/// States that the explorer may visit for a random program; larger programs are left out.
const STATES: usize = 20_000;

/// States that the explorer may visit for a program of this file.
const MANY_STATES: usize = 2_000_000;

/// Random programs, when `VOLTA_EXPLORE` does not say.
const PROGRAMS: u64 = 2_000;

fn whole(value: i64) -> Extended {
    Extended::Finite(Rational::from_integer(value))
}

fn tensor(name: &str, bytes: u32, elements: u64, contents: Contents) -> Param {
    let element = Element::Int { bytes, signed: false };
    let kind = ParamKind::Tensor {
        reference: element,
        opt: element,
        shape: vec![elements],
        role: Role::InOut,
        contents,
        sign: Sign::Any,
    };
    Param { name: name.into(), kind }
}

fn side(ptx: String, block: u32) -> Side {
    Side {
        ptx,
        path: "explored.ptx".into(),
        kernel: None,
        arguments: Some(vec![Argument::Named("g".into()), Argument::Named("y".into())]),
        grid: [1; 3],
        block: [block, 1, 1],
        dynamic_shared: 0,
        ctas: None,
    }
}

fn case(program: &Program, style: Style, relaxed: Relaxed) -> Case {
    Case {
        params: vec![
            tensor("g", 2, HALVES as u64, Contents::Iota),
            tensor("y", 4, 128, Contents::Fill(whole(0))),
        ],
        reference: None,
        opt: side(emit::kernel(program, style, None), emit::block(program)),
        options: Options {
            exit_orders_memory: relaxed.exits,
            warp_collectives_order_memory: relaxed.collectives,
            threads: 1,
            ..Options::default()
        },
    }
}

/// What must not depend on how a verdict was reached.
fn essence(mut report: Report) -> String {
    report.solve_seconds = 0.0;
    report.opt.seconds = 0.0;
    format!("{report:#?}")
}

/// Whether a verdict is right about a program, given everything that can happen.
fn judge(verdict: &str, findings: &Findings) -> Result<(), String> {
    let broke = |rules: &[Broken]| rules.iter().any(|rule| findings.broken.contains(rule));
    let ambiguous = [Broken::Counts, Broken::CountsByExit, Broken::Ways, Broken::Again];
    let holds = match verdict {
        "clean" => findings.faultless() && findings.completes && findings.finals.len() == 1,
        "race" => findings.race,
        "deadlock" => !findings.completes,
        "ambiguous-barrier" => {
            findings.parts || findings.unordered_arrival || findings.mixed_counts || broke(&ambiguous)
        }
        "barrier-divergence" => broke(&[Broken::Divergence, Broken::OutsideMask]),
        "uninitialised" => broke(&[Broken::Nobody]),
        _ => false,
    };
    if holds {
        Ok(())
    } else {
        Err(format!("the verifier says {verdict}, but the explorer found {findings:?}"))
    }
}

/// An option on which no report may depend, and how it is set.
type Variant = (&'static str, fn(&mut Options));

const VARIANTS: [Variant; 3] = [
    ("exact clocks", |options| options.exact_clocks = true),
    ("another layout", |options| options.layout = Layout::Reverse),
    ("plain terms", |options| options.plain_terms = true),
];

/// Checks one program; gives the verdict's name.
fn check(
    program: &Program,
    states: usize,
    variant: Variant,
    style: Style,
    relaxed: Relaxed,
) -> Result<Option<String>, String> {
    let Ok(findings) = explore(program, relaxed, states) else { return Ok(None) };
    let case = case(program, style, relaxed);
    let report = volta_core::verify(&case);
    let verdict = report.verdict.name();
    judge(&verdict, &findings).map_err(|error| format!("{error}\n{report:#?}"))?;
    let base = essence(report);
    let (name, change) = variant;
    let mut other = case.clone();
    change(&mut other.options);
    let other = essence(volta_core::verify(&other));
    if other != base {
        return Err(format!("with {name}, the report is\n{other}\nrather than\n{base}"));
    }
    if let Some(end) = findings.finals.first()
        && verdict == "clean"
        && program.space != Space::Shared
    {
        let mut checked = case;
        checked.opt.ptx = emit::kernel(program, style, Some(&end.registers));
        let report = volta_core::verify(&checked);
        if report.verdict.name() != "clean" {
            return Err(format!("the explorer ends in {end:?}, but the verifier says {:#?}", report.verdict));
        }
    }
    Ok(Some(verdict))
}

/// Removes lines as long as the check fails.
fn shrink(program: &Program, fails: impl Fn(&Program) -> bool) -> Program {
    let mut small = program.clone();
    loop {
        let mut candidates = Vec::new();
        for warp in 0..small.warps.len() {
            if small.warps.len() > 1 {
                let mut less = small.clone();
                less.warps.remove(warp);
                candidates.push(less);
            }
            for line in 0..small.warps[warp].lines.len() {
                let mut less = small.clone();
                less.warps[warp].lines.remove(line);
                candidates.push(less);
            }
        }
        let whole = |program: &Program| {
            program.warps.split_last().is_some_and(|(_, others)| others.iter().all(|warp| warp.rest))
        };
        match candidates.into_iter().find(|less| whole(less) && fails(less)) {
            Some(less) => small = less,
            None => return small,
        }
    }
}

/// Explores random programs; collects at most a few disagreements.
fn survey(programs: u64, first: u64, relaxed: Relaxed) -> BTreeMap<String, u64> {
    let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
    let mut failures = Vec::new();
    for seed in first..first + programs {
        let program = generate::program(seed);
        let style = if seed % 5 < 2 { Style::Predicates } else { Style::Branches };
        let check = |program: &Program| check(program, STATES, VARIANTS[(seed % 3) as usize], style, relaxed);
        match check(&program) {
            Ok(Some(verdict)) => *verdicts.entry(verdict).or_default() += 1,
            Ok(None) => *verdicts.entry("(too large)".into()).or_default() += 1,
            Err(_) => {
                *verdicts.entry("(disagreement)".into()).or_default() += 1;
                if failures.len() < 8 {
                    let small = shrink(&program, |program| check(program).is_err());
                    let error = check(&small).err().unwrap_or_default();
                    let ptx = emit::kernel(&small, style, None);
                    failures.push(format!("seed {seed}: {small:#?}\n{error}\n{ptx}"));
                }
            }
        }
    }
    println!("{verdicts:#?}");
    assert!(failures.is_empty(), "{}\n{verdicts:#?}", failures.join("\n\n"));
    verdicts
}

/// How many random programs the environment asks for.
fn wanted() -> Option<u64> {
    std::env::var("VOLTA_EXPLORE").ok().and_then(|text| text.parse().ok())
}

#[test]
fn random_programs() {
    let verdicts = survey(wanted().unwrap_or(PROGRAMS), 0, Relaxed::default());
    if wanted().is_none() {
        for kind in ["clean", "race", "deadlock", "ambiguous-barrier", "barrier-divergence"] {
            assert!(verdicts.get(kind).is_some_and(|count| *count >= 40), "too few programs are {kind}");
        }
    }
}

#[test]
fn random_programs_under_options() {
    let programs = wanted().unwrap_or(PROGRAMS) / 10;
    survey(programs, 1 << 40, Relaxed { exits: true, collectives: false });
    survey(programs, 1 << 41, Relaxed { exits: false, collectives: true });
}

fn warp(lines: &[(Members, Act)]) -> Warp {
    let lines = lines.iter().map(|(guard, act)| Line { guard: *guard, act: *act }).collect();
    Warp { lanes: vec![0, 1], rest: true, lines }
}

/// A warp of which all lanes do the same.
fn plain(acts: &[Act]) -> Warp {
    let lines = acts.iter().map(|act| Line { guard: 0b11, act: *act }).collect();
    Warp { lanes: vec![0], rest: true, lines }
}

const ALL: Members = 0b111;
const FIRST: Members = 0b001;
const SECOND: Members = 0b010;
const REST: Members = 0b100;

const fn cell(half: u8) -> Cell {
    Cell { half, wide: false }
}

const fn read(half: u8) -> Act {
    Act::Read(cell(half))
}

const fn write(half: u8) -> Act {
    Act::Write(cell(half), Stored::Constant(9))
}

const fn sync(id: u8) -> Act {
    Act::Barrier { how: Use::Sync, id, count: Count::All, aligned: true }
}

const fn sync_count(id: u8, threads: u32) -> Act {
    Act::Barrier { how: Use::Sync, id, count: Count::Threads(threads), aligned: true }
}

const fn arrive(id: u8, threads: u32) -> Act {
    Act::Barrier { how: Use::Arrive, id, count: Count::Threads(threads), aligned: true }
}

const fn reduce(id: u8) -> Act {
    Act::Barrier { how: Use::Reduce, id, count: Count::All, aligned: true }
}

const fn loose(id: u8) -> Act {
    Act::Barrier { how: Use::Sync, id, count: Count::All, aligned: false }
}

/// The verdict on a program, after all checks on it, in both styles and in all spaces.
fn directed(warps: &[Warp]) -> String {
    let mut verdicts = Vec::new();
    for space in [Space::SharedInitialised, Space::Global] {
        let program = Program { space, warps: warps.to_vec() };
        for style in [Style::Branches, Style::Predicates] {
            for variant in VARIANTS {
                match check(&program, MANY_STATES, variant, style, Relaxed::default()) {
                    Ok(Some(verdict)) => verdicts.push(verdict),
                    Ok(None) => verdicts.push("(too large)".into()),
                    Err(error) => verdicts.push(error),
                }
            }
        }
    }
    verdicts.dedup();
    verdicts.join("\n")
}

#[test]
fn chains_of_barriers_over_overlapping_sets() {
    let first = warp(&[(FIRST, write(0)), (ALL, sync_count(1, 64))]);
    let last = warp(&[(ALL, sync_count(2, 64)), (FIRST, read(0))]);
    let middle = |a, b| warp(&[(ALL, sync_count(a, 64)), (ALL, sync_count(b, 64))]);
    assert_eq!(directed(&[first.clone(), middle(1, 2), last.clone()]), "clean");
    assert_eq!(directed(&[first.clone(), middle(2, 1), last.clone()]), "race");
    let four = [first, middle(1, 3), middle(3, 2), last];
    assert_eq!(directed(&four), "clean");
}

#[test]
fn producers_arrive_and_consumers_wait() {
    let producer = warp(&[(FIRST, write(0)), (ALL, arrive(1, 64))]);
    let consumer = warp(&[(ALL, sync_count(1, 64)), (ALL, read(0))]);
    assert_eq!(directed(&[producer.clone(), consumer.clone()]), "clean");
    let late = warp(&[(ALL, arrive(1, 64)), (FIRST, write(0))]);
    assert_eq!(directed(&[late, consumer.clone()]), "race");
    // Two rounds: with a barrier that hands the buffer back, and without.
    let producer_twice = warp(&[
        (FIRST, write(0)),
        (ALL, arrive(1, 64)),
        (ALL, sync_count(2, 64)),
        (FIRST, write(0)),
        (ALL, arrive(1, 64)),
    ]);
    let consumer_twice = warp(&[
        (ALL, sync_count(1, 64)),
        (SECOND, read(0)),
        (ALL, arrive(2, 64)),
        (ALL, sync_count(1, 64)),
        (SECOND, read(0)),
    ]);
    assert_eq!(directed(&[producer_twice, consumer_twice]), "clean");
    let careless = warp(&[(FIRST, write(0)), (ALL, arrive(1, 64)), (FIRST, write(0)), (ALL, arrive(1, 64))]);
    let consumer_twice = warp(&[(ALL, sync_count(1, 64)), (ALL, read(0)), (ALL, sync_count(1, 64))]);
    assert_eq!(directed(&[careless, consumer_twice]), "ambiguous-barrier");
    // An arriver is not ordered after what other lanes of its own warp did before.
    let own = warp(&[(FIRST, write(0)), (ALL, arrive(1, 64)), (SECOND, read(0))]);
    assert_eq!(directed(&[own, consumer]), "race");
    // Nobody waits: nothing tells when the barrier may be used again.
    let nobody = warp(&[(ALL, arrive(1, 64)), (ALL, sync(2)), (ALL, sync_count(1, 64))]);
    assert_eq!(directed(&[nobody.clone(), nobody]), "ambiguous-barrier");
}

#[test]
fn lanes_must_arrive_together() {
    let apart = |act| [warp(&[(FIRST, act), (SECOND | REST, act)]), warp(&[(ALL, act)])];
    assert_eq!(directed(&apart(sync(0))), "barrier-divergence");
    assert_eq!(directed(&apart(loose(0))), "clean");
    assert_eq!(directed(&apart(arrive(1, 64))), "barrier-divergence");
    assert_eq!(directed(&apart(sync_count(1, 64))), "barrier-divergence");
    let twice = [warp(&[(FIRST, sync(0)), (SECOND | REST, sync(1))]), warp(&[(ALL, sync(0))])];
    assert_eq!(directed(&twice), "deadlock");
    let mixed = [warp(&[(FIRST, sync(0)), (SECOND | REST, sync_count(0, 32))]), warp(&[(ALL, sync(0))])];
    assert_eq!(directed(&mixed), "ambiguous-barrier");
}

#[test]
fn generations_must_not_depend_on_the_schedule() {
    let meets = |threads| plain(&[sync_count(1, threads)]);
    assert_eq!(directed(&[meets(64), meets(64), meets(64)]), "ambiguous-barrier");
    assert_eq!(directed(&[meets(64), meets(64), meets(64), meets(64)]), "ambiguous-barrier");
    assert_eq!(directed(&[meets(96), meets(96), meets(96)]), "clean");
    assert_eq!(directed(&[meets(96), meets(64), meets(96)]), "ambiguous-barrier");
    assert_eq!(directed(&[meets(32), meets(32)]), "ambiguous-barrier");
    let ordered = plain(&[sync_count(1, 64), sync(2)]);
    let later = plain(&[sync(2), sync_count(1, 64)]);
    assert_eq!(directed(&[ordered.clone(), ordered, later.clone(), later]), "clean");
    assert_eq!(directed(&[warp(&[(ALL, sync(0))]), warp(&[(ALL, reduce(0))])]), "ambiguous-barrier");
}

#[test]
fn returning_releases_and_orders_nothing() {
    let returns = warp(&[(FIRST, write(0))]);
    let waits = warp(&[(ALL, sync(0)), (FIRST, read(0))]);
    assert_eq!(directed(&[returns.clone(), waits.clone()]), "race");
    let program = Program { space: Space::Global, warps: vec![returns.clone(), waits] };
    let relaxed = Relaxed { exits: true, collectives: false };
    let verdict = check(&program, MANY_STATES, VARIANTS[0], Style::Branches, relaxed);
    assert_eq!(verdict, Ok(Some("clean".into())));
    let lane_returns = warp(&[(FIRST, Act::Exit), (SECOND | REST, sync(0)), (SECOND, read(0))]);
    assert_eq!(directed(&[lane_returns, warp(&[(ALL, write(1)), (ALL, sync(0))])]), "race");
    let lane_returns = warp(&[(FIRST, Act::Exit), (SECOND | REST, sync(0)), (SECOND, read(0))]);
    assert_eq!(directed(&[lane_returns, warp(&[(FIRST, write(0)), (ALL, sync(0))])]), "clean");
    // A barrier with a count is not completed by returning.
    assert_eq!(directed(&[returns.clone(), warp(&[(ALL, sync_count(0, 64))])]), "deadlock");
    // Nor when some of the others give no count, whoever comes first.
    let counted = warp(&[(ALL, sync_count(0, 96))]);
    let plain = warp(&[(ALL, sync(0))]);
    assert_eq!(directed(&[counted.clone(), plain.clone(), returns.clone()]), "deadlock");
    assert_eq!(directed(&[plain, counted, returns]), "deadlock");
}

#[test]
fn warp_barriers_order_their_lanes() {
    let lane = |mask| warp(&[(FIRST, write(0)), (mask, Act::WarpSync(mask)), (SECOND, read(0))]);
    assert_eq!(directed(&[lane(ALL)]), "clean");
    assert_eq!(directed(&[lane(FIRST | SECOND)]), "clean");
    assert_eq!(directed(&[lane(SECOND | REST)]), "race");
    // At different instructions.
    let mask = Act::WarpSync(FIRST | SECOND);
    let apart = warp(&[(FIRST, write(0)), (FIRST, mask), (SECOND, mask), (SECOND, read(0))]);
    assert_eq!(directed(&[apart]), "clean");
    // A lane that takes part under another mask, or returned, or is not in its own mask.
    let masks = warp(&[(FIRST, mask), (SECOND, Act::WarpSync(ALL)), (REST, Act::WarpSync(ALL))]);
    assert_eq!(directed(&[masks]), "deadlock");
    let gone = warp(&[(SECOND, Act::Exit), (FIRST, mask), (FIRST, write(0))]);
    assert_eq!(directed(&[gone]), "clean");
    let gone = warp(&[(SECOND, read(0)), (SECOND, Act::Exit), (FIRST, mask), (FIRST, write(0))]);
    assert_eq!(directed(&[gone]), "race");
    assert_eq!(directed(&[warp(&[(REST, mask)])]), "barrier-divergence");
    // A chain through the rest of the warp.
    let chain = warp(&[
        (FIRST, write(0)),
        (FIRST | REST, Act::WarpSync(FIRST | REST)),
        (SECOND | REST, Act::WarpSync(SECOND | REST)),
        (SECOND, read(0)),
    ]);
    assert_eq!(directed(&[chain]), "clean");
}

#[test]
fn shuffles_order_no_memory() {
    let shuffle = Act::Shuffle { mask: ALL, from: 0 };
    let shared = warp(&[(FIRST, write(0)), (ALL, shuffle), (SECOND, read(0))]);
    assert_eq!(directed(std::slice::from_ref(&shared)), "race");
    let program = Program { space: Space::Global, warps: vec![shared] };
    let relaxed = Relaxed { exits: false, collectives: true };
    assert_eq!(check(&program, MANY_STATES, VARIANTS[0], Style::Branches, relaxed), Ok(Some("clean".into())));
    // At two instructions the lanes wait for each other for ever; a returned lane has no value.
    assert_eq!(directed(&[warp(&[(FIRST, shuffle), (SECOND | REST, shuffle)])]), "deadlock");
    let gone = warp(&[(FIRST, Act::Exit), (SECOND | REST, shuffle)]);
    assert_eq!(directed(&[gone]), "uninitialised");
}

#[test]
fn races_are_about_bytes_and_not_about_values() {
    let one = |act| [warp(&[(FIRST, act)]), warp(&[(FIRST, act)])];
    assert_eq!(directed(&one(read(0))), "clean");
    assert_eq!(directed(&one(write(0))), "race");
    assert_eq!(directed(&[warp(&[(FIRST | SECOND, write(0))])]), "race");
    assert_eq!(directed(&[warp(&[(FIRST | SECOND, read(0))])]), "clean");
    assert_eq!(directed(&[warp(&[(FIRST, write(0))]), warp(&[(FIRST, write(1))])]), "clean");
    let word = Act::Read(Cell { half: 0, wide: true });
    assert_eq!(directed(&[warp(&[(FIRST, word)]), warp(&[(FIRST, write(1))])]), "race");
    // Two readers before the write; the barrier knows only one of them.
    let reader = warp(&[(FIRST, read(0)), (ALL, arrive(1, 64))]);
    let writer = warp(&[(ALL, sync_count(1, 64)), (FIRST, write(0))]);
    let bystander = warp(&[(FIRST, read(0))]);
    assert_eq!(directed(&[reader.clone(), writer.clone()]), "clean");
    assert_eq!(directed(&[reader, writer, bystander]), "race");
}

#[test]
fn crossed_barriers_deadlock() {
    let order = |a, b| warp(&[(ALL, sync(a)), (ALL, sync(b))]);
    assert_eq!(directed(&[order(0, 1), order(1, 0)]), "deadlock");
    assert_eq!(directed(&[order(0, 1), order(0, 1)]), "clean");
    assert_eq!(directed(&[order(0, 1), warp(&[(ALL, sync_count(0, 64))])]), "clean");
}
