//! Library functions with known numbers for all operands: which kernels are executed once more to recognise them.

use super::known::{coefficients as all_of, immediates, is_short, is_usual};
use super::{Error, FUNCTIONS};
use crate::case::{Contents, Element, Param, ParamKind, Role, ScalarValue};
use crate::launch::Outputs;
use crate::machine::{Execution, RunError};
use crate::program::Program;
use rustc_hash::FxHashSet;

/// Whether, judging by its first run, a kernel may contain functions at known points; if so, whether that run made all
/// decisions that depend on known floats.
pub(super) fn are_met(ran: &Result<Execution, RunError>, looked: bool, outputs: Outputs) -> Option<bool> {
    match ran {
        // The values of a kernel that is verified alone are compared with nothing.
        Ok(execution) => (execution.counts.at_known_points && outputs == Outputs::Compared).then_some(true),
        // A step inside a function may make a decision on which the function's result does not depend.
        Err(error) => (looked && error.depends_on_rounding()).then_some(false),
    }
}

/// The attempts to make, in order: whether floats that the case gives are kept as terms. Where they decide something,
/// only floats that are converted from integers can be.
pub(super) fn kept(params: &[Param]) -> &'static [bool] {
    let is_float = |element: &Element| matches!(element, Element::Float(_));
    let is_given = |param: &Param| match &param.kind {
        ParamKind::Scalar { element, value: ScalarValue::Number(_) } => is_float(element),
        ParamKind::Scalar { value: ScalarValue::Symbolic(_), .. } => false,
        ParamKind::Tensor { reference, opt, role, contents, .. } => {
            *role == Role::In && *contents != Contents::Symbolic && (is_float(reference) || is_float(opt))
        }
    };
    if params.iter().any(is_given) { &[true, false] } else { &[false] }
}

/// Records that known numbers may be functions that were not recognised, because their operands are literals or because
/// they decide something. No difference as small as the errors of the marked functions is claimed then.
pub(super) fn approximates(ran: &mut Result<Execution, RunError>, marked: &[usize]) {
    if let Ok(execution) = ran
        && execution.counts.at_known_points
    {
        let errors = || marked.iter().map(|at| FUNCTIONS[*at].error);
        let nearness = Error {
            ulps: errors().map(|error| error.ulps).max().unwrap_or(0),
            or_below: errors().filter_map(|error| error.or_below).max(),
        };
        execution.stores.iter_mut().for_each(|store| store.set_approximates(nearness));
    }
}

/// The literals of a kernel that are coefficients of the functions with a mark in it.
pub(super) fn coefficients(program: &Program, marked: &[usize]) -> FxHashSet<u64> {
    let mut found = FxHashSet::default();
    if marked.is_empty() {
        return found;
    }
    let own = immediates(program);
    for function in marked.iter().map(|at| FUNCTIONS[*at]) {
        let of_function = all_of(function);
        found.extend(own.iter().copied().filter(|bits| {
            of_function.contains(bits)
                && is_usual(function.format, *bits)
                && !is_short(function.format, *bits)
        }));
    }
    found
}
