//! Powers of two and e: literals, `expf`, softmax in all its forms.

use super::*;

const LOG2E: [(Format, u64); 5] = [
    (Format::F32, 0x3FB8_AA3B),
    (Format::F32, 0x3FB8_AA3C),
    (Format::F16, 0x3DC5),
    (Format::Bf16, 0x3FB9),
    (Format::F64, 0x3FF7_1547_652B_82FE),
];

#[test]
fn exponents_add() {
    equal(
        |side| {
            let (x, y) = (side.x(0), side.x(1));
            let (a, b) = (side.exp2(x), side.exp2(y));
            side.mul(a, b)
        },
        |side| {
            let (x, y) = (side.x(0), side.x(1));
            let sum = side.add(x, y);
            side.exp2(sum)
        },
    );
    equal(
        |side| {
            let (x, three) = (side.x(0), side.int(3));
            let sum = side.add(three, x);
            side.exp2(sum)
        },
        |side| {
            let (x, eight, one) = (side.x(0), side.int(8), side.int(1));
            let negative = side.neg(x);
            let power = side.exp2(negative);
            let inverse = side.div(one, power);
            side.mul(eight, inverse)
        },
    );
    // Halves of exponents.
    equal(
        |side| {
            let half = side.rational(1, 2);
            let root = side.exp2(half);
            side.mul(root, root)
        },
        |side| side.int(2),
    );
    open(
        |side| {
            let (x, y) = (side.x(0), side.x(1));
            let (a, b) = (side.exp2(x), side.exp2(y));
            side.add(a, b)
        },
        |side| {
            let (x, y) = (side.x(0), side.x(1));
            let sum = side.add(x, y);
            side.exp2(sum)
        },
    );
}

#[test]
fn all_forms_of_log2_e_are_read_alike_in_exponents() {
    for (format, bits) in LOG2E {
        equal(
            |side| {
                let x = side.x(0);
                side.exp(x)
            },
            |side| {
                let (x, base) = (side.x(0), side.literal(format, bits));
                let scaled = side.mul(base, x);
                side.exp2(scaled)
            },
        );
    }
    // A scale of a power of two, folded.
    equal(
        |side| {
            let (x, eighth) = (side.x(0), side.rational(-1, 8));
            let scaled = side.mul(x, eighth);
            side.exp(scaled)
        },
        |side| {
            let (x, base) = (side.x(0), side.f32(0xBE38_AA3B));
            let scaled = side.mul(base, x);
            side.exp2(scaled)
        },
    );
}

#[test]
fn a_literal_may_be_a_scale_of_the_other_side_and_log2_e_in_one() {
    // 0.1118034 · log₂ e = 0.1612982…
    let scaled = |side: &mut Side, bits: u64| {
        let (x, factor) = (side.x(0), side.f32(bits));
        side.mul(x, factor)
    };
    let power = |side: &mut Side, bits: u64| {
        let exponent = scaled(side, bits);
        side.exp(exponent)
    };
    let folded = |side: &mut Side, bits: u64| {
        let exponent = scaled(side, bits);
        side.exp2(exponent)
    };
    for sign in [0, 1 << 31] {
        equal(|side| power(side, 0x3DE4_F92E | sign), |side| folded(side, 0x3E25_2B5B | sign));
    }
    open(|side| power(side, 0x3DE4_F92E), |side| folded(side, 0x3E25_2B5D));
    open(|side| power(side, 0x3DE4_F92E), |side| folded(side, 0xBE25_2B5A));
    // The scale must be a literal of the other side, and the product must not be.
    open(|side| side.x(1), |side| folded(side, 0x3E25_2B5B));
    equal(|side| folded(side, 0x3E25_2B5B), |side| folded(side, 0x3E25_2B5B));
    // Outside of exponents the product is a number.
    open(
        |side| scaled(side, 0x3DE4_F92E),
        |side| {
            let (product, log2_e) = (scaled(side, 0x3E25_2B5B), side.f32(0x3FB8_AA3B));
            side.op(TermOp::Div, &[product, log2_e])
        },
    );
}

