//! Control flow: where the two sides of a branch join, and what they write up to there (rule S1).

use super::code::{Inst, Program};
use super::effect::Control;
use super::op::{InstId, Op, Src};
use super::repeat::Loops;
use super::visit::{Named, Written};
use crate::base::index::number_of;
use rustc_hash::{FxHashMap, FxHashSet};

/// Branches with more operations than this on their two sides are not turned into selects.
const MAX_OPERATIONS: usize = 1 << 12;

/// A branch with two sides that only load, and compute in registers and local memory, until they join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hammock {
    /// The first operation on all paths from the branch: its immediate post-dominator; the number of operations where
    /// the thread has ended by then.
    pub join: InstId,
    /// What its sides write, in ascending order.
    pub written: Written,
    /// What of that is live at the join.
    pub live: Written,
    /// Whether a side contains a loop, other than one that counts as one operation, or returns to the branch, which
    /// controls a loop.
    pub loops: bool,
    /// Number of operations visited to determine this.
    pub looked_at: u64,
}

/// The immediate post-dominator of each operation, where it has one. That of operations after which threads end in
/// several places is the end, by the number of operations.
#[derive(Clone, Debug, Default)]
pub struct Joins(Vec<Option<u32>>);

/// Why the sides of a branch form no [`Hammock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoHammock {
    /// They do not join: one never ends.
    Apart,
    /// This operation on a side does more than load, and compute in registers and local memory.
    Effect(InstId),
    /// They have too many operations.
    Long,
}

impl Inst {
    /// Whether an instruction reads a register (named as written), and whether it writes it.
    pub(super) fn reads_and_writes(&self, register: Named) -> (bool, bool) {
        let (mut reads, mut writes) = (false, false);
        self.op.visit(&mut |named| match (named, register) {
            (Named::Read(Src::Reg(a)), Named::Write(d)) => reads |= a == d,
            (Named::ReadPredicate(a), Named::WritePredicate(p)) => reads |= a.pred == p,
            _ => writes |= named == register,
        });
        if let (Some(guard), Named::WritePredicate(p)) = (self.guard, register) {
            reads |= guard.pred == p;
        }
        (reads, writes)
    }
}

