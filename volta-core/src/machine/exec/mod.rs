//! Executes operations, one warp at a time.

mod access_fault;
mod affine;
pub(super) mod affine_memory;
mod answer;
mod atomic;
mod bulk;
mod by_cases;
mod by_value;
mod collective;
mod conditional;
mod convert;
mod copies;
mod copy;
mod errors;
mod flag;
mod flag_condition;
mod flag_rounds;
pub(super) mod float;
mod fragments;
mod grid_control;
pub(super) mod group;
mod hammock;
mod idiom;
pub(super) mod ieee;
mod int;
mod integer;
mod known;
mod left_out;
mod lock;
mod matrix;
mod matrix_element;
mod matrix_terms;
mod mbarrier;
mod memory;
mod observe;
mod packed_int;
mod piecewise;
mod products;
mod read_only_load;
mod recorded;
mod repeat;
mod select;
mod shape;
mod shared_matrix;
mod sign;
mod store;
mod swap;
mod symbolic_int;
mod tensor_copy;
mod tensor_memory;
mod tensor_pair;
mod tensor_product;
mod tensor_scales;
mod tensor_shape;
mod ticket;
mod tile;
mod unevaluated;
mod warpgroup;
mod wmma;

pub(super) use copies::Copies;
pub(super) use flag_condition::Condition;
pub(super) use fragments::Fragments;
pub(super) use known::Knowns;
pub(super) use products::Products;

use group::{OneThread, WholeWarp};
use integer::Integer;

use super::advice::{origin_site, rule_of, to_be_given, undefined_help};
use super::cta::{Cta, Stop};
use super::objects::from_generic;
use super::packed::Cell;
use super::register::Register;
use super::value::{Origin, Sym, SymKind, Truth, Value};
use super::warp::Warp;
use crate::base::lane::{Lane, LaneMask};
use crate::number::Rational;
use crate::program::{
    Bool2, Control, Declared, Inst, InstId, Op, PredId, PredSrc, RegId, Space, Special, Src, Width,
};
use crate::term::{TermId, TermOp, expression};
use crate::verdict::FaultKind;
use int::CompareTargets;

/// A term is printed as deep as fits in this number of characters.
const LONGEST_TERM: usize = 120;
/// Of several values packed together, at most this number is printed.
const MOST_PARTS: usize = 4;

