//! Functions of the mathematical library whose code a term is: their error is the documented one, and they pass on that
//! of their operand.

use super::approximate::ErrorBound;
use super::error::{Errors, Outcome};
use super::set::{FloatSet, least};
use super::{Analysis, TooMany};
use crate::number::format::{Format, mantissa_bits};
use crate::number::interval::{Enclosure, Function, Narrow};
use crate::term::{TermId, least_normal};

/// How a function passes on the error of its operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Passes {
    /// Its slope is at most this.
    Slope(f64),
    /// Its slope is at most this, it is odd, and concave where it is positive: no relative error becomes larger.
    Odd(f64),
    /// The same of a function that is so at numbers that are not negative only.
    FromZero(f64),
    /// It is the logarithm times this.
    Logarithm(f64),
}

/// A function of the library.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownFunction {
    /// What is assumed of it.
    pub(crate) claim: String,
    /// Its largest error in units in the last place of an f32.
    pub(crate) ulps: f64,
    /// A distance below which its error may be instead.
    pub(crate) or_below: f64,
    /// How it passes on errors.
    pub(crate) passes: Passes,
    /// The real function, times a number, where that bounds its values.
    pub(crate) real: Option<(Function, f64)>,
}

impl KnownFunction {
    /// The set of its values; `None` where it may have none, or is not bounded by the real function.
    pub(super) fn apply(&self, operand: FloatSet) -> Option<FloatSet> {
        let (real, scale) = self.real?;
        let [low, high] = operand.finite.filter(|_| operand.is_finite())?;
        if real == Function::Log2 && low < least_normal(Format::F32) {
            return None;
        }
        let [down, up] = Narrow::new(low, high)?.apply(real)?.ends();
        let margin =
            |x: f64| x.abs() * (self.ulps + 1.0) * unit() + self.or_below + least_normal(Format::F32);
        let (down, up) = (down * scale, up * scale);
        Some(FloatSet::between(down - margin(down), up + margin(up)))
    }
}

/// A unit in the last place of one.
fn unit() -> f64 {
    f64::powi(2.0, -(mantissa_bits(Format::F32) as i32))
}

/// At most so many dominators of a term are tried as the operand of a function.
const DOMINATORS: usize = 6;

/// At most so many terms are tried.
const TRIES: usize = 1 << 14;

impl Analysis<'_, '_> {
    /// The error of a term that is the code of a function of one of its dominators.
    pub(super) fn of_known_function(
        &mut self,
        term: TermId,
        errors: &mut Errors,
    ) -> Result<Option<Outcome>, TooMany> {
        if errors.tries >= TRIES {
            return Ok(None);
        }
        errors.tries += 1;
        let mut at = self.dominated(term).and_then(|own| own.by);
        for _ in 0..DOMINATORS {
            let Some(base) = at else { break };
            let cone = super::cone::Cone::of(self.store, term, base, self.effort)?;
            if let Some(known) = cone.and_then(|cone| self.cones.function(&cone)) {
                return Ok(self.error_of_known(term, base, known, errors));
            }
            at = self.dominated(base).and_then(|own| own.by);
        }
        Ok(None)
    }

    fn error_of_known(
        &self,
        term: TermId,
        base: TermId,
        known: &KnownFunction,
        errors: &Errors,
    ) -> Option<Outcome> {
        let of_operand = match errors.of(base)? {
            Ok(error) => *error,
            Err(why) => return Some(Err(why.clone())),
        };
        let set = self.erring_value(term, of_operand)?.set;
        let operand = self.erring_value(base, of_operand)?;
        if !set.is_finite() || !operand.set.is_finite() {
            return None;
        }
        let [low, _] = operand.set.finite?;
        let ErrorBound { relative, absolute } = of_operand;
        let passed = match known.passes {
            Passes::Slope(slope) => ErrorBound::of(0.0, slope * operand.distance().ok()?),
            // The exact operand may be negative by what the computed one is off, where the slope is larger.
            Passes::FromZero(slope) if low >= 0.0 && absolute < 0.5 => {
                ErrorBound::of(relative, slope * absolute / (1.0 - 2.0 * absolute))
            }
            Passes::Odd(slope) => ErrorBound::of(relative, slope * absolute),
            Passes::Logarithm(scale) => {
                let ratio = operand.ratio().ok()?;
                if operand.least().ok()? <= 0.0 {
                    return None;
                }
                ErrorBound::of(0.0, -(-ratio).ln_1p() * scale)
            }
            Passes::FromZero(_) => return None,
        };
        errors.of_library.borrow_mut().insert(known.claim.clone());
        let own = known.ulps * unit();
        let smallest = set.finite.is_some_and(|[low, high]| {
            low < 2.0 * least_normal(Format::F32) && high > -2.0 * least_normal(Format::F32)
        });
        let tiny =
            if smallest { 2.0 * least_normal(Format::F32) + known.ulps * least(Format::F32) } else { 0.0 };
        let relative = passed.relative + own * (1.0 + passed.relative);
        let absolute = passed.absolute * (1.0 + own) + known.or_below + tiny;
        Some(Ok(ErrorBound::of(relative, absolute)))
    }
}
