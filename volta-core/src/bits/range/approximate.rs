//! Approximate instructions: the values within the errors that the PTX ISA documents.

#![expect(clippy::wildcard_enum_match_arm, reason = "a table of the operations that are approximations")]

use super::set::{FloatSet, Raised, apply as exactly, greatest, partial};
use crate::number::format::{Format, Rounding, mantissa_bits};
use crate::number::interval::{Enclosure, Function, Narrow};
use crate::term::{IeeeKey, IeeeOp, least_normal};

/// The largest error of an approximation: relative to the exact result, and absolute.
#[derive(Clone, Copy, Debug)]
pub(super) struct ErrorBound {
    pub(super) relative: f64,
    pub(super) absolute: f64,
}

/// The documented error in a format, if there is one; a unit in the last place is added for rounding. `argument` is
/// the largest magnitude of the operand.
pub(super) fn error_of(op: IeeeOp, format: Format, argument: f64) -> Option<ErrorBound> {
    let unit = f64::powi(2.0, -(mantissa_bits(format) as i32));
    let power = |exponent: f64| f64::exp2(exponent);
    let relative = |error: f64| Some(ErrorBound { relative: error + unit, absolute: 0.0 });
    let absolute = |error: f64| Some(ErrorBound { relative: unit, absolute: error });
    match (op, format) {
        (IeeeOp::Ex2 | IeeeOp::Rcp | IeeeOp::DivApprox | IeeeOp::DivFull, Format::F32) => {
            relative(2.0 * unit)
        }
        (IeeeOp::SqrtApprox, Format::F32) => relative(power(-22.9)),
        (IeeeOp::Rsqrt, Format::F32) => relative(power(-22.8)),
        (IeeeOp::Lg2, Format::F32) => {
            Some(ErrorBound { relative: power(-21.9) + unit, absolute: power(-21.9) })
        }
        (IeeeOp::Sin | IeeeOp::Cos, Format::F32) if argument <= 6.25 => absolute(power(-20.4)),
        (IeeeOp::Sin | IeeeOp::Cos, Format::F32) if argument <= 314.0 => absolute(power(-14.6)),
        (IeeeOp::Tanh, Format::F32) => relative(power(-10.9)),
        (IeeeOp::Ex2, Format::F16) => relative(power(-9.8)),
        (IeeeOp::Ex2, Format::Bf16) => relative(power(-6.9)),
        (IeeeOp::Tanh, Format::F16) => absolute(power(-10.9)),
        (IeeeOp::Tanh, Format::Bf16) => absolute(power(-7.9)),
        _ => None,
    }
}

/// The set of results, and what may be raised; `None` where nothing is documented.
pub(super) fn apply(key: IeeeKey, operands: &[FloatSet]) -> Option<(FloatSet, Raised)> {
    let a = *operands.first()?;
    match key.op {
        IeeeOp::Rcp => quotient(key, FloatSet::value(1.0), a),
        IeeeOp::DivApprox | IeeeOp::DivFull => quotient(key, a, *operands.get(1)?),
        _ => function(key, a),
    }
}

/// Whether it may be `div.approx` by a subnormal number, for which no error is documented.
pub(super) fn divides_by_subnormal(key: IeeeKey, b: FloatSet) -> bool {
    let least = least_normal(key.format);
    let may_be = |[low, high]: [f64; 2]| low < least && high > -least && [low, high] != [0.0; 2];
    key.op == IeeeOp::DivApprox && !key.flush && b.finite.is_some_and(may_be)
}

fn quotient(key: IeeeKey, a: FloatSet, b: FloatSet) -> Option<(FloatSet, Raised)> {
    if divides_by_subnormal(key, b) {
        return None;
    }
    let error = error_of(key.op, key.format, 0.0)?;
    let exact = IeeeKey { op: IeeeOp::Div, rounding: Rounding::Nearest, ..key };
    let (set, raised) = exactly(exact, &[a, b], false);
    let (mut set, own) = widened(set, key.format, error);
    // Quotients by large divisors may be zeros, and of an infinity NaN.
    let large = b.finite.is_some_and(|[low, high]| high.max(-low) > f64::powi(2.0, 126));
    let mut raised = raised.or(own);
    if large {
        set = set.or(FloatSet::value(0.0));
        if a.plus || a.minus {
            set.nan = true;
            raised.invalid = true;
        }
    }
    Some((set, raised))
}

