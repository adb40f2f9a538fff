//! Tensor memory of the CTAs of a cluster (rule Y14): allocated columns, and operations in flight.
//!
//! Its contents are kept with shared memory, as one more object, so that accesses and races are checked in the same
//! way.

use crate::base::index::number_of;
use crate::concurrency::clock::Clocks;
use crate::concurrency::order::Pipeline;
use crate::program::matrix::MatrixElement;
use crate::program::{InstId, TENSOR_COLUMNS};
use rustc_hash::FxHashMap;

/// Columns are allocated in multiples of this.
pub(crate) const UNIT: u32 = 32;

/// Columns of one allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    /// The CTA of the cluster that owns the columns.
    pub(crate) rank: u32,
    /// For an allocation of a pair of CTAs, the index of the operation.
    pub(crate) of_both: Option<usize>,
    pub(crate) first: u32,
    pub(crate) columns: u32,
    pub(crate) thread: u32,
    pub(crate) stamp: u32,
    pub(crate) pc: InstId,
    pub(crate) freed: Option<Freed>,
}

/// Who freed an allocation, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freed {
    /// For an operation of a pair of CTAs, its index.
    pub(crate) of_both: Option<usize>,
    pub(crate) thread: u32,
    pub(crate) stamp: u32,
    pub(crate) pc: InstId,
}

impl Allocation {
    pub(crate) fn covers(&self, column: u32) -> bool {
        (self.first..self.first + self.columns).contains(&column)
    }
}

/// The arrival of one CTA's warp at an operation that both CTAs of a pair execute together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Come {
    pub(crate) warp: usize,
    pub(crate) thread: u32,
    pub(crate) stamp: u32,
    pub(crate) pc: InstId,
}

/// The operations that a CTA executes together with its peer, in order.
#[derive(Debug, Default)]
pub(crate) struct Together {
    pub(crate) come: Vec<Come>,
    /// How many of them are done.
    pub(crate) done: usize,
}

/// The products of a thread. Its commits complete in order: who knows this agent up to the number of a commit knows
/// that all products before it are complete.
#[derive(Debug)]
pub(crate) struct Committed {
    pub(crate) agent: usize,
    pub(crate) commits: u32,
    /// Products not yet committed.
    pub(crate) open: Vec<u32>,
}

/// State of a cluster's tensor memory.
#[derive(Debug, Default)]
pub(crate) struct TensorMemory {
    /// In the order of allocation.
    pub(crate) allocations: Vec<Allocation>,
    /// By CTA of the cluster, who gave up the right to allocate.
    pub(crate) relinquished: FxHashMap<u32, (u32, InstId)>,
    /// By CTA of the cluster, its operations together with its peer.
    pub(crate) together: FxHashMap<u32, Together>,
    /// Whether operations are of pairs of CTAs, and the first operation that determined it.
    pub(crate) of_pairs: Option<(bool, u32, InstId)>,
    /// By warp, loads and stores that it has not waited for.
    pub(crate) loads: FxHashMap<usize, Vec<u32>>,
    pub(crate) stores: FxHashMap<usize, Vec<u32>>,
    /// By thread, the products that it started.
    committed: FxHashMap<u32, Committed>,
    /// By first CTA, address and shape of an accumulator, the number of its pipeline.
    accumulators: FxHashMap<(u32, u64, [usize; 3], MatrixElement), u32>,
}

impl TensorMemory {
    /// The first column of a new allocation in each of these CTAs: the last free columns, aligned to a multiple of
    /// their number, so that allocations that do not grow leave no gaps, and a partial one does not begin at column 0.
    pub(crate) fn free_columns(&self, ranks: &[u32], columns: u32) -> Option<u32> {
        let taken = |first: u32| {
            let is_alive = |held: &&Allocation| held.freed.is_none() && ranks.contains(&held.rank);
            let mut alive = self.allocations.iter().filter(is_alive);
            alive.any(|held| first < held.first + held.columns && held.first < first + columns)
        };
        (0..TENSOR_COLUMNS / columns).rev().map(|at| at * columns).find(|first| !taken(*first))
    }

    /// The allocation that holds a column of a CTA now, or if there is none, the last that did.
    pub(crate) fn holder(&self, rank: u32, column: u32) -> Option<&Allocation> {
        let covers = |held: &&Allocation| held.rank == rank && held.covers(column);
        let all = || self.allocations.iter().rev().filter(covers);
        all().find(|allocation| allocation.freed.is_none()).or_else(|| all().next())
    }

    /// The state of a thread's products.
    pub(crate) fn committed_by(&mut self, thread: u32, clocks: &mut Clocks) -> &mut Committed {
        let new = || Committed { agent: clocks.new_agent(), commits: 0, open: Vec::new() };
        self.committed.entry(thread).or_insert_with(new)
    }

    /// The pipeline of products, which orders those into one accumulator and of one shape.
    pub(crate) fn pipeline(
        &mut self,
        rank: u32,
        accumulator: u64,
        shape: [usize; 3],
        element: MatrixElement,
    ) -> Pipeline {
        let next = number_of(self.accumulators.len());
        Pipeline::Products(*self.accumulators.entry((rank, accumulator, shape, element)).or_insert(next))
    }

    /// Bytes of memory that the state takes.
    pub(crate) fn bytes(&self) -> u64 {
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
pub(crate) fn cell(lane: u32, column: u32) -> u64 {
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
