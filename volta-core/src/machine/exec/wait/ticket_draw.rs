//! Atomic operations that draw tickets (rule Y18): who draws when, what it learns, and what is computed from a ticket.

use super::flag_loop::{told_by, word};
use super::lock::learn_behind;
use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::concurrency::race::Detector;
use crate::launch::objects::Backing;
use crate::machine::cta::accesses::{Accesses, LaneAccess, WarpAccess};
use crate::machine::exec::arithmetic::integer::Integer;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::machine::sync::queue::{CounterKey, Queue};
use crate::machine::sync::synchronisation::Synchronisation;
use crate::machine::sync::tickets::{Counter, Learns, MOST_DRAWS};
use crate::program::{InstId, Op, RegId, Src, Strong, Update};
use crate::value::guard::Guard;
use crate::value::packed::{Cell, PackedValues, Ticket};
use crate::value::{Origin, Sym, SymKind, Value};
use crate::verdict::FaultKind;
use std::ops::RangeInclusive;

impl Accesses<'_, '_> {
    /// A lane reaches an operation that draws a ticket. Returns whether it has drawn.
    pub(super) fn draw(&mut self, warp: &mut Warp, lane: Lane, pc: InstId) -> Result<bool, Stop> {
        self.exact()?;
        let program = self.context.launch.program;
        let Op::Atomic { update, scope, space, address, alignment, releases, acquires, d, a, .. } =
            &program.insts[pc.index()].op
        else {
            return Err(Stop::Defect("a ticket is drawn by an operation that is not atomic"));
        };
        let found = self.values.terms.addresses(warp, LaneMask::of(lane), *address, pc)?[lane];
        let (agent, bytes) = (Agent::Atomic { update: *update, scope: *scope }, update.bytes());
        let place = (*space, found);
        let access = LaneAccess { place, bytes, alignment: *alignment, agent, writes: true };
        let mut offsets = [0; 32];
        let mut at = self.locate_lane(warp, lane, pc, access, &mut offsets)?;
        at.access.strong = Some(Strong { scope: *scope, orders: *releases });
        self.context.holds_atomics(warp, lane, &at)?;
        self.context.writable(warp, &at, bytes)?;
        let (key, thread) = ((at.number, at.offsets[lane] / 4), warp.thread(lane));
        if self.sync.tickets.queue.is_some() {
            return self.take_item(warp, lane, &at, (*update, *d, *a));
        }
        let is_changed =
            self.sync.tickets.counters.contains_key(&key) || self.sync.tickets.updated.contains(&key);
        let counts = matches!(update, Update::Counter { .. });
        if is_changed && !counts && self.comes_last(warp, lane, &at, bytes) {
            self.sync.tickets.note_again(key, thread);
            let (how, place) = ((*update, *scope, *releases), (*space, *address, *alignment));
            self.atomic(warp, LaneMask::of(lane), pc, how, place, (*d, *a))?;
            return Ok(true);
        }
        self.sync.keeps_order(warp, lane, &at, (at.offsets[lane], bytes))?;
        if !self.sync.tickets.is_turn(key, thread) {
            self.sync.tickets.waiting.insert(thread, key);
            return Ok(false);
        }
        self.sync.tickets.waiting.remove(&thread);
        let by = self.context.value(warp, *a, lane);
        let turn = self.next_turn(warp, lane, &at, (*update, by))?;
        let is_last = self.sync.tickets.is_last(key, thread);
        let how = self.sync.tickets.learns;
        let learns = how == Learns::AsExecuted || how == Learns::AsLast && is_last;
        let exact = self.sync.order.exact_mut()?;
        let (clocks, number) = (&mut exact.clocks, thread as usize);
        // Accesses with its stamp are this operation alone.
        clocks.release(number);
        let now = clocks.snapshot(number);
        let told = told_by(clocks, &now, *releases);
        let stamp = now.stamp;
        let Some(counter) = self.sync.tickets.counters.get(&key) else {
            return Err(Stop::Defect("a ticket without a counter"));
        };
        let (found, next) = (counter.found[turn], counter.update.counted(counter.found[turn], counter.by));
        let numbers = counter.found.iter().map(|found| u64::from(*found)).collect();
        let agent_of_counter = counter.agent;
        let before: Vec<usize> = counter.drawn.clone();
        let Some(next) = next else { return Err(Stop::Defect("a counter that does not count")) };
        let held = self.peek(warp, lane, &at, key.1);
        if word(held, pc) != Some(found) {
            let why = "it is changed in between by something else";
            return Err(self.context.unclear_draw(warp, lane, &at, why));
        }
        let ticket = self.sync.tickets.note((key, pc), (now, told), is_last && learns);
        self.store_value(warp, lane, &at, at.offsets[lane], bytes, Value::Bits(next.into()))?;
        let exact = self.sync.order.exact_mut()?;
        exact.note_draw((thread, stamp), (number_of(agent_of_counter), number_of(turn + 1)));
        let clocks = &mut exact.clocks;
        clocks.release(number);
        if learns {
            let draws = &self.sync.tickets.draws;
            let before = before.into_iter().map(|other| (&draws[other].now, &draws[other].told, true));
            let of_cta = 32 * self.context.launch.warps();
            let changes = Some((agent_of_counter, number_of(turn + 1)));
            learn_behind(clocks, (number, of_cta), *acquires, before, changes);
        }
        if let Some(d) = d {
            let value = self.values.terms.packed.of_ticket(Ticket { draw: ticket, pc, numbers });
            warp.register_mut(*d).set(lane, value);
        }
        Ok(true)
    }

