//! Claims about bits (rule B1): runs both kernels on values of IEEE arithmetic, and compares their exact normal forms.

use crate::base::assumption::Assumption;
use crate::base::budget::Limit;
use crate::base::index::InstId;
use crate::bits::{self, BitsOutcome, BitsPair, BitsWitness, FormLimits, InputFormats};
use crate::case::{Case, Claim, Element, Options, Side};
use crate::conditions::Conditions;
use crate::decide;
use crate::machine::OutputValue;
use crate::number::Extended;
use crate::number::format::{Format, decode};
use crate::steps::Programs;
use crate::term::spell_element;
use crate::verdict::{
    Difference, Explanation, FaultKind, How, InputError, InputProblem, Report, Unknown, UnknownReason,
    Verdict, Witness,
};
use crate::verify::{Verification, difference, shape};

/// Bytes that a form takes, roughly, with its term's entry.
const BYTES_OF_FORM: u64 = 512;

/// The case with floats as values of IEEE arithmetic, or as reals.
fn with(ieee: bool, case: &Case) -> Case {
    Case { options: Options { ieee, ..case.options.clone() }, ..case.clone() }
}

/// Verifies a claim about reals. Where what a kernel computes has no meaning over the reals, or what decides a branch,
/// its bits may still be those of the other kernel (rule B1), or show another fault.
pub(crate) fn of_reals(case: &Case) -> Report {
    let report = Verification::new(case).run();
    let has_no_meaning = matches!(&report.verdict, Verdict::Fault(fault)
        if matches!(fault.kind, FaultKind::TypeMismatch | FaultKind::InputDependentControl));
    if !has_no_meaning || case.reference.is_none() {
        return report;
    }
    // What a claim about bits may not be made of has none here.
    let mut exact = with(true, case);
    exact.options.rules.claim = Claim::Bits;
    let mut same = Verification::new(&exact).run();
    let shows_more = matches!(&same.verdict, Verdict::Fault(fault)
        if !is_of_values(fault.kind) && fault.kind != FaultKind::Unsupported);
    if shows_more {
        return same;
    }
    if same.verdict != Verdict::Same(Claim::Bits) {
        return report;
    }
    same.verdict = Verdict::Equivalent;
    same.holds.push(Claim::Bits.name().into());
    same
}

/// Whether a fault is that a value has no meaning over the reals, which says nothing about bits.
fn is_of_values(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::Undefined | FaultKind::TypeMismatch | FaultKind::InputDependentControl)
}

/// Verifies a claim about bits (rule B1).
pub(crate) fn of_bits(case: &Case, claim: Claim) -> Report {
    if case.reference.is_none() {
        return Report::of(Verdict::InputError(InputError::new(
            InputProblem::WrongValue,
            "`claim` is about a pair of kernels",
        )));
    }
    let exact = with(true, case);
    let mut report = Verification::new(&exact).run();
    let stopped = match &report.verdict {
        Verdict::Same(_)
        | Verdict::Different(Difference { how: How::Unwritten { .. } | How::NobodyWrites, .. }) => {
            return report;
        }
        Verdict::InputError(_) => return report,
        Verdict::Fault(fault) => Some(fault.message.clone()),
        Verdict::Different(_)
        | Verdict::Unknown(_)
        | Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Clean => None,
    };
    // What is true of reals: faults, a difference that no rounding explains, or that they are equal.
    let reals = with(false, case);
    let real = Verification::new(&reals).run();
    match real.verdict {
        Verdict::Fault(ref fault) if is_of_values(fault.kind) => {}
        Verdict::Fault(_) | Verdict::InputError(_) => return real,
        Verdict::Different(_) if claim != Claim::Bits => return real,
        Verdict::Equivalent => report.holds.push(Claim::Reals.name().into()),
        Verdict::Different(_)
        | Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Unknown(_)
        | Verdict::Clean => {}
    }
    if let Some(why) = stopped {
        let reason = format!("a kernel cannot be executed on values of IEEE arithmetic (B1): {why}");
        report.also.clear();
        report.verdict = Verdict::Unknown(Unknown {
            kind: UnknownReason::Undecided,
            reason,
            progress: None,
            help: Some("`claim = \"reals\"`, the default, compares real numbers".into()),
        });
    }
    report
}

/// A float as text: as short as its format allows.
fn spelled(element: Element, value: f64) -> String {
    match element {
        Element::Float(Format::F64) | Element::Int { .. } | Element::Bool => value.to_string(),
        Element::Float(_) => (value as f32).to_string(),
    }
}

/// A float of a witness, exactly, as those of other witnesses are spelled.
fn spelled_exactly(value: f64) -> String {
    match decode(Format::F64, value.to_bits()).extended() {
        Some(Extended::Finite(number)) if !number.is_zero() || value.is_sign_positive() => number.to_string(),
        _ => value.to_string(),
    }
}

