//! Pooling: maxima and means over windows.

use super::{Built, Call, Make, Operator, ValueId, whole};
use crate::graph::{At, Combination, Construct, Expr, Indexing, Read, Reduce, ValueDefinition};
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

const MAX: &str =
    "self, kernel_size: ints, stride?: ints, padding: ints = 0, dilation: ints = 1, ceil_mode: flag = false";
const MEAN: &str = "self, kernel_size: ints, stride?: ints, padding: ints = 0, ceil_mode: flag = false, \
                    count_include_pad: flag = true, divisor_override?: int";
const OF_MAX: &str = "y[…,s] = max{k}(self[…,stride*s + dilation*k - padding]), of what lies inside";
const OF_MEAN: &str = "y[…,s] = Σ{k} self[…,stride*s + k - padding] / count";
const ADAPTIVE: &str = "means over windows of equal length, so many as there are outputs";

pub(super) const OPERATORS: &[Operator] = &[
    row(&["max_pool1d", "max_pool1d_with_indices"], MAX, OF_MAX, |call| maximum(call, 1)),
    row(&["max_pool2d", "max_pool2d_with_indices"], MAX, OF_MAX, |call| maximum(call, 2)),
    row(&["max_pool3d", "max_pool3d_with_indices"], MAX, OF_MAX, |call| maximum(call, 3)),
    row(&["avg_pool1d"], MEAN, OF_MEAN, |call| mean(call, 1)),
    row(&["avg_pool2d"], MEAN, OF_MEAN, |call| mean(call, 2)),
    row(&["avg_pool3d"], MEAN, OF_MEAN, |call| mean(call, 3)),
    row(&["adaptive_avg_pool1d"], "self, output_size: ints", ADAPTIVE, |call| adaptive(call, 1)),
    row(&["adaptive_avg_pool2d", "_adaptive_avg_pool2d"], "self, output_size: ints", ADAPTIVE, |call| {
        adaptive(call, 2)
    }),
    row(&["adaptive_avg_pool3d", "_adaptive_avg_pool3d"], "self, output_size: ints", ADAPTIVE, |call| {
        adaptive(call, 3)
    }),
];

/// Windows over the last dimensions.
struct Windows {
    kernel: Vec<i64>,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    /// The extents of the result.
    shape: Vec<u64>,
}

fn windows(call: &Call<'_>, shape: &[u64], spatial: usize) -> Built<Windows> {
    let first = shape.len().checked_sub(spatial).ok_or("`self` has too few dimensions")?;
    let kernel = call.each("kernel_size", spatial)?;
    let stride = match call.ints("stride")? {
        Some(list) if !list.is_empty() => call.each("stride", spatial)?,
        Some(_) | None => kernel.clone(),
    };
    let padding = call.each("padding", spatial)?;
    let takes_dilation = call.operator.takes().any(|argument| argument.name == "dilation");
    let dilation = if takes_dilation { call.each("dilation", spatial)? } else { vec![1; spatial] };
    if kernel.iter().chain(&stride).chain(&dilation).any(|number| *number < 1) {
        return Err("`kernel_size`, `stride` and `dilation` are at least 1".into());
    }
    if padding.iter().zip(&kernel).any(|(padding, kernel)| *padding < 0 || 2 * padding > *kernel) {
        return Err("`padding` is at most half of `kernel_size`".into());
    }
    let mut sizes = shape[..first].to_vec();
    for at in 0..spatial {
        let own = shape[first + at].cast_signed();
        let room = own + 2 * padding[at] - dilation[at] * (kernel[at] - 1) - 1;
        let mut size = room.div_euclid(stride[at]) + 1;
        if call.flag("ceil_mode", false) && room.rem_euclid(stride[at]) != 0 {
            // A window begins inside, or in the padding before.
            size += i64::from(size * stride[at] < own + padding[at]);
        }
        sizes.push(
            u64::try_from(size)
                .ok()
                .filter(|size| *size > 0)
                .ok_or("a window is larger than what it runs over")?,
        );
    }
    Ok(Windows { kernel, stride, padding, dilation, shape: sizes })
}

