//! Verdicts compared with the behaviour of the kernels in the interpreter.

use std::rc::Rc;

use volta_core::case::{Assumed, Case, Claim, Element, ParamKind, ScalarValue, Sign};
use volta_core::number::format::decode;
use volta_core::verdict::FaultKind;
use volta_core::verdict::{How, Report, Verdict, Witness};

use crate::interpreter::random::Random;
use crate::interpreter::tensor_memory::UNKNOWN_FACTORS;
use crate::replay::check::{self, Effort, Shown};
use crate::replay::launch::{Inputs, Output, Ready, alone, ready};
use crate::replay::values::{Signs, Values, elements, range};

/// The number of schedules under which a clean kernel runs.
const SCHEDULES: u64 = 6;

/// The number of schedules that are tried until a fault shows.
const TRIES: u64 = 40;

/// Instructions of a run that may show a fault: a loop that waits for a flag may never end.
const TRIED: u64 = 4_000_000;

/// The result of comparing a verdict with the interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The verdict is confirmed.
    Holds,
    /// The verdict is not contradicted; the interpreter cannot show such faults, or did not under these schedules.
    NotShown,
    /// Nothing was run: no claim is made, or the kernel cannot be decoded.
    Nothing,
}

fn inputs(case: &Case, random: &mut Random) -> Result<Inputs, String> {
    let signs = [Signs::Mixed, Signs::Positive][random.below(2)];
    case.params.iter().map(|param| Ok(Rc::new(Values::new(param, Some((random.bits(), signs)))?))).collect()
}

/// The result of a run: the written elements with their bits, or the failure.
type Left = Result<Vec<(usize, u64, u64)>, String>;

fn left(side: &Ready<'_>, inputs: &Inputs, seed: u64) -> Left {
    let ran = side.run(inputs, seed)?;
    let of = |output: &Output| -> Vec<(usize, u64, u64)> {
        output.written().into_iter().map(|at| (output.param, at, output.bits(at))).collect()
    };
    Ok(ran.outputs.iter().flat_map(of).collect())
}

/// Checks a kernel that is said to be clean: it runs to its end, with the same outputs, under every schedule tried.
fn clean(case: &Case, side: &Ready<'_>, seed: u64) -> Result<(), String> {
    let random = &mut Random::new(seed);
    for _ in 0..2 {
        let inputs = inputs(case, random)?;
        let first = left(side, &inputs, random.bits())?;
        for _ in 1..SCHEDULES / 2 {
            let other = left(side, &inputs, random.bits())?;
            if !side.adds_floats_atomically() && other != first {
                return Err("another schedule leaves other outputs".into());
            }
        }
    }
    Ok(())
}

/// Checks a kernel whose floats are said to stay finite: so do its outputs.
fn finite(case: &Case, side: &Ready<'_>, seed: u64) -> Result<(), String> {
    let random = &mut Random::new(seed);
    for _ in 0..16 {
        let ran = side.run(&inputs(case, random)?, random.bits())?;
        for output in &ran.outputs {
            let Element::Float(format) = output.element else { continue };
            let is_finite = |at: &u64| {
                decode(format, output.bits(*at)).extended().is_some_and(|own| own.finite().is_some())
            };
            if let Some(at) = output.written().iter().find(|at| !is_finite(at)) {
                return Err(format!("{}[{at}] is no finite number", case.params[output.param].name));
            }
        }
    }
    Ok(())
}

/// How a fault shows, if it does: the interpreter reports it, or outputs depend on the schedule or on the contents of
/// memory that was never written.
fn shows(case: &Case, side: &Ready<'_>, seed: u64) -> Result<Option<String>, String> {
    let random = &mut Random::new(seed);
    let inputs = inputs(case, random)?;
    let first = left(side, &inputs, random.bits());
    if let Err(why) = first {
        return Ok(Some(why));
    }
    for _ in 1..TRIES {
        let other = left(side, &inputs, random.bits());
        if let Err(why) = other {
            return Ok(Some(why));
        }
        if other != first {
            return Ok(Some("outputs depend on the schedule".into()));
        }
    }
    Ok(None)
}