#[test]
fn to_base_two_and_back() {
    let sum = |side: &mut Side, factor: Option<u64>| {
        let arms = [0, 1].map(|at| {
            let x = side.x(at);
            match factor {
                Some(bits) => {
                    let factor = side.f32(bits);
                    side.mul(x, factor)
                }
                None => x,
            }
        });
        let most = side.max(arms[0], arms[1]);
        let powers = arms.map(|arm| {
            let less = side.sub(arm, most);
            if factor.is_some() { side.exp2(less) } else { side.exp(less) }
        });
        let sum = side.add(powers[0], powers[1]);
        (most, side.op(TermOp::Log2, &[sum]))
    };
    let natural = |side: &mut Side| {
        let (most, log) = sum(side, None);
        let ln_2 = side.f32(0x3F31_7218);
        side.fma(log, ln_2, most)
    };
    let there_and_back = |side: &mut Side, back: u64| {
        let (most, log) = sum(side, Some(0x3FB8_AA3B));
        let (both, ln_2) = (side.add(most, log), side.f32(back));
        side.mul(both, ln_2)
    };
    equal(natural, |side| there_and_back(side, 0x3F31_7218));
    open(natural, |side| there_and_back(side, 0x3F31_7219));
    // Without a logarithm, they are numbers whose product is not 1.
    open(
        |side| side.x(0),
        |side| {
            let (x, there, back) = (side.x(0), side.f32(0x3FB8_AA3B), side.f32(0x3F31_7218));
            let scaled = side.mul(x, there);
            side.mul(scaled, back)
        },
    );
}

#[test]
fn literals_are_numbers_everywhere_else() {
    open(
        |side| {
            let (x, base) = (side.x(0), side.f32(0x3FB8_AA3B));
            side.mul(x, base)
        },
        |side| {
            let (x, base) = (side.x(0), side.f32(0x3FB8_AA3C));
            side.mul(x, base)
        },
    );
    equal(
        |side| {
            let (x, base) = (side.x(0), side.f32(0x3FB8_AA3B));
            side.mul(x, base)
        },
        |side| {
            let value = crate::algebra::IrrationalLiteral::Form(crate::algebra::Form::Log2E).value();
            let (num, den) = value.to_small_parts().expect("small");
            let (x, base) = (side.x(0), side.rational(num, den as i64));
            side.mul(x, base)
        },
    );
    // Neighbouring floats in exponents are read as rationals.
    open(
        |side| {
            let x = side.x(0);
            side.exp(x)
        },
        |side| {
            let (x, base) = (side.x(0), side.f32(0x3FB8_AA3D));
            let scaled = side.mul(base, x);
            side.exp2(scaled)
        },
    );
}

#[test]
fn expf_as_compilers_expand_it_is_e_to_the_x() {
    equal(
        |side| {
            let x = side.x(0);
            side.exp(x)
        },
        |side| {
            let x = side.x(0);
            side.expf(x)
        },
    );
    equal(
        |side| {
            let (x, y) = (side.x(0), side.x(1));
            let sum = side.add(x, y);
            side.expf(sum)
        },
        |side| {
            let (x, y) = (side.x(0), side.x(1));
            let (a, b) = (side.expf(x), side.exp(y));
            side.mul(a, b)
        },
    );
}

#[test]
fn a_range_reduction_that_does_not_cancel_is_not_recognised() {
    let (mut left, mut right) = (Side::new(), Side::new());
    let x = left.x(0);
    let a = left.exp(x);
    // Like `expf`, but the scale 2^j lacks j.
    let x = right.x(0);
    let floor = right.op(TermOp::Floor, &[x]);
    let n = right.neg(floor);
    let base = right.f32(0x3FB8_AA3B);
    let r = right.fma(x, base, n);
    let b = right.exp2(r);
    let Ok(Equality::Open(reason)) = compare((&left, a), (&right, b)) else { panic!("not open") };
    assert!(reason.contains("range reduction"), "{reason}");
}

