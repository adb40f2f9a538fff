//! Loops of one thread as a grid: iterations that differ only in registers that count become CTAs of one thread.
//!
//! A CTA executes the code before the loop, adds to each counter what the iterations before it would have added, and
//! executes one iteration. At its end, it checks that the loop goes on unless it has the last one, and a trap ends the
//! run where that is not so. All but the last CTA then return, and that one goes on behind the loop. If no two CTAs
//! access one place, of which one writes it, the grid leaves in memory what the thread leaves: an iteration then reads
//! what it would read, in registers and in memory, whichever others have run before it.

use super::code::{Inst, Program};
use super::effect::{Control, Effect, Writes};
use super::op::{Bool2, Compare, InstId, Int, Int2, Op, PredId, PredSrc, RegId, Space, Special, Src, Width};
use super::visit::Named;
use crate::base::index::number_of;
use rustc_hash::FxHashSet;

/// The most loops that are nested in one another and become dimensions of a grid.
const DIMENSIONS: usize = 3;

/// A register to which each iteration adds the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The register.
    pub register: RegId,
    /// The operation that adds to it.
    pub at: InstId,
    /// Whether `by` is subtracted.
    pub subtracts: bool,
    /// What is added, which no iteration changes.
    pub by: Src,
    /// Its width.
    pub width: Width,
}

/// A loop that is left at its last operation only, and whose iterations differ only in counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedLoop {
    /// Its first operation.
    pub header: InstId,
    /// The branch back to the first one, under the guard that the loop goes on.
    pub latch: InstId,
    /// The guard.
    pub goes_on: PredSrc,
    /// What counts.
    pub counters: Vec<Counter>,
    /// Its operations, in ascending order.
    members: Vec<u32>,
}

/// A natural loop: its operations in ascending order, the first executed, and the last.
struct Natural {
    header: u32,
    latch: u32,
    members: Vec<u32>,
}

impl Natural {
    fn has(&self, at: u32) -> bool {
        self.members.binary_search(&at).is_ok()
    }
}

impl CountedLoop {
    /// Whether an operation belongs to it.
    pub fn has(&self, at: InstId) -> bool {
        self.members.binary_search(&at.0).is_ok()
    }
}

impl Program {
    /// Nested loops all of whose iterations may be CTAs, the outermost first; none if the code does anything but
    /// compute, load and store to global memory.
    pub fn counted_nest(&self) -> Vec<CountedLoop> {
        if !self.insts.iter().all(|inst| is_plain(&inst.op)) {
            return Vec::new();
        }
        let loops = self.natural_loops();
        let mut nest: Vec<CountedLoop> = Vec::new();
        let mut within: Option<&Natural> = None;
        while nest.len() < DIMENSIONS {
            let is_inside = |inner: &Natural| {
                within.is_none_or(|outer| outer.header != inner.header && outer.has(inner.header))
            };
            let inside: Vec<&Natural> = loops.iter().filter(|inner| is_inside(inner)).collect();
            let is_outermost = |at: &&&Natural| {
                !inside.iter().any(|outer| outer.header != at.header && outer.has(at.header))
            };
            let outermost: Vec<&Natural> = inside.iter().filter(is_outermost).copied().collect();
            // What lies beside an inner loop is executed once for each of its iterations.
            let next = match (within, outermost.as_slice()) {
                (None, [first, ..]) => *first,
                (Some(outer), [only]) => {
                    let beside = outer.members.iter().filter(|at| !only.has(**at));
                    let mut stores = beside.map(|at| &self.insts[*at as usize].op);
                    if stores.any(|op| matches!(op.effect(), Effect::Writes(_))) {
                        break;
                    }
                    *only
                }
                (_, _) => break,
            };
            let Some(counted) = self.counted(next) else { break };
            nest.push(counted);
            within = Some(next);
        }
        nest
    }

