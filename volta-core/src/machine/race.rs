//! Data races by happens-before (rules Y1, Y2).
//!
//! Two detectors. The *quick* one knows epochs (advanced by barriers at which every thread of the CTA waits) and
//! whole-warp synchronisation, keeps 24 bytes for 4 bytes of memory, and never misses a race; it may raise a
//! false alarm (bytes of one cell used by different threads, partial warp masks). The *exact* one keeps a clock
//! for every thread and every access that is not yet ordered, by byte. A CTA runs with the quick one; an alarm,
//! or a barrier that the quick one does not model, runs it again with the exact one, whose word is final.

use rustc_hash::FxHashMap;

use super::clock::Clocks;
use crate::program::InstId;

/// What the quick detector remembers of 4 bytes.
///
/// Dropping an older reader of the same warp is sound: it happens before the newer one, so whatever conflicts
/// with it and is ordered after the newer one is ordered after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quick {
    write_epoch: u32,
    write_sync: u32,
    read_epoch: u32,
    read_sync: u32,
    read_lanes: u32,
    write_thread: u16,
    read_warp: u16,
}

const MANY: u16 = u16::MAX;

impl Quick {
    pub(super) const CLEAN: Quick = Quick {
        write_epoch: 0,
        write_sync: 0,
        read_epoch: 0,
        read_sync: 0,
        read_lanes: 0,
        write_thread: 0,
        read_warp: 0,
    };

    /// Thread `32·warp + lane` reads; true if that may race.
    #[inline]
    #[must_use]
    pub(super) fn read(&mut self, now: Now, lane: u32) -> bool {
        let alarm = self.conflicts_with_write(now, lane);
        if self.read_epoch != now.epoch {
            self.read_epoch = now.epoch;
            self.read_warp = now.warp;
            self.read_sync = now.sync;
            self.read_lanes = 1 << lane;
        } else if self.read_warp != now.warp {
            self.read_warp = MANY;
        } else if self.read_sync == now.sync {
            self.read_lanes |= 1 << lane;
        } else {
            self.read_sync = now.sync;
            self.read_lanes = 1 << lane;
        }
        alarm
    }

    /// All lanes of `mask` read the same 4 bytes; true if that may race.
    #[inline]
    #[must_use]
    pub(super) fn read_together(&mut self, now: Now, mask: u32) -> bool {
        let first = mask.trailing_zeros();
        let rest = mask & (mask - 1);
        let mut alarm = self.read(now, first);
        if rest != 0 {
            alarm |= self.conflicts_with_write(now, rest.trailing_zeros());
            if self.read_warp == now.warp {
                self.read_lanes |= rest;
            }
        }
        alarm
    }

    /// Thread `32·warp + lane` writes; true if that may race.
    #[inline]
    #[must_use]
    pub(super) fn write(&mut self, now: Now, lane: u32) -> bool {
        let mut alarm = self.conflicts_with_write(now, lane);
        if self.read_epoch == now.epoch {
            let same_warp = self.read_warp == now.warp;
            let ordered = same_warp && (self.read_sync < now.sync || self.read_lanes & !(1 << lane) == 0);
            alarm |= !ordered;
        }
        self.write_epoch = now.epoch;
        self.write_sync = now.sync;
        self.write_thread = now.warp << 5 | lane as u16;
        alarm
    }

    #[inline]
    fn conflicts_with_write(&self, now: Now, lane: u32) -> bool {
        if self.write_epoch != now.epoch {
            return false;
        }
        let same_thread = self.write_thread == (now.warp << 5 | lane as u16);
        let same_warp = self.write_thread >> 5 == now.warp;
        !(same_thread || same_warp && self.write_sync < now.sync)
    }
}

/// When and who, for the quick detector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// Epochs start at 1.
    pub(super) epoch: u32,
    /// Synchronisations of the whole warp so far.
    pub(super) sync: u32,
    pub(super) warp: u16,
}

/// An access that the exact detector remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) thread: u32,
    stamp: u32,
    /// Which of the cell's 4 bytes.
    pub(super) bytes: u8,
    pub(super) inst: InstId,
}

/// Accesses to one cell that something later may race with.
#[derive(Clone, Debug, Default)]
struct History {
    writes: Vec<Access>,
    reads: Vec<Access>,
}

/// Two accesses that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub(super) earlier: Access,
    pub(super) earlier_writes: bool,
    pub(super) later: Access,
    pub(super) later_writes: bool,
}

/// The exact detector.
#[derive(Debug)]
pub(super) struct Exact {
    pub(super) clocks: Clocks,
    cells: FxHashMap<(u32, u64), History>,
    entries: u64,
}

