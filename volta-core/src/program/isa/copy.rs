//! Asynchronous copies (rule Y6).

use super::memory::space;
use super::{Row, Types, row};
use crate::program::op::{Int, Op, Space, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::Type;
use crate::ptx::tree::{Literal, LiteralValue, Operand};

pub(super) const ROWS: &[Row] =
    &[row("cp", Types::Any, "Data Movement and Conversion Instructions: Asynchronous copy", cp)];

const U32: Type = Type::Int(Int { width: Width::W32, signed: false });

fn cp(x: &mut Operation<'_, '_>) -> Lowered {
    if !x.flag("async") {
        return Err(x.unsupported("only asynchronous copies are"));
    }
    if x.flag("bulk") || x.flag("mbarrier") {
        return Err(x.unsupported("bulk copies and asynchronous barriers are not done yet"));
    }
    if x.flag("commit_group") {
        x.done(0)?;
        x.push(Op::CommitCopies);
        return Ok(());
    }
    if x.flag("wait_all") {
        x.done(0)?;
        x.push(Op::WaitForCopies { pending: None });
        return Ok(());
    }
    if x.flag("wait_group") {
        x.done(1)?;
        let pending = constant(x, 0)?;
        x.push(Op::WaitForCopies { pending: Some(pending) });
        return Ok(());
    }
    copy(x)
}

/// A literal that is a small number.
fn constant(x: &Operation<'_, '_>, at: usize) -> Lowered<u32> {
    let operand = x.operand(at)?;
    let Operand::Literal(Literal { value: LiteralValue::Integer(value), .. }) = operand else {
        return Err(x.expected("a literal", operand));
    };
    u32::try_from(*value).map_err(|_| x.unsupported("this number is too large"))
}

/// `cp.async.{ca,cg}.shared.global [to], [from], bytes{, size | ignore}{, policy}`
fn copy(x: &mut Operation<'_, '_>) -> Lowered {
    x.require(&[("ca", ()), ("cg", ())])?;
    if space(x) != Space::Shared || space(x) != Space::Global {
        return Err(x.unsupported("it copies from `.global` to `.shared`"));
    }
    let hint = x.flag("L2::cache_hint");
    x.choose(&[("L2::64B", ()), ("L2::128B", ()), ("L2::256B", ())]);
    let operands = x.done_within(if hint { 4 } else { 3 }, if hint { 5 } else { 4 })?;
    let (to, _) = x.address(0, Space::Shared)?;
    let (from, _) = x.address(1, Space::Global)?;
    let bytes = constant(x, 2)?;
    if !matches!(bytes, 4 | 8 | 16) {
        return Err(x.unsupported("it copies 4, 8 or 16 bytes"));
    }
    let optional = operands - usize::from(hint) > 3;
    if hint {
        x.source(operands - 1, Type::Bits(Width::W64))?;
    }
    let (mut size, mut ignore) = (None, None);
    if optional {
        if x.is_predicate(3)? {
            ignore = Some(x.predicate(3)?);
        } else {
            size = Some(x.source(3, U32)?).filter(|size| *size != Src::Imm(bytes.into()));
        }
    }
    x.push(Op::CopyAsync { to, from, bytes, size, ignore });
    Ok(())
}
