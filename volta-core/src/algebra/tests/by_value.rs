//! Choices by the value of one integer: forms have the values of their terms; searches and lookups have one form.

use super::integers::formed;
use super::*;
use crate::term::Integers;
use proptest::prelude::*;

/// Integers from 0 to 7 in input 0; reals in the others.
fn side() -> Side {
    let mut side = Side::new();
    side.store.set_integers(vec![Some(Integers::of_bits(3, false)), None, None, None]);
    side
}

fn index() -> TermId {
    TermId::input(InputId(0), 0)
}

/// One of four values.
fn value(at: u8) -> TermId {
    TermId::input(InputId(1 + u32::from(at / 2 % 2)), u64::from(at % 2))
}

/// `index = at ? value : rest`
fn choice(side: &mut Side, at: i64, value: TermId, rest: TermId, negated: bool) -> TermId {
    let at = side.int(at);
    let is_at = side.op(TermOp::Equal, &[index(), at]);
    if !negated {
        return side.op(TermOp::Select, &[is_at, value, rest]);
    }
    let is_not = side.op(TermOp::Not, &[is_at]);
    side.op(TermOp::Select, &[is_not, rest, value])
}

fn are_equal(one: impl FnOnce(&mut Side) -> TermId, other: impl FnOnce(&mut Side) -> TermId) -> bool {
    let (mut a, mut b) = (side(), side());
    let (one, other) = (one(&mut a), other(&mut b));
    compare((&a, one), (&b, other)) == Ok(Equality::Equal)
}

#[test]
fn a_search_a_lookup_and_a_masked_sum_are_one() {
    let element = |at: i64| TermId::input(X2, at as u64);
    let search = |side: &mut Side| {
        let zero = side.int(0);
        (0..8).fold(zero, |rest, at| choice(side, at, element(at), rest, at % 2 == 0))
    };
    let lookup = |side: &mut Side| {
        (0..7).rev().fold(element(7), |rest, at| choice(side, at, element(at), rest, false))
    };
    let masked = |side: &mut Side| {
        let parts = (0..8).map(|at| {
            let zero = side.int(0);
            choice(side, at, element(at), zero, false)
        });
        let parts: Vec<TermId> = parts.collect();
        side.sum(&parts)
    };
    assert!(are_equal(search, lookup));
    assert!(are_equal(search, masked));
    let other = |side: &mut Side| {
        (0..7).rev().fold(element(7), |rest, at| choice(side, at, element(at.min(5)), rest, false))
    };
    assert!(!are_equal(search, other));
    // What is found for a label that is ignored makes no difference.
    let ignoring = |search: &dyn Fn(&mut Side) -> TermId, from: i64, side: &mut Side| {
        let (found, zero) = (search(side), side.int(0));
        let found = choice(side, 2, zero, found, false);
        choice(side, from, element(9), found, false)
    };
    let others = |side: &mut Side| {
        let others = (0..7).filter(|at| *at != 5);
        others.fold(element(8), |rest, at| choice(side, at, element(at), rest, false))
    };
    let skipping = |side: &mut Side| {
        let others = (0..8).filter(|at| *at != 2);
        let zero = side.int(0);
        others.fold(zero, |rest, at| choice(side, at, element(at), rest, false))
    };
    assert!(are_equal(|side| ignoring(&search, 3, side), |side| ignoring(&skipping, 3, side)));
    assert!(!are_equal(|side| ignoring(&search, 3, side), |side| ignoring(&skipping, 4, side)));
    assert!(!are_equal(|side| ignoring(&search, 3, side), |side| ignoring(&others, 3, side)));
}

/// A long search takes time linear in its length.
#[test]
fn a_long_search_is_one_step_a_choice() {
    let mut side = Side::new();
    side.store.set_integers(vec![Some(Integers::of_bits(10, false)), None, None, None]);
    let zero = side.int(0);
    let search = |side: &mut Side, from: u64| {
        (from..1024).fold(zero, |rest, at| choice(side, at as i64, TermId::input(X2, at), rest, at % 2 == 0))
    };
    let (all, less) = (search(&mut side, 0), search(&mut side, 1));
    let analysis = Analysis::of_all(&side.store);
    let mut prover = Prover::new(Vec::new(), Tactic::THOROUGH);
    prover.set_budget(100_000);
    let store = prover.add_store(&side.store, &analysis);
    let forms = [all, less].map(|term| prover.settle(|prover| prover.argument(TermRef { store, term })));
    let [Ok(all), Ok(less)] = forms else { panic!("a search exceeds its budget") };
    assert_eq!((all.len(), less.len()), (1024, 1023));
}

/// An input of reals.
const X2: InputId = InputId(1);

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn forms_have_the_values_of_their_terms(
        steps in proptest::collection::vec((-1..9i64, 0..6u8, any::<bool>()), 1..14),
        point in proptest::collection::vec(-3..4i128, 6),
    ) {
        let mut side = side();
        let mut point = point;
        let mut term = value(0);
        for (at, arm, negated) in &steps {
            let arm = if *arm < 4 { value(*arm) } else { side.int(i64::from(*arm)) };
            term = choice(&mut side, *at, arm, term, *negated);
        }
        let analysis = Analysis::of_all(&side.store);
        for tactic in [Tactic::QUICK, Tactic::SHOWING, Tactic::THOROUGH] {
            let mut prover = Prover::new(Vec::new(), tactic);
            prover.set_budget(1_000_000);
            let store = prover.add_store(&side.store, &analysis);
            let form = prover.settle(|prover| prover.argument(TermRef { store, term }));
            let Ok(form) = form else { continue };
            for own in 0..8i128 {
                point[0] = own;
                let at_point = |term: u8| point[2 + usize::from(term)];
                let expected = steps.iter().fold(at_point(0), |rest, (at, arm, _)| {
                    if i128::from(*at) != own {
                        rest
                    } else if *arm < 4 {
                        at_point(*arm)
                    } else {
                        i128::from(*arm)
                    }
                });
                prop_assert_eq!(formed(&prover, &form, &point), Rational::from_i128(expected));
            }
        }
    }
}
