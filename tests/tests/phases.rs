//! Verdicts on small pipelines, which the verifier runs once, compared with all of their schedules (rules Y8 to Y11).

use std::collections::BTreeMap;

use volta_core::case::{Case, Contents, Launch, Options, Role, Schedule};
use volta_suite::explored::{list, side, tensor};
use volta_suite::interpreter::random::Random;
use volta_suite::phases::{Act, BARRIERS, Program, ROWS, SOURCES, explore, kernel, outcome, sources};

/// States that the explorer may visit; larger programs are left out.
const STATES: usize = 60_000;

fn case(program: &Program, schedule: Schedule) -> Case {
    let threads = program.threads.len();
    Case {
        params: vec![
            tensor("x", 4, sources().len() as u64, Role::In, list(sources())),
            tensor("y", 4, threads as u64, Role::Out, Contents::Symbolic),
        ],
        reference: None,
        opt: side(kernel(program), &["x", "y"], Launch::of_threads(32 * threads as u32)),
        options: Options { threads: 1, schedule, ..Options::default() },
    }
}

/// A pipeline of one thread that fetches rows and one or two that use them, spoilt now and then; and whether it is right.
fn program(random: &mut Random) -> (Program, bool) {
    let (stages, users) = (1 + random.below(ROWS), 1 + random.below(2));
    let rounds = 1 + random.below(if users == 1 { 4 } else { 3 });
    let fenced = random.below(4) > 0;
    let mut threads = vec![Vec::new(); 1 + users];
    for round in 0..rounds {
        let (stage, parity) = ((round % stages) as u8, (round / stages % 2) as u8);
        let (full, empty) = (stage, stage + 2);
        let fetch = Act::Copy { barrier: full, to: stage, from: random.below(SOURCES) as u8 };
        let mut fetches = vec![Act::Wait(empty, parity ^ 1)];
        match random.below(3) {
            0 => fetches.extend([Act::ArriveExpecting(full, 1), fetch]),
            1 => fetches.extend([fetch, Act::ArriveExpecting(full, 1)]),
            _ => fetches.extend([Act::Expect(full, 1), fetch, Act::Arrive(full, 1)]),
        }
        threads[0].extend(fetches);
        for (user, thread) in threads[1..].iter_mut().enumerate() {
            thread.extend([Act::Wait(full, parity), Act::Read(stage)]);
            if users == 1 && random.below(3) == 0 {
                thread.push(Act::Write(stage, 50 + user as u8));
                if fenced {
                    thread.push(Act::Fence);
                }
            }
            thread.push(Act::Arrive(empty, 1));
        }
    }
    let mut counts = [1; BARRIERS];
    counts[2..].fill(users as u8);
    let mut program = Program { threads, counts };
    let spoilt = random.below(4);
    for _ in 0..spoilt {
        spoil(random, &mut program);
    }
    let is_right = spoilt == 0 && fenced;
    (program, is_right)
}

fn spoil(random: &mut Random, program: &mut Program) {
    let thread = random.below(program.threads.len());
    let acts = &mut program.threads[thread];
    if acts.is_empty() {
        return;
    }
    let at = random.below(acts.len());
    let barrier = random.below(BARRIERS) as u8;
    match random.below(9) {
        0 => drop(acts.remove(at)),
        1 if at + 1 < acts.len() => acts.swap(at, at + 1),
        2 => acts.insert(at, acts[at]),
        3 => acts.insert(at, Act::Arrive(barrier, 1 + random.below(2) as u8)),
        4 => acts.insert(at, Act::Wait(barrier, random.below(2) as u8)),
        5 => acts.insert(at, Act::Read(random.below(ROWS) as u8)),
        6 => program.counts[usize::from(barrier)] = 1 + random.below(3) as u8,
        // A fence stands elsewhere: before the write that it should publish, or beyond the arrival.
        7 => {
            if let Some(fence) = acts.iter().position(|act| *act == Act::Fence) {
                acts.remove(fence);
                acts.insert(random.below(acts.len() + 1), Act::Fence);
            }
        }
        _ => match &mut acts[at] {
            Act::Wait(_, parity) => *parity ^= 1,
            Act::Copy { to, .. } => *to ^= 1,
            Act::Arrive(other, _) | Act::ArriveExpecting(other, _) | Act::Expect(other, _) => {
                *other = barrier
            }
            Act::Read(row) | Act::Write(row, _) => *row ^= 1,
            Act::Fence => {}
        },
    }
}

/// Holds one program against all of its schedules; gives the verdict.
fn check(program: &Program) -> Result<Option<String>, String> {
    let Some(found) = explore(program, STATES) else { return Ok(None) };
    let schedules = [Schedule::InOrder, Schedule::Reversed, Schedule::Shuffled(1)];
    let mut verdicts = Vec::new();
    for schedule in schedules {
        let case = case(program, schedule);
        let report = volta_core::verify(&case);
        let verdict = report.verdict.name();
        let holds = match verdict.as_str() {
            "clean" => !found.stuck && !found.broken && !found.hidden && found.ends.len() == 1,
            "deadlock" => found.stuck,
            "barrier-misuse" => found.broken,
            // What races need not show, and which phase is meant is asked for more strictly than can be seen.
            "race" | "proxy-race" | "in-flight" | "ambiguous-barrier" => true,
            _ => false,
        };
        if !holds {
            return Err(format!("{schedule:?}: {found:?}\n{program:?}\n{report:#?}"));
        }
        if verdict == "clean" && schedule == Schedule::InOrder {
            let Some(sums) = found.ends.first() else { return Err("it has no end".into()) };
            let compared =
                Case { reference: Some(side(outcome(sums), &["x", "y"], Launch::of_threads(1))), ..case };
            let report = volta_core::verify(&compared);
            if report.verdict.name() != "equivalent" {
                return Err(format!("the ends are {sums:?}\n{program:?}\n{report:#?}"));
            }
        }
        verdicts.push(verdict);
    }
    if (verdicts[0] == "clean") != verdicts.iter().all(|verdict| verdict == "clean") {
        return Err(format!("{verdicts:?}\n{program:?}"));
    }
    Ok(Some(verdicts.swap_remove(0)))
}

#[test]
fn what_is_clean_ends_in_one_way() {
    let count = std::env::var("VOLTA_EXPLORE").ok().and_then(|text| text.parse().ok()).unwrap_or(1500);
    let mut verdicts: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..count {
        let (program, is_right) = program(&mut Random::new(seed));
        match check(&program) {
            Ok(Some(verdict)) => {
                assert!(!is_right || verdict == "clean", "seed {seed}: {verdict}: {program:?}");
                *verdicts.entry(verdict).or_default() += 1;
            }
            Ok(None) => *verdicts.entry("too large".into()).or_default() += 1,
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    println!("{verdicts:?}");
    for verdict in ["clean", "race", "proxy-race", "deadlock", "ambiguous-barrier", "barrier-misuse"] {
        assert!(
            verdicts.get(verdict).is_some_and(|met| u64::from(*met) * 100 >= count / 2),
            "{verdict}: {verdicts:?}"
        );
    }
}
