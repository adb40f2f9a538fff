//! Floats as values of IEEE arithmetic, for claims about bits (rule B1): each operation is a term with its format,
//! rounding and modifiers.

use super::convert::FloatCast;
use super::float::{OperandTerms, set_reals, set_results};
use crate::base::lane::{Lane, LaneMask};
use crate::machine::group::stop::Stop;
use crate::machine::group::values::Reals;
use crate::machine::group::warp::Step;
use crate::number::Rational;
use crate::number::format::{Format, Rounding, to_f64};
use crate::program::matrix::{MatrixElement, MatrixProduct};
use crate::program::{
    Clamp, Compare, Float1, Float2, FloatCompare, InstId, Int, Op, Precision, RegId, Src, ToIntegral,
};
use crate::term::{Ieee, IeeeInt, IeeeKey, IeeeOp, Results, TermId, TermOp, View, encoding};
use crate::value::int_terms::{exactly, ieee_of_one};
use crate::value::{Sym, Truth, Value};
use smallvec::{SmallVec, smallvec};

/// An instruction: the operation, and what is done to its operands before and to its result afterwards.
pub(crate) struct IeeeInst {
    pub(crate) key: IeeeKey,
    /// Whether the last operand is negated.
    pub(crate) negates: bool,
    pub(crate) clamp: Clamp,
    pub(crate) d: RegId,
    pub(crate) sources: SmallVec<[Src; 3]>,
}

/// A key with the modifiers of an instruction.
fn key(op: IeeeOp, format: Format, precision: Precision) -> IeeeKey {
    let rounds = matches!(
        op,
        IeeeOp::Add
            | IeeeOp::Mul
            | IeeeOp::Fma
            | IeeeOp::Div
            | IeeeOp::Sqrt
            | IeeeOp::Convert
            | IeeeOp::ConvertFinite
    );
    let rounding = if rounds { precision.rounding } else { Rounding::Nearest };
    let fusible = precision.fusible && matches!(op, IeeeOp::Add | IeeeOp::Mul);
    IeeeKey { rounding, flush: precision.flush, fusible, ..IeeeKey::new(op, format) }
}

impl IeeeInst {
    /// The instruction that an operation is, if it computes floats from floats without converting them.
    pub(crate) fn of(op: &Op) -> Option<IeeeInst> {
        if let Op::Float1 { op, format, precision, d, a } = op {
            let op = match op {
                Float1::Neg => IeeeOp::Neg,
                Float1::Abs => IeeeOp::Abs,
                Float1::Ex2 => IeeeOp::Ex2,
                Float1::Lg2 => IeeeOp::Lg2,
                Float1::Rcp => IeeeOp::Rcp,
                Float1::Sqrt if precision.approximate => IeeeOp::SqrtApprox,
                Float1::Sqrt => IeeeOp::Sqrt,
                Float1::Rsqrt => IeeeOp::Rsqrt,
                Float1::Sin => IeeeOp::Sin,
                Float1::Cos => IeeeOp::Cos,
                Float1::Tanh => IeeeOp::Tanh,
            };
            let key = key(op, *format, *precision);
            return Some(IeeeInst { key, negates: false, clamp: Clamp::None, d: *d, sources: smallvec![*a] });
        }
        if let Op::Float2 { op, format, precision, clamp, d, a, b } = op {
            let ieee = match op {
                Float2::Add | Float2::Sub => IeeeOp::Add,
                Float2::Mul => IeeeOp::Mul,
                Float2::Div if precision.variant => IeeeOp::DivFull,
                Float2::Div if precision.approximate => IeeeOp::DivApprox,
                Float2::Div => IeeeOp::Div,
                Float2::Min if precision.variant => IeeeOp::MinNan,
                Float2::Min => IeeeOp::Min,
                Float2::Max if precision.variant => IeeeOp::MaxNan,
                Float2::Max => IeeeOp::Max,
                Float2::CopySign => IeeeOp::CopySign,
            };
            let (key, negates) = (key(ieee, *format, *precision), *op == Float2::Sub);
            return Some(IeeeInst { key, negates, clamp: *clamp, d: *d, sources: smallvec![*a, *b] });
        }
        if let Op::Fma { format, precision, clamp, d, a, b, c } = op {
            let key = key(IeeeOp::Fma, *format, *precision);
            return Some(IeeeInst {
                key,
                negates: false,
                clamp: *clamp,
                d: *d,
                sources: smallvec![*a, *b, *c],
            });
        }
        None
    }

