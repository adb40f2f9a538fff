//! Instructions with unsupported results in registers (rule S2): what they write has no known value.

use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Step;
use crate::program::{PredId, PredSrc, RegId, Src};
use crate::value::{Origin, Truth, Value};

impl ValueTerms<'_> {
    /// Makes all destinations unevaluated. Whether the instruction uses an operand is not known: an undefined one is no
    /// fault, but if an operand is in doubt, so are the results.
    pub(crate) fn unevaluated(
        &mut self,
        Step { warp, mask, pc }: Step<'_>,
        (d, p): (&[RegId], &[PredId]),
        (a, predicates): (&[Src], &[PredSrc]),
    ) {
        self.relied.on_unevaluated(pc);
        let in_doubt = mask.iter().find_map(|lane| {
            let values = a
                .iter()
                .filter_map(|source| self.packed.undefined_part(self.context.value(warp, *source, lane)));
            let truths =
                predicates.iter().filter_map(|source| match warp.predicates[source.pred.index()].get(lane) {
                    Truth::Undefined(origin) => Some(origin),
                    Truth::Answer(answer) => Some(self.unpredictable(answer)),
                    Truth::Known(_) | Truth::Condition(_) => None,
                });
            values.chain(truths).find(|origin| matches!(origin, Origin::Doubtful(_)))
        });
        let origin = in_doubt.unwrap_or(Origin::Unevaluated(pc));
        for lane in mask {
            d.iter().for_each(|d| warp.register_mut(*d).set(lane, Value::Undefined(origin)));
            p.iter().for_each(|p| warp.predicate_mut(*p).set(lane, Truth::Undefined(origin)));
        }
    }
}
