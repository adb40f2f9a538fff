//! The numbers of a case: contents of inputs, and their encoding.

use std::collections::HashMap;

use rug::{Float as Big, Rational};
use volta_core::case::{Assumed, Contents, Element, Param, ParamKind, Region, ScalarValue, Sign};
use volta_core::number::Extended;
use volta_core::term::Integers;

use crate::float::{self, Format, Round};
use crate::integer::IntType;
use crate::random::Random;

/// One element of an input or output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of a float type.
    Real(f64),
    /// Of an integer type, as bits.
    Bits(u64),
}

impl Number {
    /// In decimal, with enough digits to distinguish it from others of its type; for narrow types, of f32.
    pub fn spelled(self, element: Element) -> String {
        match self {
            Number::Real(value) if element.bytes() <= 4 => format!("{:?}", value as f32),
            Number::Real(value) => format!("{value:?}"),
            Number::Bits(bits) => match element {
                Element::Int { bytes, signed: true } => {
                    crate::integer::sign_extend(bits, 8 * bytes).to_string()
                }
                Element::Int { .. } | Element::Bool | Element::Float(_) => bits.to_string(),
            },
        }
    }

    /// As a real.
    pub fn real(self, element: Element) -> f64 {
        match (self, element) {
            (Number::Real(value), _) => value,
            (Number::Bits(bits), Element::Int { bytes, signed: true }) => {
                crate::integer::sign_extend(bits, 8 * bytes) as f64
            }
            (Number::Bits(bits), _) => bits as f64,
        }
    }
}

/// The interpreter's format for an element type of the verifier.
pub fn format(element: Element) -> Option<Format> {
    match element {
        Element::Int { .. } | Element::Bool => None,
        Element::Float(_) => Some(match element.name() {
            "f16" => Format::F16,
            "bf16" => Format::Bf16,
            "tf32" => Format::Tf32,
            "f32" => Format::F32,
            "f64" => Format::F64,
            "e4m3" => Format::E4m3,
            "ue8m0" => Format::Ue8m0,
            _ => Format::E5m2,
        }),
    }
}

/// The f64 nearest to a number that is written as `3`, `-5/7`, `-0` or `inf`.
///
/// # Errors
/// If it is written in another way.
pub fn parse(text: &str) -> Result<f64, String> {
    match text {
        "inf" => return Ok(f64::INFINITY),
        "-inf" => return Ok(f64::NEG_INFINITY),
        "-0" => return Ok(-0.0),
        _ => {}
    }
    let exact: Rational = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    Ok(Big::with_val(53, &exact).to_f64())
}

/// See [`parse`].
///
/// # Errors
/// See [`parse`].
pub fn constant(value: &Extended) -> Result<f64, String> {
    parse(&value.to_string())
}

/// The bits of a number in a type, rounded to nearest.
pub fn encode(number: Number, element: Element) -> u64 {
    match (number, format(element)) {
        (Number::Real(value), Some(format)) => float::from_f64(format, value, Round::NearestTiesToEven),
        (Number::Real(value), None) => value as i128 as u64 & float::mask(8 * element.bytes()),
        (Number::Bits(bits), _) => bits,
    }
}

/// The number that bits represent in a type.
pub fn decode(bits: u64, element: Element) -> Number {
    match format(element) {
        Some(format) => Number::Real(float::to_f64(format, bits)),
        None => Number::Bits(bits),
    }
}

/// The element types of a parameter in both kernels.
pub fn elements(param: &Param) -> [Element; 2] {
    match &param.kind {
        ParamKind::Tensor { reference, opt, .. } => [*reference, *opt],
        ParamKind::Scalar { element, .. } => [*element; 2],
    }
}

/// The least and the greatest number of an integer type.
pub fn range(element: Element) -> Option<(i128, i128)> {
    match element {
        Element::Float(_) => None,
        Element::Int { bytes, signed } => Some(IntType { bits: 8 * bytes, signed }.range()),
        Element::Bool => Some((0, 1)),
    }
}

/// The number of elements of a parameter.
pub fn count(param: &Param) -> u64 {
    match &param.kind {
        ParamKind::Tensor { shape, .. } => shape.iter().product(),
        ParamKind::Scalar { .. } => 1,
    }
}

/// The signs of random numbers, where the case does not fix them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// Both.
    Mixed,
    /// Floats are positive: sums do not cancel, so that error bounds are narrow.
    Positive,
}

