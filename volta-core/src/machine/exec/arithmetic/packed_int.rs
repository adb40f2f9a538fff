//! Integer operations on lanes that are not concrete (rules V4, V5): moving whole parts, choices between two integers,
//! and arithmetic on integers that depend on inputs.

use super::integer::Integer;
use super::predicates::CompareInst;
use crate::base::lane::Lane;
use crate::machine::cta::Cta;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::values::{Numbers, Reals};
use crate::machine::group::warp::{At, Step};
use crate::number::format::{Format, has_sign};
use crate::program::{Clamp, Compare, InstId, Int, Int2, Int3, Precision, Width};
use crate::term::{IeeeKey, IeeeOp, NodeId, Ranges, Store, TermId, TermKind, TermOp};
use crate::value::float_inst::Shape;
use crate::value::guard::Guard;
use crate::value::int_terms::{self, IntTerms, ieee_of_one, whole};
use crate::value::known_floats::{Known, KnownValues};
use crate::value::packed::{Choice, PackedPart, PackedParts, PackedValues, low_bytes};
use crate::value::words::{compare, selector_of};
use crate::value::{Origin, Sym, SymKind, Truth, Value};
use crate::verdict::FaultKind;

/// The state that integer operations on values need.
pub(crate) struct PackedInts<'t> {
    pub(crate) packed: &'t mut PackedValues,
    pub(crate) store: &'t mut Store,
    pub(crate) ranges: &'t mut Ranges,
    pub(crate) reductions: &'t rustc_hash::FxHashMap<NodeId, i64>,
    pub(crate) known: &'t mut KnownValues,
    pub(crate) pc: InstId,
}

