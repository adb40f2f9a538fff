//! Evaluates the verifier's terms at a point, with bounds on the rounding errors of a computation in floats.
//!
//! [`Tape`] holds the terms of some outputs, operands first. [`Tape::evaluate`] computes in one pass, for each term,
//! its value `v` in real arithmetic (in f64; the error of that is far below the bound, and counted for f64 kernels by a
//! doubled unit) and a bound `e`: executed in floats, the operation that made the term gives a number within `e` of
//! `v`. This is running error analysis (Wilkinson; Higham, *Accuracy and Stability of Numerical Algorithms*, §3.3),
//! with these rules, where `u` is a unit roundoff and `η` the smallest normal number:
//!
//! - An input is exact. So is a constant, except a literal that is no integer and has many bits: it stands for a real
//!   that was rounded (rule V9), and the sides may have different such literals; `e = 2u·|v|`.
//! - A result is rounded: `u` times the sum of magnitudes of the addends, or `u·|v|`, and `η` for underflow; for
//!   functions 4 times that. Nothing is lost if operands are exact and the result has no more bits than the format: so
//!   sums with the large constants by which compilers round stay exact.
//! - Errors of operands are propagated by the derivative's bound over the interval: `|a|·e_b + |b|·e_a + e_a·e_b` for
//!   products, `(e_a + |q|·e_b) / (|b| − e_b)` for quotients, `2^a·(2^(e_a) − 1)` for powers, and so on.
//! - A value that may overflow is unknown.
//! - Integer computations are exact: remainders, bits, shifts, and outputs that are integers.
//! - A comparison is certain if its sides are further apart than their errors; otherwise a choice by it may be either
//!   operand. A floor is taken to be that of `v`, and exact. A float may be rounded down to the next smaller integer,
//!   but that must not matter: kernels use floors to split the exponent of `exp`, whose two parts compensate for it.
//!   Where it does matter the numbers disagree, so this rule excuses no error.
//! - The products of a matrix may be summed in another order. This is covered since the unit is twice that of rounding
//!   to nearest, and applied to magnitudes.
//! - So may sums in a kernel that adds floats atomically, however they are nested: each of their additions may round
//!   the magnitudes of all addends.
//! - The term does not tell in which format it was computed, since the verifier ignores conversions. So `u` is that of
//!   the narrowest format in which the kernel computes. If it only *converts* to a narrower one, that unit is charged
//!   where converted values are used: to factors of products (for which they are converted) and to outputs, but not to
//!   a product with a constant that the narrower format does not represent.

use std::collections::{HashMap, HashSet};

use volta_core::term::{Store, TermId, TermOp, View};

use super::values;
use crate::interpreter::float::Format;
use crate::interpreter::launch::Ready;
use crate::interpreter::matrix::{Element, Elements};
use crate::interpreter::op::{AtomicOp, FloatOp, Op, Type};
use crate::interpreter::tensor_memory::Kind;

/// The value of a term at a point, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A real, and a bound on the error of floats.
    Real(f64, f64),
    /// `+∞` or `−∞`.
    Infinite(f64),
    /// A truth value; `None` where floats may disagree.
    Truth(Option<bool>),
    /// Undefined by rule V3.
    Undefined,
    /// Unknown: the point is too close to where the term is undefined, or the operation is not modelled.
    Unknown,
}

/// How a kernel rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// The unit of operations.
    unit: f64,
    /// The number of significant bits of its format.
    digits: u32,
    /// The smallest normal number.
    tiny: f64,
    /// The largest number.
    huge: f64,
    /// The unit of conversions to a narrower format, its significant bits, and its smallest normal number.
    conversion: Option<(f64, u32, f64)>,
    /// Whether sums may be taken in any order.
    any_order: bool,
}

