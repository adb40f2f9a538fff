//! All threads of a CTA in step (rule Y8: any order of threads is one that may be).
//!
//! Warps mostly do the same, each some elements further on. While all stand at one instruction, an operation whose
//! operands are affine from thread to thread is done once for all of them and costs little more than for one warp.
//! Any other is done by one warp after the other; and where their ways part, each goes on by itself until a barrier
//! brings them together again. A thread that is the only one of its CTA goes in lockstep as well, of which nothing needs to
//! be said but one word.
//!
//! Which of several faults a kernel has is met first depends on the order of its threads, so that what is told of a
//! fault is always what warps apart came to.

mod matrix;

use super::cta::{Cta, Stop};
use super::exec::Guarded;
use super::exec::affine::{affine_compare, affine_convert, affine2, affine3, narrowed};
use super::exec::affine_memory::sharing_lanes;
use super::exec::float::{Shape, raw_reals};
use super::race::Now;
use super::register::Affine;
use super::value::{Sym, Value, lanes};
use super::warp::Warp;
use crate::case::{Options, Schedule};
use crate::program::{
    Address, Clamp, Control, Divides, Effect, Inst, InstId, Members, Op, PredId, PredSrc, RegId, Space, Src,
    Wait, Width,
};
use crate::term::{BitStrides, Pattern, Store, TermOp, TermOperand};
use smallvec::SmallVec;
use std::rc::Rc;

/// Bits of a thread's number where warps go in lockstep: those of the lane, and up to five of the warp.
const WARPS: usize = 10;
/// The same of a thread alone.
const ALONE: usize = 0;
const LANE_BITS: usize = 5;

/// All threads of a CTA in lockstep.
#[derive(Debug)]
pub(super) enum Lockstep {
    /// Of whole warps.
    Warps(Box<CtaLockstep<WARPS>>),
    /// Of one thread.
    Alone(Box<CtaLockstep<ALONE>>),
}

/// What a register holds in all threads, whose numbers have `B` bits.
#[derive(Clone, Copy, Debug)]
struct GroupValue<const B: usize> {
    words: Affine<B>,
    symbolic: bool,
    /// The warps' own registers hold it too.
    written_back: bool,
}

/// What a predicate is in all threads.
#[derive(Clone, Copy, Debug)]
struct GroupPredicate {
    holds: bool,
    /// The warps' own predicates are so too.
    written_back: bool,
}

/// What is known of the registers of all threads together, while they go in step.
#[derive(Debug)]
pub(super) struct CtaLockstep<const B: usize> {
    /// The lanes of each warp: all of them, or the only one.
    mask: u32,
    /// Bits of a warp's number.
    bits: u32,
    threads: u64,
    /// Of each register, where words are affine from thread to thread, as far as somebody asked.
    registers: Vec<Option<GroupValue<B>>>,
    predicates: Vec<Option<GroupPredicate>>,
    /// Words of shared memory that were lately read, by where they lie.
    recent: Recent<B>,
    /// Of products of matrices met so far, where their factors lie.
    plans: Vec<Rc<matrix::Plan>>,
    /// Room for words of shared memory, of each thread.
    words: Vec<u64>,
    /// How many operations were done for all warps at once, and how many by one after the other.
    together: u64,
    apart: u64,
    /// Its warps had better go alone.
    unprofitable: bool,
}

/// What was lately read of shared memory. To read it again finds the same and tells no more of races, as long as warps
/// do nothing but what they do together.
#[derive(Debug, Default)]
struct Recent<const B: usize> {
    /// By a digest of where the words lie.
    entries: Vec<Option<Entry<B>>>,
    /// What was read at other times counts no more.
    time: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<const B: usize> {
    time: u64,
    offsets: Affine<B>,
    width: Width,
    held: GroupValue<B>,
}

impl<const B: usize> Recent<B> {
    const ENTRIES: u32 = 128;

    fn place(offsets: &Affine<B>) -> usize {
        (offsets.first.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::ENTRIES.trailing_zeros())) as usize
    }

    fn forget(&mut self) {
        self.time += 1;
    }

