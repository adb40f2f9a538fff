//! Flags (rule Y15): locations in memory for which loops wait. This module records their changes, and determines the
//! outcomes of a wait if the changes come in any order that happens-before allows.
//!
//! A wait ends in some state of the flag: some of the changes have come, with each change all those that happen before
//! it, and all changes that the waiting thread knows. The other changes are divided into *layers*, each of which comes
//! wholly before the next. A state consists of all changes of some first layers and a part of the next one. If all
//! changes of a layer add the same number, every partial sum can occur, in more than one order. If they add different
//! numbers, the set of partial sums is an over-approximation: it may contain impossible ones and omits none.

use super::clock::{Clocks, Joined, Snapshot};
use crate::program::InstId;
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// The most different contents that the flag may have within one layer.
const MOST_STATES: usize = 1 << 13;
/// The most sums that are formed to determine them.
const MOST_WORK: u64 = 1 << 22;
/// The most changes of a flag that are recorded.
const MOST_CHANGES: usize = 1 << 12;

// Reasons for no result.
const UNKNOWN: Unclear = "its value before the launch is not a known number";
const OTHER: Unclear = "it is changed by operations other than stores and additions of known words";
const UNORDERED: Unclear = "stores to it are not ordered with its other changes";

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A number is added atomically.
    Add(u32),
    /// A number is stored.
    Set(u32),
    /// Anything else.
    Other,
}

impl Change {
    fn added(self) -> Option<u32> {
        match self {
            Change::Add(by) => Some(by),
            Change::Set(_) | Change::Other => None,
        }
    }

    /// The contents of the flag after the change, if known.
    fn applied(self, value: Option<u32>) -> Option<u32> {
        match self {
            Change::Add(by) => value.map(|value| value.wrapping_add(by)),
            Change::Set(to) => Some(to),
            Change::Other => None,
        }
    }
}

/// What a change tells.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) all: Option<Snapshot>,
    /// A fence before it may be one for its own CTA alone.
    pub(crate) near: Option<Snapshot>,
}

/// A change of a flag.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) pc: InstId,
    change: Change,
    /// The knowledge and the time of its thread, this change included.
    pub(crate) now: Snapshot,
    /// The part of that knowledge which the change releases to waiting threads, of any CTA and of its own.
    told: Told,
    /// The thread knows this many of the first changes, without a gap.
    known_first: usize,
}

/// A wait that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Waited<C> {
    pub(crate) pc: InstId,
    /// The load ahead of the loop, if there was one.
    pub(crate) ahead: Option<InstId>,
    /// The knowledge of its thread before the wait.
    pub(crate) before: Snapshot,
    /// The stamp of its thread after the wait.
    pub(crate) stamp: u32,
    /// The number of changes at the end of the wait.
    at: usize,
    pub(crate) condition: C,
    pub(crate) outcome: Outcome,
}

/// A load of a flag ahead of a loop that waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Ahead {
    pub(crate) pc: InstId,
    pub(crate) key: (u32, u64),
    /// The load of the loop.
    pub(crate) load: InstId,
    /// The knowledge of its thread at that time.
    pub(crate) before: Snapshot,
    /// Whether its thread has asked for another round because of it.
    pub(crate) has_asked: bool,
}

/// The outcome of a wait under every schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The wait is for this many changes, the first ones of the run, besides those that the thread knew; 0 if it need
    /// not wait.
    pub(crate) changes: usize,
    /// The value that the last load returned, if it can be one number only.
    pub(crate) found: Option<u32>,
}

/// The result of judging a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    /// The condition does not hold yet.
    Stays,
    Leaves(Outcome),
    /// Which changes the loop waits for, or whether it sees them, depends on the schedule. `beside` is a change that
    /// may come before or after its end.
    Ambiguous {
        beside: Option<usize>,
    },
}

/// The reason for no result, as text.
pub(crate) type Unclear = &'static str;

/// Whether a loop is left if the flag holds a number.
pub(crate) type Leaves<'c> = &'c mut dyn FnMut(u32) -> Result<bool, Unclear>;

