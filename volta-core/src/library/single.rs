//! The library functions of 32-bit floats.

use super::Mark::{Bits, Coefficient};
use super::Postfix::{Apply, Literal, Operand, Whole};
use super::{LibraryFunction, Postfix, function};
use crate::number::format::Format;
use crate::term::TermOp::{
    Abs, Add, Atan, BesselJ0, BesselJ1, BesselY0, BesselY1, Cbrt, Cos, Div, Equal, Erf, Exp2, Floor, Gamma,
    Log2, Mul, RoundEven, Rsqrt, Select, Sin, Sqrt, Sub, Tanh, Trunc,
};

const X: Postfix = Operand(0);
const Y: Postfix = Operand(1);
const Z: Postfix = Operand(2);
const W: Postfix = Operand(3);
const LN_2: Postfix = Literal(Format::F32, 0x3F31_7218);
const LOG10_2: Postfix = Literal(Format::F32, 0x3E9A_209B);
const LOG2_E: Postfix = Literal(Format::F32, 0x3FB8_AA3B);
const MINUS_LOG2_E: Postfix = Literal(Format::F32, 0xBFB8_AA3B);

/// The functions. One that computes with the result of another comes after it; one that computes in the arms of the
/// final choice of another (`log10f`) comes before it.
pub(super) const FUNCTIONS: &[LibraryFunction] = &[
    function!(F32 "log10f", 1, Coefficient(0x3EDE_5BD9), "log10 x", 3, [X, Apply(Log2), LOG10_2, Apply(Mul)]),
    function!(F32 "logf", 1, Coefficient(0x3E10_39F6), "ln x", 1, [X, Apply(Log2), LN_2, Apply(Mul)]),
    function!(F32 "log2f", 1, Coefficient(0xBE2C_7F30), "log2 x", 1, [X, Apply(Log2)]),
    function!(
        F32 "log1pf",
        1,
        Coefficient(0xBD39_BF78),
        "ln(1 + x)",
        2,
        [X, Whole(1), Apply(Add), Apply(Log2), LN_2, Apply(Mul)]
    ),
    function!(
        F32 "expm1f",
        1,
        Coefficient(0x3AB5_B2C6),
        "e^x - 1",
        2,
        [X, LOG2_E, Apply(Mul), Apply(Exp2), Whole(1), Apply(Sub)]
    ),
    function!(F32 "tanhf", 1, Coefficient(0x3C80_F082), "tanh x", 2, [X, Apply(Tanh)]),
    function!(
        F32 "sinhf",
        1,
        Coefficient(0x363D_0ADA),
        "sinh x",
        3,
        [
            X,
            LOG2_E,
            Apply(Mul),
            Apply(Exp2),
            X,
            MINUS_LOG2_E,
            Apply(Mul),
            Apply(Exp2),
            Apply(Sub),
            Whole(2),
            Apply(Div),
        ]
    ),
    function!(
        F32 "coshf",
        1,
        Coefficient(0x4B40_007D),
        "cosh x",
        3,
        [
            X,
            LOG2_E,
            Apply(Mul),
            Apply(Exp2),
            X,
            MINUS_LOG2_E,
            Apply(Mul),
            Apply(Exp2),
            Apply(Add),
            Whole(2),
            Apply(Div),
        ]
    ),
    function!(
        F32 "hypotf",
        2,
        Coefficient(0x7E80_0000),
        "sqrt(x^2 + y^2)",
        3,
        [X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Apply(Sqrt)]
    ),
    function!(
        F32 "rnorm3df",
        3,
        Coefficient(0x7E80_0000),
        "1/sqrt(x^2 + y^2 + z^2)",
        6,
        [X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Z, Z, Apply(Mul), Apply(Add), Apply(Rsqrt),]
    ),
    function!(F32 "erff", 1, Coefficient(0x3BA8_86C1), "erf x", 2, [X, Apply(Erf)]),
    function!(F32 "erfcf", 1, Coefficient(0x3A69_A091), "1 - erf x", 5, [Whole(1), X, Apply(Erf), Apply(Sub)]),
    function!(F32 "atanf", 1, Coefficient(0x3B20_90AA), "arctan x", 2, [X, Apply(Atan)]),
    function!(
        F32 "asinf",
        1,
        Coefficient(0x3D4D_D2F7),
        "arcsin x = 2 arctan(x/(1 + sqrt(1 - x^2)))",
        2,
        [
            X,
            Whole(1),
            Whole(1),
            X,
            X,
            Apply(Mul),
            Apply(Sub),
            Apply(Sqrt),
            Apply(Add),
            Apply(Div),
            Apply(Atan),
            Whole(2),
            Apply(Mul),
        ]
    ),
    function!(
        F32 "acosf",
        1,
        Coefficient(0x3D10_ECEF),
        "arccos x = 2 arctan 1 - arcsin x",
        2,
        [
            Whole(1),
            Apply(Atan),
            Whole(2),
            Apply(Mul),
            X,
            Whole(1),
            Whole(1),
            X,
            X,
            Apply(Mul),
            Apply(Sub),
            Apply(Sqrt),
            Apply(Add),
            Apply(Div),
            Apply(Atan),
            Whole(2),
            Apply(Mul),
            Apply(Sub),
        ]
    ),
    function!(
        F32 "atan2f",
        2,
        Coefficient(0x3B33_710B),
        "2 arctan(x/(sqrt(x^2 + y^2) + y))",
        3,
        [
            X,
            X,
            X,
            Apply(Mul),
            Y,
            Y,
            Apply(Mul),
            Apply(Add),
            Apply(Sqrt),
            Y,
            Apply(Add),
            Apply(Div),
            Apply(Atan),
            Whole(2),
            Apply(Mul),
        ]
    ),
    function!(F32 "cbrtf", 1, Coefficient(0xBF2A_AAAB), "the cube root of x", 1, [X, Apply(Cbrt)]),
    function!(
        F32 "rcbrtf",
        1,
        Coefficient(0xBEAA_AAAB),
        "1 over the cube root of x",
        1,
        [Whole(1), X, Apply(Cbrt), Apply(Div)]
    ),
    LibraryFunction {
        powers: true,
        ..function!(F32 "powf", 2, Coefficient(0x3A2C_32E4), "x^y for positive x", 4, [X, Apply(Log2), Y, Apply(Mul), Apply(Exp2)])
    },
    function!(F32 "sinf", 1, Coefficient(0x37CB_AC00), "sin x", 2, [X, Apply(Sin)]),
    function!(F32 "cosf", 1, Coefficient(0x37CB_AC00), "cos x", 2, [X, Apply(Cos)]),
    // Both share one reduction of the argument.
    function!(F32 "sincosf" of "sincosf_sine", 1, Coefficient(0x37CB_AC00), "sin x", 2, [X, Apply(Sin)]),
    function!(F32 "sincosf" of "sincosf_cosine", 1, Coefficient(0x37CB_AC00), "cos x", 2, [X, Apply(Cos)]),
    function!(F32 "tanf", 1, Coefficient(0x3EAA_AA88), "tan x", 4, [X, Apply(Sin), X, Apply(Cos), Apply(Div)]),
    function!(
        F32 "sinpif",
        1,
        Coefficient(0x3E68_4E12),
        "sin(4x arctan 1)",
        2,
        [X, Whole(1), Apply(Atan), Whole(4), Apply(Mul), Apply(Mul), Apply(Sin)]
    ),
    function!(
        F32 "cospif",
        1,
        Coefficient(0x3E68_4E12),
        "cos(4x arctan 1)",
        2,
        [X, Whole(1), Apply(Atan), Whole(4), Apply(Mul), Apply(Mul), Apply(Cos)]
    ),
    function!(
        F32 "rhypotf",
        2,
        Coefficient(0x7E80_0000),
        "1/sqrt(x^2 + y^2)",
        2,
        [X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Apply(Rsqrt)]
    ),
    function!(
        F32 "norm3df",
        3,
        Coefficient(0x7E80_0000),
        "sqrt(x^2 + y^2 + z^2)",
        3,
        [X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Z, Z, Apply(Mul), Apply(Add), Apply(Sqrt)]
    ),
    function!(
        F32 "acoshf",
        1,
        Coefficient(0xBF80_0001),
        "ln(x + sqrt(x^2 - 1))",
        4,
        [X, X, X, Apply(Mul), Whole(1), Apply(Sub), Apply(Sqrt), Apply(Add), Apply(Log2), LN_2, Apply(Mul),]
    ),
    function!(
        F32 "atanhf",
        1,
        Coefficient(0xBD39_BF78),
        "ln((1 + x)/(1 - x))/2",
        4,
        [
            Whole(1),
            X,
            Apply(Add),
            Whole(1),
            X,
            Apply(Sub),
            Apply(Div),
            Apply(Log2),
            LN_2,
            Apply(Mul),
            Whole(2),
            Apply(Div),
        ]
    ),
    function!(
        F32 "norm4df", 4, Coefficient(0x7E80_0000), "sqrt(x^2 + y^2 + z^2 + w^2)", 3,
        [
            X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Z, Z, Apply(Mul), Apply(Add), W, W, Apply(Mul), Apply(Add),
            Apply(Sqrt),
        ]
    ),
    function!(
        F32 "rnorm4df", 4, Coefficient(0x7E80_0000), "1/sqrt(x^2 + y^2 + z^2 + w^2)", 6,
        [
            X, X, Apply(Mul), Y, Y, Apply(Mul), Apply(Add), Z, Z, Apply(Mul), Apply(Add), W, W, Apply(Mul), Apply(Add),
            Apply(Rsqrt),
        ]
    ),
    function!(
        F32 "logbf", 1, Bits(0xFFFF_FF8A), "the largest whole number up to log2 |x|", 0,
        [X, Apply(Abs), Apply(Log2), Apply(Floor)]
    ),
    function!(
        F32 "ilogbf" of "ilogbf" gives Integer, 1, Bits(0xFFFF_FF8A), "the largest whole number up to log2 |x|", 0,
        [X, Apply(Abs), Apply(Log2), Apply(Floor)]
    ),
    function!(
        F32 "frexpf" of "frexpf_fraction", 1, Bits(0x807F_FFFF), "x over the power of two above |x|, and 0 of 0", 0,
        [
            X, Whole(0), Apply(Equal), X,
            X, Whole(-1), X, Apply(Abs), Apply(Log2), Apply(Floor), Apply(Sub), Apply(Exp2), Apply(Mul),
            Apply(Select),
        ]
    ),
    // As compiled beside the exponent: both read the exponent field.
    function!(
        F32 "frexpf" of "frexpf_both", 1, Bits(0x807F_FFFF), "x over the power of two above |x|, and 0 of 0", 0,
        [
            X, Whole(0), Apply(Equal), X,
            X, Whole(-1), X, Apply(Abs), Apply(Log2), Apply(Floor), Apply(Sub), Apply(Exp2), Apply(Mul),
            Apply(Select),
        ]
    ),
    function!(
        F32 "frexpf" of "frexpf_exponent" gives Integer, 1, Bits(0x4B80_0000),
        "the exponent of the power of two above |x|, and 0 of 0", 0,
        [
            X, Whole(0), Apply(Equal), Whole(0),
            X, Apply(Abs), Apply(Log2), Apply(Floor), Whole(1), Apply(Add), Apply(Select),
        ]
    ),
    function!(F32 "tgammaf", 1, Bits(0x3BE9_03D7), "gamma(x) for positive x", 6, [X, Apply(Gamma)]),
    function!(
        F32 "lgammaf", 1, Bits(0xC381_A020), "ln gamma(x) for positive x", 8,
        [X, Apply(Gamma), Apply(Log2), LN_2, Apply(Mul)]
    ),
    function!(
        F32 "j0f", 1, Bits(0xBE52_412D), "the Bessel function J0", 9 or 2^ -18,
        [X, Apply(BesselJ0)]
    ),
    function!(
        F32 "j1f", 1, Bits(0x3EB9_14AD), "the Bessel function J1", 9 or 2^ -18,
        [X, Apply(BesselJ1)]
    ),
    function!(
        F32 "y0f", 1, Bits(0x3EE4_C176), "the Bessel function Y0 of positive x", 9 or 2^ -18,
        [X, Apply(BesselY0)]
    ),
    function!(
        F32 "y1f", 1, Bits(0x3FD9_6AC4), "the Bessel function Y1 of positive x", 9 or 2^ -18,
        [X, Apply(BesselY1)]
    ),
    function!(
        F32 "fmodf",
        2,
        Bits(0x0B80_0000),
        "x - y trunc(x/y)",
        0,
        [X, Y, X, Y, Apply(Div), Apply(Trunc), Apply(Mul), Apply(Sub)]
    ),
    function!(
        F32 "remainderf",
        2,
        Bits(0x0B80_0000),
        "x - y round(x/y), ties to even",
        0,
        [X, Y, X, Y, Apply(Div), Apply(RoundEven), Apply(Mul), Apply(Sub)]
    ),
];
