//! Sets of floats, and the sets that operations of IEEE arithmetic make of them.

use super::matrix::MatrixStep;
use crate::number::Rational;
use crate::number::format::{Format, Rounding, decode, largest, mantissa_bits, round, to_f64};
use crate::term::{Ieee, IeeeKey, IeeeOp, encoding, least_normal};

/// A set that contains all values of a float: an interval of numbers, in which zeros have no sign, and which of the
/// infinities and NaN belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FloatSet {
    /// The least and the greatest number, if there are numbers.
    pub(crate) finite: Option<[f64; 2]>,
    /// Whether +∞ belongs to it.
    pub(crate) plus: bool,
    /// Whether −∞ belongs to it.
    pub(crate) minus: bool,
    /// Whether NaN belongs to it.
    pub(crate) nan: bool,
}

/// The exceptions of IEEE arithmetic that an operation may raise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Raised {
    /// The result is too large for its format.
    pub(crate) overflow: bool,
    /// A quotient by zero, or the logarithm of zero.
    pub(crate) division: bool,
    /// No number, from operands that are not NaN.
    pub(crate) invalid: bool,
}

impl Raised {
    pub(crate) const NONE: Raised = Raised { overflow: false, division: false, invalid: false };
    const OVERFLOW: Raised = Raised { overflow: true, ..Raised::NONE };
    const DIVISION: Raised = Raised { division: true, ..Raised::NONE };
    const INVALID: Raised = Raised { invalid: true, ..Raised::NONE };

    pub(crate) fn or(self, other: Raised) -> Raised {
        Raised {
            overflow: self.overflow | other.overflow,
            division: self.division | other.division,
            invalid: self.invalid | other.invalid,
        }
    }

    pub(crate) fn any(self) -> bool {
        self != Raised::NONE
    }
}

impl FloatSet {
    pub(crate) const EMPTY: FloatSet = FloatSet { finite: None, plus: false, minus: false, nan: false };
    const NAN: FloatSet = FloatSet { nan: true, ..FloatSet::EMPTY };
    const PLUS: FloatSet = FloatSet { plus: true, ..FloatSet::EMPTY };
    const INFINITIES: FloatSet = FloatSet { minus: true, ..FloatSet::PLUS };

    /// The numbers between two, and nothing else.
    pub(crate) fn between(low: f64, high: f64) -> FloatSet {
        FloatSet { finite: Some([low + 0.0, high + 0.0]), ..FloatSet::EMPTY }
    }

    /// One value.
    pub(crate) fn value(value: f64) -> FloatSet {
        if value.is_nan() {
            return FloatSet::NAN;
        }
        FloatSet::ends(value, value)
    }

    /// All values of a format.
    pub(crate) fn all(format: Format) -> FloatSet {
        let largest = greatest(format);
        FloatSet { nan: true, ..FloatSet::between(-largest, largest).or(FloatSet::INFINITIES) }
    }

    /// The values between two, which may be infinite.
    fn ends(low: f64, high: f64) -> FloatSet {
        if low > high {
            return FloatSet::EMPTY;
        }
        let finite = low < f64::INFINITY && high > f64::NEG_INFINITY;
        FloatSet {
            finite: finite.then_some([low.max(-f64::MAX) + 0.0, high.min(f64::MAX) + 0.0]),
            plus: high == f64::INFINITY,
            minus: low == f64::NEG_INFINITY,
            nan: false,
        }
    }

    /// Values of both.
    pub(crate) fn or(self, other: FloatSet) -> FloatSet {
        let finite = match (self.finite, other.finite) {
            (Some([a, b]), Some([c, d])) => Some([a.min(c), b.max(d)]),
            (one, other) => one.or(other),
        };
        FloatSet {
            finite,
            plus: self.plus | other.plus,
            minus: self.minus | other.minus,
            nan: self.nan | other.nan,
        }
    }

