//! All threads of a CTA in lockstep (rule Y8: any order of threads is a possible one).
//!
//! The warps of a CTA mostly execute the same instructions, on elements some distance apart. While all threads stand
//! at one instruction, an operation whose operands are affine from thread to thread is executed once for all of them,
//! which costs little more than for one warp. Any other operation is executed warp by warp. Where warps diverge, each
//! runs alone until a barrier reconverges them. The only thread of a CTA runs in lockstep as well; it needs one word
//! for each register.
//!
//! Which of several faults is met first depends on the order of threads, so the fault reported is always the one that
//! warps executed one by one meet.

use super::product_plan::Plan;
use super::warp::{LANE_BITS, Warp};
use crate::base::lane::{Lane, LaneMask};
use crate::case::{Options, Schedule};
use crate::program::{Inst, InstId, PredId, RegId, Width};
use crate::term::{BitStrides, Pattern, Store, TermOperand};
use crate::value::register::{Affine, Held};
use std::rc::Rc;

/// Bits of a thread's number where warps run in lockstep: those of the lane, and up to five of the warp.
const WARPS: usize = 10;
/// Bits of a thread's number where the CTA has one thread.
pub(crate) const ALONE: usize = 0;

/// All threads of a CTA in lockstep.
#[derive(Debug)]
pub(crate) enum InStep {
    /// Whole warps.
    Warps(Box<Lockstep<WARPS>>),
    /// One thread.
    Alone(Box<Lockstep<ALONE>>),
}

/// What a register or a predicate holds in all threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfAll<T> {
    pub(crate) held: T,
    /// Whether the warps' own registers or predicates hold it too.
    pub(crate) written_back: bool,
}

impl<T: Copy> OfAll<T> {
    /// What is still to be written to the warps, which then hold it too.
    fn to_write(own: &mut Option<OfAll<T>>) -> Option<T> {
        let own = own.as_mut().filter(|own| !own.written_back)?;
        own.written_back = true;
        Some(own.held)
    }
}

/// The registers and predicates of all threads, while they run in lockstep.
#[derive(Debug)]
pub(crate) struct Lockstep<const B: usize> {
    /// Bits of a warp's number.
    pub(crate) bits: u32,
    pub(crate) threads: u64,
    /// Values of registers that are affine from thread to thread, as far as they were collected or computed.
    registers: Vec<Option<OfAll<Held<B>>>>,
    pub(crate) predicates: Vec<Option<OfAll<bool>>>,
    /// Words of shared memory that were lately read, by their offsets.
    pub(crate) recent: Recent<B>,
    /// For each matrix product met so far, where its factors lie.
    pub(crate) plans: Vec<Rc<Plan>>,
    /// Buffer for words of shared memory, one for each thread.
    pub(crate) words: Vec<u64>,
    /// How many operations were executed for all warps at once, and how many warp by warp.
    pub(crate) together: u64,
    pub(crate) apart: u64,
    /// Whether warps are to run one by one from now on.
    pub(crate) unprofitable: bool,
}

/// Cache of reads from shared memory. As long as warps only execute operations in lockstep, repeating a read finds the
/// same words and no further race.
#[derive(Debug, Default)]
pub(crate) struct Recent<const B: usize> {
    /// By a hash of the offsets.
    entries: Vec<Option<Entry<B>>>,
    /// Entries with another time are invalid.
    time: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<const B: usize> {
    time: u64,
    offsets: Affine<B>,
    width: Width,
    held: Held<B>,
}

impl<const B: usize> Recent<B> {
    const ENTRIES: u32 = 128;

    fn place(offsets: &Affine<B>) -> usize {
        (offsets.first.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::ENTRIES.trailing_zeros())) as usize
    }

    fn forget(&mut self) {
        self.time += 1;
    }

    pub(crate) fn find(&self, offsets: &Affine<B>, width: Width) -> Option<Held<B>> {
        let entry = self.entries.get(Self::place(offsets))?.as_ref()?;
        let same = entry.time == self.time && entry.width == width && entry.offsets == *offsets;
        same.then_some(entry.held)
    }

    pub(crate) fn remember(&mut self, offsets: &Affine<B>, width: Width, held: Held<B>) {
        self.entries.resize(Self::ENTRIES as usize, None);
        let entry = Entry { time: self.time, offsets: *offsets, width, held };
        self.entries[Self::place(offsets)] = Some(entry);
    }
}

/// Lockstep is unprofitable where this many more operations were executed warp by warp than four times the number of
/// those executed at once.
pub(crate) const FALLBACK_AFTER: u64 = 1000;

impl InStep {
    /// The state for a CTA with so many threads, if they can run in lockstep.
    pub(crate) fn new(threads: usize, registers: u32, predicates: u32, options: &Options) -> Option<InStep> {
        if options.plain_terms || options.schedule != Schedule::InOrder {
            return None;
        }
        let warps = threads / 32;
        if threads == 1 {
            Some(InStep::Alone(Box::new(Lockstep::new(1, registers, predicates))))
        } else if threads.is_multiple_of(32) && warps.is_power_of_two() && (2..=32).contains(&warps) {
            Some(InStep::Warps(Box::new(Lockstep::new(warps, registers, predicates))))
        } else {
            None
        }
    }
}

