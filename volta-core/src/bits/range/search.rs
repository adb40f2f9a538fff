//! The search for inputs at which an operation leaves the numbers.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::cone::ConeCache;
use super::set::{FloatSet, greatest, rounded};
use super::{Analysis, Departure, Effort, Known, Leaving, Survey};
use crate::base::index::InstId;
use crate::number::format::{Format, Rounding};
use crate::term::{InputId, Integers, Range, Store, TermId, encoding};

/// What an element of an input may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InputRange {
    /// A float between two numbers, which both formats have.
    Float { bounds: [f64; 2], formats: [Format; 2] },
    /// An integer.
    Int(Integers),
    /// Nothing that values are drawn of.
    Other,
}

impl InputRange {
    /// The set of all values.
    pub(crate) fn known(self) -> Known {
        match self {
            InputRange::Float { bounds: [low, high], .. } => Known::Float(FloatSet::between(low, high)),
            InputRange::Int(of) => Known::Int(Range::whole(Some(of.least), Some(of.greatest))),
            InputRange::Other => Known::Int(Range::REAL),
        }
    }

    /// A value near a number, if there is one.
    fn near(self, drawn: f64) -> Option<f64> {
        match self {
            InputRange::Float { bounds: [low, high], formats } => {
                let mut value = drawn.clamp(low, high);
                for format in formats {
                    value =
                        rounded(value.clamp(-greatest(format), greatest(format)), format, Rounding::Zero)?;
                }
                let fits = formats.iter().all(|format| encoding(*format, value).is_some());
                (fits && value >= low && value <= high).then_some(value)
            }
            InputRange::Int(of) => {
                let value = drawn.round().clamp(of.least as f64, of.greatest as f64);
                Some(value)
            }
            InputRange::Other => None,
        }
    }
}

/// The value of an element of an input.
pub(crate) type PointValue = (usize, u64, f64);

/// Inputs at which an operation leaves the numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RangeWitness {
    /// The inputs that matter.
    pub(crate) inputs: Vec<PointValue>,
    /// The number of the point: earlier ones are simpler.
    pub(crate) point: usize,
    /// The operation at these inputs.
    pub(crate) there: Option<Departure>,
}

/// How elements are drawn at a point.
#[derive(Clone, Copy, Debug)]
enum Draw {
    /// All at one place of their range, from 0 to 1.
    At(f64),
    /// All the same number, as far as their range has it.
    All(f64),
    /// All near the same number.
    Near(f64),
    /// The least and the greatest in turns.
    Ends,
    /// Each at an end, drawn.
    Corners,
    /// Each somewhere.
    Anywhere,
    /// The greatest in one element, the least in the others.
    One,
}

const DRAWS: [Draw; 38] = [
    Draw::At(1.0),
    Draw::At(0.0),
    Draw::All(0.0),
    Draw::Ends,
    Draw::All(1.0),
    Draw::One,
    Draw::All(100.0),
    Draw::All(-100.0),
    Draw::All(1000.0),
    Draw::All(-1000.0),
    Draw::All(0.1),
    Draw::All(1.1),
    Draw::Corners,
    Draw::Anywhere,
    Draw::All(3.3),
    Draw::All(7.7),
    Draw::Near(1.0),
    Draw::Near(1000.1),
    Draw::Near(7.7),
    Draw::At(0.3),
    Draw::At(0.9),
    Draw::All(1e-30),
    Draw::All(1e20),
    Draw::All(-1.0),
    Draw::All(123.4),
    Draw::All(0.7),
    Draw::All(5.1),
    Draw::At(0.9371),
    Draw::At(0.8613),
    Draw::At(0.7127),
    Draw::At(0.0617),
    Draw::At(0.1873),
    Draw::At(0.9773),
    Draw::Near(431.9),
    Draw::Near(701.3),
    Draw::Near(55.7),
    Draw::Near(877.1),
    Draw::Corners,
];

