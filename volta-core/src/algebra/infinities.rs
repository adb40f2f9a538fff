//! Terms that are infinite for some inputs only, without infinities (rule V3).
//!
//! A choice between numbers and infinities has no normal form. Here a term is a number, with the conditions under which it
//! is an infinity instead, or has no value: `exp(c ? x : −∞)` is `c ? exp(x) : 0`, `max(f, c ? a : −∞)` is
//! `c ? max(f, a) : f`, and `−∞ − −∞` has no value. Where the term that is wanted has no value is kept as a requirement:
//! `0 · (1 / (d ? 0 : 1))` is added for each such condition `d`, and `0 · (d ? a : 0)` where `a`, which an infinity hides,
//! must have a value too. What is excluded may be assumed of all other conditions.

mod conditions;

use super::analysis::{INFINITE, PARTIAL};
use super::extended_value::Class;
use super::id::TermRef;
use super::prover::Prover;
use crate::base::index::InstId;
use crate::number::Extended;
use crate::number::signs::Signs;
use crate::number::value::LimitAtInfinity;
use crate::term::{
    FunctionInfo, Imported, InputId, Kind, Piecewise, Predicate, Product, Store, Sum, TermId, TermOp, View,
};
use conditions::{Conditions, Holds};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// At most so many terms are rewritten.
const MAX_TERMS: usize = 1 << 18;

/// Extrema of more than so many terms are told apart by their order.
const MAX_LEAVES: usize = 256;

/// A term has at most so many demands.
const MAX_DEMANDS: usize = 128;

/// Where a condition holds, or everywhere, there is no value, or none unless another term has one.
type Demand = (Option<TermId>, Option<TermId>);

/// A term that may be infinite.
#[derive(Clone, Debug)]
struct Value {
    /// What it is where it is a number; `None` if nowhere.
    number: Option<TermId>,
    /// Where it is −∞.
    negative: Holds,
    /// Where it is +∞.
    positive: Holds,
    /// What it needs to have a value.
    demands: Rc<BTreeSet<Demand>>,
}

/// What a term is.
#[derive(Clone, Debug)]
enum Meaning {
    Value(Value),
    /// A condition, and what it needs to have a value.
    Truth(Holds, Rc<BTreeSet<Demand>>),
}

/// Terms of a store that are rewritten to those of another one.
struct Rewriting<'p, 's> {
    prover: &'p mut Prover<'s>,
    number: u32,
    own: Conditions,
    known: FxHashMap<TermId, Meaning>,
    copied: Imported,
    /// Whether terms, or those that they are computed from, may be infinite, and whether in part.
    infinite: FxHashMap<TermId, [bool; 2]>,
    extrema: Option<&'p mut NewElements>,
    /// What terms that are extrema are taken of.
    leaves: FxHashMap<TermId, (TermOp, Rc<[TermId]>)>,
    known_extrema: FxHashMap<(TermOp, Rc<[TermId]>), Value>,
}

/// An input of which elements are made.
#[derive(Debug)]
pub struct NewElements {
    /// The input.
    pub of: InputId,
    /// How many elements there are.
    pub count: u64,
}

impl<'s> Prover<'s> {
    /// Whether a choice between numbers and infinities, which inputs decide, is among the terms of a store.
    pub fn has_infinite_choice(&mut self, number: u32) -> bool {
        let store = self.terms.store(TermRef { store: number, term: TermId::from_raw(0) });
        if !store.has_infinities() {
            return false;
        }
        let choices = self.terms.analysis(number).terms_of(store, &[TermOp::Select]);
        choices.into_iter().map(|term| TermRef { store: number, term }).any(|at| self.is_infinite_choice(at))
    }

    fn is_infinite_choice(&mut self, at: TermRef) -> bool {
        self.terms.flags(at) & INFINITE != 0 && matches!(self.class(at), Ok(Class::Unknown(_)))
    }

