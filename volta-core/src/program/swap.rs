//! Loops of compare-and-swap that are one atomic update (rule Y7).
//!
//! A turn computes the new contents of a location from the value that it found there, and exchanges the two if the
//! location still holds that value. Otherwise the loop tries again with the present value. The turn that succeeds has
//! found the contents of the location, whatever the first guess was. Hence the whole loop has the effect of one atomic
//! operation: the contents are replaced by what one turn computes from them. Lowering therefore keeps the code of one
//! turn; whether it computes an update that commutes is determined [when it runs](crate::machine). A guess is no
//! access: whatever races with it races with the exchange.

use super::access::{Access, Strong};
use super::code::Program;
use super::effect::{Control, Effect};
use super::op::{Compare, InstId, Op, RegId, Special, Src};
use super::update::{Swap, Turn};
use super::visit::{Named, Written};
use crate::number::format::Format;
use rustc_hash::{FxHashMap, FxHashSet};

/// Longer loops are not recognised.
const MAX_OPERATIONS: usize = 256;
/// The load of a guess must be among this many operations before the loop.
const MAX_BEFORE: usize = 64;

/// The abstract contents of a register during a turn, as far as exchanges are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// The contents of this register at the beginning of the turn.
    AtFirst(RegId),
    /// The value that this operation of the turn loaded from the location.
    Loaded(usize),
    /// The previous contents, as returned by the exchange.
    Old,
    Other,
}

/// A recognised loop.
struct Found {
    turn: Turn,
    /// The branch back to its beginning.
    last: usize,
    /// Loads from the location that are only guesses.
    guesses: Vec<usize>,
}

impl Program {
    /// Reduces each loop of compare-and-swap to one turn, and an exchange whose result nothing reads to a strong store.
    /// Any other compare-and-swap or exchange is unsupported.
    pub(super) fn find_swap_loops(&mut self) {
        let is_swap = |at: &usize| matches!(self.insts[*at].op, Op::Swap(_));
        let swaps: Vec<usize> = (0..self.insts.len()).filter(is_swap).collect();
        if swaps.is_empty() {
            return;
        }
        let controls = self.insts.iter().filter_map(|inst| inst.op.control());
        let targets: FxHashSet<usize> =
            controls.flat_map(Control::targets).map(|target| target.index()).collect();
        for at in swaps {
            let Op::Swap(swap) = &self.insts[at].op else { continue };
            let mut swap = swap.clone();
            if swap.expected.is_none() && !self.is_read(swap.d) {
                let Swap { scope, releases, space, address, width, new, .. } = *swap;
                let strong = Some(Strong { scope, orders: releases });
                let access = Access { strong, ..Access::default() };
                self.insts[at].replace(Op::Store { space, address, width, a: vec![new], access });
                continue;
            }
            let Some(found) = self.swap_loop(at, &swap, &targets) else {
                let lock = self.as_lock(at, &swap, &targets).map(|lock| Op::Swap(Box::new(lock)));
                self.insts[at].replace(lock.unwrap_or(Op::Unsupported { reason: swap.reason }));
                continue;
            };
            for guess in found.guesses {
                if let Op::Load { d, width, .. } = &self.insts[guess].op
                    && let [Some(d)] = d.as_slice()
                {
                    let unknown = Op::Special { d: *d, special: Special::Unpredictable, width: *width };
                    self.insts[guess].replace(unknown);
                }
            }
            self.insts[found.last].guard = None;
            self.insts[found.last].replace(Op::Nop);
            swap.turn = found.turn;
            self.insts[at].replace(Op::Swap(swap));
        }
    }

    /// Whether any operation reads a register.
    fn is_read(&self, register: RegId) -> bool {
        self.insts.iter().any(|inst| {
            let mut reads = false;
            inst.op.visit(&mut |named| reads |= named == Named::Read(Src::Reg(register)));
            reads
        })
    }

