//! Loops that take a lock (rule Y18): an exchange that is tried again until it finds the lock free.

use super::code::Program;
use super::effect::{Control, Effect};
use super::op::{Compare, InstId, Op, PredId, RegId, Src, Width};
use super::update::Swap;
use super::visit::Named;
use rustc_hash::{FxHashMap, FxHashSet};

/// Longer loops are not recognised.
const MAX_STEPS: usize = 64;
/// The bits of a lock.
const WORD: u64 = u32::MAX as u64;

impl Program {
    /// An exchange as one that waits until it succeeds, if it is executed again where it fails, and nothing else happens
    /// before. A compare-and-swap fails where it does not find what it expects; a mere exchange, where it finds what it
    /// stores, so that both leave the word as it is. `targets`: of all branches.
    pub(super) fn as_lock(&self, at: usize, swap: &Swap, targets: &FxHashSet<usize>) -> Option<Swap> {
        let known = |source| self.known_before(at, source, targets).map(Src::Imm);
        let new = known(swap.new)?;
        let expected = match swap.expected {
            None => None,
            Some(expected) => Some(known(expected)?),
        };
        let lock = Swap { new, expected, waits: true, ..swap.clone() };
        let numbers = [Some(swap.new), swap.expected];
        let is_number = |register: &RegId| numbers.contains(&Some(Src::Reg(*register)));
        self.tries_again(at, &lock, is_number).then_some(lock)
    }

    /// The known number that a source has whenever an operation is executed.
    fn known_before(&self, at: usize, source: Src, targets: &FxHashSet<usize>) -> Option<u64> {
        let register = match source {
            Src::Imm(bits) => return Some(bits & WORD),
            Src::Symbol(..) => return None,
            Src::Reg(register) => register,
        };
        let mut here = at;
        while !targets.contains(&here) {
            here = here.checked_sub(1)?;
            let inst = &self.insts[here];
            if inst.op.control().is_some() {
                return None;
            }
            if inst.op.written().registers.contains(&register) {
                let Op::Mov { a: Src::Imm(bits), width: Width::W32, .. } = inst.op else { return None };
                return inst.guard.is_none().then_some(bits & WORD);
            }
        }
        None
    }

    /// Whether an exchange that fails is executed again, and nothing else happens before. Registers of which
    /// `is_number` holds have one known number whenever it is executed.
    fn tries_again(&self, at: usize, swap: &Swap, is_number: impl Fn(&RegId) -> bool) -> bool {
        let Src::Imm(new) = swap.new else { return false };
        let other = match swap.expected {
            None => new,
            Some(Src::Imm(expected)) if expected != new => expected,
            Some(Src::Imm(_) | Src::Reg(_) | Src::Symbol(..)) => return false,
        };
        if swap.width != Width::W32 {
            return false;
        }
        // Whether what a failing exchange finds equals a number, if that is known.
        let equals = |number: u64| match swap.expected {
            None => Some(number == new),
            Some(_) => (number == other).then_some(false),
        };
        let mut known: FxHashMap<PredId, bool> = FxHashMap::default();
        let (mut registers, mut predicates): (Vec<RegId>, Vec<PredId>) = (Vec::new(), Vec::new());
        let mut here = at + 1;
        for _ in 0..MAX_STEPS {
            if here == at {
                let is_changed = |r: RegId| r == swap.d || registers.contains(&r);
                let is_moved = matches!(swap.address.base, Src::Reg(r) if is_changed(r));
                let dies = |named| !self.is_read_from(at as u32, named).0;
                return !is_moved
                    && registers.iter().all(|register| is_number(register) || dies(Named::Write(*register)))
                    && predicates.iter().all(|predicate| dies(Named::WritePredicate(*predicate)));
            }
            let Some(inst) = self.insts.get(here) else { return false };
            if let Some(guard) = inst.guard {
                let Some(holds) = known.get(&guard.pred) else { return false };
                if *holds == guard.negated {
                    here += 1;
                    continue;
                }
            }
            match inst.op.effect() {
                Effect::Computes => {}
                Effect::Control(Control::Branch(target)) => {
                    here = target.index();
                    continue;
                }
                Effect::Reads
                | Effect::Writes(_)
                | Effect::Context
                | Effect::Waits(_)
                | Effect::Collective(_)
                | Effect::Control(Control::Table(..) | Control::Exit | Control::Trap)
                | Effect::Fault => return false,
            }
            let found_is_whole = !registers.contains(&swap.d);
            let mut compared = None;
            if let Op::SetpInt { compare, ty, p, q: None, a: Src::Reg(a), b: Src::Imm(number), combine: None } =
                &inst.op
                && ty.width == Width::W32
                && *a == swap.d
                && found_is_whole
                && matches!(compare, Compare::Eq | Compare::Ne)
            {
                compared = equals(*number & WORD).map(|equal| (*p, equal == (*compare == Compare::Eq)));
            }
            let written = inst.op.written();
            for predicate in &written.predicates {
                known.remove(predicate);
            }
            known.extend(compared);
            registers.extend(written.registers);
            predicates.extend(written.predicates);
            here += 1;
        }
        false
    }

    /// Whether an instruction takes a lock.
    pub fn takes_lock(&self, at: InstId) -> bool {
        matches!(&self.insts[at.index()].op, Op::Swap(swap) if swap.waits)
    }
}
