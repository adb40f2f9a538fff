//! Outputs that are compared as multisets (rule S3). Each element is a number that says whether it is written, and its
//! value there. A proof pairs the elements of both sides, whichever they are, and proves each pair equal; a witness is an
//! input at which their number, their sum or the sum of their squares differs.

use std::collections::BTreeMap;

use crate::base::index::InstId;
use crate::case::{Param, Which};
use crate::conditions::{Pair, Valued};
use crate::decide::evaluate::Evaluator;
use crate::decide::point::TestPoint;
use crate::decide::witness::Counterexample;
use crate::decide::{DecisionOptions, InputInfo, counterexample};
use crate::machine::{Bag, BagElement, Execution, Output, OutputValue, integer_constant};
use crate::number::interval::Narrow;
use crate::number::value::Value;
use crate::term::{Imported, Store, TermId, TermOp};
use crate::verdict::{Difference, How, Unknown, UnknownReason, Verdict, Witness};
use crate::verify::Verification;

/// The points at which elements are compared to pair them: pseudo-random numbers, at some all positive or all negative.
const POINTS: std::ops::Range<u32> = 24..36;
/// Values that agree to so many bits are taken to be equal: a pair is proved to be, or is none.
const BITS: u32 = 28;
const NOWHERE: InstId = InstId(u32::MAX);

/// An element of one side: the index of its store, or none for the store of known numbers.
#[derive(Clone, Copy, Debug)]
struct Element {
    store: Option<usize>,
    /// 1 where it is written, else 0; `None` if it always is.
    is_written: Option<TermId>,
    value: TermId,
}

/// What a side leaves in an output.
struct Left {
    /// The places that are written, if they do not depend on the input, else the first one.
    places: Result<Vec<u64>, u64>,
    elements: Vec<Element>,
}

/// How the elements of an output are paired.
#[derive(Clone, Debug)]
pub(crate) enum Paired {
    /// As pairs of equal elements, if they are.
    Pairs(Vec<Pair>),
    /// The sides leave different numbers of elements, or leave them at different places.
    Apart(String),
}

impl Verification<'_> {
    /// The pairs of elements of an output that is compared as a multiset.
    pub(crate) fn pair_multisets(
        &mut self,
        at: usize,
        [reference, opt]: [&Execution; 2],
        old: &mut Store,
        pairs: &mut Vec<Pair>,
    ) -> Result<(), Verdict> {
        let options = self.decide_options(reference.held.and(&opt.held));
        let sides = [(Which::Reference, reference), (Which::Opt, opt)];
        let param = (at, &self.case.params[at]);
        match pair(param, sides, &self.inputs, old, &options) {
            Paired::Pairs(all) => {
                self.report.coverage.total += all.last().map_or(0, |pair| pair.element + 1);
                pairs.extend(all);
                Ok(())
            }
            Paired::Apart(why) => Err(self.multisets_differ(at, sides, &options, why)),
        }
    }

    /// The verdict on two multisets that are not proved to be equal.
    pub(crate) fn multisets_differ(
        &self,
        at: usize,
        sides: [(Which, &Execution); 2],
        options: &DecisionOptions,
        why: String,
    ) -> Verdict {
        let param = &self.case.params[at];
        let name = &param.name;
        let Some((found, [reference, opt])) = refute((at, param), sides, &self.inputs, options) else {
            return Verdict::Unknown(Unknown {
                kind: UnknownReason::Undecided,
                reason: format!("whether both kernels leave the same multiset in `{name}`: {why}"),
                progress: None,
                help: None,
            });
        };
        let inputs = found.inputs.iter().map(|input| (input.name.clone(), input.value.to_string()));
        let witness = Witness {
            inputs: inputs.collect(),
            zeros: found.zeros,
            reference,
            opt,
            explanation: None,
            readings: Vec::new(),
        };
        let how = How::Values(witness);
        Verdict::Different(Difference { tensor: name.clone(), element: 0, index: Vec::new(), how })
    }
}

/// The elements of outputs that are written at places that counters give.
pub(crate) fn elements(outcome: &Execution) -> impl Iterator<Item = Output> {
    let of_bag = |bag: &Bag| {
        let element = |of: &BagElement| Output {
            param: bag.param,
            element: bag.first,
            store: of.store,
            value: OutputValue::Real(of.value),
        };
        bag.elements.iter().map(element).collect::<Vec<Output>>()
    };
    outcome.bags.iter().flat_map(of_bag)
}