    /// The loop around a compare-and-swap, if it only tries again until it succeeds.
    fn swap_loop(&self, at: usize, swap: &Swap, targets: &FxHashSet<usize>) -> Option<Found> {
        let Some(Src::Reg(expected)) = swap.expected else { return None };
        let behind = self.insts.iter().enumerate().skip(at + 1).take(MAX_OPERATIONS);
        let (last, back) = behind.into_iter().find(|(_, inst)| inst.op.control().is_some())?;
        let (Some(Control::Branch(first)), Some(again)) = (back.op.control(), back.guard) else {
            return None;
        };
        let first = first.index();
        let is_long = at.checked_sub(first)? > MAX_OPERATIONS;
        if is_long || (first + 1..=last).any(|inner| targets.contains(&inner)) {
            return None;
        }
        let mut holds: FxHashMap<RegId, Holds> = FxHashMap::default();
        let held = |holds: &FxHashMap<RegId, Holds>, register: RegId| {
            holds.get(&register).copied().unwrap_or(Holds::AtFirst(register))
        };
        let mut written = Written::default();
        // What is read and may have been written by an earlier turn.
        let mut carried = Written::default();
        let mut compared = None;
        // The abstract value that the exchange expects.
        let mut guess = Holds::Other;
        for here in first..last {
            let inst = &self.insts[here];
            if inst.guard.is_some() || here != at && !self.is_of_a_turn(here, at) {
                return None;
            }
            inst.op.visit(&mut |named| match named {
                Named::Read(Src::Reg(a)) if !written.registers.contains(&a) => carried.registers.push(a),
                Named::ReadPredicate(p) if !written.predicates.contains(&p.pred) => {
                    carried.predicates.push(p.pred);
                }
                Named::Read(_)
                | Named::ReadPredicate(_)
                | Named::Write(_)
                | Named::WritePredicate(_)
                | Named::Target(_) => {}
            });
            let own = inst.op.written();
            let mut result = None;
            let mut compares = None;
            if here == at {
                guess = held(&holds, expected);
                result = Some((swap.d, Holds::Old));
            } else if let Op::Mov { d, a: Src::Reg(a), width } = inst.op
                && width.bytes() >= swap.width.bytes()
            {
                result = Some((d, held(&holds, a)));
            } else if here < at
                && let Some(d) = self.guesses(here, swap)
            {
                result = Some((d, Holds::Loaded(here)));
            } else if let Op::SetpInt {
                compare,
                ty,
                p,
                q: None,
                a: Src::Reg(a),
                b: Src::Reg(b),
                combine: None,
            } = inst.op
                && here > at
                && ty.width == swap.width
            {
                let both = [held(&holds, a), held(&holds, b)];
                let is_tried = both == [Holds::Old, guess] || both == [guess, Holds::Old];
                compares = match compare {
                    Compare::Eq if is_tried => Some((p, true)),
                    Compare::Ne if is_tried => Some((p, false)),
                    Compare::Eq | Compare::Ne | Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => None,
                };
            }
            if compared.is_some_and(|(p, _)| own.predicates.contains(&p)) {
                compared = None;
            }
            compared = compares.or(compared);
            holds.extend(own.registers.iter().map(|d| (*d, Holds::Other)));
            holds.extend(result);
            written.registers.extend(own.registers);
            written.predicates.extend(own.predicates);
        }
        // The loop repeats while the contents differ from what was expected.
        let (p, if_equal) = compared?;
        if again.pred != p || again.negated != if_equal {
            return None;
        }
        if let Src::Reg(base) = swap.address.base
            && written.registers.contains(&base)
        {
            return None;
        }
        let is_written = |register: &RegId| written.registers.contains(register);
        let varies = carried.registers.iter().copied().filter(is_written).collect::<FxHashSet<_>>();
        if carried.predicates.iter().any(|p| written.predicates.contains(p)) {
            return None;
        }
        let (found, start, guesses) = match guess {
            Holds::AtFirst(found) => {
                // The next turn starts with the contents that this one found, and with nothing else of it.
                if held(&holds, found) != Holds::Old || varies != FxHashSet::from_iter([found]) {
                    return None;
                }
                (found, first, self.guess_before(first, found, swap, targets).into_iter().collect())
            }
            Holds::Loaded(load) => {
                if !varies.is_empty() {
                    return None;
                }
                (self.guesses(load, swap)?, load + 1, vec![load])
            }
            Holds::Old | Holds::Other => return None,
        };
        let turn = self.turn((first, start, at), last, (found, swap.d));
        Some(Found { turn, last, guesses })
    }

    /// Whether an operation may belong to a loop around a compare-and-swap: it computes, or it loads before the
    /// exchange.
    fn is_of_a_turn(&self, here: usize, at: usize) -> bool {
        let op = &self.insts[here].op;
        match op.effect() {
            Effect::Computes => true,
            Effect::Reads => here < at && matches!(op, Op::Load { .. }),
            Effect::Context => op.enters_registers(),
            Effect::Writes(_)
            | Effect::Waits(_)
            | Effect::Collective(_)
            | Effect::Control(_)
            | Effect::Fault => false,
        }
    }

