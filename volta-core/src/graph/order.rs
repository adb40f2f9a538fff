//! Which dimensions of values are combined later on.
//!
//! Elements that are computed together become the lanes of one node. Where these differ in a place that a later value
//! sums over, as the weights of a softmax do along a row, each lane stands in another relation to the row's maximum;
//! along other dimensions all do the same, and are recognised as translations of one another. So elements are taken
//! together along dimensions that remain, as threads of a kernel have a row each.

use super::{At, Construct, Expr, Graph, Indexing, ValueDefinition, ValueId};

/// For each value, whether elements along a dimension are combined by a value that is computed from it.
pub(super) fn combined(graph: &Graph) -> Vec<Vec<bool>> {
    let mut combined: Vec<Vec<bool>> =
        graph.values.iter().map(|value| vec![false; value.shape.len()]).collect();
    for (at, value) in graph.values.iter().enumerate().rev() {
        let own = combined[at].clone();
        match &value.definition {
            // What is listed reads tensors of the case.
            ValueDefinition::Tensor(_) | ValueDefinition::Listed(_) => {}
            ValueDefinition::Concatenation(parts, _) => {
                for part in parts {
                    combined[part.0].iter_mut().zip(&own).for_each(|(known, own)| *known |= own);
                }
            }
            ValueDefinition::View(source) => {
                let (from, to) = (&graph.value(*source).shape, &value.shape);
                for (dim, known) in combined[source.0].iter_mut().enumerate() {
                    *known |= (0..to.len()).any(|other| own[other] && is_same((from, dim), (to, other)));
                }
            }
            ValueDefinition::Construct(construct) => {
                let prefix = construct.reduce.and_then(|reduce| reduce.prefix);
                let is_combined = |affine: &Indexing| {
                    let mut variables = affine.terms.iter().map(|(variable, _)| *variable);
                    variables.any(|variable| {
                        Some(variable) == prefix || own.get(variable).copied().unwrap_or(true)
                    })
                };
                note(construct, &mut |value, dim, affine| combined[value.0][dim] |= is_combined(affine));
            }
        }
    }
    combined
}

/// Whether a dimension of one shape is one of another shape of the same elements.
fn is_same((from, dim): (&[u64], usize), (to, other): (&[u64], usize)) -> bool {
    let stride = |shape: &[u64], at: usize| shape[at + 1..].iter().product::<u64>();
    from[dim] == to[other] && stride(from, dim) == stride(to, other)
}

/// Calls `see` for each index of each element that a construct reads.
fn note(construct: &Construct, see: &mut dyn FnMut(ValueId, usize, &Indexing)) {
    let mut work = vec![&construct.expr];
    while let Some(expr) = work.pop() {
        match expr {
            Expr::Number(_) | Expr::Index(_) => {}
            Expr::Apply(_, operands) => work.extend(operands),
            Expr::Element(read) => {
                for (dim, at) in read.at.iter().enumerate() {
                    match at {
                        At::Affine(affine) => see(read.value, dim, affine),
                        At::Computed(index) => work.push(index),
                    }
                }
            }
        }
    }
}
