//! Known values: terms that depend on no input (rule V10).
//!
//! For each known value, two things are kept: which real it is, for proofs, and what hardware may hold of it after each
//! rounding. A decision that depends on a known value must come out the same for both.

use super::approximation;
use super::float_inst::Shape;
use super::int_terms::whole;
use crate::number::format::{Decoded, Format, Rounding, decode, encode};
use crate::number::interval::{Enclosure, Wide};
use crate::number::value::Value as Enclosed;
use crate::number::{Extended, Rational, Rounded};
use crate::program::{Clamp, InstId};
use crate::term::{
    self, Constant, Fold, Kind, Piecewise, Product, Store, Sum, TermId, TermKind, TermOp, fold,
};
use crate::value::{Origin, Sym, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Precision of enclosures of irrational reals, in bits.
const PRECISION: u32 = 192;

/// The largest size of a constant, numerator and denominator together, in bits: a few times the range of f64.
const MAX_CONSTANT_BITS: u64 = 1 << 14;

/// The real that a known value is.
#[derive(Clone, Debug)]
pub(crate) enum Exact {
    Number(Extended),
    /// An irrational, or a rational that is too long.
    Between(Enclosed<Wide>),
}

/// A known value.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) exact: Exact,
    /// What the hardware may hold; `None` when nothing bounds it.
    pub(crate) rounded: Option<Rounded>,
}

/// A decision that depends on a known value and comes out differently with and without rounding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undecided(pub(crate) &'static str);

/// The least and the greatest possible number.
pub(crate) type Bounds = [Extended; 2];

impl Exact {
    fn enclosure(&self) -> Enclosed<Wide> {
        match self {
            Exact::Number(number) => Enclosed::exact(number, PRECISION),
            Exact::Between(value) => value.clone(),
        }
    }

    /// Some real between two.
    pub(crate) fn between(low: &Rational, high: &Rational) -> Exact {
        Exact::Between(Wide::between(low, high, PRECISION).into())
    }

    /// 2 to the power of this number less another.
    pub(crate) fn power_of_two_less(&self, offset: i64) -> Exact {
        let offset = Enclosed::exact(&Extended::Finite(Rational::from_integer(offset)), PRECISION);
        Exact::Between(self.enclosure().sub(&offset).exp2())
    }

    fn number(&self) -> Option<&Extended> {
        match self {
            Exact::Number(number) => Some(number),
            Exact::Between(_) => None,
        }
    }

    pub(crate) fn bounds(&self) -> Option<Bounds> {
        match self {
            Exact::Number(number) => Some([number.clone(), number.clone()]),
            Exact::Between(value) => bounds(value),
        }
    }
}

impl Known {
    /// Bounds of the real, and of what hardware holds of it in a format.
    pub(super) fn both_bounds(&self, format: Format, flush: bool) -> Option<[Bounds; 2]> {
        let rounded = self.rounded?.within(format)?;
        let rounded = if flush { rounded.flushed() } else { rounded };
        Some([self.exact.bounds()?, rounded.bounds()])
    }

    /// The value of a monotone function of the real and of everything that hardware may hold, if it is the same.
    pub(crate) fn decides<T: PartialEq>(
        &self,
        format: Format,
        flush: bool,
        f: impl Fn(&Extended) -> T,
    ) -> Option<T> {
        let both = self.both_bounds(format, flush)?;
        let [first, rest @ ..] = both.as_flattened() else { return None };
        let first = f(first);
        rest.iter().all(|bound| f(bound) == first).then_some(first)
    }
}

/// The known values of a CTA.
#[derive(Debug, Default)]
pub(crate) struct KnownValues {
    /// Known values that are not constants. Each is the only lane of its node.
    values: FxHashMap<TermId, Known>,
    /// The lowest and highest raw term id of these.
    ends: Option<[u64; 2]>,
    /// Products before rounding, where a sum may be fused with them.
    products: FxHashMap<TermId, Enclosed<Wide>>,
}

impl KnownValues {
    /// Approximate number of bytes that the table holds.
    pub(crate) fn bytes(&self) -> u64 {
        (self.values.len() * 320 + self.products.len() * 240) as u64
    }

