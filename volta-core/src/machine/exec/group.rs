//! Groups of threads that execute an operation together: one thread, a warp, or all threads of a CTA (rule Y8).
//!
//! This is the first domain in which an operation is tried. Operands and results are affine in the thread number, and
//! the result is computed once for the whole group. For a single thread this always holds. Where it does not hold, the
//! lanes execute the operation one by one.

use super::threads::{Group, reals};
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::{Accesses, Arithmetic};
use crate::machine::exec::arithmetic::affine::{affine_compare, affine_convert, affine2, affine3, narrowed};
use crate::machine::exec::arithmetic::float::raw_reals;
use crate::machine::exec::arithmetic::ieee::{IeeeInst, clamp_key};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::values::Reals;
use crate::number::format::Format;
use crate::program::{Address, Clamp, Inst, InstId, Op, RegId, Space, Src, Width};
use crate::term::{IeeeKey, IeeeOp, TermId, TermOp};
use crate::value::Value;
use crate::value::float_inst::{FloatInst, Shape};
use crate::value::int_terms::whole;
use crate::value::register::{Affine, Held};
use smallvec::SmallVec;

impl Cta<'_> {
    /// Executes an operation once for all threads of a group. Returns false where it has to be executed lane by lane;
    /// nothing has then been done that may not be repeated.
    #[inline]
    pub(crate) fn execute_together<const B: usize>(
        &mut self,
        group: &mut impl Group<B>,
        inst: &Inst,
        pc: InstId,
    ) -> Result<bool, Stop> {
        if self.values.terms.store.is_ieee()
            && let Some(ieee) = IeeeInst::of(&inst.op)
        {
            return Ok(self.values.reals().ieee_together(group, pc, &ieee));
        }
        if let Some(FloatInst { shape, d, sources }) = FloatInst::of(&inst.op) {
            return Ok(match sources[..] {
                [a] => self.arithmetic().float_together(group, pc, shape, d, [a]),
                [a, b] => self.arithmetic().float_together(group, pc, shape, d, [a, b]),
                [a, b, c] => self.arithmetic().float_together(group, pc, shape, d, [a, b, c]),
                _ => false,
            });
        }
        if let Op::Load { space, address, width, d, access, .. } = &inst.op {
            let is_plain = !access.leads_nowhere && access.ahead_of.is_none() && self.patterns.is_none();
            return Ok(is_plain && self.accesses().load_together(group, (*space, *address), *width, d)?);
        }
        if let Op::Store { space, address, width, a, access, .. } = &inst.op {
            let is_plain = !access.leads_nowhere && self.patterns.is_none();
            return Ok(is_plain && group.store(&mut self.accesses(), (*space, *address), *width, a)?);
        }
        if let Op::SetpInt { compare, ty, p, q: None, a, b, combine: None } = &inst.op {
            let numbers = self.context.numbers_of(group, [*a, *b]);
            let holds = numbers.and_then(|[x, y]| affine_compare(*compare, *ty, x, y));
            if let Some(holds) = holds {
                group.decide(*p, holds);
            }
            return Ok(holds.is_some());
        }
        let result = affine_result(self, group, &inst.op);
        if let Some((d, held)) = result {
            group.hold(d, held);
        }
        Ok(result.is_some())
    }
}

/// What an operation that moves, converts or computes integers writes in all threads, if that is affine; `None` for
/// all others.
#[inline(always)]
fn affine_result<const B: usize>(
    cta: &Cta<'_>,
    group: &mut impl Group<B>,
    op: &Op,
) -> Option<(RegId, Held<B>)> {
    let (d, words) = if let Op::Mov { d, a, width } = op {
        let held = cta.context.held_by(group, *a)?;
        if held.symbolic {
            return Some((*d, held));
        }
        (*d, narrowed(*width, held.words))
    } else if let Op::Int2 { op, ty, d, a, b } = op {
        let [x, y] = cta.context.numbers_of(group, [*a, *b])?;
        (*d, affine2(*op, *ty, x, y))
    } else if let Op::Int3 { op, ty, d, a, b, c } = op {
        (*d, affine3(*op, *ty, cta.context.numbers_of(group, [*a, *b, *c])?))
    } else if let Op::CvtInt { d, a, from, to, saturate } = op {
        let [x] = cta.context.numbers_of(group, [*a])?;
        (*d, affine_convert(*from, *to, *saturate, x))
    } else if let Op::CvtFloat { d, a, from, to, integral: None, clamp: Clamp::None, .. } = op
        && !cta.values.terms.store.is_ieee()
    {
        // The same reals in another format (rule V2).
        let held = cta.context.held_by(group, *a).filter(|held| held.symbolic)?;
        let terms = raw_reals(held.words, *from)?;
        let may_be_known = cta.values.numbers.known.may_contain(terms.min_max());
        return (!may_be_known).then(|| (*d, reals(*to, terms)));
    } else {
        return None;
    };
    Some((d, Held { words: words?, symbolic: false }))
}

