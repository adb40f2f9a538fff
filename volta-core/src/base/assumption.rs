//! The assumptions of a verdict.

use std::borrow::Cow;

/// One assumption of a verdict, as a sentence, and its origin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Assumption {
    /// Its origin.
    pub kind: AssumptionKind,
    /// Lowercase, no period; names its rule in parentheses.
    pub text: Cow<'static, str>,
}

/// The origin of an [`Assumption`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AssumptionKind {
    /// The model by which every kernel is read: floats are reals (rule V2).
    Model,
    /// The case states it: it restricts the inputs or launches that the verdict covers.
    Given,
    /// The run or the proof relied on it: a relaxed rule, a constant that is read as an irrational number, ….
    Relied,
}

impl Assumption {
    /// An assumption of the model.
    pub fn model(text: impl Into<Cow<'static, str>>) -> Assumption {
        Assumption { kind: AssumptionKind::Model, text: text.into() }
    }

    /// An assumption of the case.
    pub fn given(text: impl Into<Cow<'static, str>>) -> Assumption {
        Assumption { kind: AssumptionKind::Given, text: text.into() }
    }

    /// An assumption of the run or the proof.
    pub fn relied(text: impl Into<Cow<'static, str>>) -> Assumption {
        Assumption { kind: AssumptionKind::Relied, text: text.into() }
    }
}

impl std::fmt::Display for Assumption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
