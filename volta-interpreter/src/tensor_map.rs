//! Tensor maps: the parameter of a launch, and the box that a copy moves. The ISA does not specify the bytes of a map;
//! here they have the encoding below.

use super::float::Format;
use super::integer::IntType;
use super::layout::Swizzle;
use super::memory;
use super::op::Type;

/// The size of a map in bytes.
pub const BYTES: usize = 128;

/// The most dimensions of a map.
const MOST: usize = 5;

/// The element types of maps.
const TYPES: [Type; 15] = [
    Type::Bits(8),
    Type::Bits(16),
    Type::Bits(32),
    Type::Bits(64),
    Type::Int(IntType { bits: 8, signed: true }),
    Type::Int(IntType { bits: 16, signed: true }),
    Type::Int(IntType { bits: 32, signed: true }),
    Type::Int(IntType { bits: 64, signed: true }),
    Type::Float(Format::F16),
    Type::Float(Format::Bf16),
    Type::Float(Format::Tf32),
    Type::Float(Format::F32),
    Type::Float(Format::F64),
    Type::Float(Format::E4m3),
    Type::Float(Format::E5m2),
];

/// One dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The number of elements of the tensor.
    pub extent: u64,
    /// The stride in bytes, below 2^40.
    pub stride: u64,
    /// The number of elements of a box, at most 256.
    pub tile: u64,
}

/// A tensor, and the shape of its boxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// The address of the first element in global memory.
    pub base: u64,
    /// The element type.
    pub ty: Type,
    /// The layout of boxes in shared memory.
    pub swizzle: Swizzle,
    /// The dimensions, innermost first.
    pub dimensions: Vec<Dimension>,
}

/// An element of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its address in global memory, if it lies in the tensor.
    pub global: Option<u64>,
    /// Its address in shared memory.
    pub shared: u64,
}

impl TensorMap {
    /// The bytes that a kernel receives.
    ///
    /// # Errors
    /// If there are too many dimensions.
    pub fn encode(&self) -> Result<[u8; BYTES], String> {
        if self.dimensions.len() > MOST {
            return Err(format!("a tensor map has at most {MOST} dimensions"));
        }
        let at = TYPES.iter().position(|ty| *ty == self.ty).ok_or("no map has elements of that type")?;
        let head = (at as u64) << 16 | u64::from(self.swizzle.0) << 8 | self.dimensions.len() as u64;
        let rest = self.dimensions.iter().flat_map(|held| [held.extent, held.tile << 48 | held.stride]);
        let mut bytes = [0; BYTES];
        for (at, word) in [self.base, head].into_iter().chain(rest).enumerate() {
            memory::write(&mut bytes, 8 * at, 8, word);
        }
        Ok(bytes)
    }

    /// Decodes a map from its words.
    ///
    /// # Errors
    /// If they are no map, or cannot be read.
    pub fn decode(mut word: impl FnMut(u64) -> Result<u64, String>) -> Result<TensorMap, String> {
        let (base, head) = (word(0)?, word(1)?);
        let (rank, swizzle, ty) = (head & 0xff, head >> 8 & 0xff, TYPES.get((head >> 16) as usize));
        let (Some(ty), 0..=MOST, 0..=3) = (ty, rank as usize, swizzle) else {
            return Err("there is no tensor map at the address that a copy names".into());
        };
        let mut dimension = |at: u64| -> Result<Dimension, String> {
            let (extent, packed) = (word(2 + 2 * at)?, word(3 + 2 * at)?);
            Ok(Dimension { extent, stride: packed & ((1 << 48) - 1), tile: packed >> 48 })
        };
        let dimensions = (0..rank).map(&mut dimension).collect::<Result<_, String>>()?;
        Ok(TensorMap { base, ty: *ty, swizzle: Swizzle(swizzle as u32), dimensions })
    }

    /// The elements of the box that begins at the given coordinates, with its address in shared memory.
    ///
    /// # Errors
    /// If the number of coordinates is wrong.
    pub fn elements(&self, first: &[i64], shared: u64) -> Result<Vec<Placed>, String> {
        if first.len() != self.dimensions.len() {
            return Err(format!("{} coordinates for {} dimensions", first.len(), self.dimensions.len()));
        }
        let mut placed = vec![(Some(self.base), 0)];
        let mut step = u64::from(self.ty.bits() / 8);
        for (dimension, first) in self.dimensions.iter().zip(first) {
            let global = |inside: u64| {
                let at = u64::try_from(first + inside as i64).ok()?;
                (at < dimension.extent).then(|| at * dimension.stride)
            };
            // The inner dimensions of a box are contiguous.
            placed = (0..dimension.tile)
                .flat_map(|inside| {
                    let outer = global(inside);
                    placed.iter().map(move |(inner, offset)| {
                        (inner.zip(outer).map(|(inner, outer)| inner + outer), offset + inside * step)
                    })
                })
                .collect();
            step *= dimension.tile;
        }
        let place = |(global, offset)| Placed { global, shared: self.swizzle.apply(shared + offset) };
        Ok(placed.into_iter().map(place).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        let dimension = |extent, stride, tile| Dimension { extent, stride, tile };
        let dimensions = vec![dimension(10, 2, 8), dimension(3, 32, 2)];
        TensorMap { base: 0x1000, ty: Type::Bits(16), swizzle: Swizzle(0), dimensions }
    }

    #[test]
    fn maps_survive_their_bytes() {
        let largest = Dimension { extent: 1 << 32, stride: (1 << 40) - 16, tile: 256 };
        let map = TensorMap { swizzle: Swizzle(3), dimensions: vec![largest; 5], ..map() };
        let bytes = map.encode().expect("five dimensions");
        assert_eq!(TensorMap::decode(|at| Ok(memory::read(&bytes, 8 * at as usize, 8))), Ok(map));
        assert!(TensorMap::decode(|_| Ok(u64::MAX)).is_err());
    }

    #[test]
    fn boxes_reach_beyond_their_tensors() {
        let placed = map().elements(&[4, -1], 0x80).expect("two coordinates");
        let found: Vec<(Option<u64>, u64)> = placed.iter().map(|at| (at.global, at.shared)).collect();
        let row = |at: u64| (at < 6).then_some(0x1000 + 2 * (4 + at));
        let expected: Vec<(Option<u64>, u64)> =
            (0..8).map(|at| (None, 0x80 + 2 * at)).chain((0..8).map(|at| (row(at), 0x90 + 2 * at))).collect();
        assert_eq!(found, expected);
        assert!(map().elements(&[0], 0).is_err());
    }
}