    /// A lane reaches an operation that gives an item of work. Returns whether it has taken one.
    fn take_item(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        (update, d, a): (Update, Option<RegId>, Src),
    ) -> Result<bool, Stop> {
        let (key, thread) = ((at.number, at.offsets[lane] / 4), warp.thread(lane));
        if !self.sync.tickets.queue.as_mut().is_some_and(|queue| queue.takes_turn(thread)) {
            self.sync.tickets.waiting.insert(thread, key);
            return Ok(false);
        }
        self.sync.tickets.waiting.remove(&thread);
        let by = self.context.value(warp, a, lane);
        let held = self.peek(warp, lane, at, key.1);
        let (Value::Bits(by), Some(found)) = (by, word(held, at.pc)) else {
            let why = "it does not hold a known number";
            return Err(self.unknown_start(warp, lane, at, (held, why)));
        };
        let queue = self.sync.tickets.queue.as_mut();
        let is_one =
            queue.is_some_and(|queue| queue.key() == Some(key) && queue.counts_by(update, by as u32));
        let next = update.counted(found, by as u32).filter(|_| is_one);
        let (Some(next), true) = (next, self.values.terms.guards.of(lane) == Guard::ALWAYS) else {
            let why = "its operations do not all count by one known number, for all inputs";
            return Err(self.context.unclear_draw(warp, lane, at, why));
        };
        self.store_value(warp, lane, at, at.offsets[lane], update.bytes(), Value::Bits(next.into()))?;
        if let Some(d) = d {
            warp.register_mut(d).set(lane, Value::Bits(found.into()));
        }
        Ok(true)
    }

    /// The place of a lane's operation on a counter, which may come before or after every other one.
    fn next_turn(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        (update, by): (Update, Value),
    ) -> Result<usize, Stop> {
        const OTHER: &str = "its operations do not all count by one known number";
        let (key, thread) = ((at.number, at.offsets[lane] / 4), warp.thread(lane) as usize);
        let held = self.peek(warp, lane, at, key.1);
        let Value::Bits(by) = by else { return Err(self.context.unclear_draw(warp, lane, at, OTHER)) };
        if self.sync.tickets.updated.contains(&key) || self.sync.tickets.locks.contains_key(&key) {
            return Err(self.context.unclear_draw(warp, lane, at, OTHER));
        }
        let clocks = &self.sync.order.exact_mut()?.clocks;
        let is_past = |other: usize, stamp: u32| clocks.is_past(thread, other, stamp);
        if self.sync.tickets.asked.iter().any(|(other, stamp)| is_past(*other as usize, *stamp)) {
            self.sync.tickets.note_again(key, number_of(thread));
            let why = "its thread, or one with which it has synchronised, has already asked for the value of a ticket";
            return Err(self.context.unclear_draw(warp, lane, at, why));
        }
        let Some(counter) = self.sync.tickets.counters.get(&key) else {
            let Some(base) = word(held, at.pc) else {
                let why = "what it counts from is not a known number";
                return Err(self.unknown_start(warp, lane, at, (held, why)));
            };
            let agent = self.sync.order.exact_mut()?.clocks.new_agent();
            let counter = Counter::new(update, by as u32, base, agent)
                .ok_or(Stop::Defect("a counter that does not count"))?;
            self.sync.tickets.counters.insert(key, counter);
            return Ok(0);
        };
        let turn = counter.drawn.len();
        let mut draws = counter.drawn.iter().map(|draw| &self.sync.tickets.draws[*draw].now);
        let why = if (counter.update, counter.by) != (update, by as u32) {
            OTHER
        } else if turn >= MOST_DRAWS {
            "there are too many operations on it"
        } else if draws.any(|other| is_past(other.thread, other.stamp)) {
            "some of its operations come after others in every schedule"
        } else {
            return Ok(turn);
        };
        Err(self.context.unclear_draw(warp, lane, at, why))
    }

