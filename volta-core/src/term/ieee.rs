//! Operations of IEEE arithmetic, in terms of a claim about bits (rule B1).
//!
//! A float of such a term is a *value*: a number, one of two zeros, an infinity, or NaN, which is one value whatever
//! its payload. Every format is a subset of f64, so a value is an `f64`. An operation is a [key](IeeeKey), which is an
//! operand of its node: it says all that determines the result, rounding and modifiers included.

use super::id::TermId;
use super::info::TermOp;
use super::node::{Constant, Store, View};
use crate::base::index::InstId;
use crate::number::format::{Format, Rounding, decode, is_exact, round, to_f64};
use crate::number::{Extended, Rational};

/// What a node of IEEE arithmetic computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum IeeeOp {
    /// A known value, by the encoding of an f64.
    Number,
    /// The integer that encodes a value in the format.
    Encode,
    /// The value that an integer encodes in the format.
    Decode,
    /// `−a`
    Neg,
    /// `|a|`
    Abs,
    /// The magnitude of `b` with the sign of `a`.
    CopySign,
    /// Zero in place of a number that is subnormal in the format.
    Flush,
    /// `.sat`
    Saturate,
    /// `.relu`
    Relu,
    /// Rounds to the format.
    Convert,
    /// Like `Convert`, and what is too large becomes the largest number.
    ConvertFinite,
    /// Rounds to an integer, as the rounding says.
    Integral,
    /// Rounds to an integer of a type, as the rounding says.
    ToInt,
    /// Rounds an integer of a type to the format.
    FromInt,
    /// `a + b`
    Add,
    /// `a · b`
    Mul,
    /// `a · b + c`
    Fma,
    /// `a / b`
    Div,
    /// `√a`
    Sqrt,
    /// The smaller number, the other operand if one is NaN; −0 is less than +0.
    Min,
    /// The larger number, likewise.
    Max,
    /// The smaller number, NaN if one operand is.
    MinNan,
    /// The larger number, NaN if one operand is.
    MaxNan,
    /// 1 if `a < b`, else 0.
    Less,
    /// 1 if `a ≤ b`, else 0.
    LessEqual,
    /// 1 if `a = b`, else 0.
    Equal,
    /// 1 if `a` and `b` are numbers.
    Ordered,
    /// `2ᵃ`, by the architecture's approximation, like all that follow.
    Ex2,
    /// `log₂ a`
    Lg2,
    /// `1 / a`
    Rcp,
    /// `√a`
    SqrtApprox,
    /// `1 / √a`
    Rsqrt,
    /// `sin a`
    Sin,
    /// `cos a`
    Cos,
    /// `tanh a`
    Tanh,
    /// `div.approx`
    DivApprox,
    /// `div.full`
    DivFull,
    /// One step of a product of matrices: whatever the architecture computes of an accumulator and two elements, as
    /// part of an instruction of the shape that the detail gives.
    Step,
    /// `atom.add` of one contributor to a location: whether subnormal numbers are flushed depends on the memory.
    AtomicAdd,
}

