//! Lines that are executed for some inputs only (rule S1): what the verifier says of all inputs together, against what the
//! explorer finds for each of them.

use std::collections::BTreeMap;

use volta_core::case::{Assumed, Binding, Contents, Element, Param, ParamKind, Role};
use volta_suite::explorer::emit::{self, FLAGS, Flags, Home, Style};
use volta_suite::explorer::generate::{self, Random};
use volta_suite::explorer::{Findings, Pace, Program, Relaxed, Search, explore};

use crate::check::{case, judge};
use crate::survey::{first, wanted};

/// States that the explorer may visit for a program of one assignment to flags; larger programs are left out.
const STATES: usize = 5_000;

/// Random programs, when `VOLTA_EXPLORE` does not say.
const PROGRAMS: u64 = 1_200;

/// Verdicts that claim nothing. A word that a condition chooses is not taken apart: a *type-mismatch*.
const OPEN: [&str; 4] = ["input-dependent-control", "type-mismatch", "unknown", "unsupported"];

/// What the explorer finds where flags are set, and where they are not: by the flags as bits; `None` for a program that is
/// too large.
fn found(program: &Program, flags: &Flags, relaxed: Relaxed, style: Style) -> Option<Vec<Findings>> {
    let search =
        Search { relaxed, pace: Pace::Eager, all_races: false, limit: STATES, same_stores: Some(style) };
    let of_set = |set: usize| {
        let mut left = program.clone();
        for (warp, flags) in left.warps.iter_mut().zip(flags) {
            let mut flags = flags.iter();
            warp.lines.retain(|_| flags.next().copied().flatten().is_none_or(|flag| set >> flag & 1 == 1));
        }
        explore(&left, search).ok().filter(|findings| !findings.unclear)
    };
    (0..1 << FLAGS).map(of_set).collect()
}

/// What the verifier says of a program of which some lines are under flags that are 0 or 1, if that is right.
fn verdict(program: &Program, flags: &Flags, style: Style) -> Result<Option<String>, String> {
    let relaxed = Relaxed::default();
    let Some(all) = found(program, flags, relaxed, style) else { return Ok(None) };
    let ptx = emit::kernel_under(program, style, Home::Cta, flags.clone()).ptx;
    let mut case = case(program, ptx.clone(), relaxed);
    let element = Element::Int { bytes: 4, signed: false };
    let assumed = Assumed { range: Some([0, 1]), ..Assumed::default() };
    let (role, contents, shape) = (Role::In, Contents::Symbolic, vec![FLAGS as u64]);
    let kind = ParamKind::Tensor { reference: element, opt: element, shape, role, contents, assumed };
    case.params.push(Param::new("f", kind, Binding::Argument));
    case.opt = volta_suite::explored::side(
        ptx.clone(),
        &["g", "s", "y", "f"],
        volta_core::case::Launch::of_threads(emit::block(program)),
    );
    let report = volta_core::verify(&case);
    let verdict = report.verdict.name();
    let judged: Vec<_> = all.iter().map(|findings| judge(&verdict, findings)).collect();
    let is_right = match verdict.as_str() {
        "clean" => judged.iter().all(Result::is_ok),
        open if OPEN.contains(&open) => true,
        _ => judged.iter().any(Result::is_ok),
    };
    if is_right {
        return Ok(Some(verdict));
    }
    Err(format!("{flags:?} {program:#?}\n{judged:#?}\n{report:#?}\n{ptx}"))
}

#[test]
fn random_programs_under_flags() {
    let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    for seed in first()..first() + wanted().unwrap_or(PROGRAMS) {
        let program = generate::program(seed);
        let mut random = Random::new(!seed);
        let flags = program.warps.iter().map(|warp| {
            let flag = |random: &mut Random| random.percent(40).then(|| random.below(FLAGS));
            warp.lines.iter().map(|_| flag(&mut random)).collect()
        });
        let flags: Flags = flags.collect();
        let style = if seed % 2 == 0 { Style::Predicates } else { Style::Branches };
        match verdict(&program, &flags, style) {
            Ok(Some(verdict)) => *verdicts.entry(verdict).or_default() += 1,
            Ok(None) => *verdicts.entry("too large".into()).or_default() += 1,
            Err(why) => wrong.push(format!("seed {seed}: {why}")),
        }
    }
    println!("{verdicts:#?}");
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong[..wrong.len().min(2)].join("\n\n"));
    if wanted().is_none() {
        let count = |name: &str| verdicts.get(name).copied().unwrap_or(0);
        assert!(count("clean") > PROGRAMS / 10 && count("race") > PROGRAMS / 10, "{verdicts:#?}");
        assert!(OPEN.map(count).iter().sum::<u64>() < PROGRAMS / 10, "{verdicts:#?}");
    }
}
