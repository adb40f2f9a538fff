//! Groups of threads: the registers that they hold, of a warp or of all warps in lockstep, the terms and the guards behind
//! these, what a run relied on and found, and why it ends.
//!
//! What is here computes and reads values. It can touch neither memory nor what orders threads, which lie beside and above.

pub(crate) mod assumptions;
pub(crate) mod context;
pub(crate) mod endless;
pub(crate) mod enumeration;
pub(crate) mod exited_threads;
pub(crate) mod findings;
pub(crate) mod forks;
pub(crate) mod fragment_layout;
pub(crate) mod guard_bounds;
pub(crate) mod lockstep;
pub(crate) mod matrix_terms;
pub(crate) mod possible;
pub(crate) mod premises;
pub(crate) mod product_plan;
pub(crate) mod run_error;
pub(crate) mod schedule;
pub(crate) mod stop;
pub(crate) mod terms;
pub(crate) mod values;
pub(crate) mod warp;
pub(crate) mod wmma_fragments;
