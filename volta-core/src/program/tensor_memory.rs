//! Operations on tensor memory (`tcgen05`, rule Y14): 128 lanes of 512 columns of 32 bits that a CTA allocates,
//! transfers to and from registers a quarter at a time, and accumulates products in.

use super::asynchronous::{Adds, Factor, MemoryPlace};
use super::effect::{Effect, Members};
use super::op::{Address, RegId, Src};
use super::visit::Named;

/// Lanes of tensor memory.
pub const TENSOR_LANES: u32 = 128;
/// Columns of tensor memory, of 32 bits.
pub const TENSOR_COLUMNS: u32 = 512;

/// The part of tensor memory that each lane of a warp transfers (ISA, Data Movement Shape).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedShape {
    /// `32x32b`
    Lanes32,
    /// `16x64b`
    Bits64,
    /// `16x128b`
    Bits128,
    /// `16x256b`
    Bits256,
    /// `16x32bx2`: the upper half of a warp, this many columns further.
    Halves(u32),
}

impl MovedShape {
    /// Number of lanes of tensor memory that it covers.
    pub fn lanes(self) -> u32 {
        match self {
            MovedShape::Lanes32 => 32,
            MovedShape::Bits64 | MovedShape::Bits128 | MovedShape::Bits256 | MovedShape::Halves(_) => 16,
        }
    }

    /// Registers of each lane for one repetition.
    pub fn registers(self) -> u32 {
        match self {
            MovedShape::Lanes32 | MovedShape::Bits64 | MovedShape::Halves(_) => 1,
            MovedShape::Bits128 => 2,
            MovedShape::Bits256 => 4,
        }
    }

    /// Lane and column, relative to the first ones, of register `number` of a lane of the warp.
    pub fn place(self, lane: u32, number: u32) -> (u32, u32) {
        match self {
            MovedShape::Lanes32 => (lane, number),
            MovedShape::Bits64 => (lane / 4 + lane % 2 * 8, 2 * number + lane / 2 % 2),
            MovedShape::Bits128 => (lane / 4 + number % 2 * 8, number / 2 * 4 + lane % 4),
            MovedShape::Bits256 => {
                (lane / 4 + number / 2 % 2 * 8, number / 4 * 8 + lane % 4 * 2 + number % 2)
            }
            MovedShape::Halves(apart) => (lane % 16, number + if lane < 16 { 0 } else { apart }),
        }
    }
}

/// A transfer between registers of a warp and a part of tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its first lane and column: an address of tensor memory.
    pub address: Address,
    /// The shape of the part.
    pub shape: MovedShape,
    /// Whether a register holds the low halves of two columns.
    pub packed: bool,
}

/// The element types of a product, among which an instruction descriptor chooses (ISA, Instruction descriptor).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductKind {
    /// `.kind::f16`
    Half,
    /// `.kind::tf32`
    Tf32,
    /// `.kind::f8f6f4`
    Narrow,
    /// `.kind::i8`
    Integer,
    /// `.kind::mxf8f6f4`
    ScaledNarrow,
    /// `.kind::mxf4`, `.kind::mxf4nvf4`
    ScaledFour,
}

/// Scales of blocks of both factors, in tensor memory (ISA, Block Scaling). In each quarter of the lanes, the scales of row `r`
/// lie in lane `r % 32`, column `r / 32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scales {
    /// For rows of A.
    pub a: Address,
    /// For columns of B.
    pub b: Address,
    /// Scales per row, one byte each.
    pub blocks: u32,
}

/// The shape of a copy from shared memory (`tcgen05.cp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopiedShape {
    /// The lanes that its rows go to.
    pub lanes: CopiedLanes,
    /// 4 or 8.
    pub columns: u32,
}

/// The lanes that the rows of a copy from shared memory go to (ISA, tcgen05.cp).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopiedLanes {
    /// Row `r` of 128 to lane `r`.
    All,
    /// Of 64 rows, the upper 32 to the first and the third quarter of the lanes, the lower 32 to the second and the
    /// fourth (`.warpx2::02_13`).
    Alternating,
    /// Of 64 rows, the upper 32 to the first two quarters of the lanes, the lower 32 to the last two
    /// (`.warpx2::01_23`).
    Halves,
    /// 32 rows to each quarter of the lanes (`.warpx4`).
    Quarters,
}

impl CopiedLanes {
    /// Number of rows that are copied.
    pub fn rows(self) -> u32 {
        match self {
            CopiedLanes::All => 128,
            CopiedLanes::Alternating | CopiedLanes::Halves => 64,
            CopiedLanes::Quarters => 32,
        }
    }

    /// The lanes that a row goes to.
    pub fn of(self, row: u32) -> impl Iterator<Item = u32> {
        let (quarter, down) = (row / 32, row % 32);
        let quarters: &[u32] = match (self, quarter) {
            (CopiedLanes::All, _) => &[0],
            (CopiedLanes::Alternating, _) => &[0, 2],
            (CopiedLanes::Halves, 0) => &[0, 1],
            // The lower 32 rows begin one quarter further on.
            (CopiedLanes::Halves, _) => &[1, 2],
            (CopiedLanes::Quarters, _) => &[0, 1, 2, 3],
        };
        quarters.iter().map(move |further| 32 * (quarter + further) + down)
    }
}

