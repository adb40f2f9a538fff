//! `--format json`: one object a case, one line each.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use volta_case::{Hint, Reason};
use volta_core::case::Which;
use volta_core::verdict::{
    BarrierPhases, Difference, ElementMap, Fault, How, PhaseLine, Place, Site, SizeClaim, UnusedInput,
    Verdict,
};

use super::super::certify::Certified;
use super::finding::place_of_error;
use super::part::{PartLine, Said};
use super::table::Figures;
use super::{Checked, Reporter};
use crate::beside::slashed;
use crate::case::Guess;
use crate::cli::check::json_line;
use crate::manifest::{Problem, position};
use crate::prepare::shown;
use crate::render;
use crate::render::source::locate;
use crate::run::Outcome;
use crate::snapshot::Compared;

/// The version of what is printed.
pub(in crate::cli) const VERSION: u32 = 1;

/// Prints each case when it ends.
pub(super) struct Json;

impl Reporter for Json {
    fn case(&mut self, checked: &Checked, out: &mut dyn Write) -> io::Result<()> {
        json_line(&Line::of(checked), out)
    }
}

/// A case that was run, or could not be.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct Line<'r> {
    /// Of the format: another one where a reader of this one would be misled.
    version: u32,
    name: &'r str,
    /// The case's file, as it would be opened from here.
    path: Option<String>,
    /// `passed`, `failed`, `could-not-run` or `skipped`
    outcome: &'static str,
    expected: Option<String>,
    verdict: Option<String>,
    /// Why it has the verdict, or could not run: a code of docs/reasons.md.
    reason: Option<&'static str>,
    /// What to do about it.
    hints: Vec<HintLine>,
    /// What is wrong with the case, its files or its PTX.
    problems: Vec<ProblemLine>,
    failures: &'r [String],
    /// What the case still marks as guesses of `cargo volta new`; the verdict rests on them.
    guesses: &'r [Guess],
    error: Option<String>,
    /// Which elements it is about, where it is one of several parts of a case: nothing is claimed about the others.
    part: Option<PartLine>,
    assumptions: Vec<&'r str>,
    conditions: &'r [String],
    /// Where a claim about bits is not proved: the weaker claims that are; where reals have no meaning, `bits`.
    holds: &'r [String],
    /// Where a claim about bits is not proved: the operations with which the kernels part.
    parting: Option<String>,
    /// Of a claim about ranges: what the operations on floats of each source line give.
    ranges: Vec<String>,
    /// Of a claim about ranges: operations that lose digits, with inputs at which they do.
    losses: Vec<String>,
    /// Of a claim about ranges with a largest error: what is proved of the errors of each output.
    errors: Vec<String>,
    /// Whether what the case gives narrows the claim, which is then about every input that the case allows.
    restricted: bool,
    /// Where the reference, or the only kernel, is defined, where that is not everywhere.
    domain: &'r [String],
    witness: Option<Witness<'r>>,
    /// Where the kernels differ: for each output, which of its elements do at some of a few trial points.
    maps: Vec<MapLine<'r>>,
    fault: Option<FaultLine<'r>>,
    /// What else was found, where there is a fault.
    also: Vec<FaultLine<'r>>,
    /// Whether an earlier run said so; times but `prepare_seconds` and `seconds` are that run's.
    cached: bool,
    /// Of the snapshot: `same`, `accepted`, `changed` or `new`; absent where it was not compared.
    snapshot: Option<&'static str>,
    notes: &'r [String],
    /// Where the PTX comes from.
    ptx: Vec<String>,
    elements_compared: u64,
    elements_unwritten: u64,
    elements_total: u64,
    /// The inputs with elements that no kernel computes with: a proof says nothing of them.
    unused: Vec<UnusedLine<'r>>,
    /// Of a case at every size: the size that the figures or the finding are of, and the sizes for which it is proved.
    size: Option<SizeLine<'r>>,
    /// How many were brought to canonical form to decide them; absent where nothing was decided.
    elements_canonical: Option<u64>,
    /// Points at which a proof was held against evaluation, if it was asked for.
    points_rechecked: Option<u32>,
    /// What the case's certificate shows, if one was written.
    certificate: Option<&'r Certified>,
    prepare_seconds: f64,
    generate_seconds: f64,
    solve_seconds: f64,
    seconds: f64,
    thread_instructions: u64,
    barriers: u64,
    term_bytes: u64,
    peak_memory_bytes: Option<u64>,
}

