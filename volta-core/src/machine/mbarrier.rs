//! Barriers in shared memory (rule Y9): threads and asynchronous copies arrive, threads wait for the end of a phase.
//!
//! One run speaks for all: which phase each arrival, each expected byte, each copy and each wait belongs to must follow from
//! what happens before what, and is checked. Copies complete at once here, since whoever looks at what they bring before
//! the phase is over races.

use super::clock::{Clocks, Joined};
use super::phase_history::{PhaseHistory, StepKind};
use crate::program::{InstId, Scope, SkippedWait};
use crate::verdict::FaultKind;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The most bytes that a barrier counts (ISA 9.7.13.15.2).
const MOST_BYTES: i64 = (1 << 20) - 1;

/// Something that a thread did, and must have done before a phase ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) thread: u32,
    pub(super) stamp: u32,
    pub(super) pc: InstId,
}

/// A lane that waits for a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) thread: u32,
    pub(super) pc: InstId,
    pub(super) phase: i64,
}

/// What happened in the phase that is not over.
#[derive(Clone, Debug, Default)]
pub(super) struct Current {
    /// What its end tells those who wait for it, and what has happened before.
    released: Joined,
    /// What has happened before some arrival: the phase is not over earlier, whoever expects bytes.
    arrived: Joined,
    last_arrival: Option<Event>,
    /// Bytes that were expected when nobody had arrived who knows of it.
    expected: Vec<Event>,
    /// Waits for the phase before that are over: each happens before this one ends.
    waits: Vec<Event>,
    /// Copies that complete on it.
    pub(super) copies: Vec<u32>,
    /// All bytes that were expected.
    pub(super) expected_bytes: i64,
    /// Commits of products that arrive on it: agents, and their stamps.
    pub(super) commits: Vec<(usize, u32)>,
}

/// A barrier in memory.
#[derive(Clone, Debug)]
pub(super) struct Mbarrier {
    /// Its entry in clocks counts phases that are over.
    pub(super) agent: usize,
    /// Arrivals that a phase waits for, and that this one still waits for.
    pub(super) count: u32,
    pub(super) pending: u32,
    /// Bytes expected and not yet there.
    pub(super) bytes: i64,
    /// Phases that are over.
    pub(super) phase: u32,
    pub(super) current: Current,
    /// What the ends of phases told: of the last one, with `prompt_waits` of all, and how many bytes they take.
    ends: Vec<Joined>,
    ends_bytes: u64,
    /// Whoever waits for a phase is taken to look before the one behind it is over (option `prompt_waits`).
    prompt_waits: bool,
    /// What made the last phase end, and how many bytes that expected.
    ended: Option<(Event, i64)>,
    pub(super) waiting: Vec<Waiting>,
    /// For messages.
    pub(super) history: PhaseHistory,
    /// Another CTA of the cluster has used it.
    pub(super) is_reached: bool,
}

/// The barriers in a CTA's memory.
#[derive(Debug, Default)]
pub(super) struct Mbarriers {
    /// By object and cell.
    pub(super) alive: FxHashMap<(u32, u64), Mbarrier>,
    /// What arrivals returned: of which barrier, and which of its phases.
    pub(super) states: Vec<((u32, u64), u32)>,
    /// What was asked once, and what waits are skipped by the answers.
    pub(super) asked: AskedOnce,
    /// Copies that write or read shared memory by the async proxy.
    pub(super) copies: Vec<Started>,
}

/// Whether a phase was over, which a thread has asked once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) thread: u32,
    pub(super) pc: InstId,
    /// The barrier by its entry in clocks, the phase that the thread meant, and whether it learns of it.
    pub(super) barrier: usize,
    pub(super) phase: i64,
    pub(super) acquires: Option<Scope>,
}

/// What was asked once.
#[derive(Debug, Default)]
pub(super) struct AskedOnce {
    pub(super) questions: Vec<Question>,
    /// By a branch, and whether it is taken where the phase is not over: the wait that nothing but is skipped otherwise.
    pub(super) skipped: FxHashMap<(InstId, bool), Option<Rc<SkippedWait>>>,
}

/// A copy, and who started it where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started {
    pub(super) copy: u32,
    pub(super) thread: u32,
    pub(super) pc: InstId,
    /// The CTA of the cluster whose shared memory it accesses.
    pub(super) rank: u32,
}

