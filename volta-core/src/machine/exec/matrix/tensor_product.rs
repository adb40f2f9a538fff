//! Products into tensor memory (`tcgen05.mma`, rule Y14), started by one thread.

use super::mma::{Factors, Places};
use super::shared_matrix::{Layout, Operation, SharedMatrix};
use super::tensor_memory::{Spot, split};
use super::tensor_shape::{ROW_BYTES, Refused, Shape};
use super::warpgroup::DESCRIPTOR;
use crate::base::index::number_of;
use crate::base::lane::Lane;
use crate::case::Swizzle;
use crate::concurrency::mbarrier_phases::Started;
use crate::machine::cta::accesses::Asynchronous;
use crate::machine::group::context::Context;
use crate::machine::group::matrix_terms::Terms;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::Operands;
use crate::machine::group::warp::{At, Warp};
use crate::program::matrix::MatrixElement;
use crate::program::{
    Address, Adds, Async, Factor, InstId, LeftFactor, Op, TENSOR_LANES, TensorMemoryOp, TensorProduct,
    VariableId,
};
use crate::value::packed::Cell;
use crate::value::{Origin, Value};
use crate::verdict::FaultKind;

/// A product that a thread has started.
pub(super) struct Multiplied<'p> {
    pub(crate) product: &'p TensorProduct,
    pub(crate) by: Operation<'p>,
    pub(crate) shape: Shape,
    /// Ranks of the CTAs that take part.
    pub(crate) ctas: Vec<u32>,
    left_out: [u32; 8],
    adds: bool,
    accumulator: u64,
}