impl<const B: usize> Lockstep<B> {
    fn new(warps: usize, registers: u32, predicates: u32) -> Lockstep<B> {
        Lockstep {
            bits: warps.trailing_zeros(),
            threads: if B == ALONE { 1 } else { 32 * warps as u64 },
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

    /// What a register holds in all threads, if it is affine.
    #[inline(always)]
    pub(crate) fn held(&mut self, warps: &[Warp], register: RegId) -> Option<Held<B>> {
        let value = &mut self.registers[register.index()];
        if value.is_none() {
            *value = collect(warps, register).map(|held| OfAll { held, written_back: true });
        }
        value.as_ref().map(|value| value.held)
    }

    /// Whether a predicate holds in all threads, or in none.
    pub(crate) fn uniform(&mut self, warps: &[Warp], predicate: PredId) -> Option<bool> {
        let uniform = &mut self.predicates[predicate.index()];
        if uniform.is_none() {
            let mask = warps[0].exists;
            let own = |warp: &Warp| {
                let own = &warp.predicates[predicate.index()];
                (!(own.sym | own.undefined).meets(mask)).then_some(own.bits & mask)
            };
            let first = own(&warps[0]).filter(|bits| bits.is_empty() || *bits == mask)?;
            if warps.iter().all(|warp| own(warp) == Some(first)) {
                *uniform = Some(OfAll { held: !first.is_empty(), written_back: true });
            }
        }
        uniform.map(|uniform| uniform.held)
    }

    #[inline]
    pub(crate) fn hold(&mut self, register: RegId, held: Held<B>) {
        self.registers[register.index()] = Some(OfAll { held, written_back: false });
    }

    /// Writes back the registers and predicates that an instruction names to the warps, and forgets the group's value
    /// of those that it writes.
    pub(crate) fn write_back(&mut self, warps: &mut [Warp], inst: &Inst) {
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

    /// Writes back all registers and predicates and forgets them: each warp runs alone from here on.
    pub(crate) fn flush(&mut self, warps: &mut [Warp]) {
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
#[cold]
#[inline(never)]
fn collect<const B: usize>(warps: &[Warp], register: RegId) -> Option<Held<B>> {
    if B == ALONE {
        return warps[0].register(register).get(Lane::FIRST).as_word().map(Held::uniform);
    }
    let own = |warp: &Warp| warp.register(register).held();
    let Held { words: lanes, symbolic } = own(&warps[0])?;
    let mut words = Affine::uniform(lanes.first);
    words.steps[..LANE_BITS].copy_from_slice(&lanes.steps);
    for bit in 0..warps.len().trailing_zeros() as usize {
        let other = own(&warps[1 << bit])?.words;
        words.steps[LANE_BITS + bit] = other.first.wrapping_sub(lanes.first) as i64;
    }
    let follows =
        |(at, warp): (usize, &Warp)| own(warp) == Some(Held { words: of_warp(&words, at), symbolic });
    warps.iter().enumerate().all(follows).then_some(Held { words, symbolic })
}

/// One warp's part of the words of all threads.
fn of_warp<const B: usize>(words: &Affine<B>, warp: usize) -> Affine {
    Affine { first: words.lane((warp << LANE_BITS) as u32), ..words.of_lanes() }
}

/// Interns the terms of all threads: those of the first warp, and their strides from warp to warp.
pub(crate) fn intern_operand<const B: usize>(
    store: &mut Store,
    terms: &Affine<B>,
) -> (TermOperand, BitStrides) {
    (store.intern_operand(Pattern::Strides(of_warp(terms, 0))), terms.of_warps())
}

fn write_back_register<const B: usize>(
    value: &mut Option<OfAll<Held<B>>>,
    warps: &mut [Warp],
    number: usize,
) {
    let Some(held) = OfAll::to_write(value) else { return };
    for (at, warp) in warps.iter_mut().enumerate() {
        if B == ALONE {
            warp.registers[number].set(Lane::FIRST, held.first());
        } else {
            warp.registers[number].set_affine(of_warp(&held.words, at), held.symbolic);
        }
    }
}

fn write_back_predicate(uniform: &mut Option<OfAll<bool>>, warps: &mut [Warp], number: usize) {
    let Some(holds) = OfAll::to_write(uniform) else { return };
    for warp in warps {
        warp.predicates[number].merge_bits(warp.exists, LaneMask::all_if(holds));
    }
}

/// The instruction at which all threads of all warps stand, if no thread waits or has returned.
pub(crate) fn common_pc(warps: &[Warp]) -> Option<InstId> {
    let pc = warps[0].pc[0];
    let there =
        |warp: &Warp| warp.runnable() == warp.exists && warp.exists.iter().all(|lane| warp.pc[lane] == pc);
    warps.iter().all(there).then_some(pc)
}
