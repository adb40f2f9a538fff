//! Where instructions stand in a text.

use crate::base::span::LineTable;
use crate::program::{Inst, InstId, Program};
use crate::verdict::{CudaPlace, Place};

/// Where an instruction of a program stands in its PTX text, and in the CUDA source.
pub fn place_in(program: &Program, text: &str, inst: InstId) -> Option<Place> {
    let inst = program.insts.get(inst.index())?;
    Some(place(program, text, &LineTable::new(text), inst))
}

/// Where an instruction stands in the PTX text, and in the CUDA source.
pub(super) fn place(program: &Program, text: &str, lines: &LineTable, inst: &Inst) -> Place {
    let position = lines.position(text, inst.span.start);
    let raw = text.get(inst.span.start as usize..inst.span.end as usize).unwrap_or("");
    let first = raw.lines().next().unwrap_or("");
    let place =
        |file: &str, line, column, inlined_at| CudaPlace { file: file.to_string(), line, column, inlined_at };
    let cuda = inst.location.and_then(|at| program.locations.get(at as usize)).map(|location| {
        let call = location.inlined_at.as_ref();
        let call = call.map(|(file, line, column)| Box::new(place(file, *line, *column, None)));
        place(&location.file, location.line, location.column, call)
    });
    Place {
        line: position.line,
        column: position.column,
        length: first.trim_end().chars().count() as u32,
        text: raw.split_whitespace().collect::<Vec<_>>().join(" "),
        cuda,
    }
}
