//! Operators that move elements, or make tensors of numbers.

use volta_case::Element;

use super::{Built, Call, ExprKind, Given, Make, Operator, ValueId, dimension};
use crate::graph::build::{FLOAT, INT64};
use crate::graph::{Construct, Expr, Function, Indexing, ValueDefinition};
use crate::number::{Extended, Rational};

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
        &["view", "reshape", "_unsafe_view"],
        "self, size: ints",
        "the elements of self, row-major, in this shape",
        view,
    ),
    row(&["flatten"], "self, start_dim: int = 0, end_dim: int = -1", "dimensions joined into one", flatten),
    row(&["permute"], "self, dims: ints", "y[i…] = self[i in the order of dims]", permute),
    row(
        &["transpose", "swapaxes"],
        "self, dim0: int, dim1: int",
        "y[…,i,…,j,…] = self[…,j,…,i,…]",
        transpose,
    ),
    row(&["t", "numpy_T"], "self", "y[i,j] = self[j,i]", transposed),
    row(
        &["expand"],
        "self, size: ints, implicit: flag = false",
        "y[i…] = self[i… or 0, where its extent is 1]",
        expand,
    ),
    row(&["unsqueeze"], "self, dim: int", "a dimension of extent 1 more", unsqueeze),
    row(&["squeeze"], "self, dim?: ints", "without dimensions of extent 1", squeeze),
    row(
        &["slice"],
        "self, dim: int = 0, start?: int, end?: int, step: int = 1",
        "y[…,i,…] = self[…,start + step*i,…]",
        slice,
    ),
    row(&["narrow"], "self, dim: int, start: int, length: int", "y[…,i,…] = self[…,start + i,…]", narrow),
    row(&["select"], "self, dim: int, index: int", "y[…,…] = self[…,index,…]", select),
    row(
        &["split_with_sizes"],
        "self, split_sizes: ints, dim: int = 0",
        "parts of these lengths along a dimension",
        split,
    ),
    row(
        &["split"],
        "self, split_size: int, dim: int = 0",
        "parts of this length along a dimension",
        split_evenly,
    ),
    row(&["chunk"], "self, chunks: int, dim: int = 0", "so many parts along a dimension", chunk),
    row(&["unbind"], "self, dim: int = 0", "the parts y[…,…] = self[…,k,…]", unbind),
    row(
        &["cat", "concat"],
        "tensors: tensors, dim: int = 0",
        "tensors, one after the other along a dimension",
        cat,
    ),
    row(
        &["stack"],
        "tensors: tensors, dim: int = 0",
        "tensors, one after the other along a new dimension",
        stack,
    ),
    row(&["repeat"], "self, repeats: ints", "self, repeated along each dimension", repeat),
    row(&["flip"], "self, dims: ints", "y[…,i,…] = self[…,n - 1 - i,…]", flip),
    row(
        &["diagonal"],
        "self, offset: int = 0, dim1: int = 0, dim2: int = 1",
        "y[…,i] = self[…,i,…,i + offset,…]",
        diagonal,
    ),
    row(
        &["constant_pad_nd", "pad"],
        "self, pad: ints, value: number = 0",
        "y[…,i] = self[…,i - before else value]",
        pad,
    ),
    row(
        &["tril"],
        "self, diagonal: int = 0",
        "y[…,i,j] = where(j - i <= diagonal, self[…,i,j], 0)",
        |call| triangle(call, Function::LessEqual),
    ),
    row(
        &["triu"],
        "self, diagonal: int = 0",
        "y[…,i,j] = where(j - i >= diagonal, self[…,i,j], 0)",
        |call| triangle(call, Function::GreaterEqual),
    ),
    row(&["full"], "size: ints, fill_value: number, dtype?: type", "the same number everywhere", |call| {
        let size = call.ints("size")?.unwrap_or_default();
        let number = call.number("fill_value");
        filled(call, extents(&size)?, number)
    }),
    row(&["zeros"], "size: ints, dtype?: type", "0 everywhere", |call| {
        let size = call.ints("size")?.unwrap_or_default();
        filled(call, extents(&size)?, Extended::Finite(Rational::ZERO))
    }),
    row(&["ones"], "size: ints, dtype?: type", "1 everywhere", |call| {
        let size = call.ints("size")?.unwrap_or_default();
        filled(call, extents(&size)?, Extended::Finite(Rational::ONE))
    }),
    row(&["scalar_tensor"], "s: number, dtype?: type", "a number", |call| {
        let number = call.number("s");
        filled(call, Vec::new(), number)
    }),
    row(&["full_like"], "self, fill_value: number, dtype?: type", "the same number everywhere", |call| {
        let number = call.number("fill_value");
        filled_like(call, number)
    }),
    row(&["zeros_like"], "self, dtype?: type", "0 everywhere", |call| {
        filled_like(call, Extended::Finite(Rational::ZERO))
    }),
    row(&["ones_like"], "self, dtype?: type", "1 everywhere", |call| {
        filled_like(call, Extended::Finite(Rational::ONE))
    }),
    row(
        &["arange"],
        "start: number = 0, end: number, step: number = 1, dtype?: type",
        "y[i] = start + step*i, up to below end",
        arange,
    ),
];