impl Mbarriers {
    /// Whether there is none, and was none.
    pub(super) fn is_empty(&self) -> bool {
        self.alive.is_empty() && self.states.is_empty()
    }

    /// Whether a cell is part of a barrier.
    pub(super) fn covers(&self, (object, cell): (u32, u64)) -> bool {
        !self.alive.is_empty() && self.alive.contains_key(&(object, cell & !1))
    }

    /// Bytes of state.
    pub(super) fn bytes(&self) -> u64 {
        let ends: u64 = self.alive.values().map(|barrier| barrier.ends_bytes).sum();
        let asked = self.asked.questions.len() * size_of::<Question>();
        ends + (asked + self.alive.len() * 2048 + self.states.len() * 16 + self.copies.len() * 16) as u64
    }
}

/// What is wrong with the use of a barrier.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) kind: FaultKind,
    pub(super) message: String,
    /// Threads, instructions, and what they do.
    pub(super) sites: Vec<(u32, InstId, String)>,
    pub(super) help: Option<String>,
}

impl Wrong {
    fn new(kind: FaultKind, message: String, sites: Vec<(u32, InstId, &str)>) -> Wrong {
        let sites = sites.into_iter().map(|(thread, pc, action)| (thread, pc, action.to_owned()));
        Wrong { kind, message, sites: sites.collect(), help: None }
    }

    fn with_help(self, help: impl Into<String>) -> Wrong {
        Wrong { help: Some(help.into()), ..self }
    }
}

impl Mbarrier {
    pub(super) fn new(agent: usize, count: u32, prompt_waits: bool) -> Mbarrier {
        Mbarrier {
            agent,
            count,
            pending: count,
            bytes: 0,
            phase: 0,
            current: Current::default(),
            ends: Vec::new(),
            ends_bytes: 0,
            prompt_waits,
            ended: None,
            waiting: Vec::new(),
            history: PhaseHistory::new(),
            is_reached: false,
        }
    }

    /// What a thread does belongs to the current phase under every schedule if the end of the one before happens before it.
    pub(super) fn is_determined(
        &self,
        clocks: &Clocks,
        event: Event,
        (what, is_copy): (&str, bool),
    ) -> Result<(), Wrong> {
        if clocks.is_past(event.thread as usize, self.agent, self.phase) {
            return Ok(());
        }
        let last = self.phase - 1;
        let message = format!(
            "whether this belongs to phase {last} or to phase {} of the barrier depends on the schedule: the thread has \
             not waited for the end of phase {last}",
            self.phase
        );
        let wait = format!(
            "wait for the end of phase {last} first (parity {}), or for a thread that has waited for it, as those have that \
             release a stage",
            last & 1
        );
        let help = match self.ended {
            Some((_, bytes)) if is_copy && bytes > 0 => format!(
                "if its bytes belong to phase {last}, expect them there: that phase expects {bytes}, which other copies \
                 have brought; if not, {wait}"
            ),
            Some(_) | None => wait,
        };
        let sites = vec![(event.thread, event.pc, what)];
        let mut wrong = Wrong::new(FaultKind::AmbiguousBarrier, message, sites).with_help(help);
        wrong.sites.extend(self.end_of(last));
        Err(wrong)
    }

    /// Where a phase ended, if it is the one before this one.
    fn end_of(&self, phase: u32) -> Option<(u32, InstId, String)> {
        let (event, _) = self.ended.filter(|_| phase + 1 == self.phase)?;
        Some((event.thread, event.pc, format!("ends phase {phase}")))
    }

    pub(super) fn expect(&mut self, event: Event, bytes: i64) {
        self.expect_more(event, bytes);
        self.current.expected.push(event);
    }

    /// An arrival that comes at once expects bytes.
    pub(super) fn expect_more(&mut self, event: Event, bytes: i64) {
        self.bytes += bytes;
        self.current.expected_bytes += bytes;
        if bytes != 0 {
            self.history.note(StepKind::Expected, event, 1, bytes);
        }
    }

