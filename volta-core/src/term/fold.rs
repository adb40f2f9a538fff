//! Operations on constants, exactly (rules V3, V7).

use super::node::TermOp;
use crate::number::{Extended, Rational};

/// The result of an operation on constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fold {
    /// A rational or an infinity.
    Value(Extended),
    /// A truth value.
    Truth(bool),
    /// Rule V3 gives it no value.
    Undefined,
    /// A real that is no rational, or is not computed here.
    Irrational,
}

/// Applies an operation to constants; the arguments are as many as its arity (conditions do not fold here).
pub fn fold(op: TermOp, arguments: &[&Extended]) -> Fold {
    use Extended::{Finite, NegInf, PosInf};
    let finite = |value: Rational| Fold::Value(Finite(value));
    match (op, arguments) {
        (TermOp::Add, [a, b]) => add(a, b),
        (TermOp::Sub, [a, b]) => add(a, &negate(b)),
        (TermOp::Mul, [a, b]) => multiply(a, b),
        (TermOp::Fma, [a, b, c]) => match multiply(a, b) {
            Fold::Value(product) => add(&product, c),
            other => other,
        },
        (TermOp::Div, [a, b]) => match (a, b) {
            (Finite(x), Finite(y)) => x.checked_div(y).map_or(Fold::Undefined, finite),
            (Finite(_), PosInf | NegInf) => finite(Rational::ZERO),
            (PosInf | NegInf, Finite(y)) if y.is_zero() => Fold::Undefined,
            (PosInf | NegInf, Finite(y)) => multiply(a, &Finite(Rational::from_integer(y.signum().into()))),
            (PosInf | NegInf, PosInf | NegInf) => Fold::Undefined,
        },
        (TermOp::Neg, [a]) => Fold::Value(negate(a)),
        (TermOp::Abs, [a]) => Fold::Value(if a.signum() < 0 { negate(a) } else { (*a).clone() }),
        (TermOp::Max, [a, b]) => Fold::Value(if less(a, b) { (*b).clone() } else { (*a).clone() }),
        (TermOp::Min, [a, b]) => Fold::Value(if less(b, a) { (*b).clone() } else { (*a).clone() }),
        (TermOp::Saturate, [a]) => {
            let (zero, one) = (Finite(Rational::ZERO), Finite(Rational::ONE));
            let low = if less(a, &zero) { zero } else { (*a).clone() };
            Fold::Value(if less(&one, &low) { one } else { low })
        }
        (TermOp::Exp2, [PosInf]) => Fold::Value(PosInf),
        (TermOp::Exp2, [NegInf]) => finite(Rational::ZERO),
        (TermOp::Exp2, [Finite(x)]) => match x.to_i64().and_then(|x| i32::try_from(x).ok()) {
            Some(power) if x.is_integer() && power.unsigned_abs() <= 2000 => {
                finite(Rational::power_of_two(power))
            }
            _ => Fold::Irrational,
        },
        (TermOp::Log2, [Finite(x)]) if !x.is_positive() => Fold::Undefined,
        (TermOp::Log2, [NegInf]) | (TermOp::Sqrt, [NegInf]) | (TermOp::Rsqrt, [NegInf]) => Fold::Undefined,
        (TermOp::Sqrt, [Finite(x)]) if x.is_negative() => Fold::Undefined,
        (TermOp::Rsqrt, [Finite(x)]) if !x.is_positive() => Fold::Undefined,
        (TermOp::Log2 | TermOp::Sqrt, [PosInf]) => Fold::Value(PosInf),
        (TermOp::Rsqrt, [PosInf]) => finite(Rational::ZERO),
        (TermOp::Log2, [Finite(x)]) if x.is_one() => finite(Rational::ZERO),
        (TermOp::Sqrt, [Finite(x)]) if x.is_zero() || x.is_one() => finite(x.clone()),
        (TermOp::Rsqrt, [Finite(x)]) if x.is_one() => finite(x.clone()),
        (TermOp::Sin | TermOp::Tanh, [Finite(x)]) if x.is_zero() => finite(Rational::ZERO),
        (TermOp::Cos, [Finite(x)]) if x.is_zero() => finite(Rational::ONE),
        (TermOp::Floor, [Finite(x)]) => finite(x.floor()),
        (TermOp::Ceil, [Finite(x)]) => finite(x.ceil()),
        (TermOp::Trunc, [Finite(x)]) => finite(x.trunc()),
        (TermOp::RoundEven, [Finite(x)]) => finite(x.round_even()),
        (TermOp::Mod, [Finite(a), Finite(b)]) if b.is_positive() => {
            let quotient = a.checked_div(b).map(|quotient| quotient.floor());
            quotient.map_or(Fold::Undefined, |quotient| finite(a - &(b * &quotient)))
        }
        (TermOp::BitAnd, [Finite(a), Finite(b)]) => match (a.to_u64(), b.to_u64()) {
            (Some(a), Some(b)) => finite(Rational::from_u64(a & b)),
            _ => Fold::Irrational,
        },
        (TermOp::Less, [a, b]) => Fold::Truth(less(a, b)),
        (TermOp::LessEqual, [a, b]) => Fold::Truth(!less(b, a)),
        (TermOp::Equal, [a, b]) => Fold::Truth(a == b),
        _ => Fold::Irrational,
    }
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
