//! The functions of CUDA's mathematical library that are looked for in kernels (rules V5, V7).
//!
//! A compiler inlines them: `logf` is a dozen operations on the encoding of its argument and a polynomial. What such code
//! computes, rounding included, is the function within a few units in the last place, and nothing else over the reals. So a
//! function is known by its template, the graph of terms that its own PTX gives when the machine executes it; a
//! kernel that contains that graph, all of it, with any terms for operands, computes the function.
//!
//! A row of the table says which real function a template stands for. That it does is measured
//! (`tests/tests/library.rs`) in an interpreter that shares nothing with the machine.

mod double;
mod half;
mod known;
mod single;
mod within;

use crate::base::assumption::Assumption;
use crate::case::{Binding, Contents, Element, Launch, Options, Param, ParamKind, Role, Side, Sign, Which};
use crate::machine::{self, Execution, OutputValue, Outputs, RunError};
use crate::number::format::{Format, decode};
use crate::number::{Extended, Rational};
use crate::program::{self, Program, Src};
use crate::ptx;
use crate::term::{Constant, MAX_OPERANDS, Piece, Template, Templates, TermOp};
use known::Known;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, OnceLock};

/// A step of a meaning, in postfix notation.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// An operand.
    Operand(usize),
    /// A whole number.
    Whole(i64),
    /// A float by its bits: a literal, which rule V9 may read as an irrational constant.
    Literal(Format, u64),
    /// An operation on the last results.
    Apply(TermOp),
}

/// A literal by which a kernel shows that it may hold a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A coefficient that no other code is likely to have, and that the function has in all of its graphs.
    Coefficient(u64),
    /// Bits of an integer or of a float, where what the function computes is known by the encodings in it.
    Bits(u64),
}

impl Mark {
    /// The literal, as instructions hold it.
    fn bits(self) -> u64 {
        match self {
            Mark::Coefficient(bits) | Mark::Bits(bits) => bits,
        }
    }
}

/// What a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// A float of the format of its operands.
    Real,
    /// A signed integer of 32 bits.
    Integer,
}

/// How far a function may be from the real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// In units in the last place.
    pub ulps: u32,
    /// The exponent of a power of two: where that is more, it may be so far.
    pub or_below: Option<i32>,
}

/// A function of the library.
#[derive(Debug)]
pub struct LibraryFunction {
    /// Its name in CUDA.
    pub name: &'static str,
    /// Its PTX, compiled alone: it loads its operands, and stores its result.
    pub ptx: &'static str,
    /// The format of its operands.
    pub format: Format,
    /// How many operands it has.
    pub operands: usize,
    /// What it gives.
    pub gives: Gives,
    /// The literal that says where to look for it.
    pub mark: Mark,
    /// The real function, in words.
    pub real: &'static str,
    /// How far from that it may be.
    pub error: Error,
    /// The real function.
    pub meaning: &'static [Step],
    /// Whether it is a power of any number, within the same error, where its second operand is a whole number.
    pub powers: bool,
}

impl LibraryFunction {
    /// How far from the real function it may be, in words.
    pub fn within(&self) -> String {
        match self.error {
            Error { ulps: 0, .. } => "exactly".to_string(),
            Error { ulps, or_below: None } => format!("within {ulps} ulp"),
            Error { ulps, or_below: Some(exponent) } => format!("within {ulps} ulp or 2^{exponent}"),
        }
    }
}

/// A row: its format, name and file, operands, what it gives, mark, meaning in words, error, and meaning.
macro_rules! function {
    (@exponent) => { None };
    (@exponent $exponent:literal) => { Some($exponent) };
    ($format:ident $name:literal, $($rest:tt)*) => { function!($format $name of $name, $($rest)*) };
    ($format:ident $name:literal of $file:literal, $($rest:tt)*) => {
        function!($format $name of $file gives Real, $($rest)*)
    };
    ($format:ident $name:literal of $file:literal gives $gives:ident, $operands:literal, $mark:expr, $real:literal, $ulps:literal $(or 2^ $exponent:literal)?, [$($step:expr),* $(,)?]) => {
        $crate::library::LibraryFunction {
            name: $name,
            ptx: include_str!(concat!($file, ".ptx")),
            format: $crate::number::format::Format::$format,
            operands: $operands,
            gives: $crate::library::Gives::$gives,
            mark: $mark,
            real: $real,
            error: $crate::library::Error { ulps: $ulps, or_below: function!(@exponent $($exponent)?) },
            meaning: &[$($step),*],
            powers: false,
        }
    };
}
use function;

/// The functions. One that computes with the result of another comes after it; one that does so in the arms of a choice
/// with which the other ends (`log10f`), before.
pub static FUNCTIONS: LazyLock<Vec<&'static LibraryFunction>> =
    LazyLock::new(|| single::FUNCTIONS.iter().chain(double::FUNCTIONS).chain(half::FUNCTIONS).collect());

/// Templates that were made already.
static MADE: LazyLock<Vec<OnceLock<Option<Arc<Template>>>>> =
    LazyLock::new(|| FUNCTIONS.iter().map(|_| OnceLock::new()).collect());

/// The numbers that mark a function, without their signs.
static MARKS: LazyLock<Arc<FxHashSet<Extended>>> = LazyLock::new(|| {
    let marks = FUNCTIONS.iter().filter_map(|function| match function.mark {
        Mark::Coefficient(bits) => {
            let sign = 1 << (8 * function.format.bytes() - 1);
            value(function.format, bits & !sign)
        }
        Mark::Bits(_) => None,
    });
    Arc::new(marks.collect())
});