    /// Terms of one store in another one, in which no term is infinite for some inputs only. They are equal to those of the
    /// first store at all inputs, and have a value nowhere else. A term is `None` where that cannot be said, or where there
    /// is nothing to rewrite.
    ///
    /// With an input whose elements are new, such an element stands for each extremum that is taken of what may be infinite:
    /// what is equal for any value of these is equal.
    pub fn without_infinities(
        &mut self,
        number: u32,
        roots: &[TermId],
        extrema: Option<&mut NewElements>,
    ) -> (Store, Vec<Option<TermId>>) {
        let from = self.terms.store(TermRef { store: number, term: TermId::from_raw(0) });
        let mut store = Store::new();
        let mut integers = from.all_integers().to_vec();
        if let Some(NewElements { of, .. }) = &extrema {
            integers.resize(integers.len().max(of.index() + 1), None);
        }
        store.set_integers(integers);
        if let Some(nearness) = from.approximates() {
            store.set_approximates(nearness);
        }
        let own = Conditions::new(store);
        let mut rewriting = Rewriting {
            prover: self,
            number,
            own,
            known: FxHashMap::default(),
            copied: Imported::default(),
            infinite: FxHashMap::default(),
            extrema,
            leaves: FxHashMap::default(),
            known_extrema: FxHashMap::default(),
        };
        let found = roots.iter().map(|root| rewriting.root(*root)).collect();
        (rewriting.own.store, found)
    }
}

