//! One pass over a store before anything is proved: who is used how often, what may be infinite, what is partial.

use super::readings::{Literal, read};
use crate::number::{Extended, Rational};
use crate::term::{ConstantId, Lanes, Store, TermId, TermKind, TermOp};

/// The term may be −∞.
pub(super) const NEGATIVE_INFINITE: u8 = 1;
/// The term may be +∞.
pub(super) const POSITIVE_INFINITE: u8 = 2;
/// An infinity may have made the term undefined (V3).
pub(super) const UNDEFINED: u8 = 4;
/// A partial operation (V8) is below the term, or is the term.
pub(super) const PARTIAL: u8 = 8;
/// A choice is below the term, or is the term: what an arm is undefined by may never matter.
pub(super) const CHOICE: u8 = 16;
/// The term may be infinite, or undefined by an infinity.
pub(super) const INFINITE: u8 = NEGATIVE_INFINITE | POSITIVE_INFINITE | UNDEFINED;

/// What a store's terms are like. Everything is an over-approximation except the constants.
#[derive(Debug)]
pub struct Facts {
    /// For each lane, how many operands name it, up to 255.
    uses: Vec<u8>,
    /// For each lane, the flags above; empty when no term of the store has any.
    flags: Vec<u8>,
    constant_flags: Vec<u8>,
    readings: Vec<Option<(Rational, Literal)>>,
}

impl Facts {
    /// Reads a store.
    ///
    /// # Cost
    /// About a nanosecond for each lane of each node.
    pub fn new(store: &Store) -> Facts {
        let constants = (0..store.constant_count()).map(|at| store.constant(ConstantId::from_index(at)));
        let constant_flags: Vec<u8> = constants
            .clone()
            .map(|constant| match constant.exact {
                Extended::Finite(_) => 0,
                Extended::PosInf => POSITIVE_INFINITE,
                Extended::NegInf => NEGATIVE_INFINITE,
            })
            .collect();
        let readings = constants.map(read).collect();
        let flagged = store.has_partial_operations() || constant_flags.iter().any(|flags| *flags != 0);
        let lanes = store.len() * 32;
        let flags = if flagged { vec![0; lanes] } else { Vec::new() };
        let mut facts = Facts { uses: vec![0; lanes], flags, constant_flags, readings };
        for at in 0..store.len() {
            facts.visit(store, at, flagged);
        }
        facts
    }

    /// How many operands name a term; inputs and constants count as used once.
    pub(super) fn uses(&self, term: TermId) -> u8 {
        match term.kind() {
            TermKind::Lane(node, lane) => self.uses[node.index() * 32 + lane as usize],
            TermKind::Input { .. } | TermKind::Constant(_) => 1,
        }
    }

    /// The flags of a term.
    pub(super) fn flags(&self, term: TermId) -> u8 {
        match term.kind() {
            TermKind::Lane(node, lane) => {
                self.flags.get(node.index() * 32 + lane as usize).copied().unwrap_or(0)
            }
            TermKind::Constant(id) => self.constant_flags[id.index()],
            TermKind::Input { .. } => 0,
        }
    }

    /// How rule V9 reads a constant.
    pub(super) fn reading(&self, id: ConstantId) -> Option<&(Rational, Literal)> {
        self.readings[id.index()].as_ref()
    }

