//! What registers and cells of memory hold (rules V1, V5, V6): bits, symbolic values, their parts, and the conditions on
//! inputs under which they hold.
//!
//! A lane holds concrete bits or a symbolic value, or is undefined. A symbolic value is one word, a tag for its sort
//! and a payload, and is moved as a whole. Registers do not know sorts; operations check them.
//!
//! This is data and arithmetic on it. Nothing here knows memory, threads or a launch.

pub(crate) mod approximation;
pub(crate) mod assignments;
pub(crate) mod constants;
pub(crate) mod counted;
pub(crate) mod float_inst;
pub(crate) mod guard;
pub(crate) mod indexed;
pub(crate) mod int_terms;
pub(crate) mod known_floats;
pub(crate) mod known_words;
pub(crate) mod masks;
pub(crate) mod packed;
pub(crate) mod register;
pub(crate) mod words;

use crate::base::affine::Affine;
use crate::base::lane::{Lane, LaneMask};
use crate::number::format::Format;
use crate::program::InstId;
use crate::term::{TermId, TermKind};

/// A symbolic value of up to 8 bytes: `tag << 56 | payload`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sym(u64);

/// What a [`Sym`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SymKind {
    /// A real, encoded in a format.
    Real(Format, TermId),
    /// The low (0) or high (1) 32 bits of an f64.
    Half64(u32, TermId),
    /// An unknown integer of that many bytes.
    Int(u32, TermId),
    /// Two 16-bit reals side by side, the low one first, whose term ids are close enough to fit one payload.
    Pair(Format, TermId, TermId),
    /// Any other values side by side: an index into the CTA's table of packed values.
    Packed(u32),
    /// One of two integers, by a condition: an index into the CTA's table of choices.
    Choice(u32),
    /// One of two values, by a condition, of which one is undefined: an index into the CTA's table of choices. What is
    /// computed from it is undefined ([`Origin::Partly`]).
    Partly(u32),
    /// One of two integers, by whether a phase of an mbarrier was over when it was tested: an index into the CTA's
    /// table of answers.
    Answer(u32),
    /// An integer that is computed from a ticket (rule Y18): an index into the CTA's table of tickets.
    Ticket(u32),
    /// A lane's register of a `wmma` fragment: some element, but the ISA does not say which.
    Fragment {
        /// An index into the CTA's table of fragments.
        matrix: u32,
        /// Which of the fragment's registers.
        place: u8,
        /// Which lane's.
        lane: Lane,
    },
}

const TAG_SHIFT: u32 = 56;
const TAG_REAL: u64 = 1;
const TAG_HALF: u64 = 16;
const TAG_INT: u64 = 24;
const TAG_PACKED: u64 = 32;
const TAG_CHOICE: u64 = 33;
const TAG_FRAGMENT: u64 = 34;
const TAG_ANSWER: u64 = 35;
const TAG_PARTLY: u64 = 36;
const TAG_TICKET: u64 = 37;
const TAG_PAIR: u64 = 40;
/// Number of 16-bit formats, which come first among all formats.
const PAIRED: u64 = 2;
/// A pair's payload: the signed difference of its term ids in the low bits; above it the low term's id, shortened to
/// the bits that small inputs and lanes need, with a bit on top for lanes.
const APART_BITS: u32 = 18;
const NEAR_BITS: u32 = TAG_SHIFT - 1 - APART_BITS;
const FORMATS: [Format; 8] = [
    Format::F16,
    Format::Bf16,
    Format::Tf32,
    Format::F32,
    Format::F64,
    Format::E4m3,
    Format::E5m2,
    Format::Ue8m0,
];
/// Reals of each format have a tag of their own.
const LAST_REAL: u64 = TAG_REAL + FORMATS.len() as u64 - 1;

impl Sym {
    pub(crate) const PAYLOAD: u64 = (1 << TAG_SHIFT) - 1;

    pub(crate) fn real(format: Format, term: TermId) -> Sym {
        Sym(Self::real_tag(format) | term.raw())
    }

    /// The tag word of reals in `format`: a term's raw id is added to it.
    pub(crate) fn real_tag(format: Format) -> u64 {
        (TAG_REAL + format as u64) << TAG_SHIFT
    }

