//! What every module may use: places in a text, typed indices, affine functions of lanes, budgets, assumptions.

pub mod affine;
pub mod assumption;
pub mod budget;
pub mod index;
pub mod ration;
pub mod span;
