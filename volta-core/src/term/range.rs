//! Integer bounds of terms, and the bits that they can have (rule V4).
//!
//! An abstract interpretation of terms as executed. It shows where wrapping around has no effect, where two numbers
//! have no bit in common, and which exponent the bits of an encoding hold.

use rustc_hash::{FxHashMap, FxHashSet};

use super::id::{TermId, TermKind};
use super::ieee::{IeeeKey, IeeeOp, least_normal};
use super::info::{FunctionInfo, Kind, Piecewise, Predicate, Product, Sum, TermOp};
use super::node::{Store, View};
use crate::number::format::{Format, Rounding, decode, is_exact, round};
use crate::number::interval::{Function, Towards};
use crate::number::value::Demand;
use crate::number::{Extended, Rational};

/// Facts that hold for all values of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// An integer lower bound; `None` if unknown.
    pub low: Option<i128>,
    /// An integer upper bound; `None` if unknown.
    pub high: Option<i128>,
    /// Whether the value is an integer.
    pub whole: bool,
    /// The bits that may be 1, if the value is an integer in [0, 2⁶⁴).
    pub ones: u64,
    /// The bits that are 1, if the value is an integer in [0, 2⁶⁴).
    pub sure: u64,
}

/// At most this many terms are visited to decide whether a term depends on another.
const MAX_KEPT: usize = 64;

/// Below a choice, so many operations are looked at for what its condition bounds.
const MAX_BOUNDED: usize = 3;

/// Integers are enumerated only in ranges up to this long.
const MAX_SPAN: i128 = 1 << 14;

/// The bits that numbers up to `high` can have.
fn digits(high: u64) -> u64 {
    u64::MAX.checked_shr(high.leading_zeros()).unwrap_or(0)
}

impl Range {
    pub(crate) const REAL: Range = Range { low: None, high: None, whole: false, ones: u64::MAX, sure: 0 };

    /// Integers between two bounds.
    pub(crate) fn whole(low: Option<i128>, high: Option<i128>) -> Range {
        Range { low, high, whole: true, ..Range::REAL }.tight()
    }

    /// Non-negative integers with some known bits.
    fn natural(ones: u64, sure: u64) -> Range {
        Range { low: Some(sure.into()), high: Some(ones.into()), whole: true, ones, sure }
    }

    pub(crate) fn number(value: &Rational) -> Range {
        let bound = |value: Rational| value.to_i64().map(i128::from).or(value.to_u64().map(i128::from));
        let whole = value.is_integer();
        let range = Range { low: bound(value.floor()), high: bound(value.ceil()), whole, ..Range::REAL };
        match value.to_u64() {
            Some(bits) => Range { ones: bits, sure: bits, ..range },
            None => range,
        }
    }

    /// Whether the value is an integer in [0, 2⁶⁴).
    pub fn is_natural(&self) -> bool {
        let limit = i128::from(u64::MAX);
        self.whole && self.low.is_some_and(|low| low >= 0) && self.high.is_some_and(|high| high <= limit)
    }

    /// The integers that the value may be according to its bounds and bits, ascending; `None` if there are more
    /// than `most`.
    pub fn values(&self, most: usize) -> Option<Vec<i128>> {
        let (low, high) = (self.low.filter(|_| self.whole)?, self.high?);
        if high.checked_sub(low)? > MAX_SPAN {
            return None;
        }
        let is_natural = self.is_natural();
        let are_all = !is_natural || self.sure == 0 && digits(high as u64) & !self.ones == 0;
        if are_all && high - low >= most as i128 {
            return None;
        }
        let may_be = |value: &i128| {
            let bits = *value as u64;
            !is_natural || bits & !self.ones == 0 && bits & self.sure == self.sure
        };
        let values: Vec<i128> = (low..=high).filter(may_be).take(most + 1).collect();
        (values.len() <= most).then_some(values)
    }

    /// Whether the value is an integer from `low` to `high`.
    pub fn within(&self, low: i128, high: i128) -> bool {
        self.whole && self.low.is_some_and(|own| own >= low) && self.high.is_some_and(|own| own <= high)
    }

    /// Tightens bits by bounds, and bounds by bits.
    fn tight(self) -> Range {
        if !self.is_natural() {
            return Range { ones: u64::MAX, sure: 0, ..self };
        }
        let clip =
            |bound: Option<i128>| bound.and_then(|bound| u64::try_from(bound).ok()).unwrap_or(u64::MAX);
        let ones = self.ones & digits(clip(self.high));
        let low = self.low.max(Some(self.sure.into()));
        let high = self.high.min(Some(ones.into()));
        match (low.filter(|_| low == high), low) {
            (Some(only), _) => Range { low, high, ones: only as u64, sure: only as u64, ..self },
            (None, _) => Range { low, high, ones, ..self },
        }
    }

