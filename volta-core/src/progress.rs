//! Where there is no claim: the reason, how much was proved, and what to try.

use crate::base::budget::{Exhausted, Limit};
use crate::base::index::InstId;
use crate::case::{Case, Contents, Element, Param, ParamKind, Role, Which};
use crate::conditions::Conditions;
use crate::decide::{self, DecisionOptions, InputInfo};
use crate::infeasible::input_that_fulfils;
use crate::machine::{Possible, RunError};
use crate::steps::Programs;
use crate::term::{InputId, Store, TermId, TermKind, View, depends_on, expression, spell_element};
use crate::verdict::{
    Fault, FaultKind, InputError, InputProblem, MOST_FINDINGS, Progress, Unknown, UnknownReason, ValuePair,
    Verdict,
};

/// Number of equal pairs of values that are reported for a failed proof.
const TOLD_PAIRS: usize = 3;
/// Limits on the length, in characters, and the depth of reported terms; instructions are searched to this depth.
const TOLD_LENGTH: usize = 60;
const TOLD_DEPTH: usize = 6;

/// The verdict where neither a proof nor a witness was found for an element.
pub(crate) fn undecided(
    case: &Case,
    conditions: &Conditions,
    element: &decide::ElementPair<'_>,
    name: String,
    reason: &str,
) -> Verdict {
    let reason = format!("{name}: {reason}");
    let progress = progress(case, conditions, element, name);
    Verdict::Unknown(Unknown {
        kind: UnknownReason::Undecided,
        reason,
        help: Some(undecided_help(progress.as_ref()).into()),
        progress: progress.map(Box::new),
    })
}

/// The verdict where a limit was reached, after so many of all elements were decided.
pub(crate) fn ended(exhausted: Exhausted, reason: String, decided: Option<(usize, usize, &Case)>) -> Verdict {
    let kind = exhausted.limit.map_or(UnknownReason::Timeout, UnknownReason::of_limit);
    let help = (exhausted.limit == Some(Limit::AlgebraSteps)).then(|| match decided {
        Some((decided, all, case)) if exhausted.allowed > case.options.budgets[Limit::AlgebraSteps] => {
            let each = case.options.budgets[Limit::AlgebraSteps];
            format!(
                "{decided} of {all} elements were decided: if the others take as many steps each, \
                 `max_algebra_steps = {}` is enough, the steps of one element, {} times as many for all",
                rounded_up(each.saturating_mul(all as u64) / decided.max(1) as u64),
                exhausted.allowed / each.max(1)
            )
        }
        Some((_, _, case)) if chosen_by(case).is_some() => chosen_by(case).unwrap_or_default(),
        // One element alone takes more than its steps, and that it ends is not known.
        Some(_) | None => "try a smaller size first: the number of steps often grows faster than the size, and a higher limit may \
              not be enough. If the kernels are very different, verify a third kernel between the two, with one case \
              for each half"
            .to_owned(),
    });
    Verdict::Unknown(Unknown { kind, reason, progress: None, help })
}

/// What makes many cases: how many unknown integers there are.
fn chosen_by(case: &Case) -> Option<String> {
    let count = |param: &Param| match &param.kind {
        ParamKind::Tensor {
            reference: Element::Int { .. },
            role: Role::In,
            contents: Contents::Symbolic,
            shape,
            ..
        } => Some((format!("`{}`", param.name), shape.iter().product::<u64>())),
        ParamKind::Tensor { .. } | ParamKind::Scalar { .. } => None,
    };
    let tensors: Vec<(String, u64)> = case.params.iter().filter_map(count).collect();
    let (names, all): (Vec<&str>, u64) =
        (tensors.iter().map(|(name, _)| name.as_str()).collect(), tensors.iter().map(|(_, own)| own).sum());
    (all > 1).then(|| {
        format!(
            "{all} unknown integers, those of {}, may choose what is computed: the number of cases grows with each of \
             them, and with how many values it may have. Fewer of them, a narrower `range`, or `contents` for some \
             take fewer steps",
            names.join(" and ")
        )
    })
}

