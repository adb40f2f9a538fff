//! The code of `expf`, in whatever context: recognised by its shape, with its documented error.

use super::approximate::ErrorBound;
use super::error::{EXPONENT, Erring, Errors, INFINITE, LARGE, READS, Unbounded, rounded, sum};
use super::{Analysis, TooMany};
use crate::bits::form::{key_of_term, operands_of};
use crate::number::format::{Format, Rounding};
use crate::term::{IeeeOp, TermId, least_normal};

/// What is assumed of it.
const EXPONENTIAL: &str =
    "`expf` is within 2 units in the last place of the exponential, as CUDA documents (B3)";

impl Analysis<'_, '_> {
    /// The code of `expf` that a term ends, as a product or as part of a fused one: whether of the negated operand, the
    /// operand, and the addend.
    pub(super) fn exponential(
        &mut self,
        term: TermId,
    ) -> Result<Option<(bool, TermId, Option<TermId>)>, TooMany> {
        let Some(key) = key_of_term(self.store, term) else { return Ok(None) };
        if key.format != Format::F32 || !matches!(key.op, IeeeOp::Mul | IeeeOp::Fma) {
            return Ok(None);
        }
        let operands = operands_of(self.store, term);
        let [a, b, rest @ ..] = operands.as_slice() else { return Ok(None) };
        for (power, scale) in [(*a, *b), (*b, *a)] {
            if let Some((negated, base)) = self.exponential_of(power, scale)? {
                return Ok(Some((negated, base, rest.first().copied())));
            }
        }
        Ok(None)
    }

    fn exponential_of(&mut self, power: TermId, scale: TermId) -> Result<Option<(bool, TermId)>, TooMany> {
        let shape = self.exponent(power, scale);
        let Some((negated, base, magic)) = shape else { return Ok(None) };
        // The scale is the power of two of each of the whole numbers that there are.
        let points: Vec<(f64, f64)> =
            (0..=252).map(|at| (12_582_913.0 + f64::from(at), f64::powi(2.0, at - 126))).collect();
        Ok(self.is_function(scale, magic, &points)?.then_some((negated, base)))
    }

    /// The operand of the exponential, and the sum whose low bits are the exponent of the scale.
    fn exponent(&self, power: TermId, scale: TermId) -> Option<(bool, TermId, TermId)> {
        let store = self.store;
        let keyed = |term: TermId, op: IeeeOp, rounding: Rounding| {
            let key = key_of_term(store, term)?;
            (key.op == op && key.format == Format::F32 && key.rounding == rounding)
                .then(|| operands_of(store, term))
        };
        let number = |term: TermId| store.as_ieee_number(term);
        let is = |term: TermId, bits: u32| {
            number(term) == Some(f64::from_bits(f64::from(f32::from_bits(bits)).to_bits()))
        };
        // The factor of a fused product beside a literal, up to its sign, and the addend.
        let scaled = |term: TermId, bits: u32, rounding: Rounding| {
            let [a, b, c] = *keyed(term, IeeeOp::Fma, rounding)?.as_slice() else { return None };
            let sign = 1 << 31;
            for (x, literal) in [(a, b), (b, a)] {
                for negated in [false, true] {
                    if is(literal, if negated { bits ^ sign } else { bits }) {
                        return Some((negated, x, c));
                    }
                }
            }
            None
        };
        let nearest = Rounding::Nearest;
        key_of_term(store, scale).filter(|key| key.op == IeeeOp::Decode && key.format == Format::F32)?;
        let [exponent] = *keyed(power, IeeeOp::Ex2, nearest)?.as_slice() else { return None };
        let (negated, base, coarse) = scaled(exponent, 0x32A5_7060, nearest)?;
        let (again, x, minus) = scaled(coarse, 0x3FB8_AA3B, nearest)?;
        let [whole] = *keyed(minus, IeeeOp::Neg, nearest)?.as_slice() else { return None };
        let [p, q] = *keyed(whole, IeeeOp::Add, nearest)?.as_slice() else { return None };
        let magic = if is(q, 0xCB40_007F) {
            p
        } else if is(p, 0xCB40_007F) {
            q
        } else {
            return None;
        };
        let (positive, clamped, low) = scaled(magic, 0x437C_0000, Rounding::Down)?;
        let inner = key_of_term(store, clamped).filter(|key| key.op == IeeeOp::Saturate)?;
        let [unclamped] = *operands_of(store, clamped).as_slice() else { return None };
        let (third, y, half) = scaled(unclamped, 0x3BBB_989D, nearest)?;
        let same = base == x && base == y && negated == again && negated == third;
        (same && !positive && inner.format == Format::F32 && is(low, 0x4B40_0001) && is(half, 0x3F00_0000))
            .then_some((negated, base, magic))
    }

    /// The error of `expf`: at most two units in the last place, by its documentation, and that of its operand.
    pub(super) fn error_of_exponential(
        &self,
        term: TermId,
        negated: bool,
        base: TermId,
        rest: Option<TermId>,
        errors: &Errors,
    ) -> Result<ErrorBound, Result<Unbounded, &'static str>> {
        let known = |of: TermId| -> Result<Erring, Result<Unbounded, &'static str>> {
            let error = errors.of(of).cloned().ok_or(Err(READS))?.map_err(Ok)?;
            let set = self.value_of(of).and_then(|known| known.float()).ok_or(Err(READS))?;
            Ok(Erring { set, error, bits: 24 })
        };
        let mut x = known(base)?;
        errors.of_library.borrow_mut().insert(EXPONENTIAL.to_owned());
        // The exponential of −∞ is zero on both sides.
        (x.set.minus, x.set.plus) = (x.set.minus && negated, x.set.plus && !negated);
        let distance = x.distance().map_err(Err)?;
        if distance > 0.25 || !x.set.is_finite() {
            return Err(Err(EXPONENT));
        }
        let Some(key) = key_of_term(self.store, term) else { return Err(Err(READS)) };
        let [low, high] = x.exact().unwrap_or([0.0; 2]);
        let [low, high] = if negated { [-high, -low] } else { [low, high] };
        let (low, high) = ((low - 1e-9).exp() * 0.999, (high + 1e-9).exp() * 1.001);
        // Two units of the result, and half of one where the product is not rounded alone.
        let ulps = if rest.is_some() { 2.5 } else { 2.0 };
        let passed = distance.exp_m1();
        let relative = passed + ulps * f64::powi(2.0, -23) * (1.0 + passed);
        let low = if x.set.minus || x.set.plus || x.set.finite.is_none() { 0.0 } else { low };
        let tiny = if low > 4.0 * least_normal(Format::F32) { 0.0 } else { 4.0 * least_normal(Format::F32) };
        let own = ErrorBound::of(relative, tiny);
        let Some(rest) = rest else { return Ok(own) };
        let c = known(rest)?;
        let set = self.value_of(term).and_then(|known| known.float()).ok_or(Err(READS))?;
        if !c.set.is_finite() {
            return Err(Err(INFINITE));
        }
        let ends = c.exact().ok_or(Err(LARGE))?;
        Ok(rounded(key, sum(own, [0.0, high.max(low)], c.error, ends), set, true))
    }
}
