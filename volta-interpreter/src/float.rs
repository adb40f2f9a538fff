//! IEEE arithmetic on encodings, in the formats of PTX.
//!
//! A value is the bits of its format in the low end of a word. Native operations, which Rust defines as IEEE's, serve
//! f32 and f64 to nearest. All other formats and rounding modes use `rustc_apfloat`; functions use MPFR. Every format
//! is a subset of f64, so comparisons and conversions to integers use [`to_f64`].

use std::sync::OnceLock;

use rug::Float as Big;
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

pub use rustc_apfloat::Round;

/// A floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// IEEE binary16.
    F16,
    /// The upper half of binary32.
    Bf16,
    /// Binary32 with 10 bits of fraction, the others zero.
    Tf32,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// 8 bits, 4 of them exponent; no infinities.
    E4m3,
    /// 8 bits, 5 of them exponent.
    E5m2,
    /// 8 bits of exponent: powers of two, which are read and written, but not computed with.
    Ue8m0,
}

impl Format {
    /// The size of a value in bits.
    pub fn bits(self) -> u32 {
        match self {
            Format::E4m3 | Format::E5m2 | Format::Ue8m0 => 8,
            Format::F16 | Format::Bf16 => 16,
            Format::Tf32 | Format::F32 => 32,
            Format::F64 => 64,
        }
    }

    /// The number of stored bits of the fraction.
    pub fn fraction_bits(self) -> u32 {
        match self {
            Format::Ue8m0 => 0,
            Format::E5m2 => 2,
            Format::E4m3 => 3,
            Format::Bf16 => 7,
            Format::F16 | Format::Tf32 => 10,
            Format::F32 => 23,
            Format::F64 => 52,
        }
    }

    /// The exponent of the smallest normal number.
    pub fn min_exponent(self) -> i32 {
        match self {
            Format::E4m3 => -6,
            Format::E5m2 | Format::F16 => -14,
            Format::Bf16 | Format::Tf32 | Format::F32 => -126,
            Format::F64 => -1022,
            Format::Ue8m0 => -127,
        }
    }

    /// The NaN that operations return.
    pub fn nan(self) -> u64 {
        match self {
            Format::E4m3 | Format::E5m2 => 0x7f,
            Format::Ue8m0 => 0xff,
            Format::F16 | Format::Bf16 => 0x7fff,
            Format::Tf32 | Format::F32 => 0x7fff_ffff,
            Format::F64 => 0x7ff8_0000_0000_0000,
        }
    }

    fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    fn one(self) -> u64 {
        from_f64(self, 1.0, Round::NearestTiesToEven)
    }
}

/// The mask of a value of `bits` bits.
pub fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Expands `$body` with `$f` as the `rustc_apfloat` type for a format.
macro_rules! with_type {
    ($format:expr, $f:ident, $body:expr) => {
        match $format {
            Format::F16 => {
                type $f = Half;
                $body
            }
            Format::Bf16 => {
                type $f = BFloat;
                $body
            }
            Format::Tf32 | Format::F32 => {
                type $f = Single;
                $body
            }
            Format::F64 => {
                type $f = Double;
                $body
            }
            Format::E4m3 => {
                type $f = Float8E4M3FN;
                $body
            }
            Format::E5m2 => {
                type $f = Float8E5M2;
                $body
            }
            Format::Ue8m0 => unreachable!("powers of two are not computed with"),
        }
    };
}

fn canonical(format: Format, bits: u64) -> u64 {
    if is_nan(format, bits) { format.nan() } else { bits }
}

/// Whether the bits are a NaN.
pub fn is_nan(format: Format, bits: u64) -> bool {
    match format {
        Format::F32 => f32::from_bits(bits as u32).is_nan(),
        Format::F64 => f64::from_bits(bits).is_nan(),
        Format::F16 | Format::Bf16 | Format::Tf32 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => {
            to_f64(format, bits).is_nan()
        }
    }
}

/// The value, exactly.
pub fn to_f64(format: Format, bits: u64) -> f64 {
    match format {
        Format::F16 => f64::from(half(bits)),
        Format::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
        Format::Tf32 | Format::F32 => f64::from(f32::from_bits(bits as u32)),
        Format::F64 => f64::from_bits(bits),
        Format::E4m3 => widened::<Float8E4M3FN>(bits),
        Format::E5m2 => widened::<Float8E5M2>(bits),
        Format::Ue8m0 if bits & 0xff == 0xff => f64::NAN,
        Format::Ue8m0 => f64::powi(2.0, (bits & 0xff) as i32 - 127),
    }
}

