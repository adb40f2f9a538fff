//! Which reals a search compares with one another: their places in an order are numbers, which need few bits where the
//! order is one of few.

use super::Place;
use crate::algebra::polynomial::PolynomialId;
use rustc_hash::FxHashMap;

/// At most so many reals are in one order.
const MAX_REALS: usize = 255;

/// Sets of reals that are in one order, because they are compared or chosen from, directly or by way of others.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Another real of the set, and in the end one that stands for it.
    above: FxHashMap<PolynomialId, PolynomialId>,
    /// The number of reals of a set, by the one that stands for it.
    sizes: FxHashMap<PolynomialId, usize>,
}

impl Orders {
    /// The real that stands for the set of another one.
    pub(super) fn of(&self, mut real: PolynomialId) -> PolynomialId {
        while let Some(above) = self.above.get(&real) {
            real = *above;
        }
        real
    }

    /// The number of reals in the order of one.
    pub(super) fn size(&self, real: PolynomialId) -> usize {
        self.sizes.get(&self.of(real)).copied().unwrap_or(1)
    }

    /// The bits of numbers of places in the order of a real.
    pub(super) fn width(&self, real: PolynomialId) -> usize {
        (usize::BITS - self.size(real).leading_zeros()) as usize
    }

    /// Puts the reals of two places in one order; `None` where these are too many.
    pub(super) fn unite(&mut self, places: [&Place; 2]) -> Option<()> {
        let [Some(one), Some(other)] = places.map(|place| place.order) else { return Some(()) };
        let (one, other) = (self.of(one), self.of(other));
        if one == other {
            return Some(());
        }
        let sizes = [self.size(one), self.size(other)];
        let (small, large) = if sizes[0] < sizes[1] { (one, other) } else { (other, one) };
        self.above.insert(small, large);
        self.sizes.insert(large, sizes[0] + sizes[1]);
        (sizes[0] + sizes[1] <= MAX_REALS).then_some(())
    }
}
