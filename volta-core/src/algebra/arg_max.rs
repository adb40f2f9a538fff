//! The payload of the largest of several, as a search for the place of the largest element computes it.
//!
//! A loop, a tree and lanes that exchange values all merge two candidates `(a, i)` and `(b, j)`: the larger of `a` and
//! `b`, and its payload; of equal ones the first, or the one with the smaller payload. What comes out is the payload of
//! the *first largest* of a list of keys: of all keys that are largest, the one that comes first. Two lists merge to one
//!
//! - by appending, where of equal candidates always the same side is taken, and
//! - by the order of their payloads, where the smaller (or greater) payload decides, and both lists are in that order.
//!
//! The list is the form of such a payload, and a maximum that of the value beside it; a list of two is a choice. Where
//! forms are shown, a short list is the running search `k₂ > max(k₀, k₁) ? p₂ : (k₁ > k₀ ? p₁ : p₀)`. Minima are maxima of
//! negated keys.

use super::Stop;
use super::atom::Atom;
use super::condition::{Condition, ConditionId};
use super::id::{AtomId, TermRef};
use super::polynomial::{Key, PolynomialId, Term, add, as_number, negated, number};
use super::prover::Prover;
use super::table::Table;
use crate::number::Rational;
use crate::number::signs::Signs;
use crate::term::{Kind, Piecewise, Predicate, TermId, TermOp, View};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::rc::Rc;

/// Lists of more keys are not merged: a loop makes one for each of its iterations.
const MAX_KEYS: usize = 8_192;
/// Longer lists are not shown as choices, and not made shorter within a case.
const MAX_SHOWN: usize = 32;
/// Comparisons of a condition that are tried as the one between the keys.
const MAX_COMPARED: usize = 4;
/// Conditions are followed to this depth.
const MAX_DEPTH: u32 = 16;
/// Choices within what a condition compares are followed to this depth.
const MAX_NESTED: u32 = 3;

/// Keys with their payloads. It stands for the payload of the first key that is largest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FirstLargest {
    keys: Rc<[PolynomialId]>,
    payloads: Rc<[PolynomialId]>,
}

/// What is assumed of the operands of a comparison.
struct Assumed {
    /// Two values, and the sign of the second minus the first.
    keys: ([PolynomialId; 2], Signs),
    /// The payloads of the lower and of the higher value, and the sign of their difference.
    payloads: Option<([PolynomialId; 2], Signs)>,
    /// What terms are then.
    values: FxHashMap<TermRef, PolynomialId>,
}

impl Assumed {
    /// The signs of `b − a`, as far as they are assumed.
    fn signs(&self, a: PolynomialId, b: PolynomialId) -> Option<Signs> {
        let of = |([low, high], signs): ([PolynomialId; 2], Signs)| {
            if [a, b] == [low, high] {
                Some(signs)
            } else if [b, a] == [low, high] {
                Some(-signs)
            } else {
                None
            }
        };
        of(self.keys).or_else(|| self.payloads.and_then(of))
    }
}

/// The results of a choice for each order of two values.
struct ByOrder {
    /// Where the first value is greater, and where the second one is.
    greater: [PolynomialId; 2],
    /// Where they are equal: the payload of the second is smaller, equal, greater than that of the first.
    equal: [PolynomialId; 3],
}

/// Which candidate is taken where two are equal.
#[derive(Clone, Copy)]
enum Tie {
    First,
    Second,
    SmallerPayload,
    GreaterPayload,
}

