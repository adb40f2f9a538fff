//! Tensor memory: allocations, and transfers between it and registers (rule Y14).
//!
//! As with other asynchronous operations, contents change immediately: accessing them before the operation is over is a
//! race.

use super::shared_matrix::Operation;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::concurrency::race::{Detector, VectorClockDetector};
use crate::launch::objects::Backing;
use crate::machine::cta::accesses::{Asynchronous, LaneAccess, WarpAccess};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::Operands;
use crate::machine::group::warp::{At, Warp};
use crate::machine::memory::tensor_allocations::{Allocation, Freed, UNIT, cell};
use crate::program::{
    Access, Address, InstId, MemoryPlace, Moved, RegId, Src, TENSOR_COLUMNS, TENSOR_LANES, TensorMemoryOp,
};
use crate::value::packed::{Cell, PackedPart};
use crate::value::{Origin, Value};
use crate::verdict::FaultKind;

/// Number of lanes of tensor memory that each of four warps can access.
const QUARTER: u32 = 32;

/// A column of a lane in the tensor memory of a CTA of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(crate) rank: u32,
    pub(crate) lane: u32,
    pub(crate) column: u32,
}

impl Spot {
    /// The cell so many lanes and columns further on.
    fn on(self, lanes: u32, columns: u32) -> Spot {
        Spot { lane: self.lane + lanes, column: self.column + columns, ..self }
    }
}

impl Asynchronous<'_, '_> {
    /// Executes an operation on tensor memory.
    pub(crate) fn tensor(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        operation: &TensorMemoryOp,
    ) -> Result<(), Stop> {
        self.accesses.exact()?;
        if let TensorMemoryOp::Allocate { pair, .. }
        | TensorMemoryOp::Free { pair, .. }
        | TensorMemoryOp::Relinquish { pair } = operation
        {
            self.is_of_one_kind(At::first(warp, pc), *pair)?;
        }
        match operation {
            TensorMemoryOp::Allocate { to, columns, pair } => self.allocate(warp, pc, *to, (*columns, *pair)),
            TensorMemoryOp::Free { address, columns, pair } => {
                self.free(warp, pc, *address, (*columns, *pair))
            }
            TensorMemoryOp::Relinquish { .. } => self.relinquish(warp, pc),
            TensorMemoryOp::Load { d, from } => self.load_tensor(warp, pc, d, *from),
            TensorMemoryOp::Store { to, a } => self.store_tensor(warp, pc, *to, a),
            TensorMemoryOp::Wait { loads } => self.wait_for_tensor(warp, *loads),
            TensorMemoryOp::Fence { before } => {
                let clocks = &mut self.accesses.exact()?.clocks;
                for lane in mask {
                    let thread = warp.thread(lane) as usize;
                    if *before { clocks.fence_before(thread) } else { clocks.fence_after(thread) }
                }
                Ok(())
            }
            TensorMemoryOp::Copy { to, from, shape } => {
                mask.iter().try_for_each(|lane| self.copy_to_tensor(warp, (lane, pc), (*to, from, *shape)))
            }
            TensorMemoryOp::Multiply(product) => {
                mask.iter().try_for_each(|lane| self.multiply_tensor(warp, (lane, pc), product))
            }
        }
    }

