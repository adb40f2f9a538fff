//! Branches on inputs (rule S1): both sides are executed, each under its condition, and the results are selects. A loop
//! goes on for as long as its condition may hold.

use crate::base::lane::{Lane, LaneMask};
use crate::machine::cta::{Cta, Guarded};
use crate::machine::exec::arithmetic::select::Snapshot;
use crate::machine::group::context::Context;
use crate::machine::group::forks::fork;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::values::Values;
use crate::machine::group::warp::{At, Step, Warp};
use crate::program::{Control, Effect, Hammock, Inst, InstId, Members, NoHammock, PredSrc};
use crate::term::{Bound, TermId};
use crate::value::Truth;
use crate::value::guard::{Comparison, Guard, Literal, Terms};
use std::sync::Arc;

/// Budget of operations for one branch, including the branches inside its sides: code shared by several paths is
/// executed once for each path.
const MAX_STEPS: u32 = 1 << 18;

/// So many branches on inputs may be inside of one another: a loop is inside of its own branch in each round.
const MAX_DEPTH: u32 = 512;

/// The same where only integers decide, whose ranges end a loop.
const MAX_DEPTH_BY_INTEGERS: u32 = 1 << 11;

/// The same with terms of IEEE arithmetic (rule B1), whose ranges take more room on the stack.
const MAX_DEPTH_IEEE: u32 = 128;

/// Bytes of stack that one branch and all that it calls may take, but for the branches inside of it, and bytes that are
/// added where less is left: the threads belong to the caller, whose stacks may be small.
const STACK_LEFT: usize = 1 << 19;
const STACK_MORE: usize = 1 << 22;

/// After so many operations, budgets are checked.
const BETWEEN_CHECKS: u32 = 1 << 12;

/// A branch whose guard depends on an input.
pub(super) struct DecidedByInput<'p> {
    inst: &'p Inst,
    pub(crate) pc: InstId,
    guard: PredSrc,
    conditions: Vec<(Lane, Truth)>,
    pub(crate) join: InstId,
}

impl DecidedByInput<'_> {
    /// The condition of a lane.
    pub(crate) fn condition(&self, lane: Lane) -> Option<TermId> {
        match self.conditions.iter().find(|(own, _)| *own == lane)?.1 {
            Truth::Condition(term) => Some(term),
            Truth::Known(_) | Truth::Undefined(_) | Truth::Answer(_) => None,
        }
    }
}

/// What came of executing sides.
pub(super) type Went<T> = Result<Result<T, Refused>, Stop>;

/// Why sides were not executed to their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Budget of operations exhausted.
    Steps,
    /// A loop goes on for more than so many rounds.
    Rounds(u32),
}