/// Twice the unit roundoff to nearest, which covers all roundings; significant bits; the smallest normal number.
fn unit_of(format: Format) -> (f64, u32, f64) {
    let digits = format.fraction_bits() + 1;
    let doubled = if format == Format::F64 { 1 } else { 0 };
    (2.0_f64.powi(1 - digits as i32 + doubled), digits, 2.0_f64.powi(format.min_exponent()))
}

/// The largest number of a format.
fn huge(format: Format) -> f64 {
    let fraction = 2.0 - 2.0_f64.powi(-(format.fraction_bits() as i32));
    fraction * 2.0_f64.powi(1 - format.min_exponent())
}

impl Precision {
    /// That of f32.
    pub fn single() -> Precision {
        let (unit, digits, tiny) = unit_of(Format::F32);
        Precision { unit, digits, tiny, huge: huge(Format::F32), conversion: None, any_order: false }
    }

    /// The precision of a side, from the formats of its instructions.
    pub fn of(side: &Ready<'_>) -> Precision {
        let mut computed = vec![Format::F64];
        let mut converted = Vec::new();
        // The literals of a graph are those of f32.
        computed.extend(side.has_graphs().then_some(Format::F32));
        let functions = side.launches().flat_map(|launch| &launch.program.functions);
        for instruction in functions.flat_map(|function| &function.code) {
            let op = &instruction.op;
            if let Op::Float { op: FloatOp::Arithmetic(_) | FloatOp::Function(_), style, .. }
            | Op::Atomic { op: AtomicOp::Add(style), .. } = op
            {
                computed.push(style.format);
            }
            if let Op::Convert(conversion) = op {
                match (conversion.to, conversion.from) {
                    (Type::Float(to) | Type::FloatPair(to), Type::Float(from) | Type::FloatPair(from))
                        if to.fraction_bits() < from.fraction_bits() && !conversion.integral =>
                    {
                        converted.push(to);
                    }
                    (Type::Float(to), Type::Int(_)) => computed.push(to),
                    _ => {}
                }
            }
            if let Op::Collective { op, .. } = op
                && let Some(Elements { a: Element::Float(a), d: Element::Float(d), .. }) = op.product()
            {
                computed.push(if d == Format::F64 { d } else { Format::F32 });
                converted.extend([a, d].into_iter().filter(|format| *format != Format::F64));
            }
            if let Op::TensorProduct(product) = op {
                // Separate instructions convert factors, except to tf32; results may be f16.
                let narrow = match product.kind {
                    Kind::F16 | Kind::F8 | Kind::Scaled => Some(Format::F16),
                    Kind::Tf32 => Some(Format::Tf32),
                    Kind::I8 => None,
                };
                computed.extend(narrow.map(|_| Format::F32));
                converted.extend(narrow);
            }
        }
        let narrowest = |all: Vec<Format>| all.into_iter().min_by_key(|format| format.fraction_bits());
        let format = narrowest(computed).unwrap_or(Format::F64);
        let (unit, digits, tiny) = unit_of(format);
        let conversion = narrowest(converted).map(unit_of).filter(|(_, narrow, _)| *narrow < digits);
        let any_order = side.adds_floats_atomically();
        Precision { unit, digits, tiny, huge: huge(format), conversion, any_order }
    }

    /// The bound of an output that may have been converted before it was stored, into a format.
    pub fn stored(&self, value: Value, format: Option<Format>) -> Value {
        let Value::Real(value, error) = value else { return value };
        let (unit, _, tiny) = format.map_or((0.0, 0, 0.0), unit_of);
        let (narrow, _, small) = self.conversion.unwrap_or((0.0, 0, 0.0));
        Value::Real(value, error + unit.max(narrow) * (value.abs() + error) + tiny.max(small))
    }

    /// The error of a rounded result, whose unrounded magnitude is at most `magnitude`.
    fn round(&self, magnitude: f64) -> f64 {
        self.unit * magnitude + self.tiny
    }

