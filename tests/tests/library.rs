//! What admits a template: the code of a function, run on numbers in the interpreter, is the real function that the table
//! says, within the error that it says.
//!
//! `VOLTA_SAMPLES=4294967296` runs functions of one f32 on all of them.

#[path = "library/decided.rs"]
mod decided;

use rug::Float;
use rug::ops::Pow;
use volta_core::library::{FUNCTIONS, Function, Step};
use volta_core::term::TermOp;
use volta_suite::interpreter::Run;
use volta_suite::interpreter::decode::{Program, decode};
use volta_suite::interpreter::memory::{Object, Objects, TENSORS};
use volta_suite::interpreter::random::Random;

/// Enough for `e^x - 1` near the least f32.
const PRECISION: u32 = 400;
const SAMPLES: u64 = 3_000;

/// The number of inputs of each function.
fn samples() -> u64 {
    let given = std::env::var("VOLTA_SAMPLES").ok();
    given.map_or(SAMPLES, |given| given.parse().expect("VOLTA_SAMPLES is a number"))
}

/// The irrational number that a literal of a meaning is read as.
fn constant(bits: u32) -> Float {
    let two = || Float::with_val(PRECISION, 2);
    let e = || Float::with_val(PRECISION, 1).exp();
    match bits {
        0x3F31_7218 => two().ln(),
        0x3FB8_AA3B => e().log2(),
        0xBFB8_AA3B => -e().log2(),
        0x3E9A_209B => two().log10(),
        _ => panic!("{bits:#x} is no constant that rule V9 reads"),
    }
}

/// The real function, where it has a value.
fn exact(function: &Function, operands: &[f32]) -> Option<Float> {
    let mut stack: Vec<Float> = Vec::new();
    for step in function.meaning {
        let value = match *step {
            Step::Operand(which) => Float::with_val(PRECISION, operands[which]),
            Step::Whole(number) => Float::with_val(PRECISION, number),
            Step::Literal(bits) => constant(bits),
            Step::Apply(op) => {
                let mut pop = || stack.pop().expect("an operand");
                match op {
                    TermOp::Log2 => Some(pop()).filter(|a| *a > 0)?.log2(),
                    TermOp::Exp2 => Float::with_val(PRECISION, 2).pow(pop()),
                    TermOp::Sqrt => Some(pop()).filter(|a| *a >= 0)?.sqrt(),
                    TermOp::Rsqrt => Some(pop()).filter(|a| *a > 0)?.recip_sqrt(),
                    TermOp::Tanh => pop().tanh(),
                    TermOp::Sin => pop().sin(),
                    TermOp::Cos => pop().cos(),
                    TermOp::Erf => pop().erf(),
                    TermOp::Atan => pop().atan(),
                    TermOp::Cbrt => pop().cbrt(),
                    TermOp::Add => pop() + pop(),
                    TermOp::Sub => -(pop() - pop()),
                    TermOp::Mul => pop() * pop(),
                    TermOp::Div => {
                        let divisor = Some(pop()).filter(|b| !b.is_zero())?;
                        pop() / divisor
                    }
                    other @ (TermOp::Fma
                    | TermOp::Neg
                    | TermOp::Abs
                    | TermOp::Max
                    | TermOp::Min
                    | TermOp::Saturate
                    | TermOp::Floor
                    | TermOp::Ceil
                    | TermOp::Trunc
                    | TermOp::RoundEven
                    | TermOp::CopySign
                    | TermOp::Less
                    | TermOp::LessEqual
                    | TermOp::Equal
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
                    | TermOp::DecodeF64) => panic!("{other:?} is in no meaning"),
                }
            }
        };
        stack.push(value);
    }
    stack.pop()
}