    /// The result for known operands.
    fn fold(&self, operands: &[f64]) -> Option<f64> {
        let mut operands: SmallVec<[Ieee; 3]> = operands.iter().map(|value| Ieee::Float(*value)).collect();
        if let (true, Some(last)) = (self.negates, operands.last_mut()) {
            *last = IeeeKey::new(IeeeOp::Neg, self.key.format).apply(std::slice::from_ref(last))?;
        }
        let mut result = self.key.apply(&operands)?;
        if let Some(clamp) = clamp_key(self.clamp, self.key.format) {
            result = clamp.apply(&[result])?;
        }
        match result {
            // The sign and the payload of a computed NaN are open: it stays a term, whose encoding is not known.
            Ieee::Float(value) if value.is_nan() || self.reads_sign_of_nan(&operands) => None,
            Ieee::Float(value) => Some(value),
            Ieee::Int(_) => None,
        }
    }

    /// Whether a result depends on the sign of a NaN, which values of floats here do not have.
    fn reads_sign_of_nan(&self, operands: &[Ieee]) -> bool {
        let is_nan = |operand: &Ieee| matches!(operand, Ieee::Float(value) if value.is_nan());
        self.key.op == IeeeOp::CopySign && operands.first().is_some_and(is_nan)
    }
}

pub(crate) fn clamp_key(clamp: Clamp, format: Format) -> Option<IeeeKey> {
    match clamp {
        Clamp::None => None,
        Clamp::Saturate => Some(IeeeKey::new(IeeeOp::Saturate, format)),
        Clamp::Relu => Some(IeeeKey::new(IeeeOp::Relu, format)),
    }
}

/// Whether a format has all values of another. A tf32 register may hold any f32.
fn holds(outer: Format, inner: Format) -> bool {
    let inner = if inner == Format::Tf32 { Format::F32 } else { inner };
    inner == outer
        || match outer {
            Format::F64 => true,
            Format::F32 => inner != Format::F64,
            Format::Tf32 => !matches!(inner, Format::F64 | Format::F32),
            Format::F16 => matches!(inner, Format::E4m3 | Format::E5m2),
            Format::Bf16 => matches!(inner, Format::E4m3 | Format::E5m2 | Format::Ue8m0),
            Format::E4m3 | Format::E5m2 | Format::Ue8m0 => false,
        }
}

impl Reals<'_, '_> {
    /// The constant term (raw) of a known float.
    pub(super) fn ieee_literal(&mut self, format: Format, bits: u64) -> u64 {
        self.terms.store.ieee_number(to_f64(format, bits)).raw()
    }

    /// One node for the lanes of `mask`.
    fn ieee_push(
        &mut self,
        mask: LaneMask,
        key: IeeeKey,
        operands: &[&[u64; 32]],
        pc: InstId,
    ) -> Result<Results, Stop> {
        let key = [self.terms.store.ieee_key(key).raw(); 32];
        Ok(match operands {
            [a] => self.terms.store.push_shared(TermOp::Ieee1, mask, &[&key, a], pc),
            [a, b] => self.terms.store.push_shared(TermOp::Ieee2, mask, &[&key, a, b], pc),
            [a, b, c] => {
                let pair = self.terms.store.push_shared(TermOp::IeeePair, mask, &[a, b], pc).all();
                self.terms.store.push_shared(TermOp::Ieee2, mask, &[&key, &pair, c], pc)
            }
            _ => return Err(Stop::Defect("an IEEE operation without operands")),
        })
    }

