//! Certificates as text: one line for each term, then a proof for each class of elements.

use crate::number::Number;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::str::FromStr;

/// What an operand must be, for an operation that is partial (rule V8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    Nonzero,
    NotNegative,
    Positive,
}

macro_rules! operations {
    ($($op:ident $name:literal $arity:literal $(($demand:ident $at:literal))?;)*) => {
        /// An operation on terms, with the meaning that it has in the verifier's table of operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the names say what they are")]
        pub enum Op { $($op,)* }

        impl Op {
            /// All operations.
            pub const ALL: &[Op] = &[$(Op::$op,)*];

            /// The name in certificates.
            pub fn name(self) -> &'static str {
                match self { $(Op::$op => $name,)* }
            }

            /// The number of operands.
            pub fn arity(self) -> usize {
                match self { $(Op::$op => $arity,)* }
            }

            /// What one of the operands must be.
            pub(crate) fn demand(self) -> Option<(Demand, usize)> {
                match self { $(Op::$op => operations!(@ $($demand $at)?),)* }
            }
        }
    };
    (@) => { None };
    (@ $demand:ident $at:literal) => { Some((Demand::$demand, $at)) };
}

// `copysign` is not among them: it tells zeros of equal numbers apart (rule V7).
operations! {
    Add "add" 2;
    Sub "sub" 2;
    Mul "mul" 2;
    Fma "fma" 3;
    Div "div" 2 (Nonzero 1);
    Neg "neg" 1;
    Abs "abs" 1;
    Max "max" 2;
    Min "min" 2;
    Saturate "sat" 1;
    Exp2 "exp2" 1;
    Log2 "log2" 1 (Positive 0);
    Sqrt "sqrt" 1 (NotNegative 0);
    Rsqrt "rsqrt" 1 (Positive 0);
    Sin "sin" 1;
    Cos "cos" 1;
    Tanh "tanh" 1;
    Floor "floor" 1;
    Ceil "ceil" 1;
    Trunc "trunc" 1;
    RoundEven "round" 1;
    Less "less" 2;
    LessEqual "lessequal" 2;
    Equal "equal" 2;
    Not "not" 1;
    And "and" 2;
    Or "or" 2;
    Xor "xor" 2;
    Select "select" 3;
    Mod "mod" 2;
    BitAnd "bitand" 2;
    Erf "erf" 1;
    Atan "atan" 1;
    Cbrt "cbrt" 1;
    Gamma "gamma" 1 (Positive 0);
    BesselJ0 "j0" 1;
    BesselJ1 "j1" 1;
    BesselY0 "y0" 1 (Positive 0);
    BesselY1 "y1" 1 (Positive 0);
}

/// A term as it was executed. Operands are numbers of earlier terms; the first ones, as many as the operation has, count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An element of an input.
    Input(u32, u64),
    /// A number.
    Number(Number),
    /// A float literal of the code, with its number of significant binary digits: rule V9 reads some as irrational.
    Literal(u32, Number),
    /// `+∞`, or `−∞` if true.
    Infinity(bool),
    /// An operation.
    Apply(Op, [u32; 3]),
}

/// An input, as the case declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Which signs its elements may have: below, at and above zero.
    pub signs: [bool; 3],
}

/// A literal that is read as a multiple of log₂ e, or of its reciprocal (V9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The literal's value.
    pub literal: Number,
    /// What it is a multiple of: log₂ e, or ln 2 if true.
    pub reciprocal: bool,
    /// The factor.
    pub factor: Number,
}

/// A term of the certificate, or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A term, by its number.
    Term(u32),
    /// A number.
    Number(Number),
}

/// A proof, from its cases downwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The forms of both terms are equal.
    Equal,
    /// Two cases: the first number is below the second one, or it is not.
    Split(Operand, Operand, Box<[Step; 2]>),
}

/// What proves that two terms are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The laws that may be used, by their names in the table.
    pub laws: Vec<String>,
    /// How literals are read.
    pub readings: Vec<Reading>,
    /// Pairs of terms, of the reference and of the other kernel, that earlier classes have proved: one unknown number
    /// stands for both.
    pub cuts: Vec<[u32; 2]>,
    /// The cases.
    pub step: Step,
}

/// Elements that are translations of one another, and the proof for one of them. With no elements, it proves a pair of terms
/// at which later proofs cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The name of the element that is proved.
    pub name: String,
    /// The number of elements.
    pub elements: u64,
    /// The terms of the reference and of the other kernel.
    pub roots: [u32; 2],
    /// The proof.
    pub proof: Proof,
}

