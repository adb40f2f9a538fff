//! Operations on reals (rules V2, V3, V10).
//!
//! Lanes that are all constants fold exactly; a result that its format holds exactly stays concrete bits. The
//! rest of the lanes make one node.

use super::super::cta::{Cta, Stop};
use super::super::fault::FaultKind;
use super::super::register::{Even, Register};
use super::super::value::{Origin, Sym, SymKind, Truth, Value, lanes, only_lane};
use super::super::warp::Warp;
use super::idiom;
use crate::base::assumption::Assumption;
use crate::number::format::{Decoded, Format, Rounding, decode, encode};
use crate::number::{Extended, Rational};
use crate::program::{Bool2, Clamp, Compare, Float2, FloatCompare, InstId, PredId, PredSrc, RegId, Src};
use crate::term::{Constant, Fold, Pattern, Results, TermId, TermKind, TermOp, fold};

/// What a float instruction computes, apart from its operands.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Shape {
    pub(in super::super) op: TermOp,
    pub(in super::super) format: Format,
    pub(in super::super) rounding: Rounding,
    pub(in super::super) clamp: Clamp,
    /// No standard fixes the bits of its results (rule V10).
    pub(super) approximate: bool,
}

impl Shape {
    /// Of an operation on two floats.
    pub(in super::super) fn of_two(op: Float2, format: Format, rounding: Rounding, clamp: Clamp) -> Shape {
        let approximate = op == Float2::DivApprox;
        let op = match op {
            Float2::Add => TermOp::Add,
            Float2::Sub => TermOp::Sub,
            Float2::Mul => TermOp::Mul,
            Float2::Div | Float2::DivApprox => TermOp::Div,
            Float2::Min => TermOp::Min,
            Float2::Max => TermOp::Max,
            Float2::CopySign => TermOp::CopySign,
        };
        Shape { op, format, rounding, clamp, approximate }
    }

    /// Of `fma`.
    pub(in super::super) fn of_fma(format: Format, rounding: Rounding, clamp: Clamp) -> Shape {
        Shape { op: TermOp::Fma, format, rounding, clamp, approximate: false }
    }
}

/// An operand as terms: raw ids, and the lanes whose term is a constant.
#[derive(Default)]
pub(super) struct Terms {
    pub(super) ids: [u64; 32],
    pub(super) constant: u32,
    pub(super) undefined: u32,
}

/// Numerator and denominator of a constant have at most so many bits together: a few times what f64 spans.
const MAX_CONSTANT_BITS: u64 = 1 << 14;

/// Lanes further apart than this do not move evenly: their words are compared with wrapping around.
const MOST_STEP: i64 = 1 << 44;

const LOW: u64 = Sym::PAYLOAD;

/// The id's own tag has its lowest bit set for constants only.
const CONSTANT: u64 = 1 << 54;

pub(in super::super) fn is_constant(raw: u64) -> bool {
    matches!(TermId::from_raw(raw).kind(), TermKind::Constant(_))
}

/// Whether the lanes of `mask` hold reals in a format, none of them a constant.
#[inline]
pub(super) fn holds_unknown_reals(register: &Register, mask: u32, format: Format) -> bool {
    if register.sym & mask != mask {
        return false;
    }
    let odd = |word: u64| (word ^ Sym::real_tag(format)) & !LOW | word & CONSTANT;
    let words = register.words();
    if mask == u32::MAX {
        return words.iter().fold(0, |all, word| all | odd(*word)) == 0;
    }
    lanes(mask).all(|lane| odd(words[lane]) == 0)
}

/// The raw terms of a warp's reals in a format, if they move evenly from lane to lane, and are not constants.
#[inline]
pub(super) fn even_reals(register: &Register, format: Format) -> Option<Even> {
    if register.sym != u32::MAX { None } else { raw_reals(register.even()?, format) }
}

