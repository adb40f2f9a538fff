//! Float arithmetic: one value, or two side by side in a register.
//!
//! Rounding modes, `.ftz`, `.approx` and `.full` are kept for known values (rule V10); over the reals they have no
//! meaning, and nor has `.NaN` (rule V2).

use super::{Row, Types, row};
use crate::number::format::{Format, Rounding};
use crate::program::op::{Clamp, Compare, Float1, Float2, FloatCompare, Op, Precision, RegId, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::{Type, float_width};

pub(super) const ROWS: &[Row] = &[
    row("add", Types::Float, "Floating-Point Instructions: add", add).computing(),
    row("sub", Types::Float, "Floating-Point Instructions: sub", sub).computing(),
    row("mul", Types::Float, "Floating-Point Instructions: mul", mul).computing(),
    row("fma", Types::Float, "Floating-Point Instructions: fma", fma).computing(),
    row("mad", Types::Float, "Floating-Point Instructions: mad", mad).computing(),
    row("div", Types::Float, "Floating-Point Instructions: div", div).computing(),
    row("neg", Types::Float, "Floating-Point Instructions: neg", neg).computing(),
    row("abs", Types::Float, "Floating-Point Instructions: abs", abs).computing(),
    row("min", Types::Float, "Floating-Point Instructions: min", min).computing(),
    row("max", Types::Float, "Floating-Point Instructions: max", max).computing(),
    row("rcp", Types::Float, "Floating-Point Instructions: rcp", rcp).computing(),
    row("sqrt", Types::Float, "Floating-Point Instructions: sqrt", sqrt).computing(),
    row("rsqrt", Types::Float, "Floating-Point Instructions: rsqrt", rsqrt).computing(),
    row("sin", Types::Float, "Floating-Point Instructions: sin", sin).computing(),
    row("cos", Types::Float, "Floating-Point Instructions: cos", cos).computing(),
    row("lg2", Types::Float, "Floating-Point Instructions: lg2", lg2).computing(),
    row("ex2", Types::Float, "Floating-Point Instructions: ex2", ex2).computing(),
    row("tanh", Types::Float, "Floating-Point Instructions: tanh", tanh).computing(),
    row("copysign", Types::Float, "Floating-Point Instructions: copysign", copysign).computing(),
    row("testp", Types::Float, "Floating-Point Instructions: testp", testp).computing(),
];

/// The float type of an arithmetic instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Floats {
    format: Format,
    pair: bool,
}

impl Floats {
    fn ty(self) -> Type {
        if self.pair { Type::FloatPair(self.format) } else { Type::Float(self.format) }
    }

    fn half(self) -> bool {
        matches!(self.format, Format::F16 | Format::Bf16)
    }

    fn is(self, format: Format) -> bool {
        self.format == format
    }

    /// One `f32` or `f64`.
    fn single(self) -> bool {
        !self.pair && !self.half()
    }
}

