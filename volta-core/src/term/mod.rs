//! The expressions that outputs consist of.
//!
//! A term is a real number (or a truth value) as a function of the inputs. Terms are appended, a warp instruction
//! at a time, and never rewritten: the arena holds what was executed, so that the obligations of rule V8
//! (denominators, radicands) are collected from it before anything cancels. Only operations on constants are
//! folded, exactly, and only where they are defined.
//!
//! Integers are reals as well: a machine operation on bits becomes one on these numbers, and where its result wraps
//! around, a [`TermOp::Mod`] says so ([`range`] shows where it does not).
//!
//! Readers use [`Store::view`], which shows one scalar term; how lanes are packed is private to `node.rs`.

mod build;
mod congruence;
mod count;
mod cse;
mod decision;
mod diagram;
mod enclose;
mod fold;
mod id;
mod ieee;
mod import;
mod info;
mod node;
mod print;
mod range;
mod reachability;
mod roots;
mod template;
mod translation;

pub use build::{Operands, Pattern, Results, TermOperand};
pub use congruence::Congruence;
pub(crate) use count::{Count, Counts, depends_on};
pub use decision::{Deciding, Decisions, Functions, OPAQUE};
pub use diagram::{Diagram, DiagramOperation, DiagramVariable, Diagrams, Rank};
pub use enclose::enclose;
pub use fold::{Fold, fold};
pub use id::{ConstantId, InputId, Integers, NodeId, Sign, TermId, TermKind};
pub(crate) use ieee::least_normal;
pub use ieee::{Ieee, IeeeInt, IeeeKey, IeeeOp, encoding};
pub use import::{Imported, InStore};
pub use info::{
    Arity, FunctionInfo, Info, Kind, LandmarkOf, Parity, Piecewise, Predicate, Product, Reads, Smt, Sum,
    TermOp, fill,
};
pub use node::{BitStrides, Constant, Lanes, Motion, Moves, Nearness, NodeParts, NodeRef, Store, View};
pub use print::{element_index, expression, opposite, spell_element};
pub use range::{Bound, Range, Ranges};
pub(crate) use reachability::{Reached, bits, each_term, is_of_input, rank, whole_node};
pub(crate) use roots::Root;
pub use template::{MAX_OPERANDS, Nearest, Piece, Rounds, Template, Templates};
pub use translation::Translation;
