//! Loads, stores, atomics, asynchronous copies and addresses.

use volta_core::ptx::tree::Operand;

use super::super::float::{Clamp, Round};
use super::super::integer::{IntOp, IntType};
use super::super::op::{AtomicOp, FloatStyle, Op, Space, Type};
use super::Decoder;
use super::operand::Modifiers;

/// Caching and memory order: one thread runs at a time, and each access is complete when its instruction is.
const HINTS: [&str; 21] = [
    "weak", "relaxed", "acquire", "release", "acq_rel", "volatile", "cta", "gpu", "sys", "cluster", "ca",
    "cg", "cs", "lu", "cv", "wb", "wt", "nc", "noftz", "L1", "L2",
];

/// The operation of an atomic, if the name is one.
pub(super) fn atomic_name(name: &str) -> Option<&'static str> {
    let names = ["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"];
    names.into_iter().find(|held| *held == name)
}

/// The atomic operation of that name on a type.
///
/// # Errors
/// If the type has no such operation.
pub(in super::super) fn atomic_op(name: &str, ty: Type) -> Result<AtomicOp, String> {
    let style = |format| FloatStyle {
        format,
        pair: matches!(ty, Type::FloatPair(_)),
        round: Round::NearestTiesToEven,
        ftz: false,
        clamp: Clamp::None,
    };
    Ok(match (name, ty) {
        ("exch", _) => AtomicOp::Exch,
        ("cas", _) => AtomicOp::Cas,
        ("inc", _) => AtomicOp::Inc,
        ("dec", _) => AtomicOp::Dec,
        ("add", Type::Float(format) | Type::FloatPair(format)) => AtomicOp::Add(style(format)),
        ("min" | "max", Type::Float(format)) => {
            AtomicOp::Extreme { largest: name == "max", style: style(format) }
        }
        (name, Type::Int(_) | Type::Bits(_)) => {
            let int = if let Type::Int(int) = ty { int } else { IntType { bits: ty.bits(), signed: false } };
            let op = match name {
                "add" => IntOp::Add,
                "min" => IntOp::Min,
                "max" => IntOp::Max,
                "and" => IntOp::And,
                "or" => IntOp::Or,
                _ => IntOp::Xor,
            };
            AtomicOp::Int(op, int)
        }
        (name, _) => return Err(format!("`{name}` is no operation of that type")),
    })
}