    /// `tcgen05.alloc`
    fn allocate(
        &mut self,
        warp: &mut Warp,
        pc: InstId,
        to: MemoryPlace,
        (columns, pair): (Src, bool),
    ) -> Result<(), Stop> {
        let columns = self.operands(warp, pc).columns(columns)?;
        if let Some((thread, at)) = self.tensor_memory.relinquished.get(&warp.rank).copied() {
            let message = "tensor memory is allocated after `tcgen05.relinquish_alloc_permit`".to_string();
            let sites = vec![
                self.context.site_of_thread("gives it up".into(), thread, at),
                self.context.site("allocates".into(), warp, Lane::FIRST, pc),
            ];
            return Err(self.context.fault_at(FaultKind::Allocation, "Y14", message, sites, None));
        }
        let thread = warp.thread(Lane::FIRST);
        let exact = self.accesses.sync.order.exact()?;
        let of_both = if pair { Some(self.number_of_what_both_do(warp)?) } else { None };
        let is_this = |held: &&Allocation| held.rank == warp.rank && pair && held.of_both == of_both;
        let may_grow = |held: &&Allocation| {
            if held.rank != warp.rank || is_this(held) {
                return false;
            }
            let is_past = exact.clocks.is_past(thread as usize, held.thread as usize, held.stamp);
            columns > held.columns || columns != held.columns && !is_past
        };
        if let Some(last) = self.tensor_memory.allocations.iter().rev().find(may_grow) {
            let message = format!(
                "{columns} columns of tensor memory are allocated after {}, or that depends on the schedule; an \
                 allocation must not be larger than an earlier one",
                last.columns
            );
            let sites = vec![
                self.context.site_of_thread(format!("allocates {}", last.columns), last.thread, last.pc),
                self.context.site(format!("allocates {columns}"), warp, Lane::FIRST, pc),
            ];
            return Err(self.context.fault_at(FaultKind::Allocation, "Y14", message, sites, None));
        }
        let stamp = self.accesses.exact()?.clocks.now(thread as usize);
        let agent = self.accesses.sync.any_of(warp, LaneMask::ALL);
        // If the other CTA of a pair came first, it has allocated for both.
        let first = if let Some(held) = self.tensor_memory.allocations.iter().find(is_this).copied() {
            self.context.is_same_for_both(At::first(warp, pc), &held, columns)?;
            held.first
        } else {
            let at = At::first(warp, pc);
            let ranks = if pair { vec![warp.rank, self.context.peer(at)?] } else { vec![warp.rank] };
            let Some(first) = self.tensor_memory.free_columns(&ranks, columns) else {
                let why = "an allocation that waits until other tensor memory is freed is not supported";
                return Err(self.context.fault_of(at, FaultKind::Unsupported, "S2", why.to_string()));
            };
            for rank in ranks {
                let (thread, stamp, pc) = match of_both.filter(|_| rank != warp.rank) {
                    Some(number) => self.come_to(rank, number)?,
                    None => (thread, stamp, pc),
                };
                let held = Allocation { rank, of_both, first, columns, thread, stamp, pc, freed: None };
                self.tensor_memory.allocations.push(held);
            }
            first
        };
        let address = self.accesses.values.terms.addresses(warp, LaneMask::ALL, to.address, pc)?;
        if address.iter().any(|other| *other != address[0]) {
            return Err(self.context.not_uniform(At::first(warp, pc), "Y14"));
        }
        let mut offsets = [0; 32];
        let place = (to.space, address[0]);
        let access = LaneAccess { place, bytes: 4, alignment: 4, agent, writes: true };
        let at = self.accesses.locate_lane(warp, Lane::FIRST, pc, access, &mut offsets)?;
        if !matches!(at.object.backing, Backing::Shared(_)) {
            let message = "the address of tensor memory is stored outside of shared memory".to_string();
            return Err(self.context.fault(FaultKind::OutOfBounds, "Y14", message, warp, Lane::FIRST, pc));
        }
        let content = Cell::of(Value::Undefined(Origin::Columns(first)));
        self.accesses.write_cell(warp, Lane::FIRST, &at, at.offsets[0] / 4, 0xf, content)
    }

    /// `tcgen05.dealloc`
    fn free(
        &mut self,
        warp: &mut Warp,
        pc: InstId,
        address: Src,
        (columns, pair): (Src, bool),
    ) -> Result<(), Stop> {
        let operands = self.operands(warp, pc);
        let columns = operands.columns(columns)?;
        let of_both = if pair { Some(self.number_of_what_both_do(warp)?) } else { None };
        let first = operands.same_in_all_lanes(address, ("an address of tensor memory", "Y14"))? as u32;
        let is_held = |held: &Allocation| {
            held.rank == warp.rank && held.freed.is_none() && (held.first, held.columns) == (first, columns)
        };
        let Some(number_of_it) = self.tensor_memory.allocations.iter().position(is_held) else {
            let message = format!(
                "{columns} columns of tensor memory are freed that were not allocated together or are already free"
            );
            return Err(self.context.misallocation(At::first(warp, pc), message));
        };
        // All operations on it must be over, and later ones find nothing.
        let number = self.accesses.exact()?.begin_on_tensor_memory(None);
        let readers = self.accesses.sync.readers(warp);
        let mut by = Operation { warp, readers: &readers, pc, number };
        for lane in 0..TENSOR_LANES {
            for column in first..first + columns {
                let place = Spot { rank: by.warp.rank, lane, column };
                self.write_tensor(&mut by, place, Cell::UNWRITTEN)?;
            }
        }
        let warp = by.warp;
        let exact = self.accesses.exact()?;
        let thread = warp.thread(Lane::FIRST);
        let freed = Freed { of_both, thread, stamp: exact.clocks.now(thread as usize), pc };
        LaneMask::ALL.iter().for_each(|lane| exact.end_copy(number, warp.thread(lane)));
        self.tensor_memory.allocations[number_of_it].freed = Some(freed);
        self.check_budgets()
    }

