//! Lowers a kernel to the machine's operations, with names resolved.
//!
//! [`lower`] turns one entry of a parsed module into a [`Program`]: names become ids, calls are inlined, and each PTX
//! instruction becomes one or a few operations of [`Op`], according to the instruction table in `isa`. Nothing is
//! skipped because it was not understood. An unsupported instruction becomes [`Op::Unsupported`], a fault for any
//! thread that reaches it, or, if it only computes in registers, [`Op::Unevaluated`], with unknown results (rule S2).
//! Invalid PTX is a [`LowerError`].

pub mod matrix;
pub mod op;

mod access;
mod addresses;
mod asynchronous;
mod check;
mod code;
mod collective;
mod control;
mod countdown;
mod descriptor;
mod effect;
mod error;
mod flag;
mod flag_rounds;
mod isa;
mod iterations;
mod kernel;
mod layout;
mod literal;
mod lock;
mod loop_code;
mod lower;
mod names;
mod operand;
mod polling;
mod print;
mod repeat;
mod swap;
mod tensor_memory;
mod ticket;
mod trap;
mod types;
mod update;
mod variables;
mod visit;

#[cfg(test)]
mod tests;

pub use access::{Access, Strong};
pub(crate) use addresses::Holds;
pub use asynchronous::{
    Adds, Async, BarrierAction, BarrierTest, BulkWrite, Factor, Far, Fenced, Groups, MemoryPlace, Phase,
    ProxyFence, WarpgroupProduct,
};
pub use check::{Broken, BrokenPromise};
pub use code::{Init, Inst, LaunchBounds, Location, Parameter, Program, Variable};
pub use control::{Hammock, Joins, NoHammock};
pub use effect::{Control, Divides, Effect, Members, Wait, Writes};
pub use error::{DeclarationProblem, LowerError};
pub use flag::FlagLoop;
pub use flag_rounds::FlagRounds;
pub use isa::{InstructionInfo, instructions};
pub use iterations::{CountedLoop, Counter};
pub use kernel::{KernelInfo, KernelParameter, kernels};
pub use loop_code::LoopCode;
pub use op::*;
pub use polling::{FirstTest, Polling, SkippedWait};
pub use repeat::{Loop, Loops};
pub use tensor_memory::{
    CopiedLanes, CopiedShape, LeftFactor, Moved, MovedShape, ProductKind, Scales, TENSOR_COLUMNS,
    TENSOR_LANES, TensorMemoryOp, TensorProduct,
};
pub use update::{Scope, Swap, Turn, Update};
pub use variables::{WORKSPACE, is_made_by_compiler, is_table_of_library, is_variable_called, variable_name};
pub use visit::Written;

use crate::base::budget::Budgets;
use crate::ptx::tree::Module;

/// Lowers one kernel of a module that was parsed from `text`.
///
/// `kernel` is the entry's name as in PTX, or as in the source (`softmax`, `tile<4>`), with or without template
/// arguments and namespaces. It may be omitted if there is only one kernel.
///
/// # Errors
/// If the name does not determine one kernel, or if names, operands or declarations of the kernel are wrong.
pub fn lower(module: &Module, text: &str, kernel: Option<&str>) -> Result<Program, LowerError> {
    lower_within(module, text, kernel, &Budgets::default())
}

/// As [`lower`], with limits: [`Limit::ProgramSize`](crate::base::budget::Limit::ProgramSize) counts operations.
///
/// # Errors
/// As [`lower`], and if the limit is reached.
pub fn lower_within(
    module: &Module,
    text: &str,
    kernel: Option<&str>,
    budgets: &Budgets,
) -> Result<Program, LowerError> {
    let function = kernel::choose(module, kernel)?;
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let program = lower::entry(module, function, lines, budgets)?;
    debug_assert_eq!(program.check(), Ok(()));
    Ok(program)
}
