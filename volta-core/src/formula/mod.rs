//! Readable formulas of the elements of an output: families over ranges of indices, sums over indices, and names
//! for repeated parts.
//!
//! Normal forms of elements become [`Node`]s: an interned [`shape`], and the indices that it reads. Where indices
//! are affine, [`run`] combines addends to sums over an index, and elements of an output to families. The result is
//! a [`Formula`], an exact tree: with numbers substituted for the indices, it is each element's form.

mod build;
mod compare;
#[cfg(feature = "serde")]
mod json;
mod lift;
mod notation;
mod number;
mod run;
pub mod shape;
#[cfg(test)]
mod tests;
mod tree;
mod write;

pub(crate) use build::{Addend, Factor, root_of};
pub use compare::marked;
pub use lift::LiftedElement;
pub use shape::{Node, Shapes, TooLarge};
pub use tree::{AffineIndex, Definition, Expression, Family, Formula, IndexRange, IndexVariable, Over};
