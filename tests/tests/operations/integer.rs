//! Integer arithmetic, carries, bit fields, dot products, comparisons, selection. Source: PTX ISA, "Integer
//! Arithmetic Instructions", "Extended-Precision Integer Arithmetic Instructions", "Comparison and Selection
//! Instructions".

use super::run::{Instruction, Random, Sort, boundaries, check, mask, rows};

/// The value of the low bits, read with or without a sign.
pub(crate) fn number(bits: u32, signed: bool, word: u64) -> i128 {
    let word = word & mask(bits);
    if signed && word >> (bits - 1) == 1 { i128::from(word) - (1 << bits) } else { i128::from(word) }
}

fn wrap(bits: u32, value: i128) -> u64 {
    value.rem_euclid(1 << bits) as u64
}

/// The six arithmetic integer types.
const TYPES: [(&str, u32, bool); 6] = [
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];

fn check2(text: &str, result: u32, source: u32, oracle: impl Fn(u64, u64) -> u64) {
    let sources = [Sort::Bits(source); 2];
    let instruction = Instruction { text, results: &[Sort::Bits(result)], sources: &sources };
    check(&instruction, &rows(&sources), |x| vec![oracle(x[0], x[1])]);
}

fn check3(text: &str, result: u32, sources: [u32; 3], oracle: impl Fn(u64, u64, u64) -> u64) {
    let sources = sources.map(Sort::Bits);
    let instruction = Instruction { text, results: &[Sort::Bits(result)], sources: &sources };
    check(&instruction, &rows(&sources), |x| vec![oracle(x[0], x[1], x[2])]);
}

fn check1(text: &str, result: u32, source: u32, oracle: impl Fn(u64) -> u64) {
    let sources = [Sort::Bits(source)];
    let instruction = Instruction { text, results: &[Sort::Bits(result)], sources: &sources };
    check(&instruction, &rows(&sources), |x| vec![oracle(x[0])]);
}

#[test]
fn addition_and_subtraction_wrap() {
    for (name, bits, _) in TYPES {
        check2(&format!("add.{name} %d, %a, %b"), bits, bits, |a, b| a.wrapping_add(b) & mask(bits));
        check2(&format!("sub.{name} %d, %a, %b"), bits, bits, |a, b| a.wrapping_sub(b) & mask(bits));
    }
}

#[test]
fn saturating_addition_stops_at_the_ends_of_s32() {
    check2("add.sat.s32 %d, %a, %b", 32, 32, |a, b| u64::from((a as i32).saturating_add(b as i32) as u32));
    check2("sub.sat.s32 %d, %a, %b", 32, 32, |a, b| u64::from((a as i32).saturating_sub(b as i32) as u32));
}

#[test]
fn products_have_three_parts() {
    for (name, bits, signed) in TYPES {
        let product = |a, b| {
            if bits == 64 && !signed {
                // Too large for i128: only its bits matter.
                (u128::from(a) * u128::from(b)) as i128
            } else {
                number(bits, signed, a) * number(bits, signed, b)
            }
        };
        let high = |a, b| (product(a, b) as u128 >> bits) as u64 & mask(bits);
        let low = |a, b| product(a, b) as u64 & mask(bits);
        check2(&format!("mul.lo.{name} %d, %a, %b"), bits, bits, low);
        check2(&format!("mul.hi.{name} %d, %a, %b"), bits, bits, high);
        check3(&format!("mad.lo.{name} %d, %a, %b, %c"), bits, [bits; 3], |a, b, c| {
            low(a, b).wrapping_add(c) & mask(bits)
        });
        check3(&format!("mad.hi.{name} %d, %a, %b, %c"), bits, [bits; 3], |a, b, c| {
            high(a, b).wrapping_add(c) & mask(bits)
        });
        if bits < 64 {
            let wide = |a, b| product(a, b) as u64 & mask(2 * bits);
            check2(&format!("mul.wide.{name} %d, %a, %b"), 2 * bits, bits, wide);
            check3(
                &format!("mad.wide.{name} %d, %a, %b, %c"),
                2 * bits,
                [bits, bits, 2 * bits],
                |a, b, c| wide(a, b).wrapping_add(c) & mask(2 * bits),
            );
        }
    }
    check3("mad.hi.sat.s32 %d, %a, %b, %c", 32, [32; 3], |a, b, c| {
        let high = (number(32, true, a) * number(32, true, b)) >> 32;
        (high + number(32, true, c)).clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as u64 & mask(32)
    });
}

