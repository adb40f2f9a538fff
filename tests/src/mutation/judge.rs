//! The outcome of a mutant.

use volta_core::base::budget::Limit;
use volta_core::base::span::Span;
use volta_core::case::Case;
use volta_core::ptx::tree::{Instruction, Name, Operand};
use volta_core::verdict::FaultKind;
use volta_core::verdict::Verdict;

use super::family::{Mutant, Subject};
use super::taxonomy as kinds;

/// The outcome of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// *different*
    Different,
    /// A fault.
    Fault,
    /// *equivalent-where*: equivalent on a smaller domain only.
    Where,
    /// No claim.
    Unknown,
    /// Refused: invalid PTX, or an unsupported instruction.
    Refused,
    /// Passed, and no thread reaches the instruction.
    Unreached,
    /// Passed, and the value that the instruction computes or stores has no effect: it may be undefined.
    Unused,
    /// Passed, and the instruction computes the same integers at this launch.
    Same,
    /// Passed.
    Survivor,
}

/// The limit on warp instructions of a mutant.
const INSTRUCTIONS: u64 = 40_000_000;
/// The limit on steps of algebra for its elements.
const ALGEBRA: u64 = 20_000_000;

/// Whether a verdict is *equivalent* or *clean*.
pub fn passes(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Equivalent | Verdict::Same(_) | Verdict::Clean)
}

fn verdict(mut case: Case) -> Verdict {
    case.options.budgets[Limit::Instructions] = INSTRUCTIONS;
    case.options.budgets[Limit::AlgebraSteps] = ALGEBRA;
    case.options.first_fault_only = true;
    volta_core::verify(&case).verdict
}

/// Whether the unedited pair, or single kernel, passes within its own budgets; otherwise its mutants show nothing.
pub fn stands(subject: &Subject) -> bool {
    passes(&volta_core::verify(&subject.case).verdict)
}

/// Verifies a mutant.
pub fn judge(subject: &Subject, mutant: &Mutant) -> Fate {
    match verdict(subject.with(mutant.edit.apply(subject.text()))) {
        Verdict::Different(_) => Fate::Different,
        Verdict::Fault(fault) if fault.kind == FaultKind::Unsupported => Fate::Refused,
        Verdict::Fault(_) => Fate::Fault,
        Verdict::EquivalentWhere(_) => Fate::Where,
        Verdict::Unknown(_) => Fate::Unknown,
        Verdict::InputError(_) => Fate::Refused,
        Verdict::Equivalent | Verdict::Same(_) | Verdict::Clean => {
            let instruction = &subject.sites[mutant.site].instruction;
            let still = |span: Span, text: &str| {
                let mut whole = subject.text().to_owned();
                whole.replace_range(span.start as usize..span.end as usize, text);
                passes(&verdict(subject.with(whole)))
            };
            let guard = instruction.guard.as_ref().map_or(String::new(), |guard| {
                format!("@{}{} ", if guard.negated { "!" } else { "" }, guard.register.text)
            });
            if still(instruction.span, &format!("{guard}trap;")) {
                Fate::Unreached
            } else if undefined(subject, mutant).is_some_and(|text| still(instruction.span, &text)) {
                Fate::Unused
            } else if watched(subject, mutant).is_some_and(|text| still(instruction.span, &text)) {
                Fate::Same
            } else {
                Fate::Survivor
            }
        }
    }
}

/// The declared type of a register, by the names that `nvcc` gives registers.
fn declared(name: &str) -> Option<&'static str> {
    Some(match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "%p" => "pred",
        "%r" => "b32",
        "%rd" => "b64",
        "%rs" => "b16",
        "%f" => "f32",
        "%fd" => "f64",
        _ => return None,
    })
}

/// The text in which the result of the instruction is undefined instead, if the edit changes nothing but that result.
/// An undefined value must not reach an output, a branch or an address (rule V6).
fn undefined(subject: &Subject, mutant: &Mutant) -> Option<String> {
    let instruction = &subject.sites[mutant.site].instruction;
    let elsewhere = [
        kinds::ASYNC_DROPPED,
        kinds::BARRIER_DROPPED,
        kinds::BARRIER_MOVED,
        kinds::COPY_WAIT,
        kinds::GUARD,
        kinds::MASK,
    ];
    if elsewhere.contains(&mutant.edit.kind) || instruction.guard.is_some() {
        return None;
    }
    match (instruction.opcode.text.as_str(), instruction.operands.as_slice()) {
        ("st", [Operand::Address { .. }, stored]) if mutant.edit.kind != kinds::INDEX => {
            let stored = names(stored)?;
            let declared = declared(&stored.first()?.text)?;
            let none: Vec<_> = stored.iter().map(|name| (name.span, "%none".to_owned())).collect();
            let store = within(subject.text(), instruction.span, &none)?;
            Some(format!("{{ .reg .{declared} %none; {store} }}"))
        }
        ("ld", [loaded @ Operand::Vector(..), ..]) => {
            let loaded = names(loaded)?;
            let declared = declared(&loaded.first()?.text)?;
            let moves = loaded.iter().map(|name| format!("mov.{declared} {}, %none; ", name.text));
            Some(format!("{{ .reg .{declared} %none; {}}}", moves.collect::<String>()))
        }
        ("st" | "shfl" | "atom" | "call", _) => None,
        (_, [Operand::Name(result), ..]) => {
            let declared = declared(&result.text)?;
            Some(format!("{{ .reg .{declared} %none; mov.{declared} {}, %none; }}", result.text))
        }
        _ => None,
    }
}

