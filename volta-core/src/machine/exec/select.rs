//! Choices by a condition on inputs (rules S1, V7).

use super::super::cta::{Cta, Stop};
use super::super::fault::FaultKind;
use super::super::pieces::Choice;
use super::super::value::{Register, Sym, SymKind, Truth, Value, lanes};
use super::super::warp::Warp;
use crate::number::format::Format;
use crate::program::{Inst, Op, PredId, PredSrc, RegId, Src, Width};
use crate::term::{TermId, TermOp};

/// What an operation writes.
enum Destinations {
    Registers(Vec<RegId>),
    Predicates(Vec<PredId>),
    /// It does more than write registers.
    More,
}

fn destinations(op: &Op) -> Destinations {
    use Destinations::{More, Predicates, Registers};
    match op {
        Op::Mov { d, .. }
        | Op::Special { d, .. }
        | Op::Int1 { d, .. }
        | Op::Int2 { d, .. }
        | Op::Int3 { d, .. }
        | Op::Insert { d, .. }
        | Op::Carry { d, carry_out: None, .. }
        | Op::Select { d, .. }
        | Op::Pack { d, .. }
        | Op::CvtInt { d, .. }
        | Op::IntToFloat { d, .. }
        | Op::FloatToInt { d, .. }
        | Op::CvtFloat { d, .. }
        | Op::Float1 { d, .. }
        | Op::Float2 { d, .. }
        | Op::Fma { d, .. }
        | Op::Cvta { d, .. } => Registers(vec![*d]),
        Op::Unpack { d, .. } => Registers(d.iter().flatten().copied().collect()),
        Op::SetpInt { p, q, .. } | Op::SetpFloat { p, q, .. } => {
            Predicates(std::iter::once(*p).chain(*q).collect())
        }
        Op::Pred2 { p, .. } | Op::PredMov { p, .. } | Op::PredConst { p, .. } | Op::IsSpace { p, .. } => {
            Predicates(vec![*p])
        }
        Op::Nop => Registers(Vec::new()),
        Op::Carry { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Branch { .. }
        | Op::BranchTable { .. }
        | Op::Exit
        | Op::Trap
        | Op::Barrier { .. }
        | Op::WarpSync { .. }
        | Op::Shuffle { .. }
        | Op::Vote { .. }
        | Op::Ballot { .. }
        | Op::MatchAny { .. }
        | Op::MatchAll { .. }
        | Op::Redux { .. }
        | Op::ActiveMask { .. }
        | Op::Elect { .. }
        | Op::Unsupported { .. } => More,
    }
}

impl Cta<'_> {
    /// Refuses an operation that a condition on inputs must not decide.
    pub(super) fn choice_allowed(
        &self,
        warp: &Warp,
        symbolic: u32,
        inst: &Inst,
        pc: u32,
        guard: PredSrc,
    ) -> Result<(), Stop> {
        if !matches!(destinations(&inst.op), Destinations::More) {
            return Ok(());
        }
        let lane = symbolic.trailing_zeros() as usize;
        let Truth::Condition(term) = warp.predicates[guard.pred.index()].get(lane) else { return Ok(()) };
        let what = match &inst.op {
            Op::Branch { .. } | Op::BranchTable { .. } => "a branch",
            Op::Store { .. } => "whether a store happens",
            Op::Load { .. } => "whether a load happens",
            Op::Exit | Op::Trap => "whether a thread ends",
            _ => "whether this is executed",
        };
        let not = if guard.negated { "not " } else { "" };
        let message = format!("{what} depends on the input: {not}{}", self.describe(term));
        let site = self.site("depends on the input".into(), warp, lane, pc);
        let help = "control flow must be the same for all inputs of the given sizes (S1); write the choice as \
                    `condition ? a : b` of values";
        Err(self.fault_at(FaultKind::NotStructured, "S1", message, vec![site], Some(help.into())))
    }

    /// Executes an operation under conditions: each destination becomes a choice between its new and old value.
    pub(super) fn choose_result(
        &mut self,
        warp: &mut Warp,
        symbolic: u32,
        inst: &Inst,
        pc: u32,
        guard: PredSrc,
    ) -> Result<(), Stop> {
        self.choice_allowed(warp, symbolic, inst, pc, guard)?;
        let conditions: Vec<(usize, Truth)> =
            lanes(symbolic).map(|lane| (lane, self.truth(warp, guard, lane, pc))).collect();
        match destinations(&inst.op) {
            Destinations::Registers(list) => {
                let old: Vec<Register> = list.iter().map(|d| warp.register(*d).clone()).collect();
                self.execute(warp, symbolic, inst, pc)?;
                for (d, old) in list.into_iter().zip(old) {
                    for (lane, truth) in &conditions {
                        let new = warp.register(d).get(*lane);
                        let value = self.select_value(warp, *truth, new, old.get(*lane), *lane, pc)?;
                        warp.register_mut(d).set(*lane, value);
                    }
                }
            }
            Destinations::Predicates(list) => {
                let old: Vec<_> = list.iter().map(|p| warp.predicates[p.index()].clone()).collect();
                self.execute(warp, symbolic, inst, pc)?;
                for (p, old) in list.into_iter().zip(old) {
                    for (lane, truth) in &conditions {
                        let new = warp.predicates[p.index()].get(*lane);
                        let value = self.select_truth(*truth, new, old.get(*lane), pc);
                        warp.predicate_mut(p).set(*lane, value);
                    }
                }
            }
            Destinations::More => {}
        }
        Ok(())
    }

    fn select_truth(&mut self, condition: Truth, then: Truth, otherwise: Truth, pc: u32) -> Truth {
        use crate::program::Bool2;
        match condition {
            Truth::Known(true) => then,
            Truth::Known(false) => otherwise,
            Truth::Undefined => Truth::Undefined,
            Truth::Condition(term) => {
                let not = Truth::Condition(self.store.apply(TermOp::Not, &[term], pc));
                let left = self.combine(Bool2::And, condition, then, pc);
                let right = self.combine(Bool2::And, not, otherwise, pc);
                self.combine(Bool2::Or, left, right, pc)
            }
        }
    }

    #[inline]
    pub(super) fn select(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        pc: u32,
        width: Width,
        d: RegId,
        [a, b]: [Src; 2],
        p: PredSrc,
    ) -> Result<(), Stop> {
        let predicate = &warp.predicates[p.pred.index()];
        if (predicate.sym | predicate.undefined) & mask == 0 {
            let holds = if p.negated { !predicate.bits } else { predicate.bits };
            let mut scratch = [const { Register { data: [0; 32], sym: 0, undefined: 0 } }; 2];
            let [s0, s1] = &mut scratch;
            let mut result = self.operand(warp, b, s1).clone();
            result.merge(holds, self.operand(warp, a, s0));
            warp.register_mut(d).merge(mask, &result);
            return Ok(());
        }
        for lane in lanes(mask) {
            let truth = self.truth(warp, p, lane, pc);
            let (x, y) = (self.value(warp, a, lane), self.value(warp, b, lane));
            let low = |value| match value {
                Value::Bits(bits) => Value::Bits(bits & width.mask()),
                other => other,
            };
            let value = self.select_value(warp, truth, low(x), low(y), lane, pc)?;
            warp.register_mut(d).set(lane, value);
        }
        Ok(())
    }

    /// Bits, or a choice of bits.
    fn is_integer(&self, value: Value) -> bool {
        matches!(value, Value::Bits(_)) || self.composites.as_choice(value).is_some()
    }

    /// `then` where the condition holds, else `otherwise`.
    pub(super) fn select_value(
        &mut self,
        warp: &Warp,
        condition: Truth,
        then: Value,
        otherwise: Value,
        lane: usize,
        pc: u32,
    ) -> Result<Value, Stop> {
        let term = match condition {
            Truth::Known(true) => return Ok(then),
            Truth::Known(false) => return Ok(otherwise),
            Truth::Undefined => {
                let message = "a choice is made by a predicate that nothing was written to".to_string();
                return Err(self.fault(FaultKind::Uninitialised, "V6", message, warp, lane, pc));
            }
            Truth::Condition(term) => term,
        };
        if then == otherwise {
            return Ok(then);
        }
        match (then, otherwise) {
            // Which arm is taken is not known, so an undefined one taints the choice (rule V6).
            (Value::Undefined(origin), _) | (_, Value::Undefined(origin)) => Ok(Value::Undefined(origin)),
            _ if [then, otherwise].iter().all(|arm| self.is_integer(*arm)) => {
                Ok(self.composites.choose(Choice { condition: term, then, otherwise }))
            }
            _ => {
                let (then, otherwise) = (self.composites.as_f32(then), self.composites.as_f32(otherwise));
                let Some(format) = format_of(then).or_else(|| format_of(otherwise)) else {
                    let message = format!(
                        "a choice between {} and {} is not supported yet",
                        self.describe_value(then),
                        self.describe_value(otherwise)
                    );
                    return Err(self.fault(FaultKind::Unsupported, "V7", message, warp, lane, pc));
                };
                let x = self.real(warp, then, format, lane, pc)?;
                let y = self.real(warp, otherwise, format, lane, pc)?;
                let (Some(x), Some(y)) = (x, y) else {
                    return Ok(Value::Undefined(super::Origin::Invalid(crate::program::InstId(pc))));
                };
                let chosen: TermId = self.store.apply(TermOp::Select, &[term, x, y], pc);
                Ok(Value::Sym(Sym::real(format, chosen)))
            }
        }
    }
}

fn format_of(value: Value) -> Option<Format> {
    match value {
        Value::Sym(sym) => match sym.kind() {
            SymKind::Real(format, _) => Some(format),
            SymKind::Half64(..) | SymKind::Int(..) | SymKind::Packed(_) | SymKind::Choice(_) => None,
        },
        Value::Bits(_) | Value::Undefined(_) => None,
    }
}
