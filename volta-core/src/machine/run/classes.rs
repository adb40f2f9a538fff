//! The CTAs of a launch, as classes.

use super::output::OutputValue;
use crate::machine::cta_class::extents::{Extents, Steps};
use rustc_hash::FxHashMap;

/// CTAs that do as the first of them does, each with other elements.
#[derive(Clone, Debug)]
pub struct ClassOfCtas {
    /// The store of the first CTA, among those of the execution, if it wrote outputs.
    pub(crate) store: Option<usize>,
    /// The CTAs, from the first on.
    pub(crate) extents: Extents,
    /// By parameter of the case, by how many elements those that a CTA accesses are further on than those of the one
    /// before it in each dimension; `None` if it accesses none.
    pub(crate) steps: Vec<Option<Steps>>,
    /// What the first CTA wrote: for each tensor of the launch, elements in order.
    pub(crate) written: FxHashMap<u32, Vec<u64>>,
    /// By parameter, the values of these elements, if it is an output.
    pub(crate) values: FxHashMap<usize, Vec<OutputValue>>,
}

/// The CTAs of a launch, as classes.
#[derive(Clone, Debug)]
pub struct Classes {
    pub(crate) all: Vec<ClassOfCtas>,
    /// By parameter of the case.
    pub(crate) writers: Vec<Option<Writers>>,
    /// The number of CTAs.
    pub(crate) ctas: u64,
}

/// Who wrote the elements of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Writers {
    /// By class, the number of its first element in the order of classes, CTAs, and elements of a CTA.
    pub(crate) starts: Vec<u64>,
    /// By element, the number of what wrote it in that order plus one, or 0.
    pub(super) by_element: Vec<u32>,
}
