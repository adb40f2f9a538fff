//! The registers, predicates and values that an operation reads and writes.

use super::op::{Barrier, InstId, Op, PredId, PredSrc, RegId, Src};

/// Something that an operation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Read(Src),
    Write(RegId),
    ReadPredicate(PredSrc),
    WritePredicate(PredId),
    Target(InstId),
}

/// What an operation writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Registers.
    pub registers: Vec<RegId>,
    /// Predicate registers.
    pub predicates: Vec<PredId>,
    /// Whether it writes local memory.
    pub local: bool,
}

impl Op {
    /// What the operation writes that is private to its thread.
    pub fn written(&self) -> Written {
        let forgets = matches!(self, Op::Enter { declared } if !declared.variables.is_empty());
        let mut written = Written { local: self.stores_locally() || forgets, ..Written::default() };
        self.visit(&mut |named| match named {
            Named::Write(d) => written.registers.push(d),
            Named::WritePredicate(p) => written.predicates.push(p),
            Named::Read(_) | Named::ReadPredicate(_) | Named::Target(_) => {}
        });
        written
    }

    /// Whether it writes a predicate register.
    pub(super) fn writes_predicate(&self, predicate: PredId) -> bool {
        let mut writes = false;
        self.visit(&mut |named| writes |= named == Named::WritePredicate(predicate));
        writes
    }

    /// Calls `visit` with each general register that it reads or writes, and whether it writes it.
    pub(crate) fn visit_registers(&self, visit: &mut dyn FnMut(RegId, bool)) {
        self.visit(&mut |named| match named {
            Named::Read(Src::Reg(register)) => visit(register, false),
            Named::Write(register) => visit(register, true),
            Named::Read(_) | Named::ReadPredicate(_) | Named::WritePredicate(_) | Named::Target(_) => {}
        });
    }

    /// Calls `visit` with each value that it reads, the base of an address before the values stored there.
    pub(crate) fn visit_sources(&self, visit: &mut dyn FnMut(Src)) {
        self.visit(&mut |named| match named {
            Named::Read(source) => visit(source),
            Named::Write(_) | Named::ReadPredicate(_) | Named::WritePredicate(_) | Named::Target(_) => {}
        });
    }

    /// Calls `visit` with each predicate register that it reads or writes, and whether it writes it.
    pub(crate) fn visit_predicates(&self, visit: &mut dyn FnMut(PredId, bool)) {
        self.visit(&mut |named| match named {
            Named::ReadPredicate(source) => visit(source.pred, false),
            Named::WritePredicate(predicate) => visit(predicate, true),
            Named::Read(_) | Named::Write(_) | Named::Target(_) => {}
        });
    }

