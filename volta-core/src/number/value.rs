//! The value of a term at a point: an enclosure, an infinity, a truth value, or undefined (rule V3).

use std::cmp::Ordering;

use super::interval::{Enclosure, Function, Towards};
use super::signs::Signs;
use super::{Extended, Rational};

/// The value of a real or of a condition at a point.
///
/// Every variant but [`Value::Unresolved`] is certain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<E> {
    /// A finite real in the enclosure.
    Finite(E),
    /// `+∞`
    PosInf,
    /// `−∞`
    NegInf,
    /// A condition that holds.
    True,
    /// A condition that does not hold.
    False,
    /// A condition that is defined, but whose truth value is not decided at this precision.
    Either,
    /// Undefined: rule V3 excludes the operation, here or in an operand (V6).
    Undefined,
    /// Any of the above: not decided at this precision.
    Unresolved,
}

/// The demand of a partial operation on an operand (rule V8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Demand {
    /// `≠ 0`
    Nonzero,
    /// `> 0`
    Positive,
    /// `≥ 0`
    NotNegative,
}

impl Demand {
    /// The signs that meet it.
    pub fn signs(self) -> Signs {
        match self {
            Demand::Nonzero => Signs::NEGATIVE | Signs::POSITIVE,
            Demand::Positive => Signs::POSITIVE,
            Demand::NotNegative => Signs::NOT_NEGATIVE,
        }
    }

    /// Whether a number meets it.
    pub fn is_met_by(self, value: &Rational) -> bool {
        Signs::of(value).within(self.signs())
    }

    /// Whether no number between two bounds with these signs meets it.
    fn is_missed(self, (low, high): (Ordering, Ordering)) -> bool {
        match self {
            Demand::Nonzero => low == Ordering::Equal && high == Ordering::Equal,
            Demand::Positive => high != Ordering::Greater,
            Demand::NotNegative => high == Ordering::Less,
        }
    }
}

/// The limit of a real function at an infinity (rule V3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitAtInfinity {
    /// `+∞`
    PosInf,
    /// `−∞`
    NegInf,
    /// A number.
    Number(i64),
    /// Undefined; the reason.
    Undefined(&'static str),
}

use Value::{Either, False, Finite, NegInf, PosInf, True, Undefined, Unresolved};

impl<E: Enclosure> From<Option<E>> for Value<E> {
    /// A finite value; unresolved if its enclosure is out of range.
    #[inline]
    fn from(enclosure: Option<E>) -> Value<E> {
        enclosure.map_or(Unresolved, Finite)
    }
}

impl<E: Enclosure> Value<E> {
    /// A rational or an infinity.
    pub fn exact(value: &Extended, precision: u32) -> Value<E> {
        match value {
            Extended::Finite(value) => E::exact(value, precision).into(),
            Extended::PosInf => PosInf,
            Extended::NegInf => NegInf,
        }
    }

    /// A small integer, exact at 64 bits.
    fn integer(value: i64) -> Value<E> {
        E::exact(&Rational::from_integer(value), 64).into()
    }

    /// The enclosure of a finite value.
    pub fn finite(&self) -> Option<&E> {
        match self {
            Finite(value) => Some(value),
            PosInf | NegInf | True | False | Either | Undefined | Unresolved => None,
        }
    }

    fn infinity(sign: Ordering) -> Value<E> {
        match sign {
            Ordering::Greater => PosInf,
            Ordering::Less => NegInf,
            Ordering::Equal => Undefined,
        }
    }

    /// The sign of a real or an infinity, if it is certain.
    fn sign(&self) -> Option<Ordering> {
        match self {
            Finite(value) => value.sign(),
            PosInf => Some(Ordering::Greater),
            NegInf => Some(Ordering::Less),
            True | False | Either | Undefined | Unresolved => None,
        }
    }

    /// The result of an operation on operands without a decided value: undefined if one is undefined (V6),
    /// otherwise unresolved.
    fn tainted(operands: &[&Value<E>]) -> Value<E> {
        let undefined = operands.iter().any(|operand| matches!(operand, Undefined));
        if undefined { Undefined } else { Unresolved }
    }

