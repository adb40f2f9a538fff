//! Terms as text, for messages: short, with an ellipsis where an expression is cut.

use super::id::TermId;
use super::info::{TermOp, fill};
use super::node::{Store, View};
use crate::number::{Extended, Rational};

/// The expression of `term`, at most `depth` operations deep. `input` prints an input's element, and `number`
/// prints numbers that have a better notation than their value, such as addresses.
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
        // A known number that is kept as a term.
        View::Apply(TermOp::Mul, [known, one, _]) if known.is_constant() && is_power_of_zero(store, one) => {
            expression(store, known, depth, input, number)
        }
        View::Apply(..) if depth == 0 => "…".to_string(),
        View::Apply(TermOp::Not, [denied, ..]) => opposite(store, denied, depth, input, number),
        View::Apply(op, operands) => {
            let shown = |operand: &TermId| expression(store, *operand, depth - 1, input, number);
            let operands: Vec<String> = operands[..op.arity()].iter().map(shown).collect();
            fill(op.info().text, &operands)
        }
    }
}

/// The text of the opposite of a condition, as [`expression`] writes it: `a != b` in place of `!(a == b)`.
pub fn opposite(
    store: &Store,
    condition: TermId,
    depth: usize,
    input: &dyn Fn(super::InputId, u64) -> String,
    number: &dyn Fn(&Rational) -> Option<String>,
) -> String {
    let shown = |term: TermId, depth: usize| expression(store, term, depth, input, number);
    let View::Apply(op, [a, b, _]) = store.view(condition) else {
        return format!("!({})", shown(condition, depth));
    };
    let opposites = [(TermOp::Equal, "!="), (TermOp::Less, ">="), (TermOp::LessEqual, ">")];
    match opposites.into_iter().find(|(own, _)| *own == op && depth > 0) {
        Some((_, relation)) => format!("{} {relation} {}", shown(a, depth - 1), shown(b, depth - 1)),
        None if op == TermOp::Not => shown(a, depth),
        None if depth > 0 && op.info().text.starts_with('(') => format!("!{}", shown(condition, depth)),
        None => format!("!({})", shown(condition, depth)),
    }
}

/// Whether a term is `2^0`.
fn is_power_of_zero(store: &Store, term: TermId) -> bool {
    let View::Apply(TermOp::Exp2, [exponent, ..]) = store.view(term) else { return false };
    matches!(store.view(exponent), View::Constant(constant) if constant.exact.signum() == 0)
}

/// The name of an input's element: `x[3]`, `A[0][7]`; a scalar (no extents) has the name alone.
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
    use crate::program::InstId;
    use crate::term::InputId;

    #[test]
    fn opposites_are_relations() {
        let mut store = Store::default();
        let [x, y] = [0, 1].map(|at| TermId::input(InputId(at), 0));
        let mut apply = |op, operands: &[TermId]| store.apply(op, operands, InstId(0));
        let equal = apply(TermOp::Equal, &[x, y]);
        let differ = apply(TermOp::Not, &[equal]);
        let both = apply(TermOp::And, &[equal, differ]);
        let name = |input: InputId, _| ["x", "y"][input.index()].to_string();
        let text = |term, depth| expression(&store, term, depth, &name, &|_| None);
        let denied = |term, depth| opposite(&store, term, depth, &name, &|_| None);
        assert_eq!(text(differ, 2), "x != y");
        assert_eq!([denied(equal, 1), denied(differ, 1)], ["x != y", "x == y"]);
        assert_eq!([denied(both, 1), denied(equal, 0)], ["!(… and …)", "!(…)"]);
    }

    #[test]
    fn elements_are_named_by_their_indices() {
        assert_eq!(spell_element("a", &[4, 8], 19), "a[2][3]");
        assert_eq!(spell_element("scale", &[], 0), "scale");
    }
}
