//! Integers that depend on inputs, as terms (rule V4).
//!
//! An unknown integer of `w` bits is held as a term that is *congruent* to it modulo 2^w, so addition, subtraction and
//! multiplication wrap around without further operations. Where an operation needs the number itself (a comparison, a
//! division, a shift to the right, a conversion), a [`TermOp::Mod`] brings the term into the range of the type,
//! unsigned or signed, unless its range lies there already.

use super::packed::{PackedPart, PackedParts, PackedValues, SplitsValue};
use crate::number::format::Format;
use crate::number::{Extended, Rational};
use crate::program::{InstId, Int};
use crate::term::{
    Constant, Fold, Ieee, IeeeKey, IeeeOp, Kind, Piecewise, Product, Range, Ranges, Store, Sum, TermId,
    TermOp, View, fold,
};
use crate::value::{Sym, SymKind, Value};

/// The state that building terms of integers needs.
pub(crate) struct IntTerms<'t> {
    pub(crate) packed: &'t mut PackedValues,
    pub(crate) store: &'t mut Store,
    pub(crate) ranges: &'t mut Ranges,
    /// The instruction that computes.
    pub(crate) pc: InstId,
}

/// The number that a constant term stands for.
pub(crate) fn number(store: &Store, term: TermId) -> Option<&Rational> {
    match store.view(term) {
        View::Constant(constant) => constant.exact.finite(),
        View::Input { .. } | View::Apply(..) => None,
    }
}

/// The constant term of a number.
pub(crate) fn exactly(store: &mut Store, value: Rational) -> TermId {
    store.intern(Constant { exact: Extended::Finite(value), literal: None, rounded: None })
}

/// `⌊term / 2^bits⌋`
fn shifted(store: &mut Store, term: TermId, bits: u32, pc: InstId) -> TermId {
    if bits == 0 {
        return term;
    }
    let factor = Rational::power_of_two(-(bits as i32));
    if let Some(value) = number(store, term) {
        let value = (value * &factor).floor();
        return exactly(store, value);
    }
    let factor = exactly(store, factor);
    let quotient = store.apply(TermOp::Mul, &[term, factor], pc);
    store.apply(TermOp::Floor, &[quotient], pc)
}

/// Bytes `start .. start + length` of a sequence of parts. Parts that are integers may be split: their bytes are
/// integers.
pub(crate) fn slice(
    pieces: &[PackedPart],
    start: u32,
    length: u32,
    store: &mut Store,
) -> Result<PackedParts, SplitsValue> {
    let mut parts = PackedParts::new();
    let mut at = 0;
    for piece in pieces {
        let (from, to) = (start.max(at), (start + length).min(at + piece.bytes));
        match piece.value {
            Value::Sym(sym) if from < to && to - from < piece.bytes => {
                if let SymKind::Int(_, term) = sym.kind() {
                    let mut byte = at;
                    for end in [from, to, at + piece.bytes] {
                        while byte < end {
                            // Integers have 1, 2, 4 or 8 bytes.
                            let bytes = 1 << (end - byte).ilog2();
                            let part = shifted(store, term, 8 * (byte - at), InstId(0));
                            parts.push(PackedPart { value: Value::Sym(Sym::int(bytes, part)), bytes });
                            byte += bytes;
                        }
                    }
                } else {
                    parts.push(*piece)
                }
            }
            Value::Bits(_) | Value::Undefined(_) | Value::Sym(_) => parts.push(*piece),
        }
        at += piece.bytes;
    }
    PackedValues::slice(&parts, start, length)
}

/// The term of an integer.
pub(crate) fn whole(store: &mut Store, value: i128) -> TermId {
    exactly(store, Rational::from_i128(value))
}

