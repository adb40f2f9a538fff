//! Basics for every module: source spans, typed indices, lanes and sets of them, affine functions of lanes,
//! budgets, assumptions, and how far the work is.

pub mod affine;
pub mod assumption;
pub mod budget;
pub mod index;
pub mod lane;
pub mod ration;
pub mod span;
pub mod watch;
