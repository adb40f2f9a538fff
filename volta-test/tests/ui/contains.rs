use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32, contains(count = 2))]
fn no_text(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32, contains(text = "add.f32", side = "reference"))]
fn no_reference(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32, contains(text = "add.f32", times = 2))]
fn no_such_key(x: &[f32; 32], y: &mut [f32; 32]);

fn main() {}