impl Cta<'_> {
    /// Executes both sides of a branch for the lanes of `symbolic`; returns the instruction at which they join.
    pub(super) fn choose_sides(
        &mut self,
        step: Step<'_>,
        inst: &Inst,
        guard: PredSrc,
    ) -> Result<InstId, Stop> {
        let Step { warp, mask, pc } = step;
        let done = self.choose_sides_within(Step { warp, mask, pc }, inst, guard, &mut 0)?;
        done.map_err(|refused| {
            let why = match refused {
                Refused::Steps => format!("its arms execute more than {MAX_STEPS} operations"),
                Refused::Rounds(most) => {
                    format!("a loop may go on after {most} rounds: give what decides it a `range`")
                }
            };
            self.values.terms.decided_by_input(At { warp, lane: mask.first(), pc }, inst, guard, &why)
        })
    }

    fn choose_sides_within(
        &mut self,
        step: Step<'_>,
        inst: &Inst,
        guard: PredSrc,
        steps: &mut u32,
    ) -> Went<InstId> {
        let pc = step.pc;
        let Some(target) = self.context.launch.program.target_of(inst) else {
            return Err(Stop::Defect("the arms of an operation that is not a branch"));
        };
        let hammock = match self.hammock(pc) {
            Ok(hammock) => hammock,
            Err(why @ (NoHammock::Apart | NoHammock::Effect(_) | NoHammock::Long)) => {
                let (at, why) = (step.at(step.mask.first()), self.context.why_not(why));
                let terms = &self.values.terms;
                let stop = terms.decided_by_input(at, inst, guard, &why);
                return Err(fork(terms, stop, (at.warp, at.lane), guard));
            }
        };
        let conditions = self.values.terms.conditions(&step, guard);
        if let Some(most) = self.values.too_deep(&conditions) {
            return Ok(Err(Refused::Rounds(most)));
        }
        // In a long kernel with many branches, each of them takes a pass over the code.
        self.check_budgets()?;
        let join = hammock.join;
        let warp = step.warp;
        let branch = DecidedByInput { inst, pc, guard, conditions: conditions.clone(), join };
        let contents = |warp: &Warp| Snapshot::new(warp, &hammock.live);
        let so_far = *steps;
        for (mask, condition) in self.values.terms.together(&conditions) {
            let bound = |holds| Bound::of(&self.values.terms.store, condition?, holds);
            let (if_taken, if_passed) = (bound(true), bound(false));
            let before = Snapshot::new(warp, &hammock.written);
            let mut own = so_far;
            let conditions = conditions.iter().copied().filter(|(lane, _)| mask.contains(*lane));
            let conditions: Vec<(Lane, Truth)> = conditions.collect();
            let mut sides = Vec::with_capacity(2);
            // Lanes for which no input leads to one of the sides take the other one.
            let [never_taken, never_passed] =
                [true, false].map(|holds| self.values.never(&conditions, holds));
            for (holds, bound, start) in [(true, if_taken, target), (false, if_passed, pc.next())] {
                let side = (&conditions[..], holds, bound);
                let lanes = mask & !if holds { never_taken } else { never_passed };
                if lanes.is_empty() || start == join {
                    sides.push(contents(warp));
                    continue;
                }
                let step = Step { warp, mask: lanes, pc: start };
                let done = self.run_where(side, step, &branch, &mut own)?;
                if let Err(refused) = done {
                    before.restore(warp, mask);
                    return Ok(Err(refused));
                }
                sides.push(contents(warp));
                before.restore(warp, mask);
            }
            *steps = own.max(*steps);
            let [taken, passed] = &sides[..] else { return Err(Stop::Defect("a branch has two sides")) };
            let known = never_taken | never_passed;
            let open: Vec<(Lane, Truth)> =
                conditions.into_iter().filter(|(lane, _)| !known.contains(*lane)).collect();
            self.values.choose(warp, &open, taken, passed, pc)?;
            taken.restore(warp, never_passed & !never_taken);
            passed.restore(warp, never_taken);
        }
        Ok(Ok(join))
    }

    /// Like [`Cta::run_side`], where conditions hold, or do not, and under the assumption of a bound.
    pub(super) fn run_where(
        &mut self,
        (conditions, holds, bound): (&[(Lane, Truth)], bool, Option<Bound>),
        Step { warp, mask, pc }: Step<'_>,
        branch: &DecidedByInput<'_>,
        steps: &mut u32,
    ) -> Went<()> {
        let around = self.values.terms.guards.all();
        self.values.narrow_guards(conditions, holds);
        let narrowed = self.values.narrow_registers(warp, mask);
        let supposes = bound.is_some();
        if let Some(bound) = bound {
            self.values.terms.ranges.suppose(bound);
        }
        self.values.depth += 1;
        let done = stacker::maybe_grow(STACK_LEFT, STACK_MORE, || {
            self.run_side(Step { warp, mask, pc }, branch, steps)
        });
        self.values.depth -= 1;
        if supposes {
            self.values.terms.ranges.suppose_no_more();
        }
        let done = done.map_err(|stop| self.values.terms.ended_under_guard(warp, mask, stop));
        self.values.terms.guards.restore(around);
        narrowed.restore(warp);
        done
    }

    /// Executes one side, or the rest of it.
    fn run_side(&mut self, step: Step<'_>, branch: &DecidedByInput<'_>, steps: &mut u32) -> Went<()> {
        let Step { warp, mut mask, mut pc } = step;
        let insts = &self.context.launch.program.insts;
        while pc != branch.join {
            *steps += 1;
            if *steps > MAX_STEPS {
                return Ok(Err(Refused::Steps));
            }
            if steps.is_multiple_of(BETWEEN_CHECKS) {
                self.check_budgets()?;
            }
            self.work.counts.warp_instructions += 1;
            self.work.counts.thread_instructions += u64::from(mask.count());
            if let Some(own) = self.context.loop_at(warp, mask, pc)
                && self.run_loop(warp, mask, &own, pc)
            {
                pc = own.exit;
                continue;
            }
            let inst = &insts[pc.index()];
            let Some(target) = self.context.launch.program.target_of(inst) else {
                let active = match inst.guard {
                    None => mask,
                    Some(guard) => match self.guarded(Step { warp, mask, pc }, inst, guard)? {
                        Guarded::Lanes(active) => active,
                        Guarded::Done | Guarded::Moved => LaneMask::NONE,
                    },
                };
                if let Some(Control::Exit) = inst.op.control() {
                    mask &= !active;
                    if mask.is_empty() {
                        return Ok(Ok(()));
                    }
                } else if !active.is_empty()
                    && !exchange_under_guard(self, Step { warp, mask: active, pc }, inst)?
                {
                    self.values.terms.under_guards().settle_address(warp, active, &inst.op, branch);
                    if let Err(why) = self.context.may_happen(&inst.op) {
                        let why = format!("in one of its arms, {why}{}", self.context.where_is(pc));
                        let DecidedByInput { inst, pc, guard, .. } = *branch;
                        let terms = &self.values.terms;
                        let at = At { warp, lane: mask.first(), pc };
                        let stop = terms.decided_by_input(at, inst, guard, &why);
                        return Err(fork(terms, stop, (warp, active.first()), guard));
                    }
                    self.execute(warp, active, inst, pc)?;
                }
                pc = pc.next();
                continue;
            };
            let Some(guard) = inst.guard else {
                pc = target;
                continue;
            };
            let (mut taken, mut symbolic) = self.values.terms.guard_lanes(warp, mask, pc, guard)?;
            let (holds, fails) = self.values.decided(&Step { warp, mask: symbolic, pc }, guard);
            taken |= holds;
            symbolic &= !(holds | fails);
            let passed = mask & !taken & !symbolic;
            let mut parts = Vec::with_capacity(3);
            if !symbolic.is_empty() {
                // The loop's trip count may depend on an integer with few values.
                let by_value = self.run_by_value(Step { warp, mask: symbolic, pc }, guard, branch, steps)?;
                let done = match by_value {
                    Some(done) => done,
                    None => self
                        .choose_sides_within(Step { warp, mask: symbolic, pc }, inst, guard, steps)?
                        .map(|join| vec![(symbolic, join)]),
                };
                match done {
                    Ok(own) => parts.extend(own),
                    Err(refused) => return Ok(Err(refused)),
                }
            }
            parts
                .extend([(taken, target), (passed, pc.next())].into_iter().filter(|part| !part.0.is_empty()));
            if let [(_, only)] = parts.as_slice() {
                pc = *only;
                continue;
            }
            for (part, pc) in parts {
                let done = self.run_side(Step { warp, mask: part, pc }, branch, steps)?;
                if done.is_err() {
                    return Ok(done);
                }
            }
            return Ok(Ok(()));
        }
        Ok(Ok(()))
    }

    pub(super) fn hammock(&mut self, pc: InstId) -> Result<Arc<Hammock>, NoHammock> {
        if let Some(known) = self.hammocks.get(&pc) {
            return Ok(known.clone());
        }
        let found = Arc::new(self.context.launch.program.hammock(
            self.context.launch.joins(),
            self.context.launch.loops(),
            pc,
        )?);
        self.work.looked_at += found.looked_at;
        self.hammocks.insert(pc, found.clone());
        Ok(found)
    }
}