/// A flag.
#[derive(Clone, Debug)]
pub(crate) struct Flag<C> {
    /// The contents before the first change, if known.
    base: Option<u32>,
    /// The agent that counts the changes, in the order of the run. A thread that knows one of them must not find older
    /// contents.
    pub(crate) agent: usize,
    /// The number of threads of a CTA.
    of_cta: usize,
    /// There were more changes than are recorded.
    is_lost: bool,
    /// Steps taken to determine its contents that are not charged yet.
    pub(crate) work: Cell<u64>,
    pub(crate) events: Vec<Event>,
    pub(crate) waits: Vec<Waited<C>>,
}

/// All flags of a run.
#[derive(Debug)]
pub(crate) struct Flags<C> {
    /// By object and cell.
    pub(crate) places: BTreeMap<(u32, u64), Flag<C>>,
    /// The number of threads of a CTA.
    of_cta: usize,
    /// By thread and register with the result of an atomic operation: the flag and the index of the change that it
    /// made.
    pub(crate) found: FxHashMap<(u32, u32), ((u32, u64), usize)>,
    /// Threads that have waited in rounds of a barrier, and are about to leave that loop.
    pub(crate) rounds: BTreeMap<usize, InstId>,
    /// By thread, its last load ahead of a loop.
    pub(crate) ahead: FxHashMap<usize, Ahead>,
    /// The number of changes and waits.
    count: u64,
}

impl<C> Flags<C> {
    /// None yet, for so many threads in a CTA.
    pub(crate) fn new(of_cta: usize) -> Flags<C> {
        Flags {
            places: BTreeMap::new(),
            of_cta,
            found: FxHashMap::default(),
            rounds: BTreeMap::new(),
            ahead: FxHashMap::default(),
            count: 0,
        }
    }

    /// Bytes of the recorded changes and waits.
    pub(crate) fn bytes(&self) -> u64 {
        self.count * (size_of::<Event>() + size_of::<Waited<C>>()) as u64
            + (self.places.len() * size_of::<Flag<C>>() + self.found.len() * 32) as u64
            + (self.ahead.len() * size_of::<Ahead>()) as u64
    }

    /// The flag at a place; a new one holds `base`.
    pub(crate) fn at(
        &mut self,
        key: (u32, u64),
        clocks: &mut Clocks,
        base: impl FnOnce() -> Option<u32>,
    ) -> &mut Flag<C> {
        let of_cta = self.of_cta;
        self.places.entry(key).or_insert_with(|| Flag {
            base: base(),
            agent: clocks.new_agent(),
            of_cta,
            is_lost: false,
            work: Cell::new(0),
            events: Vec::new(),
            waits: Vec::new(),
        })
    }

    /// Records a change of a flag. Returns the agent that counts the flag's changes, and their number.
    pub(crate) fn note(
        &mut self,
        key: (u32, u64),
        (change, pc): (Change, InstId),
        (now, told): (Snapshot, Told),
    ) -> Option<(usize, usize)> {
        let flag = self.places.get_mut(&key)?;
        flag.is_lost |= flag.events.len() >= MOST_CHANGES;
        if flag.is_lost {
            return None;
        }
        self.count += 1;
        let known = (0..flag.events.len()).take_while(|event| flag.is_known(*event, &now));
        let known_first = known.count();
        flag.events.push(Event { pc, change, now, told, known_first });
        Some((flag.agent, flag.events.len()))
    }

    pub(crate) fn note_wait(&mut self, key: (u32, u64), waited: Waited<C>) {
        self.count += 1;
        if let Some(flag) = self.places.get_mut(&key) {
            flag.waits.push(waited);
        }
    }
}

/// Divides changes into layers, by how many of the first changes each one's thread knows. Returns the start of each
/// layer, and the end of the last.
fn layers(known_first: &[usize]) -> Vec<usize> {
    let (mut starts, mut least) = (Vec::new(), usize::MAX);
    for (at, known) in known_first.iter().enumerate().rev() {
        least = least.min(*known);
        if least >= at {
            starts.push(at);
        }
    }
    starts.reverse();
    starts.push(known_first.len());
    starts
}

