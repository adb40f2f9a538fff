//! Going on behind a fault (rule R2): an access that is at fault is noted and not made, and what a load would have
//! brought is in doubt. Only where a CTA runs for that; else the fault ends the run.

use super::super::agent::Agent;
use super::super::cta::{Cta, Detector, Stop};
use super::super::objects::Backing;
use super::super::packed::Cell;
use super::super::value::{Origin, Value};
use super::super::warp::Warp;
use super::memory::WarpAccess;
use crate::base::lane::{Lane, LaneMask};
use crate::program::{Inst, InstId, Op};
use smallvec::{SmallVec, smallvec};

impl Cta<'_> {
    /// Whether a value that is undefined for that reason may be a consequence of a finding.
    pub(super) fn is_in_doubt(&self, origin: Origin) -> bool {
        self.survey.as_ref().is_some_and(|survey| survey.is_in_doubt(origin))
    }

    /// Whether it is in doubt that two values are not the same.
    #[cold]
    pub(super) fn may_be_same(&self, one: Value, other: Value) -> bool {
        let origins = [one, other].map(|value| self.packed.undefined_part(value));
        origins.into_iter().flatten().any(|origin| self.is_in_doubt(origin))
    }

    /// The lanes of `mask` leave out a load or a store that is at fault.
    #[cold]
    pub(super) fn leave_out(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        (inst, pc): (&Inst, InstId),
        stop: Stop,
    ) -> Result<(), Stop> {
        self.note(stop)?;
        match (&inst.op, &mut self.survey) {
            (Op::Store { .. }, Some(survey)) => survey.lacks_store(),
            _ => self.load_nothing(warp, mask, inst, pc),
        }
        Ok(())
    }

    /// The same of those lanes that access an object at once where it is not aligned, and which these are. What they
    /// would have stored belongs in that object.
    #[cold]
    pub(super) fn leave_out_misaligned(
        &mut self,
        warp: &mut Warp,
        at: &WarpAccess<'_>,
        (inst, total): (&Inst, u32),
        stop: Stop,
    ) -> Result<LaneMask, Stop> {
        let is_store = matches!(inst.op, Op::Store { .. });
        if is_store && matches!(at.object.backing, Backing::Local(_)) {
            return Err(stop);
        }
        self.note(stop)?;
        let total = u64::from(total);
        let is_odd = |lane: &Lane| at.object.align < total || !at.offsets[*lane].is_multiple_of(total);
        let odd = at.mask.iter().filter(is_odd).collect::<LaneMask>();
        match &mut self.survey {
            Some(survey) if is_store => survey.doubt_object(at.number),
            _ => self.load_nothing(warp, odd, inst, at.pc),
        }
        Ok(odd)
    }

    /// A load or a store of which some lanes have no address: those that are in doubt load nothing, and where one stores,
    /// it may be anywhere.
    #[cold]
    pub(super) fn access_in_doubt(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        (inst, pc): (&Inst, InstId),
        stop: Stop,
    ) -> Result<(), Stop> {
        let (Stop::Doubtful, Op::Load { address, .. }) = (&stop, &inst.op) else { return Err(stop) };
        let in_doubt = mask.iter().filter(|lane| {
            let origin = self.packed.undefined_part(self.value(warp, address.base, *lane));
            origin.is_some_and(|origin| self.is_in_doubt(origin))
        });
        let in_doubt = in_doubt.collect::<LaneMask>();
        self.load_nothing(warp, in_doubt, inst, pc);
        match mask & !in_doubt {
            LaneMask::NONE => Ok(()),
            // Without these there is an address, or another reason why not.
            rest if !in_doubt.is_empty() => self.access(warp, rest, inst, pc),
            _ => Err(stop),
        }
    }

    /// Records an access behind a fault, notes what it races with, and tells whether what the object holds is in doubt.
    #[cold]
    pub(super) fn survey_access(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
        touched: u8,
        content: Option<Cell>,
    ) -> bool {
        let (place, inst) = ((at.number, cell), at.pc);
        let Detector::VectorClock(exact) = &mut self.order else { return false };
        let threads: SmallVec<[u32; 1]> = match at.agent {
            Agent::Thread
            | Agent::Atomic { .. }
            | Agent::Copy { .. }
            | Agent::Maker
            | Agent::Barrier
            | Agent::Setter { .. }
            | Agent::Waiter { .. } => smallvec![warp.thread(lane)],
            Agent::AnyOf { lanes: any, .. } => any.iter().map(|lane| warp.thread(lane)).collect(),
        };
        let conflicts = exact.access_anyway(place, (&threads, at.agent), touched, inst, content.is_some());
        for conflict in conflicts {
            let Some(survey) = &mut self.survey else { break };
            survey.doubt_object(at.number);
            if survey.is_new_race(&conflict)
                && let Stop::Fault(fault) = self.race_at(warp, lane, at, cell, conflict, content)
                && let Some(survey) = &mut self.survey
            {
                survey.note(*fault);
            }
        }
        self.survey.as_mut().is_some_and(|survey| survey.looks_at(at.number))
    }

    /// Notes a fault to go on behind it.
    fn note(&mut self, stop: Stop) -> Result<(), Stop> {
        match (&mut self.survey, stop) {
            (Some(survey), Stop::Fault(fault)) => survey.note(*fault),
            (_, stop) => return Err(stop),
        }
        Ok(())
    }

    /// What the lanes of `mask` would have loaded is in doubt.
    fn load_nothing(&mut self, warp: &mut Warp, mask: LaneMask, inst: &Inst, pc: InstId) {
        let Op::Load { d, .. } = &inst.op else { return };
        if let Some(survey) = &mut self.survey {
            survey.lacks_load();
        }
        for target in d.iter().flatten() {
            for lane in mask {
                warp.register_mut(*target).set(lane, Value::Undefined(Origin::Doubtful(pc)));
            }
        }
    }
}

/// What is read from a cell of which nobody knows what it holds.
pub(super) fn doubtful_cell(pc: InstId) -> Cell {
    Cell::of(Value::Undefined(Origin::Doubtful(pc)))
}
