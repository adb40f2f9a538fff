//! Enclosures: intervals that are guaranteed to contain a real number.
//!
//! [`Narrow`] has `f64` bounds and uses only the four IEEE operations and the square root, rounded outwards by
//! error-free transformations; [`Wide`] has MPFR bounds of any precision. Both are tight: an exact result stays a
//! point. An operation returns `None` if its bounds leave the type's range, and its caller tries a wider type.

use std::cmp::Ordering;

use rug::Float;
use rug::float::Round;

use super::{Rational, format::Format};

/// An interval with a lower and an upper bound that contains a finite real.
pub trait Enclosure: Clone {
    /// The tightest enclosure of a rational, with `precision` bits if the type has a precision.
    fn exact(value: &Rational, precision: u32) -> Option<Self>;
    /// `mantissa · 2^exp`, for small exponents.
    fn dyadic(mantissa: i64, exp: i32, precision: u32) -> Option<Self> {
        Self::exact(&Rational::from_dyadic(mantissa, exp), precision)
    }

    /// The smallest interval that contains both.
    fn hull(&self, other: &Self) -> Self;
    /// `a + b`
    fn add(&self, other: &Self) -> Option<Self>;
    /// `a − b`
    fn sub(&self, other: &Self) -> Option<Self>;
    /// `a · b`
    fn mul(&self, other: &Self) -> Option<Self>;
    /// `a / b`; also `None` if `b` may be 0.
    fn div(&self, other: &Self) -> Option<Self>;
    /// `−a`
    fn neg(&self) -> Self;
    /// `|a|`
    fn abs(&self) -> Self;
    /// `max(a, b)`
    fn max(&self, other: &Self) -> Self;
    /// `min(a, b)`
    fn min(&self, other: &Self) -> Self;
    /// `2^a`
    fn exp2(&self) -> Option<Self>;
    /// A function; also `None` if it may be undefined.
    fn apply(&self, function: Function) -> Option<Self>;
    /// Both bounds rounded to an integer, which encloses the rounded value because rounding is monotonic.
    fn to_integer(&self, towards: Towards) -> Self;
    /// The comparisons of the lower and the upper bound with 0.
    fn signs(&self) -> (Ordering, Ordering);
    /// Whether every value of `self` is below every value of `other`.
    fn is_below(&self, other: &Self) -> bool;
    /// Whether no value of `self` is above a value of `other`.
    fn is_at_most(&self, other: &Self) -> bool;
    /// Whether the lower and the upper bound are equal.
    fn is_point(&self) -> bool;
    /// The bounds.
    fn bounds(&self) -> (Rational, Rational);
    /// Approximate binary exponents of the leading bits of the bounds; 0 for a bound that is 0.
    fn exponents(&self) -> (i32, i32);

    /// The smallest enclosure of everything between two rationals.
    fn between(lower: &Rational, upper: &Rational, precision: u32) -> Option<Self> {
        Some(Self::exact(lower, precision)?.hull(&Self::exact(upper, precision)?))
    }

    /// `min(max(a, 0), 1)`
    fn saturate(&self) -> Option<Self> {
        Some(self.max(&Self::exact(&Rational::ZERO, 64)?).min(&Self::exact(&Rational::ONE, 64)?))
    }

    /// Whether the two have no value in common.
    fn is_disjoint(&self, other: &Self) -> bool {
        self.is_below(other) || other.is_below(self)
    }

    /// The sign if it is certain; `None` if the enclosure contains values of different signs.
    fn sign(&self) -> Option<Ordering> {
        match self.signs() {
            (Ordering::Greater, _) => Some(Ordering::Greater),
            (_, Ordering::Less) => Some(Ordering::Less),
            (Ordering::Equal, Ordering::Equal) => Some(Ordering::Equal),
            (Ordering::Less | Ordering::Equal, Ordering::Equal | Ordering::Greater) => None,
        }
    }
}

/// A function of one real. Its other properties are in the table of operations ([`crate::term::Info`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// `min(max(a, 0), 1)`
    Saturate,
    /// `log₂ a`
    Log2,
    /// `√a`
    Sqrt,
    /// `1/√a`
    Rsqrt,
    /// `sin a`
    Sin,
    /// `cos a`
    Cos,
    /// `tanh a`
    Tanh,
    /// The error function, `2/√π · ∫₀ᵃ e^(−t²) dt`
    Erf,
    /// `arctan a`
    Atan,
    /// The cube root of `a`
    Cbrt,
    /// Γ at a positive `a`
    Gamma,
    /// The Bessel function J₀
    BesselJ0,
    /// The Bessel function J₁
    BesselJ1,
    /// The Bessel function Y₀ at a positive `a`
    BesselY0,
    /// The Bessel function Y₁ at a positive `a`
    BesselY1,
    /// `a` rounded to an integer
    Round(Towards),
    /// The integer that encodes `a` in a format. It depends on rounding, so it is not a real function
    Encode(Format),
    /// The number that an integer encodes in a format
    Decode(Format),
    /// The result of a loop as a function of its intermediate values.
    Outcome,
}

