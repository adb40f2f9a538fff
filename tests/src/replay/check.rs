//! Checks verdicts of cases on numbers.

use std::rc::Rc;

use volta_core::case::{Assumed, Case, Contents, Element, Param, ParamKind, ScalarValue, Which};
use volta_core::verdict::{Difference, Fault, FaultKind, How, Verdict};
use volta_core::{Conditions, conditions};

use super::bound::{Precision, Tape, Value};
use super::launch::{Inputs, Output, Ran, Ready, place, ready, witness_inputs};
use super::values::{self, Signs, Values};
use crate::interpreter::random::Random;

/// If elements have more terms than this in all, only some of them are evaluated.
const MAX_TERMS: usize = 300_000;

/// The extent of a check.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The number of random inputs.
    pub inputs: usize,
    /// Whether the first inputs also run under a second schedule.
    pub schedules: bool,
    /// Once so many instructions of threads were executed, no other inputs are tried.
    pub instructions: u64,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tried {
    /// The number of elements whose terms were compared with computed values, over all inputs.
    pub compared: usize,
    /// The number of elements whose value is unknown at the inputs.
    pub open: usize,
    /// The largest bound relative to the largest magnitude of an output, at the inputs where this is smallest: at some
    /// inputs sums cancel, and no bound is tight.
    pub looseness: Option<f64>,
    /// The number of runs of a kernel.
    pub runs: usize,
    /// The number of threads that ran.
    pub threads: u64,
    /// The number of instructions that they executed.
    pub instructions: u64,
}

impl Tried {
    fn count(&mut self, ran: &Ran) {
        self.runs += 1;
        self.threads += ran.threads;
        self.instructions += ran.instructions;
    }
}

fn inputs(case: &Case, signs: Signs, random: &mut Random) -> Result<Inputs, String> {
    case.params.iter().map(|param| Ok(Rc::new(Values::new(param, Some((random.bits(), signs)))?))).collect()
}

/// The inputs as reals, as the terms of a side refer to them.
fn real_inputs<'i>(
    case: &'i Case,
    side: usize,
    inputs: &'i Inputs,
) -> impl Fn(usize, usize) -> Option<f64> + 'i {
    let types: Vec<Element> = case.params.iter().map(|param| values::elements(param)[side]).collect();
    move |param, element| Some(inputs[param].at(element as u64)?.real(types[param]))
}

/// An element of an output that is compared.
struct Compared {
    /// The output: a parameter of the case.
    param: usize,
    /// Its number in the output.
    number: u64,
    /// For each side, the tape and the place on it.
    places: [(usize, usize); 2],
}

/// The terms of some elements on both sides, ready to be evaluated.
struct Plan<'s> {
    tapes: [Vec<Tape<'s>>; 2],
    precisions: [Precision; 2],
    elements: Vec<Compared>,
    /// Whether the verdict has conditions; where they do not hold, the optimized kernel is undefined.
    conditional: bool,
}

