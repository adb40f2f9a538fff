//! Values as sequences of parts (rules V5 and M3): packing, splitting, and reading memory at another width than it was
//! written, as long as no real's encoding is split.

use crate::base::index::number_of;
use crate::number::format::Format;
use crate::program::InstId;
use crate::term::TermId;
use crate::value::{Origin, Sym, SymKind, Value};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::hash::BuildHasher;
use std::rc::Rc;

/// A value and the bytes it occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PackedPart {
    pub(crate) value: Value,
    pub(crate) bytes: u32,
}

/// A few values side by side, least significant first.
pub(crate) type PackedParts = SmallVec<[PackedPart; 4]>;

/// A select of two values by a condition. Invariant: the arms are bits or choices, or one arm at least is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Choice {
    pub(crate) condition: TermId,
    pub(crate) then: Value,
    pub(crate) otherwise: Value,
}

/// A select of two integers by whether a phase of an mbarrier was over when it was tested (rule Y9). It may decide
/// nothing but whether its thread waits for that phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// The number of the test.
    pub(crate) asked: u32,
    pub(crate) if_over: u64,
    pub(crate) if_not: u64,
}

/// An integer that is computed from a ticket (rule Y18).
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    /// The number of the ticket.
    pub(crate) draw: u32,
    /// The operation that drew it.
    pub(crate) pc: InstId,
    /// The integer, for each turn that it may have been.
    pub(crate) numbers: Rc<[u64]>,
}

/// Operations are applied to at most this many combinations of arms.
const MAX_ARMS: usize = 64;

/// A boundary falls inside a symbolic value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SplitsValue;

/// The packed values, choices and answers of one CTA.
#[derive(Debug, Default)]
pub(crate) struct PackedValues {
    packs: Vec<SmallVec<[PackedPart; 2]>>,
    /// Interning table: positions in `packs`, each with a hash of its parts, so that neither lookup nor growth reads
    /// unrelated packs.
    pack_ids: HashTable<(u32, u32)>,
    choices: Vec<Choice>,
    /// The bytes that hold each choice whole: its arms may be shared, so that looking at each path to them would not end.
    widths: Vec<u8>,
    /// The low bytes of choices, by their index and bytes.
    narrow: FxHashMap<(u32, u32), Value>,
    answers: Vec<Answer>,
    tickets: Vec<Ticket>,
    /// Whether some choice has an undefined arm.
    are_partly: bool,
    /// Conditions that may have no value (V8): a choice by one of them is kept even if its arms are equal.
    lacking: FxHashSet<TermId>,
    /// The select of two doubles, by its condition and arms: both halves of it are halves of one term.
    pub(crate) selects: FxHashMap<[TermId; 3], TermId>,
    /// The integers that choices are, by their index and bytes. Arms are shared, so that without this table each path
    /// through nested choices would have a term of its own.
    pub(crate) integers: FxHashMap<(u32, u32), TermId>,
}

impl PackedValues {
    /// Bytes that the table holds.
    pub(crate) fn bytes(&self) -> u64 {
        let of_choices = self.choices.len() * (size_of::<Choice>() + 1) + 2 * self.narrow.capacity() * 24;
        let by_value = of_choices + self.answers.len() * size_of::<Answer>();
        (self.packs.len() * 80
            + by_value
            + (self.lacking.capacity() + 2 * self.selects.capacity()) * 8
            + 2 * self.integers.capacity() * 8) as u64
    }

    /// The choice at a symbolic value's index.
    pub(crate) fn choice(&self, index: u32) -> Choice {
        self.choices[index as usize]
    }

    /// The choice between integers that a value stands for.
    pub(crate) fn as_choice(&self, value: Value) -> Option<Choice> {
        let Value::Sym(sym) = value else { return None };
        match sym.kind() {
            SymKind::Choice(index) => Some(self.choice(index)),
            SymKind::Partly(_)
            | SymKind::Real(..)
            | SymKind::Half64(..)
            | SymKind::Int(..)
            | SymKind::Pair(..)
            | SymKind::Packed(_)
            | SymKind::Answer(_)
            | SymKind::Ticket(_)
            | SymKind::Fragment { .. } => None,
        }
    }

    /// The answer at a symbolic value's index.
    pub(crate) fn answer(&self, index: u32) -> Answer {
        self.answers[index as usize]
    }

    /// The ticket at a symbolic value's index.
    pub(crate) fn ticket(&self, index: u32) -> &Ticket {
        &self.tickets[index as usize]
    }

