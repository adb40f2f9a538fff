//! The control loop: converged threads execute instruction by instruction, until they diverge, wait or return.
//!
//! The loop is the same for the lanes of a warp and for all threads of a CTA in lockstep, which differ in who executes
//! an instruction and how.

use crate::base::lane::LaneMask;
use crate::machine::cta::{Cta, Guarded};
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::{Lanes, Step, Warp};
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::{Control, Divides, Effect, Inst, InstId, Members, Src, Wait};
use crate::verdict::FaultKind;

/// Threads that stand at one instruction (converged).
pub(crate) trait Converged {
    /// Number of warps and number of threads.
    fn size(&self) -> (u64, u64);

    /// Evaluates the guard: which threads execute the instruction. The methods below are about those.
    fn ask_guard(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<Active, Stop>;

    /// Executes an operation at which threads do not diverge.
    fn execute(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<(), Stop>;

    /// A branch: where all threads continue, if they stay together.
    fn branch(&mut self, target: InstId, pc: InstId) -> Option<InstId>;

    /// A barrier of the CTA: where the threads continue, if none has to wait.
    fn arrive(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<Option<InstId>, Stop>;

    /// A warp-collective operation: where the threads continue, if none has to wait.
    fn collective(
        &mut self,
        cta: &mut Cta<'_>,
        inst: &Inst,
        members: Members,
        pc: InstId,
    ) -> Result<Option<InstId>, Stop>;

    /// The threads as lanes of one warp, for an operation at which lanes wait or diverge.
    ///
    /// # Errors
    /// If they are all threads of a CTA, which must stop before such an operation.
    fn lanes(&mut self) -> Result<Lanes<'_>, Stop>;

    /// The warps of the threads, with all that they hold.
    fn warps(&mut self) -> &[Warp];

    /// Sets the program counter of all threads.
    fn stand_at(&mut self, pc: InstId);
}

/// Which of the converged threads execute an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Active {
    /// Some or all.
    Some,
    /// None, or the instruction has been executed as a select.
    Nobody,
    /// The instruction was a branch on an input, and each lane's program counter is set.
    Moved,
    /// The threads diverge here, and stop before the instruction.
    Apart,
}

impl<'l> Cta<'l> {
    /// Runs threads that stand at `pc` until they diverge, wait, return or reach `until`.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        threads: &mut impl Converged,
        mut pc: InstId,
        until: InstId,
    ) -> Result<(), Stop> {
        let insts: &'l [Inst] = &self.context.launch.program.insts;
        while pc < until {
            let inst = &insts[pc.index()];
            let active = threads.ask_guard(self, inst, pc)?;
            if active == Active::Apart {
                break;
            }
            self.count(threads.size())?;
            if active == Active::Some && inst.divides != Divides::Never && self.context.launch.has_tickets {
                let Lanes { warp, active, .. } = threads.lanes()?;
                self.sync.settle_tickets(&self.values.terms.packed, warp, active, &inst.op);
            }
            if active == Active::Some && inst.divides != Divides::Never && self.class.is_some() {
                let Lanes { warp, active, .. } = threads.lanes()?;
                // Before threads meet, wait or branch.
                if let Some(class) = &mut self.class {
                    let met = class.meets(self.context, (warp, active), &inst.op);
                    met.map_err(|_| Stop::Apart(Some(pc)))?;
                }
            }
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
                        self.values.terms.branch_by_table(threads.lanes()?, index, targets, pc)?
                    }
                    Effect::Control(Control::Exit) => self.sync.exit(threads.lanes()?, pc),
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
                        return Err(Stop::Defect("lanes diverge at an operation that is not a branch"));
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
        let before = self.work.counts.warp_instructions;
        self.work.counts.warp_instructions += warps;
        self.work.counts.thread_instructions += threads;
        if (before ^ self.work.counts.warp_instructions) >> 12 == 0 { Ok(()) } else { self.check_budgets() }
    }

    fn arrive_in_warp(&mut self, lanes: Lanes<'_>, members: Src, pc: InstId) -> Result<Option<InstId>, Stop> {
        let Lanes { warp, all, active } = lanes;
        warp.diverge(all & !active, pc.next());
        warp.go(active, pc);
        self.wait_for_warp(warp, active, members, pc)?;
        Ok(None)
    }

    /// Each lane tests the mbarrier by itself, and may continue before the others.
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

impl ValueTerms<'_> {
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
                return Err(self.context.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, pc));
            };
            warp.diverged |= *first.get_or_insert(target.0) != target.0;
            warp.pc[lane] = *target;
        }
        warp.leave(active);
        Ok(None)
    }
}

impl Synchronisation<'_> {
    /// Lanes that do not return continue.
    fn exit(&mut self, lanes: Lanes<'_>, pc: InstId) -> Option<InstId> {
        let Lanes { warp, all, active } = lanes;
        warp.exited |= active;
        self.leave_cluster(warp, active);
        warp.go(all & !active, pc.next());
        None
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
            Some(guard) => match cta.guarded(Step { warp: self.warp, mask: self.all, pc }, inst, guard)? {
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
