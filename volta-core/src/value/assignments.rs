//! The values that some integers of inputs may have together.

use crate::term::{Bound, Range, Ranges, Store, TermId};
use smallvec::SmallVec;

/// Values of some integers, in their order.
pub(crate) type Assignment = SmallVec<[i64; 3]>;

/// Integers of inputs, and all assignments to them that may fulfil a guard.
#[derive(Clone, Debug)]
pub(crate) struct Assignments {
    pub(crate) integers: SmallVec<[TermId; 3]>,
    pub(crate) rows: Vec<Assignment>,
}

impl Assignments {
    /// To no integers: there is one.
    pub(crate) fn none() -> Assignments {
        Assignments { integers: SmallVec::new(), rows: vec![Assignment::new()] }
    }

    /// Whether some input may fulfil the guard.
    pub(crate) fn are_any(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The values of some terms for each assignment, in order; `None` if one does not determine them.
    pub(crate) fn values<const N: usize>(&self, store: &Store, terms: [TermId; N]) -> Option<Vec<[i128; N]>> {
        let of_row = |row: &Assignment| {
            let mut ranges = self.ranges(row);
            let mut values = [0; N];
            for (value, term) in values.iter_mut().zip(terms) {
                let Range { low: Some(low), high: Some(high), whole: true, .. } = ranges.of(store, term)
                else {
                    return None;
                };
                *value = Some(low).filter(|_| low == high)?;
            }
            Some(values)
        };
        self.rows.iter().map(of_row).collect()
    }

    /// Ranges for an assignment, without what is supposed elsewhere.
    fn ranges(&self, row: &Assignment) -> Ranges {
        let mut ranges = Ranges::default();
        for (integer, value) in self.integers.iter().zip(row) {
            ranges.suppose(Bound::Between(*integer, i128::from(*value), i128::from(*value)));
        }
        ranges
    }

    /// Drops the assignments for which one of some conditions does not hold, or does.
    pub(crate) fn retain(&mut self, store: &Store, literals: &[(TermId, bool)]) {
        let may_hold = |row: &Assignment| {
            let mut ranges = self.ranges(row);
            literals.iter().all(|(condition, holds)| {
                let opposite = i128::from(!holds);
                !ranges.of(store, *condition).within(opposite, opposite)
            })
        };
        self.rows = self.rows.iter().filter(|row| may_hold(row)).cloned().collect();
    }
}