/// The raw terms of symbolic words that move evenly, if they are reals in a format, and not constants.
#[inline]
pub(in super::super) fn raw_reals<const B: usize>(even: Even<B>, format: Format) -> Option<Even<B>> {
    // What lies between two terms of a kind is of that kind.
    let odd = |word: u64| (word ^ Sym::real_tag(format)) & !LOW | word & CONSTANT;
    let near = even.steps.iter().all(|step| (-MOST_STEP..=MOST_STEP).contains(step));
    let [low, high] = even.ends();
    (near && odd(low) | odd(high) == 0).then_some(Even { first: even.first & LOW, steps: even.steps })
}

/// Writes a warp's results to the lanes of `mask`.
#[inline]
pub(super) fn set_reals(register: &mut Register, format: Format, mask: u32, id: impl Fn(usize) -> u64) {
    let tag = Sym::real_tag(format);
    if mask == u32::MAX {
        return register.set_words(&std::array::from_fn(|lane| tag | id(lane)), true);
    }
    let words = register.words_mut();
    for lane in lanes(mask) {
        words[lane] = tag | id(lane);
    }
    register.sym |= mask;
    register.undefined &= !mask;
}

/// The same of what an instruction computed.
#[inline]
pub(super) fn set_results(register: &mut Register, format: Format, mask: u32, results: Results) {
    if mask == u32::MAX {
        let stride = results.lane(1).wrapping_sub(results.lane(0)) as i64;
        register.set_even(Even::strided(Sym::real_tag(format) | results.lane(0), stride), true);
    } else {
        set_reals(register, format, mask, |lane| results.lane(lane));
    }
}

