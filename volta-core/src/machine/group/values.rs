//! The values that threads hold, and what is known of them. Who computes them, and where they are stored, is not known
//! here. Each part can only touch what it owns or borrows: [`ValueTerms`] what all values rest on, [`Reals`] what is known of
//! floats as well, [`Matrices`] the fragments of warps besides, and [`Values`] what values become under conditions.

use super::context::Context;
use super::terms::ValueTerms;
use super::wmma_fragments::Fragments;
use crate::base::budget::Held;
use crate::number::format::Format;
use crate::term::{Congruence, NodeId, Store};
use crate::value::constants::Points;
use crate::value::known_floats::KnownValues;
use crate::value::packed::PackedValues;
use rustc_hash::FxHashMap;

/// The values of a CTA.
pub(crate) struct Values<'l> {
    pub(crate) terms: ValueTerms<'l>,
    pub(crate) numbers: Numbers,
    /// Which terms are equal to the last bit, computed on demand.
    pub(crate) congruence: Congruence,
    /// How many branches on inputs the running lanes are inside of.
    pub(crate) depth: u32,
    /// Matrices that warps hold for `wmma`.
    pub(crate) fragments: Fragments,
}

/// What is known of floats.
#[derive(Default)]
pub(crate) struct Numbers {
    /// Facts about values that depend on no input.
    pub(crate) known: KnownValues,
    /// Known floats that are kept as terms.
    pub(crate) points: Points,
    /// Nodes made by the range reduction of `exp` (see `idiom`): the lowest exponent field and the offset.
    pub(crate) reductions: FxHashMap<NodeId, i64>,
    /// Terms of literals met so far.
    pub(crate) literals: FxHashMap<(Format, u64), Option<u64>>,
    /// Whether the last atomic update was one of shared memory.
    pub(crate) updates_shared: bool,
}

/// Values read and written as floats.
pub(crate) struct Reals<'v, 'l> {
    pub(crate) terms: &'v mut ValueTerms<'l>,
    pub(crate) numbers: &'v mut Numbers,
}

/// Matrices that lanes of a warp hold together.
pub(crate) struct Matrices<'v, 'l> {
    pub(crate) terms: &'v mut ValueTerms<'l>,
    pub(crate) numbers: &'v mut Numbers,
    pub(crate) fragments: &'v mut Fragments,
}

impl<'l> Values<'l> {
    /// Before the first instruction; `by_counting` says whether guards are functions of what decides them.
    pub(crate) fn new(context: Context<'l>, by_counting: bool) -> Values<'l> {
        Values {
            terms: ValueTerms::new(context, by_counting),
            numbers: Numbers::default(),
            congruence: Congruence::default(),
            depth: 0,
            fragments: Fragments::default(),
        }
    }

    /// What the initial contents of memory are made with.
    pub(crate) fn making(&mut self) -> (&mut PackedValues, &mut Store) {
        (&mut self.terms.packed, &mut self.terms.store)
    }

    #[inline]
    pub(crate) fn reals(&mut self) -> Reals<'_, 'l> {
        Reals { terms: &mut self.terms, numbers: &mut self.numbers }
    }

    #[inline]
    pub(crate) fn matrices(&mut self) -> Matrices<'_, 'l> {
        let Values { terms, numbers, fragments, .. } = self;
        Matrices { terms, numbers, fragments }
    }

    /// The memory that they take.
    pub(crate) fn kept(&self) -> Held {
        let Values {
            terms: ValueTerms { store, ranges, packed, asked, guards, .. },
            numbers,
            congruence,
            ..
        } = self;
        let state = packed.bytes() + asked.bytes() + guards.bytes() + self.fragments.bytes();
        let analysis = ranges.bytes() + numbers.known.bytes() + congruence.bytes();
        Held { terms: store.bytes(), state, analysis, ..Held::default() }
    }
}

impl<'l> Matrices<'_, 'l> {
    #[inline]
    pub(crate) fn reals(&mut self) -> Reals<'_, 'l> {
        Reals { terms: self.terms, numbers: self.numbers }
    }
}
