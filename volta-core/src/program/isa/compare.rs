//! Comparison and selection.

use super::{Row, Types, row};
use crate::number::format::Format;
use crate::program::op::{Bool2, Compare, FloatCompare, Int, Op, PredId, PredSrc, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::{Type, float_width};

pub(super) const ROWS: &[Row] = &[
    row("setp", Types::Any, "Comparison and Selection Instructions: setp", setp).computing(),
    row("set", Types::Any, "Comparison and Selection Instructions: set", set).computing(),
    row("selp", Types::Any, "Comparison and Selection Instructions: selp", selp).computing(),
    row("slct", Types::Any, "Comparison and Selection Instructions: slct", slct).computing(),
];

/// A comparison operator of PTX.
#[derive(Clone, Copy)]
enum Named {
    /// `eq ne`: all types.
    Equality(Compare),
    /// `lt le gt ge`: numbers.
    Order(Compare),
    /// `lo ls hi hs`: unsigned integers.
    Unsigned(Compare),
    /// `equ …`, `num`, `nan`: floats.
    Float(FloatCompare),
}

const COMPARISONS: [(&str, Named); 18] = [
    ("eq", Named::Equality(Compare::Eq)),
    ("ne", Named::Equality(Compare::Ne)),
    ("lt", Named::Order(Compare::Lt)),
    ("le", Named::Order(Compare::Le)),
    ("gt", Named::Order(Compare::Gt)),
    ("ge", Named::Order(Compare::Ge)),
    ("lo", Named::Unsigned(Compare::Lt)),
    ("ls", Named::Unsigned(Compare::Le)),
    ("hi", Named::Unsigned(Compare::Gt)),
    ("hs", Named::Unsigned(Compare::Ge)),
    ("equ", Named::Float(FloatCompare::Order(Compare::Eq, true))),
    ("neu", Named::Float(FloatCompare::Order(Compare::Ne, true))),
    ("ltu", Named::Float(FloatCompare::Order(Compare::Lt, true))),
    ("leu", Named::Float(FloatCompare::Order(Compare::Le, true))),
    ("gtu", Named::Float(FloatCompare::Order(Compare::Gt, true))),
    ("geu", Named::Float(FloatCompare::Order(Compare::Ge, true))),
    ("num", Named::Float(FloatCompare::IsNumber)),
    ("nan", Named::Float(FloatCompare::IsNan)),
];

const COMBINATIONS: [(&str, Bool2); 3] = [("and", Bool2::And), ("or", Bool2::Or), ("xor", Bool2::Xor)];

/// A comparison of values of a type.
#[derive(Clone, Copy)]
enum Comparison {
    Int(Compare, Int),
    Float(FloatCompare, Format),
    /// Applied to each of two floats in a register.
    FloatPair(FloatCompare, Format),
}

impl Comparison {
    fn new(x: &Operation<'_, '_>, named: Named, ty: Type) -> Lowered<Comparison> {
        let float = match named {
            Named::Equality(compare) | Named::Order(compare) => Some(FloatCompare::Order(compare, false)),
            Named::Float(compare) => Some(compare),
            Named::Unsigned(_) => None,
        };
        match (ty, named, float) {
            (Type::Bits(width), Named::Equality(compare), _) if width != Width::W8 => {
                Ok(Comparison::Int(compare, Int { width, signed: false }))
            }
            (Type::Int(ty), Named::Equality(compare) | Named::Order(compare), _) if ty.width != Width::W8 => {
                Ok(Comparison::Int(compare, ty))
            }
            (Type::Int(ty), Named::Unsigned(compare), _) if ty.width != Width::W8 && !ty.signed => {
                Ok(Comparison::Int(compare, ty))
            }
            (
                Type::Float(format @ (Format::F16 | Format::Bf16 | Format::F32 | Format::F64)),
                _,
                Some(compare),
            ) => Ok(Comparison::Float(compare, format)),
            (Type::FloatPair(format @ (Format::F16 | Format::Bf16)), _, Some(compare)) => {
                Ok(Comparison::FloatPair(compare, format))
            }
            _ => Err(x.unsupported("this comparison does not exist for this type")),
        }
    }

    /// Compares two values; for packed floats, the low ones.
    fn push(
        self,
        x: &mut Operation<'_, '_>,
        p: PredId,
        q: Option<PredId>,
        (a, b): (Src, Src),
        combine: Option<(Bool2, PredSrc)>,
        flush: bool,
    ) {
        x.push(match self {
            Comparison::Int(compare, ty) => Op::SetpInt { compare, ty, p, q, a, b, combine },
            Comparison::Float(compare, format) | Comparison::FloatPair(compare, format) => {
                Op::SetpFloat { compare, format, flush, p, q, a, b, combine }
            }
        });
    }
}

/// Takes `.ftz` where comparisons of the type have it.
fn ftz(x: &mut Operation<'_, '_>, ty: Type) -> bool {
    matches!(ty, Type::Float(Format::F32 | Format::F16) | Type::FloatPair(Format::F16)) && x.flag("ftz")
}

/// The low and high values of two sources.
fn halves(x: &mut Operation<'_, '_>, format: Format, sources: [Src; 2]) -> Lowered<[(Src, Src); 2]> {
    let part = float_width(format).ok_or_else(|| x.wrong_type())?;
    let [a, b] = sources.map(|a| {
        let (low, high) = (x.temporary(), x.temporary());
        x.push(Op::Unpack { d: vec![Some(low), Some(high)], a, part });
        (Src::Reg(low), Src::Reg(high))
    });
    Ok([(a.0, b.0), (a.1, b.1)])
}

/// The predicate that a comparison is combined with.
fn combined(x: &mut Operation<'_, '_>, by: Option<Bool2>) -> Lowered<Option<(Bool2, PredSrc)>> {
    match by {
        Some(by) => Ok(Some((by, x.predicate(3)?))),
        None => Ok(None),
    }
}

fn setp(x: &mut Operation<'_, '_>) -> Lowered {
    let named = x.require(&COMPARISONS)?;
    let by = x.choose(&COMBINATIONS);
    let ty = x.ty()?;
    let flush = ftz(x, ty);
    let comparison = Comparison::new(x, named, ty)?;
    x.done(if by.is_some() { 4 } else { 3 })?;
    let (first, second) = x.pair(0)?;
    let p = x.predicate_destination(first)?;
    let q = match second {
        Some(second) => x.predicate_destination(second)?,
        None => None,
    };
    let a = x.source(1, ty)?;
    let b = x.source(2, ty)?;
    let combine = combined(x, by)?;
    let p = p.unwrap_or_else(|| x.temporary_predicate());
    let Comparison::FloatPair(_, format) = comparison else {
        comparison.push(x, p, q, (a, b), combine, flush);
        return Ok(());
    };
    // `p` is for the low values and `q` for the high ones. The combined predicate may be `p`, so `q` comes first.
    let [low, high] = halves(x, format, [a, b])?;
    let overwritten = |q: PredId| combine.is_some_and(|(_, c)| c.pred == q);
    match q {
        Some(q) if overwritten(q) => {
            let kept = x.temporary_predicate();
            comparison.push(x, kept, None, high, combine, flush);
            comparison.push(x, p, None, low, combine, flush);
            x.push(Op::PredMov { p: q, a: PredSrc { pred: kept, negated: false } });
        }
        Some(q) => {
            comparison.push(x, q, None, high, combine, flush);
            comparison.push(x, p, None, low, combine, flush);
        }
        None => comparison.push(x, p, None, low, combine, flush),
    }
    Ok(())
}

/// The value that `set` writes for *true*, and its width.
fn truth(ty: Type) -> Option<(Width, u64)> {
    match ty {
        Type::Int(int) if matches!(int.width, Width::W16 | Width::W32) => Some((int.width, int.width.mask())),
        Type::Float(Format::F32) => Some((Width::W32, u64::from(1.0f32.to_bits()))),
        Type::Float(Format::F16) | Type::FloatPair(Format::F16) => Some((Width::W16, 0x3c00)),
        Type::Float(Format::Bf16) | Type::FloatPair(Format::Bf16) => Some((Width::W16, 0x3f80)),
        Type::Bits(_)
        | Type::Int(_)
        | Type::Float(_)
        | Type::FloatPair(_)
        | Type::IntPair(_)
        | Type::Bits128
        | Type::Pred => None,
    }
}

/// Whether `set` has this combination of result and operand type: narrow results need narrow floats.
fn goes_with(to: Type, from: Type) -> bool {
    let narrow = |ty| matches!(ty, Type::Float(Format::F16 | Format::Bf16));
    match to {
        Type::Int(int) => int.width == Width::W32 || narrow(from),
        Type::Float(Format::F16) => from != Type::Float(Format::Bf16),
        Type::Float(Format::F32) => !narrow(from),
        Type::FloatPair(_) => from == to,
        Type::Bits(_) | Type::Float(_) | Type::IntPair(_) | Type::Bits128 | Type::Pred => true,
    }
}

fn set(x: &mut Operation<'_, '_>) -> Lowered {
    let named = x.require(&COMPARISONS)?;
    let by = x.choose(&COMBINATIONS);
    let (to, from) = (x.ty()?, x.ty()?);
    let flush = ftz(x, from);
    let comparison = Comparison::new(x, named, from)?;
    let Some((width, truth)) = truth(to) else { return Err(x.wrong_type()) };
    if !goes_with(to, from) {
        return Err(x.wrong_type());
    }
    x.done(if by.is_some() { 4 } else { 3 })?;
    if let Comparison::FloatPair(_, format) = comparison {
        let truth = match to {
            Type::FloatPair(_) => truth,
            Type::Int(int) if int.width == Width::W32 => Width::W16.mask(),
            Type::Bits(_) | Type::Int(_) | Type::Float(_) | Type::IntPair(_) | Type::Bits128 | Type::Pred => {
                return Err(x.wrong_type());
            }
        };
        let d = x.destination(0, Width::W32)?;
        let (a, b) = (x.source(1, from)?, x.source(2, from)?);
        let combine = combined(x, by)?;
        let mut parts = Vec::new();
        for sources in halves(x, format, [a, b])? {
            let (p, half) = (x.temporary_predicate(), x.temporary());
            comparison.push(x, p, None, sources, combine, flush);
            select(x, half, Width::W16, truth, p);
            parts.push(Src::Reg(half));
        }
        x.push(Op::Pack { d, parts, part: Width::W16 });
        return Ok(());
    }
    if matches!(to, Type::FloatPair(_)) {
        return Err(x.wrong_type());
    }
    let d = x.destination(0, width)?;
    let (a, b) = (x.source(1, from)?, x.source(2, from)?);
    let combine = combined(x, by)?;
    let p = x.temporary_predicate();
    comparison.push(x, p, None, (a, b), combine, flush);
    select(x, d, width, truth, p);
    Ok(())
}

fn select(x: &mut Operation<'_, '_>, d: crate::program::op::RegId, width: Width, truth: u64, p: PredId) {
    let p = PredSrc { pred: p, negated: false };
    x.push(Op::Select { width, d, a: Src::Imm(truth), b: Src::Imm(0), p });
}

/// The type of the values that `selp` and `slct` select from.
fn chosen(x: &mut Operation<'_, '_>) -> Lowered<(Type, Width)> {
    let ty = x.ty()?;
    match (ty, ty.width()) {
        (Type::Bits(_) | Type::Int(_) | Type::Float(Format::F32 | Format::F64), Some(width))
            if width != Width::W8 =>
        {
            Ok((ty, width))
        }
        _ => Err(x.wrong_type()),
    }
}

fn selp(x: &mut Operation<'_, '_>) -> Lowered {
    let (ty, width) = chosen(x)?;
    x.done(4)?;
    let d = x.destination(0, width)?;
    let (a, b) = (x.source(1, ty)?, x.source(2, ty)?);
    let p = x.predicate(3)?;
    x.push(Op::Select { width, d, a, b, p });
    Ok(())
}

/// `c ≥ 0 ? a : b`
fn slct(x: &mut Operation<'_, '_>) -> Lowered {
    let (ty, width) = chosen(x)?;
    let by = x.ty()?;
    let signed = Int { width: Width::W32, signed: true };
    let mut flush = false;
    let comparison = match by {
        Type::Int(int) if int == signed => Comparison::Int(Compare::Ge, int),
        Type::Float(Format::F32) => {
            flush = x.flag("ftz");
            Comparison::Float(FloatCompare::Order(Compare::Ge, false), Format::F32)
        }
        Type::Bits(_)
        | Type::Int(_)
        | Type::Float(_)
        | Type::FloatPair(_)
        | Type::IntPair(_)
        | Type::Bits128
        | Type::Pred => return Err(x.wrong_type()),
    };
    x.done(4)?;
    let d = x.destination(0, width)?;
    let (a, b) = (x.source(1, ty)?, x.source(2, ty)?);
    let c = x.source(3, by)?;
    let p = x.temporary_predicate();
    comparison.push(x, p, None, (c, Src::Imm(0)), None, flush);
    x.push(Op::Select { width, d, a, b, p: PredSrc { pred: p, negated: false } });
    Ok(())
}
