//! How far a rounded value may be from the exact one (rule B3): the value that the same operations have over the reals.
//!
//! Beside its set, each term gets two numbers `r` and `a`, such that `|computed − exact| ≤ r·|exact| + a` at all inputs
//! that are allowed. An operation passes on the errors of its operands, and adds that of its own rounding: half a unit
//! of its format, or a whole one if it does not round to nearest; the documented error of an approximation; and an
//! absolute part where results may be subnormal or flushed. The sets are those of the analysis of ranges, so what that
//! knows of differences from a maximum and of sums of exponentials bounds errors too.
//!
//! Where a computed value decides something that the exact value may decide otherwise, or where the encoding of a
//! rounded value is read and the function is not known, there is no bound; the reason says so.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::approximate::{ErrorBound, divides_by_subnormal, error_of};
use super::matrix::MatrixStep;
use super::set::{FloatSet, compare, greatest, least};
use super::{Analysis, Known, TooMany, truth};
use crate::base::index::InstId;
use crate::bits::form::{key_of_term, operands_of};
use crate::number::format::{Format, Rounding, mantissa_bits};
use crate::term::{IeeeKey, IeeeOp, TermId, TermOp, View, least_normal};

/// Why an error has no bound, and at which instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unbounded {
    pub(crate) site: Option<InstId>,
    pub(crate) why: &'static str,
}

/// The largest error of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AccuracyBound {
    /// As a distance.
    pub(crate) absolute: f64,
    /// In units in the last place of the exact value, in the format of the output.
    pub(crate) ulps: f64,
}

pub(super) type Outcome = Result<ErrorBound, Unbounded>;

/// What is known of constants.
pub(crate) struct Constants<'c> {
    /// Whether a number is a coefficient of a function of the library.
    pub(crate) is_mark: &'c dyn Fn(f64) -> bool,
    /// How far a known value may be, relative to it, from what the operations that gave it are over the reals.
    pub(crate) rounding: &'c dyn Fn(f64) -> f64,
}

/// What is known of the errors of the terms of one store.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    known: FxHashMap<TermId, Outcome>,
    /// The documented errors of functions on which bounds rest.
    pub(crate) of_library: RefCell<BTreeSet<String>>,
    /// The number of terms that were compared with functions.
    pub(super) tries: usize,
}

impl Errors {
    /// What is known of a term.
    pub(super) fn of(&self, term: TermId) -> Option<&Outcome> {
        self.known.get(&term)
    }
}

impl ErrorBound {
    const EXACT: ErrorBound = ErrorBound { relative: 0.0, absolute: 0.0 };

    fn is_exact(self) -> bool {
        self.relative == 0.0 && self.absolute == 0.0
    }

    /// With room for the roundings of the few operations of f64 that computed it.
    pub(super) fn of(relative: f64, absolute: f64) -> ErrorBound {
        let room = |x: f64| if x == 0.0 { 0.0 } else { (x * (1.0 + 1e-14)).next_up() };
        ErrorBound { relative: room(relative), absolute: room(absolute) }
    }

    fn or(self, other: ErrorBound) -> ErrorBound {
        ErrorBound {
            relative: self.relative.max(other.relative),
            absolute: self.absolute.max(other.absolute),
        }
    }
}

/// An operand: the set of its computed values, and its error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Erring {
    pub(super) set: FloatSet,
    pub(super) error: ErrorBound,
    /// The number of its significant bits, and whether none of its values is subnormal.
    pub(super) bits: u32,
}

pub(super) const LARGE: &str = "its relative error may be large";
pub(super) const EXPONENT: &str = "the error of the exponent of an exponential may be large";
pub(super) const INFINITE: &str = "it computes with infinities";
const NEAR_ZERO: &str = "the exact operand may be zero or have the other sign: it cancels";
const DECIDES: &str = "a rounded value decides, and the exact one may decide otherwise";
pub(super) const READS: &str =
    "it reads the encoding of a rounded value, or rounds it to an integer, and is no function that is known";
const STEP: &str = "the error of products of matrices of these formats is not documented";
const UNDOCUMENTED: &str = "no error of this approximation is documented";
const MARK: &str =
    "it computes with a coefficient of a function of the mathematical library that is not recognised";