    fn find(&self, offsets: &Affine<B>, width: Width) -> Option<GroupValue<B>> {
        let entry = self.entries.get(Self::place(offsets))?.as_ref()?;
        let same = entry.time == self.time && entry.width == width && entry.offsets == *offsets;
        same.then_some(entry.held)
    }

    fn remember(&mut self, offsets: &Affine<B>, width: Width, held: GroupValue<B>) {
        self.entries.resize(Self::ENTRIES as usize, None);
        let entry = Entry { time: self.time, offsets: *offsets, width, held };
        self.entries[Self::place(offsets)] = Some(entry);
    }
}

/// Where so many operations more than four times those of all at once were done by one warp after the other, warps had
/// better go alone.
const FALLBACK_AFTER: u64 = 1000;

/// What became of an instruction.
enum Step {
    /// All warps go on there.
    To(InstId),
    /// Each warp goes on by itself, from where it stands.
    Diverged,
}

impl Lockstep {
    /// The state for a CTA with so many threads, if those can go in lockstep.
    pub(super) fn new(
        threads: usize,
        registers: u32,
        predicates: u32,
        options: &Options,
    ) -> Option<Lockstep> {
        if options.plain_terms || options.schedule != Schedule::InOrder {
            return None;
        }
        let warps = threads / 32;
        if threads == 1 {
            Some(Lockstep::Alone(Box::new(CtaLockstep::new(1, 1, registers, predicates))))
        } else if threads.is_multiple_of(32) && warps.is_power_of_two() && (2..=32).contains(&warps) {
            Some(Lockstep::Warps(Box::new(CtaLockstep::new(u32::MAX, warps, registers, predicates))))
        } else {
            None
        }
    }
}

impl<const B: usize> CtaLockstep<B> {
    fn new(mask: u32, warps: usize, registers: u32, predicates: u32) -> CtaLockstep<B> {
        CtaLockstep {
            mask,
            bits: warps.trailing_zeros(),
            threads: warps as u64 * u64::from(mask.count_ones()),
            registers: vec![None; registers as usize],
            predicates: vec![None; predicates as usize],
            recent: Recent::default(),
            plans: Vec::new(),
            words: vec![0; 1 << B],
            together: 0,
            apart: 0,
            unprofitable: false,
        }
    }

    /// What a register holds in all threads, if that is affine.
    #[inline]
    fn held(&mut self, warps: &[Warp], register: RegId) -> Option<&GroupValue<B>> {
        let held = &mut self.registers[register.index()];
        if held.is_none() {
            *held = collect(warps, register);
        }
        held.as_ref()
    }

    /// Whether a predicate holds in all threads, or in none.
    fn uniform(&mut self, warps: &[Warp], predicate: PredId) -> Option<bool> {
        let uniform = &mut self.predicates[predicate.index()];
        if uniform.is_none() {
            let mask = self.mask;
            let own = |warp: &Warp| {
                let own = &warp.predicates[predicate.index()];
                ((own.sym | own.undefined) & mask == 0).then_some(own.bits & mask)
            };
            let first = own(&warps[0]).filter(|bits| *bits == 0 || *bits == mask)?;
            if warps.iter().all(|warp| own(warp) == Some(first)) {
                *uniform = Some(GroupPredicate { holds: first != 0, written_back: true });
            }
        }
        uniform.map(|uniform| uniform.holds)
    }

    #[inline]
    fn hold(&mut self, register: RegId, words: Affine<B>, symbolic: bool) {
        self.registers[register.index()] = Some(GroupValue { words, symbolic, written_back: false });
    }

    /// Lets the warps' own registers and predicates hold what they do, of those that an instruction names; what it writes
    /// is theirs alone from now on.
    fn write_back(&mut self, warps: &mut [Warp], inst: &Inst) {
        if !inst.op.only_computes() {
            self.recent.forget();
        }
        inst.op.visit_registers(&mut |register, writes| {
            let held = &mut self.registers[register.index()];
            write_back_register(held, warps, register.index());
            if writes {
                *held = None;
            }
        });
        let guard = inst.guard.map(|guard| guard.pred);
        let mut predicate = |predicate: PredId, writes: bool| {
            let uniform = &mut self.predicates[predicate.index()];
            write_back_predicate(uniform, warps, predicate.index());
            if writes {
                *uniform = None;
            }
        };
        inst.op.visit_predicates(&mut predicate);
        guard.into_iter().for_each(|guard| predicate(guard, false));
    }

