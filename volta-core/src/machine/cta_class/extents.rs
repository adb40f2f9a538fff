//! CTAs of a grid from a first one on, and conditions that hold for as many of them as possible.

/// What is added to a number from a CTA to the next in each dimension of the grid.
pub(crate) type Steps = [i64; 3];

/// The same in all CTAs.
pub(in super::super) const SAME: Steps = [0; 3];

/// A number that is affine in the position of the CTA: its value in the first one, and what is added from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) first: i128,
    pub(super) steps: Steps,
}

impl Linear {
    /// `self - other`; `None` where steps are too large.
    pub(super) fn minus(self, other: Linear) -> Option<Linear> {
        let mut steps = SAME;
        for (at, step) in steps.iter_mut().enumerate() {
            *step = self.steps[at].checked_sub(other.steps[at])?;
        }
        Some(Linear { first: self.first - other.first, steps })
    }
}

/// CTAs: from a first one on, so many in each dimension of the grid, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extents(pub(crate) [u32; 3]);

impl Extents {
    /// The number of CTAs.
    pub(crate) fn count(self) -> u64 {
        self.0.iter().map(|extent| u64::from(*extent)).product()
    }

    /// The positions of all, relative to the first, the first dimension running fastest.
    pub(crate) fn positions(self) -> impl Iterator<Item = [u32; 3]> {
        let [x, y, z] = self.0;
        (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
    }

    /// The position with a number in this order.
    pub(crate) fn position(self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.0.map(u64::from);
        [number % x, number / x % y, number / x / y].map(|at| at as u32)
    }

    /// The least and the greatest number that is added to the first CTA's.
    pub(super) fn reach(self, steps: Steps) -> [i128; 2] {
        let mut reach = [0; 2];
        for (extent, step) in self.0.into_iter().zip(steps) {
            let all = i128::from(extent - 1) * i128::from(step);
            reach[usize::from(all > 0)] += all;
        }
        reach
    }

    /// Leaves CTAs out, from the ends and of the last dimensions first, until a number is within bounds in all that are
    /// left. False if it is not even in the first CTA.
    pub(super) fn keep(&mut self, number: Linear, [least, greatest]: [i128; 2]) -> bool {
        if number.first < least || number.first > greatest {
            return false;
        }
        for dimension in [2, 1, 0] {
            let [low, high] = self.reach(number.steps);
            let step = i128::from(number.steps[dimension]);
            let excess = if step > 0 { number.first + high - greatest } else { least - (number.first + low) };
            if step == 0 || excess <= 0 {
                continue;
            }
            let (step, extent) = (step.abs(), &mut self.0[dimension]);
            let left_out = ((excess + step - 1) / step).min(i128::from(*extent - 1));
            *extent -= left_out as u32;
        }
        true
    }

    /// The rest of the CTAs of which these are the first ones.
    pub(crate) fn rest_of(self, all: Extents, [x, y, z]: [u32; 3]) -> Vec<([u32; 3], Extents)> {
        let ([own_x, own_y, own_z], [all_x, all_y, all_z]) = (self.0, all.0);
        let parts = [
            ([x + own_x, y, z], [all_x - own_x, own_y, own_z]),
            ([x, y + own_y, z], [all_x, all_y - own_y, own_z]),
            ([x, y, z + own_z], [all_x, all_y, all_z - own_z]),
        ];
        let is_part = |(_, extents): &([u32; 3], [u32; 3])| !extents.contains(&0);
        parts.into_iter().filter(is_part).map(|(first, extents)| (first, Extents(extents))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_is_within_bounds_in_the_ctas_that_are_kept(
            extents in [1u32..6, 1..6, 1..6],
            steps in [-9i64..10, -9..10, -9..10],
            least in -30i128..1,
            greatest in 0i128..30,
        ) {
            let mut kept = Extents(extents);
            let keeps = kept.keep(Linear { first: 0, steps }, [least, greatest]);
            prop_assert!(keeps);
            for at in kept.positions() {
                let number: i128 = at.iter().zip(steps).map(|(at, step)| i128::from(*at) * i128::from(step)).sum();
                prop_assert!((least..=greatest).contains(&number));
            }
        }

        #[test]
        fn parts_are_a_partition(all in [1u32..5, 1..5, 1..5], own in [1u32..5, 1..5, 1..5]) {
            let own = Extents(std::array::from_fn(|at| own[at].min(all[at])));
            let mut seen: Vec<[u32; 3]> = own.positions().collect();
            for (first, part) in own.rest_of(Extents(all), [0; 3]) {
                seen.extend(part.positions().map(|at| std::array::from_fn(|of| first[of] + at[of])));
            }
            seen.sort_unstable();
            let mut expected: Vec<[u32; 3]> = Extents(all).positions().collect();
            expected.sort_unstable();
            prop_assert_eq!(seen, expected);
            for (number, at) in (0..).zip(own.positions()) {
                prop_assert_eq!(own.position(number), at);
            }
        }
    }
}