impl Erring {
    /// The least and the greatest exact value, if computed ones are numbers.
    pub(super) fn exact(&self) -> Option<[f64; 2]> {
        let [low, high] = self.set.finite?;
        let ErrorBound { relative, absolute } = self.error;
        if relative >= 0.5 {
            return None;
        }
        // computed ≤ exact + r·|exact| + a, and likewise from below.
        let far = |x: f64| (x + absolute) / if x + absolute >= 0.0 { 1.0 - relative } else { 1.0 + relative };
        let (down, up) = (-far(-low), far(high));
        let room = |x: f64| x.abs() * 1e-14;
        Some([down - room(down), up + room(up)])
    }

    /// The largest magnitude of an exact value.
    fn most(&self) -> Result<f64, &'static str> {
        if !self.set.is_finite() {
            return Err(INFINITE);
        }
        let [low, high] = self.exact().ok_or(LARGE)?;
        Ok(high.max(-low))
    }

    /// The least magnitude of an exact value.
    pub(super) fn least(&self) -> Result<f64, &'static str> {
        let [low, high] = self.exact().ok_or(LARGE)?;
        Ok(low.max(-high).max(0.0))
    }

    /// The largest error as a distance.
    pub(super) fn distance(&self) -> Result<f64, &'static str> {
        if self.error.is_exact() {
            return Ok(0.0);
        }
        Ok(ErrorBound::of(0.0, self.error.relative * self.most()? + self.error.absolute).absolute)
    }

    /// The largest error relative to the exact value, which is not zero.
    pub(super) fn ratio(&self) -> Result<f64, &'static str> {
        if self.error.absolute == 0.0 {
            return Ok(self.error.relative);
        }
        let least = self.least()?;
        let ratio = self.error.relative + self.error.absolute / least;
        if least > 0.0 && ratio < 0.5 { Ok(ErrorBound::of(ratio, 0.0).relative) } else { Err(NEAR_ZERO) }
    }

    /// The same with subnormal numbers flushed.
    fn flushed(self, format: Format) -> Erring {
        if is_normal(self.set, format) {
            return self;
        }
        let error = ErrorBound { absolute: self.error.absolute + least_normal(format), ..self.error };
        Erring { error, ..self }
    }

    /// Whether it is a power of two, so that products with it are exact.
    fn is_power_of_two(&self) -> bool {
        self.error.is_exact()
            && self.set.is_point()
            && self
                .set
                .finite
                .is_some_and(|[value, _]| value.to_bits() & ((1 << 52) - 1) == 0 && value != 0.0)
    }

    fn is_zero(&self) -> bool {
        self.error.is_exact() && self.set == FloatSet::value(0.0)
    }
}

/// Whether no number of a set is subnormal in a format, or near to that.
fn is_normal(set: FloatSet, format: Format) -> bool {
    let least = 2.0 * least_normal(format);
    set.finite.is_none_or(|[low, high]| low >= least || high <= -least || low == 0.0 && high == 0.0)
}

/// Whether no result of an operation may be subnormal, or have become zero by rounding or flushing.
fn has_normal_results(set: FloatSet, format: Format) -> bool {
    is_normal(set, format) && set.finite.is_none_or(|[low, high]| low != 0.0 || high != 0.0)
}

/// The unit roundoff of an operation.
fn unit(key: IeeeKey) -> f64 {
    let unit = f64::powi(2.0, -(mantissa_bits(key.format) as i32));
    match key.rounding {
        Rounding::Nearest | Rounding::NearestAway => unit / 2.0,
        Rounding::Zero | Rounding::Down | Rounding::Up => unit,
    }
}

/// The error after rounding; `loses`: whether subnormal results are rounded, as those of products are.
pub(super) fn rounded(key: IeeeKey, error: ErrorBound, set: FloatSet, loses: bool) -> ErrorBound {
    let unit = unit(key);
    let mut absolute = error.absolute * (1.0 + unit);
    if !has_normal_results(set, key.format) {
        if key.flush {
            absolute += least_normal(key.format);
        } else if loses {
            absolute += least(key.format);
        }
    }
    ErrorBound::of(error.relative + unit * (1.0 + error.relative), absolute)
}

