//! Control: which threads meet at which barriers, under every schedule.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{Act, Broken, Count, Findings, Place, Program, THREADS, Thread, TooLarge, Use};

/// A warp's arrival at a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arrival {
    /// The warp.
    pub warp: usize,
    /// Its threads that had not returned, with their steps.
    pub places: Vec<Place>,
    /// The operation at the barrier.
    pub how: Use,
    /// The threads for which they wait.
    pub count: Count,
}

/// A completed round of a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation {
    /// The arrivals, by warp.
    pub arrivals: Vec<Arrival>,
    /// Threads that counted as arrived because they had returned, with the ends of their paths.
    pub returned: Vec<Place>,
}

/// A state of control, with its history.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Control {
    /// The first step that each thread has not passed; beyond its path when it returned.
    pub at: [u8; THREADS],
    /// Warps that have arrived at a barrier and wait there.
    pub waits: Vec<bool>,
    /// Arrivals at barriers that are not complete.
    pub open: BTreeMap<u8, Vec<Arrival>>,
    /// Completed generations, in order.
    pub past: BTreeMap<u8, Vec<Generation>>,
    /// Threads that met at warp barriers and collectives, and those of the mask that had returned.
    pub met: BTreeSet<(Vec<Place>, Vec<Place>)>,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum How {
    /// All threads returned.
    Complete,
    /// Nobody can take a step.
    Stuck,
    /// A rule was broken.
    Broken(Broken),
}

/// Where a run ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct End {
    /// How it ends.
    pub how: How,
    /// The final state.
    pub control: Control,
}

/// All ends of all runs.
pub(super) fn explore(
    program: &Program,
    threads: &[Thread],
    limit: usize,
    findings: &mut Findings,
) -> Result<BTreeSet<End>, TooLarge> {
    let mut first = Control {
        at: [0; THREADS],
        waits: vec![false; program.warps.len()],
        open: BTreeMap::new(),
        past: BTreeMap::new(),
        met: BTreeSet::new(),
    };
    let cta = Cta { program, threads };
    cta.pass_local(&mut first);
    let mut seen = HashSet::from([first.clone()]);
    let mut todo = vec![first];
    let mut ends = BTreeSet::new();
    while let Some(state) = todo.pop() {
        findings.states += 1;
        if findings.states > limit {
            return Err(TooLarge);
        }
        let next = cta.steps(&state, findings);
        if next.is_empty() {
            let complete = (0..threads.len()).all(|thread| cta.returned(&state, thread));
            let how = if complete { How::Complete } else { How::Stuck };
            ends.insert(End { how, control: state });
            continue;
        }
        for next in next {
            match next {
                Err(broken) => {
                    ends.insert(End { how: How::Broken(broken), control: state.clone() });
                }
                Ok(mut next) => {
                    cta.pass_local(&mut next);
                    if seen.insert(next.clone()) {
                        todo.push(next);
                    }
                }
            }
        }
    }
    Ok(ends)
}

struct Cta<'p> {
    program: &'p Program,
    threads: &'p [Thread],
}

