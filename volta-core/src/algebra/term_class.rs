//! Which terms are infinite or undefined (rules V3 and V6), from the operations that made them.

use super::Stop;
use super::analysis::INFINITE;
use super::extended_value::Class::{self, Finite, Known, NegInf, PosInf, Undefined, Unknown};
use super::extended_value::{add, decided};
use super::id::TermRef;
use super::terms::Terms;
use crate::base::ration::Account;
use crate::number::Extended;
use crate::number::signs::Signs;
use crate::term::{Kind, Piecewise, Product, Sum, TermOp, View};

impl Terms<'_> {
    /// The class of a term.
    ///
    /// # Cost
    /// Visits each suspected node once.
    pub(super) fn class(&mut self, root: TermRef, account: &mut Account) -> Result<Class, Stop> {
        if self.flags(root) & INFINITE == 0 {
            return Ok(Finite);
        }
        let mut stack = vec![root];
        while let Some(&at) = stack.last() {
            account.pay(1).map_err(Stop::Exhausted)?;
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
                let class = self.combine_classes(op, operands, account)?;
                self.classes.insert(at, class);
                stack.pop();
            }
        }
        Ok(self.known_class(root).unwrap_or(Unknown("a condition is not a number")))
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

    fn combine_classes(
        &mut self,
        op: TermOp,
        operands: [TermRef; 3],
        account: &mut Account,
    ) -> Result<Class, Stop> {
        let class = |terms: &Terms<'_>, at: usize| terms.known_class(operands[at]).unwrap_or(Finite);
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
            Kind::Sum(Sum::Fma) => match self.multiply_classes(operands[0], a, operands[1], b, account)? {
                product @ (Undefined(_) | Unknown(_)) => product,
                product @ (Finite | Known(_) | PosInf | NegInf) => add(product, c),
            },
            Kind::Product(Product::Mul) => self.multiply_classes(operands[0], a, operands[1], b, account)?,
            Kind::Product(Product::Div) => match (a.is_infinite(), b.is_infinite()) {
                (true, true) => Undefined("an infinity is divided by an infinity"),
                (true, false) => self.multiply_classes(operands[0], a, operands[1], b, account)?,
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
            Kind::Ieee => Unknown("an operation of IEEE arithmetic"),
            Kind::Condition(predicate) => decided(*predicate, &a, &b).map_or(Finite, Known),
        })
    }

    /// The signs that a term can have, infinities included.
    pub(super) fn signs_with_infinities(
        &mut self,
        at: TermRef,
        account: &mut Account,
    ) -> Result<Signs, Stop> {
        let class = self.class(at, account)?;
        self.signs_in_class(at, &class, account)
    }

    fn signs_in_class(&mut self, at: TermRef, class: &Class, account: &mut Account) -> Result<Signs, Stop> {
        match class {
            PosInf => Ok(Signs::POSITIVE),
            NegInf => Ok(Signs::NEGATIVE),
            Finite | Known(_) | Undefined(_) | Unknown(_) => self.term_signs(at, account),
        }
    }

    /// The class of a product, or of a quotient with a finite divisor.
    fn multiply_classes(
        &mut self,
        a: TermRef,
        a_class: Class,
        b: TermRef,
        b_class: Class,
        account: &mut Account,
    ) -> Result<Class, Stop> {
        if !a_class.is_infinite() && !b_class.is_infinite() {
            return Ok(Finite);
        }
        let signs =
            self.signs_in_class(a, &a_class, account)?.times(self.signs_in_class(b, &b_class, account)?);
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
