//! Barriers in shared memory (rule Y9).

use super::copy::place;
use super::memory::space;
use super::{Row, Types, row};
use crate::program::access::Strong;
use crate::program::asynchronous::{Async, BarrierAction, MemoryPlace, Phase};
use crate::program::op::{Int, Op, Space, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::Type;
use crate::program::update::Scope;
use crate::ptx::tree::Operand;

pub(super) const ROWS: &[Row] = &[row(
    "mbarrier",
    Types::Any,
    "Parallel Synchronization and Communication Instructions: mbarrier",
    mbarrier,
)];

const U32: Type = Type::Int(Int { width: Width::W32, signed: false });
const B64: Type = Type::Bits(Width::W64);

#[derive(Clone, Copy)]
enum Kind {
    Init,
    Invalidate,
    Arrive { drops: bool },
    Expect,
    Complete,
    Test,
    Try,
}

fn mbarrier(x: &mut Operation<'_, '_>) -> Lowered {
    let kind = x.require(&[
        ("init", Kind::Init),
        ("inval", Kind::Invalidate),
        // Before `expect_tx`, which may be its modifier.
        ("arrive", Kind::Arrive { drops: false }),
        ("arrive_drop", Kind::Arrive { drops: true }),
        ("expect_tx", Kind::Expect),
        ("complete_tx", Kind::Complete),
        ("test_wait", Kind::Test),
        ("try_wait", Kind::Try),
    ])?;
    match kind {
        Kind::Init => {
            let space = barrier_space(x, false)?;
            x.done(2)?;
            let place = place(x, 0, space)?;
            let count = x.source(1, U32)?;
            act(x, place, BarrierAction::Init { count })
        }
        Kind::Invalidate => {
            let space = barrier_space(x, false)?;
            x.done(1)?;
            let place = place(x, 0, space)?;
            act(x, place, BarrierAction::Invalidate)
        }
        Kind::Expect | Kind::Complete => {
            order(x, "relaxed")?;
            let space = barrier_space(x, true)?;
            x.done(2)?;
            let place = place(x, 0, space)?;
            let bytes = x.source(1, U32)?;
            let action = if let Kind::Expect = kind {
                BarrierAction::Expect { bytes }
            } else {
                BarrierAction::Complete { bytes }
            };
            act(x, place, action)
        }
        Kind::Arrive { drops } => arrive(x, drops),
        Kind::Test => test(x, false),
        Kind::Try => test(x, true),
    }
}

fn act(x: &mut Operation<'_, '_>, place: MemoryPlace, action: BarrierAction) -> Lowered {
    x.push(Op::Async(Async::Barrier { place, action }));
    Ok(())
}

/// Takes the modifiers for a barrier's type and state space; `is_far` allows barriers of other CTAs.
pub(super) fn barrier_space(x: &mut Operation<'_, '_>, is_far: bool) -> Lowered<Space> {
    if x.ty()? != B64 {
        return Err(x.wrong_type());
    }
    match space(x) {
        space @ (Space::Shared | Space::Generic) => Ok(space),
        Space::Cluster if is_far => Ok(Space::Cluster),
        Space::Cluster => Err(
            x.unsupported("only arrivals, and bytes that are expected or complete, take `.shared::cluster`")
        ),
        Space::Global | Space::Local | Space::Const | Space::Param | Space::Tensor => {
            Err(x.unsupported("a barrier is in `.shared`"))
        }
    }
}

/// Takes `.sem.scope`, by default `strong` and `.cta`.
fn order(x: &mut Operation<'_, '_>, strong: &str) -> Lowered<Strong> {
    let Some(orders) = x.choose(&[(strong, true), ("relaxed", false)]) else {
        return Ok(Strong { scope: Scope::Cta, orders: true });
    };
    let scope = x.require(&[("cta", Scope::Cta), ("cluster", Scope::Cluster)])?;
    Ok(Strong { scope, orders })
}

/// `mbarrier.arrive{_drop}{.expect_tx}{.noComplete}{.sem.scope}{.space}.b64 state, [addr]{, count}`
fn arrive(x: &mut Operation<'_, '_>, drops: bool) -> Lowered {
    let expects = x.flag("expect_tx");
    let completes = !x.flag("noComplete");
    let order = order(x, "release")?;
    let space = barrier_space(x, true)?;
    let operands = x.done_within(if expects || !completes { 3 } else { 2 }, 3)?;
    let place = place(x, 1, space)?;
    let operand = x.operand(0)?;
    let state = if let Operand::Sink(_) = operand { None } else { Some(x.destination(0, Width::W64)?) };
    let given = if operands == 3 { Some(x.source(2, U32)?) } else { None };
    let (count, bytes) = if expects { (Src::Imm(1), given) } else { (given.unwrap_or(Src::Imm(1)), None) };
    act(x, place, BarrierAction::Arrive { state, count, bytes, drops, order, completes })
}

/// `mbarrier.{test,try}_wait{.parity}{.sem.scope}{.space}.b64 p, [addr], phase{, suspendTimeHint}`
fn test(x: &mut Operation<'_, '_>, suspends: bool) -> Lowered {
    let parity = x.flag("parity");
    let order = order(x, "acquire")?;
    let space = barrier_space(x, false)?;
    let operands = x.done_within(3, if suspends { 4 } else { 3 })?;
    let place = place(x, 1, space)?;
    if operands == 4 {
        x.source(3, U32)?;
    }
    let operand = x.operand(0)?;
    let Some(p) = x.predicate_destination(operand)? else {
        return Err(x.expected("a predicate register", operand));
    };
    let phase = if parity { Phase::Parity(x.source(2, U32)?) } else { Phase::State(x.source(2, B64)?) };
    act(x, place, BarrierAction::Test { p, phase, order })
}
