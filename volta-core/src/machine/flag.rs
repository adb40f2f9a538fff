//! Flags (rule Y15): places in memory that loops wait for. What changed them, and what it means for a wait that these changes
//! may come in any order that happens-before allows.
//!
//! A wait is over in some state: when some of the changes have come, with each all those before it, and all that its thread
//! knows. The order of the others is looked at in *layers*, each of which comes wholly before the next: a state is all of some
//! layers and a part of the next one. Where all of a layer add the same number, each number that any part makes can come, and
//! by more than one part; of different numbers more are taken for possible than may be, and none for impossible that is not.

use super::clock::{Clocks, Joined, Snapshot};
use crate::program::InstId;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// More states of one layer, by what the flag holds in them, are not looked at.
const MOST_STATES: usize = 1 << 13;
/// A flag is not followed for more changes.
const MOST_CHANGES: usize = 1 << 12;

// Why nothing is said.
const UNKNOWN: Unclear = "what it holds before is not a known number";
const OTHER: Unclear = "it is changed by something else than stores and additions of known words";
const UNORDERED: Unclear = "stores to it are not ordered with its other changes";

/// What happens to a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A number is added atomically.
    Add(u32),
    /// A number is stored.
    Set(u32),
    /// Something else.
    Other,
}

impl Change {
    fn added(self) -> Option<u32> {
        match self {
            Change::Add(by) => Some(by),
            Change::Set(_) | Change::Other => None,
        }
    }

    /// What a flag holds behind it, as far as that is known.
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
pub(super) struct Told {
    pub(super) all: Option<Snapshot>,
    /// A fence before it may be one for its own CTA alone.
    pub(super) near: Option<Snapshot>,
}

/// A change of a flag.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) pc: InstId,
    change: Change,
    /// What its thread knew and had done, this change included.
    pub(super) now: Snapshot,
    /// What of that it tells those who wait, and those of them in its own CTA.
    told: Told,
    /// So many of the changes before it, without a gap, are known to its thread.
    known_first: usize,
}

/// A wait that is over.
#[derive(Clone, Debug)]
pub(super) struct Waited<C> {
    pub(super) pc: InstId,
    /// What its thread knew before.
    pub(super) before: Snapshot,
    /// Its thread's stamp behind it.
    pub(super) stamp: u32,
    /// How many changes there were then.
    at: usize,
    pub(super) condition: C,
    pub(super) outcome: Outcome,
}

/// How a wait ends under every schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// It has waited for so many changes, those first in the run, besides what it knew; 0 if it need not wait.
    pub(super) changes: usize,
    /// What it found, if it can be one number only.
    pub(super) found: Option<u32>,
}

/// What is to be said of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// Its condition does not hold yet.
    Stays,
    Leaves(Outcome),
    /// Which changes it waits for depends on the schedule, or whether it sees them: this one may come before its end or after.
    Ambiguous {
        beside: Option<usize>,
    },
}

/// Why nothing is said, in words.
pub(super) type Unclear = &'static str;

/// Whether a loop is left where the flag holds a number.
pub(super) type Leaves<'c> = &'c mut dyn FnMut(u32) -> Result<bool, Unclear>;

/// A flag.
#[derive(Clone, Debug)]
pub(super) struct Flag<C> {
    /// What it held before the changes.
    base: Option<u32>,
    /// The agent that counts its changes, in the order of the run. Who knows of one must not find what was before it.
    pub(super) agent: usize,
    /// Threads of a CTA.
    of_cta: usize,
    /// There are more changes than are followed.
    is_lost: bool,
    pub(super) events: Vec<Event>,
    pub(super) waits: Vec<Waited<C>>,
}

/// All flags.
#[derive(Debug)]
pub(super) struct Flags<C> {
    /// By object and cell.
    pub(super) places: BTreeMap<(u32, u64), Flag<C>>,
    /// What threads have waited for by relaxed loads: a fence lets them know it.
    pub(super) pending: FxHashMap<usize, Joined>,
    /// The same of what threads of their own CTAs have told them.
    pub(super) pending_near: FxHashMap<usize, Joined>,
    /// Threads of a CTA.
    of_cta: usize,
    /// The change that an atomic operation of a thread made last, by the register that got what was there before.
    pub(super) found: FxHashMap<(u32, u32), ((u32, u64), usize)>,
    /// Threads that have waited in rounds of a barrier, and are about to end them there.
    pub(super) rounds: BTreeMap<usize, InstId>,
    /// Changes and waits.
    count: u64,
}

