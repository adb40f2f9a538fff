//! Entering blocks and functions.
//!
//! Each time a block or a function is entered, what it declares is undefined: registers, local memory, parameters of
//! its calls and its return values. Since code is inlined once for each call in the text, the same registers and
//! variables are used every time, and [`Op::Enter`] makes them undefined. It is omitted where it has no effect: where
//! it is executed once, or where everything is written before it can be read.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowering;
use crate::base::span::Span;
use crate::program::code::{Inst, Variable};
use crate::program::effect::Control;
use crate::program::error::LowerError;
use crate::program::names::Binding;
use crate::program::op::{Declared, InstId, Op, PredId, RegId, Space, Src, VariableId};
use crate::program::visit::Named;

/// An item that an [`Op::Enter`] makes undefined.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Item {
    Register(RegId),
    Predicate(PredId),
    Variable(VariableId),
}

impl<'m> Lowering<'m> {
    /// Marks the entry of a block or a function; [`Self::declares`] fills in its declarations later.
    pub(super) fn enter(&mut self, span: Span) -> Result<InstId, LowerError> {
        let at = InstId::from_index(self.insts.len());
        self.push(None, Op::Enter { declared: Declared::default() }, span)?;
        Ok(at)
    }

    /// Sets the declarations of the block or function that was entered at `at`.
    pub(super) fn declares(&mut self, at: InstId, bindings: impl IntoIterator<Item = Binding<'m>>) {
        let mut declared = Declared::default();
        for binding in bindings {
            match binding {
                Binding::Register(register, _) => declared.registers.push(register),
                Binding::Predicate(predicate) => declared.predicates.push(predicate),
                Binding::Vector { first, count, .. } => {
                    declared.registers.extend((first.0..first.0 + count).map(RegId));
                }
                Binding::Variable(variable) => declared.variables.push(variable),
                Binding::Register128 | Binding::Static(_) => {}
            }
        }
        // A hash table yields names in arbitrary order.
        declared.registers.sort_unstable();
        declared.predicates.sort_unstable();
        declared.variables.sort_unstable();
        self.insts[at.index()].replace(Op::Enter { declared });
    }

    /// Removes the [`Op::Enter`]s without effect, before labels are resolved.
    pub(super) fn keep_entries(&mut self) {
        let entered = |inst: &Inst| matches!(inst.op, Op::Enter { .. });
        if !self.insts.iter().any(entered) {
            return;
        }
        let repeated = self.repeated();
        let read = self.read();
        let labelled: FxHashSet<InstId> = self.labels.values().copied().collect();
        let mut kept = vec![true; self.insts.len()];
        for at in 0..self.insts.len() {
            let Op::Enter { declared } = &self.insts[at].op else { continue };
            let candidate = |item| read.contains(&item) && (repeated[at] || self.is_carry(item));
            let declared = self.exposed(at, &declared.filtered(candidate), &labelled);
            kept[at] = declared != Declared::default();
            self.insts[at].replace(Op::Enter { declared });
        }
        let mut moved = Vec::with_capacity(kept.len() + 1);
        let mut next = 0;
        for kept in &kept {
            moved.push(InstId::from_index(next));
            next += usize::from(*kept);
        }
        moved.push(InstId::from_index(next));
        for place in self.labels.values_mut() {
            *place = moved[place.index()];
        }
        let mut kept = kept.into_iter();
        self.insts.retain(|_| kept.next().unwrap_or(true));
    }

    /// Which operations may be executed more than once: those spanned by a backward branch.
    fn repeated(&self) -> Vec<bool> {
        let mut begins = vec![0i64; self.insts.len() + 1];
        for (at, inst) in self.insts.iter().enumerate() {
            let targets = inst.op.control().map_or(&[][..], Control::targets);
            // Targets are still labels.
            let places = targets.iter().filter_map(|target| self.labels.get(&target.0));
            for to in places.filter(|to| to.index() <= at) {
                begins[to.index()] += 1;
                begins[at + 1] -= 1;
            }
        }
        let mut open = 0;
        let around = begins.iter().map(|change| {
            open += change;
            open > 0
        });
        around.collect()
    }

