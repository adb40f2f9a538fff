//! Library functions with one operand that is a known number.
//!
//! A compiler folds as much of such a call as it can, and the machine folds the rest that is known, which leaves
//! another graph: that of the same code executed with the same number for the operand. The number is not recorded;
//! it is one that the kernel's code contains or that the case gives. So these are tried, but only for kernels in
//! which an unexplained term was found otherwise.

use super::{FUNCTIONS, LibraryFunction, NAMES, Postfix, built, marked_first, meaning, templates, value};
use crate::case::{Element, Param, ParamKind, ScalarValue};
use crate::number::format::{Format, Rounding, round};
use crate::number::{Extended, Rational};
use crate::program::{self, Program, Src};
use crate::ptx;
use crate::term::{Template, Templates, TermOp};
use std::collections::BTreeSet;
use std::sync::Arc;

/// At most this many numbers are tried for a function.
const MAX_NUMBERS: usize = 48;

/// Higher powers are not written as products.
const MAX_POWER: i64 = 64;

/// The binary exponents of immediates that are tried as numbers.
const EXPONENTS: std::ops::RangeInclusive<i32> = -64..=64;

/// An operand that is a known number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) operand: usize,
    pub(super) bits: u64,
}

/// The templates for a kernel, including those of functions with an operand that is a number in its code or in the
/// case. `None` if there are none of the latter.
pub(super) fn with_known(program: &Program, params: &[Param]) -> Option<Templates> {
    let own = immediates(program);
    let marked = marked_first(program, FUNCTIONS.len());
    let mut list = Vec::new();
    for at in marked.iter().copied().filter(|at| FUNCTIONS[*at].operands >= 2) {
        let function = FUNCTIONS[at];
        let coefficients = coefficients(function);
        let spelled = own.iter().copied().filter(|bits| {
            is_usual(function.format, *bits)
                && (!coefficients.contains(bits) || is_short(function.format, *bits))
        });
        let numbers: BTreeSet<u64> = given(params, function.format).chain(spelled).collect();
        for bits in numbers.into_iter().take(MAX_NUMBERS) {
            for operand in 0..function.operands {
                list.extend(templates_of(at, function, Known { operand, bits }));
            }
        }
    }
    if list.is_empty() {
        return None;
    }
    Some(templates(&marked)?.and(list).spelling())
}

/// The immediate operands in the codes of a function.
pub(super) fn coefficients(function: &LibraryFunction) -> BTreeSet<u64> {
    let mut coefficients = BTreeSet::new();
    for code in function.codes() {
        let program = ptx::parse(code).ok().and_then(|parsed| program::lower(&parsed, code, None).ok());
        coefficients.extend(program.iter().flat_map(immediates));
    }
    coefficients
}

/// The immediate operands of instructions.
pub(super) fn immediates(program: &Program) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for inst in &program.insts {
        inst.op.visit_sources(&mut |source| {
            if let Src::Imm(bits) = source {
                found.insert(bits);
            }
        });
    }
    found
}

/// The numbers that the case gives for scalars of a format.
fn given(params: &[Param], format: Format) -> impl Iterator<Item = u64> {
    params.iter().filter_map(move |param| match &param.kind {
        ParamKind::Scalar {
            element: Element::Float(own),
            value: ScalarValue::Number(Extended::Finite(number)),
        } if *own == format => Some(round(number, format, Rounding::Nearest)),
        ParamKind::Scalar { .. } | ParamKind::Tensor { .. } => None,
    })
}

/// Whether bits may encode a number of a format, rather than a small integer.
pub(super) fn is_usual(format: Format, bits: u64) -> bool {
    let width = 8 * format.bytes();
    let Some(Extended::Finite(number)) = (bits >> (width - 1) < 2).then(|| value(format, bits)).flatten()
    else {
        return false;
    };
    let bound = |exponent: i32| Rational::power_of_two(exponent);
    number.abs() > bound(*EXPONENTS.start()) && number.abs() < bound(*EXPONENTS.end())
}

/// Whether a number has few significant bits, so that it may be an operand as well as a coefficient.
pub(super) fn is_short(format: Format, bits: u64) -> bool {
    bits & (u64::MAX >> (64 - 4 * format.bytes())) == 0
}

/// The templates of a function with a known operand: of those of its codes that leave a graph to recognize.
fn templates_of(at: usize, function: &LibraryFunction, known: Known) -> Vec<Arc<Template>> {
    let Some(Extended::Finite(number)) = value(function.format, known.bits) else { return Vec::new() };
    let whole = whole_power(function, known, &number);
    let is_whole = whole.is_some();
    let steps = whole.unwrap_or_else(|| with_number(function, known));
    let name = NAMES[known.operand];
    let claim = format!(
        "`{}` as compiled, where {name} is {number}: {}, {} (V7)",
        function.name,
        if is_whole { "x^y" } else { function.real },
        function.within()
    );
    let mut made = Vec::new();
    for code in function.codes() {
        let Some(meaning) = meaning(&steps) else { continue };
        made.extend(built(at, code, &made, Some(known), meaning, claim.clone()).map(Arc::new));
    }
    made
}

/// A power with an integer exponent as a product, which also holds for negative numbers.
fn whole_power(function: &LibraryFunction, known: Known, number: &Rational) -> Option<Vec<Postfix>> {
    let exponent = number.to_i64().filter(|exponent| *exponent != 0 && exponent.abs() <= MAX_POWER)?;
    if !function.powers || known.operand != 1 {
        return None;
    }
    let mut steps = vec![Postfix::Operand(0)];
    for _ in 1..exponent.abs() {
        steps.extend([Postfix::Operand(0), Postfix::Apply(TermOp::Mul)]);
    }
    if exponent < 0 {
        steps.insert(0, Postfix::Whole(1));
        steps.push(Postfix::Apply(TermOp::Div));
    }
    Some(steps)
}

/// The meaning with a number substituted for an operand.
fn with_number(function: &LibraryFunction, known: Known) -> Vec<Postfix> {
    let own = |step: &Postfix| match *step {
        Postfix::Operand(which) if which == known.operand => Postfix::Literal(function.format, known.bits),
        step @ (Postfix::Operand(_) | Postfix::Whole(_) | Postfix::Literal(..) | Postfix::Apply(_)) => step,
    };
    function.meaning.iter().map(own).collect()
}