    /// The same of everything: each warp goes on by itself.
    fn flush(&mut self, warps: &mut [Warp]) {
        self.recent.forget();
        for (number, held) in self.registers.iter_mut().enumerate() {
            write_back_register(held, warps, number);
            *held = None;
        }
        for (number, uniform) in self.predicates.iter_mut().enumerate() {
            write_back_predicate(uniform, warps, number);
            *uniform = None;
        }
    }
}

/// What a register of all warps holds, if that is affine from thread to thread.
fn collect<const B: usize>(warps: &[Warp], register: RegId) -> Option<GroupValue<B>> {
    if B == ALONE {
        let (word, symbolic) = match warps[0].register(register).get(0) {
            Value::Bits(bits) => (bits, false),
            Value::Sym(sym) => (sym.raw(), true),
            Value::Undefined(_) => return None,
        };
        return Some(GroupValue { words: Affine::uniform(word), symbolic, written_back: true });
    }
    let own = |warp: &Warp| {
        let own = warp.register(register);
        let whole = own.undefined == 0 && (own.sym == 0 || own.sym == u32::MAX);
        if whole { Some((own.affine()?, own.sym != 0)) } else { None }
    };
    let (lanes, symbolic) = own(&warps[0])?;
    let mut words = Affine::<B>::uniform(lanes.first);
    words.steps[..LANE_BITS].copy_from_slice(&lanes.steps);
    for bit in 0..warps.len().trailing_zeros() as usize {
        let (other, _) = own(&warps[1 << bit])?;
        words.steps[LANE_BITS + bit] = other.first.wrapping_sub(lanes.first) as i64;
    }
    let follows = |(at, warp): (usize, &Warp)| own(warp) == Some((of_warp(&words, at), symbolic));
    warps.iter().enumerate().all(follows).then_some(GroupValue { words, symbolic, written_back: true })
}

/// One warp's part of the words of all threads.
fn of_warp<const B: usize>(words: &Affine<B>, warp: usize) -> Affine {
    Affine { first: words.lane((warp << LANE_BITS) as u32), ..words.of_lanes() }
}

/// Terms of all threads as a store has them: the first warp's, and how they move from warp to warp.
fn intern_operand<const B: usize>(store: &mut Store, terms: &Affine<B>) -> (TermOperand, BitStrides) {
    let Affine { first: base, steps } = of_warp(terms, 0);
    (store.intern_operand(Pattern::Strides { base, steps }), terms.of_warps())
}

fn write_back_register<const B: usize>(held: &mut Option<GroupValue<B>>, warps: &mut [Warp], number: usize) {
    let Some(held) = held else { return };
    if held.written_back {
        return;
    }
    held.written_back = true;
    for (at, warp) in warps.iter_mut().enumerate() {
        if B == ALONE {
            let word = held.words.first;
            let value = if held.symbolic { Value::Sym(Sym::from_raw(word)) } else { Value::Bits(word) };
            warp.registers[number].set(0, value);
        } else {
            warp.registers[number].set_affine(of_warp(&held.words, at), held.symbolic);
        }
    }
}

fn write_back_predicate(uniform: &mut Option<GroupPredicate>, warps: &mut [Warp], number: usize) {
    let Some(uniform) = uniform else { return };
    if uniform.written_back {
        return;
    }
    uniform.written_back = true;
    for warp in warps {
        warp.predicates[number].merge_bits(warp.exists, if uniform.holds { u32::MAX } else { 0 });
    }
}

/// Where all threads of all warps stand, if nobody waits or has returned.
fn common_pc(warps: &[Warp]) -> Option<InstId> {
    let pc = warps[0].pc[0];
    let there =
        |warp: &Warp| warp.runnable() == warp.exists && lanes(warp.exists).all(|lane| warp.pc[lane] == pc);
    warps.iter().all(there).then_some(pc)
}