    /// The fault that a counter does not hold a known number: it was never set, or else it is not followed.
    #[cold]
    fn unknown_start(&self, warp: &Warp, lane: Lane, at: &WarpAccess<'_>, (held, why): (Cell, &str)) -> Stop {
        if let Some(Value::Undefined(origin @ Origin::Unwritten(_))) = held.whole(at.pc)
            && origin.number().is_none()
        {
            let place = self.context.spell(at.object, at.offsets[lane] / 4 * 4, 4);
            let message = format!("an atomic operation counts from {place}, which nothing has set");
            let kind = (FaultKind::Uninitialised, "V6");
            return self.values.terms.undefined_fault(kind, message, origin, (warp, lane, at.pc));
        }
        self.context.unclear_draw(warp, lane, at, why)
    }

    /// Notes an atomic update of a location that draws no ticket.
    pub(crate) fn note_plain_update(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
    ) -> Result<(), Stop> {
        if !self.context.launch.has_tickets {
            return Ok(());
        }
        // Updates of other widths race with it.
        let key: CounterKey = (at.number, at.offsets[lane] / 4);
        let is_counter = self.sync.tickets.queue.as_ref().and_then(Queue::key) == Some(key)
            || self.sync.tickets.counters.contains_key(&key) && !self.comes_last(warp, lane, at, 4);
        if is_counter || self.sync.tickets.locks.contains_key(&key) {
            let why = "it is updated by other operations as well";
            return Err(self.context.unclear_draw(warp, lane, at, why));
        }
        self.sync.tickets.updated.insert(key);
        Ok(())
    }

    /// Whether a lane's operation on a location comes after all changes of it so far.
    pub(crate) fn comes_last(&self, warp: &Warp, lane: Lane, at: &WarpAccess<'_>, bytes: u32) -> bool {
        let Detector::VectorClock(exact) = &self.sync.order else { return false };
        let is_whole =
            matches!(at.object.backing, Backing::Shared(_)) || self.context.launch.clusters.len() == 1;
        let is_after = |cell| exact.is_after_all((at.number, cell), warp.thread(lane), at.pc);
        is_whole
            && self.values.terms.guards.of(lane) == Guard::ALWAYS
            && cells_of(at.offsets[lane], bytes).all(is_after)
    }
}

impl Context<'_> {
    /// The fault of a ticket about which nothing is known.
    #[cold]
    pub(crate) fn unclear_draw(&self, warp: &Warp, lane: Lane, at: &WarpAccess<'_>, why: &str) -> Stop {
        let place = self.spell(at.object, at.offsets[lane] / 4 * 4, 4);
        let message = format!("what an atomic operation on {place} returns is not followed: {why}");
        self.fault(FaultKind::Unsupported, "Y18", message, warp, lane, at.pc)
    }
}

