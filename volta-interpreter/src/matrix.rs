//! Products of matrices, and the layout of fragments in the registers of a warp.
//!
//! Let `g = lane / 4` and `t = lane % 4`, with `e` elements in a 32-bit register (one f64 in a 64-bit one). Each
//! operand of `mma` consists of cores of 8 rows (of A; columns of B) by `4·e` elements. Of a core, a lane holds row
//! `g`, columns `e·t … e·t + e − 1`, in one register. A's registers go down 8 rows first (if it has 16), then right;
//! B's go down. An accumulator's core is 8 by 8; a lane holds row `g`, columns `2t` and `2t + 1`. Its cores go down.
//!
//! Source: PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type" and the neighbouring sections.

use super::float::{self, Format, Round};
use super::integer::IntType;
use super::op::{Address, Register, Source};

/// The elements of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Floats.
    Float(Format),
    /// Integers of 8 bits, or accumulators of 32 bits.
    Int(IntType),
}

impl Element {
    /// The size of an element in bits.
    pub fn bits(self) -> u32 {
        match self {
            Element::Float(format) => format.bits(),
            Element::Int(ty) => ty.bits,
        }
    }
}

/// The role of a matrix in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The left factor, `m × k`.
    A,
    /// The right factor, `k × n`.
    B,
    /// The addend and the result: `m × n`.
    C,
}

/// A product `m × k` by `k × n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// The length of the sums.
    pub k: usize,
}

impl Shape {
    /// `m16n8k16`.
    pub fn parse(name: &str) -> Option<Shape> {
        let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    }

    /// Rows and columns of one of its matrices.
    pub fn extent(self, role: Role) -> (usize, usize) {
        match role {
            Role::A => (self.m, self.k),
            Role::B => (self.k, self.n),
            Role::C => (self.m, self.n),
        }
    }
}

/// The elements of the matrices of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Of A.
    pub a: Element,
    /// Of B.
    pub b: Element,
    /// Of the addend.
    pub c: Element,
    /// Of the result.
    pub d: Element,
}

/// Matrix instructions.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "they are instructions of the ISA, with its operands")]
pub enum Matrix {
    /// `mma`, and with `opaque` fragments `wmma.mma`.
    Multiply {
        shape: Shape,
        elements: Elements,
        opaque: bool,
        satfinite: bool,
        d: Vec<Register>,
        factors: [Vec<Source>; 3],
    },
    Ldmatrix {
        transposed: bool,
        d: Vec<Register>,
        from: Address,
    },
    Stmatrix {
        transposed: bool,
        s: Vec<Source>,
        to: Address,
    },
    Movmatrix {
        d: Register,
        a: Source,
    },
    WmmaLoad {
        role: Role,
        place: Place,
        d: Vec<Register>,
    },
    WmmaStore {
        place: Place,
        s: Vec<Source>,
    },
}

/// A matrix in memory.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Rows and columns.
    pub extent: (usize, usize),
    /// The element type.
    pub element: Element,
    /// Whether the elements of a row are contiguous.
    pub row_major: bool,
    /// The address.
    pub at: Address,
    /// The number of elements from a row (or column) to the next.
    pub stride: Option<Source>,
}

/// Row and column of element `index` of a lane's fragment of `mma`; elements are numbered from the low bits of the
/// first register.
pub fn position(role: Role, shape: Shape, element: Element, lane: usize, index: usize) -> (usize, usize) {
    let (group, t) = (lane / 4, lane % 4);
    if role == Role::C {
        return (group + 8 * (index / 2), 2 * t + index % 2);
    }
    let per_register = (32 / element.bits() as usize).max(1);
    let (register, within) = (index / per_register, index % per_register);
    let cores_down = if role == Role::A { shape.m / 8 } else { 1 };
    let along = per_register * t + within + 4 * per_register * (register / cores_down);
    let across = group + 8 * (register % cores_down);
    if role == Role::A { (across, along) } else { (along, across) }
}

/// For each copy of an element of an opaque fragment: the lane, and the index in it. The ISA does not specify the
/// layout, so this one deliberately differs from that of hardware: elements, row by row, are distributed over the
/// lanes; each further copy is 16 lanes on.
pub fn opaque_slots(extent: (usize, usize), at: usize, slots: usize) -> impl Iterator<Item = (usize, usize)> {
    let each = extent.0 * extent.1 / 32;
    (0..slots / each).map(move |copy| ((at + 16 * copy) % 32, at / 32 + each * copy))
}

/// `A·B + C` of matrices row by row, with elements as bits. Sums of floats are in f32 (f64 for f64), from the first
/// product to the last, rounded after each addition. The ISA requires at least that precision and does not specify the
/// order.
///
/// # Errors
/// Elements that cannot be multiplied.
pub fn multiply(
    shape: Shape,
    elements: Elements,
    satfinite: bool,
    a: &[u64],
    b: &[u64],
    c: &[u64],
) -> Result<Vec<u64>, String> {
    let Shape { m, n, k } = shape;
    let mut out = Vec::with_capacity(m * n);
    match elements {
        Elements { a: Element::Float(Format::F64), .. } => {
            let value = |bits: u64| f64::from_bits(bits);
            for at in 0..m * n {
                let (row, col) = (at / n, at % n);
                let sum = (0..k).fold(value(c[at]), |sum, k_at| {
                    value(a[row * k + k_at]).mul_add(value(b[k_at * n + col]), sum)
                });
                out.push(if sum.is_nan() { Format::F64.nan() } else { sum.to_bits() });
            }
        }
        Elements {
            a: Element::Float(fa),
            b: Element::Float(fb),
            c: Element::Float(fc),
            d: Element::Float(fd),
        } => {
            let values =
                |format, all: &[u64]| -> Vec<f32> { all.iter().map(|bits| single(format, *bits)).collect() };
            let (a, b, c) = (values(fa, a), values(fb, b), values(fc, c));
            for at in 0..m * n {
                let (row, col) = (at / n, at % n);
                let sum = (0..k).fold(c[at], |sum, k_at| a[row * k + k_at].mul_add(b[k_at * n + col], sum));
                out.push(float::from_f64(fd, f64::from(sum), Round::NearestTiesToEven));
            }
        }
        Elements { a: Element::Int(ia), b: Element::Int(ib), d: Element::Int(id), .. } => {
            for at in 0..m * n {
                let (row, col) = (at / n, at % n);
                let products = (0..k).map(|k_at| ia.value(a[row * k + k_at]) * ib.value(b[k_at * n + col]));
                let sum = id.value(c[at]) + products.sum::<i128>();
                let (low, high) = id.range();
                let sum = if satfinite { sum.clamp(low, high) } else { sum };
                out.push(sum as u64 & float::mask(id.bits));
            }
        }
        _ => return Err(format!("no product of {:?} by {:?}", elements.a, elements.b)),
    }
    Ok(out)
}

