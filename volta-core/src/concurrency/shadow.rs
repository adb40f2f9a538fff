//! Shadows of cells that threads share byte by byte, for the epoch race detector. A cell has one shadow while every
//! access covers all of it, and one for each byte from the first narrower access on.

use super::agent::Agent;
use super::epoch::{EpochShadow, Now};
use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::program::Update;

/// The cells with a shadow for each byte.
#[derive(Debug, Default)]
pub(crate) struct ByteShadow(Vec<[EpochShadow; 4]>);

/// The mask of all bytes of a cell.
pub(crate) const WHOLE: u8 = 0xf;

impl ByteShadow {
    /// Bytes of memory that the shadows take.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }

    /// An agent reads these bytes of a cell, in thread `32·warp + lane`; true if that may race.
    #[must_use]
    pub(crate) fn read_by(
        &mut self,
        agent: Agent,
        (cell, bytes): (&mut EpochShadow, u8),
        now: Now,
        lane: Lane,
    ) -> bool {
        match agent {
            Agent::Thread
            | Agent::Atomic { .. }
            | Agent::Copy { .. }
            | Agent::Maker
            | Agent::Barrier
            | Agent::Setter { .. }
            | Agent::Waiter { .. } => self.read(cell, bytes, now, lane),
            Agent::AnyOf { lanes, .. } => self.read_together(cell, bytes, now, lanes),
        }
    }

    /// An agent writes these bytes of a cell, in thread `32·warp + lane`; true if that may race.
    #[must_use]
    pub(crate) fn write_by(
        &mut self,
        agent: Agent,
        (cell, bytes): (&mut EpochShadow, u8),
        now: Now,
        lane: Lane,
    ) -> bool {
        match agent {
            Agent::Thread | Agent::Maker | Agent::Barrier | Agent::Setter { .. } | Agent::Waiter { .. } => {
                self.write(cell, bytes, now, lane)
            }
            Agent::Atomic { update, .. } => self.update(cell, bytes, now, lane, update),
            Agent::AnyOf { .. } => self.write_by_any(cell, bytes, now),
            Agent::Copy { .. } => self.begin_copy(cell, bytes, now, lane),
        }
    }

    /// Thread `32·warp + lane` reads these bytes of a cell; true if that may race.
    #[inline]
    #[must_use]
    pub(crate) fn read(&mut self, cell: &mut EpochShadow, bytes: u8, now: Now, lane: Lane) -> bool {
        self.each(cell, bytes, |part| part.read(now, lane))
    }

    /// All lanes of `mask` read these bytes of a cell; true if that may race.
    #[inline]
    #[must_use]
    pub(crate) fn read_together(
        &mut self,
        cell: &mut EpochShadow,
        bytes: u8,
        now: Now,
        mask: LaneMask,
    ) -> bool {
        self.each(cell, bytes, |part| part.read_together(now, mask))
    }

    /// As [`ByteShadow::read_together`], for the lanes of several warps, including this one.
    #[inline]
    #[must_use]
    pub(crate) fn read_by_warps(
        &mut self,
        cell: &mut EpochShadow,
        bytes: u8,
        now: Now,
        mask: LaneMask,
    ) -> bool {
        self.each(cell, bytes, |part| part.read_by_warps(now, mask))
    }

    /// Thread `32·warp + lane` writes these bytes of a cell; true if that may race.
    #[inline]
    #[must_use]
    pub(crate) fn write(&mut self, cell: &mut EpochShadow, bytes: u8, now: Now, lane: Lane) -> bool {
        self.each(cell, bytes, |part| part.write(now, lane))
    }

    /// Any of several lanes of a warp may be the writer; true if that may race.
    #[must_use]
    pub(super) fn write_by_any(&mut self, cell: &mut EpochShadow, bytes: u8, now: Now) -> bool {
        self.each(cell, bytes, |part| part.write_by_any(now))
    }

    /// Thread `32·warp + lane` updates these bytes atomically; true if that may race or may not commute with an earlier
    /// update.
    #[inline]
    #[must_use]
    pub(crate) fn update(
        &mut self,
        cell: &mut EpochShadow,
        bytes: u8,
        now: Now,
        lane: Lane,
        update: Update,
    ) -> bool {
        self.each(cell, bytes, |part| part.update(now, lane, update))
    }

    /// A thread starts a copy that will write; true if that may race with earlier accesses.
    #[must_use]
    pub(crate) fn begin_copy(&mut self, cell: &mut EpochShadow, bytes: u8, now: Now, lane: Lane) -> bool {
        self.each(cell, bytes, |part| part.begin_copy(now, lane))
    }

    /// Orders the copy's writes before the further actions of the thread.
    pub(crate) fn end_copy(&mut self, cell: &mut EpochShadow, now: Now, lane: Lane) {
        self.each(cell, WHOLE, |part| {
            part.end_copy(now, lane);
            false
        });
    }

