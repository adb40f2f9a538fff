//! Float arithmetic on constants against IEEE arithmetic (rules V2, V10): a result that its format represents exactly
//! is concrete bits; any other is a constant that also records the value that the hardware would hold.

use volta_core::number::format::{Format, decode};
use volta_core::number::{Extended, Rational, Rounded};
use volta_core::term::{Fold, TermOp, fold};

use super::ieee::{MODES, Mode, Sum, narrow, widen};
use super::run::{Held, Instruction, Random, Sort, mask, results};

/// Encodings of a format: zeros, ones, powers, extremes, infinities, and random ones around 1 and anywhere.
pub(crate) fn numbers(format: Format, count: usize) -> Vec<u64> {
    let bits = 8 * format.bytes();
    let encode = |value: f64| narrow(value, format, Mode::Nearest);
    let mut list: Vec<u64> = [
        0.0,
        1.0,
        1.5,
        2.0,
        3.0,
        0.5,
        0.1,
        1.0 / 3.0,
        10.0,
        100.0,
        1e-3,
        65504.0,
        0.999,
        1.001,
        7.25,
        12582913.0,
    ]
    .into_iter()
    .flat_map(|value| [encode(value), encode(-value)])
    .collect();
    if format == Format::F64 {
        list = [0.0, 1.0, 1.5, 2.0, 3.0, 0.5, 0.1, 1.0 / 3.0, 1e10, 1e-3, 9007199254740993.0, 0.7]
            .into_iter()
            .flat_map(|value: f64| [value.to_bits(), (-value).to_bits()])
            .collect();
    } else {
        // Smallest and largest of each kind.
        let (low, top) = (1 << (bits - 1), encode(f64::INFINITY));
        let normal = match format {
            Format::F16 => 1 << 10,
            Format::Bf16 => 1 << 7,
            Format::Tf32 | Format::F32 | Format::F64 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => 1 << 23,
        };
        for word in [1, 2, 3, normal - 1, normal, normal + 1, top - 1, top - 2, top] {
            list.extend([word, word | low]);
        }
    }
    let mut random = Random(bits.into());
    let one = encode(1.0) & mask(bits);
    let spread = mask(bits) >> 8;
    while list.len() < count {
        let word = match random.next() % 3 {
            0 => random.next() & mask(bits),
            // Around one: sums cancel, products stay close.
            _ => {
                one.wrapping_add(random.next() % (2 * spread + 1)).wrapping_sub(spread)
                    | (random.next() & 1) << (bits - 1)
            }
        };
        if !value(format, word).is_nan() {
            list.push(word);
        }
    }
    list
}

fn value(format: Format, bits: u64) -> f64 {
    if format == Format::F64 { f64::from_bits(bits) } else { widen(format, bits) }
}

/// What an operation on constants must give: bits, and whether they are exact; `None` where the model has no value.
type Oracle<'o> = &'o dyn Fn(&[u64]) -> Option<(u64, bool)>;

/// Runs a float instruction on rows and compares each result: its bits, its rounded bits, and whether it is exact.
pub(crate) fn compare(text: &str, result: Format, sources: &[Sort], rows: Vec<Vec<u64>>, oracle: Oracle<'_>) {
    let rows: Vec<Vec<u64>> = rows.into_iter().filter(|row| oracle(row).is_some()).collect();
    let instruction = Instruction { text, results: &[Sort::Real(result)], sources };
    let held = results(&instruction, &rows).unwrap_or_else(|error| panic!("{text}: {error}"));
    for (operands, held) in rows.iter().zip(&held[0]) {
        let Some((bits, exact)) = oracle(operands) else { continue };
        let Held::Constant(constant) = held else { panic!("{text}: an integer comes out") };
        let spelled: Vec<String> = operands.iter().map(|word| format!("{word:#x}")).collect();
        let on = format!("`{text}` on {}: {bits:#x} expected, exact: {exact}", spelled.join(", "));
        assert_eq!(constant.rounded.and_then(Rounded::spelled), Some((result, bits)), "{on}");
        // Only bits in a register are spelled; anything else would be a rounded value taken for a true one.
        assert_eq!(constant.literal.is_some(), exact, "{on}");
        assert_eq!(decode(result, bits).extended() == Some(constant.exact.clone()), exact, "{on}");
        if let Extended::Finite(number) = &constant.exact
            && let Some(held) = decode(result, bits).extended().as_ref().and_then(Extended::finite)
        {
            assert!(number.is_zero() || held.is_zero() || number.signum() == held.signum(), "{on}");
        }
    }
}