/// What is in each window, combined; what lies outside is left out.
fn combined(call: &mut Call<'_>, value: ValueId, windows: &Windows, with: Combination) -> Built<ValueId> {
    let rank = windows.shape.len();
    let first = rank - windows.kernel.len();
    let at = (0..rank).map(|at| match at.checked_sub(first) {
        None => At::Affine(Indexing::variable(at)),
        Some(own) => At::Affine(Indexing {
            constant: -windows.padding[own],
            terms: vec![(at, windows.stride[own]), (rank + own, windows.dilation[own])],
            divisor: 1,
        }),
    });
    let expr = Expr::Element(Read { value, at: at.collect(), outside: None });
    let over = windows.kernel.iter().map(|extent| extent.cast_unsigned()).collect();
    let reduce = Some(Reduce { with, prefix: None });
    let element = call.builder.element(value);
    call.builder.add(
        element,
        windows.shape.clone(),
        ValueDefinition::Construct(Construct { over, reduce, expr }),
    )
}

fn maximum(call: &mut Call<'_>, spatial: usize) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let windows = windows(call, &call.shape(value), spatial)?;
    Ok(vec![combined(call, value, &windows, Combination::Max)?])
}

fn mean(call: &mut Call<'_>, spatial: usize) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    call.wants_floats(&[value])?;
    let shape = call.shape(value);
    let windows = windows(call, &shape, spatial)?;
    let sum = combined(call, value, &windows, Combination::Sum)?;
    let padded = windows.padding.iter().any(|padding| *padding > 0);
    if call.flag("ceil_mode", false) && call.get("divisor_override").is_none() {
        let first = shape.len() - spatial;
        let fits = (0..spatial).all(|at| {
            let end = (windows.shape[first + at].cast_signed() - 1) * windows.stride[at] + windows.kernel[at];
            end <= shape[first + at].cast_signed() + windows.padding[at] * 2
        });
        if !fits {
            return Err("means over windows that end outside (`ceil_mode`) are not supported".into());
        }
    }
    if call.get("divisor_override").is_none() && padded && !call.flag("count_include_pad", true) {
        // What lies inside is counted by a sum over ones.
        let one = Expr::Number(Extended::Finite(Rational::ONE));
        let first = shape.len() - spatial;
        let ones: Vec<u64> = vec![1; first].into_iter().chain(shape[first..].iter().copied()).collect();
        let construct = Construct { over: Vec::new(), reduce: None, expr: one };
        let element = call.builder.element(value);
        let ones = call.builder.add(element, ones, ValueDefinition::Construct(construct))?;
        let mut counted: Vec<u64> = vec![1; first];
        counted.extend(&windows.shape[first..]);
        let counts = combined(call, ones, &Windows { shape: counted, ..windows }, Combination::Sum)?;
        return Ok(vec![call.builder.pointwise("s/n", &[("s", sum.into()), ("n", counts.into())])?]);
    }
    let count = match call.get("divisor_override") {
        Some(_) => call.int("divisor_override")?,
        None => windows.kernel.iter().product(),
    };
    let count = u64::try_from(count).map_err(|_| "`divisor_override` is positive")?;
    Ok(vec![call.builder.pointwise("s/n", &[("s", sum.into()), ("n", whole(count))])?])
}

fn adaptive(call: &mut Call<'_>, spatial: usize) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    call.wants_floats(&[value])?;
    let shape = call.shape(value);
    let first = shape.len().checked_sub(spatial).ok_or("`self` has too few dimensions")?;
    let sizes = call.each("output_size", spatial)?;
    let mut windows = Windows {
        kernel: Vec::new(),
        stride: Vec::new(),
        padding: vec![0; spatial],
        dilation: vec![1; spatial],
        shape: shape[..first].to_vec(),
    };
    for (own, size) in shape[first..].iter().zip(sizes) {
        let size = u64::try_from(size).unwrap_or(*own);
        if size == 0 || own % size != 0 {
            return Err(format!(
                "{own} places in {size} windows: only windows of equal length are supported"
            ));
        }
        windows.kernel.push((own / size).cast_signed());
        windows.stride.push((own / size).cast_signed());
        windows.shape.push(size);
    }
    let count = windows.kernel.iter().product::<i64>().cast_unsigned();
    let sum = combined(call, value, &windows, Combination::Sum)?;
    Ok(vec![call.builder.pointwise("s/n", &[("s", sum.into()), ("n", whole(count))])?])
}
