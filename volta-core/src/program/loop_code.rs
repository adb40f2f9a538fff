//! The code of loops that only compute registers from registers, as text. Two loops have equal texts if they are the
//! same up to names of registers, with constants substituted where they are used.

use super::code::Program;
use super::op::{Op, PredId, PredSrc, RegId, Src};
use super::repeat::Loop;
use super::visit::Named;
use rustc_hash::FxHashMap;

/// The code of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopCode {
    /// Equal texts are equal functions of the registers read.
    pub text: String,
    /// The registers whose contents on entry it reads, except constants, in the order of the code.
    pub reads: Vec<RegId>,
    /// The registers that it writes and that may be read after it, each with its number in the code.
    pub results: Vec<(RegId, u32)>,
}

/// Numbers for names, in the order of first occurrence.
#[derive(Default)]
pub(super) struct Names {
    pub(super) registers: FxHashMap<RegId, u32>,
    pub(super) predicates: FxHashMap<PredId, u32>,
    /// Registers that always hold one number, which is written in their place.
    constants: FxHashMap<RegId, u64>,
    /// Whether floats are values of IEEE arithmetic.
    pub(super) exact: bool,
    /// Whether something was met that depends on the position of the code.
    bound: bool,
}

impl Names {
    fn register(&mut self, register: &mut RegId) {
        let next = self.registers.len() as u32;
        register.0 = *self.registers.entry(*register).or_insert(next);
    }

    fn predicate(&mut self, predicate: &mut PredId) {
        let next = self.predicates.len() as u32;
        predicate.0 = *self.predicates.entry(*predicate).or_insert(next);
    }

    pub(super) fn guard(&mut self, source: &mut PredSrc) {
        self.predicate(&mut source.pred);
    }

    fn source(&mut self, source: &mut Src) {
        if let Src::Reg(register) = source
            && let Some(bits) = self.constants.get(register)
        {
            *source = Src::Imm(*bits);
        }
        match source {
            Src::Reg(register) => self.register(register),
            Src::Imm(_) => {}
            Src::Symbol(..) => self.bound = true,
        }
    }