/// A rounding to integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Towards {
    /// The largest integer not above.
    Floor,
    /// The smallest integer not below.
    Ceil,
    /// Towards zero.
    Zero,
    /// The nearest, ties to even.
    NearestEven,
}

impl Towards {
    /// Rounds a number.
    pub fn round(self, value: &Rational) -> Rational {
        match self {
            Towards::Floor => value.floor(),
            Towards::Ceil => value.ceil(),
            Towards::Zero => value.trunc(),
            Towards::NearestEven => value.round_even(),
        }
    }
}

/// An enclosure with `f64` bounds.
///
/// Invariant: `lo ≤ hi`, both finite and at most 2⁹⁰⁰ in magnitude, so that the error-free transformations below
/// do not overflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Narrow {
    lo: f64,
    hi: f64,
}

/// A power of two as `f64`.
const fn power(exp: i32) -> f64 {
    f64::from_bits(((exp + 1023) as u64) << 52)
}

const HUGE: f64 = power(900);
/// Below this, products of the halves of mantissas might underflow.
const TINY: f64 = power(-900);

/// Bounds of an exact result: two neighbouring floats, or one twice.
#[derive(Clone, Copy)]
struct Rounded {
    down: f64,
    up: f64,
}

impl Rounded {
    /// `error` has the sign of the exact result minus `nearest`; a NaN means unknown.
    #[inline]
    fn new(nearest: f64, error: f64) -> Rounded {
        Rounded {
            down: if error >= 0.0 { nearest } else { nearest.next_down() },
            up: if error <= 0.0 { nearest } else { nearest.next_up() },
        }
    }

    #[inline]
    fn exactly(value: f64) -> Rounded {
        Rounded { down: value, up: value }
    }

    #[inline]
    fn around(nearest: f64) -> Rounded {
        Rounded::new(nearest, f64::NAN)
    }
}

#[inline]
fn is_safe(value: f64) -> bool {
    (TINY..=HUGE).contains(&value.abs())
}

/// Knuth's two-sum.
#[inline]
fn add(a: f64, b: f64) -> Rounded {
    let sum = a + b;
    let part = sum - a;
    Rounded::new(sum, (a - (sum - part)) + (b - part))
}

/// Veltkamp's split into halves of 26 bits.
#[inline]
fn split(a: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * a;
    let high = scaled - (scaled - a);
    (high, a - high)
}

/// Dekker's product error `a·b − product`, exact if all three are in the safe range.
#[inline]
fn product_error(a: f64, b: f64, product: f64) -> f64 {
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
}

#[inline]
fn mul(a: f64, b: f64) -> Rounded {
    if a == 0.0 || b == 0.0 {
        return Rounded::exactly(0.0);
    }
    let product = a * b;
    if is_safe(a) && is_safe(b) && is_safe(product) {
        Rounded::new(product, product_error(a, b, product))
    } else {
        Rounded::around(product)
    }
}

fn div(a: f64, b: f64) -> Rounded {
    if a == 0.0 {
        return Rounded::exactly(0.0);
    }
    let quotient = a / b;
    let product = quotient * b;
    if is_safe(a) && is_safe(b) && is_safe(quotient) && is_safe(product) {
        let rest = (a - product) - product_error(quotient, b, product);
        Rounded::new(quotient, if b > 0.0 { rest } else { -rest })
    } else {
        Rounded::around(quotient)
    }
}

fn sqrt(a: f64) -> Rounded {
    let root = a.sqrt();
    let square = root * root;
    if a == 0.0 {
        Rounded::exactly(0.0)
    } else if is_safe(a) && is_safe(square) {
        Rounded::new(root, (a - square) - product_error(root, root, square))
    } else {
        // The root of any number is far from the subnormal range.
        Rounded::around(root)
    }
}

/// `(ln 2)^k / k!`
const EXP2_SERIES: [f64; 14] = [
    1.0,
    std::f64::consts::LN_2,
    0.24022650695910072,
    0.05550410866482158,
    0.009618129107628477,
    0.0013333558146428443,
    0.0001540353039338161,
    1.5252733804059841e-05,
    1.321548679014431e-06,
    1.01780860092397e-07,
    7.054911620801123e-09,
    4.4455382718708116e-10,
    2.5678435993488206e-11,
    1.3691488853904128e-12,
];

/// `2^a` for `a ≤ 900`.
///
/// With `a = n + r`, `|r| ≤ 1/2`, the series of `2^r` truncated after 14 terms has an error below
/// `0.35¹⁴/14! < 2⁻⁵⁷`, and Horner's scheme has rounding errors below `2⁻⁵⁰`; results are at least 0.7. The margin
/// of `2⁻⁴⁶` covers both, and the roundings of applying it.
fn exp2(a: f64) -> Rounded {
    if a < -900.0 {
        return Rounded { down: 0.0, up: power(-899) };
    }
    let whole = a.round_ties_even();
    let rest = a - whole;
    let scale = power(whole as i32);
    if rest == 0.0 {
        return Rounded::exactly(scale);
    }
    let value = EXP2_SERIES.iter().rev().fold(0.0, |sum, term| sum * rest + term) * scale;
    Rounded { down: value * (1.0 - power(-46)), up: value * (1.0 + power(-46)) }
}