/// The sums of all subsets of some numbers except the whole, in order and without repetition, and the work that this
/// took.
fn sums_of_parts(numbers: &[u32]) -> Result<(Vec<u32>, u64), Unclear> {
    const TOO_MANY: Unclear = "its changes can add up to too many numbers";
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    numbers.iter().for_each(|number| *counts.entry(*number).or_default() += 1);
    // Of the numbers so far: the sums of parts, and the sum of the whole.
    let (mut parts, mut whole, mut work) = (Vec::new(), 0u32, 0);
    for (number, count) in counts {
        let mut more = Vec::new();
        for times in 0..=count {
            let by = number.wrapping_mul(times);
            let before = more.len();
            more.extend(parts.iter().map(|sum: &u32| sum.wrapping_add(by)));
            if times < count {
                more.push(whole.wrapping_add(by));
            }
            work += (more.len() - before) as u64;
            if more.len() > 4 * MOST_STATES || times == count {
                more.sort_unstable();
                more.dedup();
            }
            if more.len() > MOST_STATES {
                return Err(TOO_MANY);
            }
        }
        whole = whole.wrapping_add(number.wrapping_mul(count));
        parts = more;
        if work > MOST_WORK {
            return Err(TOO_MANY);
        }
    }
    Ok((parts, work))
}

/// The possible states of a flag.
struct States {
    layers: Vec<Layer>,
    /// The contents before any change that the thread does not know.
    first: u32,
}

/// Changes that come after all those of earlier layers and before all those of later ones.
struct Layer {
    changes: Vec<usize>,
    /// Whether all additions, if there are any, add the same number.
    is_even: bool,
    /// The possible contents after some of the changes, but not all.
    parts: Vec<u32>,
    /// The contents after all of them.
    whole: u32,
}

impl<C> Flag<C> {
    /// The knowledge that a change releases to a thread.
    fn told(&self, event: usize, to: usize) -> Option<&Snapshot> {
        let Event { told, now, .. } = &self.events[event];
        if now.thread / self.of_cta == to / self.of_cta { told.near.as_ref() } else { told.all.as_ref() }
    }

    /// Whether a thread with this knowledge must not find contents older than a change.
    fn is_known(&self, event: usize, to: &Snapshot) -> bool {
        let Event { now, .. } = &self.events[event];
        to.knows(now.thread) >= now.stamp || to.knows(self.agent) as usize > event
    }

    /// The changes without those after the first `at` ones that follow an action of `thread` with stamp `stamp`.
    fn not_after(&self, at: usize, thread: usize, stamp: u32) -> Vec<usize> {
        let is_after = |event: &Event| event.now.thread == thread || event.now.past(thread) >= stamp;
        (0..self.events.len()).filter(|event| *event < at || !is_after(&self.events[*event])).collect()
    }

    /// Whether a thread with the later knowledge must have found a change that it need not have found before.
    pub(crate) fn is_learned_between(&self, earlier: &Snapshot, later: &Snapshot) -> bool {
        (0..self.events.len()).any(|event| self.is_known(event, earlier) != self.is_known(event, later))
    }

    /// Whether the thread of a change knew an earlier one.
    fn is_known_to(&self, event: usize, later: usize) -> bool {
        let Event { now, known_first, .. } = &self.events[later];
        event < *known_first || self.is_known(event, now)
    }

    /// Divides changes into those that a thread with this knowledge knows, and the others.
    fn known_among(&self, among: &[usize], before: &Snapshot) -> (Vec<usize>, Vec<usize>) {
        let mut known: Vec<usize> = Vec::new();
        let mut others = Vec::new();
        for at in among.iter().rev() {
            let is_known =
                self.is_known(*at, before) || known.iter().any(|later| self.is_known_to(*at, *later));
            if is_known { &mut known } else { &mut others }.push(*at);
        }
        known.reverse();
        others.reverse();
        (known, others)
    }

    /// Checks that stores are ordered with all other changes, and that all other changes are additions.
    fn check_changes(&self, among: &[usize]) -> Result<(), Unclear> {
        for (place, at) in among.iter().enumerate() {
            match self.events[*at].change {
                Change::Add(_) => {}
                Change::Set(_) => {
                    let (before, behind) = (&among[..place], &among[place + 1..]);
                    let is_ordered = before.iter().all(|other| self.is_known_to(*other, *at))
                        && behind.iter().all(|other| self.is_known_to(*at, *other));
                    if !is_ordered {
                        return Err(UNORDERED);
                    }
                }
                Change::Other => {
                    // With an unknown base, even an addition has an unknown result.
                    return Err(if self.base.is_none() { UNKNOWN } else { OTHER });
                }
            }
        }
        Ok(())
    }

