//! Operations on enclosed values.

use super::node::TermOp;
use crate::number::interval::{Enclosure, Towards};
use crate::number::value::Value;

/// An operation on one enclosed value.
pub fn unary<E: Enclosure>(op: TermOp, a: &Value<E>) -> Value<E> {
    use TermOp::*;
    match op {
        Neg => a.neg(),
        Abs => a.abs(),
        Saturate => a.saturate(),
        Exp2 => a.exp2(),
        Log2 => a.log2(),
        Sqrt => a.sqrt(),
        Rsqrt => a.rsqrt(),
        Sin => a.sin(),
        Cos => a.cos(),
        Tanh => a.tanh(),
        Floor => a.to_integer(Towards::Floor),
        Ceil => a.to_integer(Towards::Ceil),
        Trunc => a.to_integer(Towards::Zero),
        RoundEven => a.to_integer(Towards::NearestEven),
        Not => a.not(),
        Add | Sub | Mul | Fma | Div | Max | Min | CopySign | Less | LessEqual | Equal | And | Or | Xor
        | Select | Mod | BitAnd => Value::Unresolved,
    }
}

/// An operation on two enclosed values.
pub fn binary<E: Enclosure>(op: TermOp, a: &Value<E>, b: &Value<E>) -> Value<E> {
    use TermOp::*;
    match op {
        Add => a.add(b),
        Sub => a.sub(b),
        Mul => a.mul(b),
        Div => a.div(b),
        Max => a.max(b),
        Min => a.min(b),
        CopySign => b.with_sign_of(a),
        Less => a.less(b),
        LessEqual => a.less_equal(b),
        Equal => a.equal(b),
        And => a.and(b),
        Or => a.or(b),
        Xor => a.xor(b),
        Mod => a.modulo(b),
        BitAnd => a.bit_and(b),
        Neg | Abs | Saturate | Exp2 | Log2 | Sqrt | Rsqrt | Sin | Cos | Tanh | Floor | Ceil | Trunc
        | RoundEven | Not | Fma | Select => Value::Unresolved,
    }
}

/// An operation on three enclosed values.
pub fn ternary<E: Enclosure>(op: TermOp, a: &Value<E>, b: &Value<E>, c: &Value<E>) -> Value<E> {
    match op {
        TermOp::Fma => a.mul(b).add(c),
        TermOp::Select => a.select(b, c),
        TermOp::Add
        | TermOp::Sub
        | TermOp::Mul
        | TermOp::Div
        | TermOp::Neg
        | TermOp::Abs
        | TermOp::Max
        | TermOp::Min
        | TermOp::Saturate
        | TermOp::Exp2
        | TermOp::Log2
        | TermOp::Sqrt
        | TermOp::Rsqrt
        | TermOp::Sin
        | TermOp::Cos
        | TermOp::Tanh
        | TermOp::Floor
        | TermOp::Ceil
        | TermOp::Trunc
        | TermOp::RoundEven
        | TermOp::CopySign
        | TermOp::Less
        | TermOp::LessEqual
        | TermOp::Equal
        | TermOp::Not
        | TermOp::And
        | TermOp::Or
        | TermOp::Mod
        | TermOp::BitAnd
        | TermOp::Xor => Value::Unresolved,
    }
}
