//! Functions of the bits of a number: what lanes hold, of a warp or of several.

/// Words that are affine from lane to lane: lane `i`'s is `first` and the step of each bit of `i` that is set, with
/// wrapping around. With more bits than a lane's number has, the same of threads, whose numbers are those of their warps
/// and lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine<const BITS: usize = 5> {
    /// That of lane 0.
    pub first: u64,
    /// By how much the words of two lanes differ that differ in one bit.
    pub steps: [i64; BITS],
}

impl<const BITS: usize> Affine<BITS> {
    /// The same word in every lane.
    #[inline]
    pub fn uniform(word: u64) -> Self {
        Affine { first: word, steps: [0; BITS] }
    }

    /// Words that a stride separates.
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

    /// The least and the greatest word, where words do not wrap around.
    #[inline]
    pub fn min_max(&self) -> [u64; 2] {
        self.steps.iter().fold([self.first; 2], |[low, high], step| {
            [low.wrapping_add_signed((*step).min(0)), high.wrapping_add_signed((*step).max(0))]
        })
    }

    /// How much further than the first lane's the words of the others of its warp are.
    #[inline]
    pub fn of_lanes(&self) -> Affine {
        Affine { first: 0, steps: std::array::from_fn(|bit| self.steps.get(bit).copied().unwrap_or(0)) }
    }

    /// By how much words move with each bit of the warp's number.
    #[inline]
    pub fn of_warps(&self) -> [i64; 5] {
        std::array::from_fn(|bit| self.steps.get(5 + bit).copied().unwrap_or(0))
    }

    /// The bits of a lane's number that make a difference.
    #[inline]
    pub fn varying_bits(&self) -> u32 {
        (0..BITS).fold(0, |bits, bit| bits | u32::from(self.steps[bit] != 0) << bit)
    }
}

impl Affine {
    /// Every lane's word.
    #[inline(never)] // Where it is inlined, the compiler does not vectorise it.
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

    /// How the words of 32 lanes move, if evenly.
    #[inline]
    pub fn of(words: &[u64; 32]) -> Option<Affine> {
        let first = words[0];
        let affine =
            Affine { first, steps: std::array::from_fn(|bit| words[1 << bit].wrapping_sub(first) as i64) };
        // A look tells most that do not.
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
