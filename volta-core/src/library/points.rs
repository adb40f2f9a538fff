//! Library functions all of whose operands are known numbers: which kernels are executed once more to recognise them.

use super::known::{coefficients as all_of, immediates, is_short, is_usual};
use super::{FUNCTIONS, marked, value};
use crate::case::{Contents, Element, Param, ParamKind, Role, ScalarValue};
use crate::machine::{Execution, Outputs, RunError};
use crate::number::Extended;
use crate::number::format::Format;
use crate::program::Program;
use crate::term::Store;
use rustc_hash::FxHashSet;
use std::f64::consts::{LN_2, LOG2_10, LOG2_E, LOG10_2};

/// Whether a kernel may contain functions at known points, by its first run, and if so, whether that run decided all
/// that known floats decide.
pub(super) fn are_met(ran: &Result<Execution, RunError>, looked: bool, outputs: Outputs) -> Option<bool> {
    match ran {
        // Values of a kernel alone are compared with nothing.
        Ok(execution) => (execution.at_known_points && outputs == Outputs::Compared).then_some(true),
        // A step of a function decides what its result does not depend on.
        Err(error) => (looked && error.depends_on_rounding()).then_some(false),
    }
}

/// Whether the floats that the case gives are kept as terms, in the order in which that is tried: where they decide
/// something, only floats that are converted from integers are.
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

/// Notes that known numbers may be functions that were not recognised: with literals for operands, or where a known
/// function decides something. No difference is claimed that is as small as their errors.
pub(super) fn approximates(ran: &mut Result<Execution, RunError>) {
    if let Ok(execution) = ran
        && execution.at_known_points
    {
        execution.stores.iter_mut().for_each(Store::set_approximates);
    }
}

/// The literals of a kernel that are coefficients: of a function whose mark it contains, or of an exponential or a
/// logarithm, which rule V9 reads as irrational constants.
pub(super) fn coefficients(program: &Program) -> FxHashSet<u64> {
    let own = immediates(program);
    let mut found: FxHashSet<u64> = own.iter().copied().filter(|bits| is_irrational(*bits)).collect();
    for function in FUNCTIONS.iter().filter(|function| marked(program, function)) {
        let of_function = all_of(function);
        found.extend(own.iter().copied().filter(|bits| {
            of_function.contains(bits)
                && is_usual(function.format, *bits)
                && !is_short(function.format, *bits)
        }));
    }
    found
}

/// Whether bits are those of a literal near a constant by which exponentials and logarithms change their base, up to a
/// power of two.
fn is_irrational(bits: u64) -> bool {
    [Format::F32, Format::F64].iter().any(|format| {
        let Some(Extended::Finite(number)) = is_usual(*format, bits).then(|| value(*format, bits)).flatten()
        else {
            return false;
        };
        let fraction =
            |value: f64| f64::from_bits(value.to_bits() & 0xf_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
        let own = fraction(number.to_f64_approximately());
        [LOG2_E, LN_2, LOG2_10, LOG10_2].iter().any(|of| (own / fraction(*of) - 1.0).abs() < 1e-6)
    })
}