    /// `a + b`; `inf − inf` is undefined.
    #[inline]
    pub fn add(&self, other: &Value<E>) -> Value<E> {
        match (self, other) {
            (Finite(a), Finite(b)) => a.add(b).into(),
            (PosInf, NegInf) | (NegInf, PosInf) => Undefined,
            (PosInf, Finite(_) | PosInf) | (Finite(_), PosInf) => PosInf,
            (NegInf, Finite(_) | NegInf) | (Finite(_), NegInf) => NegInf,
            _ => Value::tainted(&[self, other]),
        }
    }

    /// `a − b`
    pub fn sub(&self, other: &Value<E>) -> Value<E> {
        match (self, other) {
            (Finite(a), Finite(b)) => a.sub(b).into(),
            _ => self.add(&other.neg()),
        }
    }

    /// `a · b`; `0 · inf` is undefined.
    #[inline]
    pub fn mul(&self, other: &Value<E>) -> Value<E> {
        match (self, other) {
            (Finite(a), Finite(b)) => a.mul(b).into(),
            (Finite(_) | PosInf | NegInf, Finite(_) | PosInf | NegInf) => match (self.sign(), other.sign()) {
                (Some(a), Some(b)) => Value::infinity(product_sign(a, b)),
                (None, _) | (_, None) => Unresolved,
            },
            _ => Value::tainted(&[self, other]),
        }
    }

    /// `a / b`; `x / 0` and `inf / inf` are undefined, `finite / inf` is 0.
    pub fn div(&self, other: &Value<E>) -> Value<E> {
        match (self, other) {
            (Finite(_) | PosInf | NegInf, Finite(b)) if b.sign() == Some(Ordering::Equal) => Undefined,
            (Finite(a), Finite(b)) => a.div(b).into(),
            (Finite(_), PosInf | NegInf) => Value::integer(0),
            (PosInf | NegInf, PosInf | NegInf) => Undefined,
            (PosInf | NegInf, Finite(_)) => match (self.sign(), other.sign()) {
                (Some(a), Some(b)) => Value::infinity(product_sign(a, b)),
                (None, _) | (_, None) => Unresolved,
            },
            _ => Value::tainted(&[self, other]),
        }
    }

    /// `−a`
    pub fn neg(&self) -> Value<E> {
        match self {
            Finite(value) => Finite(value.neg()),
            PosInf => NegInf,
            NegInf => PosInf,
            True | False | Either | Undefined | Unresolved => Value::tainted(&[self]),
        }
    }

    /// `|a|`
    pub fn abs(&self) -> Value<E> {
        match self {
            Finite(value) => Finite(value.abs()),
            PosInf | NegInf => PosInf,
            True | False | Either | Undefined | Unresolved => Value::tainted(&[self]),
        }
    }

    /// `max(a, b)`; `max(−inf, x)` is `x`.
    pub fn max(&self, other: &Value<E>) -> Value<E> {
        match (self, other) {
            (Finite(a), Finite(b)) => Finite(a.max(b)),
            (PosInf, Finite(_) | PosInf | NegInf) | (Finite(_) | NegInf, PosInf) => PosInf,
            (NegInf, Finite(_) | NegInf) => other.clone(),
            (Finite(_), NegInf) => self.clone(),
            _ => Value::tainted(&[self, other]),
        }
    }

    /// `min(a, b)`
    pub fn min(&self, other: &Value<E>) -> Value<E> {
        match (self, other) {
            (Finite(a), Finite(b)) => Finite(a.min(b)),
            (NegInf, Finite(_) | PosInf | NegInf) | (Finite(_) | PosInf, NegInf) => NegInf,
            (PosInf, Finite(_) | PosInf) => other.clone(),
            (Finite(_), PosInf) => self.clone(),
            _ => Value::tainted(&[self, other]),
        }
    }

    /// `2^a`; `2^(−inf)` is 0.
    pub fn exp2(&self) -> Value<E> {
        match self {
            Finite(value) => value.exp2().into(),
            PosInf => PosInf,
            NegInf => Value::integer(0),
            True | False | Either | Undefined | Unresolved => Value::tainted(&[self]),
        }
    }

    /// A function with the given demand and limits at −∞ and +∞.
    pub fn apply(
        &self,
        function: Function,
        demand: Option<Demand>,
        [low, high]: &[LimitAtInfinity; 2],
    ) -> Value<E> {
        match self {
            Finite(value) if demand.is_some_and(|demand| demand.is_missed(value.signs())) => Undefined,
            Finite(value) => value.apply(function).into(),
            PosInf => Value::limit(*high),
            NegInf => Value::limit(*low),
            True | False | Either | Undefined | Unresolved => Value::tainted(&[self]),
        }
    }

