//! Certificates as text: one line for each term, then a proof for each class of elements.

use crate::number::Number;
use crate::sign::Signs;
use std::collections::HashMap;
use std::str::{FromStr, Lines};

macro_rules! operations {
    ($($op:ident $name:literal $arity:literal $(($demand:ident $at:literal))?;)*) => {
        /// An operation on terms, with the meaning that it has in the verifier's table of operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the names say what they are")]
        pub enum Op { $($op,)* }

        impl Op {
            /// All operations.
            pub const ALL: &[Op] = &[$(Op::$op,)*];
            const NAMES: &[&str] = &[$($name,)*];
            const ARITIES: &[usize] = &[$($arity,)*];
            const DEMANDS: &[&[(Signs, usize)]] = &[$(&[$((Signs::$demand, $at))?],)*];

            /// The name in certificates.
            pub fn name(self) -> &'static str {
                Op::NAMES[self as usize]
            }

            /// The number of operands.
            pub fn arity(self) -> usize {
                Op::ARITIES[self as usize]
            }

            /// The signs that an operand must have, for an operation that is partial (rule V8).
            pub(crate) fn demand(self) -> Option<(Signs, usize)> {
                Op::DEMANDS[self as usize].first().copied()
            }
        }
    };
}

// `copysign` is not among them: it tells zeros of equal numbers apart (rule V7).
operations! {
    Add "add" 2;
    Sub "sub" 2;
    Mul "mul" 2;
    Fma "fma" 3;
    Div "div" 2 (NONZERO 1);
    Neg "neg" 1;
    Abs "abs" 1;
    Max "max" 2;
    Min "min" 2;
    Saturate "sat" 1;
    Exp2 "exp2" 1;
    Log2 "log2" 1 (POSITIVE 0);
    Sqrt "sqrt" 1 (NOT_NEGATIVE 0);
    Rsqrt "rsqrt" 1 (POSITIVE 0);
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
    Gamma "gamma" 1 (POSITIVE 0);
    BesselJ0 "j0" 1;
    BesselJ1 "j1" 1;
    BesselY0 "y0" 1 (POSITIVE 0);
    BesselY1 "y1" 1 (POSITIVE 0);
}

/// A term as it was executed. Operands are numbers of earlier terms; the first ones, as many as the operation has, count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An element of an input.
    Input(u32, u64),
    /// A number.
    Number(Number),
    /// A float literal of the code, with its number of significant binary digits.
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
    /// There is no proof, and why: the elements rest on the verifier alone.
    Open(String),
}

/// Elements that are translations of one another, and what proves that both terms of one of them are equal. With no
/// elements, it proves a pair of terms at which later proofs cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The name of the element that is proved.
    pub name: String,
    /// The number of elements.
    pub elements: u64,
    /// The terms of the reference and of the other kernel.
    pub roots: [u32; 2],
    /// The laws that may be used, by their names in the table.
    pub laws: Vec<String>,
    /// Whether literals are read as irrational numbers (rule V9).
    pub reads: bool,
    /// Pairs of terms, of the reference and of the other kernel, that earlier classes have proved: one unknown number
    /// stands for both.
    pub cuts: Vec<[u32; 2]>,
    /// The cases.
    pub step: Step,
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
}

/// The first line of a certificate.
pub const HEADER: &str = "volta certificate 2";
/// Cases are nested no deeper.
const MAX_DEPTH: usize = 64;

impl FromStr for Certificate {
    type Err = String;

    /// # Errors
    /// The first line that is not as [`Certificate`] is written, and why. Terms are not checked here.
    fn from_str(text: &str) -> Result<Certificate, String> {
        let mut made = Certificate::default();
        Reader::read(text, |reader| {
            if reader.line != HEADER {
                return Err(format!("a certificate begins with `{HEADER}`"));
            }
            while reader.next()? != "end" {
                reader.line(&mut made)?;
            }
            if reader.lines.next().is_some() { Err("lines follow the end".to_string()) } else { Ok(()) }
        })?;
        Ok(made)
    }
}

/// The statements of a table of laws, by the names of the laws: each as a line, with the certificate below it.
pub(crate) fn statements(text: &str) -> Result<HashMap<String, Vec<(String, Certificate)>>, String> {
    let mut all: HashMap<String, Vec<(String, Certificate)>> = HashMap::new();
    let mut law = String::new();
    Reader::read(text, |reader| {
        loop {
            match reader.line.split_once(' ') {
                Some(("law", name)) => law = name.to_string(),
                Some(("is" | "not", _)) => {
                    let statement = (reader.line.to_string(), Certificate::default());
                    all.entry(law.clone()).or_default().push(statement);
                }
                _ => {
                    let last = all.get_mut(&law).and_then(|of| of.last_mut());
                    reader.line(&mut last.ok_or("a table begins with a law")?.1)?;
                }
            }
            if reader.next().is_err() {
                return Ok(());
            }
        }
    })?;
    Ok(all)
}

