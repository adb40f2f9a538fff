//! Logic, shifts, permutations, packing, moves. Source: PTX ISA, "Logic and Shift Instructions", "Data Movement and
//! Conversion Instructions".

use super::integer::number;
use super::run::{Instruction, Random, Sort, boundaries, check, mask, rows};

fn check_bits(text: &str, result: u32, sources: &[u32], oracle: impl Fn(&[u64]) -> u64) {
    let sources: Vec<Sort> = sources.iter().map(|bits| Sort::Bits(*bits)).collect();
    let instruction = Instruction { text, results: &[Sort::Bits(result)], sources: &sources };
    check(&instruction, &rows(&sources), |x| vec![oracle(x)]);
}

#[test]
fn logic_on_bits() {
    for bits in [16, 32, 64] {
        check_bits(&format!("and.b{bits} %d, %a, %b"), bits, &[bits; 2], |x| x[0] & x[1]);
        check_bits(&format!("or.b{bits} %d, %a, %b"), bits, &[bits; 2], |x| x[0] | x[1]);
        check_bits(&format!("xor.b{bits} %d, %a, %b"), bits, &[bits; 2], |x| x[0] ^ x[1]);
        check_bits(&format!("not.b{bits} %d, %a"), bits, &[bits], |x| !x[0] & mask(bits));
        check_bits(&format!("cnot.b{bits} %d, %a"), bits, &[bits], |x| u64::from(x[0] == 0));
    }
}

#[test]
fn logic_on_predicates() {
    let check_predicates = |text: &str, oracle: fn(bool, bool) -> bool| {
        let instruction = Instruction { text, results: &[Sort::Pred], sources: &[Sort::Pred; 2] };
        let rows: Vec<Vec<u64>> = (0..4).map(|at| vec![at & 1, at >> 1]).collect();
        check(&instruction, &rows, |x| vec![u64::from(oracle(x[0] == 1, x[1] == 1))]);
    };
    check_predicates("and.pred %d, %a, %b", |a, b| a & b);
    check_predicates("or.pred %d, %a, %b", |a, b| a | b);
    check_predicates("xor.pred %d, %a, %b", |a, b| a ^ b);
    check_predicates("and.pred %d, %a, !%b", |a, b| a & !b);
    check_predicates("or.pred %d, !%a, %b", |a, b| !a | b);
    check_predicates("not.pred %d, %a", |a, _| !a);
    check_predicates("mov.pred %d, %a", |a, _| a);
    check_predicates("mov.pred %d, !%b", |_, b| !b);
}

#[test]
fn every_table_of_three_inputs() {
    // All 256 tables, on all 8 combinations of bits at once and on a few random words.
    let mut random = Random(5);
    let mut rows = vec![vec![0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaa]];
    rows.extend((0..7).map(|_| (0..3).map(|_| random.next() & mask(32)).collect()));
    for table in 0..256u64 {
        let text = format!("lop3.b32 %d, %a, %b, %c, {table:#x}");
        let instruction =
            Instruction { text: &text, results: &[Sort::Bits(32)], sources: &[Sort::Bits(32); 3] };
        let word = |x: &[u64]| {
            (0..8).filter(|minterm| table >> minterm & 1 == 1).fold(0u64, |out, minterm| {
                let pick = |word: u64, bit: u64| if minterm >> bit & 1 == 1 { word } else { !word };
                out | pick(x[0], 2) & pick(x[1], 1) & pick(x[2], 0)
            }) & mask(32)
        };
        check(&instruction, &rows, |x| vec![word(x)]);
        if table % 16 == 1 {
            for (name, or) in [("or", true), ("and", false)] {
                let text = format!("lop3.{name}.b32 %d|%e, %a, %b, %c, {table}, %f");
                let sources = [Sort::Bits(32), Sort::Bits(32), Sort::Bits(32), Sort::Pred];
                let results = [Sort::Bits(32), Sort::Pred];
                let instruction = Instruction { text: &text, results: &results, sources: &sources };
                let rows: Vec<Vec<u64>> = rows
                    .iter()
                    .chain([&vec![0, 0, 0]])
                    .flat_map(|row| [0, 1].map(|p| row.iter().copied().chain([p]).collect()))
                    .collect();
                check(&instruction, &rows, |x| {
                    let (d, q) = (word(x), x[3] == 1);
                    vec![d, u64::from(if or { d != 0 || q } else { d != 0 && q })]
                });
            }
        }
    }
}

