use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn case(x: &[f32], y: &mut [f32; 32]);

fn main() {}
