//! Rings: accumulation in any order, distribution, cancellation, and sums that must stay distinct.

use super::*;

/// `Σ x[i·k]·y[k]`, in the order given.
fn dot(side: &mut Side, order: &[u64]) -> TermId {
    let mut sum = side.int(0);
    for k in order {
        let (x, y) = (side.x(*k), side.y(*k));
        sum = side.fma(x, y, sum);
    }
    sum
}

fn shuffled(count: u64) -> Vec<u64> {
    (0..count).map(|k| (k * 37 + 11) % count).collect()
}

#[test]
fn products_add_up_in_any_order() {
    let count = 101;
    let forward: Vec<u64> = (0..count).collect();
    let backward: Vec<u64> = (0..count).rev().collect();
    equal(|side| dot(side, &forward), |side| dot(side, &backward));
    equal(|side| dot(side, &forward), |side| dot(side, &shuffled(count)));
}

#[test]
fn sums_split_over_accumulators_are_the_same_sum() {
    let forward: Vec<u64> = (0..128).collect();
    equal(
        |side| dot(side, &forward),
        |side| {
            let parts: Vec<TermId> = forward.chunks(32).map(|part| dot(side, part)).collect();
            side.tree(TermOp::Add, &parts)
        },
    );
    // Every partial sum used twice, as in a butterfly over lanes.
    equal(
        |side| dot(side, &forward),
        |side| {
            let mut lanes: Vec<TermId> = forward.chunks(4).map(|part| dot(side, part)).collect();
            for distance in [16, 8, 4, 2, 1] {
                lanes = (0..32).map(|lane: usize| side.add(lanes[lane], lanes[lane ^ distance])).collect();
            }
            lanes[5]
        },
    );
}

#[test]
fn a_wrong_index_or_a_missing_term_is_not_equal() {
    let forward: Vec<u64> = (0..64).collect();
    let mut wrong = forward.clone();
    wrong[40] = 39;
    open(|side| dot(side, &forward), |side| dot(side, &wrong));
    open(|side| dot(side, &forward), |side| dot(side, &forward[..63]));
    open(
        |side| dot(side, &forward),
        |side| {
            let sum = dot(side, &forward);
            let one = side.rational(1, 1 << 40);
            side.add(sum, one)
        },
    );
}

#[test]
fn scales_distribute_over_sums() {
    let forward: Vec<u64> = (0..40).collect();
    let (alpha, beta) = (TermId::input(InputId(2), 0), TermId::input(InputId(2), 1));
    equal(
        |side| {
            let sum = dot(side, &forward);
            let old = side.x(99);
            let old = side.mul(beta, old);
            side.fma(alpha, sum, old)
        },
        |side| {
            let old = side.x(99);
            let mut sum = side.mul(old, beta);
            for k in shuffled(40) {
                let x = side.x(k);
                let x = side.mul(alpha, x);
                let y = side.y(k);
                sum = side.fma(x, y, sum);
            }
            sum
        },
    );
    open(
        |side| {
            let sum = dot(side, &forward);
            side.mul(alpha, sum)
        },
        |side| {
            let sum = dot(side, &forward);
            side.mul(beta, sum)
        },
    );
}

#[test]
fn shared_sums_multiply_out() {
    // (a + b)·(a − b) = a² − b², long enough to be named first.
    let left = |side: &mut Side| {
        let a = dot(side, &(0..12).collect::<Vec<_>>());
        let b = dot(side, &(12..24).collect::<Vec<_>>());
        let (plus, minus) = (side.add(a, b), side.sub(a, b));
        side.mul(plus, minus)
    };
    let right = |side: &mut Side| {
        let a = dot(side, &(0..12).collect::<Vec<_>>());
        let b = dot(side, &(12..24).collect::<Vec<_>>());
        let (aa, bb) = (side.mul(a, a), side.mul(b, b));
        side.sub(aa, bb)
    };
    equal(left, right);
    open(left, |side| {
        let a = dot(side, &(0..12).collect::<Vec<_>>());
        let b = dot(side, &(12..24).collect::<Vec<_>>());
        let (aa, bb) = (side.mul(a, a), side.mul(b, b));
        side.add(aa, bb)
    });
}

