//! Collective operations of the lanes of a warp.

use super::{Row, Types, row};
use crate::number::format::Format;
use crate::program::op::{
    Float1, Float2, Int, Int2, Op, Precision, PredId, Reduction, RegId, Shuffle, Src, Vote, Width,
};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::Type;
use crate::ptx::tree::Operand;

pub(super) const ROWS: &[Row] = &[
    row("shfl", Types::Any, "Data Movement and Conversion Instructions: shfl.sync", shfl),
    row("vote", Types::Any, "Parallel Synchronization and Communication Instructions: vote.sync", vote),
    row("match", Types::Any, "Parallel Synchronization and Communication Instructions: match.sync", matching),
    row("redux", Types::Any, "Parallel Synchronization and Communication Instructions: redux.sync", redux),
    row(
        "activemask",
        Types::Any,
        "Parallel Synchronization and Communication Instructions: activemask",
        activemask,
    ),
    row("elect", Types::Any, "Parallel Synchronization and Communication Instructions: elect.sync", elect),
];

const B32: Type = Type::Bits(Width::W32);

/// Takes `.sync`; commercially available GPUs do not support the forms without it.
fn sync(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("sync") { Ok(()) } else { Err(x.unsupported("only the form with `.sync` is")) }
}

/// `d|p`, either of which may be `_`.
fn value_and_predicate(
    x: &mut Operation<'_, '_>,
    at: usize,
    width: Width,
) -> Lowered<(Option<RegId>, Option<PredId>)> {
    let (value, predicate) = x.pair(at)?;
    let d = if let Operand::Sink(_) = value { None } else { Some(x.register(value, width)?) };
    let p = match predicate {
        Some(predicate) => x.predicate_destination(predicate)?,
        None => None,
    };
    Ok((d, p))
}

fn shfl(x: &mut Operation<'_, '_>) -> Lowered {
    sync(x)?;
    let mode = x.require(&[
        ("up", Shuffle::Up),
        ("down", Shuffle::Down),
        ("bfly", Shuffle::Bfly),
        ("idx", Shuffle::Idx),
    ])?;
    if x.ty()? != B32 {
        return Err(x.wrong_type());
    }
    x.done(5)?;
    let (d, p) = value_and_predicate(x, 0, Width::W32)?;
    let (a, b, c, mask) = (x.source(1, B32)?, x.source(2, B32)?, x.source(3, B32)?, x.source(4, B32)?);
    x.push(Op::Shuffle { mode, d, p, a, b, c, mask });
    Ok(())
}

fn vote(x: &mut Operation<'_, '_>) -> Lowered {
    sync(x)?;
    let vote = x.require(&[
        ("all", Some(Vote::All)),
        ("any", Some(Vote::Any)),
        ("uni", Some(Vote::Uni)),
        ("ballot", None),
    ])?;
    if x.ty()? != if vote.is_some() { Type::Pred } else { B32 } {
        return Err(x.wrong_type());
    }
    x.done(3)?;
    let a = x.predicate(1)?;
    let mask = x.source(2, B32)?;
    let operand = x.operand(0)?;
    let op = match vote {
        None => Op::Ballot { d: x.destination(0, Width::W32)?, a, mask },
        Some(vote) => match x.predicate_destination(operand)? {
            Some(p) => Op::Vote { vote, p, a, mask },
            None => return Err(x.expected("a predicate register", operand)),
        },
    };
    x.push(op);
    Ok(())
}

fn matching(x: &mut Operation<'_, '_>) -> Lowered {
    sync(x)?;
    let all = x.require(&[("any", false), ("all", true)])?;
    let ty = x.ty()?;
    let Type::Bits(width @ (Width::W32 | Width::W64)) = ty else { return Err(x.wrong_type()) };
    x.done(3)?;
    let a = x.source(1, ty)?;
    let mask = x.source(2, B32)?;
    let op = if all {
        let (d, p) = value_and_predicate(x, 0, Width::W32)?;
        Op::MatchAll { d, p, a, width, mask }
    } else {
        Op::MatchAny { d: x.destination(0, Width::W32)?, a, width, mask }
    };
    x.push(op);
    Ok(())
}

/// `redux.sync.op.type`, `redux.sync.op{.abs}{.NaN}.f32`
fn redux(x: &mut Operation<'_, '_>) -> Lowered {
    sync(x)?;
    let op = x.require(&[
        ("add", Int2::Add),
        ("min", Int2::Min),
        ("max", Int2::Max),
        ("and", Int2::And),
        ("or", Int2::Or),
        ("xor", Int2::Xor),
    ])?;
    let logic = matches!(op, Int2::And | Int2::Or | Int2::Xor);
    let mut magnitudes = false;
    let op = match (x.ty()?, op) {
        (Type::Bits(Width::W32), _) if logic => {
            Reduction::Integer(op, Int { width: Width::W32, signed: false })
        }
        (Type::Int(ty @ Int { width: Width::W32, .. }), _) if !logic => Reduction::Integer(op, ty),
        (Type::Float(Format::F32), Int2::Min | Int2::Max) => {
            magnitudes = x.flag("abs");
            // No value is NaN (rule V2).
            x.flag("NaN");
            Reduction::Float(if op == Int2::Min { Float2::Min } else { Float2::Max })
        }
        (
            Type::Bits(_)
            | Type::Int(_)
            | Type::Float(_)
            | Type::FloatPair(_)
            | Type::IntPair(_)
            | Type::Bits128
            | Type::Pred,
            _,
        ) => return Err(x.wrong_type()),
    };
    x.done(3)?;
    let d = x.destination(0, Width::W32)?;
    let (mut a, mask) = (x.source(1, B32)?, x.source(2, B32)?);
    if magnitudes {
        let magnitude = x.temporary();
        let precision = Precision::NEAREST;
        x.push(Op::Float1 { op: Float1::Abs, format: Format::F32, precision, d: magnitude, a });
        a = Src::Reg(magnitude);
    }
    x.push(Op::Redux { op, d, a, mask });
    Ok(())
}

fn activemask(x: &mut Operation<'_, '_>) -> Lowered {
    if x.ty()? != B32 {
        return Err(x.wrong_type());
    }
    x.done(1)?;
    let d = x.destination(0, Width::W32)?;
    x.push(Op::ActiveMask { d });
    Ok(())
}

fn elect(x: &mut Operation<'_, '_>) -> Lowered {
    sync(x)?;
    x.done(2)?;
    let operand = x.operand(0)?;
    let (d, Some(p)) = value_and_predicate(x, 0, Width::W32)? else {
        return Err(x.expected("`d|p`", operand));
    };
    let mask = x.source(1, B32)?;
    x.push(Op::Elect { d, p, mask });
    Ok(())
}
