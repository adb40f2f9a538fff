//! Mbarriers, barriers in shared memory (rule Y9): threads and asynchronous copies arrive, threads wait for the end of
//! a phase.
//!
//! One run stands for all schedules: happens-before must determine to which phase each arrival, expected byte, copy and
//! wait belongs, and that is checked. Copies complete immediately in this model, since an access to what they write
//! races unless the phase is over before it.

use super::clock::{Clocks, Joined};
use super::phase_history::{Event, PhaseHistory, StepKind};
use crate::program::{InstId, SkippedWait, Strong};
use crate::verdict::FaultKind;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The largest number of bytes that an mbarrier counts (ISA 9.7.13.15.2).
const MOST_BYTES: i64 = (1 << 20) - 1;

/// What an arrival releases of that which its thread has done and knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Releases {
    All,
    /// What comes before the thread's last fence; with `is_near`, one for its own CTA suffices.
    Fenced {
        is_near: bool,
    },
    Nothing,
}

/// A lane that waits for a phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) thread: u32,
    pub(crate) pc: InstId,
    pub(crate) phase: i64,
}

/// The state of the phase that is not over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Current {
    /// The joined clocks that its end releases to those who wait for it, with what has happened before.
    released: Joined,
    /// What has happened before some arrival: the phase cannot end earlier, whichever thread expects bytes.
    arrived: Joined,
    last_arrival: Option<Event>,
    /// Expectations of bytes without an arrival: each must happen before some arrival of the phase.
    expected: Vec<Event>,
    /// Waits for earlier phases: each must happen before this phase ends.
    waits: Vec<Event>,
    /// Copies that complete on this phase.
    pub(crate) copies: Vec<u32>,
    /// Bytes expected in total.
    pub(crate) expected_bytes: i64,
    /// Commits of products that arrive on it, each an agent with its stamp.
    pub(crate) commits: Vec<(usize, u32)>,
}

/// A barrier in shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Mbarrier {
    /// Its agent in clocks, whose entry counts phases that are over.
    pub(crate) agent: usize,
    /// Arrivals that each phase waits for, and those that this one still waits for.
    pub(crate) count: u32,
    pub(crate) pending: u32,
    /// Bytes expected and not yet copied.
    pub(crate) bytes: i64,
    /// Number of phases that are over.
    pub(crate) phase: u32,
    pub(crate) current: Current,
    /// What the ends of phases released (of the last one, with `prompt_waits` of all), and how many bytes that takes.
    ends: Vec<Joined>,
    ends_bytes: u64,
    /// Assumes that a thread which waits for a phase tests it before the next one is over (option `prompt_waits`).
    prompt_waits: bool,
    /// The event that ended the last phase, and how many bytes that phase expected.
    ended: Option<(Event, i64)>,
    pub(crate) waiting: Vec<Waiting>,
    /// For messages.
    pub(crate) history: PhaseHistory,
    /// Whether another CTA of the cluster has used it.
    pub(crate) is_reached: bool,
}

/// The mbarriers in a CTA's memory.
#[derive(Debug, Default)]
pub(crate) struct Mbarriers {
    /// By object and cell.
    pub(crate) alive: FxHashMap<(u32, u64), Mbarrier>,
    /// The states that arrivals returned: barrier and phase.
    pub(crate) states: Vec<((u32, u64), u32)>,
    /// Copies that write or read shared memory through the async proxy.
    pub(crate) copies: Vec<Started>,
}

/// A single test by a thread whether a phase was over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) thread: u32,
    pub(crate) pc: InstId,
    /// The barrier by its agent, the phase that was tested, and the memory order of the test.
    pub(crate) barrier: usize,
    pub(crate) phase: i64,
    pub(crate) order: Strong,
}

/// Tests that do not wait.
#[derive(Debug, Default)]
pub(crate) struct AskedOnce {
    pub(crate) questions: Vec<Question>,
    /// By a branch and whether it is taken where the phase is not over: the wait that the branch skips otherwise, if it
    /// skips only that.
    pub(crate) skipped: FxHashMap<(InstId, bool), Option<Rc<SkippedWait>>>,
}

impl AskedOnce {
    /// Bytes of what is kept.
    pub(crate) fn bytes(&self) -> u64 {
        (self.questions.len() * size_of::<Question>()) as u64
    }
}

/// A copy, and the thread that started it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    pub(crate) copy: u32,
    pub(crate) thread: u32,
    pub(crate) pc: InstId,
    /// The CTA of the cluster whose shared memory it accesses.
    pub(crate) rank: u32,
}

impl Mbarriers {
    /// Whether there is no mbarrier, and was none.
    pub(crate) fn is_empty(&self) -> bool {
        self.alive.is_empty() && self.states.is_empty()
    }

    /// Whether a cell is part of a barrier.
    pub(crate) fn covers(&self, (object, cell): (u32, u64)) -> bool {
        !self.alive.is_empty() && self.alive.contains_key(&(object, cell & !1))
    }

