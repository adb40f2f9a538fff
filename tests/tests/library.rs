//! The test that admits a template: the code of a function, run on numbers in the interpreter, computes the real
//! function of its row in the table, within the error of that row.
//!
//! `VOLTA_SAMPLES=4294967296` runs functions of one f32 on all floats.

#[path = "library/decided.rs"]
mod decided;
#[path = "library/recognised.rs"]
mod recognised;

use rug::Float;
use rug::ops::Pow;
use volta_core::library::{FUNCTIONS, Gives, LibraryFunction, MEASURED, Measured, Postfix};
use volta_core::number::format::Format;
use volta_core::term::TermOp;
use volta_suite::interpreter::Run;
use volta_suite::interpreter::decode::{Program, decode};
use volta_suite::interpreter::memory::{Object, Objects, TENSORS};
use volta_suite::interpreter::random::Random;

/// The number of inputs of each function where none is given.
const SAMPLES: u64 = 3_000;

/// The number of inputs of each function.
fn samples() -> u64 {
    let given = std::env::var("VOLTA_SAMPLES").ok();
    given.map_or(SAMPLES, |given| given.parse().expect("VOLTA_SAMPLES is a number"))
}

/// Whether the quotient of a function's operands is rounded to an integer: it has as many digits as their exponents are
/// apart.
fn rounds_a_quotient(function: &LibraryFunction) -> bool {
    let rounds = |step: &Postfix| matches!(step, Postfix::Apply(TermOp::Trunc | TermOp::RoundEven));
    function.meaning.iter().any(rounds)
}

/// Whether the logarithm of a sum with a root is asked for, which nearly cancel where a number is large and negative.
fn cancels(function: &LibraryFunction) -> bool {
    let steps = function.meaning.windows(3);
    let is_it = |steps: &[Postfix]| {
        matches!(
            steps,
            [Postfix::Apply(TermOp::Sqrt), Postfix::Apply(TermOp::Add), Postfix::Apply(TermOp::Log2)]
        )
    };
    steps.into_iter().any(is_it)
}

/// Digits that are enough for `e^x - 1` near the least number of a format, and for quotients that are rounded.
fn precision(function: &LibraryFunction) -> u32 {
    match function.format {
        Format::F64 if rounds_a_quotient(function) || cancels(function) => 2_300,
        Format::F64 => 1_300,
        Format::F32
        | Format::F16
        | Format::Bf16
        | Format::Tf32
        | Format::E4m3
        | Format::E5m2
        | Format::Ue8m0 => 400,
    }
}

/// The irrational number that a literal of a meaning is read as.
fn constant(format: Format, bits: u64, precision: u32) -> Float {
    let of = |number: u32| Float::with_val(precision, number);
    let e = || of(1).exp();
    match (format, bits) {
        (Format::F32, 0x3F31_7218) | (Format::F64, 0x3FE6_2E42_FEFA_39EF) => of(2).ln(),
        (Format::F32, 0x3FB8_AA3B) | (Format::F64, 0x3FF7_1547_652B_82FE) => e().log2(),
        (Format::F32, 0xBFB8_AA3B) | (Format::F64, 0xBFF7_1547_652B_82FE) => -e().log2(),
        (Format::F32, 0x3E9A_209B) | (Format::F64, 0x3FD3_4413_509F_79FF) => of(2).log10(),
        (Format::F32, 0x4054_9A78) | (Format::F64, 0x400A_934F_0979_A371) => of(10).log2(),
        _ => panic!("{bits:#x} is no constant that rule V9 reads"),
    }
}

/// A result on the way. Conditions have no value of their own.
#[derive(Clone)]
enum Result {
    Real(Float),
    /// Γ of a positive number, whose logarithm has fewer digits.
    Gamma(Float),
    Condition(bool),
    /// Not defined; a choice may leave it out.
    Nothing,
}

