//! Products into tensor memory (`tcgen05.mma`, rule Y14), started by one thread.

use super::super::agent::Agent;
use super::super::clock::AsyncSpace;
use super::super::cta::{Cta, Detector, Stop};
use super::super::mbarrier::Started;
use super::super::packed::{Cell, PackedPart};
use super::super::value::{Origin, Value};
use super::super::warp::Warp;
use super::matrix::{Factors, Places};
use super::matrix_terms::Terms;
use super::shared_matrix::{FactorRead, Layout, SharedMatrix};
use super::tensor_memory::{Spot, split};
use super::warpgroup::DESCRIPTOR;
use crate::base::index::number_of;
use crate::base::lane::Lane;
use crate::case::Swizzle;
use crate::number::format::Format;
use crate::program::matrix::MatrixElement;
use crate::program::{
    Address, Adds, Async, Factor, InstId, LeftFactor, Op, ProductKind, TENSOR_LANES, TensorMemoryOp,
    TensorProduct, VariableId,
};
use crate::verdict::FaultKind;

const F16: MatrixElement = MatrixElement::Float(Format::F16);

/// Size of a row of a factor.
const ROW_BYTES: u32 = 32;

/// Groups of 32 lanes; each holds a copy of all scales.
const QUARTERS: u32 = 4;

/// The fields of an instruction descriptor (ISA, Instruction descriptor).
#[derive(Clone, Copy, Debug)]
struct Shape {
    rows: usize,
    columns: usize,
    k: usize,
    /// Two CTAs each hold half of the rows of A, of the columns of B, and of the rows of the result.
    pair: bool,
    /// Of A and of B; `None` where products of such elements are not evaluated.
    factors: Option<[MatrixElement; 2]>,
    result: MatrixElement,
    /// The byte of a column that holds the first scale of a row, for A and for B.
    scales: [u32; 2],
    /// Whether sums of integers saturate.
    saturate: bool,
    /// Of A and of B.
    negated: [bool; 2],
    transposed: [bool; 2],
}

