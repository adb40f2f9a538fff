//! Products into tensor memory (`tcgen05.mma`, rule Y14), started by one thread.

use super::mma::{Factors, Places};
use super::shared_matrix::{FactorRead, Layout, SharedMatrix};
use super::tensor_memory::{Spot, split};
use super::tensor_shape::{ROW_BYTES, Refused, Shape};
use super::warpgroup::DESCRIPTOR;
use crate::base::index::number_of;
use crate::base::lane::Lane;
use crate::case::Swizzle;
use crate::concurrency::agent::Agent;
use crate::concurrency::mbarrier_phases::Started;
use crate::machine::cta::accesses::Asynchronous;
use crate::machine::group::context::Context;
use crate::machine::group::matrix_terms::Terms;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::Operands;
use crate::machine::group::warp::Warp;
use crate::program::matrix::MatrixElement;
use crate::program::{
    Address, Adds, Async, Factor, InstId, LeftFactor, Op, TENSOR_LANES, TensorMemoryOp, TensorProduct,
    VariableId,
};
use crate::value::packed::{Cell, PackedPart};
use crate::value::{Origin, Value};
use crate::verdict::FaultKind;

/// A product that a thread has started.
pub(super) struct Multiplied<'p> {
    pub(crate) product: &'p TensorProduct,
    pub(crate) shape: Shape,
    /// Ranks of the CTAs that take part.
    pub(crate) ctas: Vec<u32>,
    left_out: [u32; 8],
    adds: bool,
    accumulator: u64,
    number: u32,
    pub(crate) lane: Lane,
    pub(crate) pc: InstId,
}

impl Multiplied<'_> {
    /// The agent of its accesses to tensor memory.
    pub(crate) fn by(&self) -> (InstId, Agent) {
        (self.pc, Agent::Copy { number: self.number, proxy: None, update: None })
    }

    /// Where an element of the result is.
    fn result(&self, row: usize, column: usize) -> Spot {
        let (first, start) = split(self.accumulator);
        let (cta, down, across) = self.shape.place(row, column);
        Spot { rank: self.ctas[cta], lane: first + down, column: start + across }
    }
}

impl Layout {
    /// Decodes a matrix descriptor of this generation of tensor cores (ISA, Shared memory descriptor).
    pub(crate) fn of_tensor(bits: u64, k_major: bool) -> Result<Layout, Refused> {
        if bits >> 46 & 7 != 1 || bits >> 53 & 0xff != 0 {
            return Err(Refused::Wrong(
                "bits 46 to 48 of its matrix descriptor are not 1, or bits 53 to 60 not 0".into(),
            ));
        }
        if bits >> 52 & 1 == 1 {
            return Err(Refused::NotYet("leading dimensions given as addresses are not supported yet"));
        }
        let swizzle = match bits >> 61 {
            0 => Swizzle::None,
            1 => return Err(Refused::NotYet("128-byte swizzles of 32-byte atoms are not supported yet")),
            2 => Swizzle::B128,
            4 => Swizzle::B64,
            6 => Swizzle::B32,
            mode => return Err(Refused::Wrong(format!("its matrix descriptor has swizzling mode {mode}"))),
        };
        Layout::new(bits, swizzle, k_major)
            .ok_or(Refused::NotYet("matrix descriptors with a base offset are not supported"))
    }
}

impl Asynchronous<'_, '_> {
    /// Commits all products that a thread has started: whoever learns of this commit learns of them, and of earlier
    /// commits.
    pub(crate) fn commit_tensor_products(&mut self, thread: u32) -> Result<(usize, u32), Stop> {
        let exact = self.accesses.sync.order.exact_mut()?;
        let committed = self.tensor_memory.committed_by(thread, &mut exact.clocks);
        committed.commits += 1;
        for number in committed.open.drain(..) {
            exact.end_copy_at(number, number_of(committed.agent), committed.commits);
        }
        Ok((committed.agent, committed.commits))
    }

