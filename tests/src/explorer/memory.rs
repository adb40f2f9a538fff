//! Memory: the accesses of a run of control, in every order that happens-before permits.

use std::collections::HashSet;

use super::control::{Arrival, Control};
use super::emit::Style;
use super::{Act, Cell, Final, Findings, Operation, Pace, Place, Search, Stored, Thread, TooLarge, Transfer};
use super::{COPIES, THREADS, Update, Use};

/// The most agents: threads, and the copies that they start.
const AGENTS: usize = THREADS + COPIES;

/// The step of each agent and, if values are tracked, the contents of memory and registers.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: [u8; AGENTS],
    values: Option<Box<Values>>,
}

/// The contents of memory and registers.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Values {
    now: Final,
    /// What each copy has read and not yet written.
    carried: Vec<[u16; 4]>,
}

/// An asynchronous copy: an agent whose first step is to read and whose second step is to write.
struct Copy {
    thread: usize,
    step: usize,
    transfer: Transfer,
}

/// The number of steps of a copy.
const COPY_STEPS: u8 = 2;

/// An arrival that must happen after a release of the generation before.
struct Successor<'c> {
    arrival: &'c Arrival,
    /// The steps at which the generation before waited.
    waiters: Vec<Place>,
}

/// Explores the memory of a program.
pub(super) struct Memory<'r> {
    threads: &'r [Thread],
    copies: Vec<Copy>,
    /// Whether there are different atomics of the same bytes.
    may_matter: bool,
    search: Search,
}