/// The effect of a guard.
pub(super) enum Guarded {
    /// These lanes execute the operation.
    Lanes(LaneMask),
    /// The operation has been executed as a select.
    Done,
    /// The operation was a branch that depends on the input; each lane's program counter is set.
    Moved,
}

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
        if !self.products.is_empty() {
            self.touches_products(warp, mask, &inst.op, pc)?;
        }
        self.settle_tickets(warp, mask, &inst.op);
        let together = match mask.only() {
            // What happens in memory under a condition is done lane by lane.
            _ if self.guards.are_narrow() && !inst.op.only_computes() => false,
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
        if self.store.is_ieee()
            && let Some(ieee) = ieee::IeeeInst::of(&inst.op)
        {
            return self.ieee_by_lanes(warp, mask, pc, &ieee);
        }
        match &inst.op {
            Op::Mov { d, a, width } => self.mov(warp, mask, *d, *a, *width),
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
                let carry = int::Carry {
                    subtract: *subtract,
                    width: *width,
                    d: *d,
                    operands: [*a, *b],
                    carry_in: *carry_in,
                    carry_out: *carry_out,
                };
                self.carry(warp, mask, pc, carry)
            }
            Op::SetpInt { compare, ty, p, q, a, b, combine } => {
                let targets = CompareTargets { p: *p, q: *q, combine: *combine };
                self.setp_int(warp, mask, pc, (*compare, *ty), [*a, *b], targets)
            }
            Op::SetpFloat { compare, format, flush, p, q, a, b, combine } => {
                let targets = CompareTargets { p: *p, q: *q, combine: *combine };
                self.setp_float(warp, mask, pc, (*compare, *format, *flush), [*a, *b], targets)
            }
            Op::Float1 { op, format, precision, d, a } => {
                let (shape, sources) = shape::Shape::of_one(*op, *format, *precision, *a);
                self.float(warp, mask, pc, shape, *d, &sources)
            }
            Op::Float2 { op, format, precision, clamp, d, a, b } => {
                let shape = shape::Shape::of_two(*op, *format, *precision, *clamp);
                self.float(warp, mask, pc, shape, *d, &[*a, *b])
            }
            Op::Fma { format, precision, clamp, d, a, b, c } => {
                let shape = shape::Shape::of_fma(*format, *precision, *clamp);
                self.float(warp, mask, pc, shape, *d, &[*a, *b, *c])
            }
            Op::Load { .. } | Op::Store { .. } => self.access(warp, mask, inst, pc),
            Op::Atomic { update, scope, space, address, alignment, releases, d, a, .. } => {
                let mask = mask & !self.access_by_cases(warp, mask, inst, pc)?;
                if mask.is_empty() {
                    return Ok(());
                }
                let place = (*space, *address, *alignment);
                self.atomic(warp, mask, pc, (*update, *scope, *releases), place, (*d, *a))
            }
            Op::Swap(swap) => self.swap(warp, mask, pc, swap),
            Op::Select { width, d, a, b, p } => self.select(warp, mask, pc, *width, *d, (*p, [*a, *b])),
            Op::Special { d, special, width } => self.special(warp, mask, pc, *d, *special, *width),
            Op::Pred2 { op, p, a, b } => self.pred2(warp, mask, pc, *op, *p, [*a, *b]),
            Op::PredMov { p, a } => {
                for lane in mask {
                    let truth = self.truth(warp, *a, lane, pc);
                    warp.predicate_mut(*p).set(lane, truth);
                }
                Ok(())
            }
            Op::PredConst { p, value } => {
                warp.predicate_mut(*p).merge_bits(mask, LaneMask::all_if(*value));
                Ok(())
            }
            Op::Pack { d, parts, part } => self.pack(warp, mask, *d, parts, *part),
            Op::Unpack { d, a, part } => self.unpack(warp, mask, pc, d, *a, *part),
            Op::IntToFloat { d, a, from, to, rounding } => {
                self.int_to_float(warp, mask, pc, (*d, *a), (*from, *to, *rounding))
            }
            Op::FloatToInt { d, a, from, to, rounding, flush } => {
                self.float_to_int(warp, mask, pc, (*d, *a), (*from, *flush), (*to, *rounding))
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
                self.cvt_float(warp, mask, pc, *d, *a, shape)
            }
            Op::Cvta { d, a, space, to, width } => self.cvta(warp, mask, pc, (*d, *a), (*space, *to), *width),
            Op::MapToCta { d, a, rank, space, width } => {
                self.map_to_cta(warp, mask, pc, (*d, *width), (*a, *space), *rank)
            }
            Op::CtaRankOf { d, a, space } => self.cta_rank_of(warp, mask, pc, *d, (*a, *space)),
            Op::IsSpace { p, a, space } => self.is_space(warp, mask, pc, *p, *a, *space),
            Op::ActiveMask { d } => {
                let is_known = !warp.diverged && mask == warp.live() && warp.live() == warp.exists;
                if !is_known && !self.options.rules.reconverged_masks {
                    let message =
                        "`activemask` after the lanes of the warp have diverged depends on the schedule"
                            .into();
                    let lane = mask.first();
                    return Err(self.fault(FaultKind::Nondeterministic, "S4", message, warp, lane, pc));
                }
                warp.register_mut(*d).merge(mask, &Register::broadcast(mask.bits().into()));
                Ok(())
            }
            Op::Enter { declared } => {
                self.enter(warp, mask, declared);
                Ok(())
            }
            Op::Nop => Ok(()),
            Op::Async(operation) => self.asynchronous(warp, mask, pc, operation),
            Op::Trap => {
                let message = "the kernel reaches a trap or a failed assertion".to_string();
                let lane = mask.first();
                Err(self.fault(FaultKind::Assertion, "R1", message, warp, lane, pc))
            }
            Op::Undetermined(reason) => {
                let lane = mask.first();
                let site = self.site("is not determined here".into(), warp, lane, pc);
                let help = "only the alignment of an address is known; compute with indices instead";
                Err(self.fault_at(
                    FaultKind::Nondeterministic,
                    "M1",
                    reason.clone(),
                    vec![site],
                    Some(help.into()),
                ))
            }
            Op::Unevaluated { d, p, a, predicates, is_collective: _, reason: _ } => {
                self.unevaluated(warp, mask, pc, (d, p), (a, predicates));
                Ok(())
            }
            Op::Unsupported { reason } => {
                let lane = mask.first();
                Err(self.fault(FaultKind::Unsupported, "S2", reason.clone(), warp, lane, pc))
            }
            Op::Shuffle { mode, d, p, a, b, c, mask: _ } => {
                self.shuffle(warp, mask, pc, *mode, (*d, *p), [*a, *b, *c])
            }
            Op::Vote { vote, p, a, mask: _ } => self.vote(warp, mask, pc, *vote, *p, *a),
            Op::Ballot { d, a, mask: _ } => self.ballot(warp, mask, pc, *d, *a),
            Op::MatchAny { d, a, width, mask: _ } => self.match_any(warp, mask, pc, *d, *a, *width),
            Op::MatchAll { d, p, a, width, mask: _ } => self.match_all(warp, mask, pc, (*d, *p), *a, *width),
            Op::Redux { op, d, a, mask: _ } => self.redux(warp, mask, pc, *op, *d, *a),
            Op::Elect { d, p, mask: _ } => self.elect(warp, mask, pc, (*d, *p)),
            Op::Mma { product, d, a, b, c } => self.mma(warp, pc, *product, d, [a, b, c]),
            Op::LoadMatrix { space, address, transposed, d } => {
                self.load_matrix(warp, pc, (*space, *address), *transposed, d)
            }
            Op::StoreMatrix { space, address, transposed, a } => {
                self.store_matrix(warp, pc, (*space, *address), *transposed, a)
            }
            Op::TransposeMatrix { d, a } => self.transpose_matrix(warp, pc, *d, *a),
            Op::LoadFragment { fragment, column_major, space, address, stride, d } => {
                self.load_fragment(warp, pc, (*fragment, *column_major), (*space, *address, *stride), d)
            }
            Op::StoreFragment { fragment, column_major, space, address, stride, a } => {
                self.store_fragment(warp, pc, (*fragment, *column_major), (*space, *address, *stride), a)
            }
            Op::MultiplyFragments { product, column_major, d, a, b, c } => {
                self.multiply_fragments(warp, pc, (*product, *column_major), d, [a, b, c])
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

    /// Entering a block or function again makes its registers, predicates and local variables undefined (V6).
    fn enter(&self, warp: &mut Warp, mask: LaneMask, declared: &Declared) {
        for register in &declared.registers {
            warp.register_mut(*register).merge(mask, &Register::unwritten());
        }
        for predicate in &declared.predicates {
            warp.predicate_mut(*predicate).forget(mask);
        }
        for variable in &declared.variables {
            let Some((first, cells)) = self.launch.objects.local_cells(*variable) else { continue };
            for cell in &mut warp.local[first..first + cells] {
                mask.iter().for_each(|lane| cell[lane] = Cell::UNWRITTEN);
            }
        }
    }

    /// Evaluates a guard for the lanes of `mask`. Where it depends on the input, the operation becomes a select (rule
    /// S1).
    pub(super) fn guarded(
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
        let (holds, symbolic) = self.guard_lanes(warp, mask, pc, guard)?;
        if symbolic.is_empty() {
            return Ok(Guarded::Lanes(holds));
        }
        if let Some(Control::Branch(target)) = inst.op.control() {
            let join = self.choose_sides(warp, symbolic, inst, pc, guard)?;
            if join.index() == self.launch.program.insts.len() {
                warp.exited |= symbolic;
                self.leave_cluster(warp, symbolic);
            }
            warp.go(symbolic, join);
            warp.go(holds, *target);
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
            self.choice_allowed(warp, symbolic, inst, pc, guard)?;
            self.execute(warp, holds, inst, pc)?;
        }
        self.choose_result(warp, symbolic, inst, pc, guard)?;
        Ok(Guarded::Done)
    }

    /// The lanes of `mask` for which a guard is known to hold, and those for which it depends on the input.
    fn guard_lanes(
        &self,
        warp: &Warp,
        mask: LaneMask,
        pc: InstId,
        guard: PredSrc,
    ) -> Result<(LaneMask, LaneMask), Stop> {
        let predicate = &warp.predicates[guard.pred.index()];
        if predicate.undefined.meets(mask) {
            let lane = (predicate.undefined & mask).first();
            let message = "an uninitialised guard predicate decides what is executed";
            return Err(self.undefined_predicate(warp, predicate.origin(lane), message, lane, pc));
        }
        let holds = if guard.negated { !predicate.bits } else { predicate.bits };
        let symbolic = predicate.sym & mask;
        Ok((holds & mask & !symbolic, symbolic))
    }

    /// A source as a register; an immediate or an address is broadcast into `scratch`.
    #[inline]
    pub(super) fn operand<'w>(
        &self,
        warp: &'w Warp,
        src: Src,
        scratch: &'w mut Option<Register>,
    ) -> &'w Register {
        let bits = match src {
            Src::Reg(id) => return warp.register(id),
            Src::Imm(bits) => bits,
            Src::Symbol(variable, offset) => {
                self.launch.objects.address(variable, warp.rank).wrapping_add_signed(offset)
            }
        };
        scratch.insert(Register::broadcast(bits))
    }

    /// The value of a source in one lane.
    #[inline]
    pub(super) fn value(&self, warp: &Warp, src: Src, lane: Lane) -> Value {
        match src {
            Src::Reg(id) => warp.register(id).get(lane),
            Src::Imm(bits) => Value::Bits(bits),
            Src::Symbol(variable, offset) => {
                Value::Bits(self.launch.objects.address(variable, warp.rank).wrapping_add_signed(offset))
            }
        }
    }

    /// The value of a source in one lane, if it is concrete.
    #[inline]
    pub(super) fn bits(&self, warp: &Warp, src: Src, lane: Lane) -> Option<u64> {
        match self.value(warp, src, lane) {
            Value::Bits(bits) => Some(bits),
            Value::Sym(_) | Value::Undefined(_) => None,
        }
    }

    /// The value of a source in one lane that must be concrete, because it steers the run as `what`.
    pub(super) fn concrete(
        &self,
        warp: &Warp,
        src: Src,
        lane: Lane,
        pc: InstId,
        what: &str,
    ) -> Result<u64, Stop> {
        match self.value(warp, src, lane) {
            Value::Bits(bits) => Ok(bits),
            value @ (Value::Sym(_) | Value::Undefined(_)) => {
                Err(self.not_concrete(warp, value, lane, pc, what))
            }
        }
    }

    /// The fault of a value that steers the run but is not known (rules S1, V6).
    #[cold]
    pub(super) fn not_concrete(&self, warp: &Warp, value: Value, lane: Lane, pc: InstId, what: &str) -> Stop {
        let undefined = self.packed.undefined_part(value);
        if undefined.is_some_and(|origin| self.is_in_doubt(origin)) {
            return Stop::Doubtful;
        }
        match undefined {
            Some(origin) => {
                let (kind, why) = self.undefined_reason(origin);
                let rule = rule_of(kind);
                self.undefined_fault((kind, rule), format!("{what} is {why}"), origin, (warp, lane, pc))
            }
            None => {
                let message = format!("{what} depends on the input: {}", self.describe_value(value));
                let site = self.site("depends on the input".into(), warp, lane, pc);
                let given = match value {
                    Value::Sym(sym) => self.to_be_given(&self.terms_of(sym)),
                    Value::Bits(_) | Value::Undefined(_) => None,
                };
                let help = given.unwrap_or_else(|| {
                    "addresses, branches and barriers must be the same for all inputs of the given sizes (S1)".into()
                });
                self.fault_at(FaultKind::InputDependentControl, "S1", message, vec![site], Some(help))
            }
        }
    }

    /// The fault of an undefined predicate that decides something; `message` is for a predicate that was never written.
    #[cold]
    pub(super) fn undefined_predicate(
        &self,
        warp: &Warp,
        origin: Origin,
        message: &str,
        lane: Lane,
        pc: InstId,
    ) -> Stop {
        if self.is_in_doubt(origin) {
            return Stop::Doubtful;
        }
        let (kind, why) = self.undefined_reason(origin);
        let decides = format!("the predicate that decides here is {why}");
        let (rule, message) = match self.packed.leaf(origin) {
            Origin::Unwritten(_) => ("V6", message.to_owned()),
            Origin::Unpredictable(_) | Origin::State(_) | Origin::Columns(_) => ("S4", decides),
            Origin::Unevaluated(_) => ("S2", decides),
            Origin::Invalid(_) | Origin::Doubtful(_) | Origin::Partly(_) => {
                ("V6", format!("{decides}: an operation that it depends on has no value"))
            }
        };
        self.undefined_fault((kind, rule), message, origin, (warp, lane, pc))
    }

    /// The fault of using an undefined value, with the place where it became undefined.
    #[cold]
    pub(super) fn undefined_fault(
        &self,
        (kind, rule): (FaultKind, &'static str),
        message: String,
        origin: Origin,
        (warp, lane, pc): (&Warp, Lane, InstId),
    ) -> Stop {
        let use_site = self.site("uses the value".into(), warp, lane, pc);
        let became = origin_site(self.launch, self.packed.leaf(origin));
        let sites = std::iter::once(use_site).chain(became).collect();
        let stop = self.fault_at(kind, rule, message, sites, undefined_help(kind).map(str::to_owned));
        match (stop, origin.number()) {
            (Stop::Fault(fault), Some(at)) => self.where_undefined(*fault, at, self.guards.of(lane)),
            (stop, _) => stop,
        }
    }

    /// The kind of fault that using an undefined value is, with its description.
    pub(super) fn undefined_reason(&self, origin: Origin) -> (FaultKind, &'static str) {
        match self.packed.leaf(origin) {
            Origin::Unwritten(_) if origin.number().is_some() => (
                FaultKind::Uninitialised,
                "read from memory or registers that are written for some inputs only",
            ),
            Origin::Unwritten(_) => (FaultKind::Uninitialised, "read from uninitialised memory or registers"),
            Origin::Unpredictable(_) => (FaultKind::Nondeterministic, "not determined by the launch"),
            Origin::Invalid(_) | Origin::Doubtful(_) | Origin::Partly(_) => {
                (FaultKind::Undefined, "undefined")
            }
            Origin::Unevaluated(_) => {
                (FaultKind::Unsupported, "the result of an instruction whose value is not supported")
            }
            Origin::State(_) => (
                FaultKind::Nondeterministic,
                "the state of a barrier, whose bits only have a meaning for barriers",
            ),
            Origin::Columns(_) => (
                FaultKind::Nondeterministic,
                "an address of tensor memory, whose bits only have a meaning there",
            ),
        }
    }

    /// The terms of which a symbolic value consists.
    pub(super) fn terms_of(&self, sym: Sym) -> Vec<TermId> {
        match sym.kind() {
            SymKind::Real(_, term) | SymKind::Int(_, term) | SymKind::Half64(_, term) => vec![term],
            SymKind::Pair(_, low, high) => vec![low, high],
            SymKind::Packed(_) => {
                let parts = self.packed.parts_of(Value::Sym(sym));
                parts.into_iter().flat_map(|part| self.terms_of(part)).collect()
            }
            SymKind::Choice(index) | SymKind::Partly(index) => vec![self.packed.choice(index).condition],
            SymKind::Fragment { .. } | SymKind::Answer(_) | SymKind::Ticket(_) => Vec::new(),
        }
    }

    /// Names what the case can fix so that none of the terms depends on the input.
    pub(super) fn to_be_given(&self, terms: &[TermId]) -> Option<String> {
        to_be_given(self.launch, &self.store, terms)
    }

    /// A term as text.
    pub(super) fn describe(&self, term: TermId) -> String {
        let input = |input, element| self.launch.element_name(input, element);
        // The layout of objects is not determined, so addresses are printed by their objects.
        let number = |value: &Rational| {
            let address = value.to_u64()?;
            let narrow = || self.launch.objects.find(Space::Shared, address);
            let (space, inner) = from_generic(address);
            let (object, offset) = self.launch.objects.find(space, inner).or_else(narrow)?;
            let object = self.launch.objects.get(object);
            // Small numbers are printed as numbers.
            (0..=object.size as i64).contains(&offset).then(|| format!("&{}", object.name))
        };
        // Printed as deep as fits in one or two lines.
        let mut text = String::new();
        for depth in (1..=6).rev() {
            text = expression(&self.store, term, depth, &input, &number);
            if text.chars().count() <= LONGEST_TERM {
                break;
            }
        }
        text
    }

    /// A value as text.
    pub(super) fn describe_value(&self, value: Value) -> String {
        match value {
            Value::Bits(_) => "a known integer".into(),
            Value::Undefined(_) => "an undefined value".into(),
            Value::Sym(sym) => match sym.kind() {
                SymKind::Real(_, term) | SymKind::Int(_, term) => self.describe(term),
                SymKind::Half64(_, term) => format!("half of {}", self.describe(term)),
                SymKind::Pair(format, low, high) => {
                    format!(
                        "{} and {} side by side, each {}",
                        self.describe(low),
                        self.describe(high),
                        format.name()
                    )
                }
                SymKind::Packed(_) => {
                    let parts = self.packed.parts_of(value);
                    let shown =
                        parts.iter().take(MOST_PARTS).map(|part| self.describe_value(Value::Sym(*part)));
                    match shown.collect::<Vec<_>>().join(", ") {
                        none if none.is_empty() => "several values packed together".into(),
                        some => format!("several values side by side ({some})"),
                    }
                }
                SymKind::Fragment { .. } => "an unspecified element of a `wmma` fragment".into(),
                SymKind::Answer(_) => "whether a phase of a barrier was complete when it was tested".into(),
                SymKind::Ticket(_) => "what an atomic operation found".into(),
                SymKind::Partly(index) => {
                    format!("a value or nothing, by {}", self.describe(self.packed.choice(index).condition))
                }
                SymKind::Choice(index) => {
                    // The integers themselves are not printed: they may be addresses, which are not determined.
                    let choice = self.packed.choice(index);
                    format!("one of two integers, by {}", self.describe(choice.condition))
                }
            },
        }
    }

    /// The value of a predicate source in one lane.
    pub(super) fn truth(&mut self, warp: &Warp, src: PredSrc, lane: Lane, pc: InstId) -> Truth {
        let truth = warp.predicates[src.pred.index()].get(lane);
        if !src.negated {
            return truth;
        }
        match truth {
            Truth::Known(value) => Truth::Known(!value),
            Truth::Condition(term) => Truth::Condition(self.store.apply(TermOp::Not, &[term], pc)),
            Truth::Undefined(origin) => Truth::Undefined(origin),
            Truth::Answer(answer) => self.answer_of(answer, |holds| 1 - holds),
        }
    }

    fn pred2(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        op: Bool2,
        p: PredId,
        [a, b]: [PredSrc; 2],
    ) -> Result<(), Stop> {
        let (x, y) = (&warp.predicates[a.pred.index()], &warp.predicates[b.pred.index()]);
        if !(x.sym | y.sym | x.undefined | y.undefined).meets(mask) {
            let flip = |negated: bool| LaneMask::all_if(negated);
            let (x, y) = (x.bits ^ flip(a.negated), y.bits ^ flip(b.negated));
            let result = match op {
                Bool2::And => x & y,
                Bool2::Or => x | y,
                Bool2::Xor => x ^ y,
            };
            warp.predicate_mut(p).merge_bits(mask, result);
            return Ok(());
        }
        for lane in mask {
            let (x, y) = (self.truth(warp, a, lane, pc), self.truth(warp, b, lane, pc));
            let result = self.combine(op, x, y, pc);
            warp.predicate_mut(p).set(lane, result);
        }
        Ok(())
    }

    /// Combines two truth values; a known operand may decide alone.
    pub(super) fn combine(&mut self, op: Bool2, x: Truth, y: Truth, pc: InstId) -> Truth {
        use Truth::{Answer, Condition, Known, Undefined};
        match (op, x, y) {
            (Bool2::And, Known(false), _) | (Bool2::And, _, Known(false)) => Known(false),
            (Bool2::Or, Known(true), _) | (Bool2::Or, _, Known(true)) => Known(true),
            (_, Answer(answer), Known(known)) | (_, Known(known), Answer(answer)) => {
                let flips = op == Bool2::Xor && known;
                self.answer_of(answer, |holds| holds ^ u64::from(flips))
            }
            (_, Answer(answer), _) | (_, _, Answer(answer)) => Undefined(self.unpredictable(answer)),
            // Where one is defined, it may decide.
            (Bool2::And | Bool2::Or, Undefined(one), Undefined(other))
                if one.number().or(other.number()).is_some() && one.or(other).is_by_case() =>
            {
                Undefined(Origin::Unevaluated(pc))
            }
            (_, Undefined(one), Undefined(other)) => Undefined(one.or(other)),
            (Bool2::And, Condition(term), undefined @ Undefined(_))
            | (Bool2::And, undefined @ Undefined(_), Condition(term)) => {
                self.partly_truth(term, undefined, Known(false))
            }
            (Bool2::Or, Condition(term), undefined @ Undefined(_))
            | (Bool2::Or, undefined @ Undefined(_), Condition(term)) => {
                self.partly_truth(term, Known(true), undefined)
            }
            (_, undefined @ Undefined(_), _) | (_, _, undefined @ Undefined(_)) => undefined,
            (Bool2::And, Known(true), other) | (Bool2::And, other, Known(true)) => other,
            (Bool2::Or, Known(false), other) | (Bool2::Or, other, Known(false)) => other,
            (Bool2::Xor, Known(false), other) | (Bool2::Xor, other, Known(false)) => other,
            (Bool2::Xor, Known(true), Known(value)) => Known(!value),
            (Bool2::Xor, Known(true), Condition(term)) | (Bool2::Xor, Condition(term), Known(true)) => {
                Condition(self.store.apply(TermOp::Not, &[term], pc))
            }
            (_, Condition(x), Condition(y)) => {
                let op = match op {
                    Bool2::And => TermOp::And,
                    Bool2::Or => TermOp::Or,
                    Bool2::Xor => TermOp::Xor,
                };
                Condition(self.store.apply(op, &[x, y], pc))
            }
        }
    }

    fn mov(&mut self, warp: &mut Warp, mask: LaneMask, d: RegId, a: Src, width: Width) -> Result<(), Stop> {
        let mut scratch = None;
        let mut result = self.operand(warp, a, &mut scratch).clone();
        if width != Width::W64 && result.is_concrete(mask) {
            let low = width.mask();
            for word in result.words_mut() {
                *word &= low;
            }
        }
        warp.register_mut(d).merge(mask, &result);
        Ok(())
    }

    fn special(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        d: RegId,
        special: Special,
        width: Width,
    ) -> Result<(), Stop> {
        let [block, grid] = [self.launch.block, self.launch.grid];
        let (launch, cluster) = (self.launch, self.launch.cluster);
        let cta = launch.cta(self.linear, warp.rank);
        let own: [u32; 3] = std::array::from_fn(|at| cta[at] % cluster[at]);
        let of_grid = |extent: [u32; 3]| std::array::from_fn(|at| extent[at] / cluster[at]);
        let clusters: ([u32; 3], [u32; 3]) = (of_grid(cta), of_grid(grid));
        let of = |extent: [u32; 3], dimension: u8| u64::from(extent[usize::from(dimension.min(2))]);
        let mut bits = [0u64; 32];
        for (lane, word) in Lane::all().zip(&mut bits) {
            let one = 1u64 << lane.number();
            let low = u64::from(u32::MAX);
            *word = match special {
                Special::Tid(n) => of(launch.thread_index(warp.thread(lane)), n),
                Special::Ntid(n) => of(block, n),
                Special::Ctaid(n) => of(cta, n),
                Special::Nctaid(n) => of(grid, n),
                Special::LaneId => u64::from(lane.number()),
                Special::LaneMaskEq => one,
                Special::LaneMaskLt => one - 1,
                Special::LaneMaskLe => one | (one - 1),
                Special::LaneMaskGt => low & !(one | (one - 1)),
                Special::LaneMaskGe => low & !(one - 1),
                Special::DynamicSharedSize => u64::from(self.launch.dynamic_shared),
                Special::ClusterId(n) => of(clusters.0, n),
                Special::NClusterId(n) => of(clusters.1, n),
                Special::ClusterNctaId(n) => of(cluster, n),
                Special::ClusterNctaRank => launch.cluster_ranks().into(),
                Special::ClusterCtaId(n) => of(own, n),
                Special::ClusterCtaRank => launch.rank_in_cluster(warp.rank).into(),
                Special::ExplicitCluster => u64::from(launch.is_explicit),
                Special::Workspace { high } => {
                    launch.workspace.map_or(0, |address| if high { address >> 32 } else { address & low })
                }
                // Undefined from here on: using it is the fault of rule S4.
                Special::Unpredictable => 0,
            } & width.mask();
        }
        let is_unknown = matches!(special, Special::Workspace { .. }) && launch.workspace.is_none();
        if special == Special::Unpredictable || is_unknown {
            for lane in mask {
                warp.register_mut(d).set(lane, Value::Undefined(Origin::Unpredictable(pc)));
            }
            return Ok(());
        }
        warp.register_mut(d).merge_bits(mask, &bits);
        Ok(())
    }
}