    /// `tcgen05.mma` of one lane.
    pub(super) fn multiply_tensor(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        product: &TensorProduct,
    ) -> Result<(), Stop> {
        let bits = self.accesses.values.terms.concrete(
            warp,
            product.descriptor,
            lane,
            pc,
            "an instruction descriptor",
        )? as u32;
        self.is_of_one_kind(warp, lane, pc, product.pair)?;
        let blocks = product.scales.map(|scales| scales.blocks);
        let shape = Shape::of(product.kind, product.pair, blocks, bits);
        let shape = shape.map_err(|refused| self.context.refused(refused, warp, lane, pc))?;
        let mut ctas = vec![warp.rank];
        if shape.pair {
            ctas.push(self.context.peer(warp, lane, pc)?);
            ctas.sort_unstable();
        }
        let mut left_out = [0; 8];
        for (word, source) in left_out.iter_mut().zip(&product.left_out) {
            *word = self.accesses.values.terms.concrete(warp, *source, lane, pc, "a mask of lanes")? as u32;
        }
        if shape.pair && left_out != [0; 8] {
            let why = "products of two CTAs that leave out lanes are not supported yet";
            return Err(self.context.refused(Refused::NotYet(why), warp, lane, pc));
        }
        let adds = match product.adds {
            Adds::Known(adds) => adds,
            Adds::If(predicate) => self.accesses.values.terms.known_truth(warp, predicate, lane, pc)?,
        };
        let accumulator = self.accesses.values.terms.operands(warp, pc).tensor_address(lane, product.d)?;
        let extent = [shape.rows, shape.columns, shape.k];
        let pipeline = self.tensor_memory.pipeline(ctas[0], accumulator, extent, shape.result);
        let number = self.accesses.exact()?.begin_on_tensor_memory(Some(pipeline));
        self.context.aligned(warp, lane, pc, &shape, split(accumulator).0)?;
        let started = Multiplied { product, shape, ctas, left_out, adds, accumulator, number, lane, pc };
        match shape.factors {
            Some(factors) => self.evaluate_product(warp, &started, factors)?,
            None => self.touch_product(warp, &started)?,
        }
        self.start_tensor_operation(warp.thread(lane), pc, number, &started.ctas)
    }

    /// Registers an operation that its thread will commit, and that reads the shared memory of `ctas`.
    pub(super) fn start_tensor_operation(
        &mut self,
        thread: u32,
        pc: InstId,
        number: u32,
        ctas: &[u32],
    ) -> Result<(), Stop> {
        let exact = self.accesses.sync.order.exact_mut()?;
        self.tensor_memory.committed_by(thread, &mut exact.clocks).open.push(number);
        for rank in ctas {
            self.accesses.sync.mbarriers.copies.push(Started { copy: number, thread, pc, rank: *rank });
        }
        self.check_budgets()
    }