/// The number of elements of some pairs: one of a multiset may be two pairs.
pub(crate) fn count(pairs: &[Pair]) -> u64 {
    let is_same = |two: &&[Pair]| (two[0].param, two[0].element) == (two[1].param, two[1].element);
    (pairs.len() - pairs.windows(2).filter(is_same).count()) as u64
}

impl Left {
    fn of(which: Which, at: usize, param: &Param, outcome: &Execution, known: &mut Store) -> Left {
        if let Some(bag) = outcome.bags.iter().find(|bag| bag.param == at) {
            let elements = bag.elements.iter().map(|element| Element {
                store: Some(element.store),
                is_written: element.is_written,
                value: element.value,
            });
            let elements = elements.collect();
            let is_certain = bag.elements.iter().all(|element| element.is_written.is_none());
            let places = if is_certain {
                Ok((bag.first..bag.first + bag.elements.len() as u64).collect())
            } else {
                Err(bag.first)
            };
            return Left { places, elements };
        }
        let outputs = outcome.outputs_of(at);
        let elements = outputs.iter().map(|output| {
            let (store, value) = match output.value {
                OutputValue::Real(term) | OutputValue::Integer(term) => (Some(output.store), term),
                OutputValue::Bits(bits) => {
                    let ty = param.elements()[usize::from(which == Which::Opt)];
                    (None, integer_constant(ty, bits, known))
                }
            };
            Element { store, is_written: None, value }
        });
        let elements = elements.collect();
        Left { places: Ok(outputs.iter().map(|output| output.element).collect()), elements }
    }
}

/// Pairs the elements that both sides leave in an output.
pub(crate) fn pair(
    (at, param): (usize, &Param),
    sides: [(Which, &Execution); 2],
    inputs: &[InputInfo],
    known: &mut Store,
    options: &DecisionOptions,
) -> Paired {
    let [reference, opt] = sides.map(|(which, outcome)| Left::of(which, at, param, outcome, known));
    let told = |left: &Left| match &left.places {
        Err(first) => format!("from place {first} on"),
        Ok(places) => match (places.first(), places.last()) {
            (Some(first), Some(last)) => format!("{} places from {first} to {last}", places.len()),
            (None, _) | (_, None) => "nothing".into(),
        },
    };
    let is_alike = match (&reference.places, &opt.places) {
        (Ok(one), Ok(other)) => one == other,
        (Err(one), Err(other)) => one == other && reference.elements.len() == opt.elements.len(),
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    };
    if !is_alike {
        let (one, other) = (told(&reference), told(&opt));
        return Paired::Apart(format!("the reference writes {one}, the optimized kernel {other}"));
    }
    let sorted = |left: &Left, outcome: &Execution, known: &Store| {
        let mut keyed = keys(left, outcome, known, inputs, options);
        keyed.sort();
        keyed.into_iter().map(|(_, number)| left.elements[number]).collect::<Vec<Element>>()
    };
    let [one, other] = [sorted(&reference, sides[0].1, known), sorted(&opt, sides[1].1, known)];
    let always = number(1, known);
    let valued = |(store, term)| Valued { store, value: OutputValue::Integer(term) };
    let when = |element: &Element| element.is_written.map_or((None, always), |term| (element.store, term));
    let pairs = one.iter().zip(&other).zip(0..).flat_map(|((one, other), element)| {
        let pair = |[reference, opt]: [_; 2]| Pair {
            param: at,
            element,
            reference: valued(reference),
            opt: valued(opt),
        };
        let value = pair([one, other].map(|of| (of.store, of.value)));
        let is_certain = one.is_written.or(other.is_written).is_none();
        let when = (!is_certain).then(|| pair([one, other].map(when)));
        when.into_iter().chain([value])
    });
    Paired::Pairs(pairs.collect())
}

/// For each element, what it is at some points, and its number.
fn keys(
    left: &Left,
    outcome: &Execution,
    known: &Store,
    inputs: &[InputInfo],
    options: &DecisionOptions,
) -> Vec<(Vec<i64>, usize)> {
    let mut keys: Vec<(Vec<i64>, usize)> =
        (0..left.elements.len()).map(|number| (Vec::new(), number)).collect();
    let mut by_store: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (number, element) in left.elements.iter().enumerate() {
        by_store.entry(element.store).or_default().push(number);
    }
    for (store, numbers) in by_store {
        let store = store.map_or(known, |at| &outcome.stores[at]);
        let own = |number: &usize| {
            let element = &left.elements[*number];
            [element.is_written.unwrap_or(element.value), element.value]
        };
        let terms: Vec<TermId> = numbers.iter().flat_map(own).collect();
        for round in POINTS {
            let point = TestPoint::new(inputs, round);
            let mut evaluator = Evaluator::<Narrow, _>::new(store, point, 53, options.effort.remembered);
            let values = evaluator.evaluate_all(&terms);
            for (number, values) in numbers.iter().zip(values.chunks(2)) {
                let is_certain = left.elements[*number].is_written.is_none();
                let when = if is_certain { ONE } else { rounded(&values[0]) };
                keys[*number].0.extend([when, rounded(&values[1])]);
            }
        }
    }
    keys
}