impl PackedInts<'_> {
    /// Applies an operation on bits to the arms of choices.
    fn choices(&mut self, words: &[Value], f: impl Fn(&[u64]) -> Option<u64>) -> Option<Value> {
        let mut leaf = |x: &[u64]| f(x).map(Value::Bits);
        let mut join = |table: &mut PackedValues, condition, then, otherwise| {
            table.choose(Choice { condition, then, otherwise })
        };
        self.packed.each_arm(words, &mut leaf, &mut join)
    }

    /// The result of an operation on choices between concrete integers.
    pub(crate) fn chosen(&mut self, op: &Integer<Value>) -> Option<Value> {
        self.choices(op.operands(), |bits| op.on(bits).concrete())
    }

    /// The result of an operation as a term; see [`IntTerms::integer`].
    pub(crate) fn computed(&mut self, op: &Integer<Value>) -> Option<Value> {
        let PackedInts { packed, store, ranges, pc, .. } = self;
        let mut terms = IntTerms { packed, store, ranges, pc: *pc };
        let term = terms.integer(op)?;
        // Steps of library functions are recognised as they are.
        let term = if terms.store.explains() { term } else { terms.of_one_value(term) };
        Some(terms.value(term, op.bytes()))
    }

    /// The result of an operation that only moves whole parts, or changes a real's sign.
    pub(crate) fn moved(&mut self, op: &Integer<Value>) -> Option<Value> {
        match *op {
            Integer::One(..) => None,
            Integer::Two(op, ty, operands) => self.moves(op, ty.width, ty.signed, &operands),
            Integer::Three(op, ty, operands) => self.moves_of_three(op, ty, operands),
            Integer::Insert(width, [a, b, position, length]) => {
                let (position, length) = whole_bytes(position, length, width)?;
                self.replace(a, b, width.bytes(), position, length)
            }
            Integer::Convert { from, to, saturate, a: [a] } => {
                // The whole parts that fit the result, with zeros above them.
                let kept = from.width.bytes().min(to.width.bytes());
                let widens = to.width.bytes() > from.width.bytes();
                let value = if saturate || from.signed && widens { None } else { self.cut(a, 8, 0, kept) };
                value.filter(
                    |value| matches!(value, Value::Sym(sym) if !matches!(sym.kind(), SymKind::Choice(_))),
                )
            }
        }
    }

    fn moves_of_three(&mut self, op: Int3, ty: Int, [a, b, c]: [Value; 3]) -> Option<Value> {
        let Value::Bits(bits) = c else { return None };
        if let Int3::Permute(mode) = op {
            return self.permute(a, b, selector_of(mode, bits));
        }
        if op == Int3::Extract && !ty.signed {
            let (position, length) = whole_bytes(b, c, ty.width)?;
            return self.cut(a, ty.width.bytes(), position, length);
        }
        self.funnel(op, a, b, bits)
    }

    /// Operations that only move whole parts, or change a real's sign.
    fn moves(&mut self, op: Int2, width: Width, signed: bool, words: &[Value]) -> Option<Value> {
        let bytes = width.bytes();
        let (a, b) = (words[0], words[1]);
        match (op, a, b) {
            (Int2::Shl, Value::Sym(sym), Value::Bits(amount)) => {
                if let Some(power) = exponent_field(self, sym, width, amount) {
                    return Some(power);
                }
                let shift =
                    byte_shift(amount, bytes).filter(|shift| !self.computes_nothing(a, *shift == bytes))?;
                let mut pieces = vec![PackedPart { value: Value::Bits(0), bytes: shift }];
                pieces.extend(PackedValues::slice(&self.packed.split(a, bytes), 0, bytes - shift).ok()?);
                Some(self.packed.join(&pieces))
            }
            (Int2::Shr, Value::Sym(_), Value::Bits(amount))
                if amount & 0xffff_ffff == u64::from(width.bits() - 1)
                    && let Some(sign) = self.sign_digit(a, width, signed) =>
            {
                Some(sign)
            }
            (Int2::Shr, Value::Sym(_), Value::Bits(amount)) if !signed => {
                let shift =
                    byte_shift(amount, bytes).filter(|shift| !self.computes_nothing(a, *shift == bytes))?;
                self.cut(a, bytes, shift, bytes - shift)
            }
            (Int2::And, _, Value::Bits(bits)) | (Int2::And, Value::Bits(bits), _) => {
                let value = if matches!(a, Value::Sym(_)) { a } else { b };
                if self.computes_nothing(value, bits & width.mask() == 0) {
                    return None;
                }
                self.mask(value, bits & width.mask(), bytes)
            }
            (Int2::Or | Int2::Add | Int2::Xor, _, _) => {
                if op == Int2::Xor
                    && let Some(flipped) = self.flip_sign(a, b, width)
                {
                    return Some(flipped);
                }
                self.with_sign(op, a, b, width).or_else(|| self.overlay(a, b, bytes))
            }
            _ => None,
        }
    }

    /// Whether an operation keeps nothing of an unknown integer: the result is then computed as a term, not moved.
    fn computes_nothing(&self, value: Value, none: bool) -> bool {
        none && self.packed.is_unknown_integer(value)
    }

    /// `length` bytes of a value, from byte `start`, as a value of their own.
    pub(crate) fn cut(&mut self, value: Value, bytes: u32, start: u32, length: u32) -> Option<Value> {
        let pieces = PackedValues::slice(&self.packed.split(value, bytes), start, length).ok()?;
        Some(self.packed.join(&pieces))
    }

    /// Byte masks keep parts; clearing a real's sign bit is its absolute value, and keeping only the sign bit gives a
    /// zero.
    fn mask(&mut self, value: Value, bits: u64, bytes: u32) -> Option<Value> {
        if let Some((format, term)) = self.packed.as_f32(value).as_real()
            && format.bytes() <= bytes
            && let Some(sign) = sign_bit(format)
        {
            if bits == sign - 1 {
                return Some(self.with_other_sign(TermOp::Abs, format, term));
            }
            if bits == sign
                && let Some(zero) = self.signed_zero(format, term)
            {
                return Some(zero);
            }
        }
        let mut pieces = Vec::new();
        let mut at = 0;
        for piece in self.packed.split(value, bytes) {
            let part = bits >> (8 * at) & low_bytes(piece.bytes);
            at += piece.bytes;
            if part == low_bytes(piece.bytes) {
                pieces.push(piece);
            } else if part == 0 && !matches!(piece.value, Value::Undefined(_)) {
                pieces.push(PackedPart { value: Value::Bits(0), bytes: piece.bytes });
            } else if let Value::Bits(concrete) = piece.value {
                pieces.push(PackedPart { value: Value::Bits(concrete & part), bytes: piece.bytes });
            } else {
                return None;
            }
        }
        Some(self.packed.join(&pieces))
    }

    fn flip_sign(&mut self, a: Value, b: Value, width: Width) -> Option<Value> {
        let (sym, bits) = match (self.packed.as_f32(a), self.packed.as_f32(b)) {
            (Value::Sym(sym), Value::Bits(bits)) | (Value::Bits(bits), Value::Sym(sym)) => (sym, bits),
            _ => return None,
        };
        let SymKind::Real(format, term) = sym.kind() else { return None };
        if sign_bit(format) != Some(bits & width.mask()) {
            return None;
        }
        Some(self.with_other_sign(TermOp::Neg, format, term))
    }

    /// A real after clearing or flipping its sign bit.
    fn with_other_sign(&mut self, op: TermOp, format: Format, term: TermId) -> Value {
        if self.store.is_ieee() {
            let op = if op == TermOp::Neg { IeeeOp::Neg } else { IeeeOp::Abs };
            let term = ieee_of_one(self.store, IeeeKey::new(op, format), term, self.pc);
            return Value::Sym(Sym::real(format, term));
        }
        if self.known.contains(term.raw()) {
            let shape = Shape { op, format, precision: Precision::NEAREST, clamp: Clamp::None };
            return self.known.fold(self.store, shape, &[term], self.pc);
        }
        Value::Sym(Sym::real(format, self.store.apply(op, &[term], self.pc)))
    }

    /// Two values whose non-zero bytes are disjoint, overlaid.
    fn overlay(&mut self, a: Value, b: Value, bytes: u32) -> Option<Value> {
        let (left, right) = (self.packed.split(a, bytes), self.packed.split(b, bytes));
        let mut pieces: Vec<PackedPart> = Vec::new();
        let mut at = 0;
        while at < bytes {
            let here = |list: &[PackedPart]| {
                let mut start = 0;
                list.iter().find_map(|piece| {
                    let found = start <= at && at < start + piece.bytes;
                    start += piece.bytes;
                    found.then_some((*piece, at - (start - piece.bytes)))
                })
            };
            let (one, two) = (here(&left)?, here(&right)?);
            let byte_of = |(piece, offset): (PackedPart, u32)| match piece.value {
                Value::Bits(bits) => Some(bits >> (8 * offset) & 0xff),
                Value::Sym(_) | Value::Undefined(_) => None,
            };
            let (value, length) = match ((one, byte_of(one)), (two, byte_of(two))) {
                ((_, Some(x)), (_, Some(y))) if x == 0 || y == 0 => (Value::Bits(x | y), 1),
                ((piece, None), (_, Some(0))) | ((_, Some(0)), (piece, None)) if piece.1 == 0 => {
                    let other = if byte_of(one).is_some() { &left } else { &right };
                    let under = PackedValues::slice(other, at, piece.0.bytes).ok()?;
                    if under.iter().any(|piece| piece.value != Value::Bits(0)) {
                        return None;
                    }
                    (piece.0.value, piece.0.bytes)
                }
                _ => return None,
            };
            pieces.push(PackedPart { value, bytes: length });
            at += length;
        }
        Some(self.packed.join(&pieces))
    }

    /// `b` with bytes `position .. position + length` taken from the low bytes of `a`.
    fn replace(&mut self, a: Value, b: Value, bytes: u32, position: u32, length: u32) -> Option<Value> {
        let (new, old) = (self.packed.split(a, bytes), self.packed.split(b, bytes));
        let after = bytes - position - length;
        let mut pieces = int_terms::slice(&old, 0, position, self.store).ok()?;
        pieces.extend(int_terms::slice(&new, 0, length, self.store).ok()?);
        pieces.extend(int_terms::slice(&old, position + length, after, self.store).ok()?);
        Some(self.packed.join(&pieces))
    }

    /// A funnel shift by whole bytes.
    fn funnel(&mut self, op: Int3, low: Value, high: Value, amount: u64) -> Option<Value> {
        let left = matches!(op, Int3::ShfLeftWrap | Int3::ShfLeftClamp);
        let wraps = matches!(op, Int3::ShfLeftWrap | Int3::ShfRightWrap);
        if !left && !wraps && op != Int3::ShfRightClamp {
            return None;
        }
        let amount = if wraps { amount & 31 } else { (amount & 0xffff_ffff).min(32) };
        let shift = byte_shift(amount, 4)?;
        let mut pieces = self.packed.split(low, 4);
        pieces.extend(self.packed.split(high, 4));
        let start = if left { 4 - shift } else { shift };
        let pieces = int_terms::slice(&pieces, start, 4, self.store).ok()?;
        Some(self.packed.join(&pieces))
    }

    /// `prmt` where neighbouring bytes of a value stay together.
    fn permute(&mut self, a: Value, b: Value, selector: u64) -> Option<Value> {
        let mut source = self.packed.split(a, 4);
        source.extend(self.packed.split(b, 4));
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < 4 {
            let nibble = |at: u32| (selector >> (4 * at) & 0xf) as u32;
            let first = nibble(at);
            if first & 8 != 0 {
                return None;
            }
            // The longest run of consecutive bytes that consists of whole parts.
            let run = (1..=4 - at)
                .take_while(|length| {
                    // A selector digit of 8 or more replicates a sign.
                    (0..*length).all(|step| first + step < 8 && nibble(at + step) == first + step)
                })
                .filter_map(|length| {
                    Some((length, int_terms::slice(&source, first, length, self.store).ok()?))
                })
                .last()?;
            pieces.extend(run.1);
            at += run.0;
        }
        Some(self.packed.join(&pieces))
    }
}

