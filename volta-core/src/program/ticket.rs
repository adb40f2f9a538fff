//! Atomic operations that draw tickets (rule Y18): counters whose previous contents a thread learns.

use super::code::Program;
use super::op::{InstId, Int2, Op, RegId, Space, Src, Width};
use super::update::Update;
use super::visit::Named;

impl Program {
    /// Whether what atomic operations return is used, or locks are taken, and whether any of them may access global memory.
    pub fn uses_found(&self) -> Option<bool> {
        let mut found = None;
        for (at, inst) in self.insts.iter().enumerate() {
            let space = if let Op::Atomic { space, update, d, .. } = &inst.op
                && (matches!(update, Update::Counter { .. })
                    || self.is_found_used(InstId::from_index(at), *d))
            {
                *space
            } else if let Op::Swap(swap) = &inst.op
                && swap.waits
            {
                swap.space
            } else {
                continue;
            };
            let is_global = matches!(space, Space::Global | Space::Generic);
            found = Some(found.unwrap_or(false) || is_global);
        }
        found
    }

    /// Whether operations may draw tickets.
    pub fn has_counters(&self) -> bool {
        !self.draws().is_empty() || self.has_locks()
    }

    /// Whether operations take locks.
    pub fn has_locks(&self) -> bool {
        (0..self.insts.len()).any(|at| self.takes_lock(InstId::from_index(at)))
    }

    /// Whether a result of the operation at `at` may be read.
    fn is_found_used(&self, at: InstId, d: Option<RegId>) -> bool {
        d.is_some_and(|d| self.is_read_from(at.next().0, Named::Write(d)).0)
    }

    /// The same program, in which the operations that may draw tickets are marked, and no other atomic operation has a
    /// result that nothing reads.
    #[must_use]
    pub fn with_tickets(&self) -> Program {
        let mut program = self.clone();
        let counters = self.draws();
        for (at, inst) in program.insts.iter_mut().enumerate() {
            let id = InstId::from_index(at);
            let mut op = inst.op.clone();
            if let Op::Atomic { draws, d, .. } = &mut op {
                *draws = counters.binary_search(&id).is_ok();
                if !*draws && !self.is_found_used(id, *d) {
                    *d = None;
                }
                inst.replace(op);
            }
        }
        program
    }

    /// Additions of words whose results are read, and all counters that wrap around.
    fn draws(&self) -> Vec<InstId> {
        let draws = |at: &InstId| {
            let Op::Atomic { update, d, .. } = &self.insts[at.index()].op else { return false };
            match update {
                Update::Counter { .. } => true,
                Update::Integer(Int2::Add, ty) => ty.width == Width::W32 && self.is_found_used(*at, *d),
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
