//! The sizes that have to be verified for all others to follow.
//!
//! Positions are counted in sizes: a CTA with c others in front, where the grid grows over P sizes, is at P·c, and an
//! element of a tensor at its number divided by how many elements there are for each size. Classes begin at positions
//! that are the same at all sizes, *low* ones, or that are a constant before the size, *high* ones. All CTAs that access
//! an element are within a window around it. With L a multiple of both sides' periods, what happens at an element of a
//! size n is what happens at the size n - L: at the same position, if no high position is in the window or at most L
//! behind it; or else L before it, if no low position is in the window or at most L before it. Only if a low and a high
//! position are near each other may there be neither, and n is *critical*. All others follow from smaller sizes.

use std::collections::BTreeSet;

use super::follow::{Cases, Class, End, Followed, Why};
use crate::case::{Case, ParamKind, Role, Which};

/// At most so many sizes are verified.
const MOST_SIZES: usize = 16_384;

/// At most so many pairs of a low and a high position are looked at.
const MOST_PAIRS: usize = 1 << 24;

/// What has to be verified for all sizes to follow.
pub(super) struct Plan {
    /// The largest size that follows.
    pub(super) most: u64,
    /// Why no larger one does.
    pub(super) end: End,
    /// The sizes to verify.
    pub(super) sizes: BTreeSet<u64>,
}

/// Elements of a parameter for so many sizes.
#[derive(Clone, Copy, Debug)]
struct Rate {
    elements: i128,
    sizes: i128,
}

impl Rate {
    /// Whether another rate is the same.
    fn is(self, other: Rate) -> bool {
        self.elements.checked_mul(other.sizes) == other.elements.checked_mul(self.sizes)
    }

    /// The position of an element, rounded down and up; the rate is positive.
    fn position(self, element: i128) -> [i128; 2] {
        let scaled = element * self.sizes;
        let down = scaled.div_euclid(self.elements);
        [down, down + i128::from(scaled.rem_euclid(self.elements) != 0)]
    }
}

/// Positions near which sizes are critical.
#[derive(Default)]
struct Positions {
    low: BTreeSet<i128>,
    /// How far before the size, and of which remainder by which period sizes are.
    high: BTreeSet<(i128, i128, i128)>,
}

/// The sizes to verify.
///
/// # Errors
/// Why they would not suffice.
pub(super) fn plan(cases: &Cases<'_>, sides: &[Followed]) -> Result<Plan, String> {
    let least = cases.sizes.least;
    let end = sides.iter().map(|side| &side.end).min_by_key(|end| end.size);
    let mut end = end.ok_or("there is no side")?.clone();
    loop {
        let most = end.size.checked_sub(1).filter(|most| *most >= least).ok_or_else(|| end.text())?;
        let smaller = Smaller { cases, sides, most };
        match smaller.sizes() {
            Ok(sizes) => return Ok(Plan { most, end, sizes }),
            Err(reason) => {
                // What the last class does may be the reason.
                let all =
                    sides.iter().flat_map(|side| side.classes.iter().map(|class| smallest(class, side)));
                let last = all.filter(|size| *size <= most).max().filter(|size| *size > least + CUT);
                let size = last.ok_or_else(|| reason.clone())?;
                let text = format!("from {} = {size} on, {reason}", cases.sizes.variable);
                end = End { size, why: Why::Here(text) };
            }
        }
    }
}

/// Classes that begin at larger sizes are left out where all together are not understood.
const CUT: u64 = 16;

/// The smallest size at which a class has a CTA.
fn smallest(class: &Class, side: &Followed) -> u64 {
    with_ctas(class, side, class.first)
}

/// The size with so many CTAs in front of one, and behind it.
fn with_ctas(class: &Class, side: &Followed, [in_front, behind]: [u64; 2]) -> u64 {
    let periods = in_front.saturating_add(behind).saturating_add_signed(class.ahead);
    class.least.saturating_add(side.period.saturating_mul(periods))
}

fn lcm(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one, other);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    one / a.max(1) * other
}

/// Both sides at sizes up to a largest one.
struct Smaller<'s> {
    cases: &'s Cases<'s>,
    sides: &'s [Followed],
    most: u64,
}