/// The sign bit of a format's encoding, if it has one.
pub(crate) fn sign_bit(format: Format) -> Option<u64> {
    has_sign(format).then(|| 1 << (8 * format.bytes() - 1))
}

/// A known bit field that consists of whole bytes of a register: start and length in bytes.
fn whole_bytes(position: Value, length: Value, width: Width) -> Option<(u32, u32)> {
    let (Value::Bits(position), Value::Bits(length)) = (position, length) else { return None };
    let (position, length) = ((position & 0xff) as u32, (length & 0xff) as u32);
    let whole = position % 8 == 0 && length % 8 == 0 && length > 0 && position + length <= width.bits();
    whole.then_some((position / 8, length / 8))
}

fn byte_shift(amount: u64, bytes: u32) -> Option<u32> {
    let amount = (amount & 0xffff_ffff).min(u64::from(8 * bytes)) as u32;
    amount.is_multiple_of(8).then_some(amount / 8)
}

impl Reals<'_, '_> {
    /// A choice between values of 8 bytes, as two choices between values of 4 bytes.
    pub(crate) fn halves_of_choice(&mut self, value: Value, pc: InstId) -> Option<PackedParts> {
        if let Some(Choice { condition, then, otherwise }) = self.terms.packed.as_partly(value) {
            let [then, otherwise] = [then, otherwise].map(|arm| {
                let pieces =
                    self.halves_of_choice(arm, pc).unwrap_or_else(|| self.terms.packed.split(arm, 8));
                [0, 4].map(|start| int_terms::slice(&pieces, start, 4, &mut self.terms.store))
            });
            return then
                .into_iter()
                .zip(otherwise)
                .map(|(then, otherwise)| {
                    let [then, otherwise] =
                        [self.terms.packed.join(&then.ok()?), self.terms.packed.join(&otherwise.ok()?)];
                    let half = self.terms.packed.choose(Choice { condition, then, otherwise });
                    Some(PackedPart { value: half, bytes: 4 })
                })
                .collect();
        }
        self.terms.packed.as_choice(value)?;
        [0, 32]
            .into_iter()
            .map(|shift| {
                let mut domains = self.packed_ints(pc);
                let half = domains.choices(&[value], |x| Some(x[0] >> shift & 0xffff_ffff));
                Some(PackedPart { value: half?, bytes: 4 })
            })
            .collect()
    }
}