    /// Executes an instruction lane by lane.
    pub(crate) fn ieee_by_lanes(&mut self, mut step: Step<'_>, inst: &IeeeInst) -> Result<(), Stop> {
        let (format, pc) = (inst.key.format, step.pc);
        let OperandTerms { terms: mut operands, known, undefined } =
            self.operands(&step, format, &inst.sources)?;
        let operands = &mut operands[..inst.sources.len()];
        let mut results: Vec<(Lane, Value)> = Vec::new();
        let mut rest = step.mask & !undefined;
        for lane in known {
            let values = operands
                .iter()
                .map(|terms| self.terms.store.as_ieee_number(TermId::from_raw(terms.ids[lane])));
            let values: Option<SmallVec<[f64; 3]>> = values.collect();
            let folded = values.as_ref().and_then(|values| inst.fold(values));
            if let Some((number, value)) =
                folded.and_then(|number| Some((number, ieee_bits(format, number)?)))
            {
                let mut values = values.unwrap_or_default();
                if let (true, Some(last)) = (inst.negates, values.last_mut()) {
                    *last = -*last;
                }
                self.terms.store.note_rounding(inst.key, &values, number);
                results.push((lane, value));
                rest &= !LaneMask::of(lane);
            }
        }
        for lane in undefined {
            results.push((lane, self.terms.no_value(step.at(lane), &inst.sources)));
        }
        if !rest.is_empty() {
            if let (true, Some(last)) = (inst.negates, operands.last_mut()) {
                for lane in rest {
                    let key = IeeeKey::new(IeeeOp::Neg, format);
                    last.ids[lane] =
                        ieee_of_one(&mut self.terms.store, key, TermId::from_raw(last.ids[lane]), pc).raw();
                }
            }
            let ids: SmallVec<[&[u64; 32]; 3]> = operands.iter().map(|terms| &terms.ids).collect();
            let mut done = self.ieee_push(rest, inst.key, &ids, pc)?;
            if let Some(clamp) = clamp_key(inst.clamp, format) {
                done = self.ieee_push(rest, clamp, &[&done.all()], pc)?;
            }
            set_results(step.warp.register_mut(inst.d), format, rest, done);
        }
        step.set_lanes(inst.d, results);
        Ok(())
    }

    /// A location after an atomic sum. A second sum is one of reals, which has no bits: the order of both is not
    /// determined.
    pub(crate) fn ieee_atomic(&mut self, format: Format, operands: [TermId; 2], pc: InstId) -> TermId {
        // Only one of the two memories keeps subnormal numbers.
        let detail = self.numbers.updates_shared.into();
        let key = self.terms.store.ieee_key(IeeeKey { detail, ..IeeeKey::new(IeeeOp::AtomicAdd, format) });
        let is_atomic = |term: &TermId| match self.terms.store.view(*term) {
            View::Apply(TermOp::Ieee2, [own, ..]) => {
                matches!(self.terms.store.view(own), View::Constant(own)
                    if own.exact.finite().and_then(IeeeKey::read).is_some_and(|own| own.op == IeeeOp::AtomicAdd && own.format == format))
            }
            View::Apply(op, _) => op == TermOp::Add,
            View::Input { .. } | View::Constant(_) => false,
        };
        if operands.iter().any(is_atomic) {
            return self.terms.store.apply(TermOp::Add, &operands, pc);
        }
        let [a, b] = operands;
        self.terms.store.apply(TermOp::Ieee2, &[key, a, b], pc)
    }

