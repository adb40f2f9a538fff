//! Branches around a trap, as compilers emit them for assertions: the trap gets the guard, so that lanes do not
//! diverge.

use super::code::Inst;
use super::effect::Control;
use super::op::{InstId, Op, PredSrc};
use rustc_hash::FxHashSet;

/// Guards traps that a branch skips, unless they can be reached otherwise.
pub(super) fn guard_traps(insts: &mut [Inst]) {
    let targets: FxHashSet<InstId> =
        insts.iter().filter_map(|inst| inst.op.control()).flat_map(Control::targets).copied().collect();
    for at in 1..insts.len() {
        let (branch, trap) = (&insts[at - 1], &insts[at]);
        let Some(Control::Branch(target)) = branch.op.control() else { continue };
        let is_around = target.index() == at + 1 && matches!(trap.op, Op::Trap) && trap.guard.is_none();
        let Some(PredSrc { pred, negated }) = branch.guard.filter(|_| is_around) else { continue };
        if targets.contains(&InstId::from_index(at)) {
            continue;
        }
        insts[at].guard = Some(PredSrc { pred, negated: !negated });
        insts[at - 1].guard = None;
        insts[at - 1].replace(Op::Nop);
    }
}