#[test]
fn products_of_24_bits_ignore_the_upper_bytes() {
    for (name, signed) in [("u32", false), ("s32", true)] {
        let product = move |a, b| number(24, signed, a) * number(24, signed, b);
        let low = move |a, b| wrap(32, product(a, b));
        let high = move |a, b| wrap(32, product(a, b) >> 16);
        check2(&format!("mul24.lo.{name} %d, %a, %b"), 32, 32, low);
        check2(&format!("mul24.hi.{name} %d, %a, %b"), 32, 32, high);
        check3(&format!("mad24.lo.{name} %d, %a, %b, %c"), 32, [32; 3], |a, b, c| {
            wrap(32, i128::from(low(a, b) + c))
        });
        check3(&format!("mad24.hi.{name} %d, %a, %b, %c"), 32, [32; 3], |a, b, c| {
            wrap(32, i128::from(high(a, b) + c))
        });
    }
    check3("mad24.hi.sat.s32 %d, %a, %b, %c", 32, [32; 3], |a, b, c| {
        let high = number(32, true, wrap(32, (number(24, true, a) * number(24, true, b)) >> 16));
        wrap(32, (high + number(32, true, c)).clamp(i128::from(i32::MIN), i128::from(i32::MAX)))
    });
}

#[test]
fn division_truncates_and_the_remainder_has_the_sign_of_the_dividend() {
    for (name, bits, signed) in TYPES {
        let sources = [Sort::Bits(bits); 2];
        let mut rows = rows(&sources);
        rows.retain(|row| row[1] != 0);
        for (op, quotient) in [("div", true), ("rem", false)] {
            let text = format!("{op}.{name} %d, %a, %b");
            let instruction = Instruction { text: &text, results: &[Sort::Bits(bits)], sources: &sources };
            check(&instruction, &rows, |x| {
                let (a, b) = (number(bits, signed, x[0]), number(bits, signed, x[1]));
                vec![wrap(bits, if quotient { a / b } else { a % b })]
            });
        }
    }
}

#[test]
fn one_operand() {
    for (name, bits) in [("s16", 16), ("s32", 32), ("s64", 64)] {
        check1(&format!("neg.{name} %d, %a"), bits, bits, |a| wrap(bits, -number(bits, true, a)));
        check1(&format!("abs.{name} %d, %a"), bits, bits, |a| wrap(bits, number(bits, true, a).abs()));
    }
    check1("popc.b32 %d, %a", 32, 32, |a| u64::from((a as u32).count_ones()));
    check1("popc.b64 %d, %a", 32, 64, |a| u64::from(a.count_ones()));
    check1("clz.b32 %d, %a", 32, 32, |a| u64::from((a as u32).leading_zeros()));
    check1("clz.b64 %d, %a", 32, 64, |a| u64::from(a.leading_zeros()));
    check1("brev.b32 %d, %a", 32, 32, |a| u64::from((a as u32).reverse_bits()));
    check1("brev.b64 %d, %a", 64, 64, u64::reverse_bits);
}

#[test]
fn the_first_bit_is_found_from_the_top() {
    for (name, bits, signed) in &TYPES[2..] {
        let (bits, signed) = (*bits, *signed);
        // The position of the most significant bit that is not the sign.
        let position = move |a: u64| {
            let a = if number(bits, signed, a) < 0 { !a & mask(bits) } else { a };
            (0..bits).rev().find(|at| a >> at & 1 == 1)
        };
        check1(&format!("bfind.{name} %d, %a"), 32, bits, |a| position(a).map_or(0xffff_ffff, u64::from));
        check1(&format!("bfind.shiftamt.{name} %d, %a"), 32, bits, |a| {
            position(a).map_or(0xffff_ffff, |at| u64::from(bits - 1 - at))
        });
    }
}

#[test]
fn smaller_larger_and_distance() {
    for (name, bits, signed) in TYPES {
        let pick = |a, b, smaller: bool| {
            let a_is_less = number(bits, signed, a) < number(bits, signed, b);
            if a_is_less == smaller { a } else { b }
        };
        check2(&format!("min.{name} %d, %a, %b"), bits, bits, |a, b| pick(a, b, true));
        check2(&format!("max.{name} %d, %a, %b"), bits, bits, |a, b| pick(a, b, false));
        check3(&format!("sad.{name} %d, %a, %b, %c"), bits, [bits; 3], |a, b, c| {
            let distance = (number(bits, signed, a) - number(bits, signed, b)).abs();
            wrap(bits, i128::from(c) + distance)
        });
    }
    for (op, smaller) in [("min", true), ("max", false)] {
        check2(&format!("{op}.relu.s32 %d, %a, %b"), 32, 32, |a, b| {
            let (a, b) = (number(32, true, a), number(32, true, b));
            wrap(32, if smaller { a.min(b) } else { a.max(b) }.max(0))
        });
    }
}