impl IeeeOp {
    /// All operations.
    pub const ALL: [IeeeOp; 39] = [
        IeeeOp::Number,
        IeeeOp::Encode,
        IeeeOp::Decode,
        IeeeOp::Neg,
        IeeeOp::Abs,
        IeeeOp::CopySign,
        IeeeOp::Flush,
        IeeeOp::Saturate,
        IeeeOp::Relu,
        IeeeOp::Convert,
        IeeeOp::ConvertFinite,
        IeeeOp::Integral,
        IeeeOp::ToInt,
        IeeeOp::FromInt,
        IeeeOp::Add,
        IeeeOp::Mul,
        IeeeOp::Fma,
        IeeeOp::Div,
        IeeeOp::Sqrt,
        IeeeOp::Min,
        IeeeOp::Max,
        IeeeOp::MinNan,
        IeeeOp::MaxNan,
        IeeeOp::Less,
        IeeeOp::LessEqual,
        IeeeOp::Equal,
        IeeeOp::Ordered,
        IeeeOp::Ex2,
        IeeeOp::Lg2,
        IeeeOp::Rcp,
        IeeeOp::SqrtApprox,
        IeeeOp::Rsqrt,
        IeeeOp::Sin,
        IeeeOp::Cos,
        IeeeOp::Tanh,
        IeeeOp::DivApprox,
        IeeeOp::DivFull,
        IeeeOp::Step,
        IeeeOp::AtomicAdd,
    ];

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            IeeeOp::Number => "number",
            IeeeOp::Encode => "encoding",
            IeeeOp::Decode => "decoding",
            IeeeOp::Neg => "neg",
            IeeeOp::Abs => "abs",
            IeeeOp::CopySign => "copysign",
            IeeeOp::Flush => "flush to zero",
            IeeeOp::Saturate => "saturate",
            IeeeOp::Relu => "relu",
            IeeeOp::Convert => "conversion",
            IeeeOp::ConvertFinite => "saturating conversion",
            IeeeOp::Integral => "rounding to an integer",
            IeeeOp::ToInt => "conversion to an integer",
            IeeeOp::FromInt => "conversion from an integer",
            IeeeOp::Add => "add",
            IeeeOp::Mul => "mul",
            IeeeOp::Fma => "fma",
            IeeeOp::Div => "div",
            IeeeOp::Sqrt => "sqrt",
            IeeeOp::Min => "min",
            IeeeOp::Max => "max",
            IeeeOp::MinNan => "min.NaN",
            IeeeOp::MaxNan => "max.NaN",
            IeeeOp::Less | IeeeOp::LessEqual | IeeeOp::Equal | IeeeOp::Ordered => "comparison",
            IeeeOp::Ex2 => "ex2.approx",
            IeeeOp::Lg2 => "lg2.approx",
            IeeeOp::Rcp => "rcp.approx",
            IeeeOp::SqrtApprox => "sqrt.approx",
            IeeeOp::Rsqrt => "rsqrt.approx",
            IeeeOp::Sin => "sin.approx",
            IeeeOp::Cos => "cos.approx",
            IeeeOp::Tanh => "tanh.approx",
            IeeeOp::DivApprox => "div.approx",
            IeeeOp::DivFull => "div.full",
            IeeeOp::Step => "product of matrices",
            IeeeOp::AtomicAdd => "atom.add",
        }
    }

    /// Whether the result is an integer rather than a float.
    pub const fn gives_integer(self) -> bool {
        matches!(
            self,
            IeeeOp::Encode
                | IeeeOp::ToInt
                | IeeeOp::Less
                | IeeeOp::LessEqual
                | IeeeOp::Equal
                | IeeeOp::Ordered
        )
    }

    /// Whether the operand is an integer rather than a float.
    pub const fn takes_integer(self) -> bool {
        matches!(self, IeeeOp::Number | IeeeOp::Decode | IeeeOp::FromInt)
    }

    /// Whether the operands commute; of `fma`, the factors.
    pub const fn commutes(self) -> bool {
        matches!(
            self,
            IeeeOp::Add
                | IeeeOp::Mul
                | IeeeOp::Fma
                | IeeeOp::Min
                | IeeeOp::Max
                | IeeeOp::MinNan
                | IeeeOp::MaxNan
                | IeeeOp::Equal
                | IeeeOp::Ordered
        )
    }
}

/// A type of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IeeeInt {
    /// Its width.
    pub bits: u32,
    /// Whether it has negative numbers.
    pub signed: bool,
}

impl IeeeInt {
    /// Its least and its greatest number.
    pub fn range(self) -> (i128, i128) {
        if self.signed {
            (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1)
        } else {
            (0, (1 << self.bits) - 1)
        }
    }
}

/// An operation of IEEE arithmetic with all that determines its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IeeeKey {
    /// What it computes.
    pub op: IeeeOp,
    /// The format of its result; of a comparison, of its operands.
    pub format: Format,
    /// The rounding.
    pub rounding: Rounding,
    /// `.ftz`
    pub flush: bool,
    /// Written without a rounding mode: a compiler may fuse a product with a sum.
    pub fusible: bool,
    /// The type of integers; the shape of a product of matrices.
    pub detail: u32,
}

