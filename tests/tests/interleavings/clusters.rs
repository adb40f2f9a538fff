//! The barrier of a cluster against the explorer (rule Y13): a program on global memory, all of whose barriers are for
//! all threads, has the same meaning if each warp becomes a CTA of a cluster.

use std::collections::BTreeMap;
use volta_suite::OneLaunch as _;

use volta_core::case::Launch;
use volta_suite::explorer::emit::{self, Home, Style};
use volta_suite::explorer::{
    Act, Broken, Count, Findings, Pace, Program, Relaxed, Search, Space, Use, explore, generate,
};

use crate::check::{case, judge, schedules};

/// Random programs, when `VOLTA_EXPLORE` does not say.
const PROGRAMS: u64 = 1_000;

/// The program with barriers that are the cluster's, and nothing that is a CTA's; nothing, if it has no such form.
fn of_clusters(mut program: Program) -> Option<Program> {
    if program.warps.len() < 2 || program.warps.iter().any(|warp| !warp.rest) {
        return None;
    }
    program.space = Space::Global;
    for line in program.warps.iter_mut().flat_map(|warp| &mut warp.lines) {
        match &mut line.act {
            Act::Copy(_) | Act::Commit | Act::Wait(_) => return None,
            Act::Barrier { how, id, count, aligned } => {
                (*how, *id, *count, *aligned) = (Use::Sync, 0, Count::All, true);
            }
            Act::Read(_)
            | Act::Write(..)
            | Act::Update(_)
            | Act::WarpSync(_)
            | Act::Shuffle { .. }
            | Act::Exit => {}
        }
    }
    Some(program)
}

/// Lanes that come to a barrier at different instructions wait for one another there.
fn is_right(verdict: &str, findings: &Findings) -> Result<(), String> {
    let parted = findings.broken.contains(&Broken::Divergence);
    if verdict == "deadlock" && parted { Ok(()) } else { judge(verdict, findings) }
}

fn check(program: &Program, style: Style, seed: u64) -> Result<Option<String>, String> {
    let relaxed = Relaxed::default();
    let strict = Search { relaxed, pace: Pace::Eager, all_races: false, limit: 20_000, same_stores: None };
    let Ok(findings) = explore(program, Search { same_stores: Some(style), ..strict }) else {
        return Ok(None);
    };
    if findings.unclear {
        return Ok(None);
    }
    let Ok(apart) = explore(program, strict) else { return Ok(None) };
    let kernel = emit::kernel(program, style, Home::Cluster);
    let mut case = case(program, kernel.ptx, relaxed);
    let ctas = [program.warps.len() as u32, 1, 1];
    case.opt.one_mut().launch = Launch { grid: ctas, cluster: Some(ctas), ..Launch::of_threads(32) };
    let mut verdicts = Vec::new();
    for schedule in schedules(seed) {
        case.options.schedule = schedule;
        case.options.rules.strict_stores = schedule != volta_core::case::Schedule::InOrder;
        let report = volta_core::verify(&case);
        let verdict = report.verdict.name();
        let possible = if case.options.rules.strict_stores { &apart } else { &findings };
        is_right(&verdict, possible).map_err(|error| format!("{schedule:?}: {error}\n{report:#?}"))?;
        verdicts.push(verdict);
    }
    Ok(verdicts.into_iter().next())
}

#[test]
fn warps_that_are_ctas_of_a_cluster() {
    let wanted = std::env::var("VOLTA_EXPLORE").ok().and_then(|text| text.parse().ok());
    let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
    let mut seed = 1 << 43;
    while verdicts.values().sum::<u64>() < wanted.unwrap_or(PROGRAMS) {
        seed += 1;
        let Some(program) = of_clusters(generate::program(seed)) else { continue };
        let style = if seed % 5 < 2 { Style::Predicates } else { Style::Branches };
        match check(&program, style, seed) {
            Ok(Some(verdict)) => *verdicts.entry(verdict).or_default() += 1,
            Ok(None) => {}
            Err(error) => {
                let ptx = emit::kernel(&program, style, Home::Cluster).ptx;
                panic!("seed {seed}: {program:#?}\n{error}\n{ptx}");
            }
        }
    }
    println!("{verdicts:#?}");
    if wanted.is_none() {
        for kind in ["clean", "race", "nondeterministic", "deadlock"] {
            let enough = verdicts.get(kind).is_some_and(|count| *count >= 10);
            assert!(enough, "too few programs are {kind}: {verdicts:?}");
        }
    }
}