    /// The least and the greatest value, infinities included; `None` if there is none but NaN.
    fn bounds(self) -> Option<[f64; 2]> {
        let low =
            if self.minus { f64::NEG_INFINITY } else { self.finite.map_or(f64::INFINITY, |[low, _]| low) };
        let high =
            if self.plus { f64::INFINITY } else { self.finite.map_or(f64::NEG_INFINITY, |[_, high]| high) };
        (self.finite.is_some() || self.plus || self.minus).then_some([low, high])
    }

    pub(crate) fn is_finite(self) -> bool {
        !(self.plus || self.minus || self.nan)
    }

    /// Whether it is one number.
    pub(crate) fn is_point(self) -> bool {
        self.is_finite() && self.finite.is_some_and(|[low, high]| low == high)
    }

    /// Whether all values are zero or positive numbers.
    pub(crate) fn is_natural(self) -> bool {
        self.is_finite() && self.finite.is_some_and(|[low, _]| low >= 0.0)
    }

    /// The values that are at most, or at least, a number.
    pub(crate) fn within(self, low: f64, high: f64) -> FloatSet {
        let finite = self.finite.map(|[a, b]| [a.max(low), b.min(high)]).filter(|[a, b]| a <= b);
        FloatSet {
            finite,
            plus: self.plus && high == f64::INFINITY,
            minus: self.minus && low == f64::NEG_INFINITY,
            nan: self.nan,
        }
    }

    /// The same with a function that does not decrease applied to it, infinities included.
    fn ascending(self, mut function: impl FnMut(f64) -> f64) -> FloatSet {
        let mut result = FloatSet { nan: self.nan, ..FloatSet::EMPTY };
        if let Some([low, high]) = self.finite {
            result = result.or(FloatSet::ends(function(low), function(high)));
        }
        for (has, value) in [(self.plus, f64::INFINITY), (self.minus, f64::NEG_INFINITY)] {
            if has {
                result = result.or(FloatSet::value(function(value)));
            }
        }
        result
    }

    fn negated(self) -> FloatSet {
        let finite = self.finite.map(|[low, high]| [-high + 0.0, -low + 0.0]);
        FloatSet { finite, plus: self.minus, minus: self.plus, nan: self.nan }
    }

    fn magnitude(self) -> FloatSet {
        let finite = self.finite.map(|[low, high]| {
            if low >= 0.0 {
                [low, high]
            } else if high <= 0.0 {
                [-high + 0.0, -low]
            } else {
                [0.0, high.max(-low)]
            }
        });
        FloatSet { finite, plus: self.plus | self.minus, minus: false, nan: self.nan }
    }

    /// Zero in place of what is subnormal in the format.
    fn flushed(self, format: Format) -> FloatSet {
        let least = least_normal(format);
        self.ascending(|x| if x.abs() < least { 0.0 } else { x })
    }

    /// The same for a result: whether tininess is detected before or after rounding is not documented.
    fn flushed_result(self, format: Format) -> FloatSet {
        let least = least_normal(format);
        let Some([low, high]) = self.finite else { return self };
        let low = if low > 0.0 && low <= least || low < 0.0 && low > -least { 0.0 } else { low };
        let high = if high < 0.0 && high >= -least || high > 0.0 && high < least { 0.0 } else { high };
        FloatSet { finite: Some([low, high]), ..self }
    }

    /// The single values and intervals of one sign that it is made of, without NaN.
    fn parts(self) -> smallvec::SmallVec<[[f64; 2]; 5]> {
        let mut parts = smallvec::SmallVec::new();
        if let Some([low, high]) = self.finite {
            if low < 0.0 {
                parts.push([low, high.min(-f64::from_bits(1))]);
            }
            if low <= 0.0 && high >= 0.0 {
                parts.push([0.0, 0.0]);
            }
            if high > 0.0 {
                parts.push([low.max(f64::from_bits(1)), high]);
            }
        }
        if self.plus {
            parts.push([f64::INFINITY; 2]);
        }
        if self.minus {
            parts.push([f64::NEG_INFINITY; 2]);
        }
        parts
    }
}

