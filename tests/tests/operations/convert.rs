//! Conversions. Source: PTX ISA, "Data Movement and Conversion Instructions: cvt", "cvt.pack".

use volta_core::number::format::Format;

use super::float::{compare, numbers};
use super::ieee::{MODES, Mode, Sum, narrow, widen};
use super::integer::number;
use super::run::{Instruction, Random, Sort, check, mask, rows};

const INTEGERS: [(&str, u32, bool); 8] = [
    ("u8", 8, false),
    ("s8", 8, true),
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];

fn range(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

#[test]
fn between_integers() {
    for (to_name, to, to_signed) in INTEGERS {
        for (from_name, from, from_signed) in INTEGERS {
            for saturate in [false, true] {
                // Registers as narrow as they can be, and wider ones, with other bits above the source's.
                for (source, result) in [(from.max(16), to.max(16)), (from.max(32), to.max(32)), (64, 64)] {
                    let text =
                        format!("cvt{}.{to_name}.{from_name} %d, %a", if saturate { ".sat" } else { "" });
                    let sources = [Sort::Bits(source)];
                    let results = [Sort::Bits(result)];
                    let instruction = Instruction { text: &text, results: &results, sources: &sources };
                    check(&instruction, &rows(&sources), |x| {
                        let value = number(from, from_signed, x[0]);
                        let (low, high) = range(to, to_signed);
                        let value = if saturate { value.clamp(low, high) } else { value };
                        let kept = number(to, to_signed, value as u64 & mask(to));
                        vec![kept as u64 & mask(result)]
                    });
                }
            }
        }
    }
}

#[test]
fn packing_integers_saturates() {
    for (to, bits, signed) in INTEGERS {
        let sources = [Sort::Bits(32); 3];
        let (low, high) = range(bits, signed);
        let part = |word| number(32, true, word).clamp(low, high) as u64 & mask(bits);
        if bits == 16 {
            let text = format!("cvt.pack.sat.{to}.s32 %d, %a, %b");
            let instruction = Instruction { text: &text, results: &[Sort::Bits(32)], sources: &sources };
            check(&instruction, &rows(&sources), |x| vec![part(x[0]) << 16 | part(x[1])]);
        }
        if bits == 8 {
            let text = format!("cvt.pack.sat.{to}.s32.b32 %d, %a, %b, %c");
            let instruction = Instruction { text: &text, results: &[Sort::Bits(32)], sources: &sources };
            check(&instruction, &rows(&sources), |x| {
                vec![(x[2] & 0xffff) << 16 | part(x[0]) << 8 | part(x[1])]
            });
        }
    }
}

/// Rounds to an integer in a direction; the number is an f64.
fn integral(value: f64, direction: &str) -> f64 {
    match direction {
        "rni" => value.round_ties_even(),
        "rzi" => value.trunc(),
        "rmi" => value.floor(),
        _ => value.ceil(),
    }
}

const DIRECTIONS: [&str; 4] = ["rni", "rzi", "rmi", "rpi"];

/// Numbers of a format around integers, halves, and the ends of the integer types.
fn around_integers(format: Format) -> Vec<u64> {
    let mut list = numbers(format, 300);
    let encode = |value: f64| {
        if format == Format::F64 { value.to_bits() } else { narrow(value, format, Mode::Nearest) }
    };
    for base in [0.0, 1.0, 2.0, 127.0, 128.0, 255.0, 256.0, 32767.0, 32768.0, 65535.0, 65536.0, 8388608.0] {
        for step in [-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0] {
            list.extend([encode(base + step), encode(-base - step)]);
        }
    }
    for power in [31, 32, 52, 53, 62, 63, 64, 65, 100] {
        let top = 2f64.powi(power);
        for value in [top, top.next_down(), top.next_up(), top - 0.5, top - 1.0, top + 0.5] {
            list.extend([encode(value), encode(-value)]);
        }
    }
    list
}

const FLOATS: [(&str, Format); 3] = [("f32", Format::F32), ("f64", Format::F64), ("f16", Format::F16)];

fn value(format: Format, bits: u64) -> f64 {
    if format == Format::F64 { f64::from_bits(bits) } else { widen(format, bits) }
}

#[test]
fn from_floats_to_integers_rounds_and_clamps() {
    for (to_name, to, signed) in INTEGERS {
        for (from_name, format) in FLOATS {
            for direction in DIRECTIONS {
                let sources = [Sort::Bits(8 * format.bytes())];
                let rows: Vec<Vec<u64>> =
                    around_integers(format).into_iter().map(|word| vec![word]).collect();
                for saturate in ["", ".sat"] {
                    let text = format!("cvt.{direction}{saturate}.{to_name}.{from_name} %d, %a");
                    let result = to.max(16);
                    let results = [Sort::Bits(result)];
                    let instruction = Instruction { text: &text, results: &results, sources: &sources };
                    check(&instruction, &rows, |x| {
                        // Rust's conversions clamp, as PTX's do.
                        let rounded = integral(value(format, x[0]), direction);
                        let whole =
                            if signed { i128::from(rounded as i64) } else { i128::from(rounded as u64) };
                        let (low, high) = range(to, signed);
                        vec![whole.clamp(low, high) as u64 & mask(result)]
                    });
                }
            }
        }
    }
}

#[test]
fn from_integers_to_floats_rounds() {
    for (to_name, format) in FLOATS {
        for (from_name, from, signed) in INTEGERS {
            for (mode_name, mode) in MODES {
                let source = from.max(16);
                let text = format!("cvt.{mode_name}.{to_name}.{from_name} %d, %a");
                compare(&text, format, &[Sort::Bits(source)], rows(&[Sort::Bits(source)]), &|x| {
                    Some(Sum::integer(number(from, signed, x[0])).round(format, mode))
                });
            }
        }
    }
}

/// A float as a float of another format.
fn check_cast(text: &str, from: Format, to: Format, words: Vec<u64>, f: impl Fn(f64) -> Option<(u64, bool)>) {
    let bits = 8 * from.bytes();
    let rows = words.into_iter().map(|word| vec![word]).collect();
    compare(text, to, &[Sort::Bits(bits)], rows, &|x| f(value(from, x[0])));
}

#[test]
fn every_half_widens_exactly() {
    for (name, from) in [("f16", Format::F16), ("bf16", Format::Bf16)] {
        let all: Vec<u64> = (0..1 << 16).filter(|word| !value(from, *word).is_nan()).collect();
        for (to_name, to) in [("f32", Format::F32), ("f64", Format::F64)] {
            check_cast(&format!("cvt.{to_name}.{name} %d, %a"), from, to, all.clone(), |value| {
                let bits =
                    if to == Format::F64 { value.to_bits() } else { u64::from((value as f32).to_bits()) };
                Some((bits, true))
            });
        }
    }
}

#[test]
fn narrowing_to_halves_is_right_at_and_around_every_midpoint() {
    for (name, to) in [("f16", Format::F16), ("bf16", Format::Bf16)] {
        let mut words = Vec::new();
        for half in 0..(1u64 << 15) - 1 {
            let (below, above) = (value(to, half), value(to, half + 1));
            if !above.is_finite() {
                break;
            }
            let middle = ((below + above) / 2.0) as f32;
            let sign = u64::from(half % 2 == 1) << 31;
            for word in [middle.to_bits() - 1, middle.to_bits(), middle.to_bits() + 1] {
                words.push(u64::from(word) | sign);
            }
        }
        for (mode_name, mode) in [MODES[0], MODES[1]] {
            if mode == Mode::Zero && to == Format::Bf16 {
                continue;
            }
            let text = format!("cvt.{mode_name}.{name}.f32 %d, %a");
            check_cast(&text, Format::F32, to, words.clone(), |value| {
                Some(Sum::exact(value).round(to, mode))
            });
        }
    }
}

#[test]
fn between_single_and_double() {
    for (mode_name, mode) in MODES {
        let mut random = Random(51);
        let mut words = numbers(Format::F64, 400);
        // Doubles around singles and around midpoints between them.
        for _ in 0..2000 {
            let single = f32::from_bits(random.next() as u32);
            if single.is_finite() {
                let middle = (f64::from(single) + f64::from(single.next_up())) / 2.0;
                words.extend(
                    [middle, middle.next_up(), middle.next_down(), f64::from(single)].map(f64::to_bits),
                );
            }
        }
        words.retain(|word| !f64::from_bits(*word).is_nan());
        check_cast(&format!("cvt.{mode_name}.f32.f64 %d, %a"), Format::F64, Format::F32, words, |value| {
            if value.is_infinite() {
                return Some((narrow(value, Format::F32, Mode::Nearest), true));
            }
            Some(Sum::exact(value).round(Format::F32, mode))
        });
    }
    check_cast("cvt.f64.f32 %d, %a", Format::F32, Format::F64, numbers(Format::F32, 2000), |value| {
        Some((value.to_bits(), true))
    });
}

#[test]
fn rounding_to_an_integer_stays_a_float() {
    for (name, format) in FLOATS {
        for direction in DIRECTIONS {
            let text = format!("cvt.{direction}.{name}.{name} %d, %a");
            check_cast(&text, format, format, around_integers(format), |value| {
                let rounded = integral(value, direction);
                let bits = if format == Format::F64 {
                    rounded.to_bits()
                } else {
                    narrow(rounded, format, Mode::Nearest)
                };
                Some((bits, true))
            });
        }
    }
}

#[test]
fn saturation_clamps_floats_to_one() {
    check_cast("cvt.sat.f32.f32 %d, %a", Format::F32, Format::F32, numbers(Format::F32, 2000), |value| {
        // The sign of a zero that was clamped from −0 is not specified.
        if value == 0.0 && value.is_sign_negative() {
            return None;
        }
        Some((u64::from((value.clamp(0.0, 1.0) as f32).to_bits()), true))
    });
}

#[test]
fn two_floats_become_a_pair_whose_upper_half_is_the_first() {
    for (name, to) in [("f16x2", Format::F16), ("bf16x2", Format::Bf16)] {
        let list = numbers(Format::F32, 300);
        let mut random = Random(61);
        let rows: Vec<Vec<u64>> =
            (0..3000).map(|_| vec![random.pick(&list), random.pick(&list), 0]).collect();
        for (half, source) in [("{%d, _}", 1), ("{_, %d}", 0)] {
            let text = format!("cvt.rn.{name}.f32 %c, %a, %b; mov.b32 {half}, %c");
            compare(&text, to, &[Sort::Bits(32); 3], rows.clone(), &|x| {
                let value = value(Format::F32, x[source]);
                if value.is_infinite() {
                    return Some((narrow(value, to, Mode::Nearest), true));
                }
                Some(Sum::exact(value).round(to, Mode::Nearest))
            });
        }
    }
}

#[test]
fn every_8_bit_float_widens_to_a_half() {
    for (name, from, to_name, to) in [
        ("e4m3x2", Format::E4m3, "f16x2", Format::F16),
        ("e5m2x2", Format::E5m2, "f16x2", Format::F16),
        ("ue8m0x2", Format::Ue8m0, "bf16x2", Format::Bf16),
    ] {
        let numbers: Vec<u64> = (0..256).filter(|word| !widen(from, *word).is_nan()).collect();
        let mut random = Random(71);
        for (half, shift) in [("{%d, _}", 0), ("{_, %d}", 8)] {
            let rows: Vec<Vec<u64>> = numbers
                .iter()
                .map(|word| vec![word << shift | random.pick(&numbers) << (8 - shift), 0])
                .collect();
            let text = format!("cvt.rn.{to_name}.{name} %b, %a; mov.b32 {half}, %b");
            compare(&text, to, &[Sort::Bits(16), Sort::Bits(32)], rows, &|x| {
                Some((narrow(widen(from, x[0] >> shift & 0xff), to, Mode::Nearest), true))
            });
        }
    }
}