#[test]
fn variances_agree_however_they_are_computed() {
    let count = 24u64;
    let mean = |side: &mut Side| {
        let elements: Vec<TermId> = (0..count).map(|at| side.x(at)).collect();
        let sum = side.sum(&elements);
        let share = side.rational(1, count as i64);
        side.mul(sum, share)
    };
    let two_pass = |side: &mut Side| {
        let mean = mean(side);
        let mut sum = side.int(0);
        for at in 0..count {
            let x = side.x(at);
            let centred = side.sub(x, mean);
            sum = side.fma(centred, centred, sum);
        }
        let share = side.rational(1, count as i64);
        side.mul(sum, share)
    };
    let one_pass = |side: &mut Side| {
        let mean = mean(side);
        let mut sum = side.int(0);
        for at in 0..count {
            let x = side.x(at);
            sum = side.fma(x, x, sum);
        }
        let share = side.rational(1, count as i64);
        let square = side.mul(sum, share);
        let mean = side.mul(mean, mean);
        side.sub(square, mean)
    };
    equal(two_pass, one_pass);
    let normalised = |variance: &dyn Fn(&mut Side) -> TermId, side: &mut Side| {
        let variance = variance(side);
        let epsilon = side.rational(1, 100_000);
        let variance = side.add(variance, epsilon);
        let root = side.op(TermOp::Rsqrt, &[variance]);
        let mean = mean(side);
        let x = side.x(3);
        let centred = side.sub(x, mean);
        side.mul(centred, root)
    };
    equal(|side| normalised(&two_pass, side), |side| normalised(&one_pass, side));
    equal(
        |side| normalised(&two_pass, side),
        |side| {
            let variance = one_pass(side);
            let epsilon = side.rational(1, 100_000);
            let variance = side.add(epsilon, variance);
            let root = side.op(TermOp::Sqrt, &[variance]);
            let mean = mean(side);
            let x = side.x(3);
            let centred = side.sub(x, mean);
            side.div(centred, root)
        },
    );
}

#[test]
fn quotients_cancel_and_cross_multiply() {
    equal(
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            side.div(a, b)
        },
        |side| {
            let (a, b, c) = (side.x(0), side.x(1), side.y(0));
            let (ac, bc) = (side.mul(a, c), side.mul(b, c));
            side.div(ac, bc)
        },
    );
    // 1/(a+b) + 1/(a−b) = 2a/(a² − b²)
    equal(
        |side| {
            let (a, b, one) = (side.x(0), side.x(1), side.int(1));
            let (plus, minus) = (side.add(a, b), side.sub(a, b));
            let (p, m) = (side.div(one, plus), side.div(one, minus));
            side.add(p, m)
        },
        |side| {
            let (a, b, two) = (side.x(0), side.x(1), side.int(2));
            let (aa, bb) = (side.mul(a, a), side.mul(b, b));
            let (above, below) = (side.mul(two, a), side.sub(aa, bb));
            side.div(above, below)
        },
    );
    open(
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            let sum = side.add(a, b);
            side.div(a, sum)
        },
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            let sum = side.sub(a, b);
            side.div(a, sum)
        },
    );
}

#[test]
fn dividing_by_what_is_zero_everywhere_is_undefined() {
    let mut side = Side::new();
    let (x, y) = (side.x(0), side.y(0));
    let zero = side.sub(x, x);
    let quotient = side.div(y, zero);
    assert!(matches!(requirements(&side, quotient, &[]), Err(Stop::Undefined(_))));
    assert!(matches!(compare((&side, quotient), (&side, y)), Ok(Equality::FirstUndefined(_))));
    // A factor of zero does not hide it either.
    let nothing = side.int(0);
    let product = side.mul(nothing, quotient);
    assert!(matches!(requirements(&side, product, &[]), Err(Stop::Undefined(_))));
}

#[test]
fn requirements_are_read_off_what_was_executed() {
    let mut side = Side::new();
    let (x, y) = (side.x(0), side.y(0));
    let ratio = side.div(x, x);
    assert_eq!(requirements(&side, ratio, &[]), Ok(vec!["x[0] != 0".to_string()]));
    assert_eq!(requirements(&side, ratio, &[Signs::POSITIVE]), Ok(vec![]));
    let square = side.mul(y, y);
    let one = side.int(1);
    let above = side.add(square, one);
    let root = side.op(TermOp::Sqrt, &[above]);
    let fine = side.div(x, root);
    assert_eq!(requirements(&side, fine, &[]), Ok(vec![]));
    let below = side.sub(square, one);
    let root = side.op(TermOp::Sqrt, &[below]);
    assert_eq!(requirements(&side, root, &[]), Ok(vec!["y[0]^2 - 1 >= 0".to_string()]));
    let logarithm = side.op(TermOp::Log2, &[x]);
    assert_eq!(requirements(&side, logarithm, &[]), Ok(vec!["x[0] > 0".to_string()]));
}