impl<C> Flags<C> {
    /// None yet, for so many threads in a CTA.
    pub(super) fn new(of_cta: usize) -> Flags<C> {
        Flags {
            places: BTreeMap::new(),
            pending: FxHashMap::default(),
            pending_near: FxHashMap::default(),
            of_cta,
            found: FxHashMap::default(),
            rounds: BTreeMap::new(),
            count: 0,
        }
    }

    /// Bytes of what is known of them.
    pub(super) fn bytes(&self) -> u64 {
        let rows: u64 = self.pending.values().chain(self.pending_near.values()).map(Joined::bytes).sum();
        self.count * (size_of::<Event>() + size_of::<Waited<C>>()) as u64
            + rows
            + (self.places.len() * size_of::<Flag<C>>() + self.found.len() * 32) as u64
    }

    /// The flag at a place; one that is new holds `base`.
    pub(super) fn at(
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
            events: Vec::new(),
            waits: Vec::new(),
        })
    }

    /// Notes a change of a flag. Gives the agent that counts its changes, and their number.
    pub(super) fn note(
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

    pub(super) fn note_wait(&mut self, key: (u32, u64), waited: Waited<C>) {
        self.count += 1;
        if let Some(flag) = self.places.get_mut(&key) {
            flag.waits.push(waited);
        }
    }
}

/// Layers that come one after the other: where each begins in a list, and where the last one ends.
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

/// What sums some of these numbers make, all of them and none among them.
fn sums(numbers: &[u32]) -> Result<BTreeSet<u32>, Unclear> {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    numbers.iter().for_each(|number| *counts.entry(*number).or_default() += 1);
    let mut all = BTreeSet::from([0u32]);
    for (number, count) in counts {
        let mut more = BTreeSet::new();
        for times in 0..=count {
            let part = number.wrapping_mul(times);
            more.extend(all.iter().map(|sum| sum.wrapping_add(part)));
            if more.len() > MOST_STATES {
                return Err("its changes can add up to too many numbers");
            }
        }
        all = more;
    }
    Ok(all)
}

/// What a flag may hold, and when.
struct States {
    layers: Vec<Layer>,
    /// Before anything comes that was not known.
    first: u32,
}

/// Changes that come after all those before them, and before all those behind.
struct Layer {
    changes: Vec<usize>,
    /// One number is added, if any is.
    is_even: bool,
    /// What the flag may hold when some of them have come, and not all.
    parts: BTreeSet<u32>,
    /// When all have come.
    whole: u32,
}

impl<C> Flag<C> {
    /// What a change tells a thread.
    fn told(&self, event: usize, to: usize) -> Option<&Snapshot> {
        let Event { told, now, .. } = &self.events[event];
        if now.thread / self.of_cta == to / self.of_cta { told.near.as_ref() } else { told.all.as_ref() }
    }

    /// Whether a thread that knew this must not find what was before a change.
    fn is_known(&self, event: usize, to: &Snapshot) -> bool {
        let Event { now, .. } = &self.events[event];
        to.knows(now.thread) >= now.stamp || to.knows(self.agent) as usize > event
    }

    /// The changes that do not come after something that `thread` did, up to a stamp, after the first `at` ones.
    fn not_after(&self, at: usize, thread: usize, stamp: u32) -> Vec<usize> {
        let is_after = |event: &Event| event.now.thread == thread || event.now.past(thread) >= stamp;
        (0..self.events.len()).filter(|event| *event < at || !is_after(&self.events[*event])).collect()
    }

    /// Whether the thread of a change knew an earlier one.
    fn is_known_to(&self, event: usize, later: usize) -> bool {
        let Event { now, known_first, .. } = &self.events[later];
        event < *known_first || self.is_known(event, now)
    }

    /// Those changes that such a thread knows, and the others.
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

