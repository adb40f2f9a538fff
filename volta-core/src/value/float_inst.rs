//! Descriptions of float instructions.

use crate::number::Rational;
use crate::number::format::{Format, Rounding, round};
use crate::program::{Clamp, Float1, Float2, Precision, Src};
use crate::term::TermOp;
use smallvec::{SmallVec, smallvec};

/// What a float instruction computes, without its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) op: TermOp,
    pub(crate) format: Format,
    pub(crate) precision: Precision,
    pub(crate) clamp: Clamp,
}

impl Shape {
    /// An operation on one float, with its operands.
    pub(crate) fn of_one(
        op: Float1,
        format: Format,
        precision: Precision,
        a: Src,
    ) -> (Shape, SmallVec<[Src; 2]>) {
        let (op, sources) = match op {
            Float1::Neg => (TermOp::Neg, smallvec![a]),
            Float1::Abs => (TermOp::Abs, smallvec![a]),
            Float1::Ex2 => (TermOp::Exp2, smallvec![a]),
            Float1::Lg2 => (TermOp::Log2, smallvec![a]),
            Float1::Sqrt => (TermOp::Sqrt, smallvec![a]),
            Float1::Rsqrt => (TermOp::Rsqrt, smallvec![a]),
            Float1::Sin => (TermOp::Sin, smallvec![a]),
            Float1::Cos => (TermOp::Cos, smallvec![a]),
            Float1::Tanh => (TermOp::Tanh, smallvec![a]),
            Float1::Rcp => {
                let one = round(&Rational::ONE, format, Rounding::Nearest);
                (TermOp::Div, smallvec![Src::Imm(one), a])
            }
        };
        (Shape { op, format, precision, clamp: Clamp::None }, sources)
    }

    /// An operation on two floats.
    pub(crate) fn of_two(op: Float2, format: Format, precision: Precision, clamp: Clamp) -> Shape {
        let op = match op {
            Float2::Add => TermOp::Add,
            Float2::Sub => TermOp::Sub,
            Float2::Mul => TermOp::Mul,
            Float2::Div => TermOp::Div,
            Float2::Min => TermOp::Min,
            Float2::Max => TermOp::Max,
            Float2::CopySign => TermOp::CopySign,
        };
        Shape { op, format, precision, clamp }
    }

    /// Of `fma`.
    pub(crate) fn of_fma(format: Format, precision: Precision, clamp: Clamp) -> Shape {
        Shape { op: TermOp::Fma, format, precision, clamp }
    }

    /// Whether this may be a step of an idiom that is recognised lane by lane: it rounds down.
    pub(crate) fn rounds_down(self) -> bool {
        self.precision.rounding == Rounding::Down
    }
}
