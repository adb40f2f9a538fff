//! Queues of work (rule Y18): a counter gives numbers to *takers*, each of which takes one after the other until one
//! tells it to stop.
//!
//! A taker is a CTA, a warp or a thread. It is executed until it waits for its next number, and so are all others. What
//! all takers hold alike before the first number, and what no item changes, they may use afterwards; whatever else is
//! there when a number is taken, of this taker or of the item before, is unknown. Items then are the same whoever takes
//! them, and since the memory accesses of different items count as unordered, also of one taker, it does not matter when.
//!
//! What items change is known once all have been executed. So a run supposes that they change nothing that it is not told
//! of, and is repeated, with what it found, until that is so: then each item was executed in front of what all others
//! leave.

use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::barrier_arrivals::{Arrival, COUNT, Count, Reduces, State};
use crate::launch::Launch;
use crate::launch::objects::{Objects, from_generic};
use crate::machine::group::warp::Warp;
use crate::program::{
    Async, Barrier, Effect, Groups, Holds, InstId, Op, PredId, Program, RegId, Space, Special, Update, Wait,
};
use crate::value::packed::Cell;
use crate::value::{Origin, Truth, Value};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// An object and a cell of it.
pub(crate) type CounterKey = (u32, u64);

/// What takes items together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taker {
    Thread,
    Warp,
    Cta,
}

/// What a lane waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    Never,
    Returned,
    AtBarrier,
    /// With the lanes that it waits for.
    AtWarpSync(LaneMask),
    AtCollective,
    ToTake,
}

/// Where a thread is.
type Position = (InstId, Waits);

/// What a thread holds; where there is nothing, takers hold different things.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) registers: Vec<Option<Value>>,
    pub(crate) predicates: Vec<Option<Truth>>,
    pub(crate) local: Vec<Option<Cell>>,
}

/// An arrival at a barrier, with the number of its warp in the CTA.
type Arrived = (usize, InstId, bool, Option<Reduces>);

/// The state of a taker in front of an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Before {
    /// Of each thread, if it exists.
    pub(crate) threads: Vec<Option<Position>>,
    barriers: Vec<(Option<Count>, Vec<Arrived>)>,
}

/// What items change: it is unknown in front of each, the first included.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changed {
    /// Of each thread of a taker: its registers, predicates and cells of local memory.
    pub(crate) threads: Vec<[Vec<bool>; 3]>,
    pub(crate) shared: Vec<bool>,
}

/// A queue of work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) taken: Option<Taken>,
    /// What items are known to change.
    pub(crate) changed: Changed,
    /// In a run that speaks for one schedule alone: nothing is unknown in front of an item.
    pub(crate) schedule: Option<Schedule>,
}

/// Who of those that wait takes the next item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schedule {
    /// Of those with the fewest items the first one.
    Forwards,
    /// Of those with the fewest items the last one.
    Backwards,
    /// The first one, as long as there are items.
    Alone,
}

/// What is known once all takers have waited for their first numbers.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) key: CounterKey,
    pub(crate) taker: Taker,
    /// By which operation, once one was executed.
    pub(crate) by: Option<(Update, u32)>,
    /// The instruction that takes a number.
    pub(crate) pc: InstId,
    pub(crate) before: Before,
    pub(crate) threads: Vec<Held>,
    pub(crate) shared: Vec<Option<Cell>>,
    /// Whether an item changed something that was supposed to stay.
    pub(crate) is_changed: bool,
    /// By register.
    pub(crate) holds: Vec<Holds>,
    /// By the thread that takes for it: how many numbers each taker has.
    pub(crate) counts: BTreeMap<u32, u32>,
    /// The thread that takes the next number.
    pub(crate) turn: Option<u32>,
    /// The number of takers that may take the present item.
    pub(crate) waiting: usize,
    pub(crate) items: u16,
    /// Whether a thread may go on with the item before, or with this one, without meeting all others of its block.
    pub(crate) is_apart: bool,
}

/// Which of a list is not there.
fn missing<T>(list: &[Option<T>]) -> Vec<bool> {
    list.iter().map(Option::is_none).collect()
}

/// Takes from a list what is to be missing.
pub(crate) fn take_out<T>(list: &mut [Option<T>], missing: &[bool]) {
    list.iter_mut().zip(missing).filter(|(_, missing)| **missing).for_each(|(own, _)| *own = None);
}

impl Queue {
    /// In front of the first item, given what items change.
    pub(crate) fn new(changed: Changed) -> Queue {
        Queue { changed, ..Queue::default() }
    }

