//! The exact normal form of terms of IEEE arithmetic: terms with the same form have the same bits (rule B1).
//!
//! A form applies only what IEEE arithmetic guarantees for all values; [`super::laws`] lists it. Forms are interned in
//! one table for all stores, so that equal ids mean equal bits, up to the relation that is asked for.

mod extremum;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{FormLimits, InputFormats};
use crate::number::format::{Format, Rounding};
use crate::number::interval::Function;
use crate::number::{Extended, Rational};
use crate::term::{
    Constant, Fold, FunctionInfo, Ieee, IeeeKey, IeeeOp, InputId, Kind, Piecewise, Predicate, Product, Store,
    Sum, TermId, TermKind, TermOp, View, fold,
};
use crate::verdict::Claim;
use extremum::is_extremum;

/// A form; of a float the negated one too, of a condition the opposite one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FormRef(u32);

impl FormRef {
    fn negative(self) -> bool {
        self.0 & 1 == 1
    }

    fn flipped(self) -> FormRef {
        FormRef(self.0 ^ 1)
    }

    fn with(self, flip: bool) -> FormRef {
        FormRef(self.0 ^ u32::from(flip))
    }

    fn plain(self) -> FormRef {
        FormRef(self.0 & !1)
    }

    fn index(self) -> usize {
        (self.0 >> 1) as usize
    }
}

type Operands = SmallVec<[FormRef; 3]>;
type Needs = SmallVec<[TermId; 3]>;

/// What a form is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Content {
    /// An element of an input.
    Input(InputId, u64),
    /// A known float without its sign, as an f64; NaN has no sign.
    Number(u64),
    /// A known integer.
    Integer(Rational),
    /// An operation of IEEE arithmetic.
    Ieee(IeeeKey, Operands),
    /// A sum, product, minimum or maximum of all of these, in ascending order. In a sum, operands side by side in one
    /// list are the factors of a fused product.
    Many(IeeeKey, Vec<Operands>),
    /// Another operation.
    Term(TermOp, Operands),
}

/// The kind of value that a form has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kinds {
    Float,
    Integer,
    Truth,
}

/// What is known of the value of a form.
#[derive(Clone, Copy, Debug)]
struct Facts {
    kind: Kinds,
    /// A format that holds its value, if it is a float: the first such of [`WIDENING`].
    format: Option<Format>,
    /// Whether it may be a NaN that the code gives, moved, chosen or computed with.
    known_nan: bool,
}

impl Facts {
    fn integer() -> Facts {
        Facts { kind: Kinds::Integer, format: None, known_nan: false }
    }
}

/// Formats in an order in which each has the values of those before it, but for the first two.
const WIDENING: [Format; 4] = [Format::F16, Format::Bf16, Format::F32, Format::F64];

/// Whether a format has all values of another.
fn has_all(outer: Format, inner: Format) -> bool {
    let inner = if inner == Format::Tf32 { Format::F32 } else { inner };
    inner == outer
        || match outer {
            Format::F64 => true,
            Format::F32 => inner != Format::F64,
            Format::Tf32 => matches!(inner, Format::F16 | Format::Bf16 | Format::E4m3 | Format::E5m2),
            Format::F16 | Format::Bf16 => matches!(inner, Format::E4m3 | Format::E5m2),
            Format::E4m3 | Format::E5m2 | Format::Ue8m0 => false,
        }
}

/// A format that holds the values of both.
fn joined(a: Option<Format>, b: Option<Format>) -> Option<Format> {
    let (a, b) = (a?, b?);
    WIDENING.into_iter().find(|format| has_all(*format, a) && has_all(*format, b))
}

/// The clock is looked at each time that so many terms have got their form.
const TERMS_A_LOOK: usize = 1 << 12;

/// Why a term has no form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoForm {
    /// It contains an operation that is not one of IEEE arithmetic.
    Operation(&'static str),
    /// There would be too many forms.
    Budget,
}

