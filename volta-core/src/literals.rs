//! Literals read as quotients (rule V9, `literals = "nearest"`).

use crate::base::assumption::Assumption;
use crate::base::budget::Limit;
use crate::case::{Argument, Element, KernelLaunch, Literals, Param, ParamKind, ScalarValue, Side, bits_of};
use crate::conditions::{Conditions, Pair};
use crate::decide;
use crate::launch;
use crate::nearest::DirectLiterals;
use crate::number::format::Format;
use crate::program::{Parameter, Program, VariableId};
use crate::steps::Programs;
use crate::verdict::{Difference, How, Report, UnknownReason, Verdict};
use crate::verify::Verification;

/// Steps of algebra that are spent on finding out whether readings of literals would remove a difference.
const STEPS_FOR_ADVICE: u64 = 1 << 20;

/// The floats among the arguments of a kernel, by parameter: their formats and bits.
fn scalars(program: &Program, launch: &KernelLaunch, params: &[Param]) -> Vec<(VariableId, Format, u64)> {
    let arguments = launch::arguments(launch, params);
    let scalar = |(parameter, argument): (&Parameter, &Argument)| {
        let Some(element @ Element::Float(format)) = Element::parse(&parameter.element) else { return None };
        let named = |name: &str| match &params.iter().find(|param| param.name == *name)?.kind {
            ParamKind::Scalar { value: ScalarValue::Number(number), .. } => Some(number),
            ParamKind::Scalar { .. } | ParamKind::Tensor { .. } => None,
        };
        let number = match argument {
            Argument::Literal(number) => Some(number),
            Argument::Named(name) => named(name),
            Argument::Element { .. } | Argument::Map { .. } | Argument::Struct(_) => None,
        };
        Some((parameter.variable, format, bits_of(element, number?).ok()?))
    };
    program.parameters.iter().zip(&arguments).filter_map(scalar).collect()
}

impl Verification<'_> {
    /// Reads literals as quotients, where the case allows it and the sides are not proved equal without (V9). Where it
    /// does not, a difference that only this would remove says so.
    pub(crate) fn read_nearest(&mut self, conditions: &mut Conditions, before: &Report) {
        let is_allowed = match self.case.options.rules.literals {
            Literals::Nearest => true,
            Literals::Exact => false,
        };
        let differs = match &self.report.verdict {
            Verdict::Different(Difference { tensor, element, how: How::Values(_), .. }) => {
                let is_it =
                    |pair: &Pair| self.case.params[pair.param].name == *tensor && pair.element == *element;
                conditions.pairs.iter().position(is_it)
            }
            Verdict::Unknown(unknown) if is_allowed && unknown.kind == UnknownReason::Undecided => None,
            Verdict::Equivalent
            | Verdict::EquivalentWhere(_)
            | Verdict::Same(_)
            | Verdict::Different(_)
            | Verdict::Fault(_)
            | Verdict::Unknown(_)
            | Verdict::InputError(_)
            | Verdict::Clean => return,
        };
        let params = &self.case.params;
        let kernels = |programs: Option<&Programs>, side: &Side| {
            let programs = programs.into_iter().flat_map(Programs::kernels);
            let launched = programs.zip(side.launches());
            DirectLiterals::of(
                launched.map(|(program, (_, launch))| (program, scalars(program, launch, params))),
            )
        };
        let reference = self.case.reference.as_ref();
        let reference = reference.map(|side| kernels(self.programs.first(), side)).unwrap_or_default();
        let readable = [reference, kernels(self.programs.last(), &self.case.opt)];
        for readings in conditions.nearest_readings(&readable) {
            let exact = conditions.read(&readings);
            let told = || readings.iter().map(ToString::to_string);
            if is_allowed {
                let plain = std::mem::replace(&mut self.report, before.clone());
                self.settle(conditions, false);
                if matches!(self.report.verdict, Verdict::Equivalent | Verdict::EquivalentWhere(_)) {
                    self.report.assumptions.extend(told().map(Assumption::relied));
                    return;
                }
                self.report = plain;
            } else if let Some(element) = differs.and_then(|at| conditions.element(at)) {
                let mut options = conditions.options.clone();
                let steps = options.budgets[Limit::AlgebraSteps].min(STEPS_FOR_ADVICE);
                options.budgets = options.budgets.with(Limit::AlgebraSteps, steps);
                let decision = decide::decide(&[element], &conditions.inputs, &options);
                if decision.first_failure.is_none()
                    && let Verdict::Different(Difference { how: How::Values(witness), .. }) =
                        &mut self.report.verdict
                {
                    witness.readings = told().collect();
                }
            }
            conditions.restore(exact);
            if matches!(&self.report.verdict, Verdict::Different(Difference { how: How::Values(witness), .. })
                if !witness.readings.is_empty())
            {
                return;
            }
        }
    }
}
