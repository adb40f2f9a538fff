//! Conversions, packing and addresses between spaces (rules V1, V2, V4, V5).

use super::float::{OperandTerms, holds_unknown_reals, set_reals};
use crate::base::lane::Lane;
use crate::launch::objects::{from_generic, owned, to_generic, to_generic_of};
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::values::Reals;
use crate::machine::group::warp::Step;
use crate::number::format::{Format, Rounding, decode, encode, round};
use crate::number::{Extended, Rational, Rounded};
use crate::program::{Clamp, InstId, Int, Precision, RegId, Space, Src, ToIntegral, Width};
use crate::term::{TermId, TermOp};
use crate::value::constants::KnownFloats;
use crate::value::int_terms;
use crate::value::known_floats::{Exact, Undecided, clamp_term};
use crate::value::packed::{Choice, PackedPart, PackedValues};
use crate::value::words;
use crate::value::{Sym, Value};
use crate::verdict::FaultKind;

/// A conversion between float formats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatCast {
    pub(crate) from: Format,
    pub(crate) to: Format,
    pub(crate) integral: Option<ToIntegral>,
    pub(crate) precision: Precision,
    pub(crate) clamp: Clamp,
    /// Values that are too large become the largest finite number.
    pub(crate) finite: bool,
}

impl FloatCast {
    /// Whether every real stays the same.
    pub(crate) fn keeps_reals(&self) -> bool {
        self.integral.is_none() && self.clamp == Clamp::None
    }
}

fn integral_op(direction: ToIntegral) -> TermOp {
    match direction {
        ToIntegral::NearestEven => TermOp::RoundEven,
        ToIntegral::Zero => TermOp::Trunc,
        ToIntegral::Down => TermOp::Floor,
        ToIntegral::Up => TermOp::Ceil,
    }
}

impl Reals<'_, '_> {
    pub(crate) fn int_to_float(
        &mut self,
        mut step: Step<'_>,
        (d, a): (RegId, Src),
        (from, to, rounding): (Int, Format, Rounding),
    ) -> Result<(), Stop> {
        let pc = step.pc;
        for lane in step.mask {
            let value = self.terms.context.value(step.warp, a, lane);
            let result = if let Value::Undefined(_) = value {
                None
            } else if self.terms.store.is_ieee() {
                self.ieee_from_int(value, (from, to, rounding), pc)
            } else {
                let known = self.number_of(value, (from, to, rounding), pc);
                let real = |number| Value::Sym(Sym::real(to, number));
                known.or_else(|| self.terms.int_terms(pc).reading(value, from).map(real))
            };
            let result = match (result, self.terms.packed.taint(&[value])) {
                (Some(result), _) => result,
                (None, Some(origin)) => Value::Undefined(origin),
                (None, None) => return Err(self.terms.computes_with_encoding(step.at(lane), &[value])),
            };
            step.set(d, lane, result);
        }
        Ok(())
    }

    /// A known float as it is computed with: a number, or a term where known floats are terms.
    pub(crate) fn at_point(&mut self, value: Value, format: Format, pc: InstId) -> Value {
        if self.terms.context.launch.recognition.known == KnownFloats::Numbers {
            return value;
        }
        let Ok(Some(number)) = self.read_real(value, format) else { return value };
        match self.numbers.points.term(&mut self.terms.store, format, number, pc) {
            Some(term) => Value::Sym(Sym::real(format, term)),
            None => value,
        }
    }

    /// An integer, or a choice of integers, as a real.
    fn number_of(&mut self, value: Value, cast: (Int, Format, Rounding), pc: InstId) -> Option<Value> {
        let (from, to, rounding) = cast;
        if let Value::Bits(bits) = value {
            let exact = Extended::Finite(Rational::from_i128(from.number(bits)));
            let rounded = Rounded::exactly(to, encode(&exact, to, rounding));
            let value = self.numbers.known.constant(&mut self.terms.store, to, exact, rounded);
            return Some(self.at_point(value, to, pc));
        }
        let Choice { condition, then, otherwise } = self.terms.packed.as_choice(value)?;
        let arms = [then, otherwise].map(|arm| self.number_of(arm, cast, pc));
        let [Some(then), Some(otherwise)] = arms else { return None };
        let [Ok(Some(then)), Ok(Some(otherwise))] = [then, otherwise].map(|arm| self.read_real(arm, to))
        else {
            return None;
        };
        Some(Value::Sym(Sym::real(
            to,
            self.terms.store.apply(TermOp::Select, &[condition, then, otherwise], pc),
        )))
    }

