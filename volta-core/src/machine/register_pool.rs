//! The registers of a CTA's warps (`setmaxnreg`, rule Y16): each CTA has a pool, to which warps give registers back and
//! from which they take some. At launch, all registers belong to warps.
//!
//! Whether all requests are met must not depend on who comes first. Suppose that no thread can proceed. Then every
//! operation that has not been executed comes after a request that waits. So all returns that come after no request of
//! the run have been made. If these suffice for all requests together, none of those that are left has to wait: no
//! schedule ends in such a state. Returns that come after a request are not counted.

use super::context::Context;
use super::cta::{Cta, Stop};
use super::synchronisation::{Detector, Synchronisation};
use super::warp::Warp;
use crate::base::assumption::Assumption;
use crate::base::lane::LaneMask;
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
struct AtLaunch {
    registers: u32,
    /// Whether that is what `.maxnreg` says. Otherwise it is the most that the bounds on launches allow.
    is_stated: bool,
}

/// What remains for warps to take, in registers a thread of one warp; and sums over the run.
#[derive(Clone, Debug, Default)]
struct Pool {
    free: u64,
    /// Given back without waiting for registers before.
    given: u64,
    taken: u64,
    /// A thread that took some, and where.
    taker: Option<(u32, InstId)>,
}

/// The registers of a warp.
#[derive(Clone, Debug, Default)]
struct Owner {
    /// Registers a thread, if it is not as at launch.
    held: Option<u32>,
    /// What it has executed, each with its stamp in the first lane.
    done: Vec<(InstId, u32)>,
    /// The stamp at which it first took registers.
    took: Option<u32>,
}

/// The pools of the CTAs that run together.
#[derive(Debug)]
pub(super) struct RegisterPools {
    at_launch: Option<AtLaunch>,
    ctas: Vec<Pool>,
    warps: Vec<Owner>,
}

impl RegisterPools {
    pub(super) fn new(bounds: &LaunchBounds, ranks: u32, warps: usize) -> RegisterPools {
        RegisterPools {
            at_launch: at_launch(bounds),
            ctas: vec![Pool::default(); ranks as usize],
            warps: vec![Owner::default(); warps],
        }
    }

    fn held(&self, warp: usize, at_launch: AtLaunch) -> u32 {
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
    fn warpgroup(&self, warp: usize) -> Range<usize> {
        let each = self.launch.warps();
        let (cta, number) = (warp / each * each, warp % each);
        let first = number / WARPS * WARPS;
        cta + first..cta + (first + WARPS).min(each)
    }

    #[cold]
    fn apart(&self, places: &[(u32, InstId)]) -> Stop {
        let message = "warps of one warpgroup execute different `setmaxnreg`; all four must execute the same";
        let sites = places
            .iter()
            .map(|(thread, pc)| self.site_of_thread("executes this one".into(), *thread, *pc))
            .collect();
        self.fault_at(FaultKind::BarrierDivergence, "Y16", message.into(), sites, None)
    }
}

impl Cta<'_> {
    /// Lanes of a warp reach `setmaxnreg`, with the number of registers, and whether they are taken. Returns the lanes
    /// that continue.
    pub(super) fn set_registers(
        &mut self,
        warp: &mut Warp,
        group: LaneMask,
        pc: InstId,
        (count, takes): (u32, bool),
    ) -> Result<LaneMask, Stop> {
        match &self.sync.order {
            Detector::Epoch(_) => return Err(Stop::NeedVectorClocks),
            Detector::VectorClock(_) if self.values.survey.is_some() => return Err(Stop::Doubtful),
            Detector::VectorClock(_) => {}
        }
        if group != warp.live() {
            return Ok(LaneMask::NONE);
        }
        self.sync.check_warpgroup(warp, pc)?;
        let own = warp.index;
        let more = match self.sync.pools.at_launch {
            None => {
                let text = "nothing bounds the registers of a thread (`.maxnreg`, `.maxntid`), and `setmaxnreg` has \
                            no effect (Y16)";
                self.values.relied.others.insert(Assumption::relied(text));
                0
            }
            Some(at_launch) => {
                let why =
                    if at_launch.is_stated { "`.maxnreg`" } else { "what the bounds on its launch allow" };
                let text = format!("a thread has {} registers at launch: {why} (Y16)", at_launch.registers);
                self.values.relied.others.insert(Assumption::relied(text));
                let held = self.sync.pools.held(own, at_launch);
                // The number at launch may be less than what is allowed.
                let may_be_less = self.sync.pools.warps[own].held.is_none() && !at_launch.is_stated;
                if takes && count < held && !may_be_less || !takes && count > held {
                    let (word, than) = if takes { ("inc", "less") } else { ("dec", "more") };
                    let message = format!(
                        "`setmaxnreg.{word}` to {count} registers a thread, which is {than} than the {held} that the \
                         warp has"
                    );
                    return Err(self.context.fault(
                        FaultKind::BarrierMisuse,
                        "Y16",
                        message,
                        warp,
                        group.first(),
                        pc,
                    ));
                }
                let more = i64::from(count.max(if takes { held } else { count })) - i64::from(held);
                self.sync.pools.warps[own].held = match more {
                    more if more > self.sync.pools.ctas[warp.rank as usize].free as i64 => {
                        return Ok(LaneMask::NONE);
                    }
                    more => Some((i64::from(held) + more) as u32),
                };
                more
            }
        };
        let Detector::VectorClock(exact) = &mut self.sync.order else { return Err(Stop::NeedVectorClocks) };
        let (clocks, first) = (&mut exact.clocks, warp.thread(group.first()) as usize);
        let stamp = clocks.now(first);
        let pool = &mut self.sync.pools.ctas[warp.rank as usize];
        let each = self.context.launch.warps();
        if more > 0 {
            pool.free -= more as u64;
            pool.taken += more as u64;
            pool.taker.get_or_insert((first as u32, pc));
            self.sync.pools.warps[own].took.get_or_insert(stamp);
        } else {
            pool.free += more.unsigned_abs();
            let of_cta = each * warp.rank as usize..each * (warp.rank as usize + 1);
            let waited = of_cta.into_iter().any(|other| {
                let took = self.sync.pools.warps[other].took;
                took.is_some_and(|took| {
                    group.iter().any(|lane| {
                        let thread = warp.thread(lane) as usize;
                        clocks.is_past(thread, 32 * other, took)
                    })
                })
            });
            pool.given += if waited { 0 } else { more.unsigned_abs() };
        }
        self.sync.pools.warps[own].done.push((pc, stamp));
        let threads: Vec<usize> = group.iter().map(|lane| warp.thread(lane) as usize).collect();
        threads.iter().for_each(|thread| clocks.release(*thread));
        clocks.meet_in_time(&threads);
        warp.meet(group);
        Ok(group)
    }
}

