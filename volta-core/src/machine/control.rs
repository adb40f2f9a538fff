//! The control loop: threads that stand at one instruction execute one after the other, until they part, wait or return.
//!
//! It is the same for the lanes of a warp and for all threads of a CTA in lockstep; they differ in who executes an
//! instruction, and in how they do it together.

use super::cta::{Cta, Stop};
use super::exec::Guarded;
use super::warp::Warp;
use crate::base::lane::LaneMask;
use crate::program::{Control, Divides, Effect, Inst, InstId, Members, Src, Wait};
use crate::verdict::FaultKind;

/// Threads that stand at one instruction.
pub(super) trait Converged {
    /// How many warps they are of, and how many threads.
    fn size(&self) -> (u64, u64);

    /// Who of them executes an instruction. What follows is about those.
    fn ask_guard(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<Active, Stop>;

    /// An operation at which nobody parts.
    fn execute(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<(), Stop>;

    /// A branch: where all of them go on.
    fn branch(&mut self, target: InstId, pc: InstId) -> Option<InstId>;

    /// A barrier of the CTA: where they go on if all of them do at once.
    fn arrive(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<Option<InstId>, Stop>;

    /// An operation of whole warps: the same.
    fn collective(
        &mut self,
        cta: &mut Cta<'_>,
        inst: &Inst,
        members: Members,
        pc: InstId,
    ) -> Result<Option<InstId>, Stop>;

    /// As lanes of one warp, of which each waits or goes its own way.
    ///
    /// # Errors
    /// When they are more, which have to stand before such an operation.
    fn lanes(&mut self) -> Result<Lanes<'_>, Stop>;

    /// Their warps, with all that they hold.
    fn warps(&mut self) -> &[Warp];

    /// All of them stand there.
    fn stand_at(&mut self, pc: InstId);
}

/// Who of some threads executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Active {
    /// Some or all.
    Some,
    /// None, or those that do have done it as a choice.
    Nobody,
    /// It was a branch on the input, and each knows where to go on.
    Moved,
    /// It parts them: they stand before it.
    Apart,
}

/// Lanes of a warp at one instruction.
pub(super) struct Lanes<'w> {
    pub(super) warp: &'w mut Warp,
    pub(super) all: LaneMask,
    /// Those that execute it.
    pub(super) active: LaneMask,
}

impl<'l> Cta<'l> {
    /// Runs threads that stand at `pc` until they part, wait, return or reach `until`.
    #[inline]
    pub(super) fn follow(
        &mut self,
        threads: &mut impl Converged,
        mut pc: InstId,
        until: InstId,
    ) -> Result<(), Stop> {
        let insts: &'l [Inst] = &self.launch.program.insts;
        while pc < until {
            let inst = &insts[pc.index()];
            let active = threads.ask_guard(self, inst, pc)?;
            if active == Active::Apart {
                break;
            }
            self.count(threads.size())?;
            let next = match active {
                Active::Apart | Active::Moved => None,
                Active::Nobody => Some(pc.next()),
                Active::Some if inst.divides == Divides::Never => {
                    threads.execute(self, inst, pc)?;
                    Some(pc.next())
                }
                Active::Some => match inst.op.effect() {
                    Effect::Control(Control::Branch(target)) => {
                        if *target <= pc && self.watch.turns() {
                            self.look_for_turn(threads.warps(), pc)?;
                        }
                        threads.branch(*target, pc)
                    }
                    Effect::Control(Control::Table(index, targets)) => {
                        self.branch_by_table(threads.lanes()?, index, targets, pc)?
                    }
                    Effect::Control(Control::Exit) => self.exit(threads.lanes()?, pc),
                    Effect::Waits(Wait::Barrier) => threads.arrive(self, inst, pc)?,
                    Effect::Waits(Wait::Warp(members)) => {
                        self.arrive_in_warp(threads.lanes()?, members, pc)?
                    }
                    Effect::Waits(Wait::Phase) => self.wait_for_phase(threads.lanes()?, pc)?,
                    Effect::Collective(members) => threads.collective(self, inst, members, pc)?,
                    Effect::Computes
                    | Effect::Reads
                    | Effect::Writes(_)
                    | Effect::Context
                    | Effect::Fault
                    | Effect::Control(Control::Trap) => {
                        return Err(Stop::Defect("lanes part at an operation that parts none"));
                    }
                },
            };
            match next {
                Some(next) => pc = next,
                None => return Ok(()),
            }
        }
        threads.stand_at(pc);
        Ok(())
    }

    #[inline]
    fn count(&mut self, (warps, threads): (u64, u64)) -> Result<(), Stop> {
        let before = self.counts.warp_instructions;
        self.counts.warp_instructions += warps;
        self.counts.thread_instructions += threads;
        if (before ^ self.counts.warp_instructions) >> 12 == 0 { Ok(()) } else { self.check_budgets() }
    }

