//! How far outputs may be from their exact values (rule B3): what is proved of a claim about ranges with a largest error,
//! and the exact values at given inputs.

use std::collections::BTreeSet;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LOG2_E, LOG10_2, LOG10_E};
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::base::assumption::Assumption;
use crate::bits::range::set::FloatSet;
use crate::bits::range::{
    AccuracyBound, Analysis, ConeCache, Constants, Effort, Errors, InputRange, Known, KnownFunction, Passes,
    Survey, TooMany, Unbounded, structure_of,
};
use crate::case::{Case, Claim, Element, MaxError, Options, Param, Which};
use crate::decide::evaluate::Evaluator;
use crate::finite::{RanSide, outwards, side_name, undecided};
use crate::library;
use crate::machine::{Execution, OutputValue};
use crate::number::Rational;
use crate::number::format::{Format, decode, mantissa_bits};
use crate::number::interval::{Function, Narrow};
use crate::number::value::Value;
use crate::term::{InputId, Store, TermId};
use crate::verdict::{ElementError, InputError, InputProblem, OutputError, Place};
use crate::verify::{Verification, on_threads, shape};

/// Whether a largest error fits the rest of a case.
pub(crate) fn check(case: &Case) -> Result<(), InputError> {
    let (message, help) = match case.options.rules.max_error {
        Some(_) if case.options.rules.claim != Claim::Finite => (
            "a case has a `max_error`, which only `claim = \"finite\"` reads",
            "options = { claim = \"finite\" }, or no `max_error`",
        ),
        Some(MaxError::TimesReference(_)) if case.reference.is_none() => (
            "`max_error` is a multiple of the error of a reference, and there is none",
            "\"4 ulp\" or \"1e-5\"",
        ),
        Some(_) | None => return Ok(()),
    };
    Err(InputError { help: Some(help.into()), ..InputError::new(InputProblem::WrongValue, message) })
}

/// A function by its name, how it passes on the error of its operand, and the instruction that approximates it up to a
/// factor, if there is one.
type Passing = (&'static str, Passes, Option<(Function, f64)>);

/// The functions of one f32 whose documented errors are used, and how they pass on that of their operand.
const PASSING: [Passing; 8] = [
    ("logf", Passes::Logarithm(1.0), Some((Function::Log2, LN_2))),
    ("log2f", Passes::Logarithm(LOG2_E), Some((Function::Log2, 1.0))),
    ("log10f", Passes::Logarithm(LOG10_E), Some((Function::Log2, LOG10_2))),
    ("log1pf", Passes::FromZero(1.0), None),
    ("tanhf", Passes::Odd(1.0), None),
    ("erff", Passes::Odd(FRAC_2_SQRT_PI), None),
    ("erfcf", Passes::Slope(FRAC_2_SQRT_PI), None),
    ("atanf", Passes::Odd(1.0), None),
];

/// These functions by what their codes compute, operation by operation.
static FUNCTIONS: LazyLock<FxHashMap<Box<[u64]>, KnownFunction>> = LazyLock::new(|| {
    let mut known = FxHashMap::default();
    for function in library::FUNCTIONS.iter().filter(|function| function.format == Format::F32) {
        let Some((_, passes, real)) = PASSING.iter().find(|(name, ..)| *name == function.name) else {
            continue;
        };
        let or_below = function.error.or_below.map_or(0.0, |exponent| f64::powi(2.0, exponent));
        let claim = format!("`{}` as compiled: {}, {} (B3)", function.name, function.real, function.within());
        let own =
            KnownFunction { claim, ulps: function.error.ulps.into(), or_below, passes: *passes, real: *real };
        for ran in library::in_ieee_arithmetic(function) {
            let [output] = ran.outputs.as_slice() else { continue };
            let base = TermId::input(InputId::from_index(0), 0);
            let code =
                output.value.term().and_then(|root| structure_of(&ran.stores[output.store], root, base));
            if let Some(code) = code {
                known.insert(Box::from(&*code), own.clone());
            }
        }
    }
    known
});

/// The function of which this is the code.
pub(crate) fn known_function(code: &[u64]) -> Option<&'static KnownFunction> {
    FUNCTIONS.get(code)
}

