//! What a CTA stores at places that counters give (rule Y18).

use super::guard::Guard;
use super::value::Value;
use crate::program::InstId;
use crate::term::{Count, Counts};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// An object and a byte of it.
pub(super) type CounterKey = (u32, u64);

/// An atomic addition.
#[derive(Debug)]
pub(super) struct Draw {
    pub(super) key: CounterKey,
    pub(super) guard: Guard,
    /// What it adds, where its guard holds.
    pub(super) by: Rc<Count>,
    pub(super) site: (u32, InstId),
}

/// A store whose place is a number of conditions.
#[derive(Debug)]
pub(super) struct BagStore {
    pub(super) tensor: u32,
    /// The byte of the tensor.
    pub(super) place: Count,
    pub(super) guard: Guard,
    pub(super) value: Value,
    pub(super) site: (u32, InstId),
}

/// What a CTA stores at places that counters give.
#[derive(Debug, Default)]
pub(super) struct Bags {
    pub(super) counts: Counts,
    pub(super) draws: Vec<Draw>,
    /// By counter, what it held before, and all that was added to it.
    pub(super) counters: BTreeMap<CounterKey, (i128, Count)>,
    /// Locations whose additions are not all of numbers of conditions, or that something else changes in between.
    pub(super) others: BTreeSet<CounterKey>,
    /// Locations of which threads use what an addition returned.
    pub(super) returned: BTreeSet<CounterKey>,
    pub(super) stores: Vec<BagStore>,
    /// Tensors that are stored to at such places.
    pub(super) stored: BTreeSet<u32>,
    /// Tensors that are compared as multisets and from which threads read.
    pub(super) read: BTreeSet<u32>,
}

impl Bags {
    /// Bytes of memory.
    pub(super) fn bytes(&self) -> u64 {
        self.counts.bytes()
            + (self.draws.len() * size_of::<Draw>() + self.stores.len() * 2 * size_of::<BagStore>()) as u64
    }
}