/// The error of a product that is not rounded.
fn product(a: &Erring, b: &Erring) -> Result<ErrorBound, &'static str> {
    let (r, s) = (a.error.relative, b.error.relative);
    let mut absolute = 0.0;
    if a.error.absolute > 0.0 {
        absolute += a.error.absolute * b.most()? * (1.0 + s);
    }
    if b.error.absolute > 0.0 {
        absolute += b.error.absolute * a.most()? * (1.0 + r);
    }
    absolute += a.error.absolute * b.error.absolute;
    if !a.set.is_finite() || !b.set.is_finite() {
        return Err(INFINITE);
    }
    Ok(ErrorBound::of(r + s + r * s, absolute))
}

/// The error of a sum that is not rounded. Where both addends have one sign, relative errors stay such.
pub(super) fn sum(
    a: ErrorBound,
    [a_low, a_high]: [f64; 2],
    b: ErrorBound,
    [b_low, b_high]: [f64; 2],
) -> ErrorBound {
    let relative = a.relative.max(b.relative);
    // |a| + |b| ≤ |a + b| + 2·(what is below zero), and likewise with what is above.
    let below = (-a_low).max(0.0) + (-b_low).max(0.0);
    let above = a_high.max(0.0) + b_high.max(0.0);
    let apart = 2.0 * relative * below.min(above);
    let whole = a.relative * a_high.max(-a_low) + b.relative * b_high.max(-b_low);
    let rest = a.absolute + b.absolute;
    if apart <= whole { ErrorBound::of(relative, rest + apart) } else { ErrorBound::of(0.0, rest + whole) }
}

/// The exact values of a product; `square`: of one value with itself.
fn product_ends(a: [f64; 2], b: [f64; 2], square: bool) -> [f64; 2] {
    let all = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
    let (low, high) =
        all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    [if square { low.max(0.0) } else { low.next_down() }, high.next_up()]
}

