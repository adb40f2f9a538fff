//! The functions of CUDA's mathematical library that are looked for in kernels (rules V5, V7).
//!
//! A compiler inlines them: `logf` is a dozen operations on the encoding of its argument and a polynomial. What such code
//! computes, rounding included, is the function within a few units in the last place, and nothing else over the reals. So a
//! function is known by its template, the graph of terms that its own PTX gives when the machine executes it; a
//! kernel that contains that graph, all of it, with any terms for operands, computes the function.
//!
//! A row of the table says which real function a template stands for. That it does is measured
//! (`tests/tests/library.rs`) in an interpreter that shares nothing with the machine.

use crate::case::{Binding, Contents, Element, Launch, Options, Param, ParamKind, Role, Side, Sign, Which};
use crate::machine::{self, OutputValue};
use crate::number::format::{Format, decode};
use crate::number::{Extended, Rational};
use crate::program::{self, Program, Src};
use crate::ptx;
use crate::term::{Constant, Piece, Template, Templates, TermOp};
use rustc_hash::FxHashSet;
use std::sync::{Arc, LazyLock, OnceLock};

/// A step of a meaning, in postfix notation.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// An operand.
    Operand(usize),
    /// A whole number.
    Whole(i64),
    /// An f32 by its bits: a literal, which rule V9 may read as an irrational constant.
    Literal(u32),
    /// An operation on the last results.
    Apply(TermOp),
}

/// A function of the library.
#[derive(Debug)]
pub struct Function {
    /// Its name in CUDA.
    pub name: &'static str,
    /// Its PTX, compiled alone: it loads its operands, and stores its result.
    pub ptx: &'static str,
    /// How many operands it has.
    pub operands: usize,
    /// A literal that no other code is likely to have, and that the function has in all of its graphs.
    pub mark: u32,
    /// The real function, in words.
    pub real: &'static str,
    /// How far from that it may be, in units in the last place.
    pub ulps: u32,
    /// The real function.
    pub meaning: &'static [Step],
}

use Step::{Apply, Literal, Operand, Whole};
use TermOp::{Add, Atan, Cbrt, Cos, Div, Erf, Exp2, Log2, Mul, Rsqrt, Sin, Sqrt, Sub, Tanh};

const X: Step = Operand(0);
const Y: Step = Operand(1);
const Z: Step = Operand(2);
const LN_2: Step = Literal(0x3F31_7218);
const LOG10_2: Step = Literal(0x3E9A_209B);
const LOG2_E: Step = Literal(0x3FB8_AA3B);
const MINUS_LOG2_E: Step = Literal(0xBFB8_AA3B);

macro_rules! function {
    ($name:literal, $($rest:tt)*) => { function!($name of $name, $($rest)*) };
    ($name:literal of $file:literal, $operands:literal, $mark:literal, $real:literal, $ulps:literal, [$($step:expr),* $(,)?]) => {
        Function {
            name: $name,
            ptx: include_str!(concat!($file, ".ptx")),
            operands: $operands,
            mark: $mark,
            real: $real,
            ulps: $ulps,
            meaning: &[$($step),*],
        }
    };
}