#[test]
fn logarithms_undo_powers() {
    let ln = |side: &mut Side, x: TermId| {
        let (log, factor) = (side.op(TermOp::Log2, &[x]), side.f32(0x3F31_7218));
        side.mul(log, factor)
    };
    equal(
        |side| {
            let x = side.x(0);
            let power = side.exp(x);
            ln(side, power)
        },
        |side| side.x(0),
    );
    equal(
        |side| {
            let x = side.x(0);
            let log = ln(side, x);
            side.expf(log)
        },
        |side| side.x(0),
    );
    // The same literal away from a logarithm is a number.
    open(
        |side| {
            let (x, factor) = (side.x(0), side.f32(0x3F31_7218));
            let scaled = side.mul(x, factor);
            side.exp(scaled)
        },
        |side| {
            let x = side.x(0);
            side.exp2(x)
        },
    );
}

/// `exp(x[at] − max)/Σ exp(x − max)`, with the maximum and the sum computed as chains.
fn naive(side: &mut Side, count: u64, at: u64, exp: impl Fn(&mut Side, TermId) -> TermId) -> TermId {
    let mut max = side.x(0);
    for k in 1..count {
        let x = side.x(k);
        max = side.max(max, x);
    }
    let mut sum = side.int(0);
    let mut own = sum;
    for k in 0..count {
        let x = side.x(k);
        let shifted = side.sub(x, max);
        let power = exp(side, shifted);
        sum = side.add(sum, power);
        if k == at {
            own = power;
        }
    }
    side.div(own, sum)
}

/// Mistakes in an online softmax.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    NoRescale,
    SkipsOne,
}

/// Tiles of `tile` elements, a running maximum from `start`, the sum rescaled at each tile.
fn online(side: &mut Side, count: u64, at: u64, tile: u64, start: Option<TermId>, flaw: Flaw) -> TermId {
    let mut max = start;
    let mut sum = side.int(0);
    for first in (0..count).step_by(tile as usize) {
        let mut own = side.x(first);
        for k in first + 1..(first + tile).min(count) {
            let x = side.x(k);
            own = side.max(own, x);
        }
        let new = match max {
            None => own,
            Some(old) => side.max(old, own),
        };
        if let Some(old) = max
            && flaw != Flaw::NoRescale
        {
            let shift = side.sub(old, new);
            let rescale = side.exp(shift);
            sum = side.mul(sum, rescale);
        }
        max = Some(new);
        for k in first..(first + tile).min(count) {
            if flaw == Flaw::SkipsOne && k == 2 {
                continue;
            }
            let x = side.x(k);
            let shifted = side.sub(x, new);
            let power = side.exp(shifted);
            sum = side.add(sum, power);
        }
    }
    let x = side.x(at);
    let shifted = side.sub(x, max.unwrap_or(x));
    let own = side.exp(shifted);
    side.div(own, sum)
}

#[test]
fn online_softmax_is_softmax() {
    for (count, tile) in [(4, 1), (4, 2), (128, 1), (128, 16), (128, 128), (100, 7)] {
        for start in 0..3 {
            equal(
                |side| naive(side, count, 3, |side, x| side.expf(x)),
                |side| {
                    let start = match start {
                        0 => None,
                        1 => Some(side.infinity(true)),
                        _ => Some(side.int(0)),
                    };
                    online(side, count, 3, tile, start, Flaw::None)
                },
            );
        }
    }
}

