//! Checks the invariants of a program.

use std::fmt;

use super::code::Program;
use super::op::{InstId, Op, PredId, RegId, Src, VariableId};
use super::visit::Named;

/// A broken invariant of a program. It is a defect of lowering, not of the PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The operation.
    pub at: InstId,
    /// The invariant.
    pub what: BrokenPromise,
}

/// The invariants that a program can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenPromise {
    /// A register beyond [`Program::registers`].
    Register(RegId),
    /// A predicate beyond [`Program::predicates`].
    Predicate(PredId),
    /// A variable beyond [`Program::variables`].
    Variable(VariableId),
    /// A branch to nowhere.
    Target(InstId),
    /// A place beyond [`Program::locations`].
    Location(u32),
    /// The last operation is not an unguarded [`Op::Exit`].
    End,
}

impl fmt::Display for Broken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: ", self.at)?;
        match self.what {
            BrokenPromise::Register(register) => write!(out, "there is no register {register}"),
            BrokenPromise::Predicate(predicate) => write!(out, "there is no predicate {predicate}"),
            BrokenPromise::Variable(variable) => write!(out, "there is no variable {variable}"),
            BrokenPromise::Target(target) => write!(out, "there is no operation {target}"),
            BrokenPromise::Location(location) => write!(out, "there is no location {location}"),
            BrokenPromise::End => write!(out, "the program does not end with an exit"),
        }
    }
}

impl Program {
    /// Checks that every id is in range and that the code does not run off its end.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check(&self) -> Result<(), Broken> {
        let mut broken = None;
        let mut report = |at: usize, what| {
            broken.get_or_insert(Broken { at: InstId::from_index(at), what });
        };
        for (at, inst) in self.insts.iter().enumerate() {
            if let Some(guard) = inst.guard
                && guard.pred.0 >= self.predicates
            {
                report(at, BrokenPromise::Predicate(guard.pred));
            }
            if let Some(location) = inst.location
                && location as usize >= self.locations.len()
            {
                report(at, BrokenPromise::Location(location));
            }
            inst.op.visit(&mut |named| {
                if let Some(what) = self.broken(named) {
                    report(at, what);
                }
            });
        }
        match self.insts.last() {
            Some(inst) if inst.guard.is_none() && inst.op == Op::Exit => {}
            _ => report(self.insts.len().saturating_sub(1), BrokenPromise::End),
        }
        for parameter in &self.parameters {
            if parameter.variable.index() >= self.variables.len() {
                report(0, BrokenPromise::Variable(parameter.variable));
            }
        }
        for init in self.variables.iter().filter_map(|variable| variable.init.as_ref()) {
            for (_, variable, ..) in &init.addresses {
                if variable.index() >= self.variables.len() {
                    report(0, BrokenPromise::Variable(*variable));
                }
            }
        }
        broken.map_or(Ok(()), Err)
    }

    fn broken(&self, named: Named) -> Option<BrokenPromise> {
        match named {
            Named::Read(Src::Reg(register)) | Named::Write(register) => {
                (register.0 >= self.registers).then_some(BrokenPromise::Register(register))
            }
            Named::Read(Src::Imm(_)) => None,
            Named::Read(Src::Symbol(variable, _)) => {
                (variable.index() >= self.variables.len()).then_some(BrokenPromise::Variable(variable))
            }
            Named::ReadPredicate(source) => {
                (source.pred.0 >= self.predicates).then_some(BrokenPromise::Predicate(source.pred))
            }
            Named::WritePredicate(predicate) => {
                (predicate.0 >= self.predicates).then_some(BrokenPromise::Predicate(predicate))
            }
            Named::Target(target) => {
                (target.index() >= self.insts.len()).then_some(BrokenPromise::Target(target))
            }
        }
    }
}
