use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/struct.ptx", block = 32, args([x, 32, 1.5half, at = 3, z]))]
fn case(x: &[f32; 32], y: &mut [f32; 32]);

fn main() {}
