//! Products into tensor memory (`tcgen05.mma`, rule Y14), which one thread starts.

use super::super::clock::AsyncSpace;
use super::super::cta::{Cta, Detector, Stop};
use super::super::mbarrier::Started;
use super::super::packed::{Cell, PackedPart};
use super::super::race::Agent;
use super::super::value::{Origin, Value};
use super::super::warp::Warp;
use super::matrix::{Factors, Places, Terms, real_or_undefined};
use super::shared_matrix::Layout;
use super::tensor_memory::split;
use super::warpgroup::DESCRIPTOR;
use crate::base::index::number_of;
use crate::case::Swizzle;
use crate::number::format::Format;
use crate::program::matrix::MatrixElement;
use crate::program::{Address, Adds, Factor, InstId, LeftFactor, ProductKind, TENSOR_LANES, TensorProduct};
use crate::verdict::FaultKind;

/// Bytes of a row of a factor.
const ROW_BYTES: u32 = 32;

/// What an instruction descriptor says (ISA, Instruction descriptor).
#[derive(Clone, Copy, Debug)]
struct Shape {
    rows: usize,
    columns: usize,
    k: usize,
    /// Of A, of B and of the result.
    formats: [Format; 3],
    /// Of A and of B.
    negated: [bool; 2],
    transposed: [bool; 2],
}

/// Why an instruction descriptor means nothing here.
enum Refused {
    /// By the ISA.
    Wrong(String),
    /// By us, so far.
    NotYet(&'static str),
}

impl Shape {
    fn of(kind: ProductKind, bits: u32) -> Result<Shape, Refused> {
        let field = |low: u32, width: u32| bits >> low & ((1 << width) - 1);
        if field(2, 1) == 1 {
            return Err(Refused::NotYet("sparse factors are not done yet"));
        }
        let reserved = [(0, 2), (3, 1), (6, 1), (23, 1), (29, 1), (30, 2)];
        if let Some((low, _)) = reserved.into_iter().find(|(low, width)| field(*low, *width) != 0) {
            return Err(Refused::Wrong(format!(
                "bit {low} of its instruction descriptor is not 0, or one above it"
            )));
        }
        let element = |low: u32, of: &str| {
            let code = field(low, 3);
            Ok(match (kind, code) {
                (ProductKind::Half, 0) => Format::F16,
                (ProductKind::Half, 1) => Format::Bf16,
                (ProductKind::Tf32, 2) => Format::Tf32,
                (ProductKind::Narrow, 0) => Format::E4m3,
                (ProductKind::Narrow, 1) => Format::E5m2,
                (ProductKind::Narrow, 3..=5) => {
                    return Err(Refused::NotYet("factors of 6 or 4 bits are not done yet"));
                }
                _ => return Err(Refused::Wrong(format!("type {code} of {of} is none of this kind"))),
            })
        };
        let (a, b) = (element(7, "A")?, element(10, "B")?);
        let d = match (kind, field(4, 2)) {
            (_, 1) => Format::F32,
            (ProductKind::Half | ProductKind::Narrow, 0) => Format::F16,
            (_, code) => {
                return Err(Refused::Wrong(format!("type {code} of the result is none of this kind")));
            }
        };
        if kind == ProductKind::Half && (a != b || d == Format::F16 && a != Format::F16) {
            return Err(Refused::Wrong(
                "its instruction descriptor has types that do not go together".into(),
            ));
        }
        let (rows, columns) = (16 * field(24, 5) as usize, 8 * field(17, 6) as usize);
        let is_shape = matches!(rows, 64 | 128) && (8..=256).contains(&columns);
        if !is_shape {
            return Err(Refused::Wrong(format!(
                "its instruction descriptor says {rows} × {columns}, where it can be 64 or 128 rows and 8, 16, … 256 \
                 columns"
            )));
        }
        let flag = |at: u32| field(at, 1) == 1;
        let transposed = [flag(15), flag(16)];
        if transposed.contains(&true) && kind == ProductKind::Tf32 {
            return Err(Refused::NotYet("factors of 32 bits that are transposed are not done yet"));
        }
        let k = (ROW_BYTES / a.bytes()) as usize;
        Ok(Shape { rows, columns, k, formats: [a, b, d], negated: [flag(13), flag(14)], transposed })
    }

