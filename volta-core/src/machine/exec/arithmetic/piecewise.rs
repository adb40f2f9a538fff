//! Functions of unknown integers with few possible values, piece by piece (rule V4): powers of two, for shifts by
//! unknown amounts and for fields and bytes at unknown positions; and the position of the highest bit.

use crate::number::Rational;
use crate::program::{Int, Int1, Int2, Int3, PermuteMode, Width};
use crate::term::{TermId, TermOp, View};
use crate::value::Value;
use crate::value::int_terms::{IntTerms, exactly};
use crate::value::words::{scalar3, selector_of};

/// The type of amounts and positions.
const AMOUNT: Int = Int { width: Width::W32, signed: false };

/// The value of a function from a number on.
type Step = (i128, Rational);

impl IntTerms<'_> {
    /// The value of the last step at or below a term; of the first step where there is none. Steps ascend.
    fn stepped(&mut self, term: TermId, steps: &[Step]) -> TermId {
        if let [(_, only)] = steps {
            return exactly(self.store, only.clone());
        }
        let (below, above) = steps.split_at(steps.len() / 2);
        let then = self.stepped(term, below);
        let otherwise = self.stepped(term, above);
        if then == otherwise {
            return then;
        }
        let from = self.whole(above[0].0);
        // Interned, so that other shifts by the same amount find it.
        let pc = self.pc;
        let condition = self.store.push_uniform(TermOp::Less, &[term.raw(), from.raw()], pc);
        let chosen = [condition, then.raw(), otherwise.raw()];
        TermId::from_raw(self.store.push_uniform(TermOp::Select, &chosen, pc))
    }

    /// A function of an unsigned number, constant from `last` on.
    fn by_value(&mut self, term: TermId, last: u32, f: impl Fn(u32) -> Rational) -> TermId {
        let range = self.ranges.of(self.store, term);
        let (low, high) = (range.low.unwrap_or(0).max(0), range.high.unwrap_or(i128::MAX));
        let low = u32::try_from(low).unwrap_or(last).min(last);
        let high = u32::try_from(high).unwrap_or(last).min(last);
        // Numbers above `last` share its value.
        let possible = |value: u32| {
            let value = u64::from(value);
            value == u64::from(last) || value & !range.ones == 0 && range.sure & !value == 0
        };
        let mut values: Vec<u32> = (low..=high).filter(|value| possible(*value)).collect();
        if values.is_empty() {
            values.push(low);
        }
        let steps: Vec<Step> = values.into_iter().map(|value| (value.into(), f(value))).collect();
        let result = self.stepped(term, &steps);
        match self.store.view(result) {
            View::Constant(_) => self.without(result, &[term]),
            View::Input { .. } | View::Apply(..) => result,
        }
    }

    /// `⌊term · factor⌋`
    fn scaled_down(&mut self, term: TermId, factor: TermId) -> TermId {
        if factor == self.whole(1) {
            return term;
        }
        let scaled = self.mul(term, factor);
        self.apply(TermOp::Floor, &[scaled])
    }

    /// `⌊term / 2^min(amount, last)⌋`
    fn lowered_by(&mut self, term: TermId, amount: TermId, last: u32) -> TermId {
        let factor = self.by_value(amount, last, |amount| Rational::power_of_two(-(amount as i32)));
        self.scaled_down(term, factor)
    }

    /// A shift, whose amount saturates at the width.
    pub(crate) fn shift(&mut self, op: Int2, ty: Int, a: Value, b: Value) -> Option<TermId> {
        let bits = ty.width.bits();
        let amount = self.reading(b, AMOUNT)?;
        if op == Int2::Shl {
            let x = self.residue(a, ty.width.bytes())?;
            let power = |amount: u32| match amount {
                amount if amount < bits => Rational::power_of_two(amount as i32),
                _ => Rational::ZERO,
            };
            let factor = self.by_value(amount, bits, power);
            return Some(self.mul(x, factor));
        }
        let x = self.reading(a, ty)?;
        Some(self.lowered_by(x, amount, bits))
    }

    /// `2^min(number, last)` and its inverse.
    fn powers(&mut self, number: TermId, last: u32) -> [TermId; 2] {
        let up = self.by_value(number, last, |number| Rational::power_of_two(number as i32));
        let down = self.by_value(number, last, |number| Rational::power_of_two(-(number as i32)));
        [up, down]
    }

    /// The lowest bits of a term, as an unsigned number: `up` is two to the power of their count, `down` its inverse.
    fn lowest(&mut self, term: TermId, [up, down]: [TermId; 2]) -> TermId {
        let above = self.scaled_down(term, down);
        let above = self.mul(above, up);
        self.sub(term, above)
    }

    /// The position or the length of a field.
    fn place(&mut self, value: Value) -> Option<TermId> {
        let place = self.residue(value, 4)?;
        Some(self.unsigned(place, 8))
    }

    /// `bfe` of a field at an unknown position.
    pub(super) fn field_at(&mut self, ty: Int, [a, position, length]: [Value; 3]) -> Option<TermId> {
        let bits = ty.width.bits();
        let (position, length) = (self.place(position)?, self.place(length)?);
        // Above its highest bit a number is sign-extended, and so is a field.
        let x = self.reading(a, ty)?;
        let low = self.lowered_by(x, position, bits);
        let powers = self.powers(length, bits);
        if !ty.signed {
            return Some(self.lowest(low, powers));
        }
        let half = self.by_value(length, bits, |length| match length {
            0 => Rational::ZERO,
            length => Rational::power_of_two(length as i32 - 1),
        });
        let above = self.add(low, half);
        let field = self.lowest(above, powers);
        Some(self.sub(field, half))
    }

    /// `bfi` into a field at an unknown position. Bits beyond the width are dropped.
    pub(super) fn insert_at(&mut self, width: Width, [a, b, position, length]: [Value; 4]) -> Option<TermId> {
        let bits = width.bits();
        let (position, length) = (self.place(position)?, self.place(length)?);
        let old = self.reading(b, Int { width, signed: false })?;
        let new = self.residue(a, width.bytes())?;
        let powers = self.powers(length, bits);
        let new = self.lowest(new, powers);
        let gone = self.lowered_by(old, position, bits);
        let gone = self.lowest(gone, powers);
        let change = self.sub(new, gone);
        let [up, _] = self.powers(position, bits);
        let change = self.mul(change, up);
        Some(self.add(old, change))
    }

    /// `bmsk`: a run of ones from a position on. Bits beyond the width are dropped.
    pub(crate) fn ones(&mut self, op: Int2, [start, length]: [Value; 2]) -> Option<TermId> {
        let [start, length] = [start, length].map(|value| {
            let number = self.reading(value, AMOUNT)?;
            let number = if op == Int2::MaskWrap { self.unsigned(number, 5) } else { number };
            Some(self.powers(number, 32)[0])
        });
        let one = self.whole(1);
        let ones = self.sub(length?, one);
        Some(self.mul(ones, start?))
    }

    /// `prmt` by an unknown selector: each of its digits selects a byte, or eight copies of a byte's sign.
    pub(super) fn permuted_by(&mut self, mode: PermuteMode, [a, b, selector]: [Value; 3]) -> Option<TermId> {
        let (low, high) = (self.reading(a, AMOUNT)?, self.reading(b, AMOUNT)?);
        let high = self.raised(high, 32);
        let (source, mut selector) = (self.add(low, high), self.reading(selector, AMOUNT)?);
        if mode != PermuteMode::Generic {
            let last = self.unsigned(selector, 2);
            selector = self.by_value(last, 3, |last| Rational::from_u64(selector_of(mode, last.into())));
        }
        let mut sum = self.whole(0);
        for at in 0..4 {
            let digit = self.lowered(selector, 4 * at);
            let digit = self.unsigned(digit, 4);
            let part = if let (Value::Bits(a), Value::Bits(b)) = (a, b) {
                let byte = |digit| scalar3(Int3::Permute(PermuteMode::Generic), AMOUNT, [a, b, digit]) & 0xff;
                self.by_value(digit, 15, |digit| Rational::from_u64(byte(digit.into())))
            } else {
                let index = self.unsigned(digit, 3);
                let down = self.by_value(index, 7, |index| Rational::power_of_two(-8 * index as i32));
                let byte = self.scaled_down(source, down);
                let byte = self.unsigned(byte, 8);
                let (replicates, sign, ones) =
                    (self.lowered(digit, 3), self.lowered(byte, 7), self.whole(255));
                let signs = self.mul(sign, ones);
                let change = self.sub(signs, byte);
                let change = self.mul(replicates, change);
                self.add(byte, change)
            };
            let part = self.raised(part, 8 * at);
            sum = self.add(sum, part);
        }
        Some(sum)
    }

    /// A funnel shift: shifts two words, the lower one first, and keeps one.
    pub(super) fn funnel(&mut self, op: Int3, [a, b, c]: [Value; 3]) -> Option<TermId> {
        let mut amount = self.reading(c, AMOUNT)?;
        if matches!(op, Int3::ShfLeftWrap | Int3::ShfRightWrap) {
            amount = self.unsigned(amount, 5);
        }
        let left = matches!(op, Int3::ShfLeftWrap | Int3::ShfLeftClamp);
        let (low, high) = (self.reading(a, AMOUNT)?, self.residue(b, 4)?);
        let high = self.raised(high, 32);
        let double = self.add(low, high);
        let factor = self.by_value(amount, 32, |amount| {
            let down = if left { 32 - amount } else { amount };
            Rational::power_of_two(-(down as i32))
        });
        Some(self.scaled_down(double, factor))
    }

    /// `clz` and `bfind`: the position of the highest bit, or of the highest that differs from the sign.
    pub(crate) fn highest(&mut self, op: Int1, ty: Int, a: Value) -> Option<TermId> {
        let bits = ty.width.bits();
        let mut x = self.reading(a, ty)?;
        if op != Int1::Clz && ty.signed {
            let minus_one = self.whole(-1);
            let complement = self.sub(minus_one, x);
            x = self.apply(TermOp::Max, &[x, complement]);
        }
        let value = |digits: u32| match (op, digits) {
            (Int1::Clz, _) => i128::from(bits - digits),
            (_, 0) => 0xffff_ffff,
            (Int1::FindTop, _) => i128::from(digits - 1),
            _ => i128::from(bits - digits),
        };
        // Numbers from 2^(digits − 1) on have at least `digits` bits.
        let digits_of = |number: i128| (i128::BITS - number.max(0).leading_zeros()).min(bits);
        let range = self.ranges.of(self.store, x);
        let (low, high) = (range.low.unwrap_or(0), range.high.unwrap_or(i128::MAX));
        let steps: Vec<Step> = (digits_of(low)..=digits_of(high))
            .map(|digits| ((1 << digits) >> 1, Rational::from_i128(value(digits))))
            .collect();
        Some(self.stepped(x, &steps))
    }
}
