//! *Different*: which element, by how much, at which inputs.

use std::fmt::Write as _;

use volta_core::case::{ParamKind, Which};
use volta_core::verdict::Place;
use volta_core::verdict::{Difference, How, Report, Witness};

use super::{Paint, bullets, clean_line, proof, wrapped};
use crate::case::Case;

/// The number of inputs of a witness that are shown.
const MAX_INPUTS: usize = 24;
/// The number of lines of a formula that are shown.
const MAX_LINES: usize = 6;
/// A line of a formula with more characters is not read.
const MAX_LENGTH: usize = 400;
/// The number of definitions that are shown with the lines of a formula.
const MAX_DEFINITIONS: usize = 8;
/// The number of equal neighbouring elements from which on they share a line.
const MIN_RUN: usize = 4;
/// The number of elements, and of such neighbours, with one value that are shown.
const MAX_RUNS: usize = 12;

pub(super) fn render(case: &Case, report: &Report, difference: &Difference, paint: Paint) -> String {
    let reference = case.reference.as_ref().map(|kernel| clean_line(&kernel.shown())).unwrap_or_default();
    let opt = clean_line(&case.opt.shown());
    let mut text = format!("{} {}\n", paint.bad("different:"), headline(difference));
    match &difference.how {
        How::Values(witness) => {
            let width = reference.chars().count().max(opt.chars().count());
            let _ = writeln!(text, "  {reference:<width$}  computes {}", clean_line(&witness.reference));
            let _ = writeln!(text, "  {opt:<width$}  computes {}", clean_line(&witness.opt));
            if let Some(on_the_way) = &witness.explanation {
                let [ours, theirs] = on_the_way.places.each_ref().map(|place| line(place.as_deref()));
                let article = if on_the_way.what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                let line = format!(
                    "because of {article} {}: {} in the reference{ours}, {} in the optimized kernel{theirs}",
                    on_the_way.what,
                    clean_line(&on_the_way.reference),
                    clean_line(&on_the_way.opt)
                );
                let _ = writeln!(text, "  {}", wrapped(&line, 2, 4));
            }
            text.push_str(&inputs(case, witness, paint));
            text.push_str(&formulas(report));
            text.push_str(&advice(witness, paint));
        }
        How::Unwritten { by } => {
            let (silent, writes) = match by {
                Which::Reference => (&reference, &opt),
                Which::Opt => (&opt, &reference),
            };
            let _ = writeln!(text, "  {writes} writes it, {silent} does not");
        }
        How::NobodyWrites => {
            let _ = writeln!(text, "  neither kernel writes it");
            let help = "if that is intended, give `partial = true`; if only some CTAs ran, see `ctas`";
            let _ = writeln!(text, "  {} {help}", paint.bold("help:"));
        }
    }
    // Where not the same elements are written, none need have been compared.
    if report.coverage.total > 0 {
        let _ = writeln!(text, "  {}", proof::coverage(case, report));
    }
    text
}

/// What would make the element equal on both sides.
fn advice(witness: &Witness, paint: Paint) -> String {
    if witness.readings.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    let help = "`literals = \"nearest\"` reads literals as the quotients that they are nearest to; then this element \
                is equal on both sides, with";
    let _ = writeln!(text, "  {} {}", paint.bold("help:"), wrapped(help, 8, 4));
    for reading in &witness.readings {
        let _ = writeln!(text, "    - {}", wrapped(reading, 6, 6));
    }
    text
}

/// The lines of both formulas that differ, with the definitions that they use; nothing where these are too long, or where
/// one side has no formula for what the other one has.
fn formulas(report: &Report) -> String {
    let [reference, opt] = report.formulas.as_slice() else { return String::new() };
    let both = [reference, opt].map(|formula| Marked::of(&formula.marked));
    let has_partner = |own: &Marked<'_>, other: &Marked<'_>| {
        own.differing.iter().all(|line| other.all.iter().any(|there| left(there) == left(line)))
    };
    let [one, other] = &both;
    let are_short = both.iter().all(|side| {
        side.used.len() <= MAX_DEFINITIONS && side.shown().all(|line| line.chars().count() <= MAX_LENGTH)
    });
    if !(has_partner(one, other) && has_partner(other, one) && are_short) {
        return String::new();
    }
    let mut text = String::new();
    for (side, marked) in ["the reference", "the optimized kernel"].iter().zip(&both) {
        if marked.differing.is_empty() {
            continue;
        }
        let mark = if text.is_empty() { "; the parts that differ are between ⟦ and ⟧" } else { "" };
        let _ = writeln!(text, "  in all, {side} computes{mark}");
        for line in marked.shown() {
            let indent = 4 + line.len() - line.trim_start().len();
            let line = clean_line(line.trim_start());
            let _ = writeln!(text, "{}{}", " ".repeat(indent), wrapped(&line, indent, indent + 2));
        }
        let hidden = marked.differing.len().saturating_sub(MAX_LINES);
        if hidden > 0 {
            let _ = writeln!(text, "    … {hidden} more lines that are not the same …");
        }
    }
    text
}

/// A formula with marks.
struct Marked<'t> {
    all: Vec<&'t str>,
    /// The lines with marks.
    differing: Vec<&'t str>,
    /// The definitions behind these that the shown ones use.
    used: Vec<&'t str>,
}