    /// Applies `access` to the shadow of the cell or to those of these bytes; returns whether any of them may race.
    #[inline]
    fn each(
        &mut self,
        cell: &mut EpochShadow,
        bytes: u8,
        mut access: impl FnMut(&mut EpochShadow) -> bool,
    ) -> bool {
        let place = match cell.parts() {
            Some(place) => place,
            None if bytes == WHOLE => return access(cell),
            None => {
                let place = number_of(self.0.len());
                self.0.push([*cell; 4]);
                *cell = EpochShadow::in_parts(place);
                place
            }
        };
        let parts = &mut self.0[place as usize];
        let (mut rest, mut alarm) = (bytes, false);
        while rest != 0 {
            alarm |= access(&mut parts[rest.trailing_zeros() as usize & 3]);
            rest &= rest - 1;
        }
        alarm
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concurrency::agent::Agent;
    use crate::concurrency::race::{Under, VectorClockDetector};
    use crate::number::format::Format;
    use crate::program::{InstId, Int, Int2, Scope, Width};
    use proptest::prelude::*;

    fn lane(number: u32) -> Lane {
        Lane::new(number)
    }

    fn now(epoch: u32, sync: u32, warp: u16) -> Now {
        Now { epoch, sync, warp }
    }

    #[test]
    fn atomics_go_with_their_like_alone() {
        let add = Update::Real(Format::F32);
        let largest = Update::Integer(Int2::Max, Int { width: Width::W32, signed: true });
        let (mut parts, mut cell) = (ByteShadow::default(), EpochShadow::CLEAN);
        assert!(!parts.update(&mut cell, WHOLE, now(1, 0, 0), lane(0), add));
        assert!(!parts.update(&mut cell, WHOLE, now(1, 0, 3), lane(7), add));
        assert!(parts.update(&mut cell, WHOLE, now(1, 0, 3), lane(7), largest));
        let (mut parts, mut cell) = (ByteShadow::default(), EpochShadow::CLEAN);
        assert!(!parts.update(&mut cell, WHOLE, now(1, 0, 0), lane(0), add));
        assert!(parts.read(&mut cell, WHOLE, now(1, 0, 0), lane(0)), "others may have been there");
        assert!(!parts.update(&mut cell, WHOLE, now(2, 0, 0), lane(0), largest));
        let (mut parts, mut cell) = (ByteShadow::default(), EpochShadow::CLEAN);
        assert!(!parts.write(&mut cell, WHOLE, now(1, 0, 0), lane(0)));
        assert!(
            parts.update(&mut cell, WHOLE, now(1, 0, 0), lane(0), add),
            "the next one may be another thread's"
        );
    }

    #[test]
    fn threads_may_share_a_cell_and_not_a_byte() {
        let (mut parts, mut cell) = (ByteShadow::default(), EpochShadow::CLEAN);
        assert!(!parts.write(&mut cell, 0b0011, now(1, 0, 0), lane(0)));
        assert!(!parts.write(&mut cell, 0b1100, now(1, 0, 0), lane(1)));
        assert!(!parts.read(&mut cell, 0b0011, now(1, 0, 0), lane(0)));
        assert!(
            parts.read(&mut cell, 0b0110, now(1, 0, 0), lane(0)),
            "another thread wrote one of the two bytes"
        );
        assert!(!parts.read(&mut cell, WHOLE, now(2, 0, 1), lane(5)));
        assert!(parts.write(&mut cell, 0b1000, now(2, 0, 0), lane(0)));
    }

    #[test]
    fn what_was_known_of_the_cell_is_known_of_its_bytes() {
        let (mut parts, mut cell) = (ByteShadow::default(), EpochShadow::CLEAN);
        assert!(!parts.write(&mut cell, WHOLE, now(1, 0, 0), lane(0)));
        assert!(parts.read(&mut cell, 0b0001, now(1, 0, 0), lane(1)));
        assert!(!parts.read(&mut cell, 0b0010, now(1, 0, 0), lane(0)));
        let (mut parts, mut cell) = (ByteShadow::default(), EpochShadow::CLEAN);
        assert!(!parts.begin_copy(&mut cell, WHOLE, now(1, 0, 0), lane(0)));
        assert!(parts.read(&mut cell, 0b0010, now(2, 0, 0), lane(0)), "the copy is under way");
        parts.end_copy(&mut cell, now(2, 0, 0), lane(0));
        assert!(!parts.read(&mut cell, 0b0010, now(2, 0, 0), lane(0)));
    }

    #[derive(Clone, Debug)]
    enum Event {
        Access { thread: u32, bytes: u8, writes: bool },
        Update { thread: u32, bytes: u8, update: Update },
        WarpMeets(u32),
        EverybodyMeets,
    }

    fn event() -> impl Strategy<Value = Event> {
        let bytes = prop::sample::select(vec![1u8, 2, 4, 8, 3, 12, 15, 15]);
        prop_oneof![
            6 => (0u32..4, bytes, any::<bool>())
                .prop_map(|(thread, bytes, writes)| Event::Access { thread, bytes, writes }),
            3 => (0u32..4, prop::sample::select(vec![
                (WHOLE, Update::Real(Format::F32)),
                (WHOLE, Update::Integer(Int2::Max, Int { width: Width::W32, signed: true })),
                (0b0011, Update::Real(Format::F16)),
            ]))
                .prop_map(|(thread, (bytes, update))| Event::Update { thread, bytes, update }),
            1 => (0u32..2).prop_map(Event::WarpMeets),
            2 => Just(Event::EverybodyMeets),
        ]
    }

    proptest! {
        /// Two warps of four lanes: reads by lanes together have the effect of reads one after another.
        #[test]
        fn reading_together_is_reading_one_by_one(
            events in prop::collection::vec((0u16..2, 1u32..16, 0u32..4, 0u32..6), 1..30)
        ) {
            let (mut together, mut alone) = (ByteShadow::default(), ByteShadow::default());
            let mut cells = [EpochShadow::CLEAN; 2];
            let (mut epoch, mut syncs) = (1, [0; 2]);
            for (warp, mask, how, meets) in events {
                match meets {
                    0 => epoch += 1,
                    1 | 2 => syncs[usize::from(warp)] += 1,
                    _ => {}
                }
                let now = now(epoch, syncs[usize::from(warp)], warp);
                let mask = LaneMask::from_bits(mask);
                let [first, second] = &mut cells;
                let alarms = if how == 0 {
                    let each = (0..2).fold(false, |alarm, other| {
                        let now = Now { sync: syncs[usize::from(other)], warp: other, ..now };
                        alarm | alone.read_together(second, WHOLE, now, mask)
                    });
                    [together.read_by_warps(first, WHOLE, now, mask), each]
                } else if how == 1 {
                    let lane = mask.first();
                    [together.write(first, WHOLE, now, lane), alone.write(second, WHOLE, now, lane)]
                } else {
                    let each = mask.iter().fold(false, |alarm, lane| alarm | alone.read(second, WHOLE, now, lane));
                    [together.read_together(first, WHOLE, now, mask), each]
                };
                prop_assert_eq!(alarms[0], alarms[1]);
                if alarms[0] {
                    return Ok(());
                }
            }
        }

        /// Two warps of two threads: a race by vector clocks is an alarm here. An access to bytes that no other thread
        /// has accessed since the last barrier of the CTA is none.
        #[test]
        fn no_race_is_missed(events in prop::collection::vec(event(), 1..40)) {
            // Threads 0 and 1 are lanes of warp 0, threads 2 and 3 of warp 1.
            let mut exact = VectorClockDetector::new(4, 32, false);
            let (mut parts, mut cell) = (ByteShadow::default(), EpochShadow::CLEAN);
            let (mut epoch, mut syncs) = (1, [0; 2]);
            let mut touched: Vec<(u32, u8)> = Vec::new();
            for event in events {
                match event {
                    Event::Access { thread, bytes, writes } => {
                        let now = now(epoch, syncs[thread as usize / 2], thread as u16 / 2);
                        let alarm = if writes {
                            parts.write(&mut cell, bytes, now, lane(thread % 2))
                        } else {
                            parts.read(&mut cell, bytes, now, lane(thread % 2))
                        };
                        let races = exact.access(Under::ALWAYS, (0, 0), (thread, Agent::Thread), bytes, InstId(0), writes);
                        prop_assert!(alarm || races.is_ok());
                        let shares = touched.iter().any(|(other, mask)| *other != thread && mask & bytes != 0);
                        prop_assert!(shares || !alarm);
                        if alarm {
                            return Ok(());
                        }
                        touched.push((thread, bytes));
                    }
                    Event::Update { thread, bytes, update } => {
                        let now = now(epoch, syncs[thread as usize / 2], thread as u16 / 2);
                        let alarm = parts.update(&mut cell, bytes, now, lane(thread % 2), update);
                        let agent = Agent::Atomic { update, scope: Scope::Launch };
                        let races = exact.access(Under::ALWAYS, (0, 0), (thread, agent), bytes, InstId(0), true);
                        prop_assert!(alarm || races.is_ok());
                        if alarm {
                            return Ok(());
                        }
                        // The owner is not recorded.
                        touched.push((u32::MAX, bytes));
                    }
                    Event::WarpMeets(warp) => {
                        syncs[warp as usize] += 1;
                        exact.clocks.meet(&[2 * warp as usize, 2 * warp as usize + 1]);
                    }
                    Event::EverybodyMeets => {
                        epoch += 1;
                        exact.clocks.meet(&[0, 1, 2, 3]);
                        touched.clear();
                    }
                }
            }
        }
    }
}