impl<'s> Plan<'s> {
    fn new(case: &Case, conditions: &'s Conditions, sides: &[Ready<'_>; 2]) -> Result<Plan<'s>, String> {
        let mut plan = Plan {
            tapes: [Vec::new(), Vec::new()],
            precisions: [Precision::of(&sides[0]), Precision::of(&sides[1])],
            elements: Vec::new(),
            conditional: false,
        };
        // The golden ratio spreads elements evenly, neighbours late; an odd step visits all if the count is a power of
        // two.
        let count = conditions.len();
        let step = (count as f64 * 0.618) as usize | 1;
        let step = (step..).find(|step| greatest_divisor(*step, count) == 1).unwrap_or(1);
        for at in (0..count).map(|turn| turn * step % count) {
            if plan.tapes.iter().flatten().map(Tape::len).sum::<usize>() > MAX_TERMS {
                break;
            }
            let Some(element) = conditions.element(at) else { continue };
            let (param, number) = place(case, &conditions.name(at)).ok_or("an element has no place")?;
            // Elements of multisets are compared by what both sides leave.
            if case.params[param].is_set() {
                continue;
            }
            let mut places = [(0, 0); 2];
            for (side, (store, term)) in [element.reference, element.opt].into_iter().enumerate() {
                let tapes = &mut plan.tapes[side];
                let tape = match tapes.iter().position(|tape| tape.is_of(store)) {
                    Some(tape) => tape,
                    None => {
                        tapes.push(Tape::new(store));
                        tapes.len() - 1
                    }
                };
                places[side] = (tape, tapes[tape].add(term)?);
                if let Element::Int { .. } = values::elements(&case.params[param])[side] {
                    tapes[tape].is_integer(places[side].1);
                }
            }
            plan.elements.push(Compared { param, number, places });
        }
        Ok(plan)
    }

    /// Evaluates all tapes of a side.
    fn evaluate(&self, case: &Case, side: usize, inputs: &Inputs) -> Vec<Vec<Value>> {
        let input = real_inputs(case, side, inputs);
        self.tapes[side].iter().map(|tape| tape.evaluate(&self.precisions[side], &input)).collect()
    }

    /// Compares outputs with terms; both terms of an element must have one value.
    fn compare(
        &self,
        case: &Case,
        inputs: &Inputs,
        outputs: [&[Output]; 2],
        tried: &mut Tried,
    ) -> Result<(), String> {
        let values = [self.evaluate(case, 0, inputs), self.evaluate(case, 1, inputs)];
        let (mut largest, mut widest) = (0.0_f64, 0.0_f64);
        for Compared { param, number, places } in &self.elements {
            let mut found = Vec::new();
            for side in 0..2 {
                let (tape, place) = places[side];
                let output =
                    outputs[side].iter().find(|output| output.param == *param).ok_or("no such output")?;
                let term =
                    self.precisions[side].stored(values[side][tape][place], values::format(output.element));
                found.push((term, output.number(*number).real(output.element)));
            }
            // The verdict makes no claim outside the reference's domain, nor where one of its conditions does not hold.
            let outside = |value: &Value| matches!(value, Value::Undefined);
            let conditional = self.conditional && outside(&found[1].0);
            if conditional || matches!(found[0].0, Value::Undefined | Value::Unknown | Value::Truth(_)) {
                tried.open += 1;
                continue;
            }
            let at = || format!("{}[{number}]", case.params[*param].name);
            for (side, (term, computed)) in ["the reference", "the optimized kernel"].into_iter().zip(&found)
            {
                let (inside, spelled) = match term {
                    Value::Real(value, error) => {
                        largest = largest.max(value.abs());
                        widest = widest.max(*error);
                        ((computed - value).abs() <= *error, format!("{value:e} within {error:e}"))
                    }
                    Value::Infinite(value) => {
                        // A mask that is read as minus infinity is a finite number in the machine.
                        let mask =
                            case.options.rules.mask_below.is_some_and(|below| *computed <= below as f64);
                        (computed == value || *value < 0.0 && mask, format!("{value}"))
                    }
                    Value::Unknown => continue,
                    other @ (Value::Truth(_) | Value::Undefined) => (false, format!("{other:?}")),
                };
                if !inside {
                    return Err(format!("{} of {side} is {computed:e}, its term {spelled}", at()));
                }
            }
            if let (Value::Real(a, ea), Value::Real(b, eb)) = (found[0].0, found[1].0)
                && (a - b).abs() > ea + eb
            {
                return Err(format!("the terms of {} are {a:e} and {b:e}, within {ea:e} and {eb:e}", at()));
            }
            tried.compared += 1;
        }
        if largest > 0.0 {
            let looseness = widest / largest;
            tried.looseness = Some(tried.looseness.map_or(looseness, |least| least.min(looseness)));
        }
        Ok(())
    }
}

