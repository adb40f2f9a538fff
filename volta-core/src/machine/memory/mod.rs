//! What memory holds while CTAs run, and what is noted of accesses to it: contents, accesses that happen for some inputs
//! only, stores at places that counters give, allocations of tensor memory, and what other launches may conflict with.
//!
//! Who accesses memory is known by the numbers of [`concurrency`](crate::concurrency); registers and the operations that
//! access memory lie above.

pub(crate) mod access_pattern;
pub(crate) mod bag_stores;
pub(crate) mod contents;
pub(crate) mod overlap;
pub(crate) mod perhaps;
pub(crate) mod tensor_allocations;
pub(crate) mod uncached;
