//! Executes operations, one warp at a time: one function an operation, which tries one value domain after another.
//!
//! [`arithmetic`] computes in registers. [`access`], [`matrix`] and [`wait`] rest on it and not on one another: accesses of
//! memory, matrices and tensor memory, and what threads wait for. The files here choose among them, and follow branches.

pub(crate) mod access;
pub(crate) mod arithmetic;
pub(crate) mod by_value;
pub(crate) mod control_loop;
pub(crate) mod group;
pub(crate) mod hammock;
pub(crate) mod matrix;
pub(crate) mod repeat;
pub(crate) mod threads;
pub(crate) mod wait;

use crate::machine::exec::arithmetic::convert;
use crate::machine::exec::arithmetic::ieee;
use crate::value::Truth;
use crate::value::float_inst;

use super::cta::{Cta, Guarded};
use crate::base::lane::LaneMask;
use crate::launch::objects::from_generic;
use crate::machine::exec::arithmetic::integer::Integer;
use crate::machine::exec::arithmetic::predicates::{Carry, CompareTargets};
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::program::{Async, Inst, InstId, Op, PredSrc};
use crate::value::register::Register;
use crate::verdict::FaultKind;
use threads::{OneThread, WholeWarp};

impl Cta<'_> {
    /// Executes an operation that neither branches nor waits, for the lanes of `mask`. For an operation at which lanes
    /// meet, these are the lanes that have met.
    #[inline]
    pub(super) fn execute(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
    ) -> Result<(), Stop> {
        if self.class.is_some() {
            return self.execute_for_class(warp, mask, inst, pc);
        }
        if !self.sync.products.is_empty() {
            self.sync.touches_products(warp, mask, &inst.op, pc)?;
        }
        self.sync.settle_tickets(&self.values.terms.packed, warp, mask, &inst.op);
        let together = match mask.only() {
            // What happens in memory under a condition is done lane by lane.
            _ if self.values.terms.guards.are_narrow() && !inst.op.only_computes() => false,
            _ if mask.is_all() => self.execute_together(&mut WholeWarp(warp), inst, pc)?,
            Some(lane) => self.execute_together(&mut OneThread { warp, lane }, inst, pc)?,
            None => false,
        };
        if together { Ok(()) } else { self.execute_by_lanes(warp, mask, inst, pc) }
    }

    /// As [`Cta::execute`], lane by lane where the lanes differ.
    #[inline(never)] // Outlined so that the fast path does not pay for this frame.
    fn execute_by_lanes(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
    ) -> Result<(), Stop> {
        if self.values.terms.store.is_ieee()
            && let Some(ieee) = ieee::IeeeInst::of(&inst.op)
        {
            return self.values.reals().ieee_by_lanes(warp, mask, pc, &ieee);
        }
        match &inst.op {
            Op::Mov { d, a, width } => self.context.mov(warp, mask, *d, *a, *width),
            Op::Int1 { op, ty, d, a } => self.integer(warp, mask, pc, *d, Integer::One(*op, *ty, [*a])),
            Op::Int2 { op, ty, d, a, b } => {
                self.integer(warp, mask, pc, *d, Integer::Two(*op, *ty, [*a, *b]))
            }
            Op::Int3 { op, ty, d, a, b, c } => {
                self.integer(warp, mask, pc, *d, Integer::Three(*op, *ty, [*a, *b, *c]))
            }
            Op::Insert { width, d, a, b, position, length } => {
                self.integer(warp, mask, pc, *d, Integer::Insert(*width, [*a, *b, *position, *length]))
            }
            Op::CvtInt { d, a, from, to, saturate } => {
                let op = Integer::Convert { from: *from, to: *to, saturate: *saturate, a: [*a] };
                self.integer(warp, mask, pc, *d, op)
            }
            Op::Carry { subtract, width, d, a, b, carry_in, carry_out } => {
                let carry = Carry {
                    subtract: *subtract,
                    width: *width,
                    d: *d,
                    operands: [*a, *b],
                    carry_in: *carry_in,
                    carry_out: *carry_out,
                };
                self.values.terms.carry(warp, mask, pc, carry)
            }
            Op::SetpInt { compare, ty, p, q, a, b, combine } => {
                let targets = CompareTargets { p: *p, q: *q, combine: *combine };
                self.setp_int(warp, mask, pc, (*compare, *ty), [*a, *b], targets)
            }
            Op::SetpFloat { compare, format, flush, p, q, a, b, combine } => {
                let targets = CompareTargets { p: *p, q: *q, combine: *combine };
                self.values.reals().setp_float(warp, mask, pc, (*compare, *format, *flush), [*a, *b], targets)
            }
            Op::Float1 { op, format, precision, d, a } => {
                let (shape, sources) = float_inst::Shape::of_one(*op, *format, *precision, *a);
                self.arithmetic().float(warp, mask, pc, shape, *d, &sources)
            }
            Op::Float2 { op, format, precision, clamp, d, a, b } => {
                let shape = float_inst::Shape::of_two(*op, *format, *precision, *clamp);
                self.arithmetic().float(warp, mask, pc, shape, *d, &[*a, *b])
            }
            Op::Fma { format, precision, clamp, d, a, b, c } => {
                let shape = float_inst::Shape::of_fma(*format, *precision, *clamp);
                self.arithmetic().float(warp, mask, pc, shape, *d, &[*a, *b, *c])
            }
            Op::Load { .. } | Op::Store { .. } => self.access(warp, mask, inst, pc),
            Op::Atomic { update, scope, space, address, alignment, releases, d, a, .. } => {
                let mask = mask & !self.access_by_cases(warp, mask, inst, pc)?;
                if mask.is_empty() {
                    return Ok(());
                }
                let place = (*space, *address, *alignment);
                self.accesses().atomic(warp, mask, pc, (*update, *scope, *releases), place, (*d, *a))
            }
            Op::Swap(swap) => self.swap(warp, mask, pc, swap),
            Op::Select { width, d, a, b, p } => {
                self.values.select(warp, mask, pc, *width, *d, (*p, [*a, *b]))
            }
            Op::Special { d, special, width } => {
                self.context.special(warp, mask, pc, *d, *special, *width)?;
                self.forget_taker(warp, mask, pc, (*d, *special));
                Ok(())
            }
            Op::Pred2 { op, p, a, b } => self.values.terms.pred2(warp, mask, pc, *op, *p, [*a, *b]),
            Op::PredMov { p, a } => {
                for lane in mask {
                    let truth = self.values.terms.truth(warp, *a, lane, pc);
                    warp.predicate_mut(*p).set(lane, truth);
                }
                Ok(())
            }
            Op::PredConst { p, value } => {
                warp.predicate_mut(*p).merge_bits(mask, LaneMask::all_if(*value));
                Ok(())
            }
            Op::Pack { d, parts, part } => self.values.terms.pack(warp, mask, *d, parts, *part),
            Op::Unpack { d, a, part } => self.values.terms.unpack(warp, mask, pc, d, *a, *part),
            Op::IntToFloat { d, a, from, to, rounding } => {
                self.values.reals().int_to_float(warp, mask, pc, (*d, *a), (*from, *to, *rounding))
            }
            Op::FloatToInt { d, a, from, to, rounding, flush } => {
                self.values.reals().float_to_int(warp, mask, pc, (*d, *a), (*from, *flush), (*to, *rounding))
            }
            Op::CvtFloat { d, a, from, to, integral, precision, clamp, finite } => {
                let shape = convert::FloatCast {
                    from: *from,
                    to: *to,
                    integral: *integral,
                    precision: *precision,
                    clamp: *clamp,
                    finite: *finite,
                };
                let moves = shape.keeps_reals() && !self.values.terms.store.is_ieee();
                if moves && self.values.fragments.convert(warp, mask, *d, *a, [*from, *to]) {
                    return Ok(());
                }
                self.values.reals().cvt_float(warp, mask, pc, *d, *a, shape)
            }
            Op::Cvta { d, a, space, to, width } => {
                self.values.terms.cvta(warp, mask, pc, (*d, *a), (*space, *to), *width)
            }
            Op::MapToCta { d, a, rank, space, width } => {
                self.values.terms.map_to_cta(warp, mask, pc, (*d, *width), (*a, *space), *rank)
            }
            Op::CtaRankOf { d, a, space } => self.values.terms.cta_rank_of(warp, mask, pc, *d, (*a, *space)),
            Op::IsSpace { p, a, space } => {
                for lane in mask {
                    let address = self.values.terms.concrete(warp, *a, lane, pc, "an address")?;
                    let holds = from_generic(address).0 == *space;
                    warp.predicate_mut(*p).set(lane, Truth::Known(holds));
                }
                Ok(())
            }
            Op::ActiveMask { d } => {
                let is_known = !warp.diverged && mask == warp.live() && warp.live() == warp.exists;
                if !is_known && !self.context.options.rules.reconverged_masks {
                    let message =
                        "`activemask` after the lanes of the warp have diverged depends on the schedule";
                    let lane = mask.first();
                    return Err(self.context.fault(
                        FaultKind::Nondeterministic,
                        "S4",
                        message,
                        warp,
                        lane,
                        pc,
                    ));
                }
                warp.register_mut(*d).merge(mask, &Register::broadcast(mask.bits().into()));
                Ok(())
            }
            Op::Enter { declared } => {
                self.context.enter(warp, mask, declared);
                Ok(())
            }
            Op::Nop => Ok(()),
            Op::Async(copy @ Async::Copy { .. }) => {
                let mask = mask & !self.access_by_cases(warp, mask, inst, pc)?;
                if mask.is_empty() {
                    return Ok(());
                }
                let decided = access::copy_source::copied_by_cases(self, warp, mask, copy, pc)?;
                self.asynchronous().copy_async(warp, mask, pc, copy, decided)
            }
            Op::Async(operation) => self.asynchronous().execute(warp, mask, pc, operation),
            Op::Trap => {
                let message = "the kernel reaches a trap or a failed assertion".to_string();
                let lane = mask.first();
                Err(self.context.fault(FaultKind::Assertion, "R1", message, warp, lane, pc))
            }
            Op::Undetermined(reason) => {
                let lane = mask.first();
                let site = self.context.site("is not determined here".into(), warp, lane, pc);
                let help = "only the alignment of an address is known; compute with indices instead";
                Err(self.context.fault_at(
                    FaultKind::Nondeterministic,
                    "M1",
                    reason.clone(),
                    vec![site],
                    Some(help.into()),
                ))
            }
            Op::Unevaluated { d, p, a, predicates, is_collective: _, reason: _ } => {
                self.values.terms.unevaluated(warp, mask, pc, (d, p), (a, predicates));
                Ok(())
            }
            Op::Unsupported { reason } => {
                let lane = mask.first();
                Err(self.context.fault(FaultKind::Unsupported, "S2", reason.clone(), warp, lane, pc))
            }
            Op::Shuffle { mode, d, p, a, b, c, mask: _ } => {
                self.values.terms.collective(warp, mask, pc).shuffle(*mode, (*d, *p), [*a, *b, *c])
            }
            Op::Vote { vote, p, a, mask: _ } => {
                self.values.terms.collective(warp, mask, pc).vote(*vote, *p, *a)
            }
            Op::Ballot { d, a, mask: _ } => self.values.terms.collective(warp, mask, pc).ballot(*d, *a),
            Op::MatchAny { d, a, width, mask: _ } => {
                self.values.terms.collective(warp, mask, pc).match_any(*d, *a, *width)
            }
            Op::MatchAll { d, p, a, width, mask: _ } => {
                self.values.terms.collective(warp, mask, pc).match_all((*d, *p), *a, *width)
            }
            Op::Redux { op, d, a, mask: _ } => self.arithmetic().redux(warp, mask, pc, *op, *d, *a),
            Op::Elect { d, p, mask: _ } => self.values.terms.collective(warp, mask, pc).elect((*d, *p)),
            Op::Mma { product, d, a, b, c } => self.values.matrices().mma(warp, pc, *product, d, [a, b, c]),
            Op::LoadMatrix { space, address, transposed, d } => {
                self.accesses().load_matrix(warp, pc, (*space, *address), *transposed, d)
            }
            Op::StoreMatrix { space, address, transposed, a } => {
                self.accesses().store_matrix(warp, pc, (*space, *address), *transposed, a)
            }
            Op::TransposeMatrix { d, a } => self.values.matrices().transpose_matrix(warp, pc, *d, *a),
            Op::LoadFragment { fragment, column_major, space, address, stride, d } => self
                .accesses()
                .load_fragment(warp, pc, (*fragment, *column_major), (*space, *address, *stride), d),
            Op::StoreFragment { fragment, column_major, space, address, stride, a } => self
                .accesses()
                .store_fragment(warp, pc, (*fragment, *column_major), (*space, *address, *stride), a),
            Op::MultiplyFragments { product, column_major, d, a, b, c } => {
                self.values.matrices().multiply_fragments(warp, pc, (*product, *column_major), d, [a, b, c])
            }
            Op::Branch { .. }
            | Op::BranchTable { .. }
            | Op::Exit
            | Op::Barrier { .. }
            | Op::WarpSync { .. } => {
                Err(Stop::Defect("an operation that waits or branches was executed by itself"))
            }
        }
    }

    /// Evaluates a guard for the lanes of `mask`. Where it depends on the input, the operation becomes a select (rule
    /// S1).
    pub(crate) fn guarded(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
        guard: PredSrc,
    ) -> Result<Guarded, Stop> {
        if warp.predicates[guard.pred.index()].asked().meets(mask) {
            return self.guarded_by_answers(warp, mask, inst, pc, guard);
        }
        let (mut holds, mut symbolic) = self.values.terms.guard_lanes(warp, mask, pc, guard)?;
        if self.values.terms.guards.have_premises() {
            let (hold, fail) = self.values.decided(warp, symbolic, pc, guard);
            // Known from here on, so that a loop that goes on by it is seen to repeat itself.
            let is_known = !self.values.terms.guards.are_narrow();
            for lane in if is_known { hold | fail } else { LaneMask::NONE } {
                let truth = Truth::Known(hold.contains(lane) != guard.negated);
                warp.predicate_mut(guard.pred).set(lane, truth);
            }
            holds |= hold;
            symbolic &= !(hold | fail);
        }
        if symbolic.is_empty() {
            return Ok(Guarded::Lanes(holds));
        }
        if let Some(target) = self.context.launch.program.target_of(inst) {
            let join = self.choose_sides(warp, symbolic, inst, pc, guard)?;
            if join.index() == self.context.launch.program.insts.len() {
                warp.exited |= symbolic;
                self.sync.leave_cluster(warp, symbolic);
            }
            warp.go(symbolic, join);
            warp.go(holds, target);
            warp.diverge(mask & !symbolic & !holds, pc.next());
            warp.leave(holds);
            // Each of these lanes continues on the side that its input selects.
            warp.scatter(symbolic);
            // Which lanes executed their sides together depends on the schedule.
            warp.diverged = true;
            return Ok(Guarded::Moved);
        }
        self.choose_in_class(warp, &inst.op, pc)?;
        if !holds.is_empty() {
            self.values.terms.choice_allowed(warp, symbolic, inst, pc, guard)?;
            self.execute(warp, holds, inst, pc)?;
        }
        self.choose_result(warp, symbolic, inst, pc, guard)?;
        Ok(Guarded::Done)
    }
}