    /// In which lane of tensor memory a row lies, from that of the first one on (ISA, Data Path Layout Organization).
    fn lane(&self, row: usize) -> u32 {
        let row = row as u32;
        if self.rows == 64 { row / 16 * 32 + row % 16 } else { row }
    }
}

impl Layout {
    /// What a matrix descriptor of tensor cores of this generation says (ISA, Shared memory descriptor).
    fn of_tensor(bits: u64, k_major: bool) -> Result<Layout, Refused> {
        if bits >> 46 & 7 != 1 || bits >> 53 & 0xff != 0 {
            return Err(Refused::Wrong(
                "bits 46 to 48 of its matrix descriptor are not 1, or bits 53 to 60 not 0".into(),
            ));
        }
        if bits >> 52 & 1 == 1 {
            return Err(Refused::NotYet("leading dimensions by their address are not done yet"));
        }
        let swizzle = match bits >> 61 {
            0 => Swizzle::None,
            1 => return Err(Refused::NotYet("128-byte swizzles of 32-byte atoms are not done yet")),
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
    /// A thread commits all products that it has started: what tells of this commit tells of them, and of earlier commits.
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
    fn refused(&self, refused: Refused, warp: &Warp, lane: usize, pc: InstId) -> Stop {
        match refused {
            Refused::Wrong(why) => {
                let message = format!("a product means nothing: {why}");
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
        lane: usize,
        pc: InstId,
        product: &TensorProduct,
    ) -> Result<(), Stop> {
        let bits = self.concrete(warp, product.descriptor, lane, pc, "an instruction descriptor")? as u32;
        let shape = Shape::of(product.kind, bits).map_err(|refused| self.refused(refused, warp, lane, pc))?;
        let [a, b, d] = shape.formats;
        let mut left_out = [0; 4];
        for (word, source) in left_out.iter_mut().zip(&product.left_out) {
            *word = self.concrete(warp, *source, lane, pc, "a mask of lanes")? as u32;
        }
        let adds = match product.adds {
            Adds::Known(adds) => adds,
            Adds::If(predicate) => self.known_truth(warp, predicate, lane, pc)?,
        };
        let accumulator = self.tensor_address(warp, lane, pc, product.d)?;
        let pipeline = self.tensor_memory.pipeline(accumulator, [shape.rows, shape.columns, shape.k], d);
        let number = self.exact()?.begin_on_tensor_memory(Some(pipeline));
        let reader = Agent::Copy { number, proxy: Some(AsyncSpace::Shared) };
        let by = (pc, Agent::Copy { number, proxy: None });

        let mut left = Terms::new(shape.rows, shape.k);
        match &product.a {
            LeftFactor::Shared(factor) => {
                let extent = (shape.rows, shape.k);
                let place = (factor, !shape.transposed[0]);
                self.read_described(warp, lane, pc, place, (a, extent), reader, &mut |(row, at), raw| {
                    left.set((row, at), raw);
                })?;
            }
            LeftFactor::Tensor(address) => {
                let (first, column) = split(self.tensor_address(warp, lane, pc, *address)?);
                self.aligned(warp, lane, pc, &shape, first)?;
                let inside = 4 / a.bytes() as usize;
                for row in 0..shape.rows {
                    for at in 0..shape.k {
                        let place = (first + shape.lane(row), column + (at / inside) as u32);
                        let part = ((at % inside) as u32 * a.bytes(), a.bytes());
                        let value = self.read_tensor(warp, &[lane], by, place, part)?;
                        let raw = self.raw_real(warp, value, a, lane, pc)?;
                        left.set((row, at), raw);
                    }
                }
            }
        }
        let mut right = Terms::new(shape.k, shape.columns);
        let place = (&product.b, !shape.transposed[1]);
        let extent = (shape.columns, shape.k);
        self.read_described(warp, lane, pc, place, (b, extent), reader, &mut |(column, at), raw| {
            right.set((at, column), raw);
        })?;
        if shape.negated[0] != shape.negated[1] {
            self.negate(&mut left, pc);
        }
        let (first, column) = split(accumulator);
        self.aligned(warp, lane, pc, &shape, first)?;
        let is_kept = |row: u32| {
            let row = first + row;
            left_out.get((row / 32) as usize).is_some_and(|word| word >> (row % 32) & 1 == 1)
        };
        let mut sum = Terms::new(shape.rows, shape.columns);
        if adds {
            for row in 0..shape.rows {
                for at in 0..shape.columns {
                    let place = (first + shape.lane(row), column + at as u32);
                    let value = self.read_tensor(warp, &[lane], by, place, (0, d.bytes()))?;
                    let raw = self.raw_real(warp, value, d, lane, pc)?;
                    sum.set((row, at), raw);
                }
            }
        } else if let Some(zero) = self.real(warp, Value::Bits(0), d, lane, pc)? {
            sum.raw.fill(zero.raw());
        }
        let known = &self.known;
        let mut factors = Factors::new(&left, &right, &sum, Places::OF_ROWS, |raw| known.contains(raw));
        for row in (0..shape.rows).step_by(32) {
            for at in 0..shape.columns {
                let results = self.dot_products(pc, &mut factors, (row, at));
                for (down, raw) in results.into_iter().enumerate() {
                    let down = shape.lane(row + down);
                    if is_kept(down) {
                        continue;
                    }
                    let value = real_or_undefined(d, raw, pc);
                    let content = if d.bytes() == 4 {
                        Cell::of(value)
                    } else {
                        // The upper half belongs to nobody.
                        let nothing = Value::Undefined(Origin::Unwritten(pc));
                        let pieces = [value, nothing].map(|value| PackedPart { value, bytes: 2 });
                        Cell::from_pieces(&pieces, &mut self.packed)
                    };
                    self.write_tensor(warp, &[lane], by, (first + down, column + at as u32), content)?;
                }
            }
        }
        let thread = warp.thread(lane);
        let Detector::VectorClock(exact) = &mut self.order else { return Err(Stop::NeedVectorClocks) };
        self.tensor_memory.committed_by(thread, &mut exact.clocks).open.push(number);
        self.mbarriers.copies.push(Started { copy: number, thread, pc, rank: warp.rank });
        self.check_budgets()
    }

    fn tensor_address(&self, warp: &Warp, lane: usize, pc: InstId, address: Address) -> Result<u64, Stop> {
        let base = self.concrete(warp, address.base, lane, pc, "an address of tensor memory")?;
        Ok(base.wrapping_add_signed(address.offset) & 0xffff_ffff)
    }

    /// Products of 64 rows use half of the lanes, the lower or the upper 16 of each 32; others all.
    fn aligned(&self, warp: &Warp, lane: usize, pc: InstId, shape: &Shape, first: u32) -> Result<(), Stop> {
        if first == 0 || shape.rows == 64 && first == 16 {
            return Ok(());
        }
        let allowed = if shape.rows == 64 { "0 or 16" } else { "0" };
        let message = format!(
            "a matrix of {} rows begins at lane {first} of {TENSOR_LANES} of tensor memory, and can begin at {allowed}",
            shape.rows
        );
        let sites = vec![self.site("starts the product".into(), warp, lane, pc)];
        Err(self.fault_at(FaultKind::Misaligned, "Y14", message, sites, None))
    }

    /// Reads a factor in shared memory.
    fn read_described(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        pc: InstId,
        (factor, k_major): (&Factor, bool),
        (format, extent): (Format, (usize, usize)),
        agent: Agent,
        take: &mut dyn FnMut((usize, usize), u64),
    ) -> Result<(), Stop> {
        let Factor::Shared { descriptor, of, .. } = factor else {
            return Err(Stop::Defect("a factor of a product into tensor memory in registers"));
        };
        let bits = self.concrete(warp, *descriptor, lane, pc, DESCRIPTOR)?;
        let layout =
            Layout::of_tensor(bits, k_major).map_err(|refused| self.refused(refused, warp, lane, pc))?;
        let element = MatrixElement::Float(format);
        self.read_factor(warp, &[lane], pc, (&layout, *of), element, extent, agent, take)
    }
}
