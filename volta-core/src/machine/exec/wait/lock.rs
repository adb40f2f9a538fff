//! Locks (rule Y18): threads that take one draw its turns, in an order that each run executes as it is.

use super::flag_loop::{told_by, word};
use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::concurrency::clock::{Clocks, Joined, Snapshot};
use crate::concurrency::flag_changes::Told;
use crate::machine::cta::accesses::{Accesses, LaneAccess, WarpAccess};
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::machine::sync::synchronisation::Synchronisation;
use crate::machine::sync::tickets::{Counter, Lock, LockState, MOST_DRAWS};
use crate::program::{InstId, Op, Scope, Strong, Update};
use crate::value::Value;
use crate::verdict::FaultKind;
use std::collections::btree_map::Entry;

/// Bytes of a lock.
const BYTES: u32 = 4;
const ACCESSED: &str = "the lock is accessed by other operations as well";

impl Accesses<'_, '_> {
    /// A lane tries to take a lock. Returns whether it has; otherwise it waits.
    pub(super) fn take_lock(&mut self, warp: &mut Warp, lane: Lane, pc: InstId) -> Result<bool, Stop> {
        let program = self.context.launch.program;
        let Op::Swap(swap) = &program.insts[pc.index()].op else {
            return Err(Stop::Defect("a lock is taken by an operation that does not exchange"));
        };
        if !self.context.launch.has_tickets {
            let reason = swap.reason.clone();
            return Err(self.context.fault(FaultKind::Unsupported, "S2", reason, warp, lane, pc));
        }
        self.exact()?;
        let address = self.values.terms.addresses(warp, LaneMask::of(lane), swap.address, pc)?[lane];
        let agent = Agent::Setter { scope: swap.scope };
        let place = (swap.space, address);
        let access = LaneAccess { place, bytes: BYTES, alignment: BYTES, agent, writes: true };
        let mut offsets = [0; 32];
        let mut at = self.locate_lane(warp, lane, pc, access, &mut offsets)?;
        at.access.strong = Some(Strong { scope: swap.scope, orders: swap.releases });
        self.context.holds_atomics(warp, lane, &at)?;
        self.context.writable(warp, &at, BYTES)?;
        let (key, thread) = ((at.number, at.offsets[lane] / 4), warp.thread(lane));
        self.sync.keeps_order(warp, lane, &at, (at.offsets[lane], BYTES))?;
        let held = self.peek(warp, lane, &at, key.1);
        let new = self.context.value(warp, swap.new, lane);
        let expected = swap.expected.map(|expected| self.context.value(warp, expected, lane));
        let unknown =
            || self.context.unclear_draw(warp, lane, &at, "the state of the lock is not a known number");
        let (Some(found), Value::Bits(new)) = (word(held, pc), new) else { return Err(unknown()) };
        let is_free = match expected {
            None => u64::from(found) != new,
            Some(Value::Bits(expected)) => u64::from(found) == expected,
            Some(Value::Sym(_) | Value::Undefined(_)) => return Err(unknown()),
        };
        if !is_free || !self.sync.tickets.is_turn(key, thread) {
            self.sync.tickets.waiting.insert(thread, key);
            self.sync.tickets.refused.remove(&thread);
            self.sync.tickets.refused.extend((!is_free).then_some(thread));
            return Ok(false);
        }
        self.sync.tickets.waiting.remove(&thread);
        self.sync.tickets.refused.remove(&thread);
        self.sync.may_take(warp, lane, &at)?;
        let exact = self.sync.order.exact_mut()?;
        let (clocks, number) = (&mut exact.clocks, thread as usize);
        let lock = self.sync.tickets.locks.entry(key).or_insert_with(|| Lock::new(clocks.new_agent()));
        if let Entry::Vacant(place) = self.sync.tickets.counters.entry(key) {
            let counter = Counter::new(Update::Counter { down: false }, u32::MAX, 0, lock.agent);
            place.insert(counter.ok_or(Stop::Defect("a counter that does not count"))?);
        }
        // Accesses with its stamp are this operation alone.
        clocks.release(number);
        if let Some((before, told, scope)) = &lock.left {
            let of_cta = 32 * self.context.launch.warps();
            let is_near = before.thread / of_cta == number / of_cta;
            // Both operations are strong for threads of one another's CTA, or neither orders anything.
            let is_strong = is_near || [*scope, swap.scope] == [Scope::Launch; 2];
            let changes = is_strong.then_some((lock.agent, lock.changes));
            let before = [(before, told, is_strong)].into_iter();
            learn_behind(clocks, (number, of_cta), swap.acquires, before, changes);
        }
        let now = clocks.snapshot(number);
        let told = told_by(clocks, &now, swap.releases);
        let ticket = self.sync.tickets.note((key, pc), (now, told), false);
        let all = self.sync.tickets.counters.get(&key).into_iter().flat_map(|counter| &counter.found);
        let numbers: Vec<u64> = all.map(|number| u64::from(*number)).collect();
        self.sync.note_asked(warp, lane);
        self.sync.tickets.settle(ticket, &numbers);
        if let Some(lock) = self.sync.tickets.locks.get_mut(&key) {
            lock.state = LockState::Taking;
        }
        self.store_value(warp, lane, &at, at.offsets[lane], BYTES, Value::Bits(new))?;
        if self.sync.tickets.locks.get(&key).is_some_and(|lock| lock.is_written_plainly) {
            return Err(self.context.unclear_draw(warp, lane, &at, ACCESSED));
        }
        warp.register_mut(swap.d).set(lane, Value::Bits(found.into()));
        Ok(true)
    }
}