    /// The ticket from which a value is computed.
    pub(crate) fn as_ticket(&self, value: Value) -> Option<&Ticket> {
        let Value::Sym(sym) = value else { return None };
        let SymKind::Ticket(index) = sym.kind() else { return None };
        Some(self.ticket(index))
    }

    /// A value that is computed from a ticket.
    pub(crate) fn of_ticket(&mut self, ticket: Ticket) -> Value {
        self.tickets.push(ticket);
        Value::Sym(Sym::ticket(number_of(self.tickets.len() - 1)))
    }

    /// Adds an answer; returns its index.
    pub(crate) fn answered(&mut self, answer: Answer) -> u32 {
        self.answers.push(answer);
        number_of(self.answers.len() - 1)
    }

    /// The choice with an undefined arm that a value stands for.
    pub(crate) fn as_partly(&self, value: Value) -> Option<Choice> {
        Some(self.choice(value.as_partly()?))
    }

    /// Why a value is undefined: of an undefined arm of a choice, why that one is.
    pub(crate) fn leaf(&self, origin: Origin) -> Origin {
        let (mut seen, mut work, mut kept) = (FxHashSet::default(), vec![origin], None);
        while let Some(origin) = work.pop() {
            let Some(index) = origin.number() else {
                kept = Some(kept.map_or(origin, |kept: Origin| kept.or(origin)));
                continue;
            };
            if seen.insert(index) {
                let Choice { then, otherwise, .. } = self.choice(index);
                // The first arm comes first.
                work.extend([otherwise, then].into_iter().filter_map(|arm| self.undefined_part(arm)));
            }
        }
        kept.unwrap_or(origin)
    }

    /// Whether some choice has an undefined arm.
    pub(crate) fn are_partly(&self) -> bool {
        self.are_partly
    }

    /// Applies an operation on integers to every combination of arms of its operands, and joins the results with
    /// `join(condition, then, otherwise)`. `None` where an operand is neither bits nor a choice, where the operation
    /// gives none, or where there are too many combinations.
    pub(crate) fn each_arm<T>(
        &mut self,
        words: &[Value],
        f: &mut impl FnMut(&[u64]) -> Option<T>,
        join: &mut impl FnMut(&mut PackedValues, TermId, T, T) -> T,
    ) -> Option<T> {
        let mut budget = MAX_ARMS;
        self.arms(words, f, join, &mut budget)
    }

    fn arms<T>(
        &mut self,
        words: &[Value],
        f: &mut impl FnMut(&[u64]) -> Option<T>,
        join: &mut impl FnMut(&mut PackedValues, TermId, T, T) -> T,
        budget: &mut usize,
    ) -> Option<T> {
        let Some(first) = words.iter().find_map(|word| self.as_choice(*word)) else {
            *budget = budget.checked_sub(1)?;
            let bits: Option<Vec<u64>> = words
                .iter()
                .map(|word| match word {
                    Value::Bits(bits) => Some(*bits),
                    Value::Sym(_) | Value::Undefined(_) => None,
                })
                .collect();
            return f(&bits?);
        };
        // All operands with this condition take the same arm.
        let side = |then: bool| -> Vec<Value> {
            let pick = |word: &Value| match self.as_choice(*word) {
                Some(choice) if choice.condition == first.condition => {
                    if then {
                        choice.then
                    } else {
                        choice.otherwise
                    }
                }
                _ => *word,
            };
            words.iter().map(pick).collect()
        };
        let (then, otherwise) = (side(true), side(false));
        let then = self.arms(&then, f, join, budget)?;
        let otherwise = self.arms(&otherwise, f, join, budget)?;
        Some(join(self, first.condition, then, otherwise))
    }

    /// The value of a choice: an arm itself if both are equal and the condition has a value.
    pub(crate) fn choose(&mut self, choice: Choice) -> Value {
        if choice.then == choice.otherwise && !self.may_lack(choice.condition) {
            return choice.then;
        }
        let undefined = [choice.then, choice.otherwise].map(|arm| self.undefined_part(arm));
        let widths = [choice.then, choice.otherwise].map(|arm| self.width(arm));
        self.widths.push(widths[0].max(widths[1]) as u8);
        self.choices.push(choice);
        let index = self.choices.len() - 1;
        match undefined {
            [None, None] => Value::Sym(Sym::choice(index)),
            [Some(_), None] | [None, Some(_)] | [Some(_), Some(_)] => {
                self.are_partly = true;
                Value::Sym(Sym::partly(index))
            }
        }
    }