/// Sizes that are not negative.
fn extents(sizes: &[i64]) -> Built<Vec<u64>> {
    let extent = |size: &i64| u64::try_from(*size).map_err(|_| format!("{size} is no extent"));
    sizes.iter().map(extent).collect()
}

fn view(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let sizes = call.ints("size")?.unwrap_or_default();
    let count = call.builder.graph.value(value).count();
    let known = sizes.iter().filter(|size| **size >= 0).fold(1i64, |all, size| all.saturating_mul(*size));
    let open = match u64::try_from(known) {
        Ok(known) if known > 0 && count.is_multiple_of(known) => count / known,
        _ => 0,
    };
    if sizes.iter().filter(|size| **size < 0).count() > 1 {
        return Err("only one extent may be -1".into());
    }
    let shape: Vec<u64> = sizes.iter().map(|size| u64::try_from(*size).unwrap_or(open)).collect();
    Ok(vec![call.builder.view(value, shape)?])
}

fn flatten(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let shape = call.shape(value);
    let (start, end) = (call.dim("start_dim", shape.len())?, call.dim("end_dim", shape.len())?);
    if shape.is_empty() {
        return Ok(vec![call.builder.view(value, vec![1])?]);
    }
    if start > end {
        return Err("`start_dim` comes after `end_dim`".into());
    }
    let mut joined = shape[..start].to_vec();
    joined.push(shape[start..=end].iter().product());
    joined.extend(&shape[end + 1..]);
    Ok(vec![call.builder.view(value, joined)?])
}

/// The value with its dimensions in another order.
fn reordered(call: &mut Call<'_>, value: ValueId, order: &[usize]) -> Built<Vec<ValueId>> {
    let shape = call.shape(value);
    let is_order = order.len() == shape.len() && (0..shape.len()).all(|at| order.contains(&at));
    if !is_order {
        return Err(format!("`dims` is wanted to be an order of the {} dimensions", shape.len()));
    }
    let mut at = vec![Indexing::default(); shape.len()];
    order.iter().enumerate().for_each(|(new, old)| at[*old] = Indexing::variable(new));
    let permuted = order.iter().map(|old| shape[*old]).collect();
    Ok(vec![call.builder.moved(value, permuted, at, None)?])
}

fn permute(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let rank = call.shape(value).len();
    let order = call.ints("dims")?.unwrap_or_default();
    let order = order.into_iter().map(|dim| dimension(dim, rank)).collect::<Built<Vec<usize>>>()?;
    reordered(call, value, &order)
}

fn transpose(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let rank = call.shape(value).len();
    let mut order: Vec<usize> = (0..rank).collect();
    let (one, other) = (call.dim("dim0", rank)?, call.dim("dim1", rank)?);
    if rank > 0 {
        order.swap(one, other);
    }
    reordered(call, value, &order)
}

fn transposed(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let order: Vec<usize> = (0..call.shape(value).len()).rev().collect();
    reordered(call, value, &order)
}

fn expand(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let (own, sizes) = (call.shape(value), call.ints("size")?.unwrap_or_default());
    let new = sizes.len().checked_sub(own.len()).ok_or("`size` has too few dimensions")?;
    let shape: Vec<u64> = (0..sizes.len())
        .map(|at| match u64::try_from(sizes[at]) {
            Ok(extent) => Ok(extent),
            Err(_) if at >= new => Ok(own[at - new]),
            Err(_) => Err("a new dimension needs an extent".to_string()),
        })
        .collect::<Built<_>>()?;
    Ok(vec![call.builder.expanded(value, shape)?])
}

