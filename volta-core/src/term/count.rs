//! Integers as numbers of conditions that hold: a constant, and multiples of products of conditions, which are 0 or 1.
//! An integer that is no such number is an unknown of its own.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

use super::{Congruence, Kind, Predicate, Product, Store, Sum, TermId, TermKind, TermOp, View};
use crate::base::index::InstId;

/// Conditions whose product it is, or an unknown integer and conditions, in ascending order.
pub(crate) type Part = SmallVec<[TermId; 2]>;

/// An integer: a constant and multiples of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Count {
    pub(crate) constant: i128,
    /// In ascending order, each once and none 0 times.
    parts: Vec<(Part, i64)>,
}

/// The most parts of all integers together.
const MOST_PARTS: usize = 1 << 23;
/// The most conditions of a part.
const MOST_FACTORS: usize = 16;

/// A factor of a part; `None` beyond the numbers that are represented.
fn factor_of(number: i128) -> Option<i64> {
    number.try_into().ok()
}

impl Count {
    /// A number.
    pub(crate) fn number(constant: i128) -> Count {
        Count { constant, parts: Vec::new() }
    }

    fn unknown(term: TermId) -> Count {
        Count { constant: 0, parts: vec![(Part::from_slice(&[term]), 1)] }
    }

    /// The sum of a constant and multiples of parts in any order; `None` beyond the numbers that are represented.
    fn sum(mut constant: i128, mut parts: Vec<(Part, i64)>) -> Option<Count> {
        parts.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let mut kept: Vec<(Part, i64)> = Vec::with_capacity(parts.len());
        for (part, factor) in parts {
            if part.is_empty() {
                constant = constant.checked_add(factor.into())?;
                continue;
            }
            match kept.last_mut().filter(|(last, _)| *last == part) {
                Some((_, held)) => *held = held.checked_add(factor)?,
                None => {
                    kept.pop_if(|(_, factor)| *factor == 0);
                    kept.push((part, factor));
                }
            }
        }
        kept.pop_if(|(_, factor)| *factor == 0);
        kept.shrink_to_fit();
        Some(Count { constant, parts: kept })
    }

    /// The number, if no condition decides it.
    pub(crate) fn as_number(&self) -> Option<i128> {
        self.parts.is_empty().then_some(self.constant)
    }

