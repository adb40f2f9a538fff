//! Explains a difference by one intermediate value: a divisor, a radicand, a maximum, a condition.
//!
//! Two kernels compute the same function in different ways, so most intermediate values differ without being wrong. The
//! value named here causes the difference: with the optimized kernel's value in its place, the reference computes what
//! the optimized kernel does.

use crate::base::index::InstId;
use rustc_hash::FxHashSet;

use super::evaluate::{Evaluator, Point};
use super::witness::outcomes;
use crate::number::interval::{Enclosure, Narrow};
use crate::number::value::Value;
use crate::term::{LandmarkOf, Store, TermId, TermKind, TermOp, View};

/// The largest number of terms below an element that is searched.
const MAX_TERMS: usize = 1 << 18;
/// The largest number of intermediate values compared, for each side.
const MAX_VALUES: usize = 512;
/// The largest number of values without a counterpart that are tried, for each side.
const MAX_TRIED: usize = 12;
/// Values of larger relative width do not count as equal.
const TIGHT: f64 = 1e-7;

/// The first intermediate value that explains a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// Its kind: `divisor`, for example.
    pub what: &'static str,
    /// The reference's value.
    pub reference: String,
    /// The optimized kernel's value.
    pub opt: String,
    /// The instructions of both sides that use it, by the machine's number, where known.
    pub sites: [Option<InstId>; 2],
}

/// An intermediate value that a function or a select uses.
struct Landmark {
    what: &'static str,
    /// The term that uses it.
    by: TermId,
    at: TermId,
    value: Value<Narrow>,
}

/// The value of an operation worth comparing, with its kind: the result or an operand.
fn landmark(op: TermOp, term: TermId, operands: [TermId; 3]) -> Option<(&'static str, TermId)> {
    op.info().landmark.map(|landmark| match landmark {
        LandmarkOf::Result(words) => (words, term),
        LandmarkOf::Operand(at, words) => (words, operands[at]),
    })
}

/// The landmarks of a term, in the order of execution, each value once.
fn landmarks(store: &Store, root: TermId, point: &dyn Point) -> Option<Vec<Landmark>> {
    let mut seen = FxHashSet::default();
    let mut stack = vec![root];
    while let Some(term) = stack.pop() {
        let TermKind::Lane(..) = term.kind() else { continue };
        if !seen.insert(term) {
            continue;
        }
        if seen.len() > MAX_TERMS {
            return None;
        }
        if let View::Apply(op, operands) = store.view(term) {
            stack.extend(&operands[..op.arity()]);
        }
    }
    let mut order: Vec<TermId> = seen.into_iter().collect();
    order.sort_unstable();
    let found: Vec<(&'static str, TermId, TermId)> = order
        .into_iter()
        .filter_map(|term| match store.view(term) {
            View::Apply(op, operands) => landmark(op, term, operands).map(|(what, at)| (what, term, at)),
            View::Input { .. } | View::Constant(_) => None,
        })
        .filter(|(.., at)| matches!(at.kind(), TermKind::Lane(..)))
        .collect();
    let terms: Vec<TermId> = found.iter().map(|(.., at)| *at).collect();
    let mut evaluator =
        Evaluator::<Narrow, _>::new(store, |input, at| point.at(input, at), 53, 2 * MAX_TERMS);
    let mut marks: Vec<Landmark> = Vec::new();
    for ((what, by, at), value) in found.into_iter().zip(evaluator.evaluate_all(&terms)) {
        if marks.len() < MAX_VALUES
            && !marks.iter().any(|known| known.what == what && same(&known.value, &value))
        {
            marks.push(Landmark { what, by, at, value });
        }
    }
    Some(marks)
}

/// Whether two values are equal up to a small width.
fn same(a: &Value<Narrow>, b: &Value<Narrow>) -> bool {
    match (a, b) {
        (Value::Finite(left), Value::Finite(right)) => {
            !left.is_disjoint(right) && left.relative_width() < TIGHT && right.relative_width() < TIGHT
        }
        (a, b) => a == b,
    }
}

/// The landmarks of one side without a counterpart on the other, in order.
fn alone<'l>(own: &'l [Landmark], others: &[Landmark]) -> Vec<&'l Landmark> {
    let has = |mark: &Landmark| {
        let near = |value: &Value<Narrow>| match (value, &mark.value) {
            (Value::Finite(left), Value::Finite(right)) => !left.is_disjoint(right),
            (left, right) => left == right,
        };
        others.iter().any(|other| other.what == mark.what && near(&other.value))
    };
    own.iter().filter(|mark| !has(mark)).take(MAX_TRIED).collect()
}

