//! Integers and conditions as [functions](super::diagram) of what decides them: comparisons that are true or false, and
//! integers of inputs that have few values.
//!
//! Comparisons of which nothing else is known are taken as independent of one another: what holds for all of their values
//! holds for all inputs, and some assignments may belong to none.

use super::congruence::Congruence;
use super::diagram::{Diagram, DiagramOperation, DiagramVariable, Diagrams, Rank};
use super::id::TermId;
use super::info::{FunctionInfo, Kind, Piecewise, Predicate, Product, Sum, TermOp};
use super::node::{Store, View};
use crate::number::Rational;
use crate::number::interval::{Function as RealFunction, Towards};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// An integer of an input is a variable if it has at most so many values.
const MAX_VALUES: i128 = 64;

/// So many terms below a comparison are visited for the first element of an input in it.
const MAX_TERMS: usize = 64;

/// At most so many terms are known to be functions, or to be none.
const MAX_KNOWN: usize = 1 << 18;

/// Where the terms come from that are functions of what decides them.
pub trait Deciding {
    /// A term.
    type Term: Copy + Eq + Hash;

    /// The store of a term, and its id there.
    fn place(&self, term: Self::Term) -> (&Store, TermId);

    /// An operand of a term.
    fn operand(&self, of: Self::Term, operand: TermId) -> Self::Term;

    /// The condition that the first of two terms, of which one is no function, is less, equal or greater, where these are
    /// wanted.
    fn compared(
        &mut self,
        diagrams: &mut Diagrams,
        terms: [Self::Term; 2],
        wanted: [bool; 3],
    ) -> Option<Diagram>;

    /// The number by which a term is known that is neither an integer nor a condition that is decided, at least
    /// [`OPAQUE`].
    fn opaque(&mut self, term: Self::Term) -> Option<i128>;
}

/// Numbers from here on stand for values that are chosen, and nothing else is known of.
pub const OPAQUE: i128 = 1 << 100;

/// A term as a function of what decides it.
#[derive(Clone, Copy, Debug)]
struct Function {
    diagram: Diagram,
    /// Whether its values are numbers and not [opaque](OPAQUE).
    is_number: bool,
}

/// The functions that terms are.
#[derive(Clone, Debug)]
pub struct Functions<T> {
    /// The functions.
    pub diagrams: Diagrams,
    /// Those of terms, `None` where a term is none.
    known: FxHashMap<T, Option<Function>>,
}

impl<T> Default for Functions<T> {
    fn default() -> Functions<T> {
        Functions { diagrams: Diagrams::default(), known: FxHashMap::default() }
    }
}

impl<T: Copy + Eq + Hash> Functions<T> {
    /// Functions whose diagrams have at most so many nodes.
    pub fn of_at_most(nodes: usize) -> Functions<T> {
        Functions { diagrams: Diagrams::default().of_at_most(nodes), ..Functions::default() }
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        self.diagrams.bytes() + (4 * self.known.capacity() * size_of::<TermId>()) as u64
    }

