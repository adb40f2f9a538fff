//! Products of matrices by a warpgroup.

use volta_core::ptx::tree::Operand;

use super::super::float::Format;
use super::super::matrix::{Element, Elements, Shape};
use super::super::op::{Collective, Op, Source, Type};
use super::super::warpgroup::{Factor, Product, ROWS};
use super::Decoder;
use super::operand::Modifiers;

const WORD: Type = Type::Bits(32);

impl Decoder {
    pub(super) fn warpgroup(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Option<Op>, String> {
        if opcode != "wgmma" {
            return Ok(None);
        }
        modifiers.take("sync");
        modifiers.take("aligned");
        let kinds = ["fence", "commit_group", "wait_group", "mma_async"];
        let kind = modifiers.first_of(|name| kinds.into_iter().find(|held| *held == name));
        let op = match kind.ok_or("it is no operation that is known")? {
            // Instructions write registers one after the other.
            "fence" => Collective::Sync,
            "commit_group" => Collective::CommitProducts,
            "wait_group" => Collective::WaitProducts(self.number(operands, 0)?),
            _ => Collective::Multiply(Box::new(self.product(modifiers, operands)?)),
        };
        Ok(Some(Op::Collective { op: Box::new(op), mask: Source::Value(0xffff_ffff) }))
    }

    fn product(&self, modifiers: &mut Modifiers<'_>, operands: &[Operand]) -> Result<Product, String> {
        let shape = modifiers.first_of(Shape::parse).ok_or("it has no shape")?;
        let mut element = || match modifiers.first_of(Type::parse) {
            Some(Type::Float(format)) => Ok(Element::Float(format)),
            Some(Type::Int(int)) => Ok(Element::Int(int)),
            _ => Err("it has too few types, or one that is not known"),
        };
        let [result, a, b] = [element()?, element()?, element()?];
        // Integer factors are not negated, and have rows of bytes only.
        let integers = [result, a, b].into_iter().filter(|of| matches!(of, Element::Int(_))).count();
        if !matches!((integers, result.bits(), a.bits()), (0, ..) | (3, 32, 8)) {
            return Err("its types do not go together".into());
        }
        let satfinite = integers > 0 && modifiers.take("satfinite");
        let whole = (shape.m, shape.k as u32 * a.bits()) == (4 * ROWS, 256) && a.bits() == b.bits();
        if !whole || !shape.n.is_multiple_of(8) {
            return Err("its shape is not known".into());
        }
        let [d, left, right, scale, ..] = operands else { return Err("it has four operands or more".into()) };
        let in_registers = matches!(left, Operand::Vector(..));
        // Only factors with elements of 16 bits may be transposed.
        let (trans_a, trans_b) = match (a.bits() == 16, in_registers) {
            (false, _) => (0, 0),
            (true, true) => (0, self.number(operands, 6)?),
            (true, false) => (self.number(operands, 6)?, self.number(operands, 7)?),
        };
        let shared = |operand: &Operand, trans: u64| -> Result<Factor, String> {
            let descriptor = self.source(operand, Type::Bits(64))?;
            Ok(Factor::Shared { descriptor, k_major: trans == 0 })
        };
        let adds = self.source(scale, WORD)?;
        let adds = if let Source::Value(value) = adds { Source::Value(u64::from(value != 0)) } else { adds };
        let minus = |at: usize| Ok::<bool, String>(self.number(operands, at)? == 0xffff_ffff);
        let product = Product {
            shape: Shape { m: ROWS, ..shape },
            elements: Elements { a, b, c: result, d: result },
            d: self.fragment(d)?,
            a: if in_registers {
                Factor::Registers(self.values(left, WORD)?)
            } else {
                shared(left, trans_a)?
            },
            b: shared(right, trans_b)?,
            adds,
            negated: if integers > 0 { [false; 2] } else { [minus(4)?, minus(5)?] },
            satfinite,
        };
        let held = |registers: usize, element: Element, count: usize| {
            registers * 32 * 32 == count * element.bits() as usize
        };
        let fits = held(product.d.len(), result, ROWS * shape.n)
            && !matches!(&product.a, Factor::Registers(list) if !held(list.len(), a, ROWS * shape.k));
        let known = !matches!(result, Element::Float(Format::F64));
        if fits && known { Ok(product) } else { Err("it has another number of registers".into()) }
    }
}
