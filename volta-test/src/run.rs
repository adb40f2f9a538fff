//! Running a case: prepare the PTX, verify it, compare the verdict with the expected one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use volta_case::{InputProblem, Options, Reason, Shard, VerdictName};
use volta_core::EverySize;
use volta_core::base::budget::{Budgets, Deadline};
use volta_core::base::watch::Watch;
use volta_core::case as core;
use volta_core::case::Which;
use volta_core::graph::Graph;
use volta_core::verdict::CudaPlace;
use volta_core::verdict::{Report, Verdict};

use crate::attempt::{self, Fix};
use crate::beside::slashed;
use crate::cache::Cache;
use crate::case::{Case, Every, Expectation, Guess, Kernel, Side, Step};
use crate::limits;
use crate::nvcc::Toolchain;
use crate::prepare::{self, Obstacle, Offer, Ptx, TensorData, Texts, prepare};
use crate::render;
use crate::snapshot::{self, Compared, Policy};

/// The outcome of running a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As expected.
    Passed,
    /// Not as expected.
    Failed,
    /// No answer: a file is missing, the case is wrong, ….
    CouldNotRun,
}

/// A case that was run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The verifier's report, if it ran.
    pub report: Option<Report>,
    /// Whether the report is from the cache.
    pub cached: bool,
    /// The PTX that was verified.
    pub texts: Texts,
    /// Why it could not run.
    pub obstacle: Option<Obstacle>,
    /// The part of the case that was run.
    pub shard: Option<Shard>,
    /// What the case still marks as a guess; a verdict under it is not as expected.
    pub guesses: Vec<Guess>,
    /// Each way in which it is not as expected.
    pub failures: Vec<String>,
    /// Remarks, such as on the origin of the PTX.
    pub notes: Vec<String>,
    /// The text of the snapshot, if requested: independent of compiler and machine.
    pub snapshot: Option<String>,
    /// The result of comparing the snapshot.
    pub compared: Option<Compared>,
    /// For a race, a barrier that was found by trial to make the kernel clean.
    pub fix: Option<Fix>,
    /// Seconds spent compiling and reading.
    pub prepare_seconds: f64,
    /// Seconds in total.
    pub seconds: f64,
}

impl Run {
    /// Whether the run is as expected.
    pub fn outcome(&self) -> Outcome {
        let is_input_error =
            self.report.as_ref().is_some_and(|report| matches!(report.verdict, Verdict::InputError(_)));
        match (&self.obstacle, self.failures.is_empty()) {
            (None, true) => Outcome::Passed,
            (None, false) if !is_input_error => Outcome::Failed,
            _ => Outcome::CouldNotRun,
        }
    }

    /// The name of the verdict, with `(part)` where it is a proof about a part; a case that could not run is an input
    /// error, as its reason says.
    pub fn verdict_name(&self) -> String {
        match &self.report {
            Some(report) if self.is_proof_in_part() => format!("{}(part)", report.verdict.name()),
            Some(report) => report.verdict.name(),
            None => VerdictName::InputError.name().into(),
        }
    }

    /// Whether it is a proof, but of a share of the elements only.
    fn is_proof_in_part(&self) -> bool {
        self.shard.is_some()
            && self.report.as_ref().is_some_and(|report| match report.verdict {
                Verdict::Equivalent | Verdict::EquivalentWhere(_) | Verdict::Same(_) | Verdict::Clean => true,
                Verdict::Different(_) | Verdict::Fault(_) | Verdict::Unknown(_) | Verdict::InputError(_) => {
                    false
                }
            })
    }

    /// The name of the verdict for people, who see that it rests on guesses.
    pub fn verdict_shown(&self) -> String {
        let by = if self.guesses.is_empty() { "" } else { " (guess)" };
        self.verdict_name() + by
    }

    /// The reason for the verdict, or for the obstacle.
    pub fn reason(&self) -> Option<Reason> {
        let verdict = self.report.as_ref().map(|report| match report.verdict {
            Verdict::Equivalent | Verdict::Same(_) if self.is_proof_in_part() => Reason::InPart,
            Verdict::Equivalent
            | Verdict::Same(_)
            | Verdict::EquivalentWhere(_)
            | Verdict::Different(_)
            | Verdict::Fault(_)
            | Verdict::Unknown(_)
            | Verdict::InputError(_)
            | Verdict::Clean => report.verdict.reason(),
        });
        verdict.or(self.obstacle.as_ref().map(|obstacle| Reason::Input(obstacle.kind)))
    }

