//! Words that are affine in the bits of the lane id, over the lanes of one warp or several.

/// Words that are affine in the bits of the lane id: lane `i` has `first` plus the step of each bit that is set in
/// `i`, with wrap-around. With more bits than a lane id has, over threads, numbered by warp and lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine<const BITS: usize = 5> {
    /// The word of lane 0.
    pub first: u64,
    /// The difference between the words of two lanes that differ in one bit only.
    pub steps: [i64; BITS],
}

impl<const BITS: usize> Affine<BITS> {
    /// The same word in every lane.
    #[inline]
    pub fn uniform(word: u64) -> Self {
        Affine { first: word, steps: [0; BITS] }
    }

    /// Words with a constant stride between neighbouring lanes.
    #[inline]
    pub fn strided(first: u64, stride: i64) -> Self {
        Affine { first, steps: std::array::from_fn(|bit| stride.wrapping_mul(1 << bit)) }
    }

    /// Whether every lane has the same word.
    #[inline]
    pub fn is_uniform(&self) -> bool {
        self.steps.iter().fold(0, |all, step| all | step) == 0
    }

    /// One lane's word.
    #[inline]
    pub fn lane(&self, lane: u32) -> u64 {
        // Without a branch: all bits of a step, or none.
        let step = |bit: usize| self.steps[bit] & i64::from(lane >> bit & 1).wrapping_neg();
        (0..BITS).fold(self.first, |word, bit| word.wrapping_add_signed(step(bit)))
    }

    /// The least and the greatest word, if no word wraps around.
    #[inline]
    pub fn min_max(&self) -> [u64; 2] {
        self.steps.iter().fold([self.first; 2], |[low, high], step| {
            [low.wrapping_add_signed((*step).min(0)), high.wrapping_add_signed((*step).max(0))]
        })
    }

    /// The offsets of the lanes of a warp from its first lane.
    #[inline]
    pub fn of_lanes(&self) -> Affine {
        Affine { first: 0, steps: std::array::from_fn(|bit| self.steps.get(bit).copied().unwrap_or(0)) }
    }

    /// The steps of the bits of the warp's number.
    #[inline]
    pub fn of_warps(&self) -> [i64; 5] {
        std::array::from_fn(|bit| self.steps.get(5 + bit).copied().unwrap_or(0))
    }

    /// The bits of the lane id on which the words depend.
    #[inline]
    pub fn varying_bits(&self) -> u32 {
        (0..BITS).fold(0, |bits, bit| bits | u32::from(self.steps[bit] != 0) << bit)
    }
}

impl Affine {
    /// Every lane's word.
    #[inline(never)] // When inlined, it is not vectorised by the compiler.
    pub fn all(self) -> [u64; 32] {
        let mut words = [self.first; 32];
        for (bit, step) in self.steps.iter().enumerate() {
            let (known, new) = words.split_at_mut(1 << bit);
            for (new, known) in new.iter_mut().zip(known) {
                *new = known.wrapping_add_signed(*step);
            }
        }
        words
    }

    /// The words of 32 lanes as an affine function, if they are one.
    #[inline]
    pub fn of(words: &[u64; 32]) -> Option<Affine> {
        let first = words[0];
        let affine =
            Affine { first, steps: std::array::from_fn(|bit| words[1 << bit].wrapping_sub(first) as i64) };
        // A cheap test that excludes most others.
        if words[3] != affine.lane(3) || words[31] != affine.lane(31) {
            return None;
        }
        // One pass without an early exit, so that the compiler vectorises it.
        let mut difference = 0;
        for (word, expected) in words.iter().zip(&affine.all()) {
            difference |= word ^ expected;
        }
        (difference == 0).then_some(affine)
    }
}