impl<'r> Memory<'r> {
    /// The explorer of these threads; `None` if there are too many copies.
    pub(super) fn new(threads: &'r [Thread], search: Search) -> Option<Memory<'r>> {
        let mut copies = Vec::new();
        for (number, thread) in threads.iter().enumerate() {
            for (step, what) in thread.steps.iter().enumerate() {
                if let Act::Copy(transfer) = what.act {
                    copies.push(Copy { thread: number, step, transfer });
                }
            }
        }
        let update = |act| if let Act::Update(update) = act { Some(update) } else { None };
        let steps = threads.iter().flat_map(|thread| &thread.steps);
        let updates: Vec<Update> = steps.filter_map(|step| update(step.act)).collect();
        let differs =
            |one: &Update| updates.iter().any(|other| one.meets(*other) && one.operation != other.operation);
        let may_matter = updates.iter().any(differs);
        (copies.len() <= COPIES).then_some(Memory { threads, copies, may_matter, search })
    }

    /// Whether a race was found, and exploring further accesses cannot find more.
    pub(super) fn is_settled(&self, findings: &Findings) -> bool {
        findings.race && (findings.matters || !self.may_matter)
    }

    /// Explores the accesses of all agents up to where control ends.
    pub(super) fn explore(
        &self,
        control: &Control,
        initial: Option<Final>,
        findings: &mut Findings,
    ) -> Result<(), TooLarge> {
        let successors = successors(control);
        // An agent that only passes a step disables nothing, so passing it as soon as possible loses no race. Early
        // arrivals depend on agents that have not passed certain steps yet; these steps are passed in all orders.
        let held = successors.iter().flat_map(|next| next.waiters.iter().chain(&next.arrival.places));
        let held = held.copied().collect();
        let run = Run { memory: self, control, waits: self.waits(control), held };
        let carried = vec![[0; 4]; self.copies.len()];
        let values = initial.map(|now| Box::new(Values { now, carried }));
        let mut first = State { at: [0; AGENTS], values };
        run.pass(&mut first);
        let mut seen = HashSet::from([first.clone()]);
        let mut todo = vec![first];
        while let Some(state) = todo.pop() {
            findings.states += 1;
            if findings.states > self.search.limit {
                return Err(TooLarge);
            }
            run.look_for_races(&state, findings);
            findings.unordered_arrival |= successors.iter().any(|successor| successor.may_be_early(&state));
            let ambiguity_is_known = successors.is_empty() || findings.unordered_arrival;
            if self.is_settled(findings) && ambiguity_is_known && !self.search.all_races {
                return Ok(());
            }
            let mut last = true;
            for agent in 0..run.agents() {
                if let Some(mut next) = run.step(&state, agent) {
                    last = false;
                    run.pass(&mut next);
                    if !seen.contains(&next) {
                        seen.insert(next.clone());
                        todo.push(next);
                    }
                }
            }
            if last && let Some(values) = state.values {
                findings.finals.insert(values.now);
            }
        }
        Ok(())
    }

    /// For each step of each agent, the steps that must have been reached before.
    fn waits(&self, control: &Control) -> Vec<Vec<Vec<Place>>> {
        let threads = self.threads;
        let mut waits: Vec<Vec<Vec<Place>>> =
            threads.iter().map(|thread| vec![Vec::new(); thread.steps.len()]).collect();
        for generation in control.past.values().flatten() {
            let places = |arrival: &Arrival| arrival.places.clone();
            let mut before: Vec<Place> = generation.arrivals.iter().flat_map(places).collect();
            if self.search.relaxed.exits {
                before.extend(&generation.returned);
            }
            for arrival in generation.arrivals.iter().filter(|arrival| arrival.how != Use::Arrive) {
                for place in &arrival.places {
                    waits[usize::from(place.0)][usize::from(place.1)].clone_from(&before);
                }
            }
        }
        for (meeting, gone) in &control.met {
            let mut before = meeting.clone();
            if self.search.relaxed.exits {
                before.extend(gone);
            }
            for (thread, step) in meeting {
                let act = threads[usize::from(*thread)].steps[usize::from(*step)].act;
                if self.search.relaxed.collectives || matches!(act, Act::WarpSync(_)) {
                    waits[usize::from(*thread)][usize::from(*step)].clone_from(&before);
                }
            }
        }
        for (number, thread) in threads.iter().enumerate() {
            let (mut open, mut groups) = (Vec::new(), Vec::new());
            for (step, what) in thread.steps.iter().enumerate() {
                match what.act {
                    Act::Copy(_) => {
                        let is_it = |copy: &Copy| copy.thread == number && copy.step == step;
                        let agent = self.copies.iter().position(is_it).map(|at| threads.len() + at);
                        open.extend(agent.map(|agent| (agent as u8, COPY_STEPS)));
                    }
                    Act::Commit => groups.push(std::mem::take(&mut open)),
                    Act::Wait(Some(pending)) => {
                        let done = groups.len().saturating_sub(usize::from(pending));
                        waits[number][step] = groups[..done].concat();
                    }
                    Act::Wait(None) => {
                        waits[number][step] = groups.concat();
                        waits[number][step].extend(&open);
                    }
                    Act::Read(_)
                    | Act::Write(..)
                    | Act::Update(_)
                    | Act::Barrier { .. }
                    | Act::WarpSync(_)
                    | Act::Shuffle { .. }
                    | Act::Exit => {}
                }
            }
        }
        // A copy begins when its thread has passed it, and its second step waits for nothing.
        let begun = |copy: &Copy| vec![vec![(copy.thread as u8, copy.step as u8 + 1)], Vec::new()];
        waits.extend(self.copies.iter().map(begun));
        waits
    }
}

fn successors(control: &Control) -> Vec<Successor<'_>> {
    let mut successors = Vec::new();
    for (id, past) in &control.past {
        let open = control.open.get(id).map(Vec::as_slice).unwrap_or_default();
        let later = past.iter().skip(1).map(|generation| generation.arrivals.as_slice()).chain([open]);
        for (before, arrivals) in past.iter().zip(later) {
            let waiting = before.arrivals.iter().filter(|arrival| arrival.how != Use::Arrive);
            let waiters: Vec<Place> = waiting.flat_map(|arrival| arrival.places.clone()).collect();
            let successor = |arrival| Successor { arrival, waiters: waiters.clone() };
            successors.extend(arrivals.iter().map(successor));
        }
    }
    successors
}

impl Successor<'_> {
    /// Whether the arrival has been reached although no thread of the previous generation has been released.
    fn may_be_early(&self, state: &State) -> bool {
        self.arrival.places.iter().all(|(thread, step)| state.at[usize::from(*thread)] == *step)
            && self.waiters.iter().all(|(thread, step)| state.at[usize::from(*thread)] <= *step)
    }
}

/// The next action of an agent.
#[derive(Clone, Copy)]
enum Next {
    /// A thread's statement.
    Act(Act),
    /// A copy reads.
    Fetch(Transfer),
    /// A copy writes.
    Deposit(Transfer),
}

impl Next {
    /// The half words that are read or written, as bits, and whether they are written.
    fn touches(self) -> Option<(u8, bool)> {
        match self {
            Next::Act(Act::Read(cell)) => Some((cell.bits(), false)),
            Next::Act(Act::Write(cell, _)) => Some((cell.bits(), true)),
            Next::Act(Act::Update(update)) => Some((update.bits(), true)),
            Next::Act(_) => None,
            Next::Fetch(transfer) => Some((transfer.reads(), false)),
            Next::Deposit(transfer) => Some((transfer.writes(), true)),
        }
    }
}

