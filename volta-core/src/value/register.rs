//! Registers: 32 lanes, held as an affine function of the bits of the lane id where possible.

pub(crate) use crate::base::affine::Affine;
use crate::base::lane::{Lane, LaneMask};
use crate::value::{NEVER, Origin, Sym, Value};
use std::ops::Deref;

/// The value of a register in all threads of a group, whose words are affine from thread to thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held<const BITS: usize = 5> {
    pub(crate) words: Affine<BITS>,
    /// Whether each word stands for a symbolic value; otherwise words are bits.
    pub(crate) symbolic: bool,
}

impl<const BITS: usize> Held<BITS> {
    /// The same value in all threads.
    #[inline]
    pub(crate) fn uniform((word, symbolic): (u64, bool)) -> Self {
        Held { words: Affine::uniform(word), symbolic }
    }

    /// What the first thread holds.
    #[inline]
    pub(crate) fn first(&self) -> Value {
        let word = self.words.first;
        if self.symbolic { Value::Sym(Sym::from_raw(word)) } else { Value::Bits(word) }
    }
}

/// The words of a register's lanes, one by one.
#[allow(clippy::large_enum_variant, reason = "it lives for an instruction, on the stack")]
pub(crate) enum Words<'r> {
    Held(&'r [u64; 32]),
    Spread([u64; 32]),
}

impl Deref for Words<'_> {
    type Target = [u64; 32];

    #[inline]
    fn deref(&self) -> &[u64; 32] {
        match self {
            Words::Held(words) => words,
            Words::Spread(words) => words,
        }
    }
}

/// A register: 32 lanes.
///
/// Invariant: `sym` and `undefined` are disjoint.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    /// The lanes' words as an affine function, if they are; `words` is then unused.
    affine: Option<Affine>,
    words: [u64; 32],
    pub(crate) sym: LaneMask,
    pub(crate) undefined: LaneMask,
}

impl Register {
    /// A register that was never written; `NEVER` marks its origin until an instruction reads it.
    pub(crate) fn unwritten() -> Register {
        Register { undefined: LaneMask::ALL, ..Register::broadcast(NEVER) }
    }

    /// The same bits in every lane.
    pub(crate) fn broadcast(bits: u64) -> Register {
        Register {
            affine: Some(Affine::uniform(bits)),
            words: [0; 32],
            sym: LaneMask::NONE,
            undefined: LaneMask::NONE,
        }
    }