impl ValueTerms<'_> {
    /// The builder of integer terms.
    pub(crate) fn int_terms(&mut self, pc: InstId) -> IntTerms<'_> {
        let ValueTerms { packed, store, ranges, .. } = self;
        IntTerms { packed, store, ranges, pc }
    }

    #[cold]
    pub(crate) fn computes_with_encoding(&self, at: At<'_>, words: &[Value]) -> Stop {
        let symbolic = words.iter().find(|value| matches!(value, Value::Sym(_))).copied();
        let Some(value) = symbolic else { return self.context.divides_by_zero(at) };
        let what = self.describe_value(value);
        if let Value::Sym(sym) = value
            && let SymKind::Answer(answer) = sym.kind()
        {
            return self.asked_once(answer, at.warp, at.lane, at.pc);
        }
        let is_choice = matches!(value, Value::Sym(sym) if matches!(sym.kind(), SymKind::Choice(_)));
        if is_choice || self.packed.is_unknown_integer(value) {
            let message =
                format!("this operation on integers that depend on the input is not supported yet: {what}");
            return self.context.fault_of(at, FaultKind::Unsupported, "V4", message);
        }
        let message = format!("an integer operation uses a part of the encoding of a real: {what}");
        let site = self.context.site("computes".into(), at.warp, at.lane, at.pc);
        let help = "only moving whole values, clearing or flipping a sign, and the steps of known functions are \
                    understood (V5); compiling with --use_fast_math often avoids such code";
        self.context.fault_at(FaultKind::TypeMismatch, "V5", message, vec![site], Some(help.into()))
    }

    /// An addition or a subtraction with a carry where a lane is not concrete: the result, and the carry out.
    pub(crate) fn symbolic_carry(
        &mut self,
        at: At<'_>,
        (subtract, width): (bool, Width),
        words: [Value; 2],
        carry: Truth,
    ) -> Result<(Value, Truth), Stop> {
        if let Some(origin) = self.packed.taint(&words) {
            return Ok((Value::Undefined(origin), Truth::Undefined(origin)));
        }
        let mut residues = self.int_terms(at.pc);
        let carry = match carry {
            Truth::Known(carry) => residues.whole(carry.into()),
            Truth::Condition(condition) => {
                let [zero, one] = [0, 1].map(|digit| residues.whole(digit));
                residues.chosen(condition, one, zero)
            }
            Truth::Undefined(origin) => return Ok((Value::Undefined(origin), carry)),
            Truth::Answer(answer) => {
                let origin = self.unpredictable(answer);
                return Ok((Value::Undefined(origin), Truth::Undefined(origin)));
            }
        };
        let Some((total, out)) = residues.carried(subtract, width, words, carry) else {
            return Err(self.computes_with_encoding(at, &words));
        };
        let result = residues.value(total, width.bytes());
        let out = match residues.value(out, 1) {
            Value::Bits(bit) => Truth::Known(bit == 1),
            Value::Sym(_) | Value::Undefined(_) => Truth::Condition(residues.is_one(out)),
        };
        Ok((result, out))
    }
}

