//! Control flow.

use super::{Handler, Row, Types, row};
use crate::program::lower::Lowering;
use crate::program::op::{InstId, Int, Op, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::Type;
use crate::ptx::tree::{Operand, TableKind};

pub(super) const ROWS: &[Row] = &[
    row("bra", Types::Any, "Control Flow Instructions: bra", bra),
    row("brx", Types::Any, "Control Flow Instructions: brx.idx", brx),
    Row {
        opcode: "call",
        types: Types::Any,
        section: "Control Flow Instructions: call",
        handler: Handler::Call,
        computes: None,
    },
    row("ret", Types::Any, "Control Flow Instructions: ret", ret),
    row("exit", Types::Any, "Control Flow Instructions: exit", exit),
    row("trap", Types::Any, "Miscellaneous Instructions: trap", trap),
    row("brkpt", Types::Any, "Miscellaneous Instructions: brkpt", trap),
];

fn bra(x: &mut Operation<'_, '_>) -> Lowered {
    x.flag("uni");
    x.done(1)?;
    let target = label(x, 0)?;
    x.push(Op::Branch { target });
    Ok(())
}

fn label(x: &mut Operation<'_, '_>, at: usize) -> Lowered<InstId> {
    let operand = x.operand(at)?;
    let Operand::Name(name) = operand else { return Err(x.expected("a label", operand)) };
    Ok(Lowering::target(x.lowering.names.label(name)?))
}

fn brx(x: &mut Operation<'_, '_>) -> Lowered {
    x.require(&[("idx", ())])?;
    x.flag("uni");
    x.done(2)?;
    let index = x.source(0, Type::Int(Int { width: Width::W32, signed: false }))?;
    let operand = x.operand(1)?;
    let Operand::Name(name) = operand else { return Err(x.expected("a `.branchtargets` label", operand)) };
    let table = x.lowering.names.table(name)?;
    let TableKind::BranchTargets(labels) = &table.kind else {
        return Err(x.expected("a `.branchtargets` label", operand));
    };
    let mut targets = Vec::new();
    for label in labels {
        targets.push(Lowering::target(x.lowering.names.label(label)?));
    }
    x.push(Op::BranchTable { index, targets });
    Ok(())
}

fn ret(x: &mut Operation<'_, '_>) -> Lowered {
    x.flag("uni");
    x.done(0)?;
    let op = match x.lowering.return_target() {
        Some(target) => Op::Branch { target },
        None => Op::Exit,
    };
    x.push(op);
    Ok(())
}

fn exit(x: &mut Operation<'_, '_>) -> Lowered {
    x.done(0)?;
    x.push(Op::Exit);
    Ok(())
}

/// A breakpoint without a debugger ends the program with a fault, like `trap`.
fn trap(x: &mut Operation<'_, '_>) -> Lowered {
    x.done(0)?;
    x.push(Op::Trap);
    Ok(())
}
