//! The search for inputs at which the bits of two terms differ.

use std::collections::BTreeMap;

use super::evaluate::{same, shown, value};
use super::{BitsPair, BitsWitness, InputFormats};
use crate::number::Rational;
use crate::number::format::{Format, Rounding};
use crate::term::{Ieee, IeeeKey, IeeeOp, InputId, Sign};

/// How the elements of inputs are drawn at one point.
#[derive(Clone, Copy)]
enum Draw {
    /// Near 1, each another.
    Near,
    /// Of magnitudes that are far apart.
    Spread,
    /// All the same.
    All(f64),
    /// Zeros of both signs, and a few numbers.
    Zeros,
    /// Small numbers, some of them subnormal.
    Small,
}

/// At most so many elements are drawn larger than all others, one at a time.
const LARGEST: usize = 128;

const DRAWS: [Draw; 9] = [
    Draw::Near,
    Draw::Spread,
    Draw::All(1.0),
    Draw::All(1000.0),
    Draw::Zeros,
    Draw::All(-0.0),
    Draw::Small,
    Draw::All(1e-30),
    Draw::All(-1.5),
];

/// Each kind of point is drawn so often for one of many elements.
const TIMES: u64 = 3;

/// A word that depends on all of a number.
fn mixed(mut word: u64) -> u64 {
    for _ in 0..2 {
        word = (word ^ word >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    }
    word ^ word >> 29
}

/// The value of an element at a point; finite, of its type, and with its sign.
fn element(of: InputFormats, point: u64, input: InputId, element: u64, largest: bool) -> Ieee {
    let word =
        mixed(mixed(point ^ (input.index() as u64) << 40) ^ element.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    if let Some(integers) = of.integers {
        let (least, greatest) = (integers.least, integers.greatest);
        let width = greatest.saturating_sub(least).saturating_add(1).max(1);
        return Ieee::Int(Rational::from_i128(least + i128::from(word >> 1) % width));
    }
    let unit = (word >> 11) as f64 / (1u64 << 53) as f64;
    let sign = if word & 1 == 1 { -1.0 } else { 1.0 };
    let drawn = match DRAWS[point as usize % DRAWS.len()] {
        Draw::Near => sign * (0.5 + unit),
        Draw::Spread => sign * (1.0 + unit) * f64::powi(2.0, (word >> 3 & 31) as i32 - 16),
        Draw::All(value) => value,
        Draw::Zeros => match word >> 1 & 3 {
            0 | 1 => 0.0 * sign,
            2 => sign,
            _ => sign * (0.5 + unit),
        },
        Draw::Small => sign * (1.0 + unit) * f64::powi(2.0, -(100 + (word >> 3 & 31) as i32)),
    };
    let drawn = if largest { 4.0 } else { drawn };
    let signed = match of.sign {
        Sign::Any => drawn,
        Sign::Nonzero if drawn == 0.0 => 1.0,
        Sign::Nonzero => drawn,
        Sign::Positive if drawn == 0.0 => 1.0,
        Sign::Positive | Sign::NonNegative => drawn.abs(),
        Sign::Negative if drawn == 0.0 => -1.0,
        Sign::Negative | Sign::NonPositive => -drawn.abs(),
    };
    // Of two formats, the narrow ones have the values of this one in common.
    let format = match of.format {
        Some(format @ (Format::F16 | Format::Bf16 | Format::F32 | Format::F64)) => format,
        Some(Format::Tf32) => Format::F32,
        Some(Format::E4m3 | Format::E5m2 | Format::Ue8m0) | None => {
            return Ieee::Float(if signed < 0.0 { -1.0 } else { 1.0 });
        }
    };
    let rounded =
        IeeeKey::new(IeeeOp::Convert, format).rounding(Rounding::Zero).apply(&[Ieee::Float(signed)]);
    match rounded {
        Some(Ieee::Float(value))
            if value != 0.0 || matches!(of.sign, Sign::Any | Sign::NonNegative | Sign::NonPositive) =>
        {
            Ieee::Float(value)
        }
        _ => Ieee::Float(1.0f64.copysign(signed)),
    }
}

/// The outcome of a search.
pub(super) enum Searched {
    /// Inputs at which both terms are known and differ.
    Found(BitsWitness),
    /// None.
    Nothing,
    /// None, and the value of a term is known at no inputs.
    Undetermined,
}

/// Searches inputs at which both terms are known and differ, at so many times the points for one of many elements.
pub(super) fn search(pair: &BitsPair<'_>, inputs: &[InputFormats], share: u64) -> Searched {
    let mut undetermined = 0;
    let mut all: Vec<(usize, u64)> = Vec::new();
    let points = (0..DRAWS.len() as u64 * TIMES * share).map(|point| (point, None));
    let ones = (0..LARGEST).map(|at| (0, Some(at)));
    for (point, largest) in points.chain(ones) {
        // Elements are spread over those that are read, from the last one on.
        let largest = match largest {
            Some(at) if at >= all.len() => break,
            Some(at) => all.get(all.len() - 1 - at * all.len() / LARGEST.min(all.len())).copied(),
            None => None,
        };
        let mut read: BTreeMap<(usize, u64), Ieee> = BTreeMap::new();
        let mut allowed = true;
        let mut input = |which: InputId, at: u64| {
            let of = inputs.get(which.index()).copied().unwrap_or_default();
            // What is assumed of integers beyond their range is not drawn.
            allowed &= !of.distinct && (of.integers.is_none() || of.sign == Sign::Any);
            let drawn = element(of, point, which, at, largest == Some((which.index(), at)));
            read.insert((which.index(), at), drawn.clone());
            drawn
        };
        let one = value(pair.reference.0, pair.reference.1, &mut input);
        let other = value(pair.opt.0, pair.opt.1, &mut input);
        if all.is_empty() {
            all = read.keys().copied().collect();
        }
        let (Some(one), Some(other)) = (one, other) else {
            undetermined += 1;
            // Both depend on what is not documented, such as the result of an approximation, at each kind of input.
            if undetermined == DRAWS.len() as u64 && point + 1 == undetermined {
                return Searched::Undetermined;
            }
            continue;
        };
        if same(&one, &other) || !allowed {
            continue;
        }
        let number = |value: &Ieee| match value {
            Ieee::Float(value) => *value,
            Ieee::Int(value) => Rational::to_f64_approximately(value),
        };
        let inputs = read.iter().map(|((input, element), value)| (*input, *element, number(value)));
        return Searched::Found(BitsWitness {
            inputs: inputs.collect(),
            values: [shown(&one), shown(&other)],
        });
    }
    Searched::Nothing
}
