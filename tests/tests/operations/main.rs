//! Every operation on concrete operands, compared bit for bit with an oracle written from the PTX manual in plain
//! Rust arithmetic; and operations on symbolic integers, whose terms are evaluated. Each test takes the full path: PTX
//! text, lowering, execution, outputs.

mod convert;
mod float;
mod ieee;
mod integer;
mod logic;
mod run;
mod unknown;
mod warp;
