use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/fields.ptx::opt", block = 8)]
fn types(#[fields(d: f17, #[opt_type(f16)] q: [u8; 2])] x: &[Pair; 8], y: &mut [f32; 8]);

#[verify_kernel(kernel = "../../../tests/tests/kernels/fields.ptx::opt", block = 8)]
fn marks(#[init(0)] #[fields(d: f16)] x: &[Pair; 8], y: &mut [f32; 8]);

#[verify_kernel(kernel = "../../../tests/tests/kernels/fields.ptx::opt", block = 8)]
fn by_value(#[fields(d: f16)] x: Pair, y: &mut [f32; 8]);

fn main() {}
