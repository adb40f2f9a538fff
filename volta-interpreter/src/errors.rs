//! The largest errors of outputs that are found: a case runs on random inputs and on such as make errors large, and its
//! results are compared with exact values that the caller knows.

use std::rc::Rc;

use volta_core::case::{Case, Param, ParamKind, Sign};

use crate::launch::{Inputs, Ready, alone, ready};
use crate::random::Random;
use crate::values::{Number, Signs, Values, count, elements};

/// The exact value of an element, as the caller knows it.
#[derive(Clone, Copy, Debug)]
pub struct ExactValue {
    /// 0 for the reference, 1 for the optimized or the only kernel.
    pub side: usize,
    /// The output.
    pub param: usize,
    /// The element.
    pub element: u64,
    /// Numbers between which it lies.
    pub between: [f64; 2],
    /// The unit in the last place.
    pub unit: f64,
    /// What is proved of its error, if anything is: as a distance, and in units in the last place.
    pub bound: Option<[f64; 2]>,
}

/// The largest error that was found of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenError {
    /// 0 for the reference, 1 for the optimized or the only kernel.
    pub side: usize,
    /// The output.
    pub param: usize,
    /// The element.
    pub element: u64,
    /// As a distance.
    pub absolute: f64,
    /// In units in the last place.
    pub ulps: f64,
    /// What is proved of it, if anything is, as a distance at the inputs where it is nearest to that.
    pub bound: Option<f64>,
    /// The largest error as a part of what is proved of it at the same inputs: at most one.
    pub part: f64,
}

/// How long large errors are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// At most so many inputs are tried.
    pub tries: usize,
    /// Once so many instructions of threads were executed, no other inputs are tried.
    pub instructions: u64,
}

impl Search {
    /// So many inputs.
    pub fn of(tries: usize) -> Search {
        Search { tries, instructions: u64::MAX }
    }
}

/// Inputs of which errors are often large.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// Anywhere in the range.
    Anywhere,
    /// The greatest, or the least.
    End(bool),
    /// The ends in turns.
    Alternating,
    /// An end each, drawn.
    Corners,
    /// All near one number.
    Near(f64),
    /// A number and its negation in turns: sums cancel.
    Cancelling,
    /// Of all magnitudes.
    Magnitudes,
}

const CHOICES: [Choice; 12] = [
    Choice::Anywhere,
    Choice::End(true),
    Choice::End(false),
    Choice::Alternating,
    Choice::Corners,
    Choice::Near(0.97),
    Choice::Near(0.03),
    Choice::Cancelling,
    Choice::Magnitudes,
    Choice::Anywhere,
    Choice::Corners,
    Choice::Cancelling,
];

/// The range from which floats are drawn where a case gives none.
const USUAL: [f64; 2] = [-8.0, 8.0];

/// At most so many elements of a parameter are given numbers of their own; others follow a pattern of these.
const CHOSEN: u64 = 1 << 14;

/// The number at an element of a parameter.
pub type Read<'r> = dyn Fn(usize, u64) -> f64 + 'r;