    /// A factor of a product, which may have been converted.
    fn factor(&self, value: f64, error: f64) -> f64 {
        match self.conversion {
            Some((unit, digits, tiny)) if error > 0.0 || !has_digits(value, digits) => {
                error + unit * (value.abs() + error) + tiny
            }
            _ => error,
        }
    }
}

/// Whether a number has at most `digits` significant bits, and is not tiny.
fn has_digits(value: f64, digits: u32) -> bool {
    let cut = 53 - digits.min(53);
    value == 0.0 || value.abs() > 1e-4 && value.abs() < 1e30 && value.to_bits() & ((1 << cut) - 1) == 0
}

/// A term, with the places of its operands on the tape.
#[derive(Clone, Copy, Debug)]
enum Step {
    Input { input: usize, element: usize },
    Constant { value: f64, literal: bool },
    Apply(TermOp, [usize; 3]),
}

/// Terms of one store in an order in which they can be evaluated.
#[derive(Debug)]
pub struct Tape<'s> {
    store: &'s Store,
    steps: Vec<Step>,
    places: HashMap<TermId, usize>,
    /// The places of outputs that are integers.
    integers: HashSet<usize>,
}

impl<'s> Tape<'s> {
    /// An empty tape.
    pub fn new(store: &'s Store) -> Tape<'s> {
        Tape { store, steps: Vec::new(), places: HashMap::new(), integers: HashSet::new() }
    }

    /// Whether the tape is of this store.
    pub fn is_of(&self, store: &Store) -> bool {
        std::ptr::eq(self.store, store)
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Appends a term with everything below it, and returns its place.
    ///
    /// # Errors
    /// A constant that cannot be read.
    pub fn add(&mut self, term: TermId) -> Result<usize, String> {
        let mut waiting = vec![term];
        while let Some(&next) = waiting.last() {
            if self.places.contains_key(&next) {
                waiting.pop();
                continue;
            }
            let step = match self.store.view(next) {
                View::Input { input, element } => {
                    Step::Input { input: input.index(), element: element as usize }
                }
                View::Constant(constant) => {
                    let value = values::constant(&constant.exact)?;
                    Step::Constant { value, literal: constant.literal.is_some() || !has_digits(value, 24) }
                }
                View::Apply(op, operands) => {
                    let missing = operands.iter().filter(|operand| !self.places.contains_key(operand));
                    let before = waiting.len();
                    let missing: Vec<TermId> = missing.copied().collect();
                    waiting.extend(missing);
                    if waiting.len() > before {
                        continue;
                    }
                    Step::Apply(op, operands.map(|operand| self.places[&operand]))
                }
            };
            waiting.pop();
            self.places.insert(next, self.steps.len());
            self.steps.push(step);
        }
        Ok(self.places[&term])
    }

    /// Marks the term at a place as an integer, which is not rounded.
    pub fn is_integer(&mut self, place: usize) {
        self.integers.insert(place);
    }

    /// Whether a term is a constant that the format of conversions does not represent.
    fn is_wide(&self, precision: &Precision, at: usize) -> bool {
        match (self.steps[at], precision.conversion) {
            (Step::Constant { value, .. }, Some((_, digits, _))) => !has_digits(value, digits),
            _ => false,
        }
    }

    /// Evaluates all terms at inputs, which are given as reals (integers as well).
    pub fn evaluate(&self, precision: &Precision, input: &dyn Fn(usize, usize) -> Option<f64>) -> Vec<Value> {
        let mut out: Vec<Value> = Vec::with_capacity(self.steps.len());
        let mut wholes: Vec<Option<i128>> = Vec::with_capacity(self.steps.len());
        let mut sums: Vec<Sum> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let whole = self.whole(step, &out, &wholes, input);
            wholes.push(whole);
            let value = match *step {
                // Operations that exist for integers only are exact, however many bits the results have.
                Step::Apply(op, _)
                    if whole.is_some()
                        && (matches!(op, TermOp::Mod | TermOp::BitAnd | TermOp::Floor)
                            || self.integers.contains(&out.len())) =>
                {
                    whole.map_or(Value::Unknown, |whole| Value::Real(whole as f64, 0.0))
                }
                // Small integers that are exact stay so, whichever format computes them.
                Step::Apply(
                    TermOp::Add | TermOp::Sub | TermOp::Mul | TermOp::Fma | TermOp::Neg,
                    operands,
                ) if whole.is_some_and(|whole| whole.unsigned_abs() < 1 << precision.digits.min(64))
                    && operands.iter().all(|at| matches!(out[*at], Value::Real(_, 0.0))) =>
                {
                    whole.map_or(Value::Unknown, |whole| Value::Real(whole as f64, 0.0))
                }
                Step::Input { input: at, element } => match input(at, element) {
                    Some(value) => Value::Real(value, 0.0),
                    None => Value::Unknown,
                },
                Step::Constant { value, .. } if value.is_infinite() => Value::Infinite(value),
                Step::Constant { value, literal } => {
                    let stands_for_another = literal && value.fract() != 0.0 && !has_digits(value, 12);
                    Value::Real(
                        value,
                        if stands_for_another { 2.0 * precision.unit * value.abs() } else { 0.0 },
                    )
                }
                Step::Apply(op, operands) => {
                    let factors = [operands[0], operands[1]];
                    let converts = !factors.iter().any(|at| self.is_wide(precision, *at));
                    let conversion = precision.conversion.filter(|_| converts);
                    apply(&Precision { conversion, ..*precision }, op, operands.map(|at| out[at]))
                }
            };
            let (value, sum) = if let Step::Apply(TermOp::Add, [a, b, _]) = *step
                && precision.any_order
                && !(whole.is_some() && matches!(value, Value::Real(_, 0.0)))
            {
                sums[a].and(sums[b]).bound(precision, value)
            } else {
                (value, Sum::of(value))
            };
            out.push(value);
            sums.push(sum);
        }
        out
    }

    /// The constant that a term is, or that its choices select.
    fn chosen(&self, mut at: usize, out: &[Value]) -> Option<f64> {
        loop {
            at = match self.steps[at] {
                Step::Constant { value, .. } => return Some(value),
                Step::Apply(TermOp::Select, [condition, then, otherwise]) => {
                    if let Value::Truth(Some(holds)) = out[condition] {
                        if holds { then } else { otherwise }
                    } else {
                        return None;
                    }
                }
                Step::Input { .. } | Step::Apply(..) => return None,
            };
        }
    }

    /// The exact value of a term that is computed in integers.
    fn whole(
        &self,
        step: &Step,
        out: &[Value],
        wholes: &[Option<i128>],
        input: &dyn Fn(usize, usize) -> Option<f64>,
    ) -> Option<i128> {
        let exact = |value: f64| (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i128);
        let (op, operands) = match *step {
            Step::Input { input: at, element } => return exact(input(at, element)?),
            Step::Constant { value, .. } => return exact(value).or(whole_power(value)),
            Step::Apply(op, operands) => (op, operands),
        };
        let [a, b, c] = operands.map(|at| wholes[at]);
        match op {
            TermOp::Add => a?.checked_add(b?),
            TermOp::Sub => a?.checked_sub(b?),
            TermOp::Mul => a?.checked_mul(b?),
            TermOp::Fma => a?.checked_mul(b?)?.checked_add(c?),
            TermOp::Neg => a?.checked_neg(),
            TermOp::Abs => a?.checked_abs(),
            TermOp::Max => Some(a?.max(b?)),
            TermOp::Min => Some(a?.min(b?)),
            TermOp::Mod => a?.checked_rem_euclid(b?),
            TermOp::BitAnd => Some(a? & b?),
            TermOp::Select => match out[operands[0]] {
                Value::Truth(Some(true)) => b,
                Value::Truth(Some(false)) => c,
                Value::Real(..)
                | Value::Infinite(_)
                | Value::Truth(_)
                | Value::Undefined
                | Value::Unknown => None,
            },
            TermOp::Floor | TermOp::Ceil | TermOp::Trunc | TermOp::RoundEven if a.is_some() => a,
            TermOp::Trunc | TermOp::RoundEven => match out[operands[0]] {
                Value::Real(value, _) if op == TermOp::Trunc => exact(value.trunc()),
                Value::Real(value, _) => exact(value.round_ties_even()),
                Value::Infinite(_) | Value::Truth(_) | Value::Undefined | Value::Unknown => None,
            },
            // A right shift.
            TermOp::Floor => {
                if let Step::Apply(TermOp::Mul, [number, factor, _]) = self.steps[operands[0]] {
                    match self.chosen(factor, out)? {
                        factor if factor > 0.0 && factor < 1.0 => {
                            Some(wholes[number]?.div_euclid(whole_power(1.0 / factor)?))
                        }
                        _ => None,
                    }
                } else {
                    None
                }
            }
            TermOp::Div
            | TermOp::Saturate
            | TermOp::Exp2
            | TermOp::Log2
            | TermOp::Sqrt
            | TermOp::Rsqrt
            | TermOp::Sin
            | TermOp::Cos
            | TermOp::Tanh
            | TermOp::Erf
            | TermOp::Atan
            | TermOp::Cbrt
            | TermOp::Gamma
            | TermOp::BesselJ0
            | TermOp::BesselJ1
            | TermOp::BesselY0
            | TermOp::BesselY1
            | TermOp::EncodeF32
            | TermOp::EncodeF64
            | TermOp::DecodeF32
            | TermOp::DecodeF64
            | TermOp::Outcome
            | TermOp::Ieee1
            | TermOp::Ieee2
            | TermOp::IeeePair
            | TermOp::Ceil
            | TermOp::CopySign
            | TermOp::Less
            | TermOp::LessEqual
            | TermOp::Equal
            | TermOp::Not
            | TermOp::And
            | TermOp::Or
            | TermOp::Xor => None,
        }
    }
}

/// All addends of a sum, however it is nested.
#[derive(Clone, Copy, Debug)]
struct Sum {
    /// The sum of the magnitudes of the addends.
    magnitude: f64,
    /// The sum of their errors.
    carried: f64,
    additions: f64,
}

impl Sum {
    /// A single addend.
    fn of(value: Value) -> Sum {
        if let Value::Real(value, error) = value {
            Sum { magnitude: value.abs(), carried: error, additions: 0.0 }
        } else {
            Sum { magnitude: 0.0, carried: 0.0, additions: 0.0 }
        }
    }

