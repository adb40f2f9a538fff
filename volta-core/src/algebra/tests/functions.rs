//! Maxima, roots, choices, roundings.

use super::*;

#[test]
fn maxima_are_sets() {
    let elements = |side: &Side| -> Vec<TermId> { (0..9).map(|at| side.x(at)).collect() };
    equal(
        |side| {
            let elements = elements(side);
            side.tree(TermOp::Max, &elements)
        },
        |side| {
            let mut elements = elements(side);
            elements.reverse();
            elements.push(side.x(4));
            let mut max = side.infinity(true);
            for x in elements {
                max = side.max(x, max);
            }
            max
        },
    );
    open(
        |side| {
            let elements = elements(side);
            side.tree(TermOp::Max, &elements)
        },
        |side| {
            let elements = elements(side);
            side.tree(TermOp::Max, &elements[..8])
        },
    );
    // With 0 as one more arm it is another function.
    open(
        |side| {
            let elements = elements(side);
            side.tree(TermOp::Max, &elements)
        },
        |side| {
            let mut elements = elements(side);
            elements.push(side.int(0));
            side.tree(TermOp::Max, &elements)
        },
    );
    open(
        |side| {
            let elements = elements(side);
            side.tree(TermOp::Max, &elements)
        },
        |side| {
            let elements = elements(side);
            side.tree(TermOp::Min, &elements)
        },
    );
}

#[test]
fn maxima_move_with_sums_and_positive_factors() {
    equal(
        |side| {
            let (a, b, c, k) = (side.x(0), side.x(1), side.y(0), side.rational(3, 7));
            let (a, b) = (side.mul(k, a), side.mul(k, b));
            let (a, b) = (side.add(a, c), side.add(b, c));
            side.max(a, b)
        },
        |side| {
            let (a, b, c, k) = (side.x(0), side.x(1), side.y(0), side.rational(3, 7));
            let max = side.max(a, b);
            side.fma(max, k, c)
        },
    );
    // Three arms, one shifted the other way.
    equal(
        |side| {
            let (a, b, c, d) = (side.x(0), side.x(1), side.x(2), side.y(0));
            let (a, b) = (side.add(a, d), side.add(b, d));
            let max = side.max(a, b);
            side.max(max, c)
        },
        |side| {
            let (a, b, c, d) = (side.x(0), side.x(1), side.x(2), side.y(0));
            let c = side.sub(c, d);
            let max = side.max(a, b);
            let max = side.max(max, c);
            side.add(max, d)
        },
    );
    open(
        |side| {
            let (a, b, k) = (side.x(0), side.x(1), side.int(-2));
            let (a, b) = (side.mul(k, a), side.mul(k, b));
            side.max(a, b)
        },
        |side| {
            let (a, b, k) = (side.x(0), side.x(1), side.int(-2));
            let max = side.max(a, b);
            side.mul(max, k)
        },
    );
    // A factor of unknown sign is not moved.
    open(
        |side| {
            let (a, b, k) = (side.x(0), side.x(1), side.y(0));
            let (a, b) = (side.mul(k, a), side.mul(k, b));
            side.max(a, b)
        },
        |side| {
            let (a, b, k) = (side.x(0), side.x(1), side.y(0));
            let max = side.max(a, b);
            side.mul(max, k)
        },
    );
}

#[test]
fn minima_magnitudes_and_clamps_are_maxima() {
    equal(
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            let (low, high) = (side.min(a, b), side.max(a, b));
            side.add(low, high)
        },
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            side.add(a, b)
        },
    );
    equal(
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            let gap = side.sub(a, b);
            side.op(TermOp::Abs, &[gap])
        },
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            let (low, high) = (side.min(a, b), side.max(a, b));
            side.sub(high, low)
        },
    );
    equal(
        |side| {
            let a = side.x(0);
            side.op(TermOp::Saturate, &[a])
        },
        |side| {
            let (a, zero, one) = (side.x(0), side.int(0), side.int(1));
            let low = side.min(a, one);
            side.max(low, zero)
        },
    );
    open(
        |side| {
            let a = side.x(0);
            side.op(TermOp::Saturate, &[a])
        },
        |side| {
            let (a, zero) = (side.x(0), side.int(0));
            side.max(a, zero)
        },
    );
    equal(
        |side| {
            let a = side.x(0);
            let square = side.mul(a, a);
            side.op(TermOp::Sqrt, &[square])
        },
        |side| {
            let a = side.x(0);
            side.op(TermOp::Abs, &[a])
        },
    );
    open(
        |side| {
            let a = side.x(0);
            let square = side.mul(a, a);
            side.op(TermOp::Sqrt, &[square])
        },
        |side| side.x(0),
    );
}

