//! History of an mbarrier, phase by phase, for messages (rule Y9).

use crate::program::InstId;
use std::collections::VecDeque;

/// Phases that are kept, including the open one.
const MOST_PHASES: usize = 4;
/// Steps of a phase that are listed individually.
const MOST_STEPS: usize = 6;

/// Kinds of events that a phase waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// Threads arrive.
    Arrivals,
    /// Bytes are expected.
    Expected,
    /// Copies bring bytes.
    Copies,
}

/// Steps of one kind at one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    pub(crate) pc: InstId,
    /// The thread that took the first.
    pub(crate) thread: u32,
    /// Arrivals, or operations.
    pub(crate) times: u32,
    pub(crate) bytes: i64,
}

/// A phase as far as it has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseSoFar {
    /// Bytes that were copied and bytes that were expected, including those of steps that are not kept.
    pub(crate) bytes: (i64, i64),
    /// In the order of their first occurrence.
    pub(crate) steps: Vec<Step>,
    /// Whether some steps were not kept.
    pub(crate) has_more: bool,
}

/// The last phases of an mbarrier, the open one last.
#[derive(Clone, Debug)]
pub(crate) struct PhaseHistory {
    phases: VecDeque<PhaseSoFar>,
}

impl PhaseHistory {
    pub(crate) fn new() -> PhaseHistory {
        PhaseHistory { phases: VecDeque::from([PhaseSoFar::default()]) }
    }

    pub(crate) fn note(&mut self, kind: StepKind, Event { thread, pc, .. }: Event, times: u32, bytes: i64) {
        let Some(open) = self.phases.back_mut() else { return };
        match kind {
            StepKind::Arrivals => {}
            StepKind::Expected => open.bytes.1 = open.bytes.1.saturating_add(bytes),
            StepKind::Copies => open.bytes.0 = open.bytes.0.saturating_add(bytes),
        }
        match open.steps.iter().position(|step| (step.kind, step.pc) == (kind, pc)) {
            Some(at) => {
                let step = &mut open.steps[at];
                step.times = step.times.saturating_add(times);
                step.bytes = step.bytes.saturating_add(bytes);
            }
            None if open.steps.len() < MOST_STEPS => open.steps.push(Step { kind, pc, thread, times, bytes }),
            None => open.has_more = true,
        }
    }

    /// Ends the open phase.
    pub(crate) fn end(&mut self) {
        if self.phases.len() == MOST_PHASES {
            self.phases.pop_front();
        }
        self.phases.push_back(PhaseSoFar::default());
    }

    /// The phases that are kept, with their numbers; `open` is the number of the open one.
    pub(crate) fn phases(&self, open: u32) -> impl Iterator<Item = (u32, &PhaseSoFar)> {
        let first = (open as usize + 1).saturating_sub(self.phases.len()) as u32;
        (first..).zip(&self.phases)
    }
}

/// An operation of a thread that must happen before a phase ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) thread: u32,
    pub(crate) stamp: u32,
    pub(crate) pc: InstId,
}
