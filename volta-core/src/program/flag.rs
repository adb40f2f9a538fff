//! Loops that wait for a flag (rule Y15): they load one location again until a condition holds, and otherwise only
//! compute in registers.

use super::access::Access;
use super::code::{Inst, Program};
use super::effect::Effect;
use super::flag_rounds::FlagRounds;
use super::op::{InstId, Op, PredId, PredSrc, RegId, Space, Src, Width};
use super::visit::{Named, Written};
use rustc_hash::FxHashSet;

/// A path from a load back to it with more operations than this is not recognised as such a loop.
const MAX_OPERATIONS: usize = 64;

/// A loop that waits for a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagLoop {
    /// The register that the load writes.
    pub d: RegId,
    /// The operations that compute the condition from it, in order.
    pub condition: Vec<InstId>,
    /// Registers that these read and no iteration writes.
    pub registers: Vec<RegId>,
    /// Predicates that these read and no iteration writes.
    pub predicates: Vec<PredId>,
    /// All operations of an iteration except the load and branches.
    pub round: Vec<InstId>,
    /// The loop is left if this holds.
    pub leaves: PredSrc,
    /// The operation after the loop.
    pub exit: InstId,
    /// Its rounds, if all threads of the CTA meet in each of them: where threads go on is the barrier.
    pub rounds: Option<FlagRounds>,
}

/// Operations that a thread executes one after the other, whatever registers hold.
pub(super) struct Straight {
    pub(super) computing: Vec<InstId>,
    /// The first operation that does not belong to them.
    pub(super) end: usize,
}

impl Program {
    /// The loop over a load that waits for a flag, if it is one.
    pub fn flag_loop(&self, load: InstId) -> Option<FlagLoop> {
        flag_loop(&self.insts, load.index())
    }

    /// Whether code after the loop may read the value that it found, or a value computed from it.
    pub fn reads_what_it_found(&self, looped: &FlagLoop) -> bool {
        let written = looped.round.iter().map(|at| self.insts[at.index()].op.written());
        let mut names = vec![Named::Write(looped.d)];
        for Written { registers, predicates, local: _ } in written {
            names.extend(registers.into_iter().map(Named::Write));
            let others = predicates.into_iter().filter(|p| *p != looped.leaves.pred);
            names.extend(others.map(Named::WritePredicate));
        }
        names.into_iter().any(|name| self.is_read_from(looped.exit.0, name).0)
    }

    /// Whether some loop waits for a flag.
    pub fn waits_for_flags(&self) -> bool {
        self.insts.iter().any(|inst| matches!(&inst.op, Op::Load { access, .. } if access.waits))
    }

    /// Whether only one operation writes a register.
    pub fn is_written_once(&self, register: RegId) -> bool {
        let writes = |inst: &&Inst| inst.op.written().registers.contains(&register);
        self.insts.iter().filter(writes).count() == 1
    }
}

/// Marks the loads of loops that wait, and those ahead of them.
pub(super) fn mark_waits(insts: &mut [Inst]) {
    let loops: Vec<(usize, FlagLoop)> =
        (0..insts.len()).filter_map(|load| Some((load, flag_loop(insts, load)?))).collect();
    let mut ahead = Vec::new();
    for (load, looped) in &loops {
        ahead.extend(loads_ahead(insts, *load, looped).map(|at| (at, InstId::from_index(*load))));
    }
    let mut mark = |at: usize, mark: &dyn Fn(&mut Access)| {
        let mut op = insts[at].op.clone();
        if let Op::Load { access, .. } = &mut op {
            mark(access);
        }
        insts[at].replace(op);
    };
    for (load, _) in loops {
        mark(load, &|access| access.waits = true);
    }
    for (at, load) in ahead {
        mark(at, &|access| access.ahead_of = Some(load));
    }
}