/// The real function, where it has a value.
fn exact(function: &LibraryFunction, operands: &[f64]) -> Option<Float> {
    let precision = precision(function);
    let mut stack: Vec<Result> = Vec::new();
    for step in function.meaning {
        let value = match *step {
            Postfix::Operand(which) => Result::Real(Float::with_val(precision, operands[which])),
            Postfix::Whole(number) => Result::Real(Float::with_val(precision, number)),
            Postfix::Literal(format, bits) => Result::Real(constant(format, bits, precision)),
            Postfix::Apply(op) => {
                let own = stack.split_off(stack.len() - op.arity());
                applied(op, &own, precision)
            }
        };
        stack.push(value);
    }
    match stack.pop() {
        Some(Result::Real(value)) => Some(value),
        Some(Result::Gamma(argument)) => Some(argument.gamma()),
        Some(Result::Condition(_) | Result::Nothing) | None => None,
    }
}

/// An operation of a meaning.
fn applied(op: TermOp, operands: &[Result], precision: u32) -> Result {
    if op == TermOp::Select {
        return match operands[0] {
            Result::Condition(holds) => operands[if holds { 1 } else { 2 }].clone(),
            Result::Real(_) | Result::Gamma(_) | Result::Nothing => Result::Nothing,
        };
    }
    if let (TermOp::Log2, [Result::Gamma(argument)]) = (op, operands) {
        let two = Float::with_val(precision, 2);
        return Result::Real(argument.clone().ln_gamma() / two.ln());
    }
    let mut reals = Vec::with_capacity(3);
    for operand in operands {
        match operand {
            Result::Real(value) => reals.push(value.clone()),
            Result::Gamma(argument) => reals.push(argument.clone().gamma()),
            Result::Condition(_) | Result::Nothing => return Result::Nothing,
        }
    }
    let mut reals = reals.into_iter();
    let mut next = || reals.next().expect("an operand");
    let a = next();
    let value = match op {
        TermOp::Log2 => Some(a).filter(|a| *a > 0).map(Float::log2),
        TermOp::Exp2 => Some(Float::with_val(precision, 2).pow(a)),
        TermOp::Sqrt => Some(a).filter(|a| *a >= 0).map(Float::sqrt),
        TermOp::Rsqrt => Some(a).filter(|a| *a > 0).map(Float::recip_sqrt),
        TermOp::Tanh => Some(a.tanh()),
        TermOp::Sin => Some(a.sin()),
        TermOp::Cos => Some(a.cos()),
        TermOp::Erf => Some(a.erf()),
        TermOp::Atan => Some(a.atan()),
        TermOp::Cbrt => Some(a.cbrt()),
        TermOp::Gamma if a > 0 => return Result::Gamma(a),
        TermOp::BesselJ0 => Some(a.j0()),
        TermOp::BesselJ1 => Some(a.j1()),
        TermOp::BesselY0 => Some(a).filter(|a| *a > 0).map(Float::y0),
        TermOp::BesselY1 => Some(a).filter(|a| *a > 0).map(Float::y1),
        TermOp::Gamma => None,
        TermOp::Abs => Some(a.abs()),
        TermOp::Floor => Some(a.floor()),
        TermOp::Trunc => Some(a.trunc()),
        TermOp::RoundEven => Some(a.round_even()),
        TermOp::Add => Some(a + next()),
        TermOp::Sub => Some(a - next()),
        TermOp::Mul => Some(a * next()),
        TermOp::Div => Some(next()).filter(|b| !b.is_zero()).map(|b| a / b),
        TermOp::Equal => return Result::Condition(a == next()),
        other @ (TermOp::Fma
        | TermOp::Neg
        | TermOp::Max
        | TermOp::Min
        | TermOp::Saturate
        | TermOp::Ceil
        | TermOp::CopySign
        | TermOp::Less
        | TermOp::LessEqual
        | TermOp::Not
        | TermOp::And
        | TermOp::Or
        | TermOp::Xor
        | TermOp::Select
        | TermOp::Mod
        | TermOp::BitAnd
        | TermOp::EncodeF32
        | TermOp::EncodeF64
        | TermOp::DecodeF32
        | TermOp::DecodeF64
        | TermOp::Outcome
        | TermOp::Ieee1
        | TermOp::Ieee2
        | TermOp::IeeePair) => panic!("{other:?} is in no meaning"),
    };
    value.map_or(Result::Nothing, Result::Real)
}