#[test]
fn a_long_chain_neither_overflows_nor_takes_long() {
    let build = |side: &mut Side, reverse: bool| {
        let mut sum = side.int(0);
        for at in 0..1_000_000u64 {
            let at = if reverse { 999_999 - at } else { at };
            let (x, y) = (side.x(at), side.y(at));
            sum = side.fma(x, y, sum);
        }
        sum
    };
    equal(|side| build(side, false), |side| build(side, true));
}

#[test]
fn deep_nesting_does_not_overflow() {
    let build = |op: TermOp, depth: usize| {
        move |side: &mut Side| {
            let mut value = side.x(0);
            for at in 0..depth {
                value = side.op(op, &[value]);
                let y = side.y(at as u64);
                value = side.add(value, y);
            }
            value
        }
    };
    equal(build(TermOp::Sin, 20_000), build(TermOp::Sin, 20_000));
    open(build(TermOp::Sin, 20_000), build(TermOp::Sin, 20_001));
    equal(build(TermOp::RoundEven, 5_000), build(TermOp::RoundEven, 5_000));
    // Integer summands are moved out, so each level adds one.
    equal(build(TermOp::Floor, 500), build(TermOp::Floor, 500));
    equal(build(TermOp::Exp2, 20_000), build(TermOp::Exp2, 20_000));
}

#[test]
fn doubling_a_thousand_times_is_cheap() {
    let build = |side: &mut Side| {
        let mut value = side.x(0);
        for _ in 0..1000 {
            value = side.add(value, value);
        }
        value
    };
    equal(build, |side| {
        let mut factor = side.int(1);
        for _ in 0..1000 {
            let two = side.int(2);
            factor = side.mul(factor, two);
        }
        let x = side.x(0);
        side.mul(x, factor)
    });
}

#[test]
fn a_spent_budget_is_not_an_answer() {
    let forward: Vec<u64> = (0..64).collect();
    let (mut left, mut right) = (Side::new(), Side::new());
    let (a, b) = (dot(&mut left, &forward), dot(&mut right, &forward));
    assert!(matches!(compare_within((&left, a), (&right, b), 20), Err(Stop::Exhausted(_))));
}

#[test]
fn arms_of_choices_require_what_they_do_where_they_are_taken() {
    let mut side = Side::new();
    let (x, y) = (side.x(0), side.y(0));
    let (zero, tiny) = (side.int(0), side.rational(1, 1000));
    let reciprocal = side.div(y, x);
    let [above, below, not_zero, above_tiny, other] = [
        (TermOp::Less, zero, x),
        (TermOp::Less, x, zero),
        (TermOp::Equal, x, zero),
        (TermOp::Less, tiny, x),
        (TermOp::Less, zero, y),
    ]
    .map(|(op, a, b)| side.op(op, &[a, b]));
    let not_zero = side.op(TermOp::Not, &[not_zero]);
    for safe in [above, below, not_zero, above_tiny] {
        let term = side.op(TermOp::Select, &[safe, reciprocal, zero]);
        assert_eq!(requirements(&side, term, &[]), Ok(vec![]));
        let both = side.op(TermOp::And, &[other, safe]);
        let term = side.op(TermOp::Select, &[both, reciprocal, zero]);
        assert_eq!(requirements(&side, term, &[]), Ok(vec![]));
        let term = side.op(TermOp::Select, &[safe, zero, reciprocal]);
        assert_ne!(requirements(&side, term, &[]), Ok(vec![]));
    }
    let unsafe_choice = side.op(TermOp::Select, &[other, reciprocal, zero]);
    assert_eq!(requirements(&side, unsafe_choice, &[]), Ok(vec!["x[0] != 0 where y[0] > 0".to_string()]));
    let everywhere = side.add(unsafe_choice, reciprocal);
    assert_eq!(requirements(&side, everywhere, &[]), Ok(vec!["x[0] != 0".to_string()]));
    let logarithm = side.op(TermOp::Log2, &[x]);
    let root = side.op(TermOp::Sqrt, &[x]);
    let nested = side.op(TermOp::Select, &[other, root, zero]);
    let nested = side.op(TermOp::Select, &[below, nested, logarithm]);
    assert_eq!(
        requirements(&side, nested, &[]),
        Ok(vec!["x[0] > 0 where x[0] >= 0".to_string(), "x[0] >= 0 where x[0] < 0 and y[0] > 0".to_string()])
    );
}