    /// The range intersected with other bounds, if it is one of integers.
    fn narrowed(self, (low, high): (Option<i128>, Option<i128>)) -> Range {
        if !self.whole || (low, high) == (None, None) {
            return self;
        }
        let high = self.high.into_iter().chain(high).min();
        Range { low: self.low.max(low), high, ..self }.tight()
    }

    /// The range of a value that has both.
    fn both(self, other: Range) -> Range {
        let bounded = self.narrowed((other.low, other.high));
        if !(bounded.is_natural() && other.is_natural()) {
            return bounded;
        }
        Range { ones: bounded.ones & other.ones, sure: bounded.sure | other.sure, ..bounded }.tight()
    }

    fn bounds(&self, f: impl Fn(i128) -> Option<i128>) -> (Option<i128>, Option<i128>) {
        (self.low.and_then(&f), self.high.and_then(&f))
    }

    fn plus(self, other: Range) -> Range {
        let sum = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        let whole = self.whole && other.whole;
        let (low, high) = (sum(self.low, other.low), sum(self.high, other.high));
        let sum = Range { low, high, whole, ..Range::REAL };
        if self.is_natural() && other.is_natural() && self.ones & other.ones == 0 {
            return Range { ones: self.ones | other.ones, sure: self.sure | other.sure, ..sum }.tight();
        }
        sum.tight()
    }

    fn negative(self) -> Range {
        let (low, high) = self.bounds(i128::checked_neg);
        Range { low: high, high: low, whole: self.whole, ..Range::REAL }.tight()
    }

    /// The exponent, if the value is a known power of two.
    fn shift(&self) -> Option<u32> {
        let known = self.low.is_some() && self.low == self.high && self.ones == self.sure;
        (known && self.is_natural() && self.ones.is_power_of_two()).then(|| self.ones.trailing_zeros())
    }

    fn times(self, other: Range) -> Range {
        for (number, by) in [(&self, other.shift()), (&other, self.shift())] {
            if let Some(by) = by
                && number.is_natural()
                && number.ones.leading_zeros() >= by
            {
                let bounds = number.bounds(|at| at.checked_mul(1 << by));
                let (ones, sure) = (number.ones << by, number.sure << by);
                return Range { low: bounds.0, high: bounds.1, whole: true, ones, sure }.tight();
            }
        }
        let whole = self.whole && other.whole;
        let corner = |a: Option<i128>, b: Option<i128>| a?.checked_mul(b?);
        let corners = [
            corner(self.low, other.low),
            corner(self.low, other.high),
            corner(self.high, other.low),
            corner(self.high, other.high),
        ];
        let all: Option<Vec<i128>> = corners.into_iter().collect();
        let (low, high) =
            all.map_or((None, None), |all| (all.iter().min().copied(), all.iter().max().copied()));
        Range { low, high, whole, ..Range::REAL }.tight()
    }

    pub(crate) fn either(self, other: Range) -> Range {
        let both = |a: Option<i128>, b: Option<i128>, f: fn(i128, i128) -> i128| Some(f(a?, b?));
        let whole = self.whole && other.whole;
        let (ones, sure) = (self.ones | other.ones, self.sure & other.sure);
        let low = both(self.low, other.low, i128::min);
        Range { low, high: both(self.high, other.high, i128::max), whole, ones, sure }.tight()
    }

    /// The range of the maximum of two values.
    fn or_above(self, other: Range) -> Range {
        let whole = self.whole && other.whole;
        let high = self.high.zip(other.high).map(|(a, b)| a.max(b));
        // A lower bound of either operand is one of the maximum.
        Range { low: self.low.max(other.low), high, whole, ..Range::REAL }.tight()
    }

    /// The range of `a − min(a, most)`, which is the larger of zero and `a − most`.
    fn without_part(self, most: Range) -> Range {
        self.plus(most.negative()).or_above(Range::number(&Rational::ZERO))
    }

