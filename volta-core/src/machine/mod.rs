//! Runs the CTAs of a launch on symbolic values.
//!
//! The warps of a CTA execute instructions over 32 lanes, with bits or symbolic values ([`value`]). Memory consists of
//! objects of 4-byte cells; accesses are checked for bounds, alignment, initialisation and races. The result of a run
//! is the terms of the output elements, or the first fault.
//!
//! Invariants: nothing is skipped because it was not understood. Every loop draws from a budget. Results do not depend
//! on the number of host threads, on the layout of memory, or on the race detector. The schedule determines at most
//! which of several faults is found.

mod access_pattern;
mod advice;
mod agent;
mod arguments;
mod assignments;
mod attempt;
mod bag;
mod bags;
mod barrier;
mod barriers;
mod bind;
mod bind_error;
mod clock;
mod cluster;
mod context;
mod control;
mod cta;
mod cta_class;
mod deadlock;
mod endless;
mod epoch;
mod exec;
mod execution;
mod fits;
mod flag;
mod footprint;
mod fragment;
mod further;
mod globals;
mod grid;
mod guard;
mod history;
mod indexed;
mod int_terms;
mod job;
mod launch;
mod left;
mod lockstep;
mod masks;
mod mbarrier;
mod memory;
mod objects;
mod opaque;
mod order;
mod orders;
mod output;
mod overlap;
mod packed;
mod perhaps;
mod phase_history;
mod place;
mod points;
mod possible;
mod queue;
mod race;
mod ran;
mod register;
mod register_pool;
mod relied;
mod returned;
mod run_error;
mod schedule;
mod shadow;
mod stop;
mod structs;
mod survey;
mod synchronisation;
mod tensor;
mod tensor_map;
mod tensor_memory;
mod terms;
mod ticket;
mod timeline;
mod uncached;
mod value;
mod values;
mod warp;
mod work;

pub use access_pattern::{AccessPattern, AccessPatterns, Traffic};
pub(crate) use advice::parameter_element;
pub(crate) use arguments::arguments;
pub use bag::{Bag, BagElement};
pub use bind::Job;
pub use bind::signature;
pub use bind_error::BindError;
pub use cta_class::{ClassOfCtas, Classes};
pub(crate) use cta_class::{
    ClassOfSizes, Extents, FEWEST_CTAS, NotFollowed, Origin as CtaOfClass, Sizes, Steps, class_of_sizes,
};
pub use endless::{Endless, Repeats};
pub use execution::{Alternative, Execution};
pub(crate) use fits::most_dynamic_shared;
pub use globals::{has_variable, names_variable};
pub use job::run;
pub use launch::Outputs;
pub use left::{Left, contents};
pub use output::{Lost, Output, OutputValue, initial_value, integer_constant};
pub use overlap::{Overlap, OverlapAccess, OverlapConflict, OverlapReason, Overlaps};
pub use place::place_in;
pub use points::{KnownFloats, Recognition};
pub use possible::Possible;
pub use run_error::RunError;
