//! Integers as words of bits, in two's complement: the last bit is the sign.

use super::{Bit, Circuit};
use smallvec::{SmallVec, smallvec};

/// The widest word.
const MAX_WIDTH: usize = 160;

/// An integer; the least significant bit comes first, and there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(SmallVec<[Bit; 12]>);

/// The width of words that have a value.
fn width(value: i128) -> usize {
    let magnitude = if value < 0 { !value } else { value };
    129 - magnitude.leading_zeros() as usize
}

impl Word {
    /// A known integer.
    pub fn number(value: i128) -> Word {
        Word((0..width(value)).map(|at| Bit::known(value >> at & 1 == 1)).collect())
    }

    /// The integer 0 or 1.
    pub fn of_bit(bit: Bit) -> Word {
        Word(smallvec![bit, Bit::NO])
    }

    /// Its bits.
    pub fn bits(&self) -> &[Bit] {
        &self.0
    }

    /// Its value, if all bits are known.
    pub fn known(&self) -> Option<i128> {
        if self.0.len() > 128 {
            return None;
        }
        let mut value = 0;
        for (at, bit) in self.0.iter().enumerate() {
            match *bit {
                Bit::NO => {}
                Bit::YES if at + 1 == self.0.len() => value |= -1 << at,
                Bit::YES => value |= 1 << at,
                _ => return None,
            }
        }
        Some(value)
    }

    /// The sign.
    fn sign(&self) -> Bit {
        self.0.last().copied().unwrap_or(Bit::NO)
    }

    /// A bit; beyond the word, the sign.
    fn bit(&self, at: usize) -> Bit {
        self.0.get(at).copied().unwrap_or(self.sign())
    }

    /// The same integer without bits that repeat the sign.
    fn shortened(mut self) -> Word {
        while let [.., before, sign] = self.0[..]
            && before == sign
        {
            self.0.pop();
        }
        self
    }

    /// The same integer, which is known to lie between two numbers.
    #[must_use]
    pub fn between(mut self, least: i128, greatest: i128) -> Word {
        let needed = width(least).max(width(greatest));
        self.0.truncate(needed);
        if least >= 0 && self.0.len() == needed {
            self.0.pop();
            self.0.push(Bit::NO);
        }
        self.shortened()
    }

    /// The quotient by a power of two, rounded down.
    #[must_use]
    pub fn shifted_right(&self, by: usize) -> Word {
        if by >= self.0.len() { Word(smallvec![self.sign()]) } else { Word(self.0[by..].into()) }
    }

    /// The product with a power of two.
    #[must_use]
    pub fn shifted_left(&self, by: usize) -> Word {
        let zeros = std::iter::repeat_n(Bit::NO, by);
        Word(zeros.chain(self.0.iter().copied()).collect())
    }

    /// What remains of it modulo a power of two.
    #[must_use]
    pub fn low_bits(&self, count: usize) -> Word {
        Word((0..count).map(|at| self.bit(at)).chain([Bit::NO]).collect()).shortened()
    }

    /// Combines the bits of two integers.
    pub fn bitwise(a: &Word, b: &Word, mut combine: impl FnMut(Bit, Bit) -> Bit) -> Word {
        let width = a.0.len().max(b.0.len());
        Word((0..width).map(|at| combine(a.bit(at), b.bit(at))).collect()).shortened()
    }
}

/// The power of two that a number is.
pub fn exponent_of(number: i128) -> Option<usize> {
    (number > 0 && number & (number - 1) == 0).then(|| number.trailing_zeros() as usize)
}

impl Circuit {
    /// An integer of which nothing is known but that it lies between two numbers, and the condition that it does.
    pub fn unknown_between(&mut self, least: i128, greatest: i128) -> (Word, Bit) {
        let span = greatest.saturating_sub(least);
        let mut bits: SmallVec<[Bit; 12]> = (1..width(span)).map(|_| self.unknown()).collect();
        self.unknown.push((bits.to_vec(), span));
        bits.push(Bit::NO);
        let above = Word(bits);
        let inside = match exponent_of(span.saturating_add(1)) {
            Some(_) => Bit::YES,
            None => !self.less(&Word::number(span), &above),
        };
        (self.sum(&above, &Word::number(least)), inside)
    }