    /// Whether all known values are constants.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_none()
    }

    /// Whether a term, given by its raw id, is known.
    #[inline]
    pub(crate) fn contains(&self, raw: u64) -> bool {
        let term = TermId::from_raw(raw);
        term.is_constant() || !self.is_empty() && self.values.contains_key(&term)
    }

    /// Whether a term between two raw ids may be known: of affine lanes, or of one uniform term.
    #[inline]
    pub(crate) fn may_contain(&self, [low, high]: [u64; 2]) -> bool {
        if low == high {
            return self.contains(low);
        }
        let Some([first, last]) = self.ends else { return false };
        // Known terms are the only lane of their node.
        low >> 5 != high >> 5 && low <= last && first <= high
    }

    /// What is known of a term.
    pub(crate) fn of(&self, store: &Store, term: TermId) -> Option<Known> {
        match term.kind() {
            TermKind::Constant(id) => {
                let Constant { exact, rounded, .. } = store.constant(id);
                Some(Known { exact: Exact::Number(exact.clone()), rounded: *rounded })
            }
            TermKind::Lane(..) => self.values.get(&term).cloned(),
            TermKind::Input { .. } => None,
        }
    }

    /// Adds a known term that is no constant and has a node of its own.
    pub(crate) fn insert(&mut self, term: TermId, known: Known) {
        let [low, high] = self.ends.unwrap_or([term.raw(); 2]);
        self.ends = Some([low.min(term.raw()), high.max(term.raw())]);
        self.values.insert(term, known);
    }

    /// Adds a term of which only independence of inputs is known.
    pub(crate) fn insert_unbounded(&mut self, term: TermId) {
        self.insert(term, Known { exact: Exact::Between(Enclosed::Unresolved), rounded: None });
    }

    /// Applies an operation to known values.
    pub(crate) fn fold(&mut self, store: &mut Store, shape: Shape, ids: &[TermId], pc: InstId) -> Value {
        let unbounded = || Known { exact: Exact::Between(Enclosed::Unresolved), rounded: None };
        let operands: SmallVec<[Known; 3]> =
            ids.iter().map(|id| self.of(store, *id).unwrap_or_else(unbounded)).collect();
        let rounded = self.rounded(shape, ids, &operands);
        let undefined = Value::Undefined(Origin::Invalid(pc));
        let numbers: Option<SmallVec<[&Extended; 3]>> =
            operands.iter().map(|operand| operand.exact.number()).collect();
        let folded = numbers.map(|numbers| clamp_fold(shape.clamp, fold(shape.op, &numbers)));
        let value = match folded {
            Some(Fold::Undefined) => return undefined,
            // Repeated squaring doubles the bits at each step: beyond some size the result is a term like any other.
            Some(Fold::Value(value)) if !is_long(&value) => {
                self.constant(store, shape.format, value, rounded)
            }
            Some(Fold::Value(_) | Fold::Irrational | Fold::Truth(_)) | None => {
                let enclosures: SmallVec<[Enclosed<Wide>; 3]> =
                    operands.iter().map(|operand| operand.exact.enclosure()).collect();
                let exact = clamped(shape.clamp, enclose(shape.op, &enclosures));
                if matches!(exact, Enclosed::Undefined) {
                    return undefined;
                }
                let term = store.apply(shape.op, ids, pc);
                let term = clamp_term(store, shape.clamp, term, pc);
                self.insert(term, Known { exact: Exact::Between(exact), rounded });
                Value::Sym(Sym::real(shape.format, term))
            }
        };
        if shape.op == TermOp::Mul && shape.precision.fusible && shape.clamp == Clamp::None {
            return self.note_product(store, value, shape, &operands);
        }
        value
    }

    /// A constant in a register: concrete bits if hardware holds it exactly, else a term.
    pub(crate) fn constant(
        &mut self,
        store: &mut Store,
        format: Format,
        exact: Extended,
        rounded: Option<Rounded>,
    ) -> Value {
        if let Some(bits) = rounded.and_then(Rounded::bits)
            && decode(format, bits).extended().as_ref() == Some(&exact)
        {
            return Value::Bits(bits);
        }
        Value::Sym(Sym::real(format, store.intern(Constant { exact, literal: None, rounded })))
    }

    /// A known value in another format, or rounded there: the real is the same.
    pub(crate) fn converted(
        &mut self,
        store: &mut Store,
        (from, to): (TermId, Format),
        exact: Exact,
        rounded: Option<Rounded>,
        pc: InstId,
    ) -> Value {
        if let Exact::Number(number) = exact {
            return self.constant(store, to, number, rounded);
        }
        // A new term, since hardware holds another number of it.
        let zero = whole(store, 0);
        let term = store.apply(TermOp::Add, &[from, zero], pc);
        self.insert(term, Known { exact, rounded });
        Value::Sym(Sym::real(to, term))
    }

    /// Whether the sign bit of a known value is set. The sign of a zero is known only from its bits.
    pub(crate) fn is_negative(&self, store: &Store, term: TermId, format: Format) -> Result<bool, Undecided> {
        let undecided = Undecided("the sign that is copied");
        let known = self.of(store, term).ok_or(undecided)?;
        let negative = known.rounded.and_then(Rounded::is_negative).ok_or(undecided)?;
        let bounds = known.both_bounds(format, false).ok_or(undecided)?;
        let alike = match bounds.map(|[low, high]| [low.signum(), high.signum()]) {
            [[1, _], _] => !negative,
            [[_, -1], _] => negative,
            // Zero both as a real and in hardware.
            [[0, 0], [0, 0]] => true,
            _ => false,
        };
        if alike { Ok(negative) } else { Err(undecided) }
    }

    /// What hardware may hold of a result.
    pub(crate) fn rounded(&self, shape: Shape, ids: &[TermId], operands: &[Known]) -> Option<Rounded> {
        let held = held(shape, operands)?;
        let mut rounded = of_numbers(shape, &held).or_else(|| of_ranges(shape, &held))?;
        if shape.precision.fusible && matches!(shape.op, TermOp::Add | TermOp::Sub) {
            for (at, id) in ids.iter().enumerate() {
                let Some(product) = self.products.get(id) else { continue };
                let mut summands = [enclosed(held[0]), enclosed(held[1])];
                summands[at] = product.clone();
                let fused = clamped(shape.clamp, enclose(shape.op, &summands));
                rounded = rounded.hull(encoded(&fused, shape.format, [shape.precision.rounding; 2])?)?;
            }
        }
        Some(if shape.precision.flush { rounded.flushed() } else { rounded })
    }

    /// Remembers a product before rounding, and keeps it as a term rather than bits, which could not carry this.
    fn note_product(&mut self, store: &mut Store, value: Value, shape: Shape, operands: &[Known]) -> Value {
        let Some(held) = held(shape, operands) else { return value };
        let factors: SmallVec<[Enclosed<Wide>; 3]> = held.iter().map(|held| enclosed(*held)).collect();
        let product = enclose(TermOp::Mul, &factors);
        let term = match value {
            Value::Sym(sym) => TermId::from_raw(sym.raw() & Sym::PAYLOAD),
            Value::Bits(bits) => {
                let Some(exact) = decode(shape.format, bits).extended() else { return value };
                if bounds(&product) == Some([exact.clone(), exact.clone()]) {
                    return value;
                }
                let rounded = Rounded::exactly(shape.format, bits);
                store.intern(Constant { exact, literal: None, rounded })
            }
            Value::Undefined(_) => return value,
        };
        // A constant may be the result of several products.
        let product = match (self.products.remove(&term), product) {
            (Some(Enclosed::Finite(known)), Enclosed::Finite(new)) => Enclosed::Finite(known.hull(&new)),
            (Some(_), _) => Enclosed::Unresolved,
            (None, product) => product,
        };
        self.products.insert(term, product);
        Value::Sym(Sym::real(shape.format, term))
    }

    /// Whether a comparison holds; `None` where one of the terms depends on inputs.
    pub(crate) fn compare(
        &self,
        store: &Store,
        (op, format, flush): (TermOp, Format, bool),
        [left, right]: [TermId; 2],
    ) -> Option<Result<bool, Undecided>> {
        let (x, y) = (self.of(store, left)?, self.of(store, right)?);
        if left == right && matches!(left.kind(), TermKind::Lane(..)) {
            return Some(Ok(op != TermOp::Less));
        }
        let undecided = Err(Undecided("a comparison"));
        let (Some(x), Some(y)) = (x.both_bounds(format, flush), y.both_bounds(format, flush)) else {
            return Some(undecided);
        };
        let answers = x.iter().zip(&y).map(|(x, y)| compare_bounds(op, x, y));
        Some(match answers.collect::<SmallVec<[Option<bool>; 2]>>()[..] {
            [Some(exactly), Some(rounded)] if exactly == rounded => Ok(exactly),
            _ => undecided,
        })
    }
}

