//! Every run of a program.

use crate::model::{
    Act, Conflict, FLAGS, Layout, Look, Order, Program, ROWS, STEPS, THREADS, added, initial,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A step of a thread: its number, and that of the step.
pub(crate) type Site = (usize, usize);

/// What one thread tells others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Told {
    /// Of each thread, the number of its steps that happened before.
    known: [u8; THREADS],
    /// Of each flag, the oldest change that may be found.
    view: [u8; FLAGS],
}

impl Told {
    fn join(&mut self, other: &Told) {
        for (own, other) in self.known.iter_mut().zip(other.known) {
            *own = (*own).max(other);
        }
        for (own, other) in self.view.iter_mut().zip(other.view) {
            *own = (*own).max(other);
        }
    }
}

/// What a reader in each CTA learns: by those in the same CTA alone, and by all.
type ToldTo = [[Told; 2]; THREADS];

/// A number that a flag has had.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Message {
    value: u32,
    /// Who made the change; nobody, of the first one.
    site: Option<Site>,
    told: ToldTo,
}

/// A relaxed change that has not taken effect yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Delayed {
    step: usize,
    told: ToldTo,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Thread {
    at: usize,
    /// What it knows.
    now: Told,
    /// What it tells by relaxed changes: each CTA, since its last fence for threads there.
    fenced: [Told; THREADS],
    /// What a fence lets it know, that of its own CTA and of all.
    pending: [Told; 2],
    delayed: Vec<Delayed>,
    sum: u32,
    /// What its last addition with a result found.
    old: u32,
    /// It has found ahead of its next wait what that is for.
    passes: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<Thread>,
    flags: [Vec<Message>; FLAGS],
    rows: [u32; ROWS],
    /// Some accesses have raced.
    raced: bool,
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct End {
    /// The threads' sums.
    pub(crate) sums: Vec<u32>,
    /// The flags.
    pub(crate) flags: [u32; FLAGS],
    /// The rows.
    pub(crate) rows: [u32; ROWS],
}

/// How a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ended {
    /// The changes that have come.
    set: u64,
    found: u32,
    /// What it learned of each thread.
    learned: [u8; THREADS],
}

/// What a wait meets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    ends: BTreeSet<Ended>,
    /// The sets of changes with which it goes on.
    goes_on: BTreeSet<u64>,
}

impl Waits {
    /// The changes that have come whenever it ends.
    fn least(&self) -> u64 {
        self.ends.iter().fold(u64::MAX, |least, end| least & end.set)
    }

    /// Whether for which changes it waits depends on the run: it may end without those that let it end in another one, or
    /// go on with all of these.
    fn is_ambiguous(&self) -> bool {
        let least = self.least();
        !self.ends.is_empty()
            && (self.goes_on.iter().any(|set| least & !set == 0)
                || self.ends.iter().all(|end| end.set != least))
    }

    /// Whether it may learn less when more has come.
    fn may_learn_less(&self) -> bool {
        let least = self.least();
        let firsts = self.ends.iter().filter(|end| end.set == least);
        let is_less = |one: &Ended, other: &Ended| {
            one.learned.iter().zip(other.learned).any(|(one, other)| *one < other)
        };
        firsts.into_iter().any(|first| self.ends.iter().any(|end| is_less(end, first)))
    }

    fn finds_several(&self) -> bool {
        self.ends.iter().any(|end| self.ends.iter().any(|other| end.found != other.found))
    }
}

/// Everything that can happen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// How runs end.
    pub(crate) ends: BTreeSet<End>,
    /// Some run gets stuck.
    pub(crate) stuck: bool,
    /// Accesses that race in some run, the lower one first.
    pub(crate) races: BTreeSet<[Site; 2]>,
    /// Some run ends in which nothing raced.
    pub(crate) completes: bool,
    /// Waits.
    pub(crate) waits: BTreeMap<Site, Waits>,
    /// States.
    pub(crate) states: usize,
}

