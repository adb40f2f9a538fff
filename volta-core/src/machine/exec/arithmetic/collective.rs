//! Warp collectives (rule Y4): the lanes of a mask meet at one instruction and exchange values. They order no
//! memory.

use super::integer::Integer;
use crate::base::assumption::Assumption;
use crate::base::lane::{Lane, LaneMask};
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::Arithmetic;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::{Collective, ValueTerms};
use crate::machine::group::warp::{At, Step, Warp};
use crate::number::format::Format;
use crate::program::{
    Async, Bool2, Clamp, Groups, Inst, InstId, Members, Op, Precision, PredId, PredSrc, Reduction, RegId,
    Shuffle, Src, Vote, Width,
};
use crate::term::{TermId, TermOp, View};
use crate::value::float_inst::Shape;
use crate::value::int_terms::whole;
use crate::value::{Origin, Sym, Truth, Value};
use crate::verdict::FaultKind;
use rustc_hash::FxHashSet;

impl Cta<'_> {
    /// Executes the collective for those lanes of `group` whose whole mask has arrived, and returns them.
    pub(crate) fn try_collective(
        &mut self,
        warp: &mut Warp,
        group: LaneMask,
        inst: &Inst,
        pc: InstId,
        members: Members,
    ) -> Result<LaneMask, Stop> {
        let Members::Mask(mask) = members else {
            return self.try_matrix(Step { warp, mask: group, pc }, inst);
        };
        let mut done = LaneMask::NONE;
        let mut rest = group;
        while !rest.is_empty() {
            let first = rest.first();
            let mask_of = |lane| {
                let mask = self.values.terms.concrete(warp, mask, lane, pc, "a collective's mask")?;
                Ok::<_, Stop>(LaneMask::from_bits(mask as u32))
            };
            let members = mask_of(first)?;
            let mut same = LaneMask::NONE;
            for lane in rest {
                let own = mask_of(lane)?;
                if !own.contains(lane) {
                    return Err(self.context.left_out_of_mask(warp, (lane, own, rest), pc));
                }
                if own == members {
                    same |= LaneMask::of(lane);
                }
            }
            rest &= !same;
            if !(members & warp.live()).is_within(same) {
                continue;
            }
            self.values.terms.count_returned_lanes(warp, members, (first, pc))?;
            self.execute(warp, same, inst, pc)?;
            warp.meet(same);
            if self.context.options.rules.warp_collectives_order_memory {
                self.sync.order_lanes(warp, same, members);
            }
            self.sync.order_lanes_in_time(warp, same);
            done |= same;
        }
        Ok(done)
    }

    /// Matrix instructions need all 32 lanes, and `setmaxnreg` all that have not returned.
    fn try_matrix(&mut self, step: Step<'_>, inst: &Inst) -> Result<LaneMask, Stop> {
        let Step { warp, mask: group, pc } = step;
        if let Op::Async(Async::SetRegisters { count, takes }) = inst.op {
            return self.set_registers(warp, group, pc, (count, takes));
        }
        if !warp.live().is_all() {
            let lane = group.first();
            let missing = (!warp.live()).first();
            let why = if warp.exists.contains(missing) { "has returned" } else { "does not exist" };
            let message =
                format!("a matrix instruction needs all 32 lanes of a warp, and lane {missing} {why}");
            return Err(self.context.fault(FaultKind::BarrierDivergence, "Y4", message, warp, lane, pc));
        }
        if !group.is_all() {
            return Ok(LaneMask::NONE);
        }
        if let Op::Async(Async::Wait { groups: Groups::Products, pending, .. }) = &inst.op
            && !self.sync.are_started(warp, pending.unwrap_or(0))
        {
            return Ok(LaneMask::NONE);
        }
        if let Op::Async(Async::Tensor(operation)) = &inst.op
            && operation.is_of_both()
            && !self.asynchronous().meets_peer(warp, pc)?
        {
            return Ok(LaneMask::NONE);
        }
        // All lanes have come before any of them accesses memory here.
        if self.context.options.rules.warp_collectives_order_memory {
            self.sync.order_lanes(warp, LaneMask::ALL, LaneMask::ALL);
        }
        self.execute(warp, LaneMask::ALL, inst, pc)?;
        warp.meet(LaneMask::ALL);
        if self.context.options.rules.warp_collectives_order_memory {
            self.sync.order_lanes(warp, LaneMask::ALL, LaneMask::ALL);
        }
        self.sync.order_lanes_in_time(warp, LaneMask::ALL);
        Ok(LaneMask::ALL)
    }
}