fn unsqueeze(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let mut shape = call.shape(value);
    let at = call.dim("dim", shape.len() + 1)?;
    shape.insert(at, 1);
    Ok(vec![call.builder.view(value, shape)?])
}

fn squeeze(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let shape = call.shape(value);
    let dims = call.dims("dim", shape.len())?;
    let kept = shape.iter().enumerate().filter(|(at, extent)| **extent != 1 || !dims.contains(at));
    let kept = kept.map(|(_, extent)| *extent).collect();
    Ok(vec![call.builder.view(value, kept)?])
}

/// `length` places along a dimension, from `start` on, each `step`-th.
fn part(
    call: &mut Call<'_>,
    value: ValueId,
    dim: usize,
    [start, step]: [i64; 2],
    length: u64,
) -> Built<ValueId> {
    let mut shape = call.shape(value);
    let mut at: Vec<Indexing> = (0..shape.len()).map(Indexing::variable).collect();
    at[dim] = Indexing { constant: start, terms: vec![(dim, step)], divisor: 1 };
    shape[dim] = length;
    call.builder.moved(value, shape, at, None)
}

fn slice(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let shape = call.shape(value);
    let dim = call.dim("dim", shape.len())?;
    let extent = shape.get(dim).copied().ok_or("a number has no slices")?.cast_signed();
    let step = call.int("step")?;
    if step < 1 {
        return Err("`step` is at least 1".into());
    }
    let bound = |name: &str, default: i64| -> Built<i64> {
        let at = if call.get(name).is_some() { call.int(name)? } else { default };
        Ok((if at < 0 { at.saturating_add(extent) } else { at }).clamp(0, extent))
    };
    let (start, end) = (bound("start", 0)?, bound("end", extent)?);
    let length = (end - start).max(0).cast_unsigned().div_ceil(step.cast_unsigned());
    Ok(vec![part(call, value, dim, [start, step], length)?])
}

fn narrow(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let dim = call.dim("dim", call.shape(value).len())?;
    let (start, length) = (call.int("start")?, call.int("length")?);
    Ok(vec![part(call, value, dim, [start, 1], u64::try_from(length).unwrap_or(0))?])
}

fn selected(call: &mut Call<'_>, value: ValueId, dim: usize, index: i64) -> Built<ValueId> {
    let mut shape = call.shape(value);
    let at = (0..shape.len()).map(|at| match at.cmp(&dim) {
        std::cmp::Ordering::Less => Indexing::variable(at),
        std::cmp::Ordering::Equal => Indexing::number(index),
        std::cmp::Ordering::Greater => Indexing::variable(at - 1),
    });
    let at = at.collect();
    shape.remove(dim);
    call.builder.moved(value, shape, at, None)
}

fn select(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let shape = call.shape(value);
    let dim = call.dim("dim", shape.len())?;
    let extent = shape.get(dim).copied().ok_or("a number has no parts")?.cast_signed();
    let index = call.int("index")?;
    Ok(vec![selected(call, value, dim, if index < 0 { index + extent } else { index })?])
}

fn parts(call: &mut Call<'_>, value: ValueId, dim: usize, lengths: &[u64]) -> Built<Vec<ValueId>> {
    let mut start = 0u64;
    let mut parts = Vec::new();
    for length in lengths {
        parts.push(part(call, value, dim, [start.cast_signed(), 1], *length)?);
        start = start.saturating_add(*length);
    }
    let extent = call.shape(value)[dim];
    if start == extent { Ok(parts) } else { Err(format!("the parts have {start} places, of {extent}")) }
}

fn split(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let dim = call.dim("dim", call.shape(value).len())?;
    let lengths = extents(&call.ints("split_sizes")?.unwrap_or_default())?;
    parts(call, value, dim, &lengths)
}

/// Parts of a length along a dimension, the last one shorter.
fn evenly(call: &mut Call<'_>, value: ValueId, dim: usize, length: u64) -> Built<Vec<ValueId>> {
    let extent = call.shape(value).get(dim).copied().ok_or("a number has no parts")?;
    if length == 0 {
        return Err("a part has at least one place".into());
    }
    let lengths: Vec<u64> =
        (0..extent).step_by(length as usize).map(|start| length.min(extent - start)).collect();
    parts(call, value, dim, &lengths)
}

fn split_evenly(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let dim = call.dim("dim", call.shape(value).len())?;
    let length = u64::try_from(call.int("split_size")?).unwrap_or(0);
    evenly(call, value, dim, length)
}

