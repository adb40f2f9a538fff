//! What walks wait for.
//!
//! A walk through a term descends into what it needs up to a fixed depth. Below that, it leaves a [`Need`] and ends with
//! [`Stop::Missing`]. A need is met by a walk of its own, from the top, whose result is remembered; it may leave further
//! needs. Then the walk that has left it is begun again, and finds what is remembered.
//!
//! Invariant: of the needs on the list, those up to `waiting` were left by walks that wait for them, each before those
//! that its own walk has left; those behind were left by the walk under way. A walk that ends with [`Stop::Missing`] has
//! left one.

use super::Stop;
use super::id::TermRef;
use super::polynomial::PolynomialId;

/// How deep needs are met by recursion.
const MAX_DEPTH: u32 = 24;

/// Something that must be known before a walk can go on. Operands have smaller ids than what uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Need {
    /// The flat form of a term.
    LinearSum(TermRef),
    /// A power of two.
    Power(TermRef),
    /// A term as a scale, its sum named.
    Factored(TermRef),
    /// A term as an interned polynomial.
    Resolved(TermRef),
    /// An exponent without lazy parts.
    Exponent(PolynomialId),
}

/// The needs of walks.
#[derive(Debug, Default)]
pub(super) struct Worklist {
    needs: Vec<Need>,
    /// How many of them are waited for.
    waiting: usize,
    /// How deep the walk under way has descended.
    depth: u32,
}

impl Worklist {
    /// The need to be met next, which depends on none that is waited for; none when the first walk is to be begun.
    pub(super) fn next(&mut self) -> Option<Need> {
        self.needs.truncate(self.waiting);
        self.depth = 0;
        self.needs.last().copied()
    }

    /// The need that [`Worklist::next`] has told is met.
    pub(super) fn met(&mut self) {
        self.waiting -= 1;
    }

    /// The walk under way waits for what it has left.
    pub(super) fn wait(&mut self) -> Result<(), Stop> {
        if self.needs.len() == self.waiting {
            return Err(Stop::Unknown("the algebra waits for nothing".to_string()));
        }
        self.needs[self.waiting..].sort_unstable_by(|a, b| b.cmp(a));
        self.waiting = self.needs.len();
        Ok(())
    }

    /// One level deeper, or a need more.
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

    /// How many needs there are, to be asked [later](Worklist::since) whether more were left.
    pub(super) fn mark(&self) -> usize {
        self.needs.len()
    }

    /// Nothing, if no need was left since a mark.
    pub(super) fn since(&self, mark: usize) -> Result<(), Stop> {
        if self.needs.len() > mark { Err(Stop::Missing) } else { Ok(()) }
    }

    /// Begins a walk within a walk at the top, which leaves nothing behind.
    pub(super) fn aside(&mut self) -> (usize, u32) {
        (self.needs.len(), std::mem::take(&mut self.depth))
    }

    /// Goes on with the walk that was put [aside](Worklist::aside).
    pub(super) fn resume(&mut self, (needs, depth): (usize, u32)) {
        self.needs.truncate(needs);
        self.depth = depth;
    }
}

/// What a walk has found, or nothing where it is missing: what else is missing is worth knowing before the walk is begun
/// again. Who goes on must ask [`Worklist::since`] in the end.
pub(super) fn if_known<T>(found: Result<T, Stop>) -> Result<Option<T>, Stop> {
    match found {
        Err(Stop::Missing) => Ok(None),
        other => other.map(Some),
    }
}