    /// The function that a term is; `None` if it is none of few values, or a large one.
    ///
    /// # Cost
    /// Visits each term once, and takes what the sizes of diagrams bound.
    pub fn of(&mut self, by: &mut impl Deciding<Term = T>, root: T) -> Option<Diagram> {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.known.contains_key(&term) {
                stack.pop();
                continue;
            }
            if self.known.len() >= MAX_KNOWN || self.diagrams.is_full() {
                return None;
            }
            let before = stack.len();
            let (store, id) = by.place(term);
            if let View::Apply(op, operands) = store.view(id)
                && is_of_integers(op)
            {
                let below = operands[..op.arity()].iter().map(|operand| by.operand(term, *operand));
                stack.extend(below.filter(|operand| !self.known.contains_key(operand)));
            }
            if stack.len() == before {
                let found = self.anew(by, term);
                self.known.insert(term, found);
                stack.pop();
            }
        }
        self.known.get(&root).copied().flatten().map(|function| function.diagram)
    }

    /// A term that may be chosen: its function, or what it is known by.
    fn chosen(&mut self, by: &mut impl Deciding<Term = T>, term: T) -> Option<Function> {
        if let Some(function) = self.known.get(&term).copied().flatten() {
            return Some(function);
        }
        let value = by.opaque(term)?;
        let function = Function { diagram: self.diagrams.number(value)?, is_number: value < OPAQUE };
        self.known.insert(term, Some(function));
        Some(function)
    }

    /// The diagram of a term, if it is known, and its values are numbers.
    fn number(&self, term: T) -> Option<Diagram> {
        let function = self.known.get(&term).copied().flatten()?;
        function.is_number.then_some(function.diagram)
    }

    /// Like [`Functions::of`], where those of the operands are known.
    fn anew(&mut self, by: &mut impl Deciding<Term = T>, term: T) -> Option<Function> {
        let (store, id) = by.place(term);
        let (op, ids) = match store.view(id) {
            View::Constant(constant) => {
                let number = constant.exact.finite().filter(|value| value.is_integer())?;
                let is_modulus = *number == Rational::power_of_two(64);
                let number = number.to_i64().map(i128::from).or(is_modulus.then_some(1 << 64))?;
                return Some(Function { diagram: self.diagrams.number(number)?, is_number: true });
            }
            View::Input { input, element } => {
                let integers = store.integers(input).filter(|of| of.count() <= MAX_VALUES)?;
                let count = u32::try_from(integers.count()).ok()?;
                let rank = [u64::from(input.0), element, 0];
                let known = self.diagrams.declared(rank);
                let variable = known.or_else(|| self.diagrams.declare(rank, integers.least, count))?;
                return Some(Function { diagram: self.diagrams.variable(variable)?, is_number: true });
            }
            View::Apply(op, operands) => (op, operands),
        };
        let quotient = quotient(store, ids[0]);
        let operands = ids.map(|operand| by.operand(term, operand));
        if op == TermOp::Select {
            let condition = self.number(operands[0])?;
            let (then, otherwise) = (self.chosen(by, operands[1])?, self.chosen(by, operands[2])?);
            let chosen = [condition, then.diagram, otherwise.diagram];
            let diagram = self.diagrams.apply(DiagramOperation::Select, chosen)?;
            return Some(Function { diagram, is_number: then.is_number && otherwise.is_number });
        }
        let diagram = match quotient.filter(|_| op == TermOp::Floor) {
            Some((of, divisor)) => {
                let of = self.number(by.operand(term, of))?;
                let divisor = self.diagrams.number(divisor)?;
                self.diagrams.apply(DiagramOperation::Quotient, [of, divisor, divisor])
            }
            None => self.operation(by, op, operands),
        };
        Some(Function { diagram: diagram?, is_number: true })
    }

    /// An operation on numbers and conditions.
    fn operation(
        &mut self,
        by: &mut impl Deciding<Term = T>,
        op: TermOp,
        operands: [T; 3],
    ) -> Option<Diagram> {
        let [a, b, c] = operands.map(|operand| self.number(operand));
        let two = |operation| Some((operation, [a?, b?, b?]));
        let (operation, operands) = match op.kind() {
            Kind::Sum(Sum::Add) => two(DiagramOperation::Add)?,
            Kind::Sum(Sum::Sub) => two(DiagramOperation::Sub)?,
            Kind::Sum(Sum::Fma) => {
                let (operation, operands) = two(DiagramOperation::Mul)?;
                (DiagramOperation::Add, [self.diagrams.apply(operation, operands)?, c?, c?])
            }
            Kind::Product(Product::Mul) => two(DiagramOperation::Mul)?,
            Kind::Product(Product::Neg) => (DiagramOperation::Sub, [self.diagrams.number(0)?, a?, a?]),
            Kind::Piecewise(Piecewise::Mod) => two(DiagramOperation::Mod)?,
            Kind::Piecewise(Piecewise::BitAnd) => two(DiagramOperation::BitAnd)?,
            Kind::Piecewise(Piecewise::Max) => two(DiagramOperation::Max)?,
            Kind::Piecewise(Piecewise::Min) => two(DiagramOperation::Min)?,
            Kind::Function(FunctionInfo { function: RealFunction::Round(Towards::Floor), .. }) => return a,
            Kind::Condition(predicate) => {
                let wanted = match predicate {
                    Predicate::Not => return self.diagrams.not(a?),
                    Predicate::And => return self.diagrams.and(a?, b?),
                    Predicate::Or => {
                        let yes = self.diagrams.number(1)?;
                        return self.diagrams.apply(DiagramOperation::Select, [a?, yes, b?]);
                    }
                    Predicate::Xor => {
                        let not = self.diagrams.not(b?)?;
                        return self.diagrams.apply(DiagramOperation::Select, [a?, not, b?]);
                    }
                    Predicate::Less => [true, false, false],
                    Predicate::LessEqual => [true, true, false],
                    Predicate::Equal => [false, true, false],
                };
                return match (a, b) {
                    (Some(a), Some(b)) => self.diagrams.ordered([a, b], wanted),
                    (None, _) | (_, None) => {
                        by.compared(&mut self.diagrams, [operands[0], operands[1]], wanted)
                    }
                };
            }
            Kind::Piecewise(Piecewise::Abs | Piecewise::CopySign | Piecewise::Select)
            | Kind::Product(Product::Div)
            | Kind::Exponential
            | Kind::Function(_)
            | Kind::Ieee => return None,
        };
        self.diagrams.apply(operation, operands)
    }
}

