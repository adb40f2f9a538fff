//! Tensor memory, and products into it.

use volta_core::ptx::tree::Operand;

use super::super::op::{Address, Collective, Op, PhaseOp, Source, Space, Type};
use super::super::tensor_memory::{Kind, Left, Moves, Multicast, Tensor, TensorCopy, TensorProduct};
use super::Decoder;
use super::operand::Modifiers;

const WORD: Type = Type::Bits(32);

impl Decoder {
    pub(super) fn tensor_memory(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Option<Op>, String> {
        if opcode != "tcgen05" {
            return Ok(None);
        }
        modifiers.ignore(&["sync", "aligned", "cta_group::1"]);
        let pair = modifiers.take("cta_group::2");
        let at = |at: usize| operands.get(at).ok_or("an operand is missing");
        let word = |operand: usize| -> Result<Source, String> { self.source(at(operand)?, WORD) };
        let kinds = [
            "alloc",
            "dealloc",
            "relinquish_alloc_permit",
            "ld",
            "st",
            "wait::ld",
            "wait::st",
            "fence::before_thread_sync",
            "fence::after_thread_sync",
            "commit",
            "cp",
            "mma",
        ];
        let kind = modifiers.first_of(|name| kinds.into_iter().find(|held| *held == name));
        let op = match kind.ok_or("it is no operation that is known")? {
            "alloc" => {
                let space = modifiers.space();
                modifiers.ty()?;
                Collective::Tensor(Tensor::Allocate {
                    to: self.address(at(0)?, space)?,
                    columns: word(1)?,
                    pair,
                })
            }
            "dealloc" => {
                modifiers.ty()?;
                Collective::Tensor(Tensor::Free { at: word(0)?, columns: word(1)? })
            }
            "ld" | "st" => Collective::Tensor(self.moved(kind == Some("ld"), modifiers, operands)?),
            "relinquish_alloc_permit" | "wait::ld" | "wait::st" => Collective::Sync,
            "commit" => {
                modifiers.take("mbarrier::arrive::one");
                let ctas = if modifiers.take("multicast::cluster") {
                    Some(self.source(at(1)?, Type::Bits(16))?)
                } else {
                    None
                };
                let space = modifiers.space();
                modifiers.ty()?;
                let op = Box::new(PhaseOp::ArriveAfterProducts { ctas });
                return Ok(Some(Op::Phase { at: self.address(at(0)?, space)?, op }));
            }
            "cp" => {
                let shapes = [
                    ("128x256b", (128, 8)),
                    ("128x128b", (128, 4)),
                    ("64x128b", (64, 4)),
                    ("32x128b", (32, 4)),
                ];
                let (rows, columns) = modifiers.one_of(&shapes).ok_or("its shape is not known")?;
                let all = |part, apart, copies| Multicast { part, apart, copies };
                let kinds = [
                    ("warpx4", (32, all(32, 0, (4, 32)))),
                    ("warpx2::02_13", (64, all(64, 0, (2, 64)))),
                    ("warpx2::01_23", (64, all(32, 64, (2, 32)))),
                ];
                let (of, multicast) = modifiers.one_of(&kinds).unwrap_or((128, all(128, 0, (1, 0))));
                if pair || of != rows {
                    return Err("where it copies to is not known".into());
                }
                let from = self.source(at(1)?, Type::Bits(64))?;
                let to = self.tensor_address(at(0)?)?;
                return Ok(Some(Op::TensorCopy(TensorCopy { to, from, rows, columns, multicast })));
            }
            "mma" => {
                return Ok(Some(Op::TensorProduct(Box::new(
                    self.tensor_product(pair, modifiers, operands)?,
                ))));
            }
            _ => return Ok(Some(Op::Nothing)),
        };
        Ok(Some(Op::Collective { op: Box::new(op), mask: Source::Value(0xffff_ffff) }))
    }

    /// An address of tensor memory; the state space is ignored.
    fn tensor_address(&self, operand: &Operand) -> Result<Address, String> {
        self.address(operand, Space::Shared)
    }

    fn moved(
        &self,
        loads: bool,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Tensor, String> {
        let shapes = ["32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"];
        let shape = modifiers.first_of(|name| shapes.into_iter().find(|held| *held == name));
        let count =
            modifiers.first_of(|name| name.strip_prefix('x').and_then(|count| count.parse::<usize>().ok()));
        let count = count.ok_or("it does not say how many")?;
        let packed = modifiers.take("pack::16b") || modifiers.take("unpack::16b");
        modifiers.ty()?;
        let (moves, each) = match shape.ok_or("it has no shape")? {
            "32x32b" => (Moves::Lanes, 1),
            "16x64b" => (Moves::Bits(64), 1),
            "16x128b" => (Moves::Bits(128), 2),
            "16x256b" => (Moves::Bits(256), 4),
            _ => (Moves::Halves(self.number(operands, if loads { 2 } else { 1 })?), 1),
        };
        let fits = |registers: usize| {
            if registers == count * each {
                Ok(())
            } else {
                Err("it has another number of registers".to_string())
            }
        };
        let (Some(first), Some(second), Some(last)) = (operands.first(), operands.get(1), operands.last())
        else {
            return Err("it has two operands or more".into());
        };
        if loads {
            let d = self.fragment(first)?;
            fits(d.len())?;
            Ok(Tensor::Load { d, from: self.tensor_address(second)?, moves, packed })
        } else {
            let s = self.values(last, WORD)?;
            fits(s.len())?;
            Ok(Tensor::Store { to: self.tensor_address(first)?, s, moves, packed })
        }
    }

    fn tensor_product(
        &self,
        pair: bool,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<TensorProduct, String> {
        let kinds = [
            ("kind::f16", Kind::F16),
            ("kind::tf32", Kind::Tf32),
            ("kind::f8f6f4", Kind::F8),
            ("kind::i8", Kind::I8),
            ("kind::mxf8f6f4", Kind::Scaled),
        ];
        let kind = modifiers.one_of(&kinds).ok_or("its kind is not known")?;
        modifiers.ignore(&[
            "collector::a::fill",
            "collector::a::use",
            "collector::a::lastuse",
            "collector::a::discard",
        ]);
        let [d, a, b, descriptor, rest @ ..] = operands else {
            return Err("it has five operands or more".into());
        };
        modifiers.ignore(&["block_scale", "scale_vec::1X", "block32"]);
        let (mut disabled, mut scales) = (Vec::new(), None);
        let adds = match (kind, rest) {
            (Kind::Scaled, [of_a, of_b, adds]) => {
                scales = Some([self.tensor_address(of_a)?, self.tensor_address(of_b)?]);
                adds
            }
            (_, [adds]) => adds,
            (_, [lanes @ Operand::Vector(..), adds]) => {
                disabled = self.values(lanes, WORD)?;
                adds
            }
            _ => return Err("its accumulator is scaled".into()),
        };
        let wide = Type::Bits(64);
        Ok(TensorProduct {
            kind,
            pair,
            d: self.tensor_address(d)?,
            a: if let Operand::Address { .. } = a {
                Left::Tensor(self.tensor_address(a)?)
            } else {
                Left::Shared(self.source(a, wide)?)
            },
            b: self.source(b, wide)?,
            descriptor: self.source(descriptor, WORD)?,
            scales,
            disabled,
            adds: self.source(adds, Type::Pred)?,
        })
    }
}
