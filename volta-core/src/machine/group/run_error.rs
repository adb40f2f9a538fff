//! The reasons why a run gives no result.

use super::endless::Endless;
use super::possible::Possible;
use super::stop::Stop;
use crate::base::budget::Exhausted;
use crate::launch::bind_error::BindError;
use crate::verdict::{Fault, FaultKind};

/// The reasons why a run gives no result.
#[derive(Debug)]
pub enum RunError {
    /// The launch does not fit the kernel.
    Bind(BindError),
    /// The kernel is at fault: the first fault, and further findings (rule R2).
    Fault(Box<Fault>, Vec<Fault>),
    /// The kernel is at fault where a condition on inputs holds.
    Possible(Box<Possible>),
    /// A budget was reached.
    Exhausted(Exhausted),
    /// The verifier contradicts itself: nothing is claimed about the kernel.
    Defect(String),
    /// A loop does not end.
    Endless(Box<Endless>),
}

impl From<BindError> for RunError {
    fn from(error: BindError) -> RunError {
        match error.exhausted {
            Some(exhausted) => RunError::Exhausted(exhausted),
            None => RunError::Bind(error),
        }
    }
}

impl RunError {
    /// The error, with its faults in this step of a side.
    pub(crate) fn at_step(mut self, step: usize) -> RunError {
        match &mut self {
            RunError::Fault(first, also) => {
                first.step = step;
                also.iter_mut().for_each(|fault| fault.step = step);
            }
            RunError::Possible(possible) => possible.fault.step = step,
            RunError::Bind(error) => error.step = step,
            RunError::Exhausted(_) | RunError::Defect(_) | RunError::Endless(_) => {}
        }
        self
    }

    /// Whether a value is used as another type, for example an encoding as a number.
    pub fn is_type_mismatch(&self) -> bool {
        matches!(self, RunError::Fault(fault, _) if fault.kind == FaultKind::TypeMismatch)
    }

    /// Whether a decision of known floats may depend on rounding.
    pub fn depends_on_rounding(&self) -> bool {
        matches!(self, RunError::Fault(fault, _) if fault.kind == FaultKind::DependsOnRounding)
    }

    pub(crate) fn from_stop(stop: Stop) -> RunError {
        match stop {
            Stop::Fault(fault) => RunError::Fault(fault, Vec::new()),
            Stop::Possible(possible) => RunError::Possible(Box::new(possible.possible())),
            Stop::Exhausted(exhausted) => RunError::Exhausted(exhausted),
            Stop::Missing(missing) => RunError::Bind(*missing),
            Stop::Endless(endless) => RunError::Endless(endless),
            Stop::Defect(reason) => RunError::Defect(reason.into()),
            Stop::Doubtful => {
                RunError::Defect("a run that stops at its first fault went on behind it".into())
            }
            Stop::NeedVectorClocks => {
                RunError::Defect("the exact race detector asked for an exact race detector".into())
            }
            Stop::Fork(fork) => RunError::Fault(Box::new(fork.fault), Vec::new()),
            Stop::Apart(_) => RunError::Defect("a CTA that runs alone was to stand for others".into()),
        }
    }
}
