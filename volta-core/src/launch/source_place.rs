//! Positions of instructions in source text.

use crate::base::span::LineTable;
use crate::program::{Inst, InstId, Location, Program};
use crate::verdict::{CudaPlace, Place};

/// The largest number of nested inlined calls that is reported.
const MOST_CALLS: usize = 64;

/// Position of an instruction in the program's PTX text, and in the CUDA source.
pub fn place_in(program: &Program, text: &str, inst: InstId) -> Option<Place> {
    let inst = program.insts.get(inst.index())?;
    Some(place(program, text, &LineTable::new(text), inst, 0))
}

/// Position of an instruction in the PTX text, and in the CUDA source.
///
/// `step` is the number of the program's launch among the steps of its side.
pub(crate) fn place(program: &Program, text: &str, lines: &LineTable, inst: &Inst, step: usize) -> Place {
    let position = lines.position(text, inst.span.start);
    let raw = text.get(inst.span.start as usize..inst.span.end as usize).unwrap_or("");
    let first = raw.lines().next().unwrap_or("");
    // A location is listed after the call that it was inlined at, so that this terminates.
    let location = |at: u32| program.locations.get(at as usize);
    let calls = std::iter::successors(inst.location.and_then(location), |called| {
        called.inlined_at.and_then(location)
    });
    let calls: Vec<_> = calls.take(MOST_CALLS).collect();
    let cuda = calls.into_iter().rev().fold(None, |call: Option<CudaPlace>, called| {
        let Location { file, line, column, .. } = called;
        Some(CudaPlace { file: file.clone(), line: *line, column: *column, inlined_at: call.map(Box::new) })
    });
    Place {
        step,
        line: position.line,
        column: position.column,
        length: first.trim_end().chars().count() as u32,
        text: raw.split_whitespace().collect::<Vec<_>>().join(" "),
        cuda,
    }
}
