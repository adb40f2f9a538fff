//! Enclosures with rational bounds: sums, products, quotients and rounded numbers are exact, however large.

use std::cmp::Ordering;

use super::Rational;
use super::interval::{Enclosure, Function, Towards, Wide};

/// An enclosure with rational bounds, of at most [`MAX_BITS`] bits each.
///
/// Invariant: `lo ≤ hi`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fraction {
    lo: Rational,
    hi: Rational,
}

/// Enclosures with longer bounds are dropped, like those out of a narrower type's range.
const MAX_BITS: u64 = 1 << 13;
/// The precision at which functions with irrational values are enclosed.
const PRECISION: u32 = 320;

impl Fraction {
    fn new(lo: Rational, hi: Rational) -> Option<Fraction> {
        let fits = lo.bit_length() <= MAX_BITS && hi.bit_length() <= MAX_BITS && lo <= hi;
        fits.then_some(Fraction { lo, hi })
    }

    /// The value, if it is known exactly.
    pub fn point(&self) -> Option<&Rational> {
        self.is_point().then_some(&self.lo)
    }

    /// Encloses a function through a type that implements it.
    fn through(&self, function: impl FnOnce(&Wide) -> Option<Wide>) -> Option<Fraction> {
        let result = function(&Wide::between(&self.lo, &self.hi, PRECISION)?)?;
        let (low, high) = result.exponents();
        if low.abs().max(high.abs()) > MAX_BITS as i32 / 2 {
            return None;
        }
        let (lo, hi) = result.bounds();
        Fraction::new(lo, hi)
    }
}

impl Enclosure for Fraction {
    fn exact(value: &Rational, _precision: u32) -> Option<Fraction> {
        Fraction::new(value.clone(), value.clone())
    }

    fn hull(&self, other: &Fraction) -> Fraction {
        let (lo, hi) = (self.lo.clone().min(other.lo.clone()), self.hi.clone().max(other.hi.clone()));
        Fraction { lo, hi }
    }

    fn add(&self, other: &Fraction) -> Option<Fraction> {
        Fraction::new(&self.lo + &other.lo, &self.hi + &other.hi)
    }

    fn sub(&self, other: &Fraction) -> Option<Fraction> {
        Fraction::new(&self.lo - &other.hi, &self.hi - &other.lo)
    }

    fn mul(&self, other: &Fraction) -> Option<Fraction> {
        let first = &self.lo * &other.lo;
        if self.is_point() && other.is_point() {
            return Fraction::new(first.clone(), first);
        }
        let others = [&self.lo * &other.hi, &self.hi * &other.lo, &self.hi * &other.hi];
        let (mut lo, mut hi) = (first.clone(), first);
        for corner in others {
            lo = lo.min(corner.clone());
            hi = hi.max(corner);
        }
        Fraction::new(lo, hi)
    }

    fn div(&self, other: &Fraction) -> Option<Fraction> {
        if other.sign().is_none_or(Ordering::is_eq) {
            return None;
        }
        self.mul(&Fraction { lo: other.hi.recip()?, hi: other.lo.recip()? })
    }

    fn neg(&self) -> Fraction {
        Fraction { lo: -&self.hi, hi: -&self.lo }
    }

    fn abs(&self) -> Fraction {
        match self.signs() {
            (Ordering::Greater | Ordering::Equal, _) => self.clone(),
            (Ordering::Less, Ordering::Less | Ordering::Equal) => self.neg(),
            (Ordering::Less, Ordering::Greater) => {
                Fraction { lo: Rational::ZERO, hi: (-&self.lo).max(self.hi.clone()) }
            }
        }
    }

    fn max(&self, other: &Fraction) -> Fraction {
        let greater = |a: &Rational, b: &Rational| a.max(b).clone();
        Fraction { lo: greater(&self.lo, &other.lo), hi: greater(&self.hi, &other.hi) }
    }

    fn min(&self, other: &Fraction) -> Fraction {
        let less = |a: &Rational, b: &Rational| a.min(b).clone();
        Fraction { lo: less(&self.lo, &other.lo), hi: less(&self.hi, &other.hi) }
    }

    fn exp2(&self) -> Option<Fraction> {
        self.through(Wide::exp2)
    }

    fn apply(&self, function: Function) -> Option<Fraction> {
        if let Function::Round(towards) = function {
            return Some(self.to_integer(towards));
        }
        if function == Function::Saturate {
            return self.saturate();
        }
        // Other functions have irrational values.
        self.through(|wide| wide.apply(function))
    }

    fn to_integer(&self, towards: Towards) -> Fraction {
        Fraction { lo: towards.round(&self.lo), hi: towards.round(&self.hi) }
    }

    fn signs(&self) -> (Ordering, Ordering) {
        (self.lo.signum().cmp(&0), self.hi.signum().cmp(&0))
    }

    fn is_below(&self, other: &Fraction) -> bool {
        self.hi < other.lo
    }

    fn is_at_most(&self, other: &Fraction) -> bool {
        self.hi <= other.lo
    }

    fn is_point(&self) -> bool {
        self.lo == self.hi
    }

    fn bounds(&self) -> (Rational, Rational) {
        (self.lo.clone(), self.hi.clone())
    }

    fn exponents(&self) -> (i32, i32) {
        let exponent = |bound: &Rational| {
            if bound.is_zero() {
                return 0;
            }
            let (num, den) = bound.to_parts();
            num.significant_bits() as i32 - den.significant_bits() as i32
        };
        (exponent(&self.lo), exponent(&self.hi))
    }
}
