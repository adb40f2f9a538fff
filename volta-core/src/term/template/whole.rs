//! Functions of whole numbers, as a compiler or the machine shortens their code where an operand is an integer that was
//! converted: what is known to lie within a type is not cut to it, and what is compared with a fraction is compared with an
//! integer.

use super::Piece;
use super::graph::Match;
use crate::number::{Extended, Rational};
use crate::term::id::TermId;
use crate::term::info::TermOp;
use crate::term::node::View;
use crate::term::range::{Range, Ranges};
use rustc_hash::FxHashSet;

/// Ranges are asked for of terms with no more operations than this.
const MAX_OPERATIONS: usize = 64;

/// Whole numbers up to this have floats that are these numbers, in all formats of functions.
const EXACT: i128 = 1 << 24;

/// The whole numbers for which a comparison holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Threshold {
    /// Those up to this one.
    AtMost(i128),
    /// Those from this one on.
    AtLeast(i128),
}

/// The whole numbers for which a comparison with a number holds, which is its second operand or its first.
fn threshold(op: TermOp, number: &Extended, is_second: bool) -> Option<Threshold> {
    let number = number.finite()?;
    let bound = |value: Rational| value.to_i128().filter(|value| (-EXACT..=EXACT).contains(value));
    let (floor, ceil) = (bound(number.floor())?, bound(number.ceil())?);
    match (op, is_second) {
        (TermOp::Less, true) => Some(Threshold::AtMost(ceil - 1)),
        (TermOp::LessEqual, true) => Some(Threshold::AtMost(floor)),
        (TermOp::Less, false) => Some(Threshold::AtLeast(floor + 1)),
        (TermOp::LessEqual, false) => Some(Threshold::AtLeast(ceil)),
        _ => None,
    }
}

impl Match<'_> {
    /// Whether a term is the operand of a piece that cuts it at a number, where it lies on one side of that in any case.
    pub(super) fn fits_unclamped(&mut self, op: TermOp, [a, b, _]: [u32; 3], term: TermId) -> bool {
        if !matches!(op, TermOp::Min | TermOp::Max) {
            return false;
        }
        [(a, b), (b, a)].into_iter().any(|(inner, end)| {
            let Piece::Number(end) = &self.template.graph[end as usize] else { return false };
            let Some(end) = end.exact.finite() else { return false };
            let Some(range) = self.range(term) else { return false };
            let is_void = if op == TermOp::Max {
                range.low.is_some_and(|low| Rational::from_i128(low) >= *end)
            } else {
                range.high.is_some_and(|high| Rational::from_i128(high) <= *end)
            };
            let before = self.trail.len();
            let fits = is_void && self.fits(inner, term, false);
            if !fits {
                self.undo(before);
            }
            fits
        })
    }

    /// Whether a piece compares an operand with a number, and a term compares it with another one, so that both say the
    /// same of each whole number, which it is.
    pub(super) fn is_compared_alike(
        &mut self,
        (op, [a, b, _]): (TermOp, [u32; 3]),
        (own, [x, y, _]): (TermOp, [TermId; 3]),
    ) -> bool {
        let ends = [(a, b, true), (b, a, false)].into_iter().find_map(|(compared, end, is_second)| {
            let Piece::Number(end) = &self.template.graph[end as usize] else { return None };
            Some((compared, threshold(op, &end.exact, is_second)?))
        });
        let own = [(x, y, true), (y, x, false)]
            .into_iter()
            .find_map(|(term, end, is_second)| Some((term, threshold(own, self.number(end)?, is_second)?)));
        let (Some((compared, wanted)), Some((term, holds))) = (ends, own) else { return false };
        if wanted != holds || !self.range(term).is_some_and(|range| range.whole) {
            return false;
        }
        let before = self.trail.len();
        let fits = self.fits(compared, term, false);
        if !fits {
            self.undo(before);
        }
        fits
    }

    /// The range of a term that is computed by few operations.
    fn range(&self, term: TermId) -> Option<Range> {
        let (mut seen, mut work) = (FxHashSet::default(), vec![term]);
        while let Some(next) = work.pop() {
            if let View::Apply(op, operands) = self.store.view(next)
                && seen.insert(next)
            {
                if seen.len() > MAX_OPERATIONS {
                    return None;
                }
                work.extend(&operands[..op.arity()]);
            }
        }
        Some(Ranges::default().of(self.store, term))
    }
}