/// What to do.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct HintLine {
    /// A code of docs/reasons.md.
    code: &'static str,
    text: String,
}

/// Something wrong with a case, its files or its PTX.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct ProblemLine {
    /// A code of docs/reasons.md.
    reason: &'static str,
    message: String,
    help: Option<String>,
    /// The file, as it would be opened from here; `stdin` is the document on standard input, and its sources have the
    /// names that it gives them.
    path: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

/// Which elements of an output differ.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct MapLine<'r> {
    tensor: &'r str,
    /// Its extents, outermost first.
    shape: &'r [u64],
    /// How many elements were looked at: those that the kernels write.
    looked_at: u64,
    /// How many of these differ.
    elements_differing: u64,
    /// Those that do, as runs of row-major element numbers, ascending: the first one, and how many.
    differing: &'r [(u64, u64)],
}

/// A size of a case that is verified at every size.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct SizeLine<'r> {
    /// The variable of the family.
    variable: &'r str,
    /// Its value.
    size: u64,
    /// The smallest and the largest value for which the verdict is proved; absent where it is not proved for every size.
    proved: Option<[u64; 2]>,
    /// Why nothing is claimed of larger ones.
    ends: Option<&'r str>,
    /// How many of these were verified one by one; the others follow.
    sizes_verified: Option<u64>,
}

/// An input, some elements of which no kernel computes with.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct UnusedLine<'r> {
    tensor: &'r str,
    /// Its extents, outermost first.
    shape: &'r [u64],
    elements_unused: u64,
    /// How many runs of neighbouring row-major element numbers they are.
    runs: u64,
    /// The first run: its first element, and its length.
    first_run: (u64, u64),
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct Witness<'r> {
    tensor: &'r str,
    index: &'r [u64],
    how: &'static str,
    inputs: BTreeMap<&'r str, &'r str>,
    /// How many more elements count, and are 0.
    zeros: Option<u64>,
    reference: Option<&'r str>,
    opt: Option<&'r str>,
    /// What explains the difference.
    on_the_way: Option<OnTheWay<'r>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct OnTheWay<'r> {
    what: &'r str,
    reference: &'r str,
    opt: &'r str,
    /// The lines of both in their CUDA or PTX files.
    lines: [Option<LineOf<'r>>; 2],
}

/// Where an instruction stands: in the PTX, and where the compiler says that it comes from. `path`, `line` and `column`
/// are where it can be looked at: a file as it would be opened from here, CUDA or PTX.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct LineOf<'r> {
    ptx_line: u32,
    file: Option<&'r str>,
    line: Option<u32>,
    path: Option<String>,
    column: Option<u32>,
}

