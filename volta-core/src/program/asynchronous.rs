//! Asynchronous operations and what belongs to them: copies (rules Y6, Y11), barriers in shared memory that wait for
//! threads and for copies (Y9), proxy fences (Y10), products of matrices by four warps (Y12), and operations on tensor
//! memory (Y14).

use super::access::Strong;
use super::code::Program;
use super::effect::{Effect, Members, Wait, Writes};
use super::matrix::MatrixProduct;
use super::op::{Address, Int2, Op, PredId, PredSrc, RegId, Space, Src, VariableId, Width};
use super::tensor_memory::TensorMemoryOp;
use super::update::{Scope, Update};
use super::visit::Named;

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlace {
    /// Its state space.
    pub space: Space,
    /// Its address there.
    pub address: Address,
}

/// The operand of a bulk copy that lies in global memory, or in the shared memory of another CTA.
#[derive(Clone, Debug, PartialEq)]
pub enum Far {
    /// Bytes from an address on.
    Bytes {
        /// The first byte.
        at: MemoryPlace,
        /// The number of bytes.
        count: Src,
    },
    /// The box of a tensor map.
    Tile {
        /// The place of the map.
        map: MemoryPlace,
        /// The first element of the box in each dimension, innermost first.
        at: Vec<Src>,
    },
}

impl Far {
    /// The address that it names: of the bytes, or of the map.
    fn place(&self) -> MemoryPlace {
        match self {
            Far::Bytes { at, .. } => *at,
            Far::Tile { map, .. } => *map,
        }
    }

    /// The other values that it reads.
    fn values(&self) -> &[Src] {
        match self {
            Far::Bytes { count, .. } => std::slice::from_ref(count),
            Far::Tile { at, .. } => at,
        }
    }
}

/// The effect of a bulk copy on its destination in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkWrite {
    /// It writes all bytes.
    All,
    /// Of every 16 bytes, it writes those with set bits in this mask (`.cp_mask`).
    Masked(Src),
    /// It updates each element atomically (`cp.reduce`).
    Updates(Update),
    /// It updates elements of the tensor map's type atomically.
    UpdatesElements(Int2),
}

/// The kind of asynchronous operations that a thread commits and waits for by groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Copies of `cp.async`.
    Plain,
    /// Copies of `cp.async.bulk` that complete by groups.
    Bulk,
    /// Products of `wgmma`.
    Products,
}

/// A factor of a product by a warpgroup.
#[derive(Clone, Debug, PartialEq)]
pub enum Factor {
    /// Each lane has a part of it in registers.
    Registers(Vec<Src>),
    /// It lies in shared memory.
    Shared {
        /// A matrix descriptor: the address, the strides and the swizzle.
        descriptor: Src,
        /// Whether elements that are contiguous in memory are contiguous in k, not in m or n.
        k_major: bool,
        /// The variable in shared memory from which the descriptor's address is computed; `None` if there is none, or
        /// several.
        of: Option<VariableId>,
    },
}

/// `wgmma.mma_async`: a product that four warps start together, each for 16 rows.
#[derive(Clone, Debug, PartialEq)]
pub struct WarpgroupProduct {
    /// Its shape and element types; `m` is 64.
    pub product: MatrixProduct,
    /// The accumulator: addend and result.
    pub d: Vec<RegId>,
    /// The left factor.
    pub a: Factor,
    /// The right factor, in shared memory.
    pub b: Factor,
    /// Whether the previous contents of `d` are added.
    pub adds: Adds,
    /// Whether the product is subtracted.
    pub negates: bool,
}

/// Whether a product is added to the previous contents of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adds {
    /// Always, or never.
    Known(bool),
    /// If this predicate holds.
    If(PredSrc),
}

impl WarpgroupProduct {
    /// The registers of the left factor.
    pub fn left_registers(&self) -> impl Iterator<Item = RegId> {
        let left: &[Src] = match &self.a {
            Factor::Registers(list) => list,
            Factor::Shared { .. } => &[],
        };
        left.iter().filter_map(|source| match source {
            Src::Reg(register) => Some(*register),
            Src::Imm(_) | Src::Symbol(..) => None,
        })
    }

    /// Whether a source is a matrix descriptor.
    pub fn is_descriptor(&self, source: Src) -> bool {
        [&self.a, &self.b].into_iter().any(|factor| match factor {
            Factor::Registers(_) => false,
            Factor::Shared { descriptor, .. } => *descriptor == source,
        })
    }