impl Arithmetic<'_, '_> {
    /// Combines the values of all lanes.
    pub(crate) fn redux(&mut self, step: Step<'_>, op: Reduction, d: RegId, a: Src) -> Result<(), Stop> {
        let what = "a value that lanes combine";
        let values = step.mask.iter().map(|lane| match self.context.value(step.warp, a, lane) {
            Value::Bits(bits) => Ok(Value::Bits(bits & Width::W32.mask())),
            value @ (Value::Undefined(_) | Value::Sym(_)) => {
                match self.values.terms.packed.undefined_part(value) {
                    Some(_) => Err(self.values.terms.not_concrete(step.warp, value, lane, step.pc, what)),
                    None => Ok(value),
                }
            }
        });
        let values: Vec<Value> = values.collect::<Result<_, _>>()?;
        let result = self.reduced(step.at(step.warp.live().first()), op, &values)?;
        step.warp.register_mut(d).fill(step.mask, result);
        Ok(())
    }

    /// The combined values of lanes, by an operation that commutes.
    fn reduced(&mut self, at: At<'_>, op: Reduction, values: &[Value]) -> Result<Value, Stop> {
        let (first, rest) = values.split_first().unwrap_or((&Value::Bits(0), &[]));
        rest.iter().try_fold(*first, |sum, value| {
            let words = [sum, *value];
            match op {
                Reduction::Integer(op, ty) => {
                    let both = self.values.reals().integer_value(&Integer::Two(op, ty, words), at.pc);
                    both.ok_or_else(|| self.values.terms.computes_with_encoding(at, &words))
                }
                Reduction::Float(op) => {
                    let shape = Shape::of_two(op, Format::F32, Precision::NEAREST, Clamp::None);
                    let [x, y] = words.map(|word| self.values.reals().real(at, word, Format::F32));
                    match (x?, y?) {
                        (Some(x), Some(y)) => Ok(self.float_value(shape, &[x, y], at.pc)),
                        // A NaN, which no value is assumed to be.
                        (None, _) | (_, None) => Ok(Value::Undefined(Origin::Invalid(at.pc))),
                    }
                }
            }
        })
    }
}

impl Collective<'_, '_> {
    /// Each lane reads another lane's value.
    pub(crate) fn shuffle(
        &mut self,
        mode: Shuffle,
        (d, p): (Option<RegId>, Option<PredId>),
        [a, b, c]: [Src; 3],
    ) -> Result<(), Stop> {
        let mut results = [(Value::Bits(0), false); 32];
        for lane in self.members {
            let b = self.terms.concrete(self.warp, b, lane, self.pc, "a shuffle's lane")?;
            let c = self.terms.concrete(self.warp, c, lane, self.pc, "a shuffle's clamp")?;
            let (source, inside) = shuffle_source(mode, lane, b, c);
            let from = if inside { source } else { lane };
            // Only the value is undefined (V6), not whether the lane exists.
            let value = if self.members.contains(from) {
                self.terms.context.value(self.warp, a, from)
            } else {
                Value::Undefined(Origin::Unwritten(self.pc))
            };
            results[lane] = (value, inside);
        }
        for lane in self.members {
            self.set((d, p), lane, results[lane]);
        }
        Ok(())
    }

    /// Sets the destinations of one lane.
    fn set(&mut self, (d, p): (Option<RegId>, Option<PredId>), lane: Lane, (value, holds): (Value, bool)) {
        if let Some(d) = d {
            self.warp.register_mut(d).set(lane, value);
        }
        if let Some(p) = p {
            self.warp.predicate_mut(p).set(lane, Truth::Known(holds));
        }
    }

    /// Whether a predicate holds in all lanes, in any, or uniformly.
    pub(crate) fn vote(&mut self, vote: Vote, p: PredId, a: PredSrc) -> Result<(), Stop> {
        let truths = self.truths(a);
        if is_decided_by_input(&truths) {
            let truth = self.vote_on_conditions(vote, &truths);
            for lane in self.members {
                self.warp.predicate_mut(p).set(lane, truth);
            }
            return Ok(());
        }
        let ballot = self.lanes_where(a)?;
        let result = match vote {
            Vote::All => ballot == self.members,
            Vote::Any => !ballot.is_empty(),
            Vote::Uni => ballot == self.members || ballot.is_empty(),
        };
        self.warp.predicate_mut(p).merge_bits(self.members, LaneMask::all_if(result));
        Ok(())
    }