/// Elements without a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The name of one of them.
    pub name: String,
    /// Their number.
    pub elements: u64,
    /// The terms of that element, of the reference and of the other kernel, if they are written down.
    pub roots: Option<[u32; 2]>,
    /// What their proofs rest on instead.
    pub why: String,
}

/// What was proved of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// The case.
    pub name: String,
    /// The inputs, by number.
    pub inputs: Vec<Input>,
    /// The terms of all classes.
    pub nodes: Vec<Node>,
    /// The classes.
    pub classes: Vec<Class>,
    /// What was proved and has no certificate.
    pub open: Vec<Open>,
}

const HEADER: &str = "volta certificate 1";
/// Cases are nested no deeper.
const MAX_DEPTH: usize = 64;

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}\ncase {}", line(&self.name))?;
        for Input { name, signs } in &self.inputs {
            let signs: String =
                "<=>".chars().zip(signs).filter(|(_, has)| **has).map(|(sign, _)| sign).collect();
            writeln!(f, "input {signs} {}", line(name))?;
        }
        for node in &self.nodes {
            match node {
                Node::Input(input, element) => writeln!(f, "element {input} {element}")?,
                Node::Number(number) => writeln!(f, "number {number}")?,
                Node::Literal(digits, number) => writeln!(f, "literal {digits} {number}")?,
                Node::Infinity(negative) => writeln!(f, "infinity {}", if *negative { "-" } else { "+" })?,
                Node::Apply(op, operands) => {
                    f.write_str(op.name())?;
                    operands[..op.arity()].iter().try_for_each(|at| write!(f, " {at}"))?;
                    f.write_char('\n')?;
                }
            }
        }
        for Class { name, elements, roots: [reference, opt], proof } in &self.classes {
            writeln!(f, "class {elements} {reference} {opt} {}", line(name))?;
            if !proof.laws.is_empty() {
                writeln!(f, "laws {}", proof.laws.join(" "))?;
            }
            for Reading { literal, reciprocal, factor } in &proof.readings {
                let of = if *reciprocal { "ln(2)" } else { "log2(e)" };
                writeln!(f, "read {literal} {factor} {of}")?;
            }
            for [reference, opt] in &proof.cuts {
                writeln!(f, "cut {reference} {opt}")?;
            }
            write_step(&proof.step, f)?;
        }
        for Open { name, elements, roots, why } in &self.open {
            let roots = roots.map_or("- -".to_string(), |[reference, opt]| format!("{reference} {opt}"));
            writeln!(f, "open {elements} {roots} {} {}", line(name).replace(' ', "_"), line(why))?;
        }
        f.write_str("end\n")
    }
}

fn line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

fn write_step(step: &Step, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let operand = |operand: &Operand| match operand {
        Operand::Term(at) => format!("@{at}"),
        Operand::Number(number) => number.to_string(),
    };
    match step {
        Step::Equal => f.write_str("equal\n"),
        Step::Split(low, high, arms) => {
            writeln!(f, "split {} {}", operand(low), operand(high))?;
            arms.iter().try_for_each(|arm| write_step(arm, f))
        }
    }
}

/// The lines of a text that are not read yet.
struct Reader<'t> {
    lines: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'t>>>,
}

impl FromStr for Certificate {
    type Err = String;

    /// # Errors
    /// The first line that is not as [`Certificate`] is written, and why. Terms are not checked here.
    fn from_str(text: &str) -> Result<Certificate, String> {
        let mut reader = Reader { lines: text.lines().enumerate().peekable() };
        if reader.next()?.1 != HEADER {
            return Err(format!("line 1: a certificate begins with `{HEADER}`"));
        }
        let mut made = Certificate::default();
        loop {
            let (at, line) = reader.next()?;
            if line == "end" {
                return match reader.lines.next() {
                    None => Ok(made),
                    Some((at, _)) => Err(format!("line {}: it follows the end", at + 1)),
                };
            }
            reader.line(line, &mut made).map_err(|why| format!("line {}: {why}", at + 1))?;
        }
    }
}

