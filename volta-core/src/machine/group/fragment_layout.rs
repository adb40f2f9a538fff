//! Where the elements of `mma.sync` matrices lie (PTX ISA, Matrix multiply-accumulate operation using `mma`).
//!
//! A warp's lanes are 8 groups of 4: lane `4·g + t`. A register holds `e` neighbouring elements (two of 16 bits, four
//! of 8 bits, one otherwise), the first in its low bits. Successive registers of A advance by 8 rows first and then by
//! `4·e` columns; those of B by `4·e` rows. Two neighbouring columns of C and D are in one lane, whatever their size.

use crate::base::lane::Lane;
use crate::program::matrix::{MatrixElement, MatrixShape};

/// Elements in one register.
pub(crate) fn elements_in_register(element: MatrixElement) -> usize {
    (4 / element.bytes() as usize).max(1)
}

/// Row and column in A of a lane's element `at`, counted over its registers.
pub(crate) fn of_a(shape: MatrixShape, element: MatrixElement, lane: Lane, at: usize) -> (usize, usize) {
    let e = elements_in_register(element);
    let (group, thread) = (lane.index() / 4, lane.index() % 4);
    let (register, inside) = (at / e, at % e);
    let (down, right) = if shape.m == 16 { (register % 2, register / 2) } else { (0, register) };
    (group + 8 * down, e * thread + inside + 4 * e * right)
}

/// Row and column in B of a lane's element `at`.
pub(crate) fn of_b(element: MatrixElement, lane: Lane, at: usize) -> (usize, usize) {
    let e = elements_in_register(element);
    let (group, thread) = (lane.index() / 4, lane.index() % 4);
    let (register, inside) = (at / e, at % e);
    (e * thread + inside + 4 * e * register, group)
}

/// Row and column in C or D of a lane's element `at`.
pub(crate) fn of_c(lane: Lane, at: usize) -> (usize, usize) {
    (lane.index() / 4 + 8 * (at / 2), 2 * (lane.index() % 4) + at % 2)
}

/// Row and column of register `at` of a lane in a `wmma` accumulator of 16 × 16 elements of f32, as sm_80 has it: the
/// fragments of C of two products of 16 × 8, the left one first. The ISA does not say so.
pub(crate) fn of_wide_c(lane: Lane, at: usize) -> (usize, usize) {
    let (row, column) = of_c(lane, at % 4);
    (row, column + 8 * (at / 4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::format::Format;
    use std::collections::BTreeSet;

    const F16: MatrixElement = MatrixElement::Float(Format::F16);
    const TF32: MatrixElement = MatrixElement::Float(Format::Tf32);
    const F64: MatrixElement = MatrixElement::Float(Format::F64);
    const S8: MatrixElement = MatrixElement::Int8 { signed: true };

    fn shapes() -> Vec<(MatrixElement, MatrixShape)> {
        let shape = |m, n, k| MatrixShape { m, n, k };
        vec![
            (F16, shape(16, 8, 8)),
            (F16, shape(16, 8, 16)),
            (TF32, shape(16, 8, 4)),
            (TF32, shape(16, 8, 8)),
            (F64, shape(8, 8, 4)),
            (F64, shape(16, 8, 4)),
            (F64, shape(16, 8, 8)),
            (F64, shape(16, 8, 16)),
            (S8, shape(8, 8, 16)),
            (S8, shape(16, 8, 16)),
            (S8, shape(16, 8, 32)),
        ]
    }

    /// Every element of a matrix lies in exactly one place.
    #[test]
    fn fragments_cover_their_matrices_once() {
        for (element, shape) in shapes() {
            let (m, n, k) = (usize::from(shape.m), usize::from(shape.n), usize::from(shape.k));
            let covers = |rows: usize, columns: usize, place: &dyn Fn(Lane, usize) -> (usize, usize)| {
                let count = rows * columns / 32;
                let places: BTreeSet<(usize, usize)> = Lane::all()
                    .flat_map(|lane| (0..count).map(move |at| (lane, at)))
                    .map(|(l, i)| place(l, i))
                    .collect();
                assert_eq!(places.len(), rows * columns, "{shape:?} of {element:?}");
                assert!(places.iter().all(|(row, column)| *row < rows && *column < columns));
            };
            covers(m, k, &|lane, at| of_a(shape, element, lane, at));
            covers(k, n, &|lane, at| of_b(element, lane, at));
            covers(m, n, &of_c);
            covers(16, 16, &of_wide_c);
        }
    }

    /// The formulas of the ISA's figures, written out for some shapes.
    #[test]
    fn fragments_are_those_of_the_isa() {
        let shape = |m, n, k| MatrixShape { m, n, k };
        for lane in Lane::all() {
            let (g, t) = (lane.index() / 4, lane.index() % 4);
            for i in 0..8 {
                let row = g + if (2..4).contains(&i) || i >= 6 { 8 } else { 0 };
                let column = t * 2 + (i & 1) + if i >= 4 { 8 } else { 0 };
                assert_eq!(of_a(shape(16, 8, 16), F16, lane, i), (row, column));
            }
            for i in 0..4 {
                assert_eq!(of_b(F16, lane, i), (t * 2 + (i & 1) + if i >= 2 { 8 } else { 0 }, g));
                assert_eq!(of_c(lane, i), (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1)));
                let row = if i == 0 || i == 2 { g } else { g + 8 };
                assert_eq!(of_a(shape(16, 8, 8), TF32, lane, i), (row, if i < 2 { t } else { t + 4 }));
            }
            for i in 0..16 {
                let row = if i < 4 || (8..12).contains(&i) { g } else { g + 8 };
                let column = t * 4 + (i & 3) + if i >= 8 { 16 } else { 0 };
                assert_eq!(of_a(shape(16, 8, 32), S8, lane, i), (row, column));
            }
            for i in 0..8 {
                let row = if i < 4 { t * 4 + (i & 3) } else { t * 4 + (i & 3) + 16 };
                assert_eq!(of_b(S8, lane, i), (row, g));
            }
            assert_eq!(of_a(shape(8, 8, 4), F64, lane, 0), (g, t));
            assert_eq!(of_b(F64, lane, 0), (t, g));
        }
    }
}
