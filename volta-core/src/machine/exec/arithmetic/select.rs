//! Selects by a condition on inputs (rules S1, V7).

use crate::base::lane::{Lane, LaneMask};
use crate::machine::cta::Cta;
use crate::machine::group::forks::fork;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::{UnderGuards, ValueTerms};
use crate::machine::group::values::{Reals, Values};
use crate::machine::group::warp::{At, Step, Warp};
use crate::number::format::Format;
use crate::program::{Control, Effect, Inst, InstId, PredId, PredSrc, RegId, Src, Width, Writes, Written};
use crate::term::{TermId, TermOp, View};
use crate::value::guard::{Literal, Terms};
use crate::value::packed::{Cell, Choice, PackedPart, PackedParts, PackedValues};
use crate::value::register::Register;
use crate::value::{Origin, Predicate, Sym, SymKind, Truth, Value};
use crate::verdict::FaultKind;
use std::mem::discriminant;

/// The contents of some registers, and of local memory, at one time.
pub(crate) struct Snapshot {
    registers: Vec<(RegId, Register)>,
    predicates: Vec<(PredId, Predicate)>,
    local: Vec<[Cell; 32]>,
}

impl Snapshot {
    pub(crate) fn new(warp: &Warp, of: &Written) -> Snapshot {
        Snapshot {
            registers: of.registers.iter().map(|d| (*d, warp.register(*d).clone())).collect(),
            predicates: of.predicates.iter().map(|p| (*p, warp.predicates[p.index()].clone())).collect(),
            local: if of.local { warp.local.clone() } else { Vec::new() },
        }
    }

    /// Restores the contents for the lanes of `mask`.
    pub(crate) fn restore(&self, warp: &mut Warp, mask: LaneMask) {
        for (d, register) in &self.registers {
            warp.register_mut(*d).merge(mask, register);
        }
        for (p, predicate) in &self.predicates {
            for lane in mask {
                warp.predicate_mut(*p).set(lane, predicate.get(lane));
            }
        }
        for (cells, old) in warp.local.iter_mut().zip(&self.local) {
            for lane in mask {
                cells[lane] = old[lane];
            }
        }
    }

    /// Makes undefined every register and predicate that has changed; returns whether one has.
    pub(crate) fn forget_differences(&self, warp: &mut Warp, mask: LaneMask, origin: Origin) -> bool {
        let mut any = false;
        for lane in mask {
            for (d, held) in &self.registers {
                if warp.register(*d).get(lane) != held.get(lane) {
                    any = true;
                    warp.register_mut(*d).set(lane, Value::Undefined(origin));
                }
            }
            for (p, held) in &self.predicates {
                if warp.predicates[p.index()].get(lane) != held.get(lane) {
                    any = true;
                    warp.predicate_mut(*p).set(lane, Truth::Undefined(origin));
                }
            }
        }
        any
    }
}

/// At most so many operations are taken out of a select.
const WITHIN: usize = 16;

