use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn case(x: &[float; 32], y: &mut [f23; 32]);

fn main() {}