impl Findings {
    /// Whether some wait is for changes that depend on the run.
    pub(crate) fn is_ambiguous(&self) -> bool {
        self.waits.values().any(Waits::is_ambiguous)
    }

    /// Whether some wait may learn less when more changes have come.
    pub(crate) fn may_learn_less(&self) -> bool {
        self.waits.values().any(Waits::may_learn_less)
    }

    /// Whether a wait may find several numbers.
    pub(crate) fn finds_several(&self, site: Site) -> bool {
        self.waits.get(&site).is_some_and(Waits::finds_several)
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_faultless(&self) -> bool {
        !self.stuck && self.races.is_empty() && self.ends.len() == 1
    }
}

/// Explores a program; `None` if there are more than `most` states.
pub(crate) fn explore(program: &Program, most: usize) -> Option<Findings> {
    let first = Message { value: 0, site: None, told: ToldTo::default() };
    let start = State {
        threads: vec![Thread::default(); program.threads.len()],
        flags: std::array::from_fn(|_| vec![first.clone()]),
        rows: std::array::from_fn(initial),
        raced: false,
    };
    let mut run = Run { program, findings: Findings::default() };
    let (mut seen, mut open) = (HashSet::from([start.clone()]), vec![start]);
    while let Some(state) = open.pop() {
        let next = run.steps(&state);
        for after in next {
            if seen.insert(after.clone()) {
                open.push(after);
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    run.findings.states = seen.len();
    Some(run.findings)
}

struct Run<'p> {
    program: &'p Program,
    findings: Findings,
}

impl Run<'_> {
    fn layout(&self) -> Layout {
        self.program.layout
    }

    fn act(&self, state: &State, thread: usize) -> Option<Act> {
        self.program.threads[thread].get(state.threads[thread].at).copied()
    }

    /// All that can come next. Notes what ends, is stuck, or waits.
    ///
    /// What threads know does not depend on when plain accesses, fences and barriers come, so these are taken at once: of
    /// two accesses that nothing orders, the later one finds the race.
    fn steps(&mut self, state: &State) -> Vec<State> {
        let mut next = Vec::new();
        for thread in 0..state.threads.len() {
            match self.act(state, thread) {
                Some(act @ (Act::Read(_) | Act::Write(..) | Act::Fence(..) | Act::Meet)) => {
                    self.step(state, thread, act, &mut next);
                    if !next.is_empty() {
                        return next;
                    }
                }
                Some(Act::Add { .. } | Act::Set { .. } | Act::Wait { .. } | Act::Look { .. }) | None => {}
            }
        }
        // A wait that may end by what is there no more may go on for ever as well.
        let mut can_move = false;
        for thread in 0..state.threads.len() {
            for place in 0..state.threads[thread].delayed.len() {
                can_move = true;
                next.extend(self.take_effect(state, thread, place));
            }
            match self.act(state, thread) {
                Some(Act::Wait { .. }) if state.threads[thread].passes => {
                    let mut after = state.clone();
                    let own = &mut after.threads[thread];
                    own.at += 1;
                    own.now.known[thread] = own.at as u8;
                    own.passes = false;
                    next.push(after);
                    can_move = true;
                }
                Some(Act::Look { .. }) => {
                    let look = self.program.look(thread, state.threads[thread].at);
                    if look.is_none_or(|look| !self.is_delayed(state, thread, look.flag)) {
                        self.look_ahead(state, thread, look, &mut next);
                        can_move = true;
                    }
                }
                Some(Act::Wait { flag, .. }) if self.is_delayed(state, thread, flag) => {}
                Some(Act::Wait { .. }) => can_move |= self.wait(state, thread, &mut next),
                Some(act @ (Act::Add { .. } | Act::Set { .. })) => {
                    let before = next.len();
                    self.step(state, thread, act, &mut next);
                    can_move |= next.len() > before;
                }
                Some(Act::Read(_) | Act::Write(..) | Act::Fence(..) | Act::Meet) | None => {}
            }
        }
        if can_move {
            return next;
        }
        if (0..state.threads.len()).all(|thread| self.act(state, thread).is_none()) {
            let value = |flag: usize| state.flags[flag].last().map_or(0, |message| message.value);
            self.findings.completes |= !state.raced;
            self.findings.ends.insert(End {
                sums: state.threads.iter().map(|thread| thread.sum).collect(),
                flags: std::array::from_fn(value),
                rows: state.rows,
            });
        } else {
            self.findings.stuck = true;
        }
        next
    }

    /// Whether a change of a flag by the thread has not taken effect.
    fn is_delayed(&self, state: &State, thread: usize, flag: u8) -> bool {
        state.threads[thread].delayed.iter().any(|delayed| self.flag_of(thread, delayed.step) == flag)
    }

    fn flag_of(&self, thread: usize, step: usize) -> u8 {
        match self.program.threads[thread][step] {
            Act::Add { flag, .. } | Act::Set { flag, .. } | Act::Wait { flag, .. } => flag,
            Act::Look { .. } => self.program.look(thread, step).map_or(u8::MAX, |look| look.flag),
            Act::Read(_) | Act::Write(..) | Act::Fence(..) | Act::Meet => u8::MAX,
        }
    }

    /// A delayed change takes effect, if it is the thread's first one of its flag.
    fn take_effect(&self, state: &State, thread: usize, place: usize) -> Option<State> {
        let delayed = &state.threads[thread].delayed;
        let flag = self.flag_of(thread, delayed[place].step);
        if delayed[..place].iter().any(|other| self.flag_of(thread, other.step) == flag) {
            return None;
        }
        let mut after = state.clone();
        let Delayed { step, told } = after.threads[thread].delayed.remove(place);
        self.change(&mut after, (thread, step), &told);
        Some(after)
    }

    /// A change of a flag takes effect; gives what was there.
    fn change(&self, state: &mut State, (thread, step): Site, told: &ToldTo) -> u32 {
        let flag = usize::from(self.flag_of(thread, step));
        let Some(before) = state.flags[flag].last().cloned() else { return 0 };
        let mut told = *told;
        let value = match self.program.threads[thread][step] {
            Act::Add { by, .. } => {
                for (own, others) in told.iter_mut().flatten().zip(before.told.iter().flatten()) {
                    own.join(others);
                }
                before.value.wrapping_add(by)
            }
            Act::Set { to, .. } => to,
            Act::Read(_)
            | Act::Write(..)
            | Act::Wait { .. }
            | Act::Look { .. }
            | Act::Fence(..)
            | Act::Meet => before.value,
        };
        state.flags[flag].push(Message { value, site: Some((thread, step)), told });
        let newest = state.flags[flag].len() as u8 - 1;
        state.threads[thread].now.view[flag] = newest;
        before.value
    }

    /// What a thread tells the readers of each CTA by a release at its step, or by a relaxed change.
    fn tells(&self, state: &State, thread: usize, releases: bool) -> ToldTo {
        let own = &state.threads[thread];
        let mut told = ToldTo::default();
        for (cta, [same, all]) in told.iter_mut().enumerate() {
            let mut what = if releases { own.now } else { own.fenced[cta] };
            if releases {
                what.known[thread] = own.at as u8 + 1;
            }
            *all = what;
            if cta == self.layout().cta(thread) {
                *same = what;
            }
        }
        told
    }

    /// Whether a thread has found a change, or knows somebody who has, so that its own changes come later.
    fn has_found(&self, state: &State, thread: usize, site: Site) -> bool {
        let flag = self.flag_of(site.0, site.1);
        let Some(messages) = state.flags.get(usize::from(flag)) else { return false };
        let seen = usize::from(state.threads[thread].now.view[usize::from(flag)]);
        messages.iter().take(seen + 1).any(|message| message.site == Some(site))
    }

    /// Notes what the access of a step races with; true if there is something.
    fn note_races(&mut self, state: &State, thread: usize) -> bool {
        let (own, layout) = (&state.threads[thread], self.layout());
        let Some(access) = self.program.access(thread, own.at) else { return false };
        let mut raced = false;
        for (other, acts) in self.program.threads.iter().enumerate().filter(|(other, _)| *other != thread) {
            let known = usize::from(own.now.known[other]);
            for step in (0..acts.len()).take(state.threads[other].at).skip(known) {
                let conflict = self
                    .program
                    .access(other, step)
                    .and_then(|others| access.conflict(thread, others, other, layout));
                let races = match conflict {
                    None => false,
                    Some(Conflict::Race) => true,
                    Some(Conflict::Changes) => !self.has_found(state, thread, (other, step)),
                };
                if races {
                    let mut pair = [(thread, own.at), (other, step)];
                    pair.sort_unstable();
                    self.findings.races.insert(pair);
                    raced = true;
                }
            }
        }
        raced
    }

    /// The steps of a thread that does not wait for a flag.
    fn step(&mut self, state: &State, thread: usize, act: Act, next: &mut Vec<State>) {
        let own = &state.threads[thread];
        let mut after = state.clone();
        after.threads[thread].at += 1;
        after.threads[thread].now.known[thread] = own.at as u8 + 1;
        match act {
            Act::Read(row) => {
                after.raced |= self.note_races(state, thread);
                after.threads[thread].sum = added(own.sum, state.rows[usize::from(row)]);
            }
            Act::Write(row, value) => {
                after.raced |= self.note_races(state, thread);
                after.rows[usize::from(row)] = value.into();
            }
            Act::Add { flag, order, old, .. } => {
                if order.releases() && !own.delayed.is_empty() || old && self.is_delayed(state, thread, flag)
                {
                    return;
                }
                after.raced |= self.note_races(state, thread);
                let told = self.tells(state, thread, order.releases());
                if !order.releases() && !old {
                    return self.delay(after, (thread, own.at), told, next);
                }
                let found = self.change(&mut after, (thread, own.at), &told);
                if old {
                    after.threads[thread].old = found;
                }
            }
            Act::Set { order, .. } => {
                if order == Order::Ordered && !own.delayed.is_empty() {
                    return;
                }
                after.raced |= self.note_races(state, thread);
                let mut told = self.tells(state, thread, order == Order::Ordered);
                if order == Order::Weak {
                    told = ToldTo::default();
                }
                if order != Order::Ordered {
                    return self.delay(after, (thread, own.at), told, next);
                }
                self.change(&mut after, (thread, own.at), &told);
            }
            Act::Fence(kind, scope) => {
                let (releases, acquires) = kind.orders();
                if releases && !own.delayed.is_empty() {
                    return;
                }
                let cta = self.layout().cta(thread);
                let reaches_all = self.layout().reaches_all(scope);
                let own = &mut after.threads[thread];
                if acquires {
                    let pending = own.pending[usize::from(reaches_all)];
                    own.now.join(&pending);
                }
                if releases {
                    for (other, fenced) in own.fenced.iter_mut().enumerate() {
                        if reaches_all || other == cta {
                            *fenced = own.now;
                        }
                    }
                }
            }
            Act::Meet => return self.meet(state, thread, next),
            Act::Wait { .. } | Act::Look { .. } => return,
        }
        next.push(after);
    }

    /// A relaxed change: it takes effect now or later.
    fn delay(&self, state: State, (thread, step): Site, told: ToldTo, next: &mut Vec<State>) {
        let mut later = state.clone();
        later.threads[thread].delayed.push(Delayed { step, told });
        if !self.is_delayed(&state, thread, self.flag_of(thread, step)) {
            let mut now = state;
            self.change(&mut now, (thread, step), &told);
            next.push(now);
        }
        next.push(later);
    }

    /// The barrier of a CTA, when all of its threads have come that have not returned. The first of them moves all.
    fn meet(&self, state: &State, thread: usize, next: &mut Vec<State>) {
        let cta = self.layout().cta(thread);
        let of_cta: Vec<usize> =
            (0..state.threads.len()).filter(|other| self.layout().cta(*other) == cta).collect();
        let is_there = |other: &usize| matches!(self.act(state, *other), Some(Act::Meet) | None);
        if !of_cta.iter().all(is_there) {
            return;
        }
        let come: Vec<usize> =
            of_cta.into_iter().filter(|other| self.act(state, *other) == Some(Act::Meet)).collect();
        if come.first() != Some(&thread) || come.iter().any(|other| !state.threads[*other].delayed.is_empty())
        {
            return;
        }
        let mut after = state.clone();
        let mut joined = Told::default();
        for other in &come {
            let own = &mut after.threads[*other];
            own.at += 1;
            own.now.known[*other] = own.at as u8;
            joined.join(&own.now);
        }
        for other in &come {
            after.threads[*other].now.join(&joined);
        }
        next.push(after);
    }

    /// A thread loads a flag: whatever it may find ends its loop or does not. True if it cannot but end some day.
    fn wait(&mut self, state: &State, thread: usize, next: &mut Vec<State>) -> bool {
        let own = &state.threads[thread];
        let Some(Act::Wait { flag, until, order, used, .. }) = self.act(state, thread) else {
            return false;
        };
        let raced = self.note_races(state, thread);
        let (number, flag) = (own.at, usize::from(flag));
        let cta = self.layout().cta(thread);
        let waits = self.findings.waits.entry((thread, number)).or_default();
        let (mut set, mut ends) = (0u64, false);
        for (place, message) in state.flags[flag].iter().enumerate() {
            set |= bit(message.site);
            if place < usize::from(own.now.view[flag]) {
                continue;
            }
            ends = until.holds(message.value, own.old);
            if !ends {
                waits.goes_on.insert(set);
                continue;
            }
            let mut after = state.clone();
            after.raced |= raced;
            let reader = &mut after.threads[thread];
            reader.at += 1;
            reader.now.known[thread] = number as u8 + 1;
            reader.now.view[flag] = place as u8;
            reader.learn(order, &message.told[cta]);
            if used {
                reader.sum = added(reader.sum, message.value);
            }
            waits.ends.insert(Ended { set, found: message.value, learned: message.told[cta][1].known });
            next.push(after);
        }
        ends
    }

    /// A thread loads a flag ahead of its next wait: it may find what that is for.
    fn look_ahead(&mut self, state: &State, thread: usize, look: Option<Look>, next: &mut Vec<State>) {
        let own = &state.threads[thread];
        let mut after = state.clone();
        after.threads[thread].at += 1;
        after.threads[thread].now.known[thread] = own.at as u8 + 1;
        let Some(look) = look else { return next.push(after) };
        after.raced |= self.note_races(state, thread);
        let flag = usize::from(look.flag);
        let mut set = 0u64;
        for (place, message) in state.flags[flag].iter().enumerate() {
            set |= bit(message.site);
            if place < usize::from(own.now.view[flag]) {
                continue;
            }
            let waits = self.findings.waits.entry((thread, look.wait)).or_default();
            let mut after = after.clone();
            let reader = &mut after.threads[thread];
            reader.now.view[flag] = place as u8;
            if look.until.holds(message.value, own.old) {
                reader.passes = true;
                let cta = self.program.layout.cta(thread);
                reader.learn(look.order, &message.told[cta]);
                waits.ends.insert(Ended { set, found: message.value, learned: message.told[cta][1].known });
            } else {
                waits.goes_on.insert(set);
            }
            next.push(after);
        }
    }
}

impl Thread {
    /// Learns what a change tells that a load has found.
    fn learn(&mut self, order: Order, [same, all]: &[Told; 2]) {
        match order {
            Order::Ordered => self.now.join(all),
            Order::Relaxed | Order::Volatile => {
                self.pending[0].join(same);
                self.pending[1].join(all);
            }
            Order::Weak => {}
        }
    }
}

/// A change, in a set of them.
fn bit(site: Option<Site>) -> u64 {
    site.map_or(0, |(thread, step)| 1 << (thread * (STEPS + 1) + step))
}
