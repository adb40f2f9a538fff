//! Terms that are the same operations on the same inputs: they are equal, whatever they compute.
//!
//! No form is made of them, so that what no form can be made of (a power with a billion factors) is equal to itself.

use super::translation_match::Located;
use crate::term::{TermId, TermKind, View};
use rustc_hash::FxHashSet;

/// Pairs of shared terms that are remembered at most: 16 bytes each, and the hash table.
const MAX_REMEMBERED: usize = 1 << 22;

/// Compares terms of two stores, and remembers which are the same.
#[derive(Debug, Default)]
pub struct Identity {
    /// Pairs that are the same, or that the comparison at hand has yet to look at.
    same: FxHashSet<(TermId, TermId)>,
    stores: Option<[usize; 2]>,
    stack: Vec<(TermId, TermId)>,
    steps: u64,
}

impl Identity {
    /// Whether two terms surely are the same operations on the same operands. Gives up after `allowed` steps: operations seen.
    pub fn holds(&mut self, [a, b]: [Located<'_>; 2], allowed: u64) -> bool {
        let stores = [a.store, b.store].map(|store| std::ptr::from_ref(store) as usize);
        if self.stores != Some(stores) || self.same.len() > MAX_REMEMBERED {
            self.same.clear();
            self.stores = Some(stores);
        }
        let same = self.compare([a, b], allowed);
        if !same {
            // Which of the pairs were only to be looked at is not known.
            self.same.clear();
        }
        same
    }

    /// Steps that the last comparison took.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    fn compare(&mut self, [a, b]: [Located<'_>; 2], allowed: u64) -> bool {
        let one_store = std::ptr::eq(a.store, b.store);
        self.stack.clear();
        self.stack.push((a.term, b.term));
        self.steps = 0;
        while let Some((left, right)) = self.stack.pop() {
            self.steps += 1;
            if self.steps > allowed || self.same.len() > MAX_REMEMBERED {
                return false;
            }
            let is_shared = matches!(left.kind(), TermKind::Lane(..)) && a.analysis.uses(left) > 1;
            if one_store && left == right || is_shared && !self.same.insert((left, right)) {
                continue;
            }
            match (a.store.view(left), b.store.view(right)) {
                (View::Input { .. }, View::Input { .. }) if left == right => {}
                (View::Constant(left), View::Constant(right)) if left == right => {}
                (View::Apply(op, left), View::Apply(other, right)) if op == other => {
                    self.stack.extend(left.into_iter().zip(right).take(op.arity()));
                }
                (View::Input { .. } | View::Constant(_) | View::Apply(..), _) => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::analysis::Analysis;
    use super::*;
    use crate::algebra::tests::Side;

    #[test]
    fn operations_operands_and_their_order_count() {
        let build = |swapped: bool, last: i64| {
            let mut side = Side::new();
            let (x, y, number) = (side.x(0), side.y(1), side.int(last));
            let product = side.mul(x, y);
            let operands = if swapped { [number, product] } else { [product, number] };
            let mut sum = side.sum(&operands);
            // Shared by many: seen once.
            for _ in 0..200 {
                sum = side.mul(sum, sum);
            }
            (side, sum)
        };
        let sides =
            [(false, 3), (false, 3), (true, 3), (false, 4)].map(|(swapped, last)| build(swapped, last));
        let analysis = sides.each_ref().map(|(side, _)| Analysis::of_all(&side.store));
        let at =
            |at: usize| Located { store: &sides[at].0.store, analysis: &analysis[at], term: sides[at].1 };
        let mut identity = Identity::default();
        assert!(identity.holds([at(0), at(1)], 10_000));
        assert!(!Identity::default().holds([at(0), at(1)], 100));
        for other in [2, 3] {
            assert!(!identity.holds([at(0), at(other)], 10_000));
            assert!(!identity.holds([at(other), at(0)], 10_000));
        }
        assert!(identity.holds([at(0), at(0)], 1));
    }

    #[test]
    fn a_pair_that_was_only_begun_is_not_known() {
        let build = |last: i64| {
            let mut side = Side::new();
            let x = side.x(0);
            let number = side.int(last);
            let shared = side.mul(x, number);
            let square = side.mul(shared, shared);
            (side, square)
        };
        let sides = [3, 4].map(build);
        let analysis = sides.each_ref().map(|(side, _)| Analysis::of_all(&side.store));
        let located = std::array::from_fn(|at| Located {
            store: &sides[at].0.store,
            analysis: &analysis[at],
            term: sides[at].1,
        });
        let mut identity = Identity::default();
        for _ in 0..2 {
            assert!(!identity.holds(located, 10_000));
        }
    }
}
