//! Proofs by circuits: integers, conditions and choices of terms as gates over the bits of integers of inputs, and of reals
//! their order. A search for values of these bits at which two terms differ ends with none, which is a proof, or with
//! values, near which a witness may lie.
//!
//! Reals that are only chosen and compared are numbers of their places in the order of those with which they are: for any
//! values of them there are such numbers. Reals are known by their normal forms, so that equal forms are equal, and
//! different ones may be. What else is known of them is left out, and so a search that ends with values decides nothing.

mod joined;
mod orders;

use super::Stop;
use super::cases::Hint;
use super::chains::Chain;
use super::id::TermRef;
use super::polynomial::{PolynomialId, as_number};
use super::prover::Prover;
use crate::circuit::solve::{Found, Solving, Values};
use crate::circuit::word::{Word, exponent_of};
use crate::circuit::{Bit, Circuit};
use crate::number::interval::{Function as RealFunction, Towards};
use crate::number::signs::Signs;
use crate::number::{Extended, Rational};
use crate::term::{FunctionInfo, InputId, Kind, Piecewise, Predicate, Product, Sum, TermOp, View};
use joined::MAX_SIMPLIFIED;
use orders::Orders;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// At most so many terms are read.
const MAX_TERMS: usize = 1 << 16;

/// So many terms are visited for a choice.
const MAX_ABOVE: u32 = 128;

/// At most so many reals are read.
const MAX_REALS: usize = 1 << 13;

/// The width of numbers of places, as long as it is not known how many reals are in one order.
const FIRST_WIDTH: usize = 8;

/// So often, terms are read with numbers of places of other widths.
const MAX_READ: usize = 4;

/// Denominators are at most this.
const MAX_DENOMINATOR: i128 = 1 << 40;

/// Of two factors that are not known, one is at most so wide.
const MAX_FACTOR: usize = 9;

/// What a search has found.
#[derive(Clone, Debug)]
pub enum Searched {
    /// That two terms are equal wherever both are defined.
    Equal,
    /// Values of elements of inputs at which they may differ.
    Apart(Hint),
    /// Nothing.
    Open,
}

/// What a term is.
#[derive(Clone, Debug)]
enum Meaning {
    /// A condition.
    Truth(Bit),
    /// The quotient of an integer and a positive number.
    Number(Word, i128),
    /// The place of a real in an order.
    Place(Place),
}

/// The place of a real in an order.
#[derive(Clone, Debug)]
struct Place {
    word: Word,
    /// A real in this order; `None` for infinities, which are in all.
    order: Option<PolynomialId>,
}

/// Beyond the places of all reals, which are finite.
const INFINITE: i128 = 1 << FIRST_WIDTH;

/// A real that is known by its normal form.
#[derive(Clone, Debug)]
struct Leaf {
    place: Word,
    width: usize,
    /// The real that stands for those in one order with it.
    order: PolynomialId,
    /// The element of an input that it is.
    element: Option<(InputId, u64)>,
    number: Option<Rational>,
}

/// A search for inputs at which two terms differ.
pub struct CircuitSearch {
    solving: Solving,
    integers: BTreeMap<(InputId, u64), Word>,
    leaves: Vec<Leaf>,
}

/// The terms of a prover, as circuits.
struct Circuits<'p, 's> {
    prover: &'p mut Prover<'s>,
    circuit: Circuit,
    known: FxHashMap<TermRef, Meaning>,
    leaves: FxHashMap<PolynomialId, Leaf>,
    integers: BTreeMap<(InputId, u64), Word>,
    /// Integers that are known by their normal forms.
    opaque: FxHashMap<PolynomialId, Word>,
    /// Terms that are chains, or are not.
    chains: FxHashMap<TermRef, Option<Rc<Chain>>>,
    /// How many gates may still be read to simplify the steps of chains and the arms of choices.
    simplified: usize,
    /// What holds of unknown bits.
    facts: Vec<Bit>,
    /// Which reals are in one order.
    orders: Orders,
    /// The widths of numbers of places, as far as they are known.
    widths: FxHashMap<PolynomialId, usize>,
    /// Why the terms could not be read, if that ends the search.
    stopped: Option<Stop>,
}