impl Cta<'_> {
    /// Executes a float operation.
    #[inline]
    pub(super) fn float(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        pc: u32,
        shape: Shape,
        d: RegId,
        sources: &[Src],
    ) -> Result<(), Stop> {
        if self.float_alone(warp, mask, pc, shape, d, sources) {
            return Ok(());
        }
        if self.affine_float(warp, mask, pc, shape, d, sources)
            || self.uniform_float(warp, mask, pc, shape, d, sources)?
            || self.fragment_float(warp, mask, pc, shape, d, sources)?.is_some()
        {
            return Ok(());
        }
        self.float_by_lanes(warp, mask, pc, shape, d, sources)
    }

    /// The same lane by lane, where operands are nothing in particular together.
    #[inline(never)] // Its room on the stack is not made for nothing.
    fn float_by_lanes(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        pc: u32,
        shape: Shape,
        d: RegId,
        sources: &[Src],
    ) -> Result<(), Stop> {
        let mut operands = [const { Terms { ids: [0; 32], constant: 0, undefined: 0 } }; 3];
        for (terms, source) in operands.iter_mut().zip(sources) {
            self.terms(warp, mask, pc, shape.format, *source, terms)?;
        }
        let operands = &operands[..sources.len()];
        let undefined = operands.iter().fold(0, |all, terms| all | terms.undefined) & mask;
        let constant = operands.iter().fold(mask, |all, terms| all & terms.constant) & !undefined;
        let rest = mask & !undefined & !constant;
        if rest != 0 {
            self.symbolic_float(warp, rest, pc, shape, d, operands);
        }
        for lane in lanes(constant) {
            let ids = operands.iter().map(|terms| TermId::from_raw(terms.ids[lane])).collect::<Vec<_>>();
            let value = self.fold_float(shape, &ids, pc);
            warp.register_mut(d).set(lane, value);
        }
        for lane in lanes(undefined) {
            let values: Vec<Value> = sources.iter().map(|source| self.value(warp, *source, lane)).collect();
            let origin = self.taint(&values).unwrap_or(Origin::Invalid(InstId(pc)));
            warp.register_mut(d).set(lane, Value::Undefined(origin));
        }
        Ok(())
    }

    /// An operation of one lane on terms, not all of them constants. False where it is something else, and nothing
    /// was done.
    #[inline]
    fn float_alone(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        pc: u32,
        shape: Shape,
        d: RegId,
        sources: &[Src],
    ) -> bool {
        // Rounding down is a step of an idiom that is recognised elsewhere.
        let Some(lane) = only_lane(mask) else { return false };
        if shape.rounding == Rounding::Down || self.options.plain_terms {
            return false;
        }
        let tag = Sym::real_tag(shape.format);
        let mut ids = [0; 3];
        let mut known = true;
        for (id, source) in ids.iter_mut().zip(sources) {
            *id = match self.value(warp, *source, lane) {
                Value::Sym(sym) if sym.raw() & !LOW == tag => sym.raw() & LOW,
                Value::Bits(bits) => match self.literal(shape.format, bits) {
                    Some(raw) => raw,
                    None => return false,
                },
                Value::Sym(_) | Value::Undefined(_) => return false,
            };
            known &= is_constant(*id);
        }
        if known {
            return false;
        }
        let raw = self.store.push_uniform(shape.op, &ids[..sources.len()], pc);
        let term = self.clamp(shape.clamp, TermId::from_raw(raw), pc);
        warp.register_mut(d).set(lane, Value::Sym(Sym::real(shape.format, term)));
        true
    }

    /// One node for a whole warp of operands that move evenly from lane to lane, one of them at least. False where
    /// they do not, and nothing was done.
    #[inline]
    fn affine_float(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        pc: u32,
        shape: Shape,
        d: RegId,
        sources: &[Src],
    ) -> bool {
        // Rounding down is a step of an idiom that is recognised lane by lane.
        if mask != u32::MAX || self.options.plain_terms || shape.rounding == Rounding::Down {
            return false;
        }
        let mut patterns = [Pattern::Steps { base: 0, steps: [0; 5] }; 3];
        let mut moves = false;
        for (pattern, source) in patterns.iter_mut().zip(sources) {
            let bits = match source {
                Src::Reg(id) => {
                    let register = warp.register(*id);
                    if let Some(even) = even_reals(register, shape.format) {
                        moves |= !even.is_uniform();
                        *pattern = Pattern::Steps { base: even.first, steps: even.steps };
                        continue;
                    }
                    match register.uniform(mask) {
                        Some(Value::Bits(bits)) => bits,
                        Some(Value::Sym(sym)) if sym.raw() & !LOW == Sym::real_tag(shape.format) => {
                            *pattern = Pattern::Steps { base: sym.raw() & LOW, steps: [0; 5] };
                            continue;
                        }
                        _ => return false,
                    }
                }
                Src::Imm(bits) => *bits,
                Src::Symbol(..) => return false,
            };
            let Some(base) = self.literal(shape.format, bits) else { return false };
            *pattern = Pattern::Steps { base, steps: [0; 5] };
        }
        if !moves {
            return false;
        }
        let results = self.store.push_patterns(shape.op, &patterns[..sources.len()], pc);
        let results = self.clamp_all(shape.clamp, mask, results, pc);
        set_results(warp.register_mut(d), shape.format, mask, results);
        true
    }

    /// Computes once what is the same for all lanes. False where it is not, and nothing was done.
    #[inline]
    fn uniform_float(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        pc: u32,
        shape: Shape,
        d: RegId,
        sources: &[Src],
    ) -> Result<bool, Stop> {
        // Rounding down is a step of an idiom that is recognised lane by lane.
        if self.options.plain_terms || shape.rounding == Rounding::Down {
            return Ok(false);
        }
        let mut values = [Value::Bits(0); 3];
        for (value, source) in values.iter_mut().zip(sources) {
            let uniform = match source {
                Src::Reg(id) => warp.register(*id).uniform(mask),
                Src::Imm(bits) => Some(Value::Bits(*bits)),
                Src::Symbol(..) => None,
            };
            let Some(uniform) = uniform else { return Ok(false) };
            *value = uniform;
        }
        let mut terms = [TermId::from_raw(0); 3];
        for (term, value) in terms.iter_mut().zip(&values[..sources.len()]) {
            let lane = mask.trailing_zeros() as usize;
            let Some(real) = self.real(warp, *value, shape.format, lane, pc)? else { return Ok(false) };
            *term = real;
        }
        let terms = &terms[..sources.len()];
        let value = if terms.iter().all(|term| is_constant(term.raw())) {
            self.fold_float(shape, terms, pc)
        } else {
            let mut ids = [0; 3];
            for (id, term) in ids.iter_mut().zip(terms) {
                *id = term.raw();
            }
            let raw = self.store.push_uniform(shape.op, &ids[..terms.len()], pc);
            let term = self.clamp(shape.clamp, TermId::from_raw(raw), pc);
            Value::Sym(Sym::real(shape.format, term))
        };
        warp.register_mut(d).fill(mask, value);
        Ok(true)
    }

    /// One node for the lanes of `rest`.
    #[inline]
    fn symbolic_float(
        &mut self,
        warp: &mut Warp,
        rest: u32,
        pc: u32,
        shape: Shape,
        d: RegId,
        operands: &[Terms],
    ) {
        if shape.op == TermOp::Fma
            && shape.rounding == Rounding::Down
            && shape.format == Format::F32
            && let Some(results) =
                self.floor_step(rest, [&operands[0].ids, &operands[1].ids, &operands[2].ids], pc)
        {
            let results = self.clamp_all(shape.clamp, rest, results, pc);
            set_results(warp.register_mut(d), shape.format, rest, results);
            return;
        }
        let results = match operands {
            [a] => self.store.push_shared(shape.op, rest, &[&a.ids], pc),
            [a, b] => self.store.push_shared(shape.op, rest, &[&a.ids, &b.ids], pc),
            [a, b, c] => self.store.push_shared(shape.op, rest, &[&a.ids, &b.ids, &c.ids], pc),
            _ => return,
        };
        let results = self.clamp_all(shape.clamp, rest, results, pc);
        set_results(warp.register_mut(d), shape.format, rest, results);
    }

    /// Clamped values of a warp.
    pub(super) fn clamp_all(&mut self, clamp: Clamp, mask: u32, results: Results, pc: u32) -> Results {
        if clamp == Clamp::None {
            return results;
        }
        self.clamp_ids(clamp, mask, &results.all(), pc).unwrap_or(results)
    }

    /// Clamped values of a warp; `None` where nothing is to be done.
    pub(super) fn clamp_ids(&mut self, clamp: Clamp, mask: u32, ids: &[u64; 32], pc: u32) -> Option<Results> {
        match clamp {
            Clamp::None => None,
            Clamp::Saturate => Some(self.store.push_shared(TermOp::Saturate, mask, &[ids], pc)),
            Clamp::Relu => {
                let zero = [idiom::whole(&mut self.store, 0).raw(); 32];
                Some(self.store.push_shared(TermOp::Max, mask, &[ids, &zero], pc))
            }
        }
    }

    /// A clamped term.
    pub(super) fn clamp(&mut self, clamp: Clamp, term: TermId, pc: u32) -> TermId {
        match clamp {
            Clamp::None => term,
            Clamp::Saturate => TermId::from_raw(self.store.push_uniform(TermOp::Saturate, &[term.raw()], pc)),
            Clamp::Relu => {
                let zero = idiom::whole(&mut self.store, 0).raw();
                TermId::from_raw(self.store.push_uniform(TermOp::Max, &[term.raw(), zero], pc))
            }
        }
    }

    /// Reads an operand as reals in `format`.
    #[inline]
    pub(super) fn terms(
        &mut self,
        warp: &Warp,
        mask: u32,
        pc: u32,
        format: Format,
        source: Src,
        out: &mut Terms,
    ) -> Result<(), Stop> {
        let mut scratch;
        let register = match source {
            Src::Reg(id) => warp.register(id),
            Src::Imm(bits) => {
                match self.literal(format, bits) {
                    Some(raw) => {
                        out.ids = [raw; 32];
                        out.constant = u32::MAX;
                    }
                    None => out.undefined = u32::MAX,
                }
                return Ok(());
            }
            Src::Symbol(..) => {
                scratch = None;
                self.operand(warp, source, &mut scratch)
            }
        };
        let tag = Sym::real_tag(format) >> 56;
        if register.sym & mask == mask {
            let words = register.words();
            let mut odd = 0;
            let mut constants = 0u64;
            if mask == u32::MAX {
                for lane in 0..32 {
                    let word = words[lane];
                    odd |= word >> 56 ^ tag;
                    constants |= word >> 54;
                    out.ids[lane] = word & LOW;
                }
            } else {
                for lane in lanes(mask) {
                    let word = words[lane];
                    odd |= word >> 56 ^ tag;
                    constants |= word >> 54;
                    out.ids[lane] = word & LOW;
                }
            }
            if odd == 0 {
                // The id's own tag has its lowest bit set for constants only.
                if constants & 1 == 1 {
                    out.constant = lanes(mask)
                        .filter(|lane| is_constant(out.ids[*lane]))
                        .fold(0, |all, lane| all | 1 << lane);
                }
                return Ok(());
            }
        }
        if register.is_concrete(mask) {
            self.literals(register, mask, format, out);
            return Ok(());
        }
        for lane in lanes(mask) {
            match self.real(warp, register.get(lane), format, lane, pc)? {
                Some(term) => {
                    out.ids[lane] = term.raw();
                    out.constant |= u32::from(is_constant(term.raw())) << lane;
                }
                None => out.undefined |= 1 << lane,
            }
        }
        Ok(())
    }

    /// Concrete lanes as constants; mostly all hold the same bits.
    fn literals(&mut self, register: &Register, mask: u32, format: Format, out: &mut Terms) {
        let words = register.words();
        let mut last = None;
        for lane in lanes(mask) {
            let bits = words[lane];
            let raw = match last {
                Some((known, raw)) if known == bits => raw,
                _ => self.literal(format, bits),
            };
            last = Some((bits, raw));
            match raw {
                Some(raw) => {
                    out.ids[lane] = raw;
                    out.constant |= 1 << lane;
                }
                None => out.undefined |= 1 << lane,
            }
        }
    }

    /// A value read as a real of `format`; `None` when it is undefined.
    pub(in super::super) fn real(
        &mut self,
        warp: &Warp,
        value: Value,
        format: Format,
        lane: usize,
        pc: u32,
    ) -> Result<Option<TermId>, Stop> {
        if let Value::Sym(sym) = value
            && sym.raw() & !LOW == Sym::real_tag(format)
        {
            return Ok(Some(TermId::from_raw(sym.raw() & LOW)));
        }
        match self.read_real(value, format) {
            Ok(term) => Ok(term),
            Err(held) => {
                let message = format!("an operation on {} reads {held}", format.name());
                Err(self.fault(FaultKind::SortMismatch, "V1", message, warp, lane, pc))
            }
        }
    }

    /// A value read as a real of `format`; `None` when it is undefined, an error in words when it is no such real.
    pub(in super::super) fn read_real(
        &mut self,
        value: Value,
        format: Format,
    ) -> Result<Option<TermId>, String> {
        let same = |held: Format| {
            held == format
                || matches!((held, format), (Format::F32, Format::Tf32) | (Format::Tf32, Format::F32))
        };
        let value = match format {
            Format::F32 | Format::Tf32 => self.composites.as_f32(value),
            Format::F16 | Format::Bf16 | Format::F64 | Format::E4m3 | Format::E5m2 => value,
        };
        match value {
            Value::Bits(bits) => Ok(self.literal(format, bits).map(TermId::from_raw)),
            Value::Undefined(_) => Ok(None),
            Value::Sym(sym) => match sym.kind() {
                SymKind::Real(held, term) if same(held) => Ok(Some(term)),
                SymKind::Real(held, term) => {
                    Err(format!("{}, which is {}", self.describe(term), held.name()))
                }
                SymKind::Choice(index) => {
                    let choice = self.composites.choice(index);
                    let then = self.read_real(choice.then, format)?;
                    let otherwise = self.read_real(choice.otherwise, format)?;
                    let (Some(then), Some(otherwise)) = (then, otherwise) else { return Ok(None) };
                    Ok(Some(self.store.apply(TermOp::Select, &[choice.condition, then, otherwise], 0)))
                }
                SymKind::Half64(..)
                | SymKind::Int(..)
                | SymKind::Pair(..)
                | SymKind::Packed(_)
                | SymKind::Fragment { .. } => {
                    if self.composites.undefined_part(value).is_some() {
                        return Ok(None);
                    }
                    if let Some(number) = self.residues(0).spelled(value, format) {
                        return Ok(Some(number));
                    }
                    Err(self.describe_value(value))
                }
            },
        }
    }

    /// The constant term (raw) that bits spell in a format; `None` for NaN, which rule V2 leaves out.
    pub(in super::super) fn literal(&mut self, format: Format, bits: u64) -> Option<u64> {
        let bits = bits & super::super::pieces::low_bytes(format.bytes());
        if let Some(known) = self.literals.get(&(format, bits)) {
            return *known;
        }
        let spelled = Some((format, bits));
        let raw = decode(format, bits)
            .extended()
            .map(|exact| self.store.intern(Constant { exact, literal: spelled, rounded: spelled }).raw());
        self.literals.insert((format, bits), raw);
        raw
    }

    /// An operation on constants.
    pub(super) fn fold_float(&mut self, shape: Shape, ids: &[TermId], pc: u32) -> Value {
        let constants: Vec<Constant> = ids
            .iter()
            .filter_map(|id| match id.kind() {
                TermKind::Constant(id) => Some(self.store.constant(id).clone()),
                TermKind::Input { .. } | TermKind::Lane(..) => None,
            })
            .collect();
        let exact: Vec<&Extended> = constants.iter().map(|constant| &constant.exact).collect();
        let clamped = |result: Fold| match (shape.clamp, &result) {
            (Clamp::Saturate, Fold::Value(value)) => fold(TermOp::Saturate, &[value]),
            (Clamp::Relu, Fold::Value(value)) => {
                fold(TermOp::Max, &[value, &Extended::Finite(Rational::ZERO)])
            }
            _ => result,
        };
        if shape.op == TermOp::CopySign {
            return self.fold_sign(shape, &constants, ids, pc);
        }
        match clamped(fold(shape.op, &exact)) {
            // A chain of squares doubles the digits at each step: beyond some size it is a term like any other.
            Fold::Value(Extended::Finite(value)) if value.bit_length() > MAX_CONSTANT_BITS => {
                self.unfolded(shape, ids, pc)
            }
            Fold::Value(exact) => {
                let exact = if idiom::rounds_to_integer(shape, &constants) { floor(exact) } else { exact };
                let rounded = rounded_result(shape, &constants, clamped);
                self.constant(shape.format, exact, rounded)
            }
            Fold::Undefined => Value::Undefined(Origin::Invalid(InstId(pc))),
            Fold::Irrational | Fold::Truth(_) => self.unfolded(shape, ids, pc),
        }
    }

    fn unfolded(&mut self, shape: Shape, ids: &[TermId], pc: u32) -> Value {
        let term = self.store.apply(shape.op, ids, pc);
        let term = self.clamp(shape.clamp, term, pc);
        Value::Sym(Sym::real(shape.format, term))
    }

    /// The second constant with the sign of the first one, which only its bits tell when it is zero.
    fn fold_sign(&mut self, shape: Shape, constants: &[Constant], ids: &[TermId], pc: u32) -> Value {
        let sign_bit = 1u64 << (8 * shape.format.bytes() - 1);
        let [Constant { exact: sign, rounded: sign_bits, .. }, Constant { exact: magnitude, rounded, .. }] =
            constants
        else {
            return Value::Undefined(Origin::Invalid(InstId(pc)));
        };
        let held = sign_bits.map(|(_, bits)| bits & sign_bit);
        let exactly =
            if sign.signum() == 0 { held } else { Some(if sign.signum() < 0 { sign_bit } else { 0 }) };
        let (Some(exactly), Fold::Value(size)) = (exactly, fold(TermOp::Abs, &[magnitude])) else {
            let term = self.store.apply(shape.op, ids, pc);
            return Value::Sym(Sym::real(shape.format, term));
        };
        let exact = match (exactly, fold(TermOp::Neg, &[&size])) {
            (0, _) | (_, Fold::Undefined | Fold::Irrational | Fold::Truth(_)) => size,
            (_, Fold::Value(negated)) => negated,
        };
        let rounded = held.zip(*rounded).map(|(sign, (_, bits))| bits & !sign_bit | sign);
        self.constant(shape.format, exact, rounded)
    }

    /// A constant in a register: concrete bits when exactly what the hardware would hold, else a term.
    pub(super) fn constant(&mut self, format: Format, exact: Extended, rounded: Option<u64>) -> Value {
        if let Some(bits) = rounded
            && decode(format, bits).extended().as_ref() == Some(&exact)
        {
            return Value::Bits(bits);
        }
        let rounded = rounded.map(|bits| (format, bits));
        Value::Sym(Sym::real(format, self.store.intern(Constant { exact, literal: None, rounded })))
    }

    pub(super) fn setp_float(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        pc: u32,
        op: FloatCompare,
        format: Format,
        [a, b]: [Src; 2],
        targets: (PredId, Option<PredId>),
        combine: Option<(Bool2, PredSrc)>,
    ) -> Result<(), Stop> {
        for lane in lanes(mask) {
            let x = self.real(warp, self.value(warp, a, lane), format, lane, pc)?;
            let y = self.real(warp, self.value(warp, b, lane), format, lane, pc)?;
            let truth = match (x, y) {
                (Some(x), Some(y)) => self.compare_reals(warp, op, x, y, lane, pc)?,
                _ => {
                    let words = [a, b].map(|source| self.value(warp, source, lane));
                    Truth::Undefined(self.taint(&words).unwrap_or(Origin::Invalid(InstId(pc))))
                }
            };
            self.set_predicates(warp, lane, pc, truth, targets, combine);
        }
        Ok(())
    }

    fn compare_reals(
        &mut self,
        warp: &Warp,
        op: FloatCompare,
        x: TermId,
        y: TermId,
        lane: usize,
        pc: u32,
    ) -> Result<Truth, Stop> {
        let FloatCompare::Order(op, unordered) = op else {
            self.assumptions.insert(Assumption::relied(NAN));
            return Ok(Truth::Known(op == FloatCompare::IsNumber));
        };
        if unordered {
            self.assumptions.insert(Assumption::relied(NAN));
        }
        let (term, left, right, negated) = match op {
            Compare::Lt => (TermOp::Less, x, y, false),
            Compare::Gt => (TermOp::Less, y, x, false),
            Compare::Le => (TermOp::LessEqual, x, y, false),
            Compare::Ge => (TermOp::LessEqual, y, x, false),
            Compare::Eq => (TermOp::Equal, x, y, false),
            Compare::Ne => (TermOp::Equal, x, y, true),
        };
        if let (TermKind::Constant(l), TermKind::Constant(r)) = (left.kind(), right.kind()) {
            let (l, r) = (self.store.constant(l).clone(), self.store.constant(r).clone());
            if let Fold::Truth(exact) = fold(term, &[&l.exact, &r.exact]) {
                let rounded = match (held(&l), held(&r)) {
                    (Some(l), Some(r)) => fold(term, &[&l, &r]),
                    _ => Fold::Irrational,
                };
                if rounded != Fold::Truth(exact) {
                    return Err(self.depends_on_rounding(warp, lane, pc, "a comparison"));
                }
                return Ok(Truth::Known(exact != negated));
            }
        }
        let condition = self.store.apply(term, &[left, right], pc);
        let condition = if negated { self.store.apply(TermOp::Not, &[condition], pc) } else { condition };
        Ok(Truth::Condition(condition))
    }

    #[cold]
    pub(super) fn depends_on_rounding(&self, warp: &Warp, lane: usize, pc: u32, what: &str) -> Stop {
        let message = format!("{what} of constants comes out differently in real and in rounded arithmetic");
        self.fault(FaultKind::DependsOnRounding, "V10", message, warp, lane, pc)
    }
}

