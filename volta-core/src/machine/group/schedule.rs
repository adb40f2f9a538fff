//! The order of execution: which warp of a CTA runs next, and which of its lanes (rule Y8).
//!
//! Any choice is sound: what no schedule makes faulty has one outcome, and what some schedule makes faulty is reported
//! under all of them. The default is the fastest, because it reconverges diverged lanes; tests compare the others with
//! it.

use super::warp::Warp;
use crate::base::lane::LaneMask;
use crate::case::Schedule;
use crate::program::InstId;

/// Makes the decisions of a [`Schedule`] during one run of a CTA.
#[derive(Debug)]
pub(crate) struct Turns {
    schedule: Schedule,
    random: u64,
    /// The first warp of this round, and whether the round runs backwards.
    round: (usize, bool),
}

/// Lanes to run together.
pub(crate) struct Turn {
    pub(crate) group: LaneMask,
    /// The instruction at which all of them stand.
    pub(crate) pc: InstId,
    /// They stop when they reach this instruction or a later one.
    pub(crate) until: InstId,
}

impl Turns {
    pub(crate) fn new(schedule: Schedule) -> Turns {
        let random = match schedule {
            Schedule::InOrder | Schedule::Reversed => 0,
            Schedule::Shuffled(seed) => seed,
        };
        Turns { schedule, random, round: (0, schedule == Schedule::Reversed) }
    }

    /// A number below `end` (splitmix64).
    fn below(&mut self, end: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end.max(1) as u64) as usize
    }

    /// Begins a round, in which each of `warps` has a turn.
    pub(crate) fn begin_round(&mut self, warps: usize) {
        if let Schedule::Shuffled(_) = self.schedule {
            self.round = (self.below(warps), self.below(2) == 1);
        }
    }

    /// The warp that has the `turn`th turn of this round.
    pub(crate) fn warp(&self, turn: usize, warps: usize) -> usize {
        let (first, backwards) = self.round;
        let at = (first + turn) % warps;
        if backwards { warps - 1 - at } else { at }
    }

    /// Whether a warp continues after its lanes stopped, as long as some can run.
    pub(crate) fn stays(&self) -> bool {
        !matches!(self.schedule, Schedule::Shuffled(_))
    }

    /// Which of the runnable lanes of a warp run first, and up to where.
    pub(crate) fn lanes(&mut self, warp: &mut Warp, runnable: LaneMask) -> Turn {
        match self.schedule {
            Schedule::InOrder => {
                let (group, pc, until) = warp.lowest(runnable);
                Turn { group, pc, until }
            }
            Schedule::Reversed => {
                let pc = runnable.iter().map(|lane| warp.pc[lane]).max().unwrap_or(InstId::FIRST);
                Turn { group: at(warp, runnable, pc), pc, until: InstId::NOWHERE }
            }
            Schedule::Shuffled(_) => {
                let skipped = self.below(runnable.count() as usize);
                let chosen = runnable.iter().nth(skipped).unwrap_or_default();
                let pc = warp.pc[chosen];
                let mut group = at(warp, runnable, pc);
                // Lanes at one instruction may also run apart.
                if self.below(3) == 0 {
                    let others = self.below(1 << 16) as u32 | (self.below(1 << 16) as u32) << 16;
                    group &= LaneMask::of(chosen) | LaneMask::from_bits(others);
                    warp.diverged |= group != runnable;
                    warp.leave(group);
                }
                Turn { group, pc, until: InstId(pc.next().0 + self.below(6) as u32) }
            }
        }
    }
}

/// The lanes of `mask` at `pc`.
fn at(warp: &Warp, mask: LaneMask, pc: InstId) -> LaneMask {
    mask.iter().filter(|lane| warp.pc[*lane] == pc).collect::<LaneMask>()
}
