//! Loops that wait for a flag, and the changes of flags (rule Y15).

use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::concurrency::clock::{Clocks, Snapshot};
use crate::concurrency::flag_changes::{Ahead, Change, Event, Judged, Outcome, Told, Unclear};
use crate::concurrency::race::Detector;
use crate::launch::objects::{Backing, locate};
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::{Accesses, LaneAccess, WarpAccess};
use crate::machine::group::context::Context;
use crate::machine::group::endless::{Endless, Repeats};
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::machine::sync::flag_condition::Condition;
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::{Access, Effect, FlagLoop, InstId, Int2, Op, RegId, Space, Strong, Update, Wait, Width};
use crate::value::packed::Cell;
use crate::value::{Origin, Truth, Value};
use crate::verdict::FaultKind;
use std::rc::Rc;

const NO_FLAG: Stop = Stop::Defect("a flag that is waited for is not a flag");
/// The size of a flag in bytes.
const BYTES: u32 = 4;

impl Cta<'_> {
    /// Lanes reach the load of a loop that waits for a flag. Returns the lanes that leave the loop, and the instruction
    /// at which they continue.
    pub(super) fn wait_for_flag(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
    ) -> Result<(LaneMask, InstId), Stop> {
        self.accesses().exact()?;
        let looped = self.context.launch.program.flag_loop(pc).map(Rc::new);
        let looped = looped.ok_or(Stop::Defect("lanes wait for a flag at a load outside of a loop"))?;
        let mut over = LaneMask::NONE;
        for lane in mask {
            if self.is_flag_set(warp, lane, pc, &looped)? {
                over.insert(lane);
            }
        }
        Ok((over, looped.exit))
    }

    fn is_flag_set(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        looped: &Rc<FlagLoop>,
    ) -> Result<bool, Stop> {
        let Op::Load { space, address, access, .. } = &self.context.launch.program.insts[pc.index()].op
        else {
            return Err(Stop::Defect("lanes wait for a flag at an operation that is not a load"));
        };
        let access = *access;
        let address = self.values.terms.addresses(warp, LaneMask::of(lane), *address, pc)?[lane];
        let mut offsets = [0; 32];
        let agent = access.strong.map_or(Agent::Thread, |Strong { scope, .. }| Agent::Waiter { scope });
        let (place, writes) = ((*space, address), access.writes_back);
        let one = LaneAccess { place, bytes: BYTES, alignment: BYTES, agent, writes };
        let at = self.accesses().locate_lane(warp, lane, pc, one, &mut offsets)?;
        if writes {
            self.context.writable(warp, &at, BYTES)?;
        }
        if let Backing::Local(_) = at.object.backing {
            let message = "a loop waits for a flag in its own thread's local memory";
            return Err(self.context.fault(FaultKind::Deadlock, "Y5", message, warp, lane, pc));
        }
        let (key, thread) = ((at.number, at.offsets[lane] / 4), warp.thread(lane));
        let held = self.accesses().peek(warp, lane, &at, key.1);
        if access.strong.is_none() {
            // It races with whatever it waits for.
            self.accesses().read_cell(warp, lane, &at, key.1, 0xf)?;
        }
        let exact = self.sync.order.exact_mut()?;
        self.sync.flags.at(key, &mut exact.clocks, || word(held, pc));
        let before = exact.clocks.snapshot(thread as usize);
        let found = |d: RegId| {
            let (of, change) = self.sync.flags.found.get(&(thread, d.0)).copied()?;
            (of == key && self.context.launch.program.is_written_once(d)).then_some(change)
        };
        let condition = Condition::of(self.context.launch.program, looped, (warp, lane), found);
        let flag = self.sync.flags.places.get(&key).ok_or(NO_FLAG)?;
        let ahead = self.sync.flags.ahead.get(&(thread as usize)).filter(|ahead| ahead.load == pc);
        if let Some(ahead) = ahead
            && (ahead.key != key || flag.is_learned_between(&ahead.before, &before))
        {
            return Err(self.context.other_ahead(thread, pc, ahead.pc));
        }
        let ahead = ahead.map(|ahead| ahead.pc);
        let judged = self.sync.judged(key, &condition, |leaves| flag.judge_now(&before, leaves));
        let work = flag.work.take();
        self.work.looked_at += work / 4;
        self.check_budgets()?;
        let flag = self.sync.flags.places.get(&key).ok_or(NO_FLAG)?;
        let outcome = match judged {
            Ok(Judged::Stays) => return Ok(false),
            Ok(Judged::Leaves(outcome)) => {
                Outcome { found: outcome.found.filter(|_| condition.is_read), ..outcome }
            }
            Ok(Judged::Ambiguous { beside }) => {
                let beside = beside.map(|change| &flag.events[change]);
                return Err(self.context.ambiguous(key, (thread, pc, ahead), beside));
            }
            Err(unclear) => return Err(self.context.unclear_wait(key, thread, pc, unclear)),
        };
        let [mut learned, near, mut seen] = flag.learned(outcome.changes, &before);
        let agent = flag.agent;
        // The load is an ordinary access by a thread that has not yet learned what the flag's changes release.
        self.accesses().read_cell(warp, lane, &at, key.1, 0xf)?;
        if writes {
            self.accesses().touch(warp, lane, &at, key.1)?;
        }
        let exact = self.sync.order.exact_mut()?;
        let (clocks, number) = (&mut exact.clocks, thread as usize);
        clocks.release(number);
        clocks.learn_past(number, &learned);
        if access.strong.is_some_and(|strong| strong.orders) {
            clocks.learn(number, &mut learned);
        } else {
            clocks.keep(number, &learned, false);
            clocks.keep(number, &near, true);
        }
        if outcome.changes != 0 {
            seen.set(agent, outcome.changes as u32);
            clocks.learn(number, &mut seen);
        }
        let stamp = clocks.now(number);
        clocks.release(number);
        self.work.counts.barriers += 1;
        self.work.looked_at += 4 * looped.round.len() as u64;
        if let Some(flag) = self.sync.flags.places.get(&key) {
            let waited = flag.waited((pc, ahead), (before, stamp), condition, outcome);
            self.sync.flags.note_wait(key, waited);
        }
        self.leave_flag_loop(warp, lane, pc, looped, outcome)?;
        if looped.rounds.is_some() {
            self.sync.flags.rounds.insert(number, pc);
            self.sync.flags.ahead.remove(&number);
        }
        Ok(true)
    }

    /// Sets the registers after the loop. A register is undetermined if it depends on the number of iterations, or on
    /// which of several values the last load returned.
    fn leave_flag_loop(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        looped: &FlagLoop,
        outcome: Outcome,
    ) -> Result<(), Stop> {
        let program = self.context.launch.program;
        let unknown = Origin::Unpredictable(pc);
        for at in &looped.round {
            let written = program.insts[at.index()].op.written();
            for d in written.registers {
                warp.register_mut(d).set(lane, Value::Undefined(unknown));
            }
            for p in written.predicates {
                warp.predicate_mut(p).set(lane, Truth::Undefined(unknown));
            }
        }
        let found = outcome.found.map_or(Value::Undefined(unknown), |found| Value::Bits(found.into()));
        warp.register_mut(looped.d).set(lane, found);
        self.compute(warp, LaneMask::of(lane), pc, &looped.condition)?;
        warp.predicate_mut(looped.leaves.pred).set(lane, Truth::Known(!looped.leaves.negated));
        Ok(())
    }

    /// At the end of the run, when all changes of flags are known: checks that every wait waited for the same changes
    /// under every schedule.
    pub(crate) fn end_flags(&mut self) -> Result<(), Stop> {
        let mut work = 0;
        let result = self.judge_flags_again(&mut work);
        self.work.looked_at += work / 4;
        result
    }

    /// The same; adds up the work.
    fn judge_flags_again(&self, work: &mut u64) -> Result<(), Stop> {
        for (key, flag) in &self.sync.flags.places {
            for waited in &flag.waits {
                *work += flag.work.take();
                self.work.check_more(*work / 4)?;
                let ask =
                    |leaves: &mut dyn FnMut(u32) -> Result<bool, Unclear>| flag.judge_again(waited, leaves);
                let thread = waited.before.thread as u32;
                let who = (thread, waited.pc, waited.ahead);
                match self.sync.judged(*key, &waited.condition, ask) {
                    Ok(Judged::Leaves(outcome))
                        if outcome.changes == waited.outcome.changes
                            && (outcome.found == waited.outcome.found || !waited.condition.is_read) => {}
                    Ok(Judged::Ambiguous { beside: Some(change) }) => {
                        return Err(self.context.ambiguous(*key, who, flag.events.get(change)));
                    }
                    Ok(Judged::Ambiguous { beside: None } | Judged::Stays | Judged::Leaves(_)) => {
                        return Err(self.context.ambiguous(*key, who, flag.beside(waited)));
                    }
                    Err(unclear) => return Err(self.context.unclear_wait(*key, thread, waited.pc, unclear)),
                }
            }
        }
        Ok(())
    }
}

