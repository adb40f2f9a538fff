//! In which function's code an instruction stands, as far as that can be told: for messages. A compiler that inlines a function
//! leaves no name behind, but its constants.

use super::{FUNCTIONS, LibraryFunction};
use crate::base::span::LineTable;
use crate::machine::RunError;
use crate::program::{self, Inst, InstId, Program, Src};
use crate::ptx;
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Functions with fewer constants than this are not told from other code.
const FEWEST_CONSTANTS: usize = 6;

/// Small integers are everywhere.
const SMALL: u64 = 256;

/// The constants that operations hold.
fn constants(program: &Program, from: usize, to: usize) -> FxHashSet<u64> {
    let mut found = FxHashSet::default();
    for inst in program.insts.get(from..to.min(program.insts.len())).unwrap_or_default() {
        inst.op.visit_sources(&mut |source| {
            if let Src::Imm(bits) = source
                && bits > SMALL
            {
                found.insert(bits);
            }
        });
    }
    found
}

/// How many operations functions have, and their constants.
static CONSTANTS: LazyLock<Vec<(usize, FxHashSet<u64>)>> = LazyLock::new(|| {
    let of = |function: &&LibraryFunction| {
        let parsed = ptx::parse(function.ptx).ok()?;
        let program = program::lower(&parsed, function.ptx, None).ok()?;
        let length = program.insts.len();
        Some((length, constants(&program, 0, length)))
    };
    FUNCTIONS.iter().map(|function| of(function).unwrap_or_default()).collect()
});

/// A fault with the name of the function in whose code it is: of those at an instruction that code of the library may hold.
pub(super) fn named(error: RunError, program: &Program, text: &str) -> RunError {
    let RunError::Fault(mut fault, others) = error else { return error };
    let name = fault.sites.first().and_then(|site| site.place.as_ref()).and_then(|place| {
        let lines = LineTable::new(text);
        let is_here = |inst: &Inst| {
            let position = lines.position(text, inst.span.start);
            (position.line, position.column) == (place.line, place.column)
        };
        function_around(program, InstId::from_index(program.insts.iter().position(is_here)?))
    });
    if let Some(name) = name.filter(|_| ["S1", "V1"].contains(&fault.rule)) {
        fault.message.push_str(&format!(", among the constants of `{name}`"));
    }
    RunError::Fault(fault, others)
}

/// The function whose constants all stand around an operation, no farther from it than its code is long: of several, that
/// with the most.
fn function_around(program: &Program, at: InstId) -> Option<&'static str> {
    let is_around = |(length, own): &&(usize, FxHashSet<u64>)| {
        let around = constants(program, at.index().saturating_sub(*length), at.index() + length);
        own.len() >= FEWEST_CONSTANTS && own.is_subset(&around)
    };
    let found = CONSTANTS.iter().zip(FUNCTIONS.iter()).filter(|(own, _)| is_around(own));
    found.max_by_key(|((_, own), _)| own.len()).map(|(_, function)| function.name)
}