/// The forms of all terms that are compared.
pub(super) struct Forms<'i> {
    claim: Claim,
    inputs: &'i [InputFormats],
    ids: FxHashMap<Content, u32>,
    contents: Vec<Content>,
    facts: Vec<Facts>,
    /// Forms of terms, by store.
    known: Vec<FxHashMap<TermId, FormRef>>,
    /// Whether there is a product without a rounding mode.
    products: bool,
    /// Whether there is a sum without a rounding mode.
    sums: bool,
    /// Whether what is read of an encoding may be that of a known NaN, which forms do not tell from others.
    pub(super) reads_known_nan: bool,
    /// Whether the encoding or the sign of a computed float is read.
    pub(super) encodes: bool,
    /// Whether some operation is an approximation of the architecture.
    pub(super) approximate: bool,
    most: FormLimits,
    /// The number of terms that have a form.
    terms: usize,
}

impl<'i> Forms<'i> {
    pub(super) fn new(
        claim: Claim,
        inputs: &'i [InputFormats],
        stores: usize,
        most: FormLimits,
    ) -> Forms<'i> {
        Forms {
            claim,
            inputs,
            ids: FxHashMap::default(),
            contents: Vec::new(),
            facts: Vec::new(),
            known: vec![FxHashMap::default(); stores],
            products: false,
            sums: false,
            reads_known_nan: false,
            encodes: false,
            approximate: false,
            most,
            terms: 0,
        }
    }

    /// Whether the assembler might fuse a product and a sum.
    pub(super) fn may_fuse(&self) -> bool {
        self.products && self.sums
    }

    /// The form of a term of the store with this number.
    pub(super) fn of(&mut self, number: usize, store: &Store, root: TermId) -> Result<FormRef, NoForm> {
        let mut work = vec![root];
        while let Some(term) = work.last().copied() {
            if self.known[number].contains_key(&term) {
                work.pop();
                continue;
            }
            let needs = self.needs(number, store, term);
            let before = work.len();
            work.extend(needs.iter().filter(|needed| !self.known[number].contains_key(needed)));
            if work.len() > before {
                continue;
            }
            work.pop();
            let operands: Operands = needs.iter().map(|needed| self.known[number][needed]).collect();
            let form = self.step(store, term, operands)?;
            self.known[number].insert(term, form);
            self.terms += 1;
            let is_late = self.terms.is_multiple_of(TERMS_A_LOOK) && self.most.deadline.is_over();
            if self.contents.len() + self.terms > self.most.forms || is_late {
                return Err(NoForm::Budget);
            }
        }
        Ok(self.known[number][&root])
    }

    /// The form of a term, from the forms of what it needs.
    fn step(&mut self, store: &Store, term: TermId, operands: Operands) -> Result<FormRef, NoForm> {
        match store.view(term) {
            View::Input { input, element } => Ok(self.input(input, element)),
            View::Constant(constant) => self.constant(constant),
            View::Apply(TermOp::Ieee1 | TermOp::Ieee2, [key, ..]) => {
                let key = key_of(store, key).ok_or(NoForm::Operation("an unknown operation"))?;
                if key.op == IeeeOp::Number {
                    let value = store.as_ieee_number(term).ok_or(NoForm::Operation("an unknown number"))?;
                    return Ok(self.number(value));
                }
                // The assembler fuses them across operations that change nothing, too.
                self.products |= key.fusible && key.op == IeeeOp::Mul;
                self.sums |= key.fusible && key.op == IeeeOp::Add;
                let reads = operands_of(store, term).first().copied();
                self.encodes |= matches!(key.op, IeeeOp::Encode | IeeeOp::CopySign)
                    && reads.is_some_and(|read| !matches!(read.kind(), TermKind::Input { .. }));
                let key = IeeeKey { fusible: false, ..key };
                if is_extremum(key.op) && operands.len() != 2 {
                    return self.extremum_of(key, &operands);
                }
                self.ieee(key, operands)
            }
            View::Apply(op, _) => self.term(op, operands),
        }
    }

    fn intern(&mut self, content: Content, facts: Facts) -> FormRef {
        let next = self.contents.len() as u32;
        let id = *self.ids.entry(content.clone()).or_insert(next);
        if id == next {
            self.contents.push(content);
            self.facts.push(facts);
        }
        FormRef(id << 1)
    }

    fn facts(&self, form: FormRef) -> Facts {
        self.facts[form.index()]
    }

    fn is(&self, form: FormRef, kind: Kinds) -> bool {
        self.facts(form).kind == kind
    }

    fn input(&mut self, input: InputId, element: u64) -> FormRef {
        let of = self.inputs.get(input.index()).copied().unwrap_or_default();
        let kind = if of.is_integer { Kinds::Integer } else { Kinds::Float };
        self.intern(Content::Input(input, element), Facts { kind, format: of.format, known_nan: false })
    }

    fn constant(&mut self, constant: &Constant) -> Result<FormRef, NoForm> {
        match (&constant.exact, constant.literal) {
            (Extended::Finite(value), None) => Ok(self.integer(value.clone())),
            // A literal of a format is a real, which no exact run makes.
            (Extended::Finite(_) | Extended::PosInf | Extended::NegInf, _) => {
                Err(NoForm::Operation("a real constant"))
            }
        }
    }

    fn integer(&mut self, value: Rational) -> FormRef {
        self.intern(Content::Integer(value), Facts::integer())
    }

    fn number(&mut self, value: f64) -> FormRef {
        let format = WIDENING.into_iter().find(|format| is_in(*format, value));
        let magnitude = if value.is_nan() { f64::NAN } else { value.abs() };
        let facts = Facts { kind: Kinds::Float, format, known_nan: value.is_nan() };
        let form = self.intern(Content::Number(magnitude.to_bits()), facts);
        form.with(!value.is_nan() && value.is_sign_negative())
    }

    /// The value of a form, if it is known.
    fn value(&self, form: FormRef) -> Option<Ieee> {
        match &self.contents[form.index()] {
            Content::Number(bits) => {
                let value = f64::from_bits(*bits);
                Some(Ieee::Float(if form.negative() { -value } else { value }))
            }
            Content::Integer(value) => Some(Ieee::Int(value.clone())),
            Content::Input(..) | Content::Ieee(..) | Content::Many(..) | Content::Term(..) => None,
        }
    }

    fn float(&self, form: FormRef) -> Option<f64> {
        match self.value(form)? {
            Ieee::Float(value) => Some(value),
            Ieee::Int(_) => None,
        }
    }

    /// An operation of IEEE arithmetic.
    fn ieee(&mut self, key: IeeeKey, mut operands: Operands) -> Result<FormRef, NoForm> {
        let wanted = if key.op.takes_integer() { Kinds::Integer } else { Kinds::Float };
        if !operands.iter().all(|operand| self.is(*operand, wanted)) {
            return Err(NoForm::Operation("an operand of another kind"));
        }
        let reads_bits = matches!(key.op, IeeeOp::Encode | IeeeOp::CopySign);
        self.reads_known_nan |= reads_bits && operands.first().is_some_and(|of| self.facts(*of).known_nan);
        if reads_bits && operands.first().is_some_and(|of| self.float(*of).is_some_and(f64::is_nan)) {
            return Err(NoForm::Operation("the sign or the encoding of a NaN"));
        }
        let values: Option<SmallVec<[Ieee; 3]>> =
            operands.iter().map(|operand| self.value(*operand)).collect();
        if let Some(result) = values.and_then(|values| key.apply(&values)) {
            return Ok(match result {
                Ieee::Float(value) => self.number(value),
                Ieee::Int(value) => self.integer(value),
            });
        }
        if let Some(chosen) = self.of_choice(key, &operands) {
            return chosen;
        }
        Ok(match (key.op, operands.as_mut_slice()) {
            (IeeeOp::Neg, [a]) => self.flush(key, *a).flipped(),
            (IeeeOp::Abs, [a]) => {
                let a = self.flush(key, *a).plain();
                match &self.contents[a.index()] {
                    Content::Ieee(inner, _) if inner.op == IeeeOp::Abs => a,
                    Content::Input(..)
                    | Content::Number(_)
                    | Content::Integer(_)
                    | Content::Ieee(..)
                    | Content::Many(..)
                    | Content::Term(..) => self.apply(IeeeKey::new(IeeeOp::Abs, Format::F64), [a]),
                }
            }
            (IeeeOp::Flush, [a]) => self.flush(IeeeKey { flush: true, ..key }, *a),
            (IeeeOp::CopySign, [sign, a]) => {
                self.apply(IeeeKey::new(IeeeOp::CopySign, Format::F64), [*sign, a.plain()])
            }
            (IeeeOp::Convert, [a]) => self.convert(key, *a),
            (IeeeOp::ConvertFinite, [a]) => self.apply(key, [*a]),
            (IeeeOp::Integral, [a]) => {
                // −⌊a⌋ = ⌈−a⌉
                let key = if a.negative() { opposite(key) } else { key };
                let (key, negative) = (IeeeKey { format: Format::F64, ..key }, a.negative());
                self.apply(key, [a.plain()]).with(negative)
            }
            (IeeeOp::Mul, [a, b]) => self.product(key, *a, *b),
            (IeeeOp::Div, [a, b]) => self.quotient(key, *a, *b),
            (IeeeOp::Add, [a, b]) => self.sum(key, *a, *b),
            (IeeeOp::Fma, [a, b, c]) => self.fused(key, *a, *b, *c),
            (op, [a, b]) if is_extremum(op) => self.extremum(key, &[*a, *b]),
            (IeeeOp::Less | IeeeOp::LessEqual | IeeeOp::Equal | IeeeOp::Ordered, [a, b]) => {
                let key = if key.flush { key } else { IeeeKey { format: Format::F64, ..key } };
                let pair = if key.op == IeeeOp::Ordered {
                    [a.plain(), b.plain()].into_iter().min().zip([a.plain(), b.plain()].into_iter().max())
                } else {
                    // a < b where −b < −a.
                    let turned = [b.flipped(), a.flipped()];
                    let mut readings = vec![[*a, *b], turned];
                    if key.op == IeeeOp::Equal {
                        readings.extend([[*b, *a], [turned[1], turned[0]]]);
                    }
                    readings.into_iter().min().map(|[a, b]| (a, b))
                };
                let (a, b) = pair.unwrap_or((*a, *b));
                self.apply(key, [a, b])
            }
            (IeeeOp::Decode, [a]) => match &self.contents[a.index()] {
                // The encoding of a value, NaN included, decodes to it.
                Content::Ieee(inner, of) if inner.op == IeeeOp::Encode && inner.format == key.format => of[0],
                Content::Input(..)
                | Content::Number(_)
                | Content::Integer(_)
                | Content::Ieee(..)
                | Content::Many(..)
                | Content::Term(..) => self.apply(key, [*a]),
            },
            _ => {
                self.approximate |= is_approximate(key.op);
                self.apply_all(key, operands)
            }
        })
    }

    /// An operation on a choice of known numbers is a choice of two results.
    fn of_choice(&mut self, key: IeeeKey, operands: &Operands) -> Option<Result<FormRef, NoForm>> {
        if key.op.gives_integer() || key.op == IeeeOp::Neg {
            return None;
        }
        let (at, condition, arms) = operands.iter().enumerate().find_map(|(at, operand)| {
            let Content::Term(TermOp::Select, parts) = &self.contents[operand.index()] else { return None };
            let [condition, then, otherwise] = parts[..] else { return None };
            let arms = [then, otherwise].map(|arm| arm.with(operand.negative()));
            arms.iter().all(|arm| self.float(*arm).is_some()).then_some((at, condition, arms))
        })?;
        let mut result = |arm: FormRef| {
            let mut operands = operands.clone();
            operands[at] = arm;
            self.ieee(key, operands)
        };
        let [then, otherwise] = arms;
        Some(match (result(then), result(otherwise)) {
            (Ok(then), Ok(otherwise)) => self.select(smallvec![condition, then, otherwise]),
            (Err(error), _) | (_, Err(error)) => Err(error),
        })
    }

    fn apply<const N: usize>(&mut self, key: IeeeKey, operands: [FormRef; N]) -> FormRef {
        self.apply_all(key, operands.into_iter().collect())
    }

    fn apply_all(&mut self, key: IeeeKey, operands: Operands) -> FormRef {
        let facts = self.facts_of(key, &operands);
        self.intern(Content::Ieee(key, operands), facts)
    }

    fn many(&mut self, key: IeeeKey, parts: Vec<Operands>) -> FormRef {
        let all: Operands = parts.iter().flatten().copied().collect();
        let facts = self.facts_of(key, &all);
        self.intern(Content::Many(key, parts), facts)
    }

    fn facts_of(&self, key: IeeeKey, operands: &[FormRef]) -> Facts {
        if key.op.gives_integer() {
            return Facts::integer();
        }
        let of = |operand: &FormRef| self.facts(*operand).format;
        let of_one = matches!(
            key.op,
            IeeeOp::Abs | IeeeOp::Flush | IeeeOp::Integral | IeeeOp::Saturate | IeeeOp::Relu
        );
        let format = if is_extremum(key.op) {
            // The value of an operand, or a zero.
            operands.iter().map(of).reduce(joined).flatten()
        } else if of_one {
            operands.first().and_then(of)
        } else if key.op == IeeeOp::CopySign {
            operands.get(1).and_then(of)
        } else {
            Some(if key.format == Format::Tf32 { Format::F32 } else { key.format })
        };
        let known_nan = operands.iter().any(|operand| self.facts(*operand).known_nan);
        Facts { kind: Kinds::Float, format, known_nan }
    }

    /// Zero in place of a subnormal number, where the modifiers say so.
    fn flush(&mut self, key: IeeeKey, a: FormRef) -> FormRef {
        if !key.flush {
            return a;
        }
        let inner = IeeeKey::new(IeeeOp::Flush, key.format);
        let has_none = match &self.contents[a.index()] {
            Content::Ieee(own, _) | Content::Many(own, _) => {
                own.format == key.format && (own.flush || own.op == IeeeOp::Flush)
            }
            Content::Input(..) | Content::Number(_) | Content::Integer(_) | Content::Term(..) => false,
        };
        // No f16 is subnormal as an f32.
        let is_wide = key.format == Format::F32 && self.facts(a).format == Some(Format::F16);
        if has_none || is_wide {
            return a;
        }
        self.apply(inner, [a.plain()]).with(a.negative())
    }

    /// A value rounded to a format, unless it has it.
    fn convert(&mut self, key: IeeeKey, a: FormRef) -> FormRef {
        if self.facts(a).format.is_some_and(|format| has_all(key.format, format)) {
            return a;
        }
        let own = if a.negative() { opposite(key) } else { key };
        self.apply(own, [a.plain()]).with(a.negative())
    }

    /// The value of `a` as the result of an operation on it that changes nothing: in its format, flushed.
    fn unchanged(&mut self, key: IeeeKey, a: FormRef) -> Option<FormRef> {
        let format = self.facts(a).format?;
        has_all(key.format, format).then(|| self.flush(key, a))
    }

    fn product(&mut self, key: IeeeKey, a: FormRef, b: FormRef) -> FormRef {
        let negative = a.negative() != b.negative();
        let key = if negative { opposite(key) } else { key };
        let (a, b) = (a.plain().min(b.plain()), a.plain().max(b.plain()));
        for (one, other) in [(a, b), (b, a)] {
            if self.float(one) == Some(1.0)
                && let Some(same) = self.unchanged(key, other)
            {
                return same.with(negative);
            }
        }
        if self.claim == Claim::Order {
            return self.flat(key, IeeeOp::Mul, [a, b]).with(negative);
        }
        self.apply(key, [a, b]).with(negative)
    }

    fn quotient(&mut self, key: IeeeKey, a: FormRef, b: FormRef) -> FormRef {
        let negative = a.negative() != b.negative();
        let own = if negative { opposite(key) } else { key };
        if let Some(divisor) = self.float(b.plain())
            && let Some(inverse) = inverse_of_power(divisor).filter(|inverse| is_normal(key.format, *inverse))
            // A subnormal divisor would be flushed.
            && (!key.flush || is_normal(key.format, divisor))
        {
            let inverse = self.number(inverse);
            let key = IeeeKey { op: IeeeOp::Mul, ..key };
            return self.product(key, a, inverse.with(b.negative()));
        }
        self.apply(own, [a.plain(), b.plain()]).with(negative)
    }

    fn sum(&mut self, key: IeeeKey, a: FormRef, b: FormRef) -> FormRef {
        // Exactly, x + −0 = x.
        if matches!(key.rounding, Rounding::Nearest | Rounding::Zero) {
            for (zero, other) in [(a, b), (b, a)] {
                if self.is_negative_zero(zero)
                    && let Some(same) = self.unchanged(key, other)
                {
                    return same;
                }
            }
        }
        if self.claim == Claim::Order {
            return self.flat(key, IeeeOp::Add, [a, b]);
        }
        if a == b {
            let two = self.number(2.0);
            return self.product(IeeeKey { op: IeeeOp::Mul, ..key }, a, two);
        }
        self.apply(key, [a.min(b), a.max(b)])
    }

    fn is_negative_zero(&self, form: FormRef) -> bool {
        self.float(form).is_some_and(|value| value == 0.0 && value.is_sign_negative())
    }

    fn fused(&mut self, key: IeeeKey, a: FormRef, b: FormRef, c: FormRef) -> FormRef {
        if self.claim == Claim::BitsUpToFma {
            let product = self.product(IeeeKey { op: IeeeOp::Mul, ..key }, a, b);
            return self.sum(IeeeKey { op: IeeeOp::Add, ..key }, product, c);
        }
        let negative = a.negative() != b.negative();
        let (a, b) = (a.plain().min(b.plain()), a.plain().max(b.plain()));
        for (one, other) in [(a, b), (b, a)] {
            let fits = self.facts(other).format.is_some_and(|format| has_all(key.format, format));
            if self.float(one) == Some(1.0) && fits {
                return self.sum(IeeeKey { op: IeeeOp::Add, ..key }, other.with(negative), c);
            }
        }
        if matches!(key.rounding, Rounding::Nearest | Rounding::Zero) && self.is_negative_zero(c) {
            return self.product(IeeeKey { op: IeeeOp::Mul, ..key }, a.with(negative), b);
        }
        if self.claim == Claim::Order {
            let key = IeeeKey { op: IeeeOp::Add, ..key };
            let mut parts = self.parts(key, c);
            parts.push(smallvec![a.with(negative), b]);
            return self.gathered(key, parts);
        }
        self.apply(key, [a.with(negative), b, c])
    }

    /// The parts of a sum or product, up to their order.
    fn parts(&self, key: IeeeKey, form: FormRef) -> Vec<Operands> {
        match &self.contents[form.index()] {
            Content::Many(own, parts) if *own == key && !form.negative() => parts.clone(),
            Content::Input(..)
            | Content::Number(_)
            | Content::Integer(_)
            | Content::Ieee(..)
            | Content::Many(..)
            | Content::Term(..) => vec![smallvec![form]],
        }
    }

    fn flat(&mut self, key: IeeeKey, op: IeeeOp, operands: [FormRef; 2]) -> FormRef {
        let key = IeeeKey { op, ..key };
        let parts = operands.into_iter().flat_map(|operand| self.parts(key, operand)).collect();
        self.gathered(key, parts)
    }

    fn gathered(&mut self, key: IeeeKey, mut parts: Vec<Operands>) -> FormRef {
        if key.op == IeeeOp::Add {
            // A sum may begin at zero.
            let is_zero = |part: &Operands| part.len() == 1 && self.float(part[0]) == Some(0.0);
            if parts.iter().any(|part| !is_zero(part)) {
                parts.retain(|part| !is_zero(part));
            }
        }
        if let [only] = parts.as_slice()
            && let [form] = only.as_slice()
            && self.facts(*form).format.is_some_and(|format| has_all(key.format, format))
            && !key.flush
        {
            return *form;
        }
        parts.sort_unstable();
        self.many(key, parts)
    }

    /// An operation on integers or conditions, or a choice.
    fn term(&mut self, op: TermOp, mut operands: Operands) -> Result<FormRef, NoForm> {
        let all = |forms: &Self, kind| operands.iter().all(|operand| forms.is(*operand, kind));
        let (kind, fits) = match op.kind() {
            Kind::Sum(Sum::Add | Sum::Sub | Sum::Fma)
            | Kind::Product(Product::Mul | Product::Div | Product::Neg)
            | Kind::Piecewise(
                Piecewise::Abs | Piecewise::Max | Piecewise::Min | Piecewise::Mod | Piecewise::BitAnd,
            ) => (Kinds::Integer, all(self, Kinds::Integer)),
            Kind::Function(FunctionInfo { function: Function::Outcome, .. }) => {
                // What its steps are is not looked at.
                (self.products, self.sums, self.encodes, self.approximate) = (true, true, true, true);
                (Kinds::Integer, all(self, Kinds::Integer))
            }
            Kind::Function(function) => (Kinds::Integer, function.rounds() && all(self, Kinds::Integer)),
            Kind::Condition(Predicate::Less | Predicate::LessEqual | Predicate::Equal) => {
                (Kinds::Truth, all(self, Kinds::Integer))
            }
            Kind::Condition(Predicate::Not | Predicate::And | Predicate::Or | Predicate::Xor) => {
                (Kinds::Truth, all(self, Kinds::Truth))
            }
            Kind::Piecewise(Piecewise::Select) => return self.select(operands),
            Kind::Piecewise(Piecewise::CopySign) | Kind::Exponential | Kind::Ieee => (Kinds::Integer, false),
        };
        if !fits {
            let order = "a sum in an order that is not determined, or a matrix instruction";
            return Err(NoForm::Operation(op.info().name().unwrap_or(order)));
        }
        if kind == Kinds::Integer {
            let numbers: Option<Vec<Extended>> = operands
                .iter()
                .map(|operand| match self.value(*operand)? {
                    Ieee::Int(value) => Some(Extended::Finite(value)),
                    Ieee::Float(_) => None,
                })
                .collect();
            if let Some(numbers) = numbers
                && let Fold::Value(Extended::Finite(value)) = fold(op, &numbers.iter().collect::<Vec<_>>())
            {
                return Ok(self.integer(value));
            }
        }
        let facts = Facts { kind, ..Facts::integer() };
        let mut flipped = false;
        match (op, operands.as_mut_slice()) {
            (TermOp::Not, [a]) => return Ok(a.flipped()),
            (TermOp::And | TermOp::Or, [a, b]) => {
                // a ∨ b is ¬(¬a ∧ ¬b).
                flipped = op == TermOp::Or;
                let (x, y) = (a.with(flipped), b.with(flipped));
                if x == y {
                    return Ok(*a);
                }
                let pair: Operands = smallvec![x.min(y), x.max(y)];
                return Ok(self.intern(Content::Term(TermOp::And, pair), facts).with(flipped));
            }
            (TermOp::Xor, [a, b]) => {
                flipped = a.negative() != b.negative();
                (*a, *b) = (a.plain().min(b.plain()), a.plain().max(b.plain()));
            }
            _ => {}
        }
        if op.info().commutes
            && let [a, b, ..] = operands.as_mut_slice()
            && *b < *a
        {
            std::mem::swap(a, b);
        }
        Ok(self.intern(Content::Term(op, operands), facts).with(flipped))
    }

    fn select(&mut self, operands: Operands) -> Result<FormRef, NoForm> {
        let [condition, then, otherwise] = operands[..] else { return Err(NoForm::Operation("a choice")) };
        let (one, other) = (self.facts(then), self.facts(otherwise));
        if !self.is(condition, Kinds::Truth) || one.kind != other.kind || one.kind == Kinds::Truth {
            return Err(NoForm::Operation("a choice between values of two kinds"));
        }
        if then == otherwise {
            return Ok(then);
        }
        let (then, otherwise) = if condition.negative() { (otherwise, then) } else { (then, otherwise) };
        let negative = one.kind == Kinds::Float && then.negative();
        let (then, otherwise) = (then.with(negative), otherwise.with(negative));
        let known_nan = one.known_nan || other.known_nan;
        let facts = Facts { kind: one.kind, format: joined(one.format, other.format), known_nan };
        let operands = smallvec![condition.plain(), then, otherwise];
        Ok(self.intern(Content::Term(TermOp::Select, operands), facts).with(negative))
    }
}