/// The error of an operation; `square`: the first two operands are one value.
fn error_of_operation(
    key: IeeeKey,
    operands: &[Erring],
    set: FloatSet,
    square: bool,
) -> Result<ErrorBound, &'static str> {
    // Atomic additions may flush.
    let key = IeeeKey { flush: key.flush || key.op == IeeeOp::AtomicAdd, ..key };
    let flush = |of: &Erring| if key.flush { of.flushed(key.format) } else { *of };
    let operands: SmallVec<[Erring; 3]> = operands.iter().map(flush).collect();
    let exact = operands.iter().all(|operand| operand.error.is_exact());
    let at = |which: usize| operands.get(which).ok_or(UNDOCUMENTED);
    let a = at(0)?;
    let precision = mantissa_bits(key.format) + 1;
    match key.op {
        IeeeOp::Number => Ok(ErrorBound::EXACT),
        IeeeOp::Neg | IeeeOp::Abs => Ok(a.error),
        IeeeOp::Flush => Ok(a.flushed(key.format).error),
        IeeeOp::CopySign => {
            let sign = a.exact().is_some_and(|[low, high]| low > 0.0 || high < 0.0);
            if a.error.is_exact() || sign { Ok(at(1)?.error) } else { Err(DECIDES) }
        }
        // They do not move two numbers further apart.
        IeeeOp::Saturate | IeeeOp::Relu => Ok(a.error),
        IeeeOp::Min | IeeeOp::Max | IeeeOp::MinNan | IeeeOp::MaxNan => Ok(a.error.or(at(1)?.error)),
        IeeeOp::Convert | IeeeOp::ConvertFinite => {
            let most = greatest(key.format);
            if key.op == IeeeOp::ConvertFinite
                && a.exact().is_none_or(|[low, high]| low < -most || high > most)
            {
                return Err("a conversion to the largest number where that is exceeded");
            }
            let fits = a.bits <= precision && (is_normal(a.set, key.format) || wide(key.format));
            if fits { Ok(a.error) } else { Ok(rounded(key, a.error, set, true)) }
        }
        IeeeOp::Add | IeeeOp::AtomicAdd => {
            let b = at(1)?;
            if a.is_zero() || b.is_zero() {
                return Ok(if key.flush {
                    rounded(key, a.error.or(b.error), set, false)
                } else {
                    a.error.or(b.error)
                });
            }
            let error = if exact {
                ErrorBound::EXACT
            } else {
                let (x, y) = (a.exact().ok_or(INFINITE)?, b.exact().ok_or(INFINITE)?);
                sum(a.error, x, b.error, y)
            };
            Ok(rounded(key, error, set, false))
        }
        IeeeOp::Mul => {
            let b = at(1)?;
            let error = product(a, b)?;
            let short = a.bits + b.bits <= precision || a.is_power_of_two() || b.is_power_of_two();
            if short && has_normal_results(set, key.format) || a.is_zero() || b.is_zero() {
                return Ok(error);
            }
            Ok(rounded(key, error, set, true))
        }
        IeeeOp::Fma => {
            let (b, c) = (at(1)?, at(2)?);
            let error = product(a, b)?;
            if exact {
                return Ok(rounded(key, ErrorBound::EXACT, set, true));
            }
            let ends = product_ends(a.exact().ok_or(LARGE)?, b.exact().ok_or(LARGE)?, square);
            if !c.set.is_finite() {
                return Err(INFINITE);
            }
            Ok(rounded(key, sum(error, ends, c.error, c.exact().ok_or(LARGE)?), set, true))
        }
        IeeeOp::Div => Ok(rounded(key, quotient(a, at(1)?)?, set, true)),
        IeeeOp::Sqrt => Ok(rounded(key, root(a)?, set, false)),
        IeeeOp::Ex2
        | IeeeOp::Lg2
        | IeeeOp::Rcp
        | IeeeOp::SqrtApprox
        | IeeeOp::Rsqrt
        | IeeeOp::Sin
        | IeeeOp::Cos
        | IeeeOp::Tanh
        | IeeeOp::DivApprox
        | IeeeOp::DivFull => approximation(key, &operands, set),
        IeeeOp::Integral | IeeeOp::Encode | IeeeOp::ToInt => {
            if exact {
                Ok(ErrorBound::EXACT)
            } else {
                Err(READS)
            }
        }
        IeeeOp::Decode => Err(READS),
        IeeeOp::FromInt => Ok(rounded(key, ErrorBound::EXACT, set, false)),
        IeeeOp::Less | IeeeOp::LessEqual | IeeeOp::Equal | IeeeOp::Ordered => {
            let b = at(1)?;
            // Both decide alike if the exact values and the computed ones leave one answer.
            let both = |of: &Erring| -> Option<FloatSet> {
                if of.error.is_exact() {
                    return Some(of.set);
                }
                let [low, high] = of.exact()?;
                Some(of.set.or(FloatSet::between(low, high)))
            };
            let decided = both(a).zip(both(b)).and_then(|(a, b)| compare(key, a, b));
            if exact || decided.is_some() { Ok(ErrorBound::EXACT) } else { Err(DECIDES) }
        }
        IeeeOp::Step => {
            let (b, before) = (at(1)?, at(2)?);
            let step = MatrixStep::of(key).ok_or(STEP)?;
            let (x, y) = (a.exact().ok_or(LARGE)?, b.exact().ok_or(LARGE)?);
            let ends = product_ends(x, y, false);
            let own = sum(product(a, b)?, ends, before.error, before.exact().ok_or(LARGE)?);
            let share = step.share(ends[1].max(-ends[0]), before.most()?);
            Ok(ErrorBound::of(own.relative, own.absolute + share))
        }
    }
}

/// Whether the numbers of f16 are normal in a format.
fn wide(format: Format) -> bool {
    match format {
        Format::F32 | Format::F64 | Format::Tf32 => true,
        Format::F16 | Format::Bf16 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => false,
    }
}

/// The error of a quotient that is not rounded.
fn quotient(a: &Erring, b: &Erring) -> Result<ErrorBound, &'static str> {
    if !a.set.is_finite() || !b.set.is_finite() {
        return Err(INFINITE);
    }
    let ratio = b.ratio()?;
    let mut absolute = 0.0;
    if a.error.absolute > 0.0 {
        let least = b.least()?;
        if least <= 0.0 {
            return Err(NEAR_ZERO);
        }
        absolute = a.error.absolute / least / (1.0 - ratio);
    }
    Ok(ErrorBound::of((a.error.relative + ratio) / (1.0 - ratio), absolute))
}

