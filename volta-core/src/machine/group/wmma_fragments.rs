//! The `wmma` matrices that warps hold.

use super::matrix_terms::Terms;
use crate::program::Clamp;
use crate::program::matrix::Fragment;
use crate::term::TermOp;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A matrix of a warp. Its elements are terms: for 8-bit integers their numbers, for 32-bit integers terms congruent to
/// them.
pub(crate) struct Matrix {
    pub(crate) fragment: Fragment,
    /// Whether a factor was loaded in column-major order; unused for matrices that were not loaded, and for
    /// accumulators.
    pub(crate) column_major: Option<bool>,
    pub(crate) registers: usize,
    pub(crate) terms: Rc<Terms>,
}

/// An operand of arithmetic on fragments.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operand {
    Matrix(u32),
    Term(u64),
}

/// All matrices of a CTA.
#[derive(Default)]
pub(crate) struct Fragments {
    pub(crate) matrices: Vec<Matrix>,
    /// Results of arithmetic on matrices: the first register to which an operation is applied creates the matrix, the
    /// others find it.
    pub(crate) derived: FxHashMap<(TermOp, Clamp, [Operand; 3]), u32>,
}

impl Fragments {
    /// Adds a matrix, and returns its number.
    pub(crate) fn add(&mut self, matrix: Matrix) -> u32 {
        self.matrices.push(matrix);
        self.matrices.len() as u32 - 1
    }

    /// Bytes of memory that they take.
    pub(crate) fn bytes(&self) -> u64 {
        let terms: usize = self.matrices.iter().map(|matrix| 8 * matrix.terms.raw.len() + 96).sum();
        terms as u64
    }
}
