//! All threads of a CTA, as converged threads and as a group.

use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::epoch::Now;
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::Accesses;
use crate::machine::exec::access::affine_memory::{Places, sharing_lanes};
use crate::machine::exec::control_loop::{Active, Converged};
use crate::machine::exec::threads::Group;
use crate::machine::group::lockstep::{
    ALONE, FALLBACK_AFTER, InStep, Lockstep, OfAll, common_pc, intern_operand,
};
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::{LANE_BITS, Lanes, Warp};
use crate::program::{Divides, Inst, InstId, Members, Op, PredId, PredSrc, RegId, Width};
use crate::term::{Store, TermOp};
use crate::value::Value;
use crate::value::register::{Affine, Held};

impl Cta<'_> {
    /// Runs all threads in lockstep, from the instruction at which they all stand to where they diverge.
    pub(crate) fn run_lockstep(&mut self, warps: &mut [Warp]) -> Result<(), Stop> {
        match self.lockstep.take() {
            None => {}
            Some(InStep::Warps(mut lockstep)) => {
                let stays = self.lead(&mut lockstep, warps)?;
                self.lockstep = stays.then_some(InStep::Warps(lockstep));
            }
            Some(InStep::Alone(mut lockstep)) => {
                let stays = self.lead(&mut lockstep, warps)?;
                self.lockstep = stays.then_some(InStep::Alone(lockstep));
            }
        }
        Ok(())
    }

    /// Like [`Cta::run_lockstep`]; false where lockstep is unprofitable and warps run one by one from now on.
    fn lead<const B: usize>(&mut self, lockstep: &mut Lockstep<B>, warps: &mut [Warp]) -> Result<bool, Stop> {
        let Some(pc) = common_pc(warps) else { return Ok(true) };
        let mut threads = AllThreads { lockstep, warps, holds: None };
        self.follow(&mut threads, pc, InstId::NOWHERE)?;
        lockstep.flush(warps);
        Ok(!lockstep.unprofitable)
    }
}

/// All threads of a CTA.
pub(super) struct AllThreads<'s, const B: usize> {
    pub(crate) lockstep: &'s mut Lockstep<B>,
    pub(crate) warps: &'s mut [Warp],
    /// Whether the guard holds; `None` where it is not uniform.
    holds: Option<bool>,
}

impl<const B: usize> AllThreads<'_, B> {
    /// An operation that must be executed warp by warp: the warps' own registers then hold its operands.
    fn leave_lockstep(&mut self, inst: &Inst) {
        let lockstep = &mut *self.lockstep;
        lockstep.apart += 1;
        lockstep.unprofitable = lockstep.apart > FALLBACK_AFTER + 4 * lockstep.together;
        lockstep.write_back(self.warps, inst);
    }

    /// Executes an operation warp by warp.
    #[inline(never)]
    fn execute_by_warps(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<(), Stop> {
        self.leave_lockstep(inst);
        let agreed = self.holds.is_some();
        for warp in self.warps.iter_mut() {
            let mut lanes = Lanes::new(warp, warp.exists);
            if agreed || lanes.ask_guard(cta, inst, pc)? == Active::Some {
                lanes.execute(cta, inst, pc)?;
            }
        }
        Ok(())
    }
}

impl<const B: usize> Converged for AllThreads<'_, B> {
    #[inline]
    fn size(&self) -> (u64, u64) {
        (self.warps.len() as u64, self.lockstep.threads)
    }

    #[inline]
    fn ask_guard(&mut self, _: &mut Cta<'_>, inst: &Inst, _: InstId) -> Result<Active, Stop> {
        self.holds = match inst.guard {
            None => Some(true),
            Some(PredSrc { pred, negated }) => {
                self.lockstep.uniform(self.warps, pred).map(|holds| holds != negated)
            }
        };
        let parts = match inst.divides {
            Divides::Never => false,
            Divides::ByGuard => self.holds.is_none(),
            Divides::Always => self.holds != Some(false),
        };
        Ok(match self.holds {
            _ if parts || self.lockstep.unprofitable => Active::Apart,
            Some(false) => Active::Nobody,
            Some(true) | None => Active::Some,
        })
    }

    #[inline]
    fn execute(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<(), Stop> {
        if self.holds.is_some() && cta.execute_together(self, inst, pc)? {
            self.lockstep.together += 1;
            return Ok(());
        }
        self.execute_by_warps(cta, inst, pc)
    }

    fn branch(&mut self, target: InstId, _: InstId) -> Option<InstId> {
        Some(target)
    }

    /// All warps arrive.
    fn arrive(&mut self, cta: &mut Cta<'_>, inst: &Inst, pc: InstId) -> Result<Option<InstId>, Stop> {
        if cta.watch.looks_at(cta.work.counts.barriers + 1) {
            // The watch for endless loops reads all that the threads hold.
            self.lockstep.flush(self.warps);
        } else {
            self.lockstep.write_back(self.warps, inst);
        }
        for warp in self.warps.iter_mut() {
            warp.go(warp.exists, pc);
            warp.at_barrier = warp.exists;
        }
        for at in 0..self.warps.len() {
            cta.arrive(self.warps, at)?;
        }
        Ok(common_pc(self.warps))
    }

    fn collective(
        &mut self,
        cta: &mut Cta<'_>,
        inst: &Inst,
        members: Members,
        pc: InstId,
    ) -> Result<Option<InstId>, Stop> {
        if let Op::Mma { product, d, a, b, c } = &inst.op
            && self.holds.is_some()
            && cta.values.matrices().multiply_lockstep(self, pc, *product, d, [a, b, c])
        {
            self.lockstep.together += 1;
            return Ok(Some(pc.next()));
        }
        self.leave_lockstep(inst);
        let mut all = true;
        for warp in self.warps.iter_mut() {
            match Lanes::new(warp, warp.exists).collective(cta, inst, members, pc)? {
                Some(next) => warp.go(warp.exists, next),
                None => all = false,
            }
        }
        Ok(all.then_some(pc.next()))
    }

    fn lanes(&mut self) -> Result<Lanes<'_>, Stop> {
        Err(Stop::Defect("threads in lockstep execute an operation at which they diverge"))
    }

    fn warps(&mut self) -> &[Warp] {
        self.lockstep.flush(self.warps);
        self.warps
    }

    fn stand_at(&mut self, pc: InstId) {
        self.warps.iter_mut().for_each(|warp| warp.go(warp.exists, pc));
    }
}

