//! IEEE arithmetic for oracles: native operations, and directed rounding and narrow formats from them.
//!
//! An exact result is kept as an f64 and a remainder ([`Sum`]); rounding their sum to odd in f64 keeps enough bits to
//! round correctly to any narrower format.

use volta_core::number::format::Format;

/// A rounding direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Nearest,
    Zero,
    Down,
    Up,
}

/// The modes and their names in PTX.
pub(crate) const MODES: [(&str, Mode); 4] =
    [("rn", Mode::Nearest), ("rz", Mode::Zero), ("rm", Mode::Down), ("rp", Mode::Up)];

/// A number: an f64, and the sign of what is missing from it, which is less than half a unit in its last place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub(crate) near: f64,
    pub(crate) rest: f64,
}

impl Sum {
    pub(crate) fn exact(near: f64) -> Sum {
        Sum { near, rest: 0.0 }
    }

    /// `a + b` (Knuth).
    pub(crate) fn add(a: f64, b: f64) -> Sum {
        let near = a + b;
        let virtual_b = near - a;
        let rest = (a - (near - virtual_b)) + (b - virtual_b);
        Sum { near, rest }
    }

    /// `a · b`, where the error does not underflow.
    pub(crate) fn mul(a: f64, b: f64) -> Sum {
        let near = a * b;
        Sum { near, rest: a.mul_add(b, -near) }
    }

    /// `a / b`: the rest has the sign of what is missing.
    pub(crate) fn div(a: f64, b: f64) -> Sum {
        let near = a / b;
        let remainder = (-near).mul_add(b, a);
        Sum { near, rest: if b < 0.0 { -remainder } else { remainder } }
    }

    /// An integer.
    pub(crate) fn integer(value: i128) -> Sum {
        let near = value as f64;
        Sum { near, rest: (value - near as i128) as f64 }
    }

    /// The f64 next to the number on the side where the last bit is one, or the number itself.
    fn odd(self) -> f64 {
        if self.rest == 0.0 || self.near.to_bits() & 1 == 1 {
            self.near
        } else if self.rest > 0.0 {
            self.near.next_up()
        } else {
            self.near.next_down()
        }
    }

    /// The encoding in a format, and whether it is exact.
    pub(crate) fn round(self, format: Format, mode: Mode) -> (u64, bool) {
        if format == Format::F64 {
            return (self.round_f64(mode), self.rest == 0.0);
        }
        let odd = self.odd();
        let bits = narrow(odd, format, mode);
        (bits, self.rest == 0.0 && widen(format, bits) == odd)
    }

    fn round_f64(self, mode: Mode) -> u64 {
        let Sum { near, rest } = self;
        let adjusted = match mode {
            Mode::Nearest => near,
            Mode::Up if rest > 0.0 => near.next_up(),
            Mode::Down if rest < 0.0 => near.next_down(),
            Mode::Zero if rest > 0.0 && near < 0.0 => near.next_up(),
            Mode::Zero if rest < 0.0 && near > 0.0 => near.next_down(),
            Mode::Up | Mode::Down | Mode::Zero => near,
        };
        adjusted.to_bits()
    }
}

/// Exponent and mantissa bits.
fn layout(format: Format) -> (u32, u32) {
    match format {
        Format::F16 => (5, 10),
        Format::Bf16 => (8, 7),
        Format::F32 => (8, 23),
        Format::F64 => (11, 52),
        Format::E4m3 => (4, 3),
        Format::E5m2 => (5, 2),
        Format::Tf32 => (8, 10),
        Format::Ue8m0 => (8, 0),
    }
}

/// The f64 of an encoding in an IEEE-like format of at most 32 bits.
pub(crate) fn widen(format: Format, bits: u64) -> f64 {
    let (exponent_bits, mantissa_bits) = layout(format);
    if format == Format::F64 {
        return f64::from_bits(bits);
    }
    if format == Format::Ue8m0 {
        return if bits & 0xff == 0xff { f64::NAN } else { 2f64.powi((bits & 0xff) as i32 - 127) };
    }
    let bias = (1 << (exponent_bits - 1)) - 1;
    let sign = if bits >> (exponent_bits + mantissa_bits) & 1 == 1 { -1.0 } else { 1.0 };
    let exponent = (bits >> mantissa_bits & ((1 << exponent_bits) - 1)) as i32;
    let mantissa = (bits & ((1 << mantissa_bits) - 1)) as f64;
    let unit = |exponent: i32| 2f64.powi(exponent - bias - mantissa_bits as i32);
    let top = (1 << exponent_bits) - 1;
    let has_infinities = format != Format::E4m3;
    sign * match exponent {
        0 => mantissa * unit(1),
        _ if exponent == top && has_infinities => {
            if mantissa == 0.0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        _ if exponent == top && mantissa == 7.0 => f64::NAN,
        _ => (mantissa + (1u64 << mantissa_bits) as f64) * unit(exponent),
    }
}

/// Rounds a number, not NaN, to an IEEE format; overflow goes to infinity or the largest number as the mode has it.
pub(crate) fn narrow(value: f64, format: Format, mode: Mode) -> u64 {
    let (exponent_bits, mantissa_bits) = layout(format);
    let sign = u64::from(value.is_sign_negative());
    let magnitude = value.abs();
    let infinity = ((1u64 << exponent_bits) - 1) << mantissa_bits;
    let signed = |bits: u64| sign << (exponent_bits + mantissa_bits) | bits;
    if magnitude.is_infinite() {
        return signed(infinity);
    }
    // The encodings of a sign, as integers, are in the order of what they stand for: look for the largest one
    // that is not above the number.
    let (mut low, mut high) = (0, infinity);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if widen(format, middle) <= magnitude { low = middle } else { high = middle }
    }
    let below = widen(format, low);
    let away = match mode {
        _ if below == magnitude => false,
        Mode::Zero => false,
        Mode::Down => sign == 1,
        Mode::Up => sign == 0,
        Mode::Nearest => {
            // Beyond the largest number the next one would be a power of two.
            let above = if low + 1 == infinity {
                2.0 * widen(format, infinity - (1 << mantissa_bits))
            } else {
                widen(format, low + 1)
            };
            let (down, up) = (magnitude - below, above - magnitude);
            up < down || up == down && low & 1 == 1
        }
    };
    signed(if away { low + 1 } else { low })
}

#[test]
fn narrowing_agrees_with_the_hardware_where_it_can() {
    let mut random = super::run::Random(2);
    for _ in 0..20_000 {
        let value = f64::from_bits(random.next());
        if !value.is_nan() {
            let bits = u64::from((value as f32).to_bits());
            assert_eq!(narrow(value, Format::F32, Mode::Nearest), bits, "{value:e}");
        }
        let value = f32::from_bits(random.next() as u32);
        if !value.is_nan() {
            assert_eq!(widen(Format::F32, u64::from(value.to_bits())), f64::from(value));
            let around = f64::from(value) * (1.0 + f64::EPSILON * (random.next() % 1024) as f64);
            assert_eq!(narrow(around, Format::F32, Mode::Nearest), u64::from((around as f32).to_bits()));
        }
    }
}
