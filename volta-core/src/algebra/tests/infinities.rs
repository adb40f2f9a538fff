//! Terms without infinities against the terms that they are made of, at all values of small inputs.

use super::*;
use crate::algebra::NewElements;
use crate::term::{Fold, Integers, Kind, Predicate, View, fold};
use proptest::prelude::*;
use rustc_hash::FxHashMap;

/// The values of elements 0 to 2 of the input, which are integers.
const VALUES: std::ops::Range<i64> = -1..3;

/// A number, an infinity or a truth value.
#[derive(Clone, Debug, PartialEq)]
enum Evaluated {
    Number(Extended),
    Truth(bool),
}

/// The value of a term, or of a condition, at some values of inputs; `None` if it has none. What is computed from what has
/// no value has none, but for the arm of a choice that is not taken.
fn evaluate(
    store: &Store,
    term: TermId,
    inputs: &dyn Fn(InputId, u64) -> i64,
    known: &mut FxHashMap<TermId, Option<Evaluated>>,
) -> Option<Evaluated> {
    if let Some(known) = known.get(&term) {
        return known.clone();
    }
    let found = evaluate_anew(store, term, inputs, known);
    known.insert(term, found.clone());
    found
}

fn evaluate_anew(
    store: &Store,
    term: TermId,
    inputs: &dyn Fn(InputId, u64) -> i64,
    known: &mut FxHashMap<TermId, Option<Evaluated>>,
) -> Option<Evaluated> {
    let (op, operands) = match store.view(term) {
        View::Constant(constant) => return Some(Evaluated::Number(constant.exact.clone())),
        View::Input { input, element } => {
            let value = Rational::from_integer(inputs(input, element));
            return Some(Evaluated::Number(Extended::Finite(value)));
        }
        View::Apply(op, operands) => (op, operands),
    };
    if op == TermOp::Select {
        let Evaluated::Truth(holds) = evaluate(store, operands[0], inputs, known)? else {
            panic!("a condition")
        };
        return evaluate(store, operands[if holds { 1 } else { 2 }], inputs, known);
    }
    let values: Option<Vec<Evaluated>> =
        operands[..op.arity()].iter().map(|operand| evaluate(store, *operand, inputs, known)).collect();
    let values = values?;
    if let Kind::Condition(predicate @ (Predicate::Not | Predicate::And | Predicate::Or | Predicate::Xor)) =
        op.kind()
    {
        let truth = |at: usize| values.get(at) == Some(&Evaluated::Truth(true));
        return Some(Evaluated::Truth(match predicate {
            Predicate::Not => !truth(0),
            Predicate::And => truth(0) && truth(1),
            Predicate::Or => truth(0) || truth(1),
            Predicate::Less | Predicate::LessEqual | Predicate::Equal | Predicate::Xor => {
                truth(0) != truth(1)
            }
        }));
    }
    let numbers: Vec<&Extended> = values
        .iter()
        .map(|value| match value {
            Evaluated::Number(number) => number,
            Evaluated::Truth(_) => panic!("a number"),
        })
        .collect();
    match fold(op, &numbers) {
        Fold::Value(value) => Some(Evaluated::Number(value)),
        Fold::Truth(holds) => Some(Evaluated::Truth(holds)),
        Fold::Undefined => None,
        Fold::Irrational => panic!("{op:?} of {numbers:?} is computed"),
    }
}

/// A step of a random program: which operation, and of which results before.
type Step = (u8, usize, usize, usize);

/// Numbers that steps compute.
fn program(side: &mut Side, steps: &[Step]) -> Vec<TermId> {
    let mut numbers: Vec<TermId> = (0..3).map(|at| side.x(at)).collect();
    numbers.extend([
        side.int(0),
        side.int(1),
        side.infinity(true),
        side.infinity(true),
        side.infinity(false),
    ]);
    let mut conditions = vec![side.op(TermOp::Less, &[numbers[0], numbers[1]])];
    for &(op, a, b, c) in steps {
        let [p, q] = [a, b].map(|at| numbers[at % numbers.len()]);
        let [holds, other] = [c, a].map(|at| conditions[at % conditions.len()]);
        match op % 18 {
            0 => numbers.push(side.add(p, q)),
            1 => numbers.push(side.sub(p, q)),
            2 => numbers.push(side.mul(p, q)),
            3 => numbers.push(side.div(p, q)),
            4 => numbers.push(side.max(p, q)),
            5 => numbers.push(side.min(p, q)),
            6 => numbers.push(side.neg(p)),
            7 => numbers.push(side.op(TermOp::Abs, &[p])),
            8 => {
                // An integer power, which is computed.
                let floor = side.op(TermOp::Floor, &[p]);
                let (least, greatest) = (side.infinity(true), side.int(3));
                let low = side.max(floor, least);
                let bounded = side.min(low, greatest);
                numbers.push(side.exp2(bounded));
            }
            9 => numbers.push(side.op(TermOp::Saturate, &[p])),
            10 => {
                let one = numbers[numbers.len() - 1];
                numbers.push(side.fma(p, q, one));
            }
            11..=13 => numbers.push(side.op(TermOp::Select, &[holds, p, q])),
            14 => conditions.push(side.op(TermOp::Less, &[p, q])),
            15 => conditions.push(side.op(TermOp::Equal, &[p, q])),
            16 => conditions.push(side.op(TermOp::Not, &[holds])),
            _ => {
                let joins = [TermOp::And, TermOp::Or, TermOp::Xor][b % 3];
                conditions.push(side.op(joins, &[holds, other]));
            }
        }
    }
    numbers
}