    /// The remainder after division by `modulus`.
    fn modulo(self, modulus: i128) -> Range {
        if self.within(0, modulus - 1) {
            return self;
        }
        // All values lie between two neighbouring multiples.
        if let (true, Some(low), Some(high)) = (self.whole, self.low, self.high)
            && low.div_euclid(modulus) == high.div_euclid(modulus)
        {
            return Range::whole(Some(low.rem_euclid(modulus)), Some(high.rem_euclid(modulus)));
        }
        let high = if self.whole { modulus - 1 } else { modulus };
        let all = Range { low: Some(0), high: Some(high), whole: self.whole, ..Range::REAL }.tight();
        if self.is_natural() && modulus & (modulus - 1) == 0 {
            let mask = (modulus - 1) as u64;
            return Range { ones: self.ones & mask, sure: self.sure & mask, ..all }.tight();
        }
        all
    }

    /// `⌊value·factor⌋` for an integer value and a positive factor.
    fn scaled_down(self, factor: &Rational) -> Range {
        let scaled = |bound: i128| (&Rational::from_i128(bound) * factor).floor();
        let bound = |value: Rational| value.to_i64().map(i128::from).or(value.to_u64().map(i128::from));
        let (low, high) = self.bounds(|at| bound(scaled(at)));
        let range = Range { low, high, whole: true, ..Range::REAL };
        let shift = factor.recip().and_then(|divisor| divisor.to_u64()).filter(|by| by.is_power_of_two());
        match shift {
            Some(by) if self.is_natural() => {
                let by = by.trailing_zeros();
                Range { ones: self.ones >> by, sure: self.sure >> by, ..range }.tight()
            }
            _ => range.tight(),
        }
    }

    /// The range of a result, given those of its operands; of a condition, 1 where it holds and 0 where it does not.
    pub(crate) fn of_operation(
        store: &Store,
        op: TermOp,
        operands: &[TermId],
        known: &dyn Fn(TermId) -> Range,
    ) -> Range {
        let at = |which: usize| {
            let operand = operands.get(which);
            operand.map_or(Range::REAL, |operand| known(*operand))
        };
        match op.kind() {
            Kind::Sum(Sum::Add) => at(0).plus(at(1)),
            Kind::Sum(Sum::Sub) => match part_of(store, operands[0], operands[1]) {
                Some(most) => at(0).without_part(known(most)),
                None => match remainder_of(store, operands[0], operands[1]).filter(|_| at(0).whole) {
                    Some(by) => at(0).modulo(by),
                    None => at(0).plus(at(1).negative()),
                },
            },
            Kind::Sum(Sum::Fma) => at(0).times(at(1)).plus(at(2)),
            Kind::Product(Product::Mul) => at(0).times(at(1)),
            Kind::Product(Product::Neg) => at(0).negative(),
            Kind::Piecewise(Piecewise::Abs) => at(0).or_above(at(0).negative()),
            Kind::Piecewise(Piecewise::Max) => at(0).or_above(at(1)),
            Kind::Piecewise(Piecewise::Min) => at(0).negative().or_above(at(1).negative()).negative(),
            Kind::Piecewise(Piecewise::Select) => match at(0) {
                condition if condition.within(1, 1) => at(1),
                condition if condition.within(0, 0) => at(2),
                _ => of_choice(store, operands, known, MAX_BOUNDED),
            },
            Kind::Piecewise(Piecewise::Mod) => match finite(store, operands[1]).and_then(|by| by.to_u64()) {
                Some(modulus) if modulus > 0 => at(0).modulo(modulus.into()),
                _ if finite(store, operands[1]) == Some(Rational::power_of_two(64)) => at(0).modulo(1 << 64),
                _ => Range::REAL,
            },
            Kind::Piecewise(Piecewise::BitAnd) => {
                let (a, b) = (at(0), at(1));
                Range::natural(a.ones & b.ones, a.sure & b.sure)
            }
            Kind::Function(FunctionInfo { function: Function::Round(Towards::Floor), .. }) => {
                floor(store, operands[0], known)
            }
            Kind::Function(FunctionInfo { function: Function::Round(_), .. }) => {
                let of = at(0);
                Range::whole(of.low, of.high)
            }
            Kind::Function(function) => {
                let (low, high) = function.between.unzip();
                Range { low, high, ..Range::REAL }
            }
            Kind::Product(Product::Div) | Kind::Exponential | Kind::Piecewise(Piecewise::CopySign) => {
                Range::REAL
            }
            Kind::Ieee => of_ieee(store, op, operands),
            Kind::Condition(which) => {
                let holds = holds(*which, at(0), at(1)).map(i128::from);
                Range::whole(Some(holds.unwrap_or(0)), Some(holds.unwrap_or(1)))
            }
        }
    }
}

/// The ranges of a store's terms, computed on demand.
#[derive(Debug, Default)]
pub struct Ranges {
    known: FxHashMap<TermId, Range>,
    /// Whether terms are defined at all inputs, computed on demand.
    total: FxHashMap<TermId, bool>,
    /// The current assumption, and the ranges without it.
    supposed: Option<(Bound, Box<Ranges>)>,
}

