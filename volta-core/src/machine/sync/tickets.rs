//! Tickets (rule Y18): what atomic operations on a counter return. Nothing orders the operations, so any of their orders
//! may occur. A run executes them in one order and notes what the program asks about each ticket: it speaks for all
//! orders in which each operation gets the same answers. Further orders are run until every order is spoken for.

use super::queue::{CounterKey, Queue};
use crate::concurrency::clock::Snapshot;
use crate::concurrency::flag_changes::Told;
use crate::program::{InstId, Scope, Update};
use crate::value::packed::Ticket;
use std::collections::{BTreeMap, BTreeSet};

/// The most tickets of one counter.
pub(crate) const MOST_DRAWS: usize = 1 << 9;
/// The most orders that are executed.
pub(crate) const MOST_ORDERS: usize = 1 << 8;
/// The most steps to find an order that no run speaks for.
const MOST_STEPS: u64 = 1 << 24;

/// A set of places in the order of a counter's operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turns([u64; MOST_DRAWS / 64]);

impl Turns {
    /// All that there can be.
    fn all() -> Turns {
        Turns([u64::MAX; MOST_DRAWS / 64])
    }

    fn contains(&self, turn: usize) -> bool {
        self.0[turn / 64] >> (turn % 64) & 1 == 1
    }

    fn remove(&mut self, turn: usize) {
        self.0[turn / 64] &= !(1 << (turn % 64));
    }
}

/// For each counter, the threads that draw from it, in some order.
pub(crate) type DrawOrder = BTreeMap<CounterKey, Vec<u32>>;

/// For each counter and each thread that draws from it, the turns with which a run's answers agree.
pub(crate) type Spoken = BTreeMap<CounterKey, BTreeMap<u32, Turns>>;

/// What a thread that draws learns of what the others have released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Learns {
    /// The last one learns from all others, which come before it in each order that agrees with its answers, if these
    /// tell that it is the last.
    #[default]
    AsLast,
    /// Nobody learns: orders differ in who comes before whom.
    Nothing,
    /// Each one learns from those before it, as in this very order.
    AsExecuted,
}

/// A ticket that was drawn.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) key: CounterKey,
    pub(crate) pc: InstId,
    /// Its place in the order of this run.
    pub(crate) turn: usize,
    /// The knowledge of its thread before it.
    pub(crate) now: Snapshot,
    /// What it releases.
    pub(crate) told: Told,
    /// The turns that would have given the same answers.
    possible: Turns,
    /// Whether its thread has learned, as the last one.
    pub(super) has_learned: bool,
}

/// A counter from which threads draw.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    pub(crate) update: Update,
    pub(crate) by: u32,
    /// What each turn finds.
    pub(crate) found: Vec<u32>,
    /// A thread that knows this agent up to some number comes after so many draws of this run.
    pub(crate) agent: usize,
    /// The tickets drawn so far, among all.
    pub(crate) drawn: Vec<usize>,
}

impl Counter {
    pub(crate) fn new(update: Update, by: u32, base: u32, agent: usize) -> Option<Counter> {
        let mut found = Vec::with_capacity(MOST_DRAWS);
        let mut value = base;
        for _ in 0..MOST_DRAWS {
            found.push(value);
            value = update.counted(value, by)?;
        }
        Some(Counter { update, by, found, agent, drawn: Vec::new() })
    }
}

/// Whether a lock is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockState {
    Free,
    /// The next store takes it.
    Taking,
    Taken,
}

/// A word that threads take and give back.
#[derive(Clone, Debug)]
pub(crate) struct Lock {
    /// A thread that knows this agent up to some number comes after so many changes of the word.
    pub(crate) agent: usize,
    pub(crate) changes: u32,
    /// What the thread of the last change knew, what it tells, and the scope of its operation.
    pub(crate) left: Option<(Snapshot, Told, Scope)>,
    pub(crate) state: LockState,
    /// Whether it was written by anything but strong stores since.
    pub(crate) is_written_plainly: bool,
}

impl Lock {
    pub(crate) fn new(agent: usize) -> Lock {
        Lock { agent, changes: 0, left: None, state: LockState::Free, is_written_plainly: false }
    }
}