    fn and(self, other: Sum) -> Sum {
        Sum {
            magnitude: self.magnitude + other.magnitude,
            carried: self.carried + other.carried,
            additions: self.additions + other.additions + 1.0,
        }
    }

    /// The sum, with a bound that holds in any order.
    fn bound(self, precision: &Precision, value: Value) -> (Value, Sum) {
        let Value::Real(real, error) = value else { return (value, Sum::of(value)) };
        let rounded = self.additions * precision.round(self.magnitude + self.carried);
        (Value::Real(real, error.max(self.carried + rounded)), self)
    }
}

/// A power of two as an integer.
fn whole_power(value: f64) -> Option<i128> {
    ((1.0..1e30).contains(&value) && value.to_bits() << 12 == 0).then_some(value as i128)
}

fn apply(precision: &Precision, op: TermOp, [a, b, c]: [Value; 3]) -> Value {
    use TermOp::*;
    let operands = &[a, b, c][..op.arity()];
    if op == Select {
        return select(a, b, c);
    }
    // An undefined operand gives an undefined result, even if another one is unknown.
    if operands.contains(&Value::Undefined) {
        return Value::Undefined;
    }
    if operands.contains(&Value::Unknown) {
        return Value::Unknown;
    }
    if operands.iter().any(|value| matches!(value, Value::Infinite(_))) {
        return with_infinities(precision, op, [a, b, c]);
    }
    match (op, a, b, c) {
        (Not, Value::Truth(a), ..) => Value::Truth(a.map(|a| !a)),
        (And, Value::Truth(Some(false)), ..) | (And, _, Value::Truth(Some(false)), _) => {
            Value::Truth(Some(false))
        }
        (Or, Value::Truth(Some(true)), ..) | (Or, _, Value::Truth(Some(true)), _) => Value::Truth(Some(true)),
        (And, Value::Truth(Some(a)), Value::Truth(Some(b)), _) => Value::Truth(Some(a && b)),
        (Or, Value::Truth(Some(a)), Value::Truth(Some(b)), _) => Value::Truth(Some(a || b)),
        (Xor, Value::Truth(Some(a)), Value::Truth(Some(b)), _) => Value::Truth(Some(a != b)),
        (And | Or | Xor, ..) => Value::Truth(None),
        (_, Value::Real(a, ea), Value::Real(b, eb), Value::Real(c, ec)) => {
            real(precision, op, [(a, ea), (b, eb), (c, ec)])
        }
        (_, Value::Real(a, ea), Value::Real(b, eb), _) => real(precision, op, [(a, ea), (b, eb), (0.0, 0.0)]),
        (_, Value::Real(a, ea), ..) => real(precision, op, [(a, ea), (0.0, 0.0), (0.0, 0.0)]),
        _ => Value::Unknown,
    }
}

fn select(condition: Value, then: Value, otherwise: Value) -> Value {
    match (condition, then, otherwise) {
        (Value::Truth(Some(true)), then, _) => then,
        (Value::Truth(Some(false)), _, otherwise) => otherwise,
        (Value::Truth(None), Value::Real(a, ea), Value::Real(b, eb)) => {
            let (low, high) = ((a - ea).min(b - eb), (a + ea).max(b + eb));
            Value::Real(low / 2.0 + high / 2.0, high / 2.0 - low / 2.0)
        }
        (Value::Undefined, ..) => Value::Undefined,
        _ => Value::Unknown,
    }
}

/// Applies an operation to reals with errors.
fn real(precision: &Precision, op: TermOp, [(a, ea), (b, eb), (c, ec)]: [(f64, f64); 3]) -> Value {
    use TermOp::*;
    let zero = |(value, error): (f64, f64)| value == 0.0 && error == 0.0;
    let exact_operands = [(a, ea), (b, eb), (c, ec)][..op.arity()]
        .iter()
        .all(|(value, error)| *error == 0.0 && has_digits(*value, precision.digits));
    // A sum with propagated errors and the magnitude that is rounded; it is exact if `lost` is 0 and its bits fit.
    let sum = |value: f64, carried: f64, magnitude: f64, lost: f64| {
        if exact_operands && lost == 0.0 && has_digits(value, precision.digits) {
            return Value::Real(value, 0.0);
        }
        Value::Real(value, carried + precision.round(magnitude + carried))
    };
    let plain = |value: f64, carried: f64| sum(value, carried, value.abs(), f64::NAN);
    let function =
        |value: f64, carried: f64| Value::Real(value, carried + 4.0 * precision.round(value.abs() + carried));
    let between = |low: f64, high: f64| low - eb - ea <= high;
    let value = match op {
        Add => sum(a + b, ea + eb, a.abs() + b.abs(), lost_in_sum(a, b)),
        Sub => sum(a - b, ea + eb, a.abs() + b.abs(), lost_in_sum(a, -b)),
        // Zero times any factor is zero, whatever its error.
        Mul if zero((a, ea)) || zero((b, eb)) => Value::Real(0.0, 0.0),
        Fma if zero((a, ea)) || zero((b, eb)) => Value::Real(c, ec),
        Mul | Fma => {
            let (ea, eb) = (precision.factor(a, ea), precision.factor(b, eb));
            let (product, carried) = (a * b, a.abs() * eb + b.abs() * ea + ea * eb);
            let lost = a.mul_add(b, -product);
            if op == Mul {
                sum(product, carried, product.abs(), lost + carried)
            } else {
                let magnitude = 2.0 * product.abs() + c.abs();
                sum(
                    product + c,
                    carried + ec,
                    magnitude,
                    lost.abs() + lost_in_sum(product, c).abs() + carried,
                )
            }
        }
        Div if b == 0.0 && eb == 0.0 => Value::Undefined,
        Div if b.abs() <= eb => Value::Unknown,
        Div => plain(a / b, (ea + (a / b).abs() * eb) / (b.abs() - eb)),
        Neg => Value::Real(-a, ea),
        Abs => Value::Real(a.abs(), ea),
        Max => Value::Real(a.max(b), ea.max(eb)),
        Min => Value::Real(a.min(b), ea.max(eb)),
        Saturate => Value::Real(a.clamp(0.0, 1.0), ea),
        Exp2 => function(a.exp2(), a.exp2() * (ea * std::f64::consts::LN_2).exp_m1()),
        Log2 | Rsqrt if a <= 0.0 && ea == 0.0 => Value::Undefined,
        Sqrt if a < 0.0 && ea == 0.0 => Value::Undefined,
        Log2 | Rsqrt if a <= ea => Value::Unknown,
        Sqrt if a < -ea => Value::Undefined,
        Log2 => function(a.log2(), a.log2() - (a - ea).log2()),
        Sqrt => plain(a.max(0.0).sqrt(), (a.max(0.0) + ea).sqrt() - (a - ea).max(0.0).sqrt()),
        Rsqrt => function(1.0 / a.sqrt(), 1.0 / (a - ea).sqrt() - 1.0 / a.sqrt()),
        Sin => Value::Real(a.sin(), ea + 4.0 * precision.round(1.0)),
        Cos => Value::Real(a.cos(), ea + 4.0 * precision.round(1.0)),
        Tanh => function(a.tanh(), ea),
        // Its slope is at most 2/√π.
        Erf => function(rug::Float::with_val(64, a).erf().to_f64(), 1.13 * ea),
        Atan => function(a.atan(), ea),
        Cbrt if a.abs() > ea => function(a.cbrt(), a.abs().cbrt() - (a.abs() - ea).cbrt()),
        // The difference of roots is largest for numbers on both sides of zero.
        Cbrt => function(a.cbrt(), 2.0 * ea.cbrt()),
        // Their slopes are at most 1.
        BesselJ0 => function(rug::Float::with_val(64, a).j0().to_f64(), ea),
        BesselJ1 => function(rug::Float::with_val(64, a).j1().to_f64(), ea),
        Gamma | BesselY0 | BesselY1 if a <= 0.0 && ea == 0.0 => Value::Undefined,
        Gamma | BesselY0 | BesselY1 => Value::Unknown,
        Floor => Value::Real(a.floor(), 0.0),
        Ceil => Value::Real(a.ceil(), 0.0),
        Trunc => Value::Real(a.trunc(), 0.0),
        RoundEven => Value::Real(a.round_ties_even(), 0.0),
        // The magnitude of b with the sign of a.
        CopySign if a.abs() > ea => Value::Real(b.abs().copysign(a), eb),
        CopySign => Value::Real(0.0, b.abs() + eb),
        Less | LessEqual | Equal if (ea == 0.0 && eb == 0.0) || !(between(a, b) && between(b, a)) => {
            Value::Truth(Some(compared(op, a, b)))
        }
        Less | LessEqual | Equal => Value::Truth(None),
        Not | And | Or | Xor | Select | Mod | BitAnd | EncodeF32 | EncodeF64 | DecodeF32 | DecodeF64
        | Outcome | Ieee1 | Ieee2 | IeeePair => Value::Unknown,
    };
    if let Value::Real(value, error) = value
        && (error.is_nan() || value.is_nan() || value.abs() + error >= precision.huge)
    {
        return Value::Unknown;
    }
    value
}

/// The rounding error of an f64 sum (Knuth).
fn lost_in_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let other = sum - a;
    (a - (sum - other)) + (b - other)
}

