//! Atomics (rule Y7): the contents of a location afterwards, as if the updates were executed in the order of this run.
//! Races and updates that do not commute are detected at the memory access. The contribution of each CTA is kept until
//! the CTAs are merged (S5).

use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::launch::objects::{Backing, pretty_name};
use crate::machine::cta::accesses::{Accesses, Arithmetic, LaneAccess, WarpAccess};
use crate::machine::exec::arithmetic::integer::Integer;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::values::Reals;
use crate::machine::group::warp::Warp;
use crate::number::format::Format;
use crate::program::{
    Address, Clamp, InstId, Int, Int2, Precision, RegId, Scope, Space, Src, Strong, Update, Width,
};
use crate::term::TermOp;
use crate::value::float_inst::Shape;
use crate::value::guard::Guard;
use crate::value::{Origin, Sym, SymKind, Value};
use crate::verdict::FaultKind;

impl Accesses<'_, '_> {
    /// Executes an atomic operation lane by lane, since several lanes may update one location.
    pub(crate) fn atomic(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        (update, scope, releases): (Update, Scope, bool),
        (space, address, alignment): (Space, Address, u32),
        (d, a): (Option<RegId>, Src),
    ) -> Result<(), Stop> {
        if let Update::Counter { .. } = update {
            let message = "a counter that wraps around is not supported here";
            return Err(self.context.fault(FaultKind::Unsupported, "S2", message, warp, mask.first(), pc));
        }
        let addresses = self.values.terms.addresses(warp, mask, address, pc)?;
        let agent = Agent::Atomic { update, scope };
        let bytes = update.bytes();
        for lane in mask {
            let mut offsets = [0; 32];
            let place = (space, addresses[lane]);
            let access = LaneAccess { place, bytes, alignment, agent, writes: true };
            let mut at = self.locate_lane(warp, lane, pc, access, &mut offsets)?;
            at.access.strong = Some(Strong { scope, orders: releases });
            self.context.holds_atomics(warp, lane, &at)?;
            self.context.writable(warp, &at, bytes)?;
            self.note_plain_update(warp, lane, &at)?;
            let by = self.context.value(warp, a, lane);
            // Another taker may do the same for another item.
            let is_known = d.is_some()
                && self.context.launch.has_tickets
                && self.sync.tickets.queue.is_none()
                && self.comes_last(warp, lane, &at, bytes);
            let found = self.update_at(warp, lane, &at, at.offsets[lane], by)?;
            if self.context.launch.has_sets && matches!(update, Update::Integer(Int2::Add, _)) {
                self.note_addition(warp, lane, &at, update, (found, by), d)?;
            } else if is_known {
                self.sync.note_ordered(warp, lane, &at, bytes);
                d.iter().for_each(|d| warp.register_mut(*d).set(lane, found));
            } else if let Some(d) = d {
                // The previous contents depend on the schedule (rule S4).
                self.sync.note_found(warp, lane, &at, d);
                let origin = match &self.sync.tickets.queue {
                    // It may be known, but not in this run.
                    Some(_) => Origin::Unevaluated(pc),
                    None => Origin::Unpredictable(pc),
                };
                warp.register_mut(d).set(lane, Value::Undefined(origin));
            }
        }
        Ok(())
    }

