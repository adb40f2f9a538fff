//! The number that an attribute leaves open, `family(rows = any)`, and what is computed from it.
//!
//! The attribute's expressions are Rust: they compute with a [`Size`] as they do with an integer, at one size, or at
//! all sizes that are a period apart, in the arithmetic of `volta.toml`.

use std::cell::Cell;
use std::ops::{Add, Div, Mul, Rem, Sub};

use volta_core::number::Rational;

use crate::manifest::{Even, Quantity, Unequal};

/// A number at sizes that are one period after the other: what it is at the first, and what is added each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    first: i128,
    step: i128,
    uneven: Option<Uneven>,
}

/// Why a number does not grow by the same amount each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Uneven {
    /// It does over so many times the period.
    Multiple(u64),
    /// It does not over any.
    Never,
}

thread_local! {
    /// The worst of the numbers that have been used by this thread: expressions are turned into numbers where nothing
    /// else is at hand.
    static USED: Cell<Option<Uneven>> = const { Cell::new(None) };
}

/// Why the numbers that have been used since the last call do not all grow evenly.
pub(crate) fn taken() -> Option<Uneven> {
    USED.take()
}

impl Size {
    /// One size.
    pub(crate) fn of(size: u64) -> Size {
        Size { first: size.into(), step: 0, uneven: None }
    }

    /// All sizes that are a period apart.
    pub(crate) fn of_sizes(first: u64, period: u64) -> Size {
        Size { first: first.into(), step: period.into(), uneven: None }
    }

    /// The number at the first size.
    pub(crate) fn number(self) -> i128 {
        USED.set(USED.get().max(self.uneven));
        self.first
    }

    fn even(self) -> Even {
        Even { first: Rational::from_i128(self.first), step: Rational::from_i128(self.step) }
    }

    fn computed(inputs: [Size; 2], compute: impl Fn(&Even, &Even) -> Result<Even, Unequal>) -> Size {
        let [one, other] = inputs;
        let wrong = |uneven: Uneven| Size { first: one.first, step: 0, uneven: Some(uneven) };
        if let Some(uneven) = one.uneven.max(other.uneven) {
            return wrong(uneven);
        }
        match compute(&one.even(), &other.even()) {
            Ok(even) => match (even.first.to_i128(), even.step.to_i128()) {
                (Some(first), Some(step)) => Size { first, step, uneven: None },
                (None, _) | (_, None) => wrong(Uneven::Never),
            },
            Err(Unequal::Multiple(by)) => wrong(Uneven::Multiple(by)),
            Err(Unequal::Wrong(_)) => wrong(Uneven::Never),
        }
    }

    /// The least whole number that is no less than the quotient.
    #[must_use]
    pub fn div_ceil(self, by: impl Into<Size>) -> Size {
        let by = by.into();
        (self + by - 1) / by
    }

    /// The smaller one.
    #[must_use]
    pub fn min(self, other: impl Into<Size>) -> Size {
        let pick =
            |one: &Even, other: &Even| Ok(if one.is_at_most(other)? { one.clone() } else { other.clone() });
        Size::computed([self, other.into()], pick)
    }

    /// The larger one.
    #[must_use]
    pub fn max(self, other: impl Into<Size>) -> Size {
        let pick =
            |one: &Even, other: &Even| Ok(if one.is_at_most(other)? { other.clone() } else { one.clone() });
        Size::computed([self, other.into()], pick)
    }
}

impl From<usize> for Size {
    fn from(number: usize) -> Size {
        Size::of(number as u64)
    }
}

/// The whole part of a quotient.
fn quotient(one: &Even, other: &Even) -> Result<Even, Unequal> {
    let quotient = one.over(other)?.ok_or_else(|| Unequal::Wrong("a division by 0".into()))?;
    quotient.floor()
}

fn difference(one: &Even, other: &Even) -> Result<Even, Unequal> {
    Ok(one.plus(&other.times(&Even::of(Rational::from_integer(-1)))?))
}

macro_rules! operators {
    ($($name:ident $method:ident $compute:expr;)*) => {$(
        impl $name for Size {
            type Output = Size;

            fn $method(self, other: Size) -> Size {
                Size::computed([self, other], $compute)
            }
        }

        impl $name<usize> for Size {
            type Output = Size;

            fn $method(self, other: usize) -> Size {
                self.$method(Size::from(other))
            }
        }

        impl $name<Size> for usize {
            type Output = Size;

            fn $method(self, other: Size) -> Size {
                Size::from(self).$method(other)
            }
        }
    )*};
}

operators! {
    Add add |one, other| Ok(one.plus(other));
    Sub sub difference;
    Mul mul Even::times;
    Div div quotient;
    Rem rem |one, other| difference(one, &quotient(one, other)?.times(other)?);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An expression, and what it is in integers.
    type Case = (fn(Size) -> Size, fn(u64) -> u64);

    const EVEN: [(Case, u64); 7] = [
        ((|n| n, |n| n), 1),
        ((|n| 4 * n + 1, |n| 4 * n + 1), 1),
        ((|n| n.div_ceil(256), |n| n.div_ceil(256)), 256),
        ((|n| (n + 3) / 4 * 4, |n| n.div_ceil(4) * 4), 4),
        ((|n| n % 6, |n| n % 6), 6),
        ((|n| (n / 2).div_ceil(3), |n| (n / 2).div_ceil(3)), 6),
        ((|n| (n + 2).max(n), |n| n + 2), 1),
    ];

    #[test]
    fn a_number_at_a_size_is_that_of_integers() {
        for ((of, wanted), _) in EVEN {
            for n in 1..600 {
                assert_eq!(of(Size::of(n)), Size::of(wanted(n)));
            }
        }
    }

    #[test]
    fn over_its_period_a_number_grows_by_the_same_each_time() {
        for ((of, wanted), period) in EVEN {
            for first in 1..=period {
                let grown = of(Size::of_sizes(first, period));
                assert_eq!(grown.uneven, None);
                for times in 0..5 {
                    let at = grown.first + i128::from(times) * grown.step;
                    assert_eq!(at, i128::from(wanted(first + times * period)));
                }
            }
        }
    }

    #[test]
    fn what_does_not_grow_evenly_is_noted_where_it_is_used() {
        let n = Size::of_sizes(5, 1);
        for (number, uneven) in [
            (n.div_ceil(8), Some(Uneven::Multiple(8))),
            (n * n, Some(Uneven::Never)),
            (n.min(1000), Some(Uneven::Never)),
            (7 / n, Some(Uneven::Never)),
            (n / 0, Some(Uneven::Never)),
            (n * n - n * n + n / 2, Some(Uneven::Never)),
            (n - 2, None),
        ] {
            assert_eq!(taken(), None);
            number.number();
            assert_eq!(taken(), uneven);
        }
    }
}
