//! Which registers hold addresses of variables, whatever is executed.

use super::code::Program;
use super::effect::Effect;
use super::op::{Int2, Int3, Op, Space, Src};

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Nothing that is computed from the address of a variable.
    Numbers,
    /// The address of a variable, plus or minus something else.
    Addresses,
    /// Either, or something else that is computed from such an address.
    Either,
}

impl Program {
    /// What each register holds, at any place of the code.
    pub(crate) fn addresses(&self) -> Vec<Holds> {
        let (mut may_be, mut memory) = (vec![false; self.registers as usize], false);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for inst in &self.insts {
                let found = inst.op.computes_with(memory, &may_be);
                if found && may_leave_in_memory(&inst.op) {
                    changed |= !std::mem::replace(&mut memory, true);
                }
                inst.op.visit_registers(&mut |register, writes| {
                    changed |= found && writes && !std::mem::replace(&mut may_be[register.index()], true);
                });
            }
        }
        let (mut is, mut changed) = (may_be.clone(), true);
        while std::mem::take(&mut changed) {
            for inst in &self.insts {
                let keeps = inst.op.keeps_address(&is, &may_be);
                inst.op.visit_registers(&mut |register, writes| {
                    changed |= !keeps && writes && std::mem::take(&mut is[register.index()]);
                });
            }
        }
        let holds = |(may_be, is)| match (may_be, is) {
            (false, _) => Holds::Numbers,
            (true, true) => Holds::Addresses,
            (true, false) => Holds::Either,
        };
        may_be.into_iter().zip(is).map(holds).collect()
    }
}

/// Whether a source is an address, if these registers are.
fn is_address(source: Src, registers: &[bool]) -> bool {
    match source {
        Src::Reg(register) => registers[register.index()],
        Src::Symbol(..) => true,
        Src::Imm(_) => false,
    }
}

/// Whether other operations may find what this one computes with.
fn may_leave_in_memory(op: &Op) -> bool {
    match op.effect() {
        Effect::Computes | Effect::Reads | Effect::Control(_) | Effect::Fault => false,
        Effect::Writes(_) | Effect::Context | Effect::Waits(_) | Effect::Collective(_) => true,
    }
}

impl Op {
    /// Whether one of the values that it computes with, not the address at which it finds them, may be computed from
    /// the address of a variable, if these registers may, and perhaps memory.
    fn computes_with(&self, memory: bool, registers: &[bool]) -> bool {
        let is = |source: Src| is_address(source, registers);
        if let Op::Load { space, .. } = self {
            *space != Space::Param && memory
        } else if let Op::Store { a, .. } = self {
            a.iter().copied().any(is)
        } else if let Op::Atomic { a, .. } = self {
            memory || is(*a)
        } else {
            let mut found = false;
            self.visit_sources(&mut |source| found |= is(source));
            found
        }
    }

    /// Whether its results are addresses of variables, if some registers are, and others may be.
    fn keeps_address(&self, registers: &[bool], may_be: &[bool]) -> bool {
        let is = |source: Src| is_address(source, registers);
        let moves = |by: [Src; 2]| !by.into_iter().any(|source| is_address(source, may_be));
        if let Op::Mov { a, .. } | Op::Cvta { a, .. } | Op::CvtInt { a, .. } = self {
            is(*a)
        } else if let Op::Int2 { op: op @ (Int2::Add | Int2::Sub), a, b, .. } = self {
            is(*a) && moves([*b; 2]) || *op == Int2::Add && is(*b) && moves([*a; 2])
        } else if let Op::Int3 { op: Int3::MadLo | Int3::MadWide, a, b, c, .. } = self {
            is(*c) && moves([*a, *b])
        } else if let Op::Select { a, b, .. } = self {
            is(*a) && is(*b)
        } else {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::lower;
    use crate::ptx;

    #[test]
    fn registers_hold_addresses_if_nothing_else_is_ever_in_them() {
        let text = "
            .version 8.0
            .target sm_80
            .address_size 64
            .visible .entry k(.param .u64 x) {
                .reg .b32 %r<12>; .reg .b64 %d<2>; .reg .pred %p<1>;
                .shared .align 4 .b8 s[64];
                ld.param.u64 %d0, [x];
                mov.u32 %r0, %tid.x;
                mov.u32 %r1, s;
                mad.lo.u32 %r2, %r0, 4, %r1;
                add.u32 %r3, %r2, 4;
                sub.u32 %r4, %r3, %r1;
                sub.u32 %r5, 64, %r1;
                xor.b32 %r6, %r1, 16;
                mov.u32 %r7, s;
                setp.eq.u32 %p0, %r0, 0;
                @%p0 mov.u32 %r7, 8;
                ld.shared.u32 %r8, [%r2];
                st.shared.u32 [%r2], %r0;
                st.global.u32 [%d0], %r8;
                ret;
            }";
        let module = ptx::parse(text).expect("it parses");
        let program = lower(&module, text, Some("k")).expect("it is resolved");
        let holds = program.addresses();
        let count = |what| holds.iter().filter(|own| **own == what).count();
        // %r1 to %r3; %r4 to %r7, of which the last also holds a number.
        assert_eq!((count(Holds::Addresses), count(Holds::Either)), (3, 4), "{program}");
        let stored = text.replace("[%r2], %r0;", "[%r2], %r3;");
        let module = ptx::parse(&stored).expect("it parses");
        let program = lower(&module, &stored, Some("k")).expect("it is resolved");
        let either = program.addresses().into_iter().filter(|own| *own == Holds::Either).count();
        assert_eq!(either, 5, "what is loaded may be what was stored: {program}");
    }
}
