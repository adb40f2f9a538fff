//! Integers as multiples of an index and a constant: addresses, and what is compared with a number.

use crate::term::{Kind, Product, Store, Sum, TermId, View};

/// The largest number of operations between an integer and the index that it is computed from.
pub(crate) const MAX_STEPS: u32 = 16;

/// An integer that is `scale · index + offset`.
pub(crate) struct Indexed {
    pub(crate) index: TermId,
    pub(crate) scale: i128,
    pub(crate) offset: i128,
}

/// Decomposes an integer into a multiple of an index and a constant.
pub(crate) fn indexed(store: &Store, term: TermId) -> Indexed {
    let mut out = Indexed { index: term, scale: 1, offset: 0 };
    let number = |term: TermId| match store.view(term) {
        View::Constant(constant) => constant.exact.finite()?.to_i64().map(i128::from),
        View::Input { .. } | View::Apply(..) => None,
    };
    for _ in 0..MAX_STEPS {
        let View::Apply(op, [a, b, _]) = store.view(out.index) else { break };
        let (left, right) = (number(a), if op.arity() > 1 { number(b) } else { None });
        // The operand that becomes the index, with a factor and an addend.
        let (index, factor, addend) = match (op.kind(), left, right) {
            (Kind::Sum(Sum::Add), Some(number), None) => (b, 1, number),
            (Kind::Sum(Sum::Add), None, Some(number)) => (a, 1, number),
            (Kind::Sum(Sum::Sub), Some(number), None) => (b, -1, number),
            (Kind::Sum(Sum::Sub), None, Some(number)) => (a, 1, -number),
            (Kind::Product(Product::Mul), Some(number), None) => (b, number, 0),
            (Kind::Product(Product::Mul), None, Some(number)) => (a, number, 0),
            (
                Kind::Sum(_)
                | Kind::Product(_)
                | Kind::Exponential
                | Kind::Function(_)
                | Kind::Piecewise(_)
                | Kind::Condition(_)
                | Kind::Ieee,
                ..,
            ) => break,
        };
        let shifted = out.scale.checked_mul(addend).and_then(|shift| out.offset.checked_add(shift));
        let (Some(scale), Some(offset)) = (out.scale.checked_mul(factor), shifted) else { break };
        out = Indexed { index, scale, offset };
    }
    out
}
