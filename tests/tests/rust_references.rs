//! References that are no kernels, under the attribute: written in Rust as bodies of functions, and graphs of operators.

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

mod structs {
    use volta_test::prelude::*;

    #[verify_equiv(
        opt = "../../fixtures/blocks/blocks.cu::found_words",
        block = 64,
        grid = 2,
        snapshot = false
    )]
    fn found(x: &[f32; 128], #[fields(value: f32, index: i32, square: f32)] out: &mut [Found; 128]) {
        for (i, (x, out)) in x.iter().zip(out).enumerate() {
            *out = Found { value: 2 * *x, index: Int::from(i as i64), square: x * x };
        }
    }

    /// The index of the next one.
    #[verify_equiv(
        opt = "../../fixtures/blocks/blocks.cu::found_words",
        block = 64,
        grid = 2,
        snapshot = false,
        expect = "different"
    )]
    fn found_next(x: &[f32; 128], #[fields(value: f32, index: i32, square: f32)] out: &mut [Found; 128]) {
        for i in 0..128 {
            out[i].value = 2 * x[i];
            out[i].index = Int::from(i as i64 + 1);
            out[i].square = x[i] * x[i];
        }
    }

    /// A sum of codes of four bits, by the row.
    fn row(blocks: &[(Real, [Int; 16])], x: &[Real], around: i64) -> Real {
        let of_block = |(b, (scale, codes)): (usize, &(Real, [Int; 16]))| -> Real {
            let of_code = |(k, code): (usize, &Int)| {
                let (code, sixteen, eight) = (Real::from(*code), Real::from(16), Real::from(8));
                let high = (code / sixteen).floor();
                let low = code - sixteen * high;
                *scale * ((low - around) * x[b * 32 + k] + (high - eight) * x[b * 32 + k + 16])
            };
            codes.iter().enumerate().map(of_code).sum()
        };
        blocks.iter().enumerate().map(of_block).sum()
    }

    #[verify_equiv(
        opt = "../../fixtures/blocks/blocks.cu::rows_warp", block = [32, 8], snapshot = false,
        opt_args(w, x, y, 2)
    )]
    fn rows(#[fields(scale: f16, codes: [u8; 16])] w: &[[Block; 2]; 8], x: &[f32; 64], y: &mut [f32; 8]) {
        for (w, y) in w.iter().zip(y) {
            let blocks = w.map(|block| (block.scale, block.codes));
            *y = row(&blocks, x, 8);
        }
    }

    #[verify_equiv(
        opt = "../../fixtures/blocks/blocks.cu::rows_warp", block = [32, 8], snapshot = false, expect = "different",
        opt_args(w, x, y, 2)
    )]
    fn rows_around_seven(
        #[fields(scale: f16, codes: [u8; 16])] w: &[[Block; 2]; 8],
        x: &[f32; 64],
        y: &mut [f32; 8],
    ) {
        for (w, y) in w.iter().zip(y) {
            let blocks = w.map(|block| (block.scale, block.codes));
            *y = row(&blocks, x, 7);
        }
    }
}

mod graphs {
    use volta_test::case::{GraphSource, Step};
    use volta_test::prelude::*;

    /// The rows of a softmax, from the last.
    const DIM: i32 = -1;

