//! Integer arithmetic, carries included.

use super::{Row, Types, row, unsupported};
use crate::program::op::{Int, Int1, Int2, Int3, Op, RegId, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::{Type, double};

pub(super) const ROWS: &[Row] = &[
    row("add", Types::Int, "Integer Arithmetic Instructions: add", add).computing(),
    row("sub", Types::Int, "Integer Arithmetic Instructions: sub", sub).computing(),
    row("mul", Types::Int, "Integer Arithmetic Instructions: mul", mul).computing(),
    row("mad", Types::Int, "Integer Arithmetic Instructions: mad", mad).computing(),
    row("mul24", Types::Int, "Integer Arithmetic Instructions: mul24", mul24).computing(),
    row("mad24", Types::Int, "Integer Arithmetic Instructions: mad24", mad24).computing(),
    row("sad", Types::Int, "Integer Arithmetic Instructions: sad", sad).computing(),
    row("div", Types::Int, "Integer Arithmetic Instructions: div", div).computing(),
    row("rem", Types::Int, "Integer Arithmetic Instructions: rem", rem).computing(),
    row("abs", Types::Int, "Integer Arithmetic Instructions: abs", abs).computing(),
    row("neg", Types::Int, "Integer Arithmetic Instructions: neg", neg).computing(),
    row("min", Types::Int, "Integer Arithmetic Instructions: min", min).computing(),
    row("max", Types::Int, "Integer Arithmetic Instructions: max", max).computing(),
    row("popc", Types::Int, "Integer Arithmetic Instructions: popc", popc).computing(),
    row("clz", Types::Int, "Integer Arithmetic Instructions: clz", clz).computing(),
    row("bfind", Types::Int, "Integer Arithmetic Instructions: bfind", bfind).computing(),
    unsupported(
        "fns",
        "Integer Arithmetic Instructions: fns",
        "finding the n-th set bit is not supported yet",
    )
    .computing(),
    row("brev", Types::Int, "Integer Arithmetic Instructions: brev", brev).computing(),
    row("bfe", Types::Int, "Integer Arithmetic Instructions: bfe", bfe).computing(),
    row("bfi", Types::Int, "Integer Arithmetic Instructions: bfi", bfi).computing(),
    row("szext", Types::Int, "Integer Arithmetic Instructions: szext", szext).computing(),
    row("bmsk", Types::Int, "Integer Arithmetic Instructions: bmsk", bmsk).computing(),
    row("dp4a", Types::Int, "Integer Arithmetic Instructions: dp4a", dp4a).computing(),
    row("dp2a", Types::Int, "Integer Arithmetic Instructions: dp2a", dp2a).computing(),
    row("addc", Types::Int, "Extended-Precision Arithmetic Instructions: addc", addc),
    row("subc", Types::Int, "Extended-Precision Arithmetic Instructions: subc", subc),
    row("madc", Types::Int, "Extended-Precision Arithmetic Instructions: madc", madc),
];

const U32: Type = Type::Int(Int { width: Width::W32, signed: false });

/// A `.u` or `.s` type of 16, 32 or 64 bits.
fn int(x: &mut Operation<'_, '_>) -> Lowered<Int> {
    if let Type::Int(int) = x.ty()?
        && int.width != Width::W8
    {
        Ok(int)
    } else {
        Err(x.wrong_type())
    }
}

/// A type of 32 or 64 bits.
fn wide_int(x: &mut Operation<'_, '_>) -> Lowered<Int> {
    match int(x)? {
        int if int.width != Width::W16 => Ok(int),
        _ => Err(x.wrong_type()),
    }
}

/// `.b32` or `.b64`.
fn bits(x: &mut Operation<'_, '_>) -> Lowered<Int> {
    if let Type::Bits(width @ (Width::W32 | Width::W64)) = x.ty()? {
        Ok(Int { width, signed: false })
    } else {
        Err(x.wrong_type())
    }
}

fn is_s32(ty: Int) -> bool {
    ty == Int { width: Width::W32, signed: true }
}

fn unary(x: &mut Operation<'_, '_>, op: Int1, ty: Int, result: Width) -> Lowered {
    x.done(2)?;
    let d = x.destination(0, result)?;
    let a = x.source(1, Type::Int(ty))?;
    x.push(Op::Int1 { op, ty, d, a });
    Ok(())
}

fn binary(x: &mut Operation<'_, '_>, op: Int2, ty: Int) -> Lowered {
    x.done(3)?;
    let d = x.destination(0, ty.width)?;
    let a = x.source(1, Type::Int(ty))?;
    let b = x.source(2, Type::Int(ty))?;
    x.push(Op::Int2 { op, ty, d, a, b });
    Ok(())
}

/// Two 16-bit operations side by side.
fn binary_pair(x: &mut Operation<'_, '_>, ops: &[Int2], signed: bool) -> Lowered {
    x.done(3)?;
    let ty = Int { width: Width::W16, signed };
    let d = x.destination(0, Width::W32)?;
    let mut halves = Vec::new();
    for at in 1..=2 {
        let a = x.source(at, Type::IntPair(signed))?;
        let (low, high) = (x.temporary(), x.temporary());
        x.push(Op::Unpack { d: vec![Some(low), Some(high)], a, part: Width::W16 });
        halves.push((low, high));
    }
    let [a, b] = halves.as_slice() else { return Err(x.wrong_type()) };
    let mut parts = Vec::new();
    for (a, b) in [(a.0, b.0), (a.1, b.1)] {
        let d = x.temporary();
        let mut sources = (Src::Reg(a), Src::Reg(b));
        for op in ops {
            x.push(Op::Int2 { op: *op, ty, d, a: sources.0, b: sources.1 });
            // Further operations clamp the result of the first at zero.
            sources = (Src::Reg(d), Src::Imm(0));
        }
        parts.push(Src::Reg(d));
    }
    x.push(Op::Pack { d, parts, part: Width::W16 });
    Ok(())
}

fn add(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("cc") {
        return carried(x, false, false, true);
    }
    plus_or_minus(x, Int2::Add, Int2::AddSat)
}

fn sub(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("cc") {
        return carried(x, true, false, true);
    }
    plus_or_minus(x, Int2::Sub, Int2::SubSat)
}

fn plus_or_minus(x: &mut Operation<'_, '_>, plain: Int2, saturating: Int2) -> Lowered {
    let saturate = x.flag("sat");
    match x.ty()? {
        Type::IntPair(signed) if !saturate && plain == Int2::Add => binary_pair(x, &[plain], signed),
        Type::Int(ty) if saturate && is_s32(ty) => binary(x, saturating, ty),
        Type::Int(ty) if !saturate && ty.width != Width::W8 => binary(x, plain, ty),
        Type::Bits(_)
        | Type::Int(_)
        | Type::Float(_)
        | Type::FloatPair(_)
        | Type::IntPair(_)
        | Type::Bits128
        | Type::Pred => Err(x.wrong_type()),
    }
}

fn addc(x: &mut Operation<'_, '_>) -> Lowered {
    let out = x.flag("cc");
    carried(x, false, true, out)
}

fn subc(x: &mut Operation<'_, '_>) -> Lowered {
    let out = x.flag("cc");
    carried(x, true, true, out)
}

fn carried(x: &mut Operation<'_, '_>, subtract: bool, carry_in: bool, carry_out: bool) -> Lowered {
    let ty = wide_int(x)?;
    x.done(3)?;
    let d = x.destination(0, ty.width)?;
    let a = x.source(1, Type::Int(ty))?;
    let b = x.source(2, Type::Int(ty))?;
    push_carry(x, subtract, ty.width, d, (a, b), carry_in, carry_out);
    Ok(())
}

fn push_carry(
    x: &mut Operation<'_, '_>,
    subtract: bool,
    width: Width,
    d: RegId,
    (a, b): (Src, Src),
    carry_in: bool,
    carry_out: bool,
) {
    let carry = x.lowering.carry();
    let when = |wanted: bool| wanted.then_some(carry);
    let (carry_in, carry_out) = (when(carry_in), when(carry_out));
    x.push(Op::Carry { subtract, width, d, a, b, carry_in, carry_out });
}

/// The part of a product that is kept.
#[derive(Clone, Copy)]
enum Part {
    Low,
    High,
    Wide,
}

const PARTS: [(&str, Part); 3] = [("lo", Part::Low), ("hi", Part::High), ("wide", Part::Wide)];

fn mul(x: &mut Operation<'_, '_>) -> Lowered {
    let part = x.require(&PARTS)?;
    let ty = int(x)?;
    let (op, result) = match part {
        Part::Low => (Int2::MulLo, ty.width),
        Part::High => (Int2::MulHi, ty.width),
        Part::Wide => (Int2::MulWide, double(ty.width).ok_or_else(|| x.wrong_type())?),
    };
    x.done(3)?;
    let d = x.destination(0, result)?;
    let a = x.source(1, Type::Int(ty))?;
    let b = x.source(2, Type::Int(ty))?;
    x.push(Op::Int2 { op, ty, d, a, b });
    Ok(())
}

fn mad(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("cc") {
        return mad_carried(x, false, true);
    }
    let part = x.require(&PARTS)?;
    let saturate = x.flag("sat");
    let ty = int(x)?;
    let (op, result) = match part {
        Part::Low => (Int3::MadLo, ty.width),
        Part::High => (Int3::MadHi, ty.width),
        Part::Wide => (Int3::MadWide, double(ty.width).ok_or_else(|| x.wrong_type())?),
    };
    if saturate && !(is_s32(ty) && matches!(part, Part::High)) {
        return Err(x.wrong_type());
    }
    x.done(4)?;
    let d = x.destination(0, result)?;
    let a = x.source(1, Type::Int(ty))?;
    let b = x.source(2, Type::Int(ty))?;
    let c = x.source(3, Type::Int(Int { width: result, ..ty }))?;
    if saturate {
        let product = x.temporary();
        x.push(Op::Int2 { op: Int2::MulHi, ty, d: product, a, b });
        x.push(Op::Int2 { op: Int2::AddSat, ty, d, a: Src::Reg(product), b: c });
    } else {
        x.push(Op::Int3 { op, ty, d, a, b, c });
    }
    Ok(())
}

fn madc(x: &mut Operation<'_, '_>) -> Lowered {
    let out = x.flag("cc");
    mad_carried(x, true, out)
}

fn mad_carried(x: &mut Operation<'_, '_>, carry_in: bool, carry_out: bool) -> Lowered {
    let op = x.require(&[("lo", Int2::MulLo), ("hi", Int2::MulHi)])?;
    let ty = wide_int(x)?;
    x.done(4)?;
    let d = x.destination(0, ty.width)?;
    let a = x.source(1, Type::Int(ty))?;
    let b = x.source(2, Type::Int(ty))?;
    let c = x.source(3, Type::Int(ty))?;
    let product = x.temporary();
    x.push(Op::Int2 { op, ty, d: product, a, b });
    push_carry(x, false, ty.width, d, (Src::Reg(product), c), carry_in, carry_out);
    Ok(())
}

fn int32(x: &mut Operation<'_, '_>) -> Lowered<Int> {
    match int(x)? {
        ty if ty.width == Width::W32 => Ok(ty),
        _ => Err(x.wrong_type()),
    }
}

fn mul24(x: &mut Operation<'_, '_>) -> Lowered {
    let op = x.require(&[("lo", Int2::Mul24Lo), ("hi", Int2::Mul24Hi)])?;
    let ty = int32(x)?;
    binary(x, op, ty)
}

fn mad24(x: &mut Operation<'_, '_>) -> Lowered {
    let op = x.require(&[("lo", Int2::Mul24Lo), ("hi", Int2::Mul24Hi)])?;
    let saturate = x.flag("sat");
    let ty = int32(x)?;
    if saturate && !(ty.signed && op == Int2::Mul24Hi) {
        return Err(x.wrong_type());
    }
    x.done(4)?;
    let d = x.destination(0, ty.width)?;
    let a = x.source(1, Type::Int(ty))?;
    let b = x.source(2, Type::Int(ty))?;
    let c = x.source(3, Type::Int(ty))?;
    let product = x.temporary();
    x.push(Op::Int2 { op, ty, d: product, a, b });
    let op = if saturate { Int2::AddSat } else { Int2::Add };
    x.push(Op::Int2 { op, ty, d, a: Src::Reg(product), b: c });
    Ok(())
}

fn ternary(x: &mut Operation<'_, '_>, op: Int3, ty: Int, sources: [Type; 3], result: Width) -> Lowered {
    x.done(4)?;
    let d = x.destination(0, result)?;
    let [a, b, c] = sources;
    let a = x.source(1, a)?;
    let b = x.source(2, b)?;
    let c = x.source(3, c)?;
    x.push(Op::Int3 { op, ty, d, a, b, c });
    Ok(())
}

fn sad(x: &mut Operation<'_, '_>) -> Lowered {
    let ty = int(x)?;
    ternary(x, Int3::Sad, ty, [Type::Int(ty); 3], ty.width)
}

fn div(x: &mut Operation<'_, '_>) -> Lowered {
    let ty = int(x)?;
    binary(x, Int2::Div, ty)
}

fn rem(x: &mut Operation<'_, '_>) -> Lowered {
    let ty = int(x)?;
    binary(x, Int2::Rem, ty)
}

fn signed(x: &mut Operation<'_, '_>) -> Lowered<Int> {
    match int(x)? {
        ty if ty.signed => Ok(ty),
        _ => Err(x.wrong_type()),
    }
}

fn abs(x: &mut Operation<'_, '_>) -> Lowered {
    let ty = signed(x)?;
    unary(x, Int1::Abs, ty, ty.width)
}

fn neg(x: &mut Operation<'_, '_>) -> Lowered {
    let ty = signed(x)?;
    unary(x, Int1::Neg, ty, ty.width)
}

fn min(x: &mut Operation<'_, '_>) -> Lowered {
    min_or_max(x, Int2::Min)
}

fn max(x: &mut Operation<'_, '_>) -> Lowered {
    min_or_max(x, Int2::Max)
}

fn min_or_max(x: &mut Operation<'_, '_>, op: Int2) -> Lowered {
    let relu = x.flag("relu");
    match x.ty()? {
        Type::IntPair(signed) if !relu => binary_pair(x, &[op], signed),
        Type::IntPair(true) => binary_pair(x, &[op, Int2::Max], true),
        Type::Int(ty) if !relu && ty.width != Width::W8 => binary(x, op, ty),
        Type::Int(ty) if relu && is_s32(ty) => {
            x.done(3)?;
            let d = x.destination(0, ty.width)?;
            let a = x.source(1, Type::Int(ty))?;
            let b = x.source(2, Type::Int(ty))?;
            let unclamped = x.temporary();
            x.push(Op::Int2 { op, ty, d: unclamped, a, b });
            x.push(Op::Int2 { op: Int2::Max, ty, d, a: Src::Reg(unclamped), b: Src::Imm(0) });
            Ok(())
        }
        Type::Bits(_)
        | Type::Int(_)
        | Type::Float(_)
        | Type::FloatPair(_)
        | Type::IntPair(_)
        | Type::Bits128
        | Type::Pred => Err(x.wrong_type()),
    }
}

fn popc(x: &mut Operation<'_, '_>) -> Lowered {
    let ty = bits(x)?;
    unary(x, Int1::Popc, ty, Width::W32)
}

fn clz(x: &mut Operation<'_, '_>) -> Lowered {
    let ty = bits(x)?;
    unary(x, Int1::Clz, ty, Width::W32)
}

fn bfind(x: &mut Operation<'_, '_>) -> Lowered {
    let op = if x.flag("shiftamt") { Int1::FindTopShift } else { Int1::FindTop };
    let ty = wide_int(x)?;
    unary(x, op, ty, Width::W32)
}

fn brev(x: &mut Operation<'_, '_>) -> Lowered {
    let ty = bits(x)?;
    unary(x, Int1::Brev, ty, ty.width)
}

fn bfe(x: &mut Operation<'_, '_>) -> Lowered {
    let ty = wide_int(x)?;
    ternary(x, Int3::Extract, ty, [Type::Int(ty), U32, U32], ty.width)
}

fn bfi(x: &mut Operation<'_, '_>) -> Lowered {
    let width = bits(x)?.width;
    x.done(5)?;
    let d = x.destination(0, width)?;
    let a = x.source(1, Type::Bits(width))?;
    let b = x.source(2, Type::Bits(width))?;
    let position = x.source(3, U32)?;
    let length = x.source(4, U32)?;
    x.push(Op::Insert { width, d, a, b, position, length });
    Ok(())
}

/// The low `b` bits of `a`, extended: a bit field at position 0, whose length `bfe` reads modulo 256.
fn szext(x: &mut Operation<'_, '_>) -> Lowered {
    let clamp = x.require(&[("clamp", true), ("wrap", false)])?;
    let ty = int32(x)?;
    x.done(3)?;
    let d = x.destination(0, Width::W32)?;
    let a = x.source(1, Type::Int(ty))?;
    let b = x.source(2, U32)?;
    let length = x.temporary();
    let unsigned = Int { width: Width::W32, signed: false };
    let (op, limit) = if clamp { (Int2::Min, 32) } else { (Int2::And, 31) };
    x.push(Op::Int2 { op, ty: unsigned, d: length, a: b, b: Src::Imm(limit) });
    x.push(Op::Int3 { op: Int3::Extract, ty, d, a, b: Src::Imm(0), c: Src::Reg(length) });
    Ok(())
}

fn bmsk(x: &mut Operation<'_, '_>) -> Lowered {
    let op = x.require(&[("clamp", Int2::MaskClamp), ("wrap", Int2::MaskWrap)])?;
    let ty = bits(x)?;
    if ty.width != Width::W32 {
        return Err(x.wrong_type());
    }
    binary(x, op, ty)
}

fn dot(x: &mut Operation<'_, '_>, op: fn(bool, bool) -> Int3) -> Lowered {
    let a = int32(x)?;
    let b = int32(x)?;
    // The result is signed if either factor is; its bits are the same.
    let ty = Int { width: Width::W32, signed: a.signed || b.signed };
    ternary(x, op(a.signed, b.signed), ty, [Type::Int(a), Type::Int(b), Type::Int(ty)], Width::W32)
}

fn dp4a(x: &mut Operation<'_, '_>) -> Lowered {
    dot(x, Int3::Dp4a)
}

fn dp2a(x: &mut Operation<'_, '_>) -> Lowered {
    let op: fn(bool, bool) -> Int3 =
        if x.require(&[("lo", true), ("hi", false)])? { Int3::Dp2aLo } else { Int3::Dp2aHi };
    dot(x, op)
}
