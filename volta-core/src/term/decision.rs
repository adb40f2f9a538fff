//! Integers and conditions as [functions](super::diagram) of what decides them: comparisons that are true or false, and
//! integers of inputs that have few values.
//!
//! Comparisons of which nothing else is known are taken as independent of one another: what holds for all of their values
//! holds for all inputs, and some assignments may belong to none.

use super::congruence::Congruence;
use super::diagram::{Diagram, Diagrams, Operation, Rank};
use super::id::TermId;
use super::info::{FunctionInfo, Kind, Piecewise, Predicate, Product, Sum, TermOp};
use super::node::{Store, View};
use crate::number::Rational;
use crate::number::interval::{Function, Towards};
use rustc_hash::{FxHashMap, FxHashSet};

/// An integer of an input is a variable if it has at most so many values.
const MAX_VALUES: i128 = 64;

/// So many terms below a comparison are visited for the first element of an input in it.
const MAX_TERMS: usize = 64;

/// At most so many terms are known to be functions, or to be none.
const MAX_KNOWN: usize = 1 << 18;

/// The functions that terms of one store are.
#[derive(Debug, Default)]
pub struct Decisions {
    /// The functions.
    pub diagrams: Diagrams,
    /// Those of terms, `None` where a term is none.
    known: FxHashMap<TermId, Option<Diagram>>,
    /// Of which two terms the first is less (0), equal (1) or greater (2).
    orders: FxHashMap<[TermId; 2], Diagram>,
}

