//! The kinds of memory accesses: by threads, atomic, by asynchronous operations.

use super::clock::AsyncSpace;
use crate::base::lane::LaneMask;
use crate::program::{Scope, Update};

/// The agent of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    /// The thread itself.
    Thread,
    /// One lane of a warp, unspecified which. The access must be ordered for each of them.
    AnyOf {
        /// The number of the operation.
        operation: u32,
        /// The candidates, in the thread's warp.
        lanes: LaneMask,
    },
    /// The thread itself, atomically (rule Y7).
    Atomic {
        /// The update.
        update: Update,
        /// The scope.
        scope: Scope,
    },
    /// The asynchronous operation of that number, which the thread started (rule Y6). `proxy` is the state space that
    /// it accesses by the async proxy, if it does (rule Y10). `update` is its atomic update with the scope, if it makes
    /// one.
    Copy { number: u32, proxy: Option<AsyncSpace>, update: Option<(Update, Scope)> },
    /// The thread itself, which initialises or invalidates an mbarrier (rule Y9).
    Maker,
    /// The thread itself, with another operation on an mbarrier; such operations do not race with each other.
    Barrier,
    /// The thread itself, which sets a flag by a strong store (rule Y15).
    Setter {
        /// The scope.
        scope: Scope,
    },
    /// The thread itself, which has waited for a flag by strong loads, or by atomic operations that write back what they
    /// find.
    Waiter {
        /// The scope of its loads.
        scope: Scope,
    },
}

/// An atomic update of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtomicUpdate {
    pub(crate) update: Update,
    /// The threads for which it is atomic.
    pub(crate) scope: Scope,
    /// Operations of different proxies are not atomic for one another (ISA, Morally strong operations).
    proxy: Option<AsyncSpace>,
}

impl AtomicUpdate {
    /// Whether two updates by CTAs that do not run together commute.
    pub(crate) fn goes_with(self, other: AtomicUpdate) -> bool {
        self == other && self.scope == Scope::Launch
    }

    /// Whether two operations are atomic for one another, and do different things.
    pub(crate) fn differs(self, other: AtomicUpdate) -> bool {
        self.update != other.update
            && self.update.accessed() == other.update.accessed()
            && self.proxy == other.proxy
    }
}

impl Agent {
    /// Whether accesses by two agents of one CTA do not race with each other: parts of one operation, or atomics that
    /// commute. Overlapping atomics of one width have the same address, since they are aligned.
    pub(crate) fn goes_with(self, other: Agent) -> bool {
        match (self, other) {
            (Agent::Thread | Agent::Maker, _) => false,
            (Agent::Copy { number, .. }, Agent::Copy { number: other, .. }) if number == other => true,
            (Agent::Copy { update: None, .. }, _) => false,
            // Rule Y15 requires that stores to flags are ordered; loads that wait do not race with stores and atomics.
            (Agent::Setter { .. }, Agent::Setter { .. }) => false,
            (Agent::Setter { .. } | Agent::Atomic { .. } | Agent::Waiter { .. }, Agent::Waiter { .. })
            | (Agent::Waiter { .. }, Agent::Setter { .. } | Agent::Atomic { .. }) => true,
            _ => match (self.atomic_update(), other.atomic_update()) {
                (Some(one), Some(other)) => one.update == other.update && one.proxy == other.proxy,
                (None, Some(_)) | (Some(_), None) => false,
                (None, None) => self == other,
            },
        }
    }

    /// The scope, if the access is strong.
    pub(crate) fn scope(self) -> Option<Scope> {
        match self {
            Agent::Setter { scope } | Agent::Waiter { scope } => Some(scope),
            Agent::Thread
            | Agent::AnyOf { .. }
            | Agent::Atomic { .. }
            | Agent::Copy { .. }
            | Agent::Maker
            | Agent::Barrier => self.atomic_update().map(|own| own.scope),
        }
    }

    /// The atomic update, if the access makes one.
    pub(crate) fn atomic_update(self) -> Option<AtomicUpdate> {
        match self {
            Agent::Atomic { update, scope } => Some(AtomicUpdate { update, scope, proxy: None }),
            Agent::Copy { proxy, update: Some((update, scope)), .. } => {
                Some(AtomicUpdate { update, scope, proxy })
            }
            Agent::Thread
            | Agent::AnyOf { .. }
            | Agent::Copy { update: None, .. }
            | Agent::Maker
            | Agent::Barrier
            | Agent::Setter { .. }
            | Agent::Waiter { .. } => None,
        }
    }

    /// Whether both are one operation: an asynchronous one, or one that an unspecified lane performs.
    pub(super) fn is_same_operation(self, other: Agent) -> bool {
        match (self, other) {
            (Agent::Copy { number, .. }, Agent::Copy { number: same, .. }) => number == same && self == other,
            (Agent::AnyOf { operation, .. }, Agent::AnyOf { operation: same, .. }) => operation == same,
            _ => false,
        }
    }

    /// The number of the operation, if an unspecified lane performs it.
    pub(crate) fn operation(self) -> Option<u32> {
        let Agent::AnyOf { operation, .. } = self else { return None };
        Some(operation)
    }

    /// Whether the access is by the generic proxy.
    pub(super) fn is_generic(self) -> bool {
        match self {
            Agent::Thread
            | Agent::AnyOf { .. }
            | Agent::Atomic { .. }
            | Agent::Maker
            | Agent::Barrier
            | Agent::Setter { .. }
            | Agent::Waiter { .. } => true,
            Agent::Copy { proxy, .. } => proxy.is_none(),
        }
    }
}