    pub(crate) fn half(which: u32, term: TermId) -> Sym {
        Sym((TAG_HALF + u64::from(which)) << TAG_SHIFT | term.raw())
    }

    pub(crate) fn int(bytes: u32, term: TermId) -> Sym {
        Sym((TAG_INT + u64::from(bytes.trailing_zeros())) << TAG_SHIFT | term.raw())
    }

    pub(crate) fn packed(index: usize) -> Sym {
        Sym(TAG_PACKED << TAG_SHIFT | index as u64)
    }

    pub(crate) fn choice(index: usize) -> Sym {
        Sym(TAG_CHOICE << TAG_SHIFT | index as u64)
    }

    pub(crate) fn partly(index: usize) -> Sym {
        Sym(TAG_PARTLY << TAG_SHIFT | index as u64)
    }

    pub(crate) fn answer(index: u32) -> Sym {
        Sym(TAG_ANSWER << TAG_SHIFT | u64::from(index))
    }

    pub(crate) fn ticket(index: u32) -> Sym {
        Sym(TAG_TICKET << TAG_SHIFT | u64::from(index))
    }

    pub(crate) fn fragment(matrix: u32, place: u8, lane: Lane) -> Sym {
        let payload = u64::from(matrix) << 16 | u64::from(place) << 8 | u64::from(lane.number());
        Sym(TAG_FRAGMENT << TAG_SHIFT | payload)
    }

    /// Two 16-bit reals side by side, if their term ids are close. Such values are always represented as a pair, and
    /// others never.
    #[inline]
    pub(crate) fn pair(low: Sym, high: Sym) -> Option<Sym> {
        let format = (low.0 >> TAG_SHIFT).wrapping_sub(TAG_REAL);
        let apart = high.0.wrapping_sub(low.0) as i64;
        let fits = (-(1 << (APART_BITS - 1))..1 << (APART_BITS - 1)).contains(&apart);
        if format >= PAIRED || (low.0 ^ high.0) >> TAG_SHIFT != 0 || !fits {
            return None;
        }
        let near = TermId::from_raw(low.0 & Self::PAYLOAD).short(NEAR_BITS)?;
        let apart = apart as u64 & ((1 << APART_BITS) - 1);
        Some(Sym((TAG_PAIR + format) << TAG_SHIFT | near << APART_BITS | apart))
    }

    /// The two reals of a pair, the low one first.
    #[inline]
    pub(crate) fn as_pair(self) -> Option<[Sym; 2]> {
        let format = (self.0 >> TAG_SHIFT).wrapping_sub(TAG_PAIR);
        if format >= PAIRED {
            return None;
        }
        Some(self.halves().map(|term| Sym((TAG_REAL + format) << TAG_SHIFT | term)))
    }

    /// The raw term ids of a pair.
    #[inline]
    fn halves(self) -> [u64; 2] {
        let low = TermId::from_short((self.0 & Self::PAYLOAD) >> APART_BITS, NEAR_BITS).raw();
        let apart = (self.0 << (64 - APART_BITS)) as i64 >> (64 - APART_BITS);
        [low, low.wrapping_add_signed(apart)]
    }

    pub(crate) fn raw(self) -> u64 {
        self.0
    }

    /// The inverse of [`Sym::raw`]; `word` came from there.
    pub(crate) fn from_raw(word: u64) -> Sym {
        debug_assert!(word >> TAG_SHIFT != 0);
        Sym(word)
    }

    /// The index of a packed value, if it is one.
    #[inline]
    pub(crate) fn as_packed(self) -> Option<usize> {
        (self.0 >> TAG_SHIFT == TAG_PACKED).then_some((self.0 & Self::PAYLOAD) as usize)
    }

    /// The same kind of value with another term, if it is a real or an integer.
    pub(crate) fn with_term(self, other: impl FnOnce(TermId) -> TermId) -> Option<Sym> {
        if let SymKind::Real(format, term) = self.kind() {
            return Some(Sym::real(format, other(term)));
        }
        let SymKind::Int(bytes, term) = self.kind() else { return None };
        Some(Sym::int(bytes, other(term)))
    }

