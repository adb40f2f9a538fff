//! Polling loops: loops that only test again whether a phase of an mbarrier is over (rule Y9).

use super::code::{Inst, Program};
use super::effect::{Control, Effect};
use super::op::{Bool2, Compare, InstId, Int, Op, PredId, PredSrc, RegId, Src};
use super::visit::{Named, Written};
use rustc_hash::FxHashMap;

/// The largest number of operations between a test and its repetition in a polling loop.
const MAX_OPERATIONS: usize = 64;

/// A wait for a phase by repeated tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polling {
    /// Operations between a failed last test and its repetition: those that compute, unconditionally or under a guard.
    pub path: Vec<InstId>,
    /// A test that comes first, if there is one.
    pub first: Option<FirstTest>,
    /// What is written on all paths, except by the last test.
    pub written: Written,
}

/// A first test before a polling loop, as compilers emit it by rotating loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstTest {
    /// The test in the loop.
    pub last: InstId,
    /// Where threads continue after a successful first test, and the others after the loop.
    pub join: InstId,
    /// Operations from the first test to the join, if the test succeeds.
    pub skips: Vec<InstId>,
    /// Operations from the first test to the loop.
    pub enters: Vec<InstId>,
    /// Operations from the loop to the join.
    pub leaves: Vec<InstId>,
}

/// A wait for a phase on one side of a branch, if the sides differ in nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedWait {
    /// The test in the loop that waits.
    pub test: InstId,
    /// Operations from the branch to the loop.
    pub enters: Vec<InstId>,
    /// What these operations write.
    pub written: Written,
}

/// The operations of a thread, as far as its path is known and they only compute.
struct Way {
    /// All instructions on the path, including the one that ends it.
    visited: Vec<usize>,
    /// Those of them that compute, each with its index in `visited`.
    computing: Vec<(usize, InstId)>,
}

impl Way {
    /// The operations before the path first reaches an instruction.
    fn before(&self, join: usize) -> Vec<InstId> {
        let end = self.visited.iter().position(|at| *at == join).unwrap_or(self.visited.len());
        self.computing.iter().take_while(|(at, _)| *at < end).map(|(_, inst)| *inst).collect()
    }

    fn end(&self) -> Option<usize> {
        self.visited.last().copied()
    }
}