/// The values that hardware holds for an instruction's operands.
fn held(shape: Shape, operands: &[Known]) -> Option<SmallVec<[Rounded; 3]>> {
    let own = |operand: &Known| {
        let rounded = operand.rounded?.within(shape.format)?;
        Some(if shape.precision.flush { rounded.flushed() } else { rounded })
    };
    operands.iter().map(own).collect()
}

fn compare_bounds(op: TermOp, [a, b]: &Bounds, [x, y]: &Bounds) -> Option<bool> {
    let holds = |op, left: &Extended, right: &Extended| fold(op, &[left, right]) == Fold::Truth(true);
    let (less, at_most) = (TermOp::Less, TermOp::LessEqual);
    let (always, never) = if op == TermOp::Less {
        (holds(less, b, x), holds(at_most, y, a))
    } else if op == TermOp::LessEqual {
        (holds(at_most, b, x), holds(less, y, a))
    } else {
        (a == b && x == y && a == x, holds(less, b, x) || holds(less, y, a))
    };
    (always || never).then_some(always)
}

fn is_long(value: &Extended) -> bool {
    value.finite().is_some_and(|value| value.bit_length() > MAX_CONSTANT_BITS)
}

/// The least and the greatest number of an enclosure.
fn bounds(value: &Enclosed<Wide>) -> Option<Bounds> {
    match value {
        Enclosed::Finite(value) => {
            let (low, high) = value.bounds();
            Some([low.into(), high.into()])
        }
        Enclosed::PosInf => Some([Extended::PosInf, Extended::PosInf]),
        Enclosed::NegInf => Some([Extended::NegInf, Extended::NegInf]),
        Enclosed::True | Enclosed::False | Enclosed::Either | Enclosed::Undefined | Enclosed::Unresolved => {
            None
        }
    }
}

