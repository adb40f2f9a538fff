//! The registers of a CTA's warps (`setmaxnreg`, rule Y16): each CTA has a pool, to which warps give registers back and
//! from which they take some. At launch, all registers belong to warps.
//!
//! Whether all requests are met must not depend on who comes first. Suppose that no thread can proceed. Then every
//! operation that has not been executed comes after a request that waits. So all returns that come after no request of
//! the run have been made. If these suffice for all requests together, none of those that are left has to wait: no
//! schedule ends in such a state. Returns that come after a request are not counted.

use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::program::{InstId, LaunchBounds};
use crate::verdict::FaultKind;
use std::ops::Range;

/// Number of warps of a warpgroup.
const WARPS: usize = 4;
/// Registers of a multiprocessor, and the threads that it runs at most.
const REGISTERS: u64 = 65_536;
const THREADS: u64 = 2048;
/// The most registers of a thread, as they are allocated.
const MOST: u32 = 256;
/// Registers are allocated in multiples of this number.
const UNIT: u32 = 8;

/// The registers of a thread at launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtLaunch {
    pub(crate) registers: u32,
    /// Whether that is what `.maxnreg` says. Otherwise it is the most that the bounds on launches allow.
    pub(crate) is_stated: bool,
}

/// What remains for warps to take, in registers a thread of one warp; and sums over the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    pub(crate) free: u64,
    /// Given back without waiting for registers before.
    pub(crate) given: u64,
    pub(crate) taken: u64,
    /// A thread that took some, and where.
    pub(crate) taker: Option<(u32, InstId)>,
}

/// The registers of a warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owner {
    /// Registers a thread, if it is not as at launch.
    pub(crate) held: Option<u32>,
    /// What it has executed, each with its stamp in the first lane.
    pub(crate) done: Vec<(InstId, u32)>,
    /// The stamp at which it first took registers.
    pub(crate) took: Option<u32>,
}

/// The pools of the CTAs that run together.
#[derive(Debug)]
pub(crate) struct RegisterPools {
    pub(crate) at_launch: Option<AtLaunch>,
    pub(crate) ctas: Vec<Pool>,
    pub(crate) warps: Vec<Owner>,
}

impl RegisterPools {
    pub(crate) fn new(bounds: &LaunchBounds, ranks: u32, warps: usize) -> RegisterPools {
        RegisterPools {
            at_launch: at_launch(bounds),
            ctas: vec![Pool::default(); ranks as usize],
            warps: vec![Owner::default(); warps],
        }
    }

    pub(crate) fn held(&self, warp: usize, at_launch: AtLaunch) -> u32 {
        self.warps[warp].held.unwrap_or(at_launch.registers)
    }
}

/// The registers of a thread at launch, if the kernel bounds them.
fn at_launch(bounds: &LaunchBounds) -> Option<AtLaunch> {
    let threads = bounds.required_block.or(bounds.max_block);
    let threads = threads.map(|[x, y, z]| u64::from(x).saturating_mul(y.into()).saturating_mul(z.into()));
    let allowed = threads.map(|threads| {
        let threads = threads.clamp(1, 1024).next_multiple_of(32);
        let ctas = bounds.min_ctas.map_or(1, u64::from);
        // Too many CTAs for the threads of a multiprocessor are ignored (ISA, `.minnctapersm`).
        let all = Some(threads * ctas).filter(|all| *all <= THREADS).unwrap_or(threads);
        u32::try_from(REGISTERS / all).unwrap_or(MOST).min(MOST)
    });
    let registers = [bounds.max_registers, allowed].into_iter().flatten().min()? / UNIT * UNIT;
    let is_stated = bounds.max_registers.is_some_and(|stated| stated / UNIT * UNIT == registers);
    Some(AtLaunch { registers, is_stated })
}

impl Context<'_> {
    /// The warps of a warpgroup that exist.
    pub(crate) fn warpgroup(&self, warp: usize) -> Range<usize> {
        let each = self.launch.warps();
        let (cta, number) = (warp / each * each, warp % each);
        let first = number / WARPS * WARPS;
        cta + first..cta + (first + WARPS).min(each)
    }

    #[cold]
    pub(crate) fn apart(&self, places: &[(u32, InstId)]) -> Stop {
        let message = "warps of one warpgroup execute different `setmaxnreg`; all four must execute the same";
        let sites = places
            .iter()
            .map(|(thread, pc)| self.site_of_thread("executes this one".into(), *thread, *pc))
            .collect();
        self.fault_at(FaultKind::BarrierDivergence, "Y16", message.into(), sites, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounded(block: Option<u32>, ctas: Option<u32>, stated: Option<u32>) -> Option<(u32, bool)> {
        let bounds = LaunchBounds {
            max_block: block.map(|threads| [threads, 1, 1]),
            min_ctas: ctas,
            max_registers: stated,
            ..LaunchBounds::default()
        };
        at_launch(&bounds).map(|at| (at.registers, at.is_stated))
    }

    #[test]
    fn registers_at_launch_follow_from_the_bounds() {
        assert_eq!(bounded(None, None, None), None);
        assert_eq!(bounded(None, None, Some(170)), Some((168, true)));
        assert_eq!(bounded(Some(384), None, None), Some((168, false)));
        assert_eq!(bounded(Some(384), Some(2), None), Some((80, false)));
        assert_eq!(bounded(Some(384), Some(9), None), Some((168, false)), "more than a multiprocessor runs");
        assert_eq!(bounded(Some(128), None, None), Some((256, false)));
        assert_eq!(bounded(Some(384), None, Some(128)), Some((128, true)));
        assert_eq!(bounded(Some(512), None, Some(200)), Some((128, false)));
    }
}