/// The greatest number of a format.
pub(crate) fn greatest(format: Format) -> f64 {
    match format {
        Format::F64 => f64::MAX,
        Format::F32 | Format::Tf32 => f64::from(f32::MAX),
        Format::F16 | Format::Bf16 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => {
            largest(format).to_f64_approximately()
        }
    }
}

/// The least positive number of a format.
pub(super) fn least(format: Format) -> f64 {
    match format {
        Format::F64 => f64::from_bits(1),
        Format::F32
        | Format::Tf32
        | Format::Bf16
        | Format::F16
        | Format::E5m2
        | Format::E4m3
        | Format::Ue8m0 => least_normal(format) * f64::powi(2.0, -(mantissa_bits(format) as i32)),
    }
}

/// The exact result of arithmetic on numbers, rounded; an infinity where it is too large.
fn corner(key: IeeeKey, operands: &[f64]) -> Option<f64> {
    // A number that is not of the format bounds some that are, and so does its rounding.
    match (key.op, key.format, key.rounding, operands) {
        (IeeeOp::Add, Format::F32, Rounding::Nearest, [a, b]) => Some((*a as f32 + *b as f32).into()),
        (IeeeOp::Mul, Format::F32, Rounding::Nearest, [a, b]) => Some((*a as f32 * *b as f32).into()),
        (IeeeOp::Div, Format::F32, Rounding::Nearest, [a, b]) => Some((*a as f32 / *b as f32).into()),
        (IeeeOp::Fma, Format::F32, Rounding::Nearest, [a, b, c]) => {
            Some((*a as f32).mul_add(*b as f32, *c as f32).into())
        }
        (IeeeOp::Add, Format::F64, Rounding::Nearest, [a, b]) => Some(a + b),
        (IeeeOp::Mul, Format::F64, Rounding::Nearest, [a, b]) => Some(a * b),
        (IeeeOp::Div, Format::F64, Rounding::Nearest, [a, b]) => Some(a / b),
        (IeeeOp::Fma, Format::F64, Rounding::Nearest, [a, b, c]) => Some(a.mul_add(*b, *c)),
        _ => {
            let operands: smallvec::SmallVec<[Ieee; 3]> = operands.iter().map(|x| Ieee::Float(*x)).collect();
            let plain = IeeeKey { flush: false, ..key };
            match plain.apply(&operands)? {
                Ieee::Float(value) => Some(value),
                Ieee::Int(_) => None,
            }
        }
    }
}