    /// One whose items are executed as they are in a schedule, for that schedule alone.
    pub(crate) fn of_schedule(schedule: Schedule) -> Queue {
        Queue { schedule: Some(schedule), ..Queue::default() }
    }

    /// After the last item: what items change, if that is more than was supposed.
    pub(crate) fn changed_more(self) -> Option<Changed> {
        let taken = self.taken.filter(|taken| taken.is_changed)?;
        let of = |held: &Held| [missing(&held.registers), missing(&held.predicates), missing(&held.local)];
        Some(Changed { threads: taken.threads.iter().map(of).collect(), shared: missing(&taken.shared) })
    }

    /// The counter.
    pub(crate) fn key(&self) -> Option<CounterKey> {
        self.taken.as_ref().map(|taken| taken.key)
    }

    /// Whether it is a thread's turn, which then is over.
    pub(crate) fn takes_turn(&mut self, thread: u32) -> bool {
        let Some(taken) = &mut self.taken else { return false };
        taken.turn.take_if(|turn| *turn == thread).is_some()
    }

    /// Whether the counter is always changed by one operation, this one.
    pub(crate) fn counts_by(&mut self, update: Update, by: u32) -> bool {
        self.taken.as_mut().is_some_and(|taken| *taken.by.get_or_insert((update, by)) == (update, by))
    }

    /// Whether several takers may take the present item.
    pub(crate) fn is_open(&self) -> bool {
        self.taken.as_ref().is_some_and(|taken| taken.waiting > 1)
    }

    /// Bytes of what is recorded.
    pub(crate) fn bytes(&self) -> u64 {
        let Some(taken) = &self.taken else { return 0 };
        let of = |Held { registers, predicates, local }: &Held| {
            size_of_val(&registers[..]) + size_of_val(&predicates[..]) + size_of_val(&local[..])
        };
        (taken.threads.iter().map(of).sum::<usize>() + size_of_val(&taken.shared[..])) as u64
    }
}

impl Taker {
    /// Whether a special register tells takers apart.
    pub(crate) fn is_told_by(self, special: Special, launch: &Launch<'_>) -> bool {
        let is_extended = |of: [u32; 3], dimension: u8| of[usize::from(dimension.min(2))] > 1;
        match special {
            Special::Ctaid(n) | Special::ClusterId(n) => is_extended(launch.grid, n),
            Special::Tid(n) => self != Taker::Cta && is_extended(launch.block, n),
            Special::LaneId
            | Special::LaneMaskEq
            | Special::LaneMaskLt
            | Special::LaneMaskLe
            | Special::LaneMaskGt
            | Special::LaneMaskGe => self == Taker::Thread,
            Special::Ntid(_)
            | Special::Nctaid(_)
            | Special::DynamicSharedSize
            | Special::NClusterId(_)
            | Special::ClusterCtaId(_)
            | Special::ClusterNctaId(_)
            | Special::ClusterCtaRank
            | Special::ClusterNctaRank
            | Special::ExplicitCluster
            | Special::Workspace { .. }
            | Special::Unpredictable => false,
        }
    }
}

/// Why an operation is not followed behind one that takes an item.
fn refused(op: &Op, taker: Taker) -> Option<&'static str> {
    const WRITES_SHARED: &str =
        "threads or warps that take items write to memory that they share with others";
    // Which items meet in a block's shared memory depends on who takes them.
    let may_share = |space: Space| taker != Taker::Cta && !matches!(space, Space::Global | Space::Local);
    if let Op::Store { space, .. }
    | Op::Atomic { draws: false, space, .. }
    | Op::StoreMatrix { space, .. }
    | Op::StoreFragment { space, .. } = op
        && may_share(*space)
    {
        return Some(WRITES_SHARED);
    }
    if let Op::Async(operation) = op {
        let is_copy = matches!(operation, Async::Copy { .. });
        let is_followed = is_copy
            || matches!(
                operation,
                Async::Prefetch { .. }
                    | Async::Commit { groups: Groups::Plain }
                    | Async::Wait { groups: Groups::Plain, .. }
                    | Async::Fence { .. }
            );
        return match is_followed {
            false => Some(ASYNCHRONOUS),
            true => (is_copy && may_share(Space::Shared)).then_some(WRITES_SHARED),
        };
    }
    match op.effect() {
        Effect::Computes => matches!(op, Op::MapToCta { .. } | Op::CtaRankOf { .. })
            .then_some("an item names the shared memory of another block"),
        Effect::Reads | Effect::Control(_) | Effect::Fault => None,
        Effect::Waits(Wait::Barrier) => (taker != Taker::Cta)
            .then_some("threads or warps that take items meet others at a barrier of the block"),
        Effect::Waits(Wait::Phase) => (!matches!(op, Op::Atomic { .. })).then_some(ASYNCHRONOUS),
        Effect::Waits(Wait::Warp(_)) | Effect::Collective(_) => {
            (taker == Taker::Thread).then_some("threads that take items meet others of their warp")
        }
        Effect::Context => (taker == Taker::Thread && matches!(op, Op::ActiveMask { .. }))
            .then_some("an item depends on the lanes that are active with its thread"),
        Effect::Writes(_) => matches!(op, Op::Swap(_)).then_some("an item ends with a loop of exchanges"),
    }
}

