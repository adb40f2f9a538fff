//! How launches of one kernel change with its size.

use rustc_hash::FxHashMap;

/// How a launch changes from a size to the next.
#[derive(Debug)]
pub(crate) struct Growth {
    /// The dimension of the grid that grows.
    pub(crate) along: usize,
    /// By how many CTAs.
    pub(crate) ctas: i64,
    /// By how many bytes each tensor grows.
    pub(crate) bytes: Vec<i64>,
    /// The numbers among the arguments that change, by the tensor that holds them.
    pub(crate) numbers: FxHashMap<u32, Vec<Number>>,
}

/// A number among the arguments that changes.
#[derive(Debug)]
pub(crate) struct Number {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// What is added to its word; `None` where that is not the same each time.
    pub(crate) by: Option<i64>,
}

impl Growth {
    /// What is added to the number of a CTA in a dimension of the grid, from one position to the next.
    pub(super) fn ctas_along(&self, dimension: usize) -> i64 {
        if dimension == self.along { self.ctas } else { 1 }
    }

    /// By how many bytes a tensor grows.
    pub(super) fn bytes_of(&self, tensor: u32) -> i64 {
        self.bytes.get(tensor as usize).copied().unwrap_or(0)
    }

    /// How the bytes at an offset of a tensor change; `None` if they are the same in launches of all sizes.
    pub(crate) fn number(
        &self,
        (tensor, offset): (u32, u64),
        bytes: u64,
    ) -> Result<Option<Option<i64>>, Apart> {
        let numbers = self.numbers.get(&tensor).into_iter().flatten();
        let mut meets =
            numbers.filter(|number| number.offset < offset + bytes && offset < number.offset + number.bytes);
        match meets.next() {
            None => Ok(None),
            Some(number) if (number.offset, number.bytes) == (offset, bytes) => Ok(Some(number.by)),
            Some(_) => Err(Apart),
        }
    }
}

/// This run cannot stand for other CTAs.
#[derive(Debug)]
pub(crate) struct Apart;
