use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::scale", block = N, family(N = [1, 31..33]))]
fn half_open(#[inout] a: &mut [f32; N], #[value(2)] beta: f32);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::scale", block = N, family(N = []))]
fn no_value(#[inout] a: &mut [f32; N], #[value(2)] beta: f32);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::scale", block = 32, family)]
fn no_variable(#[inout] a: &mut [f32; 32], #[value(2)] beta: f32);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::scale", block = M, family(N = 1))]
fn another_name(#[inout] a: &mut [f32; N], #[value(2)] beta: f32);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::scale", block = N, family(N = 1..=5000))]
fn too_many(#[inout] a: &mut [f32; N], #[value(2)] beta: f32);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::scale", block = N, grid = M, family(N = any, M = any))]
fn two_of_any(#[inout] a: &mut [f32; N], #[value(2)] beta: f32);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::scale", block = 32, grid = N, family(N = [1, any]))]
fn any_among_others(#[inout] a: &mut [f32; N], #[value(2)] beta: f32);

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::scale", block = 32, grid = N, family(N = any >= 0))]
fn any_from_nothing(#[inout] a: &mut [f32; N], #[value(2)] beta: f32);

#[verify_equiv(opt = "../../../tests/tests/kernels/add.cu::scale", block = 32, grid = N, family(N = any))]
fn any_in_rust(#[inout] a: &mut [f32; N], #[value(2)] beta: f32) {}

fn main() {}
