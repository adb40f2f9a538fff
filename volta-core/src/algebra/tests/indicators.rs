//! Products of indicators: counts under several conditions have one form, within the bounds of what they count.

use super::integers::formed;
use super::*;
use crate::term::Integers;
use proptest::prelude::*;

/// Two inputs of integers from 0 to 7, and one of 32 bits.
fn side() -> Side {
    let mut side = Side::new();
    let digits = Integers::of_bits(3, false);
    side.store.set_integers(vec![Some(digits), Some(digits), Some(Integers::of_bits(32, true)), None]);
    side
}

fn element(input: u32, at: u64) -> TermId {
    TermId::input(InputId(input), at)
}

#[test]
fn nested_choices_and_conjunctions_count_alike() {
    for count in [1, 3, 8, 40] {
        // A counter that goes on where `from < to and 0 < x`, as a choice of numbers at each step.
        let mut one = side();
        let mut counts: Vec<TermId> = (0..=count).map(|at| one.int(at)).collect();
        for at in (0..count as u64).rev() {
            let not_above = one.op(TermOp::LessEqual, &[element(1, at), element(0, at)]);
            let below = one.op(TermOp::Not, &[not_above]);
            let zero = one.int(0);
            let positive = one.op(TermOp::Less, &[zero, element(2, at)]);
            let both = one.op(TermOp::And, &[below, positive]);
            let after = counts.windows(2).map(|own| one.op(TermOp::Select, &[both, own[1], own[0]]));
            counts = after.collect();
        }
        // A sum of ones that are chosen twice, by the opposite of one condition.
        let mut other = side();
        let parts = (0..count as u64).map(|at| {
            let [no, yes] = [other.int(0), other.int(1)];
            let not_positive = other.op(TermOp::Less, &[element(2, at), yes]);
            let own = other.op(TermOp::Select, &[not_positive, no, yes]);
            let below = other.op(TermOp::Less, &[element(0, at), element(1, at)]);
            other.op(TermOp::Select, &[below, own, no])
        });
        let parts: Vec<TermId> = parts.collect();
        let sum = other.sum(&parts);
        assert_eq!(compare((&one, counts[0]), (&other, sum)), Ok(Equality::Equal));
        let more = other.int(1);
        let more = other.op(TermOp::Add, &[sum, more]);
        assert_ne!(compare((&one, counts[0]), (&other, more)), Ok(Equality::Equal));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Forms have the values of their terms, and these lie within the bounds of the form.
    #[test]
    fn bounds_hold_at_every_assignment(
        steps in proptest::collection::vec((0..6u64, -3..4i64, any::<bool>(), any::<bool>()), 1..9),
        point in proptest::collection::vec(0..4i128, 6),
    ) {
        let mut side = side();
        let mut term = side.int(0);
        let mut expected = 0;
        for (at, weight, nested, negated) in steps {
            let (next, after) = (element(0, (at + 1) % 6), (at + 1) % 6);
            let less = side.op(TermOp::Less, &[element(0, at), next]);
            let limit = side.int(2);
            let small = side.op(TermOp::Less, &[element(0, at), limit]);
            let condition = if negated { side.op(TermOp::Not, &[small]) } else { small };
            let by = side.int(weight);
            let more = side.op(TermOp::Add, &[term, by]);
            let (own, is_less) = (point[at as usize], point[at as usize] < point[after as usize]);
            let holds = (own < 2) != negated;
            term = if nested {
                let inner = side.op(TermOp::Select, &[condition, more, term]);
                side.op(TermOp::Select, &[less, inner, term])
            } else {
                let both = side.op(TermOp::And, &[less, condition]);
                side.op(TermOp::Select, &[both, more, term])
            };
            expected += if holds && is_less { i128::from(weight) } else { 0 };
        }
        let analysis = Analysis::of_all(&side.store);
        let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
        prover.set_budget(1_000_000);
        let store = prover.add_store(&side.store, &analysis);
        let form = prover.settle(|prover| prover.argument(TermRef { store, term })).unwrap();
        let expected = Rational::from_i128(expected);
        prop_assert_eq!(formed(&prover, &form, &point), expected.clone());
        if let Some((low, high)) = prover.table.bounds_of(&form) {
            prop_assert!(low <= expected && expected <= high);
        }
    }
}