impl Accesses<'_, '_> {
    /// A lane loads a flag ahead of a loop that waits for it in rounds. The run continues as if it had not found what the
    /// loop waits for. Where it has, the loop is left at once, and its thread is ordered after the same changes, even
    /// earlier: it has learned of no change in between.
    pub(crate) fn load_ahead(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        load: InstId,
    ) -> Result<(), Stop> {
        self.exact()?;
        let Op::Load { space, address, access: Access { strong: Some(strong), .. }, d, .. } =
            &self.context.launch.program.insts[pc.index()].op
        else {
            return Err(Stop::Defect("a flag is loaded by an operation that is not a strong load"));
        };
        let address = self.values.terms.addresses(warp, LaneMask::of(lane), *address, pc)?[lane];
        let agent = Agent::Waiter { scope: strong.scope };
        let place = (*space, address);
        let one = LaneAccess { place, bytes: BYTES, alignment: BYTES, agent, writes: false };
        let mut offsets = [0; 32];
        let at = self.locate_lane(warp, lane, pc, one, &mut offsets)?;
        if let Backing::Local(_) = at.object.backing {
            let message = "a flag is loaded ahead of a loop from its own thread's local memory";
            return Err(self.context.fault(FaultKind::Unsupported, "Y15", message, warp, lane, pc));
        }
        let (key, thread) = ((at.number, at.offsets[lane] / 4), warp.thread(lane) as usize);
        let held = self.peek(warp, lane, &at, key.1);
        self.read_cell(warp, lane, &at, key.1, 0xf)?;
        let exact = self.sync.order.exact_mut()?;
        self.sync.flags.at(key, &mut exact.clocks, || word(held, pc));
        let ahead = Ahead { pc, key, load, before: exact.clocks.snapshot(thread), has_asked: false };
        self.sync.flags.ahead.insert(thread, ahead);
        // What the thread does from here on is not known before.
        exact.clocks.release(thread);
        for d in d.iter().flatten() {
            warp.register_mut(*d).set(lane, Value::Undefined(Origin::Unpredictable(pc)));
        }
        Ok(())
    }