fn pairs(format: Format) -> Vec<Vec<u64>> {
    let list = numbers(format, 120);
    let mut rows: Vec<Vec<u64>> = list[..56.min(list.len())]
        .iter()
        .flat_map(|x| list[..56.min(list.len())].iter().map(|y| vec![*x, *y]))
        .collect();
    let mut random = Random(21);
    rows.extend((0..1500).map(|_| vec![random.pick(&list), random.pick(&list)]));
    rows
}

fn triples(format: Format) -> Vec<Vec<u64>> {
    let list = numbers(format, 200);
    let mut random = Random(22);
    (0..4000).map(|_| (0..3).map(|_| random.pick(&list)).collect()).collect()
}

/// A finite exact result in its format; zeros have the sign that IEEE arithmetic gives them.
fn rounded(sum: Sum, format: Format, mode: Mode) -> Option<(u64, bool)> {
    Some(sum.round(format, mode))
}

/// Formats, with their suffix and rounding modes.
const FORMATS: [(&str, Format); 4] =
    [("f32", Format::F32), ("f64", Format::F64), ("f16", Format::F16), ("bf16", Format::Bf16)];

fn modes(format: Format) -> &'static [(&'static str, Mode)] {
    if matches!(format, Format::F16 | Format::Bf16) { &MODES[..1] } else { &MODES }
}

/// Whether an f64 error term would underflow, so that the oracle does not know.
fn unsafe_f64(format: Format, values: &[f64]) -> bool {
    format == Format::F64
        && values.iter().any(|value| *value != 0.0 && !(1e-140..1e140).contains(&value.abs()))
}

/// The sign of a zero sum: kept where both agree, else minus only when rounding down.
fn sum_of(a: f64, b: f64, mode: Mode) -> Sum {
    if a == 0.0 && b == 0.0 && a.is_sign_negative() == b.is_sign_negative() {
        return Sum::exact(a);
    }
    let sum = Sum::add(a, b);
    if sum.near == 0.0 && sum.rest == 0.0 {
        return Sum::exact(if mode == Mode::Down { -0.0 } else { 0.0 });
    }
    sum
}

/// Infinite operands: IEEE has no rounding there, and the model no NaN.
fn with_infinities(near: f64, format: Format) -> Option<(u64, bool)> {
    if near.is_nan() {
        return None;
    }
    Some((narrow_or_keep(near, format), true))
}

fn narrow_or_keep(value: f64, format: Format) -> u64 {
    if format == Format::F64 { value.to_bits() } else { narrow(value, format, Mode::Nearest) }
}

#[test]
fn sums() {
    for (name, format) in FORMATS {
        for (mode_name, mode) in modes(format) {
            for (op, sign) in [("add", 1.0), ("sub", -1.0)] {
                let text = format!("{op}.{mode_name}.{name} %d, %a, %b");
                let bits = 8 * format.bytes();
                compare(&text, format, &[Sort::Bits(bits); 2], pairs(format), &|x| {
                    let (a, b) = (value(format, x[0]), sign * value(format, x[1]));
                    if !(a.is_finite() && b.is_finite()) {
                        return with_infinities(a + b, format);
                    }
                    let sum = sum_of(a, b, *mode);
                    if !sum.near.is_finite() {
                        return None;
                    }
                    rounded(sum, format, *mode)
                });
            }
        }
    }
}

#[test]
fn products() {
    for (name, format) in FORMATS {
        for (mode_name, mode) in modes(format) {
            let text = format!("mul.{mode_name}.{name} %d, %a, %b");
            let bits = 8 * format.bytes();
            compare(&text, format, &[Sort::Bits(bits); 2], pairs(format), &|x| {
                let (a, b) = (value(format, x[0]), value(format, x[1]));
                if !(a.is_finite() && b.is_finite()) {
                    return with_infinities(a * b, format);
                }
                if unsafe_f64(format, &[a, b]) {
                    return None;
                }
                rounded(Sum::mul(a, b), format, *mode)
            });
        }
    }
}