/// Register contents known on that path, for every thread.
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
    /// The wait that a test of an mbarrier is part of, if it is repeated until it succeeds and everything else only
    /// computes in registers.
    pub fn polling(&self, test: InstId) -> Option<Polling> {
        self.polling_loop(test).or_else(|| self.polling_behind(test))
    }

    /// A loop over the test itself.
    fn polling_loop(&self, test: InstId) -> Option<Polling> {
        let p = self.tested(test.index())?;
        let mut known = Known::default();
        known.predicates.insert(p, false);
        let way = self.follow(test.index() + 1, &mut known, test.index());
        if way.end() != Some(test.index()) {
            return None;
        }
        let path = way.before(test.index());
        let written = self.written_by(&path, &[p]);
        Some(Polling { path, first: None, written })
    }

    /// A test with a result that only decides whether a polling loop for the same phase is entered.
    fn polling_behind(&self, test: InstId) -> Option<Polling> {
        let p = self.tested(test.index())?;
        let mut known = Known::default();
        known.predicates.insert(p, false);
        let entering = self.follow(test.index() + 1, &mut known, test.index());
        let last = entering.end().filter(|last| *last != test.index())?;
        let again = self.tested(last)?;
        let looped = self.polling_loop(InstId::from_index(last))?;
        for d in &looped.written.registers {
            known.registers.remove(d);
        }
        for p in &looped.written.predicates {
            known.predicates.remove(p);
        }
        known.predicates.insert(again, true);
        let leaving = self.follow(last + 1, &mut known, last);
        let mut known = Known::default();
        known.predicates.insert(p, true);
        let skipping = self.follow(test.index() + 1, &mut known, test.index());
        let join = *skipping.visited.iter().find(|at| leaving.visited.contains(at))?;
        let (skips, leaves) = (skipping.before(join), leaving.before(join));
        let enters = entering.before(last);
        let all: Vec<InstId> =
            [&skips, &enters, &looped.path, &leaves].into_iter().flatten().copied().collect();
        let mut written = self.written_by(&all, &[]);
        written.predicates.extend([p, again]);
        written.predicates.sort_unstable();
        written.predicates.dedup();
        let first = FirstTest {
            last: InstId::from_index(last),
            join: InstId::from_index(join),
            skips,
            enters,
            leaves,
        };
        Some(Polling { path: looped.path, first: Some(first), written })
    }

    /// The wait on one side of a branch, if waiting is all that distinguishes the two sides. `waits_taken`: whether the
    /// waiting side is the taken one.
    pub fn skipped_wait(&self, branch: InstId, waits_taken: bool) -> Option<SkippedWait> {
        let Inst { op, guard: Some(guard), .. } = self.insts.get(branch.index())? else { return None };
        let Effect::Control(Control::Branch(target)) = op.effect() else { return None };
        let way = |known: &mut Known, is_taken: bool, end: usize| {
            known.predicates.insert(guard.pred, is_taken != guard.negated);
            self.follow(if is_taken { target.index() } else { branch.index() + 1 }, known, end)
        };
        let mut known = Known::default();
        let waiting = way(&mut known, waits_taken, branch.index());
        let last = waiting.end()?;
        let again = self.tested(last)?;
        let looped = self.polling_loop(InstId::from_index(last))?;
        for d in &looped.written.registers {
            known.registers.remove(d);
        }
        for p in &looped.written.predicates {
            known.predicates.remove(p);
        }
        known.predicates.insert(again, true);
        let leaving = self.follow(last + 1, &mut known, last);
        let skipping = way(&mut Known::default(), !waits_taken, branch.index());
        let join = *skipping.visited.iter().find(|at| leaving.visited.contains(at))?;
        let mut known = Known::default();
        known.predicates.insert(again, false);
        let round = self.follow(last + 1, &mut known, last);
        let ways = [&waiting, &round, &leaving, &skipping];
        let ways: Vec<usize> = ways
            .into_iter()
            .flat_map(|way| way.visited.iter().copied().take_while(|at| *at != join))
            .collect();
        let path: Vec<InstId> = ways.iter().map(|at| InstId::from_index(*at)).collect();
        let all = self.written_by(&path, &[]);
        // Registers and predicates that either side writes are read nowhere else.
        let mut is_read = false;
        for (at, inst) in self.insts.iter().enumerate() {
            if ways.contains(&at) {
                continue;
            }
            is_read |= inst.guard.is_some_and(|guard| all.predicates.contains(&guard.pred));
            inst.op.visit(&mut |named| match named {
                Named::Read(Src::Reg(d)) => is_read |= all.registers.contains(&d),
                Named::ReadPredicate(p) => is_read |= all.predicates.contains(&p.pred),
                Named::Read(Src::Imm(_) | Src::Symbol(..))
                | Named::Write(_)
                | Named::WritePredicate(_)
                | Named::Target(_) => {}
            });
        }
        let enters = waiting.before(last);
        let written = self.written_by(&enters, &[]);
        (!is_read).then_some(SkippedWait { test: InstId::from_index(last), enters, written })
    }

    /// The predicate that a test of an mbarrier writes.
    fn tested(&self, at: usize) -> Option<PredId> {
        self.insts.get(at)?.op.barrier_test().map(|test| test.p)
    }

    fn written_by(&self, path: &[InstId], but: &[PredId]) -> Written {
        let mut all = Written::default();
        for inst in path {
            let written = self.insts[inst.index()].op.written();
            all.registers.extend(written.registers);
            all.predicates.extend(written.predicates);
        }
        all.registers.sort_unstable();
        all.registers.dedup();
        all.predicates.sort_unstable();
        all.predicates.dedup();
        all.predicates.retain(|p| !but.contains(p));
        all
    }

    /// The path of a thread from `from` on, to `end` or to the first instruction with an unknown successor or with an
    /// effect other than computing.
    fn follow(&self, from: usize, known: &mut Known, end: usize) -> Way {
        let mut way = Way { visited: Vec::new(), computing: Vec::new() };
        let mut at = from;
        for _ in 0..MAX_OPERATIONS {
            way.visited.push(at);
            let Some(Inst { op, guard, .. }) = self.insts.get(at) else { break };
            if at == end {
                break;
            }
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
                // A guarded trap is checked in each iteration.
                Effect::Control(Control::Trap) if runs.is_none() => {}
                // A block's declarations are undefined on entry.
                Effect::Context if op.enters_registers() => {}
                Effect::Computes => {}
                Effect::Control(_)
                | Effect::Reads
                | Effect::Writes(_)
                | Effect::Context
                | Effect::Waits(_)
                | Effect::Collective(_)
                | Effect::Fault => break,
            }
            known.step(op, runs == Some(true));
            way.computing.push((way.visited.len() - 1, InstId::from_index(at)));
            at += 1;
        }
        way
    }
}