/// Rows whose last operand is an amount to shift by.
fn shift_rows(words: &[u32]) -> Vec<Vec<u64>> {
    let mut random = Random(7);
    let amounts = [
        0,
        1,
        7,
        8,
        15,
        16,
        17,
        24,
        31,
        32,
        33,
        40,
        47,
        48,
        63,
        64,
        65,
        96,
        127,
        128,
        0x8000_0000,
        0xffff_ffff,
    ];
    let mut out = Vec::new();
    for amount in amounts {
        for _ in 0..48 {
            let mut row: Vec<u64> = words
                .iter()
                .map(|bits| match random.next() % 2 {
                    0 => random.pick(&boundaries(*bits)),
                    _ => random.next() & mask(*bits),
                })
                .collect();
            row.push(amount);
            out.push(row);
        }
    }
    out
}

#[test]
fn shifts_clamp_their_amount() {
    for bits in [16, 32, 64] {
        let sources = [Sort::Bits(bits), Sort::Bits(32)];
        let text = format!("shl.b{bits} %d, %a, %b");
        let left = Instruction { text: &text, results: &[Sort::Bits(bits)], sources: &sources };
        check(&left, &shift_rows(&[bits]), |x| {
            vec![(u128::from(x[0]) << x[1].min(u64::from(bits))) as u64 & mask(bits)]
        });
        for (sort, signed) in [("b", false), ("u", false), ("s", true)] {
            let text = format!("shr.{sort}{bits} %d, %a, %b");
            let right = Instruction { text: &text, results: &[Sort::Bits(bits)], sources: &sources };
            check(&right, &shift_rows(&[bits]), |x| {
                vec![(number(bits, signed, x[0]) >> x[1].min(u64::from(bits))) as u64 & mask(bits)]
            });
        }
        // The same with an amount that is written in the instruction.
        for amount in [0, 1, 8, 15, 16, 31, 32, 33, 63, 64, 1000] {
            check_bits(&format!("shl.b{bits} %d, %a, {amount}"), bits, &[bits], |x| {
                (u128::from(x[0]) << amount.min(bits)) as u64 & mask(bits)
            });
            check_bits(&format!("shr.s{bits} %d, %a, {amount}"), bits, &[bits], |x| {
                (number(bits, true, x[0]) >> amount.min(bits)) as u64 & mask(bits)
            });
        }
    }
}

#[test]
fn funnel_shifts_wrap_or_clamp() {
    for (mode, wraps) in [("wrap", true), ("clamp", false)] {
        for (side, left) in [("l", true), ("r", false)] {
            let sources = [Sort::Bits(32); 3];
            let text = format!("shf.{side}.{mode}.b32 %d, %a, %b, %c");
            let shift = Instruction { text: &text, results: &[Sort::Bits(32)], sources: &sources };
            check(&shift, &shift_rows(&[32, 32]), |x| {
                let double = u128::from(x[1] << 32 | x[0]);
                let n = if wraps { x[2] & 31 } else { x[2].min(32) };
                vec![if left { (double << n >> 32) as u64 } else { (double >> n) as u64 } & mask(32)]
            });
        }
    }
}

#[test]
fn permutations_of_bytes() {
    let byte = |x: &[u64], at: u64| (x[1] << 32 | x[0]) >> (8 * at) & 0xff;
    let sources = [Sort::Bits(32); 3];
    let mut random = Random(11);
    let word = |random: &mut Random| random.next() & mask(32);
    // Each byte's nibble takes all its values; the selector's upper half means nothing.
    let mut rows: Vec<Vec<u64>> = Vec::new();
    for place in 0..4 {
        for nibble in 0..16u64 {
            for _ in 0..16 {
                let selector = word(&mut random) & !(0xf << (4 * place)) | nibble << (4 * place);
                rows.push(vec![word(&mut random), word(&mut random), selector]);
            }
        }
    }
    let permute =
        Instruction { text: "prmt.b32 %d, %a, %b, %c", results: &[Sort::Bits(32)], sources: &sources };
    check(&permute, &rows, |x| {
        vec![(0..4).fold(0, |out, at| {
            let nibble = x[2] >> (4 * at) & 0xf;
            let value = byte(x, nibble & 7);
            let value = match (nibble >> 3, value >> 7) {
                (0, _) => value,
                (_, sign) => 0xff * sign,
            };
            out | value << (8 * at)
        })]
    });
    // The manual's table, digits for result bytes 3 2 1 0.
    let modes = [
        ("f4e", [0x3210, 0x4321, 0x5432, 0x6543]),
        ("b4e", [0x5670, 0x6701, 0x7012, 0x0123]),
        ("rc8", [0x0000, 0x1111, 0x2222, 0x3333]),
        ("ecl", [0x3210, 0x3211, 0x3222, 0x3333]),
        ("ecr", [0x0000, 0x1110, 0x2210, 0x3210]),
        ("rc16", [0x1010, 0x3232, 0x1010, 0x3232]),
    ];
    for (mode, table) in modes {
        let text = format!("prmt.b32.{mode} %d, %a, %b, %c");
        let permute = Instruction { text: &text, results: &[Sort::Bits(32)], sources: &sources };
        check(&permute, &rows, |x| {
            let selector: u64 = table[(x[2] & 3) as usize];
            vec![(0..4).fold(0, |out, at| out | byte(x, selector >> (4 * at) & 7) << (8 * at))]
        });
    }
}

