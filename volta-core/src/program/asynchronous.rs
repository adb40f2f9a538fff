//! Operations on what goes on while the thread does: asynchronous copies (rules Y6, Y11), barriers in shared memory that wait
//! for threads and for copies (Y9), and fences between proxies (Y10).

use super::effect::{Effect, Wait, Writes};
use super::op::{Address, Op, PredId, PredSrc, RegId, Space, Src};
use super::visit::Named;

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its state space.
    pub space: Space,
    /// Its address there.
    pub address: Address,
}

/// Which of its copies a thread commits and waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Those of `cp.async`.
    Plain,
    /// Those of `cp.async.bulk` that complete by groups.
    Bulk,
}

/// Which phase of a barrier a thread asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The one in which an arrival gave this state.
    State(Src),
    /// The current one or the one before, whichever has this parity.
    Parity(Src),
}

/// What happens to a barrier in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named as PTX names its operands")]
pub enum BarrierAction {
    /// `mbarrier.init`
    Init { count: Src },
    /// `mbarrier.inval`
    Invalidate,
    /// `mbarrier.arrive`, `mbarrier.arrive_drop`, with `.expect_tx` after expecting so many bytes
    Arrive {
        state: Option<RegId>,
        count: Src,
        bytes: Option<Src>,
        drops: bool,
        releases: bool,
        completes: bool,
    },
    /// `cp.async.mbarrier.arrive`: once all copies of the thread are over; `counted` with `.noinc`
    ArriveAfterCopies { counted: bool },
    /// `mbarrier.expect_tx`
    Expect { bytes: Src },
    /// `mbarrier.complete_tx`
    Complete { bytes: Src },
    /// `mbarrier.test_wait`, `mbarrier.try_wait`
    Test { p: PredId, phase: Phase, acquires: bool },
}

/// An asynchronous operation, or one on a barrier in memory.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as PTX names its operands")]
pub enum Async {
    /// `cp.async`: `bytes` bytes to shared memory, of which the first `size` come from global memory, zeros after;
    /// none do where `ignore` holds
    Copy { to: Address, from: Address, bytes: u32, size: Option<Src>, ignore: Option<PredSrc> },
    /// `cp.async.bulk` from global to shared memory, which completes on a barrier
    BulkLoad { to: Place, from: Place, bytes: Src, barrier: Place },
    /// `cp.async.bulk` from shared to global memory, which completes by groups
    BulkStore { to: Place, from: Place, bytes: Src },
    /// `cp.async{.bulk}.commit_group`
    Commit { groups: Groups },
    /// `cp.async{.bulk}.wait_group`: waits until at most so many groups are under way, or (`reads`) still read; `wait_all`
    /// (`None`) waits for what is not committed as well
    Wait { groups: Groups, pending: Option<u32>, reads: bool },
    /// `fence.proxy.async`
    Publish { shared: bool, global: bool },
    /// An operation on the barrier at this place
    Barrier { place: Place, action: BarrierAction },
}

impl Async {
    /// What it does beside computing.
    pub(super) fn effect(&self) -> Effect<'_> {
        match self {
            Async::Copy { .. } | Async::BulkLoad { .. } | Async::BulkStore { .. } => {
                Effect::Writes(Writes::Copy)
            }
            Async::Commit { .. } | Async::Wait { .. } | Async::Publish { .. } => Effect::Context,
            Async::Barrier { action, .. } => match action {
                BarrierAction::Test { .. } => Effect::Waits(Wait::Phase),
                BarrierAction::Init { .. }
                | BarrierAction::Invalidate
                | BarrierAction::Arrive { .. }
                | BarrierAction::ArriveAfterCopies { .. }
                | BarrierAction::Expect { .. }
                | BarrierAction::Complete { .. } => Effect::Context,
            },
        }
    }

    /// The addresses that it names.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = Address> {
        let found = match self {
            Async::Copy { to, from, .. } => [Some(*to), Some(*from), None],
            Async::BulkLoad { to, from, barrier, .. } => [to, from, barrier].map(|place| Some(place.address)),
            Async::BulkStore { to, from, .. } => [Some(to.address), Some(from.address), None],
            Async::Barrier { place, .. } => [Some(place.address), None, None],
            Async::Commit { .. } | Async::Wait { .. } | Async::Publish { .. } => [None; 3],
        };
        found.into_iter().flatten()
    }

    /// The values that it reads besides addresses.
    pub(crate) fn values(&self) -> impl Iterator<Item = Src> {
        let found = match self {
            Async::Copy { size, .. } => [*size, None],
            Async::BulkLoad { bytes, .. } | Async::BulkStore { bytes, .. } => [Some(*bytes), None],
            Async::Barrier { action, .. } => match action {
                BarrierAction::Init { count } => [Some(*count), None],
                BarrierAction::Arrive { count, bytes, .. } => [Some(*count), *bytes],
                BarrierAction::Expect { bytes } | BarrierAction::Complete { bytes } => [Some(*bytes), None],
                BarrierAction::Test { phase: Phase::State(phase) | Phase::Parity(phase), .. } => {
                    [Some(*phase), None]
                }
                BarrierAction::Invalidate | BarrierAction::ArriveAfterCopies { .. } => [None; 2],
            },
            Async::Commit { .. } | Async::Wait { .. } | Async::Publish { .. } => [None; 2],
        };
        found.into_iter().flatten()
    }

    /// Calls `visit` with everything that the operation names.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(Named)) {
        self.addresses().for_each(|address| visit(Named::Read(address.base)));
        self.values().for_each(|value| visit(Named::Read(value)));
        if let Async::Copy { ignore: Some(ignore), .. } = self {
            visit(Named::ReadPredicate(*ignore));
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

/// A test of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierTest {
    /// The barrier.
    pub place: Place,
    /// What says whether the phase is over.
    pub p: PredId,
    /// The phase.
    pub phase: Phase,
    /// What threads did before they arrived can be seen then.
    pub acquires: bool,
}

impl Op {
    /// The test of a barrier that it is, if it is one.
    pub fn barrier_test(&self) -> Option<BarrierTest> {
        let Op::Async(Async::Barrier { place, action: BarrierAction::Test { p, phase, acquires } }) = self
        else {
            return None;
        };
        Some(BarrierTest { place: *place, p: *p, phase: *phase, acquires: *acquires })
    }
}
