//! Loops that wait for a flag in rounds of a barrier (rule Y15): in each round, one thread loads the flag and all
//! threads of the CTA meet at a reduction. There is another round as long as all of them ask for one.

use super::code::Inst;
use super::flag::{Straight, straight};
use super::op::{Barrier, Bool2, InstId, Op, PredId, PredSrc, RegId, Src};
use super::visit::Named;
use rustc_hash::FxHashSet;

/// The barrier of such a loop, and what follows it. Except for the load, a round only computes, from values that no
/// round changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagRounds {
    /// The predicate with which a thread asks for another round.
    pub asks: PredSrc,
    /// The predicate that receives whether all do.
    pub result: PredId,
    /// The operations after the barrier.
    pub behind: Vec<InstId>,
    /// The condition, after these, for another round.
    pub again: PredSrc,
    /// The operations before some threads branch to the load.
    pub before: Vec<InstId>,
    /// The condition for branching to the load; `None` if all threads do.
    pub polls: Option<PredSrc>,
    /// The registers that these operations read.
    pub registers: Vec<RegId>,
    /// The predicates that they read.
    pub predicates: Vec<PredId>,
}

/// The registers and predicates that operations write.
#[derive(Default)]
struct Names {
    registers: FxHashSet<RegId>,
    predicates: FxHashSet<PredId>,
}

impl Names {
    fn add(&mut self, op: &Op) {
        let written = op.written();
        self.registers.extend(written.registers);
        self.predicates.extend(written.predicates);
    }

    /// Whether everything an operation reads is `fresh`, if it is among these.
    fn allow(&self, op: &Op, fresh: &Names) -> bool {
        let mut allowed = true;
        op.visit(&mut |named| match named {
            Named::Read(Src::Reg(r)) => {
                allowed &= !self.registers.contains(&r) || fresh.registers.contains(&r);
            }
            Named::ReadPredicate(p) => allowed &= self.allows(p, fresh),
            Named::Read(Src::Imm(_) | Src::Symbol(..))
            | Named::Write(_)
            | Named::WritePredicate(_)
            | Named::Target(_) => {}
        });
        allowed
    }

    fn allows(&self, p: PredSrc, fresh: &Names) -> bool {
        !self.predicates.contains(&p.pred) || fresh.predicates.contains(&p.pred)
    }
}

/// The path from the barrier back to it.
struct Way {
    before: Vec<InstId>,
    polls: Option<PredSrc>,
    to_load: Vec<InstId>,
    without: Option<Vec<InstId>>,
}

impl FlagRounds {
    /// The rounds of a load that is followed by the operations of a condition and then the barrier.
    pub(super) fn of(
        insts: &[Inst],
        load: usize,
        barrier: usize,
        condition: &[InstId],
    ) -> Option<FlagRounds> {
        let Inst {
            op: Op::Barrier { kind: Barrier::RedPred(Bool2::And, result, asks), count: None, .. },
            guard: None,
            ..
        } = insts.get(barrier)?
        else {
            return None;
        };
        let Straight { computing: behind, end } = straight(insts, barrier + 1, load);
        let Inst { op: Op::Branch { target }, guard: Some(guard), .. } = insts.get(end)? else { return None };
        let (way, again) =
            match (way(insts, target.index(), load, barrier), way(insts, end + 1, load, barrier)) {
                (Some(way), None) => (way, *guard),
                (None, Some(way)) => (way, PredSrc { negated: !guard.negated, ..*guard }),
                (Some(_), Some(_)) | (None, None) => return None,
            };
        let Way { before, polls, to_load, without } = way;
        let (mut registers, mut predicates) = (Vec::new(), vec![again.pred]);
        predicates.extend(polls.map(|polls| polls.pred));
        for at in behind.iter().chain(&before) {
            insts[at.index()].op.visit(&mut |named| match named {
                Named::Read(Src::Reg(r)) => registers.push(r),
                Named::ReadPredicate(p) => predicates.push(p.pred),
                Named::Read(Src::Imm(_) | Src::Symbol(..))
                | Named::Write(_)
                | Named::WritePredicate(_)
                | Named::Target(_) => {}
            });
        }
        let rounds =
            FlagRounds { asks: *asks, result: *result, behind, again, before, polls, registers, predicates };
        rounds.is_idle(insts, load, (&to_load, without.as_deref(), condition)).then_some(rounds)
    }

    /// Whether each round computes the same, except for the result of the load.
    fn is_idle(
        &self,
        insts: &[Inst],
        load: usize,
        (to_load, without, condition): (&[InstId], Option<&[InstId]>, &[InstId]),
    ) -> bool {
        let op = |at: &InstId| &insts[at.index()].op;
        let all = [&self.behind, &self.before, to_load, without.unwrap_or_default(), condition];
        let mut names = Names::default();
        all.into_iter().flatten().for_each(|at| names.add(op(at)));
        let found = insts[load].op.written().registers;
        if found.iter().any(|d| names.registers.contains(d)) {
            return false;
        }
        names.predicates.insert(self.result);
        // Threads that do not load keep the contents of its register.
        let walk = |names: &Names, fresh: &mut Names, path: &[InstId]| {
            path.iter().all(|at| {
                let allowed = names.allow(op(at), fresh);
                fresh.add(op(at));
                allowed
            })
        };
        let begin = |names: &Names| {
            let mut fresh = Names::default();
            fresh.predicates.insert(self.result);
            let mut holds = walk(names, &mut fresh, &self.behind) && names.allows(self.again, &fresh);
            holds &= walk(names, &mut fresh, &self.before);
            holds &= self.polls.is_none_or(|polls| names.allows(polls, &fresh));
            holds.then_some(fresh)
        };
        let waits_idly = without.is_none_or(|without| {
            begin(&names)
                .is_some_and(|mut fresh| walk(&names, &mut fresh, without) && names.allows(self.asks, &fresh))
        });
        names.registers.extend(found.iter().copied());
        let polls_idly = begin(&names).is_some_and(|mut fresh| {
            let comes = walk(&names, &mut fresh, to_load) && names.allow(&insts[load].op, &Names::default());
            fresh.registers.extend(found.iter().copied());
            comes && walk(&names, &mut fresh, condition) && names.allows(self.asks, &fresh)
        });
        waits_idly && polls_idly
    }
}

fn way(insts: &[Inst], from: usize, load: usize, barrier: usize) -> Option<Way> {
    let Straight { computing: before, end } = straight(insts, from, load);
    if end == load {
        return Some(Way { before, polls: None, to_load: Vec::new(), without: None });
    }
    let Inst { op: Op::Branch { target }, guard: Some(guard), .. } = insts.get(end)? else { return None };
    let (taken, passed) = (straight(insts, target.index(), load), straight(insts, end + 1, load));
    let (polls, to_load, without) = if (taken.end, passed.end) == (load, barrier) {
        (*guard, taken, passed)
    } else if (taken.end, passed.end) == (barrier, load) {
        (PredSrc { negated: !guard.negated, ..*guard }, passed, taken)
    } else {
        return None;
    };
    let (to_load, without) = (to_load.computing, Some(without.computing));
    Some(Way { before, polls: Some(polls), to_load, without })
}