#[test]
fn quotients() {
    for (name, format) in &FORMATS[..2] {
        let (format, bits) = (*format, 8 * format.bytes());
        for (mode_name, mode) in MODES {
            let quotient = |a: f64, b: f64| {
                if b == 0.0 || !(a.is_finite() && b.is_finite()) || unsafe_f64(format, &[a, b]) {
                    return None;
                }
                if a == 0.0 {
                    return Some((narrow_or_keep(a / b, format), true));
                }
                rounded(Sum::div(a, b), format, mode)
            };
            let text = format!("div.{mode_name}.{name} %d, %a, %b");
            compare(&text, format, &[Sort::Bits(bits); 2], pairs(format), &|x| {
                quotient(value(format, x[0]), value(format, x[1]))
            });
            let ones = numbers(format, 400).into_iter().map(|word| vec![word]).collect();
            compare(&format!("rcp.{mode_name}.{name} %d, %a"), format, &[Sort::Bits(bits)], ones, &|x| {
                quotient(1.0, value(format, x[0]))
            });
        }
    }
}

#[test]
fn roots_that_are_their_own_squares() {
    for (name, format) in &FORMATS[..2] {
        let bits = 8 * format.bytes();
        for (mode_name, _) in MODES {
            let rows = [0.0, -0.0, 1.0, f64::INFINITY].map(|root| vec![narrow_or_keep(root, *format)]);
            let text = format!("sqrt.{mode_name}.{name} %d, %a");
            compare(&text, *format, &[Sort::Bits(bits)], rows.to_vec(), &|x| Some((x[0], true)));
        }
    }
}

#[test]
fn approximations_lie_around_the_real() {
    // Even where the real result is an f32, nothing says that the hardware finds it.
    for text in ["rcp.approx.f32 %d, %b", "div.approx.f32 %d, %a, %b", "div.full.f32 %d, %a, %b"] {
        let row = [1.0f32, 4.0].map(|value| u64::from(value.to_bits())).to_vec();
        let instruction =
            Instruction { text, results: &[Sort::Real(Format::F32)], sources: &[Sort::Bits(32); 2] };
        let held = results(&instruction, &[row]).unwrap_or_else(|error| panic!("{text}: {error}"));
        let Held::Constant(constant) = &held[0][0] else { panic!("an integer comes out") };
        let [low, high] = constant.rounded.expect("the ISA bounds the error").bounds();
        let inside = |bound: &Extended| fold(TermOp::Less, &[bound, &constant.exact]) == Fold::Truth(true);
        assert!(inside(&low) && !inside(&high) && high != constant.exact, "{text}");
        assert_eq!(constant.literal, None, "{text}");
        assert_eq!(constant.exact, Extended::Finite(Rational::from_ratio(1, 4)), "{text}");
    }
}

#[test]
fn fused_products_round_once() {
    for (name, format) in FORMATS {
        for (mode_name, mode) in modes(format) {
            let bits = 8 * format.bytes();
            let text = format!("fma.{mode_name}.{name} %d, %a, %b, %c");
            compare(&text, format, &[Sort::Bits(bits); 3], triples(format), &|x| {
                let [a, b, c] = [0, 1, 2].map(|at| value(format, x[at]));
                if ![a, b, c].iter().all(|value| value.is_finite()) {
                    return with_infinities(a.mul_add(b, c), format);
                }
                if unsafe_f64(format, &[a, b, c]) {
                    return None;
                }
                // The step of `expf` where rounding down is the function (V2) has tests of its own.
                if format == Format::F32
                    && *mode == Mode::Down
                    && (0.0..=1.0).contains(&a)
                    && c >= 8_388_608.0
                {
                    return None;
                }
                if format != Format::F64 {
                    // The product of two narrow numbers is an f64.
                    return rounded(sum_of(a * b, c, *mode), format, *mode);
                }
                let near = a.mul_add(b, c);
                // What is missing from the f64: product and sum exactly, in three parts.
                let product = Sum::mul(a, b);
                let high = Sum::add(product.near, c);
                let low = Sum::add(high.rest, product.rest);
                let rest = Sum::add(high.near - near, low.near);
                if rest.rest != 0.0 || (high.near - near) + near != high.near || low.rest != 0.0 {
                    // Too fine for this oracle: nearest only, when inexact.
                    return (*mode == Mode::Nearest && near != 0.0 && low.near != 0.0)
                        .then_some((near.to_bits(), false));
                }
                if near == 0.0 {
                    return rounded(sum_of(product.near, c, *mode), format, *mode);
                }
                rounded(Sum { near, rest: rest.near }, format, *mode)
            });
        }
    }
}

