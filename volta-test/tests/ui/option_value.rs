use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32, timeout = "10", wmma_layout = "sm_81", max_ctas = "2")]
fn case(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_equiv(
    reference = "../../../tests/tests/kernels/add.cu::add", opt = "../../../tests/tests/kernels/add.cu::add", block = 32,
    expect(verdict = "race", side = "left", line = [3]),
)]
fn pair(x: &[f32; 32], y: &mut [f32; 32]);

fn main() {}
