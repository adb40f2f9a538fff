//! Random programs by the thousand.

use std::collections::BTreeMap;

use volta_suite::explorer::emit::{self, Home, Style};
use volta_suite::explorer::{Act, Broken, Findings, Pace, Program, Relaxed, Search, explore, generate};

use crate::check::{Checked, Manner, VARIANTS, check};

/// States that the explorer may visit for a random program; larger programs are left out.
const STATES: usize = 20_000;

/// Random programs, when `VOLTA_EXPLORE` does not say.
const PROGRAMS: u64 = 2_000;

/// What a survey counts.
#[derive(Debug, Default)]
struct Tally {
    /// What the verifier says when it goes in order.
    verdicts: BTreeMap<String, u64>,
    /// Why a barrier is ambiguous: the first of these that holds.
    ambiguous: BTreeMap<&'static str, u64>,
    too_large: u64,
    states: u64,
    /// Runs of the verifier that were judged; twice as many were made, and compared.
    judged: u64,
    /// Programs with copies.
    copying: u64,
    /// Programs with atomics.
    updating: u64,
    /// Reported conflicts that the explorer has found between the same two accesses.
    pairs: u64,
    /// Findings behind the first ones.
    more: u64,
    /// Programs of which different schedules show different faults.
    several: u64,
    /// Seeds of programs on which verifier and explorer disagree.
    disagreements: Vec<u64>,
}

impl Tally {
    fn add(&mut self, program: &Program, checked: &Checked) {
        let Checked { verdicts, findings, pairs, more } = checked;
        *self.verdicts.entry(verdicts[0].clone()).or_default() += 1;
        if verdicts[0] == "ambiguous-barrier" {
            *self.ambiguous.entry(why_ambiguous(findings)).or_default() += 1;
        }
        self.states += findings.states as u64;
        self.judged += verdicts.len() as u64;
        let has = |sort: fn(Act) -> bool| {
            u64::from(program.warps.iter().flat_map(|warp| &warp.lines).any(|line| sort(line.act)))
        };
        self.copying += has(|act| matches!(act, Act::Copy(_)));
        self.updating += has(|act| matches!(act, Act::Update(_)));
        self.pairs += pairs;
        self.more += more;
        self.several += u64::from(verdicts.iter().any(|other| *other != verdicts[0]));
    }
}

fn why_ambiguous(findings: &Findings) -> &'static str {
    let broke = |rules: &[Broken]| rules.iter().any(|rule| findings.broken.contains(rule));
    let rules = [
        (findings.parts, "participants differ between runs"),
        (broke(&[Broken::Counts]), "counts differ in a generation"),
        (broke(&[Broken::Again]), "a warp arrives again before completion"),
        (broke(&[Broken::Ways]), "different ways of arriving in a generation"),
        (findings.unordered_arrival, "an arrival is not ordered behind the generation before"),
    ];
    rules.iter().find(|rule| rule.0).map_or("nothing", |rule| rule.1)
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

/// How the program of a seed is checked.
fn manner(seed: u64, relaxed: Relaxed) -> Manner {
    let style = if seed % 5 < 2 { Style::Predicates } else { Style::Branches };
    Manner { states: STATES, style, relaxed, seed, variant: seed as usize % VARIANTS.len() }
}

/// Explores random programs; describes at most a few disagreements.
fn survey(programs: u64, first: u64, relaxed: Relaxed) -> Tally {
    let mut tally = Tally::default();
    let mut described = Vec::new();
    for seed in first..first + programs {
        let program = generate::program(seed);
        let manner = manner(seed, relaxed);
        match check(&program, manner) {
            Ok(Some(checked)) => tally.add(&program, &checked),
            Ok(None) => tally.too_large += 1,
            Err(_) => {
                tally.disagreements.push(seed);
                if described.len() < 4 {
                    let small = shrink(&program, |program| check(program, manner).is_err());
                    let error = check(&small, manner).err().unwrap_or_default();
                    let ptx = emit::kernel(&small, manner.style, Home::Cta).ptx;
                    described.push(format!("seed {seed}: {small:#?}\n{error}\n{ptx}"));
                }
            }
        }
    }
    println!("{tally:#?}");
    assert!(described.is_empty(), "{}\n{tally:#?}", described.join("\n\n"));
    tally
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// How many random programs the environment asks for.
pub(crate) fn wanted() -> Option<u64> {
    number("VOLTA_EXPLORE")
}

/// The seed of the first one.
pub(crate) fn first() -> u64 {
    number("VOLTA_EXPLORE_FROM").unwrap_or(0)
}

#[test]
fn random_programs() {
    let tally = survey(wanted().unwrap_or(PROGRAMS), first(), Relaxed::default());
    if wanted().is_none() {
        for kind in
            ["clean", "race", "nondeterministic", "deadlock", "ambiguous-barrier", "barrier-divergence"]
        {
            let enough = tally.verdicts.get(kind).is_some_and(|count| *count >= 40);
            assert!(enough, "too few programs are {kind}");
        }
        assert!(tally.copying >= PROGRAMS / 5, "too few programs copy");
        assert!(tally.more >= PROGRAMS, "too few findings are behind others");
        assert!(tally.updating >= PROGRAMS / 5, "too few programs have atomics");
    }
}

#[test]
fn random_programs_under_options() {
    let programs = wanted().unwrap_or(PROGRAMS) / 10;
    survey(programs, first() + (1 << 40), Relaxed { exits: true, collectives: false });
    survey(programs, first() + (1 << 41), Relaxed { exits: false, collectives: true });
}

/// The explorer's own shortcut, against doing without it.
#[test]
fn passing_at_once_loses_nothing() {
    let mut compared = 0;
    for seed in 0..wanted().unwrap_or(PROGRAMS) / 8 {
        let program = generate::program(first() + (1 << 42) + seed);
        let search = Search {
            relaxed: Relaxed::default(),
            pace: Pace::Eager,
            all_races: true,
            limit: 40 * STATES,
            same_stores: None,
        };
        let found = |pace| {
            let mut findings = explore(&program, Search { pace, ..search }).ok()?;
            findings.states = 0;
            Some(format!("{findings:#?}"))
        };
        if let (Some(eager), Some(single)) = (found(Pace::Eager), found(Pace::Single)) {
            assert_eq!(eager, single, "seed {seed}: {program:#?}");
            compared += 1;
        }
    }
    println!("{compared} programs compared");
}
