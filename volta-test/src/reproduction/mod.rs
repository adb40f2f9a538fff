//! Self-contained programs that reproduce a difference: straight-line code for one element of both kernels at the
//! inputs of its witness (numpy, Rust), and launches of both kernels on a GPU (CUDA).

mod cuda;
mod hardware;
mod launch;

use std::fmt::Write as _;

pub use cuda::cuda;
pub use hardware::{Bundle, RUNNER};
use rustc_hash::FxHashMap;
use volta_core::case::Case as CoreCase;
use volta_core::term::{Store, TermId, TermOp, View, fill};
use volta_core::verdict::{Difference, How};
use volta_interpreter::launch::{spelled, witness_inputs};
use volta_interpreter::values;

use crate::case::Case;
use crate::render::clean_line;

/// No straight-line program is written for more terms than this: it would not be readable.
const MAX_TERMS: usize = 20_000;

/// A language for straight-line programs.
struct Language {
    /// The text before and after a statement.
    statement: [&'static str; 2],
    /// Operations whose syntax differs from that of messages.
    operations: &'static [(TermOp, &'static str)],
}

const PYTHON: Language = Language {
    statement: ["    ", ""],
    operations: &[
        (TermOp::Not, "(not {0})"),
        (TermOp::Less, "({0} < {1})"),
        (TermOp::LessEqual, "({0} <= {1})"),
        (TermOp::Equal, "({0} == {1})"),
        (TermOp::Xor, "({0} != {1})"),
        (TermOp::Select, "({1} if {0} else {2})"),
        (TermOp::Mod, "modulo({0}, {1})"),
        (TermOp::BitAnd, "float(int({0}) & int({1}))"),
    ],
};

const RUST: Language = Language {
    statement: ["    let ", ";"],
    operations: &[
        (TermOp::Not, "!{0}"),
        (TermOp::Less, "({0} < {1})"),
        (TermOp::LessEqual, "({0} <= {1})"),
        (TermOp::Equal, "({0} == {1})"),
        (TermOp::And, "({0} && {1})"),
        (TermOp::Or, "({0} || {1})"),
        (TermOp::Xor, "({0} != {1})"),
        (TermOp::Select, "if {0} { {1} } else { {2} }"),
        (TermOp::Mod, "modulo({0}, {1})"),
        (TermOp::BitAnd, "((({0}) as i64 & ({1}) as i64) as f64)"),
    ],
};

impl Language {
    fn operation(&self, op: TermOp, operands: &[String]) -> String {
        let own = self.operations.iter().find(|(known, _)| *known == op).map(|(_, text)| *text);
        match (op, own) {
            // In Rust the template has braces that are no placeholders, so `fill` cannot be used.
            (TermOp::Select, Some(text)) => {
                let [condition, then, otherwise] = operands else { return String::new() };
                text.replace("{0}", condition).replace("{1}", then).replace("{2}", otherwise)
            }
            (_, own) => fill(own.unwrap_or(op.info().text), operands),
        }
    }

    /// Statements that compute a term, operands first, and the name of the result.
    fn statements(
        &self,
        store: &Store,
        root: TermId,
        input: &dyn Fn(usize, u64) -> String,
    ) -> Result<(String, String), String> {
        let mut names: FxHashMap<TermId, String> = FxHashMap::default();
        let mut text = String::new();
        let mut stack = vec![root];
        while let Some(term) = stack.last().copied() {
            if names.contains_key(&term) {
                stack.pop();
                continue;
            }
            if names.len() > MAX_TERMS || stack.len() > 2 * MAX_TERMS {
                return Err(format!("it has more than {MAX_TERMS} operations"));
            }
            let name = match store.view(term) {
                View::Input { input: which, element } => input(which.index(), element),
                View::Constant(constant) => decimal(values::constant(&constant.exact)?),
                View::Apply(op, operands) => {
                    let operands = &operands[..op.arity()];
                    let open: Vec<TermId> =
                        operands.iter().copied().filter(|operand| !names.contains_key(operand)).collect();
                    if !open.is_empty() {
                        stack.extend(open);
                        continue;
                    }
                    let operands: Vec<String> =
                        operands.iter().map(|operand| names[operand].clone()).collect();
                    let name = format!("t{}", names.len());
                    let [before, behind] = self.statement;
                    let _ = writeln!(text, "{before}{name} = {}{behind}", self.operation(op, &operands));
                    name
                }
            };
            names.insert(term, name);
            stack.pop();
        }
        Ok((text, names[&root].clone()))
    }
}

