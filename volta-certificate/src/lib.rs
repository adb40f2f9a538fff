//! A small checker of certificates: that two terms are equal wherever the first is defined.
//!
//! A [`Certificate`] holds terms as they were executed, and for each [`Class`] of elements a proof: the laws that it
//! uses, readings of literals, pairs of terms that earlier classes have proved, and cases. [`check`] replays it. It computes a
//! form of each term, a polynomial over atoms, by exact arithmetic of its own; a law of the table is applied only if the
//! proof names it ([`laws`]). Whoever wrote the certificate is not trusted, and nothing of the verifier is used here:
//! `docs/proofs.md` says what a certificate shows, and what not.

mod cases;
mod condition;
mod eval;
mod form;
mod laws;
mod number;
mod readings;
mod sign;
mod text;

pub use cases::{Checked, Checker, Failure, check};
pub use laws::{ALL, Laws, STANDARD, Table};
pub use number::Number;
pub use text::{Certificate, Class, HEADER, Input, Node, Op, Operand, Step};