impl Program {
    /// The hammock of a branch, if its sides only load and compute; loops in `steps` count as one operation.
    ///
    /// # Errors
    /// When they do more than that, or do not join.
    pub fn hammock(&self, joins: &Joins, steps: &Loops, branch: InstId) -> Result<Hammock, NoHammock> {
        let end = self.insts.len() as u32;
        let join = joins.0.get(branch.index()).copied().flatten().ok_or(NoHammock::Apart)?;
        let mut written = Written::default();
        let mut effect = None;
        let mut seen = FxHashSet::default();
        let mut work: Vec<u32> = self.successors(branch.0).filter(|next| *next != join).collect();
        while let Some(at) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            let op = &self.insts[at as usize].op;
            if op.may_be_tried() {
                let own = op.written();
                written.registers.extend(own.registers);
                written.predicates.extend(own.predicates);
                written.local |= own.local;
            } else if !matches!(op.control(), Some(Control::Branch(_) | Control::Exit | Control::Trap)) {
                effect = Some(effect.map_or(at, |first: u32| first.min(at)));
            }
            work.extend(self.successors(at).filter(|next| *next != join));
        }
        if let Some(at) = effect {
            return Err(NoHammock::Effect(InstId(at)));
        }
        if seen.len() > MAX_OPERATIONS {
            return Err(NoHammock::Long);
        }
        // A loop counts as one operation for code that enters it from outside.
        let loops = self.is_cyclic(&seen, steps);
        written.registers.sort_unstable();
        written.registers.dedup();
        written.predicates.sort_unstable();
        written.predicates.dedup();
        let mut live = written.clone();
        let mut looked_at = seen.len() as u64;
        let mut is_read = |register| {
            let (read, count) = if join == end { (false, 1) } else { self.is_read_from(join, register) };
            looked_at += count;
            read
        };
        live.registers.retain(|register| is_read(Named::Write(*register)));
        live.predicates.retain(|predicate| is_read(Named::WritePredicate(*predicate)));
        Ok(Hammock { join: InstId(join), written, live, loops, looked_at })
    }

    /// Whether these operations contain a cycle, other than an iteration of a loop that counts as one operation.
    fn is_cyclic(&self, set: &FxHashSet<u32>, steps: &Loops) -> bool {
        let is_round = |at: u32, next: u32| steps.get(&InstId(next)).is_some_and(|own| own.has(at));
        let within =
            |at: u32| self.successors(at).filter(move |next| set.contains(next) && !is_round(at, *next));
        let mut entries: FxHashMap<u32, u32> = FxHashMap::default();
        for next in set.iter().flat_map(|at| within(*at)) {
            *entries.entry(next).or_insert(0) += 1;
        }
        // Removes operations without predecessors; what is left is cyclic.
        let mut free: Vec<u32> = set.iter().copied().filter(|at| !entries.contains_key(at)).collect();
        let mut taken = 0;
        while let Some(at) = free.pop() {
            taken += 1;
            for next in within(at) {
                if let Some(count) = entries.get_mut(&next) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(next);
                    }
                }
            }
        }
        taken < set.len()
    }

    /// Where a branch leads, or a return under a guard: to the last operation, which is a return for all.
    pub fn target_of(&self, inst: &Inst) -> Option<InstId> {
        match inst.op.control()? {
            Control::Branch(target) => Some(*target),
            Control::Exit if inst.guard.is_some() => {
                let last = self.insts.len().checked_sub(1)?;
                let returns = matches!(self.insts[last], Inst { guard: None, op: Op::Exit, .. });
                returns.then_some(InstId(number_of(last)))
            }
            Control::Exit | Control::Trap | Control::Table(..) => None,
        }
    }

    /// The possible successors of an operation; none after a return.
    pub fn successors(&self, at: u32) -> impl Iterator<Item = u32> {
        let inst = &self.insts[at as usize];
        let (targets, falls) = match inst.op.control() {
            Some(control) => (control.targets(), inst.guard.is_some()),
            None => (&[][..], true),
        };
        targets.iter().map(|target| target.0).chain(falls.then_some(at + 1))
    }

    /// For each operation, whether it starts a basic block: control can reach it from elsewhere than the one before.
    pub fn block_starts(&self) -> Vec<bool> {
        let mut starts = vec![false; self.insts.len()];
        let mut start = |at: u32| {
            if let Some(start) = starts.get_mut(at as usize) {
                *start = true;
            }
        };
        start(0);
        for (at, inst) in (0..).zip(&self.insts) {
            if inst.op.control().is_some() {
                self.successors(at).for_each(&mut start);
            }
        }
        starts
    }

    /// The immediate post-dominator of each operation; `None` when there is none.
    ///
    /// Takes a pass over the whole program, so it is computed once and not for each branch. Immediate dominators of the
    /// reversed graph, after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    pub fn joins(&self) -> Joins {
        let end = self.insts.len();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); end + 1];
        for (from, inst) in self.insts.iter().enumerate() {
            for to in self.successors(from as u32) {
                before[to as usize].push(from as u32);
            }
            if inst.op.ends() {
                before[end].push(from as u32);
            }
        }
        // Postorder numbers of the reversed graph; the end has the highest.
        let mut number = vec![u32::MAX; end + 1];
        let mut order = Vec::with_capacity(end + 1);
        let mut visited = vec![false; end + 1];
        let mut stack = vec![(end, 0)];
        visited[end] = true;
        while let Some((node, next)) = stack.last_mut() {
            match before[*node].get(*next) {
                Some(from) => {
                    *next += 1;
                    if !std::mem::replace(&mut visited[*from as usize], true) {
                        stack.push((*from as usize, 0));
                    }
                }
                None => {
                    number[*node] = order.len() as u32;
                    order.push(*node);
                    stack.pop();
                }
            }
        }
        let mut immediate: Vec<Option<usize>> = vec![None; end + 1];
        immediate[end] = Some(end);
        let mut changed = true;
        while changed {
            changed = false;
            for node in order.iter().rev().copied().filter(|node| *node != end) {
                let ends = self.insts[node].op.ends().then_some(end);
                let after = self.successors(node as u32).map(|next| next as usize).chain(ends);
                let met = after.filter(|next| immediate[*next].is_some()).reduce(|mut a, mut b| {
                    while a != b {
                        let lower = if number[a] < number[b] { &mut a } else { &mut b };
                        *lower = immediate[*lower].unwrap_or(end);
                    }
                    a
                });
                if met.is_some() && immediate[node] != met {
                    immediate[node] = met;
                    changed = true;
                }
            }
        }
        immediate.truncate(end);
        Joins(immediate.into_iter().map(|join| join.map(|join| join as u32)).collect())
    }

    /// Whether a register (named as written) is live at `start`, and how many operations were visited to determine it.
    pub(super) fn is_read_from(&self, start: u32, register: Named) -> (bool, u64) {
        let mut seen = FxHashSet::default();
        let mut work = vec![start];
        while let Some(at) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            let inst = &self.insts[at as usize];
            let (reads, writes) = inst.reads_and_writes(register);
            if reads {
                return (true, seen.len() as u64);
            }
            // A guarded write keeps the old value where its guard does not hold.
            if !writes || inst.guard.is_some() {
                work.extend(self.successors(at));
            }
        }
        (false, seen.len() as u64)
    }
}
