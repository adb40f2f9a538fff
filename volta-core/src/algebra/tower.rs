//! Towers of prime fields in which powers of two follow the laws of exponents.
//!
//! A tower is a chain of primes `p₀ = 2·p₁ + 1`, `p₁ = 2·p₂ + 1`, … A number lies in the field of `p₀`, an exponent
//! of two in that of `p₁`, an exponent within an exponent in that of `p₂`. Since 2 has order `p₁` modulo `p₀`,
//! `2^t` depends on `t` modulo `p₁` only: `2^a·2^b = 2^(a + b)` and `2^3 = 8` hold as they do for reals. (`p ≡ 7`
//! modulo 8 makes 2 a square, so its order divides `(p − 1)/2`, which is prime.)

use super::id::mix;
use crate::number::Rational;

/// The number of fields of a tower: exponents may be nested one level less.
pub(super) const LEVELS: usize = 4;

/// A chain of primes, the largest first; `level` is an index into it.
#[derive(Debug)]
pub(super) struct Tower([u64; LEVELS]);

/// Two towers, so that an accident in one is found in the other. All primes are −1 modulo 8·3·5·7·11·13, so that
/// these small primes have square roots, as they do among the reals.
pub(super) const TOWERS: [Tower; 2] = [
    Tower([
        2_305_843_009_330_660_799,
        1_152_921_504_665_330_399,
        576_460_752_332_665_199,
        288_230_376_166_332_599,
    ]),
    Tower([
        3_458_764_518_122_833_919,
        1_729_382_259_061_416_959,
        864_691_129_530_708_479,
        432_345_564_765_354_239,
    ]),
];

impl Tower {
    fn prime(&self, level: usize) -> u64 {
        self.0[level]
    }

    /// `a + b`
    pub(super) fn add(&self, level: usize, a: u64, b: u64) -> u64 {
        (a + b) % self.prime(level)
    }

    /// `−a`
    pub(super) fn neg(&self, level: usize, a: u64) -> u64 {
        (self.prime(level) - a) % self.prime(level)
    }