/// Arithmetic that does not decrease or increase in any operand, as long as the others keep their signs.
fn arithmetic(key: IeeeKey, operands: &[FloatSet], square: bool) -> Option<(FloatSet, Raised)> {
    let flushed = |set: &FloatSet| if key.flush { set.flushed(key.format) } else { *set };
    let mut operands: smallvec::SmallVec<[FloatSet; 3]> = operands.iter().map(flushed).collect();
    if square && let [a, b, ..] = operands.as_mut_slice() {
        (*a, *b) = (a.magnitude(), a.magnitude());
    }
    let mut result = FloatSet { nan: operands.iter().any(|set| set.nan), ..FloatSet::EMPTY };
    let mut raised = Raised::NONE;
    let finite = operands.iter().all(|set| !set.plus && !set.minus);
    // Without infinities and quotients, one interval of each operand suffices.
    let parts: smallvec::SmallVec<[smallvec::SmallVec<[[f64; 2]; 5]>; 3]> = operands
        .iter()
        .map(|set| match set.finite {
            Some(ends) if finite && key.op != IeeeOp::Div => smallvec::smallvec![ends],
            _ => set.parts(),
        })
        .collect();
    if parts.iter().any(|parts| parts.is_empty()) {
        return Some((result, raised));
    }
    let total: usize = parts.iter().map(|parts| parts.len()).product();
    for choice in 0..total {
        let mut rest = choice;
        let chosen: smallvec::SmallVec<[[f64; 2]; 3]> = parts
            .iter()
            .map(|parts| {
                let part = parts[rest % parts.len()];
                rest /= parts.len();
                part
            })
            .collect();
        if square && finite && chosen.len() > 1 {
            // Both factors are one value, so that only equal ends meet.
            let ends =
                |at: usize| -> smallvec::SmallVec<[f64; 3]> { chosen.iter().map(|part| part[at]).collect() };
            let (low, high) = (corner(key, &ends(0))?, corner(key, &ends(1))?);
            result = result.or(FloatSet::ends(low, high));
            raised = raised.or(Raised { overflow: low.is_infinite() || high.is_infinite(), ..Raised::NONE });
            continue;
        }
        let has_infinity = chosen.iter().any(|part| part[0].is_infinite());
        if key.op == IeeeOp::Div && chosen[1] == [0.0, 0.0] {
            let (set, own) = match chosen[0] {
                [0.0, 0.0] => (FloatSet::NAN, Raised::INVALID),
                [x, _] if x.is_infinite() => (FloatSet::INFINITIES, Raised::NONE),
                _ => (FloatSet::INFINITIES, Raised::DIVISION),
            };
            (result, raised) = (result.or(set), raised.or(own));
            continue;
        }
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for ends in 0..1usize << chosen.len() {
            let at: smallvec::SmallVec<[f64; 3]> =
                chosen.iter().enumerate().map(|(which, part)| part[ends >> which & 1]).collect();
            let mut value = if has_infinity {
                // Magnitudes do not matter beside an infinity.
                let at: smallvec::SmallVec<[f64; 3]> =
                    at.iter().map(|x| if x.is_infinite() || *x == 0.0 { *x } else { x.signum() }).collect();
                corner(key, &at)?
            } else {
                let mut at = at;
                if key.op == IeeeOp::Div {
                    // A divisor is a number of the format.
                    let least = if key.flush { least_normal(key.format) } else { least(key.format) };
                    at[1] = at[1].signum() * at[1].abs().max(least);
                }
                corner(key, &at)?
            };
            if value.is_nan() {
                (result, raised) = (result.or(FloatSet::NAN), raised.or(Raised::INVALID));
                value = f64::NAN;
            } else if value.is_infinite() && !has_infinity {
                raised = raised.or(Raised::OVERFLOW);
            }
            if !value.is_nan() {
                (low, high) = (low.min(value), high.max(value));
            }
        }
        result = result.or(FloatSet::ends(low, high));
    }
    Some((if key.flush { result.flushed_result(key.format) } else { result }, raised))
}

/// The set of results of an operation that gives a float, and what it may raise. `square`: the first two operands are
/// one value.
pub(crate) fn apply(key: IeeeKey, operands: &[FloatSet], square: bool) -> (FloatSet, Raised) {
    let Some((mut set, raised)) = known(key, operands, square) else {
        // Nothing is known: it may be anything, for any reason.
        return (FloatSet::all(key.format), Raised { overflow: true, ..Raised::INVALID });
    };
    let most = greatest(key.format);
    if raised.overflow
        && let Some([low, high]) = set.finite
    {
        // Numbers beyond are infinities of the format.
        set.finite = Some([low.clamp(-most, most), high.clamp(-most, most)]);
    }
    (set, raised)
}

