//! One pass over a store before anything is proved: who is used how often, what may be infinite, what is partial.

use super::readings::{Encoded, Literal, folded, read};
use crate::number::{Extended, Rational};
use crate::term::{Constant, ConstantId, Lanes, NodeParts, Store, TermId, TermKind, TermOp, ends, moved};

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
    slots: Slots,
    /// For each slot, how many operands name it, up to 255.
    uses: Vec<u8>,
    /// For each slot, the flags above; empty when no term of the store has any.
    flags: Vec<u8>,
    /// For each node, the inputs that some lane of it depends on, as bits; the last bit is for all further ones.
    inputs: Vec<u32>,
    constant_flags: Vec<u8>,
    readings: Vec<Option<(Rational, Literal)>>,
}

/// Where in the lists a lane's entry is.
#[derive(Debug)]
enum Slots {
    /// All nodes have 32.
    Even,
    /// All nodes have one: those of a kernel of one thread.
    Alone,
    /// Each node has as many as it has active lanes: where they start, and which they are.
    Counted(Vec<(u32, u32)>),
}

impl Slots {
    fn new(store: &Store) -> (Slots, usize) {
        let lanes: u64 = (0..store.len()).map(|at| u64::from(store.mask(at).count_ones())).sum();
        let even = store.len() * 32;
        if lanes == store.len() as u64 {
            return (Slots::Alone, store.len());
        }
        // Kernels of a few threads leave most lanes without a term.
        if lanes as usize > even / 4 || lanes > u64::from(u32::MAX) {
            return (Slots::Even, even);
        }
        let mut start = 0;
        let counted = (0..store.len()).map(|at| {
            let mask = store.mask(at);
            let own = (start, mask);
            start += mask.count_ones();
            own
        });
        (Slots::Counted(counted.collect()), lanes as usize)
    }

    fn of(&self, node: usize, lane: u32) -> usize {
        match self {
            Slots::Even => node * 32 + lane as usize,
            Slots::Alone => node,
            Slots::Counted(starts) => {
                let (start, mask) = starts[node];
                start as usize + (mask & ((1 << lane) - 1)).count_ones() as usize
            }
        }
    }

    /// The node whose lanes an operand of all lanes is, in order; where nodes have 32 entries each.
    fn whole_node(&self, base: u64, stride: i64, mask: u32) -> Option<usize> {
        let Slots::Even = self else { return None };
        match TermId::from_raw(base).kind() {
            TermKind::Lane(node, 0) if stride == 1 && mask == u32::MAX => Some(node.index()),
            TermKind::Lane(..) | TermKind::Input { .. } | TermKind::Constant(_) => None,
        }
    }
}

/// The bit of an input.
fn input_bit(input: usize) -> u32 {
    1 << input.min(31)
}

impl Facts {
    /// Reads a store.
    ///
    /// # Cost
    /// About a nanosecond for each lane of each node.
    pub fn new(store: &Store) -> Facts {
        let constants = constants_of(store);
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
        let (slots, lanes) = Slots::new(store);
        let flags = if flagged { vec![0; lanes] } else { Vec::new() };
        let inputs = Vec::with_capacity(store.len());
        let mut facts = Facts { slots, uses: vec![0; lanes], flags, inputs, constant_flags, readings };
        for at in 0..store.len() {
            let inputs = facts.visit(store, at, flagged);
            facts.inputs.push(inputs);
        }
        facts
    }

    /// Reads literals of this store that are a scale of the other kernel's and log₂ e in one (V9).
    pub fn read_scales(&mut self, store: &Store, others: &[&Store]) {
        let products = folded(constants_of(store), others.iter().flat_map(|other| constants_of(other)));
        if products.is_empty() {
            return;
        }
        for (reading, constant) in self.readings.iter_mut().zip(constants_of(store)) {
            let Some((format, bits)) = constant.literal.filter(|_| reading.is_none()) else { continue };
            let sign = 1 << (8 * format.bytes() - 1);
            let product: Encoded = (format, bits & !sign);
            if let Some(scale) = products.get(&product) {
                let sign = if bits & sign == 0 { Rational::ONE } else { Rational::MINUS_ONE };
                *reading = Some((sign, Literal::Folded { product, scale: *scale }));
            }
        }
    }