/// An assumption about a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A lower bound of the magnitude of a real.
    Magnitude(TermId, Rational),
    /// Bounds of an integer.
    Between(TermId, i128, i128),
}

impl Bound {
    /// The bound that a condition implies where it holds, or where it does not.
    pub fn of(store: &Store, mut condition: TermId, mut holds: bool) -> Option<Bound> {
        loop {
            let View::Apply(op, [a, b, _]) = store.view(condition) else { return None };
            let (number, magnitude) = match (op.kind(), holds) {
                (Kind::Condition(Predicate::Not), _) => {
                    (condition, holds) = (a, !holds);
                    continue;
                }
                (Kind::Condition(Predicate::Equal), _) if store.is_ieee() => {
                    return Bound::of_ieee(store, a, b, holds);
                }
                (Kind::Condition(Predicate::Less | Predicate::LessEqual), true) => (a, b),
                (Kind::Condition(Predicate::Less | Predicate::LessEqual), false) => (b, a),
                (
                    Kind::Condition(Predicate::Equal | Predicate::And | Predicate::Or | Predicate::Xor)
                    | Kind::Sum(_)
                    | Kind::Product(_)
                    | Kind::Exponential
                    | Kind::Function(_)
                    | Kind::Piecewise(_)
                    | Kind::Ieee,
                    _,
                ) => return None,
            };
            let least = finite(store, number).filter(Rational::is_positive)?;
            let View::Apply(TermOp::Abs, [real, ..]) = store.view(magnitude) else { return None };
            return Some(Bound::Magnitude(real, least));
        }
    }

    /// The bound that a comparison of values of IEEE arithmetic implies, whose truth is a number. NaN has none below it:
    /// its encodings are those of the largest magnitudes.
    fn of_ieee(store: &Store, comparison: TermId, truth: TermId, holds: bool) -> Option<Bound> {
        let holds = match finite(store, truth)?.to_u64()? {
            1 => holds,
            0 => !holds,
            _ => return None,
        };
        let View::Apply(TermOp::Ieee2, [key, a, b]) = store.view(comparison) else { return None };
        let key = IeeeKey::read(&finite(store, key)?)?;
        if !matches!(key.op, IeeeOp::Less | IeeeOp::LessEqual) {
            return None;
        }
        let (number, magnitude) = if holds { (a, b) } else { (b, a) };
        // What is flushed to zero is no bound.
        let least = if key.flush { least_normal(key.format) } else { f64::from_bits(1) };
        let number = store.as_ieee_number(number).filter(|number| number.is_finite() && *number >= least)?;
        let View::Apply(op, operands) = store.view(magnitude) else { return None };
        let (key, real) = ieee_of_one(store, op, &operands[..op.arity()])?;
        let least = decode(Format::F64, number.to_bits()).extended()?.finite()?.clone();
        (key.op == IeeeOp::Abs).then_some(Bound::Magnitude(real, least))
    }

    /// The bits that the encoding of a real is known to have: the common prefix of the encodings of the least and
    /// of the greatest magnitude.
    fn sure(&self, of: TermId, format: Format) -> u64 {
        let Bound::Magnitude(real, least) = self else { return 0 };
        if *real != of || !is_exact(least, format) {
            return 0;
        }
        let sign = 1 << (8 * format.bytes() - 1);
        let least = round(least, format, Rounding::Zero);
        let greatest = sign - 1;
        least & !digits(least ^ greatest)
    }

    /// The range that the bound directly implies for a term.
    fn range(&self, of: TermId) -> Option<Range> {
        match self {
            Bound::Between(term, low, high) if *term == of => Some(Range::whole(Some(*low), Some(*high))),
            Bound::Between(..) | Bound::Magnitude(..) => None,
        }
    }

    /// Whether the bound may change the range of a term.
    fn concerns(&self, store: &Store, term: TermId) -> bool {
        match (self, term.kind()) {
            (Bound::Magnitude(..), _) if !store.is_ieee() => store.is_unexplained(term),
            // Terms computed before the bounded one do not depend on it.
            (Bound::Magnitude(of, _) | Bound::Between(of, ..), TermKind::Lane(node, _)) => {
                !matches!(of.kind(), TermKind::Lane(own, _) if own.index() > node.index())
            }
            (_, TermKind::Input { .. } | TermKind::Constant(_)) => false,
        }
    }
}

