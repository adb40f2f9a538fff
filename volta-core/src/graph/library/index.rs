//! Elements at computed indices.

use volta_case::Element;

use super::{Built, Call, Make, Operator, ValueId};
use crate::graph::{At, Construct, Expr, Indexing, Read, ValueDefinition};

/// The type whose tensors are no indices.
const BYTE: Element = Element::Int { bytes: 1, signed: false };

type Making = fn(&mut Call<'_>) -> Built<Vec<ValueId>>;

const fn row(
    names: &'static [&'static str],
    arguments: &'static str,
    formula: &'static str,
    make: Making,
) -> Operator {
    Operator { names, arguments, formula, make: Make::Built(make) }
}

pub(super) const OPERATORS: &[Operator] = &[
    row(
        &["embedding"],
        "weight, indices, padding_idx: int = -1, scale_grad_by_freq: flag = false, sparse: flag = false",
        "y[i…,j] = weight[indices[i…],j]",
        |call| {
            let (weight, indices) = (call.tensor("weight")?, call.tensor("indices")?);
            Ok(vec![taken(call, weight, indices, 0)?])
        },
    ),
    row(&["index_select"], "self, dim: int, index", "y[…,i,…] = self[…,index[i],…]", |call| {
        let (value, index) = (call.tensor("self")?, call.tensor("index")?);
        let dim = call.dim("dim", call.shape(value).len())?;
        Ok(vec![taken(call, value, index, dim)?])
    }),
    row(
        &["index"],
        "self, indices: tensors",
        "y[i…,…] = self[indices[i…],…]: of the first dimension",
        |call| {
            let value = call.tensor("self")?;
            match call.tensors("indices")?.as_slice() {
                // PyTorch takes bytes for a mask.
                [index] if call.builder.element(*index) == BYTE => Err("an index is no byte".into()),
                [index] => Ok(vec![taken(call, value, *index, 0)?]),
                _ => Err("one tensor of indices is supported".into()),
            }
        },
    ),
    row(
        &["gather"],
        "self, dim: int, index, sparse_grad: flag = false",
        "y[…,i,…] = self[…,index[…,i,…],…]",
        gather,
    ),
    row(
        &["take_along_dim"],
        "self, indices, dim?: int",
        "y[…,i,…] = self[…,indices[…,i,…],…], broadcast along the other dimensions; without dim, of both in one row",
        take_along_dim,
    ),
];

/// The element of a tensor of indices at some variables.
fn read(value: ValueId, variables: impl Iterator<Item = usize>) -> Expr {
    let at = variables.map(|variable| At::Affine(Indexing::variable(variable))).collect();
    Expr::Element(Read { value, at, outside: None })
}

/// A tensor whose dimension is replaced by those of a tensor of indices.
fn taken(call: &mut Call<'_>, value: ValueId, index: ValueId, dim: usize) -> Built<ValueId> {
    let (own, places) = (call.shape(value), call.shape(index));
    if dim >= own.len() {
        return Err("a number has no indices".into());
    }
    let shape: Vec<u64> = own[..dim].iter().chain(&places).chain(&own[dim + 1..]).copied().collect();
    let at = (0..own.len()).map(|at| match at.cmp(&dim) {
        std::cmp::Ordering::Less => At::Affine(Indexing::variable(at)),
        std::cmp::Ordering::Equal => At::Computed(read(index, dim..dim + places.len())),
        std::cmp::Ordering::Greater => At::Affine(Indexing::variable(at - 1 + places.len())),
    });
    let expr = Expr::Element(Read { value, at: at.collect(), outside: None });
    let element = call.builder.element(value);
    call.builder.add(
        element,
        shape,
        ValueDefinition::Construct(Construct { over: Vec::new(), reduce: None, expr }),
    )
}

fn gather(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let (value, index) = (call.tensor("self")?, call.tensor("index")?);
    let dim = call.dim("dim", call.shape(value).len())?;
    Ok(vec![gathered(call, value, index, dim)?])
}

fn take_along_dim(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let [value, index] = [call.tensor("self")?, call.tensor("indices")?];
    let [own, places] = [value, index].map(|tensor| call.shape(tensor));
    if call.get("dim").is_none() {
        let value = call.builder.view(value, vec![own.iter().product()])?;
        let index = call.builder.view(index, vec![places.iter().product()])?;
        return Ok(vec![gathered(call, value, index, 0)?]);
    }
    let dim = call.dim("dim", own.len())?;
    if own.len() != places.len() {
        return Err("the indices have as many dimensions as what they index".into());
    }
    // Along `dim`, each keeps its extent.
    let wide = |(at, (one, other)): (usize, (&u64, &u64))| if at != dim && *one == 1 { *other } else { *one };
    let of_value = own.iter().zip(&places).enumerate().map(wide).collect();
    let of_index = places.iter().zip(&own).enumerate().map(wide).collect();
    let (value, index) = (call.builder.expanded(value, of_value)?, call.builder.expanded(index, of_index)?);
    Ok(vec![gathered(call, value, index, dim)?])
}

/// The element at the index along a dimension, and at the same place in the others.
pub(super) fn gathered(call: &mut Call<'_>, value: ValueId, index: ValueId, dim: usize) -> Built<ValueId> {
    let (rank, shape) = (call.shape(value).len(), call.shape(index));
    if dim >= rank {
        return Err("a number has no indices".into());
    }
    if rank != shape.len() {
        return Err("the indices have as many dimensions as what they index".into());
    }
    let at = (0..rank).map(|at| match at == dim {
        true => At::Computed(read(index, 0..rank)),
        false => At::Affine(Indexing::variable(at)),
    });
    let expr = Expr::Element(Read { value, at: at.collect(), outside: None });
    let element = call.builder.element(value);
    call.builder.add(
        element,
        shape,
        ValueDefinition::Construct(Construct { over: Vec::new(), reduce: None, expr }),
    )
}
