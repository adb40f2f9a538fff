//! Copies from shared to tensor memory (`tcgen05.cp`, rule Y14), which one thread starts.

use super::shared_matrix::{Operation, SharedMatrix};
use super::tensor_memory::{Spot, split};
use super::tensor_shape::Refused;
use crate::base::lane::Lane;
use crate::concurrency::order::Pipeline;
use crate::machine::cta::accesses::Asynchronous;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::{At, Warp};
use crate::program::{Address, CopiedShape, Factor, InstId};
use crate::value::packed::Cell;

impl Asynchronous<'_, '_> {
    /// `tcgen05.cp` of one lane.
    pub(super) fn copy_to_tensor(
        &mut self,
        warp: &mut Warp,
        (lane, pc): (Lane, InstId),
        (to, from, shape): (Address, &Factor, CopiedShape),
    ) -> Result<(), Stop> {
        let at = At { warp, lane, pc };
        self.is_of_one_kind(at, false)?;
        let (first, column) = split(self.operands(warp, pc).tensor_address(lane, to)?);
        if first != 0 {
            let why = "copies to tensor memory that do not begin at lane 0 are not supported yet";
            return Err(self.context.refused(at, Refused::NotYet(why)));
        }
        let number = self.accesses.exact()?.begin_on_tensor_memory(Some(Pipeline::Copies));
        let (layout, of) = self.operands(warp, pc).described(lane, from, true)?;
        let mut by = Operation { warp, readers: &[lane], pc, number };
        let rank = by.warp.rank;
        let matrix = SharedMatrix { layout: &layout, of, rank };
        let mut words = Vec::new();
        let extent = (shape.lanes.rows() as usize, shape.columns as usize);
        self.accesses.read_shared_matrix(&mut by, matrix, (4, extent), &mut |accesses, _, place, word| {
            let packed = &mut accesses.values.terms.packed;
            words.push((place, Cell::from_pieces(&packed.split(word, 4), packed)));
            Ok(())
        })?;
        for ((row, across), content) in words {
            for to in shape.lanes.of(row as u32) {
                let place = Spot { rank, lane: to, column: column + across as u32 };
                self.write_tensor(&mut by, place, content)?;
            }
        }
        self.start_tensor_operation(&by, &[rank])
    }
}