/// A number in the syntax of both languages; infinities by constants that the programs define.
fn decimal(value: f64) -> String {
    match value {
        f64::INFINITY => "INFINITY".into(),
        f64::NEG_INFINITY => "(-INFINITY)".into(),
        value if value < 0.0 => format!("({value:?})"),
        value => format!("{value:?}"),
    }
}

/// A parameter's name where it is an identifier, otherwise its number.
fn identifier(case: &CoreCase, param: usize) -> String {
    let name = &case.params[param].name;
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain { format!("in_{name}") } else { format!("in_{param}") }
}

/// The text of a program's leading comment.
fn about(case: &Case, element: &str) -> String {
    clean_line(&format!("{}: {element}, at the inputs of the counterexample", case.name))
}

/// The statements of both sides, and the inputs that they read.
fn both_sides(core: &CoreCase, difference: &Difference, language: &Language) -> Result<Sides, String> {
    let How::Values(witness) = &difference.how else {
        return Err("only one kernel writes the element: there is nothing to compute".into());
    };
    let conditions = volta_core::conditions(core).map_err(|verdict| format!("it is {}", verdict.name()))?;
    let element = element_name(core, difference)?;
    let at = (0..conditions.len()).find(|at| conditions.name(*at) == element);
    let Some(found) = at.and_then(|at| conditions.element(at)) else {
        // The element has no terms: both kernels store integers that depend on no input.
        let known = |text: &String| {
            let value = text.parse::<f64>().map_err(|_| format!("`{text}` is not a number"))?;
            Ok::<_, String>((String::new(), decimal(value)))
        };
        let (reference, opt) = (known(&witness.reference)?, known(&witness.opt)?);
        return Ok(Sides { element, reference, opt, read: Vec::new() });
    };
    let inputs = witness_inputs(core, difference)?;
    let read = std::cell::RefCell::new(std::collections::BTreeMap::<(usize, u64), f64>::new());
    let mut sides = Vec::new();
    for (side, (store, term)) in [found.reference, found.opt].into_iter().enumerate() {
        let input = |param: usize, number: u64| {
            let kind = values::elements(&core.params[param])[side];
            let value = inputs[param].at(number).map_or(0.0, |value| value.real(kind));
            read.borrow_mut().insert((param, number), value);
            format!("{}[{number}]", identifier(core, param))
        };
        sides.push(language.statements(store, term, &input)?);
    }
    let read = read.into_inner().into_iter().collect();
    let [reference, opt] = <[_; 2]>::try_from(sides).map_err(|_| "there are two sides")?;
    Ok(Sides { element, reference, opt, read })
}

struct Sides {
    element: String,
    /// The statements of each side, and the name of the result.
    reference: (String, String),
    opt: (String, String),
    /// Elements of inputs, and their values.
    read: Vec<((usize, u64), f64)>,
}

impl Sides {
    /// The inputs that are read, each with its number of elements and its parameter.
    fn tensors(&self, core: &CoreCase) -> Vec<(String, u64, usize)> {
        let mut params: Vec<usize> = self.read.iter().map(|((param, _), _)| *param).collect();
        params.dedup();
        let tensor = |param: usize| (identifier(core, param), values::count(&core.params[param]), param);
        params.into_iter().map(tensor).collect()
    }
}

fn element_name(core: &CoreCase, difference: &Difference) -> Result<String, String> {
    let param = core.params.iter().find(|param| param.name == difference.tensor);
    Ok(spelled(param.ok_or("the difference is in no parameter")?, difference.element))
}

