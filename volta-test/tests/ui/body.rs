use volta_test::prelude::*;

#[verify_equiv(reference = "../../../tests/tests/kernels/add.cu::add", opt = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn both(x: &[f32; 32], y: &mut [f32; 32]) {
    y[0] = x[0];
}

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn single(x: &[f32; 32], y: &mut [f32; 32]) {
    y[0] = x[0];
}

/// Which of two numbers is less depends on inputs.
#[verify_equiv(opt = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn branch(x: &[f32; 32], y: &mut [f32; 32]) {
    if x[0] < x[1] {
        y[0] = x[0];
    }
}

fn main() {}