const FORMATS: [Format; 8] = [
    Format::F16,
    Format::Bf16,
    Format::Tf32,
    Format::F32,
    Format::F64,
    Format::E4m3,
    Format::E5m2,
    Format::Ue8m0,
];

const ROUNDINGS: [Rounding; 5] =
    [Rounding::Nearest, Rounding::NearestAway, Rounding::Zero, Rounding::Down, Rounding::Up];

/// A value of IEEE arithmetic, or an integer.
#[derive(Clone, Debug, PartialEq)]
pub enum Ieee {
    /// A float; NaN is one value.
    Float(f64),
    /// An integer.
    Int(Rational),
}

impl IeeeKey {
    /// An operation that rounds to nearest.
    pub fn new(op: IeeeOp, format: Format) -> IeeeKey {
        IeeeKey { op, format, rounding: Rounding::Nearest, flush: false, fusible: false, detail: 0 }
    }

    /// The same, rounded otherwise.
    pub fn rounding(self, rounding: Rounding) -> IeeeKey {
        IeeeKey { rounding, ..self }
    }

    /// The same, of a type of integers.
    pub fn of_int(self, ty: IeeeInt) -> IeeeKey {
        IeeeKey { detail: ty.bits << 1 | u32::from(ty.signed), ..self }
    }

    /// The type of integers of a conversion.
    pub fn int(self) -> IeeeInt {
        IeeeInt { bits: (self.detail >> 1).clamp(1, 64), signed: self.detail & 1 == 1 }
    }

    /// As a number, which [`IeeeKey::read`] reads.
    pub fn number(self) -> i64 {
        let position = |at: Option<usize>| at.unwrap_or(0) as i64;
        let format = position(FORMATS.iter().position(|format| *format == self.format));
        let rounding = position(ROUNDINGS.iter().position(|rounding| *rounding == self.rounding));
        let flags = i64::from(self.flush) | i64::from(self.fusible) << 1;
        i64::from(self.detail) << 20 | flags << 16 | rounding << 12 | format << 8 | self.op as i64
    }

    /// The operation that a number stands for.
    pub fn read(number: &Rational) -> Option<IeeeKey> {
        let number = number.to_i64().filter(|number| *number >= 0)?;
        let part = |shift: u32, bits: u32| (number >> shift & ((1 << bits) - 1)) as usize;
        Some(IeeeKey {
            op: *IeeeOp::ALL.get(part(0, 8))?,
            format: *FORMATS.get(part(8, 4))?,
            rounding: *ROUNDINGS.get(part(12, 4))?,
            flush: number >> 16 & 1 == 1,
            fusible: number >> 17 & 1 == 1,
            detail: u32::try_from(number >> 20).ok()?,
        })
    }

    /// As messages spell it: `fma.f32`, `add.rz.f16`.
    pub fn spelled(self) -> String {
        let rounding = match self.rounding {
            Rounding::Nearest => "",
            Rounding::NearestAway => ".rna",
            Rounding::Zero => ".rz",
            Rounding::Down => ".rm",
            Rounding::Up => ".rp",
        };
        let flush = if self.flush { ".ftz" } else { "" };
        format!("{}{rounding}{flush}.{}", self.op.name(), self.format.name())
    }

