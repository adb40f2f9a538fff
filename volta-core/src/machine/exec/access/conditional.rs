//! Contents of memory under a condition on inputs (rule S1): what a store under a guard leaves behind, and what a load
//! under a guard finds.

use crate::base::lane::{Lane, LaneMask};
use crate::launch::objects::Backing;
use crate::machine::cta::accesses::{Accesses, WarpAccess};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::values::Values;
use crate::machine::group::warp::{At, Warp};
use crate::machine::memory::perhaps::{How, Perhaps};
use crate::machine::memory::uncached::Uncachable;
use crate::program::{Async, InstId, Op, Space};
use crate::term::{TermId, TermOp, View};
use crate::value::guard::{Guard, Literal, Terms};
use crate::value::packed::{Cell, Choice};
use crate::value::{Sym, SymKind, Truth, Value};

impl Context<'_> {
    /// Checks that an operation may be executed under a condition on inputs.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn may_happen(&self, op: &Op) -> Result<(), &'static str> {
        if op.only_computes() || matches!(op, Op::Enter { .. } | Op::Trap) {
            return Ok(());
        }
        let flag = "it accesses memory where threads wait for flags";
        if let Op::Load { access, .. } = op {
            return if access.leads_nowhere || access.ahead_of.is_some() { Err(flag) } else { Ok(()) };
        }
        if matches!(op, Op::Store { space: Space::Local | Space::Param, .. }) {
            return Ok(());
        }
        if !matches!(op, Op::Store { .. } | Op::Atomic { .. } | Op::Async(Async::Copy { .. })) {
            return Err("it does more than load, store, update, copy and compute");
        }
        if let Op::Atomic { draws: true, .. } = op {
            return Err("it draws a ticket");
        }
        if self.launch.has_flags { Err(flag) } else { Ok(()) }
    }
}

impl Accesses<'_, '_> {
    /// What a cell holds after a lane has written `content` to it: where its guard does not hold, what was there.
    #[inline]
    pub(super) fn stored_content(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
        content: Cell,
    ) -> Result<Cell, Stop> {
        if self.values.terms.guards.of(lane) == Guard::ALWAYS || self.values.terms.guards.holds_in_contents {
            return Ok(content);
        }
        // What a branch leaves in memory of its thread is chosen where its sides join.
        let outer = match at.object.backing {
            Backing::Local(_) => self.values.terms.guards.around_cases,
            Backing::Shared(_) | Backing::Tensor(_) => Some(0),
        };
        let Some(outer) = outer else { return Ok(content) };
        let old = self.peek(warp, lane, at, cell);
        let (guards, guard) = (&self.values.terms.guards, self.values.terms.guards.of(lane));
        let inner = if outer == 0 { guards.literals(guard) } else { guards.within(guard, outer) };
        self.values.stored_where(warp, lane, at.pc, &inner, content, old)
    }

    /// Checks that an access meets no other one through the read-only path, or no write, of the same bytes for any input
    /// (rule M4); `surely` says whether there is one that happens for all inputs.
    pub(super) fn check_uncached(
        &mut self,
        (warp, lane, at): (&Warp, Lane, &WarpAccess<'_>),
        place: (u32, u64),
        access: Uncachable,
        surely: bool,
    ) -> Result<(), Stop> {
        let met = || self.memory.uncached.met(place, access, &self.values.terms.guards);
        if let Some(other) = if surely { Some(Guard::ALWAYS) } else { met() } {
            let stop = self.context.uncached_conflict(warp, lane, at);
            let Stop::Fault(fault) = stop else { return Err(stop) };
            return Err(self.values.terms.possibly(*fault, &[access.guard, other], &[]));
        }
        if access.guard != Guard::ALWAYS {
            self.memory.uncached.note(place, access);
        }
        Ok(())
    }

    /// Notes an access to global memory under a guard, for the comparison with those of other CTAs.
    #[inline]
    pub(super) fn note_perhaps(&mut self, place: (u32, u64), guard: Guard, bytes: u8, how: How) {
        if guard != Guard::ALWAYS && self.context.launch.clusters.len() > 1 {
            self.memory.perhaps.note(place, Perhaps { guard, bytes, how });
        }
    }
}

impl Values<'_> {
    /// Narrows the guard of a lane by one more condition.
    pub(super) fn narrow(&mut self, lane: Lane, condition: TermId, holds: bool) {
        let terms = Terms { store: &mut self.terms.store, congruence: &mut self.congruence };
        self.terms.guards.narrow(terms, lane, condition, holds);
    }

    /// Whether a condition holds wherever a guard does, or does not there; `None` where neither is known.
    pub(super) fn implies(&mut self, guard: Guard, condition: TermId) -> Option<bool> {
        let terms = Terms { store: &mut self.terms.store, congruence: &mut self.congruence };
        self.terms.guards.implies(terms, guard, condition)
    }