impl IntTerms<'_> {
    /// The term of an integer.
    pub(crate) fn whole(&mut self, value: i128) -> TermId {
        whole(self.store, value)
    }

    /// Applies an operation on terms. Constants fold, and neutral operands are dropped.
    pub(crate) fn apply(&mut self, op: TermOp, operands: &[TermId]) -> TermId {
        let numbers: Option<Vec<Extended>> = operands
            .iter()
            .map(|operand| number(self.store, *operand).cloned().map(Extended::Finite))
            .collect();
        if let Some(numbers) = numbers {
            let list: Vec<&Extended> = numbers.iter().collect();
            if let Fold::Value(Extended::Finite(value)) = fold(op, &list) {
                return exactly(self.store, value);
            }
        }
        if let [a, b] = *operands {
            let (x, y) = (number(self.store, a), number(self.store, b));
            let is = |number: Option<&Rational>, value: &Rational| number == Some(value);
            match op.kind() {
                Kind::Sum(Sum::Add) if is(x, &Rational::ZERO) => return b,
                Kind::Sum(Sum::Add | Sum::Sub) if is(y, &Rational::ZERO) => return a,
                Kind::Sum(Sum::Sub) => {
                    if let Some(kept) = self.without_masked(a, b) {
                        return kept;
                    }
                }
                Kind::Product(Product::Mul) if is(x, &Rational::ONE) => return b,
                Kind::Product(Product::Mul) if is(y, &Rational::ONE) => return a,
                // Integers are finite.
                Kind::Product(Product::Mul) if is(x, &Rational::ZERO) || is(y, &Rational::ZERO) => {
                    let zero = self.whole(0);
                    return self.without(zero, &[a, b]);
                }
                Kind::Piecewise(Piecewise::BitAnd | Piecewise::Min | Piecewise::Max) if a == b => return a,
                Kind::Piecewise(Piecewise::BitAnd) => {
                    let (x, y) = (self.ranges.of(self.store, a), self.ranges.of(self.store, b));
                    if x.ones & y.ones == 0 {
                        let zero = self.whole(0);
                        return self.without(zero, &[a, b]);
                    }
                    // A mask that keeps every bit.
                    for (kept, mask, term, dropped) in [(x, y, a, b), (y, x, b, a)] {
                        if mask.sure & kept.ones == kept.ones {
                            return self.without(term, &[dropped]);
                        }
                    }
                    // Bits of a mask that the other operand lacks.
                    for (kept, mask, term, replaced) in [(x, y, a, b), (y, x, b, a)] {
                        if mask.ones == mask.sure && mask.ones & !kept.ones != 0 {
                            let narrow = self.whole((mask.ones & kept.ones).into());
                            let common = self.store.apply(op, &[term, narrow], self.pc);
                            return self.without(common, &[replaced]);
                        }
                    }
                }
                Kind::Sum(_)
                | Kind::Product(_)
                | Kind::Exponential
                | Kind::Function(_)
                | Kind::Piecewise(_)
                | Kind::Condition(_)
                | Kind::Ieee => {}
            }
        }
        if let Some(shorter) = self.with_one_constant(op, operands) {
            return shorter;
        }
        self.store.apply(op, operands, self.pc)
    }

    /// `a − (a & mask)`: the bits that the mask drops.
    fn without_masked(&mut self, a: TermId, masked: TermId) -> Option<TermId> {
        let View::Apply(TermOp::BitAnd, [p, q, _]) = self.store.view(masked) else { return None };
        let mask = if p == a { q } else { p };
        let range = self.ranges.of(self.store, a);
        if ![p, q].contains(&a) || !range.is_natural() {
            return None;
        }
        let mask = number(self.store, mask)?.to_u64()?;
        let rest = self.whole((range.ones & !mask).into());
        Some(self.apply(TermOp::BitAnd, &[a, rest]))
    }

    /// A term, as a number if its range is a single one.
    pub(crate) fn of_one_value(&mut self, term: TermId) -> TermId {
        match self.ranges.of(self.store, term) {
            Range { low: Some(low), high: Some(high), whole: true, .. } if low == high => {
                let value = self.whole(low);
                self.without(value, &[term])
            }
            _ => term,
        }
    }

    /// A result that does not depend on the `dropped` operands. Those that may have no value are added, times 0: where
    /// they have none, the result has none (V6), and their obligations remain in the term (V8).
    pub(crate) fn without(&mut self, result: TermId, dropped: &[TermId]) -> TermId {
        dropped.iter().fold(result, |result, term| {
            if self.ranges.is_kept(self.store, *term, &[result]) {
                return result;
            }
            let zero = self.whole(0);
            let nothing = self.store.apply(TermOp::Mul, &[*term, zero], self.pc);
            self.store.apply(TermOp::Add, &[result, nothing], self.pc)
        })
    }

    /// `(x + c) ± d` as `x + (c ± d)`, for numbers `c` and `d`.
    fn with_one_constant(&mut self, op: TermOp, operands: &[TermId]) -> Option<TermId> {
        let [a, b] = *operands else { return None };
        let by = number(self.store, b)?.clone();
        let by = match op.kind() {
            Kind::Sum(Sum::Add) => by,
            Kind::Sum(Sum::Sub) => -by,
            Kind::Sum(Sum::Fma)
            | Kind::Product(_)
            | Kind::Exponential
            | Kind::Function(_)
            | Kind::Piecewise(_)
            | Kind::Condition(_)
            | Kind::Ieee => return None,
        };
        let View::Apply(TermOp::Add, [x, c, _]) = self.store.view(a) else { return None };
        let sum = number(self.store, c)? + &by;
        let sum = exactly(self.store, sum);
        Some(self.apply(TermOp::Add, &[x, sum]))
    }

    pub(crate) fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.apply(TermOp::Add, &[a, b])
    }

    pub(crate) fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.apply(TermOp::Sub, &[a, b])
    }

    pub(crate) fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.apply(TermOp::Mul, &[a, b])
    }

    /// `term · 2^bits`
    pub(crate) fn raised(&mut self, term: TermId, bits: u32) -> TermId {
        let factor = self.whole(1 << bits);
        self.mul(term, factor)
    }

    /// `⌊term / 2^bits⌋`
    pub(crate) fn lowered(&mut self, term: TermId, bits: u32) -> TermId {
        shifted(self.store, term, bits, self.pc)
    }

    /// The lowest `bits` bits of a term, as an unsigned number.
    pub(crate) fn unsigned(&mut self, term: TermId, bits: u32) -> TermId {
        if self.ranges.of(self.store, term).within(0, (1 << bits) - 1) {
            return term;
        }
        let modulus = self.whole(1 << bits);
        self.apply(TermOp::Mod, &[term, modulus])
    }

    /// The lowest `bits` bits of a term, in two's complement.
    pub(crate) fn signed(&mut self, term: TermId, bits: u32) -> TermId {
        let half = 1 << (bits - 1);
        if self.ranges.of(self.store, term).within(-half, half - 1) {
            return term;
        }
        let half = self.whole(half);
        let above = self.add(term, half);
        let wrapped = self.unsigned(above, bits);
        self.sub(wrapped, half)
    }

    /// The number that the lowest bits of a term encode in a type.
    pub(crate) fn read(&mut self, term: TermId, bits: u32, signed: bool) -> TermId {
        if signed { self.signed(term, bits) } else { self.unsigned(term, bits) }
    }

    /// A term congruent to a value modulo 2^(8·bytes); `None` where the value is no integer.
    pub(crate) fn residue(&mut self, value: Value, bytes: u32) -> Option<TermId> {
        let sym = match value {
            Value::Bits(bits) => {
                // The representative nearest to zero keeps ranges small.
                let top = 64 - 8 * bytes;
                return Some(self.whole(i128::from((bits << top) as i64 >> top)));
            }
            // A bf16 above two bytes of zeros is an f32.
            Value::Sym(sym) if bytes == 4 => match self.packed.as_f32(value) {
                Value::Sym(whole) => whole,
                Value::Bits(_) | Value::Undefined(_) => sym,
            },
            Value::Sym(sym) => sym,
            Value::Undefined(_) => return None,
        };
        match sym.kind() {
            SymKind::Int(own, term) if own >= bytes => Some(term),
            SymKind::Int(own, term) => Some(self.unsigned(term, 8 * own)),
            SymKind::Packed(_) => {
                let mut sum = self.whole(0);
                let mut at = 0;
                for piece in self.packed.split(value, bytes) {
                    if at >= bytes {
                        break;
                    }
                    let part = match piece.value {
                        Value::Bits(bits) => self.whole(bits.into()),
                        value @ (Value::Sym(_) | Value::Undefined(_)) => {
                            let term = self.residue(value, piece.bytes)?;
                            if at + piece.bytes >= bytes {
                                term
                            } else {
                                self.unsigned(term, 8 * piece.bytes)
                            }
                        }
                    };
                    let part = self.raised(part, 8 * at);
                    sum = self.add(sum, part);
                    at += piece.bytes;
                }
                Some(sum)
            }
            SymKind::Choice(index) => {
                if let Some(known) = self.packed.integers.get(&(index, bytes)) {
                    return Some(*known);
                }
                let choice = self.packed.choice(index);
                let then = self.residue(choice.then, bytes)?;
                let otherwise = self.residue(choice.otherwise, bytes)?;
                let chosen = self.chosen(choice.condition, then, otherwise);
                // What is known only under a supposition does not outlast it.
                if !self.ranges.is_supposing() {
                    self.packed.integers.insert((index, bytes), chosen);
                }
                Some(chosen)
            }
            SymKind::Real(Format::F32, term) if bytes <= 4 => {
                let encoding = self.encoding(TermOp::EncodeF32, term)?;
                Some(if bytes < 4 { self.unsigned(encoding, 8 * bytes) } else { encoding })
            }
            SymKind::Real(format, term) if self.store.is_ieee() && bytes <= format.bytes() => {
                let encoding = self.ieee_encoding(format, term);
                Some(if bytes < format.bytes() { self.unsigned(encoding, 8 * bytes) } else { encoding })
            }
            // The upper half of the f32 with the same value.
            SymKind::Real(Format::Bf16, term) if bytes <= 2 => {
                let encoding = self.encoding(TermOp::EncodeF32, term)?;
                let half = self.lowered(encoding, 16);
                Some(self.unsigned(half, 8 * bytes))
            }
            SymKind::Real(Format::F64, term) => {
                let encoding = self.encoding(TermOp::EncodeF64, term)?;
                Some(if bytes < 8 { self.unsigned(encoding, 8 * bytes) } else { encoding })
            }
            SymKind::Half64(which, term) => {
                let encoding = self.encoding(TermOp::EncodeF64, term)?;
                let half = self.lowered(encoding, 32 * which);
                Some(self.unsigned(half, 8 * bytes.min(4)))
            }
            SymKind::Real(..)
            | SymKind::Pair(..)
            | SymKind::Partly(_)
            | SymKind::Answer(_)
            | SymKind::Ticket(_)
            | SymKind::Fragment { .. } => None,
        }
    }

    /// The encoding of a value of IEEE arithmetic.
    fn ieee_encoding(&mut self, format: Format, term: TermId) -> TermId {
        if let Some(value) = self.store.as_ieee_number(term)
            && let Some(Ieee::Int(bits)) = IeeeKey::new(IeeeOp::Encode, format).apply(&[Ieee::Float(value)])
        {
            return exactly(self.store, bits);
        }
        ieee_of_one(self.store, IeeeKey::new(IeeeOp::Encode, format), term, self.pc)
    }

    /// The encoding of a real as an integer, where library functions are recognised.
    fn encoding(&mut self, op: TermOp, term: TermId) -> Option<TermId> {
        if self.store.is_ieee() {
            let format = if op == TermOp::EncodeF64 { Format::F64 } else { Format::F32 };
            return Some(self.ieee_encoding(format, term));
        }
        if !self.store.explains() {
            return None;
        }
        Some(TermId::from_raw(self.store.push_uniform(op, &[term.raw()], self.pc)))
    }

    /// The real encoded by an integer that was computed from encodings, or from parts of one.
    pub(crate) fn decoding(&mut self, value: Value, format: Format) -> Option<TermId> {
        if self.store.is_ieee() {
            let term = self.residue(value, format.bytes())?;
            let term = self.unsigned(term, 8 * format.bytes());
            return Some(ieee_of_one(self.store, IeeeKey::new(IeeeOp::Decode, format), term, self.pc));
        }
        if !self.store.explains() {
            return None;
        }
        let term = self.residue(value, format.bytes()).filter(|term| self.store.may_spell(*term))?;
        let term = self.unsigned(term, 8 * format.bytes());
        self.decoded(term, format)
    }

    /// The value of bits that encode no real, where library functions are recognised.
    pub(crate) fn spelling(&mut self, bits: u64, format: Format) -> Option<TermId> {
        let term = self.whole(bits.into());
        self.decoded(term, format)
    }

    /// The content of an unwritten register, as an integer without meaning.
    pub(crate) fn nothing(&mut self) -> Value {
        let zero = self.whole(0);
        let nothing = self.store.push_uniform(TermOp::Outcome, &[zero.raw()], self.pc);
        self.value(TermId::from_raw(nothing), 8)
    }

    fn decoded(&mut self, term: TermId, format: Format) -> Option<TermId> {
        let op = match format {
            Format::F32 => TermOp::DecodeF32,
            Format::F64 => TermOp::DecodeF64,
            Format::F16 | Format::Bf16 | Format::Tf32 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => {
                return None;
            }
        };
        if !self.store.explains() {
            return None;
        }
        Some(TermId::from_raw(self.store.push_uniform(op, &[term.raw()], self.pc)))
    }

    /// Whether a bit is 1, as a condition.
    pub(crate) fn is_one(&mut self, digit: TermId) -> TermId {
        let one = self.whole(1);
        self.store.apply(TermOp::Equal, &[digit, one], self.pc)
    }

    /// The bit that a condition compares with 1.
    fn digit_in(&mut self, condition: TermId) -> Option<TermId> {
        let one = self.whole(1);
        match self.store.view(condition) {
            View::Apply(TermOp::Equal, [digit, other, _]) if other == one => {
                self.ranges.of(self.store, digit).within(0, 1).then_some(digit)
            }
            View::Apply(..) | View::Constant(_) | View::Input { .. } => None,
        }
    }

    /// A select of two terms by a condition.
    pub(crate) fn chosen(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> TermId {
        if then == otherwise && self.ranges.is_kept(self.store, condition, &[then]) {
            return then;
        }
        let both = number(self.store, then).is_some() && number(self.store, otherwise).is_some();
        if both && let Some(digit) = self.digit_in(condition) {
            let step = self.sub(then, otherwise);
            let steps = self.mul(digit, step);
            return self.add(steps, otherwise);
        }
        self.store.apply(TermOp::Select, &[condition, then, otherwise], self.pc)
    }

    /// The number that a value encodes in a type; `None` where it is no integer.
    pub(crate) fn reading(&mut self, value: Value, ty: Int) -> Option<TermId> {
        if let Value::Bits(bits) = value {
            let top = 64 - ty.width.bits();
            let bits = bits << top;
            let number = if ty.signed { i128::from(bits as i64 >> top) } else { i128::from(bits >> top) };
            return Some(self.whole(number));
        }
        let term = self.residue(value, ty.width.bytes())?;
        Some(self.read(term, ty.width.bits(), ty.signed))
    }

    /// A term as an integer of some bytes: concrete bits if it is constant.
    pub(crate) fn value(&mut self, term: TermId, bytes: u32) -> Value {
        let bits = 8 * bytes;
        match number(self.store, term) {
            Some(number) => {
                let modulus = Rational::power_of_two(bits as i32);
                let quotient = (number * &Rational::power_of_two(-(bits as i32))).floor();
                let rest = number - &(&quotient * &modulus);
                rest.to_u64().map_or(Value::Sym(Sym::int(bytes, term)), Value::Bits)
            }
            None => Value::Sym(Sym::int(bytes, term)),
        }
    }
}

/// An operation of one operand, as a term; a known operand gives a known result.
pub(crate) fn ieee_of_one(store: &mut Store, key: IeeeKey, operand: TermId, pc: InstId) -> TermId {
    if let Some(value) = store.as_ieee_number(operand)
        && let Some(Ieee::Float(result)) = key.apply(&[Ieee::Float(value)])
        && !result.is_nan()
    {
        store.note_rounding(key, &[value], result);
        return store.ieee_number(result);
    }
    let key = store.ieee_key(key);
    TermId::from_raw(store.push_uniform(TermOp::Ieee1, &[key.raw(), operand.raw()], pc))
}
