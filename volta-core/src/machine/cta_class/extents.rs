//! CTAs of a grid from a first one on, and conditions that hold for as many of them as possible.

/// What is added to a number from a CTA to the next in each dimension of the grid, and, where the grid may have any
/// size, from a size to the next one, with the same number of CTAs in front.
pub(crate) type Steps = [i64; 4];

/// The same in all CTAs.
pub(crate) const SAME: Steps = [0; 4];

/// The dimension of sizes.
pub(super) const SIZES: usize = 3;

/// A number that is affine in the position of the CTA: its value in the first one, and what is added from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Linear {
    pub(crate) first: i128,
    pub(crate) steps: Steps,
}

impl Linear {
    /// `self - other`; `None` where steps are too large.
    pub(crate) fn minus(self, other: Linear) -> Option<Linear> {
        let mut steps = SAME;
        for (at, step) in steps.iter_mut().enumerate() {
            *step = self.steps[at].checked_sub(other.steps[at])?;
        }
        Some(Linear { first: self.first - other.first, steps })
    }
}

/// CTAs: from a first one on, so many in each dimension of the grid, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extents {
    grid: [u32; 3],
    /// How the grid may grow.
    sizes: Option<Sizes>,
}

/// CTAs of grids of all sizes: so many in front and behind in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// The dimension of the grid.
    pub(crate) along: usize,
    /// How many numbers of CTAs behind there are, at least one.
    pub(crate) behind: u32,
    /// At most so many more CTAs than those of the first position are in front and behind together.
    pub(crate) together: u64,
}

impl Extents {
    /// All CTAs of a grid.
    pub(crate) fn of_grid(grid: [u32; 3]) -> Extents {
        Extents { grid, sizes: None }
    }

    /// CTAs of grids of all sizes.
    pub(crate) fn of_sizes(grid: [u32; 3], sizes: Sizes) -> Extents {
        Extents { grid, sizes: Some(sizes) }
    }

    /// The number of CTAs in each dimension.
    pub(crate) fn grid(self) -> [u32; 3] {
        self.grid
    }

    /// How the grid may grow.
    pub(crate) fn sizes(self) -> Option<Sizes> {
        self.sizes
    }

    /// The bound of CTAs in front and behind together.
    pub(crate) fn together(self) -> Option<u64> {
        self.sizes.map(|sizes| sizes.together)
    }

    /// The number of CTAs.
    pub(crate) fn count(self) -> u64 {
        self.grid.iter().map(|extent| u64::from(*extent)).product()
    }