/// Lines, one of which is looked at.
struct Reader<'t> {
    line: &'t str,
    lines: Lines<'t>,
    at: usize,
}

impl<'t> Reader<'t> {
    fn read(text: &'t str, read: impl FnOnce(&mut Reader<'t>) -> Result<(), String>) -> Result<(), String> {
        let mut lines = text.lines();
        let mut reader = Reader { line: lines.next().unwrap_or(""), lines, at: 1 };
        read(&mut reader).map_err(|why| format!("line {}: {why}", reader.at))
    }

    fn next(&mut self) -> Result<&'t str, String> {
        self.line = self.lines.next().ok_or("the certificate has no end")?;
        self.at += 1;
        Ok(self.line)
    }

    /// Reads what begins at the line, up to its last line.
    fn line(&mut self, made: &mut Certificate) -> Result<(), String> {
        let (word, rest) = self.line.split_once(' ').unwrap_or((self.line, ""));
        match word {
            "case" => made.name = rest.to_string(),
            "input" => {
                let [signs, name] = parts(rest)?;
                let of = ["<", "=", ">", "<=", "<>", "=>", "<=>"];
                if !of.contains(&signs) {
                    return Err(format!("`{signs}` are not the signs that an input has, some of `<=>`"));
                }
                let signs = ['<', '=', '>'].map(|sign| signs.contains(sign));
                made.inputs.push(Input { name: name.to_string(), signs });
            }
            "class" => {
                let [elements, reference, opt, name] = parts(rest)?;
                let (name, elements) = (name.to_string(), read(elements)?);
                let roots = [read(reference)?, read(opt)?];
                let (mut laws, mut reads, mut cuts) = (Vec::new(), false, Vec::new());
                loop {
                    match self.next()?.split_once(' ').unwrap_or((self.line, "")) {
                        ("laws", names) => laws = names.split(' ').map(str::to_string).collect(),
                        ("reads", "") => reads = true,
                        ("cut", pair) => {
                            let [reference, opt] = parts(pair)?;
                            cuts.push([read(reference)?, read(opt)?]);
                        }
                        _ => break,
                    }
                }
                let step = self.step(0)?;
                made.classes.push(Class { name, elements, roots, laws, reads, cuts, step });
            }
            _ => made.nodes.push(node(word, rest)?),
        }
        Ok(())
    }

    fn step(&mut self, depth: usize) -> Result<Step, String> {
        if depth > MAX_DEPTH {
            return Err("cases are nested too deeply".to_string());
        }
        if let Some(why) = self.line.strip_prefix("open ") {
            return Ok(Step::Open(why.to_string()));
        }
        if self.line == "equal" {
            return Ok(Step::Equal);
        }
        let told = || format!("`{}` is not a step of a proof", self.line);
        let [low, high] = parts(self.line.strip_prefix("split ").ok_or_else(told)?)?;
        let operand = |text: &str| match text.strip_prefix('@') {
            Some(at) => Ok::<_, String>(Operand::Term(read(at)?)),
            None => Ok(Operand::Number(read(text)?)),
        };
        let (low, high) = (operand(low)?, operand(high)?);
        let mut arm = || self.next().and_then(|_| self.step(depth + 1));
        Ok(Step::Split(low, high, Box::new([arm()?, arm()?])))
    }
}

/// So many words; the last one may have spaces.
fn parts<const N: usize>(text: &str) -> Result<[&str; N], String> {
    let words: Vec<&str> = text.splitn(N, ' ').collect();
    words.try_into().map_err(|_| format!("{N} words are needed"))
}

fn read<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number here"))
}

fn node(word: &str, rest: &str) -> Result<Node, String> {
    let mut words = rest.split(' ');
    let mut next = || words.next().ok_or("an operand is missing");
    let node = match word {
        "element" => Node::Input(read(next()?)?, read(next()?)?),
        "number" => Node::Number(read(next()?)?),
        "literal" => Node::Literal(read(next()?)?, read(next()?)?),
        "infinity" if matches!(rest, "+" | "-") => Node::Infinity(next()? == "-"),
        _ => {
            let op = Op::ALL.iter().find(|op| op.name() == word);
            let op = *op.ok_or_else(|| format!("`{word}` is not an operation"))?;
            let mut operands = [0; 3];
            for operand in &mut operands[..op.arity()] {
                *operand = read(next()?)?;
            }
            Node::Apply(op, operands)
        }
    };
    if next().is_ok() { Err(format!("`{word}` has fewer operands")) } else { Ok(node) }
}
