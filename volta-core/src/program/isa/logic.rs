//! Logic, shifts and byte permutation.

use super::{Row, Types, row};
use crate::program::op::{Bool2, Compare, Int, Int1, Int2, Int3, Op, PermuteMode, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::Type;
use crate::ptx::tree::{Literal, LiteralValue, Operand};

pub(super) const ROWS: &[Row] = &[
    row("and", Types::Int, "Logic and Shift Instructions: and", and).computing(),
    row("or", Types::Int, "Logic and Shift Instructions: or", or).computing(),
    row("xor", Types::Int, "Logic and Shift Instructions: xor", xor).computing(),
    row("not", Types::Int, "Logic and Shift Instructions: not", not).computing(),
    row("and", Types::Pred, "Logic and Shift Instructions: and", and_predicates).computing(),
    row("or", Types::Pred, "Logic and Shift Instructions: or", or_predicates).computing(),
    row("xor", Types::Pred, "Logic and Shift Instructions: xor", xor_predicates).computing(),
    row("not", Types::Pred, "Logic and Shift Instructions: not", not_predicate).computing(),
    row("cnot", Types::Int, "Logic and Shift Instructions: cnot", cnot).computing(),
    row("lop3", Types::Int, "Logic and Shift Instructions: lop3", lop3).computing(),
    row("shf", Types::Int, "Logic and Shift Instructions: shf", shf).computing(),
    row("shl", Types::Int, "Logic and Shift Instructions: shl", shl).computing(),
    row("shr", Types::Int, "Logic and Shift Instructions: shr", shr).computing(),
    row("prmt", Types::Int, "Data Movement and Conversion Instructions: prmt", prmt).computing(),
];

const U32: Int = Int { width: Width::W32, signed: false };
const BITS32: Type = Type::Bits(Width::W32);

/// `.b16 .b32 .b64`.
fn bits(x: &mut Operation<'_, '_>) -> Lowered<Width> {
    if let Type::Bits(width) = x.ty()?
        && width != Width::W8
    {
        Ok(width)
    } else {
        Err(x.wrong_type())
    }
}

fn bits32(x: &mut Operation<'_, '_>) -> Lowered {
    if let Width::W32 = bits(x)? { Ok(()) } else { Err(x.wrong_type()) }
}

fn binary(x: &mut Operation<'_, '_>, op: Int2) -> Lowered {
    let width = bits(x)?;
    x.done(3)?;
    let d = x.destination(0, width)?;
    let (a, b) = (x.source(1, Type::Bits(width))?, x.source(2, Type::Bits(width))?);
    x.push(Op::Int2 { op, ty: Int { width, signed: false }, d, a, b });
    Ok(())
}

fn unary(x: &mut Operation<'_, '_>, op: Int1) -> Lowered {
    let width = bits(x)?;
    x.done(2)?;
    let d = x.destination(0, width)?;
    let a = x.source(1, Type::Bits(width))?;
    x.push(Op::Int1 { op, ty: Int { width, signed: false }, d, a });
    Ok(())
}

fn and(x: &mut Operation<'_, '_>) -> Lowered {
    binary(x, Int2::And)
}

fn or(x: &mut Operation<'_, '_>) -> Lowered {
    binary(x, Int2::Or)
}

fn xor(x: &mut Operation<'_, '_>) -> Lowered {
    binary(x, Int2::Xor)
}

fn not(x: &mut Operation<'_, '_>) -> Lowered {
    unary(x, Int1::Not)
}

fn cnot(x: &mut Operation<'_, '_>) -> Lowered {
    unary(x, Int1::Cnot)
}

fn predicates(x: &mut Operation<'_, '_>, op: Bool2) -> Lowered {
    x.ty()?;
    x.done(3)?;
    let operand = x.operand(0)?;
    let Some(p) = x.predicate_destination(operand)? else {
        return Err(x.expected("a predicate register", operand));
    };
    let (a, b) = (x.predicate(1)?, x.predicate(2)?);
    x.push(Op::Pred2 { op, p, a, b });
    Ok(())
}

fn and_predicates(x: &mut Operation<'_, '_>) -> Lowered {
    predicates(x, Bool2::And)
}

fn or_predicates(x: &mut Operation<'_, '_>) -> Lowered {
    predicates(x, Bool2::Or)
}

fn xor_predicates(x: &mut Operation<'_, '_>) -> Lowered {
    predicates(x, Bool2::Xor)
}

fn not_predicate(x: &mut Operation<'_, '_>) -> Lowered {
    x.ty()?;
    x.done(2)?;
    let operand = x.operand(0)?;
    let Some(p) = x.predicate_destination(operand)? else {
        return Err(x.expected("a predicate register", operand));
    };
    let mut a = x.predicate(1)?;
    a.negated = !a.negated;
    x.push(Op::PredMov { p, a });
    Ok(())
}

fn lop3(x: &mut Operation<'_, '_>) -> Lowered {
    let by = x.choose(&[("or", Bool2::Or), ("and", Bool2::And)]);
    bits32(x)?;
    x.done(if by.is_some() { 6 } else { 5 })?;
    let operand = x.operand(4)?;
    let table = if let Operand::Literal(Literal { value: LiteralValue::Integer(value), .. }) = operand {
        u8::try_from(*value).ok()
    } else {
        None
    };
    let Some(table) = table else { return Err(x.expected("a table between 0 and 255", operand)) };
    let op = Int3::Lop3(table);
    let Some(by) = by else {
        let d = x.destination(0, Width::W32)?;
        let (a, b, c) = (x.source(1, BITS32)?, x.source(2, BITS32)?, x.source(3, BITS32)?);
        x.push(Op::Int3 { op, ty: U32, d, a, b, c });
        return Ok(());
    };
    let operand = x.operand(0)?;
    let (first, Some(second)) = x.pair(0)? else { return Err(x.expected("`d|p`", operand)) };
    let d = if let Operand::Sink(_) = first { x.temporary() } else { x.register(first, Width::W32)? };
    let Some(p) = x.predicate_destination(second)? else {
        return Err(x.expected("a predicate register", second));
    };
    let (a, b, c) = (x.source(1, BITS32)?, x.source(2, BITS32)?, x.source(3, BITS32)?);
    let with = x.predicate(5)?;
    x.push(Op::Int3 { op, ty: U32, d, a, b, c });
    let (a, b, combine) = (Src::Reg(d), Src::Imm(0), Some((by, with)));
    x.push(Op::SetpInt { compare: Compare::Ne, ty: U32, p, q: None, a, b, combine });
    Ok(())
}

fn shf(x: &mut Operation<'_, '_>) -> Lowered {
    let left = x.require(&[("l", true), ("r", false)])?;
    let wrap = x.require(&[("wrap", true), ("clamp", false)])?;
    bits32(x)?;
    let op = match (left, wrap) {
        (true, true) => Int3::ShfLeftWrap,
        (true, false) => Int3::ShfLeftClamp,
        (false, true) => Int3::ShfRightWrap,
        (false, false) => Int3::ShfRightClamp,
    };
    x.done(4)?;
    let d = x.destination(0, Width::W32)?;
    let (a, b, c) = (x.source(1, BITS32)?, x.source(2, BITS32)?, x.source(3, Type::Int(U32))?);
    x.push(Op::Int3 { op, ty: U32, d, a, b, c });
    Ok(())
}

fn shift(x: &mut Operation<'_, '_>, op: Int2, ty: Int) -> Lowered {
    x.done(3)?;
    let d = x.destination(0, ty.width)?;
    let (a, b) = (x.source(1, Type::Int(ty))?, x.source(2, Type::Int(U32))?);
    x.push(Op::Int2 { op, ty, d, a, b });
    Ok(())
}

fn shl(x: &mut Operation<'_, '_>) -> Lowered {
    let width = bits(x)?;
    shift(x, Int2::Shl, Int { width, signed: false })
}

fn shr(x: &mut Operation<'_, '_>) -> Lowered {
    match x.ty()?.as_int() {
        Some(ty) if ty.width != Width::W8 => shift(x, Int2::Shr, ty),
        _ => Err(x.wrong_type()),
    }
}

fn prmt(x: &mut Operation<'_, '_>) -> Lowered {
    let mode = x.choose(&[
        ("f4e", PermuteMode::F4e),
        ("b4e", PermuteMode::B4e),
        ("rc8", PermuteMode::Rc8),
        ("ecl", PermuteMode::Ecl),
        ("ecr", PermuteMode::Ecr),
        ("rc16", PermuteMode::Rc16),
    ]);
    bits32(x)?;
    x.done(4)?;
    let d = x.destination(0, Width::W32)?;
    let (a, b, c) = (x.source(1, BITS32)?, x.source(2, BITS32)?, x.source(3, BITS32)?);
    let op = Int3::Permute(mode.unwrap_or(PermuteMode::Generic));
    x.push(Op::Int3 { op, ty: U32, d, a, b, c });
    Ok(())
}