impl Decoder {
    pub(super) fn memory(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Option<Op>, String> {
        Ok(Some(match opcode {
            "st" if modifiers.take("async") => self.store_async(None, modifiers, operands)?,
            "red" if modifiers.take("async") => {
                let name = modifiers.first_of(atomic_name).ok_or("it names no operation")?;
                self.store_async(Some(name), modifiers, operands)?
            }
            "st" if modifiers.take("bulk") => {
                modifiers.ignore(&HINTS);
                let space = modifiers.space();
                let [to, bytes, _] = operands else { return Err("it has three operands".into()) };
                Op::Clear { to: self.address(to, space)?, bytes: self.source(bytes, Type::Bits(64))? }
            }
            "mapa" | "getctarank" => {
                let space = if modifiers.take("shared::cluster") { Space::Shared } else { Space::Generic };
                let ty = modifiers.ty()?;
                let d = self.destination(operands)?;
                if opcode == "mapa" {
                    let [_, address, rank] = operands else { return Err("it has three operands".into()) };
                    let rank = self.source(rank, Type::Bits(32))?;
                    Op::MapToCta { d, a: self.source(address, ty)?, rank, space }
                } else {
                    Op::CtaRank { d, a: self.sources::<1>(operands, ty)?[0], space }
                }
            }
            "ld" | "ldu" | "st" => {
                modifiers.ignore(&HINTS);
                let space = modifiers.space();
                modifiers.ignore(&["v2", "v4", "v8"]);
                let ty = modifiers.ty()?;
                let [first, second] = operands else { return Err("it has two operands".into()) };
                let (bytes, signed) = (ty.bits() / 8, matches!(ty, Type::Int(IntType { signed: true, .. })));
                if opcode == "st" {
                    Op::Store { s: self.values(second, ty)?, bytes, to: self.address(first, space)? }
                } else {
                    Op::Load {
                        d: self.destinations(first)?,
                        bytes,
                        signed,
                        from: self.address(second, space)?,
                    }
                }
            }
            "atom" | "red" => self.atomic(opcode, modifiers, operands)?,
            "cp" => self.copy(modifiers, operands)?,
            "mbarrier" => self.mbarrier(modifiers, operands)?,
            "isspacep" => Op::IsSpace {
                d: self.destination(operands)?,
                space: modifiers.space(),
                a: self.sources::<1>(operands, Type::Bits(64))?[0],
            },
            "cvta" => {
                let from = modifiers.take("to");
                let space = modifiers.space();
                let ty = modifiers.ty()?;
                let (d, [a]) = (self.destination(operands)?, self.sources(operands, ty)?);
                if from { Op::FromGeneric { d, space, a } } else { Op::ToGeneric { d, space, a } }
            }
            _ => return Ok(None),
        }))
    }

    fn atomic(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Op, String> {
        modifiers.ignore(&HINTS);
        let space = modifiers.space();
        let name = modifiers.first_of(atomic_name);
        let ty = modifiers.ty()?;
        let op = atomic_op(name.ok_or("it names no operation")?, ty)?;
        let (d, operands) = match (opcode, operands) {
            ("atom", [d, rest @ ..]) => (self.sink(d)?, rest),
            _ => (None, operands),
        };
        let at = self.address(operands.first().ok_or("it has no address")?, space)?;
        Ok(Op::Atomic { op, d, bytes: ty.bits() / 8, at, s: self.sources(operands, ty)? })
    }

    /// `st.async`, or with a name `red.async` of that operation.
    fn store_async(
        &self,
        name: Option<&str>,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Op, String> {
        modifiers.ignore(&HINTS);
        let space = modifiers.space();
        modifiers.ignore(&["mbarrier::complete_tx::bytes", "v2", "v4"]);
        let ty = modifiers.ty()?;
        let [to, values, rest @ ..] = operands else { return Err("it has at least two operands".into()) };
        Ok(Op::StoreAsync {
            s: self.values(values, ty)?,
            bytes: ty.bits() / 8,
            to: self.address(to, space)?,
            barrier: rest.first().map(|barrier| self.address(barrier, space)).transpose()?,
            update: name.map(|name| atomic_op(name, ty)).transpose()?,
        })
    }

    /// `cp.async`, `cp.async.commit_group`, `cp.async.wait_group`, `cp.async.wait_all`.
    fn copy(&self, modifiers: &mut Modifiers<'_>, operands: &[Operand]) -> Result<Op, String> {
        let updates = modifiers.take("reduce");
        if !modifiers.take("async") {
            return Err("it is no copy that is known".into());
        }
        if modifiers.take("bulk") {
            return self.bulk(updates, modifiers, operands);
        }
        if modifiers.take("mbarrier") {
            return self.arrive_after_copies(modifiers, operands);
        }
        if modifiers.take("commit_group") {
            return Ok(Op::CommitGroup);
        }
        if modifiers.take("wait_all") {
            return Ok(Op::WaitGroup(None));
        }
        if modifiers.take("wait_group") {
            return Ok(Op::WaitGroup(Some(self.number(operands, 0)?)));
        }
        modifiers.ignore(&["ca", "cg"]);
        let (to, from) = (modifiers.space(), modifiers.space());
        if to != Space::Shared || from != Space::Global {
            return Err("it does not copy from global to shared memory".into());
        }
        let [d, s, bytes, rest @ ..] = operands else { return Err("it has at least three operands".into()) };
        let Operand::Literal(bytes) = bytes else { return Err("its size is no number".into()) };
        let bytes = super::operand::literal(bytes, Type::Bits(32))? as u32;
        let (mut take, mut ignore) = (None, None);
        if let [last] = rest {
            let is_predicate = matches!(last, Operand::Not(_))
                || matches!(last, Operand::Name(name) if name.text.trim_start_matches('%').starts_with('p'));
            let source = self.source(last, Type::Bits(32))?;
            *if is_predicate { &mut ignore } else { &mut take } = Some(source);
        }
        // Compiled code uses a generic address as the source without conversion; for global memory they are the same.
        Ok(Op::CopyAsync { to: self.address(d, to)?, from: self.address(s, from)?, bytes, take, ignore })
    }
}
