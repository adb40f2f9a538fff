use volta_test::prelude::*;

#[verify_equiv(reference = "../../../tests/tests/kernels/add.cu::add", opt = "../../../tests/tests/kernels/add.cu::add", block = 32, expect = "clean")]
fn case(x: &[f32; 32], y: &mut [f32; 32]);

fn main() {}