impl<'r> LineOf<'r> {
    fn new(checked: &Checked, side: Which, place: &'r Place) -> Self {
        let cuda = place.cuda.as_ref();
        let (file, line) = (cuda.map(|cuda| cuda.file.as_str()), cuda.map(|cuda| cuda.line));
        let (texts, case) = (&checked.run.texts, checked.case.as_ref());
        let at = case.and_then(|case| {
            locate(&case.home, case.kernel(side, place.step), texts.of(case, side, place.step), place)
        });
        let (path, column) = (at.as_ref().map(|at| slashed(&at.path)), at.as_ref().map(|at| at.column));
        LineOf { ptx_line: place.line, file, line: at.map(|at| at.line).or(line), path, column }
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct FaultLine<'r> {
    side: &'static str,
    /// A code of docs/reasons.md.
    kind: &'static str,
    rule: &'static str,
    message: &'r str,
    help: Option<&'r str>,
    sites: Vec<SiteLine<'r>>,
    /// What happened at barriers in memory that it is about.
    barriers: Vec<BarrierLine<'r>>,
}

/// The last phases of a barrier in memory, in order; the one that is not over comes last.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct BarrierLine<'r> {
    barrier: &'r str,
    phases: Vec<PhaseOf<'r>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct PhaseOf<'r> {
    /// From 0; its parity is its lowest bit.
    phase: u32,
    is_over: bool,
    arrivals: u32,
    arrivals_awaited: u32,
    bytes: i64,
    bytes_expected: i64,
    /// Arrivals, expected bytes and copies, by instruction, each with the first thread.
    steps: Vec<SiteLine<'r>>,
    /// Whether there were more instructions than are listed.
    has_more: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct SiteLine<'r> {
    action: &'r str,
    thread: Option<String>,
    /// Where, if that is known.
    at: Option<LineOf<'r>>,
}

impl<'r> Line<'r> {
    fn of(checked: &'r Checked) -> Line<'r> {
        let run = &checked.run;
        let report = run.report.as_ref();
        let verdict = report.map(|report| &report.verdict);
        let coverage = report.map(|report| report.coverage).unwrap_or_default();
        let figures = Figures::of(run);
        let line = Line {
            version: VERSION,
            name: &checked.name,
            path: checked.file.as_deref().map(|file| slashed(&shown(file))),
            outcome: match run.outcome() {
                _ if checked.skipped => "skipped",
                Outcome::Passed => "passed",
                Outcome::Failed => "failed",
                Outcome::CouldNotRun => "could-not-run",
            },
            expected: checked.case.as_ref().map(|case| case.expect.verdict.name().to_owned()),
            verdict: Some(run.verdict_name()).filter(|_| !checked.skipped),
            reason: run.reason().filter(|_| !checked.skipped).map(Reason::code),
            hints: hints(checked),
            problems: problems(checked),
            failures: &run.failures,
            guesses: &run.guesses,
            error: match (&run.obstacle, verdict) {
                (Some(obstacle), _) => Some(obstacle.to_string()),
                (None, Some(Verdict::InputError(error))) => Some(error.message.clone()),
                (None, Some(Verdict::Unknown(unknown))) => Some(unknown.reason.clone()),
                _ => None,
            },
            part: None,
            assumptions: report.iter().flat_map(|report| &report.assumptions).map(|one| &*one.text).collect(),
            conditions: match verdict {
                Some(Verdict::EquivalentWhere(conditions)) => conditions,
                _ => &[],
            },
            holds: report.map_or(&[], |report| &report.holds),
            parting: report.and_then(render::parting),
            ranges: report.map(render::ranges).unwrap_or_default(),
            losses: report.map(render::losses).unwrap_or_default(),
            errors: report.map(render::errors).unwrap_or_default(),
            restricted: report.is_some_and(|report| report.scope.restricted),
            domain: report.map_or(&[], |report| &report.scope.domain),
            witness: match verdict {
                Some(Verdict::Different(difference)) => Some(witness(checked, difference)),
                _ => None,
            },
            maps: report.iter().flat_map(|report| &report.maps).map(map_line).collect(),
            fault: match verdict {
                Some(Verdict::Fault(fault)) => Some(fault_line(checked, fault)),
                _ => None,
            },
            also: report
                .iter()
                .flat_map(|report| &report.also)
                .map(|fault| fault_line(checked, fault))
                .collect(),
            cached: run.cached,
            snapshot: run.compared.as_ref().map(Compared::name),
            notes: &run.notes,
            ptx: run.texts.provenance(),
            elements_compared: coverage.compared,
            elements_unwritten: coverage.unwritten,
            elements_total: coverage.total,
            unused: report.iter().flat_map(|report| &report.unused).map(unused_line).collect(),
            size: report.and_then(|report| report.size.as_ref()).map(size_line),
            elements_canonical: report.and_then(|report| report.canonical_elements),
            points_rechecked: report.and_then(|report| report.rechecked),
            certificate: checked.certified.as_ref(),
            prepare_seconds: run.prepare_seconds,
            generate_seconds: figures.generate_seconds,
            solve_seconds: report.map_or(0.0, |report| report.solve_seconds),
            seconds: run.seconds,
            thread_instructions: figures.thread_instructions,
            barriers: figures.barriers,
            term_bytes: figures.term_bytes,
            peak_memory_bytes: checked.peak_memory_bytes.filter(|_| !checked.skipped),
        };
        let said = Said {
            name: line.name,
            outcome: line.outcome,
            expected: line.expected.as_deref(),
            verdict: line.verdict.as_deref(),
            assumptions: line.assumptions.clone(),
            conditions: line.conditions,
            restricted: line.restricted,
            domain: line.domain,
            elements_compared: line.elements_compared,
            elements_unwritten: line.elements_unwritten,
        };
        let part = PartLine::of(checked).map(|part| part.sealed(&said));
        Line { part, ..line }
    }
}

fn witness<'r>(checked: &Checked, difference: &'r Difference) -> Witness<'r> {
    let (how, values) = match &difference.how {
        How::Values(witness) => ("values", Some(witness)),
        How::Unwritten { .. } => ("unwritten by one side", None),
        How::NobodyWrites => ("unwritten", None),
    };
    let inputs = values.into_iter().flat_map(|values| &values.inputs);
    Witness {
        tensor: &difference.tensor,
        index: &difference.index,
        how,
        inputs: inputs.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        zeros: values.map(|values| values.zeros),
        reference: values.map(|values| values.reference.as_str()),
        opt: values.map(|values| values.opt.as_str()),
        on_the_way: values.and_then(|values| values.explanation.as_ref()).map(|explanation| OnTheWay {
            what: &explanation.what,
            reference: &explanation.reference,
            opt: &explanation.opt,
            lines: {
                let [reference, opt] = explanation.places.each_ref().map(|place| place.as_deref());
                [
                    reference.map(|place| LineOf::new(checked, Which::Reference, place)),
                    opt.map(|place| LineOf::new(checked, Which::Opt, place)),
                ]
            },
        }),
    }
}