    fn visit(&mut self, store: &Store, at: usize, flagged: bool) {
        let node = store.node(at);
        let arity = node.op.arity();
        let mut inside = [[0u8; 32]; 3];
        let mut any = 0;
        for (operand, flags) in node.operands.iter().zip(&mut inside).take(arity) {
            match *operand {
                Lanes::Affine { base, stride } => {
                    // Lanes of one row of an input have nothing to record.
                    let ends = [base, base.wrapping_add_signed(stride.wrapping_mul(31))];
                    let input = |raw: u64| raw >> 54 == 0;
                    if node.mask == u32::MAX && ends.into_iter().all(input) {
                        continue;
                    }
                    for lane in lanes(node.mask) {
                        let raw = base.wrapping_add_signed(stride.wrapping_mul(lane as i64));
                        flags[lane] = self.use_once(raw, flagged);
                        any |= flags[lane];
                    }
                }
                Lanes::Repeated { list, shift } => {
                    for (lane, flags) in flags.iter_mut().enumerate() {
                        *flags = self.use_once(list[lane >> shift & (list.len() - 1)], flagged);
                        any |= *flags;
                    }
                }
                Lanes::List(list) => {
                    for (lane, raw) in lanes(node.mask).zip(list) {
                        flags[lane] = self.use_once(*raw, flagged);
                        any |= flags[lane];
                    }
                }
            }
        }
        let own = match node.op {
            TermOp::Div | TermOp::Log2 | TermOp::Sqrt | TermOp::Rsqrt => PARTIAL,
            TermOp::Select if flagged => CHOICE,
            _ => 0,
        };
        if any | own != 0 {
            for lane in lanes(node.mask) {
                let [a, b, c] = [inside[0][lane], inside[1][lane], inside[2][lane]];
                self.flags[at * 32 + lane] = transfer(node.op, a, b, c) | own;
            }
        }
    }

    fn use_once(&mut self, raw: u64, flagged: bool) -> u8 {
        match TermId::from_raw(raw).kind() {
            TermKind::Lane(node, lane) => {
                let at = node.index() * 32 + lane as usize;
                self.uses[at] = self.uses[at].saturating_add(1);
                if flagged { self.flags[at] } else { 0 }
            }
            TermKind::Constant(id) => self.constant_flags[id.index()],
            TermKind::Input { .. } => 0,
        }
    }
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

fn swap(flags: u8) -> u8 {
    flags & !3 | (flags & 1) << 1 | (flags & 2) >> 1
}

/// The flags of a result, from those of its operands.
fn transfer(op: TermOp, a: u8, b: u8, c: u8) -> u8 {
    const EITHER: u8 = NEGATIVE_INFINITE | POSITIVE_INFINITE;
    let kept = (a | b | c) & (UNDEFINED | PARTIAL | CHOICE);
    let when = |condition: bool, flags: u8| if condition { flags } else { 0 };
    let infinite = |flags: u8| flags & EITHER != 0;
    let add = |a: u8, b: u8| (a | b) & EITHER | when(a & swap(b) & EITHER != 0, UNDEFINED);
    let multiply = |a: u8, b: u8| when(infinite(a) || infinite(b), EITHER | UNDEFINED);
    let own = match op {
        TermOp::Add => add(a, b),
        TermOp::Sub => add(a, swap(b)),
        TermOp::Mul => multiply(a, b),
        TermOp::Fma => add(multiply(a, b), c) | multiply(a, b) & UNDEFINED,
        TermOp::Div => when(infinite(a), EITHER | UNDEFINED),
        TermOp::Neg => swap(a) & EITHER,
        TermOp::Abs => when(infinite(a), POSITIVE_INFINITE),
        TermOp::Max => (a | b) & POSITIVE_INFINITE | a & b & NEGATIVE_INFINITE,
        TermOp::Min => (a | b) & NEGATIVE_INFINITE | a & b & POSITIVE_INFINITE,
        TermOp::Exp2 => a & POSITIVE_INFINITE,
        TermOp::Log2 | TermOp::Sqrt => a & POSITIVE_INFINITE | when(a & NEGATIVE_INFINITE != 0, UNDEFINED),
        TermOp::Rsqrt => when(a & NEGATIVE_INFINITE != 0, UNDEFINED),
        TermOp::Sin | TermOp::Cos => when(infinite(a), UNDEFINED),
        TermOp::Floor | TermOp::Ceil | TermOp::Trunc | TermOp::RoundEven => a & EITHER,
        TermOp::CopySign => when(infinite(b), EITHER),
        TermOp::Select => (b | c) & EITHER,
        TermOp::Saturate
        | TermOp::Tanh
        | TermOp::Less
        | TermOp::LessEqual
        | TermOp::Equal
        | TermOp::Not
        | TermOp::And
        | TermOp::Or
        | TermOp::Xor
        | TermOp::Integer
        | TermOp::IntegerTest => 0,
    };
    kept | own
}