fn is_approximate(op: IeeeOp) -> bool {
    matches!(
        op,
        IeeeOp::Ex2
            | IeeeOp::Lg2
            | IeeeOp::Rcp
            | IeeeOp::SqrtApprox
            | IeeeOp::Rsqrt
            | IeeeOp::Sin
            | IeeeOp::Cos
            | IeeeOp::Tanh
            | IeeeOp::DivApprox
            | IeeeOp::DivFull
            | IeeeOp::Step
    )
}

/// The same operation on the negated operand, with the negated result.
fn opposite(key: IeeeKey) -> IeeeKey {
    let rounding = match key.rounding {
        Rounding::Up => Rounding::Down,
        Rounding::Down => Rounding::Up,
        other @ (Rounding::Nearest | Rounding::NearestAway | Rounding::Zero) => other,
    };
    key.rounding(rounding)
}

/// The inverse of a power of two.
fn inverse_of_power(value: f64) -> Option<f64> {
    let is_power = value.is_normal() && value > 0.0 && value.to_bits() & ((1 << 52) - 1) == 0;
    is_power.then(|| 1.0 / value).filter(|inverse| inverse.is_normal())
}

fn is_normal(format: Format, value: f64) -> bool {
    let flushed = IeeeKey::new(IeeeOp::Flush, format).apply(&[Ieee::Float(value)]);
    is_in(format, value) && flushed == Some(Ieee::Float(value))
}

