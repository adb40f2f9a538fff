//! `cargo volta merge`: the claim of a whole case, from the results of all its parts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use volta_case::{Claim, Shard, VerdictName};
use volta_core::verdict::InputScope;

use super::check::json_line;
use super::report::VERSION;
use super::report::part::{PartLine, Said};
use super::{Exit, complain};
use crate::beside::slashed;
use crate::files;
use crate::render::{self, Paint, wrapped};

/// A longer file is not read.
const MAX_BYTES: u64 = 256 << 20;

/// So many missing parts are named.
const NAMED: usize = 8;

/// Arguments of `cargo volta merge`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each part of a case is a test of its own (`shards` in docs/cases.md). A file holds what `cargo volta check --format json` \
printed, or what a test wrote to the folder that VOLTA_JSON names. Of a case in parts, the claim is stated only if all \
parts are there, once each, made by the same verifier from the same inputs; results of cases without parts are repeated.

Examples:
  cargo volta merge results/*.json
  cargo volta merge first.json second.json --json

Exit codes: 0 all cases are as expected, 1 a case is not, 2 parts are missing, or do not belong together.")]
pub(super) struct MergeArgs {
    /// Files with results, as `--format json` prints them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print a line of JSON for each case
    #[arg(long)]
    json: bool,
}

/// What is read of a line.
#[derive(Deserialize)]
struct ResultLine {
    version: u32,
    name: String,
    outcome: String,
    #[serde(default)]
    expected: Option<String>,
    #[serde(default)]
    verdict: Option<String>,
    assumptions: Vec<String>,
    conditions: Vec<String>,
    restricted: bool,
    domain: Vec<String>,
    elements_compared: u64,
    elements_unwritten: u64,
    #[serde(default)]
    part: Option<PartLine>,
}

impl ResultLine {
    fn said(&self) -> Said<'_> {
        Said {
            name: &self.name,
            outcome: &self.outcome,
            expected: self.expected.as_deref(),
            verdict: self.verdict.as_deref(),
            assumptions: self.assumptions.iter().map(String::as_str).collect(),
            conditions: &self.conditions,
            restricted: self.restricted,
            domain: &self.domain,
            elements_compared: self.elements_compared,
            elements_unwritten: self.elements_unwritten,
        }
    }

    /// The name of the verdict; of a proof about a part, that of the proof.
    fn verdict(&self) -> &str {
        let name = self.verdict.as_deref().unwrap_or("not run");
        name.strip_suffix("(part)").unwrap_or(name)
    }

    fn is_as_expected(&self) -> bool {
        self.outcome == "passed"
    }
}

/// A line with its file, as messages name it.
struct Found {
    file: String,
    line: ResultLine,
}

impl Found {
    /// The case that it is about, and the part of it.
    fn case(&self) -> (&str, Option<&PartLine>) {
        match &self.line.part {
            Some(part) => (&part.case, Some(part)),
            None => (&self.line.name, None),
        }
    }
}

/// What all results of a case together say.
#[derive(Debug, Default, Serialize)]
struct Whole {
    version: u32,
    name: String,
    /// `passed`, `failed`, `skipped` or `could-not-run`.
    outcome: String,
    /// Absent where nothing is claimed of the whole.
    verdict: Option<String>,
    /// Why nothing is claimed of the whole, or which parts are not as expected.
    problems: Vec<String>,
    assumptions: Vec<String>,
    conditions: Vec<String>,
    restricted: bool,
    domain: Vec<String>,
    parts: u32,
    elements_compared: u64,
    elements_unwritten: u64,
    elements_total: u64,
    /// What is proved, in a sentence.
    claim: Option<String>,
}

/// Merges the results in some files.
pub(super) fn merge(arguments: &MergeArgs, out: &mut impl Write) -> io::Result<Exit> {
    let (mut found, mut exit) = (Vec::new(), Exit::Good);
    for file in &arguments.files {
        match read(file) {
            Ok(lines) => found.extend(lines),
            Err(message) => {
                complain(&message);
                exit = Exit::CouldNotRun;
            }
        }
    }
    let mut cases: BTreeMap<&str, Vec<&Found>> = BTreeMap::new();
    found.iter().for_each(|found| cases.entry(found.case().0).or_default().push(found));
    let paint = Paint::for_stream(&io::stdout());
    for (name, results) in cases {
        let whole = whole(name, &results);
        match arguments.json {
            true => json_line(&whole, out)?,
            false => write!(out, "{}", told(&whole, paint))?,
        }
        exit = exit.max(match whole.outcome.as_str() {
            "passed" | "skipped" => Exit::Good,
            "failed" => Exit::Failed,
            _ => Exit::CouldNotRun,
        });
    }
    Ok(exit)
}

/// The results in a file.
fn read(path: &Path) -> Result<Vec<Found>, String> {
    let file = slashed(path);
    let text = files::read_text(path, MAX_BYTES).map_err(|error| format!("{file}: {error}"))?;
    let mut found = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{file}:{}", at + 1);
        let line = parse(line).map_err(|wrong| format!("{place}: {wrong}"))?;
        found.push(Found { file: file.clone(), line });
    }
    match found.is_empty() {
        true => Err(format!("{file} is empty: the run that was to write it did not end\nhelp: {AGAIN}")),
        false => Ok(found),
    }
}

const AGAIN: &str =
    "verify this part again: `cargo volta check FOLDER --exact NAME/shard_1_of_8 --format json`";

/// Reads a line, and checks that it is whole and agrees with itself.
fn parse(text: &str) -> Result<ResultLine, String> {
    let ends = text.ends_with('\n');
    let line: ResultLine = serde_json::from_str(text).map_err(|error| match ends || !error.is_eof() {
        true => format!("this is no result of `cargo volta check --format json`: {error}"),
        false => format!("this result is cut off: the run that wrote it did not end\nhelp: {AGAIN}"),
    })?;
    if line.version != VERSION {
        return Err(format!("this result is of version {} of the format, not {VERSION}", line.version));
    }
    let Some(part) = &line.part else { return Ok(line) };
    let shard = Shard { part: part.part, of: part.of };
    let share = part.first..part.end;
    let is_named = Shard::split(&line.name) == (&*part.case, Some(shard));
    let compared = line.elements_compared.checked_add(line.elements_unwritten);
    let is_proof = claim_of(line.verdict()).is_some();
    let is_complete = compared == share.end.checked_sub(share.start);
    if !is_named
        || share != shard.share(part.elements)
        || is_proof && !is_complete
        || !part.is_intact(&line.said())
    {
        return Err(format!("this result has changed since it was written, or is damaged\nhelp: {AGAIN}"));
    }
    Ok(line)
}

/// The claim that a verdict proves.
fn claim_of(verdict: &str) -> Option<Claim> {
    let mut claims = Claim::ALL.iter().map(|(claim, _)| *claim);
    claims.find(|claim| VerdictName::of_claim(*claim).name() == verdict)
}

/// What the results of a case say together.
fn whole(name: &str, results: &[&Found]) -> Whole {
    let mut whole = Whole { version: VERSION, name: name.to_owned(), ..Whole::default() };
    let parts: Vec<(&Found, &PartLine)> =
        results.iter().filter_map(|found| Some((*found, found.case().1?))).collect();
    whole.problems = contradictions(results, &parts);
    for (found, part) in &parts {
        whole.parts = part.of;
        whole.elements_total = part.elements;
        let line = &found.line;
        whole.elements_compared = whole.elements_compared.saturating_add(line.elements_compared);
        whole.elements_unwritten = whole.elements_unwritten.saturating_add(line.elements_unwritten);
    }
    let is_complete = whole.problems.is_empty();
    let mut lines: Vec<&Found> = results.to_vec();
    lines.sort_by_key(|found| found.case().1.map(|part| part.part));
    for Found { file, line } in lines.iter().copied().filter(|found| !found.line.is_as_expected()) {
        let what = line.part.as_ref().map(shown).unwrap_or_else(|| "it".into());
        let expected = line.expected.as_deref().unwrap_or("a case");
        let said = match line.outcome.as_str() {
            "skipped" => "was not run, for it is slow".into(),
            // Its PTX lacks a text that the case requires, or it rests on guesses.
            _ if line.verdict() == expected => "is not as expected, for the reasons that it gives".into(),
            _ => format!("is {}, where {expected} is expected", line.verdict()),
        };
        whole.problems.push(format!("{what} {said} ({file})"));
    }
    // Of outcomes, the worst is that of the whole.
    let worst = ["could-not-run", "skipped", "failed"]
        .into_iter()
        .find(|outcome| lines.iter().any(|found| found.line.outcome == *outcome));
    let known = lines
        .iter()
        .all(|found| ["passed", "failed", "skipped", "could-not-run"].contains(&&*found.line.outcome));
    whole.outcome = match worst {
        _ if !is_complete || !known => "could-not-run",
        // A part that was not run is missing.
        Some("skipped") if !parts.is_empty() => "could-not-run",
        Some(outcome) => outcome,
        None => "passed",
    }
    .into();
    if !is_complete || whole.outcome == "could-not-run" {
        return whole;
    }
    // What is found in a part is found in the whole; a proof needs all.
    let deciding = lines.iter().find(|found| !found.line.is_as_expected()).or(lines.first());
    whole.verdict =
        deciding.map(|found| found.line.verdict().to_owned()).filter(|_| whole.outcome != "skipped");
    let union = |of: fn(&ResultLine) -> &Vec<String>| -> Vec<String> {
        let mut seen = BTreeSet::new();
        let all = lines.iter().flat_map(|found| of(&found.line));
        all.filter(|text| seen.insert(text.as_str())).cloned().collect()
    };
    whole.assumptions = union(|line| &line.assumptions);
    whole.conditions = union(|line| &line.conditions);
    whole.domain = union(|line| &line.domain);
    whole.restricted = lines.iter().any(|found| found.line.restricted);
    if let (Some((_, part)), Some(claim)) = (parts.first(), whole.verdict.as_deref().and_then(claim_of)) {
        let more = parts.iter().map(|(_, part)| part.domain_more).fold(0, usize::saturating_add);
        let scope = InputScope { restricted: whole.restricted, domain: whole.domain.clone(), more };
        whole.claim = Some(render::claim(&part.opt, &part.reference, claim, &scope));
    }
    whole
}

/// `part 3 of 8 (elements 20 to 29)`
fn shown(part: &PartLine) -> String {
    format!("part {} of {} (elements {} to {})", part.part, part.of, part.first, part.end.saturating_sub(1))
}

/// Why some results are not those of one whole.
fn contradictions(results: &[&Found], parts: &[(&Found, &PartLine)]) -> Vec<String> {
    let mut problems = Vec::new();
    let Some((first, one)) = parts.first() else {
        if let [one, other, ..] = results {
            problems.push(format!("it is there twice: in {} and in {}", one.file, other.file));
        }
        return problems;
    };
    if let Some(found) = results.iter().find(|found| found.case().1.is_none()) {
        problems.push(format!("it is there in parts in {}, and not in parts in {}", first.file, found.file));
    }
    // A part that could not run has no PTX to compare.
    let inputs = parts.iter().find(|(_, part)| !part.inputs.is_empty());
    let mut files: BTreeMap<u32, &str> = BTreeMap::new();
    for (found, part) in parts {
        let both = |what: &str| format!("{what}: see {} and {}", first.file, found.file);
        if part.of != one.of {
            problems.push(both(&format!("parts of {} and of {} do not belong together", one.of, part.of)));
        } else if part.program != one.program {
            let (ours, theirs) = (&one.program, &part.program);
            problems.push(both(&format!("parts were verified by different programs, {ours} and {theirs}")));
        } else if let Some((other, known)) =
            inputs.filter(|(_, known)| !part.inputs.is_empty() && known.inputs != part.inputs)
        {
            let what = "parts were not verified from the same PTX and the same case";
            debug_assert_ne!(known.inputs, part.inputs);
            problems.push(format!("{what}: see {} and {}", other.file, found.file));
        } else if (part.elements, &part.opt, &part.reference, &found.line.expected)
            != (one.elements, &one.opt, &one.reference, &first.line.expected)
        {
            problems.push(both("parts are of different cases"));
        } else if let Some(other) = files.insert(part.part, &found.file) {
            problems.push(format!("{} is there twice: in {other} and in {}", shown(part), found.file));
        }
    }
    let missing: Vec<Shard> = Shard::all(one.of).filter(|shard| !files.contains_key(&shard.part)).collect();
    if problems.is_empty() && !missing.is_empty() {
        let mut names: Vec<String> = missing.iter().take(NAMED).map(Shard::to_string).collect();
        if missing.len() > NAMED {
            names.push(format!("{} more", missing.len() - NAMED));
        }
        problems.push(format!("{} of {} parts are missing: {}", missing.len(), one.of, names.join(", ")));
    }
    problems
}

/// The whole for people.
fn told(whole: &Whole, paint: Paint) -> String {
    let name = paint.bold(&render::clean_line(&whole.name));
    let verdict = whole.verdict.as_deref().unwrap_or("nothing is claimed of the whole");
    let verdict = render::clean_line(verdict);
    let title = match whole.outcome.as_str() {
        "passed" => paint.good(&verdict),
        "skipped" => paint.doubtful("not run"),
        _ => paint.bad(&verdict),
    };
    let mut text = format!("{name}\n{title}");
    if let Some(claim) = &whole.claim {
        let claim = format!(": {}", render::clean_line(claim));
        text.push_str(&wrapped(&claim, verdict.len(), 2));
    }
    text.push('\n');
    for problem in &whole.problems {
        let _ = writeln!(text, "  {}", wrapped(&render::clean_line(problem), 2, 4));
    }
    if whole.claim.is_some() {
        let _ = write!(text, "  compared: {} of {} elements", whole.elements_compared, whole.elements_total);
        if whole.elements_unwritten > 0 {
            let _ = write!(text, "; {} unwritten", whole.elements_unwritten);
        }
        let _ = writeln!(text, "; all {} parts are there", whole.parts);
    }
    text.push_str(&render::bullets("conditions", &whole.conditions, paint));
    text.push_str(&render::bullets("assuming", &whole.assumptions, paint));
    text
}
