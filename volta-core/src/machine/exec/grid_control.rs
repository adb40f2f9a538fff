//! Dependent launches (rule Y17): `griddepcontrol`, and accesses that other launches may conflict with.

use super::super::cta::{Cta, Detector};
use super::super::guard::Guard;
use super::super::objects::Backing;
use super::super::overlap::{Phase, Touch};
use super::super::perhaps::How;
use super::super::warp::Warp;
use super::memory::WarpAccess;
use crate::base::lane::{Lane, LaneMask};

impl Cta<'_> {
    /// Threads wait for the end of the launches before, or let the next one begin. Without such launches, nothing
    /// happens.
    pub(super) fn control_grid(&mut self, warp: &Warp, mask: LaneMask, waits: bool) {
        let (Detector::VectorClock(exact), Some(overlap)) = (&mut self.order, &mut self.overlap) else {
            return;
        };
        let Some(ended) = overlap.ended else { return };
        for lane in mask.iter() {
            let thread = warp.thread(lane) as usize;
            let surely = self.guards.of(lane) == Guard::ALWAYS;
            if waits {
                overlap.waits |= surely;
                exact.clocks.learn_of(thread, ended);
            } else {
                overlap.triggers = true;
                overlap.triggers_early |= exact.clocks.knows(thread, ended) == 0;
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
        let Some(param) = self.launch.tensors[number as usize].param else { return };
        let (Detector::VectorClock(exact), Some(overlap)) = (&self.order, &mut self.overlap) else { return };
        let thread = warp.thread(lane);
        let knows = |ended| exact.clocks.knows(thread as usize, ended) > 0;
        let uncached = at.access.read_only && !writes;
        let is_late = overlap.ended.is_none_or(|ended| knows(ended) && !uncached);
        let touch = Touch {
            phase: if is_late { Phase::Late } else { Phase::Early },
            uncached,
            how: if writes { How::writing(at.agent) } else { How::Reads },
            bytes,
            surely: self.guards.of(lane) == Guard::ALWAYS,
            inst: at.pc,
            thread: self.launch.thread(self.linear, thread),
        };
        overlap.note((param, cell), touch);
    }
}