    /// The register that an operation loads from the location of a compare-and-swap, with the same width.
    fn guesses(&self, here: usize, swap: &Swap) -> Option<RegId> {
        let Op::Load { space, address, width, d, access } = &self.insts[here].op else { return None };
        let is_there = (*space, *address, *width) == (swap.space, swap.address, swap.width);
        let [Some(d)] = d.as_slice() else { return None };
        // The read-only path may return contents that are long out of date.
        (is_there && !access.read_only && swap.address.base != Src::Reg(*d)).then_some(*d)
    }

    /// The load before a loop that only provides its first guess, with nothing between that orders memory.
    fn guess_before(
        &self,
        first: usize,
        found: RegId,
        swap: &Swap,
        targets: &FxHashSet<usize>,
    ) -> Option<usize> {
        for here in (0..first).rev().take(MAX_BEFORE) {
            let inst = &self.insts[here];
            if inst.guard.is_some() || here + 1 != first && targets.contains(&(here + 1)) {
                return None;
            }
            if self.guesses(here, swap) == Some(found) {
                return Some(here);
            }
            let (reads, writes) = inst.reads_and_writes(Named::Write(found));
            let moves = match swap.address.base {
                Src::Reg(base) => inst.op.written().registers.contains(&base),
                Src::Imm(_) | Src::Symbol(..) => false,
            };
            if reads || writes || moves || !self.is_of_a_turn(here, first) {
                return None;
            }
        }
        None
    }

    fn turn(&self, (first, start, at): (usize, usize, usize), last: usize, ends: (RegId, RegId)) -> Turn {
        let (found, old) = ends;
        let mut varying = Written { registers: vec![found, old], ..Written::default() };
        let mut grows = true;
        while grows {
            grows = false;
            for here in first..last {
                let op = &self.insts[here].op;
                let mut depends = here == at;
                op.visit(&mut |named| match named {
                    Named::Read(Src::Reg(a)) => depends |= varying.registers.contains(&a),
                    Named::ReadPredicate(p) => depends |= varying.predicates.contains(&p.pred),
                    Named::Read(_) | Named::Write(_) | Named::WritePredicate(_) | Named::Target(_) => {}
                });
                let own = op.written();
                let registers = own.registers.into_iter().filter(|d| !varying.registers.contains(d));
                let predicates = own.predicates.into_iter().filter(|p| !varying.predicates.contains(p));
                if depends {
                    let (registers, predicates): (Vec<_>, Vec<_>) =
                        (registers.collect(), predicates.collect());
                    grows |= !registers.is_empty() || !predicates.is_empty();
                    varying.registers.extend(registers);
                    varying.predicates.extend(predicates);
                }
            }
        }
        let operations: Vec<InstId> = (start..at).map(InstId::from_index).collect();
        let mut turn = Turn { varying, operations, ..Turn::without_operations(found) };
        turn.writes.registers.push(found);
        for here in start..at {
            let op = &self.insts[here].op;
            op.visit(&mut |named| match named {
                Named::Read(Src::Reg(a)) => turn.reads.registers.push(a),
                Named::ReadPredicate(p) => turn.reads.predicates.push(p.pred),
                Named::Write(d) => turn.writes.registers.push(d),
                Named::WritePredicate(p) => turn.writes.predicates.push(p),
                Named::Read(_) | Named::Target(_) => {}
            });
            let mut format = |format: Format| {
                if !turn.formats.contains(&format) {
                    turn.formats.push(format);
                }
            };
            if let Op::Float1 { format: own, .. }
            | Op::Float2 { format: own, .. }
            | Op::Fma { format: own, .. } = op
            {
                format(*own);
            } else if let Op::CvtFloat { from, to, .. } = op {
                [*from, *to].into_iter().for_each(format);
            }
        }
        // Varying registers and predicates count as written, since operations after the exchange may write them.
        turn.writes.registers.extend(&turn.varying.registers);
        turn.writes.predicates.extend(&turn.varying.predicates);
        for names in [&mut turn.reads, &mut turn.writes, &mut turn.varying] {
            names.registers.sort_unstable();
            names.registers.dedup();
            names.predicates.sort_unstable();
            names.predicates.dedup();
        }
        turn
    }
}