    /// How many operands name a term; inputs and constants count as used once.
    pub(super) fn uses(&self, term: TermId) -> u8 {
        match term.kind() {
            TermKind::Lane(node, lane) => self.uses[self.slots.of(node.index(), lane)],
            TermKind::Input { .. } | TermKind::Constant(_) => 1,
        }
    }

    /// The flags of a term.
    pub(super) fn flags(&self, term: TermId) -> u8 {
        match term.kind() {
            TermKind::Lane(node, lane) => {
                if self.flags.is_empty() {
                    0
                } else {
                    self.flags[self.slots.of(node.index(), lane)]
                }
            }
            TermKind::Constant(id) => self.constant_flags[id.index()],
            TermKind::Input { .. } => 0,
        }
    }

    /// The inputs that a term may depend on, as bits; the last is for all from the 32nd on.
    pub(super) fn inputs(&self, term: TermId) -> u32 {
        match term.kind() {
            TermKind::Lane(node, _) => self.inputs[node.index()],
            TermKind::Constant(_) => 0,
            TermKind::Input { input, .. } => input_bit(input.index()),
        }
    }

    /// How rule V9 reads a constant.
    pub(super) fn reading(&self, id: ConstantId) -> Option<&(Rational, Literal)> {
        self.readings[id.index()].as_ref()
    }

    /// Counts the operands of a node, and gives the inputs that it depends on.
    fn visit(&mut self, store: &Store, at: usize, flagged: bool) -> u32 {
        let node = store.node(at);
        let arity = node.op.arity();
        if node.mask.is_power_of_two() {
            return self.visit_lane(store, &node, at, flagged);
        }
        let mut inside = [[0u8; 32]; 3];
        let mut any = 0;
        let mut inputs = 0;
        for (operand, flags) in node.operands.iter().zip(&mut inside).take(arity) {
            match *operand {
                Lanes::Affine { base, stride } => {
                    // Lanes of one row of an input have nothing to record.
                    let ends = [base, base.wrapping_add_signed(stride.wrapping_mul(31))];
                    if node.mask == u32::MAX
                        && let [Some(first), Some(last)] = ends.map(input_of)
                    {
                        inputs |= (first.min(last)..=first.max(last))
                            .fold(0, |bits, input| bits | input_bit(input));
                        continue;
                    }
                    if stride == 0 {
                        *flags = [self.use_often(base, node.mask.count_ones(), flagged); 32];
                        any |= flags[0];
                        inputs |= self.inputs(TermId::from_raw(base));
                        continue;
                    }
                    if let Some(used) = self.slots.whole_node(base, stride, node.mask) {
                        for uses in &mut self.uses[32 * used..][..32] {
                            *uses = uses.saturating_add(1);
                        }
                        if flagged {
                            flags.copy_from_slice(&self.flags[32 * used..][..32]);
                            any |= flags.iter().fold(0, |any, flags| any | flags);
                        }
                        inputs |= self.inputs[used];
                        continue;
                    }
                    for lane in lanes(node.mask) {
                        let raw = base.wrapping_add_signed(stride.wrapping_mul(lane as i64));
                        flags[lane] = self.use_often(raw, 1, flagged);
                        any |= flags[lane];
                        inputs |= self.inputs(TermId::from_raw(raw));
                    }
                }
                Lanes::Steps { base, steps } => {
                    if let [Some(first), Some(last)] = ends(base, steps).map(input_of) {
                        inputs |= (first..=last).fold(0, |bits, input| bits | input_bit(input));
                        continue;
                    }
                    // Lanes that differ in bits without a step have the same term.
                    let moving = (0..5).fold(0, |bits, bit| bits | usize::from(steps[bit] != 0) << bit);
                    for first in (0..32).filter(|lane| lane & !moving == 0) {
                        let raw = moved(base, steps, first as u32);
                        let own = self.use_often(raw, 32 >> moving.count_ones(), flagged);
                        inputs |= self.inputs(TermId::from_raw(raw));
                        if own != 0 {
                            any |= own;
                            (0..32).filter(|lane| lane & moving == first).for_each(|lane| flags[lane] = own);
                        }
                    }
                }
                Lanes::Repeated { list, shift } => {
                    for (entry, raw) in list.iter().enumerate() {
                        let own = self.use_often(*raw, 32 / list.len() as u32, flagged);
                        inputs |= self.inputs(TermId::from_raw(*raw));
                        if own != 0 {
                            any |= own;
                            let has = |lane: &usize| lane >> shift & (list.len() - 1) == entry;
                            (0..32).filter(has).for_each(|lane| flags[lane] = own);
                        }
                    }
                }
                Lanes::List(list) => {
                    for (lane, raw) in lanes(node.mask).zip(list) {
                        flags[lane] = self.use_often(*raw, 1, flagged);
                        any |= flags[lane];
                        inputs |= self.inputs(TermId::from_raw(*raw));
                    }
                }
            }
        }
        let own = own_flags(store, &node, flagged);
        if any | own != 0 {
            for lane in lanes(node.mask) {
                let [a, b, c] = [inside[0][lane], inside[1][lane], inside[2][lane]];
                let slot = self.slots.of(at, lane as u32);
                self.flags[slot] = transfer(node.op, a, b, c) | own;
            }
        }
        inputs
    }

