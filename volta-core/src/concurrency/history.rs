//! The earlier accesses to each cell of memory, for the vector-clock detector.

use super::order::Access;
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// Accesses to one cell that a later access may race with.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(crate) writes: Vec<Access>,
    pub(crate) reads: Vec<Access>,
    /// The thread that last wrote by the async proxy, and a number n: this thread knows that the first n reads are
    /// over, and keeps this knowledge.
    pub(crate) over: (u32, usize),
    /// The number of reads that were left when it was last looked for ones that can be forgotten.
    pub(crate) kept: usize,
}

/// So many reads more than twice those that were left are recorded before it is looked again for ones to forget.
const MORE_READS: usize = 8;

impl History {
    /// Whether reads have become so many that looking for ones to forget is worth its cost.
    pub(super) fn is_full(&self) -> bool {
        self.reads.len() >= 2 * self.kept + MORE_READS
    }

    /// The reads without those that a thread is known to be ordered after.
    pub(super) fn reads_for(&self, thread: u32) -> &[Access] {
        let (writer, over) = self.over;
        &self.reads[if writer == thread { over } else { 0 }..]
    }
}

/// Cells whose histories lie side by side. Accesses mostly go to neighbours of the cell before.
const NEIGHBOURS: usize = 8;

/// An object and the number of a group of neighbours in it.
type Group = (u32, u64);

/// The histories of all cells.
#[derive(Debug, Default)]
pub(super) struct Histories {
    groups: Vec<[History; NEIGHBOURS]>,
    places: FxHashMap<Group, usize>,
    /// The group that was looked up last, with its place.
    last: Cell<Option<(Group, usize)>>,
}

impl Histories {
    fn group((object, cell): (u32, u64)) -> (Group, usize) {
        let neighbours = NEIGHBOURS as u64;
        ((object, cell / neighbours), (cell % neighbours) as usize)
    }

    fn place(&self, group: Group) -> Option<usize> {
        if let Some((last, place)) = self.last.get()
            && last == group
        {
            return Some(place);
        }
        let place = self.places.get(&group).copied()?;
        self.last.set(Some((group, place)));
        Some(place)
    }

    /// The history of a cell of an object, if it or a neighbour has one.
    pub(crate) fn get(&self, place: (u32, u64)) -> Option<&History> {
        let (group, within) = Histories::group(place);
        self.place(group).map(|group| &self.groups[group][within])
    }

    /// The history of a cell of an object.
    pub(crate) fn get_mut(&mut self, place: (u32, u64)) -> &mut History {
        let (group, within) = Histories::group(place);
        let place = self.place(group).unwrap_or_else(|| {
            self.places.insert(group, self.groups.len());
            self.groups.push(Default::default());
            self.groups.len() - 1
        });
        &mut self.groups[place][within]
    }

    /// Bytes of memory, without those of the accesses.
    pub(crate) fn bytes(&self) -> u64 {
        (self.groups.len() * (NEIGHBOURS * size_of::<History>() + 32)) as u64
    }
}