    /// Compares the snapshot of a run that is as expected.
    pub fn compare(&mut self, case: &Case, policy: Policy) {
        let Some(text) = self.snapshot.as_ref().filter(|_| self.outcome() == Outcome::Passed) else { return };
        match snapshot::compare(case, text, policy) {
            Err(error) => self.failures.push(format!("the snapshot cannot be compared: {error}")),
            Ok(compared) => {
                if compared.is_failure() {
                    self.failures.push(render::change::headline(&compared));
                }
                self.compared = Some(compared);
            }
        }
    }

    /// A run that an obstacle stopped.
    pub fn stopped(obstacle: Obstacle) -> Run {
        Run {
            report: None,
            cached: false,
            texts: Texts::default(),
            obstacle: Some(obstacle),
            shard: None,
            guesses: Vec::new(),
            failures: Vec::new(),
            notes: Vec::new(),
            snapshot: None,
            compared: None,
            fix: None,
            prepare_seconds: 0.0,
            seconds: 0.0,
        }
    }
}

/// How a case is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'c> {
    /// The cache of reports to use, if any.
    pub cache: Option<&'c Cache>,
    /// Worker threads; 0 is one a core.
    pub threads: usize,
    /// Whether to make the text of the snapshot, which needs the normal forms of all elements.
    pub snapshot: bool,
    /// Whether to make formulas, even without a snapshot.
    pub formulas: bool,
    /// Whether to find out which elements differ, if the kernels do.
    pub maps: bool,
    /// Whether to make the formulas of both kernels, if they differ.
    pub differences: bool,
    /// Whether to try barriers against a race; each trial is another verification.
    pub fixes: bool,
    /// Whether nothing but *clean* and *equivalent* matters; another verdict may be *unknown* instead.
    pub only_clean: bool,
    /// Counts what is done.
    pub watch: Option<&'c Watch>,
}

/// Runs `case`. The snapshot is made, but not compared; see [`Run::compare`].
pub fn run(case: &Case, toolchain: &Toolchain, settings: Settings<'_>) -> Run {
    let begin = Instant::now();
    let ready = || Ok((graphs(case)?, prepare::data(case)?, offers(case, toolchain)?));
    let ready: Result<_, Obstacle> = ready();
    let mut run = match ready {
        Ok(ready) => run_offers(case, ready, settings, begin),
        Err(obstacle) => Run::stopped(obstacle),
    };
    run.seconds = begin.elapsed().as_secs_f64();
    run
}

/// The PTX of a launch, with its side and the number of its step.
type Offered = (Which, usize, Offer);

/// A graph, with its side and the number of its step.
type GraphAt = (Which, usize, Arc<Graph>);

/// The graphs of all sides.
fn graphs(case: &Case) -> Result<Vec<GraphAt>, Obstacle> {
    let sides =
        case.sides().flat_map(|(which, side)| side.graphs().map(move |(step, graph)| (which, step, graph)));
    sides.map(|(which, step, graph)| Ok((which, step, prepare::graph(case, which, graph)?))).collect()
}

/// The PTX of all launches.
fn offers(case: &Case, toolchain: &Toolchain) -> Result<Vec<Offered>, Obstacle> {
    let offer = |(which, step, kernel)| Ok((which, step, prepare(case, kernel, toolchain)?));
    case.kernels().map(offer).collect()
}

/// The verifier's input for a case, for uses other than [`run`].
///
/// # Errors
/// When the PTX of a side is not available.
pub fn ready(case: &Case, toolchain: &Toolchain) -> Result<core::Case, Obstacle> {
    if let Some(every) = &case.every {
        let message = format!("`{}` is \"any\"; this is done at sizes that the case lists", every.variable);
        return Err(Obstacle::new(InputProblem::WrongValue, message, None));
    }
    let texts = texts_of(case, toolchain)?;
    core_case(case, &texts).ok_or_else(|| Obstacle::new(InputProblem::FileNotFound, "there is no PTX", None))
}