impl<const B: usize> Group<B> for AllThreads<'_, B> {
    #[inline]
    fn first(&self) -> &Warp {
        &self.warps[0]
    }

    #[inline]
    fn held(&mut self, register: RegId) -> Option<Held<B>> {
        self.lockstep.held(self.warps, register)
    }

    #[inline]
    fn hold(&mut self, register: RegId, held: Held<B>) {
        self.lockstep.hold(register, held);
    }

    #[inline]
    fn decide(&mut self, predicate: PredId, holds: bool) {
        self.lockstep.predicates[predicate.index()] = Some(OfAll { held: holds, written_back: false });
    }

    #[inline]
    fn push(&self, store: &mut Store, op: TermOp, operands: &[Affine<B>], pc: InstId) -> Option<Affine<B>> {
        let mut own = [None; 3];
        for (own, terms) in own.iter_mut().zip(operands) {
            *own = Some(intern_operand(store, terms));
        }
        let results = match own {
            [Some(a), None, None] => store.push_warps(op, &[a], self.warps.len(), pc),
            [Some(a), Some(b), None] => store.push_warps(op, &[a, b], self.warps.len(), pc),
            [Some(a), Some(b), Some(c)] => store.push_warps(op, &[a, b, c], self.warps.len(), pc),
            _ => None,
        };
        // Nodes are consecutive, and so are the results of all threads.
        Some(Affine::strided(results?.lane(Lane::FIRST), 1))
    }

    /// Loads from the only thread's local memory, or from shared memory, where each word is read once for all.
    fn load(
        &mut self,
        accesses: &mut Accesses<'_, '_>,
        places: &Places<'_, B>,
        width: Width,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop> {
        let AllThreads { lockstep, warps, holds: _ } = self;
        if B == ALONE {
            for (step, target) in d.iter().enumerate() {
                let word = accesses.values.terms.packed.own_word(&warps[0], Lane::FIRST, places, width, step);
                let Some(word) = word.and_then(Value::as_word) else { return Ok(false) };
                if let Some(target) = target {
                    lockstep.hold(*target, Held::uniform(word));
                }
            }
            return Ok(true);
        }
        let Some(offsets) = accesses.sync.shared_offsets(places, width) else { return Ok(false) };
        let varying = offsets.varying_bits();
        let lanes = sharing_lanes(varying & 31, 5);
        let of_one_warp = varying >> LANE_BITS == (1 << lockstep.bits) - 1;
        let epoch = accesses.sync.now(&warps[0]).epoch;
        for (step, target) in d.iter().enumerate() {
            let first = offsets.first + step as u64 * u64::from(width.bytes());
            let offsets = Affine { first, ..offsets };
            if let Some(held) = lockstep.recent.find(&offsets, width) {
                if let Some(target) = target {
                    lockstep.hold(*target, held);
                }
                continue;
            }
            let found = accesses.read_shared(
                offsets,
                width,
                |parts, (cell, touched), thread| {
                    let (warp, lanes) =
                        ((thread >> LANE_BITS) as u16, LaneMask::from_bits(lanes << (thread & 31)));
                    let now = Now { epoch, sync: warps[usize::from(warp)].syncs, warp };
                    if of_one_warp {
                        parts.read_together(cell, touched, now, lanes)
                    } else {
                        parts.read_by_warps(cell, touched, now, lanes)
                    }
                },
                &mut lockstep.words,
            )?;
            let Some((words, symbolic)) = found.and_then(|found| found.words.zip(Some(found.symbolic)))
            else {
                return Ok(false);
            };
            let held = Held { words, symbolic };
            lockstep.recent.remember(&offsets, width, held);
            if let Some(target) = target {
                lockstep.hold(*target, held);
            }
        }
        Ok(true)
    }
}
