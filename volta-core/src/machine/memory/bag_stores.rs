//! What a CTA stores at places that counters give (rule Y18).

use crate::program::InstId;
use crate::term::{Count, Counts};
use crate::value::Value;
use crate::value::guard::Guard;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// An object and a byte of it.
pub(crate) type CounterKey = (u32, u64);

/// An atomic addition.
#[derive(Debug)]
pub(crate) struct Draw {
    pub(crate) key: CounterKey,
    pub(crate) guard: Guard,
    /// What it adds, where its guard holds.
    pub(crate) by: Rc<Count>,
    pub(crate) site: (u32, InstId),
}

/// A store whose place is a number of conditions.
#[derive(Debug)]
pub(crate) struct BagStore {
    pub(crate) tensor: u32,
    /// The byte of the tensor.
    pub(crate) place: Count,
    pub(crate) guard: Guard,
    pub(crate) value: Value,
    pub(crate) site: (u32, InstId),
}

/// What a CTA stores at places that counters give.
#[derive(Debug, Default)]
pub(crate) struct Bags {
    pub(crate) counts: Counts,
    pub(crate) draws: Vec<Draw>,
    /// By counter, what it held before, and all that was added to it.
    pub(crate) counters: BTreeMap<CounterKey, (i128, Count)>,
    /// Locations whose additions are not all of numbers of conditions, or that something else changes in between.
    pub(crate) others: BTreeSet<CounterKey>,
    /// Locations of which threads use what an addition returned.
    pub(crate) returned: BTreeSet<CounterKey>,
    pub(crate) stores: Vec<BagStore>,
    /// Tensors that are stored to at such places.
    pub(crate) stored: BTreeSet<u32>,
    /// Tensors that are compared as multisets and from which threads read.
    pub(crate) read: BTreeSet<u32>,
}

impl Bags {
    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.counts.bytes()
            + (self.draws.len() * size_of::<Draw>() + self.stores.len() * 2 * size_of::<BagStore>()) as u64
    }
}