fn run_offers(
    case: &Case,
    (graphs, data, offers): (Vec<GraphAt>, Arc<Vec<TensorData>>, Vec<Offered>),
    settings: Settings<'_>,
    begin: Instant,
) -> Run {
    let prepare_seconds = begin.elapsed().as_secs_f64();
    let mut notes: Vec<String> = Vec::new();
    for note in offers.iter().flat_map(|(_, _, offer)| &offer.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    let checked_in = |offer: &Offer| offer.checked_in.clone().unwrap_or_else(|| offer.ptx.clone());
    let has_other = offers.iter().any(|(_, _, offer)| offer.checked_in.is_some());
    let of_other = || offers.iter().map(|(which, step, offer)| (*which, *step, checked_in(offer)));
    let other = || Texts::new(of_other()).with_graphs(graphs.clone()).with_data(Arc::clone(&data));
    let other = has_other.then(other);
    let texts = Texts::new(offers.into_iter().map(|(which, step, offer)| (which, step, offer.ptx)));
    let texts = texts.with_graphs(graphs).with_data(data);
    let mut failures = guessed(case);
    failures.extend(missing_texts(case, &texts));
    // The PTX of two compilers must lead to the same forms, so these are always made to compare them.
    let always = settings.snapshot || settings.formulas || has_other;
    let forms = match (case.options.run.snapshot, always) {
        (true, true) => core::FormsWanted::Always,
        (true, false) if settings.differences => core::FormsWanted::OfDifferent,
        (true, false) | (false, _) => core::FormsWanted::Never,
    };
    let report = verify(case, &texts, settings, forms);
    let mut cached = report.as_ref().is_ok_and(|said| said.cached);
    let mut snapshot = None;
    match &report {
        Err(message) => failures.push(message.clone()),
        Ok(Said { report, .. }) => {
            failures.extend(unexpected(case, &texts, &report.verdict));
            let wanted = forms == core::FormsWanted::Always;
            snapshot = wanted.then(|| render::snapshot::text(case, report, &texts));
        }
    }
    if let (Some(other), Ok(Said { report, .. })) = (&other, &report) {
        match verify(case, other, settings, forms) {
            Err(message) => failures.push(format!("with the checked-in PTX: {message}")),
            Ok(Said { report: second, cached: second_cached }) => {
                cached &= second_cached;
                let here = (&texts, report, snapshot.as_deref());
                failures.extend(disagreement(case, here, (other, &second)));
            }
        }
    }
    let report = report.ok().map(|said| said.report);
    let fix = if let Some(Report { verdict: Verdict::Fault(fault), .. }) = &report
        && settings.fixes
        && case.every.is_none()
    {
        attempt::fix_of_race(case, &texts, fault, |case, texts| verdict_of(case, texts, settings))
    } else {
        None
    };
    Run {
        report,
        fix,
        cached,
        texts,
        obstacle: None,
        shard: case.shard,
        guesses: case.guesses.clone(),
        failures,
        notes,
        snapshot: snapshot.filter(|_| settings.snapshot),
        compared: None,
        prepare_seconds,
        seconds: 0.0,
    }
}

/// The PTX of both sides, for callers that pass it to the verifier themselves.
///
/// # Errors
/// When the PTX of a side is not available.
pub fn texts_of(case: &Case, toolchain: &Toolchain) -> Result<Texts, Obstacle> {
    let offers = offers(case, toolchain)?.into_iter();
    let texts = Texts::new(offers.map(|(which, step, offer)| (which, step, offer.ptx)));
    Ok(texts.with_graphs(graphs(case)?).with_data(prepare::data(case)?))
}

/// Only whether a case is clean, or equivalent, on the given PTX, as a verdict; `None` if the verifier could not run.
pub fn verdict_of(case: &Case, texts: &Texts, settings: Settings<'_>) -> Option<Verdict> {
    let (cache, threads) = (settings.cache, settings.threads);
    let settings = Settings { cache, threads, only_clean: true, ..Settings::default() };
    verify(case, texts, settings, core::FormsWanted::Never).ok().map(|said| said.report.verdict)
}

/// A report of the verifier, from this run or from the cache.
struct Said {
    report: Report,
    cached: bool,
}

/// Calls the verifier, or takes its report from the cache.
fn verify(
    case: &Case,
    texts: &Texts,
    settings: Settings<'_>,
    forms: core::FormsWanted,
) -> Result<Said, String> {
    if let Some(every) = &case.every {
        return verify_every_size(case, every, texts, settings);
    }
    let Some(mut core_case) = core_case(case, texts) else { return Err("there is no PTX".into()) };
    core_case.options.forms = forms;
    core_case.options.maps = settings.maps;
    core_case.options.only_clean = settings.only_clean;
    let timeout = [case.options.run.timeout, limits::timeout_of_environment()?].into_iter().flatten().min();
    let entry = settings.cache.map(|cache| (cache, cache.key(&core_case, timeout)));
    if let Some(report) = entry.as_ref().and_then(|(cache, key)| cache.report(key)) {
        return Ok(Said { report, cached: true });
    }
    core_case.options.threads = settings.threads;
    core_case.options.budgets.watch = settings.watch.cloned().unwrap_or_default();
    if let Some(timeout) = timeout {
        core_case.options.budgets.deadline = Deadline::after(timeout);
    }
    let report = volta_core::verify(&core_case);
    if let Some((cache, key)) = &entry {
        cache.keep(key, &report);
    }
    Ok(Said { report, cached: false })
}

/// Verifies a case at every size. Its report is not kept.
fn verify_every_size(
    case: &Case,
    every: &Every,
    texts: &Texts,
    settings: Settings<'_>,
) -> Result<Said, String> {
    let timeout = [case.options.run.timeout, limits::timeout_of_environment()?].into_iter().flatten().min();
    let deadline = timeout.map(Deadline::after);
    let at = |size: u64| {
        let mut core_case = core_case(&every.at(size)?, texts).ok_or("there is no PTX")?;
        core_case.options.threads = settings.threads;
        if let Some(deadline) = &deadline {
            core_case.options.budgets.deadline = *deadline;
        }
        Ok(core_case)
    };
    let sizes =
        EverySize { variable: &every.variable, least: every.least, at: &at, periods: every.periods.clone() };
    Ok(Said { report: volta_core::verify_every_size(&sizes), cached: false })
}

/// The verifier's input for a case and its PTX; `None` if a side has no PTX.
pub fn core_case(case: &Case, texts: &Texts) -> Option<core::Case> {
    let side = |which: Which, side: &Side| {
        let step = |(at, step)| match step {
            Step::Launch(kernel) => Some(core::Step::Launch(launch(&kernel, texts.of(case, which, at)?))),
            Step::Fill { tensor, with } => Some(core::Step::Fill { tensor, with }),
            Step::Copy { from, to } => Some(core::Step::Copy { from, to }),
            Step::Graph(_) => Some(core::Step::Graph(Arc::clone(texts.graph(case, which, at)?))),
        };
        Some(core::Side { steps: side.steps().into_iter().enumerate().map(step).collect::<Option<_>>()? })
    };
    let reference = match &case.reference {
        Some(own) => Some(side(Which::Reference, own)?),
        None => None,
    };
    let opt = side(Which::Opt, &case.opt)?;
    let Options { rules, limits, run: _ } = case.options.clone();
    let budgets = Budgets { limits, ..Budgets::default() };
    let recheck = if case.recheck > 0 { case.recheck } else { points_to_recheck() };
    let shard = case.shard;
    let options = core::Options { rules, budgets, recheck, shard, ..core::Options::default() };
    Some(core::Case { params: texts.params(case)?, reference, opt, options })
}

/// `VOLTA_RECHECK`: the number of points at which each proof is compared with evaluation.
fn points_to_recheck() -> u32 {
    std::env::var("VOLTA_RECHECK").ok().and_then(|points| points.parse().ok()).unwrap_or(0)
}

fn launch(kernel: &Kernel, ptx: &Ptx) -> core::KernelLaunch {
    core::KernelLaunch {
        ptx: ptx.text.clone(),
        path: ptx.path.clone(),
        kernel: kernel.name.clone(),
        arguments: kernel.args.clone(),
        launch: kernel.launch.clone(),
    }
}

/// That the case still has marks of `cargo volta new`, with the lines.
fn guessed(case: &Case) -> Vec<String> {
    let Case { guesses, home, .. } = case;
    if guesses.is_empty() {
        return Vec::new();
    }
    let lines: Vec<String> = guesses.iter().map(|guess| guess.line.to_string()).collect();
    let (count, line) = match guesses.len() {
        1 => ("a guess".into(), "line"),
        many => (format!("{many} guesses"), "lines"),
    };
    vec![format!(
        "the verdict rests on {count} of `cargo volta new` ({line} {} of {}): correct each to what the host launches, \
         and remove its mark `# guess`",
        lines.join(", "),
        slashed(&home.shown(&home.file))
    )]
}

/// The texts of `contains` that no longer occur in the PTX.
fn missing_texts(case: &Case, texts: &Texts) -> Vec<String> {
    let mut missing = Vec::new();
    for wanted in &case.contains {
        let count =
            texts.of_side(wanted.side).map(|ptx| ptx.text.matches(&wanted.text).count() as u64).sum::<u64>();
        if count < wanted.count {
            let paths: Vec<&str> = texts.of_side(wanted.side).map(|ptx| ptx.path.as_str()).collect();
            let (text, path, least) = (&wanted.text, paths.join(" and "), wanted.count);
            missing.push(format!(
                "`{text}` occurs {count} times in {path}, not {least}: the PTX no longer contains what the case tests"
            ));
        }
    }
    missing
}

/// Each way in which `verdict` is not the expected one.
fn unexpected(case: &Case, texts: &Texts, verdict: &Verdict) -> Vec<String> {
    let expect = &case.expect;
    let mut failures = Vec::new();
    let name = verdict.name();
    if verdict.kind() != expect.verdict {
        failures.push(format!("expected {}, got {name}", expect.verdict.name()));
        return failures;
    }
    let Verdict::Fault(fault) = verdict else {
        let Expectation { verdict: _, side, rule, lines, sites } = expect;
        if side.is_some() || rule.is_some() || lines.is_some() || sites.is_some() {
            failures.push(format!("`side`, `rule`, `lines` and `sites` are for faults; {name} has none"));
        }
        return failures;
    };
    if let Some(side) = expect.side
        && side != fault.side
    {
        failures.push(format!("expected the fault in {}, got {}", side.name(), fault.side.name()));
    }
    if let Some(rule) = &expect.rule
        && rule != fault.rule
    {
        failures.push(format!("expected rule {rule}, got {}", fault.rule));
    }
    if let Some(lines) = &expect.lines {
        let places = fault.sites.iter().filter_map(|site| site.place.as_ref());
        let found: BTreeSet<u32> =
            places.map(|place| place.cuda.as_ref().map_or(place.line, own_line)).collect();
        if found != *lines {
            failures.push(format!("expected sites in lines {lines:?}, got {found:?}"));
        }
    }
    if let Some(wanted) = &expect.sites {
        let found = render::lines_of_sites(case, texts, fault);
        let is_at = |text: &String, lines: &Vec<String>| lines.iter().any(|line| line.contains(text));
        let each_is_expected = found.iter().all(|lines| wanted.iter().any(|text| is_at(text, lines)));
        if !each_is_expected || !wanted.iter().all(|text| found.iter().any(|lines| is_at(text, lines))) {
            let found: Vec<String> = found.iter().map(|lines| lines.join(", called in ")).collect();
            failures.push(format!("expected sites in lines with {wanted:?}, got {found:?}"));
        }
    }
    failures
}

/// The line of a place in the kernel's own file; for code that is inlined from another file (a header of the toolkit,
/// say), the line of the call.
fn own_line(cuda: &CudaPlace) -> u32 {
    let calls = || std::iter::successors(Some(cuda), |place| place.inlined_at.as_deref());
    let file = calls().last().map(|place| &place.file);
    calls().find(|place| Some(&place.file) == file).map_or(cuda.line, |place| place.line)
}

/// Compares the results of locally compiled and checked-in PTX, which must have the same verdict and snapshot.
fn disagreement(
    case: &Case,
    here: (&Texts, &Report, Option<&str>),
    there: (&Texts, &Report),
) -> Option<String> {
    let (texts, report, text) = here;
    let (other_texts, other) = there;
    let (this, that) = (texts.compilers(), other_texts.compilers());
    let (verdict, other_verdict) = (report.verdict.name(), other.verdict.name());
    if verdict != other_verdict {
        return Some(format!(
            "{verdict} for the PTX compiled here ({this}), but {other_verdict} for the PTX checked in ({that})"
        ));
    }
    let text = text?;
    let other_text = render::snapshot::text(case, other, other_texts);
    if text == other_text {
        return None;
    }
    let line = text.lines().zip(other_text.lines()).find(|(a, b)| a != b);
    let (a, b) = line.unwrap_or(("the end", "more"));
    Some(format!(
        "the normal form of the PTX compiled here ({this}) is not that of the PTX checked in ({that}):\n  here:       \
         {a}\n  checked in: {b}"
    ))
}
