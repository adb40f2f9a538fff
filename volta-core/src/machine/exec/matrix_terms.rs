//! Matrices of terms.

use super::super::value::Origin;
use crate::program::InstId;

/// In place of a term: the element becomes undefined here.
pub(super) const UNDEFINED: u64 = u64::MAX;
/// Marks an undefined element, with its origin in the other bits.
const NO_TERM: u64 = 1 << 63;

/// Whether an element is undefined.
pub(super) fn is_undefined(raw: u64) -> bool {
    raw & NO_TERM != 0
}

/// The representation of an undefined element.
pub(super) fn undefined(origin: Origin) -> u64 {
    NO_TERM | origin.raw()
}

/// The origin of an undefined element, which may have become undefined at `pc`.
pub(super) fn origin_of(raw: u64, pc: InstId) -> Origin {
    if raw == UNDEFINED { Origin::Invalid(pc) } else { Origin::from_raw(raw & !NO_TERM) }
}

/// Raw term ids of a matrix, row by row.
pub(super) struct Terms {
    pub(super) columns: usize,
    pub(super) raw: Vec<u64>,
}

impl Terms {
    pub(super) fn new(rows: usize, columns: usize) -> Terms {
        Terms { columns, raw: vec![UNDEFINED; rows * columns] }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> u64 {
        self.raw[row * self.columns + column]
    }

    pub(super) fn set(&mut self, (row, column): (usize, usize), raw: u64) {
        self.raw[row * self.columns + column] = raw;
    }
}