    /// The same for a node with one active lane.
    fn visit_lane(&mut self, store: &Store, node: &NodeParts<'_>, at: usize, flagged: bool) -> u32 {
        let lane = node.mask.trailing_zeros();
        let mut inside = [0; 3];
        let mut inputs = 0;
        for (operand, flags) in node.operands.iter().zip(&mut inside).take(node.op.arity()) {
            let raw = match *operand {
                Lanes::Affine { base, stride } => {
                    base.wrapping_add_signed(stride.wrapping_mul(i64::from(lane)))
                }
                Lanes::Steps { base, steps } => moved(base, steps, lane),
                Lanes::Repeated { list, shift } => list[(lane >> shift) as usize & (list.len() - 1)],
                Lanes::List(list) => list[0],
            };
            *flags = self.use_often(raw, 1, flagged);
            inputs |= self.inputs(TermId::from_raw(raw));
        }
        let own = own_flags(store, node, flagged);
        if inside != [0; 3] || own != 0 {
            let slot = self.slots.of(at, lane);
            self.flags[slot] = transfer(node.op, inside[0], inside[1], inside[2]) | own;
        }
        inputs
    }

    /// Counts that so many lanes use a term, and gives its flags.
    fn use_often(&mut self, raw: u64, lanes: u32, flagged: bool) -> u8 {
        match TermId::from_raw(raw).kind() {
            TermKind::Lane(node, lane) => {
                let at = self.slots.of(node.index(), lane);
                self.uses[at] = self.uses[at].saturating_add(lanes as u8);
                if flagged { self.flags[at] } else { 0 }
            }
            TermKind::Constant(id) => self.constant_flags[id.index()],
            TermKind::Input { .. } => 0,
        }
    }
}

/// Whether an operand is one number in all lanes, and not zero: what is divided by it needs nothing (V8).
fn is_number_but_zero(store: &Store, operand: &Lanes<'_>) -> bool {
    let Lanes::Affine { base, stride: 0 } = *operand else { return false };
    match TermId::from_raw(base).kind() {
        TermKind::Constant(id) => store.constant(id).exact.finite().is_some_and(|value| !value.is_zero()),
        TermKind::Input { .. } | TermKind::Lane(..) => false,
    }
}

/// The flags that come with an operation.
fn own_flags(store: &Store, node: &NodeParts<'_>, flagged: bool) -> u8 {
    match node.op {
        TermOp::Div if is_number_but_zero(store, &node.operands[1]) => 0,
        TermOp::Div | TermOp::Log2 | TermOp::Sqrt | TermOp::Rsqrt => PARTIAL,
        TermOp::Select if flagged => CHOICE,
        _ => 0,
    }
}

/// The input that an id names an element of.
fn constants_of(store: &Store) -> impl Iterator<Item = &Constant> + Clone {
    (0..store.constant_count()).map(|at| store.constant(ConstantId::from_index(at)))
}

fn input_of(raw: u64) -> Option<usize> {
    match TermId::from_raw(raw).kind() {
        TermKind::Input { input, .. } => Some(input.index()),
        TermKind::Constant(_) | TermKind::Lane(..) => None,
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
        TermOp::Mod => when(infinite(a), UNDEFINED),
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
        | TermOp::BitAnd => 0,
    };
    kept | own
}