/// The contents of a parameter before the launch.
#[derive(Clone, Debug)]
enum Source {
    /// Random numbers by a seed, of either sign or non-negative.
    Random(u64, Signs),
    /// One number for all elements.
    Fill(Number),
    /// The index of each element.
    Iota,
    /// A list of numbers.
    List(Vec<Number>),
    /// The first kind in a region of matrices with this many rows and columns, and the second outside of it.
    Partly(Region, [u64; 2], Box<[Source; 2]>),
    /// Anything: the kernel may not read it, or it is the addresses that a launch has.
    Undefined,
}

/// The contents of a parameter before the launch. Since tensors are large and kernels access parts of them, each
/// element is computed when it is needed.
#[derive(Clone, Debug)]
pub struct Values {
    param: Param,
    source: Source,
    chosen: HashMap<u64, Number>,
}

impl Values {
    /// The contents of a parameter according to its case. Symbolic elements are random by a seed, or 0 without one.
    ///
    /// # Errors
    /// A number that cannot be read.
    pub fn new(param: &Param, seed: Option<(u64, Signs)>) -> Result<Values, String> {
        let is_float = format(elements(param)[0]).is_some();
        let zero = if is_float { Number::Real(0.0) } else { Number::Bits(0) };
        // For integer types, a number may have more digits than an f64.
        let exact = |value: &Extended| match value
            .finite()
            .and_then(|value| value.to_string().parse::<i128>().ok())
        {
            Some(integer) if !is_float => Ok(Number::Bits(integer as u64)),
            _ => constant(value).map(|value| known(is_float, value)),
        };
        let symbolic = seed.map_or(Source::Fill(zero), |(seed, signs)| Source::Random(seed, signs));
        let source = match &param.kind {
            ParamKind::Tensor { contents, shape, .. } => match contents {
                Contents::Symbolic => symbolic,
                Contents::Undefined | Contents::Pointers(_) => Source::Undefined,
                Contents::Fill(value) => Source::Fill(exact(value)?),
                Contents::Iota => Source::Iota,
                Contents::List(list) => Source::List(list.iter().map(exact).collect::<Result<_, String>>()?),
                Contents::LowerTriangular => {
                    let numbers = [1.0, 0.0].map(|number| Source::Fill(known(is_float, number)));
                    Source::Partly(Region::Lower, last_two(shape)?, Box::new(numbers))
                }
                Contents::Partly(region, value) => {
                    let held = [symbolic, Source::Fill(exact(value)?)];
                    Source::Partly(*region, last_two(shape)?, Box::new(held))
                }
            },
            ParamKind::Scalar { value: ScalarValue::Number(value), .. } => Source::Fill(exact(value)?),
            ParamKind::Scalar { value: ScalarValue::Symbolic(_), .. } => symbolic,
        };
        Ok(Values { param: param.clone(), source, chosen: HashMap::new() })
    }

    /// Replaces an element by a number that is written as `3` or `-5/7`.
    ///
    /// # Errors
    /// See [`parse`].
    pub fn choose(&mut self, element: u64, text: &str) -> Result<(), String> {
        let number = match self.at(element) {
            None => return Err("nobody may read it".into()),
            Some(Number::Real(_)) => Number::Real(parse(text)?),
            Some(Number::Bits(_)) => Number::Bits(parse(text)? as i128 as u64),
        };
        self.chosen.insert(element, number);
        Ok(())
    }

    /// Replaces an element of an input of floats whose contents are symbolic; of another, nothing.
    pub fn choose_number(&mut self, element: u64, number: f64) {
        if let (Source::Random(..), Some(Number::Real(_))) = (&self.source, self.at(element)) {
            self.chosen.insert(element, Number::Real(number));
        }
    }

    /// An element; `None` if its value is open, or if there is no such element.
    pub fn at(&self, element: u64) -> Option<Number> {
        if element >= count(&self.param) {
            return None;
        }
        if let Some(chosen) = self.chosen.get(&element) {
            return Some(*chosen);
        }
        self.held(&self.source, element)
    }

