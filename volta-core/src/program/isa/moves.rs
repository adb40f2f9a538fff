//! Moves: values, addresses, special registers, packing and unpacking.

use super::special::Register;
use super::{Row, Types, row};
use crate::number::format::Format;
use crate::program::op::{Op, Special, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::{Type, width_of_bytes};
use crate::ptx::tree::{Literal, LiteralValue, Operand};

pub(super) const ROWS: &[Row] =
    &[row("mov", Types::Any, "Data Movement and Conversion Instructions: mov", mov)];

fn mov(x: &mut Operation<'_, '_>) -> Lowered {
    let vector = x.choose(&[("v2", 2), ("v4", 4)]);
    let ty = x.ty()?;
    x.done(2)?;
    if let Some(count) = vector {
        return mov_vector(x, count, ty);
    }
    if ty == Type::Pred {
        let operand = x.operand(0)?;
        let Some(p) = x.predicate_destination(operand)? else {
            return Err(x.expected("a predicate register", operand));
        };
        if let Operand::Literal(Literal { value: LiteralValue::Integer(value), .. }) = x.operand(1)? {
            x.push(Op::PredConst { p, value: *value != 0 });
            return Ok(());
        }
        let a = x.predicate(1)?;
        x.push(Op::PredMov { p, a });
        return Ok(());
    }
    let width = match (ty, ty.width()) {
        (Type::Bits(_) | Type::Int(_) | Type::Float(Format::F32 | Format::F64), Some(width))
            if width != Width::W8 =>
        {
            width
        }
        (Type::Bits128, _) => return Err(x.unsupported("128-bit registers are not")),
        _ => return Err(x.wrong_type()),
    };
    match (x.is_vector(0)?, x.is_vector(1)?) {
        (false, false) => {
            let d = x.destination(0, width)?;
            if let Some(special) = x.special(1)? {
                return x.push_special(special, d, width);
            }
            let operand = x.operand(1)?;
            let a = x.moved(operand, ty)?;
            x.push(Op::Mov { d, a, width });
            Ok(())
        }
        (true, false) => unpack(x, ty, width),
        (false, true) => pack(x, ty, width),
        (true, true) => Err(x.unsupported("one side must be a single register")),
    }
}

/// The width of each of `count` parts of a value.
fn part_of(x: &Operation<'_, '_>, ty: Type, width: Width, count: usize) -> Lowered<Width> {
    let part = match count {
        2 => width_of_bytes(u64::from(width.bytes()) / 2),
        4 => width_of_bytes(u64::from(width.bytes()) / 4),
        _ => None,
    };
    match (ty, part) {
        (Type::Bits(_), Some(part)) => Ok(part),
        _ => Err(x.unsupported("it does not split into these parts")),
    }
}

fn unpack(x: &mut Operation<'_, '_>, ty: Type, width: Width) -> Lowered {
    let elements = x.elements(0)?;
    let part = part_of(x, ty, width, elements.len())?;
    let mut d = Vec::new();
    for element in elements {
        d.push(x.element_destination(element, part, false)?.map(|(register, _)| register));
    }
    let a = x.source(1, ty)?;
    x.push(Op::Unpack { d, a, part });
    Ok(())
}

fn pack(x: &mut Operation<'_, '_>, ty: Type, width: Width) -> Lowered {
    let elements = x.elements(1)?;
    let part = part_of(x, ty, width, elements.len())?;
    let d = x.destination(0, width)?;
    let mut parts = Vec::new();
    for element in elements {
        parts.push(x.element_source(element, Type::Bits(part), false)?);
    }
    x.push(Op::Pack { d, parts, part });
    Ok(())
}

/// `mov.v2`, `mov.v4`: element by element; all are read before any is written.
fn mov_vector(x: &mut Operation<'_, '_>, count: usize, ty: Type) -> Lowered {
    let Some(width) = ty.width() else { return Err(x.wrong_type()) };
    let to = x.elements(0)?;
    if to.len() != count {
        return Err(x.unsupported("the number of elements does not fit"));
    }
    let mut values = Vec::new();
    if let Some(special) = x.special(1)? {
        let Register::Vector(make) = special else {
            return Err(x.unsupported("this register is not a vector"));
        };
        for dimension in 0..3 {
            let d = x.temporary();
            let special: Special = make(dimension);
            x.push_special(Register::Value(special), d, width)?;
            values.push(Src::Reg(d));
        }
        values.push(Src::Imm(0));
    } else {
        for element in x.elements(1)? {
            let a = x.element_source(element, ty, false)?;
            let d = x.temporary();
            x.push(Op::Mov { d, a, width });
            values.push(Src::Reg(d));
        }
    }
    if values.len() != count {
        return Err(x.unsupported("the number of elements does not fit"));
    }
    for (element, a) in to.into_iter().zip(values) {
        if let Some((d, _)) = x.element_destination(element, width, false)? {
            x.push(Op::Mov { d, a, width });
        }
    }
    Ok(())
}
