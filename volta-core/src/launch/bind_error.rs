//! Why a launch does not fit its kernel.

use crate::base::budget::Exhausted;
use crate::verdict::{CasePart, Place};

/// The launch does not fit the kernel: a sentence, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindError {
    /// The step of the side that does not fit.
    pub step: usize,
    /// Lowercase, no period.
    pub message: String,
    /// May have several lines.
    pub help: Option<String>,
    /// The instruction at which it was found, if that took a run.
    pub place: Option<Place>,
    /// The part of the case that is wrong.
    pub part: Option<CasePart>,
    /// The limit of the case that was reached, if it is not a mistake.
    pub exhausted: Option<Exhausted>,
}

impl BindError {
    /// An error of the first step.
    pub fn new(message: String, help: Option<String>) -> BindError {
        BindError { step: 0, message, help, place: None, part: None, exhausted: None }
    }

    /// This error, attributed to a key of the kernel.
    pub(super) fn of_key(self, key: &str) -> BindError {
        BindError { part: Some(CasePart::Key(key.into())), ..self }
    }
}

impl From<Exhausted> for BindError {
    fn from(exhausted: Exhausted) -> BindError {
        BindError { exhausted: Some(exhausted), ..BindError::new(exhausted.to_string(), None) }
    }
}
