//! The figures of one case.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use volta_core::decide::smt::{Axioms, Script, Settings, script};
use volta_core::decide::{self, ElementPair};
use volta_core::verdict::{SideStats, Verdict};
use volta_core::{Conditions, conditions};

use super::published::Figures;
use crate::case::Case;
use crate::cli::check::{forget_peak_memory, peak_memory};
use crate::cli::report::table;
use crate::nvcc::Toolchain;
use crate::run::{Outcome, Run, ready, run};
use crate::z3::{Satisfiability, Z3};

/// Elements of a case are timed one after the other for so long in each run: those of long rows, without what they share,
/// take minutes.
const SINGLE_SECONDS: f64 = 2.0;

/// The solver, and its time limit for a query.
pub(super) struct Solver {
    pub(super) z3: Z3,
    pub(super) timeout: Duration,
}

/// The measurements of a case. Times are in seconds.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Measurement {
    pub(super) name: String,
    pub(super) verdict: String,
    pub(super) outcome: Outcome,
    /// Problems, to be printed on standard error.
    pub(super) problems: Vec<String>,
    pub(super) generate_seconds: f64,
    pub(super) solve_seconds: f64,
    pub(super) seconds: f64,
    /// The counts of the reference, if there is one, and of the other kernel, as in the next three fields.
    pub(super) threads: Vec<u64>,
    pub(super) ptx_lines: Vec<u64>,
    pub(super) barriers: Vec<u64>,
    pub(super) warp_syncs: Vec<u64>,
    pub(super) thread_instructions: u64,
    pub(super) term_bytes: u64,
    pub(super) peak_memory_bytes: Option<u64>,
    pub(super) elements: u64,
    /// The number of elements that were brought to canonical form.
    pub(super) canonical_elements: Option<u64>,
    pub(super) first_seconds: Option<f64>,
    pub(super) median_seconds: Option<f64>,
    pub(super) z3: Option<Reply>,
    pub(super) z3_axiom: Option<Reply>,
    pub(super) published: Option<Figures>,
}

/// The solver's answer, and its time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) answer: String,
    pub(super) seconds: f64,
}

/// The median of some figures; for an even number of them, the upper one.
fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// Measures `case`: `runs` whole verifications, then single elements.
pub(super) fn measure(case: &Case, runs: u32, threads: usize, solver: Option<&Solver>) -> Measurement {
    // Without normal forms, which only snapshots need.
    let settings = crate::run::Settings { threads, ..crate::run::Settings::default() };
    forget_peak_memory();
    let all: Vec<Run> = (0..runs).map(|_| run(case, &Toolchain::none(), settings)).collect();
    let peak_memory_bytes = peak_memory();
    let of = |figure: fn(&Run) -> f64| median(all.iter().map(figure).collect()).unwrap_or_default();
    let last = &all[all.len() - 1];
    let report = last.report.as_ref();
    let sides: Vec<&SideStats> =
        report.into_iter().flat_map(|report| report.reference.iter().chain([&report.opt])).collect();
    let each = |figure: fn(&SideStats) -> u64| sides.iter().map(|side| figure(side)).collect();
    let figures = table::Figures::of(last);
    let mut problems = last.failures.clone();
    problems.extend(last.obstacle.as_ref().map(ToString::to_string));
    let mut measurement = Measurement {
        name: case.name.clone(),
        verdict: last.verdict_name(),
        outcome: last.outcome(),
        problems,
        generate_seconds: of(|run| table::Figures::of(run).generate_seconds),
        solve_seconds: of(|run| run.report.as_ref().map_or(0.0, |report| report.solve_seconds)),
        seconds: of(|run| run.seconds - run.prepare_seconds),
        threads: each(|side| side.threads),
        ptx_lines: each(|side| side.ptx_lines),
        barriers: each(|side| side.barriers),
        warp_syncs: each(|side| side.warp_syncs),
        thread_instructions: figures.thread_instructions,
        term_bytes: figures.term_bytes,
        peak_memory_bytes,
        elements: report.map_or(0, |report| report.coverage.compared),
        canonical_elements: report.and_then(|report| report.canonical_elements),
        first_seconds: None,
        median_seconds: None,
        z3: None,
        z3_axiom: None,
        published: None,
    };
    // Single elements are measured only for proofs: a refutation ends early, and a search for a witness is no proof.
    let verdict = report.map(|report| &report.verdict);
    if let Some(Verdict::Equivalent | Verdict::EquivalentWhere(_)) = verdict
        && let Ok(ready) = ready(case, &Toolchain::none())
        && let Ok(conditions) = conditions(&ready)
    {
        let is_plain = matches!(verdict, Some(Verdict::Equivalent));
        measurement.single_elements(&conditions, runs, is_plain, solver);
    }
    measurement
}

impl Measurement {
    fn single_elements(
        &mut self,
        conditions: &Conditions,
        runs: u32,
        is_plain: bool,
        solver: Option<&Solver>,
    ) {
        let (inputs, options) = (&conditions.inputs, &conditions.options);
        let elements: Vec<ElementPair<'_>> =
            (0..conditions.len()).filter_map(|at| conditions.element(at)).collect();
        let Some(first) = elements.first() else { return };
        let alone = (0..runs).map(|_| {
            let started = Instant::now();
            let _ = decide::decide(&[*first], inputs, options);
            started.elapsed().as_secs_f64()
        });
        self.first_seconds = median(alone.collect());
        let each_run = (0..runs).filter_map(|_| {
            let (mut seconds, mut total) = (Vec::with_capacity(elements.len()), 0.0);
            decide::in_turn(&elements, inputs, options, |_, _, time| {
                seconds.push(time.as_secs_f64());
                total += time.as_secs_f64();
                total < SINGLE_SECONDS
            });
            median(seconds)
        });
        self.median_seconds = median(each_run.collect());
        let Some(solver) = solver else { return };
        let question = |axioms| {
            let settings = Settings { axioms, ..Settings::default() };
            script(&[(self.name.clone(), *first)], inputs, settings)
        };
        let Ok(plain) = question(Axioms::None) else { return };
        let with_axiom = if plain.exponentials { question(Axioms::Addition).ok() } else { None };
        self.z3 = self.ask(solver, &plain, is_plain);
        self.z3_axiom = with_axiom.and_then(|question| self.ask(solver, &question, is_plain));
    }

    /// Queries the solver about an element that was proved equal, under conditions unless `is_plain`.
    fn ask(&mut self, solver: &Solver, question: &Script, is_plain: bool) -> Option<Reply> {
        let reply = match solver.z3.ask(&question.text, solver.timeout) {
            Ok(reply) => reply,
            Err(error) => {
                self.problems.push(format!("z3: {error}"));
                self.outcome = Outcome::CouldNotRun;
                return None;
            }
        };
        if reply.answer == Satisfiability::Sat && question.interpreted && is_plain {
            self.problems.push("proved equal, but z3 says that the first element differs".into());
            self.outcome = Outcome::Failed;
        }
        let answer = match reply.answer {
            Satisfiability::Unsat => "unsat",
            Satisfiability::Sat if question.interpreted => "sat",
            // With uninterpreted functions, `sat` refutes nothing.
            Satisfiability::Sat | Satisfiability::Unknown => "unknown",
        };
        Some(Reply { answer: answer.into(), seconds: reply.time.as_secs_f64() })
    }
}