    /// `tcgen05.relinquish_alloc_permit`
    fn relinquish(&mut self, warp: &Warp, pc: InstId) -> Result<(), Stop> {
        let thread = warp.thread(Lane::FIRST);
        let exact = self.accesses.sync.order.exact()?;
        let is_past = |held: &&Allocation| {
            held.rank != warp.rank || exact.clocks.is_past(thread as usize, held.thread as usize, held.stamp)
        };
        if let Some(late) = self.tensor_memory.allocations.iter().find(|held| !is_past(held)).copied() {
            let message =
                "it depends on the schedule whether tensor memory is allocated before `tcgen05.relinquish_alloc_permit`"
                    .to_string();
            let sites = vec![
                self.context.site_of_thread("allocates".into(), late.thread, late.pc),
                self.context.site("gives it up".into(), warp, Lane::FIRST, pc),
            ];
            return Err(self.context.fault_at(FaultKind::Allocation, "Y14", message, sites, None));
        }
        self.tensor_memory.relinquished.entry(warp.rank).or_insert((thread, pc));
        Ok(())
    }

    /// Checks at the end of the run that all allocations have been freed.
    pub(crate) fn end_tensor_memory(&self) -> Result<(), Stop> {
        let mut allocations = self.tensor_memory.allocations.iter();
        let Some(held) = allocations.find(|held| held.freed.is_none()) else {
            return self.frees_together();
        };
        let message = format!(
            "all threads have returned, and {} columns of tensor memory are still allocated: later CTAs will wait for \
             them",
            held.columns
        );
        let sites = vec![self.context.site_of_thread("allocates them".into(), held.thread, held.pc)];
        let help = "`tcgen05.dealloc` of the same address and number of columns, by a whole warp, before the block ends";
        Err(self.context.fault_at(FaultKind::Allocation, "Y14", message, sites, Some(help.into())))
    }

    /// `tcgen05.ld`
    fn load_tensor(&mut self, warp: &mut Warp, pc: InstId, d: &[RegId], from: Moved) -> Result<(), Stop> {
        let first = self.operands(warp, pc).moved_from(from)?;
        let number = self.accesses.exact()?.begin_on_tensor_memory(None);
        let readers = self.accesses.sync.readers(warp);
        let mut by = Operation { warp, readers: &readers, pc, number };
        for (at, d) in d.iter().enumerate() {
            for lane in Lane::all() {
                let (down, across) = from.shape.place(lane.number(), at as u32);
                let value = if from.packed {
                    let low = self.read_tensor(&mut by, first.on(down, 2 * across), (0, 2))?;
                    let high = self.read_tensor(&mut by, first.on(down, 2 * across + 1), (0, 2))?;
                    self.accesses.values.terms.packed.pair(low, high)
                } else {
                    self.read_tensor(&mut by, first.on(down, across), (0, 4))?
                };
                by.warp.register_mut(*d).set(lane, value);
            }
        }
        self.tensor_memory.loads.entry(by.warp.index).or_default().push(number);
        self.check_budgets()
    }