/// `log₂ a` for a normal `a > 0`.
///
/// With `a = 2ⁿ · m`, `m` between `√½` and `√2`, and `t = (m − 1)/(m + 1)`, it is `n + 2/ln 2 · (t + t³/3 + …)`. `m − 1`
/// is exact, and `|t| < 0.172`, so the series truncated after 12 terms has a relative error below `0.172²⁴/25 < 2⁻⁶⁵`. The
/// roundings of `t`, of Horner's scheme and of the products are below `2⁻⁴⁹` of the series' value. The margin of `2⁻⁴⁶` of it
/// covers these, and that of `2⁻⁵¹` of the sum its rounding and that of applying the margins.
fn log2(a: f64) -> Rounded {
    let bits = a.to_bits();
    let (mut whole, mut mantissa) =
        ((bits >> 52) as i32 - 1023, f64::from_bits(bits & !(0xfff << 52) | 0x3ff << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        (whole, mantissa) = (whole + 1, mantissa / 2.0);
    }
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = (0..12).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    let part = 2.0 * std::f64::consts::LOG2_E * ratio * series;
    let value = f64::from(whole) + part;
    let margin = part.abs() * power(-46) + value.abs() * power(-51);
    if part == 0.0 { Rounded::exactly(value) } else { Rounded { down: value - margin, up: value + margin } }
}

impl Narrow {
    /// The numbers between two; `None` if these are too large.
    #[inline]
    pub fn new(lo: f64, hi: f64) -> Option<Narrow> {
        (lo >= -HUGE && hi <= HUGE && lo <= hi).then_some(Narrow { lo, hi })
    }

    fn combine(&self, other: &Narrow, operation: fn(f64, f64) -> Rounded) -> Option<Narrow> {
        let corner = operation(self.lo, other.lo);
        if self.is_point() && other.is_point() {
            return Narrow::new(corner.down, corner.up);
        }
        let rest = [operation(self.lo, other.hi), operation(self.hi, other.lo), operation(self.hi, other.hi)];
        let lo = rest.iter().fold(corner.down, |lo, corner| lo.min(corner.down));
        let hi = rest.iter().fold(corner.up, |hi, corner| hi.max(corner.up));
        Narrow::new(lo, hi)
    }

    fn ascending(&self, function: fn(f64) -> Rounded) -> Option<Narrow> {
        Narrow::new(function(self.lo).down, function(self.hi).up)
    }

    /// Through MPFR, for functions that are rarely used.
    fn through(&self, function: Function) -> Option<Narrow> {
        let wide = Wide { lo: Float::with_val(64, self.lo), hi: Float::with_val(64, self.hi) };
        let result = wide.apply(function)?;
        Narrow::new(result.lo.to_f64_round(Round::Down), result.hi.to_f64_round(Round::Up))
    }

    /// An estimate of the width relative to the magnitude.
    pub fn relative_width(&self) -> f64 {
        (self.hi - self.lo) / self.lo.abs().max(self.hi.abs()).max(f64::MIN_POSITIVE)
    }

    /// The least and the greatest number.
    pub fn ends(&self) -> [f64; 2] {
        [self.lo, self.hi]
    }

    /// A number in the interval, if the interval is narrow relative to its magnitude.
    pub fn middle(&self, tolerance: f64) -> Option<f64> {
        let middle = self.lo / 2.0 + self.hi / 2.0;
        (self.hi - self.lo <= tolerance * middle.abs()).then_some(middle)
    }
}

impl Enclosure for Narrow {
    fn exact(value: &Rational, _precision: u32) -> Option<Narrow> {
        const WHOLE: u64 = 1 << 53;
        if let Some((num, den)) = value.to_small_parts()
            && num.unsigned_abs() <= WHOLE
        {
            if den.is_power_of_two() {
                let [lo, hi] = [num as f64 / den as f64; 2];
                return Some(Narrow { lo, hi });
            }
            if den <= WHOLE {
                let quotient = div(num as f64, den as f64);
                return Narrow::new(quotient.down, quotient.up);
            }
        }
        let exact = value.to_rug();
        let bound = |round| Float::with_val_round(64, &exact, round).0.to_f64_round(round);
        Narrow::new(bound(Round::Down), bound(Round::Up))
    }

    #[inline]
    fn dyadic(mantissa: i64, exp: i32, precision: u32) -> Option<Narrow> {
        if mantissa.unsigned_abs() > 1 << 53 || !(-800..800).contains(&exp) {
            return Narrow::exact(&Rational::from_dyadic(mantissa, exp), precision);
        }
        let value = mantissa as f64 * power(exp);
        Some(Narrow { lo: value, hi: value })
    }

    fn hull(&self, other: &Narrow) -> Narrow {
        Narrow { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    #[inline]
    fn add(&self, other: &Narrow) -> Option<Narrow> {
        Narrow::new(add(self.lo, other.lo).down, add(self.hi, other.hi).up)
    }

    #[inline]
    fn sub(&self, other: &Narrow) -> Option<Narrow> {
        Narrow::new(add(self.lo, -other.hi).down, add(self.hi, -other.lo).up)
    }

    #[inline]
    fn mul(&self, other: &Narrow) -> Option<Narrow> {
        if self.is_point() && other.is_point() {
            let product = mul(self.lo, other.lo);
            return Narrow::new(product.down, product.up);
        }
        if self.lo >= 0.0 && other.lo >= 0.0 {
            return Narrow::new(mul(self.lo, other.lo).down, mul(self.hi, other.hi).up);
        }
        self.combine(other, mul)
    }

    fn div(&self, other: &Narrow) -> Option<Narrow> {
        if other.lo <= 0.0 && other.hi >= 0.0 {
            return None;
        }
        self.combine(other, div)
    }

    fn neg(&self) -> Narrow {
        Narrow { lo: -self.hi, hi: -self.lo }
    }

    fn abs(&self) -> Narrow {
        if self.lo >= 0.0 {
            *self
        } else if self.hi <= 0.0 {
            self.neg()
        } else {
            Narrow { lo: 0.0, hi: self.hi.max(-self.lo) }
        }
    }

    fn max(&self, other: &Narrow) -> Narrow {
        Narrow { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }

    fn min(&self, other: &Narrow) -> Narrow {
        Narrow { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    fn exp2(&self) -> Option<Narrow> {
        if self.hi > 900.0 {
            return None;
        }
        self.ascending(exp2)
    }

    fn apply(&self, function: Function) -> Option<Narrow> {
        match function {
            Function::Saturate => self.saturate(),
            Function::Sqrt if self.lo < 0.0 => None,
            Function::Sqrt => self.ascending(sqrt),
            Function::Rsqrt => Narrow { lo: 1.0, hi: 1.0 }.div(&self.apply(Function::Sqrt)?),
            Function::Log2 if self.lo >= f64::MIN_POSITIVE => self.ascending(log2),
            Function::Log2
            | Function::Sin
            | Function::Cos
            | Function::Tanh
            | Function::Erf
            | Function::Atan
            | Function::Cbrt
            | Function::Gamma
            | Function::BesselJ0
            | Function::BesselJ1
            | Function::BesselY0
            | Function::BesselY1 => self.through(function),
            Function::Round(towards) => Some(self.to_integer(towards)),
            Function::Encode(_) | Function::Decode(_) | Function::Outcome => None,
        }
    }

    fn to_integer(&self, towards: Towards) -> Narrow {
        let rounded = match towards {
            Towards::Floor => f64::floor,
            Towards::Ceil => f64::ceil,
            Towards::Zero => f64::trunc,
            Towards::NearestEven => f64::round_ties_even,
        };
        Narrow { lo: rounded(self.lo), hi: rounded(self.hi) }
    }

    fn signs(&self) -> (Ordering, Ordering) {
        let sign = |bound: f64| bound.partial_cmp(&0.0).unwrap_or(Ordering::Equal);
        (sign(self.lo), sign(self.hi))
    }

    fn is_below(&self, other: &Narrow) -> bool {
        self.hi < other.lo
    }

    fn is_at_most(&self, other: &Narrow) -> bool {
        self.hi <= other.lo
    }

    #[inline]
    fn is_point(&self) -> bool {
        self.lo == self.hi
    }

    fn bounds(&self) -> (Rational, Rational) {
        let rational = |bound: f64| rug::Rational::from_f64(bound).map(Rational::from).unwrap_or_default();
        (rational(self.lo), rational(self.hi))
    }

    fn exponents(&self) -> (i32, i32) {
        let exponent =
            |bound: f64| if bound == 0.0 { 0 } else { (bound.to_bits() >> 52 & 0x7ff) as i32 - 1023 };
        (exponent(self.lo), exponent(self.hi))
    }
}

/// An enclosure with MPFR bounds; results have the larger precision of the operands.
///
/// Invariant: `lo ≤ hi`, both finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Wide {
    lo: Float,
    hi: Float,
}

macro_rules! rounded {
    ($precision:expr, $value:expr, $round:ident) => {
        Float::with_val_round($precision, $value, Round::$round).0
    };
}

/// Arguments with larger binary exponents are not reduced modulo π.
const MAX_ANGLE_EXPONENT: i32 = 4096;

/// Γ is not computed for larger numbers: its values have hundreds of thousands of digits.
const MAX_GAMMA: f64 = 1e5;

impl Wide {
    fn new(lo: Float, hi: Float) -> Option<Wide> {
        (lo.is_finite() && hi.is_finite() && lo <= hi).then_some(Wide { lo, hi })
    }

    fn precision(&self) -> u32 {
        self.lo.prec()
    }

    fn common_precision(&self, other: &Wide) -> u32 {
        self.precision().max(other.precision())
    }

    fn combine(&self, other: &Wide, operation: fn(u32, &Float, &Float) -> (Float, Float)) -> Option<Wide> {
        let precision = self.common_precision(other);
        let (mut lo, mut hi) = operation(precision, &self.lo, &other.lo);
        if !(self.is_point() && other.is_point()) {
            for (left, right) in [(&self.lo, &other.hi), (&self.hi, &other.lo), (&self.hi, &other.hi)] {
                let (down, up) = operation(precision, left, right);
                if down.is_nan() || up.is_nan() {
                    return None;
                }
                if down < lo {
                    lo = down;
                }
                if up > hi {
                    hi = up;
                }
            }
        }
        Wide::new(lo, hi)
    }

    /// `f(middle) ± radius`, for functions whose slope is at most 1 and whose values lie in [−1, 1].
    fn gentle(&self, function: fn(u32, &Float, Round) -> Float) -> Option<Wide> {
        let precision = self.precision();
        let one = Float::with_val(precision, 1);
        let full = Wide { lo: Float::with_val(precision, -1), hi: one };
        let exponent = self.lo.get_exp().unwrap_or(0).max(self.hi.get_exp().unwrap_or(0));
        if exponent > MAX_ANGLE_EXPONENT {
            return Some(full);
        }
        let radius = rounded!(precision, &self.hi - &self.lo, Up);
        let (down, up) =
            (function(precision, &self.lo, Round::Down), function(precision, &self.lo, Round::Up));
        // By reference: operators on values would round to nearest.
        let lo = rounded!(precision, &down - &radius, Down);
        let hi = rounded!(precision, &up + &radius, Up);
        Wide::new(lo, hi).map(|result| {
            result
                .max(&Wide { lo: full.lo.clone(), hi: full.lo.clone() })
                .min(&Wide { lo: full.hi.clone(), hi: full.hi })
        })
    }
}

impl Wide {
    /// Γ where it is increasing, from 3/2 on, up to [`MAX_GAMMA`].
    fn gamma(&self) -> Option<Wide> {
        if self.lo < 1.5 || self.hi > MAX_GAMMA {
            return None;
        }
        let precision = self.precision();
        let lo = rounded!(precision, self.lo.gamma_ref(), Down);
        Wide::new(lo, rounded!(precision, self.hi.gamma_ref(), Up))
    }

    /// Y₀ or Y₁: both are increasing up to 2, and from 1 on satisfy the conditions of [`Wide::gentle`].
    fn bessel_y(&self, function: fn(u32, &Float, Round) -> Float) -> Option<Wide> {
        if self.lo <= 0 {
            return None;
        }
        if self.lo >= 1 {
            return self.gentle(function);
        }
        if self.hi > 2 {
            return None;
        }
        let precision = self.precision();
        Wide::new(function(precision, &self.lo, Round::Down), function(precision, &self.hi, Round::Up))
    }
}

impl Enclosure for Wide {
    fn exact(value: &Rational, precision: u32) -> Option<Wide> {
        let exact = value.to_rug();
        Wide::new(rounded!(precision, &exact, Down), rounded!(precision, &exact, Up))
    }

    fn hull(&self, other: &Wide) -> Wide {
        let lo = if self.lo <= other.lo { &self.lo } else { &other.lo };
        let hi = if self.hi >= other.hi { &self.hi } else { &other.hi };
        Wide { lo: lo.clone(), hi: hi.clone() }
    }

    fn add(&self, other: &Wide) -> Option<Wide> {
        let precision = self.common_precision(other);
        Wide::new(
            rounded!(precision, &self.lo + &other.lo, Down),
            rounded!(precision, &self.hi + &other.hi, Up),
        )
    }

    fn sub(&self, other: &Wide) -> Option<Wide> {
        let precision = self.common_precision(other);
        Wide::new(
            rounded!(precision, &self.lo - &other.hi, Down),
            rounded!(precision, &self.hi - &other.lo, Up),
        )
    }

    fn mul(&self, other: &Wide) -> Option<Wide> {
        self.combine(other, |precision, a, b| {
            (rounded!(precision, a * b, Down), rounded!(precision, a * b, Up))
        })
    }

    fn div(&self, other: &Wide) -> Option<Wide> {
        if other.sign().is_none_or(Ordering::is_eq) {
            return None;
        }
        self.combine(other, |precision, a, b| {
            (rounded!(precision, a / b, Down), rounded!(precision, a / b, Up))
        })
    }

    fn neg(&self) -> Wide {
        Wide { lo: -self.hi.clone(), hi: -self.lo.clone() }
    }

    fn abs(&self) -> Wide {
        match self.signs() {
            (Ordering::Greater | Ordering::Equal, _) => self.clone(),
            (Ordering::Less, Ordering::Less | Ordering::Equal) => self.neg(),
            (Ordering::Less, Ordering::Greater) => {
                let far = self.neg().max(self).hi;
                Wide { lo: Float::new(self.precision()), hi: far }
            }
        }
    }

    fn max(&self, other: &Wide) -> Wide {
        let lo = if self.lo >= other.lo { &self.lo } else { &other.lo };
        let hi = if self.hi >= other.hi { &self.hi } else { &other.hi };
        Wide { lo: lo.clone(), hi: hi.clone() }
    }

    fn min(&self, other: &Wide) -> Wide {
        let lo = if self.lo <= other.lo { &self.lo } else { &other.lo };
        let hi = if self.hi <= other.hi { &self.hi } else { &other.hi };
        Wide { lo: lo.clone(), hi: hi.clone() }
    }

    fn exp2(&self) -> Option<Wide> {
        let precision = self.precision();
        Wide::new(rounded!(precision, self.lo.exp2_ref(), Down), rounded!(precision, self.hi.exp2_ref(), Up))
    }

    fn apply(&self, function: Function) -> Option<Wide> {
        let precision = self.precision();
        match function {
            Function::Saturate => self.saturate(),
            Function::Log2 | Function::Rsqrt if self.signs().0 != Ordering::Greater => None,
            Function::Sqrt if self.signs().0 == Ordering::Less => None,
            Function::Log2 => {
                let lo = rounded!(precision, self.lo.log2_ref(), Down);
                Wide::new(lo, rounded!(precision, self.hi.log2_ref(), Up))
            }
            Function::Sqrt => {
                let lo = rounded!(precision, self.lo.sqrt_ref(), Down);
                Wide::new(lo, rounded!(precision, self.hi.sqrt_ref(), Up))
            }
            Function::Rsqrt => {
                let lo = rounded!(precision, self.hi.recip_sqrt_ref(), Down);
                Wide::new(lo, rounded!(precision, self.lo.recip_sqrt_ref(), Up))
            }
            Function::Sin => self
                .gentle(|precision, value, round| Float::with_val_round(precision, value.sin_ref(), round).0),
            Function::Cos => self
                .gentle(|precision, value, round| Float::with_val_round(precision, value.cos_ref(), round).0),
            Function::Tanh => {
                let lo = rounded!(precision, self.lo.tanh_ref(), Down);
                Wide::new(lo, rounded!(precision, self.hi.tanh_ref(), Up))
            }
            Function::Erf => {
                let lo = rounded!(precision, self.lo.erf_ref(), Down);
                Wide::new(lo, rounded!(precision, self.hi.erf_ref(), Up))
            }
            Function::Atan => {
                let lo = rounded!(precision, self.lo.atan_ref(), Down);
                Wide::new(lo, rounded!(precision, self.hi.atan_ref(), Up))
            }
            Function::Cbrt => {
                let lo = rounded!(precision, self.lo.cbrt_ref(), Down);
                Wide::new(lo, rounded!(precision, self.hi.cbrt_ref(), Up))
            }
            Function::Gamma => self.gamma(),
            Function::BesselJ0 => self
                .gentle(|precision, value, round| Float::with_val_round(precision, value.j0_ref(), round).0),
            Function::BesselJ1 => self
                .gentle(|precision, value, round| Float::with_val_round(precision, value.j1_ref(), round).0),
            Function::BesselY0 => self.bessel_y(|precision, value, round| {
                Float::with_val_round(precision, value.y0_ref(), round).0
            }),
            Function::BesselY1 => self.bessel_y(|precision, value, round| {
                Float::with_val_round(precision, value.y1_ref(), round).0
            }),
            Function::Round(towards) => Some(self.to_integer(towards)),
            Function::Encode(_) | Function::Decode(_) | Function::Outcome => None,
        }
    }

    fn to_integer(&self, towards: Towards) -> Wide {
        // An integer near a value is representable at that value's precision.
        let rounded = |bound: &Float| match towards {
            Towards::Floor => bound.clone().floor(),
            Towards::Ceil => bound.clone().ceil(),
            Towards::Zero => bound.clone().trunc(),
            Towards::NearestEven => bound.clone().round_even(),
        };
        Wide { lo: rounded(&self.lo), hi: rounded(&self.hi) }
    }

    fn signs(&self) -> (Ordering, Ordering) {
        let sign = |bound: &Float| bound.cmp0().unwrap_or(Ordering::Equal);
        (sign(&self.lo), sign(&self.hi))
    }

    fn is_below(&self, other: &Wide) -> bool {
        self.hi < other.lo
    }

    fn is_at_most(&self, other: &Wide) -> bool {
        self.hi <= other.lo
    }

    fn is_point(&self) -> bool {
        self.lo == self.hi
    }

    fn bounds(&self) -> (Rational, Rational) {
        let rational = |bound: &Float| bound.to_rational().map(Rational::from).unwrap_or_default();
        (rational(&self.lo), rational(&self.hi))
    }

    fn exponents(&self) -> (i32, i32) {
        let exponent = |bound: &Float| bound.get_exp().unwrap_or(0);
        (exponent(&self.lo), exponent(&self.hi))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fraction::Fraction;
    use super::*;
    use proptest::prelude::*;

    fn contains<E: Enclosure>(enclosure: &E, value: &Float) -> bool {
        let (lo, hi) = enclosure.bounds();
        *value >= lo.to_rug() && *value <= hi.to_rug()
    }

    fn holds<E: Enclosure>(enclosure: &E, value: &Rational) -> bool {
        let (lo, hi) = enclosure.bounds();
        lo <= *value && *value <= hi
    }

    fn width<E: Enclosure>(enclosure: &E) -> f64 {
        let (lo, hi) = enclosure.bounds();
        (&hi - &lo).to_f64_approximately() / lo.abs().max(hi.abs()).to_f64_approximately().max(1e-300)
    }

    fn number() -> impl Strategy<Value = Rational> {
        let ratio = (-1000i64..1000, 1i64..1000).prop_map(|(num, den)| Rational::from_ratio(num, den));
        let dyadic = (any::<i64>(), -1100i32..200).prop_map(|(num, exp)| Rational::from_dyadic(num, exp));
        prop_oneof![3 => ratio, 1 => (-20i64..20).prop_map(Rational::from_integer), 1 => dyadic]
    }

    /// An interval, and a number in it.
    fn range() -> impl Strategy<Value = (Rational, Rational, Rational)> {
        (number(), number(), 0i64..5).prop_map(|(a, b, at)| {
            let between = &a + &(&b - &a) * Rational::from_ratio(at, 4);
            (a.clone().min(b.clone()), between, a.max(b))
        })
    }

    fn laws<E: Enclosure>(
        a: &(Rational, Rational, Rational),
        b: &(Rational, Rational, Rational),
    ) -> Option<()> {
        let (x, y) = (E::between(&a.0, &a.2, 128)?, E::between(&b.0, &b.2, 128)?);
        let check = |enclosure: Option<E>, value: &Rational, name: &str| {
            if let Some(enclosure) = enclosure {
                assert!(holds(&enclosure, value), "{name} of {a:?} and {b:?}: {:?}", enclosure.bounds());
            }
        };
        let (p, q) = (&a.1, &b.1);
        check(x.add(&y), &(p + q), "sum");
        check(x.sub(&y), &(p - q), "difference");
        check(x.mul(&y), &(p * q), "product");
        check(x.mul(&x), &(p * p), "square");
        check(x.div(&y), &p.checked_div(q).unwrap_or_default(), "quotient");
        check(Some(x.neg()), &-p, "negation");
        check(Some(x.abs()), &p.abs(), "magnitude");
        check(Some(x.max(&y)), p.max(q), "maximum");
        check(Some(x.min(&y)), p.min(q), "minimum");
        check(Some(x.hull(&y)), p, "hull");
        check(Some(x.to_integer(Towards::Floor)), &p.floor(), "floor");
        check(Some(x.to_integer(Towards::Ceil)), &p.ceil(), "ceil");
        check(Some(x.to_integer(Towards::Zero)), &p.trunc(), "trunc");
        check(Some(x.to_integer(Towards::NearestEven)), &p.round_even(), "round");
        assert!(!x.is_below(&y) || p < q);
        assert!(!x.is_at_most(&y) || p <= q);
        Some(())
    }

    fn functions<E: Enclosure>(a: &(Rational, Rational, Rational)) -> Option<()> {
        let x = E::between(&a.0, &a.2, 128)?;
        let point = Float::with_val(400, a.1.to_rug());
        let check = |enclosure: Option<E>, value: Float, name: &str| {
            if let Some(enclosure) = enclosure {
                // The reference value itself has an error of about 2^-400: the tolerance is on its side, not the
                // enclosure's.
                let slack = Float::with_val(500, value.abs_ref()) >> 390u32;
                let near = contains(&enclosure, &value)
                    || contains(&enclosure, &Float::with_val(500, &value + &slack))
                    || contains(&enclosure, &Float::with_val(500, &value - &slack));
                assert!(near, "{name} of {a:?}: {value} not in {:?}", enclosure.bounds());
            }
        };
        check(x.exp2(), point.clone().exp2(), "exp2");
        check(x.apply(Function::Log2), point.clone().log2(), "log2");
        check(x.apply(Function::Sqrt), point.clone().sqrt(), "sqrt");
        check(x.apply(Function::Rsqrt), point.clone().recip_sqrt(), "rsqrt");
        check(x.apply(Function::Tanh), point.clone().tanh(), "tanh");
        check(x.apply(Function::Erf), point.clone().erf(), "erf");
        check(x.apply(Function::Atan), point.clone().atan(), "atan");
        check(x.apply(Function::Cbrt), point.clone().cbrt(), "cbrt");
        check(x.apply(Function::Gamma), point.clone().gamma(), "gamma");
        if point.clone().abs() < 1e4 {
            check(x.apply(Function::BesselJ0), point.clone().j0(), "j0");
            check(x.apply(Function::BesselJ1), point.clone().j1(), "j1");
            check(x.apply(Function::BesselY0), point.clone().y0(), "y0");
            check(x.apply(Function::BesselY1), point.clone().y1(), "y1");
        }
        if point.clone().abs() < 1e30 {
            check(x.apply(Function::Sin), point.clone().sin(), "sin");
            check(x.apply(Function::Cos), point.clone().cos(), "cos");
        }
        Some(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Last bits, the smallest numbers and the largest ones.
        #[test]
        fn what_doubles_round_is_enclosed(
            a in prop::num::f64::ANY, b in prop::num::f64::ANY,
            of_one_size in any::<bool>(), mantissa: i64, exp in -1200i32..1100,
        ) {
            let one_size = |x: f64| f64::from_bits(x.to_bits() & !(0x7ff << 52) | 0x3ff << 52);
            let [a, b] = if of_one_size { [one_size(a), one_size(b)] } else { [a, b] };
            if a.is_finite() && b.is_finite() {
                let [x, y] = [a, b].map(|value| Narrow { lo: value, hi: value });
                let [p, q] = [&x, &y].map(|x| x.bounds().0);
                let check = |enclosure: Option<Narrow>, value: &Rational| {
                    enclosure.is_none_or(|enclosure| holds(&enclosure, value))
                };
                prop_assert!(check(x.add(&y), &(&p + &q)));
                prop_assert!(check(x.sub(&y), &(&p - &q)));
                prop_assert!(check(x.mul(&y), &(&p * &q)));
                prop_assert!(p.checked_div(&q).is_none_or(|quotient| check(x.div(&y), &quotient)));
            }
            if let Some(x) = Narrow::new(a.abs(), a.abs())
                && let Some(exact) = x.through(Function::Log2)
            {
                let own = x.apply(Function::Log2).unwrap();
                prop_assert!(own.lo <= exact.lo && exact.hi <= own.hi, "{own:?} {exact:?}");
                prop_assert!(own.relative_width() < 1e-13);
            }
            if let Some(number) = Narrow::dyadic(mantissa, exp, 53) {
                prop_assert!(holds(&number, &Rational::from_dyadic(mantissa, exp)));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn enclosures_contain_what_they_enclose(a in range(), b in range()) {
            laws::<Narrow>(&a, &b);
            laws::<Wide>(&a, &b);
            laws::<Fraction>(&a, &b);
            functions::<Narrow>(&a);
            functions::<Wide>(&a);
            functions::<Fraction>(&a);
        }

        #[test]
        fn points_stay_tight(a in number(), b in number()) {
            let magnitude = |value: &Rational| value.to_f64_approximately().abs();
            if ![&a, &b].iter().all(|value| (1e-6..1e6).contains(&magnitude(value))) {
                return Ok(());
            }
            let (Some(x), Some(y)) = (Narrow::exact(&a, 0), Narrow::exact(&b, 0)) else { return Ok(()) };
            for result in [x.mul(&y), x.div(&y), x.abs().apply(Function::Sqrt), x.abs().apply(Function::Rsqrt), Some(x)] {
                prop_assert!(result.is_none_or(|result| width(&result) < 1e-15));
            }
            if magnitude(&a) < 800.0 {
                prop_assert!(x.exp2().is_some_and(|result| width(&result) < 1e-12));
            }
        }

        #[test]
        fn dyadic_arithmetic_is_exact(a in -4000i64..4000, b in -4000i64..4000) {
            let (x, y) = (Rational::from_dyadic(a, -5), Rational::from_dyadic(b, -6));
            let (Some(p), Some(q)) = (Narrow::exact(&x, 0), Narrow::exact(&y, 0)) else { panic!("in range") };
            let same = |got: Option<Narrow>, value: Rational| got.map(|got| got.bounds()) == Some((value.clone(), value));
            prop_assert!(same(p.add(&q), &x + &y));
            prop_assert!(same(p.sub(&q), &x - &y));
            prop_assert!(same(p.mul(&q), &x * &y));
            let root = p.mul(&p).and_then(|square| square.apply(Function::Sqrt));
            prop_assert!(same(root, x.abs()));
            if b != 0 {
                prop_assert!(same(p.mul(&q).and_then(|product| product.div(&q)), x.clone()));
            }
        }
    }

    #[test]
    fn sines_near_an_extreme_are_rounded_outwards() {
        let tiny = Rational::power_of_two(-68);
        let (Some(narrow), Some(wide)) = (
            Narrow::between(&Rational::ZERO, &tiny, 53).and_then(|angle| angle.apply(Function::Cos)),
            Wide::between(&Rational::ZERO, &tiny, 64).and_then(|angle| angle.apply(Function::Cos)),
        ) else {
            panic!("in range")
        };
        assert!(narrow.bounds().0 < Rational::ONE && wide.bounds().0 < Rational::ONE);
    }

    #[test]
    fn what_leaves_the_range_is_not_guessed() {
        let Some(large) = Narrow::exact(&Rational::power_of_two(600), 0) else { panic!("in range") };
        assert_eq!(large.mul(&large), None);
        assert_eq!(large.exp2(), None);
        let Some(negative) = large.neg().exp2() else { panic!("tiny") };
        assert_eq!(negative.signs(), (Ordering::Equal, Ordering::Greater));
        let across = Narrow { lo: -1.0, hi: 1.0 };
        assert_eq!(large.div(&across), None);
        assert_eq!(across.apply(Function::Log2), None);
        assert_eq!(across.apply(Function::Sqrt), None);
        let Some(wide) = Wide::exact(&Rational::power_of_two(100_000), 100) else { panic!("in range") };
        assert_eq!(
            wide.apply(Function::Sin).map(|sin| sin.bounds()),
            Some((Rational::MINUS_ONE, Rational::ONE))
        );
    }
}
