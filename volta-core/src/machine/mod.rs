//! Runs the CTAs of a launch on symbolic values.
//!
//! The warps of a CTA execute instructions over 32 lanes, with bits or symbolic values ([`value`](crate::value)). Memory consists of
//! objects of 4-byte cells; accesses are checked for bounds, alignment, initialisation and races. The result of a run
//! is the terms of the output elements, or the first fault.
//!
//! Invariants: nothing is skipped because it was not understood. Every loop draws from a budget. Results do not depend
//! on the number of host threads, on the layout of memory, or on the race detector. The schedule determines at most
//! which of several faults is found.
//!
//! The folders, from the lowest to the highest: [`memory`] and [`group`], [`sync`], [`cta_class`], [`cta`], [`exec`],
//! [`run`](mod@run). Each imports only lower ones.

pub(crate) mod cta;
pub(crate) mod cta_class;
pub(crate) mod exec;
pub(crate) mod group;
pub(crate) mod memory;
pub(crate) mod run;
pub(crate) mod sync;

pub use crate::machine::cta::work::Counts;
pub(crate) use crate::machine::cta_class::extents::{Extents, Sizes, Steps};
pub use crate::machine::group::endless::{Endless, Repeats};
pub use crate::machine::group::possible::Possible;
pub use crate::machine::group::run_error::RunError;
pub use crate::machine::memory::access_pattern::{AccessPattern, AccessPatterns, Traffic};
pub use crate::machine::memory::overlap::{Overlap, OverlapAccess, OverlapConflict, OverlapReason, Overlaps};
pub use crate::machine::run::bags::{Bag, BagElement};
pub(crate) use crate::machine::run::class_grid::{FEWEST_CTAS, Origin as CtaOfClass};
pub use crate::machine::run::classes::{ClassOfCtas, Classes};
pub use crate::machine::run::execution::{Alternative, Execution};
pub(crate) use crate::machine::run::grid_sizes::{ClassOfSizes, NotFollowed, class_of_sizes};
pub use crate::machine::run::job::run;
pub use crate::machine::run::left::{Left, contents};
pub use crate::machine::run::output::{Lost, Output, OutputValue, initial_value, integer_constant};
pub use crate::value::constants::{KnownFloats, Recognition};
