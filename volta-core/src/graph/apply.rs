//! Functions and numbers as terms.

use volta_case::{Element, Format};

use super::evaluate::Run;
use super::lanes::{Lanes, Terms, merged};
use super::{Function, Meaning};
use crate::base::lane::LaneMask;
use crate::number::format::{Rounding, decode, encode};
use crate::number::{Extended, Rational, Rounded};
use crate::term::{Constant, Store, TermOp};
use smallvec::SmallVec;

/// The largest whole number by which a power is a product.
const MOST_FACTORS: i64 = 16;

/// The format of literals beside numbers of a type; `None` for integers.
pub(super) fn format_of_literals(element: Element) -> Option<Format> {
    match element {
        Element::Float(Format::F64) => Some(Format::F64),
        Element::Float(_) => Some(Format::F32),
        Element::Int { .. } | Element::Bool => None,
    }
}

/// The literals of irrational constants in f32 and f64 (rule V9).
const LITERALS: [[u64; 2]; 3] = [
    [0x3FB8_AA3B, 0x3FF7_1547_652B_82FE],
    [0x3F31_7218, 0x3FE6_2E42_FEFA_39EF],
    [0x3E9A_209B, 0x3FD3_4413_509F_79FF],
];

/// A number as a literal of a format, if it is one of its numbers to which it is rounded.
pub(super) fn literal(run: &mut Run<'_>, number: &Extended, format: Option<Format>) -> u64 {
    if let (Some(below), Some(finite)) = (&run.meter.mask_below(), number.finite())
        && finite <= below
    {
        run.masks.push(finite.clone());
        return run.terms.number(Extended::NegInf);
    }
    let Some(format) = format else { return run.terms.number(number.clone()) };
    let bits = encode(number, format, Rounding::Nearest);
    let exact = decode(format, bits).extended();
    match exact {
        Some(exact) if exact.is_finite() == number.is_finite() && exact.signum() == number.signum() => {
            let rounded = Rounded::exactly(format, bits);
            if exact != *number {
                run.rounded.push((number.clone(), format));
            }
            run.terms.store.intern(Constant { exact, literal: Some((format, bits)), rounded }).raw()
        }
        _ => run.terms.number(number.clone()),
    }
}

/// The exponent of a power that is a product, a root, or the reciprocal of one.
fn small_exponent(exponent: &Extended) -> Option<&Rational> {
    let exponent = exponent.finite()?;
    let is_small = exponent.abs() <= Rational::from_integer(MOST_FACTORS);
    let is_root = (exponent + exponent).is_integer() && exponent.abs() < Rational::ONE;
    (is_small && (exponent.is_integer() || is_root)).then_some(exponent)
}

/// A known power of what lanes hold.
fn power(terms: &mut Terms<'_>, base: Lanes, exponent: &Rational, mask: LaneMask) -> Lanes {
    let one = [terms.whole(1); 32];
    if !exponent.is_integer() {
        let root = if exponent.is_negative() { TermOp::Rsqrt } else { TermOp::Sqrt };
        return terms.apply(root, mask, &[&base]);
    }
    let factors = exponent.abs().to_i64().unwrap_or(0);
    if factors == 0 {
        // The base is kept: it may have no value (V8).
        let zero = [terms.whole(0); 32];
        return terms.apply(TermOp::Fma, mask, &[&base, &zero, &one]);
    }
    let product = (1..factors).fold(base, |product, _| terms.apply(TermOp::Mul, mask, &[&product, &base]));
    if exponent.is_negative() { terms.apply(TermOp::Div, mask, &[&one, &product]) } else { product }
}

/// Powers of what lanes hold, by exponents that may be known in some of them.
fn powers(terms: &mut Terms<'_>, [base, exponent]: [&Lanes; 2], mask: LaneMask) -> Lanes {
    let (mut known, mut rest): (Vec<(Rational, LaneMask)>, LaneMask) = (Vec::new(), LaneMask::NONE);
    for lane in mask {
        match terms.known(exponent[lane.index()]).and_then(small_exponent) {
            Some(small) => match known.iter_mut().find(|(own, _)| own == small) {
                Some((_, lanes)) => lanes.insert(lane),
                None => known.push((small.clone(), LaneMask::of(lane))),
            },
            None => rest.insert(lane),
        }
    }
    let mut result = [0; 32];
    for (small, lanes) in known {
        let own = power(terms, *base, &small, lanes);
        result = merged(result, own, lanes);
    }
    if rest.is_empty() {
        return result;
    }
    let logarithm = terms.apply(TermOp::Log2, rest, &[base]);
    let product = terms.apply(TermOp::Mul, rest, &[&logarithm, exponent]);
    let own = terms.apply(TermOp::Exp2, rest, &[&product]);
    merged(result, own, rest)
}

/// The literals of log₂ e, ln 2 and log₁₀ 2.
#[derive(Debug)]
pub(super) struct Literals([u64; 3]);

impl Literals {
    /// Those of a format, f32 by default.
    pub(super) fn new(store: &mut Store, format: Option<Format>) -> Literals {
        let format = format.unwrap_or(Format::F32);
        Literals(LITERALS.map(|[single, double]| {
            let bits = if format == Format::F64 { double } else { single };
            let exact = decode(format, bits).extended().unwrap_or(Extended::PosInf);
            let rounded = Rounded::exactly(format, bits);
            store.intern(Constant { exact, literal: Some((format, bits)), rounded }).raw()
        }))
    }

    /// Applies a function in the lanes of `mask`; a choice is one between numbers.
    pub(super) fn apply(
        &self,
        function: Function,
        operands: &[Lanes],
        terms: &mut Terms<'_>,
        mask: LaneMask,
    ) -> Lanes {
        let [log2_e, ln_2, log10_2] = self.0.map(|literal| [literal; 32]);
        match (function.meaning(), operands) {
            (Meaning::Numbers(op) | Meaning::Comparison(op) | Meaning::Truths(op), operands) => {
                let operands: SmallVec<[&Lanes; 3]> = operands.iter().collect();
                terms.apply(op, mask, &operands)
            }
            (Meaning::Derived, [a, b]) if function == Function::Greater => {
                terms.apply(TermOp::Less, mask, &[b, a])
            }
            (Meaning::Derived, [a, b]) if function == Function::GreaterEqual => {
                terms.apply(TermOp::LessEqual, mask, &[b, a])
            }
            (Meaning::Derived, [a, b]) => {
                let equal = terms.apply(TermOp::Equal, mask, &[a, b]);
                terms.apply(TermOp::Not, mask, &[&equal])
            }
            (Meaning::Exponential, [a]) if function == Function::Exp => {
                let exponent = terms.apply(TermOp::Mul, mask, &[a, &log2_e]);
                terms.apply(TermOp::Exp2, mask, &[&exponent])
            }
            (Meaning::Exponential, [a]) => {
                let logarithm = terms.apply(TermOp::Log2, mask, &[a]);
                let factor = if function == Function::Log { ln_2 } else { log10_2 };
                terms.apply(TermOp::Mul, mask, &[&logarithm, &factor])
            }
            (Meaning::Power, [a, b]) => powers(terms, [a, b], mask),
            (Meaning::Choice, [condition, then, otherwise]) => {
                terms.apply(TermOp::Select, mask, &[condition, then, otherwise])
            }
            (Meaning::Derived | Meaning::Exponential | Meaning::Power | Meaning::Choice, _) => {
                unreachable!("a graph is checked before it is evaluated")
            }
        }
    }
}