    /// The states in which a thread with this knowledge may find a flag, if these changes come.
    fn states(&self, among: &[usize], before: &Snapshot) -> Result<States, Unclear> {
        if self.is_lost {
            return Err("it is changed too often");
        }
        // Each change is compared with each other one.
        self.work.set(self.work.get() + (among.len() * among.len()) as u64 / 4);
        self.check_changes(among)?;
        let (known, others) = self.known_among(among, before);
        let after = |value, changes: &[usize]| {
            changes.iter().fold(value, |value, at| self.events[*at].change.applied(value))
        };
        let first = after(self.base, &known).ok_or(UNKNOWN)?;
        let known_first: Vec<usize> = others
            .iter()
            .enumerate()
            .map(|(place, later)| {
                others[..place].iter().take_while(|other| self.is_known_to(**other, *later)).count()
            })
            .collect();
        let mut states = States { layers: Vec::new(), first };
        let mut value = first;
        for layer in layers(&known_first).windows(2) {
            let own = &others[layer[0]..layer[1]];
            let added: Vec<u32> = own.iter().filter_map(|at| self.events[*at].change.added()).collect();
            if added.len() != own.len() && own.len() > 1 {
                return Err(UNORDERED);
            }
            let numbers: BTreeSet<u32> = added.iter().copied().collect();
            // At most all but one of the changes. With none of them, this is the state before the layer.
            let (sums, work) = sums_of_parts(&added)?;
            self.work.set(self.work.get() + work);
            let parts = sums.iter().map(|sum| value.wrapping_add(*sum)).collect();
            value = after(Some(value), own).unwrap_or(value);
            let changes = own.to_vec();
            states.layers.push(Layer { changes, parts, whole: value, is_even: numbers.len() < 2 });
        }
        Ok(states)
    }

    /// The outcome of a wait for a thread with this knowledge, if these changes come.
    pub(super) fn judge(
        &self,
        among: &[usize],
        before: &Snapshot,
        leaves: Leaves<'_>,
    ) -> Result<Judged, Unclear> {
        let states = self.states(among, before)?;
        let mut awaited = leaves(states.first)?.then_some(0);
        let mut found: BTreeSet<u32> = BTreeSet::from_iter(awaited.map(|_| states.first));
        for Layer { changes, is_even, parts, whole } in &states.layers {
            let is_over = awaited.is_some();
            for value in parts {
                if leaves(*value)? == is_over {
                    continue;
                }
                // The loop is left without some changes of the layer, or misses the change that it waits for.
                if *is_even {
                    return Ok(Judged::Ambiguous { beside: changes.first().copied().filter(|_| is_over) });
                }
                return Err(
                    "different numbers are added to it in no fixed order, and some of them end the loop",
                );
            }
            match (leaves(*whole)?, is_over) {
                // The wait is for all changes that the thread knew and for all layers up to this one.
                (true, false) => awaited = changes.iter().max().map(|last| last + 1),
                (false, true) => return Ok(Judged::Ambiguous { beside: changes.first().copied() }),
                (true, true) | (false, false) => {}
            }
            if awaited.is_some() {
                found.extend(parts.iter().filter(|_| is_over).chain([whole]));
            }
        }
        let Some(changes) = awaited else { return Ok(Judged::Stays) };
        if let Some(beside) = self.not_handed_on(among, changes, before) {
            return Ok(Judged::Ambiguous { beside: Some(beside) });
        }
        let found = if found.len() == 1 { found.first().copied() } else { None };
        Ok(Judged::Leaves(Outcome { changes, found }))
    }

    /// The index of the last store among some changes, or 0: a load after them does not observe those before it.
    fn last_store(&self, among: &[usize]) -> usize {
        let is_store = |at: &usize| !matches!(self.events[*at].change, Change::Add(_));
        among.iter().rposition(is_store).unwrap_or(0)
    }

