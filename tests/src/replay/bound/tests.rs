use volta_core::number::{Extended, Rational};
use volta_core::program::InstId;
use volta_core::term::{Constant, InputId};

use super::*;
use crate::interpreter::float::{self, Arithmetic, Function, Round};
use crate::interpreter::random::Random;

fn precision(format: Format) -> Precision {
    let (unit, digits, tiny) = unit_of(format);
    Precision { unit, digits, tiny, huge: huge(format), conversion: None, any_order: false }
}

/// Numbers between 1/4 and 4 that a format has.
fn numbers(format: Format, random: &mut Random, count: usize) -> Vec<f64> {
    let number = |random: &mut Random| {
        let value = (0.25 + 3.75 * (random.bits() >> 11) as f64 / (1_u64 << 53) as f64)
            * if random.below(2) == 0 { 1.0 } else { -1.0 };
        float::to_f64(format, float::from_f64(format, value, Round::TowardZero))
    };
    (0..count).map(|_| number(random)).collect()
}

const STEPS: [(TermOp, Option<Arithmetic>, Option<Function>); 9] = [
    (TermOp::Add, Some(Arithmetic::Add), None),
    (TermOp::Sub, Some(Arithmetic::Sub), None),
    (TermOp::Mul, Some(Arithmetic::Mul), None),
    (TermOp::Fma, Some(Arithmetic::Fma), None),
    (TermOp::Div, Some(Arithmetic::Div), None),
    (TermOp::Sqrt, Some(Arithmetic::Sqrt), None),
    (TermOp::Exp2, None, Some(Function::Exp2)),
    (TermOp::Log2, None, Some(Function::Log2)),
    (TermOp::Tanh, None, Some(Function::Tanh)),
];

/// Random chains of operations, in a format and under each rounding: what floats give is within the bound of what reals
/// give, and the bound is no more than a few units for each operation.
#[test]
fn floats_are_within_the_bound_of_reals() {
    let mut random = Random::new(9);
    let (mut known, mut tight) = (0, 0);
    for turn in 0..4_000 {
        let format = [Format::F32, Format::F16, Format::Bf16][turn % 3];
        let round =
            [Round::NearestTiesToEven, Round::TowardZero, Round::TowardPositive, Round::TowardNegative]
                [turn % 4];
        let inputs = numbers(format, &mut random, 4);
        let mut store = Store::new();
        let mut terms: Vec<TermId> = (0..4).map(|at| TermId::input(InputId::from_index(0), at)).collect();
        let mut floats: Vec<u64> =
            inputs.iter().map(|value| float::from_f64(format, *value, round)).collect();
        for _ in 0..1 + random.below(6) {
            let (op, arithmetic, function) = STEPS[random.below(STEPS.len())];
            let picked: Vec<usize> = (0..3).map(|_| random.below(terms.len())).collect();
            let operands = [floats[picked[0]], floats[picked[1]], floats[picked[2]]];
            let result = match (arithmetic, function) {
                (Some(op), _) => float::arithmetic(op, format, round, operands),
                (None, Some(function)) => float::function(function, format, operands[0]),
                (None, None) => unreachable!("a step is one or the other"),
            };
            let held: Vec<TermId> = picked[..op.arity()].iter().map(|at| terms[*at]).collect();
            terms.push(store.apply(op, &held, InstId(0)));
            floats.push(result);
        }
        let mut tape = Tape::new(&store);
        let place = tape.add(terms[terms.len() - 1]).expect("a term");
        let values = tape.evaluate(&precision(format), &|_, at| inputs.get(at).copied());
        let Value::Real(value, error) = values[place] else { continue };
        let computed = float::to_f64(format, floats[floats.len() - 1]);
        known += 1;
        assert!(
            (computed - value).abs() <= error,
            "{format:?} {round:?}: {computed:e}, {value:e} within {error:e}"
        );
        tight += usize::from(error <= 64.0 * unit_of(format).0 * value.abs().max(1.0));
    }
    assert!(known > 3_000, "{known}");
    assert!(tight * 10 > known * 7, "{tight} of {known}");
}

#[test]
fn exact_steps_stay_exact_and_literals_stand_for_their_neighbours() {
    let mut store = Store::new();
    let constant = |store: &mut Store, mantissa: i64, exp: i32| {
        let exact = Extended::Finite(Rational::from_dyadic(mantissa, exp));
        store.intern(Constant { exact, literal: None, rounded: None })
    };
    let x = TermId::input(InputId::from_index(0), 0);
    let large = constant(&mut store, 12_582_912, 0);
    let sum = store.apply(TermOp::Add, &[x, large], InstId(0));
    let back = store.apply(TermOp::Sub, &[sum, large], InstId(0));
    let third = constant(&mut store, 11_184_811, -25);
    let part = store.apply(TermOp::Mul, &[x, third], InstId(0));
    let nothing = store.apply(TermOp::Sub, &[x, x], InstId(0));
    let divided = store.apply(TermOp::Div, &[x, nothing], InstId(0));
    let mut tape = Tape::new(&store);
    let [back, part, divided] = [back, part, divided].map(|term| tape.add(term).expect("a term"));
    let single = precision(Format::F32);
    let values = tape.evaluate(&single, &|_, _| Some(5.0));
    assert_eq!(values[back], Value::Real(5.0, 0.0));
    let Value::Real(value, error) = values[part] else { panic!("{:?}", values[part]) };
    assert!((value - 5.0 / 3.0).abs() < error && error < 1e-5, "{value} within {error}");
    assert_eq!(values[divided], Value::Undefined);
    // What the large constant cuts off is missed by no more than the bound.
    let values = tape.evaluate(&single, &|_, _| Some(5.3));
    let Value::Real(value, error) = values[back] else { panic!("{:?}", values[back]) };
    assert!((value - 5.0).abs() <= error && error < 8.0, "{value} within {error}");
    assert_eq!(tape.evaluate(&single, &|_, _| None)[back], Value::Unknown);
    let values = tape.evaluate(&single, &|_, _| Some(3.4e38));
    assert!(matches!(values[back], Value::Real(..)), "{:?}", values[back]);
    assert_eq!(tape.evaluate(&single, &|_, _| Some(2.0_f64.powi(128)))[back], Value::Unknown);
}