fn widened<F: FloatConvert<Double>>(bits: u64) -> f64 {
    let value: Double = F::from_bits(u128::from(bits) & ((1 << F::BITS) - 1)).convert(&mut false).value;
    f64::from_bits(value.to_bits() as u64)
}

/// The value of an f16, by table lookup, since matrices have many of them.
pub fn half(bits: u64) -> f32 {
    static TABLE: OnceLock<Vec<f32>> = OnceLock::new();
    let table = TABLE.get_or_init(|| (0..1 << 16).map(|bits| widened::<Half>(bits) as f32).collect());
    table[(bits & 0xffff) as usize]
}

/// A number rounded to a format.
pub fn from_f64(format: Format, value: f64, round: Round) -> u64 {
    if value.is_nan() {
        return format.nan();
    }
    match (format, round) {
        (Format::F64, _) => value.to_bits(),
        (Format::F32, Round::NearestTiesToEven) => u64::from((value as f32).to_bits()),
        (Format::Tf32, _) => {
            let bits = from_f64(Format::F32, value, Round::TowardZero);
            let sticky = to_f64(Format::F32, bits) != value;
            to_tf32(bits, sticky, round)
        }
        // Towards the next smaller power of two.
        (Format::Ue8m0, _) => (value.abs().log2().floor().clamp(-127.0, 127.0) + 127.0) as u64,
        _ => {
            let wide = Double::from_bits(u128::from(value.to_bits()));
            with_type!(format, F, {
                let narrow: F = wide.convert_r(round, &mut false).value;
                canonical(format, narrow.to_bits() as u64)
            })
        }
    }
}

/// Rounds the bits of an f32 to those of a tf32. `sticky`: non-zero bits below them have been dropped before.
fn to_tf32(bits: u64, sticky: bool, round: Round) -> u64 {
    const CUT: u64 = (1 << 13) - 1;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude >= 0x7f80_0000 {
        return if magnitude > 0x7f80_0000 { Format::Tf32.nan() } else { bits };
    }
    let (rest, half) = (bits & CUT, 1 << 12);
    let negative = bits >> 31 == 1;
    let inexact = rest != 0 || sticky;
    let up = match round {
        Round::NearestTiesToEven => rest > half || rest == half && (sticky || bits >> 13 & 1 == 1),
        Round::NearestTiesToAway => rest >= half,
        Round::TowardZero => false,
        Round::TowardPositive => inexact && !negative,
        Round::TowardNegative => inexact && negative,
    };
    (bits & !CUT) + (u64::from(up) << 13)
}

/// An integer rounded to a format.
pub fn from_integer(format: Format, value: i128, round: Round) -> u64 {
    with_type!(format, F, F::from_i128_r(value, round).value.to_bits() as u64)
}

/// The number rounded to an integer, and clamped to `bits` bits.
pub fn to_integer(format: Format, value: u64, round: Round, bits: u32, signed: bool) -> u64 {
    let value = to_f64(format, value);
    if value.is_nan() {
        // The result that the ISA defines for NaN depends on the widths.
        let wide = format == Format::F64 || bits == 64;
        return if wide { 1 << (bits - 1) } else { 0 };
    }
    let (low, high) =
        if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    // Rust's conversion clamps values beyond 128 bits.
    ((integral(value, round) as i128).clamp(low, high) as u64) & mask(bits)
}

/// The number rounded to an integer.
pub fn integral(value: f64, round: Round) -> f64 {
    match round {
        Round::NearestTiesToEven => value.round_ties_even(),
        Round::NearestTiesToAway => value.round(),
        Round::TowardZero => value.trunc(),
        Round::TowardNegative => value.floor(),
        Round::TowardPositive => value.ceil(),
    }
}

/// Operations that are rounded once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `a + b`
    Add,
    /// `a − b`
    Sub,
    /// `a · b`
    Mul,
    /// `a · b + c`
    Fma,
    /// `a / b`
    Div,
    /// `√a`
    Sqrt,
}

