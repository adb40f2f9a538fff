//! Matrix products by a warpgroup, four consecutive warps (rule Y12).

use super::copy::constant;
use super::matrix::{
    BF16, E4M3, E5M2, ELEMENTS, F16, F32, S8, S32, TF32, U8, destinations, registers, sources, whole_warp,
};
use crate::program::asynchronous::{Adds, Async, Factor, Groups, WarpgroupProduct};
use crate::program::matrix::{MatrixElement, MatrixProduct, MatrixShape};
use crate::program::op::{Op, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::Type;
use crate::ptx::tree::{Literal, LiteralValue, Operand};

/// Rows of a product: 16 for each warp.
const ROWS: u16 = 64;

/// A combination of element types.
struct Kind {
    /// Of A and of B.
    factors: &'static [MatrixElement],
    /// Of the result.
    results: &'static [MatrixElement],
    /// Whether elements that are contiguous in memory may be contiguous in m or n.
    transposes: bool,
}

const KINDS: [Kind; 5] = [
    Kind { factors: &[F16], results: &[F16, F32], transposes: true },
    Kind { factors: &[BF16], results: &[F32], transposes: true },
    Kind { factors: &[TF32], results: &[F32], transposes: false },
    Kind { factors: &[E4M3, E5M2], results: &[F16, F32], transposes: false },
    Kind { factors: &[S8, U8], results: &[S32], transposes: false },
];

pub(super) fn wgmma(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("fence") {
        whole_warp(x)?;
        x.done(0)?;
        x.push(Op::Async(Async::FenceRegisters));
        return Ok(());
    }
    let groups = Groups::Products;
    if x.flag("commit_group") {
        whole_warp(x)?;
        x.done(0)?;
        x.push(Op::Async(Async::Commit { groups }));
        return Ok(());
    }
    if x.flag("wait_group") {
        whole_warp(x)?;
        x.done(1)?;
        let pending = Some(constant(x, 0)?);
        x.push(Op::Async(Async::Wait { groups, pending, reads: false }));
        return Ok(());
    }
    if !x.flag("mma_async") {
        return Err(x.unsupported("it needs one of `.mma_async`, `.fence`, `.commit_group`, `.wait_group`"));
    }
    product(x)
}

/// `wgmma.mma_async.sync.aligned.shape.d.a.b d, a, b, scale-d{, scale-a, scale-b{, {trans-a, }trans-b}}`; for integers,
/// `wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.a.b d, a, b, scale-d`
fn product(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("sp") {
        return Err(x.unsupported("sparse factors are not supported yet"));
    }
    whole_warp(x)?;
    let Some((n, k)) = x.take(shape) else { return Err(x.unsupported("it needs a shape `.m64n…k…`")) };
    let (d, a, b) = (x.require(&ELEMENTS)?, x.require(&ELEMENTS)?, x.require(&ELEMENTS)?);
    let kind = KINDS.iter().find(|kind| kind.factors.contains(&a) && kind.factors.contains(&b));
    let Some(kind) = kind.filter(|kind| kind.results.contains(&d)) else {
        return Err(x.unsupported("this combination of types is not"));
    };
    let saturate = d.is_integer() && x.flag("satfinite");
    // Integers have fewer shapes. A row of a factor has 32 bytes.
    let is_width = n.is_multiple_of(if d.is_integer() { 16 } else { 8 }) || matches!(n, 8 | 24);
    if n == 0 || n > 256 || !is_width || u32::from(k) * a.bytes() != 32 {
        return Err(x.unsupported("this combination of shape and types is not"));
    }
    x.done_within(4, 8)?;
    let left_in_registers = x.is_vector(1)?;
    let transpositions = match (kind.transposes, left_in_registers) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 2,
    };
    let signs = if d.is_integer() { 0 } else { 2 };
    x.done(4 + signs + transpositions)?;
    let shape = MatrixShape { m: ROWS, n, k };
    let (rows, width) = (ROWS / 4, Width::W32);
    let operand = x.operand(3)?;
    let adds = if let Operand::Literal(Literal { value: LiteralValue::Integer(value), .. }) = operand {
        Adds::Known(*value != 0)
    } else {
        Adds::If(x.predicate(3)?)
    };
    let negates = signs == 2 && sign(x, 4)? != sign(x, 5)?;
    let (left, right) = match transpositions {
        0 => (false, false),
        1 => (false, constant(x, 6)? != 0),
        _ => (constant(x, 6)? != 0, constant(x, 7)? != 0),
    };
    let descriptor = |x: &mut Operation<'_, '_>, at, transposed: bool| -> Lowered<Factor> {
        Ok(Factor::Shared {
            descriptor: x.source(at, Type::Bits(Width::W64))?,
            k_major: !transposed,
            of: None,
        })
    };
    let operation = WarpgroupProduct {
        product: MatrixProduct { shape, a, b, c: d, d, saturate },
        d: destinations(x, 0, width, Some(registers(d, rows, n)))?,
        a: if left_in_registers {
            Factor::Registers(sources(x, 1, width, Some(registers(a, rows, k)))?)
        } else {
            descriptor(x, 1, left)?
        },
        b: descriptor(x, 2, right)?,
        adds,
        negates,
    };
    x.push(Op::Async(Async::Multiply(Box::new(operation))));
    Ok(())
}

/// Whether a factor is negated: 1 or -1.
fn sign(x: &Operation<'_, '_>, at: usize) -> Lowered<bool> {
    let operand = x.operand(at)?;
    if let Operand::Literal(Literal { value: LiteralValue::Integer(value), .. }) = operand {
        match value.cast_signed() {
            1 => return Ok(false),
            -1 => return Ok(true),
            _ => {}
        }
    }
    Err(x.expected("1 or -1", operand))
}

/// `m64n128k16`: columns of B and columns of A.
fn shape(modifier: &str) -> Option<(u16, u16)> {
    let (n, k) = modifier.strip_prefix("m64n")?.split_once('k')?;
    Some((n.parse().ok()?, k.parse().ok()?))
}