    /// The natural loops with one way back, in the order of their first operations.
    fn natural_loops(&self) -> Vec<Natural> {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.insts.len()];
        for from in 0..number_of(self.insts.len()) {
            self.successors(from).for_each(|to| before[to as usize].push(from));
        }
        let mut found = Vec::new();
        for header in 0..number_of(self.insts.len()) {
            let mut back = before[header as usize].iter().copied().filter(|from| *from >= header);
            let (Some(latch), None) = (back.next(), back.next()) else { continue };
            let mut members = FxHashSet::from_iter([header]);
            let mut work = vec![latch];
            while let Some(at) = work.pop() {
                if members.insert(at) {
                    work.extend(&before[at as usize]);
                }
            }
            let mut members: Vec<u32> = members.into_iter().collect();
            members.sort_unstable();
            // Entered elsewhere than at its first operation, it would contain the beginning.
            if members[0] == header && header > 0 {
                found.push(Natural { header, latch, members });
            }
        }
        found
    }

    fn counted(&self, natural: &Natural) -> Option<CountedLoop> {
        let Natural { header, latch, members } = natural;
        let branch = &self.insts[*latch as usize];
        let (Some(goes_on), Op::Branch { target }) = (branch.guard, &branch.op) else { return None };
        let leaves = |at: &u32| {
            *at != *latch
                && (self.insts[*at as usize].op == Op::Exit
                    || self.successors(*at).any(|next| !natural.has(next)))
        };
        if target.0 != *header || header == latch || natural.has(latch + 1) || members.iter().any(leaves) {
            return None;
        }
        let mut written: Vec<RegId> = Vec::new();
        let mut predicates: Vec<PredId> = Vec::new();
        for at in members {
            let own = self.insts[*at as usize].op.written();
            written.extend(own.registers);
            predicates.extend(own.predicates);
        }
        written.sort_unstable();
        written.dedup();
        if predicates.iter().any(|own| self.is_read_from(*header, Named::WritePredicate(*own)).0) {
            return None;
        }
        let mut counters = Vec::new();
        for register in &written {
            if self.is_read_from(*header, Named::Write(*register)).0 {
                counters.push(self.counter(natural, *register, &written)?);
            }
        }
        let (header, latch) = (InstId(*header), InstId(*latch));
        Some(CountedLoop { header, latch, goes_on, counters, members: members.clone() })
    }

    /// A register to which each iteration adds the same number, once.
    fn counter(&self, natural: &Natural, register: RegId, written: &[RegId]) -> Option<Counter> {
        let at = self.only_write(&natural.members, Named::Write(register))?;
        let Op::Int2 { op, ty: Int { width, .. }, d: _, a, b } = self.insts[at as usize].op else {
            return None;
        };
        let by = match (op, a, b) {
            (Int2::Add | Int2::Sub, Src::Reg(a), by) if a == register => by,
            (Int2::Add, by, Src::Reg(b)) if b == register => by,
            _ => return None,
        };
        let is_fixed = match by {
            Src::Imm(_) => true,
            Src::Reg(by) => written.binary_search(&by).is_err(),
            Src::Symbol(..) => false,
        };
        let is_once = self.is_once_an_iteration(natural, at);
        let is_word = matches!(width, Width::W32 | Width::W64);
        let counter = Counter { register, at: InstId(at), subtracts: op == Int2::Sub, by, width };
        (is_fixed && is_once && is_word).then_some(counter)
    }

    /// Whether an operation is executed exactly once in each iteration.
    fn is_once_an_iteration(&self, natural: &Natural, at: u32) -> bool {
        let reaches = |from: Vec<u32>, to: u32| {
            let (mut seen, mut work) = (FxHashSet::default(), from);
            while let Some(own) = work.pop() {
                if own == to {
                    return true;
                }
                if own != at && seen.insert(own) {
                    let inside = |next: &u32| *next != natural.header && natural.has(*next);
                    work.extend(self.successors(own).filter(inside));
                }
            }
            false
        };
        let inside = |next: &u32| *next != natural.header && natural.has(*next);
        let again = reaches(self.successors(at).filter(inside).collect(), at);
        let around = at != natural.header && reaches(vec![natural.header], natural.latch);
        !again && !around
    }

    /// The program of a grid of one CTA for each iteration of these nested loops, of which each has so many; the
    /// innermost is the first dimension of the grid. Operations keep their places.
    pub fn with_iterations_apart(&self, nest: &[(CountedLoop, u32)]) -> Program {
        let mut program = self.clone();
        for inst in &mut program.insts {
            // The grid of the thread has one CTA.
            if let Op::Special { d, special: special @ (Special::Ctaid(_) | Special::Nctaid(_)), width } =
                inst.op
            {
                let number = u64::from(matches!(special, Special::Nctaid(_)));
                inst.replace(Op::Mov { d, a: Src::Imm(number), width });
            }
        }
        for (dimension, (counted, iterations)) in nest.iter().rev().enumerate() {
            let cta = Special::Ctaid(dimension as u8);
            program.start_at(counted, cta);
            program.end_after(counted, cta, *iterations);
        }
        let last = program.insts.last().cloned();
        program.insts.extend(last.map(|inst| Inst { guard: None, ..inst }.with(Op::Exit)));
        program
    }

    fn new_register(&mut self) -> RegId {
        self.registers += 1;
        RegId(self.registers - 1)
    }

    fn new_predicate(&mut self) -> PredId {
        self.predicates += 1;
        PredId(self.predicates - 1)
    }

    /// Has a loop begin with the counters of the iteration with the number `cta`.
    fn start_at(&mut self, counted: &CountedLoop, cta: Special) {
        let first = self.insts[counted.header.index()].clone();
        let like = Inst { guard: None, ..first.clone() };
        let start = InstId::from_index(self.insts.len());
        let number = self.new_register();
        let mut added = vec![Op::Special { d: number, special: cta, width: Width::W32 }];
        for counter in &counted.counters {
            let (wide, product) = (self.new_register(), self.new_register());
            let unsigned = |width| Int { width, signed: false };
            let ty = unsigned(counter.width);
            let (from, to) = (unsigned(Width::W32), ty);
            added.push(Op::CvtInt { d: wide, a: Src::Reg(number), from, to, saturate: false });
            added.push(Op::Int2 { op: Int2::MulLo, ty, d: product, a: Src::Reg(wide), b: counter.by });
            let op = if counter.subtracts { Int2::Sub } else { Int2::Add };
            let (d, a) = (counter.register, Src::Reg(counter.register));
            added.push(Op::Int2 { op, ty, d, a, b: Src::Reg(product) });
        }
        self.insts.extend(added.into_iter().map(|op| like.clone().with(op)));
        let goes_on = !first.op.ends() || first.guard.is_some();
        self.insts.push(first);
        if goes_on {
            let target = InstId(counted.header.0 + 1);
            self.insts.push(like.clone().with(Op::Branch { target }));
        }
        self.insts[counted.header.index()] = like.with(Op::Branch { target: start });
    }

    /// Has a CTA return at the end of an iteration, unless it is the last one.
    fn end_after(&mut self, counted: &CountedLoop, cta: Special, iterations: u32) {
        let latch = self.insts[counted.latch.index()].clone();
        let like = Inst { guard: None, ..latch };
        let start = InstId::from_index(self.insts.len());
        let number = self.new_register();
        let (more, differs) = (self.new_predicate(), self.new_predicate());
        let (ty, last) = (Int { width: Width::W32, signed: false }, iterations.saturating_sub(1));
        let a = Src::Reg(number);
        let holds = |pred| PredSrc { pred, negated: false };
        let compare = Compare::Lt;
        let comparison =
            Op::SetpInt { compare, ty, p: more, q: None, a, b: Src::Imm(last.into()), combine: None };
        let both = Op::Pred2 { op: Bool2::Xor, p: differs, a: counted.goes_on, b: holds(more) };
        let returns = Inst { guard: Some(counted.goes_on), ..like.clone() };
        let traps = Inst { guard: Some(holds(differs)), ..like.clone() };
        self.insts.extend([
            like.clone().with(Op::Special { d: number, special: cta, width: Width::W32 }),
            like.clone().with(comparison),
            like.clone().with(both),
            traps.with(Op::Trap),
            returns.with(Op::Exit),
            like.clone().with(Op::Branch { target: InstId(counted.latch.0 + 1) }),
        ]);
        self.insts[counted.latch.index()] = like.with(Op::Branch { target: start });
    }
}

impl Inst {
    /// The instruction with another operation.
    fn with(mut self, op: Op) -> Inst {
        self.replace(op);
        self
    }
}

/// Whether an operation only computes, loads, stores to global memory or chooses what comes next, and depends on
/// nothing but the numbers of the thread and of its CTA.
fn is_plain(op: &Op) -> bool {
    if let Op::Special { special, .. } = op {
        return matches!(
            special,
            Special::Tid(_) | Special::Ntid(_) | Special::Ctaid(_) | Special::Nctaid(_) | Special::LaneId
        );
    }
    if let Op::Store { space, .. } = op {
        return *space == Space::Global;
    }
    match op.effect() {
        Effect::Computes => {
            !matches!(op, Op::Unevaluated { .. } | Op::MapToCta { .. } | Op::CtaRankOf { .. })
        }
        Effect::Reads => true,
        Effect::Control(Control::Branch(_) | Control::Table(..) | Control::Exit | Control::Trap) => true,
        Effect::Writes(Writes::Store | Writes::Atomic | Writes::Copy)
        | Effect::Context
        | Effect::Waits(_)
        | Effect::Collective(_)
        | Effect::Fault => false,
    }
}