impl Ranges {
    /// Memory of the table in bytes.
    pub fn bytes(&self) -> u64 {
        let total = self.total.capacity() * size_of::<(TermId, bool)>();
        let own = (self.known.capacity() * size_of::<(TermId, Range)>() + total) as u64;
        own + self.supposed.as_ref().map_or(0, |(_, without)| without.bytes())
    }

    /// Adds an assumption: from now on, ranges are those where the bound holds.
    pub fn suppose(&mut self, bound: Bound) {
        let mut without = std::mem::take(self);
        // A bound does not change whether a term is defined.
        self.total = std::mem::take(&mut without.total);
        self.supposed = Some((bound, Box::new(without)));
    }

    /// Whether something is supposed.
    pub fn is_supposing(&self) -> bool {
        self.supposed.is_some()
    }

    /// Removes the latest assumption, and the ranges that were derived from it.
    pub fn suppose_no_more(&mut self) {
        if let Some((_, without)) = self.supposed.take() {
            let total = std::mem::take(&mut self.total);
            *self = Ranges { total, ..*without };
        }
    }

    /// The range that the assumptions directly imply for a term.
    fn supposed(&self, term: TermId) -> Option<Range> {
        let (bound, without) = self.supposed.as_ref()?;
        bound.range(term).or_else(|| without.supposed(term))
    }

    /// The bits that assumptions imply for the encoding of a real.
    fn sure_digits(&self, real: TermId, format: Format) -> u64 {
        let Some((bound, without)) = &self.supposed else { return 0 };
        bound.sure(real, format) | without.sure_digits(real, format)
    }

    /// The range of a term of `store`; the same at each call under the same assumptions.
    ///
    /// # Cost
    /// Visits each node once.
    pub fn of(&mut self, store: &Store, root: TermId) -> Range {
        if let Some(range) = self.known(store, root) {
            return range;
        }
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            let View::Apply(op, operands) = store.view(term) else {
                stack.pop();
                continue;
            };
            let operands = &operands[..op.arity()];
            let before = stack.len();
            if self.known(store, term).is_none() && (depends(op) || self.decides(op)) {
                stack.extend(operands.iter().filter(|operand| self.known(store, **operand).is_none()));
            }
            if stack.len() == before {
                let range = self.combined(store, op, operands).narrowed(store.function_lies_between(term));
                self.known.insert(term, range);
                stack.pop();
            }
        }
        self.known(store, root).unwrap_or(Range::REAL)
    }

    /// Whether a term is defined at all inputs, since no operation below it is partial (V8). A term that is not
    /// total must not be dropped, even where its value has no effect on a product or a comparison.
    ///
    /// # Cost
    /// Visits each node once.
    pub fn is_total(&mut self, store: &Store, root: TermId) -> bool {
        if !store.may_be_undefined() {
            return true;
        }
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            let View::Apply(op, operands) = store.view(term) else {
                let infinite = matches!(store.view(term), View::Constant(of) if of.exact.finite().is_none());
                self.total.insert(term, !infinite);
                stack.pop();
                continue;
            };
            let met = |(demand, at): (Demand, usize)| {
                finite(store, operands[at]).is_some_and(|value| demand.is_met_by(&value))
            };
            let own = op.info().demand.is_none_or(met);
            let below = operands[..op.arity()].iter().map(|operand| (*operand, self.total.get(operand)));
            let open: Vec<TermId> =
                below.clone().filter(|(_, known)| known.is_none()).map(|(operand, _)| operand).collect();
            let total = own && below.fold(true, |all, (_, known)| all && known != Some(&false));
            if total && !open.is_empty() {
                stack.extend(open);
                continue;
            }
            self.total.insert(term, total);
            stack.pop();
        }
        self.total.get(&root).copied().unwrap_or(false)
    }

    /// Whether a term may be dropped beside others (V8): it is total, or, while functions are recognized (their
    /// code tests bits of one number repeatedly), it is defined wherever the others are.
    pub fn is_kept(&mut self, store: &Store, dropped: TermId, beside: &[TermId]) -> bool {
        if self.is_total(store, dropped) {
            return true;
        }
        let (mut seen, mut work) = (FxHashSet::default(), vec![dropped]);
        while let Some(term) = work.pop() {
            if self.is_total(store, term) || !seen.insert(term) {
                continue;
            }
            if !store.explains() || seen.len() > MAX_KEPT {
                return false;
            }
            if beside.iter().any(|other| depends_on(store, *other, term)) {
                continue;
            }
            match store.view(term) {
                View::Apply(op, operands) if op.info().demand.is_none() => {
                    work.extend(&operands[..op.arity()]);
                }
                View::Apply(..) | View::Constant(_) | View::Input { .. } => return false,
            }
        }
        true
    }

    fn known(&self, store: &Store, term: TermId) -> Option<Range> {
        match term.kind() {
            TermKind::Input { input, .. } => self.supposed(term).or_else(|| {
                Some(match store.integers(input) {
                    Some(of) => Range::whole(Some(of.least), Some(of.greatest)),
                    None => Range::REAL,
                })
            }),
            TermKind::Constant(id) => Some(match &store.constant(id).exact {
                Extended::Finite(value) => Range::number(value),
                Extended::PosInf | Extended::NegInf => Range::REAL,
            }),
            TermKind::Lane(..) => {
                self.known.get(&term).copied().or_else(|| self.supposed(term)).or_else(|| {
                    let (bound, without) = self.supposed.as_ref()?;
                    (!bound.concerns(store, term)).then(|| without.known(store, term)).flatten()
                })
            }
        }
    }

    /// The range of a result, given those of its operands.
    fn combined(&self, store: &Store, op: TermOp, operands: &[TermId]) -> Range {
        if let Kind::Function(FunctionInfo { function: Function::Encode(format), between, .. }) = op.kind() {
            let (low, high) = between.unzip();
            let sure = self.sure_digits(operands[0], *format);
            return Range { sure, ..Range::whole(low, high) }.tight();
        }
        if let Some((key, of)) = ieee_of_one(store, op, operands).filter(|(key, _)| key.op == IeeeOp::Encode)
        {
            let mut range = of_ieee(store, op, operands);
            let magnitude = match store.view(of) {
                View::Apply(op, operands) => ieee_of_one(store, op, &operands[..op.arity()]),
                View::Input { .. } | View::Constant(_) => None,
            };
            let sure = match magnitude.filter(|(key, _)| key.op == IeeeOp::Abs && !key.flush) {
                Some((_, real)) => {
                    range.high = Some((1 << (8 * key.format.bytes() - 1)) - 1);
                    self.sure_digits(real, key.format)
                }
                None => self.sure_digits(of, key.format),
            };
            return Range { sure, ..range }.tight();
        }
        if matches!(op.kind(), Kind::Condition(_)) && !self.decides(op) {
            return Range::REAL;
        }
        let known = |term: TermId| self.known(store, term).unwrap_or(Range::REAL);
        Range::of_operation(store, op, operands, &known)
    }

    /// Whether a result is a condition with a range: 1 where it holds and 0 where it does not. Needed only under an
    /// assumption on an integer's bounds.
    fn decides(&self, op: TermOp) -> bool {
        matches!(op.kind(), Kind::Condition(_)) && matches!(self.supposed, Some((Bound::Between(..), _)))
    }
}