impl Decisions {
    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        let terms = self.known.capacity() + 2 * self.orders.capacity();
        self.diagrams.bytes() + (2 * terms * size_of::<TermId>()) as u64
    }

    /// The function that an integer or a condition is; `None` if it is none of few values, or a large one.
    ///
    /// # Cost
    /// Visits each term once, and takes what the sizes of diagrams bound.
    pub fn of(&mut self, store: &Store, congruence: &mut Congruence, root: TermId) -> Option<Diagram> {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.known.contains_key(&term) {
                stack.pop();
                continue;
            }
            if self.known.len() >= MAX_KNOWN {
                return None;
            }
            let before = stack.len();
            if let View::Apply(op, operands) = store.view(term)
                && is_of_integers(op)
            {
                let below = &operands[..op.arity()];
                stack.extend(below.iter().filter(|operand| !self.known.contains_key(operand)));
            }
            if stack.len() == before {
                let found = self.anew(store, congruence, term);
                self.known.insert(term, found);
                stack.pop();
            }
        }
        self.known.get(&root).copied().flatten()
    }

    /// Like [`Decisions::of`], where those of the operands are known.
    fn anew(&mut self, store: &Store, congruence: &mut Congruence, term: TermId) -> Option<Diagram> {
        let (op, operands) = match store.view(term) {
            View::Constant(constant) => {
                let number = constant.exact.finite().filter(|value| value.is_integer())?;
                let is_modulus = *number == Rational::power_of_two(64);
                let number = number.to_i64().map(i128::from).or(is_modulus.then_some(1 << 64))?;
                return self.diagrams.number(number);
            }
            View::Input { input, element } => {
                let integers = store.integers(input).filter(|of| of.count() <= MAX_VALUES)?;
                let count = u32::try_from(integers.count()).ok()?;
                let rank = [u64::from(input.0), element, 0];
                let variable = self.diagrams.declare(rank, integers.least, count)?;
                return self.diagrams.variable(variable);
            }
            View::Apply(op, operands) => (op, operands),
        };
        let [a, b, c] = operands.map(|operand| self.known.get(&operand).copied().flatten());
        let two = |operation| Some((operation, [a?, b?, b?]));
        let (operation, operands) = match op.kind() {
            Kind::Sum(Sum::Add) => two(Operation::Add)?,
            Kind::Sum(Sum::Sub) => two(Operation::Sub)?,
            Kind::Sum(Sum::Fma) => {
                let (operation, operands) = two(Operation::Mul)?;
                (Operation::Add, [self.diagrams.apply(operation, operands)?, c?, c?])
            }
            Kind::Product(Product::Mul) => two(Operation::Mul)?,
            Kind::Product(Product::Neg) => (Operation::Sub, [self.diagrams.number(0)?, a?, a?]),
            Kind::Piecewise(Piecewise::Mod) => two(Operation::Mod)?,
            Kind::Piecewise(Piecewise::BitAnd) => two(Operation::BitAnd)?,
            Kind::Piecewise(Piecewise::Max) => two(Operation::Max)?,
            Kind::Piecewise(Piecewise::Min) => two(Operation::Min)?,
            Kind::Piecewise(Piecewise::Select) => (Operation::Select, [a?, b?, c?]),
            Kind::Function(FunctionInfo { function: Function::Round(Towards::Floor), .. }) => {
                return self.quotient(store, operands[0]).or(a);
            }
            Kind::Condition(predicate) => {
                return match predicate {
                    Predicate::Not => self.diagrams.not(a?),
                    Predicate::And => self.diagrams.and(a?, b?),
                    Predicate::Or => {
                        let yes = self.diagrams.number(1)?;
                        self.diagrams.apply(Operation::Select, [a?, yes, b?])
                    }
                    Predicate::Xor => {
                        let not = self.diagrams.not(b?)?;
                        self.diagrams.apply(Operation::Select, [a?, not, b?])
                    }
                    Predicate::Less => self.compared(store, congruence, operands, [true, false, false]),
                    Predicate::LessEqual => self.compared(store, congruence, operands, [true, true, false]),
                    Predicate::Equal => self.compared(store, congruence, operands, [false, true, false]),
                };
            }
            Kind::Piecewise(Piecewise::Abs | Piecewise::CopySign)
            | Kind::Product(Product::Div)
            | Kind::Exponential
            | Kind::Function(_)
            | Kind::Ieee => return None,
        };
        self.diagrams.apply(operation, operands)
    }

    /// The condition that the first of two terms is less, equal or greater, where these are wanted.
    fn compared(
        &mut self,
        store: &Store,
        congruence: &mut Congruence,
        [a, b, _]: [TermId; 3],
        [less, equal, greater]: [bool; 3],
    ) -> Option<Diagram> {
        let known = [a, b].map(|operand| self.known.get(&operand).copied().flatten());
        if let [Some(a), Some(b)] = known {
            let is_less = self.diagrams.apply(Operation::Less, [a, b, b])?;
            let is_equal = self.diagrams.apply(Operation::Equal, [a, b, b])?;
            let [less, equal, greater] =
                [less, equal, greater].map(|wanted| self.diagrams.number(wanted.into()));
            let otherwise = self.diagrams.apply(Operation::Select, [is_equal, equal?, greater?])?;
            return self.diagrams.apply(Operation::Select, [is_less, less?, otherwise]);
        }
        let [a, b] = [a, b].map(|operand| congruence.representative(store, operand));
        let (pair, wanted) =
            if a <= b { ([a, b], [less, equal, greater]) } else { ([b, a], [greater, equal, less]) };
        let order = match self.orders.get(&pair) {
            Some(order) => *order,
            None => {
                let variable = self.diagrams.declare(rank(store, pair), 0, 3)?;
                let order = self.diagrams.variable(variable)?;
                self.orders.insert(pair, order);
                order
            }
        };
        let [below, same, above] = wanted.map(|wanted| self.diagrams.number(wanted.into()));
        let one = self.diagrams.number(1)?;
        let is_above = self.diagrams.apply(Operation::Less, [one, order, order])?;
        let is_same = self.diagrams.apply(Operation::Equal, [one, order, order])?;
        let otherwise = self.diagrams.apply(Operation::Select, [is_same, same?, below?])?;
        self.diagrams.apply(Operation::Select, [is_above, above?, otherwise])
    }

    /// An integer divided by another one, as `a · (1/b)`.
    fn quotient(&mut self, store: &Store, of: TermId) -> Option<Diagram> {
        let View::Apply(TermOp::Mul, [a, b, _]) = store.view(of) else { return None };
        let View::Constant(factor) = store.view(b) else { return None };
        let by =
            factor.exact.finite()?.recip().filter(|by| by.is_integer())?.to_i64().filter(|by| *by > 0)?;
        let of = self.known.get(&a).copied().flatten()?;
        let by = self.diagrams.number(by.into())?;
        self.diagrams.apply(Operation::Quotient, [of, by, by])
    }
}

/// Whether the result of an operation may be an integer or a condition that its operands tell.
fn is_of_integers(op: TermOp) -> bool {
    match op.kind() {
        Kind::Sum(_) | Kind::Piecewise(_) | Kind::Condition(_) => true,
        Kind::Product(product) => *product != Product::Div,
        Kind::Function(function) => matches!(function.function, Function::Round(Towards::Floor)),
        Kind::Exponential | Kind::Ieee => false,
    }
}

/// Where a comparison comes in the order of all: by the first element of an input in it, so that those of one row lie
/// together.
fn rank(store: &Store, pair: [TermId; 2]) -> Rank {
    let (mut seen, mut work, mut first) = (FxHashSet::default(), pair.to_vec(), [u64::MAX; 2]);
    while let Some(term) = work.pop().filter(|_| seen.len() < MAX_TERMS) {
        if !seen.insert(term) {
            continue;
        }
        match store.view(term) {
            View::Apply(op, operands) => work.extend(&operands[..op.arity()]),
            View::Constant(_) => {}
            View::Input { input, element } => first = first.min([u64::from(input.0), element]),
        }
    }
    [first[0], first[1], pair[0].raw().max(pair[1].raw())]
}