    /// Bytes of state.
    pub(crate) fn bytes(&self) -> u64 {
        let ends: u64 = self.alive.values().map(|barrier| barrier.ends_bytes).sum();
        ends + (self.alive.len() * 2048 + self.states.len() * 16 + self.copies.len() * 16) as u64
    }
}

/// Misuse of an mbarrier.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) kind: FaultKind,
    pub(crate) message: String,
    /// Threads, instructions, and what the threads do there.
    pub(crate) sites: Vec<(u32, InstId, String)>,
    pub(crate) help: Option<String>,
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
    pub(crate) fn new(agent: usize, count: u32, prompt_waits: bool) -> Mbarrier {
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

    /// Checks that a thread's operation belongs to the current phase under every schedule: the previous phase's end
    /// must happen before it.
    pub(crate) fn is_determined(
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
            "wait for the end of phase {last} first (parity {}), or for a thread that has waited for it, such as one \
             that releases a stage",
            last & 1
        );
        let help = match self.ended {
            Some((_, bytes)) if is_copy && bytes > 0 => format!(
                "if its bytes belong to phase {last}, expect them there: that phase expects {bytes}, which other \
                 copies have delivered; if not, {wait}"
            ),
            Some(_) | None => wait,
        };
        let sites = vec![(event.thread, event.pc, what)];
        let mut wrong = Wrong::new(FaultKind::AmbiguousBarrier, message, sites).with_help(help);
        wrong.sites.extend(self.end_of(last));
        Err(wrong)
    }

    /// The site at which a phase ended, if it is the one before the current phase.
    fn end_of(&self, phase: u32) -> Option<(u32, InstId, String)> {
        let (event, _) = self.ended.filter(|_| phase + 1 == self.phase)?;
        Some((event.thread, event.pc, format!("ends phase {phase}")))
    }

    pub(crate) fn expect(&mut self, event: Event, bytes: i64) {
        self.expect_more(event, bytes);
        self.current.expected.push(event);
    }

    /// Expects bytes with an arrival that follows immediately.
    pub(crate) fn expect_more(&mut self, event: Event, bytes: i64) {
        self.bytes += bytes;
        self.current.expected_bytes += bytes;
        if bytes != 0 {
            self.history.note(StepKind::Expected, event, 1, bytes);
        }
    }

    /// A thread arrives `count` times.
    pub(crate) fn arrive(
        &mut self,
        clocks: &mut Clocks,
        event: Event,
        count: u32,
        releases: Releases,
    ) -> Result<(), Wrong> {
        self.is_determined(clocks, event, ("arrives", false))?;
        if count > self.pending {
            let message = format!(
                "{count} more arrivals, but phase {} of the barrier waits for {} of {}",
                self.phase, self.pending, self.count
            );
            let sites = vec![(event.thread, event.pc, "arrives")];
            return Err(Wrong::new(FaultKind::BarrierMisuse, message, sites));
        }
        let thread = event.thread as usize;
        match releases {
            Releases::All => clocks.add_to(thread, &mut self.current.released),
            Releases::Fenced { is_near } => clocks.add_fenced_to(thread, is_near, &mut self.current.released),
            Releases::Nothing => clocks.add_past_to(thread, &mut self.current.released),
        }
        clocks.add_past_to(thread, &mut self.current.arrived);
        clocks.release(thread);
        self.current.last_arrival = Some(event);
        self.history.note(StepKind::Arrivals, event, count, 0);
        self.pending -= count;
        Ok(())
    }

    /// A thread starts a copy of this many bytes, which completes on the phase: what happened before the start has
    /// happened when the phase is over.
    pub(crate) fn start(
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

    /// Checks the limit of the count of bytes, expected or copied early.
    pub(crate) fn counts(&self, event: Event) -> Result<(), Wrong> {
        if self.bytes.abs() <= MOST_BYTES {
            return Ok(());
        }
        let message = format!("{} bytes, but a barrier counts at most {MOST_BYTES}", self.bytes.abs());
        Err(Wrong::new(FaultKind::BarrierMisuse, message, vec![(event.thread, event.pc, "counts bytes")]))
    }

    /// Whether the phase needs no more arrivals or bytes.
    pub(crate) fn is_complete(&self) -> bool {
        self.pending == 0 && self.bytes == 0
    }

    /// Ends the phase by its last event; returns the copies that complete with it.
    pub(crate) fn complete(&mut self, by: Event) -> Result<Vec<u32>, Wrong> {
        let Current { mut released, arrived, last_arrival, expected, waits, copies, expected_bytes, commits } =
            std::mem::take(&mut self.current);
        let last =
            last_arrival.map_or((0, InstId::FIRST, "arrives"), |event| (event.thread, event.pc, "arrives"));
        let is_past =
            |knowledge: &Joined, event: &Event| knowledge.is_past(event.thread as usize, event.stamp);
        if let Some(late) = expected.iter().find(|event| !is_past(&arrived, event)) {
            let message = format!(
                "phase {} of the barrier may be complete before these bytes are expected, since no arrival comes \
                 after it",
                self.phase
            );
            let sites = vec![(late.thread, late.pc, "expects bytes"), last];
            return Err(Wrong::new(FaultKind::AmbiguousBarrier, message, sites));
        }
        let waits_now = |waiting: &&Waiting| waiting.phase < i64::from(self.phase);
        let asleep = self.waiting.iter().find(waits_now).map(|waiting| (waiting.thread, waiting.pc));
        // It is certain now which bytes the phase waits for, and with them the copies that bring them.
        let late =
            waits.iter().find(|event| !is_past(&released, event)).map(|event| (event.thread, event.pc));
        if let Some((thread, pc)) = late.or(asleep).filter(|_| !self.prompt_waits) {
            let message = format!(
                "this wait is for {}, and phase {} may be complete before the wait tests it, since no arrival comes \
                 after the wait; then it waits for the phase that follows",
                match self.phase {
                    0 => "the phase before the first".to_string(),
                    phase => format!("phase {} of the barrier", phase - 1),
                },
                self.phase
            );
            let sites = vec![(thread, pc, "waits"), last];
            let wrong = Wrong::new(FaultKind::AmbiguousBarrier, message, sites);
            return Err(wrong.with_help(
                "let only those threads wait on whose next arrival the following phase depends, such as an elected \
                 one; or assume that all waits come in time: `prompt_waits = true` in the case",
            ));
        }
        self.phase += 1;
        self.history.end();
        released.set(self.agent, self.phase);
        // Commits of one thread complete in order, and each is a fence before its arrival.
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

/// The phase that a thread tests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    Parity(u32),
    Phase(u32),
}

impl Mbarrier {
    /// The phase that a parity denotes, by the phases that the thread knows to be over: the last of them, or the next
    /// one. An answer that it is over is about that phase; a wait on that phase is then not needed.
    pub(crate) fn meant(&self, clocks: &Clocks, thread: u32, parity: u32) -> i64 {
        let known = i64::from(clocks.past(thread as usize, self.agent));
        known - i64::from(known & 1 != i64::from(parity))
    }

    /// Whether the phase that a thread tests is over. If the test does not acquire, what the end of the phase releases is
    /// added to `kept`, for a later fence.
    pub(crate) fn ask(
        &mut self,
        clocks: &mut Clocks,
        event: Event,
        asked: Asked,
        kept: Option<&mut Joined>,
    ) -> Result<bool, Wrong> {
        let now = i64::from(self.phase);
        let site = |action| vec![(event.thread, event.pc, action)];
        let before = self.waiting.iter().position(|waiting| waiting.thread == event.thread);
        let phase = match (before, asked) {
            // The thread waits already.
            (Some(at), _) => self.waiting[at].phase,
            (None, Asked::Phase(phase)) => i64::from(phase),
            (None, Asked::Parity(parity)) => {
                // A thread that tests in time denotes the phase that it would denote if it were the first to test.
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
            let message =
                format!("this wait is for phase {phase}, but phase {} is complete as well", now - 1);
            return Err(Wrong::new(FaultKind::AmbiguousBarrier, message, site("waits")));
        }
        if let Some(at) = before {
            self.waiting.swap_remove(at);
        }
        // The end of the phase before the first releases nothing.
        let back = usize::try_from(now - phase).unwrap_or(0);
        if let Some(at) = self.ends.len().checked_sub(back) {
            let end = &mut self.ends[at];
            match kept {
                None => clocks.learn(event.thread as usize, end),
                Some(kept) => {
                    kept.add_all(end);
                    clocks.learn_past(event.thread as usize, end);
                }
            }
        }
        self.current.waits.push(event);
        Ok(true)
    }

    /// The fault of a wait by parity that may be for one phase or for the one two before it.
    #[cold]
    fn unknown_phase(&self, event: Event, parity: u32, phase: i64) -> Wrong {
        let last = phase - 1;
        let other = match phase - 2 {
            ..0 => "over at once".to_owned(),
            other => format!("for phase {other}"),
        };
        let message = format!(
            "it depends on the schedule for which phase this wait with parity {parity} is: it is for phase {phase} of \
             the barrier, or {other}, since the thread has not waited for the end of phase {last}"
        );
        let help = format!(
            "parity {} waits for phase {last}; after that, or after a wait for a thread that has done so, parity \
             {parity} waits for phase {phase}",
            parity ^ 1
        );
        let wrong = Wrong::new(FaultKind::AmbiguousBarrier, message, vec![(event.thread, event.pc, "waits")]);
        let mut wrong = wrong.with_help(help);
        wrong.sites.extend(u32::try_from(last).ok().and_then(|last| self.end_of(last)));
        wrong
    }
}