/// Executes an operation by which lanes exchange values, where all of them do so under one guard, and nothing is
/// ordered by it; returns whether it did.
fn exchange_under_guard(cta: &mut Cta<'_>, step: Step<'_>, inst: &Inst) -> Result<bool, Stop> {
    let Step { warp, mask: active, pc } = step;
    let Effect::Collective(members @ Members::Mask(_)) = inst.op.effect() else { return Ok(false) };
    let guards = &cta.values.terms.guards;
    let guard = guards.of(active.first());
    let are_alike = active.iter().all(|lane| guards.of(lane) == guard);
    let orders = cta.context.options.rules.warp_collectives_order_memory || !cta.sync.mbarriers.is_empty();
    if !are_alike || orders || cta.class.is_some() {
        return Ok(false);
    }
    Ok(cta.try_collective(warp, active, inst, pc, members)? == active)
}

impl Values<'_> {
    /// The lanes for which what else holds where they execute decides a condition: it holds, or it does not.
    pub(super) fn decided(&mut self, symbolic: &Step<'_>, guard: PredSrc) -> (LaneMask, LaneMask) {
        let conditions = self.terms.conditions(symbolic, guard);
        let [never_taken, never_passed] = [true, false].map(|holds| self.never(&conditions, holds));
        (never_passed & !never_taken, never_taken)
    }

    /// Lanes of which no input fulfils the conditions, or their negations.
    fn never(&mut self, conditions: &[(Lane, Truth)], holds: bool) -> LaneMask {
        let mut never = LaneMask::NONE;
        for (lane, truth) in conditions {
            let Truth::Condition(condition) = *truth else { continue };
            // What may hold for one element of an input may hold for any other, where nothing else is known.
            let comparison = match self.terms.guards.of(*lane) {
                Guard::ALWAYS if !self.terms.guards.have_premises() => {
                    Comparison::of(&self.terms.store, Literal { condition, holds })
                }
                _ => None,
            };
            if comparison.is_some_and(|own| self.terms.guards.is_known_to_hold(own)) {
                continue;
            }
            let terms = Terms { store: &mut self.terms.store, congruence: &mut self.congruence };
            let guard = self.terms.guards.narrower(terms, *lane, condition, holds);
            if !self.terms.under_guards().may_hold(guard) {
                never |= LaneMask::of(*lane);
            } else if let Some(comparison) = comparison {
                self.terms.guards.know_to_hold(comparison);
            }
        }
        never
    }

    /// How deep branches by such conditions may be inside of one another, if they are deeper here: each takes room on the
    /// stack.
    pub(super) fn too_deep(&mut self, conditions: &[(Lane, Truth)]) -> Option<u32> {
        let by_default = if self.terms.store.is_ieee() { MAX_DEPTH_IEEE } else { MAX_DEPTH };
        if self.depth < by_default {
            return None;
        }
        let own = self.terms.under_guards();
        let is_of_integers = |(_, truth): &(Lane, Truth)| match truth {
            Truth::Condition(condition) => own.integers_below(*condition).is_some(),
            Truth::Known(_) | Truth::Undefined(_) | Truth::Answer(_) => false,
        };
        let may_be_deeper = !own.store.is_ieee() && conditions.iter().all(is_of_integers);
        let most = if may_be_deeper { MAX_DEPTH_BY_INTEGERS } else { by_default };
        (self.depth >= most).then_some(most)
    }
}