/// The registers that an operand consists of, if it consists of registers.
fn names(operand: &Operand) -> Option<Vec<&Name>> {
    fn name(operand: &Operand) -> Option<&Name> {
        if let Operand::Name(name) = operand { Some(name) } else { None }
    }
    if let Operand::Vector(parts, _) = operand {
        parts.iter().map(name).collect()
    } else {
        Some(vec![name(operand)?])
    }
}

/// The text with a trap that is reached if the edit has an effect: if it computes another integer or predicate, or if a
/// dropped guard does not hold.
fn watched(subject: &Subject, mutant: &Mutant) -> Option<String> {
    let instruction = &subject.sites[mutant.site].instruction;
    let text = subject.text();
    let original = &text[instruction.span.start as usize..instruction.span.end as usize];
    if let Some(guard) = &instruction.guard {
        let left_out = mutant.edit.kind == kinds::GUARD && mutant.edit.changes[0].1.is_empty();
        let opposite = if guard.negated { "" } else { "!" };
        return left_out.then(|| format!("@{opposite}{} trap; {original}", guard.register.text));
    }
    let result = computed(instruction)?;
    let renamed = |changes: &[(Span, String)], name: &str| {
        let mut changes = changes.to_vec();
        changes.push((result.span, name.to_owned()));
        changes.sort_by_key(|(span, _)| span.start);
        within(text, instruction.span, &changes)
    };
    let (first, second) = (renamed(&[], "%same0")?, renamed(&mutant.edit.changes, "%same1")?);
    let declared = declared(&result.text).filter(|declared| !declared.starts_with('f'))?;
    let compared = match declared {
        "pred" => "xor.pred %other, %same0, %same1;".to_owned(),
        bits => format!("setp.ne.{bits} %other, %same0, %same1;"),
    };
    Some(format!(
        "{{ .reg .{declared} %same<2>; .reg .pred %other; {first} {second} {compared} @%other trap; mov.{declared} {}, %same0; }}",
        result.text
    ))
}

/// The only result register of an integer instruction; `None` for others.
fn computed(instruction: &Instruction) -> Option<&Name> {
    const COMPUTE: [&str; 21] = [
        "add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not", "neg", "max", "min", "div",
        "rem", "setp", "cvt", "mov", "selp", "bfe", "bfi",
    ];
    if let Operand::Name(name) = instruction.operands.first()?
        && COMPUTE.contains(&instruction.opcode.text.as_str())
    {
        Some(name)
    } else {
        None
    }
}

/// The text of `span` with changes, if all of them lie in it.
fn within(text: &str, span: Span, changes: &[(Span, String)]) -> Option<String> {
    let mut out = String::new();
    let mut at = span.start as usize;
    for (place, new) in changes {
        if place.start < span.start || place.end > span.end {
            return None;
        }
        out.push_str(text.get(at..place.start as usize)?);
        out.push_str(new);
        at = place.end as usize;
    }
    out.push_str(&text[at..span.end as usize]);
    Some(out)
}

/// A mutant in one line: the old text and the new one.
pub fn excerpt(subject: &Subject, mutant: &Mutant) -> String {
    let span = subject.sites[mutant.site].instruction.span;
    let start =
        mutant.edit.changes.iter().map(|(place, _)| place.start).chain([span.start]).min().unwrap_or(0);
    let end = mutant.edit.changes.iter().map(|(place, _)| place.end).chain([span.end]).max().unwrap_or(0);
    let range = Span { start, end };
    let tidy = |text: &str| {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with(".loc"));
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    };
    let after = within(subject.text(), range, &mutant.edit.changes).unwrap_or_default();
    format!("{} => {}", tidy(&subject.text()[start as usize..end as usize]), tidy(&after))
}