impl Synchronisation<'_> {
    /// Lanes execute an operation: a ticket, or what is computed from one, becomes the number that it is in this order
    /// where the operation does not follow it through all orders.
    #[inline]
    pub(crate) fn settle_tickets(&mut self, packed: &PackedValues, warp: &mut Warp, mask: LaneMask, op: &Op) {
        if !self.tickets.draws.is_empty() {
            op.visit_settled(&mut |source| {
                let Src::Reg(id) = source else { return };
                if warp.register(id).is_concrete(mask) {
                    return;
                }
                for lane in mask {
                    let value = warp.register(id).get(lane);
                    let settled = self.settled(packed, warp, lane, value);
                    warp.register_mut(id).set(lane, settled);
                }
            });
        }
    }

    /// A value, for a ticket the number that it is in this order.
    pub(crate) fn settled(&mut self, packed: &PackedValues, warp: &Warp, lane: Lane, value: Value) -> Value {
        let Some(Ticket { draw, numbers, .. }) = packed.as_ticket(value).cloned() else { return value };
        self.note_asked(warp, lane);
        self.tickets.settle(draw, &numbers).map_or(value, Value::Bits)
    }

    /// The answer to a question about a ticket.
    pub(crate) fn ask_ticket(
        &mut self,
        packed: &PackedValues,
        warp: &Warp,
        lane: Lane,
        sym: Sym,
        holds: impl Fn(u64) -> bool,
    ) -> Option<bool> {
        let SymKind::Ticket(index) = sym.kind() else { return None };
        let Ticket { draw, numbers, .. } = packed.ticket(index).clone();
        self.note_asked(warp, lane);
        Some(self.tickets.answer(draw, &numbers, holds))
    }

    /// Notes that the result of a lane's atomic operation is known, since it comes after all changes so far: all later
    /// ones must come after it.
    pub(crate) fn note_ordered(&mut self, warp: &Warp, lane: Lane, at: &WarpAccess<'_>, bytes: u32) {
        let Detector::VectorClock(exact) = &self.order else { return };
        let thread = warp.thread(lane);
        let stamp = exact.clocks.now(thread as usize);
        for cell in cells_of(at.offsets[lane], bytes) {
            self.tickets.ordered.entry((at.number, cell)).or_default().push((thread, stamp));
        }
    }

    /// Checks that a lane's operation on a location comes after those whose results are known.
    pub(crate) fn keeps_order(
        &self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        (offset, bytes): (u64, u32),
    ) -> Result<(), Stop> {
        if self.tickets.ordered.is_empty() {
            return Ok(());
        }
        let exact = self.order.exact()?;
        let thread = warp.thread(lane) as usize;
        let ordered = |cell| self.tickets.ordered.get(&(at.number, cell)).into_iter().flatten();
        let mut before = cells_of(offset, bytes).flat_map(ordered);
        if before.all(|(other, stamp)| exact.clocks.is_past(thread, *other as usize, *stamp)) {
            return Ok(());
        }
        let why = "nothing orders this operation behind one whose result is used";
        Err(self.context.unclear_draw(warp, lane, at, why))
    }

    /// Notes that a thread does something that depends on a ticket.
    pub(super) fn note_asked(&mut self, warp: &Warp, lane: Lane) {
        let thread = warp.thread(lane);
        if let Detector::VectorClock(exact) = &mut self.order {
            let stamp = exact.clocks.now(thread as usize);
            self.tickets.asked.entry(thread).or_insert(stamp);
        }
    }

    /// Called when no thread can proceed: lets one of those draw that wait for it. Returns whether there is one.
    pub(crate) fn lets_draw(&mut self) -> bool {
        // Of a lock that nobody gives back, no turn comes.
        let waits = self.tickets.order.is_none() && !self.tickets.waiting.is_empty() && !self.tickets.let_go;
        self.tickets.let_go |= waits;
        waits
    }

    /// The fault that threads which wait to draw cannot do so in the order to be executed. None if all of them wait for
    /// locks that others have taken: that is so in each schedule with this order.
    pub(crate) fn cannot_draw(&self) -> Option<Stop> {
        let is_open = |thread: &u32| !self.tickets.refused.contains(thread);
        let (thread, key) = self.tickets.waiting.iter().find(|(thread, _)| is_open(thread))?;
        let place = self.context.spell(self.context.launch.objects.get(key.0), key.1 * 4, 4);
        let message = format!(
            "what an atomic operation on {place} returns is not followed: not every order of its operations was possible"
        );
        let draw = self.tickets.draws.first();
        let sites = draw.map(|draw| self.context.site_of_thread("gets".into(), *thread, draw.pc));
        Some(self.context.fault_at(FaultKind::Unsupported, "Y18", message, sites.into_iter().collect(), None))
    }
}

impl PackedValues {
    /// The result of an integer operation on a ticket and known numbers.
    pub(crate) fn on_ticket(&mut self, op: &Integer<Value>) -> Option<Value> {
        let mut found: Option<&Ticket> = None;
        for word in op.operands() {
            if matches!(word, Value::Bits(_)) {
                continue;
            }
            let ticket = self.as_ticket(*word)?;
            if found.is_some_and(|other| other.draw != ticket.draw) {
                return None;
            }
            found = Some(ticket);
        }
        let Ticket { draw, pc, numbers } = found?.clone();
        let mut results = Vec::with_capacity(numbers.len());
        for turn in 0..numbers.len() {
            let words = op.operands().iter().map(|word| match word {
                Value::Bits(bits) => Some(*bits),
                Value::Sym(_) | Value::Undefined(_) => self.as_ticket(*word)?.numbers.get(turn).copied(),
            });
            let words = words.collect::<Option<smallvec::SmallVec<[u64; 4]>>>()?;
            results.push(op.on(&words).concrete()?);
        }
        Some(self.of_ticket(Ticket { draw, pc, numbers: results.into() }))
    }
}

/// The cells of a range of bytes.
fn cells_of(offset: u64, bytes: u32) -> RangeInclusive<u64> {
    offset / 4..=(offset + u64::from(bytes) - 1) / 4
}