/// An integer and a number of which a term is the quotient, as `a · (1/b)`.
fn quotient(store: &Store, of: TermId) -> Option<(TermId, i128)> {
    let View::Apply(TermOp::Mul, [a, b, _]) = store.view(of) else { return None };
    let View::Constant(factor) = store.view(b) else { return None };
    let by = factor.exact.finite()?.recip().filter(|by| by.is_integer())?.to_i64().filter(|by| *by > 0)?;
    Some((a, by.into()))
}

/// The functions that integers and conditions of one store are.
#[derive(Debug, Default)]
pub struct Decisions {
    functions: Functions<TermId>,
    /// Of which two terms the first is less (0), equal (1) or greater (2).
    orders: FxHashMap<[TermId; 2], DiagramVariable>,
}

impl Decisions {
    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        self.functions.bytes() + (4 * self.orders.capacity() * size_of::<TermId>()) as u64
    }

    /// All of them.
    pub fn diagrams(&mut self) -> &mut Diagrams {
        &mut self.functions.diagrams
    }

    /// As [`Functions::of`].
    pub fn of(&mut self, store: &Store, congruence: &mut Congruence, root: TermId) -> Option<Diagram> {
        let Decisions { functions, orders } = self;
        functions.of(&mut InStore { store, congruence, orders }, root)
    }
}

/// Terms of one store; those that are congruent are compared alike.
struct InStore<'s> {
    store: &'s Store,
    congruence: &'s mut Congruence,
    orders: &'s mut FxHashMap<[TermId; 2], DiagramVariable>,
}

impl Deciding for InStore<'_> {
    type Term = TermId;

    fn place(&self, term: TermId) -> (&Store, TermId) {
        (self.store, term)
    }

    fn operand(&self, _: TermId, operand: TermId) -> TermId {
        operand
    }

    fn compared(
        &mut self,
        diagrams: &mut Diagrams,
        terms: [TermId; 2],
        [less, equal, greater]: [bool; 3],
    ) -> Option<Diagram> {
        let [a, b] = terms.map(|operand| self.congruence.representative(self.store, operand));
        let (pair, wanted) =
            if a <= b { ([a, b], [less, equal, greater]) } else { ([b, a], [greater, equal, less]) };
        let variable = match self.orders.get(&pair) {
            Some(variable) => *variable,
            None => {
                let variable = diagrams.declare(rank(self.store, pair), 0, 3)?;
                self.orders.insert(pair, variable);
                variable
            }
        };
        diagrams.of_values(variable, &wanted.map(i128::from))
    }

    fn opaque(&mut self, _: TermId) -> Option<i128> {
        None
    }
}

/// Whether the result of an operation may be an integer or a condition that its operands tell.
fn is_of_integers(op: TermOp) -> bool {
    match op.kind() {
        Kind::Sum(_) | Kind::Piecewise(_) | Kind::Condition(_) => true,
        Kind::Product(product) => *product != Product::Div,
        Kind::Function(function) => matches!(function.function, RealFunction::Round(Towards::Floor)),
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