/// The tickets of a run.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    /// The order to execute; without one, threads draw when no other one can proceed.
    pub(crate) order: Option<DrawOrder>,
    pub(crate) learns: Learns,
    pub(crate) counters: BTreeMap<CounterKey, Counter>,
    pub(crate) locks: BTreeMap<CounterKey, Lock>,
    pub(crate) draws: Vec<Draw>,
    /// Threads that are about to draw, each with the counter.
    pub(crate) waiting: BTreeMap<u32, CounterKey>,
    /// Those of them that found a lock taken when they last tried.
    pub(crate) refused: BTreeSet<u32>,
    /// Whether the next thread that waits may draw: no other one can proceed.
    pub(crate) let_go: bool,
    /// By thread, when it first asked something about a ticket.
    pub(crate) asked: BTreeMap<u32, u32>,
    /// Locations with other atomic updates.
    pub(crate) updated: BTreeSet<CounterKey>,
    /// By location, the thread and the stamp of each atomic operation whose result is known: it comes after all earlier
    /// ones, and must come before all later ones.
    pub(crate) ordered: BTreeMap<CounterKey, Vec<(u32, u32)>>,
    /// Whether a thread would have drawn again after it has used a ticket, as it does where numbers are items of work.
    pub(crate) draws_again: bool,
    /// In a run in which numbers are items of work.
    pub(crate) queue: Option<Queue>,
}

impl Tickets {
    /// Those of a run in an order.
    pub(crate) fn new(order: Option<DrawOrder>, learns: Learns) -> Tickets {
        Tickets { order, learns, ..Tickets::default() }
    }

    /// Those of a run in which numbers are items of work.
    pub(crate) fn of_queue(queue: Queue) -> Tickets {
        Tickets { learns: Learns::Nothing, queue: Some(queue), ..Tickets::default() }
    }

    /// Bytes of what is recorded.
    pub(crate) fn bytes(&self) -> u64 {
        let draws = self.draws.len() * size_of::<Draw>() + self.counters.len() * 4 * MOST_DRAWS;
        draws as u64 + self.queue.as_ref().map_or(0, Queue::bytes)
    }

    /// Notes that a thread is to draw from a counter, which it may have done before.
    pub(crate) fn note_again(&mut self, key: CounterKey, thread: u32) {
        let counter = self.counters.get(&key);
        let own = |draw: &usize| self.draws[*draw].now.thread == thread as usize;
        self.draws_again |= counter.is_some_and(|counter| counter.drawn.iter().any(own));
    }

    /// Whether it is a thread's turn to draw.
    pub(crate) fn is_turn(&mut self, key: CounterKey, thread: u32) -> bool {
        let turn = self.counters.get(&key).map_or(0, |counter| counter.drawn.len());
        match &self.order {
            Some(order) => order.get(&key).and_then(|threads| threads.get(turn)) == Some(&thread),
            None => std::mem::take(&mut self.let_go),
        }
    }

    /// Whether no other thread will draw from a counter, as far as is known.
    pub(crate) fn is_last(&self, key: CounterKey, thread: u32) -> bool {
        match &self.order {
            Some(order) => order.get(&key).and_then(|threads| threads.last()) == Some(&thread),
            None => !self.waiting.iter().any(|(other, of)| *other != thread && *of == key),
        }
    }

    /// Notes a ticket; returns its number.
    pub(crate) fn note(
        &mut self,
        (key, pc): (CounterKey, InstId),
        (now, told): (Snapshot, Told),
        has_learned: bool,
    ) -> u32 {
        let number = self.draws.len();
        let drawn = self.counters.get_mut(&key).map(|counter| {
            counter.drawn.push(number);
            counter.drawn.len() - 1
        });
        let turn = drawn.unwrap_or(0);
        self.draws.push(Draw { key, pc, turn, now, told, possible: Turns::all(), has_learned });
        number as u32
    }

    /// The answer to a question about a ticket, whose numbers by turns are `numbers`. It holds for the turns that would
    /// have given the same answer.
    pub(crate) fn answer(&mut self, draw: u32, numbers: &[u64], holds: impl Fn(u64) -> bool) -> bool {
        let Some(draw) = self.draws.get_mut(draw as usize) else { return false };
        let answer = numbers.get(draw.turn).is_some_and(|number| holds(*number));
        for (turn, number) in numbers.iter().enumerate() {
            if holds(*number) != answer {
                draw.possible.remove(turn);
            }
        }
        answer
    }

    /// The number that a value computed from a ticket is in this order. It holds for the turns that would have given the
    /// same number.
    pub(crate) fn settle(&mut self, draw: u32, numbers: &[u64]) -> Option<u64> {
        let turn = self.draws.get(draw as usize)?.turn;
        let own = *numbers.get(turn)?;
        self.answer(draw, numbers, |number| number == own);
        Some(own)
    }