    fn truths(&mut self, a: PredSrc) -> Vec<(Lane, Truth)> {
        self.members.iter().map(|lane| (lane, self.terms.truth(self.warp, a, lane, self.pc))).collect()
    }

    /// What lanes find together, of which each has a condition on inputs or knows the answer: the same for all of them.
    fn vote_on_conditions(&mut self, vote: Vote, truths: &[(Lane, Truth)]) -> Truth {
        let pc = self.pc;
        let truths: Vec<Truth> = truths.iter().map(|(_, truth)| *truth).collect();
        let [all, any] = [Bool2::And, Bool2::Or].map(|op| found_together(self.terms, op, &truths, pc));
        match vote {
            Vote::All => all,
            Vote::Any => any,
            Vote::Uni => {
                let none = self.terms.combine(Bool2::Xor, any, Truth::Known(true), pc);
                self.terms.combine(Bool2::Or, all, none, pc)
            }
        }
    }

    /// The lanes in which a predicate holds, as a bit mask.
    pub(crate) fn ballot(&mut self, d: RegId, a: PredSrc) -> Result<(), Stop> {
        let truths = self.truths(a);
        let ballot = if is_decided_by_input(&truths) {
            self.ballot_of_conditions(&truths)
        } else {
            Value::Bits(self.lanes_where(a)?.bits().into())
        };
        self.warp.register_mut(d).fill(self.members, ballot);
        Ok(())
    }

    /// A sum of a power of two for each lane whose condition holds.
    fn ballot_of_conditions(&mut self, truths: &[(Lane, Truth)]) -> Value {
        let zero = whole(&mut self.terms.store, 0);
        let mut sum: Option<TermId> = None;
        for (lane, truth) in truths {
            let digit = whole(&mut self.terms.store, 1 << lane.number());
            let own = match truth {
                Truth::Known(true) => digit,
                Truth::Condition(term) => {
                    self.terms.store.apply(TermOp::Select, &[*term, digit, zero], self.pc)
                }
                Truth::Known(false) | Truth::Undefined(_) | Truth::Answer(_) => continue,
            };
            sum = Some(sum.map_or(own, |sum| self.terms.store.apply(TermOp::Add, &[sum, own], self.pc)));
        }
        Value::Sym(Sym::int(4, sum.unwrap_or(zero)))
    }

    /// For each lane, the lanes with the same value.
    pub(crate) fn match_any(&mut self, d: RegId, a: Src, width: Width) -> Result<(), Stop> {
        let values = self.concrete_lanes(a, width)?;
        for lane in self.members {
            let same = self.members.iter().filter(|other| values[*other] == values[lane]);
            let same = same.collect::<LaneMask>();
            self.warp.register_mut(d).set(lane, Value::Bits(same.bits().into()));
        }
        Ok(())
    }

    /// Whether all lanes have the same value.
    pub(crate) fn match_all(
        &mut self,
        (d, p): (Option<RegId>, Option<PredId>),
        a: Src,
        width: Width,
    ) -> Result<(), Stop> {
        let values = self.concrete_lanes(a, width)?;
        let first = self.members.first();
        let all = self.members.iter().all(|lane| values[lane] == values[first]);
        let same = Value::Bits(if all { self.members.bits().into() } else { 0 });
        for lane in self.members {
            self.set((d, p), lane, (same, all));
        }
        Ok(())
    }

    /// One of the lanes.
    pub(crate) fn elect(&mut self, (d, p): (Option<RegId>, PredId)) -> Result<(), Stop> {
        // The ISA does not say which lane leads; hardware is observed to choose the lowest one.
        if self.terms.context.options.rules.strict_election && self.members.count() > 1 {
            let message = "which lane `elect.sync` chooses is not specified, and the option `strict_election` \
                           assumes none";
            let at = At { warp: self.warp, lane: self.members.first(), pc: self.pc };
            return Err(self.terms.context.fault_of(at, FaultKind::Unsupported, "Y4", message.to_string()));
        }
        let assumption = Assumption::relied("`elect.sync` is assumed to choose the lowest lane");
        self.terms.relied.others.insert(assumption);
        let leader = self.members.first();
        for lane in self.members {
            self.set((d, Some(p)), lane, (Value::Bits(leader.number().into()), lane == leader));
        }
        Ok(())
    }

