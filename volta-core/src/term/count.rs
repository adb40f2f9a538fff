//! Integers as numbers of conditions that hold: a constant, and multiples of products of conditions, which are 0 or 1.
//! An integer that is no such number is an unknown of its own.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;

use super::{Congruence, Kind, Predicate, Product, Store, Sum, TermId, TermKind, TermOp, View};
use crate::base::index::InstId;

/// Conditions whose product it is, or an unknown integer and conditions, in ascending order.
pub(crate) type Part = SmallVec<[TermId; 2]>;

/// An integer: a constant and multiples of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Count {
    pub(crate) constant: i128,
    parts: BTreeMap<Part, i128>,
}

/// The most parts of all integers together.
const MOST_PARTS: usize = 1 << 23;
/// The most conditions of a part.
const MOST_FACTORS: usize = 16;

impl Count {
    /// A number.
    pub(crate) fn number(constant: i128) -> Count {
        Count { constant, parts: BTreeMap::new() }
    }

    fn unknown(term: TermId) -> Count {
        Count { constant: 0, parts: BTreeMap::from([(Part::from_slice(&[term]), 1)]) }
    }

    /// The number, if no condition decides it.
    pub(crate) fn as_number(&self) -> Option<i128> {
        self.parts.is_empty().then_some(self.constant)
    }

    /// The parts that are not the constant, each with its factor.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&Part, i128)> {
        self.parts.iter().map(|(part, factor)| (part, *factor))
    }

    /// `self + by · other`; `None` beyond the numbers that are represented.
    pub(crate) fn plus(&self, other: &Count, by: i128) -> Option<Count> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(by)?)?;
        for (part, factor) in &other.parts {
            sum.add(part.clone(), factor.checked_mul(by)?)?;
        }
        Some(sum)
    }

    /// Adds a multiple of a part; `None` beyond the numbers that are represented.
    pub(crate) fn add(&mut self, part: Part, factor: i128) -> Option<()> {
        if part.is_empty() {
            self.constant = self.constant.checked_add(factor)?;
            return Some(());
        }
        match self.parts.entry(part) {
            Entry::Vacant(place) if factor != 0 => {
                place.insert(factor);
            }
            Entry::Vacant(_) => {}
            Entry::Occupied(mut held) => {
                *held.get_mut() = held.get().checked_add(factor)?;
                if *held.get() == 0 {
                    held.remove();
                }
            }
        }
        Some(())
    }

    /// The product with a number of conditions: of the two, at most one has unknown integers.
    pub(crate) fn times(&self, conditions: &Count) -> Option<Count> {
        if let Some(number) = conditions.as_number() {
            return Count::default().plus(self, number);
        }
        let one = (Part::new(), self.constant);
        let left = self.parts.iter().map(|(part, factor)| (part.clone(), *factor)).chain([one]);
        let mut product = Count::default();
        for (part, factor) in left {
            let one = (Part::new(), conditions.constant);
            let right = conditions.parts.iter().map(|(part, factor)| (part.clone(), *factor)).chain([one]);
            for (other, by) in right {
                let mut both = part.clone();
                both.extend(other);
                both.sort_unstable();
                both.dedup();
                if both.len() > MOST_FACTORS || product.parts.len() > MOST_PARTS {
                    return None;
                }
                product.add(both, factor.checked_mul(by)?)?;
            }
        }
        Some(product)
    }

    /// The same where some conditions are known.
    pub(crate) fn under(&self, known: impl Fn(TermId) -> Option<bool>) -> Option<Count> {
        let mut out = Count::number(self.constant);
        for (part, factor) in &self.parts {
            if part.iter().any(|term| known(*term) == Some(false)) {
                continue;
            }
            out.add(part.iter().copied().filter(|term| known(*term).is_none()).collect(), *factor)?;
        }
        Some(out)
    }

    /// The quotient by a number that divides all of it.
    pub(crate) fn over(&self, divisor: i128) -> Option<Count> {
        let divide = |number: i128| (number % divisor == 0).then_some(number / divisor);
        let parts = self.parts.iter().map(|(part, factor)| Some((part.clone(), divide(*factor)?)));
        Some(Count { constant: divide(self.constant)?, parts: parts.collect::<Option<_>>()? })
    }

    /// A number that it never exceeds, if its parts are conditions.
    pub(crate) fn most(&self) -> Option<i128> {
        self.bound(|factor| factor > 0)
    }

    /// A number below which it never is, if its parts are conditions.
    fn least(&self) -> Option<i128> {
        self.bound(|factor| factor < 0)
    }

    fn bound(&self, counts: impl Fn(i128) -> bool) -> Option<i128> {
        let factors = self.parts.values().filter(|factor| counts(**factor));
        factors.copied().try_fold(self.constant, i128::checked_add)
    }

    /// Whether it consists of conditions alone.
    fn is_of_conditions(&self, store: &Store) -> bool {
        let is_condition = |term: &TermId| store.op(*term).is_some_and(TermOp::is_condition);
        self.parts.keys().all(|part| part.iter().all(is_condition))
    }
}