    #[verify_equiv(
        reference = spec("softmax", dim = DIM), opt = "../../fixtures/graph/graph.cu::softmax_rows", block = 64, grid = 4,
        contains(text = "bar.sync", count = 2), family(N = [64]), snapshot = false
    )]
    fn softmax(x: &[[f32; N]; 4], y: &mut [[f32; N]; 4]);

    #[verify_equiv(
        reference = spec("softmax", self = x, dim = 1, output = y), snapshot = false,
        opt = "../../fixtures/graph/graph.cu::softmax_short", block = 64, grid = 4, expect = "different"
    )]
    fn softmax_short(x: &[[f32; 64]; 4], y: &mut [[f32; 64]; 4]);

    #[verify_equiv(
        reference = graph("../../fixtures/graph/linear_gelu.json"), snapshot = false,
        opt = "../../fixtures/graph/graph.cu::linear_gelu", block = [8, 8], grid = [3, 2], contains = ["ld.shared", "fma.rn.f32"]
    )]
    fn linear_gelu(x: &[[f32; 32]; 16], w: &[[f32; 32]; 24], b: &[f32; 24], y: &mut [[f32; 24]; 16]);

    #[verify_equiv(
        reference = spec("native_layer_norm", normalized_shape = [32], eps = 1e-5), snapshot = false,
        opt = "../../fixtures/graph/graph.cu::layer_norm", block = 32, grid = 4
    )]
    fn layer_norm(x: &[[f32; 32]; 4], gamma: &[f32; 32], beta: &[f32; 32], y: &mut [[f32; 32]; 4]);

    #[verify_equiv(
        reference = formula("z[i] = x[i] + 2·y[i]      i < {N}"),
        opt = ["kernels/add.cu::add", "kernels/add.cu::add"], opt_args([x, y, s, N], [s, y, z, N]), block = 32,
        family(N = [1, 32]), snapshot = false
    )]
    fn sums(x: &[f32; N], y: &[f32; N], z: &mut [f32; N], #[scratch] s: &mut [f32; N]);

    /// A step between kernels is a graph, which takes one addend where there are two.
    #[verify_equiv(
        reference = "kernels/add.cu::add_twice", ref_args(x, y, z, 16),
        opt = [formula("s[i] = x[i]      i < 16"), "kernels/add.cu::add"], opt_args(s, y, z, 16), block = 16,
        expect = "different", snapshot = false
    )]
    fn steps(x: &[f32; 16], y: &[f32; 16], z: &mut [f32; 16], #[inout(init = 0)] s: &mut [f32; 16]);

    /// The case of one function here.
    fn case(name: &str) -> Result<volta_test::case::Case, String> {
        let mut cases = volta_test::registry::registered();
        let name = format!("rust_references::graphs::{name}");
        cases.find(|case| case.name() == name).expect("the case is registered").case()
    }

    #[test]
    fn a_graph_is_read_as_in_a_folder() {
        let case = case("softmax::N=64").expect("the case is right");
        let reference = case.reference.expect("there is a reference");
        let steps = reference.steps();
        let [Step::Graph(GraphSource::Here(graph))] = steps.as_slice() else { panic!("it is a graph") };
        assert_eq!(graph.name, "spec softmax");
        let contained: Vec<(&str, u64)> =
            case.contains.iter().map(|wanted| (wanted.text.as_str(), wanted.count)).collect();
        assert_eq!(contained, [("bar.sync", 2)]);
    }
}

mod ranges {
    use volta_test::prelude::*;

    #[verify_kernel(
        kernel = "../../fixtures/ranges/scalars.cu::difference",
        block = 32,
        claim = "finite",
        expect = "finite",
        snapshot = false
    )]
    fn apart(#[range(0..=1)] x: &[f32; 32], #[range(1.5..=3.0)] z: &[f32; 32], y: &mut [f32; 32]);

    #[verify_kernel(
        kernel = "../../fixtures/ranges/scalars.cu::difference",
        block = 32,
        claim = "finite",
        expect = "overflow",
        snapshot = false
    )]
    fn may_be_equal(#[range(0..=1)] x: &[f32; 32], #[range(1.0..=3.0)] z: &[f32; 32], y: &mut [f32; 32]);

    /// No other claim reads a range of floats.
    #[verify_kernel(
        kernel = "../../fixtures/ranges/scalars.cu::difference",
        block = 32,
        expect = "input-error",
        snapshot = false
    )]
    fn of_reals(#[range(0..=1)] x: &[f32; 32], z: &[f32; 32], y: &mut [f32; 32]);
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
