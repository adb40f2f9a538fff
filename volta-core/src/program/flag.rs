//! Loops that wait for a flag (rule Y15): they load one location again until a condition holds, and otherwise only
//! compute in registers.

use super::access::{Access, Strong};
use super::code::{Inst, Program};
use super::effect::Effect;
use super::flag_rounds::FlagRounds;
use super::op::{Address, InstId, Op, PredId, PredSrc, RegId, Space, Src, Width};
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

/// What repeats in such a loop: a load of a word, or an atomic operation that leaves the word as it is.
#[derive(Clone, Copy)]
struct Poll {
    space: Space,
    address: Address,
    d: RegId,
    access: Access,
}

impl Poll {
    fn of(op: &Op) -> Option<Poll> {
        let updates = |scope, orders| {
            let strong = Some(Strong { scope, orders });
            Access { strong, writes_back: true, ..Access::default() }
        };
        if let Op::Load { space, address, width: Width::W32, d, access } = op
            && let ([Some(d)], false) = (d.as_slice(), access.read_only)
        {
            return Some(Poll { space: *space, address: *address, d: *d, access: *access });
        }
        if let Op::Atomic { update, scope, space, address, acquires, d: Some(d), a, .. } = op
            && update.accessed() == Width::W32.bytes()
            && update.is_neutral(*a)
        {
            let access = updates(*scope, *acquires);
            return Some(Poll { space: *space, address: *address, d: *d, access });
        }
        if let Op::Swap(swap) = op
            && swap.width == Width::W32
            && swap.expected == Some(swap.new)
        {
            let access = updates(swap.scope, swap.acquires);
            return Some(Poll { space: swap.space, address: swap.address, d: swap.d, access });
        }
        None
    }

    /// The load of a loop that waits.
    fn waiting(self) -> Op {
        let Poll { space, address, d, access } = self;
        let access = Access { waits: true, ..access };
        Op::Load { space, address, width: Width::W32, d: vec![Some(d)], access }
    }

    /// Whether a loop over it can only wait. Of plain loads in memory that may be the thread's own, that is not known.
    fn may_wait(self) -> bool {
        match self.space {
            Space::Global | Space::Shared | Space::Cluster => true,
            Space::Generic => self.access.strong.is_some(),
            Space::Local | Space::Const | Space::Param | Space::Tensor => false,
        }
    }
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
    for (load, _) in loops {
        if let Some(poll) = Poll::of(&insts[load].op) {
            insts[load].replace(poll.waiting());
        }
    }
    for (at, load) in ahead {
        let mut op = insts[at].op.clone();
        if let Op::Load { access, .. } = &mut op {
            access.ahead_of = Some(load);
        }
        insts[at].replace(op);
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
    let Inst { op, guard: None, .. } = insts.get(load)? else { return None };
    let poll = Poll::of(op).filter(|poll| poll.may_wait())?;
    let Poll { address, d, .. } = poll;
    let Straight { computing: condition, end } = straight(insts, load + 1, load);
    let rounds = FlagRounds::of(insts, load, end, &condition).filter(|_| poll.access.strong.is_some());
    let (back, leaves, exit) = match &rounds {
        Some(FlagRounds { asks, .. }) => {
            (Vec::new(), PredSrc { negated: !asks.negated, ..*asks }, InstId::from_index(end))
        }
        None => branch_back(insts, load, end)?,
    };
    let round: Vec<InstId> = condition.iter().copied().chain(back).collect();
    let written: FxHashSet<RegId> =
        round.iter().flat_map(|at| insts[at.index()].op.written().registers).collect();
    let is_of_loop = |source: Src| matches!(source, Src::Reg(r) if r == d || written.contains(&r));
    let is_one_place = !is_of_loop(address.base) && !written.contains(&d);
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
    // What is loaded plainly is mostly data: other threads are waited for only where nothing else can end the loop.
    if poll.access.strong.is_none() && !decides_alone(insts, &condition, d, leaves.pred) {
        return None;
    }
    is_one_place.then_some(FlagLoop { d, condition, registers, predicates, round, leaves, exit, rounds })
}

/// Whether the condition of a loop depends on what it loads, and on nothing else that an iteration changes.
fn decides_alone(insts: &[Inst], condition: &[InstId], d: RegId, leaves: PredId) -> bool {
    let ops = || condition.iter().map(|at| &insts[at.index()].op);
    let mut changed = Written::default();
    for own in ops().map(Op::written) {
        changed.registers.extend(own.registers);
        changed.predicates.extend(own.predicates);
    }
    // What depends on the load, and what has been computed in this iteration.
    let mut loaded = Written { registers: vec![d], ..Written::default() };
    let mut fresh = loaded.clone();
    for op in ops() {
        let (mut depends, mut is_carried) = (false, false);
        op.visit(&mut |named| match named {
            Named::Read(Src::Reg(a)) => {
                depends |= loaded.registers.contains(&a);
                is_carried |= changed.registers.contains(&a) && !fresh.registers.contains(&a);
            }
            Named::ReadPredicate(p) => {
                depends |= loaded.predicates.contains(&p.pred);
                is_carried |= changed.predicates.contains(&p.pred) && !fresh.predicates.contains(&p.pred);
            }
            Named::Read(Src::Imm(_) | Src::Symbol(..))
            | Named::Write(_)
            | Named::WritePredicate(_)
            | Named::Target(_) => {}
        });
        if is_carried {
            return false;
        }
        let own = op.written();
        if depends {
            loaded.registers.extend(own.registers.iter().copied());
            loaded.predicates.extend(own.predicates.iter().copied());
        }
        fresh.registers.extend(own.registers);
        fresh.predicates.extend(own.predicates);
    }
    loaded.predicates.contains(&leaves)
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