    /// Records a write to a location that may be a flag. `content` is what the write leaves in the cell.
    pub(crate) fn note_change(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
        touched: u8,
        content: Cell,
    ) {
        let key = (at.number, cell);
        let is_strong = matches!(at.agent, Agent::Setter { .. } | Agent::Atomic { .. });
        if !is_strong && !self.sync.flags.places.contains_key(&key) {
            return;
        }
        let held = word(self.peek(warp, lane, at, cell), at.pc);
        let whole = word(content, at.pc).filter(|_| touched == 0xf);
        let change = match (at.agent, held, whole) {
            (Agent::Atomic { update: Update::Integer(Int2::Add, ty), .. }, Some(held), Some(new))
                if ty.width == Width::W32 =>
            {
                Change::Add(new.wrapping_sub(held))
            }
            (Agent::Setter { .. } | Agent::Thread, _, Some(new)) => Change::Set(new),
            _ => Change::Other,
        };
        let Detector::VectorClock(exact) = &mut self.sync.order else { return };
        let (clocks, number) = (&mut exact.clocks, warp.thread(lane) as usize);
        self.sync.flags.at(key, clocks, || held);
        let now = clocks.snapshot(number);
        let told = match at.access.strong {
            Some(strong) => told_by(clocks, &now, strong.orders),
            None => Told { all: None, near: None },
        };
        clocks.release(number);
        let stamp = now.stamp;
        if let Some((agent, changes)) = self.sync.flags.note(key, (change, at.pc), (now, told)) {
            exact.note_change((number_of(number), stamp), (number_of(agent), number_of(changes)));
        }
    }
}

