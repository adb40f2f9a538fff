//! Products of two input elements, and single elements, each as one word.
//!
//! A key holds two raw ids: the larger in the high half; a single element has its id there and [`NONE`] below.

use crate::term::{InputId, TermId, TermKind};

/// In place of a second factor, for a single element.
pub(super) const NONE: u64 = u64::MAX;

/// The key of a product.
pub(super) fn pack(a: u64, b: u64) -> u128 {
    let (low, high) = if a <= b { (a, b) } else { (b, a) };
    u128::from(high) << 64 | u128::from(low)
}

/// The key of a single element.
pub(super) fn pack_single(a: u64) -> u128 {
    u128::from(a) << 64 | u128::from(NONE)
}

/// The one or two input elements that a key multiplies, the smaller first.
pub(super) fn inputs_of(key: u128) -> impl Iterator<Item = (InputId, u64)> {
    let (high, low) = ((key >> 64) as u64, key as u64);
    [low, high].into_iter().filter(|raw| *raw != NONE).filter_map(|raw| match TermId::from_raw(raw).kind() {
        TermKind::Input { input, element } => Some((input, element)),
        TermKind::Constant(_) | TermKind::Lane(..) => None,
    })
}

/// Whether a key is a product of two.
pub(super) fn is_pair(key: u128) -> bool {
    key as u64 != NONE
}