    /// Notes that a condition may have no value.
    pub(crate) fn lacks(&mut self, condition: TermId) {
        self.lacking.insert(condition);
    }

    /// Whether a condition may have no value.
    pub(crate) fn may_lack(&self, condition: TermId) -> bool {
        self.lacking.contains(&condition)
    }

    /// The parts of a value in `bytes` bytes, least significant first. A larger value keeps its size:
    /// [`PackedValues::slice`] finds whether it is split.
    pub(crate) fn split(&self, value: Value, bytes: u32) -> PackedParts {
        let Value::Sym(sym) = value else { return smallvec![PackedPart { value, bytes }] };
        let own = match sym.kind() {
            SymKind::Packed(index) => {
                let pieces = &self.packs[index as usize];
                let total: u32 = pieces.iter().map(|piece| piece.bytes).sum();
                let mut out = PackedParts::from_slice(pieces);
                if total < bytes {
                    out.push(PackedPart { value: Value::Bits(0), bytes: bytes - total });
                }
                return out;
            }
            SymKind::Real(Format::F64, term) => {
                let half = |which| PackedPart { value: Value::Sym(Sym::half(which, term)), bytes: 4 };
                return smallvec![half(0), half(1)];
            }
            SymKind::Pair(format, low, high) => {
                let half = |term| PackedPart { value: Value::Sym(Sym::real(format, term)), bytes: 2 };
                let mut out: PackedParts = smallvec![half(low), half(high)];
                if bytes > 4 {
                    out.push(PackedPart { value: Value::Bits(0), bytes: bytes - 4 });
                }
                return out;
            }
            SymKind::Real(format, _) => format.bytes(),
            SymKind::Half64(..) | SymKind::Fragment { .. } => 4,
            // Congruence modulo a power of two implies congruence modulo a smaller one.
            SymKind::Int(own, term) if own > bytes && bytes.is_power_of_two() => {
                return smallvec![PackedPart { value: Value::Sym(Sym::int(bytes, term)), bytes }];
            }
            SymKind::Int(own, _) => own,
            SymKind::Choice(_) | SymKind::Answer(_) | SymKind::Ticket(_) => bytes,
            SymKind::Partly(_) if self.fits(value, bytes) => bytes,
            SymKind::Partly(_) => 8,
        };
        let mut out: PackedParts = smallvec![PackedPart { value, bytes: own }];
        if own < bytes {
            out.push(PackedPart { value: Value::Bits(0), bytes: bytes - own });
        }
        out
    }

    /// The low (0) or high (1) half of a value of 4 bytes; `None` where the general path is needed.
    #[inline]
    pub(crate) fn half(&self, value: Value, which: usize) -> Option<Value> {
        match value {
            Value::Bits(bits) => Some(Value::Bits(bits >> (16 * which) & 0xffff)),
            Value::Sym(sym) => {
                if let Some(halves) = sym.as_pair() {
                    return Some(Value::Sym(halves[which]));
                }
                match self.packs[sym.as_packed()?].as_slice() {
                    halves @ [PackedPart { bytes: 2, .. }, PackedPart { bytes: 2, .. }] => {
                        Some(halves[which].value)
                    }
                    _ => None,
                }
            }
            Value::Undefined(_) => None,
        }
    }

    /// The value of `bytes` bytes of a cell from byte `start` on, where they are one whole value; `None` where the
    /// general path is needed.
    #[inline]
    pub(crate) fn part(&self, cell: Cell, start: u32, bytes: u32) -> Option<Value> {
        if cell.0 >> 56 != 0 {
            let whole = Value::Sym(Sym::from_raw(cell.0));
            return match (start, bytes) {
                (0, 4) => Some(whole),
                (0 | 2, 2) => self.half(whole, (start / 2) as usize),
                _ => None,
            };
        }
        let touched = ((1 << bytes) - 1) << start;
        let written = cell.0 >> 32 & 0xf;
        (written & touched == touched)
            .then(|| Value::Bits((cell.0 & 0xffff_ffff) >> (8 * start) & low_bytes(bytes)))
    }

