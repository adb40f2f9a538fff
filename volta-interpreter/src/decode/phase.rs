//! Barriers in shared memory, and bulk copies.

use volta_core::ptx::tree::Operand;

use super::super::op::{BulkCopy, BulkEffect, Moved, Op, Phase, PhaseOp, Source, Space, Type};
use super::Decoder;
use super::memory::{atomic_name, atomic_op};
use super::operand::Modifiers;

const WORD: Type = Type::Bits(32);

impl Decoder {
    /// `mbarrier.*`
    pub(super) fn mbarrier(&self, modifiers: &mut Modifiers<'_>, operands: &[Operand]) -> Result<Op, String> {
        let kinds =
            ["init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait"];
        let kind = modifiers.first_of(|name| kinds.into_iter().find(|held| *held == name));
        let kind = kind.ok_or("it is no operation that is known")?;
        let expects = kind.starts_with("arrive") && modifiers.take("expect_tx");
        let parity = modifiers.take("parity");
        modifiers.ignore(&["noComplete", "relaxed", "acquire", "release", "cta", "cluster"]);
        let space = modifiers.space();
        modifiers.ty()?;
        let at = |at: usize| operands.get(at).ok_or("an operand is missing");
        let word = |operand: usize| -> Result<Source, String> { self.source(at(operand)?, WORD) };
        let (place, op) = match kind {
            "init" => (at(0)?, PhaseOp::Init { count: word(1)? }),
            "inval" => (at(0)?, PhaseOp::Invalidate),
            "expect_tx" => (at(0)?, PhaseOp::Expect { bytes: word(1)? }),
            "complete_tx" => (at(0)?, PhaseOp::Complete { bytes: word(1)? }),
            "test_wait" | "try_wait" => {
                let phase = if parity {
                    Phase::Parity(word(2)?)
                } else {
                    Phase::State(self.source(at(2)?, Type::Bits(64))?)
                };
                (at(1)?, PhaseOp::Test { p: self.destination(operands)?, phase })
            }
            _ => {
                let given = if operands.len() > 2 { Some(word(2)?) } else { None };
                let one = Source::Value(1);
                let (count, bytes) = if expects { (one, given) } else { (given.unwrap_or(one), None) };
                let (state, drops) = (self.sink(at(0)?)?, kind == "arrive_drop");
                (at(1)?, PhaseOp::Arrive { state, count, bytes, drops })
            }
        };
        Ok(Op::Phase { at: self.address(place, space)?, op: Box::new(op) })
    }

    /// `cp.async.mbarrier.arrive`
    pub(super) fn arrive_after_copies(
        &self,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Op, String> {
        modifiers.take("arrive");
        let counted = modifiers.take("noinc");
        let space = modifiers.space();
        modifiers.ty()?;
        let at = self.address(operands.first().ok_or("it names no barrier")?, space)?;
        Ok(Op::Phase { at, op: Box::new(PhaseOp::ArriveAfterCopies { counted }) })
    }

    /// `cp.async.bulk`, `cp.async.bulk.tensor`, and those of `cp.reduce`
    pub(super) fn bulk(
        &self,
        updates: bool,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Op, String> {
        if modifiers.take("prefetch") {
            let names = ["tensor", "1d", "2d", "3d", "4d", "5d", "tile", "L2", "L2::cache_hint", "global"];
            modifiers.ignore(&names);
            return Ok(Op::Nothing);
        }
        if modifiers.take("commit_group") {
            return Ok(Op::CommitBulk);
        }
        if modifiers.take("wait_group") {
            modifiers.take("read");
            return Ok(Op::WaitBulk(self.number(operands, 0)?));
        }
        let rank = if modifiers.take("tensor") {
            let ranks = [("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)];
            Some(modifiers.one_of(&ranks).ok_or("it does not say how many dimensions")?)
        } else {
            None
        };
        let (to, from) = (modifiers.space(), modifiers.space());
        modifiers.ignore(&["L2::cache_hint", "tile", "cta_group::1"]);
        let pair = modifiers.take("cta_group::2");
        let on_barrier = modifiers.take("mbarrier::complete_tx::bytes");
        let multicast = modifiers.take("multicast::cluster");
        modifiers.take("bulk_group");
        let has_mask = modifiers.take("cp_mask");
        let update = if updates { modifiers.first_of(atomic_name) } else { None };
        let effect = match (update, rank) {
            (Some(name), Some(_)) => BulkEffect::UpdateElements(name),
            (Some(name), None) => {
                modifiers.take("noftz");
                let ty = modifiers.ty()?;
                BulkEffect::Update(atomic_op(name, ty)?, ty.bits() / 8)
            }
            (None, _) if updates => return Err("it names no operation".into()),
            (None, _) if has_mask => {
                let mask = operands.last().ok_or("it has no mask")?;
                BulkEffect::WriteSome(self.source(mask, Type::Bits(16))?)
            }
            (None, _) => BulkEffect::Write,
        };
        let [d, s, rest @ ..] = operands else { return Err("it has at least two operands".into()) };
        let (moved, rest) = match (rank, rest) {
            (Some(rank), _) => {
                let loads = on_barrier;
                let (tile, shared) =
                    if loads { (s, self.address(d, to)?) } else { (d, self.address(s, from)?) };
                let (map, at) = self.tile(tile)?;
                if at.len() != rank {
                    return Err("it has another number of coordinates".into());
                }
                (Moved::Tile { shared, map, at, loads }, rest)
            }
            (None, [bytes, rest @ ..]) => {
                let (to, from) = (self.address(d, to)?, self.address(s, from)?);
                (Moved::Bytes { to, from, bytes: self.source(bytes, WORD)? }, rest)
            }
            (None, []) => return Err("it does not say how many bytes".into()),
        };
        let barrier = match rest {
            [barrier, ..] if on_barrier => Some(self.address(barrier, Space::Shared)?),
            _ => None,
        };
        let ctas = match rest {
            [_, ctas, ..] if multicast => Some(self.source(ctas, Type::Bits(16))?),
            _ => None,
        };
        Ok(Op::Bulk(Box::new(BulkCopy { moved, barrier, ctas, pair, effect })))
    }
}