/// What is known of the errors of the elements of a side.
type Bounds = Vec<Result<AccuracyBound, Unbounded>>;

/// An element whose error is not known to be small enough.
struct TooFar {
    side: usize,
    root: usize,
    why: String,
    place: Option<Place>,
}

impl Verification<'_> {
    /// Bounds the errors of all outputs, and compares them with the largest that is accepted.
    pub(crate) fn bound_errors(
        &mut self,
        sides: &[RanSide<'_>],
        inputs: &[InputRange],
        effort: &mut Effort,
        most: MaxError,
    ) {
        let steps = self.case.reference.iter().chain([&self.case.opt]).map(|side| side.steps.len());
        if steps.max() > Some(1) {
            // What one launch rounds as a known value, the next one reads as exact.
            let reason = "errors are bounded for sides of one launch only (B3)";
            self.report.verdict = undecided(reason.to_owned(), None);
            return;
        }
        let (mut all, mut relied): (Vec<Bounds>, BTreeSet<String>) = (Vec::new(), BTreeSet::new());
        for side in sides {
            match self.errors_of(side, inputs, effort) {
                Ok((bounds, of_library)) => {
                    all.push(bounds);
                    relied.extend(of_library);
                }
                Err(TooMany) => {
                    let reason = "there are too many operations to bound their errors (`max_algebra_steps`)";
                    self.report.verdict = undecided(reason.to_owned(), None);
                    return;
                }
            }
        }
        let known: BTreeSet<String> =
            self.report.assumptions.iter().map(|one| one.text.to_string()).collect();
        let relied = relied.into_iter().filter(|claim| !known.contains(claim));
        self.report.assumptions.extend(relied.map(Assumption::relied));
        for (side, bounds) in sides.iter().zip(&all) {
            self.tell_errors(side, bounds);
        }
        if let Some(far) = self.too_far(sides, &all, most) {
            let side = &sides[far.side];
            let line = far.place.as_ref().map_or_else(String::new, |place| match &place.cuda {
                Some(cuda) => format!(" ({} line {})", cuda.file, cuda.line),
                None => format!(" (line {} of the PTX)", place.line),
            });
            let name = &side.names[far.root];
            let reason = format!(
                "`max_error` is {most}, and the error of {name} of the {} {}{line}",
                side_name(side.which),
                far.why
            );
            self.report.verdict = undecided(reason, None);
        }
    }

    /// The first element whose bound is more than what is accepted.
    fn too_far(&self, sides: &[RanSide<'_>], all: &[Bounds], most: MaxError) -> Option<TooFar> {
        if most == MaxError::ANY {
            return None;
        }
        let reference: FxHashMap<(usize, u64), Option<f64>> = sides
            .iter()
            .zip(all)
            .filter(|(side, _)| side.which == Which::Reference)
            .flat_map(|(side, bounds)| side.elements.iter().copied().zip(bounds))
            .map(|(element, bound)| (element, bound.as_ref().ok().map(|bound| bound.absolute)))
            .collect();
        let mut worst: Option<(f64, TooFar)> = None;
        for (number, (side, bounds)) in sides.iter().zip(all).enumerate() {
            // A multiple of the reference's error says nothing of itself.
            if matches!(most, MaxError::TimesReference(_)) && side.which == Which::Reference {
                continue;
            }
            for (root, bound) in bounds.iter().enumerate() {
                let far = |why: String, place: Option<Place>| TooFar { side: number, root, why, place };
                let bound = match bound {
                    Ok(bound) => bound,
                    Err(open) => {
                        let place = open.site.and_then(|site| self.place_of(side.which, site));
                        return Some(far(format!("has no bound: {}", open.why), place));
                    }
                };
                let (own, limit, told) = match most {
                    MaxError::Ulps(most) => {
                        (bound.ulps, most.get(), format!("{} ulp", outwards(bound.ulps, true)))
                    }
                    MaxError::Absolute(most) => (bound.absolute, most.get(), outwards(bound.absolute, true)),
                    MaxError::TimesReference(times) => {
                        let Some(of) = reference.get(&side.elements[root]).copied().flatten() else {
                            return Some(far("has a bound, and that of the reference has none".into(), None));
                        };
                        let told = format!(
                            "{}, that of the reference {}",
                            outwards(bound.absolute, true),
                            outwards(of, true)
                        );
                        (bound.absolute, times.get() * of, told)
                    }
                };
                if own > limit && worst.as_ref().is_none_or(|(known, _)| own > *known) {
                    let (store, term) = side.roots[root];
                    let site = store.site(term).filter(|site| site.0 != u32::MAX);
                    let place = site.and_then(|site| self.place_of(side.which, site));
                    worst = Some((own, far(format!("is proved to be at most {told}"), place)));
                }
            }
        }
        worst.map(|(_, far)| far)
    }

    /// Notes the bounds by output.
    fn tell_errors(&mut self, side: &RanSide<'_>, bounds: &Bounds) {
        let mut outputs: Vec<(usize, OutputError)> = Vec::new();
        for (root, bound) in bounds.iter().enumerate() {
            let (param, element) = side.elements[root];
            let of = &self.case.params[param];
            let at = outputs.iter().position(|(known, _)| *known == param).unwrap_or_else(|| {
                outputs.push((
                    param,
                    OutputError {
                        side: side.which,
                        tensor: of.name.clone(),
                        shape: shape(of).to_vec(),
                        elements: Vec::new(),
                        open: None,
                    },
                ));
                outputs.len() - 1
            });
            let output = &mut outputs[at].1;
            match bound {
                Ok(bound) => {
                    output.elements.push(ElementError { element, absolute: bound.absolute, ulps: bound.ulps })
                }
                Err(open) if output.open.is_none() => {
                    let place = open.site.and_then(|site| self.place_of(side.which, site));
                    output.open = Some((side.names[root].clone(), open.why.to_owned(), place));
                }
                Err(_) => {}
            }
        }
        self.report.errors.extend(outputs.into_iter().map(|(_, mut output)| {
            output.elements.sort_unstable_by_key(|of| of.element);
            output
        }));
    }

    /// Bounds the errors of all roots of a side; and the documented errors on which bounds rest.
    fn errors_of(
        &self,
        side: &RanSide<'_>,
        inputs: &[InputRange],
        effort: &mut Effort,
    ) -> Result<(Bounds, BTreeSet<String>), TooMany> {
        let input = |which: InputId, _: u64| {
            inputs.get(which.index()).map_or(Known::Float(FloatSet::all(Format::F64)), |of| of.known())
        };
        let rounding = |value: f64| {
            let decides = side.stores.iter().any(Store::rounding_decides);
            let known = side.stores.iter().map(|store| store.known_rounding(value)).fold(0.0, f64::max);
            if decides { f64::INFINITY } else { known }
        };
        let constants = Constants { is_mark: &library::is_mark, rounding: &rounding };
        let (mut bounds, mut of_library): (Bounds, BTreeSet<String>) = (Vec::new(), BTreeSet::new());
        let mut cones = ConeCache::knowing(known_function);
        let mut stores: FxHashMap<*const Store, Vec<usize>> = FxHashMap::default();
        let mut order: Vec<*const Store> = Vec::new();
        for (number, (store, _)) in side.roots.iter().enumerate() {
            let key = std::ptr::from_ref(*store);
            stores.entry(key).or_insert_with(|| {
                order.push(key);
                Vec::new()
            });
            stores.entry(key).or_default().push(number);
        }
        bounds.resize(side.roots.len(), Ok(AccuracyBound { absolute: 0.0, ulps: 0.0 }));
        for key in order {
            let Some(numbers) = stores.get(&key) else { continue };
            let Some((store, _)) = numbers.first().map(|number| side.roots[*number]) else { continue };
            let mut analysis = Analysis::new(store, &input, &mut cones, effort).keeping();
            let mut survey = Survey::default();
            for number in numbers {
                analysis.root(*number, side.roots[*number].1, &mut survey)?;
            }
            let mut errors = Errors::default();
            for number in numbers {
                let root: TermId = side.roots[*number].1;
                let format = format_of(&self.case.params[side.elements[*number].0], side.which);
                bounds[*number] = analysis.accuracy(root, format, &constants, &mut errors)?;
            }
            of_library.extend(errors.of_library.into_inner());
        }
        Ok((bounds, of_library))
    }
}

/// The format in which a side has the elements of a parameter; f64 for integers, whose errors are zero.
fn format_of(param: &Param, which: Which) -> Format {
    let [reference, opt] = param.elements();
    match if which == Which::Reference { reference } else { opt } {
        Element::Float(format) => format,
        Element::Int { .. } | Element::Bool => Format::F64,
    }
}

/// The exact value of an output element: that of the kernel's operations over the reals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactElement {
    /// The kernel.
    pub side: Which,
    /// The output, by its number among the parameters.
    pub param: usize,
    /// The element, in row-major order.
    pub element: u64,
    /// The format in which the kernel has it.
    pub format: Format,
    /// Numbers between which it lies.
    pub between: [f64; 2],
}