/// What the code of a function gives.
fn compiled(program: &Program, operands: &[f32]) -> f32 {
    let place = |at: usize| TENSORS + ((at as u64) << 12);
    let out = operands.len();
    let inputs = operands.iter().enumerate();
    let mut objects: Vec<Object> =
        inputs.map(|(at, value)| Object::new(place(at), value.to_le_bytes().to_vec())).collect();
    objects.push(Object::new(place(out), vec![0; 4]));
    let mut global = Objects(objects);
    let arguments: Vec<u8> = (0..=out).flat_map(|at| place(at).to_le_bytes()).collect();
    let run = Run {
        program,
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared: 0,
        ctas: &[0],
        arguments: &arguments,
        budget: 1 << 16,
    };
    run.execute(&mut global, 1).expect("the code of a function runs");
    f32::from_bits(global.read(place(out), 4).expect("a result") as u32)
}

/// How far apart a float and a real are, in units in the last place of the real.
fn ulps(held: f32, exact: &Float) -> f64 {
    let largest = Float::with_val(PRECISION, f32::MAX);
    if *exact.as_abs() > largest {
        // Rounded up, or to the largest number.
        let beyond = held.is_infinite() || held.abs() == f32::MAX;
        return if beyond && (held > 0.0) == (*exact > 0) { 0.0 } else { f64::INFINITY };
    }
    if !held.is_finite() {
        // The largest number may be rounded up.
        let near = Float::with_val(PRECISION, &largest * 0.999_999) < *exact.as_abs();
        return if near && !held.is_nan() { 1.0 } else { f64::INFINITY };
    }
    let exponent = exact.get_exp().map_or(-148, |exponent| exponent.max(-125) - 24).max(-149);
    let unit = Float::with_val(PRECISION, 2).pow(exponent);
    let apart = Float::with_val(PRECISION, held) - exact;
    (apart.abs() / unit).to_f64()
}

/// An input: of each exponent alike many, and the numbers around powers of two.
fn stratified(random: &mut Random, number: u64) -> f32 {
    let (sign, exponent) = ((number & 1) << 31, (number >> 1) % 255);
    let fraction = match (number / 510) % 4 {
        0 => 0,
        1 => 0x7f_ffff,
        _ => random.bits() & 0x7f_ffff,
    };
    f32::from_bits((sign | exponent << 23 | fraction) as u32)
}

#[test]
fn functions_are_what_the_table_says() {
    let samples = samples();
    let mut wrong = Vec::new();
    for function in &FUNCTIONS {
        let program = decode(function.ptx, None).expect(function.name);
        let mut random = Random::new(7);
        let mut worst = (0.0, Vec::new());
        for number in 0..samples {
            let operands: Vec<f32> = match function.operands {
                1 if samples == 1 << 32 => vec![f32::from_bits(number as u32)],
                1 => vec![stratified(&mut random, number)],
                count => {
                    // Neighbouring exponents, so that no operand outweighs the others.
                    let first = stratified(&mut random, number);
                    let near = |random: &mut Random| {
                        let other = 1.0 + (random.bits() & 0xffff) as f32 / 65536.0;
                        first * other * [0.25, 1.0, -3.0][random.below(3)]
                    };
                    std::iter::once(first).chain((1..count).map(|_| near(&mut random))).collect()
                }
            };
            if operands.iter().any(|operand| !operand.is_finite()) {
                continue;
            }
            let Some(exact) = exact(function, &operands) else { continue };
            let held = compiled(&program, &operands);
            let apart = ulps(held, &exact);
            if apart > worst.0 {
                worst = (apart, operands);
            }
        }
        println!("{:10} {:.3} ulp at {:?}", function.name, worst.0, worst.1);
        if worst.0 > f64::from(function.ulps) {
            wrong.push(format!("{}: {} ulp at {:?}", function.name, worst.0, worst.1));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The page on functions lists them as the table does.
#[test]
fn page_lists_all_functions() {
    let mut text = String::from("| function | is | within |\n|---|---|---|\n");
    for function in &FUNCTIONS {
        let Function { name, real, ulps, .. } = function;
        text += &format!("| `{name}` | {real} | {ulps} ulp |\n");
    }
    volta_suite::page::hold("docs/library.md", &[("functions", text)]).expect("the page is as the table");
}
