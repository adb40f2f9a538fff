//! Atoms: the factors of monomials.

use super::condition::ConditionId;
use super::constant_readings::{Irrational, IrrationalLiteral};
use super::id::TermRef;
use super::polynomial::PolynomialId;
use crate::term::{InputId, TermOp};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// A real number that the algebra does not take apart further.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// An element of an input.
    Input(InputId, u64),
    /// An irrational constant, exactly.
    Irrational(Irrational),
    /// A literal that rule V9 may read as an irrational constant.
    Literal(IrrationalLiteral),
    /// A node not looked into yet. Never inside another atom, and absent from finished forms.
    Opaque(TermRef),
    /// A named long sum of products of inputs, packed and sorted as in [`super::packed`], so that an exponent or a
    /// maximum of scores stays short.
    Products(Rc<[u128]>),
    /// A sum of two or more terms without a common factor, leading coefficient 1.
    Sum(PolynomialId),
    /// The largest of two or more.
    Max(Box<[PolynomialId]>),
    /// A function of one real that the algebra treats as uninterpreted, but for a few laws.
    Apply(TermOp, PolynomialId),
    /// The magnitude of the second with the sign of the first. If the first is zero, the sign is read from the term
    /// as executed: reals have one zero, and a value equal to it may have been +0 or −0.
    CopySign(PolynomialId, PolynomialId, TermRef),
    /// The bitwise AND of two non-negative integers; the operands are in the order of their places.
    BitAnd(PolynomialId, PolynomialId),
    /// The payload of the first key that is largest, of two or more: keys and payloads, in order ([`super::arg_max`]).
    FirstLargest(Rc<[(PolynomialId, PolynomialId)]>),
    /// The first where the condition holds, else the second.
    Select(ConditionId, PolynomialId, PolynomialId),
}

impl Atom {
    /// The polynomials within this atom, except those that a condition compares.
    pub(super) fn parts(&self) -> SmallVec<[PolynomialId; 2]> {
        match self {
            Atom::Input(..)
            | Atom::Irrational(_)
            | Atom::Literal(_)
            | Atom::Opaque(_)
            | Atom::Products(_) => SmallVec::new(),
            Atom::Max(arms) => SmallVec::from_slice(arms),
            Atom::FirstLargest(list) => list.iter().flat_map(|(key, payload)| [*key, *payload]).collect(),
            Atom::Sum(inner) | Atom::Apply(_, inner) => smallvec![*inner],
            Atom::CopySign(a, b, _) | Atom::BitAnd(a, b) | Atom::Select(_, a, b) => smallvec![*a, *b],
        }
    }

    /// The node that an opaque atom stands for.
    pub(super) fn opaque(&self) -> Option<TermRef> {
        if let Atom::Opaque(at) = self { Some(*at) } else { None }
    }

    /// The content of a named sum.
    pub(super) fn sum(&self) -> Option<PolynomialId> {
        if let Atom::Sum(content) = self { Some(*content) } else { None }
    }

    /// The arms of a maximum.
    pub(super) fn arms(&self) -> Option<&[PolynomialId]> {
        if let Atom::Max(arms) = self { Some(arms) } else { None }
    }

    /// The terms of a long sum under a name.
    pub(super) fn keys(&self) -> Option<&Rc<[u128]>> {
        if let Atom::Products(keys) = self { Some(keys) } else { None }
    }

    /// The literal of rule V9, if this is one.
    pub(super) fn literal(&self) -> Option<IrrationalLiteral> {
        if let Atom::Literal(literal) = self { Some(*literal) } else { None }
    }

    /// The argument of a function.
    pub(super) fn argument_of(&self, function: TermOp) -> Option<PolynomialId> {
        if let Atom::Apply(own, argument) = self
            && *own == function
        {
            Some(*argument)
        } else {
            None
        }
    }
}
