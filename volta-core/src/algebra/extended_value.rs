//! Whether a term is a number, an infinity or undefined (rules V3 and V6).
//!
//! Only terms that [`super::analysis`] flags are examined: every other term is finite wherever its partial
//! operations are defined, and those leave obligations (V8).

use crate::number::value::LimitAtInfinity;
use crate::term::Predicate;

/// What kind of value a term has, at every input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// A real number.
    Finite,
    /// `+∞`
    PosInf,
    /// `−∞`
    NegInf,
    /// A condition whose truth value an infinity decides.
    Known(bool),
    /// No value, and why.
    Undefined(&'static str),
    /// The class depends on the inputs in a way that is not decided; the reason.
    Unknown(&'static str),
}

use Class::{Finite, Known, NegInf, PosInf, Undefined, Unknown};

impl Class {
    pub(super) fn is_infinite(&self) -> bool {
        matches!(self, PosInf | NegInf)
    }

    pub(super) fn negated(self) -> Class {
        match self {
            PosInf => NegInf,
            NegInf => PosInf,
            Finite | Known(_) | Undefined(_) | Unknown(_) => self,
        }
    }

    /// Whether this is less than another value, if an infinity decides it.
    pub(super) fn is_less(&self, other: &Class) -> Option<bool> {
        let decided = self.is_infinite() || other.is_infinite();
        decided.then(|| self != other && (*self == NegInf || *other == PosInf))
    }

    /// Whether this equals another value, if an infinity decides it.
    pub(super) fn is_equal(&self, other: &Class) -> Option<bool> {
        (self.is_infinite() || other.is_infinite()).then(|| self == other)
    }
}

impl From<LimitAtInfinity> for Class {
    fn from(limit: LimitAtInfinity) -> Class {
        match limit {
            LimitAtInfinity::PosInf => PosInf,
            LimitAtInfinity::NegInf => NegInf,
            LimitAtInfinity::Number(_) => Finite,
            LimitAtInfinity::Undefined(why) => Undefined(why),
        }
    }
}

/// The truth value of a condition on operands of these classes, if an infinity decides it.
pub(super) fn decided(predicate: Predicate, a: &Class, b: &Class) -> Option<bool> {
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

/// The class of a sum.
pub(super) fn add(a: Class, b: Class) -> Class {
    match (a, b) {
        (PosInf, NegInf) | (NegInf, PosInf) => Undefined("infinities of opposite sign are added"),
        (PosInf, _) | (_, PosInf) => PosInf,
        (NegInf, _) | (_, NegInf) => NegInf,
        _ => Finite,
    }
}