    /// The least and the greatest result, if it is an integer.
    pub fn range(self) -> Option<(i128, i128)> {
        match self.op {
            IeeeOp::Encode => Some((0, (1 << (8 * self.format.bytes())) - 1)),
            IeeeOp::ToInt => Some(self.int().range()),
            IeeeOp::Less | IeeeOp::LessEqual | IeeeOp::Equal | IeeeOp::Ordered => Some((0, 1)),
            IeeeOp::Number
            | IeeeOp::Decode
            | IeeeOp::Neg
            | IeeeOp::Abs
            | IeeeOp::CopySign
            | IeeeOp::Flush
            | IeeeOp::Saturate
            | IeeeOp::Relu
            | IeeeOp::Convert
            | IeeeOp::ConvertFinite
            | IeeeOp::Integral
            | IeeeOp::FromInt
            | IeeeOp::Add
            | IeeeOp::Mul
            | IeeeOp::Fma
            | IeeeOp::Div
            | IeeeOp::Sqrt
            | IeeeOp::Min
            | IeeeOp::Max
            | IeeeOp::MinNan
            | IeeeOp::MaxNan
            | IeeeOp::Ex2
            | IeeeOp::Lg2
            | IeeeOp::Rcp
            | IeeeOp::SqrtApprox
            | IeeeOp::Rsqrt
            | IeeeOp::Sin
            | IeeeOp::Cos
            | IeeeOp::Tanh
            | IeeeOp::DivApprox
            | IeeeOp::DivFull
            | IeeeOp::Step
            | IeeeOp::AtomicAdd => None,
        }
    }

    /// The result for known operands; `None` where the documentation does not determine it, or it is not computed here.
    pub fn apply(self, operands: &[Ieee]) -> Option<Ieee> {
        use Ieee::{Float, Int};
        let flushed = |x: f64| if self.flush { flush(self.format, x) } else { x };
        let truth = |holds: bool| Some(Int(Rational::from_integer(holds.into())));
        match (self.op, operands) {
            (IeeeOp::Number, [Int(bits)]) => Some(Float(canonical(f64::from_bits(bits.to_u64()?)))),
            (IeeeOp::Decode, [Int(bits)]) => Some(Float(canonical(to_f64(self.format, bits.to_u64()?)))),
            // The payload of a NaN is not known.
            (IeeeOp::Encode, [Float(x)]) if !x.is_nan() => {
                Some(Int(Rational::from_u64(encoding(self.format, *x)?)))
            }
            (IeeeOp::Neg, [Float(x)]) => Some(Float(canonical(-flushed(*x)))),
            (IeeeOp::Abs, [Float(x)]) => Some(Float(canonical(flushed(*x).abs()))),
            (IeeeOp::CopySign, [Float(sign), Float(x)]) if !sign.is_nan() => {
                Some(Float(canonical(x.copysign(*sign))))
            }
            (IeeeOp::Flush, [Float(x)]) => Some(Float(flush(self.format, *x))),
            // The sign of a clamped zero is not documented.
            (IeeeOp::Saturate, [Float(x)]) if *x > 0.0 => Some(Float(x.min(1.0))),
            (IeeeOp::Saturate, [Float(x)]) if x.is_nan() || *x < 0.0 || x.is_sign_positive() => {
                Some(Float(0.0))
            }
            (IeeeOp::Relu, [Float(x)]) if *x > 0.0 || x.is_nan() => Some(Float(*x)),
            (IeeeOp::Relu, [Float(x)]) if *x < 0.0 || x.is_sign_positive() => Some(Float(0.0)),
            (IeeeOp::Convert, [Float(x)]) => self.converted(*x),
            (IeeeOp::Integral, [Float(x)]) => {
                let whole = match number_of(*x) {
                    Some(number) => {
                        let whole = integral(&number, self.rounding)?;
                        to_f64(Format::F64, round(&whole, Format::F64, Rounding::Nearest))
                    }
                    None => *x,
                };
                Some(Float(whole.copysign(*x))).filter(|_| !x.is_nan()).or(Some(Float(f64::NAN)))
            }
            (IeeeOp::ToInt, [Float(x)]) if !x.is_nan() => {
                let (low, high) = self.int().range();
                let [low, high] = [low, high].map(Rational::from_i128);
                Some(Int(match number_of(flushed(*x)) {
                    Some(number) => integral(&number, self.rounding)?.max(low).min(high),
                    None if *x > 0.0 => high,
                    None => low,
                }))
            }
            (IeeeOp::FromInt, [Int(x)]) => Some(Float(self.rounded(x, false)?)),
            (IeeeOp::Add, [Float(a), Float(b)]) => self.sum(flushed(*a), flushed(*b)).map(Float),
            (IeeeOp::Mul, [Float(a), Float(b)]) => self.product(flushed(*a), flushed(*b)).map(Float),
            (IeeeOp::Fma, [Float(a), Float(b), Float(c)]) => {
                self.fused(flushed(*a), flushed(*b), flushed(*c)).map(Float)
            }
            (IeeeOp::Div, [Float(a), Float(b)]) => self.quotient(flushed(*a), flushed(*b)).map(Float),
            (IeeeOp::Sqrt, [Float(x)]) => {
                let x = flushed(*x);
                if x.is_nan() || x == 0.0 || x == f64::INFINITY || x < 0.0 {
                    return Some(Float(canonical(x.sqrt())));
                }
                match (self.format, self.rounding) {
                    (Format::F32, Rounding::Nearest) => Some(Float(f64::from((x as f32).sqrt()))),
                    (Format::F64, Rounding::Nearest) => Some(Float(x.sqrt())),
                    _ => None,
                }
            }
            (IeeeOp::Min | IeeeOp::Max | IeeeOp::MinNan | IeeeOp::MaxNan, [Float(a), Float(b)]) => {
                let (a, b) = (flushed(*a), flushed(*b));
                let propagates = matches!(self.op, IeeeOp::MinNan | IeeeOp::MaxNan);
                if a.is_nan() || b.is_nan() {
                    let other = if a.is_nan() { b } else { a };
                    return Some(Float(if propagates { f64::NAN } else { canonical(other) }));
                }
                let least = matches!(self.op, IeeeOp::Min | IeeeOp::MinNan);
                let first = a.total_cmp(&b).is_le() == least;
                Some(Float(if first { a } else { b }))
            }
            (IeeeOp::Less, [Float(a), Float(b)]) => truth(flushed(*a) < flushed(*b)),
            (IeeeOp::LessEqual, [Float(a), Float(b)]) => truth(flushed(*a) <= flushed(*b)),
            (IeeeOp::Equal, [Float(a), Float(b)]) => truth(flushed(*a) == flushed(*b)),
            (IeeeOp::Ordered, [Float(a), Float(b)]) => truth(!a.is_nan() && !b.is_nan()),
            (op, [Float(x)]) => special(op, flushed(*x)).map(Float),
            _ => None,
        }
    }

