//! A cache of operands that are explicit lists.
//!
//! The same fragment of a matrix is an operand of many nodes, each with a list of its own. The result of reading a list
//! lane by lane is cached by the contents of the list.

use crate::base::lane::LaneMask;
use crate::term::Lanes;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// Capacity; a new entry replaces another.
const REMEMBERED: usize = 1 << 12;

/// Some lanes of an operand, as a key independent of the node.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Read {
    mask: LaneMask,
    lanes: LaneMask,
    /// The encoding of the words.
    way: u32,
    words: SmallVec<[u64; 8]>,
}

impl Read {
    /// The key of an operand in `lanes`, for a node with the lanes of `mask`.
    pub(super) fn new(mask: LaneMask, lanes: LaneMask, own: Lanes<'_>) -> Read {
        let (way, words) = match own {
            Lanes::Affine { base, stride } => (0, SmallVec::from_slice(&[base, stride as u64])),
            Lanes::Strides { base, motion } => {
                (1, std::iter::once(base).chain(motion.steps.iter().map(|step| *step as u64)).collect())
            }
            Lanes::List(list) => (2, SmallVec::from_slice(list)),
            Lanes::Repeated { list, shift } => (3 + shift, SmallVec::from_slice(list)),
        };
        Read { mask, lanes, way, words }
    }

    fn place(&self) -> usize {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        (hasher.finish() >> 32) as usize % REMEMBERED
    }
}

/// A cache of the results of reading operands.
#[derive(Debug)]
pub(super) struct Recall<T> {
    /// Empty at first: most stores have no such operands.
    entries: Vec<Option<(Read, T)>>,
}

impl<T> Recall<T> {
    pub(super) fn new() -> Recall<T> {
        Recall { entries: Vec::new() }
    }

    pub(super) fn find(&self, read: &Read) -> Option<&T> {
        let entry = self.entries.get(read.place())?.as_ref();
        entry.filter(|(known, _)| known == read).map(|(_, result)| result)
    }

    pub(super) fn keep(&mut self, read: Read, result: T) {
        if self.entries.is_empty() {
            self.entries.resize_with(REMEMBERED, || None);
        }
        let place = read.place();
        self.entries[place] = Some((read, result));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Motion;

    #[test]
    fn the_same_words_read_in_another_way_are_another_operand() {
        let list = [1u64, 2, 4, 8, 16, 32];
        let mask = LaneMask::from_bits(0x3f);
        let motion = Motion::new([2, 4, 8, 16, 32]);
        let ways = [
            Lanes::Affine { base: 1, stride: 2 },
            Lanes::List(&list[..2]),
            Lanes::Strides { base: 1, motion: &motion },
            Lanes::List(&list),
            Lanes::Repeated { list: &list, shift: 0 },
            Lanes::Repeated { list: &list, shift: 1 },
        ];
        let reads = ways.map(|own| Read::new(mask, mask, own));
        for (at, read) in reads.iter().enumerate() {
            assert_eq!(reads.iter().position(|other| other == read), Some(at));
        }
    }
}