/// The first operation that may follow some instructions and is not followed in an item.
pub(crate) fn refused_behind(
    program: &Program,
    starts: impl Iterator<Item = InstId>,
    taker: Taker,
) -> Option<&'static str> {
    let mut seen = FxHashSet::default();
    let mut work: Vec<u32> = starts.map(|at| at.0).collect();
    while let Some(at) = work.pop() {
        let Some(inst) = program.insts.get(at as usize).filter(|_| seen.insert(at)) else { continue };
        if let Some(why) = refused(&inst.op, taker) {
            return Some(why);
        }
        work.extend(program.successors(at));
    }
    None
}

/// The threads of a taker: warps, each with lanes.
pub(crate) fn threads_of(taker: Taker, thread: u32, warps: usize) -> Vec<(usize, LaneMask)> {
    let warp = thread as usize / 32;
    match taker {
        Taker::Thread => vec![(warp, LaneMask::of(Lane::new(thread % 32)))],
        Taker::Warp => vec![(warp, LaneMask::ALL)],
        Taker::Cta => (warp / warps * warps..).take(warps).map(|warp| (warp, LaneMask::ALL)).collect(),
    }
}

fn position(warp: &Warp, lane: Lane) -> Option<Position> {
    let one = LaneMask::of(lane);
    if !warp.exists.meets(one) {
        return None;
    }
    if warp.exited.meets(one) {
        return Some((InstId::FIRST, Waits::Returned));
    }
    let waiting = [
        (warp.at_barrier, Waits::AtBarrier),
        (warp.at_warp_sync, Waits::AtWarpSync(warp.sync_masks[lane])),
        (warp.at_collective, Waits::AtCollective),
        (warp.at_phase, Waits::ToTake),
    ];
    let waits = waiting.into_iter().find(|(lanes, _)| lanes.meets(one));
    Some((warp.pc[lane], waits.map_or(Waits::Never, |(_, waits)| waits)))
}

impl Before {
    pub(crate) fn of(
        warps: &[Warp],
        threads: &[(usize, LaneMask)],
        barriers: &[State; COUNT],
        first: usize,
    ) -> Before {
        let lanes = threads.iter().flat_map(|(warp, lanes)| lanes.iter().map(|lane| (*warp, lane)));
        let arrived = |arrival: &Arrival| {
            (arrival.warp.wrapping_sub(first), arrival.pc, arrival.waits, arrival.reduces)
        };
        let state = |state: &State| {
            // Who came first is not part of it.
            let mut all: Vec<Arrived> = state.arrivals.iter().map(arrived).collect();
            all.sort_unstable_by_key(|(warp, pc, ..)| (*warp, *pc));
            (state.expected, all)
        };
        Before {
            threads: lanes.map(|(warp, lane)| position(&warps[warp], lane)).collect(),
            barriers: barriers.iter().map(state).collect(),
        }
    }
}

/// Keeps what is the same in both lists.
pub(crate) fn keep_both<T: PartialEq>(own: &mut [Option<T>], other: impl IntoIterator<Item = Option<T>>) {
    for (own, other) in own.iter_mut().zip(other) {
        if *own != other {
            *own = None;
        }
    }
}

/// Addresses of variables: a block's shared memory has other ones than that of another block.
pub(crate) struct Addresses<'l> {
    pub(crate) objects: &'l Objects,
    pub(crate) holds: &'l [Holds],
}

impl Addresses<'_> {
    /// A register's value as it is for the first CTA, at the same place in its shared memory. `None` if that is not
    /// known, because it is computed from an address in some other way.
    fn of(&self, at: usize, value: Value, rank: u32) -> Option<Value> {
        let Value::Bits(bits) = value else { return Some(value) };
        match self.holds[at] {
            Holds::Numbers => return Some(value),
            Holds::Either => return None,
            Holds::Addresses => {}
        }
        let (space, inner) = from_generic(bits);
        let inner = if space == Space::Shared { inner } else { bits };
        let Some((number, _)) = self.objects.find(Space::Shared, inner) else { return Some(value) };
        let first = self.objects.in_cta(inner, 0).filter(|_| self.objects.get(number).rank == rank)?;
        Some(Value::Bits(bits - inner + first))
    }
}