    fn converted(self, x: f64) -> Option<Ieee> {
        let ieee = matches!(self.format, Format::F16 | Format::Bf16 | Format::F32 | Format::F64);
        if !ieee && encoding(self.format, x).is_none() {
            return None;
        }
        Some(Ieee::Float(match number_of(x) {
            Some(number) if !number.is_zero() => self.rounded(&number, false)?,
            Some(_) | None => x,
        }))
    }

    /// A number rounded to the format. A zero has the sign that is given.
    fn rounded(self, number: &Rational, negative_zero: bool) -> Option<f64> {
        if number.is_zero() {
            return Some(if negative_zero { -0.0 } else { 0.0 });
        }
        let result = to_f64(self.format, round(number, self.format, self.rounding));
        if !self.flush {
            return Some(result);
        }
        let least = least_normal(self.format);
        // Whether tininess is detected before or after rounding is not documented.
        let is_tiny = number.abs() < rational(least);
        if is_tiny && result.abs() >= least {
            return None;
        }
        Some(flush(self.format, result))
    }

    fn sum(self, a: f64, b: f64) -> Option<f64> {
        let (Some(x), Some(y)) = (number_of(a), number_of(b)) else { return Some(canonical(a + b)) };
        match (self.format, self.rounding, self.flush) {
            (Format::F32, Rounding::Nearest, false) => return Some(f64::from(a as f32 + b as f32)),
            (Format::F64, Rounding::Nearest, false) => return Some(a + b),
            _ => {}
        }
        self.rounded(&(&x + &y), self.zero([a, b], x.is_zero() && y.is_zero()))
    }

    fn product(self, a: f64, b: f64) -> Option<f64> {
        let (Some(x), Some(y)) = (number_of(a), number_of(b)) else { return Some(canonical(a * b)) };
        self.rounded(&(&x * &y), a.is_sign_negative() != b.is_sign_negative())
    }

