//! Volta's verifier: PTX in, verdicts out.
//!
//! No files, no processes, no terminal: strings and data come in, data goes out.

pub mod algebra;
pub mod base;
pub mod case;
pub mod decide;
pub mod machine;
pub mod number;
pub mod program;
pub mod ptx;
pub mod term;
pub mod verdict;
mod verify;

pub use verify::verify;