/// Applies an operation on 16 bits to both halves.
fn halves(a: u64, b: u64, f: impl Fn(u64, u64) -> u64) -> u64 {
    f(a & 0xffff, b & 0xffff) & 0xffff | (f(a >> 16 & 0xffff, b >> 16 & 0xffff) & 0xffff) << 16
}

#[test]
fn two_halves_at_once() {
    for (name, signed) in [("u16x2", false), ("s16x2", true)] {
        let n = move |word| number(16, signed, word);
        check2(&format!("add.{name} %d, %a, %b"), 32, 32, |a, b| halves(a, b, u64::wrapping_add));
        check2(&format!("min.{name} %d, %a, %b"), 32, 32, |a, b| {
            halves(a, b, |a, b| wrap(16, n(a).min(n(b))))
        });
        check2(&format!("max.{name} %d, %a, %b"), 32, 32, |a, b| {
            halves(a, b, |a, b| wrap(16, n(a).max(n(b))))
        });
    }
    let n = |word| number(16, true, word);
    check2("min.relu.s16x2 %d, %a, %b", 32, 32, |a, b| halves(a, b, |a, b| wrap(16, n(a).min(n(b)).max(0))));
    check2("max.relu.s16x2 %d, %a, %b", 32, 32, |a, b| halves(a, b, |a, b| wrap(16, n(a).max(n(b)).max(0))));
}

#[test]
fn bit_fields() {
    // Positions and lengths matter up to 255; more bits are ignored.
    let mut random = Random(3);
    let small: Vec<u64> =
        vec![0, 1, 4, 8, 15, 16, 31, 32, 33, 48, 63, 64, 65, 127, 128, 255, 256, 257, 0xffff_ff08];
    let mut field_rows = |bits: u32, values: usize| -> Vec<Vec<u64>> {
        let mut out = Vec::new();
        for position in &small {
            for length in &small {
                for _ in 0..6 {
                    let mut row: Vec<u64> = (0..values)
                        .map(|_| match random.next() % 3 {
                            0 => random.pick(&boundaries(bits)),
                            _ => random.next() & mask(bits),
                        })
                        .collect();
                    row.extend([*position, *length]);
                    out.push(row);
                }
            }
        }
        out
    };
    for (name, bits, signed) in &TYPES[2..] {
        let (bits, signed) = (*bits, *signed);
        let sources = [Sort::Bits(bits), Sort::Bits(32), Sort::Bits(32)];
        let text = format!("bfe.{name} %d, %a, %b, %c");
        let instruction = Instruction { text: &text, results: &[Sort::Bits(bits)], sources: &sources };
        check(&instruction, &field_rows(bits, 1), |x| {
            // As the manual's own loop has it.
            let (a, position, length) = (x[0], x[1] & 0xff, x[2] & 0xff);
            let top = u64::from(bits) - 1;
            let fill = if !signed || length == 0 { 0 } else { a >> (position + length - 1).min(top) & 1 };
            let bit = |at: u64| {
                if at < length && position + at <= top { a >> (position + at) & 1 } else { fill }
            };
            vec![(0..=top).fold(0, |out, at| out | bit(at) << at)]
        });
    }
    for bits in [32, 64] {
        let sources = [Sort::Bits(bits), Sort::Bits(bits), Sort::Bits(32), Sort::Bits(32)];
        let text = format!("bfi.b{bits} %d, %a, %b, %c, %f");
        let instruction = Instruction { text: &text, results: &[Sort::Bits(bits)], sources: &sources };
        check(&instruction, &field_rows(bits, 2), |x| {
            let (position, length) = (x[2] & 0xff, x[3] & 0xff);
            let mut out = x[1];
            for at in 0..length {
                let to = position + at;
                if to < u64::from(bits) {
                    out = out & !(1 << to) | (x[0] >> at & 1) << to;
                }
            }
            vec![out]
        });
    }
    for (name, signed) in [("u32", false), ("s32", true)] {
        for (mode, wraps) in [("wrap", true), ("clamp", false)] {
            check2(&format!("szext.{mode}.{name} %d, %a, %b"), 32, 32, |a, b| {
                let length = if wraps { b & 31 } else { b.min(32) } as u32;
                if length == 0 { 0 } else { wrap(32, number(length, signed, a)) }
            });
        }
    }
    check2("bmsk.clamp.b32 %d, %a, %b", 32, 32, |a, b| {
        ((((1u128 << b.min(32)) - 1) << a.min(32)) as u64) & mask(32)
    });
    check2("bmsk.wrap.b32 %d, %a, %b", 32, 32, |a, b| {
        ((((1u128 << (b & 31)) - 1) << (a & 31)) as u64) & mask(32)
    });
}