    /// A comparison of two values.
    pub(super) fn ieee_compare(
        &mut self,
        op: FloatCompare,
        (format, flush): (Format, bool),
        [x, y]: [TermId; 2],
        pc: InstId,
    ) -> Truth {
        let mut test = |op: IeeeOp, [a, b]: [TermId; 2]| {
            let key = IeeeKey { flush: flush && op != IeeeOp::Ordered, ..IeeeKey::new(op, format) };
            let values = [a, b].map(|term| self.terms.store.as_ieee_number(term));
            if let [Some(a), Some(b)] = values
                && let Some(Ieee::Int(holds)) = key.apply(&[Ieee::Float(a), Ieee::Float(b)])
            {
                self.terms.store.note_decision(&[a, b]);
                return Truth::Known(!holds.is_zero());
            }
            let key = self.terms.store.ieee_key(key);
            let digit = self.terms.store.push_uniform(TermOp::Ieee2, &[key.raw(), a.raw(), b.raw()], pc);
            Truth::Condition(self.terms.int_terms(pc).is_one(TermId::from_raw(digit)))
        };
        let (truth, negated) = match op {
            FloatCompare::IsNumber => (test(IeeeOp::Ordered, [x, y]), false),
            FloatCompare::IsNan => (test(IeeeOp::Ordered, [x, y]), true),
            // An unordered comparison is the negation of the opposite ordered one.
            FloatCompare::Order(Compare::Lt, false) => (test(IeeeOp::Less, [x, y]), false),
            FloatCompare::Order(Compare::Gt, false) => (test(IeeeOp::Less, [y, x]), false),
            FloatCompare::Order(Compare::Le, false) => (test(IeeeOp::LessEqual, [x, y]), false),
            FloatCompare::Order(Compare::Ge, false) => (test(IeeeOp::LessEqual, [y, x]), false),
            FloatCompare::Order(Compare::Lt, true) => (test(IeeeOp::LessEqual, [y, x]), true),
            FloatCompare::Order(Compare::Gt, true) => (test(IeeeOp::LessEqual, [x, y]), true),
            FloatCompare::Order(Compare::Le, true) => (test(IeeeOp::Less, [y, x]), true),
            FloatCompare::Order(Compare::Ge, true) => (test(IeeeOp::Less, [x, y]), true),
            FloatCompare::Order(Compare::Eq, false) => (test(IeeeOp::Equal, [x, y]), false),
            FloatCompare::Order(Compare::Ne, true) => (test(IeeeOp::Equal, [x, y]), true),
            FloatCompare::Order(which @ (Compare::Ne | Compare::Eq), _) => {
                // Ordered and not equal, or the negation of that.
                let (ordered, equal) = (test(IeeeOp::Ordered, [x, y]), test(IeeeOp::Equal, [x, y]));
                let apart = self.not(equal, pc);
                (self.terms.combine(crate::program::Bool2::And, ordered, apart, pc), which == Compare::Eq)
            }
        };
        if negated { self.not(truth, pc) } else { truth }
    }

    fn not(&mut self, truth: Truth, pc: InstId) -> Truth {
        match truth {
            Truth::Known(holds) => Truth::Known(!holds),
            Truth::Condition(term) => Truth::Condition(self.terms.store.apply(TermOp::Not, &[term], pc)),
            other @ (Truth::Undefined(_) | Truth::Answer(_)) => other,
        }
    }

    pub(super) fn ieee_convert(
        &mut self,
        mut step: Step<'_>,
        (d, a): (RegId, Src),
        cast: FloatCast,
    ) -> Result<(), Stop> {
        let OperandTerms { terms: [terms, ..], known, undefined } = self.operands(&step, cast.from, &[a])?;
        let steps = ieee_cast(cast);
        let mut rest = step.mask & !undefined;
        let mut results: Vec<(Lane, Value)> = Vec::new();
        for lane in known {
            let value = self.terms.store.as_ieee_number(TermId::from_raw(terms.ids[lane]));
            let folded = steps.iter().fold(value.map(Ieee::Float), |value, step| step.apply(&[value?]));
            if let Some(Ieee::Float(number)) = folded
                && let Some(bits) = ieee_bits(cast.to, number)
            {
                if let Some(from) = value {
                    let key = IeeeKey::new(IeeeOp::Convert, cast.to);
                    if cast.integral.is_some() {
                        self.terms.store.note_decision(&[from]);
                    }
                    self.terms.store.note_rounding(key, &[from], number);
                }
                results.push((lane, bits));
                rest &= !LaneMask::of(lane);
            }
        }
        for lane in undefined {
            results.push((lane, self.terms.no_value(step.at(lane), &[a])));
        }
        if !rest.is_empty() {
            let mut ids = terms.ids;
            for key in steps {
                ids = self.ieee_push(rest, key, &[&ids], step.pc)?.all();
            }
            set_reals(step.warp.register_mut(d), cast.to, rest, |lane| ids[lane]);
        }
        step.set_lanes(d, results);
        Ok(())
    }