    /// A cell with one half replaced, low (0) or high (1); `None` where the general path is needed.
    #[inline]
    pub(crate) fn with_half(&mut self, old: Cell, which: usize, new: Value, reader: InstId) -> Option<Cell> {
        match new {
            Value::Bits(_) => {}
            Value::Sym(sym) => {
                if let SymKind::Real(format, _) = sym.kind()
                    && format.bytes() == 2
                {
                } else {
                    return None;
                }
            }
            Value::Undefined(_) => return None,
        }
        let other = match old.whole(reader)? {
            undefined @ Value::Undefined(_) => undefined,
            whole @ (Value::Bits(_) | Value::Sym(_)) => self.half(whole, 1 - which)?,
        };
        let mut values = [other; 2];
        values[which] = new;
        Some(Cell::from_pieces(&values.map(|value| PackedPart { value, bytes: 2 }), self))
    }

    /// Two values as parts of equal lengths; `None` where that would split a value.
    pub(crate) fn align(&self, a: Value, b: Value) -> Option<Vec<(PackedPart, PackedPart)>> {
        let (left, right) = (self.split(a, 8), self.split(b, 8));
        let ends = |pieces: &[PackedPart]| {
            pieces
                .iter()
                .scan(0, |at, piece| {
                    *at += piece.bytes;
                    Some(*at)
                })
                .collect::<Vec<u32>>()
        };
        let mut cuts = ends(&left);
        cuts.extend(ends(&right));
        cuts.sort_unstable();
        cuts.dedup();
        let mut start = 0;
        let mut pairs = Vec::with_capacity(cuts.len());
        for end in cuts {
            let one = |pieces: &[PackedPart]| match Self::slice(pieces, start, end - start).ok()?.as_slice() {
                [piece] => Some(*piece),
                _ => None,
            };
            pairs.push((one(&left)?, one(&right)?));
            start = end;
        }
        Some(pairs)
    }

    /// Bytes `start .. start + length` of a sequence of parts.
    pub(crate) fn slice(pieces: &[PackedPart], start: u32, length: u32) -> Result<PackedParts, SplitsValue> {
        let mut out = PackedParts::new();
        let mut at = 0;
        for piece in pieces {
            let (from, to) = (start.max(at), (start + length).min(at + piece.bytes));
            if from < to {
                out.push(if from == at && to == at + piece.bytes {
                    *piece
                } else {
                    match piece.value {
                        Value::Bits(bits) => {
                            let bits = bits >> (8 * (from - at)) & low_bytes(to - from);
                            PackedPart { value: Value::Bits(bits), bytes: to - from }
                        }
                        Value::Undefined(_) => PackedPart { value: piece.value, bytes: to - from },
                        Value::Sym(_) => match piece.value.as_partly() {
                            Some(index) => {
                                let value = Value::Undefined(Origin::Partly(index));
                                PackedPart { value, bytes: to - from }
                            }
                            None => return Err(SplitsValue),
                        },
                    }
                });
            }
            at += piece.bytes;
        }
        Ok(out)
    }

    /// Parts that one condition chooses, or that are bits, as one choice between joined arms: a chosen f64 lies in
    /// memory as two words, each of them a choice.
    fn joined_choice(&mut self, pieces: &[PackedPart]) -> Option<Choice> {
        let is_partly = pieces.first()?.value.as_partly().is_some();
        let chosen =
            |this: &Self, value| if is_partly { this.as_partly(value) } else { this.as_choice(value) };
        let condition = pieces.iter().find_map(|piece| chosen(self, piece.value))?.condition;
        let mut arms = [PackedParts::new(), PackedParts::new()];
        for piece in pieces {
            let values = match (piece.value, chosen(self, piece.value)) {
                (_, Some(choice)) if choice.condition == condition => [choice.then, choice.otherwise],
                (Value::Bits(_), _) if !is_partly => [piece.value; 2],
                (Value::Bits(_) | Value::Sym(_) | Value::Undefined(_), _) => return None,
            };
            for (arm, value) in arms.iter_mut().zip(values) {
                arm.push(PackedPart { value, bytes: piece.bytes });
            }
        }
        let [then, otherwise] = arms.map(|arm| self.join(&arm));
        Some(Choice { condition, then, otherwise })
    }

