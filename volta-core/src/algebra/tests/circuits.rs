//! Searches by circuits against all values of small inputs.

use super::*;
use crate::algebra::Searched;
use crate::term::Integers;
use proptest::prelude::*;

/// The values of integers: elements 0 and 1 of the first input.
const INTEGERS: std::ops::Range<i128> = -1..4;

/// The order of reals: elements 0 to 2 of the second input.
const REALS: std::ops::Range<i128> = -1..2;

/// What a term is at given inputs: an integer or a condition, or a real.
type Evaluate = Box<dyn Fn(&[i128; 5]) -> i128>;

/// A step of a random program: which operation, and of which results before.
type Step = (u8, usize, usize, usize, i64);

fn side() -> Side {
    let mut side = Side::new();
    let digits = Integers { least: INTEGERS.start, greatest: INTEGERS.end - 1 };
    side.store.set_integers(vec![Some(digits), None]);
    side
}

/// The last integer and the last real that steps compute, with their values at given inputs.
fn program(side: &mut Side, steps: &[Step]) -> [(TermId, Evaluate); 2] {
    let x = |at: usize| -> Evaluate { Box::new(move |values| values[at]) };
    let mut integers: Vec<(TermId, std::rc::Rc<Evaluate>)> =
        (0..2).map(|at| (side.x(at as u64), x(at).into())).collect();
    let mut reals: Vec<(TermId, std::rc::Rc<Evaluate>)> =
        (0..3).map(|at| (side.y(at as u64), x(2 + at).into())).collect();
    let zero = side.int(0);
    reals.push((zero, std::rc::Rc::new(Box::new(|_| 0))));
    let mut condition: (TermId, std::rc::Rc<Evaluate>) = {
        let term = side.op(TermOp::Less, &[integers[0].0, integers[1].0]);
        (term, std::rc::Rc::new(Box::new(|values| (values[0] < values[1]).into())))
    };
    for &(op, a, b, c, number) in steps {
        let [(p, f), (q, g)] = [a, b].map(|at| integers[at % integers.len()].clone());
        let [(r, h), (s, k)] = [b, c].map(|at| reals[at % reals.len()].clone());
        let (holds, own) = condition.clone();
        let by = i128::from(number.unsigned_abs() % 5 + 2);
        let divisor = side.int(by as i64);
        match op % 15 {
            0 => {
                let term = side.op(TermOp::Add, &[p, q]);
                integers.push((term, std::rc::Rc::new(Box::new(move |at| f(at) + g(at)))));
            }
            1 => {
                let term = side.op(TermOp::Sub, &[p, q]);
                integers.push((term, std::rc::Rc::new(Box::new(move |at| f(at) - g(at)))));
            }
            2 => {
                let factor = side.int(number);
                let term = side.op(TermOp::Mul, &[p, factor]);
                integers.push((term, std::rc::Rc::new(Box::new(move |at| f(at) * i128::from(number)))));
            }
            3 => {
                let term = side.op(TermOp::Mod, &[p, divisor]);
                integers.push((term, std::rc::Rc::new(Box::new(move |at| f(at).rem_euclid(by)))));
            }
            4 => {
                let share = side.rational(1, by as i64);
                let quotient = side.op(TermOp::Mul, &[p, share]);
                let term = side.op(TermOp::Floor, &[quotient]);
                integers.push((term, std::rc::Rc::new(Box::new(move |at| f(at).div_euclid(by)))));
            }
            5 => {
                let term = side.op(TermOp::Min, &[p, q]);
                integers.push((term, std::rc::Rc::new(Box::new(move |at| f(at).min(g(at))))));
            }
            6 => {
                let term = side.op(TermOp::Select, &[holds, p, q]);
                integers.push((
                    term,
                    std::rc::Rc::new(Box::new(move |at| if own(at) == 1 { f(at) } else { g(at) })),
                ));
            }
            7 => {
                let term = side.op(TermOp::LessEqual, &[p, q]);
                condition = (term, std::rc::Rc::new(Box::new(move |at| (f(at) <= g(at)).into())));
            }
            8 => {
                let equal = side.op(TermOp::Equal, &[p, q]);
                let not = side.op(TermOp::Not, &[equal]);
                let term = side.op(TermOp::And, &[holds, not]);
                condition =
                    (term, std::rc::Rc::new(Box::new(move |at| (own(at) == 1 && f(at) != g(at)).into())));
            }
            9 => {
                let term = side.op(TermOp::Max, &[r, s]);
                reals.push((term, std::rc::Rc::new(Box::new(move |at| h(at).max(k(at))))));
            }
            10 => {
                let term = side.op(TermOp::Select, &[holds, r, s]);
                reals.push((
                    term,
                    std::rc::Rc::new(Box::new(move |at| if own(at) == 1 { h(at) } else { k(at) })),
                ));
            }
            11 => {
                // A step of a minimum under a condition.
                let least = side.op(TermOp::Min, &[p, q]);
                let term = side.op(TermOp::Select, &[holds, least, p]);
                integers.push((
                    term,
                    std::rc::Rc::new(Box::new(move |at| if own(at) == 1 { f(at).min(g(at)) } else { f(at) })),
                ));
            }
            12 => {
                // One of a sum.
                let sum = side.op(TermOp::Sub, &[p, q]);
                let term = side.op(TermOp::Select, &[holds, p, sum]);
                integers.push((
                    term,
                    std::rc::Rc::new(Box::new(move |at| if own(at) == 1 { f(at) } else { f(at) - g(at) })),
                ));
            }
            13 => {
                // A maximum with a number elsewhere.
                let value = number;
                let number = side.int(value);
                let other = side.op(TermOp::Select, &[holds, q, number]);
                let term = side.op(TermOp::Max, &[p, other]);
                let number = i128::from(value);
                integers.push((
                    term,
                    std::rc::Rc::new(Box::new(move |at| {
                        f(at).max(if own(at) == 1 { g(at) } else { number })
                    })),
                ));
            }
            _ => {
                let term = side.op(TermOp::Less, &[r, s]);
                condition = (term, std::rc::Rc::new(Box::new(move |at| (h(at) < k(at)).into())));
            }
        }
    }
    let last = |of: Vec<(TermId, std::rc::Rc<Evaluate>)>| {
        let (term, value) = of[of.len() - 1].clone();
        let value: Evaluate = Box::new(move |at| value(at));
        (term, value)
    };
    [last(integers), last(reals)]
}

