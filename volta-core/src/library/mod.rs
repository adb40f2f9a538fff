//! Recognition of the functions of CUDA's mathematical library in kernels (rules V5, V7).
//!
//! A compiler inlines them: `logf` becomes a dozen operations on the encoding of its argument and a polynomial. Such
//! code, rounding included, computes the function within a few units in the last place, but is no exact function of
//! reals. So a function is recognized by its template, the graph of terms that its own PTX gives when the machine
//! executes it; a kernel that contains this entire graph, with any terms for operands, computes the function.
//!
//! A row of the table states the real function of a template. The statement is tested by measurement
//! (`tests/tests/library.rs`) in an interpreter that shares no code with the machine.

mod double;
mod half;
mod known;
mod points;
mod single;
mod variations;
mod within;

use crate::base::assumption::Assumption;
use crate::case::{
    Assumed, Binding, Claim, Contents, Element, KernelLaunch, Launch, Options, Param, ParamKind, Role, Which,
};
use crate::launch::Job;
use crate::machine::{self, Execution, KnownFloats, Recognition, RunError};
use crate::number::format::{Format, decode};
use crate::number::{Extended, Rational};
use crate::program::{self, Program, Src};
use crate::ptx;
/// The error bound of a function.
pub use crate::term::Nearness as Error;
use crate::term::{Constant, MAX_OPERANDS, Piece, Template, Templates, TermOp, encoding};
use known::Known;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, OnceLock};

/// A step of a function's meaning, in postfix notation.
#[derive(Clone, Copy, Debug)]
pub enum Postfix {
    /// An operand.
    Operand(usize),
    /// An integer.
    Whole(i64),
    /// A float by its bits: a literal, which rule V9 may read as an irrational constant.
    Literal(Format, u64),
    /// An operation on the last results.
    Apply(TermOp),
}

/// A literal whose occurrence shows that a kernel may contain a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A coefficient that is unlikely in other code and that all graphs of the function contain.
    Coefficient(u64),
    /// Bits of an integer or a float, for functions whose graphs are found by the encodings in them.
    Bits(u64),
}

impl Mark {
    /// The literal, as an immediate of instructions.
    fn bits(self) -> u64 {
        match self {
            Mark::Coefficient(bits) | Mark::Bits(bits) => bits,
        }
    }
}

/// The type of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// A float of the format of its operands.
    Real,
    /// A signed integer of 32 bits.
    Integer,
}

/// The largest error of a function that was measured on a GPU.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The function.
    pub name: &'static str,
    /// The error, in thousandths of the spacing of f32 at the exact value, rounded up.
    pub thousandths: u32,
    /// The bits of the argument, where they are known.
    pub at: Option<u32>,
}

/// What an H200 (sm_90) gave in November 2026: functions of one f32 on all 2^32 of them, `powf` on as many random pairs.
/// The approximate instructions of hardware are worse than those of the interpreter, so that no test that runs in it
/// can replace these figures.
pub const MEASURED: [Measured; 10] = [
    Measured { name: "log10f", thousandths: 2_085, at: Some(0x3eac_e8fc) },
    Measured { name: "logf", thousandths: 864, at: None },
    Measured { name: "expm1f", thousandths: 1_355, at: Some(0x3eb1_a737) },
    Measured { name: "sinhf", thousandths: 2_939, at: None },
    Measured { name: "coshf", thousandths: 2_332, at: Some(0xc0dc_da96) },
    Measured { name: "erfcf", thousandths: 4_487, at: Some(0x402d_eeee) },
    Measured { name: "powf", thousandths: 2_090, at: None },
    Measured { name: "tanf", thousandths: 3_096, at: None },
    Measured { name: "acoshf", thousandths: 2_097, at: None },
    Measured { name: "atanhf", thousandths: 3_150, at: Some(0xbbfe_303f) },
];

