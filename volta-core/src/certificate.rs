//! Certificates of equality: the terms of each class of elements, and proofs that a checker replays which knows nothing of
//! [`crate::algebra`].
//!
//! The proofs are searched here, by means of the checker's own forms: laws that apply, readings of literals, cut
//! points and cases. Where none is found, the certificate says so; the verdict does not depend on it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use volta_certificate::{
    Certificate, Class, Input, LawSet, Node, Number, Op, Open, Proof, Reading, Step, Table, search,
};

use crate::conditions::Conditions;
use crate::decide::{self, ElementPair, InputInfo};
use crate::number::{Extended, format};
use crate::term::{Sign, Store, TermId, TermOp, View};

/// The steps of the checker for one class.
pub const STEPS: u64 = 1 << 24;
/// The steps of the search for one class, each time with other readings.
const SEARCH_STEPS: u64 = 1 << 18;
/// The steps for the classes of a certificate together, after which the rest is left open.
const ALL_STEPS: u64 = 1 << 21;
/// A certificate has no more terms.
const MAX_NODES: usize = 1 << 20;
/// A proof has no more cases.
const MAX_SPLITS: usize = 12;
/// Literals that are read as powers of two times a constant have exponents up to this.
const MAX_SHIFT: f64 = 12.0;
/// More names of classes that are left open are only counted.
const MAX_OPEN: usize = 16;

/// Searches a certificate of an equivalent case.
pub fn certificate(conditions: &Conditions, name: &str) -> Certificate {
    let mut made = Writer {
        certificate: Certificate {
            name: name.to_string(),
            inputs: conditions.inputs.iter().map(input).collect(),
            ..Certificate::default()
        },
        known: FxHashMap::default(),
    };
    let (elements, positions) = conditions.to_decide();
    let firsts = decide::firsts(&elements, &conditions.options);
    let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
    for first in firsts {
        *sizes.entry(first).or_default() += 1;
    }
    let mut left = ALL_STEPS;
    let mut open: BTreeMap<String, Open> = BTreeMap::new();
    for (at, count) in sizes {
        let name = conditions.name(positions[at]);
        if let Err((roots, why)) = made.class(&elements[at], name.clone(), count, &mut left) {
            let first = Open { name, elements: 0, roots, why: why.clone() };
            open.entry(why).or_insert(first).elements += count;
        }
    }
    let known = conditions.len() as u64 - elements.len() as u64;
    if known > 0 {
        let at = made.push(Node::Number(Number::ZERO));
        let proof = Proof { laws: Vec::new(), readings: Vec::new(), cuts: Vec::new(), step: Step::Equal };
        let name = "known numbers".to_string();
        made.certificate.classes.push(Class { name, elements: known, roots: [at, at], proof });
    }
    let mut certificate = made.certificate;
    certificate.open = open.into_values().collect();
    if let Some(rest) = certificate.open.get(MAX_OPEN..).filter(|rest| !rest.is_empty()) {
        let elements = rest.iter().map(|open| open.elements).sum();
        let rest =
            Open { name: rest[0].name.clone(), elements, roots: None, why: "other reasons".to_string() };
        certificate.open.truncate(MAX_OPEN);
        certificate.open.push(rest);
    }
    certificate
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
    fn push(&mut self, node: Node) -> u32 {
        let (known, nodes) = (&mut self.known, &mut self.certificate.nodes);
        *known.entry(node).or_insert_with_key(|node| {
            nodes.push(node.clone());
            nodes.len() as u32 - 1
        })
    }

    /// Adds a class, if a proof is found; otherwise, why there is none.
    fn class(
        &mut self,
        element: &ElementPair<'_>,
        name: String,
        elements: u64,
        left: &mut u64,
    ) -> Result<(), (Option<[u32; 2]>, String)> {
        let written = |why| (None, why);
        let reference = self.term(element.reference.0, element.reference.1).map_err(written)?;
        let opt = self.term(element.opt.0, element.opt.1).map_err(written)?;
        let roots = [reference, opt];
        let laws = Table::standard().accepted();
        let mut why = String::new();
        for readings in self.readings(roots) {
            if *left == 0 {
                return Err((Some(roots), "all steps of the certificate are used up".to_string()));
            }
            let proof = Proof { laws: Vec::new(), readings, cuts: Vec::new(), step: Step::Equal };
            let class = Class { name: name.clone(), elements, roots, proof };
            match self.search(class, laws, left) {
                Ok(class) => {
                    self.certificate.classes.push(class);
                    return Ok(());
                }
                Err(reason) => why = reason,
            }
        }
        Err((Some(roots), why))
    }

    fn search(&self, class: Class, laws: LawSet, left: &mut u64) -> Result<Class, String> {
        let most = SEARCH_STEPS.min(*left);
        let mut steps = most;
        let found = search(&self.certificate, &class, laws, &mut steps, MAX_SPLITS);
        *left -= most - steps;
        let (mut class, used) = found.map_err(|failure| failure.why)?;
        class.proof.laws = used.laws().map(|law| law.name().to_string()).collect();
        Ok(class)
    }

    /// The sets of readings that are tried: none, all, and those in exponents alone.
    fn readings(&self, roots: [u32; 2]) -> Vec<Vec<Reading>> {
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        let mut stack = Vec::from(roots);
        let mut found: Vec<Reading> = Vec::new();
        while let Some(at) = stack.pop() {
            if !seen.insert(at) {
                continue;
            }
            match &self.certificate.nodes[at as usize] {
                Node::Apply(op, operands) => stack.extend(&operands[..op.arity()]),
                Node::Literal(digits, number) => {
                    found.extend(reading(*digits, number).filter(|read| !found.contains(read)));
                }
                Node::Input(..) | Node::Number(_) | Node::Infinity(_) => {}
            }
        }
        let exponents: Vec<Reading> = found.iter().filter(|read| !read.reciprocal).cloned().collect();
        let mut sets = vec![Vec::new(), found, exponents];
        sets.dedup();
        sets
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
                    let operand = |at: usize| own.get(at).copied().unwrap_or(own[0]);
                    Node::Apply(op, [operand(0), operand(1), operand(2)])
                }
            };
            let at = self.push(node);
            made.insert(term, at);
        }
        made.get(&root).copied().ok_or_else(|| "no term".to_string())
    }
}

/// What a literal may be read as.
fn reading(digits: u32, number: &Number) -> Option<Reading> {
    let value = number.rational().to_f64();
    [(false, std::f64::consts::LOG2_E), (true, std::f64::consts::LN_2)].into_iter().find_map(
        |(reciprocal, of)| {
            let shift = (value.abs() / of).log2().round();
            let factor = shift.exp2() * value.signum();
            let near = (value / (of * factor) - 1.0).abs() <= (1.0 - f64::from(digits)).exp2();
            let factor = rug::Rational::from_f64(factor).filter(|_| near && shift.abs() <= MAX_SHIFT)?;
            Some(Reading { literal: number.clone(), reciprocal, factor: Number::of(factor) })
        },
    )
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
