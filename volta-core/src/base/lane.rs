//! Lanes of a warp, and sets of them.
//!
//! PTX represents both as numbers: `%laneid`, and masks of 32 bits. Here they are converted to numbers only where
//! the machine reads or writes such an operand and where one is printed; the types keep a lane from being used as a
//! thread, or a set of lanes as a count.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Index, IndexMut, Not};

/// A lane of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane(u8);

impl Lane {
    /// The number of lanes of a warp.
    pub const COUNT: usize = 32;
    /// The first lane.
    pub const FIRST: Lane = Lane(0);
    /// The last lane.
    pub const LAST: Lane = Lane(31);

    /// The lane with the given number.
    ///
    /// # Panics
    /// If there is none: numbers computed by kernels are checked before.
    #[inline]
    pub fn new(number: u32) -> Lane {
        assert!(number < 32, "a warp has 32 lanes");
        Lane(number as u8)
    }

    /// The lane of a position in an array with one entry for each lane.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn at(position: usize) -> Lane {
        assert!(position < Lane::COUNT, "a warp has 32 lanes");
        Lane(position as u8)
    }

    /// The lane id.
    #[inline]
    pub fn number(self) -> u32 {
        u32::from(self.0)
    }

    /// The position of its entry in an array with one entry for each lane.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// All lanes of a warp, in order.
    #[inline]
    pub fn all() -> impl DoubleEndedIterator<Item = Lane> + ExactSizeIterator + Clone {
        (0..32u8).map(Lane)
    }

    /// An array with one entry for each lane.
    #[inline]
    pub fn each<T>(mut entry: impl FnMut(Lane) -> T) -> [T; Lane::COUNT] {
        std::array::from_fn(|position| entry(Lane(position as u8)))
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The entry of a lane in an array.
impl<T> Index<Lane> for [T] {
    type Output = T;

    #[inline]
    fn index(&self, lane: Lane) -> &T {
        &self[lane.index()]
    }
}

impl<T> IndexMut<Lane> for [T] {
    #[inline]
    fn index_mut(&mut self, lane: Lane) -> &mut T {
        &mut self[lane.index()]
    }
}

/// A set of lanes of a warp.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LaneMask(u32);

impl LaneMask {
    /// No lane.
    pub const NONE: LaneMask = LaneMask(0);
    /// Every lane of a warp.
    pub const ALL: LaneMask = LaneMask(u32::MAX);

    /// The set that a PTX mask denotes: bit `i` stands for lane `i`.
    #[inline]
    pub const fn from_bits(bits: u32) -> LaneMask {
        LaneMask(bits)
    }

    /// The PTX mask of this set.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set of one lane.
    #[inline]
    pub fn of(lane: Lane) -> LaneMask {
        LaneMask(1 << lane.0)
    }

    /// All lanes if the condition holds, otherwise none.
    #[inline]
    pub fn all_if(holds: bool) -> LaneMask {
        if holds { LaneMask::ALL } else { LaneMask::NONE }
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set contains all lanes of a warp.
    #[inline]
    pub fn is_all(self) -> bool {
        self.0 == u32::MAX
    }

    /// The number of lanes in the set.
    #[inline]
    pub fn count(self) -> u32 {
        // Mostly one or all; counting bits is slow without a machine instruction for it.
        match self.0 {
            u32::MAX => 32,
            one if one & one.wrapping_sub(1) == 0 => u32::from(one != 0),
            lanes => lanes.count_ones(),
        }
    }

    /// Whether the set contains a lane.
    #[inline]
    pub fn contains(self, lane: Lane) -> bool {
        self.0 >> lane.0 & 1 == 1
    }

    /// Whether this is a subset of `others`.
    #[inline]
    pub fn is_within(self, others: LaneMask) -> bool {
        self.0 & !others.0 == 0
    }

    /// Whether the sets intersect.
    #[inline]
    pub fn meets(self, others: LaneMask) -> bool {
        self.0 & others.0 != 0
    }

    /// The first lane of the set.
    ///
    /// # Panics
    /// If the set is empty.
    #[inline]
    pub fn first(self) -> Lane {
        Lane::new(self.0.trailing_zeros())
    }

    /// The last lane of the set.
    ///
    /// # Panics
    /// If the set is empty.
    #[inline]
    pub fn last(self) -> Lane {
        assert!(self.0 != 0, "there is no last lane of none");
        Lane(31 - self.0.leading_zeros() as u8)
    }

    /// The lane of a set with exactly one.
    #[inline]
    pub fn only(self) -> Option<Lane> {
        self.0.is_power_of_two().then(|| self.first())
    }

    /// The number of lanes of the set before a lane: its position in a list with one entry for each lane of the set.
    #[inline]
    pub fn rank(self, lane: Lane) -> usize {
        match self.0 & ((1 << lane.0) - 1) {
            // The usual case, which avoids counting bits: it may be slow without a machine instruction for it.
            0 => 0,
            before => before.count_ones() as usize,
        }
    }

    /// Adds a lane.
    #[inline]
    pub fn insert(&mut self, lane: Lane) {
        self.0 |= 1 << lane.0;
    }

    /// Removes a lane.
    #[inline]
    pub fn remove(&mut self, lane: Lane) {
        self.0 &= !(1 << lane.0);
    }

    /// The lanes of the set, in order.
    #[inline]
    pub fn iter(self) -> LaneIter {
        LaneIter(self.0)
    }
}

/// The PTX mask in hexadecimal.
impl fmt::Debug for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The PTX mask, for `{:x}` and `{:#x}`.
impl fmt::LowerHex for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

impl BitAnd for LaneMask {
    type Output = LaneMask;

    #[inline]
    fn bitand(self, other: LaneMask) -> LaneMask {
        LaneMask(self.0 & other.0)
    }
}

impl BitOr for LaneMask {
    type Output = LaneMask;

    #[inline]
    fn bitor(self, other: LaneMask) -> LaneMask {
        LaneMask(self.0 | other.0)
    }
}

impl BitXor for LaneMask {
    type Output = LaneMask;

    #[inline]
    fn bitxor(self, other: LaneMask) -> LaneMask {
        LaneMask(self.0 ^ other.0)
    }
}

impl Not for LaneMask {
    type Output = LaneMask;

    #[inline]
    fn not(self) -> LaneMask {
        LaneMask(!self.0)
    }
}

impl BitAndAssign for LaneMask {
    #[inline]
    fn bitand_assign(&mut self, other: LaneMask) {
        self.0 &= other.0;
    }
}

impl BitOrAssign for LaneMask {
    #[inline]
    fn bitor_assign(&mut self, other: LaneMask) {
        self.0 |= other.0;
    }
}

impl FromIterator<Lane> for LaneMask {
    #[inline]
    fn from_iter<I: IntoIterator<Item = Lane>>(lanes: I) -> LaneMask {
        let mut mask = LaneMask::NONE;
        lanes.into_iter().for_each(|lane| mask.insert(lane));
        mask
    }
}

impl IntoIterator for LaneMask {
    type Item = Lane;
    type IntoIter = LaneIter;

    #[inline]
    fn into_iter(self) -> LaneIter {
        self.iter()
    }
}

/// The lanes of a set, in order.
#[derive(Clone, Debug)]
pub struct LaneIter(u32);

impl Iterator for LaneIter {
    type Item = Lane;

    #[inline]
    fn next(&mut self) -> Option<Lane> {
        if self.0 == 0 {
            return None;
        }
        let lane = Lane(self.0.trailing_zeros() as u8);
        self.0 &= self.0 - 1;
        Some(lane)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}

impl ExactSizeIterator for LaneIter {}
impl FusedIterator for LaneIter {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with sets of numbers that are computed lane by lane.
        #[test]
        fn sets_are_those_of_their_bits(one in any::<u32>(), other in any::<u32>(), lane in 0u32..32) {
            let numbers = |bits: u32| -> Vec<u32> { (0..32).filter(|at| bits >> at & 1 == 1).collect() };
            let read = |mask: LaneMask| -> Vec<u32> { mask.iter().map(Lane::number).collect() };
            let (a, b, lane) = (LaneMask::from_bits(one), LaneMask::from_bits(other), Lane::new(lane));
            prop_assert_eq!(read(a), numbers(one));
            prop_assert_eq!(a.iter().len(), numbers(one).len());
            prop_assert_eq!(a.iter().collect::<LaneMask>(), a);
            prop_assert_eq!(read(a & b), numbers(one & other));
            prop_assert_eq!(read(a | b), numbers(one | other));
            prop_assert_eq!(read(a ^ b), numbers(one ^ other));
            prop_assert_eq!(read(!a), numbers(!one));
            prop_assert_eq!(a.count() as usize, numbers(one).len());
            prop_assert_eq!(a.contains(lane), numbers(one).contains(&lane.number()));
            prop_assert_eq!(a.is_within(b), numbers(one).iter().all(|at| numbers(other).contains(at)));
            prop_assert_eq!(a.meets(b), numbers(one).iter().any(|at| numbers(other).contains(at)));
            prop_assert_eq!(a.rank(lane), numbers(one).iter().filter(|at| **at < lane.number()).count());
            let (mut more, mut less) = (a, a);
            more.insert(lane);
            less.remove(lane);
            prop_assert_eq!(more, a | LaneMask::of(lane));
            prop_assert_eq!(less, a & !LaneMask::of(lane));
            if let (Some(first), Some(last)) = (numbers(one).first(), numbers(one).last()) {
                prop_assert_eq!((a.first().number(), a.last().number()), (*first, *last));
            }
            prop_assert_eq!(a.only().is_some(), a.count() == 1);
            prop_assert_eq!(LaneMask::of(lane).only(), Some(lane));
        }
    }

    #[test]
    fn none_and_all() {
        assert!(LaneMask::NONE.is_empty() && LaneMask::NONE.only().is_none() && !LaneMask::NONE.is_all());
        assert!(LaneMask::ALL.is_all() && LaneMask::ALL.only().is_none() && !LaneMask::ALL.is_empty());
        assert!(Lane::all().eq(LaneMask::ALL.iter()));
        assert_eq!(Lane::each(Lane::index), std::array::from_fn(|position| position));
        assert_eq!([LaneMask::all_if(true), LaneMask::all_if(false)], [LaneMask::ALL, LaneMask::NONE]);
        assert!(std::panic::catch_unwind(|| LaneMask::NONE.first()).is_err());
        assert!(std::panic::catch_unwind(|| LaneMask::NONE.last()).is_err());
        assert!(std::panic::catch_unwind(|| Lane::new(32)).is_err());
    }
}