fn known(key: IeeeKey, operands: &[FloatSet], square: bool) -> Option<(FloatSet, Raised)> {
    let format = key.format;
    let flushed = |set: FloatSet| if key.flush { set.flushed(format) } else { set };
    let plain = |set: FloatSet| Some((set, Raised::NONE));
    match (key.op, operands) {
        (IeeeOp::Neg, [a]) => plain(flushed(*a).negated()),
        (IeeeOp::Abs, [a]) => plain(flushed(*a).magnitude()),
        (IeeeOp::CopySign, [sign, a]) => {
            let magnitude = a.magnitude();
            let positive = sign.is_finite() && sign.finite.is_some_and(|[low, _]| low > 0.0);
            let negative = sign.is_finite() && sign.finite.is_some_and(|[_, high]| high < 0.0);
            plain(match (positive, negative) {
                (true, _) => magnitude,
                (_, true) => magnitude.negated(),
                _ => magnitude.or(magnitude.negated()),
            })
        }
        (IeeeOp::Flush, [a]) => plain(a.flushed(format)),
        (IeeeOp::Saturate, [a]) => {
            let zero = if a.nan { FloatSet::value(0.0) } else { FloatSet::EMPTY };
            let clamped = FloatSet { nan: false, ..*a }.ascending(|x| x.clamp(0.0, 1.0));
            plain(clamped.or(zero))
        }
        (IeeeOp::Relu, [a]) => plain(a.ascending(|x| x.max(0.0))),
        (IeeeOp::Convert, [a]) => {
            let ieee = matches!(format, Format::F16 | Format::Bf16 | Format::F32 | Format::F64);
            if !ieee {
                return None;
            }
            let mut raised = Raised::NONE;
            let mut unknown = false;
            let result = a.ascending(|x| {
                let value = rounded(x, format, key.rounding).unwrap_or_else(|| {
                    unknown = true;
                    x
                });
                raised.overflow |= value.is_infinite() && x.is_finite();
                value
            });
            (!unknown).then_some((if key.flush { result.flushed_result(format) } else { result }, raised))
        }
        (IeeeOp::ConvertFinite, [a]) => {
            let most = greatest(format);
            let clamped = FloatSet { nan: false, ..*a }.ascending(|x| x.clamp(-most, most));
            let [low, high] = clamped.finite?;
            let low = to_f64(format, round(&rational(low)?, format, Rounding::Down));
            let high = to_f64(format, round(&rational(high)?, format, Rounding::Up));
            let result = FloatSet::ends(low.max(-most), high.min(most));
            plain(FloatSet { nan: a.nan, ..result }).filter(|_| !low.is_nan() && !high.is_nan())
        }
        (IeeeOp::Integral, [a]) => {
            let whole: fn(f64) -> f64 = match key.rounding {
                Rounding::Nearest => f64::round_ties_even,
                Rounding::Zero => f64::trunc,
                Rounding::Down => f64::floor,
                Rounding::Up => f64::ceil,
                Rounding::NearestAway => return None,
            };
            plain(a.ascending(whole))
        }
        (IeeeOp::Add | IeeeOp::Mul | IeeeOp::Fma | IeeeOp::Div, _) => arithmetic(key, operands, square),
        (IeeeOp::AtomicAdd, [_, _]) => {
            let sum = |flush: bool| arithmetic(IeeeKey { op: IeeeOp::Add, flush, ..key }, operands, square);
            let ((one, raised), (other, _)) = (sum(false)?, sum(true)?);
            Some((one.or(other), raised))
        }
        (IeeeOp::Sqrt, [a]) => {
            let a = flushed(*a);
            let (a, mut result, raised) = partial(a);
            result = result.or(a.ascending(f64::sqrt));
            if format != Format::F64 || key.rounding != Rounding::Nearest {
                let ends = result.finite.map(|[low, high]| {
                    let low = rounded(low.next_down().max(0.0), format, key.rounding);
                    let high = rounded(high.next_up(), format, key.rounding);
                    low.zip(high)
                });
                result.finite = match ends {
                    Some(ends) => ends.map(|(low, high)| [low, high]).map(Some)?,
                    None => None,
                };
            }
            Some((if key.flush { result.flushed_result(format) } else { result }, raised))
        }
        (IeeeOp::Max | IeeeOp::MaxNan, [a, b]) => {
            plain(larger(key.op == IeeeOp::MaxNan, flushed(*a), flushed(*b)))
        }
        (IeeeOp::Min | IeeeOp::MinNan, [a, b]) => {
            let [a, b] = [*a, *b].map(|set| flushed(set).negated());
            plain(larger(key.op == IeeeOp::MinNan, a, b).negated())
        }
        (
            IeeeOp::Ex2
            | IeeeOp::Lg2
            | IeeeOp::Rcp
            | IeeeOp::SqrtApprox
            | IeeeOp::Rsqrt
            | IeeeOp::Sin
            | IeeeOp::Cos
            | IeeeOp::Tanh
            | IeeeOp::DivApprox
            | IeeeOp::DivFull,
            _,
        ) => super::approximate::apply(key, operands),
        (IeeeOp::Step, [a, b, before]) => MatrixStep::of(key)?.apply([*a, *b, *before]),
        // The others give or take integers.
        (
            IeeeOp::Step
            | IeeeOp::Number
            | IeeeOp::Encode
            | IeeeOp::Decode
            | IeeeOp::ToInt
            | IeeeOp::FromInt
            | IeeeOp::Less
            | IeeeOp::LessEqual
            | IeeeOp::Equal
            | IeeeOp::Ordered
            | IeeeOp::Neg
            | IeeeOp::Abs
            | IeeeOp::CopySign
            | IeeeOp::Flush
            | IeeeOp::Saturate
            | IeeeOp::Relu
            | IeeeOp::Convert
            | IeeeOp::ConvertFinite
            | IeeeOp::Integral
            | IeeeOp::AtomicAdd
            | IeeeOp::Sqrt
            | IeeeOp::Max
            | IeeeOp::MaxNan
            | IeeeOp::Min
            | IeeeOp::MinNan,
            _,
        ) => None,
    }
}