    pub(crate) fn float_to_int(
        &mut self,
        mut step: Step<'_>,
        (d, a): (RegId, Src),
        (from, flush): (Format, bool),
        (to, rounding): (Int, ToIntegral),
    ) -> Result<(), Stop> {
        if self.terms.store.is_ieee() {
            return self.ieee_to_int(step, (d, a), (from, flush), (to, rounding));
        }
        for lane in step.mask {
            let at = step.at(lane);
            let value = match self.real(at, self.terms.context.value(at.warp, a, lane), from)? {
                None => self.terms.no_value(at, &[a]),
                Some(term) if let Some(known) = self.numbers.known.of(&self.terms.store, term) => {
                    let exact = known.decides(from, flush, |number| round_to_int(number, to, rounding));
                    let undecided = Undecided("a conversion to an integer");
                    let rounds = || self.terms.context.depends_on_rounding(at, undecided);
                    Value::Bits(exact.ok_or_else(rounds)?)
                }
                Some(term) => {
                    let mut residues = self.terms.int_terms(at.pc);
                    let rounded = residues.apply(integral_op(rounding), &[term]);
                    // Values outside the type saturate.
                    let integer = residues.saturated(rounded, to);
                    residues.value(integer, to.width.bytes())
                }
            };
            step.set(d, lane, value);
        }
        Ok(())
    }

    pub(crate) fn cvt_float(
        &mut self,
        mut step: Step<'_>,
        (d, a): (RegId, Src),
        cast: FloatCast,
    ) -> Result<(), Stop> {
        if self.terms.store.is_ieee() {
            return self.ieee_convert(step, (d, a), cast);
        }
        let pc = step.pc;
        if cast.keeps_reals()
            && let Src::Reg(a) = a
        {
            // The same reals (rule V2), in another format.
            let register = step.warp.register(a);
            if self.numbers.known.is_empty() && holds_unknown_reals(register, step.mask, cast.from) {
                let words = *register.words();
                set_reals(step.warp.register_mut(d), cast.to, step.mask, |lane| words[lane] & Sym::PAYLOAD);
                return Ok(());
            }
        }
        let OperandTerms { terms: [terms, ..], known, undefined } = self.operands(&step, cast.from, &[a])?;
        let mut values = Vec::new();
        for lane in known | undefined {
            let value = if undefined.contains(lane) {
                self.terms.no_value(step.at(lane), &[a])
            } else {
                let value = self.cast(TermId::from_raw(terms.ids[lane]), cast, pc);
                value.map_err(|what| self.terms.context.depends_on_rounding(step.at(lane), what))?
            };
            values.push((lane, value));
        }
        let rest = step.mask & !known & !undefined;
        if !rest.is_empty() {
            let mut ids = terms.ids;
            if let Some(direction) = cast.integral {
                ids = self.terms.store.push_shared(integral_op(direction), rest, &[&ids], pc).all();
            }
            if let Some(clamped) = self.clamp_ids(cast.clamp, rest, &ids, pc) {
                ids = clamped.all();
            }
            set_reals(step.warp.register_mut(d), cast.to, rest, |lane| ids[lane]);
        }
        step.set_lanes(d, values);
        Ok(())
    }