/// A number of two significant digits that is greater.
fn rounded_up(number: u64) -> u64 {
    let unit = 10_u64.pow(number.max(10).ilog10() - 1);
    (number / unit + 1).saturating_mul(unit)
}

/// How much of an element was proved.
fn progress(
    case: &Case,
    conditions: &Conditions,
    element: &decide::ElementPair<'_>,
    name: String,
) -> Option<Progress> {
    let reached = decide::reached(element, &conditions.inputs, &conditions.options)?;
    let sides = [case.reference.as_ref().map(|side| (Which::Reference, side)), Some((Which::Opt, &case.opt))];
    let programs = sides.map(|side| side.map(|(which, side)| (Programs::readable(which, side), side)));
    let told = |terms: &[TermId; 2]| {
        let stores = [element.reference.0, element.opt.0];
        let input = |input: InputId, at: u64| match conditions.inputs.get(input.index()) {
            Some(info) => spell_element(&info.name, &info.shape, at),
            None => String::new(),
        };
        let words = |side: usize| {
            let at = |depth| expression(stores[side], terms[side], depth, &input, &|_| None);
            let fits = |text: &String| text.chars().count() <= TOLD_LENGTH;
            (1..=TOLD_DEPTH).rev().map(at).find(fits).unwrap_or_else(|| at(1))
        };
        let place = |side: usize| {
            let (programs, of) = programs[side].as_ref()?;
            programs.place(of, nearest_site(stores[side], terms[side])?).map(Box::new)
        };
        ValuePair { terms: [words(0), words(1)], places: [place(0), place(1)] }
    };
    Some(Progress {
        element: name,
        equal: reached.equal.len() as u64,
        last: reached.equal.iter().rev().take(TOLD_PAIRS).rev().map(told).collect(),
        is_output: reached.open == [element.reference.1, element.opt.1],
        open: told(&reached.open),
    })
}

/// What to try where neither a proof nor a witness was found.
fn undecided_help(progress: Option<&Progress>) -> &'static str {
    match progress {
        Some(progress) if !progress.is_output => {
            "write the open pair in the same way in both kernels, or verify a third kernel between the two, with one \
             case for each half; `cargo volta show` prints both formulas"
        }
        Some(_) | None => {
            "the intermediate values of both kernels agree: verify a third kernel between the two, with one case for \
             each half, or a smaller size; `cargo volta show` prints both formulas"
        }
    }
}

/// The instruction that computes a term, or else the nearest known one below it.
fn nearest_site(store: &Store, term: TermId) -> Option<InstId> {
    let mut layer = vec![term];
    for _ in 0..TOLD_DEPTH {
        if let Some(site) = layer.iter().find_map(|term| store.site(*term)) {
            return Some(site);
        }
        let below = layer.iter().flat_map(|term| match store.view(*term) {
            View::Apply(op, operands) => operands[..op.arity()].to_vec(),
            View::Input { .. } | View::Constant(_) => Vec::new(),
        });
        layer = below.collect();
    }
    None
}

/// The verdict on a fault that happens where a condition holds: the fault, if some input fulfils the condition, and else
/// the first of those in its place that some input shows. Unless it is wanted, that is not looked for.
pub(crate) fn decided(
    mut possible: Possible,
    inputs: &[InputInfo],
    options: &DecisionOptions,
    is_wanted: bool,
) -> Verdict {
    if !is_wanted {
        return perhaps(&possible.fault, &possible.told);
    }
    let mut instead = possible.instead.take();
    let first = decided_alone(possible, inputs, options);
    let mut verdict = first.clone();
    while let (Verdict::Unknown(_), Some(mut other)) = (&verdict, instead) {
        instead = other.instead.take();
        verdict = decided_alone(*other, inputs, options);
    }
    if let Verdict::Unknown(_) = verdict { first } else { verdict }
}