/// The left factor of a product.
#[derive(Clone, Debug, PartialEq)]
pub enum LeftFactor {
    /// In shared memory, by a descriptor.
    Shared(Factor),
    /// In tensor memory.
    Tensor(Address),
}

/// `tcgen05.mma`: a product that one thread starts.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorProduct {
    /// Its element types.
    pub kind: ProductKind,
    /// Whether the CTA computes it with its peer: each has half of A, of B and of the result (`.cta_group::2`).
    pub pair: bool,
    /// The accumulator, in tensor memory.
    pub d: Address,
    /// The left factor.
    pub a: LeftFactor,
    /// The right factor, in shared memory.
    pub b: Factor,
    /// The instruction descriptor: shape, elements and signs.
    pub descriptor: Src,
    /// Scales of blocks of both factors (`.block_scale`).
    pub scales: Option<Scales>,
    /// Lanes of the result that are not written: four words of mask bits, for a pair of CTAs eight, or none.
    pub left_out: Vec<Src>,
    /// Whether `d` is accumulated into or overwritten.
    pub adds: Adds,
}

impl TensorProduct {
    /// The factors in shared memory.
    fn shared_factors(&self) -> impl Iterator<Item = &Factor> {
        let left = match &self.a {
            LeftFactor::Shared(factor) => Some(factor),
            LeftFactor::Tensor(_) => None,
        };
        left.into_iter().chain([&self.b])
    }
}

/// An operation on tensor memory.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as PTX names its operands")]
pub enum TensorMemoryOp {
    /// `tcgen05.alloc`: this many columns, whose address is stored; with `pair` (`.cta_group::2`), a warp of each CTA
    /// executes it together with the other, as for the next two operations.
    Allocate { to: MemoryPlace, columns: Src, pair: bool },
    /// `tcgen05.dealloc`
    Free { address: Src, columns: Src, pair: bool },
    /// `tcgen05.relinquish_alloc_permit`
    Relinquish { pair: bool },
    /// `tcgen05.ld`
    Load { d: Vec<RegId>, from: Moved },
    /// `tcgen05.st`
    Store { to: Moved, a: Vec<Src> },
    /// `tcgen05.wait::ld` (`loads`), `tcgen05.wait::st`
    Wait { loads: bool },
    /// `tcgen05.fence::before_thread_sync` (`before`), `tcgen05.fence::after_thread_sync`
    Fence { before: bool },
    /// `tcgen05.cp`: a matrix in shared memory
    Copy { to: Address, from: Factor, shape: CopiedShape },
    /// `tcgen05.mma`
    Multiply(Box<TensorProduct>),
}

impl TensorMemoryOp {
    /// The matrices in shared memory that it reads.
    pub(crate) fn shared_matrices(&self) -> Vec<&Factor> {
        match self {
            TensorMemoryOp::Multiply(product) => product.shared_factors().collect(),
            TensorMemoryOp::Copy { from, .. } => vec![from],
            TensorMemoryOp::Allocate { .. }
            | TensorMemoryOp::Free { .. }
            | TensorMemoryOp::Relinquish { .. }
            | TensorMemoryOp::Load { .. }
            | TensorMemoryOp::Store { .. }
            | TensorMemoryOp::Wait { .. }
            | TensorMemoryOp::Fence { .. } => Vec::new(),
        }
    }

    /// The matrices in shared memory that it reads, mutably.
    pub(super) fn shared_matrices_mut(&mut self) -> Vec<&mut Factor> {
        match self {
            TensorMemoryOp::Multiply(product) => {
                let TensorProduct { a, b, .. } = &mut **product;
                match a {
                    LeftFactor::Shared(a) => vec![a, b],
                    LeftFactor::Tensor(_) => vec![b],
                }
            }
            TensorMemoryOp::Copy { from, .. } => vec![from],
            TensorMemoryOp::Allocate { .. }
            | TensorMemoryOp::Free { .. }
            | TensorMemoryOp::Relinquish { .. }
            | TensorMemoryOp::Load { .. }
            | TensorMemoryOp::Store { .. }
            | TensorMemoryOp::Wait { .. }
            | TensorMemoryOp::Fence { .. } => Vec::new(),
        }
    }

    /// The matrix descriptors that it reads.
    fn descriptors(&self) -> impl Iterator<Item = Src> {
        self.shared_matrices().into_iter().filter_map(|factor| match factor {
            Factor::Registers(_) => None,
            Factor::Shared { descriptor, .. } => Some(*descriptor),
        })
    }

    /// Whether a source is a matrix descriptor.
    pub(crate) fn is_descriptor(&self, source: Src) -> bool {
        self.descriptors().any(|descriptor| descriptor == source)
    }