/// The error of a root that is not rounded.
fn root(a: &Erring) -> Result<ErrorBound, &'static str> {
    if !a.set.is_finite() || a.error.relative >= 0.5 {
        return Err(INFINITE);
    }
    // √(1 − r) ≥ 1 − r / (1 + √(1 − r)), and √(x + a) ≤ √x + min(√a, a / √x).
    let relative = a.error.relative / (1.0 + (1.0 - a.error.relative).sqrt());
    let mut absolute = a.error.absolute.sqrt();
    let least = a.least()?;
    if least > 0.0 && a.error.absolute > 0.0 {
        absolute = absolute.min(a.error.absolute / least.sqrt() / (1.0 - a.error.relative).sqrt());
    }
    Ok(ErrorBound::of(relative, absolute))
}

/// The error of an approximate instruction.
fn approximation(key: IeeeKey, operands: &[Erring], set: FloatSet) -> Result<ErrorBound, &'static str> {
    let a = operands.first().ok_or(UNDOCUMENTED)?;
    let argument = a.set.finite.map_or(0.0, |[low, high]| high.max(-low));
    let own = error_of(key.op, key.format, argument).ok_or(UNDOCUMENTED)?;
    let one = Erring { set: FloatSet::value(1.0), error: ErrorBound::EXACT, bits: 1 };
    let passed = match key.op {
        IeeeOp::Rcp => quotient(&one, a)?,
        IeeeOp::DivApprox | IeeeOp::DivFull => {
            let b = operands.get(1).ok_or(UNDOCUMENTED)?;
            // Quotients by larger divisors may be zeros.
            if b.most()? > f64::powi(2.0, 126) || divides_by_subnormal(key, b.set) {
                return Err(UNDOCUMENTED);
            }
            quotient(a, b)?
        }
        IeeeOp::SqrtApprox => root(a)?,
        IeeeOp::Rsqrt => {
            let ratio = a.ratio()?;
            if !a.set.is_finite() {
                return Err(INFINITE);
            }
            ErrorBound::of(1.0 / (1.0 - ratio).sqrt() - 1.0 + 1e-16, 0.0)
        }
        IeeeOp::Ex2 => {
            // Of −∞, it is zero on both sides.
            let finite = FloatSet { minus: false, ..a.set };
            let distance = Erring { set: finite, ..*a }.distance()?;
            if distance > 0.25 {
                return Err(EXPONENT);
            }
            ErrorBound::of((distance * std::f64::consts::LN_2).exp_m1(), 0.0)
        }
        IeeeOp::Lg2 => {
            let ratio = a.ratio()?;
            if !a.set.is_finite() || a.least()? <= 0.0 {
                return Err(NEAR_ZERO);
            }
            ErrorBound::of(0.0, -(-ratio).ln_1p() * std::f64::consts::LOG2_E)
        }
        IeeeOp::Sin | IeeeOp::Cos => ErrorBound::of(0.0, a.distance()?),
        // Of slope one at most, and its logarithm too, as a function of that of the argument.
        IeeeOp::Tanh => a.error,
        IeeeOp::Number
        | IeeeOp::Encode
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
        | IeeeOp::ToInt
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
        | IeeeOp::Less
        | IeeeOp::LessEqual
        | IeeeOp::Equal
        | IeeeOp::Ordered
        | IeeeOp::Step
        | IeeeOp::AtomicAdd => return Err(UNDOCUMENTED),
    };
    let relative = passed.relative + own.relative * (1.0 + passed.relative);
    let mut absolute = passed.absolute * (1.0 + own.relative) + own.absolute;
    if !has_normal_results(set, key.format) {
        // Whether subnormal results and operands are flushed is not documented for each of them.
        absolute += 2.0 * least_normal(key.format);
    }
    Ok(ErrorBound::of(relative, absolute))
}