/// A function of one real.
fn function(key: IeeeKey, a: FloatSet) -> Option<(FloatSet, Raised)> {
    let format = key.format;
    let a = if key.flush { exactly(IeeeKey::new(IeeeOp::Flush, format), &[a], false).0 } else { a };
    let most = greatest(format);
    let argument = a.finite.map_or(0.0, |[low, high]| high.max(-low));
    let error = error_of(key.op, format, argument)?;
    let mut result = FloatSet { nan: a.nan, ..FloatSet::EMPTY };
    let mut raised = Raised::NONE;
    let mut add = |set: FloatSet, own: Raised| {
        result = result.or(set);
        raised = raised.or(own);
    };
    let infinite = |sign: f64| FloatSet::value(f64::INFINITY * sign);
    let none = Raised::NONE;
    match key.op {
        IeeeOp::Ex2 => {
            if a.plus {
                add(infinite(1.0), none);
            }
            if a.minus {
                add(FloatSet::value(0.0), none);
            }
            match a.finite {
                Some([0.0, 0.0]) => add(FloatSet::value(1.0), none),
                Some([low, high]) => {
                    // Beyond, the result is zero or infinite in every format that has the instruction.
                    let [down, up] =
                        ends_of(low.clamp(-800.0, 800.0), high.clamp(-800.0, 800.0), |of| of.exp2())?;
                    let (set, own) = widened(FloatSet::between(down, up), format, error);
                    let down =
                        if low < -800.0 { 0.0 } else { set.finite.map_or(0.0, |[down, _]| down.max(0.0)) };
                    add(FloatSet { finite: set.finite.map(|[_, up]| [down.min(up), up]), ..set }, own);
                }
                None => {}
            }
        }
        IeeeOp::Lg2 => {
            let (rest, own, invalid) = partial(a);
            add(FloatSet { nan: own.nan, ..FloatSet::EMPTY }, invalid);
            if rest.plus {
                add(infinite(1.0), none);
            }
            if let Some([low, high]) = rest.finite {
                if low <= 0.0 {
                    add(infinite(-1.0), Raised { division: true, ..none });
                }
                if high > 0.0 {
                    let low = low.max(f64::powi(2.0, -149)).min(high);
                    let [down, up] = ends_of(low, high, |of| of.apply(Function::Log2))?;
                    let (set, own) = widened(FloatSet::between(down, up), format, error);
                    add(set, own);
                }
            }
        }
        IeeeOp::SqrtApprox => {
            let (rest, own, invalid) = partial(a);
            add(FloatSet { nan: own.nan, ..FloatSet::EMPTY }, invalid);
            if rest.plus {
                add(infinite(1.0), none);
            }
            if let Some([low, high]) = rest.finite {
                let [down, up] = ends_of(low, high, |of| of.apply(Function::Sqrt))?;
                let (set, own) = widened(FloatSet::between(down, up), format, error);
                add(set.within(0.0, f64::INFINITY), own);
            }
        }
        IeeeOp::Rsqrt => {
            let (rest, own, invalid) = partial(a);
            add(FloatSet { nan: own.nan, ..FloatSet::EMPTY }, invalid);
            if rest.plus {
                add(FloatSet::value(0.0), none);
            }
            if let Some([low, high]) = rest.finite {
                if low <= 0.0 {
                    add(
                        FloatSet { plus: true, minus: true, ..FloatSet::EMPTY },
                        Raised { division: true, ..none },
                    );
                }
                if high > 0.0 {
                    let low = low.max(f64::powi(2.0, -149)).min(high);
                    let [down, up] = ends_of(low, high, |of| of.apply(Function::Rsqrt))?;
                    let (set, own) = widened(FloatSet::between(down, up), format, error);
                    add(set, own);
                }
            }
        }
        IeeeOp::Sin | IeeeOp::Cos => {
            if a.plus || a.minus {
                add(FloatSet { nan: true, ..FloatSet::EMPTY }, Raised { invalid: true, ..none });
            }
            if a.finite.is_some() {
                let most = 1.0 + error.absolute + error.relative;
                add(FloatSet::between(-most, most), none);
            }
        }
        IeeeOp::Tanh => {
            for (has, value) in [(a.plus, 1.0), (a.minus, -1.0)] {
                if has {
                    add(FloatSet::value(value), none);
                }
            }
            if let Some([low, high]) = a.finite {
                let [down, up] =
                    ends_of(low.clamp(-64.0, 64.0), high.clamp(-64.0, 64.0), |of| of.apply(Function::Tanh))?;
                let (set, own) = widened(FloatSet::between(down, up), format, error);
                // Beyond, it is 1 up to much less than the error.
                add(set, own);
            }
        }
        _ => return None,
    }
    let result = result
        .finite
        .map_or(result, |[low, high]| FloatSet { finite: Some([low.max(-most), high.min(most)]), ..result });
    Some((result, raised))
}

/// Bounds of a function between two numbers, exact or rounded outwards.
fn ends_of(low: f64, high: f64, function: impl Fn(&Narrow) -> Option<Narrow>) -> Option<[f64; 2]> {
    Some(function(&Narrow::new(low, high)?)?.ends())
}

/// A set with the error of an approximation on both sides; numbers that may be flushed may be zeros.
fn widened(set: FloatSet, format: Format, error: ErrorBound) -> (FloatSet, Raised) {
    let Some([low, high]) = set.finite else { return (set, Raised::NONE) };
    let (most, least) = (greatest(format), least_normal(format));
    let margin = |x: f64| x.abs() * error.relative + error.absolute + least * error.relative;
    let (mut down, mut up) = ((low - margin(low)).next_down(), (high + margin(high)).next_up());
    if down > 0.0 && down <= least {
        down = 0.0;
    }
    if up < 0.0 && up >= -least {
        up = 0.0;
    }
    let (plus, minus) = (up > most, down < -most);
    let finite = (down <= most && up >= -most).then_some([down.max(-most), up.min(most)]);
    let result = FloatSet { finite, plus: set.plus | plus, minus: set.minus | minus, nan: set.nan };
    (result, Raised { overflow: plus || minus, ..Raised::NONE })
}
