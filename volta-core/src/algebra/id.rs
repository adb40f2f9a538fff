//! Ids of terms and of interned atoms, and the order of content.
//!
//! Two atoms have one id exactly when their contents are the same, so equality of ids decides equality of atoms.
//! Ids are numbered in order of interning, so no visible order may depend on them: that is [`ContentOrder`],
//! derived from content.

use crate::index_type;
use crate::number::Rational;
use crate::term::TermId;

index_type!(
    /// An interned atom.
    AtomId,
    "a"
);

/// A term of one of the stores that a prover reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermRef {
    /// The store's number within the prover.
    pub store: u32,
    /// The term.
    pub term: TermId,
}

/// The place of an item in an order that depends on content alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentOrder {
    /// The first input element within: input number, element.
    pub lead: (u32, u64),
    /// Simpler kinds of atoms first.
    pub rank: u8,
    /// A hash of the content, the same in every run.
    pub fingerprint: u128,
}

impl ContentOrder {
    /// The place of an item that contains no input.
    pub const CONSTANT: ContentOrder = ContentOrder { lead: (u32::MAX, u64::MAX), rank: 0, fingerprint: 0 };
}

/// Mixes a word into a hash.
pub fn mix(state: u128, word: u128) -> u128 {
    let mut x = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    x ^= x >> 67;
    x = x.wrapping_add(word.rotate_left(41)).wrapping_mul(0xd6e8_feb8_6659_fd93_2545_f491_4f6c_dd1d);
    x ^ (x >> 71)
}

/// A number's contribution to a hash.
pub(super) fn hash_number(value: &Rational) -> u128 {
    match value.to_small_parts() {
        Some((num, den)) => mix(num as u128, u128::from(den)),
        None => value.to_string().bytes().fold(7, |state, byte| mix(state, u128::from(byte))),
    }
}