/// The functions. One that computes with the result of another comes after it; one that does so in the arms of a choice
/// with which the other ends (`log10f`), before.
pub static FUNCTIONS: [Function; COUNT] = [
    function!("log10f", 1, 0x3EDE_5BD9, "log10 x", 2, [X, Apply(Log2), LOG10_2, Apply(Mul)]),
    function!("logf", 1, 0x3E10_39F6, "ln x", 1, [X, Apply(Log2), LN_2, Apply(Mul)]),
    function!("log2f", 1, 0xBE2C_7F30, "log2 x", 1, [X, Apply(Log2)]),
    function!(
        "log1pf",
        1,
        0xBD39_BF78,
        "ln(1 + x)",
        2,
        [X, Whole(1), Apply(Add), Apply(Log2), LN_2, Apply(Mul)]
    ),
    function!(
        "expm1f",
        1,
        0x3AB5_B2C6,
        "e^x - 1",
        1,
        [X, LOG2_E, Apply(Mul), Apply(Exp2), Whole(1), Apply(Sub)]
    ),
    function!("tanhf", 1, 0x3C80_F082, "tanh x", 2, [X, Apply(Tanh)]),
    function!(
        "sinhf",
        1,
        0x363D_0ADA,
        "sinh x",
        3,
        [
            X,
            LOG2_E,
            Apply(Mul),
            Apply(Exp2),
            X,
            MINUS_LOG2_E,
            Apply(Mul),
            Apply(Exp2),
            Apply(Sub),
            Whole(2),
            Apply(Div),
        ]
    ),
    function!(
        "coshf",
        1,
        0x4B40_007D,
        "cosh x",
        2,
        [
            X,
            LOG2_E,
            Apply(Mul),
            Apply(Exp2),
            X,
            MINUS_LOG2_E,
            Apply(Mul),
            Apply(Exp2),
            Apply(Add),
            Whole(2),
            Apply(Div),
        ]
    ),
    function!(
        "hypotf",
        2,
        0x7E80_0000,
        "sqrt(x^2 + y^2)",
        3,
        [X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Apply(Sqrt)]
    ),
    function!(
        "rnorm3df",
        3,
        0x7E80_0000,
        "1/sqrt(x^2 + y^2 + z^2)",
        6,
        [X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Z, Z, Apply(Mul), Apply(Add), Apply(Rsqrt),]
    ),
    function!("erff", 1, 0x3BA8_86C1, "erf x", 2, [X, Apply(Erf)]),
    function!("erfcf", 1, 0x3A69_A091, "1 - erf x", 4, [Whole(1), X, Apply(Erf), Apply(Sub)]),
    function!("atanf", 1, 0x3B20_90AA, "arctan x", 2, [X, Apply(Atan)]),
    function!(
        "asinf",
        1,
        0x3D4D_D2F7,
        "arcsin x = 2 arctan(x/(1 + sqrt(1 - x^2)))",
        2,
        [
            X,
            Whole(1),
            Whole(1),
            X,
            X,
            Apply(Mul),
            Apply(Sub),
            Apply(Sqrt),
            Apply(Add),
            Apply(Div),
            Apply(Atan),
            Whole(2),
            Apply(Mul),
        ]
    ),
    function!(
        "acosf",
        1,
        0x3D10_ECEF,
        "arccos x = 2 arctan 1 - arcsin x",
        2,
        [
            Whole(1),
            Apply(Atan),
            Whole(2),
            Apply(Mul),
            X,
            Whole(1),
            Whole(1),
            X,
            X,
            Apply(Mul),
            Apply(Sub),
            Apply(Sqrt),
            Apply(Add),
            Apply(Div),
            Apply(Atan),
            Whole(2),
            Apply(Mul),
            Apply(Sub),
        ]
    ),
    function!(
        "atan2f",
        2,
        0x3B33_710B,
        "2 arctan(x/(sqrt(x^2 + y^2) + y))",
        3,
        [
            X,
            X,
            X,
            Apply(Mul),
            Y,
            Y,
            Apply(Mul),
            Apply(Add),
            Apply(Sqrt),
            Y,
            Apply(Add),
            Apply(Div),
            Apply(Atan),
            Whole(2),
            Apply(Mul),
        ]
    ),
    function!("cbrtf", 1, 0xBF2A_AAAB, "the cube root of x", 1, [X, Apply(Cbrt)]),
    function!(
        "rcbrtf",
        1,
        0xBEAA_AAAB,
        "1 over the cube root of x",
        1,
        [Whole(1), X, Apply(Cbrt), Apply(Div)]
    ),
    function!("powf", 2, 0x3A2C_32E4, "x^y for positive x", 4, [X, Apply(Log2), Y, Apply(Mul), Apply(Exp2)]),
    function!("sinf", 1, 0x37CB_AC00, "sin x", 2, [X, Apply(Sin)]),
    function!("cosf", 1, 0x37CB_AC00, "cos x", 2, [X, Apply(Cos)]),
    // One reduction of the argument for both, and code of its own for each.
    function!("sincosf" of "sincosf_sine", 1, 0x37CB_AC00, "sin x", 2, [X, Apply(Sin)]),
    function!("sincosf" of "sincosf_cosine", 1, 0x37CB_AC00, "cos x", 2, [X, Apply(Cos)]),
    function!("tanf", 1, 0x3EAA_AA88, "tan x", 4, [X, Apply(Sin), X, Apply(Cos), Apply(Div)]),
    function!(
        "sinpif",
        1,
        0x3E68_4E12,
        "sin(4x arctan 1)",
        2,
        [X, Whole(1), Apply(Atan), Whole(4), Apply(Mul), Apply(Mul), Apply(Sin)]
    ),
    function!(
        "cospif",
        1,
        0x3E68_4E12,
        "cos(4x arctan 1)",
        2,
        [X, Whole(1), Apply(Atan), Whole(4), Apply(Mul), Apply(Mul), Apply(Cos)]
    ),
    function!(
        "rhypotf",
        2,
        0x7E80_0000,
        "1/sqrt(x^2 + y^2)",
        2,
        [X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Apply(Rsqrt)]
    ),
    function!(
        "norm3df",
        3,
        0x7E80_0000,
        "sqrt(x^2 + y^2 + z^2)",
        3,
        [X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Z, Z, Apply(Mul), Apply(Add), Apply(Sqrt)]
    ),
    function!(
        "acoshf",
        1,
        0xBF80_0001,
        "ln(x + sqrt(x^2 - 1))",
        4,
        [X, X, X, Apply(Mul), Whole(1), Apply(Sub), Apply(Sqrt), Apply(Add), Apply(Log2), LN_2, Apply(Mul),]
    ),
    function!(
        "atanhf",
        1,
        0xBD39_BF78,
        "ln((1 + x)/(1 - x))/2",
        3,
        [
            Whole(1),
            X,
            Apply(Add),
            Whole(1),
            X,
            Apply(Sub),
            Apply(Div),
            Apply(Log2),
            LN_2,
            Apply(Mul),
            Whole(2),
            Apply(Div),
        ]
    ),
];

