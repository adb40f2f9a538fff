//! The instruction table: one row for each PTX opcode (and class of types, where it matters), with the function that
//! lowers it and the section of the PTX ISA manual that defines it.
//!
//! The table is the only list of instructions: lookup and all messages about unsupported instructions use it. A
//! lowering function accepts exactly the modifiers that the manual gives the instruction, in any order, as `ptxas`
//! does. To add an instruction, write a row and its function.

mod arith_float;
mod arith_int;
mod atomic;
mod compare;
mod control;
mod convert;
mod copy;
mod hints;
mod logic;
mod matrix;
mod mbarrier;
mod memory;
mod moves;
pub(super) mod special;
mod sync;
mod tensor_memory;
mod unevaluated;
mod warp;
mod warpgroup;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

pub(super) use unevaluated::unevaluated;

use super::operand::{Lowered, Operation, full_name};
use super::types::Type;
use crate::ptx::tree::Instruction;
use volta_case::nearest;

/// A row of the table.
pub(super) struct Row {
    /// The word before the first dot.
    opcode: &'static str,
    /// The first type that the instruction names.
    types: Types,
    /// The title of its section in the PTX ISA manual.
    section: &'static str,
    /// How it is lowered.
    pub(super) handler: Handler,
    /// Whether it only computes in registers, including its unsupported forms.
    pub(super) computes: Option<Computes>,
}

/// How an instruction computes in registers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Computes {
    /// Each lane by itself.
    Alone,
    /// The lanes of a warp together.
    Together,
}

/// How an instruction is lowered.
#[derive(Clone, Copy)]
pub(super) enum Handler {
    /// To operations.
    Lower(fn(&mut Operation<'_, '_>) -> Lowered),
    /// To the body of the function called.
    Call,
    /// To a fault for any thread that reaches it, with a reason.
    Unsupported(&'static str),
}

/// The types that a row covers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Types {
    /// All types, or none.
    Any,
    /// Integers and plain bits, one or two in a register.
    Int,
    /// Floats, one or two in a register.
    Float,
    /// Predicates.
    Pred,
}

const fn row(
    opcode: &'static str,
    types: Types,
    section: &'static str,
    lower: fn(&mut Operation<'_, '_>) -> Lowered,
) -> Row {
    Row { opcode, types, section, handler: Handler::Lower(lower), computes: None }
}

const fn unsupported(opcode: &'static str, section: &'static str, why: &'static str) -> Row {
    Row { opcode, types: Types::Any, section, handler: Handler::Unsupported(why), computes: None }
}

impl Row {
    /// Marks that it only computes in registers, each lane by itself.
    const fn computing(self) -> Row {
        Row { computes: Some(Computes::Alone), ..self }
    }

    /// Marks that it only computes in registers, the lanes of a warp together.
    const fn computing_together(self) -> Row {
        Row { computes: Some(Computes::Together), ..self }
    }
}

const TABLE: [&[Row]; 15] = [
    arith_int::ROWS,
    arith_float::ROWS,
    compare::ROWS,
    logic::ROWS,
    moves::ROWS,
    convert::ROWS,
    memory::ROWS,
    control::ROWS,
    sync::ROWS,
    mbarrier::ROWS,
    warp::ROWS,
    atomic::ROWS,
    copy::ROWS,
    matrix::ROWS,
    hints::ROWS,
];

static BY_OPCODE: LazyLock<FxHashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
    let mut rows: FxHashMap<&'static str, Vec<&'static Row>> = FxHashMap::default();
    for row in TABLE.iter().copied().flatten() {
        rows.entry(row.opcode).or_default().push(row);
    }
    rows
});

/// An instruction of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionInfo {
    /// The word before the first dot.
    pub opcode: &'static str,
    /// The types that this row of the table is for: `integer`, `float`, `predicate`, or `any`.
    pub types: &'static str,
    /// The title of its section in the PTX ISA manual.
    pub section: &'static str,
    /// Why it is not supported; `None` when it is.
    pub unsupported: Option<&'static str>,
}

/// The instruction table, in order, for documentation.
pub fn instructions() -> impl Iterator<Item = InstructionInfo> {
    TABLE.iter().copied().flatten().map(|row| InstructionInfo {
        opcode: row.opcode,
        types: match row.types {
            Types::Any => "any",
            Types::Int => "integer",
            Types::Float => "float",
            Types::Pred => "predicate",
        },
        section: row.section,
        unsupported: match row.handler {
            Handler::Unsupported(why) => Some(why),
            Handler::Lower(_) | Handler::Call => None,
        },
    })
}

/// The row for an instruction.
pub(super) fn find(instruction: &Instruction) -> Option<&'static Row> {
    let rows = BY_OPCODE.get(instruction.opcode.text.as_str())?;
    let ty = instruction.modifiers.iter().find_map(|modifier| Type::parse(&modifier.text));
    let types = match ty {
        Some(Type::Bits(_) | Type::Int(_) | Type::IntPair(_) | Type::Bits128) => Types::Int,
        Some(Type::Float(_) | Type::FloatPair(_)) => Types::Float,
        Some(Type::Pred) => Types::Pred,
        None => Types::Any,
    };
    rows.iter().find(|row| row.types == types || row.types == Types::Any).copied()
}

/// The message about an instruction without a row.
pub(super) fn unknown(instruction: &Instruction) -> String {
    let name = full_name(instruction);
    let opcode = instruction.opcode.text.as_str();
    if let Some(row) = BY_OPCODE.get(opcode).and_then(|rows| rows.first()) {
        return format!("`{name}` is not supported: `{}` does not take these types", row.opcode);
    }
    match nearest(opcode, BY_OPCODE.keys().copied()) {
        Some(near) => format!("`{name}` is not an instruction that Volta knows; did you mean `{near}`?"),
        None => format!("`{name}` is not an instruction that Volta knows"),
    }
}