    /// The number that a ticket is in this order, if there is one.
    pub(crate) fn settled(&mut self, ticket: Option<&Ticket>) -> Option<u64> {
        ticket.and_then(|ticket| self.settle(ticket.draw, &ticket.numbers))
    }

    /// Whether each thread that learned as the last one knows that it is the last.
    pub(crate) fn are_last(&self) -> bool {
        self.draws.iter().filter(|draw| draw.has_learned).all(|draw| {
            let count = self.counters.get(&draw.key).map_or(0, |counter| counter.drawn.len());
            draw.turn + 1 == count && (0..draw.turn).all(|turn| !draw.possible.contains(turn))
        })
    }

    /// The order that was executed.
    pub(crate) fn executed(&self) -> DrawOrder {
        let threads = |counter: &Counter| {
            counter.drawn.iter().map(|draw| self.draws[*draw].now.thread as u32).collect()
        };
        self.counters.iter().map(|(key, counter)| (*key, threads(counter))).collect()
    }

    /// The orders for which the run speaks.
    pub(crate) fn spoken(&self) -> Spoken {
        let mut spoken = Spoken::new();
        for draw in &self.draws {
            let of = spoken.entry(draw.key).or_default();
            of.insert(draw.now.thread as u32, draw.possible.clone());
        }
        spoken
    }
}

/// An order for which no run speaks.
///
/// # Errors
/// If the search takes too long.
pub(crate) fn unspoken(spoken: &[Spoken]) -> Result<Option<DrawOrder>, ()> {
    let Some(first) = spoken.first() else { return Ok(None) };
    let turns = first.iter().flat_map(|(key, threads)| (0..threads.len()).map(move |turn| (*key, turn)));
    let mut turns: Vec<(CounterKey, usize)> = turns.collect();
    // A turn that few threads might have had, such as the last one, tells most.
    turns.sort_by_key(|(key, turn)| first[key].values().filter(|possible| possible.contains(*turn)).count());
    let left = first.iter().map(|(key, threads)| (*key, threads.keys().copied().collect())).collect();
    let mut search = Search { spoken, turns: &turns, left, chosen: BTreeMap::new(), steps: 0 };
    let all: Vec<usize> = (0..spoken.len()).collect();
    Ok(search.find(0, &all)?.then(|| {
        let in_turn = |mut threads: Vec<(usize, u32)>| {
            threads.sort_unstable();
            threads.into_iter().map(|(_, thread)| thread).collect()
        };
        search.chosen.into_iter().map(|(key, threads)| (key, in_turn(threads))).collect()
    }))
}

/// The logarithm of how many runs it takes to speak for all orders if each speaks for as few as this one, at least. A
/// run speaks for the perfect matchings of threads and turns; there are as many as Brègman's bound says at most.
pub(crate) fn runs_at_least(spoken: &Spoken) -> f64 {
    let factorial = |n: usize| (1..=n).map(|n| (n as f64).log2()).sum::<f64>();
    let ways = spoken.values().map(|threads| {
        let all = threads.len();
        let turns = threads.values().map(|turns| (0..all).filter(|turn| turns.contains(*turn)).count());
        factorial(all) - turns.map(|count| factorial(count) / count.max(1) as f64).sum::<f64>()
    });
    ways.sum()
}

/// A search for an order for which no run speaks.
struct Search<'s> {
    spoken: &'s [Spoken],
    /// The turns to be assigned, in this order.
    turns: &'s [(CounterKey, usize)],
    /// The threads that have no turn yet.
    left: BTreeMap<CounterKey, BTreeSet<u32>>,
    /// The turns that are assigned, each with its thread.
    chosen: BTreeMap<CounterKey, Vec<(usize, u32)>>,
    steps: u64,
}