    fn fused(self, a: f64, b: f64, c: f64) -> Option<f64> {
        let (Some(x), Some(y), Some(z)) = (number_of(a), number_of(b), number_of(c)) else {
            // Magnitudes do not matter beside an infinity, so that the product must not overflow.
            let product = if a.is_finite() && b.is_finite() { a.signum() * b.signum() } else { a * b };
            return Some(canonical(product + c));
        };
        let negative = a.is_sign_negative() != b.is_sign_negative();
        let zeros = (x.is_zero() || y.is_zero()) && z.is_zero();
        let product = if negative { -1.0 } else { 1.0 };
        self.rounded(&(&(&x * &y) + &z), self.zero([product, c], zeros))
    }

    /// Whether a sum that is zero is −0, given numbers with the signs of its operands.
    fn zero(self, operands: [f64; 2], of_zeros: bool) -> bool {
        let negative = operands.map(f64::is_sign_negative);
        if of_zeros && negative[0] == negative[1] { negative[0] } else { self.rounding == Rounding::Down }
    }

    fn quotient(self, a: f64, b: f64) -> Option<f64> {
        match (number_of(a), number_of(b)) {
            (Some(x), Some(y)) if !y.is_zero() => {
                self.rounded(&x.checked_div(&y)?, a.is_sign_negative() != b.is_sign_negative())
            }
            // Zero, an infinity or NaN.
            _ => Some(canonical(a / b)),
        }
    }
}

/// Known values of approximations, as the ISA documents them.
fn special(op: IeeeOp, x: f64) -> Option<f64> {
    let is_zero = x == 0.0;
    if x.is_nan() {
        let is_approximation = matches!(
            op,
            IeeeOp::Ex2
                | IeeeOp::Lg2
                | IeeeOp::Rcp
                | IeeeOp::SqrtApprox
                | IeeeOp::Rsqrt
                | IeeeOp::Sin
                | IeeeOp::Cos
                | IeeeOp::Tanh
        );
        return is_approximation.then_some(f64::NAN);
    }
    let known: [(IeeeOp, bool, f64); 13] = [
        (IeeeOp::Ex2, is_zero, 1.0),
        // Far beyond the largest number of any format that has this approximation.
        (IeeeOp::Ex2, x >= 1024.0, f64::INFINITY),
        (IeeeOp::Ex2, x == f64::NEG_INFINITY, 0.0),
        (IeeeOp::Lg2, is_zero, f64::NEG_INFINITY),
        (IeeeOp::Lg2, x == f64::INFINITY, x),
        (IeeeOp::Rcp, is_zero || x.is_infinite(), 1.0 / x),
        (IeeeOp::SqrtApprox, is_zero || x == f64::INFINITY, x),
        (IeeeOp::Rsqrt, is_zero, f64::INFINITY.copysign(x)),
        (IeeeOp::Rsqrt, x == f64::INFINITY, 0.0),
        (IeeeOp::Sin, is_zero, x),
        (IeeeOp::Cos, is_zero, 1.0),
        (op, matches!(op, IeeeOp::Sin | IeeeOp::Cos) && x.is_infinite(), f64::NAN),
        (IeeeOp::Tanh, x.is_infinite(), 1.0f64.copysign(x)),
    ];
    known.into_iter().find(|(of, holds, _)| *of == op && *holds).map(|(_, _, value)| value)
}

/// NaN has one representation here.
fn canonical(x: f64) -> f64 {
    if x.is_nan() { f64::NAN } else { x }
}

/// The number; `None` for an infinity or NaN.
fn number_of(x: f64) -> Option<Rational> {
    decode(Format::F64, x.to_bits()).extended().and_then(|number| number.finite().cloned())
}

fn rational(x: f64) -> Rational {
    number_of(x).unwrap_or(Rational::ZERO)
}