impl Smaller<'_> {
    /// The classes that have CTAs.
    fn classes(&self) -> impl Iterator<Item = (&Followed, &Class)> {
        let all = self.sides.iter().flat_map(|side| side.classes.iter().map(move |class| (side, class)));
        all.filter(|(side, class)| smallest(class, side) <= self.most)
    }

    fn sizes(&self) -> Result<BTreeSet<u64>, String> {
        let least = self.cases.sizes.least;
        let first = self.cases.at(least)?;
        let rates = self.rates(&first)?;
        let written = self.written(&first, &rates)?;
        let window = self.window(&rates, &written);
        let common = self.sides.iter().fold(1u64, |all, side| lcm(all, side.period));
        let mut positions = Positions { low: BTreeSet::from([0]), high: BTreeSet::new() };
        for (side, class) in self.classes() {
            self.add(side, class, &mut positions);
        }
        for side in self.sides {
            self.outputs(side, (&rates, &written), &mut positions)?;
        }
        let too_many = || Err(format!("more than {MOST_SIZES} sizes would have to be verified"));
        if common > MOST_SIZES as u64 || positions.low.len() * positions.high.len() > MOST_PAIRS {
            return too_many();
        }
        let mut sizes: BTreeSet<u64> = (least..=self.most).take(common as usize).collect();
        let (common, least, most) = (i128::from(common), i128::from(least), i128::from(self.most));
        for low in &positions.low {
            for (before, remainder, period) in &positions.high {
                let near = low + before;
                let from = (near - window).max(least);
                let to = (near + window + 2 * common).min(most);
                let mut size = from + (remainder - from).rem_euclid(*period);
                while size <= to {
                    sizes.insert(size as u64);
                    if sizes.len() > MOST_SIZES {
                        return too_many();
                    }
                    size += period;
                }
            }
        }
        Ok(sizes)
    }

    /// Where a class begins and ends, if some size has CTAs behind there.
    fn add(&self, side: &Followed, class: &Class, positions: &mut Positions) {
        let (period, [in_front, behind]) = (i128::from(side.period), class.first);
        let extents = class.extents();
        for at in [in_front, in_front + extents[0]] {
            if with_ctas(class, side, [at, 0]) <= self.most {
                positions.low.insert(period * i128::from(at));
            }
        }
        for at in [behind, behind + extents[1]] {
            if with_ctas(class, side, [0, at]) <= self.most {
                let before = i128::from(class.least) + period * (i128::from(class.ahead) + i128::from(at));
                positions.high.insert((before, i128::from(class.least).rem_euclid(period), period));
            }
        }
    }

    /// How fast the elements of each parameter that CTAs access grow.
    fn rates(&self, case: &Case) -> Result<Vec<Option<Rate>>, String> {
        let mut rates: Vec<Option<Rate>> = vec![None; case.params.len()];
        for (side, class) in self.classes() {
            let [in_front, behind] = class.extents();
            for ((rate, accessed), param) in rates.iter_mut().zip(&class.class.accessed).zip(&case.params) {
                let Some(accessed) = accessed else { continue };
                if behind > 1 && accessed.steps[3] != 0 {
                    return Err(format!(
                        "which elements of `{}` a block of {} accesses depends on how many blocks follow",
                        param.name,
                        name(side)
                    ));
                }
                if in_front == 1 {
                    continue;
                }
                let own = Rate { elements: accessed.steps[side.along].into(), sizes: side.period.into() };
                if rate.is_some_and(|known| !known.is(own)) {
                    return Err(format!(
                        "blocks access elements of `{}` that are not equally far from one another",
                        param.name
                    ));
                }
                *rate = rate.or(Some(own));
            }
        }
        Ok(rates)
    }

    /// The parameters that some CTA writes.
    ///
    /// # Errors
    /// When what is written does not grow with the size.
    fn written(&self, case: &Case, rates: &[Option<Rate>]) -> Result<Vec<bool>, String> {
        let mut written = vec![false; case.params.len()];
        for (_, class) in self.classes() {
            for (written, accessed) in written.iter_mut().zip(&class.class.accessed) {
                *written |= accessed.is_some_and(|accessed| accessed.is_written);
            }
        }
        for ((written, rate), param) in written.iter().zip(rates).zip(&case.params) {
            if *written && rate.is_none_or(|rate| rate.elements <= 0) {
                return Err(format!(
                    "blocks that follow do not write elements of `{}` that follow",
                    param.name
                ));
            }
        }
        Ok(written)
    }

    /// How far from one another positions are at which an element is accessed.
    fn window(&self, rates: &[Option<Rate>], written: &[bool]) -> i128 {
        // Elements of tensors that nobody writes matter to no other CTA.
        let (mut before, mut behind) = (0i128, 0i128);
        for (side, class) in self.classes() {
            let own = i128::from(side.period) * i128::from(class.first[0]);
            let all = class.class.accessed.iter().zip(rates).zip(written);
            for ((accessed, rate), _) in all.filter(|(_, is_written)| **is_written) {
                let (Some(accessed), Some(rate)) = (accessed, rate) else { continue };
                let Some([low, high]) = accessed.reached else { continue };
                before = before.min(rate.position(low)[0] - own);
                behind = behind.max(rate.position(high)[1] - own);
            }
        }
        behind - before + 2
    }

    /// The ends of tensors that are written.
    fn outputs(
        &self,
        side: &Followed,
        (rates, written): (&[Option<Rate>], &[bool]),
        positions: &mut Positions,
    ) -> Result<(), String> {
        let period = i128::from(side.period);
        for at in 0..side.period {
            let least = self.cases.sizes.least + at;
            let (one, other) = (self.cases.at(least)?, self.cases.at(least + side.period)?);
            for (param, (rate, _)) in rates.iter().zip(written).enumerate().filter(|(_, (_, is))| **is) {
                let Some(rate) = rate else { continue };
                let elements = |case: &Case| match &case.params[param].kind {
                    ParamKind::Tensor { shape, .. } => {
                        shape.iter().fold(1i128, |all, extent| all.saturating_mul((*extent).into()))
                    }
                    ParamKind::Scalar { .. } => 1,
                };
                let own = Rate { elements: elements(&other) - elements(&one), sizes: period };
                let is_compared = matches!(
                    &one.params[param].kind,
                    ParamKind::Tensor { role: Role::Out | Role::InOut, .. }
                );
                if !is_compared {
                    continue;
                }
                if !rate.is(own) {
                    let name = &one.params[param].name;
                    return Err(format!("`{name}` does not grow as the elements do that are written"));
                }
                for end in rate.position(elements(&one)) {
                    let before = i128::from(least) - end;
                    positions.high.insert((before, i128::from(least).rem_euclid(period), period));
                }
            }
        }
        Ok(())
    }
}

fn name(side: &Followed) -> &'static str {
    if side.which == Which::Reference { "the reference" } else { "the kernel" }
}
