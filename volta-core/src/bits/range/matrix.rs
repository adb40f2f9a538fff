//! Products of matrices by `mma`: neither the order of their sums nor how these are rounded is documented, only that they
//! have at least the precision of the accumulator.
//!
//! A product of depth `k` is a chain of `k` terms, each of which adds a product to the terms before it. What the
//! architecture computes is within `2·k·u·(|c| + Σ|a·b|)` of the exact result, with `u` one unit in the last place of
//! the accumulator: in any order, rounded in any direction, with addends that are cut off at the last place of the
//! largest one. The terms before the last stand for no value of the machine; each has its share of that error. Since the
//! addend is no larger than a partial sum and the products in it together, twice the share of a product, and one of the
//! partial sum, suffice in each term.

use super::set::{FloatSet, Raised, greatest};
use crate::number::format::{Format, mantissa_bits};
use crate::term::IeeeKey;

/// A step of a product of matrices whose errors are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixStep {
    format: Format,
    depth: f64,
}

impl MatrixStep {
    /// `None` where the factors are of other formats than f16 and bf16, whose products are exact in an f32.
    pub(super) fn of(key: IeeeKey) -> Option<MatrixStep> {
        let exact = |number: u32| [Format::F16, Format::Bf16].iter().any(|format| *format as u32 == number);
        let accumulates = matches!(key.format, Format::F16 | Format::F32);
        let depth = f64::from(key.detail >> 21 & 2047);
        (accumulates && exact(key.detail & 15) && exact(key.detail >> 4 & 15) && depth >= 1.0)
            .then_some(MatrixStep { format: key.format, depth })
    }

    /// The share of a step in the error, where the product and the sum before it have at most these magnitudes.
    pub(super) fn share(self, product: f64, before: f64) -> f64 {
        let unit = f64::powi(2.0, -(mantissa_bits(self.format) as i32));
        2.5 * unit * ((2.0 * self.depth + 2.0) * product + before) + least_of(self.format)
    }

    /// The set of sums, and whether one of them, in some order, may be too large.
    pub(super) fn apply(self, [a, b, before]: [FloatSet; 3]) -> Option<(FloatSet, Raised)> {
        if !a.is_finite() || !b.is_finite() || !before.is_finite() {
            return None;
        }
        let ([a_low, a_high], [b_low, b_high], [low, high]) = (a.finite?, b.finite?, before.finite?);
        let all = [a_low * b_low, a_low * b_high, a_high * b_low, a_high * b_high];
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (product, magnitude) = (most.max(-least), high.max(-low));
        // No partial sum is more than the addend and all products together.
        let limit = greatest(self.format) / 4.0;
        if product * self.depth > limit || magnitude > limit {
            return None;
        }
        let share = self.share(product, magnitude);
        Some((
            FloatSet::between((low + least - share).next_down(), (high + most + share).next_up()),
            Raised::NONE,
        ))
    }
}

/// What results below the normal numbers may lose.
fn least_of(format: Format) -> f64 {
    crate::term::least_normal(format) * f64::powi(2.0, -(mantissa_bits(format) as i32))
}