    /// Calls `visit` with everything that the operation names.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(Named)) {
        use Named::{Read, ReadPredicate, Target, Write, WritePredicate};
        match self {
            Op::Mov { d, a, width: _ }
            | Op::Int1 { op: _, ty: _, d, a }
            | Op::CvtInt { d, a, .. }
            | Op::IntToFloat { d, a, .. }
            | Op::FloatToInt { d, a, .. }
            | Op::CvtFloat { d, a, .. }
            | Op::Float1 { d, a, .. }
            | Op::CtaRankOf { d, a, space: _ }
            | Op::Cvta { d, a, .. } => [Write(*d), Read(*a)].into_iter().for_each(visit),
            Op::Special { d, special: _, width: _ } | Op::ActiveMask { d } => visit(Write(*d)),
            Op::Int2 { op: _, ty: _, d, a, b } | Op::Float2 { d, a, b, .. } => {
                [Write(*d), Read(*a), Read(*b)].into_iter().for_each(visit);
            }
            Op::Int3 { op: _, ty: _, d, a, b, c } | Op::Fma { d, a, b, c, .. } => {
                [Write(*d), Read(*a), Read(*b), Read(*c)].into_iter().for_each(visit);
            }
            Op::Insert { width: _, d, a, b, position, length } => {
                [Write(*d), Read(*a), Read(*b), Read(*position), Read(*length)].into_iter().for_each(visit);
            }
            Op::Carry { subtract: _, width: _, d, a, b, carry_in, carry_out } => {
                [Write(*d), Read(*a), Read(*b)].into_iter().for_each(&mut *visit);
                let read = carry_in.map(|pred| ReadPredicate(PredSrc { pred, negated: false }));
                read.into_iter().chain(carry_out.map(WritePredicate)).for_each(visit);
            }
            Op::SetpInt { compare: _, ty: _, p, q, a, b, combine }
            | Op::SetpFloat { compare: _, format: _, flush: _, p, q, a, b, combine } => {
                [WritePredicate(*p), Read(*a), Read(*b)].into_iter().for_each(&mut *visit);
                let read = combine.map(|(_, c)| ReadPredicate(c));
                q.map(WritePredicate).into_iter().chain(read).for_each(visit);
            }
            Op::Pred2 { op: _, p, a, b } => {
                [WritePredicate(*p), ReadPredicate(*a), ReadPredicate(*b)].into_iter().for_each(visit);
            }
            Op::PredMov { p, a } => [WritePredicate(*p), ReadPredicate(*a)].into_iter().for_each(visit),
            Op::PredConst { p, value: _ } => visit(WritePredicate(*p)),
            Op::Select { width: _, d, a, b, p } => {
                [Write(*d), Read(*a), Read(*b), ReadPredicate(*p)].into_iter().for_each(visit);
            }
            Op::Pack { d, parts, part: _ } => {
                visit(Write(*d));
                parts.iter().for_each(|a| visit(Read(*a)));
            }
            Op::Unpack { d, a, part: _ } => {
                visit(Read(*a));
                d.iter().flatten().for_each(|d| visit(Write(*d)));
            }
            Op::Load { space: _, address, width: _, d, access: _ } => {
                visit(Read(address.base));
                d.iter().flatten().for_each(|d| visit(Write(*d)));
            }
            Op::Store { space: _, address, width: _, a, access: _ } => {
                visit(Read(address.base));
                a.iter().for_each(|a| visit(Read(*a)));
            }
            Op::Atomic {
                update: _,
                scope: _,
                space: _,
                address,
                alignment: _,
                releases: _,
                acquires: _,
                draws: _,
                d,
                a,
            } => {
                [Read(address.base), Read(*a)].into_iter().for_each(&mut *visit);
                d.iter().for_each(|d| visit(Write(*d)));
            }
            Op::Swap(swap) => swap.visit(visit),
            Op::MapToCta { d, a, rank, space: _, width: _ } => {
                [Write(*d), Read(*a), Read(*rank)].into_iter().for_each(visit);
            }
            Op::IsSpace { p, a, space: _ } => [WritePredicate(*p), Read(*a)].into_iter().for_each(visit),
            Op::Branch { target } => visit(Target(*target)),
            Op::BranchTable { index, targets } => {
                visit(Read(*index));
                targets.iter().for_each(|target| visit(Target(*target)));
            }
            Op::Mma { product: _, d, a, b, c }
            | Op::MultiplyFragments { product: _, column_major: _, d, a, b, c } => {
                d.iter().for_each(|d| visit(Write(*d)));
                a.iter().chain(b).chain(c).for_each(|a| visit(Read(*a)));
            }
            Op::LoadMatrix { space: _, address, transposed: _, d } => {
                visit(Read(address.base));
                d.iter().for_each(|d| visit(Write(*d)));
            }
            Op::StoreMatrix { space: _, address, transposed: _, a } => {
                visit(Read(address.base));
                a.iter().for_each(|a| visit(Read(*a)));
            }
            Op::TransposeMatrix { d, a } => [Write(*d), Read(*a)].into_iter().for_each(visit),
            Op::LoadFragment { fragment: _, column_major: _, space: _, address, stride, d } => {
                visit(Read(address.base));
                stride.iter().for_each(|stride| visit(Read(*stride)));
                d.iter().for_each(|d| visit(Write(*d)));
            }
            Op::StoreFragment { fragment: _, column_major: _, space: _, address, stride, a } => {
                visit(Read(address.base));
                stride.iter().chain(a).for_each(|a| visit(Read(*a)));
            }
            Op::Async(operation) => operation.visit(visit),
            Op::Enter { declared } => {
                declared.registers.iter().for_each(|d| visit(Write(*d)));
                declared.predicates.iter().for_each(|p| visit(WritePredicate(*p)));
                declared.variables.iter().for_each(|variable| visit(Read(Src::Symbol(*variable, 0))));
            }
            Op::Unevaluated { d, p, a, predicates, is_collective: _, reason: _ } => {
                d.iter().for_each(|d| visit(Write(*d)));
                p.iter().for_each(|p| visit(WritePredicate(*p)));
                a.iter().for_each(|a| visit(Read(*a)));
                predicates.iter().for_each(|predicate| visit(ReadPredicate(*predicate)));
            }
            Op::Exit | Op::Trap | Op::Nop | Op::Undetermined(_) | Op::Unsupported { reason: _ } => {}
            Op::Barrier { kind, id, count, aligned: _ } => {
                visit(Read(*id));
                count.iter().for_each(|count| visit(Read(*count)));
                match kind {
                    Barrier::Sync | Barrier::Arrive => {}
                    Barrier::RedPopc(d, p) => [Write(*d), ReadPredicate(*p)].into_iter().for_each(visit),
                    Barrier::RedPred(_, d, p) => {
                        [WritePredicate(*d), ReadPredicate(*p)].into_iter().for_each(visit);
                    }
                }
            }
            Op::WarpSync { mask } => visit(Read(*mask)),
            Op::Shuffle { mode: _, d, p, a, b, c, mask } => {
                d.iter().for_each(|d| visit(Write(*d)));
                p.iter().for_each(|p| visit(WritePredicate(*p)));
                [a, b, c, mask].into_iter().for_each(|a| visit(Read(*a)));
            }
            Op::Vote { vote: _, p, a, mask } => {
                [WritePredicate(*p), ReadPredicate(*a), Read(*mask)].into_iter().for_each(visit);
            }
            Op::Ballot { d, a, mask } => {
                [Write(*d), ReadPredicate(*a), Read(*mask)].into_iter().for_each(visit);
            }
            Op::MatchAny { d, a, width: _, mask } | Op::Redux { op: _, d, a, mask } => {
                [Write(*d), Read(*a), Read(*mask)].into_iter().for_each(visit);
            }
            Op::MatchAll { d, p, a, width: _, mask } => {
                d.iter().for_each(|d| visit(Write(*d)));
                p.iter().for_each(|p| visit(WritePredicate(*p)));
                [a, mask].into_iter().for_each(|a| visit(Read(*a)));
            }
            Op::Elect { d, p, mask } => {
                d.iter().for_each(|d| visit(Write(*d)));
                [WritePredicate(*p), Read(*mask)].into_iter().for_each(visit);
            }
        }
    }
}