    /// The values that it reads besides the result.
    fn sources(&self) -> impl Iterator<Item = Src> {
        let of = |factor: &Factor| match factor {
            Factor::Registers(list) => list.clone(),
            Factor::Shared { descriptor, .. } => vec![*descriptor],
        };
        [of(&self.a), of(&self.b)].into_iter().flatten()
    }
}

/// The phase of a barrier that a thread tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The phase in which an arrival returned this state.
    State(Src),
    /// The current phase or the one before, whichever has this parity.
    Parity(Src),
}

/// An operation on a barrier in memory. Relaxed arrivals and tests order memory only together with fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named as PTX names its operands")]
pub enum BarrierAction {
    /// `mbarrier.init`
    Init { count: Src },
    /// `mbarrier.inval`
    Invalidate,
    /// `mbarrier.arrive`, `mbarrier.arrive_drop`; with `.expect_tx`, after expecting this number of bytes
    Arrive {
        state: Option<RegId>,
        count: Src,
        bytes: Option<Src>,
        drops: bool,
        order: Strong,
        completes: bool,
    },
    /// `cp.async.mbarrier.arrive`: arrives once all copies of the thread are complete; `counted` with `.noinc`
    ArriveAfterCopies { counted: bool },
    /// `tcgen05.commit`: arrives once all products of the thread are complete; with `.multicast` at the same place in
    /// each of these CTAs
    ArriveAfterProducts { ctas: Option<Src>, pair: bool },
    /// `mbarrier.expect_tx`
    Expect { bytes: Src },
    /// `mbarrier.complete_tx`
    Complete { bytes: Src },
    /// `mbarrier.test_wait`, `mbarrier.try_wait`
    Test { p: PredId, phase: Phase, order: Strong },
}

/// The memory in which a proxy fence publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyFence {
    /// `fence.proxy.async`
    All,
    /// `fence.proxy.async.global`
    Global,
    /// `fence.proxy.async.shared::cta`: the CTA's own shared memory
    SharedOfCta,
    /// `fence.proxy.async.shared::cluster`
    SharedOfCluster,
}

/// The effect of a fence on later operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fenced {
    /// It orders memory for the threads of a scope.
    Memory {
        /// The scope.
        scope: Scope,
        /// A later relaxed arrival at an mbarrier (rule Y9) or at the cluster's barrier (Y13), or a later relaxed change
        /// of a flag (Y15), releases everything that the thread has done and knows.
        releases: bool,
        /// The thread acquires from what its earlier relaxed tests and loads have waited for (Y9, Y15).
        acquires: bool,
        /// Sequentially consistent: it comes before or after every other such fence, and what threads found in between
        /// tells which (Y18).
        total: bool,
    },
    /// It makes visible the barriers in memory that the thread has initialised.
    Barriers,
}

/// An asynchronous operation, an operation on a barrier in memory, or one on a block of memory.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as PTX names its operands")]
pub enum Async {
    /// `cp.async`: writes `bytes` bytes to shared memory, the first `size` from global memory, then zeros; only zeros
    /// if `ignore` holds
    Copy { to: Address, from: Address, bytes: u32, size: Option<Src>, ignore: Option<PredSrc> },
    /// `cp.async.bulk{.tensor}` to shared memory, which completes on a barrier. The source is global memory, with
    /// `.multicast` for these CTAs of the cluster, or the CTA's own shared memory for that of another CTA. With `pair`,
    /// the barrier may lie in the other CTA of the pair. With `cp.reduce` it updates memory of another CTA
    BulkLoad {
        to: MemoryPlace,
        from: Far,
        barrier: MemoryPlace,
        ctas: Option<Src>,
        pair: bool,
        update: Option<Update>,
    },
    /// `st.async`, and `red.async`, which updates: to shared memory of the cluster, where it completes on a barrier, or
    /// to global memory, where it completes on nothing
    StoreFar {
        to: MemoryPlace,
        width: Width,
        a: Vec<Src>,
        barrier: Option<MemoryPlace>,
        update: Option<(Update, Scope)>,
    },
    /// `cp.async.bulk{.tensor}` and `cp.reduce.async.bulk{.tensor}` from shared to global memory, which complete by
    /// groups
    BulkStore { to: Far, from: MemoryPlace, write: BulkWrite },
    /// `cp.async.bulk.prefetch{.tensor}`: has no observable effect
    Prefetch { from: Far },
    /// `st.bulk`: the thread itself stores this number of zero bytes to its own shared memory
    Clear { to: MemoryPlace, bytes: Src },
    /// `wgmma.mma_async`
    Multiply(Box<WarpgroupProduct>),
    /// `wgmma.fence`: orders accesses to registers before later products
    FenceRegisters,
    /// `cp.async{.bulk}.commit_group`, `wgmma.commit_group`
    Commit { groups: Groups },
    /// `cp.async{.bulk}.wait_group`, `wgmma.wait_group`: waits until at most `pending` groups are in flight, or with
    /// `reads`, still read their sources. `wait_all` (`None`) also waits for operations that are not committed
    Wait { groups: Groups, pending: Option<u32>, reads: bool },
    /// `fence.proxy.async`
    Publish { of: ProxyFence },
    /// A fence of a scope beyond the CTA, or `fence.mbarrier_init`: what later relaxed arrivals release
    Fence { of: Fenced },
    /// `barrier.cluster.arrive`
    ArriveAtCluster { releases: bool, aligned: bool },
    /// `barrier.cluster.wait`
    WaitForCluster { aligned: bool },
    /// `setmaxnreg`: the warp gives registers back to the pool of its CTA, or takes some, and then has `count` a thread
    SetRegisters { count: u32, takes: bool },
    /// `griddepcontrol`: waits for the end of the launches before, or lets the next one begin
    GridControl { waits: bool },
    /// An operation on the barrier at this place
    Barrier { place: MemoryPlace, action: BarrierAction },
    /// `tcgen05`
    Tensor(TensorMemoryOp),
}