    /// A thread arrives `count` times.
    pub(super) fn arrive(
        &mut self,
        clocks: &mut Clocks,
        event: Event,
        count: u32,
        releases: bool,
    ) -> Result<(), Wrong> {
        self.is_determined(clocks, event, ("arrives", false))?;
        if count > self.pending {
            let message = format!(
                "{count} more arrivals, where phase {} of the barrier waits for {} of {}",
                self.phase, self.pending, self.count
            );
            let sites = vec![(event.thread, event.pc, "arrives")];
            return Err(Wrong::new(FaultKind::BarrierMisuse, message, sites));
        }
        let thread = event.thread as usize;
        if releases {
            clocks.add_to(thread, &mut self.current.released);
        } else {
            clocks.add_past_to(thread, &mut self.current.released);
        }
        clocks.add_past_to(thread, &mut self.current.arrived);
        clocks.release(thread);
        self.current.last_arrival = Some(event);
        self.history.note(StepKind::Arrivals, event, count, 0);
        self.pending -= count;
        Ok(())
    }

    /// A copy of so many bytes that a thread starts completes on the phase: what came before it has happened when that is
    /// over.
    pub(super) fn start(
        &mut self,
        clocks: &mut Clocks,
        event: Event,
        bytes: i64,
        copy: Option<u32>,
    ) -> Result<(), Wrong> {
        self.bytes -= bytes;
        self.is_determined(clocks, event, ("starts a copy that completes on the barrier", true))?;
        clocks.add_past_to(event.thread as usize, &mut self.current.released);
        clocks.release(event.thread as usize);
        self.current.copies.extend(copy);
        self.history.note(StepKind::Copies, event, 1, bytes);
        Ok(())
    }

    /// A barrier counts no more bytes than that, expected or come before.
    pub(super) fn counts(&self, event: Event) -> Result<(), Wrong> {
        if self.bytes.abs() <= MOST_BYTES {
            return Ok(());
        }
        let message = format!("{} bytes, where a barrier counts up to {MOST_BYTES}", self.bytes.abs());
        Err(Wrong::new(FaultKind::BarrierMisuse, message, vec![(event.thread, event.pc, "counts bytes")]))
    }

    /// Whether nothing is missing to the end of the phase.
    pub(super) fn is_complete(&self) -> bool {
        self.pending == 0 && self.bytes == 0
    }

    /// Ends the phase, by what came last; gives the copies that are over with it.
    pub(super) fn complete(&mut self, by: Event) -> Result<Vec<u32>, Wrong> {
        let Current { mut released, arrived, last_arrival, expected, waits, copies, expected_bytes, commits } =
            std::mem::take(&mut self.current);
        let last =
            last_arrival.map_or((0, InstId::FIRST, "arrives"), |event| (event.thread, event.pc, "arrives"));
        let is_past =
            |knowledge: &Joined, event: &Event| knowledge.is_past(event.thread as usize, event.stamp);
        if let Some(late) = expected.iter().find(|event| !is_past(&arrived, event)) {
            let message = format!(
                "phase {} of the barrier may be over before these bytes are expected, since no arrival comes after it",
                self.phase
            );
            let sites = vec![(late.thread, late.pc, "expects bytes"), last];
            return Err(Wrong::new(FaultKind::AmbiguousBarrier, message, sites));
        }
        let waits_now = |waiting: &&Waiting| waiting.phase < i64::from(self.phase);
        let asleep = self.waiting.iter().find(waits_now).map(|waiting| (waiting.thread, waiting.pc));
        // Now that it is certain which bytes it waits for, it waits for all copies that bring them as well.
        let late =
            waits.iter().find(|event| !is_past(&released, event)).map(|event| (event.thread, event.pc));
        if let Some((thread, pc)) = late.or(asleep).filter(|_| !self.prompt_waits) {
            let message = format!(
                "this wait is for {}, and phase {} may be over before it looks, since no arrival comes after it; then it \
                 waits for the phase that follows",
                match self.phase {
                    0 => "the phase before the first".to_string(),
                    phase => format!("phase {} of the barrier", phase - 1),
                },
                self.phase
            );
            let sites = vec![(thread, pc, "waits"), last];
            let wrong = Wrong::new(FaultKind::AmbiguousBarrier, message, sites);
            return Err(wrong.with_help(
                "let those threads alone wait on whose next arrival the phase behind it depends, such as one that was \
                 elected; or take all waits to come in time: `prompt_waits = true` in the case",
            ));
        }
        self.phase += 1;
        self.history.end();
        released.set(self.agent, self.phase);
        // Commits of one thread are over in their order, and each is a fence before its arrival.
        for (agent, stamp) in commits {
            released.set(agent, stamp);
            released.set_fenced(agent, stamp);
        }
        if !self.prompt_waits {
            self.ends.clear();
            self.ends_bytes = 0;
        }
        self.ends_bytes += released.bytes();
        self.ends.push(released);
        self.ended = Some((by, expected_bytes));
        self.pending = self.count;
        Ok(copies)
    }
}

