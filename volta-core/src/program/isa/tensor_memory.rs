//! Tensor memory, and products into it (`tcgen05`, rule Y14).

use super::copy::{constant, place};
use super::matrix::{destinations, sources, whole_warp};
use super::memory::space;
use crate::program::asynchronous::{Adds, Async, BarrierAction, Factor};
use crate::program::op::{Address, Int, Op, Space, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::tensor_memory::{
    CopiedLanes, CopiedShape, LeftFactor, Moved, MovedShape, ProductKind, Scales, TensorMemoryOp,
    TensorProduct,
};
use crate::program::types::Type;
use crate::ptx::tree::Operand;

const U32: Type = Type::Int(Int { width: Width::W32, signed: false });
const B32: Type = Type::Bits(Width::W32);
const B64: Type = Type::Bits(Width::W64);

/// Variants that are named but not supported.
const NOT_YET: [(&str, &str); 4] = [
    ("shift", "shifts of tensor memory are not supported: the ISA does not say which lanes move where"),
    ("sp", "sparse factors are not supported yet"),
    ("ws", "products with a stationary right factor are not supported yet"),
    ("red", "loads that reduce are not supported yet"),
];

pub(super) fn tcgen05(x: &mut Operation<'_, '_>) -> Lowered {
    for (modifier, why) in NOT_YET {
        if x.flag(modifier) {
            return Err(x.unsupported(why));
        }
    }
    #[derive(Clone, Copy)]
    enum Kind {
        Allocate,
        Free,
        Relinquish,
        Load,
        Store,
        Wait { loads: bool },
        Fence { before: bool },
        Commit,
        Copy,
        Multiply,
    }
    let kind = x.require(&[
        ("alloc", Kind::Allocate),
        ("dealloc", Kind::Free),
        ("relinquish_alloc_permit", Kind::Relinquish),
        ("ld", Kind::Load),
        ("st", Kind::Store),
        ("wait::ld", Kind::Wait { loads: true }),
        ("wait::st", Kind::Wait { loads: false }),
        ("fence::before_thread_sync", Kind::Fence { before: true }),
        ("fence::after_thread_sync", Kind::Fence { before: false }),
        ("commit", Kind::Commit),
        ("cp", Kind::Copy),
        ("mma", Kind::Multiply),
    ])?;
    let operation = match kind {
        Kind::Allocate => {
            let pair = is_of_pair(x)?;
            whole_warp(x)?;
            let space = space(x);
            x.require(&[("b32", ())])?;
            x.done(2)?;
            TensorMemoryOp::Allocate { to: place(x, 0, space)?, columns: x.source(1, U32)?, pair }
        }
        Kind::Free => {
            let pair = is_of_pair(x)?;
            whole_warp(x)?;
            x.require(&[("b32", ())])?;
            x.done(2)?;
            TensorMemoryOp::Free { address: x.source(0, B32)?, columns: x.source(1, U32)?, pair }
        }
        Kind::Relinquish => {
            let pair = is_of_pair(x)?;
            whole_warp(x)?;
            x.done(0)?;
            TensorMemoryOp::Relinquish { pair }
        }
        Kind::Wait { loads } => {
            whole_warp(x)?;
            x.done(0)?;
            TensorMemoryOp::Wait { loads }
        }
        Kind::Fence { before } => {
            x.done(0)?;
            TensorMemoryOp::Fence { before }
        }
        Kind::Load => moved(x, true)?,
        Kind::Store => moved(x, false)?,
        Kind::Commit => return commit(x),
        Kind::Copy => copy(x)?,
        Kind::Multiply => product(x)?,
    };
    x.push(Op::Async(Async::Tensor(operation)));
    Ok(())
}

/// Whether it is an operation of a pair of CTAs.
fn is_of_pair(x: &mut Operation<'_, '_>) -> Lowered<bool> {
    x.require(&[("cta_group::1", false), ("cta_group::2", true)])
}

/// `[taddr]`, an address of tensor memory.
fn tensor_address(x: &mut Operation<'_, '_>, at: usize) -> Lowered<Address> {
    Ok(x.address(at, Space::Tensor)?.0)
}

/// `tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32 r, [taddr]{, half}`,
/// `tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32 [taddr]{, half}, r`
fn moved(x: &mut Operation<'_, '_>, loads: bool) -> Lowered<TensorMemoryOp> {
    const COUNTS: [(&str, u32); 8] =
        [("x1", 1), ("x2", 2), ("x4", 4), ("x8", 8), ("x16", 16), ("x32", 32), ("x64", 64), ("x128", 128)];
    whole_warp(x)?;
    let shape = x.require(&[
        ("32x32b", MovedShape::Lanes32),
        ("16x64b", MovedShape::Bits64),
        ("16x128b", MovedShape::Bits128),
        ("16x256b", MovedShape::Bits256),
        ("16x32bx2", MovedShape::Halves(0)),
    ])?;
    let registers = shape.registers() * x.require(&COUNTS)?;
    if registers > 128 {
        return Err(x.unsupported("this combination of a shape and a number is not"));
    }
    let packed = x.flag(if loads { "pack::16b" } else { "unpack::16b" });
    x.require(&[("b32", ())])?;
    let halves = matches!(shape, MovedShape::Halves(_));
    x.done(if halves { 3 } else { 2 })?;
    let shape = if halves { MovedShape::Halves(constant(x, if loads { 2 } else { 1 })?) } else { shape };
    let count = Some(registers as usize);
    if loads {
        let d = destinations(x, 0, Width::W32, count)?;
        Ok(TensorMemoryOp::Load { d, from: Moved { address: tensor_address(x, 1)?, shape, packed } })
    } else {
        let a = sources(x, if halves { 2 } else { 1 }, Width::W32, count)?;
        Ok(TensorMemoryOp::Store { to: Moved { address: tensor_address(x, 0)?, shape, packed }, a })
    }
}

/// `tcgen05.commit.cta_group.mbarrier::arrive::one{.shared::cluster}{.multicast::cluster}.b64 [mbar]{, ctas}`
fn commit(x: &mut Operation<'_, '_>) -> Lowered {
    let pair = is_of_pair(x)?;
    x.require(&[("mbarrier::arrive::one", ())])?;
    let to_several = x.flag("multicast::cluster");
    let space = super::mbarrier::barrier_space(x, true)?;
    x.done(if to_several { 2 } else { 1 })?;
    let place = place(x, 0, space)?;
    let ctas = if to_several { Some(x.source(1, Type::Bits(Width::W16))?) } else { None };
    x.push(Op::Async(Async::Barrier { place, action: BarrierAction::ArriveAfterProducts { ctas, pair } }));
    Ok(())
}

/// `tcgen05.mma.cta_group.kind{.collector::a::op} [d], a, b-desc, idesc{, {lanes}}, enable-input-d{, scale-input-d}`
fn product(x: &mut Operation<'_, '_>) -> Lowered<TensorMemoryOp> {
    let pair = is_of_pair(x)?;
    if x.flag("ashift") {
        return Err(x.unsupported("shifted left factors are not supported yet"));
    }
    let (kind, needs_size) = x.require(&[
        ("kind::f16", (ProductKind::Half, false)),
        ("kind::tf32", (ProductKind::Tf32, false)),
        ("kind::f8f6f4", (ProductKind::Narrow, false)),
        ("kind::i8", (ProductKind::Integer, false)),
        ("kind::mxf8f6f4", (ProductKind::ScaledNarrow, false)),
        ("kind::mxf4", (ProductKind::ScaledFour, false)),
        ("kind::mxf4nvf4", (ProductKind::ScaledFour, true)),
    ])?;
    let blocks = match kind {
        ProductKind::Half | ProductKind::Tf32 | ProductKind::Narrow | ProductKind::Integer => None,
        ProductKind::ScaledNarrow => Some(blocks(x, &[("scale_vec::1X", 1), ("block32", 1)], Some(1))?),
        ProductKind::ScaledFour if needs_size => {
            let sizes = [("scale_vec::2X", 2), ("block32", 2), ("scale_vec::4X", 4), ("block16", 4)];
            Some(blocks(x, &sizes, None)?)
        }
        ProductKind::ScaledFour => Some(blocks(x, &[("scale_vec::2X", 2), ("block32", 2)], Some(2))?),
    };
    // Hints for reusing A between products; A must not change until they are complete.
    x.choose(&[
        ("collector::a::fill", ()),
        ("collector::a::use", ()),
        ("collector::a::lastuse", ()),
        ("collector::a::discard", ()),
    ]);
    let operands = if blocks.is_some() {
        x.done(7)?;
        7
    } else {
        x.done_within(5, 7)?
    };
    let d = tensor_address(x, 0)?;
    let a = if let Operand::Address { .. } = x.operand(1)? {
        LeftFactor::Tensor(tensor_address(x, 1)?)
    } else {
        LeftFactor::Shared(Factor::Shared { descriptor: x.source(1, B64)?, k_major: true, of: None })
    };
    let b = Factor::Shared { descriptor: x.source(2, B64)?, k_major: true, of: None };
    let descriptor = x.source(3, B32)?;
    let (scales, left_out, at) = if let Some(blocks) = blocks {
        let scales = Scales { a: tensor_address(x, 4)?, b: tensor_address(x, 5)?, blocks };
        (Some(scales), Vec::new(), 6)
    } else if operands > 5 && x.is_vector(4)? {
        let words = if pair { 8 } else { 4 };
        (None, sources(x, 4, Width::W32, Some(words))?, 5)
    } else {
        (None, Vec::new(), 4)
    };
    if operands > at + 1 {
        return Err(x.unsupported("scaled accumulators are not supported yet"));
    }
    let adds = Adds::If(x.predicate(at)?);
    let product = TensorProduct { kind, pair, d, a, b, descriptor, scales, left_out, adds };
    Ok(TensorMemoryOp::Multiply(Box::new(product)))
}

/// `.block_scale{.scale_vectorsize}`: the number of scales of a row.
fn blocks(x: &mut Operation<'_, '_>, sizes: &[(&'static str, u32)], default: Option<u32>) -> Lowered<u32> {
    x.require(&[("block_scale", ())])?;
    match (x.choose(sizes), default) {
        (Some(blocks), _) | (None, Some(blocks)) => Ok(blocks),
        (None, None) => x.require(sizes),
    }
}

/// `tcgen05.cp.cta_group.shape{.multicast}{.dst_fmt.src_fmt} [taddr], s-desc`
fn copy(x: &mut Operation<'_, '_>) -> Lowered<TensorMemoryOp> {
    for (modifier, why) in [
        ("4x256b", "copies to four lanes are not supported yet"),
        ("b8x16", "copies that unpack elements are not supported yet"),
    ] {
        if x.flag(modifier) {
            return Err(x.unsupported(why));
        }
    }
    if is_of_pair(x)? {
        return Err(x.unsupported("copies to the tensor memory of two CTAs are not supported yet"));
    }
    let to = |lanes, columns| CopiedShape { lanes, columns };
    let mut shape = x.require(&[
        ("128x256b", to(CopiedLanes::All, 8)),
        ("128x128b", to(CopiedLanes::All, 4)),
        ("64x128b", to(CopiedLanes::Halves, 4)),
        ("32x128b", to(CopiedLanes::Quarters, 4)),
    ])?;
    match shape.lanes {
        CopiedLanes::All => {}
        CopiedLanes::Alternating | CopiedLanes::Halves => {
            shape.lanes = x.require(&[
                ("warpx2::02_13", CopiedLanes::Alternating),
                ("warpx2::01_23", CopiedLanes::Halves),
            ])?;
        }
        CopiedLanes::Quarters => x.require(&[("warpx4", ())])?,
    }
    x.done(2)?;
    let from = Factor::Shared { descriptor: x.source(1, B64)?, k_major: true, of: None };
    Ok(TensorMemoryOp::Copy { to: tensor_address(x, 0)?, from, shape })
}
