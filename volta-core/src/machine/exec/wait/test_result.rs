//! Answers of mbarrier tests that do not wait (rule Y9). Under some schedule the answer is *no*, and the run continues
//! with that. The answer may pass through selects, comparisons and registers, and must decide nothing but whether its
//! thread waits for that very phase: a thread that learns that the phase is over need not wait.

use super::mbarrier::NO_BARRIER;
use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::mbarrier_phases::{Asked, Question};
use crate::machine::cta::accesses::Accesses;
use crate::machine::cta::{Cta, Guarded};
use crate::machine::exec::arithmetic::select::Snapshot;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::program::{BarrierAction, BarrierTest, Control, Inst, InstId, PredSrc, SkippedWait};
use crate::value::packed::{Answer, PackedValues};
use crate::value::{Origin, Sym, Truth, Value};
use crate::verdict::FaultKind;
use std::rc::Rc;

impl Accesses<'_, '_> {
    /// Executes a test of an mbarrier that no loop repeats.
    pub(super) fn ask_once(&mut self, warp: &mut Warp, mask: LaneMask, pc: InstId) -> Result<(), Stop> {
        let test = self.context.test_at(pc)?;
        for lane in mask {
            let (barrier, phase) = self.meant_by(warp, lane, pc, test)?;
            let asked = number_of(self.values.terms.asked.questions.len());
            let question = Question { thread: warp.thread(lane), pc, barrier, phase, order: test.order };
            self.values.terms.asked.questions.push(question);
            let answer = self.values.terms.packed.answered(Answer { asked, if_over: 1, if_not: 0 });
            warp.predicate_mut(test.p).set(lane, Truth::Answer(answer));
        }
        Ok(())
    }

    /// The mbarrier that a lane tests, and the phase that it denotes.
    fn meant_by(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        BarrierTest { place, p, phase, order }: BarrierTest,
    ) -> Result<(usize, i64), Stop> {
        let action = BarrierAction::Test { p, phase, order };
        let key = self.barrier_at(warp, lane, pc, place, &action)?;
        let Some(barrier) = self.sync.mbarriers.alive.get(&key) else {
            return Err(self.context.misuse(NO_BARRIER, warp, lane, pc));
        };
        let meant = match self.phase_named(warp, lane, pc, key, phase)? {
            Asked::Phase(phase) => phase.into(),
            Asked::Parity(parity) => {
                let exact = self.sync.order.exact()?;
                barrier.meant(&exact.clocks, warp.thread(lane), parity)
            }
        };
        Ok((barrier.agent, meant))
    }
}

impl Cta<'_> {
    /// An answer decides a branch: the run continues as if it were *no*.
    pub(crate) fn guarded_by_answers(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
        guard: PredSrc,
    ) -> Result<Guarded, Stop> {
        let asked = warp.predicates[guard.pred.index()].asked() & mask;
        let lane = asked.first();
        let Some(Control::Branch(target)) = inst.op.control() else {
            return Err(self.values.terms.asked_once_by(warp, lane, pc, guard));
        };
        let (mut taken, symbolic) = self.values.terms.guard_lanes(warp, mask & !asked, pc, guard)?;
        if !symbolic.is_empty() {
            return Err(self.values.terms.asked_once_by(warp, lane, pc, guard));
        }
        for lane in asked {
            let Truth::Answer(answer) = warp.predicates[guard.pred.index()].get(lane) else {
                return Err(Stop::Defect("a lane has no answer from a barrier"));
            };
            let is_taken = (self.values.terms.packed.answer(answer).if_not != 0) != guard.negated;
            self.waits_for_what_it_asked(warp, lane, pc, answer, is_taken)?;
            if is_taken {
                taken.insert(lane);
            }
        }
        warp.go(taken, *target);
        warp.go(mask & !taken, pc.next());
        warp.leave(mask & !asked);
        // Whether a lane waits depends on the lane and on the schedule.
        warp.scatter(asked);
        warp.diverged = true;
        Ok(Guarded::Moved)
    }

    /// Checks that a lane which branches by an answer either waits for the phase that it has tested, or continues where
    /// those lanes do that have waited.
    fn waits_for_what_it_asked(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        answer: u32,
        waits_taken: bool,
    ) -> Result<(), Stop> {
        let asked = self.values.terms.packed.answer(answer).asked;
        let question = self.values.terms.asked.questions[asked as usize];
        let Some(skipped) = self.values.terms.wait_skipped(pc, waits_taken) else {
            return Err(self.values.terms.asked_once(answer, warp, lane, pc));
        };
        let held = Snapshot::new(warp, &skipped.written);
        self.compute(warp, LaneMask::of(lane), pc, &skipped.enters)?;
        let test = self.context.test_at(skipped.test)?;
        let meant = self.accesses().meant_by(warp, lane, skipped.test, test);
        held.restore(warp, LaneMask::of(lane));
        let (barrier, phase) = meant?;
        if question.thread == warp.thread(lane)
            && (question.barrier, question.phase) == (barrier, phase)
            && (question.order == test.order || question.order.orders && !test.order.orders)
        {
            return Ok(());
        }
        let message = "a wait is skipped because of the result of a test of something else than it waits for";
        let sites = vec![
            self.context.site_of_thread("asks".into(), question.thread, question.pc),
            self.context.site("waits, or does not".into(), warp, lane, skipped.test),
        ];
        Err(self.context.fault_at(FaultKind::Nondeterministic, "Y9", message.into(), sites, None))
    }
}

