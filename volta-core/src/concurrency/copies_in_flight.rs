//! The asynchronous copies that a thread has in flight (rules Y6, Y11).

use std::collections::VecDeque;

/// A copy in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    /// Cells of shared memory that it writes.
    pub(crate) first: u32,
    pub(crate) cells: u32,
    /// Its number for the vector-clock detector.
    pub(crate) number: u32,
}

/// The copies that one thread started and has not waited for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    pub(crate) open: Vec<Copy>,
    pub(crate) groups: VecDeque<Vec<Copy>>,
    pub(crate) bulk: BulkGroups,
}

impl Copies {
    /// Whether no copy is in flight.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.groups.is_empty() && self.bulk.is_empty()
    }
}

/// A copy that completes by groups, whose reads and writes end separately. `writes` is `None` if several lanes write,
/// since no single one knows when they end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub(crate) reads: u32,
    pub(crate) writes: Option<u32>,
}

/// The copies of one thread that complete by groups and that it has not waited for.
#[derive(Clone, Debug, Default)]
pub(crate) struct BulkGroups {
    pub(crate) open: Vec<Stored>,
    pub(crate) groups: VecDeque<Vec<Stored>>,
}

impl BulkGroups {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.groups.is_empty()
    }
}
