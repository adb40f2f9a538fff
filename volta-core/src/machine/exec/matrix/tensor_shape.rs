//! What the instruction descriptor of a product into tensor memory says (rule Y14).

use crate::number::format::Format;
use crate::program::ProductKind;
use crate::program::matrix::MatrixElement;

const F16: MatrixElement = MatrixElement::Float(Format::F16);

/// Size of a row of a factor.
pub(super) const ROW_BYTES: u32 = 32;

/// The fields of an instruction descriptor (ISA, Instruction descriptor).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) k: usize,
    /// Two CTAs each hold half of the rows of A, of the columns of B, and of the rows of the result.
    pub(crate) pair: bool,
    /// Of A and of B; `None` where products of such elements are not evaluated.
    pub(crate) factors: Option<[MatrixElement; 2]>,
    pub(crate) result: MatrixElement,
    /// The byte of a column that holds the first scale of a row, for A and for B.
    pub(super) scales: [u32; 2],
    /// Whether sums of integers saturate.
    pub(crate) saturate: bool,
    /// Of A and of B.
    pub(crate) negated: [bool; 2],
    pub(crate) transposed: [bool; 2],
}

/// Why a descriptor is rejected.
pub(crate) enum Refused {
    /// Not allowed by the ISA.
    Wrong(String),
    /// Not supported yet.
    NotYet(&'static str),
}

impl Shape {
    pub(crate) fn of(
        kind: ProductKind,
        pair: bool,
        blocks: Option<u32>,
        bits: u32,
    ) -> Result<Shape, Refused> {
        let field = |low: u32, width: u32| bits >> low & ((1 << width) - 1);
        if field(2, 1) == 1 {
            return Err(Refused::NotYet("sparse factors are not supported yet"));
        }
        if pair && blocks.is_some() {
            return Err(Refused::NotYet("block-scaled factors of two CTAs are not supported yet"));
        }
        let integers = kind == ProductKind::Integer;
        // Integers saturate, and are not negated; floats the other way round.
        let reserved: &[(u32, u32)] = match kind {
            ProductKind::Integer => &[(0, 2), (13, 2), (6, 1), (23, 1), (29, 1), (30, 2)],
            ProductKind::Half | ProductKind::Tf32 | ProductKind::Narrow => {
                &[(0, 2), (3, 1), (6, 1), (23, 1), (29, 1), (30, 2)]
            }
            ProductKind::ScaledNarrow => &[(0, 2), (3, 1), (6, 1), (24, 3), (31, 1)],
            ProductKind::ScaledFour => &[(0, 2), (3, 1), (6, 1), (12, 1), (15, 2), (24, 3)],
        };
        if let Some((low, _)) = reserved.iter().find(|(low, width)| field(*low, *width) != 0) {
            return Err(Refused::Wrong(format!(
                "bit {low} of its instruction descriptor is not 0, or one above it"
            )));
        }
        if kind == ProductKind::ScaledFour && field(31, 1) == 1 {
            return Err(Refused::NotYet("products of 96 elements in k are not supported yet"));
        }
        let scales = Shape::scales(kind, blocks, [field(29, 2), field(4, 2)], field(23, 1))?;
        let element = |low: u32, of: &str| {
            let code = field(low, 3);
            Ok(Some(MatrixElement::Float(match (kind, code) {
                (ProductKind::Integer, 0 | 1) => return Ok(Some(MatrixElement::Int8 { signed: code == 1 })),
                (ProductKind::Half, 0) => Format::F16,
                (ProductKind::Half, 1) => Format::Bf16,
                (ProductKind::Tf32, 2) => Format::Tf32,
                (ProductKind::Narrow | ProductKind::ScaledNarrow, 0) => Format::E4m3,
                (ProductKind::Narrow | ProductKind::ScaledNarrow, 1) => Format::E5m2,
                (ProductKind::Narrow | ProductKind::ScaledNarrow, 3..=5) | (ProductKind::ScaledFour, 1) => {
                    return Ok(None);
                }
                _ => return Err(Refused::Wrong(format!("type {code} of {of} does not exist in this kind"))),
            })))
        };
        let (a, b) = (element(7, "A")?, element(10, "B")?);
        let d = match (kind, field(4, 2)) {
            (ProductKind::ScaledNarrow | ProductKind::ScaledFour, _) => MatrixElement::Float(Format::F32),
            (ProductKind::Integer, 2) => MatrixElement::Int32,
            (ProductKind::Half | ProductKind::Tf32 | ProductKind::Narrow, 1) => {
                MatrixElement::Float(Format::F32)
            }
            (ProductKind::Half | ProductKind::Narrow, 0) => F16,
            (_, code) => {
                return Err(Refused::Wrong(format!("type {code} of the result does not exist in this kind")));
            }
        };
        if kind == ProductKind::Half && (a != b || d == F16 && a != Some(F16)) {
            return Err(Refused::Wrong(
                "its instruction descriptor combines types that do not exist together".into(),
            ));
        }
        let rows = if blocks.is_some() { 128 * field(27, 2) } else { 16 * field(24, 5) } as usize;
        let columns = 8 * field(17, 6) as usize;
        let ctas = if pair { 2 } else { 1 };
        // Integers allow fewer shapes.
        let step = match (integers, pair) {
            (true, true) => 32,
            (true, false) if columns > 32 => 16,
            _ => 8 * ctas,
        };
        let is_shape = (rows == 64 * ctas && blocks.is_none() || rows == 128 * ctas)
            && (8 * ctas..=256).contains(&columns)
            && columns.is_multiple_of(step);
        if !is_shape {
            return Err(Refused::Wrong(format!(
                "its instruction descriptor says {rows} × {columns}, but it must be {} or {} rows and a multiple of \
                 {step} columns up to 256",
                64 * ctas,
                128 * ctas
            )));
        }
        let flag = |at: u32| field(at, 1) == 1;
        let transposed = [flag(15), flag(16)];
        if transposed.contains(&true) && kind == ProductKind::Tf32 {
            return Err(Refused::NotYet("transposed factors of 32 bits are not supported yet"));
        }
        if transposed[1] && b.is_none_or(|b| b.bytes() == 1) && !columns.is_multiple_of(16 * ctas) {
            return Err(Refused::Wrong(format!(
                "B is a transposed matrix of bytes with {columns} columns, which is not a multiple of {}",
                16 * ctas
            )));
        }
        let k = (ROW_BYTES / a.map_or(1, MatrixElement::bytes)) as usize;
        let (factors, negated) = (a.zip(b).map(<[_; 2]>::from), [flag(13), flag(14)]);
        let saturate = integers && flag(3);
        Ok(Shape { rows, columns, k, pair, factors, result: d, scales, saturate, negated, transposed })
    }