    pub(crate) fn kind(self) -> SymKind {
        let payload = self.0 & Self::PAYLOAD;
        let term = || TermId::from_raw(payload);
        match self.0 >> TAG_SHIFT {
            tag @ TAG_REAL..=LAST_REAL => SymKind::Real(FORMATS[(tag - TAG_REAL) as usize], term()),
            tag @ 16..=17 => SymKind::Half64((tag - TAG_HALF) as u32, term()),
            tag @ 24..=27 => SymKind::Int(1 << (tag - TAG_INT), term()),
            tag @ 40..=41 => {
                let [low, high] = self.halves().map(TermId::from_raw);
                SymKind::Pair(FORMATS[(tag - TAG_PAIR) as usize], low, high)
            }
            TAG_PACKED => SymKind::Packed(payload as u32),
            TAG_ANSWER => SymKind::Answer(payload as u32),
            TAG_PARTLY => SymKind::Partly(payload as u32),
            TAG_TICKET => SymKind::Ticket(payload as u32),
            TAG_FRAGMENT => SymKind::Fragment {
                matrix: (payload >> 16) as u32,
                place: (payload >> 8) as u8,
                lane: Lane::new(payload as u32 & 31),
            },
            _ => SymKind::Choice(payload as u32),
        }
    }
}

/// The raw term ids of affine symbolic words, the low halves first, if the words are pairs of reals in a format.
pub(crate) fn pair_halves<const B: usize>(words: Affine<B>, format: Format) -> Option<[Affine<B>; 2]> {
    let apart = (1 << APART_BITS) - 1;
    if words.steps.iter().any(|step| step & apart != 0) {
        return None;
    }
    let tag = (TAG_PAIR + format as u64) << TAG_SHIFT;
    let is_pair = |word: u64| (format as u64) < PAIRED && word & !Sym::PAYLOAD == tag;
    // Words of symbolic values are far below 2^63: no sum wraps around, and these two are the extremes.
    let [low, high] = words.min_max();
    if !is_pair(low) || !is_pair(high) {
        return None;
    }
    let [first, second] = Sym(words.first).halves();
    let steps = words.steps.map(|step| step >> APART_BITS);
    // All terms between two lanes, or between two elements of one input, are of that kind.
    let kind = |word: u64| match TermId::from_raw(Sym(word).halves()[0]).kind() {
        TermKind::Input { input, .. } => Some(input),
        TermKind::Lane(..) | TermKind::Constant(_) => None,
    };
    (kind(low) == kind(high)).then_some([Affine { first, steps }, Affine { first: second, steps }])
}

/// Why a lane is undefined, and where it became so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// A register or memory that was never written, read at this instruction.
    Unwritten(InstId),
    /// An operation without a value (rule V3), executed at this instruction.
    Invalid(InstId),
    /// A clock or whatever else the launch does not determine (rule S4), read at this instruction.
    Unpredictable(InstId),
    /// What a finding before this one left unknown, at this instruction (rule R2).
    Doubtful(InstId),
    /// The state of an mbarrier that an arrival returned, by number (rule Y9): only mbarrier operations read it.
    State(u32),
    /// The result of this instruction, whose values are not supported (rule S2).
    Unevaluated(InstId),
    /// An address of tensor memory, with this first column, as `tcgen05.alloc` stores it (rule Y14): only loads of the
    /// whole address read it.
    Columns(u32),
    /// An operand that is undefined where a condition holds, by its index in the table of choices (rule S1). The result
    /// is undefined there at least.
    Partly(u32),
}

impl Origin {
    pub(crate) fn raw(self) -> u64 {
        match self {
            Origin::Unwritten(inst) => u64::from(inst.0),
            Origin::Invalid(inst) => u64::from(inst.0) | Self::INVALID,
            Origin::Unpredictable(inst) => u64::from(inst.0) | Self::UNPREDICTABLE,
            Origin::Doubtful(inst) => u64::from(inst.0) | Self::DOUBTFUL,
            Origin::Unevaluated(inst) => u64::from(inst.0) | Self::UNEVALUATED,
            Origin::State(number) => u64::from(number) | Self::STATE,
            Origin::Columns(first) => u64::from(first) | Self::COLUMNS,
            Origin::Partly(number) => u64::from(number) | Self::PARTLY,
        }
    }

