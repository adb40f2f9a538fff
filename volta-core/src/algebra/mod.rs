//! The canonical form of a term, and proofs that two terms are equal.
//!
//! A term becomes a sum of `coefficient · monomial · 2^exponent` over atoms, exact throughout. [`canon`] walks
//! the term, [`ratio`] takes common factors out, names sums and multiplies out, [`maximum`] and [`function`]
//! know the functions, [`literal`] the literals of rule V9, [`equal`] is the pipeline of comparisons and
//! [`obligation`] finds what must hold for partial operations. Only proofs answer: what is not proved equal is
//! *not known* to differ.
//!
//! A [`prover`] consists of the [`terms`] that it reads, a [`table`] that interns what is made of them, a [`memo`]
//! of forms, the current [`case`], a [`tactic`], and a [`worklist`] of unfinished subterms. Operations that need
//! only the table are methods of the table. The imports between modules are acyclic.
//!
//! # Laws
//!
//! [`laws`] lists them, each with its side condition. Where no law applies, [`cases`] splits: one case for each
//! order of the quantities that maxima and choices compare.
//!
//! # Costs and limits
//!
//! Walks are loops with explicit stacks, recursion has a fixed depth, every step is drawn from a budget, and
//! nothing depends on threads or on the order in which things were interned.

use crate::base::budget::Exhausted;

mod abbreviated_sums;
mod analysis;
mod arg_max;
mod atom;
mod bitwise;
mod by_value;
mod canon;
mod case;
mod cases;
mod chains;
mod chosen_sum;
mod circuits;
mod comparison;
mod condition;
mod constant_readings;
mod decisions;
mod digest;
mod equal;
mod exits;
mod exponent;
mod extended_value;
mod field;
mod function;
mod guarded_extremum;
mod id;
mod indicator;
mod indicator_products;
mod infinities;
mod integer;
mod interner;
mod larger_and_smaller;
mod lattice;
pub mod laws;
mod linear;
mod linear_sum;
mod literal;
mod magnitude;
mod maximum;
mod memo;
mod monomial;
mod multiplier;
mod obligation;
mod operand_cache;
mod outline;
mod packed;
mod path_condition;
mod polarization;
mod polynomial;
mod print;
mod product;
mod prover;
mod ratio;
mod requirement;
mod root;
mod sign;
mod table;
mod tactic;
mod term_class;
mod terms;
#[cfg(test)]
mod tests;
mod tower;
mod translation;
mod worklist;

pub use analysis::Analysis;
pub use cases::{Hint, Split};
pub use circuits::{CircuitSearch, Searched};
pub use constant_readings::{Encoded, Form, IrrationalLiteral, Reading};
pub use digest::{Digest, Digests};
pub use equal::{Equality, Stage};
pub use extended_value::Class;
pub use field::Agreement;
pub use id::{TermRef, mix};
pub use infinities::NewElements;
pub use obligation::Obligations;
pub use outline::{NoOutline, Outlines};
pub use print::Names;
pub use prover::Prover;
pub use requirement::Requirement;
pub use table::InputRange;
pub use tactic::Tactic;
pub use translation::{ClassPlace, SharedClasses, TranslationClasses};

/// Why work on a term ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A result must be known first. Handled inside the prover; callers never see it.
    Missing,
    /// The budget is used up.
    Exhausted(Exhausted),
    /// The term is undefined at every input (V6).
    Undefined(String),
    /// The algebra does not support this; the reason.
    Unknown(String),
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::Missing => f.write_str("a part of the term is not known yet"),
            Stop::Exhausted(exhausted) => exhausted.fmt(f),
            Stop::Undefined(why) | Stop::Unknown(why) => f.write_str(why),
        }
    }
}
