//! Operations on constants, exactly (rules V3, V7).

use super::info::{FunctionInfo, Kind, Piecewise, Predicate, Product, Sum, TermOp};
use crate::number::interval::Function;
use crate::number::value::LimitAtInfinity;
use crate::number::{Extended, Rational};

/// The result of folding an operation on constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fold {
    /// A rational or an infinity.
    Value(Extended),
    /// A truth value.
    Truth(bool),
    /// Undefined by rule V3.
    Undefined,
    /// An irrational real, or one that is not computed here.
    Irrational,
}

/// Applies an operation to constants, as many as its arity (conditions are not folded here).
pub fn fold(op: TermOp, arguments: &[&Extended]) -> Fold {
    use Extended::{Finite, NegInf, PosInf};
    let finite = |value: Rational| Fold::Value(Finite(value));
    match (op.kind(), arguments) {
        (Kind::Sum(Sum::Add), [a, b]) => add(a, b),
        (Kind::Sum(Sum::Sub), [a, b]) => add(a, &negate(b)),
        (Kind::Product(Product::Mul), [a, b]) => multiply(a, b),
        (Kind::Sum(Sum::Fma), [a, b, c]) => match multiply(a, b) {
            Fold::Value(product) => add(&product, c),
            undefined @ (Fold::Undefined | Fold::Irrational | Fold::Truth(_)) => undefined,
        },
        (Kind::Product(Product::Div), [a, b]) => match (a, b) {
            (Finite(x), Finite(y)) => x.checked_div(y).map_or(Fold::Undefined, finite),
            (Finite(_), PosInf | NegInf) => finite(Rational::ZERO),
            (PosInf | NegInf, Finite(y)) if y.is_zero() => Fold::Undefined,
            (PosInf | NegInf, Finite(y)) => multiply(a, &Finite(Rational::from_integer(y.signum().into()))),
            (PosInf | NegInf, PosInf | NegInf) => Fold::Undefined,
        },
        (Kind::Product(Product::Neg), [a]) => Fold::Value(negate(a)),
        (Kind::Exponential, [PosInf]) => Fold::Value(PosInf),
        (Kind::Exponential, [NegInf]) => finite(Rational::ZERO),
        (Kind::Exponential, [Finite(x)]) => match x.to_i64().and_then(|x| i32::try_from(x).ok()) {
            Some(power) if x.is_integer() && power.unsigned_abs() <= 2000 => {
                finite(Rational::power_of_two(power))
            }
            _ => Fold::Irrational,
        },
        (Kind::Function(function), [PosInf]) => at_limit(function.limits[1]),
        (Kind::Function(function), [NegInf]) => at_limit(function.limits[0]),
        (Kind::Function(function), [Finite(x)]) => {
            let defined = op.info().demand.is_none_or(|(demand, _)| demand.is_met_by(x));
            if defined { of_number(function, x) } else { Fold::Undefined }
        }
        (Kind::Piecewise(Piecewise::Abs), [a]) => {
            Fold::Value(if a.signum() < 0 { negate(a) } else { (*a).clone() })
        }
        (Kind::Piecewise(Piecewise::Max), [a, b]) => {
            Fold::Value(if less(a, b) { (*b).clone() } else { (*a).clone() })
        }
        (Kind::Piecewise(Piecewise::Min), [a, b]) => {
            Fold::Value(if less(b, a) { (*b).clone() } else { (*a).clone() })
        }
        (Kind::Piecewise(Piecewise::Mod), [Finite(a), Finite(b)]) if b.is_positive() => {
            let quotient = a.checked_div(b).map(|quotient| quotient.floor());
            quotient.map_or(Fold::Undefined, |quotient| finite(a - &(b * &quotient)))
        }
        (Kind::Piecewise(Piecewise::BitAnd), [Finite(a), Finite(b)]) => match (a.to_u64(), b.to_u64()) {
            (Some(a), Some(b)) => finite(Rational::from_u64(a & b)),
            _ => Fold::Irrational,
        },
        (Kind::Condition(Predicate::Less), [a, b]) => Fold::Truth(less(a, b)),
        (Kind::Condition(Predicate::LessEqual), [a, b]) => Fold::Truth(!less(b, a)),
        (Kind::Condition(Predicate::Equal), [a, b]) => Fold::Truth(a == b),
        // An operation that is not folded stays a term.
        _ => Fold::Irrational,
    }
}