/// How two integers are compared.
#[derive(Clone, Copy)]
enum Ordering {
    Less,
    LessEqual,
    Equal,
}

/// The terms of a store as counts.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    known: FxHashMap<TermId, Option<Rc<Count>>>,
    parts: usize,
}

impl Counts {
    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.known.len() * 64 + self.parts * (size_of::<Part>() + 32)) as u64
    }

    /// An integer, or a condition as the number 0 or 1; `None` where it is too large.
    pub(crate) fn of(
        &mut self,
        (store, congruence): (&mut Store, &mut Congruence),
        term: TermId,
    ) -> Option<Rc<Count>> {
        let mut work = vec![term];
        while let Some(&next) = work.last() {
            if self.known.contains_key(&next) {
                work.pop();
                continue;
            }
            if let Some(waits) = self.waits_for(store, next) {
                let before = work.len();
                work.extend(waits.into_iter().filter(|operand| !self.known.contains_key(operand)));
                if work.len() > before {
                    continue;
                }
            }
            let count = self.computed(store, congruence, next).filter(|count| {
                self.parts += count.parts.len();
                self.parts <= MOST_PARTS
            });
            self.known.insert(next, count.map(Rc::new));
            work.pop();
        }
        self.known.get(&term).cloned().flatten()
    }

    /// The operands that must be known first.
    fn waits_for(&self, store: &Store, term: TermId) -> Option<SmallVec<[TermId; 3]>> {
        let View::Apply(op, operands) = store.view(term) else { return None };
        let is_followed = matches!(
            op,
            TermOp::Add
                | TermOp::Sub
                | TermOp::Mul
                | TermOp::Select
                | TermOp::Mod
                | TermOp::And
                | TermOp::Or
                | TermOp::Xor
                | TermOp::Not
                | TermOp::Equal
                | TermOp::Less
                | TermOp::LessEqual
        );
        is_followed.then(|| operands[..op.arity()].iter().copied().collect())
    }

    fn operand(&self, term: TermId) -> Option<&Count> {
        self.known.get(&term)?.as_deref()
    }

    fn computed(&self, store: &mut Store, congruence: &mut Congruence, term: TermId) -> Option<Count> {
        let (op, [a, b, c]) = match store.view(term) {
            View::Constant(constant) => {
                let whole = constant.exact.finite().and_then(|number| number.to_i64());
                return Some(
                    whole.map_or_else(|| Count::unknown(term), |number| Count::number(number.into())),
                );
            }
            View::Input { .. } => return Some(Count::unknown(term)),
            View::Apply(op, operands) => (op, operands),
        };
        match op.kind() {
            Kind::Sum(Sum::Add) => self.operand(a)?.plus(self.operand(b)?, 1),
            Kind::Sum(Sum::Sub) => self.operand(a)?.plus(self.operand(b)?, -1),
            Kind::Product(Product::Mul) => {
                let (x, y) = (self.operand(a)?, self.operand(b)?);
                match (x.as_number(), y.as_number()) {
                    (_, Some(by)) => Count::default().plus(x, by),
                    (Some(by), None) => Count::default().plus(y, by),
                    (None, None) => Some(Count::unknown(term)),
                }
            }
            Kind::Piecewise(super::Piecewise::Select) => {
                let (condition, then, otherwise) = (self.operand(a)?, self.operand(b)?, self.operand(c)?);
                then.plus(otherwise, -1)?.times(condition)?.plus(otherwise, 1)
            }
            Kind::Piecewise(super::Piecewise::Mod) => {
                let (count, modulus) = (self.operand(a)?, self.operand(b)?.as_number());
                let lies_in = |modulus| Some(count.least()? >= 0 && count.most()? < modulus);
                let is_itself = count.is_of_conditions(store) && modulus.and_then(lies_in) == Some(true);
                Some(if is_itself { count.clone() } else { Count::unknown(term) })
            }
            Kind::Condition(predicate) => match predicate {
                Predicate::And => self.operand(a)?.times(self.operand(b)?),
                Predicate::Or => {
                    let (x, y) = (self.operand(a)?, self.operand(b)?);
                    x.plus(y, 1)?.plus(&x.times(y)?, -1)
                }
                Predicate::Xor => {
                    let (x, y) = (self.operand(a)?, self.operand(b)?);
                    x.plus(y, 1)?.plus(&x.times(y)?, -2)
                }
                Predicate::Not => Count::number(1).plus(self.operand(a)?, -1),
                Predicate::Less => self.compared(store, congruence, (term, Ordering::Less), [a, b]),
                Predicate::LessEqual => self.compared(store, congruence, (term, Ordering::LessEqual), [a, b]),
                Predicate::Equal => self.compared(store, congruence, (term, Ordering::Equal), [a, b]),
            },
            Kind::Sum(_)
            | Kind::Product(_)
            | Kind::Exponential
            | Kind::Function(_)
            | Kind::Piecewise(_)
            | Kind::Ieee => Some(Count::unknown(term)),
        }
    }

    /// A comparison of two integers of which one product of conditions decides; else a condition of its own, of which one
    /// form stands for a comparison and its negation.
    fn compared(
        &self,
        store: &mut Store,
        congruence: &mut Congruence,
        (term, by): (TermId, Ordering),
        [a, b]: [TermId; 2],
    ) -> Option<Count> {
        let difference = self.operand(a).zip(self.operand(b)).and_then(|(x, y)| x.plus(y, -1));
        if let Some(difference) = &difference
            && let Some((part, factor)) = difference.parts().next()
            && difference.parts.len() == 1
            && part.iter().all(|term| store.op(*term).is_some_and(TermOp::is_condition))
        {
            let holds = |number: i128| match by {
                Ordering::Less => number < 0,
                Ordering::LessEqual => number <= 0,
                Ordering::Equal => number == 0,
            };
            let [if_not, if_all] = [0, factor].map(|by| i128::from(holds(difference.constant + by)));
            let mut holds = Count::number(if_not);
            holds.add(part.clone(), if_all - if_not)?;
            return Some(holds);
        }
        if let Ordering::LessEqual = by {
            let less = store.apply(TermOp::Less, &[b, a], InstId(u32::MAX));
            let less = congruence.representative(store, less);
            return Count::number(1).plus(&Count::unknown(less), -1);
        }
        Some(Count::unknown(congruence.representative(store, term)))
    }
}

