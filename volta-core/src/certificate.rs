//! Certificates of equality: the terms of each class of elements, and proofs that a checker replays which knows nothing of
//! [`crate::algebra`].
//!
//! The proofs are searched here, by means of the checker's own forms: laws that apply, readings of literals, cut
//! points and cases. Where none is found, the certificate says so; the verdict does not depend on it.

mod search;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use volta_certificate::{ALL, Certificate, Checker, Class, Input, Laws, Node, Number, Op, Step, Table};

use self::search::Search;
pub use self::text::Text;
use crate::conditions::Conditions;
use crate::decide::{self, InputInfo};
use crate::number::{Extended, format};
use crate::term::{Sign, Store, TermId, TermOp, View};

/// The steps of the checker for one class.
pub const STEPS: u64 = 1 << 24;
/// The steps of the search for the classes of a certificate together, after which the rest is left open.
const ALL_STEPS: u64 = 1 << 23;
/// The steps of the search for the cases of a law.
const STEPS_OF_A_LAW: u64 = 1 << 20;
/// A certificate has no more terms.
const MAX_NODES: usize = 1 << 20;
/// More names of classes that are left open are only counted.
const MAX_OPEN: usize = 16;

/// Elements that are to be proved by one proof: their name and number, and the terms of one of them.
type Wanted = (String, u64, [u32; 2]);

/// Searches a certificate of an equivalent case.
pub fn certificate(conditions: &Conditions, name: &str) -> Certificate {
    let mut made = Writer::new(name, conditions.inputs.iter().map(input).collect());
    let (elements, positions) = conditions.to_decide();
    let firsts = decide::firsts(&elements, &conditions.options);
    let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
    for first in firsts {
        *sizes.entry(first).or_default() += 1;
    }
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut open: Vec<Class> = Vec::new();
    for (at, count) in sizes {
        let (name, element) = (conditions.name(positions[at]), &elements[at]);
        let sides = [element.reference, element.opt].map(|(store, term)| made.term(store, term));
        match sides {
            [Ok(reference), Ok(opt)] => wanted.push((name, count, [reference, opt])),
            [Err(why), _] | [_, Err(why)] => open.push(search::open(&name, count, [0, 0], why)),
        }
    }
    let whole: Vec<bool> = conditions.inputs.iter().map(|info| info.integers.is_some()).collect();
    open.extend(made.prove(wanted, &whole));
    let known = conditions.len() as u64 - elements.len() as u64;
    if known > 0 {
        let at = made.push(Node::Number(Number::ZERO));
        made.certificate.classes.push(search::unproved("known numbers", known, [at, at], false));
    }
    made.certificate.classes.extend(by_reason(open));
    made.certificate
}

/// The terms of a statement that its two sides are equal, and a proof that their forms are.
///
/// # Errors
/// A term that cannot be written down.
pub fn statement(inputs: &[InputInfo], store: &Store, sides: [TermId; 2]) -> Result<Certificate, String> {
    let mut made = Writer::new("statement", inputs.iter().map(input).collect());
    let [reference, opt] = sides.map(|side| made.term(store, side));
    let roots = [reference?, opt?];
    let reads = made.certificate.nodes.iter().any(|node| matches!(node, Node::Literal(..)));
    let class = search::unproved("statement", 1, roots, reads);
    let (mut checker, mut steps) = (Checker::default(), STEPS_OF_A_LAW);
    let found = search::by_cases(&mut checker, &made.certificate, class, &Laws::from(ALL), &mut steps, 8);
    let (Ok((class, _)) | Err((class, _))) = found;
    made.certificate.classes.push(class);
    Ok(made.certificate)
}

/// Those of the same reason as one, and all of rare reasons as another one.
fn by_reason(open: Vec<Class>) -> Vec<Class> {
    let mut all: Vec<Class> = Vec::new();
    for one in open {
        if let Some(known) = all.iter_mut().find(|known| known.step == one.step) {
            known.elements += one.elements;
        } else if let Some(rest) = all.get_mut(MAX_OPEN) {
            rest.elements += one.elements;
            rest.step = Step::Open("other reasons".to_string());
        } else {
            all.push(one);
        }
    }
    all
}

fn input(info: &InputInfo) -> Input {
    let signs = match info.sign {
        Sign::Any => [true; 3],
        Sign::Positive => [false, false, true],
        Sign::NonNegative => [false, true, true],
        Sign::Negative => [true, false, false],
        Sign::NonPositive => [true, true, false],
        Sign::Nonzero => [true, false, true],
    };
    let natural = info.integers.is_some_and(|of| of.least >= 0);
    Input { name: info.name.clone(), signs: [signs[0] && !natural, signs[1], signs[2]] }
}

/// Writes terms, each once.
struct Writer {
    certificate: Certificate,
    known: FxHashMap<Node, u32>,
}

impl Writer {
    fn new(name: &str, inputs: Vec<Input>) -> Writer {
        let certificate = Certificate { name: name.to_string(), inputs, ..Certificate::default() };
        Writer { certificate, known: FxHashMap::default() }
    }

    fn push(&mut self, node: Node) -> u32 {
        let (known, nodes) = (&mut self.known, &mut self.certificate.nodes);
        *known.entry(node).or_insert_with_key(|node| {
            nodes.push(node.clone());
            nodes.len() as u32 - 1
        })
    }