/// An input at which two values differ.
fn difference(a: &Evaluate, b: &Evaluate) -> Option<[i128; 5]> {
    let pairs = INTEGERS.flat_map(|x| INTEGERS.map(move |y| [x, y]));
    let points = pairs.flat_map(|[x, y]| {
        let reals = REALS.flat_map(|r| REALS.flat_map(move |s| REALS.map(move |t| [r, s, t])));
        reals.map(move |[r, s, t]| [x, y, r, s, t])
    });
    points.into_iter().find(|point| a(point) != b(point))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn terms_are_equal_where_no_small_inputs_tell_them_apart(
        first in proptest::collection::vec((any::<u8>(), 0..6usize, 0..6usize, 0..6usize, -4..5i64), 1..8),
        second in proptest::collection::vec((any::<u8>(), 0..6usize, 0..6usize, 0..6usize, -4..5i64), 1..8),
        same in 0..8usize,
    ) {
        // The second program begins like the first, so that results are often equal.
        let second: Vec<Step> = first.iter().take(same).chain(second.iter().skip(same)).copied().collect();
        let (mut one, mut other) = (side(), side());
        let (mine, yours) = (program(&mut one, &first), program(&mut other, &second));
        for ((a, f), (b, g)) in mine.into_iter().zip(yours) {
            let analyses = [Analysis::new(&one.store, &[a]), Analysis::new(&other.store, &[b])];
            let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
            let stores = [prover.add_store(&one.store, &analyses[0]), prover.add_store(&other.store, &analyses[1])];
            let terms = [TermRef { store: stores[0], term: a }, TermRef { store: stores[1], term: b }];
            let search = prover.circuits_of(terms).expect("no budget");
            let found = search.map(|mut search| prover.search(&mut search, 1 << 20));
            let apart = difference(&f, &g);
            match found {
                Some(Ok(Searched::Equal)) => prop_assert_eq!(apart, None),
                Some(Ok(Searched::Apart(hint))) => {
                    let mut point = [0; 5];
                    for ((input, element), value) in hint {
                        // With one number among them, the places of reals are integers.
                        let value = value.to_i128().expect("an integer");
                        point[2 * input.index() + element as usize] = value;
                    }
                    prop_assert_ne!(f(&point), g(&point), "at {:?}", point);
                }
                Some(Ok(Searched::Open) | Err(_)) | None => prop_assert!(false, "small terms are decided"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_never_holds_does_so_at_no_small_inputs(
        steps in proptest::collection::vec((any::<u8>(), 0..6usize, 0..6usize, 0..6usize, -4..5i64), 1..8),
        bound in -12..13i64,
    ) {
        let mut side = side();
        for (term, value) in program(&mut side, &steps) {
            let number = side.int(bound);
            let below = side.op(TermOp::Less, &[term, number]);
            let is_below: Evaluate = Box::new(move |at| i128::from(value(at) < i128::from(bound)));
            let analysis = Analysis::new(&side.store, &[below]);
            let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
            let store = prover.add_store(&side.store, &analysis);
            let never = prover.never_holds(TermRef { store, term: below }, 1 << 20).expect("no budget");
            let none: Evaluate = Box::new(|_| 0);
            let held = difference(&is_below, &none);
            prop_assert!(!never || held.is_none(), "it holds at {:?}", held);
        }
    }
}

/// Steps of a chain: whether a condition holds, and a value.
fn chain(side: &mut Side, (op, neutral): (TermOp, i64), steps: &[usize], is_atomic: bool) -> TermId {
    let neutral = side.int(neutral);
    let mut all = side.x(100);
    for &step in steps {
        let [a, b, value] = [3 * step, 3 * step + 1, 3 * step + 2].map(|at| side.x(at as u64));
        let holds = side.op(TermOp::Less, &[a, b]);
        all = if is_atomic {
            let taken = side.op(TermOp::Select, &[holds, value, neutral]);
            side.op(op, &[all, taken])
        } else {
            let joined = side.op(op, &[value, all]);
            side.op(TermOp::Select, &[holds, joined, all])
        };
    }
    all
}

#[test]
fn chains_in_any_order_are_the_same_circuits() {
    for op in [(TermOp::Add, 0), (TermOp::Min, 1000), (TermOp::Max, -1000)] {
        let (mut one, mut other) = (side(), side());
        let a = chain(&mut one, op, &[0, 1, 2, 3, 4, 5], false);
        let b = chain(&mut other, op, &[3, 5, 0, 4, 1, 2], true);
        let left_out = chain(&mut other, op, &[3, 5, 0, 4, 1], true);
        let analyses = [Analysis::new(&one.store, &[a]), Analysis::new(&other.store, &[b, left_out])];
        let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
        let stores =
            [prover.add_store(&one.store, &analyses[0]), prover.add_store(&other.store, &analyses[1])];
        let mut searched = |b: TermId, steps: u64| {
            let terms = [TermRef { store: stores[0], term: a }, TermRef { store: stores[1], term: b }];
            let search = prover.circuits_of(terms).expect("no budget");
            prover.search(&mut search.expect("circuits"), steps)
        };
        assert!(matches!(searched(b, 0), Ok(Searched::Equal)), "{op:?}");
        assert!(matches!(searched(left_out, 1 << 20), Ok(Searched::Apart(_))), "{op:?}");
    }
}

/// How many of these pairs of reals ascend.
fn ascending(side: &mut Side, pairs: impl Iterator<Item = [u64; 2]>, is_strict: bool) -> TermId {
    let [zero, one] = [0, 1].map(|number| side.int(number));
    pairs.fold(zero, |sum, [a, b]| {
        let [a, b] = [a, b].map(|at| side.y(at));
        let own = if is_strict {
            let less = side.op(TermOp::Less, &[a, b]);
            side.op(TermOp::Select, &[less, one, zero])
        } else {
            let not_less = side.op(TermOp::LessEqual, &[b, a]);
            side.op(TermOp::Select, &[not_less, zero, one])
        };
        side.op(TermOp::Add, &[sum, own])
    })
}

#[test]
fn reals_that_do_not_meet_are_in_orders_of_their_own() {
    const PAIRS: u64 = 200;
    let pair = |at: u64| [2 * at, 2 * at + 1];
    let (mut one, mut other) = (side(), side());
    let a = ascending(&mut one, (0..PAIRS).map(pair), true);
    let b = ascending(&mut other, (0..PAIRS).rev().map(pair), false);
    let crossed = |at: u64| if at == 7 { [2 * at, 2 * at + 3] } else { pair(at) };
    let c = ascending(&mut other, (0..PAIRS).map(crossed), false);
    let analyses = [Analysis::new(&one.store, &[a]), Analysis::new(&other.store, &[b, c])];
    let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
    let stores = [prover.add_store(&one.store, &analyses[0]), prover.add_store(&other.store, &analyses[1])];
    let mut searched = |b: TermId| {
        let terms = [TermRef { store: stores[0], term: a }, TermRef { store: stores[1], term: b }];
        let search = prover.circuits_of(terms).expect("no budget");
        prover.search(&mut search.expect("circuits"), 1 << 20)
    };
    assert!(matches!(searched(b), Ok(Searched::Equal)));
    assert!(matches!(searched(c), Ok(Searched::Apart(_))));
}
