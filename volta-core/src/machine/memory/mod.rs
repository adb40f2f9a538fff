//! machine/memory

pub(crate) mod access_pattern;
pub(crate) mod bag_stores;
pub(crate) mod contents;
pub(crate) mod overlap;
pub(crate) mod perhaps;
pub(crate) mod tensor_allocations;
pub(crate) mod uncached;