    pub(crate) fn from_raw(word: u64) -> Origin {
        let inst = InstId(word as u32);
        if word & Self::INVALID != 0 {
            Origin::Invalid(inst)
        } else if word & Self::UNPREDICTABLE != 0 {
            Origin::Unpredictable(inst)
        } else if word & Self::DOUBTFUL != 0 {
            Origin::Doubtful(inst)
        } else if word & Self::UNEVALUATED != 0 {
            Origin::Unevaluated(inst)
        } else if word & Self::STATE != 0 {
            Origin::State(word as u32)
        } else if word & Self::COLUMNS != 0 {
            Origin::Columns(word as u32)
        } else if word & Self::PARTLY != 0 {
            Origin::Partly(word as u32)
        } else {
            Origin::Unwritten(inst)
        }
    }

    /// The index of the choice in which there is an undefined operand.
    pub(crate) fn number(self) -> Option<u32> {
        if let Origin::Partly(number) = self { Some(number) } else { None }
    }

    /// Whether a select of a value with this origin is undefined only where it takes it. Doubt must not be forgotten,
    /// no fault is claimed of what is not supported, and states and columns only move.
    pub(crate) fn is_by_case(self) -> bool {
        match self {
            Origin::Unwritten(_) | Origin::Invalid(_) | Origin::Unpredictable(_) | Origin::Partly(_) => true,
            Origin::Doubtful(_) | Origin::State(_) | Origin::Unevaluated(_) | Origin::Columns(_) => false,
        }
    }

    /// The origin that is kept of two: doubt must not be forgotten, and a fault is reported before what is merely not
    /// supported.
    pub(crate) fn or(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Doubtful(_), _) | (_, Origin::Unevaluated(_)) => self,
            (_, Origin::Doubtful(_)) | (Origin::Unevaluated(_), _) => other,
            (
                Origin::Unwritten(_)
                | Origin::Invalid(_)
                | Origin::Unpredictable(_)
                | Origin::State(_)
                | Origin::Columns(_)
                | Origin::Partly(_),
                _,
            ) => self,
        }
    }

    const INVALID: u64 = 1 << 40;
    const UNPREDICTABLE: u64 = 1 << 41;
    const DOUBTFUL: u64 = 1 << 42;
    const STATE: u64 = 1 << 43;
    const COLUMNS: u64 = 1 << 44;
    const PARTLY: u64 = 1 << 46;
    const UNEVALUATED: u64 = 1 << 45;
}

/// One lane's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Bits(u64),
    Sym(Sym),
    Undefined(Origin),
}

impl Value {
    /// Its word, and whether that is symbolic; `None` where it is undefined.
    #[inline]
    pub(crate) fn as_word(self) -> Option<(u64, bool)> {
        match self {
            Value::Bits(bits) => Some((bits, false)),
            Value::Sym(sym) => Some((sym.raw(), true)),
            Value::Undefined(_) => None,
        }
    }

    /// The term and the format of a real.
    pub(crate) fn as_real(self) -> Option<(Format, TermId)> {
        let Value::Sym(sym) = self else { return None };
        let SymKind::Real(format, term) = sym.kind() else { return None };
        Some((format, term))
    }

    /// The index of the choice between two values that it is, if it is one.
    #[inline]
    pub(crate) fn as_any_choice(self) -> Option<u32> {
        match self {
            Value::Sym(sym) if [TAG_CHOICE, TAG_PARTLY].contains(&(sym.0 >> TAG_SHIFT)) => {
                Some((sym.0 & Sym::PAYLOAD) as u32)
            }
            Value::Sym(_) | Value::Bits(_) | Value::Undefined(_) => None,
        }
    }

    /// The index of the choice between two values of which one is undefined, if it is one.
    #[inline]
    pub(crate) fn as_partly(self) -> Option<u32> {
        match self {
            Value::Sym(sym) if sym.0 >> TAG_SHIFT == TAG_PARTLY => Some((sym.0 & Sym::PAYLOAD) as u32),
            Value::Sym(_) | Value::Bits(_) | Value::Undefined(_) => None,
        }
    }
}