const COUNT: usize = 30;

/// Templates that were made already.
static MADE: [OnceLock<Option<Arc<Template>>>; COUNT] = [const { OnceLock::new() }; COUNT];

/// The sign of an f32.
const SIGN: u32 = 1 << 31;

/// The numbers that mark a function, without their signs.
static MARKS: LazyLock<Arc<FxHashSet<Extended>>> = LazyLock::new(|| {
    Arc::new(FUNCTIONS.iter().filter_map(|function| value(function.mark & !SIGN)).collect())
});

/// The number that bits spell as an f32.
fn value(bits: u32) -> Option<Extended> {
    decode(Format::F32, bits.into()).extended()
}

/// The functions to look for in a kernel: those of which it has the mark. `None` where it has none.
pub fn of(program: &Program) -> Option<Arc<Templates>> {
    templates(program, COUNT).map(Arc::new)
}

/// Of the first functions, those to look for.
fn templates(program: &Program, first: usize) -> Option<Templates> {
    let mut marked = [false; COUNT];
    for inst in &program.insts {
        inst.op.visit_sources(&mut |source| {
            if let Src::Imm(bits) = source {
                for (found, function) in marked.iter_mut().zip(&FUNCTIONS[..first]) {
                    *found |= u64::from(function.mark) == bits;
                }
            }
        });
    }
    let list = (0..first).filter(|at| marked[*at]).filter_map(template).collect::<Vec<_>>();
    (!list.is_empty()).then(|| Templates::new(list, MARKS.clone()))
}

/// The template of a function; `None` where the machine cannot execute it.
fn template(at: usize) -> Option<Arc<Template>> {
    MADE[at].get_or_init(|| made(at).map(Arc::new)).clone()
}

fn made(at: usize) -> Option<Template> {
    let function = &FUNCTIONS[at];
    let parsed = ptx::parse(function.ptx).ok()?;
    let program = program::lower(&parsed, function.ptx, None).ok()?;
    let inner = templates(&program, at).unwrap_or_else(|| Templates::new(Vec::new(), MARKS.clone()));
    let names = ["x", "y", "z"].iter().take(function.operands).map(|name| (*name, Role::In));
    let params: Vec<Param> =
        names.chain([("out", Role::Out)]).map(|(name, role)| tensor(name, role)).collect();
    let side = Side {
        ptx: function.ptx.to_string(),
        path: function.name.to_string(),
        kernel: None,
        arguments: None,
        launch: Launch::default(),
    };
    let options = Options::default();
    let (outcome, _) =
        machine::run(Which::Opt, &program, &side, &params, &options, Some(Arc::new(inner.keeping())));
    let outcome = outcome.ok()?;
    let [output] = outcome.outputs.as_slice() else { return None };
    let OutputValue::Real(root) = output.value else { return None };
    let claim =
        format!("`{}` as compiled: {}, within {} ulp (V7)", function.name, function.real, function.ulps);
    Template::of(&outcome.stores[output.store], root, meaning(function.meaning)?, claim)
}

/// One float.
fn tensor(name: &str, role: Role) -> Param {
    let element = Element::Float(Format::F32);
    Param {
        name: name.to_string(),
        kind: ParamKind::Tensor {
            reference: element,
            opt: element,
            shape: vec![1],
            role,
            contents: Contents::of_role(role),
            sign: Sign::Any,
        },
        binding: Binding::Argument,
    }
}

/// A meaning as pieces.
fn meaning(steps: &[Step]) -> Option<Vec<Piece>> {
    let (mut pieces, mut stack): (Vec<Piece>, Vec<u32>) = (Vec::new(), Vec::new());
    for step in steps {
        let piece = match *step {
            Operand(which) => Piece::Operand(which),
            Whole(number) => {
                let exact = Extended::Finite(Rational::from_integer(number));
                Piece::Number(Constant { exact, literal: None, rounded: None })
            }
            Literal(bits) => {
                let literal = Some((Format::F32, bits.into()));
                Piece::Number(Constant { exact: value(bits)?, literal, rounded: None })
            }
            Apply(op) => {
                let at = stack.len().checked_sub(op.arity())?;
                let mut operands = [0; 3];
                for (operand, own) in operands.iter_mut().zip(stack.drain(at..)) {
                    *operand = own;
                }
                Piece::Apply { op, operands, rounds: 0, digest: 0 }
            }
        };
        stack.push(pieces.len() as u32);
        pieces.push(piece);
    }
    (stack.len() == 1).then_some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_has_a_template() {
        for (at, function) in FUNCTIONS.iter().enumerate() {
            assert!(template(at).is_some(), "{}", function.name);
        }
    }
}
