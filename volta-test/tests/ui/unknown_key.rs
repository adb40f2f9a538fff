use volta_test::prelude::*;

#[verify_equiv(reference = "../kernels/add.cu::add", opt = "../kernels/add.cu::add", blok = 32)]
fn case(x: &[f32; 32], y: &mut [f32; 32]);

fn main() {}