    /// Adds the proofs that are found. Returns what is left, and why.
    fn prove(&mut self, mut wanted: Vec<Wanted>, whole: &[bool]) -> Vec<Class> {
        // Where literals may be read depends on all terms of a kernel.
        let open = |(name, elements, roots): &Wanted, why| search::open(name, *elements, *roots, why);
        let undecided = || "it is not decided".to_string();
        self.certificate.classes = wanted.iter().map(|wanted| open(wanted, undecided())).collect();
        let mut left = ALL_STEPS;
        let mut unproved = Vec::new();
        // Those without are tried first, but not for long where there are some.
        let readable = self.certificate.nodes.iter().any(search::is_read);
        let passes: &[(bool, bool)] =
            if readable { &[(false, true), (true, false), (false, false)] } else { &[(false, false)] };
        for &(reads, is_brief) in passes {
            let mut search = Search::new(&Table::standard().accepted, [reads, is_brief], whole, left);
            unproved.clear();
            let mut proved = 0;
            wanted.retain(|one| {
                // Readings are tried early where there is no proof without.
                let skipped = proved == 0 && !unproved.is_empty() && is_brief;
                let (name, elements, roots) = one;
                let found = if skipped {
                    Err(undecided())
                } else {
                    search.class(&mut self.certificate, name, *elements, *roots)
                };
                proved += usize::from(found.is_ok());
                found.map_err(|why| unproved.push(open(one, why))).is_err()
            });
            left = search.left;
        }
        self.certificate.classes.retain(|class| !matches!(class.step, Step::Open(_)));
        unproved
    }

    /// The number of a term, with those below it.
    fn term(&mut self, store: &Store, root: TermId) -> Result<u32, String> {
        let mut wanted: BTreeSet<TermId> = BTreeSet::new();
        let mut leaves: BTreeSet<TermId> = BTreeSet::new();
        let mut stack = vec![root];
        while let Some(term) = stack.pop() {
            match store.view(term) {
                View::Apply(op, operands) => {
                    if wanted.insert(term) {
                        stack.extend(&operands[..op.arity()]);
                    }
                }
                View::Input { .. } | View::Constant(_) => {
                    leaves.insert(term);
                }
            }
            if self.certificate.nodes.len() + wanted.len() > MAX_NODES {
                return Err("too many terms".to_string());
            }
        }
        let mut made: FxHashMap<TermId, u32> = FxHashMap::default();
        // Operands are lanes of earlier nodes.
        for term in leaves.into_iter().chain(wanted) {
            let node = match store.view(term) {
                View::Input { input, element } => Node::Input(input.index() as u32, element),
                View::Constant(constant) => match (&constant.exact, constant.literal) {
                    (Extended::PosInf, _) => Node::Infinity(false),
                    (Extended::NegInf, _) => Node::Infinity(true),
                    (Extended::Finite(value), None) => Node::Number(Number::of(value.to_rug())),
                    (Extended::Finite(value), Some((of, _))) => {
                        Node::Literal(format::mantissa_bits(of) + 1, Number::of(value.to_rug()))
                    }
                },
                View::Apply(op, operands) => {
                    let op = operation(op).ok_or("encodings and signs of zeros")?;
                    let own: Option<Vec<u32>> =
                        operands[..op.arity()].iter().map(|operand| made.get(operand).copied()).collect();
                    let own = own.ok_or("an operand that comes later")?;
                    let operand = |at: usize| own.get(at).copied().unwrap_or(0);
                    Node::Apply(op, [operand(0), operand(1), operand(2)])
                }
            };
            let at = self.push(node);
            made.insert(term, at);
        }
        made.get(&root).copied().ok_or_else(|| "no term".to_string())
    }
}

/// The operation in certificates, if it is a function of reals.
fn operation(op: TermOp) -> Option<Op> {
    Some(match op {
        TermOp::Add => Op::Add,
        TermOp::Sub => Op::Sub,
        TermOp::Mul => Op::Mul,
        TermOp::Fma => Op::Fma,
        TermOp::Div => Op::Div,
        TermOp::Neg => Op::Neg,
        TermOp::Abs => Op::Abs,
        TermOp::Max => Op::Max,
        TermOp::Min => Op::Min,
        TermOp::Saturate => Op::Saturate,
        TermOp::Exp2 => Op::Exp2,
        TermOp::Log2 => Op::Log2,
        TermOp::Sqrt => Op::Sqrt,
        TermOp::Rsqrt => Op::Rsqrt,
        TermOp::Sin => Op::Sin,
        TermOp::Cos => Op::Cos,
        TermOp::Tanh => Op::Tanh,
        TermOp::Floor => Op::Floor,
        TermOp::Ceil => Op::Ceil,
        TermOp::Trunc => Op::Trunc,
        TermOp::RoundEven => Op::RoundEven,
        TermOp::Less => Op::Less,
        TermOp::LessEqual => Op::LessEqual,
        TermOp::Equal => Op::Equal,
        TermOp::Not => Op::Not,
        TermOp::And => Op::And,
        TermOp::Or => Op::Or,
        TermOp::Xor => Op::Xor,
        TermOp::Select => Op::Select,
        TermOp::Mod => Op::Mod,
        TermOp::BitAnd => Op::BitAnd,
        TermOp::Erf => Op::Erf,
        TermOp::Atan => Op::Atan,
        TermOp::Cbrt => Op::Cbrt,
        TermOp::Gamma => Op::Gamma,
        TermOp::BesselJ0 => Op::BesselJ0,
        TermOp::BesselJ1 => Op::BesselJ1,
        TermOp::BesselY0 => Op::BesselY0,
        TermOp::BesselY1 => Op::BesselY1,
        // It tells zeros of equal numbers apart (rule V7).
        TermOp::CopySign
        | TermOp::EncodeF32
        | TermOp::EncodeF64
        | TermOp::DecodeF32
        | TermOp::DecodeF64
        | TermOp::Outcome
        | TermOp::Ieee1
        | TermOp::Ieee2
        | TermOp::IeeePair => return None,
    })
}
