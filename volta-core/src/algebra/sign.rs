//! Which signs a term can have: an abstract interpretation, used to discharge obligations (rule V8).

use super::Stop;
use super::analysis::INFINITE;
use super::id::TermRef;
use super::terms::Terms;
use crate::base::ration::Account;
use crate::number::signs::Signs;
use crate::number::value::LimitAtInfinity;
use crate::term::{FunctionInfo, Kind, Piecewise, Product, Sum, TermOp, View};

impl Terms<'_> {
    /// The signs that a term can have, from the operations that made it.
    ///
    /// # Cost
    /// Visits each node once.
    pub(super) fn term_signs(&mut self, root: TermRef, account: &mut Account) -> Result<Signs, Stop> {
        let mut stack = vec![root];
        while let Some(&at) = stack.last() {
            account.pay(1).map_err(Stop::Exhausted)?;
            if self.known_signs(at).is_some() {
                stack.pop();
                continue;
            }
            let View::Apply(op, operands) = self.view(at) else {
                stack.pop();
                continue;
            };
            let first_new = stack.len();
            for operand in &operands[sign_giving(op)] {
                let operand = TermRef { store: at.store, term: *operand };
                if self.known_signs(operand).is_none() {
                    stack.push(operand);
                }
            }
            if stack.len() == first_new {
                let signs = self.combine_signs(op, operands.map(|term| TermRef { store: at.store, term }));
                self.signs.insert(at, signs);
                stack.pop();
            }
        }
        Ok(self.known_signs(root).unwrap_or(Signs::ANY))
    }

    fn known_signs(&self, at: TermRef) -> Option<Signs> {
        match self.view(at) {
            View::Input { input, .. } => Some(self.inputs.get(input.index()).copied().unwrap_or(Signs::ANY)),
            View::Constant(constant) => Some(Signs::from_signum(constant.exact.signum())),
            View::Apply(..) => self.signs.get(&at).copied(),
        }
    }

    fn combine_signs(&self, op: TermOp, operands: [TermRef; 3]) -> Signs {
        let [a, b, c] = operands.map(|operand| self.known_signs(operand).unwrap_or(Signs::ANY));
        let infinite = |operand: TermRef| self.flags(operand) & INFINITE != 0;
        let or_zero = |signs: Signs, zero: bool| if zero { signs | Signs::ZERO } else { signs };
        let product = if operands[0] == operands[1] { a.times_itself() } else { a.times(b) };
        match op.kind() {
            Kind::Sum(Sum::Add) => a.plus(b),
            Kind::Sum(Sum::Sub) => a.plus(-b),
            Kind::Sum(Sum::Fma) => product.plus(c),
            Kind::Product(Product::Mul) => product,
            // The quotient of a number and an infinity is zero.
            Kind::Product(Product::Div) => or_zero(product, infinite(operands[1])),
            Kind::Product(Product::Neg) => -a,
            Kind::Exponential => or_zero(Signs::POSITIVE, infinite(operands[0])),
            Kind::Function(function) => {
                let vanishes =
                    |at: usize, sign| a.contains(sign) && function.limits[at] == LimitAtInfinity::Number(0);
                let zero = vanishes(0, Signs::NEGATIVE) || vanishes(1, Signs::POSITIVE);
                or_zero(a.through(&function.signs), zero && infinite(operands[0]))
            }
            Kind::Piecewise(Piecewise::Abs) => a.times_itself(),
            Kind::Piecewise(Piecewise::Max) => a.max(b),
            Kind::Piecewise(Piecewise::Min) => a.min(b),
            Kind::Piecewise(Piecewise::Mod | Piecewise::BitAnd) => Signs::NOT_NEGATIVE,
            Kind::Piecewise(Piecewise::Select) => b | c,
            Kind::Piecewise(Piecewise::CopySign) => {
                let magnitude = b.times_itself();
                if a == Signs::POSITIVE { magnitude } else { magnitude | -magnitude }
            }
            Kind::Condition(_) | Kind::Ieee => Signs::ANY,
        }
    }
}

/// The operands on which the signs of a result depend.
fn sign_giving(op: TermOp) -> std::ops::Range<usize> {
    match op.kind() {
        Kind::Piecewise(Piecewise::Select) => 1..3,
        // A power of two is positive whatever the exponent, which is usually a long sum.
        Kind::Exponential
        | Kind::Condition(_)
        | Kind::Piecewise(Piecewise::Mod | Piecewise::BitAnd)
        | Kind::Ieee => 0..0,
        Kind::Function(FunctionInfo { signs: [below, at_zero, above], .. })
            if below == at_zero && at_zero == above =>
        {
            0..0
        }
        Kind::Sum(_)
        | Kind::Product(_)
        | Kind::Function(_)
        | Kind::Piecewise(Piecewise::Abs | Piecewise::Max | Piecewise::Min | Piecewise::CopySign) => {
            0..op.arity()
        }
    }
}