impl<'s> Prover<'s> {
    /// Whether a choice is among the first operations of one of two terms that circuits have.
    pub fn is_choice_above(&self, terms: [TermRef; 2]) -> bool {
        let (mut work, mut left) = (terms.to_vec(), MAX_ABOVE);
        while let (Some(at), 1..) = (work.pop(), left) {
            left -= 1;
            match self.terms.view(at) {
                View::Apply(TermOp::Select, _) => return true,
                View::Apply(op, operands) if is_read(op) => {
                    work.extend(operands[..op.arity()].iter().map(|id| TermRef { term: *id, ..at }));
                }
                View::Apply(..) | View::Constant(_) | View::Input { .. } => {}
            }
        }
        false
    }

    /// Prepares a search for inputs at which two terms differ, of integers, conditions, and reals that are chosen and compared.
    /// `None` where terms cannot be read.
    ///
    /// # Errors
    /// When a budget is used up.
    pub fn circuits_of(&mut self, [a, b]: [TermRef; 2]) -> Result<Option<CircuitSearch>, Stop> {
        self.searched(|circuits| {
            let [first, second] = [a, b].map(|at| circuits.of(at));
            let equal = circuits.compared([(a, first?), (b, second?)], [false, true, false])?;
            Some(!equal)
        })
    }

    /// Whether no input fulfils a condition on integers and on reals that are inputs, as far as so many steps of a search
    /// show.
    ///
    /// # Errors
    /// When a budget is used up.
    pub fn never_holds(&mut self, condition: TermRef, steps: u64) -> Result<bool, Stop> {
        let search = self.searched(|circuits| circuits.of(condition).as_ref().and_then(truth_of))?;
        // Other reals may have no value, and then the condition has none.
        let is_total = |leaf: &Leaf| leaf.element.is_some() || leaf.number.is_some();
        let Some(mut search) = search.filter(|search| search.leaves.iter().all(is_total)) else {
            return Ok(false);
        };
        Ok(matches!(self.search(&mut search, steps)?, Searched::Equal))
    }

    /// Prepares a search for inputs at which a bit that is read from terms is set.
    fn searched(
        &mut self,
        read: impl Fn(&mut Circuits<'_, 's>) -> Option<Bit>,
    ) -> Result<Option<CircuitSearch>, Stop> {
        let mut widths = FxHashMap::default();
        for is_again in (0..MAX_READ).map(|read| read > 0) {
            let mut circuits = Circuits::new(self, widths);
            let wanted = read(&mut circuits);
            if let Some(stop @ Stop::Exhausted(_)) = circuits.stopped {
                return Err(stop);
            }
            let Some(wanted) = wanted else { return Ok(None) };
            // As many places as there are reals in one order.
            let needed = circuits.widths_needed();
            let is = |fits: fn(&usize, &usize) -> bool| {
                circuits
                    .leaves
                    .iter()
                    .all(|(id, leaf)| needed.get(id).is_some_and(|own| fits(&leaf.width, own)))
            };
            let are_enough = is(usize::ge) && (is_again || wanted == Bit::NO);
            if !are_enough && !is(usize::eq) {
                widths = needed;
                continue;
            }
            circuits.order_numbers();
            let Circuits { circuit, integers, leaves, facts, .. } = circuits;
            self.charge(circuit.size() as u64)?;
            let solving = Solving::new(circuit, &facts, wanted);
            return Ok(Some(CircuitSearch { solving, integers, leaves: leaves.into_values().collect() }));
        }
        Ok(None)
    }

