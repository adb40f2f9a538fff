//! Unsupported instructions that only compute in registers. Their operands show which registers they read and write;
//! the first one is the destination.

use super::{Computes, special};
use crate::program::names::Binding;
use crate::program::op::{Op, PredId, PredSrc, RegId, Src};
use crate::program::operand::{Lowered, Operation};
use crate::ptx::tree::{Name, Operand};

/// Modifiers that affect only values, besides types and shapes (ISA 9.7.1 to 9.7.9, 9.7.14 and 9.7.18). Not among them:
/// `.cc`, which writes a carry besides the destination.
const OF_VALUES: [&str; 61] = [
    "rn",
    "rz",
    "rm",
    "rp",
    "rna",
    "rs",
    "rni",
    "rzi",
    "rmi",
    "rpi",
    "ftz",
    "sat",
    "satfinite",
    "relu",
    "approx",
    "full",
    "xorsign",
    "abs",
    "NaN",
    "lo",
    "hi",
    "wide",
    "clamp",
    "wrap",
    "shiftamt",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "ls",
    "hs",
    "equ",
    "neu",
    "ltu",
    "leu",
    "gtu",
    "geu",
    "num",
    "nan",
    "and",
    "or",
    "xor",
    "popc",
    "pack",
    "po",
    "shr7",
    "shr15",
    "add",
    "min",
    "max",
    "scaled::n2::ue8m0",
    "sync",
    "aligned",
    "row",
    "col",
    "sp",
    "sp::ordered_metadata",
    "block_scale",
    "noftz",
];
/// Prefixes of modifiers for types, shapes of matrices, kinds of products and of scales.
const TYPES: [&str; 11] = ["s", "u", "b", "f", "bf", "tf", "e", "ue", "m", "kind::", "scale_vec::"];

/// Whether a modifier affects only values.
fn is_of_values(modifier: &str) -> bool {
    let is_type = |start: &&str| {
        let rest = modifier.strip_prefix(*start);
        rest.is_some_and(|rest| {
            start.ends_with("::") || rest.starts_with(|letter: char| letter.is_ascii_digit())
        })
    };
    OF_VALUES.contains(&modifier) || TYPES.iter().any(is_type)
}

/// The registers and predicates that operands name.
#[derive(Default)]
struct Named {
    registers: Vec<RegId>,
    predicates: Vec<PredSrc>,
}

/// The unevaluated operation for an instruction, with a reason; `None` if the instruction may do more than compute.
pub(in crate::program) fn unevaluated(
    x: &mut Operation<'_, '_>,
    computes: Computes,
    reason: &str,
) -> Lowered<Option<Op>> {
    if !x.modifiers().iter().all(|modifier| is_of_values(modifier)) || x.operand_count() == 0 {
        return Ok(None);
    }
    let (mut written, mut read) = (Named::default(), Named::default());
    for at in 0..x.operand_count() {
        let operand = x.operand(at)?;
        let into = if at == 0 { &mut written } else { &mut read };
        if !name(x, operand, into)? {
            return Ok(None);
        }
    }
    let p: Vec<PredId> = written.predicates.iter().map(|predicate| predicate.pred).collect();
    Ok(Some(Op::Unevaluated {
        d: written.registers,
        p,
        a: read.registers.into_iter().map(Src::Reg).collect(),
        predicates: read.predicates,
        is_collective: computes == Computes::Together,
        reason: reason.to_owned(),
    }))
}

/// Adds what an operand names; `false` if it is not a value.
fn name<'m>(x: &mut Operation<'_, 'm>, operand: &'m Operand, into: &mut Named) -> Lowered<bool> {
    match operand {
        Operand::Name(known) => bound(x, known, false, into),
        Operand::Not(known) => bound(x, known, true, into),
        Operand::Literal(_) | Operand::Sink(_) => Ok(true),
        Operand::Vector(items, _) => {
            for item in items {
                if !name(x, item, into)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Operand::Pair(first, second) => Ok(name(x, first, into)? && name(x, second, into)?),
        Operand::SymbolOffset { .. }
        | Operand::Address { .. }
        | Operand::List(..)
        | Operand::Text(..)
        | Operand::Apply(..) => Ok(false),
    }
}

fn bound<'m>(x: &mut Operation<'_, 'm>, name: &'m Name, negated: bool, into: &mut Named) -> Lowered<bool> {
    match x.lowering.names.resolve(name)? {
        Some(Binding::Register(register, _)) => into.registers.push(register),
        Some(Binding::Predicate(pred)) => into.predicates.push(PredSrc { pred, negated }),
        Some(Binding::Vector { first, count, .. }) => {
            into.registers.extend((0..count).map(|at| RegId(first.0 + at)));
        }
        Some(Binding::Register128 | Binding::Variable(_) | Binding::Static(_)) => return Ok(false),
        None => return Ok(name.text == "WARP_SZ" || special::register(&name.text).is_some()),
    }
    Ok(true)
}