/// Which phase a thread asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked {
    Parity(u32),
    Phase(u32),
}

impl Mbarrier {
    /// The phase that a thread means by a parity, as it knows which are over: the last one that is, or the next one. If the
    /// answer is that it is over, that one is; where a wait would mean it, the thread needs to wait no longer.
    pub(super) fn meant(&self, clocks: &Clocks, thread: u32, parity: u32) -> i64 {
        let known = i64::from(clocks.past(thread as usize, self.agent));
        known - i64::from(known & 1 != i64::from(parity))
    }

    /// Whether the phase is over that a thread asks for.
    pub(super) fn ask(
        &mut self,
        clocks: &mut Clocks,
        event: Event,
        asked: Asked,
        acquires: bool,
    ) -> Result<bool, Wrong> {
        let now = i64::from(self.phase);
        let site = |action| vec![(event.thread, event.pc, action)];
        let before = self.waiting.iter().position(|waiting| waiting.thread == event.thread);
        let phase = match (before, asked) {
            // It has asked before, and waits.
            (Some(at), _) => self.waiting[at].phase,
            (None, Asked::Phase(phase)) => i64::from(phase),
            (None, Asked::Parity(parity)) => {
                // One that looks in time means the phase that it would mean if it were the first to look.
                let first = match self.prompt_waits {
                    true => clocks.past(event.thread as usize, self.agent),
                    false => self.phase,
                };
                let phase = i64::from(first) - i64::from(first & 1 != parity);
                let over = u32::try_from(phase).unwrap_or(0);
                if !clocks.is_past(event.thread as usize, self.agent, over) {
                    return Err(self.unknown_phase(event, parity, phase));
                }
                phase
            }
        };
        if phase == now {
            if before.is_none() {
                self.waiting.push(Waiting { thread: event.thread, pc: event.pc, phase });
            }
            return Ok(false);
        }
        if phase < now - 1 && !self.prompt_waits {
            let message = format!("this wait is for phase {phase}, and phase {} is over as well", now - 1);
            return Err(Wrong::new(FaultKind::AmbiguousBarrier, message, site("waits")));
        }
        if let Some(at) = before {
            self.waiting.swap_remove(at);
        }
        // The end of the phase before the first tells nothing.
        let back = usize::try_from(now - phase).unwrap_or(0);
        if let Some(at) = self.ends.len().checked_sub(back) {
            let end = &mut self.ends[at];
            if acquires {
                clocks.learn(event.thread as usize, end);
            } else {
                clocks.learn_past(event.thread as usize, end);
            }
        }
        self.current.waits.push(event);
        Ok(true)
    }

    /// A wait by parity is for a phase, or for the one two before that.
    #[cold]
    fn unknown_phase(&self, event: Event, parity: u32, phase: i64) -> Wrong {
        let last = phase - 1;
        let other = match phase - 2 {
            ..0 => "over at once".to_owned(),
            other => format!("for phase {other}"),
        };
        let message = format!(
            "which phase this wait with parity {parity} is for depends on the schedule: it is for phase {phase} of the \
             barrier, or {other}, as the thread does not know of the end of phase {last}"
        );
        let help = format!(
            "parity {} waits for phase {last}; behind that, or behind a wait for a thread that has done so, parity {parity} \
             waits for phase {phase}",
            parity ^ 1
        );
        let wrong = Wrong::new(FaultKind::AmbiguousBarrier, message, vec![(event.thread, event.pc, "waits")]);
        let mut wrong = wrong.with_help(help);
        wrong.sites.extend(u32::try_from(last).ok().and_then(|last| self.end_of(last)));
        wrong
    }
}