    /// Updates a location of an object by an operand, with the update of the accessing agent. Returns what it held.
    pub(crate) fn update_at(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        offset: u64,
        by: Value,
    ) -> Result<Value, Stop> {
        let Some(own) = at.agent.atomic_update() else {
            return Err(Stop::Defect("a non-atomic update"));
        };
        let pc = at.pc;
        let update = self.values.reals().on_encodings(own.update, [by, by]).unwrap_or(own.update);
        self.sync.keeps_order(warp, lane, at, (offset, update.bytes()))?;
        self.values.numbers.updates_shared = matches!(at.object.backing, Backing::Shared(_));
        let mismatch = |this: &Self, warp: &Warp, held: String| {
            let message = format!("an atomic operation, `{update}`, reads {held}");
            this.context.fault(FaultKind::TypeMismatch, "V1", message, warp, lane, pc)
        };
        let by = self.values.reals().updating(update, by, pc).map_err(|held| mismatch(self, warp, held))?;
        // Under a condition, the operand is one that changes nothing where the condition does not hold. Otherwise the
        // order of updates would show in the form of the sum.
        let narrow = self.values.terms.guards.of(lane) != Guard::ALWAYS;
        let is_of_several =
            matches!(at.object.backing, Backing::Tensor(_)) && self.context.launch.clusters.len() > 1;
        // Where only this CTA updates reals, their minimum is chosen as a whole.
        let neutral = match update == own.update {
            true => update.neutral(),
            false => update.neutral_encoding().filter(|_| is_of_several),
        };
        let nothing = neutral.map(Value::Bits).filter(|_| narrow);
        let given = by;
        let by = match nothing {
            Some(nothing) => {
                let by = self.values.value_under_guard(warp, lane, pc, by, nothing)?;
                self.values.reals().updating(update, by, pc).map_err(|held| mismatch(self, warp, held))?
            }
            None => by,
        };
        let old = self.held_value(warp, lane, at, offset, update.bytes())?;
        // Where it is defined only under the condition, it is updated only there.
        let is_partly = narrow && self.values.terms.packed.undefined_part(old).is_some();
        let (old, operand) = if is_partly {
            (self.values.value_under(old, self.values.terms.guards.of(lane)), given)
        } else {
            (old, by)
        };
        let new = self
            .arithmetic()
            .updated(own.update, old, operand, pc)
            .map_err(|held| mismatch(self, warp, held))?;
        self.values.terms.guards.holds_in_contents = nothing.is_some() && !is_partly;
        let stored = self.store_value(warp, lane, at, offset, update.bytes(), new);
        self.values.terms.guards.holds_in_contents = false;
        stored?;
        if let Backing::Tensor(tensor) = at.object.backing
            && is_of_several
        {
            if narrow && nothing.is_none() {
                let message = format!(
                    "whether a CTA updates a location of global memory by `{update}` depends on the input, and no \
                     operand leaves it as it is"
                );
                return Err(self.context.fault(FaultKind::Unsupported, "Y7", message, warp, lane, pc));
            }
            let place = (tensor, offset);
            let sum = match self.memory.contributed(place) {
                // If another operation has updated the place before, another CTA that updates it is a fault, and this
                // sum is never read.
                Some(sum) => self.arithmetic().updated(own.update, sum, by, pc).unwrap_or(by),
                None => by,
            };
            self.memory.contribute(place, own, sum);
        }
        Ok(old)
    }
}

impl Arithmetic<'_, '_> {
    /// The contents of a location that held `old`, after the update. The error describes an `old` that is not a value
    /// of the update's type.
    pub(crate) fn updated(
        &mut self,
        update: Update,
        old: Value,
        by: Value,
        pc: InstId,
    ) -> Result<Value, String> {
        if let Some(origin) = self.values.terms.packed.taint(&[old, by]) {
            return Ok(Value::Undefined(origin));
        }
        let update = self.values.reals().on_encodings(update, [old, by]).unwrap_or(update);
        match update {
            Update::Real(format) | Update::Extreme { format, .. } | Update::RealInWord { format, .. } => {
                let (Some(x), Some(y)) =
                    (self.values.reals().read_real(old, format)?, self.values.reals().read_real(by, format)?)
                else {
                    return Ok(Value::Undefined(Origin::Invalid(pc)));
                };
                // The order in which the sums are rounded depends on the schedule (rule V10).
                let op = match update {
                    Update::Extreme { largest: true, .. } => TermOp::Max,
                    Update::Extreme { largest: false, .. } => TermOp::Min,
                    Update::Real(_)
                    | Update::RealInWord { .. }
                    | Update::Integer(..)
                    | Update::Counter { .. } => TermOp::Add,
                };
                let precision = Precision { approximate: op == TermOp::Add, ..Precision::NEAREST };
                let shape = Shape { op, format, precision, clamp: Clamp::None };
                if self.values.terms.store.is_ieee() && op == TermOp::Add {
                    let sum = self.values.reals().ieee_atomic(format, [x, y], pc);
                    return Ok(Value::Sym(Sym::real(format, sum)));
                }
                if [x, y].iter().all(|term| self.values.numbers.known.contains(term.raw())) {
                    return Ok(self.fold_float(shape, &[x, y], pc));
                }
                Ok(Value::Sym(Sym::real(format, self.values.terms.store.apply(op, &[x, y], pc))))
            }
            // Counters are executed where they draw tickets.
            Update::Counter { .. } => Err(self.values.terms.describe_value(old)),
            Update::Integer(op, ty) => {
                // Sums are terms whatever the order of their operands.
                let sum = Integer::Two(op, ty, [old, by]);
                let known = sum.bits().and_then(|bits| bits.concrete()).map(Value::Bits);
                let sum = known.or_else(|| self.values.reals().packed_ints(pc).computed(&sum));
                sum.ok_or_else(|| self.values.terms.describe_value(old))
            }
        }
    }
}