/// The number that bits spell as an f16; of those that spell none, a NaN.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * f64::powi(2.0, -24),
        31 => f64::NAN,
        _ => (1024.0 + fraction) * f64::powi(2.0, exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The bits that spell a number as an f16.
fn half_bits(value: f64) -> u16 {
    (0..=u16::MAX).find(|bits| half(*bits) == value).expect("it is an f16")
}

/// What the code of a function gives.
fn compiled(program: &Program, function: &LibraryFunction, operands: &[f64]) -> f64 {
    let place = |at: usize| TENSORS + ((at as u64) << 12);
    let out = operands.len();
    let bytes = |value: f64| match function.format {
        Format::F64 => value.to_le_bytes().to_vec(),
        // The upper half of an f32.
        Format::Bf16 => (value as f32).to_le_bytes()[2..].to_vec(),
        Format::F16 => half_bits(value).to_le_bytes().to_vec(),
        Format::F32 | Format::Tf32 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => {
            (value as f32).to_le_bytes().to_vec()
        }
    };
    let inputs = operands.iter().enumerate();
    // The tables of the module, then the operands.
    let mut objects = program.objects.clone();
    objects.extend(inputs.map(|(at, value)| Object::new(place(at), bytes(*value))));
    let size = match function.gives {
        Gives::Real => function.format.bytes(),
        Gives::Integer => 4,
    };
    objects.push(Object::new(place(out), vec![0; size as usize]));
    let mut global = Objects(objects);
    let arguments: Vec<u8> = (0..=out).flat_map(|at| place(at).to_le_bytes()).collect();
    let run = Run {
        program,
        grid: [1; 3],
        block: [1; 3],
        cluster: None,
        cooperative: false,
        dynamic_shared: 0,
        ctas: &[0],
        arguments: &arguments,
        budget: 1 << 16,
    };
    run.execute(&mut global, 1).expect("the code of a function runs");
    let bits = global.read(place(out), size).expect("a result");
    match (function.gives, function.format) {
        (Gives::Integer, _) => f64::from(bits as u32 as i32),
        (Gives::Real, Format::F64) => f64::from_bits(bits),
        (Gives::Real, Format::F16) => half(bits as u16),
        (Gives::Real, Format::Bf16) => f32::from_bits((bits as u32) << 16).into(),
        (Gives::Real, _) => f32::from_bits(bits as u32).into(),
    }
}

/// How far apart what a function gives and a real are, in units in the last place of the real.
fn ulps(function: &LibraryFunction, held: f64, exact: &Float) -> f64 {
    let precision = precision(function);
    let (digits, least, largest) = match function.format {
        Format::F64 => (53, -1074, f64::MAX),
        Format::Bf16 => (8, -133, f32::from_bits(0x7f7f_0000).into()),
        Format::F16 => (11, -24, 65_504.0),
        Format::F32 | Format::Tf32 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => {
            (24, -149, f32::MAX.into())
        }
    };
    let most = Float::with_val(precision, largest);
    if *exact.as_abs() > most {
        // Rounded up, or to the largest number.
        let beyond = held.is_infinite() || held.abs() == largest;
        return if beyond && (held > 0.0) == (*exact > 0) { 0.0 } else { f64::INFINITY };
    }
    if !held.is_finite() {
        // The largest number may be rounded up.
        let near = Float::with_val(precision, &most * 0.999_999) < *exact.as_abs();
        return if near && !held.is_nan() { 1.0 } else { f64::INFINITY };
    }
    let exponent = exact.get_exp().map_or(least, |exponent| (exponent - digits).max(least));
    let unit = Float::with_val(precision, 2).pow(exponent);
    let apart = Float::with_val(precision, held) - exact;
    (apart.abs() / unit).to_f64()
}

/// An input: of each exponent alike many, and the numbers around powers of two. Of doubles, half have the exponents of
/// numbers that people compute with.
fn stratified(random: &mut Random, format: Format, number: u64) -> f64 {
    match format {
        Format::F64 => {
            let sign = (number & 1) << 63;
            let exponent =
                if number & 2 == 0 { random.bits() % 2047 } else { 1023 - 60 + random.bits() % 72 };
            let fraction = match random.below(4) {
                0 => 0,
                1 => u64::MAX >> 12,
                _ => random.bits() >> 12,
            };
            f64::from_bits(sign | exponent << 52 | fraction)
        }
        Format::F16 => half((number * 21) as u16),
        Format::F32 | Format::Bf16 | Format::Tf32 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => {
            let (sign, exponent) = ((number & 1) << 31, (number >> 1) % 255);
            let fraction = match (number / 510) % 4 {
                0 => 0,
                1 => 0x7f_ffff,
                _ => random.bits() & 0x7f_ffff,
            };
            let bits = (sign | exponent << 23 | fraction) as u32;
            f32::from_bits(if format == Format::Bf16 { bits & 0xffff_0000 } else { bits }).into()
        }
    }
}

/// A number as the operand of a function.
fn rounded(format: Format, value: f64) -> f64 {
    match format {
        Format::F64 => value,
        Format::Bf16 => f32::from_bits((value as f32).to_bits() & 0xffff_0000).into(),
        Format::F32 | Format::F16 | Format::Tf32 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => {
            (value as f32).into()
        }
    }
}

/// The codes of a function, and whether they were compiled to make zeros of subnormal numbers.
fn programs(function: &LibraryFunction) -> Vec<(Program, bool)> {
    let flushes =
        |code: &str| ["add.ftz.f32", "mul.ftz.f32", "fma.rn.ftz.f32"].iter().any(|op| code.contains(op));
    function.codes().map(|code| (decode(code, None).expect(function.name), flushes(code))).collect()
}

/// Whether a number of a function's format may count as zero.
fn is_subnormal(function: &LibraryFunction, number: f64) -> bool {
    let least = match function.format {
        Format::F64 => f64::MIN_POSITIVE,
        Format::F16 => f64::powi(2.0, -14),
        Format::F32 | Format::Bf16 | Format::Tf32 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => {
            f64::powi(2.0, -126)
        }
    };
    number != 0.0 && number.abs() < least
}

/// Whole powers of numbers of either sign, which the meaning in the table leaves out.
#[test]
fn powers_are_products_where_the_exponent_is_whole() {
    let powers = FUNCTIONS.iter().filter(|function| function.powers);
    assert_eq!(powers.clone().count(), 2);
    for function in powers {
        let programs = programs(function);
        let mut random = Random::new(11);
        for number in 0..samples().min(20_000) {
            let base = stratified(&mut random, function.format, number);
            let exponent = number as i32 % 129 - 64;
            if base == 0.0 || exponent == 0 {
                continue;
            }
            let exact = Float::with_val(precision(function), base).pow(exponent);
            for (program, flushes) in &programs {
                if *flushes && (is_subnormal(function, base) || is_subnormal(function, exact.to_f64())) {
                    continue;
                }
                let held = compiled(program, function, &[base, exponent.into()]);
                let apart = ulps(function, held, &exact);
                assert!(
                    apart <= f64::from(function.error.ulps),
                    "{}({base}, {exponent}): {held}",
                    function.name
                );
            }
        }
    }
}

#[test]
fn functions_are_what_the_table_says() {
    let samples = samples();
    let only = std::env::var("VOLTA_FUNCTION").ok();
    let mut wrong = Vec::new();
    for function in FUNCTIONS.iter() {
        if only.as_deref().is_some_and(|only| only.split(',').all(|name| name != function.name)) {
            continue;
        }
        let programs = programs(function);
        let mut random = Random::new(7);
        let mut worst = (0.0, 0, Vec::new());
        // The largest distance where units in the last place are not enough.
        let mut beside = 0.0f64;
        for number in 0..samples {
            let operands: Vec<f64> = match function.operands {
                1 if samples == 1 << 32 && function.format == Format::F32 => {
                    vec![f32::from_bits(number as u32).into()]
                }
                1 => vec![stratified(&mut random, function.format, number)],
                // Operands of any exponents.
                count if rounds_a_quotient(function) && number % 2 == 0 => {
                    let drawn = (0..count).map(|_| {
                        let number = random.bits();
                        stratified(&mut random, function.format, number)
                    });
                    drawn.collect()
                }
                count => {
                    // Neighbouring exponents, so that no operand outweighs the others.
                    let first = stratified(&mut random, function.format, number);
                    let near = |random: &mut Random| {
                        let other = 1.0 + (random.bits() & 0xffff) as f64 / 65536.0;
                        rounded(function.format, first * other * [0.25, 1.0, -3.0][random.below(3)])
                    };
                    std::iter::once(first).chain((1..count).map(|_| near(&mut random))).collect()
                }
            };
            if operands.iter().any(|operand| !operand.is_finite()) {
                continue;
            }
            let Some(exact) = exact(function, &operands) else { continue };
            for (which, (program, flushes)) in programs.iter().enumerate() {
                let mut numbers = operands.iter().copied().chain([exact.to_f64()]);
                if *flushes && numbers.any(|number| is_subnormal(function, number)) {
                    continue;
                }
                let held = compiled(program, function, &operands);
                let apart = ulps(function, held, &exact);
                if apart > f64::from(function.error.ulps) && function.error.or_below.is_some() {
                    let distance = (Float::with_val(precision(function), held) - &exact).abs();
                    beside = if held.is_finite() { beside.max(distance.to_f64()) } else { f64::INFINITY };
                    continue;
                }
                if apart > worst.0 {
                    worst = (apart, which, operands.clone());
                }
            }
        }
        println!("{:10} {:.3} ulp of code {} at {:?}", function.name, worst.0, worst.1, worst.2);
        if let Some(exponent) = function.error.or_below {
            println!("{:10} elsewhere {beside:e}", "");
            if beside > 2f64.powi(exponent) {
                wrong.push(format!("{}: off by {beside}", function.name));
            }
        }
        if worst.0 > f64::from(function.error.ulps) {
            wrong.push(format!("{}: {} ulp of code {} at {:?}", function.name, worst.0, worst.1, worst.2));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// No GPU has exceeded a bound.
#[test]
fn bounds_hold_what_was_measured() {
    for Measured { name, thousandths, .. } in MEASURED {
        let mut rows = FUNCTIONS.iter().filter(|function| function.name == name);
        let row = rows.next().expect("a measured function has a row");
        assert!(rows.next().is_none(), "{name} has several rows");
        assert!(1000 * row.error.ulps >= thousandths, "{name}: {thousandths}/1000");
    }
}

/// The page on functions lists them as the table does.
#[test]
fn page_lists_all_functions() {
    let mut text = String::from("| function | of | is | | measured |\n|---|---|---|---|---|\n");
    for function in FUNCTIONS.iter() {
        let LibraryFunction { name, real, format, .. } = function;
        let measured = MEASURED.iter().find(|measured| measured.name == *name);
        let measured = measured.map_or(String::new(), |Measured { thousandths, at, .. }| {
            let at = at.map_or(String::new(), |bits| format!(" at {bits:#010x}"));
            format!("{}.{:03}{at}", thousandths / 1000, thousandths % 1000)
        });
        text += &format!("| `{name}` | {} | {real} | {} | {measured} |\n", format.name(), function.within());
    }
    volta_suite::page::hold("docs/library.md", &[("functions", text)]).expect("the page is as the table");
}