#[test]
fn choices_between_what_is_compared_are_maxima() {
    let choose = |op: TermOp, swapped: bool| {
        move |side: &mut Side| {
            let (a, b) = (side.x(0), side.x(1));
            let condition = side.op(op, &[a, b]);
            if swapped {
                side.op(TermOp::Select, &[condition, b, a])
            } else {
                side.op(TermOp::Select, &[condition, a, b])
            }
        }
    };
    for op in [TermOp::Less, TermOp::LessEqual] {
        equal(choose(op, true), |side| {
            let (a, b) = (side.x(0), side.x(1));
            side.max(a, b)
        });
        equal(choose(op, false), |side| {
            let (a, b) = (side.x(0), side.x(1));
            side.min(a, b)
        });
        open(choose(op, false), choose(op, true));
    }
    // A leaky rectifier.
    equal(
        |side| {
            let (x, zero, leak) = (side.x(0), side.int(0), side.rational(1, 10));
            let condition = side.op(TermOp::Less, &[zero, x]);
            let low = side.mul(x, leak);
            side.op(TermOp::Select, &[condition, x, low])
        },
        |side| {
            let (x, leak) = (side.x(0), side.rational(1, 10));
            let low = side.mul(x, leak);
            side.max(x, low)
        },
    );
    // The arms differ from the operands of the comparison.
    open(choose(TermOp::Less, true), |side| {
        let (a, b, y) = (side.x(0), side.x(1), side.y(0));
        let condition = side.op(TermOp::Less, &[a, y]);
        side.op(TermOp::Select, &[condition, b, a])
    });
    // Strictness matters where the arms differ at equality.
    open(
        |side| {
            let (a, b, zero, one) = (side.x(0), side.x(1), side.int(0), side.int(1));
            let condition = side.op(TermOp::Less, &[a, b]);
            side.op(TermOp::Select, &[condition, one, zero])
        },
        |side| {
            let (a, b, zero, one) = (side.x(0), side.x(1), side.int(0), side.int(1));
            let condition = side.op(TermOp::LessEqual, &[a, b]);
            side.op(TermOp::Select, &[condition, one, zero])
        },
    );
    equal(
        |side| {
            let (a, b, zero, one) = (side.x(0), side.x(1), side.int(0), side.int(1));
            let condition = side.op(TermOp::Less, &[a, b]);
            side.op(TermOp::Select, &[condition, one, zero])
        },
        |side| {
            let (a, b, zero, one) = (side.x(0), side.x(1), side.int(0), side.int(1));
            let condition = side.op(TermOp::LessEqual, &[b, a]);
            let condition = side.op(TermOp::Not, &[condition]);
            let condition = side.op(TermOp::And, &[condition, condition]);
            side.op(TermOp::Select, &[condition, one, zero])
        },
    );
}

#[test]
fn roots_square_to_their_radicands() {
    equal(
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            let sum = side.add(a, b);
            let root = side.op(TermOp::Sqrt, &[sum]);
            side.mul(root, root)
        },
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            side.add(a, b)
        },
    );
    equal(
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            let sum = side.add(a, b);
            side.op(TermOp::Rsqrt, &[sum])
        },
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            let sum = side.add(b, a);
            let root = side.op(TermOp::Sqrt, &[sum]);
            side.div(root, sum)
        },
    );
    equal(
        |side| {
            let d = side.int(64);
            side.op(TermOp::Rsqrt, &[d])
        },
        |side| side.rational(1, 8),
    );
    open(
        |side| {
            let d = side.int(128);
            side.op(TermOp::Rsqrt, &[d])
        },
        |side| side.f32(0x3DB5_04F3),
    );
    // √(a²·b) is not a·√b.
    open(
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            let square = side.mul(a, a);
            let inside = side.mul(square, b);
            side.op(TermOp::Sqrt, &[inside])
        },
        |side| {
            let (a, b) = (side.x(0), side.x(1));
            let root = side.op(TermOp::Sqrt, &[b]);
            side.mul(a, root)
        },
    );
}