impl Multiplied<'_> {
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
        (lane, pc): (Lane, InstId),
        product: &TensorProduct,
    ) -> Result<(), Stop> {
        let at = At { warp, lane, pc };
        let bits =
            self.operands(warp, pc).concrete(product.descriptor, lane, "an instruction descriptor")? as u32;
        self.is_of_one_kind(at, product.pair)?;
        let blocks = product.scales.map(|scales| scales.blocks);
        let shape = Shape::of(product.kind, product.pair, blocks, bits);
        let shape = shape.map_err(|refused| self.context.refused(at, refused))?;
        let mut ctas = vec![warp.rank];
        if shape.pair {
            ctas.push(self.context.peer(at)?);
            ctas.sort_unstable();
        }
        let mut left_out = [0; 8];
        for (word, source) in left_out.iter_mut().zip(&product.left_out) {
            *word = self.operands(warp, pc).concrete(*source, lane, "a mask of lanes")? as u32;
        }
        if shape.pair && left_out != [0; 8] {
            let why = "products of two CTAs that leave out lanes are not supported yet";
            return Err(self.context.refused(at, Refused::NotYet(why)));
        }
        let adds = match product.adds {
            Adds::Known(adds) => adds,
            Adds::If(predicate) => self.accesses.values.terms.known_truth(warp, predicate, lane, pc)?,
        };
        let accumulator = self.operands(warp, pc).tensor_address(lane, product.d)?;
        let extent = [shape.rows, shape.columns, shape.k];
        let pipeline = self.tensor_memory.pipeline(ctas[0], accumulator, extent, shape.result);
        let number = self.accesses.exact()?.begin_on_tensor_memory(Some(pipeline));
        self.context.aligned(at, &shape, split(accumulator).0)?;
        let by = Operation { warp, readers: &[lane], pc, number };
        let mut started = Multiplied { product, by, shape, ctas, left_out, adds, accumulator };
        match shape.factors {
            Some(factors) => self.evaluate_product(&mut started, factors)?,
            None => self.touch_product(&mut started)?,
        }
        self.start_tensor_operation(&started.by, &started.ctas)
    }

    /// Registers an operation that its thread will commit, and that reads the shared memory of `ctas`.
    pub(super) fn start_tensor_operation(&mut self, by: &Operation<'_>, ctas: &[u32]) -> Result<(), Stop> {
        let (thread, pc, number) = (by.warp.thread(by.at().lane), by.pc, by.number);
        let exact = self.accesses.sync.order.exact_mut()?;
        self.tensor_memory.committed_by(thread, &mut exact.clocks).open.push(number);
        for rank in ctas {
            self.accesses.sync.mbarriers.copies.push(Started { copy: number, thread, pc, rank: *rank });
        }
        self.check_budgets()
    }

    /// Reads a factor in shared memory, of whose rows or columns each CTA has an equal part.
    fn read_parts(
        &mut self,
        Multiplied { by, ctas, shape, .. }: &mut Multiplied<'_>,
        (factor, transposed): (&Factor, bool),
        (element, rows): (MatrixElement, usize),
        take: &mut dyn FnMut((usize, usize), u64),
    ) -> Result<(), Stop> {
        let (layout, of) = self.operands(by.warp, by.pc).described(by.at().lane, factor, !transposed)?;
        let own = rows / ctas.len();
        for (part, rank) in ctas.iter().enumerate() {
            let matrix = SharedMatrix { layout: &layout, of, rank: *rank };
            self.accesses.read_factor(by, matrix, (element, (own, shape.k)), &mut |(row, at), raw| {
                take((part * own + row, at), raw);
            })?;
        }
        Ok(())
    }

    /// Computes the terms of a product of elements `a` and `b`.
    fn evaluate_product(
        &mut self,
        started: &mut Multiplied<'_>,
        [a, b]: [MatrixElement; 2],
    ) -> Result<(), Stop> {
        let (product, shape, pc) = (started.product, started.shape, started.by.pc);
        let d = shape.result;
        let mut left = Terms::new(shape.rows, shape.k);
        match &product.a {
            LeftFactor::Shared(factor) => {
                let factor = (factor, shape.transposed[0]);
                self.read_parts(started, factor, (a, shape.rows), &mut |place, raw| left.set(place, raw))?;
            }
            LeftFactor::Tensor(address) => {
                let inside = 4 / a.bytes() as usize;
                for row in 0..shape.rows {
                    for at in 0..shape.k {
                        let part = ((at % inside) as u32 * a.bytes(), a.bytes());
                        let value = self.read_left(started, *address, (row, at / inside), part)?;
                        left.set((row, at), self.matrices().raw_element(started.by.at(), a, value)?);
                    }
                }
            }
        }
        let mut right = Terms::new(shape.k, shape.columns);
        let factor = (&product.b, shape.transposed[1]);
        self.read_parts(started, factor, (b, shape.columns), &mut |(column, at), raw| {
            right.set((at, column), raw);
        })?;
        if shape.negated[0] != shape.negated[1] {
            self.matrices().negate(&mut left, pc);
        }
        if let Some(scales) = product.scales {
            let [of_rows, of_columns] = self.scales(started, scales)?;
            self.matrices().scale(&mut left, pc, |row, _| of_rows[row]);
            self.matrices().scale(&mut right, pc, |_, column| of_columns[column]);
        }
        let mut sum = Terms::new(shape.rows, shape.columns);
        if started.adds {
            for row in 0..shape.rows {
                for at in 0..shape.columns {
                    let place = started.result(row, at);
                    let value = self.read_tensor(&mut started.by, place, (0, d.bytes()))?;
                    sum.set((row, at), self.matrices().raw_element(started.by.at(), d, value)?);
                }
            }
            if shape.saturate {
                sum.raw = self.matrices().numbers_of_sums(pc, &sum.raw);
            }
        } else {
            let zero = self.matrices().raw_element(started.by.at(), d, Value::Bits(0))?;
            sum.raw.fill(zero);
        }
        let known = &self.accesses.values.numbers.known;
        // Integers are not rounded.
        let is_known = |raw| !d.is_integer() && known.contains(raw);
        let mut factors = Factors::new([&left, &right, &sum], Places::OF_ROWS, pc, is_known);
        for row in (0..shape.rows).step_by(32) {
            for at in 0..shape.columns {
                let mut results = self.matrices().dot_products(&mut factors, (row, at)).to_vec();
                if shape.saturate {
                    results = self.matrices().saturated_sums(pc, &results);
                }
                for (down, raw) in results.into_iter().enumerate() {
                    let value = self.matrices().element_value(d, raw, pc);
                    self.write_element(started, (row + down, at), value)?;
                }
            }
        }
        Ok(())
    }

    /// Performs the accesses of a product whose elements are not evaluated, and marks its results as unknown (rule S2).
    fn touch_product(&mut self, started: &mut Multiplied<'_>) -> Result<(), Stop> {
        let (product, shape, At { lane, pc, .. }) = (started.product, started.shape, started.by.at());
        self.accesses.values.terms.relied.on_unevaluated(pc);
        let of_cta = |count: usize| (count / shape.ctas(), ROW_BYTES as usize);
        let shared = match &product.a {
            LeftFactor::Shared(factor) => Some((factor, shape.transposed[0], of_cta(shape.rows))),
            LeftFactor::Tensor(address) => {
                for row in 0..shape.rows {
                    for at in 0..(ROW_BYTES / 4) as usize {
                        self.read_left(started, *address, (row, at), (0, 4))?;
                    }
                }
                None
            }
        };
        let right = (&product.b, shape.transposed[1], of_cta(shape.columns));
        for (factor, transposed, extent) in shared.into_iter().chain([right]) {
            let (layout, of) = self.operands(started.by.warp, pc).described(lane, factor, !transposed)?;
            for rank in &started.ctas {
                let matrix = SharedMatrix { layout: &layout, of, rank: *rank };
                let by = &mut started.by;
                self.accesses.read_shared_matrix(by, matrix, (1, extent), &mut |_, _, _, _| Ok(()))?;
            }
        }
        if let Some(scales) = product.scales {
            self.scales(started, scales)?;
        }
        for row in 0..shape.rows {
            for at in 0..shape.columns {
                if started.adds {
                    let place = started.result(row, at);
                    self.read_tensor(&mut started.by, place, (0, shape.result.bytes()))?;
                }
                let nothing = Value::Undefined(Origin::Unevaluated(pc));
                self.write_element(started, (row, at), nothing)?;
            }
        }
        Ok(())
    }

    /// Reads bytes of column `at` of a row of a left factor in tensor memory.
    fn read_left(
        &mut self,
        started: &mut Multiplied<'_>,
        address: Address,
        (row, at): (usize, usize),
        part: (u32, u32),
    ) -> Result<Value, Stop> {
        let Multiplied { shape, ref ctas, ref mut by, .. } = *started;
        if shape.pair && shape.rows == 128 {
            let why = "left factors of 128 rows in the tensor memory of two CTAs are not supported yet";
            return Err(self.context.refused(by.at(), Refused::NotYet(why)));
        }
        let (first, column) = split(self.operands(by.warp, by.pc).tensor_address(by.at().lane, address)?);
        self.context.aligned(by.at(), &shape, first)?;
        let (cta, down, _) = shape.place(row, 0);
        let place = Spot { rank: ctas[cta], lane: first + down, column: column + at as u32 };
        self.read_tensor(by, place, part)
    }

    /// Writes an element of the result, unless its lane is disabled.
    fn write_element(
        &mut self,
        started: &mut Multiplied<'_>,
        (row, column): (usize, usize),
        value: Value,
    ) -> Result<(), Stop> {
        let (place, pc) = (started.result(row, column), started.by.pc);
        let is_left_out = |word: &u32| word >> (place.lane % 32) & 1 == 1;
        if started.left_out.get((place.lane / 32) as usize).is_some_and(is_left_out) {
            return Ok(());
        }
        let is_whole = started.shape.result.bytes() == 4;
        let content = if is_whole { Cell::of(value) } else { self.lower_half(value, pc) };
        self.write_tensor(&mut started.by, place, content)
    }
}