/// One operation, correctly rounded; a NaN result is the canonical one.
pub fn arithmetic(op: Arithmetic, format: Format, round: Round, [a, b, c]: [u64; 3]) -> u64 {
    use Arithmetic::*;
    match (format, round) {
        (Format::F32, Round::NearestTiesToEven) => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            let value = match op {
                Add => a + b,
                Sub => a - b,
                Mul => a * b,
                Fma => a.mul_add(b, c),
                Div => a / b,
                Sqrt => a.sqrt(),
            };
            if value.is_nan() { format.nan() } else { u64::from(value.to_bits()) }
        }
        (Format::F64, Round::NearestTiesToEven) => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            let value = match op {
                Add => a + b,
                Sub => a - b,
                Mul => a * b,
                Fma => a.mul_add(b, c),
                Div => a / b,
                Sqrt => a.sqrt(),
            };
            if value.is_nan() { format.nan() } else { value.to_bits() }
        }
        _ if op == Sqrt => square_root(format, round, a),
        _ => with_type!(format, F, {
            let [a, b, c] = [a, b, c].map(|bits| F::from_bits(u128::from(bits & mask(format.bits()))));
            let value = match op {
                Add => a.add_r(b, round),
                Sub => a.sub_r(b, round),
                Mul => a.mul_r(b, round),
                Fma => a.mul_add_r(b, c, round),
                Div => a.div_r(b, round),
                Sqrt => unreachable!("a square root is computed elsewhere"),
            };
            canonical(format, value.value.to_bits() as u64)
        }),
    }
}

/// Square roots are never subnormal, so only the precision of the format matters.
fn square_root(format: Format, round: Round, a: u64) -> u64 {
    use rug::float::Round as Mpfr;
    let value = to_f64(format, a);
    if value == 0.0 {
        return a;
    }
    let round = match round {
        Round::TowardZero => Mpfr::Zero,
        Round::TowardPositive => Mpfr::Up,
        Round::TowardNegative => Mpfr::Down,
        Round::NearestTiesToEven | Round::NearestTiesToAway => Mpfr::Nearest,
    };
    let exact = Big::with_val(53, value);
    let (root, _) = Big::with_val_round(format.fraction_bits() + 1, exact.sqrt_ref(), round);
    from_f64(format, root.to_f64(), Round::NearestTiesToEven)
}

/// The functions that hardware approximates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `2^a`
    Exp2,
    /// `log₂ a`
    Log2,
    /// `1/√a`
    Rsqrt,
    /// `1/a`
    Rcp,
    /// `√a`
    Sqrt,
    /// `sin a`
    Sin,
    /// `cos a`
    Cos,
    /// `tanh a`
    Tanh,
}

/// The value of a function: for f64 to nearest, by MPFR; for narrower formats rounded from an f64 with an error below
/// one unit in the last place. That differs from the nearest value about once in 2²⁸ cases; the instructions guarantee
/// less.
pub fn function(function: Function, format: Format, a: u64) -> u64 {
    let value = to_f64(format, a);
    let result = match function {
        // Neither library returns an infinity with the sign of the zero.
        Function::Rsqrt if value == 0.0 => 1.0 / value,
        _ if format == Format::F64 => exactly(function, value),
        Function::Exp2 => value.exp2(),
        Function::Log2 => value.log2(),
        Function::Rsqrt => 1.0 / value.sqrt(),
        Function::Rcp => 1.0 / value,
        Function::Sqrt => value.sqrt(),
        Function::Sin => value.sin(),
        Function::Cos => value.cos(),
        Function::Tanh => value.tanh(),
    };
    from_f64(format, result, Round::NearestTiesToEven)
}

