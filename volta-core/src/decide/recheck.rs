//! Compares proofs with evaluation: at separate points in intervals, which do not use the algebra, and in prime fields,
//! which take order, roots and logarithms from the algebra, and compute exactly.

use rayon::prelude::*;

use super::counterexample::{QuickFilter, SearchBudget};
use super::{DecisionOptions, ElementPair, InputInfo, every, fields};

/// The first point of a recheck; the search for witnesses uses earlier ones only.
const FIRST_ROUND: u32 = 101;
/// Number of elements that are evaluated, spread evenly.
pub(super) const SAMPLE: usize = 8;

/// The evaluation that found a contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// The enclosures of the two values are disjoint.
    Intervals,
    /// The values modulo a prime differ.
    Fields,
}

impl std::fmt::Display for Where {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Where::Intervals => "in intervals",
            Where::Fields => "in a prime field",
        })
    }
}

/// Evaluates both sides of some elements that were proved equal, at some points in intervals and in prime fields.
/// Returns the index of one that differs although both sides are defined: the proof or the evaluation is wrong.
pub fn contradiction(
    elements: &[ElementPair<'_>],
    inputs: &[InputInfo],
    points: u32,
    options: &DecisionOptions,
) -> Option<(usize, Where)> {
    if let Some(at) = in_intervals(elements, inputs, points, &options.effort) {
        return Some((at, Where::Intervals));
    }
    let checked = fields::check(elements, inputs, options);
    checked.contradiction.map(|at| (at, Where::Fields))
}

fn in_intervals(
    elements: &[ElementPair<'_>],
    inputs: &[InputInfo],
    points: u32,
    effort: &SearchBudget,
) -> Option<usize> {
    let sample = every(elements.len(), SAMPLE);
    let same = |a: &usize, b: &usize| {
        let (a, b) = (&elements[*a], &elements[*b]);
        std::ptr::eq(a.reference.0, b.reference.0) && std::ptr::eq(a.opt.0, b.opt.0)
    };
    let groups: Vec<&[usize]> = sample.chunk_by(same).collect();
    let found = groups.par_iter().filter_map(|group| {
        let (reference, opt) = (elements[group[0]].reference.0, elements[group[0]].opt.0);
        let terms = |at: &usize| (elements[*at].reference.1, elements[*at].opt.1);
        let pairs: Vec<_> = group.iter().map(terms).collect();
        (FIRST_ROUND..FIRST_ROUND + points).find_map(|round| {
            let mut screen = QuickFilter::new(reference, opt, inputs, round, effort.remembered);
            screen.differing(&pairs).first().map(|at| group[*at])
        })
    });
    found.min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::InstId;
    use crate::term::{InputId, Store, TermId, TermOp};

    #[test]
    fn what_is_not_equal_is_found() {
        let (mut left, mut right) = (Store::new(), Store::new());
        let x = |element| TermId::input(InputId(0), element);
        let inputs = [InputInfo { name: "x".into(), shape: vec![8], ..InputInfo::default() }];
        let sums: Vec<_> = (0..8).map(|at| left.apply(TermOp::Add, &[x(at), x(0)], InstId(0))).collect();
        let turned: Vec<_> = (0..8).map(|at| right.apply(TermOp::Add, &[x(0), x(at)], InstId(0))).collect();
        let wrong = right.apply(TermOp::Sub, &[x(5), x(0)], InstId(0));
        let mut elements: Vec<ElementPair<'_>> = sums
            .iter()
            .zip(&turned)
            .map(|(reference, opt)| ElementPair { reference: (&left, *reference), opt: (&right, *opt) })
            .collect();
        assert_eq!(contradiction(&elements, &inputs, 3, &DecisionOptions::default()), None);
        elements[5].opt.1 = wrong;
        let found = contradiction(&elements, &inputs, 3, &DecisionOptions::default());
        assert_eq!(found, Some((5, Where::Intervals)));
    }
}