#[test]
fn signs_and_order() {
    for (name, format) in FORMATS {
        let bits = 8 * format.bytes();
        let one: Vec<Vec<u64>> = numbers(format, 200).into_iter().map(|word| vec![word]).collect();
        let sign = 1u64 << (bits - 1);
        compare(&format!("neg.{name} %d, %a"), format, &[Sort::Bits(bits)], one.clone(), &|x| {
            Some((x[0] ^ sign, true))
        });
        compare(&format!("abs.{name} %d, %a"), format, &[Sort::Bits(bits)], one, &|x| {
            Some((x[0] & !sign, true))
        });
        // −0 is less than +0.
        let less = |x: &[u64]| {
            let (a, b) = (value(format, x[0]), value(format, x[1]));
            a < b || a == b && a.is_sign_negative()
        };
        let two = [Sort::Bits(bits); 2];
        for suffix in ["", ".NaN"] {
            if format == Format::F64 && suffix == ".NaN" {
                continue;
            }
            compare(&format!("min{suffix}.{name} %d, %a, %b"), format, &two, pairs(format), &|x| {
                Some((if less(x) { x[0] } else { x[1] }, true))
            });
            compare(&format!("max{suffix}.{name} %d, %a, %b"), format, &two, pairs(format), &|x| {
                Some((if less(x) { x[1] } else { x[0] }, true))
            });
        }
    }
    for (name, format) in &FORMATS[..2] {
        let bits = 8 * format.bytes();
        let sign = 1u64 << (bits - 1);
        let two = [Sort::Bits(bits); 2];
        compare(&format!("copysign.{name} %d, %a, %b"), *format, &two, pairs(*format), &|x| {
            Some((x[0] & sign | x[1] & !sign, true))
        });
    }
}

#[test]
fn saturation_clamps_to_one() {
    let saturate = |bits: u64, exact: bool| {
        let value = f32::from_bits(bits as u32);
        if value <= 0.0 {
            Some((0, true))
        } else if value > 1.0 || value == 1.0 && exact {
            Some((u64::from(1.0f32.to_bits()), true))
        } else if value == 1.0 {
            // Which side of one an inexact result lies on, this oracle does not ask.
            None
        } else {
            Some((bits, exact))
        }
    };
    let nonzero = |sum: Sum| sum.near != 0.0 || sum.rest != 0.0;
    compare("add.sat.f32 %d, %a, %b", Format::F32, &[Sort::Bits(32); 2], pairs(Format::F32), &|x| {
        let (a, b) = (value(Format::F32, x[0]), value(Format::F32, x[1]));
        let sum = sum_of(a, b, Mode::Nearest);
        if !(a.is_finite() && b.is_finite()) {
            return None;
        }
        let (bits, exact) = sum.round(Format::F32, Mode::Nearest);
        if nonzero(sum) && bits << 33 == 0 {
            return None;
        }
        saturate(bits, exact)
    });
    compare("fma.rn.sat.f32 %d, %a, %b, %c", Format::F32, &[Sort::Bits(32); 3], triples(Format::F32), &|x| {
        let [a, b, c] = [0, 1, 2].map(|at| value(Format::F32, x[at]));
        if ![a, b, c].iter().all(|value| value.is_finite()) {
            return None;
        }
        let sum = sum_of(a * b, c, Mode::Nearest);
        let (bits, exact) = sum.round(Format::F32, Mode::Nearest);
        if nonzero(sum) && bits << 33 == 0 {
            return None;
        }
        saturate(bits, exact)
    });
}

