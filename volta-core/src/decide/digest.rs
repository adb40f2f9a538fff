//! A digest of the normal forms of all elements, which changes when any of them does.

use crate::algebra::{Digest, mix};
use crate::term::InputId;
use crate::verdict::FormsDigest;

impl FormsDigest {
    /// Adds an element with a concrete value.
    pub fn add_bits(&mut self, element: u128, bits: u64) {
        self.add(element, mix(1, u128::from(bits)), &[]);
    }

    /// Adds an element by the digest of its form.
    pub(super) fn add_form(&mut self, element: u128, digest: &Digest) {
        self.add(element, digest.content, &digest.first);
    }

    fn add(&mut self, element: u128, content: u128, first: &[(InputId, u64)]) {
        let place = |state, (input, element): &(InputId, u64)| {
            mix(mix(state, u128::from(input.0)), u128::from(*element))
        };
        self.digest = self.digest.wrapping_add(first.iter().fold(mix(element, content), place));
    }
}
