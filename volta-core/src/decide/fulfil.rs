//! Searches for inputs that fulfil a condition, one literal after the other: from some point, the elements that decide a
//! literal that does not hold get other values, one at a time, where most of the literals hold then. Literals that fail
//! for long weigh more.
//!
//! What is found is a guess, which is evaluated like any other point.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

use super::InputInfo;
use super::evaluate::{Evaluator, Leaves, leaves};
use super::point::{admitted, mix};
use crate::base::budget::Deadline;
use crate::number::Rational;
use crate::number::interval::Narrow;
use crate::number::value::Value;
use crate::term::{InputId, Integers, Store, TermId, TermKind, TermOp, View};

/// Conditions of more literals are not searched.
const MOST_LITERALS: usize = 256;
/// Integers of more values get those near the numbers of the condition only.
const MOST_VALUES: i128 = 64;
/// So many of the numbers of a condition are tried as values.
const MOST_NUMBERS: usize = 32;
/// So many elements are changed in turn for one literal.
const MOST_ELEMENTS: usize = 24;
/// So many changes are made from one point.
const MOST_STEPS: u64 = 200;
/// Cached terms of one evaluation.
const REMEMBERED: usize = 1 << 20;

/// Values of input elements.
pub(super) type Values = BTreeMap<(InputId, u64), Rational>;

/// New values of some elements.
type Change = Vec<((InputId, u64), Rational)>;

/// A condition, and whether it is to hold.
type Literal = (TermId, bool);

/// A search among the values of some elements.
struct Fulfilment<'s> {
    store: &'s Store,
    inputs: &'s [InputInfo],
    literals: Vec<Literal>,
    /// The literals that read an element.
    reading: FxHashMap<(InputId, u64), Vec<usize>>,
    numbers: Vec<Rational>,
    weights: Vec<u64>,
    values: Values,
    fails: Vec<bool>,
    left: u64,
}

/// The conditions that hold where one does, or all of its negations.
fn literals(store: &Store, condition: TermId) -> Option<Vec<Literal>> {
    let (mut found, mut work) = (Vec::new(), vec![(condition, true)]);
    while let Some((term, holds)) = work.pop() {
        match (store.view(term), holds) {
            (View::Apply(TermOp::Not, [of, ..]), _) => work.push((of, !holds)),
            (View::Apply(TermOp::And, [one, other, _]), true)
            | (View::Apply(TermOp::Or, [one, other, _]), false) => {
                work.extend([(other, holds), (one, holds)])
            }
            (View::Apply(..) | View::Constant(_) | View::Input { .. }, _)
                if !found.contains(&(term, holds)) =>
            {
                found.push((term, holds));
            }
            (View::Apply(..) | View::Constant(_) | View::Input { .. }, _) => {}
        }
        if found.len() > MOST_LITERALS {
            return None;
        }
    }
    Some(found)
}

/// Values of elements for which a condition seems to hold, beginning with given ones; takes at most so many evaluations
/// of terms.
pub(super) fn fulfilling(
    (store, condition): (&Store, TermId),
    inputs: &[InputInfo],
    begin: impl Fn(InputId, u64) -> Rational,
    (evaluations, deadline): (u64, &Deadline),
) -> Option<Values> {
    let literals = literals(store, condition)?;
    let Leaves { inputs: elements, numbers } = leaves([(store, condition); 2], REMEMBERED)?;
    let mut reading: FxHashMap<(InputId, u64), Vec<usize>> = FxHashMap::default();
    for (at, (literal, _)) in literals.iter().enumerate() {
        for element in leaves([(store, *literal); 2], REMEMBERED)?.inputs {
            reading.entry(element).or_default().push(at);
        }
    }
    let values: Values = elements.into_iter().map(|element| (element, begin(element.0, element.1))).collect();
    let weights = vec![1; literals.len()];
    let (fails, left) = (Vec::new(), evaluations);
    let mut search = Fulfilment { store, inputs, literals, reading, numbers, weights, values, fails, left };
    let all: Vec<usize> = (0..search.literals.len()).collect();
    search.fails = search.failing(&all, None)?;
    for step in 0..MOST_STEPS {
        if !search.fails.contains(&true) {
            return Some(search.values);
        }
        if deadline.is_over() {
            return None;
        }
        search.improve(step)?;
    }
    None
}

