//! Functions of which an operand is a known number.
//!
//! A compiler computes as much of such a function as it can, and the machine the rest that is known: what is left is another
//! graph. It is that of the same code, executed with the same number for an operand. Which number that is nobody says;
//! it is one that the kernel's code spells or that the case gives. So they are tried, and only for kernels that have
//! computed something from encodings that is no function otherwise.

use super::{FUNCTIONS, LibraryFunction, NAMES, Step, built, marked, meaning, templates, value};
use crate::case::{Element, Param, ParamKind, ScalarValue};
use crate::number::format::{Format, Rounding, round};
use crate::number::{Extended, Rational};
use crate::program::{self, Program, Src};
use crate::ptx;
use crate::term::{Template, Templates, TermOp};
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many numbers are tried for a function at most.
const MAX_NUMBERS: usize = 48;

/// Higher powers are not written as products.
const MAX_POWER: i64 = 64;

/// The exponents of two between which a number is tried that is spelled by an instruction.
const EXPONENTS: std::ops::RangeInclusive<i32> = -64..=64;

/// A number that an operand is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) operand: usize,
    pub(super) bits: u64,
}

/// The functions to look for in a kernel, with those of which an operand is a number that it spells, or that the case
/// gives. `None` where there is none of the latter.
pub(super) fn with_known(program: &Program, params: &[Param]) -> Option<Templates> {
    let own = immediates(program);
    let mut list = Vec::new();
    for (at, function) in FUNCTIONS.iter().enumerate() {
        if function.operands < 2 || !marked(program, function) {
            continue;
        }
        let parsed = ptx::parse(function.ptx).ok()?;
        let coefficients = immediates(&program::lower(&parsed, function.ptx, None).ok()?);
        let spelled = own.iter().copied().filter(|bits| {
            is_usual(function.format, *bits)
                && (!coefficients.contains(bits) || is_short(function.format, *bits))
        });
        let numbers: BTreeSet<u64> = given(params, function.format).chain(spelled).collect();
        for bits in numbers.into_iter().take(MAX_NUMBERS) {
            for operand in 0..function.operands {
                list.extend(template(at, function, Known { operand, bits }));
            }
        }
    }
    if list.is_empty() {
        return None;
    }
    Some(templates(program, FUNCTIONS.len())?.and(list).spelling())
}

/// The bits that instructions hold.
fn immediates(program: &Program) -> BTreeSet<u64> {
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

/// Whether bits may be a number of a format, rather than a small integer.
fn is_usual(format: Format, bits: u64) -> bool {
    let width = 8 * format.bytes();
    let Some(Extended::Finite(number)) = (bits >> (width - 1) < 2).then(|| value(format, bits)).flatten()
    else {
        return false;
    };
    let bound = |exponent: i32| Rational::power_of_two(exponent);
    number.abs() > bound(*EXPONENTS.start()) && number.abs() < bound(*EXPONENTS.end())
}

/// Whether a number has few digits, so that it may be more than a coefficient.
fn is_short(format: Format, bits: u64) -> bool {
    bits & (u64::MAX >> (64 - 4 * format.bytes())) == 0
}

/// The template of a function of which an operand is a number. `None` where nothing of it is left to be found.
fn template(at: usize, function: &LibraryFunction, known: Known) -> Option<Arc<Template>> {
    let Extended::Finite(number) = value(function.format, known.bits)? else { return None };
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
    built(at, Some(known), meaning(&steps)?, claim).map(Arc::new)
}

/// A power with a whole exponent, which is the product that it is, for negative numbers as well.
fn whole_power(function: &LibraryFunction, known: Known, number: &Rational) -> Option<Vec<Step>> {
    let exponent = number.to_i64().filter(|exponent| *exponent != 0 && exponent.abs() <= MAX_POWER)?;
    if !function.powers || known.operand != 1 {
        return None;
    }
    let mut steps = vec![Step::Operand(0)];
    for _ in 1..exponent.abs() {
        steps.extend([Step::Operand(0), Step::Apply(TermOp::Mul)]);
    }
    if exponent < 0 {
        steps.insert(0, Step::Whole(1));
        steps.push(Step::Apply(TermOp::Div));
    }
    Some(steps)
}

/// The meaning with a number in the place of an operand.
fn with_number(function: &LibraryFunction, known: Known) -> Vec<Step> {
    let own = |step: &Step| match *step {
        Step::Operand(which) if which == known.operand => Step::Literal(function.format, known.bits),
        step @ (Step::Operand(_) | Step::Whole(_) | Step::Literal(..) | Step::Apply(_)) => step,
    };
    function.meaning.iter().map(own).collect()
}
