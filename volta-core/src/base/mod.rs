//! What every module may use: places in a text, typed indices, budgets, assumptions.

pub mod assumption;
pub mod budget;
pub mod index;
pub mod ration;
pub mod span;
