//! Circuits of chains of sums, minima and maxima, which do not depend on the order of the steps.

use super::{Circuits, Meaning, Place, number_of, truth_of};
use crate::algebra::chains::{Chain, Joining};
use crate::algebra::id::TermRef;
use crate::circuit::Bit;
use crate::circuit::word::Word;
use crate::term::Range;
use std::collections::BTreeMap;
use std::rc::Rc;

/// At most so many gates are read to simplify the steps of chains and the arms of choices.
pub(super) const MAX_SIMPLIFIED: usize = 1 << 21;

/// A step of a chain.
struct Step {
    value: Word,
    /// When it is taken.
    taken: Bit,
    /// The first of the conditions under which it is.
    first: Bit,
    is_negated: bool,
}

impl Circuits<'_, '_> {
    /// The chain that a term is, if it is one.
    pub(super) fn chain_at(&mut self, term: TermRef) -> Option<Rc<Chain>> {
        if let Some(known) = self.chains.get(&term) {
            return known.clone();
        }
        let chain = self.prover.chain_of(term).map(Rc::new);
        self.chains.insert(term, chain.clone());
        chain
    }

    /// What a chain is; `None` where it is not read as one.
    pub(super) fn joined(&mut self, term: TermRef, chain: &Chain) -> Option<Meaning> {
        let meanings: Vec<Meaning> =
            chain.steps.iter().map(|step| self.known.get(&step.value).cloned()).collect::<Option<_>>()?;
        let are_numbers = meanings.iter().all(|meaning| matches!(number_of(meaning), Some((_, 1))));
        let is_quotient = |meaning: &Meaning| matches!(meaning, Meaning::Number(_, by) if *by != 1);
        if !are_numbers && (chain.joining == Joining::Sum || meanings.iter().any(is_quotient)) {
            return None;
        }
        let (mut steps, mut placed): (Vec<Step>, Option<Place>) =
            (Vec::with_capacity(chain.steps.len()), None);
        for (step, meaning) in chain.steps.iter().zip(meanings) {
            let mut conditions = Vec::with_capacity(step.conditions.len());
            for (condition, holds) in &step.conditions {
                let bit = truth_of(self.known.get(condition)?)?;
                conditions.push(if *holds { bit } else { !bit });
            }
            let first = conditions.first().copied().unwrap_or(Bit::YES);
            let mut value = if are_numbers {
                number_of(&meaning)?.0
            } else {
                let place = self.place(&(step.value, meaning))?;
                let before = placed.take().unwrap_or_else(|| place.clone());
                self.orders.unite([&before, &place])?;
                placed = Some(if before.order.is_some() { before } else { place.clone() });
                place.word
            };
            let taken = self.circuit.taken(conditions, &mut value, &mut self.simplified);
            steps.push(Step { value, taken, first, is_negated: step.is_negated });
        }
        match chain.joining {
            Joining::Sum => {
                let sum = self.sum_of(steps);
                Some(self.within_range(term, sum))
            }
            Joining::Least | Joining::Greatest => {
                let bound = if are_numbers { self.bound(chain, &steps) } else { None };
                let extremum = self.extremum_of(steps, bound, chain.joining == Joining::Least)?;
                Some(match placed {
                    Some(Place { order, .. }) => Meaning::Place(Place { word: extremum, order }),
                    None => self.within_range(term, extremum),
                })
            }
        }
    }

    /// A bound of an extremum that the steps give which are always taken: numbers beyond it change nothing.
    fn bound(&mut self, chain: &Chain, steps: &[Step]) -> Option<i128> {
        let always = steps.iter().zip(&chain.steps).filter(|(step, _)| step.taken == Bit::YES);
        let ranges: Vec<Range> =
            always.map(|(_, step)| self.prover.terms.range(step.value)).filter(|range| range.whole).collect();
        let ranges = ranges.into_iter();
        match chain.joining {
            Joining::Sum => None,
            Joining::Least => ranges.filter_map(|range| range.high).min(),
            Joining::Greatest => ranges.filter_map(|range| range.low).max(),
        }
    }

    /// The least or greatest of the steps that are taken.
    fn extremum_of(&mut self, steps: Vec<Step>, bound: Option<i128>, is_least: bool) -> Option<Word> {
        let is_beyond = |step: &Step| {
            let known = step.value.known().filter(|_| step.taken != Bit::YES);
            known.zip(bound).is_some_and(|(value, by)| if is_least { value >= by } else { value <= by })
        };
        let mut taken: BTreeMap<Vec<Bit>, (Word, Vec<Bit>)> = BTreeMap::new();
        for step in steps.into_iter().filter(|step| step.taken != Bit::NO && !is_beyond(step)) {
            let key = step.value.bits().to_vec();
            taken.entry(key).or_insert_with(|| (step.value, Vec::new())).1.push(step.taken);
        }
        let mut values = Vec::with_capacity(taken.len());
        for (word, own) in taken.into_values() {
            let left_out = self.circuit.all_in_order(own.into_iter().map(|bit| !bit).collect());
            let bits: Vec<Bit> = word.bits().iter().copied().chain([!left_out]).collect();
            values.push((bits, word, !left_out));
        }
        self.circuit.sort(&mut values, |(bits, ..)| bits);
        // Those that are always taken come first.
        values.sort_by_key(|(.., taken)| *taken != Bit::YES);
        let mut values = values.into_iter();
        let (_, mut extremum, _) = values.next().filter(|(.., taken)| *taken == Bit::YES)?;
        for (_, value, taken) in values {
            let pair = if is_least { [&value, &extremum] } else { [&extremum, &value] };
            let is_better = self.circuit.less(pair[0], pair[1]);
            let replaces = self.circuit.and(taken, is_better);
            extremum = self.circuit.chosen(replaces, &value, &extremum);
        }
        Some(extremum)
    }

    /// A sum of the steps that are taken: those with the same first condition, as in one loop, are summed first.
    fn sum_of(&mut self, mut steps: Vec<Step>) -> Word {
        let mut sums = [Vec::new(), Vec::new()];
        let zero = Word::number(0);
        self.circuit.sort(&mut steps, |step| std::slice::from_ref(&step.first));
        let mut loops: Vec<Vec<Step>> = Vec::new();
        for step in steps {
            match loops.last_mut() {
                Some(last)
                    if last.iter().take(1).all(|one| self.circuit.seem_equal(one.first, step.first)) =>
                {
                    last.push(step);
                }
                _ => loops.push(vec![step]),
            }
        }
        for steps in loops {
            let mut own = [Vec::new(), Vec::new()];
            for step in steps {
                let word = Word::bitwise(&step.value, &zero, |bit, _| self.circuit.and(bit, step.taken));
                own[usize::from(step.is_negated)].push(word);
            }
            for (own, sums) in own.into_iter().zip(&mut sums) {
                sums.extend(self.total(own));
            }
        }
        let [added, subtracted] = sums.map(|words| self.total(words).unwrap_or_else(|| zero.clone()));
        self.circuit.difference(&added, &subtracted)
    }

    /// The sum of some integers, if there are any.
    fn total(&mut self, mut words: Vec<Word>) -> Option<Word> {
        self.circuit.sort(&mut words, Word::bits);
        while words.len() > 1 {
            let pairs = words.chunks(2).map(|pair| match pair {
                [a, b] => self.circuit.sum(a, b),
                rest => rest.iter().fold(Word::number(0), |_, word| word.clone()),
            });
            words = pairs.collect();
        }
        words.pop()
    }
}