#[test]
fn dot_products_of_bytes() {
    let byte = |word: u64, at: u32, signed| number(8, signed, word >> (8 * at));
    let half = |word: u64, at: u32, signed| number(16, signed, word >> (16 * at));
    for (x, a_signed) in [("u32", false), ("s32", true)] {
        for (y, b_signed) in [("u32", false), ("s32", true)] {
            check3(&format!("dp4a.{x}.{y} %d, %a, %b, %c"), 32, [32; 3], |a, b, c| {
                let sum: i128 = (0..4).map(|at| byte(a, at, a_signed) * byte(b, at, b_signed)).sum();
                wrap(32, sum + i128::from(c))
            });
            for (part, first) in [("lo", 0), ("hi", 2)] {
                check3(&format!("dp2a.{part}.{x}.{y} %d, %a, %b, %c"), 32, [32; 3], |a, b, c| {
                    let sum: i128 =
                        (0..2).map(|at| half(a, at, a_signed) * byte(b, first + at, b_signed)).sum();
                    wrap(32, sum + i128::from(c))
                });
            }
        }
    }
}

/// Runs an instruction pair on two words each and compares it with arithmetic on double words.
fn check_double(text: &str, bits: u32, oracle: impl Fn(u128, u128) -> u128) {
    let sources = [Sort::Bits(bits); 4];
    let instruction = Instruction { text, results: &[Sort::Bits(bits); 2], sources: &sources };
    let double = |high: u64, low: u64| u128::from(high) << bits | u128::from(low);
    check(&instruction, &rows(&sources), |x| {
        let value = oracle(double(x[1], x[0]), double(x[3], x[2]));
        vec![value as u64 & mask(bits), (value >> bits) as u64 & mask(bits)]
    });
}

#[test]
fn carries_link_words() {
    for (name, bits, _) in &TYPES[2..] {
        let text = format!("add.cc.{name} %d, %a, %c; addc.{name} %e, %b, %f");
        check_double(&text, *bits, u128::wrapping_add);
        let text = format!("sub.cc.{name} %d, %a, %c; subc.{name} %e, %b, %f");
        check_double(&text, *bits, u128::wrapping_sub);
        // The carry out of a middle word, where all ones and a carry meet.
        let sources = [Sort::Bits(*bits); 4];
        for (op, subtract) in [("add", false), ("sub", true)] {
            let text =
                format!("{op}.cc.{name} %d, %a, %b; {op}c.cc.{name} %d, %c, %f; {op}c.{name} %e, %a, %b");
            let instruction =
                Instruction { text: &text, results: &[Sort::Bits(*bits); 2], sources: &sources };
            check(&instruction, &rows(&sources), |x| {
                let [a, b, c, f] = [0, 1, 2, 3].map(|at| i128::from(x[at]));
                let sign = if subtract { -1 } else { 1 };
                let out = |value: i128| i128::from(value < 0 || value >> bits != 0);
                let carry = out(a + sign * b);
                let middle = c + sign * (f + carry);
                let last = a + sign * (b + out(middle));
                vec![wrap(*bits, middle), wrap(*bits, last)]
            });
        }
        // A product of words added to a double word: low parts carry into high parts.
        let signed = name.starts_with('s');
        let text = format!("mad.lo.cc.{name} %d, %a, %b, %c; madc.hi.{name} %e, %a, %b, %f");
        let instruction = Instruction { text: &text, results: &[Sort::Bits(*bits); 2], sources: &sources };
        check(&instruction, &rows(&sources), |x| {
            let product = if signed {
                (number(*bits, true, x[0]) * number(*bits, true, x[1])) as u128
            } else {
                u128::from(x[0]) * u128::from(x[1])
            };
            let value = product.wrapping_add(u128::from(x[3]) << bits | u128::from(x[2]));
            vec![value as u64 & mask(*bits), (value >> bits) as u64 & mask(*bits)]
        });
    }
}

fn holds(name: &str, a: i128, b: i128) -> bool {
    match name {
        "eq" => a == b,
        "ne" => a != b,
        "lt" | "lo" => a < b,
        "le" | "ls" => a <= b,
        "gt" | "hi" => a > b,
        _ => a >= b,
    }
}