impl Prover<'_> {
    /// A choice between the candidates of such a search by one comparison: the larger value, or its payload. `None` if
    /// it is none.
    pub(super) fn choice_of_candidate(
        &mut self,
        condition: TermRef,
        arms: [TermRef; 2],
        values: [&[Term]; 2],
    ) -> Result<Option<Vec<Term>>, Stop> {
        // A choice between two numbers has a form of its own, which is read again by `list_of`.
        if values.iter().all(|value| as_number(value).is_some()) || !self.are_payloads(values) {
            return Ok(None);
        }
        self.candidate(&[condition], arms, true)
    }

    /// The same by several comparisons, before anything is known of the arms: a branch that leads to one arm in two
    /// ways makes choices of which the inner one alone is no candidate, and has a large form.
    pub(super) fn choice_by_comparisons(
        &mut self,
        at: TermRef,
        condition: &ConditionId,
        arms: [TermRef; 2],
    ) -> Result<Option<Vec<Term>>, Stop> {
        let nested = self.terms.conditions_to_same_arm(arms);
        if nested.is_empty() && matches!(self.table.conditions.get(condition), Condition::Positive(_)) {
            return Ok(None);
        }
        let conditions: SmallVec<[TermRef; 4]> = [at].into_iter().chain(nested).collect();
        self.candidate(&conditions, arms, false)
    }

    fn candidate(
        &mut self,
        conditions: &[TermRef],
        arms: [TermRef; 2],
        is_plain: bool,
    ) -> Result<Option<Vec<Term>>, Stop> {
        match self.merged_candidates(conditions, arms, is_plain) {
            // What is not defined in one order may still be defined as a whole.
            Err(Stop::Undefined(_) | Stop::Unknown(_)) => Ok(None),
            found => found,
        }
    }

    fn merged_candidates(
        &mut self,
        conditions: &[TermRef],
        arms: [TermRef; 2],
        is_plain: bool,
    ) -> Result<Option<Vec<Term>>, Stop> {
        let Some(condition) = conditions.first().copied() else { return Ok(None) };
        for (pair, tests_equality) in self.compared_in(conditions, is_plain) {
            // Without a test whether they are equal, no payload decides between equal candidates.
            if !is_plain && !tests_equality {
                continue;
            }
            let mut values = Vec::with_capacity(2);
            for at in pair {
                if self.defined_class(at)?.is_infinite() {
                    break;
                }
                values.push(self.argument(at)?);
            }
            let [low, high] = &values[..] else { continue };
            let keys = [low, high].map(|value| self.table.polynomial(value));
            if keys[0] == keys[1] {
                continue;
            }
            let Some(results) = self.results_by_order(condition, arms, keys)? else { continue };
            if !is_plain && let Some(value) = self.extremum_by_order(&results, [low, high])? {
                return Ok(Some(value));
            }
            let opposite = [negated(low), negated(high)];
            let [of_low, of_high] = results.greater;
            // Where the second value is greater, its payload is chosen; or that of the smaller one.
            for (keys, payloads) in
                [([low, high], [of_low, of_high]), ([&opposite[0], &opposite[1]], [of_high, of_low])]
            {
                if let Some(list) = self.merged_lists(&results, keys, payloads)?
                    // A choice by one comparison is its own form.
                    && (list.keys.len() > 2 || !is_plain)
                {
                    return self.form_of_first_largest(list).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// The operands of the comparisons in conditions, and whether they are compared by more than one order: for
    /// equality, or twice. What is compared with a number in one of several comparisons is no key.
    fn compared_in(&self, conditions: &[TermRef], is_plain: bool) -> Vec<([TermRef; 2], bool)> {
        let mut found: Vec<([TermRef; 2], bool)> = Vec::new();
        let mut open: Vec<(TermRef, u32)> = conditions.iter().rev().map(|at| (*at, 0)).collect();
        while let Some((at, depth)) = open.pop() {
            let View::Apply(op, operands) = self.terms.view(at) else { continue };
            let [a, b, c] = operands.map(|term| TermRef { store: at.store, term });
            let is_deep = depth >= MAX_DEPTH;
            match op.kind() {
                Kind::Condition(Predicate::Less | Predicate::LessEqual | Predicate::Equal) => {
                    let pair = [a, b];
                    if !is_plain && pair.iter().any(|at| matches!(self.terms.view(*at), View::Constant(_))) {
                        continue;
                    }
                    let same = |(other, _): &&mut ([TermRef; 2], bool)| {
                        *other == pair || *other == [pair[1], pair[0]]
                    };
                    match found.iter_mut().find(same) {
                        Some((_, tests_equality)) => *tests_equality = true,
                        None => found.push((pair, op == TermOp::Equal)),
                    }
                }
                Kind::Condition(Predicate::Not) if !is_deep => open.push((a, depth + 1)),
                Kind::Condition(Predicate::And | Predicate::Or | Predicate::Xor) if !is_deep => {
                    open.extend([b, a].map(|term| (term, depth + 1)));
                }
                Kind::Piecewise(Piecewise::Select) if !is_deep => {
                    open.extend([c, b, a].map(|term| (term, depth + 1)));
                }
                Kind::Condition(_)
                | Kind::Piecewise(_)
                | Kind::Function(_)
                | Kind::Sum(_)
                | Kind::Product(_)
                | Kind::Exponential
                | Kind::Ieee => {}
            }
            if found.len() >= MAX_COMPARED {
                break;
            }
        }
        found
    }

    /// What a choice gives in each order of two values; `None` if that depends on more.
    fn results_by_order(
        &mut self,
        condition: TermRef,
        arms: [TermRef; 2],
        keys: [PolynomialId; 2],
    ) -> Result<Option<ByOrder>, Stop> {
        let result = |prover: &mut Self, signs: Signs, payloads| -> Result<Option<PolynomialId>, Stop> {
            let mut assumed = Assumed { keys: (keys, signs), payloads, values: FxHashMap::default() };
            prover.chosen_assuming(condition, arms, &mut assumed, 0)
        };
        let Some(low) = result(self, Signs::NEGATIVE, None)? else { return Ok(None) };
        let Some(high) = result(self, Signs::POSITIVE, None)? else { return Ok(None) };
        if low == high {
            return Ok(None);
        }
        let mut equal = [PolynomialId::ZERO; 3];
        for (at, signs) in [Signs::NEGATIVE, Signs::ZERO, Signs::POSITIVE].into_iter().enumerate() {
            let Some(found) = result(self, Signs::ZERO, Some(([low, high], signs)))? else { return Ok(None) };
            equal[at] = found;
        }
        Ok(Some(ByOrder { greater: [low, high], equal }))
    }

    /// Whether a condition holds, if the assumptions tell.
    fn truth_assuming(
        &mut self,
        at: TermRef,
        assumed: &mut Assumed,
        (depth, nested): (u32, u32),
    ) -> Result<Option<bool>, Stop> {
        self.charge(1)?;
        let View::Apply(op, operands) = self.terms.view(at) else { return Ok(None) };
        if depth > MAX_DEPTH {
            return Ok(None);
        }
        let Kind::Condition(predicate) = op.kind() else { return Ok(None) };
        let [a, b, _] = operands.map(|term: TermId| TermRef { store: at.store, term });
        let wanted = match predicate {
            Predicate::Less => Signs::POSITIVE,
            Predicate::LessEqual => Signs::NOT_NEGATIVE,
            Predicate::Equal => Signs::ZERO,
            Predicate::Not => {
                return Ok(self.truth_assuming(a, assumed, (depth + 1, nested))?.map(|holds| !holds));
            }
            Predicate::And | Predicate::Or | Predicate::Xor => {
                let first = self.truth_assuming(a, assumed, (depth + 1, nested))?;
                // The value that decides alone.
                let decisive = *predicate == Predicate::Or;
                if *predicate != Predicate::Xor && first == Some(decisive) {
                    return Ok(first);
                }
                let second = self.truth_assuming(b, assumed, (depth + 1, nested))?;
                return Ok(if *predicate == Predicate::Xor {
                    first.zip(second).map(|(a, b)| a != b)
                } else if second == Some(decisive) {
                    second
                } else {
                    first.and(second)
                });
            }
        };
        let (left, right) = (self.defined_class(a)?, self.defined_class(b)?);
        if left.is_infinite() || right.is_infinite() {
            return Ok(if wanted == Signs::ZERO {
                left.is_equal(&right)
            } else if wanted == Signs::POSITIVE {
                left.is_less(&right)
            } else {
                right.is_less(&left).map(|less| !less)
            });
        }
        let signs = self.signs_assuming([a, b], assumed, nested)?;
        Ok(if signs.within(wanted) {
            Some(true)
        } else if signs.within(!wanted) {
            Some(false)
        } else {
            None
        })
    }

    /// The signs of the difference of two finite terms, the second minus the first.
    fn signs_assuming(
        &mut self,
        [a, b]: [TermRef; 2],
        assumed: &mut Assumed,
        nested: u32,
    ) -> Result<Signs, Stop> {
        // What is compared is mostly one of the pairs itself.
        let mut whole = [PolynomialId::ZERO; 2];
        for (value, at) in whole.iter_mut().zip([a, b]) {
            let terms = self.argument(at)?;
            *value = self.table.polynomial(&terms);
        }
        if let Some(signs) = assumed.signs(whole[0], whole[1]) {
            return Ok(signs);
        }
        let a = self.value_assuming(a, assumed, nested)?;
        let b = self.value_assuming(b, assumed, nested)?;
        if let Some(signs) = assumed.signs(a, b) {
            return Ok(signs);
        }
        let gap = self.table.gap(a, b);
        Ok(self.signs_of(&gap))
    }

    /// The value of a term, with choices made that the assumptions decide, or that make no difference.
    fn value_assuming(
        &mut self,
        at: TermRef,
        assumed: &mut Assumed,
        nested: u32,
    ) -> Result<PolynomialId, Stop> {
        if let Some(known) = assumed.values.get(&at) {
            return Ok(*known);
        }
        let mut value = None;
        if nested < MAX_NESTED
            && let View::Apply(TermOp::Select, operands) = self.terms.view(at)
        {
            let [condition, a, b] = operands.map(|term: TermId| TermRef { store: at.store, term });
            value = self.chosen_assuming(condition, [a, b], assumed, nested + 1)?;
        }
        let value = match value {
            Some(value) => value,
            None => {
                let value = self.argument(at)?;
                self.table.polynomial(&value)
            }
        };
        let ([low, high], signs) = assumed.keys;
        let value = if signs == Signs::ZERO && value == high { low } else { value };
        assumed.values.insert(at, value);
        Ok(value)
    }

    /// The value of a choice that the assumptions decide, or that makes no difference under them.
    fn chosen_assuming(
        &mut self,
        condition: TermRef,
        [when_true, when_false]: [TermRef; 2],
        assumed: &mut Assumed,
        nested: u32,
    ) -> Result<Option<PolynomialId>, Stop> {
        if let Some(holds) = self.truth_assuming(condition, assumed, (0, nested))? {
            let arm = if holds { when_true } else { when_false };
            return self.value_assuming(arm, assumed, nested).map(Some);
        }
        if assumed.keys.1 != Signs::ZERO {
            return Ok(None);
        }
        let value = self.value_assuming(when_true, assumed, nested)?;
        Ok((value == self.value_assuming(when_false, assumed, nested)?).then_some(value))
    }

    /// The maximum or minimum of two values, if a choice is that.
    fn extremum_by_order(
        &mut self,
        results: &ByOrder,
        values: [&Vec<Term>; 2],
    ) -> Result<Option<Vec<Term>>, Stop> {
        let [low, high] = values.map(|value| self.table.polynomial(value));
        let opposites = values.map(|value| negated(value));
        let largest = self.maximum(values.map(Clone::clone).into())?;
        let smallest = negated(&self.maximum(opposites.into())?);
        for (extremum, of_greater) in [(largest, [low, high]), (smallest, [high, low])] {
            let id = self.table.polynomial(&extremum);
            let is_extremum =
                results.greater.iter().zip(of_greater).all(|(own, other)| [other, id].contains(own))
                    && results.equal.iter().all(|own| [low, high, id].contains(own));
            if is_extremum {
                return Ok(Some(extremum));
            }
        }
        Ok(None)
    }

    /// The list of a choice of payloads beside keys: `payloads[i]` is chosen where `keys[i]` is greater.
    fn merged_lists(
        &mut self,
        results: &ByOrder,
        keys: [&Vec<Term>; 2],
        payloads: [PolynomialId; 2],
    ) -> Result<Option<FirstLargest>, Stop> {
        let [of_low, of_high] = results.greater;
        let Some(tie) = tie_of(results) else { return Ok(None) };
        let mut lists = Vec::with_capacity(2);
        for (keys, payload) in keys.into_iter().zip(payloads) {
            let keys = self.keys_of(keys)?;
            let Some(list) = self.list_of(payload, keys) else { return Ok(None) };
            lists.push(list);
        }
        let [first, second] = &lists[..] else { return Ok(None) };
        if first.keys.len() + second.keys.len() > MAX_KEYS {
            return Ok(None);
        }
        self.charge((first.keys.len() + second.keys.len()) as u64)?;
        let is_turned = payloads != [of_low, of_high];
        let merged = match (tie, is_turned) {
            (Tie::First, false) | (Tie::Second, true) => first.followed_by(second),
            (Tie::Second, false) | (Tie::First, true) => second.followed_by(first),
            (Tie::SmallerPayload, _) => match self.table.by_payload([first, second], Ordering::Less) {
                Some(merged) => merged,
                None => return Ok(None),
            },
            (Tie::GreaterPayload, _) => match self.table.by_payload([first, second], Ordering::Greater) {
                Some(merged) => merged,
                None => return Ok(None),
            },
        };
        Ok(Some(merged))
    }

    /// The arms of a maximum, or the value itself.
    fn keys_of(&mut self, value: &[Term]) -> Result<Vec<PolynomialId>, Stop> {
        if let [term] = value
            && let Some(atom) = self.table.plain_atom(term)
            && let Some(arms) = self.table.atom(atom).arms()
            && arms.len() <= MAX_KEYS
            && arms.iter().all(|arm| self.table.is_plain(*arm))
        {
            // Sorted, as the arms of every maximum.
            return Ok(arms.to_vec());
        }
        let mut keys = Vec::new();
        let mut open = vec![value.to_vec()];
        while let Some(arm) = open.pop() {
            self.charge(1)?;
            match self.split_maximum(&arm, keys.len() + open.len())? {
                Some(inner) if keys.len() + open.len() + inner.len() <= MAX_KEYS => open.extend(inner),
                _ => keys.push(self.table.polynomial(&arm)),
            }
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// The list of a payload, if it is one of these keys.
    fn list_of(&mut self, payload: PolynomialId, keys: Vec<PolynomialId>) -> Option<FirstLargest> {
        if keys.len() == 1 || as_number(self.table.polynomials.terms(payload)).is_some() {
            let payloads = vec![payload; keys.len()];
            return Some(FirstLargest { keys: keys.into(), payloads: payloads.into() });
        }
        if let Some(known) = self.forms.first_largest.get(&payload) {
            let mut own = known.keys.to_vec();
            own.sort_unstable();
            return (own == keys).then(|| known.clone());
        }
        let [first, second] = keys[..] else { return None };
        let (chosen, numbers) = self.table.choice_of_numbers(payload)?;
        [[first, second], [second, first]].into_iter().find_map(|[low, high]| {
            let gap = self.table.gap(low, high);
            let positive = self.table.positive(gap);
            let [when_high, when_low] = if positive == chosen {
                numbers.clone()
            } else if let Condition::Not(inner) = self.table.conditions.get(&positive)
                && *inner == chosen
            {
                [numbers[1].clone(), numbers[0].clone()]
            } else {
                return None;
            };
            let payloads = [when_low, when_high].map(|value| self.table.polynomial(&number(value)));
            Some(FirstLargest { keys: [low, high].into(), payloads: payloads.into() })
        })
    }

    /// Whether values can be payloads that were chosen before.
    fn are_payloads(&mut self, values: [&[Term]; 2]) -> bool {
        values.into_iter().all(|value| {
            as_number(value).is_some() || {
                let id = self.table.polynomial(value);
                self.forms.first_largest.contains_key(&id) || self.table.choice_of_numbers(id).is_some()
            }
        })
    }

    /// The form of a list.
    fn form_of_first_largest(&mut self, list: FirstLargest) -> Result<Vec<Term>, Stop> {
        let kept = self.without_smaller(&list);
        let first = kept.payloads[0];
        let form = if kept.payloads.iter().all(|payload| *payload == first) {
            self.table.polynomials.shared_terms(first).to_vec()
        } else if kept.keys.len() == 2 || !self.tactic.indicators && kept.keys.len() <= MAX_SHOWN {
            self.running_search(&kept)?
        } else {
            let keys = self.normalized_keys(&kept)?;
            let pairs = keys.into_iter().zip(kept.payloads.iter().copied());
            let pairs: Rc<[(PolynomialId, PolynomialId)]> = pairs.collect();
            self.table.atom_term(Atom::FirstLargest(pairs))
        };
        if list.keys.len() > 2 {
            let id = self.table.polynomial(&form);
            self.forms.listed_bytes += 2 * size_of_val(&*list.keys) as u64;
            self.forms.first_largest.insert(id, list);
        }
        Ok(form)
    }

    /// The keys without a part that all share, and without a positive factor: neither makes a difference.
    fn normalized_keys(&mut self, list: &FirstLargest) -> Result<Vec<PolynomialId>, Stop> {
        self.charge(list.keys.len() as u64)?;
        if list.keys.iter().all(|key| self.table.is_plain(*key)) {
            return Ok(list.keys.to_vec());
        }
        let keys = list.keys.iter().map(|key| self.table.polynomials.shared_terms(*key).to_vec());
        let keys: Vec<Vec<Term>> = keys.collect();
        let opposite = negated(&self.table.shared_part(&keys));
        let keys = keys.iter().map(|key| add(key, &opposite)).collect();
        let (_, keys) = self.take_positive_factor(keys)?;
        let mut normalized = Vec::with_capacity(keys.len());
        for key in keys {
            let key = self.plain(key)?;
            normalized.push(self.table.polynomial(&key));
        }
        Ok(normalized)
    }

    /// A list without keys that are never the first largest in the current case, as far as signs tell.
    fn without_smaller(&mut self, list: &FirstLargest) -> FirstLargest {
        if self.case.is_trivial() || list.keys.len() > MAX_SHOWN {
            return list.clone();
        }
        let mut covers = |at: usize, other: usize| {
            let gap = self.table.gap(list.keys[at], list.keys[other]);
            let enough = if other < at { Signs::NOT_NEGATIVE } else { Signs::POSITIVE };
            other != at && self.signs_of(&gap).within(enough)
        };
        let all = 0..list.keys.len();
        let kept: Vec<usize> =
            all.clone().filter(|at| !all.clone().any(|other| covers(*at, other))).collect();
        FirstLargest::of(kept.into_iter().map(|at| (list.keys[at], list.payloads[at])))
    }

    /// A list as the choices of a running search.
    fn running_search(&mut self, list: &FirstLargest) -> Result<Vec<Term>, Stop> {
        let terms = |prover: &Self, id| prover.table.polynomials.shared_terms(id).to_vec();
        let (mut largest, mut chosen) = (terms(self, list.keys[0]), terms(self, list.payloads[0]));
        for at in 1..list.keys.len() {
            let (key, payload) = (terms(self, list.keys[at]), terms(self, list.payloads[at]));
            let gap = add(&key, &negated(&largest));
            let signs = self.signs_of(&gap);
            if signs == Signs::POSITIVE {
                chosen = payload;
            } else if !signs.within(!Signs::POSITIVE) && chosen != payload {
                let condition = self.table.positive(gap);
                chosen = if at == 1 {
                    let are_numbers = as_number(&payload).is_some() && as_number(&chosen).is_some();
                    self.choice_between(condition, payload, chosen, are_numbers)?
                } else {
                    self.table.choice_atom(condition, &payload, &chosen)
                };
            }
            largest = self.maximum(vec![key, largest])?;
        }
        Ok(chosen)
    }
}

/// Which candidate a choice takes where two are equal.
fn tie_of(results: &ByOrder) -> Option<Tie> {
    let [first, second] = results.greater;
    // Payloads that are equal are the result, whichever is taken.
    let [second_smaller, _, second_greater] = results.equal;
    let is_either = results.equal[1] == first || results.equal[1] == second;
    match (second_smaller, second_greater) {
        _ if !is_either => None,
        (a, b) if a == first && b == first => Some(Tie::First),
        (a, b) if a == second && b == second => Some(Tie::Second),
        (a, b) if a == second && b == first => Some(Tie::SmallerPayload),
        (a, b) if a == first && b == second => Some(Tie::GreaterPayload),
        _ => None,
    }
}

impl FirstLargest {
    /// Keys in this order, each with its first payload only: the same key further behind is never chosen.
    fn of(pairs: impl Iterator<Item = (PolynomialId, PolynomialId)>) -> FirstLargest {
        let mut seen = FxHashSet::default();
        let (keys, payloads): (Vec<_>, Vec<_>) = pairs.filter(|(key, _)| seen.insert(*key)).unzip();
        FirstLargest { keys: keys.into(), payloads: payloads.into() }
    }

    fn pairs(&self) -> impl Iterator<Item = (PolynomialId, PolynomialId)> {
        self.keys.iter().copied().zip(self.payloads.iter().copied())
    }

    /// The list of both, where of equal candidates that of this one is taken.
    fn followed_by(&self, other: &FirstLargest) -> FirstLargest {
        FirstLargest::of(self.pairs().chain(other.pairs()))
    }
}

impl Table {
    /// Two lists merged by their payloads, smaller ones first (`Less`) or greater ones; `None` unless all payloads are
    /// numbers and both lists are in that order.
    fn by_payload(&self, lists: [&FirstLargest; 2], order: Ordering) -> Option<FirstLargest> {
        let mut all = Vec::new();
        for list in lists {
            let payload = |(key, payload)| Some((as_number(self.polynomials.terms(payload))?, key, payload));
            let own: Vec<(Rational, PolynomialId, PolynomialId)> =
                list.pairs().map(payload).collect::<Option<_>>()?;
            let is_ordered =
                own.windows(2).all(|pair| [order, Ordering::Equal].contains(&pair[0].0.cmp(&pair[1].0)));
            if !is_ordered {
                return None;
            }
            all.extend(own);
        }
        // Where payloads are equal, either is the result.
        all.sort_by(|a, b| if order == Ordering::Less { a.0.cmp(&b.0) } else { b.0.cmp(&a.0) });
        Some(FirstLargest::of(all.into_iter().map(|(_, key, payload)| (key, payload))))
    }

    /// The atom that a term is, if it is nothing else.
    fn plain_atom(&self, term: &Term) -> Option<AtomId> {
        if !term.coefficient.is_one() || term.exponent() != PolynomialId::ZERO {
            return None;
        }
        match *self.monomials.factors(term.monomial()) {
            [(atom, 1)] => Some(atom),
            _ => None,
        }
    }

    /// Whether a sum is one atom and no maximum: several different ones share nothing.
    fn is_plain(&self, sum: PolynomialId) -> bool {
        match self.polynomials.terms(sum) {
            [term] => self.plain_atom(term).is_some_and(|atom| self.atom(atom).arms().is_none()),
            _ => false,
        }
    }

    /// The condition and the two numbers of a choice between numbers.
    fn choice_of_numbers(&self, value: PolynomialId) -> Option<(ConditionId, [Rational; 2])> {
        let mut offset = Rational::ZERO;
        let mut choice = None;
        for term in self.polynomials.terms(value) {
            if term.key == Key::ONE {
                offset = term.coefficient.clone();
            } else if choice.is_some() || term.exponent() != PolynomialId::ZERO {
                return None;
            } else {
                let [(atom, 1)] = *self.monomials.factors(term.monomial()) else { return None };
                let Atom::Select(condition, a, b) = self.atom(atom) else { return None };
                let arms = [*a, *b].map(|arm| as_number(self.polynomials.terms(arm)));
                let [Some(a), Some(b)] = arms else { return None };
                choice = Some((condition.clone(), [&term.coefficient * &a, &term.coefficient * &b]));
            }
        }
        let (condition, numbers) = choice?;
        Some((condition, numbers.map(|number| &offset + &number)))
    }

    /// `b − a`
    fn gap(&self, a: PolynomialId, b: PolynomialId) -> Vec<Term> {
        add(self.polynomials.terms(b), &negated(self.polynomials.terms(a)))
    }
}
