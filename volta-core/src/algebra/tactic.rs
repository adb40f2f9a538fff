//! How a prover treats long sums, products of sums and choices.

use super::terms::Order;

/// Which sums get names in the forms of other sums, where each name is one atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// None: the prover expands every sum.
    Nothing,
    /// Lists of products of two elements.
    Products,
    /// Lists of products, and long sums of any other terms; names are joined where their sums share terms.
    Sums,
}

/// How a choice that is one of its arms times a power of two is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choices {
    /// As that arm, under a scale.
    Scaled,
    /// Not at all.
    Kept,
    /// Not at all, except for a choice by an order that is assumed to hold, or not to: it becomes the chosen arm.
    Ordered(Order, bool),
}

/// How a prover treats long sums, products of sums and choices: trades speed for strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tactic {
    pub(super) named: Named,
    /// Products of sums with up to this many terms are multiplied out immediately.
    pub(super) short_product: usize,
    pub(super) choices: Choices,
    /// Whether choices are sums of indicators, `b + [c]·(a − b)`.
    pub(super) indicators: bool,
}

impl Tactic {
    /// A norm costs time linear in the length of its row.
    pub const QUICK: Tactic =
        Tactic { named: Named::Sums, short_product: 16, choices: Choices::Scaled, indicators: true };
    /// For display: choices are written as such.
    pub const SHOWING: Tactic = Tactic { indicators: false, ..Tactic::QUICK };
    /// Sums other than lists of products are spelled out.
    pub const SPELLING_OUT: Tactic = Tactic { named: Named::Products, ..Tactic::QUICK };
    /// Slower; also proves equalities that hold only across differently grouped sums.
    pub const THOROUGH: Tactic = Tactic { named: Named::Nothing, ..Tactic::QUICK };
    /// Multiplies out nothing by itself: proves equal one product grouped in two ways.
    pub const FACTORING: Tactic = Tactic { short_product: 1, ..Tactic::THOROUGH };
}