#[test]
fn comparisons() {
    let mut cases: Vec<(String, u32, bool, &str)> = Vec::new();
    for (name, bits, signed) in TYPES {
        for op in ["eq", "ne", "lt", "le", "gt", "ge"] {
            cases.push((format!("{op}.{name}"), bits, signed, op));
        }
        if !signed {
            for op in ["lo", "ls", "hi", "hs"] {
                cases.push((format!("{op}.{name}"), bits, false, op));
            }
        }
    }
    for bits in [16, 32, 64] {
        for op in ["eq", "ne"] {
            cases.push((format!("{op}.b{bits}"), bits, false, op));
        }
    }
    for (name, bits, signed, op) in cases {
        let sources = [Sort::Bits(bits); 2];
        let truth = |x: &[u64]| holds(op, number(bits, signed, x[0]), number(bits, signed, x[1]));
        let text = format!("setp.{name} %d, %a, %b");
        let plain = Instruction { text: &text, results: &[Sort::Pred], sources: &sources };
        check(&plain, &rows(&sources), |x| vec![u64::from(truth(x))]);
        for (result, width, yes) in [("u32", 32, mask(32)), ("s32", 32, mask(32))] {
            let text = format!("set.{}.{result}{} %d, %a, %b", &name[..2], &name[2..]);
            let set = Instruction { text: &text, results: &[Sort::Bits(width)], sources: &sources };
            check(&set, &rows(&sources), |x| vec![if truth(x) { yes } else { 0 }]);
        }
    }
}

#[test]
fn comparisons_combine_with_a_predicate() {
    let sources = [Sort::Bits(32), Sort::Bits(32), Sort::Pred];
    for (name, combine) in
        [("and", (|t, c| t & c) as fn(bool, bool) -> bool), ("or", |t, c| t | c), ("xor", |t, c| t ^ c)]
    {
        for (not, flip) in [("", false), ("!", true)] {
            let text = format!("setp.lt.{name}.s32 %d|%e, %a, %b, {not}%c");
            let both = Instruction { text: &text, results: &[Sort::Pred; 2], sources: &sources };
            check(&both, &rows(&sources), |x| {
                let (t, c) = (number(32, true, x[0]) < number(32, true, x[1]), (x[2] == 1) != flip);
                vec![u64::from(combine(t, c)), u64::from(combine(!t, c))]
            });
            let text = format!("set.lt.{name}.u32.s32 %d, %a, %b, {not}%c");
            let set = Instruction { text: &text, results: &[Sort::Bits(32)], sources: &sources };
            check(&set, &rows(&sources), |x| {
                let (t, c) = (number(32, true, x[0]) < number(32, true, x[1]), (x[2] == 1) != flip);
                vec![if combine(t, c) { mask(32) } else { 0 }]
            });
        }
    }
    let two = [Sort::Bits(32); 2];
    let both = Instruction { text: "setp.eq.u32 %d|%e, %a, %b", results: &[Sort::Pred; 2], sources: &two };
    check(&both, &rows(&two), |x| vec![u64::from(x[0] == x[1]), u64::from(x[0] != x[1])]);
}

#[test]
fn selection() {
    for name in ["b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"] {
        let bits: u32 = name[1..].parse().unwrap_or(0);
        let sources = [Sort::Bits(bits), Sort::Bits(bits), Sort::Pred];
        for (not, flip) in [("", 0), ("!", 1)] {
            let text = format!("selp.{name} %d, %a, %b, {not}%c");
            let select = Instruction { text: &text, results: &[Sort::Bits(bits)], sources: &sources };
            check(&select, &rows(&sources), |x| vec![if x[2] != flip { x[0] } else { x[1] }]);
        }
        let sources = [Sort::Bits(bits), Sort::Bits(bits), Sort::Bits(32)];
        let text = format!("slct.{name}.s32 %d, %a, %b, %c");
        let select = Instruction { text: &text, results: &[Sort::Bits(bits)], sources: &sources };
        check(&select, &rows(&sources), |x| vec![if (x[2] as u32 as i32) >= 0 { x[0] } else { x[1] }]);
        let text = format!("slct.{name}.f32 %d, %a, %b, %c");
        let select = Instruction { text: &text, results: &[Sort::Bits(bits)], sources: &sources };
        let mut rows = rows(&sources);
        rows.retain(|row| !f32::from_bits(row[2] as u32).is_nan());
        rows.push(vec![1, 2, u64::from((-0.0f32).to_bits())]);
        check(&select, &rows, |x| vec![if f32::from_bits(x[2] as u32) >= 0.0 { x[0] } else { x[1] }]);
    }
}