fn decided_alone(possible: Possible, inputs: &[InputInfo], options: &DecisionOptions) -> Verdict {
    let Possible { mut fault, when, mut store, told, instead: _ } = possible;
    let Some(when) = when else { return perhaps(&fault, &told) };
    let found = input_that_fulfils(when, &mut store, inputs, options);
    let Some(witness) = found else {
        let declarations =
            if fault.kind == FaultKind::Race { declarations(&store, when, inputs) } else { None };
        fault.help = match (declarations, fault.help.take()) {
            (Some(declarations), Some(help)) => Some(format!("{declarations}; else, {help}")),
            (declarations, help) => declarations.or(help),
        };
        return perhaps(&fault, &told);
    };
    let inputs: Vec<String> =
        witness.inputs.iter().map(|input| format!("{} = {}", input.name, input.value)).collect();
    let inputs = inputs.join(", ");
    let such = match (inputs.as_str(), witness.zeros) {
        ("", 0) => ", for all inputs".to_owned(),
        ("", 1) => ", where the one input that matters is 0".to_owned(),
        ("", zeros) => format!(", where the {zeros} inputs that matter are all 0"),
        (inputs, 0) => format!(", for inputs such as {inputs}"),
        (inputs, zeros) => format!(", for inputs such as {inputs}, and 0 for {zeros} more"),
    };
    fault.message.push_str(&such);
    Verdict::Fault(fault)
}

/// Which declarations may exclude inputs that fulfil a condition.
fn declarations(store: &Store, when: TermId, inputs: &[InputInfo]) -> Option<String> {
    let is_of = |at: usize| {
        let is_input =
            |term: TermId| matches!(term.kind(), TermKind::Input { input, .. } if input.index() == at);
        depends_on(store, &[when], is_input)
    };
    let integers = inputs.iter().enumerate().filter(|(_, info)| info.integers.is_some());
    let names: Vec<String> =
        integers.filter(|(at, _)| is_of(*at)).map(|(_, info)| format!("`{}`", info.name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "if no inputs are meant to be so, say what is known of {} in the case: `range = [least, greatest]`, \
             `elements = \"distinct\"` or `contents`",
            names.join(" and of ")
        )
    })
}

/// The verdict on a fault of which it is not known whether any input shows it.
pub(crate) fn perhaps(fault: &Fault, told: &str) -> Verdict {
    Verdict::Unknown(Unknown {
        kind: UnknownReason::Undecided,
        reason: match told {
            "" => format!("{}; whether there are such inputs is not decided", fault.message),
            _ => format!("{}, if {told}; whether that can be is not decided", fault.message),
        },
        progress: None,
        help: fault.help.clone(),
    })
}

/// The findings to report of the sides that have any, in order, limited in total; each side gets at least half of the
/// limit, if it has that many.
pub(crate) fn findings(mut faults: Vec<Vec<Fault>>) -> Vec<Fault> {
    if let [one, other] = faults.as_mut_slice() {
        one.truncate((MOST_FINDINGS / 2).max(MOST_FINDINGS.saturating_sub(other.len())));
        other.truncate(MOST_FINDINGS - one.len());
    }
    faults.concat()
}

/// The verdict of a side that gives no result.
pub(crate) fn run_verdict(which: Which, error: RunError) -> Verdict {
    match error {
        RunError::Bind(error) => Verdict::InputError(InputError {
            kind: InputProblem::DoesNotFit,
            side: Some(which),
            step: error.step,
            message: error.message,
            place: error.place,
            part: error.part,
            help: error.help,
        }),
        RunError::Fault(fault, _) => Verdict::Fault(*fault),
        RunError::Possible(possible) => perhaps(&possible.fault, &possible.told),
        RunError::Defect(reason) => Verdict::Unknown(Unknown::internal(reason)),
        RunError::Exhausted(exhausted) => ended(exhausted, exhausted.to_string(), None),
        RunError::Endless(endless) => Verdict::Unknown(Unknown {
            kind: UnknownReason::EndlessWait,
            reason: endless.to_string(),
            progress: None,
            help: Some("raising a limit does not help: nothing in the loop changes what it waits for".into()),
        }),
    }
}
