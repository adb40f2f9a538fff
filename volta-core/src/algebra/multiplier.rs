//! Multipliers by which compilers divide: the simplest quotient that rounds as a multiplier does, over a range of integers.

use crate::number::Rational;

/// Fractions are compared for numbers up to this magnitude, whose products fit machine words.
const MAX_SIZE: i128 = 1 << 62;

/// The simplest `c'` with `⌊c'·n⌋ = ⌊c·n⌋` for all integers `n` from `low` to `high`; `0 < c < 1`.
pub(super) fn simplest_factor(factor: &Rational, low: i128, high: i128) -> Option<Rational> {
    if low < -MAX_SIZE || high > MAX_SIZE || low > high {
        return None;
    }
    let (num, den) = factor.to_parts();
    let factor = (num.to_i128()?, den.to_i128()?);
    if factor.0 <= 0 || factor.0 >= factor.1 {
        return None;
    }
    // From n > 0: the largest fraction up to c, and the least above it, with denominators up to the range's end;
    // from n < 0: the largest below c, and the least from c on.
    let (at_most, above) = neighbours(factor, high.max(0), true);
    let (below, at_least) = neighbours(factor, (-low).max(0), false);
    let less = |a: (i128, i128), b: (i128, i128)| compare(a, b).is_lt();
    // From `at_most` on, and above `below`; below `above`, and up to `at_least`.
    let (from, from_included) = if less(below, at_most) { (at_most, true) } else { (below, false) };
    let (to, to_included) = if less(at_least, above) { (at_least, true) } else { (above, false) };
    let (num, den) = simplest_between((from, from_included), (to, to_included))?;
    Some(rug::Rational::from((num, den)).into())
}

/// Orders fractions with non-negative denominators; `1/0` is the largest.
fn compare(a: (i128, i128), b: (i128, i128)) -> std::cmp::Ordering {
    let wide = |x: i128, y: i128| rug::Integer::from(x) * y;
    wide(a.0, b.1).cmp(&wide(b.0, a.1))
}

/// The neighbours of a fraction among those with denominators up to `size`: if the fraction itself is among them,
/// it is the lower one if `from_below`, and otherwise the upper one. For `size = 0`: 0 and ∞.
fn neighbours(factor: (i128, i128), size: i128, from_below: bool) -> ((i128, i128), (i128, i128)) {
    let (mut low, mut high) = ((0i128, 1i128), (1i128, 0i128));
    if size == 0 {
        return (low, high);
    }
    // Down the Stern-Brocot tree, with all steps in one direction taken together.
    loop {
        // low + k·high ≤ c (or < c), while the denominator stays within the size.
        let goes_up = |k: i128| {
            let next = (low.0 + k * high.0, low.1 + k * high.1);
            let order = compare(next, factor);
            next.1 <= size && if from_below { order.is_le() } else { order.is_lt() }
        };
        let up = most(goes_up);
        low = (low.0 + up * high.0, low.1 + up * high.1);
        let goes_down = |k: i128| {
            let next = (high.0 + k * low.0, high.1 + k * low.1);
            let order = compare(next, factor);
            next.1 <= size && if from_below { order.is_gt() } else { order.is_ge() }
        };
        let down = most(goes_down);
        high = (high.0 + down * low.0, high.1 + down * low.1);
        if up == 0 && down == 0 {
            return (low, high);
        }
    }
}

/// The largest `k ≥ 0` with a property that holds exactly up to some number.
fn most(holds: impl Fn(i128) -> bool) -> i128 {
    let (mut known, mut step) = (0, 1);
    while step <= MAX_SIZE && holds(known + step) {
        known += step;
        step *= 2;
    }
    while step > 0 {
        if step <= MAX_SIZE && holds(known + step) {
            known += step;
        }
        step /= 2;
    }
    known
}

/// The fraction with the least denominator in an interval, whose ends are included or not.
fn simplest_between(
    (low, low_included): ((i128, i128), bool),
    (high, high_included): ((i128, i128), bool),
) -> Option<(i128, i128)> {
    let too_small = |at: (i128, i128)| {
        let order = compare(at, low);
        order.is_lt() || order.is_eq() && !low_included
    };
    let too_large = |at: (i128, i128)| {
        let order = compare(at, high);
        order.is_gt() || order.is_eq() && !high_included
    };
    let (mut left, mut right) = ((0i128, 1i128), (1i128, 0i128));
    for _ in 0..512 {
        let middle = (left.0 + right.0, left.1 + right.1);
        if middle.1 > 4 * MAX_SIZE || middle.0 > 4 * MAX_SIZE {
            return None;
        }
        if too_small(middle) {
            let steps = most(|k| too_small((left.0 + k * right.0, left.1 + k * right.1)));
            left = (left.0 + steps * right.0, left.1 + steps * right.1);
        } else if too_large(middle) {
            let steps = most(|k| too_large((right.0 + k * left.0, right.1 + k * left.1)));
            right = (right.0 + steps * left.0, right.1 + steps * left.1);
        } else {
            return Some(middle);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_simpler_factor_gives_the_same_floors(num in 1i64..5000, den in 2i64..5000, low in -300i128..1, high in 0i128..300) {
            prop_assume!(num < den);
            let factor = Rational::from_ratio(num, den);
            let simple = simplest_factor(&factor, low, high).expect("small numbers");
            for n in low..=high {
                let n = Rational::from_i128(n);
                prop_assert_eq!((&factor * &n).floor(), (&simple * &n).floor(), "n = {}", n);
            }
            // No simpler factor has the same floors.
            let (_, denominator) = simple.to_small_parts().expect("small");
            for den in 1..denominator.min(200) {
                for num in 0..=den {
                    let other = Rational::from_ratio(num as i64, den as i64);
                    let same = (low..=high).all(|n| {
                        let n = Rational::from_i128(n);
                        (&factor * &n).floor() == (&other * &n).floor()
                    });
                    prop_assert!(!same || other.is_zero(), "{other} is simpler than {simple}");
                }
            }
        }
    }

    #[test]
    fn multipliers_of_compilers_are_divisions() {
        let simple = |multiplier: i64, shift: i32, high| {
            let factor = Rational::from_dyadic(multiplier, -shift);
            simplest_factor(&factor, 0, high).map(|factor| factor.to_string())
        };
        let words = (1 << 32) - 1;
        assert_eq!(simple(0xaaaa_aaab, 33, words).as_deref(), Some("1/3"));
        assert_eq!(simple(0xcccc_cccd, 34, words).as_deref(), Some("1/5"));
        // One less is another function.
        assert_ne!(simple(0xaaaa_aaaa, 33, words).as_deref(), Some("1/3"));
        // A shorter magic number suffices for bytes.
        assert_eq!(simple(171, 9, 255).as_deref(), Some("1/3"));
    }
}