    fn lanes_where(&mut self, a: PredSrc) -> Result<LaneMask, Stop> {
        let mut holds = LaneMask::NONE;
        for lane in self.members {
            if self.terms.known_truth(self.warp, a, lane, self.pc)? {
                holds.insert(lane);
            }
        }
        Ok(holds)
    }

    fn concrete_lanes(&self, a: Src, width: Width) -> Result<[u64; 32], Stop> {
        let mut out = [0; 32];
        for lane in self.members {
            out[lane] = self.terms.concrete(self.warp, a, lane, self.pc, "a value that lanes combine")?
                & width.mask();
        }
        Ok(out)
    }
}

/// What threads find together.
pub(crate) fn found_together(terms: &mut ValueTerms<'_>, op: Bool2, truths: &[Truth], pc: InstId) -> Truth {
    let (mut joined, mut seen) = (Truth::Known(op == Bool2::And), FxHashSet::default());
    for next in truths {
        let made = match next {
            Truth::Condition(term) => match terms.store.view(*term) {
                View::Apply(op, operands) => Some((op, operands)),
                View::Input { .. } | View::Constant(_) => None,
            },
            Truth::Known(_) | Truth::Undefined(_) | Truth::Answer(_) => None,
        };
        if op == Bool2::Xor || made.is_none_or(|made| seen.insert(made)) {
            joined = terms.combine(op, joined, *next, pc);
        }
    }
    joined
}

/// The number of conditions that hold.
pub(crate) fn count_of(terms: &mut ValueTerms<'_>, truths: &[Truth], pc: InstId) -> Value {
    let known = truths.iter().filter(|truth| **truth == Truth::Known(true)).count();
    let [zero, one] = [0, 1].map(|number| whole(&mut terms.store, number));
    let mut sum: Option<TermId> = None;
    for truth in truths {
        let Truth::Condition(term) = *truth else { continue };
        let own = terms.store.apply(TermOp::Select, &[term, one, zero], pc);
        sum = Some(sum.map_or(own, |sum| terms.store.apply(TermOp::Add, &[sum, own], pc)));
    }
    let Some(mut sum) = sum else { return Value::Bits(known as u64) };
    if known > 0 {
        let known = whole(&mut terms.store, known as i128);
        sum = terms.store.apply(TermOp::Add, &[sum, known], pc);
    }
    Value::Sym(Sym::int(4, sum))
}

/// Whether lanes have conditions on inputs, and each has one or knows the answer.
fn is_decided_by_input(truths: &[(Lane, Truth)]) -> bool {
    let are_followed = truths.iter().all(|(_, truth)| matches!(truth, Truth::Known(_) | Truth::Condition(_)));
    are_followed && truths.iter().any(|(_, truth)| matches!(truth, Truth::Condition(_)))
}

/// Which lane a shuffle reads, and whether it lies inside the segment.
fn shuffle_source(mode: Shuffle, lane: Lane, b: u64, c: u64) -> (Lane, bool) {
    let lane = i64::from(lane.number());
    let (b, clamp, segment) = ((b & 31) as i64, (c & 31) as i64, (c >> 8 & 31) as i64);
    let max = lane & segment | clamp & !segment;
    let min = lane & segment;
    let (source, inside) = match mode {
        Shuffle::Up => (lane - b, lane - b >= max),
        Shuffle::Down => (lane + b, lane + b <= max),
        Shuffle::Bfly => (lane ^ b, lane ^ b <= max),
        Shuffle::Idx => (min | b & !segment, (min | b & !segment) <= max),
    };
    (Lane::new(source.clamp(0, 31) as u32), inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_read_the_lanes_that_the_isa_says() {
        let source = |mode, lane, b, c| {
            let (from, inside) = shuffle_source(mode, Lane::new(lane), b, c);
            (from.number(), inside)
        };
        assert_eq!(source(Shuffle::Bfly, 5, 16, 31), (21, true));
        assert_eq!(source(Shuffle::Down, 20, 16, 31), (31, false));
        assert_eq!(source(Shuffle::Down, 3, 4, 31), (7, true));
        assert!(!source(Shuffle::Up, 3, 4, 0).1);
        assert_eq!(source(Shuffle::Up, 7, 4, 0), (3, true));
        // Segments of 16: c = 0x101f for butterfly and index, lane 20 is in the second one.
        assert_eq!(source(Shuffle::Idx, 20, 3, 0x101f), (19, true));
        assert_eq!(source(Shuffle::Bfly, 20, 8, 0x101f), (28, true));
    }
}