impl ValueTerms<'_> {
    /// Checks that a condition on inputs may decide an operation.
    pub(crate) fn choice_allowed(&mut self, at: At<'_>, inst: &Inst, guard: PredSrc) -> Result<(), Stop> {
        let Err(why) = self.context.may_happen(&inst.op) else { return Ok(()) };
        let stop = self.decided_by_input(at, inst, guard, why);
        Err(fork(self, stop, (at.warp, at.lane), guard))
    }

    /// The fault of an operation whose guard depends on inputs; `why` says why it cannot become a select.
    #[cold]
    pub(crate) fn decided_by_input(&self, at: At<'_>, inst: &Inst, guard: PredSrc, why: &str) -> Stop {
        let (condition, given) = match at.warp.predicates[guard.pred.index()].get(at.lane) {
            Truth::Condition(term) => (self.describe(term), self.to_be_given(&[term])),
            Truth::Known(_) | Truth::Undefined(_) | Truth::Answer(_) => ("an unknown condition".into(), None),
        };
        let what = match inst.op.effect() {
            Effect::Control(Control::Branch(_) | Control::Table(..)) => "a branch",
            Effect::Control(Control::Exit | Control::Trap) => "whether a thread ends",
            Effect::Writes(Writes::Store) => "whether a store happens",
            Effect::Writes(Writes::Atomic) => "whether an atomic operation is executed",
            Effect::Reads => "whether a load happens",
            Effect::Writes(Writes::Copy)
            | Effect::Computes
            | Effect::Context
            | Effect::Waits(_)
            | Effect::Collective(_)
            | Effect::Fault => "whether this is executed",
        };
        let not = if guard.negated { "not " } else { "" };
        let message = format!("{what} depends on the input: {not}{condition}; {why}");
        let site = self.context.site("depends on the input".into(), at.warp, at.lane, at.pc);
        let help = given.unwrap_or_else(|| {
            "control flow must be the same for all inputs of the given sizes (S1), except in short branches that only \
             compute values or load from inputs; otherwise load and store in both arms, or write `condition ? a : b`"
                .into()
        });
        self.context.fault_at(FaultKind::InputDependentControl, "S1", message, vec![site], Some(help))
    }

    /// The guard of each lane.
    pub(crate) fn conditions(&mut self, step: &Step<'_>, guard: PredSrc) -> Vec<(Lane, Truth)> {
        step.mask.iter().map(|lane| (lane, self.truth(step.warp, guard, lane, step.pc))).collect()
    }

    fn select_truth(&mut self, condition: Truth, then: Truth, otherwise: Truth, pc: InstId) -> Truth {
        use crate::program::Bool2;
        match condition {
            Truth::Known(true) => then,
            Truth::Known(false) => otherwise,
            Truth::Undefined(origin) => Truth::Undefined(origin),
            Truth::Answer(answer) => Truth::Undefined(self.unpredictable(answer)),
            Truth::Condition(term) if then == otherwise && self.under_guards().is_total(term) => then,
            Truth::Condition(term)
                if [then, otherwise].iter().any(|arm| matches!(arm, Truth::Undefined(_))) =>
            {
                self.partly_truth(term, then, otherwise)
            }
            Truth::Condition(term) => {
                let not = Truth::Condition(self.store.apply(TermOp::Not, &[term], pc));
                let left = self.combine(Bool2::And, condition, then, pc);
                let right = self.combine(Bool2::And, not, otherwise, pc);
                self.combine(Bool2::Or, left, right, pc)
            }
        }
    }

    /// A truth value that is undefined where the arm that a condition takes is.
    #[cold]
    pub(crate) fn partly_truth(&mut self, condition: TermId, then: Truth, otherwise: Truth) -> Truth {
        let arms = [then, otherwise].map(|arm| match arm {
            Truth::Undefined(origin) => Value::Undefined(origin),
            Truth::Known(_) | Truth::Condition(_) | Truth::Answer(_) => Value::Bits(0),
        });
        let value = self.partly(condition, arms);
        self.packed.undefined_part(value).map_or(then, Truth::Undefined)
    }

    /// Whether encodings of floats are integers.
    pub(crate) fn reads_encodings(&self) -> bool {
        self.store.explains() || self.store.is_ieee()
    }

    /// Whether one of two arms is a double, and the other two words that encode one, computed from encodings.
    fn is_real_by_its_encoding(&mut self, then: Value, otherwise: Value) -> bool {
        let both = [(then, otherwise), (otherwise, then)];
        self.reads_encodings()
            && both.into_iter().any(|(real, other)| {
                format_of(real) == Some(Format::F64)
                    && is_packed(other)
                    && self.int_terms(InstId(0)).decoding(other, Format::F64).is_some()
            })
    }

    /// Replaces an unwritten arm by a term without meaning where the other arm is unexplained: library functions have
    /// paths that no argument takes, and neither arm matters unless the whole function is recognised.
    fn unwritten_as_unexplained(&mut self, then: Value, otherwise: Value, pc: InstId) -> (Value, Value) {
        let is_unexplained = |value| match value {
            Value::Sym(sym) => {
                self.packed.terms_of(sym).into_iter().any(|term| self.store.is_unexplained(term))
            }
            Value::Bits(_) | Value::Undefined(_) => false,
        };
        if !self.store.explains() {
            return (then, otherwise);
        }
        let is_unwritten = |value| {
            let origin = self.packed.undefined_part(value).map(|origin| self.packed.leaf(origin));
            !is_packed(value) && matches!(origin, Some(Origin::Unwritten(_)))
        };
        if !(is_unwritten(then) && is_unexplained(otherwise)
            || is_unwritten(otherwise) && is_unexplained(then))
        {
            return (then, otherwise);
        }
        let [no_then, no_otherwise] = [then, otherwise].map(is_unwritten);
        let nothing = self.int_terms(pc).nothing();
        (if no_then { nothing } else { then }, if no_otherwise { nothing } else { otherwise })
    }

    /// A choice between two values of which one at least is undefined, and none in part.
    fn partly(&mut self, condition: TermId, [then, otherwise]: [Value; 2]) -> Value {
        let always = match [then, otherwise].map(|arm| self.packed.undefined_part(arm)) {
            [Some(only), None] | [None, Some(only)] => Some(only).filter(|only| !only.is_by_case()),
            [Some(one), Some(other)] => {
                let is_same = discriminant(&one) == discriminant(&other) && one.number().is_none();
                Some(one.or(other)).filter(|both| is_same || !both.is_by_case())
            }
            [None, None] => None,
        };
        if let Some(origin) = always {
            return Value::Undefined(origin);
        }
        if !self.under_guards().is_total(condition) {
            self.packed.lacks(condition);
        }
        self.packed.choose(Choice { condition, then, otherwise })
    }

    /// Two values of which one consists of parts, as parts of equal lengths; `None` where that would split a value.
    fn parts_of_both(&mut self, then: Value, otherwise: Value) -> Option<Vec<(PackedPart, PackedPart)>> {
        let [then, otherwise] = [then, otherwise].map(|arm| self.packed.as_f32(arm));
        let is_in_parts = is_packed(then) || is_packed(otherwise);
        if !is_in_parts || self.is_real_by_its_encoding(then, otherwise) {
            return None;
        }
        self.packed.align(then, otherwise)
    }
}

