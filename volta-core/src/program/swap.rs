//! Loops of compare-and-swap that are one atomic update (rule Y7).
//!
//! A turn computes from what it found at a place what is to be there, and exchanges the two if the place still holds what
//! was found; else it tries again with what is there now. The turn that succeeds has found what the place holds, whatever
//! the first guess was, so that all of the loop is: what is there becomes, at once, what one turn computes of it. So the
//! code of one turn is left, and whether that computes an update that commutes is found [when it
//! runs](crate::machine). A guess is no access: whatever races with it races with the exchange.

use super::code::Program;
use super::control::Written;
use super::effect::{Control, Effect};
use super::op::{Address, Compare, InstId, Op, RegId, Space, Special, Src, Width};
use super::update::Scope;
use super::visit::Named;
use crate::number::format::Format;
use rustc_hash::{FxHashMap, FxHashSet};

/// Longer loops are not looked at.
const MAX_OPERATIONS: usize = 256;
/// A guess is looked for among so many operations in front of the loop.
const MAX_BEFORE: usize = 64;

/// `atom.cas`: exchanges what a place holds if that is what is expected there.
#[derive(Clone, Debug, PartialEq)]
pub struct Swap {
    /// Among whom it is atomic.
    pub scope: Scope,
    /// Where the place is.
    pub space: Space,
    /// The place.
    pub address: Address,
    /// How much of it.
    pub width: Width,
    /// Holds afterwards what was there.
    pub d: RegId,
    /// What is expected.
    pub expected: Src,
    /// What is to be there.
    pub new: Src,
    /// What one turn of the loop around it computes.
    pub turn: Turn,
    /// What is said of one that is no update.
    pub reason: String,
}

/// One turn of a loop of compare-and-swap.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Its operations, in order, from where it has found what is at the place to the exchange.
    pub operations: Vec<InstId>,
    /// The register that holds what it found.
    pub found: RegId,
    /// What its operations read.
    reads: Written,
    /// What they write.
    writes: Written,
    /// What another turn, which finds something else, would write otherwise, and what it found.
    pub varying: Written,
    /// The formats of reals that it computes with.
    pub formats: Vec<Format>,
}

impl Turn {
    /// One without operations, which has found what this register holds.
    pub(super) fn without_operations(found: RegId) -> Turn {
        let none = Written::default;
        Turn {
            operations: Vec::new(),
            found,
            reads: none(),
            writes: none(),
            varying: none(),
            formats: Vec::new(),
        }
    }
}

impl Swap {
    /// Calls `visit` with everything that it names, the address first.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(Named)) {
        let Swap { scope: _, space: _, address, width: _, d, expected, new, turn, reason: _ } = self;
        [Named::Read(address.base), Named::Read(*expected), Named::Read(*new)]
            .into_iter()
            .for_each(&mut *visit);
        let source = |pred: &_| Named::ReadPredicate(super::op::PredSrc { pred: *pred, negated: false });
        turn.reads.registers.iter().for_each(|a| visit(Named::Read(Src::Reg(*a))));
        turn.reads.predicates.iter().for_each(|p| visit(source(p)));
        turn.writes.registers.iter().chain([d]).for_each(|d| visit(Named::Write(*d)));
        turn.writes.predicates.iter().for_each(|p| visit(Named::WritePredicate(*p)));
    }
}

/// What a register holds in the course of a turn, as far as exchanges go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// What this register held when the turn began.
    AtFirst(RegId),
    /// What this operation of the turn loaded from the place.
    Loaded(usize),
    /// What the exchange found there.
    Old,
    Other,
}

/// A loop that was found.
struct Found {
    turn: Turn,
    /// The branch that leads back.
    last: usize,
    /// Loads of what is at the place, which do nothing but guess.
    guesses: Vec<usize>,
}

impl Program {
    /// Leaves of each loop of compare-and-swap one turn. Any other compare-and-swap is not supported.
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
            let Some(found) = self.swap_loop(at, &swap, &targets) else {
                self.insts[at].replace(Op::Unsupported { reason: swap.reason });
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

    /// The loop around a compare-and-swap, if that does nothing but try again until it succeeds.
    fn swap_loop(&self, at: usize, swap: &Swap, targets: &FxHashSet<usize>) -> Option<Found> {
        let Src::Reg(expected) = swap.expected else { return None };
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
        // What is read that an earlier turn may have written.
        let mut carried = Written::default();
        let mut compared = None;
        // What is exchanged, and what its register holds.
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
        // It turns back as long as something else was there than was expected.
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
                // The next turn begins with what this one found there, and with nothing else of it.
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

    /// Whether an operation may be part of a loop around a compare-and-swap: it computes, or loads before that.
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

    /// The register that an operation loads from the place of a compare-and-swap, as wide as that.
    fn guesses(&self, here: usize, swap: &Swap) -> Option<RegId> {
        let Op::Load { space, address, width, d, access } = &self.insts[here].op else { return None };
        let is_there = (*space, *address, *width) == (swap.space, swap.address, swap.width);
        let [Some(d)] = d.as_slice() else { return None };
        // The read-only path may tell what was there long ago.
        (is_there && !access.read_only && swap.address.base != Src::Reg(*d)).then_some(*d)
    }

    /// The load in front of a loop that does nothing but give it a first guess, which nothing comes between that orders
    /// memory.
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
        // What varies is written, though by operations behind the exchange that come to it.
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