    /// An operation with numbers for names. Flushing of subnormal numbers is dropped, unless
    /// floats are values of IEEE arithmetic (rule V2). `None` for an operation
    /// that does more than compute registers from registers.
    pub(super) fn renamed(&mut self, op: &Op) -> Option<Op> {
        let mut own = op.clone();
        match &mut own {
            Op::Mov { d, a, width: _ }
            | Op::Int1 { op: _, ty: _, d, a }
            | Op::CvtInt { d, a, from: _, to: _, saturate: _ }
            | Op::IntToFloat { d, a, from: _, to: _, rounding: _ } => {
                self.source(a);
                self.register(d);
            }
            Op::FloatToInt { d, a, from: _, to: _, rounding: _, flush } => {
                *flush &= self.exact;
                self.source(a);
                self.register(d);
            }
            Op::CvtFloat { d, a, from: _, to: _, integral: _, precision, clamp: _, finite: _ }
            | Op::Float1 { op: _, format: _, precision, d, a } => {
                precision.flush &= self.exact;
                self.source(a);
                self.register(d);
            }
            Op::Int2 { op: _, ty: _, d, a, b } => {
                [a, b].into_iter().for_each(|a| self.source(a));
                self.register(d);
            }
            Op::Float2 { op: _, format: _, precision, clamp: _, d, a, b } => {
                precision.flush &= self.exact;
                [a, b].into_iter().for_each(|a| self.source(a));
                self.register(d);
            }
            Op::Int3 { op: _, ty: _, d, a, b, c } => {
                [a, b, c].into_iter().for_each(|a| self.source(a));
                self.register(d);
            }
            Op::Fma { format: _, precision, clamp: _, d, a, b, c } => {
                precision.flush &= self.exact;
                [a, b, c].into_iter().for_each(|a| self.source(a));
                self.register(d);
            }
            Op::Insert { width: _, d, a, b, position, length } => {
                [a, b, position, length].into_iter().for_each(|a| self.source(a));
                self.register(d);
            }
            Op::Carry { subtract: _, width: _, d, a, b, carry_in, carry_out } => {
                [a, b].into_iter().for_each(|a| self.source(a));
                carry_in.iter_mut().chain(carry_out).for_each(|carry| self.predicate(carry));
                self.register(d);
            }
            Op::SetpInt { compare: _, ty: _, p, q, a, b, combine } => {
                [a, b].into_iter().for_each(|a| self.source(a));
                combine.iter_mut().for_each(|(_, c)| self.guard(c));
                std::iter::once(p).chain(q).for_each(|p| self.predicate(p));
            }
            Op::SetpFloat { compare: _, format: _, flush, p, q, a, b, combine } => {
                *flush &= self.exact;
                [a, b].into_iter().for_each(|a| self.source(a));
                combine.iter_mut().for_each(|(_, c)| self.guard(c));
                std::iter::once(p).chain(q).for_each(|p| self.predicate(p));
            }
            Op::Pred2 { op: _, p, a, b } => {
                [a, b].into_iter().for_each(|a| self.guard(a));
                self.predicate(p);
            }
            Op::PredMov { p, a } => {
                self.guard(a);
                self.predicate(p);
            }
            Op::PredConst { p, value: _ } => self.predicate(p),
            Op::Select { width: _, d, a, b, p } => {
                [a, b].into_iter().for_each(|a| self.source(a));
                self.guard(p);
                self.register(d);
            }
            Op::Pack { d, parts, part: _ } => {
                parts.iter_mut().for_each(|a| self.source(a));
                self.register(d);
            }
            Op::Unpack { d, a, part: _ } => {
                self.source(a);
                d.iter_mut().flatten().for_each(|d| self.register(d));
            }
            Op::Nop => {}
            Op::Enter { .. }
            | Op::Undetermined(_)
            | Op::Special { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Atomic { .. }
            | Op::Swap(_)
            | Op::Cvta { .. }
            | Op::IsSpace { .. }
            | Op::MapToCta { .. }
            | Op::CtaRankOf { .. }
            | Op::Branch { .. }
            | Op::BranchTable { .. }
            | Op::Exit
            | Op::Trap
            | Op::Barrier { .. }
            | Op::WarpSync { .. }
            | Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Ballot { .. }
            | Op::MatchAny { .. }
            | Op::MatchAll { .. }
            | Op::Redux { .. }
            | Op::ActiveMask { .. }
            | Op::Elect { .. }
            | Op::Mma { .. }
            | Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::TransposeMatrix { .. }
            | Op::LoadFragment { .. }
            | Op::StoreFragment { .. }
            | Op::MultiplyFragments { .. }
            | Op::Async(_)
            | Op::Unevaluated { .. }
            | Op::Unsupported { .. } => return None,
        }
        (!self.bound).then_some(own)
    }
}

impl Program {
    /// The code of a loop, given the bits in registers that it does not write; `exact` if floats are values of IEEE
    /// arithmetic.
    pub fn loop_code(&self, own: &Loop, exact: bool, known: &dyn Fn(RegId) -> Option<u64>) -> LoopCode {
        let mut names = Names { exact, ..Names::default() };
        for register in own.open.iter().filter(|register| !own.written.contains(register)) {
            if let Some(bits) = known(*register) {
                names.constants.insert(*register, bits);
            }
        }
        // Compilers may load a constant into a register next to its use.
        let mut kept = Vec::with_capacity(own.members.len());
        for at in &own.members {
            if let Op::Mov { d, a: Src::Imm(bits), width: _ } = self.insts[*at as usize].op
                && !own.open.contains(&d)
                && !own.live.contains(&d)
                && self.only_write(&own.members, Named::Write(d)) == Some(*at)
            {
                names.constants.insert(d, bits);
            } else {
                kept.push(*at);
            }
        }
        let place = |at: u32| kept.partition_point(|kept| *kept < at);
        let mut text = place(own.header).to_string();
        for at in &kept {
            let inst = &self.insts[*at as usize];
            text.push('\n');
            if let Some(mut guard) = inst.guard {
                names.guard(&mut guard);
                text.push_str(&format!("{guard:?} "));
            }
            if let Some(op) = names.renamed(&inst.op) {
                text.push_str(&format!("{op:?}"));
            }
            for next in self.successors(*at) {
                if own.has(next) {
                    text.push_str(&format!(" > {}", place(next)));
                } else {
                    text.push_str(" > out");
                }
            }
        }
        let mut registers: Vec<(RegId, u32)> = names.registers.into_iter().collect();
        registers.sort_unstable_by_key(|(_, number)| *number);
        let reads =
            registers.iter().map(|(register, _)| *register).filter(|read| own.open.contains(read)).collect();
        registers.retain(|(register, _)| own.live.contains(register));
        LoopCode { text, reads, results: registers }
    }
}