impl Arithmetic<'_, '_> {
    /// An operation on reals: one term if all threads have the same operands, otherwise one node for each warp.
    #[inline]
    fn float_together<const B: usize, const N: usize>(
        &mut self,
        group: &mut impl Group<B>,
        pc: InstId,
        shape: Shape,
        d: RegId,
        sources: [Src; N],
    ) -> bool {
        // Steps of an idiom are recognised lane by lane.
        if shape.rounds_down() || self.context.options.plain_terms {
            return false;
        }
        let mut terms = [Affine::uniform(0); N];
        for at in 0..N {
            let Some(reals) = self.values.reals().reals_of(group, sources[at], shape.format) else {
                return false;
            };
            terms[at] = reals;
        }
        let all_constant = self.values.numbers.known.is_empty();
        let known = |terms: &Affine<B>| {
            (!all_constant || terms.is_uniform()) && self.values.numbers.known.may_contain(terms.min_max())
        };
        // Known signs are copied lane by lane.
        if shape.op == TermOp::CopySign && terms.first().is_some_and(known) {
            return false;
        }
        if terms.iter().all(known) {
            if !terms.iter().all(Affine::is_uniform) {
                return false;
            }
            let terms = terms.map(|term| TermId::from_raw(term.first));
            let folded = self.fold_float(shape, &terms, pc).as_word();
            if let Some(word) = folded {
                group.hold(d, Held::uniform(word));
            }
            return folded.is_some();
        }
        let Some(result) = self.values.reals().push_together(group, shape.op, &terms, pc) else {
            return false;
        };
        let result = match shape.clamp {
            Clamp::None => Some(result),
            Clamp::Saturate => self.values.reals().push_together(group, TermOp::Saturate, &[result], pc),
            Clamp::Relu => {
                let zero = Affine::uniform(whole(&mut self.values.terms.store, 0).raw());
                self.values.reals().push_together(group, TermOp::Max, &[result, zero], pc)
            }
        };
        let Some(result) = result else { return false };
        group.hold(d, reals(shape.format, result));
        true
    }
}

impl Accesses<'_, '_> {
    /// A load from a read-only input, or one that the group's fast path can execute.
    #[inline(always)]
    fn load_together<const B: usize>(
        &mut self,
        group: &mut impl Group<B>,
        (space, address): (Space, Address),
        width: Width,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop> {
        let total = u64::from(width.bytes()) * d.len() as u64;
        let Some(addresses) = self.context.addresses_of(group, address) else { return Ok(false) };
        let Some(places) = self.values.terms.affine_places(space, addresses, total) else { return Ok(false) };
        if let Some(elements) = self.context.affine_elements(&places, width) {
            for (step, target) in d.iter().enumerate() {
                let Some(target) = target else { continue };
                let words = Affine { first: elements.first + step as u64, ..elements };
                group.hold(*target, Held { words, symbolic: true });
            }
            return Ok(true);
        }
        // If a result overwrites the base of the address, the load cannot be repeated.
        if d.len() > 1 && d.iter().flatten().any(|target| Src::Reg(*target) == address.base) {
            return Ok(false);
        }
        group.load(self, &places, width, d)
    }
}

impl Context<'_> {
    /// The value of a source in all threads, if it is affine.
    #[inline(always)]
    fn held_by<const B: usize>(&self, group: &mut impl Group<B>, source: Src) -> Option<Held<B>> {
        let bits = match source {
            Src::Reg(register) => return group.held(register),
            Src::Imm(bits) => bits,
            Src::Symbol(variable, offset) => {
                self.launch.objects.address(variable, group.first().rank).wrapping_add_signed(offset)
            }
        };
        Some(Held::uniform((bits, false)))
    }

    /// As [`Context::held_by`], for sources that are concrete.
    #[inline(always)]
    pub(crate) fn numbers_of<const B: usize, const N: usize>(
        &self,
        group: &mut impl Group<B>,
        sources: [Src; N],
    ) -> Option<[Affine<B>; N]> {
        let mut numbers = [Affine::uniform(0); N];
        for at in 0..N {
            numbers[at] = self.held_by(group, sources[at]).filter(|held| !held.symbolic)?.words;
        }
        Some(numbers)
    }