    fn held(&self, source: &Source, element: u64) -> Option<Number> {
        let is_float = format(elements(&self.param)[0]).is_some();
        match source {
            Source::Random(seed, signs) => {
                if let Some(of) = self.param.integers().filter(|_| self.param.is_distinct()) {
                    let nonzero = self.param.sign() == Sign::Nonzero;
                    return Some(distinct((of, nonzero), *seed, element, elements(&self.param)[0]));
                }
                let mut mixed = Random::new(seed ^ element.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                Some(random(&self.param, *signs, &mut Random::new(mixed.bits())))
            }
            Source::Fill(value) => Some(*value),
            Source::Iota => Some(known(is_float, element as f64)),
            Source::List(list) => list.get(element as usize).copied(),
            Source::Partly(region, [rows, columns], held) => {
                let inside = region.has(element / columns % rows, element % columns);
                self.held(&held[usize::from(!inside)], element)
            }
            Source::Undefined => None,
        }
    }

    /// Whether its elements are known.
    pub fn are_known(&self) -> bool {
        !matches!(self.source, Source::Undefined)
    }
}

/// The extents of the matrices of a tensor.
fn last_two(shape: &[u64]) -> Result<[u64; 2], String> {
    let [.., rows, columns] = shape else { return Err("no matrix has a diagonal here".into()) };
    Ok([*rows, *columns])
}

fn known(is_float: bool, value: f64) -> Number {
    if is_float { Number::Real(value) } else { Number::Bits(value as i64 as u64) }
}

/// An integer by a seed that no other element has: elements take steps that are coprime to the number of integers.
fn distinct((of, nonzero): (Integers, bool), seed: u64, element: u64, ty: Element) -> Number {
    let count = of.places(nonzero);
    let mut random = Random::new(seed);
    let (first, mut step) = (i128::from(random.bits() >> 32), i128::from(random.bits() >> 32));
    let divides = |by: i128, step: i128| step % by == 0 && count % by == 0;
    while (2..=count.min(1 << 12)).any(|by| divides(by, step)) {
        step += 1;
    }
    let value = of.at_place(first + i128::from(element) * step, nonzero);
    Number::Bits(value as u64 & float::mask(8 * ty.bytes()))
}

/// A random number of a range, often one of its ends, of which the digits that a type does not have are cut off.
fn between([least, greatest]: [f64; 2], cut: impl Fn(f64) -> f64, random: &mut Random) -> f64 {
    let share = (random.bits() >> 12) as f64 / (1_u64 << 52) as f64;
    let number = match random.below(8) {
        0 => least,
        1 => greatest,
        _ => least * (1.0 - share) + greatest * share,
    };
    [cut(number), least, greatest].into_iter().find(|own| (least..=greatest).contains(own)).unwrap_or(least)
}

/// A random number that both kernels' types hold exactly, with the sign that the case assumes.
fn random(param: &Param, signs: Signs, random: &mut Random) -> Number {
    let Assumed { sign, range: _, floats, elements: _ } = match &param.kind {
        ParamKind::Tensor { assumed, .. }
        | ParamKind::Scalar { value: ScalarValue::Symbolic(assumed), .. } => *assumed,
        ParamKind::Scalar { .. } => Assumed::default(),
    };
    let [first, second] = elements(param);
    let (Some(one), Some(other)) = (format(first), format(second)) else {
        // Small and arbitrary numbers that both types have, as the case assumes.
        let of = param.integers().unwrap_or(Integers { least: 0, greatest: u64::MAX.into() });
        let value = if random.below(2) == 0 {
            of.at_place(random.bits().into(), sign == Sign::Nonzero)
        } else {
            (random.below(100) as i128).clamp(of.least, of.greatest)
        };
        let value = if value == 0 && sign == Sign::Nonzero { of.at_place(0, true) } else { value };
        return Number::Bits(value as u64 & float::mask(8 * first.bytes()));
    };
    // Of magnitude between 1/64 and 2, with as many digits as the types have.
    let scale = 0.5_f64.powi(random.below(6) as i32);
    let magnitude = (1.0 + (random.bits() >> 12) as f64 / (1_u64 << 52) as f64) * scale;
    let cut = 52 - one.fraction_bits().min(other.fraction_bits());
    let cut = |number: f64| f64::from_bits(number.to_bits() >> cut << cut);
    let magnitude = cut(magnitude);
    if let Some([least, greatest]) = floats {
        return Number::Real(between([least, greatest], cut, random));
    }
    let negative = match sign {
        Sign::Any | Sign::Nonzero => random.below(2) == 0 && signs == Signs::Mixed,
        Sign::Positive | Sign::NonNegative => false,
        Sign::Negative | Sign::NonPositive => true,
    };
    Number::Real(if negative { -magnitude } else { magnitude })
}