    /// A known value in another format, rounded to an integer and clamped.
    fn cast(&mut self, term: TermId, cast: FloatCast, pc: InstId) -> Result<Value, Undecided> {
        let undecided = Undecided("rounding to an integer");
        let FloatCast { from, to, integral: towards, precision, clamp, finite } = cast;
        let Some(known) = self.numbers.known.of(&self.terms.store, term) else { return Err(undecided) };
        let mut exact = known.exact.clone();
        let held = known.rounded.and_then(|rounded| rounded.within(from));
        let mut rounded = if precision.flush { held.map(Rounded::flushed) } else { held };
        if let Some(direction) = towards {
            let whole = |number: &Extended| match number {
                Extended::Finite(number) => Extended::Finite(integral(number, direction)),
                infinite @ (Extended::PosInf | Extended::NegInf) => infinite.clone(),
            };
            exact = Exact::Number(known.decides(from, precision.flush, whole).ok_or(undecided)?);
            let each = |bits: u64| match decode(from, bits).extended() {
                Some(number) => with_sign_of(bits, from, encode(&whole(&number), from, Rounding::Nearest)),
                None => bits,
            };
            rounded = rounded.and_then(|rounded| rounded.map(from, each));
        }
        let sign = |format: Format| 1 << (8 * format.bytes() - 1);
        let largest = round(&Rational::power_of_two(5000), to, Rounding::Zero);
        let each = |held: Rounded| {
            held.map(to, |bits| {
                let negative = bits & sign(from) != 0;
                let new = match clamp {
                    Clamp::Saturate | Clamp::Relu if negative => 0,
                    Clamp::None | Clamp::Saturate | Clamp::Relu => {
                        held.converted(bits, to, precision.rounding)
                    }
                };
                let one = round(&Rational::ONE, to, Rounding::Nearest);
                let (size, minus) = (new & !sign(to), new & sign(to));
                let most = match clamp {
                    Clamp::Saturate => one,
                    Clamp::None | Clamp::Relu if finite => largest,
                    Clamp::None | Clamp::Relu => size,
                };
                size.min(most) | minus
            })
        };
        let rounded = rounded.and_then(each);
        let rounded = if precision.flush { rounded.map(Rounded::flushed) } else { rounded };
        exact = exact.clamped(clamp);
        let same = rounded.is_some() && rounded.map(Rounded::bounds) == known.rounded.map(Rounded::bounds);
        if clamp == Clamp::None && same && matches!(exact, Exact::Between(_)) {
            return Ok(Value::Sym(Sym::real(to, term)));
        }
        let term = clamp_term(&mut self.terms.store, clamp, term, pc);
        Ok(self.numbers.known.converted(&mut self.terms.store, (term, to), exact, rounded, pc))
    }
}

impl ValueTerms<'_> {
    pub(crate) fn pack(&mut self, mut step: Step<'_>, d: RegId, parts: &[Src], part: Width) {
        let bytes = part.bytes();
        for lane in step.mask {
            let mut pieces: Vec<PackedPart> = Vec::with_capacity(parts.len());
            for source in parts {
                let value = match self.context.value(step.warp, *source, lane) {
                    Value::Bits(bits) => Value::Bits(bits & part.mask()),
                    other @ (Value::Sym(_) | Value::Undefined(_)) => other,
                };
                pieces.extend(self.packed.split(value, bytes));
            }
            step.set(d, lane, self.packed.join(&pieces));
        }
    }

    pub(crate) fn unpack(
        &mut self,
        mut step: Step<'_>,
        d: &[Option<RegId>],
        a: Src,
        part: Width,
    ) -> Result<(), Stop> {
        let bytes = part.bytes();
        for lane in step.mask {
            let mut value = self.context.value(step.warp, a, lane);
            let total = bytes * d.len() as u32;
            // A choice of integers is an integer.
            if self.packed.as_choice(value).is_some() {
                let mut integers = self.int_terms(step.pc);
                if let Some(term) = integers.residue(value, total) {
                    value = integers.value(term, total);
                }
            }
            let pieces = self.packed.split(value, total);
            for (at, target) in d.iter().enumerate() {
                let Some(target) = target else { continue };
                let Ok(slice) = int_terms::slice(&pieces, at as u32 * bytes, bytes, &mut self.store) else {
                    return Err(self.computes_with_encoding(step.at(lane), &[value]));
                };
                step.set(*target, lane, self.packed.join(&slice));
            }
        }
        Ok(())
    }

    pub(crate) fn cvta(
        &mut self,
        step: Step<'_>,
        (d, a): (RegId, Src),
        (space, to): (Space, bool),
        width: Width,
    ) -> Result<(), Stop> {
        let mut scratch = None;
        let x = self.context.operand(step.warp, a, &mut scratch);
        if let Some(lane) = step.mask.iter().find(|lane| !matches!(x.get(*lane), Value::Bits(_))) {
            return cvta_of_choices(self, step, lane, (d, a), (space, to), width);
        }
        let (mut out, words) = ([0; 32], x.words());
        for lane in step.mask {
            let Some(word) = converted(words[lane], (space, to), width, step.warp.thread(lane)) else {
                let message =
                    format!("a generic address is converted to one in {space:?} memory, but lies elsewhere");
                let (at, message) = (step.at(lane), message.to_lowercase());
                return Err(self.context.fault_of(at, FaultKind::OutOfBounds, "M1", message));
            };
            out[lane] = word;
        }
        step.warp.register_mut(d).merge_bits(step.mask, &out);
        Ok(())
    }
}

