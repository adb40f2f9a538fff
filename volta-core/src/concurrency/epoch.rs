//! The epoch detector of data races: it models epochs, which end at barriers at which every thread of the CTA waits, and
//! whole-warp synchronisation. It never misses a race and may raise a false alarm, for example at synchronisation of
//! part of a warp.

use crate::base::lane::{Lane, LaneMask};
use crate::number::format::Format;
use crate::program::{Int2, Update};

/// The state of the epoch detector for 4 bytes, or for one.
///
/// Dropping an older reader of the same warp is sound: it happens before the newer one, so every conflicting access
/// that is ordered after the newer one is ordered after the older one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EpochShadow {
    write_epoch: u32,
    write_sync: u32,
    read_epoch: u32,
    read_sync: u32,
    read_lanes: LaneMask,
    write_thread: u16,
    read_warp: u16,
}

const MANY: u16 = u16::MAX;
/// In `read_warp`: each byte of the cell has a shadow, at the index in `read_lanes`.
const IN_PARTS: u16 = u16::MAX - 1;
/// In `write_thread`: one lane of that warp wrote, unspecified which.
const ANY_LANE: u16 = 1 << 15;
/// In `write_thread`: threads of any warps updated the cell atomically, by the kind of update in the lower bits.
const ATOMIC: u16 = 1 << 14;
/// In `write_epoch`: an asynchronous copy may write at any time until it is waited for.
const UNDER_WAY: u32 = u32::MAX;

impl EpochShadow {
    pub(crate) const CLEAN: EpochShadow = EpochShadow {
        write_epoch: 0,
        write_sync: 0,
        read_epoch: 0,
        read_sync: 0,
        read_lanes: LaneMask::NONE,
        write_thread: 0,
        read_warp: 0,
    };

    /// The state of a cell with a shadow for each byte, at index `place`.
    pub(super) fn in_parts(place: u32) -> EpochShadow {
        EpochShadow { read_warp: IN_PARTS, read_lanes: LaneMask::from_bits(place), ..EpochShadow::CLEAN }
    }

    /// The index of the shadows of the cell's bytes, if it has one for each.
    #[inline]
    pub(crate) fn parts(&self) -> Option<u32> {
        (self.read_warp == IN_PARTS).then_some(self.read_lanes.bits())
    }

    /// Thread `32·warp + lane` reads; true if that may race.
    #[inline]
    #[must_use]
    pub(crate) fn read(&mut self, now: Now, lane: Lane) -> bool {
        let alarm = self.conflicts_with_write(now, lane);
        if self.read_epoch != now.epoch {
            self.read_epoch = now.epoch;
            self.read_warp = now.warp;
            self.read_sync = now.sync;
            self.read_lanes = LaneMask::of(lane);
        } else if self.read_warp != now.warp {
            self.read_warp = MANY;
        } else if self.read_sync == now.sync {
            self.read_lanes |= LaneMask::of(lane);
        } else {
            self.read_sync = now.sync;
            self.read_lanes = LaneMask::of(lane);
        }
        alarm
    }

    /// All lanes of `mask` read the same bytes; true if that may race.
    #[inline]
    #[must_use]
    pub(crate) fn read_together(&mut self, now: Now, mask: LaneMask) -> bool {
        let first = mask.first();
        let rest = mask & !LaneMask::of(first);
        let mut alarm = self.read(now, first);
        if !rest.is_empty() {
            alarm |= self.conflicts_with_write(now, rest.first());
            if self.read_warp == now.warp {
                self.read_lanes |= rest;
            }
        }
        alarm
    }

    /// As [`EpochShadow::read_together`], for the lanes of several warps, including this one; true if that may race.
    #[inline]
    #[must_use]
    pub(crate) fn read_by_warps(&mut self, now: Now, mask: LaneMask) -> bool {
        // Whichever thread wrote in this epoch, some reader belongs to another warp.
        let alarm = self.read_together(now, mask);
        self.read_warp = MANY;
        alarm || self.write_epoch == now.epoch
    }