    /// The value that parts make together: at most 8 bytes, in the simplest representation.
    pub(crate) fn join(&mut self, pieces: &[PackedPart]) -> Value {
        // Arms of nested choices may be shared: they are not looked at one by one.
        if let [whole] = pieces {
            return whole.value;
        }
        if let [PackedPart { value: Value::Sym(low), .. }, PackedPart { value: Value::Sym(high), .. }] =
            pieces
            && let Some(pair) = Sym::pair(*low, *high)
        {
            return Value::Sym(pair);
        }
        if let Some(choice) = self.joined_choice(pieces) {
            return self.choose(choice);
        }
        let mut merged = PackedParts::new();
        for piece in pieces {
            let together = match (merged.last_mut(), piece.value) {
                (Some(last), Value::Bits(high)) => match last.value {
                    Value::Bits(low) => {
                        last.value = Value::Bits(low | high << (8 * last.bytes));
                        last.bytes += piece.bytes;
                        true
                    }
                    Value::Sym(_) | Value::Undefined(_) => false,
                },
                (Some(last), Value::Sym(high)) => match (last.value, high.kind()) {
                    (Value::Sym(low), SymKind::Half64(1, term)) if low.kind() == SymKind::Half64(0, term) => {
                        *last = PackedPart { value: Value::Sym(Sym::real(Format::F64, term)), bytes: 8 };
                        true
                    }
                    _ => false,
                },
                _ => false,
            };
            if !together {
                merged.push(*piece);
            }
        }
        let origin = |piece: &PackedPart| match piece.value {
            Value::Undefined(origin) => Some(origin),
            Value::Bits(_) | Value::Sym(_) => None,
        };
        // Of several origins one is kept.
        let origins: Option<Vec<Origin>> = merged.iter().map(origin).collect();
        if let Some(kept) = origins.and_then(|origins| origins.into_iter().reduce(Origin::or)) {
            return Value::Undefined(kept);
        }
        // Zeros above a value are its zero extension in a wider register.
        if let [only] | [only, PackedPart { value: Value::Bits(0), .. }] = merged.as_slice()
            && !matches!(only.value, Value::Undefined(_))
        {
            return only.value;
        }
        let digest = (FxBuildHasher.hash_one(merged.as_slice()) >> 32) as u32;
        let packs = &self.packs;
        let same = |(other, known): &(u32, u32)| *other == digest && packs[*known as usize][..] == merged[..];
        match self
            .pack_ids
            .entry(FxBuildHasher.hash_one(digest), same, |(digest, _)| FxBuildHasher.hash_one(digest))
        {
            Entry::Occupied(known) => Value::Sym(Sym::packed(known.get().1 as usize)),
            Entry::Vacant(place) => {
                let index = packs.len();
                place.insert((digest, number_of(index)));
                self.packs.push(SmallVec::from_slice(&merged));
                Value::Sym(Sym::packed(index))
            }
        }
    }

    /// The low bytes of concrete values, choices and answers; other values unchanged.
    pub(crate) fn narrowed(&mut self, value: Value, bytes: u32) -> Value {
        if let Some(Choice { condition, then, otherwise }) = self.as_choice(value).or(self.as_partly(value)) {
            if self.fits(value, bytes) {
                return value;
            }
            let known = value.as_any_choice().map(|index| (index, bytes));
            if let Some(narrow) = known.and_then(|known| self.narrow.get(&known)) {
                return *narrow;
            }
            let (then, otherwise) = (self.narrowed(then, bytes), self.narrowed(otherwise, bytes));
            let narrow = self.choose(Choice { condition, then, otherwise });
            self.narrow.extend(known.map(|known| (known, narrow)));
            return narrow;
        }
        if let Value::Sym(sym) = value
            && let SymKind::Answer(index) = sym.kind()
        {
            let Answer { asked, if_over, if_not } = self.answer(index);
            let low = low_bytes(bytes);
            let narrowed = Answer { asked, if_over: if_over & low, if_not: if_not & low };
            return Value::Sym(Sym::answer(self.answered(narrowed)));
        }
        if let Value::Sym(sym) = value
            && let SymKind::Ticket(index) = sym.kind()
            && !self.fits(value, bytes)
        {
            let Ticket { draw, pc, numbers } = self.ticket(index).clone();
            let numbers = numbers.iter().map(|number| number & low_bytes(bytes)).collect();
            return self.of_ticket(Ticket { draw, pc, numbers });
        }
        match value {
            Value::Bits(bits) => Value::Bits(bits & low_bytes(bytes)),
            other @ (Value::Sym(_) | Value::Undefined(_)) => other,
        }
    }

    /// Whether `bytes` bytes hold the whole value; known bits are cut.
    pub(crate) fn fits(&self, value: Value, bytes: u32) -> bool {
        matches!(value, Value::Bits(_)) || self.width(value) <= bytes
    }