impl ValueTerms<'_> {
    /// Groups of lanes whose sides are executed together: by condition, where a condition bounds an encoding and so may
    /// hold for some lanes only, and otherwise all lanes.
    fn together(&self, conditions: &[(Lane, Truth)]) -> Vec<(LaneMask, Option<TermId>)> {
        let all = conditions.iter().map(|(lane, _)| *lane).collect::<LaneMask>();
        let bounding = |truth: Truth| match truth {
            Truth::Condition(term) => {
                let says = |holds| Bound::of(&self.store, term, holds).is_some();
                (says(true) || says(false)).then_some(term)
            }
            Truth::Known(_) | Truth::Undefined(_) | Truth::Answer(_) => None,
        };
        if !self.reads_encodings() || !conditions.iter().any(|(_, truth)| bounding(*truth).is_some()) {
            return vec![(all, None)];
        }
        let mut groups: Vec<(LaneMask, Option<TermId>)> = Vec::new();
        for (lane, truth) in conditions.iter().copied() {
            let own = bounding(truth);
            match groups.iter_mut().find(|(_, condition)| *condition == own) {
                Some((mask, _)) => *mask |= LaneMask::of(lane),
                None => groups.push((LaneMask::of(lane), own)),
            }
        }
        groups
    }
}

impl Context<'_> {
    fn why_not(&self, why: NoHammock) -> String {
        match why {
            NoHammock::Apart => "one of its arms never ends".to_string(),
            NoHammock::Long => "its arms are too long".to_string(),
            NoHammock::Effect(inst) => {
                format!("one of its arms does more than load and compute{}", self.where_is(inst))
            }
        }
    }

    /// The source position of an operation, in brackets.
    fn where_is(&self, inst: InstId) -> String {
        let place = self.launch.place(inst).map(|place| match place.cuda {
            Some(cuda) => {
                let name = cuda.file.rsplit('/').next().unwrap_or_default().to_string();
                format!(" ({name}:{})", cuda.line)
            }
            None => format!(" (line {}: `{}`)", place.line, place.text),
        });
        place.unwrap_or_default()
    }
}