    /// Goes on with a search for a number of steps.
    ///
    /// # Errors
    /// When a budget is used up.
    pub fn search(&mut self, search: &mut CircuitSearch, steps: u64) -> Result<Searched, Stop> {
        let (found, steps) = search.solving.go_on(steps);
        self.charge(steps)?;
        Ok(match found {
            Found::Nothing => Searched::Equal,
            Found::Values(values) => Searched::Apart(search.hint(&values)),
            Found::Open => Searched::Open,
        })
    }
}

impl CircuitSearch {
    /// Values of inputs from values of bits: integers as they are, reals so that they are in their order.
    fn hint(&self, values: &Values) -> Hint {
        let integers =
            self.integers.iter().map(|(at, word)| (*at, Rational::from_i128(values.of_word(word))));
        let mut numbers: FxHashMap<PolynomialId, BTreeMap<i128, Rational>> = FxHashMap::default();
        for leaf in &self.leaves {
            let own = numbers.entry(leaf.order).or_default();
            if let Some(number) = &leaf.number {
                own.insert(values.of_word(&leaf.place), number.clone());
            }
        }
        let reals = self.leaves.iter().filter_map(|leaf| {
            Some((leaf.element?, real_at(numbers.get(&leaf.order)?, values.of_word(&leaf.place))))
        });
        let mut hint: Hint = integers.chain(reals).collect();
        hint.sort_by_key(|(at, _)| *at);
        hint
    }
}

impl<'p, 's> Circuits<'p, 's> {
    fn new(prover: &'p mut Prover<'s>, widths: FxHashMap<PolynomialId, usize>) -> Circuits<'p, 's> {
        Circuits {
            prover,
            circuit: Circuit::default(),
            known: FxHashMap::default(),
            leaves: FxHashMap::default(),
            integers: BTreeMap::new(),
            opaque: FxHashMap::default(),
            chains: FxHashMap::default(),
            simplified: MAX_SIMPLIFIED,
            facts: Vec::new(),
            orders: Orders::default(),
            widths,
            stopped: None,
        }
    }

