//! Atoms: what monomials are products of.

use super::condition::ConditionId;
use super::constant_readings::{Irrational, Literal};
use super::id::TermRef;
use super::polynomial::PolynomialId;
use crate::term::{InputId, TermOp};
use std::rc::Rc;

/// A real number that the algebra does not take apart further.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// An element of an input.
    Input(InputId, u64),
    /// An irrational constant, exactly.
    Irrational(Irrational),
    /// A literal that rule V9 may read as an irrational constant.
    Literal(Literal),
    /// A node not looked into yet. Never inside another atom, and gone from finished forms.
    Opaque(TermRef),
    /// A long sum of products of inputs, packed and sorted as in [`super::packed`]: named where it is
    /// part of something larger, so that an exponent or a maximum of scores costs little.
    Products(Rc<[u128]>),
    /// A sum of two or more terms without a common factor, leading coefficient 1.
    Sum(PolynomialId),
    /// The largest of two or more.
    Max(Box<[PolynomialId]>),
    /// A function of one real, of which the algebra knows little.
    Apply(TermOp, PolynomialId),
    /// The magnitude of the second with the sign of the first. Of a zero, it is the sign that is read from a term as it
    /// was executed: reals have one zero, and what is equal to it as a real may be either.
    CopySign(PolynomialId, PolynomialId, TermRef),
    /// The binary digits that two natural numbers have in common; in the order of their places.
    BitAnd(PolynomialId, PolynomialId),
    /// The first where the condition holds, else the second.
    Select(ConditionId, PolynomialId, PolynomialId),
}
