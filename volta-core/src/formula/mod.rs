//! What the elements of an output are, as a person would write it: families over ranges of indices, sums over indices,
//! and names for what is read several times.
//!
//! Normal forms of elements become [`Node`]s: a [`shape`], interned, and the places that it reads. Where places
//! move evenly, [`run`] puts them together: addends to sums over an index, and elements of an output to families. What
//! comes out is a [`Formula`], a tree, and exact: put in the numbers for the indices, and each element's form is back.

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