impl Context<'_> {
    /// Checks that the object supports atomics and that all CTAs that update it are executed: only then is the total
    /// known.
    pub(crate) fn holds_atomics(&self, warp: &Warp, lane: Lane, at: &WarpAccess<'_>) -> Result<(), Stop> {
        match at.object.backing {
            Backing::Shared(_) => Ok(()),
            Backing::Tensor(_) if at.object.space == Space::Global => {
                let all: u64 = self.launch.grid.iter().map(|n| u64::from(*n)).product();
                if self.launch.clusters.len() * u64::from(self.launch.ranks()) == all {
                    return Ok(());
                }
                let place = self.spell(at.object, at.offsets[lane], 4);
                let message =
                    format!("{place} is updated atomically, but only some CTAs of the grid are run");
                Err(self.fault(FaultKind::Unsupported, "S5", message, warp, lane, at.pc))
            }
            Backing::Tensor(_) | Backing::Local(_) => {
                let name = pretty_name(&at.object.name);
                let message = format!("an atomic operation does not access the state space of `{name}`");
                Err(self.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, at.pc))
            }
        }
    }
}

impl Reals<'_, '_> {
    /// The update on reals that `min` or `max` on encodings of floats is, as signed integers, if one of two values is a
    /// real and neither is negative. Their encodings have the order of the values: that of -0 is the least integer, and
    /// its value is the least as well.
    fn on_encodings(&mut self, update: Update, values: [Value; 2]) -> Option<Update> {
        let Update::Integer(op @ (Int2::Min | Int2::Max), Int { width: Width::W32, signed: true }) = update
        else {
            return None;
        };
        let is_real = |value: Value| match self.terms.packed.as_f32(value) {
            Value::Sym(sym) => matches!(sym.kind(), SymKind::Real(Format::F32, _)),
            Value::Bits(_) | Value::Undefined(_) => false,
        };
        if self.terms.store.is_ieee() || !values.into_iter().any(is_real) {
            return None;
        }
        let mut is_good = |value| {
            let real = self.read_real(value, Format::F32).ok().flatten();
            real.is_some_and(|real| self.is_not_negative(real))
        };
        let update = Update::Extreme { largest: op == Int2::Max, format: Format::F32 };
        values.into_iter().all(&mut is_good).then_some(update)
    }

    /// The operand as bits, an integer or a real, or undefined. The error describes a value that is none of these.
    fn updating(&mut self, update: Update, by: Value, pc: InstId) -> Result<Value, String> {
        if let Some(origin) = self.terms.packed.taint(&[by]) {
            return Ok(Value::Undefined(origin));
        }
        match update {
            Update::Real(format) | Update::Extreme { format, .. } | Update::RealInWord { format, .. } => {
                let real = self.read_real(by, format)?;
                // NaN is outside of the model (rule V2).
                let nan = Value::Undefined(Origin::Invalid(pc));
                Ok(real.map_or(nan, |term| Value::Sym(Sym::real(format, term))))
            }
            Update::Integer(..) | Update::Counter { .. } => {
                let bytes = update.bytes();
                let mut residues = self.terms.int_terms(pc);
                match residues.residue(by, bytes) {
                    Some(term) => Ok(residues.value(term, bytes)),
                    None => Err(self.terms.describe_value(by)),
                }
            }
        }
    }
}