impl PackedValues {
    /// The truth value of a function of an answer's bits.
    pub(crate) fn answer_of(&mut self, answer: u32, f: impl Fn(u64) -> u64) -> Truth {
        let Answer { asked, if_over, if_not } = self.answer(answer);
        let (if_over, if_not) = (f(if_over), f(if_not));
        if if_over == if_not {
            return Truth::Known(if_not != 0);
        }
        Truth::Answer(self.answered(Answer { asked, if_over, if_not }))
    }
}

impl ValueTerms<'_> {
    /// A select by an answer.
    pub(crate) fn select_by_answer(&mut self, answer: u32, then: Value, otherwise: Value) -> Value {
        let Answer { asked, if_over, if_not } = self.packed.answer(answer);
        let (Value::Bits(then), Value::Bits(otherwise)) = (then, otherwise) else {
            return Value::Undefined(self.unpredictable(answer));
        };
        if then == otherwise {
            return Value::Bits(then);
        }
        let of = |holds| if holds != 0 { then } else { otherwise };
        let (if_over, if_not) = (of(if_over), of(if_not));
        Value::Sym(Sym::answer(self.packed.answered(Answer { asked, if_over, if_not })))
    }

    /// The origin of any other result that depends on an answer.
    pub(crate) fn unpredictable(&self, answer: u32) -> Origin {
        let asked = self.packed.answer(answer).asked;
        Origin::Unpredictable(self.asked.questions[asked as usize].pc)
    }

    /// The wait that a branch skips.
    fn wait_skipped(&mut self, pc: InstId, waits_taken: bool) -> Option<Rc<SkippedWait>> {
        let program = self.context.launch.program;
        let found = self.asked.skipped.entry((pc, waits_taken));
        found.or_insert_with(|| program.skipped_wait(pc, waits_taken).map(Rc::new)).clone()
    }

    /// The fault of an answer that decides something else; `guard` is the predicate that holds it.
    #[cold]
    fn asked_once_by(&self, warp: &Warp, lane: Lane, pc: InstId, guard: PredSrc) -> Stop {
        match warp.predicates[guard.pred.index()].get(lane) {
            Truth::Answer(answer) => self.asked_once(answer, warp, lane, pc),
            Truth::Known(_) | Truth::Condition(_) | Truth::Undefined(_) => {
                Stop::Defect("a lane has no answer from a barrier")
            }
        }
    }

    /// The fault of an answer that decides something else than whether its thread waits.
    #[cold]
    pub(crate) fn asked_once(&self, answer: u32, warp: &Warp, lane: Lane, pc: InstId) -> Stop {
        let question = self.asked.questions[self.packed.answer(answer).asked as usize];
        let message = "a phase of a barrier is tested once, and the result depends on the schedule";
        let sites = vec![
            self.context.site("depends on it".into(), warp, lane, pc),
            self.context.site_of_thread("is not determined here".into(), question.thread, question.pc),
        ];
        let help = "test again until the phase is complete, in a loop that does nothing else; a single test may only \
                    decide whether such a loop for the same phase is entered";
        self.context.fault_at(FaultKind::Nondeterministic, "Y9", message.into(), sites, Some(help.into()))
    }
}