    /// The sum of two integers.
    pub fn sum(&mut self, a: &Word, b: &Word) -> Word {
        self.sum_with(a, b, Bit::NO)
    }

    /// The difference of two integers.
    pub fn difference(&mut self, a: &Word, b: &Word) -> Word {
        let negated = Word(b.0.iter().map(|bit| !*bit).collect());
        self.sum_with(a, &negated, Bit::YES)
    }

    fn sum_with(&mut self, a: &Word, b: &Word, mut carry: Bit) -> Word {
        let width = a.0.len().max(b.0.len()) + 1;
        if width > MAX_WIDTH {
            self.is_full = true;
            return Word::number(0);
        }
        let mut bits = SmallVec::with_capacity(width);
        for at in 0..width {
            let (x, y) = (a.bit(at), b.bit(at));
            let differ = self.xor(x, y);
            bits.push(self.xor(differ, carry));
            let both = self.and(x, y);
            let carried = self.and(differ, carry);
            carry = self.or(both, carried);
        }
        Word(bits).shortened()
    }

    /// The product of two integers.
    pub fn product(&mut self, a: &Word, b: &Word) -> Word {
        let width = a.0.len() + b.0.len();
        if width > MAX_WIDTH {
            self.is_full = true;
            return Word::number(0);
        }
        let unknowns = |word: &Word| word.0.iter().filter(|bit| bit.gate() > 0).count();
        let (factor, by) = if unknowns(a) > unknowns(b) { (a, b) } else { (b, a) };
        let mut product = Word::number(0);
        for (at, bit) in by.0.iter().enumerate() {
            let addend = Word(factor.0.iter().map(|own| self.and(*own, *bit)).collect()).shifted_left(at);
            // The sign counts as its negative power.
            product = if at + 1 == by.0.len() {
                self.difference(&product, &addend)
            } else {
                self.sum(&product, &addend)
            };
            product.0.truncate(width);
        }
        product.shortened()
    }

    /// The quotient by a positive number, rounded down.
    pub fn quotient(&mut self, a: &Word, by: i128) -> Word {
        if let Some(exponent) = exponent_of(by) {
            return a.shifted_right(exponent);
        }
        // Of a negative integer `a`, it is the complement of that of the complement of `a`.
        let (divisor, sign) = (Word::number(by), a.sign());
        let (mut rest, mut found) = (Word::number(0), SmallVec::<[Bit; 12]>::new());
        for bit in a.0.iter().rev().skip(1) {
            rest = rest.shifted_left(1);
            rest.0[0] = self.xor(*bit, sign);
            if rest.0.len() == 1 {
                rest.0.push(Bit::NO);
            }
            let is_less = self.less(&rest, &divisor);
            let reduced = self.difference(&rest, &divisor);
            rest = self.chosen(is_less, &rest, &reduced).between(0, by - 1);
            found.push(self.xor(!is_less, sign));
        }
        found.reverse();
        found.push(sign);
        Word(found).shortened()
    }

    /// What remains modulo a positive number, from 0 on.
    pub fn remainder(&mut self, a: &Word, by: i128) -> Word {
        if let Some(exponent) = exponent_of(by) {
            return a.low_bits(exponent);
        }
        let quotient = self.quotient(a, by);
        let whole = self.product(&quotient, &Word::number(by));
        self.difference(a, &whole).between(0, by - 1)
    }

    /// One of two integers.
    pub fn chosen(&mut self, condition: Bit, then: &Word, otherwise: &Word) -> Word {
        Word::bitwise(then, otherwise, |then, otherwise| self.choose(condition, then, otherwise))
    }

    /// Whether the first integer is less.
    pub fn less(&mut self, a: &Word, b: &Word) -> Bit {
        self.difference(a, b).sign()
    }

    /// Whether two integers are equal.
    pub fn equal(&mut self, a: &Word, b: &Word) -> Bit {
        let width = a.0.len().max(b.0.len());
        (0..width).fold(Bit::YES, |all, at| {
            let differ = self.xor(a.bit(at), b.bit(at));
            self.and(all, !differ)
        })
    }
}