    /// The positions of all, relative to the first, the first dimension running fastest.
    pub(crate) fn positions(self) -> impl Iterator<Item = [u32; 3]> {
        let [x, y, z] = self.grid;
        (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
    }

    /// The position with a number in this order.
    pub(crate) fn position(self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [number % x, number / x % y, number / x / y].map(|at| at as u32)
    }

    /// The dimensions of the grid that do not grow, the last one first.
    fn fixed(self) -> impl Iterator<Item = usize> {
        [2, 1, 0].into_iter().filter(move |at| self.sizes.is_none_or(|sizes| sizes.along != *at))
    }

    /// The least and the greatest number that is added to the first CTA's in the dimensions that do not grow.
    fn reach_of_fixed(self, steps: Steps) -> [i128; 2] {
        let mut reach = [0; 2];
        for at in self.fixed() {
            let all = i128::from(self.grid[at] - 1) * i128::from(steps[at]);
            reach[usize::from(all > 0)] += all;
        }
        reach
    }

    /// The greatest number that is added in the dimension that grows, and in that of sizes.
    fn most_of_sizes(self, of: [i128; 2], Sizes { along, behind, together }: Sizes) -> i128 {
        let together = i128::from(together);
        let ends = [self.grid[along], behind].map(|extent| i128::from(extent - 1).min(together));
        let corner = |one: i128, other: i128| of[0] * one + of[1] * other;
        let corners = [
            0,
            corner(ends[0], 0),
            corner(0, ends[1]),
            corner(ends[0], ends[1].min(together - ends[0])),
            corner(ends[0].min(together - ends[1]), ends[1]),
        ];
        corners.into_iter().max().unwrap_or(0)
    }

    /// Leaves CTAs out, from the ends and of the last dimensions first, until a number is within bounds in all that are
    /// left. False if it is not even in the first CTA.
    pub(crate) fn keep(&mut self, number: Linear, [least, greatest]: [i128; 2]) -> bool {
        if number.first < least || number.first > greatest {
            return false;
        }
        if number.steps == SAME {
            return true;
        }
        self.keep_sizes(number.steps, greatest - number.first);
        self.keep_sizes(number.steps.map(|step| -step), number.first - least);
        let [mut below, mut above] = [number.first; 2];
        if let Some(sizes) = self.sizes {
            let steps = [number.steps[sizes.along], number.steps[SIZES]].map(i128::from);
            above += self.most_of_sizes(steps, sizes);
            below -= self.most_of_sizes(steps.map(|step| -step), sizes);
        }
        for dimension in self.fixed() {
            let [low, high] = self.reach_of_fixed(number.steps);
            if below + low >= least && above + high <= greatest {
                break;
            }
            let step = i128::from(number.steps[dimension]);
            let excess = if step > 0 { above + high - greatest } else { least - (below + low) };
            if step == 0 || excess <= 0 {
                continue;
            }
            let (step, extent) = (step.abs(), &mut self.grid[dimension]);
            let left_out = ((excess + step - 1) / step).min(i128::from(*extent - 1));
            *extent -= left_out as u32;
        }
        true
    }

    /// Leaves out sizes, and CTAs in the dimension that grows, until what is added there is at most `most`.
    fn keep_sizes(&mut self, steps: Steps, most: i128) {
        let Some(sizes) = self.sizes else { return };
        let steps = [steps[sizes.along], steps[SIZES]].map(i128::from);
        if self.most_of_sizes(steps, sizes) <= most {
            return;
        }
        let within = |step: i128| most / step;
        match steps.map(|step| step > 0) {
            [false, false] => {}
            [true, false] => self.grid[sizes.along] = (within(steps[0]) + 1) as u32,
            [false, true] => self.sizes = Some(Sizes { behind: (within(steps[1]) + 1) as u32, ..sizes }),
            [true, true] => {
                let together = within(steps[0].max(steps[1])) as u64;
                self.sizes = Some(Sizes { together, ..sizes });
            }
        }
    }

    /// The rest of the CTAs of which these are the first ones: the position of the first one of each part, with the
    /// number behind it.
    pub(crate) fn rest_of(self, all: Extents, first: [u32; 4]) -> Vec<([u32; 4], Extents)> {
        let extents = |of: Extents| {
            let [x, y, z] = of.grid;
            [x, y, z, of.sizes.map_or(1, |sizes| sizes.behind)]
        };
        let (own, all_of) = (extents(self), extents(all));
        let mut parts = Vec::new();
        for dimension in 0..4 {
            let (mut first, mut part) = (first, own);
            first[dimension] += own[dimension];
            part[dimension] = all_of[dimension] - own[dimension];
            part[..dimension].copy_from_slice(&all_of[..dimension]);
            if part[dimension] > 0 {
                let [x, y, z, behind] = part;
                let sizes = self.sizes.map(|sizes| Sizes { behind, ..sizes });
                parts.push((first, Extents { grid: [x, y, z], sizes }));
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The positions of all CTAs, with the numbers behind them.
    fn all(of: Extents) -> Vec<[u32; 4]> {
        let behind = of.sizes.map_or(1, |sizes| sizes.behind);
        let is_one = |[x, y, z, behind]: [u32; 4]| {
            of.sizes
                .is_none_or(|sizes| u64::from([x, y, z][sizes.along]) + u64::from(behind) <= sizes.together)
        };
        let each = of.positions().flat_map(|[x, y, z]| (0..behind).map(move |behind| [x, y, z, behind]));
        each.filter(|at| is_one(*at)).collect()
    }

    fn extents() -> impl Strategy<Value = Extents> {
        let sizes = (0..3usize, 1..6u32, 0..10u64).prop_map(|(along, behind, together)| Sizes {
            along,
            behind,
            together,
        });
        ([1u32..6, 1..6, 1..6], prop::option::of(sizes)).prop_map(|(grid, sizes)| Extents { grid, sizes })
    }

    proptest! {
        #[test]
        fn a_number_is_within_bounds_in_the_ctas_that_are_kept(
            extents in extents(),
            steps in [-9i64..10, -9..10, -9..10, -9..10],
            least in -30i128..1,
            greatest in 0i128..30,
        ) {
            let mut kept = extents;
            let keeps = kept.keep(Linear { first: 0, steps }, [least, greatest]);
            prop_assert!(keeps);
            let number = |at: &[u32; 4]| -> i128 {
                at.iter().zip(steps).map(|(at, step)| i128::from(*at) * i128::from(step)).sum()
            };
            for at in all(kept) {
                prop_assert!((least..=greatest).contains(&number(&at)));
            }
            if all(extents).iter().all(|at| (least..=greatest).contains(&number(at))) {
                prop_assert_eq!(kept, extents);
            }
        }

        #[test]
        fn parts_are_a_partition(whole in extents(), own in [1u32..5, 1..5, 1..5], behind in 1u32..6) {
            let sizes = whole.sizes.map(|sizes| Sizes { behind: behind.min(sizes.behind), ..sizes });
            let own = Extents { grid: std::array::from_fn(|at| own[at].min(whole.grid[at])), sizes };
            // The bound of both numbers together is that of the whole, seen from each part.
            let is_one = |at: &[u32; 4]| {
                whole.sizes.is_none_or(|sizes| {
                    u64::from(at[sizes.along]) + u64::from(at[SIZES]) <= sizes.together
                })
            };
            let mut seen: Vec<[u32; 4]> = all(own);
            for (first, part) in own.rest_of(whole, [0; 4]) {
                let part = Extents { sizes: part.sizes.map(|sizes| Sizes { together: 99, ..sizes }), ..part };
                seen.extend(all(part).iter().map(|at| std::array::from_fn(|of| first[of] + at[of])));
            }
            seen.retain(is_one);
            seen.sort_unstable();
            let mut expected: Vec<[u32; 4]> = all(whole);
            expected.sort_unstable();
            prop_assert_eq!(seen, expected);
            for (number, at) in (0..).zip(own.positions()) {
                prop_assert_eq!(own.position(number), at);
            }
        }
    }
}
