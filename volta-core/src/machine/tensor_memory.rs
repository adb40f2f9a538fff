//! Tensor memory of a CTA (rule Y14): who has allocated which columns, and what goes on there.
//!
//! What lies there is kept with shared memory, as one more object, so that contents and races are found as there.

use super::clock::Clocks;
use super::race::Pipeline;
use crate::base::index::number_of;
use crate::number::format::Format;
use crate::program::{InstId, TENSOR_COLUMNS, TENSOR_LANES};
use rustc_hash::FxHashMap;

/// Cells of tensor memory.
pub(super) const CELLS: u32 = TENSOR_LANES * TENSOR_COLUMNS;
/// Columns are allocated by so many.
pub(super) const UNIT: u32 = 32;

/// Columns that were allocated together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    pub(super) first: u32,
    pub(super) columns: u32,
    pub(super) thread: u32,
    pub(super) stamp: u32,
    pub(super) pc: InstId,
    pub(super) freed: Option<Freed>,
}

/// Who freed it, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freed {
    pub(super) thread: u32,
    pub(super) stamp: u32,
    pub(super) pc: InstId,
}

impl Allocation {
    pub(super) fn covers(&self, column: u32) -> bool {
        (self.first..self.first + self.columns).contains(&column)
    }
}

/// The products of a thread. Its commits are over in their order: whoever knows this agent up to the number of a commit
/// knows that all products before that are over.
#[derive(Debug)]
pub(super) struct Committed {
    pub(super) agent: usize,
    pub(super) commits: u32,
    /// Those that it has not committed.
    pub(super) open: Vec<u32>,
}

/// What is known of a CTA's tensor memory.
#[derive(Debug, Default)]
pub(super) struct TensorMemory {
    /// In the order in which they were made.
    pub(super) allocations: Vec<Allocation>,
    /// Who gave up the right to allocate.
    pub(super) relinquished: Option<(u32, InstId)>,
    /// Loads and stores that a warp has not waited for.
    pub(super) loads: FxHashMap<usize, Vec<u32>>,
    pub(super) stores: FxHashMap<usize, Vec<u32>>,
    /// Products by the thread that started them.
    committed: FxHashMap<u32, Committed>,
    /// Accumulators with the shape of a product.
    accumulators: FxHashMap<(u64, [usize; 3], Format), u32>,
}

impl TensorMemory {
    /// The columns that a new allocation takes: the last ones that are free, from a multiple of their number on, so that
    /// allocations that do not grow leave no gaps, and one that is not whole does not begin at 0.
    pub(super) fn free_columns(&self, columns: u32) -> Option<u32> {
        let taken = |first: u32| {
            let mut alive = self.allocations.iter().filter(|allocation| allocation.freed.is_none());
            alive.any(|held| first < held.first + held.columns && held.first < first + columns)
        };
        (0..TENSOR_COLUMNS / columns).rev().map(|at| at * columns).find(|first| !taken(*first))
    }

    /// The allocation that holds a column now, or if there is none, the last that did.
    pub(super) fn holder(&self, column: u32) -> Option<&Allocation> {
        let all = || self.allocations.iter().rev().filter(|allocation| allocation.covers(column));
        all().find(|allocation| allocation.freed.is_none()).or_else(|| all().next())
    }

    /// The products of a thread.
    pub(super) fn committed_by(&mut self, thread: u32, clocks: &mut Clocks) -> &mut Committed {
        let new = || Committed { agent: clocks.new_agent(), commits: 0, open: Vec::new() };
        self.committed.entry(thread).or_insert_with(new)
    }

    /// What orders products: those into one accumulator, of one shape.
    pub(super) fn pipeline(&mut self, accumulator: u64, shape: [usize; 3], format: Format) -> Pipeline {
        let next = number_of(self.accumulators.len());
        Pipeline::Products(*self.accumulators.entry((accumulator, shape, format)).or_insert(next))
    }

    /// Bytes of state.
    pub(super) fn bytes(&self) -> u64 {
        let under_way = [&self.loads, &self.stores].into_iter().flat_map(|kind| kind.values().map(Vec::len));
        let products = self.committed.values().map(|committed| 8 + committed.open.len());
        let accumulators = self.accumulators.len() * 64;
        (self.allocations.len() * size_of::<Allocation>()
            + 4 * under_way.chain(products).sum::<usize>()
            + accumulators) as u64
    }
}

/// The cell of a lane and a column.
pub(super) fn cell(lane: u32, column: u32) -> u64 {
    u64::from(lane) * u64::from(TENSOR_COLUMNS) + u64::from(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_that_do_not_grow_fill_tensor_memory() {
        let mut memory = TensorMemory::default();
        for columns in [256, 128, 64, 32, 32] {
            let first = memory.free_columns(columns).unwrap();
            let held = Allocation { first, columns, thread: 0, stamp: 0, pc: InstId(0), freed: None };
            memory.allocations.push(held);
        }
        assert_eq!(memory.free_columns(32), None);
        assert!((0..TENSOR_COLUMNS).all(|column| memory.holder(column).is_some()));
        memory.allocations[1].freed = Some(Freed { thread: 0, stamp: 0, pc: InstId(0) });
        assert_eq!(memory.free_columns(128), Some(memory.allocations[1].first));
    }
}
