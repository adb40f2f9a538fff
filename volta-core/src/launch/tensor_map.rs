//! Tensor maps (`CUtensorMap`, rule Y11): the boxes of a tensor in global memory, and their layout in shared memory.

use super::tensor::Tensor;
use crate::case::{Swizzle, TensorMap};

/// The largest number of dimensions of a map.
const MOST_DIMENSIONS: usize = 5;
/// The largest number of elements of a box in one dimension.
const LARGEST_BOX: u64 = 256;
/// Bytes that stay together under every swizzle: strides, and the size of a box's innermost dimension, are multiples of
/// it.
pub(crate) const PIECE: u64 = 16;
/// No shared memory is larger than this.
const LARGEST_BYTES: u64 = 1 << 18;

/// One dimension of a map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dimension {
    /// Elements of the tensor.
    pub(crate) extent: u64,
    /// Distance of neighbours in bytes.
    pub(crate) stride: u64,
    /// Elements of a box.
    pub(crate) tile: u64,
}

/// A tensor map of the launch.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    /// Its name in messages.
    pub(crate) name: String,
    /// The tensor, by its index in the launch.
    pub(crate) tensor: u32,
    /// Bytes of an element.
    pub(crate) element: u64,
    /// Innermost first.
    pub(crate) dimensions: Vec<Dimension>,
    pub(crate) swizzle: Swizzle,
}

impl Map {
    /// The map that the case declares, with the checks of the driver (CUDA driver API, `cuTensorMapEncodeTiled`).
    pub(crate) fn new(name: &str, map: &TensorMap, tensors: &[Tensor], shape: &[u64]) -> Result<Map, String> {
        let number = tensors.iter().position(|tensor| tensor.name == map.of && tensor.param.is_some());
        let number = number.ok_or_else(|| format!("`{}` is not a tensor of the case", map.of))?;
        let tensor = &tensors[number];
        if tensor.has_fields() {
            return Err(format!(
                "`{}` holds structs, but the elements of a tensor map have one type",
                map.of
            ));
        }
        let element = u64::from(tensor.element.bytes());
        let shape = if map.shape.is_empty() { shape } else { &map.shape };
        let rank = shape.len();
        if rank == 0 || rank > MOST_DIMENSIONS {
            return Err(format!(
                "a tensor map has 1 to {MOST_DIMENSIONS} dimensions, but `{}` has {rank}",
                map.of
            ));
        }
        if map.r#box.len() != rank {
            return Err(format!("`box` has {} dimensions, but the tensor has {rank}", map.r#box.len()));
        }
        let rows = row_major(shape).ok_or("the tensor map has too many elements")?;
        let strides = match map.strides.as_slice() {
            [] => rows,
            given if given.len() + 1 == rank => given.iter().copied().chain([1]).collect(),
            given => {
                return Err(format!(
                    "`strides` has {} numbers, but needs one for each dimension except the innermost one: {}",
                    given.len(),
                    rank - 1
                ));
            }
        };
        let dimensions: Vec<Dimension> = (0..rank)
            .rev()
            .map(|at| Dimension {
                extent: shape[at],
                stride: strides[at].saturating_mul(element),
                tile: map.r#box[at],
            })
            .collect();
        let made =
            Map { name: name.to_owned(), tensor: number as u32, element, dimensions, swizzle: map.swizzle };
        made.check(tensor)?;
        Ok(made)
    }

    fn check(&self, tensor: &Tensor) -> Result<(), String> {
        for Dimension { extent, tile, .. } in &self.dimensions {
            if *tile == 0 || *tile > LARGEST_BOX {
                return Err(format!("a box has 1 to {LARGEST_BOX} elements in each dimension, not {tile}"));
            }
            if *extent == 0 || *extent > 1 << 32 {
                return Err(format!("a tensor map has 1 to 2^32 elements in each dimension, not {extent}"));
            }
        }
        if self.bytes() > LARGEST_BYTES {
            return Err(format!("a box has {} bytes, more than any shared memory", self.bytes()));
        }
        for Dimension { stride, .. } in &self.dimensions[1..] {
            if !stride.is_multiple_of(PIECE) || *stride >= 1 << 40 {
                return Err(format!(
                    "strides must be multiples of {PIECE} bytes below 2^40, but one of them has {stride} bytes"
                ));
            }
        }
        let inner = self.inner_bytes();
        if !inner.is_multiple_of(PIECE) {
            return Err(format!(
                "the innermost dimension of a box must be a multiple of {PIECE} bytes, not {inner}"
            ));
        }
        // NVIDIA documents that narrower rows take the whole width of the swizzle, but not where in it they lie.
        let span = self.swizzle.span();
        if span > 0 && inner != span {
            return Err(format!(
                "the innermost dimension of a box has {inner} bytes, but with a swizzle of {span} bytes only boxes of \
                 {span} bytes are supported"
            ));
        }
        let last =
            self.dimensions.iter().map(|dimension| (dimension.extent - 1).saturating_mul(dimension.stride));
        let end = last.fold(self.element, u64::saturating_add);
        let has = tensor.elements * self.element;
        if end > has {
            return Err(format!("it extends to byte {end} of `{}`, which has {has}", tensor.name));
        }
        Ok(())
    }

    /// Size of a box in its innermost dimension.
    fn inner_bytes(&self) -> u64 {
        self.dimensions[0].tile * self.element
    }

    /// Size of a box.
    pub(crate) fn bytes(&self) -> u64 {
        self.dimensions.iter().fold(self.element, |bytes, dimension| bytes.saturating_mul(dimension.tile))
    }

    /// Offset of an element in the tensor; `None` where it is out of bounds.
    fn offset(&self, at: &[i64]) -> Option<u64> {
        let mut offset = 0;
        for (dimension, at) in self.dimensions.iter().zip(at) {
            let at = u64::try_from(*at).ok().filter(|at| *at < dimension.extent)?;
            offset += at * dimension.stride;
        }
        Some(offset)
    }

    /// The elements of the box at some coordinates, in the order of shared memory without swizzle, each with its offset
    /// in the tensor, if it is in bounds.
    pub(crate) fn elements<'m>(&'m self, first: &'m [i64]) -> impl Iterator<Item = Option<u64>> + 'm {
        let count = self.bytes() / self.element;
        (0..count).map(move |number| {
            let mut rest = number;
            let at = self.dimensions.iter().zip(first).map(|(dimension, first)| {
                let inside = rest % dimension.tile;
                rest /= dimension.tile;
                first.saturating_add(inside as i64)
            });
            let at: smallvec::SmallVec<[i64; MOST_DIMENSIONS]> = at.collect();
            self.offset(&at)
        })
    }
}

/// The row-major stride of each dimension, in elements.
fn row_major(shape: &[u64]) -> Option<Vec<u64>> {
    let mut strides = vec![1u64; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at].checked_mul(shape[at])?;
    }
    Some(strides)
}

/// The swizzled address of an address in shared memory: some bits of the number of its piece of 16 bytes are
/// combined with others (ISA, Swizzling Modes).
pub(crate) fn swizzled(swizzle: Swizzle, address: u64) -> u64 {
    // The number of pieces in the span, as a mask.
    let pieces = (swizzle.span() / PIECE).saturating_sub(1);
    address ^ (address >> 7 & pieces) << 4
}