/// What [`rounded`] is of 1.
const ONE: i64 = of_number(1.0);

const fn of_number(number: f64) -> i64 {
    let bits = number.to_bits() as i64;
    let order = if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits };
    // Short numbers are not at a boundary.
    (order >> (52 - BITS - 1)).wrapping_add(1) >> 1
}

fn number(value: u64, store: &mut Store) -> TermId {
    integer_constant(crate::case::Element::Int { bytes: 4, signed: false }, value, store)
}

/// A number that is the same for values that are nearly the same.
fn rounded(value: &Value<Narrow>) -> i64 {
    match value {
        Value::Finite(value) => {
            let [low, high] = value.ends();
            of_number(low / 2.0 + high / 2.0)
        }
        Value::PosInf => i64::MAX,
        Value::NegInf => i64::MIN,
        Value::True | Value::False | Value::Either | Value::Undefined | Value::Unresolved => i64::MAX - 1,
    }
}

/// An input at which both sides leave different multisets in an output, or leave them at different places, and what each
/// leaves.
pub(crate) fn refute(
    (at, param): (usize, &Param),
    sides: [(Which, &Execution); 2],
    inputs: &[InputInfo],
    options: &DecisionOptions,
) -> Option<(Counterexample, [String; 2])> {
    let mut known = Store::new();
    let firsts = sides.map(|(which, outcome)| match Left::of(which, at, param, outcome, &mut known).places {
        Ok(places) => places.first().copied(),
        Err(first) => Some(first),
    });
    let sums = sides.map(|(which, outcome)| {
        let left = Left::of(which, at, param, outcome, &mut known);
        sums(&left, outcome, &known, inputs)
    });
    let [(left, one), (right, other)] = &sums;
    let search = |one: (&Store, TermId), other: (&Store, TermId)| {
        counterexample::refute(one, other, inputs, &options.effort)
    };
    let kinds = ["elements in number", "elements whose sum is", "elements whose squares have the sum"];
    let differs = kinds.into_iter().zip(one.1.iter().zip(&other.1)).find_map(|(kind, (one, other))| {
        let found = search((left, *one), (right, *other))?;
        let told = [&found.reference, &found.opt].map(|value| match kind {
            "elements in number" => format!("{value} elements"),
            kind => format!("{kind} {value}"),
        });
        Some((found, told))
    });
    let elsewhere = || {
        // Where one side writes anything, it does so at other places than the other.
        let [Some(first), Some(place)] = firsts else { return None };
        let found = (first != place).then(|| search((left, one.0), (left, one.1[0])))??;
        Some((found, [first, place].map(|place| format!("elements from place {place} on"))))
    };
    differs.or_else(elsewhere)
}

/// Zero, and the number of elements, their sum and the sum of their squares, in a store of their own.
fn sums(
    left: &Left,
    outcome: &Execution,
    known: &Store,
    inputs: &[InputInfo],
) -> (Store, (TermId, [TermId; 3])) {
    let mut store = Store::new();
    store.set_integers(inputs.iter().map(|input| input.integers).collect());
    let mut imported: BTreeMap<Option<usize>, Imported> = BTreeMap::new();
    let [zero, one] = [0, 1].map(|value| number(value, &mut store));
    let mut sums = [zero; 3];
    for element in &left.elements {
        let from = element.store.map_or(known, |at| &outcome.stores[at]);
        let terms = imported.entry(element.store).or_default();
        let value = store.import(from, element.value, terms);
        let is_written = element.is_written.map_or(one, |when| store.import(from, when, terms));
        let square = store.apply(TermOp::Mul, &[value, value], NOWHERE);
        for (sum, term) in sums.iter_mut().zip([is_written, value, square]) {
            *sum = store.apply(TermOp::Add, &[*sum, term], NOWHERE);
        }
    }
    (store, (zero, sums))
}