/// The statements of a table of laws, by the names of the laws: each as a line, with the certificate below it.
pub(crate) fn statements(text: &str) -> Result<HashMap<String, Vec<(String, Certificate)>>, String> {
    let mut reader = Reader { lines: text.lines().enumerate().peekable() };
    let mut all: HashMap<String, Vec<(String, Certificate)>> = HashMap::new();
    let mut law = String::new();
    while let Some((at, line)) = reader.lines.next() {
        match line.split_once(' ') {
            Some(("law", name)) => law = name.to_string(),
            Some(("is" | "not", _)) => {
                all.entry(law.clone()).or_default().push((line.to_string(), Certificate::default()));
            }
            _ => {
                let last =
                    all.get_mut(&law).and_then(|of| of.last_mut()).ok_or("a table begins with a law")?;
                reader.line(line, &mut last.1).map_err(|why| format!("line {}: {why}", at + 1))?;
            }
        }
    }
    Ok(all)
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(usize, &'t str), String> {
        self.lines.next().ok_or_else(|| "the certificate has no end".to_string())
    }

    fn line(&mut self, line: &str, made: &mut Certificate) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "case" => made.name = rest.to_string(),
            "input" => {
                let (signs, name) = rest.split_once(' ').ok_or("an input has signs and a name")?;
                let signs = ['<', '=', '>'].map(|sign| signs.contains(sign));
                made.inputs.push(Input { name: name.to_string(), signs });
            }
            "class" => {
                let [elements, reference, opt, name] = parts(rest, 4)?;
                let proof = self.proof()?;
                made.classes.push(Class {
                    name: name.to_string(),
                    elements: read(elements)?,
                    roots: [read(reference)?, read(opt)?],
                    proof,
                });
            }
            "open" => {
                let [elements, reference, opt, name, why] = parts(rest, 5)?;
                let roots = if reference == "-" { None } else { Some([read(reference)?, read(opt)?]) };
                let (name, why) = (name.to_string(), why.to_string());
                made.open.push(Open { name, elements: read(elements)?, roots, why });
            }
            _ => made.nodes.push(node(word, rest)?),
        }
        Ok(())
    }

    fn proof(&mut self) -> Result<Proof, String> {
        let mut proof = Proof { laws: Vec::new(), readings: Vec::new(), cuts: Vec::new(), step: Step::Equal };
        while let Some((_, line)) = self.lines.peek() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "laws" => proof.laws = rest.split(' ').map(str::to_string).collect(),
                "read" => {
                    let [literal, factor, of] = parts(rest, 3)?;
                    let reciprocal = match of {
                        "ln(2)" => true,
                        "log2(e)" => false,
                        _ => return Err(format!("`{of}` is not what a literal is read as")),
                    };
                    proof.readings.push(Reading {
                        literal: read(literal)?,
                        reciprocal,
                        factor: read(factor)?,
                    });
                }
                "cut" => {
                    let [reference, opt] = parts(rest, 2)?;
                    proof.cuts.push([read(reference)?, read(opt)?]);
                }
                _ => break,
            }
            self.lines.next();
        }
        proof.step = self.step(0)?;
        Ok(proof)
    }

    fn step(&mut self, depth: usize) -> Result<Step, String> {
        if depth > MAX_DEPTH {
            return Err("cases are nested too deeply".to_string());
        }
        let (_, line) = self.next()?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "equal" => Ok(Step::Equal),
            "split" => {
                let [low, high] = parts(rest, 2)?;
                let arms = [self.step(depth + 1)?, self.step(depth + 1)?];
                Ok(Step::Split(operand(low)?, operand(high)?, Box::new(arms)))
            }
            _ => Err(format!("`{word}` is not a step of a proof")),
        }
    }
}

fn parts<const N: usize>(text: &str, count: usize) -> Result<[&str; N], String> {
    let words: Vec<&str> = text.splitn(count, ' ').collect();
    words.try_into().map_err(|_| format!("{count} words are needed"))
}

fn read<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number here"))
}

fn operand(text: &str) -> Result<Operand, String> {
    match text.strip_prefix('@') {
        Some(at) => Ok(Operand::Term(read(at)?)),
        None => Ok(Operand::Number(read(text)?)),
    }
}

fn node(word: &str, rest: &str) -> Result<Node, String> {
    match word {
        "element" => {
            let [input, element] = parts(rest, 2)?;
            Ok(Node::Input(read(input)?, read(element)?))
        }
        "number" => Ok(Node::Number(read(rest)?)),
        "literal" => {
            let [digits, value] = parts(rest, 2)?;
            Ok(Node::Literal(read(digits)?, read(value)?))
        }
        "infinity" if rest == "+" || rest == "-" => Ok(Node::Infinity(rest == "-")),
        _ => {
            let op = Op::ALL.iter().copied().find(|op| op.name() == word);
            let op = op.ok_or_else(|| format!("`{word}` is not an operation"))?;
            let words: Vec<u32> = rest.split(' ').map(read).collect::<Result<_, _>>()?;
            let &[first, ..] = words.as_slice() else { return Err("an operand is missing".to_string()) };
            if words.len() != op.arity() {
                return Err(format!("`{word}` has {} operands", op.arity()));
            }
            let operand = |at: usize| words.get(at).copied().unwrap_or(first);
            Ok(Node::Apply(op, [operand(0), operand(1), operand(2)]))
        }
    }
}
