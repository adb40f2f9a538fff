//! Conversions between numbers.
//!
//! Sources are read from the low bits of wider registers; results narrower than the destination register are extended,
//! with sign for signed types.

use super::{Row, Types, row};
use crate::number::format::{Format, Rounding, has_sign};
use crate::program::op::{Clamp, Int, Op, Precision, RegId, Src, ToIntegral, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::{Type, float_width};

pub(super) const ROWS: &[Row] =
    &[row("cvt", Types::Any, "Data Movement and Conversion Instructions: cvt, cvt.pack", cvt).computing()];

const ROUNDINGS: [(&str, Rounding); 5] = [
    ("rn", Rounding::Nearest),
    ("rz", Rounding::Zero),
    ("rm", Rounding::Down),
    ("rp", Rounding::Up),
    ("rna", Rounding::NearestAway),
];

const INTEGRAL: [(&str, ToIntegral); 4] = [
    ("rni", ToIntegral::NearestEven),
    ("rzi", ToIntegral::Zero),
    ("rmi", ToIntegral::Down),
    ("rpi", ToIntegral::Up),
];

/// The modifiers of a conversion, all optional.
struct Options {
    rounding: Option<Rounding>,
    away: bool,
    integral: Option<ToIntegral>,
    ftz: bool,
    saturate: bool,
    relu: bool,
    finite: bool,
}

fn options(x: &mut Operation<'_, '_>) -> Options {
    let away = x.flag("rna");
    Options {
        rounding: if away { Some(Rounding::NearestAway) } else { x.choose(&ROUNDINGS) },
        away,
        integral: x.choose(&INTEGRAL),
        ftz: x.flag("ftz"),
        saturate: x.flag("sat"),
        relu: x.flag("relu"),
        finite: x.flag("satfinite"),
    }
}

fn cvt(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("pack") {
        return cvt_pack(x);
    }
    let options = options(x);
    let (to, from) = (x.ty()?, x.ty()?);
    match (to.as_int(), from.as_int(), to, from) {
        _ if matches!(to, Type::Bits(_)) || matches!(from, Type::Bits(_)) => Err(x.wrong_type()),
        (Some(to), Some(from), ..) => int_to_int(x, &options, to, from),
        (None, Some(from), Type::Float(to), _) => int_to_float(x, &options, to, from),
        (Some(to), None, _, Type::Float(from)) => float_to_int(x, &options, to, from),
        (None, None, Type::Float(to), Type::Float(from)) => float_to_float(x, &options, to, from),
        (None, None, Type::FloatPair(to), Type::Float(Format::F32)) => floats_to_pair(x, &options, to),
        (None, None, Type::FloatPair(to), Type::FloatPair(from)) => pair_to_pair(x, &options, to, from),
        _ => Err(x.wrong_type()),
    }
}

/// Rejects modifiers unless `allowed`.
fn only(x: &Operation<'_, '_>, allowed: bool) -> Lowered {
    if allowed { Ok(()) } else { Err(x.unsupported("these modifiers exclude each other")) }
}

/// Writes an integer result, through `convert`, into a register that may be wider.
fn int_result(x: &mut Operation<'_, '_>, to: Int, convert: impl FnOnce(RegId) -> Op) -> Lowered {
    let (d, bits) = x.wide_destination(0, to.width)?;
    x.push(convert(d));
    if bits != to.width && to.signed {
        let wide = Int { width: bits, signed: true };
        x.push(Op::CvtInt { d, a: Src::Reg(d), from: to, to: wide, saturate: false });
    }
    Ok(())
}

fn int_to_int(x: &mut Operation<'_, '_>, options: &Options, to: Int, from: Int) -> Lowered {
    let Options { rounding, integral, ftz, relu, finite, saturate, away: _ } = *options;
    only(x, rounding.is_none() && integral.is_none() && !ftz && !relu && !finite)?;
    x.done(2)?;
    let a = x.converted(1, Type::Int(from))?;
    let (d, bits) = x.wide_destination(0, to.width)?;
    if !saturate && to.signed && bits != to.width {
        // The remaining low bits, sign-extended from the narrower type.
        let from = if from.width < to.width { from } else { to };
        x.push(Op::CvtInt { d, a, from, to: Int { width: bits, signed: true }, saturate });
        return Ok(());
    }
    int_result(x, to, |d| Op::CvtInt { d, a, from, to, saturate })
}

/// Checks that arithmetic supports a format.
fn arithmetic(x: &Operation<'_, '_>, format: Format) -> Lowered {
    match format {
        Format::F16 | Format::Bf16 | Format::F32 | Format::F64 => Ok(()),
        Format::Tf32 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => Err(x.wrong_type()),
    }
}

/// A float destination, which may be wider.
fn float_destination(x: &mut Operation<'_, '_>, to: Format) -> Lowered<RegId> {
    let width = float_width(to).ok_or_else(|| x.wrong_type())?;
    Ok(x.wide_destination(0, width)?.0)
}

fn int_to_float(x: &mut Operation<'_, '_>, options: &Options, to: Format, from: Int) -> Lowered {
    let Options { rounding, integral, ftz, relu, finite, saturate, away } = *options;
    only(x, integral.is_none() && !relu && !finite && !away)?;
    arithmetic(x, to)?;
    only(x, (!ftz || to == Format::F32) && !(saturate && to == Format::Bf16))?;
    let rounding = rounding.ok_or_else(|| x.unsupported("it needs a rounding mode"))?;
    x.done(2)?;
    let a = x.converted(1, Type::Int(from))?;
    let d = float_destination(x, to)?;
    x.push(Op::IntToFloat { d, a, from, to, rounding });
    if saturate {
        let (a, clamp) = (Src::Reg(d), Clamp::Saturate);
        let precision = Precision::NEAREST;
        x.push(Op::CvtFloat { d, a, from: to, to, integral: None, precision, clamp, finite: false });
    }
    Ok(())
}

/// These conversions always saturate.
fn float_to_int(x: &mut Operation<'_, '_>, options: &Options, to: Int, from: Format) -> Lowered {
    let Options { rounding, integral, ftz, relu, finite, saturate, away: _ } = *options;
    only(x, rounding.is_none() && !relu && !finite)?;
    only(x, (!ftz || from == Format::F32) && !(saturate && from == Format::Bf16))?;
    arithmetic(x, from)?;
    let rounding = integral.ok_or_else(|| x.unsupported("it needs a rounding mode such as `.rzi`"))?;
    x.done(2)?;
    let a = x.converted(1, Type::Float(from))?;
    int_result(x, to, |d| Op::FloatToInt { d, a, from, to, rounding, flush: ftz })
}

fn clamp(x: &Operation<'_, '_>, options: &Options) -> Lowered<Clamp> {
    match (options.saturate, options.relu) {
        (false, false) => Ok(Clamp::None),
        (true, false) => Ok(Clamp::Saturate),
        (false, true) => Ok(Clamp::Relu),
        (true, true) => Err(x.unsupported("these modifiers exclude each other")),
    }
}

/// `.satfinite` clamps what is too large for the format; over the reals nothing is (rule V2).
fn float_to_float(x: &mut Operation<'_, '_>, options: &Options, to: Format, from: Format) -> Lowered {
    let clamp = clamp(x, options)?;
    let Options { rounding, integral, finite, away, .. } = *options;
    if to == Format::Tf32 {
        only(x, from == Format::F32 && integral.is_none() && !options.saturate && !options.ftz)?;
    } else {
        arithmetic(x, to)?;
        only(x, !away)?;
    }
    arithmetic(x, from)?;
    let narrow = |format| matches!(format, Format::F16 | Format::Bf16);
    let has_bf16 = from == Format::Bf16 || to == Format::Bf16;
    let f32 = from == Format::F32 || to == Format::F32;
    only(x, (!options.ftz || f32) && !(options.saturate && has_bf16))?;
    let clips = finite || options.relu;
    only(x, !clips || (from == Format::F32 && (narrow(to) || to == Format::Tf32)))?;
    let rank = |format: Format| match format {
        Format::F64 => 3,
        Format::F32 => 2,
        Format::Tf32 => 1,
        Format::F16 | Format::Bf16 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => 0,
    };
    let narrowing = rank(to) < rank(from) || (rank(to) == rank(from) && to != from);
    only(x, integral.is_none() || to == from)?;
    // `ptxas` requires no rounding mode between the narrow formats, and accepts one when it widens bf16.
    if narrowing && rounding.is_none() && !(narrow(to) && narrow(from)) {
        return Err(x.unsupported("it needs a rounding mode"));
    }
    only(x, narrowing || rounding.is_none() || (from == Format::Bf16 && to != from))?;
    x.done(2)?;
    let a = x.converted(1, Type::Float(from))?;
    let d = float_destination(x, to)?;
    let rounding = rounding.unwrap_or(Rounding::Nearest);
    let precision = Precision { flush: options.ftz, ..Precision::of(rounding) };
    x.push(Op::CvtFloat { d, a, from, to, integral, precision, clamp, finite });
    Ok(())
}

/// `cvt.rn.f16x2.f32 d, a, b`: the first source goes to the upper half.
fn floats_to_pair(x: &mut Operation<'_, '_>, options: &Options, to: Format) -> Lowered {
    let clamp = clamp(x, options)?;
    let Options { rounding, integral, ftz, saturate, finite, away, .. } = *options;
    only(x, integral.is_none() && !ftz && !saturate && !away)?;
    if !has_sign(to) {
        return Err(x.unsupported(TO_POWERS));
    }
    let tiny = matches!(to, Format::E4m3 | Format::E5m2);
    only(x, to != Format::F32 && (finite || !tiny))?;
    let rounding = rounding.ok_or_else(|| x.unsupported("it needs a rounding mode"))?;
    // With a third source, `.rs` rounds by its random bits; the modifier is rejected.
    x.done(3)?;
    let part = float_width(to).ok_or_else(|| x.wrong_type())?;
    let width = Type::FloatPair(to).width().ok_or_else(|| x.wrong_type())?;
    let d = x.destination(0, width)?;
    let from = Format::F32;
    let (upper, lower) = (x.source(1, Type::Float(from))?, x.source(2, Type::Float(from))?);
    let mut parts = Vec::new();
    for a in [lower, upper] {
        let d = x.temporary();
        let precision = Precision::of(rounding);
        x.push(Op::CvtFloat { d, a, from, to, integral: None, precision, clamp, finite });
        parts.push(Src::Reg(d));
    }
    x.push(Op::Pack { d, parts, part });
    Ok(())
}

/// Such a conversion changes a number by up to a factor of two, which is no rounding error (rule V2).
const TO_POWERS: &str = "conversions to powers of two are not supported";

/// Conversions between two 16-bit and two 8-bit floats.
fn pair_to_pair(x: &mut Operation<'_, '_>, options: &Options, to: Format, from: Format) -> Lowered {
    let clamp = clamp(x, options)?;
    let Options { rounding, integral, ftz, saturate, finite, away, .. } = *options;
    let tiny = |format| matches!(format, Format::E4m3 | Format::E5m2);
    let half = |format| matches!(format, Format::F16 | Format::Bf16);
    if !has_sign(to) {
        return Err(x.unsupported(TO_POWERS));
    }
    let narrowing = tiny(to) && half(from);
    let widening = tiny(from) && half(to) || !has_sign(from) && to == Format::Bf16 && !finite;
    only(x, integral.is_none() && !ftz && !saturate && !away && rounding == Some(Rounding::Nearest))?;
    only(x, (narrowing && finite) || (widening && !(finite && to == Format::F16)))?;
    x.done(2)?;
    let (wide, part) = match (float_width(from), float_width(to)) {
        (Some(from), Some(to)) => (from, to),
        _ => return Err(x.wrong_type()),
    };
    let width = Type::FloatPair(to).width().ok_or_else(|| x.wrong_type())?;
    let d = x.destination(0, width)?;
    let a = x.source(1, Type::FloatPair(from))?;
    let halves = [x.temporary(), x.temporary()];
    x.push(Op::Unpack { d: halves.map(Some).to_vec(), a, part: wide });
    let mut parts = Vec::new();
    for half in halves {
        let d = x.temporary();
        let a = Src::Reg(half);
        let precision = Precision::NEAREST;
        x.push(Op::CvtFloat { d, a, from, to, integral: None, precision, clamp, finite });
        parts.push(Src::Reg(d));
    }
    x.push(Op::Pack { d, parts, part });
    Ok(())
}

/// `cvt.pack.sat.u8.s32.b32 d, a, b, c`: `b` lowest, then `a`, then the low half of `c`.
fn cvt_pack(x: &mut Operation<'_, '_>) -> Lowered {
    x.require(&[("sat", ())])?;
    let (to, from) = match (x.ty()?, x.ty()?) {
        (Type::Int(to), Type::Int(from)) => (to, from),
        _ => return Err(x.wrong_type()),
    };
    let appended = x.flag("b32");
    let allowed = match to.width {
        Width::W8 => appended,
        Width::W16 => !appended,
        Width::W32 | Width::W64 => false,
    };
    if !allowed || from != (Int { width: Width::W32, signed: true }) {
        return Err(x.wrong_type());
    }
    x.done(if appended { 4 } else { 3 })?;
    let d = x.destination(0, Width::W32)?;
    let (a, b) = (x.source(1, Type::Int(from))?, x.source(2, Type::Int(from))?);
    let mut parts = Vec::new();
    for a in [b, a] {
        let d = x.temporary();
        x.push(Op::CvtInt { d, a, from, to, saturate: true });
        parts.push(Src::Reg(d));
    }
    if appended {
        let c = x.source(3, Type::Bits(Width::W32))?;
        let (low, high) = (x.temporary(), x.temporary());
        x.push(Op::Unpack { d: vec![Some(low), Some(high), None, None], a: c, part: Width::W8 });
        parts.extend([Src::Reg(low), Src::Reg(high)]);
    }
    x.push(Op::Pack { d, parts, part: to.width });
    Ok(())
}
