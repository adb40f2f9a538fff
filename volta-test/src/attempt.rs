//! Trial edits of a kernel: which barrier fixes a race, and which barriers are redundant.
//!
//! An edit is made in the PTX, and the edited kernel is verified alone, as the case launches it. An edit is reported
//! only with the verdict of that run, never by a guess.

use std::collections::BTreeMap;
use std::sync::Arc;

use volta_core::case::{ParamKind, Which};
use volta_core::launch::place_in;
use volta_core::lint::SourceStatement;
use volta_core::program::{self, InstId};
use volta_core::ptx;
use volta_core::verdict::{Fault, FaultKind, Place, Site, Verdict};

use crate::case::Case;
use crate::prepare::{Ptx, Texts};

/// A barrier, as CUDA and as PTX write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Its spelling in CUDA.
    pub cuda: &'static str,
    ptx: &'static str,
}

/// The barrier of a warp, then the barrier of a block.
const BARRIERS: [Barrier; 2] = [
    Barrier { cuda: "__syncwarp()", ptx: "bar.warp.sync 0xffffffff;" },
    Barrier { cuda: "__syncthreads()", ptx: "bar.sync 0;" },
];

/// A barrier without which the kernel has a race, and with which it is clean.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// The barrier to insert.
    pub barrier: Barrier,
    /// Where it is inserted: at one place, or at two.
    pub points: Vec<Point>,
}

/// A place for a barrier, beside an access.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The instruction.
    pub place: Place,
    /// Whether it is inserted after that instruction, rather than before it.
    pub behind: bool,
}

/// One side of a case alone, with its PTX; `None` for a side of several steps, whose launches need one another.
fn alone(
    case: &Case,
    texts: &Texts,
    side: Which,
    edit: impl FnOnce(&str) -> Option<String>,
) -> Option<(Case, Texts)> {
    let ptx = texts.at(side, 0).filter(|_| case.side(side).is_one_launch())?;
    let text = edit(&ptx.text)?;
    let mut alone = Case { reference: None, opt: case.side(side).clone(), shard: None, ..case.clone() };
    if side == Which::Reference && case.reference.is_some() {
        // A single kernel is the optimized one: its element types are those of the side that is verified.
        for param in &mut alone.params {
            if let ParamKind::Tensor { reference, opt, .. } = &mut param.kind {
                *opt = *reference;
            }
        }
    }
    let texts_of_alone = Texts::new([(Which::Opt, 0, Ptx { text, ..ptx.clone() })]);
    Some((alone, texts_of_alone.with_data(Arc::clone(texts.data()))))
}

/// The line number (from 0) of the instruction at `place`, if the line contains nothing else.
fn own_line(text: &str, place: &Place) -> Option<usize> {
    let at = (place.line as usize).checked_sub(1)?;
    let line = text.lines().nth(at)?;
    (line.matches(';').count() == 1 && !line.contains(['{', '}']) || place.text.trim() == line.trim())
        .then_some(at)
}

/// The text with `line` inserted before some lines, counted from 0 and ascending.
fn with_lines(text: &str, before: &[usize], line: &str) -> String {
    let mut before = before.iter().peekable();
    let mut lines: Vec<&str> = Vec::new();
    for (at, own) in text.lines().enumerate() {
        if before.next_if_eq(&&at).is_some() {
            lines.push(line);
        }
        lines.push(own);
    }
    lines.extend(before.map(|_| line));
    lines.join("\n") + "\n"
}

/// The text with some lines emptied, so that the others keep their numbers.
fn without_lines(text: &str, lines: &[usize]) -> String {
    let kept = text.lines().enumerate().map(|(at, line)| if lines.contains(&at) { "" } else { line });
    kept.collect::<Vec<_>>().join("\n") + "\n"
}

/// A barrier beside the accesses of a race that makes the kernel clean. The barrier of a warp is tried before that of a
/// block, each before the later access and after the earlier one; then on their other sides, since the access that ran
/// earlier may be the later statement, and in a loop also comes before the other one; then before both, for a loop that
/// lacks two. `verify` returns the verdict of each edit.
pub fn fix_of_race(
    case: &Case,
    texts: &Texts,
    fault: &Fault,
    verify: impl Fn(&Case, &Texts) -> Option<Verdict>,
) -> Option<Fix> {
    let [earlier, later] = fault.sites.as_slice() else { return None };
    let (one, other) = (earlier.thread?, later.thread?);
    if fault.kind != FaultKind::Race || one.cta != other.cta {
        return None;
    }
    // The barrier of a warp is tried only if both threads are in one warp.
    let barriers = BARRIERS.iter().filter(|barrier| {
        let linear = |thread: [u32; 3]| {
            let [x, y, _] = case.kernel(fault.side, fault.step).launch.block;
            thread[0] + x * (thread[1] + y * thread[2])
        };
        barrier.cuda != BARRIERS[0].cuda || linear(one.thread) / 32 == linear(other.thread) / 32
    });
    let at = |site: &Site, behind| Some(Point { place: site.place.clone()?, behind });
    let single = [(later, false), (earlier, true), (earlier, false), (later, true)];
    let mut tries: Vec<Vec<Point>> =
        single.iter().filter_map(|(site, behind)| Some(vec![at(site, *behind)?])).collect();
    tries.extend(at(earlier, false).zip(at(later, false)).map(|(one, other)| vec![one, other]));
    let copies = copies(case, texts, fault);
    for barrier in barriers {
        for points in &tries {
            let edit = |text: &str| with_barriers(text, points, &copies, *barrier);
            let Some((alone, texts)) = alone(case, texts, fault.side, edit) else { continue };
            if verify(&alone, &texts) == Some(Verdict::Clean) {
                return Some(Fix { barrier: *barrier, points: points.clone() });
            }
        }
    }
    None
}

