//! A CTA that runs for all of its class.

use crate::base::lane::LaneMask;
use crate::machine::cta::Cta;
use crate::machine::cta_class::growth::Apart;
use crate::machine::cta_class::{ClassRun, Executing, STAYS};
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::program::{Inst, InstId, Op, RegId, Src};

impl Cta<'_> {
    /// Executes an operation of a CTA that may stand for others. See [`Cta::execute`].
    #[inline(never)]
    pub(crate) fn execute_for_class(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
    ) -> Result<(), Stop> {
        let Some(mut class) = self.class.take() else { return self.execute(warp, mask, inst, pc) };
        let is_conditional = self.values.depth > 0 || self.values.terms.guards.are_narrow();
        let extents = class.extents;
        let apart = |_: Apart| Stop::Apart(Some(pc));
        let of = Executing { context: self.context, warp, mask };
        let outcome = class.before(of, &inst.op, is_conditional).map_err(apart)?;
        self.execute(warp, mask, inst, pc)?;
        if let Some(outcome) = outcome {
            class.after((&*warp, mask), outcome).map_err(apart)?;
        }
        if class.extents != extents {
            class.cut_at = Some(pc);
            if class.extents.together() != extents.together() {
                class.bounded_at = Some(pc);
            }
        }
        self.class = Some(class);
        Ok(())
    }

    /// Whether registers hold the same in all CTAs.
    pub(crate) fn same_in_class(&self, warp: &Warp, registers: &[RegId]) -> bool {
        let stays = |class: &ClassRun| {
            registers.iter().all(|register| class.drift(warp, Src::Reg(*register)) == STAYS)
        };
        self.class.as_deref().is_none_or(stays)
    }

    /// Before an operation is executed for some inputs only: what it names is the same in all CTAs.
    pub(crate) fn choose_in_class(&self, warp: &Warp, op: &Op, pc: InstId) -> Result<(), Stop> {
        match &self.class {
            Some(class) if !class.names_the_same(warp, op) => Err(Stop::Apart(Some(pc))),
            Some(_) | None => Ok(()),
        }
    }
}