/// The loads ahead of a loop that waits in rounds: they load its register in the same way, and nothing but the loop's
/// condition reads this register.
fn loads_ahead(insts: &[Inst], load: usize, looped: &FlagLoop) -> impl Iterator<Item = usize> {
    let how = |at: usize| {
        let Op::Load { width, d, access, .. } = &insts[at].op else { return None };
        Some((*width, d, access.strong))
    };
    let reads = |op: &Op| {
        let mut reads = false;
        op.visit(&mut |named| reads |= named == Named::Read(Src::Reg(looped.d)));
        reads
    };
    let is_of_condition = |at: usize| looped.condition.contains(&InstId::from_index(at));
    let is_read_there_alone =
        looped.rounds.is_some() && (0..insts.len()).all(|at| is_of_condition(at) || !reads(&insts[at].op));
    (0..insts.len()).filter(move |at| is_read_there_alone && *at != load && how(*at) == how(load))
}

fn flag_loop(insts: &[Inst], load: usize) -> Option<FlagLoop> {
    let Inst { op: Op::Load { space, address, width: Width::W32, d, access }, guard: None, .. } =
        insts.get(load)?
    else {
        return None;
    };
    let ([Some(d)], Some(_), Space::Global | Space::Generic | Space::Shared | Space::Cluster) =
        (d.as_slice(), access.strong, space)
    else {
        return None;
    };
    let Straight { computing: condition, end } = straight(insts, load + 1, load);
    let rounds = FlagRounds::of(insts, load, end, &condition);
    let (back, leaves, exit) = match &rounds {
        Some(FlagRounds { asks, .. }) => {
            (Vec::new(), PredSrc { negated: !asks.negated, ..*asks }, InstId::from_index(end))
        }
        None => branch_back(insts, load, end)?,
    };
    let round: Vec<InstId> = condition.iter().copied().chain(back).collect();
    let written: FxHashSet<RegId> =
        round.iter().flat_map(|at| insts[at.index()].op.written().registers).collect();
    let is_of_loop = |source: Src| matches!(source, Src::Reg(r) if r == *d || written.contains(&r));
    let is_one_place = !is_of_loop(address.base) && !written.contains(d);
    let decided: FxHashSet<PredId> =
        round.iter().flat_map(|at| insts[at.index()].op.written().predicates).collect();
    let (mut registers, mut predicates) = (Vec::new(), Vec::new());
    for at in &condition {
        insts[at.index()].op.visit(&mut |named| match named {
            Named::Read(source @ Src::Reg(r)) if !is_of_loop(source) => registers.push(r),
            Named::ReadPredicate(p) if !decided.contains(&p.pred) => predicates.push(p.pred),
            Named::Read(_)
            | Named::ReadPredicate(_)
            | Named::Write(_)
            | Named::WritePredicate(_)
            | Named::Target(_) => {}
        });
    }
    if !decided.contains(&leaves.pred) {
        predicates.push(leaves.pred);
    }
    is_one_place.then_some(FlagLoop { d: *d, condition, registers, predicates, round, leaves, exit, rounds })
}

/// The branch back to the load: what is computed on the way, where the loop is left, and where threads go on then.
fn branch_back(insts: &[Inst], load: usize, end: usize) -> Option<(Vec<InstId>, PredSrc, InstId)> {
    let Inst { op: Op::Branch { target }, guard: Some(guard), .. } = insts.get(end)? else { return None };
    let taken = straight(insts, target.index(), load);
    let passed = straight(insts, end + 1, load);
    match (taken.end == load, passed.end == load) {
        (true, false) => {
            let leaves = PredSrc { negated: !guard.negated, ..*guard };
            Some((taken.computing, leaves, InstId::from_index(end + 1)))
        }
        (false, true) => Some((passed.computing, *guard, *target)),
        (true, true) | (false, false) => None,
    }
}

/// Follows a thread from an operation on, up to the load or to the first operation that decides control flow or does
/// more than compute.
pub(super) fn straight(insts: &[Inst], from: usize, load: usize) -> Straight {
    let mut way = Straight { computing: Vec::new(), end: from };
    for _ in 0..MAX_OPERATIONS {
        let Some(Inst { op, guard: None, .. }) = insts.get(way.end).filter(|_| way.end != load) else {
            break;
        };
        if let Op::Branch { target } = op {
            way.end = target.index();
            continue;
        }
        if !matches!(op.effect(), Effect::Computes) && !op.enters_registers() {
            break;
        }
        way.computing.push(InstId::from_index(way.end));
        way.end += 1;
    }
    way
}