/// A comparison of exact numbers.
fn compared(op: TermOp, a: f64, b: f64) -> bool {
    if op == TermOp::Less {
        a < b
    } else if op == TermOp::LessEqual {
        a <= b
    } else {
        a == b
    }
}

/// Rule V3.
fn with_infinities(precision: &Precision, op: TermOp, [a, b, c]: [Value; 3]) -> Value {
    use TermOp::*;
    use Value::{Infinite, Real};
    let negative = |value: Value| match value {
        Infinite(value) => Infinite(-value),
        Real(value, error) => Real(-value, error),
        other @ (Value::Truth(_) | Value::Undefined | Value::Unknown) => other,
    };
    match (op, a, b) {
        (Neg, Infinite(a), _) => Infinite(-a),
        (Abs, ..) => Infinite(f64::INFINITY),
        (Add, Infinite(a), Infinite(b)) => {
            if a == b {
                Infinite(a)
            } else {
                Value::Undefined
            }
        }
        (Add, Infinite(a), _) | (Add, _, Infinite(a)) => Infinite(a),
        (Sub, a, b) => apply(precision, Add, [a, negative(b), c]),
        (Mul, Infinite(a), Infinite(b)) => Infinite(a * b),
        (Mul, Infinite(a), Real(b, eb)) | (Mul, Real(b, eb), Infinite(a)) => match b {
            _ if b == 0.0 && eb == 0.0 => Value::Undefined,
            _ if b.abs() <= eb => Value::Unknown,
            _ => Infinite(a * b.signum()),
        },
        (Fma, a, b) => {
            let product = apply(precision, Mul, [a, b, b]);
            apply(precision, Add, [product, c, c])
        }
        (Div, Real(..), Infinite(_)) => Real(0.0, 0.0),
        (Div, Infinite(a), Real(b, eb)) if b.abs() > eb => Infinite(a * b.signum()),
        (Div, Infinite(_), Infinite(_)) => Value::Undefined,
        (Max, Infinite(a), other) | (Max, other, Infinite(a)) => {
            if a > 0.0 {
                Infinite(a)
            } else {
                other
            }
        }
        (Min, Infinite(a), other) | (Min, other, Infinite(a)) => {
            if a < 0.0 {
                Infinite(a)
            } else {
                other
            }
        }
        (Saturate, Infinite(a), _) => Real(if a > 0.0 { 1.0 } else { 0.0 }, 0.0),
        (Exp2, Infinite(a), _) => {
            if a > 0.0 {
                Infinite(a)
            } else {
                Real(0.0, 0.0)
            }
        }
        (Log2 | Sqrt, Infinite(a), _) => {
            if a > 0.0 {
                Infinite(a)
            } else {
                Value::Undefined
            }
        }
        (Rsqrt, Infinite(a), _) => {
            if a > 0.0 {
                Real(0.0, 0.0)
            } else {
                Value::Undefined
            }
        }
        (Tanh | Erf, Infinite(a), _) => Real(a.signum(), 0.0),
        (Cbrt, Infinite(a), _) => Infinite(a),
        (BesselJ0 | BesselJ1, Infinite(_), _) => Real(0.0, 0.0),
        (Floor | Ceil | Trunc | RoundEven, Infinite(a), _) => Infinite(a),
        (Less | LessEqual | Equal, a, b) => {
            let place =
                |value: Value| if let Infinite(value) | Real(value, _) = value { value } else { f64::NAN };
            let (a, b) = (place(a), place(b));
            Value::Truth(Some(compared(op, a, b)))
        }
        _ => Value::Unknown,
    }
}

#[cfg(test)]
mod tests;