/// The origin word of a register that was never written.
pub(crate) const NEVER: u64 = u32::MAX as u64;
/// [`NEVER`] as an origin.
const NOBODY: Origin = Origin::Unwritten(InstId(u32::MAX));

/// A predicate register: 32 truth values, some of them conditions on inputs.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Predicate {
    pub(crate) bits: LaneMask,
    pub(crate) sym: LaneMask,
    pub(crate) undefined: LaneMask,
    /// Condition terms of the symbolic lanes.
    pub(crate) terms: Option<Box<[TermId; 32]>>,
    /// Why lanes are undefined, for those that an operation made undefined.
    origins: Option<Box<[Origin; 32]>>,
    /// The lanes, among the undefined ones, that hold an answer, and its index.
    asked: LaneMask,
    answers: Option<Box<[u32; 32]>>,
}

/// One lane's truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Known(bool),
    Condition(TermId),
    Undefined(Origin),
    /// Whether a phase of an mbarrier was over when it was tested (rule Y9): an index into the CTA's table of answers.
    Answer(u32),
}

impl Predicate {
    pub(crate) fn unwritten() -> Predicate {
        Predicate {
            bits: LaneMask::NONE,
            sym: LaneMask::NONE,
            undefined: LaneMask::ALL,
            ..Predicate::default()
        }
    }

    #[inline]
    pub(crate) fn get(&self, lane: Lane) -> Truth {
        let bit = LaneMask::of(lane);
        if self.undefined.meets(bit) {
            return match &self.answers {
                Some(answers) if self.asked.meets(bit) => Truth::Answer(answers[lane]),
                _ => Truth::Undefined(self.origin(lane)),
            };
        }
        match &self.terms {
            Some(terms) if self.sym.meets(bit) => Truth::Condition(terms[lane]),
            _ => Truth::Known(self.bits.meets(bit)),
        }
    }

    /// Why an undefined lane is undefined.
    pub(crate) fn origin(&self, lane: Lane) -> Origin {
        self.origins.as_ref().map_or(NOBODY, |origins| origins[lane])
    }

    pub(crate) fn set(&mut self, lane: Lane, truth: Truth) {
        let bit = LaneMask::of(lane);
        self.bits &= !bit;
        self.sym &= !bit;
        self.undefined &= !bit;
        self.asked &= !bit;
        match truth {
            Truth::Known(true) => self.bits |= bit,
            Truth::Known(false) => {}
            Truth::Condition(term) => {
                self.sym |= bit;
                self.terms.get_or_insert_with(|| Box::new([TermId::from_raw(0); 32]))[lane] = term;
            }
            Truth::Undefined(origin) => {
                self.undefined |= bit;
                self.origins.get_or_insert_with(|| Box::new([NOBODY; 32]))[lane] = origin;
            }
            Truth::Answer(answer) => {
                self.undefined |= bit;
                self.asked |= bit;
                self.answers.get_or_insert_with(|| Box::new([0; 32]))[lane] = answer;
            }
        }
    }

    /// The lanes that hold the answer of an mbarrier.
    pub(crate) fn asked(&self) -> LaneMask {
        self.asked
    }

    /// Makes the lanes of `mask` unwritten.
    pub(crate) fn forget(&mut self, mask: LaneMask) {
        self.bits &= !mask;
        self.sym &= !mask;
        self.undefined |= mask;
        self.asked &= !mask;
        if let Some(origins) = &mut self.origins {
            mask.iter().for_each(|lane| origins[lane] = NOBODY);
        }
    }