fn enclosed(rounded: Rounded) -> Enclosed<Wide> {
    match rounded.bounds() {
        [Extended::Finite(low), Extended::Finite(high)] => Wide::between(&low, &high, PRECISION).into(),
        [low, _] => Enclosed::exact(&low, PRECISION),
    }
}

fn enclose(op: TermOp, operands: &[Enclosed<Wide>]) -> Enclosed<Wide> {
    match operands {
        [a] => term::enclose(op, [a, a, a]),
        [a, b] => term::enclose(op, [a, b, a]),
        [a, b, c] => term::enclose(op, [a, b, c]),
        _ => Enclosed::Unresolved,
    }
}

fn zero() -> Extended {
    Extended::Finite(Rational::ZERO)
}

fn clamped(clamp: Clamp, value: Enclosed<Wide>) -> Enclosed<Wide> {
    match clamp {
        Clamp::None => value,
        Clamp::Saturate => enclose(TermOp::Saturate, &[value]),
        Clamp::Relu => value.max(&Enclosed::exact(&zero(), PRECISION)),
    }
}

fn clamp_fold(clamp: Clamp, value: Fold) -> Fold {
    match (clamp, &value) {
        (Clamp::Saturate, Fold::Value(number)) => fold(TermOp::Saturate, &[number]),
        (Clamp::Relu, Fold::Value(number)) => fold(TermOp::Max, &[number, &zero()]),
        (Clamp::None | Clamp::Saturate | Clamp::Relu, _) => value,
    }
}

impl Exact {
    /// Clamps the real.
    pub(crate) fn clamped(self, clamp: Clamp) -> Exact {
        match self {
            Exact::Number(number) => match clamp_fold(clamp, Fold::Value(number.clone())) {
                Fold::Value(number) => Exact::Number(number),
                Fold::Truth(_) | Fold::Undefined | Fold::Irrational => Exact::Number(number),
            },
            Exact::Between(value) => Exact::Between(clamped(clamp, value)),
        }
    }
}

/// Clamps a term, as a new node.
pub(crate) fn clamp_term(store: &mut Store, clamp: Clamp, term: TermId, pc: InstId) -> TermId {
    match clamp {
        Clamp::None => term,
        Clamp::Saturate => store.apply(TermOp::Saturate, &[term], pc),
        Clamp::Relu => {
            let zero = whole(store, 0);
            store.apply(TermOp::Max, &[term, zero], pc)
        }
    }
}

/// All reals of an enclosure as numbers of a format, with a rounding mode for the lower and one for the upper end.
fn encoded(value: &Enclosed<Wide>, format: Format, [down, up]: [Rounding; 2]) -> Option<Rounded> {
    let [low, high] = bounds(value)?;
    let sign = 1 << (8 * format.bytes() - 1);
    // The zero may have either sign.
    let first = encode(&low, format, down) | if low.signum() == 0 { sign } else { 0 };
    Rounded::between(format, first, encode(&high, format, up))
}