#[cold]
fn no_select(terms: &ValueTerms<'_>, at: At<'_>, [then, otherwise]: [Value; 2]) -> Stop {
    let message = format!(
        "a selection between {} and {} is not supported yet",
        terms.describe_value(then),
        terms.describe_value(otherwise)
    );
    terms.context.fault_of(at, FaultKind::Unsupported, "V7", message)
}

impl Values<'_> {
    /// Narrows the guards of lanes by their conditions, or by what holds where these do not.
    pub(crate) fn narrow_guards(&mut self, conditions: &[(Lane, Truth)], holds: bool) {
        for (lane, truth) in conditions {
            if let Truth::Condition(term) = truth {
                let terms = Terms { store: &mut self.terms.store, congruence: &mut self.congruence };
                self.terms.guards.narrow(terms, *lane, *term, holds);
            }
        }
    }

    /// Writes to each register, and each cell of local memory, the select of two states of it.
    pub(crate) fn choose(
        &mut self,
        warp: &mut Warp,
        conditions: &[(Lane, Truth)],
        then: &Snapshot,
        otherwise: &Snapshot,
        pc: InstId,
    ) -> Result<(), Stop> {
        for ((d, then), (_, otherwise)) in then.registers.iter().zip(&otherwise.registers) {
            for (lane, truth) in conditions {
                let arms = [then.get(*lane), otherwise.get(*lane)];
                let value = self.select_value(At { warp, lane: *lane, pc }, *truth, arms)?;
                warp.register_mut(*d).set(*lane, value);
            }
        }
        for ((p, then), (_, otherwise)) in then.predicates.iter().zip(&otherwise.predicates) {
            for (lane, truth) in conditions {
                let truth = self.terms.select_truth(*truth, then.get(*lane), otherwise.get(*lane), pc);
                warp.predicate_mut(*p).set(*lane, truth);
            }
        }
        for (at, (then, otherwise)) in then.local.iter().zip(&otherwise.local).enumerate() {
            for (lane, truth) in conditions {
                let arms = [then[*lane], otherwise[*lane]];
                warp.local[at][*lane] = if arms[0] == arms[1] {
                    arms[0]
                } else {
                    self.choose_cell(At { warp, lane: *lane, pc }, *truth, arms)?
                };
            }
        }
        Ok(())
    }

    /// A cell that holds one content or the other.
    pub(crate) fn choose_cell(&mut self, at: At<'_>, by: Truth, arms: [Cell; 2]) -> Result<Cell, Stop> {
        let arms = arms.map(|cell| {
            let pieces = cell.pieces(&self.terms.packed, InstId(u32::MAX));
            self.terms.packed.join(&pieces)
        });
        Ok(Cell::of(self.select_value(at, by, arms)?))
    }

    #[inline]
    pub(crate) fn select(
        &mut self,
        mut step: Step<'_>,
        width: Width,
        d: RegId,
        (p, [a, b]): (PredSrc, [Src; 2]),
    ) -> Result<(), Stop> {
        let predicate = &step.warp.predicates[p.pred.index()];
        if !(predicate.sym | predicate.undefined).meets(step.mask) {
            let holds = if p.negated { !predicate.bits } else { predicate.bits };
            let mut scratch = [const { None }; 2];
            let [s0, s1] = &mut scratch;
            let mut result = self.terms.context.operand(step.warp, b, s1).clone();
            result.merge(holds, self.terms.context.operand(step.warp, a, s0));
            step.warp.register_mut(d).merge(step.mask, &result);
            return Ok(());
        }
        for lane in step.mask {
            let truth = self.terms.truth(step.warp, p, lane, step.pc);
            let arms = [a, b].map(|source| match self.terms.context.value(step.warp, source, lane) {
                Value::Bits(bits) => Value::Bits(bits & width.mask()),
                other @ (Value::Sym(_) | Value::Undefined(_)) => other,
            });
            let value = self.select_value(step.at(lane), truth, arms)?;
            step.set(d, lane, value);
        }
        Ok(())
    }

    /// A select of two terms. Where library functions are recognised and one of the terms is no value by itself, what
    /// both compute of the same operands is computed of the select: compilers move a branch of a function around the
    /// code that follows it.
    fn select_within(&mut self, condition: TermId, then: TermId, otherwise: TermId, pc: InstId) -> TermId {
        let (mut x, mut y, mut around) = (then, otherwise, Vec::new());
        while self.terms.store.explains() && [x, y].iter().any(|arm| self.terms.store.is_unexplained(*arm)) {
            let (View::Apply(op, ones), View::Apply(other, others)) =
                (self.terms.store.view(x), self.terms.store.view(y))
            else {
                break;
            };
            let arity = op.arity();
            let mut differ =
                (0..arity).filter(|at| !self.congruence.same(&self.terms.store, ones[*at], others[*at]));
            let (Some(at), None, true, true) =
                (differ.next(), differ.next(), op == other, around.len() < WITHIN)
            else {
                break;
            };
            if op.is_condition() || op.is_partial() {
                break;
            }
            around.push((op, at, ones));
            (x, y) = (ones[at], others[at]);
        }
        let inner = self.terms.store.apply(TermOp::Select, &[condition, x, y], pc);
        around.into_iter().rev().fold(inner, |inner, (op, at, mut operands)| {
            operands[at] = inner;
            self.terms.store.apply(op, &operands[..op.arity()], pc)
        })
    }

    /// A select between two values of which one is undefined, or a part of it: it is undefined where that one is taken
    /// (rule V6).
    #[cold]
    fn select_partly(
        &mut self,
        at: At<'_>,
        condition: TermId,
        [then, otherwise]: [Value; 2],
    ) -> Result<Value, Stop> {
        let in_part = |value: Value| is_packed(value) && self.terms.packed.undefined_part(value).is_some();
        if in_part(then) || in_part(otherwise) {
            let beside = |part: PackedPart, value| PackedPart { value, bytes: part.bytes };
            let parts = self.terms.packed.split(if in_part(then) { then } else { otherwise }, 4).into_iter();
            let pairs: Option<Vec<_>> = match [then, otherwise] {
                [Value::Undefined(_), _] => Some(parts.map(|part| (beside(part, then), part)).collect()),
                [_, Value::Undefined(_)] => Some(parts.map(|part| (part, beside(part, otherwise))).collect()),
                [_, _] => self.terms.packed.align(then, otherwise),
            };
            let pairs = pairs.ok_or_else(|| no_select(&self.terms, at, [then, otherwise]))?;
            return self.select_parts(at, condition, pairs);
        }
        Ok(self.terms.partly(condition, [then, otherwise]))
    }

    /// A select of values side by side.
    fn select_parts(
        &mut self,
        at: At<'_>,
        condition: TermId,
        parts: Vec<(PackedPart, PackedPart)>,
    ) -> Result<Value, Stop> {
        let mut chosen = PackedParts::new();
        for (then, otherwise) in parts {
            let value = self.select_value(at, Truth::Condition(condition), [then.value, otherwise.value])?;
            chosen.push(PackedPart { value, bytes: then.bytes });
        }
        Ok(self.terms.packed.join(&chosen))
    }

    /// The bytes of two arms of which one is an integer that depends on inputs, or a half of a double where that is one.
    fn bytes_as_integers(&self, then: Value, otherwise: Value) -> Option<u32> {
        let (arms, packed) = ([then, otherwise], &self.terms.packed);
        if arms.iter().any(|arm| packed.is_unknown_integer(*arm))
            && arms.iter().all(|arm| packed.is_some_integer(*arm))
        {
            // Bytes beyond the register's width are never read.
            return Some(packed.integer_bytes(then).max(packed.integer_bytes(otherwise)));
        }
        (arms.iter().any(|arm| is_half(*arm)) && self.terms.reads_encodings()).then_some(4)
    }

    /// The first of two values where a condition holds, else the second.
    pub(crate) fn select_value(&mut self, at: At<'_>, by: Truth, arms: [Value; 2]) -> Result<Value, Stop> {
        let ([then, otherwise], pc) = (arms, at.pc);
        let term = match by {
            Truth::Known(true) => return Ok(then),
            Truth::Known(false) => return Ok(otherwise),
            // Only where the result decides something, it matters that it is not determined.
            Truth::Undefined(origin @ Origin::Unpredictable(_)) => return Ok(Value::Undefined(origin)),
            Truth::Undefined(origin) => {
                let message = "a selection uses an uninitialised predicate";
                return Err(self.terms.undefined_predicate(at, origin, message));
            }
            Truth::Answer(answer) => return Ok(self.terms.select_by_answer(answer, then, otherwise)),
            Truth::Condition(term) => term,
        };
        let [then, otherwise] = [(then, true), (otherwise, false)].map(|(arm, holds)| {
            if arm.as_partly().is_none() {
                return arm;
            }
            let terms = Terms { store: &mut self.terms.store, congruence: &mut self.congruence };
            let guard = self.terms.guards.only(terms, Literal { condition: term, holds });
            self.value_under(arm, guard)
        });
        // A condition without a value taints both arms.
        if then == otherwise {
            let beside = match then {
                Value::Sym(sym) => self.terms.packed.terms_of(sym),
                Value::Bits(_) | Value::Undefined(_) => Default::default(),
            };
            if self.terms.ranges.is_kept(&self.terms.store, term, &beside) {
                return Ok(then);
            }
        }
        let (then, otherwise) = self.terms.unwritten_as_unexplained(then, otherwise, pc);
        match (then, otherwise) {
            _ if self.terms.packed.taint(&[then, otherwise]).is_some() => {
                self.select_partly(at, term, [then, otherwise])
            }
            _ if [then, otherwise].iter().all(|arm| self.terms.packed.is_integer(*arm)) => {
                if !self.terms.under_guards().is_total(term) {
                    self.terms.packed.lacks(term);
                }
                Ok(self.terms.packed.choose(Choice { condition: term, then, otherwise }))
            }
            _ if let Some((which, x, y)) = halves_of(then, otherwise) => {
                let select = || self.terms.store.apply(TermOp::Select, &[term, x, y], pc);
                let chosen = *self.terms.packed.selects.entry([term, x, y]).or_insert_with(select);
                Ok(Value::Sym(Sym::half(which, chosen)))
            }
            _ if let Some(parts) = self.terms.parts_of_both(then, otherwise) => {
                self.select_parts(at, term, parts)
            }
            _ if let Some(bytes) = self.bytes_as_integers(then, otherwise) => {
                let mut residues = self.terms.int_terms(pc);
                let arms = [then, otherwise].map(|arm| residues.residue(arm, bytes));
                let [Some(then), Some(otherwise)] = arms else {
                    return Err(self.terms.computes_with_encoding(at, &[then, otherwise]));
                };
                let chosen = residues.chosen(term, then, otherwise);
                Ok(residues.value(chosen, bytes))
            }
            _ => {
                let [then, otherwise] = [then, otherwise].map(|arm| self.terms.packed.as_f32(arm));
                let Some(format) = format_of(then).or_else(|| format_of(otherwise)) else {
                    return Err(no_select(&self.terms, at, [then, otherwise]));
                };
                let x = self.reals().arm(at, then, format)?;
                let y = self.reals().arm(at, otherwise, format)?;
                let (Some(x), Some(y)) = (x, y) else {
                    let origin = self.terms.packed.taint(&[then, otherwise]);
                    return Ok(Value::Undefined(origin.unwrap_or(Origin::Invalid(pc))));
                };
                Ok(Value::Sym(Sym::real(format, self.select_within(term, x, y, pc))))
            }
        }
    }
}