    /// Computes the terms of a product of elements `a` and `b`.
    fn evaluate_product(
        &mut self,
        warp: &mut Warp,
        started: &Multiplied<'_>,
        [a, b]: [MatrixElement; 2],
    ) -> Result<(), Stop> {
        let Multiplied { product, shape, ref ctas, adds, lane, pc, number, .. } = *started;
        let (d, by) = (shape.result, started.by());
        let mut left = Terms::new(shape.rows, shape.k);
        match &product.a {
            LeftFactor::Shared(factor) => {
                let extent = (shape.rows / ctas.len(), shape.k);
                let read = FactorRead { element: a, extent, number };
                let (layout, of) = self.accesses.values.terms.operands(warp, pc).described(
                    lane,
                    factor,
                    !shape.transposed[0],
                )?;
                for (half, rank) in ctas.iter().enumerate() {
                    let matrix = SharedMatrix { layout: &layout, of, rank: *rank };
                    self.accesses.read_factor(warp, &[lane], pc, matrix, read, &mut |(row, at), raw| {
                        left.set((half * extent.0 + row, at), raw);
                    })?;
                }
            }
            LeftFactor::Tensor(address) => {
                let inside = 4 / a.bytes() as usize;
                for row in 0..shape.rows {
                    for at in 0..shape.k {
                        let place = self
                            .accesses
                            .values
                            .terms
                            .operands(warp, started.pc)
                            .left_in_tensor_memory(started, *address, (row, at / inside))?;
                        let part = ((at % inside) as u32 * a.bytes(), a.bytes());
                        let value = self.read_tensor(warp, &[lane], by, place, part)?;
                        let raw = self.accesses.values.matrices().raw_element(warp, pc, a, value, lane)?;
                        left.set((row, at), raw);
                    }
                }
            }
        }
        let mut right = Terms::new(shape.k, shape.columns);
        let extent = (shape.columns / ctas.len(), shape.k);
        let (layout, of) = self.accesses.values.terms.operands(warp, pc).described(
            lane,
            &product.b,
            !shape.transposed[1],
        )?;
        for (half, rank) in ctas.iter().enumerate() {
            let matrix = SharedMatrix { layout: &layout, of, rank: *rank };
            let read = FactorRead { element: b, extent, number };
            self.accesses.read_factor(warp, &[lane], pc, matrix, read, &mut |(column, at), raw| {
                right.set((at, half * extent.0 + column), raw);
            })?;
        }
        if shape.negated[0] != shape.negated[1] {
            self.accesses.values.matrices().negate(&mut left, pc);
        }
        if let Some(scales) = product.scales {
            let [of_rows, of_columns] = self.scales(warp, started, scales)?;
            self.accesses.values.matrices().scale(&mut left, pc, |row, _| of_rows[row]);
            self.accesses.values.matrices().scale(&mut right, pc, |_, column| of_columns[column]);
        }
        let mut sum = Terms::new(shape.rows, shape.columns);
        if adds {
            for row in 0..shape.rows {
                for at in 0..shape.columns {
                    let value =
                        self.read_tensor(warp, &[lane], by, started.result(row, at), (0, d.bytes()))?;
                    let raw = self.accesses.values.matrices().raw_element(warp, pc, d, value, lane)?;
                    sum.set((row, at), raw);
                }
            }
            if shape.saturate {
                sum.raw = self.accesses.values.matrices().numbers_of_sums(pc, &sum.raw);
            }
        } else {
            let zero = self.accesses.values.matrices().raw_element(warp, pc, d, Value::Bits(0), lane)?;
            sum.raw.fill(zero);
        }
        let known = &self.accesses.values.numbers.known;
        // Integers are not rounded.
        let is_known = |raw| !d.is_integer() && known.contains(raw);
        let mut factors = Factors::new(&left, &right, &sum, Places::OF_ROWS, is_known);
        for row in (0..shape.rows).step_by(32) {
            for at in 0..shape.columns {
                let mut results =
                    self.accesses.values.matrices().dot_products(pc, &mut factors, (row, at)).to_vec();
                if shape.saturate {
                    results = self.accesses.values.matrices().saturated_sums(pc, &results);
                }
                for (down, raw) in results.into_iter().enumerate() {
                    let value = self.accesses.values.matrices().element_value(d, raw, pc);
                    self.write_element(warp, started, (row + down, at), value)?;
                }
            }
        }
        Ok(())
    }

    /// Performs the accesses of a product whose elements are not evaluated, and marks its results as unknown (rule S2).
    fn touch_product(&mut self, warp: &mut Warp, started: &Multiplied<'_>) -> Result<(), Stop> {
        let Multiplied { product, shape, ref ctas, adds, lane, pc, number, .. } = *started;
        self.accesses.values.terms.relied.on_unevaluated(pc);
        let by = started.by();
        let columns = (ROW_BYTES / 4) as usize;
        let of_cta = |count: usize| (count / ctas.len(), ROW_BYTES as usize);
        let shared = match &product.a {
            LeftFactor::Shared(factor) => Some((factor, shape.transposed[0], of_cta(shape.rows))),
            LeftFactor::Tensor(address) => {
                for row in 0..shape.rows {
                    for at in 0..columns {
                        let place = self
                            .accesses
                            .values
                            .terms
                            .operands(warp, started.pc)
                            .left_in_tensor_memory(started, *address, (row, at))?;
                        self.read_tensor(warp, &[lane], by, place, (0, 4))?;
                    }
                }
                None
            }
        };
        let right = (&product.b, shape.transposed[1], of_cta(shape.columns));
        for (factor, transposed, extent) in shared.into_iter().chain([right]) {
            let (layout, of) =
                self.accesses.values.terms.operands(warp, pc).described(lane, factor, !transposed)?;
            for rank in ctas {
                let matrix = SharedMatrix { layout: &layout, of, rank: *rank };
                self.accesses.read_shared_matrix(
                    warp,
                    &[lane],
                    pc,
                    matrix,
                    (1, extent, number),
                    &mut |_, _, _, _| Ok(()),
                )?;
            }
        }
        if let Some(scales) = product.scales {
            self.scales(warp, started, scales)?;
        }
        for row in 0..shape.rows {
            for at in 0..shape.columns {
                if adds {
                    let bytes = shape.result.bytes();
                    self.read_tensor(warp, &[lane], by, started.result(row, at), (0, bytes))?;
                }
                let nothing = Value::Undefined(Origin::Unevaluated(pc));
                self.write_element(warp, started, (row, at), nothing)?;
            }
        }
        Ok(())
    }