fn greatest_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// Checks that the sides of an equivalent pair write the same elements, with the same integers; gives how many elements
/// of multisets are the same.
fn same_integers(case: &Case, outputs: [&[Output]; 2], inputs: &Inputs) -> Result<usize, String> {
    let mut of_sets = 0;
    for (reference, opt) in outputs[0].iter().zip(outputs[1]) {
        let name = &case.params[reference.param].name;
        let is_integer = values::format(reference.element).is_none();
        let [first, second] = [reference.written(), opt.written()];
        if case.params[reference.param].is_set() {
            if !are_alike(reference, opt) {
                return Err(format!("{name} has other elements on one side than on the other"));
            }
            of_sets += first.len();
            continue;
        }
        // An element that only one side writes must get its old contents; this is compared by value, if these are
        // known.
        if !inputs[reference.param].are_known() && first != second {
            return Err(format!("other elements of {name} are written by one side than by the other"));
        }
        for at in first.into_iter().chain(second) {
            let (a, b) = (reference.bits(at), opt.bits(at));
            if is_integer && a != b {
                return Err(format!(
                    "{name}[{at}] is {a:#x} in the reference and {b:#x} in the optimized kernel"
                ));
            }
        }
    }
    Ok(of_sets)
}

/// Elements of two multisets are taken to be the same within this multiple of the larger of their magnitude and one.
const ROUNDED: f64 = 1e-5;

/// Whether two outputs have the same multiset at the same places, up to rounding.
fn are_alike(reference: &Output, opt: &Output) -> bool {
    let sorted = |output: &Output| {
        let numbers = output.written().into_iter().map(|at| output.number(at).real(output.element));
        let mut numbers: Vec<f64> = numbers.collect();
        numbers.sort_by(f64::total_cmp);
        numbers
    };
    let (one, other) = (sorted(reference), sorted(opt));
    let is_near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= ROUNDED * a.abs().max(1.0);
    reference.written() == opt.written() && one.iter().zip(&other).all(is_near)
}

/// The written bits of all outputs, which must be the same under another schedule.
fn written(case: &Case, outputs: &[Output]) -> Vec<(usize, u64, u64)> {
    let of = |output: &Output| -> Vec<(usize, u64, u64)> {
        let (mut places, mut bits): (Vec<u64>, Vec<u64>) =
            output.written().into_iter().map(|at| (at, output.bits(at))).unzip();
        if case.params[output.param].is_set() {
            places.sort_unstable();
            bits.sort_unstable();
        }
        places.into_iter().zip(bits).map(|(at, bits)| (output.param, at, bits)).collect()
    };
    outputs.iter().flat_map(of).collect()
}

/// Runs both kernels of a case whose verdict is *equivalent* on random inputs.
///
/// # Errors
/// When something contradicts the verdict.
pub fn equivalent(case: &Case, seed: u64, effort: Effort, conditional: bool) -> Result<Tried, String> {
    let sides = ready(case)?;
    let conditions = match conditions(case) {
        Ok(conditions) => conditions,
        // Reals say nothing of it: the kernels do the same to the same bits (rule V5).
        Err(Verdict::Fault(Fault {
            kind: FaultKind::TypeMismatch | FaultKind::InputDependentControl,
            ..
        })) => return same_bits(case, seed, effort.inputs),
        Err(verdict) => return Err(format!("it is {}", verdict.name())),
    };
    let plan = Plan { conditional, ..Plan::new(case, &conditions, &sides)? };
    let mut random = Random::new(seed);
    let mut tried = Tried::default();
    for turn in 0..effort.inputs {
        if tried.instructions >= effort.instructions {
            break;
        }
        let inputs = inputs(case, [Signs::Mixed, Signs::Positive][turn % 2], &mut random)?;
        let mut run = |side: usize, seed: u64| {
            let name = ["the reference", "the optimized kernel"][side];
            let ran = sides[side].run(&inputs, seed).map_err(|error| format!("{name}: {error}"))?;
            tried.count(&ran);
            Ok::<_, String>(ran.outputs)
        };
        let outputs = [run(0, random.bits())?, run(1, random.bits())?];
        if turn == 0 && effort.schedules {
            let others = [run(0, random.bits())?, run(1, random.bits())?];
            for side in 0..2 {
                // Atomic sums in another order round differently, so the bits may differ, but not beyond the bounds.
                let exactly = !sides[side].adds_floats_atomically();
                if exactly && written(case, &others[side]) != written(case, &outputs[side]) {
                    return Err("another schedule gives other outputs".into());
                }
            }
            tried.compared += same_integers(case, [&others[0], &others[1]], &inputs)?;
            plan.compare(case, &inputs, [&others[0], &others[1]], &mut tried)?;
        }
        tried.compared += same_integers(case, [&outputs[0], &outputs[1]], &inputs)?;
        plan.compare(case, &inputs, [&outputs[0], &outputs[1]], &mut tried)?;
    }
    Ok(tried)
}