    pub(super) fn ieee_to_int(
        &mut self,
        step: Step<'_>,
        (d, a): (RegId, Src),
        (from, flush): (Format, bool),
        (to, rounding): (Int, ToIntegral),
    ) -> Result<(), Stop> {
        let pc = step.pc;
        let ty = IeeeInt { bits: to.width.bits(), signed: to.signed };
        let key = IeeeKey { flush, ..IeeeKey::new(IeeeOp::ToInt, from) };
        let key = key.rounding(direction_of(rounding)).of_int(ty);
        for lane in step.mask {
            let at = step.at(lane);
            let value = match self.real(at, self.terms.context.value(at.warp, a, lane), from)? {
                None => self.terms.no_value(at, &[a]),
                Some(term) => {
                    let known = self.terms.store.as_ieee_number(term);
                    if let Some(value) = known {
                        self.terms.store.note_decision(&[value]);
                    }
                    let known = known.and_then(|value| key.apply(&[Ieee::Float(value)]));
                    let integer = match known {
                        Some(Ieee::Int(number)) => exactly(&mut self.terms.store, number),
                        Some(Ieee::Float(_)) | None => ieee_of_one(&mut self.terms.store, key, term, pc),
                    };
                    self.terms.int_terms(pc).value(integer, to.width.bytes())
                }
            };
            step.warp.register_mut(d).set(lane, value);
        }
        Ok(())
    }

    /// An integer, by its number in its type, as a float.
    pub(super) fn ieee_from_int(
        &mut self,
        value: Value,
        (from, to, rounding): (Int, Format, Rounding),
        pc: InstId,
    ) -> Option<Value> {
        let key = IeeeKey::new(IeeeOp::FromInt, to).rounding(rounding);
        let number = self.terms.int_terms(pc).reading(value, from)?;
        if let View::Constant(constant) = self.terms.store.view(number) {
            let number: Rational = constant.exact.finite()?.clone();
            let Ieee::Float(value) = key.apply(&[Ieee::Int(number.clone())])? else { return None };
            self.terms.store.note_rounded_integer(to, &number, value);
            return ieee_bits(to, value);
        }
        Some(Value::Sym(Sym::real(to, ieee_of_one(&mut self.terms.store, key, number, pc))))
    }
}

/// A known float as the contents of a register.
fn ieee_bits(format: Format, value: f64) -> Option<Value> {
    // Which bits a NaN has is open.
    encoding(format, value).filter(|_| !value.is_nan()).map(Value::Bits)
}

/// The steps of a conversion between formats.
fn ieee_cast(cast: FloatCast) -> SmallVec<[IeeeKey; 4]> {
    let FloatCast { from, to, integral, precision, clamp, finite } = cast;
    let mut steps = SmallVec::new();
    if precision.flush && from == Format::F32 {
        steps.push(IeeeKey::new(IeeeOp::Flush, from));
    }
    if let Some(direction) = integral {
        // The result is a number of the format.
        steps.push(IeeeKey::new(IeeeOp::Integral, from).rounding(direction_of(direction)));
    }
    if !holds(to, from) {
        let op = if finite { IeeeOp::ConvertFinite } else { IeeeOp::Convert };
        steps.push(IeeeKey::new(op, to).rounding(precision.rounding));
    }
    steps.extend(clamp_key(clamp, to));
    if precision.flush && to == Format::F32 && from != Format::F16 {
        steps.push(IeeeKey::new(IeeeOp::Flush, to));
    }
    steps
}

/// A step of a product of matrices.
pub(crate) fn step_of(product: MatrixProduct, format: Format) -> IeeeKey {
    let MatrixProduct { shape, a, b, c, d: _, saturate } = product;
    // Shapes are small, and there are less than 16 types of elements.
    let element = |element: MatrixElement| match element {
        MatrixElement::Float(format) => format as u32,
        MatrixElement::Int8 { .. } => 14,
        MatrixElement::Int32 => 15,
    };
    let types = element(a) | element(b) << 4 | element(c) << 8 | u32::from(saturate) << 12;
    let places = u32::from(shape.m / 8).min(15) << 13 | u32::from(shape.n / 8).min(15) << 17;
    let detail = types | places | u32::from(shape.k).min(2047) << 21;
    IeeeKey { detail, ..IeeeKey::new(IeeeOp::Step, format) }
}

fn direction_of(direction: ToIntegral) -> Rounding {
    match direction {
        ToIntegral::NearestEven => Rounding::Nearest,
        ToIntegral::Zero => Rounding::Zero,
        ToIntegral::Down => Rounding::Down,
        ToIntegral::Up => Rounding::Up,
    }
}