    /// The address that an operand denotes in all threads, if it is affine.
    #[inline]
    pub(super) fn addresses_of<const B: usize>(
        &self,
        group: &mut impl Group<B>,
        address: Address,
    ) -> Option<Affine<B>> {
        let [Affine { first, steps }] = self.numbers_of(group, [address.base])?;
        Some(Affine { first: first.wrapping_add_signed(address.offset), steps })
    }
}

impl Reals<'_, '_> {
    /// The raw term ids of a source of reals in a format. Unless they are uniform, none is a constant.
    #[inline(always)]
    pub(super) fn reals_of<const B: usize>(
        &mut self,
        group: &mut impl Group<B>,
        source: Src,
        format: Format,
    ) -> Option<Affine<B>> {
        let held = self.terms.context.held_by(group, source)?;
        if held.symbolic
            && let Some(terms) = raw_reals(held.words, format)
        {
            return Some(terms);
        }
        if held.words.is_uniform() {
            self.uniform_real(held.first(), format).map(Affine::uniform)
        } else {
            None
        }
    }

    /// The raw term id of a real that all threads hold.
    #[inline(never)]
    fn uniform_real(&mut self, value: Value, format: Format) -> Option<u64> {
        match value {
            Value::Bits(bits) => self.literal(format, bits),
            Value::Sym(_) | Value::Undefined(_) => Some(self.read_real(value, format).ok()??.raw()),
        }
    }

    #[inline]
    pub(super) fn push_together<const B: usize, const N: usize>(
        &mut self,
        group: &impl Group<B>,
        op: TermOp,
        operands: &[Affine<B>; N],
        pc: InstId,
    ) -> Option<Affine<B>> {
        if !operands.iter().all(Affine::is_uniform) {
            return group.push(&mut self.terms.store, op, operands, pc);
        }
        Some(Affine::uniform(self.terms.store.push_uniform(op, &operands.map(|operand| operand.first), pc)))
    }
}

impl Reals<'_, '_> {
    /// Executes an instruction once for a group of threads. Returns false where that is not possible.
    fn ieee_together<const B: usize>(
        &mut self,
        group: &mut impl Group<B>,
        pc: InstId,
        inst: &IeeeInst,
    ) -> bool {
        if self.terms.context.options.plain_terms {
            return false;
        }
        let format = inst.key.format;
        let mut terms: SmallVec<[Affine<B>; 3]> = SmallVec::new();
        for source in &inst.sources {
            let Some(term) = self.reals_of(group, *source, format) else { return false };
            terms.push(term);
        }
        let all_uniform = terms.iter().all(Affine::is_uniform);
        // Known values are computed lane by lane.
        if all_uniform
            && terms
                .iter()
                .all(|term| self.terms.store.as_ieee_number(TermId::from_raw(term.first)).is_some())
        {
            return false;
        }
        if let (true, Some(last)) = (inst.negates, terms.last_mut()) {
            let known =
                self.terms.store.as_ieee_number(TermId::from_raw(last.first)).filter(|_| last.is_uniform());
            let negated = match known {
                Some(value) => Some(Affine::uniform(self.terms.store.ieee_number(-value).raw())),
                None => self.ieee_push_together(group, IeeeKey::new(IeeeOp::Neg, format), &[*last], pc),
            };
            let Some(negated) = negated else { return false };
            *last = negated;
        }
        let Some(mut result) = self.ieee_push_together(group, inst.key, &terms, pc) else { return false };
        if let Some(clamp) = clamp_key(inst.clamp, format) {
            let Some(clamped) = self.ieee_push_together(group, clamp, &[result], pc) else { return false };
            result = clamped;
        }
        group.hold(inst.d, reals(format, result));
        true
    }

    fn ieee_push_together<const B: usize>(
        &mut self,
        group: &impl Group<B>,
        key: IeeeKey,
        operands: &[Affine<B>],
        pc: InstId,
    ) -> Option<Affine<B>> {
        let key = Affine::uniform(self.terms.store.ieee_key(key).raw());
        match *operands {
            [a] => self.push_together(group, TermOp::Ieee1, &[key, a], pc),
            [a, b] => self.push_together(group, TermOp::Ieee2, &[key, a, b], pc),
            [a, b, c] => {
                let pair = self.push_together(group, TermOp::IeeePair, &[a, b], pc)?;
                self.push_together(group, TermOp::Ieee2, &[key, pair, c], pc)
            }
            _ => None,
        }
    }
}