impl Synchronisation<'_> {
    /// Checks that a lane may take a lock before or after every other thread that takes it.
    fn may_take(&self, warp: &Warp, lane: Lane, at: &WarpAccess<'_>) -> Result<(), Stop> {
        let (key, thread) = ((at.number, at.offsets[lane] / 4), warp.thread(lane) as usize);
        let exact = self.order.exact()?;
        let is_past = |other: usize, stamp: u32| exact.clocks.is_past(thread, other, stamp);
        let (_, reads) = exact.history(key.0, key.1);
        let (is_lock, counter) = (self.tickets.locks.contains_key(&key), self.tickets.counters.get(&key));
        let drawn = || {
            counter.into_iter().flat_map(|counter| &counter.drawn).map(|draw| &self.tickets.draws[*draw].now)
        };
        let why = if self.tickets.asked.iter().any(|(other, stamp)| is_past(*other as usize, *stamp)) {
            "its thread, or one with which it has synchronised, has already taken a lock, or asked for the value of a ticket"
        } else if !reads.is_empty() {
            // Threads that try in vain access the lock as well, at any time.
            ACCESSED
        } else if counter.is_none() && self.tickets.updated.contains(&key) {
            "the lock is updated by other operations as well"
        } else if counter.is_some() && (!is_lock || drawn().count() >= MOST_DRAWS) {
            "there are too many or other operations on the lock"
        } else if drawn().any(|other| is_past(other.thread, other.stamp)) {
            "it is taken by some threads after others in every schedule"
        } else {
            return Ok(());
        };
        Err(self.context.unclear_draw(warp, lane, at, why))
    }

    /// Which lock a thread waits for that has found it taken, in words.
    pub(crate) fn lock_waited_for(&self, thread: u32) -> Option<String> {
        let key = self.tickets.waiting.get(&thread).filter(|_| self.tickets.refused.contains(&thread))?;
        let place = self.context.spell_flag(*key);
        let (taker, ..) = self.tickets.locks.get(key)?.left.as_ref()?;
        let who = self.context.launch.thread(self.context.linear, number_of(taker.thread));
        Some(format!("{place}, which {who} has taken and nobody gives back"))
    }

    /// Notes an access to what may be a lock: by strong stores it is taken, and given back once after that. Threads that
    /// try to take it in vain are not executed, so that no other access may depend on them.
    pub(crate) fn note_lock(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
        writes: bool,
    ) -> Result<(), Stop> {
        let key = (at.number, cell);
        let Some(lock) = self.tickets.locks.get_mut(&key) else { return Ok(()) };
        let scope = at.agent.scope().filter(|_| matches!(at.agent, Agent::Setter { .. }));
        if writes && scope.is_none() {
            lock.is_written_plainly = true;
            return Ok(());
        }
        lock.state = match lock.state {
            LockState::Taking => LockState::Taken,
            LockState::Taken if writes => LockState::Free,
            LockState::Taken | LockState::Free => {
                return Err(self.context.unclear_draw(warp, lane, at, ACCESSED));
            }
        };
        let exact = self.order.exact_mut()?;
        let (clocks, number) = (&mut exact.clocks, warp.thread(lane) as usize);
        let now = clocks.snapshot(number);
        let told = told_by(clocks, &now, at.access.strong.is_some_and(|strong| strong.orders));
        clocks.release(number);
        lock.changes += 1;
        let mut seen = Joined::default();
        seen.set(lock.agent, lock.changes);
        clocks.learn(number, &mut seen);
        let found_by = (number_of(lock.agent), lock.changes);
        exact.note_change((number_of(number), now.stamp), found_by);
        exact.clocks.release(number);
        if let Some(lock) = self.tickets.locks.get_mut(&key) {
            lock.left = scope.map(|scope| (now, told, scope));
        }
        Ok(())
    }
}

/// A thread, of CTAs of so many threads, learns by a strong operation what others before it tell, each strong for the
/// thread or not, and that so many changes have happened.
pub(super) fn learn_behind<'d>(
    clocks: &mut Clocks,
    (thread, of_cta): (usize, usize),
    acquires: bool,
    before: impl Iterator<Item = (&'d Snapshot, &'d Told, bool)>,
    changes: Option<(usize, u32)>,
) {
    let (mut far, mut near, mut seen) = (Joined::default(), Joined::default(), Joined::default());
    for (now, told, is_strong) in before {
        let is_near = now.thread / of_cta == thread / of_cta;
        far.add_past(now);
        let told_here = if is_near { &told.near } else { &told.all };
        told_here.iter().filter(|_| is_strong).for_each(|told| far.add(told));
        told.near.iter().filter(|_| is_near).for_each(|told| near.add(told));
        if is_strong {
            seen.add_fences(now);
        }
    }
    clocks.learn_past(thread, &far);
    if acquires {
        clocks.learn(thread, &mut far);
    } else {
        clocks.keep(thread, &far, false);
        clocks.keep(thread, &near, true);
    }
    if let Some((agent, changes)) = changes {
        seen.set(agent, changes);
    }
    clocks.learn(thread, &mut seen);
    clocks.release(thread);
}
