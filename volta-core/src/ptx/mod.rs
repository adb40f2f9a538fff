//! The parser and the printer of PTX.
//!
//! [`parse`] and [`print()`] are inverse up to spans, layout and comments: parsing printed text gives the same tree.
//! The grammar is that of PTX ISA 9, read the way `ptxas` reads it where the two differ; opcodes and modifiers are not
//! checked here. Time and memory are linear in the text, and no text makes the parser panic.
//!
//! # Directives
//!
//! Every directive is known by name; its arguments have these forms:
//!
//! | directive | arguments |
//! |---|---|
//! | `.version 9.5` | two integers, `9` and `5` |
//! | `.target sm_90a, debug` | names |
//! | `.address_size 64`, `.minnctapersm 2`, `.maxntid 16, 8` and the like | integers |
//! | `.file 1 "a.cu", 17, 4096` | an integer, a text, and two integers if present |
//! | `.loc 1 2 3, function_name l+4, inlined_at 1 5 6` | three integers, `Apply(function_name, [Name or SymbolOffset])`, `Apply(inlined_at, [three integers])`; read them with [`Loc`](location::Loc) |
//! | `.section .debug_str { … }` | the section's name, dot included; the content is in `raw` |
//! | `.pragma "nounroll";` | texts |
//! | `.alias a, b;` | two names |
//! | `.attribute(.managed, .unified(1, 2))` | names, dot included, or `Apply` of them |
//! | `.noreturn`, `.explicitcluster`, `.blocksareclusters` | none |
//!
//! # Operands
//!
//! Rare forms without a variant of their own are an [`Operand::Apply`](tree::Operand::Apply), named by a sign or by the
//! text before the parenthesis:
//!
//! | written | name | operands |
//! |---|---|---|
//! | `-%r1`, in video instructions | `-` | the register |
//! | `table[3]`, the array's element 3, counted in elements | `[]` | the array, the index |
//! | `generic(table)` | `generic` | the symbol |
//! | `generic(table)+4` | `+` | `generic(table)`, the offset in bytes |
//! | `0xFF00(table+4)`, one byte of an address | `0xFF00` | the symbol with its offset |
//! | `filter_mode = linear`, in a sampler | `=` | the field, its value |
//!
//! The tree holds the values of constant expressions. `WARP_SZ` alone is a [`Name`](tree::Operand::Name), and a number
//! in an expression. `%tid.x`, `%v.w` and `%r1.b0` are one name.

pub mod error;
pub mod location;
pub mod tree;

mod constant;
mod declaration;
mod directive;
mod lexer;
mod operand;
mod parse;
mod print;
mod source_name;
mod statement;
mod token;

pub use error::ParseError;
pub use print::print;
pub use source_name::SourceName;
pub(crate) use source_name::{identifier, without_file};

use tree::Module;

/// Reads one PTX text.
///
/// # Errors
/// The first position that is not PTX, with what was expected there. A directive that the grammar does not know is an
/// error that names it; an unknown opcode is none.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    parse::module(text)
}