fn at_limit(limit: LimitAtInfinity) -> Fold {
    match limit {
        LimitAtInfinity::PosInf => Fold::Value(Extended::PosInf),
        LimitAtInfinity::NegInf => Fold::Value(Extended::NegInf),
        LimitAtInfinity::Number(value) => Fold::Value(Extended::Finite(Rational::from_integer(value))),
        LimitAtInfinity::Undefined(_) => Fold::Undefined,
    }
}

/// A function of a number at which it is defined.
fn of_number(info: &FunctionInfo, x: &Rational) -> Fold {
    let value = if let Function::Round(towards) = info.function {
        towards.round(x)
    } else if info.function == Function::Saturate {
        x.clone().max(Rational::ZERO).min(Rational::ONE)
    } else {
        let known = info.points.iter().find(|(at, _)| *x == Rational::from_integer(*at));
        let Some((_, value)) = known else { return Fold::Irrational };
        Rational::from_integer(*value)
    };
    Fold::Value(Extended::Finite(value))
}

fn negate(value: &Extended) -> Extended {
    match value {
        Extended::Finite(value) => Extended::Finite(-value),
        Extended::PosInf => Extended::NegInf,
        Extended::NegInf => Extended::PosInf,
    }
}

fn add(a: &Extended, b: &Extended) -> Fold {
    use Extended::{Finite, NegInf, PosInf};
    match (a, b) {
        (Finite(x), Finite(y)) => Fold::Value(Finite(x + y)),
        (PosInf, NegInf) | (NegInf, PosInf) => Fold::Undefined,
        (PosInf, _) | (_, PosInf) => Fold::Value(PosInf),
        (NegInf, _) | (_, NegInf) => Fold::Value(NegInf),
    }
}

fn multiply(a: &Extended, b: &Extended) -> Fold {
    if let (Extended::Finite(x), Extended::Finite(y)) = (a, b) {
        return Fold::Value(Extended::Finite(x * y));
    }
    match a.signum() * b.signum() {
        0 => Fold::Undefined,
        sign if sign > 0 => Fold::Value(Extended::PosInf),
        _ => Fold::Value(Extended::NegInf),
    }
}

fn less(a: &Extended, b: &Extended) -> bool {
    use Extended::{Finite, NegInf, PosInf};
    match (a, b) {
        (Finite(x), Finite(y)) => x < y,
        (NegInf, other) => *other != NegInf,
        (other, PosInf) => *other != PosInf,
        (PosInf, _) | (_, NegInf) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finite(value: i64) -> Extended {
        Extended::Finite(Rational::from_integer(value))
    }

    #[test]
    fn infinities_follow_rule_v3() {
        let (inf, neg) = (Extended::PosInf, Extended::NegInf);
        assert_eq!(fold(TermOp::Max, &[&neg, &finite(3)]), Fold::Value(finite(3)));
        assert_eq!(fold(TermOp::Exp2, &[&neg]), Fold::Value(finite(0)));
        assert_eq!(fold(TermOp::Sub, &[&neg, &finite(3)]), Fold::Value(Extended::NegInf));
        assert_eq!(fold(TermOp::Div, &[&finite(3), &inf]), Fold::Value(finite(0)));
        assert_eq!(fold(TermOp::Sub, &[&neg, &neg]), Fold::Undefined);
        assert_eq!(fold(TermOp::Mul, &[&finite(0), &inf]), Fold::Undefined);
        assert_eq!(fold(TermOp::Div, &[&finite(1), &finite(0)]), Fold::Undefined);
        assert_eq!(fold(TermOp::Div, &[&inf, &neg]), Fold::Undefined);
        assert_eq!(fold(TermOp::Mul, &[&finite(-2), &inf]), Fold::Value(Extended::NegInf));
    }
}