/// The largest errors that are found. `exact` evaluates the exact values at inputs.
///
/// # Errors
/// If a kernel cannot be run.
pub fn largest_errors(
    case: &Case,
    exact: &mut dyn FnMut(&Read<'_>) -> Vec<ExactValue>,
    search: Search,
) -> Result<Vec<SeenError>, String> {
    // Their approximations are near to the exact values, above them, or below.
    let of_sides = || -> Result<Vec<(usize, Ready<'_>)>, String> {
        Ok(match case.reference {
            Some(_) => ready(case)?.into_iter().enumerate().collect(),
            None => vec![(1, alone(case)?)],
        })
    };
    let erring = |up: bool| -> Result<Vec<(usize, Ready<'_>)>, String> {
        Ok(of_sides()?.into_iter().map(|(side, ready)| (side, ready.erring(up))).collect())
    };
    let ways = [of_sides()?, erring(true)?, erring(false)?];
    let mut random = Random::new(0x5eed);
    let mut largest: Vec<SeenError> = Vec::new();
    // The inputs with the largest error relative to its bound, which are changed in part, and how approximations err.
    let mut best: Option<(f64, usize, Vec<Vec<f64>>)> = None;
    let mut instructions = 0;
    for turn in 0..search.tries {
        if instructions >= search.instructions {
            break;
        }
        let climbs = turn >= CHOICES.len() && turn % 4 != 0;
        let (way, drawn): (usize, Vec<Vec<f64>>) = match &best {
            Some((_, way, known)) if climbs => {
                let of = case.params.iter().zip(known);
                (*way, of.map(|(param, known)| changed(param, known, &mut random)).collect())
            }
            _ => {
                let choice = CHOICES[turn % CHOICES.len()];
                (
                    (turn + turn / CHOICES.len()) % ways.len(),
                    case.params.iter().map(|param| draw(param, choice, &mut random)).collect(),
                )
            }
        };
        let mut inputs: Inputs = Vec::new();
        for (param, numbers) in case.params.iter().zip(&drawn) {
            let mut values = Values::new(param, Some((turn as u64 + 1, Signs::Mixed)))?;
            for (at, number) in (0..).zip(numbers) {
                values.choose_number(at, *number);
            }
            inputs.push(Rc::new(values));
        }
        let types: Vec<_> = case.params.iter().map(|param| elements(param)[1]).collect();
        let read = |param: usize, element: u64| {
            inputs[param].at(element).map_or(0.0, |number| number.real(types[param]))
        };
        let values = exact(&read);
        let mut score = 0.0f64;
        for (side, ready) in &ways[way] {
            let ran = ready.run(&inputs, turn as u64)?;
            instructions += ran.instructions;
            for value in values.iter().filter(|value| value.side == *side) {
                let Some(output) = ran.outputs.iter().find(|output| output.param == value.param) else {
                    continue;
                };
                let Number::Real(computed) = output.number(value.element) else { continue };
                let [low, high] = value.between;
                if !computed.is_finite() || !output.is_written(value.element) {
                    continue;
                }
                let absolute = (low - computed).max(computed - high).max(0.0);
                // At these inputs, the smaller of both.
                let bound = value.bound.map(|[distance, ulps]| distance.min(ulps * value.unit));
                let part = match bound {
                    Some(bound) if absolute > 0.0 => absolute / bound,
                    Some(_) | None => 0.0,
                };
                let own = SeenError {
                    side: *side,
                    param: value.param,
                    element: value.element,
                    absolute,
                    ulps: absolute / value.unit,
                    bound,
                    part,
                };
                score = score.max(if bound.is_some() { part } else { own.ulps });
                let place = largest.iter_mut().find(|known| {
                    (known.side, known.param, known.element) == (*side, value.param, value.element)
                });
                match place {
                    Some(known) => {
                        known.absolute = known.absolute.max(absolute);
                        known.ulps = known.ulps.max(own.ulps);
                        if part > known.part {
                            (known.part, known.bound) = (part, bound);
                        }
                    }
                    None => largest.push(own),
                }
            }
        }
        if best.as_ref().is_none_or(|(known, ..)| score > *known) {
            best = Some((score, way, drawn));
        }
    }
    Ok(largest)
}

/// The range of the floats of a parameter whose elements are drawn.
fn range_of(param: &Param) -> Option<[f64; 2]> {
    let ParamKind::Tensor { .. } = &param.kind else { return None };
    let assumed = param.assumed()?;
    crate::values::format(elements(param)[1])?;
    let [mut low, mut high] = assumed.floats.unwrap_or(USUAL);
    match param.sign() {
        Sign::Any | Sign::Nonzero => {}
        Sign::Positive => low = low.max(high / 1e6),
        Sign::NonNegative => low = low.max(0.0),
        Sign::Negative => high = high.min(low / 1e6),
        Sign::NonPositive => high = high.min(0.0),
    }
    (low <= high).then_some([low, high])
}

fn draw(param: &Param, choice: Choice, random: &mut Random) -> Vec<f64> {
    let Some([low, high]) = range_of(param) else { return Vec::new() };
    let total = count(param).min(CHOSEN);
    let mut last = 0.0;
    let numbers = (0..total).map(|at| {
        let part = unit(random);
        let value = match choice {
            Choice::Anywhere => low + (high - low) * part,
            Choice::End(upper) => {
                if upper {
                    high
                } else {
                    low
                }
            }
            Choice::Alternating => {
                if at % 2 == 0 {
                    high
                } else {
                    low
                }
            }
            Choice::Corners => {
                if part < 0.5 {
                    high
                } else {
                    low
                }
            }
            Choice::Near(place) => (low + (high - low) * place) * (1.0 + (part - 0.5) / 4096.0),
            Choice::Cancelling if at % 2 == 1 => -last,
            Choice::Cancelling => low + (high - low) * part,
            Choice::Magnitudes => {
                let end = if random.bits() & 1 == 0 { low } else { high };
                end * f64::powi(2.0, -((part * 24.0) as i32)) * (1.0 + unit(random)) / 2.0
            }
        };
        last = value;
        within(param, value, [low, high])
    });
    numbers.collect()
}

/// Some of the numbers changed.
fn changed(param: &Param, known: &[f64], random: &mut Random) -> Vec<f64> {
    let Some([low, high]) = range_of(param) else { return known.to_vec() };
    let rate = [0.02, 0.2, 1.0][random.below(3)];
    let scale = [1e-6, 1e-3, 0.1, 1.0][random.below(4)];
    let change = |value: &f64| {
        if unit(random) > rate {
            return *value;
        }
        within(param, value + (high - low) * scale * (unit(random) - 0.5), [low, high])
    };
    known.iter().map(change).collect()
}

fn unit(random: &mut Random) -> f64 {
    (random.bits() >> 11) as f64 / (1u64 << 53) as f64
}

/// A number of the formats of both sides in the range, near to another.
fn within(param: &Param, value: f64, [low, high]: [f64; 2]) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    let rounded = |value: f64| {
        elements(param).into_iter().fold(value, |value, element| {
            crate::values::decode(crate::values::encode(Number::Real(value), element), element).real(element)
        })
    };
    // Rounding may leave the range.
    let drawn = value.clamp(low, high);
    let nearby = [drawn, drawn + (middle - drawn) / 64.0, middle];
    let found = nearby.into_iter().map(rounded).find(|value| (low..=high).contains(value));
    found.unwrap_or(rounded(middle))
}
