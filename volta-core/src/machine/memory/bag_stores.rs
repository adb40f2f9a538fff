//! What a CTA stores at places that counters give (rule Y18).

use crate::launch::Launch;
use crate::program::InstId;
use crate::term::{Count, Counts};
use crate::value::Value;
use crate::value::guard::Guard;
use crate::verdict::{Fault, FaultKind, Site};
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

impl Launch<'_> {
    /// The fault that it is not followed at which places a tensor is written.
    pub(crate) fn unclear(&self, tensor: u32, why: &str, sites: Vec<Site>) -> Fault {
        let name = &self.tensors[tensor as usize].name;
        let message = format!("at which places `{name}` is written is not followed: {why}");
        let help = "an output with `compare = \"set\"` is written either at known places, or at places that one counter \
                    gives, each once, and nothing else accesses it";
        Fault::new(self.which, FaultKind::Unsupported, "Y18", message, sites, Some(help.into()))
    }
}

/// The fault that something depends on what an atomic addition returned.
pub(crate) fn of_ticket(launch: &Launch<'_>, what: &str, sites: Vec<Site>) -> Fault {
    let message = format!("{what} depends on what an atomic addition returns, which is not followed here");
    let help = "with an output that is compared as a multiset, what an addition returns may be a place in it, and \
                nothing else";
    Fault::new(launch.which, FaultKind::Unsupported, "Y18", message, sites, Some(help.into()))
}

/// The fault that a thread reads from places that counters give.
pub(crate) fn read_as_well(launch: &Launch<'_>, tensor: u32, site: Site) -> Fault {
    launch.unclear(tensor, "it is read as well", vec![site])
}
