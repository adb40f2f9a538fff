//! Every operation on concrete operands, compared bit for bit with an oracle written from the PTX manual in plain
//! Rust arithmetic; and operations on integers that are not known, whose terms are evaluated. The way is the whole one:
//! PTX text, lowering, execution, outputs.

mod convert;
mod float;
mod ieee;
mod integer;
mod logic;
mod run;
mod unknown;
mod warp;