impl UnderGuards<'_> {
    /// Whether a condition has a value for all inputs.
    fn is_total(&mut self, condition: TermId) -> bool {
        self.ranges.is_total(self.store, condition)
    }
}

impl PackedValues {
    /// Bits, or a choice of bits.
    fn is_integer(&self, value: Value) -> bool {
        matches!(value, Value::Bits(_)) || self.as_choice(value).is_some()
    }

    /// Bits, a choice of bits, or an integer that depends on inputs.
    fn is_some_integer(&self, value: Value) -> bool {
        self.is_integer(value) || self.is_unknown_integer(value)
    }

    /// The size of an integer in bytes, 4 or 8; the bytes above are zero.
    fn integer_bytes(&self, value: Value) -> u32 {
        if self.fits(value, 4) && !matches!(value, Value::Bits(bits) if bits >> 32 != 0) { 4 } else { 8 }
    }
}

impl Reals<'_, '_> {
    /// A real as an arm of a select. A NaN is the term of its bits, where library functions are recognised.
    fn arm(&mut self, at: At<'_>, value: Value, format: Format) -> Result<Option<TermId>, Stop> {
        let real = self.real(at, value, format)?;
        Ok(real.or_else(|| self.spelling_of(value, format)))
    }
}

impl Cta<'_> {
    /// Executes an operation under conditions: each destination becomes a select of its new and old value.
    pub(crate) fn choose_result(&mut self, step: Step<'_>, inst: &Inst, guard: PredSrc) -> Result<(), Stop> {
        self.values.terms.choice_allowed(step.at(step.mask.first()), inst, guard)?;
        let conditions = self.values.terms.conditions(&step, guard);
        let Step { warp, mask: symbolic, pc } = step;
        let written = inst.op.written();
        let old = Snapshot::new(warp, &written);
        let around = self.values.terms.guards.all();
        self.values.narrow_guards(&conditions, true);
        let narrowed = self.values.narrow_registers(warp, symbolic);
        let done = self.execute(warp, symbolic, inst, pc);
        let done = done.map_err(|stop| self.values.terms.ended_under_guard(warp, symbolic, stop));
        self.values.terms.guards.restore(around);
        done?;
        let new = Snapshot::new(warp, &written);
        narrowed.restore(warp);
        self.values.choose(warp, &conditions, &new, &old, pc)
    }
}

fn is_packed(value: Value) -> bool {
    matches!(value, Value::Sym(sym) if matches!(sym.kind(), SymKind::Pair(..) | SymKind::Packed(_)))
}

fn is_half(value: Value) -> bool {
    matches!(value, Value::Sym(sym) if matches!(sym.kind(), SymKind::Half64(..)))
}

/// The same half of two reals, and their terms.
fn halves_of(a: Value, b: Value) -> Option<(u32, TermId, TermId)> {
    let (Value::Sym(a), Value::Sym(b)) = (a, b) else { return None };
    match (a.kind(), b.kind()) {
        (SymKind::Half64(which, x), SymKind::Half64(other, y)) if which == other => Some((which, x, y)),
        _ => None,
    }
}

fn format_of(value: Value) -> Option<Format> {
    value.as_real().map(|(format, _)| format)
}