    /// What a term is; `None` if it is too large, or has no normal form.
    fn of(&mut self, root: TermRef) -> Option<Meaning> {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.known.contains_key(&term) {
                stack.pop();
                continue;
            }
            if self.known.len() >= MAX_TERMS || self.circuit.is_full() {
                return None;
            }
            let before = stack.len();
            if let Some(chain) = self.chain_at(term) {
                stack.extend(chain.parts().filter(|part| !self.known.contains_key(part)));
                if stack.len() == before {
                    match self.joined(term, &chain) {
                        Some(meaning) => {
                            self.known.insert(term, meaning);
                            stack.pop();
                        }
                        None => {
                            self.chains.insert(term, None);
                        }
                    }
                }
                continue;
            }
            if let View::Apply(op, operands) = self.prover.terms.view(term)
                && is_read(op)
            {
                let below = operands[..op.arity()].iter().map(|id| TermRef { term: *id, ..term });
                stack.extend(below.filter(|operand| !self.known.contains_key(operand)));
            }
            if stack.len() == before {
                let meaning = self.anew(term)?;
                self.known.insert(term, meaning);
                stack.pop();
            }
        }
        self.known.get(&root).cloned()
    }

    /// An integer that a term is, with what its range tells.
    fn within_range(&mut self, term: TermRef, word: Word) -> Meaning {
        let range = self.prover.terms.range(term);
        Meaning::Number(
            match (range.low, range.high) {
                (Some(low), Some(high)) if range.whole && low <= high => word.between(low, high),
                (..) => word,
            },
            1,
        )
    }

    /// Like [`Circuits::of`], where those of the operands are known.
    fn anew(&mut self, term: TermRef) -> Option<Meaning> {
        match self.prover.terms.view(term) {
            View::Constant(constant) => {
                let infinite = |place| Some(Meaning::Place(Place { word: Word::number(place), order: None }));
                match &constant.exact {
                    Extended::PosInf => infinite(INFINITE),
                    Extended::NegInf => infinite(-1),
                    Extended::Finite(number) => match in_parts(number) {
                        Some((number, by)) => Some(Meaning::Number(Word::number(number), by)),
                        None => self.known_by_form(term),
                    },
                }
            }
            View::Input { input, element } => match self.prover.terms.store(term).integers(input) {
                Some(integers) => {
                    if let Some(known) = self.integers.get(&(input, element)) {
                        return Some(Meaning::Number(known.clone(), 1));
                    }
                    let (word, inside) = self.circuit.unknown_between(integers.least, integers.greatest);
                    self.facts.push(inside);
                    self.integers.insert((input, element), word.clone());
                    Some(Meaning::Number(word, 1))
                }
                None => self.known_by_form(term),
            },
            View::Apply(op, operands) => {
                let operands = operands.map(|id| TermRef { term: id, ..term });
                let found = if is_read(op) { self.operation(op, operands) } else { None };
                match found {
                    Some(Meaning::Number(word, 1)) => Some(self.within_range(term, word)),
                    Some(meaning) => Some(meaning),
                    None => self.known_by_form(term),
                }
            }
        }
    }

    /// A term of which only its normal form is known.
    fn known_by_form(&mut self, term: TermRef) -> Option<Meaning> {
        if matches!(self.prover.terms.view(term), View::Apply(op, _) if op.is_condition()) {
            return None;
        }
        let range = self.prover.terms.range(term);
        if let (true, Some(low), Some(high)) = (range.whole, range.low, range.high) {
            let id = self.form(term)?.0;
            if let Some(known) = self.opaque.get(&id) {
                return Some(Meaning::Number(known.clone(), 1));
            }
            let (word, inside) = self.circuit.unknown_between(low, high);
            self.facts.push(inside);
            self.opaque.insert(id, word.clone());
            return Some(Meaning::Number(word, 1));
        }
        self.place_of_form(term).map(Meaning::Place)
    }

    /// The normal form of a term, and the number that it is.
    fn form(&mut self, term: TermRef) -> Option<(PolynomialId, Option<Rational>)> {
        let found = self.prover.settle(|prover| prover.argument(term));
        let form = found.map_err(|stop| self.stopped = Some(stop)).ok()?;
        let number = as_number(&form);
        Some((self.prover.table.polynomial(&form), number))
    }

    /// The place of a real by its normal form.
    fn place_of_form(&mut self, term: TermRef) -> Option<Place> {
        let (id, number) = self.form(term)?;
        if let Some(known) = self.leaves.get(&id) {
            return Some(Place { word: known.place.clone(), order: Some(id) });
        }
        if self.leaves.len() >= MAX_REALS {
            return None;
        }
        let element = match self.prover.terms.view(term) {
            View::Input { input, element } => Some((input, element)),
            View::Constant(_) | View::Apply(..) => None,
        };
        let is_number = number.is_some();
        let place = self.new_leaf(id, element, number);
        if !is_number {
            self.signed(term, &place)?;
        }
        Some(place)
    }

    /// A real that is met for the first time.
    fn new_leaf(
        &mut self,
        id: PolynomialId,
        element: Option<(InputId, u64)>,
        number: Option<Rational>,
    ) -> Place {
        let width = self.widths.get(&id).copied().unwrap_or(FIRST_WIDTH);
        let (place, inside) = self.circuit.unknown_between(0, (1 << width) - 1);
        self.facts.push(inside);
        self.leaves.insert(id, Leaf { place: place.clone(), width, order: id, element, number });
        Place { word: place, order: Some(id) }
    }

    /// The widths of numbers of places that are needed, by what is in one order.
    fn widths_needed(&self) -> FxHashMap<PolynomialId, usize> {
        self.leaves.keys().map(|id| (*id, self.orders.width(*id))).collect()
    }

    /// Adds what is known of the sign of a real.
    fn signed(&mut self, term: TermRef, place: &Place) -> Option<()> {
        let Ok(signs) = self.prover.term_signs(term) else { return Some(()) };
        let never_negative = !signs.contains(Signs::NEGATIVE);
        let never_positive = !signs.contains(Signs::POSITIVE);
        if !never_negative && !never_positive {
            return Some(());
        }
        let zero = self.place_of_zero();
        self.orders.unite([place, &zero])?;
        let (place, zero) = (&place.word, &zero.word);
        for (holds, pair) in [(never_negative, [place, zero]), (never_positive, [zero, place])] {
            if holds {
                let less = self.circuit.less(pair[0], pair[1]);
                self.facts.push(!less);
            }
        }
        if !signs.contains(Signs::ZERO) {
            let equal = self.circuit.equal(place, zero);
            self.facts.push(!equal);
        }
        Some(())
    }

    fn place_of_zero(&mut self) -> Place {
        match self.leaves.get(&PolynomialId::ZERO) {
            Some(known) => Place { word: known.place.clone(), order: Some(PolynomialId::ZERO) },
            None => self.new_leaf(PolynomialId::ZERO, None, Some(Rational::ZERO)),
        }
    }

    /// Says which reals are in one order, and that numbers are in theirs.
    fn order_numbers(&mut self) {
        for (id, leaf) in &mut self.leaves {
            leaf.order = self.orders.of(*id);
        }
        let numbers = self.leaves.values().filter_map(|leaf| Some((leaf.number.as_ref()?, leaf)));
        let numbers: BTreeMap<&Rational, &Leaf> = numbers.collect();
        let mut below: FxHashMap<PolynomialId, &Word> = FxHashMap::default();
        for leaf in numbers.into_values() {
            if let Some(below) = below.insert(leaf.order, &leaf.place) {
                let less = self.circuit.less(below, &leaf.place);
                self.facts.push(less);
            }
        }
    }

    /// An operation on what its operands are; `None` where it is not read.
    fn operation(&mut self, op: TermOp, operands: [TermRef; 3]) -> Option<Meaning> {
        let meanings: Vec<Meaning> = operands[..op.arity()]
            .iter()
            .map(|operand| self.known.get(operand).cloned())
            .collect::<Option<_>>()?;
        let truth = |at: usize| meanings.get(at).and_then(truth_of);
        let number = |at: usize| meanings.get(at).and_then(number_of);
        let whole = |at: usize| number(at).filter(|(_, by)| *by == 1).map(|(word, _)| word);
        match op.kind() {
            Kind::Sum(sum) => {
                let (a, b) = (number(0)?, number(1)?);
                match sum {
                    Sum::Add => self.sum(&a, &b, false),
                    Sum::Sub => self.sum(&a, &b, true),
                    Sum::Fma => {
                        let product = self.product(&a, &b)?;
                        self.sum(&number_of(&product)?, &number(2)?, false)
                    }
                }
            }
            Kind::Product(Product::Mul) => self.product(&number(0)?, &number(1)?),
            Kind::Product(Product::Neg) => self.sum(&(Word::number(0), 1), &number(0)?, true),
            Kind::Product(Product::Div) | Kind::Exponential | Kind::Ieee => None,
            Kind::Function(FunctionInfo { function: RealFunction::Round(Towards::Floor), .. }) => {
                let (word, by) = number(0)?;
                Some(Meaning::Number(self.circuit.quotient(&word, by), 1))
            }
            Kind::Function(_) => None,
            Kind::Piecewise(piecewise) => match piecewise {
                Piecewise::Mod => {
                    let by = whole(1)?.known().filter(|by| *by > 0)?;
                    Some(Meaning::Number(self.circuit.remainder(&whole(0)?, by), 1))
                }
                Piecewise::BitAnd => {
                    let (a, b) = (whole(0)?, whole(1)?);
                    let both = Word::bitwise(&a, &b, |a, b| self.circuit.and(a, b));
                    Some(Meaning::Number(both, 1))
                }
                Piecewise::Max | Piecewise::Min => {
                    let pair = [(operands[0], meanings[0].clone()), (operands[1], meanings[1].clone())];
                    let less = self.compared(pair.clone(), [true, false, false])?;
                    let first = if *piecewise == Piecewise::Min { less } else { !less };
                    self.chosen(first, pair)
                }
                Piecewise::Abs => {
                    let (word, by) = number(0)?;
                    let negated = self.circuit.difference(&Word::number(0), &word);
                    let less = self.circuit.less(&word, &Word::number(0));
                    Some(Meaning::Number(self.circuit.chosen(less, &negated, &word), by))
                }
                Piecewise::Select => {
                    let arms = [(operands[1], meanings[1].clone()), (operands[2], meanings[2].clone())];
                    self.chosen(truth(0)?, arms)
                }
                Piecewise::CopySign => None,
            },
            Kind::Condition(predicate) => {
                let order = match predicate {
                    Predicate::Not => return Some(Meaning::Truth(!truth(0)?)),
                    Predicate::And => {
                        return Some(Meaning::Truth(self.circuit.and(truth(0)?, truth(1)?)));
                    }
                    Predicate::Or => return Some(Meaning::Truth(self.circuit.or(truth(0)?, truth(1)?))),
                    Predicate::Xor => return Some(Meaning::Truth(self.circuit.xor(truth(0)?, truth(1)?))),
                    Predicate::Less => [true, false, false],
                    Predicate::LessEqual => [true, true, false],
                    Predicate::Equal => [false, true, false],
                };
                let pair = [(operands[0], meanings[0].clone()), (operands[1], meanings[1].clone())];
                self.compared(pair, order).map(Meaning::Truth)
            }
        }
    }

    /// The place of a term that is one, or a number.
    fn place(&mut self, (term, meaning): &(TermRef, Meaning)) -> Option<Place> {
        match meaning {
            Meaning::Place(place) => Some(place.clone()),
            Meaning::Number(..) => self.place_of_form(*term),
            Meaning::Truth(_) => None,
        }
    }

    /// Whether the first term is less, equal or greater, where that is wanted: one of these, or less or equal.
    fn compared(&mut self, pair: [(TermRef, Meaning); 2], wanted: [bool; 3]) -> Option<Bit> {
        let words = match pair.each_ref().map(|(_, meaning)| number_of(meaning)) {
            [Some(a), Some(b)] => {
                let (a, b, _) = self.alike(&a, &b)?;
                [a, b]
            }
            [_, _] => {
                let (one, other) = (self.place(&pair[0])?, self.place(&pair[1])?);
                self.orders.unite([&one, &other])?;
                [one.word, other.word]
            }
        };
        Some(match wanted {
            [true, false, false] => self.circuit.less(&words[0], &words[1]),
            [true, true, false] => !self.circuit.less(&words[1], &words[0]),
            [false, true, false] => self.circuit.equal(&words[0], &words[1]),
            _ => return None,
        })
    }

    /// One of two terms.
    fn chosen(&mut self, condition: Bit, arms: [(TermRef, Meaning); 2]) -> Option<Meaning> {
        if let [Meaning::Truth(then), Meaning::Truth(otherwise)] = arms.each_ref().map(|(_, arm)| arm) {
            return Some(Meaning::Truth(self.circuit.choose(condition, *then, *otherwise)));
        }
        if let [Some(then), Some(otherwise)] = arms.each_ref().map(|(_, arm)| number_of(arm)) {
            let (then, otherwise, by) = self.alike(&then, &otherwise)?;
            let then = self.circuit.when(condition, &then, &mut self.simplified);
            let otherwise = self.circuit.when(!condition, &otherwise, &mut self.simplified);
            return Some(Meaning::Number(self.circuit.chosen(condition, &then, &otherwise), by));
        }
        let (then, otherwise) = (self.place(&arms[0])?, self.place(&arms[1])?);
        self.orders.unite([&then, &otherwise])?;
        let word = self.circuit.chosen(condition, &then.word, &otherwise.word);
        Some(Meaning::Place(Place { word, order: then.order.or(otherwise.order) }))
    }

    /// Two numbers with one denominator.
    fn alike(&mut self, a: &(Word, i128), b: &(Word, i128)) -> Option<(Word, Word, i128)> {
        let by = least_common_multiple(a.1, b.1).filter(|by| *by <= MAX_DENOMINATOR)?;
        Some((self.scaled(&a.0, by / a.1), self.scaled(&b.0, by / b.1), by))
    }

    fn scaled(&mut self, word: &Word, by: i128) -> Word {
        match exponent_of(by) {
            Some(exponent) => word.shifted_left(exponent),
            None => self.circuit.product(word, &Word::number(by)),
        }
    }

    fn sum(&mut self, a: &(Word, i128), b: &(Word, i128), subtracts: bool) -> Option<Meaning> {
        let (a, b, by) = self.alike(a, b)?;
        let sum = if subtracts { self.circuit.difference(&a, &b) } else { self.circuit.sum(&a, &b) };
        Some(Meaning::Number(sum, by))
    }

    fn product(&mut self, a: &(Word, i128), b: &(Word, i128)) -> Option<Meaning> {
        let by = a.1.checked_mul(b.1).filter(|by| *by <= MAX_DENOMINATOR)?;
        let is_wide = |word: &Word| word.known().is_none() && word.bits().len() > MAX_FACTOR;
        if is_wide(&a.0) && is_wide(&b.0) {
            return None;
        }
        Some(Meaning::Number(self.circuit.product(&a.0, &b.0), by))
    }
}

