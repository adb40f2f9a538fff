//! Operations on enclosures of values.

use super::info::{Kind, Piecewise, Predicate, Product, Sum, TermOp};
use crate::number::interval::Enclosure;
use crate::number::value::Value;

/// An operation on enclosures; arguments beyond its arity are ignored.
#[inline(always)] // Once for each lane of each node.
pub fn enclose<E: Enclosure>(op: TermOp, [a, b, c]: [&Value<E>; 3]) -> Value<E> {
    let info = op.info();
    match &info.kind {
        Kind::Sum(Sum::Add) => a.add(b),
        Kind::Sum(Sum::Sub) => a.sub(b),
        Kind::Sum(Sum::Fma) => a.mul(b).add(c),
        Kind::Product(Product::Mul) => a.mul(b),
        Kind::Product(Product::Div) => a.div(b),
        Kind::Product(Product::Neg) => a.neg(),
        Kind::Exponential => a.exp2(),
        Kind::Function(function) => {
            let demand = info.demand.map(|(demand, _)| demand);
            a.apply(function.function, demand, &function.limits)
        }
        Kind::Piecewise(Piecewise::Abs) => a.abs(),
        Kind::Piecewise(Piecewise::Max) => a.max(b),
        Kind::Piecewise(Piecewise::Min) => a.min(b),
        Kind::Piecewise(Piecewise::CopySign) => b.with_sign_of(a),
        Kind::Piecewise(Piecewise::Select) => a.select(b, c),
        Kind::Piecewise(Piecewise::Mod) => a.modulo(b),
        Kind::Piecewise(Piecewise::BitAnd) => a.bit_and(b),
        Kind::Condition(Predicate::Less) => a.less(b),
        Kind::Condition(Predicate::LessEqual) => a.less_equal(b),
        Kind::Condition(Predicate::Equal) => a.equal(b),
        Kind::Condition(Predicate::Not) => a.not(),
        Kind::Condition(Predicate::And) => a.and(b),
        Kind::Condition(Predicate::Or) => a.or(b),
        Kind::Condition(Predicate::Xor) => a.xor(b),
        Kind::Ieee => Value::Unresolved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Extended;
    use crate::number::Rational;
    use crate::number::interval::Narrow;

    fn of(value: i64) -> Value<Narrow> {
        Value::exact(&Extended::Finite(Rational::from_integer(value)), 64)
    }

    #[test]
    fn functions_follow_their_rows() {
        let apply = |op: TermOp, a: &Value<Narrow>| enclose(op, [a; 3]);
        assert_eq!(apply(TermOp::Rsqrt, &Value::PosInf), of(0));
        assert_eq!(apply(TermOp::Saturate, &Value::NegInf), of(0));
        assert_eq!(apply(TermOp::Saturate, &Value::PosInf), of(1));
        assert_eq!(apply(TermOp::Saturate, &of(7)), of(1));
        assert_eq!(apply(TermOp::Sqrt, &of(0)), of(0));
        assert_eq!(apply(TermOp::Floor, &Value::NegInf), Value::NegInf);
        let nothing = [
            apply(TermOp::Log2, &of(0)),
            apply(TermOp::Rsqrt, &of(0)),
            apply(TermOp::Sqrt, &of(-1)),
            apply(TermOp::Sqrt, &Value::NegInf),
            apply(TermOp::Sin, &Value::PosInf),
            apply(TermOp::Tanh, &Value::Undefined),
        ];
        assert!(nothing.iter().all(|value| *value == Value::Undefined), "{nothing:?}");
        let across = Value::Either.select(&of(-1), &of(1));
        assert_eq!(apply(TermOp::Log2, &across), Value::Unresolved);
    }
}