impl Search<'_> {
    /// Assigns the turns from position `at` on; `alive` are the runs that speak for what is chosen so far.
    fn find(&mut self, at: usize, alive: &[usize]) -> Result<bool, ()> {
        if alive.iter().any(|run| self.speaks_for_the_rest(*run, at)) {
            return Ok(false);
        }
        let Some((key, turn)) = self.turns.get(at).copied() else { return Ok(alive.is_empty()) };
        let threads: Vec<u32> = self.left.get(&key).into_iter().flatten().copied().collect();
        for thread in threads {
            self.steps += alive.len() as u64 + 1;
            if self.steps > MOST_STEPS {
                return Err(());
            }
            let agrees = |run: &&usize| self.spoken[**run][&key][&thread].contains(turn);
            let alive: Vec<usize> = alive.iter().filter(agrees).copied().collect();
            self.left.entry(key).or_default().remove(&thread);
            self.chosen.entry(key).or_default().push((turn, thread));
            if self.find(at + 1, &alive)? {
                return Ok(true);
            }
            self.left.entry(key).or_default().insert(thread);
            self.chosen.entry(key).or_default().pop();
        }
        Ok(false)
    }

    /// Whether a run speaks for all orders that agree with what is chosen.
    fn speaks_for_the_rest(&mut self, run: usize, at: usize) -> bool {
        for (key, turn) in &self.turns[at..] {
            let threads = &self.left[key];
            self.steps += threads.len() as u64 / 16;
            if !threads.iter().all(|thread| self.spoken[run][key][thread].contains(*turn)) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: CounterKey = (3, 0);

    /// The orders of `count` threads for which a run speaks in which `asks` tells each thread's turn from others.
    fn spoken(order: &[u32], asks: impl Fn(usize) -> u32) -> Spoken {
        let mut of = BTreeMap::new();
        for (turn, thread) in order.iter().enumerate() {
            let mut turns = Turns::all();
            for other in (0..MOST_DRAWS).filter(|other| asks(*other) != asks(turn)) {
                turns.remove(other);
            }
            of.insert(*thread, turns);
        }
        BTreeMap::from([(KEY, of)])
    }

    /// The number of runs until all orders are spoken for.
    fn runs(count: u32, asks: impl Fn(usize) -> u32 + Copy) -> usize {
        let mut all = vec![spoken(&(0..count).collect::<Vec<_>>(), asks)];
        while let Some(order) = unspoken(&all).expect("few steps") {
            let order = &order[&KEY];
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), count as usize, "each thread once");
            all.push(spoken(order, asks));
        }
        all.len()
    }

    #[test]
    fn as_many_runs_as_there_are_answers() {
        assert_eq!(runs(5, |_| 0), 1, "nobody asks");
        assert_eq!(runs(1, |turn| turn as u32), 1);
        assert_eq!(runs(40, |turn| u32::from(turn == 39)), 40, "who is the last");
        assert_eq!(runs(40, |turn| u32::from(turn == 0)), 40, "who is the first");
        assert_eq!(runs(6, |turn| u32::from(turn == 0) + 2 * u32::from(turn == 5)), 30, "who is either");
        assert_eq!(runs(4, |turn| turn as u32), 24, "each ticket by itself");
        assert_eq!(runs(6, |turn| u32::from(turn >= 3)), 20, "who is in the first half");
    }

    #[test]
    fn runs_are_estimated() {
        let estimate = |count: u32, asks: fn(usize) -> u32| {
            let order: Vec<u32> = (0..count).collect();
            runs_at_least(&spoken(&order, asks)).exp2()
        };
        for (count, asks, runs) in [
            (5, (|_| 0) as fn(usize) -> u32, 1.0),
            (40, |turn| u32::from(turn == 39), 40.0),
            (4, |turn| turn as u32, 24.0),
            (6, |turn| u32::from(turn >= 3), 20.0),
        ] {
            assert!((estimate(count, asks) - runs).abs() < 1e-6, "{count}");
        }
    }

    #[test]
    fn every_order_is_spoken_for() {
        let asks = |turn: usize| u32::from(turn == 2);
        let mut all = vec![spoken(&[0, 1, 2, 3], asks)];
        while let Some(order) = unspoken(&all).expect("few steps") {
            all.push(spoken(&order[&KEY], asks));
        }
        let mut orders: Vec<Vec<u32>> = vec![vec![]];
        for _ in 0..4 {
            let mut longer = Vec::new();
            for order in &orders {
                let others = (0..4).filter(|thread| !order.contains(thread));
                longer.extend(others.map(|thread| [&order[..], &[thread]].concat()));
            }
            orders = longer;
        }
        assert_eq!(orders.len(), 24);
        for order in orders {
            let speaks = |run: &Spoken| {
                order.iter().enumerate().all(|(turn, thread)| run[&KEY][thread].contains(turn))
            };
            assert!(all.iter().any(speaks), "{order:?}");
        }
    }
}
