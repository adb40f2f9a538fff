use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn case<T>(x: &[T; 32], y: &mut [T; 32]);

fn main() {}
