//! machine/exec/access

pub(crate) mod access_fault;
pub(crate) mod affine_memory;
pub(crate) mod atomic;
pub(crate) mod by_cases;
pub(crate) mod conditional;
pub(crate) mod counted_places;
pub(crate) mod grid_control;
pub(crate) mod load_store;
pub(crate) mod observe;
pub(crate) mod read_only_load;
pub(crate) mod recorded;
pub(crate) mod skipped_access;
pub(crate) mod store;
pub(crate) mod swap_loop;
