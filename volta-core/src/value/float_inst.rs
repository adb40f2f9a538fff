//! Descriptions of float instructions.

use crate::number::Rational;
use crate::number::format::{Format, Rounding, round};
use crate::program::{Clamp, Float1, Float2, Op, Precision, RegId, Src};
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

/// An instruction that computes a float from floats of its format.
#[derive(Clone, Debug)]
pub(crate) struct FloatInst {
    pub(crate) shape: Shape,
    pub(crate) d: RegId,
    pub(crate) sources: SmallVec<[Src; 3]>,
}

impl FloatInst {
    /// The instruction that an operation is, if it is one.
    #[inline]
    pub(crate) fn of(op: &Op) -> Option<FloatInst> {
        if let Op::Float1 { op, format, precision, d, a } = op {
            let (shape, sources) = Shape::of_one(*op, *format, *precision, *a);
            return Some(FloatInst { shape, d: *d, sources });
        }
        if let Op::Float2 { op, format, precision, clamp, d, a, b } = op {
            let shape = Shape::of_two(*op, *format, *precision, *clamp);
            return Some(FloatInst { shape, d: *d, sources: smallvec![*a, *b] });
        }
        if let Op::Fma { format, precision, clamp, d, a, b, c } = op {
            let shape = Shape { op: TermOp::Fma, format: *format, precision: *precision, clamp: *clamp };
            return Some(FloatInst { shape, d: *d, sources: smallvec![*a, *b, *c] });
        }
        None
    }
}

impl Shape {
    /// An operation on one float, with its operands.
    fn of_one(op: Float1, format: Format, precision: Precision, a: Src) -> (Shape, SmallVec<[Src; 3]>) {
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

    /// Whether this may be a step of an idiom that is recognised lane by lane: it rounds down.
    pub(crate) fn rounds_down(self) -> bool {
        self.precision.rounding == Rounding::Down
    }
}