    fn limit(limit: LimitAtInfinity) -> Value<E> {
        match limit {
            LimitAtInfinity::PosInf => PosInf,
            LimitAtInfinity::NegInf => NegInf,
            LimitAtInfinity::Number(value) => Value::integer(value),
            LimitAtInfinity::Undefined(_) => Undefined,
        }
    }

    /// Rounds to an integer; the result encloses the roundings of all values in the enclosure.
    pub fn to_integer(&self, towards: Towards) -> Value<E> {
        match self {
            Finite(value) => Finite(value.to_integer(towards)),
            PosInf | NegInf => self.clone(),
            True | False | Either | Undefined | Unresolved => Value::tainted(&[self]),
        }
    }

    /// `a − b·⌊a/b⌋`
    pub fn modulo(&self, other: &Value<E>) -> Value<E> {
        self.sub(&other.mul(&self.div(other).to_integer(Towards::Floor)))
    }

    /// The bitwise AND of two non-negative integers; unresolved if they are not known exactly.
    pub fn bit_and(&self, other: &Value<E>) -> Value<E> {
        let natural = |value: &Value<E>| {
            if let Finite(value) = value
                && value.is_point()
            {
                value.bounds().0.to_u64()
            } else {
                None
            }
        };
        match (natural(self), natural(other)) {
            (Some(a), Some(b)) => E::exact(&Rational::from_u64(a & b), 64).into(),
            _ => Value::tainted(&[self, other]),
        }
    }

    /// The magnitude of `self` with the sign of `sign`; unresolved if that is 0, since reals have one zero.
    pub fn with_sign_of(&self, sign: &Value<E>) -> Value<E> {
        match (self, sign) {
            (Finite(_) | PosInf | NegInf, Finite(_) | PosInf | NegInf) => match sign.sign() {
                Some(Ordering::Greater) => self.abs(),
                Some(Ordering::Less) => self.abs().neg(),
                Some(Ordering::Equal) | None if self.sign() == Some(Ordering::Equal) => self.clone(),
                Some(Ordering::Equal) | None => Unresolved,
            },
            _ => Value::tainted(&[self, sign]),
        }
    }

    /// `a < b`
    pub fn less(&self, other: &Value<E>) -> Value<E> {
        match (self, other) {
            (Finite(a), Finite(b)) if a.is_below(b) => True,
            (Finite(a), Finite(b)) if b.is_at_most(a) => False,
            (Finite(_), Finite(_)) => Either,
            (Finite(_) | NegInf, PosInf) | (NegInf, Finite(_)) => True,
            (Finite(_) | PosInf, NegInf) | (PosInf, Finite(_)) | (PosInf, PosInf) | (NegInf, NegInf) => False,
            _ => Value::tainted(&[self, other]),
        }
    }

    /// `a ≤ b`
    pub fn less_equal(&self, other: &Value<E>) -> Value<E> {
        other.less(self).not()
    }

    /// `a = b`
    pub fn equal(&self, other: &Value<E>) -> Value<E> {
        match (self, other) {
            (Finite(a), Finite(b)) if a.is_disjoint(b) => False,
            (Finite(a), Finite(b)) if a.is_at_most(b) && b.is_at_most(a) => True,
            (Finite(_), Finite(_)) => Either,
            (PosInf, PosInf) | (NegInf, NegInf) => True,
            (Finite(_) | PosInf | NegInf, PosInf | NegInf) | (PosInf | NegInf, Finite(_)) => False,
            _ => Value::tainted(&[self, other]),
        }
    }

    /// `¬a`
    pub fn not(&self) -> Value<E> {
        match self {
            True => False,
            False => True,
            Either => Either,
            Finite(_) | PosInf | NegInf | Undefined | Unresolved => Value::tainted(&[self]),
        }
    }

    /// `a ∧ b`
    pub fn and(&self, other: &Value<E>) -> Value<E> {
        match (self, other) {
            (True, True) => True,
            (False, True | False | Either) | (True | Either, False) => False,
            (Either, True | Either) | (True, Either) => Either,
            _ => Value::tainted(&[self, other]),
        }
    }