fn mixed(mut word: u64) -> u64 {
    for _ in 0..2 {
        word = (word ^ word >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    }
    word ^ word >> 29
}

fn drawn(draw: Draw, of: InputRange, point: u64, input: InputId, element: u64) -> Option<f64> {
    let [low, high] = match of {
        InputRange::Float { bounds, .. } => bounds,
        InputRange::Int(of) => [of.least as f64, of.greatest as f64],
        InputRange::Other => return None,
    };
    let word =
        mixed(mixed(point ^ (input.index() as u64) << 40) ^ element.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let unit = (word >> 11) as f64 / (1u64 << 53) as f64;
    let end = |upper: bool| if upper { high } else { low };
    let between = |part: f64| low * (1.0 - part) + high * part;
    of.near(match draw {
        Draw::At(part) => between(part),
        Draw::All(value) => value,
        Draw::Near(value) => value * (1.0 + (unit - 0.5) / 65536.0),
        Draw::Ends => end(element.is_multiple_of(2)),
        Draw::Corners => end(word & 1 == 1),
        Draw::Anywhere => between(unit),
        Draw::One => end(element == 0),
    })
}

/// What is searched: operations by instruction and by what they do.
type Wanted = FxHashMap<(Option<InstId>, Leaving), Departure>;

/// Searches inputs at which operations do what they may do, each where a root depends on it.
pub(crate) fn search(
    roots: &[(&Store, TermId)],
    wanted: &Wanted,
    inputs: &[InputRange],
    effort: &mut Effort,
) -> FxHashMap<(Option<InstId>, Leaving), RangeWitness> {
    let mut found: FxHashMap<(Option<InstId>, Leaving), RangeWitness> = FxHashMap::default();
    let mut by_root: BTreeMap<usize, Vec<(Option<InstId>, Leaving)>> = BTreeMap::new();
    for (key, departure) in wanted {
        by_root.entry(departure.root).or_default().push(*key);
    }
    for (root, wanted) in by_root.iter_mut() {
        wanted.sort_unstable();
        let (store, term) = roots[*root];
        // Of tiny inputs, that results are tiny is no news.
        let leaves = wanted.iter().any(|(_, leaving)| !leaving.keeps_numbers());
        let draws = DRAWS
            .into_iter()
            .filter(|draw| leaves || !matches!(draw, Draw::All(value) if *value < 1e-9 && *value > 0.0));
        for (point, draw) in draws.enumerate() {
            if wanted.iter().all(|key| found.contains_key(key)) {
                break;
            }
            let read: RefCell<BTreeMap<(usize, u64), Option<f64>>> = RefCell::default();
            let input = |which: InputId, element: u64| {
                let of = inputs.get(which.index()).copied().unwrap_or(InputRange::Other);
                let value = drawn(draw, of, point as u64, which, element);
                read.borrow_mut().insert((which.index(), element), value);
                match (value, of) {
                    (Some(value), InputRange::Float { .. }) => Known::Float(FloatSet::value(value)),
                    (Some(value), InputRange::Int(_)) => {
                        Known::Int(Range::whole(Some(value as i128), Some(value as i128)))
                    }
                    (None, _) | (Some(_), InputRange::Other) => of.known(),
                }
            };
            let mut own = Survey::default();
            let mut cones = ConeCache::default();
            let mut analysis = Analysis::new(store, &input, &mut cones, effort);
            if analysis.root(*root, term, &mut own).is_err() {
                return found;
            }
            let read = read.into_inner();
            // Where an arm is not known to be taken, what it does says nothing.
            if own.undecided || read.values().any(Option::is_none) {
                continue;
            }
            let witness = |there: Option<&Departure>| RangeWitness {
                point,
                there: there.cloned(),
                inputs: read
                    .iter()
                    .filter_map(|((input, at), value)| Some((*input, *at, (*value)?)))
                    .collect(),
            };
            for key in wanted.iter().filter(|key| !found.contains_key(*key)).copied().collect::<Vec<_>>() {
                let there = match key.1 {
                    Leaving::Output => None,
                    Leaving::Overflow | Leaving::Division | Leaving::Invalid => own.departures.get(&key),
                    Leaving::Underflow | Leaving::Cancels => own.losses.get(&key),
                };
                let there = there.filter(|departure| departure.surely);
                let output = key.1 == Leaving::Output
                    && own.roots.first().is_some_and(|(_, set)| set.finite.is_none())
                    && own.departures.is_empty();
                if output || there.is_some() {
                    found.insert(key, witness(there));
                }
            }
        }
    }
    found
}
