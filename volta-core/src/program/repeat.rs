//! Loops that only compute registers from registers, identified by their code (rule V5).
//!
//! The results of such a loop are a function of the registers on entry, whatever its trip count; its
//! [code](super::loop_code) identifies the function. Only loops that [a counter ends](super::countdown) qualify.

use super::code::Program;
use super::effect::Control;
use super::loop_code::Names;
use super::op::{InstId, Op, PredId, RegId};
use super::visit::Named;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The largest number of operations of a loop.
const MAX_MEMBERS: usize = 256;

/// A loop that is entered at its first operation, has one exit, only computes in registers, and terminates for any
/// contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The operation after the loop.
    pub exit: InstId,
    /// The register that ends it.
    pub counter: RegId,
    /// The registers that it writes.
    pub written: Vec<RegId>,
    /// The predicate registers that it writes, none of which is live after it.
    pub predicates: Vec<PredId>,
    pub(super) header: u32,
    /// Its operations, in ascending order.
    pub(super) members: Vec<u32>,
    /// The registers whose contents on entry it may read or keep.
    pub(super) open: Vec<RegId>,
    /// The registers that it writes and that are live after it.
    pub(super) live: Vec<RegId>,
}

/// The loops of a program, by their first operation.
pub type Loops = FxHashMap<InstId, Arc<Loop>>;

impl Loop {
    /// Whether an operation is part of it.
    pub fn has(&self, at: u32) -> bool {
        self.members.binary_search(&at).is_ok()
    }

    /// The registers whose contents on entry it may read or keep.
    pub fn reads(&self) -> &[RegId] {
        &self.open
    }
}

impl Program {
    /// The loops of a program that only compute registers from registers.
    pub fn loops(&self) -> Loops {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.insts.len() + 1];
        let mut headers = FxHashSet::default();
        for from in 0..self.insts.len() as u32 {
            for to in self.successors(from) {
                before[to as usize].push(from);
                if to <= from {
                    headers.insert(to);
                }
            }
        }
        let found = headers.into_iter().filter_map(|header| {
            let members = self.members(header, &before)?;
            Some((InstId(header), Arc::new(self.closed_loop(header, members)?)))
        });
        found.collect()
    }

    /// The operations of the natural loop of a header, in ascending order. Only the header is entered from outside,
    /// since all predecessors of the others are members.
    fn members(&self, header: u32, before: &[Vec<u32>]) -> Option<Vec<u32>> {
        let mut members = FxHashSet::default();
        members.insert(header);
        let mut work: Vec<u32> =
            before[header as usize].iter().copied().filter(|from| *from >= header).collect();
        while let Some(at) = work.pop() {
            if members.insert(at) {
                let op = &self.insts[at as usize].op;
                // Loads and other effects disqualify a loop.
                let computes = op.only_computes() || matches!(op.control(), Some(Control::Branch(_)));
                if !computes || members.len() > MAX_MEMBERS {
                    return None;
                }
                work.extend(&before[at as usize]);
            }
        }
        let mut members: Vec<u32> = members.into_iter().collect();
        members.sort_unstable();
        // The program's entry is its first operation.
        (members[0] > 0 || header == 0).then_some(members)
    }

    fn closed_loop(&self, header: u32, members: Vec<u32>) -> Option<Loop> {
        let mut exits = FxHashSet::default();
        for at in &members {
            exits.extend(self.successors(*at).filter(|next| members.binary_search(next).is_err()));
        }
        let exit = exits.iter().copied().next().filter(|_| exits.len() == 1)?;
        let counter = self.counts_down(header, &members)?;
        let mut names = Names::default();
        let (mut written, mut predicates) = (Vec::new(), Vec::new());
        for at in &members {
            let inst = &self.insts[*at as usize];
            if let Some(mut guard) = inst.guard {
                names.guard(&mut guard);
            }
            if !matches!(inst.op, Op::Branch { .. }) {
                names.renamed(&inst.op)?;
            }
            let own = inst.op.written();
            written.extend(own.registers);
            predicates.extend(own.predicates);
        }
        written.sort_unstable();
        written.dedup();
        predicates.sort_unstable();
        predicates.dedup();
        let is_read_later = |name: Named| self.is_read_from(exit, name).0;
        let escapes = |own: &PredId| {
            let name = Named::WritePredicate(*own);
            self.is_open(header, &members, name) || is_read_later(name)
        };
        if names.predicates.keys().any(escapes) {
            return None;
        }
        let mut open: Vec<RegId> = names.registers.into_keys().collect();
        open.sort_unstable();
        open.retain(|own| self.is_open(header, &members, Named::Write(*own)));
        let live = written.iter().copied().filter(|own| is_read_later(Named::Write(*own))).collect();
        Some(Loop { exit: InstId(exit), counter, written, predicates, header, members, open, live })
    }

    /// Whether a register's (named as written) contents on entry of a loop may be read in it, or survive it.
    fn is_open(&self, header: u32, members: &[u32], register: Named) -> bool {
        let mut seen = FxHashSet::default();
        let mut work = vec![header];
        while let Some(at) = work.pop() {
            if members.binary_search(&at).is_err() {
                return true;
            }
            if !seen.insert(at) {
                continue;
            }
            let inst = &self.insts[at as usize];
            let (reads, writes) = inst.reads_and_writes(register);
            if reads {
                return true;
            }
            if !writes || inst.guard.is_some() {
                work.extend(self.successors(at));
            }
        }
        false
    }
}
