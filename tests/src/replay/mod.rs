//! Cases run on numbers: a verdict about all inputs is checked on some.
//!
//! [`launch`] writes inputs into memory, runs a side in the [`interpreter`](crate::interpreter) and reads its outputs.
//! [`bound`] evaluates the terms of the verifier at the same inputs, and bounds the rounding error of a computation in
//! floats. [`check`] compares.

pub mod bound;
pub mod check;
pub use volta_interpreter::{launch, values};