    /// Whether stores are ordered with all other changes, and nothing else happens but additions.
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
                    // What is added to an unknown number is none that is known.
                    return Err(if self.base.is_none() { UNKNOWN } else { OTHER });
                }
            }
        }
        Ok(())
    }

    /// The states in which a flag may be for a thread that knows this, if these changes come.
    fn states(&self, among: &[usize], before: &Snapshot) -> Result<States, Unclear> {
        if self.is_lost {
            return Err("it is changed too often");
        }
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
            let mut parts = BTreeSet::new();
            for left_out in &numbers {
                // All but one of them at most; that none has come is the state before.
                let mut rest = added.clone();
                if let Some(at) = rest.iter().position(|by| by == left_out) {
                    rest.remove(at);
                }
                parts.extend(sums(&rest)?.iter().map(|sum| value.wrapping_add(*sum)));
            }
            value = after(Some(value), own).unwrap_or(value);
            let changes = own.to_vec();
            states.layers.push(Layer { changes, parts, whole: value, is_even: numbers.len() < 2 });
        }
        Ok(states)
    }

    /// How a wait ends for a thread that knows this, if these changes come.
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
                // It goes on without some of the layer, or misses what it waited for.
                if *is_even {
                    return Ok(Judged::Ambiguous { beside: changes.first().copied().filter(|_| is_over) });
                }
                return Err(
                    "different numbers are added to it in any order, and some of them let the loop go on",
                );
            }
            match (leaves(*whole)?, is_over) {
                // All that was known, and that layers hold up to here.
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

    /// Where in a list of changes the last store is: what was before it, a wait does not see.
    fn last_store(&self, among: &[usize]) -> usize {
        let is_store = |at: &usize| !matches!(self.events[*at].change, Change::Add(_));
        among.iter().rposition(is_store).unwrap_or(0)
    }

    /// Those changes that a wait has seen that a thread with this knowledge has made for the first `changes` ones, and the
    /// others.
    fn seen_among(&self, among: &[usize], changes: usize, before: &Snapshot) -> (Vec<usize>, Vec<usize>) {
        let (known, _) = self.known_among(among, before);
        among.iter().partition(|at| **at < changes || known.binary_search(at).is_ok())
    }

    /// A store that may come on top of those changes, and does not tell all that these told, of what was not known before.
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

    /// What a wait for the first `changes` changes learns of these and of those that were known before, and what of it has only
    /// happened; and what of it threads of its own CTA tell.
    pub(super) fn learned(&self, changes: usize, before: &Snapshot) -> [Joined; 2] {
        let [mut joined, mut near] = [Joined::default(), Joined::default()];
        let all: Vec<usize> = (0..self.events.len()).collect();
        let (seen, _) = self.seen_among(&all, changes, before);
        for event in &self.events[..changes] {
            joined.add_past(&event.now);
        }
        for at in &seen[self.last_store(&seen)..] {
            let Some(told) = self.told(*at, before.thread) else { continue };
            joined.add(told);
            if self.events[*at].now.thread / self.of_cta == before.thread / self.of_cta {
                near.add(told);
            }
        }
        [joined, near]
    }

    /// How a wait ends now, and how it ended once all has come.
    pub(super) fn judge_now(&self, before: &Snapshot, leaves: Leaves<'_>) -> Result<Judged, Unclear> {
        let all: Vec<usize> = (0..self.events.len()).collect();
        self.judge(&all, before, leaves)
    }

    pub(super) fn judge_again(&self, waited: &Waited<C>, leaves: Leaves<'_>) -> Result<Judged, Unclear> {
        let among = self.not_after(waited.at, waited.before.thread, waited.stamp);
        self.judge(&among, &waited.before, leaves)
    }

    /// The first change behind a wait that does not come after it.
    pub(super) fn beside(&self, waited: &Waited<C>) -> Option<&Event> {
        let among = self.not_after(waited.at, waited.before.thread, waited.stamp);
        among.into_iter().find(|at| *at >= waited.at).map(|at| &self.events[at])
    }

    /// A wait that is over now.
    pub(super) fn waited(
        &self,
        pc: InstId,
        (before, stamp): (Snapshot, u32),
        condition: C,
        outcome: Outcome,
    ) -> Waited<C> {
        Waited { pc, before, stamp, at: self.events.len(), condition, outcome }
    }

    /// What an atomic operation may have found that made a change, as far as is known.
    pub(super) fn found_by(&self, change: usize) -> Result<BTreeSet<u32>, Unclear> {
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

    /// Numbers that look random.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % end
        }
    }

    /// Changes by threads that learn of one another, and of which changes each one knows, and each change.
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
        /// All sets of changes that may have come where this much is known.
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
            // The set of changes without which the loop is not left, and with which it is.
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
