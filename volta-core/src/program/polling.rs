//! Loops that do nothing but ask again whether a phase of a barrier is over (rule Y9).

use super::asynchronous::{Async, BarrierAction};
use super::code::{Inst, Program};
use super::effect::{Control, Effect};
use super::op::{Bool2, Compare, InstId, Int, Op, PredId, PredSrc, RegId, Src};
use rustc_hash::FxHashMap;

/// More operations than this on the way from a test back to it are no polling loop.
const MAX_OPERATIONS: usize = 64;

/// The way from a test that says *no* back to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollingLoop {
    /// Operations on the way, in order: those that compute, and are executed for sure or by their guard.
    pub path: Vec<InstId>,
    /// What they write.
    pub written: super::control::Written,
}

/// What is known of registers on that way, whoever goes it.
#[derive(Default)]
struct Known {
    registers: FxHashMap<RegId, u64>,
    predicates: FxHashMap<PredId, bool>,
}

impl Known {
    fn truth(&self, source: PredSrc) -> Option<bool> {
        self.predicates.get(&source.pred).map(|holds| *holds != source.negated)
    }

    fn value(&self, source: Src) -> Option<u64> {
        match source {
            Src::Imm(bits) => Some(bits),
            Src::Reg(register) => self.registers.get(&register).copied(),
            Src::Symbol(..) => None,
        }
    }

    /// Executes an operation that only computes; `certain` unless its guard may not hold.
    fn step(&mut self, op: &Op, certain: bool) {
        let mut register = None;
        let mut predicate = None;
        if let Op::Mov { d, a, width } = op {
            register = self.value(*a).map(|bits| (*d, bits & width.mask()));
        } else if let Op::Select { width, d, a, b, p } = op {
            let chosen = self.truth(*p).and_then(|holds| self.value(if holds { *a } else { *b }));
            register = chosen.map(|bits| (*d, bits & width.mask()));
        } else if let Op::SetpInt { compare, ty, p, q: None, a, b, combine: None } = op {
            let operands = self.value(*a).zip(self.value(*b));
            predicate = operands.map(|(a, b)| (*p, holds(*compare, *ty, a, b)));
        } else if let Op::PredMov { p, a } = op {
            predicate = self.truth(*a).map(|holds| (*p, holds));
        } else if let Op::PredConst { p, value } = op {
            predicate = Some((*p, *value));
        } else if let Op::Pred2 { op, p, a, b } = op {
            let operands = self.truth(*a).zip(self.truth(*b));
            predicate = operands.map(|(a, b)| {
                let holds = match op {
                    Bool2::And => a & b,
                    Bool2::Or => a | b,
                    Bool2::Xor => a ^ b,
                };
                (*p, holds)
            });
        }
        let written = op.written();
        for d in &written.registers {
            self.registers.remove(d);
        }
        for p in &written.predicates {
            self.predicates.remove(p);
        }
        if certain {
            self.registers.extend(register);
            self.predicates.extend(predicate);
        }
    }
}

fn holds(compare: Compare, ty: Int, a: u64, b: u64) -> bool {
    let above = 64 - ty.width.bits();
    let order = if ty.signed {
        ((a << above) as i64).cmp(&((b << above) as i64))
    } else {
        (a << above).cmp(&(b << above))
    };
    match compare {
        Compare::Eq => order.is_eq(),
        Compare::Ne => order.is_ne(),
        Compare::Lt => order.is_lt(),
        Compare::Le => order.is_le(),
        Compare::Gt => order.is_gt(),
        Compare::Ge => order.is_ge(),
    }
}

impl Program {
    /// The way from a test of a barrier back to itself that every thread goes to which the test says *no*, if there is
    /// one and threads do nothing on it but compute in registers.
    pub fn polling_loop(&self, test: InstId) -> Option<PollingLoop> {
        let Op::Async(Async::Barrier { action: BarrierAction::Test { p, .. }, .. }) =
            &self.insts[test.index()].op
        else {
            return None;
        };
        let mut known = Known::default();
        known.predicates.insert(*p, false);
        let mut found = PollingLoop::default();
        let mut at = test.index() + 1;
        for _ in 0..MAX_OPERATIONS {
            if at == test.index() {
                found.written.registers.sort_unstable();
                found.written.registers.dedup();
                found.written.predicates.sort_unstable();
                found.written.predicates.dedup();
                found.written.predicates.retain(|written| written != p);
                return Some(found);
            }
            let Inst { op, guard, .. } = self.insts.get(at)?;
            let runs = guard.map_or(Some(true), |guard| known.truth(guard));
            if runs == Some(false) {
                at += 1;
                continue;
            }
            match op.effect() {
                Effect::Control(Control::Branch(target)) if runs == Some(true) => {
                    at = target.index();
                    continue;
                }
                Effect::Computes => {}
                Effect::Control(_)
                | Effect::Reads
                | Effect::Writes(_)
                | Effect::Context
                | Effect::Waits(_)
                | Effect::Collective(_)
                | Effect::Fault => return None,
            }
            known.step(op, runs == Some(true));
            let written = op.written();
            found.written.registers.extend(written.registers);
            found.written.predicates.extend(written.predicates);
            found.path.push(InstId::from_index(at));
            at += 1;
        }
        None
    }
}