/// The values of an operand that a root or a logarithm has, and what it gives for the others.
pub(super) fn partial(a: FloatSet) -> (FloatSet, FloatSet, Raised) {
    let negative = a.minus || a.finite.is_some_and(|[low, _]| low < 0.0);
    let result = FloatSet { nan: a.nan | negative, ..FloatSet::EMPTY };
    let rest = FloatSet { nan: false, ..a }.within(0.0, f64::INFINITY);
    (rest, result, if negative { Raised::INVALID } else { Raised::NONE })
}

fn larger(propagates: bool, a: FloatSet, b: FloatSet) -> FloatSet {
    let mut result = FloatSet::EMPTY;
    if let (Some([a_low, a_high]), Some([b_low, b_high])) = (a.bounds(), b.bounds()) {
        let (low, high) = (a_low.max(b_low), a_high.max(b_high));
        result = FloatSet::ends(low, high);
        result.minus = a.minus && b.minus;
        // An infinity among the operands leaves the numbers of the other.
        let numbers = [a.finite, b.finite];
        let most = numbers.into_iter().flatten().map(|[_, high]| high).reduce(f64::max);
        let floor = numbers.into_iter().flatten().map(|[low, _]| low).reduce(f64::min);
        result.finite = most.zip(floor).map(|(most, floor)| [low.max(floor), most]);
        result.finite = result.finite.filter(|[low, high]| low <= high);
    }
    if propagates {
        result.nan = a.nan || b.nan;
        return result;
    }
    if a.nan {
        result = result.or(b);
    }
    if b.nan {
        result = result.or(FloatSet { nan: false, ..a });
    }
    FloatSet { nan: a.nan && b.nan, ..result }
}

/// Whether a comparison holds, if the sets determine it.
#[expect(clippy::wildcard_enum_match_arm, reason = "only comparisons compare")]
pub(crate) fn compare(key: IeeeKey, a: FloatSet, b: FloatSet) -> Option<bool> {
    let flushed = |set: FloatSet| if key.flush { set.flushed(key.format) } else { set };
    let (a, b) = (flushed(a), flushed(b));
    let ordered = !a.nan && !b.nan;
    let (Some([a_low, a_high]), Some([b_low, b_high])) = (a.bounds(), b.bounds()) else { return Some(false) };
    match key.op {
        IeeeOp::Less if ordered && a_high < b_low => Some(true),
        IeeeOp::Less if a_low >= b_high => Some(false),
        IeeeOp::LessEqual if ordered && a_high <= b_low => Some(true),
        IeeeOp::LessEqual if a_low > b_high => Some(false),
        IeeeOp::Equal if ordered && a_low == a_high && [a_low, a_high] == [b_low, b_high] => Some(true),
        IeeeOp::Equal if a_high < b_low || b_high < a_low => Some(false),
        IeeeOp::Ordered if ordered => Some(true),
        _ => None,
    }
}