/// Checks that the values of a witness conform to the case: to the types of both sides, and to the assumed sign.
fn declared(case: &Case, inputs: &[(String, String)]) -> Result<(), String> {
    for (name, text) in inputs {
        let tensor = name.split('[').next().unwrap_or(name);
        let param = case.params.iter().find(|param| param.name == tensor);
        let param = param.ok_or_else(|| format!("the witness names `{name}`, which is no input"))?;
        let exact: rug::Rational = text.parse().map_err(|_| format!("{name} = {text} is no number"))?;
        let Assumed { sign, range: assumed, floats: _, elements: _ } = match &param.kind {
            ParamKind::Tensor { assumed, .. } => *assumed,
            ParamKind::Scalar { value: ScalarValue::Symbolic(assumed), .. } => *assumed,
            ParamKind::Scalar { value: ScalarValue::Number(_), .. } => {
                return Err(format!("the witness chooses `{name}`, which the case gives"));
            }
        };
        let order = exact.cmp0();
        let admitted = match sign {
            Sign::Any => true,
            Sign::Positive => order.is_gt(),
            Sign::NonNegative => order.is_ge(),
            Sign::Negative => order.is_lt(),
            Sign::NonPositive => order.is_le(),
            Sign::Nonzero => order.is_ne(),
        };
        if !admitted {
            return Err(format!("{name} = {text} is not of the sign that the case assumes"));
        }
        if let Some([least, greatest]) = assumed
            && (exact < least || exact > greatest)
        {
            return Err(format!("{name} = {text} is not in the range that the case assumes"));
        }
        for element in elements(param) {
            if let Some((least, greatest)) = range(element)
                && (!exact.is_integer() || exact < least || exact > greatest)
            {
                return Err(format!("{name} = {text} is no {}", element.name()));
            }
        }
    }
    Ok(())
}

/// Compares the verdict of a report with the interpreter.
///
/// # Errors
/// Where they contradict each other.
pub fn holds(case: &Case, report: &Report, seed: u64) -> Result<Seen, String> {
    let sides = match &case.reference {
        Some(_) => ready(case).map(Vec::from),
        None => alone(case).map(|side| vec![side]),
    };
    // Some schedules have late waits, which such a case excludes by assumption.
    if case.options.rules.prompt_waits {
        return Ok(Seen::Nothing);
    }
    // An instruction that the interpreter does not support is no contradiction.
    let Ok(mut sides) = sides else { return Ok(Seen::Nothing) };
    if sides.iter().any(|side| !side.unknown().is_empty()) {
        return Ok(Seen::Nothing);
    }
    match &report.verdict {
        Verdict::Same(Claim::Finite) => {
            sides.iter().try_for_each(|side| finite(case, side, seed)).map(|()| Seen::Holds)
        }
        Verdict::Equivalent | Verdict::EquivalentWhere(_) | Verdict::Same(_) => {
            let conditional = matches!(report.verdict, Verdict::EquivalentWhere(_));
            let effort = Effort { inputs: 4, schedules: true, instructions: u64::MAX };
            let tried = check::equivalent(case, seed, effort, conditional)?;
            Ok(if tried.compared > 0 { Seen::Holds } else { Seen::NotShown })
        }
        Verdict::Different(difference) => {
            if let How::Values(Witness { inputs, .. }) = &difference.how {
                declared(case, inputs)?;
            }
            match check::different(case, difference, seed)? {
                (Shown::Clearly, _) => Ok(Seen::Holds),
                (Shown::Faintly | Shown::NotAtAll, _) => Ok(Seen::NotShown),
            }
        }
        Verdict::Clean => match sides.iter().try_for_each(|side| clean(case, side, seed)) {
            Ok(()) => Ok(Seen::Holds),
            Err(why) if why.ends_with(UNKNOWN_FACTORS) => Ok(Seen::Nothing),
            Err(why) => Err(why),
        },
        Verdict::Fault(fault) => match fault.kind {
            FaultKind::OutOfBounds
            | FaultKind::Misaligned
            | FaultKind::Deadlock
            | FaultKind::Race
            | FaultKind::Uninitialised
            | FaultKind::BarrierDivergence
            | FaultKind::AmbiguousBarrier
            | FaultKind::Nondeterministic => {
                for side in &mut sides {
                    side.budget = TRIED;
                    if shows(case, side, seed)?.is_some() {
                        return Ok(Seen::Holds);
                    }
                }
                Ok(Seen::NotShown)
            }
            FaultKind::Undefined
            | FaultKind::TypeMismatch
            | FaultKind::DependsOnRounding
            | FaultKind::InputDependentControl
            | FaultKind::Unsupported
            | FaultKind::Assertion
            | FaultKind::BarrierMisuse
            | FaultKind::ProxyRace
            | FaultKind::InFlight
            | FaultKind::Allocation
            | FaultKind::ReadOnly
            | FaultKind::Overflow => Ok(Seen::Nothing),
        },
        Verdict::Unknown(_) | Verdict::InputError(_) => Ok(Seen::Nothing),
    }
}
