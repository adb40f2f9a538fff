//! Contents of memory under a condition on inputs (rule S1): what a store under a guard leaves behind, and what a load
//! under a guard finds.

use super::super::cta::{Cta, Stop};
use super::super::guard::{Guard, Literal};
use super::super::objects::Backing;
use super::super::packed::{Cell, Choice, Partly};
use super::super::perhaps::{How, Perhaps};
use super::super::value::{Origin, Sym, SymKind, Truth, Value};
use super::super::warp::Warp;
use super::memory::WarpAccess;
use crate::base::lane::Lane;
use crate::program::{InstId, Op, Space};
use crate::term::{TermId, TermOp, View};

impl Cta<'_> {
    /// Checks that an operation may be executed under a condition on inputs.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn may_happen(&self, op: &Op) -> Result<(), &'static str> {
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
        if !matches!(op, Op::Store { .. } | Op::Atomic { .. }) {
            return Err("it does more than load, store, update and compute");
        }
        if self.launch.has_flags { Err(flag) } else { Ok(()) }
    }

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
        if self.guards.of(lane) == Guard::ALWAYS || self.guards.holds_in_contents {
            return Ok(content);
        }
        // What a branch leaves in memory of its thread is chosen where its sides join.
        let outer = match at.object.backing {
            Backing::Local(_) => self.guards.around_cases,
            Backing::Shared(_) | Backing::Tensor(_) => Some(0),
        };
        let Some(outer) = outer else { return Ok(content) };
        let old = self.peek(warp, lane, at, cell);
        self.stored_under_guard((warp, lane, at.pc), outer, content, old)
    }

    /// Notes an access to global memory under a guard, for the comparison with those of other CTAs.
    #[inline]
    pub(super) fn note_perhaps(&mut self, place: (u32, u64), guard: Guard, bytes: u8, how: How) {
        if guard != Guard::ALWAYS && self.launch.clusters.len() > 1 {
            self.memory.perhaps.note(place, Perhaps { guard, bytes, how });
        }
    }

    /// The contents of a cell after a lane has stored `new` there under its guard, without the `outer` outermost
    /// literals.
    fn stored_under_guard(
        &mut self,
        (warp, lane, pc): (&Warp, Lane, InstId),
        outer: u32,
        new: Cell,
        old: Cell,
    ) -> Result<Cell, Stop> {
        let guard = self.guards.of(lane);
        let inner = if outer == 0 { self.guards.literals(guard) } else { self.guards.within(guard, outer) };
        self.stored_where(warp, lane, pc, &inner, new, old)
    }

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
        let stored = self.cell_where(old, *literal);
        let stored = self.stored_where(warp, lane, pc, inner, new, stored)?;
        let kept = self.cell_where(old, literal.negated());
        if stored == kept {
            return Ok(kept);
        }
        let [then, otherwise] = if literal.holds { [stored, kept] } else { [kept, stored] };
        let condition = literal.condition;
        let whole = |cell: Cell| cell.whole(pc).is_none_or(|value| matches!(value, Value::Undefined(_)));
        if whole(then) || whole(otherwise) {
            let at = self.packed.partly(Partly { condition, then, otherwise });
            return Ok(Cell::of(Value::Undefined(Origin::Partly(at))));
        }
        self.choose_cell(warp, Truth::Condition(condition), then, otherwise, lane, pc)
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
        let literals = self.guards.literals(self.guards.of(lane));
        literals.iter().rev().try_fold(value, |value, literal| {
            let arms = if literal.holds { [value, otherwise] } else { [otherwise, value] };
            let condition = Truth::Condition(literal.condition);
            self.select_value(warp, condition, arms[0], arms[1], lane, pc)
        })
    }

    /// The contents of a cell where a guard holds.
    pub(super) fn cell_under(&mut self, cell: Cell, guard: Guard) -> Cell {
        if guard == Guard::ALWAYS {
            return cell;
        }
        let literals = self.guards.literals(guard);
        literals.iter().fold(cell, |cell, literal| self.cell_where(cell, *literal))
    }

    /// The contents of a cell where a literal holds: an arm of what the condition chose.
    fn cell_where(&mut self, mut cell: Cell, literal: Literal) -> Cell {
        let arm = |then: Cell, otherwise: Cell| if literal.holds { then } else { otherwise };
        loop {
            let next = match cell.whole(InstId(u32::MAX)) {
                Some(Value::Undefined(Origin::Partly(at))) => {
                    let Partly { condition, then, otherwise } = self.packed.partly_at(at);
                    (condition == literal.condition).then(|| arm(then, otherwise))
                }
                Some(Value::Sym(sym)) => match sym.kind() {
                    SymKind::Real(format, term) => self
                        .term_where(term, literal)
                        .map(|term| Cell::of(Value::Sym(Sym::real(format, term)))),
                    SymKind::Int(bytes, term) => {
                        self.term_where(term, literal).map(|term| Cell::of(Value::Sym(Sym::int(bytes, term))))
                    }
                    SymKind::Choice(at) => {
                        let Choice { condition, then, otherwise } = self.packed.choice(at);
                        let is_same = self.congruence.same(&self.store, condition, literal.condition);
                        is_same.then(|| arm(Cell::of(then), Cell::of(otherwise)))
                    }
                    SymKind::Half64(..)
                    | SymKind::Pair(..)
                    | SymKind::Packed(_)
                    | SymKind::Answer(_)
                    | SymKind::Fragment { .. } => None,
                },
                Some(Value::Bits(_) | Value::Undefined(_)) | None => None,
            };
            match next {
                Some(next) => cell = next,
                None => return cell,
            }
        }
    }

    /// The arm of a select by the condition of a literal.
    fn term_where(&mut self, term: TermId, literal: Literal) -> Option<TermId> {
        let View::Apply(TermOp::Select, [condition, then, otherwise]) = self.store.view(term) else {
            return None;
        };
        let is_same = self.congruence.same(&self.store, condition, literal.condition);
        is_same.then_some(if literal.holds { then } else { otherwise })
    }
}
