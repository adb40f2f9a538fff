//! Accesses that the exact detector records, with the guards under which they happen.

use crate::base::lane::Lane;
use crate::concurrency::race::Detector;
use crate::machine::cta::accesses::{Accesses, WarpAccess};
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::value::guard::Guard;
use crate::value::packed::Cell;
use crate::verdict::FaultKind;

impl Accesses<'_, '_> {
    /// Records an access with the vector clocks. `content` is what a write leaves in the cell. Returns true if the
    /// contents of the object are in doubt, which is possible only after a fault.
    pub(super) fn vector_clock_access(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
        touched: u8,
        content: Option<Cell>,
    ) -> Result<bool, Stop> {
        let writes = content.is_some();
        if self.values.terms.survey.is_some() {
            return Ok(self.survey_access(warp, lane, at, cell, touched, content));
        }
        if self.sync.mbarriers.covers((at.number, cell)) {
            let (place, verb) =
                (self.context.spell(at.object, cell * 4, 4), if writes { "written" } else { "read" });
            let message = format!("{place} is {verb}, which is part of a barrier");
            let site = self.context.site("accesses it".into(), warp, lane, at.pc);
            let help = Some("its memory can be reused after `mbarrier.inval`".into());
            return Err(self.context.fault_at(FaultKind::BarrierMisuse, "Y9", message, vec![site], help));
        }
        if self.overlap.is_some() {
            self.note_touch(warp, lane, at, (cell, touched), writes);
        }
        let (place, inst) = ((at.number, cell), at.pc);
        loop {
            let Detector::VectorClock(exact) = &mut self.sync.order else { return Ok(false) };
            let under = self.values.terms.guards.under(lane);
            let thread = (warp.thread(lane), at.agent);
            let Err(conflict) = exact.access(under, place, thread, touched, inst, writes) else {
                if exact.met_alike.take() {
                    self.values.terms.relied.on_same_store(inst);
                }
                break;
            };
            let terms = &mut self.values.terms;
            let [one, other] = [conflict.earlier.guard, conflict.later.guard];
            let mut literals = terms.guards.all_literals(one);
            literals.extend(terms.guards.all_literals(other));
            // Of guards that always hold, none excludes another one.
            let may_exclude = one != Guard::ALWAYS && other != Guard::ALWAYS;
            if !may_exclude || !terms.are_infeasible(&literals) {
                return Err(self.race_at(warp, lane, at, cell, conflict, content));
            }
            terms.guards.know_apart(one, other);
        }
        if let Some(content) = content.filter(|_| self.context.launch.has_flags) {
            self.note_change(warp, lane, at, cell, touched, content);
        } else if self.context.launch.has_locks {
            self.sync.note_lock(warp, lane, at, cell, writes)?;
        }
        Ok(false)
    }

    /// Records an access after a fault and notes its races. Returns whether the contents of the object are in doubt.
    #[cold]
    fn survey_access(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
        touched: u8,
        content: Option<Cell>,
    ) -> bool {
        let (place, inst) = ((at.number, cell), at.pc);
        let Detector::VectorClock(exact) = &mut self.sync.order else { return false };
        let who = (warp.thread(lane), at.agent);
        let under = self.values.terms.guards.under(lane);
        let conflicts = exact.access_anyway(under, place, who, touched, inst, content.is_some());
        for conflict in conflicts {
            let Some(survey) = &mut self.values.terms.survey else { break };
            survey.doubt_object(at.number);
            if survey.is_new_race(&conflict)
                && let Stop::Fault(fault) = self.race_at(warp, lane, at, cell, conflict, content)
                && fault.kind != FaultKind::Unsupported
                && let Some(survey) = &mut self.values.terms.survey
            {
                survey.note(*fault);
            }
        }
        self.values.terms.survey.as_mut().is_some_and(|survey| survey.looks_at(at.number))
    }
}
