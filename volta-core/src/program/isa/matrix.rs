//! Tensor cores: matrices that a warp holds collectively.

use super::memory::space;
use super::tensor_memory::tcgen05;
use super::warpgroup::wgmma;
use super::{Row, Types, row};
use crate::number::format::Format;
use crate::program::matrix::{Fragment, FragmentRole, MatrixElement, MatrixProduct, MatrixShape};
use crate::program::op::{Int, Op, RegId, Space, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::Type;

pub(super) const ROWS: &[Row] = &[
    row("ldmatrix", Types::Any, "Warp Level Matrix Instructions: ldmatrix", ldmatrix),
    row("stmatrix", Types::Any, "Warp Level Matrix Instructions: stmatrix", stmatrix),
    row("movmatrix", Types::Any, "Warp Level Matrix Instructions: movmatrix", movmatrix),
    row("mma", Types::Any, "Warp Level Matrix Instructions: mma", mma).computing_together(),
    row("wmma", Types::Any, "Warp Level Matrix Instructions: wmma", wmma),
    row("wgmma", Types::Any, "Asynchronous Warpgroup Level Matrix Instructions: wgmma", wgmma),
    row("tcgen05", Types::Any, "TensorCore 5th Generation Family Instructions: tcgen05", tcgen05),
];

pub(super) const F16: MatrixElement = MatrixElement::Float(Format::F16);
pub(super) const BF16: MatrixElement = MatrixElement::Float(Format::Bf16);
pub(super) const TF32: MatrixElement = MatrixElement::Float(Format::Tf32);
pub(super) const F32: MatrixElement = MatrixElement::Float(Format::F32);
const F64: MatrixElement = MatrixElement::Float(Format::F64);
pub(super) const E4M3: MatrixElement = MatrixElement::Float(Format::E4m3);
pub(super) const E5M2: MatrixElement = MatrixElement::Float(Format::E5m2);
pub(super) const S8: MatrixElement = MatrixElement::Int8 { signed: true };
pub(super) const U8: MatrixElement = MatrixElement::Int8 { signed: false };
pub(super) const S32: MatrixElement = MatrixElement::Int32;

pub(super) const ELEMENTS: [(&str, MatrixElement); 10] = [
    ("f16", F16),
    ("bf16", BF16),
    ("tf32", TF32),
    ("f32", F32),
    ("f64", F64),
    ("s8", S8),
    ("u8", U8),
    ("s32", S32),
    ("e4m3", E4M3),
    ("e5m2", E5M2),
];

const fn shape(m: u16, n: u16, k: u16) -> MatrixShape {
    MatrixShape { m, n, k }
}

/// Shapes of `mma.sync` and `wmma`, by name.
const SHAPES: [(&str, MatrixShape); 12] = [
    ("m16n8k4", shape(16, 8, 4)),
    ("m16n8k8", shape(16, 8, 8)),
    ("m16n8k16", shape(16, 8, 16)),
    ("m16n8k32", shape(16, 8, 32)),
    ("m8n8k4", shape(8, 8, 4)),
    ("m8n8k16", shape(8, 8, 16)),
    ("m16n16k16", shape(16, 16, 16)),
    ("m32n8k16", shape(32, 8, 16)),
    ("m8n32k16", shape(8, 32, 16)),
    ("m16n16k8", shape(16, 16, 8)),
    ("m8n8k32", shape(8, 8, 32)),
    ("m8n8k128", shape(8, 8, 128)),
];

/// Shapes of `mma.sync`, by element of A, with the fragments of `machine::group::fragment_layout`.
const MMA: [(MatrixElement, &[MatrixShape]); 6] = [
    (F16, &[shape(16, 8, 8), shape(16, 8, 16)]),
    (BF16, &[shape(16, 8, 8), shape(16, 8, 16)]),
    (TF32, &[shape(16, 8, 4), shape(16, 8, 8)]),
    (F64, &[shape(8, 8, 4), shape(16, 8, 4), shape(16, 8, 8), shape(16, 8, 16)]),
    (S8, &[shape(8, 8, 16), shape(16, 8, 16), shape(16, 8, 32)]),
    (U8, &[shape(8, 8, 16), shape(16, 8, 16), shape(16, 8, 32)]),
];

/// Shapes of `wmma`, by element.
const WMMA: [(MatrixElement, &[MatrixShape]); 6] = [
    (F16, &[shape(16, 16, 16), shape(32, 8, 16), shape(8, 32, 16)]),
    (BF16, &[shape(16, 16, 16), shape(32, 8, 16), shape(8, 32, 16)]),
    (TF32, &[shape(16, 16, 8)]),
    (F64, &[shape(8, 8, 4)]),
    (S8, &[shape(16, 16, 16), shape(32, 8, 16), shape(8, 32, 16)]),
    (U8, &[shape(16, 16, 16), shape(32, 8, 16), shape(8, 32, 16)]),
];

fn has(table: &[(MatrixElement, &[MatrixShape])], element: MatrixElement, shape: MatrixShape) -> bool {
    table.iter().any(|(known, shapes)| *known == element && shapes.contains(&shape))
}

/// Takes `.sync.aligned`.
pub(super) fn whole_warp(x: &mut Operation<'_, '_>) -> Lowered {
    x.require(&[("sync", ())])?;
    x.require(&[("aligned", ())])
}

/// The width of a matrix's registers: that of its elements, and at least 32 bits.
pub(super) fn register_width(element: MatrixElement) -> Width {
    if element.bytes() == 8 { Width::W64 } else { Width::W32 }
}

/// `count` destination registers.
pub(super) fn destinations(
    x: &mut Operation<'_, '_>,
    at: usize,
    width: Width,
    count: Option<usize>,
) -> Lowered<Vec<RegId>> {
    let operand = x.operand(at)?;
    let mut out = Vec::new();
    for element in x.elements(at)? {
        match x.element_destination(element, width, false)? {
            Some((register, _)) => out.push(register),
            None => return Err(x.expected("registers", operand)),
        }
    }
    if count.is_some_and(|count| count != out.len()) {
        return Err(x.expected("as many registers as the matrix takes", operand));
    }
    Ok(out)
}

/// `count` source registers or literals.
pub(super) fn sources(
    x: &mut Operation<'_, '_>,
    at: usize,
    width: Width,
    count: Option<usize>,
) -> Lowered<Vec<Src>> {
    let operand = x.operand(at)?;
    let mut out = Vec::new();
    for element in x.elements(at)? {
        out.push(x.element_source(element, Type::Bits(width), false)?);
    }
    if count.is_some_and(|count| count != out.len()) {
        return Err(x.expected("as many registers as the matrix takes", operand));
    }
    Ok(out)
}

const MATRIX_COUNTS: [(&str, usize); 3] = [("x1", 1), ("x2", 2), ("x4", 4)];

fn eight_by_eight(x: &mut Operation<'_, '_>) -> Lowered {
    x.require(&[("m8n8", ())])?;
    x.require(&[("b16", ())])
}

fn ldmatrix(x: &mut Operation<'_, '_>) -> Lowered {
    whole_warp(x)?;
    let count = x.require(&MATRIX_COUNTS)?;
    let transposed = x.flag("trans");
    let space = space(x);
    eight_by_eight(x)?;
    x.done(2)?;
    let d = destinations(x, 0, Width::W32, Some(count))?;
    let (address, space) = x.address(1, space)?;
    x.push(Op::LoadMatrix { space, address, transposed, d });
    Ok(())
}

fn stmatrix(x: &mut Operation<'_, '_>) -> Lowered {
    whole_warp(x)?;
    let count = x.require(&MATRIX_COUNTS)?;
    let transposed = x.flag("trans");
    let space = space(x);
    eight_by_eight(x)?;
    x.done(2)?;
    let (address, space) = x.address(0, space)?;
    let a = sources(x, 1, Width::W32, Some(count))?;
    x.push(Op::StoreMatrix { space, address, transposed, a });
    Ok(())
}

fn movmatrix(x: &mut Operation<'_, '_>) -> Lowered {
    whole_warp(x)?;
    if !x.flag("trans") {
        return Err(x.unsupported("it needs `.trans`"));
    }
    eight_by_eight(x)?;
    x.done(2)?;
    let d = x.destination(0, Width::W32)?;
    let a = x.source(1, Type::Bits(Width::W32))?;
    x.push(Op::TransposeMatrix { d, a });
    Ok(())
}

/// Number of registers in a lane that hold `rows × columns` elements.
pub(super) fn registers(element: MatrixElement, rows: u16, columns: u16) -> usize {
    let bytes = usize::from(rows) * usize::from(columns) * element.bytes() as usize;
    bytes / (32 * register_width(element).bytes() as usize)
}

fn accumulates(a: MatrixElement, c: MatrixElement) -> bool {
    match a {
        MatrixElement::Float(Format::F16) => matches!(c, F16 | F32),
        MatrixElement::Float(Format::F64) => c == F64,
        MatrixElement::Float(_) => c == F32,
        MatrixElement::Int8 { .. } => c == S32,
        MatrixElement::Int32 => false,
    }
}

fn mma(x: &mut Operation<'_, '_>) -> Lowered {
    whole_warp(x)?;
    let shape = x.require(&SHAPES)?;
    let rows_by_columns = x.flag("row") && x.flag("col");
    let d = x.require(&ELEMENTS)?;
    let a = x.require(&ELEMENTS)?;
    let b = x.require(&ELEMENTS)?;
    let c = x.require(&ELEMENTS)?;
    x.choose(&[("rn", ()), ("rz", ()), ("rm", ()), ("rp", ())]);
    let saturate = a.is_integer() && x.flag("satfinite");
    x.done(4)?;
    let mixed = matches!((a, b), (MatrixElement::Int8 { .. }, MatrixElement::Int8 { .. }));
    if !rows_by_columns
        || !has(&MMA, a, shape)
        || !(a == b || mixed)
        || !accumulates(a, c)
        || !accumulates(a, d)
    {
        return Err(x.unsupported("this combination of shape, layout and types is not"));
    }
    let product = MatrixProduct { shape, a, b, c, d, saturate };
    let op = Op::Mma {
        product,
        d: destinations(x, 0, register_width(d), Some(registers(d, shape.m, shape.n)))?,
        a: sources(x, 1, register_width(a), Some(registers(a, shape.m, shape.k)))?,
        b: sources(x, 2, register_width(b), Some(registers(b, shape.k, shape.n)))?,
        c: sources(x, 3, register_width(c), Some(registers(c, shape.m, shape.n)))?,
    };
    x.push(op);
    Ok(())
}

const MAJOR: [(&str, bool); 2] = [("row", false), ("col", true)];

fn wmma(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("mma") {
        return wmma_mma(x);
    }
    let load = x.flag("load");
    if !load {
        x.require(&[("store", ())])?;
    }
    let role = x.require(&[
        ("a", FragmentRole::A),
        ("b", FragmentRole::B),
        ("c", FragmentRole::Accumulator),
        ("d", FragmentRole::Accumulator),
    ])?;
    whole_warp(x)?;
    let column_major = x.require(&MAJOR)?;
    let shape = x.require(&SHAPES)?;
    let space = space(x);
    let element = x.require(&ELEMENTS)?;
    let operands = x.done_within(2, 3)?;
    let known = match role {
        FragmentRole::Accumulator => {
            WMMA.iter().any(|(factor, shapes)| accumulates(*factor, element) && shapes.contains(&shape))
        }
        FragmentRole::A | FragmentRole::B => has(&WMMA, element, shape),
    };
    if !known {
        return Err(x.unsupported("this combination of shape and type is not"));
    }
    let fragment = Fragment { role, shape, element };
    let width = register_width(element);
    let stride = match operands {
        3 => Some(x.source(2, Type::Int(Int { width: Width::W32, signed: true }))?),
        _ => None,
    };
    let (at, values) = if load { (1, 0) } else { (0, 1) };
    let (address, space) = x.address(at, space)?;
    if matches!(space, Space::Local | Space::Param | Space::Const) {
        return Err(x.unsupported("matrices are in shared or global memory"));
    }
    if load {
        let d = destinations(x, values, width, None)?;
        x.push(Op::LoadFragment { fragment, column_major, space, address, stride, d });
    } else {
        let a = sources(x, values, width, None)?;
        x.push(Op::StoreFragment { fragment, column_major, space, address, stride, a });
    }
    Ok(())
}

fn wmma_mma(x: &mut Operation<'_, '_>) -> Lowered {
    whole_warp(x)?;
    let column_major = [x.require(&MAJOR)?, x.require(&MAJOR)?];
    let shape = x.require(&SHAPES)?;
    let first = x.require(&ELEMENTS)?;
    let second = x.require(&ELEMENTS)?;
    // `.d.c` for factors in f16, else `.d.a.b.c`.
    let (d, a, b, c) = match x.choose(&ELEMENTS) {
        None => (first, F16, F16, second),
        Some(b) => (first, second, b, x.require(&ELEMENTS)?),
    };
    x.choose(&[("rn", ()), ("rz", ()), ("rm", ()), ("rp", ())]);
    let saturate = a.is_integer() && x.flag("satfinite");
    x.done(4)?;
    if !has(&WMMA, a, shape) || a != b || !accumulates(a, c) || !accumulates(a, d) {
        return Err(x.unsupported("this combination of shape and types is not"));
    }
    let product = MatrixProduct { shape, a, b, c, d, saturate };
    let op = Op::MultiplyFragments {
        product,
        column_major,
        d: destinations(x, 0, register_width(d), None)?,
        a: sources(x, 1, register_width(a), None)?,
        b: sources(x, 2, register_width(b), None)?,
        c: sources(x, 3, register_width(c), None)?,
    };
    x.push(op);
    Ok(())
}