impl Held {
    pub(crate) fn of(warp: &Warp, lane: Lane, addresses: &Addresses<'_>) -> Held {
        let registers = warp.registers.iter().enumerate();
        let registers = registers.map(|(at, register)| addresses.of(at, register.get(lane), warp.rank));
        Held {
            registers: registers.collect(),
            predicates: warp.predicates.iter().map(|predicate| Some(predicate.get(lane))).collect(),
            local: warp.local.iter().map(|cells| Some(cells[lane])).collect(),
        }
    }

    /// Keeps what another thread holds as well.
    pub(crate) fn keep(&mut self, other: Held) {
        keep_both(&mut self.registers, other.registers);
        keep_both(&mut self.predicates, other.predicates);
        keep_both(&mut self.local, other.local);
    }

    /// Drops what items change.
    pub(crate) fn take_out(&mut self, [registers, predicates, local]: &[Vec<bool>; 3]) {
        take_out(&mut self.registers, registers);
        take_out(&mut self.predicates, predicates);
        take_out(&mut self.local, local);
    }

    /// Makes unknown what a thread holds and is not this, and drops it; whether there was something to drop.
    pub(crate) fn forget_rest(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        addresses: &Addresses<'_>,
        pc: InstId,
    ) -> bool {
        let (unknown, rank, mut drops) = (Origin::Unevaluated(pc), warp.rank, false);
        for (at, kept) in self.registers.iter_mut().enumerate() {
            let register = warp.register_mut(RegId(number_of(at)));
            let own = addresses.of(at, register.get(lane), rank);
            if own.is_none() || own != *kept {
                register.set(lane, Value::Undefined(unknown));
                drops |= kept.take().is_some();
            }
        }
        for (at, kept) in self.predicates.iter_mut().enumerate() {
            let predicate = warp.predicate_mut(PredId(number_of(at)));
            if Some(predicate.get(lane)) != *kept {
                predicate.set(lane, Truth::Undefined(unknown));
                drops |= kept.take().is_some();
            }
        }
        for (cells, kept) in warp.local.iter_mut().zip(&mut self.local) {
            if Some(cells[lane]) != *kept {
                cells[lane] = Cell::of(Value::Undefined(unknown));
                drops |= kept.take().is_some();
            }
        }
        drops
    }
}

const ASYNCHRONOUS: &str =
    "an item waits for something, or starts asynchronous operations other than `cp.async`";
pub(crate) const OTHERS: &str = "threads take numbers that did not wait for them with the others";
pub(crate) const ELSEWHERE: &str =
    "numbers are taken at different places of the code, or other threads are elsewhere then";

impl Launch<'_> {
    /// Whether a thread that waits at an instruction waits for all others of its CTA.
    pub(crate) fn meets_all(&self, pc: InstId) -> bool {
        let op = self.program.insts.get(pc.index()).map(|inst| &inst.op);
        matches!(op, Some(Op::Barrier { count: None, kind, .. }) if *kind != Barrier::Arrive)
    }
}

/// What takes items together, if it is the same everywhere.
pub(crate) fn taker_of(warps: &[Warp], waiting: &[u32], of_cta: usize) -> Option<Taker> {
    let lanes_of = |warp: usize| {
        let lanes = waiting.iter().filter(|thread| **thread as usize / 32 == warp);
        lanes.map(|thread| LaneMask::of(Lane::new(thread % 32))).fold(LaneMask::NONE, |all, one| all | one)
    };
    let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
    waiting.iter().for_each(|thread| *counts.entry(*thread as usize / 32 / of_cta).or_default() += 1);
    if counts.values().all(|count| *count == 1) {
        return Some(Taker::Cta);
    }
    let mut live = warps.iter().map(Warp::live).enumerate().filter(|(_, lanes)| !lanes.is_empty());
    if live.clone().all(|(warp, lanes)| lanes_of(warp) == lanes) {
        return Some(Taker::Thread);
    }
    let is_warp = |(warp, lanes): (usize, LaneMask)| {
        let (drawing, own) = (lanes_of(warp), &warps[warp]);
        let others = lanes & !drawing;
        drawing.count() == 1 && (others & !(own.at_collective | own.at_warp_sync)).is_empty()
    };
    live.all(is_warp).then_some(Taker::Warp)
}
