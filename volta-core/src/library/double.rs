//! The library functions of 64-bit floats.

use super::Mark::{Bits, Coefficient};
use super::Postfix::{Apply, Literal, Operand, Whole};
use super::{LibraryFunction, Postfix, function};
use crate::number::format::Format;
use crate::term::TermOp::{
    Add, Atan, Cbrt, Cos, Div, Erf, Exp2, Log2, Mul, Rsqrt, Sin, Sqrt, Sub, Tanh, Trunc,
};

const X: Postfix = Operand(0);
const Y: Postfix = Operand(1);
const LN_2: Postfix = Literal(Format::F64, 0x3FE6_2E42_FEFA_39EF);
const LOG10_2: Postfix = Literal(Format::F64, 0x3FD3_4413_509F_79FF);
const LOG2_E: Postfix = Literal(Format::F64, 0x3FF7_1547_652B_82FE);
const LOG2_10: Postfix = Literal(Format::F64, 0x400A_934F_0979_A371);
const MINUS_LOG2_E: Postfix = Literal(Format::F64, 0xBFF7_1547_652B_82FE);

/// The functions, in an order with the same constraint as that of the [single](super::single::FUNCTIONS) ones.
pub(super) const FUNCTIONS: &[LibraryFunction] = &[
    function!(F64 "log", 1, Bits(0x3ED0_EE25_8B7A_8B04), "ln x", 1, [X, Apply(Log2), LN_2, Apply(Mul)]),
    function!(F64 "log2", 1, Coefficient(0x3C77_77D0_FFDA_0D24), "log2 x", 2, [X, Apply(Log2)]),
    function!(F64 "log10", 1, Coefficient(0x3C69_5355_BAAA_FAD3), "log10 x", 2, [X, Apply(Log2), LOG10_2, Apply(Mul)]),
    function!(
        F64 "log1p", 1, Bits(0x3ED0_87FF_CEB2_DC44), "ln(1 + x)", 2,
        [X, Whole(1), Apply(Add), Apply(Log2), LN_2, Apply(Mul)]
    ),
    function!(F64 "exp", 1, Bits(0x3E92_8AF3_FCA2_13EA), "e^x", 1, [X, LOG2_E, Apply(Mul), Apply(Exp2)]),
    function!(F64 "exp2", 1, Bits(0x3E92_8AF3_FCA2_13EA), "2^x", 1, [X, Apply(Exp2)]),
    function!(F64 "exp10", 1, Bits(0x3C49_DC1D_A994_FD21), "10^x", 1, [X, LOG2_10, Apply(Mul), Apply(Exp2)]),
    function!(
        F64 "expm1", 1, Bits(0x3E21_F407_6ACD_15B6), "e^x - 1", 1,
        [X, LOG2_E, Apply(Mul), Apply(Exp2), Whole(1), Apply(Sub)]
    ),
    function!(F64 "tanh", 1, Bits(0x3F6D_6D00_0D7A_AD3D), "tanh x", 2, [X, Apply(Tanh)]),
    function!(
        F64 "sinh", 1, Bits(0x3DE6_11A5_61D8_7DEF), "sinh x", 2,
        [
            X, LOG2_E, Apply(Mul), Apply(Exp2), X, MINUS_LOG2_E, Apply(Mul), Apply(Exp2), Apply(Sub),
            Whole(2), Apply(Div),
        ]
    ),
    function!(
        F64 "cosh", 1, Bits(0x3FB0_0000_0000_0000), "cosh x", 2,
        [
            X, LOG2_E, Apply(Mul), Apply(Exp2), X, MINUS_LOG2_E, Apply(Mul), Apply(Exp2), Apply(Add),
            Whole(2), Apply(Div),
        ]
    ),
    function!(F64 "cbrt", 1, Bits(0x4350_0000_0000_0000), "the cube root of x", 1, [X, Apply(Cbrt)]),
    function!(
        F64 "rcbrt", 1, Bits(0x3FCC_71C7_1C71_C71C), "1 over the cube root of x", 1,
        [Whole(1), X, Apply(Cbrt), Apply(Div)]
    ),
    function!(F64 "erf", 1, Coefficient(0x3EA2_EF6C_C0F6_7A49), "erf x", 2, [X, Apply(Erf)]),
    function!(
        F64 "erfc", 1, Bits(0x3E6F_9254_C3AB_F22B), "1 - erf x", 5,
        [Whole(1), X, Apply(Erf), Apply(Sub)]
    ),
    function!(F64 "atan", 1, Coefficient(0x3F2D_3B63_DBB6_5B49), "arctan x", 2, [X, Apply(Atan)]),
    function!(
        F64 "asin", 1, Bits(0x3FA6_DB6D_C27F_A92B), "arcsin x = 2 arctan(x/(1 + sqrt(1 - x^2)))", 2,
        [
            X, Whole(1), Whole(1), X, X, Apply(Mul), Apply(Sub), Apply(Sqrt), Apply(Add), Apply(Div),
            Apply(Atan), Whole(2), Apply(Mul),
        ]
    ),
    function!(
        F64 "acos", 1, Bits(0x3F1C_9A88_C3BC_A540), "arccos x = 2 arctan 1 - arcsin x", 2,
        [
            Whole(1), Apply(Atan), Whole(2), Apply(Mul), X, Whole(1), Whole(1), X, X, Apply(Mul), Apply(Sub),
            Apply(Sqrt), Apply(Add), Apply(Div), Apply(Atan), Whole(2), Apply(Mul), Apply(Sub),
        ]
    ),
    function!(
        F64 "atan2", 2, Bits(0x3FBC_71C7_09DF_E927), "2 arctan(x/(sqrt(x^2 + y^2) + y))", 2,
        [
            X, X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Apply(Sqrt), Y, Apply(Add), Apply(Div),
            Apply(Atan), Whole(2), Apply(Mul),
        ]
    ),
    LibraryFunction {
        powers: true,
        ..function!(F64 "pow", 2, Bits(0x3EB0_F5FF_7D2C_AFE2), "x^y for positive x", 2, [X, Apply(Log2), Y, Apply(Mul), Apply(Exp2)])
    },
    function!(
        F64 "hypot", 2, Bits(0x7FEF_FFFF_FFFF_FFFF), "sqrt(x^2 + y^2)", 2,
        [X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Apply(Sqrt)]
    ),
    function!(
        F64 "rhypot", 2, Bits(0x3FD8_0000_0000_0000), "1/sqrt(x^2 + y^2)", 2,
        [X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Apply(Rsqrt)]
    ),
    function!(
        F64 "asinh", 1, Bits(0x3EB1_380B_3AE8_0F1E), "ln(x + sqrt(x^2 + 1))", 3,
        [X, X, X, Apply(Mul), Whole(1), Apply(Add), Apply(Sqrt), Apply(Add), Apply(Log2), LN_2, Apply(Mul)]
    ),
    function!(
        F64 "acosh", 1, Bits(0xBFF0_0000_0000_0001), "ln(x + sqrt(x^2 - 1))", 3,
        [X, X, X, Apply(Mul), Whole(1), Apply(Sub), Apply(Sqrt), Apply(Add), Apply(Log2), LN_2, Apply(Mul)]
    ),
    function!(
        F64 "atanh", 1, Bits(0x3ED0_87FF_CEB2_DC44), "ln((1 + x)/(1 - x))/2", 3,
        [
            Whole(1), X, Apply(Add), Whole(1), X, Apply(Sub), Apply(Div), Apply(Log2), LN_2, Apply(Mul),
            Whole(2), Apply(Div),
        ]
    ),
    function!(
        F64 "fmod",
        2,
        Bits(0x000F_FFFF_FFFF_FFFF),
        "x - y trunc(x/y)",
        0,
        [X, Y, X, Y, Apply(Div), Apply(Trunc), Apply(Mul), Apply(Sub)]
    ),
    function!(F64 "sin", 1, Bits(0x3DE5_DB65_F978_5EBA), "sin x", 2, [X, Apply(Sin)]),
    function!(F64 "cos", 1, Bits(0x3DE5_DB65_F978_5EBA), "cos x", 2, [X, Apply(Cos)]),
    function!(F64 "sincos" of "sincos_sine", 1, Bits(0x3DE5_DB65_F978_5EBA), "sin x", 2, [X, Apply(Sin)]),
    function!(F64 "sincos" of "sincos_cosine", 1, Bits(0x3DE5_DB65_F978_5EBA), "cos x", 2, [X, Apply(Cos)]),
    function!(F64 "tan", 1, Bits(0x3EE4_8DAC_2799_BCB9), "tan x", 2, [X, Apply(Sin), X, Apply(Cos), Apply(Div)]),
];