/// An integer of one type as one of another.
pub(super) fn convert_int(x: u64, from: Int, to: Int, saturate: bool) -> u64 {
    let value = from.number(x);
    if saturate { words::saturate(to, value) } else { value as u64 & to.width.mask() }
}

fn integral(value: &Rational, direction: ToIntegral) -> Rational {
    match direction {
        ToIntegral::NearestEven => value.round_even(),
        ToIntegral::Zero => value.trunc(),
        ToIntegral::Down => value.floor(),
        ToIntegral::Up => value.ceil(),
    }
}

/// A real as an integer: rounded, then clamped to the type.
fn round_to_int(value: &Extended, to: Int, rounding: ToIntegral) -> u64 {
    let [low, high] = to.limits().map(Rational::from_i128);
    let clamped = match value {
        Extended::PosInf => high,
        Extended::NegInf => low,
        Extended::Finite(value) => integral(value, rounding).max(low).min(high),
    };
    clamped.to_i64().map(|value| value as u64).or_else(|| clamped.to_u64()).unwrap_or(0) & to.width.mask()
}

/// A number whose sign, if it is zero, is that of other bits in its format.
fn with_sign_of(bits: u64, format: Format, number: u64) -> u64 {
    let sign = 1 << (8 * format.bytes() - 1);
    if number & !sign == 0 { number | bits & sign } else { number }
}

/// Converts addresses of which the first that an input decides is that of a lane: pointers that a condition chooses,
/// each arm by itself.
#[cold]
fn cvta_of_choices(
    terms: &mut ValueTerms<'_>,
    mut step: Step<'_>,
    first: Lane,
    (d, a): (RegId, Src),
    to: (Space, bool),
    width: Width,
) -> Result<(), Stop> {
    for lane in step.mask {
        let (value, thread) = (terms.context.value(step.warp, a, lane), step.warp.thread(lane));
        let mut convert = |words: &[u64]| Some(Value::Bits(converted(*words.first()?, to, width, thread)?));
        let mut join = |packed: &mut PackedValues, condition, then, otherwise| {
            packed.choose(Choice { condition, then, otherwise })
        };
        let Some(address) = terms.packed.each_arm(&[value], &mut convert, &mut join) else {
            let (value, lane) = match value {
                Value::Bits(_) => (terms.context.value(step.warp, a, first), first),
                Value::Sym(_) | Value::Undefined(_) => (value, lane),
            };
            return Err(terms.not_concrete(step.warp, value, lane, step.pc, "an address"));
        };
        step.set(d, lane, address);
    }
    Ok(())
}

/// A generic address as one in a state space, or the reverse; `None` where it lies in another one.
fn converted(address: u64, (space, to): (Space, bool), width: Width, thread: u32) -> Option<u64> {
    let address = if to {
        let (held, inner) = from_generic(address);
        if held != space {
            return None;
        }
        owned((space, inner), thread).1
    } else if space == Space::Local {
        to_generic_of(thread, address)
    } else {
        to_generic(space, address)
    };
    Some(address & width.mask())
}