/// Why a descriptor is rejected.
pub(super) enum Refused {
    /// Not allowed by the ISA.
    Wrong(String),
    /// Not supported yet.
    NotYet(&'static str),
}

impl Shape {
    fn of(kind: ProductKind, pair: bool, blocks: Option<u32>, bits: u32) -> Result<Shape, Refused> {
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
                (ProductKind::Narrow, 0) => Format::E4m3,
                (ProductKind::Narrow, 1) => Format::E5m2,
                (ProductKind::Narrow, 3..=5)
                | (ProductKind::ScaledNarrow, 0 | 1 | 3..=5)
                | (ProductKind::ScaledFour, 1) => return Ok(None),
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
    fn ctas(&self) -> usize {
        if self.pair { 2 } else { 1 }
    }

    /// Which CTA of two holds an element of the result, and in which lane and column of tensor memory relative to the
    /// first ones (ISA, Data Path Layout Organization: D and F of one CTA, A and B of two). Of 128 rows of two CTAs,
    /// each holds 64, with the right half of their columns below the left one.
    fn place(&self, row: usize, column: usize) -> (usize, u32, u32) {
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

/// A product that a thread has started.
struct Multiplied<'p> {
    product: &'p TensorProduct,
    shape: Shape,
    /// Ranks of the CTAs that take part.
    ctas: Vec<u32>,
    left_out: [u32; 8],
    adds: bool,
    accumulator: u64,
    number: u32,
    lane: Lane,
    pc: InstId,
}

impl Multiplied<'_> {
    /// The agent of its reads of shared memory.
    fn reader(&self) -> Agent {
        Agent::Copy { number: self.number, proxy: Some(AsyncSpace::Shared), update: None }
    }

    /// The agent of its accesses to tensor memory.
    fn by(&self) -> (InstId, Agent) {
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
    pub(super) fn of_tensor(bits: u64, k_major: bool) -> Result<Layout, Refused> {
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

impl Cta<'_> {
    /// Commits all products that a thread has started: whoever learns of this commit learns of them, and of earlier
    /// commits.
    pub(super) fn commit_tensor_products(&mut self, thread: u32) -> Result<(usize, u32), Stop> {
        let Detector::VectorClock(exact) = &mut self.order else { return Err(Stop::NeedVectorClocks) };
        let committed = self.tensor_memory.committed_by(thread, &mut exact.clocks);
        committed.commits += 1;
        for number in committed.open.drain(..) {
            exact.end_copy_at(number, number_of(committed.agent), committed.commits);
        }
        Ok((committed.agent, committed.commits))
    }

    #[cold]
    pub(super) fn refused(&self, refused: Refused, warp: &Warp, lane: Lane, pc: InstId) -> Stop {
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

    /// `tcgen05.mma` of one lane.
    pub(super) fn multiply_tensor(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        product: &TensorProduct,
    ) -> Result<(), Stop> {
        let bits = self.concrete(warp, product.descriptor, lane, pc, "an instruction descriptor")? as u32;
        self.is_of_one_kind(warp, lane, pc, product.pair)?;
        let blocks = product.scales.map(|scales| scales.blocks);
        let shape = Shape::of(product.kind, product.pair, blocks, bits);
        let shape = shape.map_err(|refused| self.refused(refused, warp, lane, pc))?;
        let mut ctas = vec![warp.rank];
        if shape.pair {
            ctas.push(self.peer(warp, lane, pc)?);
            ctas.sort_unstable();
        }
        let mut left_out = [0; 8];
        for (word, source) in left_out.iter_mut().zip(&product.left_out) {
            *word = self.concrete(warp, *source, lane, pc, "a mask of lanes")? as u32;
        }
        if shape.pair && left_out != [0; 8] {
            let why = "products of two CTAs that leave out lanes are not supported yet";
            return Err(self.refused(Refused::NotYet(why), warp, lane, pc));
        }
        let adds = match product.adds {
            Adds::Known(adds) => adds,
            Adds::If(predicate) => self.known_truth(warp, predicate, lane, pc)?,
        };
        let accumulator = self.tensor_address(warp, lane, pc, product.d)?;
        let extent = [shape.rows, shape.columns, shape.k];
        let pipeline = self.tensor_memory.pipeline(ctas[0], accumulator, extent, shape.result);
        let number = self.exact()?.begin_on_tensor_memory(Some(pipeline));
        self.aligned(warp, lane, pc, &shape, split(accumulator).0)?;
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
        let Detector::VectorClock(exact) = &mut self.order else { return Err(Stop::NeedVectorClocks) };
        self.tensor_memory.committed_by(thread, &mut exact.clocks).open.push(number);
        for rank in ctas {
            self.mbarriers.copies.push(Started { copy: number, thread, pc, rank: *rank });
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
        let Multiplied { product, shape, ref ctas, adds, lane, pc, .. } = *started;
        let (d, by, reader) = (shape.result, started.by(), started.reader());
        let mut left = Terms::new(shape.rows, shape.k);
        match &product.a {
            LeftFactor::Shared(factor) => {
                let extent = (shape.rows / ctas.len(), shape.k);
                let read = FactorRead { element: a, extent, agent: reader };
                let (layout, of) = self.described(warp, lane, pc, factor, !shape.transposed[0])?;
                for (half, rank) in ctas.iter().enumerate() {
                    let matrix = SharedMatrix { layout: &layout, of, rank: *rank };
                    self.read_factor(warp, &[lane], pc, matrix, read, &mut |(row, at), raw| {
                        left.set((half * extent.0 + row, at), raw);
                    })?;
                }
            }
            LeftFactor::Tensor(address) => {
                let inside = 4 / a.bytes() as usize;
                for row in 0..shape.rows {
                    for at in 0..shape.k {
                        let place =
                            self.left_in_tensor_memory(warp, started, *address, (row, at / inside))?;
                        let part = ((at % inside) as u32 * a.bytes(), a.bytes());
                        let value = self.read_tensor(warp, &[lane], by, place, part)?;
                        let raw = self.raw_element(warp, pc, a, value, lane)?;
                        left.set((row, at), raw);
                    }
                }
            }
        }
        let mut right = Terms::new(shape.k, shape.columns);
        let extent = (shape.columns / ctas.len(), shape.k);
        let (layout, of) = self.described(warp, lane, pc, &product.b, !shape.transposed[1])?;
        for (half, rank) in ctas.iter().enumerate() {
            let matrix = SharedMatrix { layout: &layout, of, rank: *rank };
            let read = FactorRead { element: b, extent, agent: reader };
            self.read_factor(warp, &[lane], pc, matrix, read, &mut |(column, at), raw| {
                right.set((at, half * extent.0 + column), raw);
            })?;
        }
        if shape.negated[0] != shape.negated[1] {
            self.negate(&mut left, pc);
        }
        let mut sum = Terms::new(shape.rows, shape.columns);
        if adds {
            for row in 0..shape.rows {
                for at in 0..shape.columns {
                    let value =
                        self.read_tensor(warp, &[lane], by, started.result(row, at), (0, d.bytes()))?;
                    let raw = self.raw_element(warp, pc, d, value, lane)?;
                    sum.set((row, at), raw);
                }
            }
            if shape.saturate {
                sum.raw = self.numbers_of_sums(pc, &sum.raw);
            }
        } else {
            let zero = self.raw_element(warp, pc, d, Value::Bits(0), lane)?;
            sum.raw.fill(zero);
        }
        let known = &self.known;
        // Integers are not rounded.
        let is_known = |raw| !d.is_integer() && known.contains(raw);
        let mut factors = Factors::new(&left, &right, &sum, Places::OF_ROWS, is_known);
        for row in (0..shape.rows).step_by(32) {
            for at in 0..shape.columns {
                let mut results = self.dot_products(pc, &mut factors, (row, at)).to_vec();
                if shape.saturate {
                    results = self.saturated_sums(pc, &results);
                }
                for (down, raw) in results.into_iter().enumerate() {
                    let value = self.element_value(d, raw, pc);
                    self.write_element(warp, started, (row + down, at), value)?;
                }
            }
        }
        Ok(())
    }

    /// Performs the accesses of a product whose elements are not evaluated, and marks its results as unknown (rule S2).
    fn touch_product(&mut self, warp: &mut Warp, started: &Multiplied<'_>) -> Result<(), Stop> {
        let Multiplied { product, shape, ref ctas, adds, lane, pc, .. } = *started;
        self.relied.on_unevaluated(pc);
        let (by, reader) = (started.by(), started.reader());
        let columns = (ROW_BYTES / 4) as usize;
        let of_cta = |count: usize| (count / ctas.len(), ROW_BYTES as usize);
        let shared = match &product.a {
            LeftFactor::Shared(factor) => Some((factor, shape.transposed[0], of_cta(shape.rows))),
            LeftFactor::Tensor(address) => {
                for row in 0..shape.rows {
                    for at in 0..columns {
                        let place = self.left_in_tensor_memory(warp, started, *address, (row, at))?;
                        self.read_tensor(warp, &[lane], by, place, (0, 4))?;
                    }
                }
                None
            }
        };
        let right = (&product.b, shape.transposed[1], of_cta(shape.columns));
        for (factor, transposed, extent) in shared.into_iter().chain([right]) {
            let (layout, of) = self.described(warp, lane, pc, factor, !transposed)?;
            for rank in ctas {
                let matrix = SharedMatrix { layout: &layout, of, rank: *rank };
                self.read_shared_matrix(
                    warp,
                    &[lane],
                    pc,
                    matrix,
                    (1, extent, reader),
                    &mut |_, _, _, _| Ok(()),
                )?;
            }
        }
        if let Some(scales) = product.scales {
            let of = [(scales.a, shape.rows, shape.scales[0]), (scales.b, shape.columns, shape.scales[1])];
            for (address, rows, byte) in of {
                let (first, column) = split(self.tensor_address(warp, lane, pc, address)?);
                if first != 0 {
                    let why = "scales of blocks that do not begin at lane 0 are not supported yet";
                    return Err(self.refused(Refused::NotYet(why), warp, lane, pc));
                }
                for row in 0..rows as u32 {
                    for quarter in 0..QUARTERS {
                        let down = quarter * TENSOR_LANES / QUARTERS + row % 32;
                        let place = Spot { rank: warp.rank, lane: down, column: column + row / 32 };
                        self.read_tensor(warp, &[lane], by, place, (byte, scales.blocks))?;
                    }
                }
            }
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
            Cell::from_pieces(&pieces, &mut self.packed)
        };
        self.write_tensor(warp, &[started.lane], started.by(), place, content)
    }

    /// The place of column `at` of a row of a left factor in tensor memory.
    fn left_in_tensor_memory(
        &self,
        warp: &Warp,
        started: &Multiplied<'_>,
        address: Address,
        (row, at): (usize, usize),
    ) -> Result<Spot, Stop> {
        let Multiplied { shape, ref ctas, lane, pc, .. } = *started;
        if shape.pair && shape.rows == 128 {
            let why = "left factors of 128 rows in the tensor memory of two CTAs are not supported yet";
            return Err(self.refused(Refused::NotYet(why), warp, lane, pc));
        }
        let (first, column) = split(self.tensor_address(warp, lane, pc, address)?);
        self.aligned(warp, lane, pc, &shape, first)?;
        let (cta, down, _) = shape.place(row, 0);
        Ok(Spot { rank: ctas[cta], lane: first + down, column: column + at as u32 })
    }

    pub(super) fn tensor_address(
        &self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        address: Address,
    ) -> Result<u64, Stop> {
        let base = self.concrete(warp, address.base, lane, pc, "an address of tensor memory")?;
        Ok(base.wrapping_add_signed(address.offset) & 0xffff_ffff)
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

    /// The layout of a matrix in shared memory, and the variable that it lies in, if that is known.
    pub(super) fn described(
        &self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        factor: &Factor,
        k_major: bool,
    ) -> Result<(Layout, Option<VariableId>), Stop> {
        let Factor::Shared { descriptor, of, .. } = factor else {
            return Err(Stop::Defect("a factor of a product into tensor memory in registers"));
        };
        let bits = self.concrete(warp, *descriptor, lane, pc, DESCRIPTOR)?;
        let layout =
            Layout::of_tensor(bits, k_major).map_err(|refused| self.refused(refused, warp, lane, pc))?;
        Ok((layout, *of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