/// Whether a term is computed from one of some inputs' elements.
pub(crate) fn depends_on(store: &Store, roots: &[TermId], is_of: impl Fn(TermId) -> bool) -> bool {
    let (mut seen, mut work) = (rustc_hash::FxHashSet::default(), roots.to_vec());
    while let Some(term) = work.pop() {
        if !seen.insert(term) {
            continue;
        }
        if let TermKind::Input { .. } = term.kind() {
            if is_of(term) {
                return true;
            }
            continue;
        }
        if let View::Apply(op, operands) = store.view(term) {
            work.extend(&operands[..op.arity()]);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Extended, Rational};
    use crate::term::{Constant, InputId};

    fn number(store: &mut Store, value: i64) -> TermId {
        let exact = Extended::Finite(Rational::from_integer(value));
        store.intern(Constant { exact, literal: None, rounded: None })
    }

    /// Whether an element is positive, as the number 0 or 1.
    fn flag(store: &mut Store, element: u64) -> [TermId; 2] {
        let [zero, one] = [0, 1].map(|value| number(store, value));
        let x = TermId::input(InputId(0), element);
        let condition = store.apply(TermOp::Less, &[zero, x], InstId(0));
        [condition, store.apply(TermOp::Select, &[condition, one, zero], InstId(0))]
    }

    fn count(store: &mut Store, term: TermId) -> Count {
        let [count] = counts(store, [term]);
        count
    }

    /// Of terms for which conditions have the same representatives.
    fn counts<const N: usize>(store: &mut Store, terms: [TermId; N]) -> [Count; N] {
        let (mut counts, mut congruence) = (Counts::default(), Congruence::default());
        terms.map(|term| (*counts.of((store, &mut congruence), term).expect("it is small")).clone())
    }

    #[test]
    fn a_condition_and_its_negation_make_one() {
        let mut store = Store::new();
        let [condition, own] = flag(&mut store, 0);
        let [zero, one] = [0, 1].map(|value| number(&mut store, value));
        let not = store.apply(TermOp::Not, &[condition], InstId(0));
        let other = store.apply(TermOp::Select, &[not, one, zero], InstId(0));
        let sum = store.apply(TermOp::Add, &[own, other], InstId(0));
        assert_eq!(count(&mut store, sum), Count::number(1));
        // x <= 0 is the negation of 0 < x.
        let x = TermId::input(InputId(0), 0);
        let below = store.apply(TermOp::LessEqual, &[x, zero], InstId(0));
        let below = store.apply(TermOp::Select, &[below, one, zero], InstId(0));
        let [below, other] = counts(&mut store, [below, other]);
        assert_eq!(below, other);
    }

    #[test]
    fn a_counter_that_a_thread_keeps_is_a_sum() {
        let mut store = Store::new();
        let one = number(&mut store, 1);
        let (mut kept, mut sum) = (number(&mut store, 0), number(&mut store, 0));
        for element in 0..5 {
            let [condition, own] = flag(&mut store, element);
            let more = store.apply(TermOp::Add, &[kept, one], InstId(0));
            kept = store.apply(TermOp::Select, &[condition, more, kept], InstId(0));
            sum = store.apply(TermOp::Add, &[sum, own], InstId(0));
        }
        assert_eq!(count(&mut store, kept), count(&mut store, sum));
        assert_eq!(count(&mut store, kept).most(), Some(5));
        assert_eq!(count(&mut store, kept).least(), Some(0));
        assert_ne!(count(&mut store, kept).plus(&Count::number(1), 1), Some(count(&mut store, sum)));
    }

    #[test]
    fn conditions_are_their_own_squares() {
        let mut store = Store::new();
        let [[one, a], [_, b]] = [0, 1].map(|element| flag(&mut store, element));
        let square = store.apply(TermOp::And, &[one, one], InstId(0));
        assert_eq!(count(&mut store, square), count(&mut store, one));
        let (a, b) = (count(&mut store, a), count(&mut store, b));
        let both = a.times(&b).expect("it is small");
        assert_ne!(both, a);
        assert_eq!(both.times(&a), Some(both.clone()));
        let known = |term| (term == one).then_some(true);
        assert_eq!(both.under(known), Some(b));
    }

    #[test]
    fn a_flag_that_is_compared_is_its_condition() {
        let mut store = Store::new();
        let [condition, own] = flag(&mut store, 3);
        let zero = number(&mut store, 0);
        let is_zero = store.apply(TermOp::Equal, &[own, zero], InstId(0));
        let not = store.apply(TermOp::Not, &[is_zero], InstId(0));
        assert_eq!(count(&mut store, not), count(&mut store, condition));
        let above = store.apply(TermOp::Less, &[zero, own], InstId(0));
        assert_eq!(count(&mut store, above), count(&mut store, condition));
        let [_, other] = flag(&mut store, 4);
        let sum = store.apply(TermOp::Add, &[own, other], InstId(0));
        let none = store.apply(TermOp::Equal, &[sum, zero], InstId(0));
        assert_eq!(count(&mut store, none).parts().count(), 1, "of two conditions, nothing is known");
    }

    #[test]
    fn what_wraps_around_is_an_unknown_of_its_own() {
        let mut store = Store::new();
        let [_, own] = flag(&mut store, 0);
        let (four, five) = (number(&mut store, 4), number(&mut store, 5));
        let within = store.apply(TermOp::Mod, &[own, four], InstId(0));
        assert_eq!(count(&mut store, within), count(&mut store, own));
        let beyond = store.apply(TermOp::Sub, &[own, five], InstId(0));
        let beyond = store.apply(TermOp::Mod, &[beyond, four], InstId(0));
        assert_eq!(count(&mut store, beyond), Count::unknown(beyond));
    }
}