fn hints(checked: &Checked) -> Vec<HintLine> {
    let run = &checked.run;
    let verdict = run.report.as_ref().map(|report| &report.verdict);
    let own = match (verdict, &run.obstacle) {
        (Some(Verdict::Fault(fault)), _) => fault.help.clone(),
        (Some(Verdict::Unknown(unknown)), _) => unknown.help.clone(),
        (Some(Verdict::InputError(error)), _) => error.help.clone(),
        (None, Some(obstacle)) => obstacle.help.clone(),
        (
            Some(
                Verdict::Equivalent
                | Verdict::EquivalentWhere(_)
                | Verdict::Same(_)
                | Verdict::Different(_)
                | Verdict::Clean,
            ),
            _,
        )
        | (None, None) => None,
    };
    let mut hints = Vec::new();
    if let (Some(fix), Some(Verdict::Fault(fault)), Some(case)) = (&run.fix, verdict, &checked.case) {
        let text = render::fix(case, &run.texts, fault.side, fix);
        hints.push(HintLine { code: Hint::TriedBarrier.name(), text });
    }
    if let Some(hint) = run.reason().filter(|_| !checked.skipped).and_then(Reason::hint) {
        hints.push(HintLine { code: hint.name(), text: own.unwrap_or_else(|| hint.text()) });
    }
    hints
}

