//! Searches for the place of the largest element: forms have the values of their terms, in whatever order candidates are
//! merged, and searches that treat equal elements in another way are not the same.

use super::integers::formed;
use super::*;
use proptest::prelude::*;

/// Which of two equal candidates is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tie {
    First,
    Second,
    SmallerPlace,
    GreaterPlace,
    /// The one with the smaller place, by one branch after the other.
    SmallerPlaceByBranches,
}

/// A value and its place.
type Candidate = [TermId; 2];

/// The larger of two candidates, or the smaller one, as kernels choose it.
fn merged(side: &mut Side, largest: bool, tie: Tie, [a, b]: [Candidate; 2]) -> Candidate {
    let [low, high] = if largest { [a[0], b[0]] } else { [b[0], a[0]] };
    if tie == Tie::SmallerPlaceByBranches {
        let strict = side.op(TermOp::Less, &[low, high]);
        let equal = side.op(TermOp::Equal, &[low, high]);
        let differ = side.op(TermOp::Not, &[equal]);
        let second = side.op(TermOp::Less, &[b[1], a[1]]);
        return [0, 1].map(|at| {
            let of_equal = side.op(TermOp::Select, &[second, b[at], a[at]]);
            let not_larger = side.op(TermOp::Select, &[differ, a[at], of_equal]);
            side.op(TermOp::Select, &[strict, b[at], not_larger])
        });
    }
    let condition = match tie {
        Tie::First => side.op(TermOp::Less, &[low, high]),
        Tie::Second => side.op(TermOp::LessEqual, &[low, high]),
        Tie::SmallerPlace | Tie::GreaterPlace | Tie::SmallerPlaceByBranches => {
            let strict = side.op(TermOp::Less, &[low, high]);
            let equal = side.op(TermOp::Equal, &[low, high]);
            let places = if tie == Tie::GreaterPlace { [a[1], b[1]] } else { [b[1], a[1]] };
            let second = side.op(TermOp::Less, &places);
            let both = side.op(TermOp::And, &[equal, second]);
            side.op(TermOp::Or, &[strict, both])
        }
    };
    [0, 1].map(|at| side.op(TermOp::Select, &[condition, b[at], a[at]]))
}

fn candidate(side: &mut Side, at: u64) -> Candidate {
    [TermId::input(X, at), side.int(at as i64)]
}

/// Candidates in an order: from the first to the last, or halves merged.
fn search(side: &mut Side, largest: bool, tie: Tie, of: &[u64], in_halves: bool) -> Candidate {
    if let [only] = of {
        return candidate(side, *only);
    }
    let (first, second) = of.split_at(if in_halves { of.len() / 2 } else { of.len() - 1 });
    let both = [first, second].map(|part| search(side, largest, tie, part, in_halves));
    merged(side, largest, tie, both)
}

/// Proves two searches equal, and says which ones where they are not.
fn pair(
    of: (bool, u64, usize),
    one: impl FnOnce(&mut Side) -> TermId,
    other: impl FnOnce(&mut Side) -> TermId,
) {
    let (mut a, mut b) = (Side::new(), Side::new());
    let (one, other) = (one(&mut a), other(&mut b));
    assert_eq!(compare((&a, one), (&b, other)), Ok(Equality::Equal), "{of:?}");
}

#[test]
fn any_order_gives_the_place_of_the_first_largest() {
    for largest in [true, false] {
        for count in [2, 3, 4, 7, 16, 33] {
            let in_order: Vec<u64> = (0..count).collect();
            // As lanes hold them that exchange values over half of the distance each time.
            let strided: Vec<u64> = (0..count).map(|at| at * 2 % count + at * 2 / count % 2).collect();
            let running = |at: usize| {
                let of = &in_order;
                move |side: &mut Side| search(side, largest, Tie::First, of, false)[at]
            };
            for at in [0, 1] {
                pair((largest, count, at), running(at), |side| {
                    search(side, largest, Tie::First, &in_order, true)[at]
                });
                pair((largest, count, at), running(at), |side| {
                    search(side, largest, Tie::SmallerPlace, &in_order, true)[at]
                });
                pair((largest, count, at), running(at), |side| {
                    search(side, largest, Tie::SmallerPlaceByBranches, &in_order, true)[at]
                });
                if count % 2 == 0 {
                    pair((largest, count, at), running(at), |side| {
                        search(side, largest, Tie::SmallerPlaceByBranches, &strided, false)[at]
                    });
                    pair((largest, count, at), running(at), |side| {
                        search(side, largest, Tie::SmallerPlace, &strided, true)[at]
                    });
                }
            }
            open(running(1), |side| search(side, largest, Tie::Second, &in_order, true)[1]);
            open(running(1), |side| search(side, largest, Tie::GreaterPlace, &in_order, true)[1]);
            open(running(1), |side| search(side, !largest, Tie::First, &in_order, true)[1]);
            if count == 16 {
                open(running(1), |side| search(side, largest, Tie::First, &strided, true)[1]);
            }
        }
    }
}