/// The range of a choice: of each value where it is chosen. A condition that compares an integer with a number bounds
/// the integer there, and with it what is computed from it.
fn of_choice(store: &Store, operands: &[TermId], known: &dyn Fn(TermId) -> Range, depth: usize) -> Range {
    let chosen = [(operands[1], true), (operands[2], false)].map(|(value, holds)| {
        let whole = known(value);
        match compared(store, operands[0], holds, known) {
            Some((_, of)) if of.low.zip(of.high).is_some_and(|(low, high)| low > high) => None,
            Some(bounded) => Some(whole.both(where_bounded(store, value, bounded, known, depth))),
            None => Some(whole),
        }
    });
    match chosen {
        [Some(a), Some(b)] => a.either(b),
        [Some(only), None] | [None, Some(only)] => only,
        [None, None] => known(operands[1]).either(known(operands[2])),
    }
}

/// The integer that a condition compares with a number, and its range where the condition holds, or does not.
fn compared(
    store: &Store,
    condition: TermId,
    holds: bool,
    known: &dyn Fn(TermId) -> Range,
) -> Option<(TermId, Range)> {
    let View::Apply(op, [a, b, _]) = store.view(condition) else { return None };
    let Kind::Condition(which) = op.kind() else { return None };
    let number = |term| finite(store, term).filter(Rational::is_integer)?.to_i64().map(i128::from);
    let (term, limit, is_left) = match (number(a), number(b)) {
        (None, Some(limit)) => (a, limit, true),
        (Some(limit), None) => (b, limit, false),
        (None, None) | (Some(_), Some(_)) => return None,
    };
    let of = known(term);
    if !of.whole || store.is_ieee() {
        return None;
    }
    let (low, high) = match (which, holds, is_left) {
        (Predicate::Equal, true, _) => (Some(limit), Some(limit)),
        (Predicate::Equal, false, _) => (
            Some(limit + 1).filter(|_| of.low == Some(limit)),
            Some(limit - 1).filter(|_| of.high == Some(limit)),
        ),
        (Predicate::Less, true, true) | (Predicate::LessEqual, false, false) => (None, Some(limit - 1)),
        (Predicate::Less, true, false) | (Predicate::LessEqual, false, true) => (Some(limit + 1), None),
        (Predicate::Less, false, true) | (Predicate::LessEqual, true, false) => (Some(limit), None),
        (Predicate::Less, false, false) | (Predicate::LessEqual, true, true) => (None, Some(limit)),
        (Predicate::Not | Predicate::And | Predicate::Or | Predicate::Xor, ..) => return None,
    };
    let high = of.high.into_iter().chain(high).min();
    let low = of.low.max(low);
    let range = Range { low, high, ..of };
    let is_empty = low.zip(high).is_some_and(|(low, high)| low > high);
    Some((term, if is_empty { range } else { range.tight() }))
}