/// The encoding of a value that the format holds; of NaN, some encoding.
pub fn encoding(format: Format, x: f64) -> Option<u64> {
    let sign = if x.is_sign_negative() { 1 << (8 * format.bytes() - 1) } else { 0 };
    match decode(Format::F64, x.to_bits()).extended() {
        Some(Extended::Finite(number)) if number.is_zero() => Some(sign),
        Some(Extended::Finite(number)) => {
            is_exact(&number, format).then(|| round(&number, format, Rounding::Nearest))
        }
        Some(number @ (Extended::PosInf | Extended::NegInf)) => {
            let bits = crate::number::format::encode(&number, format, Rounding::Nearest);
            (to_f64(format, bits) == x).then_some(bits)
        }
        None => Some(match format {
            Format::F64 => 0x7ff8_0000_0000_0000,
            Format::F32 | Format::Tf32 => 0x7fff_ffff,
            Format::F16 | Format::Bf16 => 0x7fff,
            Format::E4m3 | Format::E5m2 => 0x7f,
            Format::Ue8m0 => 0xff,
        }),
    }
}

/// The least normal number of a format.
pub(crate) fn least_normal(format: Format) -> f64 {
    let exponent = match format {
        Format::F16 | Format::E5m2 => -14,
        Format::Bf16 | Format::F32 | Format::Tf32 => -126,
        Format::F64 => -1022,
        Format::E4m3 => -6,
        Format::Ue8m0 => -127,
    };
    f64::powi(2.0, exponent)
}

fn flush(format: Format, x: f64) -> f64 {
    if x.abs() < least_normal(format) { 0.0f64.copysign(x) } else { canonical(x) }
}

fn integral(number: &Rational, rounding: Rounding) -> Option<Rational> {
    Some(match rounding {
        Rounding::Nearest => number.round_even(),
        Rounding::Zero => number.trunc(),
        Rounding::Down => number.floor(),
        Rounding::Up => number.ceil(),
        Rounding::NearestAway => return None,
    })
}

/// The place of what known values decide: no finite number.
const DECIDED: u64 = u64::MAX;

impl Store {
    /// The key of an operation, as a term.
    pub fn ieee_key(&mut self, key: IeeeKey) -> TermId {
        let number = key.number();
        if let Some(known) = self.ieee_keys.get(&number) {
            return *known;
        }
        let exact = Extended::Finite(Rational::from_integer(number));
        let term = self.intern(Constant { exact, literal: None, rounded: None });
        self.ieee_keys.insert(number, term);
        term
    }

    /// A known value, as a term.
    pub fn ieee_number(&mut self, value: f64) -> TermId {
        let bits = Extended::Finite(Rational::from_u64(canonical(value).to_bits()));
        let bits = self.intern(Constant { exact: bits, literal: None, rounded: None });
        let key = self.ieee_key(IeeeKey::new(IeeeOp::Number, Format::F64));
        TermId::from_raw(self.push_uniform(TermOp::Ieee1, &[key.raw(), bits.raw()], InstId(u32::MAX)))
    }

    /// The value of a term, if it is known.
    pub fn as_ieee_number(&self, term: TermId) -> Option<f64> {
        let View::Apply(TermOp::Ieee1, [key, bits, _]) = self.view(term) else { return None };
        let (View::Constant(key), View::Constant(bits)) = (self.view(key), self.view(bits)) else {
            return None;
        };
        let key = IeeeKey::read(key.exact.finite()?)?;
        (key.op == IeeeOp::Number).then(|| bits.exact.finite()?.to_u64().map(f64::from_bits))?
    }

    /// Notes that an operation on known values gave a known result, which may be rounded.
    pub fn note_rounding(&mut self, key: IeeeKey, operands: &[f64], result: f64) {
        let error = self.rounding_of(key, operands, result);
        if error > 0.0 {
            let known = self.roundings.entry(result.abs().to_bits()).or_insert(0.0);
            *known = known.max(error);
        }
    }

