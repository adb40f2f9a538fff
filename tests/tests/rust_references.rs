//! References that are written in Rust, as bodies of functions under the attribute.

use volta_test::prelude::*;

#[verify_equiv(
    opt = "../../fixtures/family/rows.cu::softmax_block", block = 128, grid = 2,
    family(N = [1, 2, 31..=33, 127..=129, 500])
)]
fn softmax(x: &[[f32; N]; 2], y: &mut [[f32; N]; 2], #[value(N)] n: i32) {
    for (x, y) in x.iter().zip(y) {
        let greatest = maximum(x);
        let sum: Real = x.iter().map(|x| (x - greatest).exp()).sum();
        for (x, y) in x.iter().zip(y) {
            *y = (x - greatest).exp() / sum;
        }
    }
}

/// One wrong sign.
#[verify_equiv(
    opt = "../../fixtures/family/rows.cu::softmax_block",
    block = 128,
    grid = 2,
    expect = "different",
    snapshot = false
)]
fn softmax_of_a_sum(x: &[[f32; 40]; 2], y: &mut [[f32; 40]; 2], #[value(40)] n: i32) {
    for row in 0..2 {
        let greatest = maximum(&x[row]);
        let sum: Real = x[row].iter().map(|x| (x + greatest).exp()).sum();
        for i in 0..n as usize {
            y[row][i] = (x[row][i] - greatest).exp() / sum;
        }
    }
}

/// The last element is left out: at this size the kernel does, too.
#[verify_equiv(opt = "../../fixtures/family/rows.cu::sums_short_f32", block = 32, grid = 2, snapshot = false)]
fn short_sums(x: &[[f32; 97]; 2], y: &mut [f32; 2], #[value(97)] n: i32) {
    for (x, y) in x.iter().zip(y) {
        *y = x[..96].iter().sum();
    }
}

#[verify_equiv(opt = "../../fixtures/matmul/matmul.cu::matmul_tiled", block = 512, snapshot = false)]
fn matmul(
    a: &[[f32; 64]; 64],
    b: &[[f32; 64]; 64],
    #[inout] c: &mut [[f32; 64]; 64],
    #[symbolic] alpha: f32,
    #[symbolic] beta: f32,
    #[value(64)] n: i32,
) {
    for i in 0..64 {
        for j in 0..64 {
            let sum: Real = (0..n as usize).map(|k| a[i][k] * b[k][j]).sum();
            c[i][j] = alpha * sum + beta * c[i][j];
        }
    }
}

/// The place of the largest element; of several, the first.
fn first_of_largest(row: &[Real; 8]) -> Int {
    let (mut most, mut best) = (row[0], Int::from(0));
    for (at, own) in row.iter().enumerate().skip(1) {
        let is_larger = own.gt(most);
        best = select(is_larger, at, best);
        most = select(is_larger, *own, most);
    }
    best
}

#[verify_equiv(opt = "../../fixtures/graph/graph.cu::argmax", block = 16, snapshot = false)]
fn argmax(x: &[[f32; 8]; 16], y: &mut [i32; 16]) {
    for (x, y) in x.iter().zip(y) {
        *y = first_of_largest(x);
    }
}

/// Of equal elements, the kernel takes the last one.
#[verify_equiv(
    opt = "../../fixtures/graph/graph.cu::argmax_last",
    block = 16,
    expect = "different",
    snapshot = false
)]
fn argmax_last(x: &[[f32; 8]; 16], y: &mut [i32; 16]) {
    for (x, y) in x.iter().zip(y) {
        *y = first_of_largest(x);
    }
}

#[verify_equiv(opt = "../../fixtures/data/data.cu::embed_checked", block = 32, grid = 8, snapshot = false)]
fn embed(
    table: &[[f32; 32]; 10],
    token: &[i32; 8],
    y: &mut [[f32; 32]; 8],
    #[value(10)] rows: i32,
    #[value(32)] d: i32,
) {
    for (token, y) in token.iter().zip(y) {
        let is_row = token.ge(0) & token.lt(rows);
        for (column, y) in y.iter_mut().enumerate() {
            let column: Vec<Real> = table.iter().map(|row| row[column]).collect();
            let own = 2 * pick(&column, token.max(0).min(rows - 1));
            *y = select(is_row, own, 0);
        }
    }
}

#[verify_equiv(opt = "../../fixtures/data/data.cu::cross_entropy", block = 32, grid = 4, snapshot = false)]
fn cross_entropy(
    x: &[[f32; 20]; 4],
    #[range(-1..=19)] label: &[i32; 4],
    loss: &mut [f32; 4],
    #[value(20)] classes: i32,
    #[value(-1)] ignored: i32,
) {
    for row in 0..4 {
        let sum: Real = x[row].iter().map(|x| x.exp()).sum();
        let own = pick(&x[row], label[row].max(0));
        loss[row] = select(label[row].equals(ignored), 0, sum.ln() - own);
    }
}

/// An element that only the kernel writes.
#[verify_equiv(
    opt = "../../fixtures/family/rows.cu::sums_f32",
    block = 32,
    grid = 2,
    expect = "different",
    snapshot = false
)]
fn one_sum(x: &[[f32; 97]; 2], y: &mut [f32; 2], #[value(97)] n: i32) {
    y[1] = x[1].iter().sum();
}

mod recorded {
    use volta_core::case::Param;
    use volta_core::rust_reference::Trace;
    use volta_test::prelude::*;

    const NONE: &[Param] = &[];

    #[test]
    #[should_panic(expected = "`NaN` is no real number")]
    fn a_number_is_none() {
        let _ = Trace::record("case", NONE, |_| {
            let _ = Real::from(f64::NAN);
        });
    }

    #[test]
    #[should_panic(expected = "used outside")]
    fn a_number_outlives_the_reference() {
        let mut kept = None;
        let _ = Trace::record("case", NONE, |_| kept = Some(Real::from(1)));
        let _ = kept.map(|kept| kept + 1);
    }
}
