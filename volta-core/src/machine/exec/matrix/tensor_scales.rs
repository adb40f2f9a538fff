//! Scales of blocks of the factors of a product into tensor memory (rule Y14).

use super::tensor_memory::{Spot, split};
use super::tensor_product::Multiplied;
use super::tensor_shape::Refused;
use crate::base::lane::{Lane, LaneMask};
use crate::machine::cta::accesses::Asynchronous;
use crate::machine::group::matrix_terms::{Terms, UNDEFINED, is_undefined};
use crate::machine::group::stop::Stop;
use crate::machine::group::values::Matrices;
use crate::machine::group::warp::At;
use crate::number::format::Format;
use crate::program::matrix::MatrixElement;
use crate::program::{InstId, Scales, TENSOR_LANES};
use crate::term::{TermId, TermOp};

/// Groups of 32 lanes; each holds a copy of all scales.
const QUARTERS: u32 = 4;

impl Asynchronous<'_, '_> {
    /// Reads the scales of the rows of A and of the columns of B, in all quarters of the lanes, and returns those that
    /// are evaluated: where a row has one scale.
    pub(super) fn scales(
        &mut self,
        started: &mut Multiplied<'_>,
        scales: Scales,
    ) -> Result<[Vec<u64>; 2], Stop> {
        let (shape, At { lane, pc, .. }) = (started.shape, started.by.at());
        let of = [(scales.a, shape.rows, shape.scales[0]), (scales.b, shape.columns, shape.scales[1])];
        let mut all = [Vec::new(), Vec::new()];
        for ((address, rows, byte), read) in of.into_iter().zip(&mut all) {
            let (first, column) = split(self.operands(started.by.warp, pc).tensor_address(lane, address)?);
            if first != 0 {
                let why = "scales of blocks that do not begin at lane 0 are not supported yet";
                return Err(self.context.refused(started.by.at(), Refused::NotYet(why)));
            }
            for row in 0..rows as u32 {
                let mut found = None;
                for quarter in 0..QUARTERS {
                    let down = quarter * TENSOR_LANES / QUARTERS + row % 32;
                    let rank = started.by.warp.rank;
                    let place = Spot { rank, lane: down, column: column + row / 32 };
                    let value = self.read_tensor(&mut started.by, place, (byte, scales.blocks))?;
                    if shape.factors.is_none() {
                        continue;
                    }
                    let scale = MatrixElement::Float(Format::Ue8m0);
                    let raw = self.matrices().raw_element(started.by.at(), scale, value)?;
                    if *found.get_or_insert(raw) != raw {
                        let why =
                            "scales that are not known to be the same in each 32 lanes are not supported";
                        return Err(self.context.refused(started.by.at(), Refused::NotYet(why)));
                    }
                }
                read.extend(found);
            }
        }
        Ok(all)
    }
}

impl Matrices<'_, '_> {
    /// Multiplies each element by the scale of its row and column.
    pub(crate) fn scale(&mut self, terms: &mut Terms, pc: InstId, scale: impl Fn(usize, usize) -> u64) {
        let columns = terms.columns;
        for (chunk, first) in terms.raw.chunks_mut(32).zip((0..).step_by(32)) {
            let (mut elements, mut scales) = ([UNDEFINED; 32], [UNDEFINED; 32]);
            let mut mask = LaneMask::NONE;
            for (at, (raw, lane)) in chunk.iter_mut().zip(Lane::all()).enumerate() {
                let scale = scale((first + at) / columns, (first + at) % columns);
                if is_undefined(scale) {
                    *raw = scale;
                } else if !is_undefined(*raw) {
                    (elements[lane], scales[lane]) = (*raw, scale);
                    mask.insert(lane);
                }
            }
            if mask.is_empty() {
                continue;
            }
            let results = self.terms.store.push_shared(TermOp::Mul, mask, &[&elements, &scales], pc);
            for lane in mask {
                let result = results.lane(lane);
                // As for a negated factor: the order in which sums are rounded is open (rule V10).
                if self.numbers.known.contains(elements[lane]) && self.numbers.known.contains(scales[lane]) {
                    self.numbers.known.insert_unbounded(TermId::from_raw(result));
                }
                chunk[lane] = result;
            }
        }
    }
}
