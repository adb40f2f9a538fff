//! Cases run on numbers: what the verifier says of all inputs is tried on some.
//!
//! [`launch`] writes inputs into memory, runs a side in the [`interpreter`](crate::interpreter) and reads its outputs.
//! [`bound`] evaluates the terms of the verifier at the same inputs, and bounds how far a computation in floats may be
//! from them. [`check`] compares.

pub mod bound;
pub mod check;
pub use volta_interpreter::{launch, values};