/// `.f16 .f16x2 .bf16 .bf16x2 .f32 .f32x2 .f64`.
fn floats(x: &mut Operation<'_, '_>) -> Lowered<Floats> {
    match x.ty()? {
        Type::Float(format @ (Format::F16 | Format::Bf16 | Format::F32 | Format::F64)) => {
            Ok(Floats { format, pair: false })
        }
        Type::FloatPair(format @ (Format::F16 | Format::Bf16 | Format::F32)) => {
            Ok(Floats { format, pair: true })
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

const ROUNDINGS: [(&str, Rounding); 4] =
    [("rn", Rounding::Nearest), ("rz", Rounding::Zero), ("rm", Rounding::Down), ("rp", Rounding::Up)];

/// The rounding modes that a type has; the narrow formats only round to nearest.
fn rounding(x: &mut Operation<'_, '_>, floats: Floats) -> Option<Rounding> {
    let narrow = &[("rn", Rounding::Nearest)];
    x.choose(if floats.half() { narrow } else { &ROUNDINGS })
}

/// Takes `.ftz` where the type has it.
fn ftz(x: &mut Operation<'_, '_>, floats: Floats) -> bool {
    (floats.is(Format::F32) || floats.is(Format::F16)) && x.flag("ftz")
}

/// Precision of a sum or a product: without a rounding mode it may be fused with another.
fn contracted(rounding: Option<Rounding>, flush: bool) -> Precision {
    let fusible = rounding.is_none();
    Precision { flush, fusible, ..Precision::of(rounding.unwrap_or(Rounding::Nearest)) }
}

/// Takes `.sat` where the type has it.
fn saturation(x: &mut Operation<'_, '_>, floats: Floats) -> Clamp {
    let has = floats.is(Format::F16) || (floats.is(Format::F32) && !floats.pair);
    if has && x.flag("sat") { Clamp::Saturate } else { Clamp::None }
}

/// Reads a destination and `sources` sources, and applies an operation to the value or to each of two.
fn elementwise(
    x: &mut Operation<'_, '_>,
    floats: Floats,
    sources: usize,
    op: impl Fn(Format, RegId, &[Src]) -> Vec<Op>,
) -> Lowered {
    let ty = floats.ty();
    let width = ty.width().ok_or_else(|| x.wrong_type())?;
    let d = x.destination(0, width)?;
    let sources = (1..=sources).map(|at| x.source(at, ty)).collect::<Lowered<Vec<Src>>>()?;
    if !floats.pair {
        op(floats.format, d, &sources).into_iter().for_each(|op| x.push(op));
        return Ok(());
    }
    let part = float_width(floats.format).ok_or_else(|| x.wrong_type())?;
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for a in sources {
        let halves = (x.temporary(), x.temporary());
        x.push(Op::Unpack { d: vec![Some(halves.0), Some(halves.1)], a, part });
        low.push(Src::Reg(halves.0));
        high.push(Src::Reg(halves.1));
    }
    let mut parts = Vec::new();
    for sources in [low, high] {
        let d = x.temporary();
        op(floats.format, d, &sources).into_iter().for_each(|op| x.push(op));
        parts.push(Src::Reg(d));
    }
    x.push(Op::Pack { d, parts, part });
    Ok(())
}

fn unary(x: &mut Operation<'_, '_>, floats: Floats, op: Float1, precision: Precision) -> Lowered {
    x.done(2)?;
    elementwise(x, floats, 1, |format, d, sources| match sources {
        [a] => vec![Op::Float1 { op, format, precision, d, a: *a }],
        _ => Vec::new(),
    })
}

fn binary(
    x: &mut Operation<'_, '_>,
    floats: Floats,
    op: Float2,
    precision: Precision,
    clamp: Clamp,
) -> Lowered {
    x.done(3)?;
    elementwise(x, floats, 2, |format, d, sources| match sources {
        [a, b] => vec![Op::Float2 { op, format, precision, clamp, d, a: *a, b: *b }],
        _ => Vec::new(),
    })
}

/// A second, narrow type, as in `add.f32.f16`.
fn mixed(x: &mut Operation<'_, '_>, floats: Floats) -> Lowered<Option<Format>> {
    match (floats, x.take_type()) {
        (_, None) => Ok(None),
        (
            Floats { format: Format::F32, pair: false },
            Some(Type::Float(narrow @ (Format::F16 | Format::Bf16))),
        ) => Ok(Some(narrow)),
        _ => Err(x.wrong_type()),
    }
}

/// A narrow source, widened to `f32`.
fn widened(x: &mut Operation<'_, '_>, at: usize, from: Format) -> Lowered<Src> {
    let a = x.source(at, Type::Float(from))?;
    let d = x.temporary();
    let (to, precision, clamp) = (Format::F32, Precision::NEAREST, Clamp::None);
    x.push(Op::CvtFloat { d, a, from, to, integral: None, precision, clamp, finite: false });
    Ok(Src::Reg(d))
}

fn add(x: &mut Operation<'_, '_>) -> Lowered {
    sum(x, Float2::Add)
}

fn sub(x: &mut Operation<'_, '_>) -> Lowered {
    sum(x, Float2::Sub)
}

fn sum(x: &mut Operation<'_, '_>, op: Float2) -> Lowered {
    let floats = floats(x)?;
    let narrow = mixed(x, floats)?;
    let rounding = rounding(x, floats);
    let clamp = saturation(x, floats);
    let Some(narrow) = narrow else {
        let flush = ftz(x, floats);
        return binary(x, floats, op, contracted(rounding, flush), clamp);
    };
    x.done(3)?;
    let d = x.destination(0, Width::W32)?;
    let a = widened(x, 1, narrow)?;
    let b = x.source(2, floats.ty())?;
    let precision = contracted(rounding, false);
    x.push(Op::Float2 { op, format: Format::F32, precision, clamp, d, a, b });
    Ok(())
}

fn mul(x: &mut Operation<'_, '_>) -> Lowered {
    let floats = floats(x)?;
    let rounding = rounding(x, floats);
    let clamp = saturation(x, floats);
    let flush = ftz(x, floats);
    binary(x, floats, Float2::Mul, contracted(rounding, flush), clamp)
}

/// On all commercially available GPUs, `mad` of floats is `fma`.
fn mad(x: &mut Operation<'_, '_>) -> Lowered {
    let floats = floats(x)?;
    if !floats.single() {
        return Err(x.wrong_type());
    }
    multiply_add(x, floats)
}

fn fma(x: &mut Operation<'_, '_>) -> Lowered {
    let floats = floats(x)?;
    multiply_add(x, floats)
}

fn multiply_add(x: &mut Operation<'_, '_>, floats: Floats) -> Lowered {
    let narrow = mixed(x, floats)?;
    let rounding = rounding(x, floats).ok_or_else(|| x.unsupported("it needs a rounding mode"))?;
    let mut clamp = saturation(x, floats);
    if floats.half() && clamp == Clamp::None && x.flag("relu") {
        clamp = Clamp::Relu;
    }
    if let Some(narrow) = narrow {
        x.done(4)?;
        let d = x.destination(0, Width::W32)?;
        let a = widened(x, 1, narrow)?;
        let b = widened(x, 2, narrow)?;
        let c = x.source(3, floats.ty())?;
        let precision = Precision::of(rounding);
        x.push(Op::Fma { format: Format::F32, precision, clamp, d, a, b, c });
        return Ok(());
    }
    let precision = Precision { flush: ftz(x, floats), ..Precision::of(rounding) };
    x.done(4)?;
    elementwise(x, floats, 3, |format, d, sources| match sources {
        [a, b, c] => vec![Op::Fma { format, precision, clamp, d, a: *a, b: *b, c: *c }],
        _ => Vec::new(),
    })
}

/// A rounding mode, or `.approx` or similar: one is required.
fn precision(x: &mut Operation<'_, '_>, floats: Floats, approximations: &[&str]) -> Lowered<Precision> {
    if !floats.single() {
        return Err(x.wrong_type());
    }
    if approximations.iter().any(|name| x.flag(name)) {
        return Ok(Precision { approximate: true, ..Precision::NEAREST });
    }
    let rounding = rounding(x, floats);
    rounding.map(Precision::of).ok_or_else(|| x.unsupported("it needs `.approx` or a rounding mode"))
}

fn div(x: &mut Operation<'_, '_>) -> Lowered {
    let floats = floats(x)?;
    let approximations: &[&str] = if floats.is(Format::F32) { &["approx"] } else { &[] };
    let is_full = floats.is(Format::F32) && x.flag("full");
    let mut precision = if is_full {
        Precision { approximate: true, variant: true, ..Precision::NEAREST }
    } else {
        precision(x, floats, approximations)?
    };
    precision.flush = ftz(x, floats);
    binary(x, floats, Float2::Div, precision, Clamp::None)
}

fn neg(x: &mut Operation<'_, '_>) -> Lowered {
    let floats = floats(x)?;
    if floats.pair && floats.is(Format::F32) {
        return Err(x.wrong_type());
    }
    let precision = Precision { flush: ftz(x, floats), ..Precision::NEAREST };
    unary(x, floats, Float1::Neg, precision)
}

fn abs(x: &mut Operation<'_, '_>) -> Lowered {
    let floats = floats(x)?;
    if floats.pair && floats.is(Format::F32) {
        return Err(x.wrong_type());
    }
    let precision = Precision { flush: ftz(x, floats), ..Precision::NEAREST };
    unary(x, floats, Float1::Abs, precision)
}

fn min(x: &mut Operation<'_, '_>) -> Lowered {
    min_or_max(x, Float2::Min)
}

fn max(x: &mut Operation<'_, '_>) -> Lowered {
    min_or_max(x, Float2::Max)
}

fn min_or_max(x: &mut Operation<'_, '_>, op: Float2) -> Lowered {
    let floats = floats(x)?;
    if floats.pair && floats.is(Format::F32) {
        return Err(x.wrong_type());
    }
    let flush = ftz(x, floats);
    let variant = !floats.is(Format::F64) && x.flag("NaN");
    let precision = Precision { flush, variant, ..Precision::NEAREST };
    let clamp = Clamp::None;
    // The form with three sources; `.abs` and `.xorsign.abs` are refused as modifiers.
    let most = if floats.single() && floats.is(Format::F32) { 4 } else { 3 };
    let sources = x.done_within(3, most)? - 1;
    let between = if sources == 3 { x.temporary() } else { RegId(0) };
    elementwise(x, floats, sources, |format, d, sources| match sources {
        [a, b] => vec![Op::Float2 { op, format, precision, clamp, d, a: *a, b: *b }],
        [a, b, c] => vec![
            Op::Float2 { op, format, precision, clamp, d: between, a: *a, b: *b },
            Op::Float2 { op, format, precision, clamp, d, a: Src::Reg(between), b: *c },
        ],
        _ => Vec::new(),
    })
}

fn rcp(x: &mut Operation<'_, '_>) -> Lowered {
    let floats = floats(x)?;
    let mut precision = precision(x, floats, &["approx"])?;
    precision.flush = x.flag("ftz");
    if precision.approximate {
        return unary(x, floats, Float1::Rcp, precision);
    }
    x.done(2)?;
    let one =
        Src::Imm(if let Format::F64 = floats.format { 1f64.to_bits() } else { u64::from(1f32.to_bits()) });
    elementwise(x, floats, 1, |format, d, sources| match sources {
        [a] => vec![Op::Float2 { op: Float2::Div, format, precision, clamp: Clamp::None, d, a: one, b: *a }],
        _ => Vec::new(),
    })
}

fn sqrt(x: &mut Operation<'_, '_>) -> Lowered {
    let floats = floats(x)?;
    let approximations: &[&str] = if floats.is(Format::F32) { &["approx"] } else { &[] };
    let mut precision = precision(x, floats, approximations)?;
    precision.flush = ftz(x, floats);
    unary(x, floats, Float1::Sqrt, precision)
}

/// An instruction that exists only as an approximation.
fn approximate(x: &mut Operation<'_, '_>, floats: Floats, op: Float1, flush: bool) -> Lowered {
    x.require(&[("approx", ())])?;
    unary(x, floats, op, Precision { approximate: true, flush, ..Precision::NEAREST })
}

fn rsqrt(x: &mut Operation<'_, '_>) -> Lowered {
    let floats = floats(x)?;
    if !floats.single() {
        return Err(x.wrong_type());
    }
    let flush = x.flag("ftz");
    approximate(x, floats, Float1::Rsqrt, flush)
}

fn f32_function(x: &mut Operation<'_, '_>, op: Float1) -> Lowered {
    let floats = floats(x)?;
    if floats != (Floats { format: Format::F32, pair: false }) {
        return Err(x.wrong_type());
    }
    let flush = x.flag("ftz");
    approximate(x, floats, op, flush)
}

fn sin(x: &mut Operation<'_, '_>) -> Lowered {
    f32_function(x, Float1::Sin)
}

fn cos(x: &mut Operation<'_, '_>) -> Lowered {
    f32_function(x, Float1::Cos)
}

fn lg2(x: &mut Operation<'_, '_>) -> Lowered {
    f32_function(x, Float1::Lg2)
}

/// `.f32`, and the narrow formats.
fn narrow_function(x: &mut Operation<'_, '_>, op: Float1, has_ftz: fn(Format) -> bool) -> Lowered {
    let floats = floats(x)?;
    if floats.is(Format::F64) || (floats.is(Format::F32) && floats.pair) {
        return Err(x.wrong_type());
    }
    let flush = has_ftz(floats.format) && x.flag("ftz");
    approximate(x, floats, op, flush)
}

fn ex2(x: &mut Operation<'_, '_>) -> Lowered {
    narrow_function(x, Float1::Ex2, |format| format != Format::F16)
}

fn tanh(x: &mut Operation<'_, '_>) -> Lowered {
    narrow_function(x, Float1::Tanh, |_| false)
}

fn copysign(x: &mut Operation<'_, '_>) -> Lowered {
    let floats = floats(x)?;
    if !floats.single() {
        return Err(x.wrong_type());
    }
    binary(x, floats, Float2::CopySign, Precision::NEAREST, Clamp::None)
}

/// Over the reals: finite and infinite are comparisons with infinity, and nothing is a NaN. `.normal` and `.subnormal`
/// have no meaning in the model (rule V2).
fn testp(x: &mut Operation<'_, '_>) -> Lowered {
    #[derive(Clone, Copy)]
    enum Test {
        Finite,
        Infinite,
        Number,
        NotANumber,
    }
    let test = x.require(&[
        ("finite", Test::Finite),
        ("infinite", Test::Infinite),
        ("number", Test::Number),
        ("notanumber", Test::NotANumber),
    ])?;
    let floats = floats(x)?;
    if !floats.single() {
        return Err(x.wrong_type());
    }
    let format = floats.format;
    x.done(2)?;
    let operand = x.operand(0)?;
    let Some(p) = x.predicate_destination(operand)? else {
        return Err(x.expected("a predicate register", operand));
    };
    let a = x.source(1, floats.ty())?;
    let infinity =
        if let Format::F64 = format { f64::INFINITY.to_bits() } else { u64::from(f32::INFINITY.to_bits()) };
    let compare = match test {
        Test::Number | Test::NotANumber => {
            let compare =
                if matches!(test, Test::Number) { FloatCompare::IsNumber } else { FloatCompare::IsNan };
            x.push(Op::SetpFloat { compare, format, flush: false, p, q: None, a, b: a, combine: None });
            return Ok(());
        }
        Test::Finite => Compare::Lt,
        Test::Infinite => Compare::Eq,
    };
    let magnitude = x.temporary();
    x.push(Op::Float1 { op: Float1::Abs, format, precision: Precision::NEAREST, d: magnitude, a });
    let compare = FloatCompare::Order(compare, false);
    let (a, b) = (Src::Reg(magnitude), Src::Imm(infinity));
    x.push(Op::SetpFloat { compare, format, flush: false, p, q: None, a, b, combine: None });
    Ok(())
}
