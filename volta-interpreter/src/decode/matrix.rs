//! Instructions on matrices.

use volta_core::ptx::tree::Operand;

use super::super::float::{Format, Round};
use super::super::integer::IntType;
use super::super::matrix::{Element, Elements, Matrix, Place, Role, Shape};
use super::super::op::{Collective, Op, Source, Type};
use super::Decoder;
use super::operand::Modifiers;

const WORD: Type = Type::Bits(32);

fn element(name: &str) -> Option<Element> {
    match Type::parse(name)? {
        Type::Float(format) => Some(Element::Float(format)),
        Type::Int(ty) => Some(Element::Int(ty)),
        Type::Pred | Type::Bits(_) | Type::FloatPair(_) | Type::IntPair(_) => None,
    }
}

impl Decoder {
    pub(super) fn matrix(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Option<Op>, String> {
        if !matches!(opcode, "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix") {
            return Ok(None);
        }
        modifiers.take("sync");
        modifiers.take("aligned");
        let operand = |at: usize| operands.get(at).ok_or_else(|| "an operand is missing".to_string());
        let matrix = match opcode {
            "mma" => self.multiply(modifiers, operands, false)?,
            "wmma" => match modifiers.one_of(&[("mma", 0), ("load", 1), ("store", 2)]) {
                Some(0) => self.multiply(modifiers, operands, true)?,
                Some(kind) => {
                    let role =
                        modifiers.one_of(&[("a", Role::A), ("b", Role::B), ("c", Role::C), ("d", Role::C)]);
                    let role = role.ok_or("it names no matrix")?;
                    let place = self.place_of(role, modifiers, operands, kind == 1)?;
                    if kind == 1 {
                        Matrix::WmmaLoad { role, place, d: self.fragment(operand(0)?)? }
                    } else {
                        Matrix::WmmaStore { place, s: self.values(operand(1)?, WORD)? }
                    }
                }
                None => return Err("it is no operation that is known".into()),
            },
            "movmatrix" => {
                let [a] = self.sources(operands, WORD)?;
                modifiers.ignore(&["m8n8", "b16", "trans"]);
                Matrix::Movmatrix { d: self.destination(operands)?, a }
            }
            _ => {
                let count =
                    modifiers.one_of(&[("x1", 1), ("x2", 2), ("x4", 4)]).ok_or("it does not say how many")?;
                let transposed = modifiers.take("trans");
                if !modifiers.take("m8n8") || modifiers.ty()? != Type::Bits(16) {
                    return Err("only matrices of 8 by 8 words of 16 bits are known".into());
                }
                let space = modifiers.space();
                let matrix = if opcode == "ldmatrix" {
                    let from = self.address(operand(1)?, space)?;
                    Matrix::Ldmatrix { transposed, d: self.fragment(operand(0)?)?, from }
                } else {
                    let to = self.address(operand(0)?, space)?;
                    Matrix::Stmatrix { transposed, s: self.values(operand(1)?, WORD)?, to }
                };
                let held = match &matrix {
                    Matrix::Ldmatrix { d, .. } => d.len(),
                    Matrix::Stmatrix { s, .. } => s.len(),
                    Matrix::Multiply { .. }
                    | Matrix::Movmatrix { .. }
                    | Matrix::WmmaLoad { .. }
                    | Matrix::WmmaStore { .. } => count,
                };
                if held != count {
                    return Err("it has another number of registers".into());
                }
                matrix
            }
        };
        let op = Box::new(Collective::Matrix(matrix));
        Ok(Some(Op::Collective { op, mask: Source::Value(0xffff_ffff) }))
    }

    fn multiply(
        &self,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
        opaque: bool,
    ) -> Result<Matrix, String> {
        let shape = modifiers.first_of(Shape::parse).ok_or("it has no shape")?;
        let row_by_column = opaque || modifiers.take("row") && modifiers.take("col");
        if !row_by_column {
            return Err("its factors lie in an order that is not known".into());
        }
        // The order of an opaque fragment was determined when it was loaded.
        modifiers.ignore(&["row", "col"]);
        if modifiers.rounding().is_some_and(|round| round != Round::NearestTiesToEven) {
            return Err("it rounds in a way that is not known".into());
        }
        let satfinite = modifiers.take("satfinite");
        let mut types = Vec::new();
        while let Some(element) = modifiers.first_of(element) {
            types.push(element);
        }
        let half = Element::Float(Format::F16);
        let elements = match types.as_slice() {
            [d, a, b, c] => Elements { a: *a, b: *b, c: *c, d: *d },
            // For f16 factors, only the types of the accumulators are named.
            [d, c] if opaque => Elements { a: half, b: half, c: *c, d: *d },
            _ => return Err("its elements are not known".into()),
        };
        let [d, a, b, c] = operands else { return Err("it has four operands".into()) };
        let word = |element: Element| Type::Bits(element.bits().max(32));
        let factors = [
            self.values(a, word(elements.a))?,
            self.values(b, word(elements.b))?,
            self.values(c, word(elements.c))?,
        ];
        let matrix = Matrix::Multiply { shape, elements, opaque, satfinite, d: self.fragment(d)?, factors };
        if !opaque {
            fits(&matrix)?
        }
        Ok(matrix)
    }

    fn place_of(
        &self,
        role: Role,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
        load: bool,
    ) -> Result<Place, String> {
        let row_major = modifiers.one_of(&[("row", true), ("col", false)]).ok_or("it names no order")?;
        let shape = modifiers.first_of(Shape::parse).ok_or("it has no shape")?;
        let space = modifiers.space();
        let element = modifiers.first_of(element).ok_or("it has no element type")?;
        let at = self.address(operands.get(usize::from(load)).ok_or("it has no address")?, space)?;
        let stride = operands.get(2).map(|operand| self.source(operand, WORD)).transpose()?;
        Ok(Place { extent: shape.extent(role), element, row_major, at, stride })
    }
}

/// Checks that the fragments of an `mma` have the registers that their matrices need.
fn fits(matrix: &Matrix) -> Result<(), String> {
    let Matrix::Multiply { shape, elements, d, factors, .. } = matrix else { return Ok(()) };
    let known = matches!((shape.m, shape.n), (8 | 16, 8))
        && !matches!(elements.a, Element::Int(IntType { bits: 16.., .. }));
    let needed = |role: Role, element: Element| {
        let (rows, cols) = shape.extent(role);
        let per_register = (32 / element.bits() as usize).max(1);
        rows * cols / 32 / per_register
    };
    let counts = [
        (d.len(), needed(Role::C, elements.d)),
        (factors[0].len(), needed(Role::A, elements.a)),
        (factors[1].len(), needed(Role::B, elements.b)),
        (factors[2].len(), needed(Role::C, elements.c)),
    ];
    // The old shape for f16 computes four products at once, in a layout of its own.
    let quad_pairs = (shape.m, shape.k, elements.a.bits()) == (8, 4, 16);
    if !known || quad_pairs || counts.iter().any(|(held, needed)| held != needed) {
        return Err("its shape is not known".into());
    }
    Ok(())
}
