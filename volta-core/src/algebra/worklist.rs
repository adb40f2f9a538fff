//! The worklist of a walk's needs.
//!
//! A walk through a term descends recursively into its needs up to a fixed depth. Below that, it leaves a [`Need`]
//! and ends with [`Stop::Missing`]. A need is met by a walk of its own, from the top, whose result is memoized; it
//! may leave further needs. Then the walk that left it is restarted and finds the memoized result.
//!
//! Invariant: the needs up to `waiting` were left by suspended walks, each before those that its own walk has left; the
//! needs behind them were left by the current walk. A walk that ends with [`Stop::Missing`] has left at least one.

use super::Stop;
use super::id::TermRef;
use super::polynomial::PolynomialId;

/// Needs are met by recursion up to this depth.
const MAX_DEPTH: u32 = 24;

/// A result that must be known before a walk can continue. Operands have smaller ids than their users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Need {
    /// The linear sum of a term.
    LinearSum(TermRef),
    /// A power of two.
    Power(TermRef),
    /// A term as a scale, its sum named.
    Factored(TermRef),
    /// A term as an interned polynomial.
    Resolved(TermRef),
    /// An exponent without opaque atoms.
    Exponent(PolynomialId),
}

/// The needs of walks.
#[derive(Debug, Default)]
pub(super) struct Worklist {
    needs: Vec<Need>,
    /// The number of needs of suspended walks.
    waiting: usize,
    /// The depth of the current walk.
    depth: u32,
}

impl Worklist {
    /// The need to be met next, which depends on none that is waited for; `None` when the first walk is to be started.
    pub(super) fn next(&mut self) -> Option<Need> {
        self.needs.truncate(self.waiting);
        self.depth = 0;
        self.needs.last().copied()
    }

    /// Removes the need that [`Worklist::next`] has returned.
    pub(super) fn met(&mut self) {
        self.waiting -= 1;
    }

    /// Suspends the current walk until the needs that it has left are met.
    pub(super) fn wait(&mut self) -> Result<(), Stop> {
        if self.needs.len() == self.waiting {
            return Err(Stop::Unknown("the algebra waits without a task".to_string()));
        }
        self.needs[self.waiting..].sort_unstable_by(|a, b| b.cmp(a));
        self.waiting = self.needs.len();
        Ok(())
    }

    /// Descends one level, or leaves a need if that is too deep.
    pub(super) fn descend(&mut self, need: Need) -> Result<(), Stop> {
        if self.depth >= MAX_DEPTH {
            self.needs.push(need);
            return Err(Stop::Missing);
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// The number of needs, to ask [later](Worklist::since) whether more were left.
    pub(super) fn mark(&self) -> usize {
        self.needs.len()
    }

    /// An error if a need was left since a mark.
    pub(super) fn since(&self, mark: usize) -> Result<(), Stop> {
        if self.needs.len() > mark { Err(Stop::Missing) } else { Ok(()) }
    }

    /// Begins a nested walk at depth 0; its needs are discarded by [`Worklist::resume`].
    pub(super) fn aside(&mut self) -> (usize, u32) {
        (self.needs.len(), std::mem::take(&mut self.depth))
    }

    /// Continues the walk that was put [aside](Worklist::aside).
    pub(super) fn resume(&mut self, (needs, depth): (usize, u32)) {
        self.needs.truncate(needs);
        self.depth = depth;
    }
}

/// The result of a walk, or `None` where it is missing: the caller continues, to find further needs before the walk
/// is restarted, and must ask [`Worklist::since`] in the end.
pub(super) fn if_known<T>(found: Result<T, Stop>) -> Result<Option<T>, Stop> {
    match found {
        Err(Stop::Missing) => Ok(None),
        other => other.map(Some),
    }
}