/// An element of a factor; the low bits of a tf32 are ignored.
fn single(format: Format, bits: u64) -> f32 {
    match format {
        Format::F16 => float::half(bits),
        Format::Tf32 => f32::from_bits(bits as u32 & !0x1fff),
        Format::Bf16 | Format::F32 | Format::F64 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => {
            float::to_f64(format, bits) as f32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F16: Element = Element::Float(Format::F16);
    const TF32: Element = Element::Float(Format::Tf32);
    const S8: Element = Element::Int(IntType { bits: 8, signed: true });
    const F64: Element = Element::Float(Format::F64);

    fn shape(name: &str) -> Shape {
        Shape::parse(name).expect("a shape")
    }

    #[test]
    fn fragments_cover_their_matrices_exactly() {
        let all = [
            ("m16n8k8", F16),
            ("m16n8k16", F16),
            ("m16n8k4", TF32),
            ("m16n8k8", TF32),
            ("m8n8k16", S8),
            ("m16n8k16", S8),
            ("m16n8k32", S8),
            ("m8n8k4", F64),
            ("m16n8k4", F64),
            ("m16n8k8", F64),
            ("m16n8k16", F64),
        ];
        for (name, element) in all {
            for role in [Role::A, Role::B, Role::C] {
                let shape = shape(name);
                let (rows, cols) = shape.extent(role);
                let mut seen = vec![0; rows * cols];
                for lane in 0..32 {
                    for index in 0..rows * cols / 32 {
                        let (row, col) = position(role, shape, element, lane, index);
                        assert!(row < rows && col < cols, "{name} {element:?} {role:?}: {row}, {col}");
                        seen[row * cols + col] += 1;
                    }
                }
                assert!(seen.iter().all(|count| *count == 1), "{name} {element:?} {role:?}");
            }
        }
    }

    /// Places read from the figures and formulas of the ISA: role, shape, element, lane, index, row, column.
    #[test]
    fn fragments_lie_as_the_manual_says() {
        let facts = [
            (Role::A, "m16n8k16", F16, 0, 2, 8, 0),
            (Role::A, "m16n8k16", F16, 0, 4, 0, 8),
            (Role::A, "m16n8k16", F16, 31, 7, 15, 15),
            (Role::B, "m16n8k16", F16, 5, 3, 11, 1),
            (Role::A, "m16n8k8", F16, 6, 2, 9, 4),
            (Role::B, "m16n8k8", F16, 6, 1, 5, 1),
            (Role::A, "m16n8k8", TF32, 6, 1, 9, 2),
            (Role::A, "m16n8k8", TF32, 6, 2, 1, 6),
            (Role::B, "m16n8k8", TF32, 6, 1, 6, 1),
            (Role::A, "m16n8k32", S8, 3, 5, 8, 13),
            (Role::A, "m16n8k32", S8, 3, 8, 0, 28),
            (Role::B, "m16n8k32", S8, 3, 4, 28, 0),
            (Role::A, "m8n8k16", S8, 7, 3, 1, 15),
            (Role::A, "m8n8k4", F64, 7, 0, 1, 3),
            (Role::C, "m8n8k4", F64, 7, 1, 1, 7),
            (Role::C, "m16n8k16", F16, 4, 2, 9, 0),
        ];
        for (role, name, element, lane, index, row, col) in facts {
            assert_eq!(
                position(role, shape(name), element, lane, index),
                (row, col),
                "{role:?} {name} {lane} {index}"
            );
        }
    }

    #[test]
    fn opaque_fragments_hold_every_element_as_often_as_there_is_room() {
        for (extent, slots) in [((16, 16), 8), ((16, 16), 16), ((16, 8), 4), ((8, 4), 1), ((32, 16), 16)] {
            let mut seen = vec![0; 32 * slots];
            for at in 0..extent.0 * extent.1 {
                opaque_slots(extent, at, slots).for_each(|(lane, slot)| seen[lane * slots + slot] += 1);
            }
            assert!(seen.iter().all(|count| *count == 1), "{extent:?} {slots}");
        }
    }

    #[test]
    fn integers_wrap_or_saturate() {
        let int = |bits| Element::Int(IntType { bits, signed: true });
        let elements = Elements { a: int(8), b: int(8), c: int(32), d: int(32) };
        let one = Shape { m: 1, n: 1, k: 2 };
        let product =
            |satfinite| multiply(one, elements, satfinite, &[0x80, 0xff], &[0x80, 0xff], &[0x7fff_ffff]);
        assert_eq!(product(false), Ok(vec![0x8000_4000]));
        assert_eq!(product(true), Ok(vec![0x7fff_ffff]));
    }
}
