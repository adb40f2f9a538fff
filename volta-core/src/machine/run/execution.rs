//! What the run of a launch gave.

use super::bags::Bag;
use super::classes::Classes;
use super::output::{Lost, Output, OutputValue};
use super::ran::{Others, Ran};
use crate::base::budget::Held;
use crate::launch::Launch;
use crate::machine::cta::work::Counts;
use crate::machine::memory::access_pattern::AccessPatterns;
use crate::machine::memory::overlap::Overlap;
use crate::term::Store;
use crate::verdict::Site;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The result of a run.
#[derive(Debug, Default)]
pub struct Execution {
    /// Terms, one store for each CTA that wrote an output.
    pub stores: Vec<Store>,
    /// Written elements of output tensors, by parameter and element.
    pub outputs: Vec<Output>,
    /// Written elements with unknown values, by parameter and element (rule S2).
    pub unevaluated: Vec<(usize, u64)>,
    /// Elements that this step leaves without a value, if another one follows, by parameter and element.
    pub lost: Vec<Lost>,
    /// What counts against the limit of instructions, with that of the steps before.
    pub taken: u64,
    /// The number of threads of a CTA.
    pub threads: u64,
    /// The number of CTAs that ran, and of those in the grid.
    pub ctas: (u64, u64),
    /// What was executed.
    pub counts: Counts,
    /// Nodes of all term stores.
    pub term_nodes: u64,
    /// Bytes of all term stores.
    pub term_bytes: u64,
    /// The memory that is kept.
    pub held: Held,
    /// The number of CTAs that ran with vector clocks.
    pub exact_ctas: u64,
    /// Variables of the module that were written and that the case does not give (rule M5), by name, each with the
    /// declaration to add.
    pub undeclared: BTreeMap<String, String>,
    /// The cost of accesses, if requested.
    pub patterns: AccessPatterns,
    /// Outputs that are compared as multisets.
    pub bags: Vec<Bag>,
    /// What it does to the memory of launches that may overlap with it.
    pub overlap: Option<Overlap>,
    /// Elements whose terms differ between orders of atomic operations (rule Y18).
    pub alternatives: Vec<Alternative>,
    /// The CTAs of the launch as classes, if only one of each was executed; outputs and stores are those of that one.
    pub classes: Option<Box<Classes>>,
    /// Whether nothing was executed: the iterations of the only thread do not run as CTAs of classes, which was all that
    /// was asked for.
    pub is_declined: bool,
}

impl Execution {
    /// The written elements of a parameter with known values, in order.
    pub fn outputs_of(&self, param: usize) -> &[Output] {
        let start = self.outputs.partition_point(|output| output.param < param);
        let end = self.outputs.partition_point(|output| output.param <= param);
        &self.outputs[start..end]
    }

    /// The written elements of a parameter, in order, with known or unknown values.
    pub fn written(&self, param: usize) -> Vec<u64> {
        let unknown = self.unevaluated.iter().filter(|(of, _)| *of == param).map(|(_, element)| *element);
        let mut written: Vec<u64> =
            self.outputs_of(param).iter().map(|output| output.element).chain(unknown).collect();
        written.sort_unstable();
        written.dedup();
        written
    }

    fn count_terms(&mut self, store: &Store) {
        self.term_nodes += store.len() as u64;
        self.term_bytes += store.bytes();
    }

    /// Adds a store of terms.
    pub fn add_store(&mut self, mut store: Store) {
        self.count_terms(&store);
        store.close();
        self.held.terms += store.bytes() + size_of::<Store>() as u64;
        self.stores.push(store);
    }

    pub(crate) fn add(&mut self, ran: Ran, launch: &Launch<'_>, has_bags: bool) {
        self.counts.add(&ran.counts);
        self.exact_ctas += u64::from(ran.exact);
        let leaves = !ran.lost.is_empty() || !ran.unevaluated.is_empty();
        self.held.state += size_of_val(ran.unevaluated.as_slice()) as u64;
        self.unevaluated.extend(ran.unevaluated);
        self.held.state += size_of_val(ran.lost.as_slice()) as u64;
        self.lost.extend(ran.lost);
        ran.patterns.iter().for_each(|patterns| self.patterns.merge(patterns));
        // What CTAs add to elements without a value refers to the store by its number.
        if ran.outputs.is_empty() && !leaves && !has_bags {
            self.count_terms(&ran.store);
        } else {
            let store = self.stores.len();
            self.add_store(ran.store);
            let Others { stores, differing, are_partial, sites } = ran.others;
            let others = self.stores.len();
            stores.into_iter().for_each(|store| self.add_store(store));
            for (param, element, own, there, of) in differing {
                self.alternatives.push(Alternative {
                    param,
                    element,
                    values: [(store, own), (others + of, there)],
                    step: launch.step,
                    is_followed: launch.is_followed,
                    is_complete: !are_partial,
                    sites: Arc::clone(&sites),
                });
            }
            self.held.state += (ran.outputs.len() * size_of::<Output>()) as u64;
            for (param, element, value) in ran.outputs {
                self.outputs.push(Output { param, element, store, value });
            }
        }
    }
}

impl Counts {
    pub(super) fn add(&mut self, other: &Counts) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.barriers += other.barriers;
        self.warp_syncs += other.warp_syncs;
        self.at_known_points |= other.at_known_points;
    }
}

/// An output element whose terms in two orders are not the same, in stores of their own.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// The tensor's parameter in the case.
    pub param: usize,
    /// Row-major element number.
    pub element: u64,
    /// Its values, each with the index of its store among those of the execution.
    pub values: [(usize, OutputValue); 2],
    /// The step that leaves it.
    pub step: usize,
    /// Whether another step follows, which may write it again.
    pub is_followed: bool,
    /// Whether all orders were executed, or there are too many.
    pub is_complete: bool,
    /// The operations that may come in several orders.
    pub sites: Arc<[Site]>,
}
