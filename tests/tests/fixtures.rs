//! Every fixture, and attribute cases beside them, under Volta's own runner.

use volta_test::prelude::*;

/// Two ways to add, with other parameter lists.
#[verify_equiv(
    reference = "kernels/add.cu::add",
    opt = "kernels/add.cu::add_backwards",
    block = 32,
    grid = 4,
    opt_args(z, x, y)
)]
fn add_backwards(x: &[f32; 128], y: &[f32; 128], z: &mut [f32; 128], #[value(128)] n: i32);

#[verify_equiv(
    reference = "kernels/add.cu::add",
    opt = "kernels/add.cu::add_twice",
    block = 32,
    expect = "different"
)]
fn add_twice(x: &[f32; 32], y: &[f32; 32], z: &mut [f32; 32], #[value(32)] n: i32);

#[verify_kernel(
    kernel = "kernels/add.cu::add_racy",
    block = 32,
    expect(verdict = "race", rule = "Y1", lines = [24]),
    why = "all threads store to the first element"
)]
fn add_racy(x: &[f32; 32], y: &[f32; 32], z: &mut [f32; 1], #[value(32)] n: i32);

/// A box of a tensor map.
#[verify_equiv(
    reference = "kernels/boxes.ptx::plain",
    opt = "kernels/boxes.ptx::boxes",
    block = 64,
    ref_args(x, y),
    opt_args(boxes_of_x, y)
)]
fn boxes(x: &[[f32; 16]; 16], y: &mut [f32; 64], #[tensor_map(of = x, box = [8, 8])] boxes_of_x: TensorMap);

/// A struct by value: `{ float *x; int n; float a; float *y; }`, with 4 bytes that nobody reads before the last.
#[verify_equiv(
    reference = "kernels/struct.ptx::plain",
    opt = "kernels/struct.ptx::by_struct",
    block = 32,
    ref_args(x, y, a),
    opt_args([x, [32i32, a], offset = 24, y])
)]
fn by_struct(x: &[f32; 32], y: &mut [f32; 32], #[symbolic] a: f32);

/// A tensor of structs: `struct { half d; unsigned char q[2]; }`.
#[verify_equiv(
    reference = "kernels/fields.ptx::reference",
    opt = "kernels/fields.ptx::opt",
    block = 8,
    expect = "equivalent"
)]
fn fields(#[fields(#[assume(positive)] d: f16, q: [u8; 2])] x: &[Pair; 8], y: &mut [f32; 8]);

/// Four rows for each block, of any number of rows.
#[verify_equiv(
    reference = "../../fixtures/every_size/rows.cu::softmax_naive",
    opt = "../../fixtures/every_size/rows.cu::softmax_four",
    ref_grid = rows,
    ref_block = 1,
    ref_args(x, y),
    opt_grid = [rows.div_ceil(4), 1],
    opt_block = 128,
    family(rows = any)
)]
fn rows_by_four(x: &[[f32; 32]; rows], y: &mut [[f32; 32]; rows], #[value(rows)] rows: i32);

/// Too few blocks: of five rows, one is left out.
#[verify_equiv(
    reference = "../../fixtures/every_size/rows.cu::softmax_naive",
    opt = "../../fixtures/every_size/rows.cu::softmax_four",
    ref_grid = rows,
    ref_block = 1,
    ref_args(x, y),
    opt_grid = rows / 4,
    opt_block = 128,
    family(rows = any >= 4),
    expect = "different"
)]
fn rows_without_a_tail(x: &[[f32; 32]; rows], y: &mut [[f32; 32]; rows], #[value(rows)] rows: i32);

/// From the thousandth on, no block is added.
#[verify_equiv(
    reference = "../../fixtures/every_size/rows.cu::softmax_naive",
    opt = "../../fixtures/every_size/rows.cu::softmax_four",
    ref_grid = rows,
    ref_block = 1,
    ref_args(x, y),
    opt_grid = rows.div_ceil(4).min(1000),
    opt_block = 128,
    family(rows = any),
    expect = "unknown(undecided)"
)]
fn rows_to_a_limit(x: &[[f32; 32]; rows], y: &mut [[f32; 32]; rows], #[value(rows)] rows: i32);

volta_test::main!(fixtures = "../fixtures");