    fn branch_by_table(
        &mut self,
        lanes: Lanes<'_>,
        index: Src,
        targets: &[InstId],
        pc: InstId,
    ) -> Result<Option<InstId>, Stop> {
        let Lanes { warp, all, active } = lanes;
        warp.diverge(all & !active, pc.next());
        let mut first = None;
        for lane in active {
            let at = self.concrete(warp, index, lane, pc, "a branch table's index")?;
            let Some(target) = targets.get(at as usize) else {
                let message = format!("branch index {at} is outside its table of {}", targets.len());
                return Err(self.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, pc));
            };
            warp.diverged |= *first.get_or_insert(target.0) != target.0;
            warp.pc[lane] = *target;
        }
        warp.leave(active);
        Ok(None)
    }

    /// Those that do not return go on.
    fn exit(&mut self, lanes: Lanes<'_>, pc: InstId) -> Option<InstId> {
        let Lanes { warp, all, active } = lanes;
        warp.exited |= active;
        self.leave_cluster(warp, active);
        warp.go(all & !active, pc.next());
        None
    }

    fn arrive_in_warp(&mut self, lanes: Lanes<'_>, members: Src, pc: InstId) -> Result<Option<InstId>, Stop> {
        let Lanes { warp, all, active } = lanes;
        warp.diverge(all & !active, pc.next());
        warp.go(active, pc);
        self.wait_for_warp(warp, active, members, pc)?;
        Ok(None)
    }

    /// Each lane asks a barrier in memory for itself, and may go on before the others.
    fn wait_for_phase(&mut self, lanes: Lanes<'_>, pc: InstId) -> Result<Option<InstId>, Stop> {
        let Lanes { warp, all, active } = lanes;
        warp.diverged = true;
        warp.scatter(active);
        let (over, next) = self.test_barrier(warp, active, pc)?;
        if over == all {
            return Ok(Some(next));
        }
        warp.diverge(all & !active, pc.next());
        warp.diverge(over, next);
        warp.diverge(active & !over, pc);
        warp.at_phase |= active & !over;
        Ok(None)
    }
}

impl<'w> Lanes<'w> {
    /// Lanes of which nobody is asked yet.
    pub(super) fn new(warp: &'w mut Warp, all: LaneMask) -> Lanes<'w> {
        Lanes { warp, all, active: all }
    }
}

impl Converged for Lanes<'_> {
    #[inline]
    fn size(&self) -> (u64, u64) {
        (1, if self.all.is_all() { 32 } else { self.all.count().into() })
    }

    #[inline]
    fn ask_guard(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<Active, Stop> {
        self.active = match inst.guard {
            None => self.all,
            Some(guard) => match cta.guarded(self.warp, self.all, inst, pc, guard)? {
                Guarded::Lanes(active) => active,
                Guarded::Moved => return Ok(Active::Moved),
                Guarded::Done => return Ok(Active::Nobody),
            },
        };
        Ok(if self.active.is_empty() { Active::Nobody } else { Active::Some })
    }

    #[inline]
    fn execute(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<(), Stop> {
        cta.execute(self.warp, self.active, inst, pc)
    }

    fn branch(&mut self, target: InstId, pc: InstId) -> Option<InstId> {
        if self.active == self.all {
            return Some(target);
        }
        self.warp.go(self.active, target);
        self.warp.diverge(self.all & !self.active, pc.next());
        None
    }

    fn arrive(&mut self, _: &mut Cta<'_>, _: &Inst, pc: InstId) -> Result<Option<InstId>, Stop> {
        self.warp.diverge(self.all & !self.active, pc.next());
        self.warp.go(self.active, pc);
        self.warp.at_barrier |= self.active;
        Ok(None)
    }

    fn collective(
        &mut self,
        cta: &mut Cta<'_>,
        inst: &Inst,
        members: Members,
        pc: InstId,
    ) -> Result<Option<InstId>, Stop> {
        let Lanes { warp, all, active } = self;
        let here = warp.at_collective.iter().filter(|lane| warp.pc[*lane] == pc);
        let group = here.fold(*active, |group, lane| group | LaneMask::of(lane));
        let done = cta.try_collective(warp, group, inst, pc, members)?;
        if done == *all && group == *all {
            return Ok(Some(pc.next()));
        }
        warp.diverge(*all & !*active, pc.next());
        warp.diverge(group & !done, pc);
        warp.go(done, pc.next());
        warp.at_collective = warp.at_collective & !done | group & !done;
        Ok(None)
    }

    fn lanes(&mut self) -> Result<Lanes<'_>, Stop> {
        Ok(Lanes { warp: self.warp, all: self.all, active: self.active })
    }

    fn warps(&mut self) -> &[Warp] {
        std::slice::from_ref(self.warp)
    }

    fn stand_at(&mut self, pc: InstId) {
        self.warp.go(self.all, pc);
    }
}