impl Cta<'_> {
    fn returned(&self, state: &Control, thread: usize) -> bool {
        usize::from(state.at[thread]) == self.threads[thread].steps.len()
    }

    /// The next statement of a thread.
    fn act(&self, state: &Control, thread: usize) -> Option<Act> {
        self.threads[thread].steps.get(usize::from(state.at[thread])).map(|step| step.act)
    }

    fn place(&self, state: &Control, thread: usize) -> Place {
        (thread as u8, state.at[thread])
    }

    fn line(&self, (thread, step): Place) -> usize {
        self.threads[usize::from(thread)].steps[usize::from(step)].line
    }

    /// Threads of a warp that have not returned.
    fn live(&self, state: &Control, warp: usize) -> Vec<usize> {
        let of_warp = |thread: &usize| self.threads[*thread].warp == warp && !self.returned(state, *thread);
        (0..self.threads.len()).filter(of_warp).collect()
    }

    /// Passes accesses and copies: control does not depend on memory.
    fn pass_local(&self, state: &mut Control) {
        for thread in 0..self.threads.len() {
            while self.act(state, thread).is_some_and(Act::is_local) {
                state.at[thread] += 1;
            }
        }
    }

    /// All possible next states, or broken rules.
    fn steps(&self, state: &Control, findings: &mut Findings) -> Vec<Result<Control, Broken>> {
        let mut next = Vec::new();
        for thread in 0..self.threads.len() {
            match self.act(state, thread) {
                Some(Act::Exit) => {
                    let mut after = state.clone();
                    after.at[thread] += 1;
                    next.push(Ok(self.complete(after, findings)));
                }
                Some(Act::WarpSync(mask) | Act::Shuffle { mask, .. })
                    if mask >> self.threads[thread].member & 1 == 0 =>
                {
                    next.push(Err(Broken::OutsideMask));
                }
                Some(act @ (Act::WarpSync(mask) | Act::Shuffle { mask, .. })) => {
                    next.extend(self.meet(state, thread, act, mask));
                }
                _ => {}
            }
        }
        for warp in 0..self.program.warps.len() {
            if !state.waits[warp] {
                next.extend(self.arrive(state, warp, findings));
            }
        }
        next
    }

    /// Lets the warp arrive at a barrier, if all of its threads that have not returned are at one: the next states, or
    /// the rules that this breaks.
    fn arrive(&self, state: &Control, warp: usize, findings: &mut Findings) -> Vec<Result<Control, Broken>> {
        let live = self.live(state, warp);
        let mut uses = Vec::new();
        for thread in &live {
            let Some(Act::Barrier { how, id, count, aligned }) = self.act(state, *thread) else {
                return Vec::new();
            };
            uses.push((how, id, count, aligned, self.line(self.place(state, *thread))));
        }
        let Some(&(how, id, count, _, line)) = uses.first() else { return Vec::new() };
        if uses.iter().any(|other| other.1 != id) {
            return Vec::new();
        }
        let others = state.open.get(&id).map(Vec::as_slice).unwrap_or_default();
        let number = |count| self.number(count);
        let apart = uses.iter().any(|other| other.4 != line) && uses.iter().any(|other| other.3);
        let rules = [
            (Broken::Ways, uses.iter().any(|other| other.0 != how || other.2 != count)),
            (Broken::Operators, uses.iter().any(|other| other.0.is_another_operator(how))),
            (Broken::Operators, others.iter().any(|other| other.how.is_another_operator(how))),
            (Broken::Ways, others.iter().any(|other| other.how.reduces() != how.reduces())),
            (Broken::Counts, uses.iter().any(|other| number(other.2) != number(count))),
            (Broken::Counts, others.iter().any(|other| number(other.count) != number(count))),
            (Broken::Again, others.iter().any(|other| other.warp == warp)),
        ];
        let broken: Vec<_> = rules.iter().filter(|rule| rule.1).map(|rule| Err(rule.0)).collect();
        if !broken.is_empty() {
            return broken;
        }
        if apart && how == Use::Arrive {
            findings.broken.insert(Broken::Divergence);
        }
        let mut after = state.clone();
        let places = live.iter().map(|thread| self.place(state, *thread)).collect();
        let arrivals = after.open.entry(id).or_default();
        arrivals.push(Arrival { warp, places, how, count });
        arrivals.sort();
        if how == Use::Arrive {
            for thread in &live {
                after.at[*thread] += 1;
            }
        } else {
            after.waits[warp] = true;
        }
        vec![Ok(self.complete(after, findings))]
    }

    /// The number of threads for a count.
    fn number(&self, count: Count) -> u32 {
        match count {
            Count::All => 32 * self.program.warps.len() as u32,
            Count::Threads(threads) => threads,
        }
    }

    /// Completes the barriers for which no arrival is missing.
    fn complete(&self, mut state: Control, findings: &mut Findings) -> Control {
        for id in state.open.keys().copied().collect::<Vec<u8>>() {
            let arrivals = &state.open[&id];
            let arrived = |warp: usize| arrivals.iter().any(|arrival| arrival.warp == warp);
            let nobody_missing =
                (0..self.program.warps.len()).all(|warp| arrived(warp) || self.live(&state, warp).is_empty());
            let number = |arrival: &Arrival| self.number(arrival.count);
            let enough = arrivals.first().map(number) == Some(32 * arrivals.len() as u32);
            let all = arrivals.iter().all(|arrival| arrival.count == Count::All);
            // With a count, threads that returned do not count as arrived.
            let complete = if all { nobody_missing } else { enough };
            if complete {
                self.release(&mut state, id, all, findings);
            }
        }
        state
    }

    fn release(&self, state: &mut Control, id: u8, all: bool, findings: &mut Findings) {
        let arrivals = state.open.remove(&id).unwrap_or_default();
        let mut returned = Vec::new();
        if all {
            let threads = (0..self.threads.len()).filter(|thread| self.returned(state, *thread));
            returned.extend(threads.map(|thread| self.place(state, thread)));
        }
        for arrival in arrivals.iter().filter(|arrival| arrival.how != Use::Arrive) {
            let line = arrival.places.first().map(|place| self.line(*place));
            let apart = arrival.places.iter().any(|place| Some(self.line(*place)) != line);
            let aligned = |place: &Place| {
                matches!(self.act(state, usize::from(place.0)), Some(Act::Barrier { aligned: true, .. }))
            };
            if apart && arrival.places.iter().any(aligned) {
                findings.broken.insert(Broken::Divergence);
            }
        }
        for arrival in arrivals.iter().filter(|arrival| arrival.how != Use::Arrive) {
            state.waits[arrival.warp] = false;
            for (thread, _) in &arrival.places {
                state.at[usize::from(*thread)] += 1;
            }
        }
        state.past.entry(id).or_default().push(Generation { arrivals, returned });
    }

    /// Lets the threads of a mask pass a warp barrier or a collective, if all that have not returned have reached it.
    fn meet(&self, state: &Control, thread: usize, act: Act, mask: u8) -> Option<Result<Control, Broken>> {
        let warp = self.threads[thread].warp;
        let in_mask = |other: &usize| mask >> self.threads[*other].member & 1 == 1;
        let members: Vec<usize> = self.live(state, warp).into_iter().filter(in_mask).collect();
        let here = |other: &usize| {
            if let Act::WarpSync(_) = act {
                // Lanes may reach a warp barrier at different instructions.
                self.act(state, *other) == Some(act)
            } else {
                let line = |thread: usize| self.line(self.place(state, thread));
                self.act(state, *other) == Some(act) && line(*other) == line(thread)
            }
        };
        if !members.iter().all(here) {
            return None;
        }
        let mut after = state.clone();
        let threads = 0..self.threads.len();
        let gone = threads.filter(|other| self.threads[*other].warp == warp && in_mask(other));
        let gone = gone.filter(|other| self.returned(state, *other)).map(|other| self.place(state, other));
        after.met.insert((members.iter().map(|other| self.place(state, *other)).collect(), gone.collect()));
        for other in &members {
            after.at[*other] += 1;
        }
        Some(Ok(after))
    }
}