/// A number rounded to a format of IEEE 754; `None` if the rounding is not known.
pub(super) fn rounded(x: f64, format: Format, rounding: Rounding) -> Option<f64> {
    match (format, rounding) {
        _ if !x.is_finite() || x == 0.0 => Some(x),
        (Format::F32, Rounding::Nearest) => Some(f64::from(x as f32)),
        (Format::F64, _) => Some(x),
        _ => Some(to_f64(format, round(&rational(x)?, format, rounding))),
    }
}

pub(super) fn rational(x: f64) -> Option<Rational> {
    decode(Format::F64, x.to_bits()).extended().and_then(|number| number.finite().cloned())
}

/// The integers that encode the values of a set: the least and the greatest.
pub(crate) fn encodings(format: Format, set: FloatSet) -> (i128, i128) {
    let bits = 8 * format.bytes();
    let whole = (0, (1i128 << bits) - 1);
    let sign = 1i128 << (bits - 1);
    let of = |x: f64, rounding: Rounding| -> Option<i128> {
        if x.is_infinite() {
            return encoding(format, x).map(i128::from);
        }
        Some(round(&rational(x)?, format, rounding).into())
    };
    let positive = |low: f64, high: f64| Some((of(low, Rounding::Down)?, of(high, Rounding::Up)?));
    let Some([low, high]) = set.bounds().filter(|_| !set.nan) else { return whole };
    let upper = (high > 0.0).then(|| positive(low.max(0.0), high));
    let lower = (low < 0.0).then(|| positive((-high).max(0.0), -low));
    let zero = low <= 0.0 && high >= 0.0;
    let mut parts: Vec<(i128, i128)> = Vec::new();
    for (part, offset) in [(upper, 0), (lower, sign)] {
        match part {
            Some(Some((low, high))) => parts.push((low + offset, high + offset)),
            Some(None) => return whole,
            None => {}
        }
    }
    if zero {
        parts.extend([(0, 0), (sign, sign)]);
    }
    parts.into_iter().reduce(|(a, b), (c, d)| (a.min(c), b.max(d))).unwrap_or(whole)
}

/// The values that integers between two encode.
pub(crate) fn decoded(format: Format, low: i128, high: i128) -> FloatSet {
    let bits = 8 * format.bytes();
    let sign = 1i128 << (bits - 1);
    if !matches!(format, Format::F16 | Format::Bf16 | Format::F32 | Format::F64)
        || low < 0
        || high >= 2 * sign
    {
        return FloatSet::all(format);
    }
    let Some(infinity) = encoding(format, f64::INFINITY).map(i128::from) else {
        return FloatSet::all(format);
    };
    let positive = |low: i128, high: i128| {
        let mut set = FloatSet::EMPTY;
        if low > high {
            return set;
        }
        if low < infinity {
            let at = |bits: i128| to_f64(format, bits as u64);
            set = FloatSet::between(at(low), at(high.min(infinity - 1)));
        }
        set.plus = low <= infinity && high >= infinity;
        set.nan = high > infinity;
        set
    };
    positive(low, high.min(sign - 1)).or(positive(low.max(sign) - sign, high - sign).negated())
}

/// The numbers of integers between two, rounded to a format.
pub(crate) fn from_integers(key: IeeeKey, low: &Rational, high: &Rational) -> Option<(FloatSet, Raised)> {
    let at = |number: &Rational| match key.apply(&[Ieee::Int(number.clone())])? {
        Ieee::Float(value) => Some(value),
        Ieee::Int(_) => None,
    };
    let set = FloatSet::ends(at(low)?, at(high)?);
    Some((set, Raised { overflow: !set.is_finite(), ..Raised::NONE }))
}

/// The integers to which the values of a set are converted.
pub(crate) fn to_integers(key: IeeeKey, set: FloatSet) -> (i128, i128) {
    let whole = key.int().range();
    let Some([low, high]) = set.bounds().filter(|_| !set.nan) else { return whole };
    let at = |x: f64| match key.apply(&[Ieee::Float(x)])? {
        Ieee::Int(number) => number.to_i128(),
        Ieee::Float(_) => None,
    };
    at(low).zip(at(high)).unwrap_or(whole)
}