    /// The largest relative error of an operation on known values.
    fn rounding_of(&self, key: IeeeKey, operands: &[f64], result: f64) -> f64 {
        let errors = operands.iter().map(|operand| self.known_rounding(*operand));
        // (1 + a) / (1 − e) − 1: products with a factor, or quotients by a divisor, whose error is e.
        let grown = |so_far: f64, error: f64| (so_far + error) / (1.0 - error);
        let unit = f64::powi(2.0, -(crate::number::format::mantissa_bits(key.format) as i32));
        let (all, most) =
            errors.fold((0.0, 0.0f64), |(all, most), error| (grown(all, error), most.max(error)));
        if most >= 0.25 {
            return f64::INFINITY;
        }
        let numbers: Option<Vec<Rational>> = operands.iter().map(|operand| number_of(*operand)).collect();
        let exact = match (key.op, numbers.as_deref()) {
            (IeeeOp::Add, Some([a, b])) => Some(a + b),
            (IeeeOp::Mul, Some([a, b])) => Some(a * b),
            (IeeeOp::Fma, Some([a, b, c])) => Some(&(a * b) + c),
            (IeeeOp::Div, Some([a, b])) => a.checked_div(b),
            (IeeeOp::Convert | IeeeOp::Flush, Some([a])) => Some(a.clone()),
            _ => None,
        };
        let own = if exact.is_some() && exact == number_of(result) { 0.0 } else { unit };
        // Where a result may be subnormal, or operands cancel, nothing is known.
        let loses = own > 0.0 && result.abs() < 2.0 * least_normal(key.format);
        let same_sign = |values: &[f64]| values.iter().all(|x| *x >= 0.0) || values.iter().all(|x| *x <= 0.0);
        let rounded = |error: f64| error + own + error * own;
        let error = match (key.op, operands) {
            _ if operands.iter().any(|operand| !operand.is_finite()) => 0.0,
            (IeeeOp::Neg | IeeeOp::Abs | IeeeOp::Min | IeeeOp::Max | IeeeOp::MinNan | IeeeOp::MaxNan, _)
            | (IeeeOp::Relu | IeeeOp::Saturate, _) => most,
            (IeeeOp::CopySign, [_, of]) => self.known_rounding(*of),
            _ if loses => f64::INFINITY,
            (IeeeOp::Mul | IeeeOp::Div | IeeeOp::Sqrt | IeeeOp::Convert | IeeeOp::Flush, _) => rounded(all),
            (IeeeOp::Add, values) if most == 0.0 || same_sign(values) => rounded(most),
            (IeeeOp::Fma, [a, b, c]) if most == 0.0 || same_sign(&[a * b, *c]) => rounded(all),
            (IeeeOp::Integral, _) if most == 0.0 => 0.0,
            _ if all == 0.0 && own == 0.0 => 0.0,
            _ => f64::INFINITY,
        };
        // With room for the roundings here.
        error * (1.0 + 1e-9)
    }

    /// Notes that a known integer was rounded to a float.
    pub fn note_rounded_integer(&mut self, format: Format, exact: &Rational, result: f64) {
        if number_of(result).as_ref() != Some(exact) {
            let unit = f64::powi(2.0, -(crate::number::format::mantissa_bits(format) as i32));
            let known = self.roundings.entry(result.abs().to_bits()).or_insert(0.0);
            *known = known.max(unit);
        }
    }

    /// Notes that a known value decides something, or is rounded to an integer: the exact one may decide otherwise.
    pub fn note_decision(&mut self, values: &[f64]) {
        if values.iter().any(|value| self.known_rounding(*value) > 0.0) {
            self.roundings.insert(DECIDED, f64::INFINITY);
        }
    }

    /// How far, relative to it, a known value may be from what the operations that gave it are over the reals.
    pub fn known_rounding(&self, value: f64) -> f64 {
        self.roundings.get(&value.abs().to_bits()).copied().unwrap_or(0.0)
    }

    /// Whether a rounded known value decided something.
    pub fn rounding_decides(&self) -> bool {
        self.roundings.contains_key(&DECIDED)
    }

    /// Whether floats are values of IEEE arithmetic.
    pub fn is_ieee(&self) -> bool {
        self.ieee
    }

    /// Makes floats values of IEEE arithmetic.
    pub fn set_ieee(&mut self) {
        self.ieee = true;
    }
}
