//! Tensor memory of the CTAs of a cluster (rule Y14): who has allocated which columns, and what goes on there.
//!
//! What lies there is kept with shared memory, as one more object, so that contents and races are found as there.

use super::clock::Clocks;
use super::race::Pipeline;
use crate::base::index::number_of;
use crate::program::matrix::MatrixElement;
use crate::program::{InstId, TENSOR_COLUMNS, TENSOR_LANES};
use rustc_hash::FxHashMap;

/// Cells of tensor memory.
pub(super) const CELLS: u32 = TENSOR_LANES * TENSOR_COLUMNS;
/// Columns are allocated by so many.
pub(super) const UNIT: u32 = 32;

/// Columns that were allocated together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    /// The CTA of the cluster whose columns they are.
    pub(super) rank: u32,
    /// Which operation of a pair of CTAs it is, if it is one.
    pub(super) of_both: Option<usize>,
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
    /// Which operation of a pair of CTAs it was, if it was one.
    pub(super) of_both: Option<usize>,
    pub(super) thread: u32,
    pub(super) stamp: u32,
    pub(super) pc: InstId,
}

impl Allocation {
    pub(super) fn covers(&self, column: u32) -> bool {
        (self.first..self.first + self.columns).contains(&column)
    }
}

/// An operation that a warp of each CTA of a pair execute together, as one of them has come to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Come {
    pub(super) warp: usize,
    pub(super) thread: u32,
    pub(super) stamp: u32,
    pub(super) pc: InstId,
}

/// What a CTA does together with its peer, in order.
#[derive(Debug, Default)]
pub(super) struct Together {
    pub(super) come: Vec<Come>,
    /// Of these, so many are done.
    pub(super) done: usize,
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

/// What is known of the tensor memory of a cluster.
#[derive(Debug, Default)]
pub(super) struct TensorMemory {
    /// In the order in which they were made.
    pub(super) allocations: Vec<Allocation>,
    /// Who gave up the right to allocate, by the CTA of the cluster.
    pub(super) relinquished: FxHashMap<u32, (u32, InstId)>,
    /// What pairs of CTAs do together, by the CTA of the cluster.
    pub(super) together: FxHashMap<u32, Together>,
    /// Whether operations are of pairs of CTAs, and the first one that said so.
    pub(super) of_pairs: Option<(bool, u32, InstId)>,
    /// Loads and stores that a warp has not waited for.
    pub(super) loads: FxHashMap<usize, Vec<u32>>,
    pub(super) stores: FxHashMap<usize, Vec<u32>>,
    /// Products by the thread that started them.
    committed: FxHashMap<u32, Committed>,
    /// Accumulators, by the first CTA that has a part, with the shape of a product.
    accumulators: FxHashMap<(u32, u64, [usize; 3], MatrixElement), u32>,
}

impl TensorMemory {
    /// The columns that a new allocation takes in each of these CTAs: the last ones that are free, from a multiple of their number on, so that
    /// allocations that do not grow leave no gaps, and one that is not whole does not begin at 0.
    pub(super) fn free_columns(&self, ranks: &[u32], columns: u32) -> Option<u32> {
        let taken = |first: u32| {
            let is_alive = |held: &&Allocation| held.freed.is_none() && ranks.contains(&held.rank);
            let mut alive = self.allocations.iter().filter(is_alive);
            alive.any(|held| first < held.first + held.columns && held.first < first + columns)
        };
        (0..TENSOR_COLUMNS / columns).rev().map(|at| at * columns).find(|first| !taken(*first))
    }

    /// The allocation that holds a column of a CTA now, or if there is none, the last that did.
    pub(super) fn holder(&self, rank: u32, column: u32) -> Option<&Allocation> {
        let covers = |held: &&Allocation| held.rank == rank && held.covers(column);
        let all = || self.allocations.iter().rev().filter(covers);
        all().find(|allocation| allocation.freed.is_none()).or_else(|| all().next())
    }

    /// The products of a thread.
    pub(super) fn committed_by(&mut self, thread: u32, clocks: &mut Clocks) -> &mut Committed {
        let new = || Committed { agent: clocks.new_agent(), commits: 0, open: Vec::new() };
        self.committed.entry(thread).or_insert_with(new)
    }

    /// What orders products: those into one accumulator, of one shape.
    pub(super) fn pipeline(
        &mut self,
        rank: u32,
        accumulator: u64,
        shape: [usize; 3],
        element: MatrixElement,
    ) -> Pipeline {
        let next = number_of(self.accumulators.len());
        Pipeline::Products(*self.accumulators.entry((rank, accumulator, shape, element)).or_insert(next))
    }

    /// Bytes of state.
    pub(super) fn bytes(&self) -> u64 {
        let under_way = [&self.loads, &self.stores].into_iter().flat_map(|kind| kind.values().map(Vec::len));
        let products = self.committed.values().map(|committed| 8 + committed.open.len());
        let accumulators = self.accumulators.len() * 64;
        let together = self.together.values().map(|together| size_of_val(together.come.as_slice()));
        (self.allocations.len() * size_of::<Allocation>()
            + together.sum::<usize>()
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
            let first = memory.free_columns(&[0], columns).unwrap();
            let held = Allocation {
                rank: 0,
                of_both: None,
                first,
                columns,
                thread: 0,
                stamp: 0,
                pc: InstId(0),
                freed: None,
            };
            memory.allocations.push(held);
            assert_eq!(memory.free_columns(&[1], 512), Some(0), "another CTA has its own");
        }
        assert_eq!(memory.free_columns(&[0], 32), None);
        assert_eq!(memory.free_columns(&[0, 1], 32), None);
        assert!((0..TENSOR_COLUMNS).all(|column| memory.holder(0, column).is_some()));
        assert!(memory.holder(1, 0).is_none());
        memory.allocations[1].freed = Some(Freed { of_both: None, thread: 0, stamp: 0, pc: InstId(0) });
        assert_eq!(memory.free_columns(&[0], 128), Some(memory.allocations[1].first));
    }
}