impl Synchronisation<'_> {
    /// The words for a lane that waits for a flag.
    pub(crate) fn flag_of(&self, terms: &ValueTerms<'_>, warp: &Warp, lane: Lane) -> Option<String> {
        let (key, _) = terms.flag_waited_for(warp, lane)?;
        let name = self.context.spell_flag(key);
        let changes = self.flags.places.get(&key).map_or(0, |flag| flag.events.len());
        let changes = match changes {
            0 => "nothing has changed it".to_string(),
            1 => "it has changed once".to_string(),
            more => format!("it has changed {more} times"),
        };
        Some(format!("for the flag {name}; {changes}"))
    }

    /// Evaluates a question about a flag for a condition, which may depend on the result of an atomic operation on the
    /// same flag.
    fn judged(
        &self,
        key: (u32, u64),
        condition: &Condition,
        ask: impl FnOnce(&mut dyn FnMut(u32) -> Result<bool, Unclear>) -> Result<Judged, Unclear>,
    ) -> Result<Judged, Unclear> {
        const MOST_ANSWERS: u64 = 1 << 21;
        const TOO_LONG: &str = "its contents and the result of an atomic operation can be too many numbers";
        const OTHER: &str = "the loop's condition depends on more than the flag and known words";
        const OPEN: &str = "the loop's condition depends on the result of an atomic operation, which depends on the schedule";
        let program = self.context.launch.program;
        let olds: Vec<Option<u32>> = match (condition.found, self.flags.places.get(&key)) {
            (Some((_, change)), Some(flag)) => flag.found_by(change)?.into_iter().map(Some).collect(),
            (Some(_), None) | (None, _) => vec![None],
        };
        let work = self.flags.places.get(&key).map(|flag| &flag.work);
        // A question is put for at most so many pairs of contents.
        let mut left = MOST_ANSWERS;
        ask(&mut |held| {
            left = left.checked_sub(olds.len() as u64).ok_or(TOO_LONG)?;
            work.iter().for_each(|work| work.set(work.get() + olds.len() as u64));
            let mut all = olds.iter().map(|old| condition.leaves(program, held, *old));
            let first = all.next().flatten().ok_or(OTHER)?;
            if all.all(|other| other == Some(first)) { Ok(first) } else { Err(OPEN) }
        })
    }

    /// Records that an atomic operation of a lane stores the previous contents of a flag in a register.
    pub(crate) fn note_found(&mut self, warp: &Warp, lane: Lane, at: &WarpAccess<'_>, d: RegId) {
        let key = (at.number, at.offsets[lane] / 4);
        let Some(flag) = self.flags.places.get(&key).filter(|flag| !flag.events.is_empty()) else { return };
        self.flags.found.insert((warp.thread(lane), d.0), (key, flag.events.len() - 1));
    }
}

