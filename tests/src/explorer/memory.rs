//! Memory: the accesses of a run of control, in every order that happens-before allows.

use std::collections::HashSet;

use super::control::{Arrival, Control};
use super::{Act, Cell, Final, Findings, Place, Relaxed, Stored, THREADS, Thread, TooLarge, Use};

/// How far each thread's agent has come, and what is in memory and registers when that is followed.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: [u8; THREADS],
    values: Option<Box<Final>>,
}

/// An arrival that must happen after a release of the generation before.
struct Successor<'c> {
    arrival: &'c Arrival,
    /// The steps at which the generation before waited.
    waiters: Vec<Place>,
}

/// Explores the accesses of all threads up to where control ends.
pub(super) fn explore(
    threads: &[Thread],
    control: &Control,
    relaxed: Relaxed,
    initial: Option<Final>,
    limit: usize,
    findings: &mut Findings,
) -> Result<(), TooLarge> {
    let successors = successors(control);
    // An agent that only passes a step disables nothing, so that passing as soon as possible loses no race. Early
    // arrivals are about agents that have not passed certain steps yet; those are passed in all orders.
    let held = successors.iter().flat_map(|next| next.waiters.iter().chain(&next.arrival.places));
    let held = held.copied().collect();
    let run = Run { threads, control, waits: waits(threads, control, relaxed), held };
    let mut first = State { at: [0; THREADS], values: initial.map(Box::new) };
    run.pass(&mut first);
    let mut seen = HashSet::from([first.clone()]);
    let mut todo = vec![first];
    while let Some(state) = todo.pop() {
        findings.states += 1;
        if findings.states > limit {
            return Err(TooLarge);
        }
        findings.race |= run.races(&state);
        findings.unordered_arrival |= successors.iter().any(|successor| successor.may_be_early(&state));
        if findings.race && (successors.is_empty() || findings.unordered_arrival) {
            return Ok(());
        }
        let mut last = true;
        for thread in 0..threads.len() {
            if let Some(mut next) = run.step(&state, thread) {
                last = false;
                run.pass(&mut next);
                if !seen.contains(&next) {
                    seen.insert(next.clone());
                    todo.push(next);
                }
            }
        }
        if last && let Some(values) = state.values {
            findings.finals.insert(*values);
        }
    }
    Ok(())
}

/// For each step that waits, which steps must have been reached.
fn waits(threads: &[Thread], control: &Control, relaxed: Relaxed) -> Vec<Vec<Vec<Place>>> {
    let mut waits: Vec<Vec<Vec<Place>>> =
        threads.iter().map(|thread| vec![Vec::new(); thread.steps.len()]).collect();
    for generation in control.past.values().flatten() {
        let places = |arrival: &Arrival| arrival.places.clone();
        let mut before: Vec<Place> = generation.arrivals.iter().flat_map(places).collect();
        if relaxed.exits {
            before.extend(&generation.returned);
        }
        for arrival in generation.arrivals.iter().filter(|arrival| arrival.how != Use::Arrive) {
            for place in &arrival.places {
                waits[usize::from(place.0)][usize::from(place.1)].clone_from(&before);
            }
        }
    }
    for meeting in &control.met {
        for (thread, step) in meeting {
            let act = threads[usize::from(*thread)].steps[usize::from(*step)].act;
            if relaxed.collectives || matches!(act, Act::WarpSync(_)) {
                waits[usize::from(*thread)][usize::from(*step)].clone_from(meeting);
            }
        }
    }
    waits
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
    /// Whether the arrival has been reached although nobody has been released.
    fn may_be_early(&self, state: &State) -> bool {
        self.arrival.places.iter().all(|(thread, step)| state.at[usize::from(*thread)] == *step)
            && self.waiters.iter().all(|(thread, step)| state.at[usize::from(*thread)] <= *step)
    }
}

struct Run<'r> {
    threads: &'r [Thread],
    control: &'r Control,
    /// By thread and step.
    waits: Vec<Vec<Vec<Place>>>,
    /// Steps that are not passed at once.
    held: HashSet<Place>,
}

impl Run<'_> {
    /// The step that a thread's agent takes next, if control has passed it.
    fn act(&self, state: &State, thread: usize) -> Option<Act> {
        let at = state.at[thread];
        (at < self.control.at[thread]).then(|| self.threads[thread].steps[usize::from(at)].act)
    }

    /// Whether two agents stand before conflicting accesses.
    fn races(&self, state: &State) -> bool {
        let mut next: Vec<(Cell, bool)> = Vec::new();
        for thread in 0..self.threads.len() {
            let (cell, writes) = match self.act(state, thread) {
                Some(Act::Read(cell)) => (cell, false),
                Some(Act::Write(cell, _)) => (cell, true),
                _ => continue,
            };
            let conflicts = |other: &(Cell, bool)| other.0.bits() & cell.bits() != 0 && (writes || other.1);
            if next.iter().any(conflicts) {
                return true;
            }
            next.push((cell, writes));
        }
        false
    }

    /// Lets all agents pass the steps that are neither accesses nor held, as far as they need not wait.
    fn pass(&self, state: &mut State) {
        let mut thread = 0;
        while thread < self.threads.len() {
            match self.act(state, thread) {
                Some(act)
                    if !act.is_access()
                        && !self.held.contains(&(thread as u8, state.at[thread]))
                        && self.ready(state, thread) =>
                {
                    state.at[thread] += 1;
                    thread = 0;
                }
                _ => thread += 1,
            }
        }
    }

    /// Whether a thread's agent need not wait.
    fn ready(&self, state: &State, thread: usize) -> bool {
        let before = &self.waits[thread][usize::from(state.at[thread])];
        before.iter().all(|(other, step)| state.at[usize::from(*other)] >= *step)
    }

    fn step(&self, state: &State, thread: usize) -> Option<State> {
        let act = self.act(state, thread)?;
        if !self.ready(state, thread) {
            return None;
        }
        let mut next = state.clone();
        next.at[thread] += 1;
        if let Some(values) = &mut next.values {
            match act {
                Act::Read(cell) => {
                    let half = usize::from(cell.half);
                    let high = if cell.wide { u32::from(values.memory[half + 1]) << 16 } else { 0 };
                    values.registers[thread] = u32::from(values.memory[half]) | high;
                }
                Act::Write(cell, stored) => {
                    let half = usize::from(cell.half);
                    let value = match stored {
                        Stored::Constant(value) => value,
                        Stored::Register => values.registers[thread],
                    };
                    values.memory[half] = (value & 0xffff) as u16;
                    if cell.wide {
                        values.memory[half + 1] = (value >> 16) as u16;
                    }
                }
                _ => {}
            }
        }
        Some(next)
    }
}
