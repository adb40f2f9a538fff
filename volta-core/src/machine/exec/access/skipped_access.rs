//! Continuing after a fault (rule R2): a faulty access is recorded and not executed, and the results of a faulty load
//! are in doubt. This applies only to runs that search for further findings; otherwise the fault ends the run.

use crate::base::lane::{Lane, LaneMask};
use crate::launch::objects::Backing;
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::WarpAccess;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::program::{Inst, InstId, Op};
use crate::value::{Origin, Value};

impl ValueTerms<'_> {
    /// Whether a value that is undefined for this reason may be a consequence of a finding.
    pub(crate) fn is_in_doubt(&self, origin: Origin) -> bool {
        self.survey.as_ref().is_some_and(|survey| survey.is_in_doubt(origin))
    }

    /// Whether two values that are not the same may be equal after all, because a part of one of them is in doubt.
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

    /// As [`ValueTerms::leave_out`], for those lanes of an access to one object that are misaligned; returns these lanes.
    /// Contents that a misaligned store leaves in doubt belong to that object.
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

    /// Notes a fault after which the run continues.
    fn note(&mut self, stop: Stop) -> Result<(), Stop> {
        match (&mut self.survey, stop) {
            (Some(survey), Stop::Fault(fault)) if !self.guards.are_narrow() => survey.note(*fault),
            (_, stop) => return Err(stop),
        }
        Ok(())
    }

    /// The results of a load by the lanes of `mask` are in doubt.
    fn load_nothing(&mut self, warp: &mut Warp, mask: LaneMask, inst: &Inst, pc: InstId) {
        let Op::Load { d, .. } = &inst.op else { return };
        if let Some(survey) = &mut self.survey {
            survey.lacks_load();
        }
        for target in d.iter().flatten() {
            warp.register_mut(*target).fill(mask, Value::Undefined(Origin::Doubtful(pc)));
        }
    }
}

impl Cta<'_> {
    /// A load for which some lanes have no address: results of lanes with an address in doubt are in doubt, and the
    /// other lanes load. A store ends the run, since a lane with such an address may store anywhere.
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
            let origin =
                self.values.terms.packed.undefined_part(self.context.value(warp, address.base, *lane));
            origin.is_some_and(|origin| self.values.terms.is_in_doubt(origin))
        });
        let in_doubt = in_doubt.collect::<LaneMask>();
        self.values.terms.load_nothing(warp, in_doubt, inst, pc);
        match mask & !in_doubt {
            LaneMask::NONE => Ok(()),
            // Either all of these lanes have an address, or the access fails for another reason.
            rest if !in_doubt.is_empty() => self.access(warp, rest, inst, pc),
            _ => Err(stop),
        }
    }
}