#[test]
fn softmax_without_rescaling_or_with_a_term_missing_is_not() {
    for flaw in [Flaw::NoRescale, Flaw::SkipsOne] {
        for count in [4, 32] {
            open(
                |side| naive(side, count, 3, |side, x| side.exp(x)),
                |side| online(side, count, 3, 1, None, flaw),
            );
        }
    }
    open(|side| naive(side, 8, 3, |side, x| side.exp(x)), |side| naive(side, 8, 4, |side, x| side.exp(x)));
    open(|side| naive(side, 8, 3, |side, x| side.exp(x)), |side| naive(side, 9, 3, |side, x| side.exp(x)));
}

#[test]
fn naive_and_online_softmax_print_alike() {
    let print = |build: &dyn Fn(&mut Side) -> TermId| {
        let mut side = Side::new();
        let term = build(&mut side);
        normal_form(&side, term)
    };
    let first = print(&|side| naive(side, 4, 0, |side, x| side.expf(x)));
    assert_eq!(first, "out = exp(x[0]) / (Σ{i<4} exp(x[i]))");
    assert_eq!(first, print(&|side| online(side, 4, 0, 2, None, Flaw::None)));
    let long = print(&|side| naive(side, 128, 5, |side, x| side.exp(x)));
    assert_eq!(long, print(&|side| online(side, 128, 5, 8, None, Flaw::None)));
    assert_eq!(long, "out = exp(x[5]) / (Σ{i<128} exp(x[i]))");
}

#[test]
fn attention_in_tiles_is_attention() {
    let (keys, width) = (12u64, 3u64);
    let score = |side: &mut Side, key: u64| {
        let mut sum = side.int(0);
        for d in 0..width {
            let (q, k) = (side.y(d), side.x(key * width + d));
            sum = side.fma(q, k, sum);
        }
        let scale = side.rational(1, 4);
        side.mul(sum, scale)
    };
    let value = |key: u64| TermId::input(InputId(2), key);
    let reference = |side: &mut Side| {
        let scores: Vec<TermId> = (0..keys).map(|key| score(side, key)).collect();
        let max = side.tree(TermOp::Max, &scores);
        let powers: Vec<TermId> = scores
            .iter()
            .map(|score| {
                let shifted = side.sub(*score, max);
                side.exp(shifted)
            })
            .collect();
        let sum = side.sum(&powers);
        let mut out = side.int(0);
        for (key, power) in powers.iter().enumerate() {
            let weight = side.div(*power, sum);
            out = side.fma(weight, value(key as u64), out);
        }
        out
    };
    // The accumulator is divided and multiplied by the running sum at each step, as in FlashAttention 1.
    let tiled = |side: &mut Side, rescaled: bool| {
        let mut max = side.infinity(true);
        let (mut sum, mut out) = (side.int(0), side.int(0));
        for key in 0..keys {
            let score = score(side, key);
            let new = side.max(max, score);
            let shift = side.sub(max, new);
            let shift = side.exp(shift);
            let own = side.sub(score, new);
            let own = side.exp(own);
            let new_sum = side.fma(sum, shift, own);
            let kept = side.mul(out, sum);
            let kept = if rescaled { side.mul(kept, shift) } else { kept };
            let all = side.fma(own, value(key), kept);
            out = side.div(all, new_sum);
            (max, sum) = (new, new_sum);
        }
        out
    };
    equal(reference, |side| tiled(side, true));
    open(reference, |side| tiled(side, false));
    // Both factors of a product are named at first.
    let times_sum = |side: &mut Side, value: TermId| {
        let elements: Vec<TermId> = (100..130).map(|at| side.x(at)).collect();
        let sum = side.sum(&elements);
        side.mul(value, sum)
    };
    equal(
        |side| {
            let value = reference(side);
            times_sum(side, value)
        },
        |side| {
            let value = tiled(side, true);
            times_sum(side, value)
        },
    );
    let mut side = Side::new();
    let term = tiled(&mut side, true);
    assert_eq!(requirements(&side, term, &[]), Ok(vec![]));
}