/// What a literal may stand for beside the number that its bits encode (V9): any number that is rounded to it.
/// `rounding`: how far a value may be that was computed from others.
fn error_of_literal(value: f64, rounding: f64) -> ErrorBound {
    if rounding > 0.0 {
        return ErrorBound { relative: rounding + f64::powi(2.0, -24), absolute: 0.0 };
    }
    let bits = significant(value);
    if value == 0.0 || !value.is_finite() || bits <= 12 || value.fract() == 0.0 && value.abs() < 16_777_216.0
    {
        return ErrorBound::EXACT;
    }
    let absolute = if value.abs() < least_normal(Format::F32) { least(Format::F32) } else { 0.0 };
    ErrorBound { relative: f64::powi(2.0, if bits <= 24 { -24 } else { -53 }) * 1.01, absolute }
}

/// The significant bits of a number.
fn significant(value: f64) -> u32 {
    if value == 0.0 || !value.is_finite() {
        1
    } else {
        53 - (value.to_bits() | 1 << 52).trailing_zeros().min(52)
    }
}

impl Analysis<'_, '_> {
    /// The set of a term, within cones too.
    pub(super) fn value_of(&self, term: TermId) -> Option<Known> {
        if let Some(value) = self.store.as_ieee_number(term) {
            return Some(Known::Float(FloatSet::value(value)));
        }
        self.known.get(&term).or_else(|| self.within.as_ref()?.get(&term)).copied()
    }

    /// The operands whose errors decide that of a term.
    fn erring(&self, term: TermId) -> SmallVec<[TermId; 3]> {
        let operands = self.operands(term);
        if self.store.op(term) != Some(TermOp::Select) {
            return operands;
        }
        match self.value_of(operands[0]).and_then(|condition| truth(condition.range())) {
            Some(true) => smallvec![operands[0], operands[1]],
            Some(false) => smallvec![operands[0], operands[2]],
            None => operands,
        }
    }

    /// Bounds the error of a root, whose set is known, as an output of this format.
    pub(crate) fn accuracy(
        &mut self,
        root: TermId,
        format: Format,
        constants: &Constants<'_>,
        errors: &mut Errors,
    ) -> Result<Result<AccuracyBound, Unbounded>, TooMany> {
        let mut work = vec![root];
        while let Some(term) = work.last().copied() {
            if errors.known.contains_key(&term) {
                work.pop();
                continue;
            }
            self.effort.spend(1)?;
            let exponential = self.exponential(term)?;
            let needs: SmallVec<[TermId; 3]> = match exponential {
                Some((_, base, rest)) => std::iter::once(base).chain(rest).collect(),
                None => self.erring(term),
            };
            let before = work.len();
            work.extend(needs.iter().filter(|needed| !errors.known.contains_key(needed)));
            if work.len() > before {
                continue;
            }
            work.pop();
            let mut error = self.error(term, exponential, constants, errors);
            if error.is_err()
                && let Some(known) = self.of_known_function(term, errors)?
            {
                error = known;
            }
            errors.known.insert(term, error);
        }
        let fail = |why: &'static str| Unbounded { site: self.site(root), why };
        let error = match &errors.known[&root] {
            Ok(error) => *error,
            Err(why) => return Ok(Err(why.clone())),
        };
        let Some(set) = self.value_of(root).and_then(|known| known.float()) else {
            // An integer that is exact.
            return Ok(Ok(AccuracyBound { absolute: 0.0, ulps: 0.0 }));
        };
        let result = Erring { set, error, bits: 53 };
        if !set.is_finite() && !error.is_exact() {
            return Ok(Err(fail(INFINITE)));
        }
        let (Ok(distance), Ok(least_exact)) = (result.distance(), result.least()) else {
            return Ok(Err(fail(LARGE)));
        };
        let bits = mantissa_bits(format) as i32;
        // A unit in the last place is more than |x|·2^−(bits + 1), and at least that of subnormal numbers.
        let smallest = least(format);
        let unit = if least_exact > 0.0 {
            f64::powi(2.0, least_exact.log2().floor() as i32 - bits - 1)
        } else {
            0.0
        };
        let ulps = error.relative * f64::powi(2.0, bits + 1) + error.absolute / unit.max(smallest);
        Ok(Ok(AccuracyBound { absolute: distance, ulps: ErrorBound::of(ulps, 0.0).relative }))
    }

    /// A float with its error.
    pub(super) fn erring_value(&self, term: TermId, error: ErrorBound) -> Option<Erring> {
        let set = self.value_of(term)?.float()?;
        Some(Erring { set, error, bits: 53 })
    }

