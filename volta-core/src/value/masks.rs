//! Large finite mask values, read as minus infinity where the case says so (rule V3).

use crate::base::assumption::Assumption;
use crate::case::Rules;
use crate::number::format::{Format, decode};
use crate::number::{Extended, Rational, Rounded};
use crate::term::Constant;
use std::collections::BTreeSet;

/// How float constants are read.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    /// Numbers up to this one are minus infinity.
    below: Option<Rational>,
    /// The numbers that were read so.
    read: BTreeSet<Rational>,
}

impl Masks {
    pub(crate) fn new(rules: &Rules) -> Masks {
        Masks { below: rules.mask_below.map(Rational::from_i128), ..Masks::default() }
    }

    /// The constant that a bit pattern encodes in a format; `None` for NaN. For hardware a mask is a finite number, so
    /// a decision that rests on it must hold for both readings (rule V10).
    pub(crate) fn constant(&mut self, format: Format, bits: u64) -> Option<Constant> {
        let exact = decode(format, bits).extended()?;
        let rounded = Rounded::exactly(format, bits);
        match exact {
            Extended::Finite(number) if self.is_mask(format, &number) => {
                self.read.insert(number);
                Some(Constant { exact: Extended::NegInf, literal: None, rounded })
            }
            exact @ (Extended::Finite(_) | Extended::PosInf | Extended::NegInf) => {
                Some(Constant { exact, literal: Some((format, bits)), rounded })
            }
        }
    }

    fn is_mask(&self, format: Format, number: &Rational) -> bool {
        self.below.as_ref().is_some_and(|below| number <= below) && !rounds(format, number)
    }

    /// Adds the numbers that another CTA read.
    pub(crate) fn merge(&mut self, other: Masks) {
        self.read.extend(other.read);
    }

    /// One assumption for each number.
    pub(crate) fn assumptions(&self) -> impl Iterator<Item = Assumption> {
        self.read
            .iter()
            .map(|number| Assumption::relied(format!("{number} is read as -inf (`mask_below`, V3)")))
    }
}

/// How far numbers may lie from 2²³ and 1.5 · 2²³ (in f64, 2⁵² and 1.5 · 2⁵²) that compilers add in order to round to
/// an integer and get at its bits.
const NEAR: i64 = 1024;

/// Whether a negative number is one that compilers add in order to round to an integer, such as -12583039 in `expf`,
/// rather than a mask.
fn rounds(format: Format, number: &Rational) -> bool {
    let digits = match format {
        Format::F32 | Format::Tf32 => 23,
        Format::F64 => 52,
        Format::F16 | Format::Bf16 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => return false,
    };
    let power = Rational::power_of_two(digits);
    let half = Rational::power_of_two(digits - 1);
    [power.clone(), &power + &half]
        .iter()
        .any(|center| (&number.abs() - center).abs() <= Rational::from_integer(NEAR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_above_the_bound_are_masks_unless_they_round() {
        let rules = Rules { mask_below: Some(-10_000), ..Rules::default() };
        let mut masks = Masks::new(&rules);
        let mut exact =
            |value: f32| masks.constant(Format::F32, value.to_bits().into()).map(|constant| constant.exact);
        for mask in [-1e4, -1e5, -1e7, -1e9, -65504.0, f32::MIN] {
            assert_eq!(exact(mask), Some(Extended::NegInf), "{mask}");
        }
        for number in [-9999.0, 0.0, 1e9, -12_583_039.0, -12_582_912.0, -8_388_608.0, -8_388_736.0f32] {
            let finite = exact(number).and_then(|exact| exact.finite().cloned());
            assert_eq!(finite, Some(Rational::from_integer(number as i64)), "{number}");
        }
        assert_eq!(exact(f32::NAN), None);
        assert_eq!(masks.assumptions().count(), 6);
        let magic = -6_755_399_441_055_744.0f64;
        assert!(masks.constant(Format::F64, magic.to_bits()).is_some_and(|one| one.exact.finite().is_some()));
        let off = Masks::default().constant(Format::F32, f32::MIN.to_bits().into());
        assert!(off.is_some_and(|constant| constant.exact.finite().is_some()));
    }
}