/// Numbers at which operations have special results: zeros of both signs, infinities, and numbers that are subnormal, or
/// whose products are, or that are too large.
const SPECIAL: [&str; 9] = [
    "0",
    "-0",
    "1",
    "-3/2",
    "inf",
    "-inf",
    "1/1267650600228229401496703205376",
    "-1/85070591730234615865843651857942052864",
    "170141183460469231731687303715884105728",
];

/// Whether the case gives some contents of a parameter.
fn has_known_contents(param: &Param) -> bool {
    match &param.kind {
        ParamKind::Tensor { contents, .. } => *contents != Contents::Symbolic,
        ParamKind::Scalar { value, .. } => matches!(value, ScalarValue::Number(_)),
    }
}

/// Whether two elements have the same bits; NaN counts as one value (rule B1).
fn same_element(of: [&Output; 2], at: u64) -> bool {
    let [a, b] = of.map(|output| output.number(at).real(output.element));
    of[0].bits(at) == of[1].bits(at) || a.is_nan() && b.is_nan()
}

/// Runs both kernels of a case whose verdict is *same-bits* on random inputs, in every other run with special values
/// among them.
///
/// # Errors
/// When an element has other bits in one kernel than in the other.
pub fn same_bits(case: &Case, seed: u64, inputs_tried: usize) -> Result<Tried, String> {
    let sides = ready(case)?;
    let mut random = Random::new(seed);
    let mut tried = Tried::default();
    for turn in 0..inputs_tried {
        let mut inputs = inputs(case, Signs::Mixed, &mut random)?;
        for (param, values) in case.params.iter().zip(&mut inputs) {
            let of_floats = values::format(values::elements(param)[0]).is_some();
            let is_any = param.assumed().is_none_or(|assumed| assumed == Assumed::default());
            if turn % 2 == 0 || !of_floats || !is_any || has_known_contents(param) {
                continue;
            }
            let mut special = (**values).clone();
            for element in 0..values::count(param).min(1 << 12) {
                if random.bits().is_multiple_of(4) {
                    special.choose(element, SPECIAL[random.bits() as usize % SPECIAL.len()])?;
                }
            }
            *values = Rc::new(special);
        }
        let mut run = |side: usize, seed: u64| {
            let name = ["the reference", "the optimized kernel"][side];
            let ran = sides[side].run(&inputs, seed).map_err(|error| format!("{name}: {error}"))?;
            tried.count(&ran);
            Ok::<_, String>(ran.outputs)
        };
        let outputs = [run(0, random.bits())?, run(1, random.bits())?];
        for (reference, opt) in outputs[0].iter().zip(&outputs[1]) {
            let written: std::collections::BTreeSet<u64> =
                reference.written().into_iter().chain(opt.written()).collect();
            for at in written {
                if !same_element([reference, opt], at) {
                    let name = &case.params[reference.param].name;
                    return Err(format!("{name}[{at}] is {:#x} and {:#x}", reference.bits(at), opt.bits(at)));
                }
                tried.compared += 1;
            }
        }
    }
    Ok(tried)
}

/// Runs both kernels at the inputs of a witness of different bits.
///
/// # Errors
/// When they have the same bits, or cannot be run.
pub fn different_bits(case: &Case, difference: &Difference, seed: u64) -> Result<(), String> {
    let sides = ready(case)?;
    let inputs = witness_inputs(case, difference)?;
    let runs = [sides[0].run(&inputs, seed)?, sides[1].run(&inputs, !seed)?];
    let of =
        |ran: &Ran| ran.outputs.iter().position(|output| case.params[output.param].name == difference.tensor);
    let (Some(reference), Some(opt)) = (of(&runs[0]), of(&runs[1])) else {
        return Err("there is no such output".into());
    };
    let outputs = [&runs[0].outputs[reference], &runs[1].outputs[opt]];
    match same_element(outputs, difference.element) {
        true => Err(format!("at the witness both are {:#x}", outputs[0].bits(difference.element))),
        false => Ok(()),
    }
}

