//! Mutation testing with kernels: small edits of PTX by a documented [`taxonomy`], drawn by a hash and verified.
//!
//! A mutant whose verdict is still *equivalent* is a survivor. Some survivors are shown to be harmless mechanically
//! ([`judge`]): code that no thread reaches, integers that are the same at this launch. All others need a
//! recorded argument ([`record`]), or the verifier is wrong.

pub mod edits;
pub mod family;
pub mod judge;
pub mod place;
pub mod record;
pub mod sites;
pub mod taxonomy;

use volta_core::base::span::Span;

use self::taxonomy::Kind;

/// One edit of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What kind of mistake it is.
    pub kind: Kind,
    /// The spans to replace and their new texts, ascending, without overlap.
    pub changes: Vec<(Span, String)>,
}

impl Edit {
    /// The text with the edit.
    pub fn apply(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 64);
        let mut at = 0;
        for (span, new) in &self.changes {
            out.push_str(&text[at..span.start as usize]);
            out.push_str(new);
            at = span.end as usize;
        }
        out.push_str(&text[at..]);
        out
    }
}

/// The next of a sequence of pseudo-random numbers (`splitmix64`).
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// A hash of a text: FNV-1a with a final mix, since FNV hashes of similar texts are too close to order by.
pub fn hash(text: &str) -> u64 {
    let mut bits = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    next(&mut bits)
}
