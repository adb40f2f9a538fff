//! Accesses of memory (rules M1 to M5, Y1, Y7): loads, stores and atomics, with their checks, at one address or at all
//! addresses that an input may choose, and what is told of those that are faults.
//!
//! Matrices and operations that wait or complete on their own are beside this folder, and use the checks of
//! [`Accesses`](super::super::cta::accesses::Accesses).

pub(crate) mod access_fault;
pub(crate) mod affine_memory;
mod at_address;
pub(crate) mod atomic;
pub(crate) mod by_cases;
pub(crate) mod conditional;
pub(crate) mod copy_source;
pub(crate) mod counted_places;
pub(crate) mod grid_control;
pub(crate) mod index_words;
pub(crate) mod load_store;
mod lookup;
pub(crate) mod observe;
pub(crate) mod read_only_load;
pub(crate) mod recorded;
pub(crate) mod skipped_access;
pub(crate) mod store;
pub(crate) mod swap_loop;
