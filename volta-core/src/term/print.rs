//! Terms as text, for messages: short, with an ellipsis where an expression goes on.

use super::id::TermId;
use super::node::{Store, TermOp, View};
use crate::number::{Extended, Rational};

/// The expression of `term`, at most `depth` operations deep. `input` spells an input's element, and `number` numbers
/// that are better spelled in another way, such as addresses.
pub fn expression(
    store: &Store,
    term: TermId,
    depth: usize,
    input: &dyn Fn(super::InputId, u64) -> String,
    number: &dyn Fn(&Rational) -> Option<String>,
) -> String {
    match store.view(term) {
        View::Input { input: id, element } => input(id, element),
        View::Constant(constant) => match &constant.exact {
            Extended::Finite(value) => number(value).unwrap_or_else(|| value.to_string()),
            Extended::PosInf => "inf".to_string(),
            Extended::NegInf => "-inf".to_string(),
        },
        View::Apply(..) if depth == 0 => "…".to_string(),
        View::Apply(op, operands) => {
            let [a, b, c] = operands.map(|operand| expression(store, operand, depth - 1, input, number));
            match op {
                TermOp::Add => format!("({a} + {b})"),
                TermOp::Sub => format!("({a} - {b})"),
                TermOp::Mul => format!("({a} * {b})"),
                TermOp::Fma => format!("({a} * {b} + {c})"),
                TermOp::Div => format!("({a} / {b})"),
                TermOp::Neg => format!("-{a}"),
                TermOp::Abs => format!("abs({a})"),
                TermOp::Max => format!("max({a}, {b})"),
                TermOp::Min => format!("min({a}, {b})"),
                TermOp::Saturate => format!("saturate({a})"),
                TermOp::Exp2 => format!("exp2({a})"),
                TermOp::Log2 => format!("log2({a})"),
                TermOp::Sqrt => format!("sqrt({a})"),
                TermOp::Rsqrt => format!("rsqrt({a})"),
                TermOp::Sin => format!("sin({a})"),
                TermOp::Cos => format!("cos({a})"),
                TermOp::Tanh => format!("tanh({a})"),
                TermOp::Floor => format!("floor({a})"),
                TermOp::Ceil => format!("ceil({a})"),
                TermOp::Trunc => format!("trunc({a})"),
                TermOp::RoundEven => format!("round({a})"),
                TermOp::CopySign => format!("copysign({a}, {b})"),
                TermOp::Less => format!("{a} < {b}"),
                TermOp::LessEqual => format!("{a} <= {b}"),
                TermOp::Equal => format!("{a} == {b}"),
                TermOp::Not => format!("!({a})"),
                TermOp::And => format!("({a} and {b})"),
                TermOp::Or => format!("({a} or {b})"),
                TermOp::Xor => format!("({a} xor {b})"),
                TermOp::Select => format!("({a} ? {b} : {c})"),
                TermOp::Mod => format!("({a} mod {b})"),
                TermOp::BitAnd => format!("({a} & {b})"),
            }
        }
    }
}

/// An element of an input in words: `x[3]`, `A[0][7]`; a scalar (no extents) is its name.
pub fn spell_element(name: &str, shape: &[u64], element: u64) -> String {
    element_index(shape, element).iter().fold(name.to_string(), |name, index| format!("{name}[{index}]"))
}

/// The index of a row-major element along each dimension.
pub fn element_index(shape: &[u64], element: u64) -> Vec<u64> {
    let mut rest = element;
    let at = |extent: &u64| {
        let at = rest % (*extent).max(1);
        rest /= (*extent).max(1);
        at
    };
    let mut index: Vec<u64> = shape.iter().rev().map(at).collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_named_by_their_indices() {
        assert_eq!(spell_element("a", &[4, 8], 19), "a[2][3]");
        assert_eq!(spell_element("scale", &[], 0), "scale");
    }
}