const NAN: &str = "no value is NaN: comparisons that hold on NaN are read as their ordered twins (V2)";

/// What the hardware holds for a constant.
pub(super) fn held(constant: &Constant) -> Option<Extended> {
    let (format, bits) = constant.rounded?;
    decode(format, bits).extended()
}

fn floor(value: Extended) -> Extended {
    match value {
        Extended::Finite(value) => Extended::Finite(value.floor()),
        infinite => infinite,
    }
}

/// The bits that the hardware computes from the bits it holds; `None` when no standard fixes them.
fn rounded_result(shape: Shape, constants: &[Constant], clamped: impl Fn(Fold) -> Fold) -> Option<u64> {
    let bits: Vec<u64> =
        constants.iter().map(|constant| constant.rounded.map(|(_, bits)| bits)).collect::<Option<_>>()?;
    let held: Vec<Extended> = constants.iter().map(held).collect::<Option<_>>()?;
    let Fold::Value(result) = clamped(fold(shape.op, &held.iter().collect::<Vec<_>>())) else { return None };
    let infinite = |value: &Extended| value.finite().is_none();
    if shape.approximate && !held.iter().any(infinite) {
        return None;
    }
    match shape.op {
        TermOp::Exp2 | TermOp::Log2 | TermOp::Rsqrt | TermOp::Sin | TermOp::Cos | TermOp::Tanh
            if !infinite(&held[0]) =>
        {
            return None;
        }
        _ => {}
    }
    let rounded = encode(&result, shape.format, shape.rounding);
    if decode(shape.format, rounded) != Decoded::Finite(Rational::ZERO) {
        return Some(rounded);
    }
    // A zero (exact, or by underflow) has a sign of its own.
    let sign_bit = 1u64 << (8 * shape.format.bytes() - 1);
    let negative = |at: usize| bits[at] & sign_bit != 0;
    let zero = |at: usize| held[at] == Extended::Finite(Rational::ZERO);
    let down = shape.rounding == Rounding::Down;
    let sum = |left: (bool, bool), right: (bool, bool)| match (left, right) {
        ((true, left), (true, right)) => {
            if left == right {
                left
            } else {
                down
            }
        }
        _ => down,
    };
    if result.signum() != 0 {
        return Some(rounded & !sign_bit | if result.signum() < 0 { sign_bit } else { 0 });
    }
    if shape.clamp != Clamp::None {
        return Some(rounded & !sign_bit);
    }
    let minus = match shape.op {
        TermOp::Add => sum((zero(0), negative(0)), (zero(1), negative(1))),
        TermOp::Sub => sum((zero(0), negative(0)), (zero(1), !negative(1))),
        TermOp::Mul | TermOp::Div => negative(0) != negative(1),
        TermOp::Fma => sum((zero(0) || zero(1), negative(0) != negative(1)), (zero(2), negative(2))),
        TermOp::Neg => !negative(0),
        TermOp::Max => (0..2).filter(|at| zero(*at)).all(negative),
        TermOp::Min => (0..2).filter(|at| zero(*at)).any(negative),
        TermOp::Sqrt | TermOp::Floor | TermOp::Ceil | TermOp::Trunc | TermOp::RoundEven => negative(0),
        _ => false,
    };
    Some(rounded & !sign_bit | if minus { sign_bit } else { 0 })
}