    /// Of some changes, those that a thread has observed which had this knowledge before and has waited for the first
    /// `changes` changes; and the others.
    fn seen_among(&self, among: &[usize], changes: usize, before: &Snapshot) -> (Vec<usize>, Vec<usize>) {
        let (known, _) = self.known_among(among, before);
        among.iter().partition(|at| **at < changes || known.binary_search(at).is_ok())
    }

    /// A store that may come after the observed changes and does not release everything that these release, apart from
    /// what the thread knew before.
    fn not_handed_on(&self, among: &[usize], changes: usize, before: &Snapshot) -> Option<usize> {
        let (seen, others) = self.seen_among(among, changes, before);
        let told = seen[self.last_store(&seen)..].iter().filter_map(|at| self.told(*at, before.thread));
        let told: Vec<&Snapshot> = told.filter(|told| before.knows(told.thread) < told.stamp).collect();
        others.into_iter().find(|at| {
            let tells = |other: &Snapshot| {
                self.told(*at, before.thread).is_some_and(|own| own.knows(other.thread) >= other.stamp)
            };
            !matches!(self.events[*at].change, Change::Add(_)) && !told.iter().all(|told| tells(told))
        })
    }

    /// The knowledge from a wait for the first `changes` changes and those known before: what they release, and as mere
    /// past, all that happened before them. The second part is what only threads of the own CTA release; the third, what
    /// precedes sequentially consistent fences before them.
    pub(crate) fn learned(&self, changes: usize, before: &Snapshot) -> [Joined; 3] {
        let [mut joined, mut near, mut fences] = std::array::from_fn(|_| Joined::default());
        let all: Vec<usize> = (0..self.events.len()).collect();
        let (seen, _) = self.seen_among(&all, changes, before);
        for event in &self.events[..changes] {
            joined.add_past(&event.now);
        }
        for at in &seen[self.last_store(&seen)..] {
            let Some(told) = self.told(*at, before.thread) else { continue };
            joined.add(told);
            fences.add_fences(&self.events[*at].now);
            if self.events[*at].now.thread / self.of_cta == before.thread / self.of_cta {
                near.add(told);
            }
        }
        [joined, near, fences]
    }

    /// The outcome of a wait, given the changes so far. [`Flag::judge_again`] repeats this at the end, given all
    /// changes that do not come after the wait.
    pub(crate) fn judge_now(&self, before: &Snapshot, leaves: Leaves<'_>) -> Result<Judged, Unclear> {
        let all: Vec<usize> = (0..self.events.len()).collect();
        self.judge(&all, before, leaves)
    }

    pub(crate) fn judge_again(&self, waited: &Waited<C>, leaves: Leaves<'_>) -> Result<Judged, Unclear> {
        let among = self.not_after(waited.at, waited.before.thread, waited.stamp);
        self.judge(&among, &waited.before, leaves)
    }

    /// The first change recorded after a wait that does not come after it by happens-before.
    pub(crate) fn beside(&self, waited: &Waited<C>) -> Option<&Event> {
        let among = self.not_after(waited.at, waited.before.thread, waited.stamp);
        among.into_iter().find(|at| *at >= waited.at).map(|at| &self.events[at])
    }

    /// The record of a wait that ends now.
    pub(crate) fn waited(
        &self,
        (pc, ahead): (InstId, Option<InstId>),
        (before, stamp): (Snapshot, u32),
        condition: C,
        outcome: Outcome,
    ) -> Waited<C> {
        Waited { pc, ahead, before, stamp, at: self.events.len(), condition, outcome }
    }

    /// The values that the atomic operation of a change may have returned.
    pub(crate) fn found_by(&self, change: usize) -> Result<BTreeSet<u32>, Unclear> {
        let Event { now, change: own, .. } = &self.events[change];
        if *own == Change::Other {
            return Err(OTHER);
        }
        let among: Vec<usize> =
            self.not_after(change, now.thread, now.stamp).into_iter().filter(|at| *at != change).collect();
        let states = self.states(&among, now)?;
        let mut found = BTreeSet::from([states.first]);
        for layer in states.layers {
            found.extend(layer.parts);
            found.insert(layer.whole);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % end
        }
    }

