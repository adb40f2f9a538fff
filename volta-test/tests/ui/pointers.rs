use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn no_such_tensor(x: &[f32; 32], #[pointers(x, z)] list: Pointers);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn a_number(x: &[f32; 32], #[pointers(x, 3)] list: Pointers);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn another_type(x: &[f32; 32], #[pointers(x)] list: &[u64; 1]);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn with_contents(
    x: &[f32; 32],
    #[pointers(x)]
    #[init(0)]
    list: Pointers,
);

fn main() {}