impl Update {
    /// The new contents of the bytes after the operation, given the old ones.
    fn after(self, old: u64) -> u64 {
        let bits = if self.double { 64 } else { 32 };
        let word = u64::from(self.operand);
        let operand = if self.double { word << 32 | word } else { word };
        let signed = |x: u64| (x << (64 - bits)) as i64;
        let by = |wanted: bool| if wanted { old } else { operand };
        match self.operation {
            Operation::Add => old.wrapping_add(operand),
            Operation::MinSigned => by(signed(old) < signed(operand)),
            Operation::MaxSigned => by(signed(old) > signed(operand)),
            Operation::MaxUnsigned => by(old > operand),
            Operation::And => old & operand,
            Operation::Or => old | operand,
            Operation::Xor => old ^ operand,
        }
    }
}

struct Run<'r> {
    memory: &'r Memory<'r>,
    control: &'r Control,
    /// For each agent and step, the steps that must have been reached before.
    waits: Vec<Vec<Vec<Place>>>,
    /// Steps that are not passed as soon as possible, but in all orders.
    held: HashSet<Place>,
}

impl Run<'_> {
    /// The number of agents: threads, followed by copies.
    fn agents(&self) -> usize {
        self.memory.threads.len() + self.memory.copies.len()
    }

    /// The step that an agent takes next, if control has passed it.
    fn next(&self, state: &State, agent: usize) -> Option<Next> {
        let at = state.at[agent];
        match agent.checked_sub(self.memory.threads.len()) {
            None => {
                let step = || self.memory.threads[agent].steps[usize::from(at)];
                (at < self.control.at[agent]).then(|| Next::Act(step().act))
            }
            Some(copy) => match at {
                0 => Some(Next::Fetch(self.memory.copies[copy].transfer)),
                1 => Some(Next::Deposit(self.memory.copies[copy].transfer)),
                _ => None,
            },
        }
    }

    /// The thread and the line of an agent's step.
    fn origin(&self, state: &State, agent: usize) -> (u8, usize) {
        let (thread, step) = match agent.checked_sub(self.memory.threads.len()) {
            None => (agent, usize::from(state.at[agent])),
            Some(copy) => (self.memory.copies[copy].thread, self.memory.copies[copy].step),
        };
        (thread as u8, self.memory.threads[thread].steps[step].line)
    }

    /// Finds two agents whose next steps are conflicting accesses.
    fn look_for_races(&self, state: &State, findings: &mut Findings) {
        let mut enabled: Vec<(usize, Next, u8, bool)> = Vec::new();
        for agent in 0..self.agents() {
            let Some(next) = self.next(state, agent) else { continue };
            let Some((bits, writes)) = next.touches() else { continue };
            if !self.ready(state, agent) {
                continue;
            }
            for (other, before, others, also) in &enabled {
                if others & bits == 0 || !(writes || *also) {
                    continue;
                }
                let races = match (next, before) {
                    (Next::Act(Act::Write(own, one)), Next::Act(Act::Write(cell, stored)))
                        if own == *cell && self.is_one_instruction(state, *other, agent) =>
                    {
                        findings.unclear |= one == Stored::Register || *stored == Stored::Register;
                        if one == *stored {
                            findings.same_stores = true;
                            continue;
                        }
                        true
                    }
                    (Next::Act(Act::Update(one)), Next::Act(Act::Update(other))) if one.meets(*other) => {
                        if one.operation == other.operation {
                            continue;
                        }
                        false
                    }
                    _ => true,
                };
                *(if races { &mut findings.race } else { &mut findings.matters }) = true;
                if self.memory.search.all_races {
                    let mut pair = [self.origin(state, *other), self.origin(state, agent)];
                    pair.sort_unstable();
                    (if races { &mut findings.races } else { &mut findings.mattering }).insert(pair);
                }
            }
            enabled.push((agent, next, bits, writes));
        }
    }

    /// Whether two threads of a warp are at one line, and have taken the same branches since they last met.
    fn is_one_instruction(&self, state: &State, one: usize, other: usize) -> bool {
        let (Some(style), threads) = (self.memory.search.same_stores, self.memory.threads) else {
            return false;
        };
        let both = [one, other];
        let warps = both.map(|agent| threads.get(agent).map(|thread| thread.warp));
        if warps[0].is_none()
            || warps[0] != warps[1]
            || self.origin(state, one).1 != self.origin(state, other).1
        {
            return false;
        }
        let line = |(thread, step): Place| threads[usize::from(thread)].steps[usize::from(step)].line;
        // The steps of both at an earlier meeting, if it had both of them.
        let met = |places: &[Place]| {
            let place = |agent: usize| {
                let own = |place: &&Place| usize::from(place.0) == agent && place.1 < state.at[agent];
                places.iter().find(own).copied()
            };
            let (one, other) = (place(one)?, place(other)?);
            (line(one) == line(other)).then_some([one.1 + 1, other.1 + 1])
        };
        let waits = |arrival: &&Arrival| arrival.how != Use::Arrive;
        let barriers = self.control.past.values().flatten().flat_map(|generation| &generation.arrivals);
        let meetings = barriers.filter(waits).map(|arrival| &arrival.places);
        let meetings = meetings.chain(self.control.met.iter().map(|(meeting, _)| meeting));
        let last = meetings.filter_map(|places| met(places)).max().unwrap_or([0; 2]);
        let branches = |at: usize| {
            let steps = &threads[both[at]].steps[usize::from(last[at])..usize::from(state.at[both[at]])];
            let is_branch = move |act: Act| style == Style::Branches || !(act.is_local() && act != Act::Exit);
            steps.iter().filter(move |step| is_branch(step.act)).map(|step| step.line)
        };
        branches(0).eq(branches(1))
    }

    /// Lets all agents pass steps that are neither accesses nor held, until they have to wait.
    fn pass(&self, state: &mut State) {
        if self.memory.search.pace == Pace::Single {
            return;
        }
        let mut agent = 0;
        while agent < self.agents() {
            match self.next(state, agent) {
                Some(next)
                    if next.touches().is_none()
                        && !self.held.contains(&(agent as u8, state.at[agent]))
                        && self.ready(state, agent) =>
                {
                    state.at[agent] += 1;
                    agent = 0;
                }
                _ => agent += 1,
            }
        }
    }

    /// Whether an agent can take its next step.
    fn ready(&self, state: &State, agent: usize) -> bool {
        let before = &self.waits[agent][usize::from(state.at[agent])];
        before.iter().all(|(other, step)| state.at[usize::from(*other)] >= *step)
    }

    fn step(&self, state: &State, agent: usize) -> Option<State> {
        let next = self.next(state, agent)?;
        if !self.ready(state, agent) {
            return None;
        }
        let mut after = state.clone();
        after.at[agent] += 1;
        if let Some(values) = &mut after.values {
            self.perform(values, agent, next);
        }
        Some(after)
    }

    /// Applies a step to memory and registers.
    fn perform(&self, values: &mut Values, agent: usize, next: Next) {
        let Values { now: Final { memory, registers }, carried } = values;
        match next {
            Next::Act(Act::Read(Cell { half, wide })) => {
                let half = usize::from(half);
                let high = if wide { u32::from(memory[half + 1]) << 16 } else { 0 };
                registers[agent] = u32::from(memory[half]) | high;
            }
            Next::Act(Act::Write(Cell { half, wide }, stored)) => {
                let half = usize::from(half);
                let value = match stored {
                    Stored::Constant(value) => value,
                    Stored::Register => registers[agent],
                };
                memory[half] = (value & 0xffff) as u16;
                if wide {
                    memory[half + 1] = (value >> 16) as u16;
                }
            }
            Next::Act(Act::Update(update)) => {
                let halves =
                    usize::from(update.half)..usize::from(update.half) + update.bits().count_ones() as usize;
                let held = &mut memory[halves];
                let old = held.iter().rev().fold(0, |word, half| word << 16 | u64::from(*half));
                let new = update.after(old);
                for (at, half) in held.iter_mut().enumerate() {
                    *half = (new >> (16 * at)) as u16;
                }
            }
            Next::Act(_) => {}
            Next::Fetch(Transfer { from, taken, .. }) => {
                let (from, taken) = (usize::from(from), usize::from(taken));
                carried[agent - self.memory.threads.len()][..taken]
                    .copy_from_slice(&memory[from..from + taken]);
            }
            Next::Deposit(Transfer { to, size, .. }) => {
                let (to, size) = (usize::from(to), usize::from(size));
                let carried = &carried[agent - self.memory.threads.len()];
                memory[to..to + size].copy_from_slice(&carried[..size]);
            }
        }
    }
}