/// A real for a place, where some places are numbers.
fn real_at(numbers: &BTreeMap<i128, Rational>, place: i128) -> Rational {
    let distance = |from: i128| Rational::from_i128(place - from);
    match (numbers.range(..=place).next_back(), numbers.range(place..).next()) {
        (Some((low, least)), Some((high, greatest))) if low < high => {
            let share =
                distance(*low).checked_div(&Rational::from_i128(high - low)).unwrap_or(Rational::ZERO);
            least + &(&(greatest - least) * &share)
        }
        (Some((at, number)), _) | (None, Some((at, number))) => number + &distance(*at),
        (None, None) => Rational::from_i128(place),
    }
}

/// A number as an integer and what it is divided by.
fn in_parts(number: &Rational) -> Option<(i128, i128)> {
    if let Some(whole) = number.to_i128() {
        return Some((whole, 1)).filter(|(whole, _)| whole.unsigned_abs() <= 1 << 100);
    }
    let (numerator, denominator) = number.to_small_parts()?;
    Some((numerator.into(), denominator.into())).filter(|(_, by)| *by <= MAX_DENOMINATOR)
}

fn least_common_multiple(a: i128, b: i128) -> Option<i128> {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).checked_mul(b)
}

fn truth_of(meaning: &Meaning) -> Option<Bit> {
    match meaning {
        Meaning::Truth(bit) => Some(*bit),
        Meaning::Number(word, 1) => match word.bits() {
            [bit, Bit::NO] => Some(*bit),
            [Bit::NO] => Some(Bit::NO),
            _ => None,
        },
        Meaning::Number(..) | Meaning::Place(_) => None,
    }
}

/// A number; a condition counts as 0 or 1.
fn number_of(meaning: &Meaning) -> Option<(Word, i128)> {
    match meaning {
        Meaning::Truth(bit) => Some((Word::of_bit(*bit), 1)),
        Meaning::Number(word, by) => Some((word.clone(), *by)),
        Meaning::Place(_) => None,
    }
}

/// Whether an operation is read, if its operands are.
fn is_read(op: TermOp) -> bool {
    match op.kind() {
        Kind::Sum(_) | Kind::Condition(_) => true,
        Kind::Piecewise(piecewise) => *piecewise != Piecewise::CopySign,
        Kind::Product(product) => *product != Product::Div,
        Kind::Function(function) => matches!(function.function, RealFunction::Round(Towards::Floor)),
        Kind::Exponential | Kind::Ieee => false,
    }
}