    /// Checks the type and the place of scales, and returns the byte of a column that holds the first one of a row, for A
    /// and for B.
    fn scales(
        kind: ProductKind,
        blocks: Option<u32>,
        first: [u32; 2],
        is_power: u32,
    ) -> Result<[u32; 2], Refused> {
        let Some(blocks) = blocks else { return Ok([0; 2]) };
        if is_power == 0 && (kind == ProductKind::ScaledNarrow || blocks != 4) {
            return Err(Refused::Wrong(
                "bit 23 of its instruction descriptor is 0, but only with four scales in a row may they be other \
                 numbers than powers of two"
                    .into(),
            ));
        }
        if first.iter().any(|first| !first.is_multiple_of(blocks)) {
            return Err(Refused::Wrong(format!(
                "its instruction descriptor says that scales begin at bytes {} and {}, but each row has {blocks} of \
                 them",
                first[0], first[1]
            )));
        }
        Ok(first)
    }

    /// Number of CTAs that take part.
    pub(crate) fn ctas(&self) -> usize {
        if self.pair { 2 } else { 1 }
    }

    /// Which CTA of two holds an element of the result, and in which lane and column of tensor memory relative to the
    /// first ones (ISA, Data Path Layout Organization: D and F of one CTA, A and B of two). Of 128 rows of two CTAs,
    /// each holds 64, with the right half of their columns below the left one.
    pub(crate) fn place(&self, row: usize, column: usize) -> (usize, u32, u32) {
        let (rows, half) = (self.rows / self.ctas(), self.columns / 2);
        let (cta, row) = (row / rows, row % rows);
        let (lane, column) = match (self.pair, rows) {
            (true, 64) => (row + column / half * 64, column % half),
            (false, 64) => (row / 16 * 32 + row % 16, column),
            _ => (row, column),
        };
        (cta, lane as u32, column as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::TENSOR_LANES;
    use std::collections::BTreeSet;

    fn shape(rows: usize, columns: usize, pair: bool) -> Shape {
        let of = |at: u32, value: usize| (value as u32) << at;
        let bits = 1 << 4 | of(17, columns / 8) | of(24, rows / 16);
        let shape = Shape::of(ProductKind::Half, pair, None, bits);
        shape.unwrap_or_else(|_| panic!("{rows} × {columns}"))
    }

    /// Each element of a result has its own place, and all places together fill lanes and columns.
    #[test]
    fn results_cover_their_places_once() {
        let shapes = [(64, 24, false, 1), (128, 24, false, 1), (128, 48, true, 2), (256, 48, true, 1)];
        for (rows, columns, pair, narrower) in shapes {
            let shape = shape(rows, columns, pair);
            let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            let places: BTreeSet<(usize, u32, u32)> =
                all.map(|(row, column)| shape.place(row, column)).collect();
            assert_eq!(places.len(), rows * columns);
            let inside = |(cta, lane, column): &(usize, u32, u32)| {
                *cta < shape.ctas() && *lane < TENSOR_LANES && (*column as usize) < columns / narrower
            };
            assert!(places.iter().all(inside), "{shape:?}");
        }
    }

    /// The layouts as CuTe writes the accumulators of `tmem_frg`, `(row, column)` to `lane + 128·column`:
    /// `((16,4),n):((1,32),128)`, `(128,n):(1,128)`, and of two CTAs of 64 rows `(64,(n/2,2)):(1,(128,64))`.
    #[test]
    fn results_lie_as_accumulators_of_cute() {
        let n = 32;
        for row in 0..256 {
            for column in 0..n {
                let flat = |rows: usize, pair| {
                    let (cta, lane, across) = shape(rows, n, pair).place(row % rows, column);
                    (cta, lane as usize + 128 * across as usize)
                };
                let half = row % 64;
                assert_eq!(flat(64, false), (0, half % 16 + half / 16 * 32 + 128 * column));
                assert_eq!(flat(128, false), (0, row % 128 + 128 * column));
                let (low, high) = (column % (n / 2), column / (n / 2));
                assert_eq!(flat(128, true), (row % 128 / 64, half + 128 * low + 64 * high));
                assert_eq!(flat(256, true), (row / 128, row % 128 + 128 * column));
            }
        }
    }

    #[test]
    fn shapes_are_those_of_the_isa() {
        let is_shape = |kind, pair, rows: u32, columns: u32| {
            let types = if kind == Integer { 2 << 4 } else { 1 << 4 };
            Shape::of(kind, pair, None, types | ((columns / 8) << 17) | ((rows / 16) << 24)).is_ok()
        };
        use ProductKind::{Half, Integer};
        let facts = [
            (Half, false, 64, 8, true),
            (Half, false, 128, 248, true),
            (Half, false, 256, 64, false),
            (Half, true, 64, 64, false),
            (Half, true, 128, 16, true),
            (Half, true, 128, 24, false),
            (Half, true, 256, 256, true),
            (Integer, false, 64, 24, true),
            (Integer, false, 64, 40, false),
            (Integer, false, 128, 48, true),
            (Integer, true, 256, 48, false),
            (Integer, true, 256, 64, true),
        ];
        for (kind, pair, rows, columns, known) in facts {
            assert_eq!(is_shape(kind, pair, rows, columns), known, "{kind:?} {pair} {rows} × {columns}");
        }
    }
}
