//! The library function in whose code an instruction lies, as far as that is known: for messages. A compiler that
//! inlines a function leaves its constants, but no name.

use super::FUNCTIONS;
use crate::base::span::LineTable;
use crate::machine::RunError;
use crate::program::{self, Inst, InstId, Program, Src};
use crate::ptx;
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Functions with fewer constants than this are not distinguished from other code.
const FEWEST_CONSTANTS: usize = 6;

/// Smaller integers are too common.
const SMALL: u64 = 256;

/// The immediate operands of a range of instructions.
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

/// The number of operations in the codes of functions, and their constants.
static CONSTANTS: LazyLock<Vec<(&str, usize, FxHashSet<u64>)>> = LazyLock::new(|| {
    let of = |code: &'static str| {
        let parsed = ptx::parse(code).ok()?;
        let program = program::lower(&parsed, code, None).ok()?;
        let length = program.insts.len();
        Some((length, constants(&program, 0, length)))
    };
    let codes = FUNCTIONS.iter().flat_map(|function| function.codes().map(|code| (function.name, code)));
    codes.filter_map(|(name, code)| of(code).map(|(length, own)| (name, length, own))).collect()
});

/// Adds to a fault the name of the function in whose code it lies, if its instruction may be library code.
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

/// The function all of whose constants occur around an instruction, no farther from it than the length of its code;
/// if there are several, that with the most constants.
fn function_around(program: &Program, at: InstId) -> Option<&'static str> {
    let is_around = |(_, length, own): &&(&str, usize, FxHashSet<u64>)| {
        let around = constants(program, at.index().saturating_sub(*length), at.index() + length);
        own.len() >= FEWEST_CONSTANTS && own.is_subset(&around)
    };
    CONSTANTS.iter().filter(is_around).max_by_key(|(_, _, own)| own.len()).map(|(name, _, _)| *name)
}
