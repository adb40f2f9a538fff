//! Matrices of terms.

use crate::program::InstId;
use crate::value::Origin;

/// In place of a term: the element becomes undefined here.
pub(crate) const UNDEFINED: u64 = u64::MAX;
/// Marks an undefined element, with its origin in the other bits.
const NO_TERM: u64 = 1 << 63;

/// Whether an element is undefined.
pub(crate) fn is_undefined(raw: u64) -> bool {
    raw & NO_TERM != 0
}

/// The representation of an undefined element.
pub(crate) fn undefined(origin: Origin) -> u64 {
    NO_TERM | origin.raw()
}

/// The origin of an undefined element, which may have become undefined at `pc`.
pub(crate) fn origin_of(raw: u64, pc: InstId) -> Origin {
    if raw == UNDEFINED { Origin::Invalid(pc) } else { Origin::from_raw(raw & !NO_TERM) }
}

/// Raw term ids of a matrix, row by row.
pub(crate) struct Terms {
    pub(crate) columns: usize,
    pub(crate) raw: Vec<u64>,
}

impl Terms {
    pub(crate) fn new(rows: usize, columns: usize) -> Terms {
        Terms { columns, raw: vec![UNDEFINED; rows * columns] }
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> u64 {
        self.raw[row * self.columns + column]
    }

    pub(crate) fn set(&mut self, (row, column): (usize, usize), raw: u64) {
        self.raw[row * self.columns + column] = raw;
    }
}