impl Cta<'_> {
    /// Runs all threads in step, from where they stand together to where they part.
    pub(super) fn run_lockstep(&mut self, warps: &mut [Warp]) -> Result<(), Stop> {
        match self.lockstep.take() {
            None => {}
            Some(Lockstep::Warps(mut lockstep)) => {
                let stays = self.lead(&mut lockstep, warps)?;
                self.lockstep = stays.then_some(Lockstep::Warps(lockstep));
            }
            Some(Lockstep::Alone(mut lockstep)) => {
                let stays = self.lead(&mut lockstep, warps)?;
                self.lockstep = stays.then_some(Lockstep::Alone(lockstep));
            }
        }
        Ok(())
    }

    /// The same; false where lockstep does not pay and warps go one by one from now on.
    fn lead<const B: usize>(
        &mut self,
        lockstep: &mut CtaLockstep<B>,
        warps: &mut [Warp],
    ) -> Result<bool, Stop> {
        let Some(mut pc) = common_pc(warps) else { return Ok(true) };
        let insts = &self.launch.program.insts;
        loop {
            if lockstep.unprofitable {
                lockstep.flush(warps);
                warps.iter_mut().for_each(|warp| warp.go(lockstep.mask, pc));
                return Ok(false);
            }
            match self.step_lockstep(lockstep, warps, &insts[pc.index()], pc)? {
                Step::To(next) => pc = next,
                Step::Diverged => {
                    lockstep.flush(warps);
                    return Ok(true);
                }
            }
        }
    }

    /// Executes one instruction for all threads; or lets them stand before it, if it parts them.
    #[inline]
    fn step_lockstep<const B: usize>(
        &mut self,
        lockstep: &mut CtaLockstep<B>,
        warps: &mut [Warp],
        inst: &Inst,
        pc: InstId,
    ) -> Result<Step, Stop> {
        let uniform = match inst.guard {
            None => Some(true),
            Some(PredSrc { pred, negated }) => lockstep.uniform(warps, pred).map(|holds| holds != negated),
        };
        let parts = match inst.divides {
            Divides::Never => false,
            Divides::ByGuard => uniform.is_none(),
            Divides::Always => uniform != Some(false),
        };
        if parts {
            warps.iter_mut().for_each(|warp| warp.go(lockstep.mask, pc));
            return Ok(Step::Diverged);
        }
        let before = self.counts.warp_instructions;
        self.counts.warp_instructions += warps.len() as u64;
        self.counts.thread_instructions += lockstep.threads;
        if (before ^ self.counts.warp_instructions) >> 12 != 0 {
            self.check_budgets()?;
        }
        if uniform == Some(false) {
            return Ok(Step::To(pc.next()));
        }
        if inst.divides != Divides::Never {
            if let Effect::Control(Control::Branch(target)) = inst.op.effect() {
                if *target <= pc && self.watch.turns() {
                    lockstep.flush(warps);
                    self.look_for_turn(warps, pc)?;
                }
                return Ok(Step::To(*target));
            }
            if let Effect::Waits(Wait::Barrier) = inst.op.effect() {
                return self.synchronize(lockstep, warps, inst, pc);
            }
        }
        if uniform.is_some() && self.execute_lockstep(lockstep, warps, inst, pc)? {
            lockstep.together += 1;
            return Ok(Step::To(pc.next()));
        }
        lockstep.apart += 1;
        lockstep.unprofitable = lockstep.apart > FALLBACK_AFTER + 4 * lockstep.together;
        lockstep.write_back(warps, inst);
        if let Effect::Collective(members) = inst.op.effect() {
            return self.collect(lockstep, warps, (inst, members), pc);
        }
        for warp in warps.iter_mut() {
            let active = match inst.guard.filter(|_| uniform.is_none()) {
                None => lockstep.mask,
                Some(guard) => match self.guarded(warp, lockstep.mask, inst, pc, guard)? {
                    Guarded::Lanes(active) => active,
                    Guarded::Done | Guarded::Moved => 0,
                },
            };
            if active != 0 {
                self.execute(warp, active, inst, pc)?;
            }
        }
        Ok(Step::To(pc.next()))
    }

    /// All warps arrive at a barrier.
    fn synchronize<const B: usize>(
        &mut self,
        lockstep: &mut CtaLockstep<B>,
        warps: &mut [Warp],
        inst: &Inst,
        pc: InstId,
    ) -> Result<Step, Stop> {
        if self.watch.looks_at(self.counts.barriers + 1) {
            // All that the threads hold is looked at.
            lockstep.flush(warps);
        } else {
            lockstep.write_back(warps, inst);
        }
        for warp in warps.iter_mut() {
            warp.go(lockstep.mask, pc);
            warp.at_barrier = lockstep.mask;
        }
        for at in 0..warps.len() {
            self.arrive(warps, at)?;
        }
        Ok(common_pc(warps).map_or(Step::Diverged, Step::To))
    }

    /// The lanes of each warp exchange values.
    fn collect<const B: usize>(
        &mut self,
        lockstep: &CtaLockstep<B>,
        warps: &mut [Warp],
        (inst, members): (&Inst, Members),
        pc: InstId,
    ) -> Result<Step, Stop> {
        let mut all = true;
        for warp in warps.iter_mut() {
            let done = self.try_collective(warp, lockstep.mask, inst, pc, members)?;
            all &= done == lockstep.mask;
            warp.diverge(lockstep.mask & !done, pc);
            warp.go(done, pc.next());
            warp.at_collective |= lockstep.mask & !done;
        }
        Ok(if all { Step::To(pc.next()) } else { Step::Diverged })
    }

    /// Executes an operation for all warps at once. False where it has to be done by one after the other; then nothing
    /// was done that cannot be done again.
    fn execute_lockstep<const B: usize>(
        &mut self,
        lockstep: &mut CtaLockstep<B>,
        warps: &[Warp],
        inst: &Inst,
        pc: InstId,
    ) -> Result<bool, Stop> {
        let concrete =
            |cta: &Self, lockstep: &mut CtaLockstep<B>, source| cta.concrete_words(lockstep, warps, source);
        let result = match &inst.op {
            Op::Mov { d, a, width } => {
                if let Src::Reg(a) = *a
                    && let Some(held) = lockstep.held(warps, a)
                    && held.symbolic
                {
                    let words = held.words;
                    lockstep.hold(*d, words, true);
                    return Ok(true);
                }
                concrete(self, lockstep, *a)
                    .and_then(|words| narrowed(*width, words))
                    .map(|words| (*d, words))
            }
            Op::Int2 { op, ty, d, a, b } => {
                let (Some(x), Some(y)) = (concrete(self, lockstep, *a), concrete(self, lockstep, *b)) else {
                    return Ok(false);
                };
                affine2(*op, *ty, x, y).map(|words| (*d, words))
            }
            Op::Int3 { op, ty, d, a, b, c } => {
                let (Some(x), Some(y)) = (concrete(self, lockstep, *a), concrete(self, lockstep, *b)) else {
                    return Ok(false);
                };
                let Some(z) = concrete(self, lockstep, *c) else { return Ok(false) };
                affine3(*op, *ty, [x, y, z]).map(|words| (*d, words))
            }
            Op::CvtInt { d, a, from, to, saturate } => concrete(self, lockstep, *a)
                .and_then(|words| affine_convert(*from, *to, *saturate, words))
                .map(|words| (*d, words)),
            Op::SetpInt { compare, ty, p, q: None, a, b, combine: None } => {
                let (Some(x), Some(y)) = (concrete(self, lockstep, *a), concrete(self, lockstep, *b)) else {
                    return Ok(false);
                };
                let holds = affine_compare(*compare, *ty, x, y);
                if let Some(holds) = holds {
                    lockstep.predicates[p.index()] = Some(GroupPredicate { holds, written_back: false });
                }
                return Ok(holds.is_some());
            }
            Op::Float2 { op, format, precision, clamp, d, a, b } => {
                let shape = Shape::of_two(*op, *format, *precision, *clamp);
                return Ok(self.float_lockstep(lockstep, warps, pc, shape, *d, &[*a, *b]));
            }
            Op::Fma { format, precision, clamp, d, a, b, c } => {
                let shape = Shape::of_fma(*format, *precision, *clamp);
                return Ok(self.float_lockstep(lockstep, warps, pc, shape, *d, &[*a, *b, *c]));
            }
            Op::CvtFloat { d, a: Src::Reg(a), from, to, integral: None, clamp: Clamp::None, .. } => {
                // The same reals (rule V2), under another name.
                let held = lockstep.held(warps, *a).filter(|held| held.symbolic);
                let terms = held.and_then(|held| raw_reals(held.words, *from));
                let Some(terms) = terms.filter(|terms| !self.known.may_contain(terms.min_max())) else {
                    return Ok(false);
                };
                lockstep.hold(*d, Affine { first: Sym::real_tag(*to) | terms.first, ..terms }, true);
                return Ok(true);
            }
            Op::Mma { product, d, a, b, c } => {
                return Ok(self.multiply_lockstep(lockstep, warps, pc, *product, d, [a, b, c]));
            }
            Op::Load { access, .. } if access.leads_nowhere => return Ok(false),
            Op::Load { space, address, width, d, .. } => {
                return self.load_lockstep(lockstep, warps, (*space, *address), *width, d);
            }
            Op::Enter { .. }
            | Op::Undetermined(_)
            | Op::Special { .. }
            | Op::Int1 { .. }
            | Op::Insert { .. }
            | Op::Carry { .. }
            | Op::SetpInt { .. }
            | Op::SetpFloat { .. }
            | Op::Pred2 { .. }
            | Op::PredMov { .. }
            | Op::PredConst { .. }
            | Op::Select { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::IntToFloat { .. }
            | Op::FloatToInt { .. }
            | Op::CvtFloat { .. }
            | Op::Float1 { .. }
            | Op::Store { .. }
            | Op::Atomic { .. }
            | Op::Cvta { .. }
            | Op::IsSpace { .. }
            | Op::MapToCta { .. }
            | Op::CtaRankOf { .. }
            | Op::Branch { .. }
            | Op::BranchTable { .. }
            | Op::Exit
            | Op::Trap
            | Op::Nop
            | Op::Barrier { .. }
            | Op::WarpSync { .. }
            | Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Ballot { .. }
            | Op::MatchAny { .. }
            | Op::MatchAll { .. }
            | Op::Redux { .. }
            | Op::ActiveMask { .. }
            | Op::Elect { .. }
            | Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::TransposeMatrix { .. }
            | Op::LoadFragment { .. }
            | Op::StoreFragment { .. }
            | Op::MultiplyFragments { .. }
            | Op::Async(_)
            | Op::Unevaluated { .. }
            | Op::Unsupported { .. } => None,
        };
        if let Some((d, words)) = result {
            lockstep.hold(d, words, false);
        }
        Ok(result.is_some())
    }

    /// A source that is concrete in all threads and is affine.
    #[inline(always)]
    fn concrete_words<const B: usize>(
        &self,
        lockstep: &mut CtaLockstep<B>,
        warps: &[Warp],
        source: Src,
    ) -> Option<Affine<B>> {
        match source {
            Src::Reg(register) => match lockstep.held(warps, register) {
                Some(held) if !held.symbolic => Some(held.words),
                _ => None,
            },
            Src::Imm(bits) => Some(Affine::uniform(bits)),
            Src::Symbol(variable, offset) => {
                Some(Affine::uniform(self.launch.objects.address(variable, 0).wrapping_add_signed(offset)))
            }
        }
    }

    /// One node for each warp, of operands that are affine.
    fn float_lockstep<const B: usize>(
        &mut self,
        lockstep: &mut CtaLockstep<B>,
        warps: &[Warp],
        pc: InstId,
        shape: Shape,
        d: RegId,
        sources: &[Src],
    ) -> bool {
        if shape.rounds_down() || shape.clamp != Clamp::None {
            return false;
        }
        let mut terms = [Affine::uniform(0); 3];
        for (terms, source) in terms.iter_mut().zip(sources) {
            let literal = match *source {
                Src::Reg(register) => match lockstep.held(warps, register) {
                    Some(held) if held.symbolic => {
                        let Some(raw) = raw_reals(held.words, shape.format) else { return false };
                        *terms = raw;
                        continue;
                    }
                    Some(held) if held.words.is_uniform() => held.words.first,
                    _ => return false,
                },
                Src::Imm(bits) => bits,
                Src::Symbol(..) => return false,
            };
            let Some(raw) = self.literal(shape.format, literal) else { return false };
            *terms = Affine::uniform(raw);
        }
        // Signs that are known are copied lane by lane.
        if shape.op == TermOp::CopySign && self.known.may_contain(terms[0].min_max()) {
            return false;
        }
        let tag = Sym::real_tag(shape.format);
        if B == ALONE {
            let ids = terms.map(|term| term.first);
            let ids = &ids[..sources.len()];
            if ids.iter().all(|raw| self.known.contains(*raw)) {
                return false;
            }
            let raw = self.store.push_uniform(shape.op, ids, pc);
            lockstep.hold(d, Affine::uniform(tag | raw), true);
            return true;
        }
        let known = |terms: &Affine<B>| self.known.may_contain(terms.min_max());
        if !self.known.is_empty() && terms[..sources.len()].iter().all(known) {
            return false;
        }
        let mut operands = [None; 3];
        for (operand, terms) in operands.iter_mut().zip(&terms[..sources.len()]) {
            *operand = Some(intern_operand(&mut self.store, terms));
        }
        let results = match operands {
            [Some(a), Some(b), None] => self.store.push_warps(shape.op, &[a, b], warps.len(), pc),
            [Some(a), Some(b), Some(c)] => self.store.push_warps(shape.op, &[a, b, c], warps.len(), pc),
            _ => None,
        };
        let Some(results) = results else { return false };
        // Nodes follow one another, and so do the results of all threads.
        lockstep.hold(d, Affine::strided(tag | results.lane(0), 1), true);
        true
    }

    /// A load from an input that nobody writes, or of words of shared memory, each of which is read once for all.
    fn load_lockstep<const B: usize>(
        &mut self,
        lockstep: &mut CtaLockstep<B>,
        warps: &[Warp],
        (space, address): (Space, Address),
        width: Width,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop> {
        let Some(mut addresses) = self.concrete_words(lockstep, warps, address.base) else {
            return Ok(false);
        };
        addresses.first = addresses.first.wrapping_add_signed(address.offset);
        let total = u64::from(width.bytes()) * d.len() as u64;
        let Some(places) = self.affine_places(space, addresses, total) else { return Ok(false) };
        if let Some(elements) = self.affine_elements(&places, width) {
            for (step, target) in d.iter().enumerate() {
                let Some(target) = target else { continue };
                lockstep.hold(*target, Affine { first: elements.first + step as u64, ..elements }, true);
            }
            return Ok(true);
        }
        if B == ALONE {
            let words = (0..d.len()).map(|step| self.own_word(&warps[0], 0, &places, width, step));
            let Some(words) = words.collect::<Option<SmallVec<[Value; 4]>>>() else { return Ok(false) };
            for (target, word) in d.iter().zip(words) {
                let Some(target) = target else { continue };
                match word {
                    Value::Bits(bits) => lockstep.hold(*target, Affine::uniform(bits), false),
                    Value::Sym(sym) => lockstep.hold(*target, Affine::uniform(sym.raw()), true),
                    Value::Undefined(_) => return Ok(false),
                }
            }
            return Ok(true);
        }
        let Some(offsets) = self.shared_offsets(&places, width) else { return Ok(false) };
        // What is loaded over its own address is not loaded again from there.
        if d.len() > 1 && d.iter().flatten().any(|target| Src::Reg(*target) == address.base) {
            return Ok(false);
        }
        let varying = offsets.varying_bits();
        let lanes = sharing_lanes(varying & 31, 5);
        let of_one_warp = varying >> LANE_BITS == (1 << lockstep.bits) - 1;
        let epoch = self.now(&warps[0]).epoch;
        for (step, target) in d.iter().enumerate() {
            let first = offsets.first + step as u64 * u64::from(width.bytes());
            let offsets = Affine { first, ..offsets };
            if let Some(held) = lockstep.recent.find(&offsets, width) {
                if let Some(target) = target {
                    lockstep.registers[target.index()] = Some(held);
                }
                continue;
            }
            let found = self.read_shared(
                offsets,
                width,
                |parts, (cell, touched), thread| {
                    let (warp, lanes) = ((thread >> LANE_BITS) as u16, lanes << (thread & 31));
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
            let held = GroupValue { words, symbolic, written_back: false };
            lockstep.recent.remember(&offsets, width, held);
            if let Some(target) = target {
                lockstep.registers[target.index()] = Some(held);
            }
        }
        Ok(true)
    }
}
