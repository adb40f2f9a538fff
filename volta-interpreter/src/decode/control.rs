//! Branches, calls, barriers, and instructions without an effect.

use volta_core::ptx::tree::Operand;

use super::super::op::{Barrier, Collective, Op, Passed, Reduction, Source, Type};
use super::Decoder;
use super::operand::Modifiers;
use super::scope::Entity;

const WORD: Type = Type::Bits(32);

impl Decoder {
    pub(super) fn control(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Option<Op>, String> {
        modifiers.ignore(if matches!(opcode, "bra" | "call" | "ret" | "brx") { &["uni"] } else { &[] });
        Ok(Some(match opcode {
            "bra" => Op::Branch(self.label(operands.first())?),
            "brx" => {
                modifiers.take("idx");
                let [index, Operand::Name(table)] = operands else {
                    return Err("it has an index and a table".into());
                };
                let Some(Entity::Targets(names)) = self.scopes.find(&table.text) else {
                    return Err(format!("`{}` is no table of labels", table.text));
                };
                let targets: Result<Vec<usize>, String> =
                    names.iter().map(|name| self.label_named(name)).collect();
                Op::BranchIndexed { index: self.source(index, WORD)?, targets: targets? }
            }
            "call" => self.call(operands)?,
            "ret" => Op::Return,
            "exit" => Op::Exit,
            "trap" => Op::Trap,
            "membar" | "fence" => {
                modifiers
                    .ignore(&["cta", "gl", "sys", "gpu", "cluster", "acq_rel", "sc", "acquire", "release"]);
                // Threads and copies are executed one at a time here, and see everything done before.
                modifiers.ignore(&[
                    "proxy",
                    "async",
                    "alias",
                    "mbarrier_init",
                    "shared::cta",
                    "shared::cluster",
                    "global",
                ]);
                Op::Nothing
            }
            "prefetch" | "prefetchu" | "discard" | "applypriority" | "nanosleep" | "pmevent"
            | "setmaxnreg" | "griddepcontrol" => {
                modifiers.ignore(&[
                    "wait",
                    "launch_dependents",
                    "global",
                    "local",
                    "L1",
                    "L2",
                    "tensormap",
                    "u32",
                    "inc",
                    "dec",
                    "sync",
                    "aligned",
                ]);
                Op::Nothing
            }
            "bar" | "barrier" => self.barrier(opcode, modifiers, operands)?,
            _ => return Ok(None),
        }))
    }

    fn label(&self, operand: Option<&Operand>) -> Result<usize, String> {
        match operand {
            Some(Operand::Name(name)) => self.label_named(&name.text),
            _ => Err("its target is no label".into()),
        }
    }

    fn label_named(&self, name: &str) -> Result<usize, String> {
        match self.scopes.find(name) {
            Some(Entity::Label(label)) => Ok(*label),
            _ => Err(format!("`{name}` is no label")),
        }
    }

    /// `call (results), function, (arguments)`.
    fn call(&self, operands: &[Operand]) -> Result<Op, String> {
        let mut returns = Vec::new();
        let mut arguments = Vec::new();
        let mut function = None;
        for operand in operands {
            match operand {
                Operand::List(list, _) => {
                    let passed: Result<Vec<Passed>, String> =
                        list.iter().map(|one| self.passed(one)).collect();
                    if function.is_some() { arguments = passed? } else { returns = passed? }
                }
                Operand::Name(name) if function.is_none() => {
                    let known = self.functions.get(&name.text).copied();
                    function =
                        Some(known.ok_or_else(|| format!("the function `{}` has no body", name.text))?);
                }
                Operand::Name(_)
                | Operand::Not(_)
                | Operand::Literal(_)
                | Operand::SymbolOffset { .. }
                | Operand::Vector(..)
                | Operand::Pair(..)
                | Operand::Sink(_)
                | Operand::Address { .. }
                | Operand::Text(..)
                | Operand::Apply(..) => return Err("indirect calls are not known".into()),
            }
        }
        Ok(Op::Call { function: function.ok_or("it names no function")?, returns, arguments })
    }

    fn passed(&self, operand: &Operand) -> Result<Passed, String> {
        if let Operand::Name(name) = operand
            && let Some(Entity::Variable { space: super::Space::Param, at, bytes }) =
                self.scopes.find(&name.text)
        {
            return Ok(Passed::Memory(*at, *bytes));
        }
        Ok(Passed::Source(self.source(operand, Type::Bits(64))?))
    }

    fn barrier(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Op, String> {
        if modifiers.take("warp") {
            modifiers.take("sync");
            let mask = self.source(operands.first().ok_or("it has no mask")?, WORD)?;
            return Ok(Op::Collective { op: Box::new(Collective::Sync), mask });
        }
        if modifiers.take("cluster") {
            let arrives = modifiers.take("arrive");
            modifiers.ignore(&["wait", "acquire", "release", "relaxed", "aligned"]);
            return Ok(if arrives { Op::ArriveAtCluster } else { Op::WaitForCluster });
        }
        modifiers.ignore(&["cta"]);
        let aligned = modifiers.take("aligned") || opcode == "bar";
        let at = |at: usize| operands.get(at).map(|operand| self.source(operand, WORD)).transpose();
        let number = |source: Option<Source>| source.ok_or_else(|| "it names no barrier".to_string());
        let kind = modifiers
            .one_of(&[("sync", 0), ("arrive", 1), ("red", 2)])
            .ok_or("it is no barrier that is known")?;
        if kind < 2 {
            let (id, count) = (number(at(0)?)?, at(1)?);
            return Ok(Op::Barrier(Box::new(Barrier {
                id,
                count,
                arrive: kind == 1,
                aligned,
                reduction: None,
            })));
        }
        let table = [("popc", Reduction::Popc), ("and", Reduction::And), ("or", Reduction::Or)];
        let reduction = modifiers.one_of(&table).ok_or("it names no reduction")?;
        modifiers.ty()?;
        let predicate = self.source(operands.last().ok_or("it has no predicate")?, Type::Pred)?;
        let count = if operands.len() == 4 { at(2)? } else { None };
        let reduction = Some((reduction, predicate, self.destination(operands)?));
        Ok(Op::Barrier(Box::new(Barrier { id: number(at(1)?)?, count, arrive: false, aligned, reduction })))
    }
}