    /// Random changes by threads that learn of one another; for each change, the number it adds and the set of changes
    /// that its thread knew, and for each thread the set of changes it knows.
    struct History {
        flags: Flags<()>,
        clocks: Clocks,
        numbers: Vec<u32>,
        before: Vec<u32>,
        known: [u32; THREADS],
    }

    const THREADS: usize = 4;
    const KEY: (u32, u64) = (0, 0);

    fn history(random: &mut Random, numbers: u32) -> History {
        let mut clocks = Clocks::new(THREADS);
        let mut flags = Flags::new(1);
        flags.at(KEY, &mut clocks, || Some(0));
        let (mut added, mut before, mut known) = (Vec::new(), Vec::new(), [0; THREADS]);
        for _ in 0..random.below(14) {
            let [thread, other] = [random.below(THREADS), random.below(THREADS)];
            if random.below(2) == 0 {
                let mut joined = Joined::default();
                clocks.add_to(other, &mut joined);
                clocks.release(other);
                clocks.learn(thread, &mut joined);
                known[thread] |= known[other];
            } else {
                let by = 1 + random.below(numbers as usize) as u32;
                let now = clocks.snapshot(thread);
                clocks.release(thread);
                let _ = flags.note(
                    KEY,
                    (Change::Add(by), InstId::from_index(0)),
                    (now.clone(), Told { near: Some(now.clone()), all: Some(now) }),
                );
                before.push(known[thread]);
                known[thread] |= 1 << added.len();
                added.push(by);
            }
        }
        History { flags, clocks, numbers: added, before, known }
    }

    impl History {
        /// All sets of changes that may have come if this set is known.
        fn states(&self, known: u32) -> Vec<u32> {
            let is_closed = |set: u32| {
                (0..self.numbers.len()).all(|at| set >> at & 1 == 0 || self.before[at] & !set == 0)
            };
            (0..1 << self.numbers.len()).filter(|set| known & !set == 0 && is_closed(*set)).collect()
        }

        fn sum(&self, set: u32) -> u32 {
            (0..self.numbers.len()).filter(|at| set >> at & 1 != 0).map(|at| self.numbers[at]).sum()
        }
    }

    #[test]
    fn judgements_are_those_of_all_orders() {
        let mut random = Random(1);
        let mut counts = [0u32; 4];
        for turn in 0..6_000 {
            let largest = if turn % 3 == 0 { 3 } else { 1 };
            let history = history(&mut random, largest);
            let waiter = random.below(THREADS);
            let (number, by) = (random.below(7) as u32, random.below(3));
            let leaves = |value: u32| match by {
                0 => value >= number,
                1 => value == number,
                _ => value & 1 == number & 1,
            };
            let states = history.states(history.known[waiter]);
            let leaving: Vec<u32> = states.iter().copied().filter(|set| leaves(history.sum(*set))).collect();
            // The least set of changes without which the loop is not left, and with which it is.
            let least = leaving.iter().copied().reduce(|one, other| one & other);
            let least = least
                .filter(|set| states.iter().all(|state| leaves(history.sum(*state)) == (set & !state == 0)));
            let before = history.clocks.snapshot(waiter);
            let judged = history.flags.places[&KEY].judge_now(&before, &mut |value| Ok(leaves(value)));
            match judged {
                Ok(Judged::Stays) => {
                    assert!(leaving.is_empty(), "turn {turn}");
                    counts[0] += 1;
                }
                Ok(Judged::Leaves(Outcome { changes, found })) => {
                    let awaited = history.known[waiter] | ((1 << changes) - 1);
                    assert_eq!(
                        least.map(|least| least | history.known[waiter]),
                        Some(awaited),
                        "turn {turn}"
                    );
                    let values: BTreeSet<u32> = leaving.iter().map(|set| history.sum(*set)).collect();
                    let one = values.first().copied().filter(|_| values.len() == 1);
                    assert!(found == one || largest > 1 && found.is_none(), "turn {turn}");
                    counts[1] += 1;
                }
                Ok(Judged::Ambiguous { .. }) => {
                    assert!(least.is_none() && !leaving.is_empty(), "turn {turn}");
                    counts[2] += 1;
                }
                Err(_) => {
                    assert!(largest > 1, "turn {turn}");
                    counts[3] += 1;
                }
            }
        }
        assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    }
}
