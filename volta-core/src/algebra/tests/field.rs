//! Values in prime fields are equal for equal terms, and differ for others.

use super::*;

/// The agreement in prime fields for a pair that the prover proves equal.
#[track_caller]
fn agree(a: impl FnOnce(&mut Side) -> TermId, b: impl FnOnce(&mut Side) -> TermId) -> Agreement {
    let (mut left, mut right) = (Side::new(), Side::new());
    let (a, b) = (a(&mut left), b(&mut right));
    let (found, equal) = agreement((&left, a), (&right, b));
    assert!(equal, "the prover leaves it open");
    found
}

/// The agreement in prime fields for a pair that is declared equal.
fn declared(a: impl FnOnce(&mut Side) -> TermId, b: impl FnOnce(&mut Side) -> TermId) -> Agreement {
    let (mut left, mut right) = (Side::new(), Side::new());
    let (a, b) = (a(&mut left), b(&mut right));
    agreement((&left, a), (&right, b)).0
}

/// `Σ exp(xᵢ − m)·yᵢ / Σ exp(xᵢ − m)` with the maximum as it grows, or with that of all.
fn attention(side: &mut Side, online: bool) -> TermId {
    let exp = |side: &mut Side, a, b| {
        let shifted = side.sub(a, b);
        if online { side.expf(shifted) } else { side.exp(shifted) }
    };
    let inputs: Vec<TermId> = (0..4).map(|at| side.x(at)).collect();
    let all = side.tree(TermOp::Max, &inputs);
    let mut most = if online { inputs[0] } else { all };
    let first = exp(side, inputs[0], most);
    let (mut sum, mut out) = (first, side.mul(first, side.y(0)));
    for at in 1..4 {
        if online {
            let next = side.max(most, inputs[at as usize]);
            let scale = exp(side, most, next);
            (sum, out, most) = (side.mul(sum, scale), side.mul(scale, out), next);
        }
        let power = exp(side, inputs[at as usize], most);
        sum = side.add(sum, power);
        out = side.fma(power, side.y(at), out);
    }
    side.div(out, sum)
}

#[test]
fn equal_terms_have_equal_values() {
    let quotients = agree(
        |s| {
            let (a, b) = (s.div(s.x(0), s.x(1)), s.div(s.x(2), s.x(3)));
            s.add(a, b)
        },
        |s| {
            let (a, b, c) = (s.mul(s.x(0), s.x(3)), s.mul(s.x(2), s.x(1)), s.mul(s.x(1), s.x(3)));
            let sum = s.add(a, b);
            s.div(sum, c)
        },
    );
    assert_eq!(quotients, Agreement::Agree);
    assert_eq!(agree(|s| attention(s, true), |s| attention(s, false)), Agreement::Agree);
    let nested = agree(
        |s| {
            let (a, b) = (s.exp(s.x(0)), s.exp(s.x(1)));
            let power = s.mul(a, b);
            s.exp(power)
        },
        |s| {
            let sum = s.add(s.x(0), s.x(1));
            let power = s.exp(sum);
            s.exp(power)
        },
    );
    assert_eq!(nested, Agreement::Agree);
    let norm = |s: &mut Side, reciprocal: bool| {
        let squares: Vec<TermId> = (0..20).map(|at| s.mul(s.x(at), s.x(at))).collect();
        let sum = s.sum(&squares);
        if reciprocal {
            let root = s.op(TermOp::Rsqrt, &[sum]);
            s.mul(root, s.x(3))
        } else {
            let root = s.op(TermOp::Sqrt, &[sum]);
            let quotient = s.div(root, sum);
            s.mul(s.x(3), quotient)
        }
    };
    assert_eq!(agree(|s| norm(s, true), |s| norm(s, false)), Agreement::Agree);
    let infinite = agree(
        |s| {
            let masked = s.infinity(true);
            let power = s.exp2(masked);
            let (most, other) = (s.max(masked, s.x(0)), s.exp2(s.x(0)));
            let sum = s.add(power, other);
            s.mul(sum, most)
        },
        |s| {
            let power = s.exp2(s.x(0));
            s.mul(power, s.x(0))
        },
    );
    assert_eq!(infinite, Agreement::Agree);
}

#[test]
fn a_pair_wrongly_taken_for_equal_is_a_contradiction() {
    // Pairs that would be proved equal with a wrong sign in a sum of exponents, a lost coefficient or a lost root.
    let exponents = declared(
        |s| {
            let (a, b) = (s.exp(s.x(0)), s.exp(s.x(1)));
            s.mul(a, b)
        },
        |s| {
            let difference = s.sub(s.x(0), s.x(1));
            s.exp(difference)
        },
    );
    assert_eq!(exponents, Agreement::Differ);
    let coefficient = declared(
        |s| {
            let three = s.int(3);
            s.fma(three, s.x(0), s.x(1))
        },
        |s| s.add(s.x(0), s.x(1)),
    );
    assert_eq!(coefficient, Agreement::Differ);
    let root = declared(
        |s| {
            let root = s.op(TermOp::Sqrt, &[s.x(0)]);
            s.mul(root, root)
        },
        |s| s.mul(s.x(0), s.x(0)),
    );
    assert_eq!(root, Agreement::Differ);
    let maxima = declared(|s| s.max(s.x(0), s.x(1)), |s| s.max(s.x(0), s.x(2)));
    assert_eq!(maxima, Agreement::Differ);
    assert_eq!(declared(|s| attention(s, true), |s| s.x(0)), Agreement::Differ);
}

#[test]
fn sine_and_cosine_are_a_point_of_the_circle() {
    let squares = |operations: [TermOp; 2]| {
        move |s: &mut Side| {
            let squares = operations.map(|operation| {
                let value = s.op(operation, &[s.x(0)]);
                s.mul(value, value)
            });
            s.add(squares[0], squares[1])
        }
    };
    assert_eq!(declared(squares([TermOp::Sin, TermOp::Cos]), |s| s.int(1)), Agreement::Agree);
    assert_eq!(declared(squares([TermOp::Sin, TermOp::Sin]), |s| s.int(1)), Agreement::Differ);
}

#[test]
fn readings_that_are_not_clear_are_left_out() {
    // ln 2 beside a logarithm, and the power of two of a quarter of a logarithm.
    let logarithm = |s: &mut Side| {
        let ln2 = s.f32(0x3F31_7218);
        let logarithm = s.op(TermOp::Log2, &[s.x(0)]);
        s.mul(ln2, logarithm)
    };
    assert_eq!(agree(logarithm, logarithm), Agreement::Unchecked);
    let fourth = |s: &mut Side| {
        let quarter = s.rational(1, 4);
        let logarithm = s.op(TermOp::Log2, &[s.x(0)]);
        let exponent = s.mul(quarter, logarithm);
        s.exp2(exponent)
    };
    assert_eq!(agree(fourth, fourth), Agreement::Unchecked);
    // The cube is a cube.
    let cube = |s: &mut Side| {
        let three = s.int(3);
        let logarithm = s.op(TermOp::Log2, &[s.x(0)]);
        let exponent = s.mul(three, logarithm);
        s.exp2(exponent)
    };
    let product = |s: &mut Side| {
        let square = s.mul(s.x(0), s.x(0));
        s.mul(square, s.x(0))
    };
    assert_eq!(agree(cube, product), Agreement::Agree);
}