fn chunk(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let dim = call.dim("dim", call.shape(value).len())?;
    let chunks = u64::try_from(call.int("chunks")?).unwrap_or(0).max(1);
    let extent = call.shape(value).get(dim).copied().unwrap_or(0);
    evenly(call, value, dim, extent.div_ceil(chunks))
}

fn unbind(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let dim = call.dim("dim", call.shape(value).len())?;
    let extent = call.shape(value).get(dim).copied().ok_or("a number has no parts")?;
    (0..extent).map(|index| selected(call, value, dim, index.cast_signed())).collect()
}

fn cat(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let tensors = call.tensors("tensors")?;
    let first = *tensors.first().ok_or("there is nothing to concatenate")?;
    let dim = call.dim("dim", call.shape(first).len())?;
    Ok(vec![call.builder.concatenate(&tensors, dim)?])
}

fn stack(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let tensors = call.tensors("tensors")?;
    let first = *tensors.first().ok_or("there is nothing to stack")?;
    let dim = call.dim("dim", call.shape(first).len() + 1)?;
    let mut rows = Vec::new();
    for tensor in tensors {
        let mut shape = call.shape(tensor);
        shape.insert(dim.min(shape.len()), 1);
        rows.push(call.builder.view(tensor, shape)?);
    }
    Ok(vec![call.builder.concatenate(&rows, dim)?])
}

fn repeat(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let mut value = call.tensor("self")?;
    let repeats = extents(&call.ints("repeats")?.unwrap_or_default())?;
    let mut shape = call.shape(value);
    let new = repeats.len().checked_sub(shape.len()).ok_or("`repeats` has too few numbers")?;
    shape.splice(0..0, vec![1; new]);
    value = call.builder.view(value, shape)?;
    for (dim, times) in repeats.iter().enumerate() {
        if *times != 1 {
            let copies = vec![value; usize::try_from(*times).unwrap_or(usize::MAX).min(1 << 20)];
            value = call.builder.concatenate(&copies, dim)?;
        }
    }
    Ok(vec![value])
}

fn flip(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let shape = call.shape(value);
    let dims = call.ints("dims")?.unwrap_or_default();
    let dims = dims.into_iter().map(|dim| dimension(dim, shape.len())).collect::<Built<Vec<usize>>>()?;
    let at = (0..shape.len()).map(|at| match dims.contains(&at) {
        true => Indexing { constant: shape[at].cast_signed() - 1, terms: vec![(at, -1)], divisor: 1 },
        false => Indexing::variable(at),
    });
    let at = at.collect();
    Ok(vec![call.builder.moved(value, shape, at, None)?])
}

fn diagonal(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let shape = call.shape(value);
    let (one, other) = (call.dim("dim1", shape.len())?, call.dim("dim2", shape.len())?);
    let offset = call.int("offset")?;
    if one == other || shape.len() < 2 {
        return Err("a diagonal is of two dimensions".into());
    }
    let [down, right] = [(-offset).max(0), offset.max(0)];
    let length = (shape[one].cast_signed() - down).min(shape[other].cast_signed() - right).max(0);
    let mut kept = Vec::new();
    let mut at = Vec::new();
    let last = shape.len() - 2;
    for (dim, extent) in shape.iter().enumerate() {
        if dim == one || dim == other {
            let constant = if dim == one { down } else { right };
            at.push(Indexing { constant, terms: vec![(last, 1)], divisor: 1 });
        } else {
            at.push(Indexing::variable(kept.len()));
            kept.push(*extent);
        }
    }
    kept.push(length.cast_unsigned());
    Ok(vec![call.builder.moved(value, kept, at, None)?])
}

fn pad(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let mut shape = call.shape(value);
    let pads = call.ints("pad")?.unwrap_or_default();
    if pads.len() % 2 == 1 || pads.len() / 2 > shape.len() {
        return Err("`pad` has two numbers for each padded dimension, the last dimension first".into());
    }
    let mut at: Vec<Indexing> = (0..shape.len()).map(Indexing::variable).collect();
    for (number, pair) in pads.chunks(2).enumerate() {
        let dim = shape.len() - 1 - number;
        at[dim].constant = -pair[0];
        let extent = shape[dim].cast_signed().saturating_add(pair[0]).saturating_add(pair[1]);
        shape[dim] = u64::try_from(extent).map_err(|_| "a padded extent is negative")?;
    }
    let outside = call.number("value");
    Ok(vec![call.builder.moved(value, shape, at, Some(outside))?])
}