impl PackedValues {
    /// The origin of an undefined result, from its operands.
    pub(crate) fn taint(&self, values: &[Value]) -> Option<Origin> {
        values.iter().filter_map(|value| self.undefined_part(*value)).reduce(Origin::or)
    }
}

impl Cta<'_> {
    /// Compares integers where some lanes are not concrete.
    pub(super) fn symbolic_compare(
        &mut self,
        mut step: Step<'_>,
        kind: (Compare, Int),
        inst: CompareInst,
    ) -> Result<(), Stop> {
        for lane in step.mask {
            let mut words = inst.operands.map(|source| self.context.value(step.warp, source, lane));
            if !words.iter().any(|word| matches!(word, Value::Bits(_))) {
                words = words.map(|word| self.sync.settled(&self.values.terms.packed, step.warp, lane, word));
            }
            let truth = compared(self, step.at(lane), kind, words)?;
            self.values.terms.set_predicates(&mut step, lane, truth, inst);
        }
        Ok(())
    }
}

/// The outcome of a comparison of integers of a lane.
fn compared(
    cta: &mut Cta<'_>,
    at: At<'_>,
    (op, ty): (Compare, Int),
    [x, y]: [Value; 2],
) -> Result<Truth, Stop> {
    let asked = match (x, y) {
        (Value::Bits(x), Value::Bits(y)) => return Ok(Truth::Known(compare(op, ty, x, y))),
        (Value::Undefined(one), Value::Undefined(other)) => return Ok(Truth::Undefined(one.or(other))),
        (Value::Undefined(origin), _) | (_, Value::Undefined(origin)) => {
            return Ok(Truth::Undefined(origin));
        }
        (Value::Sym(sym), Value::Bits(other)) => Some((sym, other, op)),
        (Value::Bits(other), Value::Sym(sym)) => Some((sym, other, op.turned())),
        (Value::Sym(_), Value::Sym(_)) => None,
    };
    if let Some((sym, other, op)) = asked {
        let holds = |bits| compare(op, ty, bits, other);
        let packed = &mut cta.values.terms.packed;
        if let Some(known) = cta.sync.ask_ticket(packed, at.warp, at.lane, sym, holds) {
            return Ok(Truth::Known(known));
        }
        if let SymKind::Answer(answer) = sym.kind() {
            return Ok(packed.answer_of(answer, |bits| holds(bits).into()));
        }
    }
    if let Some(condition) = cta.values.reals().signs(at.pc).compared(op, ty, [x, y]) {
        return Ok(Truth::Condition(condition));
    }
    let ValueTerms { packed, store, .. } = &mut cta.values.terms;
    let mut leaf = |bits: &[u64]| Some(Truth::Known(compare(op, ty, bits[0], bits[1])));
    let mut join = |packed: &mut PackedValues, condition, then, otherwise| {
        choose_truth(store, packed.may_lack(condition), condition, then, otherwise, at.pc)
    };
    let by_arms = packed.each_arm(&[x, y], &mut leaf, &mut join);
    // As one comparison of two chosen integers, such as places of equal elements, it keeps its meaning: the algebra
    // knows what orders them.
    let is_of_two = asked.is_none() && op.is_order() && matches!(by_arms, Some(Truth::Condition(_)));
    if let Some(truth) = by_arms.filter(|_| !is_of_two) {
        return Ok(truth);
    }
    match (cta.values.terms.int_terms(at.pc).compare(op, ty, x, y), by_arms) {
        (Some(Err(condition)), _) => Ok(Truth::Condition(condition)),
        (Some(Ok(_)) | None, Some(truth)) => Ok(truth),
        (Some(Ok(known)), None) => Ok(Truth::Known(known)),
        (None, None) => match cta.values.terms.packed.taint(&[x, y]) {
            Some(origin) => Ok(Truth::Undefined(origin)),
            None => Err(cta.values.terms.computes_with_encoding(at, &[x, y])),
        },
    }
}

