//! The library functions of 16-bit floats whose code is not that of the 32-bit ones.

use super::Mark::Bits;
use super::Postfix::{Apply, Literal, Operand};
use super::{LibraryFunction, Postfix, function};
use crate::number::format::Format;
use crate::term::TermOp::{Cos, Exp2, Mul, Sin};

const X: Postfix = Operand(0);
const LOG2_10: Postfix = Literal(Format::F32, 0x4054_9A78);

/// The functions.
pub(super) const FUNCTIONS: &[LibraryFunction] = &[
    // Like the 32-bit one, except for the one argument that would be rounded to the wrong side.
    function!(Bf16 "hexp10" of "hexp10_bf16", 1, Bits(0x4054_9A78), "10^x", 1, [X, LOG2_10, Apply(Mul), Apply(Exp2)]),
    // Like the 32-bit ones with shorter coefficients, and corrections for one or two arguments.
    function!(F16 "hsin", 1, Bits(0xB94C_A1F9), "sin x", 1, [X, Apply(Sin)]),
    function!(F16 "hcos", 1, Bits(0xB94C_A1F9), "cos x", 1, [X, Apply(Cos)]),
];