fn triangle(call: &mut Call<'_>, keeps: Function) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let shape = call.shape(value);
    let rank = shape.len();
    if rank < 2 {
        return Err("a triangle is of a matrix".into());
    }
    let apart = Indexing { constant: 0, terms: vec![(rank - 1, 1), (rank - 2, -1)], divisor: 1 };
    let limit = Expr::Number(Extended::Finite(Rational::from_integer(call.int("diagonal")?)));
    let at = (0..rank).map(|at| crate::graph::At::Affine(Indexing::variable(at))).collect();
    let own = Expr::Element(crate::graph::Read { value, at, outside: None });
    let zero = Expr::Number(Extended::Finite(Rational::ZERO));
    let element = call.builder.element(value);
    let is_kept = Expr::Apply(keeps, vec![Expr::Index(apart), limit]);
    let expr = match ExprKind::of(element) {
        ExprKind::Truth => Expr::Apply(Function::And, vec![is_kept, own]),
        ExprKind::Real | ExprKind::Whole => Expr::Apply(Function::Where, vec![is_kept, own, zero]),
    };
    let construct = Construct { over: Vec::new(), reduce: None, expr };
    Ok(vec![call.builder.add(element, shape, ValueDefinition::Construct(construct))?])
}

fn filled(call: &mut Call<'_>, shape: Vec<u64>, number: Extended) -> Built<Vec<ValueId>> {
    let by_default = match call.get("fill_value") {
        Some(Given::Flag(_)) => Element::Bool,
        Some(_) if call.operand("fill_value").is_some_and(|number| !number.is_float()) => INT64,
        Some(_) | None => FLOAT,
    };
    let element = call.element("dtype")?.unwrap_or(by_default);
    if ExprKind::of(element) == ExprKind::Truth {
        let is_set = number != Extended::Finite(Rational::ZERO);
        let number =
            constant(call, INT64, shape, Extended::Finite(Rational::from_integer(i64::from(is_set))))?;
        return Ok(vec![call.truth(number)?]);
    }
    Ok(vec![constant(call, element, shape, number)?])
}

fn constant(call: &mut Call<'_>, element: Element, shape: Vec<u64>, number: Extended) -> Built<ValueId> {
    call.wants_number_of(element, &number)?;
    let construct = Construct { over: Vec::new(), reduce: None, expr: Expr::Number(number) };
    call.builder.add(element, shape, ValueDefinition::Construct(construct))
}

fn filled_like(call: &mut Call<'_>, number: Extended) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let shape = call.shape(value);
    let own = call.builder.element(value);
    let element = call.element("dtype")?.unwrap_or(own);
    if ExprKind::of(element) == ExprKind::Truth {
        let is_set = number != Extended::Finite(Rational::ZERO);
        let number =
            constant(call, INT64, shape, Extended::Finite(Rational::from_integer(i64::from(is_set))))?;
        return Ok(vec![call.truth(number)?]);
    }
    Ok(vec![constant(call, element, shape, number)?])
}

fn arange(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let [start, end, step] = ["start", "end", "step"].map(|name| call.number(name).finite().cloned());
    let (Some(start), Some(end), Some(step)) = (start, end, step) else {
        return Err("`arange` is finite".into());
    };
    let length =
        (&end - &start).checked_div(&step).map(|length| length.ceil()).and_then(|length| length.to_i64());
    let length = length.ok_or("`step` is not 0")?.max(0).cast_unsigned();
    let is_float = ["start", "end", "step"]
        .into_iter()
        .any(|name| call.operand(name).is_some_and(|number| number.is_float()));
    let element = call.element("dtype")?.unwrap_or(if is_float { FLOAT } else { INT64 });
    for at in [0, length.saturating_sub(1)] {
        call.wants_number_of(element, &Extended::Finite(&start + &(&step * &Rational::from_u64(at))))?;
    }
    let [start, step] = [start, step].map(|number| Expr::Number(Extended::Finite(number)));
    let index = Expr::Index(Indexing::variable(0));
    let expr = Expr::Apply(Function::Add, vec![start, Expr::Apply(Function::Mul, vec![step, index])]);
    let construct = Construct { over: Vec::new(), reduce: None, expr };
    Ok(vec![call.builder.add(element, vec![length], ValueDefinition::Construct(construct))?])
}