/// A function of the library.
#[derive(Debug)]
pub struct LibraryFunction {
    /// Its name in CUDA.
    pub name: &'static str,
    /// Its PTX, compiled alone: it loads its operands, and stores its result. For targets before sm_100, and from
    /// sm_100 on.
    dialects: [&'static str; 2],
    /// The name of these files.
    file: &'static str,
    /// The format of its operands.
    pub format: Format,
    /// The number of its operands.
    pub operands: usize,
    /// The type of its result.
    pub gives: Gives,
    /// The literal that marks kernels which may contain it.
    pub mark: Mark,
    /// The real function, in words.
    pub real: &'static str,
    /// The error bound: that of CUDA's documentation or, where hardware exceeds it, the [measured](MEASURED) one rounded up.
    pub error: Error,
    /// The real function, as steps.
    pub meaning: &'static [Postfix],
    /// Whether it is a power, within the same error, of any number, negative ones included, if its second operand
    /// is an integer.
    pub powers: bool,
}

impl LibraryFunction {
    /// Its PTX as compiled alone: with the flags that change its graph, and in both dialects, that before sm_100
    /// last. A graph may contain that of an earlier code, as the dialects of `asinf` differ in a final choice.
    pub fn codes(&self) -> impl DoubleEndedIterator<Item = &'static str> {
        let others = variations::OTHERS.iter().filter(|(_, file, _)| *file == self.file);
        others.map(|(_, _, code)| *code).chain(self.dialects.into_iter().rev())
    }

    /// The element type of its result.
    pub fn result(&self) -> Element {
        match self.gives {
            Gives::Real => Element::Float(self.format),
            Gives::Integer => Element::Int { bytes: 4, signed: true },
        }
    }

    /// The name of its files, and of the kernel in them without `of_`.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The error bound in words.
    pub fn within(&self) -> String {
        match self.error {
            Error { ulps: 0, .. } => "exactly".to_string(),
            Error { ulps, or_below: None } => format!("within {ulps} ulp"),
            Error { ulps, or_below: Some(exponent) } => format!("within {ulps} ulp or 2^{exponent}"),
        }
    }
}

/// A row: format, name and file, number of operands, type of the result, mark, meaning in words, error, and meaning.
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
            dialects: [
                include_str!(concat!("sm_80/", $file, ".ptx")),
                include_str!(concat!("sm_100/", $file, ".ptx")),
            ],
            file: $file,
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

/// The functions. One that computes with the result of another comes after it; one that computes in the arms of the
/// final choice of another (`log10f`) comes before it.
pub static FUNCTIONS: LazyLock<Vec<&'static LibraryFunction>> =
    LazyLock::new(|| single::FUNCTIONS.iter().chain(double::FUNCTIONS).chain(half::FUNCTIONS).collect());

/// The template of a code, made on demand.
type Made = OnceLock<Option<Arc<Template>>>;

/// The templates made so far: for each function, those of its codes.
static MADE: LazyLock<Vec<Vec<Made>>> = LazyLock::new(|| {
    FUNCTIONS.iter().map(|function| function.codes().map(|_| OnceLock::new()).collect()).collect()
});

/// The functions that each mark may stand for, in order.
static MARKED: LazyLock<FxHashMap<u64, Vec<usize>>> = LazyLock::new(|| {
    let mut marked: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (at, function) in FUNCTIONS.iter().enumerate() {
        marked.entry(function.mark.bits()).or_default().push(at);
    }
    marked
});

/// The numbers that mark a function, without sign.
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

/// Whether a number, up to its sign, is one that marks a function.
pub(crate) fn is_mark(value: f64) -> bool {
    let common = value.fract() == 0.0 || !value.is_finite();
    let formats = [Format::F16, Format::Bf16, Format::F32, Format::F64];
    !common
        && formats.iter().any(|format| {
            [value, -value]
                .into_iter()
                .any(|value| encoding(*format, value).is_some_and(|bits| MARKED.contains_key(&bits)))
        })
}