    /// Writes an element of the result, unless its lane is disabled.
    fn write_element(
        &mut self,
        warp: &mut Warp,
        started: &Multiplied<'_>,
        (row, column): (usize, usize),
        value: Value,
    ) -> Result<(), Stop> {
        let (place, pc) = (started.result(row, column), started.pc);
        let is_left_out = |word: &u32| word >> (place.lane % 32) & 1 == 1;
        if started.left_out.get((place.lane / 32) as usize).is_some_and(is_left_out) {
            return Ok(());
        }
        let content = if started.shape.result.bytes() == 4 {
            Cell::of(value)
        } else {
            // The upper half is unused.
            let nothing = Value::Undefined(Origin::Unwritten(pc));
            let pieces = [value, nothing].map(|value| PackedPart { value, bytes: 2 });
            Cell::from_pieces(&pieces, &mut self.accesses.values.terms.packed)
        };
        self.write_tensor(warp, &[started.lane], started.by(), place, content)
    }
}

impl Context<'_> {
    #[cold]
    pub(crate) fn refused(&self, refused: Refused, warp: &Warp, lane: Lane, pc: InstId) -> Stop {
        match refused {
            Refused::Wrong(why) => {
                let op = &self.launch.program.insts[pc.index()].op;
                let copies = matches!(op, Op::Async(Async::Tensor(TensorMemoryOp::Copy { .. })));
                let what = if copies { "a copy to tensor memory" } else { "a product" };
                let message = format!("{what} has no meaning: {why}");
                let sites = vec![self.site("starts it".into(), warp, lane, pc)];
                self.fault_at(FaultKind::Undefined, "Y14", message, sites, None)
            }
            Refused::NotYet(why) => self.fault(FaultKind::Unsupported, "S2", why.to_string(), warp, lane, pc),
        }
    }

    /// Checks the first lane: products of 64 rows use half of the lanes, the lower or the upper 16 of each 32; others
    /// use all.
    fn aligned(&self, warp: &Warp, lane: Lane, pc: InstId, shape: &Shape, first: u32) -> Result<(), Stop> {
        if first == 0 || shape.rows == 64 && first == 16 {
            return Ok(());
        }
        let allowed = if shape.rows == 64 { "0 or 16" } else { "0" };
        let message = format!(
            "a matrix of {} rows begins at lane {first} of {TENSOR_LANES} of tensor memory, but must begin at \
             {allowed}",
            shape.rows
        );
        let sites = vec![self.site("starts the product".into(), warp, lane, pc)];
        Err(self.fault_at(FaultKind::Misaligned, "Y14", message, sites, None))
    }
}

impl Operands<'_, '_> {
    /// The place of column `at` of a row of a left factor in tensor memory.
    fn left_in_tensor_memory(
        &self,
        started: &Multiplied<'_>,
        address: Address,
        (row, at): (usize, usize),
    ) -> Result<Spot, Stop> {
        let Multiplied { shape, ref ctas, lane, .. } = *started;
        if shape.pair && shape.rows == 128 {
            let why = "left factors of 128 rows in the tensor memory of two CTAs are not supported yet";
            return Err(self.terms.context.refused(Refused::NotYet(why), self.warp, lane, self.pc));
        }
        let (first, column) = split(self.tensor_address(lane, address)?);
        self.terms.context.aligned(self.warp, lane, self.pc, &shape, first)?;
        let (cta, down, _) = shape.place(row, 0);
        Ok(Spot { rank: ctas[cta], lane: first + down, column: column + at as u32 })
    }

    pub(crate) fn tensor_address(&self, lane: Lane, address: Address) -> Result<u64, Stop> {
        let base = self.concrete(address.base, lane, "an address of tensor memory")?;
        Ok(base.wrapping_add_signed(address.offset) & 0xffff_ffff)
    }

    /// The layout of a matrix in shared memory, and the variable that it lies in, if that is known.
    pub(super) fn described(
        &self,
        lane: Lane,
        factor: &Factor,
        k_major: bool,
    ) -> Result<(Layout, Option<VariableId>), Stop> {
        let Factor::Shared { descriptor, of, .. } = factor else {
            return Err(Stop::Defect("a factor of a product into tensor memory in registers"));
        };
        let bits = self.concrete(*descriptor, lane, DESCRIPTOR)?;
        let layout = Layout::of_tensor(bits, k_major)
            .map_err(|refused| self.terms.context.refused(refused, self.warp, lane, self.pc))?;
        Ok((layout, *of))
    }
}
