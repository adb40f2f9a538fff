//! Atomic operations that draw tickets (rule Y18): counters whose previous contents a thread learns.

use super::code::Program;
use super::op::{InstId, Int2, Op, Space, Src, Width};
use super::update::Update;
use super::visit::Named;

impl Program {
    /// Whether operations draw tickets, and whether any of them may do so from global memory.
    pub fn draws_tickets(&self) -> Option<bool> {
        let mut found = None;
        for at in self.draws() {
            if let Op::Atomic { space, .. } = &self.insts[at.index()].op {
                let is_global = matches!(space, Space::Global | Space::Generic);
                found = Some(found.unwrap_or(false) || is_global);
            }
        }
        found
    }

    /// The same program, in which these operations are marked.
    #[must_use]
    pub fn with_tickets(&self) -> Program {
        let mut program = self.clone();
        for at in self.draws() {
            let inst = &mut program.insts[at.index()];
            let mut op = inst.op.clone();
            if let Op::Atomic { draws, .. } = &mut op {
                *draws = true;
            }
            inst.replace(op);
        }
        program
    }

    /// Additions of words whose results are read, and all counters that wrap around.
    fn draws(&self) -> Vec<InstId> {
        let draws = |at: &InstId| {
            let Op::Atomic { update, d, .. } = &self.insts[at.index()].op else { return false };
            match update {
                Update::Counter { .. } => true,
                Update::Integer(Int2::Add, ty) => {
                    let is_read = d.is_some_and(|d| self.is_read_from(at.next().0, Named::Write(d)).0);
                    ty.width == Width::W32 && is_read
                }
                Update::Integer(..)
                | Update::Real(_)
                | Update::Extreme { .. }
                | Update::RealInWord { .. } => false,
            }
        };
        (0..self.insts.len()).map(InstId::from_index).filter(draws).collect()
    }
}

impl Op {
    /// Calls `visit` with each value that it uses for more than an integer to move, compute with or compare.
    pub(crate) fn visit_settled(&self, visit: &mut dyn FnMut(Src)) {
        let follows = matches!(
            self,
            Op::Mov { .. }
                | Op::Int1 { .. }
                | Op::Int2 { .. }
                | Op::Int3 { .. }
                | Op::Insert { .. }
                | Op::CvtInt { .. }
                | Op::SetpInt { .. }
                | Op::Select { .. }
        );
        if follows {
            return;
        }
        if let Op::Store { address, .. } = self {
            visit(address.base);
        } else if let Op::Shuffle { b, c, mask, .. } = self {
            [*b, *c, *mask].into_iter().for_each(visit);
        } else {
            self.visit_sources(visit);
        }
    }
}
