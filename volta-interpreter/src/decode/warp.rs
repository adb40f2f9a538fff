//! Collective operations of a warp, except on matrices.

use volta_core::ptx::tree::Operand;

use super::super::float::Format;
use super::super::integer::{IntOp, IntType};
use super::super::op::{Collective, Op, Redux, Shuffle, Source, Type, Vote};
use super::Decoder;
use super::operand::Modifiers;

const WORD: Type = Type::Bits(32);

impl Decoder {
    pub(super) fn warp(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Option<Op>, String> {
        if opcode == "activemask" {
            modifiers.ty()?;
            return Ok(Some(Op::Activemask { d: self.destination(operands)? }));
        }
        if !matches!(opcode, "shfl" | "vote" | "match" | "redux" | "elect") {
            return Ok(None);
        }
        if !modifiers.take("sync") {
            return Err("it is not `.sync`".into());
        }
        let first = operands.first().ok_or("it has no operands")?;
        let mask = self.source(operands.last().ok_or("it has no mask")?, WORD)?;
        let op = match opcode {
            "shfl" => {
                let table = [
                    ("up", Shuffle::Up),
                    ("down", Shuffle::Down),
                    ("bfly", Shuffle::Bfly),
                    ("idx", Shuffle::Idx),
                ];
                let mode = modifiers.one_of(&table).ok_or("it names no mode")?;
                modifiers.ty()?;
                let (d, p) = self.pair(first)?;
                Collective::Shuffle { mode, d, p, operands: self.sources(operands, WORD)? }
            }
            "vote" => {
                let table =
                    [("all", Vote::All), ("any", Vote::Any), ("uni", Vote::Uni), ("ballot", Vote::Ballot)];
                let mode = modifiers.one_of(&table).ok_or("it names no mode")?;
                modifiers.ty()?;
                let [p] = self.sources(operands, Type::Pred)?;
                Collective::Vote { mode, d: self.destination(operands)?, p }
            }
            "match" => {
                let all = modifiers.one_of(&[("all", true), ("any", false)]).ok_or("it names no mode")?;
                let ty = modifiers.ty()?;
                let ((d, p), [a]) = (self.pair(first)?, self.sources(operands, ty)?);
                Collective::Match { all, bits: ty.bits(), d, p, a }
            }
            "redux" => {
                let table = [
                    ("add", IntOp::Add),
                    ("min", IntOp::Min),
                    ("max", IntOp::Max),
                    ("and", IntOp::And),
                    ("or", IntOp::Or),
                    ("xor", IntOp::Xor),
                ];
                let op = modifiers.one_of(&table).ok_or("it names no operation")?;
                let (magnitudes, nan) = (modifiers.take("abs"), modifiers.take("NaN"));
                let op = match (modifiers.ty()?, op) {
                    (Type::Int(ty), _) => Redux::Integer(op, ty),
                    (Type::Bits(bits), _) => Redux::Integer(op, IntType { bits, signed: false }),
                    (Type::Float(Format::F32), IntOp::Min | IntOp::Max) => {
                        Redux::Extreme { largest: matches!(op, IntOp::Max), magnitudes, nan }
                    }
                    (Type::Pred | Type::Float(_) | Type::FloatPair(_) | Type::IntPair(_), _) => {
                        return Err("it is an operation on integers and f32".into());
                    }
                };
                let [a]: [Source; 1] = self.sources(operands, WORD)?;
                Collective::Redux { op, d: self.destination(operands)?, a }
            }
            _ => {
                let (d, p) = self.pair(first)?;
                Collective::Elect { d, p }
            }
        };
        Ok(Some(Op::Collective { op: Box::new(op), mask }))
    }
}
