//! Taking items of a queue of work (rule Y18).

use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::race::{Detector, Items};
use crate::launch::objects::{Backing, Object};
use crate::machine::cta::Cta;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::machine::sync::queue::{
    Addresses, Before, Changed, CounterKey, ELSEWHERE, Held, OTHERS, Queue, Schedule, Taken, Taker,
    keep_both, refused_behind, take_out, taker_of, threads_of,
};
use crate::program::{InstId, Op, RegId, Special};
use crate::value::packed::Cell;
use crate::value::{Origin, Value};
use crate::verdict::FaultKind;
use std::ops::Range;

impl Cta<'_> {
    /// No thread can proceed: determines which of those that wait for a number of a queue gets the next one. Returns
    /// whether one does.
    pub(crate) fn next_item(&mut self, warps: &mut [Warp]) -> Result<bool, Stop> {
        let Some(mut queue) = self.sync.tickets.queue.take() else { return Ok(false) };
        let found = self.next_item_of(&mut queue, warps);
        self.sync.tickets.queue = Some(queue);
        found
    }

    fn next_item_of(&mut self, queue: &mut Queue, warps: &mut [Warp]) -> Result<bool, Stop> {
        let schedule = queue.schedule;
        let waiting = &self.sync.tickets.waiting;
        let Some((first, key)) = waiting.first_key_value().map(|(thread, key)| (*thread, *key)) else {
            return Ok(false);
        };
        if waiting.values().any(|other| *other != key) {
            return Err(self.unclear_queue("threads take numbers from several counters"));
        }
        let waiting: Vec<u32> = waiting.keys().copied().collect();
        let taken = match &mut queue.taken {
            Some(taken) => taken,
            none @ None => none.insert(self.first_items(warps, key, &waiting, &queue.changed)?),
        };
        let counts = &mut taken.counts;
        if taken.key != key || waiting.iter().any(|thread| !counts.contains_key(thread)) {
            return Err(self.unclear_queue(OTHERS));
        }
        // Items go to all in turn, so that a message mostly shows two takers.
        let place = |thread: &u32| match schedule {
            None | Some(Schedule::Forwards) => (counts.get(thread).copied(), *thread),
            Some(Schedule::Backwards) => (counts.get(thread).copied(), !thread),
            Some(Schedule::Alone) => (None, *thread),
        };
        let thread = waiting.iter().copied().min_by_key(place);
        let thread = thread.unwrap_or(first);
        counts.entry(thread).and_modify(|count| *count += 1);
        taken.turn = Some(thread);
        taken.waiting = waiting.len();
        let of_thread = |held: &Held| held.registers.len() + held.predicates.len() + held.local.len();
        let work = taken.threads.iter().map(of_thread).sum::<usize>() + taken.shared.len();
        self.work.looked_at += work as u64 / 4;
        self.work.check_more(0)?;
        let threads = threads_of(taken.taker, thread, self.context.launch.warps());
        if self.before(warps, &threads) != taken.before {
            return Err(self.unclear_queue(ELSEWHERE));
        }
        if !self.sync.is_nothing_under_way() {
            return Err(self.unclear_queue("copies are in flight when a number is taken"));
        }
        let addresses = Addresses { objects: &self.context.launch.objects, holds: &taken.holds };
        let lanes = threads.iter().flat_map(|(warp, lanes)| lanes.iter().map(|lane| (*warp, lane)));
        for ((warp, lane), held) in lanes.clone().zip(&mut taken.threads).filter(|_| schedule.is_none()) {
            taken.is_changed |= held.forget_rest(&mut warps[warp], lane, &addresses, taken.pc);
        }
        let is_other = |(warp, lane): &(usize, Lane)| {
            let warp = &warps[*warp];
            warp.thread(*lane) != thread && warp.live().meets(LaneMask::of(*lane))
        };
        let others: Vec<(usize, Lane)> = lanes.clone().filter(is_other).collect();
        let meets = |(warp, lane): &(usize, Lane)| self.context.launch.meets_all(warps[*warp].pc[*lane]);
        taken.is_apart |= taken.taker == Taker::Cta && !others.iter().all(meets);
        let other = others.first().map(|(warp, lane)| warps[*warp].thread(*lane));
        self.note_tails(thread, other)?;
        let own = self.shared_of(thread);
        let counter = match self.context.launch.objects.get(key.0).backing {
            Backing::Shared(first) => Some(u64::from(first) + key.1),
            Backing::Tensor(_) | Backing::Local(_) => None,
        };
        let cells = (own.start as u64..).zip(&mut self.memory.shared[own]);
        for ((at, cell), kept) in cells.zip(&mut taken.shared) {
            if schedule.is_none() && Some(*cell) != *kept && counter != Some(at) {
                *cell = Cell::of(Value::Undefined(Origin::Unevaluated(taken.pc)));
                taken.is_changed |= kept.take().is_some();
            }
        }
        let Some(next) = taken.items.checked_add(1) else {
            return Err(self.unclear_queue("there are too many items"));
        };
        taken.items = next;
        let exact = self.sync.order.exact_mut()?;
        if let Some(items) = &mut exact.items {
            for (warp, lane) in lanes {
                items.of_thread[warp * 32 + lane.index()] = next;
            }
        }
        Ok(true)
    }

    /// All takers wait for their first numbers.
    fn first_items(
        &mut self,
        warps: &[Warp],
        key: CounterKey,
        waiting: &[u32],
        changed: &Changed,
    ) -> Result<Taken, Stop> {
        let launch = self.context.launch;
        let is_alone = !(launch.has_flags
            || launch.has_locks
            || launch.has_sets
            || launch.overlaps
            || launch.is_dependent
            || launch.cluster != [1; 3]
            || self.values.terms.survey.is_some());
        if !is_alone {
            let why = "the launch has flags, locks, clusters or an output that is compared as a multiset, or overlaps";
            return Err(self.unclear_queue(why));
        }
        let Some(taker) = taker_of(warps, waiting, launch.warps()) else {
            return Err(self.unclear_queue("it is not clear which threads take an item together"));
        };
        let [first, ..] = waiting else { return Err(self.unclear_queue(OTHERS)) };
        let of = |thread: u32| threads_of(taker, thread, launch.warps());
        let before = self.before(warps, &of(*first));
        let holds = launch.program.addresses();
        let addresses = Addresses { objects: &launch.objects, holds: &holds };
        let mut threads: Option<Vec<Held>> = None;
        let mut shared: Option<Vec<Option<Cell>>> = None;
        for thread in waiting {
            let own = of(*thread);
            if self.before(warps, &own) != before {
                return Err(self.unclear_queue(ELSEWHERE));
            }
            let lanes = own.iter().flat_map(|(warp, lanes)| lanes.iter().map(|lane| (*warp, lane)));
            let held = lanes.map(|(warp, lane)| Held::of(&warps[warp], lane, &addresses));
            match &mut threads {
                None => threads = Some(held.collect()),
                Some(common) => common.iter_mut().zip(held).for_each(|(common, held)| common.keep(held)),
            }
            let cells = self.memory.shared[self.shared_of(*thread)].iter().map(|cell| Some(*cell));
            match &mut shared {
                None => shared = Some(cells.collect()),
                Some(common) => keep_both(common, cells),
            }
        }
        let starts = before.threads.iter().flatten().map(|(pc, _)| *pc);
        if let Some(why) = refused_behind(launch.program, starts, taker) {
            return Err(self.unclear_queue(why));
        }
        let private = launch.objects.iter().filter_map(|(number, object)| match object.backing {
            Backing::Shared(first) if taker == Taker::Cta => {
                Some((number, u64::from(first - object.rank * launch.shared_cells)))
            }
            Backing::Shared(_) | Backing::Local(_) | Backing::Tensor(_) => None,
        });
        let exact = self.sync.order.exact_mut()?;
        let live: Vec<u32> =
            warps.iter().flat_map(|warp| warp.live().iter().map(|lane| warp.thread(lane))).collect();
        let known_to = |agent: u32, knows: &dyn Fn(u32) -> bool| {
            // A thread always knows itself.
            let others = live.iter().filter(|thread| **thread != agent && knows(**thread));
            let known = others.map(|thread| exact.clocks.knows(*thread as usize, agent as usize));
            known.min().unwrap_or(u32::MAX)
        };
        let all = || 0..number_of(launch.thread_numbers());
        let known = all().map(|agent| known_to(agent, &|_| true)).collect();
        let in_block = |agent: u32| {
            let rank = launch.rank_of(agent);
            known_to(agent, &|thread| launch.rank_of(thread) == rank)
        };
        let known_in_block = all().map(in_block).collect();
        let is_shared = |object: &Object| matches!(object.backing, Backing::Shared(_));
        let all_shared = launch.objects.iter().filter(|(_, object)| is_shared(object));
        let mut items = Items::new(launch.thread_numbers(), private.collect(), known);
        items.known_in_block = known_in_block;
        items.shared.extend(all_shared.map(|(number, _)| number));
        exact.items = Some(Box::new(items));
        let pc = warps[*first as usize / 32].pc[Lane::new(first % 32)];
        let (mut threads, mut shared) = (threads.unwrap_or_default(), shared.unwrap_or_default());
        threads.iter_mut().zip(&changed.threads).for_each(|(held, changed)| held.take_out(changed));
        take_out(&mut shared, &changed.shared);
        Ok(Taken {
            key,
            taker,
            by: None,
            pc,
            before,
            threads,
            shared,
            is_changed: false,
            holds,
            counts: waiting.iter().map(|thread| (*thread, 0)).collect(),
            turn: None,
            waiting: waiting.len(),
            items: 0,
            is_apart: false,
        })
    }

    /// Notes which accesses to its CTA's shared memory a thread that takes an item is not ordered after, until it meets
    /// the others.
    fn note_tails(&mut self, thread: u32, other: Option<u32>) -> Result<(), Stop> {
        let exact = self.sync.order.exact_mut()?;
        let last = other.map(|other| (thread, other, exact.clocks.knows(thread as usize, other as usize)));
        if let Some(items) = &mut exact.items {
            items.last = last;
        }
        let rank = self.context.launch.rank_of(thread);
        for (number, object) in self.context.launch.objects.iter() {
            if matches!(object.backing, Backing::Shared(_)) && object.rank == rank {
                exact.note_tails(thread, number, 0..object.size.div_ceil(4));
            }
        }
        Ok(())
    }

    /// All have returned.
    pub(crate) fn end_items(&self) -> Result<(), Stop> {
        let taken = self.sync.tickets.queue.as_ref().and_then(|queue| queue.taken.as_ref());
        let Detector::VectorClock(exact) = &self.sync.order else { return Ok(()) };
        let overlap = || exact.items.as_ref().is_some_and(|items| items.overlap());
        if taken.is_some_and(|taken| taken.is_apart || overlap()) {
            let why = "what a block does in shared memory for an item may not be ordered before what it does for the \
                       next one: a barrier in front of taking a number orders it";
            return Err(self.unclear_queue(why));
        }
        Ok(())
    }

    /// The state of the threads of a taker.
    fn before(&self, warps: &[Warp], threads: &[(usize, LaneMask)]) -> Before {
        let first = threads.first().map_or(0, |(warp, _)| *warp);
        let of_cta = self.context.launch.warps();
        let barriers = &self.sync.barriers.states[first / of_cta];
        Before::of(warps, threads, barriers, first / of_cta * of_cta)
    }

    /// The cells of shared memory of a thread's CTA.
    fn shared_of(&self, thread: u32) -> Range<usize> {
        let (launch, cells) = (self.context.launch, self.context.launch.shared_cells as usize);
        let rank = launch.rank_of(thread) as usize;
        rank * cells..(rank + 1) * cells
    }

    /// The fault of a queue that is not followed.
    #[cold]
    fn unclear_queue(&self, why: &str) -> Stop {
        let message = format!("which thread takes which item of work is not followed: {why}");
        let draw = self.sync.tickets.waiting.keys().next();
        let site = draw.and_then(|thread| {
            let insts = &self.context.launch.program.insts;
            let at = insts.iter().position(|inst| matches!(inst.op, Op::Atomic { draws: true, .. }))?;
            Some(self.context.site_of_thread("takes a number".into(), *thread, InstId::from_index(at)))
        });
        self.context.fault_at(FaultKind::Unsupported, "Y18", message, site.into_iter().collect(), None)
    }

    /// Makes what a special register holds unknown where it tells those apart that take items.
    pub(crate) fn forget_taker(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        (d, special): (RegId, Special),
    ) {
        let queue = self.sync.tickets.queue.as_ref().filter(|queue| queue.schedule.is_none());
        let taken = queue.and_then(|queue| queue.taken.as_ref());
        if taken.is_some_and(|taken| taken.taker.is_told_by(special, self.context.launch)) {
            warp.register_mut(d).fill(mask, Value::Undefined(Origin::Unevaluated(pc)));
        }
    }
}