impl Exact {
    pub(super) fn new(threads: usize) -> Exact {
        Exact { clocks: Clocks::new(threads), cells: FxHashMap::default(), entries: 0 }
    }

    /// Bytes of race state.
    pub(super) fn bytes(&self) -> u64 {
        self.entries * size_of::<Access>() as u64 + self.cells.len() as u64 * 96
    }

    /// The writes and reads of a cell that later accesses may still race with.
    pub(super) fn history(&self, object: u32, cell: u64) -> (&[Access], &[Access]) {
        match self.cells.get(&(object, cell)) {
            Some(history) => (&history.writes, &history.reads),
            None => (&[], &[]),
        }
    }

    /// Records an access to `bytes` of cell `cell` of an object, and tells whether it races with an earlier one.
    pub(super) fn access(
        &mut self,
        (object, cell): (u32, u64),
        thread: u32,
        bytes: u8,
        inst: InstId,
        writes: bool,
    ) -> Result<(), Conflict> {
        let stamp = self.clocks.now(thread as usize);
        let access = Access { thread, stamp, bytes, inst };
        let history = self.cells.entry((object, cell)).or_default();
        let before = history.writes.len() + history.reads.len();
        let clocks = &self.clocks;
        let ordered = |earlier: &Access| {
            earlier.thread == thread
                || earlier.stamp <= clocks.knows(thread as usize, earlier.thread as usize)
        };
        let races = |earlier: &&Access| earlier.bytes & bytes != 0 && !ordered(earlier);
        let with_write = history.writes.iter().find(races).map(|earlier| (*earlier, true));
        let with_read = || history.reads.iter().find(races).map(|earlier| (*earlier, false));
        if let Some((earlier, earlier_writes)) =
            with_write.or_else(|| if writes { with_read() } else { None })
        {
            return Err(Conflict { earlier, earlier_writes, later: access, later_writes: writes });
        }
        // What is ordered before this access, at bytes that it covers, need not be remembered: anything that
        // races with it races with this access or is ordered before it.
        let covered = |earlier: &Access| earlier.bytes & !bytes == 0 && ordered(earlier);
        if writes {
            history.writes.retain(|earlier| !covered(earlier));
            history.reads.retain(|earlier| !covered(earlier));
            history.writes.push(access);
        } else {
            history.reads.retain(|earlier| !covered(earlier));
            history.reads.push(access);
        }
        let after = history.writes.len() + history.reads.len();
        self.entries = self.entries + after as u64 - before as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(epoch: u32, sync: u32, warp: u16) -> Now {
        Now { epoch, sync, warp }
    }

    #[test]
    fn the_quick_detector_alarms_within_an_epoch_and_not_across() {
        let mut cell = Quick::CLEAN;
        assert!(!cell.write(now(1, 0, 0), 3));
        assert!(!cell.read(now(1, 0, 0), 3));
        assert!(cell.read(now(1, 0, 0), 4));
        assert!(!cell.read(now(2, 0, 1), 4));
        assert!(!cell.read(now(2, 0, 2), 4));
        assert!(cell.write(now(2, 0, 2), 4), "another warp has read it");
        assert!(!cell.write(now(3, 0, 2), 4));
    }

    #[test]
    fn the_quick_detector_knows_whole_warp_synchronisation() {
        let mut cell = Quick::CLEAN;
        assert!(!cell.read(now(1, 0, 0), 1));
        assert!(!cell.write(now(1, 1, 0), 2));
        assert!(cell.read(now(1, 1, 0), 3));
        let mut cell = Quick::CLEAN;
        assert!(!cell.read_together(now(1, 0, 0), u32::MAX));
        assert!(cell.write(now(1, 0, 0), 5));
    }

    #[test]
    fn the_exact_detector_works_by_byte_and_remembers_every_reader() {
        let mut exact = Exact::new(3);
        let at = |n| InstId(n);
        assert!(exact.access((0, 0), 0, 0b0011, at(0), true).is_ok());
        assert!(exact.access((0, 0), 1, 0b1100, at(1), true).is_ok());
        exact.clocks.meet(&[0, 1]);
        assert!(exact.access((0, 0), 0, 0b1111, at(2), false).is_ok());
        assert!(exact.access((0, 0), 1, 0b1111, at(3), false).is_ok());
        exact.clocks.meet(&[1, 2]);
        let conflict = exact.access((0, 0), 2, 0b0001, at(4), true).unwrap_err();
        assert_eq!(conflict.earlier.thread, 0);
        assert!(!conflict.earlier_writes);
    }
}