#[test]
fn two_halves_at_once() {
    for (name, part) in [("f16x2", Format::F16), ("bf16x2", Format::Bf16)] {
        let list = numbers(part, 200);
        let mut random = Random(41);
        let finite = |word: &u64| value(part, *word).is_finite();
        let list: Vec<u64> = list.into_iter().filter(finite).collect();
        let rows: Vec<Vec<u64>> = (0..1500)
            .map(|_| (0..3).map(|_| random.pick(&list) << 16 | random.pick(&list)).collect())
            .collect();
        for (text, op) in [
            (
                format!("add.{name} %d, %a, %b"),
                (|a, b, _| sum_of(a, b, Mode::Nearest)) as fn(f64, f64, f64) -> Sum,
            ),
            (format!("sub.{name} %d, %a, %b"), |a, b, _| sum_of(a, -b, Mode::Nearest)),
            (format!("mul.{name} %d, %a, %b"), |a, b, _| Sum::mul(a, b)),
            (format!("fma.rn.{name} %d, %a, %b, %c"), |a, b, c| sum_of(a * b, c, Mode::Nearest)),
        ] {
            for (half, shift) in [("{%d, _}", 0), ("{_, %d}", 16)] {
                let text = format!("{}; mov.b32 {half}, %f", text.replace("%d", "%f"));
                let sources = [Sort::Bits(32); 4];
                let rows: Vec<Vec<u64>> =
                    rows.iter().map(|row| row.iter().copied().chain([0]).collect()).collect();
                compare(&text, part, &sources, rows, &|x| {
                    let [a, b, c] = [0, 1, 2].map(|at| value(part, x[at] >> shift & 0xffff));
                    rounded(op(a, b, c), part, Mode::Nearest)
                });
            }
        }
    }
}

#[test]
fn comparisons_of_numbers() {
    for (name, format) in FORMATS {
        let bits = 8 * format.bytes();
        for (op, holds) in [
            ("eq", (|a, b| a == b) as fn(f64, f64) -> bool),
            ("ne", |a, b| a != b),
            ("lt", |a, b| a < b),
            ("le", |a, b| a <= b),
            ("gt", |a, b| a > b),
            ("ge", |a, b| a >= b),
        ] {
            for unordered in ["", "u"] {
                let text = format!("setp.{op}{unordered}.{name} %d, %a, %b");
                let sources = [Sort::Bits(bits); 2];
                let instruction = Instruction { text: &text, results: &[Sort::Pred], sources: &sources };
                super::run::check(&instruction, &pairs(format), |x| {
                    vec![u64::from(holds(value(format, x[0]), value(format, x[1])))]
                });
            }
        }
    }
    let sources = [Sort::Bits(32); 2];
    let rows = pairs(Format::F32);
    for (text, yes) in
        [("set.gt.f32.f32 %d, %a, %b", u64::from(1.0f32.to_bits())), ("set.gt.u32.f32 %d, %a, %b", mask(32))]
    {
        let instruction = Instruction { text, results: &[Sort::Bits(32)], sources: &sources };
        super::run::check(&instruction, &rows, |x| {
            vec![if value(Format::F32, x[0]) > value(Format::F32, x[1]) { yes } else { 0 }]
        });
    }
    for (test, holds) in [
        ("finite", f32::is_finite as fn(f32) -> bool),
        ("infinite", f32::is_infinite),
        ("number", |value| !value.is_nan()),
        ("notanumber", f32::is_nan),
    ] {
        let text = format!("testp.{test}.f32 %d, %a");
        let instruction = Instruction { text: &text, results: &[Sort::Pred], sources: &[Sort::Bits(32)] };
        let rows: Vec<Vec<u64>> = numbers(Format::F32, 100).into_iter().map(|word| vec![word]).collect();
        super::run::check(&instruction, &rows, |x| vec![u64::from(holds(f32::from_bits(x[0] as u32)))]);
    }
}