fn problems(checked: &Checked) -> Vec<ProblemLine> {
    if let Some(unreadable) = &checked.unreadable {
        let path = slashed(&checked.file.as_deref().map_or_else(|| unreadable.path.clone(), shown));
        let line = |problem: &Problem| {
            let (line, column) = position(&unreadable.text, &problem.span);
            ProblemLine {
                reason: problem.kind.name(),
                message: problem.message.clone(),
                help: problem.help.clone(),
                path: Some(path.clone()),
                line: Some(line as u32),
                column: Some(column as u32),
            }
        };
        return unreadable.problems.iter().map(line).collect();
    }
    let run = &checked.run;
    let (reason, message, help, at) = match (&run.obstacle, run.report.as_ref().map(|report| &report.verdict))
    {
        (Some(obstacle), _) if !checked.skipped => {
            let detail = obstacle.detail.as_ref().map_or(String::new(), |detail| format!("\n{detail}"));
            (obstacle.kind, format!("{}{detail}", obstacle.message), &obstacle.help, None)
        }
        (None, Some(Verdict::InputError(error))) => {
            let at = checked.case.as_ref().and_then(|case| place_of_error(case, &run.texts, error));
            (error.kind, error.message.clone(), &error.help, at)
        }
        _ => return Vec::new(),
    };
    vec![ProblemLine {
        reason: reason.name(),
        message,
        help: help.clone(),
        path: at.as_ref().map(|at| slashed(&at.path)),
        line: at.as_ref().map(|at| at.line),
        column: at.as_ref().map(|at| at.column),
    }]
}

fn size_line(own: &SizeClaim) -> SizeLine<'_> {
    let every = own.every.as_ref();
    SizeLine {
        variable: &own.variable,
        size: own.size,
        proved: every.map(|every| [every.least, every.most]),
        ends: every.map(|every| every.ends.as_str()),
        sizes_verified: every.map(|every| every.verified),
    }
}

fn unused_line(own: &UnusedInput) -> UnusedLine<'_> {
    UnusedLine {
        tensor: &own.tensor,
        shape: &own.shape,
        elements_unused: own.unused,
        runs: own.runs,
        first_run: own.first,
    }
}

fn map_line(map: &ElementMap) -> MapLine<'_> {
    MapLine {
        tensor: &map.tensor,
        shape: &map.shape,
        looked_at: map.looked_at,
        elements_differing: map.differing.iter().map(|(_, length)| length).sum(),
        differing: &map.differing,
    }
}

fn fault_line<'r>(checked: &Checked, fault: &'r Fault) -> FaultLine<'r> {
    let site_line = |site: &'r Site| SiteLine {
        action: &site.action,
        thread: site.thread.map(|thread| thread.to_string()),
        at: site.place.as_ref().map(|place| LineOf::new(checked, fault.side, place)),
    };
    let phase = |phase: &'r PhaseLine| PhaseOf {
        phase: phase.number,
        is_over: phase.is_over,
        arrivals: phase.arrivals.0,
        arrivals_awaited: phase.arrivals.1,
        bytes: phase.bytes.0,
        bytes_expected: phase.bytes.1,
        steps: phase.steps.iter().map(site_line).collect(),
        has_more: phase.has_more,
    };
    let barrier = |told: &'r BarrierPhases| BarrierLine {
        barrier: &told.name,
        phases: told.phases.iter().map(phase).collect(),
    };
    FaultLine {
        side: fault.side.name(),
        kind: fault.kind.name(),
        rule: fault.rule,
        message: &fault.message,
        help: fault.help.as_deref(),
        sites: fault.sites.iter().map(site_line).collect(),
        barriers: fault.phases.iter().map(barrier).collect(),
    }
}

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;

    use super::*;

    /// The schema is made of the types, and lies where its readers find it.
    #[test]
    fn the_schema_is_that_of_the_types() {
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let mut schema = generator.into_root_schema_for::<Line<'static>>();
        schema.insert("title".into(), "A line of `cargo volta check --format json`".into());
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/check.schema.json");
        if std::env::var_os("VOLTA_WRITE_DOCS").is_some_and(|value| value == "1") {
            std::fs::write(path, &text).expect("the page can be written");
        }
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(page == text, "VOLTA_WRITE_DOCS=1 writes docs/check.schema.json anew");
    }
}