/// The instructions that the statements of a race compile to, with their operations: loops may be unrolled.
fn copies(case: &Case, texts: &Texts, fault: &Fault) -> Vec<Place> {
    let kernel = case.kernel(fault.side, fault.step);
    let text = texts.of(case, fault.side, fault.step).map(|ptx| &ptx.text);
    let program = text.and_then(|text| {
        let module = ptx::parse(text).ok()?;
        Some((program::lower(&module, text, kernel.name.as_deref()).ok()?, text))
    });
    let Some((program, text)) = program else { return Vec::new() };
    let places = (0..program.insts.len()).filter_map(|at| place_in(&program, text, InstId::from_index(at)));
    let sites: Vec<&Place> = fault.sites.iter().filter_map(|site| site.place.as_ref()).collect();
    places.filter(|own| sites.iter().any(|place| is_copy(own, place))).collect()
}

/// The opcode of an instruction, with its modifiers.
fn operation(place: &Place) -> &str {
    place.text.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default()
}

/// Whether two instructions are the same operation of one statement of the source.
fn is_copy(own: &Place, place: &Place) -> bool {
    operation(own) == operation(place) && SourceStatement::of(own) == SourceStatement::of(place)
}

/// The text with a barrier at each point, and beside each copy of its instruction.
fn with_barriers(text: &str, points: &[Point], copies: &[Place], barrier: Barrier) -> Option<String> {
    let mut lines: Vec<usize> = Vec::new();
    for Point { place, behind } in points {
        lines.push(own_line(text, place)? + usize::from(*behind));
        for own in copies.iter().filter(|own| is_copy(own, place)) {
            lines.push(own_line(text, own)? + usize::from(*behind));
        }
    }
    lines.sort_unstable();
    lines.dedup();
    Some(with_lines(text, &lines, barrier.ptx))
}

/// A barrier or fence of a kernel: all instructions that one statement of the source compiles to.
#[derive(Clone, Debug, PartialEq)]
pub struct Synchronisation {
    /// The first of these instructions.
    pub place: Place,
    /// The number of these instructions.
    pub count: usize,
}

/// Instructions that order accesses and do nothing else.
const ORDERING: [&str; 6] =
    ["bar.sync", "barrier.sync", "bar.warp.sync", "membar", "fence.acq_rel", "fence.sc"];

/// The barriers and fences that can be removed one at a time and leave the kernel clean; `None` if the unedited kernel
/// is not clean.
pub fn redundant(
    case: &Case,
    texts: &Texts,
    side: Which,
    verify: impl Fn(&Case, &Texts) -> Option<Verdict>,
) -> Option<Vec<Synchronisation>> {
    let (whole, own) = alone(case, texts, side, |text| Some(text.to_owned()))?;
    if verify(&whole, &own)? != Verdict::Clean {
        return None;
    }
    let text = &own.at(Which::Opt, 0)?.text;
    let module = ptx::parse(text).ok()?;
    let program = program::lower(&module, text, whole.opt.kernel(0).name.as_deref()).ok()?;
    // Grouped by source statement: copies of a statement in an unrolled loop are removed together.
    let mut statements: BTreeMap<SourceStatement, Vec<Place>> = BTreeMap::new();
    for at in 0..program.insts.len() {
        let Some(place) = place_in(&program, text, InstId::from_index(at)) else { continue };
        if !ORDERING.iter().any(|known| operation(&place).starts_with(known)) {
            continue;
        }
        let places = statements.entry(SourceStatement::of(&place)).or_default();
        if !places.iter().any(|known| known.line == place.line) {
            places.push(place);
        }
    }
    let mut found = Vec::new();
    for places in statements.into_values() {
        let edit = |text: &str| {
            let lines: Option<Vec<usize>> = places.iter().map(|place| own_line(text, place)).collect();
            Some(without_lines(text, &lines?))
        };
        let Some((alone, texts)) = alone(case, texts, side, edit) else { continue };
        if verify(&alone, &texts) == Some(Verdict::Clean) {
            found.push(Synchronisation { place: places[0].clone(), count: places.len() });
        }
    }
    found.sort_by_key(|found| found.place.line);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_and_emptied_in_their_places() {
        let text = "a;\nb;\nc;\n";
        assert_eq!(with_lines(text, &[1], "new;"), "a;\nnew;\nb;\nc;\n");
        assert_eq!(with_lines(text, &[0, 2, 3], "new;"), "new;\na;\nb;\nnew;\nc;\nnew;\n");
        assert_eq!(without_lines(text, &[0, 2]), "\nb;\n\n");
    }

    #[test]
    fn a_line_with_two_statements_is_no_instructions_own() {
        let place =
            |line, text: &str| Place { step: 0, line, column: 1, length: 1, text: text.into(), cuda: None };
        assert_eq!(own_line("ret;\nbar.sync 0; ret;\n", &place(1, "ret;")), Some(0));
        assert_eq!(own_line("ret;\nbar.sync 0; ret;\n", &place(2, "bar.sync 0;")), None);
    }
}
