//! Asynchronous copies (rules Y6, Y11).

use super::memory::space;
use super::{Row, Types, row};
use crate::number::format::Format;
use crate::program::asynchronous::{Async, BarrierAction, BulkWrite, Far, Groups, MemoryPlace};
use crate::program::op::{Int, Int2, Op, Space, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::Type;
use crate::ptx::tree::{Literal, LiteralValue, Operand};

pub(super) const ROWS: &[Row] =
    &[row("cp", Types::Any, "Data Movement and Conversion Instructions: Asynchronous copy", cp)];

const U32: Type = Type::Int(Int { width: Width::W32, signed: false });

fn cp(x: &mut Operation<'_, '_>) -> Lowered {
    let reduces = x.flag("reduce");
    if !x.flag("async") {
        return Err(x.unsupported("only asynchronous copies are"));
    }
    let bulk = x.flag("bulk");
    if reduces {
        return if bulk { bulk_copy(x, true) } else { Err(x.unsupported("only bulk copies update")) };
    }
    let groups = if bulk { Groups::Bulk } else { Groups::Plain };
    if x.flag("commit_group") {
        x.done(0)?;
        x.push(Op::Async(Async::Commit { groups }));
        return Ok(());
    }
    if !bulk && x.flag("wait_all") {
        x.done(0)?;
        x.push(Op::Async(Async::Wait { groups, pending: None, reads: false }));
        return Ok(());
    }
    if x.flag("wait_group") {
        let reads = bulk && x.flag("read");
        x.done(1)?;
        let pending = constant(x, 0)?;
        x.push(Op::Async(Async::Wait { groups, pending: Some(pending), reads }));
        return Ok(());
    }
    if !bulk && x.flag("mbarrier") {
        return arrive(x);
    }
    if !bulk {
        return copy(x);
    }
    if x.flag("prefetch") { prefetch(x) } else { bulk_copy(x, false) }
}

/// `cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64 [addr]`
fn arrive(x: &mut Operation<'_, '_>) -> Lowered {
    x.require(&[("arrive", ())])?;
    let counted = x.flag("noinc");
    let space = super::mbarrier::barrier_space(x, false)?;
    x.done(1)?;
    let place = place(x, 0, space)?;
    let action = BarrierAction::ArriveAfterCopies { counted };
    x.push(Op::Async(Async::Barrier { place, action }));
    Ok(())
}

/// The number of dimensions of a tile, if a bulk copy transfers one.
fn tile(x: &mut Operation<'_, '_>) -> Lowered<Option<usize>> {
    let modes =
        ["im2col", "im2col_no_offs", "im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4"];
    if modes.into_iter().any(|mode| x.flag(mode)) {
        return Err(x.unsupported("only tiles are"));
    }
    if !x.flag("tensor") {
        return Ok(None);
    }
    let dimensions = x.require(&DIMENSIONS)?;
    x.flag("tile");
    Ok(Some(dimensions))
}

/// `cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [from], bytes{, policy}`,
/// `cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.L2::cache_hint} [map, {coordinates}]{, policy}`
fn prefetch(x: &mut Operation<'_, '_>) -> Lowered {
    let dimensions = tile(x)?;
    x.require(&[("L2", ())])?;
    if space(x) != Space::Global {
        return Err(x.unsupported("it prefetches from `.global`"));
    }
    let hint = x.flag("L2::cache_hint");
    let operands = if dimensions.is_some() { 1 } else { 2 };
    x.done(operands + usize::from(hint))?;
    if hint {
        x.source(operands, Type::Bits(Width::W64))?;
    }
    let from = far(x, (0, 1), dimensions)?;
    x.push(Op::Async(Async::Prefetch { from }));
    Ok(())
}

/// `cp.async.bulk.dst.src.completion{.multicast}{.L2::cache_hint}{.cp_mask} [to], [from], bytes{, [barrier]}{, ctas}{,
/// policy}{, mask}`,
/// `cp.async.bulk.tensor.dim.dst.src{.tile}.completion{.multicast}{.L2::cache_hint} [to], [map, {coordinates}]{, [barrier]}{,
/// ctas}{, policy}`, and for `cp.reduce` those that reduce (`.op.type`, for tensors `.op`)
fn bulk_copy(x: &mut Operation<'_, '_>, reduces: bool) -> Lowered {
    let dimensions = tile(x)?;
    let mut group = None;
    if dimensions.is_some() {
        group = x.choose(&[("cta_group::1", false), ("cta_group::2", true)]);
    }
    let op = if reduces { Some(super::atomic::operation(x)?) } else { None };
    let (target, source) = (space(x), space(x));
    let multicast = x.flag("multicast::cluster");
    let hint = x.flag("L2::cache_hint");
    if multicast && (target, source) != (Space::Cluster, Space::Global) {
        return Err(x.unsupported("copies to several CTAs are from `.global` to `.shared::cluster`"));
    }
    let is_masked = !reduces && dimensions.is_none() && x.flag("cp_mask");
    if is_masked && (target, source) != (Space::Global, Space::Shared) {
        return Err(x.unsupported("a mask of bytes is for copies from `.shared::cta` to `.global`"));
    }
    let mut update = None;
    if let (Some(op), None) = (op, dimensions) {
        let flushes = !x.flag("noftz");
        let ty = x.ty()?;
        let takes_noftz = op == Int2::Add && matches!(ty, Type::Float(Format::F16 | Format::Bf16));
        if takes_noftz == flushes {
            return Err(x.unsupported("only sums of halves take `.noftz`"));
        }
        update = Some(super::atomic::bulk_update(x, op, ty, target == Space::Cluster)?);
    }
    // The size is a separate operand.
    let operands = if dimensions.is_some() { 2 } else { 3 };
    match (target, source) {
        (Space::Shared | Space::Cluster, Space::Global) if !reduces => {
            x.require(&[("mbarrier::complete_tx::bytes", ())])?;
            let others = operands + 1 + usize::from(multicast);
            x.done(others + usize::from(hint))?;
            if hint {
                x.source(others, Type::Bits(Width::W64))?;
            }
            let ctas = if multicast { Some(x.source(operands + 1, Type::Bits(Width::W16))?) } else { None };
            let (to, from) = (place(x, 0, target)?, far(x, (1, 2), dimensions)?);
            let barrier = place(x, operands, target)?;
            let pair = group.unwrap_or(false);
            x.push(Op::Async(Async::BulkLoad { to, from, barrier, ctas, pair, update: None }));
        }
        (Space::Global, Space::Shared) if group.is_some() => {
            return Err(x.unsupported("`.cta_group` is for copies that complete on a barrier"));
        }
        (Space::Global, Space::Shared) => {
            x.require(&[("bulk_group", ())])?;
            let others = operands + usize::from(hint);
            x.done(others + usize::from(is_masked))?;
            if hint {
                x.source(operands, Type::Bits(Width::W64))?;
            }
            let (to, from) = (far(x, (0, 2), dimensions)?, place(x, 1, source)?);
            let write = match (update, op) {
                (Some(update), _) => BulkWrite::Updates(update),
                (None, Some(op)) => BulkWrite::UpdatesElements(op),
                (None, None) if is_masked => BulkWrite::Masked(x.source(others, Type::Bits(Width::W16))?),
                (None, None) => BulkWrite::All,
            };
            x.push(Op::Async(Async::BulkStore { to, from, write }));
        }
        (Space::Cluster, Space::Shared) if dimensions.is_none() => {
            x.require(&[("mbarrier::complete_tx::bytes", ())])?;
            x.done(operands + 1)?;
            let (to, at) = (place(x, 0, target)?, place(x, 1, source)?);
            let (count, barrier) = (x.source(2, U32)?, place(x, operands, target)?);
            let from = Far::Bytes { at, count };
            x.push(Op::Async(Async::BulkLoad { to, from, barrier, ctas: None, pair: false, update }));
        }
        _ => return Err(x.unsupported("it copies between `.global` and `.shared`")),
    }
    Ok(())
}

const DIMENSIONS: [(&str, usize); 5] = [("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)];

/// The operand in global memory: bytes, with an operand for their number, or a tile with this many dimensions.
fn far(x: &mut Operation<'_, '_>, (at, count): (usize, usize), dimensions: Option<usize>) -> Lowered<Far> {
    let Some(dimensions) = dimensions else {
        return Ok(Far::Bytes { at: place(x, at, Space::Global)?, count: x.source(count, U32)? });
    };
    let (address, space, at) = x.coordinates(at, Space::Generic, dimensions)?;
    Ok(Far::Tile { map: MemoryPlace { space, address }, at })
}

pub(super) fn place(x: &mut Operation<'_, '_>, at: usize, space: Space) -> Lowered<MemoryPlace> {
    let (address, space) = x.address(at, space)?;
    Ok(MemoryPlace { space, address })
}

/// A literal, as a small number.
pub(super) fn constant(x: &Operation<'_, '_>, at: usize) -> Lowered<u32> {
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
    x.push(Op::Async(Async::Copy { to, from, bytes, size, ignore }));
    Ok(())
}
