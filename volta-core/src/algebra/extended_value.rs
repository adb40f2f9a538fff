//! Whether a term is a number, an infinity or undefined (rules V3 and V6).
//!
//! Only terms that [`super::analysis`] suspects are looked at: everything else is finite wherever its partial
//! operations are defined, and those leave obligations (V8).

use super::Stop;
use super::analysis::INFINITE;
use super::atom::TermRef;
use super::canon::Prover;
use crate::number::Extended;
use crate::number::signs::Signs;
use crate::number::value::Limit;
use crate::term::{Kind, Piecewise, Predicate, Product, Sum, TermOp, View};

/// What kind of value a term has, at every input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// A real number.
    Finite,
    /// `+∞`
    PosInf,
    /// `−∞`
    NegInf,
    /// A condition that infinities decide.
    Known(bool),
    /// No value, and why.
    Undefined(&'static str),
    /// It depends on the inputs in a way that is not decided, and how.
    Unknown(&'static str),
}

use Class::{Finite, Known, NegInf, PosInf, Undefined, Unknown};

impl Class {
    fn is_infinite(&self) -> bool {
        matches!(self, PosInf | NegInf)
    }

    fn negated(self) -> Class {
        match self {
            PosInf => NegInf,
            NegInf => PosInf,
            Finite | Known(_) | Undefined(_) | Unknown(_) => self,
        }
    }

    /// Whether this is less than another value, where infinities decide it.
    pub(super) fn is_less(&self, other: &Class) -> Option<bool> {
        let decided = self.is_infinite() || other.is_infinite();
        decided.then(|| self != other && (*self == NegInf || *other == PosInf))
    }

    /// Whether this equals another value, where infinities decide it.
    pub(super) fn is_equal(&self, other: &Class) -> Option<bool> {
        (self.is_infinite() || other.is_infinite()).then(|| self == other)
    }
}

impl From<Limit> for Class {
    fn from(limit: Limit) -> Class {
        match limit {
            Limit::PosInf => PosInf,
            Limit::NegInf => NegInf,
            Limit::Number(_) => Finite,
            Limit::Undefined(why) => Undefined(why),
        }
    }
}

impl Prover<'_> {
    /// The class of a term.
    ///
    /// # Cost
    /// Each suspected node once per prover.
    pub fn class(&mut self, root: TermRef) -> Result<Class, Stop> {
        if self.flags(root) & INFINITE == 0 {
            return Ok(Finite);
        }
        let mut stack = vec![root];
        while let Some(&at) = stack.last() {
            self.charge(1)?;
            if self.known_class(at).is_some() {
                stack.pop();
                continue;
            }
            let View::Apply(op, operands) = self.view(at) else { break };
            let before = stack.len();
            let operands = operands.map(|term| TermRef { store: at.store, term });
            stack.extend(
                operands[..op.arity()].iter().filter(|operand| self.known_class(**operand).is_none()),
            );
            if stack.len() == before {
                let class = self.combine_classes(op, operands)?;
                self.classes.insert(at, class);
                stack.pop();
            }
        }
        Ok(self.known_class(root).unwrap_or(Unknown("a condition is no number")))
    }

    fn known_class(&self, at: TermRef) -> Option<Class> {
        if let View::Constant(constant) = self.view(at) {
            return Some(match constant.exact {
                Extended::Finite(_) => Finite,
                Extended::PosInf => PosInf,
                Extended::NegInf => NegInf,
            });
        }
        if self.flags(at) & INFINITE == 0 {
            return Some(Finite);
        }
        self.classes.get(&at).cloned()
    }

    fn combine_classes(&mut self, op: TermOp, operands: [TermRef; 3]) -> Result<Class, Stop> {
        let class = |prover: &Prover<'_>, at: usize| prover.known_class(operands[at]).unwrap_or(Finite);
        let [a, b, c] = [class(self, 0), class(self, 1), class(self, 2)];
        if op == TermOp::Select {
            return Ok(match (a, b, c) {
                (a @ Undefined(_), _, _) => a,
                (Known(true), b, _) => b,
                (Known(false), _, c) => c,
                (_, b, c) if b == c => b,
                _ => Unknown("a choice between numbers and infinities under a condition on inputs"),
            });
        }
        let used = [&a, &b, &c];
        let used = &used[..op.arity()];
        if let Some(undefined) = used.iter().find(|class| matches!(class, Undefined(_))) {
            return Ok((*undefined).clone());
        }
        if let Some(unknown) = used.iter().find(|class| matches!(class, Unknown(_))) {
            return Ok((*unknown).clone());
        }
        Ok(match op.kind() {
            Kind::Sum(Sum::Add) => add(a, b),
            Kind::Sum(Sum::Sub) => add(a, b.negated()),
            Kind::Sum(Sum::Fma) => match self.multiply_classes(operands[0], a, operands[1], b)? {
                product @ (Undefined(_) | Unknown(_)) => product,
                product @ (Finite | Known(_) | PosInf | NegInf) => add(product, c),
            },
            Kind::Product(Product::Mul) => self.multiply_classes(operands[0], a, operands[1], b)?,
            Kind::Product(Product::Div) => match (a.is_infinite(), b.is_infinite()) {
                (true, true) => Undefined("an infinity is divided by an infinity"),
                (true, false) => self.multiply_classes(operands[0], a, operands[1], b)?,
                (false, _) => Finite,
            },
            Kind::Product(Product::Neg) => a.negated(),
            Kind::Exponential if a == PosInf => PosInf,
            Kind::Exponential => Finite,
            Kind::Function(function) => match a {
                NegInf => function.limits[0].into(),
                PosInf => function.limits[1].into(),
                Finite | Known(_) | Undefined(_) | Unknown(_) => Finite,
            },
            Kind::Piecewise(Piecewise::Abs) if a == NegInf => PosInf,
            Kind::Piecewise(Piecewise::Abs) => a,
            Kind::Piecewise(Piecewise::Max) => match (a, b) {
                (PosInf, _) | (_, PosInf) => PosInf,
                (NegInf, NegInf) => NegInf,
                _ => Finite,
            },
            Kind::Piecewise(Piecewise::Min) => match (a, b) {
                (NegInf, _) | (_, NegInf) => NegInf,
                (PosInf, PosInf) => PosInf,
                _ => Finite,
            },
            Kind::Piecewise(Piecewise::CopySign) if b.is_infinite() => {
                Unknown("an infinity with the sign of an input")
            }
            Kind::Piecewise(Piecewise::Mod) if a.is_infinite() => Undefined("the remainder of an infinity"),
            Kind::Piecewise(Piecewise::CopySign | Piecewise::Mod | Piecewise::Select | Piecewise::BitAnd) => {
                Finite
            }
            Kind::Condition(predicate) => decided(*predicate, &a, &b).map_or(Finite, Known),
        })
    }

    fn signs_in_class(&mut self, at: TermRef, class: &Class) -> Result<Signs, Stop> {
        match class {
            PosInf => Ok(Signs::POSITIVE),
            NegInf => Ok(Signs::NEGATIVE),
            Finite | Known(_) | Undefined(_) | Unknown(_) => self.term_signs(at),
        }
    }

    /// The class of a product, or of a quotient by something finite.
    fn multiply_classes(
        &mut self,
        a: TermRef,
        a_class: Class,
        b: TermRef,
        b_class: Class,
    ) -> Result<Class, Stop> {
        if !a_class.is_infinite() && !b_class.is_infinite() {
            return Ok(Finite);
        }
        let signs = self.signs_in_class(a, &a_class)?.times(self.signs_in_class(b, &b_class)?);
        Ok(if signs == Signs::POSITIVE {
            PosInf
        } else if signs == Signs::NEGATIVE {
            NegInf
        } else if signs == Signs::ZERO {
            Undefined("zero times an infinity")
        } else {
            Undefined("an infinity times a value whose sign is not known")
        })
    }
}

/// What a condition is of operands of these classes, where infinities decide it.
fn decided(predicate: Predicate, a: &Class, b: &Class) -> Option<bool> {
    let known = |class: &Class| if let Known(truth) = class { Some(*truth) } else { None };
    match predicate {
        Predicate::Less => a.is_less(b),
        Predicate::LessEqual => b.is_less(a).map(|less| !less),
        Predicate::Equal => a.is_equal(b),
        Predicate::Not => known(a).map(|truth| !truth),
        Predicate::And | Predicate::Or => {
            let (all, alone) = (predicate == Predicate::And, predicate == Predicate::Or);
            match (known(a), known(b)) {
                (Some(truth), _) | (_, Some(truth)) if truth == alone => Some(alone),
                (Some(_), Some(_)) => Some(all),
                _ => None,
            }
        }
        Predicate::Xor => Some(known(a)? != known(b)?),
    }
}

fn add(a: Class, b: Class) -> Class {
    match (a, b) {
        (PosInf, NegInf) | (NegInf, PosInf) => Undefined("infinities of opposite sign are added"),
        (PosInf, _) | (_, PosInf) => PosInf,
        (NegInf, _) | (_, NegInf) => NegInf,
        _ => Finite,
    }
}