impl<'t> Marked<'t> {
    fn of(text: &'t str) -> Marked<'t> {
        let all: Vec<&str> = text.lines().collect();
        let differing: Vec<&str> = all.iter().copied().filter(|line| line.contains('⟦')).collect();
        let is_definition = |line: &&&str| line.starts_with(' ');
        let mut used: Vec<&str> = Vec::new();
        let mut at = 0;
        while let Some(line) = differing.iter().take(MAX_LINES).chain(&used).nth(at).copied() {
            at += 1;
            let is_named = |definition: &&&str| {
                let name = left(definition).split('[').next().unwrap_or_default();
                right(line).split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
            };
            let is_new = |line: &&&str| {
                !used.contains(line) && !differing[..differing.len().min(MAX_LINES)].contains(line)
            };
            let more: Vec<&str> =
                all.iter().filter(is_definition).filter(is_named).filter(is_new).copied().collect();
            used.extend(more);
        }
        Marked { all, differing, used }
    }

    fn shown(&self) -> impl Iterator<Item = &'t str> {
        self.differing.iter().take(MAX_LINES).chain(&self.used).copied()
    }
}

/// What a line of a formula says a value of.
fn left(line: &str) -> &str {
    line.split_once(" = ").map_or(line, |(left, _)| left).trim()
}

/// The value in a line of a formula.
fn right(line: &str) -> &str {
    line.split_once(" = ").map_or("", |(_, right)| right)
}

/// The place of an instruction in parentheses: its line in CUDA, or else in PTX.
pub(super) fn line(place: Option<&Place>) -> String {
    match place {
        Some(Place { cuda: Some(cuda), .. }) => {
            format!(" ({}:{})", clean_line(cuda.file.rsplit('/').next().unwrap_or_default()), cuda.line)
        }
        Some(place) => format!(" (line {} of its PTX)", place.line),
        None => String::new(),
    }
}

/// The element behind another one in the order of rows, by its name.
fn is_next(case: &Case, one: &str, next: &str) -> bool {
    let [(tensor, at), (other, behind)] = [one, next].map(indices);
    if tensor != other || at.len() != behind.len() || at.is_empty() {
        return false;
    }
    let shape = case.params.iter().find(|param| param.name == tensor).and_then(|param| match &param.kind {
        ParamKind::Tensor { shape, .. } if shape.len() == at.len() => Some(shape),
        ParamKind::Tensor { .. } | ParamKind::Scalar { .. } => None,
    });
    let mut expected = at;
    for place in (0..expected.len()).rev() {
        expected[place] += 1;
        match shape.map(|shape| shape[place]) {
            Some(extent) if expected[place] == extent && place > 0 => expected[place] = 0,
            Some(_) | None => break,
        }
    }
    expected == behind
}

/// The tensor of an element, and its indices.
fn indices(name: &str) -> (&str, Vec<u64>) {
    let (tensor, rest) = name.split_once('[').unwrap_or((name, ""));
    let indices = rest.split(['[', ']']).filter_map(|index| index.parse().ok());
    (tensor, indices.collect())
}

/// Names of elements with one value, those that follow one another in short.
fn elements(case: &Case, names: &[&str]) -> String {
    let runs = names.chunk_by(|one, next| is_next(case, one, next));
    let runs = runs.flat_map(|run| match run {
        [first, .., last] if run.len() >= MIN_RUN => vec![format!("{first} … {last}")],
        run => run.iter().map(|name| (*name).to_owned()).collect(),
    });
    let mut runs: Vec<String> = runs.collect();
    if runs.len() > MAX_RUNS {
        runs.truncate(MAX_RUNS);
        runs.push("…".into());
    }
    runs.join(", ")
}

/// The inputs of a witness, equal neighbouring elements in one line.
fn inputs(case: &Case, witness: &Witness, paint: Paint) -> String {
    let others = match (witness.inputs.is_empty(), witness.zeros) {
        (true, 0) => return "  at all inputs\n".to_string(),
        (true, 1) => return "  where the one input that matters is 0\n".to_string(),
        (true, zeros) => return format!("  where the {zeros} inputs that matter are all 0\n"),
        (false, 0) => "any value for the others".to_string(),
        (false, 1) => "0 for one more, any value for the others".to_string(),
        (false, zeros) => format!("0 for {zeros} more, any value for the others"),
    };
    let tensor = |name: &str| name.split('[').next().map(str::to_string);
    let alike = |a: &(String, String), b: &(String, String)| a.1 == b.1 && tensor(&a.0) == tensor(&b.0);
    let mut lines: Vec<String> = Vec::new();
    for run in witness.inputs.chunk_by(alike) {
        match run {
            [(_, value), ..] if run.len() >= MIN_RUN => {
                let names: Vec<&str> = run.iter().map(|(name, _)| name.as_str()).collect();
                lines.push(format!("{} = {value} ({} elements)", elements(case, &names), run.len()));
            }
            run => lines.extend(run.iter().map(|(name, value)| format!("{name} = {value}"))),
        }
    }
    let count = lines.len();
    if count > MAX_INPUTS {
        lines.truncate(MAX_INPUTS);
        lines.push(format!("… and {} more", count - MAX_INPUTS));
    }
    bullets(&format!("at these inputs ({others})"), &lines, paint)
}

/// `the kernels differ in y[3]`
pub(super) fn headline(difference: &Difference) -> String {
    let index: Vec<String> = difference.index.iter().map(u64::to_string).collect();
    let name = clean_line(&difference.tensor);
    let element = if index.is_empty() { name } else { format!("{name}[{}]", index.join(", ")) };
    match difference.how {
        How::Values(_) => format!("the kernels compute different values for {element}"),
        How::Unwritten { .. } => format!("only one kernel writes {element}"),
        How::NobodyWrites => format!("no kernel writes {element}"),
    }
}
