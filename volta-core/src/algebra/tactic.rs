//! How a prover treats long sums, products of sums and choices.

use super::terms::Order;

/// What gets a name of its own in the forms of sums, and stands there as one atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// Nothing: a prover looks into every sum.
    Nothing,
    /// Lists of products of two elements.
    Products,
    /// Those, and long sums of anything else; names are joined where their sums share terms.
    Sums,
}

/// What becomes of a choice that is one of its arms times a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choices {
    /// That arm, under a scale.
    Scaled,
    /// It stays as it is.
    Kept,
    /// So does it, unless it is by an order that is taken to hold, or not to.
    Ordered(Order, bool),
}

/// How a prover treats long sums, products of sums and choices: what is cheap, or what proves more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tactic {
    pub(super) named: Named,
    /// Products of sums are multiplied out at once up to this many terms.
    pub(super) short_product: usize,
    pub(super) choices: Choices,
}

impl Tactic {
    /// A norm costs as much as its row is long.
    pub const QUICK: Tactic = Tactic { named: Named::Sums, short_product: 16, choices: Choices::Scaled };
    /// What is left of a sum beside its lists of products is spelled out where people read it.
    pub const SPELLING_OUT: Tactic = Tactic { named: Named::Products, ..Tactic::QUICK };
    /// Slower; also proves equal what is equal only across sums that were put together differently.
    pub const THOROUGH: Tactic = Tactic { named: Named::Nothing, ..Tactic::QUICK };
    /// Multiplies nothing out of itself: proves equal what is one product, grouped in two ways.
    pub const FACTORING: Tactic = Tactic { short_product: 1, ..Tactic::THOROUGH };
}