    /// `a ∨ b`
    pub fn or(&self, other: &Value<E>) -> Value<E> {
        self.not().and(&other.not()).not()
    }

    /// `a ⊕ b`
    pub fn xor(&self, other: &Value<E>) -> Value<E> {
        match (self, other) {
            (True, False) | (False, True) => True,
            (True, True) | (False, False) => False,
            (Either, True | False | Either) | (True | False, Either) => Either,
            _ => Value::tainted(&[self, other]),
        }
    }

    /// `then` where `self` holds, else `otherwise`; the arm not taken is dropped even if it is undefined.
    pub fn select(&self, then: &Value<E>, otherwise: &Value<E>) -> Value<E> {
        match self {
            True => then.clone(),
            False => otherwise.clone(),
            Either => match (then, otherwise) {
                (Finite(a), Finite(b)) => Finite(a.hull(b)),
                (PosInf, PosInf) | (NegInf, NegInf) | (True, True) | (False, False) => then.clone(),
                (Undefined, Undefined) => Undefined,
                (True | False | Either, True | False | Either) => Either,
                _ => Unresolved,
            },
            Finite(_) | PosInf | NegInf | Undefined | Unresolved => Value::tainted(&[self]),
        }
    }
}

fn product_sign(a: Ordering, b: Ordering) -> Ordering {
    if a == Ordering::Greater {
        b
    } else if a == Ordering::Less {
        b.reverse()
    } else {
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::super::interval::Narrow;
    use super::*;

    fn of(value: i64) -> Value<Narrow> {
        Value::integer(value)
    }

    #[test]
    fn infinities_follow_rule_v3() {
        let (zero, two) = (of(0), of(2));
        assert_eq!(NegInf.max(&two), two);
        assert_eq!(two.max(&NegInf), two);
        assert_eq!(PosInf.min(&two), two);
        assert_eq!(NegInf.exp2(), zero);
        assert_eq!(NegInf.add(&two), NegInf);
        assert_eq!(two.sub(&NegInf), PosInf);
        assert_eq!(two.div(&PosInf), zero);
        assert_eq!(NegInf.mul(&of(-3)), PosInf);
        assert_eq!(NegInf.less(&two), True);
        let undefined: [Value<Narrow>; 6] = [
            PosInf.sub(&PosInf),
            NegInf.add(&PosInf),
            zero.mul(&PosInf),
            PosInf.div(&NegInf),
            two.div(&zero),
            PosInf.div(&zero),
        ];
        assert!(undefined.iter().all(|value| *value == Undefined), "{undefined:?}");
    }

    #[test]
    fn only_a_select_drops_what_is_undefined() {
        assert_eq!(Undefined.mul(&of(0)), Undefined);
        assert_eq!(Undefined.max(&PosInf), Value::<Narrow>::Undefined);
        assert_eq!(False.and(&Undefined), Value::<Narrow>::Undefined);
        assert_eq!(True.select(&of(1), &Undefined), of(1));
        assert_eq!(Undefined.select(&of(1), &of(1)), Undefined);
        assert_eq!(Either.select(&of(1), &Undefined), Unresolved);
        let Finite(hull) = Either.select(&of(1), &of(3)) else { panic!("a hull") };
        assert_eq!(hull.bounds(), (Rational::ONE, Rational::from_integer(3)));
    }

    #[test]
    fn what_is_not_known_stays_open() {
        let across = Either.select(&of(-1), &of(1));
        assert_eq!(of(1).div(&across), Unresolved);
        assert_eq!(PosInf.mul(&across), Unresolved);
        assert_eq!(across.less(&of(0)), Either);
        assert_eq!(across.less(&of(2)), True);
        assert_eq!(across.equal(&across), Either);
        assert_eq!(of(2).equal(&of(2)), True);
        assert_eq!(of(2).less_equal(&of(2)), True);
        assert_eq!(of(2).with_sign_of(&across), Unresolved);
        assert_eq!(of(2).with_sign_of(&of(-5)), of(-2));
        assert_eq!(Unresolved.max(&PosInf), Value::<Narrow>::Unresolved);
        assert_eq!(False.and(&Unresolved), Value::<Narrow>::Unresolved);
    }
}
