//! What a verdict rests on.

use std::borrow::Cow;

/// One sentence of what a verdict rests on, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Assumption {
    /// Where it comes from.
    pub kind: AssumptionKind,
    /// Lowercase, no period; names its rule in parentheses.
    pub text: Cow<'static, str>,
}

/// Where an [`Assumption`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AssumptionKind {
    /// How every kernel is read: floats are reals (rule V2).
    Model,
    /// The case gives it: it narrows the inputs or launches that the verdict speaks of.
    Given,
    /// The run or the proof relied on it: a relaxed rule, a constant that is read as an irrational number, ….
    Relied,
}

impl Assumption {
    /// How every kernel is read.
    pub fn model(text: impl Into<Cow<'static, str>>) -> Assumption {
        Assumption { kind: AssumptionKind::Model, text: text.into() }
    }

    /// What the case gives.
    pub fn given(text: impl Into<Cow<'static, str>>) -> Assumption {
        Assumption { kind: AssumptionKind::Given, text: text.into() }
    }

    /// What the run or the proof relied on.
    pub fn relied(text: impl Into<Cow<'static, str>>) -> Assumption {
        Assumption { kind: AssumptionKind::Relied, text: text.into() }
    }
}

impl std::fmt::Display for Assumption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