    /// `tcgen05.st`
    fn store_tensor(&mut self, warp: &mut Warp, pc: InstId, to: Moved, a: &[Src]) -> Result<(), Stop> {
        let first = self.operands(warp, pc).moved_from(to)?;
        let number = self.accesses.exact()?.begin_on_tensor_memory(None);
        let readers = self.accesses.sync.readers(warp);
        let mut by = Operation { warp, readers: &readers, pc, number };
        for (at, a) in a.iter().enumerate() {
            for lane in Lane::all() {
                let (down, across) = to.shape.place(lane.number(), at as u32);
                let value = self.context.value(by.warp, *a, lane);
                let value = self.accesses.values.terms.packed.narrowed(value, 4);
                if to.packed {
                    for half in 0..2 {
                        let part = self.matrices().part(At { lane, ..by.at() }, value, (half as usize, 2))?;
                        let content = self.lower_half(part, pc);
                        self.write_tensor(&mut by, first.on(down, 2 * across + half), content)?;
                    }
                } else {
                    let packed = &mut self.accesses.values.terms.packed;
                    let content = Cell::from_pieces(&packed.split(value, 4), packed);
                    self.write_tensor(&mut by, first.on(down, across), content)?;
                }
            }
        }
        self.tensor_memory.stores.entry(by.warp.index).or_default().push(number);
        self.check_budgets()
    }

    /// A column whose upper half is unused.
    pub(super) fn lower_half(&mut self, value: Value, pc: InstId) -> Cell {
        let nothing = Value::Undefined(Origin::Unwritten(pc));
        let pieces = [value, nothing].map(|value| PackedPart { value, bytes: 2 });
        Cell::from_pieces(&pieces, &mut self.accesses.values.terms.packed)
    }

    /// `tcgen05.wait::ld`, `tcgen05.wait::st`
    fn wait_for_tensor(&mut self, warp: &Warp, loads: bool) -> Result<(), Stop> {
        let memory = &mut self.tensor_memory;
        let kind = if loads { &mut memory.loads } else { &mut memory.stores };
        let over = kind.remove(&warp.index).unwrap_or_default();
        let exact = self.accesses.exact()?;
        for number in over {
            LaneMask::ALL.iter().for_each(|lane| exact.end_copy(number, warp.thread(lane)));
        }
        Ok(())
    }

    /// Reads bytes of one column in one lane of tensor memory: the first, and their number.
    pub(super) fn read_tensor(
        &mut self,
        by: &mut Operation<'_>,
        place: Spot,
        (first, bytes): (u32, u32),
    ) -> Result<Value, Stop> {
        let mut offsets = [0; 32];
        let at = self.tensor_place(by, place, &mut offsets)?;
        let Some((first_reader, others)) = by.readers.split_first() else {
            return Err(Stop::Defect("a read of tensor memory has no reader"));
        };
        let offset = at.offsets[*first_reader];
        let touched = ((1 << bytes) - 1) << first;
        for reader in others {
            self.accesses.read_cell(by.warp, *reader, &at, offset / 4, touched)?;
        }
        self.accesses.load_value(by.warp, *first_reader, &at, offset + u64::from(first), bytes)
    }

    pub(super) fn write_tensor(
        &mut self,
        by: &mut Operation<'_>,
        place: Spot,
        content: Cell,
    ) -> Result<(), Stop> {
        let mut offsets = [0; 32];
        let at = self.tensor_place(by, place, &mut offsets)?;
        by.readers.iter().try_for_each(|reader| {
            self.accesses.write_cell(by.warp, *reader, &at, at.offsets[*reader] / 4, 0xf, content)
        })
    }
}

impl Operands<'_, '_> {
    fn columns(&self, columns: Src) -> Result<u32, Stop> {
        let columns = self.same_in_all_lanes(columns, ("a number of columns", "Y14"))? as u32;
        if !(UNIT..=TENSOR_COLUMNS).contains(&columns) || !columns.is_power_of_two() {
            let message = format!(
                "{columns} columns cannot be allocated: their number must be a power of two from {UNIT} to \
                 {TENSOR_COLUMNS}"
            );
            return Err(self.terms.context.misallocation(At::first(self.warp, self.pc), message));
        }
        Ok(columns)
    }