    /// Writes known truth values to the lanes of `mask`.
    #[inline]
    pub(crate) fn merge_bits(&mut self, mask: LaneMask, bits: LaneMask) {
        self.bits = self.bits & !mask | bits & mask;
        self.sym &= !mask;
        self.undefined &= !mask;
        self.asked &= !mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{ConstantId, InputId, NodeId};

    #[test]
    fn symbolic_words_keep_what_they_hold() {
        let term = TermId::input(InputId(3), 77);
        for format in FORMATS {
            assert_eq!(Sym::real(format, term).kind(), SymKind::Real(format, term));
        }
        assert_eq!(Sym::half(1, term).kind(), SymKind::Half64(1, term));
        assert_eq!(Sym::int(4, term).kind(), SymKind::Int(4, term));
        assert_eq!(Sym::packed(9).kind(), SymKind::Packed(9));
        assert_eq!(Sym::choice(9).kind(), SymKind::Choice(9));
        assert_eq!(Sym::partly(9).kind(), SymKind::Partly(9));
        assert_eq!(Sym::answer(9).kind(), SymKind::Answer(9));
        assert_eq!(Sym::ticket(9).kind(), SymKind::Ticket(9));
    }

    /// The halves of affine pairs are those of each lane's pair; other words have none.
    #[test]
    fn halves_of_pairs_move_as_pairs_do() {
        let real = |term: TermId| Sym::real(Format::F16, term);
        let input = |element| TermId::input(InputId(2), element);
        let pair = |lane: Lane, row: u64| {
            let low = 7 + row * (u64::from(lane.number()) / 4) + 2 * (u64::from(lane.number()) % 4);
            Sym::pair(real(input(low)), real(input(low + 1))).map(Sym::raw)
        };
        for row in [0, 1, 64, 4096] {
            let words: [u64; 32] = Lane::each(|lane| pair(lane, row).expect("they are near"));
            let affine = Affine::of(&words).expect("rows are affine");
            let [low, high] = pair_halves(affine, Format::F16).expect("they are pairs");
            for lane in Lane::all() {
                let own = Sym(words[lane]).as_pair().expect("it is a pair");
                assert_eq!(
                    [low, high].map(|half| half.lane(lane.number())),
                    own.map(|half| half.raw() & Sym::PAYLOAD)
                );
            }
            assert_eq!(pair_halves(affine, Format::Bf16), None);
            // The second half varies, and the first does not.
            let askew = Affine { steps: [1, 0, 0, 0, 0], ..affine };
            assert_eq!(pair_halves(askew, Format::F16), None);
        }
        assert_eq!(pair_halves::<5>(Affine::uniform(real(input(3)).raw()), Format::F16), None);
    }

    /// Terms that fit into a pair are recovered from it unchanged, and others form no pair.
    #[test]
    fn pairs_keep_both_of_their_terms() {
        let input = |input, element| TermId::input(InputId(input), element);
        let lane = |node, lane| TermId::lane(NodeId(node), Lane::new(lane));
        let near = [
            (input(0, 0), input(0, 1)),
            (input(0, 1), input(0, 0)),
            (input(3, 5000), input(3, 5000 + 4096)),
            (input(63, (1 << 31) - 1), input(63, 1 << 31)),
            (input(2, 131_072), input(2, 0)),
            (input(2, 0), input(2, 131_071)),
            (input(2, 9), input(2, 9)),
            (lane(0, 0), lane(1, 0)),
            (lane(u32::MAX, 31), lane(u32::MAX, 30)),
            (lane(4096, 7), lane(0, 7)),
        ];
        let far = [
            (input(0, 0), input(0, 131_072)),
            (input(0, 131_073), input(0, 0)),
            (input(64, 0), input(64, 1)),
            (input(0, 1 << 31), input(0, (1 << 31) + 1)),
            (input(0, 1), input(1, 1)),
            (input(0, 1), lane(0, 1)),
            (TermId::constant(ConstantId(1)), TermId::constant(ConstantId(2))),
        ];
        for format in FORMATS {
            let real = |term| Sym::real(format, term);
            for (low, high) in near {
                let pair = Sym::pair(real(low), real(high));
                assert_eq!(pair.is_some(), format.bytes() == 2, "{format:?}");
                let Some(pair) = pair else { continue };
                assert_eq!(pair.kind(), SymKind::Pair(format, low, high));
                assert_eq!(pair.as_pair(), Some([real(low), real(high)]));
            }
            for (low, high) in far {
                assert_eq!(Sym::pair(real(low), real(high)), None);
            }
            assert_eq!(real(input(0, 1)).as_pair(), None);
        }
        let mixed = (Sym::real(Format::F16, input(0, 1)), Sym::real(Format::Bf16, input(0, 2)));
        assert_eq!(Sym::pair(mixed.0, mixed.1), None);
        assert_eq!(Sym::packed(7).as_pair(), None);
    }
}