impl Context<'_> {
    #[cold]
    pub(crate) fn refused(&self, at: At<'_>, refused: Refused) -> Stop {
        let At { warp, lane, pc } = at;
        match refused {
            Refused::Wrong(why) => {
                let op = &self.launch.program.insts[pc.index()].op;
                let copies = matches!(op, Op::Async(Async::Tensor(TensorMemoryOp::Copy { .. })));
                let what = if copies { "a copy to tensor memory" } else { "a product" };
                let message = format!("{what} has no meaning: {why}");
                let sites = vec![self.site("starts it".into(), warp, lane, pc)];
                self.fault_at(FaultKind::Undefined, "Y14", message, sites, None)
            }
            Refused::NotYet(why) => self.fault_of(at, FaultKind::Unsupported, "S2", why.to_string()),
        }
    }

    /// Checks the first lane: products of 64 rows use half of the lanes, the lower or the upper 16 of each 32; others
    /// use all.
    fn aligned(&self, at: At<'_>, shape: &Shape, first: u32) -> Result<(), Stop> {
        if first == 0 || shape.rows == 64 && first == 16 {
            return Ok(());
        }
        let allowed = if shape.rows == 64 { "0 or 16" } else { "0" };
        let message = format!(
            "a matrix of {} rows begins at lane {first} of {TENSOR_LANES} of tensor memory, but must begin at \
             {allowed}",
            shape.rows
        );
        let sites = vec![self.site("starts the product".into(), at.warp, at.lane, at.pc)];
        Err(self.fault_at(FaultKind::Misaligned, "Y14", message, sites, None))
    }
}

impl Operands<'_, '_> {
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
            .map_err(|refused| self.terms.context.refused(self.at(lane), refused))?;
        Ok((layout, *of))
    }
}