    /// Thread `32·warp + lane` writes; true if that may race.
    #[inline]
    #[must_use]
    pub(crate) fn write(&mut self, now: Now, lane: Lane) -> bool {
        let alarm = self.conflicts_with_write(now, lane) | self.conflicts_with_read(now, lane);
        self.write_epoch = now.epoch;
        self.write_sync = now.sync;
        self.write_thread = now.warp << 5 | lane.number() as u16;
        alarm
    }

    /// One of several lanes of a warp writes, unspecified which; true if that may race.
    #[must_use]
    pub(super) fn write_by_any(&mut self, now: Now) -> bool {
        // The writer is not known. Every earlier write by one lane conflicts with at least one of two lanes.
        let mut alarm =
            self.conflicts_with_write(now, Lane::FIRST) || self.conflicts_with_write(now, Lane::at(1));
        if self.read_epoch == now.epoch {
            alarm |= !(self.read_warp == now.warp && self.read_sync < now.sync);
        }
        self.write_epoch = now.epoch;
        self.write_sync = now.sync;
        self.write_thread = now.warp << 5 | ANY_LANE;
        alarm
    }

    /// Thread `32·warp + lane` updates atomically; true if that may race or may not commute with an earlier update.
    #[inline]
    #[must_use]
    pub(crate) fn update(&mut self, now: Now, lane: Lane, update: Update) -> bool {
        let writer = ATOMIC | number(update);
        // Any other write of this epoch, even by the same thread, may race with the next atomic, and is forgotten here.
        let mut alarm = self.write_epoch == UNDER_WAY;
        alarm |= self.write_epoch == now.epoch && self.write_thread != writer;
        alarm |= self.conflicts_with_read(now, lane);
        self.write_epoch = now.epoch;
        self.write_sync = now.sync;
        self.write_thread = writer;
        alarm
    }

    /// A thread starts a copy that will write; true if that may race with earlier accesses.
    #[must_use]
    pub(crate) fn begin_copy(&mut self, now: Now, lane: Lane) -> bool {
        let alarm = self.write(now, lane);
        self.write_epoch = UNDER_WAY;
        alarm
    }

    /// Orders the copy's write before the further actions of the thread.
    pub(crate) fn end_copy(&mut self, now: Now, lane: Lane) {
        self.write_epoch = now.epoch;
        self.write_sync = now.sync;
        self.write_thread = now.warp << 5 | lane.number() as u16;
    }

    #[inline]
    fn conflicts_with_read(&self, now: Now, lane: Lane) -> bool {
        let same_warp = self.read_warp == now.warp;
        let ordered =
            same_warp && (self.read_sync < now.sync || self.read_lanes.is_within(LaneMask::of(lane)));
        self.read_epoch == now.epoch && !ordered
    }

    #[inline]
    fn conflicts_with_write(&self, now: Now, lane: Lane) -> bool {
        if self.write_epoch != now.epoch {
            return self.write_epoch == UNDER_WAY;
        }
        let same_thread = self.write_thread == (now.warp << 5 | lane.number() as u16);
        let same_warp = (self.write_thread & !ANY_LANE) >> 5 == now.warp;
        !(same_thread || same_warp && self.write_sync < now.sync)
    }
}