/// `then` where the condition holds, else `otherwise`. A condition that may have no value is kept.
fn choose_truth(
    store: &mut Store,
    lacks: bool,
    condition: TermId,
    then: Truth,
    otherwise: Truth,
    pc: InstId,
) -> Truth {
    let mut apply = |op, terms: &[TermId]| store.apply(op, terms, pc);
    Truth::Condition(match (then, otherwise) {
        // The arms compare bits, which are never answers.
        (Truth::Answer(_), _) | (_, Truth::Answer(_)) => return Truth::Undefined(Origin::Unpredictable(pc)),
        (Truth::Undefined(one), Truth::Undefined(other)) => return Truth::Undefined(one.or(other)),
        (undefined @ Truth::Undefined(_), _) | (_, undefined @ Truth::Undefined(_)) => return undefined,
        (Truth::Known(x), Truth::Known(y)) if x == y && !lacks => return then,
        (Truth::Known(x), Truth::Known(y)) if x == y => {
            let fails = apply(TermOp::Xor, &[condition, condition]);
            if x { apply(TermOp::Not, &[fails]) } else { fails }
        }
        (Truth::Known(true), Truth::Known(_)) => condition,
        (Truth::Known(false), Truth::Known(_)) => apply(TermOp::Not, &[condition]),
        (Truth::Known(true), Truth::Condition(y)) => apply(TermOp::Or, &[condition, y]),
        (Truth::Condition(x), Truth::Known(false)) => apply(TermOp::And, &[condition, x]),
        (Truth::Known(false), Truth::Condition(y)) => {
            let not = apply(TermOp::Not, &[condition]);
            apply(TermOp::And, &[not, y])
        }
        (Truth::Condition(x), Truth::Known(true)) => {
            let not = apply(TermOp::Not, &[condition]);
            apply(TermOp::Or, &[not, x])
        }
        (Truth::Condition(x), Truth::Condition(y)) => {
            let (left, not) = (apply(TermOp::And, &[condition, x]), apply(TermOp::Not, &[condition]));
            let right = apply(TermOp::And, &[not, y]);
            apply(TermOp::Or, &[left, right])
        }
    })
}