    pub(super) fn effect(&self) -> Effect<'_> {
        match self {
            TensorMemoryOp::Allocate { .. }
            | TensorMemoryOp::Free { .. }
            | TensorMemoryOp::Relinquish { .. }
            | TensorMemoryOp::Load { .. }
            | TensorMemoryOp::Store { .. }
            | TensorMemoryOp::Wait { .. } => Effect::Collective(Members::All),
            TensorMemoryOp::Fence { .. } | TensorMemoryOp::Copy { .. } | TensorMemoryOp::Multiply(_) => {
                Effect::Context
            }
        }
    }

    /// Whether a warp of each CTA of a pair executes it together with the other.
    pub(crate) fn is_of_both(&self) -> bool {
        match self {
            TensorMemoryOp::Allocate { pair, .. }
            | TensorMemoryOp::Free { pair, .. }
            | TensorMemoryOp::Relinquish { pair } => *pair,
            TensorMemoryOp::Load { .. }
            | TensorMemoryOp::Store { .. }
            | TensorMemoryOp::Wait { .. }
            | TensorMemoryOp::Fence { .. }
            | TensorMemoryOp::Copy { .. }
            | TensorMemoryOp::Multiply(_) => false,
        }
    }

    /// The addresses of tensor memory that it uses.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        match self {
            TensorMemoryOp::Free { address, .. } => vec![Address { base: *address, offset: 0 }],
            TensorMemoryOp::Load { from: moved, .. } | TensorMemoryOp::Store { to: moved, .. } => {
                vec![moved.address]
            }
            TensorMemoryOp::Copy { to, .. } => vec![*to],
            TensorMemoryOp::Multiply(product) => {
                let mut list = vec![product.d];
                if let LeftFactor::Tensor(address) = product.a {
                    list.push(address);
                }
                list.extend(product.scales.into_iter().flat_map(|scales| [scales.a, scales.b]));
                list
            }
            TensorMemoryOp::Allocate { .. }
            | TensorMemoryOp::Relinquish { .. }
            | TensorMemoryOp::Wait { .. }
            | TensorMemoryOp::Fence { .. } => Vec::new(),
        }
    }

    /// The values that it reads, apart from addresses.
    pub(super) fn values(&self) -> Vec<Src> {
        match self {
            TensorMemoryOp::Allocate { columns, .. } | TensorMemoryOp::Free { columns, .. } => vec![*columns],
            TensorMemoryOp::Store { a, .. } => a.clone(),
            TensorMemoryOp::Copy { .. } => self.descriptors().collect(),
            TensorMemoryOp::Multiply(product) => {
                let others = [product.descriptor].into_iter().chain(product.left_out.iter().copied());
                self.descriptors().chain(others).collect()
            }
            TensorMemoryOp::Relinquish { .. }
            | TensorMemoryOp::Load { .. }
            | TensorMemoryOp::Wait { .. }
            | TensorMemoryOp::Fence { .. } => Vec::new(),
        }
    }

    /// Calls `visit` with all that it names, except addresses in shared memory and values.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(Named)) {
        self.addresses().into_iter().for_each(|address| visit(Named::Read(address.base)));
        if let TensorMemoryOp::Load { d, .. } = self {
            d.iter().for_each(|d| visit(Named::Write(*d)));
        }
        if let TensorMemoryOp::Multiply(product) = self
            && let Adds::If(adds) = product.adds
        {
            visit(Named::ReadPredicate(adds));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Each lane gets one row, and every row goes where the layouts of CuTe (`copy_traits_sm100`) put it, as
    /// `(rows, parts, copies)` to lanes: `(128):(1)`, `(64,2):(1,64)`, `(32,2,2):(1,64,32)`, `(32,4):(1,32)`.
    #[test]
    fn copies_fill_all_lanes() {
        use CopiedLanes::{All, Alternating, Halves, Quarters};
        for (lanes, part, apart, copies) in
            [(All, 128, 0, [0].as_slice()), (Alternating, 64, 0, &[0, 64]), (Halves, 32, 64, &[0, 32])]
                .into_iter()
                .chain([(Quarters, 32, 0, [0, 32, 64, 96].as_slice())])
        {
            let mut all = BTreeSet::new();
            for row in 0..lanes.rows() {
                let of: Vec<u32> = lanes.of(row).collect();
                let cute = copies.iter().map(|copy| row % part + row / part * apart + copy);
                assert_eq!(of, cute.collect::<Vec<u32>>(), "{lanes:?}, row {row}");
                all.extend(of);
            }
            assert_eq!(all, (0..TENSOR_LANES).collect(), "{lanes:?}");
        }
    }

    /// Each register of a warp has its own place, and all places together form a rectangle.
    #[test]
    fn shapes_cover_what_they_move() {
        for (shape, registers) in [
            (MovedShape::Lanes32, 4),
            (MovedShape::Bits64, 4),
            (MovedShape::Bits128, 8),
            (MovedShape::Bits256, 16),
            (MovedShape::Halves(4), 4),
        ] {
            let places: BTreeSet<(u32, u32)> = (0..32)
                .flat_map(|lane| (0..registers).map(move |number| shape.place(lane, number)))
                .collect();
            assert_eq!(places.len() as u32, 32 * registers, "{shape:?}");
            let columns = 32 * registers / shape.lanes();
            assert!(places.iter().all(|(lane, column)| *lane < shape.lanes() && *column < columns));
        }
    }
}