/// A number below [`ATOMIC`] for each kind of update.
fn number(update: Update) -> u16 {
    match update {
        Update::Real(Format::F16) => 0,
        Update::Real(Format::Bf16) => 1,
        Update::Real(Format::Tf32) => 2,
        Update::Real(Format::F32) => 3,
        Update::Real(Format::F64) => 4,
        Update::Real(Format::E4m3) => 5,
        Update::Real(Format::E5m2) => 6,
        Update::Real(Format::Ue8m0) => 7,
        // Follows the numbers above.
        Update::Extreme { largest, format } => 8 + 2 * number(Update::Real(format)) + u16::from(largest),
        // Follows these as well.
        Update::RealInWord { format, word } => {
            32 + 8 * number(Update::Real(format)) + word.bytes().trailing_zeros() as u16
        }
        // Between these two.
        Update::Counter { down } => 24 + u16::from(down),
        Update::Integer(op, ty) => {
            let op = match op {
                Int2::Add => 1,
                Int2::Min => 2,
                Int2::Max => 3,
                Int2::And => 4,
                Int2::Or => 5,
                // Atomics have no other operations.
                Int2::Sub
                | Int2::AddSat
                | Int2::SubSat
                | Int2::MulLo
                | Int2::MulHi
                | Int2::MulWide
                | Int2::Mul24Lo
                | Int2::Mul24Hi
                | Int2::Div
                | Int2::Rem
                | Int2::Xor
                | Int2::Shl
                | Int2::Shr
                | Int2::MaskClamp
                | Int2::MaskWrap => 6,
            };
            op << 8 | (ty.width.bits() as u16) << 1 | u16::from(ty.signed)
        }
    }
}

/// The time and the warp of an access, for the epoch detector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// Epochs start at 1.
    pub(crate) epoch: u32,
    /// The number of synchronisations of the whole warp so far.
    pub(crate) sync: u32,
    pub(crate) warp: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(number: u32) -> Lane {
        Lane::new(number)
    }

    fn now(epoch: u32, sync: u32, warp: u16) -> Now {
        Now { epoch, sync, warp }
    }

    #[test]
    fn the_epoch_detector_alarms_within_an_epoch_and_not_across() {
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.write(now(1, 0, 0), lane(3)));
        assert!(!cell.read(now(1, 0, 0), lane(3)));
        assert!(cell.read(now(1, 0, 0), lane(4)));
        assert!(!cell.read(now(2, 0, 1), lane(4)));
        assert!(!cell.read(now(2, 0, 2), lane(4)));
        assert!(cell.write(now(2, 0, 2), lane(4)), "another warp has read it");
        assert!(!cell.write(now(3, 0, 2), lane(4)));
    }

    #[test]
    fn the_epoch_detector_knows_whole_warp_synchronisation() {
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.read(now(1, 0, 0), lane(1)));
        assert!(!cell.write(now(1, 1, 0), lane(2)));
        assert!(cell.read(now(1, 1, 0), lane(3)));
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.read_together(now(1, 0, 0), LaneMask::ALL));
        assert!(cell.write(now(1, 0, 0), lane(5)));
    }
    #[test]
    fn a_copy_races_until_it_is_waited_for() {
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.begin_copy(now(1, 0, 0), lane(3)));
        assert!(cell.read(now(1, 0, 0), lane(3)), "even its own thread must wait");
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.begin_copy(now(1, 0, 0), lane(3)));
        assert!(cell.read(now(2, 0, 0), lane(3)), "a barrier is no wait");
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.begin_copy(now(1, 0, 0), lane(3)));
        cell.end_copy(now(1, 0, 0), lane(3));
        assert!(!cell.read(now(1, 0, 0), lane(3)));
        assert!(cell.read(now(1, 0, 0), lane(4)), "the wait of one thread is no barrier");
        assert!(!cell.read(now(2, 0, 0), lane(4)));
    }

    #[test]
    fn what_some_lane_wrote_is_ordered_by_the_whole_warp_only() {
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.write_by_any(now(1, 0, 0)));
        assert!(cell.read(now(1, 0, 0), lane(0)));
        let mut cell = EpochShadow::CLEAN;
        assert!(!cell.write_by_any(now(1, 0, 0)));
        assert!(!cell.read(now(1, 1, 0), lane(0)));
        assert!(cell.write_by_any(now(1, 1, 0)), "lane 0 has read it since");
    }
}