/// Bounds on an operation's result in hardware where an operand has several possible values, where the result is
/// irrational, or where the operation is an approximation.
fn of_ranges(shape: Shape, held: &[Rounded]) -> Option<Rounded> {
    let operands: SmallVec<[Enclosed<Wide>; 3]> = held.iter().map(|held| enclosed(*held)).collect();
    let value = enclose(shape.op, &operands);
    if !shape.precision.approximate {
        return encoded(&clamped(shape.clamp, value), shape.format, [shape.precision.rounding; 2]);
    }
    let Enclosed::Finite(finite) = &value else { return None };
    let argument = held.last()?.bounds();
    let error = approximation::maximal(shape.op, shape.format, &argument, finite.bounds())?;
    let error = Wide::between(&-&error, &error, PRECISION)?;
    let value = clamped(shape.clamp, finite.add(&error).into());
    encoded(&value, shape.format, [Rounding::Down, Rounding::Up])
}

/// The result of an operation in hardware from known operands in hardware; `None` where it is not a rational that is
/// rounded once.
fn of_numbers(shape: Shape, held: &[Rounded]) -> Option<Rounded> {
    let bits: SmallVec<[u64; 3]> = held.iter().map(|held| held.bits()).collect::<Option<_>>()?;
    let numbers: SmallVec<[Extended; 3]> = held.iter().map(|held| held.bounds()[0].clone()).collect();
    let Fold::Value(result) =
        clamp_fold(shape.clamp, fold(shape.op, &numbers.iter().collect::<SmallVec<[&Extended; 3]>>()))
    else {
        return None;
    };
    let zero = |at: usize| numbers[at].signum() == 0;
    let infinite = |value: &Extended| value.finite().is_none();
    // The ISA tabulates functions at infinities, and bounded functions at zeros.
    let quotient_of_large = shape.op == TermOp::Div
        && numbers[1].finite().is_some_and(|divisor| divisor.abs() > Rational::power_of_two(126));
    let listed = numbers.iter().any(infinite) && !quotient_of_large
        || zero(0)
            && matches!(shape.op, TermOp::Exp2 | TermOp::Sin | TermOp::Cos | TermOp::Tanh | TermOp::Sqrt);
    if shape.precision.approximate && !listed {
        return None;
    }
    let rounded = encode(&result, shape.format, shape.precision.rounding);
    if decode(shape.format, rounded) != Decoded::Finite(Rational::ZERO) {
        return Rounded::exactly(shape.format, rounded);
    }
    // The sign of a zero, exact or by underflow, follows separate rules.
    let sign_bit = 1u64 << (8 * shape.format.bytes() - 1);
    let negative = |at: usize| bits[at] & sign_bit != 0;
    let down = shape.precision.rounding == Rounding::Down;
    let sum = |left: (bool, bool), right: (bool, bool)| match (left, right) {
        ((true, left), (true, right)) if left == right => left,
        _ => down,
    };
    let minus = match (result.signum().cmp(&0), shape.clamp) {
        (Ordering::Less, _) => true,
        (Ordering::Greater, _) | (Ordering::Equal, Clamp::Saturate | Clamp::Relu) => false,
        (Ordering::Equal, Clamp::None) => match shape.op.kind() {
            Kind::Sum(Sum::Add) => sum((zero(0), negative(0)), (zero(1), negative(1))),
            Kind::Sum(Sum::Sub) => sum((zero(0), negative(0)), (zero(1), !negative(1))),
            Kind::Sum(Sum::Fma) => {
                sum((zero(0) || zero(1), negative(0) != negative(1)), (zero(2), negative(2)))
            }
            Kind::Product(Product::Mul | Product::Div) => negative(0) != negative(1),
            Kind::Product(Product::Neg) => !negative(0),
            Kind::Piecewise(Piecewise::Max) => (0..2).filter(|at| zero(*at)).all(negative),
            Kind::Piecewise(Piecewise::Min) => (0..2).filter(|at| zero(*at)).any(negative),
            Kind::Function(function) => function.keeps_negative_zero && negative(0),
            Kind::Piecewise(
                Piecewise::Abs | Piecewise::CopySign | Piecewise::Select | Piecewise::Mod | Piecewise::BitAnd,
            )
            | Kind::Exponential
            | Kind::Condition(_)
            | Kind::Ieee => false,
        },
    };
    Rounded::exactly(shape.format, rounded & !sign_bit | if minus { sign_bit } else { 0 })
}