    /// The parts that are not the constant, each with its factor.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&Part, i128)> {
        self.parts.iter().map(|(part, factor)| (part, i128::from(*factor)))
    }

    /// `self + by · other`; `None` beyond the numbers that are represented.
    pub(crate) fn plus(&self, other: &Count, by: i128) -> Option<Count> {
        let constant = self.constant.checked_add(other.constant.checked_mul(by)?)?;
        if by == 0 || other.parts.is_empty() {
            return Some(Count { constant, parts: self.parts.clone() });
        }
        let mut parts = Vec::with_capacity(self.parts.len() + other.parts.len());
        let mut own = self.parts.iter().peekable();
        for (part, factor) in &other.parts {
            let factor = factor_of(i128::from(*factor).checked_mul(by)?)?;
            while let Some(before) = own.next_if(|(own, _)| own < part) {
                parts.push(before.clone());
            }
            let sum = match own.next_if(|(own, _)| own == part) {
                Some((_, held)) => held.checked_add(factor)?,
                None => factor,
            };
            if sum != 0 {
                parts.push((part.clone(), sum));
            }
        }
        parts.extend(own.cloned());
        parts.shrink_to_fit();
        Some(Count { constant, parts })
    }

    /// Adds a multiple of a part; `None` beyond the numbers that are represented.
    pub(crate) fn add(&mut self, part: Part, factor: i128) -> Option<()> {
        if part.is_empty() {
            self.constant = self.constant.checked_add(factor)?;
            return Some(());
        }
        let factor = factor_of(factor)?;
        // Parts mostly come in order.
        let place = match self.parts.last() {
            Some((last, _)) if *last >= part => self.parts.binary_search_by(|(own, _)| own.cmp(&part)),
            _ => Err(self.parts.len()),
        };
        match place {
            Err(_) if factor == 0 => {}
            Err(place) => self.parts.insert(place, (part, factor)),
            Ok(place) => {
                let held = &mut self.parts[place].1;
                *held = held.checked_add(factor)?;
                if *held == 0 {
                    self.parts.remove(place);
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
        if let Some(number) = self.as_number() {
            return Count::default().plus(conditions, number);
        }
        if (self.parts.len() + 1) * (conditions.parts.len() + 1) > MOST_PARTS {
            return None;
        }
        let (mut parts, constant) = (Vec::new(), self.constant.checked_mul(conditions.constant)?);
        let with_constant = |of: &Count| {
            let constant = (of.constant != 0).then(|| Some((Part::new(), factor_of(of.constant)?)));
            of.parts.iter().cloned().map(Some).chain(constant).collect::<Option<Vec<_>>>()
        };
        let right = with_constant(conditions)?;
        for (part, factor) in with_constant(self)? {
            for (other, by) in &right {
                let mut both = part.clone();
                both.extend_from_slice(other);
                both.sort_unstable();
                both.dedup();
                if both.len() > MOST_FACTORS {
                    return None;
                }
                if !both.is_empty() {
                    parts.push((both, factor.checked_mul(*by)?));
                }
            }
        }
        Count::sum(constant, parts)
    }

    /// The same where some conditions are known.
    pub(crate) fn under(&self, known: impl Fn(TermId) -> Option<bool>) -> Option<Count> {
        let holds = |(part, factor): &(Part, i64)| {
            let is_none = part.iter().any(|term| known(*term) == Some(false));
            let open = || part.iter().copied().filter(|term| known(*term).is_none()).collect();
            (!is_none).then(|| (open(), *factor))
        };
        Count::sum(self.constant, self.parts.iter().filter_map(holds).collect())
    }

    /// The quotient by a number that divides all of it.
    pub(crate) fn over(&self, divisor: i128) -> Option<Count> {
        let divide = |number: i128| (number % divisor == 0).then_some(number / divisor);
        let parts = self.parts().map(|(part, factor)| Some((part.clone(), factor_of(divide(factor)?)?)));
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
        let factors = self.parts().map(|(_, factor)| factor).filter(|factor| counts(*factor));
        factors.into_iter().try_fold(self.constant, i128::checked_add)
    }

    /// Whether it consists of conditions alone.
    fn is_of_conditions(&self, store: &Store) -> bool {
        let is_condition = |term: &TermId| store.op(*term).is_some_and(TermOp::is_condition);
        self.parts.iter().all(|(part, _)| part.iter().all(is_condition))
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
            let count = match self.same_operand(store, next) {
                Some(same) => self.known.get(&same).cloned().flatten(),
                None => {
                    let count = self.computed(store, congruence, next).filter(|count| {
                        self.parts += count.parts.len();
                        self.parts <= MOST_PARTS
                    });
                    count.map(Rc::new)
                }
            };
            self.known.insert(next, count);
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

    /// The operand that an integer does not differ from: what does not wrap around, times 1, and with 0 added.
    fn same_operand(&self, store: &Store, term: TermId) -> Option<TermId> {
        let View::Apply(op, [a, b, _]) = store.view(term) else { return None };
        let is = |operand: TermId, number: i128| {
            self.operand(operand).and_then(Count::as_number).is_some_and(|own| own == number)
        };
        match op.kind() {
            Kind::Sum(Sum::Add) if is(a, 0) => Some(b),
            Kind::Sum(Sum::Add | Sum::Sub) if is(b, 0) => Some(a),
            Kind::Product(Product::Mul) if is(a, 1) => Some(b),
            Kind::Product(Product::Mul) if is(b, 1) => Some(a),
            Kind::Piecewise(super::Piecewise::Mod) if self.is_within(store, a, b) => Some(a),
            Kind::Sum(_)
            | Kind::Product(_)
            | Kind::Exponential
            | Kind::Function(_)
            | Kind::Piecewise(_)
            | Kind::Condition(_)
            | Kind::Ieee => None,
        }
    }

    /// Whether a number of conditions is less than what it is taken modulo.
    fn is_within(&self, store: &Store, number: TermId, modulus: TermId) -> bool {
        let modulus = self.operand(modulus).and_then(Count::as_number);
        let Some((count, modulus)) = self.operand(number).zip(modulus) else { return false };
        let lies_in = || Some(count.least()? >= 0 && count.most()? < modulus);
        count.is_of_conditions(store) && lies_in() == Some(true)
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
                // What does not wrap around is its operand.
                self.operand(a).zip(self.operand(b)).map(|_| Count::unknown(term))
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
    use proptest::prelude::*;
    use std::collections::BTreeMap;

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

    /// Parts by themselves, each with its factor: a slow count.
    type Slow = BTreeMap<Vec<u64>, i128>;

    fn slow(of: &Count) -> Slow {
        let parts = of.parts().map(|(part, factor)| (part.iter().map(|term| term.raw()).collect(), factor));
        let constant = (of.constant != 0).then_some((Vec::new(), of.constant));
        parts.chain(constant).collect()
    }

    fn slow_sum(terms: impl Iterator<Item = (Vec<u64>, i128)>) -> Slow {
        let mut sum = Slow::new();
        for (part, factor) in terms {
            *sum.entry(part).or_default() += factor;
        }
        sum.retain(|_, factor| *factor != 0);
        sum
    }

    fn some_count() -> impl Strategy<Value = Count> {
        let part = prop::collection::btree_set(0u64..4, 0..3);
        prop::collection::vec((part, -2i128..3), 0..6).prop_map(|all| {
            let mut count = Count::default();
            for (part, factor) in all {
                let part = part.into_iter().map(|at| TermId::input(InputId(0), at)).collect();
                count.add(part, factor).expect("it is small");
            }
            count
        })
    }

    proptest! {
        #[test]
        fn lists_of_parts_are_sums_of_them(a in some_count(), b in some_count(), by in -2i128..3, known in 0u64..4) {
            let is_in_order = |of: &Count| {
                let are_sorted = of.parts.is_sorted_by(|(one, _), (other, _)| one < other);
                are_sorted && of.parts.iter().all(|(_, factor)| *factor != 0)
            };
            let sum = a.plus(&b, by).expect("it is small");
            let right = slow(&b).into_iter().map(|(part, factor)| (part, factor * by));
            prop_assert_eq!(slow(&sum), slow_sum(slow(&a).into_iter().chain(right)));
            let product = a.times(&b).expect("it is small");
            let pairs = slow(&a).into_iter().flat_map(|(part, factor)| {
                slow(&b).into_iter().map(move |(other, by)| {
                    let both: std::collections::BTreeSet<u64> = part.iter().copied().chain(other).collect();
                    (both.into_iter().collect(), factor * by)
                })
            });
            prop_assert_eq!(slow(&product), slow_sum(pairs));
            let known = TermId::input(InputId(0), known);
            for holds in [false, true] {
                let under = a.under(|term| (term == known).then_some(holds)).expect("it is small");
                let kept = slow(&a).into_iter().filter(|(part, _)| holds || !part.contains(&known.raw()));
                let kept = kept.map(|(part, factor)| {
                    (part.into_iter().filter(|term| *term != known.raw()).collect(), factor)
                });
                prop_assert_eq!(slow(&under), slow_sum(kept));
                prop_assert!(is_in_order(&under));
            }
            prop_assert!(is_in_order(&a) && is_in_order(&sum) && is_in_order(&product));
            prop_assert_eq!(a.over(2).map(|half| half.plus(&half, 1)), a.over(2).map(|_| Some(a.clone())));
        }
    }
}
