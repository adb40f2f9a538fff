//! Copies from shared to tensor memory (`tcgen05.cp`, rule Y14), which one thread starts.

use super::shared_matrix::SharedMatrix;
use super::tensor_memory::{Spot, split};
use super::tensor_shape::Refused;
use crate::base::lane::Lane;
use crate::concurrency::agent::Agent;
use crate::concurrency::order::Pipeline;
use crate::machine::cta::accesses::Asynchronous;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::program::{Address, CopiedShape, Factor, InstId};
use crate::value::packed::Cell;

impl Asynchronous<'_, '_> {
    /// `tcgen05.cp` of one lane.
    pub(super) fn copy_to_tensor(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        (to, from, shape): (Address, &Factor, CopiedShape),
    ) -> Result<(), Stop> {
        self.is_of_one_kind(warp, lane, pc, false)?;
        let (first, column) = split(self.accesses.values.terms.operands(warp, pc).tensor_address(lane, to)?);
        if first != 0 {
            let why = "copies to tensor memory that do not begin at lane 0 are not supported yet";
            return Err(self.context.refused(Refused::NotYet(why), warp, lane, pc));
        }
        let number = self.accesses.exact()?.begin_on_tensor_memory(Some(Pipeline::Copies));
        let by = (pc, Agent::Copy { number, proxy: None, update: None });
        let (layout, of) = self.accesses.values.terms.operands(warp, pc).described(lane, from, true)?;
        let matrix = SharedMatrix { layout: &layout, of, rank: warp.rank };
        let mut words = Vec::new();
        let extent = (shape.lanes.rows() as usize, shape.columns as usize);
        self.accesses.read_shared_matrix(
            warp,
            &[lane],
            pc,
            matrix,
            (4, extent, number),
            &mut |accesses, _, (row, across), word| {
                let pieces = accesses.values.terms.packed.split(word, 4);
                words.push((
                    row as u32,
                    across as u32,
                    Cell::from_pieces(&pieces, &mut accesses.values.terms.packed),
                ));
                Ok(())
            },
        )?;
        for (row, across, content) in words {
            for to in shape.lanes.of(row) {
                let place = Spot { rank: warp.rank, lane: to, column: column + across };
                self.write_tensor(warp, &[lane], by, place, content)?;
            }
        }
        self.start_tensor_operation(warp.thread(lane), pc, number, &[warp.rank])
    }
}
