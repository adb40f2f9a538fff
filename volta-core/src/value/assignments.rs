//! The values that some integers of inputs may have together.

use crate::term::{Bound, InputId, Range, Ranges, Store, TermId, TermKind};
use smallvec::SmallVec;

/// The largest number of values of an integer for which it is tried whether a guard holds.
pub(crate) const MAX_VALUES: usize = 64;

/// So many pairs of assignments are compared.
const MAX_PAIRS: usize = 1 << 12;

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

    /// Whether no values of integers are among these and among others, where no two elements of some inputs are equal.
    pub(crate) fn exclude(&self, others: &Assignments, distinct: &[InputId]) -> bool {
        if self.rows.len().saturating_mul(others.rows.len()) > MAX_PAIRS {
            return false;
        }
        let meets = |(one, value): (&TermId, &i64), (other, with): (&TermId, &i64)| match (
            one.kind(),
            other.kind(),
        ) {
            _ if one == other => value == with,
            (TermKind::Input { input, .. }, TermKind::Input { input: same, .. }) if input == same => {
                value != with || !distinct.contains(&input)
            }
            _ => true,
        };
        let are_met = |row: &Assignment, with: &Assignment| {
            let all = || others.integers.iter().zip(with);
            self.integers.iter().zip(row).all(|own| all().all(|other| meets(own, other)))
        };
        self.rows.iter().all(|row| others.rows.iter().all(|with| !are_met(row, with)))
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