    fn site(&self, term: TermId) -> Option<InstId> {
        self.store.site(term).filter(|site| site.0 != u32::MAX)
    }

    /// The error of a term from those of its operands.
    fn error(
        &self,
        term: TermId,
        exponential: Option<(bool, TermId, Option<TermId>)>,
        constants: &Constants<'_>,
        errors: &Errors,
    ) -> Outcome {
        let fail = |why: &'static str| Unbounded { site: self.site(term), why };
        if let Some(value) = self.store.as_ieee_number(term) {
            let rounding = (constants.rounding)(value);
            return if (constants.is_mark)(value) {
                Err(fail(MARK))
            } else if rounding < 0.25 {
                Ok(error_of_literal(value, rounding))
            } else {
                Err(fail(DECIDES))
            };
        }
        let of = |operand: TermId| errors.known[&operand].clone();
        let set_of = |operand: TermId| self.value_of(operand).and_then(|known| known.float());
        if let Some((negated, base, rest)) = exponential {
            return self.error_of_exponential(term, negated, base, rest, errors).map_err(|why| match why {
                Ok(why) => why,
                Err(why) => fail(why),
            });
        }
        let op = match self.store.view(term) {
            View::Input { .. } | View::Constant(_) => return Ok(ErrorBound::EXACT),
            View::Apply(op, _) => op,
        };
        let operands = self.erring(term);
        if let Some(key) = key_of_term(self.store, term) {
            let mut list: SmallVec<[Erring; 3]> = SmallVec::new();
            for operand in &operands {
                let error = of(*operand)?;
                let set = match self.value_of(*operand) {
                    Some(Known::Float(set)) => set,
                    // An integer, which is exact.
                    Some(Known::Int(_)) => FloatSet::all(Format::F64),
                    None => return Err(fail(READS)),
                };
                list.push(Erring { set, error, bits: self.significant(*operand) });
            }
            let set = set_of(term).unwrap_or(FloatSet::all(key.format));
            let square = operands.len() > 1 && operands[0] == operands[1];
            return match error_of_operation(key, &list, set, square) {
                Ok(error) if error.relative < 0.5 && error.absolute.is_finite() => Ok(error),
                Ok(_) => Err(fail(LARGE)),
                Err(why) => Err(fail(why)),
            };
        }
        if op == TermOp::Select {
            let arms =
                operands[1..].iter().map(|arm| of(*arm)).collect::<Result<SmallVec<[ErrorBound; 2]>, _>>()?;
            let error = arms.into_iter().fold(ErrorBound::EXACT, ErrorBound::or);
            return match of(operands[0]) {
                Ok(_) => Ok(error),
                // A minimum or a maximum, which does not move numbers further apart.
                Err(_) if self.is_extremum(&operands) => Ok(error),
                Err(why) => Err(why),
            };
        }
        for operand in &operands {
            if !of(*operand)?.is_exact() {
                return Err(fail(READS));
            }
        }
        Ok(ErrorBound::EXACT)
    }

    /// Whether the condition of a choice compares its arms.
    fn is_extremum(&self, operands: &[TermId]) -> bool {
        let [condition, one, other] = operands else { return false };
        let compares = key_of_term(self.store, *condition)
            .is_some_and(|key| matches!(key.op, IeeeOp::Less | IeeeOp::LessEqual) && !key.flush);
        let compared = operands_of(self.store, *condition);
        compares && (compared.as_slice() == [*one, *other] || compared.as_slice() == [*other, *one])
    }

    /// The significant bits of the values of a term.
    fn significant(&self, term: TermId) -> u32 {
        if let Some(value) = self.store.as_ieee_number(term) {
            return significant(value);
        }
        let own = |key: IeeeKey| mantissa_bits(key.format) + 1;
        match key_of_term(self.store, term) {
            Some(key) if key.op == IeeeOp::Convert => {
                let operand = operands_of(self.store, term).first().copied();
                let of = operand.and_then(|of| key_of_term(self.store, of)).map_or(53, own);
                own(key).min(of)
            }
            Some(key) => own(key),
            None => 53,
        }
    }
}