/// All values of three inputs.
fn points() -> impl Iterator<Item = [i64; 3]> {
    VALUES.flat_map(|x| VALUES.flat_map(move |y| VALUES.map(move |z| [x, y, z])))
}

/// The values of one element more, which stands for an extremum, do not matter where its own value is one of them.
fn check(steps: &[Step]) -> Result<usize, TestCaseError> {
    let mut side = Side::new();
    side.store.set_integers(vec![Some(Integers {
        least: VALUES.start.into(),
        greatest: i128::from(VALUES.end) - 1,
    })]);
    let numbers = program(&mut side, steps);
    let analysis = Analysis::new(&side.store, &numbers);
    let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
    let number = prover.add_store(&side.store, &analysis);
    let (store, found) = prover.without_infinities(number, &numbers, None);
    let mut rewritten = 0;
    for (before, after) in numbers.iter().zip(found) {
        let Some(after) = after else { continue };
        rewritten += 1;
        let own = Analysis::new(&store, &[after]);
        prop_assert!(!own.may_be_infinite(after));
        for point in points() {
            let at = |_: InputId, element: u64| point[element as usize];
            let first = evaluate(&side.store, *before, &at, &mut FxHashMap::default());
            let second = evaluate(&store, after, &at, &mut FxHashMap::default());
            prop_assert_eq!(first, second, "at {:?}", point);
        }
    }
    Ok(rewritten)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn terms_without_infinities_have_the_same_values(
        steps in proptest::collection::vec((0u8..18, 0usize..64, 0usize..64, 0usize..64), 4..28),
    ) {
        check(&steps)?;
    }
}

/// `c ? x : −∞`, where c compares two other elements.
fn masked(side: &mut Side, at: u64) -> TermId {
    let (x, bound, infinity) = (side.x(at), side.int(1), side.infinity(true));
    let flag = side.y(at);
    let holds = side.op(TermOp::Less, &[flag, bound]);
    side.op(TermOp::Select, &[holds, x, infinity])
}

#[test]
fn extrema_of_the_same_terms_are_one_new_element() {
    let mut side = Side::new();
    let own: Vec<TermId> = (0..3).map(|at| masked(&mut side, at)).collect();
    let left = side.max(own[0], own[1]);
    let left = side.max(left, own[2]);
    let right = side.max(own[2], own[1]);
    let right = side.max(own[0], right);
    let powers: Vec<TermId> = [left, right]
        .into_iter()
        .map(|most| {
            let power = side.exp2(most);
            let zero = side.int(0);
            side.max(power, zero)
        })
        .collect();
    let analysis = Analysis::new(&side.store, &powers);
    let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
    let number = prover.add_store(&side.store, &analysis);
    assert!(prover.has_infinite_choice(number));
    let mut elements = NewElements { of: InputId(2), count: 0 };
    let (store, found) = prover.without_infinities(number, &powers, Some(&mut elements));
    // Of each order, the pair and all three.
    assert_eq!(elements.count, 3);
    let read = |term: Option<TermId>| {
        let mut inputs = std::collections::BTreeSet::new();
        let mut work = vec![term.expect("a number")];
        while let Some(at) = work.pop() {
            match store.view(at) {
                View::Input { input: InputId(2), element } => {
                    inputs.insert(element);
                }
                View::Apply(op, operands) => work.extend(&operands[..op.arity()]),
                View::Input { .. } | View::Constant(_) => {}
            }
        }
        inputs
    };
    assert_eq!(read(found[0]), read(found[1]));
}

#[test]
fn what_an_infinity_hides_is_still_required() {
    // The power is 0 where the sum is −∞, but not where the logarithm has no value.
    let mut side = Side::new();
    let infinite = masked(&mut side, 0);
    let hidden = side.x(1);
    let hidden = side.op(TermOp::Log2, &[hidden]);
    let sum = side.add(infinite, hidden);
    let power = side.exp2(sum);
    let analysis = Analysis::new(&side.store, &[power]);
    let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
    let number = prover.add_store(&side.store, &analysis);
    let (store, found) = prover.without_infinities(number, &[power], None);
    let root = found[0].expect("a number");
    let analysis = Analysis::new(&store, &[root]);
    let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
    let number = prover.add_store(&store, &analysis);
    let at = TermRef { store: number, term: root };
    let required = prover.requirements(&mut Obligations::default(), at).expect("requirements");
    // Once where the power is a number, once where it is not.
    assert_eq!(required.len(), 2);
}