/// Whether a format has a value.
fn is_in(format: Format, value: f64) -> bool {
    value.is_nan() || crate::term::encoding(format, value).is_some()
}

fn key_of(store: &Store, term: TermId) -> Option<IeeeKey> {
    match store.view(term) {
        View::Constant(constant) => IeeeKey::read(constant.exact.finite()?),
        View::Input { .. } | View::Apply(..) => None,
    }
}

/// The operation of IEEE arithmetic that a term is.
pub(super) fn key_of_term(store: &Store, term: TermId) -> Option<IeeeKey> {
    match store.view(term) {
        View::Apply(TermOp::Ieee1 | TermOp::Ieee2, [key, ..]) => key_of(store, key),
        View::Apply(..) | View::Input { .. } | View::Constant(_) => None,
    }
}

/// The operands of a term; those of a pair one by one, and no keys.
pub(super) fn operands_of(store: &Store, term: TermId) -> Needs {
    let View::Apply(op, [a, b, c]) = store.view(term) else { return Needs::new() };
    if op == TermOp::Ieee1 {
        return smallvec![b];
    }
    if op != TermOp::Ieee2 {
        return [a, b, c].into_iter().take(op.arity()).collect();
    }
    match store.view(b) {
        View::Apply(TermOp::IeeePair, [x, y, _]) => smallvec![x, y, c],
        View::Apply(..) | View::Input { .. } | View::Constant(_) => smallvec![b, c],
    }
}