impl Synchronisation<'_> {
    /// Checks that the warps of a warpgroup execute the same instructions, and have synchronised since the last one.
    fn check_warpgroup(&self, warp: &Warp, pc: InstId) -> Result<(), Stop> {
        let Detector::VectorClock(exact) = &self.order else { return Err(Stop::NeedVectorClocks) };
        let turn = self.pools.warps[warp.index].done.len();
        for other in self.context.warpgroup(warp.index).filter(|other| *other != warp.index) {
            let done = &self.pools.warps[other].done;
            let (thread, lane) = (32 * other, warp.live().first());
            if let Some((there, _)) = done.get(turn)
                && *there != pc
            {
                return Err(self.context.apart(&[(32 * other as u32, *there), (warp.thread(lane), pc)]));
            }
            let Some(before) = turn.checked_sub(1) else { continue };
            let met = done.get(before).is_some_and(|(_, stamp)| {
                warp.live()
                    .iter()
                    .any(|lane| exact.clocks.is_past(warp.thread(lane) as usize, thread, *stamp))
            });
            if !met {
                let message = "the warps of a warpgroup have not synchronised since their last `setmaxnreg`";
                let (last, _) = self.pools.warps[warp.index].done[before];
                let sites = vec![
                    self.context.site("executes the last one".into(), warp, lane, last),
                    self.context.site("executes the next".into(), warp, lane, pc),
                ];
                let help =
                    "let the four warps meet at a barrier between the two (`bar.sync` with a count of 128)";
                return Err(self.context.fault_at(
                    FaultKind::BarrierMisuse,
                    "Y16",
                    message.into(),
                    sites,
                    Some(help.into()),
                ));
            }
        }
        Ok(())
    }

    /// Checks at the end of the run that all warps of a group have executed the same, and that all requests are met
    /// under every schedule.
    pub(super) fn end_registers(&self) -> Result<(), Stop> {
        for (own, owner) in self.pools.warps.iter().enumerate() {
            let next = self
                .context
                .warpgroup(own)
                .find(|other| self.pools.warps[*other].done.len() < owner.done.len());
            if let Some(other) = next
                && let Some((pc, _)) = owner.done.get(self.pools.warps[other].done.len())
            {
                return Err(self.context.apart(&[(32 * own as u32, *pc)]));
            }
        }
        let unclear = self.pools.ctas.iter().filter(|pool| pool.taken > pool.given);
        match unclear.filter_map(|pool| pool.taker).next() {
            None => Ok(()),
            Some((thread, pc)) => {
                let message = "whether all requests for registers are met may depend on the schedule: they need \
                               registers that are given back only after others have been taken";
                let sites = vec![self.context.site_of_thread("takes registers".into(), thread, pc)];
                Err(self.context.fault_at(FaultKind::Unsupported, "Y16", message.into(), sites, None))
            }
        }
    }

    /// The words for a warp that waits for registers: how many, and who holds them.
    pub(super) fn registers_waited_for(&self, warp: &Warp, count: u32) -> String {
        let Some(at_launch) = self.pools.at_launch else { return "for registers".into() };
        let own = self.pools.held(warp.index, at_launch);
        let each = self.context.launch.warps();
        let mut holders: Vec<(usize, usize, u32)> = Vec::new();
        for number in 0..each {
            let held = self.pools.held(each * warp.rank as usize + number, at_launch);
            match holders.last_mut() {
                Some((_, last, same)) if *same == held => *last = number,
                Some(_) | None => holders.push((number, number, held)),
            }
        }
        let holders: Vec<String> = holders
            .iter()
            .map(|(first, last, held)| match first == last {
                true => format!("warp {first} holds {held}"),
                false => format!("warps {first} to {last} hold {held}"),
            })
            .collect();
        format!(
            "for {} registers a thread more, from {own} to {count}; the pool has {}, and of the registers a thread {}",
            count.saturating_sub(own),
            self.pools.ctas[warp.rank as usize].free,
            holders.join(", ")
        )
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