/// `bits(m) << 23` for an `m` that [`Reals::floor_step`] made: the f32 `2^(m − bias)`.
fn exponent_field(table: &mut PackedInts<'_>, sym: Sym, width: Width, amount: u64) -> Option<Value> {
    let SymKind::Real(Format::F32, term) = sym.kind() else { return None };
    let TermKind::Lane(node, _) = term.kind() else { return None };
    if width != Width::W32 || amount != 23 {
        return None;
    }
    let bias = *table.reductions.get::<NodeId>(&node)?;
    let offset = whole(table.store, bias.into());
    let exponent = table.store.apply(TermOp::Sub, &[term, offset], table.pc);
    let power = table.store.apply(TermOp::Exp2, &[exponent], table.pc);
    if let Some(known) = table.known.of(table.store, term) {
        let exact = known.exact.power_of_two_less(bias);
        let shifted = |bits: u64| bits << 23 & u64::from(u32::MAX);
        let rounded = known.rounded.and_then(|held| held.map(Format::F32, shifted));
        table.known.insert(power, Known { exact, rounded });
    }
    Some(Value::Sym(Sym::real(Format::F32, power)))
}

impl Reals<'_, '_> {
    /// The result of an operation on defined values, in the first domain that has one.
    pub(super) fn integer_value(&mut self, op: &Integer<Value>, pc: InstId) -> Option<Value> {
        if let Some(bits) = op.bits() {
            return bits.concrete().map(Value::Bits);
        }
        let mut domains = self.packed_ints(pc);
        domains.moved(op).or_else(|| domains.chosen(op)).or_else(|| domains.computed(op))
    }

    /// Like [`Reals::integer_value`], where the guard of a lane holds: what it says of integers tells more of the result.
    pub(super) fn integer_under(&mut self, lane: Lane, op: &Integer<Value>, pc: InstId) -> Option<Value> {
        let guard = self.terms.guards.of(lane);
        if guard == Guard::ALWAYS || op.bits().is_some() || self.terms.store.explains() {
            return self.integer_value(op, pc);
        }
        let supposed = self.terms.under_guards().suppose_guard(guard);
        let value = self.integer_value(op, pc);
        self.terms.under_guards().suppose_no_more(supposed);
        value
    }

    pub(crate) fn packed_ints(&mut self, pc: InstId) -> PackedInts<'_> {
        let ValueTerms { packed, store, ranges, .. } = self.terms;
        let Numbers { reductions, known, .. } = self.numbers;
        PackedInts { packed, store, ranges, reductions, known, pc }
    }
}