#[test]
fn a_part_that_all_keys_share_makes_no_difference() {
    let shifted = |by: TermOp, number: i64| {
        move |side: &mut Side| {
            let number = side.int(number);
            let first = TermId::input(X, 0);
            let mut best = [side.op(by, &[first, number]), side.int(0)];
            for at in 1..6 {
                let own = [side.op(by, &[TermId::input(X, at), number]), side.int(at as i64)];
                best = merged(side, true, Tie::First, [best, own]);
            }
            best[1]
        }
    };
    let plain = |side: &mut Side| search(side, true, Tie::First, &[0, 1, 2, 3, 4, 5], true)[1];
    equal(shifted(TermOp::Add, 3), plain);
    equal(shifted(TermOp::Mul, 3), plain);
    open(shifted(TermOp::Mul, -3), plain);
}

/// How two parts of some candidates are merged: where they are split, and which of two equal ones is taken.
fn step() -> impl Strategy<Value = (u8, bool, Tie)> {
    let tie = prop_oneof![
        Just(Tie::First),
        Just(Tie::Second),
        Just(Tie::SmallerPlace),
        Just(Tie::GreaterPlace),
        Just(Tie::SmallerPlaceByBranches)
    ];
    (any::<u8>(), any::<bool>(), tie)
}

/// Merges candidates as the steps say, as terms and at a point.
fn follow(
    side: &mut Side,
    of: &[u64],
    steps: &mut impl Iterator<Item = (u8, bool, Tie)>,
    point: &[i128],
) -> (Candidate, [i128; 2]) {
    let own = |side: &mut Side| (candidate(side, of[0]), [point[of[0] as usize], i128::from(of[0])]);
    let [_, _, ..] = of else { return own(side) };
    let (split, largest, tie) = steps.next().unwrap_or((1, true, Tie::First));
    let (first, second) = of.split_at(1 + usize::from(split) % (of.len() - 1));
    let (a, at_a) = follow(side, first, steps, point);
    let (b, at_b) = follow(side, second, steps, point);
    let merged = merged(side, largest, tie, [a, b]);
    let (one, other) = if largest { (at_a[0], at_b[0]) } else { (at_b[0], at_a[0]) };
    let takes_second = one < other
        || one == other
            && match tie {
                Tie::First => false,
                Tie::Second => true,
                Tie::SmallerPlace | Tie::SmallerPlaceByBranches => at_b[1] < at_a[1],
                Tie::GreaterPlace => at_b[1] > at_a[1],
            };
    (merged, if takes_second { at_b } else { at_a })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn forms_have_the_values_of_their_terms(
        steps in proptest::collection::vec(step(), 8),
        mostly_one_way in any::<bool>(),
        order in Just((0..8u64).collect::<Vec<_>>()).prop_shuffle(),
        shuffled in any::<bool>(),
        points in proptest::collection::vec(proptest::collection::vec(-2..3i128, 8), 8),
    ) {
        let order = if shuffled { order } else { (0..8).collect() };
        let steps: Vec<_> = match mostly_one_way {
            true => steps.iter().map(|(split, ..)| (*split, steps[0].1, steps[0].2)).collect(),
            false => steps,
        };
        for point in &points {
            let mut side = Side::new();
            let (terms, values) = follow(&mut side, &order, &mut steps.iter().copied(), point);
            let analysis = Analysis::of_all(&side.store);
            for tactic in [Tactic::QUICK, Tactic::SHOWING, Tactic::THOROUGH] {
                let mut prover = Prover::new(Vec::new(), tactic);
                prover.set_budget(1_000_000);
                let store = prover.add_store(&side.store, &analysis);
                for (term, value) in terms.into_iter().zip(values) {
                    let form = prover.settle(|prover| prover.argument(TermRef { store, term }));
                    if let Ok(form) = form {
                        prop_assert_eq!(formed(&prover, &form, point), Rational::from_i128(value));
                    }
                }
            }
        }
    }
}