#[test]
fn tanh_and_sigmoid_go_through_exponentials() {
    let sigmoid = |side: &mut Side, x: TermId| {
        let (negative, one) = (side.neg(x), side.int(1));
        let power = side.exp(negative);
        let below = side.add(one, power);
        side.div(one, below)
    };
    equal(
        |side| {
            let x = side.x(0);
            side.op(TermOp::Tanh, &[x])
        },
        |side| {
            let x = side.x(0);
            let twice = side.add(x, x);
            let half = sigmoid(side, twice);
            let (two, one) = (side.int(2), side.int(-1));
            side.fma(two, half, one)
        },
    );
    equal(
        |side| {
            let x = side.x(0);
            sigmoid(side, x)
        },
        |side| {
            let (x, half) = (side.x(0), side.rational(1, 2));
            let inside = side.mul(x, half);
            let tanh = side.op(TermOp::Tanh, &[inside]);
            side.fma(half, tanh, half)
        },
    );
    equal(
        |side| {
            let x = side.x(0);
            let negative = side.neg(x);
            side.op(TermOp::Tanh, &[negative])
        },
        |side| {
            let x = side.x(0);
            let tanh = side.op(TermOp::Tanh, &[x]);
            side.neg(tanh)
        },
    );
}

#[test]
fn other_functions_are_equal_on_equal_arguments() {
    for op in [TermOp::Sin, TermOp::Cos, TermOp::Floor, TermOp::Ceil, TermOp::Trunc, TermOp::RoundEven] {
        equal(
            |side| {
                let (a, b) = (side.x(0), side.x(1));
                let sum = side.add(a, b);
                side.op(op, &[sum])
            },
            |side| {
                let (a, b) = (side.x(0), side.x(1));
                let sum = side.add(b, a);
                side.op(op, &[sum])
            },
        );
        open(
            |side| {
                let (a, b) = (side.x(0), side.x(1));
                let sum = side.add(a, b);
                side.op(op, &[sum])
            },
            |side| {
                let (a, b) = (side.x(0), side.x(1));
                let sum = side.sub(a, b);
                side.op(op, &[sum])
            },
        );
        open(
            |side| {
                let a = side.x(0);
                side.op(op, &[a])
            },
            |side| side.x(0),
        );
    }
    // Integer summands are moved out of a floor; halves are not.
    let shifted = |num: i64, outside: bool| {
        move |side: &mut Side| {
            let (x, n) = (side.x(0), side.rational(num, 2));
            if outside {
                let floor = side.op(TermOp::Floor, &[x]);
                side.add(floor, n)
            } else {
                let sum = side.add(x, n);
                side.op(TermOp::Floor, &[sum])
            }
        }
    };
    equal(shifted(6, false), shifted(6, true));
    open(shifted(5, false), shifted(5, true));
}

#[test]
fn normal_forms_read_like_mathematics() {
    let print = |build: &dyn Fn(&mut Side) -> TermId| {
        let mut side = Side::new();
        let term = build(&mut side);
        normal_form(&side, term)
    };
    assert_eq!(
        print(&|side| {
            let (a, b, c) = (side.x(0), side.y(0), side.x(1));
            let product = side.mul(a, b);
            side.sub(product, c)
        }),
        "out = x[0]·y[0] - x[1]"
    );
    assert_eq!(
        print(&|side| {
            let elements: Vec<TermId> = (0..128).map(|at| side.x(at)).collect();
            side.tree(TermOp::Max, &elements)
        }),
        "out = max{i<128}(x[i])"
    );
    assert_eq!(print(&|side| side.int(0)), "out = 0");
    // Minima, as negated maxima of opposites, of two and of more operands.
    let least = |side: &mut Side, from: u64, to: u64| {
        let elements: Vec<TermId> = (from..to).map(|at| side.x(at)).collect();
        side.tree(TermOp::Min, &elements)
    };
    assert_eq!(print(&|side| least(side, 0, 2)), "out = x[0] + x[1] - max(x[0], x[1])");
    assert_eq!(print(&|side| least(side, 0, 3)), "out = min(x[0], x[1], x[2])");
    assert_eq!(
        print(&|side| {
            let (low, y) = (least(side, 0, 3), side.y(0));
            side.sub(y, low)
        }),
        "out = y[0] - min(x[0], x[1], x[2])"
    );
}