impl Verification<'_> {
    /// Decides a claim about bits.
    pub(crate) fn decide_bits(&mut self, conditions: &Conditions) {
        let claim = self.case.options.rules.claim;
        let inputs: Vec<InputFormats> = self
            .case
            .params
            .iter()
            .zip(&self.inputs)
            .map(|(param, info)| {
                let [one, other] = param.elements();
                let format = match (one, other) {
                    (Element::Float(one), Element::Float(other)) if one == other => Some(one),
                    _ => None,
                };
                InputFormats {
                    is_integer: one.integer().is_some(),
                    format,
                    sign: info.sign,
                    integers: info.integers,
                    distinct: info.distinct,
                }
            })
            .collect();
        for (at, pair) in conditions.pairs.iter().enumerate() {
            if conditions.element(at).is_none() && pair.reference.value != pair.opt.value {
                let say = |value: OutputValue| match value {
                    OutputValue::Bits(bits) => bits.to_string(),
                    OutputValue::Integer(_) => "an integer".into(),
                    OutputValue::Real(_) => "a float".into(),
                };
                let (reference, opt) = (say(pair.reference.value), say(pair.opt.value));
                let witness = Witness {
                    inputs: Vec::new(),
                    zeros: 0,
                    reference,
                    opt,
                    explanation: None,
                    readings: Vec::new(),
                };
                let param = &self.case.params[pair.param];
                self.report.verdict = difference(param, pair.element, How::Values(witness));
                return;
            }
        }
        // An element that is a translation of another one is the same if that is.
        let (elements, places) = conditions.to_decide();
        let firsts = decide::firsts(&elements, &conditions.options);
        let (mut pairs, mut positions) = (Vec::new(), Vec::new());
        for (number, (element, at)) in elements.iter().zip(places).enumerate() {
            if firsts[number] == number {
                pairs.push(BitsPair { reference: element.reference, opt: element.opt });
                positions.push(at);
            }
        }
        let budgets = &self.case.options.budgets;
        let forms = (budgets[Limit::MemoryBytes] / BYTES_OF_FORM) as usize;
        let most = FormLimits { forms, deadline: budgets.deadline };
        let outcome = bits::decide(claim, &pairs, &inputs, most);
        self.report.coverage.compared = conditions.pairs.len() as u64;
        let at = match &outcome {
            BitsOutcome::Same { fusible, encodes, approximate } => {
                let told = [
                    (
                        *fusible,
                        "a `mul` and an `add` without a rounding mode are executed as written, not fused by `ptxas` (B1)",
                    ),
                    (
                        *encodes,
                        "no thread reads the encoding, or by `copysign` the sign, of a NaN that it computed (B1)",
                    ),
                    (
                        *approximate,
                        "approximate instructions and products of matrices give the same bits for the same operands: both kernels run on one architecture (B1)",
                    ),
                ];
                let told = told.into_iter().filter(|(relied, _)| *relied);
                self.report.assumptions.extend(told.map(|(_, text)| Assumption::relied(text)));
                self.report.verdict = Verdict::Same(claim);
                return;
            }
            BitsOutcome::Different(at, _) | BitsOutcome::Open(at, _) => *at,
        };
        let pair = &conditions.pairs[positions[at]];
        let param = &self.case.params[pair.param];
        let weaker = [Claim::BitsUpToFma, Claim::Order];
        for other in weaker.into_iter().filter(|other| claim == Claim::Bits && *other != claim) {
            if let BitsOutcome::Same { .. } = bits::decide(other, &pairs, &inputs, most) {
                self.report.holds.push(other.name().into());
            }
        }
        let parting = bits::parting(&pairs[at], &inputs, most);
        self.report.parting = parting.map(|parting| {
            let [ours, theirs] = parting.sites;
            let place = |programs: Option<&Programs>, side: &Side, site: InstId| programs?.place(side, site);
            let ours = ours.zip(self.case.reference.as_ref());
            let ours = ours.and_then(|(site, side)| place(self.programs.first(), side, site));
            let theirs = theirs.and_then(|site| place(self.programs.last(), &self.case.opt, site));
            let [reference, opt] = parting.operations;
            let places = [ours, theirs].map(|place| place.map(Box::new));
            Explanation { what: "operation".into(), reference, opt, places }
        });
        let name = spell_element(&param.name, shape(param), pair.element);
        self.report.verdict = match outcome {
            BitsOutcome::Different(_, BitsWitness { inputs, values }) => {
                let spell = |(input, element, value): (usize, u64, f64)| {
                    let of = &self.case.params[input];
                    (spell_element(&of.name, shape(of), element), spelled_exactly(value))
                };
                let [reference, opt] = values;
                let [one, other] = param.elements();
                let witness = Witness {
                    inputs: inputs.into_iter().map(spell).collect(),
                    zeros: 0,
                    reference: spelled(one, reference),
                    opt: spelled(other, opt),
                    explanation: None,
                    readings: Vec::new(),
                };
                difference(param, pair.element, How::Values(witness))
            }
            BitsOutcome::Same { .. } => return,
            BitsOutcome::Open(_, why) => Verdict::Unknown(Unknown {
                kind: UnknownReason::Undecided,
                reason: format!(
                    "whether {name} is the same in both kernels (`claim = \"{claim}\"`) is not decided: {why}"
                ),
                progress: None,
                help: None,
            }),
        };
    }
}