    /// The number of bytes that hold the whole value.
    fn width(&self, value: Value) -> u32 {
        let of_bits = |bits: u64| (u64::BITS - bits.leading_zeros()).div_ceil(8);
        let sym = match value {
            Value::Sym(sym) => sym,
            Value::Bits(bits) => return of_bits(bits),
            Value::Undefined(_) => return 0,
        };
        match sym.kind() {
            SymKind::Real(format, _) => format.bytes(),
            SymKind::Half64(..) | SymKind::Pair(..) | SymKind::Fragment { .. } => 4,
            SymKind::Int(own, _) => own,
            SymKind::Packed(index) => self.packs[index as usize].iter().map(|piece| piece.bytes).sum(),
            SymKind::Answer(index) => {
                let Answer { if_over, if_not, .. } = self.answer(index);
                of_bits(if_over | if_not)
            }
            SymKind::Ticket(index) => {
                of_bits(self.ticket(index).numbers.iter().fold(0, |all, number| all | number))
            }
            SymKind::Choice(index) | SymKind::Partly(index) => self.widths[index as usize].into(),
        }
    }

    /// A value as operations on f32 read it: a bf16 above two zero bytes is the f32 of the same number. It stays packed
    /// until then, since it may also be a pair of bf16 whose first one is zero.
    pub(crate) fn as_f32(&self, value: Value) -> Value {
        let Value::Sym(sym) = value else { return value };
        let SymKind::Packed(index) = sym.kind() else { return value };
        let [PackedPart { value: Value::Bits(0), bytes: 2 }, PackedPart { value: Value::Sym(upper), .. }] =
            self.packs[index as usize][..]
        else {
            return value;
        };
        if let SymKind::Real(Format::Bf16, term) = upper.kind() {
            Value::Sym(Sym::real(Format::F32, term))
        } else {
            value
        }
    }

    /// Whether a value is an integer, or integers side by side, of which at least one depends on the input.
    pub(crate) fn is_unknown_integer(&self, value: Value) -> bool {
        let Value::Sym(sym) = value else { return false };
        match sym.kind() {
            SymKind::Int(..) => true,
            SymKind::Packed(_) => {
                let pieces = self.split(value, 8);
                let integer = |piece: &PackedPart| match piece.value {
                    Value::Bits(_) => true,
                    Value::Sym(part) => matches!(part.kind(), SymKind::Int(..)),
                    Value::Undefined(_) => false,
                };
                pieces.iter().all(integer) && pieces.iter().any(|piece| matches!(piece.value, Value::Sym(_)))
            }
            SymKind::Real(..)
            | SymKind::Half64(..)
            | SymKind::Pair(..)
            | SymKind::Choice(_)
            | SymKind::Partly(_)
            | SymKind::Answer(_)
            | SymKind::Ticket(_)
            | SymKind::Fragment { .. } => false,
        }
    }

    /// The symbolic parts of a packed value.
    pub(crate) fn parts_of(&self, value: Value) -> Vec<Sym> {
        let Value::Sym(sym) = value else { return Vec::new() };
        match sym.as_packed() {
            Some(index) => self.packs[index].iter().flat_map(|piece| self.parts_of(piece.value)).collect(),
            None => vec![sym],
        }
    }

    /// Why a value, or a part of it, is undefined.
    pub(crate) fn undefined_part(&self, value: Value) -> Option<Origin> {
        match value {
            Value::Undefined(origin) => Some(origin),
            Value::Bits(_) => None,
            Value::Sym(sym) => match sym.kind() {
                SymKind::Packed(index) => {
                    let parts = self.packs[index as usize].iter();
                    parts.filter_map(|piece| self.undefined_part(piece.value)).reduce(Origin::or)
                }
                SymKind::Partly(index) => Some(Origin::Partly(index)),
                // For what neither follows it by turns nor settles it.
                SymKind::Ticket(index) => Some(Origin::Unevaluated(self.ticket(index).pc)),
                SymKind::Real(..)
                | SymKind::Half64(..)
                | SymKind::Int(..)
                | SymKind::Pair(..)
                | SymKind::Choice(_)
                | SymKind::Answer(_)
                | SymKind::Fragment { .. } => None,
            },
        }
    }
}

/// A mask of the low `bytes` bytes.
pub(crate) fn low_bytes(bytes: u32) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

/// A memory cell: 4 bytes. Concrete: bits in the low half and, above them, a bit for each written byte. Otherwise the
/// word of a symbolic value of 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cell(pub(crate) u64);

impl Cell {
    /// Contents that are in doubt, as a load reads them.
    pub(crate) fn doubtful(pc: InstId) -> Cell {
        Cell::of(Value::Undefined(Origin::Doubtful(pc)))
    }