#[test]
fn log_sum_exp_loses_its_maximum() {
    let ln = |side: &mut Side, x: TermId| {
        let (log, factor) = (side.op(TermOp::Log2, &[x]), side.f32(0x3F31_7218));
        side.mul(log, factor)
    };
    let build = |shifted: bool| {
        move |side: &mut Side| {
            let elements: Vec<TermId> = (0..6).map(|at| side.x(at)).collect();
            let max = side.tree(TermOp::Max, &elements);
            let powers: Vec<TermId> = elements
                .iter()
                .map(|x| {
                    let x = if shifted { side.sub(*x, max) } else { *x };
                    side.exp(x)
                })
                .collect();
            let sum = side.sum(&powers);
            let log = ln(side, sum);
            if shifted { side.add(log, max) } else { log }
        }
    };
    equal(build(true), build(false));
}

#[test]
fn softmax_over_a_softmax_is_followed() {
    let nested = |side: &mut Side, online_inside: bool| {
        let inner: Vec<TermId> = (0..4)
            .map(|at| {
                if online_inside {
                    online(side, 4, at, 1, None, Flaw::None)
                } else {
                    naive(side, 4, at, |side, x| side.expf(x))
                }
            })
            .collect();
        let powers: Vec<TermId> = inner.iter().map(|x| side.exp(*x)).collect();
        let sum = side.sum(&powers);
        side.div(powers[0], sum)
    };
    equal(|side| nested(side, false), |side| nested(side, true));
}

#[test]
fn infinities_follow_the_rules_of_v3() {
    let undefined = |build: &dyn Fn(&mut Side) -> TermId| {
        let mut side = Side::new();
        let term = build(&mut side);
        let zero = side.int(0);
        let result = compare((&side, term), (&side, zero));
        assert!(matches!(result, Ok(Equality::FirstUndefined(_))), "{result:?}");
    };
    equal(
        |side| {
            let (masked, x) = (side.infinity(true), side.x(0));
            let shifted = side.sub(masked, x);
            side.exp(shifted)
        },
        |side| side.int(0),
    );
    equal(
        |side| {
            let (infinity, x) = (side.infinity(false), side.x(0));
            side.div(x, infinity)
        },
        |side| side.int(0),
    );
    undefined(&|side| {
        let masked = side.infinity(true);
        let nothing = side.sub(masked, masked);
        side.exp(nothing)
    });
    undefined(&|side| {
        let (infinity, x) = (side.infinity(false), side.x(0));
        side.mul(infinity, x)
    });
    undefined(&|side| {
        let (infinity, zero) = (side.infinity(false), side.int(0));
        side.mul(infinity, zero)
    });
    // An infinity has its effect in any operand, and anywhere within it.
    undefined(&|side| {
        let infinity = side.infinity(false);
        let [one, other] = [side.x(0), side.y(0)].map(|value| side.max(value, infinity));
        side.sub(one, other)
    });
    undefined(&|side| {
        let (infinity, factor) = (side.infinity(false), side.int(1));
        let [one, other] = [side.x(0), side.y(0)].map(|value| side.max(value, infinity));
        let opposite = side.neg(other);
        side.fma(one, factor, opposite)
    });
    // A maximum does not hide an undefined value.
    undefined(&|side| {
        let (masked, x) = (side.infinity(true), side.x(0));
        let nothing = side.sub(masked, masked);
        side.max(nothing, x)
    });
    open(
        |side| {
            let (masked, x, y) = (side.infinity(true), side.x(0), side.y(0));
            let condition = side.op(TermOp::Less, &[x, y]);
            let value = side.op(TermOp::Select, &[condition, masked, x]);
            side.exp(value)
        },
        |side| {
            let x = side.x(0);
            side.exp(x)
        },
    );
    // A large finite mask is not an infinity.
    open(
        |side| {
            let (mask, x) = (side.int(-1_000_000_000), side.x(0));
            let shifted = side.add(mask, x);
            side.exp(shifted)
        },
        |side| side.int(0),
    );
}
