//! Runs CTAs: the turns of their warps, all warps in lockstep, CTAs for all of their class, all orders of operations on
//! counters, recovery after faults, and the CTAs of a launch, whose results are compared and merged.
//!
//! Everything of the machine may be used here, and nothing else of the machine uses this.

pub(crate) mod attempt;
mod bag_faults;
pub(crate) mod bags;
pub(crate) mod cases;
pub(crate) mod class_grid;
pub(crate) mod class_run;
pub(crate) mod classes;
pub(crate) mod deadlock;
pub(crate) mod endless_search;
pub(crate) mod execution;
pub(crate) mod footprint;
pub(crate) mod grid;
pub(crate) mod grid_sizes;
pub(crate) mod iterations;
pub(crate) mod job;
pub(crate) mod left;
pub(crate) mod lockstep_matrix;
pub(crate) mod lockstep_threads;
pub(crate) mod modes;
pub(crate) mod orders;
pub(crate) mod output;
pub(crate) mod ran;
pub(crate) mod recovery;
pub(crate) mod turns;
