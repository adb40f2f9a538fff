//! Operations in registers (rules V1 to V7): on integers, floats and predicates, conversions, selects, and exchanges between
//! the lanes of a warp. For [integers](integer), one description serves all domains: [affine], bits, [parts](packed_int),
//! [terms](symbolic_int).
//!
//! Memory and other warps are not known here.

pub(crate) mod affine;
pub(crate) mod collective;
pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod idiom;
pub(crate) mod ieee;
pub(crate) mod integer;
pub(crate) mod packed_int;
pub(crate) mod piecewise;
pub(crate) mod predicates;
pub(crate) mod select;
pub(crate) mod sign;
pub(crate) mod symbolic_int;
pub(crate) mod unevaluated;