impl Fulfilment<'_> {
    /// Which of some literals do not hold, if elements have other values. `None` when the budget is exhausted.
    fn failing(
        &mut self,
        which: &[usize],
        changed: Option<&[((InputId, u64), Rational)]>,
    ) -> Option<Vec<bool>> {
        let values = &self.values;
        let at = |input: InputId, element: u64| {
            let other = changed.and_then(|all| all.iter().find(|(of, _)| *of == (input, element)));
            match other {
                Some((_, value)) => value.clone(),
                None => values.get(&(input, element)).cloned().unwrap_or_default(),
            }
        };
        let mut evaluator = Evaluator::<Narrow, _>::new(self.store, at, 53, REMEMBERED);
        let terms: Vec<TermId> = which.iter().map(|at| self.literals[*at].0).collect();
        let found = evaluator.evaluate_all(&terms);
        self.left = self.left.checked_sub(evaluator.work().max(1))?;
        let fails = found.iter().zip(which).map(|(value, at)| match value {
            Value::True => !self.literals[*at].1,
            Value::False => self.literals[*at].1,
            Value::Finite(_)
            | Value::PosInf
            | Value::NegInf
            | Value::Either
            | Value::Undefined
            | Value::Unresolved => true,
        });
        Some(fails.collect())
    }

    /// Makes the change after which literals of the least weight fail.
    fn improve(&mut self, step: u64) -> Option<()> {
        let failing: Vec<usize> = (0..self.fails.len()).filter(|at| self.fails[*at]).collect();
        // Later conditions depend on what earlier ones decide.
        let at = failing[if step % 4 == 3 { mix(step) as usize % failing.len() } else { 0 }];
        let mut best: Option<(u64, u64, Change)> = None;
        let before = self.weight_of(&failing);
        for element in self.deciding(self.literals[at].0)? {
            let reading = self.reading.get(&element).cloned().unwrap_or_default();
            let own: u64 = reading.iter().filter(|at| self.fails[**at]).map(|at| self.weights[*at]).sum();
            for value in self.other_values(element) {
                let change = self.change(element, value);
                let mut touched = reading.clone();
                for (other, _) in &change[1..] {
                    touched.extend(self.reading.get(other).into_iter().flatten());
                }
                touched.sort_unstable();
                touched.dedup();
                let own = if change.len() == 1 {
                    own
                } else {
                    touched.iter().filter(|at| self.fails[**at]).map(|at| self.weights[*at]).sum()
                };
                let fails = self.failing(&touched, Some(&change))?;
                let after: u64 = touched
                    .iter()
                    .zip(&fails)
                    .filter(|(_, fails)| **fails)
                    .map(|(at, _)| self.weights[*at])
                    .sum();
                let weight = before - own + after;
                let salt = mix(mix(step) ^ element.1 ^ u64::from(element.0.0) << 32 ^ after << 16);
                if best.as_ref().is_none_or(|(least, other, _)| (weight, salt) < (*least, *other)) {
                    best = Some((weight, salt, change));
                }
            }
        }
        if best.as_ref().is_none_or(|(weight, ..)| *weight >= before) {
            for at in failing {
                self.weights[at] += 1;
            }
        }
        if let Some((.., change)) = best {
            self.values.extend(change);
            let all: Vec<usize> = (0..self.literals.len()).collect();
            self.fails = self.failing(&all, None)?;
        }
        Some(())
    }

    fn weight_of(&self, literals: &[usize]) -> u64 {
        literals.iter().map(|at| self.weights[*at]).sum()
    }

    /// The elements that decide a literal at these values: of a choice, those of its condition and of the arm that it
    /// takes.
    fn deciding(&mut self, literal: TermId) -> Option<Vec<(InputId, u64)>> {
        let values = &self.values;
        let at = |input: InputId, element: u64| values.get(&(input, element)).cloned().unwrap_or_default();
        let mut evaluator = Evaluator::<Narrow, _>::new(self.store, at, 53, REMEMBERED);
        let (mut seen, mut work, mut found) = (FxHashSet::default(), vec![literal], Vec::new());
        while let Some(term) = work.pop() {
            if !seen.insert(term) {
                continue;
            }
            if let TermKind::Input { input, element } = term.kind() {
                found.push((input, element));
                if found.len() >= MOST_ELEMENTS {
                    break;
                }
            }
            let View::Apply(op, operands) = self.store.view(term) else { continue };
            if op == TermOp::Select {
                match evaluator.evaluate(operands[0]) {
                    Value::True => work.push(operands[1]),
                    Value::False => work.push(operands[2]),
                    Value::Finite(_)
                    | Value::PosInf
                    | Value::NegInf
                    | Value::Either
                    | Value::Undefined
                    | Value::Unresolved => work.extend(&operands[1..]),
                }
                work.push(operands[0]);
            } else {
                work.extend(&operands[..op.arity()]);
            }
        }
        self.left = self.left.checked_sub(evaluator.work())?;
        Some(found)
    }

    /// The values that an element may get.
    fn other_values(&self, element: (InputId, u64)) -> Vec<Rational> {
        let Some(info) = self.inputs.get(element.0.index()) else { return Vec::new() };
        let now = self.values.get(&element);
        if let Some(Integers { least, greatest }) = info.integers
            && greatest - least < MOST_VALUES
        {
            let all = (least..=greatest).map(Rational::from_i128);
            return all
                .filter(|value| Some(value) != now && admitted(value, info).as_ref() == Some(value))
                .collect();
        }
        let near = |value: &Rational| [value.clone(), value + &Rational::ONE, value - &Rational::ONE];
        let others = self.values.iter().filter(|((input, _), _)| *input == element.0).map(|(_, value)| value);
        let mut wanted: Vec<Rational> = self.numbers.iter().take(MOST_NUMBERS).flat_map(near).collect();
        wanted.extend(others.take(MOST_NUMBERS).flat_map(near));
        let mut all: Vec<Rational> = wanted.iter().filter_map(|value| admitted(value, info)).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|value| Some(value) != now);
        all
    }

    /// A new value of an element; where elements are distinct, another one that has it gets the old one.
    fn change(&self, element: (InputId, u64), value: Rational) -> Change {
        let is_distinct = self.inputs.get(element.0.index()).is_some_and(|info| info.distinct);
        let other = self
            .values
            .iter()
            .find(|(of, held)| is_distinct && of.0 == element.0 && **of != element && **held == value);
        let swapped = other.map(|(of, _)| (*of, self.values.get(&element).cloned().unwrap_or_default()));
        std::iter::once((element, value)).chain(swapped).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::InstId;
    use crate::case::Sign;
    use crate::number::format::Formats;

    const NOWHERE: InstId = InstId(0);

    fn info(least: i128, greatest: i128, distinct: bool) -> InputInfo {
        InputInfo {
            name: "x".into(),
            shape: vec![8],
            sign: Sign::Any,
            integers: Some(Integers { least, greatest }),
            distinct,
            formats: Formats::default(),
        }
    }

    fn element(at: u64) -> TermId {
        TermId::input(InputId(0), at)
    }

    /// Each of some conditions, all together, from all elements of 0.
    fn found(inputs: &[InputInfo], make: impl Fn(&mut Store) -> Vec<TermId>) -> Option<Values> {
        let mut store = Store::new();
        let all = make(&mut store);
        let all = all.into_iter().reduce(|one, next| store.apply(TermOp::And, &[one, next], NOWHERE))?;
        store.close();
        let deadline = Deadline::default();
        fulfilling((&store, all), inputs, |_, at| Rational::from_integer(at as i64), (1_000_000, &deadline))
    }

    fn number(store: &mut Store, value: i64) -> TermId {
        crate::value::int_terms::whole(store, value.into())
    }

    #[test]
    fn elements_are_set_one_after_the_other() {
        let values = found(&[info(0, 16, false)], |store| {
            let less =
                |store: &mut Store, a, b| store.apply(TermOp::Less, &[element(a), element(b)], NOWHERE);
            let (three, nine) = (number(store, 3), number(store, 9));
            let chosen = store.apply(TermOp::Equal, &[element(0), three], NOWHERE);
            let picked = store.apply(TermOp::Select, &[chosen, element(4), element(5)], NOWHERE);
            let is_nine = store.apply(TermOp::Equal, &[picked, nine], NOWHERE);
            vec![less(store, 2, 1), less(store, 1, 0), chosen, is_nine]
        });
        let values = values.expect("there are such values");
        let value = |at| values[&(InputId(0), at)].clone();
        assert_eq!([value(0), value(4)], [3, 9].map(Rational::from_integer));
        assert!(value(2) < value(1) && value(1) < value(0));
    }

    #[test]
    fn distinct_elements_exchange_values() {
        let values = found(&[info(0, 1, true)], |store| {
            let one = number(store, 1);
            let is_less = store.apply(TermOp::Less, &[element(1), element(0)], NOWHERE);
            vec![store.apply(TermOp::Equal, &[element(0), one], NOWHERE), is_less]
        });
        let values = values.expect("there are such values");
        assert_eq!(values[&(InputId(0), 1)], Rational::ZERO);
    }

    #[test]
    fn what_cannot_be_fulfilled_is_given_up() {
        let found = found(&[info(0, 3, false)], |store| {
            let [one, two] = [1, 2].map(|value| number(store, value));
            [one, two].map(|value| store.apply(TermOp::Equal, &[element(0), value], NOWHERE)).to_vec()
        });
        assert_eq!(found, None);
    }
}
