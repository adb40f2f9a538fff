//! Layouts as in CuTe, and the places of a product's factors in shared memory.
//!
//! A mode `(e0, e1, …):(s0, s1, …)` splits a number into parts, by the first extent first, and sums them, each times
//! its stride. A layout of a matrix is the sum of two modes. `Swizzle<b, 4, 3>` acts on byte addresses.
//!
//! Source: PTX ISA, "Canonical Layouts" and "Matrix Descriptor Format" of `wgmma`, "Swizzling Modes" of tensors.

/// Bytes that a swizzle keeps together: `T` elements.
const UNIT: u64 = 16;

/// Extents and strides. The quotient after all extents has the last stride.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Extents with their strides in bytes.
    pub parts: Vec<(u64, u64)>,
    /// The last stride in bytes, with an unbounded extent.
    pub last: u64,
}

impl Mode {
    /// The offset of the element with a number.
    pub fn offset(&self, number: u64) -> u64 {
        let (mut rest, mut sum) = (number, 0);
        for (extent, stride) in &self.parts {
            sum += rest % extent * stride;
            rest /= extent;
        }
        sum + rest * self.last
    }
}

/// `Swizzle<b, 4, 3>`: the `b` bits of an address from bit 7 on are xored into those from bit 4 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swizzle(pub u32);

impl Swizzle {
    /// The address to which a byte moves.
    pub fn apply(self, address: u64) -> u64 {
        const BASE: u32 = 4;
        const SHIFT: u32 = 3;
        let upper = ((1u64 << self.0) - 1) << (BASE + SHIFT);
        address ^ (address & upper) >> SHIFT
    }
}

/// The fields of a matrix descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The address of the first byte in shared memory.
    pub start: u64,
    /// The leading dimension byte offset.
    pub leading: u64,
    /// The stride dimension byte offset.
    pub stride: u64,
    /// The swizzle of units.
    pub swizzle: Swizzle,
}

impl Descriptor {
    /// Decodes the 64 bits.
    ///
    /// # Errors
    /// If there is a base offset: the pattern does not begin at a multiple of its span.
    pub fn decode(word: u64) -> Result<Descriptor, String> {
        let field = |low: u32, bits: u32| word >> low & ((1 << bits) - 1);
        let bytes = |low: u32| field(low, 14) << 4;
        if field(49, 3) != 0 {
            return Err("a matrix descriptor with a base offset is not known".into());
        }
        let swizzle = [0, 3, 2, 1][field(62, 2) as usize];
        Ok(Descriptor { start: bytes(0), leading: bytes(16), stride: bytes(32), swizzle: Swizzle(swizzle) })
    }
}

/// A factor in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFactor {
    start: u64,
    swizzle: Swizzle,
    /// Along the dimension of the result.
    across: Mode,
    /// Along the dimension of the sums.
    along: Mode,
}

impl SharedFactor {
    /// The canonical layout for elements of this size in bytes.
    pub fn new(descriptor: Descriptor, k_major: bool, bytes: u64) -> SharedFactor {
        let Descriptor { start, leading, stride, swizzle } = descriptor;
        let t = UNIT / bytes;
        // The units in one of the eight lines of the pattern.
        let units = 1 << swizzle.0;
        let line = units * UNIT;
        let plain = units == 1;
        let mode = |parts: &[(u64, u64)], last: u64| Mode { parts: parts.to_vec(), last };
        let (across, along) = if k_major {
            (mode(&[(8, line)], stride), mode(&[(t, bytes)], if plain { leading } else { UNIT }))
        } else {
            let (outer, next) = if plain { (stride, leading) } else { (leading, stride) };
            (mode(&[(t, bytes), (units, UNIT)], outer), mode(&[(8, line)], next))
        };
        SharedFactor { start, swizzle, across, along }
    }

