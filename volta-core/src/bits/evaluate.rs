//! The values of terms at given inputs, by the operations as they were executed.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::form::{key_of_term, operands_of};
use crate::number::{Extended, Rational};
use crate::term::{Fold, Ieee, InputId, Kind, Predicate, Store, TermId, TermOp, View, fold};

/// A value: a float, an integer, or whether a condition holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Evaluated {
    Number(Ieee),
    Truth(bool),
}

/// At most this number of terms is evaluated.
const MOST: usize = 1 << 20;

/// The value of a term, or `None` where some operation's result is not known. Also `None` if there are too many terms.
pub(super) fn value(
    store: &Store,
    root: TermId,
    input: &mut impl FnMut(InputId, u64) -> Ieee,
) -> Option<Evaluated> {
    let mut known: FxHashMap<TermId, Option<Evaluated>> = FxHashMap::default();
    let mut work = vec![root];
    while let Some(term) = work.last().copied() {
        if known.contains_key(&term) {
            work.pop();
            continue;
        }
        let operands =
            if store.as_ieee_number(term).is_some() { SmallVec::new() } else { operands_of(store, term) };
        let before = work.len();
        work.extend(operands.iter().filter(|operand| !known.contains_key(operand)));
        if work.len() > before {
            continue;
        }
        work.pop();
        let values: SmallVec<[&Option<Evaluated>; 3]> =
            operands.iter().map(|operand| &known[operand]).collect();
        let result = step(store, term, &values, input);
        drop(values);
        known.insert(term, result);
        if known.len() > MOST {
            return None;
        }
    }
    known.remove(&root).flatten()
}

fn step(
    store: &Store,
    term: TermId,
    operands: &[&Option<Evaluated>],
    input: &mut impl FnMut(InputId, u64) -> Ieee,
) -> Option<Evaluated> {
    if let Some(value) = store.as_ieee_number(term) {
        return Some(Evaluated::Number(Ieee::Float(value)));
    }
    let truth = |at: usize| match operands.get(at)?.as_ref()? {
        Evaluated::Truth(holds) => Some(*holds),
        Evaluated::Number(_) => None,
    };
    let op = match store.view(term) {
        View::Input { input: which, element } => return Some(Evaluated::Number(input(which, element))),
        View::Constant(constant) => {
            let number = constant.exact.finite().filter(|_| constant.literal.is_none())?;
            return Some(Evaluated::Number(Ieee::Int(number.clone())));
        }
        View::Apply(op, _) => op,
    };
    if op == TermOp::Select {
        let taken = if truth(0)? { 1 } else { 2 };
        return operands[taken].clone();
    }
    match op.kind() {
        Kind::Condition(Predicate::Not) => return truth(0).map(|a| Evaluated::Truth(!a)),
        Kind::Condition(Predicate::And) => {
            let both = [truth(0), truth(1)];
            let fails = both.contains(&Some(false));
            return if fails { Some(false) } else { both[0].zip(both[1]).map(|_| true) }
                .map(Evaluated::Truth);
        }
        Kind::Condition(Predicate::Or) => {
            let both = [truth(0), truth(1)];
            let holds = both.contains(&Some(true));
            return if holds { Some(true) } else { both[0].zip(both[1]).map(|_| false) }
                .map(Evaluated::Truth);
        }
        Kind::Condition(Predicate::Xor) => return Some(Evaluated::Truth(truth(0)? != truth(1)?)),
        Kind::Condition(Predicate::Less | Predicate::LessEqual | Predicate::Equal)
        | Kind::Sum(_)
        | Kind::Product(_)
        | Kind::Exponential
        | Kind::Function(_)
        | Kind::Piecewise(_)
        | Kind::Ieee => {}
    }
    let numbers: Option<SmallVec<[Ieee; 3]>> = operands
        .iter()
        .map(|operand| match operand.as_ref()? {
            Evaluated::Number(number) => Some(number.clone()),
            Evaluated::Truth(_) => None,
        })
        .collect();
    let numbers = numbers?;
    if let Some(key) = key_of_term(store, term) {
        return key.apply(&numbers).map(Evaluated::Number);
    }
    let integers: Option<Vec<Extended>> = numbers
        .into_iter()
        .map(|number| match number {
            Ieee::Int(number) => Some(Extended::Finite(number)),
            Ieee::Float(_) => None,
        })
        .collect();
    let integers = integers?;
    match fold(op, &integers.iter().collect::<Vec<_>>()) {
        Fold::Value(Extended::Finite(number)) => Some(Evaluated::Number(Ieee::Int(number))),
        Fold::Truth(holds) => Some(Evaluated::Truth(holds)),
        Fold::Value(Extended::PosInf | Extended::NegInf) | Fold::Undefined | Fold::Irrational => None,
    }
}

/// A number for comparison: the float, or the integer rounded.
pub(super) fn shown(value: &Evaluated) -> f64 {
    match value {
        Evaluated::Number(Ieee::Float(value)) => *value,
        Evaluated::Number(Ieee::Int(value)) => Rational::to_f64_approximately(value),
        Evaluated::Truth(holds) => f64::from(u8::from(*holds)),
    }
}

/// Whether two values have the same bits; NaN is one value.
pub(super) fn same(a: &Evaluated, b: &Evaluated) -> bool {
    match (a, b) {
        (Evaluated::Number(Ieee::Float(a)), Evaluated::Number(Ieee::Float(b))) => {
            a.is_nan() && b.is_nan() || a.to_bits() == b.to_bits()
        }
        _ => a == b,
    }
}
