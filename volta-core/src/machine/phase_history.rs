//! What happened at a barrier in memory, phase by phase, for messages (rule Y9).

use super::mbarrier::Event;
use crate::program::InstId;
use std::collections::VecDeque;

/// Phases that are kept, the open one among them.
const MOST_PHASES: usize = 4;
/// Steps of a phase that are kept apart.
const MOST_STEPS: usize = 6;

/// What brings a phase nearer to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    /// Threads arrive.
    Arrivals,
    /// Bytes are expected.
    Expected,
    /// Bytes come, by copies.
    Copies,
}

/// Steps of one kind at one instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) kind: StepKind,
    pub(super) pc: InstId,
    /// Who took the first.
    pub(super) thread: u32,
    /// Arrivals, or operations.
    pub(super) times: u32,
    pub(super) bytes: i64,
}

/// A phase as far as it has come.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseSoFar {
    /// Bytes that came and bytes that were expected, those of steps that are not kept among them.
    pub(super) bytes: (i64, i64),
    /// In order of the first of each.
    pub(super) steps: Vec<Step>,
    /// Some were not kept.
    pub(super) has_more: bool,
}

/// The last phases of a barrier, the open one at the end.
#[derive(Clone, Debug)]
pub(super) struct PhaseHistory {
    phases: VecDeque<PhaseSoFar>,
}

impl PhaseHistory {
    pub(super) fn new() -> PhaseHistory {
        PhaseHistory { phases: VecDeque::from([PhaseSoFar::default()]) }
    }

    pub(super) fn note(&mut self, kind: StepKind, Event { thread, pc, .. }: Event, times: u32, bytes: i64) {
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

    /// The open phase is over.
    pub(super) fn end(&mut self) {
        if self.phases.len() == MOST_PHASES {
            self.phases.pop_front();
        }
        self.phases.push_back(PhaseSoFar::default());
    }

    /// The phases that are kept, with their numbers, where `open` is that of the open one.
    pub(super) fn phases(&self, open: u32) -> impl Iterator<Item = (u32, &PhaseSoFar)> {
        let first = (open as usize + 1).saturating_sub(self.phases.len()) as u32;
        (first..).zip(&self.phases)
    }
}
