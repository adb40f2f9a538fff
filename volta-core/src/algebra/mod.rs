//! The canonical form of a term, and proofs that two terms are equal.
//!
//! A term becomes a sum of `coefficient · monomial · 2^exponent` over atoms, exact throughout. [`canon`] walks
//! the term, [`ratio`] takes common factors out, names sums and multiplies out, [`maximum`] and [`function`]
//! know the functions, [`literal`] the literals of rule V9, [`equal`] is the ladder of comparisons and
//! [`obligation`] finds what must hold for partial operations. Only proofs answer: what is not proved equal is
//! *not known* to differ.
//!
//! # Laws
//!
//! Terms range over reals where every partial operation below them is defined (V8, [`obligation`] reads those
//! off the term as it was executed); [`class`] decides beforehand what is infinite or undefined (V3, V6), so a
//! law never meets an infinity.
//!
//! | law | where it holds |
//! |---|---|
//! | ring laws, distribution | finite terms |
//! | `t − t = 0`, `0·t = 0` | finite terms; the obligations of `t` stay |
//! | `t/t = 1`, common factors of numerator and denominator | the obligation `t ≠ 0` stays |
//! | `2^a·2^b = 2^(a+b)`, `1/2^a = 2^(−a)`, `2^(n+a) = 2^n·2^a` | finite `a`, `b`; integer `n` |
//! | `2^(−∞) = 0`, `a/±∞ = 0`, `max(−∞, a) = a` | finite `a` |
//! | `2^(k·log₂ a) = a^k` | integer `k`; `a > 0` is the logarithm's obligation |
//! | `log₂(2^k·2^h·a) = k + h + log₂ a` | always, given `a > 0` |
//! | `√(2^h·a) = 2^(h/2)·√a`, `√(q²·a) = q·√a` | rational `q ≥ 0` |
//! | `√(p^(2k)·a) = p^k·√a` | `p > 0` by its signs |
//! | `√(a^(2k)) = abs(a)^k` | nothing else under the root but a positive number |
//! | `(√a)² = a`, `1/√a = √a/a` | `a ≥ 0`, `a > 0` are the root's obligations |
//! | `max` of a set: nested maxima joined, repeated arms dropped | always |
//! | `max(a+c, b+c) = max(a, b)+c` | finite `c` |
//! | `max(k·a, k·b) = k·max(a, b)` | `k > 0` by its signs |
//! | `max(a, b) = a` | `a − b ≥ 0` by its signs |
//! | `min(a, b) = −max(−a, −b)`, `abs(a) = max(a, −a)`, `saturate(a) = min(max(a, 0), 1)` | always |
//! | `(p > 0 ? b + k·p : b) = b + k·max(p, 0)` | rational `k` |
//! | `(c ? a : a) = a` | both arms finite |
//! | `tanh a = 1 − 2/(1 + e^(2a))` | always (the denominator is above 1) |
//! | `sin(−a) = −sin a`, `cos(−a) = cos a` | always |
//! | `floor(a + n) = floor(a) + n`, and for ceilings | integer `n` |
//! | literals of [`readings`] as irrational constants | in exponents of two, beside logarithms; recorded |
//!
//! # Costs and limits
//!
//! Walks are loops with explicit stacks, recursion has a fixed depth, every step is drawn from a budget, and
//! nothing depends on threads or on the order in which things were interned.

use crate::base::budget::Exhausted;

mod atom;
mod canon;
mod class;
mod condition;
mod equal;
mod exponent;
mod facts;
mod flat;
mod function;
mod guard;
mod instance;
mod literal;
mod maximum;
mod monomial;
mod obligation;
mod polynomial;
mod print;
mod ratio;
mod readings;
mod sign;
#[cfg(test)]
mod tests;

pub use atom::TermRef;
pub use canon::Prover;
pub use class::Class;
pub use equal::{Equality, Rung};
pub use facts::Facts;
pub use instance::{Located, Renaming};
pub use obligation::{Demand, Obligations, Requirement};
pub use print::Names;
pub use readings::{Literal, Reading};
pub use sign::Signs;

/// Why work on a term ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Something must be known first. Met inside the prover; callers never see it.
    Missing,
    /// The budget is used up.
    Exhausted(Exhausted),
    /// The term has no value, at any input (V6).
    Undefined(String),
    /// The algebra does not reach this far, and where it stops.
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
