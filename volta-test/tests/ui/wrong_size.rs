use volta_test::prelude::*;

const N: i32 = 32;

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn case(x: &[f32; N], y: &mut [f32; 32]);

fn main() {}
