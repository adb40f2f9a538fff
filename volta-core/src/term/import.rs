//! Copying terms from one store to another.

use crate::base::index::InstId;
use rustc_hash::FxHashMap;

use super::id::TermId;
use super::node::{Store, View};

/// A map from terms of one store to their copies in another.
pub type Imported = FxHashMap<TermId, TermId>;

impl Store {
    /// Copies `term` of a store that an earlier step of the same side left, by its number among these.
    pub fn import_left(&mut self, number: usize, from: &Store, term: TermId) -> TermId {
        self.approximates = match (self.approximates, from.approximates) {
            (Some(own), Some(other)) => Some(own.or(other)),
            (own, other) => own.or(other),
        };
        let mut known = self.left.remove(&number).unwrap_or_default();
        let copy = self.import(from, term, &mut known);
        self.left.insert(number, known);
        copy
    }

    /// Copies `term` of the store `from` and returns the copy. Inputs are the same in all stores of a launch; terms
    /// already copied are in `known`, which belongs to this pair of stores.
    pub fn import(&mut self, from: &Store, term: TermId, known: &mut Imported) -> TermId {
        self.import_with(from, term, known, |_| None)
    }

    /// Like [`Store::import`], with other terms in place of some: those that `instead` gives.
    pub fn import_with(
        &mut self,
        from: &Store,
        term: TermId,
        known: &mut Imported,
        instead: impl Fn(TermId) -> Option<TermId>,
    ) -> TermId {
        let mut work = vec![term];
        while let Some(&next) = work.last() {
            if known.contains_key(&next) {
                work.pop();
                continue;
            }
            if let Some(other) = instead(next) {
                known.insert(next, other);
                work.pop();
                continue;
            }
            let here = match from.view(next) {
                View::Input { .. } => next,
                View::Constant(constant) => self.intern(constant.clone()),
                View::Apply(op, operands) => {
                    let operands = &operands[..op.arity()];
                    let before = work.len();
                    work.extend(operands.iter().filter(|operand| !known.contains_key(operand)));
                    if work.len() > before {
                        continue;
                    }
                    let copied: Vec<TermId> = operands.iter().map(|operand| known[operand]).collect();
                    self.apply(op, &copied, from.site(next).unwrap_or(InstId::FIRST))
                }
            };
            known.insert(next, here);
            work.pop();
        }
        known[&term]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Constant, InputId, TermOp};
    use super::*;
    use crate::number::{Extended, Rational};

    #[test]
    fn what_is_copied_is_the_same_expression() {
        let mut from = Store::new();
        let x = TermId::input(InputId(0), 3);
        let two = Extended::Finite(Rational::from_integer(2));
        let two = from.intern(Constant { exact: two, literal: None, rounded: None });
        let quotient = from.apply(TermOp::Div, &[x, two], InstId(7));
        let sum = from.apply(TermOp::Add, &[quotient, quotient], InstId(8));

        let (mut to, mut known) = (Store::new(), Imported::default());
        to.apply(TermOp::Neg, &[x], InstId(0));
        let copy = to.import(&from, sum, &mut known);
        let View::Apply(TermOp::Add, [left, right, _]) = to.view(copy) else { panic!("a sum") };
        assert_eq!(left, right);
        let View::Apply(TermOp::Div, [numerator, denominator, _]) = to.view(left) else {
            panic!("a quotient")
        };
        assert_eq!((numerator, to.site(left)), (x, Some(InstId(7))), "with the place of its obligation");
        assert!(matches!(to.view(denominator), View::Constant(_)));
        assert_eq!(to.import(&from, sum, &mut known), copy);
        assert_eq!(to.len(), 3);
    }
}
