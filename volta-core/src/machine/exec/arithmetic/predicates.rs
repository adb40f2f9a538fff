//! Sums with a carry, and the predicates that comparisons set (rules V4, V6).

use crate::base::lane::Lane;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Step;
use crate::program::{Bool2, PredId, PredSrc, RegId, Src, Width};
use crate::term::TermOp;
use crate::value::{Truth, Value};

/// An addition or a subtraction with a carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carry {
    pub(crate) subtract: bool,
    pub(crate) width: Width,
    pub(crate) d: RegId,
    pub(crate) operands: [Src; 2],
    pub(crate) carry_in: Option<PredId>,
    pub(crate) carry_out: Option<PredId>,
}

/// The operands and the destinations of a comparison: `p` takes the result and `q` its negation, each combined with a
/// third predicate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompareInst {
    pub(crate) operands: [Src; 2],
    pub(crate) p: PredId,
    pub(crate) q: Option<PredId>,
    pub(crate) combine: Option<(Bool2, PredSrc)>,
}

impl ValueTerms<'_> {
    pub(crate) fn carry(&mut self, mut step: Step<'_>, carry: Carry) -> Result<(), Stop> {
        let Carry { subtract, width, d, operands: [a, b], carry_in, carry_out } = carry;
        for lane in step.mask {
            let words = [a, b].map(|source| self.context.value(step.warp, source, lane));
            let carry = match carry_in {
                None => Truth::Known(false),
                Some(pred) => step.warp.predicates[pred.index()].get(lane),
            };
            let (result, out) = match (words, carry) {
                ([Value::Bits(x), Value::Bits(y)], Truth::Known(carry)) => {
                    let (x, y) = (x & width.mask(), y & width.mask());
                    let (x, y) = (i128::from(x), i128::from(y) + i128::from(carry));
                    let wide = if subtract { x - y } else { x + y };
                    let out = wide < 0 || wide >> width.bits() != 0;
                    (Value::Bits(wide as u64 & width.mask()), Truth::Known(out))
                }
                _ => self.symbolic_carry(step.at(lane), (subtract, width), words, carry)?,
            };
            step.set(d, lane, result);
            if let Some(pred) = carry_out {
                step.warp.predicate_mut(pred).set(lane, out);
            }
        }
        Ok(())
    }

    /// Writes the result of a comparison to `p` and its negation to `q`, each combined with a third predicate.
    pub(crate) fn set_predicates(
        &mut self,
        step: &mut Step<'_>,
        lane: Lane,
        truth: Truth,
        CompareInst { p, q, combine, .. }: CompareInst,
    ) {
        let pc = step.pc;
        let third = combine.map(|(op, source)| (op, self.truth(step.warp, source, lane, pc)));
        let opposite = match truth {
            Truth::Known(value) => Truth::Known(!value),
            Truth::Condition(term) if q.is_some() => {
                Truth::Condition(self.store.apply(TermOp::Not, &[term], pc))
            }
            Truth::Answer(answer) if q.is_some() => self.packed.answer_of(answer, |holds| 1 - holds),
            other @ (Truth::Condition(_) | Truth::Undefined(_) | Truth::Answer(_)) => other,
        };
        let mut with = |truth| match third {
            None => truth,
            Some((op, third)) => self.combine(op, truth, third, pc),
        };
        let (first, second) = (with(truth), with(opposite));
        step.warp.predicate_mut(p).set(lane, first);
        if let Some(q) = q {
            step.warp.predicate_mut(q).set(lane, second);
        }
    }
}