/// The number that bits encode.
fn value(format: Format, bits: u64) -> Option<Extended> {
    decode(format, bits).extended()
}

/// The names of operands.
const NAMES: [&str; MAX_OPERANDS] = ["x", "y", "z", "w"];

/// Executes a launch with recognition of functions.
pub fn run(job: &Job<'_>) -> (Result<Execution, RunError>, BTreeSet<Assumption>) {
    let Job { program, params, outputs, .. } = *job;
    // Its code is executed like any other.
    if job.options.ieee {
        return machine::run(job, Recognition::default());
    }
    let marked = marked_first(program, FUNCTIONS.len());
    let recognition = recognition_of(program, &marked);
    let looked = recognition.functions.is_some();
    let mut ran = machine::run(job, recognition.clone());
    // A known operand changes the graph.
    if looked
        && matches!(&ran.0, Err(error) if error.is_type_mismatch())
        && let Some(more) = known::with_known(program, params)
    {
        let again = machine::run(job, Recognition { functions: Some(Arc::new(more)), ..recognition.clone() });
        if again.0.is_ok() {
            ran = again;
        }
    }
    // A call of which all operands are known has no graph.
    if let Some(decided) = points::are_met(&ran.0, looked, outputs) {
        let more = known::with_known(program, params).map(Arc::new);
        let functions = more.or_else(|| recognition.functions.clone());
        let options = Options { first_fault_only: true, ..job.options.clone() };
        let job = Job { options: &options, ..job.clone() };
        for given in points::kept(params) {
            let known = KnownFloats::Terms { given: *given, decided };
            let functions = functions.clone();
            let again = machine::run(&job, Recognition { functions, known, ..recognition.clone() });
            if again.0.is_ok() {
                ran = again;
                break;
            }
        }
        points::approximates(&mut ran.0, &marked);
    }
    let (outcome, assumptions) = ran;
    let name = |error| if looked { within::named(error, program, &job.kernel.ptx) } else { error };
    (outcome.map_err(name), assumptions)
}

/// What is recognised in a kernel, before anything is known of operands.
pub(crate) fn recognition(program: &Program) -> Recognition {
    recognition_of(program, &marked_first(program, FUNCTIONS.len()))
}

fn recognition_of(program: &Program, marked: &[usize]) -> Recognition {
    let functions = templates(marked).map(Arc::new);
    let coefficients = Arc::new(points::coefficients(program, marked));
    Recognition { functions, coefficients, ..Recognition::default() }
}

/// The templates of some functions; `None` if there are none.
fn templates(marked: &[usize]) -> Option<Templates> {
    let list = marked.iter().copied().flat_map(templates_of).collect::<Vec<_>>();
    (!list.is_empty()).then(|| Templates::new(list, MARKS.clone()))
}

/// Those of the first functions whose mark a kernel contains.
fn marked_first(program: &Program, first: usize) -> Vec<usize> {
    let mut marked = BTreeSet::new();
    for inst in &program.insts {
        inst.op.visit_sources(&mut |source| {
            if let Src::Imm(bits) = source {
                marked.extend(MARKED.get(&bits).into_iter().flatten().filter(|at| **at < first));
            }
        });
    }
    marked.into_iter().collect()
}

/// The templates of a function: one for each of its codes that the machine can execute and that contains no earlier
/// one.
fn templates_of(at: usize) -> Vec<Arc<Template>> {
    (0..MADE[at].len()).filter_map(|which| template(at, which)).collect()
}

/// The template of one code of a function; `None` if the machine cannot execute it, or recognizes an earlier one in it.
fn template(at: usize, which: usize) -> Option<Arc<Template>> {
    MADE[at][which].get_or_init(|| made(at, which).map(Arc::new)).clone()
}

