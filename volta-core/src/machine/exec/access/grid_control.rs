//! Dependent launches (rule Y17): `griddepcontrol`, and accesses that other launches may conflict with.

use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::race::Detector;
use crate::launch::objects::Backing;
use crate::machine::cta::accesses::{Accesses, WarpAccess};
use crate::machine::group::warp::Warp;
use crate::machine::memory::overlap::{Phase, Touch};
use crate::machine::memory::perhaps::How;
use crate::value::guard::Guard;

impl Accesses<'_, '_> {
    /// Threads wait for the end of the launches before, or let the next one begin. Without such launches, nothing
    /// happens.
    pub(crate) fn control_grid(&mut self, warp: &Warp, mask: LaneMask, waits: bool) {
        let (Detector::VectorClock(exact), Some(overlap)) = (&mut self.sync.order, &mut self.overlap) else {
            return;
        };
        let Some(ended) = overlap.ended else { return };
        for lane in mask.iter() {
            let thread = warp.thread(lane) as usize;
            let surely = self.values.terms.guards.of(lane) == Guard::ALWAYS;
            if !waits {
                overlap.triggers = true;
                overlap.triggers_early |= exact.clocks.knows(thread, ended) == 0;
            } else if surely {
                // What a thread knows for some inputs only, it does not know.
                overlap.waits = true;
                exact.clocks.learn_of(thread, ended);
            }
        }
    }

    /// Notes an access that another launch may conflict with.
    #[cold]
    pub(super) fn note_touch(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        (cell, bytes): (u64, u8),
        writes: bool,
    ) {
        let Backing::Tensor(number) = at.object.backing else { return };
        let Some(param) = self.context.launch.tensors[number as usize].param else { return };
        let (Detector::VectorClock(exact), Some(overlap)) = (&self.sync.order, &mut self.overlap) else {
            return;
        };
        let thread = warp.thread(lane);
        let knows = |ended| exact.clocks.knows(thread as usize, ended) > 0;
        let touch = Touch {
            phase: match overlap.ended {
                None => Phase::Late,
                Some(ended) if !knows(ended) => Phase::Early,
                Some(_) if at.access.read_only && !writes => Phase::Uncached,
                Some(_) => Phase::Late,
            },
            how: if writes { How::writing(at.agent) } else { How::Reads },
            bytes,
            surely: self.values.terms.guards.of(lane) == Guard::ALWAYS,
            inst: at.pc,
            thread: Some(self.context.launch.thread(self.context.linear, thread)),
        };
        overlap.note((param, cell), touch);
    }
}