    /// The address of an element, by its row of A or column of B and its index in the sum.
    pub fn address(&self, across: u64, along: u64) -> u64 {
        self.swizzle.apply(self.start + self.across.offset(across) + self.along.offset(along))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of "Swizzling Modes": the units of 16 bytes in each line of 128 bytes.
    #[test]
    fn units_lie_as_the_tables_say() {
        let tables: [(u32, &[[u64; 8]]); 3] = [
            (1, &[[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 3, 2, 5, 4, 7, 6]]),
            (
                2,
                &[
                    [0, 1, 2, 3, 4, 5, 6, 7],
                    [1, 0, 3, 2, 5, 4, 7, 6],
                    [2, 3, 0, 1, 6, 7, 4, 5],
                    [3, 2, 1, 0, 7, 6, 5, 4],
                ],
            ),
            (
                3,
                &[
                    [0, 1, 2, 3, 4, 5, 6, 7],
                    [1, 0, 3, 2, 5, 4, 7, 6],
                    [2, 3, 0, 1, 6, 7, 4, 5],
                    [3, 2, 1, 0, 7, 6, 5, 4],
                    [4, 5, 6, 7, 0, 1, 2, 3],
                    [5, 4, 7, 6, 1, 0, 3, 2],
                    [6, 7, 4, 5, 2, 3, 0, 1],
                    [7, 6, 5, 4, 3, 2, 1, 0],
                ],
            ),
        ];
        for (bits, table) in tables {
            // The pattern repeats.
            for (line, units) in table.iter().chain(table).zip(0..).map(|(units, line)| (line, units)) {
                for (place, unit) in units.iter().zip(0..).map(|(unit, place)| (place, unit)) {
                    let line = 128 * line;
                    assert_eq!(Swizzle(bits).apply(line + 16 * unit + 5), line + 16 * place + 5);
                }
            }
        }
        assert_eq!(Swizzle(0).apply(0x3ff), 0x3ff);
    }

    /// The manual's examples with their exact layouts; addresses were computed by hand.
    #[test]
    fn factors_lie_as_the_examples_say() {
        let at = |swizzle: u64, leading: u64, stride: u64| {
            Descriptor::decode(leading << 16 | stride << 32 | swizzle << 62 | 0x40).expect("no base offset")
        };
        // Encoded offsets, K-major, bytes of an element, row or column, index in the sum, address from 0x400 on.
        let facts = [
            // ((8,2),(4,4)):((4,32),(1,64)): 4·1 + 32 + 1 + 64 = 101 elements
            (at(0, 16, 8), true, 4, 9, 5, 404),
            // Swizzle<1,4,3> o ((8,2),(4,4)):((8,64),(1,4)): 8·4 + 64 + 2 + 4 = 102 elements, 0x198 bytes
            (at(3, 1, 16), true, 4, 12, 6, 0x188),
            // ((8,1,2),(8,2)):((1,8,64),(8,128)): 3 + 64 + 8·1 + 128 = 203 elements
            (at(0, 16, 8), false, 2, 11, 9, 406),
            // Swizzle<1,4,3> o ((8,2,2),(8,2)):((1,8,128),(16,256)): 3 + 8 + 128 + 16·4 + 256 = 459 elements, 0x396 bytes
            (at(3, 16, 32), false, 2, 27, 12, 0x386),
            // Swizzle<2,4,3> o ((8,4,2),(8,2)):((1,8,256),(32,512)): 1 + 8 + 256 + 32·6 + 512 = 969 elements, 0x792 bytes
            (at(2, 32, 64), false, 2, 41, 14, 0x7a2),
        ];
        for (descriptor, k_major, bytes, across, along, offset) in facts {
            let found = SharedFactor::new(descriptor, k_major, bytes).address(across, along);
            assert_eq!(found, 0x400 + offset, "{descriptor:?} {across} {along}");
        }
    }

    #[test]
    fn descriptors_have_their_fields() {
        let word = 1 << 62 | 64 << 32 | 1 << 16 | 0x1_2340 >> 4;
        let expected = Descriptor { start: 0x1_2340, leading: 16, stride: 1024, swizzle: Swizzle(3) };
        assert_eq!(Descriptor::decode(word), Ok(expected));
        assert!(Descriptor::decode(word | 1 << 49).is_err());
    }
}