/// The first intermediate value that, put into the reference, makes it compute what the optimized kernel does.
pub(super) fn explain(
    reference: (&Store, TermId),
    opt: (&Store, TermId),
    point: &dyn Point,
) -> Option<FirstDifference> {
    let at = |input, element| point.at(input, element);
    let ours = landmarks(reference.0, reference.1, point)?;
    let theirs = landmarks(opt.0, opt.1, point)?;
    let wanted = Evaluator::<Narrow, _>::new(opt.0, at, 53, 2 * MAX_TERMS).evaluate(opt.1);
    let candidates = alone(&theirs, &ours);
    for own in alone(&ours, &theirs) {
        for other in candidates.iter().filter(|other| other.what == own.what) {
            let mut evaluator = Evaluator::<Narrow, _>::new(reference.0, at, 53, 2 * MAX_TERMS);
            evaluator.assume(own.at, other.value);
            if own.at != reference.1 && same(&evaluator.evaluate(reference.1), &wanted) {
                let sites = [reference.0.site(own.by), opt.0.site(other.by)];
                let (reference, opt) = told(&own.value, &other.value)?;
                return Some(FirstDifference { what: own.what, reference, opt, sites });
            }
        }
    }
    None
}

fn told(own: &Value<Narrow>, other: &Value<Narrow>) -> Option<(String, String)> {
    let truth = |value: &Value<Narrow>| match value {
        Value::True => Some("true".to_string()),
        Value::False => Some("false".to_string()),
        Value::Finite(_)
        | Value::PosInf
        | Value::NegInf
        | Value::Either
        | Value::Undefined
        | Value::Unresolved => None,
    };
    match (truth(own), truth(other)) {
        (Some(own), Some(other)) => Some((own, other)),
        _ => outcomes(own, other).map(|(own, other)| (own.to_string(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Rational;
    use crate::term::InputId;

    #[test]
    fn a_divisor_that_explains_is_named_and_a_scale_is_not() {
        let x = |element| TermId::input(InputId(0), element);
        let share = |scaled: bool, wrong: bool| {
            let mut store = Store::new();
            let factor = store.apply(TermOp::Add, &[x(0), x(1)], InstId(0));
            let mut above = x(2);
            let mut below = store.apply(TermOp::Add, &[x(2), x(3)], InstId(0));
            if wrong {
                below = store.apply(TermOp::Add, &[below, x(3)], InstId(0));
            }
            if scaled {
                above = store.apply(TermOp::Mul, &[above, factor], InstId(0));
                below = store.apply(TermOp::Mul, &[below, factor], InstId(0));
            }
            let share = store.apply(TermOp::Div, &[above, below], if wrong { InstId(7) } else { InstId(5) });
            (store, share)
        };
        let point = |_: InputId, element: u64| Rational::from_integer(element as i64 + 1);
        let (left, a) = share(false, false);
        let (right, b) = share(false, true);
        let explained = explain((&left, a), (&right, b), &point).expect("there is a reason");
        assert_eq!((explained.what, &*explained.reference, &*explained.opt), ("divisor", "7", "11"));
        assert_eq!(explained.sites, [Some(InstId(5)), Some(InstId(7))]);
        // Both divisors differ, and neither is the reason.
        let (right, b) = share(true, true);
        assert_eq!(explain((&left, a), (&right, b), &point), None);
    }
}
