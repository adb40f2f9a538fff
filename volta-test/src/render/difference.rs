//! *Different*: which element, by how much, at which inputs.

use std::fmt::Write as _;

use volta_core::case::Which;
use volta_core::verdict::Place;
use volta_core::verdict::{Difference, How, Report, Witness};

use super::{Paint, bullets, clean_line, proof, wrapped};
use crate::case::Case;

/// The number of inputs of a witness that are shown.
const MAX_INPUTS: usize = 24;
/// The number of lines of a formula that are shown.
const MAX_LINES: usize = 6;
/// The number of characters of a long line that are shown before and after its first mark.
const NEAR: usize = 200;
/// The number of equal neighbouring elements from which on they share a line.
const MIN_RUN: usize = 4;

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
                let line = format!(
                    "because of a {}: {} in the reference{ours}, {} in the optimized kernel{theirs}",
                    on_the_way.what,
                    clean_line(&on_the_way.reference),
                    clean_line(&on_the_way.opt)
                );
                let _ = writeln!(text, "  {}", wrapped(&line, 2, 4));
            }
            text.push_str(&inputs(witness, paint));
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
    let _ = writeln!(text, "  {}", proof::coverage(case, report));
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

/// The lines of both formulas that differ.
fn formulas(report: &Report) -> String {
    let mut text = String::new();
    if report.formulas.len() < 2 {
        return text;
    }
    for (side, formula) in ["the reference", "the optimized kernel"].iter().zip(&report.formulas) {
        let lines: Vec<&str> = formula.marked.lines().filter(|line| line.contains('⟦')).collect();
        if lines.is_empty() {
            continue;
        }
        let mark = if text.is_empty() { "; the parts that differ are between ⟦ and ⟧" } else { "" };
        let _ = writeln!(text, "  in all, {side} computes{mark}");
        for line in lines.iter().take(MAX_LINES) {
            let indent = 4 + line.len() - line.trim_start().len();
            let line = clean_line(&near_mark(line.trim_start()));
            let _ = writeln!(text, "{}{}", " ".repeat(indent), wrapped(&line, indent, indent + 2));
        }
        if lines.len() > MAX_LINES {
            let _ = writeln!(text, "    … {} more lines that are not the same …", lines.len() - MAX_LINES);
        }
    }
    text
}

/// A long line cut to the part around its first mark.
fn near_mark(line: &str) -> String {
    let characters: Vec<char> = line.chars().collect();
    if characters.len() <= 2 * NEAR {
        return line.into();
    }
    let mark = characters.iter().position(|c| *c == '⟦').unwrap_or(0);
    let (from, to) = (mark.saturating_sub(NEAR), (mark + NEAR).min(characters.len()));
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let shown: String = characters[from..to].iter().collect();
    format!("{}{shown}{}", cut(from > 0), cut(to < characters.len()))
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

/// The inputs of a witness, equal neighbouring elements in one line.
fn inputs(witness: &Witness, paint: Paint) -> String {
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
            [(first, value), .., (last, _)] if run.len() >= MIN_RUN => {
                lines.push(format!("{first} … {last} = {value} ({} elements)", run.len()));
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