/// The range of a term where another one has the given range, by the operations nearest to its result.
fn where_bounded(
    store: &Store,
    of: TermId,
    bounded: (TermId, Range),
    known: &dyn Fn(TermId) -> Range,
    depth: usize,
) -> Range {
    match store.view(of) {
        _ if of == bounded.0 => bounded.1,
        // A further choice is looked into where it is one by the same integer.
        View::Apply(TermOp::Select, operands)
            if depth > 0
                && compared(store, operands[0], true, known).is_some_and(|(by, _)| by == bounded.0) =>
        {
            of_choice(
                store,
                &operands,
                &|operand| where_bounded(store, operand, bounded, known, 0),
                depth - 1,
            )
        }
        View::Apply(op, operands) if depth > 0 && depends(op) && op != TermOp::Select => {
            let below = |operand| where_bounded(store, operand, bounded, known, depth - 1);
            Range::of_operation(store, op, &operands[..op.arity()], &below)
        }
        View::Apply(..) | View::Input { .. } | View::Constant(_) => known(of),
    }
}

/// The limit, if a term is the smaller of it and the whole.
fn part_of(store: &Store, whole: TermId, part: TermId) -> Option<TermId> {
    let View::Apply(TermOp::Min, [a, b, _]) = store.view(part) else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(one, other)| (one == whole).then_some(other))
}

/// The divisor, if a term less another one is its remainder: `a − ⌊a/n⌋·n`.
fn remainder_of(store: &Store, of: TermId, multiple: TermId) -> Option<i128> {
    let View::Apply(TermOp::Mul, [quotient, by, _]) = store.view(multiple) else { return None };
    let View::Apply(TermOp::Floor, [exact, ..]) = store.view(quotient) else { return None };
    let View::Apply(TermOp::Mul, [whole, factor, _]) = store.view(exact) else { return None };
    let by = finite(store, by)?;
    let is_inverse = finite(store, factor)?.recip().is_some_and(|inverse| inverse == by);
    let by = by.to_u64().filter(|by| *by > 0)?;
    (is_inverse && whole == of).then_some(by.into())
}

/// `⌊a⌋`, where `a` is usually a multiple of an integer: a shift.
fn floor(store: &Store, argument: TermId, known: &dyn Fn(TermId) -> Range) -> Range {
    let of = known(argument);
    if let View::Apply(TermOp::Mul, [a, b, _]) = store.view(argument)
        && let Some(factor) = finite(store, b).filter(Rational::is_positive)
    {
        let inner = known(a);
        if inner.whole {
            return inner.scaled_down(&factor);
        }
    }
    Range::whole(of.low, of.high)
}

/// Whether a term is known to depend on another: the search ends after a few steps.
fn depends_on(store: &Store, of: TermId, on: TermId) -> bool {
    let (mut seen, mut work) = (FxHashSet::default(), vec![of]);
    while let Some(term) = work.pop() {
        if term == on {
            return true;
        }
        if seen.len() < MAX_KEPT
            && seen.insert(term)
            && let View::Apply(op, operands) = store.view(term)
        {
            work.extend(&operands[..op.arity()]);
        }
    }
    false
}

