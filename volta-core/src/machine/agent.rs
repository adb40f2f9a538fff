//! Who accesses memory, and in what way: threads, atomics, asynchronous operations.

use super::clock::AsyncSpace;
use crate::base::lane::LaneMask;
use crate::program::{Scope, Update};

/// Who makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    /// The thread itself.
    Thread,
    /// Some lane, nobody knows which: each is recorded as if it were the one, and they do not race with each other.
    AnyOf {
        /// The number of the operation.
        operation: u32,
        /// Of the thread's warp.
        lanes: LaneMask,
    },
    /// The thread itself, atomically (rule Y7).
    Atomic {
        /// In which way.
        update: Update,
        /// Among whom.
        scope: Scope,
    },
    /// The asynchronous copy of that number, which the thread started (rule Y6); one that accesses memory by the async
    /// proxy says in which space (rule Y10). It may update atomically, in some way and among some threads.
    Copy { number: u32, proxy: Option<AsyncSpace>, update: Option<(Update, Scope)> },
    /// The thread itself, which makes a barrier in memory or ends one (rule Y9).
    Maker,
    /// The thread itself, of a barrier in memory: that is what these operations are for.
    Barrier,
    /// The thread itself, which sets a flag: a store that is strong among some threads (rule Y15).
    Setter {
        /// Which ones.
        scope: Scope,
    },
    /// The thread itself, which has waited for a flag.
    Waiter {
        /// Among whom its loads are strong.
        scope: Scope,
    },
}

/// How a location is updated atomically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AtomicUpdate {
    pub(super) update: Update,
    /// Among whom it is one operation.
    pub(super) scope: Scope,
    /// Operations of different proxies are not atomic for one another (ISA, Morally strong operations).
    proxy: Option<AsyncSpace>,
}

impl AtomicUpdate {
    /// Whether operations of CTAs of a launch that do not run together commute.
    pub(super) fn goes_with(self, other: AtomicUpdate) -> bool {
        self == other && self.scope == Scope::Launch
    }

    /// Whether two operations are atomic for one another, and do different things.
    pub(super) fn differs(self, other: AtomicUpdate) -> bool {
        self.update != other.update
            && self.update.accessed() == other.update.accessed()
            && self.proxy == other.proxy
    }
}

impl Agent {
    /// Whether accesses by the two do not race with each other, within a CTA: parts of one operation, or atomics that
    /// commute. Atomics of one width that overlap are of one address, since they are aligned.
    pub(super) fn goes_with(self, other: Agent) -> bool {
        match (self, other) {
            (Agent::Thread | Agent::Maker, _) => false,
            (Agent::Copy { number, .. }, Agent::Copy { number: other, .. }) if number == other => true,
            // Which stores and which waits there are, and that stores are in order, is all that rule Y15 asks.
            (Agent::Setter { .. }, Agent::Setter { .. }) => false,
            (Agent::Setter { .. } | Agent::Atomic { .. }, Agent::Waiter { .. })
            | (Agent::Waiter { .. }, Agent::Setter { .. } | Agent::Atomic { .. }) => true,
            _ => match (self.atomic_update(), other.atomic_update()) {
                (Some(one), Some(other)) => one.update == other.update && one.proxy == other.proxy,
                (None, Some(_)) | (Some(_), None) => false,
                (None, None) => self == other,
            },
        }
    }

    /// Among whom it is strong, if it is.
    pub(super) fn scope(self) -> Option<Scope> {
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

    /// How it updates what it accesses atomically, if it does.
    pub(super) fn atomic_update(self) -> Option<AtomicUpdate> {
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

    /// Whether it accesses memory as ordinary instructions do.
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