#[test]
fn packing_puts_the_first_part_lowest() {
    for (text, bits, sources) in [
        ("mov.b32 %d, {%a, %b}", 32, vec![16, 16]),
        ("mov.b64 %d, {%a, %b}", 64, vec![32, 32]),
        ("mov.b64 %d, {%a, %b, %c, %f}", 64, vec![16; 4]),
    ] {
        let part = bits / sources.len() as u32;
        check_bits(text, bits, &sources, |x| {
            x.iter().rev().fold(0u128, |out, word| out << part | u128::from(*word)) as u64
        });
    }
    check_bits("mov.b32 %d, {%a, 5}", 32, &[16], |x| 5 << 16 | x[0]);
    check_bits("mov.b64 %d, {-1, %a}", 64, &[32], |x| x[0] << 32 | mask(32));
    for (text, source, part, shift) in [
        ("mov.b32 {%d, _}, %a", 32, 16, 0),
        ("mov.b32 {_, %d}, %a", 32, 16, 16),
        ("mov.b64 {%d, _}, %a", 64, 32, 0),
        ("mov.b64 {_, %d}, %a", 64, 32, 32),
        ("mov.b64 {%d, _, _, _}, %a", 64, 16, 0),
        ("mov.b64 {_, _, %d, _}, %a", 64, 16, 32),
        ("mov.b64 {_, _, _, %d}, %a", 64, 16, 48),
    ] {
        check_bits(text, part, &[source], |x| x[0] >> shift & mask(part));
    }
    let both = Instruction {
        text: "mov.b64 {%d, %e}, %a",
        results: &[Sort::Bits(32); 2],
        sources: &[Sort::Bits(64)],
    };
    check(&both, &rows(&[Sort::Bits(64)]), |x| vec![x[0] & mask(32), x[0] >> 32]);
    let exchange = Instruction {
        text: "mov.v2.b32 {%d, %e}, {%b, %a}",
        results: &[Sort::Bits(32); 2],
        sources: &[Sort::Bits(32); 2],
    };
    check(&exchange, &rows(&[Sort::Bits(32); 2]), |x| vec![x[1], x[0]]);
}

#[test]
fn moves_and_literals() {
    for name in ["b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"] {
        let bits: u32 = name[1..].parse().unwrap_or(0);
        check_bits(&format!("mov.{name} %d, %a"), bits, &[bits], |x| x[0]);
    }
    for (text, bits, value) in [
        ("mov.u32 %d, 0xffffffff", 32, 0xffff_ffff),
        ("mov.u32 %d, -1", 32, 0xffff_ffff),
        ("mov.u32 %d, 017", 32, 15),
        ("mov.u32 %d, 0b1011", 32, 11),
        ("mov.u32 %d, 4294967297", 32, 1),
        ("mov.u32 %d, 1<<4|3", 32, 19),
        ("mov.u32 %d, (3+4)*2", 32, 14),
        ("mov.u16 %d, -2", 16, 0xfffe),
        ("mov.s64 %d, -2", 64, u64::MAX - 1),
        ("mov.b32 %d, 0f3F800000", 32, 0x3f80_0000),
        ("mov.f32 %d, 0d3FF0000000000000", 32, 0x3f80_0000),
        ("mov.f64 %d, 0d3FF0000000000000", 64, 0x3ff0_0000_0000_0000),
        ("mov.u32 %d, WARP_SZ", 32, 32),
        ("add.u32 %d, %a, 4294967296", 32, u64::MAX),
    ] {
        check_bits(text, bits, &[bits], |x| if value == u64::MAX { x[0] } else { value });
    }
}

#[test]
fn operands_of_narrow_types_may_stand_in_the_instruction() {
    check_bits("add.s32 %d, %a, -5", 32, &[32], |x| x[0].wrapping_sub(5) & mask(32));
    check_bits("sub.s64 %d, 7, %a", 64, &[64], |x| 7u64.wrapping_sub(x[0]));
    check_bits("mul.wide.s32 %d, %a, -3", 64, &[32], |x| (i128::from(x[0] as u32 as i32) * -3) as u64);
    check_bits("and.b64 %d, %a, 0xffffffff00000000", 64, &[64], |x| x[0] & !mask(32));
    check_bits("xor.b16 %d, %a, -1", 16, &[16], |x| !x[0] & 0xffff);
    check_bits("max.s32 %d, %a, -1", 32, &[32], |x| u64::from((x[0] as i32).max(-1) as u32));
    check_bits("min.u32 %d, %a, -1", 32, &[32], |x| x[0]);
}