/// Kernels that were executed over the reals, whose outputs can be evaluated at given inputs.
#[derive(Debug)]
pub struct ExactOutputs {
    case: Case,
    sides: Vec<(Which, Execution)>,
}

impl ExactOutputs {
    /// Executes the kernels of a case; `None` if one of them has a fault, or is not understood.
    pub fn new(case: &Case) -> Option<ExactOutputs> {
        let case = Case { options: Options { ieee: false, ..case.options.clone() }, ..case.clone() };
        let outcomes = on_threads(case.options.threads, || Verification::new(&case).execute())?;
        let which = if outcomes.len() == 2 { vec![Which::Reference, Which::Opt] } else { vec![Which::Opt] };
        let sides = which.into_iter().zip(outcomes).collect();
        Some(ExactOutputs { case, sides })
    }

    /// Forgets the elements of outputs that are not wanted: by their side, their parameter and their number.
    pub fn keep(&mut self, wanted: &dyn Fn(Which, usize, u64) -> bool) {
        for (side, ran) in &mut self.sides {
            ran.outputs.retain(|output| wanted(*side, output.param, output.element));
        }
    }

    /// The exact values of all output elements, as far as they are known. `read`: the number at an element of a
    /// parameter.
    pub fn at(&self, read: &dyn Fn(usize, u64) -> f64) -> Vec<ExactElement> {
        let mut all = Vec::new();
        let point = |input: InputId, element: u64| number(read(input.index(), element));
        for (side, ran) in &self.sides {
            for (at, store) in ran.stores.iter().enumerate() {
                let mut evaluator: Evaluator<'_, Narrow, _> = Evaluator::new(store, &point, 64, MOST_TERMS);
                for output in ran.outputs.iter().filter(|output| output.store == at) {
                    let OutputValue::Real(term) = output.value else { continue };
                    let param = &self.case.params[output.param];
                    if let Value::Finite(value) = evaluator.evaluate(term) {
                        all.push(ExactElement {
                            side: *side,
                            param: output.param,
                            element: output.element,
                            format: format_of(param, *side),
                            between: value.ends(),
                        });
                    }
                }
            }
        }
        all
    }
}

/// At most so many terms are evaluated for an element.
const MOST_TERMS: usize = 1 << 22;

/// A finite float as a number; zero for others.
fn number(value: f64) -> Rational {
    decode(Format::F64, value.to_bits())
        .extended()
        .and_then(|number| number.finite().cloned())
        .unwrap_or(Rational::ZERO)
}

impl ExactElement {
    /// The unit in the last place of the exact value.
    pub fn unit(&self) -> f64 {
        let [low, high] = self.between;
        unit_in_the_last_place(self.format, low.abs().max(high.abs()))
    }

    /// How far a computed value is from it, at least.
    pub fn distance(&self, computed: f64) -> f64 {
        let [low, high] = self.between;
        (low - computed).max(computed - high).max(0.0)
    }
}

/// The spacing of a format at a number.
fn unit_in_the_last_place(format: Format, value: f64) -> f64 {
    let bits = mantissa_bits(format) as i32;
    let least = crate::term::least_normal(format);
    let exponent = value.max(least).log2().floor() as i32;
    f64::powi(2.0, exponent - bits)
}