impl<'s> Rewriting<'_, 's> {
    fn root(&mut self, root: TermId) -> Option<TermId> {
        if !self.infinite(root)?[1] {
            return None;
        }
        let Meaning::Value(value) = self.of(root)? else { return None };
        if (value.negative, value.positive) != (Holds::Never, Holds::Never) {
            return None;
        }
        let never: BTreeSet<TermId> =
            value.demands.iter().filter_map(|(holds, of)| holds.filter(|_| of.is_none())).collect();
        let mut number = self.own.where_none(value.number?, &never);
        let [zero, one] = [0, 1].map(|value| self.own.number(value));
        for (holds, of) in value.demands.iter() {
            let holds = holds.map_or(Holds::Always, Holds::Where);
            let needed = match of {
                Some(of) => self.own.chosen(holds, [*of, zero], InstId::FIRST),
                None => {
                    let divisor = self.own.chosen(holds, [zero, one], InstId::FIRST);
                    self.own.apply(TermOp::Div, &[one, divisor], InstId::FIRST)
                }
            };
            let nothing = self.own.apply(TermOp::Mul, &[zero, needed], InstId::FIRST);
            number = self.own.apply(TermOp::Add, &[number, nothing], InstId::FIRST);
        }
        Some(number)
    }

    fn from(&self) -> &'s Store {
        self.prover.terms.store(TermRef { store: self.number, term: TermId::from_raw(0) })
    }

    /// Whether a term, or one that it is computed from, may be infinite, and whether there is a choice of that.
    fn infinite(&mut self, root: TermId) -> Option<[bool; 2]> {
        let (from, mut work) = (self.from(), vec![root]);
        while let Some(&term) = work.last() {
            if self.infinite.contains_key(&term) {
                work.pop();
                continue;
            }
            if self.infinite.len() > MAX_TERMS {
                return None;
            }
            let at = TermRef { store: self.number, term };
            let mut found = [self.prover.terms.flags(at) & INFINITE != 0, false];
            if let View::Apply(op, operands) = from.view(term) {
                let operands = &operands[..op.arity()];
                let before = work.len();
                work.extend(operands.iter().filter(|operand| !self.infinite.contains_key(operand)));
                if work.len() > before {
                    continue;
                }
                found[1] = op == TermOp::Select && self.prover.is_infinite_choice(at);
                for operand in operands {
                    let below = self.infinite[operand];
                    found = [found[0] || below[0], found[1] || below[1]];
                }
            }
            self.infinite.insert(term, found);
            work.pop();
        }
        self.infinite.get(&root).copied()
    }

    fn of(&mut self, root: TermId) -> Option<Meaning> {
        self.infinite(root)?;
        let from = self.from();
        let mut work = vec![root];
        while let Some(&term) = work.last() {
            if self.known.contains_key(&term) {
                work.pop();
                continue;
            }
            if self.known.len() + self.copied.len() > MAX_TERMS {
                return None;
            }
            let at = TermRef { store: self.number, term };
            let meaning = match from.view(term) {
                View::Constant(constant) if constant.exact.finite().is_none() => {
                    let is_negative = constant.exact == Extended::NegInf;
                    let holds = |is: bool| if is { Holds::Always } else { Holds::Never };
                    Some(Meaning::Value(Value {
                        number: None,
                        negative: holds(is_negative),
                        positive: holds(!is_negative),
                        demands: Rc::default(),
                    }))
                }
                View::Apply(op, operands)
                    if joins(op).is_some() || self.infinite.get(&term).is_none_or(|found| found[0]) =>
                {
                    let operands = &operands[..op.arity()];
                    let before = work.len();
                    work.extend(operands.iter().filter(|operand| !self.known.contains_key(operand)));
                    if work.len() > before {
                        continue;
                    }
                    let meanings: Vec<Meaning> =
                        operands.iter().map(|term| self.known[term].clone()).collect();
                    self.operation(op, (term, operands), &meanings)
                }
                View::Constant(_) | View::Input { .. } | View::Apply(..) => {
                    let copy = self.own.store.import(from, term, &mut self.copied);
                    match from.view(term) {
                        View::Apply(op, _) if op.is_condition() => {
                            (!self.is_partial(at)).then(|| Meaning::Truth(Holds::Where(copy), Rc::default()))
                        }
                        View::Apply(..) | View::Constant(_) | View::Input { .. } => {
                            Some(Meaning::Value(Value::of(copy)))
                        }
                    }
                }
            };
            self.known.insert(term, meaning?);
            work.pop();
        }
        self.known.get(&root).cloned()
    }

    fn operation(
        &mut self,
        op: TermOp,
        (term, terms): (TermId, &[TermId]),
        operands: &[Meaning],
    ) -> Option<Meaning> {
        let site = self.from().site(term).unwrap_or(InstId::FIRST);
        if op == TermOp::Select {
            return self.choice(operands, site);
        }
        if let Some(predicate) = joins(op) {
            return self.joined(predicate, operands);
        }
        let mut values = Vec::with_capacity(operands.len());
        let mut demands = Rc::default();
        for (operand, term) in operands.iter().zip(terms) {
            let Meaning::Value(value) = operand else { return None };
            demands = either(&demands, &value.demands)?;
            values.push((value, TermRef { store: self.number, term: *term }));
        }
        let [first, second] = [values.first().copied(), values.get(1).copied()];
        let first = first?;
        let value = match op.kind() {
            Kind::Sum(Sum::Add) => self.sum([first, second?], site)?,
            Kind::Sum(Sum::Sub) => {
                let (second, at) = second?;
                let opposite = self.negated(second, site);
                self.sum([first, (&opposite, at)], site)?
            }
            Kind::Sum(Sum::Fma) => {
                let product = self.product(TermOp::Mul, [first, second?], site)?;
                // What hides a factor may hide the product.
                let factor = if self.is_partial(first.1) { first.1 } else { second?.1 };
                self.sum([(&product, factor), *values.get(2)?], site)?
            }
            Kind::Product(Product::Mul) => self.product(TermOp::Mul, [first, second?], site)?,
            Kind::Product(Product::Div) if second?.0.is_number() => {
                self.product(TermOp::Div, [first, second?], site)?
            }
            Kind::Product(Product::Div) => self.by_infinity([first, second?], site)?,
            Kind::Product(Product::Neg) => self.negated(first.0, site),
            Kind::Exponential => {
                let zero = self.own.number(0);
                let power = first.0.number.map(|number| self.own.apply(op, &[number], site));
                let number = self.own.chosen_number(first.0.negative, [Some(zero), power], site);
                Value { number, negative: Holds::Never, ..first.0.clone() }
            }
            Kind::Function(function) => self.function(op, function, first.0, site)?,
            Kind::Piecewise(Piecewise::Abs) => {
                let number = first.0.number.map(|number| self.own.apply(op, &[number], site));
                let positive = self.own.or(first.0.negative, first.0.positive);
                Value { number, negative: Holds::Never, positive, demands: Rc::default() }
            }
            Kind::Piecewise(Piecewise::Max | Piecewise::Min) => {
                let key = self.leaves_of_extremum(op, (term, terms));
                if let Some(known) = self.known_extrema.get(&key) {
                    return Some(Meaning::Value(known.clone()));
                }
                let value = self.extremum(op, [first, second?], site)?;
                let value = self.as_new_element(value, [first, second?]);
                let value = Value { demands: either(&demands, &value.demands)?, ..value };
                self.known_extrema.insert(key, value.clone());
                value
            }
            Kind::Condition(predicate) => {
                let holds = self.comparison(*predicate, [first, second?])?;
                return Some(Meaning::Truth(holds, demands));
            }
            Kind::Piecewise(Piecewise::Select | Piecewise::CopySign | Piecewise::Mod | Piecewise::BitAnd)
            | Kind::Ieee => return None,
        };
        let demands = either(&demands, &value.demands)?;
        Some(Meaning::Value(Value { demands, ..value }))
    }

    fn joined(&mut self, predicate: Predicate, operands: &[Meaning]) -> Option<Meaning> {
        let truth = |at: usize| match operands.get(at)? {
            Meaning::Truth(holds, demands) => Some((*holds, demands)),
            Meaning::Value(_) => None,
        };
        let (a, demands) = truth(0)?;
        if predicate == Predicate::Not {
            return Some(Meaning::Truth(self.own.not(a), demands.clone()));
        }
        let (b, others) = truth(1)?;
        let holds = match predicate {
            Predicate::And => self.own.and(a, b),
            Predicate::Or => self.own.or(a, b),
            Predicate::Xor => {
                let [not_a, not_b] = [a, b].map(|holds| self.own.not(holds));
                let [first, second] = [[a, not_b], [not_a, b]].map(|[a, b]| self.own.and(a, b));
                self.own.or(first, second)
            }
            Predicate::Not | Predicate::Less | Predicate::LessEqual | Predicate::Equal => return None,
        };
        Some(Meaning::Truth(holds, either(demands, others)?))
    }

    fn choice(&mut self, operands: &[Meaning], site: InstId) -> Option<Meaning> {
        let [Meaning::Truth(condition, demands), Meaning::Value(a), Meaning::Value(b)] = operands else {
            return None;
        };
        let otherwise = self.own.not(*condition);
        let mut part = |a: Holds, b: Holds| {
            let [a, b] = [(*condition, a), (otherwise, b)].map(|(arm, holds)| self.own.and(arm, holds));
            self.own.or(a, b)
        };
        let (negative, positive) = (part(a.negative, b.negative), part(a.positive, b.positive));
        let number = self.own.chosen_number(*condition, [a.number, b.number], site);
        let mut demands = demands.clone();
        for (arm, own) in [(*condition, a), (otherwise, b)] {
            for (holds, of) in own.demands.iter() {
                let taken = self.own.and(arm, holds.map_or(Holds::Always, Holds::Where));
                demands = with(&demands, taken, *of)?;
            }
        }
        Some(Meaning::Value(Value { number, negative, positive, demands }))
    }

    fn is_partial(&self, at: TermRef) -> bool {
        self.prover.terms.flags(at) & PARTIAL != 0
    }

    /// What an operand needs to have a value where an infinity hides it.
    fn hidden(
        &mut self,
        demands: &Rc<BTreeSet<Demand>>,
        holds: Holds,
        (value, at): Operand<'_>,
    ) -> Option<Rc<BTreeSet<Demand>>> {
        let Some(number) = value.number.filter(|_| self.is_partial(at)) else { return Some(demands.clone()) };
        let is_finite = {
            let infinite = self.own.or(value.negative, value.positive);
            self.own.not(infinite)
        };
        let holds = self.own.and(holds, is_finite);
        with(demands, holds, Some(number))
    }

    fn negated(&mut self, a: &Value, site: InstId) -> Value {
        let number = a.number.map(|number| self.own.apply(TermOp::Neg, &[number], site));
        Value { number, negative: a.positive, positive: a.negative, demands: a.demands.clone() }
    }

    fn sum(&mut self, [a, b]: [Operand<'_>; 2], site: InstId) -> Option<Value> {
        let mut demands = either(&a.0.demands, &b.0.demands)?;
        for (one, other) in [(a, b), (b, a)] {
            let opposite = self.own.and(one.0.negative, other.0.positive);
            demands = with(&demands, opposite, None)?;
            let infinite = self.own.or(one.0.negative, one.0.positive);
            demands = self.hidden(&demands, infinite, other)?;
        }
        let number = a.0.number.zip(b.0.number).map(|(a, b)| self.own.apply(TermOp::Add, &[a, b], site));
        let negative = self.own.or(a.0.negative, b.0.negative);
        let positive = self.own.or(a.0.positive, b.0.positive);
        Some(Value { number, negative, positive, demands })
    }

    /// A product, or a quotient by a number.
    fn product(&mut self, op: TermOp, [a, b]: [Operand<'_>; 2], site: InstId) -> Option<Value> {
        let demands = either(&a.0.demands, &b.0.demands)?;
        let (infinite, finite) = match (a.0.is_number(), b.0.is_number()) {
            (true, true) => {
                let number = self.own.apply(op, &[a.0.number?, b.0.number?], site);
                return Some(Value { demands, ..Value::of(number) });
            }
            (false, true) => (a.0, b),
            (true, false) => (b.0, a),
            (false, false) => return None,
        };
        let number = a.0.number.zip(b.0.number).map(|(a, b)| self.own.apply(op, &[a, b], site));
        let [is_negative, is_zero, is_positive] = self.signs(finite)?;
        let mut either_of = |pairs: [(Holds, Holds); 2]| {
            let [a, b] = pairs.map(|(a, b)| self.own.and(a, b));
            self.own.or(a, b)
        };
        let negative = either_of([(infinite.negative, is_positive), (infinite.positive, is_negative)]);
        let positive = either_of([(infinite.positive, is_positive), (infinite.negative, is_negative)]);
        let no_value = either_of([(infinite.positive, is_zero), (infinite.negative, is_zero)]);
        let demands = with(&demands, no_value, None)?;
        let is_infinite = self.own.or(infinite.negative, infinite.positive);
        let mut demands = self.hidden(&demands, is_infinite, finite)?;
        if op == TermOp::Div && is_zero != Holds::Never {
            // Nor has the quotient of an infinity and zero.
            let is_none = self.own.and(is_infinite, is_zero);
            demands = with(&demands, is_none, None)?;
        }
        Some(Value { number, negative, positive, demands })
    }

    /// Where a number is negative, zero, and positive.
    fn signs(&mut self, (value, at): Operand<'_>) -> Option<[Holds; 3]> {
        // Signs of what was an infinity are not those of numbers.
        let is_touched = self.infinite.get(&at.term).is_none_or(|found| found[0]);
        let signs = if is_touched { Signs::ANY } else { self.prover.term_signs(at).ok()? };
        let holds = |is: bool| if is { Holds::Always } else { Holds::Never };
        let each = [Signs::NEGATIVE, Signs::ZERO, Signs::POSITIVE];
        if each.contains(&signs) {
            return Some(each.map(|sign| holds(sign == signs)));
        }
        if self.is_partial(at) {
            return None;
        }
        let (zero, number) = (self.own.number(0), value.number?);
        Some([
            self.own.compared(TermOp::Less, [number, zero]),
            self.own.compared(TermOp::Equal, [number, zero]),
            self.own.compared(TermOp::Less, [zero, number]),
        ])
    }

    /// The quotient by what may be infinite: of a number and an infinity it is zero.
    fn by_infinity(&mut self, [a, b]: [Operand<'_>; 2], site: InstId) -> Option<Value> {
        if !a.0.is_number() {
            return None;
        }
        let infinite = self.own.or(b.0.negative, b.0.positive);
        let zero = self.own.number(0);
        let quotient = match b.0.number {
            Some(by) => Some(self.own.apply(TermOp::Div, &[a.0.number?, by], site)),
            None => None,
        };
        let demands = either(&a.0.demands, &b.0.demands)?;
        let demands = self.hidden(&demands, infinite, a)?;
        let number = self.own.chosen_number(infinite, [Some(zero), quotient], site);
        Some(Value { number, demands, ..Value::of(zero) })
    }

    /// A function of one real, with its limits.
    fn function(&mut self, op: TermOp, function: &FunctionInfo, a: &Value, site: InstId) -> Option<Value> {
        let number = a.number.map(|number| self.own.apply(op, &[number], site));
        let mut value = Value { number, ..Value::of(self.own.number(0)) };
        for (limit, holds) in [(function.limits[0], a.negative), (function.limits[1], a.positive)] {
            if holds == Holds::Never {
                continue;
            }
            match limit {
                LimitAtInfinity::PosInf => value.positive = self.own.or(value.positive, holds),
                LimitAtInfinity::NegInf => value.negative = self.own.or(value.negative, holds),
                LimitAtInfinity::Number(number) => {
                    let number = self.own.number(number);
                    value.number = self.own.chosen_number(holds, [Some(number), value.number], site);
                }
                LimitAtInfinity::Undefined(_) => value.demands = with(&value.demands, holds, None)?,
            }
        }
        Some(value)
    }

    fn extremum(&mut self, op: TermOp, [a, b]: [Operand<'_>; 2], site: InstId) -> Option<Value> {
        // The infinity beside which the other operand is the result, and the one that is the result itself.
        let ends = |value: &Value| {
            let ends = (value.negative, value.positive);
            if op == TermOp::Max { ends } else { (ends.1, ends.0) }
        };
        let ((a_weak, a_strong), (b_weak, b_strong)) = (ends(a.0), ends(b.0));
        let mut number = a.0.number.zip(b.0.number).map(|(a, b)| self.own.apply(op, &[a, b], site));
        for (weak, other) in [(b_weak, a.0.number), (a_weak, b.0.number)] {
            if weak != Holds::Never {
                number = self.own.chosen_number(weak, [other, number], site);
            }
        }
        let (weak, strong) = (self.own.and(a_weak, b_weak), self.own.or(a_strong, b_strong));
        let (negative, positive) = if op == TermOp::Max { (weak, strong) } else { (strong, weak) };
        let demands = self.hidden(&Rc::default(), a_strong, b)?;
        let demands = self.hidden(&demands, b_strong, a)?;
        Some(Value { number, negative, positive, demands })
    }

    /// What an extremum is taken of, in whatever order.
    fn leaves_of_extremum(
        &mut self,
        op: TermOp,
        (term, operands): (TermId, &[TermId]),
    ) -> (TermOp, Rc<[TermId]>) {
        let mut leaves = Vec::new();
        for operand in operands {
            match self.leaves.get(operand) {
                Some((inner, own)) if *inner == op && own.len() <= MAX_LEAVES => {
                    leaves.extend(own.iter().copied())
                }
                Some(_) | None => leaves.push(*operand),
            }
        }
        leaves.sort_unstable();
        leaves.dedup();
        let key: (TermOp, Rc<[TermId]>) = (op, leaves.into());
        self.leaves.insert(term, key.clone());
        key
    }

    /// An extremum of what may be infinite as a new element, if there are any; what it needs must not be lost.
    fn as_new_element(&mut self, value: Value, operands: [Operand<'_>; 2]) -> Value {
        let is_any = operands.iter().any(|(operand, _)| !operand.is_number() && operand.number.is_some());
        let is_partial = operands.iter().any(|(_, at)| self.is_partial(*at));
        match &mut self.extrema {
            Some(elements) if is_any && !is_partial => {
                let number = value.number.map(|_| {
                    elements.count += 1;
                    TermId::input(elements.of, elements.count - 1)
                });
                Value { number, ..value }
            }
            Some(_) | None => value,
        }
    }

    /// A comparison of what always has a value: a condition is joined with others, where it is not looked at, and a term of
    /// it without a value would leave them without one.
    fn comparison(&mut self, predicate: Predicate, [a, b]: [Operand<'_>; 2]) -> Option<Holds> {
        if [a, b].iter().any(|(_, at)| self.is_partial(*at)) {
            return None;
        }
        let holds = match predicate {
            Predicate::Less => self.strictly_less([a.0, b.0]),
            Predicate::LessEqual => {
                let less = self.strictly_less([b.0, a.0]);
                self.own.not(less)
            }
            Predicate::Equal => {
                let both = [(a.0.negative, b.0.negative), (a.0.positive, b.0.positive)];
                let mut equal = self.where_numbers(TermOp::Equal, [a.0, b.0]);
                for (a, b) in both {
                    let same = self.own.and(a, b);
                    equal = self.own.or(equal, same);
                }
                equal
            }
            Predicate::Not | Predicate::And | Predicate::Or | Predicate::Xor => return None,
        };
        Some(holds)
    }

    /// Where both are numbers, and a comparison of them holds.
    fn where_numbers(&mut self, op: TermOp, [a, b]: [&Value; 2]) -> Holds {
        let Some(pair) = a.number.zip(b.number) else { return Holds::Never };
        let mut holds = self.own.compared(op, pair.into());
        for infinite in [a.negative, a.positive, b.negative, b.positive] {
            let finite = self.own.not(infinite);
            holds = self.own.and(finite, holds);
        }
        holds
    }

    fn strictly_less(&mut self, [a, b]: [&Value; 2]) -> Holds {
        let mut less = self.where_numbers(TermOp::Less, [a, b]);
        for (end, other) in [(a.negative, b.negative), (b.positive, a.positive)] {
            let is_not = self.own.not(other);
            let apart = self.own.and(end, is_not);
            less = self.own.or(less, apart);
        }
        less
    }
}

/// An operand, and the term that it is.
type Operand<'v> = (&'v Value, TermRef);

/// All of some demands; `None` if there are too many.
fn either(a: &Rc<BTreeSet<Demand>>, b: &Rc<BTreeSet<Demand>>) -> Option<Rc<BTreeSet<Demand>>> {
    if b.is_subset(a) {
        return Some(a.clone());
    }
    if a.is_subset(b) {
        return Some(b.clone());
    }
    let all: BTreeSet<Demand> = a.union(b).copied().collect();
    (all.len() <= MAX_DEMANDS).then(|| Rc::new(all))
}

/// Demands with one that there is where a condition holds; `None` if there is no value anywhere.
fn with(demands: &Rc<BTreeSet<Demand>>, holds: Holds, of: Option<TermId>) -> Option<Rc<BTreeSet<Demand>>> {
    let condition = match (holds, of) {
        (Holds::Never, _) => return Some(demands.clone()),
        (Holds::Always, None) => return None,
        (Holds::Always, Some(_)) => None,
        (Holds::Where(condition), _) => Some(condition),
    };
    either(demands, &Rc::new(BTreeSet::from([(condition, of)])))
}

impl Value {
    /// A number.
    fn of(number: TermId) -> Value {
        Value { number: Some(number), negative: Holds::Never, positive: Holds::Never, demands: Rc::default() }
    }

    fn is_number(&self) -> bool {
        self.number.is_some() && (self.negative, self.positive) == (Holds::Never, Holds::Never)
    }
}

/// What an operation on conditions is.
fn joins(op: TermOp) -> Option<Predicate> {
    match op.kind() {
        Kind::Condition(predicate @ (Predicate::Not | Predicate::And | Predicate::Or | Predicate::Xor)) => {
            Some(*predicate)
        }
        Kind::Condition(Predicate::Less | Predicate::LessEqual | Predicate::Equal)
        | Kind::Sum(_)
        | Kind::Product(_)
        | Kind::Exponential
        | Kind::Function(_)
        | Kind::Piecewise(_)
        | Kind::Ieee => None,
    }
}
