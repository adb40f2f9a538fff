//! machine/exec/arithmetic

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
