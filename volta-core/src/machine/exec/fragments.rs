//! The matrices that warps hold for `wmma`.

use super::matrix::Terms;
use crate::program::Clamp;
use crate::program::matrix::Fragment;
use crate::term::TermOp;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A matrix that some warp holds. Its elements are terms: of integers of 8 bits their numbers, of those of 32 bits
/// what is congruent to them.
pub(super) struct Matrix {
    pub(super) fragment: Fragment,
    /// Whether a factor was loaded by columns; nobody asks of those that were not loaded, nor of accumulators.
    pub(super) column_major: Option<bool>,
    pub(super) registers: usize,
    pub(super) terms: Rc<Terms>,
}

/// An operand of arithmetic on fragments.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    Matrix(u32),
    Term(u64),
}

/// All matrices of a CTA.
#[derive(Default)]
pub(in super::super) struct Fragments {
    pub(super) matrices: Vec<Matrix>,
    /// What arithmetic made of matrices: the first register that does it makes the matrix, the others find it.
    pub(super) derived: FxHashMap<(TermOp, Clamp, [Operand; 3]), u32>,
}

impl Fragments {
    /// Bytes that they hold.
    pub(in super::super) fn bytes(&self) -> u64 {
        let terms: usize = self.matrices.iter().map(|matrix| 8 * matrix.terms.raw.len() + 96).sum();
        terms as u64
    }
}
