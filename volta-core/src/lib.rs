//! Volta's verifier: PTX in, verdicts out.
//!
//! No files, no processes, no terminal: strings and data come in, data goes out.

pub mod algebra;
pub mod base;
pub mod case;
mod conditions;
pub mod decide;
mod element_map;
pub mod formula;
mod given;
pub mod library;
pub mod lint;
pub mod machine;
pub mod number;
mod precision;
pub mod program;
mod progress;
pub mod ptx;
pub mod term;
pub mod verdict;
mod verify;

pub use conditions::Conditions;
pub use verify::{Formulas, SideFormula, conditions, formulas, verify};
