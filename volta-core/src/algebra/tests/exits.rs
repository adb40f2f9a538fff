//! Choices by where a loop ends are sums under masks.

use super::*;
use crate::term::Integers;
use proptest::prelude::*;

/// Integers from 0 to 31 in input 0; reals in the others.
fn side() -> Side {
    let mut side = Side::new();
    side.store.set_integers(vec![Some(Integers::of_bits(5, false)), None, None, None]);
    side
}

/// How an exit is tested where the values below it, or above it, are gone.
#[derive(Clone, Copy, Debug)]
enum Test {
    Less,
    Equal,
    NotEqual,
    AtLeast,
}

/// Factors.
const X2: InputId = InputId(1);
const X3: InputId = InputId(2);

fn index() -> TermId {
    TermId::input(InputId(0), 0)
}

/// `index = at ? exit : rest`, where the index is at least `at`; or with an equal condition.
fn exit(side: &mut Side, (at, test): (i64, Test), exit: TermId, rest: TermId) -> TermId {
    let (here, next) = (side.int(at), side.int(at + 1));
    let equal = |side: &mut Side| side.op(TermOp::Equal, &[index(), here]);
    match test {
        Test::Equal => {
            let equal = equal(side);
            side.op(TermOp::Select, &[equal, exit, rest])
        }
        Test::NotEqual => {
            let equal = equal(side);
            let differs = side.op(TermOp::Not, &[equal]);
            side.op(TermOp::Select, &[differs, rest, exit])
        }
        Test::Less => {
            let less = side.op(TermOp::Less, &[index(), next]);
            side.op(TermOp::Select, &[less, exit, rest])
        }
        Test::AtLeast => {
            let more = side.op(TermOp::LessEqual, &[next, index()]);
            side.op(TermOp::Select, &[more, rest, exit])
        }
    }
}

/// The sum of the first elements, as many as the index says, as a loop leaves it. `wrong` skips one of them.
fn loop_of(side: &mut Side, tests: &[Test], wrong: Option<usize>) -> TermId {
    let mut sums = vec![side.int(0)];
    for (at, test) in tests.iter().enumerate() {
        let (before, factor) = (sums[at], TermId::input(X2, at as u64));
        let own = TermId::input(X3, at as u64);
        sums.push(match test {
            _ if wrong == Some(at) => side.op(TermOp::Add, &[before, factor]),
            Test::Less | Test::Equal => side.op(TermOp::Fma, &[own, factor, before]),
            Test::NotEqual | Test::AtLeast => {
                let product = side.op(TermOp::Mul, &[own, factor]);
                side.op(TermOp::Add, &[before, product])
            }
        });
    }
    let mut rest = sums[tests.len()];
    for (at, test) in tests.iter().enumerate().rev() {
        rest = exit(side, (at as i64, *test), sums[at], rest);
    }
    rest
}

fn masked(side: &mut Side, count: usize) -> TermId {
    let parts: Vec<TermId> = (0..count)
        .map(|at| {
            let (number, zero) = (side.int(at as i64), side.int(0));
            let product = side.op(TermOp::Mul, &[TermId::input(X3, at as u64), TermId::input(X2, at as u64)]);
            let within = side.op(TermOp::Less, &[number, index()]);
            side.op(TermOp::Select, &[within, product, zero])
        })
        .collect();
    side.sum(&parts)
}

fn test() -> impl Strategy<Value = Test> {
    prop_oneof![Just(Test::Less), Just(Test::Equal), Just(Test::NotEqual), Just(Test::AtLeast)]
}

proptest! {
    #[test]
    fn a_loop_is_the_sum_under_masks(
        tests in proptest::collection::vec(test(), 16..32),
        wrong in 0usize..64,
    ) {
        let wrong = Some(wrong).filter(|wrong| *wrong < tests.len());
        let (mut a, mut b) = (side(), side());
        let (one, other) = (masked(&mut a, tests.len()), loop_of(&mut b, &tests, wrong));
        let found = compare((&a, one), (&b, other));
        prop_assert_eq!(found == Ok(Equality::Equal), wrong.is_none(), "{:?}", found);
    }

    /// With exits that come again, or not in order, it is the same only if each value leads to the same exit.
    #[test]
    fn other_exits_are_told_apart(
        tests in proptest::collection::vec(test(), 16..31),
        others in proptest::collection::vec((0usize..31, test()), 1..4),
    ) {
        let (mut a, mut b) = (side(), side());
        let (one, mut other) = (masked(&mut a, tests.len()), loop_of(&mut b, &tests, None));
        for (at, test) in &others {
            other = exit(&mut b, (*at as i64, *test), TermId::input(X3, 40), other);
        }
        let leaves = |own: usize| {
            others.iter().any(|(at, test)| match test {
                Test::Equal | Test::NotEqual => own == *at,
                Test::Less | Test::AtLeast => own <= *at,
            })
        };
        let found = compare((&a, one), (&b, other));
        prop_assert!(!(0..32).any(leaves) || found != Ok(Equality::Equal));
    }
}
