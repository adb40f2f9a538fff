//! Operations on integers that depend on inputs: the result is a term congruent to the integer (rule V4).

use super::integer::Integer;
use crate::number::format::{Format, binade};
use crate::program::{Compare, Int, Int1, Int2, Int3, Width};
use crate::term::{Range, Store, TermId, TermOp, View};
use crate::value::int_terms::{IntTerms, exactly, number, slice};
use crate::value::words::selector_of;
use crate::value::{SymKind, Value};

/// An integer type.
fn int(width: Width, signed: bool) -> Int {
    Int { width, signed }
}

/// The position and length of a field, as `bfe` and `bfi` read them.
fn field(position: u64, length: u64) -> (u32, u32) {
    ((position & 0xff) as u32, (length & 0xff) as u32)
}

impl IntTerms<'_> {
    fn known(&self, value: Value) -> Option<u64> {
        match value {
            Value::Bits(bits) => Some(bits),
            Value::Sym(_) | Value::Undefined(_) => None,
        }
    }

    /// Clamps a term to a range.
    fn clamped(&mut self, term: TermId, low: i128, high: i128) -> TermId {
        if self.ranges.of(self.store, term).within(low, high) {
            return term;
        }
        let (low, high) = (self.whole(low), self.whole(high));
        let lowered = self.apply(TermOp::Min, &[term, high]);
        self.apply(TermOp::Max, &[lowered, low])
    }

    /// Saturates a term to a type.
    pub(crate) fn saturated(&mut self, term: TermId, ty: Int) -> TermId {
        let [low, high] = ty.limits();
        self.clamped(term, low, high)
    }

    /// Bitwise `and` of two unsigned numbers.
    fn common(&mut self, a: TermId, b: TermId) -> TermId {
        self.apply(TermOp::BitAnd, &[a, b])
    }

    /// Whether two unsigned numbers have no bit in common.
    fn are_apart(&mut self, a: TermId, b: TermId) -> bool {
        let (a, b) = (self.ranges.of(self.store, a), self.ranges.of(self.store, b));
        a.is_natural() && b.is_natural() && a.ones & b.ones == 0
    }

    /// Bitwise `or` of two unsigned numbers.
    fn either(&mut self, a: TermId, b: TermId) -> TermId {
        if [a, b].into_iter().all(|digit| self.ranges.of(self.store, digit).within(0, 1)) {
            return self.apply(TermOp::Max, &[a, b]);
        }
        if self.are_apart(a, b) {
            return self.add(a, b);
        }
        let common = self.common(a, b);
        let sum = self.add(a, b);
        self.sub(sum, common)
    }

    /// Bitwise `xor` of two unsigned numbers.
    fn one_of(&mut self, a: TermId, b: TermId) -> TermId {
        if self.are_apart(a, b) {
            return self.add(a, b);
        }
        let common = self.common(a, b);
        let twice = self.raised(common, 1);
        let sum = self.add(a, b);
        self.sub(sum, twice)
    }

    /// `a / b`, rounded towards zero. That `b` is not zero is an obligation (V8).
    fn quotient(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        let exact = match number(self.store, b).cloned() {
            Some(number) => {
                let factor = exactly(self.store, number.recip()?);
                self.mul(a, factor)
            }
            None => self.store.apply(TermOp::Div, &[a, b], self.pc),
        };
        let natural = |range: Range| range.low.is_some_and(|low| low >= 0);
        let down = [a, b].into_iter().all(|term| natural(self.ranges.of(self.store, term)));
        Some(self.apply(if down { TermOp::Floor } else { TermOp::Trunc }, &[exact]))
    }

    /// `bits` bits of an unsigned number from `position` on, as a number in a type of that width.
    fn digits(&mut self, term: TermId, position: u32, bits: u32, signed: bool) -> TermId {
        let low = self.lowered(term, position);
        self.read(low, bits, signed)
    }

    /// The result of an operation: a term congruent to it.
    pub(crate) fn integer(&mut self, op: &Integer<Value>) -> Option<TermId> {
        match *op {
            Integer::One(op, ty, [a]) => self.int1(op, ty, a),
            Integer::Two(op, ty, words) => self.int2(op, ty, words),
            Integer::Three(op, ty, operands) => self.int3(op, ty, operands),
            Integer::Insert(width, operands) => self.insert(width, operands),
            Integer::Convert { from, to, saturate, a: [a] } => self.convert(a, from, to, saturate),
        }
    }

    /// An operation on one integer.
    fn int1(&mut self, op: Int1, ty: Int, a: Value) -> Option<TermId> {
        let bits = ty.width.bits();
        let x = self.residue(a, ty.width.bytes())?;
        Some(match op {
            Int1::Not => {
                let minus_one = self.whole(-1);
                self.sub(minus_one, x)
            }
            Int1::Neg => {
                let zero = self.whole(0);
                self.sub(zero, x)
            }
            Int1::Abs => {
                let x = self.signed(x, bits);
                self.apply(TermOp::Abs, &[x])
            }
            Int1::Cnot => {
                let (x, zero, one) = (self.unsigned(x, bits), self.whole(0), self.whole(1));
                let is_zero = self.store.apply(TermOp::Equal, &[x, zero], self.pc);
                self.chosen(is_zero, one, zero)
            }
            // The sum of the bits of x is x less all of ⌊x/2⌋, ⌊x/4⌋, … (Legendre).
            Int1::Popc => {
                if let Some(count) = self.digits_set(x, bits) {
                    return Some(count);
                }
                let x = self.unsigned(x, bits);
                (1..bits).fold(x, |sum, by| {
                    let part = self.lowered(x, by);
                    self.sub(sum, part)
                })
            }
            Int1::Brev => {
                let x = self.unsigned(x, bits);
                let zero = self.whole(0);
                (0..bits).fold(zero, |sum, at| {
                    let digit = self.digits(x, at, 1, false);
                    let digit = self.raised(digit, bits - 1 - at);
                    self.add(sum, digit)
                })
            }
            Int1::Clz | Int1::FindTop | Int1::FindTopShift => return self.highest(op, ty, a),
        })
    }

    /// The number of binary digits that are 1 in a ballot, or in some bits of one: a sum of different powers of two, each
    /// by a condition.
    fn digits_set(&mut self, x: TermId, bits: u32) -> Option<TermId> {
        let number = |store: &Store, term: TermId| number(store, term)?.to_u64();
        let (sum, mask) = match self.store.view(x) {
            View::Apply(TermOp::BitAnd, [a, b, _]) => match (number(self.store, a), number(self.store, b)) {
                (None, Some(mask)) => (a, mask),
                (Some(mask), None) => (b, mask),
                (Some(_), Some(_)) | (None, None) => return None,
            },
            View::Apply(..) | View::Input { .. } | View::Constant(_) => (x, u64::MAX),
        };
        let (mut work, mut digits, mut seen) = (vec![sum], Vec::new(), 0u64);
        while let Some(term) = work.pop() {
            let (condition, digit) = match self.store.view(term) {
                View::Apply(TermOp::Add, [a, b, _]) if work.len() <= 64 => {
                    work.extend([a, b]);
                    continue;
                }
                View::Apply(TermOp::Select, [condition, then, otherwise])
                    if number(self.store, otherwise) == Some(0) =>
                {
                    (Some(condition), number(self.store, then)?)
                }
                View::Constant(_) => (None, number(self.store, term)?),
                View::Apply(..) | View::Input { .. } => return None,
            };
            if condition.is_some() && !digit.is_power_of_two() || bits < 64 && digit >> bits != 0 {
                return None;
            }
            digits.push((condition, digit));
        }
        let (mut count, mut known) = (None, 0);
        for (condition, digit) in digits.into_iter().rev() {
            if seen & digit != 0 {
                return None;
            }
            seen |= digit;
            let Some(condition) = condition else {
                known += (digit & mask).count_ones();
                continue;
            };
            if digit & mask != 0 {
                let [one, zero] = [1, 0].map(|bit| self.whole(bit));
                let own = self.store.apply(TermOp::Select, &[condition, one, zero], self.pc);
                count = Some(count.map_or(own, |count| self.add(count, own)));
            }
        }
        let known = self.whole(known.into());
        Some(count.map_or(known, |count| self.add(count, known)))
    }

    /// Terms congruent to two integers.
    fn residues(&mut self, ty: Int, [a, b]: [Value; 2]) -> Option<[TermId; 2]> {
        Some([self.residue(a, ty.width.bytes())?, self.residue(b, ty.width.bytes())?])
    }

    /// The numbers that two integers encode.
    fn readings(&mut self, ty: Int, [a, b]: [Value; 2]) -> Option<[TermId; 2]> {
        Some([self.reading(a, ty)?, self.reading(b, ty)?])
    }

    /// An operation on two integers.
    fn int2(&mut self, op: Int2, ty: Int, words: [Value; 2]) -> Option<TermId> {
        let bits = ty.width.bits();
        let natural = int(ty.width, false);
        let [x, y] = match op {
            Int2::Add | Int2::Sub | Int2::MulLo => self.residues(ty, words)?,
            Int2::Mul24Lo | Int2::Mul24Hi => {
                self.residues(ty, words)?.map(|word| self.read(word, 24, ty.signed))
            }
            Int2::AddSat
            | Int2::SubSat
            | Int2::MulWide
            | Int2::MulHi
            | Int2::Div
            | Int2::Rem
            | Int2::Min
            | Int2::Max => self.readings(ty, words)?,
            Int2::And | Int2::Or => self.readings(natural, words)?,
            Int2::Xor => {
                // `xor` with all ones is the complement, modulo 2^w.
                let ones = words.iter().position(|word| self.known(*word) == Some(natural.width.mask()));
                if let Some(ones) = ones {
                    let other = self.residue(words[1 - ones], ty.width.bytes())?;
                    let minus_one = self.whole(-1);
                    return Some(self.sub(minus_one, other));
                }
                self.readings(natural, words)?
            }
            Int2::Shl | Int2::Shr => return self.shift(op, ty, words[0], words[1]),
            Int2::MaskClamp | Int2::MaskWrap => return self.ones(op, words),
        };
        let first = match op {
            Int2::Add | Int2::AddSat => self.add(x, y),
            Int2::Sub | Int2::SubSat => self.sub(x, y),
            Int2::MulLo | Int2::MulWide | Int2::MulHi | Int2::Mul24Lo | Int2::Mul24Hi => self.mul(x, y),
            Int2::Div | Int2::Rem => self.quotient(x, y)?,
            Int2::Min => self.apply(TermOp::Min, &[x, y]),
            Int2::Max => self.apply(TermOp::Max, &[x, y]),
            Int2::And => self.common(x, y),
            Int2::Or => self.either(x, y),
            Int2::Xor => self.one_of(x, y),
            Int2::Shl | Int2::Shr | Int2::MaskClamp | Int2::MaskWrap => return None,
        };
        // What is left to do with a sum, a product or a quotient.
        Some(if matches!(op, Int2::AddSat | Int2::SubSat) {
            self.saturated(first, ty)
        } else if matches!(op, Int2::MulHi | Int2::Mul24Hi) {
            self.lowered(first, if op == Int2::MulHi { bits } else { 16 })
        } else if op == Int2::Rem {
            let whole = self.mul(first, y);
            self.sub(x, whole)
        } else {
            first
        })
    }

    fn sum_of_product(
        &mut self,
        op: Int2,
        ty: Int,
        factors: [Value; 2],
        (c, bytes): (Value, u32),
    ) -> Option<TermId> {
        let product = self.int2(op, ty, factors)?;
        let z = self.residue(c, bytes)?;
        Some(self.add(product, z))
    }

    /// An operation on three integers.
    fn int3(&mut self, op: Int3, ty: Int, [a, b, c]: [Value; 3]) -> Option<TermId> {
        let bytes = ty.width.bytes();
        Some(match op {
            Int3::MadLo => self.sum_of_product(Int2::MulLo, ty, [a, b], (c, bytes))?,
            Int3::MadHi => self.sum_of_product(Int2::MulHi, ty, [a, b], (c, bytes))?,
            Int3::MadWide => self.sum_of_product(Int2::MulWide, ty, [a, b], (c, 2 * bytes))?,
            Int3::Sad => {
                let (x, y) = (self.reading(a, ty)?, self.reading(b, ty)?);
                let difference = self.sub(x, y);
                let distance = self.apply(TermOp::Abs, &[difference]);
                let z = self.residue(c, bytes)?;
                self.add(distance, z)
            }
            Int3::Extract => {
                let Some((position, length)) = self.known(b).zip(self.known(c)) else {
                    return self.field_at(ty, [a, b, c]);
                };
                let (position, length) = field(position, length);
                let bits = ty.width.bits();
                if length == 0 {
                    let (x, zero) = (self.residue(a, bytes)?, self.whole(0));
                    return Some(self.without(zero, &[x]));
                }
                if position + length > bits {
                    // The sign, if any, is the highest bit.
                    let x = self.reading(a, ty)?;
                    return Some(self.lowered(x, position.min(bits)));
                }
                let x = self.reading(a, int(ty.width, false))?;
                self.digits(x, position, length, ty.signed)
            }
            Int3::ShfLeftWrap | Int3::ShfLeftClamp | Int3::ShfRightWrap | Int3::ShfRightClamp => {
                return self.funnel(op, [a, b, c]);
            }
            Int3::Permute(mode) => {
                let Some(selector) = self.known(c) else { return self.permuted_by(mode, [a, b, c]) };
                let selector = selector_of(mode, selector);
                let word = int(Width::W32, false);
                let sources = [self.reading(a, word)?, self.reading(b, word)?];
                let zero = self.whole(0);
                (0..4).fold(zero, |sum, at| {
                    let nibble = (selector >> (4 * at) & 0xf) as u32;
                    let (source, byte) = (sources[(nibble >> 2 & 1) as usize], 8 * (nibble & 3));
                    let part = if nibble & 8 == 0 {
                        self.digits(source, byte, 8, false)
                    } else {
                        // Eight copies of the byte's sign.
                        let sign = self.digits(source, byte + 7, 1, false);
                        let ones = self.whole(255);
                        self.mul(sign, ones)
                    };
                    let part = self.raised(part, 8 * at);
                    self.add(sum, part)
                })
            }
            Int3::Lop3(table) => {
                let natural = int(ty.width, false);
                let words = [self.reading(a, natural)?, self.reading(b, natural)?, self.reading(c, natural)?];
                let all = self.whole(ty.width.mask().into());
                let result = self.logic(table, &words, all);
                // The table may ignore a word; its obligations remain.
                self.without(result, &words)
            }
            Int3::Dp4a(signed_a, signed_b) => self.dot(a, b, c, &[0, 1, 2, 3], 8, (signed_a, signed_b))?,
            Int3::Dp2aLo(signed_a, signed_b) => self.dot(a, b, c, &[0, 1], 16, (signed_a, signed_b))?,
            Int3::Dp2aHi(signed_a, signed_b) => self.dot(a, b, c, &[2, 3], 16, (signed_a, signed_b))?,
        })
    }

    /// A sum or a difference of words with a carry in; and the carry out, 0 or 1.
    pub(super) fn carried(
        &mut self,
        subtract: bool,
        width: Width,
        [a, b]: [Value; 2],
        carry: TermId,
    ) -> Option<(TermId, TermId)> {
        let natural = int(width, false);
        let (x, y) = (self.reading(a, natural)?, self.reading(b, natural)?);
        let y = self.add(y, carry);
        let total = if subtract { self.sub(x, y) } else { self.add(x, y) };
        let above = self.lowered(total, width.bits());
        let zero = self.whole(0);
        let out = if subtract { self.sub(zero, above) } else { above };
        Some((total, out))
    }

    /// The carry out of a sum of words, found by comparing the sum with an addend: it wrapped around if it is less.
    fn carry_by_comparison(&mut self, width: Width, sum: TermId, addend: TermId) -> Option<TermId> {
        let modulus = self.whole(1 << width.bits());
        let operands = |store: &Store, op: TermOp, term: TermId| match store.view(term) {
            View::Apply(other, [a, b, _]) if other == op => Some((a, b)),
            View::Apply(..) | View::Constant(_) | View::Input { .. } => None,
        };
        let wrapped = |store: &Store, term| {
            operands(store, TermOp::Mod, term).filter(|(_, by)| *by == modulus).map(|(inner, _)| inner)
        };
        let (a, b) = operands(self.store, TermOp::Add, wrapped(self.store, sum)?)?;
        let inner = wrapped(self.store, addend).unwrap_or(addend);
        let other = if a == inner {
            b
        } else if b == inner {
            a
        } else {
            return None;
        };
        let other = self.unsigned(other, width.bits());
        let total = self.add(addend, other);
        Some(self.lowered(total, width.bits()))
    }

    /// The number that bytes of a register encode in a type, from byte `start` on.
    pub(crate) fn part(&mut self, value: Value, start: u32, ty: Int) -> Option<TermId> {
        let pieces = slice(&self.packed.split(value, 4), start, ty.width.bytes(), self.store).ok()?;
        let part = self.packed.join(&pieces);
        self.reading(part, ty)
    }

    /// `c` plus products of parts of `a`, of `bits` each from the lowest on, with the bytes of `b` that are listed.
    fn dot(
        &mut self,
        a: Value,
        b: Value,
        c: Value,
        bytes: &[u32],
        bits: u32,
        signed: (bool, bool),
    ) -> Option<TermId> {
        let mut sum = self.residue(c, 4)?;
        let width = if bits == 8 { Width::W8 } else { Width::W16 };
        for (at, byte) in bytes.iter().enumerate() {
            let left = self.part(a, at as u32 * bits / 8, int(width, signed.0))?;
            let right = self.part(b, *byte, int(Width::W8, signed.1))?;
            let product = self.mul(left, right);
            sum = self.add(sum, product);
        }
        Some(sum)
    }

    /// Bitwise lookup in a truth table, indexed by the bits of unsigned numbers; the first word's bit is the highest.
    fn logic(&mut self, table: u8, words: &[TermId], all: TermId) -> TermId {
        let entries = 1 << words.len();
        if table == 0 {
            return self.whole(0);
        }
        if u32::from(table) == (1 << entries) - 1 {
            return all;
        }
        match (words, table) {
            ([a, b], 0b1000) => return self.common(*a, *b),
            ([a, b], 0b1110) => return self.either(*a, *b),
            ([a, b], 0b0110) => return self.one_of(*a, *b),
            _ => {}
        }
        // Splits at a constant word, if there is one: what remains is smaller.
        let is_constant = |word: &TermId| matches!(self.store.view(*word), View::Constant(_));
        let chosen = words.iter().position(is_constant).unwrap_or(words.len() - 1);
        let weight = words.len() - 1 - chosen;
        let half = |bit: usize| {
            let entries = (0..entries).filter(|entry| entry >> weight & 1 == bit);
            entries.enumerate().fold(0, |half, (at, entry)| half | (table >> entry & 1) << at)
        };
        let rest: Vec<TermId> =
            words.iter().enumerate().filter(|(at, _)| *at != chosen).map(|(_, word)| *word).collect();
        let (zeros, ones) = (half(0), half(1));
        let where_one = self.logic(ones, &rest, all);
        if zeros == ones {
            return where_one;
        }
        let where_zero = self.logic(zeros, &rest, all);
        let word = words[chosen];
        let other = self.sub(all, word);
        let (left, right) = (self.common(word, where_one), self.common(other, where_zero));
        self.add(left, right)
    }

    /// `b` with `length` bits from `position` on replaced by the lowest bits of `a`.
    fn insert(&mut self, width: Width, [a, b, position, length]: [Value; 4]) -> Option<TermId> {
        let Some((at, long)) = self.known(position).zip(self.known(length)) else {
            return self.insert_at(width, [a, b, position, length]);
        };
        let (position, length) = field(at, long);
        let natural = int(width, false);
        let old = self.reading(b, natural)?;
        let bits = width.bits();
        if position >= bits || length == 0 {
            let new = self.residue(a, width.bytes())?;
            return Some(self.without(old, &[new]));
        }
        let length = length.min(bits - position);
        let new = self.residue(a, width.bytes())?;
        let new = self.unsigned(new, length);
        let gone = self.digits(old, position, length, false);
        let change = self.sub(new, gone);
        let change = self.raised(change, position);
        Some(self.add(old, change))
    }

    /// A conversion between integer types.
    fn convert(&mut self, a: Value, from: Int, to: Int, saturate: bool) -> Option<TermId> {
        if !saturate && to.width.bytes() <= from.width.bytes() {
            return self.residue(a, to.width.bytes());
        }
        let x = self.reading(a, from)?;
        Some(if saturate { self.saturated(x, to) } else { x })
    }

    /// Numbers that are equal exactly if two integers of a type are: they are congruent modulo 2^w, and the range of
    /// their difference contains one multiple of 2^w only, so that no wrap-around has to be undone.
    fn unwrapped(&mut self, ty: Int, a: Value, b: Value) -> Option<(TermId, TermId)> {
        let bytes = ty.width.bytes();
        let (x, y) = (self.residue(a, bytes)?, self.residue(b, bytes)?);
        let (left, right) = (self.ranges.of(self.store, x), self.ranges.of(self.store, y));
        let modulus = 1i128 << ty.width.bits();
        let (low, high) = (left.low?.checked_sub(right.high?)?, left.high?.checked_sub(right.low?)?);
        let first = low.checked_add(modulus - 1)?.div_euclid(modulus);
        if first != high.div_euclid(modulus) {
            return None;
        }
        let turns = self.whole(first.checked_mul(modulus)?);
        Some((x, self.add(y, turns)))
    }

    /// A comparison, as a condition or a known truth value.
    pub(crate) fn compare(
        &mut self,
        op: Compare,
        ty: Int,
        a: Value,
        b: Value,
    ) -> Option<Result<bool, TermId>> {
        let unwrapped = match op {
            Compare::Eq | Compare::Ne => self.unwrapped(ty, a, b),
            Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => None,
        };
        let (x, y) = match unwrapped {
            Some(pair) => pair,
            None => (self.reading(a, ty)?, self.reading(b, ty)?),
        };
        let (left, right) = (self.ranges.of(self.store, x), self.ranges.of(self.store, y));
        let surely = |a: Option<i128>, b: Option<i128>, f: fn(&i128, &i128) -> bool| {
            a.zip(b).is_some_and(|(a, b)| f(&a, &b))
        };
        let less = surely(left.high, right.low, i128::lt);
        let greater = surely(left.low, right.high, i128::gt);
        let (at_most, at_least) =
            (surely(left.high, right.low, i128::le), surely(left.low, right.high, i128::ge));
        let same = x == y;
        let decided = match op {
            Compare::Eq if same => Some(true),
            Compare::Ne if same => Some(false),
            Compare::Eq if less || greater => Some(false),
            Compare::Ne if less || greater => Some(true),
            Compare::Lt if less => Some(true),
            Compare::Lt if same || at_least => Some(false),
            Compare::Ge if less => Some(false),
            Compare::Ge if same || at_least => Some(true),
            Compare::Gt if greater => Some(true),
            Compare::Gt if same || at_most => Some(false),
            Compare::Le if greater => Some(false),
            Compare::Le if same || at_most => Some(true),
            Compare::Eq | Compare::Ne | Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => None,
        };
        // A term that may have no value decides nothing.
        if let Some(known) = decided
            && [x, y].into_iter().all(|term| self.ranges.is_total(self.store, term))
        {
            return Some(Ok(known));
        }
        let carry = match op {
            Compare::Lt | Compare::Ge if !ty.signed => self.carry_by_comparison(ty.width, x, y),
            Compare::Gt | Compare::Le if !ty.signed => self.carry_by_comparison(ty.width, y, x),
            Compare::Eq | Compare::Ne | Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => None,
        };
        if let Some(carry) = carry {
            let carries = self.is_one(carry);
            let holds = matches!(op, Compare::Lt | Compare::Gt);
            let opposite = |store: &mut Store| store.apply(TermOp::Not, &[carries], self.pc);
            return Some(Err(if holds { carries } else { opposite(self.store) }));
        }
        let mut test = |op, operands: [TermId; 2]| self.store.apply(op, &operands, self.pc);
        Some(Err(match op {
            Compare::Eq => test(TermOp::Equal, [x, y]),
            Compare::Ne => {
                let equal = test(TermOp::Equal, [x, y]);
                self.store.apply(TermOp::Not, &[equal], self.pc)
            }
            Compare::Lt => test(TermOp::Less, [x, y]),
            Compare::Gt => test(TermOp::Less, [y, x]),
            Compare::Le => test(TermOp::LessEqual, [x, y]),
            Compare::Ge => test(TermOp::LessEqual, [y, x]),
        }))
    }

    /// The real of an encoding with a known exponent and an unknown fraction: bits of integers under a constant
    /// exponent, as `0x4b000000 | q` is 2²³ + q.
    pub(crate) fn spelled(&mut self, value: Value, format: Format) -> Option<TermId> {
        if self.store.is_ieee() {
            // A float is a value already.
            let is_float = matches!(value, Value::Sym(sym) if matches!(sym.kind(), SymKind::Real(..)));
            return if is_float { None } else { self.decoding(value, format) };
        }
        let bits = 8 * format.bytes();
        let term = self.residue(value, format.bytes())?;
        let term = self.unsigned(term, bits);
        let range = self.ranges.of(self.store, term);
        let (low, high) = (u64::try_from(range.low?).ok()?, u64::try_from(range.high?).ok()?);
        let binade = binade(format, low)?;
        // All values share sign and exponent.
        if high & !binade.fraction != low & !binade.fraction {
            return None;
        }
        let start = self.whole((low & !binade.fraction).into());
        let steps = self.sub(term, start);
        let (unit, base) = (exactly(self.store, binade.unit), exactly(self.store, binade.first));
        let above = self.mul(steps, unit);
        Some(self.add(above, base))
    }
}
