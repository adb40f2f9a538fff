//! The asynchronous copies that a thread has in flight (rules Y6, Y11).

use std::collections::VecDeque;

/// A copy in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    /// Cells of shared memory that it writes.
    pub(super) first: u32,
    pub(super) cells: u32,
    /// Its number for the vector-clock detector.
    pub(super) number: u32,
}

/// The copies that one thread started and has not waited for.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Copies {
    pub(super) open: Vec<Copy>,
    pub(super) groups: VecDeque<Vec<Copy>>,
    pub(super) bulk: BulkGroups,
}

impl Copies {
    /// Whether no copy is in flight.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.groups.is_empty() && self.bulk.is_empty()
    }
}

/// A copy that completes by groups, whose reads and writes end separately. `writes` is `None` if several lanes write,
/// since no single one knows when they end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub(super) reads: u32,
    pub(super) writes: Option<u32>,
}

/// The copies of one thread that complete by groups and that it has not waited for.
#[derive(Clone, Debug, Default)]
pub(super) struct BulkGroups {
    pub(super) open: Vec<Stored>,
    pub(super) groups: VecDeque<Vec<Stored>>,
}

impl BulkGroups {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.groups.is_empty()
    }
}
