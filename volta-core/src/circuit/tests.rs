//! Circuits against arithmetic on numbers.

use super::solve::{Found, Solving};
use super::word::Word;
use super::{Bit, Circuit};
use proptest::prelude::*;

/// Values of two unknown integers at which a word differs from what it should be.
fn differs(
    circuit: &mut Circuit,
    inside: [Bit; 2],
    word: &Word,
    should: &mut dyn FnMut(&mut Circuit) -> Word,
) -> bool {
    let should = should(circuit);
    let equal = circuit.equal(word, &should);
    matches!(Solving::new(circuit.clone(), &inside, !equal).go_on(1 << 20).0, Found::Values(_))
}

proptest! {
    #[test]
    fn operations_on_numbers_are_those_of_integers(a in -70i128..70, b in -70i128..70, by in 1i128..20) {
        let mut circuit = Circuit::default();
        let [(x, x_inside), (y, y_inside)] = [a, b].map(|at| circuit.unknown_between(at - 1, at + 1));
        // The integers are held at these values by a condition, so that words are computed from unknown bits.
        let held = [(&x, a), (&y, b)].map(|(word, at)| circuit.equal(word, &Word::number(at)));
        let held = [circuit.and(held[0], x_inside), circuit.and(held[1], y_inside)];
        let minus = Word::number(if a < b { 1 } else { 0 });
        let found = [
            (circuit.sum(&x, &y), a + b),
            (circuit.difference(&x, &y), a - b),
            (circuit.product(&x, &y), a * b),
            (circuit.quotient(&x, by), a.div_euclid(by)),
            (circuit.remainder(&x, by), a.rem_euclid(by)),
            (x.low_bits(3), a & 7),
            (x.shifted_right(2), a >> 2),
            (Word::bitwise(&x, &y, |x, y| circuit.and(x, y)), a & b),
            (x.clone().between(a - 1, a + 1), a),
        ];
        for (word, value) in found {
            let expected = Word::number(value);
            prop_assert_eq!(expected.known(), Some(value));
            prop_assert!(!differs(&mut circuit, held, &word, &mut |_| expected.clone()), "{}", value);
            prop_assert!(differs(&mut circuit, held, &word, &mut |_| Word::number(value + 1)));
        }
        let less = circuit.less(&x, &y);
        prop_assert!(!differs(&mut circuit, held, &Word::of_bit(less), &mut |_| minus.clone()));
    }
}

proptest! {
    #[test]
    fn what_is_taken_under_conditions_is_what_it_is_there(
        steps in proptest::collection::vec((0..40usize, any::<bool>(), 0..40usize, any::<bool>()), 4..40),
        chosen in proptest::collection::vec((0..40usize, any::<bool>()), 1..5),
        most in 0..60usize,
    ) {
        let mut circuit = Circuit::default();
        let mut bits: Vec<Bit> = (0..5).map(|_| circuit.unknown()).collect();
        let pick = |bits: &[Bit], at: usize, is_negated: bool| {
            let bit = bits[at % bits.len()];
            if is_negated { !bit } else { bit }
        };
        for (a, not_a, b, not_b) in steps {
            let bit = circuit.and(pick(&bits, a, not_a), pick(&bits, b, not_b));
            bits.push(bit);
        }
        let conditions: Vec<Bit> = chosen.iter().map(|(at, negated)| pick(&bits, *at, *negated)).collect();
        let all = circuit.all(conditions.clone());
        let before = Word::of_bit(bits[bits.len() - 1]);
        let (mut value, mut left) = (before.clone(), most);
        let taken = circuit.taken(conditions, &mut value, &mut left);
        let mut left = most;
        let when = circuit.when(all, &before, &mut left);
        let zero = Word::number(0);
        let same = [
            (Word::of_bit(taken), Word::of_bit(all)),
            (circuit.chosen(all, &value, &zero), circuit.chosen(all, &before, &zero)),
            (circuit.chosen(all, &when, &zero), circuit.chosen(all, &before, &zero)),
        ];
        for (one, other) in same {
            let equal = circuit.equal(&one, &other);
            let found = Solving::new(circuit.clone(), &[], !equal).go_on(1 << 20).0;
            prop_assert!(matches!(found, Found::Nothing), "{:?}", found);
        }
    }
}

#[test]
fn values_that_fulfil_a_condition_are_told() {
    let mut circuit = Circuit::default();
    let (x, inside) = circuit.unknown_between(-5, 100);
    let squared = circuit.product(&x, &x);
    let equal = circuit.equal(&squared, &Word::number(1369));
    let mut solving = Solving::new(circuit.clone(), &[inside], equal);
    let (Found::Values(values), _) = solving.go_on(1 << 16) else { panic!("37² is 1369") };
    assert_eq!(values.of_word(&x), 37);
    let equal = circuit.equal(&squared, &Word::number(1370));
    assert!(matches!(Solving::new(circuit, &[inside], equal).go_on(1 << 16).0, Found::Nothing));
}

#[test]
fn a_budget_ends_a_search() {
    let mut circuit = Circuit::default();
    let [(x, _), (y, _)] = [0, 1].map(|_| circuit.unknown_between(2, (1 << 20) - 1));
    let product = circuit.product(&x, &y);
    // A product of two primes of 20 bits.
    let equal = circuit.equal(&product, &Word::number(1_048_573 * 1_048_571));
    assert!(matches!(Solving::new(circuit, &[], equal).go_on(1000).0, Found::Open));
}

#[test]
fn a_search_goes_on_where_it_ended() {
    let mut circuit = Circuit::default();
    let [(x, _), (y, _)] = [0, 1].map(|_| circuit.unknown_between(0, 7));
    let sum = circuit.sum(&x, &y);
    let [left, right] = [(&x, &sum), (&y, &sum)].map(|(a, b)| circuit.product(a, b));
    let expanded = circuit.sum(&left, &right);
    let squared = circuit.product(&sum, &sum);
    let differs = !circuit.equal(&expanded, &squared);
    let outcome = |steps: u64| {
        let mut solving = Solving::new(circuit.clone(), &[], differs);
        let found = std::iter::repeat_with(|| solving.go_on(steps))
            .take(1 << 14)
            .find(|found| !matches!(found.0, Found::Open));
        matches!(found, Some((Found::Nothing, _)))
    };
    assert!(outcome(1 << 24));
    assert!(outcome(1 << 8));
}