    /// The first lane and column that a warp transfers, inside the quarter that the warp can access.
    fn moved_from(&self, moved: Moved) -> Result<Spot, Stop> {
        let Address { base, offset } = moved.address;
        let base = self.same_in_all_lanes(base, ("an address of tensor memory", "Y14"))?;
        let (row, column) = split(base.wrapping_add_signed(offset));
        let first = self.warp.number as u32 % 4 * QUARTER;
        let last = row + moved.shape.lanes();
        if row < first || last > first + QUARTER {
            let message = format!(
                "lanes {row} to {} of tensor memory, but this warp can only access lanes {first} to {}: each of four \
                 warps has its own quarter",
                last - 1,
                first + QUARTER - 1
            );
            let context = &self.terms.context;
            let sites = vec![context.site("accesses them".into(), self.warp, Lane::FIRST, self.pc)];
            let help = Some("add 32 · (warp % 4) lanes to the address, which are its upper 16 bits".into());
            return Err(context.fault_at(FaultKind::OutOfBounds, "Y14", message, sites, help));
        }
        Ok(Spot { rank: self.warp.rank, lane: row, column })
    }
}

impl Context<'_> {
    #[cold]
    pub(super) fn misallocation(&self, at: At<'_>, message: String) -> Stop {
        let sites = vec![self.site("is here".into(), at.warp, at.lane, at.pc)];
        self.fault_at(FaultKind::Allocation, "Y14", message, sites, None)
    }
}

impl<'l> Asynchronous<'_, 'l> {
    /// Locates a column of a lane, which must be allocated.
    fn tensor_place<'o>(
        &self,
        by: &Operation<'_>,
        place: Spot,
        offsets: &'o mut [u64; 32],
    ) -> Result<WarpAccess<'o>, Stop>
    where
        'l: 'o,
    {
        let Spot { rank, lane: row, column } = place;
        let holder = self.tensor_memory.holder(rank, column).filter(|held| held.freed.is_none());
        let Some(held) = holder.filter(|_| row < TENSOR_LANES) else {
            return Err(self.not_allocated(by, place));
        };
        if !self.is_known_to_be_allocated(by.warp, by.readers, held) {
            return Err(self.context.allocated_at_any_time(by.at(), held, place));
        }
        let Some(number) = self.context.launch.objects.tensor_memory(rank) else {
            return Err(Stop::Defect("tensor memory has no place"));
        };
        let object = self.context.launch.objects.get(number);
        let mut mask = LaneMask::NONE;
        for reader in by.readers {
            offsets[*reader] = 4 * cell(row, column);
            mask.insert(*reader);
        }
        let agent = Agent::Copy { number: by.number, proxy: None, update: None };
        Ok(WarpAccess { object, number, offsets, mask, pc: by.pc, access: Access::default(), agent })
    }

    #[cold]
    fn not_allocated(&self, by: &Operation<'_>, place: Spot) -> Stop {
        let Spot { rank, lane: row, column } = place;
        let At { warp, lane, pc } = by.at();
        let accesses = self.context.site("accesses it".into(), warp, lane, pc);
        let held = self.tensor_memory.holder(rank, column).filter(|_| row < TENSOR_LANES);
        let Some((held, freed)) = held.and_then(|held| Some((held, held.freed?))) else {
            let message =
                format!("lane {row}, column {column} of tensor memory is accessed without being allocated");
            return self.context.fault_at(FaultKind::OutOfBounds, "Y14", message, vec![accesses], None);
        };
        let frees = self.context.site_of_thread("frees it".into(), freed.thread, freed.pc);
        let knows = |exact: &VectorClockDetector, lane: Lane| {
            let thread = warp.thread(lane);
            thread / 32 == freed.thread / 32
                || exact.clocks.knows(thread as usize, freed.thread as usize) >= freed.stamp
        };
        if let Detector::VectorClock(exact) = &self.accesses.sync.order
            && !by.readers.iter().all(|lane| knows(exact, *lane))
        {
            let message = format!(
                "column {column} of tensor memory is freed (1) and accessed (2), and nothing orders the two"
            );
            let help = "a barrier between the last access and `tcgen05.dealloc`, such as `__syncthreads()`, orders them";
            let (sites, help) = (vec![frees, accesses], Some(help.into()));
            return self.context.fault_at(FaultKind::Race, "Y1", message, sites, help);
        }
        let allocates = self.context.site_of_thread("allocates it".into(), held.thread, held.pc);
        let message = format!("column {column} of tensor memory is accessed after it was freed");
        self.context.fault_at(FaultKind::OutOfBounds, "Y14", message, vec![allocates, frees, accesses], None)
    }
}

/// Lane and column of an address.
pub(crate) fn split(address: u64) -> (u32, u32) {
    ((address >> 16) as u32 & 0xffff, address as u32 & 0xffff)
}