    /// `a · b`
    pub(super) fn mul(&self, level: usize, a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(self.prime(level))) as u64
    }

    /// `base^exponent`
    fn pow(&self, level: usize, mut base: u64, mut exponent: u64) -> u64 {
        let mut product = 1;
        while exponent > 0 {
            if exponent & 1 == 1 {
                product = self.mul(level, product, base);
            }
            base = self.mul(level, base, base);
            exponent >>= 1;
        }
        product
    }

    /// `base^exponent`, where it has a value.
    pub(super) fn power(&self, level: usize, base: u64, exponent: i32) -> Option<u64> {
        let base = if exponent < 0 { self.inverse(level, base)? } else { base };
        Some(self.pow(level, base, u64::from(exponent.unsigned_abs())))
    }

    /// `1/a` for `a ≠ 0`
    pub(super) fn inverse(&self, level: usize, a: u64) -> Option<u64> {
        (a != 0).then(|| self.pow(level, a, self.prime(level) - 2))
    }

    /// The square root of a square that is a square itself, which is multiplicative; `None` for a non-square.
    pub(super) fn root(&self, level: usize, a: u64) -> Option<u64> {
        let root = self.pow(level, a, (self.prime(level) + 1) / 4);
        (self.mul(level, root, root) == a).then_some(root)
    }

    /// A multiplicative extension of [`Tower::root`] to all numbers. For `−a` it is the negative of that for `a`:
    /// one of the two is a square.
    pub(super) fn any_root(&self, level: usize, a: u64) -> u64 {
        // `a^((p − 1)/2)` is 1 for squares and −1 for non-squares.
        self.pow(level, a, (3 * self.prime(level) - 1) / 4)
    }

    /// A point on the unit circle: `sin t` or `cos t`, with `slope` for `tan (t/2)`; `None` if the slope is a root
    /// of −1.
    pub(super) fn on_circle(&self, level: usize, slope: u64, sine: bool) -> Option<u64> {
        let square = self.mul(level, slope, slope);
        let above =
            if sine { self.add(level, slope, slope) } else { self.add(level, 1, self.neg(level, square)) };
        Some(self.mul(level, above, self.inverse(level, self.add(level, 1, square))?))
    }

    /// `2^exponent` for an exponent that lies one level below.
    pub(super) fn power_of_two(&self, level: usize, exponent: u64) -> u64 {
        self.pow(level, 2, exponent)
    }

    /// A rational number; `None` if the prime divides its denominator.
    pub(super) fn rational(&self, level: usize, value: &Rational) -> Option<u64> {
        let prime = self.prime(level);
        let (num, den) = match value.to_small_parts() {
            Some((num, den)) => (i128::from(num).rem_euclid(i128::from(prime)) as u64, den % prime),
            None => {
                let (num, den) = value.to_parts();
                let rest = |value: rug::Integer| (value.modulo(&rug::Integer::from(prime))).to_u64();
                (rest(num)?, rest(den)?)
            }
        };
        if den == 1 {
            return Some(num);
        }
        Some(self.mul(level, num, self.inverse(level, den)?))
    }

    /// A pseudo-random number that depends on all of `seed`.
    pub(super) fn random(&self, level: usize, seed: u128) -> u64 {
        let bits = mix(mix(seed, level as u128), u128::from(self.prime(level)));
        ((bits >> 32) % u128::from(self.prime(level))) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn towers_are_chains_of_primes_in_which_two_has_the_next_prime_as_its_order() {
        for tower in &TOWERS {
            for level in 0..LEVELS {
                let prime = rug::Integer::from(tower.prime(level));
                assert_ne!(prime.is_probably_prime(40), rug::integer::IsPrime::No);
                assert_eq!(prime.mod_u(8 * 3 * 5 * 7 * 11 * 13), 8 * 3 * 5 * 7 * 11 * 13 - 1);
                for square in [2, 3, 5, 6, 7, 11, 13] {
                    assert!(tower.root(level, square).is_some(), "√{square} at level {level}");
                }
            }
            for level in 1..LEVELS {
                assert_eq!(tower.prime(level - 1), 2 * tower.prime(level) + 1);
                assert_eq!(tower.power_of_two(level - 1, tower.prime(level)), 1);
            }
        }
        assert_ne!(TOWERS[0].prime(0), TOWERS[1].prime(0));
    }

    proptest! {
        #[test]
        fn powers_of_two_take_sums_to_products(a in any::<u128>(), b in any::<u128>(), shift in 0i64..40, level in 0..LEVELS - 1) {
            for tower in &TOWERS {
                let (a, b) = (tower.random(level + 1, a), tower.random(level + 1, b));
                let sum = tower.power_of_two(level, tower.add(level + 1, a, b));
                prop_assert_eq!(sum, tower.mul(level, tower.power_of_two(level, a), tower.power_of_two(level, b)));
                let less = tower.power_of_two(level, tower.neg(level + 1, a));
                prop_assert_eq!(Some(less), tower.inverse(level, tower.power_of_two(level, a)));
                let half = tower.rational(level + 1, &Rational::HALF).unwrap();
                let half = tower.power_of_two(level, tower.mul(level + 1, half, a));
                prop_assert_eq!(Some(half), tower.root(level, tower.power_of_two(level, a)));
                let whole = tower.rational(level + 1, &Rational::from_integer(shift)).unwrap();
                prop_assert_eq!(tower.power_of_two(level, whole), 1u64 << shift);
            }
        }

        #[test]
        fn roots_of_products_are_products_of_roots(a in any::<u128>(), b in any::<u128>(), level in 0..LEVELS) {
            for tower in &TOWERS {
                let (a, b) = (tower.random(level, a), tower.random(level, b));
                let root = |a: u64| tower.any_root(level, a);
                prop_assert_eq!(root(tower.mul(level, a, b)), tower.mul(level, root(a), root(b)));
                prop_assert_eq!(root(tower.neg(level, a)), tower.neg(level, root(a)));
                if let Some(known) = tower.root(level, a) {
                    prop_assert_eq!(root(a), known);
                }
            }
        }

        #[test]
        fn rationals_go_to_fields(a in -50i64..50, b in 1i64..50, c in -50i64..50, d in 1i64..50, level in 0..LEVELS) {
            let (left, right) = (Rational::from_ratio(a, b), Rational::from_ratio(c, d));
            for tower in &TOWERS {
                let value = |value: &Rational| tower.rational(level, value).unwrap();
                prop_assert_eq!(value(&(&left * &right)), tower.mul(level, value(&left), value(&right)));
                prop_assert_eq!(value(&(&left + &right)), tower.add(level, value(&left), value(&right)));
            }
        }
    }
}