impl Async {
    /// Its effect besides computing.
    pub(super) fn effect(&self) -> Effect<'_> {
        match self {
            Async::Copy { .. }
            | Async::BulkLoad { .. }
            | Async::StoreFar { .. }
            | Async::BulkStore { .. } => Effect::Writes(Writes::Copy),
            Async::Clear { .. } => Effect::Writes(Writes::Store),
            Async::Prefetch { .. } => Effect::Context,
            Async::Multiply(_)
            | Async::FenceRegisters
            | Async::SetRegisters { .. }
            | Async::Commit { groups: Groups::Products }
            | Async::Wait { groups: Groups::Products, .. } => Effect::Collective(Members::All),
            Async::Commit { .. }
            | Async::Wait { .. }
            | Async::Publish { .. }
            | Async::Fence { .. }
            | Async::GridControl { .. } => Effect::Context,
            // Both wait for the lanes of the warp.
            Async::ArriveAtCluster { .. } | Async::WaitForCluster { .. } => Effect::Waits(Wait::Phase),
            Async::Barrier { action, .. } => match action {
                BarrierAction::Test { .. } => Effect::Waits(Wait::Phase),
                BarrierAction::Init { .. }
                | BarrierAction::Invalidate
                | BarrierAction::Arrive { .. }
                | BarrierAction::ArriveAfterCopies { .. }
                | BarrierAction::ArriveAfterProducts { .. }
                | BarrierAction::Expect { .. }
                | BarrierAction::Complete { .. } => Effect::Context,
            },
            Async::Tensor(operation) => operation.effect(),
        }
    }

    /// The addresses that it names, except those of tensor memory.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = Address> {
        let found = match self {
            Async::Copy { to, from, .. } => [Some(*to), Some(*from), None],
            Async::StoreFar { to, barrier, .. } => {
                [Some(to.address), barrier.map(|barrier| barrier.address), None]
            }
            Async::BulkLoad { to, from, barrier, .. } => {
                [*to, from.place(), *barrier].map(|place| Some(place.address))
            }
            Async::BulkStore { to, from, .. } => [Some(to.place().address), Some(from.address), None],
            Async::Prefetch { from } => [Some(from.place().address), None, None],
            Async::Clear { to: place, .. }
            | Async::Barrier { place, .. }
            | Async::Tensor(TensorMemoryOp::Allocate { to: place, .. }) => [Some(place.address), None, None],
            Async::Tensor(
                TensorMemoryOp::Free { .. }
                | TensorMemoryOp::Relinquish { .. }
                | TensorMemoryOp::Load { .. }
                | TensorMemoryOp::Store { .. }
                | TensorMemoryOp::Wait { .. }
                | TensorMemoryOp::Fence { .. }
                | TensorMemoryOp::Copy { .. }
                | TensorMemoryOp::Multiply(_),
            )
            | Async::Multiply(_)
            | Async::FenceRegisters
            | Async::Commit { .. }
            | Async::Wait { .. }
            | Async::Publish { .. }
            | Async::Fence { .. }
            | Async::ArriveAtCluster { .. }
            | Async::WaitForCluster { .. }
            | Async::GridControl { .. }
            | Async::SetRegisters { .. } => [None; 3],
        };
        found.into_iter().flatten()
    }

    /// The values that it reads besides addresses.
    pub(crate) fn values(&self) -> impl Iterator<Item = Src> {
        let found: Vec<Src> = match self {
            Async::Copy { size, .. } => size.iter().copied().collect(),
            Async::BulkLoad { from: far, ctas, .. } => far.values().iter().copied().chain(*ctas).collect(),
            Async::BulkStore { to: far, write, .. } => {
                let mask = match write {
                    BulkWrite::Masked(mask) => Some(*mask),
                    BulkWrite::All | BulkWrite::Updates(_) | BulkWrite::UpdatesElements(_) => None,
                };
                far.values().iter().copied().chain(mask).collect()
            }
            Async::Prefetch { from: far } => far.values().to_vec(),
            Async::Clear { bytes, .. } => vec![*bytes],
            Async::StoreFar { a, .. } => a.clone(),
            Async::Multiply(product) => {
                product.sources().chain(product.d.iter().map(|d| Src::Reg(*d))).collect()
            }
            Async::Barrier { action, .. } => match action {
                BarrierAction::Init { count } => vec![*count],
                BarrierAction::Arrive { count, bytes, .. } => [*count].into_iter().chain(*bytes).collect(),
                BarrierAction::Expect { bytes } | BarrierAction::Complete { bytes } => vec![*bytes],
                BarrierAction::Test { phase: Phase::State(phase) | Phase::Parity(phase), .. } => vec![*phase],
                BarrierAction::ArriveAfterProducts { ctas, .. } => ctas.iter().copied().collect(),
                BarrierAction::Invalidate | BarrierAction::ArriveAfterCopies { .. } => Vec::new(),
            },
            Async::FenceRegisters
            | Async::Commit { .. }
            | Async::Wait { .. }
            | Async::Publish { .. }
            | Async::Fence { .. }
            | Async::ArriveAtCluster { .. }
            | Async::WaitForCluster { .. }
            | Async::GridControl { .. }
            | Async::SetRegisters { .. } => Vec::new(),
            Async::Tensor(operation) => operation.values(),
        };
        found.into_iter()
    }

    /// Calls `visit` with everything that the operation names.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(Named)) {
        self.addresses().for_each(|address| visit(Named::Read(address.base)));
        self.values().for_each(|value| visit(Named::Read(value)));
        if let Async::Copy { ignore: Some(ignore), .. } = self {
            visit(Named::ReadPredicate(*ignore));
        }
        if let Async::Multiply(product) = self {
            if let Adds::If(adds) = product.adds {
                visit(Named::ReadPredicate(adds));
            }
            product.d.iter().for_each(|d| visit(Named::Write(*d)));
        }
        if let Async::Tensor(operation) = self {
            operation.visit(visit);
        }
        let Async::Barrier { action, .. } = self else { return };
        if let BarrierAction::Arrive { state: Some(state), .. } = action {
            visit(Named::Write(*state));
        }
        if let BarrierAction::Test { p, .. } = action {
            visit(Named::WritePredicate(*p));
        }
    }
}

/// A test of a barrier in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierTest {
    /// The barrier.
    pub place: MemoryPlace,
    /// The predicate for the result: whether the phase is over.
    pub p: PredId,
    /// The phase.
    pub phase: Phase,
    /// The memory order of a successful test.
    pub order: Strong,
}

impl Program {
    /// Whether an arrival or a test at a barrier in memory is relaxed.
    pub fn has_relaxed_barriers(&self) -> bool {
        self.insts.iter().any(|inst| {
            let Op::Async(Async::Barrier { action, .. }) = &inst.op else { return false };
            let (BarrierAction::Arrive { order, .. } | BarrierAction::Test { order, .. }) = action else {
                return false;
            };
            !order.orders
        })
    }
}

impl Op {
    /// The test of a barrier, if the operation is one.
    pub fn barrier_test(&self) -> Option<BarrierTest> {
        let Op::Async(Async::Barrier { place, action: BarrierAction::Test { p, phase, order } }) = self
        else {
            return None;
        };
        Some(BarrierTest { place: *place, p: *p, phase: *phase, order: *order })
    }
}
