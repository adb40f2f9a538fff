//! Matrices of warp-level instructions: their shapes, elements and fragments.

use crate::number::format::Format;

/// The element type of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixElement {
    /// Floats.
    Float(Format),
    /// 8-bit integers.
    Int8 {
        /// `.s8` rather than `.u8`
        signed: bool,
    },
    /// 32-bit integers.
    Int32,
}

impl MatrixElement {
    /// Whether it is an integer.
    pub fn is_integer(self) -> bool {
        matches!(self, MatrixElement::Int8 { .. } | MatrixElement::Int32)
    }

    /// Size of an element in memory and in registers; `tf32` takes 4 bytes.
    pub fn bytes(self) -> u32 {
        match self {
            MatrixElement::Float(format) => format.bytes(),
            MatrixElement::Int8 { .. } => 1,
            MatrixElement::Int32 => 4,
        }
    }
}

/// `D = A·B + C` with `A` of `m × k` and `B` of `k × n` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixShape {
    /// Rows of A, C and D.
    pub m: u16,
    /// Columns of B, C and D.
    pub n: u16,
    /// Columns of A and rows of B.
    pub k: u16,
}

/// A multiply-accumulate: shape and elements of its four matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixProduct {
    /// The shape.
    pub shape: MatrixShape,
    /// Elements of A.
    pub a: MatrixElement,
    /// Elements of B.
    pub b: MatrixElement,
    /// Elements of C.
    pub c: MatrixElement,
    /// Elements of D.
    pub d: MatrixElement,
    /// Whether sums of integers saturate instead of wrapping around (`.satfinite`).
    pub saturate: bool,
}

/// The operand of a `wmma` that a fragment represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FragmentRole {
    /// The left factor.
    A,
    /// The right factor.
    B,
    /// The addend, and the result.
    Accumulator,
}

/// A matrix of a `wmma`, as a warp holds it: the assignment of elements to lanes is not specified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// The operand.
    pub role: FragmentRole,
    /// The shape of the product.
    pub shape: MatrixShape,
    /// Its elements.
    pub element: MatrixElement,
}

impl Fragment {
    /// Rows and columns.
    pub fn extent(self) -> (usize, usize) {
        let MatrixShape { m, n, k } = self.shape;
        let (rows, columns) = match self.role {
            FragmentRole::A => (m, k),
            FragmentRole::B => (k, n),
            FragmentRole::Accumulator => (m, n),
        };
        (rows.into(), columns.into())
    }
}
