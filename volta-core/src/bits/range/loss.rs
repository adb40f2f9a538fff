//! Operations whose results stay numbers, but lose digits: those that underflow, and sums that cancel.

#![expect(clippy::wildcard_enum_match_arm, reason = "tables of the few operations that lose digits")]

use smallvec::SmallVec;

use super::set::FloatSet;
use super::{Analysis, Leaving};
use crate::bits::form::{key_of_term, operands_of};
use crate::number::format::{Format, mantissa_bits};
use crate::term::{IeeeKey, IeeeOp, TermId, TermOp, View, least_normal};

/// At most so many terms are looked at to find whether an operand was rounded.
const LOOKED_AT: usize = 64;

impl Leaving {
    /// Whether the result is still a number.
    pub(crate) fn keeps_numbers(self) -> bool {
        match self {
            Leaving::Underflow | Leaving::Cancels => true,
            Leaving::Overflow | Leaving::Division | Leaving::Invalid | Leaving::Output => false,
        }
    }
}

/// The least and the greatest magnitude.
fn magnitudes(set: FloatSet) -> Option<[f64; 2]> {
    let [low, high] = set.finite.filter(|_| set.is_finite())?;
    Some([low.max(-high).max(0.0), high.max(-low)])
}

/// Whether the result of an operation may be below the normal numbers though the exact one is not zero, and whether it
/// surely is.
fn underflows(key: IeeeKey, set: FloatSet, operands: &[FloatSet]) -> Option<bool> {
    let [_, most] = magnitudes(set)?;
    let [low, high] = set.finite?;
    let least = least_normal(key.format);
    if low >= least || high <= -least {
        return None;
    }
    let is_zero = |of: &FloatSet| *of == FloatSet::value(0.0);
    let nonzero = |of: &FloatSet| magnitudes(*of).is_some_and(|[least, _]| least > 0.0);
    // Of a fused sum, the product alone.
    let operands = match (key.op, operands) {
        (IeeeOp::Mul | IeeeOp::DivApprox | IeeeOp::DivFull | IeeeOp::Div, [_, _]) => operands,
        (IeeeOp::Fma, [factors @ .., addend]) if is_zero(addend) => factors,
        (IeeeOp::Rcp | IeeeOp::Convert, [_]) => operands,
        (IeeeOp::Ex2, [_]) => return Some(operands[0].is_finite() && most < least),
        _ => return None,
    };
    let exact_is_zero = match key.op {
        IeeeOp::Div | IeeeOp::DivApprox | IeeeOp::DivFull => is_zero(&operands[0]),
        _ => operands.iter().any(is_zero),
    };
    (!exact_is_zero).then(|| most < least && operands.iter().all(nonzero))
}

/// The addends of a sum: the product of a fused one is one of them.
fn addends(key: IeeeKey, operands: &[FloatSet]) -> Option<[FloatSet; 2]> {
    match (key.op, operands) {
        (IeeeOp::Add, [a, b]) => Some([*a, *b]),
        (IeeeOp::Fma, [a, b, c]) => {
            let ([a_low, a_high], [b_low, b_high]) = (a.finite?, b.finite?);
            let all = [a_low * b_low, a_low * b_high, a_high * b_low, a_high * b_high];
            let low = all.iter().copied().fold(f64::INFINITY, f64::min);
            let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (a.is_finite() && b.is_finite() && low.is_finite() && high.is_finite())
                .then(|| [FloatSet::between(low, high), *c])
        }
        _ => None,
    }
}

/// Whether addends may be so near to the negation of one another that half of their digits cancel, and whether they
/// surely are.
fn cancels(key: IeeeKey, set: FloatSet, operands: &[FloatSet]) -> Option<bool> {
    let [a, b] = addends(key, operands)?;
    let ([a_least, a_most], [b_least, b_most]) = (magnitudes(a)?, magnitudes(b)?);
    let (a, b) = (a.finite?, b.finite?);
    let part = f64::powi(2.0, -(mantissa_bits(key.format) as i32 / 2));
    let near = part * b_most;
    let meet = a[0] <= -b[0] + near && a[1] >= -b[1] - near && a_most > 0.0 && b_most > 0.0;
    if !meet || set == FloatSet::value(0.0) {
        return None;
    }
    let [_, left] = magnitudes(set)?;
    Some(a_least > 0.0 && b_least > 0.0 && left <= part * a_least.max(b_least))
}