    /// The lanes' words; `sym` and `undefined` say how to read them.
    #[inline]
    pub(crate) fn words(&self) -> Words<'_> {
        match self.affine {
            Some(affine) => Words::Spread(affine.all()),
            None => Words::Held(&self.words),
        }
    }

    /// One lane's word.
    #[inline]
    fn word(&self, lane: Lane) -> u64 {
        match self.affine {
            Some(affine) => affine.lane(lane.number()),
            None => self.words[lane],
        }
    }

    /// The lanes' words, materialized for writing.
    #[inline]
    pub(crate) fn words_mut(&mut self) -> &mut [u64; 32] {
        if let Some(affine) = self.affine.take() {
            self.words = affine.all();
        }
        &mut self.words
    }

    /// Writes affine words to all lanes: concrete ones, or those of symbolic values.
    #[inline]
    pub(crate) fn set_affine(&mut self, affine: Affine, symbolic: bool) {
        self.affine = Some(affine);
        self.sym = LaneMask::all_if(symbolic);
        self.undefined = LaneMask::NONE;
    }

    /// Like [`Register::set_affine`], for words that need not be affine.
    #[inline]
    pub(crate) fn set_words(&mut self, words: &[u64; 32], symbolic: bool) {
        match Affine::of(words) {
            Some(affine) => self.set_affine(affine, symbolic),
            None => {
                self.affine = None;
                self.words = *words;
                self.sym = LaneMask::all_if(symbolic);
                self.undefined = LaneMask::NONE;
            }
        }
    }

    /// Writes values to all lanes.
    pub(crate) fn set_values(&mut self, values: &[Value; 32]) {
        let words = values.map(|value| match value {
            Value::Sym(sym) => sym.raw(),
            Value::Bits(bits) => bits,
            Value::Undefined(origin) => origin.raw(),
        });
        self.set_words(&words, false);
        for (lane, value) in Lane::all().zip(values) {
            match value {
                Value::Bits(_) => {}
                Value::Sym(_) => self.sym |= LaneMask::of(lane),
                Value::Undefined(_) => self.undefined |= LaneMask::of(lane),
            }
        }
    }

    /// The lanes' words as an affine function, if they are one.
    #[inline]
    pub(crate) fn affine(&self) -> Option<Affine> {
        self.affine.or_else(|| Affine::of(&self.words))
    }

    /// The value of all lanes, if it is affine and either symbolic or concrete in all of them.
    #[inline]
    pub(crate) fn held(&self) -> Option<Held> {
        let whole = self.undefined.is_empty() && (self.sym.is_empty() || self.sym.is_all());
        if whole { Some(Held { words: self.affine()?, symbolic: !self.sym.is_empty() }) } else { None }
    }

    /// Whether all lanes of `mask` are concrete.
    #[inline]
    pub(crate) fn is_concrete(&self, mask: LaneMask) -> bool {
        !(self.sym | self.undefined).meets(mask)
    }

    #[inline]
    pub(crate) fn get(&self, lane: Lane) -> Value {
        let bit = LaneMask::of(lane);
        let word = self.word(lane);
        if self.sym.meets(bit) {
            Value::Sym(Sym::from_raw(word))
        } else if self.undefined.meets(bit) {
            Value::Undefined(Origin::from_raw(word))
        } else {
            Value::Bits(word)
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, lane: Lane, value: Value) {
        let bit = LaneMask::of(lane);
        self.sym &= !bit;
        self.undefined &= !bit;
        self.words_mut()[lane] = match value {
            Value::Bits(bits) => bits,
            Value::Sym(sym) => {
                self.sym |= bit;
                sym.raw()
            }
            Value::Undefined(origin) => {
                self.undefined |= bit;
                origin.raw()
            }
        };
    }

    /// The value of the lanes of `mask`, if `mask` is all 32 or a single one, and the value is uniform and defined.
    #[inline]
    pub(crate) fn uniform(&self, mask: LaneMask) -> Option<Value> {
        if let Some(lane) = mask.only() {
            return (!self.undefined.contains(lane)).then(|| self.get(lane));
        }
        (mask.is_all() && self.held()?.words.is_uniform()).then(|| self.get(Lane::FIRST))
    }

    /// Writes one value to the lanes of `mask`.
    #[inline]
    pub(crate) fn fill(&mut self, mask: LaneMask, value: Value) {
        let (word, sym, undefined) = match value {
            Value::Bits(bits) => (bits, LaneMask::NONE, LaneMask::NONE),
            Value::Sym(sym) => (sym.raw(), mask, LaneMask::NONE),
            Value::Undefined(origin) => (origin.raw(), LaneMask::NONE, mask),
        };
        if mask.is_all() {
            self.affine = Some(Affine::uniform(word));
        } else {
            let words = self.words_mut();
            for lane in mask {
                words[lane] = word;
            }
        }
        self.sym = self.sym & !mask | sym;
        self.undefined = self.undefined & !mask | undefined;
    }

    /// Takes the lanes of `mask` from `other`.
    #[inline]
    pub(crate) fn merge(&mut self, mask: LaneMask, other: &Register) {
        if mask.is_all() {
            match other.affine {
                Some(affine) => self.affine = Some(affine),
                None => (self.affine, self.words) = (None, other.words),
            }
            (self.sym, self.undefined) = (other.sym, other.undefined);
            return;
        }
        let (words, others) = (self.words_mut(), other.words());
        for lane in mask {
            words[lane] = others[lane];
        }
        self.sym = self.sym & !mask | other.sym & mask;
        self.undefined = self.undefined & !mask | other.undefined & mask;
    }

    /// Writes concrete bits to the lanes of `mask`.
    #[inline]
    pub(crate) fn merge_bits(&mut self, mask: LaneMask, bits: &[u64; 32]) {
        if mask.is_all() {
            self.set_words(bits, false);
            return;
        }
        let words = self.words_mut();
        for lane in mask {
            words[lane] = bits[lane];
        }
        self.sym &= !mask;
        self.undefined &= !mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::InstId;
    use proptest::prelude::*;

    #[test]
    fn a_lane_reads_back_what_was_set() {
        let mut register = Register::unwritten();
        let values = [
            Value::Bits(u64::MAX),
            Value::Sym(Sym::packed(5)),
            Value::Undefined(Origin::Invalid(InstId(4))),
            Value::Undefined(Origin::Unpredictable(InstId(5))),
            Value::Bits(0),
        ];
        for (lane, value) in Lane::all().zip(values) {
            register.set(lane, value);
        }
        for (lane, value) in Lane::all().zip(values) {
            assert_eq!(register.get(lane), value);
        }
        assert!(matches!(register.get(Lane::LAST), Value::Undefined(Origin::Unwritten(_))));
    }

    fn affine() -> impl Strategy<Value = Affine> {
        let step = prop_oneof![3 => Just(0i64), 3 => -3i64..300, 1 => any::<i64>()];
        let strided = (any::<u64>(), -9i64..9).prop_map(|(first, stride)| Affine::strided(first, stride));
        let stepped =
            (any::<u64>(), prop::array::uniform5(step)).prop_map(|(first, steps)| Affine { first, steps });
        prop_oneof![strided, stepped]
    }

    /// An operation that writes a register.
    #[derive(Clone, Debug)]
    enum Write {
        Affine(Affine, bool),
        Lane(Lane, u64),
        Fill(LaneMask, u64),
        Merge(LaneMask, Affine),
        Bits(LaneMask, Affine, usize),
    }

    fn write() -> impl Strategy<Value = Write> {
        let mask = prop_oneof![Just(LaneMask::ALL), any::<u32>().prop_map(LaneMask::from_bits)];
        // Symbolic words have a tag.
        let symbolic = any::<u64>().prop_map(|word| Sym::packed((word & 0xffff) as usize).raw());
        prop_oneof![
            (affine(), any::<bool>()).prop_map(|(affine, symbolic)| {
                let affine = if symbolic { Affine::uniform(Sym::packed(3).raw()) } else { affine };
                Write::Affine(affine, symbolic)
            }),
            (0u32..32, symbolic).prop_map(|(lane, word)| Write::Lane(Lane::new(lane), word)),
            (mask.clone(), any::<u64>()).prop_map(|(mask, word)| Write::Fill(mask, word)),
            (mask.clone(), affine()).prop_map(|(mask, affine)| Write::Merge(mask, affine)),
            (mask, affine(), 0usize..64).prop_map(|(mask, affine, odd)| Write::Bits(mask, affine, odd)),
        ]
    }

    proptest! {
        /// Lanes hold what was written to them, in every representation.
        #[test]
        fn lanes_hold_what_was_written(writes in prop::collection::vec(write(), 1..12)) {
            let mut register = Register::unwritten();
            let mut values = Lane::each(|lane| register.get(lane));
            for write in writes {
                match write {
                    Write::Affine(affine, symbolic) => {
                        register.set_affine(affine, symbolic);
                        for (lane, value) in Lane::all().zip(&mut values) {
                            let word = affine.lane(lane.number());
                            *value = if symbolic { Value::Sym(Sym::from_raw(word)) } else { Value::Bits(word) };
                        }
                    }
                    Write::Lane(lane, word) => {
                        values[lane] = Value::Sym(Sym::from_raw(word));
                        register.set(lane, values[lane]);
                    }
                    Write::Fill(mask, word) => {
                        register.fill(mask, Value::Bits(word));
                        mask.iter().for_each(|lane| values[lane] = Value::Bits(word));
                    }
                    Write::Merge(mask, affine) => {
                        let mut other = Register::unwritten();
                        other.set_affine(affine, false);
                        register.merge(mask, &other);
                        mask.iter().for_each(|lane| values[lane] = Value::Bits(affine.lane(lane.number())));
                    }
                    Write::Bits(mask, affine, odd) => {
                        let mut bits = affine.all();
                        // A word outside the affine function.
                        if let Some(word) = bits.get_mut(odd) {
                            *word ^= 1 << 40;
                        }
                        register.merge_bits(mask, &bits);
                        mask.iter().for_each(|lane| values[lane] = Value::Bits(bits[lane]));
                    }
                }
                for (lane, value) in Lane::all().zip(&values) {
                    prop_assert_eq!(register.get(lane), *value, "lane {}", lane);
                }
                let words = *register.words();
                if let Some(affine) = register.affine() {
                    prop_assert_eq!(affine.all(), words);
                }
                let same = (words.iter().all(|word| *word == words[0]) && register.undefined.is_empty())
                    .then_some(values[0]);
                if register.sym.is_empty() || register.sym.is_all() {
                    prop_assert_eq!(register.uniform(LaneMask::ALL), same);
                }
            }
        }

        /// Affine words are recognised, and words of which one is off are not.
        #[test]
        fn words_that_move_evenly_are_found(affine in affine(), lane in 0usize..32) {
            let mut words = affine.all();
            prop_assert!(Lane::all().all(|lane| words[lane] == affine.lane(lane.number())));
            prop_assert_eq!(Affine::of(&words), Some(affine));
            words[lane] ^= 1 << 40;
            prop_assert_eq!(Affine::of(&words), None);
        }
    }
}