    pub(crate) const UNWRITTEN: Cell = Cell(0);
    const ALL_WRITTEN: u64 = 0xf << 32;
    /// Marks a stored undefined value, whose origin is in the other bits.
    const HAS_ORIGIN: u64 = 1 << 48;

    pub(crate) fn bits(bits: u32) -> Cell {
        Cell(Self::ALL_WRITTEN | u64::from(bits))
    }

    /// A cell whose value is `value`, 4 bytes.
    #[inline]
    pub(crate) fn of(value: Value) -> Cell {
        match value {
            Value::Bits(bits) => Cell::bits(bits as u32),
            Value::Sym(sym) => Cell(sym.raw()),
            Value::Undefined(origin) => Cell(Self::HAS_ORIGIN | origin.raw()),
        }
    }

    /// The cell's value, if it is all symbolic.
    #[inline]
    pub(crate) fn symbolic(self) -> Option<Value> {
        (self.0 >> 56 != 0).then(|| Value::Sym(Sym::from_raw(self.0)))
    }

    /// The whole cell, if it is all concrete or all symbolic.
    #[inline]
    pub(crate) fn whole(self, reader: InstId) -> Option<Value> {
        if let Some(value) = self.symbolic() {
            return Some(value);
        }
        match self.0 & Self::ALL_WRITTEN {
            Self::ALL_WRITTEN => Some(Value::Bits(self.0 & 0xffff_ffff)),
            0 if self.0 & Self::HAS_ORIGIN != 0 => {
                Some(Value::Undefined(Origin::from_raw(self.0 & !Self::HAS_ORIGIN)))
            }
            0 => Some(Value::Undefined(Origin::Unwritten(reader))),
            _ => None,
        }
    }

    /// The cell's parts; bytes that were never written are undefined.
    pub(crate) fn pieces(self, packed: &PackedValues, reader: InstId) -> PackedParts {
        match self.whole(reader) {
            Some(value) => packed.split(value, 4),
            None => (0..4)
                .map(|byte| {
                    let written = self.0 >> (32 + byte) & 1 == 1;
                    let bits = Value::Bits(self.0 >> (8 * byte) & 0xff);
                    let value = if written { bits } else { Value::Undefined(Origin::Unwritten(reader)) };
                    PackedPart { value, bytes: 1 }
                })
                .collect(),
        }
    }