impl Analysis<'_, '_> {
    /// What an operation may lose, and whether it surely does.
    pub(super) fn losses(
        &self,
        term: TermId,
        key: IeeeKey,
        set: FloatSet,
        operands: &[FloatSet],
    ) -> SmallVec<[(Leaving, bool); 2]> {
        let mut found = SmallVec::new();
        if let Some(surely) = underflows(key, set, operands) {
            found.push((Leaving::Underflow, surely));
        }
        if let Some(surely) = cancels(key, set, operands)
            && self.cancels_rounded(term, key)
        {
            found.push((Leaving::Cancels, surely));
        }
        found
    }

    /// Whether an operand of a sum was rounded, so that what is left of it says little. A sum from which one of its own
    /// addends is subtracted leaves its rounding error, on purpose.
    fn cancels_rounded(&self, term: TermId, key: IeeeKey) -> bool {
        let operands = operands_of(self.store, term);
        let rounded = operands.iter().any(|operand| self.is_rounded(*operand));
        if !rounded || key.op != IeeeOp::Add {
            return rounded;
        }
        let [a, b] = [0, 1].map(|at| operands.get(at).map_or(term, |of| self.without_sign(*of)));
        !self.is_addend(a, b) && !self.is_addend(b, a)
    }

    fn without_sign(&self, term: TermId) -> TermId {
        match key_of_term(self.store, term) {
            Some(key) if key.op == IeeeOp::Neg => operands_of(self.store, term).first().copied(),
            Some(_) | None => None,
        }
        .unwrap_or(term)
    }

    /// Whether a term is an addend of a sum, or of a sum that is an addend of it.
    fn is_addend(&self, of: TermId, sum: TermId) -> bool {
        let parts = |sum: TermId| -> SmallVec<[TermId; 3]> {
            match key_of_term(self.store, sum) {
                Some(key) if key.op == IeeeOp::Add => {
                    operands_of(self.store, sum).iter().map(|part| self.without_sign(*part)).collect()
                }
                Some(_) | None => SmallVec::new(),
            }
        };
        parts(sum).iter().any(|part| *part == of || parts(*part).contains(&of))
    }

    /// Whether a value was rounded when it was computed. Whole numbers that code rounds to on purpose are not.
    fn is_rounded(&self, term: TermId) -> bool {
        let mut work = vec![term];
        for _ in 0..LOOKED_AT {
            let Some(term) = work.pop() else { return false };
            if self.store.as_ieee_number(term).is_some() {
                continue;
            }
            let View::Apply(op, _) = self.store.view(term) else { continue };
            let operands = operands_of(self.store, term);
            let Some(key) = key_of_term(self.store, term) else {
                if op == TermOp::Select {
                    work.extend(operands.iter().skip(1));
                }
                continue;
            };
            match key.op {
                IeeeOp::Decode | IeeeOp::FromInt | IeeeOp::Integral => {}
                IeeeOp::Neg
                | IeeeOp::Abs
                | IeeeOp::CopySign
                | IeeeOp::Flush
                | IeeeOp::Saturate
                | IeeeOp::Relu
                | IeeeOp::Min
                | IeeeOp::Max
                | IeeeOp::MinNan
                | IeeeOp::MaxNan => work.extend(operands),
                IeeeOp::Add | IeeeOp::Fma if self.rounds_to_whole(key.format, &operands) => {}
                _ => return true,
            }
        }
        false
    }

    /// Whether an addend is a number so large that all sums with it are whole.
    fn rounds_to_whole(&self, format: Format, operands: &[TermId]) -> bool {
        let large = f64::powi(2.0, mantissa_bits(format) as i32);
        let is_large =
            |term: &TermId| self.store.as_ieee_number(*term).is_some_and(|value| value.abs() >= large);
        operands.iter().any(is_large)
    }
}