impl ValueTerms<'_> {
    /// Called when no thread can proceed: ends the run if some lane waits for a flag in global memory that another CTA
    /// might set.
    pub(crate) fn waits_for_another_cta(&self, warps: &[Warp]) -> Result<(), Stop> {
        let ctas: u64 = self.context.launch.grid.iter().map(|n| u64::from(*n)).product();
        // CTAs that the case leaves out might set it as well.
        let is_whole_grid = u64::from(self.context.launch.ranks()) == ctas;
        for warp in warps.iter().filter(|_| !is_whole_grid) {
            for lane in warp.at_phase {
                if let Some((_, true)) = self.flag_waited_for(warp, lane) {
                    let place = self.context.launch.place(warp.pc[lane]);
                    return Err(Stop::Endless(Box::new(Endless { place, repeats: Repeats::Flag })));
                }
            }
        }
        Ok(())
    }

    /// The flag that a lane waits for, and whether it lies in global memory.
    pub(super) fn flag_waited_for(&self, warp: &Warp, lane: Lane) -> Option<((u32, u64), bool)> {
        let pc = warp.pc[lane];
        let inst = &self.context.launch.program.insts[pc.index()];
        let Op::Load { space, address, .. } = &inst.op else { return None };
        if inst.op.effect() != Effect::Waits(Wait::Phase) {
            return None;
        }
        let address = self.addresses(warp, LaneMask::of(lane), *address, pc).ok()?[lane];
        let (own, inner) = locate(*space, address);
        let (number, offset) = self.context.found(warp, own, inner)?;
        let key = (number, u64::try_from(offset).ok()? / 4);
        Some((key, self.context.launch.objects.get(number).space == Space::Global))
    }
}

impl Context<'_> {
    /// The words for a flag or a lock.
    pub(super) fn spell_flag(&self, (object, cell): (u32, u64)) -> String {
        self.spell(self.launch.objects.get(object), cell * 4, BYTES)
    }

    #[cold]
    fn ambiguous(
        &self,
        key: (u32, u64),
        (thread, pc, ahead): (u32, InstId, Option<InstId>),
        beside: Option<&Event>,
    ) -> Stop {
        if let Some(ahead) = ahead {
            // The load ahead may always find what is gone at the loop.
            return self.other_ahead(thread, pc, ahead);
        }
        let name = self.spell_flag(key);
        let message = format!(
            "it depends on the schedule for which changes of the flag {name} a loop waits, or the loop may miss the \
             change that it waits for"
        );
        let mut sites = vec![self.site_of_thread("waits".into(), thread, pc)];
        sites.extend(beside.map(|event| {
            let action = "may change it before or after that".into();
            self.site_of_thread(action, event.now.thread as u32, event.pc)
        }));
        let help = "wait for a value that the flag has once all awaited threads have changed it, and that it keeps \
                    until the loop has ended";
        self.fault_at(FaultKind::AmbiguousBarrier, "Y15", message, sites, Some(help.into()))
    }

    #[cold]
    fn other_ahead(&self, thread: u32, pc: InstId, ahead: InstId) -> Stop {
        let message = "a loop that waits for a flag begins with what was loaded ahead of it: that was another flag, the \
                       thread has since changed the flag or learned of a change, or what the loop waits for may be gone \
                       when it begins"
            .to_string();
        let sites = vec![
            self.site_of_thread("waits".into(), thread, pc),
            self.site_of_thread("loads ahead of the loop".into(), thread, ahead),
        ];
        let help = "leave the load ahead of the loop out, and begin with a value that does not end the loop: the loop loads the \
                    flag itself";
        self.fault_at(FaultKind::Unsupported, "Y15", message, sites, Some(help.into()))
    }

    #[cold]
    pub(super) fn unclear_wait(&self, key: (u32, u64), thread: u32, pc: InstId, unclear: Unclear) -> Stop {
        let message = format!("a loop waits for the flag {}: {unclear}", self.spell_flag(key));
        let sites = vec![self.site_of_thread("waits".into(), thread, pc)];
        self.fault_at(FaultKind::Unsupported, "Y15", message, sites, None)
    }
}

/// The contents of a cell, if they are a known 32-bit word.
pub(crate) fn word(held: Cell, reader: InstId) -> Option<u32> {
    match held.whole(reader)? {
        Value::Bits(bits) => Some(bits as u32),
        Value::Sym(_) | Value::Undefined(_) => None,
    }
}

/// What a strong store of a thread tells those that find it.
pub(super) fn told_by(clocks: &Clocks, now: &Snapshot, releases: bool) -> Told {
    let told = |is_near| if releases { Some(now.clone()) } else { clocks.fenced(now.thread, is_near) };
    Told { all: told(false), near: told(true) }
}
