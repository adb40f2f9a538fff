use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32, claim = "finite", expect = "finite")]
fn half_open(#[range(0.0..1.0)] x: &[f32; 32], y: &mut [f32; 32]);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32, claim = "finite", expect = "finite")]
fn one_end(#[range(0.0..)] x: &[f32; 32], y: &mut [f32; 32]);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32, claim = "finite", expect = "finite")]
fn no_range(#[range(8)] x: &[f32; 32], y: &mut [f32; 32]);

fn main() {}