    /// The items of `declared` that may be read before they are written, judged by the operations up to the next
    /// branch.
    fn exposed(&self, at: usize, declared: &Declared, labelled: &FxHashSet<InstId>) -> Declared {
        // Whether an item's first access is a write, once that is known.
        let mut written: FxHashMap<Item, bool> = FxHashMap::default();
        for (place, inst) in self.insts.iter().enumerate().skip(at + 1) {
            if labelled.contains(&InstId::from_index(place)) {
                break;
            }
            if let Some(guard) = inst.guard {
                written.entry(Item::Predicate(guard.pred)).or_insert(false);
            }
            let mut writes = Vec::new();
            inst.op.visit(&mut |named| match named {
                Named::Read(Src::Reg(register)) => {
                    written.entry(Item::Register(register)).or_insert(false);
                }
                Named::ReadPredicate(source) => {
                    written.entry(Item::Predicate(source.pred)).or_insert(false);
                }
                Named::Read(Src::Symbol(variable, _)) if !overwrites(&inst.op, variable, &self.variables) => {
                    written.entry(Item::Variable(variable)).or_insert(false);
                }
                Named::Read(Src::Symbol(variable, _)) => writes.push(Item::Variable(variable)),
                Named::Write(register) => writes.push(Item::Register(register)),
                Named::WritePredicate(predicate) => writes.push(Item::Predicate(predicate)),
                Named::Read(Src::Imm(_)) | Named::Target(_) => {}
            });
            if inst.guard.is_none() {
                for item in writes {
                    written.entry(item).or_insert(true);
                }
            }
            if matches!(inst.op, Op::Branch { .. } | Op::BranchTable { .. } | Op::Exit | Op::Trap) {
                break;
            }
        }
        let open = |item: Item| !written.get(&item).copied().unwrap_or(false);
        declared.filtered(open)
    }

    /// The condition code, which exists before any call.
    fn is_carry(&self, item: Item) -> bool {
        matches!(item, Item::Predicate(predicate) if Some(predicate) == self.carry)
    }

    /// The items that any operation reads.
    fn read(&self) -> FxHashSet<Item> {
        let mut read = FxHashSet::default();
        for inst in &self.insts {
            read.extend(inst.guard.map(|guard| Item::Predicate(guard.pred)));
            if matches!(inst.op, Op::Enter { .. }) {
                continue;
            }
            inst.op.visit(&mut |named| match named {
                Named::Read(Src::Reg(register)) => {
                    read.insert(Item::Register(register));
                }
                Named::ReadPredicate(source) => {
                    read.insert(Item::Predicate(source.pred));
                }
                Named::Read(Src::Symbol(variable, _)) => {
                    read.insert(Item::Variable(variable));
                }
                Named::Read(Src::Imm(_)) | Named::Write(_) | Named::WritePredicate(_) | Named::Target(_) => {}
            });
        }
        read
    }
}

impl Declared {
    fn filtered(&self, wanted: impl Fn(Item) -> bool) -> Declared {
        fn keep<T: Copy>(list: &[T], wanted: impl Fn(T) -> bool) -> Vec<T> {
            list.iter().copied().filter(|item| wanted(*item)).collect()
        }
        Declared {
            registers: keep(&self.registers, |id| wanted(Item::Register(id))),
            predicates: keep(&self.predicates, |id| wanted(Item::Predicate(id))),
            variables: keep(&self.variables, |id| wanted(Item::Variable(id))),
        }
    }
}

/// Whether an operation overwrites a whole variable without reading it: a store of all of it, or the entry of a nested
/// block.
fn overwrites(op: &Op, variable: VariableId, variables: &[Variable]) -> bool {
    if let Op::Store { space: Space::Param, address, width, a, access: _ } = op {
        let bytes = u64::from(width.bytes()) * a.len() as u64;
        let size = variables.get(variable.index()).and_then(|variable| variable.size);
        return address.base == Src::Symbol(variable, 0) && address.offset == 0 && size == Some(bytes);
    }
    matches!(op, Op::Enter { .. })
}