/// A Python script that computes the element as both kernels do, from numpy arrays.
///
/// # Errors
/// Why there is none.
pub fn numpy(case: &Case, core: &CoreCase, difference: &Difference) -> Result<String, String> {
    let sides = both_sides(core, difference, &PYTHON)?;
    let mut text = format!(
        "# {}\n# What both kernels compute, over float64 instead of the reals.\nimport numpy as np\n\n\
         from numpy import exp2, log2, sqrt, sin, cos, tanh, floor, ceil, trunc, round, copysign\n\n\
         INFINITY = np.inf\n\n\n\
         def rsqrt(a):\n    return 1.0 / sqrt(a)\n\n\n\
         def saturate(a):\n    return min(max(a, 0.0), 1.0)\n\n\n\
         def modulo(a, b):\n    return a - b * floor(a / b)\n\n\n",
        about(case, &sides.element)
    );
    for (name, count, _) in sides.tensors(core) {
        let _ = writeln!(text, "{name} = np.zeros({count})");
    }
    for ((param, number), value) in sides.read.iter().filter(|(_, value)| *value != 0.0) {
        let _ = writeln!(text, "{}[{number}] = {}", identifier(core, *param), decimal(*value));
    }
    for (name, (statements, result)) in [("reference", &sides.reference), ("optimized", &sides.opt)] {
        let _ = write!(text, "\n\ndef {name}():\n{statements}    return {result}\n");
    }
    let _ = write!(
        text,
        "\n\na, b = reference(), optimized()\nprint(\"{} is\", a, \"in the reference,\", b, \"in the optimized kernel\")\n\
         assert a != b, \"they do not differ here\"\n",
        clean_line(&sides.element)
    );
    Ok(text)
}

/// A Rust program that computes the element as both kernels do.
///
/// # Errors
/// Why there is none.
pub fn rust(case: &Case, core: &CoreCase, difference: &Difference) -> Result<String, String> {
    let sides = both_sides(core, difference, &RUST)?;
    let tensors = sides.tensors(core);
    let given: Vec<String> = tensors.iter().map(|(name, ..)| format!("{name}: &[f64]")).collect();
    let passed: Vec<String> = tensors.iter().map(|(name, ..)| format!("&{name}")).collect();
    let (given, passed) = (given.join(", "), passed.join(", "));
    let mut text = format!(
        "// {}\n// What both kernels compute, over f64 instead of the reals.\n\
         #![allow(dead_code, unused_parens, unused_variables)]\n\n\
         const INFINITY: f64 = f64::INFINITY;\n\n",
        about(case, &sides.element)
    );
    let functions = [
        ("exp2", "a.exp2()"),
        ("log2", "a.log2()"),
        ("sqrt", "a.sqrt()"),
        ("rsqrt", "1.0 / a.sqrt()"),
        ("sin", "a.sin()"),
        ("cos", "a.cos()"),
        ("tanh", "a.tanh()"),
        ("floor", "a.floor()"),
        ("ceil", "a.ceil()"),
        ("trunc", "a.trunc()"),
        ("round", "a.round_ties_even()"),
        ("abs", "a.abs()"),
        ("saturate", "a.clamp(0.0, 1.0)"),
    ];
    for (name, body) in functions {
        let _ = writeln!(text, "fn {name}(a: f64) -> f64 {{ {body} }}");
    }
    // The first operand of `copysign` gives the sign.
    for (name, body) in [
        ("max", "a.max(b)"),
        ("min", "a.min(b)"),
        ("copysign", "b.copysign(a)"),
        ("modulo", "a - b * (a / b).floor()"),
    ] {
        let _ = writeln!(text, "fn {name}(a: f64, b: f64) -> f64 {{ {body} }}");
    }
    for (name, (statements, result)) in [("reference", &sides.reference), ("optimized", &sides.opt)] {
        let _ = write!(text, "\nfn {name}({given}) -> f64 {{\n{statements}    {result}\n}}\n");
    }
    text += "\nfn main() {\n";
    for (name, count, _) in &tensors {
        let _ = writeln!(text, "    let mut {name} = vec![0.0; {count}];");
    }
    for ((param, number), value) in sides.read.iter().filter(|(_, value)| *value != 0.0) {
        let _ = writeln!(text, "    {}[{number}] = {};", identifier(core, *param), decimal(*value));
    }
    let _ = write!(
        text,
        "    let (a, b) = (reference({passed}), optimized({passed}));\n    \
         println!(\"{} is {{a}} in the reference, {{b}} in the optimized kernel\");\n    \
         assert!(a != b, \"they do not differ here\");\n}}\n",
        clean_line(&sides.element)
    );
    Ok(text)
}