    /// A cell made of parts, 4 bytes together.
    pub(crate) fn from_pieces(pieces: &[PackedPart], packed: &mut PackedValues) -> Cell {
        if let [only] = pieces {
            return Cell::of(only.value);
        }
        let mut concrete = 0;
        let mut at = 0;
        for piece in pieces {
            match piece.value {
                Value::Bits(bits) => {
                    concrete |= (bits & low_bytes(piece.bytes)) << (8 * at);
                    for byte in at..at + piece.bytes {
                        concrete |= 1 << (32 + byte);
                    }
                }
                Value::Undefined(Origin::Unwritten(_)) => {}
                // The origin is kept.
                Value::Undefined(
                    Origin::Invalid(_)
                    | Origin::Unpredictable(_)
                    | Origin::Doubtful(_)
                    | Origin::Unevaluated(_)
                    | Origin::State(_)
                    | Origin::Columns(_)
                    | Origin::Partly(_),
                )
                | Value::Sym(_) => {
                    return Cell::of(packed.join(pieces));
                }
            }
            at += piece.bytes;
        }
        Cell(concrete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::InputId;

    fn real(format: Format, element: u64) -> Value {
        Value::Sym(Sym::real(format, TermId::input(InputId(0), element)))
    }

    #[test]
    fn halves_pack_and_come_apart_again() {
        let mut table = PackedValues::default();
        let parts = [
            PackedPart { value: real(Format::F16, 1), bytes: 2 },
            PackedPart { value: real(Format::F16, 2), bytes: 2 },
        ];
        let pack = table.join(&parts);
        assert_eq!(table.join(&parts), pack, "one representation for one value");
        let pieces = table.split(pack, 4);
        let high = PackedValues::slice(&pieces, 2, 2).unwrap();
        assert_eq!(table.join(&high), real(Format::F16, 2));
        assert_eq!(PackedValues::slice(&pieces, 1, 2), Err(SplitsValue));
    }

    #[test]
    fn the_low_bytes_of_a_larger_value_are_a_cut() {
        let table = PackedValues::default();
        let pieces = table.split(real(Format::F32, 1), 2);
        assert_eq!(PackedValues::slice(&pieces, 0, 2), Err(SplitsValue));
        let pieces = table.split(real(Format::F64, 1), 4);
        let low = PackedValues::slice(&pieces, 0, 4).unwrap();
        assert!(matches!(low[0].value, Value::Sym(sym) if matches!(sym.kind(), SymKind::Half64(0, _))));
    }

    #[test]
    fn a_bf16_above_zeros_is_an_f32_to_those_who_ask() {
        let mut table = PackedValues::default();
        let zero = PackedPart { value: Value::Bits(0), bytes: 2 };
        let pack = table.join(&[zero, PackedPart { value: real(Format::Bf16, 5), bytes: 2 }]);
        assert_eq!(table.as_f32(pack), real(Format::F32, 5));
        let high = PackedValues::slice(&table.split(pack, 4), 2, 2).unwrap();
        assert_eq!(table.join(&high), real(Format::Bf16, 5));
    }

    #[test]
    fn an_f64_survives_being_moved_in_halves() {
        let mut table = PackedValues::default();
        let pieces = table.split(real(Format::F64, 3), 8);
        assert_eq!(pieces.len(), 2);
        assert_eq!(table.join(&pieces), real(Format::F64, 3));
        let swapped = [pieces[1], pieces[0]];
        assert!(matches!(table.join(&swapped), Value::Sym(sym) if matches!(sym.kind(), SymKind::Packed(_))));
    }

    /// The fast paths give what splitting and joining give.
    #[test]
    fn a_look_at_a_cell_gives_what_cutting_it_gives() {
        let mut table = PackedValues::default();
        let reader = InstId(7);
        let half = |value| PackedPart { value, bytes: 2 };
        let (first, second) = (real(Format::F16, 1), real(Format::Bf16, 2));
        let undefined = Value::Undefined(Origin::Invalid(InstId(3)));
        let pairs = [
            [first, second],
            [first, Value::Bits(0x1234)],
            [Value::Bits(0xabcd), second],
            [undefined, first],
            [undefined, undefined],
            [Value::Bits(0), Value::Bits(0xffff)],
        ];
        let mut cells = vec![Cell::UNWRITTEN, Cell::of(real(Format::F32, 9)), Cell::of(first)];
        for pair in pairs {
            cells.push(Cell::from_pieces(&pair.map(half), &mut table));
        }
        let hole = PackedPart { value: Value::Undefined(Origin::Unwritten(reader)), bytes: 3 };
        cells.push(Cell::from_pieces(&[PackedPart { value: Value::Bits(5), bytes: 1 }, hole], &mut table));
        for cell in cells {
            let pieces = cell.pieces(&table, reader);
            for (start, bytes) in [(0, 1), (1, 1), (3, 1), (0, 2), (2, 2), (0, 4)] {
                if let Some(seen) = table.part(cell, start, bytes) {
                    let cut = PackedValues::slice(&pieces, start, bytes).expect("whole pieces");
                    assert_eq!(table.join(&cut), seen, "{cell:?} from {start} on, {bytes} bytes");
                }
            }
            for (which, new) in [(0, first), (1, second), (0, Value::Bits(7)), (1, Value::Bits(0xffff))] {
                if let Some(seen) = table.with_half(cell, which, new, reader) {
                    let kept = PackedValues::slice(&pieces, 2 - 2 * which as u32, 2).expect("whole pieces");
                    let mut halves = PackedParts::from_slice(&[half(new)]);
                    halves.insert_many(if which == 0 { 1 } else { 0 }, kept);
                    assert_eq!(Cell::from_pieces(&halves, &mut table), seen, "{cell:?}, half {which}");
                }
            }
        }
    }

    #[test]
    fn bytes_that_nobody_wrote_stay_undefined() {
        let mut table = PackedValues::default();
        let reader = InstId(7);
        let written = PackedPart { value: Value::Bits(0xab), bytes: 1 };
        let hole = PackedPart { value: Value::Undefined(Origin::Unwritten(reader)), bytes: 3 };
        let cell = Cell::from_pieces(&[written, hole], &mut table);
        let pieces = cell.pieces(&table, reader);
        assert_eq!(table.join(&PackedValues::slice(&pieces, 0, 1).unwrap()), Value::Bits(0xab));
        let whole = table.join(&pieces);
        assert!(table.undefined_part(whole).is_some());
    }
}