/// The number that bits spell.
fn value(format: Format, bits: u64) -> Option<Extended> {
    decode(format, bits).extended()
}

/// What operands are called.
const NAMES: [&str; MAX_OPERANDS] = ["x", "y", "z", "w"];

/// Executes a kernel, and looks for functions in it.
pub fn run(
    which: Which,
    program: &Program,
    side: &Side,
    params: &[Param],
    options: &Options,
    outputs: Outputs,
) -> (Result<Execution, RunError>, BTreeSet<Assumption>) {
    let functions = templates(program, FUNCTIONS.len()).map(Arc::new);
    let looked = functions.is_some();
    let ran = machine::run(which, program, side, params, options, functions, outputs);
    // An operand that is known leaves another graph.
    if looked
        && matches!(&ran.0, Err(error) if error.is_type_mismatch())
        && let Some(more) = known::with_known(program, params)
    {
        let again = machine::run(which, program, side, params, options, Some(Arc::new(more)), outputs);
        if again.0.is_ok() {
            return again;
        }
    }
    let (outcome, assumptions) = ran;
    let name = |error| if looked { within::named(error, program, &side.ptx) } else { error };
    (outcome.map_err(name), assumptions)
}

/// Whether a kernel has the mark of a function.
fn marked(program: &Program, function: &LibraryFunction) -> bool {
    let mark = function.mark.bits();
    program.insts.iter().any(|inst| {
        let mut found = false;
        inst.op.visit_sources(&mut |source| found |= source == Src::Imm(mark));
        found
    })
}

/// Of the first functions, those to look for: those of which a kernel has the mark.
fn templates(program: &Program, first: usize) -> Option<Templates> {
    let mut marked = vec![false; first];
    for inst in &program.insts {
        inst.op.visit_sources(&mut |source| {
            if let Src::Imm(bits) = source {
                for (found, function) in marked.iter_mut().zip(&FUNCTIONS[..first]) {
                    *found |= function.mark.bits() == bits;
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
    let function = FUNCTIONS[at];
    let claim = format!("`{}` as compiled: {}, {} (V7)", function.name, function.real, function.within());
    built(at, None, meaning(function.meaning)?, claim)
}

/// The template of a function, one of whose operands may be known.
fn built(at: usize, known: Option<Known>, meaning: Vec<Piece>, claim: String) -> Option<Template> {
    let function = FUNCTIONS[at];
    let parsed = ptx::parse(function.ptx).ok()?;
    let program = program::lower(&parsed, function.ptx, None).ok()?;
    let inner = templates(&program, at).unwrap_or_else(|| Templates::new(Vec::new(), MARKS.clone()));
    let inner = if known.is_some() { inner.spelling() } else { inner };
    let operand = Element::Float(function.format);
    let result = match function.gives {
        Gives::Real => operand,
        Gives::Integer => Element::Int { bytes: 4, signed: true },
    };
    let names = NAMES.iter().enumerate().take(function.operands);
    let mut params = Vec::with_capacity(function.operands + 1);
    for (which, name) in names {
        let contents = match known.filter(|known| known.operand == which) {
            Some(known) => Contents::Fill(value(function.format, known.bits)?),
            None => Contents::Symbolic,
        };
        params.push(tensor(name, Role::In, contents, operand));
    }
    params.push(tensor("out", Role::Out, Contents::Undefined, result));
    let side = Side {
        ptx: function.ptx.to_string(),
        path: function.name.to_string(),
        kernel: None,
        arguments: None,
        launch: Launch::default(),
    };
    let options = Options::default();
    let functions = Some(Arc::new(inner.keeping()));
    let (outcome, _) =
        machine::run(Which::Opt, &program, &side, &params, &options, functions, Outputs::Compared);
    let outcome = outcome.ok()?;
    let [output] = outcome.outputs.as_slice() else { return None };
    let root = match output.value {
        OutputValue::Real(root) | OutputValue::Integer(root) => root,
        OutputValue::Bits(_) => return None,
    };
    let store = &outcome.stores[output.store];
    // What is left of a function may be arithmetic that means what it says.
    if known.is_some() && !store.is_unexplained(root) {
        return None;
    }
    Template::of(store, root, meaning, function.name, claim)
}

/// One element.
fn tensor(name: &str, role: Role, contents: Contents, element: Element) -> Param {
    Param {
        name: name.to_string(),
        kind: ParamKind::Tensor {
            reference: element,
            opt: element,
            shape: vec![1],
            role,
            contents,
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
            Step::Operand(which) => Piece::Operand(which),
            Step::Whole(number) => {
                let exact = Extended::Finite(Rational::from_integer(number));
                Piece::Number(Constant { exact, literal: None, rounded: None })
            }
            Step::Literal(format, bits) => {
                let exact = value(format, bits)?;
                Piece::Number(Constant { exact, literal: Some((format, bits)), rounded: None })
            }
            Step::Apply(op) => {
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
        let all = FUNCTIONS.iter().enumerate();
        let lacking: Vec<&str> =
            all.filter(|(at, _)| template(*at).is_none()).map(|(_, function)| function.name).collect();
        assert_eq!(lacking, Vec::<&str>::new());
    }
}