fn made(at: usize, which: usize) -> Option<Template> {
    let function = FUNCTIONS[at];
    let claim = format!("`{}` as compiled: {}, {} (V7)", function.name, function.real, function.within());
    let earlier: Vec<Arc<Template>> = (0..which).filter_map(|earlier| template(at, earlier)).collect();
    built(at, function.codes().nth(which)?, &earlier, None, meaning(function.meaning)?, claim)
}

/// Makes the template of a code of a function, with one operand known or none.
fn built(
    at: usize,
    code: &str,
    earlier: &[Arc<Template>],
    known: Option<Known>,
    meaning: Vec<Piece>,
    claim: String,
) -> Option<Template> {
    let function = FUNCTIONS[at];
    let parsed = ptx::parse(code).ok()?;
    let program = program::lower(&parsed, code, None).ok()?;
    let mut list: Vec<Arc<Template>> =
        marked_first(&program, at).into_iter().flat_map(templates_of).collect();
    list.extend_from_slice(earlier);
    let inner = Templates::new(list, MARKS.clone());
    let inner = if known.is_some() { inner.spelling() } else { inner };
    let recognition = Recognition { functions: Some(Arc::new(inner.keeping())), ..Recognition::default() };
    let outcome = executed(function, (code, &program), known, recognition, &Options::default())?;
    let [output] = outcome.outputs.as_slice() else { return None };
    let root = output.value.term()?;
    let store = &outcome.stores[output.store];
    // With a known operand, the rest may be plain arithmetic, which needs no template.
    if known.is_some() && !store.is_unexplained(root) {
        return None;
    }
    // The whole graph may be that of an earlier code.
    if store.is_put_in_place(root) {
        return None;
    }
    Template::of(store, root, meaning, function.name, claim)
}

/// What the codes of a function compute in IEEE arithmetic; its operands are parameters of one element each.
pub(crate) fn in_ieee_arithmetic(function: &LibraryFunction) -> Vec<Execution> {
    let mut options = Options { ieee: true, ..Options::default() };
    options.rules.claim = Claim::Finite;
    let run = |code: &str| {
        let program = program::lower(&ptx::parse(code).ok()?, code, None).ok()?;
        executed(function, (code, &program), None, Recognition::default(), &options)
    };
    function.codes().filter_map(run).collect()
}

/// Executes a code of a function, with one operand known or none.
fn executed(
    function: &LibraryFunction,
    (code, program): (&str, &Program),
    known: Option<Known>,
    recognition: Recognition,
    options: &Options,
) -> Option<Execution> {
    let operand = Element::Float(function.format);
    let result = function.result();
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
    let kernel = KernelLaunch {
        ptx: code.to_string(),
        path: function.name.to_string(),
        kernel: None,
        arguments: None,
        launch: Launch::default(),
    };
    let job = Job::only(Which::Opt, (program, &kernel), &params, options);
    machine::run(&job, recognition).0.ok()
}

/// A tensor with one element.
fn tensor(name: &str, role: Role, contents: Contents, element: Element) -> Param {
    Param::new(
        name,
        ParamKind::Tensor {
            reference: element,
            opt: element,
            shape: vec![1],
            role,
            contents,
            assumed: Assumed::default(),
        },
        Binding::Argument,
    )
}

/// Converts a meaning to pieces.
fn meaning(steps: &[Postfix]) -> Option<Vec<Piece>> {
    let (mut pieces, mut stack): (Vec<Piece>, Vec<u32>) = (Vec::new(), Vec::new());
    for step in steps {
        let piece = match *step {
            Postfix::Operand(which) => Piece::Operand(which),
            Postfix::Whole(number) => {
                let exact = Extended::Finite(Rational::from_integer(number));
                Piece::Number(Constant { exact, literal: None, rounded: None })
            }
            Postfix::Literal(format, bits) => {
                let exact = value(format, bits)?;
                Piece::Number(Constant { exact, literal: Some((format, bits)), rounded: None })
            }
            Postfix::Apply(op) => {
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