/// The truth value of a condition on operands with these ranges, if they determine it.
fn holds(which: Predicate, a: Range, b: Range) -> Option<bool> {
    let below = |high: Option<i128>, low: Option<i128>, or_equal: bool| {
        high.zip(low).is_some_and(|(high, low)| high < low || or_equal && high == low)
    };
    let point = |range: Range| range.low.filter(|_| range.whole && range.low == range.high);
    match which {
        Predicate::Less if below(a.high, b.low, false) => Some(true),
        Predicate::Less if below(b.high, a.low, true) => Some(false),
        Predicate::LessEqual if below(a.high, b.low, true) => Some(true),
        Predicate::LessEqual if below(b.high, a.low, false) => Some(false),
        Predicate::Equal if below(a.high, b.low, false) || below(b.high, a.low, false) => Some(false),
        Predicate::Equal | Predicate::Xor => {
            let equal = point(a)? == point(b)?;
            Some(equal == (which == Predicate::Equal))
        }
        Predicate::Not => Some(point(a)? == 0),
        Predicate::And if [a, b].into_iter().any(|part| point(part) == Some(0)) => Some(false),
        Predicate::And => Some(point(a)? == 1 && point(b)? == 1),
        Predicate::Or if [a, b].into_iter().any(|part| point(part) == Some(1)) => Some(true),
        Predicate::Or => Some(point(a)? == 1 || point(b)? == 1),
        Predicate::Less | Predicate::LessEqual => None,
    }
}

/// Whether the range of a result depends on the ranges of its operands.
fn depends(op: TermOp) -> bool {
    match op.kind() {
        Kind::Sum(_) | Kind::Product(Product::Mul | Product::Neg) => true,
        Kind::Product(Product::Div) | Kind::Exponential | Kind::Condition(_) | Kind::Ieee => false,
        Kind::Piecewise(which) => *which != Piecewise::CopySign,
        Kind::Function(function) => matches!(function.function, Function::Round(_)),
    }
}

/// An operation of IEEE arithmetic on one operand.
fn ieee_of_one(store: &Store, op: TermOp, operands: &[TermId]) -> Option<(IeeeKey, TermId)> {
    let [key, of] = operands else { return None };
    (op == TermOp::Ieee1).then(|| Some((IeeeKey::read(&finite(store, *key)?)?, *of)))?
}

/// The range of an integer that IEEE arithmetic gives.
fn of_ieee(store: &Store, op: TermOp, operands: &[TermId]) -> Range {
    let key = (op != TermOp::IeeePair).then(|| finite(store, operands[0])).flatten();
    match key.and_then(|key| IeeeKey::read(&key)).and_then(IeeeKey::range) {
        Some((low, high)) => Range::whole(Some(low), Some(high)),
        None => Range::REAL,
    }
}

fn finite(store: &Store, term: TermId) -> Option<Rational> {
    match store.view(term) {
        View::Constant(constant) => constant.exact.finite().cloned(),
        View::Input { .. } | View::Apply(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_are_those_in_the_range(low in -9..40i128, span in 0..40i128, ones in 0..64u64, sure in 0..64u64, most in 0..50usize) {
            for ones in [ones, u64::MAX] {
                let range = Range { ones: ones | sure, sure, ..Range::whole(Some(low), Some(low + span)) };
                let fits = |value: &i128| low < 0 || (*value as u64 | range.ones, *value as u64 & sure) == (range.ones, sure);
                let all: Vec<i128> = (low..=low + span).filter(fits).collect();
                prop_assert_eq!(range.values(most), (all.len() <= most).then_some(all));
            }
        }
    }

    /// The bytes of a vector that are left behind an element: 16, none, or some of its elements.
    #[test]
    fn a_choice_inside_of_a_choice_by_the_same_integer_is_one_of_few_values() {
        use crate::program::InstId;
        use crate::term::{Constant, InputId, Integers};
        let mut store = Store::new();
        store.set_integers(vec![Some(Integers { least: 0, greatest: 1018 })]);
        let mut number = |value: i64| {
            let exact = Extended::Finite(Rational::from_integer(value));
            store.intern(Constant { exact, literal: None, rounded: None })
        };
        let [none, one, three, four, first, all] = [0, 1, 3, 4, 764, 16].map(&mut number);
        let mut apply = |op: TermOp, operands: &[TermId]| store.apply(op, operands, InstId(0));
        let left = apply(TermOp::Sub, &[TermId::input(InputId(0), 0), first]);
        let some = apply(TermOp::Mul, &[left, four]);
        let is_none = apply(TermOp::Less, &[left, one]);
        let are_all = apply(TermOp::Less, &[three, left]);
        let inner = apply(TermOp::Select, &[is_none, none, some]);
        let bytes = apply(TermOp::Select, &[are_all, all, inner]);
        let range = Ranges::default().of(&store, bytes);
        assert_eq!(range.values(8), Some(vec![0, 4, 8, 12, 16]));
    }
}