/// A value of a function that errs as far as its instruction may, up or down: within the error that the PTX ISA
/// documents, relative or as a distance. Special operands have their documented results, and where nothing is
/// documented the value does not err.
pub fn erring_function(function: Function, format: Format, a: u64, up: bool) -> u64 {
    let nearest = self::function(function, format, a);
    let (operand, exact) = (to_f64(format, a), exactly(function, to_f64(format, a)));
    if operand == 0.0 || !operand.is_finite() || !exact.is_finite() {
        return nearest;
    }
    let power = |exponent: f64| exponent.exp2();
    let relative = |error: f64| exact.abs() * error;
    let error = match (function, format) {
        (Function::Rcp | Function::Sqrt, Format::F32) => relative(power(-23.0)),
        (Function::Exp2, Format::F32) => relative(power(-22.0)),
        (Function::Rsqrt, Format::F32) => relative(power(-22.9)),
        (Function::Log2, Format::F32) if (0.5..2.0).contains(&operand) => power(-22.0),
        (Function::Log2, Format::F32) => relative(power(-22.0)),
        (Function::Sin | Function::Cos, Format::F32) if operand.abs() <= std::f64::consts::TAU => {
            power(-20.5)
        }
        (Function::Sin | Function::Cos, Format::F32) if operand.abs() <= 314.0 => power(-14.7),
        (Function::Tanh, Format::F32) => relative(power(-11.0)),
        (Function::Exp2, Format::F16) => relative(power(-9.9)),
        (Function::Exp2, Format::Bf16) => relative(power(-7.0)),
        (Function::Tanh, Format::F16) => power(-10.987),
        (Function::Tanh, Format::Bf16) => power(-8.0),
        _ => return nearest,
    };
    // Rounded back, so that it stays within the error; of subnormal results less is known.
    let (far, back) =
        if up { (exact + error, Round::TowardNegative) } else { (exact - error, Round::TowardPositive) };
    let erring = from_f64(format, far, back);
    let value = to_f64(format, erring);
    let is_normal = value.is_finite() && flush(format, erring) == erring && value * exact > 0.0;
    if is_normal && (value - exact).abs() <= error { erring } else { nearest }
}

fn exactly(function: Function, value: f64) -> f64 {
    let exact = Big::with_val(96, value);
    let exact = match function {
        Function::Exp2 => exact.exp2(),
        Function::Log2 => exact.log2(),
        Function::Rsqrt => exact.recip_sqrt(),
        Function::Rcp => exact.recip(),
        Function::Sqrt => exact.sqrt(),
        Function::Sin => exact.sin(),
        Function::Cos => exact.cos(),
        Function::Tanh => exact.tanh(),
    };
    exact.to_f64()
}

/// Replaces a subnormal number by a zero of its sign.
pub fn flush(format: Format, bits: u64) -> u64 {
    let exponent_and_fraction = bits & (format.sign() - 1);
    if exponent_and_fraction >> format.fraction_bits() == 0 { bits & format.sign() } else { bits }
}

/// The clamping of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// None.
    None,
    /// `.sat`: to [0, 1]; NaN becomes +0.
    Unit,
    /// `.relu`: negative numbers become 0; NaN remains.
    Relu,
}

/// Clamps a value.
pub fn clamp(format: Format, clamp: Clamp, bits: u64) -> u64 {
    let value = to_f64(format, bits);
    match clamp {
        Clamp::None => bits,
        Clamp::Unit if value >= 1.0 => format.one(),
        Clamp::Unit if value > 0.0 => bits,
        Clamp::Unit => 0,
        Clamp::Relu if value.is_nan() || value > 0.0 => bits,
        Clamp::Relu => 0,
    }
}

/// The smaller or the larger of two numbers; −0 is below +0. One NaN is ignored, or with `nan` is the result.
pub fn extreme(format: Format, largest: bool, nan: bool, a: u64, b: u64) -> u64 {
    let (left, right) = (to_f64(format, a), to_f64(format, b));
    match (left.is_nan(), right.is_nan()) {
        (true, true) => format.nan(),
        (true, false) => {
            if nan {
                format.nan()
            } else {
                b
            }
        }
        (false, true) => {
            if nan {
                format.nan()
            } else {
                a
            }
        }
        (false, false) => {
            if (left.total_cmp(&right) == std::cmp::Ordering::Greater) == largest {
                a
            } else {
                b
            }
        }
    }
}

/// Flips the sign.
pub fn negate(format: Format, bits: u64) -> u64 {
    bits ^ format.sign()
}

/// Clears the sign.
pub fn magnitude(format: Format, bits: u64) -> u64 {
    bits & !format.sign()
}

/// `bits` with the sign of `sign`.
pub fn copy_sign(format: Format, sign: u64, bits: u64) -> u64 {
    magnitude(format, bits) | sign & format.sign()
}

#[cfg(test)]
mod tests;