    /// The contents of a cell after a lane has stored `new` there where some literals hold.
    fn stored_where(
        &mut self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        literals: &[Literal],
        new: Cell,
        old: Cell,
    ) -> Result<Cell, Stop> {
        let [literal, inner @ ..] = literals else { return Ok(new) };
        let stored = if inner.is_empty() {
            new
        } else {
            let old = self.cell_where(old, *literal);
            self.stored_where(warp, lane, pc, inner, new, old)?
        };
        let kept = self.cell_where(old, literal.negated());
        if stored == kept {
            return Ok(kept);
        }
        let arms = if literal.holds { [stored, kept] } else { [kept, stored] };
        self.choose_cell(At { warp, lane, pc }, Truth::Condition(literal.condition), arms)
    }

    /// The contents of a cell where a literal holds.
    fn cell_where(&mut self, cell: Cell, literal: Literal) -> Cell {
        let terms = Terms { store: &mut self.terms.store, congruence: &mut self.congruence };
        let guard = self.terms.guards.only(terms, literal);
        self.cell_under(cell, guard)
    }

    /// A value where the guard of a lane holds, and another one elsewhere.
    pub(super) fn value_under_guard(
        &mut self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        value: Value,
        otherwise: Value,
    ) -> Result<Value, Stop> {
        let literals = self.terms.guards.literals(self.terms.guards.of(lane));
        literals.iter().rev().try_fold(value, |value, literal| {
            let arms = if literal.holds { [value, otherwise] } else { [otherwise, value] };
            self.select_value(At { warp, lane, pc }, Truth::Condition(literal.condition), arms)
        })
    }

    /// The contents of a cell where a guard holds.
    #[inline]
    pub(super) fn cell_under(&mut self, cell: Cell, guard: Guard) -> Cell {
        match cell.symbolic() {
            Some(value) if guard != Guard::ALWAYS => Cell::of(self.value_under(value, guard)),
            Some(_) | None => cell,
        }
    }

    /// A value where a guard holds: the arms that are taken there.
    pub(crate) fn value_under(&mut self, mut value: Value, guard: Guard) -> Value {
        loop {
            let Value::Sym(sym) = value else { return value };
            let select = |term| match self.terms.store.view(term) {
                View::Apply(TermOp::Select, [condition, then, otherwise]) => {
                    Some((condition, [then, otherwise]))
                }
                View::Apply(..) | View::Input { .. } | View::Constant(_) => None,
            };
            let of = |arms: Option<(TermId, [TermId; 2])>, with: &dyn Fn(TermId) -> Sym| {
                arms.map(|(condition, arms)| (condition, arms.map(|arm| Value::Sym(with(arm)))))
            };
            let chosen = match sym.kind() {
                SymKind::Real(format, term) => of(select(term), &|arm| Sym::real(format, arm)),
                SymKind::Half64(which, term) => of(select(term), &|arm| Sym::half(which, arm)),
                SymKind::Int(bytes, term) => of(select(term), &|arm| Sym::int(bytes, arm)),
                SymKind::Choice(at) | SymKind::Partly(at) => {
                    let Choice { condition, then, otherwise } = self.terms.packed.choice(at);
                    Some((condition, [then, otherwise]))
                }
                SymKind::Pair(..) | SymKind::Packed(_) => {
                    let before = self.terms.packed.split(value, 4);
                    let mut parts = before.clone();
                    parts.iter_mut().for_each(|part| part.value = self.value_under(part.value, guard));
                    return if parts == before { value } else { self.terms.packed.join(&parts) };
                }
                SymKind::Answer(_) | SymKind::Ticket(_) | SymKind::Fragment { .. } => None,
            };
            let Some((condition, [then, otherwise])) = chosen else { return value };
            match self.implies(guard, condition) {
                Some(true) => value = then,
                Some(false) => value = otherwise,
                None => return value,
            }
        }
    }

    /// Replaces what registers hold for some inputs only by what they hold where the guards of lanes do; returns what
    /// they held.
    pub(crate) fn narrow_registers(&mut self, warp: &mut Warp, mask: LaneMask) -> NarrowRegisters {
        let mut narrowed = Vec::new();
        if !self.terms.packed.are_partly() {
            return NarrowRegisters(narrowed);
        }
        for register in 0..warp.registers.len() {
            for lane in warp.registers[register].sym & mask {
                let before = warp.registers[register].get(lane);
                if before.as_partly().is_none() {
                    continue;
                }
                let after = self.value_under(before, self.terms.guards.of(lane));
                if after != before {
                    warp.registers[register].set(lane, after);
                    narrowed.push((register, lane, before, after));
                }
            }
        }
        NarrowRegisters(narrowed)
    }
}

/// Registers that were narrowed: what they held in a lane before, and then.
pub(crate) struct NarrowRegisters(Vec<(usize, Lane, Value, Value)>);

impl NarrowRegisters {
    /// Restores the registers that were not written since.
    pub(crate) fn restore(self, warp: &mut Warp) {
        for (register, lane, before, after) in self.0 {
            let register = &mut warp.registers[register];
            if register.get(lane) == after {
                register.set(lane, before);
            }
        }
    }
}