/// How a difference shows in floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The outputs differ beyond rounding.
    Clearly,
    /// The outputs differ, but not beyond rounding.
    Faintly,
    /// The outputs do not differ.
    NotAtAll,
}

/// Runs both kernels at the inputs of a witness.
///
/// # Errors
/// When they cannot be run, or their outputs contradict their terms.
pub fn different(case: &Case, difference: &Difference, seed: u64) -> Result<(Shown, Tried), String> {
    let sides = ready(case)?;
    let param = case.params.iter().position(|param| param.name == difference.tensor);
    let param = param.ok_or("the difference is in no parameter")?;
    let inputs = witness_inputs(case, difference)?;
    let runs = [sides[0].run(&inputs, seed)?, sides[1].run(&inputs, !seed)?];
    let mut tried = Tried { compared: 1, ..Tried::default() };
    runs.iter().for_each(|ran| tried.count(ran));
    let find = |side: usize| runs[side].outputs.iter().find(|output| output.param == param);
    let (Some(reference), Some(opt)) = (find(0), find(1)) else {
        return Err("there is no such output".into());
    };
    if case.params[param].is_set() {
        let shown = if are_alike(reference, opt) { Shown::NotAtAll } else { Shown::Clearly };
        return Ok((shown, tried));
    }
    let at = difference.element;
    let clearly = |clear: bool| if clear { Shown::Clearly } else { Shown::NotAtAll };
    let shown = match &difference.how {
        How::Unwritten { by: Which::Reference } => clearly(!reference.is_written(at) && opt.is_written(at)),
        How::Unwritten { by: Which::Opt } => clearly(reference.is_written(at) && !opt.is_written(at)),
        How::NobodyWrites => clearly(!reference.is_written(at) && !opt.is_written(at)),
        How::Values(_) => {
            let of = |output: &Output| output.number(difference.element).real(output.element);
            let (a, b) = (of(reference), of(opt));
            let bound = bound_at(case, difference, &sides, &inputs, [a, b])?;
            let distance = (a - b).abs();
            if a == b {
                Shown::NotAtAll
            } else if distance.is_finite() && bound.is_some_and(|bound| distance <= bound) {
                Shown::Faintly
            } else {
                Shown::Clearly
            }
        }
    };
    Ok((shown, tried))
}

/// The largest difference of an element that rounding alone may cause, after checking each side against its term;
/// `None` if the term's value is no number.
fn bound_at(
    case: &Case,
    difference: &Difference,
    sides: &[Ready<'_>; 2],
    inputs: &Inputs,
    computed: [f64; 2],
) -> Result<Option<f64>, String> {
    let conditions = conditions(case).map_err(|verdict| format!("it is {}", verdict.name()))?;
    let index: String = difference.index.iter().map(|at| format!("[{at}]")).collect();
    let name = format!("{}{index}", difference.tensor);
    let at =
        (0..conditions.len()).find(|at| conditions.name(*at) == name).ok_or("the element is not compared")?;
    let Some(element) = conditions.element(at) else { return Ok(None) };
    let mut sum = Some(0.0);
    for (side, (store, term)) in [element.reference, element.opt].into_iter().enumerate() {
        let mut tape = Tape::new(store);
        let place = tape.add(term)?;
        let precision = Precision::of(&sides[side]);
        let input = real_inputs(case, side, inputs);
        let param = case.params.iter().find(|param| param.name == difference.tensor);
        let format = param.and_then(|param| values::format(values::elements(param)[side]));
        if format.is_none() {
            tape.is_integer(place);
        }
        match precision.stored(tape.evaluate(&precision, &input)[place], format) {
            Value::Real(value, error) if (computed[side] - value).abs() <= error => {
                sum = sum.map(|sum| sum + error);
            }
            Value::Real(value, error) => {
                let found = computed[side];
                return Err(format!(
                    "{name} of side {side} is {found:e}, its term {value:e} within {error:e}"
                ));
            }
            Value::Infinite(_) | Value::Truth(_) | Value::Undefined | Value::Unknown => sum = None,
        }
    }
    Ok(sum)
}
